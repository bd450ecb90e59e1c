"""What the generator knows while it writes a program: typed expressions with rough bounds, the names in scope, the text so far.

Bounds are a habit, not a proof: they keep most programs numerically tame, so that their gradients can be compared. Sizes are names of
lengths ("n", "n-1", "half", "3"): arrays of one name have one length.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

LIMIT = 4.0  # what variables are kept within
LETTERS = {
    "float": "f",
    "int": "k",
    "bool": "b",
    "vec": "y",
    "opt": "o",
    "num": "g",
    "any": "e",
    "gone": "c",
    "rank": "d",
}  # of names by kind
MIN_LENGTH = 3  # of vector arguments, in programs that are not wild


@dataclass(frozen=True, slots=True)
class Expr:
    """``low <= value <= high`` for numbers and elements; ``below``: an int is less than n + below."""

    text: str
    kind: str  # float, int, bool, vec; those of ``unions``
    low: float = -LIMIT
    high: float = LIMIT
    size: str = ""
    below: int | None = None
    certain: bool = True  # a name that every path has bound
    fresh: bool = False  # an array made in the function: it may be written

    def named(self, name: str) -> Expr:
        return replace(self, text=name)


@dataclass(slots=True)
class Helper:
    """A function of the module: parameter kinds, result kinds, whether it writes its first parameter."""

    name: str
    params: list[str]
    results: list[str]
    writes: bool = False
    optional: int = 0  # trailing parameters with defaults


@dataclass(slots=True)
class Writer:
    """One program being written. ``wild`` programs may leave domains, index out of range and divide by zero."""

    rng: random.Random
    wild: bool = False
    lines: list[str] = field(default_factory=list)
    indent: int = 1
    names: dict[str, Expr] = field(default_factory=dict)
    frozen: set[str] = field(default_factory=set)  # loop variables: nobody assigns them
    helpers: list[Helper] = field(default_factory=list)
    constants: dict[str, Expr] = field(default_factory=dict)
    loops: list[str] = field(default_factory=list)  # kinds of the enclosing loops
    budget: int = 14  # statements left
    count: int = 0
    returns: str = "float"

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def fresh_name(self, kind: str) -> str:
        self.count += 1
        return LETTERS[kind] + str(self.count)

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def of_kind(self, kind: str, *, assignable: bool = False, certain: bool = True) -> list[str]:
        """Names in scope; module constants only where nothing is assigned."""
        found = [
            n
            for n, e in self.names.items()
            if e.kind == kind and (e.certain or not certain) and not (assignable and n in self.frozen)
        ]
        if not assignable:
            found += [n for n, e in self.constants.items() if e.kind == kind]
        return found

    def get(self, name: str) -> Expr:
        return (self.names.get(name) or self.constants[name]).named(name)

    def writable(self) -> list[str]:
        return [n for n, e in self.names.items() if e.kind == "vec" and e.fresh and e.certain]


def number(value: float) -> str:
    return repr(round(value, 3))
