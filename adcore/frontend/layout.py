"""Where a file stands in its project: the pyproject.toml above it, the folders that imports start from, its module.

Everything is read from texts and folder listings; no build back end is asked and nothing is executed. Texts in
`overlays` (open editor buffers, by absolute path) win over the disk. Invariants: no path and no pyproject.toml, however
broken, raises; a file of any name has a module name, a script that of its stem.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import tomli

CONFIG = "pyproject.toml"

_NO_PACKAGES = frozenset((
    "bench", "benchmark", "benchmarks", "build", "ci", "conftest", "debian", "dist", "doc", "docs", "documentation",
    "etc", "example", "examples", "exercise", "exercises", "helper", "htmlcov", "manage", "newsfragments", "noxfile",
    "release", "scripts", "setup", "tasks", "test", "tests", "tool", "tools", "toxfile",
))  # fmt: skip
"""Folders at the top of a project that setuptools does not take for packages in a flat layout."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The project of one file. `config` is its pyproject.toml, absolute, if there is one."""

    module: str
    roots: tuple[Path, ...]
    """Where imports of this file look first, in this order."""
    config: Path | None = None
    text: str | None = None
    """The text of `config`; None also where it cannot be read."""

    @property
    def folder(self) -> Path | None:
        """The project's own folder."""
        return self.config.parent if self.config else None


@dataclass(slots=True)
class Layouts:
    """Finds layouts; what it reads is kept for its life. Paths are made absolute, links are not followed."""

    overlays: Mapping[str, str] = field(default_factory=dict)
    _projects: dict[Path, _Declared | None] = field(default_factory=dict)

    def of(self, path: str | os.PathLike[str]) -> Layout:
        """The layout of a Python file or a pyproject.toml, which need not exist."""
        file = Path(os.path.abspath(path))
        project = self._project(file.parent)
        base = _package_base(file.parent)
        module, root = _place(file, base, project)
        found = [root, *(project.roots if project else ())]
        if not (file.parent / "__init__.py").is_file():
            found.append(file.parent)  # a script imports its neighbours
        roots = tuple(dict.fromkeys(found))
        return Layout(module, roots, project.file, project.text) if project else Layout(module, roots)

    def _project(self, folder: Path) -> _Declared | None:
        if folder not in self._projects:
            file = folder / CONFIG
            text = self.overlays.get(str(file))
            if text is not None or file.is_file():
                self._projects[folder] = _Declared(file, _read(file) if text is None else text)
            elif folder.parent == folder:
                self._projects[folder] = None
            else:
                self._projects[folder] = self._project(folder.parent)
        return self._projects[folder]


@dataclass
class _Declared:
    """What a pyproject.toml says about where packages stand."""

    file: Path
    text: str | None

    @cached_property
    def table(self) -> dict[str, Any]:
        """`[tool.setuptools]`; empty where the file is no TOML."""
        try:
            return _table(_table(tomli.loads(self.text or "").get("tool")).get("setuptools"))
        except (ValueError, RecursionError):
            return {}

    @cached_property
    def packages(self) -> dict[str, Path]:
        """Packages with a folder of their own: `package-dir = { name = "folder" }`."""
        folders = _table(self.table.get("package-dir"))
        return {name: self.at(to) for name, to in folders.items() if name and isinstance(to, str)}

    @cached_property
    def declared(self) -> tuple[Path, ...]:
        """Folders of which the project says that packages stand in them; or `src`, if it is there."""
        where = _table(_table(self.table.get("packages")).get("find")).get("where")
        named = [_table(self.table.get("package-dir")).get(""), *(where if isinstance(where, list) else [where])]
        folders = tuple(dict.fromkeys(self.at(name) for name in named if isinstance(name, str)))
        source = self.file.parent / "src"
        return folders or ((source,) if source.is_dir() else ())

    @property
    def roots(self) -> tuple[Path, ...]:
        return tuple(dict.fromkeys((*self.declared, self.file.parent)))

    def at(self, name: str) -> Path:
        return Path(os.path.normpath(self.file.parent / name))


def _place(file: Path, base: Path, project: _Declared | None) -> tuple[str, Path]:
    """The module's name, and the folder that it starts from."""
    if project is None:
        return _dotted(file, base), base
    for name, folder in sorted(project.packages.items(), key=lambda item: -len(item[1].parts)):
        if file.is_relative_to(folder) and folder != project.file.parent:
            inner = _dotted(file, folder)
            return (name if file == folder / "__init__.py" else f"{name}.{inner}"), folder.parent
    for root in sorted(project.roots, key=lambda root: -len(root.parts)):
        if not file.is_relative_to(root):
            continue
        top = file.relative_to(root).parts[0]
        if root not in project.declared and (top in _NO_PACKAGES or not _importable(file, root)):
            break  # a test, an example, a script: not a part of what is installed
        return _dotted(file, root), root
    return _dotted(file, base), base


def _package_base(folder: Path) -> Path:
    """The first folder upwards that is not a regular package."""
    while (folder / "__init__.py").is_file() and folder.parent != folder:
        folder = folder.parent
    return folder


def _importable(file: Path, root: Path) -> bool:
    return all(part.isidentifier() for part in file.relative_to(root).with_suffix("").parts)


def _dotted(file: Path, root: Path) -> str:
    if not file.is_relative_to(root) or not _importable(file, root):
        return file.stem
    parts = file.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def _read(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
