"""Reads a relocatable x86-64 object into `ObjectFile`.

Every number in the file is checked before it is used, and everything that would need more than this linker does
(thread-local storage, COMDAT groups, constructors, indirect functions, ...) is refused here, so that the later stages
may trust what they get.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from .elf import (
    EM_X86_64,
    ET_REL,
    FILE_HEADER,
    PAGE,
    RELA,
    SECTION_HEADER,
    SHF_ALLOC,
    SHF_EXECINSTR,
    SHF_INFO_LINK,
    SHF_MERGE,
    SHF_STRINGS,
    SHF_WRITE,
    SHN_ABS,
    SHN_LORESERVE,
    SHN_UNDEF,
    SHT_GROUP,
    SHT_NOBITS,
    SHT_PROGBITS,
    SHT_REL,
    SHT_RELA,
    SHT_STRTAB,
    SHT_SYMTAB,
    SHT_SYMTAB_SHNDX,
    SHT_X86_64_UNWIND,
    STB_WEAK,
    STT_FILE,
    SYMBOL,
    LinkError,
    ObjectFile,
    Relocation,
    Section,
    Symbol,
)

_REFUSED_TYPES = {
    SHT_GROUP: "COMDAT groups",
    SHT_REL: "relocations without addends",
    SHT_SYMTAB_SHNDX: "more than 65279 sections",
}
_CONSTRUCTORS = (".init", ".fini", ".preinit", ".ctors", ".dtors")
_REFUSED_FLAGS = {
    0x80: "sections that must keep an order (SHF_LINK_ORDER)",
    0x200: "COMDAT groups",
    0x400: "thread-local storage",
    0x800: "compressed sections",
    0x10000000: "the large code model",
}
_CODE_AND_DATA_FLAGS = SHF_WRITE | SHF_ALLOC | SHF_EXECINSTR | SHF_MERGE | SHF_STRINGS | SHF_INFO_LINK
_REFUSED_SYMBOLS = {6: "thread-local storage", 10: "indirect functions (ifunc)"}
_MAX_IMAGE = 1 << 30  # the small code model reaches twice as far


@dataclass(frozen=True, slots=True)
class _Header:
    """A section header as it stands in the file, with its name and its bytes."""

    name: str
    type: int
    flags: int
    memory: int
    link: int
    info: int
    align: int
    entry_size: int
    data: bytes


def read_object(obj: bytes) -> ObjectFile:
    """Parse `obj`. Raises `LinkError` for anything that is not a complete object this linker can handle."""
    headers = _read_headers(obj)
    sections = [_section_of(header) for header in headers]
    tables = [header for header in headers if header.type == SHT_SYMTAB]
    if len(tables) != 1:
        raise LinkError(f"the object has {len(tables)} symbol tables, not one")
    symbols = _read_symbols(tables[0], headers, sections)
    for header in headers:
        if header.type == SHT_RELA:
            _read_relocations(header, sections, symbols)
    kept = tuple(section for section in sections if section is not None)
    if sum(section.size for section in kept) > _MAX_IMAGE:
        raise LinkError("the object needs more than 1 GiB of address space")
    return ObjectFile(kept, tuple(symbols))


def _read_headers(obj: bytes) -> list[_Header]:
    if len(obj) < FILE_HEADER.size:
        raise LinkError("the object is truncated: it ends within the ELF header")
    ident, kind, machine, _, _, _, start, _, _, _, _, entry, count, names_at = FILE_HEADER.unpack_from(obj)
    if ident[:7] != b"\x7fELF\x02\x01\x01":
        raise LinkError("not a 64-bit little-endian ELF file")
    if (kind, machine) != (ET_REL, EM_X86_64):
        raise LinkError(f"not a relocatable x86-64 object (type {kind}, machine {machine})")
    if entry != SECTION_HEADER.size or start + entry * count > len(obj):
        raise LinkError("the object is truncated: its section headers are not all there")
    if names_at >= count:
        raise LinkError("the section names are missing")
    raw = [SECTION_HEADER.unpack_from(obj, start + entry * i) for i in range(count)]
    names = _bytes_of(obj, raw[names_at], "section names")
    return [_header_of(obj, fields, _string(names, fields[0])) for fields in raw]


def _header_of(obj: bytes, fields: tuple[int, ...], name: str) -> _Header:
    _, kind, flags, _, _, size, link, info, align, entry_size = fields
    align = max(align, 1)
    if align & (align - 1) or align > PAGE:
        raise LinkError(f"section {name} asks for alignment {align}; powers of two up to {PAGE} are possible")
    return _Header(name, kind, flags, size, link, info, align, entry_size, _bytes_of(obj, fields, name))


def _bytes_of(obj: bytes, fields: tuple[int, ...], name: str) -> bytes:
    kind, offset, size = fields[1], fields[4], fields[5]
    if kind in (0, SHT_NOBITS):
        return b""
    if offset + size > len(obj):
        raise LinkError(f"the object is truncated: {name} lies beyond its end")
    return obj[offset : offset + size]


def _string(table: bytes, offset: int) -> str:
    end = table.find(b"\0", offset)
    if end < 0:
        raise LinkError(f"no string at offset {offset} of a string table")
    return table[offset:end].decode("utf-8", "surrogateescape")


def _section_of(header: _Header) -> Section | None:
    """The section that the output keeps, or None: tables are rewritten, notes to the linker are dropped."""
    if header.name.startswith(_CONSTRUCTORS):
        raise LinkError(f"section {header.name}: constructors are not supported")
    if header.type in _REFUSED_TYPES:
        raise LinkError(f"section {header.name}: {_REFUSED_TYPES[header.type]} are not supported")
    for flag, what in _REFUSED_FLAGS.items():
        if header.flags & flag:
            raise LinkError(f"section {header.name}: {what} are not supported")
    if header.name == ".note.GNU-stack" and header.flags & SHF_EXECINSTR:
        raise LinkError("the object asks for an executable stack")
    kind = SHT_PROGBITS if header.type == SHT_X86_64_UNWIND else header.type
    if header.flags & SHF_ALLOC:
        _check_allocated(header, kind)
        if kind == SHT_PROGBITS and not header.data:
            return None
    elif not (kind == SHT_PROGBITS and header.name.startswith(".debug")):
        return None
    memory = header.memory if kind == SHT_NOBITS else 0
    flags = header.flags & ~SHF_INFO_LINK
    return Section(header.name, kind, flags, header.align, header.entry_size, bytearray(header.data), memory)


def _check_allocated(header: _Header, kind: int) -> None:
    if kind not in (SHT_PROGBITS, SHT_NOBITS):
        raise LinkError(f"section {header.name}: loaded sections of type {kind:#x} are not supported")
    if header.flags & ~_CODE_AND_DATA_FLAGS:
        raise LinkError(f"section {header.name}: flags {header.flags:#x} are not supported")
    if header.flags & SHF_WRITE and header.flags & SHF_EXECINSTR:
        raise LinkError(f"section {header.name} is writable and executable")
    if kind == SHT_NOBITS and not header.flags & SHF_WRITE:
        raise LinkError(f"section {header.name} has no bytes and is read-only")


def _read_symbols(table: _Header, headers: list[_Header], sections: list[Section | None]) -> list[Symbol]:
    if table.link >= len(headers) or headers[table.link].type != SHT_STRTAB:
        raise LinkError("the symbol names are missing")
    names = headers[table.link].data
    try:
        rows = list(SYMBOL.iter_unpack(table.data))
    except struct.error:
        raise LinkError("the symbol table is truncated") from None
    return [_symbol_of(row, _string(names, row[0]), sections) for row in rows]


def _symbol_of(row: tuple[int, ...], name: str, sections: list[Section | None]) -> Symbol:
    _, info, other, index, value, size = row
    binding, kind = info >> 4, info & 15
    if kind in _REFUSED_SYMBOLS:
        raise LinkError(f"symbol {name}: {_REFUSED_SYMBOLS[kind]} are not supported")
    if binding > STB_WEAK or kind > STT_FILE:
        raise LinkError(f"symbol {name}: binding {binding} with type {kind} is not supported")
    if index >= SHN_LORESERVE and index != SHN_ABS:
        raise LinkError(f"symbol {name}: common and other special symbols are not supported")
    if index in (SHN_ABS, SHN_UNDEF):
        return Symbol(name, binding, kind, other & 3, None, value, size, absolute=index == SHN_ABS)
    if index >= len(sections):
        raise LinkError(f"symbol {name} lies in section {index}, which does not exist")
    section = sections[index]
    if section is not None and value > section.size:
        raise LinkError(f"symbol {name} lies beyond the end of {section.name}")
    # A symbol of a dropped section becomes an absolute one: to refer to it from what is kept is refused.
    return Symbol(name, binding, kind, other & 3, section, value, size, absolute=section is None)


def _read_relocations(header: _Header, sections: list[Section | None], symbols: list[Symbol]) -> None:
    if header.info >= len(sections):
        raise LinkError(f"{header.name} relocates section {header.info}, which does not exist")
    section = sections[header.info]
    if section is None:
        return
    try:
        rows = list(RELA.iter_unpack(header.data))
    except struct.error:
        raise LinkError(f"{header.name} is truncated") from None
    for offset, info, addend in rows:
        if info >> 32 >= len(symbols):
            raise LinkError(f"{header.name} refers to symbol {info >> 32}, which does not exist")
        section.relocations.append(Relocation(offset, info & 0xFFFFFFFF, symbols[info >> 32], addend))
