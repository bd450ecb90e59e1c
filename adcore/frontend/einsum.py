"""`np.einsum` and `np.tensordot`: operands with labelled axes, contracted pair by pair from the left.

A pair is a broadcast product where no axis is summed, else a product of matrices (`products`) whose rows, inner axis and columns are the
axes of the first alone, the summed ones, and those of the second alone; a loop runs over the axes that both have and that stay.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace

from adcore.frontend import arrays, axes, rearrange
from adcore.frontend.context import Context
from adcore.frontend.gather import nest
from adcore.frontend.indexing import Marker, Sliced, part, view
from adcore.frontend.products import multiplied, product, product_kind
from adcore.frontend.values import ArrayRef, Number
from adcore.ir.core import Value
from adcore.ir.types import Array

UNFIT = "operands could not be broadcast together with remapped shapes"


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """An array with a label for each axis, no two equal; a number has none."""

    value: Number | ArrayRef
    labels: tuple[str, ...]

    @property
    def array(self) -> ArrayRef:
        assert isinstance(self.value, ArrayRef)
        return self.value

    def size(self, label: str) -> Number:
        return self.array.sizes[self.labels.index(label)]


def contracted(ctx: Context, operands: Sequence[Labelled], output: Sequence[str], node: ast.AST) -> Number | ArrayRef:
    """The product of the operands, summed over every label that the output does not have."""
    operands = _fitted(ctx, operands)
    single = len(operands) == 1
    made = operands[0]
    for k, other in enumerate(operands[1:], 1):
        later = {*output, *(label for rest in operands[k + 1 :] for label in rest.labels)}
        made = _summed(ctx, made, {*later, *other.labels}, node)
        other = _summed(ctx, other, {*later, *made.labels}, node)
        made = _pair(ctx, made, other, later, output, node)
    made = _summed(ctx, made, set(output), node)
    if isinstance(made.value, Number):
        return made.value
    ordered = rearrange.permuted(ctx, made.array, [made.labels.index(label) for label in output])
    return ordered if single or ordered is made.array else arrays.copy(ctx, ordered)


def _fitted(ctx: Context, operands: Sequence[Labelled]) -> list[Labelled]:
    """Axes of one label have one size: those of size 1 are repeated, as NumPy does."""
    sizes: dict[str, Number] = {}
    for operand in operands:
        for label in operand.labels:
            own = operand.size(label)
            sizes[label] = arrays.broadcast_size(ctx, sizes[label], own) if label in sizes else own
    out = []
    for operand in operands:
        want = tuple(sizes[label] for label in operand.labels)
        if operand.labels and not arrays.same_sizes(operand.array.sizes, want):
            array = operand.array
            stretched = ArrayRef(arrays.stretched(ctx, array, want), array.dtype, want)
            operand = replace(operand, value=arrays.copy(ctx, stretched))
        out.append(operand)
    return out


def _summed(ctx: Context, operand: Labelled, keep: set[str], node: ast.AST) -> Labelled:
    """Without the axes that nobody asks for any more."""
    gone = [k for k, label in enumerate(operand.labels) if label not in keep]
    if not gone:
        return operand
    value = axes.over_axes(ctx, operand.array, gone, False, axes.total, node, True)
    return Labelled(value, tuple(label for label in operand.labels if label in keep))


def _pair(ctx: Context, a: Labelled, b: Labelled, later: set[str], output: Sequence[str], node: ast.AST) -> Labelled:
    both = [label for label in a.labels if label in b.labels]
    inner = [label for label in both if label not in later]
    lead = [label for label in both if label in later]
    rows = [label for label in a.labels if label not in both]
    columns = [label for label in b.labels if label not in both]
    labels = (*lead, *rows, *columns)
    if len(labels) > arrays.LARGEST_RANK:
        reason = f"one of its products has {len(labels)} dimensions, and arrays have at most {arrays.LARGEST_RANK}"
        ctx.expression(node, f"`{ctx.text(node)}`", reason, "Contract in several steps.")
    if not inner:
        wanted = tuple(label for label in output if label in labels)
        labels = (*wanted, *(label for label in labels if label not in wanted))
        views = [_spread(ctx, operand, labels, node) for operand in (a, b)]
        return Labelled(multiplied(ctx, *views), labels)
    left = _grouped(ctx, a, [[label] for label in lead], [rows, inner])
    right = _grouped(ctx, b, [[label] for label in lead], [inner, columns])
    sizes = tuple(a.size(label) for label in (*lead, *rows)) + tuple(b.size(label) for label in columns)
    if not lead:
        value = product(ctx, left, right, "matmul", node)
        return Labelled(_unfolded(ctx, value, sizes), labels)
    return Labelled(_unfolded(ctx, _stacked(ctx, left, right, len(lead), node), sizes), labels)


def _spread(ctx: Context, operand: Labelled, labels: Sequence[str], node: ast.AST) -> Number | ArrayRef:
    """A view with an axis for each label, of size 1 where the operand has none."""
    if not operand.labels:
        return operand.value
    own = [label for label in labels if label in operand.labels]
    array = rearrange.permuted(ctx, operand.array, [operand.labels.index(label) for label in own])
    items = [Sliced() if label in operand.labels else Marker.NEW for label in labels]
    while items[0] is Marker.NEW:  # broadcasting adds those in front
        del items[0]
    return array if Marker.NEW not in items else view(ctx, array, items, node)


def _grouped(ctx: Context, operand: Labelled, lead: list[list[str]], groups: list[list[str]]) -> ArrayRef:
    """One axis for each group of labels; an empty group has none."""
    groups = [group for group in [*lead, *groups] if group]
    order = [operand.labels.index(label) for group in groups for label in group]
    array = rearrange.permuted(ctx, operand.array, order)
    if all(len(group) == 1 for group in groups):
        return array
    if not (isinstance(array.value.type, Array) and array.value.type.layout == "c"):
        array = arrays.copy(ctx, array)
    sizes, at = [], 0
    for group in groups:
        axis = ArrayRef(array.value, array.dtype, array.sizes[at : at + len(group)])
        sizes.append(arrays.count_of(ctx, axis))
        at += len(group)
    return rearrange.reshaped(ctx, array, tuple(sizes))


def _unfolded(ctx: Context, value: Number | ArrayRef, sizes: arrays.Sizes) -> Number | ArrayRef:
    """A fresh product with its axes taken apart."""
    if isinstance(value, Number) or len(sizes) == value.rank:
        return value
    return rearrange.reshaped(ctx, value, sizes)


def _stacked(ctx: Context, a: ArrayRef, b: ArrayRef, lead: int, node: ast.AST) -> ArrayRef:
    """A product for each place on the leading axes."""
    at = ctx.b
    tail = (a.sizes[lead:-1] if a.rank - lead == 2 else ()) + (b.sizes[lead + 1 :])
    made = arrays.allocate(ctx, (*a.sizes[:lead], *tail), product_kind(a, b), None)

    def each(index: list[Value]) -> None:
        x, y, out = a, b, made
        for k, i in enumerate(index):
            x, y = part(ctx, x, i), part(ctx, y, i)
            out = part(ctx, out, i) if tail or k + 1 < lead else out
        one = product(ctx, x, y, "matmul", node)
        if isinstance(one, Number):
            at.op("store", [out.value, index[-1], one.value], {}, [])
        else:
            at.op("assign", [out.value, one.value], {"mode": "set"}, [])

    nest(ctx, a.sizes[:lead], each)
    return made


# Repeated labels


def diagonal(ctx: Context, array: ArrayRef, labels: Sequence[str]) -> Labelled:
    """The view of the array where axes of one label have one index."""
    labels = list(labels)
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            one, other = [k for k, own in enumerate(labels) if own == label][:2]
            message = "dimensions for a collapsing index don't match"
            arrays.require_sizes(ctx, (array.sizes[other],), (array.sizes[one],), message)
            order = [k for k in range(array.rank) if k not in (one, other)]
            array = rearrange.permuted(ctx, array, [*order, one, other])
            labels = [*(labels[k] for k in order), label]
            value = ctx.b.diagonal(array.value)
            array = ArrayRef(value, array.dtype, array.sizes[:-1], array.origin, array.name)
    return Labelled(array, tuple(labels))


# Subscripts


@dataclass(frozen=True, slots=True)
class Subscripts:
    operands: tuple[tuple[str, ...], ...]
    output: tuple[str, ...]


def subscripts(text: str, ranks: Sequence[int]) -> Subscripts | str:
    """The labels that a string of subscripts gives the axes of operands of these ranks, or what is wrong with it. The axes of an ellipsis
    are labelled from the last: "-1", "-2", ..."""
    inputs, arrow, output = text.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if len(terms) != len(ranks):
        return f"its subscripts are for {len(terms)} operands and there are {len(ranks)}"
    found, widest = [], 0
    for term, rank in zip(terms, ranks, strict=True):
        labels = _labels(term, rank)
        if isinstance(labels, str):
            return labels
        found.append(labels)
        widest = max(widest, sum(label.startswith("-") for label in labels))
    dots = tuple(f"-{k}" for k in range(widest, 0, -1))
    letters = [label for labels in found for label in labels if not label.startswith("-")]
    if not arrow:
        return Subscripts(tuple(found), (*dots, *sorted(x for x in letters if letters.count(x) == 1)))
    out = _labels(output, len(output.replace("...", "")) + ("..." in output) * widest)
    if isinstance(out, str):
        return out
    if widest and "..." not in output:
        return "its output has no `...` for the axes that its operands have there"
    for label in out:
        if out.count(label) > 1:
            return f"its output has `{label}` twice"
        if label not in letters and label not in dots:
            return f"`{label}` of its output is in no operand"
    return Subscripts(tuple(found), out)


def _labels(term: str, rank: int) -> tuple[str, ...] | str:
    before, dots, after = term.partition("...")
    for letter in before + after:
        if not (letter.isascii() and letter.isalpha()):
            return f"`{letter}` is no label"
    more = rank - len(before) - len(after)
    if more < 0 or (more > 0 and not dots):
        return f"`{term}` has {len(before + after)} labels for {rank} dimension{'' if rank == 1 else 's'}"
    return (*before, *(f"-{k}" for k in range(more, 0, -1)), *after)
