"""Where the parts of a pattern stand in the text: pattern, subject, names, keys and values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias, Union

from attrs import frozen

from . import syntax
from .source import Span

Construct: TypeAlias = Union[syntax.Item, syntax.Element, "Hop"]


@frozen(eq=False)
class Hop:
    """One hop of a walk: the relationship that an arrow and its two nodes stand for."""

    left: syntax.Node
    arrow: syntax.Arrow
    right: syntax.Node

    @property
    def start(self) -> int:
        """Where its left node begins."""
        return self.left.start

    @property
    def end(self) -> int:
        """Where its right node ends."""
        return self.right.end


@frozen
class Spans:
    """The places of one pattern's parts, as offsets into the text.

    Attributes:
        pattern: all of it.
        subject: its identity, labels and record; of no width where there are none.
        identity: its name, or None when it is anonymous.
        labels: each label's name.
        keys: each property's key; of a key given twice, the last.
        values: each property's value.
    """

    pattern: Span
    subject: Span
    identity: Span | None
    labels: Mapping[str, Span]
    keys: Mapping[str, Span]
    values: Mapping[str, Span]
    _syntax: Mapping[str, syntax.AnyValue]

    def part(self, name: str) -> Span | None:
        """The place of a part: ``identity``, ``labels`` (of the first) or a property's value.

        A property called ``identity`` or ``labels`` is never meant. None when there is no such
        part.
        """
        if name == "identity":
            return self.identity
        if name == "labels":
            return min(self.labels.values(), default=None)
        return self.values.get(name)

    def value(self, key: str, *path: str | int) -> Span:
        """The place of a property's value or, along ``path``, of a value inside it.

        Raises:
            KeyError: no such property, key or index.
        """
        value: object = self._syntax[key]
        for step in path:
            if isinstance(value, syntax.Array) and isinstance(step, int):
                if not 0 <= step < len(value.items):
                    raise KeyError(step)
                value = value.items[step]
            elif isinstance(value, syntax.Map):
                value = {entry.key.text: entry.value for entry in value.entries}[str(step)]
            else:
                raise KeyError(step)
        return span_of(value)


def span_of(construct: object) -> Span:
    """The offsets of anything that has ``start`` and ``end``."""
    return Span(construct.start, construct.end)  # type: ignore[attr-defined]  # duck-typed on purpose


def elements_of(construct: Construct) -> tuple[Construct, ...]:
    """The constructs of a pattern's elements, in the order of the tree."""
    match construct:
        case syntax.Annotated():
            return (construct.body,)
        case syntax.Bracket():
            return construct.elements
        case syntax.Path():
            hops = tuple(map(Hop, construct.nodes, construct.arrows, construct.nodes[1:]))
            return elements_of(hops[0]) if len(hops) == 1 else hops
        case Hop():
            ends = (construct.left, construct.right)
            return ends[::-1] if construct.arrow.kind == "left" else ends
        case _:
            return ()


def spans_of(construct: Construct) -> Spans:
    """The places of the parts of one construct."""
    identity: syntax.Name | None = None
    labels: tuple[syntax.Label, ...] = ()
    entries: Iterable[syntax.Entry | syntax.Annotation] = ()
    match construct:
        case syntax.Header():
            subject, entries = span_of(construct.record), construct.record.entries
        case syntax.Annotated():
            if construct.identified:
                identity, labels = construct.identified.identity, construct.identified.labels
            entries = construct.annotations
            last = entries[-1] if entries else construct.identified
            subject = Span(construct.start, last.end if last else construct.start)
        case syntax.Reference():
            identity, subject = construct.name, span_of(construct.name)
        case syntax.Path() if len(construct.arrows) > 1:
            subject = Span(construct.start, construct.start)
        case _:
            part = _subject_part(construct)
            identity, labels, subject = part.identity, part.labels, span_of(part)
            entries = part.record.entries if part.record else ()
    values = {entry.key.text: entry.value for entry in entries}
    return Spans(
        pattern=span_of(construct),
        subject=subject,
        identity=span_of(identity) if identity else None,
        labels={label.name.text: span_of(label.name) for label in labels},
        keys={entry.key.text: span_of(entry.key) for entry in entries},
        values={key: span_of(value) for key, value in values.items()},
        syntax=values,
    )


def _subject_part(
    construct: syntax.Bracket | syntax.Node | syntax.Path | Hop,
) -> syntax.SubjectPart:
    if isinstance(construct, syntax.Path):
        return construct.arrows[0].subject
    return construct.arrow.subject if isinstance(construct, Hop) else construct.subject
