"""Options wherever they are written: every mistake is reported, at its span, with one suggestion or a list.

In the tables « » mark the spans of the findings, in order; what stands between is what a suggestion would replace.
"""

from __future__ import annotations

import ast
import contextlib
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields

import pytest
import tomli

from adcore.diagnostics import Diagnostic, Report
from adcore.option_values import FLAGS, Option, Place
from adcore.options import (
    DECORATOR,
    ENVIRONMENT,
    FUNCTION_OPTIONS,
    FUNCTION_TABLE,
    OPTIONS,
    PROJECT,
    PROJECT_OPTIONS,
    SETTINGS,
    FunctionOptions,
    ProjectOptions,
    check_decorator,
    check_environment,
    check_functions,
    check_settings,
    check_toml,
    environment_text,
    resolve,
    resolve_project,
)
from adcore.source import SourceText

PARAMETERS = [("x", "float"), ("weights", "float"), ("n", "int"), ("flag", "bool")]


def unmark(marked: str) -> tuple[str, list[tuple[int, int]]]:
    text, spans, start = "", [], 0
    for char in marked:
        if char == "«":
            start = len(text)
        elif char == "»":
            spans.append((start, len(text)))
        else:
            text += char
    return text, spans


def outcome(source: SourceText, found: Report) -> list[tuple[str, tuple[int, int], str | None]]:
    def offsets(d: Diagnostic) -> tuple[int, int]:
        return source.offset(d.span.line, d.span.column), source.offset(d.span.end_line, d.span.end_column)

    return [(d.rule, offsets(d), d.suggestion) for d in found]


def decorator(text: str, report: Report, takes_function: bool = False) -> FunctionOptions | None:
    expression = ast.parse(text, mode="eval").body
    return check_decorator(expression, SourceText("m.py", text), PARAMETERS, report, takes_function=takes_function)


GOOD_DECORATORS = [
    ("autodiff", {}),
    ("adcore.autodiff", {}),
    ("autodiff()", {}),
    ('autodiff(mode="both", wrt="x", order=2)', {"mode": "both", "wrt": "x", "order": 2}),
    ("autodiff(wrt=('x',))", {"wrt": ("x",)}),
    ('autodiff(wrt=("x", "weights"), alloc="forbid")', {"wrt": ("x", "weights"), "alloc": "forbid"}),
    (
        'autodiff(checkpoint="sqrt", fastmath=("nnan", "nsz", "nnan"))',
        {"checkpoint": "sqrt", "fastmath": ("nnan", "nsz")},
    ),
    ("autodiff(checkpoint=16, fastmath=True)", {"checkpoint": 16, "fastmath": True}),
    (
        "autodiff(checkpoint=None, fastmath=(), bounds_check=False)",
        {"checkpoint": None, "fastmath": False, "bounds_check": False},
    ),
    ('autodiff(mode="forward", order=1, alloc="allow", checkpoint=None)', {"mode": "forward"}),
    ('autodiff(mode="none", bounds_check=False)', {"mode": "none", "bounds_check": False}),
    ('autodiff(**{"mode": "forward"}, wrt="x")', {"mode": "forward", "wrt": "x"}),
    ('autodiff(mode="for" "ward")', {"mode": "forward"}),
]


@pytest.mark.parametrize(("text", "values"), GOOD_DECORATORS)
def test_good_decorator(text: str, values: dict[str, object]) -> None:
    report = Report()
    assert decorator(text, report) == FunctionOptions(**values)  # type: ignore[arg-type]
    assert not report.diagnostics


