"""Interleaving: a forward loop and the reverse loop over the same iterations become one loop, where no iteration needs another's.

The reverse loop may run in any order if all it does is accumulate, and may run with the forward loop if it reads nothing that loop produces. The two then
share loads and elementary functions, and memory is walked once.
Before: ``for i in 0..n`` and, after it, ``for k in n-1..0`` whose writes are ``accum`` and whose carried values are sums. After: one loop.
"""

from __future__ import annotations

from collections.abc import Sequence

from adcore.ir.core import Function, Module, Op, Region, Value, carried_ends, carried_params, free_values
from adcore.ir.memory import Memory, analyse
from adcore.ir.opdef import REGISTRY, Effect
from adcore.ir.rewrite import Rewriter

DEPTH = 3  # nests of loops that become one, outermost first


def interleave(function: Function, module: Module) -> Function:
    for _ in range(DEPTH):
        pass_ = _Interleaver(analyse(function))
        function = pass_.function(function)
        if not pass_.changed:
            break
    return function


class _Interleaver(Rewriter):
    def __init__(self, memory: Memory) -> None:
        super().__init__()
        self.memory = memory
        self.changed = False

    def ops(self, ops: Sequence[Op]) -> None:
        pair = self.find(ops)
        if pair is None:
            super().ops(ops)
            return
        first, second, moved = pair
        a, b = ops.index(first), ops.index(second)
        between = ops[a + 1 : b]
        super().ops(ops[:a])
        super().ops([op for op in between if op in moved])
        self.merge(first, second)
        self.changed = True
        super().ops([op for op in between if op not in moved])
        super().ops(ops[b + 1 :])

    def find(self, ops: Sequence[Op]) -> tuple[Op, Op, set[Op]] | None:
        """A forward loop, a reverse loop that may join it, and the ops between them that must go before."""
        for a, first in enumerate(ops):
            if first.name != "for" or not _counts_up(first) or not self.only_reads(first):
                continue
            late: set[Value] = set(first.results)
            before: set[Op] = set()
            for second in ops[a + 1 :]:
                uses = {*second.operands, *(v for r in second.regions for v in free_values(r))}
                mirrors = second.name == "for" and not uses & late and _mirrors(second, first)
                if mirrors and self.only_accumulates(second) and self.apart(second, ops[a : ops.index(second)]):
                    return first, second, before
                if uses & late or second.name == "guard":
                    late.update(second.results)  # stays behind
                elif not _movable(second):
                    break
                else:
                    before.add(second)
        return None

    def only_reads(self, loop: Op) -> bool:
        return all(_pure_or(op, "guard", "yield", "for", "if", "map", "load") for op in loop.regions[0].walk())

    def only_accumulates(self, loop: Op) -> bool:
        written: set[Value] = set()
        read: set[Value] = set()
        for op in loop.regions[0].walk():
            if not _pure_or(op, "yield", "for", "if", "map", "load", "accum"):
                return False
            if op.name == "accum":
                written |= self.memory.roots[op.operands[0]]
            elif op.name == "load":
                read |= self.memory.roots[op.operands[0]]
            elif op.name == "map":
                for v in op.operands[op.attrs["rank"] :]:
                    read |= self.memory.roots[v]
        return not written & read and all(_is_sum(loop, k) for k in range(len(loop.results)))

    def apart(self, loop: Op, others: Sequence[Op]) -> bool:
        """None of the other ops touches what the loop writes."""
        written: set[Value] = set()
        for op in loop.regions[0].walk():
            if op.name == "accum":
                written |= self.memory.roots[op.operands[0]]
        for op in others:
            for inner in (op, *(x for r in op.regions for x in r.walk())):
                if any(self.memory.roots.get(v, frozenset()) & written for v in inner.operands):
                    return False
        return True

    def merge(self, first: Op, second: Op) -> None:
        one, two = first.regions[0], second.regions[0]
        region = Region([Value(p.type, p.name) for p in (*one.params, *two.params[1:])])
        count = len(one.params)
        with self.b.inside(region):
            ends = self.splice(one, region.params[:count])
            sums = self.splice(two, [region.params[0], *region.params[count:]])
            self.b.yield_(*ends, *sums)
        operands = [self.new(v) for v in (*first.operands, *second.operands[3:])]
        types = [r.type for r in (*first.results, *second.results)]
        with self.b.at(first.span):
            made = self.b.op("for", operands, dict(first.attrs), types, [region]).results
        self.env.update(zip((*first.results, *second.results), made, strict=True))


def _pure_or(op: Op, *names: str) -> bool:
    if op.name in names:
        return not op.attrs.get("exits")
    return REGISTRY[op.name].effect is Effect.PURE


def _movable(op: Op) -> bool:
    """May go before the forward loop: it neither raises nor touches memory that exists."""
    if op.name == "alloc":
        return True
    if op.regions:
        return op.name in ("if", "map") and all(
            _movable(inner) or inner.name == "yield" for r in op.regions for inner in r.ops
        )
    return REGISTRY[op.name].effect is Effect.PURE or op.name == "load"


def _constant(v: Value) -> object:
    return v.owner.attrs["value"] if v.owner is not None and v.owner.name == "const" else None


def _counts_up(loop: Op) -> bool:
    return not loop.attrs.get("exits") and _constant(loop.operands[0]) == 0 and _constant(loop.operands[2]) == 1


def _mirrors(loop: Op, forward: Op) -> bool:
    """``loop`` runs from the last iteration of ``forward`` (0 to n in steps of 1) to its first."""
    last, end, step = loop.operands[:3]
    if _constant(end) != -1 or _constant(step) != -1 or loop.attrs.get("exits"):
        return False
    n = forward.operands[1]
    known, top = _constant(n), _constant(last)
    if isinstance(known, int) or isinstance(top, int):
        return isinstance(known, int) and isinstance(top, int) and top == max(known, 0) - 1
    op = last.owner
    if op is None or op.name != "iadd" or not any(_constant(v) == -1 for v in op.operands):
        return False
    (count,) = [v for v in op.operands if _constant(v) != -1] or [last]
    return count is n or _is_positive_part(count, n)


def _is_positive_part(v: Value, n: Value) -> bool:
    op = v.owner
    return op is not None and op.name == "imax" and n in op.operands and any(_constant(x) == 0 for x in op.operands)


def _is_sum(loop: Op, k: int) -> bool:
    """The k-th carried value only ever has something added to it."""
    param, end = carried_params(loop)[k], carried_ends(loop)[k].owner
    if end is None or end.name != "fadd" or param not in end.operands or end.operands[0] is end.operands[1]:
        return False
    uses = [op for op in loop.regions[0].walk() if param in op.operands]
    return uses == [end]
