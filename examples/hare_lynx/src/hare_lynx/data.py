"""The counts: pelts in thousands, one row a year."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from adcore.typing import Vector


@dataclass(frozen=True)
class Counts:
    """Columns of equal length, in the order of the years."""

    years: list[int]
    hares: Vector
    lynxes: Vector


def load() -> Counts:
    """All rows of the file, whose first lines are comments."""
    text = (files("hare_lynx") / "data" / "hudson_bay_lynx_hare.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
    return Counts(
        [int(row["Year"]) for row in rows],
        np.array([float(row["Hare"]) for row in rows]),
        np.array([float(row["Lynx"]) for row in rows]),
    )
