"""Sweeps over grids: PolyBench's, and two of a weather model."""

import numpy as np

from adcore import autodiff
from adcore.typing import Array3, Matrix, Vector

BETA = 0.0  # off-centring of the vertical velocity
IMPLICIT = 0.5 * (1.0 + BETA)
EXPLICIT = 0.5 * (1.0 - BETA)


@autodiff(mode="both")
def jacobi_1d(steps: int, a: Vector, b: Vector) -> None:
    for _ in range(1, steps):
        b[1:-1] = 0.33333 * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = 0.33333 * (b[:-2] + b[1:-1] + b[2:])


@autodiff(mode="both")
def jacobi_2d(steps: int, a: Matrix, b: Matrix) -> None:
    for _ in range(1, steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])


@autodiff(mode="both")
def heat_3d(steps: int, a: Array3[np.float64], b: Array3[np.float64]) -> None:
    for _ in range(1, steps):
        b[1:-1, 1:-1, 1:-1] = (
            0.125 * (a[2:, 1:-1, 1:-1] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[:-2, 1:-1, 1:-1])
            + 0.125 * (a[1:-1, 2:, 1:-1] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[1:-1, :-2, 1:-1])
            + 0.125 * (a[1:-1, 1:-1, 2:] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[1:-1, 1:-1, :-2])
            + a[1:-1, 1:-1, 1:-1]
        )
        a[1:-1, 1:-1, 1:-1] = (
            0.125 * (b[2:, 1:-1, 1:-1] - 2.0 * b[1:-1, 1:-1, 1:-1] + b[:-2, 1:-1, 1:-1])
            + 0.125 * (b[1:-1, 2:, 1:-1] - 2.0 * b[1:-1, 1:-1, 1:-1] + b[1:-1, :-2, 1:-1])
            + 0.125 * (b[1:-1, 1:-1, 2:] - 2.0 * b[1:-1, 1:-1, 1:-1] + b[1:-1, 1:-1, :-2])
            + b[1:-1, 1:-1, 1:-1]
        )


@autodiff(mode="both")
def seidel_2d(steps: int, n: int, a: Matrix) -> None:
    for _ in range(steps - 1):
        for i in range(1, n - 1):
            a[i, 1:-1] += (
                a[i - 1, :-2] + a[i - 1, 1:-1] + a[i - 1, 2:] + a[i, 2:] + a[i + 1, :-2] + a[i + 1, 1:-1] + a[i + 1, 2:]
            )
            for j in range(1, n - 1):
                a[i, j] += a[i, j - 1]
                a[i, j] /= 9.0


