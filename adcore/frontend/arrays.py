"""Arrays of one dimension: creation, elements, slices, broadcasting, elementwise operations, reductions, stores.

Invariants: every index that reaches a `load` or `store` is in range (guarded here with IndexError); every `map` gets arrays of the
box's size (guarded here with ValueError); a store goes only to memory that the function made or that its caller handed it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from adcore.frontend.arith import as_int, common_kind, int_binary
from adcore.frontend.context import Context
from adcore.frontend.errors import NeedInline, Reject
from adcore.frontend.shapes import convert, size_number
from adcore.frontend.values import Abstract, ArrayRef, Number, Origin, TupleOf, describe
from adcore.ir.core import Value
from adcore.ir.types import BOOL, F64, I64, Scalar

Element = Callable[[Sequence[Number]], Number]


# Sizes


def same_size(a: Number, b: Number) -> bool:
    """The two are equal at every execution."""
    if a.value is b.value or (a.const is not None and a.const == b.const):
        return True
    return a.linear is not None and a.linear == b.linear


def size_of(ctx: Context, array: ArrayRef) -> Number:
    (size,) = array.sizes
    return size


def broadcast_size(ctx: Context, a: Number, b: Number) -> Number:
    """The size of `a` and `b` together; guards that they fit."""
    if same_size(a, b):
        return a
    if isinstance(a.const, int) and isinstance(b.const, int) and 1 not in (a.const, b.const):
        assert ctx.b.span is not None
        reason = f"its arrays have {a.const} and {b.const} elements"
        raise Reject("types/shape", ctx.b.span, subject="the operation", reason=reason)
    if a.const == 1:
        return b
    if b.const == 1:
        return a
    v = ctx.b
    one = v.i64(1)
    fits = v.ieq(a.value, b.value)
    if a.const is None:
        fits = v.or_(fits, v.ieq(a.value, one))
    if b.const is None:
        fits = v.or_(fits, v.ieq(b.value, one))
    ctx.guard(fits, "ValueError", "operands could not be broadcast together")
    if isinstance(a.const, int):
        return a
    if isinstance(b.const, int):
        return b
    return size_number(v.select(v.ieq(a.value, one), b.value, a.value))


def stretched(ctx: Context, array: ArrayRef, size: Number) -> Value:
    """The array as a view of `size` elements."""
    own = size_of(ctx, array)
    return array.value if same_size(own, size) else ctx.b.broadcast(array.value, size.value)


# Elementwise


def elementwise(ctx: Context, function: Element, args: Sequence[Number | ArrayRef]) -> Number | ArrayRef:
    """Apply `function` to scalars, or to every element of broadcast arrays; NumPy's provenance throughout."""
    arrays = [a for a in args if isinstance(a, ArrayRef)]
    if not arrays:
        return function([Number(a.value, a.kind, True, a.const) for a in args if isinstance(a, Number)])
    size = size_of(ctx, arrays[0])
    for array in arrays[1:]:
        size = broadcast_size(ctx, size, size_of(ctx, array))
    kinds: list[Scalar] = []

    def body(_: list[Value], elements: list[Value]) -> list[Value]:
        it = iter(elements)
        numbers = [
            Number(next(it), a.dtype, True) if isinstance(a, ArrayRef) else Number(a.value, a.kind, True, a.const)
            for a in args
        ]
        made = function(numbers)
        kinds.append(made.kind)
        return [made.value]

    views = [stretched(ctx, array, size) for array in arrays]
    (result,) = ctx.b.map_([size.value], views, ["elem"], body)
    return ArrayRef(result, kinds[0], (size,))


def reduce(
    ctx: Context, kind: str, arrays: Sequence[ArrayRef], size: Number, function: Element, result: Scalar
) -> Number:
    """A scalar over the elements of arrays of one size."""

    def body(_: list[Value], elements: list[Value]) -> list[Value]:
        numbers = [Number(v, a.dtype, True) for v, a in zip(elements, arrays, strict=True)]
        return [convert(ctx.b, function(numbers), result)]

    (value,) = ctx.b.map_([size.value], [stretched(ctx, a, size) for a in arrays], [kind], body)
    return Number(value, result, True)


def total(ctx: Context, array: ArrayRef) -> Number:
    kind = I64 if array.dtype is BOOL else array.dtype
    return reduce(ctx, "add", [array], size_of(ctx, array), lambda xs: xs[0], kind)


