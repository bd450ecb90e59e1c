"""The reference interpreter: runs any stage of the IR on Python scalars and NumPy arrays, op by op, without LLVM.

It shares no code with the code generator, so a wrong pass and a wrong lowering are told apart. It is written to be obviously
right, not fast. ``Raised`` carries the exception a ``guard`` would raise; ``Trace`` counts executed ops and tape records.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from adcore.ir.core import Function, Module, Op, Region, Value
from adcore.ir.opdef import REGISTRY, Effect
from adcore.ir.types import F64, I64, Array, Scalar, Type

DTYPES: dict[str, type] = {
    "f64": np.float64,
    "f32": np.float32,
    "i64": np.int64,
    "i32": np.int32,
    "bool": np.bool_,
    "c128": np.complex128,
}
_START = {"add": 0.0, "mul": 1.0, "max": -np.inf, "min": np.inf}


class Raised(Exception):
    """A guard that did not hold: the exception class CPython would raise, and its message."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.message = message


class InterpreterError(Exception):
    """The IR did something no valid IR does: poison read, index out of range, wrong kind of value."""


NO_VALUE = "no value"  # why the op ``poison`` gives none

# How many operands these look at; what they carry on may be poison. All others look at every operand.
_LOOKED_AT = {"for": 3, "while": 0, "if": 1, "yield": 0, "return": 0, "call": 0, "push": 0}


@dataclass(frozen=True, slots=True)
class Poison:
    """No value, and why: an op moved ahead of the check that makes it legal gives one, and nothing may look at it."""

    reason: str


@dataclass(slots=True)
class Trace:
    """What a run did: executions per op name, and the highest number of values on the tape."""

    ops: Counter[str] = field(default_factory=Counter)
    tape_peak: int = 0


def run(module: Module, name: str, args: Sequence[Any], trace: Trace | None = None) -> list[Any]:
    """Call function ``name``; arrays are passed by reference, results come back as Python scalars and arrays."""
    machine = Machine(module, trace or Trace())
    with np.errstate(all="ignore"):
        results = machine.call(module.functions[name], list(args))
    for r in results:
        if isinstance(r, Poison):
            raise InterpreterError(f"returns poison: {r.reason}")
    if machine.tape:
        raise InterpreterError(f"{len(machine.tape)} records left on the tape")
    return results


def canonical(value: Any, type: Type) -> Any:
    """A value as the machine has values of its type: a Python scalar, or an array of the right dtype and rank."""
    if type is F64:
        return float(value)
    match type:
        case Array():
            array = np.asarray(value)
            if array.dtype != DTYPES[type.dtype.name] or array.ndim != type.rank:
                raise InterpreterError(f"an array of {array.dtype}, rank {array.ndim}, is no {type}")
            return array
        case Scalar(name="f64"):
            return float(value)
        case Scalar(name="i64"):
            return int(value)
        case Scalar(name="bool"):
            return bool(value)
        case _:
            return value


def _unset(dtype: Any) -> float | int:
    """What an element of fresh memory holds: what is read before it is set shows where it can."""
    return np.nan if dtype in (np.float64, np.float32) else 0


