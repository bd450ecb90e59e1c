"""NPBench's kernels in plain NumPy compile and are right."""

from __future__ import annotations

import copy
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.npbench import checks
from benchmarks.npbench.compiling import compile_kernel
from benchmarks.npbench.table import KERNELS, SIZES, Kernel

PROBLEMS = """
    adi atax bicg cavity_flow cholesky conv2d correlation covariance deriche doitgen durbin fdtd_2d gemm gemver gesummv
    go_fast gramschmidt hdiff heat_3d jacobi_1d jacobi_2d k2mm k3mm lenet lu ludcmp mlp mvt resnet seidel_2d softmax symm
    syr2k syrk trisolv trmm vadv arc_distance azimint_naive channel_flow nbody spmv cholesky2 covariance2
"""


def test_all_problems_are_there() -> None:
    assert sorted(kernel.name for kernel in KERNELS) == sorted(PROBLEMS.split())
    assert len(KERNELS) == 44


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_the_table_says_what_numpy_does(kernel: Kernel) -> None:
    """What is written, that outputs are finite, that arguments are the same each time, that `wrt` names what is real."""
    args, again = kernel.make("S"), kernel.make("S")
    own = copy.deepcopy(args)
    kernel.python(*own)
    written = [name for name, a, b in zip(kernel.parameters, args, own, strict=True) if not np.array_equal(a, b)]
    assert sorted(written) == sorted(kernel.written.split())
    assert all(np.array_equal(a, b) for a, b in zip(args, again, strict=True))
    assert all(np.isfinite(output).all() for output in checks.outputs(kernel, kernel.python, args))
    real = {name for name, arg in zip(kernel.parameters, args, strict=True) if checks.is_real(arg)}
    overwritten = real - set(kernel.wrt.split())  # without having been read
    assert overwritten <= set(written)
    assert set(SIZES) == {"S", "M"}


QUICK = {
    "atax",
    "gemm",
    "jacobi_1d",
    "softmax",
    "spmv",
    "covariance",
    "lu",
    "go_fast",
    "gramschmidt",
    "covariance2",
    "vadv",
}
"""What `make test` compiles; with NPBENCH=all in the environment it is everything, as in `make npbench`."""


def chosen() -> list[Kernel]:
    names = {k.name for k in KERNELS} if os.environ.get("NPBENCH") == "all" else QUICK
    return [k for k in KERNELS if k.name in names]


@pytest.mark.parametrize("kernel", chosen(), ids=lambda kernel: kernel.name)
def test_what_compiles_is_right(kernel: Kernel, tmp_path: Path) -> None:
    """Value against NumPy, reverse against forward mode, gradient against differences; the arguments stay as they were."""
    args = kernel.make("S")
    before = copy.deepcopy(args)
    function = compile_kernel(kernel, tmp_path)
    outcome = checks.check(kernel, function, args)
    assert outcome.right, outcome
    assert all(np.array_equal(a, b) for a, b in zip(args, before, strict=True))


def test_checks_notice_what_is_wrong() -> None:
    """A kernel whose value, `vjp` or `jvp` is off is not called right."""
    kernel = next(kernel for kernel in KERNELS if kernel.name == "atax")
    args = kernel.make("S")
    a, x = args

    class Atax:
        def __init__(self, value: float = 1.0, back: float = 1.0, on: float = 1.0) -> None:
            self.value, self.back, self.on = value, back, on

        def __call__(self, a: Any, x: Any) -> Any:
            return self.value * ((a @ x) @ a)

        def vjp(self, args: Any, w: Any) -> Any:
            a, x = args
            for_a = np.outer(a @ x, w) + np.outer(a @ w, x)
            return self(a, x), (self.back * for_a, a.T @ (a @ w))

        def jvp(self, args: Any, tangents: Any) -> Any:
            (a, x), (da, dx) = args, tangents
            return self(a, x), self.on * ((da @ x + a @ dx) @ a + (a @ x) @ da)

    assert checks.check(kernel, Atax(), args).right
    assert checks.check(kernel, Atax(value=1.0 + 1e-10), args).value > checks.VALUE
    assert checks.check(kernel, Atax(on=1.0 + 1e-8), args).identity > checks.IDENTITY
    wrong_alike = checks.check(kernel, Atax(back=1.001), args)
    assert wrong_alike.differences > checks.DIFFERENCES
    assert not wrong_alike.right
    assert np.isinf(checks.relative(x[:-1], x))
    assert np.isinf(checks.relative(a.astype(np.float32), a))
