"""A model for tests: it gives the replies it was made with, in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias, Union

from gram.errors import expect
from gram.words import counted, did_you_mean

from ..errors import ConfigurationError, ModelError
from ..json_text import read_json, write_json
from ..machine import AssistantRole, Message, Request, ToolCall
from ..shown import shortened
from .language_model import ModelWithoutNetwork
from .reply_reading import text_of

_MOST = 200  # characters of a message that has no reply
Script: TypeAlias = Union[Iterable[Any], Mapping[str, Iterable[Any]]]
"""Replies in order: of the run as a whole, or of each agent by its name."""


class ScriptedModel(ModelWithoutNetwork):
    """Replies given in advance.

    Args:
        replies: what to answer, in order, or a mapping from the name of an agent to what it is
            answered: a `Message`, a str, a completion or message dict in either dialect, or an
            exception to raise.

    Attributes:
        requests: what was asked, in order.

    >>> model = ScriptedModel(["Hello."])
    >>> model.requests
    []
    >>> ScriptedModel({"writer": ["A draft.", "Better."], "editor": ["Again.", "Fine."]})
    <ScriptedModel, 0 requests, 4 replies left>
    """

    def __init__(self, replies: Script) -> None:
        expect(replies, Iterable, "replies", by="ScriptedModel")
        self._of_agents = isinstance(replies, Mapping)
        scripts = replies if isinstance(replies, Mapping) else {"": replies}
        for name, script in scripts.items():
            expect(name, str, "a name of replies", by="ScriptedModel")
            expect(script, Iterable, f'replies["{name}"]', by="ScriptedModel")
        self._left = {name: deque(script) for name, script in scripts.items()}
        self.requests: list[Request] = []

    def __repr__(self) -> str:
        asked = counted(len(self.requests), "request")
        left = sum(map(len, self._left.values()))
        return f"<ScriptedModel, {asked}, {counted(left, 'reply', 'replies')} left>"

    def complete(self, request: Request) -> Any:
        """The next reply.

        Raises:
            ArgumentError: it is no request.
            ModelError: there is no reply left, or none for the agent that asks.
        """
        expect(request, Request, "request", by="ScriptedModel")
        self.requests.append(request)
        name = request.agent if self._of_agents else ""
        if name not in self._left:
            hint = did_you_mean(name, self._left) or f"it has {', '.join(self._left) or 'none'}"
            raise ModelError(f'the script has no replies for agent "{name}"; {hint}')
        if not self._left[name]:
            asked = [each for each in self.requests if not name or each.agent == name]
            whose = f' for agent "{name}"' if name else ""
            told = [f"it was asked: {shortened(m.content, _MOST)}" for m in request.messages[-1:]]
            number = f"the script has no reply number {len(asked)}{whose}"
            raise ModelError("; ".join([number, *told]))
        reply = self._left[name].popleft()
        if isinstance(reply, BaseException):
            raise reply
        return reply


def read_script(path: str | Path) -> ScriptedModel:
    """The model that a file of JSON scripts.

    The file has a list of replies, or an object with such a list for each agent. A reply is a
    text, ``{"calls": [{"name": "search", "arguments": {"topic": "the moon"}}]}``, or another
    object, which is an answer as data.

    Raises:
        OSError: it cannot be read.
        ConfigurationError: it is not such JSON.
    """
    try:
        given = read_json(Path(path).read_bytes().decode())
    except ValueError as error:
        raise ConfigurationError(f"{path}: no JSON: {error}") from None
    if isinstance(given, dict):
        return ScriptedModel(
            {name: _replies(replies, f"{path}: {name}") for name, replies in given.items()}
        )
    return ScriptedModel(_replies(given, str(path)))


def _replies(given: object, where: str) -> list[Any]:
    if not isinstance(given, list):
        raise ConfigurationError(
            f'{where}: expected a list of replies, such as ["Hello."], or one for each agent'
        )
    return [_reply(each, f"{where}: reply {index + 1}") for index, each in enumerate(given)]


def _reply(given: object, where: str) -> Any:
    match given:
        case str():
            return given
        case {"calls": [*calls], **more} if more.keys() <= {"content"} and all(
            map(_is_call, calls)
        ):
            made = [
                ToolCall(f"call_{index}", each["name"], write_json(each.get("arguments", {})))
                for index, each in enumerate(calls)
            ]
            return Message(AssistantRole, text_of(more.get("content")), made)
        case {"calls": _}:
            raise ConfigurationError(
                f'{where}: expected {{"calls": [{{"name": "search", "arguments": {{}}}}]}}, and '
                '"content" where it says more'
            )
    return write_json(given)


def _is_call(given: object) -> bool:
    match given:
        case {"name": str(name), **more} if name:
            return more.keys() <= {"arguments"} and isinstance(more.get("arguments", {}), dict)
    return False
