"""Rows of ops on arrays: creation, views, loads and stores. Their derivatives are structural and stand in ``ad``.

Views are (root, offset, dims, strides): the shadow of a view is the same op on the shadow of its operand.
Indices are in range by contract: the front end guards them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adcore.ir.opdef import Cost, Effect, OpDef, register
from adcore.ir.types import BOOL, F64, I64, Array, Scalar, Type


def _array(t: Type) -> Array:
    if not isinstance(t, Array):
        raise TypeError(f"expected an array, not {t}")
    return t


def _indices(types: Sequence[Type], rank: int) -> None:
    if len(types) != rank or any(t != I64 for t in types):
        raise TypeError(f"expected {rank} indices of type i64, not {', '.join(map(str, types))}")


def _const(types: Sequence[Type], attrs: dict[str, Any]) -> list[Type]:
    value = attrs["value"]
    return [BOOL if isinstance(value, bool) else I64 if isinstance(value, int) else F64]


def _dim(types: Sequence[Type], attrs: dict[str, Any]) -> list[Type]:
    if not 0 <= attrs["axis"] < _array(types[0]).rank:
        raise TypeError(f"no axis {attrs['axis']} in {types[0]}")
    return [I64]


def _load(types: Sequence[Type], attrs: dict[str, Any]) -> list[Type]:
    array = _array(types[0])
    _indices(types[1:], array.rank)
    return [array.dtype]


def _store(types: Sequence[Type], attrs: dict[str, Any]) -> list[Type]:
    array = _array(types[0])
    _indices(types[1:-1], array.rank)
    if types[-1] != array.dtype:
        raise TypeError(f"cannot store {types[-1]} into {array}")
    return []


def _alloc(types: Sequence[Type], attrs: dict[str, Any]) -> list[Type]:
    _indices(types, len(types))
    dtype = attrs["dtype"]
    assert isinstance(dtype, Scalar)
    return [Array(dtype, (None,) * len(types))]


def _slice(types: Sequence[Type], attrs: dict[str, Any]) -> list[Type]:
    array = _array(types[0])
    _indices(types[1:], 3 * array.rank)
    return [Array(array.dtype, (None,) * array.rank, "strided")]


def _broadcast(types: Sequence[Type], attrs: dict[str, Any]) -> list[Type]:
    array = _array(types[0])
    _indices(types[1:], len(types) - 1)
    if len(types) - 1 < array.rank:
        raise TypeError("a broadcast never lowers the rank")
    return [Array(array.dtype, (None,) * (len(types) - 1), "strided")]


def _index(types: Sequence[Type], attrs: dict[str, Any]) -> list[Type]:
    array, axis = _array(types[0]), attrs["axis"]
    _indices(types[1:], 1)
    if array.rank < 2 or not 0 <= axis < array.rank:
        raise TypeError(f"no axis {axis} to drop from {array}")
    layout = array.layout if axis == 0 else "strided"
    return [Array(array.dtype, array.dims[:axis] + array.dims[axis + 1 :], layout)]


def _permute(types: Sequence[Type], attrs: dict[str, Any]) -> list[Type]:
    array, axes = _array(types[0]), attrs["axes"]
    if sorted(axes) != list(range(array.rank)):
        raise TypeError(f"{axes} is no order of the axes of {array}")
    return [Array(array.dtype, tuple(array.dims[k] for k in axes), "strided")]


def _diagonal(types: Sequence[Type], attrs: dict[str, Any]) -> list[Type]:
    array = _array(types[0])
    if len(types) != 1 or array.rank < 2:
        raise TypeError(f"no two axes in {array}")
    return [Array(array.dtype, array.dims[:-1], "strided")]


def _reshape(types: Sequence[Type], attrs: dict[str, Any]) -> list[Type]:
    array = _array(types[0])
    _indices(types[1:], len(types) - 1)
    if array.layout != "c":
        raise TypeError(f"only a contiguous array has the same elements in another shape, not {array}")
    return [Array(array.dtype, (None,) * (len(types) - 1))]


def _matmul(types: Sequence[Type], attrs: dict[str, Any]) -> list[Type]:
    _indices(types[:2], 2)
    if any(_array(t) != Array(F64, (None, None), _array(t).layout) for t in types[2:]) or len(types) != 4:
        raise TypeError("matmul takes two sizes and two matrices of floats")
    return [Array(F64, (None, None))]


def _assign(types: Sequence[Type], attrs: dict[str, Any]) -> list[Type]:
    target, source = _array(types[0]), _array(types[1])
    if (target.dtype, target.rank) != (source.dtype, source.rank):
        raise TypeError(f"cannot assign {source} to {target}")
    return []


def _row(name: str, doc: str, effect: Effect, infer: Any, cost: Cost = Cost.CHEAP) -> None:
    register(OpDef(name=name, doc=doc, effect=effect, infer=infer, cost=cost))


_row("const", "a number {value}", Effect.PURE, _const, Cost.FREE)
_row("poison", "no value: what an exit or the other arm left undefined; never read", Effect.PURE, None, Cost.FREE)
_row("constarray", "a constant array of the module {name}; nobody writes it", Effect.PURE, None, Cost.FREE)
_row("dim", "the size of axis {axis}", Effect.PURE, _dim)
_row(
    "alloc",
    "a fresh array of the given dims {dtype, fill: a number, or None for unset}",
    Effect.WRITE,
    _alloc,
    Cost.NEVER,
)
_row("load", "a[i...]", Effect.READ, _load)
_row("store", "a[i...] = v", Effect.WRITE, _store, Cost.NEVER)
_row("accum", "a[i...] += v", Effect.WRITE, _store, Cost.NEVER)
_row("slice", "view: per axis start, size, step", Effect.PURE, _slice)
_row("broadcast", "view of the given dims: new axes in front, axes of size 1 repeated", Effect.PURE, _broadcast)
_row("index", "view: axis {axis} dropped, at a fixed index", Effect.PURE, _index)
_row("permute", "view: the axes in the order {axes}", Effect.PURE, _permute)
_row("diagonal", "view: the last two axes, of one size, as one along their diagonal", Effect.PURE, _diagonal)
_row(
    "reshape",
    "view of the given dims over the elements of a contiguous array, in row-major order",
    Effect.PURE,
    _reshape,
)
_row(
    "matmul",
    "the product of two matrices: rows, columns, a, b {zeros: whose zeros make a term 0 whatever the other factor: '', a, b, ab}",
    Effect.READ,
    _matmul,
    Cost.NEVER,
)
_row(
    "assign",
    "a[...] = b, or += {mode: set, add}; equal dims; b is read as it was before",
    Effect.WRITE,
    _assign,
    Cost.NEVER,
)
