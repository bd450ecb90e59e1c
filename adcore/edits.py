"""Changes of a text that a finding offers, and how they are written: a replacement, an item without its comma, an import.

Invariants: the edits of a fix lie in one file, in order and apart from each other; what is inserted as a line ends as the file's lines do;
where the text around a place is not what an edit expects (a comment in the way), there is no edit rather than a wrong one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from adcore.source import SourceText, Span

_LINE_END = re.compile(r"\r\n|\n|\r")
_BLANK = re.compile(r"[ \t]*")
_TRIVIA = re.compile(r"(?:[ \t\r\n\f]|\\\r?\n|#[^\r\n]*)*")


@dataclass(frozen=True, slots=True)
class Edit:
    """`text` replaces what stands at `span`; an empty span is an insertion, an empty text a deletion."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """One way out of a finding. `title` is an instruction, as an editor's menu shows it."""

    title: str
    edits: tuple[Edit, ...]
    preferred: bool = True
    """It is the one answer; where there may be another, the choice is the author's."""


def apply(source: SourceText, edits: Iterable[Edit]) -> str:
    """The text after all edits. ValueError: two of them touch the same characters."""
    text, end = source.text, len(source.text) + 1
    for edit in sorted(edits, key=lambda edit: edit.span, reverse=True):
        start, stop = _offsets(source, edit.span)
        if stop > end:
            raise ValueError(f"two edits overlap at {edit.span}")
        text, end = text[:start] + edit.text + text[stop:], start
    return text


def one_line(text: str) -> str:
    """A text for a title or a report: white space of any kind is one blank."""
    return " ".join(text.split())


def fix(title: str, *edits: Edit | None, preferred: bool = True) -> tuple[Fix, ...]:
    """A fix of these edits; none if one of them could not be made."""
    made = [edit for edit in edits if edit is not None]
    if not made or len(made) < len(edits):
        return ()
    return (Fix(one_line(title), tuple(sorted(made, key=lambda edit: edit.span)), preferred),)


def replace(span: Span, text: str) -> Edit:
    return Edit(span, text)


def insert(source: SourceText, offset: int, text: str) -> Edit:
    return Edit(source.span(offset, offset), text)


def wrapped(span: Span, before: str, after: str) -> tuple[Edit, Edit]:
    """The text of a span between two others."""
    start = Span(span.file, span.line, span.column, span.line, span.column)
    end = Span(span.file, span.end_line, span.end_column, span.end_line, span.end_column)
    return Edit(start, before), Edit(end, after)


# Items between commas


def without_item(source: SourceText, item: Span) -> Edit | None:
    """An item of a comma-separated list, and the comma that is one too many without it.

    Where a comment stands before the item, the comma in front of it stays: Python and TOML arrays take it.
    """
    text = source.text
    start, end = _offsets(source, item)
    behind = _skip(text, end, _TRIVIA)
    if text.startswith(",", behind):
        return None if "#" in text[end:behind] else Edit(source.span(*_whole(text, start, behind + 1)), "")
    ahead = len(text[:start].rstrip(" \t\r\n\f"))
    commented = _line_start(text, ahead) != _line_start(text, start) and "#" in text[_line_start(text, ahead) : ahead]
    if not commented and text.endswith(",", 0, ahead):
        start = ahead - 1
    return Edit(source.span(start, end), "")


def without_element(
    source: SourceText, items: Sequence[Span], index: int, needs_comma: bool
) -> tuple[Edit, ...] | None:
    """An element of a tuple or array of several; `needs_comma`: a tuple, which of one element ends in a comma."""
    text = source.text
    (start, end), count = _offsets(source, items[index]), len(items)
    behind = _skip(text, end, _TRIVIA)
    in_brackets = (index > 0 and text[:start].rstrip().endswith("(")) or (
        index < count - 1 and not text.startswith(",", behind)
    )
    if count < 2 or in_brackets:
        return None
    if not needs_comma or count > 2:
        edit = without_item(source, items[index])
        return None if edit is None else (edit,)
    other = _offsets(source, items[1 - index])
    if index == 1:  # the comma before it stays
        comma = _skip(text, other[1], _TRIVIA)
        last = behind + 1 if text.startswith(",", behind) else end
        if not text.startswith(",", comma) or "#" in text[comma:last]:
            return None
        return (Edit(source.span(comma + 1, last), ""),)
    edit = without_item(source, items[0])
    if edit is None:
        return None
    has_comma = text.startswith(",", _skip(text, other[1], _TRIVIA))
    return (edit,) if has_comma else (edit, insert(source, other[1], ","))


