"""Sizes and trip counts as formulas over a function's integers: one tree that prints for people and evaluates for tests.

A leaf is a number, an SSA integer, a dim of an array, or how often a region runs. ``text`` and ``evaluate`` read the same tree, so a
formula that was held against a measurement is the one that was printed. A length prints as the difference it is made of and is
never below 0: ``8*(len(x) - 1)`` is 0 bytes for an empty ``x``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from adcore.ir.core import Op, Region, Value
from adcore.ir.types import Array

DEPTH = 8  # of defining ops that a formula looks through


@dataclass(frozen=True, slots=True)
class Number:
    value: int


@dataclass(frozen=True, slots=True)
class Size:
    """An SSA integer, or the dim of an array (``axis``); ``text`` is what the source calls it."""

    text: str
    value: Value
    axis: int | None = None


@dataclass(frozen=True, slots=True)
class Runs:
    """How often a region runs in one execution of its function."""

    text: str
    region: Region


@dataclass(frozen=True, slots=True)
class Apply:
    """``op``: + - * // max min, ``length`` (of one operand, not below 0) or ``range`` (the length of a range)."""

    op: str
    operands: tuple[Formula, ...]


Formula: TypeAlias = Number | Size | Runs | Apply


# --- making
def product(*factors: Formula) -> Formula:
    """Flat, without ones; 0 if any factor is."""
    flat: list[Formula] = []
    for f in factors:
        flat += f.operands if isinstance(f, Apply) and f.op == "*" else [f]
    if any(f == Number(0) for f in flat):
        return Number(0)
    kept = [f for f in flat if f != Number(1)]
    if len(kept) > 1:
        return Apply("*", tuple(kept))
    return kept[0] if kept else Number(1)


def total(*terms: Formula) -> Formula:
    """Flat, numbers added up and put last."""
    flat: list[Formula] = []
    for t in terms:
        flat += t.operands if isinstance(t, Apply) and t.op == "+" else [t]
    number = sum(t.value for t in flat if isinstance(t, Number))
    kept: list[Formula] = [t for t in flat if not isinstance(t, Number)]
    if number or not kept:
        kept.append(Number(number))
    return kept[0] if len(kept) == 1 else Apply("+", tuple(kept))


def length(f: Formula) -> Formula:
    """``max(f, 0)``, printed as ``f``."""
    if isinstance(f, Number):
        return Number(max(f.value, 0))
    return f if never_negative(f) else Apply("length", (f,))


def trips(loop: Op) -> Formula:
    """How often the body of a ``for`` without an exit runs each time."""
    lo, hi, step = (formula_of(v) for v in loop.operands[:3])
    if isinstance(lo, Number) and isinstance(hi, Number) and isinstance(step, Number) and step.value:
        return Number(len(range(lo.value, hi.value, step.value)))
    if step == Number(1):
        return length(difference(hi, lo))
    if step == Number(-1):
        return length(difference(lo, hi))
    return Apply("range", (lo, hi, step))


def never_negative(f: Formula) -> bool:
    match f:
        case Number(value):
            return value >= 0
        case Size():
            return f.axis is not None
        case Runs() | Apply(op="length" | "range"):
            return True
        case Apply("max", operands):
            return any(map(never_negative, operands))
        case Apply("+" | "*" | "min", operands):
            return all(map(never_negative, operands))
    return False


def formula_of(v: Value, depth: int = DEPTH) -> Formula:
    """What an SSA integer is in terms of sizes and parameters, as far as its defining ops say so."""
    op = v.owner
    if op is not None and op.name == "const":
        return Number(int(op.attrs["value"]))
    if op is None or depth == 0:
        return Size(v.name or "(a size)", v)
    if op.name == "dim":
        size = dim_of(op.operands[0], op.attrs["axis"], depth - 1)
        return Size(v.name, v) if v.name and isinstance(size, Size) and size.value.name is None else size
    if op.name not in ("iadd", "isub", "imul", "imax", "imin", "ifloordiv"):
        return Size(v.name or "(a size)", v)
    a, b = (formula_of(u, depth - 1) for u in op.operands)
    match op.name:
        case "iadd":
            return total(a, b)
        case "isub":
            return difference(a, b)
        case "imul":
            return product(a, b)
        case "imax" if Number(0) in (a, b):
            return length(b if a == Number(0) else a)
        case _:
            return Apply({"imax": "max", "imin": "min", "ifloordiv": "//"}[op.name], (a, b))


