"""Names of changing type: None or a float ("opt"), an int or a float ("num"), a float or an array ("any"). Made, changed, tested, used."""

from __future__ import annotations

from fuzz.expressions import boolean, floating, integer
from fuzz.scope import LIMIT, Expr, Writer
from fuzz.vectors import vector

KINDS = ("opt", "num", "any")


def item(w: Writer, kind: str, depth: int = 2) -> str:
    """Something that a name of this kind may be: of either type."""
    if w.chance(0.6):
        return floating(w, depth).text
    match kind:
        case "opt":
            return "None"
        case "num":
            return integer(w, 1).text + " % 5"
        case _:
            return vector(w, 1).text


def begin(w: Writer, nesting: int) -> bool:
    """A name of a kind, of one type here or of a type that a condition chooses."""
    kind = w.rng.choice(KINDS)
    name = w.fresh_name(kind)
    first = {"opt": "None", "num": integer(w, 1).text + " % 5", "any": vector(w, 1).text}[kind]
    other = floating(w, 2).text
    able = [h for h in w.helpers if h.results == [kind]]
    choice = w.rng.random()
    if able and choice < 0.5:
        h = w.rng.choice(able)
        w.line(f"{name} = {h.name}({', '.join(floating(w, 1).text for _ in h.params)})")
    elif choice < 0.6:
        w.line(f"{name} = {first if w.chance(0.7) else other}")
    elif choice < 0.8:
        w.line(f"{name} = {first} if {boolean(w, 2).text} else {other}")
    else:
        w.line(f"if {boolean(w, 2).text}:")
        w.line(f"    {name} = {first}")
        w.line("else:")
        w.line(f"    {name} = {other}")
    w.names[name] = Expr(name, kind)
    return True


def change(w: Writer, nesting: int) -> bool:
    names = [n for kind in KINDS for n in w.of_kind(kind, assignable=True)]
    if not names:
        return False
    name = w.rng.choice(names)
    kind = w.names[name].kind
    choice = w.rng.random()
    if kind == "opt" and choice < 0.5:
        e = floating(w, 2).text
        w.line(f"if {name} is None or {e} {w.rng.choice('<>')} {name}:")
        w.line(f"    {name} = {e}")
    elif choice < 0.7:
        w.line(f"if {boolean(w, 2).text}:")
        w.line(f"    {name} = {item(w, kind)}")
    elif kind == "num" and choice < 0.9:
        w.line(f"{name} = {name} * 0.5" if w.chance(0.5) else f"{name} = (0 - {name})")
    else:
        w.line(f"{name} = {item(w, kind)}")
    return True


def decide(w: Writer, nesting: int) -> bool:
    """A branch on the type, with the name of that type inside."""
    names, floats = [n for kind in KINDS for n in w.of_kind(kind)], w.of_kind("float", assignable=True)
    if not names or not floats:
        return False
    name, target = w.rng.choice(names), w.rng.choice(floats)
    match w.names[name].kind:
        case "opt":
            asked = w.rng.choice([f"{name} is not None", f"not ({name} is None)", f"isinstance({name}, float)"])
            known = name
        case "num":
            asked, known = w.rng.choice(
                [(f"isinstance({name}, int)", f"({name} // 2)"), (f"isinstance({name}, float)", name)]
            )
        case _:
            asked, known = f"isinstance({name}, float)", name
    w.line(f"if {asked}:")
    w.line(f"    {target} = 0.5 * {target} + {floating(w, 1, -1.0, 1.0).text} * {known}")
    if w.chance(0.5):
        w.line("else:")
        w.line(f"    {target} = {floating(w, 2).text}")
    return True


def used(w: Writer, depth: int) -> Expr | None:
    """A float of a name of changing type."""
    names = [n for kind in KINDS for n in w.of_kind(kind)]
    if not names:
        return None
    name = w.rng.choice(names)
    e = floating(w, min(depth - 1, 1))
    match w.names[name].kind:
        case "opt":
            forms = [
                "({e} if {n} is None else {n})",
                "({n} if {n} is not None else {e})",
                "({e} * {n} if {n} is not None else {e})",
            ]
            form = "({e} * {n})" if w.wild and w.chance(0.3) else w.rng.choice(forms)
        case "num":
            form = w.rng.choice(
                [
                    "({e} * {n})",
                    "({n} + {e})",
                    "({e} - {n} / 2)",
                    "(1.0 * abs({n}))",
                    "(0.1 * {n} ** 2)",
                    "max({n}, {e})",
                    "float({n} % 3)",
                ]
            )
        case _:
            form = w.rng.choice(
                ["np.sum({n})", "(0.3 * np.sum({n} * {e}))", "np.mean(np.sin({n}))", "np.max({n} + {e})"]
            )
    return Expr(form.format(n=name, e=e.text), "float", -3 * LIMIT, 3 * LIMIT)
