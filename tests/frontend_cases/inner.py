# ruff: noqa
"""Functions inside functions, lambdas, and functions that call themselves."""

import math

import numpy as np

from adcore import autodiff
from adcore.typing import Vector

ARGS = {}


def args(*sets):
    def keep(f):
        ARGS[f.__name__] = sets
        return f

    return keep


V = [1.0, -2.0, 0.5]


@args((2.0,), (-1.0,))
@autodiff
def closes_over(x: float) -> float:
    a = 3.0 * x

    def g(y, k=2):
        return a * y**k

    b = g(x)
    a = x
    return b + g(2.0) + g(x, k=3)


@args((2.0, 3), (2.0, 0))
@autodiff
def late_binding(x: float, n: int) -> float:
    scale = 1.0

    def g(y):
        return y * scale

    total = 0.0
    for i in range(n):
        scale = scale * 0.5 + i
        total += g(x)
    if x > 1.0:
        scale = 10.0
    return total + g(1.0)


@args((V,))
@autodiff
def lambdas(v: Vector) -> float:
    square = lambda t: t * t
    add = lambda s, t=1.0: s + t
    total = 0.0
    for x in v:
        total = add(total, square(x))
    return add(total) + (lambda: v[0] * 3.0)()


@args((V,))
@autodiff
def stores_in_captured(v: Vector) -> float:
    out = np.zeros(3)

    def put(k, value):
        out[k] = value
        out[0] += value

    for k in range(len(v)):
        put(k, v[k] * 2.0)
    return float(out @ v)


def apply(f, x, n):
    for _ in range(n):
        x = f(x)
    return x


@args((0.5, 3))
@autodiff
def passed_on(x: float, n: int) -> float:
    c = x * 0.5
    return apply(lambda t: math.sin(t) + c, x, n) + apply(math.cos, x, 2)


@args((1.5,))
@autodiff
def two_levels(x: float) -> float:
    a = 2.0

    def outer(y):
        b = a * y

        def inner(z):
            return a * z + b

        return inner(y) * inner(1.0)

    return outer(x)


def power(x, n: int) -> float:
    if n == 0:
        return 1.0
    if n % 2 == 1:
        return x * power(x, n - 1)
    half = power(x, n // 2)
    return half * half


@args((1.3, 0), (1.3, 1), (1.3, 7), (-0.5, 12))
@autodiff
def by_squaring(x: float, n: int) -> float:
    return power(x, n) + power(x, 3)


@autodiff
def itself(x: float, n: int) -> float:
    if n <= 0:
        return x
    return math.sin(itself(x * 0.9, n - 1)) * x


ARGS["itself"] = ((1.3, 5), (0.2, 0), (2.0, 1))


def even(x, n: int) -> float:
    return x if n == 0 else odd(x * 1.5, n - 1)


def odd(x, n: int) -> float:
    return -x if n == 0 else even(x + 0.5, n - 1)


@args((1.0, 4), (1.0, 5))
@autodiff
def mutual(x: float, n: int) -> float:
    return even(x, n)


def halves(v) -> float:
    n = len(v)
    if n == 0:
        return 0.0
    if n == 1:
        return v[0] * v[0]
    return halves(v[: n // 2]) + halves(v[n // 2 :]) * v[0]


@args((V,), ([],), ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0],))
@autodiff
def divided(v: Vector) -> float:
    return float(halves(v))


def smoothed(v, n: int) -> Vector:
    if n == 0:
        return v * 1.0
    return smoothed(v * 0.5 + v[::-1] * v[0], n - 1)


@args((V, 0), (V, 3))
@autodiff
def arrays(v: Vector, n: int) -> float:
    return float(np.sum(smoothed(v, n)))


def fibonacci(n: int) -> int:
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@args((10, 1.0))
@autodiff
def whole(n: int, x: float) -> float:
    return x * fibonacci(n)


def pair(x, n: int) -> tuple[float, int]:
    if n == 0:
        return x, 0
    y, k = pair(x * x, n - 1)
    return y + x, k + n


@args((1.1, 4))
@autodiff
def tuples(x: float, n: int) -> float:
    y, k = pair(x, n)
    return y * k
