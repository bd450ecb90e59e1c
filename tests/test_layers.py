"""Dependencies point down: the layers as a table, held against every import in the source, in functions as well."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = {"adcore": "adcore", "buildplug": "buildplug", "adcore_lsp": "lsp"}

# From the bottom up. What stands in one row does not import each other; a unit may import all rows below its own.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("adcore.source", "adcore.suggest", "adcore.toml_spans", "adcore.typing", "adcore.hashing"),
    ("adcore.edits", "adcore.rules"),
    ("adcore.diagnostics", "adcore.option_entries", "adcore.build_requires"),
    ("adcore.option_values",),
    ("adcore.options",),
    ("adcore.ir",),
    ("adcore.ops",),
    ("adcore.frontend", "adcore.passes", "adcore.ad", "adcore.allocation"),
    ("adcore.codegen", "adcore.lint", "adcore.manifest"),
    ("adcore.driver",),
    ("buildplug", "adcore_lsp"),
    ("adcore.cli",),
    ("adcore.__main__",),
)

# What runs in the user's process stands apart: it may import what is named here and no more.
APART: dict[str, set[str]] = {
    "adcore": {"adcore.api", "adcore.runtime"},
    "adcore.api": {"adcore.runtime", "adcore.typing"},
    "adcore.runtime": {"adcore.binding", "adcore.jacobian", "buildplug"},
    "adcore.jacobian": {"adcore.binding"},
    "adcore.binding": {"adcore.hashing"},
}

# Imports of what stands apart, from the layers, and why.
DECLARED: dict[tuple[str, str], str] = {
    ("buildplug", "adcore.binding"): "an extension is looked for where the build puts it: one name for both",
    ("buildplug", "adcore"): "the version",
    ("adcore.cli", "adcore"): "the version",
    ("adcore_lsp", "adcore"): "the version",
}

# Who may import what is not part of Python.
EXTERNAL: dict[str, set[str]] = {
    "numpy": {"adcore.typing", "adcore.jacobian"}
    | {"adcore.ir", "adcore.ops", "adcore.frontend", "adcore.passes", "adcore.allocation", "adcore.codegen"},
    "tomli": {"adcore.option_entries", "adcore.options", "adcore.frontend", "adcore.driver"},
    "llvmlite": {"adcore.codegen"},
    "setuptools": {"buildplug"},
    "scipy": {"adcore.codegen"},  # the text that every extension carries looks for its BLAS
    "pygls": {"adcore_lsp"},
    "lsprotocol": {"adcore_lsp"},
}

# Imports inside functions: (importing unit, imported module) and the start-up that they keep fast or possible.
LAZY: dict[tuple[str, str], str] = {
    ("adcore.runtime", "adcore.jacobian"): "NumPy is loaded when a derivative is asked for",
    ("adcore.runtime", "buildplug"): "development mode: the compiler is loaded where a function is not compiled",
    ("adcore.codegen", "scipy"): "looked for where matrices are multiplied",
    ("adcore.driver", "adcore.codegen"): "lint and the editor work without LLVM",
    ("adcore.codegen", "llvmlite"): "only the compiler's own process loads LLVM",
    ("buildplug", "buildplug"): "a project that is merely asked for its metadata does not pay for the engine",
    ("adcore.cli", "adcore"): "each command imports what it needs",
    ("adcore.cli", "adcore.driver"): "each command imports what it needs",
    ("adcore.cli", "adcore.frontend"): "each command imports what it needs",
    ("adcore.cli", "adcore.lint"): "each command imports what it needs",
    ("adcore.cli", "buildplug"): "each command imports what it needs",
    ("adcore.cli", "adcore.source"): "each command imports what it needs",
    ("adcore_lsp", "adcore.driver"): "the engine is loaded in the worker process",
    ("adcore_lsp", "adcore.frontend"): "the engine is loaded in the worker process",
    ("adcore_lsp", "adcore.lint"): "the engine is loaded in the worker process",
    ("adcore_lsp", "adcore.source"): "the engine is loaded in the worker process",
    ("adcore_lsp", "adcore_lsp"): "the worker process does not load the server, nor the server the engine",
}


@dataclass(frozen=True)
class Import:
    """One import statement's effect: `module` imports `target`, a module of the project or an outer package."""

    module: str
    target: str
    line: int
    in_function: bool
    for_type_checkers: bool

    def __str__(self) -> str:
        return f"{MODULES[self.module].relative_to(ROOT)}:{self.line}: {self.module} imports {self.target}"


def find_modules() -> dict[str, Path]:
    found = {}
    for package, folder in FOLDERS.items():
        for file in sorted((ROOT / folder).rglob("*.py")):
            parts = [package, *file.relative_to(ROOT / folder).with_suffix("").parts]
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


MODULES = find_modules()


def unit(module: str) -> str:
    """The row entry that a module belongs to: packages of the engine count one by one, the doors as a whole."""
    parts = module.split(".")
    return ".".join(parts[:2]) if parts[0] == "adcore" else parts[0]


