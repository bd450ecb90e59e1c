"""Values of changing type: where one is used, the text around the use is lowered once for each type that it may have.

A use of an undecided union raises `NeedSplit`. The statement (or the arm of an expression) around it catches that, branches on the
tag, and is lowered in both arms, where the tag is a fact; what comes out is joined as after any `if`. Expressions that had been
evaluated before the use are not evaluated again. A tag that the loop around the statement does not change splits the loop instead
(loop unswitching), so that its body is as if the type had never been in doubt. A test such as `x is None` is then a constant in
each arm, which is all that refinement needs.

Invariants: `facts` hold in the region where ops are appended; each split decides one tag, so lowering ends; no op reads the SSA values
of a part except under its tag.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from adcore.frontend.context import Context
from adcore.frontend.errors import NeedSplit, Reject
from adcore.frontend.joins import Arm, choose_arms, join_arms, lower_arm, valued_arm
from adcore.frontend.shapes import describe_shape, rebuild
from adcore.frontend.values import Abstract, Binding, NoneValue, TupleOf, UnionOf
from adcore.ir.core import Value

LARGEST_SPLIT = 6  # nested decisions in one statement: 64 copies of it
LARGEST_UNSWITCHED = 2  # of those, the ones that may copy a loop


def decide(ctx: Context, value: Abstract, node: ast.AST) -> Abstract:
    """The value with its type: raises `NeedSplit` where that is not known."""
    match value:
        case UnionOf():
            part = _part(ctx, value)
            if isinstance(part, Value):
                raise NeedSplit(part, value, ctx.span(node))
            if isinstance(part, NoneValue):
                ctx.absent = True
            return decide(ctx, part, node)
        case TupleOf() if any(isinstance(item, UnionOf | TupleOf) for item in value.items):
            return TupleOf(tuple(decide(ctx, item, node) for item in value.items), value.display)
        case _:
            return value


def _part(ctx: Context, union: UnionOf) -> Abstract | Value:
    """The one part that the value can be here, else a tag that is not known."""
    undecided: Value | None = None
    for tag, (shape, leaves) in zip((*union.tags, None), union.parts, strict=True):
        known = undecided is None if tag is None else tag if isinstance(tag, bool) else ctx.facts.get(tag)
        if known:
            return rebuild(ctx.b, shape, leaves)
        if known is None and undecided is None and isinstance(tag, Value):
            undecided = tag
    assert undecided is not None
    return undecided


def tags_of(value: Abstract) -> set[Value]:
    """The tags that say which type a value has."""
    match value:
        case UnionOf():
            return {tag for tag in value.tags if isinstance(tag, Value)}
        case TupleOf():
            return {tag for item in value.items for tag in tags_of(item)}
        case _:
            return set()


def tags_in_reach(ctx: Context) -> frozenset[Value]:
    return ctx.outside.union(*(tags_of(binding.value) for binding in ctx.env.values()))


def resolved(ctx: Context, run: Callable[[], None], node: ast.stmt, needed: frozenset[str]) -> None:
    """Lower a statement by `run`, in one arm for each type of what it uses; `needed` are the names that are read after it."""
    outer, ctx.memo = ctx.memo, {}
    try:
        _resolved(ctx, run, node, needed | ctx.loop_needed)
    finally:
        ctx.memo = outer


def _resolved(ctx: Context, run: Callable[[], None], node: ast.stmt, needed: frozenset[str]) -> None:
    attempt = _Attempt(ctx)
    try:
        run()
        return
    except NeedSplit as need:
        attempt.undo(need)
        tag, union = need.tag, need.union
    memo, before = ctx.memo or {}, dict(ctx.env)  # arms fill the same dict
    narrowed: list[dict[str, Binding]] = []

    def fill() -> None:
        ctx.memo = dict(memo)
        ctx.splits += 1
        ctx.doubt = union.related
        narrowed.append(_narrow(ctx))
        try:
            _resolved(ctx, run, node, needed)
        except Reject as problem:
            if not raises_for_none(ctx, problem, node):
                problem.related = problem.related or union.related
                raise

    arms = [lower_arm(ctx, fill, (tag, truth)) for truth in (True, False)]
    for arm, narrow in zip(arms, narrowed, strict=True):
        _widen(arm, narrow, before)
    join_arms(ctx, tag, arms[0], arms[1], needed)


def resolved_value(ctx: Context, make: Callable[[], Abstract]) -> Abstract:
    """The same for an expression that stands in an arm of its own."""
    outer, ctx.memo = ctx.memo, {}
    try:
        return _resolved_value(ctx, make)
    finally:
        ctx.memo = outer


def _resolved_value(ctx: Context, make: Callable[[], Abstract]) -> Abstract:
    attempt = _Attempt(ctx)
    try:
        return make()
    except NeedSplit as need:
        attempt.undo(need)
        tag, union = need.tag, need.union
    memo = ctx.memo or {}

    def fill() -> Abstract:
        ctx.memo = dict(memo)
        ctx.splits += 1
        ctx.doubt = union.related
        try:
            return _resolved_value(ctx, make)
        except Reject as problem:
            problem.related = problem.related or union.related
            raise

    arms = [valued_arm(ctx, fill, (tag, truth)) for truth in (True, False)]
    return choose_arms(ctx, tag, arms[0], arms[1])


class _Attempt:
    """What an attempt to lower changes, so that it can be taken back; ops of evaluated expressions stay, and `memo` knows them."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.state = ctx.fork()
        self.findings = len(ctx.session.findings)
        self.failed = ctx.frame.failed
        self.depth = ctx.depth

    def undo(self, need: NeedSplit) -> None:
        """Take it back; raises `need` again where a loop around is the one to be split."""
        ctx = self.ctx
        del ctx.session.findings[self.findings :]
        ctx.frame.failed, ctx.depth = self.failed, self.depth
        ctx.restore(self.state)
        if need.tag in ctx.outside and ctx.splits < LARGEST_UNSWITCHED:
            raise need
        if ctx.splits >= LARGEST_SPLIT:
            parts = [describe_shape(shape) for shape, _ in need.union.parts]
            raise Reject(
                "types/unstable-join",
                need.span,
                name=ctx.scope.source.segment(need.span)[:40],
                first=parts[0],
                second=parts[1],
            )


