"""Elementary functions of array loops: at most 1 ulp from the long double value, special values exact, vectorised."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

from adcore.codegen.compile import emit
from adcore.codegen.elementary import INLINED
from adcore.ir.parser import parse_module
from tests.codegen_helper import Compiled

pytest.importorskip("llvmlite")

SOURCE = "".join(
    f"""
func @{name}(%x: array<f64, [n], c>) -> (array<f64, [n], c>) {{
  %n = dim %x {{axis = 0}} : i64
  %y = map %n, %x {{rank = 1, kinds = ("elem",)}} : array<f64, [n], c> (%i: i64, %e: f64) {{
    %v = {name} %e : f64
    yield %v
  }}
  return %y
}}
"""
    for name in INLINED
)
RNG = np.random.default_rng(0)
POINTS = {
    "exp": [RNG.normal(size=200_000) * 3, np.linspace(-745.5, 709.8, 200_000), RNG.normal(size=10_000) * 1e-9],
    "log": [
        np.exp(RNG.uniform(-744, 709, 200_000)), 1.0 + RNG.normal(size=200_000) * 1e-3, RNG.uniform(0.5, 2.0, 200_000),
        np.array([5e-324, 1e-310, 2.0**-1022, np.nextafter(2.0**-1022, 0), np.nextafter(np.inf, 0), math.sqrt(0.5), math.sqrt(2)]),
    ],
}  # fmt: skip
SPECIAL = {
    "exp": [(0.0, 1.0), (-0.0, 1.0), (np.inf, np.inf), (-np.inf, 0.0), (np.nan, np.nan), (709.79, np.inf), (1e308, np.inf), (-746, 0.0)],
    "log": [(0.0, -np.inf), (-0.0, -np.inf), (1.0, 0.0), (np.inf, np.inf), (-1.0, np.nan), (-np.inf, np.nan), (np.nan, np.nan)],
}  # fmt: skip


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    return Compiled(SOURCE)


def ulps(got: Any, x: Any, name: str) -> Any:
    want = getattr(np, name)(x.astype(np.longdouble))
    return np.abs(got.astype(np.longdouble) - want) / np.spacing(np.abs(want.astype(np.float64)))


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="needs a long double wider than a double")
@pytest.mark.parametrize("name", list(INLINED))
def test_errors_are_below_one_ulp(compiled: Compiled, name: str) -> None:
    x = np.concatenate(POINTS[name])
    with np.errstate(all="ignore"):
        got = compiled(name, x)
        error = ulps(got, x, name)
    assert error[np.isfinite(got)].max() < 1.0


@pytest.mark.parametrize("name", list(INLINED))
def test_special_values(compiled: Compiled, name: str) -> None:
    x, want = map(np.array, zip(*SPECIAL[name], strict=True))
    np.testing.assert_array_equal(compiled(name, np.tile(x, 3)), np.tile(want, 3))


@pytest.mark.parametrize("name", list(INLINED))
def test_loops_are_vectorised(name: str) -> None:
    text = emit(parse_module(SOURCE))
    kernel = re.search(rf"^define [^\n]*@k\.{name}\(.*?^}}", text, re.M | re.S)
    assert kernel is not None
    assert "fdiv <2 x double>" in kernel[0]
    assert f"@{name}(" not in kernel[0]
