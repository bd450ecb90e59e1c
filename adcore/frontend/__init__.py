"""The front end: text to typed SSA, statically. Nothing of the user's code is imported or executed.

`lower_module` gives the IR of every differentiated function of a module, the entries that describe them, and reports everything
that is wrong with them. One bad function does not hide the others.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from adcore import ops as _ops
from adcore.diagnostics import Report
from adcore.frontend.discover import CallForm, Decorated, Misplaced, find, mentions_autodiff
from adcore.frontend.entries import EntryBuilder
from adcore.frontend.functions import head_of
from adcore.frontend.project import Project
from adcore.frontend.scope import Resolver
from adcore.frontend.session import Session
from adcore.frontend.statements import block
from adcore.ir.core import Module
from adcore.ir.signature import Entry
from adcore.options import ProjectOptions
from adcore.source import SourceText

del _ops  # imported for its effect: the op table


@dataclass(slots=True)
class LoweredModule:
    """The IR functions (specialised helpers included) and the entries, in the order of the text."""

    name: str
    module: Module = field(default_factory=Module)
    entries: list[Entry] = field(default_factory=list)


def lower_module(
    project: Project, source: SourceText, module: str, report: Report, options: ProjectOptions | None = None
) -> LoweredModule:
    """Lower the functions of `source`, the text of the dotted name `module`. Never raises for any text."""
    result = LoweredModule(module)
    found = project.register(module, source)
    for error in found.parsed.errors:
        report.add("syntax/invalid", error.span, reason=error.reason)
    if not mentions_autodiff(source.text):
        return result
    resolver = Resolver(project)
    scope = resolver.scope(module)
    if scope is None:
        return result
    session = Session(resolver, block, result.module)
    builder = EntryBuilder(session, scope, report, options or ProjectOptions())
    seen: set[str] = set()
    for item in find(scope, resolver):
        before = len(report)
        if _name(item) in seen and not isinstance(item, Misplaced):
            span = scope.source.span_of_node(_place(item))
            why = (
                "a function of this name is marked already, and which one the name stands for is known only at run time"
            )
            report.add("language/decorator-target", span, target=f"`{_name(item)}`", reason=why)
            continue
        seen.add(_name(item))
        entry = _build(builder, item, report)
        session.report(report)
        if entry is None and len(report) == before and not report.has_errors:
            span = scope.source.span_of_node(_place(item))
            report.add("compiler/internal", span, function=_name(item), reason="a failure that it does not explain")
        if entry is not None:
            result.entries.append(entry)
    _drop_unreachable(result)
    return result


def _build(builder: EntryBuilder, item: Decorated | CallForm | Misplaced, report: Report) -> Entry | None:
    """An unforeseen failure is a finding about this function; the others go on."""
    try:
        return builder.build(item)
    except Exception as error:
        if isinstance(error, RecursionError):
            reason = "a nesting that is too deep"
        else:
            reason = f"{type(error).__name__}: {error}"[:200]
        builder.session.stack.clear()
        report.add(
            "compiler/internal", builder.scope.source.span_of_node(_place(item)), function=_name(item), reason=reason
        )
        return None


def _place(item: Decorated | CallForm | Misplaced) -> ast.AST:
    match item:
        case Decorated():
            return head_of(item.function)
        case CallForm():
            return item.call
        case Misplaced():
            return item.node


def _name(item: Decorated | CallForm | Misplaced) -> str:
    match item:
        case Decorated():
            return item.function.name
        case CallForm():
            return item.name
        case Misplaced():
            return item.what


def _drop_unreachable(result: LoweredModule) -> None:
    """Helpers of failed or abandoned attempts."""
    functions = result.module.functions
    wanted = [entry.kernels["primal"] for entry in result.entries]
    reached: set[str] = set()
    used: set[str] = set()
    while wanted:
        name = wanted.pop()
        if name in reached or name not in functions:
            continue
        reached.add(name)
        for op in functions[name].body.walk():
            if op.name == "call":
                wanted.append(op.attrs["callee"])
            elif op.name == "constarray":
                used.add(op.attrs["name"])
    for name in [n for n in functions if n not in reached]:
        del functions[name]
    for name in [n for n in result.module.constants if n not in used]:
        del result.module.constants[name]


__all__ = ["LoweredModule", "Project", "lower_module"]
