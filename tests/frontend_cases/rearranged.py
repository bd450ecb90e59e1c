# ruff: noqa
"""NumPy's functions that put elements elsewhere, and products of stacks of matrices."""

import numpy as np

from adcore import autodiff
from adcore.typing import Array3, Array4, Matrix, Vector

ARGS = {}


def args(*sets):
    def keep(f):
        ARGS[f.__name__] = sets
        return f

    return keep


V = [0.5, 1.5, -2.0, 3.0]
M = [[0.5, -1.5, 2.5], [3.0, 0.25, -0.75]]
S = [[0.5, -1.5, 2.5], [3.0, 0.25, -0.75], [1.0, 2.0, 0.1]]
T = [[[0.5, -1.5], [2.5, 1.0], [0.3, 0.7]], [[3.0, 0.25], [-0.75, 2.0], [1.1, -0.2]]]


@args((V, M))
@autodiff
def flips(v: Vector, a: Matrix) -> float:
    return (
        np.flip(v) @ v
        + np.sum(np.flip(a) * a)
        + np.sum(np.flip(a, axis=1)[0] * np.fliplr(a)[1])
        + np.sum(np.flipud(a)[0])
    )


@args((V, M, 1), (V, M, -6), (V, M, 0), ([], [[1.0]], 3))
@autodiff
def rolls(v: Vector, a: Matrix, k: int) -> Vector:
    b = np.roll(a, k, axis=1) * np.roll(a, 1, axis=0)
    return np.roll(v * v, k) + np.sum(b * a)


@args((S, 0), (S, 1), (S, -1), (M, 1))
@autodiff
def triangles(a: Matrix, k: int) -> Matrix:
    return np.triu(a * a) - np.tril(a, k) + np.triu(a, k=1)


@args((S, V))
@autodiff
def diagonals(a: Matrix, v: Vector) -> float:
    d = np.diag(v) @ np.diag(v, 1)[:4, :4] + np.eye(4) * 2.0 + np.eye(4, k=1) + np.identity(4)
    return np.trace(a) ** 2 + np.sum(np.diag(a, -1) ** 3) + np.sum(a.diagonal()) + np.sum(d * d) + np.eye(2, 3)[1, 1]


@args((V, M, S))
@autodiff
def stacks(v: Vector, a: Matrix, b: Matrix) -> Matrix:
    c = np.concatenate((a, b)) * 2.0
    d = np.concatenate([a.T, b], axis=1)
    e = np.vstack([v[:3], c, b[0]])
    f = np.hstack((d, b)) + np.column_stack((d, v[:3], b[:, 0], b[:, 1]))[:, :8]
    g = np.stack([v, v * v], axis=1)
    h = np.stack((a, a * a))
    return e * np.sum(f * f) + np.sum(g @ g.T) + np.sum(h * h) + np.sum(np.hstack((v, 2.0)))


@args((V,), ([2.0],), ([],))
@autodiff
def running_sums(v: Vector) -> Vector:
    return np.cumsum(v * v) * np.cumprod(v) + v.cumsum()


@args((V,), ([2.0, 1.0],))
@autodiff
def steps(v: Vector) -> float:
    return np.sum(np.diff(v) ** 2) + v[np.argmax(v)] * v[np.argmin(v)] + v.argmax()


@args(([],))
@autodiff
def no_largest(v: Vector) -> float:
    return v[np.argmax(v)]


@args((V, 3), (V, 0))
@autodiff
def repetitions(v: Vector, n: int) -> float:
    return np.sum(np.repeat(v, n) * np.arange(4 * n)) + np.sum(np.tile(v, n) * np.arange(4 * n))


@args((T,))
@autodiff
def orders_of_axes(a: Array3[np.float64]) -> float:
    b = a.transpose(2, 0, 1) * 2.0
    c = np.transpose(a, (1, 2, 0))
    d = np.swapaxes(a, 0, 1)
    e = np.moveaxis(a, 0, -1)
    f = np.expand_dims(a[0], 1)
    g = np.squeeze(f, axis=1)
    return np.sum(b[0] * a[:, :, 1]) + np.sum(c[0] * e[1]) + np.sum(d[1] * g[0]) + np.sum(f * f)


@args((T,))
@autodiff
def stacks_of_products(a: Array3[np.float64]) -> float:
    b = a @ a.transpose(0, 2, 1)
    c = a @ a[0].T
    d = a[1] @ np.swapaxes(a, 1, 2)
    return np.sum(b * b) + np.sum(c * d)