def _narrow(ctx: Context) -> dict[str, Binding]:
    """Rebind the names whose type the facts decide; gives the new bindings."""
    narrow: dict[str, Binding] = {}
    for name, binding in ctx.env.items():
        if isinstance(binding.value, UnionOf):
            part = _part(ctx, binding.value)
            if not isinstance(part, Value):
                narrow[name] = Binding(part, binding.defined, binding.span)
                ctx.absent |= isinstance(part, NoneValue)
    ctx.env.update(narrow)
    return narrow


def _widen(arm: Arm, narrow: dict[str, Binding], before: dict[str, Binding]) -> None:
    """Names that the arm did not bind again stand for what they stood for, so that the join makes nothing new of them."""
    for name, binding in narrow.items():
        if arm.env.get(name) is binding:
            arm.env[name] = before[name]


def raises_for_none(ctx: Context, problem: Reject, node: ast.stmt) -> bool:
    """Where a value that may be None is None, what cannot be done with None raises when it runs, as in CPython."""
    if not ctx.absent or not re.search(r"\bNone\b", " ".join(map(str, problem.fields.values()))):
        return False
    match problem.rule:
        case "types/mismatch":
            error, message = "TypeError", f"{problem.fields['subject']}: {problem.fields['reason']}"
        case "types/return-mismatch" if not _returns_none(node):
            error, message = "ValueError", f"the function returns None where {problem.fields['expected']} is annotated"
        case _:
            return False
    with ctx.at(node):
        ctx.guard(False, error, message)
    ctx.live, ctx.gone = False, True
    return True


def _returns_none(node: ast.stmt) -> bool:
    """It says so itself, whatever else may be None."""
    return isinstance(node, ast.Return) and (
        node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None)
    )
