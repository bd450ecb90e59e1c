"""A linker for one case: one x86-64 object from LLVM becomes a shared object for Linux. No compiler, no system linker.

    read -> collect (which tables are needed) -> lay out -> relocate -> write

What it assumes is what LLVM does with `reloc=pic`, `codemodel=small`: other libraries are reached through the global
offset table or by plain calls. What it does not do raises `LinkError`: thread-local storage, COMDAT groups,
constructors, indirect functions, text relocations, common symbols. Equal input gives equal bytes.

All symbols are bound within the image (as with `ld -Bsymbolic`), imports are unversioned (the loader binds the default
version), and everything is bound at load time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from . import relocate
from .elf import STB_LOCAL, STV_DEFAULT, STV_PROTECTED, LinkError, ObjectFile, Symbol
from .layout import Image, lay_out
from .reader import read_object
from .tables import DynamicSection, DynamicSymbols, Got, RelaDyn, Stubs, choose_exports
from .unwind import UnwindHeader
from .writer import number_sections, symbol_table, write

__all__ = ["LinkError", "link"]


def link(
    obj: bytes,
    *,
    export: Callable[[str], bool] | Iterable[str],
    needed: Sequence[str] = ("libm.so.6", "libc.so.6"),
    soname: str | None = None,
) -> bytes:
    """The shared object made from the relocatable object `obj`.

    `export` names the symbols that other libraries may see, or is a predicate over the defined names; `needed` are the
    libraries that define the rest. Raises `LinkError`, and nothing else, for an object that cannot be linked.
    """
    unit = read_object(obj)
    symbols = DynamicSymbols(_imports(unit), _exports(unit, export))
    rela, got, stubs = RelaDyn(symbols), Got(), Stubs()
    relocate.collect(unit.sections, got, stubs, rela)
    dynamic = DynamicSection(symbols, rela, needed, soname)
    unwind = _unwind_header(unit)
    image = _image(unit, symbols, rela, got, stubs, dynamic, unwind)

    number_sections(image.sections)
    relocate.apply(unit.sections, got, stubs, rela)
    got.fill(rela)
    stubs.fill(got)
    symbols.fill()
    rela.fill()
    dynamic.fill()
    if unwind is not None:
        unwind.fill()
    names = symbol_table(unit.symbols)
    image.unloaded += names
    image.sections += names
    return write(image, dynamic.section, unwind.section if unwind else None)


def _imports(unit: ObjectFile) -> list[Symbol]:
    """What other libraries define; the symbol table's first row, which is empty, does not count."""
    return [symbol for symbol in unit.symbols if symbol.undefined and symbol.name and symbol.binding != STB_LOCAL]


def _exports(unit: ObjectFile, export: Callable[[str], bool] | Iterable[str]) -> list[Symbol]:
    visible = [symbol for symbol in unit.symbols if symbol.visibility in (STV_DEFAULT, STV_PROTECTED)]
    if not callable(export):
        return choose_exports(visible, list(dict.fromkeys(export)))
    return [symbol for symbol in visible if symbol.binding and symbol.section is not None and export(symbol.name)]


def _unwind_header(unit: ObjectFile) -> UnwindHeader | None:
    frames = [section for section in unit.sections if section.name == ".eh_frame"]
    if len(frames) > 1:
        raise LinkError("the object has more than one .eh_frame section")
    return UnwindHeader(frames[0]) if frames else None


def _image(
    unit: ObjectFile,
    symbols: DynamicSymbols,
    rela: RelaDyn,
    got: Got,
    stubs: Stubs,
    dynamic: DynamicSection,
    unwind: UnwindHeader | None,
) -> Image:
    loaded = [section for section in unit.sections if section.allocated]
    writable = [section for section in loaded if section.writable]
    relro = [section for section in writable if section.name.startswith(".data.rel.ro")]
    constants = [section for section in loaded if not section.writable and not section.executable]
    tables = [symbols.section, symbols.hash, symbols.strings.section, rela.section]
    return lay_out(
        constants=[*tables, *constants, *([unwind.section] if unwind else [])],
        code=[*(section for section in loaded if section.executable), stubs.section],
        relro=[dynamic.section, got.section, *relro],
        data=[section for section in writable if section not in relro],
        unloaded=[section for section in unit.sections if not section.allocated],
        extra_headers=3 + (unwind is not None),
    )
