"""One call: what was predicted beside what the counter saw."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import numpy as np

from adcore.allocation.calls import predict_call
from adcore.allocation.predict import FalseStatement, Prediction
from adcore.allocation.record import Counter, Record
from adcore.codegen.checking import Checking
from adcore.ir.interp import InterpreterError
from adcore.ir.signature import Entry
from counted.build import Built

MOST_SECONDS = 20  # of one run of the interpreter, of the processor's time


class TooLong(Exception):
    pass


@dataclass(slots=True)
class Tally:
    calls: int = 0
    errors: int = 0  # calls that raised, as predicted
    blocks: int = 0
    bytes: int = 0
    canaries: int = 0  # blocks whose canary was looked at
    full: int = 0  # of those, written to the last byte claimed
    slow: int = 0
    functions: set[str] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        for name in ("calls", "errors", "blocks", "bytes", "canaries", "full", "slow"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.functions |= other.functions
        self.wrong += other.wrong

    def __str__(self) -> str:
        return (
            f"{len(self.functions)} functions, {self.calls} calls ({self.errors} that raise), {self.blocks} blocks of {self.bytes} bytes predicted "
            f"and measured, {self.canaries} canaries, {self.full} blocks written to the last byte; {self.slow} too slow; {len(self.wrong)} differences"
        )


def check(counter: Counter, built: Built, entry: Entry, member: str, args: Sequence[Any], tally: Tally) -> None:
    """Both checking builds, twice each: used memory must not matter."""
    label = f"{entry.name}.{member}{_shapes(args)}"
    tally.functions.add(entry.name)
    for checking in built.extensions:
        try:
            with _at_most(MOST_SECONDS):
                said = _predicted(built, checking, entry, member, args)
        except (FalseStatement, InterpreterError) as false:
            tally.wrong.append(f"{label}: {type(false).__name__}: {false}")
            return
        except TooLong:
            tally.slow += 1
            return
        call = built.member(entry, member, checking)
        for _ in range(2):
            with counter.recording() as record:
                value, error = _called(call, args)
            wrong = list(differences(said, record, entry, member, value, error, checking))
            tally.wrong += [f"{label} ({checking.value}): {w}" for w in wrong]
            if wrong:
                return
        tally.blocks += len(said.blocks) if checking is Checking.COUNT else 0
        tally.bytes += sum(b.bytes for b in said.blocks) if checking is Checking.COUNT else 0
        if checking is Checking.CANARIES:
            tally.canaries += len(said.blocks)
            tally.full += sum(b.touched == b.bytes for b in said.blocks)
    tally.calls += 1
    tally.errors += said.error is not None


_known: list[Any] = []  # of the last call: `grad` and `value_and_grad` share a kernel


def _predicted(built: Built, checking: Checking, entry: Entry, member: str, args: Sequence[Any]) -> Prediction:
    key = (checking, entry, "value_and_grad" if member == "grad" else member, args)
    for known, said in _known:
        if all(a is b for a, b in zip(known, key, strict=True)):
            return said  # type: ignore[no-any-return]
    said = predict_call(built.predictors[checking], entry, member, args)
    _known[:] = [*_known[-1:], (key, said)]
    return said


def differences(
    said: Prediction, record: Record, entry: Entry, member: str, value: Any, error: str | None, checking: Checking
) -> Iterator[str]:
    """What is not as predicted, in words."""
    if error != said.error:
        yield f"raises {error}, predicted {said.error}"
        return
    if len(record.runs) != 1:
        yield f"compiled code ran {len(record.runs)} times"
        return
    (run,) = record.runs
    if checking is Checking.COUNT:
        predicted = [max(b.bytes, 1) for b in said.blocks]
        if run.bytes != predicted:
            yield f"measured {_short(run.bytes)}, predicted {_short(predicted)} of {_sites(said)}"
        events = [(max(b.bytes, 1), made) for b, made in said.events]
        if run.events != events:
            yield f"allocations and frees {_short(run.events)}, predicted {_short(events)}"
        elif run.peak != said.peak:
            yield f"peak {run.peak}, predicted {said.peak}"
    else:
        written = [(max(b.bytes, 1), b.touched) for b in said.blocks]
        if run.touched != written:
            yield f"written {_short(run.touched)}, predicted {_short(written)} of {_sites(said)}"
        both = zip(said.blocks, run.touched, strict=False)
        short = [(b.claimed, touched) for b, (_, touched) in both if b.whole and error is None and b.claimed != touched]
        if short:
            yield f"claimed and written: {_short(short)} of {_sites(said)}"
    if error is None:
        count = len(entry.wrt) if member in ("grad", "value_and_grad", "vjp", "hvp") else 0
        first_given = len(said.results) - count
        handed = sorted(bytes for k, bytes in said.returned if k < first_given)
        if sorted(run.handed.values()) != handed:
            yield f"handed out {sorted(run.handed.values())}, predicted {handed}"
    owned = {a.ctypes.data for a in _arrays(value)}
    lost = [bytes for address, bytes in record.kept.items() if address not in owned]
    if lost:
        yield f"never freed: {lost}"


def _called(call: Any, args: Sequence[Any]) -> tuple[Any, str | None]:
    mine = [_copied(a) for a in args]
    try:
        return call(*mine), None
    except Exception as raised:
        return None, type(raised).__name__


def _copied(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_copied, value))
    return value.copy() if isinstance(value, np.ndarray) else value


def _arrays(value: Any) -> list[Any]:
    if isinstance(value, tuple):
        return [a for item in value for a in _arrays(item)]
    return [value] if isinstance(value, np.ndarray) else []


def _short(items: Sequence[Any]) -> str:
    shown = ", ".join(map(str, items[:12]))
    return f"[{shown}{', ...' if len(items) > 12 else ''}] ({len(items)})"


def _sites(said: Prediction) -> str:
    return "; ".join(dict.fromkeys(str(b.site) for b in said.blocks))[:600]


def _shapes(args: Sequence[Any]) -> str:
    def one(a: Any) -> str:
        if isinstance(a, tuple):
            return f"({', '.join(map(one, a))})"
        return str(a.shape) if isinstance(a, np.ndarray) else repr(a)

    return f"({', '.join(map(one, args))})"


class _at_most:
    def __init__(self, seconds: int) -> None:
        self.seconds = seconds

    def __enter__(self) -> None:
        def late(number: int, frame: FrameType | None) -> None:
            raise TooLong

        self.before = signal.signal(signal.SIGPROF, late)  # processor time: the machine may be busy
        signal.setitimer(signal.ITIMER_PROF, self.seconds)

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, self.before)
