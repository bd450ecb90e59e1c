# ruff: noqa
"""NumPy's functions that repeat, roll and move parts of arrays of any rank, and those about places in arrays."""

import numpy as np

from adcore import autodiff
from adcore.typing import Array3, Matrix, Vector

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


@args((V, M, 2), (V, M, -5), ([], [[1.0]], 1))
@autodiff
def rolls(v: Vector, a: Matrix, k: int) -> float:
    b = np.roll(a, k) * a + np.roll(a, (1, k), axis=(0, 1)) * np.roll(a, k, axis=(0, 1)) + np.roll(a, (1, k), 1)
    return np.sum(b * b) + np.sum(np.roll(v, (k, 1)) * v)


@args((V, M, T, 2), (V, M, T, 0), ([], [[1.0]], [[[2.0]]], 3), (V, M, T, -1))
@autodiff
def repetitions(v: Vector, a: Matrix, t: Array3[np.float64], n: int) -> float:
    x = (
        np.sum(np.repeat(a, n) * np.arange(a.size * n))
        + np.sum(np.repeat(a, n, axis=0)[1:] ** 2)
        + np.sum(np.repeat(a, 2, axis=1)[:, ::2] * a)
    )
    y = (
        np.sum(np.tile(a, n) * np.arange(a.shape[1] * n))
        + np.sum(np.tile(v, (n, 2)) ** 2)
        + np.sum(np.tile(a, (2, 1))[::2] * np.arange(a.shape[1]))
    )
    z = (
        np.sum(np.tile(t, (1, n, 1)) ** 3)
        + np.sum(np.tile(v, 1) * v)
        + np.sum(t.repeat(n, axis=1)[0] ** 2)
        + np.sum(np.tile(v, (2, 1, n))[1, 0])
    )
    return x + y + z


@args((T, M))
@autodiff
def axes(t: Array3[np.float64], a: Matrix) -> float:
    b = np.moveaxis(t, (0, 1), (-1, 0)) * 2.0
    c = np.moveaxis(t, [2], [0])
    d = np.concatenate((a, t), axis=None) * np.arange(a.size + t.size)
    return (
        np.sum(b[0] * t[:, 0].T)
        + np.sum(c[1] ** 2)
        + np.sum(d)
        + np.sum(np.triu(t) * np.tril(t, 1))
        + np.sum(np.triu(t, -1)[0] ** 2)
    )


@args((T, M, V), ([[[2.0]]], [[3.0]], [1.0]))
@autodiff
def many_dots(t: Array3[np.float64], a: Matrix, v: Vector) -> float:
    x = (
        np.sum(np.dot(a, t) ** 2) + np.sum(np.dot(t, a) ** 2 * 0.1)
        if t.shape[2] == a.shape[0] and t.shape[1] == a.shape[1]
        else 0.0
    )
    y = (
        np.sum(np.inner(t, t) ** 2)
        + np.vdot(a, a * 2.0)
        + np.sum(np.outer(a, v) ** 2)
        + np.sum(np.inner(t, t[0, 0]) ** 2)
    )
    return x + y + np.sum(np.dot(t, t[0, 0]))


@args((1.0, 8.0, 4), (-2.0, -16.0, 4), (2.0, 0.0, 3), (3.0, 5.0, 1), (3.0, 5.0, 0), (1.0, 2.0, -1))
@autodiff
def sequences(x: float, y: float, n: int) -> float:
    a = np.geomspace(x, y, n) * np.arange(n)
    b = np.logspace(x, 0.5, n) + np.logspace(0.0, 1.0, num=n, endpoint=False, base=2.0) * x
    c = np.linspace(x, y, n, False) * np.linspace(x, y, num=n, endpoint=True)
    return np.sum(a) + np.sum(b) + np.sum(c) + np.sum(np.geomspace(2.0, x, n, endpoint=False))


@args((V, M, 1), (V, M, -2), (V, M, 2))
@autodiff
def takes(v: Vector, a: Matrix, k: int) -> float:
    i = np.array([0, k, 0])
    x = (
        np.sum(np.take(v, i) ** 2)
        + np.take(v, k)
        + np.sum(np.take(a, [0, 4]))
        + np.sum(np.take(a, i, axis=1) ** 2)
        + np.sum(a.take(0, axis=0))
    )
    o = np.argsort(a, axis=1)
    return (
        x + np.sum(np.take_along_axis(a, o, axis=1) * a) + np.sum(np.take_along_axis(a, np.array([[0, 1, -1]]), 0) ** 2)
    )


@args((V, M), ([], [[0.0]]), ([-1.0], M))
@autodiff
def found(v: Vector, a: Matrix) -> float:
    (i,) = np.nonzero(v > 0.0)
    r, c = np.where(a > 0.0)
    x = np.sum(v[i] ** 2) + np.sum(a[r, c] ** 3) + np.sum(np.flatnonzero(a) * 0.5) + i.size
    return x + np.sum(v[np.where(v < 0.0)[0]]) + np.sum(np.where(a > 0.0, a, -a)) + a.nonzero()[0].size


@args((V, M), ([1.0, 2.0], [[1.0]]), ([], [[2.0, 1.0], [3.0, 4.0], [5.0, 6.0]]))
@autodiff
def fills(v: Vector, a: Matrix) -> float:
    b = a * a
    np.fill_diagonal(b, v[0] if v.size else 2.0)
    c = np.zeros(a.shape)
    np.copyto(c, a[0])
    np.copyto(c, a * 3.0, where=a > 0.0)
    np.copyto(b, 1.5, where=b < 0.2)
    d = np.broadcast_to(v, (2, v.size)) * np.broadcast_to(np.arange(2)[:, None], (2, v.size))
    return np.sum(b * c) + np.sum(d) + a.nbytes + v.itemsize + np.ndim(a) * np.ndim(v[:1]) + np.ndim(2.0)


@args((M,), ([[1.0]],))
@autodiff
def fill_parameter(a: Matrix) -> None:
    np.fill_diagonal(a, a[0, -1])
    np.copyto(a[0], a[-1])


@args((V, V), ([1.0], [1.0, 2.0]), ([NAN], [NAN]), ([], []), ([1.0, 2.0], [1.0, 3.0]))
@autodiff
def equality(v: Vector, w: Vector) -> float:
    x = 1.0 if np.array_equal(v, w) else 2.0
    return x * np.sum(v) + np.array_equal(v, v) + np.array_equal(np.outer(v, v), v)


@args((V, 3), (V, 4))
@autodiff
def broadcast_mismatch(v: Vector, n: int) -> float:
    return np.sum(np.broadcast_to(v, (2, n)) ** 2)
