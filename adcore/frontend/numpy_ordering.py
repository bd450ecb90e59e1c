"""NumPy's functions about order and samples: sorts, searches, medians, interpolation, integration; their arguments, and the table that names them.

What they do is in `sorting` and `sampling`.
"""

from __future__ import annotations

import ast

from adcore.frontend import arrays, axes, rearrange, sampling, sorting
from adcore.frontend.context import Context
from adcore.frontend.numpy_arguments import (
    NumpyCall,
    Row,
    array_argument,
    axes_argument,
    axis_argument,
    flag_argument,
    int_argument,
    operand,
    refuse,
    wrong,
)
from adcore.frontend.values import NONE, Abstract, ArrayRef, NoneValue, Number, Text
from adcore.ir.types import BOOL, F64

STABLE = ("stable", "mergesort")


def _kind(ctx: Context, call: NumpyCall) -> None:
    """The `kind` of a sort: any, since equal elements cannot be told apart; of `argsort` the stable one, where they can."""
    kind = call.get(2, "kind")
    if not isinstance(kind, None | NoneValue | Text):
        refuse(ctx, call.node, "its `kind` must be a constant string")
    if isinstance(kind, Text) and kind.value not in (*STABLE, "quicksort", "heapsort"):
        wrong(ctx, call, f"there is no `kind` {kind.value!r}")


def _axis(ctx: Context, call: NumpyCall, position: int = 1) -> tuple[ArrayRef, int]:
    """The array and the axis, which is the last one unless another is named; without one (None), of all elements."""
    array, axis = array_argument(ctx, call), call.get(position, "axis")
    if isinstance(axis, NoneValue):
        return rearrange.flat(ctx, array), 0
    return array, axis_argument(ctx, call, position, array.rank, -1)


def _sort(ctx: Context, call: NumpyCall) -> Abstract:
    _kind(ctx, call)
    return sorting.ordered(ctx, *_axis(ctx, call))


def _argsort(ctx: Context, call: NumpyCall) -> Abstract:
    _kind(ctx, call)
    return sorting.order(ctx, *_axis(ctx, call))


def _sort_method(ctx: Context, call: NumpyCall) -> Abstract:
    """`array.sort()` works in place."""
    array = array_argument(ctx, call)
    if isinstance(call.get(1, "axis"), NoneValue):
        wrong(ctx, call, "its `axis` is an int")
    arrays.store_all(ctx, array, _sort(ctx, call), call.node)
    return NONE


def _searchsorted(ctx: Context, call: NumpyCall) -> Abstract:
    array, values = array_argument(ctx, call), operand(ctx, call, call.args[1], 1)
    side = call.get(2, "side") or Text("left")
    if array.rank != 1:
        wrong(ctx, call, "it searches in a vector")
    if not isinstance(side, Text):
        refuse(ctx, call.node, "its `side` must be a constant string")
    if side.value not in ("left", "right"):
        wrong(ctx, call, '`side` is "left" or "right"')
    return sorting.places(ctx, array, values, side.value == "right")


def _median(ctx: Context, call: NumpyCall) -> Abstract:
    array = array_argument(ctx, call)
    over = axes_argument(ctx, call, array)
    keep = flag_argument(ctx, call, "keepdims")
    return axes.over_axes(ctx, array, over, keep, _middle, call.node, False, F64)


def _middle(ctx: Context, array: ArrayRef, node: ast.AST) -> Number:
    return sorting.median(ctx, rearrange.flat(ctx, array))


def _interp(ctx: Context, call: NumpyCall) -> Abstract:
    x = operand(ctx, call, call.args[0], 0)
    xp, fp = array_argument(ctx, call, 1), array_argument(ctx, call, 2)
    if (xp.rank, fp.rank) != (1, 1):
        wrong(ctx, call, "its samples are vectors")
    ends: list[Number | None] = []
    for position, name in ((3, "left"), (4, "right")):
        end = call.get(position, name)
        if not isinstance(end, None | NoneValue | Number):
            wrong(ctx, call, f"`{name}` is a number")
        ends.append(end if isinstance(end, Number) else None)
    return sampling.interpolated(ctx, x, xp, fp, ends[0], ends[1])


def _trapezoid(ctx: Context, call: NumpyCall) -> Abstract:
    y, given = array_argument(ctx, call), call.get(1, "x")
    x = None if isinstance(given, None | NoneValue) else operand(ctx, call, given, 1)
    if isinstance(x, Number) or (x is not None and x.rank not in (1, y.rank)):
        wrong(ctx, call, "its `x` is a vector, or has the shape of its array")
    dx = call.get(2, "dx") or ctx.number(1.0)
    if not isinstance(dx, Number):
        wrong(ctx, call, "its `dx` is a number")
    axis = axis_argument(ctx, call, 3, y.rank, -1)
    return sampling.trapezoid(ctx, y, x, dx, axis, call.node)


def _diff(ctx: Context, call: NumpyCall) -> Abstract:
    array = array_argument(ctx, call)
    times = int_argument(ctx, call, 1, "n", 1).const
    if not isinstance(times, int):
        refuse(ctx, call.node, "its `n` must be a constant")
    if times < 0:
        wrong(ctx, call, f"its order {times} is negative")
    if array.dtype is BOOL:
        wrong(ctx, call, "its array must hold numbers")
    return sampling.differences(ctx, array, axis_argument(ctx, call, 2, array.rank, -1), times, call.node)


ORDERING: dict[str, Row] = {
    "sort": (1, 3, ("axis", "kind"), _sort), "argsort": (1, 3, ("axis", "kind"), _argsort),
    "searchsorted": (2, 3, ("side",), _searchsorted), "median": (1, 2, ("axis", "keepdims"), _median),
    "interp": (3, 5, ("left", "right"), _interp), "trapezoid": (1, 4, ("x", "dx", "axis"), _trapezoid),
    "diff": (1, 3, ("n", "axis"), _diff),
}  # fmt: skip

ORDERING_METHODS: dict[str, Row] = {
    "sort": (1, 3, ("axis", "kind"), _sort_method), "argsort": ORDERING["argsort"], "searchsorted": ORDERING["searchsorted"],
}  # fmt: skip
