"""Writes the pages, and the parts of pages, that say what tables in the code say: `python docs/generate.py`.

`tests/test_docs.py` fails while a page differs from its tables.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path

from adcore import driver
from adcore.frontend import calls, library, numpy_calls
from adcore.frontend.project import Project
from adcore.ir.opdef import REGISTRY, ZERO, OpDef
from adcore.option_values import Option
from adcore.options import OPTIONS
from adcore.rules import RULES, Rule
from adcore.source import SourceText

DOCS = Path(__file__).parent
ROOT = DOCS.parent
FOLDERS = [
    *(
        "adcore",
        "adcore/ir",
        "adcore/ops",
        "adcore/frontend",
        "adcore/passes",
        "adcore/ad",
        "adcore/allocation",
        "adcore/codegen",
    ),
    *("adcore/lint", "buildplug", "buildplug/link", "lsp", "lsp/features"),
]
PLACES = {
    "decorator": "`@autodiff({python}=...)`",
    "project": "`{toml} = ...` in `[tool.adcore]`",
    "function": '`{toml} = ...` in `[tool.adcore.functions."package.module:function"]`',
    "environment": "`ADCORE_{variable}`",  # "settings" are missing: no build and no editor passes them on yet
}


def main() -> None:
    for name, text in pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")


def pages() -> dict[str, str]:
    """Every page with generated text, by file name, as it should stand."""
    return {
        "options.md": options_page(),
        "rules.md": rules_page(),
        "numpy.md": filled_in("numpy.md", {"elementwise": elementwise()}),
        "language.md": filled_in("language.md", functions()),
        "internals.md": filled_in("internals.md", {folder: modules(folder) for folder in FOLDERS}),
    }


def filled_in(page: str, parts: Mapping[str, str]) -> str:
    """The page with the text of each part between its marks."""
    words = re.split(
        r"(<!-- generated: .*? -->\n).*?(?=<!-- end -->)", (DOCS / page).read_text("utf-8"), flags=re.DOTALL
    )
    for number, word in enumerate(words):
        if word.startswith("<!-- generated: "):
            words[number] = word + parts[word.removeprefix("<!-- generated: ").removesuffix(" -->\n")] + "\n"
    return "".join(words)


def options_page() -> str:
    intro = """\
        # Options

        This page is made from the schema in `adcore/options.py` (`python docs/generate.py`).

        What holds for a function: its decorator, then the environment, then its own table in `pyproject.toml`, then
        the project's table, then the default. In TOML names are written with hyphens and "none" stands for `None`.
        An option that does not exist, or a value that an option does not take, is an error wherever it is written.
        """
    return "\n".join([textwrap.dedent(intro), *(option_section(option) for option in OPTIONS.values())])


def option_section(option: Option) -> str:
    names = {"python": option.name, "toml": option.kebab, "variable": option.name.upper()}
    rows = [f"- default: `{option.default!r}`"]
    if option.allowed:
        rows.insert(0, f"- values: {listed(map(repr, option.allowed))}")
    rows += [f"- {PLACES[place].format(**names)}" for place in option.places if place in PLACES]
    return f"## {option.name}\n\n{option.help}\n\n" + "\n".join(rows) + "\n"


def rules_page() -> str:
    intro = """\
        # What adcore reports

        This page is made from the registry in `adcore/rules/` (`python docs/generate.py`); `adcore explain NAME`
        prints the same. Build, lint step and editor use these names and codes alike.
        """
    return "\n".join([textwrap.dedent(intro), *map(rule_section, RULES.values())])


def rule_section(rule: Rule) -> str:
    asked = "" if rule.by_default else ", reported only with `adcore lint --select`"
    parts = [f"## {rule.name}", f"{rule.code}, {rule.severity}{asked}: {rule.summary}.", f"{rule.why} {rule.fix}"]
    language = "toml" if rule.category == "config" else "python"
    for title, example in (("Reported:", rule.before), ("Instead:", rule.after)):
        if example:
            parts.append(f"{title}\n\n```{language}\n{example.strip()}\n```")
    return "\n\n".join(parts) + "\n"


def functions() -> dict[str, str]:
    """The names that compile, for the page on the language."""
    return {
        "builtins": wrapped(calls._BUILTIN),
        "math": wrapped([*library.MATH, *library.MATH_SPECIAL, "isclose", *library.MATH_CONSTANTS]),
        "numpy elementwise": wrapped(library.ELEMENTWISE),
        "numpy": wrapped([*numpy_calls.FUNCTIONS, *library.NUMPY_CONSTANTS]),
        "methods": wrapped(numpy_calls.METHODS),
    }


def elementwise() -> str:
    """NumPy's functions of numbers: what each becomes, how exact it is, whether it has a derivative."""
    rows = ["| function | error | derivative |", "|---|---|---|"]
    for name, ufunc in sorted(library.ELEMENTWISE.items()):
        ops = ops_of(name, ufunc.arity)
        bounds = sorted({row.accuracy for row in ops if row.accuracy})
        real = [row for row in ops if row.infer is not None and row.has_derivative]
        flat = all(p is ZERO for row in real for p in row.partials)
        rows.append(f"| `{name}` | {'; '.join(bounds) or 'exact'} | {'none' if not real else '0' if flat else 'yes'} |")
    return "\n".join(rows)


def ops_of(name: str, arity: int) -> list[OpDef]:
    """The rows of the op table that a call with floats uses; with ints or bools where floats are refused."""
    for kind in ("float", "bool", "int"):
        letters = "xyz"[:arity]
        parameters = ", ".join(f"{letter}: {kind}" for letter in letters)
        text = f"import numpy as np\nfrom adcore import autodiff\n\n\n@autodiff(mode='none')\ndef f({parameters}) -> {{}}:\n"
        text += f"    return np.{name}({', '.join(letters)})\n"
        for result in ("np.float64", "bool", "int"):
            analysis = driver.analyse(Project([]), SourceText("m.py", text.format(result)), "m")
            if analysis.entries and not any(d.severity == "error" for d in analysis.diagnostics):
                (function,) = analysis.module.functions.values()
                return [REGISTRY[op.name] for op in function.body.walk() if REGISTRY[op.name].is_scalar]
    raise AssertionError(f"np.{name} does not compile")


def modules(folder: str) -> str:
    """A table of the modules of a folder: what the first sentence of each says."""
    rows = ["| module | |", "|---|---|"]
    for file in sorted((ROOT / folder).glob("*.py")):
        text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
        paragraph = " ".join(text.partition("\n\n")[0].split()).replace("``", "`").replace("|", "\\|")
        rows.append(f"| `{file.name}` | {re.split(r'(?<=[a-z)`])[.] (?=[A-Z`])', paragraph)[0].rstrip('.')} |")
    return "\n".join(rows)


def wrapped(names: Iterable[str]) -> str:
    return "\n".join(textwrap.wrap(listed(sorted(set(names))), 118, break_on_hyphens=False))


def listed(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


if __name__ == "__main__":
    main()
