"""Values, operations, regions, functions.

Invariants (kept by `verify`):
- SSA: a value has one definition and is used only where that definition dominates it. A region sees the values of the
  regions around it (captures); nothing inside a region is seen outside, except through the owning op's results.
- A region is one straight list of ops; control flow is ops that own regions. The last op of a region is its terminator:
  ``yield`` in an owned region, ``return`` in a function body.
- An array value is a reference (root, offset, dims, strides). An op either creates a fresh root (``alloc``, ``map``,
``constarray``, ``call``), or is a view
  of its operand (``slice``, ``broadcast``, ...), or passes references on (``if``, ``for``, ``while``). A root that
  no op ever writes is a value in the usual sense.

Structured ops and their regions:

``for lo, hi, step, init... {exits}``      region (i, carried...): ends in ``yield carried...``; results: the carried
values at the end.
    Iterates like ``range(lo, hi, step)``; step is never 0 (the front end guards it). With ``exits=True`` the
    region ends in
    ``yield continue, carried...`` and there is one more, last result: the number of iterations executed.
``while init... {}``      region (carried...): ends in ``yield continue, carried...``; the body runs at least once;
results: carried values, then the count executed.
``if cond``      two regions without arguments, each ends in ``yield values...``; results: those values.
``map dims..., arrays... {rank, kinds}``      a loop nest without order over the box of ``dims``. Region (index per
axis: i64, one element per array):
    ends in ``yield value...``; ``kinds`` says what becomes of each: ``elem`` a fresh array of that box, ``add mul
    max min`` a scalar reduction over the box (of an empty
    box: 0, 1, -inf, inf). Arrays have exactly the dims of the box (see ``broadcast``). Reductions may be
    reassociated, as NumPy's own are.

Ops with effects: ``store accum assign guard push pop call``; ``load`` reads memory. The order of ops in a region is
the order of effects.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from adcore.ir.types import Type

if TYPE_CHECKING:
    import numpy as np

    from adcore.source import Span


class Value:
    """An SSA value. Identity is equality; ``name`` is a hint for the printer (the source name where there is one)."""

    __slots__ = ("name", "owner", "type")

    def __init__(self, type: Type, name: str | None = None, owner: Op | None = None) -> None:
        self.type = type
        self.name = name
        self.owner = owner  # the defining op; None for region and function parameters

    def __repr__(self) -> str:
        return f"<{self.name or 'value'}: {self.type}>"


class Op:
    """One operation; ``attrs`` are compile-time constants (text-printable), ``regions`` the owned ones."""

    __slots__ = ("attrs", "name", "operands", "regions", "results", "span")

    def __init__(
        self,
        name: str,
        operands: Sequence[Value] = (),
        result_types: Sequence[Type] = (),
        attrs: dict[str, Any] | None = None,
        regions: Sequence[Region] = (),
        span: Span | None = None,
    ) -> None:
        self.name = name
        self.operands = list(operands)
        self.attrs = attrs or {}
        self.regions = list(regions)
        self.span = span
        self.results = [Value(t, None, self) for t in result_types]

    @property
    def result(self) -> Value:
        (one,) = self.results
        return one

    def __repr__(self) -> str:
        return f"<op {self.name}>"


class Region:
    __slots__ = ("ops", "params")

    def __init__(self, params: Sequence[Value] = (), ops: Sequence[Op] = ()) -> None:
        self.params = list(params)
        self.ops = list(ops)

    @property
    def terminator(self) -> Op:
        return self.ops[-1]

    def walk(self) -> Iterator[Op]:
        """All ops, outer before inner, in order."""
        stack = [iter(self.ops)]
        while stack:
            for op in stack[-1]:
                yield op
                if op.regions:
                    stack.extend(iter(r.ops) for r in reversed(op.regions))
                    break
            else:
                stack.pop()


@dataclass(slots=True, eq=False)
class Function:
    """``attrs`` hold facts about the whole function, e.g. ``inline``; ``span`` is the ``def`` line."""

    name: str
    body: Region
    results: tuple[Type, ...]
    attrs: dict[str, Any] = field(default_factory=dict)
    span: Span | None = None

    @property
    def params(self) -> list[Value]:
        return self.body.params


@dataclass(slots=True, eq=False)
class Module:
    """Functions by name, in dependence order where possible, and the constant arrays that ``constarray`` names."""

    functions: dict[str, Function] = field(default_factory=dict)
    constants: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)


STRUCTURED = frozenset({"for", "while", "if", "map"})
TERMINATORS = frozenset({"yield", "return"})


def free_values(region: Region) -> list[Value]:
    """Values of the surroundings that a region uses, in order of first use."""
    inside: set[Value] = set(region.params)
    seen: dict[Value, None] = {}
    for op in region.walk():
        for v in op.operands:
            if v not in inside:
                seen.setdefault(v)
        inside.update(op.results)
        for r in op.regions:
            inside.update(r.params)
    return list(seen)


def carried_inits(loop: Op) -> list[Value]:
    """What a ``for`` or ``while`` starts its carried values with."""
    return loop.operands[3:] if loop.name == "for" else loop.operands


def carried_params(loop: Op) -> list[Value]:
    """The region parameters of a loop's carried values."""
    return loop.regions[0].params[1:] if loop.name == "for" else loop.regions[0].params


def carried_ends(loop: Op) -> list[Value]:
    """What a loop's region yields for its carried values."""
    return loop.regions[0].terminator.operands[has_exit(loop) :]


def has_exit(loop: Op) -> bool:
    """The region yields ``continue`` first, and the executed count is the last result."""
    return loop.name == "while" or bool(loop.attrs.get("exits"))
