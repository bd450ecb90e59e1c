"""Quick fixes: one for each finding with a suggestion, as long as the text still is what the finding is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from adcore_lsp.convert import Finding, Range, offset
from adcore_lsp.features.diagnostics import SOURCE, to_lsp_range
from adcore_lsp.protocol import Document
from lsprotocol import types


def quick_fixes(
    params: types.CodeActionParams, document: Document, findings: Iterable[Finding], versioned: bool
) -> list[types.CodeAction]:
    """The fixes for what touches the asked range; `versioned` says whether the client takes versioned edits."""
    only = params.context.only
    if only is not None and not any(_covers(kind, types.CodeActionKind.QuickFix) for kind in only):
        return []
    return [
        types.CodeAction(
            title=f"Replace with `{' '.join(finding.suggestion.split())}`",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=list(_answered(params.context.diagnostics, finding)) or None,
            is_preferred=True,
            edit=_edit(document, types.TextEdit(to_lsp_range(finding.place.range), finding.suggestion), versioned),
        )
        for finding in findings
        if finding.suggestion is not None
        and _touches(finding.place.range, params.range)
        and _text_at(document, finding.place.range) == finding.original
    ]


def _covers(kind: str, other: str) -> bool:
    return kind == "" or other == kind or other.startswith(f"{kind}.")


def _touches(place: Range, asked: types.Range) -> bool:
    start, end = place
    return start <= (asked.end.line, asked.end.character) and (asked.start.line, asked.start.character) <= end


def _text_at(document: Document, place: Range) -> str:
    start, end = (offset(document.text, position, document.encoding) for position in place)
    return document.source[start:end]


def _answered(diagnostics: Iterable[types.Diagnostic], finding: Finding) -> Iterator[types.Diagnostic]:
    """What the client calls the finding: clients mark a problem as fixable by it."""
    place = to_lsp_range(finding.place.range)
    for diagnostic in diagnostics:
        if diagnostic.source == SOURCE and diagnostic.code == finding.name and diagnostic.range == place:
            yield diagnostic


def _edit(document: Document, edit: types.TextEdit, versioned: bool) -> types.WorkspaceEdit:
    if not versioned:
        return types.WorkspaceEdit(changes={document.uri: [edit]})
    identifier = types.OptionalVersionedTextDocumentIdentifier(uri=document.uri, version=document.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(text_document=identifier, edits=[edit])])
