"""Faults that the guard must find: ``python -m counted.faults NAME`` puts one in, compares, and says what was found.

Half of them change the compiler and leave the prediction alone, the others the reverse.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import adcore.codegen.memory
import adcore.codegen.module
from adcore.allocation import blocks, predict
from adcore.allocation.record import Counter, attached
from adcore.codegen.checking import Checking
from adcore.codegen.context import Context
from buildplug.counter import preloaded, write_counter
from counted.build import from_texts
from counted.compare import Tally, check
from counted.corpora import GROWN, arguments, members

HEAD = "define internal void @rt.finish(ptr %ctx) #0 {\nentry:\n"
ASK = "  %more.fn = load ptr, ptr @adcore_malloc\n  %more = call ptr %more.fn(i64 100)\n"
FREE = "  %less.fn = load ptr, ptr @adcore_free\n  call void %less.fn(ptr %more)\n"


def _in_runtime(lines: str) -> None:
    assert HEAD in adcore.codegen.module.RUNTIME
    adcore.codegen.module.RUNTIME = adcore.codegen.module.RUNTIME.replace(HEAD, HEAD + lines)


def _sized(change: Callable[[Context, str], str]) -> None:
    plain = adcore.codegen.memory.byte_size

    def byte_size(c: Context, dims: Any, dtype: Any) -> str:
        return change(c, plain(c, dims, dtype))

    adcore.codegen.memory.byte_size = byte_size


def hidden() -> None:
    """An allocation that no ledger has."""
    _in_runtime(ASK + FREE)


def leak() -> None:
    """A block that is not given back."""
    _in_runtime(ASK)


def larger() -> None:
    _sized(lambda c, bytes: c.w.add(bytes, "8"))


def smaller() -> None:
    """Less is asked for than is written: the count shows it, and the canary."""
    _sized(lambda c, bytes: c.w.value(f"call i64 @llvm.umax.i64(i64 8, i64 {c.w.add(bytes, '-8')})"))


def claim() -> None:
    """Compiler and prediction agree on 8 bytes too many, which nobody writes."""
    larger()
    plain = predict._Machine.memory

    def memory(self: Any, site: Any, bytes: int, env: Any) -> Any:
        return plain(self, site, bytes + 8, env)

    predict._Machine.memory = memory  # type: ignore[method-assign]


def law() -> None:
    """The prediction does not know that a block that is too small is replaced by one of twice its capacity."""

    def room(self: blocks.Slot, heap: blocks.Heap, site: Any, bytes: int) -> blocks.Block | None:
        if not site.in_loop:
            self.block = heap.allocate(site, bytes)
        elif self.capacity < bytes:
            heap.free(self.block)
            self.capacity = bytes
            self.block = heap.allocate(site, bytes)
        return self.block

    blocks.Slot.room = room  # type: ignore[method-assign]


def chunk() -> None:
    """The prediction has another first chunk of the tape."""
    blocks.FIRST_CHUNK = 8192


# fault -> how to put it in, what the difference must say
FAULTS: dict[str, tuple[Callable[[], None], str]] = {
    "none": (lambda: None, ""),
    "hidden": (hidden, "measured ["),
    "leak": (leak, "never freed: [100]"),
    "larger": (larger, "measured ["),
    "claim": (claim, "claimed and written"),
    "smaller": (smaller, ", -1)"),
    "law": (law, "measured ["),
    "chunk": (chunk, "measured ["),
}


def main() -> int:
    name = sys.argv[1]
    if not attached():
        library = write_counter(Path(tempfile.mkdtemp(prefix="adcore-counter-")))
        os.execve(sys.executable, [sys.executable, "-m", "counted.faults", name], preloaded(library, os.environ))
    put_in, words = FAULTS[name]
    put_in()
    built, tally = from_texts({"faults": GROWN}), Tally()
    if name in ("smaller", "claim"):  # what the count says of sizes is known from "larger"
        del built.extensions[Checking.COUNT]
    counter = Counter()
    for entry in built.entries:
        for size in (3, 40):
            for one, member, args in members(entry, arguments(entry, size)):
                check(counter, built, one, member, args, tally)
    found = [line for line in tally.wrong if words in line]
    if name == "none":
        print(f"found none: {tally}, {tally.wrong[:3]}" if not tally.wrong else tally.wrong[0])
        return len(tally.wrong) > 0
    print(f"found {name}: {found[0]}" if found else f"{name} was not found: {tally}, {tally.wrong[:3]}")
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
