"""Compiles source text through the real driver, linker and run time, for tests that need compiled functions.

``compile_package({"m": text})`` writes a package into a fresh folder, compiles it as a build would, and imports it.
"""

from __future__ import annotations

import importlib
import itertools
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from adcore import driver
from adcore.diagnostics import Diagnostic, Report
from adcore.frontend.project import Project
from adcore.options import ProjectOptions
from adcore.source import SourceText
from buildplug.link import link

_serial = itertools.count()
HEADER = "import math\nimport numpy as np\nfrom adcore import autodiff\nfrom adcore.typing import Vector\n\n"


class Refused(Exception):
    """The engine reported errors."""

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        super().__init__("\n".join(f"{d.span}: {d.severity}[{d.name}] {d.message}" for d in diagnostics))
        self.diagnostics = diagnostics


def analyse(text: str, module: str = "m", folder: Path | None = None) -> driver.Analysis:
    project = Project([folder] if folder else [])
    return driver.analyse(project, SourceText(f"{module}.py", text), module)


def compile_package(folder: Path, modules: Mapping[str, str], toml: str | None = None) -> dict[str, ModuleType]:
    """Compile and import; the result maps the given module names to modules. Raises ``Refused``."""
    package = f"adcore_test_{next(_serial)}"
    root = folder / package
    root.mkdir(parents=True)
    (root / "__init__.py").write_text("")
    for name, text in modules.items():
        (root / f"{name}.py").write_text(text, encoding="utf-8")
    if toml is not None:
        (folder / "pyproject.toml").write_text(toml)
    paths = {f"{package}.{name}": Path(package) / f"{name}.py" for name in modules}
    report = Report()
    built = driver.compile_package(folder, paths, package, ProjectOptions(), report)
    if report.has_errors:
        raise Refused(report.diagnostics)
    if built is not None:
        (root / built.filename).write_bytes(link(built.object, export=[built.init]))
    sys.path.insert(0, str(folder))
    try:
        return {name: importlib.import_module(f"{package}.{name}") for name in modules}
    finally:
        sys.path.remove(str(folder))


def compile_module(folder: Path, text: str) -> ModuleType:
    return compile_package(folder, {"m": text})["m"]
