"""Abstract values of the lowering: what is known statically about a Python value, and the SSA values that hold the rest.

Invariants: a `Number` is one SSA scalar plus its provenance (Python number, NumPy scalar, or an SSA bool that is true for
NumPy), which never becomes part of a type; an `ArrayRef` is one SSA array and its sizes; everything else (None, strings,
functions, modules, tuples) exists at compile time only, but for the tag of a union. `shapes` says what two of them have in common at a join.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from adcore.ir.core import Value
from adcore.ir.types import Scalar
from adcore.source import Span

if TYPE_CHECKING:
    from adcore.frontend.context import Frame
    from adcore.frontend.scope import Scope
    from adcore.frontend.shapes import Shape


@dataclass(frozen=True, slots=True, eq=False)
class Number:
    """A scalar. `low` and `high` bound an integer where that is known; `linear` says that it is another value minus a constant."""

    value: Value
    kind: Scalar
    numpy: bool | Value = False
    const: bool | int | float | None = None
    low: int | None = None
    high: int | None = None
    linear: tuple[Value, int] | None = None
    literal: bool = False
    """An integer that some literal of the text gave, though not always the same: a float may stand for it at a join."""


class Origin(Enum):
    """Whose memory an array is: what may be stored into it."""

    FRESH = "fresh"
    PARAMETER = "parameter"
    CALLER = "caller"  # an array parameter of a helper
    CONSTANT = "constant"
    VIEW = "view"  # a read-only broadcast view


@dataclass(frozen=True, slots=True, eq=False)
class ArrayRef:
    """A reference to an array; `sizes` are integers that equal its dims. `name` is the parameter or constant it came from."""

    value: Value
    dtype: Scalar
    sizes: tuple[Number, ...]
    origin: Origin = Origin.FRESH
    name: str = ""

    @property
    def rank(self) -> int:
        return len(self.sizes)


@dataclass(frozen=True, slots=True, eq=False)
class TupleOf:
    items: tuple[Abstract, ...]
    display: str = "tuple"  # "tuple" or "list": how it was written


@dataclass(frozen=True, slots=True)
class NoneValue:
    pass


@dataclass(frozen=True, slots=True)
class Text:
    """A string constant: it can name an option of a function, nothing else."""

    value: str


@dataclass(frozen=True, slots=True, eq=False)
class FunctionRef:
    """A plain function of a module of the project or of an installed package; `outer` is the frame whose variables an inner one sees."""

    scope: Scope
    node: ast.FunctionDef
    outer: Frame | None = None

    @property
    def name(self) -> str:
        return self.node.name


@dataclass(frozen=True, slots=True)
class LibraryRef:
    """A name of a library that adcore has rules for: ("math", "sin"), ("numpy", "pi"), ("builtins", "abs")."""

    module: str
    name: str

    @property
    def dotted(self) -> str:
        return self.name if self.module == "builtins" else f"{self.module}.{self.name}"


@dataclass(frozen=True, slots=True)
class ModuleRef:
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class MethodRef:
    """`array.sum` before its call."""

    array: ArrayRef
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class RangeOf:
    low: Number
    high: Number
    step: Number


@dataclass(frozen=True, slots=True, eq=False)
class Iteration:
    """`enumerate`, `zip` or `reversed` of something, until a loop takes it apart."""

    kind: str
    parts: tuple[Abstract, ...]
    start: Number | None = None


@dataclass(frozen=True, slots=True)
class Broken:
    """The value of a statement that was reported: using it says nothing more."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """The value of a variable that has types without a common one at a join; using it is the error."""

    first: str
    second: str
    related: tuple[tuple[Span, str], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class UnionOf:
    """A value of one of several types: `tags[k]` says that it is part k, the last part has no tag. A part is its shape and its SSA
    values, which are poison where the value is another part."""

    parts: tuple[tuple[Shape, tuple[Value, ...]], ...]
    tags: tuple[bool | Value, ...]
    display: str
    related: tuple[tuple[Span, str], ...] = ()
    """The assignments that its types come from."""


Abstract: TypeAlias = (
    Number
    | ArrayRef
    | TupleOf
    | NoneValue
    | Text
    | FunctionRef
    | LibraryRef
    | ModuleRef
    | MethodRef
    | RangeOf
    | Iteration
    | Broken
    | Conflict
    | UnionOf
)

NONE = NoneValue()
HERE = ast.Pass()
"""Where rules that see no text say that something is wrong: at what is being lowered."""


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """What a name stands for. `defined` is an SSA bool where an assignment may not have happened; `span` is the assignment."""

    value: Abstract
    defined: bool | Value = True
    span: Span | None = None


def describe(value: Abstract, article: bool = False) -> str:
    """How a message names the type of a value."""
    match value:
        case Number():
            name = {"f64": "float", "i64": "int", "bool": "bool"}[value.kind.name]
            if value.numpy is True:
                name = {"float": "np.float64", "int": "np.int64", "bool": "np.bool"}[name]
        case ArrayRef():
            name = f"array of {_dtype(value.dtype)}" + (f" with {value.rank} dimensions" if value.rank > 1 else "")
        case TupleOf():
            name = f"{value.display} of {len(value.items)}"
        case NoneValue():
            return "None"
        case Text():
            name = "string"
        case FunctionRef() | LibraryRef() | MethodRef():
            name = "function"
        case ModuleRef():
            name = "module"
        case RangeOf():
            name = "range"
        case Iteration():
            name = value.kind
        case Conflict():
            return f"{value.first} or {value.second}"
        case UnionOf():
            return value.display
        case Broken():
            name = "value"
    if not article:
        return name
    return ("an " if name[0] in "aeiou" else "a ") + name


def _dtype(kind: Scalar) -> str:
    return {"f64": "float64", "i64": "int64", "bool": "bool"}[kind.name]
