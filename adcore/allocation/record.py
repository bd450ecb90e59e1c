"""Reads the allocation counter: what was allocated during a call, apart for conversion at entry, compiled code, and boxing of results.

The counter is a library that must be loaded before all others (``LD_PRELOAD``); ``attached`` says whether it is.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

ALLOCATED, FREED, ENTERED, LEFT, CHECKED, AWAY, BACK = 1, 2, 3, 4, 5, 6, 7  # kinds of events
KEPT = 1 << 16  # events that the counter keeps
BROKEN = -1  # how far a block was written whose canary is not whole


class NoCounter(Exception):
    """The counter is not loaded in this process."""


class TooMany(Exception):
    """There were more events than the counter keeps."""


@dataclass(slots=True)
class Measured:
    """One run of compiled code. ``bytes``: of each allocation in order; ``events``: (bytes, made) of allocations and frees of the
    blocks that it freed itself; ``handed``: address -> bytes of what it left to its caller; ``touched``: how far each block was
    written, in order of allocation (builds with canaries)."""

    bytes: list[int] = field(default_factory=list)
    events: list[tuple[int, bool]] = field(default_factory=list)
    handed: dict[int, int] = field(default_factory=dict)
    touched: list[tuple[int, int]] = field(default_factory=list)

    @property
    def peak(self) -> int:
        live = most = 0
        for bytes, made in self.events:
            live += bytes if made else -bytes
            most = max(most, live)
        return most


@dataclass(slots=True)
class Record:
    """``runs``: of compiled code, in order; ``apart``: bytes of the allocations before, between and after them (conversions, Python
    objects), and of those that BLAS makes for itself; ``kept``: address -> bytes of what compiled code allocated and nobody had freed when recording ended."""

    runs: list[Measured] = field(default_factory=list)
    apart: list[int] = field(default_factory=list)
    kept: dict[int, int] = field(default_factory=dict)


class Counter:
    def __init__(self) -> None:
        library = ctypes.CDLL(None)
        try:
            self.start, self.stop, events = (
                library.adcore_counter_start, library.adcore_counter_stop, library.adcore_counter_events,
            )  # fmt: skip
        except AttributeError:
            raise NoCounter("the allocation counter is not loaded (LD_PRELOAD)") from None
        self.stop.restype = ctypes.c_int64
        events.restype = ctypes.POINTER(ctypes.c_int64)
        self.events = events()

    @contextmanager
    def recording(self) -> Iterator[Record]:
        """Fills the record when the block ends. One thread at a time."""
        record = Record()
        self.start()
        try:
            yield record
        finally:
            count = self.stop()
            if count > KEPT:
                raise TooMany(f"{count} allocations and frees; the counter keeps {KEPT}")
            rows = [tuple(self.events[4 * k : 4 * k + 4]) for k in range(count)]
            _read(record, rows)


def attached() -> bool:
    try:
        Counter()
    except NoCounter:
        return False
    return True


def _read(record: Record, rows: list[tuple[int, ...]]) -> None:
    run: list[tuple[int, ...]] | None = None
    away = False  # in a library that compiled code calls
    for row in rows:
        kind, address, bytes, _ = row
        if kind == ENTERED:
            run = []
        elif kind == LEFT:
            assert run is not None
            record.runs.append(_run(run))
            record.kept.update(record.runs[-1].handed)
            run = None
        elif kind in (AWAY, BACK):
            away = kind == AWAY
        elif run is not None and not away:
            run.append(row)
        elif kind == ALLOCATED:
            record.apart.append(bytes)
        elif kind == FREED:
            record.kept.pop(address, None)


def _run(rows: list[tuple[int, ...]]) -> Measured:
    run, live, born = Measured(), {}, {}
    blocks: list[tuple[int, bool, int]] = []  # bytes, made, which allocation
    seen: dict[int, tuple[int, int]] = {}
    for kind, address, bytes, extra in rows:
        if kind == ALLOCATED:
            born[address] = len(run.bytes)
            live[address] = bytes
            blocks.append((bytes, True, born[address]))
            run.bytes.append(bytes)
        elif kind == FREED and address in live:
            blocks.append((live.pop(address), False, born[address]))
        elif kind == CHECKED:
            seen[born[address]] = (bytes, extra)
    run.handed = live
    left = {born[address] for address in live}
    run.events = [(bytes, made) for bytes, made, k in blocks if k not in left]
    run.bytes = [bytes for k, bytes in enumerate(run.bytes) if k not in left]
    run.touched = [seen[k] for k in sorted(seen)]
    return run