BAD_DECORATORS: list[tuple[str, list[tuple[str, str | None]]]] = [
    ('autodiff(mode=«"revers"», wrt=«"z"»)', [("unknown-value", '"reverse"'), ("unknown-parameter", None)]),
    ("autodiff(mode=«'Reverse'»)", [("unknown-value", "'reverse'")]),
    ("autodiff(mode=«r'''rev'''»)", [("unknown-value", "'''reverse'''")]),
    ('autodiff(mode=«"backward"»)', [("unknown-value", '"reverse"')]),
    ('autodiff(mode=«"sideways"»)', [("unknown-value", None)]),
    ("autodiff(mode=«None»)", [("wrong-type", '"none"')]),
    ("autodiff(mode=«1»)", [("wrong-type", None)]),
    ("autodiff(mode=«MODE», order=«1 + 1»)", [("not-literal", None), ("not-literal", None)]),
    ('autodiff(mode=«f"{a}"»)', [("not-literal", None)]),
    ('autodiff(«mod»="reverse")', [("unknown-name", "mode")]),
    ('autodiff(«Mode»="reverse", «argnums»="x")', [("unknown-name", "mode"), ("unknown-name", "wrt")]),
    ("autodiff(«remat»=True, «boundscheck»=False)", [("unknown-name", "checkpoint"), ("unknown-name", "bounds_check")]),
    ("autodiff(«jit»=True)", [("unknown-name", None)]),
    ('autodiff(«cpu»="native")', [("unknown-name", None)]),
    ('autodiff(mode="both", «mdoe»="both")', [("unknown-name", None)]),
    ('autodiff(**{«"mod"»: "both", "alloc": «"wrn"»})', [("unknown-name", '"mode"'), ("unknown-value", '"warn"')]),
    ("autodiff(**«options»)", [("not-literal", None)]),
    ("autodiff(**{«key»: 1})", [("not-literal", None)]),
    ("autodiff(**{**«options»})", [("not-literal", None)]),
    ("autodiff(order=«3», checkpoint=«0»)", [("unknown-value", None), ("unknown-value", None)]),
    ("autodiff(order=«2.0»)", [("wrong-type", "2")]),
    ('autodiff(order=«"2"»)', [("wrong-type", "2")]),
    ("autodiff(order=«True», checkpoint=«True»)", [("wrong-type", None), ("wrong-type", None)]),
    ("autodiff(checkpoint=«-3»)", [("unknown-value", None)]),
    ('autodiff(checkpoint=«"none"»)', [("wrong-type", "None")]),
    ('autodiff(checkpoint=«"sqr"»)', [("unknown-value", '"sqrt"')]),
    ("autodiff(checkpoint=«0.5»)", [("wrong-type", None)]),
    ('autodiff(alloc=«"error"»)', [("unknown-value", '"forbid"')]),
    ("autodiff(alloc=«False»)", [("wrong-type", None)]),
    ('autodiff(bounds_check=«"true"»)', [("wrong-type", "True")]),
    ("autodiff(bounds_check=«0»)", [("wrong-type", None)]),
    ('autodiff(fastmath=«"nnan"»)', [("wrong-type", '("nnan",)')]),
    ('autodiff(fastmath=«["nnan", "nsz"]»)', [("wrong-type", '("nnan", "nsz")')]),
    (
        'autodiff(fastmath=("nnan", «"nfin"», «3», «F»))',
        [("unknown-value", None), ("wrong-type", None), ("not-literal", None)],
    ),
    ('autodiff(fastmath=(«"nnn"»,))', [("unknown-value", '"nnan"')]),
    ('autodiff(wrt=«"wieghts"»)', [("unknown-parameter", '"weights"')]),
    ('autodiff(wrt=«"x, weights"»)', [("unknown-parameter", '("x", "weights")')]),
    (
        'autodiff(wrt=(«"n"», «"Weights"», «"flag"»))',
        [("integer-parameter", None), ("unknown-parameter", '"weights"'), ("integer-parameter", None)],
    ),
    ('autodiff(wrt=("weights", «"weight"»))', [("unknown-parameter", None)]),
    ('autodiff(wrt=("x", «"x"»))', [("duplicate", None)]),
    ('autodiff(wrt=«["x", "weights"]»)', [("wrong-type", '("x", "weights")')]),
    ('autodiff(wrt=«["y"]»)', [("wrong-type", None)]),
    ("autodiff(wrt=«1»)", [("wrong-type", '"weights"')]),
    ("autodiff(wrt=(«0», «9»))", [("wrong-type", '"x"'), ("wrong-type", None)]),
    ("autodiff(wrt=«()»)", [("wrong-type", None)]),
    ("autodiff(wrt=«None»)", [("wrong-type", None)]),
    ("autodiff(wrt=(«x»,))", [("not-literal", None)]),
    (
        'autodiff(«"reverse"», «"x"», «f», «*a»)',
        [("positional", 'mode="reverse"'), ("positional", 'wrt="x"'), ("positional", None), ("positional", None)],
    ),
    ('autodiff(alloc="warn", «alloc»="warn")', [("duplicate", None)]),
    ('autodiff(mode="forward", order=«2»)', [("conflict", None)]),
    ('autodiff(checkpoint=«"sqrt"», alloc=«"warn"», mode="forward")', [("conflict", None), ("conflict", None)]),
    ('autodiff(mode="none", wrt=«"x"», order=«2»)', [("conflict", None), ("conflict", None)]),
    ('autodiff(«"é😀" and 1», mode=«"revers"»)', [("positional", None), ("unknown-value", '"reverse"')]),
    (
        'autodiff(\n  mode=«"revers"»,\n  wrt=(\n    «"z"»,))',
        [("unknown-value", '"reverse"'), ("unknown-parameter", None)],
    ),
]


