"""Merges programs, and judges the result: what no side has wrong may be wrong when both meet."""

from __future__ import annotations

import re
from collections.abc import Sequence

from attrs import frozen

from gram import Diagnostic, Document, Pattern
from gram.comparing import Conflict, Merge, merge
from gram.errors import expect
from gram.writing import abridged

from ..labels import is_runnable, is_tool, kind_of
from ..names import Project
from ..rules import new_errors
from ..signatures import is_typed_path, parse_program
from .program_changes import changes

_LONG = 60
_MOST_CHANGES = 3


@frozen
class MergeFault:
    """An error of a merged program that neither side has.

    Attributes:
        fault: the error.
        ours, theirs: what each side changed in what the error is about, in words.
    """

    fault: Diagnostic
    ours: Sequence[str]
    theirs: Sequence[str]


@frozen
class ProgramMerge:
    """What a merge of programs gave.

    Attributes:
        merge: the text and its conflicts.
        faults: what fits in the text and not in the program. Where there are conflicts, only what
            is wrong whichever side of them is taken.
    """

    merge: Merge
    faults: tuple[MergeFault, ...]


def merge_programs(
    base: str, ours: str, theirs: str, *, filename: str | None = None
) -> ProgramMerge:
    """Merge what two sides made of a program, and judge what they made together.

    Args:
        base: the text before.
        ours: what we made of it.
        theirs: what they made of it.
        filename: the name that faults cite.

    Raises:
        GramDecodeError: one of the texts is not gram.

    >>> base = "[a:Agent | s] [s:Tool {description: 'd'} | (::Text)]"
    >>> renamed, used = base.replace("s]", "f]").replace("[s", "[f"), f"{base} [b:Agent | s]"
    >>> (found,) = merge_programs(base, renamed, used).faults
    >>> found.fault.message
    '"s" is not defined: no tool or agent of this name is visible here'
    >>> *found.ours, *found.theirs
    ('tool `s` renamed `f`', 'agent `b` is new')
    """
    for name, text in (("base", base), ("ours", ours), ("theirs", theirs)):
        expect(text, str, name, by="merge_programs")
    expect(filename, (str, type(None)), "filename", by="merge_programs")
    merged = merge(base, ours, theirs, is_list=is_typed_path)
    before, we, they = (parse_program(text) for text in (base, ours, theirs))
    found = judge_merge(before, we, they, parse_program(merged.taking("ours"), filename))
    if found and merged.conflicts:
        other = judge_merge(before, we, they, parse_program(merged.taking("theirs"), filename))
        always = {each.fault.message for each in other}
        found = tuple(each for each in found if each.fault.message in always)
    return ProgramMerge(merged, found)


def judge_merge(
    base: Document | Project,
    ours: Document | Project,
    theirs: Document | Project,
    merged: Document | Project,
) -> tuple[MergeFault, ...]:
    """The errors of a merged program that neither side has, with the changes that meet in each."""
    if not (new := new_errors(ours, merged)):
        return ()
    known = new_errors(theirs, merged)
    sides = [changes(base, side) for side in (ours, theirs)]
    found = []
    for fault in (each for each in new if each in known):
        names, below = {*re.findall(r'"([^"]+)"', fault.message)}, merged.patterns
        for step in fault.tree_path:
            names.add(below[step].value.identity)
            below = below[step].elements
        said = ([str(each) for each in side if not each.said.is_detail] for side in sides)
        ours_said, theirs_said = (
            [text for text in side if names & {*re.findall("`([^`]+)`", text)}] for side in said
        )
        found.append(MergeFault(fault, ours_said[:_MOST_CHANGES], theirs_said[:_MOST_CHANGES]))
    return tuple(found)


def conflict_in_words(conflict: Conflict, ours: str = "ours", theirs: str = "theirs") -> str:
    """What both sides did at a place, for people to read.

    Args:
        conflict: the conflict.
        ours, theirs: what the sides are called.
    """
    if not conflict.within:
        return f"what {ours} and {theirs} made of the text does not go together"
    steps = (_called(each) if isinstance(each, Pattern) else each for each in conflict.within)
    what = ": ".join(steps)
    base, we, they = (_short(text) for text in conflict.parts)
    if not we:
        return f"{what} is removed ({ours}) and changed ({theirs})"
    if not they:
        return f"{what} is changed ({ours}) and removed ({theirs})"
    if not base:
        return f"{what} is added in two ways: {we} ({ours}), {they} ({theirs})"
    return f"{what} is changed in two ways: {base} → {we} ({ours}), → {they} ({theirs})"


def _called(pattern: Pattern) -> str:
    name = pattern.value.identity
    if name and (is_runnable(pattern) or is_tool(pattern)):
        return f"{kind_of(pattern)} `{name}`"
    return f"`{name}`" if name else abridged(pattern, _LONG)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONG else f"{text[:_LONG]}…"
