"""Rewrites parts of patterns in place: subjects, records, values, annotations, paths."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias, Union

from attrs import frozen
from pyrsistent import PMap, PVector

from .. import reading, writing
from ..reading import lexer, syntax
from ..source import Span
from ..trees import Pattern, Subject, TaggedString, Value, exact, is_edge, is_symbol, walk_nodes
from ..writing import PLAIN, Spelling, write_name, write_subject, write_value
from .adopting import align
from .comma_list import NOTHING, Named, Place, Writer, list_of, with_additions
from .pairing import Part


def respell(old: reading.Value, spelling: str, value: Value) -> str:
    """The text of ``value`` in the style of the old value's ``spelling``.

    Kept are the kind of quotes, a fence's opening line and the indentation of its end, the base,
    case and width of an integer. A text that would not be read as ``value`` is never given: the
    canonical one is, then.
    """
    for text in _candidates(old, spelling, value):
        trees = reading.trees_if_gram(f"({{k: {text}}})")
        if trees and exact(trees[0].value.properties.get("k")) == exact(value):
            return text
    return write_value(value)


def _candidates(old: reading.Value, spelling: str, value: Value) -> Iterator[str]:
    if isinstance(value, str) and isinstance(old.value, str):
        if old.style in reading.QUOTES:
            yield reading.quote(value, reading.QUOTES[old.style])
        elif old.style == "FENCE":
            yield reading.refence(spelling, value)
    elif isinstance(value, TaggedString) and isinstance(old.value, TaggedString):
        if old.style == "BACKTICK":
            yield value.tag + reading.quote(value.content, "`")
        else:
            yield reading.refence(spelling.replace(old.value.tag, value.tag, 1), value.content)
    elif type(value) is int and value >= 0:
        if old.style == "HEXADECIMAL":
            upper = any(digit in "ABCDEF" for digit in spelling)
            yield f"0x{value:0{len(spelling) - 2}{'X' if upper else 'x'}}"
        elif old.style == "OCTAL":
            yield f"0{value:0{len(spelling) - 1}o}"


@frozen
class PartWriter:
    """Writes parts of a pattern over the old ones.

    Args:
        writer: receives the text.
        spelling: how labels are written where there are no old ones to follow.
    """

    writer: Writer
    spelling: Spelling = PLAIN

    def subject(self, part: syntax.SubjectPart, subject: Subject) -> None:
        """Write a subject over that of a node, arrow or bracket."""
        writer, record = self.writer, part.record
        if part.subject == subject:
            writer.copy(part.start, part.end)
            return
        spelled = self._identity(part.identity, subject.identity)
        after = part.identity.end if part.identity else part.start
        after = self._labels(part.labels, after, subject.labels, spelled=spelled)
        spelled = spelled or bool(subject.labels)
        stays = record and (bool(subject.properties) or self._stays(record))
        keeps_blanks = stays and spelled and record and part.start < record.start
        if record and (keeps_blanks or lexer.has_comment(writer.old[after : record.start])):
            writer.copy_trivia(after, record.start)
        elif spelled and (stays or subject.properties):
            writer.put_trivia(" ")
        if record and stays:
            self.record(record, subject.properties)
        elif subject.properties:
            writer.put(writing.write_record(subject.properties))

    def _stays(self, record: syntax.Record) -> bool:
        """Whether a record stays when it has no entries: it had none before, or has a comment."""
        entries = list_of(self.writer.old, record.start + 1, record.entries, record.end - 1)
        return not record.entries or entries.comments_left_without()

    def _identity(self, name: syntax.Name | None, identity: str) -> bool:
        """Write an identity, copied if it is the old one, and return whether there is one."""
        if name is not None and name.text == identity:
            self.writer.copy(name.start, name.end)
            return True
        if identity:
            self.writer.put(write_name(identity, integers=True))
        return bool(identity)

    def _labels(
        self, old: Sequence[syntax.Label], start: int, labels: Set[str], *, spelled: bool
    ) -> int:
        """Write labels over the old ones, and return where these end.

        Args:
            old: the old labels.
            start: where the name before them ends, or where they begin.
            labels: the names that are wanted.
            spelled: whether a name was written before them.
        """
        writer = self.writer
        double = old and writer.old.startswith("::", old[0].start)
        separator = ("::" if double else ":") if old else self.spelling.separator
        kept: list[Named] = [
            (label.name.text, Place(index, partial(writer.copy, label.start, label.end)))
            for index, label in enumerate(old)
            if label.name.text in labels
        ]
        new = labels - {label.name.text for label in old}
        added = {name: separator + write_name(name) for name in new}
        if old and not spelled and not lexer.has_comment(writer.old[start : old[0].start]):
            start = old[0].start
        end = old[-1].end if old else start
        old_list = list_of(writer.old, start, old, end, commas=False, new_lead="")
        old_list.write(writer, with_additions(writer, kept, added))
        return end

    # --- values

    def record(self, record: syntax.Record | syntax.Map, properties: PMap[str, Value]) -> None:
        """Write the entries of a record or map over the old ones; of a key given twice the last."""
        places = self._properties(record.entries, properties, _entry_text)
        self._list(record, record.entries, places)

    def _list(
        self, old: syntax.Extent, parts: Sequence[syntax.Extent], places: Sequence[Place]
    ) -> None:
        """Write a list over an old one, between its brackets."""
        writer = self.writer
        writer.copy(old.start, old.start + 1)
        list_of(writer.old, old.start + 1, parts, old.end - 1).write(writer, places)
        writer.copy(old.end - 1, old.end)

    def _properties(
        self,
        old: Sequence[syntax.Entry],
        properties: PMap[str, Value],
        text_of: Callable[[str, Value], str],
        first: int = 0,
    ) -> list[Place]:
        """The places of a list of properties: record entries, or annotations.

        Args:
            old: the old properties in order.
            properties: what is wanted.
            text_of: the text of one that was not there.
            first: the index of the first of them in its list.
        """
        effective = {entry.key.text: entry for entry in old}
        kept: list[Named] = []
        for index, entry in enumerate(old, first):
            key = entry.key.text
            if key in properties:
                value = properties[key] if effective[key] is entry else entry.value.value
                kept.append((key, Place(index, partial(self._entry, entry, value))))
        new = {key: text_of(key, properties[key]) for key in properties if key not in effective}
        return with_additions(self.writer, kept, new)

    def _entry(self, entry: syntax.Entry, value: Value) -> None:
        self.writer.copy(entry.start, entry.value.start)
        self._value(entry.value, value)
        self.writer.copy(entry.value.end, entry.end)

    def _value(self, old: syntax.AnyValue, value: Value) -> None:
        """Write a value over an old one, in its style where it can be written so."""
        if exact(old.value) == exact(value):
            self.writer.copy(old.start, old.end)
        elif isinstance(old, syntax.Map) and isinstance(value, PMap):
            self.record(old, value)
        elif isinstance(old, syntax.Array) and isinstance(value, PVector):
            partners = align([item.value for item in old.items], value)
            places: list[Place] = [
                Place(None, partial(self.writer.put, write_value(each)))
                if index is None
                else Place(index, partial(self._value, old.items[index], each))
                for index, each in zip(partners, value, strict=True)
            ]
            self._list(old, old.items, places)
        else:
            self.writer.put(respell(old, self.writer.old[old.start : old.end], value))

    # --- annotations

    def annotations(self, old: syntax.Annotated, subject: Subject) -> None:
        """Write a subject over the annotations before a pattern, up to where it begins."""
        writer, identified = self.writer, [old.identified] if old.identified else []
        places: list[Place] = []
        if old.identified and (subject.identity or subject.labels or _has_empty_name(old, subject)):
            places.append(Place(0, partial(self._identified, old.identified, subject)))
        elif subject.identity or subject.labels:
            name = write_subject(Subject(subject.identity, subject.labels), self.spelling)
            places.append(Place(None, partial(writer.put, f"@@{name}")))
        places += self._properties(
            old.annotations, subject.properties, _annotation_text, first=len(identified)
        )
        parts = [*identified, *old.annotations]
        list_of(writer.old, old.start, parts, old.body.start, commas=False).write(writer, places)

    def _identified(self, old: syntax.Identified, subject: Subject) -> None:
        writer, name, marker_end = self.writer, old.identity, old.start + len("@@")
        end = name.end if name else marker_end
        stays = (name.text if name else "") == subject.identity
        if stays or not subject.identity:
            writer.copy(old.start, end if stays else marker_end)
        else:
            writer.put(f"@@{write_name(subject.identity, integers=True)}")
        if name and not stays and lexer.has_comment(writer.old[marker_end : name.start]):
            writer.copy_trivia(marker_end, name.start)
        spelled = stays or bool(subject.identity)
        self._labels(old.labels, end, subject.labels, spelled=spelled)

    def annotations_as_subject(self, old: syntax.Annotated, subject: Subject) -> None:
        """Write identity, labels and record, with the annotations' names and values."""
        writer, labels = self.writer, old.subject.labels
        spelled = self._identity(old.subject.identity, subject.identity)
        start = labels[0].start if labels else old.start
        self._labels(labels, start, subject.labels, spelled=spelled)
        if not subject.properties:
            return
        last = {annotation.key.text: annotation for annotation in old.annotations}
        kept: list[Named] = [
            (key, Place(None, partial(self._annotation_as_entry, annotation, subject)))
            for key, annotation in last.items()
            if key in subject.properties
        ]
        new = {k: _entry_text(k, value) for k, value in subject.properties.items() if k not in last}
        writer.put_trivia(" " if spelled or subject.labels else "")
        writer.put("{")
        for index, place in enumerate(with_additions(writer, kept, new)):
            writer.put(", " if index else "")
            place.write()
        writer.put("}")

    def _annotation_as_entry(self, annotation: syntax.Annotation, subject: Subject) -> None:
        self.writer.copy(annotation.key.start, annotation.key.end)
        self.writer.put(": ")
        self._value(annotation.value, subject.properties[annotation.key.text])


