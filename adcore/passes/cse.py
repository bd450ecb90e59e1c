"""Common subexpressions: a pure op with the operands of an earlier one in scope is that one; so is a load of the same memory version.

After: no two such ops where one dominates the other; a guard that repeats an earlier one is gone.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from adcore.ir.core import Function, Module, Op, Region, Value
from adcore.ir.memory import Memory, analyse, reads
from adcore.ir.opdef import REGISTRY, Effect
from adcore.ir.printer import attribute
from adcore.ir.rewrite import Rewriter


def cse(function: Function, module: Module) -> Function:
    return _Sharer(analyse(function)).function(function)


class _Sharer(Rewriter):
    def __init__(self, memory: Memory) -> None:
        super().__init__()
        self.memory = memory
        self.scopes: list[dict[Hashable, list[Value]]] = []

    def region(self, old: Region, known: Mapping[Value, Value] | None = None) -> Region:
        self.scopes.append({})
        region = super().region(old, known)
        self.scopes.pop()
        return region

    def op(self, op: Op, operands: list[Value]) -> list[Value]:
        key = self.key(op, operands)
        if key is None:
            return self.copy(op, operands)
        for scope in reversed(self.scopes):
            if key in scope:
                return scope[key]
        results = self.copy(op, operands)
        self.scopes[-1][key] = results
        return results

    def key(self, op: Op, operands: list[Value]) -> Hashable | None:
        effect = REGISTRY[op.name].effect
        if op.regions or op.name == "poison":
            return None
        if effect is Effect.READ:
            version = tuple(self.memory.version[op, k] for k in reads(op))
        elif effect is Effect.PURE or op.name == "guard":
            version = ()
        else:
            return None
        names = list(operands)
        if REGISTRY[op.name].commutative:
            names.sort(key=id)
        attrs = tuple((k, attribute(v)) for k, v in op.attrs.items())
        return (op.name, tuple(names), attrs, tuple(r.type for r in op.results), version)
