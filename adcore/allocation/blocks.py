"""Blocks of memory as compiled code has them: what is asked of the allocator when, and how far each block is written.

The laws stand here once more, apart from the code that is generated: a block in a loop is replaced by one of at least twice its
capacity when it is too small; the tape's chunks double, a chunk that was left stays as a spare, a record never straddles two.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adcore.allocation.sites import Site

PATTERN = 0xA7  # what a block holds before anything is written: no small number's first or last byte
FIRST_CHUNK = 4096
CHUNK_HEAD = 32


@dataclass(slots=True, eq=False)
class Block:
    """``bytes`` as asked for; ``claimed``: by the largest array that was in it; ``whole``: all arrays in it are written to their
    last byte when they are made; ``touched``: up to where it was written, known when it is freed."""

    site: Site
    bytes: int
    memory: Any
    claimed: int = 0
    whole: bool = True
    touched: int = 0

    @property
    def start(self) -> int:
        return int(self.memory.ctypes.data)


@dataclass(slots=True)
class Heap:
    """``made``: every block in order of allocation; ``events``: the same with the frees, as (block, True) and (block, False)."""

    made: list[Block] = field(default_factory=list)
    events: list[tuple[Block, bool]] = field(default_factory=list)

    def allocate(self, site: Site, bytes: int) -> Block:
        """A block is never empty."""
        block = Block(site, bytes, np.full(max(bytes, 1), PATTERN, np.uint8))
        self.made.append(block)
        self.events.append((block, True))
        return block

    def free(self, block: Block | None) -> None:
        if block is not None:
            written = np.flatnonzero(block.memory != PATTERN)
            block.touched = max(block.touched, int(written[-1]) + 1 if len(written) else 0)
            self.events.append((block, False))


@dataclass(slots=True)
class Slot:
    """A block of the frame, reused in a loop while ``capacity`` suffices."""

    block: Block | None = None
    capacity: int = 0

    def room(self, heap: Heap, site: Site, bytes: int) -> Block | None:
        """The block for an array of so many bytes; None for none, where nothing was needed yet."""
        if not site.in_loop:
            self.block = heap.allocate(site, bytes)
        elif self.capacity < bytes:
            heap.free(self.block)
            self.capacity = max(bytes, 2 * self.capacity)
            self.block = heap.allocate(site, self.capacity)
        return self.block

    def in_use(self, addresses: list[int]) -> bool:
        if self.block is None or not self.capacity:
            return False
        return any(0 <= a - self.block.start < self.capacity for a in addresses)


@dataclass(slots=True)
class Chunk:
    block: Block
    saved: int = 0  # where the previous chunk was left


@dataclass(slots=True)
class Arena:
    """The tape: a chain of chunks, ``at`` the current one, ``cur`` the first free byte in it."""

    heap: Heap
    chunks: list[Chunk] = field(default_factory=list)
    at: int = -1
    cur: int = 0

    def push(self, site: Site, bytes: int) -> None:
        if self.at < 0 or self.chunks[self.at].block.bytes - self.cur < bytes:
            self.grow(site, bytes)
        self.cur += bytes
        block = self.chunks[self.at].block
        block.touched = block.claimed = max(block.touched, self.cur)

    def grow(self, site: Site, bytes: int) -> None:
        following = self.at + 1
        if following < len(self.chunks) and self.chunks[following].block.bytes - CHUNK_HEAD < bytes:
            for chunk in self.chunks[following:]:
                self.heap.free(chunk.block)
            del self.chunks[following:]
        if following == len(self.chunks):
            want = 2 * self.chunks[self.at].block.bytes if self.at >= 0 else FIRST_CHUNK
            self.chunks.append(Chunk(self.heap.allocate(site, max(want, bytes + CHUNK_HEAD))))
        self.at, self.chunks[following].saved, self.cur = following, self.cur, CHUNK_HEAD

    def pop(self, bytes: int) -> None:
        while self.cur == CHUNK_HEAD:
            self.cur = self.chunks[self.at].saved
            self.at -= 1
        self.cur -= bytes

    def close(self) -> None:
        for chunk in self.chunks:
            chunk.block.touched = max(chunk.block.touched, CHUNK_HEAD)
            self.heap.free(chunk.block)