def _entry_text(key: str, value: Value) -> str:
    return f"{writing.write_key(key)}: {write_value(value)}"


def _annotation_text(key: str, value: Value) -> str:
    return f"@{key}({write_value(value)})"


def can_annotate(old: syntax.Annotated, tree: Pattern) -> bool:
    """Whether a tree can be written as annotations before its one element."""
    subject = tree.value
    says = subject.identity or subject.labels or subject.properties or _has_empty_name(old, subject)
    return bool(says) and len(tree.elements) == 1 and all(map(is_symbol, subject.properties))


def _has_empty_name(old: syntax.Annotated, subject: Subject) -> bool:
    """Whether the annotations have the empty name, written in backticks, and keep it."""
    name = old.subject.identity
    return name is not None and name.text == subject.identity == ""


# --- paths

Direction: TypeAlias = Literal["right", "left"]
_Chain: TypeAlias = Union[tuple["NewHop", Any], None]
"""A hop with the chain before it."""
Spell: TypeAlias = Callable[[Part], Spelling]
"""Gives the spelling of a new pattern."""


class NewHop(NamedTuple):
    """A hop of the new path.

    Attributes:
        edge: the relationship that it spells.
        old: the hop of the old path that is rewritten, or None for a new one.
        direction: which way the arrow points; one without a point or with two reads ``right``.
    """

    edge: Part
    old: syntax.Path | None
    direction: Direction

    @property
    def left(self) -> Part:
        """The node before the arrow."""
        return self.edge.parts[0 if self.direction == "right" else 1]

    @property
    def right(self) -> Part:
        """The node after the arrow."""
        return self.edge.parts[1 if self.direction == "right" else 0]


