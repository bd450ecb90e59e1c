"""The engine's side: one program through front end, passes and differentiation, every stage kept, and the interpreter on each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from adcore import ad, driver, passes
from adcore.ad.activity import Activity
from adcore.ad.activity import analyse as activity_of
from adcore.diagnostics import Diagnostic
from adcore.frontend.project import Project
from adcore.ir import interp
from adcore.ir.core import Function, Module, Op
from adcore.ir.memory import analyse as memory_of
from adcore.ir.opdef import REGISTRY, ZERO
from adcore.ir.types import F64, is_differentiable
from adcore.ir.verify import verify
from adcore.source import SourceText
from fuzz.generate import Program
from fuzz.reference import copied


class Rejected(Exception):
    """The engine refused the program with findings of its own."""

    def __init__(self, findings: Sequence[Diagnostic]) -> None:
        super().__init__("; ".join(f"{d.rule}: {d.message}" for d in findings))
        self.findings = findings

    @property
    def broken(self) -> bool:
        return any(d.rule.startswith("compiler/") for d in self.findings)


Runner: TypeAlias = "Callable[[Sequence[Any]], tuple[list[Any], str | None]]"


@dataclass(frozen=True, slots=True)
class Stage:
    """A function at one stage: ``run(args)`` gives its results, or the name of the exception class that it raises."""

    name: str
    run: Runner


@dataclass(slots=True)
class Stages:
    """All stages of one program. Gradients take arguments and cotangents, tangents arguments and tangents, the hessian arguments and a vector."""

    primal: Function
    active: frozenset[str]  # ops on an active path of the optimised primal
    trace: interp.Trace  # of the last primal run by the interpreter
    primals: list[Stage] = field(default_factory=list)
    gradients: list[Stage] = field(default_factory=list)
    tangents: list[Stage] = field(default_factory=list)
    hessian: Stage | None = None
    active_in_gradient: frozenset[str] = (
        frozenset()
    )  # ops on an active path of the gradient that second order differentiates

    @property
    def outputs(self) -> list[int]:
        """Results that carry a derivative."""
        return [k for k, v in enumerate(self.primal.body.terminator.operands) if is_differentiable(v.type)]


def build(program: Program, *, second: bool = False, apart: bool = False, check: bool = False) -> Stages:
    """Every stage of one program. ``apart``: differentiate before optimisation, so that calls of helpers stay calls.

    Raises ``Rejected`` where the engine says what it does not compile; any other exception is a defect.
    """
    analysis = driver.analyse(Project([]), SourceText("m.py", program.text), "m")
    errors = [d for d in analysis.diagnostics if d.severity == "error"]
    if errors or not analysis.entries:
        raise Rejected(errors)
    entry = analysis.entries[0]
    name = entry.kernels["primal"]
    source = analysis.lowered if apart else analysis.module
    primal = source.functions[name]
    if check:
        verify(analysis.lowered)
        passes.run(analysis.lowered, check=True)
    try:
        found = ad.analyse(primal, program.wrt)
    except ad.NotPlannable:
        if not apart:
            raise
        return build(program, second=second, check=check)
    stages = Stages(primal, _active(found.primal, found.activity), interp.Trace())
    stages.primals = [
        _stage("lowered", analysis.lowered, name),
        _stage("optimised", analysis.module, name, stages.trace),
    ]
    stages.gradients = _grown(source, ad.vjp(primal, program.wrt, "f.vjp")[0], check)
    stages.tangents = _grown(source, ad.jvp(primal, program.wrt, "f.jvp"), check)
    if second and len(primal.results) == 1 and primal.results[0] == F64:
        _add_second(stages, analysis.module.functions[name], analysis.module, program.wrt)
    return stages


def _active(function: Function, activity: Activity) -> frozenset[str]:
    """Ops that the derivative passes through. One whose slope is 0 everywhere (``floor``) counts where a slope of it would be seen."""
    return frozenset(op.name for op in function.body.walk() if activity.participates(op) or _flat(op, activity))


def _flat(op: Op, activity: Activity) -> bool:
    partials = REGISTRY[op.name].partials
    return (
        bool(partials)
        and all(p is ZERO for p in partials)
        and op.result in activity.useful
        and any(v in activity.varied for v in op.operands)
    )


def _stage(name: str, module: Module, function: str, trace: interp.Trace | None = None) -> Stage:
    return Stage(name, lambda args: interpret(module, function, args, trace))


def _grown(source: Module, function: Function, check: bool) -> list[Stage]:
    """A derivative as it was made, optimised, and lowered."""
    raw = Module({**source.functions, function.name: function}, source.constants)
    ad.complete(raw)
    if check:
        verify(raw)
    new = [n for n in raw.functions if n not in source.functions]
    optimised = passes.run(raw, new, check=check)
    lowered = passes.run(optimised, new, passes.LOWERING, check=check)
    made = (("as made", raw), ("optimised", optimised), ("lowered", lowered))
    return [_stage(stage, module, function.name) for stage, module in made]


def _add_second(stages: Stages, primal: Function, source: Module, wrt: Sequence[int]) -> None:
    """Forward over reverse."""
    gradient = ad.vjp(primal, wrt, "f.grad", 1.0)[0]
    module = Module({**source.functions, "f.grad": gradient}, source.constants)
    ad.complete(module)
    module = passes.run(module, [n for n in module.functions if n not in source.functions])
    gradient, kept = module.functions["f.grad"], [1 + k for k in range(len(wrt))]
    stages.active_in_gradient = _active(gradient, activity_of(gradient, memory_of(gradient), wrt, kept))
    module.functions["f.hvp"] = ad.jvp(gradient, wrt, "f.hvp", keep=kept)
    ad.complete(module)
    stages.hessian = _stage("second order", passes.run(module, ["f.hvp"]), "f.hvp", stages.trace)


def interpret(
    module: Module, name: str, args: Sequence[Any], trace: interp.Trace | None = None
) -> tuple[list[Any], str | None]:
    """Results, or the name of the exception class that a guard raises."""
    try:
        return interp.run(module, name, copied(args), trace), None
    except interp.Raised as raised:
        return [], raised.kind
