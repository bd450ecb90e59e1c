"""A small client for the real server process: raw messages, nothing hidden, profiles of what real editors can do."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Message = dict[str, Any]

_PUSH = {"publishDiagnostics": {"relatedInformation": True, "versionSupport": True}}
_PULL = {**_PUSH, "diagnostic": {"dynamicRegistration": True, "relatedDocumentSupport": True}}
_WATCH = {"didChangeWatchedFiles": {"dynamicRegistration": True}}

PROFILES: dict[str, Message] = {
    # The features by which clients differ for this server, as Neovim 0.7 and 0.11, Emacs 28 and VS Code announce them.
    "nvim07": {"textDocument": _PUSH, "workspace": {"workspaceEdit": {}}},
    "nvim011": {
        "general": {"positionEncodings": ["utf-8", "utf-16", "utf-32"]},
        "textDocument": _PULL,
        "workspace": {
            "didChangeWatchedFiles": {"dynamicRegistration": False},
            "workspaceEdit": {"documentChanges": True},
        },
    },
    "emacs": {
        "general": {"positionEncodings": ["utf-32", "utf-8", "utf-16"]},
        "textDocument": {"publishDiagnostics": {"relatedInformation": False}},
        "workspace": {**_WATCH, "workspaceEdit": {"documentChanges": True}},
    },
    "vscode": {
        "general": {"positionEncodings": ["utf-16"]},
        "textDocument": _PULL,
        "workspace": {**_WATCH, "diagnostics": {"refreshSupport": True}, "workspaceEdit": {"documentChanges": True}},
    },
}
ENCODINGS = {"nvim07": "utf-16", "nvim011": "utf-8", "emacs": "utf-32", "vscode": "utf-16"}
CODECS = {"utf-8": (1, "utf-8"), "utf-16": (2, "utf-16-le"), "utf-32": (4, "utf-32-le")}
PULLS = {"vscode"}
PATIENCE = 60.0
"""Seconds that any answer may take on a machine that does other things as well."""


class Client:
    """One server process. What comes unasked is kept in `inbox`; requests of the server are answered with null."""

    def __init__(self, folder: Path, profile: str = "nvim07", *, start: bool = True, **environ: str) -> None:
        self.folder, self.profile = folder, profile
        self.encoding = ENCODINGS[profile]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ADCORE_")} | environ
        self.process = subprocess.Popen(
            [sys.executable, "-m", "adcore", "lsp"], cwd=folder, env=environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self.received: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self.inbox: list[Message] = []
        self.log: list[str] = []
        self.versions: dict[str, int] = {}
        self._last = 0
        for target in (self._read, self._read_log):
            threading.Thread(target=target, daemon=True).start()
        self.capabilities: Message = self.initialize() if start else {}

    # Messages

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while header := stream.readline():
            assert header.startswith(b"Content-Length: "), header
            while stream.readline() != b"\r\n":
                pass
            self.received.put(json.loads(stream.read(int(header[16:]))))
        self.received.put(None)

    def _read_log(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log.append(line.decode().rstrip())

    def raw(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: Message, header: str = "Content-Length") -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.raw(f"{header}: {len(body)}\r\n\r\n".encode() + body)

    def notify(self, method: str, params: Any = None) -> None:
        self.send({"method": method, "params": params})

    def start_request(self, method: str, params: Any = None) -> int:
        self._last += 1
        self.send({"id": self._last, "method": method, "params": params})
        return self._last

    def request(self, method: str, params: Any = None, timeout: float = PATIENCE) -> Any:
        reply = self.reply(self.start_request(method, params), timeout)
        assert "error" not in reply, reply
        return reply["result"]

    def reply(self, identifier: int | str | None, timeout: float = PATIENCE) -> Message:
        return self.wait(lambda message: "method" not in message and message.get("id") == identifier, timeout)

    def wait(self, wanted: Callable[[Message], bool], timeout: float = PATIENCE) -> Message:
        """The first message of this kind, new or kept."""
        for message in self.inbox:
            if wanted(message):
                self.inbox.remove(message)
                return message
        end = time.monotonic() + timeout
        while (left := end - time.monotonic()) > 0:
            try:
                message = self._next(left)
            except queue.Empty:
                break
            if wanted(message):
                return message
            self.inbox.append(message)
        raise AssertionError(f"no such message within {timeout} s; log: {self.log}")

    def _next(self, timeout: float) -> Message:
        message = self.received.get(timeout=timeout)
        assert message is not None, f"the server is gone; log: {self.log}"
        if "method" in message and "id" in message:
            self.send({"id": message["id"], "result": None})
        return message

    def quiet(self, seconds: float = 0.6) -> list[Message]:
        """Everything that comes until nothing has come for a while."""
        while True:
            try:
                self.inbox.append(self._next(seconds))
            except queue.Empty:
                found, self.inbox = self.inbox, []
                return found

    # The life of a session

    def initialize(self) -> Message:
        folders = [{"uri": self.folder.as_uri(), "name": "test"}]
        capabilities = PROFILES[self.profile]
        params = {"processId": None, "rootUri": None, "capabilities": capabilities, "workspaceFolders": folders}
        result: Message = self.request("initialize", params)["capabilities"]
        assert result["positionEncoding"] == self.encoding
        self.notify("initialized", {})
        return result

    def end(self) -> int:
        self.request("shutdown")
        self.notify("exit")
        return self.process.wait(PATIENCE)

    # Documents

    def uri(self, name: str) -> str:
        return name if ":" in name else (self.folder / name).as_uri()

    def open(self, name: str, text: str, language: str = "python") -> None:
        self.versions[name] = 1
        document = {"uri": self.uri(name), "languageId": language, "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})

    def change(self, name: str, *changes: Message | str) -> None:
        self.versions[name] += 1
        document = {"uri": self.uri(name), "version": self.versions[name]}
        events = [{"text": change} if isinstance(change, str) else change for change in changes]
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": events})

    def save(self, name: str) -> None:
        self.notify("textDocument/didSave", {"textDocument": {"uri": self.uri(name)}})

    def close(self, name: str) -> None:
        self.notify("textDocument/didClose", {"textDocument": {"uri": self.uri(name)}})

    def diagnostics(self, name: str) -> list[Message]:
        """The findings of a document's present version, by the channel that this client uses."""
        if self.profile in PULLS:
            report = self.request("textDocument/diagnostic", {"textDocument": {"uri": self.uri(name)}})
            items: list[Message] = report["items"]
            return items
        return self.published(name, self.versions[name])

    def published(self, name: str, version: int | None = None) -> list[Message]:
        """The next findings sent for a document (of a version)."""

        def wanted(message: Message) -> bool:
            params = message.get("params") or {}
            return (
                message.get("method") == "textDocument/publishDiagnostics"
                and params["uri"] == self.uri(name)
                and (version is None or params.get("version") == version)
            )

        found: list[Message] = self.wait(wanted)["params"]["diagnostics"]
        return found

    def actions(self, name: str, diagnostic: Message, **context: Any) -> list[Message]:
        params = {
            "textDocument": {"uri": self.uri(name)},
            "range": diagnostic["range"],
            "context": {"diagnostics": [diagnostic], **context},
        }
        found: list[Message] | None = self.request("textDocument/codeAction", params)
        return found or []

    def apply(self, text: str, edit: Message) -> str:
        """A text after an edit of the server, in this client's units."""
        start, end = (self.offset(text, edit["range"][key]) for key in ("start", "end"))
        return text[:start] + str(edit["newText"]) + text[end:]

    def offset(self, text: str, position: Message) -> int:
        lines = text.split("\n")
        before = sum(len(line) + 1 for line in lines[: position["line"]])
        width, codec = CODECS[self.encoding]
        units = lines[position["line"]].encode(codec)[: position["character"] * width]
        return before + len(units.decode(codec))
