# ruff: noqa
"""Control flow that the front end accepts: branches, loops, exits, names bound on some paths."""

import math

import numpy as np

from adcore import autodiff
from adcore.typing import Vector

ARGS = {}
SCALARS = [(2.0, 3), (-1.5, 0), (0.5, 1), (3.0, 7), (0.0, 5)]
VECTORS = [([1.0, -2.0, 3.5],), ([],), ([0.25],), ([5.0, 4.0, 3.0, 2.0],)]


def args(*sets):
    def keep(function):
        ARGS[function.__name__] = list(sets)
        return function

    return keep


@args(*SCALARS)
@autodiff(wrt="x")
def branches(x: float, n: int) -> float:
    if n > 5:
        y = x * 2.0
    elif n > 2:
        y = math.exp(x)
        x = y - 1.0
    else:
        y = 1.0
    return x * y


@args(*SCALARS)
@autodiff(wrt="x")
def one_arm(x: float, n: int) -> float:
    if n > 2:
        y = x * 2.0
    return y + 1.0


@args(*SCALARS)
@autodiff(wrt="x")
def one_arm_loop(x: float, n: int) -> float:
    for i in range(n):
        last = x * i
    return last


@args(*SCALARS)
@autodiff(wrt="x")
def loop_variable_afterwards(x: float, n: int) -> float:
    i = -1
    for i in range(n):
        x = x * 0.5
    return x + i


@args(*SCALARS)
@autodiff(wrt="x")
def loop_variable_maybe(x: float, n: int) -> float:
    for k in range(2, n):
        x = x + k
    return x + k


@args(*SCALARS)
@autodiff(wrt="x")
def early_returns(x: float, n: int) -> float:
    if n == 0:
        return 0.0
    y = x * n
    if y > 5.0:
        return y
    elif y > 2.0:
        y = y * 10.0
    else:
        if n == 1:
            return -y
        y = y - 1.0
    return y + x


@args(*SCALARS)
@autodiff(wrt="x")
def int_accumulator(x: float, n: int) -> float:
    s = 0
    for i in range(n):
        s = s + x * i
    return s


@args(*SCALARS)
@autodiff(wrt="x")
def int_counter(x: float, n: int) -> float:
    k = 0
    for i in range(n):
        if i % 2 == 0:
            k += 1
    return x * k


@args((2.0, 0, 7, 2), (1.5, 7, 0, -2), (1.0, 3, 3, 1), (1.0, 0, 5, 0), (1.0, 5, 0, 1))
@autodiff(wrt="x")
def range_with_step(x: float, a: int, b: int, c: int) -> float:
    s = 0.0
    for i in range(a, b, c):
        s = s * 2.0 + x * i
    return s


@args(*SCALARS)
@autodiff(wrt="x")
def down(x: float, n: int) -> float:
    s = 0.0
    for i in range(n, -1, -1):
        s = s * 0.5 + x * i
    return s


@args(*SCALARS)
@autodiff(wrt="x")
def nested(x: float, n: int) -> float:
    total = 0.0
    for i in range(n):
        row = 0.0
        for j in range(i + 1):
            row += x * j - i
        total = total * 0.9 + row
    return total


@args(*SCALARS)
@autodiff(wrt="x")
def swap(x: float, n: int) -> float:
    a, b = x, 1.0
    for _ in range(n):
        a, b = b, a + b
    return a - 3.0 * b


@args(*SCALARS)
@autodiff(wrt="x")
def nested_tuples(x: float, n: int) -> tuple[float, tuple[int, float]]:
    (a, b), c = (x, n), x * 2.0
    d = e = c + 1.0
    pair = (a, d)
    return pair[0] + e, (b, pair[-1])


@args(*SCALARS)
@autodiff(wrt="x")
def while_loop(x: float, n: int) -> float:
    k = 0
    while k < n and x < 100.0:
        x = x * 1.5 + 1.0
        k += 1
    return x + k


@args(*SCALARS)
@autodiff(wrt="x")
def while_break(x: float, n: int) -> float:
    k = 0
    while True:
        if k >= n:
            break
        k = k + 1
        if k == 4:
            continue
        x = x + 1.0 / k
    return x * k


@args(*SCALARS)
@autodiff(wrt="x")
def for_break_else(x: float, n: int) -> float:
    for i in range(n):
        if x * i > 3.0:
            y = x * i
            break
        x = x + 0.25
    else:
        y = -x
    return y


@args(*SCALARS)
@autodiff(wrt="x")
def continue_in_loop(x: float, n: int) -> float:
    r = 11.0 * x
    for i in range(n):
        if i == 1:
            continue
        r += x * i
        if i == 5:
            r = -r
            continue
        r += 1.0
    return r


@args(*SCALARS)
@autodiff(wrt="x")
def return_in_loop(x: float, n: int) -> float:
    for i in range(n):
        x = x * 1.25
        if x > 4.0:
            return x + i
    return -x


@args(*SCALARS)
@autodiff(wrt="x")
def return_in_nested_loops(x: float, n: int) -> float:
    count = 0
    for i in range(n):
        for j in range(i):
            count += 1
            if i * j > 6:
                return x * count
            if j > 3:
                break
        x = x + 0.5
    return -x * count


