# ruff: noqa
"""Arrays of several dimensions: elements, views, stores, broadcasting, products, reductions."""

import numpy as np

from adcore import autodiff
from adcore.typing import Array1, Array2, Array3, Matrix, Vector

ARGS = {}


def args(*sets):
    def keep(f):
        ARGS[f.__name__] = sets
        return f

    return keep


A = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.5]]
B = [[0.5, -1.0, 2.0], [3.0, 0.25, -0.75]]
S = [[2.0, 0.5, 1.0], [0.5, 3.0, 0.25], [1.0, 0.25, 4.0]]
V = [0.5, -1.5, 2.0]
W = [2.0, -3.0]
K = np.array([[1.0, -2.0, 0.5], [0.25, 1.0, 2.0]])


@args((A, 0, 1), (A, -1, -3), (A, 1, 3), (A, 2, 0))
@autodiff
def elements(a: Matrix, i: int, j: int) -> float:
    return a[i, j] + a[i][j] * 2.0 + a[i - 0, ...][j]


@args((A,), ([[]],))
@autodiff(mode="none")
def sizes(a: Matrix) -> int:
    n, m = a.shape
    return n * 100 + m * 10 + a.size + len(a) + a.ndim + a.T.shape[0] + np.size(a) + len(np.shape(a))


@args((A, 0), (A, -2), (A, 5))
@autodiff
def rows(a: Matrix, i: int) -> Vector:
    return a[i] + a[i, :] * a[0]


@args((A, 0), (A, -1), (A, 3))
@autodiff
def columns(a: Matrix, j: int) -> Vector:
    return a[:, j] * a[:, -1] + a.T[j]


@args((S,), (A,))
@autodiff
def views(a: Matrix) -> Matrix:
    return a[0:2, 1:] + a[-2:, ::-1][:, :2] * a[::-1, :-1][:2]


@args((S,))
@autodiff
def parts(a: Matrix) -> float:
    return a[::2, ::2].sum() + a[1:, 1:][0, -1] + a.T[0:1].mean() + a[5:, :].sum()


@args((A, B), (A, S))
@autodiff
def arithmetic(a: Matrix, b: Matrix) -> Matrix:
    return (a + b) * 2.0 - np.exp(b) / (1.0 + a**2) + np.maximum(a, b) + np.where(a > b, a, -b)


@args((A, V), (A, W))
@autodiff
def with_vector(a: Matrix, v: Vector) -> Matrix:
    return a * v + v / a


@args((A, W), (A, V))
@autodiff
def with_column(a: Matrix, w: Vector) -> Matrix:
    return a + w[:, None] * w[0] - w[:, np.newaxis]


@args(([[1.5], [2.5]], V), ([[1.5, 2.0]], V), (A, V))
@autodiff
def power_table(x: Matrix, y: Vector) -> float:
    return float(np.sum(np.abs(x) ** y))


@args((A, [[2.0]]), (A, [[1.0, 2.0, 3.0]]), (A, [[1.0], [2.0]]), ([[2.0]], A), (A, A), (A, S))
@autodiff
def unknown_sizes(a: Matrix, b: Matrix) -> Matrix:
    return a * b + b


@args((V, W))
@autodiff
def tables(v: Vector, w: Vector) -> Matrix:
    return np.outer(v, w) + v[:, None] * w[None, :] + np.outer(v, w) ** 2


@args((A,), (S,))
@autodiff
def reductions(a: Matrix) -> float:
    return np.sum(a) + a.mean() * np.max(a) - a.min() + np.std(a) + np.prod(a) + a.var()


@args((A,), (S,))
@autodiff
def along(a: Matrix) -> float:
    return np.sum(np.sum(a, axis=0) * a[0]) + a.sum(axis=1)[1] + np.sum(a.mean(axis=-1)) + a.mean(0)[2]


@args((A, V), (A, W))
@autodiff
def matrix_vector(a: Matrix, v: Vector) -> Vector:
    return a @ v + np.dot(a, v) * 2.0


