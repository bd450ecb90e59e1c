"""The runner: ``python -m counted [CORPUS...] [--fuzz N] [--seed S]``; a row per corpus, every difference; exits 1 on any."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from adcore.allocation.record import Counter, attached
from adcore.codegen.checking import Checking
from buildplug.counter import preloaded, write_counter
from counted.build import WAYS
from counted.compare import Tally, check
from counted.corpora import CORPORA, fuzz

SHOWN = 10


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m counted", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("corpora", nargs="*", choices=[*CORPORA, []], help="default: all")
    parser.add_argument("--fuzz", type=int, default=0, metavar="N", help="random programs")
    parser.add_argument("--seed", type=int, default=1, help="of the first random program")
    parser.add_argument("--no-canaries", action="store_true", help="count only, which takes half the time")
    chosen = parser.parse_args(arguments)
    if chosen.no_canaries:
        WAYS.remove(Checking.CANARIES)
    if not attached():
        _again_with_counter()
    counter = Counter()
    names = chosen.corpora or ([] if chosen.fuzz else list(CORPORA))
    wrong = 0
    for name in [*names, *(["random programs"] if chosen.fuzz else [])]:
        start, tally = time.monotonic(), Tally()
        found = fuzz(chosen.fuzz, chosen.seed) if name == "random programs" else CORPORA[name]()
        for built, calls in found:
            for entry, member, args in calls:
                check(counter, built, entry, member, args, tally)
        print(f"{name}: {tally}; {time.monotonic() - start:.0f} s", flush=True)
        for line in tally.wrong[:SHOWN]:
            print(f"  {line}")
        wrong += len(tally.wrong)
    return 1 if wrong else 0


def _again_with_counter() -> None:
    """This process once more, with the counter below its ``malloc``."""
    folder = Path(tempfile.mkdtemp(prefix="adcore-counter-"))
    environment = preloaded(write_counter(folder), os.environ)
    os.execve(sys.executable, [sys.executable, "-m", "counted", *sys.argv[1:]], environment)
