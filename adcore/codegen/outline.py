"""Loop nests of long functions, each in an LLVM function of its own.

LLVM spends on a loop in proportion to the function around it: after each of its loop passes on each loop it looks at
the whole function again. A gradient of hundreds of array expressions takes it half as long in functions of their own,
at the price of a call for each nest, which small nests feel; so only the longest are cut up. They are never inlined
back. What a nest reads from around it are its parameters,
under the same names: its registers are numbered on from those of the function that it came out of.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from adcore.codegen.context import Context
from adcore.codegen.layout import REGISTER, ArrayRef, load, store
from adcore.codegen.text import Block, FunctionText, symbol
from adcore.ir.core import Function, Op, Value, free_values
from adcore.ir.types import Scalar

MANY = 150  # nests in a function from which on LLVM takes longer over all of them than calls cost
NESTS = ("map", "assign")
# What needs the frame or the arena of the kernel.
IN_FRAME = ("call", "push", "pop", "alloc", "assign", "map", "matmul")


def is_long(function: Function) -> bool:
    return sum(op.name in NESTS for op in function.body.walk()) > MANY


def stands_alone(op: Op) -> bool:
    """The regions of the op need nothing of the kernel's frame."""
    return not any(inner.name in IN_FRAME for region in op.regions for inner in region.walk())


@dataclass(slots=True)
class Outlined:
    """A nest that is being written: ``inner`` is its context; ``close`` writes the call of it."""

    outer: Context
    inner: Context
    params: dict[str, str]  # register -> its type and attributes

    @staticmethod
    def open(c: Context, numbers: Iterable[str], arrays: Iterable[ArrayRef], op: Op, apart: bool) -> Outlined:
        """``numbers``: registers of i64. ``apart``: what the nest writes is memory that it reads under no other name."""
        params: dict[str, str] = {}

        def need(type: str, *names: str) -> None:
            params.update({name: type for name in names if name.startswith("%")})

        def need_array(array: ArrayRef) -> None:
            need("ptr noalias" if apart else "ptr", array.data)
            need("i64", *array.dims, *(array.strides or ()))

        need("i64", *numbers)
        for array in arrays:
            need_array(array)
        for value in (v for region in op.regions for v in free_values(region)):
            known = c.env[value]
            if isinstance(known, ArrayRef):
                need_array(known)
            else:
                need(REGISTER[scalar(value)], known)
        inner = replace(c, w=FunctionText(after=c.w), env=dict(c.env), exit=Block("exit"), failures=[], long=False)
        inner.scope = None
        if c.scope is not None and op.span is not None:
            inner.scope = c.debug.function(c.function.name, op.span)
            assert inner.scope is not None
            inner.w.location = c.debug.location(inner.scope, op.span)
        return Outlined(c, inner, params)

    def close(self, totals: dict[Value, str]) -> dict[Value, str]:
        """End the nest, call it; the totals (register in the nest) as registers of the caller."""
        c, inner, w = self.outer, self.inner, self.outer.w
        results = [f"%total{k}" for k in range(len(totals))]
        for pointer, (total, register) in zip(results, totals.items(), strict=True):
            store(inner.w, pointer, scalar(total), register)
        inner.failures.append(("0", inner.w.current))
        inner.w.br(inner.exit)
        inner.w.place(inner.exit)
        status = inner.w.phi("i32")
        for value, block in inner.failures:
            status.add(value, block)
        inner.w.line(f"ret i32 {status.name}")
        w.go_on_after(inner.w)
        c.errors = inner.errors
        name = symbol(f"k.{c.function.name}.nest{len(c.nests) + 1}")
        params = ["ptr noalias %ctx", *(f"{type} {name}" for name, type in self.params.items())]
        params += [f"ptr noalias {result}" for result in results]
        debug_ref = f" !dbg {inner.scope}" if inner.scope is not None else ""
        c.nests.append(f"define internal i32 {name}({', '.join(params)}) #1{debug_ref} {{\n{inner.w.body()}\n}}\n")
        memory = {total: w.alloca("i64") for total in totals}
        arguments = ["ptr %ctx", *(f"{type} {name}" for name, type in self.params.items())]
        arguments += [f"ptr {pointer}" for pointer in memory.values()]
        returned = w.value(f"call i32 {name}({', '.join(arguments)})")
        if len(inner.failures) > 1:
            c.check(w.value(f"icmp eq i32 {returned}, 0"), None)
        return {total: load(w, pointer, scalar(total)) for total, pointer in memory.items()}


def scalar(value: Value) -> Scalar:
    assert isinstance(value.type, Scalar)
    return value.type
