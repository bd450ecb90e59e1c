"""The plan: for each primal value that the reverse sweep needs, whether it is in scope, recomputed, or kept.

A minimum cut over bytes times trips: values that are free in the reverse sweep (parameters, constants, loop indices, everything of the function's top region)
cost nothing; a value that cannot be recomputed must be kept or reached from kept ones; the cut nearest to the use wins a tie, which recomputes least.
Code generation of the reverse sweep allocates from this object, and lint, editor and report print it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from adcore.ad.activity import Activity
from adcore.ad.mincut import INFINITE, FlowGraph
from adcore.ad.needs import Needs, induction, rotation
from adcore.ad.regions import NOMINAL_TRIP, Place, Places, survey
from adcore.ad.sizes import Sizes
from adcore.ir import formula
from adcore.ir.core import Function, Op, Region, Value, free_values, has_exit
from adcore.ir.formula import Apply, Formula, Number, Runs
from adcore.ir.memory import VIEWS, Memory, reads
from adcore.ir.opdef import REGISTRY, Effect
from adcore.ir.types import Array, Scalar, is_differentiable
from adcore.source import Span

MOST = INFINITE >> 12  # what any finite capacity is cut to: deep nests of unknown trips stay finite
KINDS = ("overwritten", "call-result", "array-temporary", "branch-record", "dynamic-trip-count", "loop-carried")
"""Why a value is kept: of several reasons the one that stands first is named."""
LOOPS = ("for", "while")
STACK_BYTES = 16 * 1024  # the tape of static trip counts that one call may put on its stack


class NotPlannable(Exception):
    """The reverse sweep needs a value that can be neither kept nor recomputed: where, and what it is."""

    def __init__(self, message: str, span: Span | None) -> None:
        super().__init__(message)
        self.span = span


@dataclass(frozen=True, slots=True)
class Slot:
    """One kept value. ``each``: bytes of one instance; ``times``: how many there are; ``place``: registers, stack, heap or tape."""

    value: Value
    name: str
    span: Span | None
    kind: str
    each: Formula
    times: Formula
    place: str

    @property
    def bytes(self) -> str:
        """A formula over sizes and trip counts, e.g. ``8*(n - 1)``."""
        first = self.each.operands if isinstance(self.each, Apply) and self.each.op == "*" else (self.each,)
        return formula.text(formula.product(first[0], self.times, *first[1:]))


@dataclass(slots=True)
class Plan:
    """``kept``: by region, in order of definition. ``restored``: by region, what its reverse first makes available, in forward order (kept values are
    fetched, others recomputed)."""

    places: Places
    slots: dict[Value, Slot] = field(default_factory=dict)
    kept: dict[Region, list[Value]] = field(default_factory=dict)
    restored: dict[Region, list[Value]] = field(default_factory=dict)

    def __str__(self) -> str:
        if not self.slots:
            return "the reverse pass stores nothing\n"
        rows = [
            f"{s.span.line if s.span else '?'}: {s.name}: {s.bytes} bytes in {s.place} ({s.kind})"
            for s in self.slots.values()
        ]
        return "\n".join(rows) + "\n"


def make_plan(function: Function, memory: Memory, activity: Activity, mode: str = "top") -> Plan:
    forced: set[Op] = set()
    while True:
        planner = _Planner(function, memory, activity, survey(function, mode, forced))
        plan = planner.run()
        again = planner.nests_of_unknown_size(plan) - forced
        if not again:
            return plan
        forced |= again


class _Planner:
    def __init__(self, function: Function, memory: Memory, activity: Activity, places: Places) -> None:
        self.function = function
        self.memory = memory
        self.activity = activity
        self.places = places
        self.needs = Needs(activity)
        self.sizes = Sizes(function)
        self.required: dict[Value, None] = {}

    def run(self) -> Plan:
        self.require(self.function.body)
        kept = self.cut()
        plan = Plan(self.places)
        for v in sorted(kept, key=self.places.order.__getitem__):
            plan.kept.setdefault(self.places.home[v], []).append(v)
        self.place_slots(plan, kept)
        for v in sorted(self.closure(kept), key=self.places.order.__getitem__):
            plan.restored.setdefault(self.places.home[v], []).append(v)
        return plan

    # --- what is required
    def require(self, region: Region) -> None:
        for op in region.ops:
            if not self.activity.participates(op):
                if op.name == "alloc" and self.activity.is_active(op.result):
                    self.add(op.operands)
                continue
            self.add(self.needs.of(op))
            for inner in op.regions:
                self.require(inner)
            self.refuse_broadcasts(op)
            handed = (
                op.operands if op.name == "call" else []
            )  # a callee's reverse half gets a cotangent or shadow for each array
            for v in (*op.results, *handed, *(p for r in op.regions for p in r.params)):
                if (
                    isinstance(v.type, Array)
                    and is_differentiable(v.type)
                    and (op.name == "call" or self.activity.is_active(v))
                ):
                    self.refuse_reference(v, op)
                    dims = self.sizes.dims(v)
                    if dims is None and op.name in ("if", "for", "while") and not self.memory.is_value(v):
                        continue  # its shadow is that of the array it stands for
                    if dims is None:
                        raise NotPlannable(
                            "an array whose size changes from iteration to iteration has no derivative yet", op.span
                        )
                    self.add(dims)

    def refuse_reference(self, v: Value, op: Op) -> None:
        """A name that may stand for several arrays, one of which is written in place."""
        if op.name == "call" and not self.memory.is_value(v):
            raise NotPlannable("an array that a helper function returned is written in place", op.span)
        loops = op.name in ("for", "while") and not self.memory.is_value(v)
        if loops and self.sizes.dims(v) is None and not self.follows(v, op):
            name = f"`{v.name}`" if v.name else "an array"
            reason = f"{name} is bound to an array of another size in each iteration; make one of the final size before the loop and fill it"
            raise NotPlannable(reason, op.span)
        if op.name in ("if", "for", "while") and not self.memory.is_value(v) and not self.follows(v, op):
            raise NotPlannable(
                "an array that is written in place goes by a name here that a branch or loop binds to several arrays",
                op.span,
            )

    def follows(self, v: Value, op: Op) -> bool:
        """The reverse sweep can tell which array the name stands for: chosen between arrays from outside, or passed round among the names of a loop."""
        if op.name == "if":
            ends = [r.terminator.operands[op.results.index(v)] for r in op.regions]
            return all(self.places.is_outside(end, op) for end in ends)
        return rotation(op, self.memory) is not None

    def refuse_broadcasts(self, op: Op) -> None:
        """A view of repeated elements has no shadow: only what reads it as a whole has its cotangent summed up."""
        for v in op.operands:
            base = v.owner.operands[0] if v.owner is not None and v.owner.name == "broadcast" else v
            while base.owner is not None and base.owner.name in VIEWS:
                if base.owner.name == "broadcast" and self.activity.is_active(v) and not self.adds_axes(base):
                    raise NotPlannable("a part of a repeated array has no derivative yet", base.owner.span or op.span)
                base = base.owner.operands[0]

    def adds_axes(self, v: Value) -> bool:
        """The broadcast adds axes of size 1 and repeats nothing."""
        assert v.owner is not None
        array, *dims = v.owner.operands
        assert isinstance(array.type, Array)
        added = len(dims) - array.type.rank
        return all(_is_one(d) for d in dims[:added]) and self.sizes.dims(array) == [
            self.sizes.origin(d) for d in dims[added:]
        ]

    def add(self, values: Iterable[Value]) -> None:
        for v in values:
            if not self.is_free(v):
                self.required.setdefault(v)

    def is_free(self, v: Value) -> bool:
        """In scope in the reverse sweep, or made there from nothing."""
        place = self.places.place_of(v)
        if place.mode == "top":
            return True
        if v.owner is not None:
            return v.owner.name in ("const", "poison", "constarray")
        if place.parent is None:
            return True  # a parameter of the function: handed to the reverse half again
        assert place.owner is not None
        index = place.owner.name == "for" and v is place.region.params[0]
        return index or (place.owner.name == "map" and v in place.region.params[: place.owner.attrs["rank"]])

    # --- recomputation
    def inputs(self, v: Value) -> list[Value] | None:
        """The values from which ``v`` can be recomputed in the reverse sweep, or None."""
        op = v.owner
        if op is None:
            place = self.places.place_of(v)
            if place.owner is not None and place.owner.name == "map":
                rank = place.owner.attrs["rank"]
                return [place.owner.operands[place.region.params.index(v)]] if v in place.region.params[rank:] else []
            step = induction(place.owner, v)
            return list(step) if step is not None else None
        return self.op_inputs(op)

    def op_inputs(self, op: Op) -> list[Value] | None:
        row = REGISTRY[op.name]
        if op.name == "load":
            return op.operands if self.content_lasts(op) else None
        if op.name in VIEWS:
            return op.operands if self.array_lives(op.operands[0], content=False) else None
        if row.effect is Effect.PURE:
            return op.operands
        if op.name in ("if", "map") and all(self.repeatable(inner) for r in op.regions for inner in r.ops):
            if not self.content_lasts(op) or any(
                isinstance(r.type, Array) and not self.memory.is_value(r) for r in op.results
            ):
                return None
            captured = [v for r in op.regions for v in free_values(r)]
            return [*op.operands, *captured]
        return None

    def repeatable(self, op: Op) -> bool:
        return op.name == "yield" or self.op_inputs(op) is not None

    def array_lives(self, array: Value, content: bool = True) -> bool:
        """Every root that the array may refer to can be had in the reverse sweep with its content. Without that, a parameter will do: it is
        handed to the reverse half again, holding whatever it holds then."""
        for root in self.memory.roots[array]:
            if not content and root.owner is None and self.places.place_of(root).parent is None:
                continue
            made = root.owner is not None and root.owner.name in ("map", "matmul")  # kept, or made again
            made_again = made and root not in self.memory.written
            if self.places.place_of(root).mode != "top" and not made_again:
                return False
        return True

    def content_lasts(self, op: Op) -> bool:
        """What the op reads from memory can be read again in the reverse sweep."""
        return all((op, k) not in self.memory.stale and self.array_lives(op.operands[k]) for k in reads(op))

    def values_inside(self, op: Op) -> Iterable[Value]:
        for r in op.regions:
            yield from r.params
            for inner in r.ops:
                yield from inner.results
                yield from self.values_inside(inner)

    # --- the cut
    def cut(self) -> set[Value]:
        graph = FlowGraph()
        graph.node("source"), graph.node("sink")
        work = list(self.required)
        seen = set(work)
        for v in self.required:
            graph.edge((v, "out"), "sink", INFINITE)
        while work:
            v = work.pop()
            graph.edge((v, "in"), (v, "out"), self.capacity(v))
            inputs = self.inputs(v)
            if inputs is None:
                graph.edge("source", (v, "in"), INFINITE)
                continue
            for u in inputs:
                if self.is_free(u):
                    continue
                graph.edge((u, "out"), (v, "in"), INFINITE)
                if u not in seen:
                    seen.add(u)
                    work.append(u)
        try:
            side = graph.cut("source", "sink")
        except ValueError:
            culprit = next((v for v in seen if self.capacity(v) >= INFINITE and self.inputs(v) is None), None)
            span = culprit.owner.span if culprit is not None and culprit.owner is not None else self.function.span
            raise NotPlannable(
                "the derivative needs an array that is overwritten in place inside this loop", span
            ) from None
        return {v for v in seen if (v, "out") in side and (v, "in") not in side}

    def capacity(self, v: Value) -> int:
        place = self.places.place_of(v)
        if place.mode == "map":
            return INFINITE
        if isinstance(v.type, Array):
            if not self.memory.is_value(v):
                return INFINITE
            if v.owner is not None and v.owner.name in VIEWS:
                return INFINITE  # the root is kept instead
            size = NOMINAL_TRIP**v.type.rank * v.type.dtype.bytes
            return min(int(size * place.weight), MOST)
        assert isinstance(v.type, Scalar)
        return min(max(v.type.bytes, 1) * place.weight, MOST)

    def closure(self, kept: set[Value]) -> set[Value]:
        """Everything that must be available: required values, and what the recomputed ones are made of."""
        seen = set(self.required)
        work = list(seen)
        while work:
            v = work.pop()
            if v in kept:
                continue
            for u in self.inputs(v) or ():
                if u not in seen and not self.is_free(u) and not self.is_inside(u, v):
                    seen.add(u)
                    work.append(u)
        return seen

    def is_inside(self, u: Value, v: Value) -> bool:
        return v.owner is not None and bool(v.owner.regions) and u in set(self.values_inside(v.owner))

    # --- slots
    def nests_of_unknown_size(self, plan: Plan) -> set[Op]:
        """Heads of counted nests that would keep arrays whose size is not known before the nest."""
        heads: set[Op] = set()
        for v in plan.slots:
            place = self.places.place_of(v)
            if place.mode == "slot" and isinstance(v.type, Array):
                dims = self.sizes.dims(v)
                if dims is None or v.type.rank != 1 or not all(self.places.is_outside(d, place.chain[0]) for d in dims):
                    heads.add(place.chain[0])
        return heads

    def place_slots(self, plan: Plan, kept: set[Value]) -> None:
        room = STACK_BYTES
        for v in sorted(kept, key=self.places.order.__getitem__):
            place = self.places.place_of(v)
            each, times = self.bytes_of(v), self.times(place)
            where = {"arm": "registers", "slot": "heap", "push": "tape"}[place.mode]
            whole = formula.product(each, times)
            if place.mode == "slot" and not formula.leaves(whole) and formula.evaluate(whole, {}) <= room:
                where = "stack"
                room -= formula.evaluate(whole, {})
            name, span = _named(v, place.owner)
            kind = self.kind_of(v)
            if place.mode == "push" and isinstance(v.type, Array):
                each = formula.total(each, self.overhead(v, v.type, plan))
            plan.slots[v] = Slot(v, name, span, kind, each, times, where)

    def kind_of(self, v: Value) -> str:
        """Why the value cannot be had again without being kept."""
        op = v.owner
        if op is not None and op.name in LOOPS:
            return "dynamic-trip-count" if has_exit(op) and v is op.results[-1] else "loop-carried"
        if op is not None and op.name != "load" and v.type == Scalar("bool", 1):
            return "branch-record"
        if op is not None and isinstance(v.type, Array):
            return "array-temporary"
        kinds = {_kind_of_source(source) for source in self.sources(v)}
        return next((kind for kind in KINDS if kind in kinds), "loop-carried")

    def sources(self, v: Value) -> Iterable[Value]:
        """What the value is computed from and cannot be computed again itself; an `if` stands for what its arms give."""
        seen, work = {v}, [v]
        while work:
            u = work.pop()
            op = u.owner
            inputs = self.inputs(u)
            if inputs is None and op is not None and op.name == "if":
                inputs = [region.terminator.operands[op.results.index(u)] for region in op.regions]
            if inputs is None:
                yield u
                continue
            for w in inputs:
                if w not in seen and not self.is_free(w):
                    seen.add(w)
                    work.append(w)

    def bytes_of(self, v: Value) -> Formula:
        if not isinstance(v.type, Array):
            return Number(v.type.bytes)  # type: ignore[union-attr]  # a scalar
        dims = self.sizes.dims(v)
        sizes = [
            formula.dim_of(v, axis) if dims is None else formula.formula_of(dims[axis]) for axis in range(v.type.rank)
        ]
        return formula.array_bytes(v.type.dtype.bytes, sizes)

    def times(self, place: Place) -> Formula:
        """In a nest of known trip counts a cell per iteration; on the tape as often as it comes by."""
        if place.mode == "push":
            return Runs("iterations" if place.depth else "calls", place.region)
        return formula.product(*map(formula.trips, place.chain))

    def overhead(self, v: Value, type: Array, plan: Plan) -> Formula:
        """A record on the tape says the dims of its arrays, and its own size where it has any."""
        arrays = [u for u in plan.kept[self.places.home[v]] if isinstance(u.type, Array)]
        return Number(8 * type.rank + (8 if v is arrays[0] else 0))


def _is_one(v: Value) -> bool:
    return v.owner is not None and v.owner.name == "const" and v.owner.attrs["value"] == 1


def _named(v: Value, owner: Op | None) -> tuple[str, Span | None]:
    """Name and source span of a kept value."""
    op = v.owner
    if op is None:
        return v.name or "a carried value", owner.span if owner is not None else None
    return v.name or f"the result of {op.name}", op.span


def _kind_of_source(v: Value) -> str:
    op = v.owner
    if op is None or op.name in LOOPS:
        return "loop-carried"
    if op.name == "load":
        return "overwritten"
    if op.name == "call":
        return "call-result"
    return "array-temporary" if any(isinstance(u.type, Array) for u in (*op.results, *op.operands)) else "loop-carried"
