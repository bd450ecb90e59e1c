"""What one row of the op table says, and the registry that holds the rows.

The rows themselves stand in ``adcore.ops``: one row an op, all its facts together. This module is below them so that
verifier,
interpreter and builder can ask the registry without importing a row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from adcore.ir.build import Builder
    from adcore.ir.core import Op, Value
    from adcore.ir.types import Type


class Effect(Enum):
    PURE = "pure"  # same operands, same result; may be moved, shared, dropped, recomputed
    READ = "read"  # depends on memory besides its operands
    WRITE = "write"  # changes memory, the tape, or may raise
    CONTROL = "control"  # owns regions or ends one: its effect is that of what it holds


class Cost(Enum):
    """How the plan may treat a value that the reverse pass needs."""

    FREE = "free"  # constants and the like
    CHEAP = "cheap"  # may be recomputed
    COSTLY = "costly"  # recomputed only where that saves a slot per iteration
    NEVER = "never"  # kept, never recomputed


class Zero:
    """The partial derivative is zero by declaration (floor, sign): the path is not active."""


class One:
    """The partial derivative is one: the cotangent passes unchanged."""


class MinusOne:
    """The partial derivative is minus one."""


ZERO, ONE, MINUS_ONE = Zero(), One(), MinusOne()

# A partial gets (builder, operands, result) and returns d result / d operand. None: the operand is no real number.
Partial: TypeAlias = "Callable[[Builder, Sequence[Value], Value], Value] | Zero | One | MinusOne | None"
# A vjp gets (builder, op's operands, result, cotangent, wanted) and returns one contribution (or None) per operand.
Vjp: TypeAlias = "Callable[[Builder, Sequence[Value], Value, Value, Sequence[bool]], list[Value | None]]"
# A jvp gets (builder, operands, result, tangents or None) and returns the tangent of the result or None.
Jvp: TypeAlias = "Callable[[Builder, Sequence[Value], Value, Sequence[Value | None]], Value | None]"


@dataclass(frozen=True, slots=True)
class Singular:
    """A point where the formula alone would go wrong: operands, and the value each partial must have there."""

    operands: tuple[Any, ...]
    partials: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class OpDef:
    """One row. ``infer`` gives the result types from operand types and attributes (None for ops whose results are
    stated in their text).

    ``evaluate(attrs, *operands)`` is the reference meaning on Python scalars. ``lower`` is a line of the lowering
    language of ``codegen.scalar`` ("fadd", "call sin",
    "intrinsic llvm.sqrt", "fcmp olt") or a function that expands the op into others. ``identity(b, const,
    *operands)`` may return a simpler value or None;
    ``const(v)`` is the number behind a value or None. ``points`` are operands at which the generated tests
    compare everything; ``singular`` those where rules go wrong. ``accuracy`` is "n ulp" (units in the last place of
    the true result, measured in ``tests/test_accuracy.py``) or says in words what is kept.
    """

    name: str
    doc: str
    effect: Effect
    cost: Cost = Cost.CHEAP
    accuracy: str = ""  # the bound of its error, where it is not the exact result rounded once
    infer: Callable[[Sequence[Type], dict[str, Any]], list[Type]] | None = None
    evaluate: Callable[..., Any] | None = None
    lower: str | Callable[..., Value] | None = None
    partials: tuple[Partial, ...] = ()
    vjp: Vjp | None = None
    jvp: Jvp | None = None
    identity: Callable[..., Value | None] | None = None
    commutative: bool = False
    finite: bool = False  # the result is finite whenever the operands are not NaN
    points: tuple[tuple[Any, ...], ...] = ()
    singular: tuple[Singular, ...] = field(default=())
    attrs: tuple[dict[str, Any], ...] = ({},)  # attribute sets under which the generated tests run the row

    @property
    def is_scalar(self) -> bool:
        return self.evaluate is not None

    @property
    def has_derivative(self) -> bool:
        return bool(self.partials) or self.vjp is not None


REGISTRY: dict[str, OpDef] = {}


def register(row: OpDef) -> OpDef:
    if row.name in REGISTRY:
        raise ValueError(f"op {row.name!r} has two rows")
    REGISTRY[row.name] = row
    return row


def row_of(op: Op) -> OpDef:
    return REGISTRY[op.name]


def is_pure(op: Op) -> bool:
    """No effect of its own and none inside its regions: it may be dropped when unused."""
    effect = REGISTRY[op.name].effect
    if effect in (Effect.PURE, Effect.READ):
        return True
    return bool(op.regions) and all(
        is_pure(inner) or inner.name == "yield" for region in op.regions for inner in region.ops
    )
