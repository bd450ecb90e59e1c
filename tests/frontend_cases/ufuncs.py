# ruff: noqa
"""NumPy's elementwise functions beyond the simple ones, their keywords and their methods."""

import numpy as np

from adcore import autodiff
from adcore.typing import Array1, Matrix, Vector

ARGS = {}
INF, NAN = float("inf"), float("nan")


def args(*sets):
    def keep(f):
        ARGS[f.__name__] = sets
        return f

    return keep


V = [0.5, 1.5, -2.0, 3.0]
W = [1.0, 1.5, 0.25, -3.5]
M = [[0.5, -1.5, 2.5], [3.0, 0.25, -0.75]]


@args(
    (V, W),
    ([], []),
    ([1.0], V),
    ([800.0, -800.0, INF, -INF], [0.0, 1.0, 3.0, -INF]),
    ([NAN, INF, 1.0], [1.0, INF, 1.0]),
    (V, V),
)
@autodiff
def sums_of_exponentials(v: Vector, w: Vector) -> Vector:
    return np.logaddexp(v, w) * 2.0 + np.logaddexp2(v[::-1], w[::-1])[::-1] + np.logaddexp(v, 0.5) + np.logaddexp(1, 2)


@args((0.3, 0.3), (-INF, -INF), (-INF, 2.0), (900.0, -900.0), (1.0, 2.0))
@autodiff
def log_likelihood(x: float, y: float) -> float:
    return np.logaddexp(x, y) + np.logaddexp2(x * 1.5, y)


@args((0.0,), (0.3,), (-1.0,), (1e-9,), (0.32,), (7.25,))
@autodiff
def cardinal_sine(x: float) -> float:
    return np.sinc(x)


@args((V, W), ([0.0, -0.0, NAN, 2.0], V), ([], []))
@autodiff
def steps(v: Vector, w: Vector) -> Vector:
    f, i = np.modf(v)
    q, r = np.divmod(v, w * w + 1.0)
    return (
        np.heaviside(v, w) * w
        + np.sinc(v)
        + f * f
        + i * w
        + q * v
        + r * r
        + np.signbit(w) * v
        + np.isposinf(v)
        + np.isneginf(w)
    )


@args((V, W), ([NAN, 1.0, NAN, 2.0], [1.0, NAN, NAN, 2.0]))
@autodiff
def other_extrema(v: Vector, w: Vector) -> Vector:
    return np.fmax(v, w) * 2.0 + np.fmin(v, w) + np.fmax(np.array([1, 2, 3, 4]), 2)


@args((V, 5), ([0.5], -3))
@autodiff
def bits(v: Vector, n: int) -> float:
    k = np.arange(v.size) + n
    m = (
        np.bitwise_and(k, 6)
        + np.bitwise_or(k, 1) * np.bitwise_xor(k, n)
        + np.invert(k)
        + np.left_shift(k, 2)
        + np.right_shift(k, 1)
    )
    p = np.bitwise_and(v > 0.0, v < 2.0) | np.bitwise_xor(v > 1.0, True) | np.invert(v > 0.0)
    return np.sum(m * v) + np.sum(p * v) + np.bitwise_not(n) + np.bitwise_left_shift(n + 8, 2)


@args((V, 0.3), ([0.5], 2.0), ([], 1.0))
@autodiff
def conditions(v: Vector, x: float) -> float:
    m = (v > 0.0) & (v < 2.0) | ~(v > -1.0) ^ (x < v)
    n = (v > 0.0) + (v > x) * (v < 1.0)
    w = v * 2.0
    w[(v > x) & m] = x
    if (np.sum(v) > x) & (x > 0.5) or ~(np.sum(v) > 1.0):
        w *= x
    return np.sum(w[m]) + np.sum(n * v) + np.sum((v > x) / (v > -INF)) + np.sum(v[~n])


@args((V,), ([2.5, -0.125, 1234.5678, -INF, NAN],), ([],))
@autodiff
def roundings(v: Vector) -> Vector:
    return (
        np.round(v)
        + np.round(v, 2) * v
        + np.around(v, decimals=-1)
        + v.round(1)
        + np.round(np.arange(3), 1)[2]
        + np.round(1.2345, 2)
    )


@args((V, 0.75), ([-INF, NAN, INF, 1.0], 1.0), ([], 0.0))
@autodiff
def clips(v: Vector, x: float) -> Vector:
    a = np.clip(v, 0.0, None) + np.clip(v, None, x) * v + np.clip(v, a_min=-x, a_max=x) ** 2
    return a + v.clip(0.0, 1.0) + v.clip(min=x) + v.clip(max=v[::-1]) + np.clip(v, v * 0.5, 2.0)


@args((V,), ([-INF, NAN, INF, 1.0],))
@autodiff
def replacements(v: Vector) -> float:
    w = np.nan_to_num(v, nan=v[-1] * 2.0, posinf=3.0, neginf=-4.0)
    u = v * 1.0
    np.nan_to_num(u, copy=False, posinf=1.0, neginf=2.0)
    return np.sum(w * w) + np.sum(u * w) + np.sum(np.nan_to_num(v) * 1e-300) + np.nan_to_num(3)


