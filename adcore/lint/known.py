"""The differentiated functions of a project, read from its texts: what a function's table in `[tool.adcore]` may name.

Invariant: a function that the engine would compile is in the result even if it or its module is broken elsewhere, so
that a table is not called wrong because of another mistake.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from adcore.frontend.recover import parse
from adcore.option_values import Parameter
from adcore.source import SourceText

_DEFINITION = re.compile(r"^def[ \t]+(\w+)", re.MULTILINE)
_WHOLE_NUMBERS = {"int": "int", "bool": "bool", "int64": "int", "int32": "int", "bool_": "bool"}


def known_functions(modules: Iterable[tuple[str, SourceText]]) -> dict[str, Sequence[Parameter] | None]:
    """By "package.module:function" the parameters; None where they stand elsewhere or behind a syntax error."""
    found: dict[str, Sequence[Parameter] | None] = {}
    for module, source in modules:
        parsed = parse(source)
        for name, parameters in _of_module(parsed.tree):
            found[f"{module}:{name}"] = parameters
        for name in _DEFINITION.findall(source.text) if parsed.errors else ():
            found.setdefault(f"{module}:{name}", None)
    return found


def _of_module(tree: ast.Module) -> Iterator[tuple[str, Sequence[Parameter] | None]]:
    names = set(_names_of_autodiff(tree))
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name, decorator_list=decorators):
                if any(_callee(decorator) in names for decorator in decorators):
                    yield name, _parameters(node)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(args=[function, *_]) as call):
                if _callee(call) in names:
                    own = functions.get(function.id) if isinstance(function, ast.Name) else None
                    yield name, _parameters(own) if own else None


def _names_of_autodiff(tree: ast.Module) -> Iterator[str]:
    """What `autodiff` is called in this module."""
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module="adcore" | "adcore.api", level=0, names=aliases):
                yield from (alias.asname or alias.name for alias in aliases if alias.name == "autodiff")
                if any(alias.name == "*" for alias in aliases):
                    yield "autodiff"
            case ast.Import(names=aliases):
                yield from (f"{alias.asname or alias.name}.autodiff" for alias in aliases if alias.name == "adcore")


def _callee(node: ast.expr) -> str | None:
    match node:
        case ast.Call(func=function):
            return _callee(function)
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=module), attr=name):
            return f"{module}.{name}"
    return None


def _parameters(node: ast.FunctionDef) -> list[Parameter]:
    arguments = node.args
    return [(a.arg, _kind(a.annotation)) for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def _kind(annotation: ast.expr | None) -> str:
    match annotation:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return _WHOLE_NUMBERS.get(name, "float")
        case _:
            return "float"
