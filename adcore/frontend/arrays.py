"""Arrays: creation, broadcasting, elementwise operations, reductions, whole-array stores; parts of arrays are in `indexing`.

Invariants: every index that reaches a `load` or `store` is in range (guarded here with IndexError); every `map` gets arrays of the
box's size (guarded here with ValueError); a store goes only to memory that the function made or that its caller handed it.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Sequence
from typing import TypeAlias

from adcore.frontend import fixes, remedies
from adcore.frontend.arith import as_int, common_kind, int_binary
from adcore.frontend.context import Context
from adcore.frontend.errors import NeedInline, Reject
from adcore.frontend.shapes import convert, size_number
from adcore.frontend.values import Abstract, ArrayRef, Number, Origin, TupleOf, describe
from adcore.ir.core import Value
from adcore.ir.types import BOOL, F64, I64, Scalar

Element = Callable[[Sequence[Number]], Number]
LARGEST_RANK = 6
Sizes: TypeAlias = tuple[Number, ...]


# Sizes


def same_size(a: Number, b: Number) -> bool:
    """The two are equal at every execution."""
    if a.value is b.value or (a.const is not None and a.const == b.const):
        return True
    return a.linear is not None and a.linear == b.linear


def length_of(ctx: Context, array: ArrayRef) -> Number:
    """`len(array)`."""
    return array.sizes[0]


def count_of(ctx: Context, array: ArrayRef) -> Number:
    """`array.size`."""
    count = array.sizes[0]
    for size in array.sizes[1:]:
        const = count.const * size.const if isinstance(count.const, int) and isinstance(size.const, int) else None
        low = (count.low or 0) * (size.low or 0)
        count = Number(ctx.b.imul(count.value, size.value), I64, False, const, low, 2**60)
    return count


def same_sizes(a: Sizes, b: Sizes) -> bool:
    return len(a) == len(b) and all(same_size(x, y) for x, y in zip(a, b, strict=True))


def values(sizes: Sizes) -> list[Value]:
    return [size.value for size in sizes]


def broadcast_sizes(ctx: Context, a: Sizes, b: Sizes) -> Sizes:
    """The sizes of `a` and `b` together: aligned at the last axis."""
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    lead = len(longer) - len(shorter)
    return (*longer[:lead], *(broadcast_size(ctx, x, y) for x, y in zip(longer[lead:], shorter, strict=True)))


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


def stretched(ctx: Context, array: ArrayRef, sizes: Sizes) -> Value:
    """The array as a view of these sizes."""
    return array.value if same_sizes(array.sizes, sizes) else ctx.b.broadcast(array.value, *values(sizes))


# Elementwise


def elementwise(ctx: Context, function: Element, args: Sequence[Number | ArrayRef]) -> Number | ArrayRef:
    """Apply `function` to scalars, or to every element of broadcast arrays; NumPy's provenance throughout."""
    arrays = [a for a in args if isinstance(a, ArrayRef)]
    if not arrays:
        return function([Number(a.value, a.kind, True, a.const) for a in args if isinstance(a, Number)])
    sizes = arrays[0].sizes
    for array in arrays[1:]:
        sizes = broadcast_sizes(ctx, sizes, array.sizes)
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

    views = [stretched(ctx, array, sizes) for array in arrays]
    (result,) = ctx.b.map_(values(sizes), views, ["elem"], body)
    return ArrayRef(result, kinds[0], sizes)


def reduce(ctx: Context, kind: str, arrays: Sequence[ArrayRef], function: Element, result: Scalar) -> Number:
    """A scalar over the elements of arrays of the same sizes."""
    sizes = arrays[0].sizes

    def body(_: list[Value], elements: list[Value]) -> list[Value]:
        numbers = [Number(v, a.dtype, True) for v, a in zip(elements, arrays, strict=True)]
        return [convert(ctx.b, function(numbers), result)]

    (value,) = ctx.b.map_(values(sizes), [stretched(ctx, a, sizes) for a in arrays], [kind], body)
    return Number(value, result, True)


