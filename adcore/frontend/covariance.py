"""`np.cov` and `np.corrcoef`, by the formulas of NumPy: the product of the centred variables with themselves, scaled by the degrees of freedom.

NumPy gives a number where there is one variable, an array else. A vector is one variable; how many rows a matrix has is known only when
it comes, so a matrix of one row is an error at run time.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from adcore.frontend import arith, arrays, axes, rearrange
from adcore.frontend.context import Context
from adcore.frontend.library import clip
from adcore.frontend.numpy_arguments import NumpyCall, Row, array_argument, flag_argument, operand, refuse, wrong
from adcore.frontend.products import product
from adcore.frontend.shapes import convert
from adcore.frontend.values import Abstract, ArrayRef, NoneValue, Number
from adcore.ir.types import F64, I64

ONE_ROW = "`{}` of a matrix with one row is a number in NumPy; adcore compiles it as a matrix"


def _rows(ctx: Context, array: ArrayRef, by_rows: bool, node: ast.AST) -> ArrayRef:
    """A matrix of floats whose rows are the variables."""
    if array.rank == 1:
        return arrays.copy(ctx, rearrange.expanded(ctx, array, 0, node), F64)
    return arrays.copy(ctx, array if by_rows else rearrange.permuted(ctx, array, (1, 0)), F64)


def _variables(ctx: Context, call: NumpyCall) -> tuple[ArrayRef, bool]:
    """All variables as rows, and whether there is only one."""
    first, other = array_argument(ctx, call), call.get(1, "y")
    given = [first]
    if other is not None and not isinstance(other, NoneValue):
        second = operand(ctx, call, other, 1)
        if not isinstance(second, ArrayRef):
            wrong(ctx, call, "it takes arrays")
        given.append(second)
    by_rows = flag_argument(ctx, call, "rowvar", True)
    if any(array.rank > 2 for array in given):
        wrong(ctx, call, "its arrays have one or two dimensions")
    if len(given) > 1 and given[1].rank > 1 and not by_rows:
        refuse(ctx, call.node, "`rowvar=False` with a second matrix is not compiled; transpose both")
    rows = [_rows(ctx, array, by_rows, call.node) for array in given]
    if len(rows) > 1:
        message = "all the input array dimensions except for the concatenation axis must match exactly"
        arrays.require_sizes(ctx, rows[0].sizes[1:], rows[1].sizes[1:], message)
        return rearrange.joined(ctx, rows, 0), False
    return rows[0], first.rank == 1 or rows[0].sizes[0].const == 1


def _column(ctx: Context, vector: ArrayRef, node: ast.AST) -> ArrayRef:
    return rearrange.expanded(ctx, vector, 1, node)


def _combined(ctx: Context, op: str, left: Number | ArrayRef, right: Number | ArrayRef, node: ast.AST) -> ArrayRef:
    made = arrays.elementwise(ctx, lambda xs: arith.binary(ctx, op, xs[0], xs[1], node), [left, right])
    assert isinstance(made, ArrayRef)
    return made


def _matrix(ctx: Context, call: NumpyCall, rows: ArrayRef, freedom: Number) -> ArrayRef:
    """The covariances of the rows; `freedom` is taken off their length."""
    b, node = ctx.b, call.node
    length = convert(b, rows.sizes[1], F64)
    summed = axes.over_axes(ctx, rows, (1,), False, axes.total, node, True)
    mean = _combined(ctx, "/", summed, Number(length, F64, True), node)
    centred = _combined(ctx, "-", rows, _column(ctx, mean, node), node)
    products = product(ctx, centred, rearrange.permuted(ctx, centred, (1, 0)), "matmul", node)
    left = b.fmax(b.fsub(length, convert(b, freedom, F64)), b.f64(0.0))
    assert isinstance(products, ArrayRef)
    return _combined(ctx, "*", products, Number(b.fdiv(b.f64(1.0), left), F64, True), node)


def _cov(ctx: Context, call: NumpyCall) -> Abstract:
    rows, single = _variables(ctx, call)
    freedom = call.keywords.get("ddof")
    if freedom is None or isinstance(freedom, NoneValue):
        freedom = ctx.number(0 if flag_argument(ctx, call, "bias") else 1)
    if not isinstance(freedom, Number) or freedom.kind is not I64:
        wrong(ctx, call, "`ddof` is an int")
    made = _matrix(ctx, call, rows, freedom)
    return _number(ctx, made) if single else _of_several(ctx, call, made)


def _corrcoef(ctx: Context, call: NumpyCall) -> Abstract:
    rows, single = _variables(ctx, call)
    made = _matrix(ctx, call, rows, ctx.number(1))
    if single:
        value = _number(ctx, made).value
        return Number(ctx.b.fdiv(value, value), F64, True)
    variances = arrays.copy(ctx, rearrange.diagonal(ctx, made, ctx.number(0)))
    deviations = arrays.elementwise(ctx, lambda xs: Number(ctx.b.root(xs[0].value), F64, True), [variances])
    assert isinstance(deviations, ArrayRef)
    made = _combined(ctx, "/", made, _column(ctx, deviations, call.node), call.node)
    made = _combined(ctx, "/", made, deviations, call.node)

    def bounded(xs: Sequence[Number]) -> Number:
        return clip(ctx, [xs[0], ctx.number(-1.0), ctx.number(1.0)])

    clipped = arrays.elementwise(ctx, bounded, [made])
    assert isinstance(clipped, ArrayRef)
    return _of_several(ctx, call, clipped)


def _number(ctx: Context, matrix: ArrayRef) -> Number:
    zero = ctx.b.i64(0)
    return Number(ctx.b.load(matrix.value, zero, zero), F64, True)


def _of_several(ctx: Context, call: NumpyCall, matrix: ArrayRef) -> ArrayRef:
    several = ctx.b.ine(matrix.sizes[0].value, ctx.b.i64(1))
    ctx.guard(several, "ValueError", ONE_ROW.format(ctx.text(call.node.func)))
    return matrix


COVARIANCE: dict[str, Row] = {
    "cov": (1, 2, ("y", "rowvar", "bias", "ddof"), _cov), "corrcoef": (1, 2, ("y", "rowvar"), _corrcoef),
}  # fmt: skip
