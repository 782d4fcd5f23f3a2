"""The trees of the notation: `Pattern`, the `Subject` of each place, its shape and its origin.

Both are immutable, hashable and weak-referenceable. Changing one means building another with
``attrs.evolve`` or a lens; what did not change is shared.

Reading keeps the place with the pattern. It plays no part in equality, hashing and repr, so equal
patterns read from two files have two places. A pattern that was made, copied or unpickled has no
place; after an edit, what was not changed keeps its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias, TypeVar

import attrs
from attrs import field, frozen
from pyrsistent import PMap, pmap

from ..errors import MAX_LEVELS, GramEncodeError, TooDeepError, expect, expect_all
from ..showing import WAYS, Shown
from ..source import Source, Span
from .values import Value, check_text, exact, freeze_map, levels

WALK = "Gram.Walk"
"""The label of a path of two or more hops."""

_NO_PROPERTIES: PMap[str, Value] = pmap()

ReadFrom: TypeAlias = tuple[Source, int, int]
"""A text, and the start and end of a pattern in it."""


def _identity(identity: object) -> str:
    if not isinstance(identity, str):
        raise GramEncodeError(f"expected str, found {type(identity).__name__}", "identity")
    return check_text(identity, "identity")


def _labels(labels: object) -> frozenset[str]:
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise GramEncodeError(f"expected a set of str, found {labels!r}", "labels")
    checked = set()
    for label in labels:
        if not isinstance(label, str):
            raise GramEncodeError(f"expected str, found {type(label).__name__}", "labels")
        checked.add(check_text(label, "labels"))
    return frozenset(checked)


def _properties(properties: object) -> PMap[str, Value]:
    if not isinstance(properties, Mapping):
        raise GramEncodeError(f"expected a mapping, found {properties!r}", "properties")
    return freeze_map(properties, "properties", 0) if properties else _NO_PROPERTIES


def _elements(elements: object) -> tuple[Pattern, ...]:
    if isinstance(elements, str) or not isinstance(elements, Iterable):
        raise GramEncodeError(f"expected patterns, found {type(elements).__name__}", "elements")
    checked: tuple[Pattern, ...] = tuple(elements)
    for index, each in enumerate(checked):
        if not isinstance(each, Pattern):
            found = type(each).__name__
            raise GramEncodeError(f"expected Pattern, found {found}", f"elements[{index}]")
    return checked


@frozen(cache_hash=True)
class Subject:
    """What a pattern says of itself: a name, labels and properties.

    Args:
        identity: the name; ``""`` is anonymous.
        labels: a set of str (any iterable but a str).
        properties: a mapping from str to values; lists and dicts inside are frozen.

    Raises:
        GramEncodeError: a part has no notation; the message has its path.

    >>> Subject("a", {"Person"}, {"age": 30})
    <Subject a:Person {age: 30}>
    """

    identity: str = field(default="", converter=_identity)
    labels: frozenset[str] = field(default=frozenset(), converter=_labels)
    properties: PMap[str, Value] = field(default=_NO_PROPERTIES, converter=_properties, eq=exact)
    levels: int = field(init=False, eq=False, repr=False)
    """How deep the values nest: 0 where none is an array or a map."""

    @levels.default
    def _count_levels(self) -> int:
        return max(map(levels, self.properties.values()), default=0) if self.properties else 0

    def _lens_setattr(self, name: str, value: Any) -> Subject:
        return attrs.evolve(self, **{name: value})

    def __repr__(self) -> str:
        return f"<Subject {WAYS['subject'](self)}>"

    @classmethod
    def _of_checked(
        cls, identity: str, labels: frozenset[str], properties: PMap[str, Value], levels: int
    ) -> Subject:
        """A subject of parts that are known to be checked and frozen, as the parser's own are."""
        return _made(cls, identity=identity, labels=labels, properties=properties, levels=levels)


@frozen(cache_hash=True)
class Pattern(Shown):
    """A subject with its elements, themselves patterns, in order.

    Args:
        value: the subject.
        elements: the patterns below it (any iterable).
        came_from: where the pattern was read that this one is a changed version of. Lenses and
            ``attrs.evolve`` carry it, and `Document.replace` keeps its comments by it. It is
            neither compared nor pickled.

    Raises:
        GramEncodeError: an element is not a Pattern, or the tree nests deeper than 100 levels.

    >>> Pattern(Subject("a"), [Pattern(Subject("b"))])
    <Pattern [a | b]>
    """

    value: Subject = field(factory=Subject)
    elements: tuple[Pattern, ...] = field(default=(), converter=_elements)
    came_from: ReadFrom | None = field(default=None, kw_only=True, eq=False, repr=False)
    levels: int = field(init=False, eq=False, repr=False)
    """How deep the tree nests, `gram.MAX_LEVELS` at the most."""
    _place: ReadFrom | None = field(init=False, default=None, eq=False, repr=False)
    """Where it was read from, see `gram.origin`. It is not compared, copied or pickled."""

    @value.validator
    def _is_subject(self, _: object, value: object) -> None:
        if not isinstance(value, Subject):
            raise GramEncodeError(f"expected Subject, found {type(value).__name__}", "value")

    @came_from.validator
    def _is_place(self, _: object, value: object) -> None:
        is_place = isinstance(value, tuple) and [Source, int, int] == [*map(type, value)]
        if value is not None and not is_place:
            raise GramEncodeError("it is what another pattern has as came_from", "came_from")

    @levels.default
    def _count_levels(self) -> int:
        return _levels_of(self.value, self.elements)

    def _lens_setattr(self, name: str, value: Any) -> Pattern:
        return attrs.evolve(self, **{name: value})

    def __repr__(self) -> str:
        return f"<Pattern {WAYS['pattern'](self)}>"

    def __reduce__(self) -> tuple[object, ...]:
        return Pattern._of_checked, (self.value, self.elements)

    @classmethod
    def _of_checked(
        cls,
        value: Subject,
        elements: tuple[Pattern, ...] = (),
        place: ReadFrom | None = None,
        came_from: ReadFrom | None = None,
    ) -> Pattern:
        """A pattern of a subject and a tuple of patterns, known to be these."""
        levels = _levels_of(value, elements)
        return _made(
            cls, value=value, elements=elements, levels=levels, _place=place, came_from=came_from
        )


