"""Finds what the build made of a function, and decides whether it still stands for the source.

    module -> its package's extension -> metadata -> the function's entry -> fresh, or the reason why not

The order of the checks is from cheap to exact: the hash of each whole file that was compiled into the function, then,
for a file that differs, the hash of each name that it contributed; in a checkout, the `[tool.adcore]` table as well.
Invariants: no check runs the code of a module, none fails an import, and whatever cannot be shown to be stale because
there is no source is trusted. Only what the extension needs is imported: NumPy, which its author has loaded already.
"""

from __future__ import annotations

import ast
import importlib
import json
import linecache
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from adcore.hashing import NameHashes, source_hash, table_hash

RUNTIME_ABI = 1
"""The version of the contract between this module and an extension; an extension with another one is not used."""

EXTENSION = "_adcore"
"""The extension's name within its package; for a module that is in no package, `_adcore_<module>`."""

REBUILD = "Rebuild the package with `pip install .` (`pip install -e .` in a checkout)."
SET_UP = (
    'Its pyproject.toml needs `requires = ["setuptools", "adcore[build]"]` and a [tool.adcore] table; '
    "then build it with `pip install .` (`pip install -e .` in a checkout)."
)


class Unbound(Exception):
    """Why there is no compiled function to call, and what to do about it, as one sentence each."""


class Missing(Unbound):
    """There is no extension at all."""


@dataclass(frozen=True, slots=True)
class HomeModule:
    """The module that a decorator ran in. `text` is its source at that moment, None where there is none."""

    name: str
    file: str
    namespace: dict[str, Any] = field(repr=False, compare=False)
    sha256: str | None
    text: str | None = field(repr=False, compare=False, default=None)

    @staticmethod
    def of(namespace: dict[str, Any], code_file: str) -> HomeModule:
        """`code_file` is what the module's code says; notebook cells have no other name."""
        spec = namespace.get("__spec__")
        name = str(spec.name if spec is not None else namespace.get("__name__", "__main__"))
        file = str(namespace.get("__file__") or code_file)
        if name == "__main__":  # a script: what the build calls it is the file's name
            name = Path(file).stem
            name = name if name.isidentifier() else re.sub(r"\W+", "_", name).strip("_")
        version = _version_of(file)
        key = (name, file, version)
        if version is None or key not in _loaded.homes:  # what is no file (a notebook's cell) may be another text now
            linecache.checkcache(file)
            text = _text_of(file, namespace)
            sha256 = None if text is None else source_hash(text)
            _loaded.homes[key] = HomeModule(name, file, namespace, sha256, text)
        return _loaded.homes[key]


@dataclass(frozen=True, slots=True)
class Extension:
    """A loaded extension, its metadata, and the folder that its package is in."""

    module: ModuleType
    modules: Mapping[str, Any]
    root: Path

    def member(self, name: str, function: str, member: str) -> Callable[..., Any]:
        """The compiled function for `member` ("grad") of `function` in the module `name`."""
        found: Callable[..., Any] = getattr(self.module, f"{name}:{function}.{member}")
        return found


@dataclass(frozen=True, slots=True)
class Entry:
    """What the metadata says about one function, once it has been found to be fresh."""

    extension: Extension
    module: str
    name: str
    members: tuple[str, ...]
    wrt: tuple[str, ...]
    bare: bool

    def builtin(self, member: str) -> Callable[..., Any]:
        return self.extension.member(self.module, self.name, member)


@dataclass(slots=True)
class Project:
    """The pyproject.toml of a checkout; `table` is its [tool.adcore]."""

    file: Path
    table: Mapping[str, Any]


@dataclass(slots=True)
class Loaded:
    """What has been found so far, per process: modules by name and version, extensions by name, projects by folder."""

    homes: dict[tuple[str, str, object], HomeModule] = field(default_factory=dict)
    extensions: dict[str, Extension] = field(default_factory=dict)
    projects: dict[Path, Project | None] = field(default_factory=dict)


_loaded = Loaded()


def bind(home: HomeModule, name: str, binder: Callable[..., Any]) -> Entry:
    """The entry for the function `name` of `home`. Raises `Unbound` with the reason if it cannot be called."""
    extension = _extension_of(home, binder)
    entry = entry_of(extension, home, name)
    check(extension, home, name)
    return entry


def entry_of(extension: Extension, home: HomeModule, name: str) -> Entry:
    """What `extension` has of the function, fresh or not. Raises `Unbound` if it has nothing."""
    function = extension.modules.get(home.name, {}).get("functions", {}).get(name)
    if function is None:
        raise Unbound(f"it was not in the package when {_file_of(extension)} was built. {REBUILD}")
    members = tuple(function["members"])
    return Entry(extension, home.name, name, members, tuple(function["wrt"]), bool(function["bare"]))


def check(extension: Extension, home: HomeModule, name: str) -> None:
    """Raise `Unbound` with the reason if what `extension` has of the function does not stand for the present source."""
    function = extension.modules[home.name]["functions"][name]
    _check_source(extension, home, name, function)
    _check_project(extension, home, name, function)


def _extension_of(home: HomeModule, binder: Callable[..., Any]) -> Extension:
    """The extension that has the module, else any: packages of several projects may share a namespace."""
    candidates = list(_candidates(home))
    found = None
    for name, folders in candidates:
        spec = PathFinder.find_spec(name, folders)
        if spec is None or spec.origin is None:
            continue
        if name not in _loaded.extensions:
            _loaded.extensions[name] = _load(name, Path(spec.origin), binder)
        found = _loaded.extensions[name]
        if home.name in found.modules:
            return found
    if found is not None:
        return found
    if not candidates:
        raise Missing(f"it is not in an installed package. {SET_UP}")
    name, folders = candidates[0]
    raise Missing(f"there is no extension {name.rpartition('.')[2]} in {folders[0]}. {SET_UP}")


