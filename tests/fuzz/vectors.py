"""Random vector expressions: arithmetic, elementwise functions, slices, creation, and reductions to floats."""

from __future__ import annotations

from fuzz import tables
from fuzz.expressions import Table, array_length, boolean, fit, floating, integer, pick
from fuzz.scope import LIMIT, Expr, Writer, number


def vector(w: Writer, depth: int, size: str | None = None, low: float = -LIMIT, high: float = LIMIT) -> Expr:
    """An array; of the given size if any can be made of it, else of another."""
    made = pick(w, VECTORS if depth > 0 else VECTORS[:1], depth)
    if size is not None and made.size != size:
        same = [n for n in w.of_kind("vec") if w.get(n).size == size]
        made = w.get(w.rng.choice(same)) if same and not (w.wild and w.chance(0.1)) else made
    return fit(w, made, low, high)


def argument(w: Writer, kind: str, depth: int) -> str:
    match kind:
        case "vec":
            return vector(w, min(depth, 1)).text
        case "int":
            return integer(w, depth).text
        case "depth":
            return w.rng.choice(["0", "1", "2", "3", f"{integer(w, 0).text} % 4"])
        case _:
            return floating(w, depth).text


def vector_name(w: Writer, depth: int) -> Expr:
    names = w.of_kind("vec")
    return w.get(w.rng.choice(names)) if names else created(w, 0)


def arithmetic(w: Writer, depth: int) -> Expr | None:
    a = vector(w, depth - 1)
    symbol = w.rng.choices(["+", "-", "*", "/", "%", "//"], [4, 4, 5, 2, 0.7, 0.5])[0]
    bounds = (0.5, 4.0) if symbol in "/%//" else (-LIMIT, LIMIT)
    b = vector(w, depth - 1, a.size, *bounds) if w.chance(0.55) else floating(w, depth - 1, *bounds)
    if b.kind == "vec" and b.size != a.size and "1" not in (a.size, b.size) and not w.wild:
        return None
    size = b.size if b.kind == "vec" and a.size == "1" else a.size
    extent = max(abs(a.low), abs(a.high)) * max(abs(b.low), abs(b.high), 2.0) + 4.0
    text = f"({b.text} {symbol} {a.text})" if symbol in "+-*" and w.chance(0.3) else f"({a.text} {symbol} {b.text})"
    return Expr(text, "vec", -extent, extent, size)


def power(w: Writer, depth: int) -> Expr:
    if w.chance(0.7):
        a, n = vector(w, depth - 1, None, -2.0, 2.0), w.rng.choice([2, 3, 4])
        return Expr(f"({a.text} ** {n})", "vec", -(2.0**n), 2.0**n, a.size)
    a, b = vector(w, depth - 1, None, 0.3, 2.5), floating(w, depth - 1, -2.0, 2.0)
    return Expr(f"({a.text} ** {b.text})", "vec", 0, 12, a.size)


def negative(w: Writer, depth: int) -> Expr:
    a = vector(w, depth - 1)
    return Expr(f"(-{a.text})", "vec", -a.high, -a.low, a.size)


def function(w: Writer, depth: int) -> Expr:
    name = w.rng.choice(sorted(tables.NUMPY))
    row = tables.NUMPY[name]
    a = vector(w, depth - 1, None, row.low, row.high)
    try:
        low, high = row.bounds(max(a.low, row.low), min(a.high, row.high))
    except (ValueError, OverflowError):
        low, high = -9.0, 9.0
    return Expr(f"np.{name}({a.text})", "vec", low, high, a.size)


def function_of_two(w: Writer, depth: int) -> Expr | None:
    name = w.rng.choice(sorted(tables.NUMPY_PAIRS))
    b_low, b_high, low, high = tables.NUMPY_PAIRS[name]
    a = vector(w, depth - 1)
    b = vector(w, depth - 1, a.size, b_low, b_high) if w.chance(0.5) else floating(w, depth - 1, b_low, b_high)
    if b.kind == "vec" and b.size != a.size:
        return None
    return Expr(f"np.{name}({a.text}, {b.text})", "vec", low, high, a.size)


