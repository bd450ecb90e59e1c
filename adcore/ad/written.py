"""Functions that write into their parameters, made functions that do not.

After: each written parameter is copied first, the copy is worked on, and its last content is one more result. So derivatives never change an argument,
gradients refer to the incoming content, and the copy is an op like any other.
"""

from __future__ import annotations

from collections.abc import Sequence

from adcore.ir.core import Function, Op, Value
from adcore.ir.rewrite import Rewriter
from adcore.ir.types import Array


def functional(function: Function, written: Sequence[int]) -> Function:
    """``written``: parameter numbers, in the order in which their contents become results."""
    if not written:
        return function
    return _Copier(function, written).function(function)


class _Copier(Rewriter):
    def __init__(self, function: Function, written: Sequence[int]) -> None:
        super().__init__()
        self.params = [function.params[k] for k in written]
        self.copies: list[Value] = []

    def function(self, function: Function) -> Function:
        new = super().function(function)
        types = tuple(Array(v.type.dtype, v.type.dims) for v in self.params if isinstance(v.type, Array))
        return Function(new.name, new.body, (*new.results, *types), new.attrs, new.span)

    def ops(self, ops: Sequence[Op]) -> None:
        if not self.copies:
            for p in self.params:
                self.copies.append(self.copied(self.new(p)))
                self.env[p] = self.copies[-1]
        super().ops(ops)

    def copied(self, array: Value) -> Value:
        assert isinstance(array.type, Array)
        dims = [self.b.dim(array, axis=k) for k in range(array.type.rank)]
        (copy,) = self.b.map_(dims, [array], ["elem"], lambda i, e: e)
        copy.name = array.name
        return copy

    def op(self, op: Op, operands: list[Value]) -> list[Value]:
        if op.name == "return":
            operands = [*operands, *self.copies]
        return self.copy(op, operands)
