"""``Offline/rehearsal``: a stand-in that lets every program run without a key or a network.

It is not a language model, and it says so. It reads a request as a model would and answers by fixed
rules: it calls the tool whose name and description fit the user's words best, fills the arguments
from what was said (`interp.rehearsal_values`), and reports the tool's result. It hands a
conversation over where that is what fits best, never back. Where an answer is one of several words,
it is another one in each round of a loop, and after each message of a chat, so that every arm of a
choice can be seen. The same request always gets the same answer.
"""

from __future__ import annotations

import re

from gram import Pattern
from lenses_ext import answer_schema, tool_spec_description, tool_spec_name, tool_spec_schema, view

from ..files import File
from ..json_text import write_json
from ..machine import (
    AssistantRole,
    FunctionRole,
    Message,
    Request,
    ToolCall,
    Usage,
    UserRole,
    is_handover,
)
from .language_model import ModelWithoutNetwork
from .rehearsal_values import Filling
from .reply_reading import Reply

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

# Words that say little about which tool is meant.
_LITTLE_SAID = """
    a an and are as at be by call can could do does for from get gets given how i im in is it its
    me my name named of on or please returns return that the this to tool us use user way what
    when which who will with would you your
"""
_COMMON = frozenset(_LITTLE_SAID.split())

# Words that mean the same to a person.
_SAME = dict.fromkeys(["hi", "hey", "hiya", "howdy", "greet", "greeting", "greets"], "hello")
_GREETING = re.compile(r"\bgood (?:morning|afternoon|evening|day)\b", re.IGNORECASE)

_IN_NAME, _IN_DESCRIPTION, _ENOUGH = 3, 1, 2


class Rehearsal(ModelWithoutNetwork):
    """The model behind ``Offline/rehearsal``."""

    def __repr__(self) -> str:
        return "<Rehearsal>"

    def complete(self, request: Request) -> Reply:
        """The reply that the rules give; it costs no tokens."""
        return Reply(_reply(request), Usage(0, 0))


def _reply(request: Request) -> Message:
    results = _latest_results(request)
    said = _said_by_user(request)
    if results:
        reported = "\n".join(results).strip() or "(rehearsal) The tool gave an empty text."
        return _answer(request, reported, said)

    def fit(tool: Pattern) -> int:
        return _fit(said[0], tool)

    spoke = {message.speaker for message in request.messages}
    others = [tool for tool in request.tools if view(tool_spec_name, tool) not in spoke]
    tool = max(others, key=fit, default=None)  # of equals, the first
    if tool is None or fit(tool) < _ENOUGH:
        with_files = "".join(f"\n(attached: {file})" for file in _attached(request))
        words = f"(rehearsal, no language model) You said: {said[0]}{with_files}"
        return _answer(request, words, said)
    arguments = Filling(view(tool_spec_schema, tool), said).value()
    call = ToolCall("call_0", view(tool_spec_name, tool), write_json(arguments))
    return Message(AssistantRole, "", (call,))


def _answer(request: Request, text: str, said: list[str]) -> Message:
    """A text, or a value of the type that the program declares for its answer."""
    if request.answer is None:
        return Message(AssistantRole, text)
    value = Filling(answer_schema(request.answer), said, round=_answers_before(request)).value()
    return Message(AssistantRole, write_json(value))


# --- reading the request


def _latest_results(request: Request) -> list[str]:
    """What the tools answered since the user last spoke."""
    results: list[str] = []
    for message in reversed(request.messages):
        if not isinstance(message.role, FunctionRole) or is_handover(message):
            break
        results.insert(0, message.content)
    return results


def _answers_before(request: Request) -> int:
    """How often the agent has answered in this conversation."""
    messages = request.messages
    return sum(each.role == AssistantRole and not each.tool_calls for each in messages)


def _said_by_user(request: Request) -> list[str]:
    """What the user said, the latest first."""
    said = [message.content for message in request.messages if message.role == UserRole]
    return said[::-1] or [""]


def _attached(request: Request) -> tuple[File, ...]:
    """The files of what the user said last."""
    said = [message for message in request.messages if message.role == UserRole]
    return said[-1].attachments if said else ()


def _fit(text: str, tool: Pattern) -> int:
    """How well a tool fits a text: what each word that both have counts in the tool."""
    counts = dict.fromkeys(_words(view(tool_spec_description, tool)), _IN_DESCRIPTION)
    counts.update(dict.fromkeys(_words(view(tool_spec_name, tool)), _IN_NAME))
    return sum(counts.get(word, 0) for word in _words(text))


def _words(text: str) -> set[str]:
    """The words of a text that tell something, in one spelling; camelCase counts as two."""
    text = _GREETING.sub("hello", text)
    words = (match[0].lower() for match in _WORD.finditer(text))
    plain = (word.removesuffix("s") if len(word) > 3 else word for word in words)
    return {_SAME.get(word, word) for word in plain} - _COMMON
