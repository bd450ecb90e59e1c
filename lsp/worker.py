"""The process that analyses, so that the server can always answer; and its other end, which starts it again if it dies.

Requests and replies are pickled frames over pipes, one at a time. Nothing of the user's is imported: the process starts
with `-P`, so the working directory is not on its path. Invariant: a request gets one reply or None, never an exception;
a process that dies or hangs costs its own request (after one more try) and nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import pickle
import queue
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from adcore_lsp.convert import Encoding, Finding, to_finding
from adcore_lsp.transport import claim_stdout, framed, frames, read_in_thread

if TYPE_CHECKING:
    from adcore.lint.facts import FunctionFacts
    from adcore.options import ProjectOptions

_log = logging.getLogger("adcore")
_PATIENCE = 60.0
_TRIES = 2
_CHANGING = (-1, -1)
_CLOCK_STEP = 20_000_000
"""Nanoseconds by which the times of files may lag behind the clock."""

Stamp = tuple[int, int] | None
"""Time of modification and size of a file; None: it is not there."""


@dataclass(frozen=True, slots=True)
class Request:
    """Check a document. `overlays` are the texts of all open files by absolute path."""

    path: str
    text: str
    overlays: Mapping[str, str]
    encoding: Encoding


@dataclass(frozen=True, slots=True)
class Reply:
    """What was found, in the document and elsewhere; what is generated for its functions; and the files that it depends on, as they were
    on disk."""

    findings: tuple[Finding, ...] = ()
    functions: tuple[FunctionFacts, ...] = ()
    dependencies: Mapping[str, Stamp] = field(default_factory=dict)


class Worker:
    """The server's end. Used from one event loop."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._starting: asyncio.Task[asyncio.subprocess.Process] | None = None
        self._closed = False
        self._busy = asyncio.Lock()

    def warm_up(self) -> None:
        """Start the process before the first request needs it."""
        if self._starting is None and not self._closed:
            self._starting = asyncio.get_running_loop().create_task(_spawn())

    async def check(self, request: Request) -> Reply | None:
        """The reply, or None if the process failed on this request. Must not be cancelled: await it shielded."""
        async with self._busy:
            for _ in range(_TRIES):
                try:
                    return await asyncio.wait_for(self._ask(request), _PATIENCE)
                except (TimeoutError, OSError, EOFError, asyncio.IncompleteReadError) as error:
                    await self.stop()
                    if self._closed:
                        return None
                    _log.error("analysis of %s failed: %s", request.path, type(error).__name__)
            return None

    async def _ask(self, request: Request) -> Reply | None:
        process = self._process or await self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(framed(pickle.dumps(request)))
        await process.stdin.drain()
        size = int.from_bytes(await process.stdout.readexactly(4), "big")
        reply: Reply | None = pickle.loads(await process.stdout.readexactly(size))
        return reply

    async def _start(self) -> asyncio.subprocess.Process:
        if self._closed:
            raise EOFError
        self.warm_up()
        assert self._starting is not None
        # A start that is cancelled half way waits for a process that nobody ends, hence the shield.
        self._process = await asyncio.shield(self._starting)
        return self._process

    async def stop(self) -> None:
        """End the process; the next request starts another."""
        starting, self._starting, self._process = self._starting, None, None
        if starting is None:
            return
        with contextlib.suppress(OSError):
            process = await asyncio.shield(starting)
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def close(self) -> None:
        """End the process for good."""
        self._closed = True
        await self.stop()


async def _spawn() -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    command = [sys.executable, "-P", "-m", "adcore_lsp.worker"]
    return await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)


# In the process


def stamp(path: str) -> Stamp:
    """What tells whether a file has changed."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size


def check(request: Request, last_good: dict[Path, ProjectOptions]) -> Reply:
    """Check one document against the disk and the open buffers of this moment."""
    from adcore.driver import Analysis, analyse
    from adcore.frontend.project import ModuleSource, Project
    from adcore.lint.check import Checker, decode_as, is_config
    from adcore.lint.facts import function_facts
    from adcore.source import SourceText

    began = time.time_ns()
    seen: set[str] = set()

    class Recording(Project):
        def find(self, module: str) -> ModuleSource | None:
            found = super().find(module)
            if found is not None:
                seen.add(found.source.path)
            return found

    def make_project(roots: Sequence[Path], overlays: Mapping[str, str]) -> Project:
        return Recording(roots, overlays)

    functions: list[FunctionFacts] = []

    def analyse_and_note(
        project: Project, source: SourceText, module: str, options: ProjectOptions | None = None
    ) -> Analysis:
        analysis = analyse(project, source, module, options)
        functions.extend(function_facts(entry, analysis.kept.get(entry.name)) for entry in analysis.entries)
        return analysis

    checker = Checker(analyse_and_note, request.overlays, os.environ, last_good, make_project)
    diagnostics = checker.check(request.path, request.text)
    config = checker.layouts.of(request.path).config
    seen |= {str(config)} if config is not None and not is_config(request.path) else set()
    sources = {request.path: SourceText(request.path, request.text)}

    def source_of(path: str) -> SourceText:
        if path not in sources:
            text = request.overlays.get(path)
            if text is None:
                with contextlib.suppress(OSError, ValueError):
                    text = decode_as(path, Path(path).read_bytes())
            sources[path] = SourceText(path, text or "")
        return sources[path]

    findings = tuple(to_finding(item, source_of, request.path, request.encoding) for item in diagnostics)
    return Reply(
        findings, tuple(functions), {path: _stamp_as_read(path, began) for path in sorted(seen - {request.path})}
    )


def _stamp_as_read(path: str, began: int) -> Stamp:
    """The stamp of a file that was read since `began`; one that fits no file where it may have changed meanwhile."""
    found = stamp(path)
    return _CHANGING if found is not None and found[0] > began - _CLOCK_STEP else found


def main() -> None:
    """Answer requests from standard input until it ends."""
    out = claim_stdout()
    requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    read_in_thread(0, frames, requests.put, lambda: os._exit(0))  # even in the middle of an analysis
    last_good: dict[Path, ProjectOptions] = {}
    while True:
        request: Request = pickle.loads(requests.get())
        try:
            reply: Reply | None = check(request, last_good)
        except Exception as error:  # a defect must cost one document its findings, not the others theirs
            _log.error("analysis of %s failed: %s: %s", request.path, type(error).__name__, error)
            reply = None
        out.write(framed(pickle.dumps(reply)))
        out.flush()


if __name__ == "__main__":
    # Pickle finds classes by the name of their module, which is not `__main__` at the other end.
    from adcore_lsp.worker import main as run

    run()
