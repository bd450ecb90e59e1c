"""The way out where a type does not fit: a sentence made from what stands there and what is wanted, or None if neither tells.

Invariant: a conversion is named only where it gives what is wanted.
"""

from __future__ import annotations

from adcore.frontend.values import Abstract, ArrayRef, NoneValue, Number, TupleOf
from adcore.ir.types import F64, Scalar

_CLASSES = {"f64": "float", "i64": "int", "bool": "bool"}


def to_int(value: Abstract) -> str | None:
    """For a place that takes an int."""
    match value:
        case Number(kind=kind) if kind is F64:
            return "Convert it with `int(...)`, or divide ints with `//`."
        case Number():
            return "Convert it with `int(...)`."
        case ArrayRef():
            return "Take one element of the array, as an int."
        case _:
            return _to_any(value, "an int")


def to_number(value: Abstract) -> str | None:
    """For a place that takes a number."""
    match value:
        case ArrayRef():
            return "Index the array, or reduce it, for instance with `np.sum`."
        case _:
            return _to_any(value, "a number")


def to_element(kind: Scalar) -> str:
    """For a store into an array of this element type."""
    name = _CLASSES[kind.name]
    return f"Write `{name}(...)` around the value, or make the array one of floats."


def _to_any(value: Abstract, wanted: str) -> str | None:
    match value:
        case NoneValue():
            return f"Give it {wanted} first, or test it with `is None`."
        case TupleOf(items) if items:
            return f"Take one item of the {value.display}."
        case _:
            return None


def of_operands(left: Abstract, right: Abstract) -> str | None:
    """For two operands of which one is of a kind that the operation does not know."""
    if isinstance(left, TupleOf) or isinstance(right, TupleOf):
        return "Make an array of it with `np.array`."
    return _to_any(left, "a number") or _to_any(right, "a number")