@pytest.mark.parametrize(("marked", "expected"), BAD_DECORATORS)
def test_bad_decorator(marked: str, expected: list[tuple[str, str | None]]) -> None:
    text, spans = unmark(marked)
    report = Report()
    assert decorator(text, report) is None
    found = outcome(SourceText("m.py", text), report)
    assert found == [
        (f"options/{rule}", span, suggestion) for (rule, suggestion), span in zip(expected, spans, strict=True)
    ]


def test_the_function_itself_is_no_option() -> None:
    report = Report()
    assert decorator('autodiff(f, wrt="x")', report, takes_function=True) == FunctionOptions(wrt="x")
    assert decorator('autodiff(f, "x")', report, takes_function=True) is None
    assert [d.rule for d in report] == ["options/positional"]


MESSAGES = [
    ('autodiff(mode="revers")', '`"revers"` is not a value of `mode`; did you mean `"reverse"`?'),
    ('autodiff(alloc="x")', '`"x"` is not a value of `alloc`; it takes `"allow"`, `"warn"` or `"forbid"`'),
    (
        'autodiff(wrt="z")',
        "`z` in `wrt` is not a parameter of the function; its parameters are `x`, `weights`, `n` and `flag`",
    ),
    ('autodiff(wrt="n")', "`wrt` names `n`, which is an integer: there is no derivative with respect to it"),
    ("autodiff(argnums=0)", "`argnums` is not an option of `autodiff`; what JAX calls `argnums` is `wrt` here"),
    (
        "autodiff(jit=1)",
        "`jit` is not an option of `autodiff`; the options are "
        "`mode`, `wrt`, `order`, `alloc`, `checkpoint`, `fastmath` and `bounds_check`",
    ),
    ("autodiff(order=2.5)", "`order` takes `1` or `2`, not `2.5`"),
    ("autodiff(checkpoint=0)", '`0` is not a value of `checkpoint`; it takes `None`, `"sqrt"` or a positive integer'),
    ('autodiff(cpu="native")', "`cpu` is not an option of `autodiff`; `cpu` is set in `[tool.adcore]`"),
    (
        'autodiff(mode="""a\nb""")',
        '`"""a b"""` is not a value of `mode`; it takes `"reverse"`, `"forward"`, `"both"` or `"none"`',
    ),
    (
        "autodiff(checkpoint=-" + "9" * 300 + ")",
        "`-" + "9" * 58 + '…` is not a value of `checkpoint`; it takes `None`, `"sqrt"` or a positive integer',
    ),
    (
        "autodiff(checkpoint=-0x" + "f" * 5000 + ")",
        "`-0x" + "f" * 56 + '…` is not a value of `checkpoint`; it takes `None`, `"sqrt"` or a positive integer',
    ),
]


@pytest.mark.parametrize(("text", "message"), MESSAGES)
def test_message(text: str, message: str) -> None:
    report = Report()
    decorator(text, report)
    assert [d.message for d in report] == [message]


def test_a_function_of_one_or_no_parameter() -> None:
    text = 'autodiff(wrt="z")'
    expression = ast.parse(text, mode="eval").body
    for parameters, words in (([("x", "float")], "its only parameter is `x`"), ([], "it has no parameters")):
        report = Report()
        check_decorator(expression, SourceText("m.py", text), parameters, report)
        (found,) = report
        assert found.message.endswith(words)
        assert found.suggestion is None


# TOML

