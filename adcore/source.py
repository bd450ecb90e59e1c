"""Text with positions: the one place where offsets, `ast` byte columns and (line, column) pairs are converted.

Invariants: lines and columns count from 1, columns count code points, ends are exclusive; a line ends only at
``\\r\\n``, ``\\n`` or ``\\r`` (the same as `ast` and LSP; `str.splitlines` would also split at form feeds and U+2028).
Positions outside the text are clamped to it, so no position, however it was obtained, raises.
"""

from __future__ import annotations

import ast
import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass

_LINE_END = re.compile(r"\r\n|\n|\r")
_TAB_WIDTH = 4


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of a file: 1-based lines, 1-based columns in code points, end exclusive. Sorts by place."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class SourceText:
    """The text of one file under the name by which it is reported. Immutable; the line table is made once."""

    __slots__ = ("_starts", "lines", "path", "text")

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        starts, lines, start = [0], [], 0
        for end in _LINE_END.finditer(text):
            lines.append(text[start : end.start()])
            start = end.end()
            starts.append(start)
        lines.append(text[start:])
        self._starts = starts
        self.lines: tuple[str, ...] = tuple(lines)
        """The lines without their ends; after a final line end stands one empty line."""

    def __repr__(self) -> str:
        return f"SourceText({self.path!r}, {len(self.lines)} lines)"

    def line(self, number: int) -> str:
        """Line `number` (from 1) without its end; empty outside the text."""
        return self.lines[number - 1] if 1 <= number <= len(self.lines) else ""

    def offset(self, line: int, column: int) -> int:
        """Offset in code points of (line, column)."""
        if line < 1:
            return 0
        if line > len(self.lines):
            return len(self.text)
        return self._starts[line - 1] + min(max(column - 1, 0), len(self.lines[line - 1]))

    def position(self, offset: int) -> tuple[int, int]:
        """(line, column) of an offset. Between ``\\r`` and ``\\n`` it is the end of the line."""
        offset = min(max(offset, 0), len(self.text))
        index = bisect_right(self._starts, offset) - 1
        return index + 1, min(offset - self._starts[index], len(self.lines[index])) + 1

    def span(self, offset: int, end_offset: int) -> Span:
        """The span of ``text[offset:end_offset]``."""
        line, column = self.position(offset)
        end_line, end_column = self.position(max(offset, end_offset))
        return Span(self.path, line, column, end_line, end_column)

    def span_of_node(self, node: ast.AST) -> Span:
        """The span of a node of this text's tree; a node without a place (`ast.Module`, `ast.Add`) gets line 1."""
        if (line := getattr(node, "lineno", None)) is None:
            return Span(self.path, 1, 1, 1, len(self.lines[0]) + 1)
        end_line = getattr(node, "end_lineno", None) or line
        end_byte = getattr(node, "end_col_offset", None)
        column = self._column_of_byte(line, getattr(node, "col_offset", 0))
        end_column = column if end_byte is None else self._column_of_byte(end_line, end_byte)
        return Span(self.path, line, column, end_line, end_column)

    def span_of_syntax_error(self, error: SyntaxError) -> Span:
        """Where Python saw the error; at least one column wide so that it can be underlined."""
        line = min(max(error.lineno or 1, 1), len(self.lines))
        column = min(max(error.offset or 1, 1), len(self.line(line)) + 1)
        end_line, end_column = error.end_lineno or line, error.end_offset or 0
        if (end_line, end_column) <= (line, column) or end_line > len(self.lines):
            end_line, end_column = line, column + 1
        return Span(self.path, line, column, end_line, end_column)

    def segment(self, span: Span) -> str:
        """The text of a span."""
        return self.text[self.offset(span.line, span.column) : self.offset(span.end_line, span.end_column)]

    def _column_of_byte(self, line: int, byte: int) -> int:
        text = self.line(line)
        if text.isascii():
            return min(byte, len(text)) + 1
        return len(text.encode("utf-8", "surrogatepass")[:byte].decode("utf-8", "ignore")) + 1


def caret_lines(source: SourceText, span: Span) -> tuple[str, str]:
    """The source line of a span's start and the carets under it, aligned on a terminal (tabs, wide and combining text).

    A span over several lines is underlined to the end of its first one; an empty span gets one caret.
    """
    line = source.line(span.line)
    start = min(span.column - 1, len(line))
    end = min(span.end_column - 1, len(line)) if span.end_line == span.line else len(line.rstrip())
    before, marked = _terminal_text(line[:start]), _terminal_text(line[start : max(start, end)])
    carets = " " * _width(before) + "^" * max(1, _width(marked))
    return before + marked + _terminal_text(line[max(start, end) :]).rstrip(), carets


def _terminal_text(text: str) -> str:
    """Text that moves a terminal's cursor by its own width only: no tabs, no control characters."""
    text = text.replace("\t", " " * _TAB_WIDTH)
    return "".join(c if c.isprintable() or unicodedata.combining(c) else "\N{REPLACEMENT CHARACTER}" for c in text)


def _width(text: str) -> int:
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in text)
