"""Functions that call themselves, and functions inside functions: their gradients against differences and forward mode."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from engine import HEADER, compile_module

CASES = Path(__file__).parent / "frontend_cases" / "inner.py"
V = np.array([1.0, -2.0, 0.5, 0.8])
CALLS: dict[str, tuple[Any, ...]] = {
    "closes_over": (2.0,),
    "late_binding": (2.0, 3),
    "lambdas": (V,),
    "stores_in_captured": (V[:3],),
    "passed_on": (0.5, 3),
    "two_levels": (1.5,),
    "by_squaring": (1.3, 7),
    "itself": (1.3, 5),
    "mutual": (1.2, 5),
    "divided": (V,),
    "arrays": (V, 3),
    "tuples": (1.1, 4),
}


@pytest.fixture(scope="module")
def m(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    text = CASES.read_text().replace("@autodiff\n", '@autodiff(mode="both")\n')
    lines = [line for line in text.splitlines(keepends=True) if not line.startswith(("@args", "ARGS"))]
    return compile_module(tmp_path_factory.mktemp("recursion"), "".join(lines))


@pytest.mark.parametrize("name", CALLS)
def test_gradients(m: ModuleType, name: str) -> None:
    f, args = getattr(m, name), CALLS[name]
    value, gradient = f.value_and_grad(*args)
    plain = f.__wrapped__
    assert value == pytest.approx(plain(*args), rel=1e-14)
    assert f(*args) == value
    x, h = args[0], 1e-6
    direction = np.linspace(0.5, 1.5, x.size) if isinstance(x, np.ndarray) else 1.0
    want = (plain(x + h * direction, *args[1:]) - plain(x - h * direction, *args[1:])) / (2 * h)
    assert float(np.sum(gradient * direction)) == pytest.approx(want, rel=1e-7)
    _, moved = f.jvp(args, direction)
    assert moved == pytest.approx(float(np.sum(gradient * direction)), rel=1e-12)


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The members of second order: a call that stays a call has a reverse half, which has a tangent."""
    text = HEADER + (
        "def power(x: float, n: int) -> float:\n    if n <= 0:\n        return 1.0\n    return x * power(x, n - 1)\n\n"
        "def dot(x: Vector, n: int) -> float:\n    if n <= 0:\n        return 0.0\n    return x[n - 1] * x[n - 1] * x[0] + dot(x, n - 1)\n\n"
        "@autodiff(order=2)\ndef f(x: float, n: int) -> float:\n    return power(x, n)\n\n"
        "@autodiff(order=2)\ndef g(x: Vector) -> float:\n    return dot(x, x.shape[0]) * power(x[0], 3)\n"
    )
    return compile_module(tmp_path_factory.mktemp("second"), text)


def test_second_order_through_recursion(second: ModuleType) -> None:
    assert second.f.hessian(1.5, 4) == pytest.approx(12 * 1.5**2, rel=1e-14)
    hessian = second.g.hessian(V)
    np.testing.assert_allclose(hessian, hessian.T, rtol=1e-13)
    for k, unit in enumerate(np.eye(4)):
        difference = (second.g.grad(V + 1e-6 * unit) - second.g.grad(V - 1e-6 * unit)) / 2e-6
        np.testing.assert_allclose(hessian[k], difference, rtol=1e-7, atol=1e-8)


def test_an_array_that_is_given_twice(tmp_path: Path) -> None:
    """The shadows of the two parameters are one."""
    text = (
        "def h(u: Vector, v: Vector, n: int) -> float:\n    if n == 0:\n        return np.sum(u[1:] * v[:-1])\n"
        "    return h(u, v, n - 1) * 0.5\n\n@autodiff(mode='both')\ndef f(x: Vector) -> float:\n    return h(x, x, 2)\n"
    )
    f = compile_module(tmp_path, HEADER + text).f
    x = np.linspace(1.0, 2.0, 41)
    want = np.zeros(41)
    want[1:] += x[:-1]
    want[:-1] += x[1:]
    np.testing.assert_allclose(f.grad(x), want / 4, rtol=1e-15)
    assert f.jvp((x,), np.ones(41))[1] == pytest.approx(np.sum(want) / 4, rel=1e-14)
