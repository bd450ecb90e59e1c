"""Loops: the fixpoint of what they carry, counted and conditional loops, exits.

A loop's body is lowered under an assumption about the shapes of the carried names; if what comes out at its end does not fit, it is
lowered again under the join of both. Shapes only widen, so this ends. A loop with `break` or `return` yields whether it goes on; what an
exit makes undefined is poison.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from adcore.frontend import arrays, fixes, remedies
from adcore.frontend.arith import as_int, int_binary
from adcore.frontend.context import INT64_MAX, INT64_MIN, Context
from adcore.frontend.indexing import load
from adcore.frontend.joins import EXITS, join_arms, locate, lower_arm
from adcore.frontend.liveness import Exits, assigned, exits, stored
from adcore.frontend.shapes import (
    BindingShape,
    ConflictShape,
    NumberShape,
    Shape,
    TupleShape,
    UnionShape,
    binding_shape,
    coerce,
    join_bindings,
    leaf_types,
    poison,
    rebuild,
    shape_of,
)  # fmt: skip
from adcore.frontend.unions import LARGEST_UNSWITCHED, decide, resolved, resolved_value, tags_in_reach
from adcore.frontend.values import Abstract, ArrayRef, Binding, Broken, Iteration, Number, RangeOf, TupleOf, describe
from adcore.ir.core import Op, Region, Value
from adcore.ir.types import BOOL, I64, Type

Element = Callable[[Value], Abstract]
Counted = tuple[Value, Value, Value, Element]
"""Bounds and step of a counter, and the item that belongs to it."""
RunBlock = Callable[[Context, Sequence[ast.stmt], frozenset[str]], None]
Assign = Callable[[Context, ast.expr, Abstract, ast.stmt], None]
LARGEST_UNROLLED = 64
LARGEST_ATTEMPTS = 20
LARGEST_PEELED = 3


def plain(shape: Shape | None) -> Shape | None:
    """Without the promise that an int is a literal of the text."""
    match shape:
        case NumberShape():
            return replace(shape, literal=False)
        case TupleShape():
            return TupleShape(tuple(s for item in shape.items if (s := plain(item)) is not None), shape.display)
        case UnionShape():
            return UnionShape(tuple(s for part in shape.parts if (s := plain(part)) is not None))
        case _:
            return shape


@dataclass(slots=True, eq=False)
class Carried:
    """The names that a loop carries, under the current assumption about their shapes."""

    ctx: Context
    names: list[str]
    shapes: dict[str, BindingShape]
    before: dict[str, Binding]
    augmented: frozenset[str]
    """Names that the body augments: `k += 1` gives no literal, so none is promised at its head."""

    def form(self, name: str) -> Shape | None:
        """The shape that a name has at the head of the body."""
        shape = self.shapes[name].value
        return plain(shape) if name in self.augmented else shape

    def types(self) -> list[Type]:
        return [t for name in self.names for t in self._types(name)]

    def _types(self, name: str) -> list[Type]:
        shape = self.shapes[name]
        if shape.value is None:
            return []
        return [*([BOOL] if shape.defined is None else []), *leaf_types(shape.value)]

    def params(self) -> list[Value]:
        """Region parameters, under the names of the source: diagnostics about what a loop keeps say them."""
        named = [(name if name.isidentifier() else None, t) for name in self.names for t in self._types(name)]
        return [Value(t, None if t == BOOL else name) for name, t in named]

    def leaves(self, env: dict[str, Binding], gone: bool = False) -> list[Value]:
        """The SSA values of the names in `env`, in the assumed form, made where the builder stands."""
        b = self.ctx.b
        out: list[Value] = []
        for name in self.names:
            shape = self.shapes[name]
            if shape.value is None:
                continue
            binding = env.get(name)
            if gone and name not in EXITS:
                binding = None
            if shape.defined is None:
                flag = binding.defined if binding is not None else False
                out.append(b.const(flag) if isinstance(flag, bool) else flag)
            form = self.form(name)
            missing = binding is None or form is None or isinstance(binding.value, Broken)
            out += poison(b, form) if missing or binding is None or form is None else coerce(b, binding.value, form)
        return out

    def enter(self, env: dict[str, Binding], leaves: Sequence[Value]) -> None:
        """Bind the names to `leaves` in `env`."""
        k = 0
        for name in self.names:
            shape = self.shapes[name]
            env.pop(name, None)
            if shape.value is None:
                continue
            defined: bool | Value = True
            if shape.defined is None:
                defined = leaves[k]
                k += 1
            form = self.form(name)
            assert form is not None
            n = len(leaf_types(form))
            before = self.before.get(name)
            env[name] = Binding(rebuild(self.ctx.b, form, leaves[k : k + n]), defined, before.span if before else None)
            k += n

    def widened(self, env: dict[str, Binding], gone: bool) -> dict[str, BindingShape] | None:
        """The assumption that the state at the end of the body asks for; None: the present one holds."""
        new = {}
        for name in self.names:
            end = env.get(name)
            broken = end is not None and isinstance(end.value, Broken)  # it was reported and says nothing about types
            if broken or (gone and name not in EXITS):
                new[name] = self.shapes[name]
                continue
            new[name] = join_bindings(self.shapes[name], binding_shape(end))
            shape = new[name].value
            if isinstance(shape, ConflictShape) and not shape.value.related:
                marked = locate(Binding(shape.value), self.before.get(name), end)
                new[name] = BindingShape(ConflictShape(marked.value), new[name].defined)  # type: ignore[arg-type]
        return None if all(self._fits(name, new[name]) for name in self.names) else new

    def _fits(self, name: str, end: BindingShape) -> bool:
        start = self.shapes[name]
        if name in self.augmented:
            return plain(end.value) == plain(start.value) and end.defined == start.defined
        return end == start


def carried_names(ctx: Context, node: ast.For | ast.While, found: Exits) -> Carried:
    bound = assigned(node.body) | (stored(node.target) if isinstance(node, ast.For) else frozenset())
    needed = ctx.frame.liveness.needed_at_head(node) | ctx.loop_needed
    names = sorted(bound & needed)
    if found.returns:
        names.append("return")
    if found.breaks and node.orelse:
        names.append("break")
    before = {name: ctx.env[name] for name in names if name in ctx.env}
    shapes = {name: binding_shape(before.get(name)) for name in names}
    augmented = frozenset(
        n.target.id
        for s in node.body
        for n in ast.walk(s)
        if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)
    )
    return Carried(ctx, names, shapes, before, augmented)


def settle(
    ctx: Context, carried: Carried, attempt: Callable[[], tuple[dict[str, Binding], bool]]
) -> dict[str, Binding]:
    """Repeat `attempt` (which gives the state at the end of the body) until the assumption holds; that state."""
    findings, failed = len(ctx.session.findings), ctx.frame.failed
    for _ in range(LARGEST_ATTEMPTS):
        env, gone = attempt()
        wider = carried.widened(env, gone)
        if wider is None:
            return env
        del ctx.session.findings[findings:]
        ctx.frame.failed = failed
        carried.shapes = wider
    raise AssertionError("the types of a loop do not settle")


def go_on(ctx: Context, found: Exits) -> Value:
    """At the end of a body: whether the loop continues."""
    b = ctx.b
    flags: list[Value] = []
    for name, possible in (("break", found.breaks), ("return", found.returns)):
        binding = ctx.env.get(name)
        if possible and binding is not None:
            flag = binding.defined
            flags.append(b.const(flag) if isinstance(flag, bool) else flag)
    if not flags:
        return b.const(True)
    return b.not_(flags[0] if len(flags) == 1 else b.or_(flags[0], flags[1]))


def run_body(ctx: Context, node: ast.For | ast.While, carried: Carried, found: Exits, block: RunBlock) -> None:
    outer = ctx.loop_needed
    ctx.loop_needed = frozenset(carried.names) if found.any else frozenset()
    ctx.live, ctx.gone = True, False
    ctx.frame.loops += 1
    try:
        block(ctx, node.body, ctx.frame.liveness.needed_at_head(node) | frozenset(carried.names))
    finally:
        ctx.loop_needed = outer
        ctx.frame.loops -= 1


def lower_for(ctx: Context, node: ast.For, iterable: Abstract, block: RunBlock, assign: Assign) -> None:
    if isinstance(iterable, TupleOf):
        unroll(ctx, node, list(iterable.items), block, assign)
        return
    lower_counted(ctx, node, iteration(ctx, iterable, node.iter), block, assign)


def lower_counted(ctx: Context, node: ast.For, counted: Counted, block: RunBlock, assign: Assign) -> None:
    low, high, step, element = counted
    found = exits(node.body)
    has_exits = found.breaks or found.returns
    outer_break = ctx.env.pop("break", None)
    carried = carried_names(ctx, node, found)
    region = Region()
    start = ctx.fork()
    outside = tags_in_reach(ctx)

    def attempt() -> tuple[dict[str, Binding], bool]:
        nonlocal region
        index = Value(I64, _hint(node.target))
        params = carried.params()
        region = Region([index, *params])
        with ctx.arm(region), ctx.inside_loop(outside):
            carried.enter(ctx.env, params)
            with ctx.at(node.target):
                assign(ctx, node.target, element(index), node)
            run_body(ctx, node, carried, found, block)
            env, gone = ctx.env, ctx.gone
            with ctx.at(node):
                flag = [go_on(ctx, found)] if has_exits else []
            if carried.widened(env, gone) is None:
                with ctx.at(node):
                    ctx.b.yield_(*flag, *carried.leaves(env, gone))
        return env, gone

    end = settle(ctx, carried, attempt)
    ctx.restore(start)
    enter_decided(ctx, carried, node)
    if peeling_helps(carried, end, node) and constant_step(step) in (1, -1):
        if outer_break is not None:
            ctx.env["break"] = outer_break
        _peel(ctx, node, carried, counted, block, assign)
        return
    inits = carried.leaves(ctx.env)
    types = [*carried.types(), *([I64] if has_exits else [])]
    op = ctx.b.op("for", [low, high, step, *inits], {"exits": has_exits}, types, [region])
    name_results(op, carried)
    leave(ctx, node, carried, found, op.results[: len(inits)], outer_break, block)


def enter_decided(ctx: Context, carried: Carried, node: ast.For | ast.While) -> None:
    """A name of several types that enters the loop is decided before: in each copy of the loop it often keeps its type."""
    if ctx.splits < LARGEST_UNSWITCHED:
        for name in carried.names:
            binding = ctx.env.get(name)
            if binding is not None and isinstance(carried.shapes[name].value, UnionShape):
                decide(ctx, binding.value, node)


def peeling_helps(carried: Carried, end: dict[str, Binding], node: ast.For | ast.While) -> bool:
    """Some name has several types at the head of the body only because of what it starts with: each iteration gives one of them."""
    found = exits(node.body)
    if found.breaks or found.returns or node.orelse or carried.ctx.splits + carried.ctx.peeled >= LARGEST_PEELED:
        return False
    return any(
        isinstance(carried.shapes[name].value, UnionShape) and not isinstance(shape_of(end[name].value), UnionShape)
        for name in carried.names
        if name in end
    )


def _peel(ctx: Context, node: ast.For, carried: Carried, counted: Counted, block: RunBlock, assign: Assign) -> None:
    """The first iteration on its own, then a loop whose names keep their types."""
    low, high, step, element = counted
    b = ctx.b
    up = constant_step(step) == 1
    needed = ctx.frame.liveness.needed_after(node) | ctx.loop_needed

    def run() -> None:
        ctx.peeled += 1
        resolved(ctx, partial(assign, ctx, node.target, element(low), node), node, frozenset(carried.names) | needed)
        run_body(ctx, node, carried, exits(node.body), block)
        if not ctx.gone:
            ctx.live = True
            rest = (ctx.b.iadd(low, step), high, step, element)
            resolved(ctx, partial(lower_counted, ctx, node, rest, block, assign), node, needed)

    cond = b.ilt(low, high) if up else b.igt(low, high)
    join_arms(ctx, cond, lower_arm(ctx, run, (cond, True)), lower_arm(ctx, lambda: None, (cond, False)), needed)


def constant_step(step: Value) -> int | None:
    return int(step.owner.attrs["value"]) if step.owner is not None and step.owner.name == "const" else None


def _hint(target: ast.expr) -> str | None:
    return target.id if isinstance(target, ast.Name) and target.id.isascii() else "i"


def name_results(loop: Op, carried: Carried) -> None:
    for result, param in zip(loop.results, carried.params(), strict=False):
        result.name = param.name


def leave(
    ctx: Context, node: ast.For | ast.While, carried: Carried, found: Exits, results: Sequence[Value], outer_break: Binding | None, block: RunBlock,
    endless: bool = False,
) -> None:  # fmt: skip
    """The state after a loop, and its `else`."""
    bound = assigned(node.body) | (stored(node.target) if isinstance(node, ast.For) else frozenset())
    for name in bound:
        ctx.env.pop(name, None)
    carried.enter(ctx.env, results)
    returned = ctx.env["return"].defined if found.returns and "return" in ctx.env else False
    broken = ctx.env.pop("break").defined if found.breaks and node.orelse and "break" in ctx.env else False
    if outer_break is not None:
        ctx.env["break"] = outer_break
    b = ctx.b
    ctx.live = b.not_(returned) if isinstance(returned, Value) else not returned
    if endless and not found.breaks:
        ctx.live, ctx.gone = False, True
        return
    if not node.orelse:
        return
    if broken is False and ctx.live is True:
        block(ctx, node.orelse, ctx.frame.liveness.needed_after(node))
        return
    stop = [flag for flag in (broken, returned) if isinstance(flag, Value)]
    if not stop:
        return
    normal = b.not_(stop[0] if len(stop) == 1 else b.or_(stop[0], stop[1]))
    needed = ctx.frame.liveness.needed_after(node)

    def run_else() -> None:
        ctx.live = True
        block(ctx, node.orelse, needed)

    join_arms(ctx, normal, lower_arm(ctx, run_else), lower_arm(ctx, lambda: None), needed | ctx.loop_needed)


# What a loop runs over


def iteration(ctx: Context, iterable: Abstract, node: ast.expr) -> Counted:
    if isinstance(iterable, RangeOf):
        return iterable.low.value, iterable.high.value, iterable.step.value, lambda i: counter(iterable, i)
    size, item = positions(ctx, iterable, node)
    b = ctx.b
    return b.i64(0), size.value, b.i64(1), lambda i: item(Number(i, I64, False, None, 0, (size.high or 2**60) - 1))


def counter(of: RangeOf, i: Value) -> Number:
    """The index of a counted loop with what its bounds say about it."""
    step = of.step.const
    low, high = None, None
    if isinstance(step, int) and step > 0:
        low = of.low.low
        high = (INT64_MAX if of.high.high is None else of.high.high) - 1
    elif isinstance(step, int) and step < 0:
        high = of.low.high
        low = (INT64_MIN if of.high.low is None else of.high.low) + 1
    return Number(i, I64, False, None, low, high)


def positions(ctx: Context, iterable: Abstract, node: ast.expr) -> tuple[Number, Callable[[Number], Abstract]]:
    """The length of something that is iterated over, and its k-th item."""
    match iterable:
        case ArrayRef():
            return arrays.length_of(ctx, iterable), lambda k: load(ctx, iterable, k, node)
        case RangeOf():
            return range_length(ctx, iterable), lambda k: _range_item(ctx, iterable, k)
        case Iteration(kind="enumerate"):
            size, item = positions(ctx, iterable.parts[0], node)
            start = iterable.start or ctx.number(0)
            return size, lambda k: TupleOf((int_binary(ctx, "+", start, k, False), item(k)))
        case Iteration(kind="reversed"):
            size, item = positions(ctx, iterable.parts[0], node)
            return size, lambda k: item(_mirrored(ctx, size, k))
        case Iteration(kind="zip"):
            return _zipped(ctx, [positions(ctx, part, node) for part in iterable.parts])
        case TupleOf():
            ctx.expression(
                node, f"a {iterable.display} among what is iterated over together", "make it an array with `np.array`"
            )
        case _:
            ctx.mismatch(node, "the loop", f"{describe(iterable, True)} cannot be iterated over")


def _zipped(
    ctx: Context, parts: list[tuple[Number, Callable[[Number], Abstract]]]
) -> tuple[Number, Callable[[Number], Abstract]]:
    size = parts[0][0]
    for other, _ in parts[1:]:
        if not arrays.same_size(size, other):
            high = min(size.high or 2**60, other.high or 2**60)
            size = Number(ctx.b.imin(size.value, other.value), I64, False, None, 0, high)
    return size, lambda k: TupleOf(tuple(item(k) for _, item in parts))


def _mirrored(ctx: Context, size: Number, k: Number) -> Number:
    last = ctx.b.isub(size.value, ctx.b.i64(1))
    return Number(ctx.b.isub(last, k.value), I64, False, None, 0, (size.high or 2**60) - 1)


def _range_item(ctx: Context, of: RangeOf, k: Number) -> Number:
    b = ctx.b
    known = counter(of, b.iadd(of.low.value, b.imul(k.value, of.step.value)))
    return known


def range_length(ctx: Context, of: RangeOf) -> Number:
    """`len(range(...))`."""
    b = ctx.b
    step = of.step.const
    zero, one = b.i64(0), b.i64(1)
    if step == 1 and of.low.const == 0:
        linear = of.high.linear or (of.high.value, 0)
        return Number(b.imax(of.high.value, zero), I64, False, None, 0, max(of.high.high or INT64_MAX, 0), linear)

    def count(low: Value, high: Value, by: Value) -> Value:
        gap = b.isub(b.isub(high, low), one)
        return b.select(b.ilt(low, high), b.iadd(b.ifloordiv(gap, by), one), zero)

    up = count(of.low.value, of.high.value, of.step.value)
    down = count(of.high.value, of.low.value, b.isub(zero, of.step.value))
    if isinstance(step, int):
        size = up if step > 0 else down
    else:
        size = b.select(b.igt(of.step.value, zero), up, down)
    return Number(size, I64, False, None, 0, None)


def make_range(ctx: Context, parts: Sequence[Abstract], node: ast.Call) -> RangeOf:
    numbers = []
    for part, text in zip(parts, node.args, strict=True):
        if not isinstance(part, Number) or part.kind not in (I64, BOOL):
            reason = f"its bounds must be ints, not {describe(part, True)}"
            made = fixes.converted(ctx, text, part, I64)
            ctx.mismatch(text, "`range`", reason, remedies.to_int(part), made)
        numbers.append(as_int(ctx, part))
    low = ctx.number(0) if len(numbers) == 1 else numbers[0]
    high = numbers[0] if len(numbers) == 1 else numbers[1]
    step = numbers[2] if len(numbers) == 3 else ctx.number(1)
    if step.const is None:
        ctx.guard(ctx.b.ine(step.value, ctx.b.i64(0)), "ValueError", "range() arg 3 must not be zero")
    elif step.const == 0:
        ctx.guard(False, "ValueError", "range() arg 3 must not be zero")
        step = ctx.number(1)
    return RangeOf(low, high, step)


def unroll(ctx: Context, node: ast.For, items: list[Abstract], block: RunBlock, assign: Assign) -> None:
    """A loop over a tuple: its items may differ in type, so each iteration is lowered on its own."""
    found = exits(node.body)
    if len(items) > LARGEST_UNROLLED:
        ctx.statement(node, f"a loop over {len(items)} items of a tuple", "make them an array with `np.array`")
    if found.breaks or found.continues:
        ctx.statement(
            node,
            "`break` or `continue` in a loop over a tuple",
            "loop over an array made with `np.array`, or over its indices",
        )
    needed = ctx.frame.liveness.needed_at_head(node) | ctx.loop_needed
    for k, item in enumerate(items):
        resolved(ctx, partial(assign, ctx, node.target, item, node), node, needed)
        block(ctx, node.body, needed)
        if ctx.live is False:
            return
        if isinstance(ctx.live, Value):
            rest = items[k + 1 :]
            if rest:
                cond = ctx.live

                def more(rest: list[Abstract] = rest) -> None:
                    ctx.live = True
                    unroll(ctx, node, rest, block, assign)

                def stop() -> None:
                    ctx.live = False

                then, other = lower_arm(ctx, more, (cond, True)), lower_arm(ctx, stop, (cond, False))
                join_arms(ctx, cond, then, other, needed)
            return
    if node.orelse:
        block(ctx, node.orelse, ctx.frame.liveness.needed_after(node))


# while


def lower_while(ctx: Context, node: ast.While, test: Callable[[Context], Number], block: RunBlock) -> None:
    """`if test: do body while test`: the IR's loop runs at least once."""
    found = exits(node.body)
    outer_break = ctx.env.pop("break", None)
    first = test(ctx)
    if first.const is not None and not first.const:
        if outer_break is not None:
            ctx.env["break"] = outer_break
        block(ctx, node.orelse, ctx.frame.liveness.needed_after(node))
        return
    carried = carried_names(ctx, node, found)
    start = ctx.fork()
    outside = tags_in_reach(ctx)
    region, endless = Region(), False

    def attempt() -> tuple[dict[str, Binding], bool]:
        nonlocal region, endless
        params = carried.params()
        region = Region(params)
        with ctx.arm(region), ctx.inside_loop(outside):
            carried.enter(ctx.env, params)
            run_body(ctx, node, carried, found, block)
            flag, endless = _again(ctx, found, test)
            env, gone = ctx.env, ctx.gone
            if carried.widened(env, gone) is None:
                with ctx.at(node):
                    ctx.b.yield_(flag, *carried.leaves(env, gone))
        return env, gone

    end = settle(ctx, carried, attempt)
    ctx.restore(start)
    enter_decided(ctx, carried, node)
    if peeling_helps(carried, end, node):
        if outer_break is not None:
            ctx.env["break"] = outer_break
        _peel_while(ctx, node, carried, first, test, block)
        return

    def loop() -> list[Value]:
        inits = carried.leaves(ctx.env)
        op = ctx.b.op("while", inits, {}, [*carried.types(), I64], [region])
        name_results(op, carried)
        return op.results[: len(inits)]

    results = loop() if first.const else _guarded(ctx, first, loop, carried)
    leave(ctx, node, carried, found, results, outer_break, block, endless)


