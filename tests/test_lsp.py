"""The real server process over stdio, for the kinds of clients that there are, on good days and bad ones."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from adcore_lsp.convert import to_finding
from adcore_lsp.features.code_actions import quick_fixes
from adcore_lsp.protocol import Document
from lsp_client import CODECS, PATIENCE, PROFILES, PULLS, Client, Message
from lsprotocol import types
from pygls.workspace import PositionCodec

from adcore.diagnostics import Report
from adcore.edits import Edit, Fix
from adcore.source import SourceText

GOOD = "from adcore import autodiff\n\n\n@autodiff\ndef f(x: float) -> float:\n    return x * x\n"
BAD = GOOD.replace("@autodiff", '@autodiff(mode="revers", wrt="z")')
FIXED = GOOD.replace("@autodiff", '@autodiff(mode="reverse", wrt="x")')
ASTRAL = (
    "from adcore import autodiff\n\n\n# 😀\n"
    '@autodiff(wrt="𐊠é", mode="revers", alloc="forbidd")\ndef f(𐊠é: float) -> float:\n    return 𐊠é * 𐊠é  # 😀\n'
)
MODE = '`"revers"` is not a value of `mode`; did you mean `"reverse"`?'
WRT = "`z` in `wrt` is not a parameter of the function; its only parameter is `x`"

Start = Callable[..., Client]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    clients: list[Client] = []

    def make(profile: str = "nvim07", **options: object) -> Client:
        clients.append(Client(tmp_path, profile, **options))  # type: ignore[arg-type]
        return clients[-1]

    yield make
    for client in clients:
        client.process.kill()
        client.process.wait()
        assert not [line for line in client.log if "Traceback" in line], client.log


@pytest.fixture(params=PROFILES)
def client(request: pytest.FixtureRequest, start: Start) -> Client:
    return start(request.param)


def words(diagnostics: list[Message]) -> list[str]:
    return [diagnostic["message"] for diagnostic in diagnostics]


def lint(folder: Path, *arguments: str) -> list[Message]:
    command = [sys.executable, "-m", "adcore", "lint", "--format", "json", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    found: list[Message] = json.loads(done.stdout)
    return found


# Diagnostics, for every kind of client


def test_findings_on_open_change_save_and_close(client: Client) -> None:
    client.open("m.py", BAD)
    found = client.diagnostics("m.py")
    assert words(found) == [MODE, WRT]
    assert [(d["code"], d["source"], d["severity"]) for d in found] == [
        ("options/unknown-value", "adcore", 1),
        ("options/unknown-parameter", "adcore", 1),
    ]
    client.change("m.py", FIXED)
    assert client.diagnostics("m.py") == []
    client.change("m.py", BAD)
    assert words(client.diagnostics("m.py")) == [MODE, WRT]
    client.save("m.py")
    assert words(client.diagnostics("m.py")) == [MODE, WRT]
    client.close("m.py")
    if client.profile not in PULLS:
        assert client.published("m.py") == []


def test_one_channel(client: Client) -> None:
    pulls = client.profile in PULLS
    assert ("diagnosticProvider" in client.capabilities) == pulls
    client.open("m.py", BAD)
    assert client.diagnostics("m.py")
    assert [m["method"] for m in client.quiet() if "Diagnostics" in m.get("method", "")] == []


def test_columns_are_in_the_units_of_the_client(client: Client) -> None:
    client.open("m.py", ASTRAL)
    mode, _ = client.diagnostics("m.py")
    assert mode["range"]["start"] == {
        "line": 4,
        "character": {"utf-8": 29, "utf-16": 26, "utf-32": 25}[client.encoding],
    }
    start, end = (client.offset(ASTRAL, mode["range"][key]) for key in ("start", "end"))
    assert ASTRAL[start:end] == '"revers"'


def test_quick_fixes_give_a_clean_file(client: Client) -> None:
    text = ASTRAL
    client.open("m.py", text)
    for replacement in ('"reverse"', '"forbid"'):
        found = client.diagnostics("m.py")[0]
        (action,) = client.actions("m.py", found)
        assert action["title"] == f"Replace with `{replacement}`"
        assert (action["kind"], action["isPreferred"], action["diagnostics"]) == ("quickfix", True, [found])
        text = client.apply(text, edit_of(client, action))
        client.change("m.py", text)
    assert '@autodiff(wrt="𐊠é", mode="reverse", alloc="forbid")' in text
    assert client.diagnostics("m.py") == []


MANY = (
    "# 😀\n"
    "from adcore import autodiff\n"
    "import numpy as np\n"
    "from numpy.typing import NDArray\n\n\n"
    '@autodiff(fastmath=(), wrt=("n", "𐊠é"), mode="reverse")  # 😀\n'
    'def f(𐊠é: "NDArray[np.float64]", n: int) -> float:  # 😀\n'
    "    return math.sqrt(2.0) * np.sum(𐊠é) * n\n"
)


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_fixes_of_several_edits(client: Client, ending: str) -> None:
    """One that adds imports besides, one that deletes here and adds there; each is taken in the state that the one before left."""
    text = MANY.replace("\n", ending)
    client.open("m.py", text)
    taken = ["Write `Vector`: 1 dimension", 'Delete `"n"`', "Add `import math`"]
    seen: list[str] = []
    while found := client.diagnostics("m.py"):
        actions = client.actions("m.py", found[0])
        action = next((action for action in actions if action["title"] in taken), None)
        assert action is not None, (found, actions)
        assert action["diagnostics"] == [found[0]]
        assert ("isPreferred" in action) == (len(actions) == 1)
        seen.append(action["title"])
        for edit in reversed(edits_of(client, action)):
            text = client.apply(text, edit)
        client.change("m.py", text)
    assert seen == taken
    assert text == (
        "# 😀\n"
        "from adcore import autodiff\n"
        "import numpy as np\n"
        "from numpy.typing import NDArray\n"
        "from adcore.typing import Vector\n"
        "import math\n\n\n"
        '@autodiff(fastmath=(), wrt=("𐊠é",), mode="reverse")  # 😀\n'
        "def f(𐊠é: Vector, n: int) -> float:  # 😀\n"
        "    return math.sqrt(2.0) * np.sum(𐊠é) * n\n"
    ).replace("\n", ending)


def test_a_fix_in_the_configuration(client: Client) -> None:
    text = '[tool.adcore]\r\n# 😀\r\ncpu = "native"  # 😀\r\nmode = "forward"\r\n'
    client.open("pyproject.toml", text, "toml")
    cpu, mode = client.diagnostics("pyproject.toml")
    titles = [action["title"] for action in client.actions("pyproject.toml", cpu)]
    assert titles == [*(f'Write `"x86-64-v{k}"`' for k in (2, 3, 4)), "Delete `cpu`: baseline"]
    (action,) = client.actions("pyproject.toml", mode)
    (edit,) = edits_of(client, action, "pyproject.toml")
    assert client.apply(text, edit) == text.replace('mode = "forward"\r\n', "")


def test_a_fix_is_void_where_any_of_its_places_has_changed() -> None:
    source = SourceText("m.py", "import a\n\nx = y\n")
    report = Report()
    edits = (Edit(source.span(9, 9), "import y\n"), Edit(source.span(14, 15), "y.z"))
    found = report.add("language/unknown-name", source.span(14, 15), fixes=(Fix("Do", edits),), name="y", remedy="")
    finding = to_finding(found, lambda _: source, "m.py", "utf-16")
    place = types.Range(types.Position(2, 4), types.Position(2, 4))
    params = types.CodeActionParams(types.TextDocumentIdentifier("m.py"), place, types.CodeActionContext([]))
    for text, count in [
        ("import a\n\nx = y\n", 1),
        ("import b\n\nx = y\n", 1),
        ("import a\nimport y\nx = y\n", 0),
        ("import a\n\nx = z\n", 0),
        ("import a\n\n\nx = y\n", 0),
        ("", 0),
    ]:
        document = Document("m.py", text, 3, "python", position_codec=PositionCodec())
        actions = quick_fixes(params, document, [finding], True)
        assert len(actions) == count, text


def edit_of(client: Client, action: Message) -> Message:
    (edit,) = edits_of(client, action)
    return edit


def edits_of(client: Client, action: Message, name: str = "m.py") -> list[Message]:
    edits: list[Message]
    if "documentChanges" in PROFILES[client.profile]["workspace"]["workspaceEdit"]:
        (change,) = action["edit"]["documentChanges"]
        assert change["textDocument"] == {"uri": client.uri(name), "version": client.versions[name]}
        edits = change["edits"]
    else:
        edits = action["edit"]["changes"][client.uri(name)]
    return edits


def test_the_same_words_as_lint(client: Client, tmp_path: Path) -> None:
    tables = '[tool.adcore]\naloc = "warn"\nfastmath = "yes"\n\n[tool.adcore.functions."m.f"]\nalloc = "forbidd"\n'
    broken = "\n\n@autodiff\ndef g(x: float) -> float:\n    return x *\n"
    files = {"pyproject.toml": tables, "m.py": BAD + broken, "n.py": ASTRAL}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        client.open(name, text, "toml" if name.endswith(".toml") else "python")
    everything = lint(tmp_path)
    for name, text in files.items():
        expected = [finding for finding in everything if finding["file"] == name]
        seen = client.diagnostics(name)
        assert expected
        assert [(f["name"], f["message"]) for f in expected] == [(d["code"], d["message"]) for d in seen]
        places = [(f["line"], f["column"], f["end_line"], f["end_column"]) for f in expected]
        assert places == [in_code_points(client, text, d["range"]) for d in seen]


def in_code_points(client: Client, text: str, place: Message) -> tuple[int, ...]:
    found: list[int] = []
    width, codec = CODECS[client.encoding]
    for position in (place["start"], place["end"]):
        units = text.split("\n")[position["line"]].encode(codec)
        behind_the_end = max(0, position["character"] - len(units) // width)
        inside = units[: position["character"] * width].decode(codec)
        found += [position["line"] + 1, len(inside) + behind_the_end + 1]
    return tuple(found)


# Documents that are not what one would like


def test_half_typed(start: Start) -> None:
    client = start()
    client.open("m.py", "")
    for end in range(0, len(BAD) + 1, 7):
        client.change("m.py", BAD[:end])
    client.change("m.py", BAD)
    assert words(client.diagnostics("m.py")) == [MODE, WRT]
    client.change("m.py", BAD.replace("x * x", "x *"))
    assert "syntax/invalid" in [d["code"] for d in client.diagnostics("m.py")]


def test_what_stands_around_a_syntax_error_is_still_seen(start: Start) -> None:
    client = start()
    client.open("m.py", BAD + "\n\ndef g(:\n")
    codes = [d["code"] for d in client.diagnostics("m.py")]
    assert codes == ["options/unknown-value", "options/unknown-parameter", "syntax/invalid"]


def test_fast_typing_gives_one_result_for_the_last_version(start: Start) -> None:
    client = start()
    client.open("m.py", GOOD)
    client.diagnostics("m.py")
    for _ in range(20):
        client.change("m.py", BAD)
        client.change("m.py", GOOD)
    client.change("m.py", BAD)
    assert words(client.diagnostics("m.py")) == [MODE, WRT]
    sent = [m["params"] for m in client.inbox if m.get("method") == "textDocument/publishDiagnostics"]
    assert len(sent) < 10  # none, unless the machine is so busy that the typing is slow
    assert all(len(p["diagnostics"]) == (0 if p["version"] % 2 else 2) for p in sent)


def test_incremental_edits_at_odd_places(start: Start) -> None:
    client = start("vscode")
    text = 'a = "\u2028\x0c"\r\nb = "😀"\r' + BAD
    client.open("m.py", text)

    def at(line: int, character: int, end: int, new: str) -> Message:
        places = ({"line": line, "character": c} for c in (character, end))
        return {"range": dict(zip(("start", "end"), places, strict=True)), "text": new}

    # positions behind an end mean the end
    client.change("m.py", at(5, 21, 22, "se"), at(1, 999, 999, " + 'x'"), at(99, 0, 0, "# end"))
    assert words(client.diagnostics("m.py")) == [WRT]
    client.change("m.py", at(5, 31, 32, "x"))
    assert client.diagnostics("m.py") == []


def test_untitled_and_foreign_documents(start: Start, tmp_path: Path) -> None:
    client = start()
    client.open("untitled:Untitled-1", BAD)
    assert words(client.published("untitled:Untitled-1")) == [MODE, WRT]
    client.open("git:/somewhere/m.py?HEAD", BAD)
    assert words(client.published("git:/somewhere/m.py?HEAD")) == [MODE, WRT]
    client.open("notes.md", BAD, "markdown")
    client.open("other.toml", "[tool.adcore]\naloc = 1\n", "toml")
    client.open("vscode-notebook-cell:/a.ipynb#1", BAD)
    for name in ("notes.md", "other.toml", "vscode-notebook-cell:/a.ipynb#1"):
        assert client.published(name) == []


def test_the_uri_is_spelled_as_the_client_does(start: Start, tmp_path: Path) -> None:
    client = start()
    uri = (tmp_path / "m.py").as_uri().replace("m.py", "%6d.py")
    client.open(uri, BAD)
    assert words(client.published(uri)) == [MODE, WRT]


def test_texts_with_lone_surrogates_and_null(start: Start) -> None:
    client = start()
    client.open("m.py", BAD + "# \ud800\n")
    assert client.diagnostics("m.py")
    client.change("m.py", BAD + "# \0\n")
    assert client.diagnostics("m.py")


# Configuration and dependencies


def test_a_configuration_in_the_editor_wins(client: Client, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.adcore]\n")
    client.open("pyproject.toml", '[tool.adcore]\naloc = "warn"\n', "toml")
    (found,) = client.diagnostics("pyproject.toml")
    assert (found["code"], found["message"]) == (
        "config/unknown-key", "`aloc` is not an option of `[tool.adcore]`; did you mean `alloc`?",
    )  # fmt: skip
    (action,) = client.actions("pyproject.toml", found)
    assert action["title"] == "Replace with `alloc`"
    client.change("pyproject.toml", "[tool.adcore\n")
    assert [d["code"] for d in client.diagnostics("pyproject.toml")] == ["config/syntax"]
    client.change("pyproject.toml", "[tool.adcore]\n")
    assert client.diagnostics("pyproject.toml") == []


def test_a_broken_configuration_is_shown_once_and_in_the_toml(start: Start, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.adcore\n")
    client = start()
    client.open("m.py", BAD)
    client.open("n.py", BAD)
    assert words(client.diagnostics("m.py")) == [MODE, WRT]
    assert [d["code"] for d in client.published("pyproject.toml")] == ["config/syntax"]
    (tmp_path / "pyproject.toml").write_text("[tool.adcore]\n")
    client.save("m.py")  # a client that watches no files
    assert client.published("pyproject.toml") == []
    assert not [m for m in client.quiet() if m.get("method", "").startswith("window/")]


def test_a_configuration_that_changes_on_disk(start: Start, tmp_path: Path) -> None:
    client = start("emacs")
    watched = client.wait(lambda m: m.get("method") == "client/registerCapability")
    assert watched["params"]["registrations"][0]["method"] == "workspace/didChangeWatchedFiles"
    client.open("m.py", GOOD)
    assert client.diagnostics("m.py") == []
    for text, kind, codes in [("[tool.adcore]\naloc=1\n", 1, ["config/unknown-key"]), ("[tool.adcore]\n", 2, [])]:
        (tmp_path / "pyproject.toml").write_text(text)
        change = {"uri": client.uri("pyproject.toml"), "type": kind}
        client.notify("workspace/didChangeWatchedFiles", {"changes": [change]})
        assert [d["code"] for d in client.published("pyproject.toml")] == codes


def test_pulling_clients_are_told_to_ask_again(start: Start, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.adcore]\n")
    client = start("vscode")
    client.open("m.py", BAD)
    client.diagnostics("m.py")
    client.quiet(0.4)
    change = {"uri": client.uri("pyproject.toml"), "type": 2}
    client.notify("workspace/didChangeWatchedFiles", {"changes": [change, change]})
    client.wait(lambda m: m.get("method") == "workspace/diagnostic/refresh")
    assert [m for m in client.quiet() if m.get("method") == "workspace/diagnostic/refresh"] == []
    report = client.request("textDocument/diagnostic", {"textDocument": {"uri": client.uri("m.py")}})
    again = {"textDocument": {"uri": client.uri("m.py")}, "previousResultId": report["resultId"]}
    assert client.request("textDocument/diagnostic", again)["kind"] == "unchanged"


HELPER = "def square(x: float) -> float:\n    return x * x\n"
USER = (
    "from adcore import autodiff\nfrom helper import square\n\n\n"
    "@autodiff\ndef f(x: float) -> float:\n    return square(x)\n"
)


def test_editing_a_helper_refreshes_what_depends_on_it(start: Start, tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text(HELPER)
    client = start()
    client.open("m.py", USER)
    assert client.diagnostics("m.py") == []
    client.open("helper.py", HELPER)
    client.diagnostics("helper.py")
    client.quiet()
    client.change("helper.py", HELPER.replace("return x * x", "with open(x):\n        return x"))
    found = client.published("helper.py", 2) + client.published("m.py", 1)
    if not found:  # in either order
        found = client.published("helper.py", 2)
    assert "language/unsupported-statement" in [d["code"] for d in found]
    client.change("helper.py", HELPER)
    client.quiet(1.0)
    client.close("helper.py")
    assert client.published("helper.py") == []


def test_several_projects_side_by_side(start: Start, tmp_path: Path) -> None:
    for name, text in (("one", "[tool.adcore]\naloc=1\n"), ("two", "[tool.adcore]\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "pyproject.toml").write_text(text)
    client = start()
    client.open("two/m.py", BAD)
    client.open("one/m.py", BAD)
    for name in ("one/m.py", "two/m.py"):
        assert words(client.diagnostics(name)) == [MODE, WRT]
    assert [d["code"] for d in client.published("one/pyproject.toml")] == ["config/unknown-key"]


def test_nothing_of_the_user_is_executed(start: Start, tmp_path: Path) -> None:
    for name in ("m.py", "ast.py", "sitecustomize.py", "adcore_lsp.py"):
        (tmp_path / name).write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    client = start(PYTHONSAFEPATH="1")  # as the command `adcore` starts, without the working directory on the path
    client.open("n.py", "import m\nimport ast\n" + BAD)
    assert words(client.diagnostics("n.py")) == [MODE, WRT]
    assert not (tmp_path / "ran").exists()


# Messages that are not what one would like


def test_malformed_requests_get_a_reply(start: Start) -> None:
    client = start()
    bad = {"textDocument": {"uri": 5}, "position": {"line": "x"}}
    assert client.reply(client.start_request("textDocument/hover", bad))["error"]["code"] == -32602
    assert client.reply(client.start_request("textDocument/nonsense", {}))["error"]["code"] == -32601
    client.raw(b"Content-Length: 9\r\n\r\n{not json")
    assert client.reply(None)["error"]["code"] == -32700
    client.raw(b"Content-Length: 2\r\n\r\n[]")
    client.raw(b"X-Unknown: 1\r\n\r\n")
    client.send({"id": 77, "method": "textDocument/hover"}, header="content-length")
    assert client.reply(77)["error"]["code"] in (-32602, -32603)
    nested = {"textDocument": {"uri": client.uri("m.py"), "jsonrpc": "2.0"}, "position": {"line": 0, "character": 0}}
    assert client.request("textDocument/hover", nested) is None
    client.notify(
        "textDocument/didChange", {"textDocument": {"uri": "file:///no.py", "version": 1}, "contentChanges": []}
    )
    client.notify("$/cancelRequest", {"id": 4711})
    client.open("m.py", BAD)
    assert words(client.diagnostics("m.py")) == [MODE, WRT]
    assert all(line.startswith("adcore lsp: ") for line in client.log), client.log


def test_requests_at_the_wrong_time(start: Start) -> None:
    client = start(start=False)
    hover = {"textDocument": {"uri": "file:///m.py"}, "position": {"line": 0, "character": 0}}
    assert client.reply(client.start_request("textDocument/hover", hover))["error"]["code"] == -32002
    client.initialize()
    client.request("shutdown")
    assert client.reply(client.start_request("textDocument/hover", hover))["error"]["code"] == -32600
    client.notify("exit")
    assert client.process.wait(PATIENCE) == 0


def test_the_end(start: Start) -> None:
    assert start().end() == 0
    client = start()
    client.notify("exit")
    assert client.process.wait(PATIENCE) == 1
    client = start()
    client.open("m.py", BAD)
    assert client.process.stdin is not None
    client.process.stdin.close()
    assert client.process.wait(PATIENCE) == 1


def test_no_process_is_left_behind(start: Start) -> None:
    client = start()
    client.open("m.py", BAD)
    client.diagnostics("m.py")
    (worker,) = children(client.process.pid)
    client.process.kill()
    client.process.wait()
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and running(worker):
        time.sleep(0.05)
    assert not running(worker)


def test_a_worker_that_dies_is_replaced(start: Start) -> None:
    client = start()
    client.open("m.py", BAD)
    client.diagnostics("m.py")
    (worker,) = children(client.process.pid)
    os.kill(worker, signal.SIGKILL)
    client.change("m.py", GOOD.replace("@autodiff", '@autodiff(wrt="z")'))
    assert words(client.diagnostics("m.py")) == [WRT]
    assert children(client.process.pid) != [worker]


def test_the_server_answers_while_a_worker_is_stuck(start: Start) -> None:
    client = start()
    client.open("m.py", BAD)
    mode, _ = client.diagnostics("m.py")
    (worker,) = children(client.process.pid)
    os.kill(worker, signal.SIGSTOP)
    client.change("m.py", FIXED)
    time.sleep(0.5)
    begin = time.monotonic()
    assert client.actions("m.py", mode) == []  # the text is no longer what the finding is about
    assert time.monotonic() - begin < 10  # the worker would be given up after 60
    os.kill(worker, signal.SIGCONT)
    assert client.diagnostics("m.py") == []


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def running(pid: int) -> bool:
    try:
        return "(zombie)" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


# Hover


def test_hover(start: Start) -> None:
    client = start()
    client.open("m.py", BAD)
    client.open("pyproject.toml", "[tool.adcore]\nbounds-check = true\n", "toml")

    def hover(name: str, line: int, character: int) -> str | None:
        place = {"textDocument": {"uri": client.uri(name)}, "position": {"line": line, "character": character}}
        found = client.request("textDocument/hover", place)
        return None if found is None else str(found["contents"]["value"]).splitlines()[0]

    assert str(hover("m.py", 3, 12)).startswith("mode: Which derivatives are compiled")
    assert hover("m.py", 3, 2) is None
    assert hover("m.py", 5, 12) is None
    assert str(hover("pyproject.toml", 1, 3)).startswith("bounds-check: Raise IndexError")
    assert hover("pyproject.toml", 0, 3) is None


def test_hover_says_what_is_generated_and_what_the_reverse_pass_keeps(start: Start) -> None:
    client = start()
    text = (
        "import numpy as np\nfrom adcore import autodiff\nfrom adcore.typing import Vector\n\n\n"
        "@autodiff\ndef chain(x: Vector, k: float) -> float:\n    y = k\n    for v in x:\n        y = np.sin(y * v)\n    return y\n\n\n"
        '@autodiff(mode="both", wrt="x")\ndef line(x: Vector, k: float) -> float:\n    return np.sum(x) * k\n'
    )
    client.open("facts.py", text)
    assert client.diagnostics("facts.py") == []

    def hover(line: int, character: int) -> str:
        place = {"textDocument": {"uri": client.uri("facts.py")}, "position": {"line": line, "character": character}}
        found = client.request("textDocument/hover", place)
        return "" if found is None else str(found["contents"]["value"])

    said = hover(5, 3).splitlines()
    assert said[:2] == ["chain(x: Vector, k: float) -> float", "chain.grad(x, k) -> tuple[Vector, float]"]
    assert said[-2:] == [
        "The reverse pass keeps 8*len(x) bytes:",
        "  line 9: y, 8*len(x) bytes in heap (loop-carried)",
    ]
    assert hover(6, 5) == hover(5, 3), "at the name as at the decorator"
    assert hover(13, 3).splitlines()[-1] == "The reverse pass keeps nothing."
    assert "line.jvp((x, k), tangents) -> tuple[float, float]" in hover(13, 3)
    assert hover(1, 22) == "", "the import is no request"
    assert hover(7, 4) == ""
