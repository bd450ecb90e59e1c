"""The runner: many programs, everything compared, what was covered, the first mismatches as small reproducers.

``python -m fuzz --programs N --seed S [--compiled | --interpreted] [--processes 2]``; exits 1 on any mismatch.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from adcore.ir.opdef import REGISTRY
from fuzz.compare import Mismatch, Result, check
from fuzz.features import features
from fuzz.generate import Program, program
from fuzz.limit import CHECK_SECONDS, TimeLimit, at_most
from fuzz.shrink import shrink

SHOWN = 5  # mismatches that are shrunk and printed
CHUNK = 40  # programs that a process takes at a time
NEVER_DIFFERENTIATED = {"zzmul"}  # forward mode makes it, and is the last to differentiate
ENOUGH = 20  # gradient comparisons that every op should be active in


@dataclass(slots=True)
class Summary:
    programs: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    features: Counter[str] = field(default_factory=Counter)
    ops: Counter[str] = field(default_factory=Counter)
    active: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    values: int = 0
    slopes: int = 0
    duals: int = 0
    failures: list[tuple[Program, Mismatch]] = field(default_factory=list)

    def add(self, made: Program, result: Result) -> None:
        self.programs += 1
        if result.rejected is not None:
            self.rejected[result.rejected[:110]] += 1
        else:
            self.features.update(features(made.text))
        self.ops.update(set(result.ops))
        self.active.update(result.active)
        self.errors.update(result.errors)
        self.values += result.values
        self.slopes += result.slopes
        self.duals += result.duals
        if result.mismatches:
            self.failures.append((made, result.mismatches[0]))


def options(seed: int) -> dict[str, bool]:
    """What is done to the program of a seed beyond the usual: second order, calls left as calls, the verifier after every pass."""
    return {"second": seed % 5 == 0, "apart": seed % 4 == 1, "verify": seed % 7 == 0}


def interpreted(seeds: Sequence[int]) -> Iterator[tuple[Program, Result]]:
    for seed in seeds:
        made = program(seed)
        try:
            with at_most(CHECK_SECONDS):
                result = check(made, **options(seed))
        except TimeLimit:
            result = Result([Mismatch("hang", f"not done after {CHECK_SECONDS:.0f} s")])
        yield made, result


def compiled(seeds: Sequence[int]) -> Iterator[tuple[Program, Result]]:
    from fuzz.compiled import checked  # needs LLVM

    return checked(seeds)


def spread(
    check: Callable[[Sequence[int]], Iterator[tuple[Program, Result]]], seeds: range, processes: int
) -> Iterator[tuple[Program, Result]]:
    """The checks of all seeds, in several processes."""
    if processes <= 1 or len(seeds) <= CHUNK:
        yield from check(seeds)
        return
    chunks = [seeds[first : first + CHUNK] for first in range(0, len(seeds), CHUNK)]
    with multiprocessing.get_context("spawn").Pool(processes, collect_rarely) as pool:
        for done in pool.imap(_Listed(check), chunks):
            yield from done


@dataclass(frozen=True, slots=True)
class _Listed:
    check: Callable[[Sequence[int]], Iterator[tuple[Program, Result]]]

    def __call__(self, seeds: Sequence[int]) -> list[tuple[Program, Result]]:
        return list(self.check(seeds))


def collect_rarely() -> None:
    """IR is cyclic, large and short-lived: the collector would look at it again and again while it is in use."""
    gc.freeze()
    gc.set_threshold(200_000, 20, 20)


def reproducer(made: Program, seconds: float = 60.0) -> str:
    """The shrunk program with what is wrong with it."""

    def fails(p: Program) -> Mismatch | None:
        found = check(p, **options(made.seed)).mismatches
        return found[0] if found else None

    small = shrink(made, fails, seconds)
    found = fails(small)
    body = small.text.partition("Vector\n")[2].strip() or small.text
    calls = "\n".join(f"f{c!r}" for c in small.calls)
    return f"--- seed {made.seed}: {found.kind if found else '?'}: {found.detail if found else ''}\n{body}\n{calls}\n"


def report(summary: Summary) -> None:
    def table(title: str, counts: Counter[str]) -> None:
        print(f"\n{title}")
        for name, count in sorted(counts.items(), key=lambda row: (-row[1], row[0])):
            print(f"  {count:7d}  {name}")

    table("Programs that use a feature", summary.features)
    table("Programs that execute an op", summary.ops)
    table("Gradient comparisons in which an op is active", summary.active)
    asked = {n for n, row in REGISTRY.items() if row.has_derivative} - NEVER_DIFFERENTIATED
    rare = sorted(n for n in asked if summary.active[n] < ENOUGH)
    print(f"  active in fewer than {ENOUGH}: {', '.join(rare) or 'none'}")
    table("Exceptions compared", summary.errors)
    table("Rejected by the front end", summary.rejected)
    share = 100 * sum(summary.rejected.values()) / max(summary.programs, 1)
    print(f"\n{summary.programs} programs, {share:.1f} % rejected; {summary.values} values, {summary.duals} reverse against forward, "
          f"{summary.slopes} gradients against differences; {len(summary.failures)} programs with mismatches")  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="of the first program")
    parser.add_argument("--compiled", action="store_true", help="through machine code instead of the interpreter")
    parser.add_argument("--interpreted", action="store_true", help="through the interpreter (the default)")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--quiet", action="store_true", help="the totals and mismatches alone")
    chosen = parser.parse_args(arguments)
    seeds = range(chosen.seed, chosen.seed + chosen.programs)
    start = time.monotonic()
    collect_rarely()
    summary = Summary()
    for made, result in spread(compiled if chosen.compiled else interpreted, seeds, chosen.processes):
        summary.add(made, result)
        if result.mismatches:
            print(
                f"seed {made.seed}: {result.mismatches[0].kind}: {result.mismatches[0].detail}",
                file=sys.stderr,
                flush=True,
            )
        if summary.programs % 1000 == 0:
            seconds = time.monotonic() - start
            print(
                f"{summary.programs} programs, {len(summary.failures)} with mismatches, {seconds:.0f} s",
                file=sys.stderr,
            )
    if chosen.quiet:
        print(f"{summary.programs} programs, {len(summary.failures)} with mismatches")
    else:
        report(summary)
    for made, mismatch in summary.failures[:SHOWN]:
        print(f"\nseed {made.seed}: {mismatch.kind}: {mismatch.detail}")
        if not chosen.compiled:
            print(reproducer(made))
    print(f"{time.monotonic() - start:.0f} s")
    return 1 if summary.failures else 0


if __name__ == "__main__":
    sys.exit(main())
