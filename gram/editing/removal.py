"""Takes elements out of a list and keeps every comment: how a fault is fixed."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from ..reading import line_break
from .comma_list import ElementList, Place
from .replacement import Change, Replacement
from .writer import Writer


def changes_without(old: ElementList, removed: Collection[int]) -> tuple[Change, ...]:
    """Where a text changes when elements, given by index, are taken out of a list in it."""
    text = old.text
    writer = Writer(text, line_break(text))
    places = [
        Place(index, partial(writer.copy, *element.span))
        for index, element in enumerate(old.elements)
        if index not in removed
    ]
    writer.copy(0, old.head.start)
    old.write(writer, places, keeps_comments=True)
    writer.copy(old.tail.end, len(text))
    return Replacement(text, tuple(writer.pieces)).changes
