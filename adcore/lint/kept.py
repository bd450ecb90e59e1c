"""Findings about what a reverse pass keeps: each slot of the plan that is heap memory, where it comes from, why it is kept.

The slots are those that code generation allocates from. What `alloc` asks for (`alloc/kept`, `alloc/forbidden`) is said of each; besides, each
has a finding of its kind, which is reported only where it is asked for. Invariant: a message names what stands in the source, never an op.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from adcore.ad.plan import Slot
from adcore.diagnostics import Report
from adcore.ir.signature import Entry
from adcore.ir.types import Array
from adcore.source import SourceText, Span

SourceOf = Callable[[str], SourceText | None]
"""The text of a file by the name that spans give it."""

HEAP = ("heap", "tape")
_BY_OPTION = {"forbid": "alloc/forbidden", "warn": "alloc/kept"}
_BY_KIND = {
    "overwritten": "alloc/overwritten",
    "loop-carried": "alloc/loop-carried",
    "dynamic-trip-count": "alloc/dynamic-trip-count",
    "branch-record": "alloc/branch-record",
    "array-temporary": "alloc/array-temporary",
    "call-result": "alloc/call-result",
}
_LONGEST = 60


def report_kept(entry: Entry, slots: Sequence[Slot], source_of: SourceOf, report: Report, notes: Report) -> None:
    """What the option `alloc` asks for goes to `report`, what the plan knows besides to `notes`."""
    rule = _BY_OPTION.get(entry.options.alloc)
    for slot in slots:
        if slot.place not in HEAP:
            continue
        span = slot.span or entry.span
        source = source_of(span.file)
        place = head(source, span) if source is not None else span
        what = _described(slot, source, place)
        related = [] if span.file == entry.span.file else [(entry.span, f"in the reverse pass of `{entry.qualname}`")]
        if rule is not None:
            report.add(rule, place, None, related, what=what, bytes=slot.bytes)
        notes.add(_BY_KIND[slot.kind], place, None, related, what=what, bytes=slot.bytes)


def head(source: SourceText, span: Span) -> Span:
    """Of a statement over several lines the first, without the comment behind it."""
    if span.end_line == span.line:
        return span
    line = source.line(span.line).rstrip()
    code = line.partition("#")[0].rstrip()
    end = len(code) if code.endswith(":") else len(line)
    return Span(span.file, span.line, span.column, span.line, max(end + 1, span.column + 1))


def _described(slot: Slot, source: SourceText | None, place: Span) -> str:
    """A variable's name, else the expression, else that it is a value."""
    text = source.segment(place) if source is not None else ""
    is_statement = slot.span is not None and slot.span.end_line != slot.span.line
    if slot.value.name and slot.kind != "branch-record":
        return f"`{slot.value.name}`"
    if not text or is_statement or len(text) > _LONGEST:
        return "a condition" if slot.kind == "branch-record" else "a value"
    return f"an array of `{text}`" if isinstance(slot.value.type, Array) else f"`{text}`"
