"""What one option is, and the check of one value against it: the same for every place where options are written.

A place (`Surface`) decides how names and values are spelled and under which category (`options/*`, `config/*`) mistakes
are reported. A check returns the value that the option takes, or `BAD` after reporting why not; it never converts
silently.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, Literal

from adcore.diagnostics import Report
from adcore.edits import Fix, fix, replace
from adcore.option_entries import Entry, Value, quote_like
from adcore.suggest import suggest

Kind = Literal["choice", "bool", "parameters", "checkpoint", "flags", "patterns", "functions", "folder"]
"""The grammars of values; `expected` in the option says the same to people."""

Place = Literal["decorator", "project", "function", "environment", "settings"]
"""Where an option may stand: a decorator, `[tool.adcore]`, a table of one function, `ADCORE_*`, the command line."""

Scope = Literal["function", "project", "both"]

Parameter = tuple[str, str]
"""A parameter's name and kind: "int" and "bool" (and arrays of them) have no derivative; other words are not judged."""


LiteralOf = Callable[[str], str | None]
"""The text of the literal that a name of the module stands for."""


class Bad(Enum):
    BAD = 0


BAD: Final = Bad.BAD
"""The result of a check that reported something."""


@dataclass(frozen=True, slots=True)
class Option:
    """One row of the schema."""

    name: str
    """As Python spells it."""
    kind: Kind
    default: object
    help: str
    scope: Scope
    places: tuple[Place, ...]
    allowed: tuple[str | int, ...] = ()
    """The values of a choice."""
    local: tuple[str, ...] = ()
    """Those of them that hold for one machine and have no place in a project's file."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """What other tools call it, and which tool."""
    value_aliases: Mapping[str, str] = field(default_factory=dict)
    """Other words for its values."""
    elsewhere: str = ""
    """Why it cannot be set at the places that are not in `places`."""

    @property
    def kebab(self) -> str:
        """As TOML and command lines spell it."""
        return self.name.replace("_", "-")

    @property
    def env(self) -> str:
        """As the environment spells it."""
        return f"ADCORE_{self.name.upper()}"


@dataclass(frozen=True, slots=True)
class Surface:
    """How one place spells things. `place` is how messages name it."""

    where: Place
    place: str
    language: Literal["python", "toml", "text"]

    @property
    def category(self) -> str:
        return "options" if self.language == "python" else "config"

    def name(self, option: Option) -> str:
        if self.where == "environment":
            return option.env
        return option.name if self.language == "python" else option.kebab

    def spell(self, value: object) -> str:
        """A value as it is written here."""
        match value:
            case bool():
                return str(value) if self.language == "python" else str(value).lower()
            case None:
                return {"python": "None", "toml": '"none"', "text": "none"}[self.language]
            case str():
                return value if self.language == "text" else f'"{value}"'
        return str(value)


FLAGS: Final = ("nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc", "fast")
"""LLVM's fast-math flags."""

_TRUE, _FALSE = ("true", "1", "yes", "on"), ("false", "0", "no", "off")
_PATTERN = re.compile(r"[\w.*?\[\]!-]+")
_MOST_LISTED = 12


