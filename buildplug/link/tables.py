"""The tables that a shared object has and a relocatable object has not: GOT, call stubs, dynamic relocations, names.

Each table is used in two steps around the layout: entries are reserved first, so that `section` has its final size
when addresses are given out, and filled in afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence

from .elf import (
    ADDRESS_MASK,
    DYNAMIC,
    RELA,
    SHF_ALLOC,
    SHF_EXECINSTR,
    SHF_WRITE,
    SHT_DYNAMIC,
    SHT_DYNSYM,
    SHT_HASH,
    SHT_PROGBITS,
    SHT_RELA,
    SHT_STRTAB,
    SYMBOL,
    LinkError,
    Section,
    Symbol,
)

_R_64, _R_GLOB_DAT, _R_RELATIVE = 1, 6, 8
_STUB_SIZE = 8


class StringTable:
    """NUL-terminated strings, each stored once."""

    def __init__(self, name: str, flags: int = 0) -> None:
        self.section = Section(name, SHT_STRTAB, flags, data=bytearray(b"\0"))
        self._offsets = {"": 0}

    def add(self, text: str) -> int:
        """The offset of `text`, appended if it is new."""
        if text not in self._offsets:
            self._offsets[text] = len(self.section.data)
            self.section.data += text.encode("utf-8", "surrogateescape") + b"\0"
        return self._offsets[text]


class DynamicSymbols:
    """.dynsym, .dynstr and .hash: what the image takes from other libraries, then what it offers."""

    def __init__(self, imports: Sequence[Symbol], exports: Sequence[Symbol]) -> None:
        self._symbols = (*imports, *exports)
        self.numbers = {symbol: number for number, symbol in enumerate(self._symbols, 1)}
        self.strings = StringTable(".dynstr", SHF_ALLOC)
        self._names = [self.strings.add(symbol.name) for symbol in self._symbols]
        count = len(self._symbols) + 1
        link = self.strings.section
        self.section = Section(".dynsym", SHT_DYNSYM, SHF_ALLOC, 8, SYMBOL.size, bytearray(SYMBOL.size * count))
        self.section.link, self.section.info = link, 1
        self.hash = Section(".hash", SHT_HASH, SHF_ALLOC, 8, 4, self._hash_table(count), link=self.section)

    def fill(self) -> None:
        """Write the symbols; needs addresses and section numbers."""
        self.section.data[SYMBOL.size :] = b"".join(
            SYMBOL.pack(
                name,
                symbol.binding << 4 | symbol.type,
                0,
                symbol.section.number if symbol.section else 0,
                symbol.address,
                symbol.size,
            )
            for name, symbol in zip(self._names, self._symbols, strict=True)
        )

    def _hash_table(self, count: int) -> bytearray:
        buckets, chain = [0] * count, [0] * count
        for number, symbol in enumerate(self._symbols, 1):
            bucket = _sysv_hash(symbol.name) % count
            chain[number], buckets[bucket] = buckets[bucket], number
        words = (count, count, *buckets, *chain)
        return bytearray(b"".join(word.to_bytes(4, "little") for word in words))


class RelaDyn:
    """.rela.dyn: what the loader must add up. Relative entries stand first, as DT_RELACOUNT wants them."""

    def __init__(self, symbols: DynamicSymbols) -> None:
        self.section = Section(".rela.dyn", SHT_RELA, SHF_ALLOC, 8, RELA.size, link=symbols.section)
        self._numbers = symbols.numbers
        self._entries: list[tuple[int, int, int, int]] = []

    def reserve(self) -> None:
        self.section.data += bytes(RELA.size)

    def add(self, place: int, symbol: Symbol, addend: int, kind: int = _R_64) -> None:
        """Ask the loader for `symbol + addend` at `place`; `kind` holds for symbols of other libraries."""
        if symbol.undefined:
            self._entries.append((kind, place, self._numbers[symbol], addend))
        else:
            value = (symbol.address + addend) & ADDRESS_MASK
            self._entries.append((_R_RELATIVE, place, 0, value - (1 << 64) if value >> 63 else value))

    @property
    def relative_count(self) -> int:
        return sum(kind == _R_RELATIVE for kind, *_ in self._entries)

    def fill(self) -> None:
        entries = sorted(self._entries, key=lambda entry: (entry[0] != _R_RELATIVE, entry[1]))
        packed = b"".join(RELA.pack(place, number << 32 | kind, addend) for kind, place, number, addend in entries)
        assert len(packed) == self.section.size, "as many dynamic relocations as were reserved"
        self.section.data[:] = packed


class Got:
    """The global offset table: one address a symbol, filled in by the loader and read-only afterwards."""

    def __init__(self) -> None:
        self.section = Section(".got", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 8, 8)
        self._slots: dict[Symbol, int] = {}

    def reserve(self, symbol: Symbol, rela: RelaDyn) -> None:
        if symbol not in self._slots:
            self._slots[symbol] = self.section.size
            self.section.data += bytes(8)
            rela.reserve()

    def address(self, symbol: Symbol) -> int:
        return self.section.address + self._slots[symbol]

    def fill(self, rela: RelaDyn) -> None:
        for symbol, slot in self._slots.items():
            self.section.data[slot : slot + 8] = symbol.address.to_bytes(8, "little")
            rela.add(self.section.address + slot, symbol, 0, _R_GLOB_DAT)


class Stubs:
    """.plt: `jmp *slot(%rip)` for library functions that LLVM calls on its own account (memset, sin), not lazily."""

    def __init__(self) -> None:
        self.section = Section(".plt", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 8, _STUB_SIZE)
        self._slots: dict[Symbol, int] = {}

    def reserve(self, symbol: Symbol, got: Got, rela: RelaDyn) -> None:
        got.reserve(symbol, rela)
        if symbol not in self._slots:
            self._slots[symbol] = self.section.size
            self.section.data += bytes(_STUB_SIZE)

    def address(self, symbol: Symbol) -> int:
        return self.section.address + self._slots[symbol]

    def fill(self, got: Got) -> None:
        for symbol, slot in self._slots.items():
            distance = got.address(symbol) - (self.section.address + slot + 6)
            stub = b"\xff\x25" + distance.to_bytes(4, "little", signed=True) + b"\x66\x90"
            self.section.data[slot : slot + _STUB_SIZE] = stub


class DynamicSection:
    """.dynamic: where the loader finds all of the above."""

    def __init__(self, symbols: DynamicSymbols, rela: RelaDyn, needed: Sequence[str], soname: str | None) -> None:
        self._symbols, self._rela = symbols, rela
        self._names = [(1, symbols.strings.add(name)) for name in needed]
        self._names += [(14, symbols.strings.add(soname))] if soname is not None else []
        self.section = Section(".dynamic", SHT_DYNAMIC, SHF_ALLOC | SHF_WRITE, 8, DYNAMIC.size)
        self.section.link = symbols.strings.section
        self.section.data += bytes(DYNAMIC.size * len(self._entries()))

    def _entries(self) -> list[tuple[int, int]]:
        symbols, rela = self._symbols, self._rela.section
        entries = [
            *self._names,
            (4, symbols.hash.address),
            (5, symbols.strings.section.address),
            (6, symbols.section.address),
            (10, symbols.strings.section.size),
            (11, SYMBOL.size),
        ]
        if rela.size:
            entries += [(7, rela.address), (8, rela.size), (9, RELA.size), (0x6FFFFFF9, self._rela.relative_count)]
        return [*entries, (0, 0)]

    def fill(self) -> None:
        self.section.data[:] = b"".join(DYNAMIC.pack(tag, value) for tag, value in self._entries())


def _sysv_hash(name: str) -> int:
    """The hash function of the System V ABI, chapter 5."""
    value = 0
    for byte in name.encode("utf-8", "surrogateescape"):
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ high >> 24) & ~high & 0xFFFFFFFF
    return value


def choose_exports(symbols: Sequence[Symbol], wanted: Sequence[str]) -> list[Symbol]:
    """The defined global symbols with these names, in the order of `wanted`."""
    defined = {symbol.name: symbol for symbol in symbols if symbol.binding and symbol.section is not None}
    missing = [name for name in wanted if name not in defined]
    if missing:
        raise LinkError(f"the object does not define {', '.join(missing)}, which should be exported")
    return [defined[name] for name in wanted]
