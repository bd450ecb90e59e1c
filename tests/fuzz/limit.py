"""A time limit around one check: a program that never ends is a finding, not the end of the run."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

CHECK_SECONDS = 60.0  # for one program


class TimeLimit(BaseException):
    """Not an ``Exception``: what is being checked must not catch it."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise ``TimeLimit`` inside the with-block when its time is over. Main thread only; not nested."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeLimit

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
