"""The predator-prey model and its likelihood: plain Python, compiled with its gradient when the package is built.

Lotka-Volterra equations, hare u (prey) and lynx v (predator), in thousands of pelts, time in years:

    du/dt = (alpha - beta v) u        dv/dt = (delta u - gamma) v

Each count is log-normal around the solution, with one sigma a species: the model of the Stan case study
"Predator-Prey Population Dynamics" (Carpenter, 2018), here without its priors.
"""

import math

from adcore import autodiff
from adcore.typing import Vector

PARAMETERS = ("alpha", "beta", "gamma", "delta", "hare0", "lynx0", "sigma_hare", "sigma_lynx")
"""The parameter vector holds their logarithms in this order: all are positive."""

STEPS_PER_YEAR = 50


def hare_growth(hare: float, lynx: float, alpha: float, beta: float) -> float:
    return (alpha - beta * lynx) * hare


def lynx_growth(hare: float, lynx: float, gamma: float, delta: float) -> float:
    return (delta * hare - gamma) * lynx


def step(
    hare: float, lynx: float, alpha: float, beta: float, gamma: float, delta: float, h: float
) -> tuple[float, float]:
    """Both populations `h` years later: one step of the classical Runge-Kutta method of fourth order."""
    u1 = hare_growth(hare, lynx, alpha, beta)
    v1 = lynx_growth(hare, lynx, gamma, delta)
    u2 = hare_growth(hare + 0.5 * h * u1, lynx + 0.5 * h * v1, alpha, beta)
    v2 = lynx_growth(hare + 0.5 * h * u1, lynx + 0.5 * h * v1, gamma, delta)
    u3 = hare_growth(hare + 0.5 * h * u2, lynx + 0.5 * h * v2, alpha, beta)
    v3 = lynx_growth(hare + 0.5 * h * u2, lynx + 0.5 * h * v2, gamma, delta)
    u4 = hare_growth(hare + h * u3, lynx + h * v3, alpha, beta)
    v4 = lynx_growth(hare + h * u3, lynx + h * v3, gamma, delta)
    hare += h / 6.0 * (u1 + 2.0 * u2 + 2.0 * u3 + u4)
    lynx += h / 6.0 * (v1 + 2.0 * v2 + 2.0 * v3 + v4)
    return hare, lynx


def surprise(observed: float, predicted: float, sigma: float) -> float:
    """Minus the logarithm of the log-normal density with median `predicted`."""
    z = (math.log(observed) - math.log(predicted)) / sigma
    return math.log(observed) + math.log(sigma) + 0.5 * math.log(2.0 * math.pi) + 0.5 * z * z


@autodiff(wrt="x")
def negative_log_likelihood(x: Vector, hares: Vector, lynxes: Vector) -> float:
    """Of one count a year for each species; the first year is the one that `hare0` and `lynx0` belong to."""
    alpha, beta, gamma, delta = math.exp(x[0]), math.exp(x[1]), math.exp(x[2]), math.exp(x[3])
    hare, lynx = math.exp(x[4]), math.exp(x[5])
    sigma_hare, sigma_lynx = math.exp(x[6]), math.exp(x[7])
    total = surprise(hares[0], hare, sigma_hare) + surprise(lynxes[0], lynx, sigma_lynx)
    for year in range(1, hares.shape[0]):
        for _ in range(STEPS_PER_YEAR):
            hare, lynx = step(hare, lynx, alpha, beta, gamma, delta, 1.0 / STEPS_PER_YEAR)
        total += surprise(hares[year], hare, sigma_hare) + surprise(lynxes[year], lynx, sigma_lynx)
    return total
