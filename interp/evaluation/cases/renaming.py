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
from .expectations import ExpectedCall
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
        for column in ("agent", "calls", "input", "not"):
            part = "not_" if column == "not" else column
            if case.row and getattr(case, part) != getattr(other, part):
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
    return case.agent, case.calls, case.input, case.not_


def _renamed(case: Case, kind: str, old: str, new: str, holder: str) -> Case:
    def keys(given: Any) -> Any:
        is_object = isinstance(given, Mapping)
        return {new if key == old else key: given[key] for key in given} if is_object else given

    def named(call: ExpectedCall) -> ExpectedCall:
        if kind == "parameter":
            return evolve(call, arguments=keys(call.arguments)) if call.name == holder else call
        return evolve(call, name=new) if call.name == old else call

    unwanted: Any = case.not_
    if unwanted and "calls" in unwanted:
        unwanted = {**unwanted, "calls": [*map(named, unwanted["calls"])]}
    wanted = evolve(case, calls=case.calls and tuple(map(named, case.calls)), not_=unwanted)
    if kind == "parameter":
        is_asked = case.agent in (None, holder)
        return evolve(wanted, input=keys(case.input)) if is_asked else wanted
    return evolve(wanted, agent=new if case.agent == old else case.agent)


def _in_text(kind: str, old: str, new: str) -> Callable[[str], str]:
    """What replaces a name in a part of the text; of a parameter, a key."""
    after = r"(?=[\"'`]*\s*:)" if kind == "parameter" else r"(?![\w.-])(?![\"'`]*\s*:)"
    return partial(re.sub, rf"(?<![\w.-]){re.escape(old)}{after}", lambda _: new)
