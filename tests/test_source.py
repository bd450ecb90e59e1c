"""Positions: the same lines as `ast`, columns in code points, no position that raises."""

from __future__ import annotations

import ast
import random

import pytest

from adcore.source import SourceText, Span, caret_lines

LINE_TABLES = [
    ("", [""]),
    ("a", ["a"]),
    ("a\n", ["a", ""]),
    ("a\r\nb\rc\nd", ["a", "b", "c", "d"]),
    ("a\n\r\nb", ["a", "", "b"]),
    ("a\x0cb\x0bc\x1cd\x85e\u2028f\u2029g", ["a\x0cb\x0bc\x1cd\x85e\u2028f\u2029g"]),
]


@pytest.mark.parametrize(("text", "lines"), LINE_TABLES)
def test_lines_end_at_cr_and_lf_only(text: str, lines: list[str]) -> None:
    source = SourceText("f.py", text)
    assert list(source.lines) == lines
    assert [source.line(number) for number in range(1, len(lines) + 1)] == lines
    assert source.line(0) == source.line(len(lines) + 1) == ""


def test_spans_of_nodes_are_code_points_and_give_back_their_text() -> None:
    text = 'é = "😀😀"; wrt = f("é", x="z")\r\ns = "\u2028"; y = 1\n# \x0c\nz = (\n  "ü",\n  x)\n'
    source = SourceText("m.py", text)
    found = 0
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.expr) and (segment := ast.get_source_segment(text, node)) is not None:
            assert source.segment(source.span_of_node(node)) == segment
            found += 1
    assert found > 12
    call = next(node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    assert source.span_of_node(call.keywords[0].value) == Span("m.py", 1, 26, 1, 29)


def test_nodes_without_a_place_get_the_first_line() -> None:
    source = SourceText("m.py", "x + y\n")
    assert source.span_of_node(ast.parse("x + y\n")) == Span("m.py", 1, 1, 1, 6)


def test_offsets_and_positions_are_inverse_and_clamped() -> None:
    source = SourceText("m.py", "ab\r\ncd\n\ne")
    for offset in (0, 1, 2, 4, 5, 6, 7, 8, 9):
        assert source.offset(*source.position(offset)) == offset
    assert source.position(3) == (1, 3), "between \\r and \\n it is the end of the line"
    assert source.position(-5) == (1, 1)
    assert source.position(99) == (4, 2)
    assert source.offset(99, 1) == 9
    assert source.offset(1, 99) == 2
    assert source.span(4, 6) == Span("m.py", 2, 1, 2, 3)
    assert source.span(5, 2) == Span("m.py", 2, 2, 2, 2)


@pytest.mark.parametrize(
    ("text", "column"),
    [("x = (1 +\n", 5), ("x = 'abc", 5), ("é = 'ü' 3\n", 9), ("x\0=1", 1), ("def f(:\n", 7), ("", 1)],
)
def test_syntax_errors_have_a_span_that_can_be_underlined(text: str, column: int) -> None:
    source = SourceText("m.py", text)
    try:
        ast.parse(text)
        error = SyntaxError("no place")
    except SyntaxError as raised:
        error = raised
    except ValueError:  # NUL, in some releases of 3.11
        error = SyntaxError("no place")
    span = source.span_of_syntax_error(error)
    assert (span.line, span.column) == (1, column)
    assert (span.end_line, span.end_column) > (span.line, span.column)


def test_spans_sort_by_place() -> None:
    spans = [Span("b", 1, 1, 1, 2), Span("a", 10, 1, 10, 2), Span("a", 9, 3, 9, 4), Span("a", 9, 1, 12, 1)]
    assert sorted(spans) == [spans[3], spans[2], spans[1], spans[0]]


CARETS = [
    # line, (column, end column), expected line, expected carets
    ("f(x=1)", (3, 4), "f(x=1)", "  ^"),
    ("\tx = y", (6, 7), "    x = y", "        ^"),
    ("é = '日本' + z", (5, 9), "é = '日本' + z", "    ^^^^^^"),
    ("'日本' + z", (8, 9), "'日本' + z", "         ^"),
    ("x", (2, 2), "x", " ^"),
    ("x", (9, 12), "x", " ^"),
    ("a\x1b[31mb", (7, 8), "a\N{REPLACEMENT CHARACTER}[31mb", "      ^"),
]


@pytest.mark.parametrize(("line", "columns", "shown", "carets"), CARETS)
def test_carets_stand_under_the_span(line: str, columns: tuple[int, int], shown: str, carets: str) -> None:
    source = SourceText("m.py", line)
    assert caret_lines(source, Span("m.py", 1, columns[0], 1, columns[1])) == (shown, carets)


def test_a_span_over_lines_is_underlined_on_its_first() -> None:
    source = SourceText("m.py", "x = f(1,  \n  2)\n")
    assert caret_lines(source, Span("m.py", 1, 5, 2, 4)) == ("x = f(1,", "    ^^^^")


def test_no_position_raises() -> None:
    rng = random.Random(1)
    for _ in range(2000):
        text = "".join(rng.choices("ab \t\r\n\u2028é😀\ud800\0", k=rng.randrange(12)))
        source = SourceText("m.py", text)
        numbers = [rng.randrange(-3, 15) for _ in range(6)]
        node = ast.Name("x", lineno=numbers[0], col_offset=numbers[1], end_lineno=numbers[2], end_col_offset=numbers[3])
        for span in (source.span_of_node(node), source.span(numbers[4], numbers[5]), Span("m.py", *numbers[:4])):
            source.segment(span)
            caret_lines(source, span)
