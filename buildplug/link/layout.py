"""Gives every section of the image an address and a place in the file.

Four segments, in this order, each on pages of its own so that each has its own protection:

    R    headers, dynamic tables, constants, unwind tables
    RX   code, call stubs
    RW   .dynamic, .got, constants that hold addresses: made read-only by the loader when it is done (RELRO)
    RW   data, then .bss, which takes no space in the file

Invariant: address = offset modulo the page size within a segment, so the file can be mapped as it is. A segment does
not start on a fresh page of the file: the page that it shares with its neighbour is mapped twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .elf import FILE_HEADER, PAGE, PF_R, PF_W, PF_X, PROGRAM_HEADER, SHT_NOBITS, Section, round_up


@dataclass(slots=True)
class Segment:
    """A run of sections that are mapped together."""

    flags: int
    sections: list[Section]
    relro: bool = False
    headers: int = 0  # bytes of file header that this segment starts with
    offset: int = 0
    address: int = 0
    file_size: int = 0
    memory_size: int = 0


@dataclass(slots=True)
class Image:
    """The segments that have contents, then the sections that are not loaded (debug information, symbols)."""

    segments: list[Segment]
    unloaded: list[Section]
    program_headers: int
    end: int = 0
    sections: list[Section] = field(default_factory=list)


def lay_out(
    *,
    constants: Iterable[Section],
    code: Iterable[Section],
    relro: Iterable[Section],
    data: Iterable[Section],
    unloaded: Iterable[Section],
    extra_headers: int,
) -> Image:
    """Place everything; `extra_headers` program headers stand beside those of the segments."""
    segments = [
        Segment(PF_R, _filled(constants)),
        Segment(PF_R | PF_X, _filled(code)),
        Segment(PF_R | PF_W, _filled(relro), relro=True),
        Segment(PF_R | PF_W, sorted(_filled(data), key=lambda section: section.type == SHT_NOBITS)),
    ]
    segments = [segment for segment in segments if segment.sections]
    image = Image(segments, list(unloaded), len(segments) + extra_headers)
    segments[0].headers = FILE_HEADER.size + PROGRAM_HEADER.size * image.program_headers
    _place_segments(image)
    image.sections = [*(section for segment in segments for section in segment.sections), *image.unloaded]
    return image


def place_unloaded(sections: Sequence[Section], offset: int) -> int:
    """Put these one after the other from `offset` on, without an address; returns where they end."""
    for section in sections:
        section.offset = round_up(offset, section.align)
        offset = section.offset + section.size
    return offset


def _filled(sections: Iterable[Section]) -> list[Section]:
    return [section for section in sections if section.size]


def _place_segments(image: Image) -> None:
    offset = address = 0
    for segment in image.segments:
        address = round_up(address, PAGE) + offset % PAGE
        segment.offset, segment.address = offset, address
        offset += segment.headers
        address += segment.headers
        for section in segment.sections:
            padding = -address % section.align
            section.address = address + padding
            address = section.address + section.size
            if section.type == SHT_NOBITS:
                section.offset = offset
            else:
                section.offset = offset + padding
                offset = section.offset + section.size
        if segment.relro:  # the loader protects whole pages; `strip` would cut a padding that the file does not have
            padding = -address % PAGE
            address, offset = address + padding, offset + padding
        segment.file_size, segment.memory_size = offset - segment.offset, address - segment.address
    image.end = offset
