"""Small functions on which AD tools or compilers once failed, with the right value: each compiles and is right, or gets a diagnostic.

The text of each case is compiled by adcore and executed by CPython; gradients are held against the right value of the table, and that against
differences of the Python function. ``refused`` names the diagnostic that a case gets for now.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from engine import HEADER, Refused, analyse, compile_module

Z3 = np.zeros(3)


@dataclass(frozen=True)
class Case:
    name: str
    text: str
    args: tuple[Any, ...]
    gradient: Any  # of the float arguments: bare where there is one
    kind: str = "exact"  # or "convention": a kink
    refused: str | None = None


CASES = [
    Case("where_sqrt", "def f(x: float) -> float:\n    return float(np.where(x < 1.0, x, np.sqrt(x)))", (0.0,), 1.0),
    Case("norm_squared_at_0", "def f(x: Vector) -> float:\n    return float(np.linalg.norm(x) ** 2)", (Z3,), Z3, refused="language/unsupported-call"),
    Case("norm_at_0", "def f(x: Vector) -> float:\n    return float(np.linalg.norm(x))", (Z3,), Z3, "convention", "language/unsupported-call"),
    Case("prod_two_zeros", "def f(x: Vector) -> float:\n    return float(np.prod(x))", (np.array([0.0, 0.0, 3.0]),), Z3),
    Case("prod_one_zero", "def f(x: Vector) -> float:\n    return float(np.prod(x))", (np.array([2.0, 0.0, 3.0]),), np.array([0.0, 6.0, 0.0])),
    Case("power_0", "def f(x: float) -> float:\n    return float(np.power(x - np.floor(x), 0))", (1.25,), 0.0),
    Case("power_0_at_integer", "def f(x: float) -> float:\n    return float(np.power(x - np.floor(x), 0))", (1.0,), 0.0, "convention"),
    Case("zero_to_the_1", "def f(x: float) -> float:\n    return x**1", (0.0,), 1.0),
    Case("zero_base", "def f(a: float) -> float:\n    return 0.0**a", (0.3,), 0.0),
    Case(
        "logsumexp_large", "def f(x: Vector) -> float:\n    m = np.max(x)\n    return float(m + np.log(np.sum(np.exp(x - m))))",
        (np.array([1000.0, 1000.0]),), np.array([0.5, 0.5]),
    ),
    Case("max_ties", "def f(x: Vector) -> float:\n    return float(np.max(x))", (np.array([0.6, 0.6, 0.3]),), np.array([0.5, 0.5, 0.0]), "convention"),
    Case("abs_at_0", "def f(x: float) -> float:\n    return abs(x)", (0.0,), 0.0, "convention"),
    Case(
        "continue_in_loop", "@autodiff(wrt=(\"u\", \"v\"))\ndef f(u: float, v: float) -> float:\n    r = 11 * u\n    for i in range(3):\n        r += u * i\n        continue\n    return r",
        (3.0, 5.0), (14.0, 0.0),
    ),
    Case(
        "while_multiplies", "def f(x: float) -> float:\n    acc = 1.0\n    i = 0\n    while i < 2:\n        acc = acc * x\n        i += 1\n    return acc",
        (0.5,), 1.0,
    ),
    Case(
        "bounds_from_parameters",
        "def f(lo: float, hi: float) -> float:\n    s = 0.0\n    h = 0.001\n    x = lo\n    while x <= hi:\n        s += x * x * h\n        x += h\n    return s",
        (1.0, 2.0005), (3.003, 0.0), "convention",
    ),
    Case(
        "branch_overwrites_alias", "def f(a: float) -> float:\n    b = a\n    if b > 0.0:\n        b = a * a\n    else:\n        b = a * a * a\n    return b",
        (-1.0,), 3.0,
    ),
    Case(
        "overwrite_after_use", "def f(x: Vector) -> float:\n    x = x.copy()\n    r = x[0] * x[1]\n    x[1] += 100.0\n    return float(r)",
        (np.array([1.0, 10.0]),), np.array([10.0, 1.0]),
    ),
    Case(
        "out_parameter_in_loop",
        "def put(b, k, v):\n    b[k] = v\n\n@autodiff(wrt=(\"i\", \"j\"))\ndef f(i: float, j: float) -> float:\n    a = np.zeros(5)\n    for k in range(5):\n        put(a, k, i)\n    return float(a.sum())",
        (3.0, 5.0), (5.0, 0.0),
    ),
    Case(
        "accumulate_in_element", "def f(x: float) -> float:\n    v = np.zeros(2)\n    for _ in range(4):\n        v[0] = v[0] + x\n    return float(v[0])",
        (2.0,), 4.0,
    ),
    Case("constant_branch", "def f(x: float) -> float:\n    if x >= 0:\n        return x\n    return 0.0", (-2.0,), 0.0),
    Case("zero_trip", "def f(x: float, n: int) -> float:\n    r = x\n    for i in range(n):\n        r = r * x\n    return r", (2.0, 0), 1.0),
    Case(
        "phi_swap",
        "def f(x: float) -> float:\n    a = 1.0\n    b = x\n    i = 1\n    while i < 4:\n        t = a\n        a = b\n        b = 2 * t\n        i += 1\n    return a + b",
        (3.0,), 2.0,
    ),
    Case(
        "phi_swap_counted", "def f(x: float) -> float:\n    a = 1.0\n    b = x\n    for _ in range(3):\n        a, b = b, 2 * a\n    return a + b", (3.0,), 2.0,
    ),
    Case(
        "halving_while", "def f(x: float) -> float:\n    k = 32 // 2\n    p = 1.0\n    while k:\n        p *= x\n        k //= 2\n    return p",
        (1.5,), 7.59375 / 1.5 * 5,
    ),
    Case("broadcast_of_one", "def f(x: Vector) -> float:\n    return float(np.sum(x * np.array([2.0])))", (np.array([2.0, 2.0]),), np.array([2.0, 2.0])),
    Case("broadcast_of_one_active", "def f(x: Vector, y: Vector) -> float:\n    return float(np.sum(x * y))", (np.array([2.0, 5.0]), np.array([3.0])), (np.array([3.0, 3.0]), np.array([7.0]))),
    Case("int_accumulator", "def f(x: Vector) -> float:\n    s = 0\n    for v in x:\n        s = s + v\n    return float(s)", (np.array([0.25, 0.5]),), np.ones(2)),
    Case("empty_sum", "def f(x: Vector) -> float:\n    return float(np.sum(np.exp(x)))", (np.zeros(0),), np.zeros(0)),
    Case("acos_near_1", "def f(x: float) -> float:\n    return math.acos(x)", (0.999,), -1 / math.sqrt(1 - 0.999**2)),
    Case("ranks_above_one", "def f(x: Matrix) -> float:\n    return float(np.sum(x))", (np.zeros((2, 2)),), np.ones((2, 2))),
    Case(
        "row_swap", "def f(a: Matrix) -> float:\n    a = a.copy()\n    a[[1, 2]] = a[[2, 1]]\n    return float(np.sum(a * np.array([[0.0], [1.0], [2.0]])))",
        (np.arange(9.0).reshape(3, 3),), np.array([[0.0] * 3, [2.0] * 3, [1.0] * 3]),
    ),
    Case(
        "inner_function_writes",
        "@autodiff(wrt=(\"i\", \"j\"))\ndef f(i: float, j: float) -> float:\n    a = np.zeros(5)\n\n    def put(b, k, v):\n        b[k] = v\n\n    for k in range(5):\n        put(a, k, i)\n    return float(a.sum())",
        (3.0, 5.0), (5.0, 0.0),
    ),
    Case(
        "view_rebound_conditionally", "def f(a: Array3[np.float64], k: int) -> float:\n    x = a[0]\n    if k:\n        x = x[1:]\n    return float(np.sum(x))",
        (np.arange(24.0).reshape(2, 3, 4), 1), np.array([[[0.0] * 4, [1.0] * 4, [1.0] * 4], [[0.0] * 4] * 3]),
    ),
    Case(
        "broadcast_power", "def f(x: Matrix, y: Vector) -> float:\n    return float(np.sum(x**y))", (np.array([[1.5], [2.5]]), np.array([1.0, 2.0, 3.0])),
        (
            np.array([[1.0 + 2 * 1.5 + 3 * 1.5**2], [1.0 + 2 * 2.5 + 3 * 2.5**2]]),
            np.array([sum(x**y * math.log(x) for x in (1.5, 2.5)) for y in (1.0, 2.0, 3.0)]),
        ),
    ),
    Case(
        "carry_reset_per_outer_iteration",
        "def f(x: float, starts: Array1[np.int64]) -> float:\n    tot = 0.0\n    for b in range(len(starts) - 1):\n        q = x\n        for k in range(starts[b], starts[b + 1]):\n            p = 1.0\n            for _ in range(2):\n                p = p * q\n            q = q + p\n        tot += q\n    return tot",
        (2.0, np.array([0, 2, 3])), 70.0,
    ),
    Case(
        "shadowed_sum", "def f(x: Matrix) -> float:\n    sum = 0\n    rows, cols = x.shape\n    for i in np.arange(rows):\n        for j in np.arange(i, cols):\n            sum = sum + x[i, j]\n    return sum",
        (np.arange(9.0).reshape(3, 3),), np.triu(np.ones((3, 3))),
    ),
]  # fmt: skip


def source(case: Case) -> str:
    text = case.text if "@autodiff" in case.text else "@autodiff\n" + case.text
    return HEADER.replace("Vector", "Array1, Array3, Matrix, Vector") + text + "\n"


def differences(f: Any, args: tuple[Any, ...], k: int) -> Any:
    x = args[k]
    gradient = np.zeros(np.shape(x))
    for index in np.ndindex(np.shape(x)):
        values = []
        for sign in (1, -1):
            moved = np.array(x, dtype=float)
            moved[index] += sign * 1e-6
            with np.errstate(all="ignore"):
                values.append(f(*args[:k], moved if np.ndim(x) else float(moved), *args[k + 1 :]))
        gradient[index] = (values[0] - values[1]) / 2e-6
    return gradient


@pytest.mark.parametrize("case", [c for c in CASES if not c.refused], ids=lambda c: c.name)
def test_case(case: Case, tmp_path: Any) -> None:
    f = compile_module(tmp_path, source(case)).f
    python = f.__wrapped__
    value, gradient = f.value_and_grad(*case.args)
    expected = python(*case.args)
    assert type(value) is float
    assert value == pytest.approx(expected, rel=4e-16, abs=1e-300)
    assert f(*case.args) == value
    wrt = [
        k
        for k, a in enumerate(case.args)
        if isinstance(a, float) or (isinstance(a, np.ndarray) and a.dtype.kind == "f")
    ]
    got = gradient if isinstance(gradient, tuple) else (gradient,)
    want = case.gradient if isinstance(case.gradient, tuple) else (case.gradient,)
    assert len(got) == len(want) == len(wrt)
    for k, g, w in zip(wrt, got, want, strict=True):
        np.testing.assert_allclose(g, w, rtol=1e-13, atol=1e-300, equal_nan=False)
        assert type(g) is (np.ndarray if np.ndim(case.args[k]) else float)
        if case.kind == "exact":
            np.testing.assert_allclose(differences(python, case.args, k), w, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("case", [c for c in CASES if c.refused], ids=lambda c: c.name)
def test_refused_case(case: Case, tmp_path: Any) -> None:
    with pytest.raises(Refused) as caught:
        compile_module(tmp_path, source(case))
    assert case.refused in {d.name for d in caught.value.diagnostics}, str(caught.value)


def test_a_parameter_without_influence_is_a_warning() -> None:
    analysis = analyse(
        HEADER
        + "@autodiff\ndef f(x: float, y: float) -> float:\n    if y > 0.0:\n        return x\n    return 2.0 * x\n"
    )
    (finding,) = analysis.diagnostics
    assert (finding.name, finding.severity, finding.span.line) == ("activity/zero-derivative", "warning", 7)
