"""What all functions of one compilation share: the IR module, constants, specialised helpers, findings.

Invariant: findings of an attempt that is thrown away (a loop lowered again with wider types) are thrown away with it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from adcore.diagnostics import Report
from adcore.frontend.constants import NotConstant, constant_value
from adcore.frontend.errors import Reject
from adcore.frontend.scope import Constant, Resolver, Scope
from adcore.frontend.shapes import Shape
from adcore.frontend.values import FunctionRef
from adcore.ir.core import Module

if TYPE_CHECKING:
    import numpy as np

    from adcore.frontend.context import Context

Deps = dict[tuple[str, str], None]


@dataclass(slots=True, eq=False)
class Specialised:
    """A helper compiled for one list of argument shapes; `name` None: it failed, and that has been reported."""

    name: str | None
    result: Shape | None
    deps: Deps


@dataclass(slots=True, eq=False)
class Session:
    resolver: Resolver
    block: Callable[[Context, Sequence[ast.stmt], frozenset[str]], None]
    """Lowers statements: `statements.block`, which stands above the modules that need it here."""
    module: Module = field(default_factory=Module)
    findings: list[Reject] = field(default_factory=list)
    stack: list[FunctionRef] = field(default_factory=list)
    specialised: dict[tuple[Any, ...], Specialised] = field(default_factory=dict)
    pending: dict[tuple[Any, ...], Specialised] = field(default_factory=dict)
    """What is being specialised; `result` is set where it has been called meanwhile."""
    variants: dict[FunctionRef, int] = field(default_factory=dict)
    inlined: set[FunctionRef] = field(default_factory=set)
    _constants: dict[tuple[str, str], tuple[Any, Deps]] = field(default_factory=dict)

    def fresh_name(self, base: str) -> str:
        name, k = base, 0
        taken = {made.name for made in self.pending.values()}
        while name in self.module.functions or name in taken:
            k += 1
            name = f"{base}.{k}"
        return name

    def constant(self, constant: Constant, used: Callable[[Scope, str], None]) -> tuple[Any] | str:
        """The value of a module constant in a tuple, or why it has none."""
        key = (constant.scope.name, constant.name)
        if key not in self._constants:
            deps: Deps = {}
            scopes: dict[str, Scope] = {}

            def note(scope: Scope, name: str) -> None:
                scopes[scope.name] = scope
                deps.setdefault((scope.name, name))

            try:
                value: Any = (constant_value(self.resolver, constant.scope, constant.node, note),)
            except NotConstant as problem:
                value = problem.reason
            self._constants[key] = (value, deps)
        value, deps = self._constants[key]
        for module, name in deps:
            scope = self.resolver.scope(module)
            if scope is not None:
                used(scope, name)
        result: tuple[Any] | str = value
        return result

    def constant_array(self, value: np.ndarray[Any, Any], name: str) -> str:
        """The key of a constant array in the module."""
        base, k = name, 0
        while name in self.module.constants:
            known = self.module.constants[name]
            if known.dtype == value.dtype and known.shape == value.shape and known.tobytes() == value.tobytes():
                return name
            k += 1
            name = f"{base}.{k}"
        self.module.constants[name] = value.copy()
        return name

    def report(self, report: Report) -> None:
        """Hand the findings over, each once: text that is lowered for several types says the same for each."""
        said = set()
        for found in self.findings:
            key = (found.rule, found.span, found.suggestion, found.hint, repr(found.fields))
            if key in said:
                continue
            said.add(key)
            report.add(found.rule, found.span, found.suggestion, found.related, found.hint, found.fixes, **found.fields)
        self.findings.clear()
