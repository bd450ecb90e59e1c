"""Entry points: signature from annotations, options from the decorator, the IR function, what it was made from."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from adcore.diagnostics import Report
from adcore.edits import Fix
from adcore.frontend import arrays, fixes
from adcore.frontend.annotations import (
    Annotated,
    AnnotatedTuple,
    AnnotationReader,
    Meant,
    describe_meant,
    parameter_type,
    result_structure,
)
from adcore.frontend.constants import Evaluator, NotConstant, constant_value
from adcore.frontend.context import Context
from adcore.frontend.discover import CallForm, Decorated, Misplaced
from adcore.frontend.errors import NeedInline, Reject, Silent
from adcore.frontend.functions import head_of, make_frame, parameter_defaults, run_function
from adcore.frontend.scope import Missing, Scope
from adcore.frontend.session import Session
from adcore.frontend.shapes import array_ref, coerce, convert, leaf_types, shape_of
from adcore.frontend.values import (
    Abstract,
    ArrayRef,
    Binding,
    FunctionRef,
    NoneValue,
    Number,
    Origin,
    TupleOf,
    describe,
)
from adcore.ir.build import Builder
from adcore.ir.core import Function, Op, Region, Value
from adcore.ir.memory import analyse, reads
from adcore.ir.signature import Dependency, Entry, Parameter
from adcore.ir.types import BOOL, F64, I64, Array, Type, is_differentiable
from adcore.option_entries import read_application
from adcore.options import (
    FunctionOptions,
    FunctionTable,
    ProjectOptions,
    check_decorator,
    check_table,
    resolve,
    without_derivative,
)
from adcore.source import Span

_MEMBERS = {
    "reverse": ("grad", "value_and_grad", "vjp"),
    "forward": ("jvp",),
    "both": ("grad", "value_and_grad", "vjp", "jvp"),
    "none": (),
}


class EntryBuilder:
    """Builds one entry; problems go to the session's findings and to `report`."""

    def __init__(self, session: Session, scope: Scope, report: Report, project: ProjectOptions) -> None:
        self.session = session
        self.scope = scope
        self.report = report
        self.project = project

    def build(self, found: Decorated | CallForm | Misplaced) -> Entry | None:
        match found:
            case Misplaced():
                span = self.scope.source.span_of_node(found.node)
                made: tuple[Fix, ...] = ()
                if found.function is not None and found.decorator is not None:
                    made = fixes.nearest_decorator(self.scope, found.function, found.decorator)
                self.report.add("language/decorator-target", span, fixes=made, target=found.what, reason=found.why)
                return None
            case Decorated():
                callee = FunctionRef(self.scope, found.function)
                return self._entry(found.function.name, callee, found.decorator, takes_function=False)
            case CallForm():
                target = self._target(found)
                if target is None:
                    return None
                return self._entry(found.name, target, found.call, takes_function=True)

    def _target(self, found: CallForm) -> FunctionRef | None:
        evaluator = Evaluator(self.session.resolver, self.scope, lambda *_: None)
        meaning = evaluator.static(found.target)
        if isinstance(meaning, FunctionRef):
            return meaning
        span = self.scope.source.span_of_node(found.target)
        text = ast.unparse(found.target)[:60]
        if isinstance(meaning, Missing):
            reason = (
                f"no source of it is found in `{meaning.module}`"
                if meaning.module != self.scope.name
                else "it is not defined in this module"
            )
            self.report.add("calls/unresolved", span, callee=text, reason=reason)
        else:
            self.report.add(
                "language/decorator-target",
                span,
                target=f"`{text}`",
                reason="it takes a function written in Python at module level",
            )
        return None

    def _entry(self, name: str, callee: FunctionRef, decorator: ast.expr, takes_function: bool) -> Entry | None:
        before = len(self.session.findings)
        own = Report()
        signature = self._signature(callee, own)
        kinds = self._option_kinds(callee, signature)
        options = check_decorator(
            decorator,
            self.scope.source,
            kinds,
            own,
            takes_function=takes_function,
            literal_of=partial(fixes.literal_of, self.scope),
        )
        if (table := self._table(name)) is not None:
            check_table(table, kinds, own)
        self.report.extend(own.diagnostics)
        if signature is None:  # nothing of the body is checked: its types are unknown
            return None
        parameters, meant = signature
        lowered = self._lower(name, callee, parameters, meant)
        if lowered is None or options is None or len(self.session.findings) > before or own.has_errors:
            return None
        function, deps = lowered
        written = analyse(function).written
        parameters = tuple(replace(p, written=v in written) for p, v in zip(parameters, function.params, strict=True))
        entry = Entry(
            self.scope.name,
            name,
            parameters,
            result_structure(meant),
            self._resolved(name, options),
            self._span(callee),
            doc=ast.get_docstring(callee.node) or "",
            dependencies=self._dependencies(name, callee, deps, takes_function),
            kernels={"primal": function.name},
            application=read_application(decorator, self.scope.source, takes_function),
        )
        return self._resolve_wrt(entry, function, decorator)

    def _table(self, name: str) -> FunctionTable | None:
        return self.project.functions.get(f"{self.scope.name}:{name}")

    def _resolved(self, name: str, options: FunctionOptions) -> FunctionOptions:
        """The decorator's options over those of the project."""
        table = self._table(name)
        return resolve(options, toml_function=table.values if table else None, toml_defaults=self.project.defaults)

    def _span(self, callee: FunctionRef) -> Span:
        return callee.scope.source.span_of_node(head_of(callee.node))

    # --- signature

    def _signature(self, callee: FunctionRef, report: Report) -> tuple[tuple[Parameter, ...], Meant] | None:
        """Parameters and result; None if an annotation is missing or means nothing here."""
        spec, source = callee.node.args, callee.scope.source
        reader = AnnotationReader(self.session.resolver, callee.scope)
        good = True
        for extra in (spec.vararg, spec.kwarg):
            if extra is not None:
                span = source.span_of_node(extra)
                report.add(
                    "language/unsupported-annotation",
                    span,
                    subject=f"`{extra.arg}`",
                    annotation=f"*{extra.arg}",
                    remedy="; name the parameters one by one",
                )
                good = False
        defaults = parameter_defaults(callee)
        parameters = []
        for arg in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs):
            made = self._parameter(callee, arg, defaults.get(arg.arg), reader, report)
            good = good and made is not None
            if made is not None:
                parameters.append(made)
        meant: Meant = None
        if callee.node.returns is None:
            added: tuple[Fix, ...] = ()
            if not any(isinstance(a, ast.Return) and a.value is not None for a in ast.walk(callee.node)):
                subject = f"the result of `{callee.name}` (nothing is returned; write `-> None`)"
                added = fixes.none_annotation(callee.scope, callee.node)
            else:
                subject = f"the result of `{callee.name}`"
            report.add("language/missing-annotation", self._span(callee), fixes=added, subject=subject)
            good = False
        else:
            try:
                meant = reader.result(callee.node.returns)
            except Reject as problem:
                report.add(problem.rule, problem.span, problem.suggestion, fixes=problem.fixes, **problem.fields)
                good = False
        return (tuple(parameters), meant) if good else None

    def _parameter(
        self, callee: FunctionRef, arg: ast.arg, default: ast.expr | None, reader: AnnotationReader, report: Report
    ) -> Parameter | None:
        span = callee.scope.source.span_of_node(arg)
        if arg.annotation is None:
            made = fixes.default_annotation(callee.scope, arg, default)
            report.add("language/missing-annotation", span, fixes=made, subject=f"the parameter `{arg.arg}`")
            return None
        try:
            meant = reader.parameter(arg.annotation, f"`{arg.arg}`")
        except Reject as problem:
            report.add(problem.rule, problem.span, problem.suggestion, fixes=problem.fixes, **problem.fields)
            return None
        type_ = parameter_type(meant)
        if default is None:
            return Parameter(arg.arg, type_, span)
        try:
            value = constant_value(self.session.resolver, callee.scope, default, lambda *_: None)
        except NotConstant as problem:
            where = callee.scope.source.span_of_node(problem.node)
            where = where if hasattr(problem.node, "lineno") else callee.scope.source.span_of_node(default)
            report.add(
                "language/unsupported-expression",
                where,
                construct=f"the default of `{arg.arg}`",
                reason=f"its value is not known from the text: {problem.reason}",
            )
            return None
        return Parameter(arg.arg, type_, span, True, value)

    def _option_kinds(
        self, callee: FunctionRef, signature: tuple[tuple[Parameter, ...], Meant] | None
    ) -> Sequence[tuple[str, str]]:
        """(name, kind) of the parameters as far as they are known, for the checks of `wrt`."""
        types = {p.name: p.type for p in signature[0]} if signature else {}
        spec = callee.node.args
        kinds = []
        for arg in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs):
            known = types.get(arg.arg)
            kinds.append(
                (
                    arg.arg,
                    "int"
                    if known is I64
                    else "bool"
                    if known is BOOL
                    else "array"
                    if isinstance(known, Array)
                    else "float",
                )
            )
        return kinds

    # --- body

    def _lower(
        self, name: str, callee: FunctionRef, parameters: Sequence[Parameter], meant: Meant
    ) -> tuple[Function, dict[tuple[str, str], None]] | None:
        region = Region()
        b = Builder(region, callee.scope.source.span_of_node(callee.node))
        ctx = Context(self.session, b, make_frame(callee))
        returns = callee.node.returns

        def convert_return(c: Context, value: Abstract, node: ast.stmt) -> Abstract:
            text = node.value if isinstance(node, ast.Return) else None
            return convert_result(c, value, meant, text or node, returns)

        ctx.frame.convert_return = convert_return
        named_sizes: dict[str, Number] = {}
        for parameter in parameters:
            value = Value(_without_sizes(parameter.type), parameter.name if parameter.name.isascii() else None)
            region.params.append(value)
            numpy = self._is_numpy(callee, parameter)
            ctx.env[parameter.name] = Binding(
                _parameter_value(b, value, parameter, numpy, named_sizes), True, parameter.span
            )
        ctx.use(callee.scope, callee.name)
        self.session.stack.append(callee)
        try:
            result = run_function(ctx)
            self._check_end(ctx, result, meant)
        except Reject as problem:
            self.session.findings.append(problem)
            return None
        except (Silent, NeedInline):
            return None
        finally:
            self.session.stack.pop()
        shape = shape_of(result)
        values = coerce(b, result, shape)
        with b.at(callee.scope.source.span_of_node(callee.node)):
            b.op("return", values, results=[])
        ir_name = self.session.fresh_name(name if name.isascii() else "function")
        function = Function(
            ir_name, region, tuple(leaf_types(shape)), {}, callee.scope.source.span_of_node(callee.node)
        )
        self.session.module.functions[ir_name] = function
        return function, ctx.deps

    def _is_numpy(self, callee: FunctionRef, parameter: Parameter) -> bool:
        """Arguments are converted to the annotated class: `np.float64` is a NumPy scalar in the function."""
        spec = callee.node.args
        annotation = next(
            a.annotation for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs) if a.arg == parameter.name
        )
        assert annotation is not None
        return AnnotationReader(self.session.resolver, callee.scope).parameter(annotation, "").numpy

    def _check_end(self, ctx: Context, result: Abstract, meant: Meant) -> None:
        """A body without any `return` gives None."""
        if isinstance(result, NoneValue) and meant is not None:
            ctx.reject(
                "types/return-mismatch", head_of(ctx.frame.node), actual="nothing", expected=describe_meant(meant)
            )

    # --- what it depends on, what it is differentiated for

    def _dependencies(
        self, name: str, callee: FunctionRef, deps: dict[tuple[str, str], None], takes_function: bool
    ) -> tuple[Dependency, ...]:
        first = [(self.scope.name, name)]
        if takes_function:
            first.append((callee.scope.name, callee.name))
        found = []
        for module, member in dict.fromkeys([*first, *deps]):
            scope = self.session.resolver.scope(module)
            if scope is not None:
                found.append(Dependency(module, member, scope.source.path))
        return tuple(found)

    def _resolve_wrt(self, entry: Entry, function: Function, decorator: ast.expr) -> Entry:
        names = [p.name for p in entry.parameters]
        options: FunctionOptions = entry.options
        if options.mode == "none":
            entry.wrt = ()
            return entry
        if options.wrt is not None:
            entry.wrt = tuple(names.index(name) for name in options.wrt_names if name in names)
            entry.bare = isinstance(options.wrt, str)
        else:
            read = contents_read(function)
            entry.wrt = tuple(k for k, p in enumerate(entry.parameters) if is_differentiable(p.type) and read[k])
            entry.bare = len(entry.wrt) == 1
        entry.members = ("primal", *_members(entry))
        if not entry.wrt:
            reason = (
                "none of its float parameters is read"
                if any(is_differentiable(p.type) for p in entry.parameters)
                else "it has no float parameter"
            )
            span = self.scope.source.span_of_node(decorator)
            made = without_derivative(entry.application) if entry.application is not None else ()
            self.report.add("activity/nothing-active", span, fixes=made, reason=reason)
        return entry


