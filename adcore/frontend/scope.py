"""The names of a module, read from its text: what each is bound to, and what it means across modules.

Invariant: a name is a constant only if the module binds it once and no text of the module changes it afterwards
(stores into it, augments it, calls a mutating method on it, declares it `global`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from adcore.frontend.project import LIBRARIES, ModuleSource, Project
from adcore.frontend.values import FunctionRef, LibraryRef, ModuleRef
from adcore.source import SourceText

MUTATORS = frozenset(
    {
        "append",
        "extend",
        "insert",
        "pop",
        "remove",
        "clear",
        "sort",
        "reverse",
        "fill",
        "put",
        "resize",
        "setflags",
        "partition",
        "itemset",
    }
)


@dataclass(frozen=True, slots=True)
class Imported:
    """`attribute` of `module`; None: the module itself."""

    module: str
    attribute: str | None


@dataclass(frozen=True, slots=True)
class Constant:
    """`name = node` at module level; not evaluated yet."""

    scope: Scope
    name: str
    node: ast.expr


@dataclass(frozen=True, slots=True)
class Unusable:
    """A name that is bound, but to nothing that compiled code can use."""

    what: str
    reason: str


@dataclass(frozen=True, slots=True)
class Missing:
    """No such name in the module; `module` None: the module itself cannot be found."""

    module: str
    name: str | None = None


Meaning: TypeAlias = FunctionRef | LibraryRef | ModuleRef | Constant | Unusable | Missing
Definition: TypeAlias = FunctionRef | Imported | Constant | Unusable
Hop: TypeAlias = "tuple[Scope, str]"


@dataclass(slots=True, eq=False)
class Scope:
    """The top-level names of one module."""

    module: ModuleSource
    names: dict[str, Definition] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.module.name

    @property
    def source(self) -> SourceText:
        return self.module.source


def build_scope(module: ModuleSource) -> Scope:
    """What each name of the module stands for; a name that may stand for several things stands for none."""
    scope = Scope(module)
    tree = module.parsed.tree
    changed = _changed_names(tree) | _escaping_names(tree)
    for statement, certain in _statements(tree.body):
        for name, definition in _definitions(scope, statement):
            if isinstance(definition, Constant) and (not certain or name in scope.names or name in changed):
                why = "it is changed after its definition" if name in changed else "it is defined more than once"
                definition = Unusable("a variable", f"{why}, so its value is not a constant")
            elif name in scope.names and definition != scope.names[name]:
                why = "it is defined more than once, so what it stands for is known only when the module runs"
                definition = Unusable("a name with several meanings", why)
            scope.names[name] = definition
    if {"numpy", "math"} & set(scope.stars):
        for name in _SHADOWED:
            scope.names.setdefault(
                name, Unusable("a name", "a star import may have changed what it stands for; import the module by name")
            )
    return scope


_SHADOWED = (
    "abs",
    "all",
    "any",
    "bool",
    "divmod",
    "float",
    "int",
    "max",
    "min",
    "pow",
    "round",
    "sum",
)  # names that `numpy` or `math` also have


def _statements(body: list[ast.stmt]) -> Iterator[tuple[ast.stmt, bool]]:
    """Top-level statements and those in `if` and `try` blocks; the latter are not certain to run."""
    for statement in body:
        yield statement, True
        blocks: list[list[ast.stmt]] = []
        if isinstance(statement, ast.If):
            blocks = [statement.body, statement.orelse]
        elif isinstance(statement, ast.Try):
            blocks = [statement.body, *(h.body for h in statement.handlers), statement.orelse, statement.finalbody]
        elif isinstance(statement, ast.For | ast.While | ast.With):
            blocks = [statement.body]
        for block in blocks:
            for inner, _ in _statements(block):
                yield inner, False


def _definitions(scope: Scope, statement: ast.stmt) -> Iterator[tuple[str, Definition]]:
    match statement:
        case ast.FunctionDef(decorator_list=[*_, ast.Name(id="overload") | ast.Attribute(attr="overload")]):
            return  # a signature for type checkers; the definition follows
        case ast.FunctionDef():
            yield statement.name, FunctionRef(scope, statement)
        case ast.AsyncFunctionDef():
            yield statement.name, Unusable("an async function", "compiled code runs without an event loop")
        case ast.ClassDef():
            yield statement.name, Unusable("a class", "compiled code works with numbers and arrays")
        case ast.Import():
            for alias in statement.names:
                name = alias.asname or alias.name.partition(".")[0]
                yield name, Imported(alias.name if alias.asname else name, None)
        case ast.ImportFrom():
            target = _absolute(scope, statement)
            for alias in statement.names:
                if alias.name == "*":
                    scope.stars.append(target)
                else:
                    yield alias.asname or alias.name, Imported(target, alias.name)
        case (
            ast.Assign(targets=[ast.Name(id=name)], value=value)
            | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
        ):
            yield name, Constant(scope, name, value)
        case ast.Assign():
            for place in statement.targets:
                for node in ast.walk(place):
                    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                        yield from _unpacked(scope, statement, place, node.id)
        case ast.For() | ast.With():
            for node in ast.walk(statement):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    yield node.id, Unusable("a variable", "its value is known only when the module runs")
        case _:
            return


def _unpacked(scope: Scope, statement: ast.Assign, target: ast.expr, name: str) -> Iterator[tuple[str, Definition]]:
    """`a = b = 1.0` and `a, b = 1.0, 2.0`."""
    if isinstance(target, ast.Name):
        yield name, Constant(scope, name, statement.value)
        return
    if isinstance(target, ast.Tuple | ast.List):
        for k, item in enumerate(target.elts):
            if isinstance(item, ast.Name) and item.id == name:
                part = ast.Subscript(statement.value, ast.Constant(k), ast.Load())
                yield name, Constant(scope, name, ast.fix_missing_locations(ast.copy_location(part, statement.value)))
                return
    yield name, Unusable("a variable", "its value is known only when the module runs")


def _absolute(scope: Scope, statement: ast.ImportFrom) -> str:
    """The dotted name behind `from ..x import`."""
    if not statement.level:
        return statement.module or ""
    package = scope.name.split(".")
    if not scope.module.is_package:
        package = package[:-1]
    package = package[: max(0, len(package) - statement.level + 1)]
    return ".".join([*package, statement.module] if statement.module else package)


def _escaping_names(tree: ast.Module) -> frozenset[str]:
    """Names of module-level arrays and lists that a statement of the module hands on: someone else may change what they hold.

    Reading them in arithmetic, or by functions that are known only to read, makes new objects and hands nothing on.
    """
    mutable = {
        target.id
        for statement in tree.body
        if isinstance(statement, ast.Assign | ast.AnnAssign) and isinstance(statement.value, _MAKE_OBJECTS)
        for target in (statement.targets if isinstance(statement, ast.Assign) else [statement.target])
        if isinstance(target, ast.Name)
    }
    escaping: set[str] = set()
    pending: list[tuple[ast.AST, bool]] = [(statement, False) for statement in tree.body]
    while pending:
        node, read = pending.pop()
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                if not read and name in mutable:
                    escaping.add(name)
            case (
                ast.FunctionDef() | ast.AsyncFunctionDef()
            ):  # bodies run later; changes that stand there are found elsewhere
                defaults = [d for d in (*node.args.defaults, *node.args.kw_defaults) if d is not None]
                pending += [(part, False) for part in (*node.decorator_list, *defaults)]
            case ast.Lambda():
                continue
            case ast.NamedExpr(target=target):
                escaping.add(target.id)
                pending.append((node.value, False))
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                escaping.add(name)
                pending += [(child, False) for child in ast.iter_child_nodes(node)]
            case ast.Attribute(value=value):
                pending.append((value, True))
            case ast.Call(func=func):
                only_reads = _only_reads(node)
                pending.append((func, True))
                pending += [(part, only_reads) for part in (*node.args, *(k.value for k in node.keywords))]
            case _:
                inside = isinstance(node, ast.BinOp | ast.UnaryOp | ast.Compare | ast.FormattedValue) or (
                    read and isinstance(node, ast.Subscript)
                )
                pending += [(child, inside) for child in ast.iter_child_nodes(node)]
    return frozenset(escaping)


_MAKE_OBJECTS = (ast.List, ast.Dict, ast.Set, ast.Call, ast.BinOp, ast.ListComp)
_READERS = frozenset(
    {
        "len",
        "sum",
        "min",
        "max",
        "float",
        "int",
        "bool",
        "abs",
        "range",
        "print",
        "tuple",
        "list",
        "sorted",
        "str",
        "repr",
    }
)
_WRITERS = frozenset(
    {
        "copyto",
        "put",
        "place",
        "putmask",
        "fill_diagonal",
        "put_along_axis",
        "asarray",
        "reshape",
        "ravel",
        "squeeze",
        "transpose",
        "atleast_1d",
    }
)


def _only_reads(call: ast.Call) -> bool:
    """A call that neither changes its arguments nor hands them back."""
    match call.func:
        case ast.Name(id=name):
            return name in _READERS
        case ast.Attribute(value=ast.Name(id="np" | "numpy" | "math"), attr=name):
            return name not in _WRITERS and all(keyword.arg != "out" for keyword in call.keywords)
        case _:
            return False


def _changed_names(tree: ast.Module) -> frozenset[str]:
    """Module-level names that some text of the module changes after their definition.

    What only functions change, and only where it is a variable of their own, is no change of the module's.
    """
    outside = _changes(tree.body, into_functions=False)
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            outside |= _changes(function.body) - local_names(function)
    return frozenset(outside)


def _changes(statements: Sequence[ast.stmt], into_functions: bool = True) -> set[str]:
    """Names whose values the statements change in place, or that they declare global."""
    changed: set[str] = set()
    stack: list[ast.AST] = list(statements)
    while stack:
        node = stack.pop()
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() if not into_functions:
                continue
            case ast.Global():
                changed.update(node.names)
            case ast.AugAssign(target=target):
                changed.update(_base(target))
            case ast.Subscript(ctx=ast.Store() | ast.Del()) | ast.Attribute(ctx=ast.Store() | ast.Del()):
                changed.update(_base(node))
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if method in MUTATORS:
                changed.add(name)
            case _:
                pass
        stack.extend(ast.iter_child_nodes(node))
    return changed


def _base(node: ast.expr) -> set[str]:
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()


def local_names(function: ast.FunctionDef | ast.AsyncFunctionDef) -> frozenset[str]:
    """Parameters and every name that the function binds; names declared global are not among them."""
    arguments = function.args
    names = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    names |= {a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None}
    outer: set[str] = set()
    stack: list[ast.AST] = list(function.body)
    while stack:
        node = stack.pop()
        match node:
            case ast.Name(ctx=ast.Store() | ast.Del()):
                names.add(node.id)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                names.add(node.name)
                continue
            case ast.Lambda():
                continue
            case ast.Import() | ast.ImportFrom():
                names |= {(a.asname or a.name.partition(".")[0]) for a in node.names}
            case ast.Global():
                outer.update(node.names)
            case _:
                pass
        stack.extend(ast.iter_child_nodes(node))
    return frozenset(names - outer)


class Resolver:
    """Follows names through import statements. `used` is told every (scope, name) on the way: what a result depends on."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._scopes: dict[str, Scope | None] = {}

    def scope(self, module: str) -> Scope | None:
        if module not in self._scopes:
            found = self.project.find(module)
            self._scopes[module] = build_scope(found) if found is not None else None
        return self._scopes[module]

    def resolve(self, scope: Scope, name: str, used: Callable[[Scope, str], None]) -> Meaning:
        return self._resolve(scope, name, used, ())

    def attribute(self, module: str, name: str, used: Callable[[Scope, str], None]) -> Meaning:
        return self._attribute(module, name, used, ())

    def _resolve(
        self, scope: Scope, name: str, used: Callable[[Scope, str], None], seen: tuple[tuple[str, str], ...]
    ) -> Meaning:
        definition = scope.names.get(name)
        if definition is None:
            return self._from_star(scope, name, used, seen)
        used(scope, name)
        if not isinstance(definition, Imported):
            return definition
        if definition.attribute is None:
            return self._module(definition.module)
        return self._attribute(definition.module, definition.attribute, used, seen)

    def _module(self, module: str) -> Meaning:
        if module.partition(".")[0] in LIBRARIES:
            return ModuleRef(module)
        return ModuleRef(module) if self.scope(module) or self._is_namespace(module) else Missing(module)

    def _is_namespace(self, module: str) -> bool:
        return any(root.joinpath(*module.split(".")).is_dir() for root in self.project.roots)

    def _attribute(
        self, module: str, name: str, used: Callable[[Scope, str], None], seen: tuple[tuple[str, str], ...]
    ) -> Meaning:
        if module.partition(".")[0] in LIBRARIES:
            return ModuleRef(f"{module}.{name}") if (module, name) in SUBMODULES else LibraryRef(module, name)
        if (module, name) in seen or len(seen) > 50:
            return Missing(module, name)
        scope = self.scope(module)
        if scope is not None:
            found = self._resolve(scope, name, used, (*seen, (module, name)))
            if not (isinstance(found, Missing) and found.module == module):
                return found
        if self.scope(f"{module}.{name}") is not None:
            return ModuleRef(f"{module}.{name}")
        return Missing(module, name) if scope is not None else Missing(module)

    def _from_star(
        self, scope: Scope, name: str, used: Callable[[Scope, str], None], seen: tuple[tuple[str, str], ...]
    ) -> Meaning:
        for module in scope.stars:
            if module in LIBRARIES or name.startswith("_"):
                continue
            found = self._attribute(module, name, used, seen)
            if not isinstance(found, Missing):
                return found
        return Missing(scope.name, name)


SUBMODULES = frozenset({("adcore", "typing"), ("numpy", "linalg"), ("numpy", "typing"), ("numpy", "random")})
