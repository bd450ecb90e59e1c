"""Joins of control flow: two arms become one `if` whose results are the phis, for statements and for expressions alike.

Invariants: a name that only one arm binds keeps its value with a poison from the other arm and a bool that says whether it was bound;
what an arm that left the function would have bound does not matter; values that are the same in both arms need no phi.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from adcore.frontend.context import Context
from adcore.frontend.shapes import (
    ArrayShape,
    BindingShape,
    NumberShape,
    Shape,
    binding_shape,
    coerce,
    join_bindings,
    join_shapes,
    poison,
    rebuild,
    shape_of,
)  # fmt: skip
from adcore.frontend.values import Abstract, ArrayRef, Binding, Conflict, Number, TupleOf, UnionOf, describe
from adcore.ir.core import Region, Value
from adcore.ir.opdef import REGISTRY, Cost, Effect
from adcore.ir.types import BOOL, Type, join
from adcore.source import Span

EXITS = ("return", "break")


@dataclass(slots=True, eq=False)
class Arm:
    """One arm after lowering: its region, and the state at its end."""

    region: Region
    env: dict[str, Binding] = field(default_factory=dict)
    live: bool | Value = True
    gone: bool = False


def lower_arm(ctx: Context, fill: Callable[[], None], *given: tuple[Value, bool]) -> Arm:
    """`given` is what holds in the arm."""
    arm = Arm(Region())
    with ctx.arm(arm.region):
        for cond, truth in given:
            ctx.assume(cond, truth)
        fill()
        arm.env, arm.live, arm.gone = ctx.env, ctx.live, ctx.gone
    return arm


def join_arms(ctx: Context, cond: Value, then: Arm, other: Arm, needed: Iterable[str]) -> None:
    """Append the `if` and make its results the state of `ctx`."""
    phis = Phis(ctx, then.region, other.region)
    names = [
        n for n in dict.fromkeys([*EXITS, *sorted(needed)]) if any(n in arm.env for arm in _speakers(then, other, n))
    ]
    rebuilt: dict[str, Callable[[], Binding]] = {}
    for name in names:
        rebuilt[name] = phis.binding(then, other, name)
    live = phis.live(then, other, cond)
    phis.finish(cond)
    untouched = {name: binding for name, binding in then.env.items() if other.env.get(name) is binding}
    ctx.env = untouched | {name: make() for name, make in rebuilt.items()}
    ctx.live = live()
    ctx.gone = then.gone and other.gone


def _speakers(then: Arm, other: Arm, name: str) -> list[Arm]:
    """The arms that have a say in what a name is afterwards: one that left the function has none."""
    if name in EXITS or then.gone == other.gone:
        return [then, other]
    return [other] if then.gone else [then]


class Phis:
    """Collects pairs of SSA values, one from each region, and hands out what they became."""

    def __init__(self, ctx: Context, first: Region, second: Region) -> None:
        self.ctx = ctx
        self.regions = (first, second)
        self.pairs: list[tuple[Value, Value]] = []
        self.results: list[Value] = []
        self.cond: Value | None = None
        self.negated: Value | None = None

    def slot(self, a: Value, b: Value) -> Callable[[], Value]:
        if a is b:
            return lambda: a
        flags = _constant_flags(a, b)
        if flags is not None:
            return lambda: self._flag(*flags)
        if (a, b) in self.pairs:
            k = self.pairs.index((a, b))
        else:
            self.pairs.append((a, b))
            k = len(self.pairs) - 1
        return lambda: self.results[k]

    def _flag(self, first: bool, second: bool) -> Value:
        """A flag that is known in both arms: the condition itself, which later branches then know."""
        if first == second:
            return self.ctx.b.const(first)
        assert self.cond is not None
        if first:
            return self.cond
        if self.negated is None:
            self.negated = self.ctx.b.not_(self.cond)
        return self.negated

    def finish(self, cond: Value) -> None:
        self.cond = cond
        b = self.ctx.b
        for region, values in zip(self.regions, ([p[0] for p in self.pairs], [p[1] for p in self.pairs]), strict=True):
            with b.inside(region):
                b.yield_(*values)
        types = []
        for x, y in self.pairs:
            joined = join_ir_types(x, y)
            types.append(joined)
        self.results = b.op("if", [cond], {}, types, list(self.regions)).results

    def binding(self, then: Arm, other: Arm, name: str) -> Callable[[], Binding]:
        a, b = then.env.get(name), other.env.get(name)
        if a is not None and a is b:
            unchanged = a
            return lambda: unchanged
        if name not in EXITS and (then.gone or other.gone):
            # the arm that left the function has no say
            if then.gone and other.gone:
                either = a or b
                assert either is not None
                return lambda: either
            a, b = (None, b) if then.gone else (a, None)
        shape = join_bindings(binding_shape(a), binding_shape(b))
        if a is not None and b is not None:
            value = self.value(a.value, b.value)
        else:
            value = self._one_sided(a, b)
        defined = self._defined(a, b, shape, then, other, name)
        some = a or b
        assert some is not None
        return lambda: locate(Binding(value(), defined(), some.span), a, b)

    def _one_sided(self, a: Binding | None, b: Binding | None) -> Callable[[], Abstract]:
        have = a or b
        assert have is not None
        shape = shape_of(have.value)
        mine = self._coerced(0 if a is not None else 1, have.value, shape)
        with self.ctx.b.inside(self.regions[1 if a is not None else 0]):
            missing = poison(self.ctx.b, shape)
        return self._rebuilt(shape, mine, missing) if a is not None else self._rebuilt(shape, missing, mine)

    def _coerced(self, side: int, value: Abstract, shape: Shape) -> list[Value]:
        with self.ctx.b.inside(self.regions[side]):
            return coerce(self.ctx.b, value, shape)

    def _rebuilt(self, shape: Shape, first: list[Value], second: list[Value]) -> Callable[[], Abstract]:
        slots = [self.slot(x, y) for x, y in zip(first, second, strict=True)]
        return lambda: rebuild(self.ctx.b, shape, [slot() for slot in slots])

    def value(self, a: Abstract, b: Abstract) -> Callable[[], Abstract]:
        """The join of two values, keeping what both know."""
        if a is b:
            return lambda: a
        match a, b:
            case Number(), Number() if same_constant(a, b):
                const, numpy = a.const, bool(a.numpy)
                assert const is not None
                return lambda: self.ctx.number(const, numpy)
            case TupleOf(), TupleOf() if len(a.items) == len(b.items):
                items = [self.value(x, y) for x, y in zip(a.items, b.items, strict=True)]
                return lambda: TupleOf(tuple(item() for item in items), a.display)
            case ArrayRef(), ArrayRef() if isinstance(join_shapes(shape_of(a), shape_of(b)), ArrayShape):
                return self._arrays(a, b)
            case _:
                pass
        shape = join_shapes(shape_of(a), shape_of(b))
        if isinstance(shape, NumberShape) and isinstance(a, Number) and isinstance(b, Number) and shape.kind.is_int:
            return self._integers(a, b, shape)
        return self._rebuilt(shape, self._coerced(0, a, shape), self._coerced(1, b, shape))

    def _integers(self, a: Number, b: Number, shape: NumberShape) -> Callable[[], Abstract]:
        whole = self._rebuilt(shape, self._coerced(0, a, shape), self._coerced(1, b, shape))
        low = None if a.low is None or b.low is None else min(a.low, b.low)
        high = None if a.high is None or b.high is None else max(a.high, b.high)

        def make() -> Abstract:
            number = whole()
            assert isinstance(number, Number)
            return Number(number.value, number.kind, number.numpy, None, low, high, None, number.literal)

        return make

    def _arrays(self, a: ArrayRef, b: ArrayRef) -> Callable[[], Abstract]:
        shape = join_shapes(shape_of(a), shape_of(b))
        whole = self._rebuilt(shape, self._coerced(0, a, shape), self._coerced(1, b, shape))
        same = all(x.value is y.value for x, y in zip(a.sizes, b.sizes, strict=True))

        def make() -> Abstract:
            array = whole()
            assert isinstance(array, ArrayRef)
            return ArrayRef(array.value, array.dtype, a.sizes, array.origin, array.name) if same else array

        return make

    def _defined(
        self, a: Binding | None, b: Binding | None, shape: BindingShape, then: Arm, other: Arm, name: str
    ) -> Callable[[], bool | Value]:
        if name not in EXITS and (then.gone or other.gone) and not (then.gone and other.gone):
            have = a or b
            if have is not None and have.defined is True:
                return lambda: True
        if shape.defined is not None:
            known = bool(shape.defined)
            return lambda: known
        sides = []
        for region, binding in zip(self.regions, (a, b), strict=True):
            flag = binding.defined if binding is not None else False
            with self.ctx.b.inside(region):
                sides.append(self.ctx.b.const(flag) if isinstance(flag, bool) else flag)
        return self.slot(sides[0], sides[1])

    def live(self, then: Arm, other: Arm, cond: Value) -> Callable[[], bool | Value]:
        a, b = then.live, other.live
        if a is b:
            return lambda: a
        if a is True and b is False:
            return lambda: cond
        if a is False and b is True:
            return lambda: self.ctx.b.not_(cond)
        sides = []
        for region, flag in zip(self.regions, (a, b), strict=True):
            with self.ctx.b.inside(region):
                sides.append(self.ctx.b.const(flag) if isinstance(flag, bool) else flag)
        return self.slot(sides[0], sides[1])


def _constant_flags(a: Value, b: Value) -> tuple[bool, bool] | None:
    if a.type != BOOL or a.owner is None or b.owner is None or a.owner.name != "const" or b.owner.name != "const":
        return None
    return bool(a.owner.attrs["value"]), bool(b.owner.attrs["value"])


def join_ir_types(x: Value, y: Value) -> Type:
    joined = join(x.type, y.type)
    assert joined is not None, f"{x.type} and {y.type} were joined"
    return joined


def same_constant(a: Number, b: Number) -> bool:
    if (
        a.const is None
        or b.const is None
        or a.kind != b.kind
        or not isinstance(a.numpy, bool)
        or a.numpy is not b.numpy
    ):
        return False
    return repr(a.const) == repr(b.const)


def locate(binding: Binding, *sources: Binding | None) -> Binding:
    """Tell a fresh conflict or union where its types come from."""
    value = binding.value
    if not isinstance(value, Conflict | UnionOf) or value.related:
        return binding
    related: list[tuple[Span, str]] = []
    for source in sources:
        if source is None or source.span is None or isinstance(source.value, Conflict | UnionOf):
            continue
        related.append((source.span, f"{describe(source.value)} here"))
    return Binding(replace(value, related=tuple(related)), binding.defined, binding.span)


def cheap(region: Region) -> bool:
    """All ops may run whether or not their values are used, at little cost."""
    for op in region.ops:
        row = REGISTRY[op.name]
        if row.effect is not Effect.PURE or row.cost not in (Cost.CHEAP, Cost.FREE) or op.regions:
            return False
    return True


def valued_arm(ctx: Context, make: Callable[[], Abstract], *given: tuple[Value, bool]) -> tuple[Arm, Abstract]:
    """An arm that computes a value."""
    made: list[Abstract] = []
    arm = lower_arm(ctx, lambda: made.append(make()), *given)
    return arm, made[0]


def choose(ctx: Context, cond: Value, first: Callable[[], Abstract], second: Callable[[], Abstract]) -> Abstract:
    """The value of `first` if `cond`, else of `second`: a select where both are cheap, else an `if`."""
    return choose_arms(ctx, cond, valued_arm(ctx, first, (cond, True)), valued_arm(ctx, second, (cond, False)))


def choose_arms(ctx: Context, cond: Value, first: tuple[Arm, Abstract], second: tuple[Arm, Abstract]) -> Abstract:
    """The same for arms that have been lowered already. What they learned about bindings is joined."""
    sides = (first, second)
    shape = join_shapes(shape_of(first[1]), shape_of(second[1]))
    if isinstance(shape, NumberShape) and all(cheap(arm.region) and arm.env == ctx.env for arm, _ in sides):
        leaves = []
        for arm, value in sides:
            ctx.b.region.ops.extend(arm.region.ops)
            leaves.append(coerce(ctx.b, value, shape))
        return rebuild(ctx.b, shape, [x if x is y else ctx.b.select(cond, x, y) for x, y in zip(*leaves, strict=True)])
    key = "<value>"
    for arm, value in sides:
        arm.env[key] = Binding(value)
    join_arms(ctx, cond, first[0], second[0], [*ctx.env, key])
    return ctx.env.pop(key).value
