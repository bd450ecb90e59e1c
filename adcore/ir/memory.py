"""What memory each array value may refer to, and which state of it a read sees.

Roots: parameters and ops that make fresh arrays. A view has its operand's roots; an array that comes out of ``if``, ``for`` or ``while`` has the
roots of all that may flow into it. Versions: every write to a root (or region that may write it) starts a new version; a read at the
root's last version may be repeated in the reverse sweep. A root that no op writes has one version: it is a value.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from adcore.ir.core import Function, Op, Region, Value, carried_ends, carried_inits, carried_params
from adcore.ir.types import Array

VIEWS = frozenset({"slice", "broadcast", "index", "permute", "diagonal", "reshape"})
WRITES = frozenset({"store", "accum", "assign"})


@dataclass(slots=True)
class Memory:
    """``roots[v]``: what an array may refer to. ``written``: roots that some op writes. ``stale``: reads (``load``, ``map``, ``assign`` source) by
    (op, operand index) of a version that is overwritten later. ``through``: values from which a written reference comes.
    ``coming``: roots that may be written from a loop or an end of a region on."""

    roots: dict[Value, frozenset[Value]] = field(default_factory=dict)
    written: set[Value] = field(default_factory=set)
    stale: set[tuple[Op, int]] = field(default_factory=set)
    through: set[Value] = field(default_factory=set)
    coming: dict[Op, frozenset[Value]] = field(default_factory=dict)
    renamed: set[Value] = field(default_factory=set)  # roots that are written by a name that stands for several
    version: dict[tuple[Op, int], tuple[int, ...]] = field(default_factory=dict)

    def is_value(self, v: Value) -> bool:
        """Nobody ever writes what ``v`` refers to."""
        return not (self.roots[v] & self.written)

    def settled(self, v: Value, at: Op) -> bool:
        """From the op ``at`` on (a loop or the end of a region) nobody writes what ``v`` refers to, under whatever name."""
        roots = self.roots[v]
        return not (roots & self.coming[at]) and not any(r in self.renamed for r in roots)


def analyse(function: Function) -> Memory:
    memory = Memory()
    _Roots(memory).run(function)
    _Versions(memory).run(function)
    return memory


class _Roots:
    """Flow-insensitive union over the structured flow; loops to a fixpoint with a worklist over alias edges."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.flows: dict[Value, list[Value]] = {}  # source -> targets
        self.sources: dict[Value, list[Value]] = {}
        self.sets: dict[Value, set[Value]] = {}

    def run(self, function: Function) -> None:
        for p in function.params:
            self.fresh(p)
        for op in function.body.walk():
            self.op(op)
        work = list(self.sets)
        while work:
            source = work.pop()
            for target in self.flows.get(source, ()):
                have = self.sets.setdefault(target, set())
                if not self.sets[source] <= have:
                    have |= self.sets[source]
                    work.append(target)
        self.memory.roots = {v: frozenset(s) for v, s in self.sets.items()}
        for op in function.body.walk():
            if op.name in WRITES:
                self.write(op.operands[0])

    def write(self, target: Value) -> None:
        memory = self.memory
        memory.written |= memory.roots[target]
        base = target
        while base.owner is not None and base.owner.name in VIEWS:
            base = base.owner.operands[0]
        if memory.roots[target] != {base}:
            memory.renamed |= memory.roots[target]
        work = [target]
        while work:
            v = work.pop()
            if v not in memory.through:
                memory.through.add(v)
                work += self.sources.get(v, ())

    def fresh(self, v: Value) -> None:
        if isinstance(v.type, Array):
            self.sets.setdefault(v, set()).add(v)

    def flow(self, source: Value, target: Value) -> None:
        if isinstance(source.type, Array):
            self.flows.setdefault(source, []).append(target)
            self.sources.setdefault(target, []).append(source)
            self.sets.setdefault(target, set())  # stays empty where no array comes in, as from poison alone

    def op(self, op: Op) -> None:
        if op.name in VIEWS:
            self.flow(op.operands[0], op.result)
        elif op.name == "poison":
            self.sets.setdefault(op.result, set())  # no array, no memory
        elif op.name == "if":
            for region in op.regions:
                for end, result in zip(region.terminator.operands, op.results, strict=True):
                    self.flow(end, result)
        elif op.name in ("for", "while"):
            for init, param, end, result in zip(
                carried_inits(op), carried_params(op), carried_ends(op), op.results, strict=False
            ):
                self.flow(init, param)
                self.flow(end, param)
                self.flow(init, result)
                self.flow(end, result)
        else:
            for result in op.results:
                self.fresh(result)


class _Versions:
    """One walk forward numbers versions; one walk backward finds the reads that a later write overtakes."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.current: dict[Value, int] = {}
        self.count = 0
        self.writes: dict[Region, set[Value]] = {}
        self.local: dict[Region, set[Value]] = {}  # roots made inside: another memory in each iteration

    def run(self, function: Function) -> None:
        self.summarise(function.body)
        self.forward(function.body)
        self.backward(function.body, set())

    def summarise(self, region: Region) -> set[Value]:
        """Roots that a region may write, nested regions included."""
        written: set[Value] = set()
        local: set[Value] = set()
        for op in region.ops:
            if op.name in WRITES:
                written |= self.memory.roots[op.operands[0]]
            local |= {r for r in op.results if r in self.memory.roots and r in self.memory.roots[r]}
            for inner in op.regions:
                written |= self.summarise(inner)
                local |= self.local[inner]
        self.writes[region] = written
        self.local[region] = local
        return written

    def bump(self, roots: set[Value] | frozenset[Value]) -> None:
        for root in roots:
            self.count += 1
            self.current[root] = self.count

    def read(self, op: Op, k: int) -> None:
        roots = sorted(self.memory.roots[op.operands[k]], key=id)
        self.memory.version[op, k] = tuple(self.current.get(r, 0) for r in roots)

    def forward(self, region: Region) -> None:
        for op in region.ops:
            for k in reads(op):
                self.read(op, k)
            if op.name in WRITES:
                self.bump(self.memory.roots[op.operands[0]])
            written: set[Value] = set()
            for inner in op.regions:
                written |= self.writes[inner]
            for inner in op.regions:
                if op.name in ("for", "while"):
                    self.bump(self.writes[inner])
                self.forward(inner)
            self.bump(written)

    def backward(self, region: Region, later: set[Value]) -> set[Value]:
        """``later``: roots that may be written after the region's end. Returns those that may be written from its start on."""
        for op in reversed(region.ops):
            if op.name == "yield":
                self.memory.coming[op] = frozenset(later)
            if op.regions:
                after = set(later)
                for inner in op.regions:
                    around = self.writes[inner] - self.local[inner] if op.name in ("for", "while") else set()
                    later |= self.backward(inner, after | around)
                self.memory.coming[op] = frozenset(later)
            if op.name in WRITES:
                later = later | self.memory.roots[op.operands[0]]
                if op.name == "assign" and self.memory.roots[op.operands[1]] & later:
                    self.memory.stale.add((op, 1))
            else:
                for k in reads(op):
                    if self.memory.roots[op.operands[k]] & later:
                        self.memory.stale.add((op, k))
        return later


def reads(op: Op) -> list[int]:
    """Operands whose memory content the op reads."""
    if op.name == "load":
        return [0]
    if op.name == "map":
        return list(range(op.attrs["rank"], len(op.operands)))
    if op.name == "assign":
        return [1]
    if op.name == "matmul":
        return [2, 3]
    return []
