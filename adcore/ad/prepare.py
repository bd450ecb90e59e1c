"""Makes a primal ready to be differentiated.

After: every axis of an array parameter, or of an array that a call, a branch or a loop gave or carries, has its ``dim`` op; an
array that a ``map`` reads and whose content does not last (it is overwritten
later, or belongs to one iteration) is read from a copy of its own, so that its content at that moment is a value like
any other.
"""

from __future__ import annotations

from collections.abc import Sequence

from adcore.ir.core import Function, Op, Region, Value
from adcore.ir.memory import Memory, analyse
from adcore.ir.rewrite import Rewriter
from adcore.ir.types import I64, Array


def prepare(function: Function, apart: bool = False) -> Function:
    """``apart``: the reverse half is another function, called when nothing is known of the content of the arrays
    handed in."""
    return _Preparer(analyse(function), apart).function(function)


class _Preparer(Rewriter):
    def __init__(self, memory: Memory, apart: bool) -> None:
        super().__init__()
        self.memory = memory
        self.apart = apart
        self.body: Region | None = None
        self.lasting: set[Value] = set()  # what the top region defines

    def function(self, function: Function) -> Function:
        if not self.apart:
            self.lasting = {*function.params, *(r for op in function.body.ops for r in op.results)}
        self.body = function.body
        new = super().function(function)
        tops = []
        known = {(op.operands[0], op.attrs["axis"]) for op in new.body.ops if op.name == "dim"}
        for p in new.params:
            if isinstance(p.type, Array):
                for axis in set(range(p.type.rank)) - {a for v, a in known if v is p}:
                    op = Op("dim", [p], [I64], {"axis": axis})
                    op.result.name = "n" if p.type.rank == 1 else f"n{axis}"
                    tops.append(op)
        new.body.ops[:0] = tops
        return new

    def op(self, op: Op, operands: list[Value]) -> list[Value]:
        if op.name in ("map", "matmul"):
            operands = [
                self.snapshot(new) if self.passing(op, k, old) else new
                for k, (old, new) in enumerate(zip(op.operands, operands, strict=True))
            ]
        results = self.copy(op, operands)
        if op.name in ("call", "if", "for", "while"):
            self.measure(results)
        return results

    def entered(self, old: Region, new: Region) -> None:
        if old is self.body:  # its sizes have names
            return
        with self.b.inside(new):
            self.measure(new.params)

    def measure(self, values: Sequence[Value]) -> None:
        for v in values:
            if isinstance(v.type, Array):
                for axis in range(v.type.rank):
                    self.b.dim(v, axis=axis)

    def passing(self, op: Op, k: int, array: Value) -> bool:
        """The array's content here is gone in the reverse sweep: overwritten later, or in a buffer that lives
        for one iteration only."""
        if (op, k) in self.memory.stale:
            return True
        roots = self.memory.roots.get(array, frozenset())
        return any(
            (root in self.memory.written or (self.apart and root.owner is None)) and root not in self.lasting
            for root in roots
        )

    def snapshot(self, array: Value) -> Value:
        assert isinstance(array.type, Array)
        made = array.owner is not None and array.owner.name in ("alloc", "map", "matmul")
        dims = [
            array.owner.operands[k] if array.owner and made else self.b.dim(array, axis=k)
            for k in range(array.type.rank)
        ]
        (copy,) = self.b.map_(dims, [array], ["elem"], lambda i, e: e)
        copy.name = array.name
        return copy
