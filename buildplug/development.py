"""Development mode: a module whose extension is missing or stale is compiled when one of its functions is called.

    home module -> texts, options -> key -> cache, or the engine and the linker as in a build -> shared object -> extension

The text is that of the moment of import, as it was read for files, archives and notebook cells; what it imports is read
as a build reads it. Invariants: nothing happens on import; what runs was compiled from the present texts and options; of
several processes that need the same module, one compiles it; whatever goes wrong is an `Unbound` with its reason.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import linecache
import logging
import os
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.machinery import ExtensionFileLoader
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import adcore
from adcore import driver
from adcore.binding import (
    REBUILD,
    RUNTIME_ABI,
    Extension,
    HomeModule,
    Missing,
    Unbound,
    open_extension,
    project_above,
    read_table,
)
from adcore.hashing import source_hash
from adcore.options import OPTIONS
from buildplug.cache import Cache, default_folder
from buildplug.engine import BuildError, compile_module

_INSTALL = "Or `pip install 'adcore[build]'` in this environment: then it is compiled when it is called."
_OF_THE_RUN = frozenset(option.env for option in OPTIONS.values() if option.places == ("environment",))

_log = logging.getLogger("adcore")
_lock = threading.RLock()
_loaded: dict[Path, Extension] = {}
_unkept: list[tempfile.TemporaryDirectory[str]] = []
"""Where there is no cache, what this process compiled."""


@dataclass(frozen=True, slots=True)
class Module:
    """A module as the engine is given it. `root` is the project's folder, or the one that the import started from."""

    name: str
    root: Path
    imported_from: Path
    path: Path
    overlays: Mapping[str, str]
    table: Mapping[str, Any] | None


def compile_now(home: HomeModule, reason: Unbound, binder: Callable[..., Any]) -> Extension:
    """The extension of one module, made from what its source is now; `reason` is why the package's own is of no use.

    Raises `Unbound`.
    """
    if importlib.util.find_spec("llvmlite") is None:
        raise Unbound(f"{reason} {_INSTALL}")
    if home.text is None:
        raise Unbound(f"{reason} (Its source cannot be read, so it cannot be compiled now either.)")
    with _lock:
        module = _module_of(home, home.text)
        try:
            file = _cached(module, reason)
        except OSError as error:
            _log.info("adcore: there is no cache (%s)", error)
            _unkept.append(tempfile.TemporaryDirectory(prefix="adcore-"))
            file = _compiled(module, reason, Cache(Path(_unkept[-1].name)), "once")
        if file not in _loaded:
            _loaded[file] = open_extension(lambda: _load(file), file, module.imported_from, binder)
        return _loaded[file]


def _module_of(home: HomeModule, text: str) -> Module:
    file = Path(home.file)
    if not file.exists() and "." not in home.name and not _in_archive(file):
        file = Path(file.name)  # a notebook's cell: what it imports is looked for where the notebook runs
    path = file.absolute()
    imported_from = path.parents[min(home.name.count(".") + (path.name == "__init__.py"), len(path.parents) - 1)]
    project = project_above(imported_from)
    root = imported_from if project is None else project.file.parent
    overlays = {str(path): text, **_archived(home.name)}
    table = None if project is None else read_table(project.file)
    return Module(home.name, root, imported_from, path, overlays, table)


def _in_archive(file: Path) -> bool:
    return any(folder.is_file() for folder in file.parents)


def _archived(name: str) -> dict[str, str]:
    """The texts of the package's loaded modules that are no files, by where they would be."""
    found = {}
    for other, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        same = other.partition(".")[0] == name.partition(".")[0] and other != name
        if same and file and file.endswith(".py") and not os.path.exists(file):
            found[os.path.abspath(file)] = "".join(linecache.getlines(file, vars(module)))
    return found


def _cached(module: Module, reason: Unbound) -> Path:
    """The compiled module from the cache, where it is put if it is not there. Raises `OSError` if no cache can be used."""
    store, key = Cache(default_folder()), _key(module)
    with store.lock(key):
        file = store.find(key, lambda modules: _are_current(module, modules))
        if file is None:
            return _compiled(module, reason, store, key)
        _log.debug("adcore: %s was compiled before for development use, %s", module.name, file)
        return file


def _compiled(module: Module, reason: Unbound, store: Cache, key: str) -> Path:
    start = time.perf_counter()
    try:
        package, code = compile_module(module.root, module.name, module.path, module.overlays)
    except BuildError as error:
        raise Unbound(f"{reason}\nCompiling it now failed:\n\n{error}") from None
    hashes = {name: content["sha256"] for name, content in json.loads(package.meta)["modules"].items()}
    file = store.store(key, hashes, code)
    count, seconds = len(package.summary), time.perf_counter() - start
    functions = "1 function" if count == 1 else f"{count} functions"
    line = "adcore: compiled %s (%s) in %.1f s for development use; build the package to ship it"
    if isinstance(reason, Missing):
        _log.info(line, module.name, functions, seconds)
    else:  # the user has built the package, and may think that this is what runs
        _log.warning(line + ": %s", module.name, functions, seconds, str(reason).removesuffix(f" {REBUILD}"))
    return file


def _are_current(module: Module, hashes: Mapping[str, str]) -> bool:
    """Whether all modules that were compiled have the texts that they had then."""
    sources = driver.project_of(module.root, {module.name: module.path}, module.overlays)
    found = {name: sources.find(name) for name in hashes if name != module.name}
    return all(source is not None and source_hash(source.source.text) == hashes[name] for name, source in found.items())


def _key(module: Module) -> str:
    """Of everything that decides what the module is compiled to, except for the modules that it imports."""
    set_here = {name: value for name, value in os.environ.items() if name.startswith("ADCORE_")}
    environment = {name: value for name, value in set_here.items() if name not in _OF_THE_RUN}
    native = _processor() if environment.get("ADCORE_CPU", "").strip() == "native" else ""
    own = source_hash(module.overlays[str(module.path)])
    compiler = (adcore.__version__, RUNTIME_ABI, version("llvmlite"), _engine(), sysconfig.get_platform(), native)
    text = json.dumps([own, str(module.path), module.table, environment, compiler], sort_keys=True, default=str)
    return f"{module.name[-60:]}-{hashlib.sha256(text.encode()).hexdigest()[:24]}"


@cache
def _engine() -> str:
    """Of the compiler itself, which changes without a new version while it is being worked on."""
    folders = [Path(driver.__file__).parent, Path(__file__).parent]
    files = [(file, file.stat()) for folder in folders for file in sorted(folder.rglob("*.py"))]
    seen = [(str(file), status.st_size, status.st_mtime_ns) for file, status in files]
    return hashlib.sha256(repr(seen).encode()).hexdigest()


@cache
def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        import platform

        return platform.processor()
    return "".join(line for line in lines if line.startswith(("flags", "Features", "model name")))


def _load(file: Path) -> ModuleType:
    # The last part of the name is what the extension's init function is called after.
    loader = ExtensionFileLoader(f"adcore_development.{file.parent.name}.{file.stem}._adcore", str(file))
    spec = importlib.util.spec_from_file_location(loader.name, file, loader=loader)
    assert spec is not None, "a loader was given"
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module
