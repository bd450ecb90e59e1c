"""Makes a primal ready to be differentiated.

After: every axis of an array parameter has its ``dim`` op at the top; an array that a ``map`` or ``assign`` reads and that is
overwritten later is read from a copy of its own, so that its content at that moment is a value like any other.
"""

from __future__ import annotations

from adcore.ir.core import Function, Op, Value
from adcore.ir.rewrite import Rewriter
from adcore.ir.types import I64, Array
from adcore.ir.memory import Memory, analyse


def prepare(function: Function) -> Function:
    return _Preparer(analyse(function)).function(function)


class _Preparer(Rewriter):
    def __init__(self, memory: Memory) -> None:
        super().__init__()
        self.memory = memory

    def function(self, function: Function) -> Function:
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
        if op.name == "map":
            operands = [self.snapshot(v) if (op, k) in self.memory.stale else v for k, v in enumerate(operands)]
        return self.copy(op, operands)

    def snapshot(self, array: Value) -> Value:
        assert isinstance(array.type, Array)
        dims = [self.b.dim(array, axis=k) for k in range(array.type.rank)]
        (copy,) = self.b.map_(dims, [array], ["elem"], lambda i, e: e)
        copy.name = array.name
        return copy
