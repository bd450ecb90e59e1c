# ruff: noqa
"""NumPy's functions about order and samples: sorts, searches, medians, interpolation, integration, differences."""

import numpy as np

from adcore import autodiff
from adcore.typing import Array1, Array3, Matrix, Vector

ARGS = {}
INF, NAN = float("inf"), float("nan")


def args(*sets):
    def keep(f):
        ARGS[f.__name__] = sets
        return f

    return keep


V = [0.5, 1.5, -2.0, 3.0, 0.25]
LONG = [0.5, 1.5, -2.0, 3.0, 0.25, 7.0, -1.0, 2.0, 2.5, -0.5, 4.5, 0.125, 6.0]
M = [[0.5, -1.5, 2.5], [3.0, 0.25, -0.75]]
T = [[[0.5, -1.5], [2.5, 1.0], [0.3, 0.7]], [[3.0, 0.25], [-0.75, 2.0], [1.1, -0.2]]]
KNOTS = [-1.0, 0.0, 0.5, 2.0]


@args((V,), (LONG,), ([2.0],), ([],), ([1.0, NAN, -1.0, INF, -INF],), ([3.0, 2.0, 1.0, 0.0],))
@autodiff
def sorted_weights(v: Vector) -> float:
    return np.sum(np.sort(v) ** 2 * np.arange(v.size))


@args((V,), (LONG,), ([1.0, 2.0, 1.0, 2.0, 1.0],), ([],))
@autodiff
def sorted_vector(v: Vector) -> Vector:
    return np.sort(v)[::-1] * np.sort(v[::-1] * v[::2].size, kind="stable")


@args((M,), ([[1.0]],))
@autodiff
def sorted_matrix(a: Matrix) -> float:
    b = np.sort(a) * a + np.sort(a, axis=0) * np.sort(a.T, 0).T + np.sort(a[:, ::-1], axis=-1)
    return np.sum(b * b) + np.sum(np.sort(a, axis=None) * np.arange(a.size))


@args((T,))
@autodiff
def sorted_block(a: Array3[np.float64]) -> float:
    return np.sum(np.sort(a * a, axis=1) * a) + np.sum(np.sort(a[:, 1:], axis=0) ** 2 * a[:, 1:])


@args((V,), (LONG,), ([1.0, 2.0, 1.0],))
@autodiff
def sorted_in_place(v: Vector) -> float:
    w = v * 1.0
    w.sort()
    w[1:].sort()
    a = np.outer(v, v)
    a.sort(axis=0)
    return np.sum(w * np.arange(w.size)) + np.sum(a[0] * a[-1])


@args((V,), (LONG,))
@autodiff
def sorted_parameter(v: Vector) -> None:
    v.sort()
    v *= v


@args((V, 3), (LONG, 2))
@autodiff
def sorted_in_a_loop(v: Vector, n: int) -> float:
    w = v * 1.0
    x = 0.0
    for i in range(n):
        w[:] = np.sort(np.sin(w * 3.0 + i))
        x += w[i] * w[-1]
    return x


@args((V,), (LONG,), ([1.0, 2.0, 1.0, 2.0, 1.0],))
@autodiff
def by_another_order(v: Vector) -> Vector:
    k = np.argsort(np.cos(v), kind="stable")
    return v[k] * k + v[v.argsort(kind="stable")]


@args((M,))
@autodiff
def order_of_rows(a: Matrix) -> Matrix:
    return a * np.argsort(a, axis=1) + a * np.argsort(a, axis=0) + a[np.argsort(a[:, 0])]


@args((V,), ([1.0, 2.0, 1.0],))
@autodiff
def order_of_ints(v: Vector) -> float:
    k = np.array([3, 1, 2, 1])
    return v[0] * np.sort(k)[1] + v[1] * np.argsort(k)[0] + np.sort(k > 1)[0] + np.sort(np.array([3, -1, 2]))[0]


@args((KNOTS, 0.3), (KNOTS, -2.0), (KNOTS, 9.0), (KNOTS, 0.5), ([], 1.0), (KNOTS, NAN), ([1.0, 1.0, 1.0, 2.0], 1.0))
@autodiff
def search(v: Vector, x: float) -> float:
    return (np.searchsorted(v, x) + 10 * np.searchsorted(v, x, side="right")) * x


