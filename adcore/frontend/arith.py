"""Scalar arithmetic with Python's and NumPy's meaning.

Provenance decides where the two differ: Python numbers raise ZeroDivisionError and OverflowError, NumPy scalars give inf, NaN or
wrap. Where it is known at run time only, the check is `numpy or fine`. Functions here take and give `Number`s; they look at no text
except to say where something is wrong.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from adcore.frontend import fixes
from adcore.frontend.context import INT64_MAX, INT64_MIN, Context
from adcore.frontend.shapes import convert
from adcore.frontend.values import Number, describe
from adcore.ir.core import Value
from adcore.ir.types import BOOL, F64, I64, Scalar

SYMBOLS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>", ast.MatMult: "@",
}  # fmt: skip
COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Eq: "eq",
    ast.NotEq: "ne",
}
_FLOAT = {"+": "fadd", "-": "fsub", "*": "fmul"}
_INT = {"+": "iadd", "-": "isub", "*": "imul"}
_FOLD: dict[str, Callable[[int, int], int]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
}
SMALL_POWER = 4
EXACT = 2**53  # every int up to here is a float
LARGEST_BELOW = 2.0**63 - 1024.0  # the float below 2**63


def either(ctx: Context, a: Number, b: Number) -> bool | Value:
    """The provenance of a result: NumPy if one of the operands is."""
    if a.numpy is True or b.numpy is True:
        return True
    if a.numpy is False:
        return b.numpy
    if b.numpy is False or a.numpy is b.numpy:
        return a.numpy
    assert isinstance(a.numpy, Value)
    assert isinstance(b.numpy, Value)
    return ctx.b.or_(a.numpy, b.numpy)


def unless_numpy(ctx: Context, numpy: bool | Value, ok: Callable[[], Value | bool], error: str, message: str) -> None:
    """Python raises `error` unless `ok`; NumPy does not."""
    if numpy is True:
        return
    fine = ok()
    if fine is True:
        return
    if isinstance(numpy, Value):
        fine = ctx.b.or_(numpy, ctx.b.const(False) if fine is False else fine)
    ctx.guard(fine, error, message)


def as_float(ctx: Context, x: Number) -> Number:
    return Number(convert(ctx.b, x, F64), F64, x.numpy, None if x.const is None else float(x.const))


def as_int(ctx: Context, x: Number) -> Number:
    """Of a bool; an int stays as it is."""
    if x.kind is I64:
        return x
    if x.const is not None:
        return ctx.number(int(x.const))
    return Number(convert(ctx.b, x, I64), I64, x.numpy, None, 0, 1)


def binary(ctx: Context, symbol: str, a: Number, b: Number, node: ast.AST) -> Number:
    """`a symbol b`."""
    if a.kind is BOOL and b.kind is BOOL and symbol not in ("&", "|", "^", "/") and either(ctx, a, b) is not False:
        if symbol in ("+", "*") and either(ctx, a, b) is True:  # NumPy's or, and
            return Number(ctx.b.emit("or_" if symbol == "+" else "and_", [a.value, b.value]), BOOL, True)
        ctx.mismatch(node, f"`{symbol}`", "on NumPy bools it has a meaning of its own", "Convert them with `int(...)`.")
    if symbol in ("&", "|", "^", "<<", ">>"):
        return _bits(ctx, symbol, a, b, node)
    if symbol == "@":
        made = fixes.product_operator(ctx, node)
        ctx.mismatch(node, "`@`", "it takes arrays, not numbers", "Multiply numbers with `*`.", made)
    numpy = either(ctx, a, b)
    if symbol == "/":
        return divide(ctx, as_float(ctx, a), as_float(ctx, b), numpy, a.kind is not F64 and b.kind is not F64)
    if symbol == "**":
        return power(ctx, a, b, numpy, node)
    if F64 in (a.kind, b.kind):
        return _float_binary(ctx, symbol, as_float(ctx, a), as_float(ctx, b), numpy)
    return int_binary(ctx, symbol, as_int(ctx, a), as_int(ctx, b), numpy)


def _float_binary(ctx: Context, symbol: str, a: Number, b: Number, numpy: bool | Value) -> Number:
    if symbol in _FLOAT:
        return Number(ctx.b.emit(_FLOAT[symbol], [a.value, b.value]), F64, numpy)
    message = "float modulo" if symbol == "%" else "float floor division by zero"
    unless_numpy(ctx, numpy, lambda: nonzero(ctx, b), "ZeroDivisionError", message)
    return Number(ctx.b.emit("mod" if symbol == "%" else "floordiv", [a.value, b.value]), F64, numpy)


def nonzero(ctx: Context, x: Number) -> Value | bool:
    if x.const is not None:
        return bool(x.const)
    if x.kind is I64:
        if (x.low is not None and x.low > 0) or (x.high is not None and x.high < 0):
            return True
        return ctx.b.ine(x.value, ctx.b.i64(0))
    return ctx.b.fne(x.value, ctx.b.f64(0.0))


def divide(ctx: Context, a: Number, b: Number, numpy: bool | Value, integers: bool = False) -> Number:
    message = "division by zero" if integers else "float division by zero"
    unless_numpy(ctx, numpy, lambda: nonzero(ctx, b), "ZeroDivisionError", message)
    return Number(ctx.b.fdiv(a.value, b.value), F64, numpy)


# Integers


def int_binary(ctx: Context, symbol: str, a: Number, b: Number, numpy: bool | Value) -> Number:
    if symbol not in _INT:
        return _int_division(ctx, symbol, a, b, numpy)
    if isinstance(a.const, int) and isinstance(b.const, int) and numpy is False:
        value = _FOLD[symbol](a.const, b.const)
        if INT64_MIN <= value <= INT64_MAX:
            return ctx.number(value)
    low, high = _bounds(symbol, a, b)
    value_of = ctx.b.emit(_INT[symbol], [a.value, b.value])
    if low is None or high is None or not INT64_MIN <= low <= high <= INT64_MAX:
        fits = _INT[symbol] + "_fits"
        unless_numpy(
            ctx,
            numpy,
            lambda: ctx.b.emit(fits, [a.value, b.value]),
            "OverflowError",
            "the integer does not fit into 64 bits",
        )
        low = None if low is None else max(low, INT64_MIN) if numpy is False else None
        high = None if high is None else min(high, INT64_MAX) if numpy is False else None
    return Number(value_of, I64, numpy, None, low, high, _linear(symbol, a, b))


def _bounds(symbol: str, a: Number, b: Number) -> tuple[int | None, int | None]:
    al, ah, bl, bh = a.low, a.high, b.low, b.high
    if symbol == "+":
        return (None if al is None or bl is None else al + bl), (None if ah is None or bh is None else ah + bh)
    if symbol == "-":
        return (None if al is None or bh is None else al - bh), (None if ah is None or bl is None else ah - bl)
    if al is None or ah is None or bl is None or bh is None:
        return (0, None) if al is not None and bl is not None and al >= 0 and bl >= 0 else (None, None)
    products = (al * bl, al * bh, ah * bl, ah * bh)
    return min(products), max(products)


def _linear(symbol: str, a: Number, b: Number) -> tuple[Value, int] | None:
    """base - k. A size may be `max(base - k, 0)`, to which nothing can be added: sums start from the number itself."""
    if symbol == "+" and isinstance(a.const, int):
        a, b = b, a
    if symbol not in "+-" or not isinstance(b.const, int):
        return None
    k = b.const if symbol == "-" else -b.const
    base, known = a.linear or (a.value, 0)
    if k < 0 and base is not a.value:
        return a.value, k
    return base, known + k


def _int_division(ctx: Context, symbol: str, a: Number, b: Number, numpy: bool | Value) -> Number:
    message = "integer division or modulo by zero" if symbol == "//" else "integer modulo by zero"
    unless_numpy(ctx, numpy, lambda: nonzero(ctx, b), "ZeroDivisionError", message)
    if symbol == "%":
        low, high = (0, b.high - 1) if b.low is not None and b.high is not None and b.low > 0 else (None, None)
        value = ctx.b.imod(a.value, b.value)
        if numpy is not False:  # NumPy: x % 0 is 0
            value = ctx.b.select(ctx.b.ieq(b.value, ctx.b.i64(0)), ctx.b.i64(0), value)
        return Number(value, I64, numpy, None, low, high)
    if (
        not (isinstance(b.const, int) and b.const != -1)
        and (a.low is None or a.low == INT64_MIN)
        and (b.low is None or b.low < 0)
    ):
        minimum, minus = ctx.b.i64(INT64_MIN), ctx.b.i64(-1)
        unless_numpy(
            ctx, numpy, lambda: ctx.b.or_(ctx.b.ine(a.value, minimum), ctx.b.ine(b.value, minus)),
            "OverflowError", "the integer does not fit into 64 bits",
        )  # fmt: skip
    known = a.low is not None and a.high is not None and isinstance(b.const, int) and b.const > 0
    low = a.low // b.const if known and a.low is not None and isinstance(b.const, int) else None
    high = a.high // b.const if known and a.high is not None and isinstance(b.const, int) else None
    return Number(ctx.b.ifloordiv(a.value, b.value), I64, numpy, None, low, high)


def _bits(ctx: Context, symbol: str, a: Number, b: Number, node: ast.AST) -> Number:
    if a.kind is BOOL and b.kind is BOOL and symbol in "&|^":
        op = {"&": "and_", "|": "or_", "^": "xor"}[symbol]
        return Number(ctx.b.emit(op, [a.value, b.value]), BOOL, either(ctx, a, b))
    if F64 in (a.kind, b.kind):
        ctx.mismatch(
            node,
            f"`{symbol}`",
            f"it takes integers, not {describe(a)} and {describe(b)}",
            "Convert with `int(...)` what is a float.",
            fixes.converted_operands(ctx, node, a, b),
        )
    a, b = as_int(ctx, a), as_int(ctx, b)
    numpy = either(ctx, a, b)
    if symbol in "&|^":
        op = {"&": "iand", "|": "ior", "^": "ixor"}[symbol]
        return Number(ctx.b.emit(op, [a.value, b.value]), I64, numpy)
    unless_numpy(ctx, numpy, lambda: ctx.b.ige(b.value, ctx.b.i64(0)), "ValueError", "negative shift count")
    if symbol == ">>":
        return Number(ctx.b.ishr(a.value, b.value), I64, numpy)
    b_ = ctx.b
    shifted = b_.ishl(a.value, b.value)

    def fits() -> Value:
        kept = b_.and_(b_.ilt(b.value, b_.i64(64)), b_.ieq(b_.ishr(shifted, b.value), a.value))
        return b_.or_(b_.ieq(a.value, b_.i64(0)), kept)

    unless_numpy(ctx, numpy, fits, "OverflowError", "the integer does not fit into 64 bits")
    return Number(shifted, I64, numpy)


# Powers


def power(ctx: Context, a: Number, b: Number, numpy: bool | Value, node: ast.AST) -> Number:
    """`a ** b`."""
    if F64 not in (a.kind, b.kind):
        return _int_power(ctx, as_int(ctx, a), as_int(ctx, b), numpy, node)
    whole = _whole(b)
    x = as_float(ctx, a)
    if whole is not None and abs(whole) <= SMALL_POWER:
        return _small_power(ctx, x, whole, numpy)
    y = as_float(ctx, b)
    b_ = ctx.b
    result = b_.pow(x.value, y.value)
    positive_base = isinstance(x.const, float) and x.const > 0
    if not positive_base and not (isinstance(y.const, float) and y.const >= 0):
        unless_numpy(
            ctx, numpy, lambda: b_.or_(b_.fne(x.value, b_.f64(0.0)), b_.not_(b_.flt(y.value, b_.f64(0.0)))),
            "ZeroDivisionError", "0.0 cannot be raised to a negative power",
        )  # fmt: skip
    if not positive_base and whole is None and b.kind is F64:
        unless_numpy(
            ctx, numpy, lambda: b_.or_(b_.not_(b_.isnan(result)), b_.or_(b_.isnan(x.value), b_.isnan(y.value))),
            "ValueError", "a negative number to a fractional power is complex",
        )  # fmt: skip
    _no_overflow(ctx, result, [x, y], numpy)
    return Number(result, F64, numpy)


def _whole(x: Number) -> int | None:
    """The integer behind a constant exponent."""
    if x.const is None or (isinstance(x.const, float) and not x.const.is_integer()):
        return None
    return int(x.const)


def _small_power(ctx: Context, x: Number, n: int, numpy: bool | Value) -> Number:
    if n == 0:
        return Number(ctx.b.f64(1.0), F64, numpy, 1.0)
    if n == 1:
        return Number(x.value, F64, numpy)
    if n < 0:
        message = "0.0 cannot be raised to a negative power"
        unless_numpy(ctx, numpy, lambda: nonzero(ctx, x), "ZeroDivisionError", message)
    result = ctx.b.powi(x.value, n=n)
    _no_overflow(ctx, result, [x], numpy)
    return Number(result, F64, numpy)


def _no_overflow(ctx: Context, result: Value, operands: list[Number], numpy: bool | Value) -> None:
    b = ctx.b

    def fine() -> Value:
        ok = b.not_(b.isinf(result))
        for x in operands:
            if x.const is None:
                ok = b.or_(ok, b.not_(b.isfinite(x.value)))
        return ok

    unless_numpy(ctx, numpy, fine, "OverflowError", "(34, 'Numerical result out of range')")


def _int_power(ctx: Context, a: Number, b: Number, numpy: bool | Value, node: ast.AST) -> Number:
    if isinstance(b.const, int):
        if b.const < 0:
            return _negative_int_power(ctx, a, b, numpy, node)
        return _int_power_by_squares(ctx, a, b.const, numpy)
    if b.low is None or b.low < 0:
        ctx.guard(
            ctx.b.ige(b.value, ctx.b.i64(0)), "ValueError", "an integer to a negative integer power is no integer"
        )
    if a.const == -1:
        odd = ctx.b.ine(ctx.b.iand(b.value, ctx.b.i64(1)), ctx.b.i64(0))
        return Number(ctx.b.select(odd, ctx.b.i64(-1), ctx.b.i64(1)), I64, numpy, None, -1, 1)

    def body(_: Value, carried: list[Value]) -> list[Value]:
        return [int_binary(ctx, "*", Number(carried[0], I64, numpy), a, numpy).value]

    (result,) = ctx.b.for_(ctx.b.i64(0), b.value, ctx.b.i64(1), [ctx.b.i64(1)], body)
    return Number(result, I64, numpy)


def _negative_int_power(ctx: Context, a: Number, b: Number, numpy: bool | Value, node: ast.AST) -> Number:
    if numpy is not False:
        ctx.mismatch(
            node, "`**`", "NumPy refuses integers to negative integer powers", "Convert the base with `float(...)`."
        )
    return power(ctx, as_float(ctx, a), b, numpy, node)


def _int_power_by_squares(ctx: Context, a: Number, n: int, numpy: bool | Value) -> Number:
    """Only powers up to the n-th occur, so an overflow of one is an overflow of the result."""
    if (
        isinstance(a.const, int)
        and numpy is False
        and n * max(a.const.bit_length(), 1) < 4096
        and abs(a.const**n) <= INT64_MAX
    ):
        return ctx.number(a.const**n)
    result: Number | None = None
    for bit in bin(n)[2:]:
        if result is not None:
            result = int_binary(ctx, "*", result, result, numpy)
        if bit == "1":
            result = a if result is None else int_binary(ctx, "*", result, a, numpy)
    if result is None:
        return Number(ctx.b.i64(1), I64, numpy, 1, 1, 1)
    if n % 2 == 0:
        return Number(result.value, I64, numpy, None, 0, result.high)
    return result


# Unary, comparison, truth


def unary(ctx: Context, op: ast.unaryop, x: Number, node: ast.AST) -> Number:
    if isinstance(op, ast.Not):
        return Number(ctx.b.not_(truth(ctx, x)), BOOL, False, None if x.const is None else not x.const)
    if x.kind is BOOL and x.numpy is True and isinstance(op, ast.Invert):
        return Number(ctx.b.not_(x.value), BOOL, True)
    if x.kind is BOOL and x.numpy is not False:
        ctx.mismatch(
            node, "the sign or `~` of a NumPy bool", "it has a meaning of its own", "Convert it with `int(...)`."
        )
    if isinstance(op, ast.Invert):
        if x.kind is F64:
            made = fixes.converted(ctx, node.operand, x, I64, sure=False) if isinstance(node, ast.UnaryOp) else ()
            ctx.mismatch(node, "`~`", "it takes integers, not a float", "Convert it with `int(...)`.", made)
        return Number(ctx.b.ixor(as_int(ctx, x).value, ctx.b.i64(-1)), I64, x.numpy)
    if x.kind is BOOL:
        x = as_int(ctx, x)
    if isinstance(op, ast.UAdd):
        return x
    if x.const is not None and x.numpy is False and x.const != INT64_MIN:
        return ctx.number(-x.const)
    if x.kind is F64:
        return Number(ctx.b.fneg(x.value), F64, x.numpy)
    return int_binary(ctx, "-", ctx.number(0), x, x.numpy)


def compare(ctx: Context, name: str, a: Number, b: Number) -> Number:
    """`name` is lt, le, gt, ge, eq or ne."""
    numpy = not (a.numpy is False and b.numpy is False)
    if a.const is not None and b.const is not None:
        order = {"lt": a.const < b.const, "le": a.const <= b.const, "gt": a.const > b.const, "ge": a.const >= b.const}
        result = {**order, "eq": a.const == b.const, "ne": a.const != b.const}[name]
        return Number(ctx.b.const(result), BOOL, numpy, result)
    if F64 in (a.kind, b.kind):
        if _rounds(a, b) or _rounds(b, a):
            return Number(_compare_exactly(ctx, name, a, b), BOOL, numpy)
        return Number(ctx.b.emit("f" + name, [as_float(ctx, a).value, as_float(ctx, b).value]), BOOL, numpy)
    return Number(ctx.b.emit("i" + name, [as_int(ctx, a).value, as_int(ctx, b).value]), BOOL, numpy)


def _rounds(n: Number, x: Number) -> bool:
    """The nearest float of the int `n` may compare otherwise with the float `x` than `n` does. NumPy compares the floats."""
    if n.kind is not I64 or x.kind is not F64 or True in (n.numpy, x.numpy):
        return False
    if n.const is not None:
        return int(float(n.const)) != n.const
    if x.const is not None:
        return abs(x.const) >= EXACT
    return n.low is None or n.high is None or max(-n.low, n.high) > EXACT


def _compare_exactly(ctx: Context, name: str, a: Number, b: Number) -> Value:
    """Of a Python int and a Python float: only where the nearest float equals the other may the order be another, and then both are ints."""
    emit, both = ctx.b.emit, [as_float(ctx, a).value, as_float(ctx, b).value]
    rounded = emit("f" + name, both)
    k = 0 if a.kind is I64 else 1
    near = ctx.b.fmin(both[k], ctx.b.f64(LARGEST_BELOW))  # 2.0**63 is no int64, and above them all
    x = both[1 - k]
    same = ctx.b.feq(near, x)
    whole = [as_int(ctx, (a, b)[k]).value] * 2
    whole[1 - k] = ctx.b.ftoi(ctx.b.select(same, x, ctx.b.f64(0.0)))
    both[k] = near
    exact = ctx.b.select(same, emit("i" + name, whole), emit("f" + name, both))
    numpy = either(ctx, a, b)
    return exact if numpy is False else ctx.b.select(numpy, rounded, exact) if isinstance(numpy, Value) else rounded


def truth(ctx: Context, x: Number) -> Value:
    """The SSA bool of `bool(x)`."""
    if x.kind is BOOL:
        return x.value
    if x.const is not None:
        return ctx.b.const(bool(x.const))
    if x.kind is I64:
        return ctx.b.ine(x.value, ctx.b.i64(0))
    return ctx.b.fne(x.value, ctx.b.f64(0.0))


def to_int(ctx: Context, x: Number, rounding: str = "trunc") -> Number:
    """`int(x)`, `math.floor(x)`, `math.ceil(x)`, `round(x)`: a Python int."""
    if x.kind is not F64:
        whole = as_int(ctx, x)
        return Number(whole.value, I64, False, whole.const, whole.low, whole.high, whole.linear)
    b = ctx.b
    value = x.value if rounding == "trunc" else b.emit(rounding, [x.value])
    ctx.guard(b.not_(b.isnan(value)), "ValueError", "cannot convert float NaN to integer")
    ctx.guard(b.ftoi_fits(value), "OverflowError", "cannot convert the float to an integer of 64 bits")
    return Number(b.ftoi(value), I64)


def common_kind(*numbers: Number) -> Scalar:
    """The widest kind."""
    kinds = {x.kind for x in numbers}
    return F64 if F64 in kinds else I64 if I64 in kinds else BOOL
