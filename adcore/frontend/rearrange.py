"""NumPy's functions that put elements elsewhere: flips, rolls, triangles, diagonals, stacks, running sums, repetitions, orders of axes.

Each is a view, copies of parts into a fresh array, or a loop over elements: their derivatives are those of loads and stores.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from adcore.frontend import arith, arrays
from adcore.frontend.context import Context
from adcore.frontend.indexing import Marker, Sliced, part, view
from adcore.frontend.shapes import convert, size_number
from adcore.frontend.values import ArrayRef, Number, Origin
from adcore.ir.core import Value
from adcore.ir.types import BOOL, F64, I64, Scalar

ZERO: dict[Scalar, float | int | bool] = {F64: 0.0, I64: 0, BOOL: False}


def _zero(ctx: Context, kind: Scalar) -> Value:
    return ctx.b.const(ZERO[kind], kind)


def assign(ctx: Context, target: ArrayRef, source: ArrayRef) -> None:
    same = source if source.dtype is target.dtype else arrays.copy(ctx, source, target.dtype)
    ctx.b.op("assign", [target.value, same.value], {"mode": "set"}, [])


def piece(ctx: Context, array: ArrayRef, axis: int, start: Value, size: Number) -> ArrayRef:
    """`size` parts along an axis from `start` on: in range by construction."""
    b = ctx.b
    numbers = [
        v
        for k, own in enumerate(array.sizes)
        for v in ((start, size.value, b.i64(1)) if k == axis else (b.i64(0), own.value, b.i64(1)))
    ]
    sizes = (*array.sizes[:axis], size, *array.sizes[axis + 1 :])
    return ArrayRef(b.slice(array.value, *numbers), array.dtype, sizes, array.origin, array.name)


# Orders


def flip(ctx: Context, array: ArrayRef, axes: Sequence[int], node: ast.AST) -> ArrayRef:
    """`np.flip`: a view."""
    back = Sliced(None, None, ctx.number(-1))
    return view(ctx, array, [back if k in axes else Sliced() for k in range(array.rank)], node)


def roll(ctx: Context, array: ArrayRef, shift: Number, axis: int) -> ArrayRef:
    """`np.roll` along an axis: the end comes to the front."""
    b = ctx.b
    made = arrays.allocate(ctx, array.sizes, array.dtype, None)
    size = array.sizes[axis].value
    k = b.imod(shift.value, b.imax(size, b.i64(1)))
    front, rest = size_number(k), size_number(b.isub(size, k))
    for target, source, n in ((k, b.i64(0), rest), (b.i64(0), rest.value, front)):
        assign(ctx, piece(ctx, made, axis, target, n), piece(ctx, array, axis, source, n))
    return made


def permuted(ctx: Context, array: ArrayRef, axes: Sequence[int]) -> ArrayRef:
    """The view whose axis k is `axes[k]` of the array."""
    if tuple(axes) == tuple(range(array.rank)):
        return array
    sizes = tuple(array.sizes[k] for k in axes)
    return ArrayRef(ctx.b.permute(array.value, axes=tuple(axes)), array.dtype, sizes, array.origin, array.name)


def flat(ctx: Context, array: ArrayRef) -> ArrayRef:
    """A vector of all elements, in a copy where there is more than one axis."""
    if array.rank == 1:
        return array
    made, size = arrays.copy(ctx, array), arrays.count_of(ctx, array)
    return ArrayRef(ctx.b.reshape(made.value, size.value), array.dtype, (size,))


def lanes(ctx: Context, of: Sequence[ArrayRef], axis: int, each: Callable[[list[ArrayRef]], None]) -> None:
    """`each` gets the vectors along `axis` of arrays that have the same other axes, for each place on those."""

    def level(views: list[ArrayRef]) -> None:
        if views[0].rank == 1:
            each(views)
            return

        def body(i: Value, _: list[Value]) -> list[Value]:
            level([part(ctx, view, i) for view in views])
            return []

        ctx.b.for_(ctx.b.i64(0), views[0].sizes[0].value, ctx.b.i64(1), [], body)

    level([permuted(ctx, array, [*(k for k in range(array.rank) if k != axis), axis]) for array in of])


def reshaped(ctx: Context, array: ArrayRef, sizes: arrays.Sizes) -> ArrayRef:
    """The elements of a contiguous array in another shape of as many."""
    return ArrayRef(
        ctx.b.reshape(array.value, *arrays.values(sizes)), array.dtype, tuple(sizes), array.origin, array.name
    )


def expanded(ctx: Context, array: ArrayRef, axis: int, node: ast.AST) -> ArrayRef:
    """`np.expand_dims`: a view with a new axis."""
    items: list[Sliced | Marker] = [Sliced() for _ in range(array.rank)]
    items.insert(axis, Marker.NEW)
    return view(ctx, array, items, node)


def squeezed(ctx: Context, array: ArrayRef, axes: Sequence[int]) -> ArrayRef:
    """`np.squeeze`: a view without these axes, whose size is guarded to be 1."""
    for axis in sorted(axes, reverse=True):
        one = ctx.b.ieq(array.sizes[axis].value, ctx.b.i64(1))
        ctx.guard(one, "ValueError", "cannot select an axis to squeeze out which has size not equal to one")
        array = part(ctx, array, ctx.b.i64(0), axis)
    return array


# Triangles and diagonals


def triangle(ctx: Context, array: ArrayRef, k: Number, upper: bool) -> ArrayRef:
    """`np.triu` and `np.tril` of the last two axes: zeros on the other side of diagonal k."""
    b = ctx.b

    def body(index: list[Value], elements: list[Value]) -> list[Value]:
        diagonal = b.iadd(index[-2], k.value)
        inside = b.ige(index[-1], diagonal) if upper else b.ile(index[-1], diagonal)
        return [b.select(inside, elements[0], _zero(ctx, array.dtype))]

    (value,) = b.map_(arrays.values(array.sizes), [array.value], ["elem"], body)
    return ArrayRef(value, array.dtype, array.sizes)


def eye(ctx: Context, rows: Number, columns: Number, k: Number, kind: Scalar) -> ArrayRef:
    """`np.eye`: ones on diagonal k."""
    b = ctx.b
    one = ctx.number(1)

    def body(index: list[Value], _: list[Value]) -> list[Value]:
        on = b.ieq(index[1], b.iadd(index[0], k.value))
        return [b.select(on, convert(b, one, kind), _zero(ctx, kind)) if kind is not BOOL else on]

    (value,) = b.map_([rows.value, columns.value], [], ["elem"], body)
    return ArrayRef(value, kind, (rows, columns))


def diagonal(ctx: Context, array: ArrayRef, k: Number, axes: tuple[int, int] = (0, 1)) -> ArrayRef:
    """`np.diagonal`: a read-only view of diagonal k of two axes, as the last axis."""
    b = ctx.b
    zero, one = b.i64(0), b.i64(1)
    array = permuted(ctx, array, [*(a for a in range(array.rank) if a not in axes), *axes])
    row = b.imax(b.isub(zero, k.value), zero)
    column = b.imax(k.value, zero)
    rows, columns = (size.value for size in array.sizes[-2:])
    count = size_number(b.imax(b.imin(b.isub(rows, row), b.isub(columns, column)), zero))
    if k.const == 0 and arrays.same_size(*array.sizes[-2:]):
        return ArrayRef(b.diagonal(array.value), array.dtype, array.sizes[:-1], Origin.VIEW)
    lead = [v for size in array.sizes[:-2] for v in (zero, size.value, one)]
    square = b.slice(array.value, *lead, row, count.value, one, column, count.value, one)
    return ArrayRef(b.diagonal(square), array.dtype, (*array.sizes[:-2], count), Origin.VIEW)


def diagonal_matrix(ctx: Context, array: ArrayRef, k: Number) -> ArrayRef:
    """`np.diag` of a vector: it on diagonal k of a matrix of zeros."""
    b = ctx.b
    zero = b.i64(0)
    row = b.imax(b.isub(zero, k.value), zero)
    column = b.imax(k.value, zero)
    size = size_number(b.iadd(array.sizes[0].value, b.imax(row, column)))
    made = arrays.allocate(ctx, (size, size), array.dtype, ZERO[array.dtype])

    def body(i: Value, _: list[Value]) -> list[Value]:
        b.op("store", [made.value, b.iadd(row, i), b.iadd(column, i), b.load(array.value, i)], {}, [])
        return []

    b.for_(zero, array.sizes[0].value, b.i64(1), [], body)
    return made


# Several into one


def joined(ctx: Context, parts: Sequence[ArrayRef], axis: int) -> ArrayRef:
    """`np.concatenate` along an axis."""
    kind = arith.common_kind(*(Number(a.value, a.dtype) for a in parts))
    first = parts[0].sizes
    b = ctx.b
    length = first[axis].value
    for array in parts[1:]:
        message = "all the input array dimensions except for the concatenation axis must match exactly"
        others = [sizes[:axis] + sizes[axis + 1 :] for sizes in (array.sizes, first)]
        arrays.require_sizes(ctx, others[0], others[1], message)
        length = b.iadd(length, array.sizes[axis].value)
    sizes = (*first[:axis], size_number(length), *first[axis + 1 :])
    made = arrays.allocate(ctx, sizes, kind, None)
    offset = b.i64(0)
    for array in parts:
        assign(ctx, piece(ctx, made, axis, offset, array.sizes[axis]), array)
        offset = b.iadd(offset, array.sizes[axis].value)
    return made


def stacked(ctx: Context, parts: Sequence[ArrayRef], axis: int, node: ast.AST) -> ArrayRef:
    """`np.stack`: along a new axis."""
    for other in parts[1:]:
        arrays.require_sizes(ctx, other.sizes, parts[0].sizes, "all input arrays must have the same shape")
    return joined(ctx, [expanded(ctx, array, axis, node) for array in parts], axis)


# Along an axis


def running(ctx: Context, array: ArrayRef, axis: int, kind: str) -> ArrayRef:
    """Along an axis, all elements so far together: their sum, their prod, their max or min."""
    b = ctx.b
    dtype = I64 if array.dtype is BOOL else array.dtype
    real = dtype is F64
    names = {"sum": ("fadd", "iadd"), "prod": ("fmul", "imul"), "max": ("fmax", "imax"), "min": ("fmin", "imin")}
    op = names[kind][0 if real else 1]
    first = 1 if kind == "prod" else 0
    made = arrays.allocate(ctx, array.sizes, dtype, None)

    def lane(views: list[ArrayRef]) -> None:
        source, target = views

        def body(i: Value, carried: list[Value]) -> list[Value]:
            item = convert(b, Number(b.load(source.value, i), source.dtype), dtype)
            so_far = b.emit(op, [carried[0], item])
            if kind in ("max", "min"):
                so_far = b.select(b.ieq(i, b.i64(0)), item, so_far)
            b.op("store", [target.value, i, so_far], {}, [])
            return [so_far]

        start = b.f64(float(first)) if real else b.i64(first)
        b.for_(b.i64(0), source.sizes[0].value, b.i64(1), [start], body)

    lanes(ctx, [array, made], axis, lane)
    return made


def taken(ctx: Context, array: ArrayRef, places: ArrayRef, axis: int) -> ArrayRef:
    """`np.take_along_axis` for places that are in range."""
    b = ctx.b
    made = arrays.allocate(ctx, places.sizes, array.dtype, None)

    def lane(views: list[ArrayRef]) -> None:
        source, at, target = views

        def body(i: Value, _: list[Value]) -> list[Value]:
            b.op("store", [target.value, i, b.load(source.value, b.load(at.value, i))], {}, [])
            return []

        b.for_(b.i64(0), at.sizes[0].value, b.i64(1), [], body)

    lanes(ctx, [array, places, made], axis, lane)
    return made


def place_of_extremum(ctx: Context, array: ArrayRef, largest: bool) -> Number:
    """`np.argmax` and `np.argmin` of a vector: the first of equals; the first NaN counts as both."""
    b = ctx.b
    name = "argmax" if largest else "argmin"
    count = array.sizes[0].value
    ctx.guard(b.igt(count, b.i64(0)), "ValueError", f"attempt to get {name} of an empty sequence")

    def better(v: Value, best: Value) -> Value:
        if array.dtype is not F64:
            x, y = (convert(b, Number(n, array.dtype), I64) for n in (v, best))
            return b.igt(x, y) if largest else b.ilt(x, y)
        beats = b.fgt(v, best) if largest else b.flt(v, best)
        return b.and_(b.or_(beats, b.fne(v, v)), b.feq(best, best))

    def body(i: Value, carried: list[Value]) -> list[Value]:
        v = b.load(array.value, i)
        wins = better(v, carried[1])
        return [b.select(wins, i, carried[0]), b.select(wins, v, carried[1])]

    first = b.load(array.value, b.i64(0))
    place, _ = b.for_(b.i64(1), count, b.i64(1), [b.i64(0), first], body)
    return Number(place, I64, True, None, 0, arrays.length_of(ctx, array).high)


def repeated(ctx: Context, array: ArrayRef, count: Number, axis: int, each: bool) -> ArrayRef:
    """`np.repeat` (each part along the axis `count` times) and `np.tile` (all of it)."""
    b = ctx.b
    n = array.sizes[axis]
    place = axis + 1 if each else axis
    spread = expanded(ctx, array, place, ast.Pass())
    sizes = (*spread.sizes[:place], count, *spread.sizes[place + 1 :])
    made = arrays.allocate(ctx, sizes, array.dtype, None)
    assign(ctx, made, ArrayRef(arrays.stretched(ctx, spread, sizes), array.dtype, sizes))
    whole = (*array.sizes[:axis], size_number(b.imul(n.value, count.value)), *array.sizes[axis + 1 :])
    return ArrayRef(b.reshape(made.value, *arrays.values(whole)), array.dtype, whole)
