"""How each element counts in the derivative of a product, maximum or minimum over a box.

``over(kinds, values)`` reduces ``values(y)`` over the elements y that the primal reduced; the functions return
the weight of an element y at an index of the box.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from adcore.ir.build import Builder
from adcore.ir.core import Value
from adcore.ir.types import F64

Over: TypeAlias = Callable[[list[str], Callable[[Value], list[Value]]], list[Value]]
Weight: TypeAlias = Callable[[Value, list[Value]], Value]


def tie_share(b: Builder, over: Over, best: Value) -> Weight:
    """Maximum and minimum: elements equal to the best share evenly, the others get 0."""
    (ties,) = over(["add"], lambda y: [b.select(b.feq(y, best), b.f64(1.0), b.f64(0.0))])
    share = b.fdiv(b.f64(1.0), ties)
    return lambda y, index: b.select(b.feq(y, best), share, b.f64(0.0))


def other_factors(b: Builder, over: Over, dims: Sequence[Value]) -> Weight:
    """Product: the product of all the other factors, those before an element times those after it.

    Without a division it is exact where factors are zero, and so are its own derivatives.
    """
    (factors,) = over(["elem"], lambda y: [y])
    others = b.op("alloc", dims, {"dtype": F64, "fill": 1.0}).result

    def before(index: list[Value], so_far: Value) -> Value:
        b.op("store", [others, *index, so_far])
        return b.fmul(so_far, b.load(factors, *index))

    def after(index: list[Value], so_far: Value) -> Value:
        b.op("store", [others, *index, b.fmul(b.load(others, *index), so_far)])
        return b.fmul(so_far, b.load(factors, *index))

    _walk(b, dims, before, backwards=False)
    _walk(b, dims, after, backwards=True)
    return lambda y, index: b.load(others, *index)


def _walk(b: Builder, dims: Sequence[Value], visit: Callable[[list[Value], Value], Value], backwards: bool) -> None:
    """Visit every element of a box in order, or against it, carrying one number that starts as 1."""
    zero, one, minus = b.i64(0), b.i64(1), b.i64(-1)

    def along(axis: int, index: list[Value], so_far: Value) -> Value:
        if axis == len(dims):
            return visit(index, so_far)
        n = dims[axis]
        bounds = (b.isub(n, one), minus, minus) if backwards else (zero, n, one)
        (result,) = b.for_(*bounds, [so_far], lambda i, carried: [along(axis + 1, [*index, i], carried[0])])
        return result

    along(0, [], b.f64(1.0))
