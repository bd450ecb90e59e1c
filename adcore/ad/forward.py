"""Forward mode: every op followed by its tangent.

``jvp`` makes of ``f(x...) -> (y...)`` the function ``f.jvp(x..., dx...) -> (y..., dy...)``. A scalar's tangent is a value beside it; an array's is
an array of the same dims that every write and view is repeated on. Works on derivative IR as well: forward over reverse gives
second derivatives. Values on the tape go there with their tangents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from adcore.ad.activity import Activity
from adcore.ad.reductions import other_factors, tie_share
from adcore.ad.rules import apply_jvp
from adcore.ir.core import Op, Region, Value, carried_ends, carried_inits, carried_params, has_exit
from adcore.ir.memory import VIEWS
from adcore.ir.opdef import REGISTRY
from adcore.ir.rewrite import Rewriter
from adcore.ir.types import Array, is_differentiable


class ForwardMode(Rewriter):
    """``tangent`` maps primal values (of the function being differentiated) to tangents in the new one."""

    def __init__(self, activity: Activity) -> None:
        super().__init__()
        self.activity = activity
        self.tangent: dict[Value, Value] = {}

    def varies(self, v: Value) -> bool:
        if not is_differentiable(v.type):
            return False
        if isinstance(v.type, Array):
            return bool(self.activity.memory.roots[v] & self.activity.varied)
        return v in self.activity.varied

    def tangent_of(self, v: Value) -> Value:
        """The tangent, zero where there is none."""
        if v in self.tangent:
            return self.tangent[v]
        if not isinstance(v.type, Array):
            return self.b.f64(0.0)
        new = self.new(v)
        dims = [self.b.dim(new, axis=k) for k in range(v.type.rank)]
        return self.b.op("alloc", dims, {"dtype": v.type.dtype, "fill": 0.0}).result

    def op(self, op: Op, operands: list[Value]) -> list[Value]:
        if REGISTRY[op.name].evaluate is not None:
            return self.scalar(op, operands)
        handler = getattr(self, "op_" + op.name, None)
        if handler is None:
            return self.copy(op, operands)
        results: list[Value] = handler(op, operands)
        return results

    def scalar(self, op: Op, operands: list[Value]) -> list[Value]:
        (result,) = self.copy(op, operands)
        if self.varies(op.result):
            tangents = [self.tangent.get(v) if self.varies(v) else None for v in op.operands]
            t = apply_jvp(self.b, REGISTRY[op.name], operands, result, tangents)
            if t is not None:
                self.tangent[op.result] = t
        return [result]

    def op_poison(self, op: Op, operands: list[Value]) -> list[Value]:
        """What an arm leaves undefined has no dims to make a zero tangent of."""
        results = self.copy(op, operands)
        if isinstance(op.result.type, Array):
            self.tangent[op.result] = self.b.op("poison", results=[op.result.type]).result
        return results

    # --- memory
    def op_alloc(self, op: Op, operands: list[Value]) -> list[Value]:
        results = self.copy(op, operands)
        if self.varies(op.result):
            said: dict[str, object] = {"fill": 0.0}
            if "role" in op.attrs:  # a slot of the plan is written wherever it is read
                said = {"fill": op.attrs["fill"], "of": f"the tangent of {op.attrs.get('of', 'it')}"}
            self.tangent[op.result] = self.b.op("alloc", operands, {**op.attrs, **said}).result
        return results

    def op_load(self, op: Op, operands: list[Value]) -> list[Value]:
        results = self.copy(op, operands)
        if op.operands[0] in self.tangent:
            self.tangent[op.result] = self.b.load(self.tangent[op.operands[0]], *operands[1:])
        return results

    def write(self, op: Op, operands: list[Value]) -> list[Value]:
        results = self.copy(op, operands)
        if op.operands[0] in self.tangent:
            self.b.op(
                op.name,
                [self.tangent[op.operands[0]], *operands[1:-1], self.tangent_of(op.operands[-1])],
                dict(op.attrs),
            )
        return results

    op_store = op_accum = write

    def op_assign(self, op: Op, operands: list[Value]) -> list[Value]:
        results = self.copy(op, operands)
        if op.operands[0] in self.tangent:
            self.b.op("assign", [self.tangent[op.operands[0]], self.tangent_of(op.operands[1])], dict(op.attrs))
        return results

    def view(self, op: Op, operands: list[Value]) -> list[Value]:
        results = self.copy(op, operands)
        if op.operands[0] in self.tangent:
            self.tangent[op.result] = self.b.op(
                op.name, [self.tangent[op.operands[0]], *operands[1:]], dict(op.attrs)
            ).result
        return results

    # --- the tape
    def op_push(self, op: Op, operands: list[Value]) -> list[Value]:
        extra = [self.tangent_of(v) for v in op.operands if is_differentiable(v.type)]
        return self.b.op("push", [*operands, *extra], dict(op.attrs), []).results

    def op_pop(self, op: Op, operands: list[Value]) -> list[Value]:
        real = [r for r in op.results if is_differentiable(r.type)]
        made = self.b.op("pop", results=[r.type for r in (*op.results, *real)]).results
        self.tangent.update(zip(real, made[len(op.results) :], strict=True))
        return made[: len(op.results)]

    # --- structure
    def op_call(self, op: Op, operands: list[Value]) -> list[Value]:
        if not any(self.varies(v) for v in (*op.operands, *op.results)):
            return self.copy(op, operands)
        tangents = [self.tangent_of(v) for v in op.operands if is_differentiable(v.type)]
        real = [r for r in op.results if is_differentiable(r.type)]
        made = self.b.op(
            "call", [*operands, *tangents], {"callee": f"{op.attrs['callee']}.tan"}, [r.type for r in (*op.results, *real)]
        ).results  # fmt: skip
        self.tangent.update(zip(real, made[len(op.results) :], strict=True))
        return made[: len(op.results)]

    def op_if(self, op: Op, operands: list[Value]) -> list[Value]:
        real = [k for k, r in enumerate(op.results) if self.varies(r)]
        regions = []
        for old in op.regions:
            region = Region()
            with self.b.inside(region):
                self.ops(old.ops[:-1])
                ends = old.terminator.operands
                self.b.yield_(*(self.new(v) for v in ends), *(self.tangent_of(ends[k]) for k in real))
            regions.append(region)
        types = [r.type for r in op.results] + [op.results[k].type for k in real]
        made = self.b.op("if", operands, dict(op.attrs), types, regions).results
        self.tangent.update(zip((op.results[k] for k in real), made[len(op.results) :], strict=True))
        return made[: len(op.results)]

    def loop(self, op: Op, operands: list[Value]) -> list[Value]:
        params, ends, inits = carried_params(op), carried_ends(op), carried_inits(op)
        real = [k for k, p in enumerate(params) if self.varies(p) or self.varies(op.results[k])]
        starts = [self.tangent_of(inits[k]) for k in real]
        old = op.regions[0]
        region = Region([Value(p.type, p.name) for p in old.params])
        self.env.update(zip(old.params, region.params, strict=True))
        extra = [Value(params[k].type) for k in real]
        region.params += extra
        self.tangent.update(zip((params[k] for k in real), extra, strict=True))
        with self.b.inside(region):
            self.ops(old.ops[:-1])
            kept = [self.new(v) for v in old.terminator.operands]
            self.b.yield_(*kept, *(self.tangent_of(ends[k]) for k in real))
        count = len(params)
        flags = [r.type for r in op.results[count:]]
        types = [r.type for r in op.results[:count]] + [v.type for v in extra] + flags
        made = self.b.op(op.name, [*operands, *starts], dict(op.attrs), types, [region]).results
        self.tangent.update(zip((op.results[k] for k in real), made[count : count + len(real)], strict=True))
        return made[:count] + (made[-1:] if has_exit(op) else [])

    op_for = op_while = loop

    def op_matmul(self, op: Op, operands: list[Value]) -> list[Value]:
        results, parts = self.copy(op, operands), []
        *sizes, a, b = operands
        left, right = (self.tangent.get(v) if self.varies(v) else None for v in op.operands[2:])
        if left is not None:
            parts.append(self.b.matmul(*sizes, left, b, zeros="ab"))
        if right is not None:
            parts.append(self.b.matmul(*sizes, a, right, zeros="ab"))
        if len(parts) == 2:
            parts = self.b.map_(sizes, parts, ["elem"], lambda i, e: [self.b.fadd(*e)])
        if parts:
            (self.tangent[op.result],) = parts
        return results

    # --- maps
    def op_map(self, op: Op, operands: list[Value]) -> list[Value]:
        rank, kinds = op.attrs["rank"], op.attrs["kinds"]
        moving = [
            k for k in range(rank, len(operands)) if op.operands[k] in self.tangent and self.varies(op.operands[k])
        ]
        linear = [k for k, kind in enumerate(kinds) if kind in ("elem", "add") and self.varies(op.results[k])]
        others = [k for k, kind in enumerate(kinds) if kind not in ("elem", "add") and self.varies(op.results[k])]
        arrays = [*operands[rank:], *(self.tangent[op.operands[k]] for k in moving)]

        def body(index: list[Value], elements: list[Value]) -> list[Value]:
            self.enter_map(op, index, elements, moving)
            ends = op.regions[0].terminator.operands
            return [*(self.new(v) for v in ends), *(self.tangent_of(ends[k]) for k in linear)]

        made = self.b.map_(operands[:rank], arrays, [*kinds, *(kinds[k] for k in linear)], body)
        results = made[: len(op.results)]
        self.tangent.update(zip((op.results[k] for k in linear), made[len(op.results) :], strict=True))
        for k in others:
            self.tangent[op.results[k]] = self.reduction(op, k, operands[:rank], arrays, moving, results[k])
        return results

    def enter_map(self, op: Op, index: Sequence[Value], elements: Sequence[Value], moving: Sequence[int]) -> None:
        """Emit a map's body with its elements and their tangents."""
        rank, old = op.attrs["rank"], op.regions[0]
        count = len(old.params) - rank
        self.env.update(zip(old.params, [*index, *elements[:count]], strict=True))
        self.tangent.update(zip((old.params[k] for k in moving), elements[count:], strict=True))
        self.ops(old.ops[:-1])

    def reduction(
        self, op: Op, k: int, dims: list[Value], arrays: list[Value], moving: list[int], result: Value
    ) -> Value:
        """The tangent of a product, maximum or minimum over a box: a second pass, weighting each element's tangent."""
        end = op.regions[0].terminator.operands[k]
        b = self.b

        def over(kinds: list[str], values: Callable[[Value], list[Value]]) -> list[Value]:
            def body(index: list[Value], elements: list[Value]) -> list[Value]:
                self.enter_map(op, index, elements, moving)
                return values(self.new(end))

            return b.map_(dims, arrays, kinds, body)

        if op.attrs["kinds"][k] == "mul":
            weight = other_factors(b, over, dims)
        else:
            weight = tie_share(b, over, result)

        def weighted(index: list[Value], elements: list[Value]) -> list[Value]:
            self.enter_map(op, index, elements, moving)
            return [b.zzmul(self.tangent_of(end), weight(self.new(end), index))]

        (total,) = b.map_(dims, arrays, ["add"], weighted)
        return total


for _name in VIEWS:
    setattr(ForwardMode, f"op_{_name}", ForwardMode.view)