@args(
    (V, W),
    (V, V),
    ([1.0, 2.0], [1.0 + 1e-9, 2.0]),
    ([INF, 1.0], [INF, 1.0]),
    ([NAN], [NAN]),
    ([1.0, 2.0], [1.1, INF]),
    ([], []),
)
@autodiff
def comparisons(v: Vector, w: Vector) -> float:
    x = 1.0 if np.allclose(v, w) else 0.0
    x += 2.0 if np.allclose(v, w, rtol=0.2, atol=0.0) else 0.0
    return x * np.sum(v) + np.sum(np.isclose(v, w, equal_nan=True) * w) + np.isclose(1.0, 1.0 + 1e-7) * 3.0


@args((V, M), ([], [[1.0]]), ([1.0], [[2.0, 3.0]]))
@autodiff
def outputs(v: Vector, a: Matrix) -> float:
    b = np.zeros(v.shape)
    np.multiply(v, v, out=b)
    np.add(b, 1.0, b)
    c = np.sin(b, out=b)
    c += np.exp(v, out=np.empty_like(v))
    d = np.ones(a.shape)
    np.divide(a, a * a + 1.0, out=d, where=a > 0.0)
    np.maximum(d, a[0], out=d)
    np.negative(d[0], out=d[0])
    e = np.ones(v.size)
    np.sqrt(v, out=e, where=v >= 0.0)
    np.clip(e, 0.1, 1.0, out=e)
    f = np.zeros((2, v.size))
    np.square(v, out=f)
    return (
        np.sum(b * v)
        + np.sum(d * a)
        + np.sum(e * v)
        + np.sum(f)
        + np.sum(np.add(np.arange(v.size), 1, dtype=float) * v)
    )


@args((V,), ([4.0, NAN],))
@autodiff
def output_parameter(v: Vector) -> None:
    np.exp(v, out=v)
    np.add(v, 1.0, out=v, where=v > 1.0)
    np.round(v, 3, out=v)


@args((V, M), ([1.0], [[2.0, 3.0]]), ([], M))
@autodiff
def reductions(v: Vector, a: Matrix) -> float:
    x = (
        np.add.reduce(v) * np.multiply.reduce(v)
        + np.sum(np.add.reduce(a) ** 2)
        + np.sum(np.maximum.reduce(a, axis=1) ** 2)
    )
    y = np.sum(np.minimum.reduce([a[0], a[1 % a.shape[0]] * 2.0, a[0] * a[0]])) + np.add.reduce(a, axis=None)
    z = (
        np.logical_and.reduce(v > -1.0)
        + np.logical_or.reduce(a > 2.0, axis=0)[0]
        + np.sum(np.multiply.reduce(a, 0, keepdims=True) * a)
    )
    return x + y + z + np.maximum.reduce(v, initial=0.0) + np.add.reduce(v, where=v > 0.0)


@args((V, M), ([1.0, 1.0, NAN, 2.0], M), ([-INF, 2.0], [[1.0, 1.0]]))
@autodiff
def accumulations(v: Vector, a: Matrix) -> Vector:
    b = (
        np.maximum.accumulate(a, axis=1) * np.add.accumulate(a)
        + np.minimum.accumulate(a)
        + np.multiply.accumulate(a, 1)
    )
    return (
        np.maximum.accumulate(v) * v
        + np.minimum.accumulate(v[::-1])
        + np.add.accumulate(v)
        + np.multiply.accumulate(v)
        + np.sum(b * b)
    )


@args((V, M), ([], [[1.0]]), ([2.0], [[2.0, 3.0]]))
@autodiff
def outers(v: Vector, a: Matrix) -> float:
    x = (
        np.sum(np.subtract.outer(v, v[::-1]) ** 3 * v)
        + np.sum(np.multiply.outer(v, a)[:, 0, 0])
        + np.sum(np.power.outer(np.abs(v) + 1.0, v))
    )
    return (
        x
        + np.sum(np.add.outer(2.0, v) ** 2)
        + np.sum(np.maximum.outer(a, v)[0, 0] * v)
        + np.sum(np.less.outer(v, v) * v)
        + np.multiply.outer(2.0, 3.0)
    )


@args((V, M), ([1.0, 2.0, 3.0, 4.0], [[2.0, 3.0], [1.0, 1.0]]))
@autodiff
def updates(v: Vector, a: Matrix) -> float:
    w = v * 1.0
    k = np.array([0, 2, 0, -1])
    np.add.at(w, k, v)
    np.multiply.at(w, [1, 1], v[:2])
    np.subtract.at(w, np.array([3, 3]), 0.5)
    np.maximum.at(w, np.array([0]), 1.0)
    np.negative.at(w, np.array([2]))
    b = np.zeros(a.shape)
    np.add.at(b, (np.array([0, 1, 0]), np.array([1, 0, 1])), a[0, 0] * w[:3])
    np.add.at(b, (np.array([[0], [1]]), np.array([0, 1])), w[:2])
    n = np.zeros(3, dtype=int)
    np.add.at(n, np.array([1, 1, 2]), 1)
    return np.sum(w * w) + np.sum(b * a) + n[1] * v[0] + n[2]


@args((V, 2), ([1.0, 2.0], 5))
@autodiff
def update_outside(v: Vector, n: int) -> float:
    w = v * 1.0
    np.add.at(w, np.array([0, n]), 1.0)
    return w @ v
