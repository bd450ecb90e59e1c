"""Finds the source of modules statically: nothing is imported, no package code runs.

Project roots come first, then the installed packages where Python would find them (pure Python sources only). Texts in
`overlays` (open editor buffers) win over the disk. Results are cached for the life of the `Project`; missing and undecodable files
count as modules that are not there.
"""

from __future__ import annotations

import sys
import tokenize
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from adcore.frontend.recover import Parsed, parse
from adcore.source import SourceText

LIBRARIES = frozenset({"math", "numpy", "builtins", "adcore", "typing", "jaxtyping", "__future__"})
"""Top-level modules whose names have rules; their source is never read."""


@dataclass(frozen=True, slots=True)
class ModuleSource:
    """A module that was found; `own`: it belongs to the project, not to an installed package."""

    name: str
    source: SourceText
    parsed: Parsed
    is_package: bool
    own: bool


class Project:
    """Module names to sources. Not thread-safe."""

    def __init__(self, roots: Sequence[Path], overlays: Mapping[str, str] | None = None) -> None:
        self.roots = [Path(root) for root in roots]
        self.overlays = dict(overlays or {})
        self._modules: dict[str, ModuleSource | None] = {}
        self._resolved = {str(Path(path).absolute()): text for path, text in self.overlays.items()}

    def register(self, module: str, source: SourceText) -> ModuleSource:
        """Make `source` the text of `module`."""
        known = self._modules.get(module)
        if known is not None and known.source.text == source.text and known.source.path == source.path:
            return known
        is_package = Path(source.path).name == "__init__.py"
        found = ModuleSource(module, source, parse(source), is_package, own=True)
        self._modules[module] = found
        return found

    def find(self, module: str) -> ModuleSource | None:
        """The source of a dotted module name, or None."""
        if module not in self._modules:
            self._modules[module] = None if module.partition(".")[0] in LIBRARIES else self._search(module)
        return self._modules[module]

    def _search(self, module: str) -> ModuleSource | None:
        parts = module.split(".")
        if not all(part.isidentifier() for part in parts):
            return None
        for folder, own in self._folders():
            for path, is_package in _candidates(folder, parts):
                text = self._read(path)
                if text is not None:
                    source = SourceText(str(path), text)
                    return ModuleSource(module, source, parse(source), is_package, own)
        return None

    def _folders(self) -> list[tuple[Path, bool]]:
        installed = [Path(entry) for entry in sys.path if entry]
        return [(root, True) for root in self.roots] + [
            (entry, False) for entry in installed if entry not in self.roots
        ]

    def _read(self, path: Path) -> str | None:
        overlay = self.overlays.get(str(path), self._resolved.get(str(path.absolute())))
        if overlay is not None:
            return overlay
        try:
            return decode(path.read_bytes()) if path.is_file() else None
        except OSError:
            return None


def _candidates(folder: Path, parts: list[str]) -> list[tuple[Path, bool]]:
    stem = folder.joinpath(*parts)
    return [(stem / "__init__.py", True), (stem.with_name(stem.name + ".py"), False)]


def decode(data: bytes) -> str | None:
    """The text of Python source as Python decodes it, or None."""
    try:
        encoding, _ = tokenize.detect_encoding(BytesIO(data).readline)
        return data.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError):
        return None
