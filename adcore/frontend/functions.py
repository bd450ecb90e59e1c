"""Calls of Python functions: binding of arguments, specialisation by argument shapes, inlining.

A helper is compiled once for each list of argument shapes and called by `call`. One that hands out or writes an array of its caller
is lowered in the caller's body instead, so that aliases stay visible.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from adcore.frontend.annotations import Annotated, AnnotatedTuple, AnnotationReader, Meant, ir_type
from adcore.frontend.arrays import copy
from adcore.frontend.constants import Evaluator, NotConstant, constant_value
from adcore.frontend.context import Context, Frame
from adcore.frontend.errors import NeedInline, Reject, Silent
from adcore.frontend.liveness import NOTHING, liveness, reads
from adcore.frontend.scope import local_names
from adcore.frontend.session import Session, Specialised
from adcore.frontend.shapes import (
    ArrayShape,
    NumberShape,
    Shape,
    StaticShape,
    TupleShape,
    UnionShape,
    coerce,
    leaf_types,
    rebuild,
    shape_of,
)  # fmt: skip
from adcore.frontend.values import (
    NONE,
    Abstract,
    ArrayRef,
    Binding,
    Broken,
    Conflict,
    FunctionRef,
    LibraryRef,
    ModuleRef,
    NoneValue,
    Number,
    Origin,
    Text,
    TupleOf,
    UnionOf,
    describe,
)
from adcore.ir.build import Builder
from adcore.ir.core import Function, Region, Value
from adcore.ir.types import BOOL, F64, I64, Array

LARGEST_DEPTH = 40
LARGEST_VARIANTS = 8
STATIC_INTS = range(-16, 17)


def call_function(
    ctx: Context, callee: FunctionRef, args: Sequence[Abstract], keywords: Mapping[str, Abstract], node: ast.Call
) -> Abstract:
    arguments = bind(ctx, callee, args, keywords, node)
    again = callee in ctx.session.stack or callee in ctx.inlining
    if again:
        _require_recursion(ctx, callee, node)
    if len(ctx.session.stack) + len(ctx.inlining) > LARGEST_DEPTH:
        ctx.reject("language/unsupported-call", node, callee=callee.name, reason="the calls are nested too deeply")
    _require_plain(ctx, callee, node)
    if callee.outer is not None:
        return inline(ctx, callee, arguments)
    ctx.use(callee.scope, callee.name)
    try:
        return _call_specialised(ctx, callee, arguments) if again else _dispatch(ctx, callee, arguments)
    except NeedInline:
        reason = "directly or through others, and hands out or writes an array of its caller"
        ctx.reject("calls/recursion", node, callee=callee.name, reason=reason, hint="Return fresh arrays.")
    except Reject as problem:
        if callee.scope.module.own or not ctx.scope.module.own:
            raise
        reason = f"its source, {problem.span.file}:{problem.span.line}, is outside the language that adcore compiles"
        raise Reject(
            "language/unsupported-call", ctx.span(node.func), callee=ctx.text(node.func), reason=reason
        ) from None


def _require_recursion(ctx: Context, callee: FunctionRef, node: ast.Call) -> None:
    """A function that calls itself stays a call, whose result is what its annotation says."""
    if callee.outer is not None or callee in ctx.inlining:
        reason = "directly or through others, and is compiled into the body of its caller"
        ctx.reject("calls/recursion", node, callee=callee.name, reason=reason, hint="Write the recursion as a loop.")
    if callee.node.returns is None:
        reason = "directly or through others, and its result has no annotation"
        ctx.reject("calls/recursion", node, callee=callee.name, reason=reason, hint="Annotate its result.")


def _require_plain(ctx: Context, callee: FunctionRef, node: ast.Call) -> None:
    """No decorator but `autodiff` stands on the helper: what another one makes of it is unknown."""
    evaluator = Evaluator(ctx.session.resolver, callee.scope, lambda *_: None)
    for decorator in callee.node.decorator_list:
        meaning = evaluator.static(decorator.func if isinstance(decorator, ast.Call) else decorator)
        if meaning != LibraryRef("adcore", "autodiff"):
            reason = f"what its decorator `@{ast.unparse(decorator)[:40]}` makes of it is known only at run time"
            ctx.reject("language/unsupported-call", node.func, callee=ctx.text(node.func), reason=reason)


def _dispatch(ctx: Context, callee: FunctionRef, arguments: dict[str, Abstract]) -> Abstract:
    if callee not in ctx.session.inlined:
        try:
            return _call_specialised(ctx, callee, arguments)
        except NeedInline:
            ctx.session.inlined.add(callee)
    return inline(ctx, callee, arguments)


# Arguments


def bind(
    ctx: Context, callee: FunctionRef, args: Sequence[Abstract], keywords: Mapping[str, Abstract], node: ast.Call
) -> dict[str, Abstract]:
    """The parameters' values by name, as Python binds them."""
    spec = callee.node.args

    def wrong(reason: str) -> None:
        ctx.reject("calls/wrong-arguments", node, callee=ctx.text(node.func), reason=reason)

    if spec.vararg or spec.kwarg:
        ctx.reject(
            "language/unsupported-call",
            node,
            callee=callee.name,
            reason="functions with `*` or `**` parameters are not compiled",
        )
    positional = [a.arg for a in (*spec.posonlyargs, *spec.args)]
    bound = dict(zip(positional, args, strict=False))
    if len(args) > len(positional):
        wrong(f"it takes {len(positional)} positional argument{'' if len(positional) == 1 else 's'}, not {len(args)}")
    by_name = {a.arg for a in (*spec.args, *spec.kwonlyargs)}
    for name, value in keywords.items():
        if name not in by_name:
            wrong(f"it has no parameter `{name}`")
        if name in bound:
            wrong(f"`{name}` is given twice")
        bound[name] = value
    defaults = parameter_defaults(callee)
    for name in (*positional, *(a.arg for a in spec.kwonlyargs)):
        if name not in bound:
            if name not in defaults:
                wrong(f"`{name}` is missing")
            bound[name] = _default(ctx, callee, defaults[name], node)
    return bound


