"""NumPy's functions that rearrange: their arguments, and the table that names them; what they do is in `rearrange`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial

from adcore.frontend import arrays, axes, rearrange
from adcore.frontend.context import Context
from adcore.frontend.indexing import transposed
from adcore.frontend.numpy_arguments import (
    NumpyCall,
    Row,
    array_argument,
    axes_argument,
    axis_argument,
    constant_axes,
    dtype_argument,
    flag_argument,
    int_argument,
    numbers,
    operand,
    refuse,
    wrong,
)
from adcore.frontend.values import NONE, Abstract, ArrayRef, NoneValue, Number, TupleOf
from adcore.ir.types import F64, I64


def _matrix(ctx: Context, call: NumpyCall) -> ArrayRef:
    array = array_argument(ctx, call)
    if array.rank != 2:
        ctx.expression(call.node, f"`{ctx.text(call.node.func)}` of this array", "it is compiled for matrices")
    return array


# Orders


def _flip(ctx: Context, call: NumpyCall) -> Abstract:
    array = array_argument(ctx, call)
    fixed = {"flipud": [0], "fliplr": [1]}
    if call.name == "fliplr" and array.rank < 2:
        wrong(ctx, call, "its array must have two dimensions")
    return rearrange.flip(ctx, array, fixed.get(call.name) or axes_argument(ctx, call, array), call.node)


def _roll(ctx: Context, call: NumpyCall) -> Abstract:
    array, axis, given = array_argument(ctx, call), call.get(2, "axis"), call.get(1, "shift")
    shifts = numbers(ctx, call, given.items if isinstance(given, TupleOf) else [given or NONE])
    if any(shift.kind is not I64 for shift in shifts):
        wrong(ctx, call, "`shift` must be an int")
    if axis is None or isinstance(axis, NoneValue):
        made = rearrange.flat(ctx, array)
        for shift in shifts:
            made = rearrange.roll(ctx, made, shift, 0)
        return made if array.rank == 1 else rearrange.reshaped(ctx, made, array.sizes)
    over = constant_axes(ctx, call, axis, array.rank, True)
    if 1 not in (len(shifts), len(over)) and len(shifts) != len(over):
        wrong(ctx, call, "`shift` and `axis` are two tuples of one length")
    many = max(len(shifts), len(over))
    for shift, k in zip(shifts * (many // len(shifts)), over * (many // len(over)), strict=True):
        array = rearrange.roll(ctx, array, shift, k)
    return array


def _transpose(ctx: Context, call: NumpyCall) -> Abstract:
    array = array_argument(ctx, call)
    asked = call.args[1:] or ([call.keywords["axes"]] if "axes" in call.keywords else [])
    if len(asked) == 1 and isinstance(asked[0], TupleOf):
        asked = asked[0].items
    if not asked or isinstance(asked[0], NoneValue):
        return transposed(ctx, array)
    axes = [n.const for n in numbers(ctx, call, asked)]
    if not all(isinstance(a, int) for a in axes) or sorted(int(a) % array.rank for a in axes if a is not None) != list(
        range(array.rank)
    ):
        refuse(ctx, call.node, "the axes must be a constant permutation")
    return rearrange.permuted(ctx, array, [int(a) % array.rank for a in axes if a is not None])


def _swapaxes(ctx: Context, call: NumpyCall) -> Abstract:
    array = array_argument(ctx, call)
    one, other = (axis_argument(ctx, call, k, array.rank, 0, f"axis{k}") for k in (1, 2))
    order = list(range(array.rank))
    order[one], order[other] = other, one
    return rearrange.permuted(ctx, array, order)


def _moveaxis(ctx: Context, call: NumpyCall) -> Abstract:
    array = array_argument(ctx, call)
    given = [call.get(1, "source"), call.get(2, "destination")]
    sources, targets = (constant_axes(ctx, call, value or NONE, array.rank) for value in given)
    if len(sources) != len(targets):
        wrong(ctx, call, "its sources and destinations are equally many")
    order = [k for k in range(array.rank) if k not in sources]
    for target, source in sorted(zip(targets, sources, strict=True)):
        order.insert(target, source)
    return rearrange.permuted(ctx, array, order)


def _expand_dims(ctx: Context, call: NumpyCall) -> Abstract:
    array = array_argument(ctx, call)
    if array.rank == arrays.LARGEST_RANK:
        refuse(ctx, call.node, f"arrays have at most {arrays.LARGEST_RANK} dimensions")
    return rearrange.expanded(ctx, array, axis_argument(ctx, call, 1, array.rank + 1, 0), call.node)


def _squeeze(ctx: Context, call: NumpyCall) -> Abstract:
    array = array_argument(ctx, call)
    if call.get(1, "axis") is None:
        refuse(ctx, call.node, "which axes have size 1 is known only when it runs; name the `axis`")
    axes = axes_argument(ctx, call, array)
    if len(axes) == array.rank:
        refuse(ctx, call.node, "an array without dimensions is not compiled; index it")
    return rearrange.squeezed(ctx, array, axes)


# Triangles and diagonals


def _triangle(upper: bool) -> Callable[[Context, NumpyCall], Abstract]:
    def run(ctx: Context, call: NumpyCall) -> Abstract:
        array = array_argument(ctx, call)
        if array.rank == 1:
            ctx.expression(call.node, f"`{ctx.text(call.node.func)}` of this array", "it is compiled for matrices")
        return rearrange.triangle(ctx, array, int_argument(ctx, call, 1, "k", 0), upper)

    return run


def _eye(ctx: Context, call: NumpyCall) -> Abstract:
    rows = arrays.length(ctx, int_argument(ctx, call, 0, "N", 0), call.text_of(0, "N"), "`np.eye`")
    given = call.get(1, "M") if call.name == "eye" else None
    columns = (
        rows
        if given is None or isinstance(given, NoneValue)
        else arrays.length(ctx, given, call.text_of(1, "M"), "`np.eye`")
    )
    k = int_argument(ctx, call, 2, "k", 0) if call.name == "eye" else ctx.number(0)
    return rearrange.eye(ctx, rows, columns, k, dtype_argument(ctx, call, 3 if call.name == "eye" else 1, F64))


def _diag(ctx: Context, call: NumpyCall) -> Abstract:
    array, k = array_argument(ctx, call), int_argument(ctx, call, 1, "k", 0)
    if array.rank == 1:
        return rearrange.diagonal_matrix(ctx, array, k)
    return rearrange.diagonal(ctx, _matrix(ctx, call), k)


def _diagonal(ctx: Context, call: NumpyCall) -> Abstract:
    array, offset = array_argument(ctx, call), int_argument(ctx, call, 1, "offset", 0)
    if array.rank < 2:
        wrong(ctx, call, "its array must have two dimensions")
    one, other = (axis_argument(ctx, call, 2 + k, array.rank, k, f"axis{k + 1}") for k in (0, 1))
    if one == other:
        wrong(ctx, call, "`axis1` and `axis2` cannot be the same")
    made = rearrange.diagonal(ctx, array, offset, (one, other))
    if call.name == "diagonal":
        return made
    return axes.over_axes(ctx, made, [made.rank - 1], False, axes.total, call.node, True)


# Several into one


def _parts(ctx: Context, call: NumpyCall) -> list[ArrayRef]:
    parts = call.args[0] if call.args else None
    if isinstance(parts, ArrayRef) or not isinstance(parts, TupleOf) or not parts.items:
        wrong(ctx, call, "it takes a tuple or list of arrays")
    operands = [operand(ctx, call, item, 0) for item in parts.items]
    if call.name == "concatenate" and any(isinstance(o, Number) for o in operands):
        wrong(ctx, call, "it takes arrays, not numbers; write `np.array([...])` around them")
    return [o if isinstance(o, ArrayRef) else arrays.from_items(ctx, [o]) for o in operands]


def _joined(ctx: Context, call: NumpyCall, parts: list[ArrayRef], axis: int) -> Abstract:
    if len({part.rank for part in parts}) > 1:
        ctx.mismatch(call.node, f"`{ctx.text(call.node.func)}`", "its arrays differ in their number of dimensions")
    return rearrange.joined(ctx, parts, axis)


def _concatenate(ctx: Context, call: NumpyCall) -> Abstract:
    parts = _parts(ctx, call)
    if isinstance(call.get(1, "axis"), NoneValue):
        return _joined(ctx, call, [rearrange.flat(ctx, part) for part in parts], 0)
    return _joined(ctx, call, parts, axis_argument(ctx, call, 1, parts[0].rank, 0))


def _hstack(ctx: Context, call: NumpyCall) -> Abstract:
    parts = _parts(ctx, call)
    return _joined(ctx, call, parts, 0 if parts[0].rank == 1 else 1)


def _rows(ctx: Context, call: NumpyCall, axis: int) -> Abstract:
    """Vectors count as rows or columns of a matrix."""
    parts = [rearrange.expanded(ctx, p, axis, call.node) if p.rank == 1 else p for p in _parts(ctx, call)]
    return _joined(ctx, call, parts, axis)


def _stack(ctx: Context, call: NumpyCall) -> Abstract:
    parts = _parts(ctx, call)
    if len({part.rank for part in parts}) > 1:
        ctx.guard(False, "ValueError", "all input arrays must have the same shape")
        return parts[0]
    return rearrange.stacked(ctx, parts, axis_argument(ctx, call, 1, parts[0].rank + 1, 0), call.node)


# Along a vector


def _running(ctx: Context, call: NumpyCall) -> Abstract:
    """`np.cumsum` and `np.cumprod`; without an axis, of all elements in order."""
    array, axis = array_argument(ctx, call), call.get(1, "axis")
    if axis is None or isinstance(axis, NoneValue):
        return rearrange.running(ctx, rearrange.flat(ctx, array), 0, call.name.removeprefix("cum"))
    return rearrange.running(ctx, array, axis_argument(ctx, call, 1, array.rank, 0), call.name.removeprefix("cum"))


def _place(largest: bool) -> Callable[[Context, NumpyCall], Abstract]:
    def whole(ctx: Context, array: ArrayRef, node: ast.AST) -> Number:
        return rearrange.place_of_extremum(ctx, rearrange.flat(ctx, array), largest)

    def place(ctx: Context, call: NumpyCall) -> Abstract:
        array, axis = array_argument(ctx, call), call.get(1, "axis")
        everything = axis is None or isinstance(axis, NoneValue)
        over = list(range(array.rank)) if everything else [axis_argument(ctx, call, 1, array.rank, 0)]
        return axes.over_axes(ctx, array, over, flag_argument(ctx, call, "keepdims"), whole, call.node, False, I64)

    return place


def _count(ctx: Context, call: NumpyCall, count: Abstract | None, name: str) -> Number:
    """How often: an int, guarded not to be negative."""
    if not isinstance(count, Number) or count.kind is not I64:
        refuse(ctx, call.node, f"its `{name}` must be an int")
    if count.low is None or count.low < 0:
        ctx.guard(ctx.b.ige(count.value, ctx.b.i64(0)), "ValueError", "repeats may not contain negative values.")
    return count


def _room(ctx: Context, call: NumpyCall, array: ArrayRef) -> None:
    if array.rank == arrays.LARGEST_RANK:
        refuse(ctx, call.node, f"it is compiled for arrays of up to {arrays.LARGEST_RANK - 1} dimensions")


def _repeat(ctx: Context, call: NumpyCall) -> Abstract:
    array, axis = array_argument(ctx, call), call.get(2, "axis")
    count = _count(ctx, call, call.get(1, "repeats"), "repeats")
    if axis is None or isinstance(axis, NoneValue):
        return rearrange.repeated(ctx, rearrange.flat(ctx, array), count, 0, True)
    _room(ctx, call, array)
    return rearrange.repeated(ctx, array, count, axis_argument(ctx, call, 2, array.rank, 0), True)


def _tile(ctx: Context, call: NumpyCall) -> Abstract:
    """Copies side by side along the last axes; the array has new axes in front, if there are more counts."""
    array, given = array_argument(ctx, call), call.get(1, "reps")
    counts = [_count(ctx, call, n, "reps") for n in (given.items if isinstance(given, TupleOf) else [given])]
    if len(counts) > arrays.LARGEST_RANK:
        refuse(ctx, call.node, f"arrays have at most {arrays.LARGEST_RANK} dimensions")
    for _ in range(len(counts) - array.rank):
        array = rearrange.expanded(ctx, array, 0, call.node)
    tiled = array
    for axis, count in enumerate(counts, array.rank - len(counts)):
        if count.const != 1:
            _room(ctx, call, array)
            tiled = rearrange.repeated(ctx, tiled, count, axis, False)
    return arrays.copy(ctx, array) if tiled is array else tiled


_TRANSPOSES: dict[str, Row] = {"transpose": (1, 7, ("axes",), _transpose), "swapaxes": (3, 3, (), _swapaxes)}

SHAPING: dict[str, Row] = {
    **_TRANSPOSES, "moveaxis": (3, 3, ("source", "destination"), _moveaxis),
    "flip": (1, 2, ("axis",), _flip), "flipud": (1, 1, (), _flip), "fliplr": (1, 1, (), _flip), "roll": (2, 3, ("shift", "axis"), _roll),
    "expand_dims": (2, 2, ("axis",), _expand_dims), "squeeze": (1, 2, ("axis",), _squeeze),
    "triu": (1, 2, ("k",), _triangle(True)), "tril": (1, 2, ("k",), _triangle(False)),
    "eye": (1, 4, ("N", "M", "k", "dtype"), _eye), "identity": (1, 2, ("dtype",), _eye),
    "diag": (1, 2, ("k",), _diag), "diagonal": (1, 4, ("offset", "axis1", "axis2"), _diagonal), "trace": (1, 4, ("offset", "axis1", "axis2"), _diagonal),
    "concatenate": (1, 2, ("axis",), _concatenate), "hstack": (1, 1, (), _hstack), "stack": (1, 2, ("axis",), _stack),
    "vstack": (1, 1, (), partial(_rows, axis=0)), "column_stack": (1, 1, (), partial(_rows, axis=1)),
    "cumsum": (1, 2, ("axis",), _running), "cumprod": (1, 2, ("axis",), _running),
    "argmax": (1, 2, ("axis", "keepdims"), _place(True)), "argmin": (1, 2, ("axis", "keepdims"), _place(False)),
    "repeat": (2, 3, ("repeats", "axis"), _repeat), "tile": (2, 2, ("reps",), _tile),
}  # fmt: skip

SHAPING_METHODS: dict[str, Row] = {
    **_TRANSPOSES, "squeeze": SHAPING["squeeze"], "diagonal": SHAPING["diagonal"], "trace": SHAPING["trace"],
    "cumsum": SHAPING["cumsum"], "cumprod": SHAPING["cumprod"], "argmax": SHAPING["argmax"], "argmin": SHAPING["argmin"],
    "repeat": SHAPING["repeat"],
}  # fmt: skip