@dataclass(frozen=True, slots=True)
class ValueCheck:
    """Checks the value of one entry at one surface. `parameters` is None where the function is not known yet."""

    option: Option
    entry: Entry
    surface: Surface
    report: Report
    parameters: Sequence[Parameter] | None = None
    literal_of: LiteralOf | None = None

    def run(self) -> object | Bad:
        value = self.entry.value
        if not value.literal:
            return self.not_literal(value)
        if self.surface.language == "text":
            value = self.from_text(value)
        match self.option.kind:
            case "choice":
                return self.choice(value)
            case "bool":
                return value.value if isinstance(value.value, bool) else self.wrong_type(value, self.bools())
            case "parameters":
                return self.names(value)
            case "checkpoint":
                return self.checkpoint(value)
            case "flags":
                return self.flags(value)
            case "patterns":
                return self.patterns(value)
            case "functions":
                return value.value if isinstance(value.value, dict) else self.wrong_type(value, "a table for functions")
            case "folder":
                return self.folder(value)

    # Reports

    def not_literal(self, value: Value) -> Bad:
        literal = self.literal_of(value.text) if self.literal_of is not None else None
        fixes = fix(f"Write `{literal}`, its value", replace(value.span, literal)) if literal is not None else ()
        shown = value.shown.strip("`")
        self.report.add("options/not-literal", value.span, fixes=fixes, name=self.entry.name, value=shown)
        return BAD

    def wrong_type(self, value: Value, expected: str, suggestion: str | None = None) -> Bad:
        if suggestion is None:
            suggestion = self.same_value(value)
        rule = f"{self.surface.category}/wrong-type"
        self.report.add(rule, value.span, suggestion, name=self.entry.name, expected=expected, value=value.shown)
        return BAD

    def unknown_value(self, value: Value, allowed: Iterable[object], expected: str) -> Bad:
        """Report a value of the right type; `allowed` is what may be suggested, `expected` what is listed otherwise."""
        words = [word for word in allowed if isinstance(word, str)]
        near = suggest(str(value.value), words, self.option.value_aliases) if isinstance(value.value, str) else None
        remedy = f"it takes {expected}" if near is None else f"did you mean `{self.surface.spell(near)}`?"
        suggestion = None if near is None else quote_like(value.text, near)
        rule = f"{self.surface.category}/unknown-value"
        self.report.add(rule, value.span, suggestion, value=value.shown, name=self.entry.name, remedy=remedy)
        return BAD

    # Values

    def choice(self, value: Value) -> object | Bad:
        allowed: tuple[str | int, ...] = self.option.allowed
        if self.surface.language == "toml":
            allowed = tuple(choice for choice in allowed if choice not in self.option.local)
            if value.value in self.option.local:
                fixes = self.portable(value)
                self.report.add("config/not-portable", value.span, fixes=fixes, name=self.entry.name, value=value.text)
                return BAD
        expected = self.listed(allowed)
        if type(value.value) is not type(allowed[0]):
            return self.wrong_type(value, expected)
        return value.value if value.value in allowed else self.unknown_value(value, allowed, expected)

    def checkpoint(self, value: Value) -> object | Bad:
        expected = f"{self.listed((None, 'sqrt'))} or a positive integer".replace(" or ", ", ", 1)
        none = None if self.surface.language == "python" else "none"
        match value.value:
            case bool():
                return self.wrong_type(value, expected)
            case None | "none" if value.value == none:
                return None
            case "sqrt":
                return "sqrt"
            case int() as steps if steps > 0:
                return steps
            case "none":
                return self.wrong_type(value, expected, "None")
            case str() | int():
                return self.unknown_value(value, ("sqrt",) if none is None else ("sqrt", none), expected)
        return self.wrong_type(value, expected)

    def folder(self, value: Value) -> object | Bad:
        expected = "the absolute path of a folder"
        if not isinstance(value.value, str):
            return self.wrong_type(value, expected)
        return value.value if os.path.isabs(value.value) else self.unknown_value(value, (), expected)

    def flags(self, value: Value) -> object | Bad:
        if isinstance(value.value, bool):
            return value.value
        expected = f"{self.bools()} or {self.several()} of LLVM's flags".replace(" or ", ", ", 1)
        if not isinstance(value.value, tuple):
            return self.wrong_type(value, expected, self.as_sequence(value, FLAGS))
        good = [self.flag(item) for item in value.items]
        return BAD if BAD in good else tuple(dict.fromkeys(good)) or False

    def flag(self, item: Value) -> object | Bad:
        if not item.literal:
            return self.not_literal(item)
        if not isinstance(item.value, str):
            return self.wrong_type(item, "names of LLVM's flags")
        return item.value if item.value in FLAGS else self.unknown_value(item, FLAGS, self.listed(FLAGS))

    def patterns(self, value: Value) -> object | Bad:
        expected = f'{self.several()} of module names, with `*` for any part (`["pkg.models.*"]`)'
        if not isinstance(value.value, tuple):
            words = [value.value] if isinstance(value.value, str) else []
            return self.wrong_type(value, expected, self.as_sequence(value, words))
        good = [self.pattern(item, expected) for item in value.items]
        return BAD if BAD in good else tuple(good)

    def pattern(self, item: Value, expected: str) -> object | Bad:
        if not isinstance(item.value, str):
            return self.wrong_type(item, expected)
        return item.value if _PATTERN.fullmatch(item.value) else self.unknown_value(item, (), expected)

    def names(self, value: Value) -> object | Bad:
        expected = f"a parameter's name or {self.several()} of names"
        if isinstance(value.value, str):
            return self.parameter(value, expected)
        if not isinstance(value.value, tuple):
            meant = self.by_number(value) or self.as_sequence(value, self.parameter_names())
            return self.wrong_type(value, expected, meant)
        if not value.items:
            return self.wrong_type(value, expected)
        good = [self.parameter(item, "names of parameters") for item in value.items]
        seen: dict[object, Value] = {}
        for name, item in zip(good, value.items, strict=True):
            if name is not BAD and seen.setdefault(name, item) is not item:
                related = [(seen[name].span, "first here")]
                rule, fixes = f"{self.surface.category}/duplicate", self.without(item)
                self.report.add(rule, item.span, None, related, fixes=fixes, subject=f"`{name}`")
                return BAD
        return BAD if BAD in good else tuple(good)

    def parameter(self, value: Value, expected: str) -> object | Bad:
        if not value.literal:
            return self.not_literal(value)
        if not isinstance(value.value, str):
            return self.wrong_type(value, expected, self.by_number(value))
        if self.parameters is None:
            return value.value
        kinds = dict(self.parameters)
        if (kind := kinds.get(value.value)) in ("int", "bool"):
            words = {"int": "an integer", "bool": "a bool"}[kind]
            rule, fixes = f"{self.surface.category}/integer-parameter", self.without(value) or self.without_option()
            self.report.add(rule, value.span, fixes=fixes, value=value.value, kind=words)
            return BAD
        return value.value if value.value in kinds else self.unknown_parameter(value, value.value)

    def unknown_parameter(self, value: Value, name: str) -> Bad:
        names = self.parameter_names()
        near = suggest(name, names)
        suggestion = None if near is None or near in self.other_words(value) else quote_like(value.text, near)
        parts = [part for part in re.split(r"[\s,]+", name) if part]
        if value is self.entry.value and len(parts) > 1 and set(parts) <= set(names):
            suggestion = self.sequence(parts)
        match names:
            case []:
                remedy = "it has no parameters"
            case [only]:
                remedy = f"its only parameter is `{only}`"
            case _:
                remedy = f"its parameters are {enumerate_names(names)}"
        shown = value.shown.strip("`\"'")
        rule = f"{self.surface.category}/unknown-parameter"
        fixes: tuple[Fix, ...] = ()
        if suggestion is None and value is self.entry.value and len(self.active_names()) == 1:
            only = quote_like(value.text, self.active_names()[0])
            fixes = fix(f"Write `{only}`, the only one that can be meant", replace(value.span, only), preferred=False)
        self.report.add(rule, value.span, suggestion, fixes=fixes, value=shown, remedy=remedy)
        return BAD

    # Fixes

    def without(self, item: Value) -> tuple[Fix, ...]:
        """Delete an item of several."""
        edits = self.entry.without_item(item)
        return fix(f"Delete `{item.text}`", *edits) if edits else ()

    def without_option(self) -> tuple[Fix, ...]:
        """Leave `wrt` to its default, if there is a parameter for that."""
        title = f"Delete `{self.entry.text}`: every float parameter counts"
        return fix(title, self.entry.removal, preferred=False) if self.active_names() else ()

    def portable(self, value: Value) -> tuple[Fix, ...]:
        """The values that hold for every machine of a kind, and the default."""
        levels = [word for word in self.option.allowed if word not in self.option.local and word != self.option.default]
        words = [quote_like(value.text, str(word)) for word in levels]
        made = [fix(f"Write `{word}`", replace(value.span, word), preferred=False) for word in words]
        default = fix(f"Delete `{self.entry.text}`: {self.option.default}", self.entry.removal, preferred=False)
        return (*(one for several in made for one in several), *default)

    def active_names(self) -> list[str]:
        return [name for name, kind in self.parameters or () if kind not in ("int", "bool")]

    # Spelling

    def listed(self, values: Iterable[object]) -> str:
        words = [f"`{self.surface.spell(value)}`" for value in values]
        return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))

    def bools(self) -> str:
        return self.listed((True, False))

    def several(self) -> str:
        return {"python": "a tuple", "toml": "an array", "text": "a comma-separated list"}[self.surface.language]

    def sequence(self, words: Sequence[str]) -> str:
        inner = ", ".join(f'"{word}"' for word in words)
        if self.surface.language == "toml":
            return f"[{inner}]"
        return f"({inner},)" if len(words) == 1 else f"({inner})"

    def parameter_names(self) -> list[str]:
        return [name for name, _ in self.parameters or ()]

    def same_value(self, value: Value) -> str | None:
        """The allowed value that a value of the wrong type spells (`"true"`, `2.0`, `None`), as it is written here."""
        word = str(value.value).lower() if isinstance(value.value, str | bool | float | None) else ""
        candidates: dict[str, object] = {}
        match self.option.kind:
            case "choice":
                candidates = {str(allowed): allowed for allowed in self.option.allowed}
                candidates |= {f"{allowed}.0": allowed for allowed in self.option.allowed}
            case "bool" | "flags" if isinstance(value.value, str):
                candidates = {**dict.fromkeys(_TRUE, True), **dict.fromkeys(_FALSE, False)}
        return self.surface.spell(candidates[word]) if word in candidates else None

    def as_sequence(self, value: Value, known: Iterable[str]) -> str | None:
        """What a list or a single word would be as a sequence of this language, if all of its words are known."""
        words = value.value if isinstance(value.value, list) else [value.value]
        known = set(known)
        if not words or not all(isinstance(word, str) and word in known for word in words):
            return None
        return self.sequence([str(word) for word in words])

    def other_words(self, value: Value) -> tuple[object, ...]:
        """What stands in the sequence that `value` is a part of: none of it may be written a second time."""
        words = self.entry.value.value
        return words if isinstance(words, tuple) and value is not self.entry.value else ()

    def by_number(self, value: Value) -> str | None:
        """The name of the parameter whose index was given instead, as in JAX's `argnums`."""
        names = self.parameter_names()
        if type(value.value) is int and 0 <= value.value < len(names):
            return self.surface.spell(names[value.value])
        return None

    def from_text(self, value: Value) -> Value:
        """The value that plain text stands for under this option; text that stands for none stays a string."""
        text = value.text.strip()
        result: object = text
        if self.option.kind in ("bool", "flags") and text.lower() in (*_TRUE, *_FALSE):
            result = text.lower() in _TRUE
        elif self.option.kind in ("flags", "patterns", "parameters"):
            words = [word.strip() for word in text.split(",") if word.strip()]
            items = tuple(Value(word, value.span, word) for word in words)
            return Value(tuple(words), value.span, text, items)
        elif self.option.kind == "checkpoint" or isinstance(self.option.default, int):
            result = int(text) if re.fullmatch(r"[+-]?[0-9]{1,18}", text) else text
        return Value(result, value.span, value.text)


def enumerate_names(names: Sequence[str]) -> str:
    """Names for a sentence: "`a`, `b` and `c`", cut after twelve."""
    if len(names) == 1:
        return f"`{names[0]}`"
    shown = [f"`{name}`" for name in names[:_MOST_LISTED]]
    if len(names) > _MOST_LISTED:
        return f"{', '.join(shown)} and {len(names) - _MOST_LISTED} more"
    return f"{', '.join(shown[:-1])} and {shown[-1]}"
