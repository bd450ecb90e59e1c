"""NumPy's reductions: their arguments (`axis`, `keepdims`, `dtype`, `initial`, `where`, `ddof`), and the table that names them.

How a reduction runs over axes is in `axes`; those of more than one step are in `statistics`. What `where` leaves out stands as the identity
of the reduction, so it adds nothing to a value or a derivative.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from adcore.frontend import arith, arrays, axes, statistics
from adcore.frontend.context import Context
from adcore.frontend.numpy_arguments import (
    NumpyCall,
    Row,
    array_argument,
    axes_argument,
    dtype_argument,
    flag_argument,
    kind_of,
    operand,
    refuse,
    wrong,
)
from adcore.frontend.ufunc_rules import chosen
from adcore.frontend.values import Abstract, ArrayRef, NoneValue, Number, TupleOf
from adcore.ir.types import BOOL, F64, I64, Scalar


def run(
    ctx: Context, call: NumpyCall, array: ArrayRef, whole: axes.Whole, adds: bool = False, kind: Scalar | None = None
) -> Number | ArrayRef:
    keep = flag_argument(ctx, call, "keepdims")
    return axes.over_axes(ctx, array, axes_argument(ctx, call, array), keep, whole, call.node, adds, kind)


def _plain(whole: axes.Whole, kind: Scalar | None = None) -> Callable[[Context, NumpyCall], Abstract]:
    return lambda ctx, call: run(ctx, call, array_argument(ctx, call), whole, False, kind)


# Arguments


def _converted(ctx: Context, call: NumpyCall) -> ArrayRef:
    """The array with the `dtype` that is asked for."""
    array = array_argument(ctx, call)
    kind = dtype_argument(ctx, call, 2, array.dtype)
    if kind is BOOL and call.get(2, "dtype") is not None:
        refuse(ctx, call.node, "sums and products of bools are compiled as ints")
    if kind is not F64 and array.dtype is F64:
        refuse(ctx, call.node, "arrays of floats are not converted to integers or bools yet")
    return array if kind is array.dtype else arrays.copy(ctx, array, kind)


def masked(ctx: Context, call: NumpyCall, array: ArrayRef, identity: bool | int | float) -> ArrayRef:
    """The array with the identity where `where` is false."""
    mask = call.keywords.get("where")
    if mask is None or (isinstance(mask, Number) and mask.const is True):
        return array
    given = operand(ctx, call, mask, 0)
    if kind_of(given) is not BOOL:
        wrong(ctx, call, "`where` must be of bools")
    if isinstance(given, ArrayRef) and given.rank > array.rank:
        wrong(ctx, call, f"`where` has {given.rank} dimensions and its array {array.rank}")
    other = ctx.number(identity)
    made = arrays.elementwise(ctx, lambda xs: chosen(ctx, xs[0], xs[1], xs[2], array.dtype), [given, array, other])
    assert isinstance(made, ArrayRef)
    if isinstance(given, ArrayRef):
        arrays.require_sizes(ctx, made.sizes, array.sizes, "the mask is larger than the array")
    return made


def _initial(ctx: Context, call: NumpyCall, array: ArrayRef) -> Number | None:
    value = call.keywords.get("initial")
    if value is None:
        return None
    if not isinstance(value, Number):
        wrong(ctx, call, "`initial` is a number")
    if value.kind is F64 and array.dtype is not F64:
        wrong(ctx, call, "`initial` of a reduction of integers is an int")
    return value


# Reductions


def _sum(ctx: Context, call: NumpyCall) -> Abstract:
    array = _converted(ctx, call)
    initial = _initial(ctx, call, array)
    made: Number | ArrayRef = run(ctx, call, masked(ctx, call, array, 0), axes.total, True)
    if initial is None:
        return made
    return arrays.elementwise(ctx, lambda xs: arith.binary(ctx, "+", xs[0], xs[1], call.node), [initial, made])


def _prod(ctx: Context, call: NumpyCall) -> Abstract:
    array = _converted(ctx, call)
    initial = _initial(ctx, call, array)
    made: Number | ArrayRef = run(ctx, call, masked(ctx, call, array, 1), axes.prod)
    if initial is None:
        return made
    return arrays.elementwise(ctx, lambda xs: arith.binary(ctx, "*", xs[0], xs[1], call.node), [initial, made])


def _mean(ctx: Context, call: NumpyCall) -> Abstract:
    """A sum divided once, so that memory is read in order along any axis."""
    array = _converted(ctx, call)
    if "where" in call.keywords:
        return _mean_where(ctx, call, array)
    over = axes_argument(ctx, call, array)
    if len(over) == array.rank:
        return run(ctx, call, array, axes.mean)
    summed = run(ctx, call, array, axes.total, True)
    count = arrays.count_of(ctx, ArrayRef(array.value, array.dtype, tuple(array.sizes[k] for k in over)))
    return arrays.elementwise(ctx, lambda xs: arith.binary(ctx, "/", xs[0], xs[1], call.node), [summed, count])


def _mean_where(ctx: Context, call: NumpyCall, array: ArrayRef) -> Abstract:
    ones = arrays.filled(ctx, array.sizes, ctx.number(1), I64)
    parts = [run(ctx, call, masked(ctx, call, part, 0), axes.total, True) for part in (array, ones)]
    return arrays.elementwise(ctx, lambda xs: arith.binary(ctx, "/", xs[0], xs[1], call.node), parts)


def _extremum(ctx: Context, call: NumpyCall, largest: bool) -> Abstract:
    array = array_argument(ctx, call)
    initial = _initial(ctx, call, array)
    if "where" in call.keywords and initial is None:
        wrong(ctx, call, "with `where` it needs an `initial`")
    if array.dtype is F64:
        array = masked(ctx, call, array, float("-inf") if largest else float("inf"))
    elif "where" in call.keywords:
        refuse(ctx, call.node, "`where` is compiled for arrays of floats")
    whole = axes.largest if largest else axes.smallest
    return run(
        ctx, call, array, whole if initial is None else statistics.extremum_from(initial, largest), False, array.dtype
    )


def _spread(ctx: Context, call: NumpyCall, root: bool) -> Abstract:
    """`np.var` and `np.std`."""
    ddof = call.get(4, "ddof") or ctx.number(0)
    if not isinstance(ddof, Number):
        wrong(ctx, call, "`ddof` is a number")
    array = array_argument(ctx, call)
    return run(ctx, call, array, statistics.spread(ddof, root), False, F64)


def _logical(ctx: Context, call: NumpyCall, every: bool) -> Abstract:
    array = array_argument(ctx, call)
    if "where" in call.keywords:
        truths = arrays.elementwise(ctx, lambda xs: Number(arith.truth(ctx, xs[0]), BOOL, True), [array])
        assert isinstance(truths, ArrayRef)
        array = masked(ctx, call, truths, every)
    return run(ctx, call, array, axes.all_ if every else axes.any_)


def _count_nonzero(ctx: Context, call: NumpyCall) -> Abstract:
    made = run(ctx, call, array_argument(ctx, call), statistics.count_nonzero, False, I64)
    return Number(made.value, I64, False, None, 0) if isinstance(made, Number) else made


def _ptp(ctx: Context, call: NumpyCall) -> Abstract:
    array = array_argument(ctx, call)
    ends = [run(ctx, call, array, whole, False, array.dtype) for whole in (axes.largest, axes.smallest)]
    return arrays.elementwise(ctx, lambda xs: arith.binary(ctx, "-", xs[0], xs[1], call.node), ends)


def _average(ctx: Context, call: NumpyCall) -> Abstract:
    array, given = array_argument(ctx, call), call.get(2, "weights")
    if given is None or isinstance(given, NoneValue):
        return _mean(ctx, NumpyCall(call.node, "mean", call.args[:2], call.keywords))
    weights = operand(ctx, call, given, 2)
    over = axes_argument(ctx, call, array)
    if not isinstance(weights, ArrayRef) or weights.rank not in (1, array.rank):
        wrong(ctx, call, "its weights are a vector, or have the shape of its array")
    if weights.rank == array.rank:
        named = isinstance(call.get(1, "axis"), Number | TupleOf)
        message = "Shape of weights must be consistent with shape of a along specified axis."
        arrays.require_sizes(ctx, weights.sizes, array.sizes, message, "ValueError" if named else "TypeError")
    elif len(over) != 1:
        wrong(ctx, call, "with a vector of weights it needs one `axis`")
    else:
        message = "Shape of weights must be consistent with shape of a along specified axis."
        arrays.require_sizes(ctx, weights.sizes, (array.sizes[over[0]],), message)
        weights = statistics.along(ctx, weights, over[0], array)
    keep = flag_argument(ctx, call, "keepdims")
    return statistics.average(ctx, array, weights, over, keep, call.node)


_largest, _smallest = partial(_extremum, largest=True), partial(_extremum, largest=False)
_OVER = ("axis", "keepdims")
_TO_MASK = (*_OVER, "initial", "where")
REDUCTIONS: dict[str, Row] = {
    "sum": (1, 3, (*_TO_MASK, "dtype"), _sum), "prod": (1, 3, (*_TO_MASK, "dtype"), _prod), "mean": (1, 3, (*_OVER, "dtype", "where"), _mean),
    "max": (1, 2, _TO_MASK, _largest), "min": (1, 2, _TO_MASK, _smallest),
    "var": (1, 2, (*_OVER, "ddof"), partial(_spread, root=False)), "std": (1, 2, (*_OVER, "ddof"), partial(_spread, root=True)),
    "any": (1, 2, (*_OVER, "where"), partial(_logical, every=False)), "all": (1, 2, (*_OVER, "where"), partial(_logical, every=True)),
}  # fmt: skip

MORE_REDUCTIONS: dict[str, Row] = {
    "amax": REDUCTIONS["max"], "amin": REDUCTIONS["min"], "ptp": (1, 2, _OVER, _ptp), "count_nonzero": (1, 2, _OVER, _count_nonzero),
    "average": (1, 3, (*_OVER, "weights"), _average),
    "nansum": (1, 2, _OVER, _plain(statistics.nansum)), "nanprod": (1, 2, _OVER, _plain(statistics.nanprod)),
    "nanmax": (1, 2, _OVER, _plain(statistics.nan_extremum("max"))), "nanmin": (1, 2, _OVER, _plain(statistics.nan_extremum("min"))),
    "nanmean": (1, 2, _OVER, _plain(statistics.nanmean, F64)),
}  # fmt: skip
