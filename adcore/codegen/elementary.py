"""Elementary functions for array loops: branch-free LLVM text that is inlined and vectorised with the loop around it.

In ``map`` they take the place of libm's functions, which are called one element at a time. No fused operations, so every
processor gives the same value. Errors stay below 1 ulp (measured against long double): the algorithms and coefficients
are those of FreeBSD's msun (Sun Microsystems' fdlibm, e_exp.c and e_log.c), with the exponent taken and put back by
integer arithmetic on the bits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from adcore.codegen.text import FunctionText, double

LN2_HI, LN2_LO = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # k * LN2_HI is exact for all exponents k
ROUND = 6755399441055744.0  # 1.5 * 2**52: adding it rounds to an integer, whose low bits are then those of the sum
EXP = (
    1.66666666666666019037e-01,
    -2.77777777770155933842e-03,
    6.61375632143793436117e-05,
    -1.65339022054652515390e-06,
    4.13813679705723846039e-08,
)
LOG = (
    6.666666666666735130e-01,
    3.999999999940941908e-01,
    2.857142874366239149e-01,
    2.222219843214978396e-01,
    1.818357216161805012e-01,
    1.531383769920937332e-01,
    1.479819860511658591e-01,
)
ROOT_HALF = 0x3FE6A09E00000000  # bits of sqrt(1/2), rounded down
ONE = 0x3FF0000000000000
FRACTION = (1 << 52) - 1


class _Text(FunctionText):
    """Doubles in, doubles out; numbers may stand where registers do."""

    def f(self, op: str, a: str | float, b: str | float) -> str:
        a, b = (double(v) if isinstance(v, float) else v for v in (a, b))
        return self.value(f"{op} double {a}, {b}")

    def i(self, op: str, a: str, b: int) -> str:
        return self.value(f"{op} i64 {a}, {b}")

    def pick(self, compare: str, a: str, b: float, yes: float, no: str) -> str:
        """``yes`` where the comparison of ``a`` and ``b`` holds."""
        condition = self.value(f"fcmp {compare} double {a}, {double(b)}")
        return self.value(f"select i1 {condition}, double {double(yes)}, double {no}")

    def bits(self, a: str) -> str:
        return self.value(f"bitcast double {a} to i64")

    def number(self, a: str) -> str:
        return self.value(f"bitcast i64 {a} to double")

    def polynomial(self, coefficients: Sequence[float], x: str) -> str:
        total = double(coefficients[-1])
        for c in reversed(coefficients[:-1]):
            total = self.f("fadd", self.f("fmul", total, x), c)
        return total

    def definition(self, name: str, result: str) -> str:
        self.line(f"ret double {result}")
        head = f"define internal double @{name}(double %x) alwaysinline nounwind willreturn memory(none)"
        return f"{head} {{\n{self.body()}\n}}"


def exp_text() -> str:
    """exp(x) = 2**k * exp(r), |r| <= ln 2 / 2; 2**k in two factors, so that subnormal results are rounded once."""
    w = _Text()
    x = w.pick("olt", "%x", -746.0, -746.0, "%x")
    x = w.pick("ogt", x, 710.0, 710.0, x)
    k = w.f("fsub", w.f("fadd", w.f("fmul", x, 1.44269504088896338700), ROUND), ROUND)
    high, low = w.f("fsub", x, w.f("fmul", k, LN2_HI)), w.f("fmul", k, LN2_LO)
    r = w.f("fsub", high, low)
    square = w.f("fmul", r, r)
    c = w.f("fsub", r, w.f("fmul", square, w.polynomial(EXP, square)))
    quotient = w.f("fdiv", w.f("fmul", r, c), w.f("fsub", 2.0, c))
    y = w.f("fsub", 1.0, w.f("fsub", w.f("fsub", low, quotient), high))
    half = w.f("fadd", w.f("fmul", k, 0.5), ROUND)
    rest = w.f("fadd", w.f("fsub", k, w.f("fsub", half, ROUND)), ROUND)
    for exponent in (half, rest):
        y = w.f("fmul", y, w.number(w.i("add", w.i("shl", w.bits(exponent), 52), ONE)))
    return w.definition("math.exp", y)


def log_text() -> str:
    """log(x) = k * ln 2 + log(1 + f), sqrt(1/2) <= 1 + f < sqrt(2)."""
    w = _Text()
    tiny = w.value(f"fcmp olt double %x, {double(2.0**-1022)}")
    scaled = w.value(f"select i1 {tiny}, double {w.f('fmul', '%x', 2.0**54)}, double %x")
    bias = w.value(f"select i1 {tiny}, double {double(2.0**52 + 1023 + 54)}, double {double(2.0**52 + 1023)}")
    u = w.i("add", w.bits(scaled), ONE - ROOT_HALF)
    exponent = w.number(w.i("or", w.i("lshr", u, 52), 0x4330000000000000))  # 2**52 + the biased exponent
    k = w.f("fsub", exponent, bias)
    f = w.f("fsub", w.number(w.i("add", w.i("and", u, FRACTION), ROOT_HALF)), 1.0)
    half_square = w.f("fmul", w.f("fmul", f, 0.5), f)
    s = w.f("fdiv", f, w.f("fadd", f, 2.0))
    z = w.f("fmul", s, s)
    z2 = w.f("fmul", z, z)
    even, odd = w.f("fmul", z2, w.polynomial(LOG[1::2], z2)), w.f("fmul", z, w.polynomial(LOG[0::2], z2))
    tail = w.f("fmul", s, w.f("fadd", half_square, w.f("fadd", odd, even)))
    low = w.f("fsub", w.f("fadd", tail, w.f("fmul", k, LN2_LO)), half_square)
    y = w.f("fadd", w.f("fadd", low, f), w.f("fmul", k, LN2_HI))
    y = w.pick("oeq", "%x", math.inf, math.inf, y)
    y = w.pick("oeq", "%x", 0.0, -math.inf, y)
    return w.definition("math.log", w.pick("ult", "%x", 0.0, math.nan, y))


INLINED = {"exp": exp_text, "log": log_text}  # function of libm -> definition of math.<name>
