"""Which arrows of a workflow are never taken together, because a choice takes one or the other.

Every way in which the choices can go is followed once. Choices that no run makes after another one
are not combined, so a chain of choices has as many ways as it has ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product

from gram import Symbol, Value, exact

from .arrows import FlowArrow

MOST_WAYS = 4096
"""How many ways through a workflow are followed."""


class Ways:
    """The ways in which the choices of a workflow can go.

    Attributes:
        live: for each way, the indices of the arrows that are taken.
        too_many: there are more ways than are followed, which is a fault.
    """

    def __init__(self, order: Sequence[str], arrows: Sequence[FlowArrow]) -> None:
        self.arrows = tuple(arrows)
        self._leading: dict[str | None, list[int]] = {}
        self._leaving: dict[str | None, list[int]] = {}
        for index, arrow in enumerate(self.arrows):
            self._leading.setdefault(arrow.target, []).append(index)
            self._leaving.setdefault(arrow.source, []).append(index)
        self.live: list[frozenset[int]] = [frozenset()]
        self.too_many = False
        for name in (None, *order):
            self.live = [after for way in self.live for after in self._from(name, way)]
            if len(self.live) > MOST_WAYS:
                self.too_many = True
                self.live = self.live[:MOST_WAYS]

    def _from(self, name: str | None, way: frozenset[int]) -> Iterator[frozenset[int]]:
        """A way with the arrows that are taken from a node, for each that it can choose."""
        leaving = self._leaving.get(name, ())
        is_run = name is None or not way.isdisjoint(self._leading.get(name, ()))
        if not is_run or not leaving:
            yield way
            return
        for taken in _arms([self.arrows[index] for index in leaving]):
            yield way | {leaving[index] for index in taken}

    def runs(self, way: frozenset[int], name: str | None) -> bool:
        """Whether a node is run in a way; None asks for the result."""
        return not way.isdisjoint(self._leading.get(name, ()))

    def at_most_one(self, arrows: Iterable[FlowArrow]) -> bool:
        """Whether no two of some arrows are ever taken together."""
        wanted = {id(each) for each in arrows}
        indices = {index for index, each in enumerate(self.arrows) if id(each) in wanted}
        return all(len(way & indices) < 2 for way in self.live)

    def at_most_one_run(self, names: Iterable[str]) -> bool:
        """Whether no two of some nodes are ever run together."""
        names = tuple(names)
        return all(sum(self.runs(way, name) for name in names) < 2 for way in self.live)


def _arms(leaving: Sequence[FlowArrow]) -> Iterator[tuple[int, ...]]:
    """The arrows of one node that can be taken together, for each of the answers it may give."""
    always = [index for index, each in enumerate(leaving) if not each.is_choice]
    tests = [index for index, each in enumerate(leaving) if each.kind == "WHEN"]
    rest = [index for index, each in enumerate(leaving) if each.kind == "OTHERWISE"]
    if not tests and not rest:
        yield tuple(always)
        return
    seen = set()
    for answer in _answers([leaving[index] for index in tests]):
        chosen = [index for index in tests if _holds(leaving[index].conditions, answer)]
        taken = tuple(sorted((*always, *(chosen or rest))))
        if (chosen or rest) and taken not in seen:
            seen.add(taken)
            yield taken
    if not seen:
        yield tuple(always)


def _answers(tests: Sequence[FlowArrow]) -> Iterator[dict[str, object]]:
    """The answers that differ for some tests: of each field the tested values, and another one."""
    values: dict[str, list[object]] = {}
    for test in tests:
        for name, value in test.conditions.items():
            known = values.setdefault(name, [_OTHER])
            if all(exact(value) != exact(each) for each in known):
                known.append(value)
    for answer in islice(product(*values.values()), MOST_WAYS):
        yield dict(zip(values, answer, strict=True))


_OTHER = Symbol("other")
"""A value that no test asks for: symbols are texts in tests."""


def _holds(conditions: Mapping[str, Value], answer: Mapping[str, object]) -> bool:
    return all(exact(answer[name]) == exact(value) for name, value in conditions.items())
