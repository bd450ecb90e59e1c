"""Debug info: the lines of the user's file, so that gdb, perf and addr2line name them.

Paths are as the spans give them (relative to the project), the compilation directory is ``.``: equal sources give equal
bytes wherever they stand.
"""

from __future__ import annotations

from adcore.codegen.text import ModuleText, quoted
from adcore.source import Span


class DebugInfo:
    """Metadata of one module; functions without a span get none."""

    def __init__(self, text: ModuleText, enabled: bool = True, producer: str = "adcore") -> None:
        self.text = text
        self.enabled = enabled
        self.producer = producer
        self.unit: str | None = None

    def _file(self, path: str) -> str:
        return self.text.node(f'!DIFile(filename: "{quoted(path.encode())}", directory: ".")')

    def _unit(self, path: str) -> str:
        if self.unit is None:
            self.unit = self.text.node(
                f"distinct !DICompileUnit(language: DW_LANG_Python, file: {self._file(path)}, "
                f'producer: "{self.producer}", '
                "isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)"
            )
        return self.unit

    def function(self, name: str, span: Span | None) -> str | None:
        """The ``DISubprogram`` of a function."""
        if span is None or not self.enabled:
            return None
        file, unit = self._file(span.file), self._unit(span.file)
        none = self.text.node("!{null}")
        type = self.text.node(f"!DISubroutineType(types: {none})")
        return self.text.node(
            f'distinct !DISubprogram(name: "{quoted(name.encode())}", scope: {file}, file: {file}, line: {span.line}, '
            f"type: {type}, "
            f"scopeLine: {span.line}, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: {unit})"
        )

    def location(self, scope: str, span: Span) -> str:
        return f", !dbg {self.text.node(f'!DILocation(line: {span.line}, column: {span.column}, scope: {scope})')}"

    def flags(self) -> list[str]:
        """The named metadata of the module."""
        if self.unit is None:
            return []
        flags = [
            self.text.node(f'!{{i32 2, !"{name}", i32 {value}}}')
            for name, value in (("Dwarf Version", 4), ("Debug Info Version", 3))
        ]
        return [f"!llvm.dbg.cu = !{{{self.unit}}}", f"!llvm.module.flags = !{{{', '.join(flags)}}}"]