def _members(entry: Entry) -> tuple[str, ...]:
    wanted = _MEMBERS.get(entry.options.mode, ())
    return wanted if entry.scalar_output else tuple(m for m in wanted if m not in ("grad", "value_and_grad"))


def _without_sizes(type: Type) -> Type:
    """Arrays of all sizes have one type in the body; what is known of them are the numbers that stand for their sizes."""
    return Array(type.dtype, (None,) * type.rank) if isinstance(type, Array) else type


def _parameter_value(
    b: Builder, value: Value, parameter: Parameter, numpy: bool, named_sizes: dict[str, Number]
) -> Abstract:
    """`named_sizes`: those that annotations of earlier parameters have named. The entry point has checked them."""
    if isinstance(parameter.type, Array):
        array = array_ref(b, value, Origin.PARAMETER, parameter.name)
        sizes = []
        for dim, size in zip(parameter.type.dims, array.sizes, strict=True):
            if isinstance(dim, int):
                sizes.append(Number(b.i64(dim), I64, False, dim, dim, dim))
            else:
                sizes.append(size if dim is None else named_sizes.setdefault(dim, size))
        return replace(array, sizes=tuple(sizes))
    assert parameter.type in (F64, I64, BOOL)
    return Number(value, {"f64": F64, "i64": I64, "bool": BOOL}[str(parameter.type)], numpy)


