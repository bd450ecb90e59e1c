# ruff: noqa
"""NumPy's reductions with everything that they may be told, averages, and what ignores NaN."""

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


V = [0.5, 1.5, -2.0, 3.0]
M = [[0.5, -1.5, 2.5], [3.0, 0.25, -0.75]]
T = [[[0.5, -1.5], [2.5, 1.0], [0.3, 0.7]], [[3.0, 0.25], [-0.75, 2.0], [1.1, -0.2]]]


@args((V, M, 2.0), ([], [[1.0]], -1.0), ([1.0], [[2.0, 3.0]], 0.0))
@autodiff
def starts(v: Vector, a: Matrix, x: float) -> float:
    y = np.sum(v, initial=x) * np.prod(v, initial=x) + v.sum(initial=2) + np.max(v, initial=x) - v.min(initial=x * 0.5)
    z = np.sum(a, axis=0, initial=x) * np.max(a, axis=0, initial=x) + np.min(a, 0, initial=0.0) + a.prod(0, initial=x)
    return y + np.sum(z * z) + np.max(np.arange(3), initial=5) + np.min(np.arange(1, 3), initial=0)


@args((V, M), ([], [[1.0]]), ([-1.0], [[-2.0, -3.0]]), ([1.0, NAN, -1.0, 2.0], M))
@autodiff
def masks(v: Vector, a: Matrix) -> float:
    x = (
        np.sum(v, where=v > 0.0)
        + np.prod(v, where=v > 0.0)
        + np.max(v, where=v > 0.0, initial=0.25)
        + np.min(v * v, initial=9.0, where=v > 0.0)
    )
    y = (
        np.sum(a, axis=1, where=a > 0.0, keepdims=True) * a
        + np.prod(a, axis=0, where=a < 0.0)
        + np.sum(a, 0, where=a[0] > 0.0)
    )
    return (
        x
        + np.sum(y)
        + np.any(a > 1.0, where=a < 2.0)
        + np.all(a > 0.0, where=a > 0.5)
        + np.sum(np.all(a > 0.0, axis=0, where=a < 1.0))
    )


@args((V, M), ([1.0], [[2.0, 3.0]]))
@autodiff
def masked_means(v: Vector, a: Matrix) -> float:
    return (
        np.mean(v, where=v > 0.0) ** 2
        + np.sum(a.mean(axis=0, where=a > -1.0) ** 3)
        + np.sum(np.mean(a, 1, where=a[0] < 9.0))
    )


@args((V,), ([],), ([1.0],))
@autodiff
def element_types(v: Vector) -> float:
    k = np.arange(v.size)
    return (
        np.sum(v, dtype=float) * np.sum(k, dtype=np.float64)
        + np.prod(k + 1, dtype=float)
        + k.sum(dtype=float)
        + np.mean(v * v, dtype=np.float64)
    )


@args((V, M), ([1.0, 2.0], [[1.0, 1.0]]), ([3.0], [[2.0]]))
@autodiff
def spreads(v: Vector, a: Matrix) -> float:
    x = np.var(v, ddof=1) + np.std(v, ddof=1) ** 2 * v.std() + v.var(ddof=0)
    return (
        x
        + np.sum(np.std(a, axis=1, ddof=0) ** 3)
        + np.sum(a.var(axis=0, ddof=1))
        + np.sum(np.var(a, axis=1, keepdims=True) * a)
    )


@args((V, M), ([1.0, 1.0, 1.0], M))
@autodiff
def extrema(v: Vector, a: Matrix) -> float:
    k = np.array([[3, -1, 2], [0, 7, -5]])
    x = np.ptp(v) * np.ptp(a) + np.sum(np.ptp(a, axis=0) ** 2) + np.sum(np.ptp(a, axis=1, keepdims=True) * a)
    y = np.max(k) * v[0] + np.sum(np.min(k, axis=1) * a[:, 0]) + np.sum(k.max(0) * a[0]) + np.ptp(k)
    return x + y + np.max(v > 1.0) + np.sum(np.min(a > -1.0, axis=0)) + v[np.argmax(k[1])]


@args(([],))
@autodiff
def extremum_of_nothing(v: Vector) -> float:
    return np.max(np.arange(v.size)) * np.sum(v)


