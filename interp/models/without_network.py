"""The models that need no key and no network: scripted ones, for tests, and ``Offline/rehearsal``.

A rehearsal is not a language model, and it says so. It reads a request as a model would and answers
by fixed rules: it calls the tool whose name and description fit the user's words best, fills the
arguments from what was said, and reports the tool's result. It hands a conversation over where that
fits best, never back. Where an answer is one of several words, it is another one in each round of a
loop, and after each message of a chat, so that every arm of a choice can be seen. The same request
always gets the same answer.
"""

from __future__ import annotations

import math
import re
import sys
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any, TypeAlias, Union

from gram import Pattern
from gram.errors import expect, expect_all
from gram.words import counted, did_you_mean
from lenses_ext import answer_schema, tool_spec_description, tool_spec_name, tool_spec_schema, view
from lenses_ext.schemas import resolve_ref

from .. import machine
from ..errors import ConfigurationError, ModelError
from ..json_text import Json, read_json, write_json
from ..machine import AssistantRole, Message, Request, ToolCall
from ..machine.contracts import accepts
from ..shown import shortened
from .language_model import LanguageModel
from .reply_reading import Reply, read_reply, text_of, words_of


class ModelWithoutNetwork(LanguageModel):
    """A base for models whose ``complete`` never waits: it adds the other ways to ask."""

    async def acomplete(self, request: Request) -> Any:
        """The reply; see `complete`."""
        return self.complete(request)

    def stream(self, request: Request) -> Iterator[Any]:
        """The words of the reply, then the reply itself unless it is a plain str."""
        reply = self.complete(request)
        yield from re.findall(r"\s*\S+\s*|\s+", words_of(request, read_reply(reply).message))
        if not isinstance(reply, str):
            yield reply

    async def astream(self, request: Request) -> AsyncIterator[Any]:
        """The same; see `stream`."""
        for piece in self.stream(request):
            yield piece


# --- scripted

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

    def pass_over(self, agents: Iterable[str]) -> None:
        """Leave out a reply for each name of an agent: those that a run has got already.

        Raises:
            ArgumentError: these are no names.
        """
        for name in expect_all(agents, str, "agents", by="pass_over"):
            if left := self._left.get(name if self._of_agents else ""):
                left.popleft()

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


# --- rehearsed

_NUMBER = re.compile(r"(?<!\d)-?\d{1,300}(?:\.\d+)?(?!\d)")  # longer ones are beyond all floats
_QUOTED = re.compile(r"\"([^\"]+)\"|“([^“”]+)”|'([^']+)'(?!\w)|`([^`]+)`")
_SPOKEN = r"[^\W\d_][\w'’-]*"  # a word
_INTRODUCED = re.compile(
    rf"\b(my name is|my name['’]s|i am|i['’]m|call me|this is|for|to|greet)"
    rf"\s+({_SPOKEN}(?:\s+{_SPOKEN})*)",
    re.IGNORECASE,
)
_OF_PERSON = re.compile("name|person|guest|recipient|friend|^(?:who|whom|user|to)$", re.IGNORECASE)
_NOBODY = "world"  # who is greeted where no name was said

_NULL = {"type": "null"}
_DEEP = 3  # from here on, choices without parts come first
_DEEPEST = 20  # a type that always holds another of its kind has no end
_MOST_VALUES = 1_000  # and one that holds two of them doubles with each level
_MOST_ITEMS = 100
_MOST_CHARACTERS = 10_000


@cache
def _table() -> dict[str, Any]:
    import tomllib  # imported late: most runs ask a model

    return tomllib.loads(Path(__file__).with_name("rehearsal.toml").read_text(encoding="utf-8"))


@cache
def _listed(kind: str) -> frozenset[str]:
    return frozenset(_table()[kind].split())


