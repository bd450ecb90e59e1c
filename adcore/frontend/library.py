"""What library functions mean: one table row a name. Rules work on values, never on text.

`MATH` rows follow CPython's `math`: they take Python's view of their arguments, give a Python float and raise ValueError or OverflowError as
CPython does. `ELEMENTWISE` rows are NumPy ufuncs: the same function on a scalar or on every element, without errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from adcore.frontend import ufunc_rules as rules
from adcore.frontend.arith import (
    as_float,
    as_int,
    binary,
    common_kind,
    compare,
    divide,
    int_binary,
    power,
    to_int,
    truth,
)
from adcore.frontend.context import Context
from adcore.frontend.shapes import convert
from adcore.frontend.values import HERE, Number
from adcore.ir.core import Value
from adcore.ir.types import BOOL, F64, I64

Check: TypeAlias = Callable[[Context, Sequence[Value], Value], "tuple[Value, str, str] | None"]
DOMAIN = "math domain error"
RANGE = "math range error"


@dataclass(frozen=True, slots=True)
class MathRule:
    """`op` of the table applied to floats; `checks` give (ok, error, message)."""

    op: str
    arity: int = 1
    checks: tuple[Check, ...] = ()


def _domain(ok: Callable[[Context, Sequence[Value]], Value]) -> Check:
    return lambda ctx, xs, r: (ok(ctx, xs), "ValueError", DOMAIN)


def _overflow(ctx: Context, xs: Sequence[Value], r: Value) -> tuple[Value, str, str]:
    """Infinite although no operand is."""
    b = ctx.b
    ok = b.not_(b.isinf(r))
    for x in xs:
        ok = b.or_(ok, b.not_(b.isfinite(x)))
    return ok, "OverflowError", RANGE


def _not(compare_with: str, bound: float, absolute: bool = False) -> Check:
    """ValueError where the comparison holds; it does not for NaN."""
    return _domain(
        lambda ctx, xs: ctx.b.not_(
            ctx.b.emit(compare_with, [ctx.b.fabs(xs[0]) if absolute else xs[0], ctx.b.f64(bound)])
        )
    )


def _no_new_nan(ctx: Context, xs: Sequence[Value], r: Value) -> tuple[Value, str, str]:
    b = ctx.b
    ok = b.not_(b.isnan(r))
    for x in xs:
        ok = b.or_(ok, b.isnan(x))
    return ok, "ValueError", DOMAIN


def _not_a_pole(ctx: Context, xs: Sequence[Value], r: Value) -> tuple[Value, str, str]:
    """Gamma functions: no integer <= 0."""
    b = ctx.b
    (x,) = xs
    pole = b.and_(b.fle(x, b.f64(0.0)), b.and_(b.feq(x, b.floor(x)), b.isfinite(x)))
    return b.not_(pole), "ValueError", DOMAIN


def _pow_pole(ctx: Context, xs: Sequence[Value], r: Value) -> tuple[Value, str, str]:
    b = ctx.b
    x, y = xs
    pole = b.and_(b.feq(x, b.f64(0.0)), b.and_(b.flt(y, b.f64(0.0)), b.isfinite(y)))
    return b.not_(pole), "ValueError", DOMAIN


_FINITE = _domain(lambda ctx, xs: ctx.b.not_(ctx.b.isinf(xs[0])))

MATH: dict[str, MathRule] = {
    "sin": MathRule("sin", 1, (_FINITE,)), "cos": MathRule("cos", 1, (_FINITE,)), "tan": MathRule("tan", 1, (_FINITE,)),
    "asin": MathRule("asin", 1, (_not("fgt", 1.0, True),)), "acos": MathRule("acos", 1, (_not("fgt", 1.0, True),)),
    "atan": MathRule("atan"), "atan2": MathRule("atan2", 2),
    "sinh": MathRule("sinh", 1, (_overflow,)), "cosh": MathRule("cosh", 1, (_overflow,)), "tanh": MathRule("tanh"),
    "asinh": MathRule("asinh"), "acosh": MathRule("acosh", 1, (_not("flt", 1.0),)),
    "atanh": MathRule("atanh", 1, (_not("fge", 1.0, True),)),
    "exp": MathRule("exp", 1, (_overflow,)), "exp2": MathRule("exp2", 1, (_overflow,)), "expm1": MathRule("expm1", 1, (_overflow,)),
    "log2": MathRule("log2", 1, (_not("fle", 0.0),)), "log10": MathRule("log10", 1, (_not("fle", 0.0),)),
    "log1p": MathRule("log1p", 1, (_not("fle", -1.0),)),
    "sqrt": MathRule("sqrt", 1, (_not("flt", 0.0),)), "cbrt": MathRule("cbrt"),
    "fabs": MathRule("fabs"), "copysign": MathRule("copysign", 2),
    "fmod": MathRule("fmod", 2, (_no_new_nan,)), "remainder": MathRule("remainder", 2, (_no_new_nan,)),
    "pow": MathRule("pow", 2, (_pow_pole, _no_new_nan, _overflow)),
    "erf": MathRule("erf"), "erfc": MathRule("erfc"),
    "gamma": MathRule("gamma", 1, (_not_a_pole, _no_new_nan, _overflow)), "lgamma": MathRule("lgamma", 1, (_not_a_pole, _overflow)),
}  # fmt: skip

MATH_CONSTANTS: dict[str, float] = {"pi": math.pi, "e": math.e, "tau": math.tau, "inf": math.inf, "nan": math.nan}
NUMPY_CONSTANTS: dict[str, float] = {
    "pi": math.pi,
    "e": math.e,
    "inf": math.inf,
    "nan": math.nan,
    "euler_gamma": 0.5772156649015329,
}


def apply_math(ctx: Context, rule: MathRule, xs: Sequence[Number]) -> Number:
    values = [as_float(ctx, x).value for x in xs]
    result = ctx.b.emit(rule.op, values)
    for check in rule.checks:
        found = check(ctx, values, result)
        if found is not None:
            ctx.guard(*found)
    return Number(result, F64)


def _log(ctx: Context, xs: Sequence[Number]) -> Number:
    rule = MathRule("log", 1, (_not("fle", 0.0),))
    top = apply_math(ctx, rule, xs[:1])
    if len(xs) == 1:
        return top
    bottom = apply_math(ctx, rule, xs[1:])
    return divide(ctx, top, bottom, False)


def _hypot(ctx: Context, xs: Sequence[Number]) -> Number:
    a, b = (as_float(ctx, x) for x in xs)
    return Number(ctx.b.hypot(a.value, b.value), F64)


def _scaled(factor: float) -> Callable[[Context, Sequence[Number]], Number]:
    return lambda ctx, xs: Number(ctx.b.fmul(as_float(ctx, xs[0]).value, ctx.b.f64(factor)), F64)


def _class(op: str) -> Callable[[Context, Sequence[Number]], Number]:
    return lambda ctx, xs: Number(ctx.b.emit(op, [as_float(ctx, xs[0]).value]), BOOL)


def _rounding(op: str) -> Callable[[Context, Sequence[Number]], Number]:
    return lambda ctx, xs: to_int(ctx, xs[0], op)


def isclose(ctx: Context, xs: Sequence[Number]) -> Number:
    """`math.isclose(a, b, rel_tol, abs_tol)`."""
    b = ctx.b
    x, y, rel, absolute = (as_float(ctx, v).value for v in xs)
    zero = b.f64(0.0)
    ctx.guard(b.not_(b.or_(b.flt(rel, zero), b.flt(absolute, zero))), "ValueError", "tolerances must be non-negative")
    gap = b.fabs(b.fsub(y, x))
    near = b.or_(b.fle(gap, b.fabs(b.fmul(rel, y))), b.or_(b.fle(gap, b.fabs(b.fmul(rel, x))), b.fle(gap, absolute)))
    near = b.and_(near, b.not_(b.or_(b.isinf(x), b.isinf(y))))
    return Number(b.or_(b.feq(x, y), near), BOOL)


@dataclass(frozen=True, slots=True)
class Special:
    """A function of `math` that is no single op; between `least` and `most` arguments."""

    function: Callable[[Context, Sequence[Number]], Number]
    least: int = 1
    most: int = 1


MATH_SPECIAL: dict[str, Special] = {
    "log": Special(_log, 1, 2), "hypot": Special(_hypot, 2, 2),
    "degrees": Special(_scaled(180.0 / math.pi)), "radians": Special(_scaled(math.pi / 180.0)),
    "isnan": Special(_class("isnan")), "isinf": Special(_class("isinf")), "isfinite": Special(_class("isfinite")),
    "floor": Special(_rounding("floor")), "ceil": Special(_rounding("ceil")), "trunc": Special(_rounding("trunc")),
}  # fmt: skip

MATH_REFUSED: dict[str, str] = {
    "fsum": "it sums in extended precision; write `sum(...)` or `np.sum(...)`",
    "prod": "it is not compiled yet; write `np.prod(...)` or a loop",
    "dist": "it is not compiled yet; write `math.sqrt` of the sum of squares",
    "sumprod": "it is not compiled yet; write `np.dot(...)`",
    "factorial": "it is not compiled; write `math.gamma(n + 1)`",
    "comb": "it is not compiled", "perm": "it is not compiled", "gcd": "it is not compiled", "lcm": "it is not compiled",
    "isqrt": "it is not compiled", "modf": "it is not compiled yet; write `x - math.trunc(x)`",
    "frexp": "it is not compiled", "ldexp": "it is not compiled yet; write `x * 2.0**n`", "nextafter": "it is not compiled", "ulp": "it is not compiled",
}  # fmt: skip


# NumPy, elementwise

Rule: TypeAlias = Callable[[Context, Sequence[Number]], Number]


@dataclass(frozen=True, slots=True)
class Ufunc:
    arity: int
    rule: Rule


def _op(op: str, arity: int = 1) -> Ufunc:
    """A float op; integers are converted first, as NumPy does."""
    return Ufunc(arity, lambda ctx, xs: Number(ctx.b.emit(op, [as_float(ctx, x).value for x in xs]), F64, True))


def _keeps_int(float_op: str, int_rule: Rule, arity: int = 1) -> Ufunc:
    """Of ints an int."""

    def rule(ctx: Context, xs: Sequence[Number]) -> Number:
        if common_kind(*xs) is F64:
            return Number(ctx.b.emit(float_op, [as_float(ctx, x).value for x in xs]), F64, True)
        return int_rule(ctx, [as_int(ctx, x) for x in xs])

    return Ufunc(arity, rule)


def _whole(ctx: Context, xs: Sequence[Number]) -> Number:
    return Number(xs[0].value, I64, True)


def int_abs(ctx: Context, xs: Sequence[Number]) -> Number:
    """Wraps at the least integer, as NumPy does; `arith` guards Python's."""
    negative = ctx.b.isub(ctx.b.i64(0), xs[0].value)
    return Number(ctx.b.imax(xs[0].value, negative), I64, True)