def contents_read(function: Function) -> list[bool]:
    """For each parameter: its value, or what an array holds at the call, is used. One that is overwritten as a whole first is not read."""
    roots = analyse(function).roots
    params = set(function.params)
    read: set[Value] = set()
    overwritten: set[Value] = set()
    for top in function.body.ops:
        region = [top, *(op for inner in top.regions for op in inner.walk())]
        for op in region:
            content = op.operands if op.name in ("call", "return") else [op.operands[k] for k in reads(op)]
            read.update(root for v in content for root in roots.get(v, frozenset()) - overwritten)
            read.update(v for v in op.operands if v in params and v not in roots)
        if top.name == "assign" and top.attrs["mode"] == "set" and _is_whole(top.operands[0]):
            overwritten |= roots[top.operands[0]] if len(roots[top.operands[0]]) == 1 else set()
    return [p in read for p in function.params]


def _is_whole(array: Value) -> bool:
    """All of its root: a parameter, or `x[:]` of one."""
    op = array.owner
    if op is None or op.name != "slice":
        return op is None
    base = op.operands[0]
    return base.owner is None and all(
        _is_constant(start, 0) and _is_size(size.owner, base, axis) and _is_constant(step, 1)
        for axis, (start, size, step) in enumerate(zip(*(op.operands[1 + k :: 3] for k in range(3)), strict=True))
    )