class Filling:
    """Makes a value of a schema out of what the user said, the latest first.

    Where the user said nothing of it, an enum and a boolean have another value in each round. From
    the second round on, what another agent rehearsed counts as nothing: in a loop it is what this
    agent answered itself.
    """

    def __init__(self, schema: Json, said: Sequence[str], *, round: int = 0) -> None:
        self._root = schema
        self._round = round
        self._said = said
        self._is_echo = round > 0 and said[0].startswith(_TOLD)
        self._numbers = _NUMBER.findall(said[0])
        self._made = 0

    def value(self) -> Json:
        """A value of the whole schema; an object holds what was said and what has to be there."""
        return self._made_up(self._root, 0)

    def _object(self, schema: dict[str, Json], level: int) -> dict[str, Json]:
        filled: dict[str, Json] = {}
        required = schema.get("required", ())
        for name, below in schema.get("properties", {}).items():
            plain = self._plain(below, level)
            found = self._found(name, plain)
            if found is not None and accepts(plain, found, self._root):
                filled[name] = found
            elif name in required:
                filled[name] = self._made_up(below, level + 1, name)
        return filled

    def _mentioned(self, words: Iterable[Json]) -> Json:
        """The word that the user said last, or None."""
        return next((word for word in words if self._mentions(str(word))), None)

    def _mentions(self, word: str) -> bool:
        found = re.search(rf"\b{re.escape(word)}\b", self._said[0], re.IGNORECASE)
        return found is not None and not self._is_echo

    def _found(self, name: str, schema: dict[str, Json]) -> Json:
        """The value that the user gave for a parameter, or None."""
        latest, kind = self._said[0], _kind(schema)
        if "enum" in schema:
            return self._mentioned(schema["enum"])
        if kind in ("integer", "number") and self._numbers:
            text = self._numbers.pop(0)
            if "." not in text:
                return int(text)  # a float would lose digits
            number = float(text)
            return int(number) if kind == "integer" or number.is_integer() else number
        if kind == "boolean":
            return True if self._mentions(name) else None
        if kind == "string":
            if _OF_PERSON.search(name):
                return next((each for text in self._said for each in _names_in(text)), None)
            quoted = _QUOTED.search(latest)
            return next(filter(None, quoted.groups())) if quoted else None
        return None

    def _made_up(self, schema: Json, level: int, name: str = "") -> Json:
        """A value for what has to be there and was not given, such as a parameter of a name."""
        self._made += 1
        if level > _DEEPEST or self._made > _MOST_VALUES:
            return None
        schema = self._plain(schema, level)
        for keyword in ("default", "const"):
            if keyword in schema:
                return schema[keyword]
        if schema.get("enum"):
            mentioned = self._mentioned(schema["enum"])
            by_round = schema["enum"][self._round % len(schema["enum"])]
            return by_round if mentioned is None else mentioned
        match _kind(schema):
            case "integer" | "number":
                return self._number(schema)
            case "boolean":
                return self._round % 2 == 1
            case "array":
                few = min(int(level == 0), int(schema.get("maxItems", 1)))  # so that EACH has work
                count = min(max(few, int(schema.get("minItems", 0))), _MOST_ITEMS)
                return [self._made_up(schema.get("items", {}), level + 1) for _ in range(count)]
            case "object":
                return self._object(schema, level)
            case "null":
                return None
        return self._text(schema, name)

    def _number(self, schema: dict[str, Json]) -> Json:
        step = schema.get("multipleOf", 1)
        lower: Any = schema.get("minimum", schema.get("exclusiveMinimum", 0))
        upper: Any = schema.get("maximum", schema.get("exclusiveMaximum", lower))
        near: list[Any] = [0, lower, upper]
        with suppress(OverflowError):  # a number beyond all floats
            near += [lower + step, upper - step, (lower + upper) / 2]
            near += [math.ceil(lower / step) * step, math.floor(upper / step) * step]
        fits = (each for each in near if abs(each) <= sys.float_info.max)
        return next((each for each in fits if accepts(schema, each, self._root)), 0)

    def _text(self, schema: dict[str, Json], name: str) -> str:
        said = self._said[0]
        if _OF_PERSON.search(name) and _beside_greeting(said) is not None:
            said = _NOBODY
        text: str = _table()["formats"].get(str(schema.get("format")), said)
        text = text.ljust(min(int(schema.get("minLength", 0)), _MOST_CHARACTERS), "…")
        longest = schema.get("maxLength")
        return text if longest is None else text[: int(longest)]

    def _plain(self, schema: Json, level: int) -> dict[str, Json]:
        """A schema with what it refers to, or the first choice it leaves, laid under it."""
        for _ in range(_DEEPEST):
            if not isinstance(schema, dict):
                break
            plain = dict(schema)
            if "$ref" in plain:
                schema = resolve_ref(plain.pop("$ref"), self._root)
            elif choices := plain.pop("anyOf", None) or plain.pop("oneOf", None):
                others = [each for each in choices if level <= _DEEP or not _has_parts(each)]
                schema = next((each for each in others or choices if each != _NULL), _NULL)
            else:
                return plain
            schema = {**schema, **plain} if isinstance(schema, dict) else plain
        return {}