def parameter_defaults(callee: FunctionRef) -> dict[str, ast.expr]:
    spec = callee.node.args
    positional = [a.arg for a in (*spec.posonlyargs, *spec.args)]
    found = dict(zip(positional[len(positional) - len(spec.defaults) :], spec.defaults, strict=True))
    found |= {a.arg: d for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is not None}
    return found


def _default(ctx: Context, callee: FunctionRef, text: ast.expr, node: ast.AST) -> Abstract:
    if callee.outer is not None and reads(text) & callee.outer.locals:
        reason = "the default of a parameter of an inner function is a variable"
        ctx.reject("language/unsupported-call", node, callee=callee.name, reason=reason)
    try:
        value = constant_value(ctx.session.resolver, callee.scope, text, ctx.use)
    except NotConstant as problem:
        reason = f"the value of a default argument is not known from the text: {problem.reason}"
        ctx.reject("language/unsupported-call", node, callee=callee.name, reason=reason)
    return ctx.literal(node, value, "default")


# Specialisation


def _parameter_shape(value: Abstract, static: bool) -> tuple[Shape, Any]:
    """The shape of an argument, and the constant that the helper is compiled for."""
    shape = shape_of(value)
    match shape, value:
        case NumberShape(), Number():
            kept = value.const if static and value.numpy is False and _worth_knowing(value.const) else None
            return replace(shape, literal=False), kept
        case ArrayShape(), ArrayRef():
            return ArrayShape(shape.type, Origin.CALLER), None
        case TupleShape(), TupleOf():
            pairs = [_parameter_shape(item, static) for item in value.items]
            return TupleShape(tuple(p[0] for p in pairs), shape.display), tuple(p[1] for p in pairs)
        case _:
            return shape, None


def _worth_knowing(const: object) -> bool:
    """Flags and small exponents change what is compiled."""
    return isinstance(const, bool) or (isinstance(const, int) and const in STATIC_INTS)


def _call_specialised(ctx: Context, callee: FunctionRef, arguments: dict[str, Abstract]) -> Abstract:
    session = ctx.session
    static = session.variants.get(callee, 0) < LARGEST_VARIANTS and callee not in session.stack
    pairs = {name: _parameter_shape(value, static) for name, value in arguments.items()}
    for value in arguments.values():
        if isinstance(value, Conflict | Broken):
            raise Silent
    if any(_unhashable(shape) for shape, _ in pairs.values()):
        raise NeedInline
    key = (callee, tuple((name, shape, _typed(const)) for name, (shape, const) in pairs.items()))
    if key in session.pending:
        made = session.pending[key]
        if made.result is None:
            made.result = _annotated_shape(session, callee)
    else:
        if key not in session.specialised:
            session.variants[callee] = session.variants.get(callee, 0) + 1
            session.specialised[key] = _specialise(session, callee, pairs, key)
        made = session.specialised[key]
    for dep in made.deps:
        ctx.deps.setdefault(dep)
    if made.name is None or made.result is None:
        raise Silent
    leaves = [v for name, value in arguments.items() for v in _argument_leaves(ctx.b, value, *pairs[name])]
    op = ctx.b.op("call", leaves, {"callee": made.name}, leaf_types(made.result))
    return rebuild(ctx.b, made.result, op.results)


