"""The forward sweep: the primal once more, keeping what the plan says.

After: ``scope`` maps every value of the primal's top region to its copy, and every kept value to where the reverse sweep finds it: a value (kept in
registers), or a slot array with one cell per iteration of its nest. Values on the tape lie there in order of execution, one record per
region execution.
"""

from __future__ import annotations

from collections.abc import Mapping

from adcore.ad.activity import Activity
from adcore.ad.plan import Plan
from adcore.ad.sizes import Sizes
from adcore.ir.build import Builder
from adcore.ir.core import Op, Region, Value
from adcore.ir.rewrite import Rewriter
from adcore.ir.types import Array, Type


def trip_count(b: Builder, lo: Value, hi: Value, step: Value) -> Value:
    """``len(range(lo, hi, step))`` for a step that is not 0."""
    zero, one = b.i64(0), b.i64(1)
    known = step.owner.attrs["value"] if step.owner is not None and step.owner.name == "const" else None
    up = b.isub(hi, lo)
    if known is not None and known > 0:
        distance = up if known == 1 else b.ifloordiv(b.iadd(up, b.i64(known - 1)), step)
        return b.imax(distance, zero)
    down = b.isub(lo, hi)
    if known is not None:
        distance = down if known == -1 else b.ifloordiv(b.iadd(down, b.i64(-known - 1)), b.i64(-known))
        return b.imax(distance, zero)
    rising = b.igt(step, zero)
    span, by = b.select(rising, up, down), b.select(rising, step, b.isub(zero, step))
    return b.imax(b.ifloordiv(b.iadd(span, b.isub(by, one)), by), zero)


def iteration_number(b: Builder, i: Value, lo: Value, step: Value) -> Value:
    """Which iteration of its loop the index ``i`` belongs to, from 0."""
    offset = b.isub(i, lo)
    known = step.owner.attrs["value"] if step.owner is not None and step.owner.name == "const" else None
    if known == 1:
        return offset
    return b.isub(b.i64(0), offset) if known == -1 else b.itruncdiv(offset, step)


def linear(b: Builder, numbers: list[Value], trips: list[Value]) -> Value:
    """Row-major position of an iteration in its nest."""
    position = numbers[0]
    for k, t in zip(numbers[1:], trips[1:], strict=True):
        position = b.iadd(b.imul(position, t), k)
    return position


