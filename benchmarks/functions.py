"""The functions that are measured; benchmarks/limits has them in C."""

import numpy as np

from adcore import autodiff
from adcore.typing import Vector


@autodiff(wrt="x")
def sum_sin(x: Vector) -> float:
    return float(np.sum(np.sin(x)))


@autodiff(wrt="x")
def rosenbrock(x: Vector) -> float:
    total = 0.0
    for i in range(x.shape[0] - 1):
        total += 100.0 * (x[i + 1] - x[i] * x[i]) ** 2 + (1.0 - x[i]) ** 2
    return total


@autodiff(wrt="p")
def ode_rk4(p: Vector, to_x: Vector, to_y: Vector, h: float) -> float:
    """Lotka-Volterra equations from (1, 1), one step an observation: the mean squared distance."""
    al, be, de, ga = p[0], p[1], p[2], p[3]
    x, y, total = 1.0, 1.0, 0.0
    for t in range(to_x.shape[0]):
        k1x, k1y = al * x - be * x * y, de * x * y - ga * y
        x1, y1 = x + 0.5 * h * k1x, y + 0.5 * h * k1y
        k2x, k2y = al * x1 - be * x1 * y1, de * x1 * y1 - ga * y1
        x2, y2 = x + 0.5 * h * k2x, y + 0.5 * h * k2y
        k3x, k3y = al * x2 - be * x2 * y2, de * x2 * y2 - ga * y2
        x3, y3 = x + h * k3x, y + h * k3y
        k4x, k4y = al * x3 - be * x3 * y3, de * x3 * y3 - ga * y3
        x += h / 6.0 * (k1x + 2.0 * k2x + 2.0 * k3x + k4x)
        y += h / 6.0 * (k1y + 2.0 * k2y + 2.0 * k3y + k4y)
        total += (x - to_x[t]) ** 2 + (y - to_y[t]) ** 2
    return total / to_x.shape[0]
