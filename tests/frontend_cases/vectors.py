# ruff: noqa
"""Vectors that the front end accepts: elements, slices, broadcasting, elementwise functions, reductions, stores."""

import numpy as np

from adcore import autodiff
from adcore.typing import Array1, Vector

ARGS = {}
ONE = [([1.0, -2.0, 3.5],), ([],), ([0.25],), ([5.0, 4.0, 3.0, 2.0],)]
TWO = [
    ([1.0, -2.0, 3.5], [2.0, 0.5, -1.0]),
    ([], []),
    ([0.25], [1.0, 2.0]),
    ([1.0, 2.0], [3.0]),
    ([1.0, 2.0], [1.0, 2.0, 3.0]),
    ([], [1.0]),
]
INDEXED = [
    ([1.0, -2.0, 3.5], 0),
    ([1.0, -2.0, 3.5], -1),
    ([1.0, -2.0, 3.5], 2),
    ([1.0, -2.0, 3.5], 3),
    ([1.0, -2.0, 3.5], -3),
    ([1.0, -2.0, 3.5], -4),
    ([], 0),
]
TABLE = np.array([1.0, 2.0, 4.0])
WEIGHTS = np.linspace(0.0, 1.0, 5)


def args(*sets):
    def keep(function):
        ARGS[function.__name__] = list(sets)
        return function

    return keep


@args(*INDEXED)
@autodiff(wrt="x")
def element(x: Vector, i: int) -> float:
    return x[i]


@args(*INDEXED)
@autodiff(wrt="x")
def near_elements(x: Vector, i: int) -> float:
    return x[i - 1] * x[-1] + x[0]


@args(*INDEXED)
@autodiff(wrt="x")
def slices(x: Vector, i: int) -> tuple[Vector, Vector, Vector, Vector]:
    return x[i:], x[:i], x[::-1], x[i:10:2]


@args(*INDEXED)
@autodiff(wrt="x")
def more_slices(x: Vector, i: int) -> tuple[Vector, Vector, Vector, Vector, Vector]:
    return x[-2:], x[:-1], x[i::-1], x[:i:-2], x[1:-1]


@args(*ONE)
@autodiff
def differences(x: Vector) -> float:
    return np.sum((x[1:] - x[:-1]) ** 2)


@args(*TWO)
@autodiff
def elementwise(x: Vector, y: Vector) -> Vector:
    return x * y + 2.0 * x - y / 3 + -x


@args(*TWO)
@autodiff
def powers(x: Vector, y: Vector) -> Vector:
    return x**2 + x**y + 2.0**x + x // y + x % y + abs(x)


@args(*ONE)
@autodiff
def functions(x: Vector) -> Vector:
    return np.exp(x) + np.sqrt(x) + np.sin(x) + np.cos(x) + np.tan(x) + np.log(np.abs(x)) + np.tanh(x)


@args(*ONE)
@autodiff
def more_functions(x: Vector) -> Vector:
    return (
        np.arctan(x)
        + np.sinh(x)
        + np.cosh(x)
        + np.log2(x)
        + np.log10(x)
        + np.log1p(x)
        + np.expm1(x)
        + np.arctan2(x, 2.0)
    )


@args(*ONE)
@autodiff
def roundings(x: Vector) -> Vector:
    return (
        np.floor(x)
        + np.ceil(x) * 2
        + np.trunc(x) * 3
        + np.rint(x) * 4
        + np.sign(x)
        + np.square(x)
        + np.fabs(x)
        + np.absolute(x)
    )


@args(*TWO)
@autodiff
def two_vectors(x: Vector, y: Vector) -> Vector:
    return np.maximum(x, y) + np.minimum(x, 0.5) + np.hypot(x, y) + np.power(x, 3) + np.multiply(x, y)


@args(*TWO)
@autodiff
def where(x: Vector, y: Vector) -> Vector:
    return np.where(x > y, x, 0.0) + np.where(y < 1.0, 1, x)


@args(*TWO)
@autodiff
def dots(x: Vector, y: Vector) -> float:
    return np.dot(x, y) + x @ y + x.dot(y)


@args(*ONE)
@autodiff
def reductions(x: Vector) -> float:
    return np.sum(x) + x.sum() + np.mean(x) + x.mean() + np.prod(x) + np.var(x) + np.std(x)


@args(*ONE)
@autodiff
def extremes(x: Vector) -> float:
    return np.max(x) - x.min() + np.amax(x * 2)


@args(*ONE)
@autodiff(mode="none")
def any_all(x: Vector) -> bool:
    return bool(np.any(x > 3.0)) and bool(np.all(x < 10.0))


@args(*ONE)
@autodiff(mode="none")
def sizes(x: Vector) -> float:
    (n,) = x.shape
    return x.shape[0] + x.size + x.ndim + len(x) + n + np.size(x)


