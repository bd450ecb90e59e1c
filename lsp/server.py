"""The wiring of the language server: what the client says, which session it concerns, what goes back.

Diagnostics go one way only: the client asks for them if it can be told to ask again, otherwise they are sent. The event
loop never analyses and never waits for the one that does.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any, cast

from adcore_lsp.features import code_actions, hover
from adcore_lsp.features.diagnostics import diagnostics
from adcore_lsp.protocol import Base, Document, Protocol
from adcore_lsp.sessions import DEBOUNCE, Session, Sessions
from adcore_lsp.worker import Worker
from lsprotocol import types
from pygls.uris import from_fs_path, to_fs_path

from adcore import __version__

_WATCHED = ("**/*.py", "**/pyproject.toml")


class Server(Base):
    """The language server of one client."""

    def __init__(self) -> None:
        super().__init__("adcore", __version__, protocol_cls=Protocol)
        self.worker = Worker()
        self.sessions = Sessions(self.worker, self.changed)
        self.pull = False
        self._shown: dict[str, list[types.Diagnostic]] = {}
        """What was sent for files that are not open."""
        self._refresh: asyncio.TimerHandle | None = None

    # What the client can do

    def supports(self, *path: str) -> bool:
        """Whether a capability of the client is there and not false."""
        value: Any = self.client_capabilities
        for name in path:
            value = getattr(value, name, None)
        return bool(value)

    @property
    def folder(self) -> str:
        """Where a document without a file is thought to stand."""
        folders = [to_fs_path(folder.uri) for folder in self.workspace.folders.values()]
        return next(filter(None, [*folders, self.workspace.root_path]), os.getcwd())

    # Findings to the client

    def look(self, sessions: list[Session], delay: float = DEBOUNCE) -> None:
        """New findings are wanted for some documents."""
        if self.pull:
            self.ask_to_pull()
            return
        for session in sessions:
            self.sessions.schedule(session, delay)

    def changed(self, session: Session, elsewhere: set[str]) -> None:
        """A document has new findings, and so perhaps have other files."""
        if self.pull:
            if any(self.sessions.at(path) for path in elsewhere):
                self.ask_to_pull()
            return
        if session.is_file:
            elsewhere = elsewhere | {session.path}
        else:
            self.publish(session)
        for path in sorted(elsewhere):
            self.publish_file(path)

    def publish_file(self, path: str) -> None:
        """Send the findings of a file, to all documents that show it or, if none does, under its own name."""
        if documents := self.sessions.at(path):
            for session in documents:
                self.publish(session)
            return
        uri = self.uri_of(path)
        found = self.to_lsp(uri, path)
        if found != self._shown.get(uri, []):
            self._shown[uri] = found
            params = types.PublishDiagnosticsParams(uri=uri, diagnostics=found)
            self.text_document_publish_diagnostics(params)

    def publish(self, session: Session) -> None:
        if not session.current:
            return  # newer findings are on their way; these may be about another text
        params = types.PublishDiagnosticsParams(
            uri=session.uri, version=session.document.version, diagnostics=self.to_lsp(session.uri, session)
        )
        self.text_document_publish_diagnostics(params)

    def to_lsp(self, uri: str, of: Session | str) -> list[types.Diagnostic]:
        found = self.sessions.findings_at(of) if isinstance(of, str) else self.sessions.findings(of)
        related = self.supports("text_document", "publish_diagnostics", "related_information")
        return diagnostics(found, lambda path: self.uri_of(path) if path else uri, related)

    def uri_of(self, path: str) -> str:
        """As the client spells it, if it has the file open."""
        documents = self.sessions.at(path)
        return documents[0].uri if documents else from_fs_path(path) or path

    def ask_to_pull(self) -> None:
        """Tell the client to ask again, once for what comes within a moment."""
        if self._refresh is None:
            self._refresh = asyncio.get_running_loop().call_later(DEBOUNCE, self._send_refresh)

    def _send_refresh(self) -> None:
        self._refresh = None
        self.workspace_diagnostic_refresh(None, callback=lambda _: None)


def make_server() -> Server:
    """A server with all of its features."""
    server = Server()
    server.feature(types.INITIALIZE)(_initialize)
    server.feature(types.INITIALIZED)(_initialized)
    server.feature(types.TEXT_DOCUMENT_DID_OPEN)(_opened)
    server.feature(types.TEXT_DOCUMENT_DID_CHANGE)(_edited)
    server.feature(types.TEXT_DOCUMENT_DID_SAVE)(_saved)
    server.feature(types.TEXT_DOCUMENT_DID_CLOSE)(_closed)
    server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)(_files_changed)
    server.feature(types.TEXT_DOCUMENT_HOVER)(_hover)
    kinds = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])
    server.feature(types.TEXT_DOCUMENT_CODE_ACTION, kinds)(_code_actions)
    return server


def _initialize(ls: Server, params: types.InitializeParams) -> None:
    ls.pull = ls.supports("text_document", "diagnostic") and ls.supports("workspace", "diagnostics", "refresh_support")
    if ls.pull:
        options = types.DiagnosticOptions(
            identifier="adcore", inter_file_dependencies=True, workspace_diagnostics=False
        )
        ls.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, options)(_pulled)


def _initialized(ls: Server, params: types.InitializedParams) -> None:
    ls.worker.warm_up()
    if not ls.supports("workspace", "did_change_watched_files", "dynamic_registration"):
        return
    watchers = [types.FileSystemWatcher(glob_pattern=pattern) for pattern in _WATCHED]
    registration = types.Registration(
        id="adcore-files",
        method=types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
        register_options=types.DidChangeWatchedFilesRegistrationOptions(watchers=watchers),
    )
    # Nobody waits for the answer: without it the files are looked at when something is saved.
    ls.client_register_capability(types.RegistrationParams(registrations=[registration]), callback=lambda _: None)


def _opened(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
    document = cast(Document, ls.workspace.get_text_document(params.text_document.uri))
    session = ls.sessions.opened(document, ls.folder)
    # A configuration that nobody knew of until now may be the one of any document.
    others = ls.sessions.look_again() if session.kind == "config" else ls.sessions.dependents(session)
    ls.sessions.look_again(others)
    if not ls.pull:
        ls.look([session, *others], 0.0)
    elif others:
        ls.look(others)


def _edited(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
    session = ls.sessions.open.get(params.text_document.uri)
    if session is None:
        return
    affected = ls.sessions.edited(session)
    if not ls.pull or len(affected) > 1:  # what it edits itself a client asks about unbidden
        ls.look(affected)


def _saved(ls: Server, params: types.DidSaveTextDocumentParams) -> None:
    session = ls.sessions.open.get(params.text_document.uri)
    stale = ls.sessions.stale()
    if session is not None and session not in stale and not ls.pull:
        stale += ls.sessions.look_again([session])
    if stale:
        ls.look(stale, 0.0)


def _closed(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
    session = ls.sessions.closed(params.text_document.uri)
    if session is None:
        return
    affected = ls.sessions.look_again(ls.sessions.dependents(session))
    if affected:
        ls.look(affected)
    if ls.pull:
        return
    empty = types.PublishDiagnosticsParams(uri=session.uri, diagnostics=[])
    ls.text_document_publish_diagnostics(empty)
    ls._shown.pop(session.uri, None)
    for path in {finding.place.path for finding in session.reply.findings if finding.place.path}:
        ls.publish_file(path)


def _files_changed(ls: Server, params: types.DidChangeWatchedFilesParams) -> None:
    if any(change.type != types.FileChangeType.Changed for change in params.changes):
        affected = ls.sessions.look_again()
    else:
        affected = ls.sessions.depending_on(filter(None, (to_fs_path(change.uri) for change in params.changes)))
    if affected:
        ls.look(affected)


async def _pulled(ls: Server, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
    session = ls.sessions.open.get(params.text_document.uri)
    if session is None:
        return types.RelatedFullDocumentDiagnosticReport(items=[])
    await ls.sessions.settled(session)
    items = ls.to_lsp(session.uri, session)
    identifier = f"{hash(repr(items)):x}"
    if params.previous_result_id == identifier:
        return types.RelatedUnchangedDocumentDiagnosticReport(result_id=identifier)
    return types.RelatedFullDocumentDiagnosticReport(items=items, result_id=identifier)


def _code_actions(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
    session = ls.sessions.open.get(params.text_document.uri)
    if session is None:
        return []
    versioned = ls.supports("workspace", "workspace_edit", "document_changes")
    return code_actions.quick_fixes(params, session.document, ls.sessions.findings(session), versioned)


def _hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
    session = ls.sessions.open.get(params.text_document.uri)
    if session is None or session.kind == "other":
        return None
    if session.kind == "config":
        return hover.hover(session.document, params.position, True)
    return hover.hover(session.document, params.position, False, session.reply.functions if session.current else ())