@args((KNOTS, M), (KNOTS, [[-1.0, 0.5, 3.0]]))
@autodiff
def searches(v: Vector, a: Matrix) -> float:
    k = np.searchsorted(v, a)
    j = v.searchsorted(a[0], "right")
    n = np.searchsorted(np.arange(5), 2.5) + np.searchsorted(np.array([1, 3, 3, 4]), 3, "right")
    return np.sum(k * a) + np.sum(j * a[0]) + n


@args((V,), (LONG,), (LONG[:4],), ([1.0, 2.0, NAN],), ([],), ([INF, 1.0],), ([2.0, 2.0, 1.0, 2.0],))
@autodiff
def medians(v: Vector) -> float:
    return np.median(v)


@args((M, V))
@autodiff
def medians_of_axes(a: Matrix, v: Vector) -> float:
    b = np.median(a, axis=0) * 2.0
    c = np.median(a, axis=1, keepdims=True) * a
    return np.median(v) * np.median(a) + np.sum(b * b) + np.sum(c)


@args(
    (0.3, KNOTS, [1.0, 3.0, -1.0, 0.5]), (-1.0, KNOTS, [1.0, 3.0, -1.0, 0.5]), (0.0, KNOTS, [1.0, 3.0, -1.0, 0.5]),
    (2.0, KNOTS, [1.0, 3.0, -1.0, 0.5]), (-3.0, KNOTS, [1.0, 3.0, -1.0, 0.5]), (4.0, KNOTS, [1.0, 3.0, -1.0, 0.5]), (NAN, KNOTS, [1.0, 3.0, -1.0, 0.5]),
    (1.0, [1.0], [5.0]), (2.0, [1.0], [5.0]), (0.0, [], []), (0.0, [1.0, 2.0], [1.0]), (0.5, [0.0, 1.0], [INF, 2.0]), (0.0, [0.0, 1.0], [2.0, INF]),
    (0.5, [0.0, 1.0], [INF, INF]), (1.0, [0.0, 1.0, 1.0, 2.0], [0.0, 1.0, 3.0, 4.0]), (INF, [0.0, INF], [1.0, 2.0]),
)  # fmt: skip
@autodiff
def interpolation(x: float, xp: Vector, fp: Vector) -> float:
    return np.interp(x, xp, fp)


@args(([0.3, -2.0, 1.7, 5.0], KNOTS, [1.0, 3.0, -1.0, 0.5]), ([], KNOTS, KNOTS), ([0.25], [0.0, 1.0], [1.0, 2.0]))
@autodiff
def interpolations(x: Vector, xp: Vector, fp: Vector) -> Vector:
    y = np.interp(x, xp, fp, left=-1.0, right=fp[0] * 2.0) * x
    z = np.interp(np.outer(x, x), xp[::1], fp * fp)
    return y + np.sum(z) + np.interp(1, np.array([0, 2]), np.array([1, 4]))


@args((V, LONG[:5]), ([1.0], [2.0]), ([], []), ([1.0, 2.0], [3.0]))
@autodiff
def integrals(v: Vector, x: Vector) -> float:
    return np.trapezoid(v) + 2.0 * np.trapezoid(v * v, dx=x[0] if x.size else 1.0) + np.trapezoid(v, np.cumsum(x))


@args((M, V))
@autodiff
def integrals_of_axes(a: Matrix, v: Vector) -> float:
    r = np.trapezoid(a, x=v[:3]) * np.trapezoid(a, a * a)
    c = np.trapezoid(a, v[:2], axis=0) * np.trapezoid(a, dx=0.5, axis=0)
    return np.sum(r) + np.sum(c * c)


@args((V, M), ([1.0], [[2.0]]), ([], [[1.0, 2.0]]))
@autodiff
def differences(v: Vector, a: Matrix) -> float:
    x = (
        np.sum(np.diff(v) ** 2)
        + np.sum(np.diff(v, 2) ** 3)
        + np.sum(np.diff(v, n=0))
        + np.sum(np.diff(np.arange(4) ** 2))
    )
    return x + np.sum(np.diff(a) ** 2) + np.sum(np.diff(a, axis=0) * a[:1])
