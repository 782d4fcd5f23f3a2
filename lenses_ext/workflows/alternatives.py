"""Which arrows of a workflow are never taken together, because a choice takes one or the other.

Every way in which the choices can go is followed once. Choices that no run makes after another one
are not combined, so a chain of choices has as many ways as it has ends.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import islice, product

from ..schemas import NotJson
from .answers import answer_key
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
        self._index = {id(arrow): index for index, arrow in enumerate(self.arrows)}
        self._leading: dict[str | None, list[int]] = {}
        self._leaving: dict[str | None, list[int]] = {}
        for index, arrow in enumerate(self.arrows):
            self._leading.setdefault(arrow.target, []).append(index)
            self._leaving.setdefault(arrow.source, []).append(index)
        self.live: list[frozenset[int]] = [frozenset()]
        self.too_many = False
        for name in (None, *order):
            leaving = self._leaving.get(name, ())
            arms, complete = _arms([self.arrows[index] for index in leaving])
            taken = [frozenset(leaving[index] for index in arm) for arm in arms]
            self.live = [
                way | each
                for way in self.live
                for each in (taken if name is None or self.runs(way, name) else [frozenset()])
            ]
            if not complete or len(self.live) > MOST_WAYS:
                self.too_many = True
                self.live = self.live[:MOST_WAYS]

    def runs(self, way: frozenset[int], name: str | None) -> bool:
        """Whether a node is run in a way; None asks for the result."""
        return not way.isdisjoint(self._leading.get(name, ()))

    def at_most_one(self, arrows: Iterable[FlowArrow]) -> bool:
        """Whether no two of some arrows are ever taken together."""
        indices = {self._index[id(each)] for each in arrows}
        return len(indices) < 2 or all(len(way & indices) < 2 for way in self.live)

    def together(self, arrows: Iterable[FlowArrow]) -> Iterator[tuple[FlowArrow, FlowArrow]]:
        """Those of some arrows that are taken together with an earlier one, each behind it."""
        indices = {self._index[id(each)] for each in arrows}
        found: dict[int, int] = {}
        for way in self.live:
            first, *others = sorted(way & indices) or [0]
            for other in others:
                found.setdefault(other, first)
        return ((self.arrows[first], self.arrows[other]) for other, first in found.items())

    def at_most_one_run(self, names: Iterable[str]) -> bool:
        """Whether no two of some nodes are ever run together."""
        names = tuple(names)
        return all(sum(self.runs(way, name) for name in names) < 2 for way in self.live)


def _arms(leaving: Sequence[FlowArrow]) -> tuple[Iterable[tuple[int, ...]], bool]:
    """The arrows of one node that can be taken together, for each of the answers it may give.

    Answers differ by what is asked of them: each field has the tested values, and another one.
    Whether these are all, too: a node with many choices may have more than are followed.
    """
    always = [index for index, each in enumerate(leaving) if not each.is_choice]
    rest = [index for index, each in enumerate(leaving) if each.kind == "OTHERWISE"]
    tests: dict[tuple[str, ...], dict[tuple[Hashable, ...], list[int]]] = {}
    values: dict[str, dict[Hashable, None]] = {}
    for index, each in enumerate(leaving):
        if each.kind == "WHEN":
            wanted = {name: answer_key(value) for name, value in each.conditions.items()}
            tests.setdefault(tuple(wanted), {}).setdefault(tuple(wanted.values()), []).append(index)
            for name, key in wanted.items():
                known = values.setdefault(name, {_OTHER: None})
                if key is not NotJson:  # which no answer is
                    known[key] = None
    seen: dict[tuple[int, ...], None] = {}
    answers = product(*values.values())
    for answer in islice(answers, MOST_WAYS):
        given = dict(zip(values, answer, strict=True))
        chosen = [
            index
            for names, arrows in tests.items()
            for index in arrows.get(tuple([given[name] for name in names]), ())
        ]
        if chosen or rest or not tests:
            seen[tuple(sorted((*always, *(chosen or rest))))] = None
    return seen or [tuple(always)], next(answers, None) is None


_OTHER = object()
"""A value that no test asks for."""