def imports_of(module: str, text: str) -> Iterator[Import]:
    def visit(node: ast.AST, in_function: bool, for_type_checkers: bool) -> Iterator[Import]:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                in_function = True
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                for_type_checkers = True
            case ast.Import(names=names):
                for alias in names:
                    yield Import(module, known(alias.name), node.lineno, in_function, for_type_checkers)
            case ast.ImportFrom(names=names, module=source, level=level):
                package = module.split(".") if MODULES[module].name == "__init__.py" else module.split(".")[:-1]
                base = package[: len(package) - level + 1] if level else []
                origin = ".".join([*base, *([source] if source else [])])
                for alias in names:
                    target = known(f"{origin}.{alias.name}")
                    yield Import(module, target, node.lineno, in_function, for_type_checkers)
            case _:
                pass
        for child in ast.iter_child_nodes(node):
            yield from visit(child, in_function, for_type_checkers)

    yield from visit(ast.parse(text), False, False)


def known(name: str) -> str:
    """The module that a dotted name lies in, or the outermost package of one that is not ours."""
    parts = name.split(".")
    if parts[0] not in FOLDERS:
        return parts[0]
    while ".".join(parts) not in MODULES:
        parts.pop()
        assert parts, f"{name} does not exist"
    return ".".join(parts)


@cache
def all_imports() -> tuple[Import, ...]:
    return tuple(i for module, file in MODULES.items() for i in imports_of(module, file.read_text(encoding="utf-8")))


def is_ours(name: str) -> bool:
    return name.split(".")[0] in FOLDERS


def level(name: str) -> int:
    return next((number for number, row in enumerate(LAYERS) if name in row), -1)


def is_allowed(source: str, target: str) -> bool:
    if source == target or (source, target) in DECLARED:
        return True
    if source in APART:
        return target in APART[source]
    return target not in APART and level(target) < level(source)


def list_cycle(graph: Mapping[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_every_unit_has_one_place() -> None:
    placed = [name for row in LAYERS for name in row] + list(APART)
    assert sorted(placed) == sorted({unit(module) for module in MODULES})


def test_imports_point_down() -> None:
    wrong = [str(i) for i in all_imports() if is_ours(i.target) and not is_allowed(unit(i.module), unit(i.target))]
    assert wrong == []


def test_what_is_heavy_or_optional_is_imported_in_its_place_alone() -> None:
    outer = [i for i in all_imports() if not is_ours(i.target) and i.target not in sys.stdlib_module_names]
    wrong = [str(i) for i in outer if unit(i.module) not in EXTERNAL.get(i.target, set())]
    assert wrong == []


def test_modules_have_no_cycles() -> None:
    graph: dict[str, set[str]] = {module: set() for module in MODULES}
    for i in all_imports():
        if is_ours(i.target) and i.target != i.module and not i.for_type_checkers and not i.in_function:
            graph[i.module].add(i.target)
    assert list_cycle(graph) == []


def test_imports_in_functions_are_declared() -> None:
    lazy = [i for i in all_imports() if i.in_function and i.target not in sys.stdlib_module_names]
    targets = {i: unit(i.target) if is_ours(i.target) else i.target for i in lazy}
    assert [str(i) for i, target in targets.items() if (unit(i.module), target) not in LAZY] == []


def test_declarations_are_used() -> None:
    """An exception that nothing needs any more is deleted."""
    used = {(unit(i.module), unit(i.target) if is_ours(i.target) else i.target) for i in all_imports()}
    assert [pair for pair in DECLARED if pair not in used] == []
    lazy = {(unit(i.module), unit(i.target) if is_ours(i.target) else i.target) for i in all_imports() if i.in_function}
    assert [pair for pair in LAZY if pair not in lazy] == []
    assert [(who, what) for what, units in EXTERNAL.items() for who in units if (who, what) not in used] == []


def test_packaging_names_every_package() -> None:
    packages = {module for module, file in MODULES.items() if file.name == "__init__.py"}
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    assert sorted(declared) == sorted(packages)


@pytest.mark.parametrize(
    ("statement", "allowed"),
    [
        ("import adcore", {"numpy"}),
        ("import adcore.driver, adcore.lint.run, adcore.cli", {"numpy", "tomli"}),
        ("import buildplug.setuptools_hook", {"numpy"}),
    ],
)
def test_what_an_import_loads(statement: str, allowed: set[str]) -> None:
    """Beside the standard library, in a process of its own."""
    program = f"import sys; before = set(sys.modules); {statement}; print(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.split()} - set(sys.stdlib_module_names)
    compiled = {name for name in loaded if name.endswith("__mypyc")}  # of tomli: its name is a hash
    assert loaded - {"adcore", "buildplug"} - compiled <= allowed


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("adcore.ir.core", "from adcore.passes import fold"),
        ("adcore.passes.fold", "def f():\n    import adcore.ad.plan"),
        ("adcore.ad.plan", "from adcore import driver"),
        ("adcore.binding", "from adcore import driver"),
        ("adcore.lint.run", "from adcore.codegen.text import x"),
        ("buildplug.engine", "import adcore_lsp"),
    ],
)
def test_the_check_sees(module: str, text: str) -> None:
    assert [i for i in imports_of(module, text) if not is_allowed(unit(i.module), unit(i.target))]
