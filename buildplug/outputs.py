"""Files that a build makes: written as a whole, only if their bytes differ, and deleted when no build makes them."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from pathlib import Path

from buildplug.project import is_output

_log = logging.getLogger("adcore")


def write(target: Path, data: bytes) -> bool:
    """Replace `target` in one step; whether that was needed. A process that has the old file loaded keeps it."""
    if target.exists() and target.read_bytes() == data:
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f"{target.name}.{os.getpid()}")
    temporary.write_bytes(data)
    temporary.chmod(0o755)
    temporary.replace(target)
    return True


def write_extension(target: Path, data: bytes) -> None:
    """`write`, with a line in the log."""
    if write(target, data):
        _log.info("adcore: %s, %d bytes", target, len(data))
    else:
        _log.info("adcore: %s is up to date", target)


def remove_leftovers(found: Iterable[Path], made: Iterable[Path]) -> None:
    """Delete those of the files `found` that are extensions of earlier builds and not among those `made` now."""
    kept = {file.absolute() for file in made}
    for file in found:
        if is_output(file) and file.absolute() not in kept:
            _log.info("adcore: removing %s, which this build did not make", file)
            file.unlink()