class ForwardSweep(Rewriter):
    """``saved`` maps a kept value in an arm, or the slot array of a kept value in a nest, to its copy in the top region."""

    def __init__(self, plan: Plan, sizes: Sizes, activity: Activity) -> None:
        super().__init__()
        self.plan = plan
        self.sizes = sizes
        self.activity = activity
        self.saved: dict[Value, Value] = {}
        self.slots: dict[Value, Value] = {}
        self.exports: list[dict[Value, Value]] = []  # per enclosing arm: kept things that must leave it
        self.numbers: list[Value] = []  # iteration numbers of the enclosing counted nest
        self.trips: dict[Op, Value] = {}  # counted loops of a nest -> trip count, known at its head
        self.current: list[Region] = []

    def region(self, old: Region, known: Mapping[Value, Value] | None = None) -> Region:
        self.current.append(old)
        region = super().region(old, known)
        self.current.pop()
        return region

    def op(self, op: Op, operands: list[Value]) -> list[Value]:
        if op.name == "yield" and self.current:
            self.keep(self.current[-1])
            if self.plan.places.of[self.current[-1]].mode == "arm":
                return []  # the ``if`` writes it, with what leaves the arm
        if op.name == "if" and self.plan.places.of[op.regions[0]].mode == "arm":
            return self.arms(op, operands)
        if op.name == "for" and self.plan.places.of[op.regions[0]].mode == "slot":
            return self.counted(op, operands)
        if op.name == "call" and self.activity.participates(op):
            return self.b.op(
                "call", operands, {**op.attrs, "callee": f"{op.attrs['callee']}.fwd"}, [r.type for r in op.results]
            ).results
        return self.copy(op, operands)

    # --- keeping
    def keep(self, region: Region) -> None:
        values = self.plan.kept.get(region, [])
        if not values:
            return
        match self.plan.places.of[region].mode:
            case "push":
                slots = [self.plan.slots[v] for v in values]
                said = {"role": ", ".join(dict.fromkeys(s.kind for s in slots)), "of": ", ".join(s.name for s in slots)}
                with self.b.at(slots[0].span):
                    self.b.op("push", [self.new(v) for v in values], said, [])
            case "slot":
                for v in values:
                    self.fill(v)
            case "arm":
                self.exports[-1].update({v: self.new(v) for v in values})

    def fill(self, v: Value) -> None:
        """Store a value in its cell."""
        slot = self.slots[v]
        if isinstance(v.type, Array):
            self.b.op("assign", [self.cell(v, slot), self.new(v)], {"mode": "set"})
        else:
            self.b.op("store", [slot, *self.numbers, self.new(v)])

    def cell(self, v: Value, slot: Value) -> Value:
        """The part of a flat slot that holds an array's content in this iteration."""
        return cell(
            self.b, slot, self.numbers, [self.trips[op] for op in self.plan.places.place_of(v).chain], *self.dims(v)
        )

    def dims(self, v: Value) -> list[Value]:
        found = self.sizes.dims(v)
        assert found is not None, "the plan keeps no array of unknown size"
        return [self.at_head(d) for d in found]

    # --- structure
    def arms(self, op: Op, operands: list[Value]) -> list[Value]:
        """An ``if`` in the top region: what its arms keep leaves it as extra results, poison from the other arm."""
        regions: list[Region] = []
        exported: list[dict[Value, Value]] = []
        for old in op.regions:
            self.exports.append({})
            regions.append(self.region(old))
            exported.append(self.exports.pop())
        keys = [*exported[0], *exported[1]]
        types: list[Type] = [r.type for r in op.results]
        types += [(exported[0].get(k) or exported[1][k]).type for k in keys]
        for old, region, mine in zip(op.regions, regions, exported, strict=True):
            with self.b.inside(region), self.b.at(old.terminator.span):
                extra = [
                    mine[k] if k in mine else self.b.op("poison", results=[t]).result
                    for k, t in zip(keys, types[len(op.results) :], strict=True)
                ]
                self.b.yield_(*(self.new(v) for v in old.terminator.operands), *extra)
        results = self.b.op("if", operands, dict(op.attrs), types, regions).results
        target = self.exports[-1] if self.exports else self.saved
        target.update(zip(keys, results[len(op.results) :], strict=True))
        return results[: len(op.results)]

    def counted(self, op: Op, operands: list[Value]) -> list[Value]:
        """A loop of a nest that keeps its values in slots, all allocated at the nest's head."""
        region = op.regions[0]
        place = self.plan.places.of[region]
        head = place.chain[0]
        if op is head:
            self.allocate(head)
        new = Region([Value(p.type, p.name) for p in region.params])
        self.env.update(zip(region.params, new.params, strict=True))
        self.current.append(region)
        with self.b.inside(new):
            self.numbers.append(iteration_number(self.b, new.params[0], operands[0], operands[2]))
            self.ops(region.ops)
            self.numbers.pop()
        self.current.pop()
        made = Op("for", operands, [r.type for r in op.results], dict(op.attrs), [new], op.span)
        return self.b.append(made).results

    def allocate(self, head: Op) -> None:
        for v, slot in self.plan.slots.items():
            place = self.plan.places.place_of(v)
            if place.mode != "slot" or place.chain[0] is not head:
                continue
            trips = [self.trip(op) for op in place.chain]
            dtype = v.type
            if isinstance(v.type, Array):
                dtype = v.type.dtype
                (size,) = self.dims(v)
                for t in trips:
                    size = self.b.imul(size, t)
                trips = [size]
            said = {"place": slot.place, "role": slot.kind, "of": slot.name}
            with self.b.at(slot.span):
                array = self.b.op("alloc", trips, {"dtype": dtype, "fill": None, **said}).result
            array.name = f"kept_{v.name}" if v.name else None
            self.slots[v] = array
            (self.exports[-1] if self.exports else self.saved)[v] = array

    def trip(self, op: Op) -> Value:
        if op not in self.trips:
            self.trips[op] = trip_count(self.b, *(self.at_head(v) for v in op.operands[:3]))
        return self.trips[op]

    def at_head(self, v: Value) -> Value:
        """A loop bound or an array's dim before the nest: a constant may stand inside."""
        if v.owner is not None and v.owner.name == "const":
            return self.b.const(v.owner.attrs["value"])
        return self.new(v)


def cell(b: Builder, slot: Value, numbers: list[Value], trips: list[Value], n: Value) -> Value:
    """The part of a flat slot that holds an array of ``n`` elements in the iteration ``numbers``."""
    return b.slice(slot, b.imul(linear(b, numbers, trips), n), n, b.i64(1))


def index_of(b: Builder, lo: Value, step: Value, k: Value) -> Value:
    """The loop index of iteration ``k``."""
    return b.iadd(lo, b.imul(k, step))
