"""Programs outside the language and what is said about them: place, rule, words, suggestion, exactly.

`frontend_cases/rejected.txt` holds blocks: a program, then one `=>` line for each finding (lines counted from the program's
first). After a deliberate change, `ADCORE_UPDATE=1 pytest tests/test_frontend_rejected.py` rewrites it; review the difference.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from adcore.diagnostics import Report
from adcore.frontend import Project, lower_module
from adcore.source import SourceText

PATH = Path(__file__).parent / "frontend_cases" / "rejected.txt"
HEAD = "import math\nimport numpy as np\nfrom adcore import autodiff\nfrom adcore.typing import Matrix, Vector\nfrom numpy.typing import NDArray\n"
RULE = "-" * 40 + "\n"


def blocks() -> list[str]:
    return [block for block in PATH.read_text().split(RULE) if block.strip()]


def program(block: str) -> str:
    return "".join(line for line in block.splitlines(keepends=True) if not line.startswith("=>"))


def findings(text: str) -> list[str]:
    report = Report()
    lower_module(Project([Path("/nowhere")]), SourceText("m.py", HEAD + text), "m", report)
    lines = []
    shift = HEAD.count("\n")
    for d in report:
        where = f"{d.span.line - shift}:{d.span.column}-{d.span.end_column}"
        line = f"=> {where} {d.rule}: {d.message}"
        line += f" | replace with {d.suggestion}" if d.suggestion is not None else ""
        line += f" | {d.hint}" if d.hint else ""
        line += "".join(f" | fix: {fix.title}" for fix in d.fixes)
        line += "".join(f" | line {r.span.line - shift}: {r.message}" for r in d.related)
        lines.append(line)
    return lines


def test_update() -> None:
    if os.environ.get("ADCORE_UPDATE"):
        PATH.write_text(RULE.join(program(b) + "".join(line + "\n" for line in findings(program(b))) for b in blocks()))


@pytest.mark.parametrize("block", blocks(), ids=lambda block: " ".join(program(block).split())[:60])
def test_findings(block: str) -> None:
    expected = [line for line in block.splitlines() if line.startswith("=>")]
    assert expected, "a rejected program has findings"
    assert findings(program(block)) == expected
