"""``Offline/rehearsal``: a stand-in that lets every program run without a key or a network.

It is no language model and says so. It reads a request as a model would and answers by fixed
rules: it calls the tool whose name and description fit the user's words best, fills the arguments
from what was said, and reports the tool's result. The same request always gets the same answer.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Iterator

from lenses_ext import (
    answer_schema,
    tool_spec_description,
    tool_spec_name,
    tool_spec_schema,
    view,
)

from .effects import Request
from .json_text import Json, write_json
from .messages import AssistantRole, FunctionRole, Message, ToolCall, UserRole
from .streaming import word_by_word

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_QUOTED = re.compile(r"\"([^\"]+)\"|“([^”]+)”|'([^']+)'(?!\w)|`([^`]+)`")
_NAME = re.compile(
    r"\b(?:my name is|my name's|i am|i'm|i’m|call me|this is)\s+"
    r"((?:[A-Z][\w'’-]*)(?:\s+[A-Z][\w'’-]*)*)|\b(?:for|to|greet)\s+([A-Z][\w’-]*)",
    re.IGNORECASE,
)

# Words that say little about which tool is meant.
_LITTLE_SAID = """
    a an and are as at be by call can could do does for from get gets given how i im in is it its
    me my name named of on or please returns return that the this to tool us use user way what
    when which who will with would you your
"""
_COMMON = frozenset(_LITTLE_SAID.split())

# Words that mean the same to a person.
_SAME = dict.fromkeys(["hi", "hey", "greet", "greeting", "greets"], "hello")

_IN_NAME, _IN_DESCRIPTION, _ENOUGH = 3, 1, 2


class Rehearsal:
    """The model behind ``Offline/rehearsal``."""

    def complete(self, request: Request) -> Message:
        """The reply that the rules give."""
        results = _latest_results(request)
        said = _said_by_user(request)
        if results:
            return _answer(request, "\n".join(results), said)
        scored = [(_fit(said[0], tool_words), index) for index, tool_words in _tools(request)]
        best, index = max(scored, key=lambda pair: (pair[0], -pair[1]), default=(0, 0))
        if best < _ENOUGH:
            return _answer(request, f"(rehearsal, no language model) You said: {said[0]}", said)
        tool = request.tools[index]
        arguments = _object(view(tool_spec_schema, tool), said)
        call = ToolCall("call_0", view(tool_spec_name, tool), write_json(arguments))
        return Message(AssistantRole, "", (call,))

    async def acomplete(self, request: Request) -> Message:
        """The reply that the rules give; see `complete`."""
        return self.complete(request)

    def stream(self, request: Request) -> Iterator[str | Message]:
        """The same reply, word by word."""
        yield from word_by_word(self.complete(request))

    async def astream(self, request: Request) -> AsyncIterator[str | Message]:
        """The same reply, word by word."""
        for piece in word_by_word(self.complete(request)):
            yield piece


def _answer(request: Request, text: str, said: list[str]) -> Message:
    """A text, or a value of the type that the program declares for its answer."""
    if request.answer is None:
        return Message(AssistantRole, text)
    schema = answer_schema(request.answer)
    value = _object(schema, said) if _kind(schema) == "object" else _made_up(schema, said)
    return Message(AssistantRole, write_json(value))


# --- reading the request


def _latest_results(request: Request) -> list[str]:
    """What the tools answered since the user last spoke."""
    results: list[str] = []
    for message in reversed(request.messages):
        if not isinstance(message.role, FunctionRole):
            break
        results.insert(0, message.content)
    return results


def _said_by_user(request: Request) -> list[str]:
    """What the user said, the latest first."""
    said = [message.content for message in request.messages if message.role == UserRole]
    return said[::-1] or [""]


def _tools(request: Request) -> Iterator[tuple[int, dict[str, int]]]:
    """For each tool, by index, what each word of its name and description counts."""
    for index, tool in enumerate(request.tools):
        words = dict.fromkeys(_words(view(tool_spec_description, tool)), _IN_DESCRIPTION)
        words.update(dict.fromkeys(_words(view(tool_spec_name, tool)), _IN_NAME))
        yield index, words


def _fit(text: str, words: dict[str, int]) -> int:
    return sum(words.get(word, 0) for word in _words(text))


def _words(text: str) -> set[str]:
    """The words of a text that tell something, in one spelling; camelCase counts as two."""
    words = (match[0].lower() for match in _WORD.finditer(text))
    plain = (word.removesuffix("s") if len(word) > 3 else word for word in words)
    return {_SAME.get(word, word) for word in plain} - _COMMON


# --- filling in arguments


def _object(schema: Json, said: list[str]) -> dict[str, Json]:
    """Arguments for an object schema: what was said, and what has to be there."""
    filled: dict[str, Json] = {}
    numbers = [number for text in said[:1] for number in _NUMBER.findall(text)]
    required = schema.get("required", ())
    for name, below in schema.get("properties", {}).items():
        below = below if isinstance(below, dict) else {}
        found = _found(name, below, said, numbers)
        if found is None and name in required:
            found = _made_up(below, said)
        if found is not None:
            filled[name] = found
    return filled


def _found(name: str, schema: dict[str, Json], said: list[str], numbers: list[str]) -> Json:
    """The value that the user gave for a parameter, or None."""
    kind = _kind(schema)
    if "enum" in schema:
        return next((word for word in schema["enum"] if _mentions(said[0], str(word))), None)
    if kind in ("integer", "number") and numbers:
        number = float(numbers.pop(0))
        return int(number) if kind == "integer" or number.is_integer() else number
    if kind == "boolean":
        return True if _mentions(said[0], name) else None
    if kind == "string":
        if "name" in name.lower():
            return _first(match for text in said for match in _NAME.finditer(text))
        return _first(_QUOTED.finditer(said[0]))
    return None


def _made_up(schema: dict[str, Json], said: list[str]) -> Json:
    """A value for a parameter that is required and was not given."""
    if schema.get("enum"):
        return schema["enum"][0]
    match _kind(schema):
        case "integer" | "number":
            return schema.get("minimum", 0)
        case "boolean":
            return False
        case "array":
            return []
        case "object":
            return _object(schema, said)
        case "null":
            return None
    return said[0]


def _kind(schema: dict[str, Json]) -> str:
    kind = schema.get("type", "string")
    return str(kind[0]) if isinstance(kind, list) and kind else str(kind)


def _mentions(text: str, word: str) -> bool:
    return re.search(rf"\b{re.escape(word)}\b", text, re.IGNORECASE) is not None


def _first(matches: Iterable[re.Match[str]]) -> str | None:
    """What the first match captured, in whichever group."""
    return next((next(filter(None, match.groups())) for match in matches), None)
