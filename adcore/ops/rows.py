"""Helpers to write rows of scalar ops: type rules from a short signature, IEEE behaviour for Python's ``math``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from adcore.ir.opdef import Cost, Effect, OpDef, register
from adcore.ir.types import BOOL, F64, I64, Scalar, Type

_FIXED = {"f": F64, "i": I64, "b": BOOL}
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1


def signature(text: str) -> Callable[[Sequence[Type], dict[str, Any]], list[Type]]:
    """``"ff->f"``: f a float, i an int, b a bool; ``T`` one scalar type, whichever, equal wherever it stands."""
    params, _, result = text.partition("->")

    def infer(types: Sequence[Type], attrs: dict[str, Any]) -> list[Type]:
        if len(types) != len(params):
            raise TypeError(f"takes {len(params)} operands, not {len(types)}")
        bound: Type | None = None
        for letter, got in zip(params, types, strict=True):
            if letter == "T":
                bound = got if bound is None else bound
                ok = got == bound and isinstance(got, Scalar)
            elif letter == "f":
                ok = isinstance(got, Scalar) and got.is_float
                bound = got if bound is None else bound
            elif letter == "i":
                ok = isinstance(got, Scalar) and got.is_int
            else:
                ok = got == BOOL
            if not ok:
                raise TypeError(f"operand types {', '.join(map(str, types))} do not fit {text}")
        if result == "T" or (result == "f" and bound is not None and "f" in params):
            assert bound is not None
            return [bound]
        return [_FIXED[result]]

    return infer


def scalar(name: str, sig: str, doc: str, evaluate: Callable[..., Any], **facts: Any) -> OpDef:
    """Register a pure scalar row; ``evaluate`` takes the operands alone unless the row has attributes."""
    attrs = facts.get("attrs", ({},))
    meaning = evaluate if attrs != ({},) else (lambda _attrs, *operands: evaluate(*operands))
    facts.setdefault("cost", Cost.CHEAP)
    if str(facts.get("lower", "")).startswith("call "):  # of the C library
        facts.setdefault("accuracy", "2 ulp")
    return register(OpDef(name=name, doc=doc, effect=Effect.PURE, infer=signature(sig), evaluate=meaning, **facts))


def ieee(function: Callable[..., float], pole: Callable[..., float] | None = None) -> Callable[..., float]:
    """``math.*`` without exceptions: a domain error is NaN (or what ``pole`` says), an overflow is inf with the sign of the true value."""

    def call(*args: float) -> float:
        try:
            return function(*args)
        except ValueError:
            return pole(*args) if pole is not None else math.nan
        except OverflowError:
            return pole(*args) if pole is not None else math.inf

    return call


def wrap64(value: int) -> int:
    """Two's complement of 64 bits."""
    return (value + 2**63) % 2**64 - 2**63


def fits64(value: int) -> bool:
    return INT64_MIN <= value <= INT64_MAX
