"""Which arguments Python's and NumPy's own functions take: what compiled code does not know need not be a mistake of the user.

Invariant: only what is certain to raise TypeError in Python is called wrong; a function that does not say what it takes may take anything.
"""

from __future__ import annotations

import builtins
import inspect
import math
from functools import lru_cache
from types import ModuleType

import numpy as np

_UFUNC = ("out", "where", "axes", "axis", "keepdims", "casting", "order", "dtype", "subok", "signature")
_PYTHON = (builtins, math)


def numpy_may_take(function: str, keyword: str) -> bool:
    """Whether `np.function` may have the argument `keyword`."""
    found = getattr(np, function, None)
    return keyword in _UFUNC if isinstance(found, np.ufunc) else _may_take(_signature(np, function), keyword)


def numpy_may_take_positions(function: str, count: int) -> bool:
    """Whether `np.function` may be called with so many positional arguments."""
    found = getattr(np, function, None)
    return found.nin <= count <= found.nargs if isinstance(found, np.ufunc) else _fits(_signature(np, function), count)


def python_may_take(function: str, keyword: str) -> bool:
    """The same of a function of `builtins` or `math`."""
    return any(hasattr(m, function) and _may_take(_signature(m, function), keyword) for m in _PYTHON)


def python_may_take_positions(function: str, count: int) -> bool:
    return any(hasattr(m, function) and _fits(_signature(m, function), count) for m in _PYTHON)


@lru_cache(maxsize=512)
def _signature(module: ModuleType, function: str) -> inspect.Signature | None:
    try:
        return inspect.signature(getattr(module, function))
    except (AttributeError, TypeError, ValueError):
        return None


def _may_take(signature: inspect.Signature | None, keyword: str) -> bool:
    if signature is None:
        return True
    named = signature.parameters.get(keyword)
    by_name = named is not None and named.kind is not inspect.Parameter.POSITIONAL_ONLY
    return by_name or any(p.kind is inspect.Parameter.VAR_KEYWORD for p in signature.parameters.values())


def _fits(signature: inspect.Signature | None, count: int) -> bool:
    if signature is None:
        return True
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    positional = [p for p in signature.parameters.values() if p.kind in kinds]
    if any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in signature.parameters.values()):
        return True
    return sum(p.default is p.empty for p in positional) <= count <= len(positional)