@args(*SCALARS)
@autodiff(wrt="x")
def endless_with_return(x: float, n: int) -> float:
    while True:
        x = x + 1.0
        n -= 1
        if n <= 0:
            return x


@args(*SCALARS)
@autodiff(wrt="x")
def exit_keeps_values(x: float, n: int) -> float:
    best = 0.0
    at = -1
    for i in range(n):
        v = math.sin(x + i)
        if v > 0.9:
            best = v
            at = i
            break
        if v > best:
            best = v
            at = i
    return best * 10.0 + at


@args(*SCALARS)
@autodiff(wrt="x")
def raises(x: float, n: int) -> float:
    if x < 0.0:
        raise ValueError("x must not be negative")
    assert n != 1, "not one"
    for i in range(n):
        if i == 6:
            raise ArithmeticError(f"bad {i}")
        x = x + i
    return x


@args(*SCALARS)
@autodiff(wrt="x")
def raise_in_arm(x: float, n: int) -> float:
    if n == 0:
        y = x
    elif n == 1:
        raise RuntimeError
    else:
        y = 2.0 * x
    return y


@args((2,), (0,), (5,))
@autodiff(mode="none")
def returns_int(n: int) -> int:
    total = 0
    for i in range(n):
        total += i * i
    return total


@args(*SCALARS)
@autodiff(wrt="x")
def passes_and_docs(x: float, n: int) -> float:
    """A docstring."""
    if n:
        pass
    else:
        x = -x
    y: float = x
    del x
    ...
    return y


@args(*SCALARS)
@autodiff(wrt="x")
def unroll(x: float, n: int) -> float:
    s = 0.0
    for c, k in ((1.0, 2), (0.5, 3), (x, 1)):
        s += c * x**k
    for i, v in enumerate((x, 2 * x)):
        s += i * v
    for a, b in zip((1, 2), (x, x * x)):
        s += a * b
    return s


@args(*VECTORS)
@autodiff
def over_vector(x: Vector) -> float:
    s = 0
    for v in x:
        s = s + v * v
    return float(s)


@args(*VECTORS)
@autodiff
def over_enumerate(x: Vector) -> float:
    s = 0.0
    for i, v in enumerate(x, 1):
        s += i * v
    for a, b in zip(x, x[1:]):
        s += a * b
    for v in reversed(x):
        s = s * 0.5 + v
    for k in reversed(range(len(x))):
        s = s * 0.25 + x[k]
    return s


@args(*VECTORS)
@autodiff
def builtin_sum(x: Vector) -> float:
    return sum(x) + sum(x, 1.0)


@args(*VECTORS)
@autodiff
def mean_of_sum(x: Vector) -> float:
    return sum(x) / len(x)


@args(*VECTORS)
@autodiff
def numpy_divides(x: Vector) -> float:
    s = 0.0
    for v in x:
        s += 1.0 / (v - v)
    return s


@args(*VECTORS)
@autodiff
def provenance_in_loop(x: Vector) -> float:
    s = 0.0
    for v in x:
        s = s + v
    return 1.0 / (s - s)


@args(*VECTORS)
@autodiff
def type_from_one_side(x: Vector) -> float:
    best = 0
    for i in range(len(x)):
        if x[i] > best:
            best = x[i]
    return best


@args(*VECTORS)
@autodiff
def array_in_one_arm(x: Vector) -> float:
    if len(x) > 2:
        y = x[1:]
    else:
        y = np.zeros(3)
    return np.sum(y) + len(y)


@args(*VECTORS)
@autodiff
def array_carried(x: Vector) -> float:
    y = x
    for i in range(3):
        y = y[1:] * 2.0
    return np.sum(y)


@args(*VECTORS)
@autodiff
def array_swap(x: Vector) -> float:
    u = x.copy()
    v = np.zeros(len(x))
    for k in range(3):
        for i in range(len(x)):
            v[i] = u[i] * 2.0 + k
        u, v = v, u
    return u.sum() - v.sum()


@args((3, 1.0), (0, 2.0))
@autodiff(wrt="x")
def different_temporaries(n: int, x: float) -> float:
    t = 1
    for i in range(n):
        t = x * i
    u = 0.0
    for i in range(n):
        t = i
        u += t * x
    return u


@args(*SCALARS)
@autodiff(wrt="x")
def while_starts_with_a_known_test(x: float, n: int) -> float:
    acc = 1.0
    i = 0
    while i < 2:
        acc = acc * x
        i += 1
    k = 5
    while k:
        k -= 1
        if k == n:
            break
        acc += k
    else:
        acc = -acc
    return acc


@args(*SCALARS)
@autodiff(wrt="x")
def while_never(x: float, n: int) -> float:
    while False:
        x = x + 1.0
    while n > 100:
        x = 2.0 * x
    else:
        x = x + 1.0
    return x


@args(*SCALARS)
@autodiff(wrt="x")
def nested_while(x: float, n: int) -> float:
    i = 0
    s = 0.0
    while i < n:
        j = i
        while True:
            j += 1
            if j > 5:
                break
            if s > 20.0:
                return s
            if j % 2:
                continue
            s += x * j
        i += 1
    return s
