"""Functions and gradients, compiled by adcore and written by hand in C: `make bench`.

Values and gradients are compared first; what disagrees is not timed. A time is the best of several runs. adcore's times
include the call from Python, those of C do not. Without gcc there is nothing to compare with, and no ratio.
"""

from __future__ import annotations

import ctypes
import importlib
import shutil
import subprocess
import sys
import tempfile
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from buildplug.engine import compile_units  # noqa: E402 (this checkout, not what is installed)
from buildplug.project import units_to_compile  # noqa: E402

FLAGS = ("-O3", "-shared", "-fPIC")  # for the processors that a wheel runs on, in strict arithmetic: as adcore compiles
REPEATS = 9


@dataclass(frozen=True)
class Case:
    """A function, its arguments, and how its C kernels take them; a gradient has the size of the first array."""

    name: str
    args: tuple[Any, ...]
    arrays: tuple[np.ndarray, ...]
    sizes: tuple[int, ...]
    scalars: tuple[float, ...] = ()
    workspace: int = 0


def cases() -> list[Case]:
    rng = np.random.default_rng(0)
    x = rng.uniform(-2.0, 2.0, 10_000)
    p, to_x, to_y = np.array([1.1, 0.4, 0.1, 0.4]), rng.uniform(0.5, 5.0, 1000), rng.uniform(0.5, 5.0, 1000)
    return [
        Case("sum_sin", (x,), (x,), (x.size,)),
        Case("rosenbrock", (x,), (x,), (x.size,)),
        Case("ode_rk4", (p, to_x, to_y, 0.01), (p, to_x, to_y), (to_x.size,), (0.01,), 2 * to_x.size + 2),
    ]


class Limits:
    """The kernels in C."""

    def __init__(self, folder: Path) -> None:
        library = folder / "kernels.so"
        command = ["gcc", *FLAGS, str(HERE / "limits/kernels.c"), "-o", str(library), "-lm"]
        subprocess.run(command, check=True)
        self.library = ctypes.CDLL(str(library))
        self.library.time_loop.restype = ctypes.c_double

    def run(self, case: Case) -> tuple[float, np.ndarray, float, float]:
        """Value, gradient, and seconds of the function and of the gradient."""
        gradient = np.empty_like(case.arrays[0])
        arrays = [*case.arrays, gradient, np.empty(case.workspace)]
        pointers = (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
        sizes = (ctypes.c_long * len(case.sizes))(*case.sizes)
        scalars = (ctypes.c_double * max(1, len(case.scalars)))(*case.scalars)
        seconds, value = [], 0.0
        for prefix in ("p_", "g_"):
            kernel = getattr(self.library, prefix + case.name)
            kernel.restype = ctypes.c_double
            value = kernel(pointers, sizes, scalars)
            once = self.library.time_loop(kernel, pointers, sizes, scalars, 10)
            count = max(1, int(0.02 / max(once, 1e-9)))
            timed = [self.library.time_loop(kernel, pointers, sizes, scalars, count) for _ in range(REPEATS)]
            seconds.append(min(timed))
        return value, gradient, seconds[0], seconds[1]


def compile_functions(folder: Path) -> Any:
    """benchmarks/functions.py, compiled as a build compiles it."""
    shutil.copy(HERE / "functions.py", folder)
    (folder / "pyproject.toml").write_text("[tool.adcore]\n")
    units = units_to_compile([("", "functions", str(folder / "functions.py"))], {})
    for unit, data in compile_units(folder, units):
        unit.in_place.write_bytes(data)
    sys.path.insert(0, str(folder))
    return importlib.import_module("functions")


def best(call: Callable[[], object]) -> float:
    timer = timeit.Timer(call)
    count = max(1, timer.autorange()[0] // 10)
    return min(timer.repeat(REPEATS, count)) / count


def main() -> None:
    columns = "function", "gradient", "ratio", "C function", "C gradient", "function/C", "gradient/C"
    print(f"{'microseconds':<14}" + "".join(f"{column:>12}" for column in columns))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        functions = compile_functions(folder)
        limits = Limits(folder) if shutil.which("gcc") else None
        for case in cases():
            function = getattr(functions, case.name)
            value, gradient = function.value_and_grad(*case.args)
            found = limits.run(case) if limits else None
            if found:
                np.testing.assert_allclose(value, found[0], rtol=1e-10)
                np.testing.assert_allclose(gradient, found[1], rtol=1e-8, atol=1e-10)
            primal = best(partial(function, *case.args))
            reverse = best(partial(function.value_and_grad, *case.args))
            row = f"{case.name:<14}{1e6 * primal:12.2f}{1e6 * reverse:12.2f}{reverse / primal:12.2f}"
            if found:
                row += (
                    f"{1e6 * found[2]:12.2f}{1e6 * found[3]:12.2f}{primal / found[2]:12.2f}{reverse / found[3]:12.2f}"
                )
            print(row)


if __name__ == "__main__":
    main()