GOOD_TOML = [
    ("", ProjectOptions()),
    ("[tool.other]\nmod = 1\n", ProjectOptions()),
    ("[tool.adcore]\n", ProjectOptions(present=True)),
    (
        '[tool.adcore]\ncpu = "x86-64-v3"\ndebug = true\ninclude = ["a.*"]\nexclude = []\nabi3 = "cp311"\n',
        ProjectOptions(cpu="x86-64-v3", debug=True, include=("a.*",), present=True),
    ),
    (
        'tool = { adcore = { alloc = "warn", checkpoint = "none", fastmath = ["nnan"], bounds-check = false } }\n',
        ProjectOptions(
            defaults={"alloc": "warn", "checkpoint": None, "fastmath": ("nnan",), "bounds_check": False}, present=True
        ),
    ),
    ("tool.adcore.checkpoint = 0x10\r\n", ProjectOptions(defaults={"checkpoint": 16}, present=True)),
]


@pytest.mark.parametrize(("text", "expected"), GOOD_TOML)
def test_good_toml(text: str, expected: ProjectOptions) -> None:
    report = Report()
    assert check_toml(text, "pyproject.toml", report) == expected
    assert not report.diagnostics


@pytest.mark.parametrize(
    "text",
    [
        '[tool.adcore.functions."p.m:f"]\nalloc = "forbid"\nwrt = ["x"]\n',
        '[tool.adcore]\nfunctions = { "p.m:f" = { alloc = "forbid", wrt = ["x"] } }\n',
        '[tool.adcore]\nfunctions."p.m:f".alloc = "forbid"\nfunctions."p.m:f".wrt = ["x"]\n',
    ],
)
def test_tables_of_functions(text: str) -> None:
    report = Report()
    project = check_toml(text, "pyproject.toml", report)
    assert project is not None
    assert project.functions["p.m:f"].values == {"alloc": "forbid", "wrt": ("x",)}
    assert not report.diagnostics


BAD_TOML: list[tuple[str, list[tuple[str, str | None]]]] = [
    ('[tool.adcore]\n«aloc» = "warn"', [("unknown-key", "alloc")]),
    ('[tool.adcore]\n«"aloc"» = "warn"', [("unknown-key", '"alloc"')]),
    ("[tool.adcore]\n«bounds_check» = true\n«boundsCheck» = true", [("unknown-key", "bounds-check")] * 2),
    ('[tool.adcore]\n«march» = "native"', [("unknown-key", "cpu")]),
    ("[tool.adcore]\n«optimise» = 3", [("unknown-key", None)]),
    ('[tool.adcore]\nalloc = «"forbiden"»', [("unknown-value", '"forbid"')]),
    ("[tool.adcore]\nalloc = «'Warn'»", [("unknown-value", "'warn'")]),
    ("[tool.adcore]\nalloc = «true»\nfastmath = «1»", [("wrong-type", None), ("wrong-type", None)]),
    ('[tool.adcore]\ndebug = «"true"»', [("wrong-type", "true")]),
    ('[tool.adcore]\nfastmath = «"nnan"»', [("wrong-type", '["nnan"]')]),
    ('[tool.adcore]\nfastmath = ["nnan",\n  «"nfin"», # c\n «2»]', [("unknown-value", None), ("wrong-type", None)]),
    ('[tool.adcore]\ninclude = «"a.b"»', [("wrong-type", '["a.b"]')]),
    (
        '[tool.adcore]\ninclude = ["a", «""», «"b/c"», «1»]',
        [("unknown-value", None), ("unknown-value", None), ("wrong-type", None)],
    ),
    ('[tool.adcore]\ncpu = «"native"»', [("not-portable", None)]),
    ('[tool.adcore]\ncpu = «"avx2"»', [("unknown-value", '"x86-64-v3"')]),
    ('[tool.adcore]\n«mode» = "forward"\n«order» = 2\n«wrt» = "x"', [("misplaced", None)] * 3),
    ('[tool.adcore]\n«fallback» = "python"', [("misplaced", None)]),
    ('[tool.adcore.«function»."p:f"]\nalloc = "warn"', [("unknown-key", "functions")]),
    ('[tool.adcore.functions."p:f"]\n«cpu» = "baseline"\n«aloc» = 1', [("misplaced", None), ("unknown-key", "alloc")]),
    ('[tool.adcore.functions.«"p.q.f"»]\nalloc = «1»', [("unknown-function", '"p.q:f"'), ("wrong-type", None)]),
    ('[tool.adcore.functions.«f»]\nalloc = "warn"', [("unknown-function", None)]),
    ('[tool.adcore.functions]\n"p:f" = «3»', [("wrong-type", None)]),
    ("[tool.adcore]\nfunctions = «[]»", [("wrong-type", None)]),
    ("[[tool.adcore.«functions»]]", [("wrong-type", None)]),
    ("[tool.adcore.«alloc»]\nx = 1", [("wrong-type", None)]),
    ("[tool]\n«adcore» = 3", [("wrong-type", None)]),
    ("[[tool.«adcore»]]", [("wrong-type", None)]),
    # broken TOML: the error where it is, and the mistakes of the intact part
    ('[tool.adcore]\nalloc =«\n»«aloc» = "warn"', [("syntax", None), ("unknown-key", "alloc")]),
    ('[tool.adcore]\nalloc = «forbid»\ncpu = «"v9"»', [("syntax", '"forbid"'), ("unknown-value", None)]),
    ("[tool.adcore]\ndebug = «True»", [("syntax", "true")]),
    ('[tool.adcore]\ninclude = ["a"\n«c»pu = «"v9"»', [("syntax", None), ("unknown-value", None)]),
    ('[tool.adcore]\nalloc = «"warn»\n«debg» = true', [("syntax", None), ("unknown-key", "debug")]),
    ('[tool.adcore]\nalloc = "warn"\n«alloc» = "warn"', [("duplicate", None)]),
    ('[tool.adcore]\nalloc = "warn"\n[tool.«adcore»]', [("duplicate", None)]),
    (
        '[project]\nname = "x"\nversion = «1.2.3»\n[tool.adcore]\n«aloc» = 1',
        [("syntax", None), ("unknown-key", "alloc")],
    ),
    ('a = "\\q«"»\n[tool.adcore]\n«aloc» = 1', [("syntax", None), ("unknown-key", "alloc")]),
    (
        '# é😀\r\n[tool.adcore]\r\n«aloc» = "é"\r\ncpu = «"é"» # ü\r\n',
        [("unknown-key", "alloc"), ("unknown-value", None)],
    ),
]


