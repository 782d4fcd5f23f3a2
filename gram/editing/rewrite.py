"""Rewrites a construct for another tree with the least change.

Each role allows certain constructs: a header is a record and comes first; annotations come at the
top only; a reference comes among elements only; the nodes of a path are atoms. A construct that
cannot spell the new tree becomes ``(…)`` or ``[… | …]``, which can spell every tree, and keeps the
bytes of its parts. Whether it can is decided from the trees, before anything is written.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Literal, TypeAlias

from attrs import define

from .. import writing
from ..reading import Construct, lexer, syntax
from ..source import Span
from ..trees import is_edge, is_header, is_reference, walk_nodes
from ..writing import Spelling, Style
from . import rewrite_subject
from .comma_list import NO_ELEMENTS, ElementList, Place, Writer, list_of
from .pairing import Part
from .rewrite_path import NewHop, hops_around, hops_of, rewrite_path

Role: TypeAlias = Literal["first", "top", "body", "element", "node"]
"""Where a tree comes: first in the document, at its top, below annotations, in a bracket or, an
atom between ``(`` and ``)``, in a path."""


@define(eq=False)
class Rewriter:
    """Writes new patterns, each over the text of its partner if it has one.

    Args:
        writer: receives the text.
        style: how new patterns are spelled.
        top: gives the list of the top-level patterns in the old text.
        copy: gives the text of a pattern that is a copy, None for any other.
    """

    writer: Writer
    _style: Style | None
    _top: Callable[[], ElementList]
    _copy: Callable[[Part], str | None]

    def listed(
        self, parts: Sequence[Part], write: Callable[[Part], None], old_list: ElementList
    ) -> None:
        """Write patterns over their old list, with the comments that they bring."""
        places: list[Place] = []
        for new in parts:
            seat = new.place
            stays = seat is not None and seat.shares_list(new)
            index = seat.index if seat and stays and old_list.elements else None
            brought = ([], []) if stays and seat is new.partner else self._comments_brought(new)
            places.append(Place(index, partial(write, new), *brought))
        old_list.write(self.writer, places)

    def _comments_brought(self, new: Part) -> tuple[list[Span], list[Span]]:
        """The comments around a pattern in its old list, if they move with it."""
        old = new.partner
        if old is None or old.place not in (None, new):
            return [], []
        if old.parent is None:
            return self._top().comments_around(old.index)
        if isinstance(old.parent.construct, syntax.Bracket):
            return self._element_list(old.parent, old.parent.construct).comments_around(old.index)
        return [], []

    def _element_list(self, old: Part, bracket: syntax.Bracket) -> ElementList:
        if old.old_list is None:
            start = bracket.subject.end if bracket.bar is None else bracket.bar + 1
            spans = [part.span for part in old.parts]
            old.old_list = list_of(self.writer.old, start, spans, bracket.end - 1)
        return old.old_list

    def write(self, new: Part, role: Role) -> None:
        """Write a pattern: over the text of its partner, around the texts of its parts, or anew."""
        old, tree = new.partner.construct if new.partner else None, new.pattern
        if old is None:
            self._assemble(new) if new.has_partners else self._put_new(new, role)
        elif new.is_whole and fits_role(old, role):
            self.writer.copy(old.start, old.end)
        elif (
            isinstance(old, syntax.Node) and walk_nodes(tree) and not self._left_over(old, new, ())
        ):
            self.put(new, role)
        elif isinstance(old, syntax.Bracket | syntax.Node):
            if role == "element" and is_reference(tree) and not is_reference(old.pattern):
                self._as_reference(old, new)
            else:
                self._enclosed(old, new)
        elif (
            isinstance(old, syntax.Annotated)
            and fits_role(old, role)
            and rewrite_subject.can_annotate(old, tree)
        ):
            rewrite_subject.rewrite_annotations(self.writer, old, tree.value, self._spelling(new))
            self.write(new.parts[0], "body")
        elif isinstance(old, syntax.Path) and not new.is_open and (hops := hops_of(old, new)):
            rewrite_path(self.writer, hops, self._spelling)
        elif (
            isinstance(old, syntax.Header)
            and old.subject.record
            and role == "first"
            and not (tree.value.identity or tree.value.labels or tree.elements)
        ):
            rewrite_subject.rewrite_record(self.writer, old.subject.record, tree.value.properties)
        elif isinstance(old, syntax.Reference) and role == "element" and is_reference(tree):
            self.writer.put(writing.write_name(tree.value.identity, integers=True))
        elif isinstance(old, syntax.Path) and (hops := hops_around(new)):
            self._walk(new, hops)
        else:
            self._in_brackets(old, new, role)

    # --- constructs that stay what they are

    def _enclosed(self, old: syntax.Bracket | syntax.Node, new: Part) -> None:
        """Write over a bracket, or over a node; with elements a node becomes a bracket."""
        writer, last, tree = self.writer, old.end - 1, new.pattern
        becomes_bracket = isinstance(old, syntax.Node) and bool(tree.elements)
        if becomes_bracket:
            writer.put("[")
        else:
            writer.copy(old.start, old.start + 1)
        writer.copy_trivia(old.start + 1, old.subject.start)
        rewrite_subject.rewrite_subject(writer, old.subject, tree.value, self._spelling(new))
        if isinstance(old, syntax.Bracket) and old.bar is not None:
            self._rewrite_elements(old, old.bar, new)
        else:
            self._new_elements(new)
            writer.copy_trivia(old.subject.end, last)
        if becomes_bracket:
            writer.put("]")
        else:
            writer.copy(last, old.end)

    def _rewrite_elements(self, old: syntax.Bracket, bar: int, new: Part) -> None:
        """Write the elements of a bracket that had some; the bar goes with the last one."""
        writer, part = self.writer, new.partner
        assert part is not None
        write = partial(self.write, role="element")
        if new.pattern.elements or lexer.has_comment(writer.old[old.subject.end : bar]):
            writer.copy_trivia(old.subject.end, bar)
        if new.pattern.elements:
            writer.copy(bar, bar + 1)
        old_list = self._element_list(part, old)
        if new.parts or old_list.comments_left_without():
            self.listed(new.parts, write, old_list)

    def _new_elements(self, new: Part) -> None:
        """Write the elements of a bracket that had none; the first may bring comments above it."""
        if new.parts:
            self.writer.put(" |")
            self.listed(new.parts, partial(self.write, role="element"), NO_ELEMENTS)

    # --- constructs that become another

    def _as_reference(self, old: syntax.Bracket | syntax.Node, new: Part) -> None:
        """Write a reference over a definition; its comments come before the name."""
        writer, text = self.writer, self.writer.old
        indentation = text[text.rfind("\n", 0, old.start) + 1 : old.start]
        line = writer.line_break + ("" if indentation.strip() else indentation)
        for comment in self._left_over(old, new, ()):
            writer.copy_trivia(*comment)
            writer.put_trivia(line)
        writer.put(writing.write_name(new.pattern.value.identity, integers=True))

    def _in_brackets(self, old: Construct, new: Part, role: Role) -> None:
        """Write what needs another construct: its subject and elements between brackets.

        Comments for which there is no other place come before the closing bracket.
        """
        writer, tree, spelling = self.writer, new.pattern, self._spelling(new)
        square = bool(tree.elements) or (spelling.bracketed and role == "element")
        writer.put("[" if square else "(")
        mark = len(writer.pieces)
        if isinstance(old, syntax.Annotated):
            rewrite_subject.annotations_as_subject(writer, old, tree.value, spelling)
        else:
            rewrite_subject.rewrite_subject(writer, old.subject, tree.value, spelling)
        self._new_elements(new)
        copies = [piece for piece in writer.pieces[mark:] if isinstance(piece, Span)]
        writer.copy_comments(self._left_over(old, new, copies))
        writer.put("]" if square else ")")

    def _left_over(self, old: Construct, new: Part, copies: Iterable[Span]) -> list[Span]:
        """The comments of a construct that are neither in the copies nor in parts that moved."""
        found = lexer.comments(self.writer.old, old.start, old.end)
        elsewhere: list[Span] = []
        for part in new.partner.inside if new.partner else ():
            if part.partner is not None and part.construct is not None:
                elsewhere += [part.construct.span, *chain(*self._comments_brought(part.partner))]
        starts = [comment.start for comment in found]
        held: set[int] = set()
        for span in chain(copies, elsewhere):
            held.update(range(bisect_left(starts, span.start), bisect_left(starts, span.end)))
        return [comment for index, comment in enumerate(found) if index not in held]

    # --- patterns without a text

    def _assemble(self, new: Part) -> None:
        """Write a new bracket, edge or walk around parts that have a text."""
        writer, tree, spelling = self.writer, new.pattern, self._spelling(new)
        if hops := hops_around(new):
            self._walk(new, hops)
            return
        texts = [part.partner.construct if part.partner else None for part in new.parts]
        brackets = any(isinstance(text, syntax.Bracket) for text in texts)
        if is_edge(tree) and writing.is_path(tree, spelling) and not brackets:
            left, right = new.parts
            self.write(left, "node")
            writer.copy_comments(chain(*self._comments_brought(left)))
            writer.put(writing.write_arrow(tree.value, spelling))
            writer.copy_comments(chain(*self._comments_brought(right)))
            self.write(right, "node")
            return
        writer.put(f"[{writing.write_subject(tree.value, spelling)}")
        self._new_elements(new)
        writer.put("]")

    def _walk(self, new: Part, hops: Sequence[NewHop]) -> None:
        """Write a new walk of paths that were apart, with the comments of all of them."""
        walk = Writer(self.writer.old, self.writer.line_break)
        rewrite_path(walk, hops, self._spelling)
        copies = [piece for piece in walk.pieces if isinstance(piece, Span)]
        left: list[Span] = []
        for part, text in _with_text(new):
            left += self._left_over(text, part, [*copies, *left])
            left += [] if part is new else chain(*self._comments_brought(part))
        if left:
            walk = Writer(self.writer.old, self.writer.line_break)
            rewrite_path(walk, hops, self._spelling, left)
        self.writer.append(walk)

    def _put_new(self, new: Part, role: Role) -> None:
        """Write a pattern that has no text here; a copy is spelled as where it came from."""
        is_name = role == "node" or (role == "element" and is_reference(new.pattern))
        text = None if is_name else self._copy(new)
        only_in = {"{": ("first",), "@": ("first", "top")}
        if text and role in only_in.get(text[0], (role,)):
            self.writer.put(text)
        else:
            self.put(new, role)

    def put(self, new: Part, role: Role) -> None:
        """Write a pattern as canonical writing does."""
        tree = new.pattern
        if role == "first" and is_header(tree):
            self.writer.put(writing.write_record(tree.value.properties))
        elif role == "element" and is_reference(tree):
            self.writer.put(writing.write_name(tree.value.identity, integers=True))
        elif role == "node":
            self.writer.put(f"({writing.write_subject(tree.value, self._spelling(new))})")
        else:
            self.writer.put(writing.write_pattern(tree, style=self._style, within=new.path[:-1]))

    def _spelling(self, new: Part) -> Spelling:
        return self._style(new.path) if self._style else writing.PLAIN


def _with_text(new: Part) -> Iterator[tuple[Part, Construct]]:
    """A pattern and all below it that have an old text, with that text."""
    if new.partner is not None and new.partner.construct is not None:
        yield new, new.partner.construct
    for part in new.parts if new.has_partners else ():
        yield from _with_text(part)


def fits_role(construct: Construct, role: Role) -> bool:
    """Whether a role allows a construct as it is."""
    match construct:
        case syntax.Header():
            return role == "first"
        case syntax.Annotated():
            return role in ("first", "top")
        case syntax.Reference():
            return role == "element"
        case _:
            return True
