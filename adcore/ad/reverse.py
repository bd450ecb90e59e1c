"""The reverse sweep: cotangents flow from the outputs to the active parameters, op by op, against the order of the primal.

Scalars' adjoints are SSA values; those of a loop's carried and captured scalars are carried by the reverse loop. An array has either an adjoint that
is a value (all its uses are whole-array uses in its own region), or a shadow: a zeroed buffer of its dims that everything accumulates
into. The shadow of a view is the same view of the shadow. Nothing here allocates per iteration, and no reference cell is ever needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from adcore.ad.activity import Activity
from adcore.ad.forward_sweep import ForwardSweep, cell, index_of, trip_count
from adcore.ad.needs import induction, rotation
from adcore.ad.plan import Plan
from adcore.ad.reductions import Weight, other_factors, tie_share
from adcore.ad.rules import apply_vjp
from adcore.ad.sizes import Sizes
from adcore.ir.build import Builder
from adcore.ir.core import (
    Function,
    Op,
    Region,
    Value,
    carried_ends,
    carried_inits,
    carried_params,
    free_values,
    has_exit,
)
from adcore.ir.memory import VIEWS, Memory
from adcore.ir.opdef import REGISTRY
from adcore.ir.rewrite import Rewriter
from adcore.ir.types import F64, I64, Array, Type, is_differentiable


class ReverseSweep:
    """One reverse sweep.
    ``shadows``: of the function's array parameters, where the caller provides them (the reverse half of a call)."""

    def __init__(
        self,
        function: Function,
        memory: Memory,
        activity: Activity,
        plan: Plan,
        forward: ForwardSweep,
        shadows: Mapping[Value, Value] | None = None,
    ) -> None:
        self.function = function
        self.memory = memory
        self.activity = activity
        self.plan = plan
        self.sizes: Sizes = forward.sizes
        self.forward = forward
        self.b: Builder = forward.b
        self.adj: dict[Value, Value] = {}
        self.shadow: dict[Value, Value] = dict(shadows or {})
        self.buffers = _buffers(function, memory) | set(self.shadow)
        self.primal: dict[Value, Value] = {}  # primal value -> where the reverse sweep has it
        self.numbers: list[Value] = []
        self.trips: list[Value] = []

    # --- the whole
    def run(self, cotangents: dict[int, Value], wrt: Iterable[int]) -> list[Value]:
        """``cotangents`` by output number; returns the gradient of each parameter of ``wrt``."""
        body = self.function.body
        scope = (
            body.params
            if self.plan.places.of[body].mode == "push"
            else [*body.params, *(r for op in body.ops for r in op.results)]
        )
        self.primal = {v: self.forward.new(v) for v in scope}
        self.begin(body)
        for k, ct in cotangents.items():
            self.add(body.terminator.operands[k], ct)
        self.sweep(body)
        return [self.take(self.function.params[k]) for k in wrt]

    def begin(self, region: Region) -> None:
        """Make available what the reverse of this region needs: restored primal values, zeroed shadows, shadows passed round by loops."""
        self.restore(region)
        for v in region.params:
            self.prepare_shadow(v)
        for op in region.ops:
            if op.name in ("for", "while"):
                self.pass_round(op)
            for v in op.results:
                self.prepare_shadow(v)

    def prepare_shadow(self, v: Value) -> None:
        if not isinstance(v.type, Array) or v not in self.buffers or v in self.shadow or is_view(v):
            return
        chosen = v.owner is not None and v.owner.name == "if" and self.is_reference(v)  # made where it is needed
        if self.activity.is_active(v) and not chosen:
            self.shadow[v] = self.zeros(v)

    def sweep(self, region: Region) -> None:
        for op in reversed(region.ops):
            if self.activity.participates(op):
                with self.b.at(op.span):
                    self.reverse(op)

    def reverse(self, op: Op) -> None:
        if REGISTRY[op.name].evaluate is not None:
            self.scalar(op)
        else:
            handler: Callable[[Op], None] = getattr(self, "op_" + op.name)
            handler(op)

    # --- primal values
    def get(self, v: Value) -> Value:
        """A primal value in the reverse sweep; constants are made where they are needed."""
        if v not in self.primal:
            if v.owner is not None and v.owner.name in ("const", "poison", "constarray"):
                return self.b.op(v.owner.name, [], dict(v.owner.attrs), [v.type]).result
            raise AssertionError(f"the plan does not provide {v!r}")
        return self.primal[v]

    def restore(self, region: Region) -> None:
        mode = self.plan.places.of[region].mode
        kept = self.plan.kept.get(region, [])
        if mode == "push" and kept:
            self.primal.update(zip(kept, self.b.op("pop", results=[v.type for v in kept]).results, strict=True))
        done: set[Op] = set()
        for v in self.plan.restored.get(region, []):
            if v not in self.plan.slots:
                if v.owner is None:
                    self.count_on(v)
                elif v.owner not in done:
                    self.recompute(v.owner)
                    done.add(v.owner)
            elif mode == "arm":
                self.primal[v] = self.saved(v)
            elif mode == "slot":
                self.primal[v] = self.fetch(v)

    def saved(self, v: Value) -> Value:
        return self.forward.saved[v]

    def fetch(self, v: Value) -> Value:
        slot = self.saved(v)
        if isinstance(v.type, Array):
            depth = len(self.plan.places.place_of(v).chain)
            (n,) = self.dims(v)
            return cell(self.b, slot, self.numbers[-depth:], self.trips[-depth:], n)
        return self.b.load(slot, *self.numbers[-slot.type.rank :])  # type: ignore[union-attr]

    def recompute(self, op: Op) -> None:
        """Emit a primal op again; region parameters (a loop's index, a map's elements) are set by who opens the region."""
        copier = Rewriter()
        copier.env, copier.b = dict(self.primal), self.b
        with self.b.at(op.span):
            operands = [self.get(u) for u in op.operands]
            for u in (x for r in op.regions for x in free_values(r)):
                copier.env[u] = self.get(u)
            self.primal.update(zip(op.results, copier.copy(op, operands), strict=True))

    def count_on(self, v: Value) -> None:
        """A carried integer of constant growth, from the iteration's number; a map's elements are set by who opens it."""
        found = induction(self.plan.places.place_of(v).owner, v)
        if found is not None:
            start, step = found
            self.primal[v] = index_of(self.b, self.get(start), self.get(step), self.numbers[-1])

    def dims(self, v: Value) -> list[Value]:
        found = self.sizes.dims(v)
        assert found is not None, "refused by the plan"
        return [self.get(d) for d in found]

    # --- adjoints
    def zeros(self, v: Value) -> Value:
        assert isinstance(v.type, Array)
        said = {"role": "adjoint", **({"of": v.name} if v.name else {})}
        array = self.b.op("alloc", self.dims(v), {"dtype": v.type.dtype, "fill": 0.0, **said}).result
        array.name = f"d_{v.name}" if v.name else None
        return array

    def add(self, v: Value, contribution: Value) -> None:
        """Add to the adjoint of a primal value."""
        if not self.activity.is_active(v):
            return
        if not isinstance(v.type, Array):
            self.adj[v] = self.b.fadd(self.adj[v], contribution) if v in self.adj else contribution
        elif v in self.buffers:
            self.add_to_shadow(v, contribution)
        elif v in self.adj:
            (self.adj[v],) = self.b.map_(
                self.dims(v), [self.adj[v], contribution], ["elem"], lambda i, e: [self.b.fadd(*e)]
            )
        else:
            self.adj[v] = contribution

    def add_to_shadow(self, v: Value, contribution: Value) -> None:
        if v.owner is not None and v.owner.name == "broadcast":
            self.add_to_broadcast(v, contribution)
        else:
            self.b.op("assign", [self.shadow_of(v), contribution], {"mode": "add"})

    def add_to_broadcast(self, v: Value, contribution: Value) -> None:
        """An element that was repeated gets the sum over its repetitions."""
        assert v.owner is not None
        base = v.owner.operands[0]
        target = self.shadow_of(base)
        assert isinstance(base.type, Array)
        if base.type.rank == len(v.owner.operands) - 1 == 1:
            self.add_to_broadcast_vector(target, contribution)
            return
        own, all_dims = self.sizes.dims(base), self.sizes.dims(v)
        assert all_dims is not None
        same = [own is not None and a is b for a, b in zip(own or all_dims, all_dims[-base.type.rank :], strict=True)]
        self.add_repetitions(target, contribution, same, len(all_dims) - base.type.rank)

    def add_repetitions(self, target: Value, part: Value, same: list[bool], added: int) -> None:
        """Loops over the axes that the broadcast added, then over those that it may have repeated, around one addition."""
        b = self.b
        zero, one = b.i64(0), b.i64(1)
        starts: list[Value] = [zero] * len(same)

        def axis(k: int, part: Value) -> None:
            if k < added:
                b.for_(zero, b.dim(part, axis=0), one, [], lambda i, _: inner(k, b.index(part, i, axis=0)))
            elif k < added + len(same):
                at = k - added
                if same[at]:
                    axis(k + 1, part)
                else:
                    alone = b.ieq(b.dim(target, axis=at), one)
                    times = b.select(alone, b.dim(part, axis=at), one)
                    b.for_(zero, times, one, [], lambda i, _: inner(k, part, i))
            elif all(same):
                b.op("assign", [target, part], {"mode": "add"})
            else:
                dims = [b.dim(target, axis=j) for j in range(len(same))]
                numbers = [n for start, dim in zip(starts, dims, strict=True) for n in (start, dim, one)]
                b.op("assign", [target, b.slice(part, *numbers)], {"mode": "add"})

        def inner(k: int, part: Value, start: Value | None = None) -> list[Value]:
            if start is not None:
                starts[k - added] = start
            axis(k + 1, part)
            return []

        axis(0, part)

    def add_to_broadcast_vector(self, target: Value, contribution: Value) -> None:
        b = self.b

        def summed() -> list[Value]:
            (total,) = b.map_([b.dim(contribution, axis=0)], [contribution], ["add"], lambda i, e: e)
            b.op("accum", [target, b.i64(0), total])
            return []

        def elementwise() -> list[Value]:
            b.op("assign", [target, contribution], {"mode": "add"})
            return []

        b.if_(b.ieq(b.dim(target, axis=0), b.i64(1)), summed, elementwise)

    def shadow_of(self, v: Value) -> Value:
        if v in self.shadow:
            return self.shadow[v]
        op = v.owner
        if op is not None and op.name in VIEWS:
            return self.b.op(
                op.name, [self.shadow_of(op.operands[0]), *(self.get(u) for u in op.operands[1:])], dict(op.attrs)
            ).result
        if op is not None and op.name == "if":
            ends = [r.terminator.operands[op.results.index(v)] for r in op.regions]
            arms = [lambda end=end: [self.shadow_of(end)] for end in ends]
            return self.b.if_(self.get(op.operands[0]), *arms)[0]
        raise AssertionError(f"no shadow for {v!r}")

    def take(self, v: Value) -> Value:
        """The whole adjoint of a value whose uses have all been visited; zero where nothing came."""
        if v in self.buffers and v in self.shadow:
            return self.shadow.pop(v)
        if v in self.adj:
            return self.adj.pop(v)
        return self.zeros(v) if isinstance(v.type, Array) else self.zero()

    def zero(self) -> Value:
        return self.b.f64(0.0)

    # --- scalar ops
    def scalar(self, op: Op) -> None:
        ct = self.adj.pop(op.result, None)
        if ct is None:
            return
        row = REGISTRY[op.name]
        wanted = [self.activity.is_active(v) for v in op.operands]
        operands = [
            self.primal.get(v, v) if v.owner is None or v.owner.name != "const" else self.get(v) for v in op.operands
        ]
        result = self.primal.get(op.result, op.result)
        for v, part in zip(op.operands, apply_vjp(self.b, row, operands, result, ct, wanted), strict=True):
            if part is not None:
                self.add(v, part)

    # --- memory
    def indices(self, op: Op, last: int | None = None) -> list[Value]:
        return [self.get(i) for i in op.operands[1:last]]

    def op_load(self, op: Op) -> None:
        ct = self.adj.pop(op.result, None)
        if ct is not None and self.activity.is_active(op.operands[0]):
            self.b.op("accum", [self.shadow_of(op.operands[0]), *self.indices(op), ct])

    def op_store(self, op: Op) -> None:
        """Take the element's cotangent, clear it, then hand it on: in this order, since the value may come from the element."""
        target, index = self.shadow_of(op.operands[0]), self.indices(op, -1)
        t = self.b.load(target, *index)
        self.b.op("store", [target, *index, self.zero()])
        self.add(op.operands[-1], t)

    def op_accum(self, op: Op) -> None:
        self.add(op.operands[-1], self.b.load(self.shadow_of(op.operands[0]), *self.indices(op, -1)))

    def op_assign(self, op: Op) -> None:
        target = self.shadow_of(op.operands[0])
        assert isinstance(target.type, Array)
        dims = [self.b.dim(target, axis=k) for k in range(target.type.rank)]
        (t,) = self.b.map_(dims, [target], ["elem"], lambda i, e: e)
        if op.attrs["mode"] == "set":
            one = self.b.op(
                "alloc", [self.b.i64(1)] * target.type.rank, {"dtype": target.type.dtype, "fill": 0.0}
            ).result
            self.b.op("assign", [target, self.b.broadcast(one, *dims)], {"mode": "set"})
        self.add(op.operands[1], t)

    def op_matmul(self, op: Op) -> None:
        """a += ct b', b += a' ct."""
        ct, b = self.take(op.result), self.b
        _, _, left, right = op.operands

        def turned(matrix: Value) -> Value:
            return b.permute(matrix, axes=(1, 0))

        def product(x: Value, y: Value) -> Value:
            return b.matmul(b.dim(x, axis=0), b.dim(y, axis=1), x, y, zeros="a" if x is ct else "b")

        if self.activity.is_active(left):
            self.add(left, product(ct, turned(self.get(right))))
        if self.activity.is_active(right):
            self.add(right, product(turned(self.get(left)), ct))

    # --- calls
    def op_call(self, op: Op) -> None:
        """The reverse half of the callee: it takes the arguments again, the cotangents of the results, and shadows of array arguments."""
        operands = [self.get(v) for v in op.operands]
        operands += [self.take(r) for r in op.results if is_differentiable(r.type)]
        scalars = [v for v in op.operands if is_differentiable(v.type) and not isinstance(v.type, Array)]
        for v in op.operands:
            if isinstance(v.type, Array) and is_differentiable(v.type):
                operands.append(self.shadow_of(v) if self.activity.is_active(v) else self.zeros(v))
        made = self.b.op("call", operands, {"callee": f"{op.attrs['callee']}.rev"}, [F64] * len(scalars))
        for v, part in zip(scalars, made.results, strict=True):
            self.add(v, part)

    # --- branches
    def is_reference(self, v: Value) -> bool:
        """An array that somebody writes: its adjoint lives in its root's shadow and flows with the reference, not through the value."""
        return isinstance(v.type, Array) and not self.memory.is_value(v)

    def captured(self, regions: Iterable[Region]) -> list[Value]:
        """Active scalars of the surroundings that the regions use."""
        seen: dict[Value, None] = {}
        for region in regions:
            for v in free_values(region):
                if not isinstance(v.type, Array) and self.activity.is_active(v):
                    seen.setdefault(v)
        return list(seen)

    def op_if(self, op: Op) -> None:
        results = [
            (k, self.take(r))
            for k, r in enumerate(op.results)
            if is_differentiable(r.type) and self.activity.is_active(r) and not self.is_reference(r)
        ]
        captured = self.captured(op.regions)
        outer = {v: self.adj.get(v) or self.zero() for v in captured}
        arms: list[Region] = []
        before = self.adj
        for old in op.regions:
            region = Region()
            self.adj = dict(outer)
            with self.b.inside(region):
                self.begin(old)
                for k, ct in results:
                    self.add(old.terminator.operands[k], ct)
                self.sweep(old)
                self.b.yield_(*(self.adj[v] for v in captured))
            arms.append(region)
        self.adj = before
        made = self.b.op("if", [self.get(op.operands[0])], {}, [v.type for v in captured], arms)
        self.adj.update(zip(captured, made.results, strict=True))

    # --- loops
    def op_for(self, op: Op) -> None:
        lo, step = self.get(op.operands[0]), self.get(op.operands[2])
        self.loop(op, lambda k: index_of(self.b, lo, step, k))

    def op_while(self, op: Op) -> None:
        self.loop(op, None)

    def trips_of(self, op: Op) -> Value:
        """How often the loop's body ran."""
        return self.get(op.results[-1]) if has_exit(op) else trip_count(self.b, *(self.get(v) for v in op.operands[:3]))

    def loop(self, op: Op, index: Callable[[Value], Value] | None) -> None:
        """The loop backwards, carrying the adjoints of the carried values and of the captured scalars, and the shadows that go round."""
        region, params, ends, inits = op.regions[0], carried_params(op), carried_ends(op), carried_inits(op)
        carried = [k for k, p in enumerate(params) if not self.is_reference(p) and self.flows(p, op.results[k])]
        moves = {k: j for k, j in (rotation(op, self.memory) or {}).items() if self.flows(params[k], op.results[k])}
        captured = self.captured([region])
        trips = self.trips_of(op)
        starts = [self.take(op.results[k]) for k in carried] + [self.adj.get(v) or self.zero() for v in captured]
        starts += [self.shadow_of(op.results[k]) for k in moves]
        new = Region([Value(I64, "k"), *(Value(_adjoint_type(v.type)) for v in starts)])
        passed = iter(new.params[1:])
        cts, sums, shadows = ([next(passed) for _ in group] for group in (carried, captured, moves))
        before, self.adj = self.adj, dict(zip(captured, sums, strict=True))
        with self.b.inside(new):
            self.numbers.append(new.params[0])
            self.trips.append(trips)
            if index is not None:
                self.primal[region.params[0]] = index(new.params[0])
            # what the k-th name stands for after the iteration, the moves[k]-th stood for in it
            self.shadow.update(zip((params[j] for j in moves.values()), shadows, strict=True))
            self.begin(region)
            for k, ct in zip(carried, cts, strict=True):
                self.add(ends[k], ct)
            self.sweep(region)
            outs = [self.take(params[k]) for k in carried] + [self.adj[v] for v in captured]
            self.b.yield_(*outs, *(self.shadow[params[k]] for k in moves))
            self.numbers.pop()
            self.trips.pop()
        self.adj = before
        minus = self.b.i64(-1)
        bounds = [self.b.iadd(trips, minus), minus, minus]
        made = self.b.op("for", [*bounds, *starts], {"exits": False}, [p.type for p in new.params[1:]], [new]).results
        self.adj.update(zip(captured, made[len(carried) :], strict=False))
        for k, total in zip(carried, made, strict=False):
            self.add(inits[k], total)

    def flows(self, param: Value, result: Value) -> bool:
        return is_differentiable(param.type) and (self.activity.is_active(param) or self.activity.is_active(result))

    def pass_round(self, op: Op) -> None:
        """The shadows that a loop's names stand for after it: the references go round as often as in the primal."""
        moves = rotation(op, self.memory) or {}
        moves = {k: j for k, j in moves.items() if self.flows(carried_params(op)[k], op.results[k])}
        if not moves:
            return
        trips, zero, one = self.trips_of(op), self.b.i64(0), self.b.i64(1)
        names = list(moves)
        starts = [self.shadow_of(carried_inits(op)[k]) for k in names]
        ends = self.b.for_(zero, trips, one, starts, lambda i, refs: [refs[names.index(moves[k])] for k in names])
        self.shadow.update(zip((op.results[k] for k in names), ends, strict=True))

    # --- maps
    def op_map(self, op: Op) -> None:
        region, rank = op.regions[0], op.attrs["rank"]
        dims = [self.get(v) for v in op.operands[:rank]]
        seeds: list[tuple[int, Value]] = []
        for k, r in enumerate(op.results):
            if is_differentiable(r.type) and self.activity.is_active(r):
                seeds.append((k, self.take(r)))
        rebuild = [self.reduction_seed(op, k, ct, dims) for k, ct in seeds]
        elements = self.needed_elements(op)
        cotangents = [ct for _, ct in seeds if isinstance(ct.type, Array)]
        targets = [(k, v) for k, v in enumerate(op.operands[rank:]) if self.activity.is_active(v)]
        captured = self.captured([region])
        received: list[tuple[str, Value]] = []

        def body(index: list[Value], values: list[Value]) -> list[Value]:
            self.open_map(op, index, values[: len(elements)], elements)
            cts = iter(values[len(elements) :])
            for (k, ct), seed in zip(seeds, rebuild, strict=True):
                end = region.terminator.operands[k]
                self.add(end, next(cts) if isinstance(ct.type, Array) else seed(end, index))
            self.sweep(region)
            outs = []
            for k, v in targets:
                part = self.adj.pop(region.params[rank + k], None)
                if part is not None:
                    received.append(("elem", v))
                    outs.append(part)
            for v in captured:
                part = self.adj.pop(v, None)
                if part is not None:
                    received.append(("add", v))
                    outs.append(part)
            return outs

        before, self.adj = self.adj, {}
        arrays = [self.get(op.operands[rank + k]) for k in elements] + cotangents
        made = self.map_of_unknown(dims, arrays, body, received)
        self.adj = before
        for (_, v), part in zip(received, made, strict=True):
            self.add(v, part)

    def map_of_unknown(
        self,
        dims: list[Value],
        arrays: list[Value],
        body: Callable[[list[Value], list[Value]], list[Value]],
        received: list[tuple[str, Value]],
    ) -> list[Value]:
        """A map whose kinds are known only after its body has been built."""
        region = Region([Value(I64, "i") for _ in dims])
        region.params += [Value(a.type.dtype, a.name) for a in arrays if isinstance(a.type, Array)]
        with self.b.inside(region):
            self.b.yield_(*body(region.params[: len(dims)], region.params[len(dims) :]))
        kinds = tuple(kind for kind, _ in received)
        types: list[Type] = [Array(F64, (None,) * len(dims)) if kind == "elem" else F64 for kind in kinds]
        return self.b.op("map", [*dims, *arrays], {"rank": len(dims), "kinds": kinds}, types, [region]).results

    def open_map(self, op: Op, index: list[Value], values: list[Value], elements: list[int]) -> None:
        """Inside a map over the primal's box: its parameters, and what its reverse needs recomputed."""
        region, rank = op.regions[0], op.attrs["rank"]
        self.primal.update(zip(region.params[:rank], index, strict=True))
        self.primal.update(zip((region.params[rank + k] for k in elements), values, strict=True))
        self.restore(region)

    def needed_elements(self, op: Op) -> list[int]:
        region, rank = op.regions[0], op.attrs["rank"]
        restored = set(self.plan.restored.get(region, []))
        return [k for k, p in enumerate(region.params[rank:]) if p in restored]

    def reduction_seed(self, op: Op, k: int, ct: Value, dims: list[Value]) -> Weight:
        """The cotangent of one yielded value, given that of the reduction."""
        kind = op.attrs["kinds"][k]
        if kind in ("elem", "add"):
            return lambda end, index: ct

        def over(kinds: list[str], values: Callable[[Value], list[Value]]) -> list[Value]:
            return self.repeat_map(op, k, dims, kinds, values)

        weight = (
            other_factors(self.b, over, dims) if kind == "mul" else tie_share(self.b, over, self.get(op.results[k]))
        )
        return lambda end, index: self.b.zmul(ct, weight(self.get(end), index))

    def repeat_map(
        self, op: Op, k: int, dims: list[Value], kinds: list[str], body: Callable[[Value], list[Value]]
    ) -> list[Value]:
        """A map over the primal's box that reduces what its k-th yielded value is turned into."""
        elements = self.needed_elements(op)

        def inner(index: list[Value], values: list[Value]) -> list[Value]:
            self.open_map(op, index, values, elements)
            return body(self.get(op.regions[0].terminator.operands[k]))

        return self.b.map_(dims, [self.get(op.operands[op.attrs["rank"] + e]) for e in elements], kinds, inner)