def where(w: Writer, depth: int) -> Expr | None:
    a = vector(w, depth - 1)
    b = vector(w, depth - 1, a.size) if w.chance(0.5) else floating(w, depth - 1)
    if b.kind == "vec" and b.size != a.size:
        return None
    limit = floating(w, 0)
    symbol = w.rng.choice(tables.COMPARISONS[:4])
    pair = [a.text, b.text] if w.chance(0.5) else [b.text, a.text]
    return Expr(f"np.where({a.text} {symbol} {limit.text}, {', '.join(pair)})", "vec", min(a.low, b.low), max(a.high, b.high), a.size)  # fmt: skip


def clip(w: Writer, depth: int) -> Expr:
    a = vector(w, depth - 1)
    form = w.rng.choice(["np.clip({}, -1.0, 1.5)", "{}.clip(-1.0, 1.5)"])
    return Expr(form.format(a.text), "vec", -1.0, 1.5, a.size)


# text of the slice -> size of the result, given that of the array (shortened by k: n-k); None where it has no name
def slices(w: Writer, depth: int) -> Expr | None:
    names = [n for n in w.of_kind("vec") if w.get(n).size.startswith("n")]
    if not names:
        return None
    a = w.get(w.rng.choice(names))
    off = int(a.size[1:] or 0)
    shorter = f"n{off - 1}"
    forms = {
        "1:": shorter, ":-1": shorter, "::-1": a.size, ":": a.size, "0:": a.size, "1:-1": f"n{off - 2}", "2:": f"n{off - 2}", ":2": "2",
        "::2": f"half{off}", "-2:": "2" if off >= -1 else "?", "::-2": f"half{off}", ":-2": f"n{off - 2}",
    }  # fmt: skip
    text = w.rng.choice(sorted(forms))
    size = forms[text]
    if size == "?" or (size.startswith("n") and int(size[1:] or 0) < -2) or (size == "2" and off < -1):
        return None
    return Expr(f"{a.text}[{text}]", "vec", a.low, a.high, size)


def free_slice(w: Writer, depth: int) -> Expr | None:
    """Bounds from run-time integers, past the end too: a size that nothing else has."""
    names = w.of_kind("vec")
    if not names:
        return None
    a = w.get(w.rng.choice(names))
    low = integer(w, 1).text if w.chance(0.7) else ""
    high = integer(w, 1).text if w.chance(0.7) else ""
    w.count += 1
    return Expr(f"{a.text}[{low}:{high}{w.rng.choice(['', '', ':2', ':-1'])}]", "vec", a.low, a.high, f"free{w.count}")


def created(w: Writer, depth: int) -> Expr:
    arrays = [a for a in (w.get(n) for n in w.of_kind("vec")) if a.size.startswith("n")]
    if not arrays or w.chance(0.3):
        items = [floating(w, min(depth - 1, 1)) for _ in range(w.rng.choice([1, 2, 3]))]
        text = ", ".join(i.text for i in items)
        return Expr(f"np.array([{text}])", "vec", min(i.low for i in items), max(i.high for i in items), str(len(items)), fresh=True)  # fmt: skip
    a = w.rng.choice(arrays)
    n = array_length(w, a)
    forms = [
        (f"np.zeros({n})", 0.0, 0.0), (f"np.ones({n})", 1.0, 1.0), (f"np.full({n}, 0.5)", 0.5, 0.5), (f"{a.text}.copy()", a.low, a.high),
        (f"np.zeros_like({a.text})", 0.0, 0.0), (f"np.linspace(-1.0, 1.5, {n})", -1.0, 1.5), (f"(0.5 * np.arange({n}))", 0.0, 3.0),
        (f"np.full({n}, {floating(w, 0).text})", -LIMIT, LIMIT), (f"np.ones_like({a.text})", 1.0, 1.0),
    ]  # fmt: skip
    text, low, high = w.rng.choice(forms)
    return Expr(text, "vec", low, high, a.size, fresh=True)


# text -> the largest size of a result, for elements of size 1
REARRANGED = {
    "np.cumsum({})": 6.0, "np.flip({})": 1.0, "np.roll({}, 1)": 1.0, "np.einsum('i->i', {})": 1.0, "np.maximum.accumulate({})": 1.0,
    "np.add.accumulate({})": 6.0, "np.take({}, np.arange({n}) // 2)": 1.0, "np.pad({}, 1)[1:-1]": 1.0, "np.pad({}, 2, mode='edge')[:{n}]": 1.0,
    "np.interp({}, np.array([-4.0, 0.1, 4.0]), np.array([1.0, -2.0, 3.0]))": 3.0, "np.tile({}, 2)[{n}:]": 1.0, "np.repeat({}, 2)[::2]": 1.0,
}  # fmt: skip


