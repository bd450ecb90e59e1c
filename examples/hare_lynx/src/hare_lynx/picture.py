"""Data and fit as an SVG, written by hand."""

from __future__ import annotations

import math

import numpy as np

from adcore.typing import Vector
from hare_lynx.data import Counts
from hare_lynx.model import step

WIDTH, HEIGHT = 720, 400
LEFT, RIGHT, TOP, BOTTOM = 60, 20, 30, 50
HARE, LYNX = "#2a6f97", "#c1440e"
POINTS_A_YEAR = 50


def draw(counts: Counts, x: Vector) -> str:
    """The counts as dots and the fitted solution as lines; `x` are the logarithms of the parameters."""
    times, hares, lynxes = trajectory(x, len(counts.years))
    highest: int = 20 * math.ceil(max(*hares, *lynxes, *counts.hares, *counts.lynxes) / 20)

    def across(year: float) -> float:
        """From years since the first one."""
        return LEFT + (WIDTH - LEFT - RIGHT) * year / (len(counts.years) - 1)

    def down(pelts: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * pelts / highest

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
        ' font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for pelts in range(0, highest + 1, 20):
        y = down(pelts)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{pelts}</text>')
    for k, year in enumerate(counts.years):
        if year % 5 == 0:
            parts.append(f'<text x="{across(k):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{year}</text>')
    for name, color, curve, dots, column in (
        ("hares", HARE, hares, counts.hares, 0),
        ("lynxes", LYNX, lynxes, counts.lynxes, 1),
    ):
        line = " ".join(f"{across(t):.1f},{down(p):.1f}" for t, p in zip(times, curve, strict=True))
        parts.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="1.5"/>')
        for k, count in enumerate(dots):
            parts.append(f'<circle cx="{across(k):.1f}" cy="{down(count):.1f}" r="3.5" fill="{color}"/>')
        parts.append(f'<text x="{LEFT + 10 + 70 * column}" y="{TOP - 10}" fill="{color}">{name}</text>')
    label = "thousands of pelts a year (dots) and the fitted model (lines)"
    parts.append(f'<text x="{WIDTH / 2}" y="{HEIGHT - 10}" text-anchor="middle">{label}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def trajectory(x: Vector, years: int) -> tuple[list[float], list[float], list[float]]:
    """Times in years since the first count, hares and lynxes."""
    alpha, beta, gamma, delta, hare, lynx = (float(value) for value in np.exp(x[:6]))
    times, hares, lynxes = [0.0], [hare], [lynx]
    for k in range((years - 1) * POINTS_A_YEAR):
        hare, lynx = step(hare, lynx, alpha, beta, gamma, delta, 1.0 / POINTS_A_YEAR)
        times.append((k + 1) / POINTS_A_YEAR)
        hares.append(hare)
        lynxes.append(lynx)
    return times, hares, lynxes
