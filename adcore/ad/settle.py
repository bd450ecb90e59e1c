"""Names that a loop or a branch binds in turn to arrays that have been written become values.

``column = right[:, k] - upper[:, k] * column``: each iteration binds the name to another array. Where none of these arrays is written any more,
under whatever name, from the moment on at which the loop or branch takes it, a copy taken then has the same content for ever. After: such
names stand for arrays that nobody writes, which the reverse sweep can keep or make again; what is written under such a name, or later,
is as it was.
"""

from __future__ import annotations

from adcore.ir.core import Function, Op, Value, carried_ends, carried_inits, carried_params
from adcore.ir.memory import Memory, analyse
from adcore.ir.rewrite import Rewriter
from adcore.ir.types import Array


def settle(function: Function) -> Function:
    memory = analyse(function)
    chosen = _chosen(function, memory)
    return _Settler(chosen).function(function) if chosen else function


def _chosen(function: Function, memory: Memory) -> dict[Op, set[int]]:
    """By op (a loop, whose initial values they are, or the end of a region): the operands to take copies of."""
    chosen: dict[Op, set[int]] = {}
    for op in function.body.walk():
        if op.name not in ("if", "for", "while"):
            continue
        for k, result in enumerate(op.results):
            if not isinstance(result.type, Array) or memory.is_value(result):
                continue
            taken = _taken(op, k)
            names = [result] if op.name == "if" else [result, carried_params(op)[k]]
            if any(v in memory.through for v in names) or not all(
                memory.is_value(v) or memory.settled(v, at) for at, v, _ in taken if v not in names
            ):
                continue
            for at, v, position in taken:
                if v not in names and not memory.is_value(v):
                    chosen.setdefault(at, set()).add(position)
    return chosen


def _taken(op: Op, k: int) -> list[tuple[Op, Value, int]]:
    """What the k-th result may be: at which op it is taken, the array, and its position among that op's operands."""
    if op.name == "if":
        ends = [r.terminator for r in op.regions]
        return [(end, end.operands[k], k) for end in ends]
    end = op.regions[0].terminator
    inits, ends_ = carried_inits(op), carried_ends(op)
    return [
        (op, inits[k], len(op.operands) - len(inits) + k),
        (end, ends_[k], len(end.operands) - len(ends_) + k),
    ]


class _Settler(Rewriter):
    def __init__(self, chosen: dict[Op, set[int]]) -> None:
        super().__init__()
        self.chosen = chosen

    def op(self, op: Op, operands: list[Value]) -> list[Value]:
        copied = [self.snapshot(v) if k in self.chosen.get(op, ()) else v for k, v in enumerate(operands)]
        return self.copy(op, copied)

    def snapshot(self, array: Value) -> Value:
        assert isinstance(array.type, Array)
        dims = [self.b.dim(array, axis=k) for k in range(array.type.rank)]
        (copy,) = self.b.map_(dims, [array], ["elem"], lambda index, elements: elements)
        copy.name = array.name
        return copy