def _candidates(home: HomeModule) -> Iterator[tuple[str, list[str]]]:
    """Names that the extension may have, and where it would be: the outermost package first (namespaces have none)."""
    parts = home.name.split(".")
    for count in range(1, len(parts) + 1):
        package = ".".join(parts[:count])
        folders = list(getattr(sys.modules.get(package), "__path__", ()))
        if folders:
            yield f"{package}.{EXTENSION}", folders
        elif len(parts) == 1:
            yield f"{EXTENSION}_{home.name}", [str(Path(home.file).absolute().parent)]


def _load(name: str, file: Path, binder: Callable[..., Any]) -> Extension:
    return open_extension(lambda: importlib.import_module(name), file, file.absolute().parents[name.count(".")], binder)


def open_extension(load: Callable[[], ModuleType], file: Path, root: Path, binder: Callable[..., Any]) -> Extension:
    """The extension that `load` imports from `file`; its package is below `root`. Raises `Unbound` if it is of no use."""
    try:
        module = load()
        abi = module.__adcore_abi__
        metadata = json.loads(module.__adcore_meta__) if abi == RUNTIME_ABI else {}
    except Exception as error:  # whatever an extension does when it is loaded, the import of its package must not fail
        raise Unbound(f"{file} cannot be loaded ({type(error).__name__}: {error}). {REBUILD}") from error
    if abi != RUNTIME_ABI:
        newer = "Upgrade adcore, or rebuild the package." if abi > RUNTIME_ABI else REBUILD
        raise Unbound(f"{file} has run-time ABI {abi}, and this adcore has {RUNTIME_ABI}. {newer}")
    module.__adcore_bind__ = binder  # type: ignore[attr-defined]
    return Extension(module, metadata["modules"], root)


def _file_of(extension: Extension) -> str:
    return str(extension.module.__file__)


def _check_source(extension: Extension, home: HomeModule, name: str, function: Mapping[str, Any]) -> None:
    """Raise `Unbound` if a file that was compiled into the function has changed in a way that matters to it."""
    parts: dict[str, dict[str, str]] = {home.name: {}}
    for dep in function["deps"]:
        parts.setdefault(dep["module"], {})[dep["name"]] = dep["sha256"]
    for module, compiled in parts.items():
        built = extension.modules.get(module, {}).get("sha256")
        text = None
        if module != home.name or home.sha256 not in (None, built):
            text = _text_of_module(extension, home, module)
        if text is None or source_hash(text) == built:
            continue
        changed = _changed_name(text, compiled)
        if changed is not None:
            what = "its source" if (module, changed) == (home.name, name) else f"{changed} in {module}"
            raise Unbound(f"{what} has changed since it was compiled. {REBUILD}")


def _changed_name(text: str, compiled: Mapping[str, str]) -> str | None:
    """The first of the names whose meaning in `text` is not what was compiled. Nothing to compare by is a change."""
    if not compiled:
        return "the source"
    try:
        hashes = NameHashes(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "the source, which does not parse,"
    return next((name for name, sha in compiled.items() if hashes.of(name) != sha), None)


def _check_project(extension: Extension, home: HomeModule, name: str, function: Mapping[str, Any]) -> None:
    """In a checkout, raise `Unbound` if the project's options have changed. An installed wheel carries its own."""
    project = project_above(extension.root)
    if project is not None and table_hash(project.table, f"{home.name}:{name}") != function["options_sha256"]:
        raise Unbound(f"its options in {project.file} have changed since it was compiled. {REBUILD}")


def _text_of_module(extension: Extension, home: HomeModule, name: str) -> str | None:
    """The present source of a module, which need not be loaded."""
    namespace = home.namespace if name == home.name else vars(sys.modules.get(name, ModuleType(name)))
    file = home.file if name == home.name else namespace.get("__file__")
    if file is None:
        path = extension.modules.get(name, {}).get("path")
        file = str(extension.root / path) if path else None
    if file is None:
        return None
    linecache.checkcache(file)
    return _text_of(file, namespace)


def _text_of(file: str, namespace: dict[str, Any]) -> str | None:
    """The text as Python reads it: from files, archives and notebook cells. None where there is only compiled code."""
    if file.endswith((".pyc", ".so", ".pyd")):
        return None
    lines = linecache.getlines(file, namespace)
    return "".join(lines) if lines else None


def _version_of(file: str) -> object:
    try:
        status = os.stat(file)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def project_above(root: Path) -> Project | None:
    """The project whose checkout `root` lies in, or None. A folder with *.dist-info is an installation, no checkout."""
    if root not in _loaded.projects:
        _loaded.projects[root] = _find_project(root)
    return _loaded.projects[root]


def _find_project(root: Path) -> Project | None:
    if any(root.glob("*.dist-info")):
        return None
    for folder in (root, *root.parents):
        file = folder / "pyproject.toml"
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        if "adcore" not in text:
            return None
        table = read_table(file)
        return None if table is None else Project(file, table)
    return None


def read_table(file: Path) -> Mapping[str, Any] | None:
    """`[tool.adcore]` of a pyproject.toml as it is now. Raises `Unbound` if the file cannot be read."""
    import tomllib  # only here: an installed package never needs it

    try:
        table: Mapping[str, Any] | None = tomllib.loads(file.read_text(encoding="utf-8")).get("tool", {}).get("adcore")
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Unbound(f"{file} cannot be read ({error}). Correct it.") from None
    return table
