"""Flows of incompressible fluids in two dimensions, and bodies that attract each other."""

import numpy as np

from adcore import autodiff
from adcore.typing import Matrix, Vector


def cavity_source(b, rho, dt, u, v, dx, dy):
    """The right side of the equation for the pressure, into `b`."""
    b[1:-1, 1:-1] = rho * (
        1 / dt * ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx) + (v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy))
        - ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx)) ** 2
        - 2 * ((u[2:, 1:-1] - u[0:-2, 1:-1]) / (2 * dy) * (v[1:-1, 2:] - v[1:-1, 0:-2]) / (2 * dx))
        - ((v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy)) ** 2
    )


def cavity_pressure(sweeps, p, dx, dy, b):
    """Jacobi sweeps over `p`; its normal derivative is 0 at three walls, and it is 0 at the lid."""
    for _ in range(sweeps):
        old = p.copy()
        p[1:-1, 1:-1] = ((old[1:-1, 2:] + old[1:-1, 0:-2]) * dy**2 + (old[2:, 1:-1] + old[0:-2, 1:-1]) * dx**2) / (
            2 * (dx**2 + dy**2)
        ) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, 1:-1]
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0


@autodiff(mode="both")
def cavity_flow(
    nx: int,
    ny: int,
    steps: int,
    sweeps: int,
    u: Matrix,
    v: Matrix,
    dt: float,
    dx: float,
    dy: float,
    p: Matrix,
    rho: float,
    nu: float,
) -> None:
    """A square cavity whose lid moves at speed 1."""
    un = np.empty_like(u)
    vn = np.empty_like(v)
    b = np.zeros((ny, nx))
    for _ in range(steps):
        un = u.copy()
        vn = v.copy()
        cavity_source(b, rho, dt, u, v, dx, dy)
        cavity_pressure(sweeps, p, dx, dy, b)
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, 0:-2])
            - vn[1:-1, 1:-1] * dt / dy * (un[1:-1, 1:-1] - un[0:-2, 1:-1])
            - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, 0:-2])
            + nu
            * (
                dt / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, 0:-2])
                + dt / dy**2 * (un[2:, 1:-1] - 2 * un[1:-1, 1:-1] + un[0:-2, 1:-1])
            )
        )
        v[1:-1, 1:-1] = (
            vn[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[1:-1, 0:-2])
            - vn[1:-1, 1:-1] * dt / dy * (vn[1:-1, 1:-1] - vn[0:-2, 1:-1])
            - dt / (2 * rho * dy) * (p[2:, 1:-1] - p[0:-2, 1:-1])
            + nu
            * (
                dt / dx**2 * (vn[1:-1, 2:] - 2 * vn[1:-1, 1:-1] + vn[1:-1, 0:-2])
                + dt / dy**2 * (vn[2:, 1:-1] - 2 * vn[1:-1, 1:-1] + vn[0:-2, 1:-1])
            )
        )
        u[0, :] = 0
        u[:, 0] = 0
        u[:, -1] = 0
        u[-1, :] = 1
        v[0, :] = 0
        v[-1, :] = 0
        v[:, 0] = 0
        v[:, -1] = 0


# The channel is periodic: its first column follows its last one. What holds for a point is written once, in terms of
# the point and its neighbours, for the inner columns, the last one and the first one.


def channel_source(u_east, u_west, u_north, u_south, v_east, v_west, v_north, v_south, rho, dt, dx, dy):
    ux = (u_east - u_west) / (2 * dx)
    uy = (u_north - u_south) / (2 * dy)
    vx = (v_east - v_west) / (2 * dx)
    vy = (v_north - v_south) / (2 * dy)
    return rho * (1 / dt * (ux + vy) - ux**2 - 2 * (uy * vx) - vy**2)


