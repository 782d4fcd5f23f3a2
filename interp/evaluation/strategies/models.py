"""Models that behave in every way that models do, well and badly."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from hypothesis import strategies as st

from gram import Pattern
from gram.errors import expect
from lenses_ext import ProgramLike, answer_schema, tool_spec_name, view
from lenses_ext.strategies import json_texts
from lenses_ext.weak_cache import memo

from ...errors import ModelError, ValidationError
from ...json_text import write_json
from ...machine import AssistantRole, CallModel, Message, Request, ToolCall, start
from ...models import ScriptedModel
from .libraries import arguments_of, broken_arguments_of
from .schema_values import values_of

_ENDLESS = 1_000  # calls that a model goes on to repeat: more than limits allow


def replies_to(request: Request, *, hostile: bool = True) -> st.SearchStrategy[Any]:
    """What a model may reply to a request, in the forms that `ScriptedModel` takes.

    It says something, or calls tools that it is offered with arguments that fit.

    Args:
        request: what the model is asked.
        hostile: whether it may also call tools that do not exist or with arguments that are
            broken, repeat the ids of calls, refuse, be cut off, or say nothing.
    """
    expect(request, Request, "request", by="replies_to")
    says = words_for(request)
    # Half of the replies call tools as they should; `one_of` would draw each kind as often as it
    # has branches.
    kinds: list[st.SearchStrategy[Any]] = [says]
    if request.tools:
        fitting = st.sampled_from(request.tools).flatmap(_fitting_calls)
        kinds += [_calling(fitting)] * 3
    if hostile:
        odd = _unknown()
        if request.tools:
            odd = st.sampled_from(request.tools).flatmap(_broken_calls) | fitting | odd
        refusals = _said.map(lambda text: Message(AssistantRole, text, refused=True))
        spoilt = refusals | _said.map(_cut_off) | st.just("") | _said
        kinds += [_calling(odd), spoilt]
    return st.sampled_from(kinds).flatmap(lambda kind: kind)


def words_for(request: Request) -> st.SearchStrategy[Message]:
    """What a model may reply to a request that calls no tools, as it should be."""
    said = _said if request.answer is None else _answers(request.answer)
    return said.map(partial(Message, AssistantRole))


@st.composite
def models(
    draw: st.DrawFn, program: ProgramLike, *, agent: str | None = None, hostile: bool = True
) -> ScriptedModel:
    """Models for an agent: a few replies, then an answer, the same calls for ever, or a failure.

    Args:
        draw: what draws; Hypothesis gives it.
        program: the program, as for `run`.
        agent: the name of the agent, where the program has several.
        hostile: whether the model also misbehaves, see `replies_to`.

    Raises:
        ValidationError: the program is invalid, or a workflow, whose agents each ask for their own.
    """
    effects = start(program, "hello", agent=agent).effects
    if len(effects) != 1 or not isinstance(effects[0], CallModel):
        raise ValidationError("models are drawn for an agent; draw `runs` of a workflow")
    request = effects[0].request
    given: list[Any] = draw(st.lists(replies_to(request, hostile=hostile), max_size=5))
    ends: list[list[Any]] = [[Message(AssistantRole, "Done.")]]
    if hostile and request.tools:
        ends.append([draw(_calling(_fitting_calls(request.tools[0])))] * _ENDLESS)
    if hostile:
        ends.append([ModelError("the model is overloaded")])
    return ScriptedModel([*given, *draw(st.sampled_from(ends))])


# Its simplest is plain words: a smaller run often needs a reply that ends it, and a draw that is
# rejected there would leave the larger one.
_said = st.just("Done.") | json_texts().filter(str.strip)


_answers: Callable[[Pattern], st.SearchStrategy[str]] = memo(
    lambda answer: values_of(answer_schema(answer)).map(write_json)
)


def _calling(calls: st.SearchStrategy[ToolCall]) -> st.SearchStrategy[Message]:
    """Replies that call tools, at times several at once, and with words."""
    words = st.just("") | st.just("Let me see.")
    return st.builds(
        Message, st.just(AssistantRole), words, st.lists(calls, min_size=1, max_size=3)
    )


_NOT_ARGUMENTS = st.sampled_from(['{"', "null", "[]", '""', "{} {}", "NaN"])

_fitting_calls: Callable[[Pattern], st.SearchStrategy[ToolCall]] = memo(
    lambda tool: _calls_of(tool, arguments_of(tool).map(write_json))
)
_broken_calls: Callable[[Pattern], st.SearchStrategy[ToolCall]] = memo(
    lambda tool: _calls_of(tool, _NOT_ARGUMENTS | broken_arguments_of(tool).map(write_json))
)


def _calls_of(tool: Pattern, arguments: st.SearchStrategy[str]) -> st.SearchStrategy[ToolCall]:
    return st.builds(ToolCall, _ids(), st.just(view(tool_spec_name, tool)), arguments)


def _unknown() -> st.SearchStrategy[ToolCall]:
    names = st.sampled_from(["noSuchTool", "functions.run", "a b"])
    return st.builds(ToolCall, _ids(), names, st.just("{}"))


def _ids() -> st.SearchStrategy[str]:
    """Ids of calls, which providers repeat and leave out."""
    return st.sampled_from(["call_0", "call_1", ""])


def _cut_off(text: str) -> dict[str, Any]:
    """A completion that ended at its length limit."""
    message = {"role": "assistant", "content": text}
    return {"choices": [{"message": message, "finish_reason": "length"}]}
