"""Fusion of maps: maps of one region over the same box that share an array, or of which one uses the other's elements, become one.

A map waits until something needs its results or writes what it reads; a later map over the same box joins it. An intermediate array whose every use was
joined is never made (dead code drops it). Maps with effects inside stay where they are.
After: no two maps of a region over one box, with a shared array and nothing between them that forbids it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from adcore.ir.core import Function, Module, Op, Region, Value, free_values
from adcore.ir.memory import WRITES, Memory, analyse
from adcore.ir.opdef import is_pure
from adcore.ir.rewrite import Rewriter


def fuse(function: Function, module: Module) -> Function:
    return _Fuser(analyse(function)).function(function)


@dataclass(slots=True, eq=False)
class _Group:
    """Maps over one box that will be emitted as one."""

    dims: tuple[Value, ...]
    maps: list[Op] = field(default_factory=list)
    results: set[Value] = field(default_factory=set)
    arrays: set[Value] = field(default_factory=set)
    read: set[Value] = field(default_factory=set)  # roots

    def takes(self, op: Op, captured: Sequence[Value]) -> bool:
        rank = op.attrs["rank"]
        if tuple(op.operands[:rank]) != self.dims or self.results & set(captured):
            return False
        return bool(set(op.operands[rank:]) & (self.results | self.arrays))


class _Fuser(Rewriter):
    def __init__(self, memory: Memory) -> None:
        super().__init__()
        self.memory = memory
        self.effects: dict[Op, set[Value]] = {}

    def ops(self, ops: Sequence[Op]) -> None:
        waiting: list[_Group] = []
        for op in ops:
            self.visited += 1
            captured = [v for region in op.regions for v in free_values(region)]
            used = {*op.operands, *captured}
            fusible = op.name == "map" and is_pure(op)
            home = next((g for g in waiting if fusible and g.takes(op, captured)), None)
            for group in list(waiting):
                if group is not home and (
                    group.results & used or group.read & self.written(op) or op.name in ("call", "return", "yield")
                ):
                    waiting.remove(group)
                    self.emit(group)
            if not fusible:
                super().ops([op])
                continue
            if home is None:
                home = _Group(tuple(op.operands[: op.attrs["rank"]]))
                waiting.append(home)
            self.join(home, op, captured)
        for group in waiting:
            self.emit(group)

    def written(self, op: Op) -> set[Value]:
        """Roots the op may write, in its regions too."""
        if op not in self.effects:
            roots = set(self.memory.roots[op.operands[0]]) if op.name in WRITES else set()
            for region in op.regions:
                for inner in region.ops:
                    roots |= self.written(inner)
            self.effects[op] = roots
        return self.effects[op]

    def join(self, group: _Group, op: Op, captured: Sequence[Value]) -> None:
        group.maps.append(op)
        group.results.update(op.results)
        group.arrays.update(op.operands[op.attrs["rank"] :])
        for v in (*op.operands, *captured):
            group.read |= self.memory.roots.get(v, frozenset())

    def emit(self, group: _Group) -> None:
        if len(group.maps) == 1:
            super().ops(group.maps)
            return
        rank = len(group.dims)
        first = group.maps[0]
        outside = [a for m in group.maps for a in m.operands[rank:] if a not in group.results]
        arrays = list(dict.fromkeys(outside))
        region = Region([Value(p.type, p.name) for p in first.regions[0].params[:rank]])
        elements: dict[Value, Value] = {}
        for m in group.maps:
            for a, p in zip(m.operands[rank:], m.regions[0].params[rank:], strict=True):
                if a in arrays and a not in elements:
                    elements[a] = Value(p.type, p.name)
        region.params += [elements[a] for a in arrays]
        yields: list[Value] = []
        with self.b.inside(region):
            for m in group.maps:
                args = [*region.params[:rank], *(elements[a] for a in m.operands[rank:])]
                ends = self.splice(m.regions[0], args)
                yields += ends
                for kind, result, end in zip(m.attrs["kinds"], m.results, ends, strict=True):
                    if kind == "elem":
                        elements[result] = end
            self.b.yield_(*yields)
        kinds = tuple(kind for m in group.maps for kind in m.attrs["kinds"])
        types = [r.type for m in group.maps for r in m.results]
        operands = [self.new(v) for v in (*group.dims, *arrays)]
        made = self.b.append(Op("map", operands, types, {"rank": rank, "kinds": kinds}, [region], group.maps[-1].span))
        for old, new in zip((r for m in group.maps for r in m.results), made.results, strict=True):
            self.env[old] = new
            new.name = old.name
