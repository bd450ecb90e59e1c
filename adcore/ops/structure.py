"""Rows of ops that own regions, end them, call, check, or use the tape. Meaning: the docstring of ``ir.core``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adcore.ir.opdef import Cost, Effect, OpDef, register
from adcore.ir.types import BOOL, Array, Scalar, Type

KINDS = {"elem": None, "add": 0.0, "mul": 1.0, "max": float("-inf"), "min": float("inf")}


def _map(types: Sequence[Type], attrs: dict[str, Any]) -> list[Type]:
    """Result types: a fresh array per ``elem``, a scalar per reduction; ``attrs["yields"]`` are the types yielded."""
    results: list[Type] = []
    for kind, value in zip(attrs["kinds"], attrs["yields"], strict=True):
        if kind not in KINDS or not isinstance(value, Scalar):
            raise TypeError(f"a map cannot make {kind!r} of {value}")
        results.append(Array(value, (None,) * attrs["rank"]) if kind == "elem" else value)
    return results


def _nothing(types: Sequence[Type], attrs: dict[str, Any]) -> list[Type]:
    return []


def _guard(types: Sequence[Type], attrs: dict[str, Any]) -> list[Type]:
    if list(types) != [BOOL]:
        raise TypeError("a guard checks one bool")
    return []


register(OpDef("for", "counted loop", Effect.CONTROL, Cost.NEVER))
register(OpDef("while", "loop with a run-time end", Effect.CONTROL, Cost.NEVER))
register(OpDef("if", "two arms", Effect.CONTROL, Cost.NEVER))
register(OpDef("map", "loop nest without order, with reductions", Effect.CONTROL, Cost.COSTLY, infer=_map))
register(OpDef("yield", "ends a region", Effect.CONTROL, Cost.NEVER, infer=_nothing))
register(OpDef("return", "ends a function", Effect.CONTROL, Cost.NEVER, infer=_nothing))
register(OpDef("call", "call of the module's function {callee}", Effect.WRITE, Cost.NEVER))
register(OpDef("guard", "raise {error}({message}) unless the operand holds", Effect.WRITE, Cost.NEVER, infer=_guard))
register(OpDef("push", "put values on the tape, one record", Effect.WRITE, Cost.NEVER, infer=_nothing))
register(OpDef("pop", "take the last record off the tape", Effect.WRITE, Cost.NEVER))
