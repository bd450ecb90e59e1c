"""Copying IR with changes. A pass never edits a function in place: it emits a new one, so no use-lists need upkeep and a pass is linear.

``Rewriter.op`` is the hook: it gets an old op and its new operands and returns the new values of its results, having appended to ``self.b``
whatever it wants. The default copies the op, rewriting its regions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adcore.ir.build import Builder
from adcore.ir.core import Function, Op, Region, Value


class Rewriter:
    def __init__(self) -> None:
        self.env: dict[Value, Value] = {}
        self.b = Builder(Region())
        self.visited = 0  # ops seen, for the tests of linearity

    def new(self, v: Value) -> Value:
        return self.env.get(v, v)

    def function(self, function: Function) -> Function:
        body = self.region(function.body)
        return Function(function.name, body, function.results, dict(function.attrs), function.span)

    def region(self, old: Region, known: Mapping[Value, Value] | None = None) -> Region:
        """The rewritten copy of a region, with parameters of its own; uses of the ``known`` old parameters become those values."""
        region = Region([Value(p.type, p.name) for p in old.params])
        self.env.update(zip(old.params, region.params, strict=True))
        if known:
            self.env.update(known)
        self.entered(old, region)
        with self.b.inside(region):
            self.ops(old.ops)
        return region

    def entered(self, old: Region, new: Region) -> None:
        """Hook: a region is about to be filled."""

    def ops(self, ops: Sequence[Op]) -> None:
        b, env, outer = self.b, self.env, self.b.span
        self.visited += len(ops)
        try:
            for op in ops:
                b.span = op.span or outer
                results = self.op(op, [env.get(v, v) for v in op.operands])
                for old, new in zip(op.results, results, strict=True):
                    env[old] = new
                    if new.name is None:
                        new.name = old.name
        finally:
            b.span = outer

    def splice(self, region: Region, args: Sequence[Value]) -> list[Value]:
        """Emit a region's ops here, its parameters being ``args``; returns what its terminator holds."""
        self.env.update(zip(region.params, args, strict=True))
        self.ops(region.ops[:-1])
        return [self.new(v) for v in region.terminator.operands]

    def op(self, op: Op, operands: list[Value]) -> list[Value]:
        return self.copy(op, operands)

    def copy(self, op: Op, operands: Sequence[Value], known: Mapping[Value, Value] | None = None) -> list[Value]:
        regions = [self.region(r, known) for r in op.regions] if op.regions else ()
        return self.b.append(
            Op(op.name, operands, [r.type for r in op.results], dict(op.attrs), regions, op.span or self.b.span)
        ).results
