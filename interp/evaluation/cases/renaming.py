"""The names of agents, tools and arguments in cases: changed where they stand in the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from attrs import evolve

from gram import Source

from ...errors import ValidationError
from .case import Case
from .reading import cases_in


def rename_in_cases(
    source: Source, kind: str, old: str, new: str, holder: str, is_meant: Callable[[Case], bool]
) -> str:
    """The text of a file of cases with another name for something of the program.

    Args:
        source: the text.
        kind: what is renamed: ``agent``, ``workflow``, ``tool``, ``parameter``, ….
        old: its name.
        new: its new name.
        holder: of a parameter, the tool or agent that has it.
        is_meant: whether a case is about it.

    Raises:
        ValidationError: it is no file of cases, or a name in it cannot be changed alone.
        GramDecodeError: the text is not gram, and its ending says so.
    """
    edits: dict[tuple[int, int], str] = {}
    cases = cases_in(source)
    wanted = [_renamed(each, kind, old, new, holder) if is_meant(each) else each for each in cases]
    for case, other in zip(cases, wanted, strict=True):
        for column in ("agent", "calls", "input"):
            if case.row and getattr(case, column) != getattr(other, column):
                start, end = case.row.spans[column]
                edits[start, end] = _in_text(kind, old, new)(source.text[start:end])
    text = source.text
    for (start, end), changed in sorted(edits.items(), reverse=True):
        text = text[:start] + changed + text[end:]
    after = cases_in(Source(text, source.filename)) if edits else cases
    if [*map(_parts, after)] != [*map(_parts, wanted)]:
        raise ValidationError(f"{source.filename}: {old} is named in cases: change it by hand")
    return text


def _parts(case: Case) -> tuple[object, ...]:
    return case.agent, case.calls, case.input


def _renamed(case: Case, kind: str, old: str, new: str, holder: str) -> Case:
    def keys(given: Any) -> Any:
        is_object = isinstance(given, Mapping)
        return {new if key == old else key: given[key] for key in given} if is_object else given

    calls: Any = case.calls
    if kind == "parameter":
        calls = calls and [
            evolve(each, arguments=keys(each.arguments)) if each.name == holder else each
            for each in calls
        ]
        asked = keys(case.input) if case.agent in (None, holder) else case.input
        return evolve(case, input=asked, calls=calls)
    calls = calls and [evolve(each, name=new) if each.name == old else each for each in calls]
    return evolve(case, agent=new if case.agent == old else case.agent, calls=calls)


def _in_text(kind: str, old: str, new: str) -> Callable[[str], str]:
    """What replaces a name in a part of the text; of a parameter, a key."""
    after = r"(?=[\"'`]*\s*:)" if kind == "parameter" else r"(?![\w.-])(?![\"'`]*\s*:)"
    return partial(re.sub, rf"(?<![\w.-]){re.escape(old)}{after}", lambda _: new)
