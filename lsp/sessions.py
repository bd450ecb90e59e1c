"""The open documents, what was found in them, and when to look again.

A session is one open document. Its `wanted` counts the reasons to look (an edit, a changed dependency, a changed
configuration); a result counts only if nothing was added while it was made. Invariants: results of an older state are
dropped; an open buffer wins over the disk, for documents that depend on it too; findings are kept until newer ones
replace them, so nothing flickers; for each file the same findings hold in both channels, push and pull.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from adcore_lsp.convert import Finding
from adcore_lsp.protocol import Document
from adcore_lsp.worker import Reply, Request, Worker, stamp
from pygls.uris import to_fs_path, uri_scheme

from adcore.frontend.layout import CONFIG

DEBOUNCE = 0.2
"""Seconds without an edit after which a document is looked at."""

Kind = Literal["python", "config", "other"]


@dataclass(eq=False)
class Session:
    """One open document. `path` is absolute; for a document that is no file, where it would stand."""

    uri: str
    path: str
    kind: Kind
    is_file: bool
    document: Document
    wanted: int = 1
    done: int = 0
    reply: Reply = field(default_factory=Reply)
    task: asyncio.Task[None] | None = None
    timer: asyncio.TimerHandle | None = None

    @property
    def current(self) -> bool:
        return self.done == self.wanted

    def may_depend_on(self, paths: set[str]) -> bool:
        """While findings are being made nobody knows what they depend on."""
        return not self.current or not paths.isdisjoint(self.reply.dependencies)


class Sessions:
    """All sessions. `changed` is told which documents or files have other findings than before."""

    def __init__(self, worker: Worker, changed: Callable[[Session, set[str]], None]) -> None:
        self._worker = worker
        self._changed = changed
        self.open: dict[str, Session] = {}

    # Documents

    def opened(self, document: Document, folder: str) -> Session:
        path, is_file = _path_of(document.uri, folder)
        self.open[document.uri] = Session(document.uri, path, _kind(document, path), is_file, document)
        return self.open[document.uri]

    def closed(self, uri: str) -> Session | None:
        session = self.open.pop(uri, None)
        if session is not None:
            _cancel_timer(session)
        return session

    # Reasons to look again; each gives the documents that it concerns

    def edited(self, session: Session) -> list[Session]:
        """The text of a document is another: itself, and what depends on it."""
        return self._again([session, *self.dependents(session)])

    def dependents(self, session: Session) -> list[Session]:
        """The other open documents that depend on the file of this one, or on its findings."""
        if not session.is_file:
            return []
        return [other for other in self.open.values() if other is not session and other.may_depend_on({session.path})]

    def look_again(self, sessions: Iterable[Session] | None = None) -> list[Session]:
        """Some documents, or all: a file that comes or goes may decide over any import and any configuration."""
        return self._again(self.open.values() if sessions is None else sessions)

    def depending_on(self, paths: Iterable[str]) -> list[Session]:
        """The documents that depend on some files on disk."""
        wanted = set(paths)
        return self._again(session for session in self.open.values() if session.may_depend_on(wanted))

    def stale(self) -> list[Session]:
        """The documents of which a dependency changed on disk; for clients that do not watch files."""
        now = {path: stamp(path) for session in self.open.values() for path in session.reply.dependencies}
        return self._again(
            session
            for session in self.open.values()
            if not session.current or any(now[path] != then for path, then in session.reply.dependencies.items())
        )

    def _again(self, sessions: Iterable[Session]) -> list[Session]:
        found = list(sessions)
        for session in found:
            session.wanted += 1
        return found

    # Findings

    def schedule(self, session: Session, delay: float = 0.0) -> None:
        """Look at a document after a while; a later call moves the time."""
        _cancel_timer(session)
        session.timer = asyncio.get_running_loop().call_later(delay, self._due, session)

    def _due(self, session: Session) -> None:
        session.timer = None
        self._start(session)

    async def settled(self, session: Session) -> None:
        """Wait until the findings of a document are those of its present state."""
        while self.open.get(session.uri) is session and not session.current:
            await asyncio.shield(self._start(session))

    def _start(self, session: Session) -> asyncio.Task[None]:
        if session.task is None or session.task.done():
            session.task = asyncio.get_running_loop().create_task(self._look(session))
        return session.task

    async def _look(self, session: Session) -> None:
        while self.open.get(session.uri) is session and not session.current:
            wanted = session.wanted
            reply: Reply | None = Reply()
            if session.kind != "other":
                reply = await self._worker.check(self._request(session))
            if session.wanted != wanted or self.open.get(session.uri) is not session:
                if session.timer is not None:
                    return  # an edit came in between; its own turn will come
                continue
            before, session.done = session.reply, wanted
            if reply is not None:
                session.reply = reply
            self._changed(session, _elsewhere(before) | _elsewhere(session.reply))

    def _request(self, session: Session) -> Request:
        document = session.document
        return Request(session.path, document.source, self.overlays(), document.encoding)

    def overlays(self) -> Mapping[str, str]:
        """The texts of the open files by path."""
        return {session.path: session.document.source for session in self.open.values() if session.is_file}

    def findings_at(self, path: str) -> tuple[Finding, ...]:
        """What all open documents say about a file, each thing once; its own session first."""
        found: dict[tuple[object, ...], Finding] = {}
        for session in sorted(self.open.values(), key=lambda session: session.path != path):
            for finding in session.reply.findings:
                if finding.place.path == path or (not finding.place.path and session.is_file and session.path == path):
                    found.setdefault((finding.place.range, finding.name, finding.message), finding)
        return tuple(found.values())

    def findings(self, session: Session) -> tuple[Finding, ...]:
        """The findings of a document, in the order of their places."""
        if session.is_file:
            found = self.findings_at(session.path)
        else:
            found = tuple(finding for finding in session.reply.findings if not finding.place.path)
        return tuple(sorted(found, key=lambda finding: (finding.place.range, finding.name)))

    def at(self, path: str) -> list[Session]:
        """The open documents of a file; a client may spell its URI in several ways."""
        return [session for session in self.open.values() if session.is_file and session.path == path]


def _elsewhere(reply: Reply) -> set[str]:
    return {finding.place.path for finding in reply.findings if finding.place.path}


def _cancel_timer(session: Session) -> None:
    if session.timer is not None:
        session.timer.cancel()
        session.timer = None


def _path_of(uri: str, folder: str) -> tuple[str, bool]:
    path = to_fs_path(uri)
    if path:
        return os.path.normpath(path), True
    name = Path(uri.partition(":")[2]).name or "untitled"
    return os.path.join(folder, name), False


def _kind(document: Document, path: str) -> Kind:
    if os.path.basename(path) == CONFIG:
        return "config"
    if uri_scheme(document.uri) == "vscode-notebook-cell" or document.language_id == "toml":
        return "other"  # a cell alone is not a module
    return "python" if document.language_id == "python" or path.endswith((".py", ".pyi")) else "other"