def total(ctx: Context, array: ArrayRef) -> Number:
    kind = I64 if array.dtype is BOOL else array.dtype
    return reduce(ctx, "add", [array], lambda xs: xs[0], kind)


def mean(ctx: Context, array: ArrayRef) -> Number:
    summed = reduce(ctx, "add", [array], lambda xs: xs[0], F64)
    return Number(ctx.b.fdiv(summed.value, convert(ctx.b, count_of(ctx, array), F64)), F64, True)


def along(ctx: Context, array: ArrayRef, axis: int, node: ast.AST) -> ArrayRef:
    """`np.sum(array, axis)`: the parts along the axis, added up in order."""
    kind = I64 if array.dtype is BOOL else array.dtype
    rest = array.sizes[:axis] + array.sizes[axis + 1 :]
    made = allocate(ctx, rest, kind, 0.0 if kind is F64 else 0)
    b = ctx.b

    def body(i: Value, _: list[Value]) -> list[Value]:
        part = ArrayRef(b.index(array.value, i, axis=axis), array.dtype, rest)
        added = part if part.dtype is kind else copy(ctx, part, kind)
        b.op("assign", [made.value, added.value], {"mode": "add"}, [])
        return []

    b.for_(b.i64(0), array.sizes[axis].value, b.i64(1), [], body)
    return made


def product(ctx: Context, array: ArrayRef) -> Number:
    kind = I64 if array.dtype is BOOL else array.dtype
    return reduce(ctx, "mul", [array], lambda xs: xs[0], kind)


def require_elements(ctx: Context, array: ArrayRef, name: str) -> None:
    """ValueError of the reduction `name`, which has no value for no elements."""
    size = count_of(ctx, array)
    if not (size.low is not None and size.low > 0):
        message = f"zero-size array to reduction operation {name} which has no identity"
        ctx.guard(ctx.b.igt(size.value, ctx.b.i64(0)), "ValueError", message)


# Creation


def shape_from(ctx: Context, value: Abstract, node: ast.AST, what: str) -> Sizes:
    """The sizes that a creating function is asked for: an int, or a tuple of ints; guarded not to be negative."""
    items = value.items if isinstance(value, TupleOf) else (value,)
    if not 1 <= len(items) <= LARGEST_RANK:
        ctx.expression(
            node, f"an array of {len(items)} dimensions", f"arrays of 1 to {LARGEST_RANK} dimensions are compiled"
        )
    texts: Sequence[ast.AST] = [node] * len(items)
    if isinstance(value, TupleOf) and isinstance(node, ast.Tuple | ast.List) and len(node.elts) == len(items):
        texts = node.elts
    return tuple(_size_from(ctx, item, text, what) for item, text in zip(items, texts, strict=True))


def length(ctx: Context, value: Abstract, node: ast.AST, what: str) -> Number:
    """A number of elements."""
    return _size_from(ctx, value, node, what)


def _size_from(ctx: Context, value: Abstract, node: ast.AST, what: str) -> Number:
    if not isinstance(value, Number) or value.kind is F64:
        reason = f"the size is {describe(value, True)}; it must be an int"
        is_whole = isinstance(node, ast.Call) and f"`{ctx.text(node.func)}`" == what
        made = () if is_whole else fixes.converted(ctx, node, value, I64)
        ctx.mismatch(node, what, reason, remedies.to_int(value), made)
    number = as_int(ctx, value)
    if number.low is None or number.low < 0:
        ctx.guard(ctx.b.ige(number.value, ctx.b.i64(0)), "ValueError", "negative dimensions are not allowed")
    linear = number.linear or (number.value, 0)
    high = number.high if number.high is not None else 2**60
    return Number(number.value, I64, False, number.const, max(number.low or 0, 0), high, linear)


