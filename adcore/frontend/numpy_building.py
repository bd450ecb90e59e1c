"""NumPy's functions that combine arrays by labelled axes or place by place: their arguments, and the table that names them.

What they do is in `einsum` and `assembly`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from adcore.frontend import arith, arrays, assembly, einsum, rearrange
from adcore.frontend.context import Context
from adcore.frontend.indexing import Sliced, view
from adcore.frontend.numpy_arguments import (
    NumpyCall,
    Row,
    array_argument,
    axis_argument,
    constant_axes,
    flag_argument,
    int_argument,
    kind_of,
    operand,
    refuse,
    wrong,
)
from adcore.frontend.products import multiplied
from adcore.frontend.values import Abstract, ArrayRef, NoneValue, Number, Text, TupleOf, describe
from adcore.ir.types import BOOL, F64, I64

# Labelled axes


def _einsum(ctx: Context, call: NumpyCall) -> Abstract:
    text = call.args[0]
    if not isinstance(text, Text):
        refuse(ctx, call.node, "its subscripts must be a constant string")
    operands = [operand(ctx, call, arg, k) for k, arg in enumerate(call.args[1:], 1)]
    if not operands:
        wrong(ctx, call, "it takes a string of subscripts and one array or more")
    if all(kind_of(value) is BOOL for value in operands):
        refuse(
            ctx, call.node, "of bools it gives bools, which is not compiled; convert one of them with `.astype(int)`"
        )
    ranks = [value.rank if isinstance(value, ArrayRef) else 0 for value in operands]
    found = einsum.subscripts(text.value, ranks)
    if isinstance(found, str):
        wrong(ctx, call, found)
    if len(found.output) > arrays.LARGEST_RANK:
        refuse(ctx, call.node, f"arrays have at most {arrays.LARGEST_RANK} dimensions")
    labelled = [
        einsum.diagonal(ctx, value, labels) if isinstance(value, ArrayRef) else einsum.Labelled(value, ())
        for value, labels in zip(operands, found.operands, strict=True)
    ]
    return einsum.contracted(ctx, labelled, found.output, call.node)


def _tensordot(ctx: Context, call: NumpyCall) -> Abstract:
    a, b = array_argument(ctx, call), array_argument(ctx, call, 1)
    over = call.get(2, "axes") or ctx.number(2)
    if isinstance(over, Number):
        n = over.const
        if over.kind is not I64 or not isinstance(n, int):
            refuse(ctx, call.node, "the `axes` must be constants")
        if not 0 <= n <= min(a.rank, b.rank):
            wrong(ctx, call, f"`axes` {n} is more than its arrays have")
        mine, theirs = list(range(a.rank - n, a.rank)), list(range(n))
    elif isinstance(over, TupleOf) and len(over.items) == 2:
        mine, theirs = (
            constant_axes(ctx, call, item, array.rank) for item, array in zip(over.items, (a, b), strict=True)
        )
    else:
        wrong(ctx, call, "its `axes` are a number, or two lists of axes")
    if len(mine) != len(theirs):
        wrong(ctx, call, "its `axes` are two lists of one length")
    left = [f"a{k}" for k in range(a.rank)]
    right = [f"b{k}" for k in range(b.rank)]
    for k, (i, j) in enumerate(zip(mine, theirs, strict=True)):
        arrays.require_sizes(ctx, (a.sizes[i],), (b.sizes[j],), "shape-mismatch for sum")
        left[i] = right[j] = f"s{k}"
    output = [label for label in (*left, *right) if not label.startswith("s")]
    if len(output) > arrays.LARGEST_RANK:
        refuse(ctx, call.node, f"arrays have at most {arrays.LARGEST_RANK} dimensions")
    pair = [einsum.Labelled(a, tuple(left)), einsum.Labelled(b, tuple(right))]
    return einsum.contracted(ctx, pair, output, call.node)


def _kron(ctx: Context, call: NumpyCall) -> Abstract:
    a, b = (operand(ctx, call, arg, k) for k, arg in enumerate(call.args[:2]))
    if isinstance(a, Number) or isinstance(b, Number):
        return multiplied(ctx, a, b)
    return assembly.kron(ctx, a, b, call.node)


def _cross(ctx: Context, call: NumpyCall) -> Abstract:
    a, b = array_argument(ctx, call), array_argument(ctx, call, 1)
    names = ("axisa", "axisb", "axisc")
    places = [
        axis_argument(
            ctx, call, 5 if "axis" in call.keywords else 2 + k, rank, -1, "axis" if "axis" in call.keywords else name
        )
        for k, (name, rank) in enumerate(zip(names, (a.rank, b.rank, max(a.rank, b.rank)), strict=True))
    ]
    made = assembly.cross(ctx, _moved(ctx, a, places[0], -1), _moved(ctx, b, places[1], -1), call.node)
    return _moved(ctx, made, -1, places[2])


def _moved(ctx: Context, array: ArrayRef, source: int, target: int) -> ArrayRef:
    source, target = source % array.rank, target % array.rank
    order = [k for k in range(array.rank) if k != source]
    order.insert(target, source)
    return rearrange.permuted(ctx, array, order)


# Place by place

_REPEATS = ("edge", "wrap", "reflect", "symmetric")


def _pad(ctx: Context, call: NumpyCall) -> Abstract:
    array, mode = array_argument(ctx, call), call.get(2, "mode") or Text("constant")
    if not isinstance(mode, Text):
        refuse(ctx, call.node, "its `mode` must be a constant string")
    widths = _pairs(ctx, call, call.get(1, "pad_width"), array.rank, "pad_width")
    for width in (n for pair in widths for n in pair):
        if width.kind is not I64:
            wrong(ctx, call, f"`pad_width` must be of ints, not {describe(width, True)}")
        if width.low is None or width.low < 0:
            ctx.guard(ctx.b.ige(width.value, ctx.b.i64(0)), "ValueError", "index can't contain negative values")
    if mode.value in _REPEATS:
        if call.keywords.keys() - {"mode", "pad_width"}:
            wrong(ctx, call, f"`mode` {mode.value!r} takes no more arguments in compiled code")
        return assembly.extended(ctx, array, widths, mode.value)
    if mode.value != "constant":
        known = ", ".join(f"{name!r}" for name in ("constant", *_REPEATS))
        refuse(ctx, call.node, f"its `mode` {mode.value!r} is not compiled; these are: {known}")
    given = call.keywords.get("constant_values", ctx.number(0))
    fills = _pairs(ctx, call, given, array.rank, "constant_values")
    if array.dtype is not F64 and any(n.kind is F64 for pair in fills for n in pair):
        wrong(ctx, call, "an array of integers is padded with integers")
    if array.dtype is BOOL and any(n.kind is not BOOL for pair in fills for n in pair):
        truths = [tuple(Number(arith.truth(ctx, n), BOOL) for n in pair) for pair in fills]
        fills = [(low, high) for low, high in truths]
    return assembly.padded(ctx, array, widths, fills)


def _pairs(ctx: Context, call: NumpyCall, value: Abstract | None, rank: int, name: str) -> list[tuple[Number, Number]]:
    """What NumPy broadcasts to a pair for each axis: a number, a pair, a list of one pair or of one for each axis."""
    match value:
        case Number():
            return [(value, value)] * rank
        case TupleOf(items=(Number() as one,)):
            return [(one, one)] * rank
        case TupleOf(items=(Number() as low, Number() as high)):
            return [(low, high)] * rank
        case TupleOf(items=items) if len(items) in (1, rank) and all(isinstance(item, TupleOf) for item in items):
            rows = [_pairs(ctx, call, item, 1, name)[0] for item in items]
            return rows * rank if len(rows) == 1 else rows
        case _:
            wrong(ctx, call, f"`{name}` is a number, a pair, or a pair for each of {rank} axes, known by their text")


def _select(ctx: Context, call: NumpyCall) -> Abstract:
    lists = [_items(ctx, call, call.get(k, name), name) for k, name in enumerate(("condlist", "choicelist"))]
    conditions, choices = lists
    if len(conditions) != len(choices):
        wrong(ctx, call, f"it has {len(conditions)} conditions and {len(choices)} choices")
    if any(kind_of(c) is not BOOL for c in conditions):
        wrong(ctx, call, "its conditions must be bools")
    default = operand(ctx, call, call.get(2, "default") or ctx.number(0), 2)
    return assembly.select(ctx, conditions, choices, default, kind_of(*choices, default))


def _items(ctx: Context, call: NumpyCall, value: Abstract | None, name: str) -> list[Number | ArrayRef]:
    if not isinstance(value, TupleOf) or not value.items:
        wrong(ctx, call, f"`{name}` is a list of arrays, and not empty")
    return [operand(ctx, call, item, 0) for item in value.items]


def _at_least(ctx: Context, call: NumpyCall, rank: int) -> Abstract:
    made = [assembly.at_least(ctx, operand(ctx, call, arg, k), rank, call.node) for k, arg in enumerate(call.args)]
    return made[0] if len(made) == 1 else TupleOf(tuple(made))


def _meshgrid(ctx: Context, call: NumpyCall) -> Abstract:
    vectors = [array_argument(ctx, call, k) for k in range(len(call.args))]
    if any(v.rank != 1 for v in vectors):
        refuse(ctx, call.node, "it is compiled for vectors")
    order = call.keywords.get("indexing", Text("xy"))
    if not isinstance(order, Text) or order.value not in ("xy", "ij"):
        wrong(ctx, call, '`indexing` is "xy" or "ij"')
    return TupleOf(
        tuple(assembly.grid(ctx, vectors, order.value == "xy", flag_argument(ctx, call, "sparse"), call.node))
    )


def _dstack(ctx: Context, call: NumpyCall) -> Abstract:
    given = call.args[0]
    if not isinstance(given, TupleOf) or not given.items:
        wrong(ctx, call, "it takes a tuple or list of arrays")
    parts = [assembly.at_least(ctx, operand(ctx, call, item, 0), 3, call.node) for item in given.items]
    return _joined(ctx, call, parts, 2)


def _joined(ctx: Context, call: NumpyCall, parts: Sequence[ArrayRef], axis: int) -> Abstract:
    if len({part.rank for part in parts}) > 1:
        ctx.mismatch(call.node, f"`{ctx.text(call.node.func)}`", "its arrays differ in their number of dimensions")
    return rearrange.joined(ctx, parts, axis)


def _append(ctx: Context, call: NumpyCall) -> Abstract:
    parts = [array_argument(ctx, call), array_argument(ctx, call, 1)]
    axis = call.get(2, "axis")
    if axis is None or isinstance(axis, NoneValue):
        return _joined(ctx, call, [rearrange.flat(ctx, array) for array in parts], 0)
    return _joined(ctx, call, parts, axis_argument(ctx, call, 2, parts[0].rank, 0))


def _split(ctx: Context, call: NumpyCall, axis: int | None = None) -> Abstract:
    """Views of parts, as many as the text says: of equal size (`array_split`: the first ones larger), or between given indices."""
    array, sections = array_argument(ctx, call), call.get(1, "indices_or_sections")
    if axis is None:
        axis = axis_argument(ctx, call, 2, array.rank, 0)
    elif call.name == "hsplit" and array.rank == 1:
        axis = 0
    if axis >= array.rank:
        wrong(ctx, call, f"it takes arrays of {axis + 1} dimensions or more")
    b, size = ctx.b, array.sizes[axis]
    cuts: list[Number | None] = [None]
    if isinstance(sections, TupleOf):
        if not all(isinstance(item, Number) and item.kind is I64 for item in sections.items):
            wrong(ctx, call, "its indices must be ints")
        cuts += [item for item in sections.items if isinstance(item, Number)]
    elif isinstance(sections, Number) and isinstance(sections.const, int) and sections.kind is I64:
        n = sections.const
        if not 1 <= n <= 64:
            wrong(ctx, call, "it makes between 1 and 64 parts")
        each, more = b.ifloordiv(size.value, b.i64(n)), b.imod(size.value, b.i64(n))
        if call.name != "array_split":
            ctx.guard(b.ieq(more, b.i64(0)), "ValueError", "array split does not result in an equal division")
        cuts += [Number(b.iadd(b.imul(each, b.i64(k)), b.imin(more, b.i64(k))), I64, low=0) for k in range(1, n)]
    else:
        refuse(ctx, call.node, "the number of parts must be a constant, or the indices between them a list")
    spans = [Sliced(low, high) for low, high in zip(cuts, [*cuts[1:], None], strict=True)]
    items = [[span if k == axis else Sliced() for k in range(array.rank)] for span in spans]
    return TupleOf(tuple(view(ctx, array, item, call.node) for item in items), "list")


def _rot90(ctx: Context, call: NumpyCall) -> Abstract:
    array = array_argument(ctx, call)
    k = int_argument(ctx, call, 1, "k", 1).const
    if not isinstance(k, int):
        refuse(ctx, call.node, "its `k` must be a constant")
    if array.rank < 2:
        wrong(ctx, call, "its array must have two dimensions")
    given = call.get(2, "axes")
    axes = [0, 1] if given is None else constant_axes(ctx, call, given, array.rank)
    if len(axes) != 2:
        wrong(ctx, call, "its `axes` are two")
    return assembly.rotated(ctx, array, k, (axes[0], axes[1]), call.node)


MANY = 32
BUILDING: dict[str, Row] = {
    "einsum": (2, MANY, ("optimize",), _einsum), "tensordot": (2, 3, ("axes",), _tensordot), "kron": (2, 2, (), _kron),
    "cross": (2, 5, ("axisa", "axisb", "axisc", "axis"), _cross),
    "pad": (2, 3, ("pad_width", "mode", "constant_values"), _pad), "select": (2, 3, ("condlist", "choicelist", "default"), _select),
    "atleast_1d": (1, MANY, (), partial(_at_least, rank=1)), "atleast_2d": (1, MANY, (), partial(_at_least, rank=2)),
    "atleast_3d": (1, MANY, (), partial(_at_least, rank=3)),
    "meshgrid": (1, 6, ("indexing", "sparse"), _meshgrid), "dstack": (1, 1, (), _dstack), "append": (2, 3, ("axis",), _append),
    "split": (2, 3, ("axis",), _split), "array_split": (2, 3, ("axis",), _split), "vsplit": (2, 2, (), partial(_split, axis=0)),
    "hsplit": (2, 2, (), partial(_split, axis=1)), "rot90": (1, 3, ("k", "axes"), _rot90),
}  # fmt: skip
