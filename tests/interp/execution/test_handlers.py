"""Worlds, watchers and models: whatever the user's code does, no finished event is lost."""

from __future__ import annotations

import asyncio
import logging
import pickle
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextvars import ContextVar
from typing import Any

import anyio
import pytest
from attrs import define

import interp
from interp import Limits, Run, ScriptedModel, TextDelta, begin, machine, resume_run
from interp.execution import LiveHandler, SaidBeforeCalls
from tests.interp.execution.test_runs import Breaking, raising
from tests.interp.model_server import tool_calls
from tests.interp.one_tool import AGENT, DOUBLE, asking, aworking, working

either_way = pytest.mark.parametrize("blocking", [True, False])


def go_on(begun: Run, blocking: bool) -> Any:
    return begun.finish() if blocking else asyncio.run(begun.afinish())


def watched(begun: Run, blocking: bool) -> list[Any]:
    """All that is seen of a run."""

    async def collected() -> list[Any]:
        return [each async for each in begun.astream()]

    return list(begun.stream()) if blocking else asyncio.run(collected())


# --- worlds around worlds


@define
class Counting:
    """A world around a world that counts what it is asked for, and repeats a failed tool once."""

    handler: Any
    seen: list[type]

    async def perform(self, effect: machine.Effect, report: Any) -> machine.Event:
        self.seen.append(type(effect))
        event: machine.Event = await self.handler.perform(effect, report)
        if isinstance(event, machine.CallFailed):
            event = await self.handler.perform(effect, report)
        return event


@either_way
def test_a_world_can_be_put_around_another(blocking: bool) -> None:
    failed = []

    def work(n: int) -> int:
        if not failed:
            failed.append(n)
            raise ValueError(n)
        return n

    state, _, _ = machine.start(AGENT, "hi")
    model: Any = ScriptedModel([asking(1, 2), "Done."])
    handler = Counting(LiveHandler.of(state, working(work), model=model, match="types"), [])
    begun = Run(state, handler=handler)

    observations = watched(begun, blocking)

    assert observations[-1].response.content == "Done."
    assert [each.result for each in begun.state.tools_used] == [1, 2]
    kinds = [machine.CallModel, machine.CallTool]
    assert handler.seen == [*kinds, *reversed(kinds)]
    assert any(isinstance(each, TextDelta) for each in observations)


# --- watchers, models and approvers that raise


@either_way
@pytest.mark.parametrize("number", [0, 2, 5])
def test_an_observer_that_raises_loses_no_finished_event(blocking: bool, number: int) -> None:
    seen: list[machine.Event] = []
    also: list[machine.Event] = []
    worked: list[int] = []

    def observe(_: machine.Effect, event: machine.Event) -> None:
        seen.append(event)
        if len(seen) == number + 1:
            raise KeyError("broken")

    library = working(lambda n: worked.append(n) or n)
    begun = begin(
        AGENT, "hi", library, model=Breaking(-1), match="types", observe=observe,
        watch=lambda effect, event, state: also.append(event),
    )  # fmt: skip
    first = begun.state

    with pytest.raises(interp.AgentError, match="an observer failed: KeyError") as caught:
        go_on(begun, blocking)

    assert isinstance(caught.value.__cause__, KeyError)
    assert caught.value.state is begun.state
    assert also == seen  # the other watcher was told all the same
    assert machine.fold(first, also) == begun.state
    assert resume_run(begun.state, library, model=Breaking(-1), match="types").content == "Done."
    assert sorted(worked) == [1, 2, 3]


@either_way
def test_what_a_model_or_an_approver_raises_is_the_cause_and_the_state_is_kept(
    blocking: bool,
) -> None:
    error = OSError("no")

    def approve(ask: machine.Ask) -> bool:
        raise error

    for model, options in (
        (ScriptedModel([error]), {}),
        (ScriptedModel([asking(1)]), {"approve": approve}),
    ):
        begun = begin(AGENT, "hi", DOUBLE, model=model, match="types", **options)  # type: ignore[arg-type]  # one of both
        with pytest.raises(interp.AgentError, match="failed: OSError: no") as caught:
            go_on(begun, blocking)

        assert caught.value.__cause__ is error
        assert caught.value.state is begun.state
        assert begun.state.status in (machine.Status.AWAITING_MODEL, machine.Status.AWAITING_TOOLS)


@either_way
def test_a_model_that_raises_half_way_through_a_stream_is_a_model_error(blocking: bool) -> None:
    class Breaking:
        def complete(self, request: machine.Request) -> str:
            return "never"

        def stream(self, request: machine.Request) -> Iterator[str]:
            yield "Hel"
            raise ConnectionResetError("gone")

    with pytest.raises(interp.ModelError, match="the model failed: ConnectionResetError: gone"):
        watched(begin(AGENT, "hi", DOUBLE, model=Breaking(), match="types"), blocking)