@args((V, M), ([], [[0.0]]), ([0.0], [[1.0, 0.0]]))
@autodiff
def counts(v: Vector, a: Matrix) -> float:
    n = np.count_nonzero(v)
    m = np.count_nonzero(a > 0.0, axis=0) * a
    return (
        np.sum(v) / n + np.sum(m) + np.count_nonzero(np.arange(3)) + np.sum(np.count_nonzero(a, 1, keepdims=True) * a)
    )


@args(
    (V, M, [1.0, 2.0, 0.5, 0.25]),
    ([1.0], M, [2.0]),
    ([1.0], M, [0.0]),
    ([1.0, 2.0], M, [1.0]),
    ([1.0, 2.0], M, [1.0, -1.0]),
)
@autodiff
def averages(v: Vector, a: Matrix, w: Vector) -> float:
    x = np.average(v) + np.average(v, weights=w) ** 2 + np.average(v * v, 0, w)
    y = np.average(a, axis=1, weights=a[0] ** 2) * np.average(a, axis=1, weights=a * a) + np.average(a, axis=1)
    return (
        x
        + np.sum(y**2)
        + np.average(a, weights=np.exp(a))
        + np.sum(np.average(a, axis=0, weights=np.array([1, 2])) ** 2)
    )


@args((V, M), ([1.0, NAN, 2.0, -3.0], [[NAN, 1.0], [2.0, NAN]]), ([NAN], [[1.0]]), ([-INF, NAN], [[1.0, NAN]]))
@autodiff
def without_nan(v: Vector, a: Matrix) -> float:
    x = np.nansum(v**2) + np.nanprod(v) + np.nanmean(a) * np.nanmean(v)
    y = np.nansum(a, axis=0) * np.nanprod(a, axis=0) + np.nanmean(a, axis=0, keepdims=True)
    return (
        x
        + np.nansum(y)
        + np.nansum(np.nanmax(a, axis=0)) * np.nanmin(a)
        + np.nansum(np.arange(3))
        + np.nanmax(np.arange(3))
        + np.nanmax(v)
    )


@args((V, M, T), ([1.0], [[1.0]], [[[2.0]]]))
@autodiff
def running(v: Vector, a: Matrix, t: Array3[np.float64]) -> float:
    x = (
        np.sum(np.cumsum(a, axis=0) * np.cumprod(a, axis=1))
        + np.sum(np.cumsum(a) * np.arange(a.size))
        + np.sum(a.cumprod()[::2])
    )
    y = (
        np.sum(np.cumsum(t, axis=1) ** 2)
        + np.sum(np.cumsum(v, 0) * np.cumsum(v > 0.0))
        + np.sum(np.cumsum(a > 0.0, axis=1) * a)
    )
    return x + y


@args((V, M, T), ([1.0, 1.0], [[1.0, 1.0]], [[[2.0]]]), ([NAN, 1.0], [[1.0, NAN]], [[[2.0]]]), ([], M, T))
@autodiff
def places(v: Vector, a: Matrix, t: Array3[np.float64]) -> float:
    i, j = np.argmax(a, axis=0), a.argmin(axis=1)
    x = (
        np.sum(i * a[0])
        + np.sum(j * a[:, 0])
        + np.argmax(a) * a[0, 0]
        + np.argmin(t)
        + np.sum(np.argmax(t, axis=1) * t[:, 0])
    )
    return x + v[np.argmin(v, axis=0)] + np.sum(np.argmax(a, axis=1, keepdims=True) * a) + np.argmax(a > 2.0)


@args((V, M, [2.0, 1.0, 4.0, -1.0, 0.5][: len(V)]), ([1.0, 2.0], [[1.0, 2.0], [3.0, 5.0]], [2.0, -1.0]))
@autodiff
def covariances(v: Vector, a: Matrix, w: Vector) -> float:
    x = np.cov(v) + np.cov(v, bias=True) * np.cov(v, None, ddof=0) + np.corrcoef(v)
    y = np.cov(v, w) + np.corrcoef(v, w) * np.cov(a[:2], rowvar=False)[0, 0]
    return x + np.sum(y * y) + np.sum(np.sin(np.cov(a, a[::-1], ddof=0)))


@args((M,), ([[1.0, 2.0], [3.0, 5.0]],))
@autodiff
def covariance_matrices(a: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    return np.cov(a), np.cov(a, rowvar=0), np.corrcoef(a)


@args(([[1.0], [2.0]],), (M,))
@autodiff
def covariances_of_too_few(a: Matrix) -> Matrix:
    return np.cov(a, ddof=a.shape[1]) + np.corrcoef(a[:, :1])
