"""The vocabulary of the linker: ELF constants, and dataclasses for sections, symbols and relocations.

References between these objects are Python references, never table indices: a `Symbol` knows its `Section`, a
`Relocation` its `Symbol`. Numbers exist only in files, so only `reader` and `writer` deal in them. Objects compare by
identity, which makes them usable as dictionary keys.

Names and numbers: System V ABI, chapters 4 and 5, and its AMD64 supplement.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Final

PAGE: Final = 0x1000
ADDRESS_MASK: Final = (1 << 64) - 1

ET_REL: Final = 1
ET_DYN: Final = 3
EM_X86_64: Final = 62

SHT_PROGBITS: Final = 1
SHT_SYMTAB: Final = 2
SHT_STRTAB: Final = 3
SHT_RELA: Final = 4
SHT_HASH: Final = 5
SHT_DYNAMIC: Final = 6
SHT_NOBITS: Final = 8
SHT_REL: Final = 9
SHT_DYNSYM: Final = 11
SHT_GROUP: Final = 17
SHT_SYMTAB_SHNDX: Final = 18
SHT_X86_64_UNWIND: Final = 0x70000001

SHF_WRITE: Final = 0x1
SHF_ALLOC: Final = 0x2
SHF_EXECINSTR: Final = 0x4
SHF_MERGE: Final = 0x10
SHF_STRINGS: Final = 0x20
SHF_INFO_LINK: Final = 0x40

SHN_UNDEF: Final = 0
SHN_LORESERVE: Final = 0xFF00
SHN_ABS: Final = 0xFFF1
SHN_COMMON: Final = 0xFFF2

STB_LOCAL: Final = 0
STB_GLOBAL: Final = 1
STB_WEAK: Final = 2
STT_NOTYPE: Final = 0
STT_OBJECT: Final = 1
STT_FUNC: Final = 2
STT_SECTION: Final = 3
STT_FILE: Final = 4
STV_DEFAULT: Final = 0
STV_PROTECTED: Final = 3

PT_LOAD: Final = 1
PT_DYNAMIC: Final = 2
PT_GNU_EH_FRAME: Final = 0x6474E550
PT_GNU_STACK: Final = 0x6474E551
PT_GNU_RELRO: Final = 0x6474E552
PF_X: Final = 1
PF_W: Final = 2
PF_R: Final = 4

FILE_HEADER: Final = struct.Struct("<16sHHIQQQIHHHHHH")
SECTION_HEADER: Final = struct.Struct("<IIQQQQIIQQ")
PROGRAM_HEADER: Final = struct.Struct("<IIQQQQQQ")
SYMBOL: Final = struct.Struct("<IBBHQQ")
RELA: Final = struct.Struct("<QQq")
DYNAMIC: Final = struct.Struct("<qQ")


class LinkError(Exception):
    """The object is damaged, or asks for something that this linker does not do."""


@dataclass(slots=True, eq=False)
class Section:
    """A section of the object, or one that the linker makes. `memory` is the size of one that has no bytes (.bss)."""

    name: str
    type: int
    flags: int
    align: int = 1
    entry_size: int = 0
    data: bytearray = field(default_factory=bytearray)
    memory: int = 0
    relocations: list[Relocation] = field(default_factory=list)
    link: Section | None = None
    info: int = 0
    # Where the output has it; set by `layout` (address, offset) and `writer` (number).
    address: int = 0
    offset: int = 0
    number: int = 0

    @property
    def size(self) -> int:
        return self.memory if self.type == SHT_NOBITS else len(self.data)

    @property
    def allocated(self) -> bool:
        return bool(self.flags & SHF_ALLOC)

    @property
    def writable(self) -> bool:
        return bool(self.flags & SHF_WRITE)

    @property
    def executable(self) -> bool:
        return bool(self.flags & SHF_EXECINSTR)


@dataclass(frozen=True, slots=True, eq=False)
class Symbol:
    """A name with a place. `section` is None for what another library defines, and for absolute symbols."""

    name: str
    binding: int
    type: int
    visibility: int
    section: Section | None
    value: int
    size: int
    absolute: bool = False

    @property
    def undefined(self) -> bool:
        return self.section is None and not self.absolute

    @property
    def address(self) -> int:
        """The address in the image; 0 for an undefined symbol. Meaningful once the layout is done."""
        return self.value if self.section is None else self.section.address + self.value

    @property
    def label(self) -> str:
        """What a message calls it: section symbols have no name of their own."""
        return self.name or (self.section.name if self.section else "(no name)")


@dataclass(frozen=True, slots=True)
class Relocation:
    """`symbol + addend`, in the way that `kind` says, belongs at `offset` of the section that holds this."""

    offset: int
    kind: int
    symbol: Symbol
    addend: int


@dataclass(frozen=True, slots=True)
class ObjectFile:
    """A relocatable object: the sections that stay, and every symbol."""

    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]


def round_up(value: int, align: int) -> int:
    """The first multiple of `align` (a power of two) that is not below `value`."""
    return (value + align - 1) & -align