def test_a_model_that_cancels_its_own_task_is_a_model_error() -> None:
    class Cancelling:
        def complete(self, request: machine.Request) -> str:
            return "never"

        async def acomplete(self, request: machine.Request) -> str:
            raise asyncio.CancelledError

    begun = begin(AGENT, "hi", DOUBLE, model=Cancelling(), match="types")
    with pytest.raises(interp.ModelError, match="cancelled its own task") as caught:
        go_on(begun, False)

    assert caught.value.state is begun.state


def test_a_coroutine_that_blocks_its_loop_delays_no_other_tool() -> None:
    async def work(n: int) -> int:
        if n == 1:
            time.sleep(0.5)
        return n

    response = interp.run(
        AGENT, "hi", aworking(work), model=ScriptedModel([asking(1, 2, 3), "Done."]),
        match="types", limits=Limits(tool_seconds=0.2),
    )  # fmt: skip

    assert [each.result for each in response.tools_used] == [None, 2, 3]


# --- tools that raise


def test_what_a_tool_raised_is_kept_for_programs_and_its_traceback_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    error = ZeroDivisionError("by zero")
    events: list[machine.Event] = []
    begun = begin(
        AGENT, "hi", working(raising(error)), model=ScriptedModel([asking(1), "Done."]),
        match="types", observe=lambda _, event: events.append(event),
    )  # fmt: skip

    with caplog.at_level(logging.WARNING, "interp"):
        response = begun.finish()

    (invocation,) = response.tools_used
    assert invocation.exception is error
    assert [each.exception for each in events if isinstance(each, machine.CallFailed)] == [error]
    assert "Traceback (most recent call last)" in caplog.text
    assert "ZeroDivisionError: by zero" in caplog.text
    kept = pickle.loads(pickle.dumps(begun.state))
    assert kept == begun.state
    assert kept.frame.calls_made[0].exception is None


def test_a_tool_that_raises_can_stop_the_run_instead() -> None:
    error = ZeroDivisionError("by zero")
    model = ScriptedModel([asking(1), "Done."])
    begun = begin(
        AGENT, "hi", working(raising(error)), model=model, match="types", on_tool_error="raise"
    )

    with pytest.raises(interp.ToolError, match="ZeroDivisionError: by zero") as caught:
        begun.finish()

    assert caught.value.__cause__ is error
    assert caught.value.state is begun.state
    response = resume_run(begun.state, DOUBLE, model=model, match="types")
    assert [each.result for each in response.tools_used] == [2]


# --- nothing twice


@pytest.mark.parametrize("blocks", [True, False])
def test_a_tool_that_ends_while_the_run_is_being_stopped_does_not_run_again(blocks: bool) -> None:
    worked: list[int] = []
    stopping = threading.Event()

    def work(n: int) -> int:
        stopping.wait(5)
        worked.append(n)
        return n

    async def work_later(n: int) -> int:
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:  # it has been done and cannot be undone
            worked.append(n)
        return n

    library = working(work) if blocks else aworking(work_later)

    async def cancelled() -> Run:
        begun = begin(AGENT, "hi", library, model=ScriptedModel([asking(1, 2)]), match="types")
        task = asyncio.create_task(begun.afinish())
        while not begun.state.frame.waiting:
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.05)
        task.cancel()
        stopping.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(asyncio.all_tasks()) == 1
        return begun

    begun = asyncio.run(cancelled())
    model = ScriptedModel(["Done."])
    response = resume_run(begun.state, library, model=model, match="types")

    assert [each.result for each in response.tools_used] == [1, 2]
    assert sorted(worked) == [1, 2]


@either_way
def test_a_tool_that_ends_when_the_time_of_the_run_is_up_does_not_run_again(blocking: bool) -> None:
    worked: list[int] = []

    async def work(n: int) -> int:
        try:
            await asyncio.sleep(5 if n == 2 else 0)
        except asyncio.CancelledError:
            if not blocking:
                worked.append(n)
                return n
            raise
        worked.append(n)
        return n

    limits = Limits(run_seconds=0.3)
    begun = begin(
        AGENT, "hi", aworking(work), model=ScriptedModel([asking(1, 2)]), match="types",
        limits=limits,
    )  # fmt: skip
    with pytest.raises(interp.LimitError):
        go_on(begun, blocking)

    response = resume_run(
        begun.state, DOUBLE, model=ScriptedModel(["Done."]), limits=Limits(), match="types"
    )
    assert worked == ([1] if blocking else [1, 2])
    assert [each.result for each in response.tools_used] == ([1, 4] if blocking else [1, 2])


# --- models as they are written


scope: ContextVar[str] = ContextVar("scope", default="outside")


class Scoped:
    """A model whose stream uses context variables, timeouts and cancel scopes around yields."""

    def __init__(self) -> None:
        self.closed: list[bool] = []

    def complete(self, request: machine.Request) -> str:
        return "One two three."

    def stream(self, request: machine.Request) -> Iterator[str]:
        token = scope.set("inside")
        thread = threading.get_ident()
        try:
            for word in ("One ", "two ", "three."):
                yield word
                assert scope.get() == "inside"
        finally:
            scope.reset(token)
            self.closed.append(thread == threading.get_ident())