def hops_of(path: syntax.Path, new: Part) -> list[NewHop] | None:
    """The hops that make a path of ``new`` with the least change; None when it cannot be one."""
    tree = new.pattern
    if is_edge(tree):
        edges = [new]
    elif walk_nodes(tree):
        edges = new.parts
    else:
        return None
    old = {hop.pattern.came_from: hop for hop in path.hops}
    return _cheapest(edges, [old.pop(edge.pattern.came_from, None) for edge in edges])


def hops_around(new: Part) -> list[NewHop] | None:
    """The hops of a new walk, over the paths that its edges were; None for what is no walk."""
    if walk_nodes(new.pattern) is None:
        return None
    whole = (
        edge.partner.construct if edge.partner and edge.is_whole else None for edge in new.parts
    )
    return _cheapest(new.parts, [text if isinstance(text, syntax.Path) else None for text in whole])


def _cheapest(edges: Sequence[Part], partners: Sequence[syntax.Path | None]) -> list[NewHop] | None:
    """Choose the direction of each hop so that neighbours share a node, by dynamic programming."""
    best: list[tuple[int, _Chain]] = [(0, None)]  # the cost of a last hop and those before it
    for edge, old in zip(edges, partners, strict=True):
        found: list[tuple[int, _Chain]] = []
        for hop in (NewHop(edge, old, "right"), NewHop(edge, old, "left")):
            before = [
                (cost, chain)
                for cost, chain in best
                if chain is None or chain[0].right.pattern == hop.left.pattern
            ]
            if before:
                cost, chain = min(before, key=lambda each: each[0])
                found.append((cost + _cost(hop), (hop, chain)))
        best = found
    if not best:
        return None
    _, last = min(best, key=lambda each: each[0])
    hops: list[NewHop] = []
    while last is not None:
        hop, last = last
        hops.append(hop)
    return hops[::-1]


