"""The offsets of the parts of a pattern: its subject, names, keys and values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..source import Span
from ..trees import Pattern, read_from
from .parser import construct_of
from .syntax import Array, Construct, Map, Value


class Spans(NamedTuple):
    """The places of one pattern's parts, as offsets into the text.

    Attributes:
        pattern: all of it.
        subject: its identity, labels and record; without a width when it has none of these.
        identity: its name, or None when it is anonymous.
        labels: each label's name.
        keys: each property's key; of a key given twice, the last.
        values: each property's value.
        syntax: the construct of each property's value.
    """

    pattern: Span
    subject: Span
    identity: Span | None
    labels: Mapping[str, Span]
    keys: Mapping[str, Span]
    values: Mapping[str, Span]
    syntax: Mapping[str, Value]

    def part(self, name: str) -> Span | None:
        """The place of a part: ``identity``, ``labels`` (of the first) or a property's value.

        These two names never mean a property that is called so. None when there is no such
        part.
        """
        if name == "identity":
            return self.identity
        if name == "labels":
            return min(self.labels.values(), default=None)
        return self.values.get(name)

    def part_or_subject(self, name: str | None) -> Span:
        """The place of a part; where it is missing, of the subject, or of all when that is empty.

        Without a name, the place of all.
        """
        if name is None:
            return self.pattern
        subject = self.subject if self.subject.start < self.subject.end else self.pattern
        return self.part(name) or subject

    def value(self, key: str, *path: str | int) -> Span:
        """The place of a property's value or, along ``path``, of a value inside it.

        Raises:
            KeyError: no such property, key or index.
        """
        value = self.syntax[key]
        for step in path:
            if isinstance(value, Array) and isinstance(step, int):
                if not 0 <= step < len(value.items):
                    raise KeyError(step)
                value = value.items[step]
            elif isinstance(value, Map):
                value = value.by_key[str(step)].value
            else:
                raise KeyError(step)
        return value.span


def spans_in_text(pattern: Pattern) -> Spans | None:
    """The places of the parts of a pattern where it was read; None when it was made.

    Its text is read once, however many diagnostics ask for its parts.
    """
    place = read_from(pattern)
    if place is None:
        return None
    source, span = place[0], Span(*place[1:])
    known: Spans | None = source.spans.get(span)
    if known is None:
        construct = construct_of(pattern)
        assert construct is not None, "it was read"
        known = source.spans[span] = spans_of(construct)
    return known


def spans_of(construct: Construct) -> Spans:
    """The places of the parts of one construct."""
    part = construct.subject
    values = {entry.key.text: entry.value for entry in construct.entries}
    return Spans(
        pattern=construct.span,
        subject=part.span,
        identity=part.identity.span if part.identity else None,
        labels={label.name.text: label.name.span for label in part.labels},
        keys={entry.key.text: entry.key.span for entry in construct.entries},
        values={key: value.span for key, value in values.items()},
        syntax=values,
    )
