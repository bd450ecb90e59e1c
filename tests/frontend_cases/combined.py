# ruff: noqa
"""NumPy's functions that combine arrays place by place: kron, cross, pad, select, grids, parts."""

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


@args((M, S, V), ([[2.0]], [[3.0]], [1.0]))
@autodiff
def kronecker(a: Matrix, b: Matrix, v: Vector) -> float:
    k = np.kron(a, b)
    l = np.kron(v, a) * np.kron(np.eye(1), np.kron(v, a))
    return (
        np.sum(k * k)
        + k[-1, 0]
        + np.sum(l)
        + np.sum(np.kron(v, v) * np.arange(v.size**2))
        + np.sum(np.kron(2.0, v))
        + np.sum(np.kron(a.T, b)[0])
    )


@args((V, W, S), ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], S), ([1.0], W, S))
@autodiff
def crosses(v: Vector, w: Vector, a: Matrix) -> float:
    c = np.cross(v, w)
    d = np.cross(a, v) + np.cross(a, a[::-1]) * c
    e = np.cross(a, a.T, axis=0) + np.cross(a, w[None], axisa=0, axisc=0)
    return c @ (v * v) + np.sum(d * d) + np.sum(e * a) + np.cross(np.array([1, 0, 0]), np.array([0, 1, 0]))[2]


@args((V, M, 2), (V, M, 0), ([1.0], [[1.0]], 1), ([], [[1.0]], 3), (V, M, -1))
@autodiff
def padded(v: Vector, a: Matrix, n: int) -> float:
    x = np.sum(np.pad(v, n) * np.arange(v.size + 2 * n)) + np.sum(np.pad(v, (n, 1), constant_values=2.5)[-1:] * v[:1])
    b = np.pad(a, ((1, 0), (n, 2)), mode="constant", constant_values=((1.0, 2.0), (a[0, 0], 4.0)))
    return x + np.sum(b * b * np.arange(b.shape[1])) + np.sum(np.pad(a, 1)[0]) + np.pad(np.arange(3), (0, 2))[4]


@args((V, M, 2), (V, M, 0), (V, M, 7), ([1.0], [[1.0]], 3))
@autodiff
def extended(v: Vector, a: Matrix, n: int) -> float:
    x = 0.0
    k = np.arange(v.size + 2 * n) ** 2
    x += np.sum(np.pad(v, n, mode="edge") * k) + np.sum(np.pad(v, n, "wrap") * k)
    x += np.sum(np.pad(v, n, mode="reflect") * k) + np.sum(np.pad(v, n, mode="symmetric") * k)
    b = np.pad(a, ((n, 1), (0, 2)), mode="edge") * np.pad(a, ((n, 1), (0, 2)), mode="reflect")
    return x + np.sum(b * b * np.arange(b.shape[1]))


@args(([],))
@autodiff
def extended_empty(v: Vector) -> float:
    return np.sum(np.pad(v, 1, mode="edge"))


@args((V, 0.5), ([-1.0, NAN, 2.0, 0.5], 1.0), ([], 1.0))
@autodiff
def selected(v: Vector, x: float) -> Vector:
    a = np.select([v > 1.0, v > 0.0, v < x], [v * v, np.sqrt(v), x], default=-1.0)
    b = np.select([v < 0.0, v >= 0.0], [0, np.log(v)])
    return a + b + np.select((x > 0.75, x > 0.25), (v, 2.0 * v), v * x) * np.select([x > 0.0], [x])


@args((V, M, 2.0), ([], [[1.0]], 3.0))
@autodiff
def ranks(v: Vector, a: Matrix, x: float) -> float:
    b = np.atleast_2d(v) * 2.0
    c, d = np.atleast_1d(x, v)
    e = np.atleast_3d(v) * np.atleast_3d(a[:1, :1])
    f = np.atleast_3d(a)[:, :, 0] * a
    return (
        np.sum(b @ v)
        + c[0] ** 2
        + np.sum(d)
        + np.sum(e[0, :, 0] * v)
        + np.sum(f)
        + np.atleast_2d(x)[0, 0] * np.atleast_3d(x)[0, 0, 0]
        + np.atleast_2d(a)[0, 0]
    )


@args((V, [2.0, 3.0]), ([], V))
@autodiff
def grids(v: Vector, w: Vector) -> float:
    x, y = np.meshgrid(v, w)
    p, q = np.meshgrid(v, w, indexing="ij")
    s, t, u = np.meshgrid(v, w, v * v, sparse=True)
    (only,) = np.meshgrid(v)
    x *= 2.0
    return (
        np.sum(x * y * y)
        + np.sum(np.sin(p) * q)
        + np.sum(s * t * u)
        + np.sum(only)
        + np.sum(np.meshgrid(v, w, v)[2] ** 2)
    )


@args((V, M), ([1.0], [[2.0]]))
@autodiff
def depths(v: Vector, a: Matrix) -> float:
    d = np.dstack((v, v * v))
    e = np.dstack([a, a * 2.0, np.dstack((a, a))])
    return (
        np.sum(d[0, 0] ** 2)
        + np.sum(e[:, :, 1] * e[:, :, -1])
        + np.sum(np.append(v, a)[1:] ** 2)
        + np.sum(np.append(a, a * a, axis=1)[:, ::2])
        + np.append(v, 2.0)[-1]
    )


@args((V + W, M), ([1.0, 2.0, 3.0], [[2.0, 1.0]]), ([1.0], [[2.0]]))
@autodiff
def parts(v: Vector, a: Matrix) -> float:
    p, q, r = np.split(v, 3)
    s, t = np.array_split(v, 2)
    h = np.split(v, [1, -2, 5])
    top, rest = np.vsplit(a, [1])
    left, right = np.hsplit(a, (1,))
    return (
        np.sum(p * q * r)
        + np.sum(s[:1] * t)
        + np.sum(h[1] ** 2)
        + np.sum(h[0] * h[3]) * len(h)
        + np.sum(top) * np.sum(rest)
        + np.sum(left * 2.0)
        + np.sum(right**2)
    )


@args((M, S, T))
@autodiff
def rotations(a: Matrix, b: Matrix, c: Array3[np.float64]) -> float:
    x = (
        np.sum(np.rot90(a)[0] * a[:, 0])
        + np.sum(np.rot90(a, 2) * a)
        + np.sum(np.rot90(b, 3) * b)
        + np.sum(np.rot90(b, -2) * np.rot90(b, 4))
    )
    return x + np.sum(np.rot90(b, k=-1, axes=(1, 0)) ** 2 * b) + np.sum(np.rot90(c, 1, (1, 2))[:, 0] ** 2)
