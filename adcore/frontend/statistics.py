"""Reductions of several steps over all elements of an array: spreads, averages, counts, extrema from a start, and what ignores NaN."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence

from adcore.frontend import arith, arrays, axes
from adcore.frontend.context import Context
from adcore.frontend.folds import folded
from adcore.frontend.gather import nest
from adcore.frontend.indexing import Marker, Sliced, view
from adcore.frontend.shapes import convert
from adcore.frontend.values import ArrayRef, Number
from adcore.ir.core import Value
from adcore.ir.types import F64, I64


def extremum_from(initial: Number, largest: bool) -> axes.Whole:
    """The extremum of the elements and `initial`."""

    def whole(ctx: Context, array: ArrayRef, node: ast.AST) -> Number:
        b = ctx.b
        if array.dtype is F64:
            inner = arrays.reduce(ctx, "max" if largest else "min", [array], lambda xs: xs[0], F64)
            return Number(b.emit("fmax" if largest else "fmin", [inner.value, convert(b, initial, F64)]), F64, True)
        op = "imax" if largest else "imin"
        start = convert(b, initial, I64)
        return Number(
            folded(ctx, array, start, lambda best, x: b.emit(op, [best, convert(b, Number(x, array.dtype), I64)])),
            I64,
            True,
        )

    return whole


def spread(ddof: Number, root: bool) -> axes.Whole:
    """`np.var` or `np.std` with `ddof` fewer degrees of freedom: none left gives NaN or infinity."""

    def whole(ctx: Context, array: ArrayRef, node: ast.AST) -> Number:
        b = ctx.b
        m = arrays.mean(ctx, array)

        def squared(xs: Sequence[Number]) -> Number:
            d = b.fsub(convert(b, xs[0], F64), m.value)
            return Number(b.fmul(d, d), F64, True)

        summed = arrays.reduce(ctx, "add", [array], squared, F64)
        freedom = convert(b, arrays.count_of(ctx, array), F64)
        if ddof.const != 0:
            freedom = b.fmax(b.fsub(freedom, convert(b, ddof, F64)), b.f64(0.0))
        value = b.fdiv(summed.value, freedom)
        return Number(b.root(value) if root else value, F64, True)

    return whole


def count_nonzero(ctx: Context, array: ArrayRef, node: ast.AST) -> Number:
    def one(xs: Sequence[Number]) -> Number:
        return Number(ctx.b.btoi(arith.truth(ctx, xs[0])), I64, True)

    return arrays.reduce(ctx, "add", [array], one, I64)


# Averages


def along(ctx: Context, weights: ArrayRef, axis: int, array: ArrayRef) -> ArrayRef:
    """A vector along one axis, with the shape of the array."""
    items: list[Sliced | Marker] = [Sliced(), *[Marker.NEW] * (array.rank - 1 - axis)]
    spread_out = view(ctx, weights, items, ast.Pass()) if len(items) > 1 else weights
    return ArrayRef(arrays.stretched(ctx, spread_out, array.sizes), weights.dtype, array.sizes)


def average(
    ctx: Context, array: ArrayRef, weights: ArrayRef, over: Sequence[int], keep: bool, node: ast.AST
) -> Number | ArrayRef:
    """`np.average` with weights of the array's shape."""

    def weighted(xs: Sequence[Number]) -> Number:
        return Number(ctx.b.fmul(convert(ctx.b, xs[0], F64), convert(ctx.b, xs[1], F64)), F64, True)

    products = arrays.elementwise(ctx, weighted, [array, weights])
    scale = axes.over_axes(ctx, arrays.copy(ctx, weights, F64), over, keep, axes.total, node, True)
    message = "Weights sum to zero, can't be normalized"
    if isinstance(scale, Number):
        ctx.guard(ctx.b.fne(scale.value, ctx.b.f64(0.0)), "ZeroDivisionError", message)
    else:

        def each(at: list[Value]) -> None:
            ctx.guard(ctx.b.fne(ctx.b.load(scale.value, *at), ctx.b.f64(0.0)), "ZeroDivisionError", message)

        nest(ctx, scale.sizes, each)
    assert isinstance(products, ArrayRef)
    summed = axes.over_axes(ctx, products, over, keep, axes.total, node, True)
    return arrays.elementwise(ctx, lambda xs: arith.binary(ctx, "/", xs[0], xs[1], node), [summed, scale])


# Without NaN


def _replaced(ctx: Context, x: Number, fill: float) -> Number:
    if x.kind is not F64:
        return Number(convert(ctx.b, x, I64), I64, True)
    return Number(ctx.b.select(ctx.b.isnan(x.value), ctx.b.f64(fill), x.value), F64, True)


def _reduced(kind: str, fill: float) -> axes.Whole:
    def whole(ctx: Context, array: ArrayRef, node: ast.AST) -> Number:
        result = F64 if array.dtype is F64 else I64
        return arrays.reduce(ctx, kind, [array], lambda xs: _replaced(ctx, xs[0], fill), result)

    return whole


nansum, nanprod = _reduced("add", 0.0), _reduced("mul", 1.0)


def _numbers(ctx: Context, array: ArrayRef) -> Value:
    """How many elements are not NaN."""

    def one(xs: Sequence[Number]) -> Number:
        good = ctx.b.not_(ctx.b.isnan(convert(ctx.b, xs[0], F64)))
        return Number(ctx.b.btoi(good), I64, True)

    return arrays.reduce(ctx, "add", [array], one, I64).value


def nanmean(ctx: Context, array: ArrayRef, node: ast.AST) -> Number:
    b = ctx.b
    summed = convert(b, nansum(ctx, array, node), F64)
    return Number(b.fdiv(summed, b.itof(_numbers(ctx, array))), F64, True)


def nan_extremum(kind: str) -> axes.Whole:
    """`np.nanmax` and `np.nanmin`: NaN where there is nothing else."""
    other = -math.inf if kind == "max" else math.inf

    def whole(ctx: Context, array: ArrayRef, node: ast.AST) -> Number:
        b = ctx.b
        if array.dtype is not F64:
            return (axes.largest if kind == "max" else axes.smallest)(ctx, array, node)
        name = "fmax" if kind == "max" else "fmin"
        arrays.require_elements(ctx, array, name)
        best = arrays.reduce(ctx, kind, [array], lambda xs: _replaced(ctx, xs[0], other), F64)
        none = b.ieq(_numbers(ctx, array), b.i64(0))
        return Number(b.select(none, b.f64(math.nan), best.value), F64, True)

    return whole
