"""Which rules a lint step shows: `--select` and `--ignore`, by name, code or category.

Invariants: an unknown word is a mistake with a suggestion, never an empty choice; what keeps adcore from looking at a file is shown whatever is
selected, unless it is ignored by name.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from adcore.rules import RULES
from adcore.suggest import suggest

ALL = "all"
_NEEDED = frozenset(("syntax/invalid", "config/syntax", "config/missing-file", "compiler/crash", "compiler/internal"))


class UnknownRule(Exception):
    """A word that names no rule; `suggestion` may be what was meant."""

    def __init__(self, word: str, suggestion: str | None) -> None:
        super().__init__(word)
        self.word = word
        self.suggestion = suggestion


@dataclass(frozen=True, slots=True)
class Selection:
    """The rules that are shown, by name."""

    shown: frozenset[str]
    given_up: frozenset[str] = frozenset()
    """What would be shown, had nothing been selected."""

    @property
    def has_notes(self) -> bool:
        """Whether it has rules that are not reported unless they are asked for."""
        return any(not RULES[name].by_default for name in self.shown)


DEFAULT = Selection(frozenset(name for name, rule in RULES.items() if rule.by_default))


def selection(select: Iterable[str] = (), ignore: Iterable[str] = ()) -> Selection:
    """From the words of `--select` (none: what is on by default) and `--ignore`. Raises `UnknownRule`."""
    words, ignored = list(select), frozenset(name for word in ignore for name in rules_of(word))
    if not words:
        return Selection(DEFAULT.shown - ignored)
    shown = frozenset(name for word in words for name in rules_of(word)) | _NEEDED
    return Selection(shown - ignored, DEFAULT.shown - shown - ignored)


def rules_of(word: str) -> frozenset[str]:
    """The rules that a name, a code, a category or `all` stands for. Raises `UnknownRule`."""
    if word == ALL:
        return frozenset(RULES)
    found = frozenset(rule.name for rule in RULES.values() if word in (rule.name, rule.code, rule.category))
    if not found:
        categories = {rule.category for rule in RULES.values()}
        raise UnknownRule(word, suggest(word, [*RULES, *(r.code for r in RULES.values()), *sorted(categories), ALL]))
    return found
