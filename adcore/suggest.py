"""The one typo suggester: option names, option values, parameters, TOML keys, rule names and command lines all use it.

It gives one suggestion or none: a bad guess costs more trust than silence. In this order: a known other name; equal
but for case and `-`, `_`, spaces; the same words in another order; an edit distance (insert, delete, replace, swap of
neighbours; a change of case counts half) of at most a third of the length; a prefix that fits one candidate only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_SEPARATORS = re.compile(r"[-_ ]")
_WORDS = re.compile(r"[-_ ]|(?<=[a-z0-9])(?=[A-Z])")
_SHORTEST_PREFIX = 3
_SHORTEST_STEM = 4
_LONGEST_WORD = 200


def suggest(word: str, allowed: Iterable[str], aliases: Mapping[str, str] | None = None) -> str | None:
    """The one name of `allowed` that `word` very likely means, or None. `aliases` maps other names to allowed ones."""
    names = list(dict.fromkeys(allowed))
    if not word or len(word) > _LONGEST_WORD or word in names:
        return None
    plain = _plain(word)
    known = {_plain(alias): name for alias, name in (aliases or {}).items()}
    if known.get(plain) in names:
        return known[plain]
    for rule in (_same_but_for_form, _same_words, _nearest, _by_prefix):
        if (found := rule(word, names)) is not None:
            return found
    return None


def _plain(word: str) -> str:
    return _SEPARATORS.sub("", word).lower()


def _words(word: str) -> list[str]:
    return sorted(part.lower() for part in _WORDS.split(word))


def _same_but_for_form(word: str, names: list[str]) -> str | None:
    return _only([name for name in names if _plain(name) == _plain(word)])


def _same_words(word: str, names: list[str]) -> str | None:
    words = _words(word)
    return _only([name for name in names if len(words) > 1 and _words(name) == words])


def _nearest(word: str, names: list[str]) -> str | None:
    ranked = []
    for name in names:
        limit = max(len(word), len(name)) / 3
        if abs(len(word) - len(name)) <= limit and (distance := _distance(word, name)) <= limit:
            ranked.append((distance, abs(len(word) - len(name)), name))
    ranked.sort()
    if len(ranked) > 1 and ranked[0][:2] == ranked[1][:2]:
        return None  # two equally near names: either would be a guess
    return ranked[0][2] if ranked else None


def _by_prefix(word: str, names: list[str]) -> str | None:
    plain = _plain(word)
    if len(plain) < _SHORTEST_PREFIX:
        return None
    return _only([name for name in names if _plain(name).startswith(plain) or _is_stem(_plain(name), plain)])


def _is_stem(name: str, word: str) -> bool:
    return len(name) >= _SHORTEST_STEM and word.startswith(name)


def _only(found: list[str]) -> str | None:
    return found[0] if len(found) == 1 else None


def _distance(a: str, b: str) -> float:
    """Optimal string alignment distance; a change of case costs 0.5, every other edit 1."""
    before: list[float] = []
    row = [float(j) for j in range(len(b) + 1)]
    for i, x in enumerate(a, 1):
        older, before, row = before, row, [float(i)]
        for j, y in enumerate(b, 1):
            change = 0.0 if x == y else 0.5 if x.lower() == y.lower() else 1.0
            best = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + change)
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                best = min(best, older[j - 2] + 1)
            row.append(best)
    return row[-1]
