"""A function that is not differentiated pays nothing for a neighbour that is: its machine code is the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine import HEADER

from adcore import driver
from adcore.diagnostics import Report
from adcore.options import ProjectOptions
from buildplug.link.elf import ObjectFile, Symbol
from buildplug.link.reader import read_object

PLAIN = {
    "loop": "def plain(x: float, w: Vector) -> float:\n    s = x\n    for v in w:\n        s += np.sin(v) * s / (v * v + 1.0)\n    return s\n",
    "helper": "def plain(x: float, w: Vector) -> float:\n    return helper(x, w) * 2.0\n",
    "arrays": "def plain(x: float, w: Vector) -> float:\n    a = np.outer(w, w) * x\n    a[0] += w\n    return float(np.sum(np.exp(a) / (1.0 + a * a)))\n",
    "while": "def plain(x: float, w: Vector) -> float:\n    k = 0\n    while x < 100.0 and k < len(w):\n        x = x * w[k]\n        k += 1\n    return x\n",
    "recursion": "def plain(x: float, w: Vector) -> float:\n    return deep(x, len(w))\n",
}
HELPERS = (
    "def helper(x, w):\n    s = 0.0\n    for i in range(len(w)):\n        s += x * w[i] ** 3\n    return s\n\n"
    "def deep(x, n: int) -> float:\n    return x if n <= 0 else math.sin(deep(x * 0.9, n - 1))\n\n"
)
OTHER = "def other(x: float, w: Vector) -> float:\n    return helper(x, w) * np.sum(np.exp(w * x)) + deep(x, 3)\n"


def built(folder: Path, plain: str, options: str) -> ObjectFile:
    package = folder / "p"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    text = f'{HEADER}{HELPERS}@autodiff(mode="none")\n{plain}\n\n@autodiff({options})\n{OTHER}'
    (package / "m.py").write_text(text)
    report = Report()
    made = driver.compile_package(folder, {"p.m": Path("p/m.py")}, "p", ProjectOptions(), report)
    assert made is not None
    assert not report.has_errors, report.diagnostics
    return read_object(made.object)


def code(unit: ObjectFile, name: str) -> tuple[bytes, list[tuple[int, int, str]]]:
    """The bytes of a function with its references left blank, and where those point."""
    (symbol,) = [s for s in unit.symbols if s.name == name]
    section = symbol.section
    assert section is not None
    text = bytearray(section.data[symbol.value : symbol.value + symbol.size])
    references = []
    for r in section.relocations:
        at = r.offset - symbol.value
        if 0 <= at < symbol.size:
            text[at : at + 4] = bytes(4)
            references.append((at, r.kind, _meaning(r.symbol)))
    starts = {s.value: s.name for s in unit.symbols if s.section is section and s.name}
    for at in range(symbol.size - 4):  # calls inside the section have no relocation: x86's `call rel32`
        if text[at] == 0xE8:
            target = symbol.value + at + 5 + int.from_bytes(text[at + 1 : at + 5], "little", signed=True)
            if target in starts:
                text[at + 1 : at + 5] = bytes(4)
                references.append((at, 0, starts[target]))
    return bytes(text), references


def _meaning(symbol: Symbol) -> str:
    """The name, but for constants of the function, whose names are numbered: their bytes."""
    if symbol.name.startswith(".LCPI") and symbol.section is not None:
        return bytes(symbol.section.data[symbol.value : symbol.value + max(8, symbol.section.entry_size)]).hex()
    return symbol.label


@pytest.mark.parametrize("name", PLAIN)
def test_same_machine_code_whether_or_not_the_neighbour_is_differentiated(name: str, tmp_path: Path) -> None:
    alone = built(tmp_path / "alone", PLAIN[name], 'mode="none"')
    beside = built(tmp_path / "beside", PLAIN[name], 'mode="both", order=2')
    assert len(beside.symbols) > len(alone.symbols)
    assert code(alone, "k.plain") == code(beside, "k.plain")
    assert len(code(alone, "k.plain")[0]) > 10


def test_the_comparison_sees_another_function(tmp_path: Path) -> None:
    one = built(tmp_path / "one", PLAIN["loop"], 'mode="none"')
    two = built(tmp_path / "two", PLAIN["loop"].replace("1.0)", "2.0 * s)"), 'mode="none"')
    assert code(one, "k.plain") != code(two, "k.plain")