def _is_constant(v: Value, value: int) -> bool:
    return v.owner is not None and v.owner.name == "const" and v.owner.attrs["value"] == value


def _is_size(op: Op | None, array: Value, axis: int) -> bool:
    return op is not None and op.name == "dim" and op.operands[0] is array and op.attrs["axis"] == axis


def convert_result(ctx: Context, value: Abstract, meant: Meant, node: ast.AST, annotation: ast.expr | None) -> Abstract:
    """A returned value in the class that the annotation names."""

    def fail(hint: str | None = None) -> Abstract:
        made: tuple[Fix, ...] = ()
        if not ctx.doubt:  # the value has another type elsewhere
            made = fixes.result_annotation(ctx.scope, ctx.frame.node, annotation, value)
        if isinstance(meant, Annotated) and meant.rank is None and meant.boxed in ("int", "bool"):
            made += fixes.converted(ctx, node, value, meant.kind, sure=False)
        ctx.reject(
            "types/return-mismatch",
            node,
            hint=hint,
            fixes=made,
            actual=describe(value, True),
            expected=describe_meant(meant),
        )

    match meant, value:
        case None, NoneValue():
            return value
        case Annotated(rank=None), Number():
            if value.kind is F64 and meant.kind is not F64:
                return fail("Convert it with `int(...)`, or annotate the result as `float`.")
            if value.kind is I64 and meant.kind is BOOL:
                return fail("Convert it with `bool(...)`, or annotate the result as `int`.")
            return Number(
                convert(ctx.b, value, meant.kind), meant.kind, meant.boxed == "np.float64", None, value.low, value.high
            )
        case Annotated(rank=int()), ArrayRef() if value.dtype == meant.kind and value.rank == meant.rank:
            return arrays.copy(ctx, value) if value.origin is not Origin.FRESH else value
        case Annotated(rank=None), ArrayRef():
            return fail("Index the array or reduce it with `np.sum`, or annotate the result as `Vector`.")
        case AnnotatedTuple(items), TupleOf() if len(items) == len(value.items):
            parts = node.elts if isinstance(node, ast.Tuple) and len(node.elts) == len(items) else [node] * len(items)
            return TupleOf(
                tuple(
                    convert_result(ctx, v, m, n, a)
                    for v, m, n, a in zip(value.items, items, parts, _parts_of(annotation, len(items)), strict=True)
                )
            )
        case _:
            return fail()


def _parts_of(annotation: ast.expr | None, count: int) -> list[ast.expr | None]:
    """The annotations of a tuple's items, where they can be told apart in the text."""
    match annotation:
        case ast.Subscript(slice=ast.Tuple(elts=elts)) if len(elts) == count:
            return list(elts)
        case ast.Subscript(slice=only) if count == 1:
            return [only]
    return [None] * count