class AsyncScoped(Scoped):
    """The same for those that do not block."""

    async def astream(self, request: machine.Request) -> AsyncIterator[str]:
        token = scope.set("inside")
        task = asyncio.current_task()
        try:
            async with asyncio.timeout(5):
                with anyio.fail_after(5):
                    for word in ("One ", "two ", "three."):
                        yield word
                        await asyncio.sleep(0)
                        assert scope.get() == "inside"
        finally:
            scope.reset(token)
            self.closed.append(task is asyncio.current_task())


@pytest.mark.parametrize(
    ("model", "blocking"), [(Scoped(), True), (Scoped(), False), (AsyncScoped(), False)]
)
@pytest.mark.parametrize("seen", [1, 2, None])
def test_a_stream_runs_in_one_task_thread_and_context(
    model: Scoped, blocking: bool, seen: int | None
) -> None:
    model.closed.clear()

    async def some(begun: Run) -> list[Any]:
        observations = begun.astream()
        found = []
        async for each in observations:
            found.append(each)
            if len(found) == seen:
                break
        await observations.aclose()  # type: ignore[attr-defined]  # a generator
        return found

    begun = begin(AGENT, "hi", DOUBLE, model=model, match="types")
    if blocking:
        stream = begun.stream()
        found = [each for each, _ in zip(stream, range(seen or 9), strict=False)]
        stream.close()  # type: ignore[attr-defined]  # a generator
    else:
        found = asyncio.run(some(begun))

    ended = time.monotonic() + 5
    while not model.closed and time.monotonic() < ended:
        time.sleep(0.01)
    assert model.closed == [True]
    words = [each.text for each in found if isinstance(each, TextDelta)]
    assert words == ["One ", "two ", "three."][:seen]


# --- what people see


@either_way
def test_what_is_said_before_calls_is_reported_before_anything_is_asked(blocking: bool) -> None:
    seen: list[Any] = []

    def approve(ask: machine.Ask) -> bool:
        seen.append("asked")
        return True

    reply = {**asking(1), "content": "I will work."}
    begun = begin(
        AGENT, "hi", DOUBLE, model=ScriptedModel([reply, "Done."]), match="types",
        policy=interp.ask_all, approve=approve,
    )  # fmt: skip

    async def collect() -> None:
        async for each in begun.astream():
            seen.append(each)

    if blocking:
        for each in begun.stream():
            seen.append(each)
    else:
        asyncio.run(collect())

    said = SaidBeforeCalls((0,), "I will work.")
    words = [each for each in seen if isinstance(each, TextDelta) and each.at == (0,)]
    assert seen.count(said) == 1
    assert seen.index(words[-1]) < seen.index(said) < seen.index("asked")


@either_way
def test_every_call_is_seen_with_what_the_model_was_told(blocking: bool) -> None:
    reply = tool_calls(
        ("a", "work", {"n": 1}), ("b", "work", {"n": "x"}), ("c", "nope", {}), ("d", "work", "{")
    )
    begun = begin(AGENT, "hi", DOUBLE, model=ScriptedModel([reply, "Done."]), match="types")

    seen = watched(begun, blocking)

    assert [each.call.at for each in seen if isinstance(each, interp.ToolStarted)] == [(0, 0)]
    finished = {each.at: each.invocation for each in seen if isinstance(each, interp.ToolFinished)}
    assert sorted(finished) == [(0, index) for index in range(4)]
    assert tuple(finished[0, index] for index in range(4)) == tuple(begun.state.tools_used)
    told = [message.content for message in begun.state.context if message.call_id]
    assert [finished[0, n].error for n in (1, 2, 3)] == [
        text.removeprefix("error: ") for text in told[1:]
    ]


def test_an_answer_that_was_cut_off_says_so() -> None:
    cut = {"choices": [{"message": {"content": "It is"}, "finish_reason": "length"}]}
    whole = {"choices": [{"message": {"content": "It is."}, "finish_reason": "stop"}]}
    for reply, truncated in ((cut, True), (whole, False)):
        begun = begin(AGENT, "hi", DOUBLE, model=ScriptedModel([reply]), match="types")
        assert begun.finish().truncated is truncated


# --- time and threads


class Chattering:
    """A model that never stops talking."""

    def complete(self, _: machine.Request) -> str:
        return "never asked"

    def stream(self, _: machine.Request) -> Iterator[str]:
        while True:
            yield "la "

    async def astream(self, _: machine.Request) -> AsyncIterator[str]:
        while True:
            yield "la "
            await asyncio.sleep(0)


@either_way
def test_the_time_of_a_run_holds_although_the_model_never_stops_talking(blocking: bool) -> None:
    limits = Limits(run_seconds=0.1)
    begun = begin(AGENT, "hi", DOUBLE, model=Chattering(), match="types", limits=limits)
    with pytest.raises(interp.LimitError, match="run_seconds"):
        watched(begun, blocking)
