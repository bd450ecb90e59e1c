"""Compiled derivatives of the IR programs against the interpreter's: reverse, forward, second order, calls that stay calls."""

from __future__ import annotations

import numpy as np
import pytest
from ad_programs import CALLS, PROGRAMS
from codegen_helper import Compiled

from adcore import ad, passes
from adcore.ir.core import Module
from adcore.ir.interp import run
from adcore.ir.parser import parse_module

POINTS = [np.array([1.2, 0.7, -0.4, 1.9]), np.array([0.5, 0.45, 0.6]), np.linspace(-1, 1.5, 17)]


def derivatives(text: str) -> Module:
    module = passes.run(parse_module(text))
    module.functions["dv"] = ad.vjp(module.functions["f"], [0], "dv")[0]
    module.functions["dg"] = ad.vjp(module.functions["f"], [0], "dg", 1.0)[0]
    module.functions["dj"] = ad.jvp(module.functions["f"], [0], "dj")
    ad.complete(module)
    module = passes.run(module, [n for n in module.functions if n != "f"])
    module.functions["dh"] = ad.jvp(module.functions["dg"], [0], "dh", keep=[1])
    ad.complete(module)
    module = passes.run(module)
    return passes.run(module, passes=passes.LOWERING, check=True)


def same(got: object, want: object) -> None:
    for g, w in zip(got if isinstance(got, tuple) else (got,), want, strict=True):
        np.testing.assert_allclose(g, w, rtol=1e-11, atol=1e-12, equal_nan=False)


@pytest.mark.parametrize("name", [*PROGRAMS, "CALLS"])
def test_compiled_equals_interpreted(name: str) -> None:
    module = derivatives(CALLS if name == "CALLS" else PROGRAMS[name])
    compiled = Compiled(module)
    rest = [3] if name == "carry" else []
    rng = np.random.default_rng(2)
    for x in POINTS:
        dx = rng.normal(size=x.shape)
        same(compiled("f", x, *rest), run(module, "f", [x, *rest]))
        for _ in range(2):  # a second call on used memory gives the same
            same(compiled("dg", x, *rest), run(module, "dg", [x, *rest]))
        same(compiled("dv", x, *rest, -0.5), run(module, "dv", [x, *rest, -0.5]))
        same(compiled("dj", x, *rest, dx), run(module, "dj", [x, *rest, dx]))
        same(compiled("dh", x, *rest, dx), run(module, "dh", [x, *rest, dx]))
