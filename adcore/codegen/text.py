"""Writing LLVM as text: one function at a time, blocks in the order they are placed, phis filled in later.

Integers that are known are kept as literals (``"8"``), and ``add``/``mul`` fold them: strides and dims of static shapes
become constants here rather than somewhere in LLVM.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field


@dataclass(slots=True)
class Phi:
    """A phi whose incoming edges are added while the predecessors are written."""

    name: str
    type: str
    incoming: list[tuple[str, str]] = field(default_factory=list)

    def add(self, value: str, block: Block) -> None:
        self.incoming.append((value, block.label))

    def __str__(self) -> str:
        edges = ", ".join(f"[ {value}, %{label} ]" for value, label in self.incoming)
        return f"{self.name} = phi {self.type} {edges}"


@dataclass(slots=True)
class Block:
    label: str
    lines: list[str | Phi] = field(default_factory=list)


class FunctionText:
    """Appends instructions to the current block. ``location`` (``", !dbg !7"`` or empty) ends every line."""

    def __init__(self, after: FunctionText | None = None) -> None:
        """``after``: registers are numbered on from this function's, so that none of its names is given twice."""
        self.blocks: list[Block] = []
        self.allocas: list[str] = []
        self.location = ""
        self._registers: int = 0 if after is None else after._registers
        self._labels = 0
        self.current = self.place(self.block("entry"))

    def go_on_after(self, other: FunctionText) -> None:
        """Number registers on from the other function's."""
        self._registers = other._registers

    def block(self, hint: str) -> Block:
        """A block that is not in the function yet."""
        self._labels += 1
        return Block(f"{hint}.{self._labels}")

    def place(self, block: Block) -> Block:
        """Put the block next and write into it from now on."""
        self.blocks.append(block)
        self.current = block
        return block

    def register(self) -> str:
        self._registers += 1
        return f"%v{self._registers}"

    def line(self, text: str) -> None:
        self.current.lines.append(text + self.location)

    def value(self, text: str) -> str:
        """Append an instruction with a result; its register."""
        name = self.register()
        self.line(f"{name} = {text}")
        return name

    def phi(self, type: str) -> Phi:
        phi = Phi(self.register(), type)
        self.current.lines.append(phi)
        return phi

    def alloca(self, type: str, align: int = 8) -> str:
        """A variable of the frame: allocated once, in the entry block."""
        return self.at_entry(f"alloca {type}, align {align}")

    def at_entry(self, text: str) -> str:
        """An instruction of the entry block that needs nothing but what stands there; its register."""
        name = self.register()
        self.allocas.append(f"{name} = {text}")
        return name

    # --- control
    def br(self, target: Block) -> None:
        self.line(f"br label %{target.label}")

    def loop_br(self, target: Block, metadata: str) -> None:
        """The back edge of a loop, with its ``!llvm.loop`` node."""
        self.line(f"br label %{target.label}, !llvm.loop {metadata}")

    def branch(self, condition: str, yes: Block, no: Block, weights: str = "") -> None:
        suffix = f", !prof {weights}" if weights else ""
        self.line(f"br i1 {condition}, label %{yes.label}, label %{no.label}{suffix}")

    # --- integers with folding
    def add(self, a: str, b: str) -> str:
        return self._fold("add nsw", a, b, lambda x, y: x + y, 0)

    def mul(self, a: str, b: str) -> str:
        if "0" in (a, b):
            return "0"
        return self._fold("mul nsw", a, b, lambda x, y: x * y, 1)

    def _fold(self, op: str, a: str, b: str, fold: object, neutral: int) -> str:
        if is_literal(a) and is_literal(b):
            assert callable(fold)
            result = int(fold(int(a), int(b)))
            if -(2**63) <= result < 2**63:
                return str(result)
        if a == str(neutral):
            return b
        if b == str(neutral):
            return a
        return self.value(f"{op} i64 {a}, {b}")

    def body(self) -> str:
        lines: list[str] = []
        for k, block in enumerate(self.blocks):
            lines.append(f"{block.label}:")
            if k == 0:
                lines += [f"  {a}" for a in self.allocas]
            lines += [f"  {line}" for line in block.lines]
        return "\n".join(lines)


def is_literal(text: str) -> bool:
    return text.lstrip("-").isdigit()


def double(value: float) -> str:
    """The literal of a double, bit for bit."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def quoted(data: bytes) -> str:
    """The body of an LLVM string constant."""
    return "".join(chr(b) if 32 <= b < 127 and b not in (34, 92) else f"\\{b:02X}" for b in data)


def symbol(name: str) -> str:
    """``@"..."`` of any name, quoted."""
    return f'@"{quoted(name.encode())}"'


def constant(name: str, data: bytes, align: int = 1) -> str:
    """The definition of private constant bytes."""
    return f'{name} = private unnamed_addr constant [{len(data)} x i8] c"{quoted(data)}", align {align}'


class ModuleText:
    """Globals and declarations of the module, each once, in order of first use."""

    def __init__(self) -> None:
        self.definitions: list[str] = []
        self.declarations: dict[str, str] = {}
        self.metadata: list[str] = []
        self._nodes: dict[str, str] = {}

    def declare(self, name: str, text: str) -> None:
        self.declarations.setdefault(name, text)

    def node(self, text: str) -> str:
        """A metadata node, shared by its text; ``distinct`` ones are always new."""
        if text in self._nodes and not text.startswith("distinct"):
            return self._nodes[text]
        name = f"!{len(self.metadata)}"
        self.metadata.append(f"{name} = {text.replace('SELF', name)}")
        self._nodes[text] = name
        return name

    def render(self) -> str:
        return "\n".join([*self.definitions, *self.declarations.values(), *self.metadata]) + "\n"
