"""Where each array that a function creates lives.

- ``RESULT k``: it is returned, was made in the function's top region, and is returned once: built in the result's
  memory, no copy.
- ``STACK``: known dims, at most 16 KiB a function, not carried from iteration to iteration.
- ``SLOTS``: blocks of the frame, freed when the function returns. Inside a loop a block is reused while its capacity
  suffices. An array that is carried on has a slot more than there are carried values that may hold earlier instances,
  and takes one that none of them points into: no allocation per iteration, whatever is carried how.
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
    SLOTS = "slots"


@dataclass(frozen=True, slots=True)
class Home:
    place: Place
    result: int = -1  # which result of the function, for RESULT
    in_loop: bool = False
    carriers: tuple[Value, ...] = ()


def place_arrays(function: Function, flow: Flow, recursive: bool) -> dict[Value, Home]:
    """A recursive function keeps its frames small: nothing on the stack."""
    homes: dict[Value, Home] = {}
    returned = _direct_results(function)
    stack_left = -1 if recursive else STACK_BYTES
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
            carriers = tuple(flow.carriers(value))
            size = _static_bytes(op, value.type)
            if size is not None and size <= stack_left and not carriers:
                stack_left -= size
                homes[value] = Home(Place.STACK, in_loop=in_loop)
            else:
                homes[value] = Home(Place.SLOTS, in_loop=in_loop, carriers=carriers)
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
