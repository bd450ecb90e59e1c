# ruff: noqa
"""Scalar functions that the front end accepts. `ARGS` holds argument tuples; errors are compared as well as values."""

import math

import numpy as np

from adcore import autodiff
from adcore.typing import Vector

INF, NAN = math.inf, math.nan
SCALE = 2.5
PAIR = (3, 0.5)
TABLE = np.array([0.5, -1.25, 3.0])
SHIFT = -SCALE / 2 + math.sqrt(2.0)
FLAG = True
NOTHING = None

FLOATS = [(1.5,), (-0.75,), (0.0,), (-0.0,), (1e200,), (INF,), (-INF,), (NAN,), (710.0,), (-1.0,), (1.0,)]
PAIRS = [
    (1.5, 2.0),
    (-0.75, 3.0),
    (2.0, 0.0),
    (0.0, -1.0),
    (0.0, 0.0),
    (-8.0, 0.5),
    (-2.0, 3.0),
    (1e200, 2.0),
    (7.5, -2.0),
    (-7.5, 2.0),
    (INF, 2.0),
    (NAN, 1.0),
    (2.0, NAN),
]
INTS = [
    (7, 2),
    (-7, 2),
    (7, -2),
    (0, 5),
    (5, 0),
    (2**62, 2),
    (2**62, 4),
    (-(2**63), -1),
    (-(2**63), 1),
    (3, 40),
    (3, 41),
]
ARGS = {}
# Where the contract differs from CPython: integers end at 64 bits, and results whose class depends on a value are refused.
REFUSED = {
    ("half_power", (-0.75,)): "ValueError", ("half_power", (-1.0,)): "ValueError", ("power", (-8.0, 0.5)): "ValueError",
    ("integers", (2**62, 2)): "OverflowError", ("integers", (2**62, 4)): "OverflowError",
    ("integers", (-(2**63), -1)): "OverflowError", ("integers", (-(2**63), 1)): "OverflowError",
    ("int_floor", (-(2**63), -1)): "OverflowError", ("int_power", (3, 40)): "OverflowError", ("int_power", (2, 63)): "OverflowError",
    ("int_constant_power", (2**32, 0)): "OverflowError", ("bits", (1, 63)): "OverflowError",
    ("to_integers", (1e200,)): "OverflowError", ("to_integers", (1e18,)): "OverflowError", ("to_integers", (1e19,)): "OverflowError",
    ("int_extremes", (-(2**63), 0)): "OverflowError",
}  # fmt: skip


def args(*sets):
    def keep(function):
        ARGS[function.__name__] = list(sets)
        return function

    return keep


@args(*PAIRS)
@autodiff
def arithmetic(x: float, y: float) -> float:
    return x + y * x - y + -x


@args(*PAIRS)
@autodiff
def quotient(x: float, y: float) -> float:
    return x / y


@args(*PAIRS)
@autodiff
def floor_quotient(x: float, y: float) -> float:
    return x // y


@args(*PAIRS)
@autodiff
def remainder(x: float, y: float) -> float:
    return x % y


@args(*PAIRS)
@autodiff
def power(x: float, y: float) -> float:
    return x**y


@args(*PAIRS)
@autodiff
def math_power(x: float, y: float) -> float:
    return math.pow(x, y)


@args(*PAIRS)
@autodiff
def numpy_quotient(x: float, y: float) -> float:
    return np.float64(x) / y


@args(*PAIRS)
@autodiff
def numpy_result(x: float, y: float) -> np.float64:
    return np.sqrt(x) + y


@args(*FLOATS)
@autodiff
def small_powers(x: float) -> float:
    return x**2 + x**3 - x**4 + x**0 + x**1


@args(*FLOATS)
@autodiff
def negative_powers(x: float) -> float:
    return x**-1 + x**-2


@args(*FLOATS)
@autodiff
def larger_powers(x: float) -> float:
    return x**7 + x**-5 + 2.0**3


@args(*FLOATS)
@autodiff
def half_power(x: float) -> float:
    return x**0.5


@args(*FLOATS)
@autodiff
def base_constant(x: float) -> float:
    return 2.0**x + 2**x


@args(*INTS)
@autodiff(mode="none")
def integers(i: int, j: int) -> int:
    return i * j + i - j


@args(*INTS)
@autodiff(mode="none")
def int_floor(i: int, j: int) -> int:
    return i // j