@args((A, W), (A, V))
@autodiff
def vector_matrix(a: Matrix, w: Vector) -> Vector:
    return w @ a + a.T @ w


@args((A, S), (S, S), (A, A))
@autodiff
def matrix_matrix(a: Matrix, b: Matrix) -> Matrix:
    return a @ b + np.matmul(a, b.T)


@args((A,))
@autodiff
def filled(a: Matrix) -> Matrix:
    n, m = a.shape
    b = np.zeros((n, m))
    c = np.empty_like(a)
    d = np.ones((n, m)) + np.full((n, m), 0.5) + np.zeros_like(a) + np.ones_like(a)
    for i in range(n):
        for j in range(m):
            b[i, j] = a[i, j] * (i - j)
            c[i][j] = b[i, j] + d[i, j]
    return b + c


@args((S,))
@autodiff
def stores(a: Matrix) -> Matrix:
    b = a.copy()
    b[0] = 1.5
    b[1, 1:] = a[0, :-1]
    b[:, 2] *= 2.0
    b[1:, :2] += a[:2, 1:]
    b[-1, -1] -= 3.0
    b[::2] = b[::-2] + 1.0
    b[:, :2][0] = 7.0
    return b


@args((S,), (A,))
@autodiff
def writes(a: Matrix) -> None:
    for row in a:
        row[0] *= 2.0
    a.T[1] = 0.5
    a += 1.0


@args((A,))
@autodiff
def iterated(a: Matrix) -> float:
    total = 0.0
    for i, row in enumerate(a):
        total += row[0] * i + row.sum()
    for x, y in zip(a, a[::-1]):
        total += x @ y
    for row in a:
        for x in row:
            total += x * x
    return total


@args((A,))
@autodiff
def unpacked(a: Matrix) -> float:
    x, y = a
    (p, q, r), s = a
    return x @ y + p * q * r + s[0]


@args((A,))
@autodiff
def shapes(a: Matrix) -> Vector:
    n, m = a.shape
    b = a.reshape(m, n) + np.reshape(a, (3, -1))
    return a.ravel() + a.flatten() * 2.0 + b.reshape(-1) + np.transpose(a).flatten() + a.T.copy().ravel()


@args((V,))
@autodiff
def displays(v: Vector) -> Matrix:
    a = np.array([[1.0, v[0], 2], [v[1], 3, v[2]]])
    b = np.array([v, v * 2.0])
    return a + b + K


@args((S,))
@autodiff
def lists_of_indices(a: Matrix) -> Matrix:
    b = a.copy()
    b[[1, 2]] = b[[2, 1]]
    return b


@args((V, 0), (V, 1))
@autodiff
def view_or_all(v: Vector, k: int) -> float:
    x = v
    if k:
        x = x[1:]
    return float(np.sum(x * x))


@args((A,), (S,))
@autodiff
def stacked(a: Matrix) -> Matrix:
    return np.concatenate([a, a[:1] * 2.0, a[::-1]])


@args(
    ([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]], 1), ([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]], 0)
)
@autodiff
def three(a: Array3[np.float64], k: int) -> float:
    x = a[0]
    if k:
        x = x[1:]
    return float(np.sum(x)) + a[1, 0, 1] * a[..., 0].sum() + a[:, 1].mean() + a[1][0][1]


@args((A, np.array([0, 1, 1])), (A, np.array([0, 2, 1])))
@autodiff
def picked(a: Array2[np.float64], k: Array1[np.int64]) -> float:
    total = 0.0
    for i in range(len(k)):
        total += a[k[i], i]
    return total


@args((A,))
@autodiff
def annotated(
    a: np.ndarray[tuple[int, int], np.dtype[np.float64]],
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return a * 2.0


def helper(a, j):
    return a[:, j] * 2.0


def put(a, i, row):
    a[i, :] = row
    a[i, 0] += 1.0


@args((A,))
@autodiff
def helpers(a: Matrix) -> Matrix:
    b = np.zeros(a.shape)
    put(b, 0, helper(a, 0)[0] * a[1])
    put(b, 1, a[0] @ a[0])
    return b
