"""What compiled code will allocate for given arguments: the reference interpreter runs the same IR, the ledger's formulas give the sizes.

Each formula is held against what the interpreter does: the bytes of an array when it is made, the executions of a site when its
function returns. ``FalseStatement`` says which one is wrong.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adcore.allocation.blocks import PATTERN, Arena, Block, Heap, Slot
from adcore.allocation.sites import Ledger, Place, Site, ledgers
from adcore.ir.core import Function, Module, Op, Region, Value
from adcore.ir.flow import flow_of, summarise
from adcore.ir.formula import Formula, evaluate
from adcore.ir.interp import DTYPES, InterpreterError, Machine, Poison, Raised, Trace, canonical
from adcore.ir.types import Array, Scalar


class FalseStatement(Exception):
    """The ledger says something of a site that is not so."""


@dataclass(slots=True)
class Prediction:
    """``blocks``: in order of allocation; ``events``: with the frees; ``returned``: (result number, bytes) of the arrays handed out,
    whose memory is the caller's; ``error``: the exception that ended the run."""

    blocks: list[Block]
    events: list[tuple[Block, bool]]
    returned: list[tuple[int, int]]
    results: list[Any]
    error: str | None = None
    stated: Counter[Site] = field(default_factory=Counter)  # bytes that each site was to hold, over all its executions
    values: dict[Value, Any] = field(default_factory=dict)  # of the function called
    runs: Counter[Region] = field(default_factory=Counter)

    def evaluate(self, formula: Formula) -> int:
        """A formula over sizes, values and regions of the function called, after the call."""
        return evaluate(formula, _Known(self.values), self.runs)

    @property
    def peak(self) -> int:
        """The most bytes that are allocated at the same time."""
        live = most = 0
        for block, made in self.events:
            live += max(block.bytes, 1) if made else -max(block.bytes, 1)
            most = max(most, live)
        return most


class Predictor:
    """Of one module as code generation gets it. ``on_stack=False``: of a build with canaries, which has nothing on the stack."""

    def __init__(self, module: Module, *, on_stack: bool = True) -> None:
        flows = {name: flow_of(f) for name, f in module.functions.items()}
        self.module = module
        self.ledgers = ledgers(module, flows, summarise(module, flows), on_stack=on_stack)

    def run(self, name: str, args: Sequence[Any]) -> Prediction:
        """A call of kernel ``name``, whose written arguments are written. Raises ``FalseStatement``."""
        machine = _Machine(self.module, self.ledgers)
        results: list[Any] = []
        error = None
        with np.errstate(all="ignore"):
            try:
                results = machine.call(self.module.functions[name], list(args))
            except Raised as raised:
                error = raised.kind
        machine.arena.close()
        returned = sorted((k, max(block.bytes, 1)) for k, block in machine.handed.items())
        last = machine.last
        return Prediction(
            machine.heap.made, machine.heap.events, returned, results, error, machine.stated, last.env, last.runs
        )  # fmt: skip


@dataclass(slots=True)
class _Frame:
    function: Function
    ledger: Ledger
    slots: list[Slot]
    env: dict[Value, Any]
    results: dict[int, Block] = field(default_factory=dict)
    runs: Counter[Region] = field(default_factory=Counter)
    executed: Counter[Site] = field(default_factory=Counter)


class _Known(Mapping[Value, Any]):
    """The values of a frame; a size that no value reached is 0, as in compiled code."""

    def __init__(self, env: dict[Value, Any]) -> None:
        self.env = env

    def __getitem__(self, v: Value) -> Any:
        value = self.env[v]
        if isinstance(value, Poison):
            return 0
        return value

    def __iter__(self) -> Iterator[Value]:
        return iter(self.env)

    def __len__(self) -> int:
        return len(self.env)


