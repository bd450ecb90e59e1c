"""Where code that was compiled for development is kept: one folder for each module under its options, one file in it
for each state of the sources that the module was compiled from.

A key stands for everything that is known before compiling; what else was read then, the modules that were imported, is
written next to the code and compared when it is looked up. Invariants: a file is complete as soon as it has its name;
what is found was compiled from exactly these texts; the cache may be deleted at any time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from buildplug.outputs import write

_KEPT = 30 * 24 * 3600.0
"""Seconds after which what nobody used is deleted."""


def default_folder() -> Path:
    """`ADCORE_CACHE_DIR`, or `adcore` in the user's cache folder as the platform has it."""
    if own := os.environ.get("ADCORE_CACHE_DIR"):
        return Path(own)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local") / "adcore"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/adcore"
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(xdg) if os.path.isabs(xdg) else Path.home() / ".cache") / "adcore"


@dataclass(frozen=True, slots=True)
class Cache:
    """A cache in `folder`, which need not exist. Methods raise `OSError` where it cannot be used."""

    folder: Path

    def find(self, key: str, is_current: Callable[[Mapping[str, str]], bool]) -> Path | None:
        """The code for `key` whose imported modules, name to hash, are current."""
        for record in sorted((self.folder / key).glob("*.json")):
            try:
                content = json.loads(record.read_text(encoding="utf-8"))
                file = record.with_suffix(".so")
                intact = hashlib.sha256(file.read_bytes()).hexdigest() == content["sha256"]
            except (OSError, ValueError, KeyError, TypeError):
                continue
            if intact and is_current(content["modules"]):
                os.utime(record.parent)
                return file
        return None

    def store(self, key: str, modules: Mapping[str, str], code: bytes) -> Path:
        """Keep the code; `modules` are the hashes of all modules that went into it."""
        self._prune()
        name = hashlib.sha256(json.dumps(modules, sort_keys=True).encode()).hexdigest()[:16]
        file = self.folder / key / f"{name}.so"
        write(file, code)
        content = {"sha256": hashlib.sha256(code).hexdigest(), "modules": dict(modules)}
        write(file.with_suffix(".json"), json.dumps(content).encode())
        return file

    @contextlib.contextmanager
    def lock(self, key: str) -> Iterator[None]:
        """Held by one process at a time. A process that dies lets go of it."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(self.folder / f"{key}.lock", "ab") as file:
            if sys.platform != "win32":  # there, two processes may compile the same; what they write is the same
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX)
            os.utime(self.folder / f"{key}.lock")
            yield

    def size(self) -> tuple[int, int]:
        """How many compiled modules there are, and their bytes."""
        sizes = [file.stat().st_size for file in self.folder.glob("*/*.so")]
        return len(sizes), sum(sizes)

    def clear(self) -> None:
        """Delete everything that a cache makes, and nothing else."""
        for lock in self.folder.glob("*.lock"):
            _remove(self.folder / lock.stem)
            lock.unlink(missing_ok=True)

    def _prune(self) -> None:
        oldest = time.time() - _KEPT
        for lock in self.folder.glob("*.lock"):
            entry = self.folder / lock.stem
            if max(entry.stat().st_mtime if entry.exists() else 0.0, lock.stat().st_mtime) < oldest:
                _remove(entry)
                lock.unlink(missing_ok=True)


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