def _cost(hop: NewHop) -> int:
    """How much of the old text a hop changes: its heads, and the nodes at its ends."""
    if hop.old is None:
        return 0 if hop.direction == "right" else 1
    (arrow,), (left, right) = hop.old.arrows, hop.old.nodes
    kind, heads = arrow.kind, 0
    if (kind == "left") != (hop.direction == "left"):
        heads = 1 if kind in ("left", "right") else 3
    return heads + (left.pattern != hop.left.pattern) + (right.pattern != hop.right.pattern)


def rewrite_path(
    writer: Writer,
    hops: Sequence[NewHop],
    spell: Spell,
    comments: Iterable[Span] = (),
    path: syntax.Path | None = None,
) -> None:
    """Write the hops that `hops_of` or `hops_around` found, each over its old one.

    Args:
        writer: receives the text.
        hops: the hops.
        spell: the spelling of what is new.
        comments: comments of the old text that have no place of their own in the new one.
        path: what is rewritten; its nodes keep the comments beside them when their hops go.
    """
    first, *others = old = _old_nodes([hops[0].left, *(hop.right for hop in hops)], hops, path)
    gaps = _gaps(writer, hops, old, path)
    _rewrite_node(writer, first, hops[0].left, spell)
    writer.copy_comments(comments)
    for hop, (after, before), old_node in zip(hops, gaps, others, strict=True):
        spelling = spell(hop.edge)
        writer.copy_trivia(*after)
        if hop.old is None:
            writer.put(writing.write_arrow(hop.edge.pattern.value, spelling, hop.direction))
        else:
            _rewrite_arrow(writer, hop.old.arrows[0], hop, spelling)
        writer.copy_trivia(*before)
        _rewrite_node(writer, old_node, hop.right, spell)


def _gaps(
    writer: Writer,
    hops: Sequence[NewHop],
    nodes: Sequence[syntax.Node | None],
    path: syntax.Path | None,
) -> list[tuple[Span, Span]]:
    """For each hop the old blanks and comments before and after its arrow.

    Those beside an old node go where the node goes; of a new hop blanks alone are left out.
    """
    paths = [path] if path else [hop.old for hop in hops if hop.old]
    old = [each for it in paths for each in zip(it.nodes, it.arrows, it.nodes[1:], strict=False)]
    after = {left: Span(left.end, arrow.start) for left, arrow, _ in old}
    before = {right: Span(arrow.end, right.start) for _, arrow, right in old}
    beside: list[list[Span | None]] = []
    for side, own in enumerate((after, before)):
        ends = nodes[side : len(hops) + side]
        spans = [own.get(node) if node else None for node in ends]
        taken = {*spans}
        for index, hop in enumerate(hops):
            span = spans[index]
            if hop.old and span is None and own[hop.old.nodes[side]] not in taken:
                spans[index] = own[hop.old.nodes[side]]
            if not hop.old and span and not lexer.has_comment(writer.old[slice(*span)]):
                spans[index] = None
        beside.append(spans)
    return [(one or NOTHING, other or NOTHING) for one, other in zip(*beside, strict=True)]