def allocate(ctx: Context, sizes: Sizes, dtype: Scalar, fill: float | int | bool | None) -> ArrayRef:
    return ArrayRef(ctx.b.alloc(*values(sizes), dtype=dtype, fill=fill), dtype, sizes)


def filled(ctx: Context, sizes: Sizes, value: Number, dtype: Scalar) -> ArrayRef:
    """A fresh array of one scalar."""
    scalar = convert(ctx.b, value, dtype)
    (result,) = ctx.b.map_(values(sizes), [], ["elem"], lambda _i, _e: [scalar])
    return ArrayRef(result, dtype, sizes)


def from_items(ctx: Context, items: Sequence[Number]) -> ArrayRef:
    """`np.array([a, b, c])`."""
    kind = common_kind(*items) if items else F64
    made = allocate(ctx, (ctx.number(len(items)),), kind, None)
    for k, item in enumerate(items):
        ctx.b.op("store", [made.value, ctx.b.i64(k), convert(ctx.b, item, kind)])
    return made


def from_rows(ctx: Context, value: TupleOf, node: ast.AST) -> ArrayRef:
    """`np.array` of nested tuples or lists of numbers, and of arrays of one shape."""
    if value.items and all(isinstance(item, ArrayRef) for item in value.items):
        return stacked(ctx, [item for item in value.items if isinstance(item, ArrayRef)])
    shape: list[int] = []
    level: list[Abstract] = [value]
    while level and all(isinstance(item, TupleOf) for item in level):
        lengths = {len(item.items) for item in level if isinstance(item, TupleOf)}
        if len(lengths) != 1 or len(shape) == LARGEST_RANK:
            ctx.mismatch(
                node, "the array", "its rows have different lengths" if len(lengths) != 1 else "it is nested too deeply"
            )
        shape.append(lengths.pop())
        level = [part for item in level if isinstance(item, TupleOf) for part in item.items]
    numbers = [item for item in level if isinstance(item, Number)]
    if len(numbers) != len(level):
        ctx.mismatch(node, "the array", "it takes numbers, or arrays of one shape")
    kind = common_kind(*numbers) if numbers else F64
    made = allocate(ctx, tuple(ctx.number(n) for n in shape), kind, None)
    for place, item in zip(itertools.product(*map(range, shape)), numbers, strict=True):
        ctx.b.op("store", [made.value, *(ctx.b.i64(k) for k in place), convert(ctx.b, item, kind)])
    return made


def stacked(ctx: Context, parts: Sequence[ArrayRef]) -> ArrayRef:
    """A fresh array with a new first axis."""
    kind = common_kind(*(Number(a.value, a.dtype) for a in parts))
    sizes = parts[0].sizes
    made = allocate(ctx, (ctx.number(len(parts)), *sizes), kind, None)
    for k, part in enumerate(parts):
        require_sizes(ctx, part.sizes, sizes, "all input arrays must have the same shape")
        source = part if part.dtype is kind else copy(ctx, part, kind)
        ctx.b.op("assign", [ctx.b.index(made.value, ctx.b.i64(k), axis=0), source.value], {"mode": "set"}, [])
    return made


def require_sizes(ctx: Context, have: Sizes, want: Sizes, message: str, error: str = "ValueError") -> None:
    """An error unless they are equal."""
    if len(have) != len(want):
        ctx.guard(False, error, message)
    for x, y in zip(have, want, strict=False):
        if not same_size(x, y):
            ctx.guard(ctx.b.ieq(x.value, y.value), error, message)


def copy(ctx: Context, array: ArrayRef, dtype: Scalar | None = None) -> ArrayRef:
    kind = dtype or array.dtype
    made = elementwise(ctx, lambda xs: Number(convert(ctx.b, xs[0], kind), kind, True), [array])
    assert isinstance(made, ArrayRef)
    return made


