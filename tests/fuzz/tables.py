"""Functions of ``math`` and NumPy that the generator uses: where each is defined, and the bounds of its results."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

inf = math.inf


@dataclass(frozen=True, slots=True)
class Function:
    """Defined (and of tame slope) for ``low <= x <= high``; results lie within ``bounds(low, high)`` of the argument's bounds."""

    low: float
    high: float
    bounds: Callable[[float, float], tuple[float, float]]


def _rising(f: Callable[[float], float]) -> Callable[[float, float], tuple[float, float]]:
    return lambda a, b: (f(a), f(b))


def _within(low: float, high: float) -> Callable[[float, float], tuple[float, float]]:
    return lambda a, b: (low, high)


def _absolute(a: float, b: float) -> tuple[float, float]:
    return (0.0 if a <= 0.0 <= b else min(abs(a), abs(b))), max(abs(a), abs(b))


SMOOTH: dict[str, Function] = {
    "sin": Function(-8, 8, _within(-1, 1)), "cos": Function(-8, 8, _within(-1, 1)), "tan": Function(-1.2, 1.2, _rising(math.tan)),
    "asin": Function(-0.9, 0.9, _rising(math.asin)), "acos": Function(-0.9, 0.9, lambda a, b: (math.acos(b), math.acos(a))),
    "atan": Function(-20, 20, _rising(math.atan)), "sinh": Function(-2, 2, _rising(math.sinh)), "cosh": Function(-2, 2, _within(1, 3.8)),
    "tanh": Function(-4, 4, _rising(math.tanh)), "asinh": Function(-20, 20, _rising(math.asinh)),
    "acosh": Function(1.2, 20, _rising(math.acosh)), "atanh": Function(-0.9, 0.9, _rising(math.atanh)),
    "exp": Function(-4, 2, _rising(math.exp)), "exp2": Function(-4, 2, _rising(math.exp2)), "expm1": Function(-4, 2, _rising(math.expm1)),
    "log": Function(0.1, 30, _rising(math.log)), "log2": Function(0.1, 30, _rising(math.log2)), "log10": Function(0.1, 30, _rising(math.log10)),
    "log1p": Function(-0.8, 30, _rising(math.log1p)), "sqrt": Function(0.1, 30, _rising(math.sqrt)), "cbrt": Function(0.2, 20, _rising(math.cbrt)),
    "fabs": Function(-20, 20, _absolute),
}  # fmt: skip
MATH_ONLY: dict[str, Function] = {
    "erf": Function(-3, 3, _within(-1, 1)), "erfc": Function(-3, 3, _within(0, 2)), "gamma": Function(0.4, 4, _within(0.8, 6)),
    "lgamma": Function(0.4, 8, _within(-0.2, 9)), "degrees": Function(-0.1, 0.1, lambda a, b: (a * 58, b * 58)),
    "radians": Function(-20, 20, lambda a, b: (a / 57, b / 57)),
}  # fmt: skip
STEPS: dict[str, Function] = {name: Function(-9, 9, lambda a, b: (a - 1, b + 1)) for name in ("floor", "ceil", "trunc")}
NUMPY_STEPS: dict[str, Function] = {**STEPS, "rint": STEPS["floor"], "sign": Function(-9, 9, _within(-1, 1))}
NUMPY_NAMES = {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
}
NUMPY_ONLY: dict[str, Function] = {
    "square": Function(-2, 2, _within(0, 4)), "abs": Function(-20, 20, _absolute), "negative": Function(-9, 9, lambda a, b: (-b, -a)),
    "reciprocal": Function(0.4, 9, lambda a, b: (1 / b, 1 / a)), "absolute": Function(-20, 20, _absolute),
    "sinc": Function(-3, 3, _within(-0.3, 1)), "nan_to_num": Function(-9, 9, lambda a, b: (a, b)),
    "deg2rad": Function(-20, 20, lambda a, b: (a / 57, b / 57)), "positive": Function(-9, 9, lambda a, b: (a, b)),
}  # fmt: skip
MATH: dict[str, Function] = {**SMOOTH, **MATH_ONLY}
NUMPY: dict[str, Function] = {**{NUMPY_NAMES.get(n, n): f for n, f in SMOOTH.items()}, **NUMPY_ONLY, **NUMPY_STEPS}
# Of two arguments: where the second lies; the results are bounded by what is said.
PAIRS: dict[str, tuple[float, float, float, float]] = {
    "atan2": (0.3, 4.0, -1.6, 1.6), "hypot": (-4.0, 4.0, 0.0, 6.0), "copysign": (-4.0, 4.0, -4.0, 4.0),
    "fmod": (0.7, 3.0, -3.0, 3.0), "remainder": (0.7, 3.0, -1.5, 1.5),
}  # fmt: skip
NUMPY_PAIRS: dict[str, tuple[float, float, float, float]] = {
    "arctan2": PAIRS["atan2"], "hypot": PAIRS["hypot"], "copysign": PAIRS["copysign"], "fmod": PAIRS["fmod"],
    "maximum": (-4.0, 4.0, -4.0, 4.0), "minimum": (-4.0, 4.0, -4.0, 4.0), "add": (-4.0, 4.0, -8.0, 8.0), "subtract": (-4.0, 4.0, -8.0, 8.0),
    "logaddexp": (-4.0, 4.0, -4.0, 9.0), "logaddexp2": (-4.0, 4.0, -4.0, 9.0), "fmax": (-4.0, 4.0, -4.0, 4.0), "fmin": (-4.0, 4.0, -4.0, 4.0),
    "multiply": (-2.0, 2.0, -8.0, 8.0), "divide": (0.5, 3.0, -8.0, 8.0), "mod": (0.7, 3.0, 0.0, 3.0),
}  # fmt: skip
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
