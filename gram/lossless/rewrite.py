"""Rewrites a construct so that it says another tree, with the least change.

What may stand where is a matter of roles: a header is a record and stands first; annotations
stand at the top only; a reference stands among elements only; a path has atoms for nodes. A
construct that cannot say the new tree becomes ``(…)`` or ``[… | …]``, which say every tree, and
keeps the bytes of its parts. Whether it can is decided from the trees, before anything is written.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import partial
from typing import Literal, TypeAlias

from .. import syntax
from ..pattern import Pattern, Subject
from ..serializer import (
    PLAIN,
    Spelling,
    Style,
    is_edge,
    is_header,
    is_path,
    is_reference,
    walk_nodes,
    write_arrow,
    write_name,
    write_pattern,
    write_record,
    write_subject,
)
from ..source import Span
from ..spans import span_of
from ..trivia import comments, has_comment
from .alignment import PATTERNS, align
from .comma_list import Place, comma_list
from .donors import Donors, Standing, below_of, holds, parts_of
from .rewrite_annotations import annotations_as_subject, can_annotate, rewrite_annotations
from .rewrite_path import hops_of, rewrite_path
from .rewrite_subject import rewrite_record, rewrite_subject
from .writer import Writer

Role: TypeAlias = Literal["first", "top", "body", "element", "node"]
"""Where a tree stands: first in the document, at its top, below annotations, in a bracket or, an
atom between ``(`` and ``)``, in a path."""


class Rewriter:
    """Writes trees over constructs.

    Args:
        writer: what is written to.
        style: the spelling of what is new.
        donors: the texts that new trees may take.
    """

    def __init__(self, writer: Writer, style: Style | None, donors: Donors) -> None:
        self.writer = writer
        self._style = style
        self._donors = donors

    def rewrite(
        self, construct: Standing, tree: Pattern, role: Role, within: tuple[Pattern, ...] = ()
    ) -> None:
        """Write ``tree`` over a construct, where it stands or moved to another role."""
        old = construct.pattern
        if old == tree and can_stand(construct, role):
            self.writer.copy(construct.start, construct.end)
        elif old.value != tree.value and (holds(tree, old) or holds(old, tree)):
            # it was wrapped or unwrapped: the part keeps its text
            self.write_new(tree, role, within)
        elif isinstance(construct, syntax.Bracket | syntax.Node):
            self._enclosed(construct, tree, within)
        elif isinstance(construct, syntax.Annotated):
            if can_stand(construct, role) and can_annotate(construct, tree):
                spelling = self._spelling((*within, tree))
                rewrite_annotations(self.writer, construct, tree.value, spelling)
                self.rewrite(construct.body, tree.elements[0], "body", (*within, tree))
            else:
                self._in_brackets(construct, tree, role, within)
        elif isinstance(construct, syntax.Path) and (hops := hops_of(construct, tree)):
            below = within if len(hops) == 1 else (*within, tree)
            rewrite_path(self.writer, construct, hops, self._spelling, below)
        elif isinstance(construct, syntax.Header) and role == "first" and _is_record(tree):
            rewrite_record(self.writer, construct.record, tree.value.properties)
        elif isinstance(construct, syntax.Reference) and role == "element" and is_reference(tree):
            self.writer.put(write_name(tree.value.identity, integers=True))
        else:
            self._in_brackets(construct, tree, role, within)

    def write_new(self, tree: Pattern, role: Role, within: tuple[Pattern, ...] = ()) -> None:
        """Write a tree that has no partner: with the text of an equal one, else canonically."""
        donor = self._donors.take(tree)
        if donor is not None:
            self.rewrite(donor, tree, role, within)
        elif self._can_assemble(tree):
            self._assemble(tree, within)
        else:
            self._put(tree, role, within)

    # --- constructs that stay what they are

    def _enclosed(
        self, old: syntax.Bracket | syntax.Node, tree: Pattern, within: tuple[Pattern, ...]
    ) -> None:
        """A bracket, or a node, which becomes a bracket when it gains elements."""
        writer, last = self.writer, old.end - 1
        if isinstance(old, syntax.Node) and tree.elements:
            writer.put("[")
        else:
            writer.copy(old.start, old.start + 1)
        writer.gap(old.start + 1, old.subject.start)
        rewrite_subject(writer, old.subject, tree.value, self._spelling((*within, tree)))
        if isinstance(old, syntax.Bracket) and old.bar is not None:
            self._elements(old, old.bar, tree, within)
        else:
            if tree.elements:
                writer.put(" | ")
                self._listed((), tree, within)
            writer.gap(old.subject.end, last)
        if isinstance(old, syntax.Node) and tree.elements:
            writer.put("]")
        else:
            writer.copy(last, old.end)

    def _elements(
        self, old: syntax.Bracket, bar: int, tree: Pattern, within: tuple[Pattern, ...]
    ) -> None:
        """The elements of a bracket that had some; without any left the bar goes too."""
        writer, below = self.writer, (*within, tree)
        cells = comma_list(writer.old, bar + 1, map(span_of, old.elements), old.end - 1)
        partners = align(old.pattern.elements, tree.elements, PATTERNS)
        places: list[Place] = [
            (None, partial(self.write_new, element, "element", below))
            if index is None
            else (index, partial(self.rewrite, old.elements[index], element, "element", below))
            for index, element in zip(partners, tree.elements, strict=True)
        ]
        if tree.elements or has_comment(writer.old[old.subject.end : bar]):
            writer.gap(old.subject.end, bar)
        if tree.elements:
            writer.copy(bar, bar + 1)
        if tree.elements or cells.comments_left_without():
            cells.write(writer, places)

    # --- constructs that become another

    def _in_brackets(
        self,
        old: syntax.Header | syntax.Annotated | syntax.Reference | syntax.Path,
        tree: Pattern,
        role: Role,
        within: tuple[Pattern, ...],
    ) -> None:
        """What cannot stand as it is: its subject and elements between ``(`` or ``[``.

        Comments for which there is no other place stand before the closing bracket.
        """
        writer, spelling = self.writer, self._spelling((*within, tree))
        square = bool(tree.elements) or (spelling.bracketed and role == "element")
        writer.put("[" if square else "(")
        mark = len(writer.pieces)
        if isinstance(old, syntax.Annotated):
            annotations_as_subject(writer, old, tree.value, spelling)
        else:
            rewrite_subject(writer, _subject_of(old), tree.value, spelling)
        if tree.elements:
            writer.put(" | ")
            self._listed(parts_of(old), tree, within)
        copies = [piece for piece in writer.pieces[mark:] if not isinstance(piece, str)]
        for comment in _left_out(comments(writer.old, old.start, old.end), copies):
            writer.put_gap(" " + writer.old[comment.start : comment.end])
        writer.put("]" if square else ")")

    def _listed(
        self, parts: Sequence[Standing], tree: Pattern, within: tuple[Pattern, ...]
    ) -> None:
        """Elements that had no commas between them before."""
        below = (*within, tree)
        partners = align([part.pattern for part in parts], tree.elements, PATTERNS)
        for place, (index, element) in enumerate(zip(partners, tree.elements, strict=True)):
            self.writer.put(", " if place else "")
            if index is None:
                self.write_new(element, "element", below)
            else:
                self.rewrite(parts[index], element, "element", below)

    # --- trees without a construct

    def _can_assemble(self, tree: Pattern) -> bool:
        """Whether some part of a new tree has a text to take; a node alone breaks no walk."""
        if walk_nodes(tree) is not None:
            return self._donors.has_any(tree.elements)
        return bool(tree.elements) and self._donors.has_any(below_of(tree))

    def _assemble(self, tree: Pattern, within: tuple[Pattern, ...]) -> None:
        """Write a new bracket or edge around parts that have a text to take."""
        writer, below = self.writer, (*within, tree)
        spelling = self._spelling(below)
        donors = [self._donors.take(element) for element in tree.elements]
        as_path = is_edge(tree) and is_path(tree, spelling)
        as_path = as_path and not any(isinstance(donor, syntax.Bracket) for donor in donors)
        subject = write_subject(tree.value, spelling)
        opener = f"[{subject} | " if subject else "[ | "
        writer.put("" if as_path else opener)
        for index, (donor, element) in enumerate(zip(donors, tree.elements, strict=True)):
            if index:
                writer.put(write_arrow(tree.value, spelling) if as_path else ", ")
            role: Role = "node" if as_path else "element"
            if donor is None:
                self.write_new(element, role, below)
            else:
                self.rewrite(donor, element, role, below)
        writer.put("" if as_path else "]")

    def _put(self, tree: Pattern, role: Role, within: tuple[Pattern, ...]) -> None:
        if role == "first" and is_header(tree):
            self.writer.put(write_record(tree.value.properties))
        elif role == "element" and is_reference(tree):
            self.writer.put(write_name(tree.value.identity, integers=True))
        elif role == "node":
            self.writer.put(f"({write_subject(tree.value, self._spelling((*within, tree)))})")
        else:
            self.writer.put(write_pattern(tree, style=self._style, within=within))

    def _spelling(self, path: tuple[Pattern, ...]) -> Spelling:
        return self._style(path) if self._style else PLAIN


def can_stand(construct: Standing, role: Role) -> bool:
    """Whether a construct may stand in a role as it is."""
    match construct:
        case syntax.Header():
            return role == "first"
        case syntax.Annotated():
            return role in ("first", "top")
        case syntax.Reference():
            return role == "element"
        case _:
            return True


def _is_record(tree: Pattern) -> bool:
    """Whether a header, standing first, can say a tree: it may have lost all its properties."""
    return not (tree.value.identity or tree.value.labels or tree.elements)


def _left_out(found: Sequence[Span], copies: Sequence[Span]) -> list[Span]:
    """The comments, in order, that no copy holds."""
    starts = [comment.start for comment in found]
    held: set[int] = set()
    for copy in copies:
        held.update(range(bisect_left(starts, copy.start), bisect_left(starts, copy.end)))
    return [comment for index, comment in enumerate(found) if index not in held]


def _subject_of(old: syntax.Header | syntax.Reference | syntax.Path) -> syntax.SubjectPart:
    match old:
        case syntax.Header(start, end, record):
            return syntax.SubjectPart(start, end, None, (), record, old.pattern.value)
        case syntax.Reference(start, end, name):
            return syntax.SubjectPart(start, end, name, (), None, old.pattern.value)
        case syntax.Path() if len(old.arrows) == 1:
            return old.arrows[0].subject
        case _:
            return syntax.SubjectPart(old.start, old.start, None, (), None, Subject())