def rearranged(w: Writer, depth: int) -> Expr | None:
    """Elements put elsewhere, or added up; of the same size."""
    names = w.of_kind("vec")
    if not names:
        return None
    a = w.get(w.rng.choice(names))
    text = w.rng.choice(sorted(REARRANGED))
    extent = max(abs(a.low), abs(a.high)) * REARRANGED[text] + 3.0
    return Expr(text.format(a.text, n=f"len({a.text})"), "vec", -extent, extent, a.size)


def joined(w: Writer, depth: int) -> Expr:
    a, b = vector(w, depth - 1), vector(w, depth - 1)
    w.count += 1
    return Expr(f"np.concatenate(({a.text}, {b.text}))", "vec", min(a.low, b.low), max(a.high, b.high), f"free{w.count}")  # fmt: skip


def chosen(w: Writer, depth: int) -> Expr | None:
    """A reference that depends on a condition."""
    a = vector(w, 0)
    b = vector(w, 0, a.size)
    if a.size != b.size:
        return None
    return Expr(f"({a.text} if {boolean(w, 1).text} else {b.text})", "vec", min(a.low, b.low), max(a.high, b.high), a.size)  # fmt: skip


def called(w: Writer, depth: int) -> Expr | None:
    able = [h for h in w.helpers if h.results == ["vec"]]
    if not able:
        return None
    h = w.rng.choice(able)
    first = vector(w, 0)
    rest = [argument(w, kind, depth - 1) for kind in h.params[1:]]
    return Expr(f"{h.name}({', '.join([first.text, *rest])})", "vec", -LIMIT, LIMIT, first.size)


VECTORS: Table = [
    (6, vector_name), (6, arithmetic), (1.5, power), (0.7, negative), (4, function), (1.2, function_of_two), (1.5, where), (0.4, clip),
    (2.5, slices), (0.4, free_slice), (1.5, created), (0.3, joined), (0.4, chosen), (1.5, called), (1.0, rearranged),
]  # fmt: skip


def reduced(w: Writer, depth: int) -> Expr | None:
    if not w.of_kind("vec"):
        return None
    name = w.rng.choices(["sum", "mean", "dot", "max", "min", "prod", "builtin", "var", "std", "matrices"], [5, 2, 4, 1, 1, 1, 1, 0.5, 0.5, 1])[0]  # fmt: skip
    a = vector(w, depth, None, -LIMIT, LIMIT)
    extent = max(abs(a.low), abs(a.high))
    match name:
        case "sum":
            return Expr(w.rng.choice([f"np.sum({a.text})", f"{a.text}.sum()"]), "float", -6 * extent, 6 * extent)
        case "mean":
            return Expr(w.rng.choice([f"np.mean({a.text})", f"{a.text}.mean()"]), "float", a.low, a.high)
        case "dot":
            b = vector(w, depth, a.size)
            if a.size != b.size and not w.wild:
                return None
            form = w.rng.choice(
                [
                    "np.dot({}, {})",
                    "({} @ {})",
                    "np.sum({} * {})",
                    "np.einsum('i,i', {}, {})",
                    "np.tensordot({}, {}, 1)",
                ]
            )
            return Expr(form.format(a.text, b.text), "float", -6 * extent * LIMIT, 6 * extent * LIMIT)
        case "max" | "min":
            if a.size.startswith("free") and not w.wild:
                return None
            return Expr(w.rng.choice([f"np.{name}({a.text})", f"{a.text}.{name}()"]), "float", a.low, a.high)
        case "prod":
            e = fit(w, a, -1.5, 1.5)
            return Expr(f"np.prod({e.text})", "float", -12.0, 12.0)
        case "matrices":
            b = vector(w, 0)
            form = w.rng.choice(
                ["np.outer({0}, {1}).T @ np.outer({0}, {1})", "np.outer({1}, {0}) @ np.outer({0}, {1})[:, ::-1]"]
            )
            return Expr(f"np.sum(np.tanh(0.1 * ({form.format(a.text, b.text)})))", "float", -40.0, 40.0)
        case "builtin":
            return Expr(f"sum({a.text})", "float", -6 * extent, 6 * extent)
        case _:
            return Expr(f"np.{name}({a.text} + np.linspace({number(0.0)}, 1.0, len({a.text})))", "float", 0.0, 9.0)
