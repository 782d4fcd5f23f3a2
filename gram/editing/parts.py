"""The patterns of the old and the new document in their places, and how alike two of them are."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TypeAlias

from ..reading import Construct, construct_of
from ..source import Span
from ..trees import Pattern, exact, is_reference, read_from
from .alignment import Pairing
from .comma_list import ElementList

Feature: TypeAlias = tuple[Hashable, ...]
"""Something that a pattern is known by: its kind, and what it is."""


class Part:
    """A pattern at its place in the old or in the new document.

    Attributes:
        pattern: the pattern.
        is_old: whether it is of the old document.
        parent: the pattern whose element it is, or None at the top.
        index: its place among the elements of the parent.
        lists: the lists that it is paired in; None below a pattern without a partner.
        partner: the pattern of the other document that it is: the new one has the old one's text.
        place: the pattern of the other document whose place in its list is the same; comments
            around the old one stay there.
        is_whole: whether it is equal to its partner, and nothing inside belongs elsewhere.
        keeps_elements: whether its elements are equal to those of its partner, and nothing inside
            belongs elsewhere; then they are not paired.
        is_open: whether its elements and those of its partner are paired.
        old_list: its elements with the comments around each, once they were asked for.
        has_partners: whether a pattern below it has a partner.
    """

    __slots__ = (
        "_construct",
        "_parts",
        "has_partners",
        "index",
        "is_old",
        "is_open",
        "is_whole",
        "keeps_elements",
        "lists",
        "old_list",
        "parent",
        "partner",
        "pattern",
        "place",
    )

    def __init__(
        self,
        pattern: Pattern,
        index: int,
        parent: Part | None = None,
        *,
        is_old: bool = False,
        construct: Construct | None = None,
    ) -> None:
        self.pattern, self.index, self.parent = pattern, index, parent
        self.is_old, self._construct = is_old, construct
        self.lists: Lists | None = None
        self.partner: Part | None = None
        self.place: Part | None = None
        self.old_list: ElementList | None = None
        self.is_whole = self.keeps_elements = self.is_open = self.has_partners = False
        self._parts: list[Part] | None = None

    @property
    def parts(self) -> list[Part]:
        """Its elements."""
        if self._parts is None:
            if not self.is_old or self.opener == "[":
                elements = enumerate(self.pattern.elements)
                self._parts = [Part(each, at, self, is_old=self.is_old) for at, each in elements]
            else:  # nodes that two hops share are one construct
                constructs = enumerate(self.construct.elements if self.construct else ())
                self._parts = [
                    Part(each.pattern, at, self, is_old=True, construct=each)
                    for at, each in constructs
                ]
        return self._parts

    @property
    def construct(self) -> Construct | None:
        """Its text, for one of the old document; it is read when it is asked for."""
        if self._construct is None and self.is_old:
            self._construct = construct_of(self.pattern)
        return self._construct

    @property
    def span(self) -> Span:
        """Where its text is, for one of the old document."""
        return _place_of(self.pattern)[1]

    @property
    def opener(self) -> str:
        """The first character of its text, for one of the old document: what construct it is."""
        text, (start, _) = _place_of(self.pattern)
        return text[start]

    @property
    def is_in_place(self) -> bool:
        """Whether it has the partner and the place of the one old pattern in one list."""
        old = self.partner
        return (
            old is not None
            and old is self.place
            and old.lists is self.lists
            and old.index == self.index
        )

    @property
    def name(self) -> str:
        """Its identity, ``""`` when it has none."""
        return self.pattern.value.identity

    @property
    def is_definition(self) -> bool:
        """Whether it has a name and more than that."""
        return bool(self.name) and not is_reference(self.pattern)

    @property
    def path(self) -> tuple[Pattern, ...]:
        """The patterns around it, outermost first, and its own."""
        found: list[Pattern] = []
        part: Part | None = self
        while part is not None:
            found.append(part.pattern)
            part = part.parent
        return tuple(reversed(found))

    @property
    def home(self) -> Lists | None:
        """The lists that it, or the nearest pattern around it, is paired in."""
        part: Part | None = self
        while part is not None and part.lists is None:
            part = part.parent
        return part.lists if part else None

    @property
    def is_taken(self) -> bool:
        """Whether it has a partner, or is inside a pattern with the elements of its partner."""
        part: Part | None = self
        while part is not None and part.partner is None:
            part = part.parent
        return part is self or (part is not None and (part.is_whole or part.keeps_elements))

    @property
    def is_free(self) -> bool:
        """Whether neither it nor a pattern inside or around it is taken."""
        return not (self.has_partners or self.is_taken)

    @property
    def inside(self) -> Iterator[Part]:
        """The outermost patterns below it that have a partner."""
        for part in self.parts if self.has_partners else ():
            if part.partner is None:
                yield from part.inside
            else:
                yield part


def _place_of(pattern: Pattern) -> tuple[str, Span]:
    place = read_from(pattern)
    assert place is not None, "the pattern was read"
    source, start, end = place
    return source.text, Span(start, end)


class Lists:
    """The elements of two partners, old and new, and how they are paired."""

    def __init__(self, old: list[Part], new: list[Part]) -> None:
        self.old, self.new = old, new
        self.pairing = Pairing(len(old), len(new))
        # a part may have moved before the pattern around it found its partner
        self.pairing.old_is_free = [part.partner is None for part in old]
        self.pairing.new_is_free = [part.partner is None for part in new]
        for part in (*old, *new):
            part.lists = self

    def loose(self) -> tuple[list[Part], list[Part]]:
        """The old and the new elements without partner and place."""
        old, new = (
            [part for part in side if part.partner is None and part.place is None]
            for side in (self.old, self.new)
        )
        return old, new


def features_of(pattern: Pattern) -> frozenset[Feature]:
    """What a pattern is known by under another name.

    A named element counts by its name and by what it holds, so that either may change, another by
    its labels, keys and size, and an empty one not at all. A pattern without a name is known by
    its keys and its size too, so that the values and the elements may change.
    """
    subject = pattern.value
    features: list[Feature] = [("label", label) for label in subject.labels]
    features += [("property", key, exact(value)) for key, value in subject.properties.items()]
    for each in pattern.elements:
        inner = each.value
        if inner.identity and not is_reference(each):
            features.append(("name", inner.identity))
            features.append(("body", inner.labels, inner.properties, each.elements))
        elif each != Pattern():
            features.append(("element", _shape_of(each)))
    if not subject.identity:
        features += [("key", key) for key in subject.properties]
        features.append(("size", len(pattern.elements)))
    return frozenset(features)


def _shape_of(element: Pattern) -> Hashable:
    subject = element.value
    keys = frozenset(subject.properties)
    return subject.identity or (subject.labels, keys, len(element.elements))


def likeness(old: frozenset[Feature], new: frozenset[Feature], *, same_name: bool) -> float:
    """How much two patterns have in common, from 0 to 1."""
    common = sum(map(_weight, old & new)) + same_name
    size = sum(map(_weight, old)) + sum(map(_weight, new)) + 2 * same_name
    return 2 * common / size if size else 0.0


def _weight(feature: Feature) -> float:
    """A label tells little, for many have it; a text that somebody wrote tells most."""
    kind, value = feature[0], feature[-1]
    if kind in ("label", "name", "body"):
        return 0.5
    return 2 if kind == "property" and isinstance(value, str) and " " in value else 1
