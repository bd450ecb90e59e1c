"""Memory safety of compiled code, over all test functions: `make test-memory`.

    guard     arrays end at a page that nobody may touch, or begin behind one, gradients given as `out=` as well: a byte too far ends the process
    growth    10,000 calls of every function and derivative leave the heap as large as it was
    valgrind  a call of each under valgrind: no error whose stack is in an extension of ours

Each group of functions runs in a process of its own; the parent knows what ran when it died. `python -m memory_checks [what ...] [--groups ...]`.
"""

from __future__ import annotations

import argparse
import copy
import ctypes
import gc
import mmap
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

CALLS = 10_000
SLOW = 1e-3  # seconds of a call from which on there are fewer
GROWTH = 4096  # bytes: less than one for each call
CHECKS = ("guard", "growth", "valgrind")
VALGRIND_GROUPS = ("scalars", "vectors", "matrices", "gathered", "products", "unions")
TESTS = Path(__file__).parent

_libc = ctypes.CDLL(None, use_errno=True)


# Arrays between guard pages


class Guarded:
    """Copies of arrays in memory of their own, closed by pages without any access."""

    def __init__(self, at_end: bool) -> None:
        self.at_end = at_end
        self.maps: list[tuple[int, int]] = []
        _libc.mmap.restype = ctypes.c_void_p
        _libc.mmap.argtypes = [
            ctypes.c_void_p,
            ctypes.c_size_t,
            ctypes.c_int,
            ctypes.c_int,
            ctypes.c_int,
            ctypes.c_long,
        ]
        _libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        _libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]

    def copy(self, value: Any) -> Any:
        """The same value; arrays with their last byte before a page that nobody may touch, or their first one behind it."""
        if isinstance(value, tuple):
            return tuple(self.copy(item) for item in value)
        if not isinstance(value, np.ndarray):
            return value
        page = mmap.PAGESIZE
        room = -(-max(value.nbytes, 1) // page) * page
        size = room + 2 * page
        start = _libc.mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
        assert start not in (None, ctypes.c_void_p(-1).value), os.strerror(ctypes.get_errno())
        self.maps.append((start, size))
        for guard in (start, start + page + room):
            assert _libc.mprotect(guard, page, 0) == 0
        first = start + page + (room - value.nbytes if self.at_end else 0)
        memory = (ctypes.c_char * max(value.nbytes, 1)).from_address(first)
        array = np.frombuffer(memory, value.dtype, value.size).reshape(value.shape)
        array[...] = value
        return array

    def release(self) -> None:
        for start, size in self.maps:
            _libc.munmap(start, size)
        self.maps.clear()


# What is called


def members(subject: Any) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    """Each way to call a test function: its name, and the call, which is given a function that places arrays."""
    from corpus import Subject
    from test_laws import floats, one_or_all, random_like

    assert isinstance(subject, Subject)
    rng = np.random.default_rng(11)
    f = subject.compiled
    tangents = [random_like(subject.fresh()[k], rng) for k in subject.wrt]

    def args(place: Callable[[Any], Any]) -> tuple[Any, ...]:
        return tuple(place(value) for value in subject.fresh())

    yield "primal", lambda place: f(*args(place))
    yield "jvp", lambda place: f.jvp(args(place), place(one_or_all(tangents)))
    value, _ = f.jvp(tuple(subject.fresh()), one_or_all(tangents))
    cotangents = one_or_all([random_like(part, rng) for part in floats(value)])
    yield "vjp", lambda place: f.vjp(args(place), place(cotangents))
    if hasattr(f, "grad") and all(isinstance(t, np.ndarray) for t in tangents):
        yield "grad", lambda place: f.grad(*args(place), out=place(copy.deepcopy(one_or_all(tangents))))
    if subject.order > 1:
        yield "hvp", lambda place: f.hvp(args(place), place(one_or_all(tangents)))


def subjects(group: str) -> list[Any]:
    from test_laws import GROUPS, raises

    return [subject for subject in GROUPS[group]() if not raises(subject)]


def check_guard(group: str, tell: Callable[[str], None]) -> int:
    from test_laws import floats

    done = 0
    for subject in subjects(group):
        for name, call in members(subject):
            want = call(lambda value: value)
            for at_end in (True, False):
                tell(f"{subject.name}.{name} of {subject.args}, guarded at the {'end' if at_end else 'start'}")
                guarded = Guarded(at_end)
                got = call(guarded.copy)
                for one, other in zip(floats(got), floats(want), strict=True):
                    np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
                del got
                guarded.release()
                done += 1
    return done


class _Mallinfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
    )]  # fmt: skip


