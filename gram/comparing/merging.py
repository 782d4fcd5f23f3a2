"""Three-way merge of texts, by their constructs: what neither side changed keeps its bytes.

A construct that one side alone changed is taken as that side has it. One that both changed is
merged part by part: lists by their elements, texts in strings by their lines. What cannot be merged
so is a conflict, around the smallest whole construct.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias, Union, cast

from attrs import frozen

from .. import reading
from ..documents import parse
from ..editing import longest_increasing, respell
from ..reading import lexer, syntax
from ..source import BOM
from ..trees import Pattern, TaggedString, Value, is_header
from .diffs import match, match_values
from .parts import Group, Inside, Key, Part, Slot, document_part, merge_lines


@frozen
class Conflict:
    """A place that both sides changed, each in its own way.

    Attributes:
        base: the text before, with the comma after it; empty where there was nothing.
        ours: the text that we have there; empty where we removed it.
        theirs: the text that they have there.
        within: the patterns around it in the text before, from outside in, and last what it is
            about: a pattern, or the name of a part, which is a key, ``identity``, ``labels``,
            ``properties`` or ``elements``. Empty for all of a text.
        parts: the part in each of the three texts, for messages: of a property its value.
    """

    base: str
    ours: str
    theirs: str
    within: tuple[Pattern | str, ...] = ()
    parts: tuple[str, str, str] = ("", "", "")


Piece: TypeAlias = Union[str, Conflict]


@frozen
class Merge:
    """What a merge gave.

    Attributes:
        pieces: the text, with the conflicts in it.
        line_break: how its lines end.
    """

    pieces: tuple[Piece, ...]
    line_break: str = "\n"

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """The conflicts, in the order of the text."""
        return tuple(piece for piece in self.pieces if isinstance(piece, Conflict))

    def taking(self, side: Literal["base", "ours", "theirs"]) -> str:
        """The text that a merge tool makes when it takes one side of every conflict."""
        pieces = (
            f"{self.line_break}{getattr(piece, side)}{self.line_break}"
            if isinstance(piece, Conflict)
            else piece
            for piece in self.pieces
        )
        return "".join(pieces)

    def text(
        self, ours: str = "ours", theirs: str = "theirs", base: str | None = None, size: int = 7
    ) -> str:
        """The text, each conflict between markers as git writes them, on lines of their own.

        Args:
            ours, theirs: what the markers call the sides.
            base: what they call the text before; without it, it is left out.
            size: how many characters a marker has.
        """
        out: list[str] = []
        follows = False
        for piece in self.pieces:
            if isinstance(piece, str):
                out.append(re.sub(r"\A[ \t\r]*\n", "", piece) if follows else piece)
                follows = follows and not piece
                continue
            text = "".join(out)
            before = text.rstrip(" \t")
            indent = text[len(before) :] if before[-1:] in ("", "\n") else ""
            out = [before, "" if before[-1:] in ("", "\n") else self.line_break]
            sides = [("<", ours, piece.ours), ("|", base, piece.base), ("=", "", piece.theirs)]
            for mark, name, said in [*sides, (">", theirs, "")]:
                if name is not None:
                    out += [f"{mark * size} {name}".rstrip(), self.line_break]
                    out += [indent, said, self.line_break] if said else []
            follows = True
        return "".join(out)


def merge(
    base: str, ours: str, theirs: str, *, is_list: Callable[[Pattern], bool] = lambda path: False
) -> Merge:
    """Merge what two sides made of a text.

    Args:
        base: the text before.
        ours: what we made of it.
        theirs: what they made of it.
        is_list: whether the nodes of a path are a list, as the parameters of a signature are, so
            that both sides may put nodes in the same place.

    Raises:
        GramDecodeError: one of the texts is not gram.

    >>> merge("(a {x: 1, y: 1})", "(a {x: 2, y: 1})", "(a {x: 1, y: 3})").text()
    '(a {x: 2, y: 3})'
    """
    breaks = [lexer.line_break(text) for text in (base, ours, theirs)]
    ends = breaks[1] if breaks[1] != breaks[0] else breaks[2]
    texts = [base, ours, theirs]
    if len({*breaks}) > 1 and len({*texts}) == 3:
        texts = [text.replace("\r\n", "\n").replace("\n", ends) for text in texts]
    before, we, they = (document_part(parse(text)) for text in texts)
    pieces = _Merging(ends, is_list).merged(before, we, they)
    if pieces is not None:
        merged = Merge(tuple(pieces), ends)
        if merged.conflicts or reading.trees_if_gram(merged.text()) is not None:
            return merged
    base, ours, theirs = (text.removeprefix(BOM) for text in texts)
    return Merge((texts[1].removesuffix(ours), Conflict(base, ours, theirs)), ends)


class _Cell(NamedTuple):
    """A place of the merged list.

    Attributes:
        slots: its part in each list: the one before, ours and theirs.
        pieces: what is written; None for a conflict.
        maybe: whether one side of the conflict is empty.
    """

    slots: Sequence[Slot | None]
    pieces: list[Piece] | None
    maybe: bool = False

    def said(self, name: str) -> list[str | None]:
        """The blanks and comments beside the part in each text."""
        return [getattr(slot, name) if slot else None for slot in self.slots]


class _Merging:
    def __init__(self, line_break: str, is_list: Callable[[Pattern], bool]) -> None:
        self.line_break, self.is_list = line_break, is_list
        self.within: list[Pattern | str] = []

    # --- one part

    def merged(self, base: Part | None, ours: Part, theirs: Part) -> list[Piece] | None:
        """What becomes of a part that both sides have; None when it is a conflict."""
        spelled = (part.spelled if part else None for part in (base, ours, theirs))
        if (taken := _one_sided(*spelled)) is not None:
            return [taken]
        if (inside := self._inside(base, ours, theirs)) is not None:
            return inside
        if ours.is_as(theirs) or (base and base.is_as(theirs)):
            return [ours.spelled]
        if base and base.is_as(ours):
            return [theirs.spelled]
        return _merged_lines(base, ours, theirs) if base else None

    def _inside(self, base: Part | None, ours: Part, theirs: Part) -> list[Piece] | None:
        parts = [part for part in (base, ours, theirs) if part]
        kinds, sides = {part.kind for part in parts}, [part.inside for part in parts]
        if len(kinds) > 1 or not all(sides):
            return None
        united = {"labels", "Record", "elements", "Header"}
        if self.within and is_header(cast(Pattern, self.within[0])):
            united |= {"Entry", "Array", "Map"}  # imports that both sides began
        if base is None and not kinds & united:
            return None
        depth = len(self.within)
        if isinstance(ours.extent, syntax.Construct | syntax.Entry):
            self.within += _steps(base or ours)
        pieces = _List(self, base, ours, theirs).merged()
        del self.within[depth:]
        return pieces

    # --- blanks and comments

    def trivia(self, base: str | None, ours: str | None, theirs: str | None) -> str:
        """Blanks and comments; the comments of both sides stay."""
        if ours is None or theirs is None:
            return (ours or "") + (theirs or "")
        if (taken := _one_sided(base, ours, theirs)) is not None:
            return taken
        before, we, they = (_comments(text or "") for text in (base, ours, theirs))
        if we == before and they != before:
            return theirs
        new = [each for each in they if each not in we and each not in before]
        if not new:
            return ours
        last = lexer.last_line(ours)
        text = ours[: len(ours) - len(last)] if last else ours
        if "\n" not in ours + theirs:
            return " ".join([text.rstrip(" \t"), *new])
        line = last or self.line_break
        return text + "".join(line + each for each in new) + line


_NAMES = {"Name": "identity", "Label": "labels", "Record": "properties"}
"""What parts are called in `Conflict.within`, by their kinds."""


def _steps(part: Part) -> tuple[Pattern | str, ...]:
    if isinstance(part.extent, syntax.Construct):
        return (part.extent.pattern,)
    if isinstance(part.extent, syntax.Entry):
        return (part.extent.key.text,)
    if isinstance(part.extent, Group):
        return (part.extent.kind,)
    return (_NAMES[part.kind],) if part.kind in _NAMES else ()


def _said(part: Part) -> str:
    entry = part.extent
    return part.text[slice(*(entry.value if isinstance(entry, syntax.Entry) else entry).span)]


def _comments(trivia: str) -> list[str]:
    return [trivia[slice(*each)].rstrip() for each in lexer.comments_in(trivia)]


def _one_sided(base: str | None, ours: str | None, theirs: str | None) -> str | None:
    """The text of the side that alone changed it; None when both did, each in its own way."""
    if ours == theirs or base == theirs:
        return ours
    return theirs if base == ours else None


def _fixed(base: str | None, ours: str, theirs: str) -> str | None:
    """Tokens and what is between them; None when both sides changed them."""
    taken = _one_sided(base, ours, theirs)
    return ours if taken is None and "".join(ours.split()) == "".join(theirs.split()) else taken


def _merged_lines(base: Part, ours: Part, theirs: Part) -> list[Piece] | None:
    """A string whose lines are merged, spelled as ours is."""
    texts: list[str] = []
    for part in (base, ours, theirs):
        value = part.extent.value if type(part.extent) is syntax.Value else None
        if isinstance(value, TaggedString):
            texts += [value.tag, value.content]
        elif isinstance(value, str):
            texts += ["", value]
    if len(texts) < 6 or len({*texts[::2]}) > 1:
        return None
    lines = merge_lines(*(text.splitlines(keepends=True) for text in texts[1::2]))
    if lines is None:
        return None
    text, old = "".join(lines), ours.extent
    assert isinstance(old, syntax.Value)
    new: Value = TaggedString(texts[0], text) if texts[0] else text
    return [respell(old, ours.spelled, new)]


# --- lists


class _List:
    """The list in a part that both sides changed."""

    def __init__(self, merging: _Merging, base: Part | None, ours: Part, theirs: Part) -> None:
        assert ours.inside is not None
        assert theirs.inside is not None
        self.merging, self.kind = merging, ours.kind
        self.ours = ours.inside
        self.sides = (base.inside if base else None, ours.inside, theirs.inside)
        self.slots = _by_key(*self.sides)
        self.is_one = isinstance(ours.extent, syntax.Entry | syntax.Arrow | syntax.Path)
        self.is_path = bool(ours.inside.arrows)
        self.may_add_nodes = self.is_path and merging.is_list(cast(Pattern, ours.says))

    def merged(self) -> list[Piece] | None:
        """The merged list, or None when all of it is a conflict."""
        opener, closer = (_fixed(*self._of_all(name)) for name in ("opener", "closer"))
        order = self._order()
        if order is None or opener is None or closer is None:
            return None
        cells = [self._cell(key) for key in order]
        if self.is_one and any(cell.pieces is None for cell in cells):
            return None
        arrows = self._arrows(order) if self.is_path else []
        cells = [cell for cell in cells if cell.pieces != []]
        if self.kind == "elements" and not cells:
            return []
        may_be_empty = bool(cells) and all(cell.maybe for cell in cells)
        if may_be_empty and self.ours.commas and (len(cells) > 1 or self.kind == "elements"):
            return None
        return None if arrows is None else [opener, *self._written(cells, arrows), closer]

    def _of_all(self, name: str) -> list[Any]:
        return [getattr(side, name) if side else None for side in self.sides]

    # --- what is in it, and in which order

    def _order(self) -> list[Key] | None:
        """The keys of the merged list; None when both sides moved elements, each in its way."""
        base, ours, theirs = self.slots
        before, we, they = (
            [key for key in keys if all(key in each for each in self.slots)] for keys in self.slots
        )
        moved_by_them = set() if we == they else _moved(before, they)
        if not moved_by_them.isdisjoint(_moved(before, we)):
            if None in self.ours.keys:
                return None
            moved_by_them = set()
        after: dict[Key | None, list[Key]] = {}
        last: Key | None = None
        for key in filter(self._stays, theirs):
            if key not in ours or key in moved_by_them:
                after.setdefault(last, []).append(key)
            else:
                last = key
        found: list[Key] = []
        pending = after.get(None, [])
        for key in filter(self._stays, ours):
            if key in moved_by_them:
                continue
            if key in base or key in theirs:
                found, pending = found + pending, []
            found.append(key)
            pending = pending + after.get(key, [])
        return sorted(found + pending, key=lambda key: key[0])

    def _stays(self, key: Key) -> bool:
        """Whether something is written for a key, perhaps a conflict."""
        base, ours, theirs = (slots.get(key) for slots in self.slots)
        kept = ours or theirs
        if kept is None or base is None or (ours and theirs):
            return kept is not None
        around = [[_comments(text) for text in slot[1:]] for slot in (base, kept)]
        return around[0] != around[1] or not kept.part.is_as(base.part)

    def _cell(self, key: Key) -> _Cell:
        base, ours, theirs = slots = [each.get(key) for each in self.slots]
        if ours and theirs:
            merged = self.merging.merged(base.part if base else None, ours.part, theirs.part)
            return _Cell(slots, merged)
        kept = ours or theirs
        assert kept is not None
        return _Cell(slots, None, maybe=True) if base else _Cell(slots, [kept.part.spelled])

    # --- the arrows of a path

    def _arrows(self, nodes: Sequence[Key]) -> list[list[Piece]] | None:
        """The arrows between the nodes; None when one does not fit what both sides changed."""
        hops = list(pairwise(nodes))
        before, ours, theirs = (
            dict(zip(pairwise(keys), side.arrows, strict=True)) if side else {}
            for keys, side in zip(self.slots, self.sides, strict=True)
        )
        for side in () if self.may_add_nodes else (ours, theirs):
            for hop, arrow in side.items():
                if hop not in hops and not (hop in before and arrow.is_as(before[hop])):
                    return None
        found: list[list[Piece]] = []
        for hop in hops:
            we, they = ours.get(hop), theirs.get(hop)
            kept = we or they or (self.ours.arrows[0] if self.may_add_nodes else None)
            merged = self.merging.merged(before.get(hop), we, they) if we and they else None
            if kept is None or (we and they and merged is None):
                return None
            found.append(merged or [kept.spelled])
        return found

    # --- the text

    def _written(self, cells: Sequence[_Cell], arrows: Sequence[list[Piece]]) -> list[Piece]:
        trivia = self.merging.trivia
        out = _Out(self.merging.line_break)
        out.put_trivia(trivia(*self._of_all("head")))
        last_sure = max((at for at, cell in enumerate(cells) if not cell.maybe), default=-1)
        for index, cell in enumerate(cells):
            comma = self.ours.commas and index < last_sure
            out.put_trivia(self._lead(cell, first=index == 0))
            if cell.pieces is None:
                comma_before = self.ours.commas and index > last_sure >= 0
                out.put(self._conflict(cell, comma_before, comma))
                continue
            out.put(*cell.pieces)
            separator: list[Piece] = [","] if comma else []
            separator = arrows[index] if index < len(arrows) else separator
            before_comma = trivia(*cell.said("before_comma"))
            if separator or lexer.has_comment(before_comma):
                out.put_trivia(before_comma)
            out.put(*separator)
            out.put_trivia(trivia(*cell.said("after")))
        out.put_trivia(trivia(*self._of_all("tail")))
        if self.kind != "document":
            out.put("")
        return out.pieces

    def _lead(self, cell: _Cell, *, first: bool) -> str:
        """The blanks and comments before a part; it may be the first only now, or only before."""
        lead = self.merging.trivia(*cell.said("before"))
        firsts = [side.slots[0] for side in self.sides[1:] if side and side.slots]
        was_first = any(slot in firsts for slot in cell.slots)
        if first and not was_first and not lexer.has_comment(lead) and self.ours.slots:
            lead = self.ours.slots[0].before
            return lexer.last_line(lead) if lexer.has_comment(lead) else lead
        comes_below = was_first and not first and self.kind == "document"
        if comes_below and (lexer.has_comment(lead) or not (self.sides[0] and self.sides[0].slots)):
            return lead if lead.startswith(("\n", "\r")) else self.merging.line_break + lead
        return lead or " " * (was_first and not first and not self.is_path)

    def _conflict(self, cell: _Cell, comma_before: bool, comma: bool) -> Conflict:
        texts: list[str] = []
        for slot in cell.slots:
            text = ""
            if slot:
                inner = slot.before_comma if lexer.has_comment(slot.before_comma) else ""
                text = slot.part.spelled + inner + "," * comma + slot.after
            texts.append(", " * bool(comma_before and text) + text)
        base, ours, theirs = texts
        part = next(slot.part for slot in cell.slots if slot)
        before, we, they = (_said(slot.part) if slot else "" for slot in cell.slots)
        within = (*self.merging.within, *_steps(part))
        return Conflict(base, ours, theirs, within, (before, we, they))


class _Out:
    """Collects pieces, and adds the line break after a comment that lost its own."""

    def __init__(self, line_break: str) -> None:
        self.pieces: list[Piece] = []
        self._line_break, self._is_open = line_break, False

    def put(self, *pieces: Piece) -> None:
        """Write what begins and ends with a token; an empty text only ends a comment."""
        if pieces and self._is_open:
            self.pieces.append(self._line_break)
            self._is_open = False
        self.pieces += pieces

    def put_trivia(self, trivia: str) -> None:
        """Write blanks and comments."""
        first = next(lexer.comments_in(trivia), None)
        if "\n" not in trivia[: first.start if first else None] and first:
            self.put("")
        self._is_open = lexer.leaves_comment_open(trivia) or (self._is_open and "\n" not in trivia)
        self.pieces.append(trivia)


def _moved(before: Sequence[Key], now: Sequence[Key]) -> set[Key]:
    """The keys that moved: as few as possible, so that the others keep their order."""
    places = {key: at for at, key in enumerate(before)}
    staying = longest_increasing([places[key] for key in now])
    return {*now} - {now[at] for at in staying}


def _by_key(base: Inside | None, ours: Inside, theirs: Inside) -> list[dict[Key, Slot]]:
    """The parts of each list, by keys that the lists share."""
    before = _with_new_keys(base.keys, "base") if base else []
    we = _with_new_keys(_shared_keys(base, before, ours), "ours")
    new: dict[object, Key] = {}
    for key, slot in zip(we, ours.slots, strict=True):
        if key not in before:
            new.update(dict.fromkeys(_names(slot.part), key))
    shared = _shared_keys(base, before, theirs)
    for index, slot in enumerate(theirs.slots):
        same = [new[name] for name in _names(slot.part) if name in new]
        if shared[index] is None and same and same[0] not in shared:
            shared[index] = same[0]
    they = _with_new_keys(shared, "theirs")
    sides = ((before, base.slots if base else ()), (we, ours.slots), (they, theirs.slots))
    return [dict(zip(keys, slots, strict=True)) for keys, slots in sides]


def _shared_keys(base: Inside | None, before: Sequence[Key], new: Inside) -> list[Key | None]:
    """The keys of a list: a part that was there before has its old key, a new one None."""
    keys = list(new.keys)
    if base:
        old_loose, loose = (
            [at for at, key in enumerate(each.keys) if key is None] for each in (base, new)
        )
        old = [base.slots[at].part for at in old_loose]
        pairs = _pairs(old, [new.slots[at].part for at in loose])
        if new.arrows and len(loose) == len(old):  # nodes with new names are known by their places
            ones, others = ({pair[side] for pair in pairs} for side in (0, 1))
            pairs = [*pairs, *((at, at) for at in range(len(old)) if at not in ones | others)]
        for one, other in pairs:
            keys[loose[other]] = before[old_loose[one]]
    return keys


def _pairs(old: Sequence[Part], new: Sequence[Part]) -> Sequence[tuple[int, int]]:
    if not old or not new:
        return ()
    if isinstance(old[0].extent, syntax.Value):
        values = ([cast(syntax.Value, each.extent).value for each in side] for side in (old, new))
        return match_values(*values).pairs
    return match(*([cast(Pattern, each.says) for each in side] for side in (old, new))).pairs


def _with_new_keys(keys: Sequence[Key | None], side: str) -> list[Key]:
    return [key or (1, (side, index)) for index, key in enumerate(keys)]


def _names(part: Part) -> list[object]:
    """What makes new parts of both sides the same part: what they mean, or their identity."""
    name = part.says.value.identity if isinstance(part.says, Pattern) else ""
    return [part.says, *([name] if name else [])]
