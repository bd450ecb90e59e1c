"""The functions that are measured, as their authors would write them; `benchmarks/limits` has them in C, with adjoints by hand.

Most are those of Mooncake.jl's benchmark; `gmm` is ADBench's objective.
"""

import numpy as np

from adcore import autodiff
from adcore.typing import Matrix, Vector


@autodiff
def sum_library(x: Vector) -> float:
    return float(np.sum(x))


@autodiff
def sum_loop(x: Vector) -> float:
    total = 0.0
    for value in x:
        total += value
    return total


@autodiff
def sum_sin(x: Vector) -> float:
    return float(np.sum(np.sin(x)))


@autodiff
def sum_sin_loop(x: Vector) -> float:
    total = 0.0
    for value in x:
        total += np.sin(value)
    return total


@autodiff
def kron_sum(x: Matrix, y: Matrix) -> float:
    return float(np.sum(np.kron(x, y)))


@autodiff
def kron_view_sum(x: Matrix, y: Matrix) -> float:
    return float(np.sum(np.kron(x[0:20, 0:20], np.triu(y))))


@autodiff
def naive_map(x: Vector) -> float:
    y = np.empty_like(x)
    for i in range(x.shape[0]):
        y[i] = np.sin(np.cos(np.exp(x[i])))
    return float(np.sum(y))


@autodiff
def broadcast_map(x: Vector) -> float:
    return float(np.sum(np.sin(np.cos(np.exp(x)))))


@autodiff
def simple_mlp(w2: Matrix, w1: Matrix, y: Matrix, x: Matrix) -> float:
    a = w1 @ x
    return float(np.sum((y - w2 @ np.where(a >= 0.0, a, 0.0)) ** 2))


@autodiff
def gp_lml(x: Vector, y: Vector, noise: float) -> float:
    """The log marginal likelihood of a Gaussian process, by a Cholesky factor and a forward substitution."""
    n = x.shape[0]
    low = np.exp(-0.5 * (x[:, None] - x) ** 2)
    logdet = 0.0
    for j in range(n):
        pivot = np.sqrt(low[j, j] + noise - low[j, :j] @ low[j, :j])
        low[j, j] = pivot
        logdet += 2.0 * np.log(pivot)
        for i in range(j + 1, n):
            low[i, j] = (low[i, j] - low[i, :j] @ low[j, :j]) / pivot
    z = np.empty(n)
    for i in range(n):
        z[i] = (y[i] - low[i, :i] @ z[:i]) / low[i, i]
    return -0.5 * (n * np.log(2.0 * np.pi) + logdet + z @ z)


def truncated(u: float) -> tuple[float, float]:
    """A parameter between 0.1 and 10 and its log density: a normal of mean 1 and deviation 2, cut off there."""
    share = 1.0 / (1.0 + np.exp(-u))
    theta = 0.1 + 9.9 * share
    z = (theta - 1.0) / 2.0
    inside = -0.3950573837976776  # log of the probability between the bounds
    density = -0.5 * z * z - np.log(2.0) - 0.5 * np.log(2.0 * np.pi) - inside
    return theta, density + np.log(9.9 * share * (1.0 - share))


@autodiff(wrt="u")
def turing(u: Vector, x: Vector) -> float:
    """Log-normal data whose two parameters are unconstrained."""
    mu, prior_of_mu = truncated(u[0])
    sigma, prior_of_sigma = truncated(u[1])
    log_x = np.log(x)
    z = (log_x - mu) / sigma
    each = -0.5 * z * z - np.log(sigma) - 0.5 * np.log(2.0 * np.pi) - log_x
    return prior_of_mu + prior_of_sigma + float(np.sum(each))


@autodiff
def large_single_block(x: Vector) -> float:
    value = x[0]
    for _ in range(400):
        value = value * x[1]
    return value


@autodiff(wrt="r")
def nbody(r: Matrix, m: Vector, softening: float) -> float:
    energy = 0.0
    for i in range(m.shape[0]):
        for j in range(i + 1, m.shape[0]):
            x, y, z = r[i, 0] - r[j, 0], r[i, 1] - r[j, 1], r[i, 2] - r[j, 2]
            energy -= m[i] * m[j] / np.sqrt(x * x + y * y + z * z + softening)
    return energy


@autodiff
def rosenbrock(x: Vector) -> float:
    total = 0.0
    for i in range(x.shape[0] - 1):
        total += 100.0 * (x[i + 1] - x[i] * x[i]) ** 2 + (1.0 - x[i]) ** 2
    return total


@autodiff(wrt="p")
def ode_rk4(p: Vector, data: Matrix, h: float) -> float:
    """Lotka-Volterra equations from (1, 1), one step an observation: the mean squared distance."""
    al, be, de, ga = p[0], p[1], p[2], p[3]
    x, y, total = 1.0, 1.0, 0.0
    for t in range(data.shape[0]):
        k1x, k1y = al * x - be * x * y, de * x * y - ga * y
        x1, y1 = x + 0.5 * h * k1x, y + 0.5 * h * k1y
        k2x, k2y = al * x1 - be * x1 * y1, de * x1 * y1 - ga * y1
        x2, y2 = x + 0.5 * h * k2x, y + 0.5 * h * k2y
        k3x, k3y = al * x2 - be * x2 * y2, de * x2 * y2 - ga * y2
        x3, y3 = x + h * k3x, y + h * k3y
        k4x, k4y = al * x3 - be * x3 * y3, de * x3 * y3 - ga * y3
        x += h / 6.0 * (k1x + 2.0 * k2x + 2.0 * k3x + k4x)
        y += h / 6.0 * (k1y + 2.0 * k2y + 2.0 * k3y + k4y)
        total += (x - data[t, 0]) ** 2 + (y - data[t, 1]) ** 2
    return total / data.shape[0]


def logsumexp(x):
    largest = np.max(x)
    return largest + np.log(np.sum(np.exp(x - largest)))


@autodiff(wrt=("alphas", "means", "icf"))
def gmm(alphas: Vector, means: Matrix, icf: Matrix, x: Matrix, gamma: float, wishart: float, constant: float) -> float:
    """A mixture of Gaussians; a row of `icf` has a factor of an inverse covariance: log diagonal, then columns below it."""
    k, d = means.shape
    diagonals = np.exp(icf[:, :d])
    logs = np.sum(icf[:, :d], axis=1)
    terms = np.empty(k)
    total = 0.0
    for n in range(x.shape[0]):
        for c in range(k):
            squares = 0.0
            for j in range(d):
                q = diagonals[c, j] * (x[n, j] - means[c, j])
                for i in range(j):
                    q += icf[c, d + i * d - i * (i + 1) // 2 + j - i - 1] * (x[n, i] - means[c, i])
                squares += q * q
            terms[c] = alphas[c] + logs[c] - 0.5 * squares
        total += logsumexp(terms)
    prior = 0.5 * gamma * gamma * (np.sum(diagonals**2) + np.sum(icf[:, d:] ** 2)) - wishart * np.sum(logs)
    return constant + total - x.shape[0] * logsumexp(alphas) + prior
