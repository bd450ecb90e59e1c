"""How many injected faults the generator finds: each in a process of its own, whose import of one module is changed on the way in.

``python -m fuzz.mutants [--programs 2000] [--only TEXT] [--processes 2]``; exits 1 if more than one in 25 survives. A program that the unchanged
engine fails as well does not count.
"""

from __future__ import annotations

import argparse
import importlib.abc
import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from fuzz.mutant_table import MUTANTS, Mutant

FOUND, SURVIVED, STALE = 10, 11, 12  # exit statuses of the process of one mutant
SHARE = 0.96  # of the mutants that must be found


class _Changed(importlib.machinery.SourceFileLoader):
    """Compiles the module's text with the fault in it; never from or into a cache."""

    mutant: Mutant

    def get_code(self, fullname: str) -> CodeType:
        text = Path(self.path).read_text(encoding="utf-8")
        return compile(text.replace(self.mutant.old, self.mutant.new), self.path, "exec")


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        if fullname != self.mutant.module:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        assert spec is not None
        assert spec.origin is not None
        loader = _Changed(fullname, spec.origin)
        loader.mutant = self.mutant
        return importlib.util.spec_from_file_location(fullname, spec.origin, loader=loader)


def applies(mutant: Mutant) -> bool:
    """The text to change stands in the module exactly once. Nothing is imported: what is imported can no longer be changed."""
    spec = importlib.util.find_spec(mutant.module.partition(".")[0])
    assert spec is not None
    assert spec.origin is not None
    file = Path(spec.origin).parent.parent / (mutant.module.replace(".", "/") + ".py")
    return file.read_text(encoding="utf-8").count(mutant.old) == 1


def search(mutant: Mutant, seeds: Sequence[int], seconds: float) -> int | None:
    """In the process of the mutant: the first seed whose program shows it."""
    sys.meta_path.insert(0, _Finder(mutant))
    from fuzz.run import collect_rarely, interpreted  # imports the engine, changed

    collect_rarely()
    end = time.monotonic() + seconds
    for made, result in interpreted(seeds):
        if result.mismatches:
            return made.seed
        if time.monotonic() > end:
            return None
    return None


def sound(seed: int) -> bool:
    """The unchanged engine passes this program."""
    command = [sys.executable, "-m", "fuzz", "--programs", "1", "--seed", str(seed), "--quiet"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def hunt(name: str, programs: int, seconds: float, sane: dict[int, bool]) -> str:
    first, end = 0, time.monotonic() + seconds
    while first < programs and (left := end - time.monotonic()) > 0:
        command = [sys.executable, "-m", "fuzz.mutants", "--one", name, "--first", str(first), "--programs", str(programs), "--seconds", str(left)]  # fmt: skip
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=left + 60)
        except subprocess.TimeoutExpired:
            return "found: hangs"
        if done.returncode == STALE:
            return "STALE: its text is gone"
        if done.returncode == SURVIVED:
            break
        if done.returncode < 0:
            return f"STOPPED by signal {-done.returncode}"
        if done.returncode != FOUND:
            return "BROKEN: does not import"
        seed = int(done.stdout)
        if seed not in sane:
            sane[seed] = sound(seed)
        if sane[seed]:
            return f"found after {seed + 1}"
        first = seed + 1
    return "SURVIVED"


def importable(name: str) -> bool:
    """The module with the fault in it can be imported: a process apart says so."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            sys.meta_path.insert(0, _Finder(MUTANTS[name]))
            importlib.import_module(MUTANTS[name].module)
            status = 0
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1] == 0


def inspect(names: Sequence[str]) -> int:
    """Whether every fault still fits the engine; nothing is searched."""
    importlib.import_module("numpy")  # once for all; nothing of the engine
    wrong = [f"STALE: its text is gone      {n}" for n in names if not applies(MUTANTS[n])]
    wrong += [f"BROKEN: does not import      {n}" for n in names if not importable(n)]
    print("\n".join([*wrong, f"{len(names)} injected faults, {len(wrong)} that do not fit"]))
    return 1 if wrong else 0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz.mutants", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=3600.0, help="for each mutant")
    parser.add_argument("--only", action="append", help="mutants whose name holds this text; may be given again")
    parser.add_argument("--inspect", action="store_true", help="only see that each mutant's text applies and imports")
    parser.add_argument("--processes", type=int, default=2, help="how many mutants at a time")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.one is not None:
        return _one(MUTANTS[chosen.one], range(chosen.first, chosen.programs), chosen.seconds)
    names = [name for name in MUTANTS if any(text in name for text in chosen.only or [""])]
    if chosen.inspect:
        return inspect(names)
    verdicts: dict[str, str] = {}
    sane: dict[int, bool] = {}
    with ThreadPoolExecutor(chosen.processes) as pool:
        jobs = {pool.submit(hunt, name, chosen.programs, chosen.seconds, sane): name for name in names}
        for job in as_completed(jobs):
            name = jobs[job]
            verdicts[name] = job.result()
            print(f"{verdicts[name]:28} {MUTANTS[name].module}: {name}", flush=True)
    found = sum(verdict.startswith("found") for verdict in verdicts.values())
    print(f"{found} of {len(names)} found within {chosen.programs} programs")
    for name in names:
        if not verdicts[name].startswith("found"):
            print(f"  {verdicts[name]} {MUTANTS[name].module}: {name}")
    return 0 if found >= SHARE * len(names) else 1


def _one(mutant: Mutant, seeds: Sequence[int], seconds: float) -> int:
    if not applies(mutant):
        return STALE
    seed = search(mutant, seeds, seconds)
    if seed is None:
        return SURVIVED
    print(seed)
    return FOUND


if __name__ == "__main__":
    sys.exit(main())
