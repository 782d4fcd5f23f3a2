"""Finds which pattern of the new document was which of the old one, at any depth.

Partners are found by likeness, in steps from the surest to the least sure:

1. in one list: equal patterns, then those of the same name;
2. anywhere: equal patterns, which were moved, wrapped or unwrapped;
3. anywhere: patterns under other names that share labels, properties and elements;
4. in one list: the patterns left in the same place.

Partners that differ open the two lists of their elements, where the steps begin again. Order only
decides between pairs that are equally alike. So the partners depend on the old and the new
patterns, and not on the edits between them.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import NamedTuple

from ..reading import Construct, syntax
from ..trees import Pattern, is_edge, walk_nodes
from .alignment import PATTERNS
from .parts import Lists, Part, features_of, likeness

ALIKE = 0.5
"""How alike two patterns of one list have to be to be one, edited."""

RENAMED = 0.6
"""How alike they have to be when they differ in name and more, or when one name has moved."""

MUCH_ALIKE = 0.75
"""How alike two patterns of different names in different lists have to be."""

COMMON = 8
"""A feature that more old patterns share is not looked up, because it hardly tells them apart."""


def find_partners(
    old: Iterable[Pattern],
    new: Iterable[Pattern],
    keeps_form: Callable[[Construct, Part], bool],
) -> tuple[list[Part], list[Part]]:
    """Pair the patterns of two documents.

    Args:
        old: the top-level patterns of the old document.
        new: the top-level patterns of the new one.
        keeps_form: whether a construct can spell a pattern and stay what it is, as a path does
            for another path; then its parts are not paired.
    """
    search = _Search(keeps_form)
    old_parts = [Part(pattern, index, is_old=True) for index, pattern in enumerate(old)]
    new_parts = [Part(pattern, index) for index, pattern in enumerate(new)]
    search.run(old_parts, new_parts)
    return old_parts, new_parts


class _Pool(NamedTuple):
    """Old and new patterns that could be partners."""

    old: list[Part]
    new: list[Part]


class _Search:
    def __init__(self, keeps_form: Callable[[Construct, Part], bool]) -> None:
        self.keeps_form = keeps_form
        self.lists: list[Lists] = []

    def run(self, old: list[Part], new: list[Part]) -> None:
        self.open(old, new)
        steps: Sequence[Callable[[], bool]] = (
            lambda: self.pair_equal(self.roots()),
            lambda: self.pair_equal(self.only_once()),
            lambda: self.pair_alike(self.definitions()),
            self.pair_definitions_with_references,
            self.pair_only_paths,
            lambda: self.pair_alike(self.everywhere()),
            lambda: self.pair_equal(self.everywhere()),
            self.pair_left,
            lambda: self.pair_equal(self.everywhere(), inside=True),
            lambda: self.pair_alike(self.everywhere(), inside=True),
        )
        while any(lists.loose()[0] for lists in self.lists) and any(step() for step in steps):
            pass
        for lists in self.lists:
            for part in lists.new:
                self.place_wrapper(part) if part.partner is None else self.place_unwrapped(part)

    # --- pairs

    def open(self, old: list[Part], new: list[Part]) -> None:
        """Pair the elements of two partners by content, then by name."""
        lists = Lists(old, new)
        self.lists.append(lists)
        if _have_the_same_names(old, new):
            for one, other in zip(old, new, strict=True):
                lists.pairing.pair(one.index, other.index)
                self.pair(one, other)
            return
        self.pair_by(lists, lambda part: part.pattern)
        self.pair_by(lists, lambda part: part.name if part.is_definition else None)

    def pair_by(self, lists: Lists, key: Callable[[Part], Hashable]) -> bool:
        """Pair the elements of two lists that have equal keys."""
        old, new = (
            [key(part) if part.partner is None else None for part in side]
            for side in (lists.old, lists.new)
        )
        pairs = lists.pairing.pair_by(old, new)
        for one, other in pairs:
            self.pair(lists.old[one], lists.new[other])
        return bool(pairs)

    def pair(self, old: Part, new: Part) -> None:
        """Make an old and a new pattern partners, and look at their elements."""
        free = not (old.has_partners or new.has_partners)
        if free and (new.parent is None or old.opener != "@"):
            old.is_whole = new.is_whole = old.pattern == new.pattern
        old.partner, new.partner = new, old
        if old.place is None and new.place is None:
            self.put_in_place(old, new)
        for part in (old, new):
            around = part.parent
            while around is not None and not around.has_partners:
                around.has_partners, around = True, around.parent
        if new.is_whole:
            return
        if free and old.opener == "[" and old.pattern.elements == new.pattern.elements:
            old.keeps_elements = new.keeps_elements = True
        elif not (free and old.construct and self.keeps_form(old.construct, new)):
            old.is_open = new.is_open = True
            self.open(old.parts, new.parts)

    def put_in_place(self, old: Part, new: Part) -> None:
        old.place, new.place = new, old
        if old.lists:
            old.lists.pairing.old_is_free[old.index] = False
        if new.lists:
            new.lists.pairing.new_is_free[new.index] = False

    # --- the steps: each returns whether it found a pair

    def pair_equal(self, pool: _Pool, *, inside: bool = False) -> bool:
        """Equal patterns, the larger first because they hold others, the k-th with the k-th."""
        waiting: defaultdict[Hashable, deque[Part]] = defaultdict(deque)
        for old in pool.old if pool.new else ():
            waiting[old.pattern, old.lists is None].append(old)
            waiting[old.pattern, old.lists is None, old.home].append(old)
        found = False
        for new in sorted(pool.new, key=lambda part: -part.pattern.levels) if waiting else ():
            for key in _origins(new, inside=inside) if new.is_free else ():
                same = waiting.get(key)
                while same and not same[0].is_free:
                    same.popleft()
                if same:
                    self.pair(same.popleft(), new)
                    found = True
                    break
        return found

    def pair_definitions_with_references(self) -> bool:
        """What has one name in one list, but is a definition here and a reference there.

        A definition that already has its text from somewhere else only takes the place.
        """
        found = False
        for lists in self.lists:
            waiting = {old.name: old for old in reversed(lists.loose()[0]) if old.name}
            for new in lists.new if waiting else ():
                moved = new.partner is not None and new.partner.lists is not lists
                if new.partner is not None and not moved:
                    continue
                old = waiting.pop(new.name, None)
                if old is not None and moved:
                    self.put_in_place(old, new)
                elif old is not None:
                    self.pair(old, new)
                    found = True
        return found

    def pair_only_paths(self) -> bool:
        """The one path left in a list with the one left in its partner: it gained or lost hops."""
        found = False
        for lists in self.lists:
            loose, wanted = lists.loose()
            wanted = [part for part in wanted if is_edge(part.pattern) or _is_walk(part)]
            paths = [
                (part, part.construct)
                for part in (loose if len(wanted) == 1 else ())
                if isinstance(part.construct, syntax.Path)
            ]
            if len(paths) == len(wanted) == 1:
                [(old, path)], [new] = paths, wanted
                free = old.is_free and new.is_free and _may_be(old.pattern, new.pattern)
                if free and self.keeps_form(path, new):
                    self.pair(old, new)
                    found = True
        return found

    def pair_alike(self, pool: _Pool, *, inside: bool = False) -> bool:
        """Patterns that have much in common: the most alike first, then the nearest."""
        found = False
        for *_, old, new in sorted(_alike(pool, self.lists, inside), key=lambda pair: pair[:-2]):
            if not old.is_taken and not new.is_taken:
                self.pair(old, new)
                found = True
        return found

    def pair_left(self) -> bool:
        """The patterns left in one place of a list, unless one is clearly another."""
        found = False
        for lists in self.lists:
            if not all(lists.loose()):
                continue
            old, new = lists.old, lists.new

            def may_pair(one: int, other: int, lists: Lists = lists) -> bool:
                return _may_be(lists.old[one].pattern, lists.new[other].pattern)

            kinds = [PATTERNS.kind(part.pattern) for part in (*old, *new)]
            pairs = lists.pairing.pair_rest(kinds[: len(old)], kinds[len(old) :], may_pair)
            for one, other in pairs:
                self.pair(old[one], new[other])
                found = True
        return found

    # --- where they look

    def roots(self) -> _Pool:
        """The elements of paired lists that have no partner."""
        loose = [lists.loose() for lists in self.lists]
        pool = _Pool(
            [part for old, _ in loose for part in old], [part for _, new in loose for part in new]
        )
        return pool if all(pool) else _Pool([], [])

    def everywhere(self) -> _Pool:
        """The roots and all that is below them."""
        return _Pool(*(list(_with_below(side)) for side in self.roots()))

    def definitions(self) -> _Pool:
        """Of all these, what has a name and more than that."""
        old, new = self.everywhere()
        return _Pool([p for p in old if p.is_definition], [p for p in new if p.is_definition])

    def only_once(self) -> _Pool:
        """Of all these, the patterns that no other in the same document is equal to."""
        return _Pool(*map(_only_once, self.everywhere()))

    # --- the places of wrappers, and of patterns without theirs

    def place_wrapper(self, new: Part) -> None:
        """Give a new pattern around an old one of the same list the place of the old one."""
        inner = new
        while inner.partner is None and (len(inner.parts) == 1 or _is_path_of(inner.parts)):
            inner = inner.parts[0]
        if inner.partner is None and _is_walk(inner):
            inner = next((part for part in inner.parts if part.partner), inner)
        old = inner.partner
        if old is not None and old.lists is new.lists and old.place is inner:
            inner.place = None
            self.put_in_place(old, new)

    def place_unwrapped(self, new: Part) -> None:
        """Give an old pattern whose wrapper is gone the place of the wrapper."""
        around = new.partner
        assert around is not None
        if new.place and new.place.lists is new.lists:
            return
        while around.lists is not new.lists:
            if around.parent is None:
                return
            if len(around.parent.parts) > 1 and not isinstance(
                around.parent.construct, syntax.Path
            ):
                return
            around = around.parent
        if around.partner is None and around.place is None:
            self.put_in_place(around, new)


def _have_the_same_names(old: Sequence[Part], new: Sequence[Part]) -> bool:
    """Whether two lists define the same names in the same order, each once: these are partners."""
    names = [part.name for part in old]
    return (
        names == [part.name for part in new]
        and len(set(names)) == len(names)
        and all(part.is_definition and part.partner is None for part in (*old, *new))
    )


def _is_walk(part: Part) -> bool:
    return walk_nodes(part.pattern) is not None


def _may_be(old: Pattern, new: Pattern) -> bool:
    """Whether one pattern may have become the other, though they have nothing in common.

    With two names they are two patterns, unless they are nothing but names.
    """
    one, other = old.value.identity, new.value.identity
    return not (one and other and one != other) or not (features_of(old) or features_of(new))


def _may_move(old: Part, new: Part, *, inside: bool = False) -> bool:
    """Whether a pattern may have come from one place to the other.

    Only a definition is known wherever it is. Of other patterns there are many equal ones: they
    move between two lists, or into and out of a pattern around them. What is inside a pattern
    that is gone is looked for inside a new one only when all else is found.
    """
    if old.lists is None and new.lists is None:
        return inside and old.is_definition
    both_in_lists = old.lists is not None and new.lists is not None
    return both_in_lists or old.home is new.home or old.is_definition


def _origins(new: Part, *, inside: bool) -> list[Hashable]:
    """Where an equal pattern may have moved from: the keys to look it up by, in order.

    The rules are those of `_may_move`.
    """
    in_lists, below = (new.pattern, False), (new.pattern, True)
    anywhere: list[Hashable] = []
    if new.lists is not None:
        if new.is_definition:
            anywhere = [below]
        return [in_lists, (*below, new.home), *anywhere]
    if new.is_definition:
        anywhere = [in_lists, below] if inside else [in_lists]
    return [(*in_lists, new.home), *anywhere]


def _is_path_of(parts: list[Part]) -> bool:
    """Whether two new nodes are joined to a path; a node in brackets would stay one."""
    texts = [part.partner.construct for part in parts if part.partner]
    atoms = not any(part.pattern.elements for part in parts)
    return len(parts) == 2 and atoms and not any(isinstance(t, syntax.Bracket) for t in texts)


def _only_once(parts: Iterable[Part]) -> list[Part]:
    found: defaultdict[Pattern, list[Part]] = defaultdict(list)
    for part in parts:
        found[part.pattern].append(part)
    return [same[0] for same in found.values() if len(same) == 1]


def _with_below(roots: list[Part]) -> Iterator[Part]:
    pending = roots[::-1]
    while pending:
        part = pending.pop()
        if part.is_taken:
            continue
        yield part
        is_hop = part.parent is not None and walk_nodes(part.parent.pattern) is not None
        if part.is_old or not is_hop:  # old text for a node breaks no new walk
            pending.extend(reversed(part.parts))


class _Candidate(NamedTuple):
    """A pair that is alike enough, after what decides between it and others."""

    difference: float
    is_far: bool
    is_displaced: bool
    distance: int
    new_index: int
    old_index: int
    old: Part
    new: Part


def _alike(pool: _Pool, lists: Iterable[Lists], inside: bool) -> Iterator[_Candidate]:
    """The pairs that are alike enough.

    Compared are only patterns that share a rare feature or are in the same place of a list.
    """
    features = [features_of(part.pattern) for part in pool.old]
    index_of = {part: index for index, part in enumerate(pool.old)}
    sharing: defaultdict[Hashable, list[int]] = defaultdict(list)
    for index, known_by in enumerate(features):
        for feature in known_by:
            sharing[feature].append(index)
    near = _near(lists)
    for place, new in enumerate(pool.new):
        known_by = features_of(new.pattern)
        candidates = {index_of[old] for old in near[new] if old in index_of}
        for feature in known_by:
            if len(sharing.get(feature, ())) <= COMMON:
                candidates.update(sharing.get(feature, ()))
        for index in candidates:
            old = pool.old[index]
            far, displaced = old.home is not new.home, old not in near[new]
            same_name = old.name == new.name != ""
            score = likeness(features[index], known_by, same_name=same_name)
            # a name and one more change are two edits, as few as to remove one and add another
            other_name = old.name != new.name and old.name != "" != new.name
            few_changes = len(features[index] ^ known_by) <= 2
            if far:
                enough = RENAMED if same_name else MUCH_ALIKE
            else:
                enough = RENAMED if other_name and not few_changes else ALIKE
            # of patterns in two places, an equal size says nothing
            shared = features[index] & known_by
            telling = not displaced or same_name or any(each[0] != "size" for each in shared)
            if telling and score >= enough and _may_move(old, new, inside=inside):
                last = len(pool.new) - len(pool.old)  # as far from the ends of both lists
                distance = min(abs(index - place), abs(index + last - place))
                yield _Candidate(1 - score, far, displaced, distance, place, index, old, new)


def _near(lists: Iterable[Lists]) -> defaultdict[Part, list[Part]]:
    """For each new pattern the old ones in its place, counted from either end of a gap."""
    found: defaultdict[Part, list[Part]] = defaultdict(list)
    for each in lists:
        for old, new in each.pairing.gaps():
            for ones, others in ((old, new), (old[::-1], new[::-1])):
                for one, other in zip(ones, others, strict=False):
                    found[each.new[other]].append(each.old[one])
    return found
