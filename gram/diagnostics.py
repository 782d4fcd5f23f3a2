"""What a check finds: a diagnostic with its code, severity, message and place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias, Union

from attrs import evolve, field, frozen

from .errors import expect, expect_all
from .reading import spans_in_text
from .source import Source, Span
from .trees import Pattern, TreePath, origin

Severity: TypeAlias = Literal["error", "warning", "info"]
"""How bad it is: an error keeps a program from being used."""
PartPath: TypeAlias = tuple[Union[int, str], ...]
"""The way from a pattern to a part of it: places of elements, and names of properties."""


class Edit(NamedTuple):
    """A part of a text and what to write in its place."""

    span: Span
    text: str = ""


def with_edits(text: str, edits: Iterable[Edit]) -> str:
    """A text after edits, which come in its order and do not overlap."""
    parts: list[str] = []
    end = 0
    for edit in edits:
        parts += [text[end : edit.span.start], edit.text]
        end = edit.span.end
    return "".join(parts) + text[end:]


@frozen
class Diagnostic:
    """One thing that a check found in a pattern or a text. A fault is one of severity ``error``.

    Attributes:
        code: the name of the rule, such as ``duplicate-key``.
        severity: ``error``, ``warning`` or ``info``.
        message: what is wrong.
        path: element indices from the checked pattern, then the name of the part.
        span: the offsets in the text it was read from, or None when it was made.
        hint: how to mend it, or None.
        source: the text that ``span`` counts in.
        fix: edits of that text that mend it; those of the notation's checks keep its trees.
    """

    code: str
    severity: Severity
    message: str
    path: PartPath = ()
    span: Span | None = None
    hint: str | None = None
    source: Source | None = field(default=None, eq=False, repr=False)
    fix: tuple[Edit, ...] = ()

    @classmethod
    def of(
        cls,
        code: str,
        message: str,
        pattern: Pattern,
        part: str | None = None,
        *,
        severity: Severity = "error",
        hint: str | None = None,
    ) -> Diagnostic:
        """A diagnostic of a pattern, placed where the pattern was read from.

        Args:
            code: the name of the rule.
            message: what is wrong.
            pattern: the pattern.
            part: ``identity``, ``labels`` or the key of a property, when it is about one part.
            severity: how much it matters.
            hint: how to mend it.
        """
        path: PartPath = () if part is None else (part,)
        place, spans = origin(pattern), spans_in_text(pattern)
        if place is None or spans is None:
            return cls(code, severity, message, path, hint=hint)
        return cls(code, severity, message, path, spans.part_or_subject(part), hint, place.source)

    @classmethod
    def found(
        cls,
        message: str,
        path: TreePath = (),
        part: str | None = None,
        *,
        keys: tuple[str, ...] = (),
        span: Span | None = None,
        hint: str | None = None,
        fix: tuple[Edit, ...] = (),
    ) -> Diagnostic:
        """What a rule finds; `gram.check` adds the rule's code and severity, and the place.

        Args:
            message: what is wrong.
            path: the path of the pattern, from the trees that are checked.
            part: ``identity``, ``labels`` or the key of a property, when it is about one part.
            keys: the keys to the value, when the property is a map.
            span: the place, when that is not the place of the pattern or part.
            hint: how to mend it.
            fix: edits that mend it.
        """
        expect(path, tuple, "path", by="Diagnostic.found")
        expect(keys, tuple, "keys", by="Diagnostic.found")
        whole: PartPath = path if part is None else (*path, part, *keys)
        return cls("", "error", message, whole, span, hint, fix=fix)

    @property
    def filename(self) -> str | None:
        """The file it is in, or None."""
        return self.source.filename if self.source else None

    @property
    def lineno(self) -> int | None:
        """The line it begins on, from 1, or None when the pattern was made."""
        return self.source.position(self.span.start)[0] if self.source and self.span else None

    @property
    def colno(self) -> int | None:
        """The column it begins in, from 1, or None when the pattern was made."""
        return self.source.position(self.span.start)[1] if self.source and self.span else None

    @property
    def excerpt(self) -> str:
        """The line it begins on with carets below it; empty when the pattern was made."""
        return self.source.excerpt(*self.span) if self.source and self.span else ""

    @property
    def tree_path(self) -> TreePath:
        """The path of the pattern that it is about, without the name of a part."""
        return tuple(step for step in self.path if isinstance(step, int))

    def below(self, *path: int | str) -> Diagnostic:
        """The same, with its path from a pattern further up; ``path`` leads to the one checked."""
        return evolve(self, path=(*path, *self.path))

    @property
    def place(self) -> str:
        """``file:line:col``; when the pattern was made, the path to it."""
        if self.source and self.span:
            return self.source.place(self.span.start)
        return ".".join(map(str, self.path))

    def with_hint(self) -> str:
        """Its text, the line of the source that it is about, and its hint, one below the other."""
        hint = f"  hint: {self.hint}" if self.hint else ""
        return "\n".join(filter(None, [str(self), self.excerpt, hint]))

    def __str__(self) -> str:
        place = f"{self.place}: " if self.place else ""
        return f"{place}{self.severity}[{self.code}] {self.message}"


def only_errors(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The faults among some diagnostics: those of severity ``error``."""
    return tuple(
        each
        for each in expect_all(diagnostics, Diagnostic, "diagnostics", by="only_errors")
        if each.severity == "error"
    )
