"""A whole program: module constants, helper functions, one differentiated function ``f``, and arguments to call it with."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np

from fuzz import unions
from fuzz.expressions import boolean, floating
from fuzz.scope import LIMIT, MIN_LENGTH, Expr, Helper, Writer
from fuzz.statements import add_loops, block, statement
from fuzz.vectors import vector

add_loops()
HEADER = "import math\nimport numpy as np\nfrom adcore import autodiff\nfrom adcore.typing import Vector\n\n"
ANNOTATIONS = {"float": "float", "int": "int", "bool": "bool", "vec": "Vector"}
POINTS = 3
WILD = 0.12  # share of programs that may leave domains and bounds


@dataclass(frozen=True, slots=True)
class Program:
    """``text`` is a module that defines ``f``; ``calls`` are argument tuples; ``wrt`` the active parameters."""

    text: str
    calls: tuple[tuple[Any, ...], ...]
    wrt: tuple[int, ...]
    seed: int = 0


def program(seed: int) -> Program:
    rng = random.Random(seed)
    wild = rng.random() < WILD
    constants = module_constants(rng)
    helpers: list[Helper] = []
    text = HEADER + "".join(f"{name} = {value}\n" for name, (value, _) in constants.items())
    known = {name: e for name, (_, e) in constants.items()}
    for _ in range(rng.choice([0, 0, 1, 1, 2])):
        text += "\n\n" + helper(Writer(rng, wild, helpers=list(helpers), constants=known, budget=3), helpers)
    w = Writer(rng, wild, helpers=helpers, constants=known, budget=rng.choice([3, 5, 8, 12]))
    body, kinds, names = main(w)
    active = [k for k, kind in enumerate(kinds) if kind in ("float", "vec")]
    wrt = tuple(active if rng.random() < 0.6 else sorted(rng.sample(active, rng.randint(1, len(active)))))
    chosen = ", ".join(repr(names[k]) for k in wrt)
    order = ", order=2" if w.returns == "float" else ""
    text += f'\n\n@autodiff(mode="both"{order}, wrt=({chosen},))\n{body}'
    return Program(text, tuple(arguments(rng, kinds, wild) for _ in range(POINTS)), wrt, seed)


def module_constants(rng: random.Random) -> dict[str, tuple[str, Expr]]:
    found: dict[str, tuple[str, Expr]] = {}
    if rng.random() < 0.3:
        value = round(rng.uniform(-2, 2), 2)
        found["SCALE"] = (repr(value), Expr("SCALE", "float", value, value))
    if rng.random() < 0.2:
        found["COUNT"] = ("3", Expr("COUNT", "int", 3, 3))
    if rng.random() < 0.25:
        found["TABLE"] = ("np.array([0.5, -1.25, 2.0])", Expr("TABLE", "vec", -1.25, 2.0, "3"))
    return found


def helper(w: Writer, known: list[Helper]) -> str:
    """A helper function's text; it is added to the known ones."""
    name = f"h{len(known)}"
    form = w.rng.choice(["scalar", "scalar", "vector", "reduce", "several", "procedure", "recursive", "either"])
    if form == "recursive":
        return recursive(w, known)
    if form == "either":
        return either(w, known)
    kinds = {"scalar": ["float"] * w.rng.choice([1, 2, 3]), "vector": ["vec", "float"], "reduce": ["vec", "float"],
             "several": ["float", "vec"], "procedure": ["vec", "float", "int"][: w.rng.choice([1, 2, 3])]}[form]  # fmt: skip
    names = [f"p{k}" for k in range(len(kinds))]
    optional = 1 if form == "scalar" and len(kinds) > 1 and w.chance(0.4) else 0
    heads = [n if k < len(kinds) - optional else f"{n}=0.5" for k, n in enumerate(names)]
    for n, kind in zip(names, kinds, strict=True):
        w.names[n] = parameter(n, kind)
    results = {
        "scalar": ["float"],
        "vector": ["vec"],
        "reduce": ["float"],
        "several": ["float", "float"],
        "procedure": [],
    }[form]
    if form == "procedure":
        w.names["p0"] = Expr("p0", "vec", size="n", fresh=True)
    w.returns = results[0] if len(results) == 1 else "other"
    w.line(f"def {name}({', '.join(heads)}):")
    w.lines[-1] = w.lines[-1].strip()
    if w.chance(0.5) or form == "procedure":
        w.indent = 0
        block(w, 1 if form == "procedure" else 2, 2)
        w.indent = 1
    match form:
        case "vector":
            w.line(f"return {vector(w, 2, 'n').text}" if w.chance(0.9) else "return p0")
            if not same_length(w.lines[-1]):
                w.lines[-1] = "    return p0 * p1"
        case "several":
            w.line(f"return {floating(w, 2).text}, {floating(w, 2).text}")
        case "procedure":
            w.line(f"p0[{w.rng.choice([0, 1, -1])}] = {floating(w, 2).text}")
        case _:
            w.line(f"return {floating(w, 3).text}")
    known.append(Helper(name, kinds, results, form == "procedure", optional))
    return "\n".join(w.lines) + "\n"


