"""Names of changing type: made, changed (in loops too), tested, used. The first letter of such a name says its kind, for the features table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fuzz.expressions import boolean, floating, integer
from fuzz.scope import LIMIT, Expr, Writer
from fuzz.vectors import argument, vector


@dataclass(frozen=True, slots=True)
class Union:
    """``first``: a value of the type that is not the usual one; ``usual``: of that one; ``uses``: floats of name ``n`` and float ``e``."""

    describe: str
    first: Callable[[Writer], str]
    usual: Callable[[Writer, int], str]
    uses: tuple[str, ...]


def _float(w: Writer, depth: int) -> str:
    return floating(w, depth).text


def _none(w: Writer) -> str:
    return "None"


def _vector(w: Writer) -> str:
    return vector(w, 1).text


def _matrix(w: Writer) -> str:
    return f"np.outer({vector(w, 1).text}, {vector(w, 0).text})"


_ARRAY_USES = ("np.sum({n})", "(0.3 * np.sum({n} * {e}))", "np.mean(np.sin({n}))")
UNIONS: dict[str, Union] = {
    "opt": Union(
        "None or a float", _none, _float,
        ("({e} if {n} is None else {n})", "({n} if {n} is not None else {e})", "({e} * {n} if {n} is not None else {e})"),
    ),
    "num": Union(
        "an int or a float", lambda w: integer(w, 1).text + " % 5", _float,
        ("({e} * {n})", "({n} + {e})", "({e} - {n} / 2)", "(1.0 * abs({n}))", "(0.1 * {n} ** 2)", "max({n}, {e})", "float({n} % 3)"),
    ),
    "any": Union("a float or an array", _vector, _float, (*_ARRAY_USES, "np.max({n} + {e})")),
    "gone": Union(
        "None or an array", _none, lambda w, depth: vector(w, min(depth, 1)).text,
        ("({e} if {n} is None else np.sum({n}))", "(np.mean({n} * {e}) if {n} is not None else {e})", "(0.0 if {n} is None else {n}[0] * {e})"),
    ),
    "rank": Union("an array of one or two dimensions", _matrix, lambda w, depth: vector(w, min(depth, 1)).text, _ARRAY_USES),
}  # fmt: skip


def names_of(w: Writer, *, assignable: bool = False) -> list[str]:
    return [n for kind in UNIONS for n in w.of_kind(kind, assignable=assignable)]


def item(w: Writer, kind: str, depth: int = 2) -> str:
    """Something that a name of this kind may be: of either type."""
    return UNIONS[kind].usual(w, depth) if w.chance(0.6) else UNIONS[kind].first(w)


def begin(w: Writer, nesting: int) -> bool:
    """A name of a kind, of one type here or of a type that a condition chooses."""
    kind = w.rng.choice(sorted(UNIONS))
    row = UNIONS[kind]
    name = w.fresh_name(kind)
    first, usual = row.first(w), row.usual(w, 2)
    able = [h for h in w.helpers if h.results == [kind]]
    choice = w.rng.random()
    if able and choice < 0.5:
        h = w.rng.choice(able)
        w.line(f"{name} = {h.name}({', '.join(argument(w, k, 1) for k in h.params)})")
    elif choice < 0.6:
        w.line(f"{name} = {first if w.chance(0.7) else usual}")
    elif choice < 0.8:
        w.line(f"{name} = {first} if {boolean(w, 2).text} else {usual}")
    else:
        w.line(f"if {boolean(w, 2).text}:")
        w.line(f"    {name} = {first}")
        w.line("else:")
        w.line(f"    {name} = {usual}")
    w.names[name] = Expr(name, kind)
    return True


def change(w: Writer, nesting: int) -> bool:
    names = names_of(w, assignable=True)
    if not names:
        return False
    name = w.rng.choice(names)
    kind = w.names[name].kind
    usual, choice = UNIONS[kind].usual(w, 2), w.rng.random()
    if kind == "opt" and choice < 0.5:
        w.line(f"if {name} is None or {usual} {w.rng.choice('<>')} {name}:")
        w.line(f"    {name} = {usual}")
    elif kind == "gone" and choice < 0.5:
        w.line(f"{name} = {usual} if {name} is None else 0.5 * {name}")
    elif kind == "num" and choice < 0.4:
        w.line(f"{name} = {name} * 0.5" if w.chance(0.5) else f"{name} = (0 - {name})")
    elif kind == "rank" and choice < 0.4:
        w.line(f"{name} = 0.5 * {name}")
    elif choice < 0.8:
        w.line(f"if {boolean(w, 2).text}:")
        w.line(f"    {name} = {item(w, kind)}")
    else:
        w.line(f"{name} = {item(w, kind)}")
    return True


def decide(w: Writer, nesting: int) -> bool:
    """A branch on the type, with the name of that type inside."""
    names, floats = names_of(w), w.of_kind("float", assignable=True)
    if not names or not floats:
        return False
    name, target = w.rng.choice(names), w.rng.choice(floats)
    asked, known = w.rng.choice({
        "opt": [(f"{name} is not None", name), (f"not ({name} is None)", name), (f"isinstance({name}, float)", name)],
        "num": [(f"isinstance({name}, int)", f"({name} // 2)"), (f"isinstance({name}, float)", name)],
        "any": [(f"isinstance({name}, float)", name), (f"not isinstance({name}, float)", f"np.mean({name})")],
        "gone": [(f"{name} is not None", f"np.mean({name})"), (f"{name} is not None", f"np.sin(np.sum({name}))")],
        "rank": [(f"{name}.ndim == 2", f"np.mean({name})"), (f"{name}.ndim == 1", f"{name}[0]"), (f"isinstance({name}, np.ndarray)", f"np.mean({name})")],
    }[w.names[name].kind])  # fmt: skip
    w.line(f"if {asked}:")
    w.line(f"    {target} = 0.5 * {target} + {floating(w, 1, -1.0, 1.0).text} * {known}")
    if w.chance(0.5):
        w.line("else:")
        w.line(f"    {target} = {floating(w, 2).text}")
    return True


def used(w: Writer, depth: int) -> Expr | None:
    """A float of a name of changing type."""
    names = names_of(w)
    if not names:
        return None
    name = w.rng.choice(names)
    e = floating(w, min(depth - 1, 1))
    row = UNIONS[w.names[name].kind]
    form = "({e} * {n})" if row is UNIONS["opt"] and w.wild and w.chance(0.3) else w.rng.choice(row.uses)
    return Expr(form.format(n=name, e=e.text), "float", -3 * LIMIT, 3 * LIMIT)
