"""The state of lowering one function body: where ops go, what names stand for, whether control is still here.

Invariants: `env` holds a binding for each name that has been assigned on some path to this point; the pseudo-names
"return" and "break" (no Python variable can have them) hold the value and the condition of exits already taken. `live` is True, False,
or an SSA bool: whether control reaches this point; `gone` says that it has left the function on every path (return, raise).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from adcore.edits import Fix
from adcore.frontend import fixes
from adcore.frontend.errors import Reject, Silent
from adcore.frontend.scope import Constant, Missing, Scope, Unusable
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
    Number,
    Origin,
    Text,
    TupleOf,
)  # fmt: skip
from adcore.ir.build import Builder
from adcore.ir.core import Region, Value
from adcore.ir.types import BOOL, F64, I64, Array, Scalar
from adcore.source import Span
from adcore.suggest import suggest

if TYPE_CHECKING:
    from adcore.frontend.liveness import Liveness
    from adcore.frontend.session import Session

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
BUILTINS = frozenset(
    [
        "abs",
        "min",
        "max",
        "round",
        "int",
        "float",
        "bool",
        "len",
        "sum",
        "pow",
        "divmod",
        "range",
        "enumerate",
        "zip",
        "reversed",
        "print",
        "isinstance",
        "any",
        "all",
        "sorted",
        "list",
        "tuple",
        "dict",
        "set",
        "str",
        "map",
        "filter",
        "input",
        "open",
        "type",
        "complex",
        "hash",
        "id",
        "iter",
        "next",
        "getattr",
        "setattr",
        "hasattr",
        "repr",
        "super",
        "vars",
        "object",
    ]
)
EXCEPTIONS = frozenset(
    [
        "ValueError",
        "ArithmeticError",
        "ZeroDivisionError",
        "OverflowError",
        "IndexError",
        "KeyError",
        "TypeError",
        "RuntimeError",
        "AssertionError",
        "NotImplementedError",
        "FloatingPointError",
        "Exception",
    ]
)


@dataclass(slots=True, eq=False)
class Frame:
    """The Python function whose text is being lowered: its names, its source, what its `return` does."""

    scope: Scope
    node: ast.FunctionDef
    locals: frozenset[str]
    liveness: Liveness
    convert_return: Callable[[Context, Abstract, ast.stmt], Abstract] | None = None
    outer: Frame | None = None
    """The frame around an inner function."""
    inner: dict[ast.AST, FunctionRef] = field(default_factory=dict)
    """The inner functions that have been defined, by their text."""
    loops: int = 0
    failed: bool = False
    """Some statement of it was reported."""


@dataclass(slots=True, eq=False)
class Context:
    """`deps` are the (module, top-level name) pairs whose text was used, in order."""

    session: Session
    b: Builder
    frame: Frame
    env: dict[str, Binding] = field(default_factory=dict)
    live: bool | Value = True
    gone: bool = False
    deps: dict[tuple[str, str], None] = field(default_factory=dict)
    inlining: tuple[FunctionRef, ...] = ()
    callers: tuple[tuple[Frame, dict[str, Binding]], ...] = ()
    """The frames that wait for the function being inlined, with their names."""
    depth: int = 0
    loop_needed: frozenset[str] = frozenset()
    """Names that the innermost loop carries, where exits may lead to its head or end."""
    facts: dict[Value, bool] = field(default_factory=dict)
    """SSA bools whose truth is known here, because control is in an arm that asked for it."""
    absent: bool = False
    """A value that may be None is None here: what CPython does with it then happens when it runs."""
    outside: frozenset[Value] = frozenset()
    """Tags of unions that the innermost loop does not change."""
    doubt: tuple[tuple[Span, str], ...] = ()
    """The assignments that gave the type which is decided here: what goes wrong goes wrong because of one of them."""
    splits: int = 0
    """How many decisions of types the arm stands under."""
    peeled: int = 0
    """How many loops around have their first iteration on its own."""
    memo: dict[ast.expr, Abstract] | None = None
    """What the expressions of the statement being lowered gave, so that it can be taken up again after a split; None: it cannot."""

    # --- places

    @property
    def scope(self) -> Scope:
        return self.frame.scope

    def span(self, node: ast.AST) -> Span:
        """The place of a node; of a node that has none (`HERE`), what is being lowered."""
        if self.b.span is not None and not hasattr(node, "lineno"):
            return self.b.span
        return self.scope.source.span_of_node(node)

    def text(self, node: ast.AST, limit: int = 60) -> str:
        text = " ".join(self.scope.source.segment(self.span(node)).split())
        return text if len(text) <= limit else text[: limit - 1] + "…"

    @contextmanager
    def at(self, node: ast.AST) -> Iterator[None]:
        with self.b.at(self.span(node)):
            yield

    def reject(
        self,
        rule: str,
        node: ast.AST,
        suggestion: str | None = None,
        hint: str | None = None,
        fixes: tuple[Fix, ...] = (),
        **fields: Any,
    ) -> NoReturn:
        raise Reject(rule, self.span(node), suggestion, hint, fixes=fixes, **fields)

    def expression(self, node: ast.AST, construct: str, reason: str, hint: str | None = None) -> NoReturn:
        self.reject("language/unsupported-expression", node, hint=hint, construct=construct, reason=reason)

    def statement(self, node: ast.AST, construct: str, reason: str, hint: str | None = None) -> NoReturn:
        self.reject("language/unsupported-statement", node, hint=hint, construct=construct, reason=reason)

    def mismatch(
        self, node: ast.AST, subject: str, reason: str, hint: str | None = None, fixes: tuple[Fix, ...] = ()
    ) -> NoReturn:
        self.reject("types/mismatch", node, hint=hint, fixes=fixes, subject=subject, reason=reason)

    # --- branches

    def fork(self) -> tuple[dict[str, Binding], bool | Value, bool]:
        return dict(self.env), self.live, self.gone

    def restore(self, state: tuple[dict[str, Binding], bool | Value, bool]) -> None:
        self.env, self.live, self.gone = dict(state[0]), state[1], state[2]

    @contextmanager
    def arm(self, region: Region) -> Iterator[None]:
        """Lower into `region` with copies of the state; the caller reads the state before the block ends."""
        state = self.fork()
        known = self.facts, self.absent, self.doubt, self.memo, self.splits, self.peeled
        self.facts, self.memo = dict(self.facts), None
        try:
            with self.b.inside(region):
                yield
        finally:
            self.restore(state)
            self.facts, self.absent, self.doubt, self.memo, self.splits, self.peeled = known

    @contextmanager
    def inside_loop(self, outside: frozenset[Value]) -> Iterator[None]:
        """Lower the body of a loop that does not change the tags `outside`."""
        around, self.outside = self.outside, outside
        try:
            yield
        finally:
            self.outside = around

    def assume(self, cond: Value, truth: bool) -> None:
        """From here to the end of the arm, `cond` is known."""
        self.facts[cond] = truth
        if cond.owner is None:
            return
        name, operands = cond.owner.name, cond.owner.operands
        if name == "not_":
            self.assume(operands[0], not truth)
        elif (name, truth) in (("and_", True), ("or_", False)):
            for operand in operands:
                self.assume(operand, truth)

    # --- values

    def number(self, value: bool | int | float, numpy: bool = False) -> Number:
        """A constant."""
        if isinstance(value, bool | np.bool_):
            return Number(self.b.const(bool(value)), BOOL, numpy, bool(value))
        if isinstance(value, int):
            v = self.b.i64(value)
            return Number(v, I64, numpy, value, value, value)
        return Number(self.b.f64(value), F64, numpy, float(value))

    def guard(self, ok: Value | bool, error: str, message: str) -> None:
        """Raise `error` unless `ok`."""
        if ok is True:
            return
        self.b.guard(self.b.const(False) if ok is False else ok, error, message)

    def use(self, module: Scope, name: str) -> None:
        self.deps.setdefault((module.name, name))

    # --- names

    def lookup(self, node: ast.Name) -> Abstract:
        if node.id in self.frame.locals:
            return self._local(node)
        outer = self.frame.outer
        while outer is not None:
            if node.id in outer.locals:
                return self._captured(node, outer)
            outer = outer.outer
        meaning = self.session.resolver.resolve(self.scope, node.id, self.use)
        if isinstance(meaning, Missing) and meaning.module == self.scope.name and meaning.name == node.id:
            if node.id in BUILTINS or node.id in EXCEPTIONS:
                return LibraryRef("builtins", node.id)
            self.unknown_name(node)
        return self.from_meaning(node, meaning)

    def _captured(self, node: ast.Name, outer: Frame) -> Abstract:
        """A variable of a function around this one, as it is now."""
        env = next((env for frame, env in reversed(self.callers) if frame is outer), None)
        if env is None:
            self.expression(
                node, f"the variable `{node.id}` of a function that has returned", "it is gone", "Pass it in."
            )
        mine, self.env = self.env, dict(env)
        try:
            return self._local(node)
        finally:
            self.env = mine

    def inner_function(self, node: ast.FunctionDef | ast.Lambda) -> FunctionRef:
        """A `def` or `lambda` inside the function."""
        if node not in self.frame.inner:
            text = node if isinstance(node, ast.FunctionDef) else _named(node)
            self.frame.inner[node] = FunctionRef(self.scope, text, self.frame)
        return self.frame.inner[node]

    def _local(self, node: ast.Name) -> Abstract:
        binding = self.env.get(node.id)
        if binding is None:
            remedy = ": it is assigned further down only, or under conditions that never hold"
            self.reject("language/unknown-name", node, name=node.id, remedy=remedy)
        match binding.value:
            case Broken():
                raise Silent
            case Conflict() as conflict:
                self._unstable(node, conflict)
            case _:
                pass
        if binding.defined is not True:
            message = f"cannot access local variable '{node.id}' where it is not associated with a value"
            with self.at(node):
                self.guard(binding.defined, "UnboundLocalError", message)
            self.env[node.id] = Binding(binding.value, True, binding.span)
        return binding.value

    def _unstable(self, node: ast.Name, conflict: Conflict) -> NoReturn:
        """Said once, at the first use."""
        fields = {"name": node.id, "first": conflict.first, "second": conflict.second}
        if any(found.rule == "types/unstable-join" and found.fields == fields for found in self.session.findings):
            raise Silent
        hint = "A variable may have four types; give it another name where its type changes."
        raise Reject("types/unstable-join", self.span(node), None, hint, conflict.related, (), **fields)

    def unknown_name(self, node: ast.Name) -> NoReturn:
        missing = fixes.missing_import(self.scope, node.id)
        if missing is not None:
            self.reject("language/unknown-name", node, fixes=missing[1], name=node.id, remedy=missing[0])
        near = suggest(node.id, [*self.frame.locals, *self.scope.names, *sorted(BUILTINS)])
        self.reject(
            "language/unknown-name", node, near, name=node.id, remedy=f"; did you mean `{near}`?" if near else ""
        )

    def from_meaning(self, node: ast.expr, meaning: object) -> Abstract:
        match meaning:
            case FunctionRef() | ModuleRef() | LibraryRef():
                return meaning
            case Constant():
                return self.constant(node, meaning)
            case Unusable(what, reason):
                self.expression(node, f"`{self.text(node)}`, {what} of the module,", reason)
            case Missing(module, None):
                reason = f"no source of the module `{module}` is found among the project and the installed packages"
                self.reject("calls/unresolved", node, callee=self.text(node), reason=reason)
            case Missing(module, name):
                self._missing(node, module, str(name))
            case _:
                raise AssertionError(meaning)

    def _missing(self, node: ast.expr, module: str, name: str) -> NoReturn:
        scope = self.session.resolver.scope(module)
        near = suggest(name, scope.names) if scope else None
        reason = f"`{module}` has no `{name}`" + (f"; did you mean `{near}`?" if near else "")
        suggestion = None
        if near and isinstance(node, ast.Attribute):
            suggestion = self.text(node.value, 200) + "." + near
        self.reject("calls/unresolved", node, suggestion, callee=self.text(node), reason=reason)

    def constant(self, node: ast.expr, constant: Constant) -> Abstract:
        from_text = self.session.constant(constant, self.use)
        if isinstance(from_text, str):
            reason = f"its value is not known from the text: {from_text}"
            self.expression(node, f"the module variable `{self.text(node)}`", reason)
        return self.literal(node, from_text[0], constant.name)

    def literal(self, node: ast.AST, value: Any, name: str = "") -> Abstract:
        """A Python or NumPy object that is known at compile time."""
        match value:
            case None:
                return NONE
            case bool() | np.bool_():
                return self.number(bool(value), isinstance(value, np.bool_))
            case int() | np.integer():
                if not INT64_MIN <= value <= INT64_MAX:
                    self.expression(node, f"the number `{self.text(node)}`", "it does not fit into 64 bits")
                return self.number(int(value), isinstance(value, np.integer))
            case np.float64():
                return self.number(float(value), True)
            case float():
                return self.number(value)
            case str():
                return Text(value)
            case tuple() | list() if len(value) <= 1000:
                items = tuple(self.literal(node, item) for item in value)
                return TupleOf(items, "tuple" if isinstance(value, tuple) else "list")
            case np.ndarray():
                return self.constant_array(node, value, name)
            case _:
                self.expression(
                    node, f"`{self.text(node)}`", f"a constant of class {type(value).__name__} is no number"
                )

    def constant_array(self, node: ast.AST, value: Any, name: str) -> ArrayRef:
        if not 1 <= value.ndim <= 6:
            self.expression(node, f"`{self.text(node)}`", f"arrays of {value.ndim} dimensions are not compiled")
        kinds: dict[str, Scalar] = {"float64": F64, "int64": I64, "bool": BOOL}
        if value.dtype.name not in kinds:
            self.expression(node, f"`{self.text(node)}`", f"arrays of {value.dtype.name} are not compiled yet")
        key = self.session.constant_array(value, name or "array")
        kind = kinds[value.dtype.name]
        made = self.b.op("constarray", attrs={"name": key}, results=[Array(kind, value.shape)]).result
        return ArrayRef(made, kind, tuple(self.number(n) for n in value.shape), Origin.CONSTANT, name)


def _named(node: ast.Lambda) -> ast.FunctionDef:
    """A lambda as the function that it is."""
    body = ast.copy_location(ast.Return(node.body), node.body)
    function = ast.FunctionDef(name="function", args=node.args, body=[body], decorator_list=[])
    return ast.copy_location(function, node)
