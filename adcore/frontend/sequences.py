"""NumPy's sequences between two ends: `np.linspace`, `np.logspace`, `np.geomspace`."""

from __future__ import annotations

from adcore.frontend import arith, arrays
from adcore.frontend.context import Context
from adcore.frontend.numpy_arguments import NumpyCall, Row, numbers, refuse, wrong
from adcore.frontend.values import Abstract, ArrayRef, Number
from adcore.ir.core import Value
from adcore.ir.types import F64


def _size(ctx: Context, call: NumpyCall) -> Number:
    count = call.get(2, "num") or ctx.number(50)
    return arrays.length(ctx, count, call.text_of(2, "num"), f"`{ctx.text(call.node.func)}`")


def _closed(ctx: Context, call: NumpyCall) -> bool:
    endpoint = call.get(3, "endpoint")
    if endpoint is None:
        return True
    if not (isinstance(endpoint, Number) and isinstance(endpoint.const, bool)):
        refuse(ctx, call.node, "`endpoint` must be True or False")
    return endpoint.const


def _ends(ctx: Context, call: NumpyCall) -> tuple[Value, Value]:
    given = [call.get(k, name) for k, name in enumerate(("start", "stop"))]
    low, high = (arith.as_float(ctx, x).value for x in numbers(ctx, call, [x for x in given if x is not None]))
    return low, high


def _spaced(ctx: Context, low: Value, high: Value, size: Number, closed: bool) -> ArrayRef:
    b = ctx.b
    last = b.isub(size.value, b.i64(1))
    step = b.fdiv(b.fsub(high, low), b.itof(b.imax(last if closed else size.value, b.i64(1))))

    def body(index: list[Value], _: list[Value]) -> list[Value]:
        inner = b.fadd(b.fmul(b.itof(index[0]), step), low)
        if not closed:
            return [inner]
        at_end = b.and_(b.ieq(index[0], last), b.igt(last, b.i64(0)))
        return [b.select(at_end, high, inner)]

    (value,) = b.map_([size.value], [], ["elem"], body)
    return ArrayRef(value, F64, (size,))


def _linspace(ctx: Context, call: NumpyCall) -> Abstract:
    return _spaced(ctx, *_ends(ctx, call), _size(ctx, call), _closed(ctx, call))


def _logspace(ctx: Context, call: NumpyCall) -> Abstract:
    base = call.get(4, "base") or ctx.number(10.0)
    if not isinstance(base, Number):
        wrong(ctx, call, "its `base` is a number")
    of = arith.as_float(ctx, base).value
    exponents = _spaced(ctx, *_ends(ctx, call), _size(ctx, call), _closed(ctx, call))
    return arrays.elementwise(ctx, lambda xs: Number(ctx.b.pow(of, xs[0].value), F64, True), [exponents])


def _geomspace(ctx: Context, call: NumpyCall) -> Abstract:
    """Powers of ten between the logarithms of the ends, which stand as they are; negative where the first end is."""
    b = ctx.b
    low, high = _ends(ctx, call)
    zero, size, closed = b.f64(0.0), _size(ctx, call), _closed(ctx, call)
    some = b.and_(b.fne(low, zero), b.fne(high, zero))
    ctx.guard(some, "ValueError", "Geometric sequence cannot include zero")
    sign = b.sign(low)
    first, end = b.fdiv(low, sign), b.fdiv(high, sign)
    exponents = _spaced(ctx, b.log10(first), b.log10(end), size, closed)
    last = b.isub(size.value, b.i64(1))

    def body(index: list[Value], elements: list[Value]) -> list[Value]:
        value = b.select(b.ieq(index[0], b.i64(0)), first, b.pow(b.f64(10.0), elements[0]))
        if closed:
            at_end = b.and_(b.ieq(index[0], last), b.igt(last, b.i64(0)))
            value = b.select(at_end, end, value)
        return [b.fmul(value, sign)]

    (made,) = b.map_([size.value], [exponents.value], ["elem"], body)
    return ArrayRef(made, F64, (size,))


_OPTIONS = ("start", "stop", "num", "endpoint")
SEQUENCES: dict[str, Row] = {
    "linspace": (2, 4, _OPTIONS, _linspace), "logspace": (2, 5, (*_OPTIONS, "base"), _logspace), "geomspace": (2, 4, _OPTIONS, _geomspace),
}  # fmt: skip
