"""Random loops: ``range`` in all its forms, over vectors, ``enumerate``, ``zip``, ``reversed``, tuples; ``while``; ``else``."""

from __future__ import annotations

from collections.abc import Sequence

from fuzz.expressions import array_length, boolean, floating
from fuzz.scope import Expr, Writer
from fuzz.statements import Statement, bind, block, maybe, scoped
from fuzz.vectors import vector


def sized(w: Writer) -> list[Expr]:
    return [a for a in (w.get(n) for n in w.of_kind("vec")) if a.size.startswith("n")]


def for_range(w: Writer, nesting: int) -> bool:
    name = w.fresh_name("int")
    arrays = sized(w)
    if arrays and w.chance(0.6):
        a = w.rng.choice(arrays)
        n, off = array_length(w, a), int(a.size[1:] or 0)
        header, low, below = w.rng.choice([
            (f"range({n})", 0, off), (f"range({n})", 0, off), (f"range(1, {n})", 1, off), (f"range({n} - 1)", 0, off - 1), (f"range({n} - 1, -1, -1)", 0, off),
            (f"range(0, {n}, 2)", 0, off), (f"range({n} - 1, 0, -2)", 1, off), (f"reversed(range({n}))", 0, off),
        ])  # fmt: skip
        loop(w, nesting, f"for {name} in {header}:", {name: Expr(name, "int", low, 6, below=below)})
        return True
    safe = str(w.rng.choice([1, 2, 3, 4]))
    ints = w.of_kind("int")
    if ints and w.chance(0.5):
        e = w.get(w.rng.choice(ints))
        safe = e.text if e.high <= 6 else f"{e.text} % 5"
    header, low, high = w.rng.choice([
        (f"range({safe})", 0, 5), (f"range({safe})", 0, 5), (f"range(1, {safe} + 1)", 1, 5), (f"range({safe}, -1, -1)", 0, 5), ("range(3, 0, -1)", 1, 3),
        ("range(0, 7, 3)", 0, 6), (f"range({safe}, 5, 2)", -20, 5), (f"range({safe}, 0, -2)", 1, 6),
    ])  # fmt: skip
    loop(w, nesting, f"for {name} in {header}:", {name: Expr(name, "int", low, high)})
    return True


def for_vector(w: Writer, nesting: int) -> bool:
    arrays = w.of_kind("vec")
    if not arrays:
        return False
    v, i, u = w.fresh_name("float"), w.fresh_name("int"), w.fresh_name("float")
    a = vector(w, 1)
    value = Expr(v, "float", a.low, a.high)
    form = w.rng.choice(["plain", "plain", "enumerate", "zip", "reversed", "tuple"])
    match form:
        case "plain":
            loop(w, nesting, f"for {v} in {a.text}:", {v: value})
        case "enumerate":
            below = int(a.size[1:] or 0) if a.size.startswith("n") else None
            loop(w, nesting, f"for {i}, {v} in enumerate({a.text}):", {i: Expr(i, "int", 0, 6, below=below), v: value})
        case "zip":
            b = vector(w, 1)
            loop(w, nesting, f"for {v}, {u} in zip({a.text}, {b.text}):", {v: value, u: Expr(u, "float", b.low, b.high)})  # fmt: skip
        case "reversed":
            loop(w, nesting, f"for {v} in reversed({a.text}):", {v: value})
        case _:
            items = [floating(w, 1) for _ in range(3)]
            loop(w, min(nesting, 1), f"for {v} in ({', '.join(e.text for e in items)}):", {v: Expr(v, "float")})
    return True


def loop(w: Writer, nesting: int, header: str, variables: dict[str, Expr], kind: str = "for") -> None:
    w.line(header)

    def body() -> None:
        for name, e in variables.items():
            bind(w, name, e)
        w.frozen |= set(variables)
        w.loops.append(kind)
        block(w, nesting - 1)
        w.loops.pop()

    after = scoped(w, body)
    w.frozen -= set(variables)
    if w.chance(0.07):
        w.line("else:")
        after = {**after, **scoped(w, lambda: block(w, 0, 2))}
    # a loop variable is whatever was last after the loop: no safe index
    for name, e in variables.items():
        after[name] = Expr(name, e.kind, -20, 20) if e.kind == "int" else e
    maybe(w, after)


def while_loop(w: Writer, nesting: int) -> bool:
    name, most = w.fresh_name("int"), w.rng.choice([2, 3, 4])
    w.line(f"{name} = 0")
    bind(w, name, Expr(name, "int", 0, most))
    w.frozen.add(name)
    endless = w.chance(0.3)
    extra = f" and {boolean(w, 2).text}" if w.chance(0.5) else ""
    w.line("while True:" if endless else f"while {name} < {most}{extra}:")

    def body() -> None:
        w.loops.append("while")
        if endless:
            w.line(f"    if {name} >= {most}{extra.replace(' and ', ' or ')}:")
            w.line("        break")
            w.line(f"    {name} += 1")
        block(w, nesting - 1)
        if not endless:
            w.line(f"    {name} += 1")
        w.loops.pop()

    maybe(w, scoped(w, body))
    w.frozen.discard(name)
    bind(w, name, Expr(name, "int", 0, most))
    return True


LOOPS: Sequence[tuple[float, Statement]] = [(4, for_range), (1.5, for_vector), (1, while_loop)]