_T = TypeVar("_T")


def _made(kind: type[_T], **attributes: object) -> _T:
    """A value of a frozen class, whose attributes are checked already."""
    made = object.__new__(kind)
    for name, value in attributes.items():
        object.__setattr__(made, name, value)
    object.__setattr__(made, _KEPT_HASH, None)
    return made


_KEPT_HASH: str = next(name for name in vars(Pattern) if name.endswith("cached_hash"))
"""Where attrs keeps the hash."""


WALK_SUBJECT = Subject("", {WALK})
"""The subject of a path of two or more hops."""


def patterns_of(
    one_or_many: Pattern | Iterable[Pattern], name: str = "pattern", *, by: str
) -> tuple[Pattern, ...]:
    """A pattern, or an iterable of patterns, as a tuple of patterns.

    Args:
        one_or_many: the argument of a public function.
        name: the name of its parameter.
        by: the name of the function.
    """
    if isinstance(one_or_many, Pattern):
        return (one_or_many,)
    wanted = "a Pattern or an iterable of Patterns"
    return expect_all(one_or_many, Pattern, name, by=by, wanted=wanted)


def _levels_of(value: object, elements: tuple[Pattern, ...]) -> int:
    deepest = value.levels if isinstance(value, Subject) else 0
    for element in elements:
        deepest = max(deepest, element.levels)
    if deepest >= MAX_LEVELS:
        raise TooDeepError
    return deepest + 1


def is_reference(element: Pattern) -> bool:
    """Whether an element is written as a bare name."""
    expect(element, Pattern, "element", by="is_reference")
    subject = element.value
    says_more = subject.labels or subject.properties or element.elements
    return bool(subject.identity and not says_more)


def is_header(pattern: Pattern) -> bool:
    """Whether a pattern is written as a header record when it is the first of a document."""
    subject = pattern.value
    says_more = subject.identity or subject.labels or pattern.elements
    return bool(subject.properties and not says_more)


def is_edge(pattern: Pattern) -> bool:
    """Whether a pattern has exactly two elements, both atoms."""
    expect(pattern, Pattern, "pattern", by="is_edge")
    return len(pattern.elements) == 2 and not any(e.elements for e in pattern.elements)


def walk_nodes(pattern: Pattern) -> tuple[Pattern, ...] | None:
    """The nodes along a walk, one more than its edges, or None when it has no walk form.

    Each edge must hold the node before it; where an edge can be read both ways the first node is
    chosen so that the next edges can go on.
    """
    edges = pattern.elements
    if pattern.value != WALK_SUBJECT or len(edges) < 2 or not all(map(is_edge, edges)):
        return None
    for first in edges[0].elements:
        nodes = [first]
        for edge in edges:
            left, right = edge.elements
            if left == nodes[-1]:
                nodes.append(right)
            elif right == nodes[-1]:
                nodes.append(left)
            else:
                break
        else:
            return tuple(nodes)
    return None


class Origin(NamedTuple):
    """The place a pattern was read from.

    Attributes:
        source: the text and its file name.
        span: the offsets of the pattern in it.
    """

    source: Source
    span: Span

    @property
    def filename(self) -> str | None:
        """The name of the file, or None."""
        return self.source.filename

    @property
    def lineno(self) -> int:
        """The line the pattern begins on, from 1."""
        return self.source.position(self.span.start)[0]

    @property
    def colno(self) -> int:
        """The column the pattern begins in, from 1."""
        return self.source.position(self.span.start)[1]

    def __repr__(self) -> str:
        return f"<Origin {self}>"

    def __str__(self) -> str:
        return self.source.place(self.span.start)


def read_from(pattern: Pattern) -> ReadFrom | None:
    """What `origin` tells, for loops over many patterns: the text, the start and the end."""
    return pattern._place


def origin(pattern: Pattern) -> Origin | None:
    """Where a pattern was read from, or None when it was made.

    >>> from gram import loads_one
    >>> agent = loads_one("[a |\\n  (b)]")
    >>> str(origin(agent.elements[0]))
    '2:3'
    """
    expect(pattern, Pattern, "pattern", by="origin")
    place = pattern._place
    if place is None:
        return None
    source, start, end = place
    return Origin(source, Span(start, end))


def carry_origin(pattern: Pattern, old: Pattern) -> Pattern:
    """An equal pattern with the place of ``old``, which it is a changed version of.

    >>> import attrs
    >>> from gram import Subject, loads_one
    >>> old = loads_one("  (a)")
    >>> new = carry_origin(attrs.evolve(old, value=Subject("b")), old)
    >>> new.value.identity, str(origin(new))
    ('b', '1:3')
    """
    came_from = pattern.came_from or old.came_from
    return Pattern._of_checked(pattern.value, pattern.elements, old._place, came_from)