def mean(ctx: Context, array: ArrayRef) -> Number:
    size = size_of(ctx, array)
    summed = reduce(ctx, "add", [array], size, lambda xs: xs[0], F64)
    return Number(ctx.b.fdiv(summed.value, convert(ctx.b, size, F64)), F64, True)


def product(ctx: Context, array: ArrayRef) -> Number:
    kind = I64 if array.dtype is BOOL else array.dtype
    return reduce(ctx, "mul", [array], size_of(ctx, array), lambda xs: xs[0], kind)


def extremum(ctx: Context, array: ArrayRef, kind: str, node: ast.AST) -> Number:
    if array.dtype is not F64:
        ctx.expression(node, f"`{kind}` of an array of integers", "it is not compiled yet")
    size = size_of(ctx, array)
    if not (size.low is not None and size.low > 0):
        name = "maximum" if kind == "max" else "minimum"
        ctx.guard(
            ctx.b.igt(size.value, ctx.b.i64(0)),
            "ValueError",
            f"zero-size array to reduction operation {name} which has no identity",
        )
    return reduce(ctx, kind, [array], size, lambda xs: xs[0], F64)


def dot(ctx: Context, a: ArrayRef, b: ArrayRef, name: str) -> Number:
    sa, sb = size_of(ctx, a), size_of(ctx, b)
    if not same_size(sa, sb):
        ctx.guard(ctx.b.ieq(sa.value, sb.value), "ValueError", f"{name}: the vectors have different sizes")
    kind = common_kind(Number(a.value, a.dtype), Number(b.value, b.dtype))
    if kind is BOOL:
        kind = I64

    def multiply(xs: Sequence[Number]) -> Number:
        x, y = (convert(ctx.b, n, kind) for n in xs)
        return Number(ctx.b.fmul(x, y) if kind is F64 else ctx.b.imul(x, y), kind, True)

    return reduce(ctx, "add", [a, b], sa, multiply, kind)


# Creation


def length(ctx: Context, value: Abstract, node: ast.AST, what: str) -> Number:
    """A number of elements: an int, or a tuple of one; guarded not to be negative."""
    if isinstance(value, TupleOf) and len(value.items) == 1:
        value = value.items[0]
    if isinstance(value, TupleOf):
        ctx.expression(
            node,
            f"an array of {len(value.items)} dimensions",
            "arrays of one dimension are compiled, others are not yet",
        )
    if not isinstance(value, Number) or value.kind is F64:
        ctx.mismatch(node, what, f"the size is {describe(value, True)}; it must be an int")
    number = as_int(ctx, value)
    if number.low is None or number.low < 0:
        ctx.guard(ctx.b.ige(number.value, ctx.b.i64(0)), "ValueError", "negative dimensions are not allowed")
    linear = number.linear or (number.value, 0)
    return Number(
        number.value,
        I64,
        False,
        number.const,
        max(number.low or 0, 0),
        number.high if number.high is not None else 2**60,
        linear,
    )


def allocate(ctx: Context, size: Number, dtype: Scalar, fill: float | int | bool | None) -> ArrayRef:
    value = ctx.b.alloc(size.value, dtype=dtype, fill=fill)
    return ArrayRef(value, dtype, (size,))


def filled(ctx: Context, size: Number, value: Number, dtype: Scalar) -> ArrayRef:
    """A fresh array of one scalar."""
    scalar = convert(ctx.b, value, dtype)
    (result,) = ctx.b.map_([size.value], [], ["elem"], lambda _i, _e: [scalar])
    return ArrayRef(result, dtype, (size,))


def from_items(ctx: Context, items: Sequence[Number]) -> ArrayRef:
    """`np.array([a, b, c])`."""
    kind = common_kind(*items) if items else F64
    made = allocate(ctx, ctx.number(len(items)), kind, None)
    for k, item in enumerate(items):
        ctx.b.op("store", [made.value, ctx.b.i64(k), convert(ctx.b, item, kind)])
    return made


def copy(ctx: Context, array: ArrayRef, dtype: Scalar | None = None) -> ArrayRef:
    kind = dtype or array.dtype
    made = elementwise(ctx, lambda xs: Number(convert(ctx.b, xs[0], kind), kind, True), [array])
    assert isinstance(made, ArrayRef)
    return made


