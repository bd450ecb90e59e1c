"""Scalar ops that NumPy composes of others, where the composition is right but its derivatives are not: at ties, at infinity, near zero.

The rules are those of `real`: partials in builder terms, singular points with the value that each partial has there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from adcore.ir.build import Builder
from adcore.ir.core import Value
from adcore.ir.opdef import Cost, Partial, Singular
from adcore.ops.real import PAIRS
from adcore.ops.rows import ieee, scalar

Ops = Sequence[Value]
inf = math.inf
LN2, LOG2E = math.log(2.0), 1.4426950408889634

# --- logarithms of sums ---------------------------------------------------------------------------------------


def _log_of_sum(exp: Callable[[float], float], scale: float, at_tie: float) -> Callable[[float, float], float]:
    """NumPy's algorithm: the larger, plus what the smaller adds."""

    def value(x: float, y: float) -> float:
        if x == y:
            return x + at_tie
        if math.isnan(x) or math.isnan(y):
            return math.nan
        return max(x, y) + math.log1p(exp(-abs(x - y))) * scale

    return value


def _log_of_sum_lower(exp: str, scale: float, at_tie: float) -> Callable[[Builder, Value, Value], Value]:
    def lower(b: Builder, x: Value, y: Value) -> Value:
        more = b.log1p(b.emit(exp, [b.fneg(b.fabs(b.fsub(x, y)))]))
        if scale != 1.0:
            more = b.fmul(more, b.f64(scale))
        return b.select(b.feq(x, y), b.fadd(x, b.f64(at_tie)), b.fadd(b.fmax(x, y), more))

    return lower


def _share(k: int, exp: str) -> Partial:
    """The share of operand k: 1 / (1 + e**(other - own)), by an exponential that never overflows, so that it can be differentiated
    anywhere. Of infinite sums: all to the infinite operand, half of it at a tie, none where both are minus infinity."""

    def partial(b: Builder, a: Ops, r: Value) -> Value:
        own, other = a[k], a[1 - k]
        one, zero = b.f64(1.0), b.f64(0.0)
        gap = b.fsub(other, own)
        less = b.fle(gap, zero)
        small = b.emit(exp, [b.select(less, gap, b.fneg(gap))])
        share = b.fdiv(b.select(less, one, small), b.fadd(one, small))
        both = b.and_(b.feq(own, other), b.isinf(own))
        return b.select(both, b.select(b.fgt(own, zero), b.f64(0.5), zero), share)

    return partial


_ENDS = (
    Singular((-inf, -inf), (0.0, 0.0)), Singular((inf, inf), (0.5, 0.5)), Singular((-inf, 2.0), (0.0, 1.0)), Singular((inf, 2.0), (1.0, 0.0)),
    Singular((inf, -inf), (1.0, 0.0)), Singular((-1000.0, 1000.0), (0.0, 1.0)),
)  # fmt: skip
scalar(
    "logaddexp", "ff->f", "log(e**x + e**y); slopes 0 where both are minus infinity", _log_of_sum(math.exp, 1.0, LN2),
    lower=_log_of_sum_lower("exp", 1.0, LN2), accuracy="2 ulp of the larger argument", cost=Cost.COSTLY, partials=(_share(0, "exp"), _share(1, "exp")),
    points=(*PAIRS, (1.5, 1.5), (30.0, -5.0)), singular=_ENDS,
)  # fmt: skip
scalar(
    "logaddexp2", "ff->f", "log2(2**x + 2**y); slopes 0 where both are minus infinity", _log_of_sum(ieee(math.exp2), LOG2E, 1.0),
    lower=_log_of_sum_lower("exp2", LOG2E, 1.0), accuracy="2 ulp of the larger argument", cost=Cost.COSTLY, partials=(_share(0, "exp2"), _share(1, "exp2")),
    points=(*PAIRS, (1.5, 1.5), (30.0, -5.0)), singular=_ENDS,
)  # fmt: skip

# --- sinc -----------------------------------------------------------------------------------------------------

# (sin(y) / y)' is y times a power series of y**2, with these coefficients (from (-1)**k * 2k / (2k + 1)!), used up to |y| = 1
_SINC_SLOPE = tuple((-1.0) ** k * 2 * k / math.factorial(2 * k + 1) for k in range(1, 10))


def _sinc(x: float) -> float:
    y = math.pi * (1e-20 if x == 0.0 else x)
    return ieee(math.sin)(y) / y


def _sinc_lower(b: Builder, x: Value) -> Value:
    y = b.fmul(b.f64(math.pi), b.select(b.feq(x, b.f64(0.0)), b.f64(1e-20), x))
    return b.fdiv(b.sin(y), y)


def _sinc_slope(b: Builder, a: Ops, r: Value) -> Value:
    """A series near 0, where the closed form loses its digits, and its derivative all of them."""
    y = b.fmul(b.f64(math.pi), a[0])
    square = b.fmul(y, y)
    series = b.f64(_SINC_SLOPE[-1])
    for c in reversed(_SINC_SLOPE[:-1]):
        series = b.fadd(b.fmul(series, square), b.f64(c))
    near = b.fmul(b.f64(math.pi), b.fmul(series, y))
    is_near = b.fle(b.fabs(y), b.f64(1.0))
    far = b.fdiv(b.fsub(b.cos(y), r), b.select(is_near, b.f64(1.0), a[0]))
    return b.select(is_near, near, far)


scalar(
    "sinc", "f->f", "sin(pi x) / (pi x), 1 at 0", _sinc, lower=_sinc_lower, accuracy="4 ulp up to 0.5, absolute from there on", cost=Cost.COSTLY, partials=(_sinc_slope,),
    points=((-2.5,), (-1.0,), (-0.3,), (0.0,), (0.01,), (0.7,), (1.25,), (3.25,)), singular=(Singular((0.0,), (0.0,)),),
)  # fmt: skip
