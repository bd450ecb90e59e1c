"""Every scalar row of the op table, compiled, at its points and singular points, against its reference meaning."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import adcore.ops  # noqa: F401
from adcore.ir.build import Builder
from adcore.ir.core import Function, Module, Region, Value
from adcore.ir.opdef import REGISTRY, OpDef
from adcore.ir.types import BOOL, F64, I64, Type
from tests.codegen_helper import Compiled, same

pytest.importorskip("llvmlite")

# Functions of libm: the last place or two may differ from Python's own (which is this same libm for most of them).
ULPS = 4.0
GAMMA = frozenset({"gamma", "lgamma", "digamma", "trigamma"})  # CPython has an algorithm of its own
EXACT = frozenset({"sqrt", "fabs", "floor", "ceil", "trunc", "rint", "copysign", "fmod", "remainder"})


def rows() -> list[tuple[OpDef, int]]:
    return [(row, k) for row in REGISTRY.values() if row.is_scalar for k in range(len(row.attrs))]


def points(row: OpDef) -> list[tuple[Any, ...]]:
    return [*row.points, *(s.operands for s in row.singular)]


def type_of(value: Any) -> Type:
    return BOOL if isinstance(value, bool) else I64 if isinstance(value, int) else F64


def function_of(row: OpDef, k: int) -> Function:
    params = [Value(type_of(v), f"x{j}") for j, v in enumerate(points(row)[0])]
    region = Region(params)
    b = Builder(region)
    result = b.emit(row.name, params, **row.attrs[k])
    b.op("return", [result], {}, [])
    return Function(f"{row.name}.{k}", region, (result.type,))


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    module = Module({f.name: f for f in (function_of(row, k) for row, k in rows())})
    return Compiled(module)


@pytest.mark.parametrize(("row", "k"), rows(), ids=lambda v: v.name if isinstance(v, OpDef) else str(v))
def test_row(compiled: Compiled, row: OpDef, k: int) -> None:
    assert points(row), f"{row.name} has no test points"
    for operands in points(row):
        got = compiled(f"{row.name}.{k}", *operands)
        assert row.evaluate is not None
        with np.errstate(all="ignore"):
            want = row.evaluate(row.attrs[k], *operands)
        libm = isinstance(row.lower, str) and row.lower.startswith("call") and row.name not in EXACT
        tolerance = 1e-13 if row.name in GAMMA else ULPS * 2.0**-53 if libm else 0.0
        absolute = 1e-14 if row.name in GAMMA else 0.0
        if row.name in ("fmax", "fmin"):
            got, want = got + 0.0, want + 0.0  # of 0.0 and -0.0 NumPy takes either
        same(got, want, tolerance, absolute)


def test_nan_operands_reach_the_result(compiled: Compiled) -> None:
    for name in ("fadd", "fmul", "sin", "fmax", "fmin"):
        arity = len(REGISTRY[name].points[0])
        assert math.isnan(compiled(f"{name}.0", *[math.nan] * arity))
