"""Tests generated from the op table: every row's meaning, expansion, derivative rules and singular points.

Meaning is held against NumPy, SciPy-free closed forms or Python's integers; derivatives against high-order differences of the row's own
meaning, and reverse against forward rules. A row that lacks a fact fails here.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

import adcore.ops
from adcore.ad.rules import apply_jvp, apply_vjp
from adcore.ir.build import Builder
from adcore.ir.core import Function, Module, Op, Region, Value
from adcore.ir.interp import run
from adcore.ir.opdef import REGISTRY, ZERO, Effect, OpDef
from adcore.ir.types import BOOL, F64, I64, Scalar
from adcore.ir.verify import verify
from adcore.passes import LOWERING
from adcore.passes import run as run_passes

SCALAR_ROWS = [row for row in REGISTRY.values() if row.is_scalar]
CASES = [
    pytest.param(row, attrs, point, id=f"{row.name}-{attrs or ''}-{point}")
    for row in SCALAR_ROWS
    for attrs in row.attrs
    for point in row.points
]
SINGULAR = [pytest.param(row, s, id=f"{row.name}-{s.operands}") for row in SCALAR_ROWS for s in row.singular]
# No derivative rule by intent: comparisons and integers have none, trigamma says so in its row.
WITHOUT_RULE = {"trigamma"}


def scalar_type(x: object) -> Scalar:
    return BOOL if isinstance(x, bool) else I64 if isinstance(x, int) else F64


def one_op(row: OpDef, attrs: dict, point: tuple) -> Module:
    params = [Value(scalar_type(x), f"x{k}") for k, x in enumerate(point)]
    b = Builder(Region(params))
    result = b.emit(row.name, params, **attrs)
    b.op("return", [result], results=[])
    return Module({"f": Function("f", b.region, (result.type,))})


def derivative(row: OpDef, attrs: dict, point: tuple, mode: str) -> list[float]:
    """The row's partials at a point, through vjp or jvp, by the interpreter."""
    params = [Value(scalar_type(x), f"x{k}") for k, x in enumerate(point)]
    b = Builder(Region(params))
    op = b.op(row.name, params, attrs)
    real = [p.type == F64 for p in params]
    if mode == "vjp":
        parts = apply_vjp(b, row, params, op.result, b.f64(1.0), real)
    else:
        parts = [
            apply_jvp(b, row, params, op.result, [b.f64(1.0) if j == k else None for j in range(len(params))])
            if real[k]
            else None
            for k in range(len(params))
        ]
    outs = [p if p is not None else b.f64(0.0) for p in parts]
    b.op("return", outs, results=[])
    module = Module({"f": Function("f", b.region, tuple(v.type for v in outs))})
    verify(module)
    return run(module, "f", point)


def differences(row: OpDef, attrs: dict, point: tuple, k: int) -> float:
    """Sixth-order central difference with the best of several steps (smallest change from step to step)."""

    def f(x: float) -> float:
        args = [x if j == k else v for j, v in enumerate(point)]
        with np.errstate(all="ignore"):
            return float(row.evaluate(attrs, *args))

    estimates = []
    for h in (1e-2, 4e-3, 1e-3, 2e-4):
        h = h * max(1.0, abs(point[k]) * 0.3)
        x = point[k]
        estimates.append(
            (45 * (f(x + h) - f(x - h)) - 9 * (f(x + 2 * h) - f(x - 2 * h)) + (f(x + 3 * h) - f(x - 3 * h))) / (60 * h)
        )
    spread = [abs(a - b) for a, b in pairwise(estimates)]
    finite = [i for i, s in enumerate(spread) if math.isfinite(s)]
    assert finite, "no finite difference at a test point"
    return estimates[min(finite, key=lambda i: spread[i]) + 1]


def same(a: object, b: object) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))
    return a == b and type(a) is type(b)


