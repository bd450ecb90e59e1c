"""NumPy's functions about places in arrays: takes, fills, copies into, places where something holds; their arguments and their table."""

from __future__ import annotations

from adcore.frontend import arith, arrays, axes, gather, rearrange
from adcore.frontend.context import Context
from adcore.frontend.indexing import Item, Sliced
from adcore.frontend.numpy_arguments import (
    NumpyCall,
    Row,
    array_argument,
    axis_argument,
    kind_of,
    operand,
    refuse,
    wrong,
)
from adcore.frontend.shapes import size_number
from adcore.frontend.ufunc_rules import chosen
from adcore.frontend.values import NONE, Abstract, ArrayRef, NoneValue, Number, Origin, TupleOf
from adcore.ir.core import Value
from adcore.ir.types import BOOL, F64, I64


def _take(ctx: Context, call: NumpyCall) -> Abstract:
    """The parts at indices along an axis; without one, the elements of all in order."""
    array, axis, index = array_argument(ctx, call), call.get(2, "axis"), call.args[1]
    if axis is None or isinstance(axis, NoneValue):
        return gather.load(ctx, rearrange.flat(ctx, array), [index], call.node)
    at = axis_argument(ctx, call, 2, array.rank, 0)
    items: list[Item] = [*[Sliced()] * at, index]
    made = gather.load(ctx, array, items, call.node)
    return made if isinstance(index, ArrayRef | TupleOf) or isinstance(made, Number) else arrays.copy(ctx, made)


def _take_along_axis(ctx: Context, call: NumpyCall) -> Abstract:
    array, index = array_argument(ctx, call), array_argument(ctx, call, 1)
    if index.dtype is not I64:
        wrong(ctx, call, "its indices must be ints")
    if index.rank != array.rank:
        wrong(ctx, call, "its indices have as many dimensions as its array")
    axis = axis_argument(ctx, call, 2, array.rank, -1)
    others = [tuple(a.sizes[k] for k in range(a.rank) if k != axis) for a in (index, array)]
    arrays.require_sizes(ctx, others[0], others[1], "shape mismatch: indexing arrays could not be broadcast together")
    b, size = ctx.b, array.sizes[axis].value
    checked = arrays.allocate(ctx, index.sizes, I64, None)

    def each(at: list[Value]) -> None:
        k = b.load(index.value, *at)
        k = b.select(b.ilt(k, b.i64(0)), b.iadd(k, size), k)
        ctx.guard(b.and_(b.ige(k, b.i64(0)), b.ilt(k, size)), "IndexError", "index is out of bounds")
        b.op("store", [checked.value, *at, k], {}, [])

    gather.nest(ctx, index.sizes, each)
    return rearrange.taken(ctx, array, checked, axis)


def _nonzero(ctx: Context, call: NumpyCall) -> Abstract:
    """The indices of what is true, in an array for each axis."""
    array = array_argument(ctx, call)
    truths = arrays.elementwise(ctx, lambda xs: Number(arith.truth(ctx, xs[0]), BOOL, True), [array])
    assert isinstance(truths, ArrayRef)
    found = gather.places(ctx, truths)
    return found[0] if call.name == "flatnonzero" else TupleOf(tuple(found))


def _flatnonzero(ctx: Context, call: NumpyCall) -> Abstract:
    flat = rearrange.flat(ctx, array_argument(ctx, call))
    return _nonzero(ctx, NumpyCall(call.node, call.name, [flat], {}))


def _where(ctx: Context, call: NumpyCall) -> Abstract:
    """`np.where` of three operands chooses; of one it is `np.nonzero`."""
    if len(call.args) == 1:
        return _nonzero(ctx, call)
    if len(call.args) == 2:
        wrong(ctx, call, "it takes one condition, or a condition and two choices")
    c, x, y = (operand(ctx, call, arg, k) for k, arg in enumerate(call.args))
    kind = kind_of(x, y)
    return arrays.elementwise(ctx, lambda xs: chosen(ctx, xs[0], xs[1], xs[2], kind), [c, x, y])


# Stores


