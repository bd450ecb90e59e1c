"""NumPy's functions that build an array from the elements of others: `pad`, `kron`, `cross`, `select`, grids, rotations, views of a least rank."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from adcore.frontend import arith, arrays, rearrange
from adcore.frontend.context import Context
from adcore.frontend.gather import nest
from adcore.frontend.indexing import Marker, Sliced, part, view
from adcore.frontend.products import multiplied, product_kind
from adcore.frontend.shapes import size_number
from adcore.frontend.ufunc_rules import chosen
from adcore.frontend.values import ArrayRef, Number
from adcore.ir.core import Value
from adcore.ir.types import Scalar

# Padding


def padded(
    ctx: Context, array: ArrayRef, widths: Sequence[tuple[Number, Number]], fills: Sequence[tuple[Number, Number]]
) -> ArrayRef:
    """`np.pad(mode="constant")`: one axis after the other, so that corners take the value of the last."""
    for axis, ((before, after), ends) in enumerate(zip(widths, fills, strict=True)):
        b = ctx.b
        own = array.sizes[axis]
        size = size_number(b.iadd(b.iadd(before.value, own.value), after.value))
        sizes = (*array.sizes[:axis], size, *array.sizes[axis + 1 :])
        made = arrays.allocate(ctx, sizes, array.dtype, None)
        starts = (b.i64(0), b.iadd(before.value, own.value))
        for start, width, end in zip(starts, (before, after), ends, strict=True):
            piece = rearrange.piece(ctx, made, axis, start, size_number(width.value))
            rearrange.assign(ctx, piece, arrays.filled(ctx, piece.sizes, end, array.dtype))
        rearrange.assign(ctx, rearrange.piece(ctx, made, axis, before.value, own), array)
        array = made
    return array


def extended(ctx: Context, array: ArrayRef, widths: Sequence[tuple[Number, Number]], mode: str) -> ArrayRef:
    """`np.pad` with modes that repeat parts of the array: "edge", "wrap", "reflect", "symmetric"."""
    for axis, (before, after) in enumerate(widths):
        array = _extended(ctx, array, axis, before.value, after.value, mode)
    return array


def _extended(ctx: Context, array: ArrayRef, axis: int, before: Value, after: Value, mode: str) -> ArrayRef:
    b = ctx.b
    n = array.sizes[axis].value
    added = b.iadd(before, after)
    some = b.or_(b.igt(n, b.i64(0)), b.ieq(added, b.i64(0)))
    message = f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'"
    ctx.guard(some, "ValueError", message)
    size = size_number(b.iadd(n, added))
    made = arrays.allocate(ctx, (*array.sizes[:axis], size, *array.sizes[axis + 1 :]), array.dtype, None)

    def body(k: Value, _: list[Value]) -> list[Value]:
        source = _source(ctx, b.isub(k, before), n, mode)
        if array.rank == 1:
            b.op("store", [made.value, k, b.load(array.value, source)], {}, [])
        else:
            rearrange.assign(ctx, part(ctx, made, k, axis), part(ctx, array, source, axis))
        return []

    b.for_(b.i64(0), size.value, b.i64(1), [], body)
    return made


def _source(ctx: Context, k: Value, n: Value, mode: str) -> Value:
    """The index that place k, which may be outside, is a copy of."""
    b = ctx.b
    one, last = b.i64(1), b.isub(n, b.i64(1))
    match mode:
        case "edge":
            return b.imax(b.imin(k, last), b.i64(0))
        case "wrap":
            return b.imod(k, n)
        case "symmetric":
            period = b.imul(n, b.i64(2))
            k = b.imod(k, period)
            return b.imin(k, b.isub(b.isub(period, one), k))
        case _:  # reflect
            period = b.imax(b.imul(last, b.i64(2)), one)
            k = b.imod(k, period)
            return b.imin(k, b.isub(period, k))


# Products


def kron(ctx: Context, a: ArrayRef, b: ArrayRef, node: ast.AST) -> ArrayRef:
    """`np.kron`: a block for every element of `a`, which is that element times `b`."""
    rank = max(a.rank, b.rank)
    a, b = (_with_rank(ctx, array, rank, node) for array in (a, b))
    at = ctx.b
    sizes = tuple(size_number(at.imul(x.value, y.value)) for x, y in zip(a.sizes, b.sizes, strict=True))
    made = arrays.allocate(ctx, sizes, product_kind(a, b), None)

    def each(index: list[Value]) -> None:
        block = made
        for axis, (i, size) in enumerate(zip(index, b.sizes, strict=True)):
            block = rearrange.piece(ctx, block, axis, at.imul(i, size.value), size)
        element = Number(at.load(a.value, *index), a.dtype, True)
        product = multiplied(ctx, element, b)
        assert isinstance(product, ArrayRef)
        rearrange.assign(ctx, block, product)

    nest(ctx, a.sizes, each)
    return made


def _with_rank(ctx: Context, array: ArrayRef, rank: int, node: ast.AST) -> ArrayRef:
    if array.rank == rank:
        return array
    return view(ctx, array, [*[Marker.NEW] * (rank - array.rank), *[Sliced()] * array.rank], node)


def cross(ctx: Context, a: ArrayRef, b: ArrayRef, node: ast.AST) -> ArrayRef:
    """`np.cross` of vectors of three, along the last axes."""
    three = (ctx.number(3),)
    for array in (a, b):
        arrays.require_sizes(
            ctx, array.sizes[-1:], three, "incompatible vector dimensions for cross product: it is compiled for 3"
        )
    lead = arrays.broadcast_sizes(ctx, a.sizes[:-1], b.sizes[:-1])
    kind = arith.common_kind(Number(a.value, a.dtype), Number(b.value, b.dtype))
    made = arrays.allocate(ctx, (*lead, *three), kind, None)
    at = ctx.b

    def component(array: ArrayRef, k: int) -> Number | ArrayRef:
        if array.rank == 1:
            return Number(at.load(array.value, at.i64(k)), array.dtype, True)
        return part(ctx, array, at.i64(k), array.rank - 1)

    def one(xs: Sequence[Number]) -> Number:
        products = [arith.binary(ctx, "*", xs[k], xs[k + 1], node) for k in (0, 2)]
        return arith.binary(ctx, "-", products[0], products[1], node)

    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        value = arrays.elementwise(ctx, one, [component(a, i), component(b, j), component(a, j), component(b, i)])
        if isinstance(value, Number):
            at.op("store", [made.value, at.i64(k), value.value], {}, [])
        else:
            at.op("assign", [part(ctx, made, at.i64(k), made.rank - 1).value, value.value], {"mode": "set"}, [])
    return made


# Choices


def select(
    ctx: Context,
    conditions: Sequence[Number | ArrayRef],
    choices: Sequence[Number | ArrayRef],
    default: Number | ArrayRef,
    kind: Scalar,
) -> Number | ArrayRef:
    """`np.select`: the choice of the first condition that holds."""

    def one(xs: Sequence[Number]) -> Number:
        n = len(conditions)
        made = xs[-1]
        for condition, choice in zip(reversed(xs[:n]), reversed(xs[n : 2 * n]), strict=True):
            made = chosen(ctx, condition, choice, made, kind)
        return made

    return arrays.elementwise(ctx, one, [*conditions, *choices, default])


# Ranks, grids, rotations


def at_least(ctx: Context, value: Number | ArrayRef, rank: int, node: ast.AST) -> ArrayRef:
    """`np.atleast_1d` and its sisters: a view with new axes."""
    array = value if isinstance(value, ArrayRef) else arrays.from_items(ctx, [value])
    if isinstance(value, Number) or array.rank >= rank:
        return array if array.rank >= rank else _with_rank(ctx, array, rank, node)
    if rank == 2:
        return _with_rank(ctx, array, 2, node)
    items: list[Sliced | Marker] = (
        [Marker.NEW, Sliced(), Marker.NEW] if array.rank == 1 else [Sliced(), Sliced(), Marker.NEW]
    )
    return view(ctx, array, items, node)


def grid(ctx: Context, vectors: Sequence[ArrayRef], swapped: bool, sparse: bool, node: ast.AST) -> list[ArrayRef]:
    """`np.meshgrid`: copies of vectors along the axes of a grid, the first two swapped or not."""
    rank = len(vectors)
    axes = list(range(rank))
    if swapped and rank > 1:
        axes[:2] = [1, 0]
    sizes = tuple(vectors[axes.index(k)].sizes[0] for k in range(rank))
    made = []
    for vector, axis in zip(vectors, axes, strict=True):
        items: list[Sliced | Marker] = [Sliced() if k == axis else Marker.NEW for k in range(rank)]
        spread = view(ctx, vector, items, node) if rank > 1 else vector
        if not sparse:
            spread = ArrayRef(arrays.stretched(ctx, spread, sizes), vector.dtype, sizes)
        made.append(arrays.copy(ctx, spread))
    return made


def rotated(ctx: Context, array: ArrayRef, k: int, axes: tuple[int, int], node: ast.AST) -> ArrayRef:
    """`np.rot90`: a view, turned from the first axis towards the second."""
    order = list(range(array.rank))
    order[axes[0]], order[axes[1]] = axes[1], axes[0]
    match k % 4:
        case 0:
            return array
        case 1:
            return rearrange.permuted(ctx, rearrange.flip(ctx, array, axes[1:], node), order)
        case 2:
            return rearrange.flip(ctx, array, axes, node)
        case _:
            return rearrange.flip(ctx, rearrange.permuted(ctx, array, order), axes[1:], node)
