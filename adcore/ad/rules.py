"""Applies the derivative rules of the op table: the one place that says how a partial meets a cotangent or a tangent."""

from __future__ import annotations

from collections.abc import Sequence

from adcore.ir.build import Builder
from adcore.ir.core import Value
from adcore.ir.opdef import MINUS_ONE, ONE, ZERO, OpDef


def apply_vjp(
    b: Builder, row: OpDef, operands: Sequence[Value], result: Value, ct: Value, wanted: Sequence[bool]
) -> list[Value | None]:
    """One contribution per operand, None where none is wanted or due."""
    if row.vjp is not None:
        return row.vjp(b, operands, result, ct, wanted)
    parts: list[Value | None] = []
    for partial, want in zip(row.partials, wanted, strict=True):
        if not want or partial is None or partial is ZERO:
            parts.append(None)
        elif partial is ONE:
            parts.append(ct)
        elif partial is MINUS_ONE:
            parts.append(b.fneg(ct))
        else:
            assert callable(partial)
            parts.append(b.zmul(ct, partial(b, operands, result)))
    return parts


def apply_jvp(
    b: Builder, row: OpDef, operands: Sequence[Value], result: Value, tangents: Sequence[Value | None]
) -> Value | None:
    """The tangent of the result; None where no operand has one."""
    if row.jvp is not None:
        return row.jvp(b, operands, result, tangents)
    total: Value | None = None
    for partial, t in zip(row.partials, tangents, strict=True):
        if t is None or partial is None or partial is ZERO:
            continue
        if partial is ONE:
            part = t
        elif partial is MINUS_ONE:
            part = b.fneg(t)
        else:
            assert callable(partial)
            part = b.zzmul(t, partial(b, operands, result))
        total = part if total is None else b.fadd(total, part)
    return total