def _int_sign(ctx: Context, xs: Sequence[Number]) -> Number:
    b = ctx.b
    return Number(b.imin(b.imax(xs[0].value, b.i64(-1)), b.i64(1)), I64, True)


def _arithmetic(symbol: str) -> Rule:
    def rule(ctx: Context, xs: Sequence[Number]) -> Number:
        return binary(ctx, symbol, xs[0], xs[1], HERE)

    return rule


def _square(ctx: Context, xs: Sequence[Number]) -> Number:
    if xs[0].kind is F64:
        return Number(ctx.b.fmul(xs[0].value, xs[0].value), F64, True)
    return int_binary(ctx, "*", as_int(ctx, xs[0]), as_int(ctx, xs[0]), True)


def _reciprocal(ctx: Context, xs: Sequence[Number]) -> Number:
    """Of ints NumPy's is an int: 1 and -1 are their own, of 0 it is the least int, of all others 0."""
    b, x = ctx.b, xs[0]
    if x.kind is F64:
        return Number(b.fdiv(b.f64(1.0), x.value), F64, True)
    n, zero = as_int(ctx, x).value, b.i64(0)
    unit = b.or_(b.ieq(n, b.i64(1)), b.ieq(n, b.i64(-1)))
    return Number(b.select(b.ieq(n, zero), b.i64(-(2**63)), b.select(unit, n, zero)), I64, True)


