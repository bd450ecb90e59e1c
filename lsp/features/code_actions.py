"""Quick fixes: the ways out that findings offer, as long as the text still is what they are about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from adcore_lsp.convert import Finding, QuickFix, Range, offset
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
            title=fix.title,
            kind=types.CodeActionKind.QuickFix,
            diagnostics=list(_answered(params.context.diagnostics, finding)) or None,
            is_preferred=fix.preferred or None,
            edit=_edit(document, fix, versioned),
        )
        for finding in findings
        if _touches(finding.place.range, params.range)
        for fix in finding.fixes
        if _is_still_right(document, finding.place.range, fix)
    ]


def _is_still_right(document: Document, place: Range, fix: QuickFix) -> bool:
    """What the finding is about stands where it stood, and so does everything that the fix changes."""
    return _text_at(document, place) == fix.subject and all(
        document.text.lines[change.range[0][0] : change.range[1][0] + 1] == change.lines for change in fix.changes
    )


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


def _edit(document: Document, fix: QuickFix, versioned: bool) -> types.WorkspaceEdit:
    edits = [types.TextEdit(to_lsp_range(change.range), change.text) for change in fix.changes]
    if not versioned:
        return types.WorkspaceEdit(changes={document.uri: edits})
    identifier = types.OptionalVersionedTextDocumentIdentifier(uri=document.uri, version=document.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(text_document=identifier, edits=[*edits])])
