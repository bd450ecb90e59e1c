"""NPBench's differentiable kernels, compiled from plain NumPy: `make npbench`.

For each kernel: seconds to compile it, or the first error; what its value and its derivatives disagree by; how much
longer a gradient (`vjp`) takes than the function, and how the function's time compares with NumPy's, as ratios of
medians. Values and derivatives are checked at the small size, times are taken at the larger one. Names of kernels as
arguments choose among them.

The exit status is 1 if a kernel compiles and is wrong.
"""

from __future__ import annotations

import copy
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one thread against one thread

import numpy as np

from benchmarks.npbench import checks
from benchmarks.npbench.compiling import Refused, compile_kernel
from benchmarks.npbench.table import KERNELS, Kernel

SECONDS = 0.3  # for each measurement, as far as that is more than `FEWEST` calls
FEWEST, MOST = 3, 25
COLUMNS = "compile s", "value", "identity", "differences", "primal ms", "grad/primal", "primal/NumPy"


def median(call: Callable[..., object], args: tuple[Any, ...]) -> float:
    """Seconds of a call. Each has arguments of its own, because kernels write into them; copying is not timed."""
    taken: list[float] = []
    while len(taken) < FEWEST or (len(taken) < MOST and sum(taken) < SECONDS):
        own = copy.deepcopy(args)
        start = time.perf_counter()
        call(*own)
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def times(kernel: Kernel, function: Any) -> tuple[float, float, float]:
    """Seconds of the compiled function, of its `vjp`, and of the function in NumPy."""
    args = kernel.make("M")
    real = [item for item in checks.outputs(kernel, function, args) if checks.is_real(item)]
    cotangents = checks.bare([checks.like(item, np.ones(np.shape(item))) for item in real])
    return (
        median(function, args),
        median(lambda *own: function.vjp(own, cotangents), args),
        median(kernel.python, args),
    )


def run(kernel: Kernel, folder: Path) -> bool | None:
    """Print a kernel's row; whether it is right, None where it does not compile."""
    start = time.perf_counter()
    try:
        function = compile_kernel(kernel, folder)
    except Refused as reason:
        print(f"{kernel.name:<14} does not compile: {reason}", flush=True)
        return None
    row = f"{kernel.name:<14}{time.perf_counter() - start:12.1f}"
    outcome = checks.check(kernel, function, kernel.make("S"))
    row += f"{outcome.value:12.1e}{outcome.identity:12.1e}{outcome.differences:12.1e}"
    if outcome.right:
        primal, gradient, python = times(kernel, function)
        row += f"{1e3 * primal:12.3f}{gradient / primal:12.2f}{primal / python:13.2f}"
    else:
        row += "  WRONG"
    print(row, flush=True)
    return outcome.right


def main(names: list[str]) -> int:
    if unknown := set(names) - {kernel.name for kernel in KERNELS}:
        print(f"no such kernel: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    print(f"{'kernel':<14}" + "".join(f"{column:>12}" for column in COLUMNS[:-1]) + f"{COLUMNS[-1]:>13}")
    with tempfile.TemporaryDirectory() as folder:
        results = [run(kernel, Path(folder)) for kernel in KERNELS if not names or kernel.name in names]
    print(f"{len(results)} kernels: {len(results) - results.count(None)} compile, {results.count(True)} are right")
    return int(False in results)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
