"""Handlers: what performs effects. A run is a State and a handler.

A handler is anything with `Handler`'s one method, so one can be put around another: to repeat what
failed, to count, to rehearse. What goes wrong in a tool becomes an event; what goes wrong in a
model or an approver is an error of the run, which stays where it was.

The door is here, too: what models, tools and people give loses its keys before it is folded or
shown, in `cleaned` and, for the words that a model streams, in `StreamWithoutKeys`. What
has no key stays as it is, byte for byte. What a provider wants back with a reply (its *echo*) loses
a key, too, although the provider may then refuse it; opaque data has no key in it.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, Literal, Protocol, TypeAlias, Union

from attrs import evolve, field, fields, frozen, has

from gram import GramEncodeError
from lenses_ext import Model
from lenses_ext.schemas import Match

from .. import machine
from ..concurrency import call_in_thread, in_loop_of_user
from ..errors import AgentError, ApprovalNeeded, ConfigurationError, ModelError, ToolError, said_by
from ..files import File
from ..machine import Ask, CallFailed, CallModel, Decided, Effect, Event, ModelReplied, ToolReturned
from ..models import (
    SAYS_NOTHING,
    AnyModel,
    Dialect,
    LanguageModel,
    Reasoning,
    connect_model,
    read_reply,
)
from ..programs import fallbacks_of, models_of
from ..secrets import Keys, StreamWithoutKeys, known_keys, without_keys
from ..tools import LibraryLike, PlainCall, Tool, acall_tool, bind_agent_tools
from .logs import log_effect
from .observations import Delta, ReasoningDelta, TextDelta, ToolProgress, called_for_user

_log = logging.getLogger("interp.model")

_UNKNOWN: Final = ("model_not_found", "unknown_model")

Report: TypeAlias = Callable[[Union[Delta, ToolProgress]], None]
"""Takes what is only watched: the words of a model while it speaks, how far a tool is."""


def may_be_passed(error: Exception) -> bool:
    """Whether another model may be asked instead of one that failed.

    It cannot be reached, it is overloaded after its retries, or its server does not know it. A
    request that is refused would be refused again, or the refusal is an answer.
    """
    return isinstance(error, ModelError) and (
        error.retriable or error.code in _UNKNOWN or error.status == 404
    )


async def first_that_replies(
    ask: Callable[[CallModel, Report | None], Awaitable[Event]],
    effect: CallModel,
    report: Report | None,
    models: Iterable[Model],
    passes: Callable[[Exception], bool] = may_be_passed,
) -> Event:
    """The reply of the first of some models that gives one, asked in their order.

    Once a word of a reply was shown, no other model is asked.

    Args:
        passes: whether another model is asked after an error.
    """
    left, tried, shown = list(models), list[tuple[Model, str]](), list[object]()

    def show(each: Delta | ToolProgress) -> None:
        shown.append(each)
        if report is not None:
            report(each)

    while True:
        model = left.pop(0)
        alone = evolve(effect, request=evolve(effect.request, model=model, fallbacks=()))
        try:
            event = await ask(alone, show if report else None)
        except Exception as error:
            if not left or not passes(error) or shown:
                if tried and isinstance(error, ModelError):
                    before = "; ".join(f"{each} gave no reply ({why})" for each, why in tried)
                    error.args = (f"{error.message}\n  before it, {before}",)
                raise
            said = str(error).partition("\n")[0]
            why = without_keys(said.encode(errors="replace").decode())
        else:
            if isinstance(event, ModelReplied) and (tried or model != effect.request.model):
                return evolve(event, model=model, tried=tuple(tried))
            return event
        tried.append((model, why))
        extra = {"event": "model_passed"}
        _log.warning("%s gave no reply (%s): %s is asked", model, why, left[0], extra=extra)


ModelChoice: TypeAlias = Union[str, Model, LanguageModel, None]
"""Which model to ask: ``"Provider/name"``, a `Model`, anything with ``complete``, or None for the
one that the program names."""

Answer: TypeAlias = Union[bool, str, None]
"""An answer to a question for approval: yes, no, no and why, or None to leave it open."""

Approver: TypeAlias = Callable[[Ask], Union[Answer, Awaitable[Answer]]]
"""Called with each tool call that the policy asks about; see `Answer`."""

OnToolError: TypeAlias = Literal["tell", "raise"]
"""What happens when a tool raises: the model is told, or the run stops."""


def named_model(model: ModelChoice) -> Model | None:
    """The model that a choice names, or None when it names none.

    Raises:
        ConfigurationError: it is a str that is not the name of a model.
    """
    if not isinstance(model, str):
        return model if isinstance(model, Model) else None
    try:
        return Model.parse(model)
    except GramEncodeError as error:
        raise ConfigurationError(str(error)) from None


class Handler(Protocol):
    """What performs effects.

    Raises:
        ApprovalNeeded: a question stays open. The run goes on with what it can do without it.
    """

    async def perform(self, effect: Effect, report: Report | None) -> Event:
        """Perform an effect, and return the event that answers it.

        Args:
            report: takes what is only watched; None when nobody watches the words of models.
        """
        ...


@frozen(eq=False, repr=False)
class LiveHandler:
    """The handler of models, tools and people.

    Attributes:
        tools: the implementations, by name.
        model: the model that is asked.
        approve: decides about calls that need approval, or None when nobody can.
        on_tool_error: whether the model is told of a tool that raised, or the run stops.
        plainly: how plain functions of tools are called.
        keys: the keys that are replaced in what comes in: those known when the run was taken up.
    """

    tools: Mapping[str, Tool]
    model: AnyModel
    approve: Approver | None = None
    on_tool_error: OnToolError = "tell"
    plainly: PlainCall = call_in_thread
    keys: Keys | None = field(factory=known_keys)

    @classmethod
    def of(
        cls,
        state: machine.State,
        tools: LibraryLike = None,
        *,
        model: ModelChoice = None,
        base_url: str | None = None,
        dialect: Dialect | None = None,
        match: Match = "full",
        approve: Approver | None = None,
        on_tool_error: OnToolError = "tell",
    ) -> LiveHandler:
        """The handler of a run, with the tools of a library that implement those of its program.

        Args:
            tools: the implementations; without one it runs no tools.
            model, base_url, dialect, match, approve, on_tool_error: see
                `interp.running.RunOptions`.

        Raises:
            ToolBindingError: the library does not implement the tools as they are written.
            ConfigurationError: the provider is unknown, or its key is missing.
        """
        bound = () if tools is None else bind_agent_tools(state.agent, tools, match=match)
        by_name = {tool.name: tool for tool in bound}
        if model is not None and not isinstance(model, str | Model):
            if base_url or dialect:
                given = "base_url" if base_url else "dialect"
                told = "is for a model given by its name, not for an object"
                raise ConfigurationError(f"{given} {told}")
            asked = AnyModel({None: model})  # so a mapping given here is refused
            return cls(by_name, asked, approve, on_tool_error)
        connect = partial(connect_model, base_url=base_url, dialect=dialect)
        named, agent = named_model(model) or state.model, state.agent
        first, others = ((named,), ()) if named else (models_of(agent), fallbacks_of(agent))
        connected = {each: connect(each) for each in first}
        for each in others:
            try:
                connected[each] = connect(each)
            except ConfigurationError as error:
                _log.warning("the fallback %s cannot be asked: %s", each, error)
        return cls(by_name, AnyModel(connected), approve, on_tool_error)

    def __repr__(self) -> str:
        return f"<LiveHandler of {self.model!r}: {', '.join(self.tools) or 'no tools'}>"

    async def perform(self, effect: Effect, report: Report | None) -> Event:
        """Perform an effect; what blocks runs in a thread."""
        if isinstance(effect, CallModel):
            models = self.model.asked_for(effect.request)
            if models != (effect.request.model,):
                return await first_that_replies(self.perform, effect, report, models)
        log_effect(effect, self.model)
        event = await self._performed(effect, report)
        return event if self.keys is None else cleaned(event, self.keys)

    async def prepare(self, effects: Iterable[Effect]) -> None:
        """Import what some effects need, before clocks are started."""
        if any(isinstance(each, CallModel) for each in effects):
            await self.model.prepare()

    async def _performed(self, effect: Effect, report: Report | None) -> Event:
        match effect:
            case CallModel():
                with _failing_as("model", ModelError):
                    try:
                        ask = partial(self._reply, effect, report)
                        is_theirs = self.model.is_users_coroutine
                        reply = await (in_loop_of_user(ask) if is_theirs else ask())
                    except ModelError as error:
                        if not (effect.is_for_summary and error.code in SAYS_NOTHING):
                            raise
                        nothing = machine.Message(machine.AssistantRole, "")  # it is no summary
                        return ModelReplied(effect.at, nothing)
                return ModelReplied(effect.at, *reply)
            case Ask():
                return await self._decided(effect)
            case machine.CallTool():
                try:
                    result = await acall_tool(self.tools[effect.name], effect.args, self.plainly)
                except ToolError as error:
                    if self.on_tool_error == "raise":
                        raise
                    return CallFailed(effect.at, str(error), error.__cause__ or error)
                return ToolReturned(effect.at, *result)

    async def _reply(self, effect: CallModel, report: Report | None) -> Any:
        """What the model replies, in the parts of `ModelReplied`."""
        request = effect.request
        if report is None:
            return read_reply(await self.model.acomplete(request), request)
        whole, words = None, list[str]()
        said, thought = StreamWithoutKeys(self.keys), StreamWithoutKeys(self.keys)

        def show(kind: type[Delta], text: str) -> None:
            if text:  # else all of it is held back
                report(kind(effect.at, text))

        async for piece in self.model.astream(request):
            if isinstance(piece, Reasoning):
                show(ReasoningDelta, thought.feed(piece.text))
            elif isinstance(piece, str):
                words.append(piece)
                show(TextDelta, said.feed(piece))
            else:
                whole = piece
        show(ReasoningDelta, thought.rest())
        show(TextDelta, said.rest())
        return read_reply("".join(words) if whole is None else whole, request)

    async def _decided(self, ask: Ask) -> Decided:
        """What the approver decides; only True approves."""
        answer: Answer = None
        if self.approve is not None:
            with _failing_as("approver", AgentError):
                answer = await called_for_user(self.approve, ask)
        match answer:
            case bool():
                return Decided(ask.at, answer)
            case str():
                return Decided(ask.at, False, answer)
            case None:
                call = machine.call_text(ask.name, ask.arguments)
                raise ApprovalNeeded(f"the run waits for approval of {call}")
        raise ConfigurationError(
            "an approver answers True, False, why not (a str), or None to leave it open; "
            f"found {answer!r}"
        )


@contextmanager
def _failing_as(whose: str, kind: type[AgentError]) -> Iterator[None]:
    """What the user's code raises inside becomes an error of the run, with its cause."""
    try:
        yield
    except AgentError:
        raise
    except Exception as error:
        raise kind(f"the {whose} failed: {said_by(error)}") from error


# --- the door


_OURS: Final = ("at", "role", "model", "tried", "exception")
"""The parts of events that the program and the machine say, and what a tool raised."""


def cleaned(value: Any, keys: Keys) -> Any:
    """An event, or a part of one, without keys; JSON stays JSON, such as arguments and answers."""
    match value:
        case str():
            return keys.without_in_json(value)
        case File():
            return _file(value, keys)
        case tuple():
            return tuple(cleaned(each, keys) for each in value)
        case _ if has(type(value)):
            names = [each.name for each in fields(type(value)) if each.name not in _OURS]
            return evolve(value, **{name: cleaned(getattr(value, name), keys) for name in names})
    return value


def _file(file: File, keys: Keys) -> File:
    """A file without keys in its name, its address and its text, if it is one."""
    name = file.name and keys.without(file.name)
    if file.content is None:
        return File(keys.without(file.address or ""), name, file.media_type)
    try:
        content = keys.without(file.content.decode()).encode()
    except UnicodeDecodeError:
        content = file.content
    return File(content, name, file.media_type)