def _float_power(ctx: Context, xs: Sequence[Number]) -> Number:
    return power(ctx, as_float(ctx, xs[0]), as_float(ctx, xs[1]), True, HERE)


def _comparison(name: str) -> Ufunc:
    return Ufunc(2, lambda ctx, xs: compare(ctx, name, xs[0], xs[1]))


def _classify(op: str) -> Ufunc:
    return Ufunc(1, lambda ctx, xs: Number(ctx.b.emit(op, [as_float(ctx, xs[0]).value]), BOOL, True))


def _logical(op: str) -> Ufunc:
    return Ufunc(2, lambda ctx, xs: Number(ctx.b.emit(op, [truth(ctx, x) for x in xs]), BOOL, True))


def _logical_not(ctx: Context, xs: Sequence[Number]) -> Number:
    return Number(ctx.b.not_(truth(ctx, xs[0])), BOOL, True)


def _scale(factor: float) -> Ufunc:
    return Ufunc(1, lambda ctx, xs: Number(ctx.b.fmul(as_float(ctx, xs[0]).value, ctx.b.f64(factor)), F64, True))


def clip(ctx: Context, xs: Sequence[Number]) -> Number:
    kind = common_kind(*xs)
    x, low, high = (convert(ctx.b, v, kind) for v in xs)
    if kind is F64:
        return Number(ctx.b.fmin(ctx.b.fmax(x, low), high), F64, True)
    return Number(ctx.b.imin(ctx.b.imax(x, low), high), kind, True)