def channel_sources(b, rho, dt, u, v, dx, dy):
    """The right side of the equation for the pressure, into `b`."""
    b[1:-1, 1:-1] = channel_source(
        u[1:-1, 2:], u[1:-1, 0:-2], u[2:, 1:-1], u[0:-2, 1:-1],
        v[1:-1, 2:], v[1:-1, 0:-2], v[2:, 1:-1], v[0:-2, 1:-1], rho, dt, dx, dy,
    )  # fmt: skip
    b[1:-1, -1] = channel_source(
        u[1:-1, 0], u[1:-1, -2], u[2:, -1], u[0:-2, -1],
        v[1:-1, 0], v[1:-1, -2], v[2:, -1], v[0:-2, -1], rho, dt, dx, dy,
    )  # fmt: skip
    b[1:-1, 0] = channel_source(
        u[1:-1, 1], u[1:-1, -1], u[2:, 0], u[0:-2, 0],
        v[1:-1, 1], v[1:-1, -1], v[2:, 0], v[0:-2, 0], rho, dt, dx, dy,
    )  # fmt: skip


def channel_relax(east, west, north, south, b, dx, dy):
    scale = 2 * (dx**2 + dy**2)
    return ((east + west) * dy**2 + (north + south) * dx**2) / scale - dx**2 * dy**2 / scale * b


def channel_pressure(sweeps, p, dx, dy, b):
    """Jacobi sweeps over `p`, whose normal derivative is 0 at both walls."""
    for _ in range(sweeps):
        old = p.copy()
        p[1:-1, 1:-1] = channel_relax(
            old[1:-1, 2:], old[1:-1, 0:-2], old[2:, 1:-1], old[0:-2, 1:-1], b[1:-1, 1:-1], dx, dy
        )
        p[1:-1, -1] = channel_relax(old[1:-1, 0], old[1:-1, -2], old[2:, -1], old[0:-2, -1], b[1:-1, -1], dx, dy)
        p[1:-1, 0] = channel_relax(old[1:-1, 1], old[1:-1, -1], old[2:, 0], old[0:-2, 0], b[1:-1, 0], dx, dy)
        p[-1, :] = p[-2, :]
        p[0, :] = p[1, :]


def transported(q, east, west, north, south, u, v, nu, dt, dx, dy):
    """A component `q` of the velocity after a step of advection and diffusion."""
    return (
        q
        - u * dt / dx * (q - west)
        - v * dt / dy * (q - south)
        + nu * (dt / dx**2 * (east - 2 * q + west) + dt / dy**2 * (north - 2 * q + south))
    )