@args(*INTS)
@autodiff(mode="none")
def int_mod(i: int, j: int) -> int:
    return i % j


@args(*INTS)
@autodiff(mode="none")
def int_quotient(i: int, j: int) -> float:
    return i / j


@args((3, 4), (3, 0), (-2, 5), (0, 0), (3, 39), (3, 40), (-1, 7), (2, 62), (2, 63))
@autodiff(mode="none")
def int_power(i: int, j: int) -> int:
    return i**j


@args((3, 0), (-1, 0), (2**31, 0), (2**32, 0), (0, 1))
@autodiff(mode="none")
def int_constant_power(i: int, j: int) -> int:
    return i**2 + (-1) ** j + 3**3


@args((3,), (-2,), (0,))
@autodiff(mode="none")
def int_negative_power(i: int) -> float:
    return i**-2


@args((12, 10), (-5, 3), (1, 63), (1, 62), (5, -1))
@autodiff(mode="none")
def bits(i: int, j: int) -> int:
    return (i & j) + (i | j) - (i ^ j) + (~i) + (i << j) + (i >> j)


@args((1.5, 2), (0.0, -1), (-2.0, 3), (2.0, 2000))
@autodiff(wrt="x")
def float_int_power(x: float, n: int) -> float:
    return x**n


@args((True, False), (False, False), (True, True))
@autodiff(mode="none")
def bools(p: bool, q: bool) -> int:
    return p + q * 2 + int(p and not q) + int(p or q) - (p & q)


@args(*FLOATS)
@autodiff
def trigonometric(x: float) -> float:
    return math.sin(x) + math.cos(x) * math.tan(x)


@args(*FLOATS)
@autodiff
def inverse(x: float) -> float:
    return math.asin(x) + math.acos(x) + math.atan(x)


@args(*FLOATS)
@autodiff
def hyperbolic(x: float) -> float:
    return math.tanh(x) + math.asinh(x) + math.sinh(x) / math.cosh(x)


@args(*FLOATS, (2.0,))
@autodiff
def inverse_hyperbolic(x: float) -> float:
    return math.acosh(x)


@args(*FLOATS, (0.5,))
@autodiff
def inverse_tangent(x: float) -> float:
    return math.atanh(x)


@args(*FLOATS)
@autodiff
def exponentials(x: float) -> float:
    return math.exp(x) + math.expm1(x)


@args(*FLOATS, (1024.0,), (1023.0,))
@autodiff
def binary_exponential(x: float) -> float:
    return math.exp2(x)


@args(*FLOATS)
@autodiff
def logarithms(x: float) -> float:
    return math.log(x) + math.log2(x) + math.log10(x) + math.log(x, 3.0)


@args(*PAIRS, (4.0, 1.0))
@autodiff
def logarithm_to_base(x: float, y: float) -> float:
    return math.log(x, y)


@args(*FLOATS)
@autodiff
def log1p(x: float) -> float:
    return math.log1p(x)


@args(*FLOATS)
@autodiff
def roots(x: float) -> float:
    return math.sqrt(x) + math.cbrt(x) + math.fabs(x)


@args(*FLOATS, (-2.5,), (-3.0,), (171.0,), (172.0,))
@autodiff
def gammas(x: float) -> float:
    return math.gamma(x)


@args(*FLOATS, (-2.5,), (-3.0,), (1e306,))
@autodiff
def log_gamma(x: float) -> float:
    return math.lgamma(x)


@args(*FLOATS)
@autodiff
def error_functions(x: float) -> float:
    return math.erf(x) + math.erfc(x) + math.degrees(x) - math.radians(x)


@args(*PAIRS)
@autodiff
def two_arguments(x: float, y: float) -> float:
    return math.atan2(x, y) + math.hypot(x, y) + math.copysign(x, y)


@args(*PAIRS)
@autodiff
def remainders(x: float, y: float) -> float:
    return math.fmod(x, y)


@args(*PAIRS)
@autodiff
def ieee_remainder(x: float, y: float) -> float:
    return math.remainder(x, y)


@args(*FLOATS, (1e18,), (1e19,), (2.5,), (-3.5,))
@autodiff
def to_integers(x: float) -> float:
    return math.floor(x) + math.ceil(x) * 10 + math.trunc(x) * 100 + int(x) + round(x)


