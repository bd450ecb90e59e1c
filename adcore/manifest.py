"""The metadata that an extension carries: what was compiled into each function, from which text, under which options.

The run time (``binding``) compares it with the sources it finds, through the same hashes (``hashing``).
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from adcore.hashing import NameHashes, source_hash, table_hash
from adcore.ir.signature import Entry
from adcore.options import FUNCTION_OPTIONS
from adcore.source import SourceText

RUNTIME_ABI = 1


def manifest(
    package: str | None,
    entries: Iterable[Entry],
    sources: Mapping[str, SourceText],
    table: Mapping[str, object] | None,
    version: str,
) -> str:
    """The JSON text. ``sources`` has every module that an entry depends on; ``table`` is the parsed [tool.adcore]."""
    modules: dict[str, Any] = {}
    hashes = {name: _hashes(source) for name, source in sources.items()}
    for name, source in sorted(sources.items()):
        modules[name] = {"path": _import_path(name, source), "sha256": source_hash(source.text), "functions": {}}
    for entry in entries:
        modules[entry.module]["functions"][entry.qualname] = {
            "line": entry.span.line,
            "members": list(entry.members),
            "wrt": [entry.parameters[k].name for k in entry.wrt],
            "bare": entry.bare,
            "signature": [{"name": p.name, "type": str(p.type), "default": p.has_default} for p in entry.parameters],
            "written": list(entry.written),
            "options": _options(entry),
            "options_sha256": table_hash(table, entry.name),
            "deps": [
                {"module": d.module, "name": d.name, "sha256": hashes[d.module].of(d.name)} for d in entry.dependencies
            ],
        }
    return json.dumps(
        {"abi": RUNTIME_ABI, "adcore": version, "package": package, "modules": modules}, separators=(",", ":")
    )


def _hashes(source: SourceText) -> NameHashes:
    return NameHashes(ast.parse(source.text))


def _options(entry: Entry) -> dict[str, Any]:
    return {name: getattr(entry.options, name) for name in sorted(FUNCTION_OPTIONS)}


def _import_path(module: str, source: SourceText) -> str:
    """Where the module's file lies below its import root."""
    parts = module.split(".")
    if Path(source.path).name == "__init__.py":
        return "/".join([*parts, "__init__.py"])
    return "/".join(parts) + ".py"
