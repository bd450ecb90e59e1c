"""Folding: constants, the identities of the op rows, decided branches and guards, sizes that are known.

Floating arithmetic folds only by the row's own meaning (IEEE, the same libm); no identity changes a sign of zero or drops a NaN.
After: no scalar op has only constant operands; no ``if`` has a constant condition; ``dim`` stands only where a size comes from outside.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adcore.ir.core import Function, Module, Op, Region, Value, carried_ends, carried_params
from adcore.ir.opdef import REGISTRY
from adcore.ir.rewrite import Rewriter
from adcore.ir.types import Array, Scalar


def fold(function: Function, module: Module) -> Function:
    with np.errstate(all="ignore"):
        return _Folder(module, function.attrs.get("bounds_check", True)).function(function)


def constant(v: Value) -> Any:
    """The number behind a value, or None."""
    return v.owner.attrs["value"] if v.owner is not None and v.owner.name == "const" else None


class _Folder(Rewriter):
    def __init__(self, module: Module, bounds_check: bool = True) -> None:
        super().__init__()
        self.module = module
        self.bounds_check = bounds_check  # False: the user has promised that indices are in range
        self.invariant: dict[Value, Value] = {}  # old loop parameter whose dims never change -> new initial array
        self.same_dims: dict[Value, Value] = {}  # new array -> new array of the same dims, further out

    def op(self, op: Op, operands: list[Value]) -> list[Value]:
        row = REGISTRY[op.name]
        if row.evaluate is not None:
            simpler = self.scalar(op, operands)
            return [simpler] if simpler is not None else self.copy(op, operands)
        handler = getattr(self, "op_" + op.name, None)
        if handler is not None:
            results: list[Value] | None = handler(op, operands)
            if results is not None:
                return results
        return self.copy(op, operands)

    def scalar(self, op: Op, operands: list[Value]) -> Value | None:
        row = REGISTRY[op.name]
        known = [constant(v) for v in operands]
        assert row.evaluate is not None
        if all(k is not None for k in known):
            type = op.result.type
            assert isinstance(type, Scalar)
            return self.b.const(row.evaluate(op.attrs, *known), type)
        if row.identity is not None:
            return row.identity(self.b, constant, *operands, **op.attrs)
        return None

    def op_if(self, op: Op, operands: list[Value]) -> list[Value] | None:
        taken = constant(operands[0])
        if taken is None:
            return None
        return self.splice(op.regions[0 if taken else 1], [])

    def op_guard(self, op: Op, operands: list[Value]) -> list[Value] | None:
        promised = not self.bounds_check and op.attrs["error"] == "IndexError"
        return [] if promised or constant(operands[0]) is True else None

    def op_for(self, op: Op, operands: list[Value]) -> list[Value] | None:
        lo, hi, step = (constant(v) for v in operands[:3])
        exits = op.attrs.get("exits", False)
        if not exits and None not in (lo, hi, step) and len(range(lo, hi, step)) == 0:
            return operands[3:]
        return self.loop(op, operands)

    def op_while(self, op: Op, operands: list[Value]) -> list[Value] | None:
        return self.loop(op, operands)

    def loop(self, op: Op, operands: list[Value]) -> list[Value]:
        """A value carried unchanged is the initial one; a carried array whose dims never change has the initial one's."""
        known: dict[Value, Value] = {}
        params = carried_params(op)
        inits = operands[3:] if op.name == "for" else operands
        for param, init, end in zip(params, inits, carried_ends(op), strict=True):
            if end is param:
                known[param] = init
            elif isinstance(param.type, Array) and self.keeps_dims(end, param):
                self.invariant[param] = init
        results = list(self.copy(op, operands, known))
        for k, param in enumerate(params):
            if param in known:
                results[k] = known[param]
            elif param in self.invariant:
                self.same_dims[results[k]] = self.invariant[param]
        return results

    def entered(self, old: Region, new: Region) -> None:
        for before, after in zip(old.params, new.params, strict=True):
            if before in self.invariant:
                self.same_dims[after] = self.invariant[before]

    def keeps_dims(self, end: Value, param: Value) -> bool:
        """``end`` is ``param`` itself or an elementwise result over exactly ``param``'s dims."""
        if end is param:
            return True
        op = end.owner
        if op is None or op.name not in ("map", "alloc"):
            return False
        assert isinstance(param.type, Array)
        dims = op.operands[: param.type.rank]
        return all(
            d.owner is not None
            and d.owner.name == "dim"
            and d.owner.operands[0] is param
            and d.owner.attrs["axis"] == k
            for k, d in enumerate(dims)
        )

    def op_dim(self, op: Op, operands: list[Value]) -> list[Value] | None:
        return [self.size(operands[0], op.attrs["axis"])]

    def size(self, array: Value, axis: int) -> Value:
        """The size of an axis, traced to the op that set it."""
        while array in self.same_dims:
            array = self.same_dims[array]
        type, owner = array.type, array.owner
        if isinstance(type, Array) and isinstance(type.dims[axis], int):
            return self.b.i64(type.dims[axis])  # type: ignore[arg-type]  # an int by the test above
        if owner is not None and owner.name in ("map", "alloc", "matmul"):
            return owner.operands[axis]
        if owner is not None and owner.name == "broadcast":
            return owner.operands[1 + axis]
        if owner is not None and owner.name == "slice":
            return owner.operands[1 + 3 * axis + 1]
        if owner is not None and owner.name == "reshape":
            return owner.operands[1 + axis]
        if owner is not None and owner.name == "index":
            return self.size(owner.operands[0], axis if axis < owner.attrs["axis"] else axis + 1)
        if owner is not None and owner.name == "permute":
            return self.size(owner.operands[0], owner.attrs["axes"][axis])
        if owner is not None and owner.name == "diagonal":
            return self.size(owner.operands[0], axis)
        if owner is not None and owner.name == "constarray":
            return self.b.i64(self.module.constants[owner.attrs["name"]].shape[axis])
        return self.b.dim(array, axis=axis)

    def op_broadcast(self, op: Op, operands: list[Value]) -> list[Value] | None:
        """A broadcast to the dims the array has is the array."""
        array, dims = operands[0], operands[1:]
        assert isinstance(array.type, Array)
        if array.type.rank != len(dims):
            return None
        for axis, d in enumerate(dims):
            have = self.size(array, axis)
            same = have is d or (constant(have) is not None and constant(have) == constant(d))
            owner = d.owner
            same = same or (
                owner is not None and owner.name == "dim" and owner.operands[0] is array and owner.attrs["axis"] == axis
            )
            if not same:
                return None
        return [array]