def concatenate(ctx: Context, arrays: Sequence[ArrayRef]) -> ArrayRef:
    kind = common_kind(*(Number(a.value, a.dtype) for a in arrays))
    size = size_of(ctx, arrays[0])
    for array in arrays[1:]:
        size = int_binary(ctx, "+", size, size_of(ctx, array), True)
    size = Number(size.value, I64, False, size.const, 0, 2**60, size.linear)
    made = allocate(ctx, size, kind, None)
    offset = ctx.b.i64(0)
    for array in arrays:
        own = size_of(ctx, array)
        part = ctx.b.slice(made.value, offset, own.value, ctx.b.i64(1))
        source = array if array.dtype is kind else copy(ctx, array, kind)
        ctx.b.op("assign", [part, source.value], {"mode": "set"}, [])
        offset = ctx.b.iadd(offset, own.value)
    return made


# Elements


def checked_index(ctx: Context, array: ArrayRef, index: Abstract, node: ast.AST) -> Value:
    """The SSA index of an element, counted from the front and guarded."""
    if not isinstance(index, Number) or index.kind is not I64:
        if isinstance(index, ArrayRef):
            what = "a mask" if index.dtype is BOOL else "an array of indices"
            ctx.expression(
                node,
                f"indexing with {what}",
                "arrays are indexed with ints and slices so far",
                "Write a loop over the elements.",
            )
        ctx.mismatch(node, "the index", f"it is {describe(index, True)}; elements are indexed with an int")
    size = size_of(ctx, array)
    b = ctx.b
    zero = b.i64(0)
    value = index.value
    if index.low is None or index.low < 0:
        shifted = b.iadd(value, size.value)
        value = shifted if index.high is not None and index.high < 0 else b.select(b.ilt(value, zero), shifted, value)
        ctx.guard(b.and_(b.ige(value, zero), b.ilt(value, size.value)), "IndexError", "index is out of bounds")
    elif not (index.high is not None and isinstance(size.const, int) and index.high < size.const):
        ctx.guard(b.ilt(value, size.value), "IndexError", "index is out of bounds")
    return value


def load(ctx: Context, array: ArrayRef, index: Abstract, node: ast.AST) -> Number:
    at = checked_index(ctx, array, index, node)
    return Number(ctx.b.load(array.value, at), array.dtype, True)


# Slices


def slice_view(ctx: Context, array: ArrayRef, parts: Sequence[Abstract | None], node: ast.AST) -> ArrayRef:
    """`x[a:b:c]`: clamped as Python's `slice.indices`; a view."""
    low, high, step = (_bound(ctx, part, node) for part in parts)
    size = size_of(ctx, array)
    by = 1 if step is None else step.const
    if not isinstance(by, int):
        ctx.expression(node, "a slice with a step that is computed", "the step must be a constant")
    if by == 0:
        ctx.guard(False, "ValueError", "slice step cannot be zero")
        by = 1
    start, length_ = (_forward if by > 0 else _backward)(ctx, low, high, by, size)
    view = ctx.b.slice(array.value, start, length_.value, ctx.b.i64(by))
    return ArrayRef(view, array.dtype, (length_,), array.origin, array.name)


def _bound(ctx: Context, part: Abstract | None, node: ast.AST) -> Number | None:
    if part is None:
        return None
    if not isinstance(part, Number) or part.kind is F64:
        ctx.mismatch(node, "the slice", f"its bounds must be ints, not {describe(part, True)}")
    return as_int(ctx, part)


def _clamped(ctx: Context, bound: Number, size: Number, lowest: int, highest: Value) -> Value:
    """A bound of a slice counted from the front, between `lowest` and `highest`."""
    b = ctx.b
    value = bound.value
    if bound.low is None or bound.low < 0:
        shifted = b.imax(b.iadd(value, size.value), b.i64(lowest))
        value = (
            shifted if bound.high is not None and bound.high < 0 else b.select(b.ilt(value, b.i64(0)), shifted, value)
        )
    if bound.const == 0 and lowest == 0:
        return b.i64(0)
    if bound.const == -1 and lowest == 0:
        return value
    return b.imin(value, highest)


