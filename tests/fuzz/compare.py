"""One program, everything compared: values and exceptions of all stages with CPython, reverse with forward mode and with differences."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adcore.ir.types import Array
from fuzz.generate import Program
from fuzz.reference import Outcome, Reference, between_jumps, copied, moved, slope
from fuzz.stages import Rejected, Stage, Stages, build

NOT_EXACT = re.compile(
    r"\*\*|\bpow|math\.(?!floor|ceil|trunc|sqrt|fabs|fmod|copysign|isfinite|isnan|isinf)"
    r"|np\.(?!zeros|ones|array|where|full|abs|maximum|minimum|sqrt|floor|ceil|clip|arange|positive|negative"
    r"|add|sub|mul|divide|square)|sum|mean|@|dot|prod"
)

# Ops whose slope at 0 is a convention.
KINKED = frozenset({"fabs", "pymax", "pymin", "fmax", "fmin", "copysign", "hypot", "root", "sqrt", "select", "mod", "fmod", "remainder", "if"})  # fmt: skip

# A slope that is larger is no test: its factors (the -7 * a**-8 of a**-7) may overflow before their product does, and to differences a sine
# of an argument without digits after the point is noise, whatever its slope; so is a remainder of remainders.
TOO_STEEP = 1e50


@dataclass(frozen=True, slots=True)
class Mismatch:
    """``kind`` is the first word of the reproducer's headline; a shrunk program must fail in the same kind."""

    kind: str
    detail: str
    args: tuple[Any, ...] = ()


@dataclass(slots=True)
class Result:
    mismatches: list[Mismatch] = field(default_factory=list)
    rejected: str | None = None
    values: int = 0  # comparisons of values and exceptions
    slopes: int = 0  # gradients compared with differences
    duals: int = 0  # reverse compared with forward
    ops: Counter[str] = field(default_factory=Counter)  # executed in the primal
    active: Counter[str] = field(default_factory=Counter)  # active and executed in a gradient that was compared
    errors: Counter[str] = field(default_factory=Counter)  # exceptions that CPython raised


def check(program: Program, *, second: bool = False, apart: bool = False, verify: bool = False) -> Result:
    result = Result()
    try:
        stages = build(program, second=second, apart=apart, check=verify)
    except Rejected as rejected:
        result.rejected = str(rejected)
        if rejected.broken:
            result.mismatches.append(Mismatch("internal", str(rejected)))
        return result
    except Exception as error:
        result.mismatches.append(Mismatch("crash", f"{type(error).__name__}: {error}"))
        return result
    compare(program, stages, result)
    return result


def compare(program: Program, stages: Stages, result: Result) -> None:
    """Everything at each argument tuple of the program."""
    reference = Reference(program)
    for number, args in enumerate(program.calls):
        try:
            _Call(program, reference, stages, args, random.Random(program.seed * 10 + number), result).run()
        except Exception as error:
            result.mismatches.append(Mismatch("crash", f"{type(error).__name__}: {error}", args))


