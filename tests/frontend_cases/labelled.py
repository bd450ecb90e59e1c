# ruff: noqa
"""Products of arrays with labelled axes: einsum, tensordot; diagonals."""

import numpy as np

from adcore import autodiff
from adcore.typing import Array3, Array4, Matrix, Vector

ARGS = {}
INF, NAN = float("inf"), float("nan")


def args(*sets):
    def keep(f):
        ARGS[f.__name__] = sets
        return f

    return keep


V = [0.5, 1.5, -2.0]
W = [1.0, -0.5, 0.25]
M = [[0.5, -1.5, 2.5], [3.0, 0.25, -0.75]]
S = [[0.5, -1.5, 2.5], [3.0, 0.25, -0.75], [1.0, 2.0, 0.1]]
T = [[[0.5, -1.5], [2.5, 1.0], [0.3, 0.7]], [[3.0, 0.25], [-0.75, 2.0], [1.1, -0.2]]]


@args((V, W), ([2.0], [3.0]), ([], []), ([1.0, 2.0], [1.0, 2.0, 3.0]), ([2.0], V))
@autodiff
def einsum_vectors(v: Vector, w: Vector) -> float:
    x = np.einsum("i,i->", v, w) + np.einsum("i,i", v, v[::-1]) + np.einsum("i->", v) * np.einsum("i,j->", v, w)
    return (
        x
        + np.sum(np.einsum("i,j->ij", v, w) ** 2)
        + np.sum(np.einsum("i,j->ji", v, w)[0])
        + np.sum(np.einsum("i,i->i", v, w) * w)
    )


@args((M, S, V), ([[1.0]], [[2.0]], [3.0]))
@autodiff
def einsum_matrices(a: Matrix, b: Matrix, v: Vector) -> Matrix:
    c = np.einsum("ij,jk->ik", a, b)
    d = np.einsum("ij,jk", a, b) * np.einsum("ij,kj->ik", a, b)
    e = np.einsum("ji,jk->ki", a, a) @ np.einsum("ij->ji", b)
    x = (
        np.sum(np.einsum("ij,j->i", a, v))
        + np.einsum("i,ij,j", v, b, v)
        + np.einsum("ij,ij->", a, a)
        + np.sum(np.einsum("ij,ij->j", a, a) * v)
    )
    return c * d * x + np.sum(e) + np.einsum("ij,j->ij", a, v) + np.einsum("ba", a).T


@args((S,), ([[2.0]],), (M,))
@autodiff
def einsum_diagonals(a: Matrix) -> float:
    d = np.einsum("ii->i", a) * np.einsum("ii->i", a.T)
    x = np.einsum("ii", a) + np.einsum("ii,jj->", a, a * a) + np.sum(np.einsum("ii,ij->j", a, a) * d)
    return x + np.sum(np.einsum("ij,jj->i", a, a)) + np.sum(np.einsum("ii,i->i", a, a[0]))


@args((S,), (S,))
@autodiff
def einsum_view(a: Matrix) -> Matrix:
    b = a * 1.0
    d = np.einsum("ii->i", b)
    d[:] = a[0]
    d *= 2.0
    np.einsum("ij->ji", b)[0] += a[1]
    b[1, 1] = a[2, 2] ** 2
    return b * d


@args((T,))
@autodiff
def einsum_blocks(a: Array3[np.float64]) -> float:
    x = (
        np.sum(np.einsum("bij,bik->bjk", a, a) ** 2)
        + np.sum(np.einsum("bij,cij->bc", a, a) ** 3)
        + np.einsum("bij,bij->", a, a)
    )
    y = (
        np.sum(np.einsum("bij,bij->b", a, a * a))
        + np.sum(np.einsum("bij->jb", a) ** 2)
        + np.sum(np.einsum("bij,jk->bik", a, a[0].T) ** 2)
    )
    z = np.sum(np.einsum("...ij,...kj->...ik", a, a[0]) * 0.5) + np.sum(
        np.einsum("...j->...", a)[0, 0] * np.einsum("...->...", a)[0, 0]
    )
    w = (
        np.sum(np.einsum("bij,bj->bi", a, a[:, 0]) ** 2)
        + np.sum(np.einsum("b...,b->...", a, a[:, 0, 0]) ** 2)
        + np.sum(np.einsum("...,...", a[0], a))
    )
    return x + y + z + w


@args((T, M, V), ([[[2.0]]], [[3.0]], [0.5]))
@autodiff
def einsum_many(a: Array3[np.float64], b: Matrix, v: Vector) -> float:
    x = np.sum(np.einsum("bij,bi,i->j", a, b, v) ** 2) + np.einsum("bij,bi,i,bij->", a, b, v, a)
    y = (
        np.sum(np.einsum(",bi->i", 2.0, b) * v)
        + np.sum(np.einsum("ab,cd->acbd", b, b)[0, 0] ** 2)
        + np.sum(np.einsum("bi,ci,di->bcd", b, b, b))
    )
    return (
        x
        + y
        + np.sum(np.einsum("bi,ib,i->b", b, b.T, v, optimize=True))
        * np.einsum("i,i", np.arange(3), np.array([2, 1, 0]))
    )


@args((M,), ([[1.0, 2.0]],))
@autodiff
def einsum_repeats(a: Matrix) -> float:
    return (
        np.sum(np.einsum("ij,ij->ij", a[:1], a) ** 2)
        + np.einsum("ij,ij", a[:, :1], a)
        + np.sum(np.einsum("ij,jk->ik", a[:, :1], a.T @ a))
    )


@args((S,), (M,))
@autodiff
def diagonals(a: Matrix) -> float:
    b = a * 2.0
    d = np.diagonal(b)
    e = b[:, ::-1].diagonal(offset=1)
    b[0, 0] = a[0, 1] ** 2
    b[0, 1] = 3.0
    t = np.diag(a.T, -1) * np.diagonal(a, 1, 1, 0)
    return np.sum(d * d) + np.sum(e) + np.sum(t) + np.trace(a[:, 1:], offset=-1) * a.trace(1)


@args((T,))
@autodiff
def diagonals_of_blocks(a: Array3[np.float64]) -> float:
    d = np.diagonal(a, axis1=0, axis2=2)
    return np.sum(d**3) + np.sum(np.trace(a, axis1=1, axis2=2) ** 2) + np.sum(np.diagonal(a, offset=1) * a[0, 0, 0])


@args((M, S, T, V), ([[1.0]], [[2.0]], [[[0.5]]], [3.0]))
@autodiff
def tensor_products(a: Matrix, b: Matrix, c: Array3[np.float64], v: Vector) -> float:
    x = (
        np.sum(np.tensordot(a, b, axes=1) ** 2)
        + np.tensordot(a, a)
        + np.sum(np.tensordot(v, v, 0) * np.tensordot(v, v, axes=0))
    )
    y = np.sum(np.tensordot(c, a, axes=([0, 1], [0, 1])) ** 2) + np.sum(np.tensordot(c, c, axes=((1, 2), (1, 2))) ** 2)
    return x + y + np.sum(np.tensordot(c, b, axes=(1, 0)) ** 2) + np.sum(np.tensordot(a, b, ([-1], [0])))


@args((V, [2.0, 3.0]), ([], V))
@autodiff
def tensor_mismatch(v: Vector, w: Vector) -> float:
    return np.tensordot(v, w, axes=1)