@pytest.mark.parametrize(("marked", "expected"), BAD_TOML)
def test_bad_toml(marked: str, expected: list[tuple[str, str | None]]) -> None:
    text, spans = unmark(marked)
    report = Report()
    assert check_toml(text, "pyproject.toml", report) is None
    found = outcome(SourceText("pyproject.toml", text), report)
    assert found == [
        (f"config/{rule}", span, suggestion) for (rule, suggestion), span in zip(expected, spans, strict=True)
    ]


def test_a_broken_table_in_a_header_is_not_taken_for_the_table_before() -> None:
    report = Report()
    check_toml('[tool.adcore]\nalloc = "warn"\n[tool.other\nmod = 1\n', "pyproject.toml", report)
    assert [d.rule for d in report] == ["config/syntax"]


def test_tables_of_functions_that_are_not_there() -> None:
    text = (
        '[tool.adcore.functions."p.m:rosne"]\nalloc = "warn"\n'
        '[tool.adcore.functions."q:g"]\nalloc = "warn"\n'
        '[tool.adcore.functions."p.m:rosen"]\nwrt = ["x", "z"]\n'
        "[tool.adcore.functions.'p.m:count']\nwrt = 'n'\n"
    )
    report = Report()
    project = check_toml(text, "pyproject.toml", report)
    assert project is not None
    known = {"p.m:rosen": [("x", "float")], "p.m:count": [("n", "int"), ("x", "float")]}
    check_functions(project, known, report)
    assert [(d.rule, d.span.line, d.suggestion) for d in report] == [
        ("config/unknown-function", 1, '"p.m:rosen"'),
        ("config/unknown-function", 3, None),
        ("config/unknown-parameter", 6, None),
        ("config/integer-parameter", 8, None),
    ]


# Environment, settings


