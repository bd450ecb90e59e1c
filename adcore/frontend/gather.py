"""Masks, arrays of indices and lists of indices: loads that copy, and stores element by element in NumPy's order.

The axes that slices and fixed indices stand for are taken care of by a view; what is left are neighbouring axes with arrays of indices, which
are broadcast together, or the axes of one mask. Stores with an index that occurs twice leave the last value, as NumPy's.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from adcore.frontend import arrays, remedies
from adcore.frontend.context import Context
from adcore.frontend.indexing import Item, Marker, Sliced, checked_index, complete, select, store, view
from adcore.frontend.shapes import size_number
from adcore.frontend.values import Abstract, ArrayRef, Number, TupleOf, describe
from adcore.ir.core import Value
from adcore.ir.types import BOOL, F64, I64

NO_INDICES = "arrays used as indices must be of ints or bools"
MAKE_INDICES = "Make it an array of ints from the start."


def is_gathered(items: Sequence[Item]) -> bool:
    """Some item is a mask, or an array or list of indices."""
    return any(isinstance(item, ArrayRef | TupleOf) for item in items)


def load(ctx: Context, array: ArrayRef, items: Sequence[Item], node: ast.AST) -> Number | ArrayRef:
    """`array[items]`."""
    if not is_gathered(items):
        return select(ctx, array, items, node)
    base, index, before = _split(ctx, array, _as_arrays(ctx, items, node), node)
    if index[0].dtype is BOOL:
        return _compressed(ctx, base, index[0], before)
    shape = _shape(ctx, index)
    sizes = (*base.sizes[:before], *shape, *base.sizes[before + len(index) :])
    made = arrays.allocate(ctx, sizes, base.dtype, None)

    def each(at: list[Value]) -> None:
        source = _at(ctx, base, _indices(ctx, base, index, shape, before, at, node), before)
        _move(ctx, _at(ctx, made, at, before), source)

    nest(ctx, shape, each)
    return made


def put(ctx: Context, array: ArrayRef, items: Sequence[Item], value: Abstract, node: ast.AST) -> None:
    """`array[items] = value`."""
    if not is_gathered(items):
        store(ctx, array, items, value, node)
        return
    arrays.require_writable(ctx, array, node)
    if not isinstance(value, Number | ArrayRef):
        ctx.mismatch(
            node, "the store", f"it takes a number or an array, not {describe(value, True)}", remedies.to_number(value)
        )
    kind = value.dtype if isinstance(value, ArrayRef) else value.kind
    if kind is F64 and array.dtype is not F64:
        ctx.mismatch(node, "the store", "an array of integers cannot take floats", "Make it an array of floats.")
    base, index, before = _split(ctx, array, _as_arrays(ctx, items, node), node)
    if index[0].dtype is BOOL:
        _put_masked(ctx, base, index[0], before, value, node)
        return
    shape = _shape(ctx, index)
    sizes = (*base.sizes[:before], *shape, *base.sizes[before + len(index) :])
    source = _source(ctx, value, sizes, base, node)

    def each(at: list[Value]) -> None:
        target = _at(ctx, base, _indices(ctx, base, index, shape, before, at, node), before)
        _move(ctx, target, _at(ctx, source, at, before) if isinstance(source, ArrayRef) else source)

    nest(ctx, shape, each)


def update(
    ctx: Context,
    array: ArrayRef,
    items: Sequence[Item],
    values: Number | ArrayRef | None,
    function: Callable[[Number, Number | None], Number],
    node: ast.AST,
) -> None:
    """`ufunc.at`: each element that is indexed becomes `function` of itself and of the value for it, one after the other."""
    arrays.require_writable(ctx, array, node)
    b = ctx.b

    def change(place: list[Value], at: Value | None) -> None:
        new = None if at is None or values is None else Number(at, kind, True)
        made = function(Number(b.load(array.value, *place), array.dtype, True), new)
        b.op("store", [array.value, *place, arrays.storable(ctx, array, made, node)], {}, [])

    kind = F64 if values is None else values.dtype if isinstance(values, ArrayRef) else values.kind
    index = [item for item in _as_arrays(ctx, items, node) if isinstance(item, ArrayRef)]
    if len(index) != len(items) or len(items) != array.rank or any(item.dtype is BOOL for item in index):
        ctx.expression(node, "these indices", "`at` is compiled for one array of ints for each dimension")
    shape = _shape(ctx, index)
    source: Number | ArrayRef | None = values
    if isinstance(values, ArrayRef):
        whole = arrays.stretched(ctx, arrays.fitted(ctx, values, shape), shape)
        source = arrays.copy(ctx, ArrayRef(whole, values.dtype, shape))

    def each(at: list[Value]) -> None:
        place = _indices(ctx, array, index, shape, 0, at, node)
        if isinstance(source, ArrayRef):
            change(place, b.load(source.value, *at))
        else:
            change(place, None if source is None else source.value)

    nest(ctx, shape, each)


# What is indexed by what


def _as_arrays(ctx: Context, items: Sequence[Item], node: ast.AST) -> list[Item]:
    out: list[Item] = []
    for item in items:
        made: Item = item
        if isinstance(item, TupleOf):
            made = (
                arrays.from_rows(ctx, item, node) if item.items else arrays.allocate(ctx, (ctx.number(0),), I64, None)
            )
        if isinstance(made, ArrayRef) and made.dtype is F64:
            ctx.mismatch(node, "the index", NO_INDICES, MAKE_INDICES)
        out.append(made)
    return out


def _split(ctx: Context, array: ArrayRef, items: list[Item], node: ast.AST) -> tuple[ArrayRef, list[ArrayRef], int]:
    """A view without the slices and fixed indices, the arrays of indices, and how many axes stand before them."""
    items = complete(ctx, array, items, node)
    chosen = [k for k, item in enumerate(items) if not isinstance(item, Sliced | Marker)]
    given = [item for item in items if isinstance(item, ArrayRef)]
    masks = [item for item in given if item.dtype is BOOL]
    if chosen != list(range(chosen[0], chosen[-1] + 1)) or (masks and len(chosen) > 1):
        reason = "indices stand next to each other, and a mask stands alone among slices"
        ctx.expression(node, "this mixture of masks, arrays of indices and slices", reason, "Index in two steps.")
    before = sum(isinstance(item, Sliced | Marker) for item in items[: chosen[0]])
    plain: list[Item] = []
    for item in items:
        if not isinstance(item, ArrayRef):
            plain.append(item)
        else:
            plain += [Sliced()] * (item.rank if item.dtype is BOOL else 1)
    return view(ctx, array, plain, node), given, before


def _shape(ctx: Context, index: Sequence[ArrayRef]) -> arrays.Sizes:
    shape = index[0].sizes
    for other in index[1:]:
        shape = arrays.broadcast_sizes(ctx, shape, other.sizes)
    return shape


def _indices(
    ctx: Context, base: ArrayRef, index: Sequence[ArrayRef], shape: arrays.Sizes, before: int, at: list[Value], node: ast.AST
) -> list[Value]:  # fmt: skip
    """The checked indices that the arrays of indices hold at a place."""
    found = []
    for k, array in enumerate(index):
        number = Number(ctx.b.load(arrays.stretched(ctx, array, shape), *at), I64, True)
        found.append(checked_index(ctx, base, number, node, before + k))
    return found


# Loops and parts


def nest(ctx: Context, shape: arrays.Sizes, each: Callable[[list[Value]], None], done: tuple[Value, ...] = ()) -> None:
    if len(done) == len(shape):
        each(list(done))
        return

    def body(i: Value, _: list[Value]) -> list[Value]:
        nest(ctx, shape, each, (*done, i))
        return []

    ctx.b.for_(ctx.b.i64(0), shape[len(done)].value, ctx.b.i64(1), [], body)


Part = tuple[ArrayRef, list[Value]]
"""An array and indices of an element, or an array of which all is meant and none."""


def _at(ctx: Context, array: ArrayRef, at: Sequence[Value], before: int) -> Part:
    if array.rank == len(at):
        return array, list(at)
    value, sizes = array.value, list(array.sizes)
    for i in at:
        value = ctx.b.index(value, i, axis=before)
        del sizes[before]
    return ArrayRef(value, array.dtype, tuple(sizes), array.origin, array.name), []


def _move(ctx: Context, target: Part, source: Part | Value) -> None:
    array, at = target
    if isinstance(source, Value):
        if at:
            ctx.b.op("store", [array.value, *at, source], {}, [])
            return
        filled = arrays.filled(ctx, array.sizes, Number(source, array.dtype), array.dtype)
        source = filled, []
    if at:
        ctx.b.op("store", [array.value, *at, ctx.b.load(source[0].value, *source[1])], {}, [])
    else:
        ctx.b.op("assign", [array.value, source[0].value], {"mode": "set"}, [])


def _source(
    ctx: Context, value: Number | ArrayRef, sizes: arrays.Sizes, base: ArrayRef, node: ast.AST
) -> ArrayRef | Value:
    """What is stored, of the array's own dtype and the sizes of what is indexed; a copy, since it may share the array's memory."""
    if isinstance(value, Number):
        return arrays.storable(ctx, base, value, node)
    whole = arrays.stretched(ctx, arrays.fitted(ctx, value, sizes), sizes)
    return arrays.copy(ctx, ArrayRef(whole, value.dtype, sizes), base.dtype)


# Masks


def _count(ctx: Context, mask: ArrayRef) -> Number:
    number = arrays.reduce(ctx, "add", [mask], lambda xs: Number(ctx.b.btoi(xs[0].value), I64, True), I64)
    return size_number(number.value)


def _require_mask(ctx: Context, base: ArrayRef, mask: ArrayRef, before: int) -> None:
    for own, size in zip(mask.sizes, base.sizes[before : before + mask.rank], strict=True):
        if not arrays.same_size(own, size):
            ctx.guard(ctx.b.ieq(own.value, size.value), "IndexError", "boolean index did not match indexed array")


def _each_chosen(ctx: Context, mask: ArrayRef, each: Callable[[list[Value], Value], None]) -> None:
    """Runs over the places where the mask is true, with their number so far."""
    b = ctx.b

    def level(done: list[Value], k: Value) -> Value:
        if len(done) == mask.rank:

            def chosen() -> list[Value]:
                each(done, k)
                return [b.iadd(k, b.i64(1))]

            return b.if_(b.load(mask.value, *done), chosen, lambda: [k])[0]
        size = mask.sizes[len(done)].value
        (out,) = b.for_(b.i64(0), size, b.i64(1), [k], lambda i, carried: [level([*done, i], carried[0])])
        return out

    level([], b.i64(0))


def places(ctx: Context, mask: ArrayRef) -> list[ArrayRef]:
    """The indices of what is true, in an array for each axis."""
    made = [arrays.allocate(ctx, (count,), I64, None) for count in [_count(ctx, mask)] for _ in range(mask.rank)]

    def each(at: list[Value], k: Value) -> None:
        for array, i in zip(made, at, strict=True):
            ctx.b.op("store", [array.value, k, i], {}, [])

    _each_chosen(ctx, mask, each)
    return made


def _compressed(ctx: Context, base: ArrayRef, mask: ArrayRef, before: int) -> ArrayRef:
    """`array[mask]`: its chosen parts one after the other."""
    _require_mask(ctx, base, mask, before)
    sizes = (*base.sizes[:before], _count(ctx, mask), *base.sizes[before + mask.rank :])
    made = arrays.allocate(ctx, sizes, base.dtype, None)
    _each_chosen(ctx, mask, lambda at, k: _move(ctx, _at(ctx, made, [k], before), _at(ctx, base, at, before)))
    return made


def _put_masked(
    ctx: Context, base: ArrayRef, mask: ArrayRef, before: int, value: Number | ArrayRef, node: ast.AST
) -> None:
    _require_mask(ctx, base, mask, before)
    if isinstance(value, Number) and mask.rank == base.rank:  # without branches
        scalar = Number(arrays.storable(ctx, base, value, node), base.dtype, True)

        def chosen(xs: Sequence[Number]) -> Number:
            return Number(ctx.b.select(xs[0].value, xs[1].value, xs[2].value), base.dtype, True)

        arrays.store_all(ctx, base, arrays.elementwise(ctx, chosen, [mask, scalar, base]), node)
        return
    sizes = (*base.sizes[:before], _count(ctx, mask), *base.sizes[before + mask.rank :])
    source = _source(ctx, value, sizes, base, node)

    def each(at: list[Value], k: Value) -> None:
        _move(
            ctx, _at(ctx, base, at, before), _at(ctx, source, [k], before) if isinstance(source, ArrayRef) else source
        )

    _each_chosen(ctx, mask, each)
