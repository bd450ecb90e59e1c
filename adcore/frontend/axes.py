"""Reductions: over all of an array, over some of its axes, with the reduced axes kept as axes of size 1.

Over all elements a reduction is one `map`. Over some axes it is a loop over the others around that `map`, or, where the last axis stays,
the parts along the reduced axis are added up whole, so that memory is read in order.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from adcore.frontend import arith, arrays
from adcore.frontend.context import Context
from adcore.frontend.folds import folded
from adcore.frontend.values import ArrayRef, Number
from adcore.ir.core import Value
from adcore.ir.types import BOOL, F64, I64, Scalar

Whole = Callable[[Context, ArrayRef, ast.AST], Number]


def over_axes(
    ctx: Context, array: ArrayRef, axes: Sequence[int], keep: bool, whole: Whole, node: ast.AST, adds: bool,
    kind: Scalar | None = None,
) -> Number | ArrayRef:  # fmt: skip
    """The reduction `whole` over `axes` (ascending); `adds`: it is a sum, whose order is free; `kind`: what its results are."""
    if len(axes) == array.rank and not keep:
        return whole(ctx, array, node)
    if adds and array.rank - 1 not in axes:
        made = array
        for axis in reversed(axes):
            made = arrays.along(ctx, made, axis, node)
    else:
        made = _each(ctx, array, axes, whole, node, kind or result_kind(whole, array))
    return _with_kept(ctx, made, array, axes) if keep else made


def _each(ctx: Context, array: ArrayRef, axes: Sequence[int], whole: Whole, node: ast.AST, kind: Scalar) -> ArrayRef:
    """A loop over the axes that stay; one element of the result for each."""
    stay = [k for k in range(array.rank) if k not in axes]
    if not stay:  # keepdims of everything
        return arrays.from_items(ctx, [whole(ctx, array, node)])
    sizes = tuple(array.sizes[k] for k in stay)
    b = ctx.b
    made: list[ArrayRef] = []

    def nest(level: int, part: ArrayRef, indices: list[Value]) -> None:
        if level == len(stay):
            number = whole(ctx, part, node)
            b.op("store", [made[0].value, *indices, number.value], {}, [])
            return
        axis = stay[level] - level  # the axes before it are gone

        def body(i: Value, _: list[Value]) -> list[Value]:
            rest = part.sizes[:axis] + part.sizes[axis + 1 :]
            inner = ArrayRef(b.index(part.value, i, axis=axis), part.dtype, rest, part.origin, part.name)
            nest(level + 1, inner, [*indices, i])
            return []

        b.for_(b.i64(0), part.sizes[axis].value, b.i64(1), [], body)

    made.append(arrays.allocate(ctx, sizes, kind, None))
    nest(0, array, [])
    return made[0]


def result_kind(whole: Whole, array: ArrayRef) -> Scalar:
    if whole in (any_, all_):
        return BOOL
    if whole is mean:
        return F64
    if whole in (largest, smallest):
        return array.dtype
    return I64 if array.dtype is BOOL else array.dtype


def _with_kept(ctx: Context, made: ArrayRef, array: ArrayRef, axes: Sequence[int]) -> ArrayRef:
    """The result with an axis of size 1 where one was reduced."""
    one = ctx.number(1)
    sizes = tuple(one if k in axes else array.sizes[k] for k in range(array.rank))
    return ArrayRef(ctx.b.reshape(made.value, *arrays.values(sizes)), made.dtype, sizes)


# Over all of an array


def total(ctx: Context, array: ArrayRef, node: ast.AST) -> Number:
    return arrays.total(ctx, array)


def mean(ctx: Context, array: ArrayRef, node: ast.AST) -> Number:
    return arrays.mean(ctx, array)


def prod(ctx: Context, array: ArrayRef, node: ast.AST) -> Number:
    return arrays.product(ctx, array)


def largest(ctx: Context, array: ArrayRef, node: ast.AST) -> Number:
    return _extremum(ctx, array, "max")


def smallest(ctx: Context, array: ArrayRef, node: ast.AST) -> Number:
    return _extremum(ctx, array, "min")


def _extremum(ctx: Context, array: ArrayRef, kind: str) -> Number:
    """Of bools a bool, of ints an int."""
    b = ctx.b
    arrays.require_elements(ctx, array, "maximum" if kind == "max" else "minimum")
    match array.dtype.name:
        case "f64":
            return arrays.reduce(ctx, kind, [array], lambda xs: xs[0], F64)
        case "bool":
            return (any_ if kind == "max" else all_)(ctx, array, ast.Pass())
        case _:
            start = b.load(array.value, *[b.i64(0)] * array.rank)
            return Number(folded(ctx, array, start, lambda best, x: b.emit("i" + kind, [best, x])), I64, True)


def any_(ctx: Context, array: ArrayRef, node: ast.AST) -> Number:
    def one(xs: Sequence[Number]) -> Number:
        return Number(ctx.b.btoi(arith.truth(ctx, xs[0])), I64, True)

    count = arrays.reduce(ctx, "add", [array], one, I64)
    return Number(ctx.b.igt(count.value, ctx.b.i64(0)), BOOL, True)


def all_(ctx: Context, array: ArrayRef, node: ast.AST) -> Number:
    def one(xs: Sequence[Number]) -> Number:
        return Number(ctx.b.btoi(ctx.b.not_(arith.truth(ctx, xs[0]))), I64, True)

    count = arrays.reduce(ctx, "add", [array], one, I64)
    return Number(ctx.b.ieq(count.value, ctx.b.i64(0)), BOOL, True)
