"""The ledger of a function: each place of its code that needs memory, with cause, size and executions as formulas.

Code generation allocates from it and from nothing else.

- ``RESULT k``: an array that is returned. One that was made in the function's top region and is returned once is built in the
  result's memory; any other is copied there at the end.
- ``STACK``: known bytes, at most 16 KiB a function, not carried from iteration to iteration. What the plan keeps comes first.
- ``HEAP``: blocks of the frame, freed when the function returns. Inside a loop a block is reused while its capacity
  suffices. An array that is carried on has a block more than there are carried values that may hold earlier instances,
  and takes one that none of them points into: no allocation per iteration, whatever is carried how.
- ``TAPE``: records on the arena of the entry, whose chunks grow geometrically.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from adcore.ir import formula
from adcore.ir.core import Function, Module, Op, Region, Value
from adcore.ir.flow import Flow, Summary
from adcore.ir.formula import Formula, Number, Runs, Size
from adcore.ir.types import Array, Scalar
from adcore.source import Span

STACK_BYTES = 16 * 1024
MADE_HERE = frozenset({"alloc", "map", "matmul"})
MAKERS = MADE_HERE | {"call", "pop"}


class Place(Enum):
    RESULT = "result"
    STACK = "stack"
    HEAP = "heap"
    TAPE = "tape"


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """``bytes``: of one execution; ``executions``: in one call of the function. ``slots``: which of the frame's blocks it may use.

    ``whole``: the array is written to its last byte when it is made. ``kept``: memory of the reverse pass, a slot of the plan.
    ``adopted``: the block comes from the function that is called, whose ledger counts it.
    """

    kind: str
    name: str
    span: Span | None
    place: Place
    bytes: Formula
    executions: Formula
    value: Value | None = None
    result: int = -1  # which result of the function, for RESULT
    in_loop: bool = False
    carriers: tuple[Value, ...] = ()
    slots: range = range(0)
    whole: bool = True
    kept: bool = False
    adopted: bool = False

    def __str__(self) -> str:
        line = self.span.line if self.span else "?"
        times = formula.text(self.executions)
        law = {"1": ""}.get(times, f", {times} times" + (" in one block" if self.in_loop else ""))
        if self.place is Place.TAPE:
            law = f", {times} times, in chunks of doubling size"
        return f"{line}: {self.name}: {formula.text(self.bytes)} bytes in {_PLACES[self.place]} ({self.kind}{law})"


_PLACES = {Place.RESULT: "the result", Place.STACK: "the stack", Place.HEAP: "the heap", Place.TAPE: "the tape"}


@dataclass(slots=True)
class Ledger:
    """``values``: of the arrays that ops make; ``copies``: of an ``assign`` whose two sides may share memory; ``records``: of each
    ``push``; ``returned``: of results that are copied at the end, by number."""

    values: dict[Value, Site] = field(default_factory=dict)
    copies: dict[Op, Site] = field(default_factory=dict)
    records: dict[Op, Site] = field(default_factory=dict)
    returned: dict[int, Site] = field(default_factory=dict)
    slots: int = 0

    def __iter__(self) -> Iterator[Site]:
        for group in (self.values, self.copies, self.records, self.returned):
            yield from group.values()

    def __str__(self) -> str:
        rows = sorted((s.span.line if s.span else 0, str(s)) for s in self)
        return "".join(f"{row}\n" for _, row in rows) or "nothing is allocated\n"


def ledgers(
    module: Module, flows: dict[str, Flow], summaries: dict[str, Summary], *, on_stack: bool = True
) -> dict[str, Ledger]:
    """Of all functions of a module that is ready for code generation. ``on_stack=False``: what would be on the stack is on the heap."""
    called = {op.attrs["callee"] for f in module.functions.values() for op in f.body.walk() if op.name == "call"}
    return {
        name: ledger_of(
            function,
            flows[name],
            stack=-1 if summaries[name].recursive or not on_stack else STACK_BYTES,
            distinct=name not in called,
        )
        for name, function in module.functions.items()
    }


def ledger_of(function: Function, flow: Flow, *, stack: int = STACK_BYTES, distinct: bool = True) -> Ledger:
    """``stack``: bytes that the frame may put on the stack (a recursive function's frames stay small); ``distinct``: no two array
    parameters share memory that the function writes."""
    return _Writer(function, flow, stack, distinct).run()


class _Writer:
    def __init__(self, function: Function, flow: Flow, stack: int, distinct: bool) -> None:
        self.function = function
        self.flow = flow
        self.stack = stack
        self.distinct = distinct
        self.params = set(function.params)
        self.ledger = Ledger()
        self.runs: dict[Region, Formula] = {}
        self.top = {*function.params, *(r for op in function.body.ops for r in op.results)}

    def run(self) -> Ledger:
        planned = [v for op in self.function.body.walk() if op.attrs.get("place") == "stack" for v in op.results]
        on_stack = {v for v in planned if self.fits(v)}
        returned = _direct_results(self.function)
        self.runs[self.function.body] = Number(1)
        for op, region in _with_regions(self.function.body):
            runs = self.runs[region]
            for k, inner in enumerate(op.regions):
                self.runs[inner] = self.inner_runs(op, k, runs)
            if op.name in MAKERS:
                for v in op.results:
                    if isinstance(v.type, Array):
                        self.array(op, v, v.type, runs, returned.get(v, -1), v in on_stack)
            elif op.name == "assign" and self.may_overlap(*op.operands):
                source = op.operands[1]
                site = Site(
                    "array-temporary", f"a copy of {_name(source)}", op.span, Place.HEAP, _bytes(source), runs,
                    in_loop=True, slots=self.blocks(1),
                )  # fmt: skip
                self.ledger.copies[op] = site
            elif op.name == "push":
                names = str(op.attrs.get("of") or ", ".join(_name(v) for v in op.operands))
                kind = str(op.attrs.get("role", "kept"))
                self.ledger.records[op] = Site(kind, names, op.span, Place.TAPE, record_bytes(op), runs, kept=True)
        for k, v in enumerate(self.function.body.terminator.operands):
            if isinstance(v.type, Array) and returned.get(v) != k:
                span = self.function.body.terminator.span or self.function.span
                self.ledger.returned[k] = Site(
                    "result", _name(v), span, Place.RESULT, _bytes(v), Number(1), result=k
                )  # fmt: skip
        return self.ledger

    def array(self, op: Op, v: Value, type: Array, runs: Formula, result: int, on_stack: bool) -> None:
        in_loop, carriers = self.flow.loop_of[v] is not None, tuple(self.flow.carriers(v))
        place, slots = Place.HEAP, range(0)
        if result >= 0:
            place, carriers = Place.RESULT, ()
        elif on_stack or (op.name in MADE_HERE and not carriers and self.fits(v)):
            place = Place.STACK
        else:
            slots = self.blocks(len(carriers) + 1)
        kind = "result" if place is Place.RESULT else str(op.attrs.get("role", "array-temporary"))
        name = str(op.attrs.get("of") or _name(v))
        whole = op.name != "alloc" or op.attrs["fill"] is not None
        adopted = op.name == "call"
        self.ledger.values[v] = Site(
            kind, name, op.span, place, _bytes(v), runs, v, result, in_loop, carriers, slots, whole, "place" in op.attrs, adopted
        )  # fmt: skip

    def fits(self, v: Value) -> bool:
        """Takes the room on the stack if there is enough."""
        size = static(_bytes(v))
        if size is None or size > self.stack:
            return False
        self.stack -= size
        return True

    def blocks(self, count: int) -> range:
        self.ledger.slots += count
        return range(self.ledger.slots - count, self.ledger.slots)

    def inner_runs(self, op: Op, k: int, runs: Formula) -> Formula:
        """Of the k-th region of an op: a product of trip counts where these are the same each time."""
        region = op.regions[k]
        line = op.span.line if op.span is not None else "?"
        if op.name == "map":
            return formula.product(
                runs, *(formula.length(formula.formula_of(v)) for v in op.operands[: op.attrs["rank"]])
            )
        if op.name == "if":
            return Runs(f"(runs of the {'other ' if k else ''}arm on line {line})", region)
        if op.name == "for" and not op.attrs.get("exits"):
            each = formula.trips(op)
            if all(isinstance(leaf, Size) and leaf.value in self.top for leaf in formula.leaves(each)):
                return formula.product(runs, each)
        return Runs(f"(turns of the loop on line {line})", region)

    def may_overlap(self, a: Value, b: Value) -> bool:
        """Distinct roots never overlap, but two parameters of a function that other functions call may."""
        roots = self.flow.roots
        if self.flow.may_alias(a, b):
            return True
        return not self.distinct and bool(roots[a] & self.params) and bool(roots[b] & self.params)


def static(bytes: Formula) -> int | None:
    """The number, where the formula has no unknown."""
    return None if formula.leaves(bytes) else formula.evaluate(bytes, {})


def record_bytes(push: Op) -> Formula:
    """Scalars packed; then of each array its dims and elements, and 8 bytes for the size of the record."""
    terms: list[Formula] = [Number(sum(v.type.bytes for v in push.operands if isinstance(v.type, Scalar)))]
    arrays = [v for v in push.operands if isinstance(v.type, Array)]
    if arrays:
        terms.append(Number(8))
    for v in arrays:
        assert isinstance(v.type, Array)
        terms += [Number(8 * v.type.rank), _bytes(v)]
    return formula.total(*terms)


def _bytes(v: Value) -> Formula:
    assert isinstance(v.type, Array)
    dims = [formula.dim_of(v, axis) for axis in range(v.type.rank)]
    return formula.array_bytes(v.type.dtype.bytes, dims)


def _name(v: Value) -> str:
    return v.name or (f"the result of {v.owner.name}" if v.owner is not None else "an argument")


def _with_regions(body: Region) -> Iterator[tuple[Op, Region]]:
    """All ops, outer before inner, in order, each with the region that it stands in."""
    stack = [(op, body) for op in reversed(body.ops)]
    while stack:
        op, region = stack.pop()
        yield op, region
        for inner in reversed(op.regions):
            stack += [(o, inner) for o in reversed(inner.ops)]


def _direct_results(function: Function) -> dict[Value, int]:
    """Array makers of the top region that the function returns exactly once."""
    operands = function.body.terminator.operands
    top = {r for op in function.body.ops if op.name in MADE_HERE for r in op.results}
    return {v: k for k, v in enumerate(operands) if v in top and isinstance(v.type, Array) and operands.count(v) == 1}
