"""Products of dense matrices and vectors."""

import numpy as np

from adcore import autodiff
from adcore.typing import Array3, Matrix, Vector


@autodiff(mode="both")
def gemm(alpha: float, beta: float, c: Matrix, a: Matrix, b: Matrix) -> None:
    c[:] = alpha * a @ b + beta * c


@autodiff(mode="both")
def k2mm(alpha: float, beta: float, a: Matrix, b: Matrix, c: Matrix, d: Matrix) -> None:
    d[:] = alpha * a @ b @ c + beta * d


@autodiff(mode="both")
def k3mm(a: Matrix, b: Matrix, c: Matrix, d: Matrix) -> Matrix:
    return a @ b @ c @ d


@autodiff(mode="both")
def atax(a: Matrix, x: Vector) -> Vector:
    return (a @ x) @ a


@autodiff(mode="both")
def bicg(a: Matrix, p: Vector, r: Vector) -> tuple[Vector, Vector]:
    return r @ a, a @ p


@autodiff(mode="both")
def mvt(x1: Vector, x2: Vector, y1: Vector, y2: Vector, a: Matrix) -> None:
    x1 += a @ y1
    x2 += y2 @ a


@autodiff(mode="both")
def gesummv(alpha: float, beta: float, a: Matrix, b: Matrix, x: Vector) -> Vector:
    return alpha * a @ x + beta * b @ x


@autodiff(mode="both")
def gemver(
    alpha: float,
    beta: float,
    a: Matrix,
    u1: Vector,
    v1: Vector,
    u2: Vector,
    v2: Vector,
    w: Vector,
    x: Vector,
    y: Vector,
    z: Vector,
) -> None:
    a += np.outer(u1, v1) + np.outer(u2, v2)
    x += beta * y @ a + z
    w += alpha * a @ x


@autodiff(mode="both")
def doitgen(nr: int, nq: int, np_: int, a: Array3[np.float64], c4: Matrix) -> None:
    a[:] = np.reshape(np.reshape(a, (nr, nq, 1, np_)) @ c4, (nr, nq, np_))


@autodiff(mode="both")
def symm(alpha: float, beta: float, c: Matrix, a: Matrix, b: Matrix) -> None:
    """C = alpha A B + beta C, of the symmetric A only the lower triangle is read."""
    rows, columns = c.shape
    above = np.empty((columns,), dtype=c.dtype)
    c *= beta
    for i in range(rows):
        for j in range(columns):
            c[:i, j] += alpha * b[i, j] * a[i, :i]
            above[j] = b[:i, j] @ a[i, :i]
        c[i, :] += alpha * b[i, :] * a[i, i] + alpha * above


@autodiff(mode="both")
def syrk(alpha: float, beta: float, c: Matrix, a: Matrix) -> None:
    """The lower triangle of C = alpha A A' + beta C."""
    for i in range(a.shape[0]):
        c[i, : i + 1] *= beta
        for k in range(a.shape[1]):
            c[i, : i + 1] += alpha * a[i, k] * a[: i + 1, k]


@autodiff(mode="both")
def syr2k(alpha: float, beta: float, c: Matrix, a: Matrix, b: Matrix) -> None:
    """The lower triangle of C = alpha (A B' + B A') + beta C."""
    for i in range(a.shape[0]):
        c[i, : i + 1] *= beta
        for k in range(a.shape[1]):
            c[i, : i + 1] += a[: i + 1, k] * alpha * b[i, k] + b[: i + 1, k] * alpha * a[i, k]


@autodiff(mode="both")
def trmm(alpha: float, a: Matrix, b: Matrix) -> None:
    """B = alpha A' B, where A is lower triangular with ones on its diagonal."""
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] += np.dot(a[i + 1 :, i], b[i + 1 :, j])
    b *= alpha
