"""Differentiation of IR functions.

``vjp`` makes, of a primal ``f(x...) -> (y...)``, the function ``f.vjp(x..., ct...) -> (y..., gradient...)``: forward sweep, then reverse sweep, in one body.
A call that was not inlined becomes two: ``g.fwd`` in the forward sweep, which leaves on the tape what ``g.rev`` takes off it in the reverse
sweep; ``complete`` makes these pairs. The rules stand in the op table, the structure (loops, branches, maps, memory) in ``reverse``, what is kept
in ``plan``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adcore.ad import activity as activity_analysis
from adcore.ad.activity import Activity
from adcore.ad.forward import ForwardMode
from adcore.ad.forward_sweep import ForwardSweep
from adcore.ad.plan import NotPlannable, Plan, make_plan
from adcore.ad.prepare import prepare
from adcore.ad.reverse import ReverseSweep
from adcore.ad.settle import settle
from adcore.ad.sizes import Sizes
from adcore.ir import memory as memory_analysis
from adcore.ir.build import Builder
from adcore.ir.core import Function, Module, Op, Region, Value
from adcore.ir.types import Array, Type, is_differentiable

__all__ = ["Analysis", "NoRule", "NotPlannable", "Plan", "analyse", "complete", "jvp", "reaches", "vjp"]


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


def analyse(function: Function, wrt: Sequence[int], mode: str = "top") -> Analysis:
    """Activity and plan of the reverse mode; ``mode="push"`` for a function whose reverse half is called apart.

    Raises ``NoRule`` or ``NotPlannable``.
    """
    primal = prepare(settle(function), apart=mode == "push")
    memory = memory_analysis.analyse(primal)
    activity = activity_analysis.analyse(primal, memory, wrt)
    if activity.without_rule:
        raise NoRule(activity.without_rule[0])
    plan = make_plan(primal, memory, activity, mode)
    return Analysis(primal, memory, activity, plan)


def reaches(function: Function, wrt: Sequence[int]) -> tuple[bool, ...]:
    """Whether each parameter can reach an output; all that forward mode has to know. Raises ``NoRule``."""
    activity = activity_analysis.analyse(function, memory_analysis.analyse(function), wrt)
    if activity.without_rule:
        raise NoRule(activity.without_rule[0])
    return tuple(activity.is_active(function.params[k]) for k in wrt)


def vjp(function: Function, wrt: Sequence[int], name: str, seed: float | None = None) -> tuple[Function, Plan]:
    """The function that returns the primal's results and the gradients of the parameters ``wrt``.

    With a ``seed`` the one differentiable result's cotangent is that constant and no parameter (``value_and_grad``).
    """
    analysis = analyse(function, wrt)
    primal = analysis.primal
    forward, body = _forward(analysis)
    b = forward.b
    returned = primal.body.terminator.operands
    with b.inside(body):
        forward.ops(primal.body.ops[:-1])
        results = [forward.new(v) for v in returned]
        cotangents: dict[int, Value] = {}
        for k in _outputs(primal):
            if seed is not None:
                cotangents[k] = b.f64(seed)
            else:
                cotangents[k] = _parameter(body, _contiguous(primal.results[k]), f"ct{k}")
                _same_shape(b, cotangents[k], results[k], "a cotangent has another shape than its result")
        gradients = ReverseSweep(primal, analysis.memory, analysis.activity, analysis.plan, forward).run(
            cotangents, wrt
        )
        b.op("return", [*results, *gradients], results=[])
    types = (*primal.results, *(g.type for g in gradients))
    return Function(name, body, types, {}, primal.span), analysis.plan


def jvp(function: Function, wrt: Sequence[int], name: str, keep: Sequence[int] | None = None) -> Function:
    """The function that returns the primal's results and their tangents; its last parameters are the tangents of the parameters ``wrt``.

    ``keep`` chooses the differentiable results whose tangents alone are returned (default: all results, then all tangents). Raises ``NoRule``.
    """
    memory = memory_analysis.analyse(function)
    activity = activity_analysis.analyse(function, memory, wrt)
    if activity.without_rule:
        raise NoRule(activity.without_rule[0])
    forward = ForwardMode(activity)
    body = Region([Value(p.type, p.name) for p in function.params])
    forward.env.update(zip(function.params, body.params, strict=True))
    forward.b.span = function.span
    for k in wrt:
        p = function.params[k]
        forward.tangent[p] = _parameter(body, p.type, f"t_{p.name}")
    returned = function.body.terminator.operands
    with forward.b.inside(body):
        for k in wrt:
            p = function.params[k]
            _same_shape(
                forward.b,
                forward.tangent[p],
                forward.new(p),
                f"the tangent of {p.name} has another shape than {p.name}",
            )
        forward.ops(function.body.ops[:-1])
        results = [] if keep is not None else [forward.new(v) for v in returned]
        results += [forward.tangent_of(returned[k]) for k in (_outputs(function) if keep is None else keep)]
        forward.b.op("return", results, results=[])
    return Function(name, body, tuple(v.type for v in results), {}, function.span)


def complete(module: Module) -> None:
    """Add the halves and tangents of every call that the derivatives in the module make, and of those that these make."""
    work = list(module.functions.values())
    while work:
        for op in work.pop().body.walk():
            callee, _, half = op.attrs["callee"].rpartition(".") if op.name == "call" else ("", "", "")
            if half in ("fwd", "rev", "tan") and op.attrs["callee"] not in module.functions:
                function = module.functions[callee]
                everything = [k for k, p in enumerate(function.params) if is_differentiable(p.type)]
                for made in (jvp(function, everything, f"{callee}.tan"),) if half == "tan" else _split(function):
                    module.functions[made.name] = made
                    work.append(made)


def _split(function: Function) -> tuple[Function, Function]:
    """``g.fwd(x...) -> (y...)``, and ``g.rev(x..., ct..., shadow...) -> (cotangent of each float parameter...)``; shadows of array parameters are added to."""
    wrt = [k for k, p in enumerate(function.params) if is_differentiable(p.type)]
    analysis = analyse(function, wrt, "push")
    primal = analysis.primal
    forward, first = _forward(analysis)
    b = forward.b
    with b.inside(first):
        forward.ops(primal.body.ops[:-1])
        forward.keep(primal.body)
        b.op("return", [forward.new(v) for v in primal.body.terminator.operands], results=[])
    second = Region([Value(p.type, p.name) for p in primal.params])
    forward.env = dict(zip(primal.params, second.params, strict=True))
    cotangents = {k: _parameter(second, primal.results[k], f"ct{k}") for k in _outputs(primal)}
    arrays = [k for k in wrt if isinstance(primal.params[k].type, Array)]
    shadows = {
        primal.params[k]: _parameter(second, primal.params[k].type, f"d_{primal.params[k].name}") for k in arrays
    }
    with b.inside(second):
        scalars = [k for k in wrt if k not in arrays]
        gradients = ReverseSweep(primal, analysis.memory, analysis.activity, analysis.plan, forward, shadows).run(
            cotangents, scalars
        )
        b.op("return", gradients, results=[])
    return (
        Function(f"{function.name}.fwd", first, primal.results, {}, primal.span),
        Function(f"{function.name}.rev", second, tuple(g.type for g in gradients), {}, primal.span),
    )


def _forward(analysis: Analysis) -> tuple[ForwardSweep, Region]:
    """A forward sweep about to be emitted, and the region it starts in."""
    primal = analysis.primal
    forward = ForwardSweep(analysis.plan, Sizes(primal), analysis.activity)
    body = Region([Value(p.type, p.name) for p in primal.params])
    forward.env.update(zip(primal.params, body.params, strict=True))
    forward.b.span = primal.span
    return forward, body


def _same_shape(b: Builder, given: Value, like: Value, message: str) -> None:
    """What the caller hands in is checked before anything reads it."""
    if isinstance(given.type, Array):
        for axis in range(given.type.rank):
            b.guard(b.ieq(b.dim(given, axis=axis), b.dim(like, axis=axis)), "ValueError", message)


def _outputs(primal: Function) -> list[int]:
    return [k for k, v in enumerate(primal.body.terminator.operands) if is_differentiable(v.type)]


def _parameter(body: Region, type: Type, name: str) -> Value:
    body.params.append(Value(type, name))
    return body.params[-1]


def _contiguous(type: Type) -> Type:
    """What entry points hand in; a half of a call is given shadows and tangents that are views where the primal's arrays are."""
    return Array(type.dtype, type.dims, "c") if isinstance(type, Array) else type
