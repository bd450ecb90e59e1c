"""Finds what is differentiated in a module: decorated functions and calls `df = autodiff(f, ...)` at module level.

A scan of the syntax tree; names are followed through imports, so every spelling of `adcore.autodiff` counts.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from adcore.frontend.project import Project, decode
from adcore.frontend.scope import Resolver, Scope
from adcore.frontend.values import LibraryRef, ModuleRef

AUTODIFF = LibraryRef("adcore", "autodiff")


@dataclass(frozen=True, slots=True)
class Decorated:
    """`@autodiff` on a function at module level."""

    function: ast.FunctionDef
    decorator: ast.expr


@dataclass(frozen=True, slots=True)
class CallForm:
    """`name = autodiff(target, ...)` at module level."""

    name: str
    call: ast.Call
    target: ast.expr


@dataclass(frozen=True, slots=True)
class Misplaced:
    """`autodiff` where it cannot work: `what` it stands on and `why` not."""

    node: ast.AST
    what: str
    why: str
    function: ast.FunctionDef | None = None
    """Where `autodiff` stands above other decorators of it."""
    decorator: ast.expr | None = None


Found = Decorated | CallForm | Misplaced


def mentions_autodiff(text: str) -> bool:
    """Quick test: a module without the word has nothing to compile."""
    return "autodiff" in text or "adcore" in text


def modules_with_autodiff(
    root: Path,
    skip: frozenset[str] = frozenset({".git", ".venv", "venv", "node_modules", "build", "dist", "__pycache__"}),
) -> Iterator[tuple[str, Path]]:
    """(dotted module name, path) of the files below `root` that mention it."""
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        if any(part in skip or not part.isidentifier() for part in parts):
            continue
        try:
            text = decode(path.read_bytes())
        except OSError:
            continue
        if text is not None and mentions_autodiff(text):
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            if name:
                yield name, path


def find(scope: Scope, resolver: Resolver) -> list[Found]:
    """Everything in the module that `autodiff` is applied to, in order."""
    return list(_Finder(scope, resolver).body(scope.module.parsed.tree.body))


def find_in(project: Project, module: str) -> list[Found]:
    resolver = Resolver(project)
    scope = resolver.scope(module)
    return find(scope, resolver) if scope is not None else []


class _Finder:
    def __init__(self, scope: Scope, resolver: Resolver) -> None:
        self.scope = scope
        self.resolver = resolver

    def is_autodiff(self, node: ast.expr) -> bool:
        return self.meaning(node) == AUTODIFF

    def meaning(self, node: ast.expr) -> object:
        if isinstance(node, ast.Name):
            return self.resolver.resolve(self.scope, node.id, lambda *_: None)
        if isinstance(node, ast.Attribute):
            base = self.meaning(node.value)
            if isinstance(base, ModuleRef):
                return self.resolver.attribute(base.name, node.attr, lambda *_: None)
        return None

    def decorator(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> ast.expr | None:
        for decorator in node.decorator_list:
            if self.is_autodiff(decorator.func if isinstance(decorator, ast.Call) else decorator):
                return decorator
        return None

    def body(self, statements: list[ast.stmt]) -> Iterator[Found]:
        for node in statements:
            if isinstance(node, ast.FunctionDef):
                yield from self.function(node)
            elif isinstance(node, ast.AsyncFunctionDef):
                if self.decorator(node):
                    yield Misplaced(
                        _name_of(node), f"the async function `{node.name}`", "compiled code runs without an event loop"
                    )
                yield from self.inside(node)
            elif isinstance(node, ast.ClassDef):
                yield from self.klass(node)
            elif isinstance(node, ast.If | ast.Try):
                for block in (node.body, node.orelse):
                    yield from self.body(block)
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                yield from self.assignment(node)
            else:
                yield from self.expressions(node)

    def function(self, node: ast.FunctionDef) -> Iterator[Found]:
        decorator = self.decorator(node)
        if decorator is not None and _is_generator(node):
            yield Misplaced(
                _name_of(node), f"the generator `{node.name}`", "compiled functions return their result once"
            )
        elif decorator is not None and decorator is not node.decorator_list[-1]:
            other = node.decorator_list[-1]
            why = (
                "what that makes of the function is known only at run time; put `autodiff` directly above the function"
            )
            yield Misplaced(other, f"what `@{ast.unparse(other)[:40]}` gives", why, node, decorator)
        elif decorator is not None:
            yield Decorated(node, decorator)
        yield from self.inside(node)

    def klass(self, node: ast.ClassDef) -> Iterator[Found]:
        if self.decorator(node):
            yield Misplaced(_name_of(node), f"the class `{node.name}`", "it compiles functions")
        for inner in ast.walk(node):
            if (
                inner is not node
                and isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
                and self.decorator(inner)
            ):
                yield Misplaced(
                    _name_of(inner),
                    f"the method `{inner.name}`",
                    "only functions at module level have a name under which compiled code is found",
                )

    def inside(self, node: ast.AST) -> Iterator[Found]:
        for inner in ast.walk(node):
            if (
                inner is not node
                and isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
                and self.decorator(inner)
            ):
                why = "only functions at module level have a name under which compiled code is found"
                yield Misplaced(_name_of(inner), f"the inner function `{inner.name}`", why)

    def assignment(self, node: ast.Assign | ast.AnnAssign) -> Iterator[Found]:
        value = node.value
        if not isinstance(value, ast.Call) or not self.is_autodiff(value.func):
            yield from self.expressions(node)
            return
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if len(targets) != 1 or not isinstance(targets[0], ast.Name):
            yield Misplaced(value, "a function without a name of its own", "assign it to one plain name")
        elif not value.args:
            yield Misplaced(value, "nothing", "the function is missing; write it as the first argument")
        elif isinstance(value.args[0], ast.Lambda):
            yield Misplaced(value.args[0], "a `lambda`", "it has no annotations; write a function with `def`")
        else:
            yield CallForm(targets[0].id, value, value.args[0])

    def expressions(self, node: ast.stmt) -> Iterator[Found]:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Call) and inner.args and self.is_autodiff(inner.func):
                if isinstance(inner.args[0], ast.Lambda):
                    yield Misplaced(inner.args[0], "a `lambda`", "it has no annotations; write a function with `def`")
                else:
                    yield Misplaced(
                        inner, "a function without a name of its own", "assign the result to a name at module level"
                    )


def _is_generator(node: ast.FunctionDef) -> bool:
    stack: list[ast.AST] = list(node.body)
    while stack:
        inner = stack.pop()
        if isinstance(inner, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            stack.extend(ast.iter_child_nodes(inner))
    return False


def _name_of(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> ast.AST:
    """The name in the `def` or `class` line."""
    keyword = {ast.FunctionDef: "def ", ast.AsyncFunctionDef: "async def ", ast.ClassDef: "class "}[type(node)]
    mark = ast.Pass(lineno=node.lineno, col_offset=node.col_offset + len(keyword))
    mark.end_lineno = node.lineno
    mark.end_col_offset = mark.col_offset + len(node.name.encode())
    return mark
