"""Positions between editor and engine, and the plain findings that travel from the worker to the server.

The protocol counts lines and characters from 0, characters in the units of the negotiated encoding; the engine counts
from 1, columns in code points. They meet here and nowhere else. Invariant: a position outside the text is clamped to
it, one inside a character is moved to its start, so that no position raises. This module knows nothing of pygls.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from adcore.diagnostics import Diagnostic
from adcore.edits import Fix
from adcore.source import SourceText, Span

Encoding = Literal["utf-8", "utf-16", "utf-32"]
Position = tuple[int, int]
Range = tuple[Position, Position]


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of a file, in the client's units. `path` is absolute; "" is the document that was asked about."""

    path: str
    range: Range


@dataclass(frozen=True, slots=True)
class Change:
    """One edit of a fix, in the finding's file. `lines` are those that it touches, as they stood: an insertion, too, has a place that it was
    made for."""

    range: Range
    lines: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class QuickFix:
    """One way out of a finding; `subject` is the text at the finding's own place, which it was made for."""

    title: str
    changes: tuple[Change, ...]
    preferred: bool
    subject: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding as the editor needs it."""

    place: Place
    name: str
    severity: str
    message: str
    fixes: tuple[QuickFix, ...]
    related: tuple[tuple[Place, str], ...]


def units(text: str, encoding: Encoding) -> int:
    """The length of a text in the units of an encoding; a lone surrogate counts as the character it stands for."""
    if encoding == "utf-32" or text.isascii():
        return len(text)
    width = 1 if encoding == "utf-8" else 2
    return len(text.encode("utf-8" if encoding == "utf-8" else "utf-16-le", "surrogatepass")) // width


def code_points(text: str, character: int, encoding: Encoding) -> int:
    """How many whole code points of a line stand before a character position."""
    if encoding == "utf-32" or text.isascii():
        return max(0, min(character, len(text)))
    count = seen = 0
    for point in text:
        seen += units(point, encoding)
        if seen > character:
            break
        count += 1
    return count


def offset(source: SourceText, position: Position, encoding: Encoding) -> int:
    """The offset of a client's position."""
    line, character = position
    return source.offset(line + 1, code_points(source.line(line + 1), character, encoding) + 1)


def to_range(source: SourceText, span: Span, encoding: Encoding) -> Range:
    """A span of a text in the client's units."""
    return _position(source, span.line, span.column, encoding), _position(
        source, span.end_line, span.end_column, encoding
    )


def _position(source: SourceText, line: int, column: int, encoding: Encoding) -> Position:
    text = source.line(line)
    behind_the_end = max(0, column - 1 - len(text))  # where a line ends too early; clients draw it at the end
    return line - 1, units(text[: column - 1], encoding) + behind_the_end


def to_finding(diagnostic: Diagnostic, source_of: Callable[[str], SourceText], own: str, encoding: Encoding) -> Finding:
    """A finding of the engine. `source_of` gives the text of a file, `own` is the document that was asked about."""

    def place(span: Span) -> Place:
        return Place("" if span.file == own else span.file, to_range(source_of(span.file), span, encoding))

    source = source_of(diagnostic.span.file)

    def quick_fix(fix: Fix) -> QuickFix:
        changes = tuple(
            Change(
                to_range(source, edit.span, encoding),
                source.lines[edit.span.line - 1 : edit.span.end_line],
                edit.text,
            )
            for edit in fix.edits
        )
        return QuickFix(fix.title, changes, fix.preferred, source.segment(diagnostic.span))

    return Finding(
        place(diagnostic.span),
        diagnostic.name,
        diagnostic.severity,
        diagnostic.message,
        tuple(quick_fix(fix) for fix in diagnostic.offers),
        tuple((place(item.span), item.message) for item in diagnostic.related),
    )