def test_good_environment() -> None:
    report = Report()
    environ = {
        "ADCORE_CPU": "native",
        "ADCORE_CHECKPOINT": "none",
        "ADCORE_FASTMATH": "nnan, nsz",
        "ADCORE_BOUNDS_CHECK": "off",
        "ADCORE_DEBUG": "1",
        "ADCORE_FALLBACK": "python",
        "ADCORE_ALLOC": "",
        "PATH": "/bin",
    }
    assert check_environment(environ, report) == {
        "cpu": "native",
        "checkpoint": None,
        "fastmath": ("nnan", "nsz"),
        "bounds_check": False,
        "debug": True,
        "fallback": "python",
    }
    assert not report.diagnostics


BAD_ENVIRONMENT = [
    ("ADCORE_ALOC", "warn", "name", "unknown-key", "ADCORE_ALLOC"),
    ("ADCORE_CPUS", "baseline", "name", "unknown-key", "ADCORE_CPU"),
    ("ADCORE_VERBOSE", "1", "name", "unknown-key", None),
    ("ADCORE_", "1", "name", "unknown-key", None),
    ("ADCORE_MODE", "forward", "name", "misplaced", None),
    ("ADCORE_INCLUDE", "a.*", "name", "misplaced", None),
    ("ADCORE_ALLOC", "frobid", "value", "unknown-value", "forbid"),
    ("ADCORE_ALLOC", "a\nb\r\u2028c\0", "value", "unknown-value", None),
    ("ADCORE_BOUNDS_CHECK", "maybe", "value", "wrong-type", None),
    ("ADCORE_CHECKPOINT", "-1", "value", "unknown-value", None),
    ("ADCORE_CHECKPOINT", "9" * 30, "value", "unknown-value", None),
    ("ADCORE_FASTMATH", "nnan,nsx", "value", "unknown-value", "nsz"),
    ("ADCORE_FALLBACK", "pyton", "value", "unknown-value", "python"),
]


@pytest.mark.parametrize(("name", "value", "place", "rule", "suggestion"), BAD_ENVIRONMENT)
def test_bad_environment(name: str, value: str, place: str, rule: str, suggestion: str | None) -> None:
    report = Report()
    environ = {"A": "1", "ADCORE_DEBUG": "0", name: value}
    assert check_environment(environ, report) is None
    (found,) = report
    assert (found.rule, found.suggestion) == (f"config/{rule}", suggestion)
    text = environment_text(environ)
    shown = text.segment(found.span)
    assert text.line(found.span.line).startswith(f"{name}=")
    assert (shown == name) if place == "name" else (len(shown) <= len(value) and "=" not in shown)


def test_settings_have_kebab_names() -> None:
    report = Report()
    assert check_settings({"bounds-check": "false", "alloc": "warn"}, "<settings>", report) == {
        "bounds_check": False,
        "alloc": "warn",
    }
    assert check_settings({"bounds_check": "false"}, "<settings>", report) is None
    assert [(d.rule, d.suggestion, str(d.span)) for d in report] == [
        ("config/unknown-key", "bounds-check", "<settings>:1:1")
    ]


# Precedence


def test_precedence() -> None:
    names = ("alloc", "checkpoint", "fastmath", "bounds_check")
    layers: list[dict[str, object]] = [
        {"alloc": "warn", "checkpoint": 2, "fastmath": True, "bounds_check": False},
        {"alloc": "forbid", "checkpoint": 3, "fastmath": ("nnan",), "wrt": ("x",)},
        {"alloc": "warn", "checkpoint": 4, "cpu": "native"},
        {"alloc": "forbid"},
    ]
    defaults, table, env, cli = layers
    found = resolve(FunctionOptions(), cli, env, table, defaults)
    assert [getattr(found, name) for name in names] == ["forbid", 4, ("nnan",), False]
    assert found.wrt == ("x",)
    own = FunctionOptions.of({"alloc": "allow", "wrt": "y"})
    found = resolve(own, cli, env, table, defaults)
    assert (found.alloc, found.wrt, found.checkpoint) == ("allow", "y", 4)
    assert resolve(FunctionOptions()) == FunctionOptions()


def test_a_default_written_in_the_decorator_holds() -> None:
    options = decorator('autodiff(alloc="allow")', Report())
    assert options is not None
    assert resolve(options, toml_defaults={"alloc": "forbid"}).alloc == "allow"


