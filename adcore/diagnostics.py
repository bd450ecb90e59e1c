"""The collector of what is said about a user's text: findings, each of a rule, at a place, with the changes that end it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from adcore.edits import Edit, Fix, one_line
from adcore.rules import RULES, Severity
from adcore.source import Span


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that belongs to a finding, and what it has to do with it."""

    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding at one place."""

    rule: str
    span: Span
    message: str
    suggestion: str | None = None
    """Text that may replace the span as it stands, or None."""
    related: tuple[Related, ...] = ()
    hint: str | None = None
    """The way out of this very case; where it is None, the rule's `fix` serves."""
    fixes: tuple[Fix, ...] = ()
    """Changes of the finding's file that end it, the likeliest first; beside `suggestion`, which is the simple case."""

    @property
    def offers(self) -> tuple[Fix, ...]:
        """All changes that are offered, the suggestion included."""
        if self.suggestion is None:
            return self.fixes
        return (Fix(f"Replace with `{one_line(self.suggestion)}`", (Edit(self.span, self.suggestion),)), *self.fixes)

    @property
    def name(self) -> str:
        return self.rule

    @property
    def code(self) -> str:
        return RULES[self.rule].code

    @property
    def severity(self) -> Severity:
        return RULES[self.rule].severity


def sort_diagnostics(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """By place, then code; findings that differ in nothing that the user sees are one."""
    unique = {(d.span, d.rule, d.message): d for d in reversed(list(diagnostics))}
    return tuple(sorted(unique.values(), key=lambda d: (d.span, d.code, d.message)))


class Report:
    """Collects findings. Adding the same finding twice keeps the first."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, Span, str], Diagnostic] = {}

    def add(
        self,
        rule: str,
        span: Span,
        suggestion: str | None = None,
        related: Sequence[Related | tuple[Span, str]] = (),
        hint: str | None = None,
        fixes: tuple[Fix, ...] = (),
        **fields: object,
    ) -> Diagnostic:
        """Add a finding; `fields` fill the rule's message. KeyError: the rule or one of its fields does not exist."""
        message = RULES[rule].message.format_map(fields)
        places = tuple(item if isinstance(item, Related) else Related(*item) for item in related)
        diagnostic = Diagnostic(rule, span, message, suggestion, places, hint, fixes)
        return self._found.setdefault((rule, span, message), diagnostic)

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        for diagnostic in diagnostics:
            self._found.setdefault((diagnostic.rule, diagnostic.span, diagnostic.message), diagnostic)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What was found, sorted by file, line and column."""
        return sort_diagnostics(self._found.values())

    @property
    def has_errors(self) -> bool:
        return any(diagnostic.severity == "error" for diagnostic in self._found.values())

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self.diagnostics)

    def __len__(self) -> int:
        return len(self._found)