class _Machine(Machine):
    def __init__(self, module: Module, ledgers: dict[str, Ledger]) -> None:
        super().__init__(module, Trace())
        self.ledgers = ledgers
        self.heap = Heap()
        self.arena = Arena(self.heap)
        self.frames: list[_Frame] = []
        self.last: _Frame
        self.stated: Counter[Site] = Counter()
        self.handed: dict[int, Block] = {}  # results of the function that returned last

    @property
    def frame(self) -> _Frame:
        return self.frames[-1]

    # --- frames
    def call(self, function: Function, args: list[Any]) -> list[Any]:
        ledger = self.ledgers[function.name]
        env = {p: canonical(a, p.type) for p, a in zip(function.params, args, strict=True)}
        frame = _Frame(function, ledger, [Slot() for _ in range(ledger.slots)], env)
        self.frames.append(frame)
        try:
            results = self.region(function.body, env)
            for k, site in ledger.returned.items():
                results[k] = self.copied(site, results[k], self.claimed(site, env))
            self.check_executions(frame, env)
            return results
        finally:
            self.last = self.frames.pop()
            for slot in frame.slots:
                self.heap.free(slot.block)
            self.handed = frame.results

    def region(self, region: Region, env: dict[Value, Any]) -> list[Any]:
        self.frame.runs[region] += 1
        return super().region(region, env)

    def check_executions(self, frame: _Frame, env: dict[Value, Any]) -> None:
        for site in frame.ledger:
            said = evaluate(site.executions, _Known(env), frame.runs)
            if said != frame.executed[site]:
                raise FalseStatement(f"{site}: {frame.executed[site]} executions, not {said}")

    # --- arrays
    def claimed(self, site: Site, env: dict[Value, Any]) -> int:
        self.frame.executed[site] += 1
        bytes = evaluate(site.bytes, _Known(env))
        self.stated[site] += bytes
        return bytes

    def fresh(self, value: Value, shape: tuple[int, ...], env: dict[Value, Any]) -> Any:
        site = self.frame.ledger.values[value]
        assert isinstance(value.type, Array)
        bytes, have = self.claimed(site, env), value.type.dtype.bytes * math.prod(shape)
        if bytes != have:
            raise FalseStatement(f"{site}: {have} bytes, not {bytes}")
        return _array(self.memory(site, bytes, env), value.type, shape)

    def memory(self, site: Site, bytes: int, env: dict[Value, Any]) -> Any:
        match site.place:
            case Place.STACK:
                return np.full(bytes, PATTERN, np.uint8)
            case Place.RESULT:
                return self.used(self.result(site, bytes), site, bytes)
        block = self.slot(site, env).room(self.heap, site, bytes)
        return np.empty(0, np.uint8) if block is None else self.used(block, site, bytes)

    def used(self, block: Block, site: Site, bytes: int) -> Any:
        block.claimed = max(block.claimed, bytes)
        block.whole = block.whole and site.whole
        return block.memory

    def slot(self, site: Site, env: dict[Value, Any]) -> Slot:
        """The first of the site's blocks that no carried value points into; the last is free where no other is."""
        mine = [self.frame.slots[k] for k in site.slots]
        addresses = [0 if isinstance(env[v], Poison) else int(env[v].ctypes.data) for v in site.carriers]
        return next((slot for slot in mine[:-1] if not slot.in_use(addresses)), mine[-1])

    def result(self, site: Site, bytes: int) -> Block:
        """A result of the outermost function is the caller's."""
        heap = self.heap if len(self.frames) > 1 else Heap()
        block = self.frame.results[site.result] = heap.allocate(site, bytes)
        return block

    def copied(self, site: Site, array: Any, bytes: int) -> Any:
        if bytes != array.nbytes:
            raise FalseStatement(f"{site}: {array.nbytes} bytes, not {bytes}")
        copy = _view(self.used(self.result(site, bytes), site, bytes), array.dtype, array.shape)
        copy[...] = array
        return copy

    def op_assign(self, op: Op, args: list[Any], env: dict[Value, Any]) -> list[Any]:
        site = self.frame.ledger.copies.get(op)
        if site is not None:
            source = args[1]
            memory = self.memory(site, self.claimed(site, env), env)
            _view(memory, source.dtype, source.shape)[...] = source
        return super().op_assign(op, args, env)

    # --- calls
    def op_call(self, op: Op, args: list[Any], env: dict[Value, Any]) -> list[Any]:
        try:
            results = super().op_call(op, args, env)
        except Raised:
            self.adopt(op, env)
            raise
        env.update(zip(op.results, results, strict=True))
        self.adopt(op, env)
        return results

    def adopt(self, op: Op, env: dict[Value, Any]) -> None:
        """The callee's results become blocks of this frame, also what it had made before it raised."""
        handed = self.handed
        for k, value in enumerate(op.results):
            site = self.frame.ledger.values.get(value)
            if site is None:
                continue
            slot = self.slot(site, env)
            if site.in_loop:
                self.heap.free(slot.block)
            slot.block = handed.get(k)
            slot.capacity = 0 if slot.block is None else slot.block.bytes
            if slot.block is not None and value in env and self.claimed(site, env) != slot.block.bytes:
                raise FalseStatement(f"{site}: {slot.block.bytes} bytes")

    # --- the tape
    def op_push(self, op: Op, args: list[Any], env: dict[Value, Any]) -> list[Any]:
        site = self.frame.ledger.records[op]
        bytes = self.claimed(site, env)
        if bytes != _record(op.operands, args):
            raise FalseStatement(f"{site}: {_record(op.operands, args)} bytes, not {bytes}")
        self.arena.push(site, bytes)
        return super().op_push(op, args, env)

    def op_pop(self, op: Op, args: list[Any], env: dict[Value, Any]) -> list[Any]:
        record = super().op_pop(op, args, env)
        self.arena.pop(_record(op.results, record))
        env.update(zip(op.results, record, strict=True))
        return [
            self.restored(v, one, env) if isinstance(v.type, Array) else one
            for v, one in zip(op.results, record, strict=True)
        ]

    def restored(self, value: Value, array: Any, env: dict[Value, Any]) -> Any:
        copy = self.fresh(value, array.shape, env)
        copy[...] = array
        return copy


def _record(values: Sequence[Value], record: Sequence[Any]) -> int:
    """Bytes of a record that holds these."""
    arrays = [(v.type, a) for v, a in zip(values, record, strict=True) if isinstance(v.type, Array)]
    scalars = sum(v.type.bytes for v in values if isinstance(v.type, Scalar))
    sizes = [8 * t.rank + a.nbytes for t, a in arrays]
    return scalars + (8 + sum(sizes) if arrays else 0)


def _array(memory: Any, type: Array, shape: tuple[int, ...]) -> Any:
    return _view(memory, np.dtype(DTYPES[type.dtype.name]), shape)


def _view(memory: Any, dtype: Any, shape: tuple[int, ...]) -> Any:
    bytes = dtype.itemsize * math.prod(shape)
    if bytes > len(memory):
        raise InterpreterError(f"{bytes} bytes in a block of {len(memory)}")
    return memory[:bytes].view(dtype).reshape(shape)
