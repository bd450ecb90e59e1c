# ruff: noqa
"""Names that loops and branches bind in turn to several arrays, written before, after or under that name."""

import numpy as np

from adcore import autodiff
from adcore.typing import Matrix, Vector

ARGS = {}


def args(*sets):
    def keep(f):
        ARGS[f.__name__] = sets
        return f

    return keep


V = [0.5, 1.5, -2.0, 3.0]
W = [1.25, -0.75, 0.5, 2.0]


def built(v, a):
    out = np.empty(v.size)
    for i in range(v.size):
        out[i] = np.sin(a * v[i])
    return out


@args((V, W, 1.3), ([0.7], [0.2], 0.5), ([], [], 0.5))
@autodiff
def column_of_what_was_written(v: Vector, w: Vector, a: float) -> float:
    m = np.outer(v, w)
    m[:, 0] *= a
    column = m[:, -1] if v.size else v
    total = 0.0
    for k in range(v.size - 1, -1, -1):
        column = m[:, k] - w[k] * column
        total += np.sum(column * column)
    return total


@args((V, 0.4, 3), (V, 0.4, 0), ([], 0.4, 2))
@autodiff
def made_anew_in_each_iteration(v: Vector, a: float, n: int) -> float:
    acc = built(v, a)
    total = 0.0
    for i in range(n):
        total += np.sum(acc * v)
        acc = built(acc + v, a)
        total += acc @ acc
    return total + np.sum(acc)


@args((V, 0.4, 3), (V, -0.4, 3), (V, -0.4, 0))
@autodiff
def made_anew_in_a_branch(v: Vector, a: float, n: int) -> float:
    acc = v * a
    for i in range(n):
        if acc[0] > 0.0:
            fresh = np.zeros(v.size)
            fresh[0] = a
            fresh[1:] = acc[1:] * v[:-1]
            acc = fresh
        else:
            acc = acc + a * v
    return np.sum(acc * acc)


@args((V, 0.4, 4), (V, 0.4, 1))
@autodiff
def made_anew_and_written_under_the_name_first(v: Vector, a: float, n: int) -> float:
    total = 0.0
    for i in range(n):
        acc = np.empty(v.size)
        acc[:] = v * a
        acc[0] += total
        total += np.sum(acc * acc)
    return total


@args((V, 0.4, True), (V, 0.4, False))
@autodiff
def read_after_its_array_was_written(v: Vector, a: float, q: bool) -> float:
    m = np.outer(v, v)
    m[0] *= a
    row = m[1] if q else m[2]
    before = np.sum(row * row)
    m[1, 2] = a
    m[2] += row[2]
    return before + np.sum(row * m[0])


@args((V, 0.4, 3), (V, 0.4, 0))
@autodiff
def written_under_another_name_later(v: Vector, a: float, n: int) -> float:
    base = v * a
    base[0] = 1.0
    seen = v
    total = 0.0
    for i in range(n):
        total += np.sum(seen * v)
        seen = v * v
        base[i] = base[i] * a + seen[1]
    return total + np.sum(base)


@args((V, 0.4, 3), (V, 0.4, 2), (V, 0.4, 0))
@autodiff
def views_of_one_array_in_turn(v: Vector, a: float, n: int) -> float:
    m = np.outer(v, v)
    m[0, 0] = a
    row = m[0]
    total = 0.0
    for i in range(n):
        total += row[1] * np.sum(row)
        row = m[:, i]
    return total + row[0] * row[-1]


@args((V, 0.4, 3), (V, 0.4, 0))
@autodiff
def unbound_before_its_loop(v: Vector, a: float, n: int) -> float:
    total = a
    for i in range(n):
        if i > 0:
            total += np.sum(last * v)
        last = np.empty(v.size)
        last[:] = v * total
        last[0] = a
    return total


@args((V, 0.4, 3), (V, 0.4, 0))
@autodiff
def in_a_loop_around(v: Vector, a: float, n: int) -> float:
    total = 0.0
    for j in range(2):
        acc = built(v, a + j)
        for i in range(n):
            acc = built(acc * v, a)
            total += acc[0] * acc[-1]
        total += np.sum(acc)
    return total


@args((V, 0.4, 7.0), (V, 0.4, 0.0))
@autodiff
def in_a_while(v: Vector, a: float, limit: float) -> float:
    acc = built(v, a)
    total = np.sum(acc * acc)
    while total < limit:
        acc = built(acc + v, a)
        total += np.sum(acc * acc) + 1.0
    return total + acc[1]


@args((V, 3), (V, 1), (V, 0), ([0.3], 0))
@autodiff
def shorter_in_each_iteration(v: Vector, n: int) -> float:
    x = v * 2.0
    for i in range(n):
        x = x[1:] * x[:-1] + i
    return np.sum(x * x)


@args((V, 0.4, 3), (V, 0.4, 0), ([], 0.4, 2))
@autodiff
def longer_in_each_iteration(v: Vector, a: float, n: int) -> float:
    x = v
    for i in range(n):
        x = np.concatenate((x, np.array([np.sum(x) * a, a])))
    return np.sum(x * x)


@args((V, 0.4), ([1.0], 0.4))
@autodiff
def halves(v: Vector, a: float) -> float:
    x = np.sin(v)
    while x.size > 1:
        x = x[: x.size // 2] * a + x[x.size - x.size // 2 :]
    return x[0] * x[0]


@args((V, W, 2), (V, W, 0))
@autodiff
def a_product_with_another_width_each_time(v: Vector, w: Vector, n: int) -> float:
    x = np.outer(v, w)
    for i in range(n):
        x = x @ x[: x.shape[1], : x.shape[1] - 1]
    return np.sum(x * x)


@args((V, 0.4, True), (V, 0.4, False))
@autodiff
def a_row_or_a_column(v: Vector, a: float, q: bool) -> float:
    m = np.outer(v, v) * a
    if q:
        line = m[1]
    else:
        line = m[:, 2]
    return line[0] * np.sum(line * line)
