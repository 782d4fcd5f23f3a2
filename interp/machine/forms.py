"""What a label means to the interpreter: one table.

The machine looks a pattern's label up here whenever it has to know what to do with it, so a new
kind of pattern is a new row.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from attrs import frozen

from gram import Pattern
from lenses_ext import AGENT, ANSWER, TOOLS, Memo


@frozen
class Form:
    """What can be done with a pattern of some label.

    Attributes:
        runs: it can be started: it answers messages by asking a model.
        is_offered: as an element of what runs, it is offered to the model as a function.
    """

    runs: bool = False
    is_offered: bool = False


FORMS: Final[Mapping[str, Form]] = {
    AGENT: Form(runs=True),
    ANSWER: Form(),  # neither: the type of the answer, read through `agent_answer`
    **{label: Form(is_offered=True) for label in sorted(TOOLS)},
}

_UNKNOWN = Form()


def form_of(pattern: Pattern) -> Form:
    """The form of a pattern, by the first of its labels that has one."""
    for label in sorted(pattern.value.labels):
        if label in FORMS:
            return FORMS[label]
    return _UNKNOWN


offered_tools: Memo[Pattern, tuple[Pattern, ...]] = Memo(
    lambda agent: tuple(each for each in agent.elements if form_of(each).is_offered)
)
"""The elements of a running pattern that the model may call."""