def test_precedence_of_project_options() -> None:
    project = ProjectOptions(cpu="x86-64-v2", debug=False, present=True)
    found = resolve_project(project, {"cpu": "x86-64-v4"}, {"cpu": "native", "debug": True, "alloc": "warn"})
    assert found == ProjectOptions(cpu="x86-64-v4", debug=True, present=True, defaults={"alloc": "warn"})


# The schema


def test_rows_and_dataclasses_agree() -> None:
    for kind, names in ((FunctionOptions(), FUNCTION_OPTIONS), (ProjectOptions(), PROJECT_OPTIONS)):
        for name in names:
            assert getattr(kind, name) == OPTIONS[name].default
    assert {f.name for f in fields(FunctionOptions)} - {"given"} == {
        name for name, option in OPTIONS.items() if option.scope != "project"
    }
    assert set(PROJECT_OPTIONS) | {"functions", "fallback", "development", "cache_dir"} == {
        name for name, option in OPTIONS.items() if option.scope == "project"
    }


def test_spellings_and_aliases_are_unambiguous() -> None:
    for surface in (DECORATOR, PROJECT, FUNCTION_TABLE, ENVIRONMENT, SETTINGS):
        names = [surface.name(option) for option in OPTIONS.values()]
        assert len(set(names)) == len(names)
    aliases = [alias for option in OPTIONS.values() for alias in option.aliases]
    assert len(set(aliases)) == len(aliases)
    assert not set(aliases) & set(OPTIONS)
    for option in OPTIONS.values():
        assert option.help.endswith(".")
        assert set(option.value_aliases.values()) <= set(option.allowed)
        assert not set(option.value_aliases) & set(option.allowed)
        assert option.elsewhere or set(option.places) >= {"project", "function", "environment", "settings"}


def sample(option: Option, place: Place) -> tuple[str, str]:
    """A good and a bad value as they are written at a place."""
    text = place in ("environment", "settings")
    good = {
        "choice": str(option.allowed[-1]) if option.allowed else "",
        "bool": "True" if place == "decorator" else "true",
        "parameters": "x",
        "checkpoint": "sqrt",
        "flags": FLAGS[0],
        "patterns": "a.*",
        "functions": "{}",
        "folder": "/tmp/adcore",
    }[option.kind]
    if option.name == "cpu" and not text:
        good = "baseline"
    if text:
        return good, "?"
    if option.kind == "patterns":
        return '["a.*"]', '["a/b"]'
    open_, close = ("(", ",)") if place == "decorator" else ("[", "]")
    if option.kind == "flags":
        return f'{open_}"{good}"{close}', f'{open_}"?"{close}'
    quoted = (
        isinstance(option.allowed[0], str) if option.allowed else option.kind in ("parameters", "checkpoint", "folder")
    )
    return (f'"{good}"' if quoted else good), '"?"'


def check_at(place: Place, option: Option, value: str) -> Report:
    report = Report()
    match place:
        case "decorator":
            decorator(f"autodiff({option.name}={value})", report)
        case "project":
            check_toml(f"[tool.adcore]\n{option.kebab} = {value}\n", "pyproject.toml", report)
        case "function":
            text = f'[tool.adcore.functions."p:f"]\n{option.kebab} = {value}\n'
            project = check_toml(text, "pyproject.toml", report)
            if project is not None:
                check_functions(project, {"p:f": PARAMETERS}, report)
        case "environment":
            check_environment({option.env: value}, report)
        case "settings":
            check_settings({option.kebab: value}, "<settings>", report)
    return report


PLACES: tuple[Place, ...] = ("decorator", "project", "function", "environment", "settings")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("option", OPTIONS.values(), ids=OPTIONS)
def test_every_option_at_every_place(option: Option, place: Place) -> None:
    good, bad = sample(option, place)
    allowed = place in option.places
    misplaced = ["options/unknown-name"] if place == "decorator" else ["config/misplaced"]
    assert [d.rule for d in check_at(place, option, good)] == ([] if allowed else misplaced)
    (found,) = check_at(place, option, bad)
    assert found.rule in misplaced if not allowed else found.rule.endswith(("-value", "-type", "-parameter"))


def test_loading_the_schema_loads_little() -> None:
    code = (
        "import sys, types; package = types.ModuleType('adcore'); package.__path__ = [sys.argv[1]];"
        "sys.modules['adcore'] = package; import adcore.options;"
        "print(*sorted(m for m in sys.modules if m.partition('.')[0] in ('numpy', 'llvmlite', 'setuptools', 'pygls')))"
    )
    folder = str(sys.modules["adcore.options"].__file__).rpartition("options.py")[0]
    done = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


