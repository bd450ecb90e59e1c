"""What a rule is: one kind of finding, with everything that is said of it for all places.

Codes: AD1xx options, AD2xx language and calls, AD3xx types, AD4xx activity, AD5xx allocation, AD6xx project,
AD9xx adcore itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "information", "hint"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "information", "hint")


@dataclass(frozen=True, slots=True)
class Rule:
    """`message` and `summary` say what is wrong, `why` and `fix` explain it for all places."""

    name: str
    code: str
    severity: Severity
    summary: str
    """One line for lists of rules."""
    message: str
    """A `str.format` template; its fields are the keywords of `Report.add`."""
    why: str
    fix: str
    before: str = ""
    """An example with this finding: TOML for `config/*`, Python otherwise."""
    after: str = ""
    by_default: bool = True
    """Reported without being asked for; otherwise by `adcore lint --select` alone."""

    @property
    def category(self) -> str:
        return self.name.partition("/")[0]
