"""Checks of names: where they are defined, where they are used, and where the two disagree.

A pattern with labels, properties or elements defines its name; a bare name only refers to it.
Within a scope a name has one definition.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from ..diagnostics import Diagnostic
from ..suggestions import did_you_mean
from ..trees import Pattern, TreePath, is_edge, is_reference
from .reading import Occurrence, Reading

_MOST_HINTS = 50  # looking for similar names costs more than all the checks together


def duplicate_definition(reading: Reading) -> Iterator[Diagnostic]:
    """A name defined twice in a scope, with other labels, properties or elements."""
    for first, again in _second_definitions(reading):
        different = _differences(first, again)
        if different and not _is_inconsistent(first, again):
            where = reading.cited(first.path)
            message = f"`{again.name}` is defined at {where} with other {' and '.join(different)}"
            yield Diagnostic.found(message, again.path, "identity")


def inconsistent_definition(reading: Reading) -> Iterator[Diagnostic]:
    """A relationship's name used again for other ends, or for a bracket of another kind."""
    for first, again in _second_definitions(reading):
        if _is_inconsistent(first, again):
            where = reading.cited(first.path)
            message = f"`{again.name}` is {_shape(first)} at {where}, but {_shape(again)} here"
            yield Diagnostic.found(message, again.path, "identity")


def self_reference(reading: Reading) -> Iterator[Diagnostic]:
    """A pattern that is its own element."""
    for each in reading.occurrences:
        for index, element in enumerate(each.pattern.elements):
            if element.value.identity == each.name and is_reference(element):
                message = f"`{each.name}` is an element of itself"
                yield Diagnostic.found(message, (*each.path, index), "identity")


def dangling_reference(reading: Reading) -> Iterator[Diagnostic]:
    """A bare name among elements that no pattern in sight has."""
    names: dict[TreePath, set[str]] = defaultdict(set)
    for each in reading.occurrences:
        if each.name and not each.is_bare:
            names[each.scope].add(each.name)
    hints = 0
    for each in reading.occurrences:
        if not each.is_bare:
            continue
        visible = [names[scope] for scope in reading.scopes_from(each.scope)]
        if any(each.name in known for known in visible):
            continue
        hint = did_you_mean(each.name, set().union(*visible)) if hints < _MOST_HINTS else None
        hints += 1
        yield Diagnostic.found(
            f"nothing here is named `{each.name}`", each.path, "identity", hint=hint
        )


def label_sets_differ(reading: Reading) -> Iterator[Diagnostic]:
    """A name with other labels in another scope; within a scope that is a duplicate definition."""
    first: dict[str, Occurrence] = {}
    for each in reading.occurrences:
        labels = each.pattern.value.labels
        if not each.name or not labels or each.is_private:
            continue
        known = first.setdefault(each.name, each)
        if known.scope != each.scope and known.pattern.value.labels != labels:
            other = _labels(known.pattern.value.labels)
            where = reading.cited(known.path)
            message = f"`{each.name}` is labelled {_labels(labels)} here and {other} at {where}"
            yield Diagnostic.found(message, each.path, "labels")


def members(elements: Iterable[Pattern]) -> list[object]:
    """The elements of a definition as they are compared: one with a name by its name alone."""
    return [element.value.identity or element for element in elements]


def _second_definitions(reading: Reading) -> Iterator[tuple[Occurrence, Occurrence]]:
    """Each further definition of a name, with the first one in its scope."""
    first: dict[tuple[TreePath, str], Occurrence] = {}
    for each in reading.occurrences:
        subject = each.pattern.value
        if subject.identity and (subject.labels or subject.properties or each.pattern.elements):
            known = first.setdefault((each.scope, each.name), each)
            if known is not each:
                yield known, each


def _differences(first: Occurrence, again: Occurrence) -> list[str]:
    one, other = first.pattern.value, again.pattern.value
    different = ["labels"] if one.labels != other.labels else []
    # a subject's equality is exact where that of a PMap is not: 1 and 1.0 differ
    if one != other and (one.labels == other.labels or one.properties != other.properties):
        different.append("properties")
    if members(first.pattern.elements) != members(again.pattern.elements):
        different.append("elements")
    return different


def _is_inconsistent(first: Occurrence, again: Occurrence) -> bool:
    """Whether one is a relationship and the other has elements that are not its ends."""
    if not (is_edge(first.pattern) or is_edge(again.pattern)):
        return False
    both_have_elements = bool(first.pattern.elements and again.pattern.elements)
    return both_have_elements and members(first.pattern.elements) != members(again.pattern.elements)


def _shape(each: Occurrence) -> str:
    elements = each.pattern.elements
    if not is_edge(each.pattern):
        return f"a bracket of {len(elements)}"
    left, right = (element.value.identity for element in elements)
    return f"a relationship from `{left}` to `{right}`"


def _labels(labels: frozenset[str]) -> str:
    return "".join(f":{label}" for label in sorted(labels))
