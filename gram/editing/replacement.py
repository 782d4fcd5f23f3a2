"""Rewrites the text of a document for other trees: the top level, copies, and what goes.

Only a window around the changes is looked at; all before and after it is copied whole.

A comment belongs to one pattern. What comes from another document, or is in the new one twice, is
spelled as it was, and says nothing about the place where it is now.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from attrs import frozen

from .. import reading
from ..reading import lexer, syntax
from ..source import Source, Span
from ..trees import Pattern
from ..writing import Style
from .adopting import adopt, common_ends, longest_increasing
from .comma_list import ElementList, Piece, Writer, list_of, text_of
from .pairing import Part, pair, place_of
from .rewrite import Rewriter, Role, fits_role
from .rewrite_path import hops_of


def read_copy(pattern: Pattern) -> tuple[Source, Pattern] | None:
    """The text that a pattern is a copy of, without comments, and the pattern in that text.

    None for a pattern that came from nowhere.
    """
    if pattern.came_from is None:
        return None
    source, start, end = pattern.came_from
    if source.text[start] not in "([@{":
        return None  # a bare name is written as it always is
    pieces: list[str] = []
    at = start
    for token in reading.tokens(source.text, start, end):
        trivia, spelling = source.text[at : token.start], source.text[token.start : token.end]
        if lexer.has_comment(trivia):
            trivia = "" if spelling in (",", "|") else lexer.last_line(trivia)
        pieces += trivia, spelling
        at = token.end
    copied = Source("".join(pieces))
    return copied, reading.parse_trees(copied)[0]


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
        if (found := read_copy(new.pattern)) is None:
            return None
        elsewhere, copied = found
        around = new.path[:-1]
        spelled = (lambda path: style((*around, *path))) if style else None
        wanted = adopt([copied], [new.pattern], elsewhere)
        return replace(elsewhere, [copied], wanted, spelled).text

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
