"""Reductions in order: a scalar carried through all elements of an array."""

from __future__ import annotations

from collections.abc import Callable

from adcore.frontend.context import Context
from adcore.frontend.values import ArrayRef
from adcore.ir.core import Value


def folded(ctx: Context, array: ArrayRef, start: Value, step: Callable[[Value, Value], Value]) -> Value:
    """`step` of what is carried and the next element, over all elements."""
    b = ctx.b

    def level(done: list[Value], carried: Value) -> Value:
        if len(done) == array.rank:
            return step(carried, b.load(array.value, *done))

        def body(i: Value, now: list[Value]) -> list[Value]:
            return [level([*done, i], now[0])]

        return b.for_(b.i64(0), array.sizes[len(done)].value, b.i64(1), [carried], body)[0]

    return level([], start)
