"""Rewrites the text of a document for other trees with the least change.

Only a window around the changes is looked at; all before and after it is copied whole.

A comment belongs to one pattern. What comes from another document, or is in the new one twice, is
spelled as it was, and says nothing about the place where it is now.

Each role allows certain constructs: a header is a record and comes first; annotations come at the
top only; a reference comes among elements only; the nodes of a path are atoms. A construct that
cannot spell the new tree becomes ``(…)`` or ``[… | …]``, which can spell every tree, and keeps the
bytes of its parts. Whether it can is decided from the trees, before anything is written.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import chain
from typing import Literal, NamedTuple, TypeAlias

from attrs import define, evolve, frozen

from .. import reading, writing
from ..reading import Construct, lexer, syntax
from ..source import Source, Span
from ..trees import Pattern, is_edge, is_header, is_reference, walk_nodes
from ..writing import Spelling, Style
from .adopting import adopt, common_ends, longest_increasing
from .comma_list import NO_ELEMENTS, ElementList, Piece, Place, Writer, list_of, text_of
from .pairing import Part, pair, place_of
from .rewrite_parts import NewHop, PartWriter, can_annotate, hops_around, hops_of, rewrite_path

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
        elif isinstance(old, syntax.Annotated) and fits_role(old, role) and can_annotate(old, tree):
            self._parts(new).annotations(old, tree.value)
            self.write(new.parts[0], "body")
        elif isinstance(old, syntax.Path) and not new.is_open and (hops := hops_of(old, new)):
            rewrite_path(self.writer, hops, self._spelling, path=old)
        elif (
            isinstance(old, syntax.Header)
            and old.subject.record
            and role == "first"
            and not (tree.value.identity or tree.value.labels or tree.elements)
        ):
            self._parts(new).record(old.subject.record, tree.value.properties)
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
        self._parts(new).subject(old.subject, tree.value)
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
            self._parts(new).annotations_as_subject(old, tree.value)
        else:
            self._parts(new).subject(old.subject, tree.value)
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

    def _parts(self, new: Part) -> PartWriter:
        return PartWriter(self.writer, self._spelling(new))

    def _spelling(self, new: Part) -> Spelling:
        return self._style(new.path) if self._style else writing.PLAIN


def _with_text(new: Part) -> Iterator[tuple[Part, Construct]]:
    """A pattern and all below it that have an old text, with that text."""
    if new.partner is not None and new.partner.construct is not None:
        yield new, new.partner.construct
    for part in new.parts if new.has_partners else ():
        yield from _with_text(part)


_ROLES: dict[type[Construct], tuple[Role, ...]] = {
    syntax.Header: ("first",),
    syntax.Annotated: ("first", "top"),
    syntax.Reference: ("element",),
}


def fits_role(construct: Construct, role: Role) -> bool:
    """Whether a role allows a construct as it is."""
    return role in _ROLES.get(type(construct), (role,))


def _text_without_comments(source: Source, start: int, end: int) -> Source:
    """The text of a pattern, for a copy of it."""
    pieces: list[str] = []
    at = start
    for token in reading.tokens(source.text, start, end):
        trivia, spelling = source.text[at : token.start], source.text[token.start : token.end]
        if lexer.has_comment(trivia):
            trivia = "" if spelling in (",", "|") else lexer.last_line(trivia)
        pieces += trivia, spelling
        at = token.end
    return Source("".join(pieces))


@frozen
class Change:
    """One place where a rewritten text differs from the text it was rewritten from.

    Attributes:
        before: the offsets in the old text.
        after: the offsets in the new text.
        old: the old text there.
        new: the new text there.
    """

    before: Span
    after: Span
    old: str
    new: str


class Replacement(NamedTuple):
    """A rewritten text.

    Attributes:
        old: the text that was rewritten.
        pieces: what the new text is made of.
        rescued: the indices of the patterns whose rewritten text did not read back as them, so
            that they were written canonically. There should never be one.
    """

    old: str
    pieces: tuple[Piece, ...]
    rescued: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """The new text."""
        return text_of(self.pieces, self.old)

    @property
    def changes(self) -> tuple[Change, ...]:
        """Where the new text differs from the old one, in order.

        Old bytes that were copied out of their order count as new ones in their new place.
        """
        copies = {at: piece for at, piece in enumerate(self.pieces) if isinstance(piece, Span)}
        in_order = longest_increasing([copy.start for copy in copies.values()])
        places = [*copies]
        staying = {places[index] for index in in_order} | {len(self.pieces)}
        found: list[Change] = []
        new, before, after = "", 0, 0  # what was written since both texts were last the same
        for at, piece in enumerate([*self.pieces, Span(len(self.old), len(self.old))]):
            text = text_of([piece], self.old)
            if isinstance(piece, str) or at not in staying or piece.start < before:
                new += text
                continue
            old = self.old[before : piece.start]
            if new != old:
                spans = Span(before, piece.start), Span(after, after + len(new))
                found.append(Change(*spans, old, new))
            after += len(new) + len(text)
            new, before = "", piece.end
        return tuple(found)


def replace(
    source: Source, patterns: Sequence[Pattern], trees: Sequence[Pattern], style: Style | None
) -> Replacement:
    """Rewrite a text so that ``trees`` is read from it.

    Each pattern that is written is read back; one that does not read as it should is written
    canonically.

    Args:
        source: the text.
        patterns: what was read from it.
        trees: the wanted patterns.
        style: how new patterns are spelled.
    """
    text = source.text
    same_before, same_after = common_ends(
        *([(each.came_from, each) for each in side] for side in (patterns, trees))
    )
    # The neighbours of what changed belong to the window too: one may become the first item.
    first, after = max(same_before - 1, 0), max(same_after - 1, 0)
    old = patterns[first : len(patterns) - after]
    wanted = trees[first : len(trees) - after]
    start = place_of(patterns[first - 1])[1].end if first else lexer.text_start(text)
    end = place_of(patterns[len(patterns) - after])[1].start if after else len(text)
    window = [place_of(pattern)[1] for pattern in old]
    writer = Writer(text, lexer.line_break(text))

    @cache
    def old_list() -> ElementList:
        """The top-level patterns, with the comments around each."""
        head = None if first else end
        if window and not first:
            head = end_of_head(text, start, window[0].start)
        lead = writer.line_break
        found = list_of(text, start, window, end, commas=False, new_lead=lead, head=head)
        return found._replace(opens_file=not first)

    rescued: list[int] = []

    def write(new: Part) -> None:
        """Write an item."""
        role: Role = "first" if first + new.index == 0 else "top"
        old = new.partner if new.is_whole else None
        if old is not None and old.construct is not None and fits_role(old.construct, role):
            writer.copy(*old.span)
            return
        part_writer = Writer(text, writer.line_break)
        Rewriter(part_writer, style, old_list, copy).write(new, role)
        if reading.trees_if_gram(text_of(part_writer.pieces, text)) != (new.pattern,):
            rescued.append(first + new.index)
            part_writer = Writer(text, writer.line_break)
            Rewriter(part_writer, style, old_list, copy).put(new, role)
        writer.append(part_writer)

    def copy(new: Part) -> str | None:
        origin, around = new.pattern.came_from, new.path[:-1]
        if origin is None or origin[0].text[origin[1]] not in "([@{":
            return None  # new, or a bare name, which is written as it always is
        elsewhere = _text_without_comments(*origin)
        copied = reading.parse_trees(elsewhere)
        spelled = (lambda path: style((*around, *path))) if style else None
        (changed,) = adopt(copied, [new.pattern], elsewhere)
        if changed.came_from == origin:  # with another name and other labels it was not known
            changed = evolve(changed, came_from=copied[0].came_from)
        return replace(elsewhere, copied, [changed], spelled).text

    def keeps_form(old: reading.Construct, new: Part) -> bool:
        return isinstance(old, syntax.Path) and hops_of(old, new) is not None

    parts = pair(source, old, wanted, keeps_form)
    writer.copy(0, start)
    rewriter = Rewriter(writer, style, old_list, copy)
    rewriter.listed(parts, write, old_list())
    if not window and text.endswith("\n"):
        writer.put_trivia(writer.line_break)
    writer.copy(end, len(text))
    return Replacement(text, tuple(writer.pieces), tuple(rescued))


def end_of_head(text: str, start: int, end: int) -> int:
    """Where the comments about a file end and those directly above its first item begin."""
    kept = len(lexer.without_block_above("\n" + text[start:end])) - 1
    block = next(lexer.comments_in(text, start + max(kept, 0), end), None)
    return max(text.rfind("\n", 0, block.start) + 1, start) if block else end
