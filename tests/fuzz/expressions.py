"""Random scalar expressions: one small function a construct, weighted in tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from fuzz import tables
from fuzz.scope import LIMIT, MIN_LENGTH, Expr, Writer, number

Rule: TypeAlias = Callable[[Writer, int], "Expr | None"]
Table: TypeAlias = Sequence[tuple[float, Rule]]


def pick(w: Writer, table: Table, depth: int) -> Expr:
    """A rule by weight; one that does not apply here gives None and another is tried."""
    while True:
        made = w.rng.choices([rule for _, rule in table], [weight for weight, _ in table])[0](w, depth)
        if made is not None:
            return made


def fit(w: Writer, e: Expr, low: float, high: float) -> Expr:
    """Bring a float (or an array's elements) between bounds: scaled where its own are known, else squashed. Wild programs sometimes do not."""
    if (low <= e.low and e.high <= high) or (w.wild and w.chance(0.1)):
        return e
    low, high = max(low, -30.0), min(high, 30.0)
    if e.low == e.high and e.kind == "float":
        value = round(w.rng.uniform(low, high), 2)
        return Expr(f"({value})" if value < 0 else repr(value), "float", value, value)
    library = "np" if e.kind == "vec" else w.rng.choice(["math", "np"])
    middle, half = (low + high) / 2, (high - low) / 2 * 0.95
    extent = max(abs(e.low), abs(e.high))
    choice = w.rng.random()
    if extent < 1e3 and choice < 0.45:
        inner, unit = e.text, half / max(extent, 0.1)
    elif choice < 0.7:
        inner, unit = f"{library}.sin({e.text})", half
    elif choice < 0.85:
        inner, unit = f"({e.text} / (1.0 + abs({e.text})))", half
    else:
        inner, unit = f"{library}.tanh({e.text})", half
    text = f"{number(max(unit, 0.001))} * {inner}"
    if abs(middle) > 1e-6:
        text = f"{number(middle)} + {text}" if w.chance(0.6) else f"{text} + {number(middle)}"
    return Expr(f"({text})", e.kind, low, high, e.size)


def floating(w: Writer, depth: int, low: float = -LIMIT, high: float = LIMIT) -> Expr:
    return fit(w, pick(w, FLOATS if depth > 0 else FLOAT_LEAVES, depth), low, high)


def integer(w: Writer, depth: int) -> Expr:
    return pick(w, INTS if depth > 0 else INT_LEAVES, depth)


def boolean(w: Writer, depth: int) -> Expr:
    return pick(w, BOOLS if depth > 0 else BOOLS[:3], depth)


# Floats


def float_constant(w: Writer, depth: int) -> Expr:
    value = w.rng.choice([0.5, 1.0, 2.0, -1.0, 0.25, 1.5, -0.75, 3.0, round(w.rng.uniform(-3, 3), 2)])
    return Expr(f"({value})" if value < 0 else repr(value), "float", value, value)


def float_name(w: Writer, depth: int) -> Expr | None:
    names = w.of_kind("float", certain=not w.chance(0.04))
    return w.get(w.rng.choice(names)) if names else None


def element(w: Writer, depth: int) -> Expr | None:
    names = [n for n in w.of_kind("vec") if w.get(n).size != "0"]
    if not names:
        return None
    array = w.get(w.rng.choice(names))
    return Expr(f"{array.text}[{index(w, array, depth)}]", "float", array.low, array.high)


def index(w: Writer, array: Expr, depth: int) -> str:
    """An index that is in range; in wild programs, one that may not be."""
    least = shortest(array.size)
    if w.wild and w.chance(0.15):
        return integer(w, 1).text
    ints = [e for e in (w.get(n) for n in w.of_kind("int")) if e.low >= 0 and fits(e, array.size)]
    if ints and w.chance(0.75):
        e = w.rng.choice(ints)
        if w.chance(0.3):
            return f"{e.text} - {array_length(w, array)}" if w.chance(0.3) else f"-1 - {e.text}"
        return f"{e.text} - 1" if w.chance(0.2) else e.text
    if w.chance(0.15):
        return f"{integer(w, 1).text} % len({array.text})"
    return str(w.rng.choice([k for k in (0, 1, -1, 2, -2, -3) if -least <= k < least] or [0]))


def array_length(w: Writer, array: Expr) -> str:
    return w.rng.choice([f"len({array.text})", f"{array.text}.shape[0]", f"{array.text}.size"])


def shortest(size: str) -> int:
    """The least length that a size stands for."""
    if size.startswith("n"):
        return MIN_LENGTH + int(size[1:] or 0)
    return int(size) if size.isdigit() else 1


def fits(e: Expr, size: str) -> bool:
    if e.high < shortest(size):
        return True
    return e.below is not None and size.startswith("n") and e.below <= int(size[1:] or 0)


def sum_of_two(w: Writer, depth: int) -> Expr:
    a, b = floating(w, depth - 1), (floating if w.chance(0.8) else integer)(w, depth - 1)
    if w.chance(0.5):
        return Expr(f"({a.text} + {b.text})", "float", a.low + b.low, a.high + b.high)
    return Expr(f"({a.text} - {b.text})", "float", a.low - b.high, a.high - b.low)


def both_ways(w: Writer, depth: int) -> Expr:
    """A difference and its opposite: they are not one value."""
    a, b = floating(w, min(depth - 1, 1)), floating(w, min(depth - 1, 1))
    forms = ["(({0} - {1}) * math.cos({1} - {0}))", "(({0} - {1}) + 0.5 * ({1} - {0}))"]
    form = w.rng.choice([*forms, "np.arctan2({0} - {1}, 2.0 + ({1} - {0}) ** 2)"])
    extent = a.high - a.low + b.high - b.low
    return Expr(form.format(a.text, b.text), "float", -extent, extent)


def product(w: Writer, depth: int) -> Expr:
    a, b = floating(w, depth - 1), (floating if w.chance(0.85) else integer)(w, depth - 1)
    corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return Expr(f"({a.text} * {b.text})", "float", min(corners), max(corners))


def quotient(w: Writer, depth: int) -> Expr:
    a = (floating if w.chance(0.85) else integer)(w, depth - 1)
    b = floating(w, depth - 1, *w.rng.choice([(0.5, 4.0), (-4.0, -0.5)]))
    symbol = w.rng.choices(["/", "%", "//"], [6, 2, 1])[0]
    extent = max(abs(a.low), abs(a.high)) * 2 + 1 if symbol != "%" else 4.0
    return Expr(f"({a.text} {symbol} {b.text})", "float", -extent, extent)


def power(w: Writer, depth: int) -> Expr:
    choice = w.rng.random()
    if choice < 0.5:
        a, n = floating(w, depth - 1, -2.0, 2.0), w.rng.choice([2, 2, 3, 4, 5, 0, 1])
        return Expr(f"({a.text} ** {n})", "float", -(2.0**n), 2.0**n)
    a = floating(w, depth - 1, 0.3, 2.5)
    if choice < 0.6:
        return Expr(f"({a.text} ** -{w.rng.choice([1, 2, 3, 7])})", "float", -30, 30)
    if choice < 0.75:
        return Expr(f"({a.text} ** {w.rng.choice([0.5, 1.5, -0.5, 2.5])})", "float", -10, 10)
    b = floating(w, depth - 1, -2.0, 2.0)
    form = w.rng.choice(["({} ** {})", "pow({}, {})", "math.pow({}, {})", "np.power({}, {})"])
    return Expr(form.format(a.text, b.text), "float", 0.0, 12.0)


def negative(w: Writer, depth: int) -> Expr:
    a = floating(w, depth - 1)
    if w.chance(0.4):
        return Expr(f"abs({a.text})", "float", 0.0, max(abs(a.low), abs(a.high)))
    return Expr(f"(-{a.text})", "float", -a.high, -a.low)


def function(w: Writer, depth: int) -> Expr:
    library, rows = w.rng.choice([("math", tables.MATH), ("np", tables.NUMPY)])
    name = w.rng.choice(sorted(rows))
    row = rows[name]
    a = floating(w, depth - 1, row.low, row.high)
    try:
        low, high = row.bounds(max(a.low, row.low), min(a.high, row.high))
    except (ValueError, OverflowError):
        low, high = -9.0, 9.0
    return Expr(f"{library}.{name}({a.text})", "float", low, high)


def function_of_two(w: Writer, depth: int) -> Expr:
    library, rows = w.rng.choice([("math", tables.PAIRS), ("np", tables.NUMPY_PAIRS)])
    name = w.rng.choice(sorted(rows))
    b_low, b_high, low, high = rows[name]
    a, b = floating(w, depth - 1), floating(w, depth - 1, b_low, b_high)
    return Expr(f"{library}.{name}({a.text}, {b.text})", "float", low, high)


def extremum(w: Writer, depth: int) -> Expr:
    args = [floating(w, depth - 1) for _ in range(w.rng.choice([2, 2, 3]))]
    name = w.rng.choice(["max", "min"])
    return Expr(f"{name}({', '.join(a.text for a in args)})", "float", min(a.low for a in args), max(a.high for a in args))  # fmt: skip


def conditional(w: Writer, depth: int) -> Expr:
    c, a, b = boolean(w, depth - 1), floating(w, depth - 1), floating(w, depth - 1)
    form = "({1} if {0} else {2})" if w.chance(0.7) else "float(np.where({0}, {1}, {2}))"
    return Expr(form.format(c.text, a.text, b.text), "float", min(a.low, b.low), max(a.high, b.high))


def from_integer(w: Writer, depth: int) -> Expr:
    e = integer(w, depth - 1) if w.chance(0.7) else boolean(w, depth - 1)
    form = w.rng.choice(["float({})", "(1.0 * {})", "({} + 0.5)", "({} / 2)"])
    return Expr(form.format(e.text), "float", min(e.low, 0.0), e.high + 1)


def step(w: Writer, depth: int) -> Expr:
    form = w.rng.choice(["math.floor({})", "math.ceil({})", "math.trunc({})", "round({})", "int({})", "bool({})"])
    a = floating(w, depth - 1, -9.0, 9.0)
    return Expr(f"float({form.format(a.text)})", "float", a.low - 1, a.high + 1)


def tuple_sum(w: Writer, depth: int) -> Expr:
    args = [floating(w, depth - 1) for _ in range(w.rng.choice([2, 3]))]
    return Expr(f"sum(({', '.join(a.text for a in args)}))", "float", sum(a.low for a in args), sum(a.high for a in args))  # fmt: skip


def call(w: Writer, depth: int) -> Expr | None:
    """A helper with one float result."""
    from fuzz.vectors import argument  # the two kinds of expression contain each other

    able = [h for h in w.helpers if h.results == ["float"] and not h.writes]
    if not able:
        return None
    h = w.rng.choice(able)
    given = len(h.params) - (w.rng.randint(0, h.optional) if h.optional else 0)
    args = [argument(w, kind, depth - 1) for kind in h.params[:given]]
    return Expr(f"{h.name}({', '.join(args)})", "float", -LIMIT, LIMIT)


def reduction(w: Writer, depth: int) -> Expr | None:
    from fuzz.vectors import reduced

    return reduced(w, depth - 1)


def union(w: Writer, depth: int) -> Expr | None:
    from fuzz.unions import used

    return used(w, depth)


FLOAT_LEAVES: Table = [(2, float_constant), (6, float_name), (5, element)]
FLOATS: Table = [
    *FLOAT_LEAVES, (5, sum_of_two), (0.5, both_ways), (6, product), (3, quotient), (2.5, power), (1.5, negative), (5, function), (1.5, function_of_two),
    (1.2, extremum), (1.5, conditional), (0.8, from_integer), (0.4, step), (0.4, tuple_sum), (2, call), (2.5, reduction), (2, union),
]  # fmt: skip


# Integers and conditions


def int_constant(w: Writer, depth: int) -> Expr:
    value = w.rng.choice([0, 1, 2, 3, -1, 5])
    return Expr(f"({value})" if value < 0 else str(value), "int", value, value)


def int_name(w: Writer, depth: int) -> Expr | None:
    names = w.of_kind("int")
    return w.get(w.rng.choice(names)) if names else None


def length(w: Writer, depth: int) -> Expr | None:
    names = w.of_kind("vec")
    return Expr(array_length(w, w.get(w.rng.choice(names))), "int", 0, 7) if names else None


def int_arithmetic(w: Writer, depth: int) -> Expr:
    a, b = integer(w, depth - 1), integer(w, depth - 1)
    symbol = w.rng.choice("++-*")
    corners = {"+": (a.low + b.low, a.high + b.high), "-": (a.low - b.high, a.high - b.low)}
    products = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    low, high = corners.get(symbol, (min(products), max(products)))
    return Expr(f"({a.text} {symbol} {b.text})", "int", low, high) if max(-low, high) < 1e4 else a


def int_division(w: Writer, depth: int) -> Expr:
    a, d = integer(w, depth - 1), w.rng.choice([2, 3, 4, -2, -3])
    divisor = f"({d})" if d < 0 else str(d)
    if w.chance(0.5):
        return Expr(f"({a.text} % {divisor})", "int", min(d + 1, 0), max(d - 1, 0))
    bound = max(abs(a.low), abs(a.high))
    return Expr(f"({a.text} // {divisor})", "int", -bound, bound)


def int_extremum(w: Writer, depth: int) -> Expr:
    a, b = integer(w, depth - 1), integer(w, depth - 1)
    form = w.rng.choice(["max({}, {})", "min({}, {})", "({0} if {0} < {1} else {1})", "abs({} - {})"])
    bound = max(abs(a.low) + abs(b.low), abs(a.high) + abs(b.high))
    return Expr(form.format(a.text, b.text), "int", -bound if form[0] != "a" else 0, bound)


def int_of_bool(w: Writer, depth: int) -> Expr:
    return Expr(f"int({boolean(w, depth - 1).text})", "int", 0, 1)


def int_of_float(w: Writer, depth: int) -> Expr:
    form = w.rng.choice(["int({})", "math.floor({})", "round({})"])
    return Expr(form.format(floating(w, depth - 1, -5.0, 5.0).text), "int", -6, 6)


INT_LEAVES: Table = [(3, int_constant), (6, int_name), (1, length)]
INTS: Table = [
    *INT_LEAVES, (4, int_arithmetic), (1.5, int_division), (0.7, int_extremum), (0.4, int_of_bool), (0.5, int_of_float),
]  # fmt: skip


def comparison(w: Writer, depth: int) -> Expr:
    kind = floating if w.chance(0.7) else integer
    a, b = kind(w, depth - 1), kind(w, depth - 1)
    return Expr(f"({a.text} {w.rng.choice(tables.COMPARISONS[:4])} {b.text})", "bool", 0, 1)


def int_comparison(w: Writer, depth: int) -> Expr:
    a, b = integer(w, depth - 1), integer(w, depth - 1)
    return Expr(f"({a.text} {w.rng.choice(tables.COMPARISONS)} {b.text})", "bool", 0, 1)


def near_the_end(w: Writer, depth: int) -> Expr | None:
    """``i - 1 < n - 2``: what the range of a loop decides, or just does not."""
    ints, vectors = w.of_kind("int"), w.of_kind("vec")
    if not ints or not vectors:
        return None
    offset = w.rng.choice([" - 1", " - 2", " + 1", ""])
    end = w.rng.choice(["", " - 1", " - 2", " - 3", " + 1"])
    size = array_length(w, w.get(w.rng.choice(vectors)))
    return Expr(f"({w.rng.choice(ints)}{offset} {w.rng.choice(tables.COMPARISONS[:4])} {size}{end})", "bool", 0, 1)


def bool_name(w: Writer, depth: int) -> Expr | None:
    names = w.of_kind("bool")
    return w.get(w.rng.choice(names)) if names else None


def chained(w: Writer, depth: int) -> Expr:
    a, b, c = (floating(w, depth - 1) for _ in range(3))
    return Expr(f"({a.text} < {b.text} <= {c.text})", "bool", 0, 1)


def junction(w: Writer, depth: int) -> Expr:
    a, b = boolean(w, depth - 1), boolean(w, depth - 1)
    return Expr(f"({a.text} {w.rng.choice(['and', 'or'])} {b.text})", "bool", 0, 1)


def negation(w: Writer, depth: int) -> Expr:
    return Expr(f"(not {boolean(w, depth - 1).text})", "bool", 0, 1)


def classified(w: Writer, depth: int) -> Expr:
    form = w.rng.choice(["math.isfinite({})", "math.isnan({})", "np.isfinite({})", "math.isinf({})"])
    return Expr(form.format(floating(w, depth - 1).text), "bool", 0, 1)


BOOLS: Table = [
    (5, comparison), (2, int_comparison), (2, bool_name), (1.2, near_the_end), (0.7, chained), (1.5, junction), (0.7, negation), (0.4, classified),
]  # fmt: skip
