"""Scalar ops on real numbers: meaning, lowering, partial derivatives, singular points, test points.

Partials that are products or quotients meet the cotangent through ``zmul`` (0 where the cotangent is 0), so an infinite partial on a path that
carries no cotangent never makes a NaN. Conventions at kinks are those of the documentation's table; each has its singular point here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adcore.ir.build import Builder
from adcore.ir.core import Value
from adcore.ir.opdef import MINUS_ONE, ONE, ZERO, Cost, Singular
from adcore.ops.rows import ieee, scalar

Ops = Sequence[Value]
inf, nan = math.inf, math.nan
LN2, LN10, TWO_OVER_SQRT_PI = math.log(2.0), math.log(10.0), 2.0 / math.sqrt(math.pi)

GENERIC = ((-2.5,), (-1.0,), (-0.3,), (0.0,), (0.7,), (1.0,), (3.25,), (40.0,))
POSITIVE = ((0.03,), (0.7,), (1.0,), (3.25,), (150.0,))
UNIT = ((-0.99,), (-0.3,), (0.0,), (0.7,))
PAIRS = ((1.5, 2.0), (-0.75, 3.0), (2.0, -1.25), (-3.5, -0.5), (0.0, 1.0), (4.0, 0.25))


def _np2(function: Callable[[np.float64, np.float64], Any]) -> Callable[[float, float], float]:
    return lambda x, y: float(function(np.float64(x), np.float64(y)))


def _int_power_sign(x: float, y: float) -> float:
    """What ``pow`` gives where Python raises: a pole at zero, NaN for a negative base, or an overflow with its sign."""
    return float(np.float64(x) ** np.float64(y))


# --- arithmetic -----------------------------------------------------------------------------------------------


def _zero_const(const: Callable[[Value], Any], v: Value) -> bool:
    value = const(v)
    return isinstance(value, float) and value == 0.0


def _is_const(const: Callable[[Value], Any], v: Value, number: float) -> bool:
    value = const(v)
    return isinstance(value, float) and value == number and math.copysign(1.0, value) == math.copysign(1.0, number)


def _add_identity(b: Builder, const: Callable[[Value], Any], x: Value, y: Value) -> Value | None:
    if _is_const(const, x, -0.0):
        return y
    return x if _is_const(const, y, -0.0) else None


def _sub_identity(b: Builder, const: Callable[[Value], Any], x: Value, y: Value) -> Value | None:
    if _is_const(const, y, 0.0):
        return x
    return None


def _mul_identity(b: Builder, const: Callable[[Value], Any], x: Value, y: Value) -> Value | None:
    if _is_const(const, x, 1.0):
        return y
    if _is_const(const, y, 1.0):
        return x
    if _is_const(const, x, -1.0):
        return b.fneg(y)
    return b.fneg(x) if _is_const(const, y, -1.0) else None


def _div_identity(b: Builder, const: Callable[[Value], Any], x: Value, y: Value) -> Value | None:
    return x if _is_const(const, y, 1.0) else None


def _neg_identity(b: Builder, const: Callable[[Value], Any], x: Value) -> Value | None:
    if x.owner is not None and x.owner.name == "fneg":
        return x.owner.operands[0]
    return None


scalar(
    "fadd", "ff->f", "x + y", lambda x, y: x + y, lower="fadd", partials=(ONE, ONE),
    commutative=True, identity=_add_identity, points=PAIRS,
)  # fmt: skip
scalar(
    "fsub", "ff->f", "x - y", lambda x, y: x - y, lower="fsub", partials=(ONE, MINUS_ONE),
    identity=_sub_identity, points=PAIRS,
)  # fmt: skip
scalar(
    "fmul", "ff->f", "x * y", lambda x, y: x * y, lower="fmul",
    partials=(lambda b, a, r: a[1], lambda b, a, r: a[0]),
    commutative=True, identity=_mul_identity, points=PAIRS,
)  # fmt: skip
scalar(
    "fdiv", "ff->f", "x / y, by IEEE", _np2(lambda x, y: x / y), lower="fdiv",
    partials=(lambda b, a, r: b.fdiv(b.f64(1.0), a[1]), lambda b, a, r: b.fneg(b.fdiv(r, a[1]))),
    identity=_div_identity, points=PAIRS,
)  # fmt: skip
scalar(
    "fneg", "f->f", "-x", lambda x: -x, lower="fneg", partials=(MINUS_ONE,), identity=_neg_identity, points=GENERIC,
)  # fmt: skip
scalar(
    "fabs", "f->f", "|x|; derivative 0 at 0", abs, lower="intrinsic llvm.fabs", partials=(lambda b, a, r: b.sign(a[0]),),
    points=tuple(p for p in GENERIC if p != (0.0,)), singular=(Singular((0.0,), (0.0,)), Singular((-0.0,), (0.0,))),
)  # fmt: skip


def _zmul_identity(b: Builder, const: Callable[[Value], Any], ct: Value, d: Value) -> Value | None:
    c, k = const(ct), const(d)
    if isinstance(c, float):
        if c == 0.0:
            return ct
        return b.fmul(ct, d)  # the test on the cotangent is decided (a NaN cotangent stays NaN either way)
    if isinstance(k, float) and math.isfinite(k):
        return b.fmul(ct, d)
    return None


def _zmul_vjp(b: Builder, a: Ops, r: Value, ct: Value, wanted: Sequence[bool]) -> list[Value | None]:
    return [b.zmul(ct, a[1]) if wanted[0] else None, b.zmul(ct, a[0]) if wanted[1] else None]


def _zmul_jvp(b: Builder, a: Ops, r: Value, t: Sequence[Value | None]) -> Value | None:
    # Where ct is 0 its tangent need not be: dct * d is a term of its own.
    parts = [b.zzmul(x, y) for x, y in ((t[0], a[1]), (t[1], a[0])) if x is not None]
    if len(parts) == 2:
        return b.fadd(*parts)
    return parts[0] if parts else None


def _zzmul_identity(b: Builder, const: Callable[[Value], Any], x: Value, y: Value) -> Value | None:
    for known, other in ((const(x), y), (const(y), x)):
        if isinstance(known, float):
            return b.f64(0.0) if known == 0.0 else b.zmul(other, b.f64(known))
    return None


scalar(
    "zmul", "ff->f", "ct * d where ct is not 0, else 0: the zero rule", lambda ct, d: 0.0 if ct == 0.0 else ct * d,
    lower=lambda b, ct, d: b.select(b.feq(ct, b.f64(0.0)), b.f64(0.0), b.fmul(ct, d)),
    vjp=_zmul_vjp, jvp=_zmul_jvp, identity=_zmul_identity,
    points=((1.5, 2.0), (-0.5, 3.0), (2.0, 0.0)), singular=(Singular((0.0, 2.0), (2.0, 0.0)),),
)  # fmt: skip
scalar(
    "zzmul", "ff->f", "x * y, 0 where either is 0: a tangent times a partial", lambda x, y: x * y if x != 0.0 and y != 0.0 else 0.0,
    lower=lambda b, x, y: b.select(b.or_(b.feq(x, b.f64(0.0)), b.feq(y, b.f64(0.0))), b.f64(0.0), b.fmul(x, y)),
    vjp=_zmul_vjp, jvp=_zmul_jvp, identity=_zzmul_identity, commutative=True,
    points=((1.5, 2.0), (-0.5, 3.0)), singular=(Singular((0.0, 2.0), (2.0, 0.0)), Singular((2.0, 0.0), (0.0, 2.0))),
)  # fmt: skip


def _select_vjp(b: Builder, a: Ops, r: Value, ct: Value, wanted: Sequence[bool]) -> list[Value | None]:
    zero = b.f64(0.0)
    return [
        None,
        b.select(a[0], ct, zero) if wanted[1] else None,
        b.select(a[0], zero, ct) if wanted[2] else None,
    ]


def _select_jvp(b: Builder, a: Ops, r: Value, t: Sequence[Value | None]) -> Value | None:
    zero = b.f64(0.0)
    return b.select(a[0], t[1] if t[1] is not None else zero, t[2] if t[2] is not None else zero)


def _select_identity(b: Builder, const: Callable[[Value], Any], c: Value, x: Value, y: Value) -> Value | None:
    taken = const(c)
    if taken is not None:
        return x if taken else y
    return x if x is y else None


scalar(
    "select", "bTT->T", "x if c else y, both evaluated", lambda c, x, y: x if c else y, lower="select",
    vjp=_select_vjp, jvp=_select_jvp, identity=_select_identity,
    points=((True, 1.5, 2.0), (False, 1.5, 2.0)), singular=(Singular((True, 1.0, inf), (None, 1.0, 0.0)),),
)  # fmt: skip

# --- powers and roots -----------------------------------------------------------------------------------------


def _pow_base(b: Builder, a: Ops, r: Value) -> Value:
    # e * x**(e-1), and 0 for e = 0 even where x**-1 is infinite; a test for e = 0 would drop its slope by e, which is 1/x there
    base, e = a
    return b.zmul(e, b.pow(base, b.fsub(e, b.f64(1.0))))


def _pow_exponent(b: Builder, a: Ops, r: Value) -> Value:
    return b.zmul(r, b.log(a[0]))  # 0**e with e > 0 has slope 0


def _powi(attrs: dict[str, Any], x: float) -> float:
    n = attrs["n"]
    result = np.float64(x)
    for _ in range(abs(n) - 1):
        result = result * np.float64(x)
    result = result if n else np.float64(1.0)
    return float(result if n >= 0 else np.float64(1.0) / result)


def _powi_lower(b: Builder, x: Value, *, n: int) -> Value:
    if n == 0:
        return b.f64(1.0)
    result = x
    for _ in range(abs(n) - 1):
        result = b.fmul(result, x)
    return result if n > 0 else b.fdiv(b.f64(1.0), result)


def _powi_partial(b: Builder, a: Ops, r: Value) -> Value:
    assert r.owner is not None
    n = r.owner.attrs["n"]
    if n == 0:
        return b.f64(0.0)
    if n == 2:
        return b.fadd(a[0], a[0])
    return b.fmul(b.f64(float(n)), b.powi(a[0], n=n - 1))


def _powi_identity(b: Builder, const: Callable[[Value], Any], x: Value, *, n: int) -> Value | None:
    return x if n == 1 else b.f64(1.0) if n == 0 else None


scalar(
    "pow", "ff->f", "x ** y of C: a negative base with a fractional exponent gives NaN", _np2(lambda x, y: x**y),
    lower="call pow", cost=Cost.COSTLY, partials=(_pow_base, _pow_exponent),
    points=((1.5, 2.0), (0.75, -3.5), (2.0, 0.5), (7.0, 1.0), (3.0, 0.0)),
    singular=(
        Singular((0.0, 2.5), (0.0, 0.0)), Singular((0.0, 1.0), (1.0, 0.0)), Singular((0.0, 0.5), (inf, 0.0)),
        Singular((0.0, 0.0), (0.0, -inf)), Singular((0.0, -1.0), (-inf, -inf)), Singular((-2.0, 3.0), (12.0, nan)),
    ),
)  # fmt: skip
scalar(
    "powi", "f->f", "x ** n, n a small constant integer, by multiplication from the left", _powi, lower=_powi_lower, accuracy="as its multiplications",
    partials=(_powi_partial,), identity=_powi_identity, points=((-2.5,), (-0.3,), (0.7,), (3.25,)),
    attrs=tuple({"n": n} for n in (-4, -2, -1, 0, 1, 2, 3, 4)),
)  # fmt: skip
scalar(
    "sqrt", "f->f", "square root; slope inf at 0", ieee(math.sqrt), lower="intrinsic llvm.sqrt",
    partials=(lambda b, a, r: b.fdiv(b.f64(0.5), r),), points=POSITIVE, singular=(Singular((0.0,), (inf,)),),
)  # fmt: skip
scalar(
    "root", "f->f", "square root of a sum of squares: slope 0 at 0, where a norm has its kink", ieee(math.sqrt), lower="intrinsic llvm.sqrt",
    partials=(lambda b, a, r: b.select(b.feq(r, b.f64(0.0)), b.f64(0.0), b.fdiv(b.f64(0.5), r)),), points=POSITIVE,
    singular=(Singular((0.0,), (0.0,)),),
)  # fmt: skip
scalar(
    "cbrt", "f->f", "cube root; slope inf at 0", math.cbrt, lower="call cbrt", accuracy="4 ulp", cost=Cost.COSTLY,
    partials=(lambda b, a, r: b.fdiv(b.f64(1.0 / 3.0), b.fmul(r, r)),), points=((-2.5,), (0.7,), (3.25,)),
    singular=(Singular((0.0,), (inf,)),),
)  # fmt: skip


def _hypot_partial(k: int) -> Callable[[Builder, Ops, Value], Value]:
    def partial(b: Builder, a: Ops, r: Value) -> Value:
        return b.select(b.feq(r, b.f64(0.0)), b.f64(0.0), b.fdiv(a[k], r))

    return partial


scalar(
    "hypot", "ff->f", "sqrt(x*x + y*y) without overflow; slope 0 at the origin", math.hypot, lower="call hypot",
    cost=Cost.COSTLY, partials=(_hypot_partial(0), _hypot_partial(1)), points=PAIRS,
    singular=(Singular((0.0, 0.0), (0.0, 0.0)),),
)  # fmt: skip

# --- exponentials and logarithms ------------------------------------------------------------------------------


def _log_pole(x: float) -> float:
    return -inf if x == 0.0 else nan


def _reciprocal_of(scale: float) -> Callable[[Builder, Ops, Value], Value]:
    def partial(b: Builder, a: Ops, r: Value) -> Value:
        return b.fdiv(b.f64(1.0), a[0] if scale == 1.0 else b.fmul(a[0], b.f64(scale)))

    return partial


scalar(
    "exp", "f->f", "e ** x", ieee(math.exp), lower="call exp", cost=Cost.COSTLY, partials=(lambda b, a, r: r,), points=GENERIC,
)  # fmt: skip
scalar(
    "exp2", "f->f", "2 ** x", ieee(math.exp2), lower="call exp2", cost=Cost.COSTLY,
    partials=(lambda b, a, r: b.fmul(r, b.f64(LN2)),), points=GENERIC,
)  # fmt: skip
scalar(
    "expm1", "f->f", "e ** x - 1", ieee(math.expm1), lower="call expm1", cost=Cost.COSTLY,
    partials=(lambda b, a, r: b.exp(a[0]),), points=GENERIC,
)  # fmt: skip
scalar(
    "log", "f->f", "natural logarithm", ieee(math.log, _log_pole), lower="call log", cost=Cost.COSTLY,
    partials=(_reciprocal_of(1.0),), points=POSITIVE, singular=(Singular((0.0,), (inf,)),),
)  # fmt: skip
scalar(
    "log2", "f->f", "logarithm to base 2", ieee(math.log2, _log_pole), lower="call log2", cost=Cost.COSTLY,
    partials=(_reciprocal_of(LN2),), points=POSITIVE, singular=(Singular((0.0,), (inf,)),),
)  # fmt: skip
scalar(
    "log10", "f->f", "logarithm to base 10", ieee(math.log10, _log_pole), lower="call log10", cost=Cost.COSTLY,
    partials=(_reciprocal_of(LN10),), points=POSITIVE, singular=(Singular((0.0,), (inf,)),),
)  # fmt: skip
scalar(
    "log1p", "f->f", "log(1 + x)", ieee(math.log1p, lambda x: -inf if x == -1.0 else nan), lower="call log1p", cost=Cost.COSTLY,
    partials=(lambda b, a, r: b.fdiv(b.f64(1.0), b.fadd(b.f64(1.0), a[0])),), points=((-0.9,), (0.0,), (0.7,), (40.0,)),
    singular=(Singular((-1.0,), (inf,)),),
)  # fmt: skip

# --- trigonometric and hyperbolic -----------------------------------------------------------------------------


def _one_minus_square(b: Builder, x: Value) -> Value:
    one = b.f64(1.0)
    return b.fmul(b.fsub(one, x), b.fadd(one, x))


def _square_plus_one(b: Builder, x: Value) -> Value:
    return b.fadd(b.fmul(x, x), b.f64(1.0))


scalar(
    "sin", "f->f", "sine", ieee(math.sin), lower="call sin", cost=Cost.COSTLY, partials=(lambda b, a, r: b.cos(a[0]),), points=GENERIC,
)  # fmt: skip
scalar(
    "cos", "f->f", "cosine", ieee(math.cos), lower="call cos", cost=Cost.COSTLY,
    partials=(lambda b, a, r: b.fneg(b.sin(a[0])),), points=GENERIC,
)  # fmt: skip
scalar(
    "tan", "f->f", "tangent", ieee(math.tan), lower="call tan", cost=Cost.COSTLY,
    partials=(lambda b, a, r: _square_plus_one(b, r),), points=GENERIC,
)  # fmt: skip
scalar(
    "asin", "f->f", "arc sine", ieee(math.asin), lower="call asin", cost=Cost.COSTLY,
    partials=(lambda b, a, r: b.fdiv(b.f64(1.0), b.sqrt(_one_minus_square(b, a[0]))),), points=UNIT,
    singular=(Singular((1.0,), (inf,)), Singular((-1.0,), (inf,))),
)  # fmt: skip
scalar(
    "acos", "f->f", "arc cosine", ieee(math.acos), lower="call acos", cost=Cost.COSTLY,
    partials=(lambda b, a, r: b.fdiv(b.f64(-1.0), b.sqrt(_one_minus_square(b, a[0]))),), points=UNIT,
    singular=(Singular((1.0,), (-inf,)), Singular((-1.0,), (-inf,))),
)  # fmt: skip
scalar(
    "atan", "f->f", "arc tangent", math.atan, lower="call atan", cost=Cost.COSTLY, finite=True,
    partials=(lambda b, a, r: b.fdiv(b.f64(1.0), _square_plus_one(b, a[0])),), points=GENERIC,
)  # fmt: skip
scalar(
    "atan2", "ff->f", "angle of (x=second, y=first); slope NaN at the origin, where there is none", math.atan2,
    lower="call atan2", cost=Cost.COSTLY,
    partials=(
        lambda b, a, r: b.fdiv(b.fdiv(a[1], b.hypot(a[0], a[1])), b.hypot(a[0], a[1])),
        lambda b, a, r: b.fneg(b.fdiv(b.fdiv(a[0], b.hypot(a[0], a[1])), b.hypot(a[0], a[1]))),
    ),
    points=PAIRS, singular=(Singular((0.0, 0.0), (nan, nan)),),
)  # fmt: skip
scalar(
    "sinh", "f->f", "hyperbolic sine", ieee(math.sinh, lambda x: math.copysign(inf, x)), lower="call sinh", cost=Cost.COSTLY,
    partials=(lambda b, a, r: b.cosh(a[0]),), points=GENERIC,
)  # fmt: skip
scalar(
    "cosh", "f->f", "hyperbolic cosine", ieee(math.cosh), lower="call cosh", cost=Cost.COSTLY,
    partials=(lambda b, a, r: b.sinh(a[0]),), points=GENERIC,
)  # fmt: skip
scalar(
    "tanh", "f->f", "hyperbolic tangent", math.tanh, lower="call tanh", cost=Cost.COSTLY, finite=True,
    partials=(lambda b, a, r: _one_minus_square(b, r),), points=GENERIC[:-1],
)  # fmt: skip
scalar(
    "asinh", "f->f", "inverse hyperbolic sine", math.asinh, lower="call asinh", cost=Cost.COSTLY,
    partials=(lambda b, a, r: b.fdiv(b.f64(1.0), b.hypot(a[0], b.f64(1.0))),), points=GENERIC,
)  # fmt: skip
scalar(
    "acosh", "f->f", "inverse hyperbolic cosine", ieee(math.acosh), lower="call acosh", cost=Cost.COSTLY,
    partials=(lambda b, a, r: b.fdiv(b.f64(1.0), b.fmul(b.sqrt(b.fsub(a[0], b.f64(1.0))), b.sqrt(b.fadd(a[0], b.f64(1.0))))),),
    points=((1.5,), (3.25,), (40.0,)), singular=(Singular((1.0,), (inf,)),),
)  # fmt: skip
scalar(
    "atanh", "f->f", "inverse hyperbolic tangent", ieee(math.atanh, lambda x: math.copysign(inf, x) if abs(x) == 1.0 else nan),
    lower="call atanh", cost=Cost.COSTLY, partials=(lambda b, a, r: b.fdiv(b.f64(1.0), _one_minus_square(b, a[0])),),
    points=UNIT, singular=(Singular((1.0,), (inf,)),),
)  # fmt: skip

# --- error and gamma functions --------------------------------------------------------------------------------

_PSI = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)  # B_2k / 2k
_SHIFT = 10  # psi is asymptotic from here on: the first neglected term is 0.44 / 10**16


def _digamma_py(x: float) -> float:
    if x <= 0.0 and x == math.floor(x):
        return nan
    if x < 0.5:
        return _digamma_py(1.0 - x) - math.pi / math.tan(math.pi * math.remainder(x, 1.0))
    tail = 0.0
    for k in range(_SHIFT):
        tail += 1.0 / (x + k)
    z = x + _SHIFT
    u = 1.0 / (z * z)
    series = 0.0
    for c in reversed(_PSI):
        series = (series + c) * u
    return math.log(z) - 0.5 / z - series - tail


def _digamma_lower(b: Builder, x: Value) -> Value:
    """Reflection below 1/2, recurrence up by ten, asymptotic series (Abramowitz & Stegun 6.3.7, 6.3.5, 6.3.18)."""
    one, zero, pi = b.f64(1.0), b.f64(0.0), b.f64(math.pi)
    low = b.flt(x, b.f64(0.5))
    y = b.select(low, b.fsub(one, x), x)
    tail = zero
    for k in range(_SHIFT):
        tail = b.fadd(tail, b.fdiv(one, b.fadd(y, b.f64(float(k)))))
    z = b.fadd(y, b.f64(float(_SHIFT)))
    u = b.fdiv(one, b.fmul(z, z))
    series = zero
    for c in reversed(_PSI):
        series = b.fmul(b.fadd(series, b.f64(c)), u)
    psi = b.fsub(b.fsub(b.fsub(b.log(z), b.fdiv(b.f64(0.5), z)), series), tail)
    turn = b.fdiv(pi, b.tan(b.fmul(pi, b.fsub(x, b.rint(x)))))
    psi = b.select(low, b.fsub(psi, turn), psi)
    pole = b.and_(b.fle(x, zero), b.feq(x, b.floor(x)))
    return b.select(pole, b.f64(nan), psi)


def _trigamma_py(x: float) -> float:
    if x <= 0.0 and x == math.floor(x):
        return inf
    if x < 0.5:
        return (math.pi / math.sin(math.pi * math.remainder(x, 1.0))) ** 2 - _trigamma_py(1.0 - x)
    tail = 0.0
    for k in range(_SHIFT):
        tail += 1.0 / ((x + k) * (x + k))
    z = x + _SHIFT
    u = 1.0 / (z * z)
    series = 0.0
    for k, c in reversed(list(enumerate(_PSI))):
        series = (series + c * 2 * (k + 1)) * u
    return 1.0 / z + 0.5 * u + series / z + tail


def _trigamma_lower(b: Builder, x: Value) -> Value:
    """The derivative of ``digamma`` term by term (Abramowitz & Stegun 6.4.12, 6.4.6, 6.4.7)."""
    one, zero, pi = b.f64(1.0), b.f64(0.0), b.f64(math.pi)
    low = b.flt(x, b.f64(0.5))
    y = b.select(low, b.fsub(one, x), x)
    tail = zero
    for k in range(_SHIFT):
        term = b.fadd(y, b.f64(float(k)))
        tail = b.fadd(tail, b.fdiv(one, b.fmul(term, term)))
    z = b.fadd(y, b.f64(float(_SHIFT)))
    u = b.fdiv(one, b.fmul(z, z))
    series = zero
    for k, c in reversed(list(enumerate(_PSI))):
        series = b.fmul(b.fadd(series, b.f64(c * 2 * (k + 1))), u)
    psi = b.fadd(b.fadd(b.fadd(b.fdiv(one, z), b.fmul(b.f64(0.5), u)), b.fdiv(series, z)), tail)
    turn = b.fdiv(pi, b.sin(b.fmul(pi, b.fsub(x, b.rint(x)))))
    psi = b.select(low, b.fsub(b.fmul(turn, turn), psi), psi)
    pole = b.and_(b.fle(x, zero), b.feq(x, b.floor(x)))
    return b.select(pole, b.f64(inf), psi)


def _gauss(b: Builder, x: Value, sign: float) -> Value:
    return b.fmul(b.f64(sign * TWO_OVER_SQRT_PI), b.exp(b.fneg(b.fmul(x, x))))


GAMMA_POINTS = ((-2.5,), (-0.3,), (0.03,), (0.7,), (1.0,), (3.25,), (40.0,))
scalar(
    "erf", "f->f", "error function", math.erf, lower="call erf", cost=Cost.COSTLY, finite=True,
    partials=(lambda b, a, r: _gauss(b, a[0], 1.0),), points=GENERIC[:-1],
)  # fmt: skip
scalar(
    "erfc", "f->f", "1 - erf(x)", math.erfc, lower="call erfc", accuracy="4 ulp", cost=Cost.COSTLY, finite=True,
    partials=(lambda b, a, r: _gauss(b, a[0], -1.0),), points=GENERIC[:-1],
)  # fmt: skip
scalar(
    "gamma", "f->f", "gamma function", ieee(math.gamma, lambda x: nan if x < 0 else math.copysign(inf, x)), lower="call tgamma", accuracy="6 ulp",
    cost=Cost.COSTLY, partials=(lambda b, a, r: b.fmul(r, b.digamma(a[0])),), points=GAMMA_POINTS,
)  # fmt: skip
scalar(
    "lgamma", "f->f", "log |gamma(x)|", ieee(math.lgamma, lambda x: inf), lower="call lgamma", accuracy="2 ulp, absolute near its zeros", cost=Cost.COSTLY,
    partials=(lambda b, a, r: b.digamma(a[0]),), points=GAMMA_POINTS,
)  # fmt: skip
scalar(
    "digamma", "f->f", "derivative of lgamma: relative 1e-14, absolute near its zeros", _digamma_py, lower=_digamma_lower, accuracy="1e-14, absolute near its zeros",
    cost=Cost.COSTLY, partials=(lambda b, a, r: b.trigamma(a[0]),), points=GAMMA_POINTS,
)  # fmt: skip
scalar(
    "trigamma", "f->f", "derivative of digamma; itself without a rule: a third derivative of lgamma is refused",
    _trigamma_py, lower=_trigamma_lower, cost=Cost.COSTLY, points=GAMMA_POINTS,
)  # fmt: skip

# --- rounding, sign, extrema ----------------------------------------------------------------------------------


def _np1(function: Callable[[np.float64], Any]) -> Callable[[float], float]:
    return lambda x: float(function(np.float64(x)))


ROUNDING = ((-2.5,), (-1.75,), (-0.3,), (0.5,), (0.7,), (1.5,), (3.25,))
scalar("floor", "f->f", "round down", _np1(np.floor), lower="intrinsic llvm.floor", partials=(ZERO,), points=ROUNDING,
       singular=(Singular((2.0,), (0.0,)),))  # fmt: skip
scalar("ceil", "f->f", "round up", _np1(np.ceil), lower="intrinsic llvm.ceil", partials=(ZERO,), points=ROUNDING,
       singular=(Singular((2.0,), (0.0,)),))  # fmt: skip
scalar("trunc", "f->f", "round towards zero", _np1(np.trunc), lower="intrinsic llvm.trunc", partials=(ZERO,), points=ROUNDING,
       singular=(Singular((2.0,), (0.0,)),))  # fmt: skip
scalar("rint", "f->f", "round to nearest, ties to even", _np1(np.rint), lower="intrinsic llvm.rint", partials=(ZERO,),
       points=ROUNDING, singular=(Singular((2.0,), (0.0,)),))  # fmt: skip


def _sign_lower(b: Builder, x: Value) -> Value:
    zero = b.f64(0.0)
    rest = b.select(b.flt(x, zero), b.f64(-1.0), b.select(b.feq(x, zero), zero, x))
    return b.select(b.fgt(x, zero), b.f64(1.0), rest)


scalar("sign", "f->f", "-1, 0 or 1; NaN of NaN", _np1(np.sign), lower=_sign_lower, partials=(ZERO,), points=ROUNDING,
       singular=(Singular((0.0,), (0.0,)),))  # fmt: skip
scalar(
    "copysign", "ff->f", "|x| with the sign of y; slope 0 at x = 0", lambda x, y: math.copysign(x, y), lower="intrinsic llvm.copysign",
    partials=(lambda b, a, r: b.fmul(b.sign(a[0]), b.copysign(b.f64(1.0), a[1])), ZERO),
    points=((1.5, 2.0), (-0.75, 3.0), (2.0, -1.25), (-3.5, -0.5)), singular=(Singular((0.0, -1.0), (0.0, 0.0)),),
)  # fmt: skip


def _extremum_partial(k: int, compare: str) -> Callable[[Builder, Ops, Value], Value]:
    def partial(b: Builder, a: Ops, r: Value) -> Value:
        tied = b.select(b.feq(a[0], a[1]), b.f64(0.5), b.f64(0.0))
        return b.select(b.emit(compare, [a[k], a[1 - k]]), b.f64(1.0), tied)

    return partial


def _nan_first(pick: str) -> Callable[[Builder, Value, Value], Value]:
    """NumPy's maximum and minimum: NaN if either is."""

    def lower(b: Builder, x: Value, y: Value) -> Value:
        return b.select(b.or_(b.emit(pick, [x, y]), b.fne(x, x)), x, y)

    return lower


