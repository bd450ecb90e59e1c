"""Statements: assignments, branches, exits. A statement that cannot be compiled is reported and the next one is lowered.

Exits are structured: what follows an `if` whose arm leaves goes into the other arm; where neither arm always leaves, it
goes under `if live`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial

from adcore.frontend import arrays, gather, indexing, loops, remedies
from adcore.frontend.arith import SYMBOLS
from adcore.frontend.context import EXCEPTIONS, Context
from adcore.frontend.errors import Reject, Silent
from adcore.frontend.expressions import binary, constant_of, index_items, lower, lower_any, lower_value, truth
from adcore.frontend.joins import join_arms, lower_arm
from adcore.frontend.liveness import Names, always_exits, assigned, exits
from adcore.frontend.unions import decide, raises_for_none, resolved
from adcore.frontend.values import (
    NONE,
    Abstract,
    ArrayRef,
    Binding,
    Broken,
    LibraryRef,
    NoneValue,
    Number,
    TupleOf,
    UnionOf,
    describe,
)
from adcore.ir.core import Value

_REFUSED: dict[type[ast.stmt], tuple[str, str, str | None]] = {
    ast.With: ("a `with` block", "compiled code manages no contexts", None),
    ast.AsyncWith: ("an `async with` block", "compiled code runs without an event loop", None),
    ast.AsyncFor: ("an `async for` loop", "compiled code runs without an event loop", None),
    ast.Try: ("`try`", "compiled code cannot catch exceptions", "Test for the case with `if` before it can raise."),
    ast.TryStar: ("`try`", "compiled code cannot catch exceptions", "Test for the case with `if` before it can raise."),
    ast.AsyncFunctionDef: ("an async function", "compiled code runs without an event loop", None),
    ast.ClassDef: ("a class", "compiled code works with numbers and arrays", "Move it to module level."),
    ast.Global: ("`global`", "compiled code cannot change the module's variables", "Pass the value in and return it."),
    ast.Nonlocal: ("`nonlocal`", "an inner function cannot assign to variables around it", "Return the value."),
    ast.Import: ("an `import` inside a function", "modules are imported once", "Move it to the top of the module."),
    ast.ImportFrom: ("an `import` inside a function", "modules are imported once", "Move it to the top of the module."),
    ast.Match: ("`match`", "branches are written with `if` so far", "Write it with `if` and `elif`."),
}


def block(ctx: Context, body: Sequence[ast.stmt], needed: Names) -> None:
    """Lower statements until control has left; `needed` are the names that are read after them."""
    for k, statement in enumerate(body):
        rest = body[k + 1 :]
        if isinstance(statement, ast.If) and rest and (always_exits(statement.body) or always_exits(statement.orelse)):
            if not guarded(ctx, partial(_split, ctx, statement, rest, needed), statement, needed):
                block(ctx, rest, needed)
            return
        after = ctx.frame.liveness.needed_after(statement)
        guarded(ctx, partial(lower_statement, ctx, statement), statement, after)
        if ctx.live is False:
            return
        if isinstance(ctx.live, Value) and rest:
            _under_live(ctx, rest, needed)
            return


def guarded(ctx: Context, run: Callable[[], None], statement: ast.stmt, needed: Names) -> bool:
    """Run, once for each type of what the statement uses; a failure becomes a finding and breaks the names that it binds."""
    state = ctx.fork()
    depth = ctx.depth
    try:
        resolved(ctx, run, statement, needed)
        return True
    except Reject as problem:
        if raises_for_none(ctx, problem, statement):
            ctx.depth = depth
            return True
        if not ctx.scope.module.own:
            raise
        problem.related = problem.related or ctx.doubt
        ctx.session.findings.append(problem)
    except Silent:
        pass
    ctx.depth = depth
    ctx.restore(state)
    ctx.frame.failed = True
    for name in assigned([statement]):
        ctx.env[name] = Binding(Broken())
    if isinstance(statement, ast.Return):
        ctx.env["return"] = Binding(Broken())
        ctx.live, ctx.gone = False, True
    return False


def _under_live(ctx: Context, rest: Sequence[ast.stmt], needed: Names) -> None:
    cond = ctx.live
    assert isinstance(cond, Value)

    def go_on() -> None:
        ctx.live = True
        block(ctx, rest, needed)

    def stay_out() -> None:
        ctx.live = False

    with ctx.at(rest[0]):
        then, other = lower_arm(ctx, go_on, (cond, True)), lower_arm(ctx, stay_out, (cond, False))
        join_arms(ctx, cond, then, other, needed | ctx.loop_needed)


def lower_statement(ctx: Context, node: ast.stmt) -> None:
    with ctx.at(node):
        match node:
            case ast.Assign():
                _assign(ctx, node)
            case ast.AugAssign():
                _augmented(ctx, node)
            case ast.AnnAssign():
                if node.value is not None:
                    assign(ctx, node.target, constant_of(ctx, lower_any(ctx, node.value)), node)
            case ast.If():
                _if(ctx, node)
            case ast.For():
                loops.lower_for(ctx, node, lower_value(ctx, node.iter), block, assign)
            case ast.While():
                loops.lower_while(ctx, node, lambda c: truth(c, lower_value(c, node.test), node.test), block)
            case ast.Return():
                _return(ctx, node)
            case ast.Break():
                ctx.env["break"] = Binding(NONE)
                ctx.live = False
            case ast.Continue():
                ctx.live = False
            case ast.Pass():
                pass
            case ast.Expr():
                _expression(ctx, node)
            case ast.Assert():
                _assert(ctx, node)
            case ast.Raise():
                _raise(ctx, node)
            case ast.Delete():
                _delete(ctx, node)
            case ast.FunctionDef():
                ctx.env[node.name] = Binding(ctx.inner_function(node), True, ctx.span(node))
            case _:
                construct, reason, hint = _REFUSED.get(
                    type(node), ("this statement", "adcore has no rule for it", None)
                )
                ctx.statement(_first_line(ctx, node), construct, reason, hint)


def _first_line(ctx: Context, node: ast.stmt) -> ast.AST:
    """The head of a compound statement: underlining all of its body would say nothing."""
    if node.lineno == node.end_lineno:
        return node
    head = ast.Pass(lineno=node.lineno, col_offset=node.col_offset)
    head.end_lineno = node.lineno
    head.end_col_offset = len(ctx.scope.source.line(node.lineno).rstrip().encode())
    return head


# Assignment


def _assign(ctx: Context, node: ast.Assign) -> None:
    value = constant_of(ctx, lower_any(ctx, node.value))
    for target in node.targets:
        assign(ctx, target, value, node)


def assign(ctx: Context, target: ast.expr, value: Abstract, node: ast.stmt) -> None:
    """Bind or store; `node` is the statement, for messages."""
    match target:
        case ast.Name():
            _require_value(ctx, value, node)
            ctx.env[target.id] = Binding(value, True, ctx.span(target) if isinstance(node, ast.For) else ctx.span(node))
        case ast.Tuple() | ast.List():
            _unpack(ctx, target, value, node)
        case ast.Subscript():
            _store(ctx, target, value)
        case ast.Attribute():
            ctx.statement(target, "an assignment to an attribute", "objects with attributes are not compiled")
        case ast.Starred():
            ctx.statement(
                target, "unpacking with `*`", "the number of items must be known", "Name the items one by one."
            )
        case _:
            ctx.statement(target, "this assignment", "adcore has no rule for it")


def _require_value(ctx: Context, value: Abstract, node: ast.stmt) -> None:
    if isinstance(value, LibraryRef) and value.module == "builtins":
        return
    if isinstance(value, Broken):
        raise Silent


def _unpack(ctx: Context, target: ast.Tuple | ast.List, value: Abstract, node: ast.stmt) -> None:
    if any(isinstance(item, ast.Starred) for item in target.elts):
        ctx.statement(target, "unpacking with `*`", "the number of items must be known", "Name the items one by one.")
    if isinstance(value, UnionOf):
        value = decide(ctx, value, node)
    if isinstance(value, ArrayRef):
        value = _unpacked_array(ctx, target, value)
    if not isinstance(value, TupleOf):
        ctx.mismatch(
            node, "the assignment", f"{describe(value, True)} cannot be unpacked into {len(target.elts)} names"
        )
    if len(value.items) != len(target.elts):
        ctx.mismatch(
            node, "the assignment", f"{len(value.items)} items cannot be unpacked into {len(target.elts)} names"
        )
    for part, item in zip(target.elts, value.items, strict=True):
        assign(ctx, part, item, node)


def _unpacked_array(ctx: Context, target: ast.Tuple | ast.List, array: ArrayRef) -> TupleOf:
    count = len(target.elts)
    size = arrays.length_of(ctx, array)
    if size.const is None:
        ctx.guard(
            ctx.b.ieq(size.value, ctx.b.i64(count)), "ValueError", f"the array has not {count} elements to unpack"
        )
    elif size.const != count:
        ctx.guard(False, "ValueError", f"the array has not {count} elements to unpack")
        count = min(count, int(size.const))
    items: list[Abstract] = [_item(ctx, array, k) for k in range(count)]
    filler = items[0] if items else ctx.number(0.0, True)  # never used: the guard has raised
    return TupleOf((*items, *[filler] * (len(target.elts) - count)))


def _item(ctx: Context, array: ArrayRef, k: int) -> Abstract:
    at = ctx.b.i64(k)
    if array.rank > 1:
        return indexing.part(ctx, array, at)
    return Number(ctx.b.load(array.value, at), array.dtype, True)


def _array_target(ctx: Context, target: ast.Subscript) -> ArrayRef:
    base = lower(ctx, target.value)
    if isinstance(base, TupleOf):
        ctx.statement(
            target, f"a store into a {base.display}", "only arrays are written", "Make it an array with `np.array`."
        )
    if not isinstance(base, ArrayRef):
        ctx.mismatch(target, "the store", f"{describe(base, True)} has no elements")
    return base


def _store(ctx: Context, target: ast.Subscript, value: Abstract) -> None:
    value = decide(ctx, value, target)
    array = _array_target(ctx, target)
    items = index_items(ctx, target.slice)
    whole = indexing.is_element(items) and len(items) == array.rank and not gather.is_gathered(items)
    gather.put(ctx, array, items, value if whole else _as_array(ctx, value, target), target)


def _as_array(ctx: Context, value: Abstract, node: ast.AST) -> Abstract:
    """A tuple or list on the right of a slice store."""
    return arrays.from_rows(ctx, value, node) if isinstance(value, TupleOf) and value.items else value


def _augmented(ctx: Context, node: ast.AugAssign) -> None:
    symbol = SYMBOLS[type(node.op)]
    match node.target:
        case ast.Name():
            name = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
            try:
                old = lower_value(ctx, name)
            except Silent:
                lower_value(ctx, node.value)  # for its own findings
                raise
            _augmented_name(ctx, node, symbol, old)
        case ast.Subscript():
            _augmented_element(ctx, node, symbol, node.target)
        case _:
            ctx.statement(node, "an assignment to an attribute", "objects with attributes are not compiled")


def _augmented_name(ctx: Context, node: ast.AugAssign, symbol: str, old: Abstract) -> None:
    assert isinstance(node.target, ast.Name)
    value = lower_value(ctx, node.value)
    if isinstance(old, ArrayRef):  # in place, seen through every alias
        arrays.require_writable(ctx, old, node.target)
        result = binary(ctx, symbol, old, value, node)
        if isinstance(result, ArrayRef):
            _same_shape(ctx, old, result)
        arrays.store_all(ctx, old, result, node)
        return
    ctx.env[node.target.id] = Binding(binary(ctx, symbol, old, value, node), True, ctx.span(node))


def _same_shape(ctx: Context, target: ArrayRef, result: ArrayRef) -> None:
    """In-place operations do not broadcast their target."""
    arrays.require_sizes(ctx, result.sizes, target.sizes, "the result does not fit into the array")


def _augmented_element(ctx: Context, node: ast.AugAssign, symbol: str, target: ast.Subscript) -> None:
    array = _array_target(ctx, target)
    items = index_items(ctx, target.slice)
    arrays.require_writable(ctx, array, target)
    if gather.is_gathered(items):  # an index that occurs twice is augmented once, as in NumPy
        old = gather.load(ctx, array, items, target)
        result = binary(ctx, symbol, old, _as_array(ctx, lower_value(ctx, node.value), node), node)
        if isinstance(old, ArrayRef) and isinstance(result, ArrayRef):
            _same_shape(ctx, old, result)
        gather.put(ctx, array, items, result, target)
        return
    items = indexing.complete(ctx, array, items, target)
    if not indexing.is_element(items):
        part = indexing.view(ctx, array, items, target)
        result = binary(ctx, symbol, part, _as_array(ctx, lower_value(ctx, node.value), node), node)
        if isinstance(result, ArrayRef):
            _same_shape(ctx, part, result)
        arrays.store_all(ctx, part, result, target)
        return
    at = indexing.element(ctx, array, items, target)
    old = Number(ctx.b.load(array.value, *at), array.dtype, True)
    result = binary(ctx, symbol, old, lower_value(ctx, node.value), node)
    if not isinstance(result, Number):
        ctx.mismatch(
            node, "the store", f"an element is a number, not {describe(result, True)}", remedies.to_number(result)
        )
    ctx.b.op("store", [array.value, *at, arrays.storable(ctx, array, result, node)])


def _delete(ctx: Context, node: ast.Delete) -> None:
    for target in node.targets:
        if not isinstance(target, ast.Name):
            ctx.statement(target, "`del` of something other than a name", "arrays keep their size")
        ctx.lookup(ast.copy_location(ast.Name(target.id, ast.Load()), target))
        ctx.env.pop(target.id, None)


# Branches and exits


def _if(ctx: Context, node: ast.If) -> None:
    cond = truth(ctx, lower_value(ctx, node.test), node.test)
    needed = ctx.frame.liveness.needed_after(node)
    if cond.const is not None:
        block(ctx, node.body if cond.const else node.orelse, needed)
        return
    if _only_raises(node):
        _raise_unless(ctx, node.body[0], ctx.b.not_(cond.value))
        return
    _branch(ctx, cond.value, node.body, node.orelse, needed)


def _split(ctx: Context, node: ast.If, rest: Sequence[ast.stmt], needed: Names) -> None:
    """An `if` of which one arm always leaves: what follows belongs to the other arm."""
    with ctx.at(node):
        cond = truth(ctx, lower_value(ctx, node.test), node.test)
        if _only_raises(node) and cond.const is None:
            _raise_unless(ctx, node.body[0], ctx.b.not_(cond.value))
            block(ctx, rest, needed)
            return
        then, other = list(node.body), list(node.orelse)
        if always_exits(then):
            other += rest
        else:
            then += rest
        if cond.const is not None:
            block(ctx, then if cond.const else other, needed)
            return
        _branch(ctx, cond.value, then, other, needed)


def _branch(ctx: Context, cond: Value, then: Sequence[ast.stmt], other: Sequence[ast.stmt], needed: Names) -> None:
    first = lower_arm(ctx, lambda: block(ctx, then, needed), (cond, True))
    second = lower_arm(ctx, lambda: block(ctx, other, needed), (cond, False))
    keep = needed
    if exits([*then, *other]).any:
        keep = needed | ctx.loop_needed
    join_arms(ctx, cond, first, second, keep)


def _only_raises(node: ast.If) -> bool:
    return not node.orelse and len(node.body) == 1 and isinstance(node.body[0], ast.Raise)


def _raise_unless(ctx: Context, node: ast.stmt, ok: Value) -> None:
    assert isinstance(node, ast.Raise)
    kind, message = _exception(ctx, node)
    with ctx.at(node):
        ctx.guard(ok, kind, message)


def _exception(ctx: Context, node: ast.Raise) -> tuple[str, str]:
    """The class and the message of a `raise`."""
    raised = node.exc
    if raised is None:
        ctx.statement(node, "a bare `raise`", "there is no exception that is being handled")
    args: list[ast.expr] = []
    if isinstance(raised, ast.Call):
        args = raised.args
        if len(args) > 1 or raised.keywords:
            ctx.statement(
                node, f"`{ctx.text(node)}`", "an exception of compiled code has one message", "Write one text."
            )
        raised = raised.func
    if (
        not isinstance(raised, ast.Name)
        or lower(ctx, raised) != LibraryRef("builtins", raised.id)
        or raised.id not in EXCEPTIONS
    ):
        ctx.statement(
            node, f"`raise {ctx.text(raised)}`", "exceptions of Python itself are raised, such as `ValueError`"
        )
    return raised.id, _message(ctx, args)


def _message(ctx: Context, args: Sequence[ast.expr]) -> str:
    if not args:
        return ""
    first = args[0]
    if isinstance(first, ast.Constant):
        return str(first.value)
    if isinstance(first, ast.JoinedStr):
        parts = [str(p.value) if isinstance(p, ast.Constant) else "..." for p in first.values]
        return "".join(parts)
    return ctx.text(first)


def _raise(ctx: Context, node: ast.Raise) -> None:
    kind, message = _exception(ctx, node)
    ctx.guard(False, kind, message)
    ctx.live, ctx.gone = False, True


def _assert(ctx: Context, node: ast.Assert) -> None:
    cond = truth(ctx, lower_value(ctx, node.test), node.test)
    if cond.const is True:
        return
    ctx.guard(cond.value, "AssertionError", _message(ctx, [node.msg] if node.msg else []))


def _return(ctx: Context, node: ast.Return) -> None:
    value: Abstract = NONE if node.value is None else constant_of(ctx, lower_any(ctx, node.value))
    if ctx.frame.convert_return is not None:
        value = ctx.frame.convert_return(ctx, decide(ctx, value, node), node)
    ctx.env["return"] = Binding(value, True, ctx.span(node))
    ctx.live, ctx.gone = False, True


def _expression(ctx: Context, node: ast.Expr) -> None:
    if isinstance(node.value, ast.Constant):  # a docstring, `...`
        return
    value = lower(ctx, node.value)
    if not isinstance(value, NoneValue | Number | ArrayRef | TupleOf):
        ctx.statement(node, f"`{ctx.text(node)}`", "it has no effect")
