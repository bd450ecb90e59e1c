# ruff: noqa
"""Masks, arrays of indices, and reductions along axes."""

import numpy as np

from adcore import autodiff
from adcore.typing import Array1, Array3, Matrix, Vector

ARGS = {}


def args(*sets):
    def keep(f):
        ARGS[f.__name__] = sets
        return f

    return keep


V = [0.5, 1.5, -2.0, 3.0]
M = [[0.5, -1.5, 2.5], [3.0, 0.25, -0.75]]
T = [[[0.5, -1.5], [2.5, 1.0], [0.3, 0.7]], [[3.0, 0.25], [-0.75, 2.0], [1.1, -0.2]]]


@args((V,), ([-1.0],), ([],))
@autodiff
def masked(x: Vector) -> float:
    y = x[x > 0.0]
    return np.sum(y * y) + len(y)


@args((V, 2.0), ([-1.0], 3.0), ([], 1.0))
@autodiff
def stored_by_mask(x: Vector, s: float) -> Vector:
    y = x * s
    y[y < 0.0] = s
    y[y > 2.0] *= s
    return y


@args((V,), ([-1.0],), ([],))
@autodiff
def stored_array_by_mask(x: Vector) -> Vector:
    y = x.copy()
    m = x > 0.0
    y[m] = x[m] ** 2
    y[m] += np.sin(x[m])
    return y


@args((M,), ([[-1.0]],))
@autodiff
def mask_of_a_matrix(a: Matrix) -> float:
    b = a.copy()
    m = a > 0.0
    b[m] = 1.0 / a[m]
    return np.sum(b * b) + np.sum(a[a < 0.0])


@args((M,))
@autodiff
def mask_of_rows(a: Matrix) -> float:
    rows = a[a[:, 0] > 1.0]
    b = a * 2.0
    b[a[:, 0] > 1.0] = a[1] * a[0]
    b[:, a[0] > 0.0] = 3.0 * a[:, a[0] > 0.0]
    return np.sum(rows) * np.sum(b * b)


@args((V,))
@autodiff
def gathered(x: Vector) -> float:
    i = np.array([0, 2, 2, -1])
    y = x[i]
    y[np.array([1, 1])] += x[:2]
    z = x.copy()
    z[i] = y * y
    return np.sum(y * x) + np.sum(z * z)


@args((V,), ([1.0, 2.0],))
@autodiff
def outside(x: Vector) -> float:
    return np.sum(x[np.array([0, 2])])


@args((M,))
@autodiff
def gathered_rows(a: Matrix) -> float:
    i = np.array([1, 0, 1])
    b = a[i]
    c = a[:, i]
    d = a[i, np.array([0, 1, 2])]
    return np.sum(b * b) + np.sum(c[0] * c[1]) + np.sum(d * d * d)


@args((V, 2))
@autodiff
def lists(x: Vector, k: int) -> float:
    y = x[[0, k, -1]]
    a = np.zeros((3, 4))
    a[[0, k]] = x
    a[[1, 2], [3, k]] += y[0]
    return np.sum(a * a) + np.sum(y)


@args((M,))
@autodiff
def index_of_two_dimensions(a: Matrix) -> float:
    i = np.array([[0, 1], [1, 0]])
    b = a[0][i]
    c = a[i]
    return np.sum(b * b) + np.sum(c * c * c)


@args((V,))
@autodiff
def sparse_product(x: Vector) -> Vector:
    values = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    columns = np.array([0, 2, 1, 3, 0])
    starts = np.array([0, 2, 3, 5])
    y = np.empty(3)
    for i in range(3):
        cols = columns[starts[i] : starts[i + 1]]
        y[i] = values[starts[i] : starts[i + 1]] @ x[cols]
    return y


@args((M,))
@autodiff
def axis_reductions(a: Matrix) -> float:
    s = np.sum(a.max(axis=0) * a.min(axis=0)) + np.sum(a.max(axis=1) ** 2) + np.sum(np.prod(a, axis=1))
    return s + np.sum(a.std(axis=0) * a.var(axis=0)) + np.sum(np.var(a, axis=1))


@args((M,))
@autodiff
def kept_dimensions(a: Matrix) -> Matrix:
    e = np.exp(a - np.max(a, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True) + a.mean(axis=0, keepdims=True) + a.sum(keepdims=True)


@args((T,))
@autodiff
def several_axes(a: Array3[np.float64]) -> float:
    b = np.sum(a, axis=(1, 2)) * np.max(a, axis=(0, 1))
    c = np.sum(a, axis=0) * np.mean(a, axis=0) + np.sum(a * a, axis=(0,), keepdims=True)
    return np.sum(b) + np.sum(c * c) + np.sum(a.mean(axis=(0, 2)) ** 2) + np.sum(np.sum(a, axis=2) ** 3)


@args((M,))
@autodiff
def any_and_all_along(a: Matrix) -> float:
    m = np.any(a > 2.0, axis=0)
    n = np.all(a > -1.0, axis=1)
    return np.sum(a[0][m]) + np.sum(a[n])


@args(([0.1, 0.6, 0.9, 0.4], [1.0, 2.0, 3.0, 4.0], 3))
@autodiff(wrt=("data",))
def binned(radius: Vector, data: Vector, bins: int) -> Vector:
    out = np.zeros(bins)
    top = radius.max()
    for i in range(bins):
        low = top * i / bins
        high = top * (i + 1) / bins
        inside = np.logical_and(low <= radius, radius < high)
        out[i] = data[inside].sum() / max(1.0, np.sum(inside))
    return out


@args((V, [[1.0, 2.0]]))
@autodiff
def same_dtype(x: Vector, a: Matrix) -> float:
    y = np.zeros(3, dtype=x.dtype)
    z = np.ones_like(a, dtype=a.dtype)
    m = np.zeros(2, dtype=(x > 0.0).dtype)
    y[0] = x[0]
    return np.sum(y * y) * np.sum(z) + (0.0 if m[0] else x[1])
