"""What can be watched of a run while it goes on.

Observations never reach the machine: a run that is watched ends in the state it would end in
otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, TypeAlias, Union

from attrs import frozen

from .effects import CallTool
from .messages import AgentResponse, ToolInvocation
from .replies import read_reply


@frozen
class TextDelta:
    """A piece of what the model says, in the turn it says it.

    Text of a turn that then calls tools is not the answer but said beside the calls.
    """

    turn: int
    text: str


@frozen
class ToolStarted:
    """A tool is about to be run."""

    call: CallTool


@frozen
class ToolFinished:
    """A tool call has its answer; tools that run at once finish in any order.

    A call that was not run, because it was wrong or not allowed, has no `ToolStarted` before.
    """

    turn: int
    index: int
    invocation: ToolInvocation


@frozen
class Finished:
    """The run is done; always the last observation."""

    response: AgentResponse


Observation: TypeAlias = Union[TextDelta, ToolStarted, ToolFinished, Finished]


def word_by_word(reply: Any) -> Iterator[Any]:
    """The words of a reply, then the reply unless it is these: what a model's ``stream`` gives.

    >>> list(word_by_word("Hello, you."))
    ['Hello, ', 'you.']
    """
    yield from re.findall(r"\s*\S+\s*|\s+", read_reply(reply).message.content)
    if not isinstance(reply, str):
        yield reply
