"""Framed messages over file descriptors, without a lock that anything else could hold.

pygls reads with `readline` in a pool that its handlers share, knows one spelling of `Content-Length`, and waits for
busy threads at the end of the input. Here one thread reads and hands over what it gets. Invariant: nothing but
messages reaches the client, because whatever else writes to standard output writes to standard error.
"""

from __future__ import annotations

import os
import re
import struct
import threading
from collections.abc import Callable, Iterator
from typing import BinaryIO

_LENGTH = re.compile(rb"^content-length[ \t]*:[ \t]*(\d+)[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_HEADER_END = re.compile(rb"\r?\n\r?\n")
_CHUNK = 1 << 16
_PREFIX = struct.Struct("!I")


def claim_stdout() -> BinaryIO:
    """The stream of messages; from here on file descriptor 1, for Python and C alike, is standard error."""
    stream = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return stream


def messages(buffer: bytearray) -> Iterator[bytes]:
    """Take the complete messages out of a buffer. A header without a length is skipped."""
    while end := _HEADER_END.search(buffer):
        length = _LENGTH.search(buffer, 0, end.start() + 1)
        body = end.end()
        if length is None:
            del buffer[:body]
            continue
        size = int(length[1])
        if len(buffer) < body + size:
            return
        message = bytes(buffer[body : body + size])
        del buffer[: body + size]
        yield message


def frames(buffer: bytearray) -> Iterator[bytes]:
    """Take the complete frames between server and worker out of a buffer: four bytes of length, then the content."""
    while len(buffer) >= _PREFIX.size:
        (size,) = _PREFIX.unpack_from(buffer)
        if len(buffer) < _PREFIX.size + size:
            return
        frame = bytes(buffer[_PREFIX.size : _PREFIX.size + size])
        del buffer[: _PREFIX.size + size]
        yield frame


def framed(content: bytes) -> bytes:
    """A frame for `frames`."""
    return _PREFIX.pack(len(content)) + content


def read_in_thread(
    descriptor: int,
    split: Callable[[bytearray], Iterator[bytes]],
    receive: Callable[[bytes], object],
    end: Callable[[], object],
) -> None:
    """Call `receive` for each piece of the input and `end` after the last, from a thread that keeps nothing alive."""

    def read() -> None:
        buffer = bytearray()
        while chunk := _read(descriptor):
            buffer += chunk
            for piece in split(buffer):
                receive(piece)
        end()

    threading.Thread(target=read, name="adcore-input", daemon=True).start()


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _CHUNK)
    except OSError:
        return b""
