"""What the lowering of one function carries along: the text, the values so far, the module's text, where arrays live.

Errors leave through one exit block: ``fail`` stores the error in the context and branches there with status 1; the
exit frees the frame's blocks, whatever happened.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from adcore.allocation.sites import Ledger, Site
from adcore.codegen.debug import DebugInfo
from adcore.codegen.layout import ArrayRef
from adcore.codegen.text import Block, FunctionText, ModuleText, constant, symbol
from adcore.ir.core import Function, Module, Value
from adcore.ir.flow import Flow, Summary

UNLIKELY = '!{!"branch_weights", i32 1048575, i32 1}'  # the first way is taken


@dataclass(slots=True)
class Slot:
    """A block that belongs to the frame: where ``%frame`` holds its pointer and capacity, as a load or store ends with it."""

    pointer: str
    capacity: str


@dataclass(slots=True)
class Context:
    module: Module
    function: Function
    text: ModuleText
    flow: Flow
    summaries: dict[str, Summary]
    ledger: Ledger  # every allocation comes from it
    debug: DebugInfo
    w: FunctionText = field(default_factory=FunctionText)
    env: dict[Value, str | ArrayRef] = field(default_factory=dict)
    slots: dict[int, Slot] = field(default_factory=dict)  # by number in the ledger
    scope: str | None = None  # the DISubprogram
    arena: dict[str, str] = field(default_factory=dict)  # "base", "cur", "end" -> variable of the frame
    flags: str = ""  # fast-math flags of the function, with a leading blank
    access: str = ""  # the access group of the map being lowered
    long: bool = False  # of so many loop nests that each becomes a function of its own
    nests: list[str] = field(default_factory=list)  # the texts of these functions
    distinct_params: bool = True  # no two array parameters of the function share memory that it writes
    exit: Block = field(default_factory=lambda: Block("exit"))
    failures: list[tuple[str, Block]] = field(default_factory=list)
    errors: int = 0  # constants made so far

    def scalar(self, v: Value) -> str:
        got = self.env[v]
        assert isinstance(got, str)
        return got

    def array(self, v: Value) -> ArrayRef:
        got = self.env[v]
        assert isinstance(got, ArrayRef)
        return got

    # --- errors
    def fail_from_here(self) -> None:
        """End the current block: the error is set already."""
        self.failures.append(("1", self.w.current))
        self.w.line(f"br label %{self.exit.label}")

    def check(self, ok: str, error: str | None) -> None:
        """Go on if ``ok``; else leave with the error constant (None: it is set already)."""
        w = self.w
        go_on, likely = w.block("ok"), self.text.node(UNLIKELY)
        if error is None:
            self.failures.append(("1", w.current))
            w.branch(ok, go_on, self.exit, likely)
        else:
            bad = w.block("bad")
            w.branch(ok, go_on, bad, likely)
            w.place(bad)
            w.line(f"store ptr {error}, ptr %ctx")
            self.fail_from_here()
        w.place(go_on)

    def error(self, kind: str, message: str) -> str:
        """The constant ``{ exception class, message }``; private to the function, so no other function moves it."""
        self.errors += 1
        name = f"{self.function.name}.error{self.errors}"
        self.text.declare(f"PyExc_{kind}", f"@PyExc_{kind} = external global ptr")
        text = symbol(f"{name}.text")
        self.text.definitions.append(constant(text, message.encode() + b"\0"))
        error = symbol(name)
        self.text.definitions.append(f"{error} = internal constant %Error {{ ptr @PyExc_{kind}, ptr {text} }}")
        return error

    # --- variables of the frame
    def blocks(self, site: Site) -> list[Slot]:
        """The frame's blocks that a site may use."""
        for k in site.slots:
            if k not in self.slots:
                here = f"getelementptr %Held, ptr %frame, i64 {len(self.slots)}, i32"
                fields = [self.w.at_entry(f"{here} {field}") + self._alias_class("frame") for field in (0, 1)]
                self.slots[k] = Slot(*fields)
        return [self.slots[k] for k in site.slots]

    def tbaa(self, kind: str) -> str:
        """Accesses of different element types never alias."""
        return self._alias_class(kind) + self.access

    def _alias_class(self, kind: str) -> str:
        """What is read and written under one such name is not under another."""
        root = self.text.node('!{!"adcore"}')
        type = self.text.node(f'!{{!"{kind}", {root}, i64 0}}')
        return f", !tbaa {self.text.node(f'!{{{type}, {type}, i64 0}}')}"


__all__ = ["Context", "Slot"]
