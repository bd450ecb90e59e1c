"""pygls' protocol without its known defects, each of which is named where it is avoided.

Invariants: every request gets exactly one reply, whatever is wrong with it; a text is edited at the lines and
characters that the client means; an error is one line in the log, never a window in the editor.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Generator
from typing import Any

from adcore_lsp.convert import Encoding, offset
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.protocol.language_server import lsp_method
from pygls.workspace import TextDocument, Workspace

from adcore.source import SourceText

_log = logging.getLogger("adcore")
_LONGEST_LINE = 300
_PARSE_ERROR, _INVALID_REQUEST, _NOT_INITIALIZED = -32700, -32600, -32002


class Document(TextDocument):
    """Edited by offsets of its own: pygls splits lines where the protocol does not (form feed, U+2028) and puts a
    position behind the end of the last line one character too early."""

    _parsed: SourceText | None = None

    @property
    def text(self) -> SourceText:
        """The text with its line table, made once for each state of the text."""
        if self._parsed is None or self._parsed.text is not self.source:
            self._parsed = SourceText(self.uri, self.source)
        return self._parsed

    @property
    def encoding(self) -> Encoding:
        match self.position_codec.encoding:
            case types.PositionEncodingKind.Utf8:
                return "utf-8"
            case types.PositionEncodingKind.Utf32:
                return "utf-32"
        return "utf-16"

    @property
    def source(self) -> str:
        return self._source or ""  # never the disk: a document is open, or it is not asked for

    @property
    def lines(self) -> tuple[str, ...]:
        return self.text.lines

    def _apply_incremental_change(self, change: types.TextDocumentContentChangePartial) -> None:
        start, end = (
            offset(self.text, (place.line, place.character), self.encoding)
            for place in (change.range.start, change.range.end)
        )
        self._source = self.source[:start] + change.text + self.source[max(start, end) :]


class Documents(Workspace):
    """Makes `Document`s."""

    def _create_text_document(
        self, doc_uri: str, source: str | None = None, version: int | None = None, language_id: str | None = None
    ) -> TextDocument:
        codec = self.position_codec
        return Document(doc_uri, source, version, language_id, sync_kind=self._sync_kind, position_codec=codec)


class Protocol(LanguageServerProtocol):
    """One message in, its consequences out. Runs on the event loop's thread only."""

    finished: asyncio.Future[int]
    """The exit code, once it is known; set by whoever starts the loop."""

    def receive(self, body: bytes) -> None:
        """Handle one message. pygls decodes with an `object_hook`, which loses a request with a nested `jsonrpc`."""
        try:
            data = json.loads(body)
        except (ValueError, RecursionError):
            return self._refuse(None, _PARSE_ERROR, "the message is not JSON")
        identifier = data.get("id") if isinstance(data, dict) else None
        if not isinstance(data, dict) or data.get("jsonrpc") != "2.0":
            return self._refuse(identifier, _INVALID_REQUEST, "the message is not JSON-RPC 2.0")
        if self._answered_early(data.get("method"), identifier):
            return None
        try:
            self.handle_message(self.structure_message(data))
        except JsonRpcException as error:
            # pygls gives no reply at all to a request that does not fit its type
            _log.error("malformed message: %s", data.get("method", "a reply"))
            if "method" in data and identifier is not None:
                self._send_response(identifier, error=error.to_response_error())
        except BrokenPipeError:
            self.finish(1)
        except Exception as error:
            _log.error("%s failed: %s: %s", data.get("method", "a reply"), type(error).__name__, error)
        return None

    def _answered_early(self, method: object, identifier: Any) -> bool:
        """pygls is silent after `shutdown`, and has no workspace before `initialize`."""
        if method is None or method == types.EXIT:
            return False
        if self._shutdown:
            self._refuse(identifier, _INVALID_REQUEST, "the server is shutting down")
        elif self._workspace is None and method != types.INITIALIZE:
            self._refuse(identifier, _NOT_INITIALIZED, "the first request must be `initialize`")
        else:
            return False
        return True

    def _refuse(self, identifier: Any, code: int, message: str) -> None:
        if identifier is not None or code == _PARSE_ERROR:
            error = {"code": code, "message": message}
            self._send_data({"jsonrpc": self.VERSION, "id": identifier, "error": error})

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        steps = super().lsp_initialize(params)
        handler = next(steps)  # pygls has made its workspace; nothing is in it yet
        given = self.workspace
        self._workspace = Documents(
            given.root_uri, self._server._text_document_sync_kind, params.workspace_folders, given.position_encoding
        )
        yield handler
        try:
            steps.send(None)
        except StopIteration as end:
            result: types.InitializeResult = end.value
            return result
        raise AssertionError("pygls asks for one handler of `initialize`")

    @lsp_method(types.SHUTDOWN)
    def lsp_shutdown(self, *args: Any) -> Generator[Any, Any, None]:
        """pygls iterates over the requests in flight while cancelling them takes them out."""
        current = self.msg_id
        for identifier, future in list(self._request_futures.items()):
            if identifier != current and not future.done():
                future.cancel()
        self._shutdown = True
        yield from ()

    @lsp_method(types.EXIT)
    def lsp_exit(self, *args: Any) -> Generator[Any, Any, None]:
        self.finish(0 if self._shutdown else 1)
        yield from ()

    def finish(self, code: int) -> None:
        """Leave the loop; the first code counts."""
        if not self.finished.done():
            self.finished.set_result(code)


class Base(LanguageServer):
    """A server whose errors go to the log; pygls would open a window in the editor for each."""

    protocol: Protocol

    def report_server_error(self, error: Exception, source: Any) -> None:
        _log.error("%s: %s", type(error).__name__, error)


class OneLine(logging.Formatter):
    """A record is one line: no traceback, no message over several lines."""

    def format(self, record: logging.LogRecord) -> str:
        reason = f": {type(record.exc_info[1]).__name__}" if record.exc_info and record.exc_info[1] else ""
        return f"adcore lsp: {' '.join(record.getMessage().split())[:_LONGEST_LINE]}{reason}"
