"""What each relocation type asks for: one table row each, and the arithmetic that serves them all.

Invariant: code and constants are never patched at load time (no text relocations). An absolute address is therefore
possible in writable sections only, and a symbol of another library is reached through the global offset table alone.

Source of the formulas: AMD64 ABI supplement, table 4.9 (S symbol, A addend, P place, G global offset table entry,
L procedure linkage table entry).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from .elf import ADDRESS_MASK, SHT_NOBITS, STB_LOCAL, LinkError, Relocation, Section, Symbol
from .tables import Got, RelaDyn, Stubs


class Via(Enum):
    """How the code reaches the symbol."""

    VALUE = "S"
    TABLE = "G"
    CALL = "L"


@dataclass(frozen=True, slots=True)
class RelocationType:
    """A row: the field is `size` bytes wide and takes `via + A`, less the place of the field if `relative`."""

    name: str
    size: int
    relative: bool
    via: Via = Via.VALUE
    debug_only: bool = False


RELOCATION_TYPES = {
    1: RelocationType("R_X86_64_64", 8, relative=False),
    2: RelocationType("R_X86_64_PC32", 4, relative=True),
    4: RelocationType("R_X86_64_PLT32", 4, relative=True, via=Via.CALL),
    9: RelocationType("R_X86_64_GOTPCREL", 4, relative=True, via=Via.TABLE),
    10: RelocationType("R_X86_64_32", 4, relative=False, debug_only=True),
    11: RelocationType("R_X86_64_32S", 4, relative=False, debug_only=True),
    24: RelocationType("R_X86_64_PC64", 8, relative=True),
    41: RelocationType("R_X86_64_GOTPCRELX", 4, relative=True, via=Via.TABLE),
    42: RelocationType("R_X86_64_REX_GOTPCRELX", 4, relative=True, via=Via.TABLE),
}


def collect(sections: Iterable[Section], got: Got, stubs: Stubs, rela: RelaDyn) -> None:
    """Check every relocation, and reserve the table entries that it will need: sizes must be known before layout."""
    for section in sections:
        for relocation in section.relocations:
            _check(relocation, section)
            symbol, row = relocation.symbol, RELOCATION_TYPES[relocation.kind]
            match row.via:
                case Via.TABLE:
                    got.reserve(symbol, rela)
                case Via.CALL if symbol.undefined:
                    stubs.reserve(symbol, got, rela)
                case Via.VALUE if section.allocated and not row.relative:
                    rela.reserve()
                case _:
                    pass


def apply(sections: Iterable[Section], got: Got, stubs: Stubs, rela: RelaDyn) -> None:
    """Write the values, and the dynamic relocations for what only the loader knows. Needs the final addresses."""
    for section in sections:
        for relocation in section.relocations:
            symbol, row = relocation.symbol, RELOCATION_TYPES[relocation.kind]
            place = section.address + relocation.offset
            value = _target(symbol, row, got, stubs) + relocation.addend
            if section.allocated and not row.relative:
                rela.add(place, symbol, relocation.addend)
            _store(section, relocation, row, value - place if row.relative else value)


def _check(relocation: Relocation, section: Section) -> None:
    row = RELOCATION_TYPES.get(relocation.kind)
    symbol, where = relocation.symbol, f"{section.name}+{relocation.offset:#x}"
    if row is None:
        raise LinkError(f"{where}: relocation type {relocation.kind} (to {symbol.label}) is not supported")
    if section.type == SHT_NOBITS or relocation.offset + row.size > section.size:
        raise LinkError(f"{where}: {row.name} lies outside the section's bytes")
    if symbol.undefined and (not symbol.name or symbol.binding == STB_LOCAL):
        raise LinkError(f"{where}: refers to nothing")
    if symbol.absolute:
        raise LinkError(f"{where}: {symbol.label} is not in the image")
    if not section.allocated:
        if row.relative:
            raise LinkError(f"{where}: {row.name} in debug information is not supported")
        return
    if symbol.section is not None and not symbol.section.allocated:
        raise LinkError(f"{where}: refers to {symbol.label}, which is not loaded")
    if row.debug_only:
        raise LinkError(f"{where}: {row.name} to {symbol.label} needs an address below 4 GiB; compile as PIC")
    if not row.relative and not section.writable:
        raise LinkError(f"{where}: the address of {symbol.label} would need a text relocation; compile as PIC")
    if row.relative and row.via is Via.VALUE and symbol.undefined:
        raise LinkError(
            f"{where}: {symbol.label} is in another library and not reached through the GOT; compile as PIC"
        )


def _target(symbol: Symbol, row: RelocationType, got: Got, stubs: Stubs) -> int:
    match row.via:
        case Via.TABLE:
            return got.address(symbol)
        case Via.CALL if symbol.undefined:
            return stubs.address(symbol)
        case Via.CALL | Via.VALUE:
            return symbol.address


def _store(section: Section, relocation: Relocation, row: RelocationType, value: int) -> None:
    if row.size == 8:
        stored = value & ADDRESS_MASK
    else:
        low, high = (-(1 << 31), 1 << 31) if row.relative else (0, 1 << 32)
        if not low <= value < high:
            raise LinkError(f"{section.name}+{relocation.offset:#x}: {relocation.symbol.label} is out of reach")
        stored = value & 0xFFFFFFFF
    section.data[relocation.offset : relocation.offset + row.size] = stored.to_bytes(row.size, "little")
