"""Faults to inject: in which module, which text becomes which. Each text stands in its module exactly once."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mutant:
    name: str
    module: str
    old: str
    new: str


_ROWS: dict[str, list[tuple[str, str, str]]] = {
    "adcore.ops.real": [
        ("the product rule swaps its factors", "partials=(lambda b, a, r: a[1], lambda b, a, r: a[0]),", "partials=(lambda b, a, r: a[0], lambda b, a, r: a[1]),"),
        ("a quotient's slope by its divisor loses its sign", "lambda b, a, r: b.fneg(b.fdiv(r, a[1]))),", "lambda b, a, r: b.fdiv(r, a[1])),"),
        ("a difference passes its cotangent unchanged", "partials=(ONE, MINUS_ONE),", "partials=(ONE, ONE),"),
        ("a square's slope is its base", "return b.fadd(a[0], a[0])", "return a[0]"),
        ("a power's slope forgets to lower the exponent", "b.powi(a[0], n=n - 1))", "b.powi(a[0], n=n))"),
        ("a power's slope by its exponent forgets the logarithm", "return b.zmul(r, b.log(a[0]))", "return r"),
        ("the root's slope is off by two", "partials=(lambda b, a, r: b.fdiv(b.f64(0.5), r),)", "partials=(lambda b, a, r: b.fdiv(b.f64(1.0), r),)"),
        ("the cosine's slope loses its sign", "partials=(lambda b, a, r: b.fneg(b.sin(a[0])),)", "partials=(lambda b, a, r: b.sin(a[0]),)"),
        ("the hyperbolic cosine's slope is its value", "partials=(lambda b, a, r: b.sinh(a[0]),)", "partials=(lambda b, a, r: r,)"),
        ("the hyperbolic tangent's slope is of its argument", "partials=(lambda b, a, r: _one_minus_square(b, r),)", "partials=(lambda b, a, r: _one_minus_square(b, a[0]),)"),
        ("expm1 has its value for a slope", "partials=(lambda b, a, r: b.exp(a[0]),)", "partials=(lambda b, a, r: r,)"),
        ("a selection hands its cotangent to the other side", "b.select(a[0], ct, zero) if wanted[1] else None,", "b.select(a[0], zero, ct) if wanted[1] else None,"),
        ("a selection's tangent takes the other side", "return b.select(a[0], t[1] if t[1] is not None else zero, t[2] if t[2] is not None else zero)", "return b.select(a[0], t[2] if t[2] is not None else zero, t[1] if t[1] is not None else zero)"),
        ("the zero rule's second derivative drops a term", "((t[0], a[1]), (t[1], a[0]))", "((t[0], a[1]), (None, a[0]))"),
        ("a remainder has no slope by its divisor", "partials=(ONE, lambda b, a, r: b.fneg(b.floordiv(a[0], a[1]))), points=_MOD_POINTS,", "partials=(ONE, ZERO), points=_MOD_POINTS,"),
        ("a maximum's slope goes to the loser", "return b.select(b.emit(compare, [a[k], a[1 - k]]), b.f64(1.0), tied)", "return b.select(b.emit(compare, [a[1 - k], a[k]]), b.f64(1.0), tied)"),
        ("the hypotenuse's slope is not normalised", "b.fdiv(a[k], r))\n\n    return partial", "a[k])\n\n    return partial"),
        ("floor division rounds to zero when lowered", "div = b.select(wrong_side, b.fsub(div, one), div)", "div = b.select(wrong_side, div, div)"),
        ("a quotient by one is zero", "return x if _is_const(const, y, 1.0) else None", "return b.f64(0.0) if _is_const(const, y, 1.0) else None"),
    ],
    "adcore.ad.reverse": [
        ("a second contribution replaces the first", "self.adj[v] = self.b.fadd(self.adj[v], contribution) if v in self.adj else contribution", "self.adj[v] = contribution"),
        ("a store leaves the old element's adjoint", 'self.b.op("store", [target, *index, self.zero()])', "pass"),
        ("a whole store leaves the old adjoint", 'self.b.op("assign", [target, self.b.broadcast(one, *dims)], {"mode": "set"})', "pass"),
        ("a store takes nothing", "self.add(op.operands[-1], t)\n\n    def op_accum", "pass\n\n    def op_accum"),
        ("a load forgets its array", 'self.b.op("accum", [self.shadow_of(op.operands[0]), *self.indices(op), ct])', "pass"),
        ("captured scalars start from zero", "outer = {v: self.adj.get(v) or self.zero() for v in captured}", "outer = {v: self.zero() for v in captured}"),
        ("a loop's captured scalars are forgotten", "self.adj.update(zip(captured, made[len(carried) :], strict=False))", "pass"),
        ("a loop runs back one iteration less", "bounds = [self.b.iadd(trips, minus), minus, minus]", "bounds = [self.b.iadd(self.b.iadd(trips, minus), minus), minus, minus]"),
        ("a loop runs back in the order of the primal", "bounds = [self.b.iadd(trips, minus), minus, minus]", "bounds = [self.b.i64(0), trips, self.b.i64(1)]"),
        ("what flows into a loop gets nothing", "self.add(inits[k], total)", "pass"),
        ("the arms change places", 'made = self.b.op("if", [self.get(op.operands[0])], {}, [v.type for v in captured], arms)', 'made = self.b.op("if", [self.get(op.operands[0])], {}, [v.type for v in captured], arms[::-1])'),
        ("values captured by a map get nothing", 'received.append(("add", v))\n                    outs.append(part)', "pass"),
        ("elements of a slot are those of the next iteration", "return self.b.load(slot, *self.numbers[-slot.type.rank :])", "return self.b.load(slot, *self.numbers[-slot.type.rank : -1], self.b.imin(self.b.iadd(self.numbers[-1], self.b.i64(1)), self.b.isub(self.trips[-1], self.b.i64(1))))"),
        ("a slot of a nest holds one array", "return cell(self.b, slot, self.numbers[-depth:], self.trips[-depth:], n)", "return self.b.slice(slot, self.b.i64(0), n, self.b.i64(1))"),
        ("a broadcast hands its cotangent to the first element alone", '(total,) = b.map_([b.dim(contribution, axis=0)], [contribution], ["add"], lambda i, e: e)', "total = b.load(contribution, b.i64(0))"),
        ("the seed of a reduction is doubled", "return lambda end, index: ct\n", "return lambda end, index: self.b.fadd(ct, ct) if not isinstance(ct.type, Array) else ct\n"),
    ],
    "adcore.ad.plan": [
        ("overwritten memory is read again", 'return op.operands if self.content_lasts(op) else None', "return op.operands"),
        ("what an `if` read may be read again", "if not self.content_lasts(op) or any(", "if any("),
        ("values that growth explains start from zero", "return list(step) if step is not None else None", "return []"),
    ],
    "adcore.ad.needs": [
        ("any carried integer grows steadily", 'if end is None or end.name != "iadd" or param not in end.operands:', "if end is None or param not in end.operands:"),
    ],
    "adcore.ad.prepare": [
        ("maps read what was overwritten", "if (op, k) in self.memory.stale:\n            return True", "if (op, k) in self.memory.stale:\n            return False"),
    ],
    "adcore.ad.forward_sweep": [
        ("trips of a falling loop are one short", "distance = down if known == -1 else", "distance = b.isub(down, b.i64(1)) if known == -1 else"),
        ("a step does not round up", "b.ifloordiv(b.iadd(up, b.i64(known - 1)), step)", "b.ifloordiv(up, step)"),
        ("nests forget the outer loop", "position = b.iadd(b.imul(position, t), k)", "position = k"),
        ("the index starts one late", "return b.iadd(lo, b.imul(k, step))", "return b.iadd(b.iadd(lo, step), b.imul(k, step))"),
    ],
    "adcore.ad.reductions": [
        ("ties do not share", "share = b.fdiv(b.f64(1.0), ties)", "share = b.f64(2.0)"),
        ("a product's slope forgets what comes after", "_walk(b, dims, after, backwards=True)", "pass"),
    ],
    "adcore.ad.forward": [
        ("a load has no tangent", "self.tangent[op.result] = self.b.load(self.tangent[op.operands[0]], *operands[1:])", "pass"),
        ("a loop's tangents stay as they began", "self.b.yield_(*kept, *(self.tangent_of(ends[k]) for k in real))", "self.b.yield_(*kept, *extra)"),
        ("a whole store has no tangent", 'self.b.op("assign", [self.tangent[op.operands[0]], self.tangent_of(op.operands[1])], dict(op.attrs))', "pass"),
    ],
    "adcore.ad.rules": [
        ("a tangent keeps the last term alone", "total = part if total is None else b.fadd(total, part)", "total = part"),
        ("a negated cotangent is not", "parts.append(b.fneg(ct))", "parts.append(ct)"),
    ],
    "adcore.passes.cse": [
        ("loads are shared across stores", "version = tuple(self.memory.version[op, k] for k in reads(op))", "version = ()"),
        ("differences commute", "if REGISTRY[op.name].commutative:", "if REGISTRY[op.name].commutative or op.name == 'fsub':"),
    ],
    "adcore.passes.licm": [
        ("loads leave their loop", "if REGISTRY[op.name].effect is Effect.PURE and", "if REGISTRY[op.name].effect in (Effect.PURE, Effect.READ) and"),
    ],
    "adcore.passes.fold": [
        ("guards are dropped", "constant(operands[0]) is True else None", "True else None"),
        ("a decided branch takes the other arm", "op.regions[0 if taken else 1], []", "op.regions[1 if taken else 0], []"),
        ("every broadcast is its array", "if not same:\n                return None", "if False:\n                return None"),
    ],
    "adcore.passes.dce": [
        ("writes are dead", "for op in self.writers.get(root, ()):\n                self.mark_op(op)", "pass"),
    ],
    "adcore.passes.fuse": [
        ("a map moves across a write", "group.results & used or group.read & self.written(op) or", "group.results & used or"),
    ],
    "adcore.passes.ranges": [
        ("less is less or equal", "if fa.hi < fb.lo:", "if fa.hi <= fb.lo:"),
        ("an index reaches the end", "self.know(i, self.fact(lo).lo, self.fact(hi).hi - 1, _shift(self.below(hi), -1), self.above(lo))", "self.know(i, self.fact(lo).lo, self.fact(hi).hi - 2, _shift(self.below(hi), -2), self.above(lo))"),
        ("the other arm knows the condition too", "zip(op.regions, (True, False), strict=True)", "zip(op.regions, (True, True), strict=True)"),
        ("a difference forgets what is taken away", "self.know(r, below=_shift(self.below(a), -fb.lo))", "self.know(r, below=_shift(self.below(a), -fb.lo - 1))"),
    ],
    "adcore.ir.memory": [
        ("a loop's writes are not seen before them", "around = self.writes[inner] - self.local[inner] if", "around = set() if"),
        ("a store starts no version", "self.bump(self.memory.roots[op.operands[0]])", "pass"),
        ("what a branch may refer to is its first arm's", "for region in op.regions:\n                for end, result in", "for region in op.regions[:1]:\n                for end, result in"),
    ],
    "adcore.frontend.indexing": [
        ("an index is not checked from above", 'b.and_(b.ige(value, zero), b.ilt(value, size.value)), "IndexError"', 'b.ige(value, zero), "IndexError"'),
    ],
    "adcore.frontend.loops": [
        ("leaving by break is not leaving", 'for name, possible in (("break", found.breaks), ("return", found.returns)):', 'for name, possible in (("return", found.returns),):'),
    ],
    "adcore.frontend.library": [
        ("the square root has no domain", '(_not("flt", 0.0),)), "cbrt"', '()), "cbrt"'),
    ],
}  # fmt: skip
MUTANTS: dict[str, Mutant] = {
    name: Mutant(name, module, old, new) for module, rows in _ROWS.items() for name, old, new in rows
}
