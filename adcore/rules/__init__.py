"""The registry of everything that adcore can say about a user's text: one rule a file, which is also its documentation.

Every finding of build, editor and lint is one of these: the message has the same words at all three doors.
Invariants: a file is named after its rule; a rule's severity and code never depend on the place of use; a message says subject, cause
and way out and names nothing that the user did not write; a rule's `before` yields a finding of it and its `after` none of any.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

from adcore.rules.rule import SEVERITIES, Rule, Severity

__all__ = ["RULES", "SEVERITIES", "Rule", "Severity"]


def _found() -> Iterator[Rule]:
    for module in iter_modules(__path__):
        if module.name != "rule":
            yield import_module(f"{__name__}.{module.name}").RULE


RULES: dict[str, Rule] = {rule.name: rule for rule in sorted(_found(), key=lambda rule: rule.code)}
"""Every rule by name, in the order of the codes."""