@pytest.mark.parametrize("row", REGISTRY.values(), ids=lambda r: r.name)
def test_row_is_complete(row: OpDef) -> None:
    assert row.doc
    if not row.is_scalar:
        return
    assert row.effect is Effect.PURE
    assert row.lower is not None, "no lowering"
    assert row.points, "no test points"
    result = row.infer([scalar_type(x) for x in row.points[0]], row.attrs[0])[0]
    takes_reals = any(scalar_type(x) == F64 for x in row.points[0])
    if result == F64 and takes_reals and row.name not in WITHOUT_RULE:
        assert row.has_derivative, "no derivative rule"
        if row.vjp is None:
            assert len(row.partials) == len(row.points[0])
    if result != F64:
        assert not row.has_derivative


@pytest.mark.parametrize(("row", "attrs", "point"), CASES)
def test_expansion_means_the_same(row: OpDef, attrs: dict, point: tuple) -> None:
    module = one_op(row, attrs, point)
    verify(module)
    (plain,) = run(module, "f", point)
    (lowered,) = run(run_passes(module, passes=LOWERING, check=True), "f", point)
    if row.name in ("digamma", "trigamma"):
        assert lowered == pytest.approx(plain, rel=1e-13, abs=1e-14, nan_ok=False)
    else:
        assert same(plain, lowered), (plain, lowered)


NUMPY = {
    "fadd": np.add, "fsub": np.subtract, "fmul": np.multiply, "fdiv": np.divide, "fneg": np.negative, "fabs": np.abs, "sqrt": np.sqrt,
    "cbrt": np.cbrt, "hypot": np.hypot, "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2, "log10": np.log10,
    "log1p": np.log1p, "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "floor": np.floor,
    "ceil": np.ceil, "trunc": np.trunc, "rint": np.rint, "sign": np.sign, "copysign": np.copysign, "fmax": np.maximum, "fmin": np.minimum,
    "pow": np.power, "fmod": np.fmod, "mod": np.mod, "floordiv": np.floor_divide, "isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite,
    "flt": np.less, "fle": np.less_equal, "fgt": np.greater, "fge": np.greater_equal, "feq": np.equal, "fne": np.not_equal,
    "iadd": np.add, "isub": np.subtract, "imul": np.multiply, "imin": np.minimum, "imax": np.maximum, "iand": np.bitwise_and, "ior": np.bitwise_or,
    "ixor": np.bitwise_xor, "ilt": np.less, "ile": np.less_equal, "igt": np.greater, "ige": np.greater_equal, "ieq": np.equal, "ine": np.not_equal,
    "logaddexp": np.logaddexp, "logaddexp2": np.logaddexp2, "sinc": np.sinc,
    "and_": np.logical_and, "or_": np.logical_or, "xor": np.logical_xor, "not_": np.logical_not, "itof": np.float64, "btoi": np.int64,
}  # fmt: skip


@pytest.mark.parametrize(("row", "attrs", "point"), [c for c in CASES if c.values[0].name in NUMPY])
def test_meaning_is_numpys(row: OpDef, attrs: dict, point: tuple) -> None:
    with np.errstate(all="ignore"):
        want = NUMPY[row.name](*(np.asarray(x)[()] for x in point))
    (got,) = run(one_op(row, attrs, point), "f", point)
    if isinstance(got, float):
        assert (math.isnan(got) and np.isnan(want)) or abs(got - want) <= 2 * np.spacing(abs(want)), (got, want)
    else:
        assert got == want