class _Call:
    """All comparisons at one argument tuple."""

    def __init__(self, program: Program, reference: Reference, stages: Stages, args: Sequence[Any], rng: random.Random, result: Result) -> None:  # fmt: skip
        self.program, self.reference, self.stages, self.args, self.rng, self.result = (
            program,
            reference,
            stages,
            args,
            rng,
            result,
        )
        self.exact = NOT_EXACT.search(program.text.partition("Vector\n")[2]) is None
        self.want = reference.call(args)
        self.noise: list[float] | None = None

    def fail(self, kind: str, detail: str) -> None:
        self.result.mismatches.append(Mismatch(kind, detail, tuple(self.args)))

    def run(self) -> None:
        if self.want.error is not None:
            self.result.errors[self.want.error] += 1
        self.stages.trace.ops.clear()
        for stage in self.stages.primals:
            self.value(f"value ({stage.name})", *stage.run(self.args))
        executed = Counter(self.stages.trace.ops)
        self.result.ops.update(dict.fromkeys(executed, 1))
        if self.result.mismatches:
            return
        weights = [self.weight(k) for k in self.stages.outputs]
        direction = [self.random_like(self.args[k]) for k in self.program.wrt]
        reverse = [self.derivative(f"reverse, {s.name}", s, weights, direction) for s in self.stages.gradients]
        forward = [self.derivative(f"forward, {s.name}", s, direction, weights) for s in self.stages.tangents]
        if self.want.error is None and not self.result.mismatches and self.is_finite():
            self.duality(reverse, forward)
            self.differences(reverse[-1][0], weights, direction, executed)
            self.second_order(direction)

    def is_finite(self) -> bool:
        """A result that is NaN or infinite has no slope to compare: 0 * NaN depends on which factor is asked first."""
        return all(bool(np.all(np.isfinite(self.want.leaves[k]))) for k in self.stages.outputs)

    def weight(self, k: int) -> Any:
        if self.want.error is not None:
            return np.ones(2) if isinstance(self.stages.primal.results[k], Array) else 1.0
        return self.random_like(self.want.leaves[k])

    def random_like(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return np.array([self.rng.uniform(-1, 1) for _ in range(value.size)])
        return self.rng.uniform(0.3, 1)

    # --- values
    def value(self, what: str, got: Sequence[Any], error: str | None) -> None:
        self.result.values += 1
        if error != self.want.error:
            if self.doubtful():
                return
            self.fail(what, f"raises {error}, CPython {self.want.error} {self.want.message}: {self.want.leaves}")
            return
        for k, want in enumerate(self.want.leaves):
            problem = self.differs(got[k], want, k)
            if problem:
                self.fail(what, f"result {k} is {got[k]!r}, CPython's {want!r} ({problem})")

    def differs(self, got: Any, want: Any, k: int) -> str | None:
        if isinstance(want, np.ndarray) and want.ndim != 0:
            if np.shape(got) != want.shape:
                return "shape"
        elif isinstance(got, np.ndarray):
            return "rank"
        a, b = np.asarray(got, float), np.asarray(want, float)
        if np.array_equal(a, b, equal_nan=True) and (not self.exact or np.array_equal(np.signbit(a), np.signbit(b))):
            return None
        with np.errstate(all="ignore"):
            if not self.exact and bool(
                np.all((np.abs(a - b) <= 1e-13 * np.abs(b)) | (a == b) | (np.isnan(a) & np.isnan(b)))
            ):
                return None
            gap = float(np.max(np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b)), initial=0.0))
        if self.exact:
            return "not bit-equal"
        return None if gap <= 20 * self.shaken()[k] else f"off by {gap}"

    def shaken(self) -> list[float]:
        if self.noise is None:
            self.noise = self.reference.noise(self.args)
        return self.noise

    def doubtful(self) -> bool:
        """Rounding decides whether CPython itself raises here."""
        if self.exact:
            return False
        for seed in range(4):
            rng = random.Random(seed)
            near = [a + rng.uniform(-1e-13, 1e-13) if not isinstance(a, int) else a for a in self.args]
            if self.reference.call(near).error != self.want.error:
                return True
        return False

    # --- derivatives
    def derivative(self, what: str, stage: Stage, extra: list[Any], others: list[Any]) -> tuple[float, float]:
        """<derivative, others>, and the size of its terms; the values that come with it are compared."""
        got, error = stage.run([*self.args, *extra])
        count = len(self.stages.primal.results)
        self.value(f"value ({what})", got[:count], error)
        return _dot(got[count:], others) if error is None else (math.nan, 0.0)

    def duality(self, reverse: list[tuple[float, float]], forward: list[tuple[float, float]]) -> None:
        """<gradient, direction> of all reverse stages equals <weights, tangents> of all forward stages."""
        self.result.duals += 1
        first, size = reverse[0]
        for name, (value, other) in [
            *((f"reverse {k}", v) for k, v in enumerate(reverse)),
            *((f"forward {k}", v) for k, v in enumerate(forward)),
        ]:
            if math.isfinite(first) != math.isfinite(value):
                self.fail("duality", f"{name} gives {value!r}, the first reverse sweep {first!r}")
            elif (
                math.isfinite(first)
                and abs(value - first) > 1e-12 * max(size, other) + 1e-14
                and not self.ill(value, first)
            ):
                self.fail(
                    "duality",
                    f"{name} gives {value!r}, the first reverse sweep {first!r} (sizes {size:.3g}, {other:.3g})",
                )

    def ill(self, a: float, b: float) -> bool:
        """Both move by more than they differ when the arguments move by units in the last place."""
        seen = []
        for seed in range(5):
            rng = random.Random(seed)
            near = [
                x * (1 + rng.uniform(-4e-16, 4e-16)) + rng.uniform(-1e-16, 1e-16) if not isinstance(x, int) else x
                for x in self.args
            ]
            same = random.Random(1)
            direction = [
                np.array([same.uniform(-1, 1) for _ in range(np.size(self.args[k]))]).reshape(np.shape(self.args[k]))
                for k in self.program.wrt
            ]
            got, error = self.stages.tangents[-1].run([*near, *direction])
            if error is not None:
                return True
            seen.append(sum(abs(float(np.sum(g))) for g in got[len(self.stages.primal.results) :]))
        return bool(abs(a - b) <= 1000 * (max(seen) - min(seen)))

    def differences(self, got: float, weights: list[Any], direction: list[Any], executed: Counter[str]) -> None:
        outputs = self.stages.outputs

        def along(t: float) -> float | None:
            outcome = self.reference.call(moved(self.args, self.program.wrt, direction, t))
            return _weighted(outcome, outputs, weights)

        found = slope(along)
        if found is None or any(TOO_STEEP < abs(each) < math.inf for each in (found.value, got)):
            return
        self.result.slopes += 1
        self.result.active.update(name for name in self.stages.active if executed[name])
        tolerance = 2e-6 * abs(found.value) + 30 * found.error + 1e-8
        if abs(got - found.value) <= tolerance or between_jumps(along, got):
            return
        if not self.isolated(along, weights, direction):
            self.fail(
                "gradient",
                f"the derivative along a direction is {got!r}, differences give {found.value!r} +- {found.error:.1g}",
            )

    def isolated(self, along: Callable[[float], float | None], weights: list[Any], direction: list[Any]) -> bool:
        """An argument is exactly 0 and a branch asks for it (``if a == 0``): the branch's slope is right there, and differences are next to it."""
        if not any(np.any(np.asarray(self.args[k]) == 0.0) for k in self.program.wrt):
            return False
        for t in (-1e-3, 1e-3):
            near = moved(self.args, self.program.wrt, direction, t)
            got, error = self.stages.gradients[-1].run([*near, *weights])
            found = slope(lambda h, t=t: along(t + h / 100))  # type: ignore[misc]
            if error is not None or found is None:
                return True
            value, _ = _dot(got[len(self.stages.primal.results) :], direction)
            if not abs(value - found.value * 100) <= 1e-4 * (1 + abs(value)):
                return False
        return True

    def second_order(self, direction: list[Any]) -> None:
        if self.stages.hessian is None:
            return
        other = [self.random_like(self.args[k]) for k in self.program.wrt]
        self.stages.trace.ops.clear()
        got, error = self.stages.hessian.run([*self.args, *direction])
        executed = set(self.stages.trace.ops)
        if error is not None:
            self.fail("hessian", f"raises {error}")
            return
        mirrored, _ = self.stages.hessian.run([*self.args, *other])
        (a, size), (b, _) = _dot(got, other), _dot(mirrored, direction)

        def along(t: float) -> float | None:
            near = moved(self.args, self.program.wrt, direction, t)
            grads, raised = self.stages.gradients[-1].run([*near, 1.0])
            value = _dot(grads[1:], other)[0] if raised is None else math.nan
            return value if math.isfinite(value) else None

        found = slope(along)
        if found is None:
            return
        zero = any(np.any(np.asarray(self.args[k]) == 0.0) for k in self.program.wrt)
        self.result.active.update(self.stages.active_in_gradient & executed)
        if zero and self.stages.active & KINKED:
            return  # |a*a| at 0 is smooth, and has the slope that the kink's convention gives
        tolerance = 5e-6 * abs(found.value) + 30 * found.error + 1e-7
        if not abs(a - found.value) <= tolerance and not between_jumps(along, a):
            self.fail(
                "hessian", f"<u, H v> is {a!r}, differences of gradients give {found.value!r} +- {found.error:.1g}"
            )
        elif not abs(a - b) <= 1e-9 * (size + 1.0):
            self.fail("hessian", f"not symmetric: {a!r} and {b!r}")


def _dot(values: Sequence[Any], others: Sequence[Any]) -> tuple[float, float]:
    """The inner product, and the sum of the sizes of its terms."""
    with np.errstate(all="ignore"):
        terms = [np.asarray(v, float) * o for v, o in zip(values, others, strict=True)]
        return float(sum(np.sum(t) for t in terms)), float(sum(np.sum(np.abs(t)) for t in terms))


def _weighted(outcome: Outcome, outputs: Sequence[int], weights: Sequence[Any]) -> float | None:
    if outcome.error is not None:
        return None
    leaves = [outcome.leaves[k] for k in outputs]
    if any(np.shape(v) != np.shape(w) for v, w in zip(leaves, weights, strict=True)):
        return None
    value, _ = _dot(leaves, weights)
    return value if math.isfinite(value) else None


__all__ = ["Mismatch", "Result", "check", "copied"]
