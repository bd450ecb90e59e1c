"""Factorisations, and systems of linear equations solved with them."""

import numpy as np

from adcore import autodiff
from adcore.typing import Matrix, Vector


@autodiff(mode="both")
def cholesky(a: Matrix) -> None:
    """Row by row; the strict upper triangle stays as it is."""
    a[0, 0] = np.sqrt(a[0, 0])
    for i in range(1, a.shape[0]):
        for j in range(i):
            a[i, j] -= np.dot(a[i, :j], a[j, :j])
            a[i, j] /= a[j, j]
        a[i, i] -= np.dot(a[i, :i], a[i, :i])
        a[i, i] = np.sqrt(a[i, i])


@autodiff(mode="both")
def cholesky2(a: Matrix) -> None:
    """Column by column, with whole-array operations."""
    for k in range(a.shape[0]):
        a[k:, k] -= a[k:, :k] @ a[k, :k]
        a[k:, k] /= np.sqrt(a[k, k])


@autodiff(mode="both")
def lu(a: Matrix) -> None:
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]


@autodiff(mode="both")
def ludcmp(a: Matrix, b: Vector) -> tuple[Vector, Vector]:
    """A x = b by LU decomposition; also the y of L y = b."""
    n = a.shape[0]
    x = np.zeros_like(b)
    y = np.zeros_like(b)
    for i in range(n):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]
    for i in range(n):
        y[i] = b[i] - a[i, :i] @ y[:i]
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return x, y


@autodiff(mode="both")
def trisolv(lower: Matrix, x: Vector, b: Vector) -> None:
    for i in range(lower.shape[0]):
        x[i] = (b[i] - lower[i, :i] @ x[:i]) / lower[i, i]


@autodiff(mode="both")
def durbin(r: Vector) -> Vector:
    """The Yule-Walker equations of the symmetric Toeplitz matrix of 1, r[0], r[1], ..."""
    y = np.empty_like(r)
    alpha = -r[0]
    beta = 1.0
    y[0] = -r[0]
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return y


@autodiff(mode="both")
def gramschmidt(a: Matrix) -> tuple[Matrix, Matrix]:
    """A = Q R by the modified Gram-Schmidt process."""
    n = a.shape[1]
    q = np.zeros_like(a)
    r = np.zeros((n, n), dtype=a.dtype)
    for k in range(n):
        r[k, k] = np.sqrt(np.dot(a[:, k], a[:, k]))
        q[:, k] = a[:, k] / r[k, k]
        for j in range(k + 1, n):
            r[k, j] = np.dot(q[:, k], a[:, j])
            a[:, j] -= q[:, k] * r[k, j]
    return q, r