def recursive(w: Writer, known: list[Helper]) -> str:
    """Calls itself a few times, with a vector handed down; a call that is never inlined."""
    name, takes_vector = f"h{len(known)}", w.chance(0.5)
    w.names["p0"] = parameter("p0", "float")
    vectors, handed = "", ""
    if takes_vector:
        w.names["p1"] = parameter("p1", "vec")
        vectors, handed = ", p1: Vector", w.rng.choice([", p1", ", p1", ", p1[::-1]", ", 0.5 * p1"])
    ends = floating(w, 2).text
    down = floating(w, 1).text
    w.names["inner"] = Expr("inner", "float")
    lines = [
        f"def {name}(p0: float, depth: int{vectors}) -> float:",
        "    if depth <= 0:",
        f"        return {ends}",
        f"    inner = {name}({down}, depth - 1{handed})",
        f"    return {floating(w, 2).text} + 0.5 * inner",
    ]
    known.append(Helper(name, ["float", "depth", *["vec"] * takes_vector], ["float"]))
    return "\n".join(lines) + "\n"


def either(w: Writer, known: list[Helper]) -> str:
    """Gives a value of one type or of another; None also by reaching its end."""
    name, kind = f"h{len(known)}", w.rng.choice(["opt", "opt", "num", "any", "gone"])
    params = ["float"] if kind in ("opt", "num") and w.chance(0.6) else ["float", "vec"]
    names = [f"p{k}" for k in range(len(params))]
    for n, k in zip(names, params, strict=True):
        w.names[n] = parameter(n, k)
    row = unions.UNIONS[kind]
    items = [unions.item(w, kind, 1), w.rng.choice([row.first(w), row.usual(w, 1)])]
    lines = [f"def {name}({', '.join(names)}):"]
    if "vec" in params and kind == "opt" and w.chance(0.5):  # found, or not
        w.names["v"] = Expr("v", "float", -2.0, 2.0)
        lines += [
            "    for v in p1:",
            f"        if v {w.rng.choice('<>')} p0:",
            f"            return {floating(w, 1).text}",
        ]
    else:
        lines += [f"    if {boolean(w, 1).text}:", f"        return {items[0]}"]
        if not (kind in ("opt", "gone") and items[1] == "None" and w.chance(0.5)):
            lines.append(f"    return {items[1]}")
    known.append(Helper(name, params, [kind]))
    return "\n".join(lines) + "\n"


def same_length(line: str) -> bool:
    """A vector helper gives an array of its first parameter's length: nothing in the result may cut it."""
    return not any(piece in line for piece in (":", "np.array", "TABLE", "concatenate", "y"))


def parameter(name: str, kind: str) -> Expr:
    match kind:
        case "vec":
            return Expr(name, "vec", -2.0, 2.0, "n")
        case "int":
            return Expr(name, "int", 0, 4)
        case "bool":
            return Expr(name, "bool", 0, 1)
        case _:
            return Expr(name, "float", -2.0, 2.0)


def main(w: Writer) -> tuple[str, list[str], list[str]]:
    """The text of ``f``, its parameters' kinds and names."""
    kinds = w.rng.choice([
        ["vec"], ["vec"], ["vec", "float"], ["vec", "vec"], ["float"], ["float", "float"], ["vec", "float", "int"], ["vec", "int"],
        ["float", "int", "bool"], ["vec", "vec", "float", "int"], ["vec", "float", "bool"],
    ])  # fmt: skip
    names = [{"vec": "x", "float": "a", "int": "m", "bool": "q"}[kind] + str(k) for k, kind in enumerate(kinds)]
    for name, kind in zip(names, kinds, strict=True):
        w.names[name] = parameter(name, kind)
    w.returns = w.rng.choice(["float"] * 8 + ["vec", "tuple"])
    if w.returns == "vec" and "vec" not in kinds:
        w.returns = "float"
    heads = ", ".join(f"{n}: {ANNOTATIONS[k]}" for n, k in zip(names, kinds, strict=True))
    result = {"float": "float", "vec": "Vector", "tuple": "tuple[float, float]"}[w.returns]
    w.lines.append(f"def f({heads}) -> {result}:")
    if w.chance(0.3):
        unions.begin(w, 0)  # what follows, loops too, may change it and ask for its type
    while w.budget > 0:
        statement(w, 3)
    w.line(f"return {outcome(w)}")
    return "\n".join(w.lines) + "\n", kinds, names


def outcome(w: Writer) -> str:
    """A result that most of what was computed reaches."""
    floats, vectors = w.of_kind("float"), [n for n in w.names if w.names[n].kind == "vec" and w.names[n].certain]
    if w.returns == "vec":
        x = w.get(w.rng.choice(vectors))
        return f"{x.text} * {floating(w, 2).text}" if w.chance(0.7) else vector(w, 2).text
    terms = [floating(w, 2).text, *(f"0.5 * {n}" for n in floats[-6:])]
    terms += [
        w.rng.choice([f"np.sum({n})", f"np.dot({n}, {n})", f"np.mean({n})", f"np.sum(np.sin({n}))"])
        for n in vectors[-4:]
    ]
    terms += [e.text for _ in unions.names_of(w)[:2] if (e := unions.used(w, 1)) is not None]
    total = " + ".join(terms)
    return f"{total}, {floating(w, 3).text}" if w.returns == "tuple" else total


def arguments(rng: random.Random, kinds: list[str], wild: bool) -> tuple[Any, ...]:
    n = rng.choice([MIN_LENGTH, 4, 5, 6])
    if wild and rng.random() < 0.4:
        n = rng.choice([0, 1, 2])
    return tuple(value(rng, kind, n) for kind in kinds)


def value(rng: random.Random, kind: str, n: int) -> Any:
    match kind:
        case "vec":
            return np.array([round(rng.uniform(-2, 2), 3) for _ in range(n)])
        case "int":
            return rng.choice([0, 1, 2, 3, 4])
        case "bool":
            return rng.random() < 0.5
        case _:
            return rng.choice([round(rng.uniform(-2, 2), 3)] * 9 + [0.0])


__all__ = ["LIMIT", "Program", "program"]
