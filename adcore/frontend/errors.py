"""How lowering gives up on a piece of text: exceptions that carry a finding to the statement that contains it.

Invariant: none of them leaves `lower_module`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adcore.edits import Fix
from adcore.source import Span

if TYPE_CHECKING:
    from adcore.frontend.values import UnionOf
    from adcore.ir.core import Value


class Reject(Exception):
    """The construct at `span` cannot be compiled; becomes one diagnostic of `rule`, and lowering goes on after the statement."""

    def __init__(
        self,
        rule: str,
        span: Span,
        suggestion: str | None = None,
        hint: str | None = None,
        related: tuple[tuple[Span, str], ...] = (),
        fixes: tuple[Fix, ...] = (),
        **fields: Any,
    ) -> None:
        super().__init__(rule)
        self.rule = rule
        self.span = span
        self.suggestion = suggestion
        self.hint = hint
        self.related = related
        self.fixes = fixes
        self.fields = fields


class Silent(Exception):
    """Something failed that has been reported already (a value of a broken statement, a broken helper)."""


class NeedSplit(Exception):
    """A value is used whose type depends on `tag`: the text around its use is lowered once for each truth of it."""

    def __init__(self, tag: Value, union: UnionOf, span: Span) -> None:
        super().__init__("a type is not decided")
        self.tag = tag
        self.union = union
        self.span = span


class NeedInline(Exception):
    """The helper being specialised hands out or writes an array of its caller: its body is lowered in the caller instead."""
