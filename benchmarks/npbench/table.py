"""The kernels: of each its function, its arguments at two sizes, what is differentiated and what counts as output.

Arguments are made from a seed, so that all runs agree, and are far from singular points: systems are well conditioned,
recursions do not grow, divisors are not small.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.npbench import data, deep_learning, dense, physics, solvers, stencils

SIZES = ("S", "M")


class Maker:
    """Makes arguments. Sizes are those of S, times the kernel's growth where they are those of M."""

    def __init__(self, seed: int, growth: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.growth = growth

    def size(self, small: int, growth: int | None = None) -> int:
        """A size; `growth` in place of the kernel's own."""
        return small * (self.growth if growth is None else growth if self.growth > 1 else 1)

    def array(self, *shape: int, low: float = -1.0, high: float = 1.0) -> np.ndarray:
        return self.rng.uniform(low, high, shape)

    def layer(self, *shape: int) -> np.ndarray:
        """Weights that leave the size of what they are applied to as it is."""
        result: np.ndarray = self.array(*shape) * np.sqrt(3.0 / np.prod(shape[:-1]))
        return result

    def positive_definite(self, n: int) -> np.ndarray:
        root = self.array(n, n)
        result: np.ndarray = root @ root.T / n + np.eye(n)
        return result

    def diagonal_wins(self, n: int, m: int | None = None) -> np.ndarray:
        return self.array(n, m or n) / n + 2.0 * np.eye(n, m or n)


@dataclass(frozen=True)
class Kernel:
    """`wrt` and `written` are names of parameters; outputs are the items of the result, then what was written."""

    function: Any
    arguments: Callable[[Maker], tuple[Any, ...]]
    wrt: str
    written: str = ""
    growth: int = 8

    @property
    def name(self) -> str:
        return str(self.function.__name__)

    @property
    def python(self) -> Callable[..., Any]:
        """The function in CPython, with NumPy."""
        python: Callable[..., Any] = self.function.__wrapped__
        return python

    @property
    def parameters(self) -> tuple[str, ...]:
        code = self.python.__code__
        return code.co_varnames[: code.co_argcount]

    def make(self, size: str) -> tuple[Any, ...]:
        seed = sum(map(ord, self.name))
        return self.arguments(Maker(seed, self.growth if size == "M" else 1))

    def positions(self, names: str) -> tuple[int, ...]:
        return tuple(self.parameters.index(name) for name in names.split())


def _gemm(k: Maker) -> tuple[Any, ...]:
    n, m, l = k.size(5), k.size(6), k.size(7)
    return 1.5, 1.2, k.array(n, m), k.array(n, l), k.array(l, m)


def _k2mm(k: Maker) -> tuple[Any, ...]:
    i, j, l, m = k.size(4), k.size(5), k.size(6), k.size(7)
    return 1.5, 1.2, k.array(i, l), k.array(l, j), k.array(j, m), k.array(i, m)


def _k3mm(k: Maker) -> tuple[Any, ...]:
    i, j, l, m, n = k.size(4), k.size(5), k.size(6), k.size(7), k.size(8)
    return k.array(i, l), k.array(l, j), k.array(j, n), k.array(n, m)


def _atax(k: Maker) -> tuple[Any, ...]:
    return k.array(k.size(9), k.size(7)), k.array(k.size(7))


def _bicg(k: Maker) -> tuple[Any, ...]:
    return k.array(k.size(9), k.size(7)), k.array(k.size(7)), k.array(k.size(9))


def _mvt(k: Maker) -> tuple[Any, ...]:
    n = k.size(9)
    return *(k.array(n) for _ in range(4)), k.array(n, n)


def _gesummv(k: Maker) -> tuple[Any, ...]:
    n = k.size(9)
    return 1.5, 1.2, k.array(n, n), k.array(n, n), k.array(n)


def _gemver(k: Maker) -> tuple[Any, ...]:
    n = k.size(9)
    return 1.5, 1.2, k.array(n, n), *(k.array(n) for _ in range(8))


def _doitgen(k: Maker) -> tuple[Any, ...]:
    r, q, p = k.size(4), k.size(3), k.size(5)
    return r, q, p, k.array(r, q, p), k.array(p, p)


def _symm(k: Maker) -> tuple[Any, ...]:
    m, n = k.size(6), k.size(5)
    return 1.5, 1.2, k.array(m, n), k.array(m, m), k.array(m, n)


def _syrk(k: Maker) -> tuple[Any, ...]:
    n, m = k.size(6), k.size(5)
    return 1.5, 1.2, k.array(n, n), k.array(n, m)


def _syr2k(k: Maker) -> tuple[Any, ...]:
    return *_syrk(k), k.array(k.size(6), k.size(5))


def _trmm(k: Maker) -> tuple[Any, ...]:
    m, n = k.size(6), k.size(5)
    return 1.5, k.array(m, m), k.array(m, n)


def _cholesky(k: Maker) -> tuple[Any, ...]:
    return (k.positive_definite(k.size(8)),)


def _lu(k: Maker) -> tuple[Any, ...]:
    return (k.diagonal_wins(k.size(8)),)


def _ludcmp(k: Maker) -> tuple[Any, ...]:
    return k.diagonal_wins(k.size(8)), k.array(k.size(8))


def _trisolv(k: Maker) -> tuple[Any, ...]:
    n = k.size(9)
    return k.diagonal_wins(n), np.full(n, -999.0), k.array(n)


def _durbin(k: Maker) -> tuple[Any, ...]:
    n = k.size(9)
    return (k.array(n) / (2.0 + np.arange(n)),)


def _gramschmidt(k: Maker) -> tuple[Any, ...]:
    return (k.diagonal_wins(k.size(8), k.size(6)),)


def _jacobi_1d(k: Maker) -> tuple[Any, ...]:
    return k.size(5, 20), k.array(k.size(12)), k.array(k.size(12))


def _jacobi_2d(k: Maker) -> tuple[Any, ...]:
    n = k.size(8)
    return k.size(4, 10), k.array(n, n), k.array(n, n)


def _heat_3d(k: Maker) -> tuple[Any, ...]:
    n = k.size(6)
    return k.size(4, 5), k.array(n, n, n), k.array(n, n, n)


def _seidel_2d(k: Maker) -> tuple[Any, ...]:
    n = k.size(7)
    return k.size(4, 3), n, k.array(n, n)


def _fdtd_2d(k: Maker) -> tuple[Any, ...]:
    steps, nx, ny = k.size(5, 8), k.size(7), k.size(8)
    return steps, *(k.array(nx, ny) for _ in range(3)), k.array(steps)


def _adi(k: Maker) -> tuple[Any, ...]:
    n = k.size(7)
    return k.size(3, 5), n, k.array(n, n)


def _hdiff(k: Maker) -> tuple[Any, ...]:
    i, j, levels = k.size(6), k.size(5), k.size(4)
    return k.array(i + 4, j + 4, levels), np.full((i, j, levels), -999.0), k.array(i, j, levels)


def _vadv(k: Maker) -> tuple[Any, ...]:
    i, j, levels = k.size(4), k.size(3), k.size(5)
    stage, u, pos, tendency = (k.array(i, j, levels) for _ in range(4))
    return stage, u, k.array(i + 1, j, levels), pos, tendency, 3.0 / 20.0 + 2.0


def _softmax(k: Maker) -> tuple[Any, ...]:
    return (k.array(k.size(2), k.size(2), k.size(4), k.size(4)),)


def _mlp(k: Maker) -> tuple[Any, ...]:
    n, widths = k.size(4), (k.size(3), k.size(7), k.size(6), k.size(5))
    layers = [(k.layer(a, b), k.array(b)) for a, b in itertools.pairwise(widths)]
    return k.array(n, widths[0]), *(array for layer in layers for array in layer)


def _conv2d(k: Maker) -> tuple[Any, ...]:
    return k.array(2, k.size(6), k.size(7), 3), k.array(3, 3, 3, 4), k.array(4)


def _lenet(k: Maker) -> tuple[Any, ...]:
    batch, side, c1, c2 = k.size(2), k.size(16, 2), 3, 4
    last = ((side - 4) // 2 - 4) // 2
    features, f1, f2 = last * last * c2, 12, 8
    images = k.layer(5, 5, 1, c1), k.array(c1), k.layer(5, 5, c1, c2), k.array(c2)
    full = k.layer(features, f1), k.array(f1), k.layer(f1, f2), k.array(f2), k.layer(f2, 10), k.array(10)
    return k.array(batch, side, side, 1), *images, *full, batch, features


def _resnet(k: Maker) -> tuple[Any, ...]:
    side, wide, narrow = k.size(5), 6, 3
    weights = k.array(1, 1, wide, narrow), k.array(3, 3, narrow, narrow), k.array(1, 1, narrow, wide)
    return k.array(4, side, side, wide), *weights


def _covariance(k: Maker) -> tuple[Any, ...]:
    n, m = k.size(7), k.size(5)
    return m, float(n), k.array(n, m)


def _covariance2(k: Maker) -> tuple[Any, ...]:
    return (k.array(k.size(7), k.size(5)),)


def _deriche(k: Maker) -> tuple[Any, ...]:
    return 0.25, k.array(k.size(8), k.size(7))


def _azimint_naive(k: Maker) -> tuple[Any, ...]:
    n = k.size(200)
    return k.array(n), k.array(n, low=0.0), k.size(8, 4)


def _arc_distance(k: Maker) -> tuple[Any, ...]:
    n = k.size(9)
    return tuple(k.array(n, low=0.1) for _ in range(4))


def _go_fast(k: Maker) -> tuple[Any, ...]:
    return (k.array(k.size(8), k.size(8)),)


def _spmv(k: Maker) -> tuple[Any, ...]:
    n, row = k.size(9), 4
    columns = k.rng.integers(0, n, n * row)
    return np.arange(0, n * row + 1, row), columns, k.array(n * row), k.array(n)


def _cavity_flow(k: Maker) -> tuple[Any, ...]:
    n = k.size(7)
    u, v, p = (0.1 * k.array(n, n) for _ in range(3))
    return n, n, k.size(3, 8), 5, u, v, 0.1 / n**2, 2.0 / (n - 1), 2.0 / (n - 1), p, 1.0, 0.1


def _channel_flow(k: Maker) -> tuple[Any, ...]:
    n = k.size(5)
    u, v, p = (0.1 * k.array(n, n) for _ in range(3))
    return 5, u, v, 2.0 / n**2, 2.0 / (n - 1), 2.0 / (n - 1), p, 1.0, 0.5, 1.0


def _nbody(k: Maker) -> tuple[Any, ...]:
    n = k.size(5)
    return k.array(n, 1, low=0.5), k.array(n, 3), k.array(n, 3), k.size(4, 5), 0.01, 1.0, 0.1


KERNELS = [
    Kernel(dense.gemm, _gemm, "alpha beta c a b", "c", growth=20),
    Kernel(dense.k2mm, _k2mm, "alpha beta a b c d", "d", growth=20),
    Kernel(dense.k3mm, _k3mm, "a b c d", growth=20),
    Kernel(dense.atax, _atax, "a x", growth=40),
    Kernel(dense.bicg, _bicg, "a p r", growth=40),
    Kernel(dense.mvt, _mvt, "x1 x2 y1 y2 a", "x1 x2", growth=40),
    Kernel(dense.gesummv, _gesummv, "alpha beta a b x", growth=40),
    Kernel(dense.gemver, _gemver, "alpha beta a u1 v1 u2 v2 w x y z", "a w x", growth=40),
    Kernel(dense.doitgen, _doitgen, "a c4", "a"),
    Kernel(dense.symm, _symm, "alpha beta c a b", "c"),
    Kernel(dense.syrk, _syrk, "alpha beta c a", "c"),
    Kernel(dense.syr2k, _syr2k, "alpha beta c a b", "c"),
    Kernel(dense.trmm, _trmm, "alpha a b", "b"),
    Kernel(solvers.cholesky, _cholesky, "a", "a"),
    Kernel(solvers.cholesky2, _cholesky, "a", "a"),
    Kernel(solvers.lu, _lu, "a", "a"),
    Kernel(solvers.ludcmp, _ludcmp, "a b", "a"),
    Kernel(solvers.trisolv, _trisolv, "lower x b", "x", growth=20),
    Kernel(solvers.durbin, _durbin, "r", growth=20),
    Kernel(solvers.gramschmidt, _gramschmidt, "a", "a"),
    Kernel(stencils.jacobi_1d, _jacobi_1d, "a b", "a b", growth=100),
    Kernel(stencils.jacobi_2d, _jacobi_2d, "a b", "a b", growth=16),
    Kernel(stencils.heat_3d, _heat_3d, "a b", "a b", growth=5),
    Kernel(stencils.seidel_2d, _seidel_2d, "a", "a", growth=10),
    Kernel(stencils.fdtd_2d, _fdtd_2d, "ex ey hz source", "ex ey hz", growth=16),
    Kernel(stencils.adi, _adi, "u", "u", growth=10),
    Kernel(stencils.hdiff, _hdiff, "field coeff", "out"),
    Kernel(stencils.vadv, _vadv, "tendency_stage u_stage wcon u_pos tendency rate", "tendency_stage"),
    Kernel(deep_learning.softmax, _softmax, "x"),
    Kernel(deep_learning.mlp, _mlp, "x w1 b1 w2 b2 w3 b3", growth=20),
    Kernel(deep_learning.conv2d, _conv2d, "x weights bias", growth=4),
    Kernel(
        deep_learning.lenet,
        _lenet,
        "x conv1 conv1_bias conv2 conv2_bias fc1 fc1_bias fc2 fc2_bias fc3 fc3_bias",
        growth=4,
    ),
    Kernel(deep_learning.resnet, _resnet, "x conv1 conv2 conv3", growth=3),
    Kernel(data.covariance, _covariance, "count data", "data"),
    Kernel(data.covariance2, _covariance2, "data"),
    Kernel(data.correlation, _covariance, "count data", "data"),
    Kernel(data.deriche, _deriche, "alpha image", growth=16),
    Kernel(data.azimint_naive, _azimint_naive, "data radius", growth=50),
    Kernel(data.arc_distance, _arc_distance, "theta_1 phi_1 theta_2 phi_2", growth=1000),
    Kernel(data.go_fast, _go_fast, "a", growth=30),
    Kernel(data.spmv, _spmv, "values x", growth=100),
    Kernel(physics.cavity_flow, _cavity_flow, "u v dt dx dy p rho nu", "u v p", growth=5),
    Kernel(physics.channel_flow, _channel_flow, "u v dt dx dy p rho nu force", "u v p", growth=3),
    Kernel(physics.nbody, _nbody, "mass pos vel dt gravity softening", "pos vel"),
]