def is_view(v: Value) -> bool:
    return v.owner is not None and v.owner.name in VIEWS


def _adjoint_type(t: Type) -> Type:
    return Array(t.dtype, (None,) * t.rank, t.layout) if isinstance(t, Array) else t


def _buffers(function: Function, memory: Memory) -> set[Value]:
    """Arrays that need a shadow: some use of theirs is not a whole-array use in the region that defines them."""
    buffers: set[Value] = set()
    home: dict[Value, Region] = {}

    def visit(region: Region) -> None:
        for p in region.params:
            home[p] = region
        for op in region.ops:
            for k, v in enumerate(op.operands):
                if isinstance(v.type, Array) and (home.get(v) is not region or not _whole(op, k)):
                    buffers.add(v)
            for inner in op.regions:
                visit(inner)
            for r in op.results:
                home[r] = region
                if isinstance(r.type, Array) and (op.name in VIEWS or not memory.is_value(r)):
                    buffers.add(r)

    visit(function.body)
    buffers.update(p for p in function.params if isinstance(p.type, Array) and not memory.is_value(p))
    return buffers


def _whole(op: Op, k: int) -> bool:
    if op.name == "map":
        return bool(k >= op.attrs["rank"])
    return op.name in ("yield", "return", "for", "while", "dim", "matmul")