class Machine:
    """Executes functions of one module. Memory for arrays comes through ``fresh``, so that others may say where it lies."""

    def __init__(self, module: Module, trace: Trace) -> None:
        self.module = module
        self.trace = trace
        self.tape: list[list[Any]] = []

    def call(self, function: Function, args: list[Any]) -> list[Any]:
        env: dict[Value, Any] = {p: canonical(a, p.type) for p, a in zip(function.params, args, strict=True)}
        return self.region(function.body, env)

    def region(self, region: Region, env: dict[Value, Any]) -> list[Any]:
        """Execute the ops; the terminator's operands are the outcome."""
        for op in region.ops:
            if op.name in ("yield", "return"):
                return [env[v] for v in op.operands]
            self.trace.ops[op.name] += 1
            results = self.op(op, env)
            for value, result in zip(op.results, results, strict=True):
                env[value] = result
        raise InterpreterError("a region without terminator")

    def op(self, op: Op, env: dict[Value, Any]) -> list[Any]:
        args = [env[v] for v in op.operands]
        row = REGISTRY[op.name]
        missing: list[Poison] = []
        if Poison in map(type, args) and op.name != "select":
            missing = [a for a in args[: _LOOKED_AT.get(op.name)] if isinstance(a, Poison)]
        if op.name == "store" and missing == [Poison(NO_VALUE)] and isinstance(args[-1], Poison):
            # kept for the reverse sweep, which looks at it only where there was a value; a size makes an empty array
            unset = 0 if args[0].dtype == np.int64 else _unset(args[0].dtype)
            return self.op_store(op, [*args[:-1], unset], env)
        if op.name == "alloc" and all(a == Poison(NO_VALUE) for a in missing):
            args, missing = [0 if isinstance(a, Poison) else a for a in args], []
        if missing:
            if row.effect is not Effect.PURE:
                raise InterpreterError(f"{op.name} reads poison: {missing[0].reason}")
            return [missing[0] for _ in op.results]
        if row.evaluate is not None:
            if op.name == "select":
                taken = args[0] if isinstance(args[0], Poison) else args[1 if args[0] else 2]
                if isinstance(taken, Poison):
                    return [taken]
            return [canonical(row.evaluate(op.attrs, *args), op.result.type)]
        handler = getattr(self, "op_" + op.name)
        results: list[Any] = handler(op, args, env)
        return results

    # --- values
    def op_const(self, op: Op, args: list[Any], env: dict[Value, Any]) -> list[Any]:
        return [canonical(op.attrs["value"], op.result.type)]

    def op_poison(self, op: Op, args: list[Any], env: dict[Value, Any]) -> list[Any]:
        """An array that no arm made is an empty one: so are its shadows, and what is copied between them is nothing."""
        type = op.result.type
        if isinstance(type, Array):
            return [np.empty((0,) * type.rank, DTYPES[type.dtype.name])]
        return [Poison(NO_VALUE)]

    def op_constarray(self, op: Op, args: list[Any], env: dict[Value, Any]) -> list[Any]:
        return [self.module.constants[op.attrs["name"]]]

    # --- arrays
    def op_dim(self, op: Op, args: list[Any], env: dict[Value, Any]) -> list[Any]:
        return [args[0].shape[op.attrs["axis"]]]

    def op_alloc(self, op: Op, args: list[Any], env: dict[Value, Any]) -> list[Any]:
        array = self.fresh(op.result, tuple(args), env)
        if op.attrs["fill"] is not None:
            array.fill(op.attrs["fill"])
        return [array]

    def fresh(self, value: Value, shape: tuple[int, ...], env: dict[Value, Any]) -> Any:
        """Memory for the array ``value``; what is read before it is set shows."""
        assert isinstance(value.type, Array)
        dtype = DTYPES[value.type.dtype.name]
        return np.full(shape, _unset(dtype), dtype=dtype)

    def _index(self, array: Any, index: Sequence[int]) -> tuple[int, ...]:
        for i, n in zip(index, array.shape, strict=True):
            if not 0 <= i < n:
                raise InterpreterError(f"index {i} outside an axis of {n}")
        return tuple(index)

    def op_load(self, op: Op, args: list[Any], env: dict[Value, Any]) -> list[Any]:
        return [canonical(args[0][self._index(args[0], args[1:])], op.result.type)]

    def op_store(self, op: Op, args: list[Any], env: dict[Value, Any]) -> list[Any]:
        args[0][self._index(args[0], args[1:-1])] = args[-1]
        return []

    def op_accum(self, op: Op, args: list[Any], env: dict[Value, Any]) -> list[Any]:
        args[0][self._index(args[0], args[1:-1])] += args[-1]
        return []

    def op_assign(self, op: Op, args: list[Any], env: dict[Value, Any]) -> list[Any]:
        target, source = args
        if target.shape != source.shape:
            raise InterpreterError(f"assign of shape {source.shape} to {target.shape}")
        value = source.copy()
        target[...] = value if op.attrs["mode"] == "set" else target + value
        return []

    def op_slice(self, op: Op, args: list[Any], env: dict[Value, Any]) -> list[Any]:
        array, numbers = args[0], args[1:]
        view, shape, strides, key = array, [], [], []
        for axis in range(array.ndim):
            start, size, step = numbers[3 * axis : 3 * axis + 3]
            if size < 0 or (
                size > 0 and not (0 <= start < array.shape[axis] and 0 <= start + (size - 1) * step < array.shape[axis])
            ):
                return [Poison(f"slice {start}, {size}, {step} outside an axis of {array.shape[axis]}")]
            key.append(slice(start if size else 0, None))
            shape.append(size)
            strides.append(array.strides[axis] * step)
        view = array[tuple(key)]
        return [as_strided(view, tuple(shape), tuple(strides))]

    def op_broadcast(self, op: Op, args: list[Any], env: dict[Value, Any]) -> list[Any]:
        array, shape = args[0], tuple(args[1:])
        for have, want in zip(reversed(array.shape), reversed(shape), strict=False):
            if have not in (1, want):
                return [Poison(f"broadcast of {array.shape} to {shape}")]
        added = len(shape) - array.ndim
        strides = [0] * added + [
            0 if have == 1 else stride for have, stride in zip(array.shape, array.strides, strict=True)
        ]
        return [as_strided(array, shape, strides)]

    def op_index(self, op: Op, args: list[Any], env: dict[Value, Any]) -> list[Any]:
        array, i = args
        axis = op.attrs["axis"]
        if not 0 <= i < array.shape[axis]:
            return [Poison(f"index {i} outside an axis of {array.shape[axis]}")]
        return [array[(slice(None),) * axis + (i,)]]

    def op_permute(self, op: Op, args: list[Any], env: dict[Value, Any]) -> list[Any]:
        return [args[0].transpose(op.attrs["axes"])]

    def op_diagonal(self, op: Op, args: list[Any], env: dict[Value, Any]) -> list[Any]:
        (array,) = args
        *lead, n, m = array.shape
        if n != m:
            return [Poison(f"diagonal of {array.shape}")]
        *strides, down, right = array.strides
        return [as_strided(array, (*lead, n), (*strides, down + right))]

    def op_reshape(self, op: Op, args: list[Any], env: dict[Value, Any]) -> list[Any]:
        array, shape = args[0], tuple(args[1:])
        if not array.flags.c_contiguous or array.size != int(np.prod(shape)):
            return [Poison(f"reshape of {array.shape} to {shape}")]
        return [array.reshape(shape)]

    # --- control
    def op_for(self, op: Op, args: list[Any], env: dict[Value, Any]) -> list[Any]:
        lo, hi, step, *carried = args
        exits, count = op.attrs.get("exits", False), 0
        (region,) = op.regions
        if step == 0:
            raise InterpreterError("for with step 0")
        for i in range(lo, hi, step):
            env.update(zip(region.params, [i, *carried], strict=True))
            carried = self.region(region, env)
            count += 1
            if exits:
                go_on, *carried = carried
                if not go_on:
                    break
        return [*carried, count] if exits else carried

    def op_while(self, op: Op, args: list[Any], env: dict[Value, Any]) -> list[Any]:
        carried, count, go_on = args, 0, True
        (region,) = op.regions
        while go_on:
            env.update(zip(region.params, carried, strict=True))
            go_on, *carried = self.region(region, env)
            count += 1
        return [*carried, count]

    def op_if(self, op: Op, args: list[Any], env: dict[Value, Any]) -> list[Any]:
        return self.region(op.regions[0 if args[0] else 1], env)

    def op_map(self, op: Op, args: list[Any], env: dict[Value, Any]) -> list[Any]:
        rank, kinds = op.attrs["rank"], op.attrs["kinds"]
        box, arrays = tuple(args[:rank]), args[rank:]
        for array in arrays:
            if array.shape != box:
                raise InterpreterError(f"map over {box} of an array of shape {array.shape}")
        results: list[Any] = []
        for kind, value in zip(kinds, op.results, strict=True):
            if isinstance(value.type, Array):
                results.append(self.fresh(value, box, env))
            else:
                start = _START[kind]
                results.append(int(start) if value.type == I64 and np.isfinite(start) else start)
        (region,) = op.regions
        for index in np.ndindex(*box):
            elements = [canonical(a[index], p.type) for a, p in zip(arrays, region.params[rank:], strict=True)]
            env.update(zip(region.params, [*map(int, index), *elements], strict=True))
            for k, (kind, value) in enumerate(zip(kinds, self.region(region, env), strict=True)):
                if kind == "elem":
                    results[k][index] = value
                else:
                    results[k] = _reduce(kind, results[k], value)
        return results

    def op_matmul(self, op: Op, args: list[Any], env: dict[Value, Any]) -> list[Any]:
        rows, columns, a, b = args
        if (rows, columns) != (a.shape[0], b.shape[1]) or a.shape[1] != b.shape[0]:
            raise InterpreterError(f"matmul of {a.shape} and {b.shape} to {rows} rows and {columns} columns")
        result = self.fresh(op.result, (rows, columns), env)
        zeros = op.attrs["zeros"]
        if not zeros or (np.isfinite(a).all() and np.isfinite(b).all()):
            result[...] = a @ b
            return [result]
        for i, j in np.ndindex(rows, columns):
            terms = zip(a[i], b[:, j], strict=True)
            kept = [x * y for x, y in terms if not ((x == 0.0 and "a" in zeros) or (y == 0.0 and "b" in zeros))]
            result[i, j] = sum(kept, 0.0)
        return [result]

    def op_call(self, op: Op, args: list[Any], env: dict[Value, Any]) -> list[Any]:
        return self.call(self.module.functions[op.attrs["callee"]], args)

    def op_guard(self, op: Op, args: list[Any], env: dict[Value, Any]) -> list[Any]:
        if not args[0]:
            self.tape.clear()
            raise Raised(op.attrs["error"], op.attrs["message"])
        return []

    def op_push(self, op: Op, args: list[Any], env: dict[Value, Any]) -> list[Any]:
        self.tape.append([a.copy() if isinstance(a, np.ndarray) else a for a in args])
        self.trace.tape_peak = max(self.trace.tape_peak, len(self.tape))
        return []

    def op_pop(self, op: Op, args: list[Any], env: dict[Value, Any]) -> list[Any]:
        return self.tape.pop()


def _reduce(kind: str, so_far: Any, value: Any) -> Any:
    match kind:
        case "add":
            return so_far + value
        case "mul":
            return so_far * value
        case "max":
            return so_far if so_far >= value or so_far != so_far else value
        case "min":
            return so_far if so_far <= value or so_far != so_far else value
    raise InterpreterError(f"no reduction {kind!r}")
