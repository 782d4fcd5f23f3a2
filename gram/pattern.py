"""The trees of the notation: `Pattern` and the `Subject` each of its places carries.

Both are immutable, hashable and weak-referenceable. Changing one means building another with
``attrs.evolve`` or a lens; what did not change is shared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import attrs
from attrs import field, frozen
from pyrsistent import PMap, pmap

from .errors import MAX_LEVELS, GramEncodeError, TooDeepError
from .values import Value, check_text, exact, freeze_map, levels

WALK = "Gram.Walk"
"""The label of a path of two or more hops."""

_NO_PROPERTIES: PMap[str, Value] = pmap()

_T = TypeVar("_T")


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
    return all_patterns(elements, "elements")


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
    Subject(identity='a', labels=frozenset({'Person'}), properties=pmap({'age': 30}))
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

    @classmethod
    def _of_checked(
        cls, identity: str, labels: frozenset[str], properties: PMap[str, Value], levels: int
    ) -> Subject:
        """A subject of parts that are known to be checked and frozen, as the parser's own are.

        It is made as unpickling makes it, which costs a fraction of checking everything again.
        """
        state = {"identity": identity, "labels": labels, "properties": properties, "levels": levels}
        return _restored(cls, state)


@frozen(cache_hash=True)
class Pattern:
    """A subject with its elements, themselves patterns, in order.

    Args:
        value: the subject.
        elements: the patterns below it (any iterable).

    Raises:
        GramEncodeError: an element is no pattern, or the tree nests deeper than 100 levels.

    >>> Pattern(Subject("a"), [Pattern(Subject("b"))]).elements[0].value.identity
    'b'
    """

    value: Subject = field(factory=Subject)
    elements: tuple[Pattern, ...] = field(default=(), converter=_elements)
    levels: int = field(init=False, eq=False, repr=False)
    """How deep the tree nests, `gram.MAX_LEVELS` at the most."""

    @value.validator
    def _is_subject(self, _: object, value: object) -> None:
        if not isinstance(value, Subject):
            raise GramEncodeError(f"expected Subject, found {type(value).__name__}", "value")

    @levels.default
    def _count_levels(self) -> int:
        return _levels_of(self.value, self.elements)

    def _lens_setattr(self, name: str, value: Any) -> Pattern:
        return attrs.evolve(self, **{name: value})

    @classmethod
    def _of_checked(cls, value: Subject, elements: tuple[Pattern, ...] = ()) -> Pattern:
        """A pattern of a subject and a tuple of patterns, known to be these."""
        state = {"value": value, "elements": elements, "levels": _levels_of(value, elements)}
        return _restored(cls, state)


WALK_SUBJECT = Subject("", {WALK})
"""The subject of a path of two or more hops."""


def patterns_of(one_or_many: Pattern | Iterable[Pattern]) -> tuple[Pattern, ...]:
    """A pattern, or an iterable of them, as a tuple of patterns.

    Raises:
        GramEncodeError: it is neither; a text has to be read first.
    """
    return (one_or_many,) if isinstance(one_or_many, Pattern) else all_patterns(one_or_many)


def all_patterns(several: object, path: str = "") -> tuple[Pattern, ...]:
    """An iterable of patterns as a tuple of them; a single pattern is none.

    Raises:
        GramEncodeError: it is none; the message has the ``path`` of what is no pattern.
    """
    if isinstance(several, str) or not isinstance(several, Iterable):
        raise GramEncodeError(f"expected patterns, found {type(several).__name__}", path)
    checked: tuple[Pattern, ...] = tuple(several)
    for index, each in enumerate(checked):
        if not isinstance(each, Pattern):
            kind = type(each).__name__
            raise GramEncodeError(f"expected Pattern, found {kind}", f"{path}[{index}]")
    return checked


def _levels_of(value: object, elements: tuple[Pattern, ...]) -> int:
    deepest = value.levels if isinstance(value, Subject) else 0
    for element in elements:
        deepest = max(deepest, element.levels)
    if deepest >= MAX_LEVELS:
        raise TooDeepError
    return deepest + 1


def _restored(cls: type[_T], state: dict[str, object]) -> _T:
    restored = cls.__new__(cls)
    restored.__setstate__(state)  # type: ignore[attr-defined]  # attrs gives it to slotted classes
    return restored