@args(*FLOATS)
@autodiff(mode="none")
def classes(x: float) -> bool:
    return math.isnan(x) or math.isinf(x) or not math.isfinite(x)


@args(*PAIRS, (1.0, 1.0 + 1e-10))
@autodiff(mode="none")
def close(x: float, y: float) -> bool:
    return math.isclose(x, y) or math.isclose(x, y, rel_tol=0.5, abs_tol=0.1)


@args(*PAIRS)
@autodiff(mode="none")
def chained(x: float, y: float) -> bool:
    return 0.0 < x <= y < 10.0 or x == y != 3.0


@args(*PAIRS)
@autodiff
def extremes(x: float, y: float) -> float:
    return max(x, y) + min(x, y, 0.5) + abs(x - y) + max(0, x)


@args((3, -7), (-3, 2), (-(2**63), 0))
@autodiff(mode="none")
def int_extremes(i: int, j: int) -> int:
    return max(i, j) * 2 + min(i, j, 4) + abs(i)


@args(*PAIRS)
@autodiff
def conversions(x: float, y: float) -> float:
    return float(int(3.7)) + float(x > y) + bool(x) * y + pow(x, 2) + sum((x, y, 1))


@args(*PAIRS)
@autodiff
def quotients(x: float, y: float) -> tuple[float, float]:
    q, r = divmod(x, y)
    return q, r


@args(*FLOATS)
@autodiff
def constants(x: float) -> float:
    a, b = PAIR
    return x * SCALE + SHIFT + a * b + TABLE[1] + TABLE[-1] + math.pi - math.e + np.pi * math.tau + (1.0 if FLAG else x)


@args(*FLOATS)
@autodiff
def none_constant(x: float) -> float:
    if NOTHING is None:
        return x
    return "never"


@args(*PAIRS)
@autodiff
def short_circuit(x: float, y: float) -> float:
    if y != 0.0 and x / y > 0.5:
        return x
    return y


@args(*PAIRS)
@autodiff
def value_of_or(x: float, y: float) -> float:
    return (x or y) + (x and y)


@args(*PAIRS)
@autodiff
def conditional(x: float, y: float) -> float:
    return math.sqrt(x) if x > y else y * (2.0 if x < 0.0 else 3.0)


@args((2.0,), (-1.0,))
@autodiff
def where_scalar(x: float) -> float:
    return float(np.where(x < 1.0, x, np.sqrt(x)))


@args((1.5,), (-2.0,), (NAN,), (0.0,))
@autodiff
def numpy_scalars(x: float) -> float:
    return (
        np.abs(x)
        + np.maximum(x, 0.5)
        + np.sign(x)
        + np.floor(x)
        + np.power(x, 2)
        + np.square(x)
        + np.log1p(np.exp(-np.abs(x)))
    )


@args((1.5,), (-2.0,), (0.0,))
@autodiff
def numpy_log_has_no_error(x: float) -> float:
    return np.log(x) + 1.0 / np.sqrt(x)


@args((0.0, 2), (0.0, 0), (3.0, 0), (1.0, 2))
@autodiff(wrt="x")
def provenance_at_join(x: float, n: int) -> float:
    if n > 1:
        y = np.exp(x) - 1.0
    else:
        y = x
    return 1.0 / y


@args((0.0,), (2.0,))
@autodiff
def provenance_of_max(x: float) -> float:
    return 1.0 / max(x, np.float64(0.0) * 1.0)


@args((0.0,), (2.0,), (5.0,))
@autodiff
def unary_plus_not(x: float) -> float:
    return +x + (not x) + (not x > 2.0)


@args((5, 3), (5, 0), (5, 9))
@autodiff(mode="none")
def guarded_int(n: int, k: int) -> int:
    return n // k if k else -1


@args(
    (2.0**53, 2**53 + 1),
    (2.0**53, 2**53),
    (2.0**53 + 2, 2**53 + 1),
    (2.0**63, 2**63 - 1),
    (2.0**63 - 1024, 2**63 - 1),
    (-(2.0**63), -(2**63)),
    (math.inf, 2**63 - 1),
    (math.nan, 0),
    (0.5, 0),
)
@autodiff
def an_int_and_a_float_compare_exactly(x: float, n: int) -> tuple[bool, bool, bool, bool, bool, bool, bool]:
    return n < x, x < n, n <= x, n >= x, n == x, x != n, n == 9007199254740992.0
