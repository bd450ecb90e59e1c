"""Values of changing type: gradients by both modes against differences, and that the type costs nothing where it is decided."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from engine import HEADER, analyse, compile_module
from test_frontend import arguments, python_module

from adcore.ir.core import Function

CASES = Path(__file__).parent / "frontend_cases" / "unions.py"
CALLS = [(name, args) for name, sets in python_module("unions").ARGS.items() for args in sets]


@pytest.fixture(scope="module")
def m(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    text = CASES.read_text().replace("@autodiff\n", '@autodiff(mode="both", order=2)\n')
    lines = [line for line in text.splitlines(keepends=True) if not line.startswith(("@args", "ARGS"))]
    return compile_module(tmp_path_factory.mktemp("unions"), "".join(lines))


def outcome(f: Any, args: list[Any]) -> Any:
    try:
        return f(*args)
    except Exception as error:
        return type(error)


@pytest.mark.parametrize(("name", "args"), CALLS, ids=[f"{n}-{k}" for k, (n, _) in enumerate(CALLS)])
def test_value_and_gradients(m: ModuleType, name: str, args: tuple[Any, ...]) -> None:
    f, plain = getattr(m, name), python_module("unions").__dict__[name]
    args_now = arguments(args)
    want = outcome(plain, args_now)
    if isinstance(want, type):
        assert outcome(f, args_now) is want
        assert outcome(f.value_and_grad, args_now) is want
        return
    value, gradient = f.value_and_grad(*args_now)
    assert isinstance(value, float)
    assert value == pytest.approx(want, rel=1e-14)
    parts = gradient if isinstance(gradient, tuple) else (gradient,)
    places = [k for k, a in enumerate(args_now) if isinstance(a, float | np.ndarray)]
    assert len(parts) == len(places)
    directions = []
    for k in places:
        x, h = args_now[k], 1e-6
        direction = np.linspace(0.5, 1.5, x.size) if isinstance(x, np.ndarray) else 1.0
        ahead, behind = list(args_now), list(args_now)
        ahead[k], behind[k] = x + h * direction, x - h * direction
        slope = (plain(*ahead) - plain(*behind)) / (2 * h)
        assert float(np.sum(parts[places.index(k)] * direction)) == pytest.approx(slope, rel=1e-7, abs=1e-9)
        directions.append(direction)
    dots = sum(float(np.sum(g * d)) for g, d in zip(parts, directions, strict=True))
    _, moved = f.jvp(tuple(args_now), tuple(directions) if len(directions) > 1 else directions[0])
    assert moved == pytest.approx(dots, rel=1e-12, abs=1e-14)


def lowered(text: str) -> Function:
    analysis = analyse(HEADER + text)
    assert [d.message for d in analysis.diagnostics] == []
    (function,) = analysis.module.functions.values()
    return function


def names(function: Function) -> list[str]:
    return [op.name for op in function.body.walk()]


def test_a_value_of_two_types_that_a_loop_settles_costs_one_iteration_apart() -> None:
    function = lowered(
        "@autodiff\ndef f(x: float, n: int) -> float:\n    k = n\n    for i in range(n):\n        k = k * x\n    return k\n"
    )
    (loop,) = [op for op in function.body.walk() if op.name == "for"]
    assert [str(r.type) for r in loop.results] == ["f64"], "the loop carries no tag and no int"
    assert "if" not in [op.name for op in loop.regions[0].walk()]


def test_a_type_that_the_loop_does_not_change_is_decided_before_it() -> None:
    function = lowered(
        "@autodiff\ndef f(x: float, n: int, w: Vector) -> float:\n    y = x if n > 2 else n\n    s = 0.0\n"
        "    for v in w:\n        s += v * y\n    return s\n"
    )
    loops = [op for op in function.body.walk() if op.name == "for"]
    assert len(loops) == 2
    assert all("if" not in [op.name for op in loop.regions[0].walk()] for loop in loops)


def test_branches_on_one_type_become_one_branch() -> None:
    function = lowered(
        "@autodiff\ndef f(x: float, n: int) -> float:\n    y = x if n > 2 else n\n    z = y * y\n    u = z + y\n    return u * x\n"
    )
    assert names(function).count("if") == 1
    (branch,) = [op for op in function.body.walk() if op.name == "if"]
    assert len(branch.results) == 1, "no tag and no part outlives the branch"


def test_what_is_no_value_of_any_type_is_said_where_it_is_used() -> None:
    text = "@autodiff\ndef f(x: float, w: Vector) -> float:\n    if x > 0:\n        y = x\n    else:\n        y = w\n    return y\n"
    (found,) = analyse(HEADER + text).diagnostics
    assert found.name == "types/return-mismatch"
    assert [r.message for r in found.related] == ["float here", "array of float64 here"]