def without_pair(source: SourceText, pair: Span) -> Edit | None:
    """A pair of a TOML table: on lines of its own with the comment behind it, or in an inline table."""
    start, end = _offsets(source, pair)
    first = _line_start(source.text, start)
    line_end = _LINE_END.search(source.text, end)
    last = line_end.start() if line_end else len(source.text)
    before, after = source.text[first:start], source.text[end:last].strip(" \t")
    if (not after or after.startswith("#")) and re.fullmatch(r"[ \t]*(?:[\w\"'. \t:-]+\.[ \t]*)?", before):
        return Edit(source.span(first, line_end.end() if line_end else last), "")
    return between(source, pair, "{", "}")


def between(source: SourceText, item: Span, opening: str, closing: str) -> Edit | None:
    """An item between such brackets, alone or among others; None if it stands in brackets of its own."""
    start, end = _offsets(source, item)
    before, behind = source.text[:start].rstrip(), source.text[_skip(source.text, end, _TRIVIA) :]
    if before.endswith((opening, ",")) and behind.startswith((closing, ",")):
        return without_item(source, item)
    return None


def _whole(text: str, start: int, end: int) -> tuple[int, int]:
    """A deletion that ends behind a comma, with its line where nothing else stands in it, else with the blanks behind."""
    after = _skip(text, end, _BLANK)
    line_end = _LINE_END.match(text, after)
    if line_end is None:
        return start, end if text.startswith("#", after) else after
    first = _line_start(text, start)
    return (start, end) if text[first:start].strip(" \t") else (first, line_end.end())


def _line_start(text: str, offset: int) -> int:
    return max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1


# Lines


def new_line(source: SourceText) -> str:
    """How the lines of a file end."""
    found = _LINE_END.search(source.text)
    return found.group() if found else "\n"


def new_import(source: SourceText, tree: ast.Module, statement: str) -> Edit:
    """A line with an import: behind the first block of imports, else behind the docstring and `from __future__`."""
    at = 0
    for node in tree.body:
        is_import = isinstance(node, ast.Import | ast.ImportFrom)
        is_docstring = node is tree.body[0] and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not is_import and not is_docstring:
            break
        at = node.end_lineno or node.lineno
    ending = new_line(source)
    if at:
        at_line_end = source.offset(at, len(source.line(at)) + 1)
        if _LINE_END.match(source.text, at_line_end) is None or source.text[:at_line_end].endswith("\\"):
            return insert(source, at_line_end, ending + statement)
        return insert(source, source.offset(at + 1, 1), statement + ending)
    while re.match(r"[ \t]*#", source.line(at + 1)):  # a shebang, an encoding, a licence stay at the top
        at += 1
    return insert(source, source.offset(at + 1, 1), statement + ending)


def imports_of(tree: ast.Module) -> dict[str, ast.ImportFrom]:
    """The plain `from module import ...` statements of a module's top level by module, the last of each."""
    return {
        node.module: node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module and not node.level
    }


def import_name(source: SourceText, tree: ast.Module, module: str, name: str) -> Edit:
    """`name` from `module`: in the import that there is, else in a new one."""
    node = imports_of(tree).get(module)
    if node is None or any(alias.name == "*" for alias in node.names):
        return new_import(source, tree, f"from {module} import {name}")
    last = source.span_of_node(node.names[-1])
    return insert(source, _offsets(source, last)[1], f", {name}")


def _offsets(source: SourceText, span: Span) -> tuple[int, int]:
    return source.offset(span.line, span.column), source.offset(span.end_line, span.end_column)


def _skip(text: str, at: int, pattern: re.Pattern[str]) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at
