"""Holds a compiled kernel against NumPy, its derivatives against each other and against differences of the NumPy function.

Disagreements are relative to the sum of the absolute values of the terms that are added up, which is what rounding is
relative to.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.npbench.table import Kernel

VALUE, IDENTITY, DIFFERENCES = 1e-11, 1e-10, 1e-6
STEP = 1e-6


@dataclass(frozen=True)
class Outcome:
    """Disagreements: with NumPy, of reverse with forward mode, of reverse mode with differences."""

    value: float
    identity: float
    differences: float

    @property
    def right(self) -> bool:
        return self.value <= VALUE and self.identity <= IDENTITY and self.differences <= DIFFERENCES


def outputs(kernel: Kernel, function: Any, args: Sequence[Any]) -> list[Any]:
    """The items of the result, then what was written; `args` stay as they are."""
    own = copy.deepcopy(tuple(args))
    result = function(*own)
    items = result if isinstance(result, tuple) else () if result is None else (result,)
    return [*items, *(own[k] for k in kernel.positions(kernel.written))]


def check(kernel: Kernel, function: Any, args: Sequence[Any]) -> Outcome:
    wanted = outputs(kernel, kernel.python, args)
    found = outputs(kernel, function, args)
    value = max((relative(a, b) for a, b in zip(found, wanted, strict=True)), default=np.inf)

    rng = np.random.default_rng(1)
    real = [item for item in wanted if is_real(item)]
    cotangents = [like(item, rng.uniform(-1.0, 1.0, np.shape(item))) for item in real]
    positions = kernel.positions(kernel.wrt)
    tangents = [direction(args[k], rng) for k in positions]

    primal, carried_back = function.vjp(tuple(args), bare(cotangents))
    gradients = carried_back if len(positions) > 1 else (carried_back,)
    same = max(relative(a, b) for a, b in zip(items_of(primal, wanted), wanted, strict=True))
    _, carried_on = function.jvp(tuple(args), bare(tangents))
    forward = carried_on if len(real) > 1 else (carried_on,)
    if len(gradients) != len(positions):
        raise AssertionError(f"{kernel.name} is differentiated for {len(gradients)} parameters, not for {kernel.wrt}")

    ahead, behind = (
        outputs(kernel, kernel.python, moved(args, positions, tangents, sign * STEP)) for sign in (1.0, -1.0)
    )
    slopes = [
        (np.asarray(a) - np.asarray(b)) / (2.0 * STEP)
        for a, b, item in zip(ahead, behind, wanted, strict=True)
        if is_real(item)
    ]
    back = terms(gradients, tangents)
    on = terms(cotangents, forward)
    differences = terms(cotangents, slopes)
    return Outcome(max(value, same), disagreement(back, on), disagreement(back, differences))


def is_real(item: Any) -> bool:
    return np.asarray(item).dtype.kind == "f"


def items_of(primal: Any, wanted: list[Any]) -> tuple[Any, ...]:
    return primal if len(wanted) > 1 else (primal,)


def bare(items: list[Any]) -> Any:
    return tuple(items) if len(items) > 1 else items[0]


def like(item: Any, values: np.ndarray) -> Any:
    return values if np.ndim(item) else float(values)


def direction(arg: Any, rng: np.random.Generator) -> Any:
    """As large as the argument: a time step of 0.001 is not moved by 1."""
    scale = np.max(np.abs(arg))
    return like(arg, rng.uniform(-1.0, 1.0, np.shape(arg)) * (scale if scale > 0.0 else 1.0))


def moved(args: Sequence[Any], positions: Sequence[int], tangents: Sequence[Any], step: float) -> list[Any]:
    result = list(args)
    for k, tangent in zip(positions, tangents, strict=True):
        result[k] = result[k] + step * tangent
    return result


def terms(lefts: Sequence[Any], rights: Sequence[Any]) -> np.ndarray:
    products = [np.ravel(np.asarray(a) * np.asarray(b)) for a, b in zip(lefts, rights, strict=True)]
    return np.concatenate(products)


def disagreement(a: np.ndarray, b: np.ndarray) -> float:
    """Of two inner products, by their terms."""
    scale = max(np.sum(np.abs(a)), np.sum(np.abs(b)))
    return float(abs(np.sum(a) - np.sum(b)) / scale) if scale > 0.0 else 0.0


def relative(found: Any, wanted: Any) -> float:
    """The largest difference, relative to the largest value; infinite for another shape or type."""
    a, b = np.asarray(found), np.asarray(wanted)
    if a.shape != b.shape or a.dtype != b.dtype or not np.isfinite(b).all():
        return np.inf
    largest, difference = np.max(np.abs(b), initial=0.0), np.max(np.abs(a - b), initial=0.0)
    return float(difference / largest) if largest > 0.0 else float(difference)