def _later_wins(pick: str) -> Callable[[Builder, Value, Value], Value]:
    """Python's ``max(x, y)`` and ``min(x, y)``: y only if it is strictly better."""
    return lambda b, x, y: b.select(b.emit(pick, [y, x]), y, x)


_TIES = (Singular((1.5, 1.5), (0.5, 0.5)), Singular((0.0, -0.0), (0.5, 0.5)))
scalar(
    "fmax", "ff->f", "np.maximum: NaN if either is; a tie splits evenly", _np2(np.maximum), lower=_nan_first("fge"),
    partials=(_extremum_partial(0, "fgt"), _extremum_partial(1, "fgt")), points=PAIRS, singular=_TIES,
)  # fmt: skip
scalar(
    "fmin", "ff->f", "np.minimum: NaN if either is; a tie splits evenly", _np2(np.minimum), lower=_nan_first("fle"),
    partials=(_extremum_partial(0, "flt"), _extremum_partial(1, "flt")), points=PAIRS, singular=_TIES,
)  # fmt: skip
scalar(
    "pymax", "ff->f", "Python's max(x, y); a tie splits evenly", lambda x, y: max(x, y), lower=_later_wins("fgt"),
    partials=(_extremum_partial(0, "fgt"), _extremum_partial(1, "fgt")), points=PAIRS, singular=_TIES,
)  # fmt: skip
scalar(
    "pymin", "ff->f", "Python's min(x, y); a tie splits evenly", lambda x, y: min(x, y), lower=_later_wins("flt"),
    partials=(_extremum_partial(0, "flt"), _extremum_partial(1, "flt")), points=PAIRS, singular=_TIES,
)  # fmt: skip

