"""Hands a project to the engine and links what comes back; every front end of the build goes through here.

Invariant: all problems of a project, in its options and in all of its packages, are reported together, once, and
nothing is linked if there is an error.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from adcore import driver
from adcore.diagnostics import Diagnostic, Report
from adcore.lint.formats import render
from adcore.options import ProjectOptions, check_environment, check_toml, resolve_project
from adcore.source import SourceText
from buildplug.link import LinkError
from buildplug.project import Unit
from buildplug.toolchain import make_shared_object

_log = logging.getLogger("adcore")


class BuildError(Exception):
    """The build cannot go on. The text is for the user: findings with their places, reasons and ways out."""


def compile_units(root: Path, units: Sequence[Unit]) -> list[tuple[Unit, bytes]]:
    """The extension of each unit that has something to compile. `root` is the folder of pyproject.toml.

    Raises `BuildError`. Warnings and the engine's summaries go to the log.
    """
    report = Report()
    project = _project_options(root, report)
    compiled = [(unit, driver.compile_package(root, unit.modules, unit.package, project, report)) for unit in units]
    if report.has_errors:
        raise BuildError(_full(report.diagnostics, root))
    if len(report):
        _log.warning("%s", _full(report.diagnostics, root))
    extensions = []
    for unit, package in compiled:
        if package is None:
            continue
        assert package.filename == unit.filename, "engine and build agree on the extension's name"
        for line in package.summary:
            _log.info("adcore: %s", line)
        try:
            extensions.append((unit, make_shared_object(package.object, package.init)))
        except LinkError as error:
            raise BuildError(f"adcore: {unit.filename} cannot be linked: {error}") from None
    return extensions


def _project_options(root: Path, report: Report) -> ProjectOptions:
    """`[tool.adcore]` with the environment over it; where it is wrong the defaults, so that sources are checked too."""
    file = root / "pyproject.toml"
    project = check_toml(file.read_text(encoding="utf-8"), "pyproject.toml", report) or ProjectOptions()
    environment = check_environment(os.environ, report) or {}
    return resolve_project(project, env=environment)


def _full(diagnostics: Iterable[Diagnostic], root: Path) -> str:
    diagnostics = list(diagnostics)
    sources = {}
    for file in {diagnostic.span.file for diagnostic in diagnostics}:
        try:
            sources[file] = SourceText(file, (root / file).read_text(encoding="utf-8", errors="replace"))
        except OSError:  # a finding about the environment has no file
            continue
    return render(diagnostics, "full", sources)