def _peel_while(
    ctx: Context, node: ast.While, carried: Carried, first: Number, test: Callable[[Context], Number], block: RunBlock
) -> None:
    needed = ctx.frame.liveness.needed_after(node) | ctx.loop_needed

    def run() -> None:
        ctx.peeled += 1
        run_body(ctx, node, carried, exits(node.body), block)
        if not ctx.gone:
            ctx.live = True
            resolved(ctx, partial(lower_while, ctx, node, test, block), node, needed)

    if first.const:
        run()
        ctx.peeled -= 1
        return
    cond = first.value
    join_arms(ctx, cond, lower_arm(ctx, run, (cond, True)), lower_arm(ctx, lambda: None, (cond, False)), needed)


def _guarded(ctx: Context, first: Number, loop: Callable[[], list[Value]], carried: Carried) -> list[Value]:
    region, skipped = Region(), Region()
    with ctx.arm(region):
        values = loop()
        ctx.b.yield_(*values)
    with ctx.arm(skipped):
        ctx.b.yield_(*carried.leaves(ctx.env))
    return ctx.b.op("if", [first.value], {}, carried.types(), [region, skipped]).results


def _again(ctx: Context, found: Exits, test: Callable[[Context], Number]) -> tuple[Value, bool]:
    """What the body yields: not left, and the test holds once more (it runs only if the loop was not left); and whether the test always holds."""
    b = ctx.b
    if ctx.gone:
        return b.const(False), False
    if not (found.breaks or found.returns):
        ctx.live = True
        number = _tested(ctx, test)
        return number.value, number.const is True
    made: list[Number] = []

    def run_test() -> None:
        ctx.live = True
        made.append(_tested(ctx, test))

    stay = go_on(ctx, found)
    then = lower_arm(ctx, run_test)
    if made[0].const is True:
        return stay, True
    with ctx.arm(then.region):
        b.yield_(made[0].value)
    other = Region()
    with ctx.arm(other):
        b.yield_(b.const(False))
    return b.op("if", [stay], {}, [BOOL], [then.region, other]).result, False


def _tested(ctx: Context, test: Callable[[Context], Number]) -> Number:
    """The test of a `while`, for each type that its operands may have at the end of the body."""
    number = resolved_value(ctx, lambda: test(ctx))
    assert isinstance(number, Number)
    return number