# --- remainders -----------------------------------------------------------------------------------------------


def _mod_lower(b: Builder, x: Value, y: Value) -> Value:
    """CPython's float_rem (also NumPy's): the sign of the divisor, and a zero of that sign."""
    zero = b.f64(0.0)
    m = b.fmod(x, y)
    wrong_side = b.xor(b.flt(y, zero), b.flt(m, zero))
    moved = b.select(wrong_side, b.fadd(m, y), m)
    whole = b.select(b.feq(m, zero), b.copysign(zero, y), moved)
    return b.select(b.feq(y, zero), m, whole)


def _floordiv_lower(b: Builder, x: Value, y: Value) -> Value:
    """CPython's float_floor_div (also NumPy's npy_divmod): exact where x // y is."""
    zero, one = b.f64(0.0), b.f64(1.0)
    m = b.fmod(x, y)
    div = b.fdiv(b.fsub(x, m), y)
    wrong_side = b.and_(b.fne(m, zero), b.xor(b.flt(y, zero), b.flt(m, zero)))
    div = b.select(wrong_side, b.fsub(div, one), div)
    down = b.floor(div)
    down = b.select(b.fgt(b.fsub(div, down), b.f64(0.5)), b.fadd(down, one), down)
    quotient = b.fdiv(x, y)
    down = b.select(b.feq(div, zero), b.copysign(zero, quotient), down)
    return b.select(b.feq(y, zero), quotient, down)


