"""Range analysis of integers: decides comparisons and overflow checks, so that guards that cannot fail disappear.

A fact about an int64 value is an interval and symbolic bounds ``v <= base + c``, ``v >= base + c`` over other SSA
values (sizes, trip ends). Facts hold in the region
where they are learnt: from the definition, from the ``if`` arm one is in, and after a ``guard`` that was passed. No
arithmetic fact is concluded where the
operation might wrap.
After: a comparison that always has one outcome is a constant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from adcore.ir.core import Function, Module, Op, Region, Value
from adcore.ir.rewrite import Rewriter
from adcore.ir.types import I64

LOW, HIGH = -(2**63), 2**63 - 1
MAX_SIZE = 2**60  # no array has more elements
MAX_BOUNDS = 6  # symbolic bounds kept per value and side


@dataclass(frozen=True, slots=True)
class Fact:
    """lo <= v <= hi; v <= base + c for (base, c) in ``below``; v >= base + c for (base, c) in ``above``."""

    lo: int = LOW
    hi: int = HIGH
    below: Mapping[Value, int] = field(default_factory=dict)
    above: Mapping[Value, int] = field(default_factory=dict)


def ranges(function: Function, module: Module) -> Function:
    return _Ranges(module).function(function)


def _shift(bounds: Mapping[Value, int], by: int) -> dict[Value, int]:
    return {base: c + by for base, c in bounds.items()}


def _limit(bounds: dict[Value, int]) -> dict[Value, int]:
    return dict(list(bounds.items())[:MAX_BOUNDS])


class _Ranges(Rewriter):
    def __init__(self, module: Module) -> None:
        super().__init__()
        self.module = module
        self.scopes: list[dict[Value, Fact]] = [{}]
        self.fits: list[set[tuple[str, Value, Value]]] = [set()]  # operations known not to wrap
        self.arm: list[tuple[Value, bool]] = []  # what holds in the region about to be entered
        self.loop: tuple[Op, list[Value]] | None = None

    # --- facts
    def fact(self, v: Value) -> Fact:
        for scope in reversed(self.scopes):
            if v in scope:
                return scope[v]
        return Fact()

    def below(self, v: Value) -> dict[Value, int]:
        return {v: 0, **self.fact(v).below}

    def above(self, v: Value) -> dict[Value, int]:
        return {v: 0, **self.fact(v).above}

    def know(
        self, v: Value, lo: int = LOW, hi: int = HIGH, below: Mapping[Value, int] = {}, above: Mapping[Value, int] = {}
    ) -> None:
        """Add to what is known of ``v`` in the current scope."""
        if v.type != I64:
            return
        old = self.fact(v)
        upper, lower = dict(old.below), dict(old.above)
        for base, c in below.items():
            if base is not v:
                upper[base] = min(c, upper.get(base, c))
        for base, c in above.items():
            if base is not v:
                lower[base] = max(c, lower.get(base, c))
        self.scopes[-1][v] = Fact(max(lo, old.lo), min(hi, old.hi), _limit(upper), _limit(lower))

    def less(self, a: Value, b: Value) -> bool | None:
        """Whether a < b, where decided."""
        fa, fb = self.fact(a), self.fact(b)
        if fa.hi < fb.lo:
            return True
        if fa.lo >= fb.hi:
            return False
        above_b, above_a = self.above(b), self.above(a)
        if any(base in above_b and c < above_b[base] for base, c in self.below(a).items()):
            return True
        if any(base in above_a and above_a[base] >= c for base, c in self.below(b).items()):
            return False
        return None

    def compare(self, name: str, a: Value, b: Value) -> bool | None:
        match name:
            case "ilt":
                return self.less(a, b)
            case "igt":
                return self.less(b, a)
            case "ige":
                return None if (r := self.less(a, b)) is None else not r
            case "ile":
                return None if (r := self.less(b, a)) is None else not r
            case "ieq" | "ine":
                if self.less(a, b) or self.less(b, a):
                    return name == "ine"
        return None

    def assume(self, cond: Value, holds: bool) -> None:
        """Learn from a condition that is true (or false) here."""
        op = cond.owner
        if op is None:
            return
        if op.name == "not_":
            self.assume(op.operands[0], not holds)
        elif op.name == ("and_" if holds else "or_"):
            for v in op.operands:
                self.assume(v, holds)
        elif op.name in ("iadd_fits", "isub_fits", "imul_fits") and holds:
            self.fits[-1].add((op.name[:4], *op.operands))  # type: ignore[arg-type]  # two operands
        elif op.name in ("ilt", "ile", "igt", "ige"):
            a, b = op.operands
            name = op.name if holds else {"ilt": "ige", "ile": "igt", "igt": "ile", "ige": "ilt"}[op.name]
            if name in ("igt", "ige"):
                a, b, name = b, a, {"igt": "ilt", "ige": "ile"}[name]
            self.order(a, b, 1 if name == "ilt" else 0)
        elif op.name == ("ieq" if holds else "ine"):
            a, b = op.operands
            self.order(a, b, 0)
            self.order(b, a, 0)

    def order(self, a: Value, b: Value, gap: int) -> None:
        """a + gap <= b."""
        self.know(a, hi=self.fact(b).hi - gap, below=_shift(self.below(b), -gap))
        self.know(b, lo=self.fact(a).lo + gap, above=_shift(self.above(a), gap))

    # --- regions
    def region(self, old: Region, known: Mapping[Value, Value] | None = None) -> Region:
        self.scopes.append({})
        self.fits.append(set())
        region = super().region(old, known)
        self.scopes.pop()
        self.fits.pop()
        return region

    def entered(self, old: Region, new: Region) -> None:
        for cond, holds in self.arm:
            self.assume(cond, holds)
        self.arm = []
        if self.loop is not None:
            op, operands = self.loop
            self.loop = None
            self.index_facts(op, operands, new)

    def index_facts(self, op: Op, operands: list[Value], region: Region) -> None:
        if op.name == "map":
            for i, size in zip(region.params, operands[: op.attrs["rank"]], strict=False):
                self.know(i, 0, self.fact(size).hi - 1, _shift(self.below(size), -1))
        elif op.name == "for":
            lo, hi, step = operands[:3]
            i, by = region.params[0], self.fact(step)
            if by.lo > 0:
                self.know(i, self.fact(lo).lo, self.fact(hi).hi - 1, _shift(self.below(hi), -1), self.above(lo))
            elif by.hi < 0:
                self.know(i, self.fact(hi).lo + 1, self.fact(lo).hi, self.below(lo), _shift(self.above(hi), 1))

    # --- ops
    def op(self, op: Op, operands: list[Value]) -> list[Value]:
        if op.name == "if":
            return self.op_if(op, operands)
        if op.regions:
            self.loop = (op, operands)
            return self.copy(op, operands)
        decided = self.decide(op, operands)
        if decided is not None:
            return [self.b.const(decided)]
        if op.name == "select":
            known = self.compare_value(operands[0])
            if known is not None:
                return [operands[1 if known else 2]]
        results = self.copy(op, operands)
        if op.name == "guard":
            self.assume(operands[0], True)
        elif results and results[0].type == I64:
            self.define(op, operands, results[0])
        return results

    def compare_value(self, cond: Value) -> bool | None:
        return cond.owner.attrs["value"] if cond.owner is not None and cond.owner.name == "const" else None

    def op_if(self, op: Op, operands: list[Value]) -> list[Value]:
        regions = []
        for old, holds in zip(op.regions, (True, False), strict=True):
            self.arm = [(operands[0], holds)]
            regions.append(self.region(old))
        new = Op(op.name, operands, [r.type for r in op.results], dict(op.attrs), regions, op.span)
        return self.b.append(new).results

    def decide(self, op: Op, operands: list[Value]) -> bool | None:
        if op.name in ("ilt", "ile", "igt", "ige", "ieq", "ine"):
            return self.compare(op.name, *operands)
        if op.name in ("iadd_fits", "isub_fits", "imul_fits"):
            name = op.name[:4]
            if self.known_fit(name, *operands):
                return True
        return None

    def known_fit(self, name: str, a: Value, b: Value) -> bool:
        if any((name, a, b) in known or (name != "isub" and (name, b, a) in known) for known in self.fits):
            return True
        lo, hi = self.interval(name, self.fact(a), self.fact(b))
        if lo >= LOW and hi <= HIGH:
            return True
        if name == "isub":  # a - b with 0 <= b <= a + c
            return self.fact(b).lo >= 0 and self.fact(a).lo >= 0
        return False

    def interval(self, name: str, a: Fact, b: Fact) -> tuple[int, int]:
        if name == "iadd":
            return a.lo + b.lo, a.hi + b.hi
        if name == "isub":
            return a.lo - b.hi, a.hi - b.lo
        products = [x * y for x in (a.lo, a.hi) for y in (b.lo, b.hi)]
        return min(products), max(products)

    def define(self, op: Op, operands: list[Value], r: Value) -> None:
        handler = getattr(self, "def_" + op.name, None)
        if handler is not None:
            handler(op, operands, r)
        elif op.name in ("iadd", "isub", "imul") and self.known_fit(op.name, *operands):
            self.arithmetic(op.name, operands, r)

    def arithmetic(self, name: str, operands: list[Value], r: Value) -> None:
        a, b = operands
        fa, fb = self.fact(a), self.fact(b)
        lo, hi = self.interval(name, fa, fb)
        self.know(r, max(lo, LOW), min(hi, HIGH))
        if name == "iadd":
            for x, fy in ((a, fb), (b, fa)):
                if fy.hi < MAX_SIZE:
                    self.know(r, below=_shift(self.below(x), fy.hi))
                if fy.lo > -MAX_SIZE:
                    self.know(r, above=_shift(self.above(x), fy.lo))
        elif name == "isub":
            if fb.lo > -MAX_SIZE:
                self.know(r, below=_shift(self.below(a), -fb.lo))
            if fb.hi < MAX_SIZE:
                self.know(r, above=_shift(self.above(a), -fb.hi))
            below_b, above_a = self.below(b), self.above(a)
            gaps = [above_a[base] - c for base, c in below_b.items() if base in above_a]
            if gaps:
                self.know(r, lo=max(gaps))

    def def_const(self, op: Op, operands: list[Value], r: Value) -> None:
        self.know(r, op.attrs["value"], op.attrs["value"])

    def def_dim(self, op: Op, operands: list[Value], r: Value) -> None:
        self.know(r, 0, MAX_SIZE)

    def def_btoi(self, op: Op, operands: list[Value], r: Value) -> None:
        self.know(r, 0, 1)

    def def_imin(self, op: Op, operands: list[Value], r: Value) -> None:
        a, b = (self.fact(v) for v in operands)
        self.know(r, min(a.lo, b.lo), min(a.hi, b.hi), {**self.below(operands[0]), **self.below(operands[1])})

    def def_imax(self, op: Op, operands: list[Value], r: Value) -> None:
        a, b = (self.fact(v) for v in operands)
        self.know(r, max(a.lo, b.lo), max(a.hi, b.hi), {}, {**self.above(operands[0]), **self.above(operands[1])})
        # the smaller one never raises a common upper bound
        first, second = self.below(operands[0]), self.below(operands[1])
        self.know(r, below={base: max(c, second[base]) for base, c in first.items() if base in second})

    def def_select(self, op: Op, operands: list[Value], r: Value) -> None:
        cond, x, y = operands
        facts = []
        for v, holds in ((x, True), (y, False)):
            self.scopes.append({})
            self.fits.append(set())
            self.assume(cond, holds)
            facts.append((self.fact(v), self.below(v), self.above(v)))
            self.scopes.pop()
            self.fits.pop()
        (a, below_a, above_a), (b, below_b, above_b) = facts
        self.know(
            r, min(a.lo, b.lo), max(a.hi, b.hi),
            {k: max(c, below_b[k]) for k, c in below_a.items() if k in below_b},
            {k: min(c, above_b[k]) for k, c in above_a.items() if k in above_b},
        )  # fmt: skip

    def def_imod(self, op: Op, operands: list[Value], r: Value) -> None:
        divisor = self.fact(operands[1])
        if divisor.lo > 0:
            self.know(r, 0, divisor.hi - 1, _shift(self.below(operands[1]), -1))

    def def_ifloordiv(self, op: Op, operands: list[Value], r: Value) -> None:
        a, d = (self.fact(v) for v in operands)
        if d.lo > 0 and d.hi < MAX_SIZE:
            ends = [x // y for x in (a.lo, a.hi) for y in (d.lo, d.hi)]
            self.know(r, min(ends), max(ends))
            if a.lo >= 0:
                self.know(r, 0, below=self.below(operands[0]))

    def def_iand(self, op: Op, operands: list[Value], r: Value) -> None:
        tops = [self.fact(v).hi for v in operands if self.fact(v).lo >= 0]
        if tops:
            self.know(r, 0, min(tops))
