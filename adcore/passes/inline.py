"""Inlining: replaces calls of functions that do not call themselves, up to a size.

Before: any calls. After: a remaining ``call`` is recursive or its callee is larger than ``BUDGET`` ops and called more than once.
"""

from __future__ import annotations

from collections.abc import Iterator

from adcore.ir.core import Function, Module, Op, Value
from adcore.ir.rewrite import Rewriter

BUDGET = 2000  # ops; differentiation through a call stores more than through its body


def callees(function: Function) -> Iterator[str]:
    for op in function.body.walk():
        if op.name == "call":
            yield op.attrs["callee"]


def inline(function: Function, module: Module) -> Function:
    return _Inliner(module, (function.name,)).function(function)


def _size(function: Function) -> int:
    return sum(1 for _ in function.body.walk())


class _Inliner(Rewriter):
    def __init__(self, module: Module, path: tuple[str, ...]) -> None:
        super().__init__()
        self.module = module
        self.path = path

    def op(self, op: Op, operands: list[Value]) -> list[Value]:
        if op.name != "call":
            return self.copy(op, operands)
        callee = self.module.functions[op.attrs["callee"]]
        if not self.worthwhile(callee):
            return self.copy(op, operands)
        outer, path = self.env, self.path
        self.env, self.path = {}, (*path, callee.name)
        results = self.splice(callee.body, operands)
        self.env, self.path = outer, path
        return results

    def worthwhile(self, callee: Function) -> bool:
        if callee.name in self.path or callee.attrs.get("inline") is False:
            return False
        return _size(callee) <= BUDGET and callee.name not in callees(callee)
