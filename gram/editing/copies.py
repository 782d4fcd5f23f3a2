"""The text of a copy: as the pattern that it came from is written, without the comments.

A comment belongs to one pattern. What comes from another document, or is in the new one twice, is
spelled as it was, and says nothing about the place where it is now.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..reading import has_comment, last_line, parse_trees, tokens
from ..source import Source
from ..trees import Pattern


def read_copy(pattern: Pattern) -> tuple[Source, Pattern, Pattern] | None:
    """What a pattern is a copy of, to be rewritten; None for one that came from nowhere.

    Returns:
        The text without comments, the pattern that it says, and the copy as what that became.
    """
    if pattern.came_from is None:
        return None
    source, start, end = pattern.came_from
    if source.text[start] not in "([@{":
        return None  # a bare name is written as it always is
    moved: dict[int, int] = {}
    pieces: list[str] = []
    at, length = start, 0
    for token in tokens(source.text, start, end):
        trivia, spelling = source.text[at : token.start], source.text[token.start : token.end]
        if has_comment(trivia):
            trivia = "" if spelling in (",", "|") else last_line(trivia)
        moved[token.start] = length + len(trivia)
        pieces += trivia, spelling
        at, length = token.end, length + len(trivia) + len(spelling)
        moved[token.end] = length
    copied = Source("".join(pieces))
    (old,) = parse_trees(copied)
    return copied, old, _moved(pattern, source, copied, moved)


def _moved(pattern: Pattern, old: Source, new: Source, offsets: Mapping[int, int]) -> Pattern:
    """A pattern that knows where it is in the text without comments; what is elsewhere is new."""
    elements = tuple([_moved(each, old, new, offsets) for each in pattern.elements])
    source, start, end = pattern.came_from or (None, -1, -1)
    is_there = source is old and start in offsets and end in offsets
    place = (new, offsets[start], offsets[end]) if is_there else None
    return Pattern._of_checked(pattern.value, elements, None, place)
