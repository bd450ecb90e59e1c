"""What lint says of broken text: every truncation of the example, and random edits of tokens. It may find whatever there is to find, but it
never raises, never blames itself (`compiler/internal`), and does not hang.

`python -m lint_fuzz --edits 10000 --seed 1` prints each text that breaks this, with the edit that made it.
"""

from __future__ import annotations

import argparse
import io
import random
import re
import sys
import time
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from adcore import driver
from adcore.lint.check import Checker

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "hare_lynx"
CASES = ROOT / "tests" / "frontend_cases"
SLOW = 20.0  # seconds: no text of this size may take so long, on a busy machine either
HEADER = (
    "import math\nimport numpy as np\nfrom adcore import autodiff\nfrom adcore.typing import Array3, Matrix, Vector\n\n"
)
_WORDS = """( ) [ ] { } : , . ; = == != < <= + - * ** / // % @ -> += *= := & | ~ not and or is in if elif else for while def return lambda
None True 0 1 -1 2.5 1e400 1j x n v np.sum np.zeros math.sin range len float int break continue pass raise assert del global yield await class
with try except import from as match case 'text' f'{x}' ... # \\ é 数 wrt= mode= order= autodiff"""
WORDS = [*_WORDS.split(), "\n", "\n    ", "\n\n\n", "\t", '"""']


@dataclass(frozen=True)
class Failure:
    what: str
    text: str
    reason: str


def sources() -> list[str]:
    """The example's modules, and the functions of the cases one by one, which are quick to analyse."""
    texts = [path.read_text(encoding="utf-8") for path in sorted((EXAMPLE / "src").rglob("*.py"))]
    for path in sorted(CASES.glob("*.py")):
        for function in re.split(r"\n\n\n", path.read_text(encoding="utf-8")):
            if "@autodiff" in function:
                texts.append(HEADER + re.sub(r"(?m)^@args.*\n", "", function) + "\n")
    return [text for text in texts if "autodiff" in text]


def tokens(text: str) -> list[str]:
    """The text in pieces that join to it again."""
    try:
        pieces, at = [], 0
        starts = [0]
        for line in text.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            begin = starts[token.start[0] - 1] + token.start[1]
            end = starts[token.end[0] - 1] + token.end[1]
            pieces += [text[at:begin], text[begin:end]]
            at = end
        return [piece for piece in [*pieces, text[at:]] if piece]
    except (tokenize.TokenError, IndentationError, IndexError):
        return re.findall(r"\w+|\s+|.", text)


def edited(text: str, rng: random.Random) -> tuple[str, str]:
    """One to three edits: delete, duplicate, swap, replace, insert."""
    pieces, said = tokens(text), []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        k, j = rng.randrange(len(pieces)), rng.randrange(len(pieces))
        kind = rng.choice(("delete", "duplicate", "swap", "replace", "insert"))
        said.append(f"{kind} {pieces[k]!r}")
        match kind:
            case "delete":
                pieces[k] = ""
            case "duplicate":
                pieces[k] *= 2
            case "swap":
                pieces[k], pieces[j] = pieces[j], pieces[k]
            case "replace":
                pieces[k] = rng.choice((pieces[j], rng.choice(WORDS)))
            case _:
                pieces[k] += " " + rng.choice((pieces[j], rng.choice(WORDS)))
    return "".join(pieces), ", ".join(said)


def examine(what: str, text: str, name: str) -> Failure | None:
    """Lint a text as the file `name`."""
    start = time.monotonic()
    try:
        found = Checker(driver.analyse).check(name, text)
        for diagnostic in found:
            str(diagnostic.message), str(diagnostic.span)
            if diagnostic.name == "compiler/internal":
                return Failure(what, text, diagnostic.message)
    except Exception as error:  # that is what is looked for
        return Failure(what, text, f"{type(error).__name__}: {error}")
    if time.monotonic() - start > SLOW:
        return Failure(what, text, f"it took {time.monotonic() - start:.0f} s")
    return None


def truncations(step: int = 1, offset: int = 0) -> Iterator[Callable[[], Failure | None]]:
    """Every `step`-th prefix of the example's files, the configuration included."""
    for path in [*sorted((EXAMPLE / "src").rglob("*.py")), EXAMPLE / "pyproject.toml"]:
        text = path.read_text(encoding="utf-8")
        for end in range(offset, len(text) + 1, step):
            yield lambda end=end, text=text, path=path: examine(f"{path.name}[:{end}]", text[:end], str(path))  # type: ignore[misc]


def edits(count: int, seed: int) -> Iterator[Callable[[], Failure | None]]:
    texts = sources()
    for k in range(count):
        rng = random.Random(f"{seed}/{k}")
        text, said = edited(rng.choice(texts), rng)
        yield lambda text=text, said=said: examine(said, text, str(CASES / "edited.py"))  # type: ignore[misc]


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    options.add_argument("--edits", type=int, default=10_000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--step", type=int, default=1, help="every how many characters the example is cut off")
    given = options.parse_args()
    failures, done = 0, 0
    for run in [*truncations(given.step), *edits(given.edits, given.seed)]:
        failure = run()
        done += 1
        if failure is not None:
            failures += 1
            print(f"--- {failure.what}: {failure.reason}\n{failure.text}\n", flush=True)
        if done % 1000 == 0:
            print(f"{done} texts, {failures} failures", flush=True)
    print(f"{done} texts, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
