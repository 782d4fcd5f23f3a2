"""A case as its file has it: values by column, with their places."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from gram import Diagnostic, Source, Span

from ...json_text import Json


@frozen(eq=False)
class Row:
    """One row of a table, line of JSON or pattern.

    Attributes:
        source: the text it is in.
        span: where it is.
        values: its values by column.
        spans: where the values are.
    """

    source: Source
    span: Span
    values: Mapping[str, Json]
    spans: Mapping[str, Span]

    @property
    def place(self) -> str:
        """``file:line:col`` of the row."""
        return self.source.place(self.span.start)

    def fault(
        self, code: str, message: str, column: str | None = None, hint: str | None = None
    ) -> Diagnostic:
        """A fault at a column, or at the row itself.

        Args:
            code: the name of the rule.
            message: what is wrong.
            column: the column that is wrong, or None.
            hint: how to mend it.
        """
        span = self.spans.get(column, self.span) if column else self.span
        return Diagnostic(code, "error", message, span=span, hint=hint, source=self.source)
