"""Packages built for checking, and the allocation counter that watches them: see `adcore.allocation.record`.

The counter must be loaded before all other libraries, so a check runs in a process of its own, whose environment
`preloaded` gives.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from adcore.codegen.counter import EXPORTS, compile_counter
from buildplug.link import link

FILE_NAME = "libadcore_counter.so"


def write_counter(folder: Path) -> Path:
    """The counter's library in `folder`."""
    path = folder / FILE_NAME
    path.write_bytes(link(compile_counter(), export=EXPORTS, needed=("libc.so.6",), soname=FILE_NAME))
    return path


def preloaded(library: Path, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """An environment in which a process starts with the counter."""
    others = environment.get("LD_PRELOAD", "")
    return {**environment, "LD_PRELOAD": f"{library}:{others}" if others else str(library)}
