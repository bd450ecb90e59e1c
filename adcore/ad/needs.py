"""Which primal values the reverse of an op reads. Found by running the op's own rule on placeholders, so it cannot disagree with the rule."""

from __future__ import annotations

from typing import Any

from adcore.ad.activity import Activity
from adcore.ad.rules import apply_vjp
from adcore.ir.build import Builder
from adcore.ir.core import Op, Region, Value, carried_ends, carried_inits, carried_params
from adcore.ir.memory import VIEWS, Memory
from adcore.ir.opdef import REGISTRY
from adcore.ir.printer import attribute
from adcore.ir.types import F64, I64, Array


class Needs:
    def __init__(self, activity: Activity) -> None:
        self.activity = activity
        self.known: dict[Any, tuple[int, ...]] = {}

    def of(self, op: Op) -> list[Value]:
        """Values of the surroundings that the reverse of ``op`` reads, its regions' insides excepted."""
        row = REGISTRY[op.name]
        if row.evaluate is not None:
            return [op.result if k < 0 else op.operands[k] for k in self.scalar(op)]
        match op.name:
            case "load":
                return [*op.operands[1:], *view_numbers(op.operands[0])]
            case "store" | "accum":
                return [*op.operands[1:-1], *view_numbers(op.operands[0])]
            case "assign":
                return [*view_numbers(op.operands[0]), *view_numbers(op.operands[1])]
            case "if":
                return [*op.operands[:1], *self.passed_on(op)]
            case "for":
                own = [op.results[-1], *op.operands[:3]] if op.attrs.get("exits") else op.operands[:3]
                return [*own, *self.passed_on(op)]
            case "while":
                return [op.results[-1], *self.passed_on(op)]
            case "map":
                return self.map(op)
            case "matmul":
                return self.matmul(op)
            case "call":
                return [*op.operands, *(n for v in op.operands for n in view_numbers(v))]
            case _:
                return []

    def passed_on(self, op: Op) -> list[Value]:
        """The numbers of views that an arm or an iteration hands on: cotangents come back to their shadows."""
        handed = [v for region in op.regions for v in region.terminator.operands]
        handed += carried_inits(op) if op.name != "if" else []
        return [n for v in handed if isinstance(v.type, Array) and self.activity.is_active(v) for n in view_numbers(v)]

    def map(self, op: Op) -> list[Value]:
        rank = op.attrs["rank"]
        needed = list(op.operands[:rank])
        for array in op.operands[rank:]:
            if self.activity.is_active(array):
                needed += view_numbers(array)
        for kind, result, end in zip(op.attrs["kinds"], op.results, op.regions[0].terminator.operands, strict=True):
            if kind in ("max", "min", "mul") and self.activity.is_active(result):
                needed += [end] if kind == "mul" else [result, end]
        return needed

    def matmul(self, op: Op) -> list[Value]:
        """Each matrix for the cotangent of the other."""
        *sizes, a, b = op.operands
        needed = list(sizes)
        for matrix, other in ((a, b), (b, a)):
            if self.activity.is_active(matrix):
                needed += [other, *view_numbers(matrix)]
        return needed

    def scalar(self, op: Op) -> tuple[int, ...]:
        """Operand positions that the rule reads; -1 is the result."""
        wanted = tuple(self.activity.is_active(v) for v in op.operands)
        key = (op.name, tuple((k, attribute(v)) for k, v in op.attrs.items()), wanted)
        if key not in self.known:
            self.known[key] = _trace(op, wanted)
        return self.known[key]


def _trace(op: Op, wanted: tuple[bool, ...]) -> tuple[int, ...]:
    copy = Op(op.name, [Value(v.type) for v in op.operands], [r.type for r in op.results], op.attrs)
    b, row = Builder(Region()), REGISTRY[op.name]
    apply_vjp(b, row, copy.operands, copy.result, Value(F64), wanted)
    used = {v for o in b.region.ops for v in o.operands}
    positions = [k for k, v in enumerate(copy.operands) if v in used]
    return (*positions, -1) if copy.result in used else tuple(positions)


def view_numbers(array: Value) -> list[Value]:
    """The integers of the views that lead from an array to its root: its shadow is made with them."""
    numbers: list[Value] = []
    while array.owner is not None and array.owner.name in VIEWS:
        numbers += array.owner.operands[1:]
        array = array.owner.operands[0]
    return numbers


def induction(loop: Op | None, param: Value) -> tuple[Value, Value] | None:
    """(start, step) of a carried integer that grows by the same amount in every iteration: start + k * step in iteration k."""
    if loop is None or loop.name not in ("for", "while") or param.type != I64 or param not in carried_params(loop):
        return None
    k = carried_params(loop).index(param)
    end = carried_ends(loop)[k].owner
    if end is None or end.name != "iadd" or param not in end.operands:
        return None
    step = next((v for v in end.operands if v is not param), None)
    inside = {r for op in loop.regions[0].walk() for r in op.results} | set(loop.regions[0].params)
    if step is None or (step in inside and not (step.owner is not None and step.owner.name == "const")):
        return None
    return carried_inits(loop)[k], step


def rotation(loop: Op, memory: Memory) -> dict[int, int] | None:
    """For carried references to arrays written in place: k -> j where each iteration hands the k-th name what the j-th had.

    None where an iteration does anything but pass these references round.
    """
    params, ends = carried_params(loop), carried_ends(loop)
    refs = [k for k, p in enumerate(params) if isinstance(p.type, Array) and not memory.is_value(p)]
    moves = {k: params.index(ends[k]) for k in refs if ends[k] in params}
    return moves if len(moves) == len(refs) and sorted(moves.values()) == refs else None
