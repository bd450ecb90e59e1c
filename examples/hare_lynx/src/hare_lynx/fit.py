"""The fit, and what one wants to know of its gradient: is it right, and what does it cost?"""

from __future__ import annotations

import timeit
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from adcore.typing import Vector
from hare_lynx.data import Counts
from hare_lynx.model import negative_log_likelihood

START: Vector = np.log([0.55, 0.028, 0.8, 0.024, 33.0, 6.0, 0.3, 0.3])


@dataclass(frozen=True)
class Fit:
    """`x` are the logarithms of the parameters."""

    x: Vector
    minimum: float
    evaluations: int


def fit(counts: Counts, start: Vector = START) -> Fit:
    """Minimises the negative log likelihood."""
    found = minimize(
        negative_log_likelihood.value_and_grad,
        start,
        args=(counts.hares, counts.lynxes),
        jac=True,
        method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-10},
    )
    return Fit(found.x, float(found.fun), int(found.nfev))


def difference_from_finite_differences(counts: Counts, x: Vector) -> float:
    """The largest relative difference of the gradient's components from central differences."""
    gradient = negative_log_likelihood.grad(x, counts.hares, counts.lynxes)
    step = np.finfo(float).eps ** (1 / 3)  # balances the errors of truncation and rounding
    differences = np.empty_like(x)
    for k in range(x.size):
        up, down = x.copy(), x.copy()
        up[k] += step
        down[k] -= step
        rise = negative_log_likelihood(up, counts.hares, counts.lynxes)
        rise -= negative_log_likelihood(down, counts.hares, counts.lynxes)
        differences[k] = rise / (up[k] - down[k])
    return float(np.max(np.abs(gradient - differences) / np.abs(differences)))


def microseconds(call: Callable[[], object], repeats: int = 7) -> float:
    """The time of one call: the best of several runs, since other load only ever adds."""
    timer = timeit.Timer(call)
    count, _ = timer.autorange()
    return 1e6 * min(timer.repeat(repeats, max(1, count // 4))) / max(1, count // 4)
