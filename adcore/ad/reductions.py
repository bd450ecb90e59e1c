"""How each element counts in the derivative of a product, maximum or minimum over a box.

``over(kinds, values)`` reduces ``values(y)`` over the elements y that the primal reduced; the functions return the weight of an element y.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from adcore.ir.build import Builder
from adcore.ir.core import Value

Over: TypeAlias = Callable[[list[str], Callable[[Value], list[Value]]], list[Value]]
Weight: TypeAlias = Callable[[Value], Value]


def tie_share(b: Builder, over: Over, best: Value) -> Weight:
    """Maximum and minimum: elements equal to the best share evenly, the others get 0."""
    (ties,) = over(["add"], lambda y: [b.select(b.feq(y, best), b.f64(1.0), b.f64(0.0))])
    share = b.fdiv(b.f64(1.0), ties)
    return lambda y: b.select(b.feq(y, best), share, b.f64(0.0))


def other_factors(b: Builder, over: Over) -> Weight:
    """Product: the product of all the other factors, exact where some are zero."""
    zero, one = b.f64(0.0), b.f64(1.0)
    zeros, rest = over(
        ["add", "mul"], lambda y: [b.select(b.feq(y, zero), one, zero), b.select(b.feq(y, zero), one, y)]
    )

    def weight(y: Value) -> Value:
        is_zero = b.feq(y, zero)
        quotient = b.select(b.feq(zeros, zero), b.fdiv(rest, b.select(is_zero, one, y)), zero)
        alone = b.select(b.feq(zeros, one), rest, zero)
        return b.select(is_zero, alone, quotient)

    return weight
