"""The formats and exit codes as documented: columns in code points, ends exclusive, one line a finding in `concise`."""

from __future__ import annotations

import json

import pytest

from adcore.diagnostics import Diagnostic, Report
from adcore.edits import Edit, Fix
from adcore.lint.formats import FORMATS, concise, exit_code, render, summary
from adcore.rules import RULES, Rule
from adcore.source import SourceText, Span

TEXT = '# é😀\n@autodiff(mode="revers")\ndef f(日本, x):\n\treturn 日本 + y\n'
SOURCE = SourceText("src/model.py", TEXT)


def findings() -> Report:
    report = Report()
    start = TEXT.index("y\n")
    report.add("language/unknown-name", SOURCE.span(start, start + 1), hint="Define `y`.", name="y", remedy="")
    start = TEXT.index('"revers"')
    related = [(SOURCE.span(0, 1), "first here")]
    report.add(
        "options/unknown-value", SOURCE.span(start, start + 8), '"reverse"', related,
        value='`"revers"`', name="mode", remedy='did you mean `"reverse"`?',
    )  # fmt: skip
    return report


CONCISE = """\
src/model.py:2:16: error[options/unknown-value] `"revers"` is not a value of `mode`; did you mean `"reverse"`?
src/model.py:4:14: error[language/unknown-name] `y` is not defined here"""

FULL = """\
src/model.py:2:16: error[options/unknown-value] `"revers"` is not a value of `mode`; did you mean `"reverse"`?
  2 | @autodiff(mode="revers")
    |                ^^^^^^^^
  see src/model.py:1:1: first here
  why: Each option takes a fixed set of values.
  fix: replace with `"reverse"`

src/model.py:4:14: error[language/unknown-name] `y` is not defined here
  4 |     return 日本 + y
    |                   ^
  why: The name is neither a local variable, a parameter, a constant or function of the module, nor imported.
  fix: Define `y`."""


def test_concise() -> None:
    assert render(findings(), "concise") == CONCISE


def test_full() -> None:
    assert render(findings(), "full", {SOURCE.path: SOURCE}) == FULL


def test_full_without_the_source_shows_the_rest() -> None:
    text = render(findings(), "full")
    assert "|" not in text
    assert text.count("why:") == 2


def test_json() -> None:
    values = json.loads(render(findings(), "json"))
    assert values[0] == {
        "name": "options/unknown-value",
        "code": "AD102",
        "severity": "error",
        "message": '`"revers"` is not a value of `mode`; did you mean `"reverse"`?',
        "file": "src/model.py",
        "line": 2,
        "column": 16,
        "end_line": 2,
        "end_column": 24,
        "suggestion": '"reverse"',
        "edits": [{"line": 2, "column": 16, "end_line": 2, "end_column": 24, "text": '"reverse"'}],
    }
    assert values[1]["edits"] == []
    assert [value["suggestion"] for value in values] == ['"reverse"', None]


def test_a_fix_of_several_edits() -> None:
    edits = (Edit(SOURCE.span(0, 0), "import math\n"), Edit(SOURCE.span(2, 4), ""))
    other = (Edit(SOURCE.span(0, 1), "x"),)
    report = Report()
    fixes = (Fix("Add `import math`", edits), Fix("Write `x`", other))
    report.add("language/unknown-name", SOURCE.span(2, 3), hint="Define it.", fixes=fixes, name="math", remedy="")
    assert render(report, "full").splitlines()[-1] == "  fix: add `import math`"
    (value,) = json.loads(render(report, "json"))
    assert value["suggestion"] is None
    assert value["edits"] == [
        {"line": 1, "column": 1, "end_line": 1, "end_column": 1, "text": "import math\n"},
        {"line": 1, "column": 3, "end_line": 1, "end_column": 5, "text": ""},
    ]


def test_nothing_found() -> None:
    assert render([], "json") == "[]"
    assert render([], "concise") == render([], "full") == summary([]) == ""


@pytest.mark.parametrize("format", FORMATS)
def test_findings_are_sorted_and_single(format: str) -> None:
    assert format in ("concise", "full", "json")
    twice = [*reversed(findings().diagnostics), *findings()]
    assert render(twice, format) == render(findings(), format)  # type: ignore[arg-type]


def test_a_message_of_several_lines_stays_on_one() -> None:
    span = Span("m.py", 1, 1, 1, 2)
    diagnostic = Diagnostic("syntax/invalid", span, "a\nb\r\nc\u2028d")
    assert concise(diagnostic) == "m.py:1:1: error[syntax/invalid] a b c d"
    assert json.loads(render([diagnostic], "json"))[0]["message"] == "a\nb\r\nc\u2028d"


EXITS = [
    ([], 0),
    (["options/unknown-name"], 1),
    (["activity/zero-derivative"], 1),
    (["config/unknown-key"], 2),
    (["config/missing-file", "options/unknown-name"], 2),
]


@pytest.mark.parametrize(("rules", "code"), EXITS)
def test_exit_code(rules: list[str], code: int) -> None:
    span = Span("m.py", 1, 1, 1, 2)
    assert exit_code(Diagnostic(rule, span, "") for rule in rules) == code


def test_information_and_hints_are_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    for severity in ("information", "hint"):
        row = Rule("alloc/x", "AD599", severity, "x", "x", "X.", "X.")
        monkeypatch.setitem(RULES, "alloc/x", row)
        assert exit_code([Diagnostic("alloc/x", Span("m.py", 1, 1, 1, 2), "x")]) == 0


def test_summary_counts() -> None:
    rules = ["options/unknown-name", "options/unknown-value", "activity/zero-derivative"]
    assert summary(Diagnostic(rule, Span("m.py", 1, 1, 1, 2), "") for rule in rules) == "2 errors, 1 warning"
