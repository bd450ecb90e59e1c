# ruff: noqa
"""Values of changing type: at joins, round loops, from helpers, inside tuples; decided by tests of several kinds."""

import math

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


@args((1.3, 4), (1.3, 0), (-0.7, 1))
@autodiff
def int_that_becomes_float(x: float, n: int) -> float:
    k = n
    for i in range(n):
        k = k * 0.5
    return k * x


@args((1.3, 3), (1.3, 0))
@autodiff
def int_that_becomes_float_in_while(x: float, n: int) -> float:
    k = n
    i = 0
    while i < n:
        k = k * x
        i += 1
    return k * x


@args((1.3,), (-1.3,))
@autodiff
def float_or_none(x: float) -> float:
    if x > 0:
        y = x
    else:
        y = None
    if y is None:
        return -x * x
    return y * 2


@args((1.2, V), (-1.2, V))
@autodiff
def scalar_or_array(x: float, w: Vector) -> float:
    if x > 0:
        y = x
    else:
        y = np.sin(w) * x
    z = y * 3.0
    return np.sum(z * w)


@args((1.2, V, 0), (1.2, V, 1), (1.2, V, 2), (1.2, V, 3))
@autodiff
def four_types(x: float, w: Vector, n: int) -> float:
    y = None
    if n == 1:
        y = x
    elif n == 2:
        y = w * x
    elif n == 3:
        y = np.outer(w, w) * x
    if y is None:
        return x * x
    return np.sum(y * y) + 1.0


@args((V,), ([-1.0],))
@autodiff
def largest(w: Vector) -> float:
    best = None
    for v in w:
        t = v * v
        if best is None or t > best:
            best = t
    return best


@args((V,), ([2.0],), ([],))
@autodiff
def product(w: Vector) -> float:
    total = None
    for v in w:
        if total is None:
            total = np.sin(v)
        else:
            total = total * v
    return total + 1.0


@args((1.2, 1, V), (1.2, 3, V))
@autodiff
def unswitched(x: float, n: int, w: Vector) -> float:
    y = x if n > 2 else n
    s = 0.0
    for v in w:
        for u in w:
            s += v * y + u
    return s


@args((0.4, 1), (0.4, 2))
@autodiff
def function_of_a_choice(x: float, n: int) -> float:
    f = math.sin if n > 1 else math.cos
    return f(x) * 2


def find(w, t):
    for i, v in enumerate(w):
        if v > t:
            return v * t
    return None


@args((1.0, V), (10.0, V))
@autodiff
def helper_that_may_give_none(t: float, w: Vector) -> float:
    r = find(w, t)
    if r is None:
        return t
    return r + find(w, t) * 2


@args((1.2, V), (1.2, [2.0]), (1.2, []))
@autodiff
def previous(x: float, w: Vector) -> float:
    prev = None
    s = 0.0
    for i, v in enumerate(w):
        if i % 2 == 1:
            continue
        if prev is not None:
            s += (v - prev) ** 2 * x
        prev = v
    return s


@args((1.2, 3, V), (1.2, 1, V), (1.2, 0, V))
@autodiff
def number_that_becomes_array(x: float, n: int, w: Vector) -> float:
    acc = 0
    for i in range(n):
        acc = acc + w * x * i
    return np.sum(acc)


@args((1.2, 3), (1.2, 1))
@autodiff
def asked_by_isinstance(x: float, n: int) -> float:
    y = n if n > 2 else x
    if isinstance(y, int):
        return y * x * x
    if y == None or not isinstance(y, (float, int)):
        return 7.0
    return y * y * y


@args((1.2, V), (0.3, V), (9.0, V))
@autodiff
def asked_by_while(x: float, w: Vector) -> float:
    last = None
    i = 0
    while last is None or last < x:
        last = w[i] * x
        i += 1
        if i > 3:
            break
    return last * 3


@args((1.2, 3, V), (1.2, 1, V))
@autodiff
def inside_tuples(x: float, n: int, w: Vector) -> float:
    t = (x, None) if n > 2 else (n, w)
    a, b = t
    if b is None:
        return a * x
    return a * np.sum(b * b) * x


