"""Scalar ops on int64 and bool, and conversions. No derivative: integers and bools are never active.

Arithmetic wraps in two's complement; the ``*_fits`` rows say whether the true result is an int64 (the front end guards
Python integers with them, range analysis removes what cannot happen).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adcore.ir.build import Builder
from adcore.ir.core import Value
from adcore.ops.rows import INT64_MAX, INT64_MIN, fits64, scalar, wrap64

PAIRS = ((7, 2), (-7, 2), (7, -2), (-7, -3), (0, 5), (INT64_MAX, 1), (INT64_MIN, 1))
ONES = ((0,), (5,), (-7,), (INT64_MAX,))
SMALL = ((7, 2), (-7, 2), (1, 5), (0, 3))


def _wrapping(function: Callable[[int, int], int]) -> Callable[[int, int], int]:
    return lambda x, y: wrap64(function(x, y))


def _neutral(number: int, either: bool) -> Callable[..., Value | None]:
    def identity(b: Builder, const: Callable[[Value], Any], x: Value, y: Value) -> Value | None:
        if const(y) == number:
            return x
        return y if either and const(x) == number else None

    return identity


scalar("iadd", "ii->i", "x + y", _wrapping(lambda x, y: x + y), lower="add", commutative=True,
       identity=_neutral(0, True), points=PAIRS)  # fmt: skip
scalar("isub", "ii->i", "x - y", _wrapping(lambda x, y: x - y), lower="sub", identity=_neutral(0, False), points=PAIRS)
scalar("imul", "ii->i", "x * y", _wrapping(lambda x, y: x * y), lower="mul", commutative=True,
       identity=_neutral(1, True), points=PAIRS)  # fmt: skip
scalar(
    "iadd_fits",
    "ii->b",
    "x + y is an int64",
    lambda x, y: fits64(x + y),
    lower="fits sadd",
    commutative=True,
    points=PAIRS,
)
scalar("isub_fits", "ii->b", "x - y is an int64", lambda x, y: fits64(x - y), lower="fits ssub", points=PAIRS)
scalar(
    "imul_fits",
    "ii->b",
    "x * y is an int64",
    lambda x, y: fits64(x * y),
    lower="fits smul",
    commutative=True,
    points=PAIRS,
)


def _floordiv_lower(b: Builder, x: Value, y: Value) -> Value:
    # sdiv truncates and traps on 0 and on INT64_MIN / -1; both divisors are replaced where the result is not used
    zero, one = b.i64(0), b.i64(1)
    minus = b.ieq(y, b.i64(-1))
    safe = b.select(b.or_(minus, b.ieq(y, zero)), one, y)
    q = b.itruncdiv(x, safe)
    r = b.isub(x, b.imul(q, safe))
    off = b.and_(b.ine(r, zero), b.xor(b.ilt(r, zero), b.ilt(safe, zero)))
    q = b.select(off, b.isub(q, one), q)
    return b.select(minus, b.isub(zero, x), b.select(b.ieq(y, zero), zero, q))


def _mod_lower(b: Builder, x: Value, y: Value) -> Value:
    return b.isub(x, b.imul(b.ifloordiv(x, y), y))


def _int_floordiv(x: int, y: int) -> int:
    return wrap64(x // y) if y else 0


def _int_mod(x: int, y: int) -> int:
    return wrap64(x - _int_floordiv(x, y) * y)


def _truncdiv(x: int, y: int) -> int:
    q = abs(x) // abs(y)
    return q if (x < 0) == (y < 0) else -q


scalar(
    "itruncdiv", "ii->i", "x / y towards zero; y is not 0 and the quotient fits", _truncdiv, lower="sdiv", points=PAIRS
)
scalar(
    "ifloordiv",
    "ii->i",
    "x // y; 0 for y = 0, which the front end guards",
    _int_floordiv,
    lower=_floordiv_lower,
    points=(*PAIRS, (7, 0), (INT64_MIN, -1)),
)
scalar(
    "imod",
    "ii->i",
    "x % y; x for y = 0, which the front end guards",
    _int_mod,
    lower=_mod_lower,
    points=(*PAIRS, (7, 0), (INT64_MIN, -1)),
)
scalar("imin", "ii->i", "the smaller", min, lower="intrinsic llvm.smin", commutative=True, points=PAIRS)
scalar("imax", "ii->i", "the larger", max, lower="intrinsic llvm.smax", commutative=True, points=PAIRS)


def _shifted_left(x: int, n: int) -> int:
    return wrap64(x << n) if 0 <= n < 64 else 0


def _shifted_right(x: int, n: int) -> int:
    return x >> min(max(n, 0), 63)


scalar("iand", "ii->i", "x & y", lambda x, y: x & y, lower="and", commutative=True, points=PAIRS)
scalar("ior", "ii->i", "x | y", lambda x, y: x | y, lower="or", commutative=True, points=PAIRS)
scalar("ixor", "ii->i", "x ^ y", lambda x, y: x ^ y, lower="xor", commutative=True, points=PAIRS)
scalar(
    "ishl", "ii->i", "x << n for 0 <= n < 64, else 0", _shifted_left, points=SMALL,
    lower=lambda b, x, n: b.select(b.and_(b.ige(n, b.i64(0)), b.ilt(n, b.i64(64))), b.ishl_raw(x, b.iand(n, b.i64(63))), b.i64(0)),
)  # fmt: skip
scalar("ishr", "ii->i", "x >> n, arithmetic", _shifted_right, points=SMALL,
       lower=lambda b, x, n: b.ishr_raw(x, b.imin(b.imax(n, b.i64(0)), b.i64(63))))  # fmt: skip
scalar("ishl_raw", "ii->i", "x << n for n known in 0..63", _shifted_left, lower="shl", points=((7, 2), (-7, 63)))
scalar("ishr_raw", "ii->i", "x >> n for n known in 0..63", _shifted_right, lower="ashr", points=((7, 2), (-7, 63)))

scalar("ilt", "ii->b", "x < y", lambda x, y: x < y, lower="icmp slt", points=PAIRS)
scalar("ile", "ii->b", "x <= y", lambda x, y: x <= y, lower="icmp sle", points=PAIRS)
scalar("igt", "ii->b", "x > y", lambda x, y: x > y, lower="icmp sgt", points=PAIRS)
scalar("ige", "ii->b", "x >= y", lambda x, y: x >= y, lower="icmp sge", points=PAIRS)
scalar("ieq", "ii->b", "x == y", lambda x, y: x == y, lower="icmp eq", commutative=True, points=(*PAIRS, (3, 3)))
scalar("ine", "ii->b", "x != y", lambda x, y: x != y, lower="icmp ne", commutative=True, points=(*PAIRS, (3, 3)))

_BOOLS = ((False, False), (False, True), (True, False), (True, True))


def _and_identity(b: Builder, const: Callable[[Value], Any], x: Value, y: Value) -> Value | None:
    for one, other in ((x, y), (y, x)):
        known = const(one)
        if known is not None:
            return other if known else one
    return x if x is y else None


def _or_identity(b: Builder, const: Callable[[Value], Any], x: Value, y: Value) -> Value | None:
    for one, other in ((x, y), (y, x)):
        known = const(one)
        if known is not None:
            return one if known else other
    return x if x is y else None


def _not_identity(b: Builder, const: Callable[[Value], Any], x: Value) -> Value | None:
    return x.owner.operands[0] if x.owner is not None and x.owner.name == "not_" else None


scalar(
    "and_", "bb->b", "both", lambda x, y: x and y, lower="and", commutative=True, identity=_and_identity, points=_BOOLS
)
scalar(
    "or_", "bb->b", "either", lambda x, y: x or y, lower="or", commutative=True, identity=_or_identity, points=_BOOLS
)
scalar("xor", "bb->b", "one but not both", lambda x, y: x != y, lower="xor", commutative=True, points=_BOOLS)
scalar(
    "not_",
    "b->b",
    "not x",
    lambda x: not x,
    lower=lambda b, x: b.xor(x, b.const(True)),
    identity=_not_identity,
    points=((True,), (False,)),
)

scalar("itof", "i->f", "nearest float64", float, lower="sitofp", finite=True, points=ONES)
scalar("btoi", "b->i", "0 or 1", int, lower="zext", points=((True,), (False,)))


def _to_int(x: float) -> int:
    return int(x) if -(2.0**63) <= x < 2.0**63 else INT64_MIN


scalar("ftoi", "f->i", "towards zero; the front end guards that it fits", _to_int, lower="fptosi",
       partials=(), points=((1.75,), (-1.75,), (0.0,)))  # fmt: skip
scalar("ftoi_fits", "f->b", "the truncated value is an int64", lambda x: -(2.0**63) <= x < 2.0**63,
       lower=lambda b, x: b.and_(b.fge(x, b.f64(-(2.0**63))), b.flt(x, b.f64(2.0**63))),
       points=((1.75,), (1e300,), (float("nan"),), (-(2.0**63),)))  # fmt: skip