def allocated() -> int:
    """Bytes that the process has from malloc."""
    _libc.mallinfo2.restype = _Mallinfo
    info = _libc.mallinfo2()
    return int(info.uordblks + info.hblkhd)


def check_growth(group: str, tell: Callable[[str], None]) -> int:
    done = 0
    for subject in subjects(group):
        for name, call in members(subject):
            tell(f"{subject.name}.{name} of {subject.args}")
            start = time.perf_counter()
            for _ in range(50):
                call(lambda value: value)
            each = (time.perf_counter() - start) / 50
            count = CALLS if each < SLOW else max(100, int(CALLS * SLOW / each))
            grown = min(_growth(call, count) for _ in range(2))  # the first calls fill the caches of Python and NumPy
            assert grown <= GROWTH, f"{subject.name}.{name}: {grown} bytes more after {count} calls"
            done += 1
    return done


def _growth(call: Callable[[Any], Any], count: int) -> int:
    gc.collect()
    before = allocated()
    for _ in range(count):
        call(lambda value: value)
    gc.collect()
    return allocated() - before


def check_once(group: str, tell: Callable[[str], None]) -> int:
    """Under valgrind."""
    done = 0
    for subject in subjects(group):
        for name, call in members(subject):
            tell(f"{subject.name}.{name} of {subject.args}")
            call(lambda value: value)
            done += 1
    return done


# Processes


def child(what: str, group: str) -> int:
    def tell(text: str) -> None:
        os.write(2, f"@ {text}\n".encode())

    check = {"guard": check_guard, "growth": check_growth, "valgrind": check_once}[what]
    print(f"done {check(group, tell)}", flush=True)
    return 0


def run(what: str, group: str) -> tuple[int, str]:
    """Calls that were checked, and what is wrong."""
    command = [sys.executable, "-W", "ignore", "-m", "memory_checks", "--child", what, group]
    environment = {**os.environ, "PYTHONMALLOC": "malloc", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "valgrind.log"
        if what == "valgrind":
            command = ["valgrind", "--trace-children=no", "--num-callers=30", f"--log-file={log}", *command]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=TESTS, check=False)
        last = [line for line in done.stderr.splitlines() if line.startswith("@ ")][-1:]
        if done.returncode != 0:
            reason = f"signal {-done.returncode}" if done.returncode < 0 else done.stderr.strip().splitlines()[-1]
            return 0, f"{group}: {reason} at {last[0][2:] if last else 'the start'}"
        count = int(done.stdout.rpartition("done ")[2])
        if what != "valgrind":
            return count, ""
        blocks = log.read_text(errors="replace").split("== \n")
        ours = [block for block in blocks if "_adcore" in block and (" at 0x" in block or " by 0x" in block)]
        return count, f"{group}: {len(ours)} errors, the first:\n{ours[0]}" if ours else ""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m memory_checks", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", nargs="*", default=CHECKS)
    parser.add_argument("--groups", nargs="*")
    parser.add_argument("--child", nargs=2)
    options = parser.parse_args()
    if options.child:
        return child(*options.child)
    from test_laws import GROUPS

    failures = 0
    for what in options.what:
        if what == "valgrind" and shutil.which("valgrind") is None:
            print("valgrind: not installed, skipped")
            continue
        total, wrong = 0, []
        for group in options.groups or (VALGRIND_GROUPS if what == "valgrind" else GROUPS):
            count, problem = run(what, group)
            total += count
            wrong += [problem] if problem else []
            print(f"  {what:<9} {group:<12} {count:6d} {'FAILED' if problem else ''}", flush=True)
        print("\n".join([f"{what}: {total} calls checked, {len(wrong)} groups with errors", *wrong]), flush=True)
        failures += len(wrong)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