def _typed(const: Any) -> Any:
    """True and 1 are different keys."""
    return tuple(_typed(c) for c in const) if isinstance(const, tuple) else (type(const).__name__, const)


def _unhashable(shape: Shape) -> bool:
    """Ranges, methods and the like are passed by inlining."""
    match shape:
        case StaticShape(value):
            if isinstance(value, FunctionRef):
                return value.outer is not None
            return not isinstance(value, NoneValue | Text | LibraryRef | ModuleRef)
        case TupleShape(items):
            return any(_unhashable(item) for item in items)
        case _:
            return False


def _argument_leaves(b: Builder, value: Abstract, shape: Shape, const: Any) -> list[Value]:
    match shape, value:
        case TupleShape(), TupleOf():
            return [
                v
                for item, s, c in zip(value.items, shape.items, const, strict=True)
                for v in _argument_leaves(b, item, s, c)
            ]
        case _ if const is not None:
            return []
        case _:
            return coerce(b, value, shape)


def _specialise(
    session: Session, callee: FunctionRef, pairs: dict[str, tuple[Shape, Any]], key: tuple[Any, ...]
) -> Specialised:
    region = Region()
    b = Builder(region, callee.scope.source.span_of_node(callee.node))
    ctx = Context(session, b, make_frame(callee))
    for name, (shape, const) in pairs.items():
        ctx.env[name] = Binding(_parameter(ctx, name, shape, const))
    name = session.fresh_name(callee.name if callee.name.isascii() else "function")
    pending = Specialised(name, None, ctx.deps)
    session.stack.append(callee)
    session.pending[key] = pending
    try:
        result = run_function(ctx)
        if pending.result is not None:  # it calls itself
            result = _as_annotated(ctx, result, pending.result)
    except Silent:
        return Specialised(None, None, ctx.deps)
    except NeedInline:
        if pending.result is not None:
            reason = "directly or through others, and hands out or writes an array of its caller"
            ctx.reject(
                "calls/recursion", head_of(callee.node), callee=callee.name, reason=reason, hint="Return fresh arrays."
            )
        raise
    finally:
        session.stack.pop()
        del session.pending[key]
    if hands_out(result):
        raise NeedInline
    shape = pending.result or _result_shape(result)
    values = coerce(b, result, shape)
    b.op("return", values, results=[])
    session.module.functions[name] = Function(
        name, region, tuple(leaf_types(shape)), {}, callee.scope.source.span_of_node(callee.node)
    )
    return Specialised(name, shape, ctx.deps)


def _annotated_shape(session: Session, callee: FunctionRef) -> Shape:
    """The shape of the result of a function that calls itself. Its numbers may be Python's or NumPy's."""
    assert callee.node.returns is not None
    return _shape_of_meant(AnnotationReader(session.resolver, callee.scope).result(callee.node.returns))


def _shape_of_meant(meant: Meant) -> Shape:
    match meant:
        case None:
            return StaticShape(NONE)
        case AnnotatedTuple(items):
            return TupleShape(tuple(_shape_of_meant(item) for item in items))
        case Annotated(kind=kind, rank=None):
            return NumberShape(kind, True if kind is BOOL else None)
        case Annotated():
            made = ir_type(meant)
            assert isinstance(made, Array)
            return ArrayShape(made, Origin.FRESH)


def _as_annotated(ctx: Context, value: Abstract, shape: Shape) -> Abstract:
    """The result of a function that calls itself, in the form that its callers expect."""
    match shape, value:
        case NumberShape(kind=kind), Number() if (
            value.kind is kind or (kind is F64 and value.kind is I64) or (kind is I64 and value.kind is BOOL)
        ):
            return value
        case ArrayShape(type=type), ArrayRef() if (value.dtype, value.rank) == (type.dtype, type.rank):
            fresh = isinstance(value.value.type, Array) and value.value.type.layout == "c"
            return value if fresh and value.origin is Origin.FRESH else copy(ctx, value)
        case TupleShape(items), TupleOf() if len(items) == len(value.items):
            return TupleOf(tuple(_as_annotated(ctx, v, s) for v, s in zip(value.items, items, strict=True)))
        case StaticShape(), NoneValue():
            return value
        case _:
            node = ctx.frame.node
            ctx.reject(
                "types/return-mismatch",
                head_of(node),
                actual=describe(value, True),
                expected=ast.unparse(node.returns or node),
            )


