"""Which pattern of the text each new pattern came from, and which have changed.

Of several patterns that came from one the equal one is it, else the one in its list, else the
first. The others are new.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import NamedTuple

from attrs import define, field

from ..reading import Construct, construct_of
from ..source import Source, Span
from ..trees import Pattern, TreePath, read_from, walk_nodes
from .comma_list import ElementList

KeepsForm = Callable[[Construct, "Part"], bool]
"""Whether a construct can spell a pattern and stay what it is, as a path does for another path."""


@define(eq=False, repr=False, slots=False)
class Part:
    """A pattern at its place in the old or in the new document.

    Attributes:
        pattern: the pattern.
        is_old: whether it is of the old document.
        parent: the pattern whose element it is, or None at the top.
        index: its place among the elements of the parent.
        partner: the pattern of the other document that it is: the new one has the old one's text.
        place: the pattern of the other document whose place in its list is the same; comments
            around the old one stay there.
        is_whole: whether it is equal to its partner, and nothing inside belongs elsewhere.
        is_open: whether its elements and those of its partner are paired.
        old_list: its elements with the comments around each, once they were asked for.
        has_partners: whether a pattern below it has a partner.
    """

    pattern: Pattern
    index: int
    parent: Part | None = None
    is_old: bool = field(default=False, kw_only=True)
    _construct: Construct | None = field(default=None, kw_only=True)
    partner: Part | None = None
    place: Part | None = None
    old_list: ElementList | None = None
    is_whole: bool = False
    is_open: bool = False
    has_partners: bool = False

    @cached_property
    def parts(self) -> list[Part]:
        """Its elements."""
        if not self.is_old or self.opener == "[":
            elements = enumerate(self.pattern.elements)
            return [Part(each, at, self, is_old=self.is_old) for at, each in elements]
        # nodes that two hops share are one construct
        constructs = enumerate(self.construct.elements if self.construct else ())
        return [
            Part(each.pattern, at, self, is_old=True, construct=each) for at, each in constructs
        ]

    @cached_property
    def is_walk(self) -> bool:
        """Whether it is a walk."""
        return walk_nodes(self.pattern) is not None

    @property
    def construct(self) -> Construct | None:
        """Its text, for one of the old document; it is read when it is asked for."""
        if self._construct is None and self.is_old:
            self._construct = construct_of(self.pattern)
        return self._construct

    @property
    def span(self) -> Span:
        """Where its text is, for one of the old document."""
        return place_of(self.pattern)[1]

    @property
    def opener(self) -> str:
        """The first character of its text, for one of the old document; it tells the construct."""
        text, (start, _) = place_of(self.pattern)
        return text[start]

    @property
    def around(self) -> Iterator[Part]:
        """The patterns around it, innermost first."""
        part = self.parent
        while part is not None:
            yield part
            part = part.parent

    @property
    def path(self) -> tuple[Pattern, ...]:
        """The patterns around it, outermost first, and the pattern itself."""
        return (*(part.pattern for part in reversed([*self.around])), self.pattern)

    def shares_list(self, new: Part) -> bool:
        """Whether an old pattern is in the list that the list of a new one was."""
        if new.parent is None:
            return self.parent is None
        return new.parent.is_open and self.parent is new.parent.partner

    @property
    def inside(self) -> Iterator[Part]:
        """The outermost patterns below it that have a partner."""
        for part in self.parts if self.has_partners else ():
            if part.partner is None:
                yield from part.inside
            else:
                yield part


def place_of(pattern: Pattern) -> tuple[str, Span]:
    """The text that a pattern was read from, and where it is in it."""
    place = read_from(pattern)
    assert place is not None, "the pattern was read"
    source, start, end = place
    return source.text, Span(start, end)


def pair(
    source: Source, old: Iterable[Pattern], new: Iterable[Pattern], keeps_form: KeepsForm
) -> list[Part]:
    """The patterns of the new document, each with the one of the old document that it was.

    Args:
        source: the old text.
        old: the top-level patterns of the old document.
        new: the top-level patterns of the new one.
        keeps_form: decides for a pattern and its partner whether the parts are left unpaired.
    """
    old_parts = [Part(pattern, index, is_old=True) for index, pattern in enumerate(old)]
    new_parts = [Part(pattern, index) for index, pattern in enumerate(new)]
    claims = _claims(_candidates(source, old_parts, new_parts))
    links = _Links(claims, _crossed(claims), keeps_form)
    links.open(new_parts)
    links.place_wrappers()
    return new_parts


def _candidates(
    source: Source, old_parts: Iterable[Part], new_parts: Iterable[Part]
) -> dict[Part, list[Part]]:
    """The new patterns that came from each old one, in the order of the new text."""
    by_span = {part.span: part for part in _with_all_below(old_parts)}
    found: dict[Part, list[Part]] = {}

    def look_at(parts: Iterable[Part]) -> None:
        for part in parts:
            text, *span = part.pattern.came_from or (None, 0, 0)
            old = by_span.get(Span(*span)) if text is source else None
            if old is not None:
                found.setdefault(old, []).append(part)
            if old is None or not _is_whole(old, part):
                look_at(part.parts)

    look_at(new_parts)
    return found


def _with_all_below(parts: Iterable[Part]) -> Iterator[Part]:
    for part in parts:
        yield part
        yield from _with_all_below(part.parts)


def _claims(candidates: dict[Part, list[Part]]) -> dict[Part, Part]:
    """Which old pattern a new one has the text of; outer patterns choose before inner ones."""
    claims: dict[Part, Part] = {}
    whole_until = 0

    def rank(old: Part, new: Part) -> tuple[bool, bool]:
        around = claims.get(new.parent) if new.parent else None
        return not _is_whole(old, new), around is not old.parent

    for old in sorted(candidates, key=lambda part: (part.span.start, -part.span.end)):
        if old.span.end > whole_until:
            new = min(candidates[old], key=partial(rank, old))
            claims[new] = old
            whole_until = old.span.end if _is_whole(old, new) else whole_until
    return claims


def _crossed(claims: dict[Part, Part]) -> set[Part]:
    """The old patterns that lose a part to another place, or get other patterns around them."""
    found: set[Part] = set()
    won = {old: new for new, old in claims.items()}
    for new, old in claims.items():
        around_old, around_new = set(old.around), set(new.around)
        found |= {each for each in around_old if won.get(each, new) not in {*around_new, new}}
        found |= {claims.get(each, old) for each in around_new} - around_old - {old}
    return found


def _is_whole(old: Part, new: Part) -> bool:
    """Whether a new pattern is equal to an old one and its text can be copied.

    Annotations, which come at the top only, are taken apart elsewhere.
    """
    return old.pattern == new.pattern and (new.parent is None or old.opener != "@")


class _Links:
    """Makes partners of the patterns, as far down as their text is rewritten."""

    def __init__(self, claims: dict[Part, Part], crossed: set[Part], keeps_form: KeepsForm) -> None:
        self._claims, self._crossed, self._keeps_form = claims, crossed, keeps_form
        self._listed: list[Part] = []

    def open(self, new: list[Part]) -> None:
        """Pair the elements of two partners."""
        self._listed += new
        for part in new:
            self._link(part)

    def place_wrappers(self) -> None:
        """Give a wrapper the place of what it wraps; give what is unwrapped that of the wrapper."""
        for part in self._listed:
            self._place_wrapper(part) if part.partner is None else self._place_unwrapped(part)

    def _link(self, new: Part) -> None:
        old = self._claims.get(new)
        if old is None:
            for part in new.parts:
                self._link(part)
            return
        old.partner, new.partner = new, old
        old.place, new.place = new, old
        for part in (*old.around, *new.around):
            part.has_partners = True
        is_free = old not in self._crossed
        if _is_whole(old, new):
            old.is_whole = new.is_whole = True
        elif not (is_free and old.construct and self._keeps_form(old.construct, new)):
            old.is_open = new.is_open = True
            self.open(new.parts)

    def _place_wrapper(self, new: Part) -> None:
        """Give a new pattern around an old one of the same list the place of the old one."""
        inner = new
        while inner.partner is None and len(inner.parts) == 1:
            inner = inner.parts[0]
        if inner.partner is None and inner.is_walk:
            inner = next((part for part in inner.parts if part.partner), inner)
        old = inner.partner
        if old is not None and old.shares_list(new) and old.place is inner:
            inner.place, old.place, new.place = None, new, old

    def _place_unwrapped(self, new: Part) -> None:
        """Give an old pattern whose wrapper is gone the place of the wrapper."""
        around = new.partner
        if new.place and new.place.shares_list(new):
            return
        while around and not around.shares_list(new):
            alone = around.parent and len(around.parent.parts) == 1
            around = around.parent if alone else None
        if around and around.partner is None and around.place is None:
            around.place, new.place = new, around


class ChangedPattern(NamedTuple):
    """A pattern that an edit has changed or put in.

    Attributes:
        path: where it is now.
        old: what it was in the same list; None for one that was put in there.
    """

    path: TreePath
    old: Pattern | None


def changed_patterns(
    old: Sequence[Pattern], new: Sequence[Pattern], path: TreePath = ()
) -> Iterator[ChangedPattern]:
    """The patterns of a list that are not as they were, and those below them.

    Of one that was put in, nothing below is given.

    Args:
        old: the list as it was.
        new: the list as it is, made of these by an edit.
        path: where the list is.
    """
    known: dict[Hashable, list[Pattern]] = {}
    for each in reversed(old):
        known.setdefault(_key(each), []).append(each)
    for index, each in enumerate(new):
        here = (*path, index)
        same = known.get(_key(each))
        was = same.pop() if same else None
        if was is each:
            continue
        if was is None:
            yield ChangedPattern(here, None)
            continue
        has_others = [*map(_key, was.elements)] != [*map(_key, each.elements)]
        if has_others or was.value != each.value:
            yield ChangedPattern(here, was)
        yield from changed_patterns(was.elements, each.elements, here)


def _key(pattern: Pattern) -> Hashable:
    """The key that a pattern and its changed version share."""
    return pattern.came_from or id(pattern)