ELEMENTWISE: dict[str, Ufunc] = {
    "exp": _op("exp"), "exp2": _op("exp2"), "expm1": _op("expm1"), "log": _op("log"), "log2": _op("log2"), "log10": _op("log10"), "log1p": _op("log1p"),
    "sqrt": _op("sqrt"), "cbrt": _op("cbrt"), "sin": _op("sin"), "cos": _op("cos"), "tan": _op("tan"), "arcsin": _op("asin"), "arccos": _op("acos"),
    "arctan": _op("atan"), "arctan2": _op("atan2", 2), "sinh": _op("sinh"), "cosh": _op("cosh"), "tanh": _op("tanh"), "arcsinh": _op("asinh"),
    "arccosh": _op("acosh"), "arctanh": _op("atanh"), "asin": _op("asin"), "acos": _op("acos"), "atan": _op("atan"), "atan2": _op("atan2", 2),
    "asinh": _op("asinh"), "acosh": _op("acosh"), "atanh": _op("atanh"), "hypot": _op("hypot", 2), "fabs": _op("fabs"), "copysign": _op("copysign", 2),
    "rint": _op("rint"), "fmod": _op("fmod", 2),
    "floor": _keeps_int("floor", _whole), "ceil": _keeps_int("ceil", _whole), "trunc": _keeps_int("trunc", _whole), "fix": _keeps_int("trunc", _whole),
    "abs": _keeps_int("fabs", int_abs), "absolute": _keeps_int("fabs", int_abs), "sign": _keeps_int("sign", _int_sign),
    "maximum": _keeps_int("fmax", lambda ctx, xs: Number(ctx.b.imax(xs[0].value, xs[1].value), I64, True), 2),
    "minimum": _keeps_int("fmin", lambda ctx, xs: Number(ctx.b.imin(xs[0].value, xs[1].value), I64, True), 2),
    "square": Ufunc(1, _square), "reciprocal": Ufunc(1, _reciprocal), "float_power": Ufunc(2, _float_power),
    "add": Ufunc(2, _arithmetic("+")), "subtract": Ufunc(2, _arithmetic("-")), "multiply": Ufunc(2, _arithmetic("*")), "divide": Ufunc(2, _arithmetic("/")),
    "true_divide": Ufunc(2, _arithmetic("/")), "floor_divide": Ufunc(2, _arithmetic("//")), "mod": Ufunc(2, _arithmetic("%")),
    "remainder": Ufunc(2, _arithmetic("%")), "power": Ufunc(2, _arithmetic("**")), "pow": Ufunc(2, _arithmetic("**")),
    "negative": Ufunc(1, lambda ctx, xs: binary_minus(ctx, xs[0])), "positive": Ufunc(1, lambda ctx, xs: xs[0]),
    "less": _comparison("lt"), "less_equal": _comparison("le"), "greater": _comparison("gt"), "greater_equal": _comparison("ge"),
    "equal": _comparison("eq"), "not_equal": _comparison("ne"),
    "isnan": _classify("isnan"), "isinf": _classify("isinf"), "isfinite": _classify("isfinite"),
    "logical_and": _logical("and_"), "logical_or": _logical("or_"), "logical_xor": _logical("xor"), "logical_not": Ufunc(1, _logical_not),
    "logaddexp": _op("logaddexp", 2), "logaddexp2": _op("logaddexp2", 2), "sinc": _op("sinc"), "heaviside": Ufunc(2, rules.heaviside),
    "bitwise_and": Ufunc(2, rules.bits("&")), "bitwise_or": Ufunc(2, rules.bits("|")), "bitwise_xor": Ufunc(2, rules.bits("^")),
    "left_shift": Ufunc(2, rules.bits("<<")), "right_shift": Ufunc(2, rules.bits(">>")), "bitwise_left_shift": Ufunc(2, rules.bits("<<")),
    "bitwise_right_shift": Ufunc(2, rules.bits(">>")), "invert": Ufunc(1, rules.invert), "bitwise_not": Ufunc(1, rules.invert),
    "bitwise_invert": Ufunc(1, rules.invert), "fmax": Ufunc(2, rules.other_than_nan("fmax", "imax")), "fmin": Ufunc(2, rules.other_than_nan("fmin", "imin")),
    "signbit": Ufunc(1, rules.signbit), "isposinf": Ufunc(1, rules.infinite(1.0)), "isneginf": Ufunc(1, rules.infinite(-1.0)),
    "deg2rad": _scale(math.pi / 180.0), "radians": _scale(math.pi / 180.0), "rad2deg": _scale(180.0 / math.pi), "degrees": _scale(180.0 / math.pi),
}  # fmt: skip


def binary_minus(ctx: Context, x: Number) -> Number:
    if x.kind is F64:
        return Number(ctx.b.fneg(x.value), F64, True)
    return int_binary(ctx, "-", ctx.number(0), as_int(ctx, x), True)
