"""Sizes in the primal: which SSA integers are an array's dims."""

from __future__ import annotations

from adcore.ir.core import Function, Op, Value, carried_ends, carried_inits, carried_params
from adcore.ir.types import Array


class Sizes:
    """Answers for one function; ``prepare`` has put a ``dim`` op on every axis of the arrays it is given."""

    def __init__(self, function: Function) -> None:
        self.known: dict[tuple[Value, int], Value | None] = {}
        self.loop_of: dict[Value, tuple[Op, int]] = {}
        self.asked: dict[tuple[Value, int], Value] = {}  # sizes that are known where the array is
        given = set(function.params)
        for op in function.body.walk():
            if op.name == "call":
                given.update(op.results)
            if op.name == "dim" and op.operands[0] in given:
                self.known.setdefault((op.operands[0], op.attrs["axis"]), op.result)
            elif op.name == "dim":
                self.asked.setdefault((op.operands[0], op.attrs["axis"]), op.result)
            elif op.name in ("for", "while"):
                for k, param in enumerate(carried_params(op)):
                    self.loop_of[param] = (op, k)

    def dims(self, v: Value) -> list[Value] | None:
        """One SSA integer per axis, found at the op that set it; None where the size of a carried array may change."""
        assert isinstance(v.type, Array)
        found = [self.dim(v, axis) for axis in range(v.type.rank)]
        return None if any(d is None for d in found) else [d for d in found if d is not None]

    def dim(self, v: Value, axis: int) -> Value | None:
        if (v, axis) not in self.known:
            self.known[v, axis] = self.trace(v, axis)
        return self.known[v, axis]

    def trace(self, v: Value, axis: int) -> Value | None:
        op = v.owner
        if op is None:
            return (self.carried(*self.loop_of[v], axis) if v in self.loop_of else None) or self.asked.get((v, axis))
        match op.name:
            case "map" | "alloc" | "matmul":
                return self.origin(op.operands[axis])
            case "broadcast":
                return self.origin(op.operands[1 + axis])
            case "slice":
                return self.origin(op.operands[1 + 3 * axis + 1])
            case "reshape":
                return self.origin(op.operands[1 + axis])
            case "index":
                return self.dim(op.operands[0], axis if axis < op.attrs["axis"] else axis + 1)
            case "permute":
                return self.dim(op.operands[0], op.attrs["axes"][axis])
            case "diagonal":
                return self.dim(op.operands[0], axis)
            case "if":
                k = op.results.index(v)
                a, b = (self.dim(r.terminator.operands[k], axis) for r in op.regions)
                return a if a is b else self.asked.get((v, axis))
            case "for" | "while":
                return self.carried(op, op.results.index(v), axis) or self.asked.get((v, axis))
        return None

    def origin(self, size: Value) -> Value:
        """The integer itself, or what the array it was asked of traces to."""
        op = size.owner
        if op is not None and op.name == "select":  # a broadcast size, and both say the same
            a, b = self.origin(op.operands[1]), self.origin(op.operands[2])
            return a if a is b else size
        if op is None or op.name != "dim":
            return size
        return self.dim(op.operands[0], op.attrs["axis"]) or size

    def carried(self, op: Op, k: int, axis: int) -> Value | None:
        """The dim of the k-th carried array, if every iteration leaves it as it was."""
        param, end = carried_params(op)[k], carried_ends(op)[k]
        start = self.dim(carried_inits(op)[k], axis)
        if end is param:
            return start
        before = set(self.known)
        self.known[param, axis] = start  # assumed while the body is traced
        if start is not None and self.dim(end, axis) is start:
            return start
        for found in self.known.keys() - before:  # by that assumption
            del self.known[found]
        self.known[param, axis] = self.asked.get((param, axis))
        return None
