"""Conversion of arguments that an entry point cannot read at once, and the words of its errors.

The text of this file is part of every extension and is compiled there on first need; it must stand alone (NumPy is
all it may import at once; SciPy's BLAS is looked for when matrices are to be multiplied). Arrays come out as the kernel
wants them: exactly ``ndarray``, the parameter's dtype, C-contiguous and aligned; read-only parameters accept whatever
NumPy casts safely, written ones and ``out=`` only what needs no conversion.
"""

import numbers
import operator
from typing import Any, NoReturn

import numpy as np

FLOAT, INT, BOOL = 0, 1, 2
DTYPES = {3: np.dtype(np.float64), 4: np.dtype(np.int64), 5: np.dtype(np.bool_)}
WRITTEN, COTANGENT, OUT = 1, 2, 4
FIRST_AXIS = 2  # status 2 + k: the size of axis k is wrong


def convert(
    function: str, parameter: str, kind: int, rank: int, flags: int, value: Any, status: int, expected: int
) -> Any:
    """The converted argument; errors name the parameter, what was expected and what came."""
    role = "out= for" if flags & OUT else "parameter"
    where = f"{function}() {parameter}" if flags & COTANGENT else f"{function}() {role} {parameter!r}"
    if status >= FIRST_AXIS:
        axis = status - FIRST_AXIS
        raise ValueError(f"{where}: expected size {expected} on axis {axis}, got {np.shape(value)[axis]}")
    if kind == FLOAT:
        return as_float(where, value)
    if kind == INT:
        return as_int(where, value)
    if kind == BOOL:
        return as_bool(where, value)
    return as_array(where, kind, rank, flags, value)


def fail(where: str, wanted: str, value: Any) -> NoReturn:
    raise TypeError(f"{where}: expected {wanted}, got {described(value)}")


def described(value: Any) -> str:
    if value is None:
        return "None"
    if isinstance(value, np.ma.MaskedArray):
        return "a masked array, whose mask compiled code would not see"
    if isinstance(value, np.ndarray):
        return f"a {value.ndim}-D {value.dtype} array"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def as_float(where: str, value: Any) -> float:
    if isinstance(value, np.ndarray) and (value.ndim or not np.can_cast(value.dtype, np.float64, "safe")):
        fail(where, "a float", value)
    real = isinstance(value, (numbers.Real, np.bool_, np.ndarray))
    if not real:
        fail(where, "a float", value)
    try:
        return float(value)
    except OverflowError:
        raise OverflowError(f"{where}: the int is too large for a float") from None


def as_int(where: str, value: Any) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        fail(where, "an int", value)
    if not -(2**63) <= number < 2**63:
        raise OverflowError(f"{where}: {number.bit_length()} bits do not fit an int64")
    return number


def as_bool(where: str, value: Any) -> bool:
    if isinstance(value, np.bool_):
        return bool(value)
    fail(where, "a bool", value)


def as_array(where: str, kind: int, rank: int, flags: int, value: Any) -> Any:
    dtype = DTYPES[kind]
    wanted = f"a {rank}-D {dtype} array"
    if flags & (WRITTEN | OUT):
        return as_written(where, wanted, dtype, rank, value)
    if value is None or isinstance(value, (str, bytes, set, dict, np.ma.MaskedArray)):
        fail(where, wanted, value)
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError(f"{where}: expected {wanted}, got {described(value)} that is not rectangular") from None
    if array.ndim != rank:
        fail(where, wanted, array if isinstance(value, np.ndarray) or array.ndim else value)
    if not np.can_cast(array.dtype, dtype, "safe"):
        fail(where, wanted, array)
    array = np.require(array.astype(dtype, order="C", copy=False), requirements=["C", "A"])
    return array if array.dtype is dtype else array.view(dtype)


def as_written(where: str, wanted: str, dtype: Any, rank: int, value: Any) -> Any:
    """Only a change of class or of the dtype object is possible: the memory must be the caller's own."""
    if (
        not isinstance(value, np.ndarray)
        or value.ndim != rank
        or value.dtype != dtype
        or isinstance(value, np.ma.MaskedArray)
    ):
        fail(where, wanted, value)
    if not value.flags.writeable:
        raise ValueError(f"{where}: the array is read-only, but it is written")
    if not value.flags.c_contiguous or not value.flags.aligned:
        raise ValueError(f"{where}: expected a C-contiguous array, because it is written")
    return value.view(np.ndarray).view(dtype)


def dgemm() -> Any:
    """SciPy's dgemm as a capsule whose name is its signature in C, where its sizes are of 32 bits; else None.

    A SciPy that was built for another NumPy counts as absent. What ends the search otherwise, Ctrl-C among it, goes to the caller.
    """
    try:
        from scipy.linalg.cython_blas import __pyx_capi__ as functions
    except (ImportError, AttributeError, ValueError):
        return None
    capsule = functions.get("dgemm")
    return capsule if "(char *, char *, int *, int *, int *, " in repr(capsule) else None


convert.dgemm = dgemm  # type: ignore[attr-defined]  # the extension holds `convert`, and finds it there

__all__ = ["convert"]