def _old_nodes(
    nodes: Sequence[Part], hops: Sequence[NewHop], path: syntax.Path | None
) -> list[syntax.Node | None]:
    """For each node of the new path the old node whose text it takes; none is taken twice.

    The equal node beside it comes first, then one of the same name, beside it or elsewhere in the
    path, then the one at its place. The node at the other end of a hop is taken first only when the
    two are exactly swapped.
    """
    beside: list[tuple[int, syntax.Node]] = []  # the index of a new node, and an old one
    swapped: list[tuple[int, syntax.Node]] = []
    for index, hop in enumerate(hops):
        if hop.old is not None:
            left, right = hop.old.nodes
            beside += [(index, left), (index + 1, right)]
            if hop.left.pattern == right.pattern and hop.right.pattern == left.pattern:
                swapped += [(index, right), (index + 1, left)]
    sources: list[syntax.Node | None] = [None] * len(nodes)
    taken: set[syntax.Node] = set()

    def take(
        candidates: list[tuple[int, syntax.Node]], fits: Callable[[Pattern, Pattern], bool]
    ) -> None:
        for index, old in candidates:
            is_free = sources[index] is None and old not in taken
            if is_free and fits(old.pattern, nodes[index].pattern):
                sources[index] = old
                taken.add(old)

    take(beside, operator.eq)
    take(swapped, operator.eq)
    take(beside, lambda old, new: new.value.identity in {old.value.identity} - {""})
    named = {node.pattern.value.identity: node for node in path.nodes} if path else {}
    by_name = [(at, named.get(node.pattern.value.identity)) for at, node in enumerate(nodes)]
    take([(at, old) for at, old in by_name if old], lambda old, new: bool(new.value.identity))
    take(beside, lambda old, new: True)
    return sources


def _rewrite_node(writer: Writer, node: syntax.Node | None, new: Part, spell: Spell) -> None:
    subject = new.pattern.value
    if node is None:
        writer.put(f"({write_subject(subject, spell(new))})")
        return
    writer.copy(node.start, node.start + 1)
    writer.copy_trivia(node.start + 1, node.subject.start)
    PartWriter(writer, spell(new)).subject(node.subject, subject)
    writer.copy_trivia(node.subject.end, node.end - 1)
    writer.copy(node.end - 1, node.end)


def _rewrite_arrow(writer: Writer, arrow: syntax.Arrow, hop: NewHop, spelling: Spelling) -> None:
    tail = writer.old[arrow.start : arrow.tail_end]
    body = tail[-1]
    keeps_heads = (arrow.kind == "left") == (hop.direction == "left")
    if keeps_heads:
        writer.copy(arrow.start, arrow.tail_end)
    else:
        writer.put(body if hop.direction == "right" else f"<{body}")
    subject = hop.edge.pattern.value
    if not arrow.bracketed:
        inside = write_subject(subject, spelling)
        writer.put(f"[{inside}]" if inside else "")
        writer.copy_trivia(arrow.tail_end, arrow.head_start)
    elif subject == arrow.subject.subject:
        writer.copy(arrow.tail_end, arrow.head_start)
    elif subject != Subject() or lexer.comments(writer.old, arrow.tail_end, arrow.head_start):
        writer.copy(arrow.tail_end, arrow.subject.start)
        PartWriter(writer, spelling).subject(arrow.subject, subject)
        writer.copy(arrow.subject.end, arrow.head_start)
    if keeps_heads:
        writer.copy(arrow.head_start, arrow.end)
    else:
        writer.put(f"{body}>" if hop.direction == "right" else body)