def _forward(ctx: Context, low: Number | None, high: Number | None, by: int, size: Number) -> tuple[Value, Number]:
    b = ctx.b
    start = b.i64(0) if low is None else _clamped(ctx, low, size, 0, size.value)
    stop = size.value if high is None else _clamped(ctx, high, size, 0, size.value)
    linear = _whole_size(low, high, by, size)
    if low is None or low.const == 0:
        span = stop
    else:
        span = b.imax(b.isub(stop, start), b.i64(0))
    if by > 1:
        span = b.ifloordiv(b.iadd(span, b.i64(by - 1)), b.i64(by))
    return start, size_number(span, linear)


def _whole_size(low: Number | None, high: Number | None, by: int, size: Number) -> tuple[Value, int] | None:
    """`max(n - k, 0)` for `x[a:]`, `x[:-b]` and `x[a:-b]`: such sizes are equal where n and k are."""
    a = 0 if low is None else low.const
    b = 0 if high is None else high.const
    if (
        by != 1
        or not isinstance(a, int)
        or not isinstance(b, int)
        or a < 0
        or (high is not None and b >= 0)
        or size.linear is None
    ):
        return None
    base, k = size.linear
    return base, k + a - b


def _backward(ctx: Context, low: Number | None, high: Number | None, by: int, size: Number) -> tuple[Value, Number]:
    b = ctx.b
    last = b.isub(size.value, b.i64(1))
    start = last if low is None else _clamped(ctx, low, size, -1, last)
    stop = b.i64(-1) if high is None else _clamped(ctx, high, size, -1, last)
    span = size.value if low is None and high is None else b.imax(b.isub(start, stop), b.i64(0))
    linear = size.linear if by == -1 and low is None and high is None else None
    if by < -1:
        span = b.ifloordiv(b.iadd(span, b.i64(-by - 1)), b.i64(-by))
    return start, size_number(span, linear)


# Stores


def require_writable(ctx: Context, array: ArrayRef, node: ast.AST) -> None:
    match array.origin:
        case Origin.FRESH | Origin.PARAMETER:
            return
        case Origin.CALLER:
            raise NeedInline
        case Origin.CONSTANT:
            ctx.statement(
                node,
                f"a store into the constant `{array.name}`",
                "compiled code cannot change the module's variables",
                "Work on a copy of it.",
            )
        case Origin.VIEW:
            ctx.statement(node, "a store into a broadcast view", "it is read-only in NumPy")


def storable(ctx: Context, array: ArrayRef, value: Number, node: ast.AST) -> Value:
    """The SSA value to store; NumPy truncates floats that are stored into an array of integers."""
    if value.kind is F64 and array.dtype is not F64:
        ctx.mismatch(
            node,
            "the store",
            f"the array holds {describe(Number(value.value, array.dtype))}s and the value is a float; write `int(...)` around it or make it an array of floats",
        )
    if array.dtype is BOOL and value.kind is not BOOL:
        ctx.mismatch(node, "the store", "the array holds bools; write `bool(...)` around the value")
    return convert(ctx.b, value, array.dtype)


def store(ctx: Context, array: ArrayRef, index: Abstract, value: Abstract, node: ast.AST) -> None:
    require_writable(ctx, array, node)
    if not isinstance(value, Number):
        ctx.mismatch(node, "the store", f"an element is a number, not {describe(value, True)}")
    at = checked_index(ctx, array, index, node)
    ctx.b.op("store", [array.value, at, storable(ctx, array, value, node)])


def store_all(ctx: Context, view: ArrayRef, value: Abstract, node: ast.AST) -> None:
    """`view[...] = value`."""
    require_writable(ctx, view, node)
    size = size_of(ctx, view)
    match value:
        case Number():
            scalar = storable(ctx, view, value, node)
            source = filled(ctx, size, Number(scalar, view.dtype), view.dtype).value
        case ArrayRef():
            own = size_of(ctx, value)
            if value.dtype is F64 and view.dtype is not F64:
                ctx.mismatch(node, "the store", "an array of integers cannot take floats; make it an array of floats")
            if not same_size(own, size):
                fits = ctx.b.or_(ctx.b.ieq(own.value, size.value), ctx.b.ieq(own.value, ctx.b.i64(1)))
                ctx.guard(fits, "ValueError", "could not broadcast the input array into the slice")
            converted = value if value.dtype is view.dtype else copy(ctx, value, view.dtype)
            source = stretched(ctx, converted, size)
        case _:
            ctx.mismatch(node, "the store", f"a slice takes a number or an array, not {describe(value, True)}")
    ctx.b.op("assign", [view.value, source], {"mode": "set"}, [])
