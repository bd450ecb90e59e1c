"""Helpers for `helpers.py`, in a module of their own."""

import numpy as np

from .reexport import reexported  # noqa: F401

SCALE = 2.0
LIMITS = (0.0, SCALE * 3)


def quadratic(v, a=1.0, b=SCALE):
    return a * v * v + b * v + inner(v)


def inner(v):
    return v / SCALE


def quadratic_of_two(x: float, y: float) -> float:
    return quadratic(x) * y


def checked(v):
    if v < 0:
        raise ValueError("negative")
    return v


def normalised(v):
    return v / np.sqrt(np.sum(v * v))
