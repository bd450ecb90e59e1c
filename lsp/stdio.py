"""One server on standard input and output, from its start to its exit code."""

from __future__ import annotations

import asyncio
import logging
import sys

from adcore_lsp.protocol import OneLine
from adcore_lsp.server import make_server
from adcore_lsp.transport import claim_stdout, messages, read_in_thread
from pygls.io_ import StdoutWriter


def serve() -> int:
    """Serve over standard input and output; the exit code: 0 after `shutdown` and `exit`, 1 otherwise."""
    out = claim_stdout()
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(OneLine())
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.getLogger("pygls").setLevel(logging.CRITICAL)  # it tells the same to `report_server_error`
    return asyncio.run(_serve(StdoutWriter(out)))


async def _serve(writer: StdoutWriter) -> int:
    server, loop = make_server(), asyncio.get_running_loop()
    protocol = server.protocol
    protocol.finished = loop.create_future()
    protocol.set_writer(writer)

    def hand_over(body: bytes) -> None:
        loop.call_soon_threadsafe(protocol.receive, body)

    def ended() -> None:
        loop.call_soon_threadsafe(protocol.finish, 1)

    read_in_thread(0, messages, hand_over, ended)
    try:
        return await protocol.finished
    finally:
        await server.worker.close()
