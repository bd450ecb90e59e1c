"""Loop-invariant code: pure ops move out of loops and maps as far as their operands allow, never out of an ``if`` arm.

After: no pure op in a loop has only operands from outside. Loads stay: the guard that makes them legal stays.
"""

from __future__ import annotations

from typing import Any

from adcore.ir.core import Function, Module, Op, Region, Value
from adcore.ir.opdef import REGISTRY, Effect
from adcore.ir.rewrite import Rewriter

# itruncdiv is pure but traps on operands that its region may exclude
_STAYS = frozenset({"itruncdiv", "poison"})


def licm(function: Function, module: Module) -> Function:
    return _Hoister().function(function)


class _Hoister(Rewriter):
    def __init__(self) -> None:
        super().__init__()
        self.regions: list[Region] = []
        self.floor = [0]  # the outermost level that ops of the current region may reach
        self.level: dict[Value, int] = {}
        self.arm = False  # the region about to be entered is an arm of an ``if``

    def region(self, old: Region, known: Any = None) -> Region:
        region = Region([Value(p.type, p.name) for p in old.params])
        self.env.update(zip(old.params, region.params, strict=True))
        self.regions.append(region)
        self.floor.append(len(self.regions) - 1 if self.arm else self.floor[-1])
        for p in region.params:
            self.level[p] = len(self.regions) - 1
        arm = self.arm
        with self.b.inside(region):
            self.ops(old.ops)
        self.regions.pop()
        self.floor.pop()
        self.arm = arm  # the other arm is one too
        return region

    def op(self, op: Op, operands: list[Value]) -> list[Value]:
        here = len(self.regions) - 1
        target = here
        if REGISTRY[op.name].effect is Effect.PURE and op.name not in _STAYS:
            target = max([self.floor[-1], *(self.level.get(v, 0) for v in operands)])
        self.arm = op.name == "if"
        with self.b.inside(self.regions[target]):
            results = self.copy(op, operands)
        self.arm = False
        for r in results:
            self.level[r] = target
        return results
