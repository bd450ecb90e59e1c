"""What a rule finds, why, and what to write instead: the registry's rows as text."""

from __future__ import annotations

from adcore.rules import RULES, Rule


def find(word: str) -> Rule | None:
    """The rule of a name or a code."""
    by_code = {rule.code: rule for rule in RULES.values()}
    return RULES.get(word) or by_code.get(word.upper())


def overview() -> str:
    """A line for each rule."""
    width = max(map(len, RULES))
    return "\n".join(f"{rule.code}  {rule.name:<{width}}  {rule.summary}" for rule in RULES.values())


def explain(rule: Rule) -> str:
    """All that the registry says about a rule."""
    asked = "" if rule.by_default else ", reported only with `adcore lint --select`"
    parts = [f"{rule.name} ({rule.code}, {rule.severity}{asked}): {rule.summary}", f"{rule.why}\n{rule.fix}"]
    for title, example in (("Reported:", rule.before), ("Instead:", rule.after)):
        if example:
            parts.append(title + "\n\n" + "\n".join(f"    {line}".rstrip() for line in example.splitlines()))
    return "\n\n".join(parts)
