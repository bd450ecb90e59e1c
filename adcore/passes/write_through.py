"""Writing through: what a map computes only to be assigned to an array is stored there by the map itself, without an array of its own.

    t = map(...) elem                          map(...) { ...
    assign view, t {mode = "add"}     ->           accum view, i, j, v }

Reverse passes consist of such pairs: each array expression hands a part of its cotangent to the shadow of each operand. Where several
parts of one map go to one array (the views of a stencil), each is computed in a map of its own, if what that repeats is cheap: loops
that store into one array at several places do not vectorise. Runs after the last differentiation.
After: no map's elements are only assigned, unless its map reads what the assignment writes, or they are costly to compute again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from adcore.ir.core import Function, Module, Op, Region, Value, free_values
from adcore.ir.memory import VIEWS, Memory, analyse
from adcore.ir.opdef import REGISTRY, Cost, Effect, is_pure
from adcore.ir.rewrite import Rewriter
from adcore.ir.types import Array


def write_through(function: Function, module: Module) -> Function:
    memory = analyse(function)
    return _Through(function, memory, _overlapping(function, module, memory)).function(function)


def _overlapping(function: Function, module: Module, memory: Memory) -> frozenset[Value]:
    """Array parameters under which a caller may give the same memory twice; an entry point has seen that there is none."""
    given = frozenset(p for p in function.params if isinstance(p.type, Array))
    if len(given) < 2 or not given & memory.written:
        return frozenset()
    calls = (op for other in module.functions.values() for op in other.body.walk() if op.name == "call")
    return given if any(op.attrs["callee"] == function.name for op in calls) else frozenset()


@dataclass(slots=True)
class _Work:
    """A map that is about to be emitted, and the assignments that it takes over: result number -> assignment."""

    map: Op
    taken: dict[int, Op] = field(default_factory=dict)


class _Through(Rewriter):
    def __init__(self, function: Function, memory: Memory, overlapping: frozenset[Value]) -> None:
        super().__init__()
        self.memory = memory
        self.overlapping = overlapping
        self.uses: Counter[Value] = Counter(v for op in function.body.walk() for v in op.operands)

    def ops(self, ops: Sequence[Op]) -> None:
        k = 0
        while k < len(ops):
            work = self.find(ops, k) if ops[k].name == "map" else None
            if work is None:
                super().ops([ops[k]])
                k += 1
                continue
            last = max(ops.index(op) for op in work.taken.values())
            between = [op for op in ops[k + 1 : last] if op not in work.taken.values()]
            super().ops([op for op in between if op.name != "assign"])
            self.emit(work)
            super().ops([op for op in between if op.name == "assign"])
            k = last + 1

    # --- what can be taken over
    def find(self, ops: Sequence[Op], at: int) -> _Work | None:
        """The assignments that follow the map at once, but for ops that neither read nor write memory."""
        op = ops[at]
        if not is_pure(op):
            return None
        own = {r: k for k, (r, kind) in enumerate(zip(op.results, op.attrs["kinds"], strict=True)) if kind == "elem"}
        reads = self.roots([*op.operands, *op.results, *free_values(op.regions[0])])
        work = _Work(op)
        for other in ops[at + 1 :]:
            if other.name == "assign" and other.operands[1] in own and self.uses[other.operands[1]] == 1:
                if not self.may_write(other.operands[0], reads) or self.order_counts(other, work):
                    break
                work.taken[own[other.operands[1]]] = other
            elif not _only_names(other) or set(other.operands) & set(op.results):
                break
        self.keep_apart(work)
        return work if work.taken else None

    def roots(self, values: Sequence[Value]) -> set[Value]:
        """Of arrays among the values; with one of the overlapping parameters all of them."""
        found = {root for v in values for root in self.memory.roots.get(v, ())}
        return found | self.overlapping if found & self.overlapping else found

    def may_write(self, target: Value, reads: set[Value]) -> bool:
        """No element of the target is one that the map reads or makes, and none is written twice."""
        base: Value = target
        while base.owner is not None and base.owner.name in VIEWS:
            if base.owner.name == "broadcast":
                return False
            base = base.owner.operands[0]
        return not self.roots([target]) & reads

    def order_counts(self, op: Op, work: _Work) -> bool:
        """It writes where an assignment before it writes, and one of the two replaces what is there."""
        return any(
            "set" in (op.attrs["mode"], other.attrs["mode"]) and self.share(op, other) for other in work.taken.values()
        )

    def share(self, a: Op, b: Op) -> bool:
        """The two assignments may write to one array."""
        return bool(self.roots([a.operands[0]]) & self.roots([b.operands[0]]))

    def keep_apart(self, work: _Work) -> None:
        """Of several parts for one array those stay in a temporary that are costly to compute apart from the others."""
        region = work.map.regions[0]
        for k, op in list(work.taken.items()):
            crowded = any(other is not op and self.share(op, other) for other in work.taken.values())
            if crowded and not _cheap(region, region.terminator.operands[k]):
                del work.taken[k]

    # --- the maps that store
    def emit(self, work: _Work) -> None:
        """One map for the parts that go to arrays of their own and for what is left of the old one; one for each other part."""
        groups: list[dict[int, Op]] = []
        for k, op in work.taken.items():
            free = (g for g in groups if not any(self.share(op, other) for other in g.values()))
            home = next(free, None)
            if home is None:
                groups.append({k: op})
            else:
                home[k] = op
        rest = [k for k in range(len(work.map.results)) if k not in work.taken]
        for number, group in enumerate(groups):
            self.map_into(work.map, rest if number == 0 else [], group)

    def map_into(self, op: Op, rest: Sequence[int], stores: dict[int, Op]) -> None:
        old, rank = op.regions[0], op.attrs["rank"]
        region = Region([Value(p.type, p.name) for p in old.params])
        with self.b.inside(region):
            ends = self.splice(old, region.params)
            for k, assign in stores.items():
                name = "accum" if assign.attrs["mode"] == "add" else "store"
                with self.b.at(assign.span or op.span):
                    self.b.op(name, [self.new(assign.operands[0]), *region.params[:rank], ends[k]], {}, [])
            self.b.yield_(*(ends[k] for k in rest))
        _sweep(region)
        attrs = {**op.attrs, "kinds": tuple(op.attrs["kinds"][k] for k in rest), "apart": True}
        with self.b.at(op.span):
            operands = [self.new(v) for v in op.operands]
            made = self.b.append(Op("map", operands, [op.results[k].type for k in rest], attrs, [region], op.span))
        for k, new in zip(rest, made.results, strict=True):
            self.env[op.results[k]] = new
            new.name = op.results[k].name


def _only_names(op: Op) -> bool:
    """It gives a name to a number or to a part of an array, and touches no memory."""
    return not op.regions and (op.name in VIEWS or op.name == "dim" or REGISTRY[op.name].effect is Effect.PURE)


def _cheap(region: Region, end: Value) -> bool:
    """Nothing that is costly to compute is needed for the value."""
    needed = {end}
    for op in reversed(region.ops):
        if needed.intersection(op.results):
            if op.regions or REGISTRY[op.name].cost not in (Cost.FREE, Cost.CHEAP):
                return False
            needed.update(op.operands)
    return True


def _sweep(region: Region) -> None:
    """Drop what the stores and the yield do not need."""
    needed: set[Value] = set()
    kept: list[Op] = []
    for op in reversed(region.ops):
        if op.name in ("store", "accum", "yield") or needed.intersection(op.results) or not is_pure(op):
            kept.append(op)
            needed.update(op.operands)
            for inner in op.regions:
                needed.update(free_values(inner))
    region.ops[:] = reversed(kept)
