"""What lint says about memory that a reverse pass keeps: the plan's slots, at their places, of their kinds, when they are asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine import HEADER, analyse

from adcore import driver
from adcore.ad.plan import KINDS
from adcore.driver import Analysis
from adcore.lint.check import Checker
from adcore.lint.facts import function_facts
from adcore.lint.kept import HEAP
from adcore.rules import RULES, Rule

KEPT = [f"alloc/{kind}" for kind in KINDS]
FIRST = HEADER.count("\n") + 1

# (function, place, rule, message): lines from the function's own first, columns of the code.
CASES = [
    (
        "def f(x: Vector) -> float:\n    y = x.copy()\n    for i in range(len(x)):\n        y[i] = y[i] * y[i]\n    return y[0]\n",
        (4, 16, 20), "overwritten",
        "`y[i]` (8*len(x) bytes): the array that it is read from may hold another by then",
    ),
    (
        "def f(x: float, n: int) -> float:\n    for i in range(n):  # so: it goes\n        x = x * x\n    return x\n",
        (2, 5, 23), "loop-carried",
        "`x` (8*n bytes): it depends on what the loop carries from one iteration to the next",
    ),
    (
        "def f(x: float, n: int) -> float:\n    for i in range(n):\n        x = x * (x + 1.0)\n    return x\n",
        (2, 5, 23), "loop-carried",
        "`x` (8*n bytes): it depends on what the loop carries from one iteration to the next",
    ),
    (
        "def f(x: Vector) -> float:\n    s = 0.0\n    for k in range(len(x)):\n        t = x[k]\n        while t > 1.0:\n"
        "            t = 0.5 * t\n        s = s + t\n    return s\n",
        (5, 9, 23), "dynamic-trip-count",
        "how often the loop runs (8*len(x) bytes): that is known only when it has ended",
    ),
    (
        "def f(x: Vector) -> float:\n    s = 0.0\n    for i in range(len(x)):\n        if s > 2.0:\n            s = s + x[i]\n"
        "        else:\n            s = s + 2.0 * x[i]\n    return s\n",
        (4, 12, 19), "branch-record",
        "whether `s > 2.0` holds (len(x) bytes): it cannot be computed again",
    ),
    (
        "def f(x: Vector, n: int) -> float:\n    y = x.copy()\n    for k in range(n):\n        y[0] = np.sum(np.sin(y)) * 0.5\n    return y[0]\n",
        (4, 16, 33), "array-temporary",
        "an array of `np.sum(np.sin(y))` (8*n*len(x) bytes): it comes from an array that is made on the way and cannot be made again",
    ),
    (
        "def f(x: Vector) -> float:\n    y = x.copy()\n    for i in range(1, len(x)):\n        y[0] = math.sqrt(y[0] + 1.0)\n    return y[0]\n",
        (4, 16, 37), "overwritten",
        "`math.sqrt(y[0] + 1.0)` (8*(len(x) - 1) bytes): the array that it is read from may hold another by then",
    ),
    (
        "def f(x: float, n: int) -> float:\n    if n <= 0:\n        return x\n    return f(x, n - 1) * x\n",
        (4, 12, 23), "call-result",
        "`f(x, n - 1)` (8*calls bytes): it comes from a call, which is not made again",
    ),
]  # fmt: skip


def kept(analysis: Analysis) -> list[tuple[tuple[int, int, int], str, str]]:
    return [((d.span.line - FIRST, d.span.column, d.span.end_column), d.rule, d.message) for d in analysis.notes]


@pytest.mark.parametrize(("text", "place", "kind", "message"), CASES, ids=[f"{k}-{c[2]}" for k, c in enumerate(CASES)])
def test_what_is_kept(text: str, place: tuple[int, int, int], kind: str, message: str) -> None:
    analysis = analyse(f"{HEADER}@autodiff\n{text}")
    assert analysis.diagnostics == ()
    assert kept(analysis) == [(place, f"alloc/{kind}", f"the reverse pass keeps {message}")]
    assert [d.severity for d in analysis.notes] == ["information"]


def test_every_kind_has_a_case_and_a_rule() -> None:
    assert {case[2] for case in CASES} == set(KINDS)
    assert [name for name, rule in RULES.items() if not rule.by_default] == sorted(KEPT, key=list(RULES).index)


@pytest.mark.parametrize("rule", [RULES[name] for name in KEPT if RULES[name].before], ids=lambda rule: rule.name)
def test_the_examples_of_the_rules(rule: Rule) -> None:
    assert [d.rule for d in analyse(rule.before).notes] == [rule.name]
    assert analyse(rule.after).notes == analyse(rule.after).diagnostics == ()


SLOTS = [
    *(case[0] for case in CASES),
    *(RULES[name].before.partition("@autodiff\n")[2] for name in KEPT if RULES[name].before),
]


@pytest.mark.parametrize("text", SLOTS)
def test_all_doors_say_the_bytes_of_the_plan(text: str) -> None:
    """What `alloc` warns of and forbids, what is asked for and what the hover lists are the same slots."""
    for option, rule in (("warn", "alloc/kept"), ("forbid", "alloc/forbidden")):
        analysis = analyse(f'{HEADER}@autodiff(alloc="{option}")\n{text}')
        assert [(d.rule, d.span) for d in analysis.diagnostics] == [(rule, d.span) for d in analysis.notes]
        (entry,) = analysis.entries
        slots = [slot for slot in analysis.kept[entry.name] if slot.place in HEAP]
        assert slots
        said = function_facts(entry, analysis.kept[entry.name]).text
        for slot in slots:
            assert any(f"{slot.bytes} bytes" in d.message for d in analysis.diagnostics)
            assert any(f"({slot.bytes} bytes)" in d.message for d in analysis.notes)
            assert f"{slot.bytes} bytes in {slot.place} ({slot.kind})" in said


def test_a_helper_that_stays_a_call_is_part_of_its_caller() -> None:
    helper = "def h(x: float, n: int) -> float:\n    if n <= 0:\n        return x\n    return h(x, n - 1) * x\n\n\n"
    analysis = analyse(f'{HEADER}{helper}@autodiff(alloc="forbid")\ndef f(x: float) -> float:\n    return h(x, 9)\n')
    assert [d.rule for d in analysis.diagnostics] == ["alloc/forbidden"]
    unused = analyse(
        f'{HEADER}{helper}@autodiff(alloc="forbid")\ndef f(x: float, n: int) -> float:\n    return x * (2.0 if h(2.0, n) > 1.0 else 3.0)\n'
    )
    assert unused.diagnostics == ()


def test_a_helper_in_another_file_says_for_whom(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text(
        "def h(x: float, n: int) -> float:\n    for i in range(n):\n        x = x * x\n    return x\n"
    )
    text = f"from helper import h\n{HEADER}@autodiff\ndef f(x: float, n: int) -> float:\n    return h(x, n)\n"
    (note,) = analyse(text, folder=tmp_path).notes
    assert (note.span.file, note.span.line) == (str(tmp_path / "helper.py"), 2)
    assert [place.message for place in note.related] == ["in the reverse pass of `f`"]


def test_they_are_given_to_those_who_ask(tmp_path: Path) -> None:
    text = f"{HEADER}@autodiff\n{CASES[0][0]}"
    assert Checker(driver.analyse, {}, {}).check(str(tmp_path / "m.py"), text) == ()
    (note,) = Checker(driver.analyse, {}, {}, notes=True).check(str(tmp_path / "m.py"), text)
    assert note.rule == "alloc/overwritten"
