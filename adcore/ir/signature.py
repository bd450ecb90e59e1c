"""What the outside of a compiled function looks like: parameters, result structure, options, what it was made from.

The front end fills an ``Entry`` for each differentiated function; differentiation, code generation, lint and metadata read it.
An IR function's parameters are the entry's parameters in order (one IR value each); its results are the leaves of ``result`` in order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from adcore.ir.types import Array, Type, is_differentiable

if TYPE_CHECKING:
    from adcore.option_entries import Application
    from adcore.options import FunctionOptions
    from adcore.source import Span

# The kernel that serves each member of a compiled function.
KERNEL_OF = {
    "primal": "primal",
    "grad": "value_and_grad",
    "value_and_grad": "value_and_grad",
    "vjp": "vjp",
    "jvp": "jvp",
    "hvp": "hvp",
}
TAKES_ARGUMENT_TUPLE = ("vjp", "jvp", "hvp")  # called with (args, cotangents or tangents)


@dataclass(frozen=True, slots=True)
class Parameter:
    """``type`` is the IR type (f64, i64, bool, array); ``default`` counts only where ``has_default``."""

    name: str
    type: Type
    span: Span | None = None
    has_default: bool = False
    default: Any = None
    written: bool = False  # the function stores into it


@dataclass(frozen=True, slots=True)
class Leaf:
    """One result value. ``boxed`` is the Python class handed out: "float", "int", "bool", "np.float64", "ndarray"."""

    type: Type
    boxed: str


@dataclass(frozen=True, slots=True)
class TupleResult:
    items: tuple[Result, ...]


Result: TypeAlias = Leaf | TupleResult | None  # None: the function returns nothing


def leaves(result: Result) -> list[Leaf]:
    match result:
        case None:
            return []
        case Leaf():
            return [result]
        case TupleResult(items):
            return [leaf for item in items for leaf in leaves(item)]


@dataclass(frozen=True, slots=True)
class Dependency:
    """A top-level name of a module whose text was compiled into the function (the function itself is the first)."""

    module: str
    name: str
    path: str


@dataclass(slots=True)
class Entry:
    """``wrt`` are parameter indices in parameter order of the request; ``bare``: a single gradient is not wrapped in a tuple.

    ``members`` are the derivative members asked for and possible (``primal``, ``grad``, ``value_and_grad``, ``vjp``); ``kernels`` maps
    kernel kinds (``primal``, ``value_and_grad``, ``vjp``) to IR function names, filled by differentiation.
    """

    module: str
    qualname: str
    parameters: tuple[Parameter, ...]
    result: Result
    options: FunctionOptions
    span: Span
    wrt: tuple[int, ...] = ()
    bare: bool = True
    doc: str = ""
    dependencies: tuple[Dependency, ...] = ()
    members: tuple[str, ...] = ("primal",)
    kernels: dict[str, str] = field(default_factory=dict)
    application: Application | None = field(default=None, compare=False, repr=False)
    """Where the options are written."""

    @property
    def name(self) -> str:
        return f"{self.module}:{self.qualname}"

    @property
    def written(self) -> tuple[int, ...]:
        """The array parameters that the function stores into."""
        return tuple(k for k, p in enumerate(self.parameters) if p.written)

    @property
    def outputs(self) -> Result:
        """What derivatives hand out: the items of the return value, then the last contents of the written parameters."""
        if not self.written:
            return self.result
        items: list[Result] = [] if self.result is None else [self.result]
        if isinstance(self.result, TupleResult):
            items = list(self.result.items)
        items += [Leaf(_contiguous(self.parameters[k].type), "ndarray") for k in self.written]
        return items[0] if len(items) == 1 else TupleResult(tuple(items))

    @property
    def scalar_output(self) -> bool:
        """Exactly one real scalar output: what ``grad`` needs."""
        outputs = self.outputs
        return isinstance(outputs, Leaf) and not isinstance(outputs.type, Array) and is_differentiable(outputs.type)


def _contiguous(type: Type) -> Type:
    return Array(type.dtype, type.dims) if isinstance(type, Array) else type
