"""What there is to compile: which modules of a project use `autodiff`, and which extension they belong to.

One extension for each outermost package that is a regular one (it has an `__init__.py`); a module below namespace
packages only belongs to its own folder, since other projects may share the namespace; a module in no package has an
extension for itself. Where the extension is looked for at run time (`adcore.binding`) follows the same rule.

Nothing is executed, and setuptools is not needed: this is the part that other build front ends share.
"""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from adcore.binding import EXTENSION

_SUFFIX = ".abi3.so"
_OUTPUT = re.compile(rf"{EXTENSION}(_\w+)?{re.escape(_SUFFIX)}")


@dataclass(frozen=True, slots=True)
class Unit:
    """The modules that go into one extension, by their full names. `package` is None for a module in no package."""

    package: str | None
    source_folder: Path
    modules: dict[str, Path] = field(default_factory=dict)

    @property
    def filename(self) -> str:
        if self.package is not None:
            return f"{EXTENSION}{_SUFFIX}"
        (module,) = self.modules
        return f"{EXTENSION}_{module}{_SUFFIX}"

    @property
    def in_place(self) -> Path:
        """Where the extension stands in the source tree."""
        return self.source_folder / self.filename

    def output(self, build_folder: Path) -> Path:
        """Where it stands in the tree that a wheel is made from."""
        return build_folder.joinpath(*(self.package or "").split("."), self.filename)


def is_output(file: str | Path) -> bool:
    """Whether this is the name of a file that a build makes."""
    return _OUTPUT.fullmatch(Path(file).name) is not None


def group(modules: Iterable[tuple[str, str, str]]) -> list[Unit]:
    """The units of a project from (package, module, path) triples as `build_py` gives them."""
    found = list(modules)
    regular = {package for package, module, _ in found if module == "__init__"}
    folders = {package: Path(path).parent for package, module, path in found if module == "__init__"}
    units: dict[str, Unit] = {}
    for package, module, path in found:
        name = ".".join(part for part in (package, "" if module == "__init__" else module) if part)
        owner = _owner(package, regular) if package else None
        key = f"package {owner}" if owner else f"module {name}"
        folder = folders.get(owner or "", Path(path).parent)
        units.setdefault(key, Unit(owner, folder)).modules[name] = Path(path)
    return list(units.values())


def units_to_compile(modules: Iterable[tuple[str, str, str]], table: Mapping[str, object]) -> list[Unit]:
    """The units in which a module that the table selects uses `autodiff`."""
    return [
        unit
        for unit in group(modules)
        if any(_selected(name, table) and uses_autodiff(path) for name, path in unit.modules.items())
    ]


def uses_autodiff(path: Path) -> bool:
    """Whether the module imports `autodiff`; a module that cannot be read is left to the engine to report."""
    try:
        with tokenize.open(path) as file:
            text = file.read()
    except (SyntaxError, UnicodeDecodeError):
        text = path.read_bytes().decode("latin-1")
    if "autodiff" not in text or "adcore" not in text:
        return False
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    return any(_imports_autodiff(node) for node in ast.walk(tree))


def _imports_autodiff(node: ast.AST) -> bool:
    match node:
        case ast.ImportFrom(module="adcore" | "adcore.api", level=0, names=names):
            return any(alias.name in ("autodiff", "*") for alias in names)
        case ast.Import(names=names):
            return any(alias.name == "adcore" for alias in names)
        case _:
            return False


def _owner(package: str, regular: set[str]) -> str:
    parts = package.split(".")
    prefixes = (".".join(parts[:count]) for count in range(1, len(parts) + 1))
    return next((prefix for prefix in prefixes if prefix in regular), package)


def _selected(module: str, table: Mapping[str, object]) -> bool:
    """As `include` and `exclude` say; values of a wrong type are reported when the options are checked."""

    def fits(key: str) -> bool:
        patterns = table.get(key)
        return isinstance(patterns, list) and any(fnmatchcase(module, str(pattern)) for pattern in patterns)

    return not fits("exclude") and (not table.get("include") or fits("include"))
