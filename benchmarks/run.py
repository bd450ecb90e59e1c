"""Functions and gradients, compiled by adcore and written by hand in C: `make bench`.

For each function the microseconds of one call of it and of one of its value and gradient: by adcore, for this machine; by
strict C that does the same; by the fastest kernel in C, whatever its algorithm and with `-ffast-math`. Then adcore's as multiples of
strict C's. All are timed in turn in one process, and the medians of many rounds are shown. Values and gradients are compared
first; what disagrees is not timed, and the exit status is 1.

adcore's times include the call from Python and a new gradient, those of C do not. Arguments name the functions to measure.
gcc is needed.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one thread against one thread

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from benchmarks.cases import CASES, Case  # noqa: E402 (this checkout, not what is installed)
from buildplug.engine import compile_units  # noqa: E402
from buildplug.project import units_to_compile  # noqa: E402

NATIVE = ("-O3", "-march=native", "-mprefer-vector-width=512", "-fPIC")
ROUNDS = 21
SECONDS = 0.003  # of one measurement
COLUMNS = "adcore", "strict C", "best C"


class Limits:
    """The kernels in C: strict or fast."""

    def __init__(self, folder: Path, fast: bool) -> None:
        libraries = Path(np.__file__).parents[1] / "numpy.libs"
        (blas,) = libraries.glob("libscipy_openblas64_*.so")
        made, library = folder / f"kernels{fast}.o", folder / f"kernels{fast}.so"
        flags = [*NATIVE, "-ffast-math"] if fast else NATIVE
        subprocess.run(["gcc", *flags, "-c", str(HERE / "limits/hand.c"), "-o", str(made)], check=True)
        linked = ["gcc", "-O2", "-shared", "-fPIC", str(made), str(HERE / "limits/timer.c"), "-o", str(library)]
        linked += [f"-L{libraries}", f"-Wl,-rpath,{libraries}", f"-l:{blas.name}", "-lm", *(["-lmvec"] if fast else [])]
        subprocess.run(linked, check=True)
        self.library = ctypes.CDLL(str(library))
        self.library.bench_loop.restype = ctypes.c_double
        self.library.blas_threads(1)

    def kernel(self, name: str) -> Any:
        found = getattr(self.library, name)
        found.restype = ctypes.c_double
        return found

    def seconds(self, kernel: Any, arguments: tuple[Any, ...], count: int) -> float:
        spent = self.library.bench_loop(kernel, *arguments, ctypes.c_long(count))
        return float(spent) / count


def c_arguments(case: Case) -> tuple[Any, ...]:
    pointers = (ctypes.c_void_p * len(case.arrays))(*(array.ctypes.data for array in case.arrays))
    sizes = (ctypes.c_long * len(case.sizes))(*case.sizes)
    return pointers, sizes, (ctypes.c_double * max(1, len(case.scalars)))(*case.scalars)


def level() -> str:
    """The highest level of instructions that this machine has."""
    have = set(Path("/proc/cpuinfo").read_text().partition("flags")[2].partition("\n")[0].split())
    wide = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
    return "x86-64-v4" if wide <= have else "x86-64-v3" if {"avx2", "fma", "bmi2"} <= have else "x86-64-v2"


def compile_functions(folder: Path) -> Any:
    """benchmarks/functions.py, compiled as a build compiles it, for this machine as the C is."""
    (folder / "measured.py").write_text((HERE / "functions.py").read_text())
    (folder / "pyproject.toml").write_text(f'[tool.adcore]\ncpu = "{level()}"\n')
    units = units_to_compile([("", "measured", str(folder / "measured.py"))], {})
    for unit, data in compile_units(folder, units):
        unit.in_place.write_bytes(data)
    sys.path.insert(0, str(folder))
    return importlib.import_module("measured")


def agrees(case: Case, function: Any, limits: Limits) -> bool:
    """Value and gradient against each kernel in C."""
    value, gradients = function.value_and_grad(*case.args)
    gradients = gradients if isinstance(gradients, tuple) else (gradients,)
    good = True
    for name in (*case.primals, *case.gradients):
        found = limits.kernel(name)(*c_arguments(case))
        good &= abs(found - value) <= 1e-10 * abs(value)
        if name in case.gradients:
            for got, k in zip(gradients, case.places, strict=True):
                want = case.arrays[k].reshape(np.shape(got))
                good &= bool(np.max(np.abs(got - want)) <= 1e-8 * np.max(np.abs(want)))
    return good


def call_seconds(call: Callable[[], object], count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count


def measured(case: Case, function: Any, strict: Limits, fast: Limits) -> list[float]:
    """Medians of seconds: function by adcore, the same in strict C, the best in C; then value and gradient by the three."""
    arguments = c_arguments(case)
    timed: list[list[Callable[[int], float]]] = []
    for call, names in ((function, case.primals), (function.value_and_grad, case.gradients)):
        timed.append([partial(call_seconds, partial(call, *case.args))])
        in_c = [[partial(c.seconds, c.kernel(name), arguments) for name in names] for c in (strict, fast)]
        timed += [in_c[0][:1], [*in_c[0], *in_c[1]]]
    counts = [[max(1, int(SECONDS / max(one(1), one(1), 1e-9))) for one in group] for group in timed]
    rounds: list[list[list[float]]] = [[[] for _ in group] for group in timed]
    for _ in range(ROUNDS):
        for group, many, into in zip(timed, counts, rounds, strict=True):
            for one, count, times in zip(group, many, into, strict=True):
                times.append(one(count))
    return [min(statistics.median(times) for times in group) for group in rounds]


def main(names: list[str]) -> int:
    if unknown := set(names) - {case.name for case in CASES}:
        print(f"no such function: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    print(f"{'microseconds':<20}{'function':^36}{'value and gradient':^36}{'adcore / strict C':^24}{'ratio':>8}")
    print(" " * 20 + "".join(f"{column:>12}" for column in COLUMNS * 2) + f"{'function':>12}{'gradient':>12}{'':>8}")
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        functions = compile_functions(folder)
        strict, fast = Limits(folder, False), Limits(folder, True)
        for case in CASES:
            if names and case.name not in names:
                continue
            function = getattr(functions, case.name)
            if not agrees(case, function, strict):
                wrong += 1
                print(f"{case.name:<20}  WRONG", flush=True)
                continue
            times = measured(case, function, strict, fast)
            row = "".join(f"{1e6 * seconds:12.2f}" for seconds in times)
            row += f"{times[0] / times[1]:12.2f}{times[3] / times[4]:12.2f}{times[3] / times[0]:8.2f}"
            print(f"{case.name:<20}{row}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
