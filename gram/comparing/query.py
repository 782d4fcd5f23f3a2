"""Where a pattern with holes is found in trees.

A hole is an identity, a label, a key or a symbol value that begins with ``_``, never a string.
``_`` alone matches anything. ``__x`` is not a hole, and means the name ``_x``.

What the pattern leaves out does not matter. Its elements are found in any order, each in another
element; a path keeps its direction, and is found in consecutive hops of a longer one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final, NamedTuple, TypeAlias, Union

from attrs import field, frozen
from pyrsistent import PMap, PVector, pmap

from .. import trees
from ..errors import GramError
from ..trees import Pattern, Subject, Symbol, TreePath, Value

ANYTHING = "_"
"""The hole that is anything, and is not remembered."""

Bound: TypeAlias = Union[Value, Pattern]
"""What a hole matches: a name, a value, or a whole element."""


class QueryError(GramError, ValueError):
    """A pattern cannot be searched for, or what takes its place cannot be made."""


def hole(name: str) -> str | None:
    """The name itself if it is a hole, else None."""
    return name if name.startswith("_") and not name.startswith("__") else None


def literal(name: str) -> str:
    """The name that is meant by one that is not a hole."""
    return name[1:] if name.startswith("__") else name


def hole_alone(pattern: Pattern) -> str | None:
    """The hole that matches a whole element, if a pattern is one."""
    return hole(pattern.value.identity) if trees.is_reference(pattern) else None


def holes_in(pattern: Pattern) -> frozenset[str]:
    """The holes in a pattern that are remembered: all but ``_``.

    >>> from gram import loads_one
    >>> sorted(holes_in(loads_one('[_a:Agent {model: _m, name: "_n"} | _, __t]')))
    ['_a', '_m']
    """
    found: set[str] = set()
    for _, each in trees.walk(pattern):
        subject = each.value
        found |= {subject.identity, *subject.labels} | names_in(subject.properties)
    return frozenset(filter(hole, found - {ANYTHING}))


def names_in(value: object) -> frozenset[str]:
    """The keys and symbols in a value, which may be holes."""
    if isinstance(value, Symbol):
        return frozenset({value.value})
    if isinstance(value, PMap):
        return frozenset(value).union(*map(names_in, value.values()))
    return frozenset().union(*map(names_in, value)) if isinstance(value, PVector) else frozenset()


@frozen
class Hops:
    """A path, read from one of its ends.

    Attributes:
        nodes: its nodes, one more than its arrows.
        edges: its arrows, each with whether it points to the next node.
        places: the path to each node from this pattern; the first one where there are two.
        edge_places: the path to each arrow.
    """

    nodes: tuple[Pattern, ...]
    edges: tuple[tuple[Pattern, bool], ...]
    places: tuple[TreePath, ...] = ()
    edge_places: tuple[TreePath, ...] = ()

    def reversed(self) -> Hops:
        """The same path, read from its other end."""
        edges = tuple((edge, not on) for edge, on in self.edges[::-1])
        return Hops(self.nodes[::-1], edges, self.places[::-1], self.edge_places[::-1])


def hops_of(pattern: Pattern) -> Hops | None:
    """The nodes and arrows of what is written as a path; None for anything else.

    What was read from a text is a path if it does not begin with ``[``. What was made is a path if
    it has no name, and its labels are in capitals.
    """
    if pattern.value == trees.WALK_SUBJECT:
        nodes = trees.walk_nodes(pattern)
        edges = pattern.elements
    else:
        nodes = pattern.elements if trees.is_edge(pattern) and _is_written_so(pattern) else None
        edges = (pattern,)
    if nodes is None:
        return None
    above: Sequence[TreePath] = [()] if edges[0] is pattern else [(i,) for i in range(len(edges))]
    ends = zip(edges, nodes, nodes[1:], strict=False)
    on = [edge.elements == (one, other) for edge, one, other in ends]
    places = [(*above[0], 0 if on[0] else 1)]
    places += [(*path, 1 if forward else 0) for path, forward in zip(above, on, strict=True)]
    return Hops(nodes, tuple(zip(edges, on, strict=True)), tuple(places), tuple(above))


def _is_written_so(edge: Pattern) -> bool:
    if edge.came_from is not None:
        source, start, _ = edge.came_from
        return source.text[start] != "["
    return not edge.value.identity and all(map(str.isupper, edge.value.labels))


MOST_STEPS: Final = 30_000
"""How many comparisons are made at one place before another match is found there."""

MOST_MATCHES: Final = 20_000
"""How many matches are found at one place: some patterns could match in endlessly many ways."""


class AsWritten:
    """How a search reads trees: as they are written. A language may read them in another way.

    Args:
        patterns: the trees.
        may_begin: whether the whole pattern may be found at a place.
    """

    def __init__(
        self, patterns: Sequence[Pattern], may_begin: Callable[[TreePath], bool] = lambda _: True
    ) -> None:
        self.patterns, self.may_begin = tuple(patterns), may_begin

    def label(self, label: str) -> str:
        """One name for all labels that are read as the same."""
        return label

    def meant(self, path: TreePath) -> TreePath:
        """The path to the definition of an element, which may be a reference."""
        return path

    def is_signature(self, path: Pattern) -> bool:
        """Whether the nodes of a path, but the last, may be named in any order."""
        return False


class Part(NamedTuple):
    """What a part of the pattern was found in.

    Attributes:
        path: the place of the element.
        meant: the place of what it is or refers to.
        hops: of a path, the first arrow that it was found in and how many; negative where it was
            read from the other end. None where the order does not matter, and for what is no path.
    """

    path: TreePath
    meant: TreePath
    hops: tuple[int, int] | None = None


@frozen
class Match:
    """A place where a pattern was found.

    Attributes:
        path: the place.
        bindings: what its holes match, by their names.
        parts: what each pattern in it was found in, by its path.
    """

    path: TreePath
    bindings: Mapping[str, Bound]
    parts: Mapping[TreePath, Part] = field(eq=False, repr=False)


def find_matches(pattern: Pattern, reading: AsWritten, *, every: bool = False) -> Iterator[Match]:
    """Where a pattern is found, in the order of the text; each place once for each binding.

    Args:
        pattern: what is looked for.
        reading: the trees, and how they are read.
        every: give each way in which it is found, those with the same bindings too.

    Raises:
        QueryError: it can be found in too many ways at one place.

    >>> from gram import loads, loads_one
    >>> trees = AsWritten(loads("(a:Tool {n: 1}) [b:Agent | (c:Tool {n: 2})]"))
    >>> for each in find_matches(loads_one("(_t:Tool {n: _n})"), trees):
    ...     print(each.path, dict(each.bindings))
    (0,) {'_n': 1, '_t': 'a'}
    (1, 0) {'_n': 2, '_t': 'c'}
    """
    path_wanted = hops_of(pattern)
    hops_around: TreePath | None = None
    for path, here in trees.walk(reading.patterns):
        search = _Search(reading, pattern, path, every)
        if not reading.may_begin(path):
            continue
        found: Iterator[tuple[TreePath, _State]]
        if path_wanted is None:
            found = ((path, state) for state in search.at_root())
        elif path[:-1] == hops_around or hops_of(here) is None:
            continue  # a hop of a path that was searched
        else:
            hops_around = path if here.value == trees.WALK_SUBJECT else None
            found = search.along(path_wanted)
        seen = set()
        for where, state in found:
            bound = pmap({name: trees.exact(value) for name, value in state.bindings.items()})
            key = state.parts if every else bound
            if (where, key) not in seen:
                seen.add((where, key))
                search.steps = 0 if len(seen) < MOST_MATCHES else MOST_STEPS
                yield Match(where, dict(sorted(state.bindings.items())), state.parts)


class _State(NamedTuple):
    """What is known on the way: what the holes match, and where parts were found."""

    bindings: PMap[str, Bound] = pmap()
    parts: PMap[TreePath, Part] = pmap()

    def with_part(self, at: TreePath, part: Part) -> _State:
        return self._replace(parts=self.parts.set(at, part))


_Attempt: TypeAlias = Callable[[_State], Iterator[_State]]


class _Option(NamedTuple):
    """One way to find something: the places that it takes, and how it is tried."""

    takes: frozenset[Any]
    attempt: _Attempt


class _Wanted(NamedTuple):
    """Something in the pattern: the holes in it, and the ways to find it."""

    holes: frozenset[str]
    options: list[_Option]


def _filled(
    name: str, new: Bound, state: _State, key: Callable[[Any], Hashable] = trees.exact
) -> Iterator[_State]:
    """The state with a hole filled; nothing when the hole has matched something else before.

    Args:
        name: the hole.
        new: what it matches.
        state: what is known.
        key: two matches with the same key are the same.
    """
    old = state.bindings.get(name, new)
    if name == ANYTHING:
        yield state
    elif isinstance(old, Pattern) == isinstance(new, Pattern):
        if key(old) == key(new):
            yield state._replace(bindings=state.bindings.set(name, new))
    else:  # an element, and its name
        whole, called = (old, new) if isinstance(old, Pattern) else (new, old)
        if isinstance(whole, Pattern) and whole.value.identity == called:
            yield state._replace(bindings=state.bindings.set(name, whole))


class _Search:
    """Looks for a pattern at one place."""

    def __init__(self, reading: AsWritten, root: Pattern, path: TreePath, every: bool) -> None:
        self._reading, self._root, self._path, self._every = reading, root, path, every
        self._known: dict[tuple[TreePath, TreePath], list[_Wanted]] = {}
        self.steps = 0

    def at_root(self) -> Iterator[_State]:
        """The pattern itself at the place, where references are as they are written."""
        path = self._path
        if name := hole_alone(self._root):
            state = _State().with_part((), Part(path, path))
            return _filled(name, self._at(path), state)
        return self._pattern(self._root, (), path, path, _State())

    def along(self, wanted: Hops) -> Iterator[tuple[TreePath, _State]]:
        """The pattern, which is a path, along the path that is there."""
        for option in self._ways(wanted, (), self._path):
            for state in option.attempt(_State()):
                yield min(option.takes) if len(option.takes) == 1 else self._path, state

    def _at(self, path: TreePath) -> Pattern:
        return trees.pattern_at(self._reading.patterns, path)

    def _pattern(
        self, p: Pattern, at: TreePath, written: TreePath, path: TreePath, state: _State
    ) -> Iterator[_State]:
        self._count()
        state = state.with_part(at, Part(written, path))
        for after in self._subject(p.value, self._at(path).value, state):
            yield from self._placed(self._wanted(p, at, path), after)

    def _count(self) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            place = trees.origin(self._at(self._path)) or f"the place {self._path}"
            raise QueryError(
                f"{place}: the pattern can be found here in too many ways; say more of its "
                "elements, or leave some out"
            )

    def _element(self, p: Pattern, at: TreePath, path: TreePath, state: _State) -> Iterator[_State]:
        meant = self._reading.meant(path)
        if name := hole_alone(p):
            return _filled(name, self._at(meant), state.with_part(at, Part(path, meant)))
        return self._pattern(p, at, path, meant, state)

    # --- subjects and values

    def _subject(self, p: Subject, s: Subject, state: _State) -> Iterator[_State]:
        named = [state]
        if name := hole(p.identity):
            named = [*_filled(name, s.identity, state)] if s.identity or name == ANYTHING else []
        elif p.identity and literal(p.identity) != s.identity:
            return
        read = self._reading.label
        given = {read(literal(each)) for each in p.labels if not hole(each)}
        if not given <= {read(each) for each in s.labels}:
            return
        free = sorted(each for each in s.labels if read(each) not in given)
        wanted = []
        for name in filter(hole, p.labels):
            options = [
                _Option(frozenset({label}), partial(_filled, name, label, key=read))
                for label in free
            ]
            wanted.append(_Wanted(frozenset({name}), options))
        for one in named:
            for two in self._placed(wanted, one):
                yield from self._entries(p.properties, s.properties, two)

    def _entries(
        self, p: Mapping[str, Value], found: Mapping[str, Value], state: _State
    ) -> Iterator[_State]:
        keys = {literal(key): p[key] for key in p if not hole(key)}
        if not keys.keys() <= set(found):
            return
        steps: list[_Attempt] = [partial(self._value, p, found[key]) for key, p in keys.items()]
        free = sorted(set(found) - set(keys))
        wanted = []
        for name in filter(hole, p):
            options = []
            for key in free:
                both = [partial(_filled, name, key), partial(self._value, p[name], found[key])]
                options.append(_Option(frozenset({key}), partial(_one_after_another, both)))
            wanted.append(_Wanted(frozenset({name}) | names_in(p[name]), options))
        for after in _one_after_another(steps, state):
            yield from self._placed(wanted, after)

    def _value(self, p: Value, found: Value, state: _State) -> Iterator[_State]:
        if isinstance(p, Symbol):
            if name := hole(p.value):
                return _filled(name, found, state)
            p = Symbol(literal(p.value))
        if isinstance(p, PMap) and isinstance(found, PMap):
            return self._entries(p, found, state)
        if isinstance(p, PVector) and isinstance(found, PVector) and len(p) == len(found):
            pairs = zip(p, found, strict=True)
            return _one_after_another([partial(self._value, *pair) for pair in pairs], state)
        return iter([state] if trees.exact(p) == trees.exact(found) else [])

    # --- elements

    def _wanted(self, p: Pattern, at: TreePath, path: TreePath) -> list[_Wanted]:
        """The elements of the pattern, each with the ways in which it can be found by itself."""
        if (at, path) not in self._known:
            self._known[at, path] = [
                _Wanted(holes_in(each), [*self._options(each, (*at, index), path)])
                for index, each in enumerate(p.elements)
            ]
        return self._known[at, path]

    def _options(self, p: Pattern, at: TreePath, path: TreePath) -> Iterator[_Option]:
        wanted = hops_of(p)
        for index, each in enumerate(self._at(path).elements):
            here = (*path, index)
            if wanted is not None:
                ways = self._ways(wanted, at, here) if hops_of(each) else []
            else:
                ways = [_Option(_hops_at(each, here), partial(self._element, p, at, here))]
            yield from (way for way in ways if any(way.attempt(_State())))

    def _placed(self, wanted: list[_Wanted], state: _State) -> Iterator[_State]:
        """Find each wanted element in one of its ways, at places that no other one takes."""
        self._count()
        if not wanted:
            yield state
            return
        if len({min(way.takes) for each in wanted for way in each.options}) < len(wanted):
            return
        still = [each for each in wanted if each.holes.difference(state.bindings)]
        first = min(still or wanted, key=lambda each: len(each.options))
        found = (
            after
            for way in first.options
            for placed in way.attempt(state)
            for after in self._placed(_without(wanted, first, way), placed)
        )
        yield from found if still or self._every else islice(found, 1)

    # --- paths

    def _ways(self, p: Hops, at: TreePath, path: TreePath) -> Iterator[_Option]:
        """The ways to find a path along another one."""
        pattern = self._at(path)
        found = hops_of(pattern)
        assert found is not None
        if self._reading.is_signature(pattern):
            if any(edge.value != Subject() for edge, _ in p.edges):
                return
            yield _Option(_hops_at(pattern, path), partial(self._signature, p, found, at, path))
            return
        count, most = len(p.edges), len(found.edges)
        for hops, sign in ((found, 1), (found.reversed(), -1)):
            for start in range(most - count + 1):
                if all(
                    one[1] == other[1]
                    for one, other in zip(p.edges, hops.edges[start:], strict=False)
                ):
                    takes = {(*path, *each) for each in hops.edge_places[start : start + count]}
                    part = Part(path, path, (start, sign * count))
                    attempt = partial(self._along, p, hops, at, part)
                    yield _Option(frozenset(takes), attempt)

    def _along(
        self, p: Hops, found: Hops, at: TreePath, part: Part, state: _State
    ) -> Iterator[_State]:
        assert part.hops is not None
        start = part.hops[0]
        steps: list[_Attempt] = []
        for index, node in enumerate(p.nodes):
            here = (*part.path, *found.places[start + index])
            steps.append(partial(self._element, node, (*at, *p.places[index]), here))
        for index, (edge, _) in enumerate(p.edges):
            other = found.edges[start + index][0].value
            steps.append(partial(self._subject, edge.value, other))
        return _one_after_another(steps, state.with_part(at, part))

    def _signature(
        self, p: Hops, found: Hops, at: TreePath, path: TreePath, state: _State
    ) -> Iterator[_State]:
        """The nodes in any order; the last one is that of the result, if it is not a parameter."""
        last = p.nodes[-1]
        is_result = not last.value.identity or bool(hole_alone(last))
        wanted = []
        for node, node_at in zip(p.nodes, p.places, strict=True):
            places = found.places[-1:] if is_result and node is last else found.places[:-1]
            ways = [
                _Option(frozenset({here}), partial(self._element, node, (*at, *node_at), here))
                for here in ((*path, *place) for place in places)
            ]
            able = [way for way in ways if any(way.attempt(_State()))]
            wanted.append(_Wanted(holes_in(node), able))
        return self._placed(wanted, state.with_part(at, Part(path, path)))


def _without(wanted: list[_Wanted], found: _Wanted, way: _Option) -> list[_Wanted]:
    """The other things that are wanted, in the ways that take nothing of what one has taken."""
    return [
        each._replace(options=[other for other in each.options if not other.takes & way.takes])
        for each in wanted
        if each is not found
    ]


def _hops_at(pattern: Pattern, path: TreePath) -> frozenset[TreePath]:
    """The places that an element takes: its own; those of its arrows when it is a path."""
    hops = hops_of(pattern)
    return frozenset((*path, *each) for each in hops.edge_places) if hops else frozenset({path})


def _one_after_another(steps: Sequence[_Attempt], state: _State) -> Iterator[_State]:
    if not steps:
        yield state
        return
    for after in steps[0](state):
        yield from _one_after_another(steps[1:], after)
