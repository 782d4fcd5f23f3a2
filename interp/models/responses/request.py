"""The JSON of requests to the Responses API."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from attrs import frozen

from gram import Pattern
from lenses_ext import result_schema
from lenses_ext.weak_cache import memo

from ...json_text import Json
from ...machine import Message, Request
from ...machine.contracts import has_strict_form, response_format, tool_to_json
from ..chat.request import dumped, joined, tell_of_settings_left_out, tool_choice
from ..providers import RESPONSES_FIELDS
from ..refusals import takes
from ..reply_reading import Reply
from ..typed_answers import answer_in_words, answer_tool
from ..wire import Wire
from .items import items_of, read_response

if TYPE_CHECKING:
    from .stream import StreamedResponse


@lru_cache(maxsize=16)
def _message_texts(
    server: str, model: str, with_reasoning: bool, with_files: bool
) -> Callable[[Message], str]:
    """The JSON texts of messages, each kept as long as its message; a message may be many items."""
    return memo(
        lambda message: dumped(items_of(message, server, model, with_reasoning, with_files))[1:-1]
    )


def _fields(
    request: Request, form: Responses, *, with_reasoning: bool
) -> tuple[list[str], dict[str, Json]]:
    """The tools as texts, and the fields of a body beside the two lists."""
    settings, instruction = request.settings.as_json(), request.instruction
    others: dict[str, Json] = {"model": request.model.name, "store": False}
    if with_reasoning:
        others["include"] = ["reasoning.encrypted_content"]
    strict = form.is_strict_for(request)
    tools = [_tool_text(strict and has_strict_form(tool))(tool) for tool in request.tools]
    text: dict[str, Json] = {}
    if request.answer is not None:
        if not tools or form.answers == "with_tools":
            if form.answers_as == "json_schema":
                named = response_format(request.answer)["json_schema"]
                text["format"] = {"type": "json_schema", **named, "strict": False}
            else:
                text["format"] = {"type": "json_object"}
                instruction += answer_in_words(request.answer)
        elif form.answers == "as_tool":
            function = answer_tool(request, request.answer)["function"]
            tools.append(dumped({"type": "function", **function, "strict": False}))
    if text:
        others["text"] = text
    if instruction:
        others["instructions"] = instruction
    if tools:
        choice = tool_choice(request, answers_by_tool=len(tools) > len(request.tools))
        others["tool_choice"] = choice
    for name, value in settings.items():
        if name in RESPONSES_FIELDS and (tools or name != "parallelToolCalls"):
            *outer, field = RESPONSES_FIELDS[name].split(".")
            place = others
            for each in outer:
                place = place.setdefault(each, {})
            place[field] = value
    tell_of_settings_left_out(settings, "responses")
    return tools, {**others, **settings.get("extraBody", {})}


@lru_cache(maxsize=2)
def _tool_text(strict: bool) -> Callable[[Pattern], str]:
    """The JSON texts of tools, each kept as long as its tool.

    ``strict`` is always written: what is missing counts as true here.
    """
    return memo(lambda tool: dumped(_tool(tool, strict)))


def _tool(tool: Pattern, strict: bool) -> dict[str, Json]:
    written = tool_to_json(tool, "openai-responses", strict=strict)
    if (result := result_schema(tool)) is not None:
        written["output_schema"] = result
    return written


@frozen(kw_only=True)
class Responses(Wire):
    """The Responses API, as one server wants it."""

    path = "/responses"

    server: str

    def content(self, request: Request, *, streaming: bool = False) -> bytes:
        """The bytes of a request, each message and tool encoded only once."""
        with_reasoning = takes("encrypted reasoning", self.server, request.model)
        with_files = takes("files of tools", self.server, request.model)
        tools, others = _fields(request, self, with_reasoning=with_reasoning)
        if streaming:
            others["stream"] = True
        texts = _message_texts(self.server, request.model.name, with_reasoning, with_files)
        lists: dict[str, Iterable[str]] = {"input": filter(None, map(texts, request.messages))}
        if tools:
            lists["tools"] = tools
        return joined(lists, others)

    def read_as_it_is(self, reply: Json, request: Request) -> Reply:
        """Read a response."""
        return read_response(reply, request, server=self.server)

    def new_stream(self) -> StreamedResponse:
        """Puts events together into a response."""
        from .stream import StreamedResponse  # imported late: most replies come whole

        return StreamedResponse()
