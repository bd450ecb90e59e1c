"""The registry is complete and its examples are true; a report sorts, and says nothing twice."""

from __future__ import annotations

import ast
import pickle
import re
import string
from pathlib import Path

import pytest

from adcore import rules
from adcore.diagnostics import Related, Report, sort_diagnostics
from adcore.options import check_decorator, check_functions, check_toml
from adcore.rules import RULES, SEVERITIES, Rule
from adcore.source import SourceText, Span

CODES = {
    "options": "AD1", "syntax": "AD2", "language": "AD2", "calls": "AD2", "types": "AD3", "activity": "AD4",
    "alloc": "AD5", "config": "AD6", "project": "AD6", "compiler": "AD9",
}  # fmt: skip
HERE = Span("m.py", 1, 1, 1, 2)


def fields_of(rule: Rule) -> list[str]:
    return [name for _, name, _, _ in string.Formatter().parse(rule.message) if name]


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_row_is_complete(rule: Rule) -> None:
    assert re.fullmatch(r"[a-z]+(/[a-z0-9]+(-[a-z0-9]+)*)", rule.name)
    assert re.fullmatch(r"AD\d{3}", rule.code)
    assert rule.code.startswith(CODES[rule.category])
    assert rule.severity in SEVERITIES
    for text in (rule.summary, rule.message, rule.why, rule.fix):
        assert text
        assert "\n" not in text
    assert rule.why.endswith(".")
    assert rule.fix.endswith(".")
    assert not rule.summary.endswith(".")
    assert bool(rule.before) == bool(rule.after)
    assert all(name.isidentifier() for name in fields_of(rule))


def test_names_and_codes_are_unique_and_in_order() -> None:
    codes = [rule.code for rule in RULES.values()]
    assert codes == sorted(set(codes))
    assert all(name == rule.name for name, rule in RULES.items())


def test_a_rule_is_a_file_named_after_it() -> None:
    files = {file.stem for file in Path(rules.__file__).parent.glob("*.py")} - {"__init__", "rule"}
    assert files == {re.sub(r"[/-]", "_", name) for name in RULES}


def examine(rule: Rule, example: str) -> list[str]:
    """The rules that an example of `options/*` or `config/*` breaks."""
    report = Report()
    if rule.category == "config":
        project = check_toml(example, "pyproject.toml", report)
        if project is not None:
            check_functions(project, {"pkg.model:f": [("x", "float")]}, report)
        return [diagnostic.rule for diagnostic in report]
    (function,) = (node for node in ast.walk(ast.parse(example)) if isinstance(node, ast.FunctionDef))
    parameters = [(arg.arg, ast.unparse(arg.annotation) if arg.annotation else "") for arg in function.args.args]
    check_decorator(function.decorator_list[0], SourceText("m.py", example), parameters, report)
    return [diagnostic.rule for diagnostic in report]


@pytest.mark.parametrize(
    "rule", [rule for rule in RULES.values() if rule.category in ("options", "config") and rule.before], ids=str
)
def test_examples_of_options_are_true(rule: Rule) -> None:
    assert examine(rule, rule.before) == [rule.name]
    assert examine(rule, rule.after) == []


@pytest.mark.parametrize("rule", [rule for rule in RULES.values() if rule.before], ids=lambda rule: rule.name)
def test_corrected_examples_parse(rule: Rule) -> None:
    if rule.category != "config":
        ast.parse(rule.after)


def test_a_report_sorts_and_drops_repetitions() -> None:
    report = Report()
    places = [Span("b.py", 1, 1, 1, 2), Span("a.py", 10, 1, 10, 2), Span("a.py", 2, 7, 2, 8), Span("a.py", 2, 7, 2, 8)]
    for place in places:
        report.add("syntax/invalid", place, reason="no")
    report.add("syntax/invalid", places[0], reason="another")
    assert [(d.span.file, d.span.line) for d in report] == [("a.py", 2), ("a.py", 10), ("b.py", 1), ("b.py", 1)]
    assert len(report) == 4
    other = Report()
    other.extend(report.diagnostics)
    other.extend(report.diagnostics)
    assert other.diagnostics == report.diagnostics == sort_diagnostics([*report, *report])


def test_the_first_of_two_equal_findings_stays() -> None:
    report = Report()
    report.add("syntax/invalid", HERE, "x", reason="no")
    kept = report.add("syntax/invalid", HERE, None, reason="no")
    assert kept.suggestion == "x"
    assert sort_diagnostics([*report, *Report()]) == (kept,)


def test_what_a_diagnostic_carries() -> None:
    report = Report()
    related: list[Related | tuple[Span, str]] = [(HERE, "here"), Related(HERE, "there")]
    found = report.add("activity/zero-derivative", HERE, None, related, hint="Use it.", name="{braces}")
    assert (found.name, found.code, found.severity) == ("activity/zero-derivative", "AD401", "warning")
    assert "`{braces}`" in found.message
    assert [place.message for place in found.related] == ["here", "there"]
    assert found.hint == "Use it."
    assert not report.has_errors
    assert pickle.loads(pickle.dumps(found)) == found
    assert {found: 1}[found] == 1


def test_unknown_rules_and_missing_fields_fail_loudly() -> None:
    report = Report()
    with pytest.raises(KeyError):
        report.add("options/no-such-rule", HERE)
    with pytest.raises(KeyError):
        report.add("syntax/invalid", HERE)
    assert not len(report)
