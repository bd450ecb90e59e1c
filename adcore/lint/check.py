"""The findings of one file, Python or pyproject.toml: what lint prints and what the language server publishes.

The engine comes in as a callable, because it stands in a higher layer. Invariants: no text raises; a Python file that
does not mention `autodiff` is not parsed; options come from the pyproject.toml above the file with the environment over
them, as in a build; where that file is broken, the last options that were right hold, and its findings are reported.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from adcore.diagnostics import Diagnostic, Report
from adcore.frontend.layout import CONFIG, Layout, Layouts
from adcore.frontend.project import Project, decode
from adcore.lint.files import collect
from adcore.lint.known import check_tables
from adcore.options import ProjectOptions, check_environment, check_toml, resolve_project
from adcore.source import SourceText, Span

MARK = "autodiff"
"""A text without it has no function to compile."""


class Analysis(Protocol):
    """What the engine says about a module, as far as it is needed here."""

    @property
    def diagnostics(self) -> Sequence[Diagnostic]: ...

    @property
    def notes(self) -> Sequence[Diagnostic]: ...


Analyse = Callable[[Project, SourceText, str, ProjectOptions | None], Analysis]
"""(project, source, module name, options of the project) to the engine's findings; executes nothing."""


@dataclass
class Checker:
    """Checks files of any number of projects against one state of disk and open buffers.

    `overlays` are the texts of open buffers by absolute path. `last_good` outlives the checker: the options of each
    pyproject.toml when it was last right.
    """

    analyse: Analyse
    overlays: Mapping[str, str] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    last_good: MutableMapping[Path, ProjectOptions] = field(default_factory=dict)
    make_project: Callable[[Sequence[Path], Mapping[str, str]], Project] = Project
    notes: bool = False
    """Whether to give the findings that are reported only where they are asked for."""

    def __post_init__(self) -> None:
        self.layouts = Layouts(self.overlays)
        self._projects: dict[tuple[Path, ...], Project] = {}
        self._options: dict[Path, tuple[ProjectOptions | None, tuple[Diagnostic, ...]]] = {}
        self._modules_of: dict[Path, dict[str, ProjectOptions]] = {}
        report = Report()
        self._from_environment = check_environment(self.environ, report) or {}
        self.environment: tuple[Diagnostic, ...] = report.diagnostics
        """What is wrong with the `ADCORE_*` variables."""

    def check(self, path: str, text: str) -> tuple[Diagnostic, ...]:
        """All findings about the file at an absolute path, those about what it depends on included."""
        report = Report()
        if is_config(path):
            report.extend(self.config(Path(path), text)[1])
        elif MARK in text:
            layout = self.layouts.of(path)
            report.extend(self._python(SourceText(path, text), layout))
        return report.diagnostics

    def _python(self, source: SourceText, layout: Layout) -> Sequence[Diagnostic]:
        options, findings = self.config(layout.config, layout.text) if layout.config else (None, ())
        if options is not None and layout.config is not None:
            self._modules_of.setdefault(layout.config, {})[layout.module] = options
        options = resolve_project(options or ProjectOptions(), env=self._from_environment)
        try:
            analysis = self.analyse(self.project(layout.roots), source, layout.module, options)
            found = [*analysis.diagnostics, *(analysis.notes if self.notes else ())]
        except Exception as error:  # one file must not hide the others
            found = [_internal(source, layout.module, error)]
        return [*findings, *found]

    def remarks(self) -> Iterator[tuple[Path, str]]:
        """What no finding says: a project of which a build would compile none of the modules that were checked, and why."""
        for config, modules in self._modules_of.items():
            if not any(options.present for options in modules.values()):
                yield config, "has no table [tool.adcore], so a build compiles nothing"
            elif not any(options.selects(module) for module, options in modules.items()):
                names = ", ".join(f"`{name}`" for name in sorted(modules)[:3]) + (", ..." if len(modules) > 3 else "")
                yield config, f"selects none of the modules that were checked ({names}) by `include` and `exclude`"

    def project(self, roots: tuple[Path, ...]) -> Project:
        """The modules that are found from these folders."""
        if roots not in self._projects:
            self._projects[roots] = self.make_project(roots, self.overlays)
        return self._projects[roots]

    def config(self, file: Path, text: str | None) -> tuple[ProjectOptions | None, tuple[Diagnostic, ...]]:
        """The options of a pyproject.toml, and what is wrong with it; `text` is None where it cannot be read."""
        if file not in self._options:
            report = Report()
            if text is None:
                span = Span(str(file), 1, 1, 1, 1)
                report.add("config/missing-file", span, name=file.name, reason="it is not UTF-8 text")
            elif (options := check_toml(text, str(file), report)) is not None:
                if options.functions:
                    roots = self.layouts.of(file).roots
                    check_tables(options, self._modules(file.parent), self.project(roots), report)
                self.last_good[file] = options
            self._options[file] = self.last_good.get(file), report.diagnostics
        return self._options[file]

    def _modules(self, folder: Path) -> Iterator[tuple[str, SourceText]]:
        """The modules of a project that mention `autodiff`; open buffers as they stand."""
        for found in collect([str(folder)]):
            if found.problem is not None or is_config(found.path):
                continue
            text = self.overlays.get(found.path)
            if text is None:
                text = read(found.path)
            if isinstance(text, str) and MARK in text:
                yield self.layouts.of(found.path).module, SourceText(found.path, text)


def is_config(path: str) -> bool:
    """Whether a file is checked as TOML."""
    return os.path.basename(path) == CONFIG or path.endswith(".toml")


def read(path: str) -> str | None:
    """The text of a file, None if it is not text; a Python file without `autodiff` counts as empty. Raises OSError."""
    data = Path(path).read_bytes()
    return decode_as(path, data) if is_config(path) or MARK.encode() in data else ""


def decode_as(path: str, data: bytes) -> str | None:
    """The text of what stands, or would stand, in a file; None if it is not text."""
    if not is_config(path):
        return decode(data)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def _internal(source: SourceText, module: str, error: Exception) -> Diagnostic:
    report = Report()
    span = source.span_of_syntax_error(SyntaxError())
    return report.add("compiler/internal", span, function=module, reason=type(error).__name__)
