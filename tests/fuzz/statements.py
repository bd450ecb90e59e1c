"""Random statements: assignments, stores, branches, loops, exits, calls. One small function a construct, weighted in one table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from fuzz import unions
from fuzz.expressions import boolean, element, fit, floating, index, integer, shortest
from fuzz.scope import LIMIT, Expr, Writer
from fuzz.vectors import argument, vector

Statement: TypeAlias = Callable[[Writer, int], bool]  # False: it does not apply here
DEPTH = 3  # of expressions
NESTING = 3  # of blocks


def block(w: Writer, nesting: int, most: int = 4, reserve: int = 0) -> None:
    """Up to ``most`` statements, at least one; ``reserve`` keeps some of the budget for what follows."""
    w.indent += 1
    for _ in range(w.rng.randint(1, most)):
        if w.budget <= reserve and w.lines and not w.lines[-1].endswith(":"):
            break
        statement(w, nesting)
    w.indent -= 1


def statement(w: Writer, nesting: int) -> None:
    w.budget -= 1
    table = SIMPLE + (COMPOUND if nesting > 0 and w.budget > 0 else []) + (EXITS if w.loops else [])
    while True:
        if w.rng.choices([s for _, s in table], [p for p, _ in table])[0](w, nesting):
            return


def bind(w: Writer, name: str, e: Expr) -> None:
    w.names[name] = replace(e, text=name, certain=True)


def scoped(w: Writer, write: Callable[[], None]) -> dict[str, Expr]:
    """Write a block; the names are then as before, and those after the block are returned."""
    before = dict(w.names)
    write()
    after, w.names = w.names, before
    return after


def maybe(w: Writer, after: dict[str, Expr]) -> None:
    """Names that a block may have bound."""
    for name, e in after.items():
        if name not in w.names:
            w.names[name] = replace(e, certain=False)


# Assignments


def assign_float(w: Writer, nesting: int) -> bool:
    old = w.of_kind("float", assignable=True, certain=False)
    name = w.rng.choice(old) if old and w.chance(0.5) else w.fresh_name("float")
    e = floating(w, DEPTH)
    if w.chance(0.05) and name not in w.names:
        w.line(f"{name} = 0")  # an int that becomes a float
        bind(w, name, Expr(name, "float"))
        w.line(f"{name} = {name} + {e.text}")
        return True
    if w.chance(0.04):
        other = w.fresh_name("float")
        w.line(f"{name} = {other} = {e.text}")
        bind(w, other, Expr(other, "float"))
    else:
        w.line(f"{name} = {e.text}")
    bind(w, name, Expr(name, "float"))
    return True


def augment_float(w: Writer, nesting: int) -> bool:
    names = w.of_kind("float", assignable=True)
    if not names:
        return False
    name, choice = w.rng.choice(names), w.rng.random()
    inside = bool(w.loops)
    if choice < 0.5:
        w.line(f"{name} {w.rng.choice(['+=', '+=', '-='])} {floating(w, DEPTH, -1.0, 1.0).text}")
    elif choice < 0.7:
        w.line(f"{name} *= {floating(w, DEPTH, -1.0 if inside else -2.0, 1.0 if inside else 2.0).text}")
    elif choice < 0.8:
        w.line(f"{name} /= {floating(w, DEPTH - 1, 0.8, 3.0).text}")
    elif choice < 0.9:
        w.line(f"{name} = 0.5 * {name} + {floating(w, DEPTH, -2.0, 2.0).text}")
    else:
        w.line(f"{name} **= 2" if not inside else f"{name} %= 3.5")
    return True


def assign_int(w: Writer, nesting: int) -> bool:
    old = w.of_kind("int", assignable=True)
    e = integer(w, 2)
    if old and w.chance(0.5):
        name = w.rng.choice(old)
        forms = [f"{name} = ({e.text}) % 7"] * 2 + [f"{name} = 3 - {name}", f"{name} = 2 * {name} % 7"]
        forms.append(f"{name} += {w.rng.choice([1, 2, -1])}")
        w.line(w.rng.choice(forms))
    else:
        name = w.fresh_name("int")
        w.line(f"{name} = {e.text}" if abs(e.low) + abs(e.high) < 40 else f"{name} = {e.text} % 7")
    bind(w, name, Expr(name, "int", -20, 20))
    return True


def weigh(w: Writer, nesting: int) -> bool:
    """A term whose slope needs an integer that the loop changes."""
    ints, floats = w.of_kind("int", assignable=True), w.of_kind("float", assignable=True)
    if not w.loops or not ints or not floats:
        return False
    name = w.rng.choice(floats)
    w.line(f"{name} = 0.5 * {name} + 0.05 * {w.rng.choice(ints)} * {floating(w, 1, -1.0, 1.0).text}")
    return True


def assign_bool(w: Writer, nesting: int) -> bool:
    name = w.fresh_name("bool")
    w.line(f"{name} = {boolean(w, DEPTH).text}")
    bind(w, name, Expr(name, "bool", 0, 1))
    return True


def swap(w: Writer, nesting: int) -> bool:
    names = w.of_kind("float", assignable=True)
    if len(names) < 2:
        return False
    a, b = w.rng.sample(names, 2)
    e = floating(w, 2)
    w.line(f"{a}, {b} = {b}, {w.rng.choice([a, e.text, f'0.5 * ({a} + {b})'])}")
    return True


def assign_vector(w: Writer, nesting: int) -> bool:
    old = [n for n in w.of_kind("vec", assignable=True) if not w.loops or w.names[n].fresh]
    if old and w.chance(0.35):
        name = w.rng.choice(old)
        was = w.names[name]
        e = vector(w, 2, was.size)
        if e.size != was.size:
            return False
        fresh = was.fresh
        w.line(f"{name} = {e.text}.copy()" if fresh and not e.fresh else f"{name} = {e.text}")
        bind(w, name, replace(was, low=-LIMIT, high=LIMIT, fresh=fresh))
        return True
    name, e = w.fresh_name("vec"), vector(w, 2)
    fresh = e.fresh or w.chance(0.7)
    form = "{}" if e.fresh or not fresh else w.rng.choice(["{}.copy()", "1.0 * {}", "np.sin({})"])
    w.line(f"{name} = {form.format(e.text)}")
    bind(w, name, Expr(name, "vec", size=e.size, fresh=fresh))
    return True


# Arrays in place


def store(w: Writer, nesting: int) -> bool:
    names = [n for n in w.writable() if shortest(w.get(n).size) > 0]
    if not names:
        return False
    a = w.get(w.rng.choice(names))
    target = f"{a.text}[{index(w, a, 1)}]"
    choice = w.rng.random()
    if choice < 0.5:
        w.line(f"{target} = {floating(w, DEPTH).text}")
    elif choice < 0.8:
        w.line(f"{target} {w.rng.choice(['+=', '-='])} {floating(w, DEPTH, -1.0, 1.0).text}")
    else:
        w.line(f"{target} *= {floating(w, DEPTH, -1.0, 1.0).text}")
    return True


def store_and_use(w: Writer, nesting: int) -> bool:
    """What is written is read at once, through a function whose slope needs its value: the next iteration overwrites it."""
    names = [n for n in w.writable() if shortest(w.get(n).size) > 0]
    floats = w.of_kind("float", assignable=True)
    if not names or not floats:
        return False
    a, total = w.get(w.rng.choice(names)), w.rng.choice(floats)
    place = index(w, a, 1)
    w.line(f"{a.text}[{place}] {w.rng.choice(['=', '=', '+=', '*='])} {floating(w, 2, -1.0, 1.0).text}")
    read = f"{a.text}[{place if w.chance(0.6) else index(w, a, 1)}]"
    forms = ["math.sin({})", "{0} * {0}", "np.cos({})", "{} * math.tanh({})"]
    used = w.rng.choice(forms).format(read, total)
    if w.chance(0.25):
        used = w.rng.choice(["np.mean(np.sin({}))", "np.dot({0}, {0})", "np.mean({0} * {0})"]).format(a.text)
    w.line(f"{total} = 0.5 * {total} + 0.5 * {used}")
    return True


def store_slice(w: Writer, nesting: int) -> bool:
    names = [n for n in w.writable() if w.get(n).size.startswith("n")]
    if not names:
        return False
    a = w.get(w.rng.choice(names))
    off = int(a.size[1:] or 0)
    if off < -1:
        return False
    text, size = w.rng.choice([("1:", off - 1), (":-1", off - 1), (":", off), ("::-1", off), ("1:-1", off - 2)])
    key = f"n{size}" if size else "n"
    if w.chance(0.35):
        # of the same array: what is read must be read before it is written
        other = w.rng.choice([t for t, s in (("1:", off - 1), (":-1", off - 1), (":", off), ("::-1", off), ("1:-1", off - 2)) if s == size])  # fmt: skip
        e = Expr(f"({a.text}[{other}] * {floating(w, 1, -1.0, 1.0).text})", "vec", size=key)
        e = replace(e, text=f"{a.text}[{other}]") if w.chance(0.3) else e
    else:
        e = vector(w, 2, key) if w.chance(0.7) else floating(w, 2)
    if e.kind == "vec" and e.size not in (key, "1"):
        return False
    symbol = w.rng.choices(["=", "+=", "-=", "*="], [5, 2, 1, 1])[0]
    if symbol != "=":
        e = fit(w, e, -1.0, 1.0)
    w.line(f"{a.text}[{text}] {symbol} {e.text}")
    return True


def augment_vector(w: Writer, nesting: int) -> bool:
    names = w.writable()
    if not names:
        return False
    a = w.get(w.rng.choice(names))
    e = vector(w, 2, a.size, -1.0, 1.0) if w.chance(0.6) else floating(w, 2, -1.0, 1.0)
    if e.kind == "vec" and e.size != a.size:
        return False
    w.line(f"{a.text} {w.rng.choice(['+=', '-=', '*='])} {e.text}")
    return True


def alias(w: Writer, nesting: int) -> bool:
    names = [n for n in w.writable() if w.get(n).size.startswith("n")]
    if not names or w.loops:
        return False
    a = w.get(w.rng.choice(names))
    off, name = int(a.size[1:] or 0), w.fresh_name("vec")
    text, size = w.rng.choice([("", off), ("[1:]", off - 1), ("[:-1]", off - 1), ("[::-1]", off)])
    if size < -2:
        return False
    w.line(f"{name} = {a.text}{text}")
    bind(w, name, replace(a, size=f"n{size}" if size else "n"))
    return True


def swap_arrays(w: Writer, nesting: int) -> bool:
    names = [n for n in w.writable() if n not in w.frozen]
    pairs = [(a, b) for a in names for b in names if a < b and w.get(a).size == w.get(b).size]
    if not pairs:
        return False
    a, b = w.rng.choice(pairs)
    w.line(f"{a}, {b} = {b}, {a}")
    return True


# Calls


def call_several(w: Writer, nesting: int) -> bool:
    able = [h for h in w.helpers if len(h.results) > 1]
    if not able:
        return False
    h = w.rng.choice(able)
    args = [argument(w, kind, 2) for kind in h.params]
    names = [w.fresh_name(kind) for kind in h.results]
    w.line(f"{', '.join(names)} = {h.name}({', '.join(args)})")
    for name, kind in zip(names, h.results, strict=True):
        bind(w, name, Expr(name, kind))
    return True


def call_procedure(w: Writer, nesting: int) -> bool:
    able = [h for h in w.helpers if h.writes]
    names = [n for n in w.writable() if w.get(n).size.startswith("n")]
    if not able or not names:
        return False
    h = w.rng.choice(able)
    args = [w.rng.choice(names), *(argument(w, kind, 2) for kind in h.params[1:])]
    w.line(f"{h.name}({', '.join(args)})")
    return True


# Branches


def branch(w: Writer, nesting: int) -> bool:
    w.line(f"if {boolean(w, DEPTH - 1).text}:")
    arms = [scoped(w, lambda: block(w, nesting - 1))]
    while w.chance(0.25) and len(arms) < 3:
        w.line(f"elif {boolean(w, DEPTH - 1).text}:")
        arms.append(scoped(w, lambda: block(w, nesting - 1)))
    complete = w.chance(0.55)
    if complete:
        w.line("else:")
        arms.append(scoped(w, lambda: block(w, nesting - 1)))
    for arm in arms:
        maybe(w, arm)
    return True


def bind_in_both_arms(w: Writer, nesting: int) -> bool:
    """``if c: y = a else: y = b``, of floats or of arrays of one size."""
    condition = boolean(w, DEPTH - 1).text
    name = w.fresh_name("float")
    a, b = floating(w, DEPTH), floating(w, DEPTH)
    w.line(f"if {condition}:")
    w.line(f"    {name} = {a.text}")
    w.line("else:")
    w.line(f"    {name} = {b.text}" if w.chance(0.8) else f"    {name} = {integer(w, 1).text}")
    bind(w, name, Expr(name, "float"))
    return True


def check(w: Writer, nesting: int) -> bool:
    if w.rng.random() < (0.7 if w.wild else 0.2):
        w.line(f"if {boolean(w, 2).text}:")
        w.line(f"    raise {w.rng.choice(['ValueError', 'RuntimeError', 'ArithmeticError'])}('no')")
    else:
        w.line(f"assert {floating(w, 1).text} < 50.0")
    return True


def early_return(w: Writer, nesting: int) -> bool:
    if w.returns != "float":
        return False
    w.line(f"if {boolean(w, 2).text}:")
    w.line(f"    return {floating(w, 2).text}")
    return True


# Exits of loops


def leave(w: Writer, nesting: int) -> bool:
    word = w.rng.choice(["break", "break", "continue"])
    if word == "continue" and w.loops[-1] == "while":
        word = "break"
    w.line(f"if {boolean(w, 2).text}:")
    if w.chance(0.4):
        w.indent += 1
        w.rng.choice([augment_float, store, assign_float])(w, 0)
        w.indent -= 1
    w.line(f"    {word}")
    return True


def last_element(w: Writer, nesting: int) -> bool:
    """Keep an element under a name of its own, seen after the loop too."""
    names = w.of_kind("float", assignable=True)
    e = element(w, 1)
    if e is None or not names:
        return False
    w.line(f"{w.rng.choice(names)} = {e.text}")
    return True


SIMPLE: list[tuple[float, Statement]] = [
    (5, assign_float), (5, augment_float), (1.5, assign_int), (0.8, weigh), (0.6, assign_bool), (0.8, swap), (3, assign_vector), (3, store),
    (1.2, store_and_use),
    (2, store_slice), (1.5, augment_vector), (0.6, alias), (0.5, swap_arrays), (0.9, call_several), (0.9, call_procedure), (0.5, last_element),
    (0.9, unions.begin), (1.5, unions.change), (1, unions.decide),
]  # fmt: skip
EXITS: list[tuple[float, Statement]] = [(0.9, leave), (0.35, early_return)]
COMPOUND: list[tuple[float, Statement]] = [(2, branch), (1, bind_in_both_arms), (0.25, check), (0.3, early_return)]


def _compounds() -> Sequence[tuple[float, Statement]]:
    from fuzz.loops import LOOPS

    return LOOPS


def add_loops() -> None:
    """Loops hold statements, and statements loops."""
    if all(s is not known for _, s in _compounds()[:1] for _, known in COMPOUND):
        COMPOUND.extend(_compounds())