@autodiff(mode="both")
def channel_flow(
    sweeps: int, u: Matrix, v: Matrix, dt: float, dx: float, dy: float, p: Matrix, rho: float, nu: float, force: float
) -> int:
    """A channel in which a force drives the fluid, until the flow is steady; the number of steps."""
    b = np.zeros_like(u)
    udiff = 1
    steps = 0
    while udiff > 0.001:
        un = u.copy()
        vn = v.copy()
        channel_sources(b, rho, dt, u, v, dx, dy)
        channel_pressure(sweeps, p, dx, dy, b)
        u[1:-1, 1:-1] = (
            transported(
                un[1:-1, 1:-1], un[1:-1, 2:], un[1:-1, 0:-2], un[2:, 1:-1], un[0:-2, 1:-1],
                un[1:-1, 1:-1], vn[1:-1, 1:-1], nu, dt, dx, dy,
            )
            - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, 0:-2])
            + force * dt
        )  # fmt: skip
        u[1:-1, -1] = (
            transported(
                un[1:-1, -1], un[1:-1, 0], un[1:-1, -2], un[2:, -1], un[0:-2, -1],
                un[1:-1, -1], vn[1:-1, -1], nu, dt, dx, dy,
            )
            - dt / (2 * rho * dx) * (p[1:-1, 0] - p[1:-1, -2])
            + force * dt
        )  # fmt: skip
        u[1:-1, 0] = (
            transported(
                un[1:-1, 0], un[1:-1, 1], un[1:-1, -1], un[2:, 0], un[0:-2, 0],
                un[1:-1, 0], vn[1:-1, 0], nu, dt, dx, dy,
            )
            - dt / (2 * rho * dx) * (p[1:-1, 1] - p[1:-1, -1])
            + force * dt
        )  # fmt: skip
        v[1:-1, 1:-1] = transported(
            vn[1:-1, 1:-1], vn[1:-1, 2:], vn[1:-1, 0:-2], vn[2:, 1:-1], vn[0:-2, 1:-1],
            un[1:-1, 1:-1], vn[1:-1, 1:-1], nu, dt, dx, dy,
        ) - dt / (2 * rho * dy) * (p[2:, 1:-1] - p[0:-2, 1:-1])  # fmt: skip
        v[1:-1, -1] = transported(
            vn[1:-1, -1], vn[1:-1, 0], vn[1:-1, -2], vn[2:, -1], vn[0:-2, -1],
            un[1:-1, -1], vn[1:-1, -1], nu, dt, dx, dy,
        ) - dt / (2 * rho * dy) * (p[2:, -1] - p[0:-2, -1])  # fmt: skip
        v[1:-1, 0] = transported(
            vn[1:-1, 0], vn[1:-1, 1], vn[1:-1, -1], vn[2:, 0], vn[0:-2, 0],
            un[1:-1, 0], vn[1:-1, 0], nu, dt, dx, dy,
        ) - dt / (2 * rho * dy) * (p[2:, 0] - p[0:-2, 0])  # fmt: skip
        u[0, :] = 0
        u[-1, :] = 0
        v[0, :] = 0
        v[-1, :] = 0
        udiff = (np.sum(u) - np.sum(un)) / np.sum(u)
        steps += 1
    return steps


def acceleration(pos, mass, gravity, softening):
    x = pos[:, 0:1]
    y = pos[:, 1:2]
    z = pos[:, 2:3]
    dx = x.T - x
    dy = y.T - y
    dz = z.T - z
    inv_r3 = dx**2 + dy**2 + dz**2 + softening**2
    inv_r3[inv_r3 > 0] = inv_r3[inv_r3 > 0] ** (-1.5)
    ax = gravity * (dx * inv_r3) @ mass
    ay = gravity * (dy * inv_r3) @ mass
    az = gravity * (dz * inv_r3) @ mass
    return np.hstack((ax, ay, az))


def energy(pos, vel, mass, gravity):
    """Kinetic and potential."""
    kinetic = 0.5 * np.sum(mass * vel**2)
    x = pos[:, 0:1]
    y = pos[:, 1:2]
    z = pos[:, 2:3]
    dx = x.T - x
    dy = y.T - y
    dz = z.T - z
    inv_r = np.sqrt(dx**2 + dy**2 + dz**2)
    inv_r[inv_r > 0] = 1.0 / inv_r[inv_r > 0]
    potential = gravity * np.sum(np.sum(np.triu(-(mass * mass.T) * inv_r, 1)))
    return kinetic, potential


@autodiff(mode="both")
def nbody(
    mass: Matrix, pos: Matrix, vel: Matrix, steps: int, dt: float, gravity: float, softening: float
) -> tuple[Vector, Vector]:
    """Leapfrog integration: the kinetic and the potential energy at each time."""
    vel -= np.mean(mass * vel, axis=0) / np.mean(mass)
    acc = acceleration(pos, mass, gravity, softening)
    kinetic = np.empty(steps + 1)
    potential = np.empty(steps + 1)
    kinetic[0], potential[0] = energy(pos, vel, mass, gravity)
    for i in range(steps):
        vel += acc * dt / 2.0
        pos += vel * dt
        acc = acceleration(pos, mass, gravity, softening)
        vel += acc * dt / 2.0
        kinetic[i + 1], potential[i + 1] = energy(pos, vel, mass, gravity)
    return kinetic, potential