_MOD_POINTS = ((7.5, 2.0), (-7.5, 2.0), (7.5, -2.0), (-7.25, -3.0), (1.0, 0.3))
scalar(
    "fmod", "ff->f", "C's fmod: the sign of the dividend", ieee(math.fmod), lower="call fmod", accuracy="", cost=Cost.COSTLY,
    partials=(ONE, lambda b, a, r: b.fneg(b.trunc(b.fdiv(a[0], a[1])))), points=_MOD_POINTS,
)  # fmt: skip
scalar(
    "mod", "ff->f", "x % y: the sign of the divisor", _np2(lambda x, y: x % y), lower=_mod_lower, cost=Cost.COSTLY,
    partials=(ONE, lambda b, a, r: b.fneg(b.floordiv(a[0], a[1]))), points=_MOD_POINTS,
)  # fmt: skip
scalar(
    "floordiv", "ff->f", "x // y", _np2(lambda x, y: x // y), lower=_floordiv_lower, cost=Cost.COSTLY,
    partials=(ZERO, ZERO), points=_MOD_POINTS,
)  # fmt: skip
scalar(
    "remainder", "ff->f", "IEEE remainder: x - y * rint(x / y)", ieee(math.remainder), lower="call remainder", accuracy="", cost=Cost.COSTLY,
    partials=(ONE, lambda b, a, r: b.fneg(b.rint(b.fdiv(a[0], a[1])))), points=_MOD_POINTS,
)  # fmt: skip

# --- comparison and classification ----------------------------------------------------------------------------

_ANY = (*PAIRS, (1.5, 1.5), (nan, 1.0))
scalar("flt", "ff->b", "x < y", lambda x, y: x < y, lower="fcmp olt", points=_ANY)
scalar("fle", "ff->b", "x <= y", lambda x, y: x <= y, lower="fcmp ole", points=_ANY)
scalar("fgt", "ff->b", "x > y", lambda x, y: x > y, lower="fcmp ogt", points=_ANY)
scalar("fge", "ff->b", "x >= y", lambda x, y: x >= y, lower="fcmp oge", points=_ANY)
scalar("feq", "ff->b", "x == y", lambda x, y: x == y, lower="fcmp oeq", points=_ANY, commutative=True)
scalar("fne", "ff->b", "x != y", lambda x, y: x != y, lower="fcmp une", points=_ANY, commutative=True)
_CLASSES = ((1.5,), (0.0,), (nan,), (inf,), (-inf,))
scalar("isnan", "f->b", "x is NaN", math.isnan, lower=lambda b, x: b.fne(x, x), points=_CLASSES)
scalar("isinf", "f->b", "x is infinite", math.isinf, lower=lambda b, x: b.feq(b.fabs(x), b.f64(inf)), points=_CLASSES)
scalar("isfinite", "f->b", "x is neither NaN nor infinite", math.isfinite,
       lower=lambda b, x: b.flt(b.fabs(x), b.f64(inf)), points=_CLASSES)  # fmt: skip
