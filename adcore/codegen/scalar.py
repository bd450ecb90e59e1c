"""Scalar ops: the lowering language of the op table's rows.

| row says | LLVM |
|---|---|
| ``fadd fsub fmul fdiv fneg``, ``add sub mul sdiv and or xor shl ashr`` | the instruction |
| ``fcmp olt``, ``icmp slt`` | the comparison |
| ``call sin`` | a function of libm, free of side effects (errno is not ours); in array loops that of ``elementary`` |
| ``intrinsic llvm.sqrt`` | the intrinsic, overloaded by the operand type |
| ``fits sadd`` | not the overflow bit of ``llvm.sadd.with.overflow`` |
| ``sitofp zext fptosi select`` | the conversion, the select |
| a function | other ops, lowered in turn |
"""

from __future__ import annotations

from adcore.codegen.context import Context
from adcore.codegen.elementary import INLINED
from adcore.codegen.layout import Unsupported, register_type
from adcore.codegen.text import double
from adcore.ir.build import Builder
from adcore.ir.core import Op, Region, Value
from adcore.ir.opdef import REGISTRY
from adcore.ir.types import BOOL, F64

FLOAT_BINARY = frozenset({"fadd", "fsub", "fmul", "fdiv"})
INT_BINARY = frozenset({"add", "sub", "mul", "sdiv", "and", "or", "xor", "shl", "ashr"})
# The zero rule needs infinities and NaN as they are, whatever the function allows.
ZERO_RULE_SAFE = frozenset({"reassoc", "contract", "arcp", "afn", "nsz"})


def lower_const(c: Context, op: Op) -> None:
    value = op.attrs["value"]
    match op.result.type:
        case t if t == F64:
            c.env[op.result] = double(float(value))
        case t if t == BOOL:
            c.env[op.result] = "true" if value else "false"
        case _:
            register_type(op.result.type)
            c.env[op.result] = str(int(value))


def lower_scalar(c: Context, op: Op) -> None:
    rule = REGISTRY[op.name].lower
    if rule is None:
        raise Unsupported(f"the op {op.name}")
    if isinstance(rule, str):
        c.env[op.result] = apply_rule(c, rule, op.operands, op.result)
        return
    region = Region()
    value = rule(Builder(region, op.span), *op.operands, **op.attrs)
    flags = c.flags
    if op.name in ("zmul", "zzmul"):
        c.flags = "".join(f" {f}" for f in flags.split() if f in ZERO_RULE_SAFE)
    for inner in region.ops:
        (lower_const if inner.name == "const" else lower_scalar)(c, inner)
    c.flags = flags
    c.env[op.result] = c.env[value]


def apply_rule(c: Context, rule: str, operands: list[Value], result: Value) -> str:
    w = c.w
    args = [c.scalar(v) for v in operands]
    types = [register_type(v.type) for v in operands]
    out = register_type(result.type)
    word, _, rest = rule.partition(" ")
    if word in FLOAT_BINARY:
        return w.value(f"{word}{c.flags} {out} {args[0]}, {args[1]}")
    if word in INT_BINARY:
        return w.value(f"{word} {out} {args[0]}, {args[1]}")
    match word:
        case "fneg":
            return w.value(f"fneg{c.flags} {out} {args[0]}")
        case "fcmp":
            return w.value(f"fcmp{c.flags} {rest} {types[0]} {args[0]}, {args[1]}")
        case "icmp":
            return w.value(f"icmp {rest} {types[0]} {args[0]}, {args[1]}")
        case "select":
            return w.value(f"select i1 {args[0]}, {out} {args[1]}, {out} {args[2]}")
        case "sitofp" | "zext" | "fptosi":
            return w.value(f"{word} {types[0]} {args[0]} to {out}")
        case "fits":
            return fits(c, rest, args)
        case "intrinsic":
            name = f"{rest}.{'f64' if types[0] == 'double' else types[0]}"
            c.text.declare(name, f"declare {out} @{name}({', '.join(types)})")
            return w.value(f"call{c.flags if out == 'double' else ''} {out} @{name}({_typed(types, args)})")
        case "call" if c.access and rest in INLINED:  # in an array loop
            c.text.declare(f"math.{rest}", INLINED[rest]())
            return w.value(f"call {out} @math.{rest}({_typed(types, args)})")
        case "call":
            c.text.declare(rest, f"declare {out} @{rest}({', '.join(types)}) #2")
            return w.value(f"call{c.flags} {out} @{rest}({_typed(types, args)})")
    raise Unsupported(f"the lowering {rule!r}")


def fits(c: Context, operation: str, args: list[str]) -> str:
    name = f"llvm.{operation}.with.overflow.i64"
    c.text.declare(name, f"declare {{ i64, i1 }} @{name}(i64, i64)")
    pair = c.w.value(f"call {{ i64, i1 }} @{name}(i64 {args[0]}, i64 {args[1]})")
    overflow = c.w.value(f"extractvalue {{ i64, i1 }} {pair}, 1")
    return c.w.value(f"xor i1 {overflow}, true")


def _typed(types: list[str], args: list[str]) -> str:
    return ", ".join(f"{t} {a}" for t, a in zip(types, args, strict=True))