def difference(a: Formula, b: Formula) -> Formula:
    if a == b:
        return Number(0)
    return total(a, Number(-b.value)) if isinstance(b, Number) else Apply("-", (a, b))


def dim_of(array: Value, axis: int, depth: int = DEPTH) -> Formula:
    """A dim, traced to the integer that set it, else named as the source would ask for it."""
    assert isinstance(array.type, Array)
    op = array.owner
    if op is not None and depth > 0:
        match op.name:
            case "map" | "alloc" | "matmul":
                return formula_of(op.operands[axis], depth - 1)
            case "broadcast" | "reshape":
                return formula_of(op.operands[1 + axis], depth - 1)
            case "slice":
                return formula_of(op.operands[1 + 3 * axis + 1], depth - 1)
            case "index":
                return dim_of(op.operands[0], axis if axis < op.attrs["axis"] else axis + 1, depth - 1)
            case "permute":
                return dim_of(op.operands[0], op.attrs["axes"][axis], depth - 1)
            case "diagonal":
                return dim_of(op.operands[0], axis, depth - 1)
    known = array.type.dims[axis]
    if isinstance(known, int):
        return Number(known)
    if array.name is None:
        return Size("(its length)" if array.type.rank == 1 else f"(its size along axis {axis})", array, axis)
    return Size(f"len({array.name})" if array.type.rank == 1 else f"{array.name}.shape[{axis}]", array, axis)


def array_bytes(dtype_bytes: int, dims: list[Formula]) -> Formula:
    return product(Number(dtype_bytes), *map(length, dims))


def leaves(f: Formula) -> list[Size | Runs]:
    match f:
        case Number():
            return []
        case Apply(_, operands):
            return [leaf for inner in operands for leaf in leaves(inner)]
    return [f]


# --- reading
def evaluate(f: Formula, values: Mapping[Value, Any], runs: Mapping[Region, int] | None = None) -> int:
    """``values``: integers and arrays by SSA value; ``runs``: executions by region."""
    match f:
        case Number(value):
            return value
        case Size(_, value, axis):
            return int(values[value] if axis is None else values[value].shape[axis])
        case Runs(_, region):
            assert runs is not None
            return runs.get(region, 0)
        case Apply(op, operands):
            return _apply(op, [evaluate(o, values, runs) for o in operands])


def _apply(op: str, numbers: list[int]) -> int:
    match op:
        case "+":
            return sum(numbers)
        case "*":
            result = 1
            for n in numbers:
                result *= n
            return result
        case "-":
            return numbers[0] - numbers[1]
        case "//":
            return numbers[0] // numbers[1]
        case "range":
            return len(range(*numbers))
        case "length":
            return max(numbers[0], 0)
    return max(numbers) if op == "max" else min(numbers)


_BINDING = {"+": 1, "-": 1, "*": 2, "//": 2}


def text(f: Formula) -> str:
    match f:
        case Number(value):
            return str(value)
        case Size(name) | Runs(name):
            return name
        case Apply("length", (inner,)):
            return text(inner)
        case Apply("range", operands):
            return f"len(range({', '.join(map(text, operands))}))"
        case Apply("max" | "min" as op, operands):
            return f"{op}({', '.join(map(text, operands))})"
        case Apply(op, operands):
            mark = op if op in ("*", "//") else f" {op} "
            parts = [_inside(o, op, last=k > 0) for k, o in enumerate(operands)]
            return mark.join(parts).replace(" + -", " - ")


def _inside(f: Formula, op: str, last: bool) -> str:
    """An operand, in parentheses where it binds less tightly than its surroundings."""
    inner = f
    while isinstance(inner, Apply) and inner.op == "length":
        (inner,) = inner.operands
    if not isinstance(inner, Apply):
        return text(f)
    binding, mine = _BINDING.get(inner.op, 3), _BINDING[op]
    ordered = "//" in (op, inner.op) or op == "-"  # a - (b - c), (a//b)*c
    return f"({text(f)})" if binding < mine or (binding == mine and ordered and (last or "//" in inner.op)) else text(f)
