""".eh_frame_hdr: the sorted table by which debuggers, profilers and unwinders find the frame record of an address.

Sources: LSB Core, chapter 10 (exception frames); DWARF 4, section 6.4.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from .elf import SHF_ALLOC, SHT_PROGBITS, LinkError, Section

_PCREL_SDATA4 = 0x1B
_DATAREL_SDATA4 = 0x3B
_UDATA4 = 0x03
_HEADER = struct.Struct("<BBBBiI")
_ENTRY = struct.Struct("<ii")


class UnwindHeader:
    """The header for one .eh_frame; made before the layout, filled in after relocation."""

    def __init__(self, frames: Section) -> None:
        self._frames = frames
        self._records = list(_frame_records(frames.data))
        size = _HEADER.size + _ENTRY.size * len(self._records)
        self.section = Section(".eh_frame_hdr", SHT_PROGBITS, SHF_ALLOC, 4, data=bytearray(size))

    def fill(self) -> None:
        here, frames = self.section.address, self._frames
        entries = []
        for offset in self._records:
            field = offset + 8
            distance = int.from_bytes(frames.data[field : field + 4], "little", signed=True)
            entries.append((frames.address + field + distance - here, frames.address + offset - here))
        distance = frames.address - (here + 4)
        head = _HEADER.pack(1, _PCREL_SDATA4, _UDATA4, _DATAREL_SDATA4, distance, len(entries))
        try:
            self.section.data[:] = head + b"".join(_ENTRY.pack(*entry) for entry in sorted(entries))
        except struct.error:
            raise LinkError("a record of .eh_frame points out of reach") from None


def _frame_records(data: bytearray) -> Iterator[int]:
    """Offsets of the frame records (FDE); checks that their addresses are encoded as the table above assumes."""
    offset = 0
    while offset < len(data):
        length = int.from_bytes(data[offset : offset + 4], "little")
        if length == 0:
            return
        end = offset + 4 + length
        if length < 8 or length >= 0xFFFFFFF0 or end > len(data):
            raise LinkError(f".eh_frame+{offset:#x}: damaged record")
        if any(data[offset + 4 : offset + 8]):
            if length < 16:
                raise LinkError(f".eh_frame+{offset:#x}: damaged record")
            yield offset
        else:
            _check_encoding(bytes(data[offset + 8 : end]), offset)
        offset = end


def _check_encoding(common: bytes, offset: int) -> None:
    """`common` is the body of a CIE: version, augmentation "zR", three numbers, length 1, the encoding."""
    version, augmentation = common[0], common[1 : common.find(b"\0", 1)]
    if version != 1 or augmentation not in (b"zR", b"zRS"):
        raise LinkError(f".eh_frame+{offset:#x}: records of kind {augmentation!r} are not supported")
    position = 1 + len(augmentation) + 1
    for _ in range(4):  # code and data alignment, return register, length of what follows
        while position < len(common) and common[position] & 0x80:
            position += 1
        position += 1
    if position >= len(common) or common[position] != _PCREL_SDATA4:
        raise LinkError(f".eh_frame+{offset:#x}: addresses are not 32-bit and relative; compile as PIC")
