# ruff: noqa
"""Products of matrices: sizes on both sides of what goes to BLAS, views, what is written before and after, loops, stacks."""

import numpy as np

from adcore import autodiff
from adcore.typing import Array3, Matrix, Vector

ARGS = {}


def args(*sets):
    def keep(f):
        ARGS[f.__name__] = sets
        return f

    return keep


def some(rows, columns, step=0.37):
    """A matrix of different numbers, as lists."""
    return [[((i * columns + j) * step) % 3.0 - 1.4 + 0.05 * i for j in range(columns)] for i in range(rows)]


A, B, SQUARE, NARROW = some(5, 6), some(6, 4, 0.53), some(5, 5, 0.71), some(6, 1, 0.9)
SIZES = (
    (A, B),
    (some(1, 6), B),
    (A, NARROW),
    (some(2, 3), some(3, 2)),
    (some(1, 1), some(1, 1)),
    (some(5, 1), some(1, 4)),
)


@args(*SIZES, (A, SQUARE))
@autodiff
def product(a: Matrix, b: Matrix) -> Matrix:
    return a @ b


@args(*SIZES)
@autodiff
def curved(a: Matrix, b: Matrix) -> float:
    c = np.tanh(a @ b)
    return np.sum(c * np.sin(c))


@args((SQUARE,), (some(2, 2),))
@autodiff
def with_itself(a: Matrix) -> float:
    b = a @ a
    return np.sum(np.sin(b @ a.T) * (a.T @ a)) + np.trace(np.dot(a, b))


@args((some(9, 12), some(8, 9)))
@autodiff
def views(a: Matrix, b: Matrix) -> float:
    x = a[1:8, ::2] @ b[1:7, ::-1]
    y = a[::-1, 3:9] @ b.T[2:8, 1:]
    z = np.dot(a[:, :8].T, a[:, 4:]) @ b[:, :3]
    return np.sum(x * x) + np.sum(np.sin(y)) + np.sum(z)


@args((A, B, 0.5))
@autodiff
def overwritten_afterwards(a: Matrix, b: Matrix, t: float) -> float:
    left = a * t
    c = left @ b
    left[:, 0] = 0.0
    left *= 2.0
    d = left @ b
    b2 = b.copy()
    e = left @ b2
    b2[:] = 0.0
    return np.sum(c * c) + np.sum(np.sin(d)) * np.sum(e) + np.sum(left)


@args((SQUARE, 3), (SQUARE, 0), (some(2, 2), 2))
@autodiff
def in_a_loop(a: Matrix, n: int) -> float:
    power = np.eye(a.shape[0])
    total = 0.0
    for i in range(n):
        power = np.tanh(power @ a) + 0.1 * a
        total += np.sum(power) * i
    return total + np.trace(power)


@args((SQUARE, 3), (SQUARE, 0))
@autodiff
def of_rows_that_a_loop_sets(a: Matrix, n: int) -> float:
    work = a.copy()
    total = 0.0
    for i in range(n):
        total += np.sum((work @ a) ** 2)
        work[i] = np.sin(work[i]) * a[:, i]
    return total + np.sum(work @ work)


@args((A, B, 1), (A, B, 0))
@autodiff
def in_a_branch(a: Matrix, b: Matrix, n: int) -> float:
    c = a @ b if n else (b.T @ a.T).T * 2.0
    return np.sum(c * c)


@args(([some(5, 4), some(5, 4, 0.61)], [some(4, 5), some(4, 5, 0.43)], some(4, 3)))
@autodiff
def stacks(a: Array3[np.float64], b: Array3[np.float64], c: Matrix) -> float:
    return np.sum(np.sin(a @ b)) + np.sum((a @ c) ** 2)


@args((SQUARE, [0.5, -1.0, 2.0, 0.25, 1.5]))
@autodiff
def repeated_rows(a: Matrix, v: Vector) -> float:
    rows = np.broadcast_to(v, a.shape)
    return np.sum(np.sin(rows @ a)) + np.sum(a @ rows) + np.sum((v[:, None] @ v[None, :]) ** 2)


@args((A, some(6, 5), [1.0, 0.0, -2.0, 0.5, 3.0]))
@autodiff
def masked(a: Matrix, b: Matrix, v: Vector) -> float:
    """What is not finite has no part in the value, nor in a derivative."""
    c = a @ (b / v)
    return np.sum(np.where(np.isfinite(c), c, 0.0))


@args((A, B), (some(2, 3), some(3, 2)))
@autodiff
def of_integers_and_floats(a: Matrix, b: Matrix) -> float:
    k = np.arange(a.shape[1] * 3).reshape(a.shape[1], 3)
    return np.sum(np.sin(a @ k * 0.01)) + np.sum((k.T @ b) ** 2) + np.sum(k.T @ k)
