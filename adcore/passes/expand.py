"""Expansion: ops whose row says how to write them in simpler ops are written so. Runs after the last differentiation.

After: every scalar op is one the code generator emits directly. ``zmul`` becomes a select here and nowhere earlier: a plain multiply where the
second factor is provably finite.
"""

from __future__ import annotations

import math

from adcore.ir.core import Function, Module, Op, Value
from adcore.ir.opdef import REGISTRY
from adcore.ir.rewrite import Rewriter


def expand(function: Function, module: Module) -> Function:
    return _Expander().function(function)


def finite(v: Value, depth: int = 6) -> bool:
    """Provably finite, whatever the inputs."""
    op = v.owner
    if op is None or depth == 0:
        return False
    if op.name == "const":
        value = op.attrs["value"]
        return isinstance(value, int) or math.isfinite(value)
    if op.name in ("fneg", "fabs"):
        return finite(op.operands[0], depth - 1)
    if op.name == "select":
        return finite(op.operands[1], depth - 1) and finite(op.operands[2], depth - 1)
    return op.name == "itof"


class _Expander(Rewriter):
    def op(self, op: Op, operands: list[Value]) -> list[Value]:
        if op.name == "zmul" and finite(operands[1]):
            return [self.b.fmul(*operands)]
        if op.name == "zzmul" and all(map(finite, operands)):
            return [self.b.fmul(*operands)]
        lower = REGISTRY[op.name].lower
        if callable(lower):
            return self.again(lower(self.b, *operands, **op.attrs))
        return self.copy(op, operands)

    def again(self, v: Value) -> list[Value]:
        """An expansion may use ops that expand themselves; those it appended are expanded in turn."""
        ops = self.b.region.ops
        pending = [k for k, op in enumerate(ops) if callable(REGISTRY[op.name].lower)]
        if not pending:
            return [v]
        tail = ops[pending[0] :]
        del ops[pending[0] :]
        env: dict[Value, Value] = {}
        for op in tail:
            operands = [env.get(x, x) for x in op.operands]
            for old, new in zip(op.results, self.op(op, operands), strict=True):
                env[old] = new
        return [env.get(v, v)]
