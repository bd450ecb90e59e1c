"""Where each array that a function creates lives.

- ``RESULT k``: it is returned, was made in the function's top region, and is returned once: built in the result's
  memory, no copy.
- ``STACK``: known dims, at most 16 KiB a function, does not escape an iteration.
- ``SLOT``: one pointer and its capacity in the frame; inside a loop the block is reused while the capacity suffices.
- ``LIST``: it escapes an iteration, so each execution makes a block of its own; freed when the function returns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from adcore.codegen.analysis import Flow
from adcore.codegen.layout import size_of
from adcore.ir.core import Function, Op, Value
from adcore.ir.types import Array

STACK_BYTES = 16 * 1024
MAKERS = frozenset({"alloc", "map", "call", "pop"})


class Place(Enum):
    RESULT = "result"
    STACK = "stack"
    SLOT = "slot"
    LIST = "list"


@dataclass(frozen=True, slots=True)
class Home:
    place: Place
    result: int = -1  # which result of the function, for RESULT
    in_loop: bool = False


def place_arrays(function: Function, flow: Flow) -> dict[Value, Home]:
    homes: dict[Value, Home] = {}
    returned = _direct_results(function)
    stack_left = STACK_BYTES
    for op in function.body.walk():
        if op.name not in MAKERS:
            continue
        for value in op.results:
            if not isinstance(value.type, Array):
                continue
            if value in returned:
                homes[value] = Home(Place.RESULT, returned[value])
                continue
            in_loop = flow.loop_of[value] is not None
            if flow.escapes(value):
                homes[value] = Home(Place.LIST, in_loop=in_loop)
                continue
            size = _static_bytes(op, value.type)
            if size is not None and size <= stack_left:
                stack_left -= size
                homes[value] = Home(Place.STACK, in_loop=in_loop)
            else:
                homes[value] = Home(Place.SLOT, in_loop=in_loop)
    return homes


def _direct_results(function: Function) -> dict[Value, int]:
    """Array makers of the top region that the function returns exactly once."""
    operands = function.body.terminator.operands
    top = {r for op in function.body.ops if op.name in ("alloc", "map") for r in op.results}
    return {v: k for k, v in enumerate(operands) if v in top and isinstance(v.type, Array) and operands.count(v) == 1}


def _static_bytes(op: Op, type: Array) -> int | None:
    """Size in bytes where all dims are constants; results of calls and of the tape come with memory or without size."""
    if op.name in ("call", "pop"):
        return None
    dims: list[int] = []
    for known, operand in zip(type.dims, op.operands, strict=False):
        constant = operand.owner is not None and operand.owner.name == "const"
        if constant:
            assert operand.owner is not None
            dims.append(max(0, int(operand.owner.attrs["value"])))
        elif isinstance(known, int):
            dims.append(known)
        else:
            return None
    return size_of(type.dtype) * math.prod(dims)
