"""What "the source has changed" means: the one place that defines the hashes which are compiled in and compared later.

Three hashes. A whole file: where the text is equal, nothing can be stale. A top-level name: equal meaning of the
statements that bind it, whatever happened to comments, layout and docstrings. A table of project options: what it
says about one function.

Invariant: a hash does not depend on the Python that computes it (`ast.dump` does: its output changed in 3.12 and 3.13),
so an extension built by one version is valid for all. Uses the standard library only.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterator, Mapping

# Options that leave the compiled arithmetic as it is, and the table that is looked into for the function's own entry.
_WITHOUT_EFFECT = frozenset({"include", "exclude", "functions", "debug", "abi3"})
# Fields that carry no meaning, or that some versions of Python do not have.
_IGNORED_FIELDS = frozenset({"ctx", "kind", "type_comment", "type_ignores"})


def source_hash(text: str) -> str:
    """Hash of a whole source file. Byte order mark, newline style and newlines at the end do not count."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class NameHashes:
    """The hashes of the names that a module binds at its top level, `import` statements included.

    A name bound by several statements has one hash over all of them, in their order; a compound statement (`if`, `try`)
    counts as a whole for every name bound in it.
    """

    def __init__(self, tree: ast.Module) -> None:
        self._statements: dict[str, list[ast.stmt]] = {}
        self._hashes: dict[str, str] = {}
        for statement in tree.body:
            for name in dict.fromkeys(_bound_names(statement)):
                self._statements.setdefault(name, []).append(statement)

    def of(self, name: str) -> str | None:
        """The hash for `name`, or None if the module does not bind it. `C.f` is looked up as `C`."""
        name = name.partition(".")[0]
        if name in self._statements and name not in self._hashes:
            digest = hashlib.sha256()
            for statement in self._statements[name]:
                digest.update("".join(_tokens(statement)).encode("utf-8", "surrogatepass"))
            self._hashes[name] = digest.hexdigest()
        return self._hashes.get(name)


def table_hash(table: Mapping[str, object] | None, function: str) -> str:
    """Hash of what the parsed `[tool.adcore]` says about `function` ("package.module:name"); None is an empty table.

    Only what can change the compiled arithmetic counts.
    """
    table = table or {}
    general = {key: value for key, value in table.items() if key not in _WITHOUT_EFFECT}
    functions = table.get("functions")
    own = functions.get(function, {}) if isinstance(functions, Mapping) else {}
    text = json.dumps([general, own], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _bound_names(node: ast.AST) -> Iterator[str]:
    """Names that executing `node` at the top level binds; bodies of functions and classes are not looked into."""
    pending = [node]
    while pending:
        node = pending.pop()
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
                continue
            case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                continue
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Import(names=names):
                yield from (alias.asname or alias.name.partition(".")[0] for alias in names)
            case ast.ImportFrom(names=names):
                yield from (alias.asname or alias.name for alias in names)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()):
                yield name  # `TABLE[0] = 1.0` changes what the name stands for
            case ast.Attribute(value=ast.Name(id=name), ctx=ast.Store()):
                yield name
            case _:
                pass
        pending.extend(ast.iter_child_nodes(node))


def _tokens(root: ast.AST) -> Iterator[str]:
    """A text of the tree without positions, docstrings and empty fields. Not recursive: expressions may be deep."""
    pending: list[object] = [root]
    while pending:
        item = pending.pop()
        match item:
            case _Text(text):
                yield text
            case ast.AST():
                yield f"{type(item).__name__}("
                pending.append(_Text(")"))
                pending.extend(reversed(_parts(item)))
            case list():
                yield "["
                pending.append(_Text("]"))
                pending.extend(reversed(item))
            case _:
                yield f"{type(item).__name__}:{item!r},"


class _Text:
    """A piece of output that waits on the stack among nodes and constants, which may be strings themselves."""

    __match_args__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


def _parts(node: ast.AST) -> list[object]:
    parts: list[object] = []
    for name, value in ast.iter_fields(node):
        match node, name:
            case ((ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef()), "body"):
                value = value[_docstring_length(value) :]
            case ast.JoinedStr(), "values":  # 3.12 has empty pieces where the others have none
                value = [part for part in value if not (isinstance(part, ast.Constant) and part.value == "")]
        if name in _IGNORED_FIELDS or (value is None and name != "value") or (isinstance(value, list) and not value):
            continue
        parts += [_Text(f"{name}="), value]
    return parts


def _docstring_length(body: list[ast.stmt]) -> int:
    match body:
        case [ast.Expr(value=ast.Constant(value=str())), *_]:
            return 1
        case _:
            return 0
