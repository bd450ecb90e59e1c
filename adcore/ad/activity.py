"""Activity: a value is active if it depends on an active parameter (varied) and an output depends on it (useful).

One graph whose edges are the ways a derivative flows; varied is what the parameters reach, useful is what reaches the outputs.
Memory counts by root: all elements of an array share one node. Integers and bools have no node. An edge through an op without a rule is
kept and named, so that an active one is an error and never a zero.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from adcore.ir.core import Function, Op, Value, carried_ends, carried_inits, carried_params
from adcore.ir.memory import VIEWS, Memory
from adcore.ir.opdef import REGISTRY, ZERO
from adcore.ir.types import F64, Array, is_differentiable


@dataclass(slots=True)
class Activity:
    """``active`` holds scalars and array roots; ask ``is_active`` for any value."""

    memory: Memory
    varied: set[Value] = field(default_factory=set)
    useful: set[Value] = field(default_factory=set)
    active: set[Value] = field(default_factory=set)
    without_rule: list[Op] = field(default_factory=list)  # active paths that no rule covers

    def is_active(self, v: Value) -> bool:
        if isinstance(v.type, Array):
            return bool(self.memory.roots[v] & self.active)
        return v in self.active

    def participates(self, op: Op) -> bool:
        """The reverse sweep has something to do at this op."""
        if op.name in VIEWS or op.name == "alloc":
            return False
        if op.name in ("store", "accum", "assign"):
            return self.is_active(op.operands[0])
        if any(is_differentiable(r.type) and self.is_active(r) for r in op.results):
            return True
        return any(self.participates(inner) for region in op.regions for inner in region.ops)


def analyse(function: Function, memory: Memory, wrt: Iterable[int], outputs: Iterable[int] | None = None) -> Activity:
    """``wrt``: active parameters; ``outputs``: results that count (default all)."""
    graph = _Graph(memory)
    for op in function.body.walk():
        graph.op(op)
    returned = function.body.terminator.operands
    seeds = [returned[k] for k in (range(len(returned)) if outputs is None else outputs)]
    activity = Activity(memory)
    activity.varied = _reach(graph.nodes(function.params[k] for k in wrt), graph.forward)
    activity.useful = _reach(graph.nodes(seeds), graph.backward)
    activity.active = activity.varied & activity.useful
    activity.without_rule = [op for op, a, b in graph.no_rule if a in activity.varied and b in activity.useful]
    return activity


def _reach(start: Iterable[Value], edges: dict[Value, list[Value]]) -> set[Value]:
    seen = set(start)
    work = list(seen)
    while work:
        for v in edges.get(work.pop(), ()):
            if v not in seen:
                seen.add(v)
                work.append(v)
    return seen


class _Graph:
    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.forward: dict[Value, list[Value]] = {}
        self.backward: dict[Value, list[Value]] = {}
        self.no_rule: list[tuple[Op, Value, Value]] = []
        self.tape = Value(F64, "tape")

    def nodes(self, values: Iterable[Value]) -> list[Value]:
        """The nodes behind values: the scalar itself, or an array's roots."""
        out: list[Value] = []
        for v in values:
            if not is_differentiable(v.type):
                continue
            out += self.memory.roots[v] if isinstance(v.type, Array) else [v]
        return out

    def edge(self, source: Value, target: Value) -> None:
        for a in self.nodes([source]):
            for b in self.nodes([target]):
                if a is not b:
                    self.forward.setdefault(a, []).append(b)
                    self.backward.setdefault(b, []).append(a)

    def op(self, op: Op) -> None:
        row = REGISTRY[op.name]
        if row.evaluate is not None:
            self.scalar(op)
        elif op.name == "load":
            self.edge(op.operands[0], op.result)
        elif op.name in ("store", "accum"):
            self.edge(op.operands[-1], op.operands[0])
        elif op.name == "assign":
            self.edge(op.operands[1], op.operands[0])
        elif op.name == "map":
            rank = op.attrs["rank"]
            for array, param in zip(op.operands[rank:], op.regions[0].params[rank:], strict=True):
                self.edge(array, param)
            for end, result in zip(op.regions[0].terminator.operands, op.results, strict=True):
                self.edge(end, result)
        elif op.name == "matmul":
            for matrix in op.operands[2:]:
                self.edge(matrix, op.result)
        elif op.name == "if":
            for region in op.regions:
                for end, result in zip(region.terminator.operands, op.results, strict=True):
                    self.edge(end, result)
        elif op.name in ("for", "while"):
            self.loop(op)
        elif op.name == "call":
            arrays = [v for v in op.operands if isinstance(v.type, Array)]
            for v in op.operands:
                for target in (*op.results, *arrays, self.tape):  # a derivative's halves write shadows and the tape
                    self.edge(v, target)
            for result in (*op.results, *arrays):
                self.edge(self.tape, result)
        elif op.name == "push":
            for v in op.operands:
                self.edge(v, self.tape)
        elif op.name == "pop":
            for result in op.results:
                self.edge(self.tape, result)

    def scalar(self, op: Op) -> None:
        row = REGISTRY[op.name]
        if not is_differentiable(op.result.type):
            return
        for k, v in enumerate(op.operands):
            if not is_differentiable(v.type):
                continue
            partial = row.partials[k] if k < len(row.partials) else None
            if partial is ZERO:
                continue
            if partial is None and row.vjp is None:
                self.no_rule.append((op, v, op.result))
            self.edge(v, op.result)

    def loop(self, op: Op) -> None:
        ends = carried_ends(op)
        for k, (init, param) in enumerate(zip(carried_inits(op), carried_params(op), strict=True)):
            for source in (init, ends[k]):
                self.edge(source, param)
                self.edge(source, op.results[k])
