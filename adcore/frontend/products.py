"""Products of vectors and matrices: `np.dot`, `@`, `np.inner`, `np.outer`. That of two matrices of floats is an op, the others are loops over dot products."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from adcore.frontend.arith import common_kind
from adcore.frontend.arrays import (
    allocate,
    broadcast_sizes,
    copy,
    elementwise,
    reduce,
    require_sizes,
    same_sizes,
    stretched,
)
from adcore.frontend.context import Context
from adcore.frontend.indexing import Marker, complete, part, transposed, view
from adcore.frontend.shapes import convert
from adcore.frontend.values import ArrayRef, Number
from adcore.ir.core import Value
from adcore.ir.types import BOOL, F64, I64, Scalar


def product(ctx: Context, a: ArrayRef, b: ArrayRef, name: str, node: ast.AST) -> Number | ArrayRef:
    """`a @ b` for vectors and matrices."""
    if name == "inner":
        b = transposed(ctx, b)
    if name == "vdot" and (a.rank, b.rank) != (1, 1):
        ctx.expression(node, "`np.vdot` of matrices", "it is compiled for vectors")
    if max(a.rank, b.rank) > 2:
        if name != "matmul":
            reason = "vectors and matrices are multiplied so far"
            ctx.expression(node, f"`{name}` of an array of {max(a.rank, b.rank)} dimensions", reason)
        if min(a.rank, b.rank) < 2:
            ctx.expression(node, "`@` of a vector and a stack of matrices", "stacks of matrices are multiplied so far")
    inner = 0 if b.rank == 1 else b.rank - 2
    require_sizes(ctx, a.sizes[-1:], b.sizes[inner : inner + 1], f"{name}: the sizes of the inner axes differ")
    if max(a.rank, b.rank) > 2:
        return _batch(ctx, a, b, node)
    match a.rank, b.rank:
        case 1, 1:
            return _dot(ctx, a, b)
        case 2, 1:
            return _each(ctx, a, a.sizes[0], 0, lambda row: _dot(ctx, row, b), product_kind(a, b))
        case 1, 2:
            return _each(ctx, b, b.sizes[1], 1, lambda column: _dot(ctx, a, column), product_kind(a, b))
        case _:
            return _matrices(ctx, a, b)


def _batch(ctx: Context, a: ArrayRef, b: ArrayRef, node: ast.AST) -> ArrayRef:
    """`a @ b` of stacks of matrices: one product for each, leading axes broadcast together."""
    lead = broadcast_sizes(ctx, a.sizes[:-2], b.sizes[:-2])
    kind, at = product_kind(a, b), ctx.b
    tail = (*a.sizes[-2:-1], *(b.sizes[-1:] if b.rank > 1 else ()))
    made = allocate(ctx, (*lead, *tail), kind, None)

    def stretch(array: ArrayRef) -> ArrayRef:
        """With all leading axes; a copy where some repeat, since parts of a repeated array have no derivative of their own."""
        own = array.sizes[:-2]
        if not own or same_sizes(own, lead):
            return array
        sizes = (*lead, *array.sizes[-2:])
        return copy(ctx, ArrayRef(stretched(ctx, array, sizes), array.dtype, sizes))

    a, b = stretch(a), stretch(b)

    def nest(level: int, x: ArrayRef, y: ArrayRef, out: ArrayRef) -> None:
        if level == len(lead):
            one = product(ctx, x, y, "matmul", node)
            assert isinstance(one, ArrayRef)
            at.op("assign", [out.value, one.value], {"mode": "set"}, [])
            return

        def body(i: Value, _: list[Value]) -> list[Value]:
            stacks = [part(ctx, array, i) if array.rank > 2 else array for array in (x, y)]
            nest(level + 1, stacks[0], stacks[1], part(ctx, out, i))
            return []

        at.for_(at.i64(0), lead[level].value, at.i64(1), [], body)

    nest(0, a, b, made)
    return made


def outer(ctx: Context, a: ArrayRef, b: ArrayRef, node: ast.AST) -> ArrayRef:
    """`np.outer` of vectors."""
    if (a.rank, b.rank) != (1, 1):
        ctx.expression(node, "`np.outer` of matrices", "it is compiled for vectors")
    column = view(ctx, a, [*complete(ctx, a, [], node), Marker.NEW], node)
    made = elementwise(ctx, lambda xs: _multiply(ctx, xs, product_kind(a, b)), [column, b])
    assert isinstance(made, ArrayRef)
    return made


def multiplied(ctx: Context, a: Number | ArrayRef, b: Number | ArrayRef) -> Number | ArrayRef:
    """`a * b`, broadcast."""
    return elementwise(
        ctx, lambda xs: _multiply(ctx, xs, I64 if common_kind(*xs) is BOOL else common_kind(*xs)), [a, b]
    )


def product_kind(a: ArrayRef, b: ArrayRef) -> Scalar:
    """The kind of the sums of their products: of bools, an int."""
    kind = common_kind(Number(a.value, a.dtype), Number(b.value, b.dtype))
    return I64 if kind is BOOL else kind


def _multiply(ctx: Context, xs: Sequence[Number], kind: Scalar) -> Number:
    x, y = (convert(ctx.b, n, kind) for n in xs)
    return Number(ctx.b.fmul(x, y) if kind is F64 else ctx.b.imul(x, y), kind, True)


def _dot(ctx: Context, a: ArrayRef, b: ArrayRef) -> Number:
    kind = product_kind(a, b)
    return reduce(ctx, "add", [a, b], lambda xs: _multiply(ctx, xs, kind), kind)


def _each(
    ctx: Context, matrix: ArrayRef, size: Number, axis: int, function: Callable[[ArrayRef], Number], kind: Scalar
) -> ArrayRef:
    """A vector of what `function` makes of each row or column."""
    made = allocate(ctx, (size,), kind, None)
    b = ctx.b

    def body(i: Value, _: list[Value]) -> list[Value]:
        b.op("store", [made.value, i, function(part(ctx, matrix, i, axis)).value])
        return []

    b.for_(b.i64(0), size.value, b.i64(1), [], body)
    return made


def _matrices(ctx: Context, a: ArrayRef, b: ArrayRef) -> ArrayRef:
    """The product of matrices of floats is an op; of others, rows of `a` with columns of `b`, which are made contiguous first."""
    kind, at = product_kind(a, b), ctx.b
    if kind is F64:
        a, b = (matrix if matrix.dtype is F64 else copy(ctx, matrix, F64) for matrix in (a, b))
        sizes = (a.sizes[0], b.sizes[1])
        return ArrayRef(at.matmul(*(n.value for n in sizes), a.value, b.value, zeros=""), F64, sizes)
    columns = copy(ctx, transposed(ctx, b), kind)
    made = allocate(ctx, (a.sizes[0], b.sizes[1]), kind, None)

    def row(i: Value, _: list[Value]) -> list[Value]:
        mine = part(ctx, a, i)

        def element(j: Value, _: list[Value]) -> list[Value]:
            at.op("store", [made.value, i, j, _dot(ctx, mine, part(ctx, columns, j)).value])
            return []

        at.for_(at.i64(0), b.sizes[1].value, at.i64(1), [], element)
        return []

    at.for_(at.i64(0), a.sizes[0].value, at.i64(1), [], row)
    return made
