"""The front end against CPython: every function of `frontend_cases`, lowered and interpreted, gives what Python gives.

Value, class of error and result structure are compared for each argument tuple of the case's `ARGS`.
"""

from __future__ import annotations

import functools
import math
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adcore.diagnostics import Report
from adcore.frontend import LoweredModule, Project, lower_module
from adcore.ir import interp
from adcore.ir.parser import parse_module
from adcore.ir.printer import print_module
from adcore.ir.signature import Leaf, Result, TupleResult
from adcore.ir.verify import verify
from adcore.source import SourceText

CASES = Path(__file__).parent / "frontend_cases"
MODULES = (
    "scalars", "control", "vectors", "matrices", "inner", "helpers", "unions", "gathered", "rearranged", "rebound",
    "orders", "labelled", "combined", "reduced", "ufuncs", "places", "products",
)  # fmt: skip
PLAIN = "def autodiff(f=None, **options):\n    return f if f is not None else (lambda g: g)\n"


@functools.cache
def lowered(name: str) -> tuple[LoweredModule, Report]:
    path = CASES / f"{name}.py"
    report = Report()
    project = Project([CASES.parent])
    result = lower_module(project, SourceText(str(path), path.read_text()), f"frontend_cases.{name}", report)
    return result, report


@functools.cache
def python_module(name: str) -> types.ModuleType:
    """The case executed by CPython with a decorator that does nothing."""
    for other in ("reexport", "library"):
        qualified = f"frontend_cases.{other}"
        if qualified not in sys.modules:
            sys.modules.setdefault("frontend_cases", types.ModuleType("frontend_cases")).__path__ = [str(CASES)]  # type: ignore[attr-defined]
    module = types.ModuleType(f"frontend_cases.{name}")
    module.__package__ = "frontend_cases"
    text = (CASES / f"{name}.py").read_text().replace("from adcore import autodiff\n", PLAIN)
    exec(compile(text, str(CASES / f"{name}.py"), "exec"), module.__dict__)
    return module


def table() -> list[tuple[str, str, tuple[Any, ...]]]:
    return [(m, f, args) for m in MODULES for f, sets in python_module(m).ARGS.items() for args in sets]


def arguments(args: tuple[Any, ...]) -> list[Any]:
    return [np.array(a, dtype=np.float64) if isinstance(a, list) else a for a in args]


def with_contents(value: Any, mine: list[Any]) -> tuple[Any, ...]:
    """What a call gives, and what the arrays hold after it."""
    return value, *(a for a in mine if isinstance(a, np.ndarray))


def expected(function: Any, args: tuple[Any, ...]) -> Any:
    with np.errstate(all="ignore"):
        try:
            mine = arguments(args)
            return with_contents(function(*mine), mine)
        except Exception as error:
            return type(error).__name__


def rebuilt(result: Result, leaves: list[Any]) -> Any:
    if result is None:
        return None
    if isinstance(result, Leaf):
        return leaves.pop(0)
    assert isinstance(result, TupleResult)
    return tuple(rebuilt(item, leaves) for item in result.items)


def outcome(module: str, function: str, args: tuple[Any, ...]) -> Any:
    made, _ = lowered(module)
    entry = next(e for e in made.entries if e.qualname == function)
    with np.errstate(all="ignore"):
        try:
            mine = arguments(args)
            return with_contents(rebuilt(entry.result, interp.run(made.module, entry.kernels["primal"], mine)), mine)
        except interp.Raised as raised:
            return raised.kind


def same(got: Any, want: Any) -> bool:
    if isinstance(want, str | None) or isinstance(got, str | None):
        return got == want
    if isinstance(want, tuple):
        return (
            isinstance(got, tuple) and len(got) == len(want) and all(same(g, w) for g, w in zip(got, want, strict=True))
        )
    if isinstance(want, np.ndarray) and want.ndim:
        return (
            isinstance(got, np.ndarray)
            and got.shape == want.shape
            and bool(np.allclose(got, want, rtol=1e-13, atol=0, equal_nan=True))
        )
    if isinstance(got, bool | np.bool_):
        return bool(got) == bool(want)
    if isinstance(got, int) and isinstance(want, int | np.integer):
        return int(got) == int(want)
    got, want = float(got), float(want)
    if math.isnan(want):
        return math.isnan(got)
    return got == want or math.isclose(got, want, rel_tol=4e-14)


@pytest.mark.parametrize("module", MODULES)
def test_cases_are_accepted(module: str) -> None:
    made, report = lowered(module)
    assert [f"{d.span}: {d.message}" for d in report if d.severity == "error"] == []
    assert {e.qualname for e in made.entries} == set(python_module(module).ARGS)


@pytest.mark.parametrize("module", MODULES)
def test_ir_is_valid_and_prints_and_parses_the_same(module: str) -> None:
    made, _ = lowered(module)
    verify(made.module)
    text = print_module(made.module, spans=True)
    assert print_module(parse_module(text), spans=True) == text


@pytest.mark.parametrize(("module", "function", "args"), table(), ids=lambda v: str(v)[:40])
def test_same_as_cpython(module: str, function: str, args: tuple[Any, ...]) -> None:
    refused = getattr(python_module(module), "REFUSED", {})
    want = refused.get((function, args)) if not any(isinstance(a, list) for a in args) else None
    want = want or expected(getattr(python_module(module), function), args)
    got = outcome(module, function, args)
    assert same(got, want), f"{function}{args}: Python gives {want!r}, the IR {got!r}"


@pytest.mark.parametrize("module", MODULES)
def test_every_op_has_a_span(module: str) -> None:
    made, _ = lowered(module)
    for function in made.module.functions.values():
        assert function.span is not None
        missing = [op.name for op in function.body.walk() if op.span is None]
        assert missing == []