def test_integer_division_is_pythons() -> None:
    for x in (-9, -8, -1, 0, 1, 7, 2**63 - 1, -(2**63)):
        for y in (-4, -3, 1, 2, 3, 7):
            module = one_op(REGISTRY["ifloordiv"], {}, (x, y))
            assert run(module, "f", (x, y)) == [x // y]
            assert run(one_op(REGISTRY["imod"], {}, (x, y)), "f", (x, y)) == [x % y]


# Reference values: DLMF 5.4 and 5.15 closed forms.
EULER = 0.5772156649015328606
PSI = [
    (1.0, -EULER),
    (0.5, -EULER - 2 * math.log(2)),
    (2.0, 1 - EULER),
    (-0.5, 2 - EULER - 2 * math.log(2)),
    (10.0, 2.2517525890667211077),
]
PSI1 = [
    (1.0, math.pi**2 / 6),
    (0.5, math.pi**2 / 2),
    (2.0, math.pi**2 / 6 - 1),
    (-0.5, math.pi**2 / 2 + 4),
    (10.0, 0.10516633568168574612),
]


@pytest.mark.parametrize(("name", "x", "want"), [("digamma", *p) for p in PSI] + [("trigamma", *p) for p in PSI1])
def test_polygamma_closed_forms(name: str, x: float, want: float) -> None:
    module = run_passes(one_op(REGISTRY[name], {}, (x,)), passes=LOWERING)
    assert run(module, "f", (x,))[0] == pytest.approx(want, rel=1e-14, abs=1e-15)


DERIVATIVES = [c for c in CASES if c.values[0].has_derivative]


@pytest.mark.parametrize(("row", "attrs", "point"), DERIVATIVES)
def test_derivative_rules(row: OpDef, attrs: dict, point: tuple) -> None:
    reverse = derivative(row, attrs, point, "vjp")
    forward = derivative(row, attrs, point, "jvp")
    for k, x in enumerate(point):
        if not isinstance(x, float):
            continue
        assert reverse[k] == pytest.approx(forward[k], rel=1e-14, abs=1e-300)
        if k < len(row.partials) and row.partials[k] is ZERO:
            assert reverse[k] == 0.0
            continue
        want = differences(row, attrs, point, k)
        assert reverse[k] == pytest.approx(want, rel=2e-7, abs=2e-8), (row.name, k)


@pytest.mark.parametrize(("row", "singular"), SINGULAR)
def test_singular_points(row: OpDef, singular: object) -> None:
    got = derivative(row, row.attrs[0], singular.operands, "vjp")
    for value, want in zip(got, singular.partials, strict=True):
        if want is None:
            continue
        assert (math.isnan(want) and math.isnan(value)) or value == want, (row.name, got)


def test_zero_cotangent_meets_infinite_partial() -> None:
    """The zero rule: 0 * inf never reaches a gradient, for every row at every singular point."""
    for row in SCALAR_ROWS:
        for s in row.singular:
            params = [Value(scalar_type(x)) for x in s.operands]
            b = Builder(Region(params))
            op = b.op(row.name, params, row.attrs[0])
            parts = apply_vjp(b, row, params, op.result, b.f64(0.0), [p.type == F64 for p in params])
            outs = [p for p in parts if p is not None]
            b.op("return", outs, results=[])
            module = Module({"f": Function("f", b.region, tuple(v.type for v in outs))})
            assert all(v == 0.0 for v in run(module, "f", s.operands)), row.name


def test_second_derivative_of_zmul_keeps_the_tangent_of_a_zero_cotangent() -> None:
    """d/dt of zmul(ct(t), d) at ct = 0 is dct * d."""
    ct, d, dct = Value(F64), Value(F64), Value(F64)
    b = Builder(Region([ct, d, dct]))
    op = b.op("zmul", [ct, d])
    t = apply_jvp(b, REGISTRY["zmul"], [ct, d], op.result, [dct, None])
    b.op("return", [t], results=[])
    module = Module({"f": Function("f", b.region, (F64,))})
    assert run(module, "f", (0.0, 3.0, 2.0)) == [6.0]


def test_a_row_is_registered_once() -> None:
    with pytest.raises(ValueError, match="two rows"):
        adcore.ops.rows.scalar("fadd", "ff->f", "again", lambda x, y: x + y)


def test_every_op_in_the_ir_has_a_row() -> None:
    assert Op("nonsense").name not in REGISTRY
