"""Functions given by samples: `np.interp`, `np.trapezoid`, differences along an axis."""

from __future__ import annotations

import ast

from adcore.frontend import arith, arrays, axes
from adcore.frontend.context import Context
from adcore.frontend.gather import nest
from adcore.frontend.indexing import Marker, Sliced, view
from adcore.frontend.shapes import convert
from adcore.frontend.sorting import place
from adcore.frontend.values import ArrayRef, Number
from adcore.ir.core import Value
from adcore.ir.types import F64


def interpolated(
    ctx: Context, x: Number | ArrayRef, xp: ArrayRef, fp: ArrayRef, left: Number | None, right: Number | None
) -> Number | ArrayRef:
    """`np.interp`: at a knot the slope is that of the piece to its right."""
    b = ctx.b
    ctx.guard(b.igt(xp.sizes[0].value, b.i64(0)), "ValueError", "array of sample points is empty")
    arrays.require_sizes(ctx, fp.sizes, xp.sizes, "fp and xp are not of the same length.")
    ends = [None if end is None else convert(b, end, F64) for end in (left, right)]
    if isinstance(x, Number):
        return Number(_sample(ctx, convert(b, x, F64), xp, fp, ends), F64, True)
    made = arrays.allocate(ctx, x.sizes, F64, None)

    def each(at: list[Value]) -> None:
        value = convert(b, Number(b.load(x.value, *at), x.dtype), F64)
        b.op("store", [made.value, *at, _sample(ctx, value, xp, fp, ends)], {}, [])

    nest(ctx, x.sizes, each)
    return made


def _sample(ctx: Context, x: Value, xp: ArrayRef, fp: ArrayRef, ends: list[Value | None]) -> Value:
    b = ctx.b
    last = b.isub(xp.sizes[0].value, b.i64(1))
    before = b.isub(place(ctx, xp, Number(x, F64, True), True), b.i64(1))  # the knot at or before x, or -1

    def knot(array: ArrayRef, k: Value) -> Value:
        return convert(b, Number(b.load(array.value, k), array.dtype), F64)

    low = b.imax(before, b.i64(0))
    high = b.imin(b.iadd(low, b.i64(1)), last)
    x0, x1, f0, f1 = knot(xp, low), knot(xp, high), knot(fp, low), knot(fp, high)
    slope = b.fdiv(b.fsub(f1, f0), b.fsub(x1, x0))
    value = b.fadd(b.fmul(slope, b.fsub(x, x0)), f0)
    # NumPy tries from the right where infinities meet, then takes equal ends
    other = b.fadd(b.fmul(slope, b.fsub(x, x1)), f1)
    other = b.select(b.and_(b.isnan(other), b.feq(f0, f1)), f0, other)
    value = b.select(b.isnan(value), other, value)
    at_knot = b.and_(b.feq(x, x0), b.not_(b.isfinite(slope)))
    value = b.select(b.or_(at_knot, b.ieq(before, last)), f0, value)
    low_end = knot(fp, b.i64(0)) if ends[0] is None else ends[0]
    high_end = knot(fp, last) if ends[1] is None else ends[1]
    value = b.select(b.fgt(x, knot(xp, last)), high_end, value)
    value = b.select(b.ilt(before, b.i64(0)), low_end, value)
    return b.select(b.isnan(x), x, value)


def _ends(ctx: Context, array: ArrayRef, axis: int, node: ast.AST) -> tuple[ArrayRef, ArrayRef]:
    """All but the first and all but the last along an axis."""
    spans = (Sliced(ctx.number(1), None), Sliced(None, ctx.number(-1)))
    later, earlier = (view(ctx, array, [s if k == axis else Sliced() for k in range(array.rank)], node) for s in spans)
    return later, earlier


def differences(ctx: Context, array: ArrayRef, axis: int, times: int, node: ast.AST) -> ArrayRef:
    """`np.diff`."""
    for _ in range(times):
        made = arrays.elementwise(
            ctx, lambda xs: arith.binary(ctx, "-", xs[0], xs[1], node), list(_ends(ctx, array, axis, node))
        )
        assert isinstance(made, ArrayRef)
        array = made
    return array


def trapezoid(ctx: Context, y: ArrayRef, x: ArrayRef | None, dx: Number, axis: int, node: ast.AST) -> Number | ArrayRef:
    """`np.trapezoid`: the sum of dx * (y[1:] + y[:-1]) / 2."""
    b = ctx.b
    steps: Number | ArrayRef = dx
    if x is not None:
        steps = differences(ctx, x, 0 if x.rank == 1 else axis, 1, node)
        if x.rank == 1 and y.rank > 1:
            items: list[Sliced | Marker] = [Sliced(), *[Marker.NEW] * (y.rank - 1 - axis)]
            steps = view(ctx, steps, items, node)
    later, earlier = _ends(ctx, y, axis, node)

    def area(xs: list[Number]) -> Number:
        d, u, v = (convert(b, n, F64) for n in xs)
        return Number(b.fdiv(b.fmul(d, b.fadd(u, v)), b.f64(2.0)), F64, True)

    areas = arrays.elementwise(ctx, lambda xs: area(list(xs)), [steps, later, earlier])
    assert isinstance(areas, ArrayRef)
    return axes.over_axes(ctx, areas, [axis], False, axes.total, node, True)
