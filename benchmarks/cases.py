"""What the functions of `functions.py` are measured with, and the kernels in C that do the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Case:
    """`arrays` are those of the kernels: arguments, gradients (`places` of them, in the order of `wrt`), workspace.

    The first of `primals` and of `gradients` does what the function does; the others have better algorithms. The gradient of
    `gp_lml` has none that goes back through the loops: its first is LAPACK's.
    """

    name: str
    args: tuple[Any, ...]
    arrays: tuple[Any, ...]
    places: tuple[int, ...]
    primals: tuple[str, ...]
    gradients: tuple[str, ...]
    sizes: tuple[int, ...]
    scalars: tuple[float, ...] = ()


def _empty(*sizes: int) -> tuple[Any, ...]:
    return tuple(np.empty(size) for size in sizes)


def _kron(name: str, x: Any, y: Any, upper: bool) -> Case:
    sizes = (20, 20, x.shape[1], *y.shape, int(upper), x.size)
    arrays = (x, y, *_empty(x.size, y.size, 800 * 800, 800 * 800))
    primals, gradients = ("p_kron_mat", "p_kron_fused"), ("g_kron_mat", "g_kron_fused")
    return Case(name, (x, y), arrays, (2, 3), primals, gradients, sizes)


def _gmm(normal: Any) -> Case:
    d, k, n = 10, 25, 1000
    icf = d * (d + 1) // 2
    alphas, means, factors, x = normal(k), normal(k, d), normal(k, icf), normal(n, d)
    scalars = (1.0, 0.0, 0.5)
    arrays = (alphas, means, factors, x, *_empty(k, k * d, k * icf, k * d, k, k * d, k))
    primals, gradients = ("p_gmm2", "p_gmm", "p_gmm_blk"), ("g_gmm", "g_gmm_blk")
    args = (alphas, means, factors, x, *scalars)
    return Case("gmm", args, arrays, (4, 5, 6), primals, gradients, (d, k, n), scalars)


def _mlp(normal: Any) -> Case:
    o, h, p, q = 128, 256, 128, 70
    shapes = (o, h), (h, p), (o, q), (p, q)
    args = tuple(normal(*shape) for shape in shapes)
    arrays = (*args, *_empty(o * h, h * p, o * q, p * q, h * q, h * q, o * q, o * q, h * q))
    return Case("simple_mlp", args, arrays, (4, 5, 6, 7), ("p_mlp",), ("g_mlp",), (o, h, p, q))


def _gp(x: Any, y: Any) -> Case:
    n = x.size
    arrays = (x, y, *_empty(n, n, 1, n * n, n * n, n))
    return Case("gp_lml", (x, y, 1.0), arrays, (2, 3, 4), ("p_gp_loop", "p_gp"), ("g_gp", "g_gp_blk"), (n,), (1.0,))


def cases() -> list[Case]:
    rng = np.random.default_rng(123)

    def normal(*shape: int) -> Any:
        return rng.standard_normal(shape)

    thousand, hundred, ten_thousand = normal(1000), normal(100), normal(10_000)
    xs, ys = normal(20, 20), normal(40, 40)
    positive, u = np.exp(normal(100_000)), normal(2)
    r, m, data, p = normal(64, 3), np.abs(normal(64)), np.abs(normal(1000, 2)), np.array([1.1, 0.4, 0.1, 0.4])
    y, chain = normal(128), np.array([0.9, 0.99])
    sums, sines = (("p_sum",), ("g_sum",)), (("p_sumsin",), ("g_sumsin", "g_sumsin_2l"))
    maps = ("p_map", "p_map_naive"), ("g_map_1l", "g_map_2l")
    return [
        Case("sum_library", (thousand,), (thousand, *_empty(1000)), (1,), *sums, (1000,)),
        Case("sum_loop", (thousand,), (thousand, *_empty(1000)), (1,), *sums, (1000,)),
        Case("sum_sin", (thousand,), (thousand, *_empty(1000)), (1,), *sines, (1000,)),
        Case("sum_sin_loop", (thousand,), (thousand, *_empty(1000)), (1,), *sines, (1000,)),
        _kron("kron_sum", xs, ys, False),
        _kron("kron_view_sum", normal(40, 30), ys, True),
        Case("naive_map", (hundred,), (hundred, *_empty(100, 100)), (1,), *maps, (100,)),
        Case("broadcast_map", (hundred,), (hundred, *_empty(100, 100)), (1,), *maps, (100,)),
        _mlp(normal),
        _gp(np.arange(128) * 0.2, y),
        Case("turing", (u, positive), (u, positive, *_empty(2)), (2,), ("p_turing",), ("g_turing",), (100_000,)),
        Case("large_single_block", (chain,), (chain, *_empty(2)), (1,), ("p_lsb_loop",), ("g_lsb", "g_lsb_fwd"), (400,)),
        Case("nbody", (r, m, 0.01), (r, m, *_empty(192)), (2,), ("p_nbody", "p_nbody_soa"), ("g_nbody", "g_nbody_soa"), (64,), (0.01,)),
        Case("rosenbrock", (ten_thousand,), (ten_thousand, *_empty(10_000)), (1,), ("p_rosen",), ("g_rosen", "g_rosen_v"), (10_000,)),
        Case("ode_rk4", (p, data, 0.01), (p, data, *_empty(4, 2002)), (2,), ("p_ode",), ("g_ode", "g_ode_fwd4"), (1000,), (0.01,)),
        _gmm(normal),
    ]  # fmt: skip


CASES = cases()