@autodiff(mode="both")
def fdtd_2d(steps: int, ex: Matrix, ey: Matrix, hz: Matrix, source: Vector) -> None:
    """Maxwell's equations in two dimensions, by finite differences in the time domain."""
    for t in range(steps):
        ey[0, :] = source[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


@autodiff(mode="both")
def adi(steps: int, n: int, u: Matrix) -> None:
    """Heat conduction by alternating directions: each half step solves tridiagonal systems along one axis."""
    v = np.empty(u.shape, dtype=u.dtype)
    p = np.empty(u.shape, dtype=u.dtype)
    q = np.empty(u.shape, dtype=u.dtype)
    dx = 1.0 / n
    dy = 1.0 / n
    dt = 1.0 / steps
    mul1 = 2.0 * dt / (dx * dx)
    mul2 = 1.0 * dt / (dy * dy)
    a = -mul1 / 2.0
    b = 1.0 + mul1
    c = a
    d = -mul2 / 2.0
    e = 1.0 + mul2
    f = d
    for _ in range(steps):
        v[0, 1 : n - 1] = 1.0
        p[1 : n - 1, 0] = 0.0
        q[1 : n - 1, 0] = v[0, 1 : n - 1]
        for j in range(1, n - 1):
            p[1 : n - 1, j] = -c / (a * p[1 : n - 1, j - 1] + b)
            q[1 : n - 1, j] = (
                -d * u[j, : n - 2] + (1.0 + 2.0 * d) * u[j, 1 : n - 1] - f * u[j, 2:n] - a * q[1 : n - 1, j - 1]
            ) / (a * p[1 : n - 1, j - 1] + b)
        v[n - 1, 1 : n - 1] = 1.0
        for j in range(n - 2, 0, -1):
            v[j, 1 : n - 1] = p[1 : n - 1, j] * v[j + 1, 1 : n - 1] + q[1 : n - 1, j]

        u[1 : n - 1, 0] = 1.0
        p[1 : n - 1, 0] = 0.0
        q[1 : n - 1, 0] = u[1 : n - 1, 0]
        for j in range(1, n - 1):
            p[1 : n - 1, j] = -f / (d * p[1 : n - 1, j - 1] + e)
            q[1 : n - 1, j] = (
                -a * v[: n - 2, j] + (1.0 + 2.0 * a) * v[1 : n - 1, j] - c * v[2:n, j] - d * q[1 : n - 1, j - 1]
            ) / (d * p[1 : n - 1, j - 1] + e)
        u[1 : n - 1, n - 1] = 1.0
        for j in range(n - 2, 0, -1):
            u[1 : n - 1, j] = p[1 : n - 1, j] * u[1 : n - 1, j + 1] + q[1 : n - 1, j]


@autodiff(mode="both")
def hdiff(field: Array3[np.float64], out: Array3[np.float64], coeff: Array3[np.float64]) -> None:
    """Horizontal diffusion with a flux limiter; `field` has two more points than `out` on each side."""
    ni, nj = out.shape[0], out.shape[1]
    lap = 4.0 * field[1 : ni + 3, 1 : nj + 3, :] - (
        field[2 : ni + 4, 1 : nj + 3, :]
        + field[0 : ni + 2, 1 : nj + 3, :]
        + field[1 : ni + 3, 2 : nj + 4, :]
        + field[1 : ni + 3, 0 : nj + 2, :]
    )
    step = lap[1:, 1 : nj + 1, :] - lap[:-1, 1 : nj + 1, :]
    flx = np.where(step * (field[2 : ni + 3, 2 : nj + 2, :] - field[1 : ni + 2, 2 : nj + 2, :]) > 0, 0, step)
    step = lap[1 : ni + 1, 1:, :] - lap[1 : ni + 1, :-1, :]
    fly = np.where(step * (field[2 : ni + 2, 2 : nj + 3, :] - field[2 : ni + 2, 1 : nj + 2, :]) > 0, 0, step)
    out[:, :, :] = field[2 : ni + 2, 2 : nj + 2, :] - coeff[:, :, :] * (
        flx[1:, :, :] - flx[:-1, :, :] + fly[:, 1:, :] - fly[:, :-1, :]
    )


@autodiff(mode="both")
def vadv(
    tendency_stage: Array3[np.float64],
    u_stage: Array3[np.float64],
    wcon: Array3[np.float64],
    u_pos: Array3[np.float64],
    tendency: Array3[np.float64],
    rate: float,
) -> None:
    """Vertical advection, implicit: one tridiagonal system for each column of the atmosphere (Thomas algorithm)."""
    ni, nj, nk = tendency_stage.shape[0], tendency_stage.shape[1], tendency_stage.shape[2]
    upper = np.empty((ni, nj, nk), dtype=tendency_stage.dtype)
    right = np.empty((ni, nj, nk), dtype=tendency_stage.dtype)

    for k in range(nk):
        known = rate * u_pos[:, :, k] + tendency[:, :, k] + tendency_stage[:, :, k]
        if k == 0:
            below = 0.25 * (wcon[1:, :, k + 1] + wcon[:-1, :, k + 1])
            upper[:, :, k] = below * IMPLICIT
            diagonal = rate - upper[:, :, k]
            known -= below * EXPLICIT * (u_stage[:, :, k + 1] - u_stage[:, :, k])
            upper[:, :, k] /= diagonal
            right[:, :, k] = known / diagonal
        elif k < nk - 1:
            above = -0.25 * (wcon[1:, :, k] + wcon[:-1, :, k])
            below = 0.25 * (wcon[1:, :, k + 1] + wcon[:-1, :, k + 1])
            lower = above * IMPLICIT
            upper[:, :, k] = below * IMPLICIT
            diagonal = rate - lower - upper[:, :, k] - upper[:, :, k - 1] * lower
            known -= above * EXPLICIT * (u_stage[:, :, k - 1] - u_stage[:, :, k])
            known -= below * EXPLICIT * (u_stage[:, :, k + 1] - u_stage[:, :, k])
            upper[:, :, k] /= diagonal
            right[:, :, k] = (known - right[:, :, k - 1] * lower) / diagonal
        else:
            above = -0.25 * (wcon[1:, :, k] + wcon[:-1, :, k])
            lower = above * IMPLICIT
            diagonal = rate - lower - upper[:, :, k - 1] * lower
            known -= above * EXPLICIT * (u_stage[:, :, k - 1] - u_stage[:, :, k])
            right[:, :, k] = (known - right[:, :, k - 1] * lower) / diagonal

    column = right[:, :, nk - 1]
    tendency_stage[:, :, nk - 1] = rate * (column - u_pos[:, :, nk - 1])
    for k in range(nk - 2, -1, -1):
        column = right[:, :, k] - upper[:, :, k] * column
        tendency_stage[:, :, k] = rate * (column - u_pos[:, :, k])
