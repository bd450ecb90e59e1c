# ruff: noqa
"""Calls of helper functions: keyword and default arguments, several results, other modules, aliases through calls."""

import math

import numpy as np

from adcore import autodiff
from adcore.typing import Vector

from . import library
from .library import LIMITS, quadratic as q2
from .library import reexported

ARGS = {}
RATE = 0.5


def args(*sets):
    def keep(function):
        ARGS[function.__name__] = list(sets)
        return function

    return keep


def square(v):
    return v * v


def scaled(v, factor=RATE, *, offset=0):
    return v * factor + offset


def both(v):
    return v + 1, square(v)


def tail(v):
    return v[1:]


def put(a, k, value):
    a[k] = value


def sign_of(v):
    if v > 0:
        return 1
    elif v < 0:
        return -1
    return 0


def power_of(v, n):
    return v**n


def first_above(x, limit=1.0):
    for i in range(len(x)):
        if x[i] > limit:
            return i
    return -1


def with_flag(x, flag=False):
    if flag:
        return x * 2.0
    return x


def total(values):
    return sum(values)


SETS = [(1.5, 2.0), (-0.75, 0.0), (0.0, 3.0)]
VECTORS = [([1.0, -2.0, 3.5],), ([0.25],), ([5.0, 4.0, 3.0, 2.0],)]


@args(*SETS)
@autodiff
def calls(x: float, y: float) -> float:
    a, b = both(x)
    return square(a) + scaled(b) + scaled(y, 2.0) + scaled(y, offset=x) + scaled(factor=3, v=x)


@args(*SETS)
@autodiff
def int_and_float(x: float, y: float) -> float:
    return square(3) + square(x) + square(2) * sign_of(x)


@args(*SETS)
@autodiff
def static_exponent(x: float, y: float) -> float:
    return power_of(x, 2) + power_of(y, 3) + with_flag(x, True) + with_flag(y)


@args(*SETS)
@autodiff
def other_module(x: float, y: float) -> float:
    return library.quadratic(x) + q2(y, b=2.0) + LIMITS[1] * x + library.SCALE + reexported(x)


@args(*VECTORS)
@autodiff
def views_through_calls(x: Vector) -> float:
    y = x.copy()
    t = tail(y)
    t[:] = 1.0
    put(y, 0, 10.0)
    return np.sum(y) + np.sum(tail(x))


@args(*VECTORS)
@autodiff
def search(x: Vector) -> float:
    return first_above(x) + first_above(x, limit=4.0) * 10.0


@args(*SETS)
@autodiff
def tuple_argument(x: float, y: float) -> float:
    return total((x, y, 1)) + total((1, 2))


@args(*SETS)
@autodiff
def raises_inside(x: float, y: float) -> float:
    return library.checked(x) / library.checked(y)


@args(*VECTORS)
@autodiff
def array_result(x: Vector) -> Vector:
    y = library.normalised(x)
    y[0] = 5.0
    return y + library.normalised(np.ones(len(x)))


derived = autodiff(library.quadratic_of_two, wrt="x")
ARGS["derived"] = SETS
