"""Differentiation of IR functions.

``vjp`` makes, of a primal ``f(x...) -> (y...)``, the function ``f.vjp(x..., ct...) -> (y..., gradient...)``: forward sweep, then reverse sweep, in one body.
The rules stand in the op table, the structure (loops, branches, maps, memory) in ``reverse``, what is kept in ``plan``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adcore.ad import activity as activity_analysis
from adcore.ad.activity import Activity
from adcore.ad.forward_sweep import ForwardSweep
from adcore.ad.plan import NotPlannable, Plan, make_plan
from adcore.ad.prepare import prepare
from adcore.ad.reverse import ReverseSweep
from adcore.ad.sizes import Sizes
from adcore.ir.core import Function, Op, Region, Value
from adcore.ir.types import Array, is_differentiable
from adcore.ir import memory as memory_analysis

__all__ = ["Analysis", "NoRule", "NotPlannable", "Plan", "analyse", "vjp"]


class NoRule(Exception):
    """An active path leads through an op that has no derivative."""

    def __init__(self, op: Op) -> None:
        super().__init__(f"{op.name} has no derivative")
        self.op = op


@dataclass(slots=True)
class Analysis:
    """What differentiation knows before it emits anything. ``primal`` is the function it will differentiate (prepared)."""

    primal: Function
    memory: memory_analysis.Memory
    activity: Activity
    plan: Plan
    reaches: tuple[bool, ...]  # per requested parameter: can it reach an output


def analyse(function: Function, wrt: Sequence[int]) -> Analysis:
    """Activity and plan of the reverse mode. Raises ``NoRule`` or ``NotPlannable``."""
    primal = prepare(function)
    memory = memory_analysis.analyse(primal)
    activity = activity_analysis.analyse(primal, memory, wrt)
    if activity.without_rule:
        raise NoRule(activity.without_rule[0])
    plan = make_plan(primal, memory, activity)
    reaches = tuple(activity.is_active(primal.params[k]) for k in wrt)
    return Analysis(primal, memory, activity, plan, reaches)


def vjp(function: Function, wrt: Sequence[int], name: str, seed: float | None = None) -> tuple[Function, Plan]:
    """The function that returns the primal's results and the gradients of the parameters ``wrt``.

    With a ``seed`` the one differentiable result's cotangent is that constant and no parameter (``value_and_grad``).
    """
    analysis = analyse(function, wrt)
    primal = analysis.primal
    sizes = Sizes(primal)
    forward = ForwardSweep(analysis.plan, sizes)
    body = Region([Value(p.type, p.name) for p in primal.params])
    forward.env.update(zip(primal.params, body.params, strict=True))
    b = forward.b
    b.span = primal.span
    returned = primal.body.terminator.operands
    outputs = [k for k, v in enumerate(returned) if is_differentiable(v.type)]
    with b.inside(body):
        forward.ops(primal.body.ops[:-1])
        results = [forward.new(v) for v in returned]
        cotangents: dict[int, Value] = {}
        for k in outputs:
            if seed is not None:
                cotangents[k] = b.f64(seed)
            else:
                kind = primal.results[k]
                ct = Value(Array(kind.dtype, kind.dims, "c") if isinstance(kind, Array) else kind, f"ct{k}")
                body.params.append(ct)
                cotangents[k] = ct
        gradients = ReverseSweep(primal, analysis.memory, analysis.activity, analysis.plan, sizes, forward, b).run(cotangents, wrt)
        b.op("return", [*results, *gradients], results=[])
    types = (*primal.results, *(g.type for g in gradients))
    return Function(name, body, types, {}, primal.span), analysis.plan


