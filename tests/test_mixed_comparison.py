"""An int is compared with a float as CPython does: exactly, beyond 2**53 too; with a NumPy scalar as NumPy does: the int is rounded first."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

from engine import compile_module

SYMBOLS = ("<", "<=", ">", ">=", "==", "!=")
INTS = (0, 1, -1, 2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1, 2**62 + 1, 2**63 - 1, -(2**63), -(2**63) + 1)
FLOATS = (
    0.0,
    -0.0,
    0.5,
    2.0**53,
    2.0**53 + 2,
    -(2.0**53),
    2.0**62,
    2.0**63,
    -(2.0**63),
    1e300,
    math.inf,
    -math.inf,
    math.nan,
)
SIDES = [f"n {s} x" for s in SYMBOLS] + [f"x {s} n" for s in SYMBOLS]


def text(name: str, float_of: str) -> str:
    body = "".join(f"    if {side}:\n        found += {2**k}\n" for k, side in enumerate(SIDES))
    return f'@autodiff(mode="none")\ndef {name}(x: float, n: int, q: bool) -> int:\n    x = {float_of}\n    found = 0\n{body}    return found\n'


def test_as_cpython_and_as_numpy(tmp_path: Path) -> None:
    forms = {"python": "x", "numpy": "np.positive(x)", "either": "np.positive(x) if q else x"}
    source = "import numpy as np\nfrom adcore import autodiff\n" + "".join(text(n, e) for n, e in forms.items())
    module = compile_module(tmp_path, source)
    for name in forms:
        f = getattr(module, name)
        for n, x, q in itertools.product(INTS, FLOATS, (False, True)):
            assert f(x, n, q) == f.__wrapped__(x, n, q), (name, n, x, q)