def _result_shape(value: Abstract) -> Shape:
    shape = shape_of(value)
    return replace(shape, literal=False) if isinstance(shape, NumberShape) else _without_literals(shape)


def _without_literals(shape: Shape) -> Shape:
    match shape:
        case NumberShape():
            return replace(shape, literal=False)
        case TupleShape():
            return TupleShape(tuple(_without_literals(item) for item in shape.items), shape.display)
        case UnionShape():
            return UnionShape(tuple(_without_literals(part) for part in shape.parts))
        case _:
            return shape


def _parameter(ctx: Context, name: str, shape: Shape, const: Any) -> Abstract:
    """A parameter of a helper: fresh SSA parameters for the leaves of its shape."""
    if isinstance(shape, TupleShape):
        items = tuple(
            _parameter(ctx, f"{name}{k}", s, c) for k, (s, c) in enumerate(zip(shape.items, const, strict=True))
        )
        return TupleOf(items, shape.display)
    if const is not None:
        return ctx.number(const)
    hint = name if name.isascii() else None
    leaves = [Value(t, hint) for t in leaf_types(shape)]
    ctx.b.region.params += leaves
    if isinstance(shape, ArrayShape):
        shape = ArrayShape(shape.type, shape.origin, name)
    return rebuild(ctx.b, shape, leaves)


def hands_out(value: Abstract) -> bool:
    """It contains an array that the function did not make, or something that exists at compile time only."""
    match value:
        case ArrayRef():
            return value.origin is not Origin.FRESH
        case TupleOf():
            return any(hands_out(item) for item in value.items)
        case UnionOf():
            return any(map(_handed_out, (shape for shape, _ in value.parts)))
        case Number() | NoneValue():
            return False
        case _:
            return True


def _handed_out(part: Shape) -> bool:
    match part:
        case ArrayShape():
            return part.origin is not Origin.FRESH
        case TupleShape():
            return any(map(_handed_out, part.items))
        case _:
            return False


# Bodies


def make_frame(callee: FunctionRef) -> Frame:
    return Frame(callee.scope, callee.node, local_names(callee.node), liveness(callee.node), outer=callee.outer)


def run_function(ctx: Context) -> Abstract:
    """Lower the body of the frame's function; its result. Silent: it failed, and that has been reported."""
    ctx.session.block(ctx, ctx.frame.node.body, NOTHING)
    if ctx.frame.failed:
        raise Silent
    returned = ctx.env.get("return")
    if returned is None:
        return NONE
    if ctx.live is not False and not isinstance(returned.value, NoneValue):
        node = ctx.frame.node
        ctx.reject("types/missing-return", head_of(node), name=node.name, other=describe(returned.value, True))
    match returned.value:
        case Conflict() as conflict:
            span = ctx.span(head_of(ctx.frame.node))
            raise Reject(
                "types/unstable-join",
                span,
                None,
                None,
                conflict.related,
                name=f"the result of {ctx.frame.node.name}",
                first=conflict.first,
                second=conflict.second,
            )
        case Broken():
            raise Silent
        case value:
            return value


def head_of(node: ast.FunctionDef) -> ast.AST:
    """The `def` line's name: where messages about the function as a whole stand."""
    offset = len("def ")
    head = ast.Pass(lineno=node.lineno, col_offset=node.col_offset + offset)
    head.end_lineno = node.lineno
    head.end_col_offset = node.col_offset + offset + len(node.name.encode())
    return head


def inline(ctx: Context, callee: FunctionRef, arguments: dict[str, Abstract]) -> Abstract:
    """Lower the callee's body here."""
    saved = (ctx.frame, ctx.env, ctx.live, ctx.gone, ctx.loop_needed, ctx.inlining, ctx.callers)
    failed = False
    try:
        ctx.callers = (*ctx.callers, (ctx.frame, ctx.env))
        ctx.frame = make_frame(callee)
        ctx.env = {name: Binding(value) for name, value in arguments.items()}
        ctx.live, ctx.gone, ctx.loop_needed = True, False, frozenset()
        ctx.inlining = (*saved[5], callee)
        return run_function(ctx)
    except Silent:
        failed = True
        raise
    finally:
        ctx.frame, ctx.env, ctx.live, ctx.gone, ctx.loop_needed, ctx.inlining, ctx.callers = saved
        if failed:
            ctx.frame.failed = True
