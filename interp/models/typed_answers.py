"""Answers of a declared type: how each provider is asked for one, and how it is read.

Providers differ in whether they take tools and a schema for the answer in one request, and in
whether they take a schema at all; `AnswerMode` and `AnswerFormat` are columns of their rows.
"""

from __future__ import annotations

import re
from typing import Final

from attrs import evolve

from gram import Pattern
from lenses_ext import answer_schema, tool_spec_name, view
from lenses_ext.language import wire_name

from ..errors import ValidationError
from ..json_text import Json, read_json, write_json
from ..machine import Message, Request, contracts
from .providers import AnswerFormat, AnswerMode

_TOOL_NAME: Final = "final_answer"
_THINKING: Final = re.compile(r"\s*+(?:<think(?:ing)?>|\[THINK\])")
_THOUGHT: Final = re.compile(r"</think(?:ing)?>|\[/THINK\]")
_FENCED: Final = re.compile(r"(?<!`)`{3,}+[\w-]*+[ \t]*+\r?\n(.*?)```", re.DOTALL)
_FENCED_WIDELY: Final = re.compile(r"(?<!`)`{3,}+[\w-]*+\s*+(.*)```", re.DOTALL)
"""From the first fence to the last: a text in the JSON may have fences itself."""


# --- asking


def answer_asked(
    request: Request, mode: AnswerMode, form: AnswerFormat
) -> tuple[dict[str, Json] | None, str, dict[str, Json] | None]:
    """How a request asks for its typed answer: a format, words for the instruction, or a tool.

    The words are for a model that takes no schema.
    """
    answer = request.answer
    if answer is None or (request.tools and mode == "after_tools"):
        return None, "", None
    asked = contracts.response_format(answer)
    schema = asked["json_schema"]["schema"]
    if request.tools and mode == "as_tool":  # the tool that a model calls to give its answer
        told = "Give the final answer. Call this once, when you need no other tool."
        named = {"name": answer_tool_name(request), "description": told}
        return None, "", {**named, "parameters": schema}
    if form == "json_schema":
        return asked, "", None
    told = (
        f"Answer with one JSON object that is valid under this JSON Schema:\n{write_json(schema)}"
    )
    return {"type": "json_object"}, f"\n\n{told}", None


def answer_tool_name(request: Request) -> str:
    """The name of the answer's tool: one that no tool of the agent has."""
    taken = {wire_name(view(tool_spec_name, tool)) for tool in request.tools}
    names = (_TOOL_NAME + "_" * more for more in range(len(taken) + 1))
    return next(name for name in names if name not in taken)


def streams_word_by_word(request: Request, mode: AnswerMode) -> bool:
    """Whether the words of a reply, shown as they come, are those of its answer."""
    if request.answer is None:
        return True
    is_wrapped = answer_schema(request.answer).get("type") != "object"
    return not is_wrapped and (not request.tools or mode == "with_tools")


def request_for_the_answer(request: Request, message: Message) -> Request | None:
    """The second request of ``after_tools``, or None where the reply is the answer or calls."""
    if request.answer is None or not request.tools or message.tool_calls or message.refused:
        return None
    schema = answer_schema(request.answer)
    try:
        is_text = contracts.is_text_schema(schema)
        contracts.check(
            schema, words_of(request, message) if is_text else read_json(message.content)
        )
    except (ValueError, ValidationError):
        return evolve(request, tools=())
    return None


# --- reading


def without_answer_tool(request: Request, message: Message) -> Message:
    """A reply in which a call of the answer's tool is the answer, for ``as_tool``.

    Beside calls of other tools it is left out: the model cannot know their results yet.
    """
    name = answer_tool_name(request)
    answers = [call.arguments for call in message.tool_calls if call.name == name]
    others = [call for call in message.tool_calls if call.name != name]
    if not answers:
        return message
    if others:
        return evolve(message, tool_calls=others)
    return evolve(message, content=answers[0] or "{}", tool_calls=(), echo=None)


def with_its_answer(answer: Pattern, message: Message) -> Message:
    """A reply with the JSON of its answer alone.

    Fences and a model's thinking around the JSON are left out, and the object that wraps an answer
    of another type. Of a text only the thinking is left out, unless the rest is JSON as a whole.
    """
    if message.tool_calls or message.refused:
        return message
    is_text = contracts.is_text_schema(answer_schema(answer))
    said = (_text_in if is_text else _json_in)(message.content)
    return contracts.unwrapped(answer, evolve(message, content=said))


def words_of(request: Request, message: Message) -> str:
    """What a reply says, to be shown: the answer itself where it is a text."""
    if request.answer is None or not contracts.is_text_schema(answer_schema(request.answer)):
        return message.content
    return contracts.text_said(message.content)


def _without_thinking(content: str) -> str:
    """A reply without the thinking that it begins with."""
    end = 0
    while begun := _THINKING.match(content, end):
        thought = _THOUGHT.search(content, begun.end())
        if thought is None:
            break
        end = thought.end()
    if not end and (thought := _THOUGHT.search(content)):  # some servers leave the first mark out
        end = thought.end()
    return content[end:]


def _text_in(content: str) -> str:
    text = _without_thinking(content)
    fenced = _FENCED_WIDELY.fullmatch(text.strip())
    if fenced and _is_json(fenced[1].strip()):
        said = read_json(fenced[1])
        if isinstance(said, str) or (isinstance(said, dict) and said.keys() == {contracts.WRAPPED}):
            return fenced[1].strip()
    return content if text == content else text.strip()


def _json_in(content: str) -> str:
    """The JSON text in a reply that may have something else around it, or all of it."""
    if _is_json(content):
        return content
    text = _without_thinking(content).strip()
    candidates = (pattern.findall(text) for pattern in (_FENCED_WIDELY, _FENCED))
    fenced = [found[0].strip() for found in candidates if len(found) == 1]
    return next(filter(_is_json, (text, *fenced)), content)


def _is_json(text: str) -> bool:
    try:
        read_json(text)
    except ValueError:
        return False
    return True