def concatenate(ctx: Context, arrays: Sequence[ArrayRef]) -> ArrayRef:
    kind = common_kind(*(Number(a.value, a.dtype) for a in arrays))
    sizes = arrays[0].sizes
    length = sizes[0]
    for array in arrays[1:]:
        if array.rank != len(sizes):
            ctx.guard(False, "ValueError", "all the input array dimensions must match")
        require_sizes(ctx, array.sizes[1:], sizes[1:], "all the input array dimensions except the first must match")
        length = int_binary(ctx, "+", length, length_of(ctx, array), True)
    length = Number(length.value, I64, False, length.const, 0, 2**60, length.linear)
    made = allocate(ctx, (length, *sizes[1:]), kind, None)
    offset = ctx.b.i64(0)
    zero, one = ctx.b.i64(0), ctx.b.i64(1)
    for array in arrays:
        own = length_of(ctx, array)
        rest = [v for size in sizes[1:] for v in (zero, size.value, one)]
        part = ctx.b.slice(made.value, offset, own.value, one, *rest)
        source = array if array.dtype is kind else copy(ctx, array, kind)
        ctx.b.op("assign", [part, source.value], {"mode": "set"}, [])
        offset = ctx.b.iadd(offset, own.value)
    return made


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
            ctx.statement(
                node, "a store into a read-only view", "NumPy refuses it when it runs", "Work on a copy of it."
            )


def storable(ctx: Context, array: ArrayRef, value: Number, node: ast.AST) -> Value:
    """The SSA value to store; NumPy truncates floats that are stored into an array of integers."""
    if value.kind is F64 and array.dtype is not F64:
        ctx.mismatch(
            node,
            "the store",
            f"the array holds {describe(Number(value.value, array.dtype))}s and the value is a float",
            remedies.to_element(array.dtype),
        )
    if array.dtype is BOOL and value.kind is not BOOL:
        ctx.mismatch(node, "the store", "the array holds bools", remedies.to_element(array.dtype))
    return convert(ctx.b, value, array.dtype)


def store_all(ctx: Context, view: ArrayRef, value: Abstract, node: ast.AST) -> None:
    """`view[...] = value`."""
    require_writable(ctx, view, node)
    match value:
        case Number():
            scalar = storable(ctx, view, value, node)
            source = filled(ctx, view.sizes, Number(scalar, view.dtype), view.dtype).value
        case ArrayRef():
            if value.dtype is F64 and view.dtype is not F64:
                ctx.mismatch(
                    node, "the store", "an array of integers cannot take floats", "Make it an array of floats."
                )
            value = fitted(ctx, value, view.sizes)
            converted = value if value.dtype is view.dtype else copy(ctx, value, view.dtype)
            source = stretched(ctx, converted, view.sizes)
        case _:
            ctx.mismatch(
                node,
                "the store",
                f"a slice takes a number or an array, not {describe(value, True)}",
                remedies.to_number(value),
            )
    ctx.b.op("assign", [view.value, source], {"mode": "set"}, [])


def fitted(ctx: Context, value: ArrayRef, sizes: Sizes) -> ArrayRef:
    """Guards that `value` can be broadcast to `sizes`; leading axes of size 1 are dropped."""
    message = "could not broadcast the input array into the slice"
    while value.rank > len(sizes):
        require_sizes(ctx, value.sizes[:1], (ctx.number(1),), message)
        ctx.guard(ctx.b.igt(value.sizes[0].value, ctx.b.i64(0)), "ValueError", message)
        first = ctx.b.index(value.value, ctx.b.i64(0), axis=0)
        value = ArrayRef(first, value.dtype, value.sizes[1:], value.origin, value.name)
    for own, size in zip(value.sizes, sizes[len(sizes) - value.rank :], strict=True):
        if not same_size(own, size) and own.const != 1:
            fits = ctx.b.or_(ctx.b.ieq(own.value, size.value), ctx.b.ieq(own.value, ctx.b.i64(1)))
            ctx.guard(fits, "ValueError", message)
    return value