def _has_parts(choice: Json) -> bool:
    return isinstance(choice, dict) and ("$ref" in choice or _kind(choice) in ("object", "array"))


def _kind(schema: dict[str, Json]) -> str:
    kind = schema.get("type", "object" if "properties" in schema else "string")
    return str(kind[0]) if isinstance(kind, list) and kind else str(kind)


def _names_in(text: str) -> Iterator[str]:
    """The names that a text introduces: "I'm Mary Ann", "my name is al", "greet Bob"."""
    for match in _INTRODUCED.finditer(text):
        words = match[2].split()
        name = list(takewhile(_is_capital, words))
        if not name and match[1].lower().startswith("my name"):
            name = words[:1]
        if name:
            yield " ".join(name)
    others = _beside_greeting(text) or ()
    if 0 < len(others) <= 3 and all(map(_is_capital, others)):
        yield " ".join(others)  # Hello Bob


def _beside_greeting(text: str) -> list[str] | None:
    """The words of a text that are no greeting; None if none of them is one."""
    words = re.findall(_SPOKEN, text)
    others = [word for word in words if word.lower() not in _listed("greetings")]
    return None if len(others) == len(words) else others


def _is_capital(word: str) -> bool:
    return word[0].isupper()


_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_GREETING = re.compile(r"\bgood (?:morning|afternoon|evening|day)\b", re.IGNORECASE)
_TOLD = "(rehearsal, no language model) You said: "
_IN_NAME, _IN_DESCRIPTION, _ENOUGH = 3, 1, 2


class Rehearsal(ModelWithoutNetwork):
    """The model behind ``Offline/rehearsal``."""

    def __repr__(self) -> str:
        return "<Rehearsal>"

    def complete(self, request: Request) -> Reply:
        """The reply that the rules give; it costs no tokens."""
        asked = [each for each in request.messages if each.role == machine.UserRole]
        said = [each.content for each in reversed(asked)] or [""]
        results: list[str] = []
        for each in reversed(request.messages):
            if not isinstance(each.role, machine.FunctionRole) or machine.is_handover(each):
                break
            results.insert(0, each.content)
        if results:
            text = "\n".join(results).strip()
            text = text or "(rehearsal) The tool gave an empty text."
        elif tool := _fitting(request, said[0]):
            arguments = Filling(view(tool_spec_schema, tool), said).value()
            call = ToolCall("call_0", view(tool_spec_name, tool), write_json(arguments))
            return Reply(Message(AssistantRole, "", (call,)), machine.Usage(0, 0))
        else:
            # What another agent rehearsed is not said twice: in loops it would grow without an end.
            told = "" if said[0].startswith(_TOLD) else _TOLD
            files = asked[-1].attachments if asked else ()
            text = told + said[0] + "".join(f"\n(attached: {file})" for file in files)
        if request.answer is not None:
            is_answer = (m.role == AssistantRole and not m.tool_calls for m in request.messages)
            schema = answer_schema(request.answer)
            text = write_json(Filling(schema, said, round=sum(is_answer)).value())
        return Reply(Message(AssistantRole, text), machine.Usage(0, 0))


def _fitting(request: Request, text: str) -> Pattern | None:
    """The tool that fits a text best, of equals the first; None if none fits well enough."""
    spoke = {message.speaker for message in request.messages}
    others = [tool for tool in request.tools if view(tool_spec_name, tool) not in spoke]
    best = max(others, key=lambda tool: _fit(text, tool), default=None)
    return None if best is None or _fit(text, best) < _ENOUGH else best


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
    greetings = _listed("like_hello")
    return {"hello" if word in greetings else word for word in plain} - _listed("common")
