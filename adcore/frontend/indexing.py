"""Parts of arrays: elements, views by slices and fixed indices, new axes; and stores into them. Masks and arrays of indices are in `gather`.

Invariants: every index that reaches a `load`, `store` or `index` is in range (guarded here with IndexError); slices are clamped as Python's
`slice.indices`. A view keeps the origin of its array, so that a store through it is known as a store into that.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from adcore.frontend import remedies
from adcore.frontend.arith import as_int
from adcore.frontend.arrays import require_writable, storable, store_all
from adcore.frontend.context import Context
from adcore.frontend.shapes import size_number
from adcore.frontend.values import Abstract, ArrayRef, Number, describe
from adcore.ir.core import Value
from adcore.ir.types import BOOL, F64, I64


class Marker(Enum):
    NEW = "newaxis"
    REST = "..."


@dataclass(frozen=True, slots=True, eq=False)
class Sliced:
    """`low:high:step`, each None where it is left out."""

    low: Abstract | None = None
    high: Abstract | None = None
    step: Abstract | None = None

    def span(self, ctx: Context, size: Number, node: ast.AST) -> tuple[Value, Number, int] | None:
        """Start, size and step along an axis; None for all of it."""
        if self.low is None and self.high is None and self.step is None:
            return None
        low, high, step = (_bound(ctx, part, node) for part in (self.low, self.high, self.step))
        by = 1 if step is None else step.const
        if not isinstance(by, int):
            ctx.expression(node, "a slice with a step that is computed", "the step must be a constant")
        if by == 0:
            ctx.guard(False, "ValueError", "slice step cannot be zero")
            by = 1
        start, length = (_forward if by > 0 else _backward)(ctx, low, high, by, size)
        return start, length, by


Item: TypeAlias = Abstract | Sliced | Marker


def checked_index(ctx: Context, array: ArrayRef, index: Abstract, node: ast.AST, axis: int = 0) -> Value:
    """The SSA index along an axis, counted from the front and guarded."""
    if not isinstance(index, Number) or index.kind is not I64:
        ctx.mismatch(
            node,
            "the index",
            f"it is {describe(index, True)}; elements are indexed with an int",
            remedies.to_int(index),
        )
    size = array.sizes[axis]
    b = ctx.b
    zero = b.i64(0)
    value = index.value
    if index.low is None or index.low < 0:
        shifted = b.iadd(value, size.value)
        value = shifted if index.high is not None and index.high < 0 else b.select(b.ilt(value, zero), shifted, value)
        ctx.guard(b.and_(b.ige(value, zero), b.ilt(value, size.value)), "IndexError", "index is out of bounds")
    elif not (index.high is not None and isinstance(size.const, int) and index.high < size.const):
        ctx.guard(b.ilt(value, size.value), "IndexError", "index is out of bounds")
    return value


def load(ctx: Context, array: ArrayRef, index: Abstract, node: ast.AST) -> Number | ArrayRef:
    """`array[index]`: an element, or a view of a part."""
    return select(ctx, array, [index], node)


def select(ctx: Context, array: ArrayRef, items: Sequence[Item], node: ast.AST) -> Number | ArrayRef:
    """`array[items]`."""
    items = complete(ctx, array, items, node)
    if is_element(items):
        return Number(ctx.b.load(array.value, *element(ctx, array, items, node)), array.dtype, True)
    return view(ctx, array, items, node)


def complete(ctx: Context, array: ArrayRef, items: Sequence[Item], node: ast.AST) -> list[Item]:
    """One item for each axis, besides new ones: `...` and what is left out are full slices."""
    used = sum(_axes_of(item) for item in items)
    if used > array.rank:
        counted = "one dimension" if array.rank == 1 else f"{array.rank} dimensions"
        ctx.mismatch(node, "the index", f"the array has {counted} and the index has {used}")
    if sum(item is Marker.REST for item in items) > 1:
        ctx.mismatch(node, "the index", "`...` stands once in an index")
    if not any(item is Marker.REST for item in items):
        items = [*items, Marker.REST]
    out: list[Item] = []
    for item in items:
        out += [Sliced()] * (array.rank - used) if item is Marker.REST else [item]
    return out


def _axes_of(item: Item) -> int:
    """How many axes an item stands for: a mask for as many as it has."""
    if isinstance(item, Marker):
        return 0
    return item.rank if isinstance(item, ArrayRef) and item.dtype is BOOL else 1


def is_element(items: Sequence[Item]) -> bool:
    return all(not isinstance(item, Sliced | Marker) for item in items)


def element(ctx: Context, array: ArrayRef, items: Sequence[Item], node: ast.AST) -> list[Value]:
    """The guarded indices of an element."""
    return [
        checked_index(ctx, array, item, node, k)
        for k, item in enumerate(items)
        if not isinstance(item, Sliced | Marker)
    ]


def view(ctx: Context, array: ArrayRef, items: Sequence[Item], node: ast.AST) -> ArrayRef:
    """The part of the array that complete items name: slices, then fixed indices, then new axes."""
    b = ctx.b
    axes = [item for item in items if not isinstance(item, Marker)]
    fixed = {k: checked_index(ctx, array, i, node, k) for k, i in enumerate(axes) if not isinstance(i, Sliced)}
    spans = [item.span(ctx, array.sizes[k], node) if isinstance(item, Sliced) else None for k, item in enumerate(axes)]
    value, sizes = array.value, list(array.sizes)
    if any(spans):
        numbers: list[Value] = []
        for k, span in enumerate(spans):
            start, size, step = span or (b.i64(0), sizes[k], 1)
            numbers += [start, size.value, b.i64(step)]
            sizes[k] = size
        value = b.slice(value, *numbers)
    for k in sorted(fixed, reverse=True):
        value = b.index(value, fixed[k], axis=k)
        del sizes[k]
    kept = [item for item in items if isinstance(item, Sliced | Marker)]
    added = sum(isinstance(item, Marker) for item in kept)
    if added:
        value, sizes = _with_new_axes(ctx, value, sizes, kept, added)
    return ArrayRef(value, array.dtype, tuple(sizes), array.origin, array.name)


def _with_new_axes(
    ctx: Context, value: Value, sizes: list[Number], kept: Sequence[Item], added: int
) -> tuple[Value, list[Number]]:
    one = ctx.number(1)
    own = (ctx.b.dim(value, axis=k) for k in range(len(sizes)))  # not the name of an equal size: nothing is repeated
    value = ctx.b.broadcast(value, *[one.value] * added, *own)
    new, old = iter(range(added)), iter(range(added, added + len(sizes)))
    order = tuple(next(new) if isinstance(item, Marker) else next(old) for item in kept)
    if order != tuple(range(len(order))):
        value = ctx.b.permute(value, axes=order)
    return value, [one if k < added else sizes[k - added] for k in order]


def transposed(ctx: Context, array: ArrayRef) -> ArrayRef:
    """`array.T`."""
    if array.rank < 2:
        return array
    value = ctx.b.permute(array.value, axes=tuple(reversed(range(array.rank))))
    return ArrayRef(value, array.dtype, array.sizes[::-1], array.origin, array.name)


def part(ctx: Context, array: ArrayRef, at: Value, axis: int = 0) -> ArrayRef:
    """The part at an index that is in range."""
    rest = array.sizes[:axis] + array.sizes[axis + 1 :]
    return ArrayRef(ctx.b.index(array.value, at, axis=axis), array.dtype, rest, array.origin, array.name)


# Stores


def store(ctx: Context, array: ArrayRef, items: Sequence[Item], value: Abstract, node: ast.AST) -> None:
    """`array[items] = value`."""
    require_writable(ctx, array, node)
    items = complete(ctx, array, items, node)
    if not is_element(items):
        store_all(ctx, view(ctx, array, items, node), value, node)
        return
    if not isinstance(value, Number):
        ctx.mismatch(
            node, "the store", f"an element is a number, not {describe(value, True)}", remedies.to_number(value)
        )
    at = element(ctx, array, items, node)
    ctx.b.op("store", [array.value, *at, storable(ctx, array, value, node)])


# Bounds of slices


def _bound(ctx: Context, part: Abstract | None, node: ast.AST) -> Number | None:
    if part is None:
        return None
    if not isinstance(part, Number) or part.kind is F64:
        ctx.mismatch(node, "the slice", f"its bounds must be ints, not {describe(part, True)}", remedies.to_int(part))
    return as_int(ctx, part)


def _clamped(ctx: Context, bound: Number, size: Number, lowest: int, highest: Value) -> Value:
    """A bound of a slice counted from the front, between `lowest` and `highest`."""
    b = ctx.b
    value = bound.value
    if bound.low is None or bound.low < 0:
        shifted = b.imax(b.iadd(value, size.value), b.i64(lowest))
        value = (
            shifted if bound.high is not None and bound.high < 0 else b.select(b.ilt(value, b.i64(0)), shifted, value)
        )
    if bound.const == 0 and lowest == 0:
        return b.i64(0)
    if bound.const == -1 and lowest == 0:
        return value
    return b.imin(value, highest)


def _forward(ctx: Context, low: Number | None, high: Number | None, by: int, size: Number) -> tuple[Value, Number]:
    b = ctx.b
    start = b.i64(0) if low is None else _clamped(ctx, low, size, 0, size.value)
    stop = size.value if high is None else _clamped(ctx, high, size, 0, size.value)
    linear = _whole_size(low, high, by, size)
    if low is None or low.const == 0:
        span = stop
    else:
        span = b.imax(b.isub(stop, start), b.i64(0))
    if by > 1:
        span = b.ifloordiv(b.iadd(span, b.i64(by - 1)), b.i64(by))
    return start, size_number(span, linear)


def _whole_size(low: Number | None, high: Number | None, by: int, size: Number) -> tuple[Value, int] | None:
    """`max(n - k, 0)` for `x[a:]`, `x[:-b]` and `x[a:-b]`: such sizes are equal where n and k are."""
    a = 0 if low is None else low.const
    b = 0 if high is None else high.const
    if (
        by != 1
        or not isinstance(a, int)
        or not isinstance(b, int)
        or a < 0
        or (high is not None and b >= 0)
        or size.linear is None
    ):
        return None
    base, k = size.linear
    return base, k + a - b


def _backward(ctx: Context, low: Number | None, high: Number | None, by: int, size: Number) -> tuple[Value, Number]:
    b = ctx.b
    last = b.isub(size.value, b.i64(1))
    start = last if low is None else _clamped(ctx, low, size, -1, last)
    stop = b.i64(-1) if high is None else _clamped(ctx, high, size, -1, last)
    span = size.value if low is None and high is None else b.imax(b.isub(start, stop), b.i64(0))
    linear = size.linear if by == -1 and low is None and high is None else None
    if by < -1:
        span = b.ifloordiv(b.iadd(span, b.i64(-by - 1)), b.i64(-by))
    return start, size_number(span, linear)
