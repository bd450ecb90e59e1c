"""Hands a project to the engine and links what comes back; every front end of the build goes through here.

Invariant: all problems of a project, in its options and in all of its packages, are reported together, once, and
nothing is linked if there is an error.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from adcore import driver
from adcore.diagnostics import Diagnostic, Report
from adcore.lint.formats import render
from adcore.lint.known import check_tables
from adcore.options import ProjectOptions, check_environment, check_toml, resolve_project
from adcore.source import SourceText
from buildplug.link import LinkError
from buildplug.project import Unit
from buildplug.toolchain import make_shared_object

_log = logging.getLogger("adcore")


class BuildError(Exception):
    """The build cannot go on. The text is for the user: findings with their places, reasons and ways out."""

    def __init__(self, text: str, diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(text)
        self.diagnostics = diagnostics


def compile_units(root: Path, units: Sequence[Unit]) -> list[tuple[Unit, bytes]]:
    """The extension of each unit that has something to compile. `root` is the folder of pyproject.toml.

    Raises `BuildError`. Warnings and the engine's summaries go to the log.
    """
    report = Report()
    project = project_options(root, report)
    compiled = [(unit, driver.compile_package(root, unit.modules, unit.package, project, report)) for unit in units]
    modules = {name: path for unit in units for name, path in unit.modules.items()}
    check_tables(project, list(_texts(root, modules)), driver.project_of(root, modules), report)
    if report.has_errors:
        raise BuildError(_full(report.diagnostics, root), report.diagnostics)
    if len(report):
        _log.warning("%s", _full(report.diagnostics, root))
    extensions = []
    for unit, package in compiled:
        if package is None:
            continue
        assert package.filename == unit.filename, "engine and build agree on the extension's name"
        for line in package.summary:
            _log.info("adcore: %s", line)
        extensions.append((unit, _linked(package)))
    return extensions


def compile_module(
    root: Path, name: str, path: Path, overlays: Mapping[str, str]
) -> tuple[driver.CompiledPackage, bytes]:
    """One module as a build compiles it, in an extension of its own; `overlays` are texts that win over the disk.

    Raises `BuildError`.
    """
    report = Report()
    package = driver.compile_package(root, {name: path}, name, project_options(root, report), report, overlays)
    if report.has_errors:
        raise BuildError(_full(report.diagnostics, root, overlays), report.diagnostics)
    if len(report):
        _log.warning("%s", _full(report.diagnostics, root, overlays))
    if package is None:
        raise BuildError(f"adcore: there is nothing to compile in {path}")
    return package, _linked(package)


def _linked(package: driver.CompiledPackage) -> bytes:
    try:
        return make_shared_object(package.object, package.init)
    except LinkError as error:
        raise BuildError(f"adcore: {package.filename} cannot be linked: {error}") from None


def _texts(root: Path, modules: Mapping[str, Path]) -> Iterator[tuple[str, SourceText]]:
    for name, path in modules.items():
        try:
            yield name, SourceText(str(path), (root / path).read_text(encoding="utf-8", errors="replace"))
        except OSError:
            continue


def project_options(root: Path, report: Report) -> ProjectOptions:
    """`[tool.adcore]` with the environment over it; where it is wrong the defaults, so that sources are checked too."""
    file = root / "pyproject.toml"
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    project = check_toml(text, "pyproject.toml", report) or ProjectOptions()
    environment = check_environment(os.environ, report) or {}
    return resolve_project(project, env=environment)


def _full(diagnostics: Iterable[Diagnostic], root: Path, overlays: Mapping[str, str] | None = None) -> str:
    diagnostics = list(diagnostics)
    sources = {}
    for file in {diagnostic.span.file for diagnostic in diagnostics}:
        text = (overlays or {}).get(str(root / file))
        try:
            text = text or (root / file).read_text(encoding="utf-8", errors="replace")
        except OSError:  # a finding about the environment has no file
            continue
        sources[file] = SourceText(file, text)
    return render(diagnostics, "full", sources)
