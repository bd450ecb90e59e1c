"""One lint step: the findings of all given paths, rendered, and the exit code that goes with them.

Invariants: what cannot be read is a finding among the others and hides none of them; the same tree gives the same text;
names of files in the output are as given or relative to the working directory.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from adcore.diagnostics import Diagnostic, Report, sort_diagnostics
from adcore.lint.check import Analyse, Checker, decode_as, read
from adcore.lint.files import collect, reason, shown
from adcore.lint.formats import Format, exit_code, render, summary
from adcore.lint.select import DEFAULT, Selection
from adcore.options import ENVIRONMENT_NAME, environment_text
from adcore.source import SourceText, Span

STDIN = "-"
_UNNAMED = "<stdin>"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a lint step prints (findings to standard output, the count to standard error) and its exit code."""

    text: str
    count: str
    code: int
    remarks: tuple[str, ...] = ()
    """What is worth a line on standard error besides."""


@dataclass(frozen=True, slots=True)
class Buffer:
    """What `-` stands for: bytes from standard input, and the name of the file that they belong to, if it has one."""

    data: bytes
    filename: str | None = None

    @property
    def name(self) -> str:
        return _UNNAMED if self.filename is None else shown(self.filename)

    @property
    def path(self) -> str:
        return os.path.abspath(_UNNAMED if self.filename is None else self.filename)

    @property
    def text(self) -> str | None:
        return decode_as(self.path, self.data)


def lint(
    paths: Sequence[str],
    analyse: Analyse,
    format: Format,
    environ: Mapping[str, str],
    buffer: Buffer | None = None,
    chosen: Selection = DEFAULT,
) -> Outcome:
    """Check all paths; `buffer` is read where a path is `-`."""
    step = _Step(analyse, environ, buffer, chosen.has_notes)
    for path in paths:
        step.standard_input() if path == STDIN else step.path(path)
    everything = sort_diagnostics(step.named())
    found = tuple(diagnostic for diagnostic in everything if diagnostic.rule in chosen.shown)
    text, count = render(found, format, step.sources(found)), summary(found)
    return Outcome(text, count, exit_code(found), tuple(step.remarks(everything, chosen)))


@dataclass
class _Step:
    analyse: Analyse
    environ: Mapping[str, str]
    buffer: Buffer | None
    notes: bool = False
    report: Report = field(default_factory=Report)
    names: dict[str, str] = field(default_factory=dict)
    """How the user named the file at an absolute path."""
    texts: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        overlays = {}
        if self.buffer is not None and (text := self.buffer.text) is not None:
            overlays[self.buffer.path] = text
        self.checker = Checker(self.analyse, overlays, self.environ, notes=self.notes)
        self.report.extend(self.checker.environment)

    def remarks(self, everything: Iterable[Diagnostic], chosen: Selection) -> Iterator[str]:
        """What is left out although it is wrong, and projects that nothing is compiled of."""
        left_out = [d for d in everything if d.rule in chosen.given_up and d.severity == "error"]
        if left_out:
            yield f"{summary(left_out)} not selected; what is wrong with a function hides what else there is to say of it"
        yield from (f"{self._name(str(config))} {remark}" for config, remark in self.checker.remarks())

    def path(self, given: str) -> None:
        for found in collect([given]):
            if found.path in self.names:
                continue
            self.names[found.path] = found.name
            try:
                if found.problem is None:
                    self.text(found.path, read(found.path))
                else:
                    self.missing(found.path, found.problem)
            except (OSError, ValueError) as error:
                self.missing(found.path, reason(error))

    def standard_input(self) -> None:
        assert self.buffer is not None, "the caller reads standard input where `-` is among the paths"
        self.names[self.buffer.path] = self.buffer.name
        self.text(self.buffer.path, self.buffer.text)

    def text(self, path: str, text: str | None) -> None:
        if text is None:
            self.missing(path, "it is not text in the encoding that it declares (UTF-8 if none)")
            return
        self.texts[path] = text
        self.report.extend(self.checker.check(path, text))

    def missing(self, path: str, problem: str) -> None:
        self.report.add("config/missing-file", Span(path, 1, 1, 1, 1), name=self.names[path], reason=problem)

    def named(self) -> Iterable[Diagnostic]:
        """The findings with the names of files that the user knows."""
        for diagnostic in self.report:
            related = tuple(replace(place, span=self._renamed(place.span)) for place in diagnostic.related)
            fixes = tuple(
                replace(fix, edits=tuple(replace(edit, span=self._renamed(edit.span)) for edit in fix.edits))
                for fix in diagnostic.fixes
            )
            yield replace(diagnostic, span=self._renamed(diagnostic.span), related=related, fixes=fixes)

    def _renamed(self, span: Span) -> Span:
        return replace(span, file=self._name(span.file))

    def _name(self, path: str) -> str:
        if path not in self.names:
            relative = os.path.relpath(path) if os.path.isabs(path) else path
            self.names[path] = path if relative.startswith(os.pardir) else shown(relative)
        return self.names[path]

    def sources(self, found: Iterable[Diagnostic]) -> dict[str, SourceText]:
        """The texts of the files with findings, by their names for people."""
        paths = {name: path for path, name in self.names.items()}
        sources = {ENVIRONMENT_NAME: environment_text(self.environ)}
        for name in {diagnostic.span.file for diagnostic in found} - {ENVIRONMENT_NAME}:
            path = paths.get(name, name)
            text = self.texts.get(path) or _text_again(path)
            if text:
                sources[name] = SourceText(name, text)
        return sources


def _text_again(path: str) -> str | None:
    """The text of a file that was not asked for: a helper with a finding need not mention `autodiff`."""
    try:
        with open(path, "rb") as file:
            return decode_as(path, file.read())
    except (OSError, ValueError):
        return None
