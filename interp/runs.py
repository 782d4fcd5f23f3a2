"""A run as an object: the one thing that changes is the state it stands in.

Both drivers are here, one that blocks and one that does not. They look at what the state needs,
have it performed and fold in the event, so a run can be taken up from any state it was ever in.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from attrs import evolve

from gram import GramEncodeError
from lenses_ext import Match, Model, agent_model, view

from .binding import bind_agent_tools
from .effects import Ask, CallModel, CallTool, Effect, Event, TimeUp, ToolEffect
from .errors import ApprovalNeeded, ConfigurationError, LimitError, ModelError
from .language_model import LanguageModel
from .library import ToolLibrary, empty_tool_library
from .limits import Limits
from .logs import log_effect, log_event
from .machine import pending, response, resume, step
from .messages import AgentResponse
from .performing import Approver, Performer, keeping_state, needs_approval
from .providers import language_model
from .state import State, Status
from .streaming import Finished, Observation, TextDelta, ToolFinished, ToolStarted
from .threads import Worker, cancelled
from .timing import Clock

if TYPE_CHECKING:
    import asyncio

ModelChoice: TypeAlias = Union[str, Model, LanguageModel, None]
"""Which model to ask: ``"Provider/name"``, a `Model`, anything with ``complete``, or None for the
one that the program names."""

Observer: TypeAlias = Callable[[Effect, Event], None]
"""Called with every effect and the event that answered it."""


class Run:
    """A run of an agent, from a state on: one from ``start``, or one that was kept.

    Whatever ends it, an error, Ctrl-C, a cancellation or a reader who stops reading, ``state`` is
    the last one that was reached and whole; `finish` or another Run goes on from there. An effect
    that was being performed then is performed again.

    Args:
        state: where to go on.
        library: the implementations of the agent's tools.
        model: which model to ask instead of the state's.
        limits: how much the run may do from now on, instead of the state's limits.
        match: how closely tools have to match, see `bind_tool`.
        base_url: where to ask for the model instead of its provider's own address.
        approve: decides about the calls that the policy asks about.
        observe: called with every effect and the event that answered it.

    Attributes:
        state: where the run stands.

    Raises:
        ToolBindingError: the library does not implement the tools as they are written.
        ConfigurationError: the provider is unknown, or its key is missing.
    """

    def __init__(
        self,
        state: State,
        library: ToolLibrary = empty_tool_library,
        *,
        model: ModelChoice = None,
        limits: Limits | None = None,
        match: Match = "full",
        base_url: str | None = None,
        approve: Approver | None = None,
        observe: Observer | None = None,
    ) -> None:
        override = _named_model(model)
        if override is not None:
            state = evolve(state, model=override)
        self.state, _ = resume(state, limits)
        self._observe = observe
        tools = bind_agent_tools(state.agent, library, match=match)
        self._is_ours = model is None or override is not None  # so it is closed after the run
        if base_url and not self._is_ours:
            raise ConfigurationError(
                "a base_url is for a model that is named; this one has its own"
            )
        chosen = state.model or view(agent_model, state.agent)
        self._performer = Performer(
            {tool.name: tool for tool in tools},
            language_model(chosen, base_url=base_url) if self._is_ours else _given(model),
            approve,
        )

    def finish(self) -> AgentResponse:
        """Go on to the end.

        Raises:
            ModelError: the model did not answer.
            LimitError: a limit was reached.
            ApprovalNeeded: a call needs approval, and nobody is there to give it.
        """
        return _last(self._drive(streaming=False))

    async def afinish(self) -> AgentResponse:
        """Go on to the end without blocking, the tools of a turn at once; see `finish`."""
        observations = [each async for each in self._adrive(streaming=False)]
        return _last(observations)

    def stream(self) -> Iterator[Observation]:
        """Go on to the end, and show what happens as it happens; see `finish`."""
        return self._drive(streaming=True)

    def astream(self) -> AsyncIterator[Observation]:
        """Go on without blocking, and show what happens as it happens; see `finish`."""
        return self._adrive(streaming=True)

    # --- the driver that blocks

    def _drive(self, *, streaming: bool) -> Iterator[Observation]:
        clock, worker = Clock(self.state.limits.run_seconds), Worker()
        try:
            with keeping_state(lambda: self.state):
                while effects := pending(self.state):
                    effect = self._next(effects)
                    log_effect(effect, self._performer.model)
                    if clock.left == 0:
                        yield from self._fold(effect, TimeUp(self.state.turn))
                    elif isinstance(effect, CallModel) and streaming and self._performer.streams:
                        for each in self._performer.stream(effect, clock, worker):
                            if isinstance(each, TextDelta):
                                yield each
                            else:
                                yield from self._fold(effect, each)
                    else:
                        yield from _before(effect)
                        event = self._performer.perform(effect, self.state, clock, worker)
                        yield from self._fold(effect, event)
                yield self._finished()
        finally:
            worker.close()
            if self._is_ours and hasattr(self._performer.model, "close"):
                self._performer.model.close()

    def _next(self, effects: tuple[Effect, ...]) -> Effect:
        """The effect to perform next; what nobody can approve comes last."""
        if self._performer.approve is not None:
            return effects[0]
        for effect in effects:
            if not isinstance(effect, Ask):
                return effect
        raise ApprovalNeeded(needs_approval(self.state.asks))

    # --- the driver that does not

    async def _adrive(self, *, streaming: bool) -> AsyncIterator[Observation]:
        import asyncio  # imported where it is used: it takes longer than a short program

        clock = Clock(self.state.limits.run_seconds)
        running: dict[asyncio.Future[Event], Effect] = {}
        try:
            with keeping_state(lambda: self.state):
                while effects := pending(self.state):
                    if isinstance(effects[0], CallModel) and streaming and self._performer.astreams:
                        log_effect(effects[0], self._performer.model)
                        words = self._performer.astream(effects[0], clock)
                        async with aclosing(words):
                            async for each in words:
                                if isinstance(each, TextDelta):
                                    yield each
                                    continue
                                for answer in self._fold(effects[0], each):
                                    yield answer
                        continue
                    for effect in self._to_begin(effects, running.values()):
                        log_effect(effect, self._performer.model)
                        for observation in _before(effect):
                            yield observation
                        coroutine = self._performer.aperform(effect, self.state)
                        running[asyncio.ensure_future(coroutine)] = effect
                    for effect, event in await self._some(running, clock):
                        for answer in self._fold(effect, event):
                            yield answer
                yield self._finished()
        finally:
            await cancelled(running)
            if self._is_ours and hasattr(self._performer.model, "aclose"):
                await self._performer.model.aclose()

    def _to_begin(self, effects: Iterable[Effect], running: Iterable[Effect]) -> list[Effect]:
        """What can begin beside what is running: all tools, and one question at a time."""
        under_way = list(running)
        begun = {each.index for each in under_way if isinstance(each, ToolEffect)}
        asking = any(isinstance(each, Ask) for each in under_way)
        new: list[Effect] = []
        for effect in effects:
            if isinstance(effect, CallModel):
                if not under_way:
                    new.append(effect)
            elif isinstance(effect, Ask):
                if not asking and self._performer.approve is not None:
                    new.append(effect)
                    asking = True
            elif effect.index not in begun:
                new.append(effect)
        if not under_way and not new:
            raise ApprovalNeeded(needs_approval(self.state.asks))
        return new

    async def _some(
        self, running: dict[asyncio.Future[Event], Effect], clock: Clock
    ) -> list[tuple[Effect, Event]]:
        """The next effects that are done with their events, or that the time is up.

        What fails, such as a question that is left open, is raised last: a tool that was stopped
        half-way for it would be run once more when the run is taken up again.
        """
        import asyncio

        under_way = {task: effect for task, effect in running.items() if not _has_failed(task)}
        if not under_way:
            next(iter(running)).result()  # raises
        asking = any(isinstance(effect, Ask) for effect in under_way.values())
        if asking:
            with clock.standing_still():
                done, _ = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
        else:
            done, _ = await asyncio.wait(
                under_way, timeout=clock.left, return_when=asyncio.FIRST_COMPLETED
            )
        if not done:
            effect = next(iter(under_way.values()))
            return [(effect, TimeUp(self.state.turn))]
        ended = [task for task in under_way if task in done and not _has_failed(task)]
        return [(running.pop(task), task.result()) for task in ended]

    # --- both

    def _fold(self, effect: Effect, event: Event) -> list[ToolFinished]:
        """Take the step that an event leads to; returns the calls that it answers."""
        log_event(event)
        if self._observe:
            self._observe(effect, event)
        before, (self.state, _) = self.state, step(self.state, event)
        return _newly_answered(before, self.state)

    def _finished(self) -> Finished:
        if self.state.status is Status.LIMITED:
            raise LimitError(f"the run stopped after {self.state.stopped}")
        if self.state.status is Status.UNUSABLE:
            raise ModelError(
                f"the model's answer is not what the program declares: {self.state.stopped}"
            )
        return Finished(response(self.state))


def _named_model(model: ModelChoice) -> Model | None:
    """The model that a choice names, or None when it names none.

    Raises:
        ConfigurationError: it is a text that names none.
    """
    if not isinstance(model, str):
        return model if isinstance(model, Model) else None
    try:
        return Model.parse(model)
    except GramEncodeError as error:
        raise ConfigurationError(str(error)) from None


def _given(model: Any) -> LanguageModel:
    if not callable(getattr(model, "complete", None)):
        raise ConfigurationError(f"{model!r} is no model: it has no complete(request)")
    found: LanguageModel = model
    return found


def _has_failed(task: asyncio.Future[Event]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)


def _before(effect: Effect) -> Iterator[Observation]:
    if isinstance(effect, CallTool):
        yield ToolStarted(effect)


def _newly_answered(before: State, after: State) -> list[ToolFinished]:
    """The calls that one step has answered: by their tools, or since they are not to be run."""
    if after.turn == before.turn:
        answers = dict(after.answers)
    else:
        answers = dict(enumerate(after.invocations[len(before.invocations) :]))
    new = sorted(index for index in answers if index not in before.answers)
    return [ToolFinished(before.turn, index, answers[index]) for index in new]


def _last(observations: Iterable[Observation]) -> AgentResponse:
    """The response that a run ends with; errors are raised before it."""
    for each in observations:
        found = each
    assert isinstance(found, Finished)
    return found.response
