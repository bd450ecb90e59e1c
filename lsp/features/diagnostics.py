"""Findings as the protocol's diagnostics. The words, names and places are those of `adcore lint`."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from adcore_lsp.convert import Finding, Range
from lsprotocol import types

SOURCE = "adcore"
_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "information": types.DiagnosticSeverity.Information,
    "hint": types.DiagnosticSeverity.Hint,
}


def to_lsp_range(place: Range) -> types.Range:
    (line, character), (end_line, end_character) = place
    return types.Range(types.Position(line, character), types.Position(end_line, end_character))


def diagnostics(findings: Iterable[Finding], uri_of: Callable[[str], str], related: bool) -> list[types.Diagnostic]:
    """The diagnostics of one document; `uri_of` gives the URI of a path ("" is the document itself), `related` says
    whether the client shows related places."""
    return [_diagnostic(finding, uri_of, related) for finding in findings]


def _diagnostic(finding: Finding, uri_of: Callable[[str], str], related: bool) -> types.Diagnostic:
    places = [
        types.DiagnosticRelatedInformation(types.Location(uri_of(place.path), to_lsp_range(place.range)), message)
        for place, message in finding.related
    ]
    return types.Diagnostic(
        range=to_lsp_range(finding.place.range),
        message=finding.message,
        severity=_SEVERITIES[finding.severity],
        code=finding.name,
        source=SOURCE,
        related_information=places if related and places else None,
    )