@args((4,), (0,), (-1,))
@autodiff(mode="none")
def creation(n: int) -> tuple[Vector, Vector, Vector, Vector]:
    return np.zeros(n), np.ones((n,)), np.full(n, 2.5), np.zeros(n, dtype=float)


@args((4, 0.5), (0, 1.0), (1, 2.0))
@autodiff(wrt="x")
def ranges(n: int, x: float) -> float:
    a = np.arange(n)
    b = np.arange(1.0, 3.0, x)
    c = np.linspace(0.0, x, n)
    return np.sum(a * x) + np.sum(b) + np.sum(c) + np.sum(np.arange(n, 0, -1)) * x + np.sum(np.arange(2, 9, 3))


@args(*ONE)
@autodiff(mode="none")
def like(x: Vector) -> Vector:
    y = np.zeros_like(x)
    z = np.ones_like(x)
    w = np.empty_like(x)
    w[:] = 3.0
    return y + z * w + np.full_like(x, 2)


@args((1.5, 2), (0.0, 0))
@autodiff(wrt="x")
def displays(x: float, n: int) -> Vector:
    a = np.array([x, 2 * x, 1.0])
    b = np.array([1, 2, 3]) * x
    return a * b + np.asarray((x, 1, n))


@args(*ONE)
@autodiff
def concatenated(x: Vector) -> Vector:
    return np.concatenate((x, x[1:] * 2.0, np.array([7.0]))) + np.concatenate([x, x[1:], np.ones(1)])


@args(*ONE)
@autodiff
def stores(x: Vector) -> Vector:
    n = len(x)
    y = np.zeros(n)
    for i in range(n):
        y[i] = x[i] * 2.0
        y[-1] += x[i]
    y[1:] = x[:-1] + 1.0
    y[::2] *= 3.0
    return y


@args(*TWO)
@autodiff
def slice_stores(x: Vector, y: Vector) -> Vector:
    z = np.empty(len(x))
    z[:] = y
    z[1:] = z[:-1] + 1.0
    z += 1.0
    z *= x
    return z


@args(*TWO)
@autodiff
def in_place(x: Vector, y: Vector) -> Vector:
    z = x.copy()
    w = z
    z += y
    w -= 1.0
    return z * 2.0


@args(*INDEXED)
@autodiff(wrt="x")
def store_at(x: Vector, i: int) -> Vector:
    y = x.copy()
    y[i] = 100.0
    y[i] -= 1
    return y


@args(*ONE)
@autodiff
def view_aliases(x: Vector) -> Vector:
    y = x.copy()
    v = y[1:]
    v[:] = 9.0
    y[0:1] = 4.0
    return y + np.sum(v)


@args(*ONE)
@autodiff
def parameter_rebound(x: Vector) -> float:
    x = x * 2.0
    x[0] = 1.0
    return x.sum()


@args((1.0, 2.0), (0.5, -3.0))
@autodiff
def constant_arrays(x: float, y: float) -> float:
    s = 0.0
    for i in range(len(TABLE)):
        s += TABLE[i] * x
    return s + np.dot(TABLE, TABLE * y) + np.sum(WEIGHTS[1:]) * y


@args(*ONE)
@autodiff
def logsumexp(x: Vector) -> float:
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


@args(([1.0, 2.0, 3.0], [0, 2, 3]))
@autodiff(wrt="x")
def int_array_of_locals(x: Vector, unused: Vector) -> float:
    starts = np.array([0, 1, 3])
    total = 0.0
    for b in range(len(starts) - 1):
        for k in range(starts[b], starts[b + 1]):
            total += x[k] * (b + 1)
    return total


@args(*ONE)
@autodiff
def shapes(x: Vector) -> Vector:
    return x.reshape(-1) + x.ravel() + x.flatten() + np.reshape(x, -1) + x.T + np.copy(x)


@args(*ONE)
@autodiff
def unpack_array(x: Vector) -> float:
    a, b, c = x
    return a * b - c


@args(*ONE)
@autodiff
def array_one(x: Array1[np.float64]) -> "Vector":
    return np.clip(x, -1.0, 2.0) + x.clip(0.0, 1.0)


@args(*ONE)
@autodiff
def same_object(x: Vector) -> Vector:
    return x


@args(*ONE)
@autodiff(mode="none")
def comparisons(x: Vector) -> float:
    return np.sum(x > 0.0) + np.sum(np.logical_and(x > 0.0, x < 3.0)) * 10.0


@args(*ONE)
@autodiff
def mixed_ints(x: Vector) -> Vector:
    k = np.arange(len(x))
    return x * k + k / 2 + k**2 - k // 2 + k % 3
