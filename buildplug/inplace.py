"""`adcore build --inplace`: the extensions of a project among its sources, as an editable install puts them there.

setuptools says which modules the project has, from its pyproject.toml and setup.cfg; a project of another build back end
is read from its layout. No setup.py is run. Invariant: what this makes is what an editable install makes.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import setuptools
from setuptools.errors import BaseError

from adcore.frontend.layout import CONFIG, Layouts
from adcore.lint.files import collect
from adcore.lint.formats import exit_code
from buildplug.command import find_modules
from buildplug.engine import BuildError, compile_units
from buildplug.outputs import remove_leftovers, write_extension
from buildplug.project import units_to_compile


class NotBuildable(Exception):
    """Why there is nothing that could be built here."""


Triples = list[tuple[str, str, str]]
"""(package, module, path) as setuptools' `build_py` gives them."""


def build_in_place(folder: Path) -> int:
    """Build the project at `folder`; prints a line for each function and file, or the findings. The exit code."""
    root = folder.absolute()
    with _log_to(sys.stdout), contextlib.chdir(root):
        try:
            table, backend = _read_project(root / CONFIG)
            modules = _by_setuptools(root) if backend.startswith("setuptools") else _by_layout(root)
            made = compile_units(root, units_to_compile(modules, table))
        except NotBuildable as problem:
            print(f"adcore build: {problem}", file=sys.stderr)
            return 2
        except BuildError as error:
            print(error, file=sys.stderr)
            return exit_code(error.diagnostics) or 1
        for unit, data in made:
            write_extension(unit.in_place, data)
        folders = {Path(path).parent for _, _, path in modules}
        found = [file for folder in folders for file in folder.glob("*.so")]
        remove_leftovers(found, [unit.in_place for unit, _ in made])
    if not made:
        print("adcore build: no function of the project is marked with @autodiff")
    return 0


def _read_project(file: Path) -> tuple[Mapping[str, object], str]:
    """`[tool.adcore]` and the build back end. What is wrong in the table is reported when its options are checked."""
    try:
        project = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise NotBuildable(f"{file} cannot be read: {error}") from None
    except tomllib.TOMLDecodeError:
        return {}, "setuptools"  # the engine says where and why
    table = project.get("tool", {}).get("adcore")
    if table is None:
        raise NotBuildable(f"{file} has no table [tool.adcore], so nothing of the project is compiled")
    backend = project.get("build-system", {}).get("build-backend", "setuptools")
    return table if isinstance(table, dict) else {}, str(backend)


def _by_setuptools(root: Path) -> Triples:
    try:
        dist: Any = setuptools.Distribution({"src_root": str(root), "script_name": "setup.py"})
        dist.parse_config_files()
        dist.set_defaults()
        return find_modules(dist)
    except tomllib.TOMLDecodeError:
        return []
    except (BaseError, ValueError) as error:
        raise NotBuildable(f"setuptools does not know which packages there are: {error}") from None


def _by_layout(root: Path) -> Triples:
    layouts = Layouts()
    found = []
    for path in (Path(file.path) for file in collect([str(root)]) if file.path.endswith(".py")):
        parts = layouts.of(path).module.split(".")
        packages = [path.parents[k] for k in range(len(parts) - (path.name != "__init__.py"))]
        for depth, folder in enumerate(reversed(packages), 1):
            if (folder / "__init__.py").is_file():
                found.append((".".join(parts[:depth]), "__init__", os.path.relpath(folder / "__init__.py", root)))
        if path.name != "__init__.py":
            found.append((".".join(parts[:-1]), parts[-1], os.path.relpath(path, root)))
    return list(dict.fromkeys(found))


@contextlib.contextmanager
def _log_to(stream: Any) -> Iterator[None]:
    log, handler = logging.getLogger("adcore"), logging.StreamHandler(stream)
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
