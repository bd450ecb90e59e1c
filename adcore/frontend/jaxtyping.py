"""jaxtyping's annotations, as far as they say what is compiled: `Float64[np.ndarray, "n 3"]`.

The string names the sizes of the axes: a number is that size, a name is the same size wherever the function's annotations
have it, `_` is any size. Source of the grammar: jaxtyping's documentation, "Array annotations".
"""

from __future__ import annotations

import re

from adcore.ir.types import BOOL, F64, I64, Dim, Scalar

ELEMENTS: dict[str, Scalar] = {"Float64": F64, "Int64": I64, "Bool": BOOL}
NARROW = frozenset({"Float16", "Float32", "Int8", "Int16", "Int32", "UInt8", "UInt16", "UInt32", "UInt64", "BFloat16"})
OPEN = {
    "Float": "Float64", "Real": "Float64", "Num": "Float64", "Inexact": "Float64", "Shaped": "Float64",
    "Int": "Int64", "Integer": "Int64", "UInt": "Int64",
}  # fmt: skip
"""Names that leave the element type open, and what stands for them here."""

_TAGGED = re.compile(r"(?P<tag>[A-Za-z]\w*)=(?P<size>\d+)")


class ShapeProblem(Exception):
    """The words do not say how many axes there are, or what sizes they have."""


def shape(text: str) -> tuple[Dim, ...]:
    """The sizes that the string names: a number, a name, None for any."""
    return tuple(_dim(word) for word in text.split())


def _dim(word: str) -> Dim:
    if word.isdigit():
        return int(word)
    if tagged := _TAGGED.fullmatch(word):
        return int(tagged["size"])
    if (word.startswith("_") and word[1:].isidentifier()) or word == "_":
        return None
    if word.isidentifier():
        return word
    if word == "..." or word.startswith("*"):
        raise ShapeProblem(f"`{word}` leaves the number of dimensions open; name each of them")
    if word.startswith("#"):
        raise ShapeProblem(f"`{word}` may be 1 or the size of that name; write a name of its own, or `_`")
    raise ShapeProblem(f"`{word}` is no size that is compiled; write a number, a name, or `_` for any size")
