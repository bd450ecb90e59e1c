"""Checks the functions' tables of `[tool.adcore]` against the differentiated functions that a project has.

Invariant: a table is called wrong only if its function is certain not to be there; a function that is broken, or that
stands behind a syntax error, still counts.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from adcore.diagnostics import Report
from adcore.frontend.discover import CallForm, Decorated, find_in
from adcore.frontend.project import Project
from adcore.option_values import Parameter
from adcore.options import ProjectOptions, check_functions
from adcore.source import SourceText

_DEFINITION = re.compile(r"^def[ \t]+(\w+)", re.MULTILINE)
_WHOLE_NUMBERS = {"int": "int", "bool": "bool", "int64": "int", "int32": "int", "bool_": "bool"}


def check_tables(
    options: ProjectOptions, modules: Iterable[tuple[str, SourceText]], project: Project, report: Report
) -> None:
    """Report tables for functions that are in none of the `modules` (name, text), and wrong parameters in `wrt`."""
    if not options.functions:
        return
    known: dict[str, Sequence[Parameter] | None] = {}
    for module, source in modules:
        known |= {f"{module}:{name}": parameters for name, parameters in _functions(project, module, source)}
    judged = {name: table for name, table in options.functions.items() if known.get(name, ()) is not None}
    parameters = {name: of_function or () for name, of_function in known.items()}
    check_functions(replace(options, functions=judged), parameters, report)


def _functions(project: Project, module: str, source: SourceText) -> Iterator[tuple[str, Sequence[Parameter] | None]]:
    """The names in a module with their parameters; None where those are not known."""
    parsed = project.register(module, source).parsed
    if parsed.errors:
        yield from ((name, None) for name in _DEFINITION.findall(source.text))
    own = {node.name: node for node in parsed.tree.body if isinstance(node, ast.FunctionDef)}
    for found in find_in(project, module):
        match found:
            case Decorated(function):
                yield function.name, _parameters(function)
            case CallForm(name, target=ast.Name(id=target)) if target in own:
                yield name, _parameters(own[target])
            case CallForm(name):
                yield name, None


def _parameters(node: ast.FunctionDef) -> list[Parameter]:
    arguments = node.args
    return [(a.arg, _kind(a.annotation)) for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def _kind(annotation: ast.expr | None) -> str:
    match annotation:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return _WHOLE_NUMBERS.get(name, "float")
        case _:
            return "float"
