"""Turns a laid-out and relocated image into the bytes of a shared object."""

from __future__ import annotations

from collections.abc import Sequence

from .elf import (
    EM_X86_64,
    ET_DYN,
    FILE_HEADER,
    PAGE,
    PF_R,
    PF_W,
    PROGRAM_HEADER,
    PT_DYNAMIC,
    PT_GNU_EH_FRAME,
    PT_GNU_RELRO,
    PT_GNU_STACK,
    PT_LOAD,
    SECTION_HEADER,
    SHT_NOBITS,
    SHT_SYMTAB,
    STB_LOCAL,
    STT_FUNC,
    STT_OBJECT,
    SYMBOL,
    Section,
    Symbol,
    round_up,
)
from .layout import Image, Segment, place_unloaded
from .tables import StringTable


def symbol_table(symbols: Sequence[Symbol]) -> tuple[Section, Section]:
    """.symtab and .strtab with the names of all functions and variables, for debuggers and profilers.

    Needs addresses and section numbers. Local symbols stand first, as `sh_info` says.
    """
    named = [s for s in symbols if s.type in (STT_OBJECT, STT_FUNC) and s.section is not None and s.section.number]
    named.sort(key=lambda symbol: symbol.binding != STB_LOCAL)
    strings = StringTable(".strtab")
    table = Section(".symtab", SHT_SYMTAB, 0, 8, SYMBOL.size, bytearray(SYMBOL.size), link=strings.section)
    table.info = 1 + sum(symbol.binding == STB_LOCAL for symbol in named)
    for symbol in named:
        assert symbol.section is not None
        info = symbol.binding << 4 | symbol.type
        table.data += SYMBOL.pack(
            strings.add(symbol.name), info, symbol.visibility, symbol.section.number, symbol.address, symbol.size
        )
    return table, strings.section


def number_sections(sections: Sequence[Section]) -> None:
    """Section header numbers; 0 is the empty header."""
    for number, section in enumerate(sections, 1):
        section.number = number


def write(image: Image, dynamic: Section, unwind: Section | None) -> bytes:
    """The file. All sections have their contents; only their names and the headers are still to be made."""
    names = StringTable(".shstrtab")
    sections = [*image.sections, names.section]
    number_sections(sections)
    name_offsets = [names.add(section.name) for section in sections]
    end = place_unloaded([*image.unloaded, names.section], image.end)
    headers_at = round_up(end, 8)
    out = bytearray(headers_at)
    for section in sections:
        if section.type != SHT_NOBITS:
            out[section.offset : section.offset + section.size] = section.data
    program = _program_headers(image, dynamic, unwind)
    out[: FILE_HEADER.size] = _file_header(headers_at, len(program), len(sections) + 1)
    out[FILE_HEADER.size : FILE_HEADER.size + PROGRAM_HEADER.size * len(program)] = b"".join(program)
    out += bytes(SECTION_HEADER.size)
    for section, name in zip(sections, name_offsets, strict=True):
        out += _section_header(section, name)
    return bytes(out)


def _file_header(headers_at: int, program_headers: int, section_headers: int) -> bytes:
    return FILE_HEADER.pack(
        b"\x7fELF\x02\x01\x01",
        ET_DYN,
        EM_X86_64,
        1,
        0,
        FILE_HEADER.size,
        headers_at,
        0,
        FILE_HEADER.size,
        PROGRAM_HEADER.size,
        program_headers,
        SECTION_HEADER.size,
        section_headers,
        section_headers - 1,
    )


def _section_header(section: Section, name: int) -> bytes:
    return SECTION_HEADER.pack(
        name,
        section.type,
        section.flags,
        section.address,
        section.offset,
        section.size,
        section.link.number if section.link else 0,
        section.info,
        section.align,
        section.entry_size,
    )


def _program_headers(image: Image, dynamic: Section, unwind: Section | None) -> list[bytes]:
    headers = [_segment_header(PT_LOAD, segment, PAGE) for segment in image.segments]
    headers.append(_section_segment(PT_DYNAMIC, PF_R | PF_W, dynamic))
    headers += [_segment_header(PT_GNU_RELRO, segment, 1, PF_R) for segment in image.segments if segment.relro]
    headers.append(PROGRAM_HEADER.pack(PT_GNU_STACK, PF_R | PF_W, 0, 0, 0, 0, 0, 16))
    if unwind is not None:
        headers.append(_section_segment(PT_GNU_EH_FRAME, PF_R, unwind))
    assert len(headers) == image.program_headers
    return headers


def _segment_header(kind: int, segment: Segment, align: int, flags: int | None = None) -> bytes:
    address, sizes = segment.address, (segment.file_size, segment.memory_size)
    return PROGRAM_HEADER.pack(
        kind, segment.flags if flags is None else flags, segment.offset, address, address, *sizes, align
    )


def _section_segment(kind: int, flags: int, section: Section) -> bytes:
    address, size = section.address, section.size
    return PROGRAM_HEADER.pack(kind, flags, section.offset, address, address, size, size, section.align)
