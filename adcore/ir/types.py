"""Types of the IR.

Scalars are ``f64 f32 i64 i32 bool c128``; an array type has a dtype, a rank, what is known of its dimensions, and a layout.
A dimension is an integer (known), a name (one symbol, equal wherever it stands), or None (unknown).
``tuple``, ``record`` and ``union`` describe what a signature or a join holds; kernels see only their flattened parts.
Text: ``f64``, ``array<f64, [n, 3], c>``, ``tuple<f64, i64>``, ``union<f64, none>``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Dim: TypeAlias = int | str | None


@dataclass(frozen=True, slots=True)
class Scalar:
    name: str
    bytes: int

    def __str__(self) -> str:
        return self.name

    @property
    def is_float(self) -> bool:
        return self.name in ("f64", "f32", "c128")

    @property
    def is_int(self) -> bool:
        return self.name in ("i64", "i32")


F64 = Scalar("f64", 8)
F32 = Scalar("f32", 4)
I64 = Scalar("i64", 8)
I32 = Scalar("i32", 4)
BOOL = Scalar("bool", 1)
C128 = Scalar("c128", 16)
NONE = Scalar("none", 0)
SCALARS = {t.name: t for t in (F64, F32, I64, I32, BOOL, C128, NONE)}


@dataclass(frozen=True, slots=True)
class Array:
    """``layout`` is "c" (contiguous, last axis fastest) or "strided" (any strides, zero and negative ones included)."""

    dtype: Scalar
    dims: tuple[Dim, ...]
    layout: str = "c"

    @property
    def rank(self) -> int:
        return len(self.dims)

    def __str__(self) -> str:
        dims = ", ".join("?" if d is None else str(d) for d in self.dims)
        return f"array<{self.dtype}, [{dims}], {self.layout}>"


@dataclass(frozen=True, slots=True)
class Tuple:
    items: tuple[Type, ...]

    def __str__(self) -> str:
        return f"tuple<{', '.join(map(str, self.items))}>"


@dataclass(frozen=True, slots=True)
class Record:
    name: str
    fields: tuple[tuple[str, Type], ...]

    def __str__(self) -> str:
        return f"record<{self.name}, {', '.join(f'{n}: {t}' for n, t in self.fields)}>"


@dataclass(frozen=True, slots=True)
class Union:
    items: tuple[Type, ...]

    def __str__(self) -> str:
        return f"union<{', '.join(map(str, self.items))}>"


Type: TypeAlias = Scalar | Array | Tuple | Record | Union


def vector(dtype: Scalar = F64, dim: Dim = None, layout: str = "c") -> Array:
    return Array(dtype, (dim,), layout)


def is_differentiable(t: Type) -> bool:
    """Only real floating values carry a derivative; integers and bools never do."""
    match t:
        case Scalar():
            return t in (F64, F32)
        case Array():
            return t.dtype in (F64, F32)
        case Tuple() | Union():
            return any(is_differentiable(i) for i in t.items)
        case Record():
            return any(is_differentiable(f) for _, f in t.fields)


def join(a: Type, b: Type) -> Type | None:
    """The one type that holds values of both without conversion of content, or None: arrays may differ in what is known of them."""
    if a == b:
        return a
    if isinstance(a, Array) and isinstance(b, Array) and a.dtype == b.dtype and a.rank == b.rank:
        dims = tuple(x if x == y else None for x, y in zip(a.dims, b.dims, strict=True))
        return Array(a.dtype, dims, a.layout if a.layout == b.layout else "strided")
    return None