def _writable(ctx: Context, call: NumpyCall) -> ArrayRef:
    array = call.args[0]
    if not isinstance(array, ArrayRef):
        wrong(ctx, call, "it changes an array")
    return array


def _copyto(ctx: Context, call: NumpyCall) -> Abstract:
    array, value, mask = _writable(ctx, call), operand(ctx, call, call.args[1], 1), call.get(3, "where")
    if mask is not None:
        given = operand(ctx, call, mask, 3)
        if kind_of(given) is not BOOL:
            wrong(ctx, call, "`where` must be of bools")
        if kind_of(value) is F64 and array.dtype is not F64:
            wrong(ctx, call, "an array of integers cannot take floats")
        value = arrays.elementwise(ctx, lambda xs: chosen(ctx, xs[0], xs[1], xs[2], array.dtype), [given, value, array])
    arrays.store_all(ctx, array, value, call.node)
    return NONE


def _fill_diagonal(ctx: Context, call: NumpyCall) -> Abstract:
    array, value = _writable(ctx, call), call.args[1]
    if array.rank != 2 or not isinstance(value, Number):
        refuse(ctx, call.node, "it is compiled for matrices and a number")
    on = rearrange.diagonal(ctx, array, ctx.number(0))
    arrays.store_all(ctx, ArrayRef(on.value, on.dtype, on.sizes, array.origin, array.name), value, call.node)
    return NONE


# Shapes


def _broadcast_to(ctx: Context, call: NumpyCall) -> Abstract:
    """A read-only view."""
    array = array_argument(ctx, call)
    sizes = arrays.shape_from(ctx, call.args[1], call.text_of(1, "shape"), f"`{ctx.text(call.node.func)}`")
    if len(sizes) < array.rank:
        wrong(ctx, call, f"its array has {array.rank} dimensions and the shape {len(sizes)}")
    for own, size in zip(array.sizes, sizes[len(sizes) - array.rank :], strict=True):
        if not arrays.same_size(own, size) and own.const != 1:
            fits = ctx.b.or_(ctx.b.ieq(own.value, size.value), ctx.b.ieq(own.value, ctx.b.i64(1)))
            ctx.guard(fits, "ValueError", "operands could not be broadcast together")
    sizes = tuple(size_number(size.value, size.linear) for size in sizes)
    return ArrayRef(arrays.stretched(ctx, array, sizes), array.dtype, sizes, Origin.VIEW)


def _array_equal(ctx: Context, call: NumpyCall) -> Abstract:
    a, b = array_argument(ctx, call), array_argument(ctx, call, 1)
    if a.rank != b.rank:
        return ctx.number(False)
    at = ctx.b
    fits = at.const(True)
    for x, y in zip(a.sizes, b.sizes, strict=True):
        fits = at.and_(fits, at.ieq(x.value, y.value))

    def compared() -> list[Value]:
        other = ArrayRef(b.value, b.dtype, a.sizes)
        same = arrays.elementwise(ctx, lambda xs: arith.compare(ctx, "eq", xs[0], xs[1]), [a, other])
        assert isinstance(same, ArrayRef)
        return [axes.all_(ctx, same, call.node).value]

    (value,) = at.if_(fits, compared, lambda: [at.const(False)])
    return Number(value, BOOL, False)


def _ndim(ctx: Context, call: NumpyCall) -> Abstract:
    value = operand(ctx, call, call.args[0], 0)
    return ctx.number(value.rank if isinstance(value, ArrayRef) else 0)


PLACES: dict[str, Row] = {
    "take": (2, 3, ("axis",), _take), "take_along_axis": (2, 3, ("axis",), _take_along_axis), "nonzero": (1, 1, (), _nonzero),
    "flatnonzero": (1, 1, (), _flatnonzero), "where": (1, 3, (), _where), "copyto": (2, 2, ("where",), _copyto),
    "fill_diagonal": (2, 2, (), _fill_diagonal), "broadcast_to": (2, 2, (), _broadcast_to), "array_equal": (2, 2, (), _array_equal),
    "ndim": (1, 1, (), _ndim),
}  # fmt: skip

PLACE_METHODS: dict[str, Row] = {"take": PLACES["take"], "nonzero": PLACES["nonzero"]}