@args((1.2, V, True), (1.2, V, False))
@autodiff
def two_that_go_together(x: float, w: Vector, flag: bool) -> float:
    if flag:
        a, b = x, w
    else:
        a, b = None, None
    if a is not None:
        return a * np.sum(b * b)
    return 2.0 * x


@args((1.2, 3), (1.2, 5), (1.2, 0))
@autodiff
def never_none_after_raise(x: float, n: int) -> float:
    y = None
    for i in range(n):
        if i == 3:
            y = x * i
    if y is None:
        raise ValueError("too short")
    return y * y


@args((1.2, 3), (1.2, 0))
@autodiff
def none_times_number(x: float, n: int) -> float:
    y = None
    if n > 0:
        y = x
    z = x * x
    return z * y


@args((1.2, V, 2), (1.2, V, 0))
@autodiff
def none_indexed(x: float, w: Vector, n: int) -> float:
    a = None
    if n > 1:
        a = w * x
    s = 0.0
    for i in range(4):
        s += a[i] * i
    return s


@args((1.2, 2), (1.2, 7))
@autodiff
def in_a_conditional(x: float, n: int) -> float:
    y = x if n > 3 else None
    z = 3.0 if y is None else y * y
    return z * x + (y if y is not None else x)


@args((1.2, 2), (1.2, -2))
@autodiff
def in_a_chain(x: float, n: int) -> float:
    y = x if n > 0 else n
    if -1.0 < y < 2.0 and y * x > 1.0:
        return y + x
    return y - x


@args((1.2, 2), (1.2, -2))
@autodiff
def int_or_float_floor(x: float, n: int) -> float:
    y = x if n > 0 else n
    return y // 1 * x + y % 2 + y**2


@args((1.2, V, 1), (1.2, V, 3))
@autodiff
def stored(x: float, w: Vector, n: int) -> float:
    y = n if n > 2 else x
    a = np.zeros(4)
    a[0] = y
    a[1:] += y * w[1:]
    return np.sum(a * w)


@args((1.5, 2), (1.5, 5))
@autodiff
def carried_through_nested_loops(x: float, n: int) -> float:
    k = n
    for i in range(n):
        for j in range(2):
            k = k + x * j
    return k * x


@args((1.5, 2), (1.5, 3), (1.5, 0))
@autodiff
def alternating(x: float, n: int) -> float:
    y = None
    s = x
    for i in range(n):
        y = None if y is not None else s * x
        if y is not None:
            s = s + y
    return s


@args((1.5, V, 2), (1.5, V, 0))
@autodiff
def rank_from_a_loop(x: float, w: Vector, n: int) -> float:
    a = w
    if n > 1:
        a = np.outer(w, w)
    for i in range(n):
        a = a * x
    return np.sum(a) + np.mean(a)


@args((1.5, 2), (1.5, 0))
@autodiff
def closed_over(x: float, n: int) -> float:
    y = x if n > 1 else None

    def g(t):
        return t if y is None else t * y

    return g(x) + g(2.0)


@args((1.5, 2), (-1.5, 2))
@autodiff
def early_return_of_either(x: float, n: int) -> float:
    if x > 0:
        return n
    y = n if x < -5 else x
    return y * 2


def pick(x, n):
    if n > 1:
        return x
    return n


@args((1.5, 2), (1.5, 1))
@autodiff
def straight_into_an_expression(x: float, n: int) -> float:
    return 3.0 * pick(x, n) + math.sin(pick(x * x, n) * 0.5)


@args((1.5, 2), (1.5, 1))
@autodiff
def augmented(x: float, n: int) -> float:
    y = pick(x, n)
    y *= 2
    y += pick(x, n)
    return y * x


@args((1.5, V, 2), (1.5, V, 1))
@autodiff
def one_of_two_arrays_or_none(x: float, w: Vector, n: int) -> float:
    a = None
    if n > 1:
        a = w * x
    elif n > 0:
        a = w + x
    s = 0.0
    for i in range(4):
        if a is not None:
            s += a[i] * a[i]
    return s


@args((V,), ([0.5, 2.0, 0.25],), ([0.5],))
@autodiff
def an_array_until_a_later_iteration(x: Vector) -> float:
    e = x
    for k in range(1, x.shape[0]):
        if x[k] < 1.0:
            pass
        else:
            e = 1.0
    return np.mean(e)
