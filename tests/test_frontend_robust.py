"""No text makes the front end raise: truncations, odd tokens, broken files; and what is whole in a broken file is still lowered."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from adcore.diagnostics import Report
from adcore.frontend import LoweredModule, Project, lower_module
from adcore.ir.verify import verify
from adcore.source import SourceText

SAMPLE = '''"""Text with everything."""
from __future__ import annotations
import math
import numpy as np
from adcore import autodiff
from adcore.typing import Vector

K = (1.5, 2)
W = np.array([1.0, 2.0])

def helper(v, n=2, *, flag=False):
    if flag:
        return v ** n
    for k in range(n):
        v = v * 0.5
        if v < 0.1:
            break
    else:
        v = -v
    return v

@autodiff(mode="reverse", wrt=("x", "w"))
def f(x: Vector, w: float, n: int = 3) -> tuple[float, Vector]:
    """Doc."""
    total, y = 0, np.zeros(len(x))
    i = 0
    while i < n and w < 1e6:
        w *= 1.5
        i += 1
    for i, v in enumerate(x):
        if v > 0.0 or i == 1:
            total = total + helper(v, flag=True) / (w + K[0])
        elif np.isnan(v):
            raise ValueError("nan")
        else:
            y[i] += math.exp(-v)
            continue
        y[i:] = x[i:] * 2.0
    assert total == total, "whole"
    return total + W[0], np.where(y > 1.0, y, np.sqrt(x))

g = autodiff(helper)
'''


def lower(text: str, name: str = "sample.py") -> tuple[LoweredModule, Report]:
    report = Report()
    return lower_module(Project([Path("/nowhere")]), SourceText(name, text), "sample", report), report


def test_the_sample_is_lowered() -> None:
    made, report = lower(SAMPLE)
    assert [e.qualname for e in made.entries] == ["f"]
    assert {d.rule for d in report} == {"language/missing-annotation"}  # of g's target
    verify(made.module)


def test_truncations_never_raise() -> None:
    for end in range(len(SAMPLE)):
        made, report = lower(SAMPLE[:end])
        assert not [d.message for d in report if d.rule == "compiler/internal"], end
        verify(made.module)


def test_deletions_and_swaps_of_tokens_never_raise() -> None:
    rng = random.Random(7)
    words = SAMPLE.split(" ")
    extra = [
        "lambda",
        "x",
        "None",
        "[",
        ")",
        "*",
        "**",
        "'s'",
        "yield",
        "global x",
        "x[0]",
        "-1",
        "1e999",
        "10**9",
        "len",
        "np",
        "math.pi",
        ":",
        "\\n",
        "é",
        "\\x00",
        "return",
        "break",
    ]
    for _ in range(1500):
        mutated = list(words)
        for _ in range(rng.randint(1, 3)):
            k = rng.randrange(len(mutated))
            action = rng.random()
            if action < 0.4:
                mutated[k] = rng.choice(words)
            elif action < 0.6:
                del mutated[k]
            else:
                mutated[k] = rng.choice(extra)
        text = " ".join(mutated)
        made, report = lower(text)
        assert not [d.message for d in report if d.rule == "compiler/internal"], text
        verify(made.module)


@pytest.mark.parametrize(
    "text",
    ["", "\x00", "(" * 3000, "autodiff" + "." * 500, "\ufeffimport adcore", "def f(:\n", "'''", "@autodiff\n", "from adcore import *\n@autodiff\ndef f(): pass",
     "from adcore import autodiff\n@autodiff\ndef f(x: float) -> float:\n    return " + "-" * 2000 + "x\n",
     "from adcore import autodiff\n@autodiff\ndef f(x: float) -> float:\n    return " + "+".join(["x"] * 3000) + "\n",
     "from adcore import autodiff\nA = B\nB = A\n@autodiff\ndef f(x: float) -> float:\n    return x * A\n",
     "from adcore import autodiff\nfrom sample import f as g\n@autodiff\ndef f(x: float) -> float:\n    return g(x)\n",
     "from adcore import autodiff\nA = 9**9**9**9\n@autodiff\ndef f(x: float) -> float:\n    return x * A\n"],
)  # fmt: skip
def test_odd_texts_never_raise(text: str) -> None:
    _, report = lower(text)
    assert not [d.message for d in report if d.rule == "compiler/internal"]


BROKEN = """from adcore import autodiff

@autodiff
def first(x: float) -> float:
    return x * x

@autodiff
def second(x: float) -> float:
    return x *

@autodiff
def third(x: float) -> float:
    return x + K

K = 2.0
"""


def test_a_syntax_error_leaves_the_other_functions() -> None:
    made, report = lower(BROKEN)
    assert [e.qualname for e in made.entries] == ["first", "third"]
    assert [(d.rule, d.span.line) for d in report] == [("syntax/invalid", 9)]


def test_one_bad_function_does_not_hide_the_others() -> None:
    text = BROKEN.replace("return x *\n", "print(x)\n    y = undefined\n    return len({x}) * y\n")
    made, report = lower(text)
    assert [e.qualname for e in made.entries] == ["first", "third"]
    assert [(d.rule, d.span.line, d.span.column) for d in report] == [
        ("language/unsupported-call", 9, 5),
        ("language/unknown-name", 10, 9),
        ("language/unsupported-expression", 11, 16),
    ]


def test_overlays_win_over_the_disk(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("def double(v):\n    return v * 2\n")
    main = "from adcore import autodiff\nfrom other import double\n\n@autodiff\ndef f(x: float) -> float:\n    return double(x)\n"
    source = SourceText(str(tmp_path / "main.py"), main)
    report = Report()
    assert lower_module(Project([tmp_path]), source, "main", report).entries
    overlay = {str(tmp_path / "other.py"): "def double(v):\n    return open(v)\n"}
    broken = lower_module(Project([tmp_path], overlay), source, "main", report)
    assert broken.entries == []
    assert [(Path(d.span.file).name, d.span.line) for d in report] == [("other.py", 2)]


def test_undecodable_and_missing_files_are_modules_that_are_not_there(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_bytes(b"# coding: utf-8\nx = '\xff'\n")
    project = Project([tmp_path])
    assert project.find("bad") is None
    assert project.find("missing.deep.name") is None
    assert project.find("..") is None


def test_dependencies_name_what_was_compiled_in(tmp_path: Path) -> None:
    (tmp_path / "lib.py").write_text("from deeper import C\ndef h(v, k=C):\n    return v * k\n")
    (tmp_path / "deeper.py").write_text("BASE = 2.0\nC = BASE + 1\n")
    text = "from adcore import autodiff\nimport lib\n\n@autodiff\ndef f(x: float) -> float:\n    return lib.h(x)\n"
    made = lower_module(Project([tmp_path]), SourceText(str(tmp_path / "main.py"), text), "main", Report())
    names = [(d.module, d.name) for d in made.entries[0].dependencies]
    assert names[0] == ("main", "f")
    assert set(names) == {
        ("main", "f"),
        ("main", "lib"),
        ("lib", "h"),
        ("lib", "C"),
        ("deeper", "C"),
        ("deeper", "BASE"),
    }
