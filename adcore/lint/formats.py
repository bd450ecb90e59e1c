"""Findings as text: with source line and caret for people (`full`), a line each (`concise`), for programs (`json`).

`full` is also what a failed build prints. Every finding of the input appears, in the order of its place.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Literal, get_args

from adcore.diagnostics import Diagnostic, sort_diagnostics
from adcore.rules import RULES
from adcore.source import SourceText, Span, caret_lines

Format = Literal["concise", "full", "json"]
FORMATS: tuple[Format, ...] = get_args(Format)


def render(diagnostics: Iterable[Diagnostic], format: Format, sources: Mapping[str, SourceText] | None = None) -> str:
    """All findings in one of the `FORMATS`, without a final line end; `sources` by file name give `full` its lines."""
    ordered = sort_diagnostics(diagnostics)
    match format:
        case "concise":
            return "\n".join(concise(diagnostic) for diagnostic in ordered)
        case "full":
            return "\n\n".join(full(diagnostic, sources or {}) for diagnostic in ordered)
        case "json":
            return json.dumps([as_dict(diagnostic) for diagnostic in ordered], indent=2)


def exit_code(diagnostics: Iterable[Diagnostic]) -> int:
    """0: nothing, or information and hints only; 1: errors or warnings in the code; 2: the configuration is wrong."""
    code = 0
    for diagnostic in diagnostics:
        if diagnostic.severity in ("error", "warning"):
            code = max(code, 2 if RULES[diagnostic.rule].category == "config" else 1)
    return code


def summary(diagnostics: Iterable[Diagnostic]) -> str:
    """One line that counts: "2 errors, 1 warning"; empty for nothing."""
    counts: dict[str, int] = {}
    for diagnostic in diagnostics:
        counts[diagnostic.severity] = counts.get(diagnostic.severity, 0) + 1
    order = {"error": "errors", "warning": "warnings", "information": "notes", "hint": "hints"}
    singular = {"information": "note"}
    return ", ".join(
        f"{counts[severity]} {plural if counts[severity] > 1 else singular.get(severity, severity)}"
        for severity, plural in order.items()
        if severity in counts
    )


def concise(diagnostic: Diagnostic) -> str:
    """`file:line:col: severity[name] message`, on one line whatever the message quotes."""
    return f"{diagnostic.span}: {diagnostic.severity}[{diagnostic.name}] {_one_line(diagnostic.message)}"


def full(diagnostic: Diagnostic, sources: Mapping[str, SourceText]) -> str:
    """The concise line, the source line with carets, the places that belong to it, the reason and the way out."""
    rule = RULES[diagnostic.rule]
    source = sources.get(diagnostic.span.file)
    lines = [concise(diagnostic)]
    if source is not None:
        number = str(diagnostic.span.line)
        text, carets = caret_lines(source, diagnostic.span)
        lines += [f"  {number} | {text}", f"  {' ' * len(number)} | {carets}"]
    lines += [f"  see {place.span}: {_one_line(place.message)}" for place in diagnostic.related]
    lines.append(f"  why: {rule.why}")
    if diagnostic.offers:
        title = diagnostic.offers[0].title
        lines.append(f"  fix: {title[:1].lower()}{title[1:]}")
    else:
        lines.append(f"  fix: {diagnostic.hint or rule.fix}")
    return "\n".join(lines)


def as_dict(diagnostic: Diagnostic) -> dict[str, object]:
    """The object of the JSON format; `edits` is the first change that is offered, in order and apart from each other."""
    span = diagnostic.span
    edits = [edit for fix in diagnostic.offers[:1] for edit in fix.edits]
    return {
        "name": diagnostic.name,
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "file": span.file,
        **_place(span),
        "suggestion": diagnostic.suggestion,
        "edits": [{**_place(edit.span), "text": edit.text} for edit in edits],
    }


def _place(span: Span) -> dict[str, int]:
    return {"line": span.line, "column": span.column, "end_line": span.end_line, "end_column": span.end_column}


def _one_line(text: str) -> str:
    return " ".join(text.splitlines()) if len(text.splitlines()) > 1 else text