# No text raises, nothing unknown goes unreported

PIECES = [
    '"',
    "'",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    "=",
    "**",
    "*",
    "x",
    "mode",
    "wrt",
    "z",
    "1",
    "-",
    ".5",
    "None",
    "é",
    "😀",
]
PIECES += [
    "\n",
    " ",
    "#",
    "lambda: 0",
    "True",
    '"sqrt"',
    "fastmath=",
    "...",
    'b"x"',
    "1j",
    "\\",
    "tool.",
    ":",
    "<<",
    "'''",
]


def mutate(texts: list[str], count: int, seed: int) -> Iterator[str]:
    rng = random.Random(seed)
    for _ in range(count):
        text = rng.choice(texts)
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(text) + 1)
            text = text[:at] + rng.choice([*PIECES, ""]) + text[at + rng.choice([0, 0, 1, 2, 7]) :]
        yield text


@pytest.mark.filterwarnings("ignore")
def test_mutated_decorators() -> None:
    texts = [text for text, _ in GOOD_DECORATORS] + [unmark(marked)[0] for marked, _ in BAD_DECORATORS]
    names = {option.name for option in OPTIONS.values() if "decorator" in option.places}
    parsed = 0
    for text in mutate(texts, 6000, seed=5):
        try:
            expression = ast.parse(text, mode="eval").body
        except (SyntaxError, ValueError):
            continue
        parsed += 1
        report = Report()
        options = check_decorator(expression, SourceText("m.py", text), PARAMETERS, report)
        assert (options is None) == bool(report.diagnostics), text
        if not isinstance(expression, ast.Call):
            continue
        unknown = [word.arg for word in expression.keywords if word.arg is not None and word.arg not in names]
        assert sum(d.rule == "options/unknown-name" for d in report) >= len(set(unknown)), text
        for found in report:
            assert "\n" not in found.message
    assert parsed > 1000


def test_suggestions_can_be_applied() -> None:
    """Replacing a span by its suggestion mends that finding and breaks nothing else."""
    for marked, _ in BAD_DECORATORS:
        text, _ = unmark(marked)
        source, before = SourceText("m.py", text), Report()
        decorator(text, before)
        for found in before:
            if found.suggestion is None:
                continue
            start = source.offset(found.span.line, found.span.column)
            end = source.offset(found.span.end_line, found.span.end_column)
            after = Report()
            with contextlib.suppress(SyntaxError):  # a keyword in front of a positional argument
                decorator(text[:start] + found.suggestion + text[end:], after)
            names = {"unknown-name", "positional"}  # the value may turn out to be wrong as well
            assert len(after) < len(before) or found.rule.partition("/")[2] in names, text


def test_mutated_tables() -> None:
    texts = [text for text, _ in GOOD_TOML if text] + [unmark(marked)[0] for marked, _ in BAD_TOML]
    names = {option.kebab for option in OPTIONS.values()}
    valid = 0
    for text in mutate(texts, 4000, seed=6):
        report = Report()
        project = check_toml(text, "pyproject.toml", report)
        assert (project is None) == bool(report.diagnostics), text
        try:
            values = tomli.loads(text)
        except tomli.TOMLDecodeError:
            assert any(d.rule in ("config/syntax", "config/duplicate") for d in report), text
            continue
        valid += 1
        assert not any(d.rule in ("config/syntax", "config/duplicate") for d in report), text
        tool = values.get("tool")
        table = tool.get("adcore") if isinstance(tool, dict) else None
        if isinstance(table, dict):
            unknown = [name for name in table if name not in names]
            assert sum(d.rule == "config/unknown-key" for d in report) >= len(unknown), text
    assert valid > 300


def test_mutated_environment() -> None:
    texts = [value for _, value, *_ in BAD_ENVIRONMENT]
    for number, value in enumerate(mutate(texts, 1000, seed=7)):
        name = list(OPTIONS.values())[number % len(OPTIONS)].env
        report = Report()
        found = check_environment({name: value, f"ADCORE_{value}": "1"}, report)
        assert found is None
        assert len(report)
