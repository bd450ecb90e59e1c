"""What NumPy's less simple elementwise functions mean, on one element: bits, comparisons with tolerances, NaN-aware extrema, rounding to digits.

The table that names them is in `library`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from adcore.frontend.arith import as_float, as_int, binary, common_kind, truth
from adcore.frontend.context import Context
from adcore.frontend.shapes import convert
from adcore.frontend.values import HERE, Number, describe
from adcore.ir.core import Value
from adcore.ir.types import BOOL, F64, I64, Scalar

Rule = Callable[[Context, Sequence[Number]], Number]
LARGEST = 1.7976931348623157e308


def whole_number(ctx: Context, x: Number, what: str) -> Number:
    if x.kind is F64:
        ctx.mismatch(HERE, what, f"it takes integers, not {describe(x, True)}")
    return as_int(ctx, x)


def bits(symbol: str) -> Rule:
    """`&`, `|`, `^`, `<<`, `>>`: of two bools a bool, of ints an int."""
    return lambda ctx, xs: binary(ctx, symbol, xs[0], xs[1], HERE)


def invert(ctx: Context, xs: Sequence[Number]) -> Number:
    (x,) = xs
    if x.kind is BOOL:
        return Number(ctx.b.not_(x.value), BOOL, True)
    whole = whole_number(ctx, x, "`~`")
    return Number(ctx.b.ixor(whole.value, ctx.b.i64(-1)), I64, True)


def heaviside(ctx: Context, xs: Sequence[Number]) -> Number:
    """0 below zero, 1 above, the second operand at zero: its only slope."""
    x, at_zero = (as_float(ctx, v).value for v in xs)
    b = ctx.b
    zero, one = b.f64(0.0), b.f64(1.0)
    step = b.select(b.flt(x, zero), zero, b.select(b.feq(x, zero), at_zero, one))
    return Number(b.select(b.isnan(x), b.f64(math.nan), step), F64, True)


def other_than_nan(op: str, int_op: str) -> Rule:
    """`np.fmax` and `np.fmin`: the other operand where one is NaN."""

    def rule(ctx: Context, xs: Sequence[Number]) -> Number:
        b = ctx.b
        if common_kind(*xs) is not F64:
            return Number(b.emit(int_op, [as_int(ctx, x).value for x in xs]), I64, True)
        x, y = (as_float(ctx, v).value for v in xs)
        return Number(b.select(b.isnan(x), y, b.select(b.isnan(y), x, b.emit(op, [x, y]))), F64, True)

    return rule


def signbit(ctx: Context, xs: Sequence[Number]) -> Number:
    b = ctx.b
    if xs[0].kind is not F64:
        return Number(b.ilt(as_int(ctx, xs[0]).value, b.i64(0)), BOOL, True)
    return Number(b.flt(b.copysign(b.f64(1.0), xs[0].value), b.f64(0.0)), BOOL, True)


def infinite(sign: float) -> Rule:
    return lambda ctx, xs: Number(ctx.b.feq(as_float(ctx, xs[0]).value, ctx.b.f64(sign * math.inf)), BOOL, True)


def rounded(ctx: Context, x: Number, digits: int) -> Number:
    """`np.round`: to the nearest multiple of a power of ten, ties to even."""
    if x.kind is not F64:
        if digits < 0:
            ctx.mismatch(HERE, "`np.round`", "of integers, it takes no negative number of digits")
        return Number(as_int(ctx, x).value, I64, True)
    b = ctx.b
    if digits == 0:
        return Number(b.rint(x.value), F64, True)
    scale = b.f64(10.0 ** abs(digits))
    if digits > 0:
        return Number(b.fdiv(b.rint(b.fmul(x.value, scale)), scale), F64, True)
    return Number(b.fmul(b.rint(b.fdiv(x.value, scale)), scale), F64, True)


def without_nan(ctx: Context, x: Number, nan: Number, top: Number, bottom: Number) -> Number:
    """`np.nan_to_num` of one element."""
    if x.kind is not F64:
        return x
    b = ctx.b
    fill, high, low = (as_float(ctx, v).value for v in (nan, top, bottom))
    inner = b.select(b.feq(x.value, b.f64(math.inf)), high, b.select(b.feq(x.value, b.f64(-math.inf)), low, x.value))
    return Number(b.select(b.isnan(x.value), fill, inner), F64, True)


def close(ctx: Context, x: Number, y: Number, rtol: Number, atol: Number, equal_nan: bool) -> Number:
    """`np.isclose` of one element: |x - y| <= atol + rtol * |y|, or equal."""
    b = ctx.b
    xv, yv, rel, absolute = (as_float(ctx, v).value for v in (x, y, rtol, atol))
    near = b.fle(b.fabs(b.fsub(xv, yv)), b.fadd(absolute, b.fmul(rel, b.fabs(yv))))
    near = b.or_(b.and_(near, b.isfinite(yv)), b.feq(xv, yv))
    if equal_nan:
        near = b.or_(near, b.and_(b.isnan(xv), b.isnan(yv)))
    return Number(near, BOOL, True)


def chosen(ctx: Context, condition: Number, x: Number, y: Number, kind: Scalar) -> Number:
    """`x` where the condition holds, else `y`."""
    values: list[Value] = [convert(ctx.b, v, kind) for v in (x, y)]
    return Number(ctx.b.select(truth(ctx, condition), *values), kind, True)
