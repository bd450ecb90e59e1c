"""The scanner against tomli: same keys and values where tomli accepts a text, places and recovery where it does not."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

import pytest
import tomli

from adcore.toml_spans import TomlNode, scan_toml

DOCUMENTS = [
    "",
    "# a comment alone",
    'a = 1\nb = "x" # y\n\n[t]\nc = true\n',
    "a=1\r\nb = 'x'\r\n\r\n[t.u]\r\n  c\t=\t-1.5e3\r\n",
    '"quoted key" = 1\n\'literal "key"\' = 2\n"esc\\u00e9\\t\\"" = 3\n"" = 4\n',
    "a.b.c = 1\na.b.d = 2\na . 'x y' = 3\n3.14 = 4\n",
    'x = { a = 1, "b c" = [1, 2], d.e = { } }\ny = []\nz = [ [1], ["a", "]"], ]\n',
    "x = [\n  1, # one ]\n  { a = 'b' },\n\n]\ny = 2\n",
    "[[p]]\nn = 1\n[p.q]\nr = 2\n[[p.s]]\nt = 3\n[[p.s]]\n[[p]]\nn = 4\n",
    "a = \"\"\"x\n\"y\" \\\" ]\n= z\"\"\"\nb = '''l\n'q' # no comment'''\nc = \"\"\"\"q\"\"\"\"\"\n",
    "d = 1979-05-27 07:32:00Z\ne = 1979-05-27\nf = 07:32:00.5\ng = 1979-05-27T00:32:00-07:00\n",
    "h = +0xdead_beef\n".replace("+", "") + "o = 0o17\nb = 0b1\ni = -inf\nn = nan\nu = 1_000\n",
    "[a.b]\nc = 1\n[a]\nd = 2\n[ x . \"y.z\" ]\ne = 3\n",
    'é = "not bare"\n'.replace("é", '"é😀"') + "k = '😀'\n",
    "[tool.adcore]\nalloc = \"warn\"\ninclude = ['a.*', \"b\"]\n[tool.adcore.functions.\"p.m:f\"]\nwrt = 'x'\n",
    "x = {a = 1,\n  b = 2, # trailing\n}\n",
]  # fmt: skip


def plain(node: TomlNode, text: str) -> object:
    """The scanner's tree with tomli's values at its leaves: what `tomli.loads` would give."""
    if node.is_table:
        return {name: plain(child, text) for name, child in node.children.items()}
    if node.kind in ("tables", "array"):
        return [plain(element, text) for element in node.elements]
    assert node.value is not None
    return tomli.loads(f"v = {text[slice(*node.value)]}")["v"]


def same(a: object, b: object) -> bool:
    return repr(a) == repr(b)  # nan equals nan, 1 differs from true


def accepted(text: str) -> dict[str, object] | None:
    try:
        return tomli.loads(text)
    except (ValueError, RecursionError):
        return None


@pytest.mark.parametrize("text", DOCUMENTS)
def test_keys_and_values_are_tomlis(text: str) -> None:
    document = scan_toml(text)
    assert document.errors == ()
    values = accepted(text)
    assert values is not None
    assert same(plain(document.root, text), values)


@pytest.mark.parametrize("text", DOCUMENTS)
def test_every_key_stands_where_the_scanner_says(text: str) -> None:
    for path, node in scan_toml(text).walk():
        if isinstance(path[-1], int):
            assert node.key is None
        else:
            assert node.key is not None
            assert list(tomli.loads(f"{text[slice(*node.key)]} = 0")) == [path[-1]]


PLACES = [
    # text with the key in « » and the value in ‹ ›, path
    ("«a» = ‹1›", ("a",)),
    ("x = 1\n[t]\n  «'b c'»=‹[1, 2]› # c\n", ("t", "b c")),
    ("t.«b».c = 1", ("t", "b")),
    ("[t.«b»]\nc = 1", ("t", "b")),
    ("t = { u = { «b» = ‹'''x'''› } }", ("t", "u", "b")),
    ('[tool.adcore.functions."p:f"]\n«alloc» = ‹"x"›', ("tool", "adcore", "functions", "p:f", "alloc")),
    ('[tool.adcore.functions.«"p:f"»]\nalloc = "x"', ("tool", "adcore", "functions", "p:f")),
    ("«d» = ‹1979-05-27 07:32:00Z›  ", ("d",)),
]


@pytest.mark.parametrize(("marked", "path"), PLACES)
def test_place(marked: str, path: tuple[str, ...]) -> None:
    text, marks = "", {}
    for char in marked:
        if char in "«»‹›":
            marks[char] = len(text)
        else:
            text += char
    node = scan_toml(text).get(*path)
    assert node is not None
    assert node.key == (marks["«"], marks["»"])
    assert node.value == ((marks["‹"], marks["›"]) if "‹" in marks else None)


BROKEN = [
    # text, [(text of the error's place, words of its message)], names that are still found
    ("a =\nb = 1", [("\n", "expected a value")], ["b"]),
    ("a = forbid\nb = 1", [("forbid", "strings need quotes")], ["a", "b"]),
    ('a = "x\nb = 1', [('"x', "no closing quote")], ["b"]),
    ("a = [1, 2\nb = 1", [("b", "expected `,` or `]`")], ["b"]),
    ("a = [1, 2\n[t]\nb = 1", [("[", "")], ["t"]),
    ("a 1\nb = 1\nc = ]\nd = 2", [("1", "expected `=`"), ("]", "expected a value")], ["b", "d"]),
    ("[t\nb = 1\n[u]", [("\n", "expected `]`")], ["u"]),
    ("a = 1 b = 2\nc = 3", [("b", "end of the line")], ["a", "c"]),
    ("a = not at all # c\nc = 3", [("not at all", "strings need quotes")], ["a", "c"]),
    ("a = [\nb = 1\nc = 3", [("b", "bracket may be missing")], ["b", "c"]),
    ("= 1\nb = 1", [("=", "expected a key")], ["b"]),
    ("a = 1\na = 2", [("a", "given twice")], ["a"]),
    ("[t]\nb = 1\n[t]\nc = 2", [("t", "defined twice")], ["t"]),
    ("a = 1\na.b = 2\nc = 3", [("a", "is a value")], ["a", "c"]),
    ('a = """x\ny\nb = 1', [('"""x', "no closing quote")], ["b"]),
    ("a = " + "[" * 200, [("[", "too deeply")], []),
    ("a = {b = 1\nc = 2", [("c", "expected `,` or `}`")], ["c"]),
]


@pytest.mark.parametrize(("text", "errors", "names"), BROKEN)
def test_recovery(text: str, errors: list[tuple[str, str]], names: list[str]) -> None:
    assert accepted(text) is None
    document = scan_toml(text)
    assert [text[slice(*error.place)] for error in document.errors] == [place for place, _ in errors]
    for error, (_, words) in zip(document.errors, errors, strict=True):
        assert words in error.message
    for name in names:
        assert document.get(name) is not None


def test_corrections_of_bare_words() -> None:
    document = scan_toml("a = forbid\nb = True\nc = None\nd = 1x\n")
    assert [error.correction for error in document.errors] == ['"forbid"', "true", '"none"', None]


def test_a_repeated_key_names_the_first() -> None:
    (error,) = scan_toml("a = 1\nb = 2\na = 3").errors
    assert (error.place, error.first) == ((12, 13), (0, 1))


def mutations(count: int, seed: int) -> Iterator[str]:
    rng = random.Random(seed)
    pieces = [
        "[",
        "]",
        "[[",
        "]]",
        "{",
        "}",
        "=",
        ",",
        ".",
        '"',
        "'",
        '"""',
        "'''",
        "\n",
        "\r\n",
        "#",
        " ",
        "\\",
        "a",
        "1",
    ]
    pieces += ["é", "\ud800", "\0", "true", "inf", "_", "-", "\\u00e9", "\\ud800", "[a]\n", "a = 1\n"]
    for _ in range(count):
        text = rng.choice(DOCUMENTS)
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(text) + 1)
            text = text[:at] + rng.choice([*pieces, ""]) + text[at + rng.choice([0, 0, 1, 2, 9]) :]
        yield text


def test_mutated_documents() -> None:
    """No text raises and no place is outside; what tomli accepts has the same content and no error."""
    valid = 0
    for text in mutations(4000, seed=4):
        document = scan_toml(text)
        for error in document.errors:
            assert 0 <= error.place[0] <= error.place[1] <= len(text) + 1
        if (values := accepted(text)) is not None:
            valid += 1
            assert document.errors == (), text
            assert same(plain(document.root, text), values), text
    assert valid > 400


def test_time_is_linear() -> None:
    seconds = []
    for size in (500, 1000):
        text = 'a = """\n[x\nb = [\n' * size
        start = time.perf_counter()
        scan_toml(text)
        seconds.append(time.perf_counter() - start)
    assert seconds[1] < 8 * seconds[0] + 0.05
