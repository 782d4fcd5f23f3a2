"""Replaces a pattern, wherever it is found, by another one with its holes filled.

What only the old pattern names is removed, and what neither names stays. A part of the new pattern
is the part of the old one with the same name or hole, else the one at the same place.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from attrs import define, evolve, field
from pyrsistent import PMap, PVector, pmap, pvector

from .. import trees
from ..trees import Pattern, Subject, Symbol, TreePath, Value
from . import query
from .query import AsWritten, Hops, Match, Part, QueryError, hops_of

_Build: TypeAlias = Callable[[], Pattern]


def rewrite(pattern: Pattern, new: Pattern, reading: AsWritten) -> tuple[Pattern, ...]:
    """The trees with another pattern wherever one is found.

    Args:
        pattern: what is looked for.
        new: what takes its place; its holes take what they match in ``pattern``.
        reading: the trees, and how they are read.

    Raises:
        QueryError: ``new`` has a hole that ``pattern`` does not have, or two matches change one
            thing in two ways.

    >>> from gram import dumps, loads, loads_one
    >>> old, new = loads_one("(_a:Agent {model: 1, top: _})"), loads_one("(_a:Agent {model: 2})")
    >>> print(dumps(rewrite(old, new, AsWritten(loads("(x:Agent {k: 0, model: 1, top: 9})")))))
    (x:Agent {k: 0, model: 2})
    """
    if unbound := sorted(query.holes_in(new) - query.holes_in(pattern)):
        raise QueryError(f"the new pattern has {', '.join(unbound)}, and the old one does not")
    rewriting = _Rewriting(pattern, new, reading)
    for match in query.find_matches(pattern, reading, every=True):
        rewriting.note(match)
    return rewriting.result()


@define(eq=False)
class _Change:
    """What changes in a pattern.

    Attributes:
        says: the new identity, labels and values, by what they are; None for what is removed.
        removed: the places of the elements, or of the parameters of a signature, that go.
        added: further ones, each with the index of the element that it follows.
        hops: of a path, the arrows that are replaced, with the nodes and arrows that do it.
        whole: what takes the place of the whole, for each way in which it was found.
    """

    says: dict[tuple[str, str], Any] = field(factory=dict)
    removed: set[TreePath] = field(factory=set)
    added: list[tuple[int, _Build]] = field(factory=list)
    hops: dict[tuple[int, int], tuple[list[_Build], list[tuple[Subject, bool]]]] = field(
        factory=dict
    )
    whole: list[_Build] = field(factory=list)


class _Rewriting:
    """Notes what matches change, and makes the changes, all in one pass."""

    def __init__(self, old: Pattern, new: Pattern, reading: AsWritten) -> None:
        self._old, self._new, self._reading = old, new, reading
        self._partners = _partners(old, new)
        self._changes: dict[TreePath, _Change] = {}
        self._touched: set[TreePath] = set()
        self._within: set[tuple[TreePath, bool]] = set()
        self._match = Match((), {}, {})

    def note(self, match: Match) -> None:
        """Note what a match changes."""
        self._match = match
        if self._partners.get(()) == ():
            self._part(())
            return
        self._change(self._whole(())).whole.append(self._build(()))

    def result(self) -> tuple[Pattern, ...]:
        """The trees, changed."""
        return tuple(self._rebuilt((index,)) for index in range(len(self._reading.patterns)))

    # --- what is noted

    def _part(self, at: TreePath) -> None:
        """A part of the new pattern that takes the place of one of the old."""
        old_at = self._partners[at]
        new, old, part = _at(self._new, at), _at(self._old, old_at), self._match.parts[old_at]
        if new == old or (at and trees.is_reference(new)):
            return  # among elements, a hole alone is the element as it is
        new_hops, old_hops = hops_of(new), hops_of(old)
        if new_hops and old_hops:
            self._path(new_hops, old_hops, at, old_at, part)
            return
        self._says(part.meant, old.value, new.value)
        change, before = self._change(part.meant), _places(old, old_at)
        kept = {self._partners.get(each) for each in _places(new, at)}
        gone = [self._whole(each) for each in before if each not in kept]
        change.removed.update(gone)
        last = gone[0][-1] if gone else len(self._at(part.meant).elements)
        for each in _places(new, at):
            partner = self._partners.get(each)
            if partner in before:
                last = self._match.parts[partner].path[-1]
                self._part(each)
            else:
                change.added.append((last, self._build(each)))

    def _whole(self, old_at: TreePath) -> TreePath:
        """The path to what a part of the old pattern was found in, if it is a whole pattern."""
        path, _, hops = self._match.parts[old_at]
        if hops and abs(hops[1]) < len(self._hops(path).edges):
            raise self._refused("a part of a path cannot be moved, removed or become no path")
        return path

    def _path(self, new: Hops, old: Hops, at: TreePath, old_at: TreePath, part: Part) -> None:
        before = [(*old_at, *each) for each in old.places]
        partners = [self._partners.get((*at, *each)) for each in new.places]
        if part.hops and (partners[-1], partners[0]) == (before[0], before[-1]):
            new, partners = new.reversed(), partners[::-1]
        change, nodes = self._change(part.path), [(*at, *each) for each in new.places]
        if part.hops is None:  # a signature, whose parameters have no order
            gone = (each for each in before if each not in partners)
            change.removed.update(self._match.parts[each].path for each in gone)
            for node, partner in zip(nodes, partners, strict=True):
                if partner in before:
                    self._part(node)
                elif _at(self._new, node) != Pattern():
                    change.added.append((0, self._build(node)))
            return
        found, (start, count) = self._hops(part.path), part.hops
        found = found if count > 0 else found.reversed()
        if partners == before and [on for _, on in new.edges] == [on for _, on in old.edges]:
            for node in nodes:
                self._part(node)
            for (edge, _), (was, _), place in zip(
                new.edges, old.edges, found.edge_places[start:], strict=False
            ):
                self._says((*part.path, *place), was.value, edge.value)
            return
        edges = [(self._subject_filled(edge.value), on) for edge, on in new.edges]
        builds = [self._build(node) for node in nodes]
        if count < 0:
            start = len(found.edges) - start + count
            edges, builds = [(edge, not on) for edge, on in edges[::-1]], builds[::-1]
        change.hops[start, start + abs(count)] = builds, edges

    def _says(self, path: TreePath, old: Subject, new: Subject) -> None:
        here, read = self._at(path).value, self._reading.label
        says: dict[tuple[str, str], Any] = {}
        if new.identity != old.identity:
            says["identity", ""] = self._name(new.identity)
        gone = {read(self._name(label)) for label in old.labels - new.labels}
        says |= {("label", label): None for label in here.labels if read(label) in gone}
        says |= {("label", self._name(label)): label for label in new.labels - old.labels}
        for key in old.properties.keys() - new.properties.keys():
            says["value", self._name(key)] = None
        for key, value in new.properties.items():
            was = old.properties.get(key)
            if was is None or trees.exact(was) != trees.exact(value):
                name = self._name(key)
                says["value", name] = self._value(was, value, here.properties.get(name))
        known = self._change(path).says
        for what, said in says.items():
            if trees.exact(known.setdefault(what, said)) != trees.exact(said):
                part = what[1] or what[0]
                raise self._refused(f"found twice, which would change its {part} in two ways")

    def _build(self, at: TreePath) -> _Build:
        """A function that makes a part of the new pattern that has moved, or is new."""
        new, partner = _at(self._new, at), self._partners.get(at)
        if partner is not None:
            self._part(at)
            path = self._whole(partner)
            return lambda: self._rebuilt(path, as_whole=False)
        subject = self._subject_filled(new.value)
        below = [self._build((*at, index)) for index in range(len(new.elements))]
        return lambda: Pattern(subject, [build() for build in below])

    # --- what holes match

    def _subject_filled(self, new: Subject) -> Subject:
        values = {self._name(key): self._value(None, v, None) for key, v in new.properties.items()}
        return Subject(self._name(new.identity), map(self._name, new.labels), values)

    def _name(self, name: str) -> str:
        bound = self._bound(name) if query.hole(name) else query.literal(name)
        if not isinstance(bound, str):
            raise self._refused(f"{name} is no name here, but {bound!r}")
        return bound

    def _value(self, old: Any, new: Value, here: Any) -> Value:
        """A value of the new pattern; a map keeps those entries that the old pattern leaves out."""
        if here is not None and trees.exact(old) == trees.exact(new):
            return here  # type: ignore[no-any-return]  # a value, or None
        if isinstance(new, Symbol):
            filled: Value = (
                self._bound(new.value)
                if query.hole(new.value)
                else Symbol(query.literal(new.value))
            )
            return filled
        if isinstance(new, PVector):
            return pvector([self._value(None, each, None) for each in new])
        if not isinstance(new, PMap):
            return new
        both = isinstance(old, PMap) and isinstance(here, PMap)
        was: Mapping[str, Any] = old if both else {}
        result: dict[str, Any] = dict(here) if both else {}
        for key in was.keys() - new.keys():
            result.pop(self._name(key), None)
        for key, value in new.items():
            name = self._name(key)
            result[name] = self._value(was.get(key), value, result.get(name))
        return pmap(result)

    def _bound(self, name: str) -> Any:
        if name == query.ANYTHING:
            raise self._refused("_ stands for nothing that is known: give the hole a name")
        bound = self._match.bindings[name]
        return bound.value.identity if isinstance(bound, Pattern) else bound

    # --- the trees

    def _at(self, path: TreePath) -> Pattern:
        return trees.pattern_at(self._reading.patterns, path)

    def _hops(self, path: TreePath) -> Hops:
        hops = hops_of(self._at(path))
        assert hops is not None, "a path was found in it"
        return hops

    def _change(self, path: TreePath) -> _Change:
        self._touched.update(path[:depth] for depth in range(len(path) + 1))
        return self._changes.setdefault(path, _Change())

    def _refused(self, reason: str) -> QueryError:
        place = trees.origin(self._at(self._match.path)) or f"the place {self._match.path}"
        return QueryError(f"{place}: {reason}")

    def _rebuilt(self, path: TreePath, *, as_whole: bool = True) -> Pattern:
        here = self._at(path)
        if path not in self._touched:
            return here
        if (path, as_whole) in self._within:
            raise self._refused("the new pattern puts an element into itself")
        self._within.add((path, as_whole))
        made = self._made(path, here, self._changes.get(path, _Change()), as_whole)
        self._within.remove((path, as_whole))
        return made

    def _made(self, path: TreePath, here: Pattern, change: _Change, as_whole: bool) -> Pattern:
        if as_whole and change.whole:
            first, *others = [build() for build in change.whole]
            if any(other != first for other in others):
                raise self._refused("found twice, and would be changed in two ways")
            return first
        if hops := hops_of(here):
            return self._rebuilt_path(path, here, hops, change)
        elements: list[Pattern] = []
        for index in range(len(here.elements) + 1):
            below = (*path, index)
            if index < len(here.elements) and below not in change.removed:
                elements.append(self._rebuilt(below))
            for build in (build for after, build in change.added if after == index):
                if (new := build()) not in elements:
                    elements.append(new)
        return evolve(here, value=self._subject(path), elements=elements)

    def _rebuilt_path(self, path: TreePath, here: Pattern, hops: Hops, change: _Change) -> Pattern:
        places = [(*path, *each) for each in hops.places]
        nodes = [self._rebuilt(each) for each in places if each not in change.removed]
        nodes[-1:-1] = [build() for _, build in change.added]
        if change.added and nodes[0] == Pattern():  # that a signature has no parameters
            del nodes[0]
        edges = [
            (evolve(edge, value=self._subject((*path, *place))), on)
            for (edge, on), place in zip(hops.edges, hops.edge_places, strict=True)
        ][: len(nodes) - 1]
        edges += [(Pattern(), True)] * (len(nodes) - 1 - len(edges))
        before = len(edges) + 1
        for (start, end), (builds, subjects) in sorted(change.hops.items(), reverse=True):
            made = [build() for build in builds]
            if end > before or (end == before and made[-1] != nodes[end]):
                raise self._refused(
                    "two parts of one path that are found change its node in two ways"
                )
            nodes[start : end + 1], before = made, start
            edges[start:end] = [(Pattern(subject), on) for subject, on in subjects]
        made = [
            evolve(edge, elements=(one, other) if on else (other, one))
            for (edge, on), one, other in zip(edges, nodes, nodes[1:], strict=False)
        ]
        if len(made) == 1:
            return evolve(here, value=made[0].value, elements=made[0].elements)
        return evolve(here, value=trees.WALK_SUBJECT, elements=made)

    def _subject(self, path: TreePath) -> Subject:
        here = self._at(path).value
        says: Mapping[tuple[str, str], Any] = self._changes.get(path, _Change()).says
        labels, values = set(here.labels), dict(here.properties)
        for (what, name), said in says.items():
            if what == "label":
                labels = labels - {name} if said is None else labels | {name}
            elif what == "value":
                values.pop(name, None)
                values |= {} if said is None else {name: said}
        return Subject(says.get(("identity", ""), here.identity), labels, values)


def _at(pattern: Pattern, path: TreePath) -> Pattern:
    return trees.pattern_at([pattern], (0, *path))


def _places(pattern: Pattern, at: TreePath) -> list[TreePath]:
    """The places of the elements of a pattern; of a path those of its nodes, once each."""
    hops = hops_of(pattern)
    below = hops.places if hops else [(index,) for index in range(len(pattern.elements))]
    return [(*at, *each) for each in below]


def _partners(old: Pattern, new: Pattern) -> dict[TreePath, TreePath]:
    """For each part of the new pattern, the part of the old one that it replaces."""
    names: dict[str, TreePath] = {"": (), query.ANYTHING: ()}
    for path, each in trees.walk(old):
        names.setdefault(each.value.identity, path)
    del names[""], names[query.ANYTHING]
    partners = {at: names[n] for at, each in trees.walk(new) if (n := each.value.identity) in names}
    taken = set(partners.values())
    if () not in taken and () not in partners and bool(hops_of(old)) == bool(hops_of(new)):
        partners[()] = ()
    for path, each in trees.walk(new):
        if path not in partners:
            continue
        below = _places(_at(old, partners[path]), partners[path])
        free = {at: _at(old, at) for at in below[::-1] if at not in taken}
        wanted = {at: _at(new, at) for at in _places(each, path)[::-1] if at not in partners}
        for is_one in (operator.eq, _may_be):
            for place, part in wanted.items():
                found = [at for at, other in free.items() if is_one(other, part)][:1]
                if found and place not in partners:
                    partners[place] = found[0]
                    del free[found[0]]
    return partners


def _may_be(old: Pattern, new: Pattern) -> bool:
    """Whether one pattern may become another: a bare name and ``()`` stay what they are."""
    named = trees.is_reference(new) and query.hole_alone(new) != query.ANYTHING
    return not named and new != Pattern() and bool(hops_of(old)) == bool(hops_of(new))
