"""`adcore status`: which functions are compiled, and whether that still stands for the source.

What an extension carries is read from its bytes and what is marked with `@autodiff` from the text, so nothing is
executed. Whether a function is stale is decided by the run time's own checks.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from adcore.binding import EXTENSION, RUNTIME_ABI, Extension, HomeModule, Unbound, check, entry_of
from adcore.frontend.discover import CallForm, Decorated, find_in, modules_with_autodiff
from adcore.frontend.layout import Layouts
from adcore.frontend.project import Project
from adcore.options import OPTIONS
from buildplug.project import is_output

_META = f'{{"abi":{RUNTIME_ABI},'.encode()


class NoSuchTarget(Exception):
    """Neither a folder or file, nor a package that can be imported."""


@dataclass(frozen=True, slots=True)
class State:
    """One function. `state`: verified, stale, unverified (there is no source), not compiled; `note`: why."""

    module: str
    function: str
    state: str
    note: str = ""
    members: tuple[str, ...] = ()
    options: str = ""
    extension: str = ""

    @property
    def is_good(self) -> bool:
        return self.state in ("verified", "unverified")

    def __str__(self) -> str:
        head = f"{self.module}:{self.function}: {self.state}"
        if self.note:
            head += f": {self.note}"
        rows = [("members", ", ".join(self.members)), ("options", self.options), ("extension", self.extension)]
        return "\n".join([head, *(f"  {title}: {text}" for title, text in rows if text)])


def status(target: str) -> list[State]:
    """The functions of a package by name, or of everything below a folder. Raises `NoSuchTarget`."""
    folder = _folder_of(target)
    layouts = Layouts()
    states: dict[tuple[str, str], State] = {}
    for file in sorted(folder.rglob("*.so")):
        if is_output(file) and "build" not in file.relative_to(folder).parts:
            for state in _compiled(file):
                states[state.module, state.function] = state
    for _, path in modules_with_autodiff(folder):
        layout = layouts.of(path)
        for name in _marked(layout.roots, layout.module):
            missing = State(layout.module, name, "not compiled", f"no extension has it; it is in {_shown(path)}")
            states.setdefault((layout.module, name), missing)
    return [states[key] for key in sorted(states)]


def _folder_of(target: str) -> Path:
    path = Path(target)
    if path.exists():
        return path if path.is_dir() else path.parent
    try:
        spec = importlib.util.find_spec(target) if target.isidentifier() else None
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        raise NoSuchTarget(f"there is no file, folder or package `{target}`")
    if spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations)))
    assert spec.origin is not None, "a module that is no package has a file"
    return Path(spec.origin).parent


def _marked(roots: tuple[Path, ...], module: str) -> Iterator[str]:
    for found in find_in(Project(roots), module):
        match found:
            case Decorated(function=function):
                yield function.name
            case CallForm(name=name):
                yield name
            case _:
                pass  # lint says what is wrong with it


def _compiled(file: Path) -> Iterator[State]:
    """The functions of one extension, each compared with its source."""
    metadata = read_metadata(file)
    if metadata is None:
        note = "its metadata cannot be read; it was made by another version of adcore, or is damaged"
        yield State(file.name, "*", "stale", note, extension=_shown(file))
        return
    root = file.absolute().parents[len((metadata["package"] or "").split(".")) if metadata["package"] else 0]
    extension = Extension(ModuleType(EXTENSION), metadata["modules"], root)
    for module, content in metadata["modules"].items():
        source = root / content["path"]
        home = HomeModule.of({"__name__": module, "__file__": str(source)}, str(source))
        for name, function in content["functions"].items():
            state, note = "verified" if source.is_file() else "unverified", "" if source.is_file() else "no source"
            try:
                check(extension, home, name)
            except Unbound as reason:
                state, note = "stale", str(reason)
            members = entry_of(extension, home, name).members
            options = _options(function["options"])
            yield State(module, name, state, note, members, options, _shown(file))


def read_metadata(file: Path) -> Mapping[str, Any] | None:
    """The metadata in an extension's bytes, or None."""
    data = file.read_bytes()
    start = data.find(_META)
    if start < 0:
        return None
    try:
        metadata: Mapping[str, Any] = json.JSONDecoder().raw_decode(data[start:].decode("latin-1"))[0]
    except ValueError:
        return None
    return metadata


def _options(options: Mapping[str, Any]) -> str:
    given = {name: value for name, value in options.items() if value != OPTIONS[name].default}
    return ", ".join(f"{name}={tuple(value) if isinstance(value, list) else value!r}" for name, value in given.items())


def _shown(path: Path) -> str:
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
