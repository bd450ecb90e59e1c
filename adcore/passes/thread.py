"""Threading: branches on one condition become one branch, so that what the first arm made flows straight into the second.

A union costs a tag and a phi per part only because the text uses it in several statements, each of which branches on its tag; merged,
the arms know the type and the phis are dead. Inside an arm the condition is a fact: branches and guards on it are decided.
After: no two branches on one condition stand in a region with only pure ops between them that need neither's results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from adcore.ir.core import Function, Module, Op, Region, Value
from adcore.ir.opdef import REGISTRY, Effect
from adcore.ir.rewrite import Rewriter


def thread(function: Function, module: Module) -> Function:
    return _Threader().function(function)


@dataclass(slots=True, eq=False)
class _Group:
    """Branches that will be emitted as one; `flipped[k]` says that branch k asks for the negation."""

    cond: Value
    branches: list[Op] = field(default_factory=list)
    flipped: list[bool] = field(default_factory=list)
    results: set[Value] = field(default_factory=set)

    def add(self, op: Op, flipped: bool) -> None:
        self.branches.append(op)
        self.flipped.append(flipped)
        self.results.update(op.results)


def _asked(cond: Value) -> tuple[Value, bool]:
    """The condition without its negations, and whether it is negated."""
    flipped = False
    while cond.owner is not None and cond.owner.name == "not_":
        cond, flipped = cond.owner.operands[0], not flipped
    return cond, flipped


def _moves(op: Op) -> bool:
    """It may be made earlier: nothing between there and here changes what it gives."""
    return not op.regions and REGISTRY[op.name].effect is Effect.PURE and op.name != "itruncdiv"


class _Threader(Rewriter):
    def __init__(self) -> None:
        super().__init__()
        self.facts: dict[Value, bool] = {}  # old conditions that are known in the arm being emitted

    def ops(self, ops: Sequence[Op]) -> None:
        group: _Group | None = None
        for op in ops:
            self.visited += 1
            cond, flipped = _asked(op.operands[0]) if op.name == "if" else (None, False)
            if cond is not None and cond not in self.facts:
                if group is not None and group.cond is not cond:
                    self.emit(group)
                    group = None
                group = group or _Group(cond)
                group.add(op, flipped)
                continue
            if group is not None and not (_moves(op) and group.results.isdisjoint(op.operands)):
                self.emit(group)
                group = None
            super().ops([op])
        if group is not None:
            self.emit(group)

    def emit(self, group: _Group) -> None:
        first = group.branches[0]
        with self.b.at(first.span):
            regions = [self.arm(group, truth) for truth in (True, False)]
            types = [r.type for op in group.branches for r in op.results]
            made = self.b.op("if", [self.new(group.cond)], dict(first.attrs), types, regions).results
        old = [r for op in group.branches for r in op.results]
        for before, after in zip(old, made, strict=True):
            self.env[before] = after
            after.name = before.name

    def arm(self, group: _Group, truth: bool) -> Region:
        region = Region()
        self.facts[group.cond] = truth
        ends: list[Value] = []
        with self.b.inside(region):
            for op, flipped in zip(group.branches, group.flipped, strict=True):
                taken = op.regions[0 if truth is not flipped else 1]
                self.ops(taken.ops[:-1])
                mine = [self.new(v) for v in taken.terminator.operands]
                self.env.update(zip(op.results, mine, strict=True))  # for the arms that follow
                ends += mine
            self.b.yield_(*ends)
        del self.facts[group.cond]
        return region

    def op(self, op: Op, operands: list[Value]) -> list[Value]:
        if op.name in ("if", "guard"):
            cond, flipped = _asked(op.operands[0])
            if cond in self.facts:
                truth = self.facts[cond] is not flipped
                if op.name == "if":
                    return self.splice(op.regions[0 if truth else 1], [])
                if truth:
                    return []
        return self.copy(op, operands)
