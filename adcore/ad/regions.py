"""Where each region stands and how values inside it can be kept for the reverse sweep.

Modes: ``top`` (the function body: in scope in the reverse sweep), ``arm`` (an arm of a top-level ``if``: kept as an
extra result), ``slot`` (a nest of counted loops whose
trip counts are known before it: kept in an array with one cell per iteration), ``push`` (any other loop: kept on the
tape, last in first out),
``map`` (recomputed inside the reverse map, never kept).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from adcore.ir.core import Function, Op, Region, Value


@dataclass(slots=True, eq=False)
class Place:
    """``chain``: the counted loops around a ``slot`` region, outermost first; ``depth`` counts all loops;
    ``head`` is the region before the outermost."""

    region: Region
    owner: Op | None
    parent: Place | None
    mode: str
    depth: int = 0
    weight: int = 1
    chain: tuple[Op, ...] = ()


@dataclass(slots=True)
class Places:
    """``of``: region -> place; ``home``: value -> the region that defines it; ``order``: value -> position of
    definition."""

    of: dict[Region, Place] = field(default_factory=dict)
    home: dict[Value, Region] = field(default_factory=dict)
    order: dict[Value, int] = field(default_factory=dict)
    forced: set[Op] = field(default_factory=set)  # heads of nests that must use the tape

    def place_of(self, v: Value) -> Place:
        return self.of[self.home[v]]

    def is_outside(self, v: Value, loop: Op) -> bool:
        """``v`` is defined before ``loop``, outside of it, or a constant."""
        if v.owner is not None and v.owner.name == "const":
            return True
        place: Place | None = self.place_of(v)
        while place is not None:
            if place.owner is loop:
                return False
            place = place.parent
        return True


NOMINAL_TRIP = 1000  # what an unknown trip count or size weighs in the plan's comparisons


def survey(function: Function, mode: str = "top", forced: set[Op] | None = None) -> Places:
    places = Places(forced=forced or set())
    _visit(places, function.body, Place(function.body, None, None, mode))
    return places


def _visit(places: Places, region: Region, place: Place) -> None:
    places.of[region] = place
    for v in region.params:
        places.home[v] = region
        places.order[v] = len(places.order)
    for op in region.ops:
        for inner in op.regions:
            _visit(places, inner, _inner_place(places, op, inner, place))
        for v in op.results:
            places.home[v] = region
            places.order[v] = len(places.order)


def static_trips(op: Op) -> int | None:
    """The trip count of a counted loop with constant bounds."""
    if op.name != "for":
        return None
    numbers = []
    for v in op.operands[:3]:
        if v.owner is None or v.owner.name != "const":
            return None
        numbers.append(int(v.owner.attrs["value"]))
    return len(range(*numbers))


def _inner_place(places: Places, op: Op, region: Region, outer: Place) -> Place:
    if op.name == "map" or outer.mode == "map":
        return Place(region, op, outer, "map", outer.depth, outer.weight)
    if op.name == "if":
        mode = "arm" if outer.mode in ("top", "arm") else outer.mode
        return Place(region, op, outer, mode, outer.depth, outer.weight, outer.chain)
    weight = outer.weight * (static_trips(op) or NOMINAL_TRIP)
    depth = outer.depth + 1
    counted = op.name == "for" and not op.attrs.get("exits") and op not in places.forced
    if counted and outer.mode in ("top", "arm"):
        return Place(region, op, outer, "slot", depth, weight, (op,))
    if counted and outer.mode == "slot" and all(places.is_outside(v, outer.chain[0]) for v in op.operands[:3]):
        return Place(region, op, outer, "slot", depth, weight, (*outer.chain, op))
    return Place(region, op, outer, "push", depth, weight)
