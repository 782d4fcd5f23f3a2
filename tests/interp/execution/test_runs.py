"""Runs: what hangs, fails or is interrupted leaves a state from which the run goes on."""

from __future__ import annotations

import asyncio
import pickle
import threading
from collections.abc import Callable
from typing import Any

import pytest

import interp
from interp import Limits, begin
from interp.machine import Request, State, Status
from tests.interp.one_tool import AGENT, DOUBLE, asking, aworking, by_run, either_driver, working

# --- tools that fail


def raising(error: BaseException) -> Callable[[int], Any]:
    def work(n: int) -> Any:
        raise error

    return work


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (raising(ValueError("no")), 'tool "work" failed: ValueError: no'),
        (raising(SystemExit(3)), 'tool "work" failed: SystemExit: 3'),
        (raising(TimeoutError()), 'tool "work" failed: TimeoutError'),
        (raising(OSError("\udcff")), "\\udcff"),
        (lambda n: object(), 'tool "work" returned what is not JSON'),
    ],
)
def test_a_tool_that_fails_is_reported_to_the_model_and_the_run_goes_on(
    function: Any, message: str
) -> None:
    schema = working(function)["work"].schema
    work = interp.create_tool("work", "Works", schema, lambda _: function(1))
    response = by_run(interp.ToolLibrary.of([work]), [asking(1), "Done."])
    assert message in response.tools_used[0].error
    assert response.content == "Done."


@either_driver
def test_a_coroutine_that_hangs_is_cancelled(drive: Any) -> None:
    library = aworking(lambda n: asyncio.sleep(60 if n == 1 else 0))
    response = drive(library, [asking(1, 2), "Done."], limits=Limits(tool_seconds=0.05))
    assert response.tools_used[0].error == 'tool "work" did not answer within 0.05 s'


@either_driver
def test_a_tool_may_run_an_agent_itself(drive: Any) -> None:
    def work(n: int) -> str:
        return by_run(DOUBLE, [asking(n), f"inner {n}"]).content

    response = drive(working(work), [asking(1, 2), "Done."])

    assert [each.result for each in response.tools_used] == ["inner 1", "inner 2"]


@either_driver
def test_ctrl_c_in_a_tool_is_the_users(drive: Any) -> None:
    with pytest.raises(KeyboardInterrupt):
        drive(working(raising(KeyboardInterrupt())), [asking(1), "Done."])


# --- time


IS_GIVEN_UP = threading.Event()


class Slow:
    """A model that answers only once it is given up."""

    def complete(self, request: Request) -> str:
        assert IS_GIVEN_UP.wait(60)
        return "late"


class Stalled:
    """A model that begins to speak and stops."""

    def complete(self, request: Request) -> str:
        raise AssertionError("it is only streamed")

    def stream(self, request: Request) -> Any:
        yield "Hel"
        assert IS_GIVEN_UP.wait(60)
        yield "lo"


def test_a_model_that_takes_too_long_stops_the_run() -> None:
    limits = Limits(run_seconds=0.05)

    async def watched() -> None:
        async for _ in begin(AGENT, "hi", DOUBLE, model=Stalled(), limits=limits).astream():
            pass

    for attempt in (
        lambda: interp.run(AGENT, "hi", DOUBLE, model=Slow(), limits=limits),
        lambda: asyncio.run(interp.arun(AGENT, "hi", DOUBLE, model=Slow(), limits=limits)),
        lambda: list(begin(AGENT, "hi", DOUBLE, model=Stalled(), limits=limits).stream()),
        lambda: asyncio.run(watched()),
    ):
        IS_GIVEN_UP.clear()
        with pytest.raises(
            interp.LimitError, match=r"0\.05 seconds \(limit: run_seconds\)"
        ) as caught:
            attempt()

        IS_GIVEN_UP.set()
        assert caught.value.state is not None
        assert caught.value.state.status is Status.LIMITED
        resumed = interp.resume_run(caught.value.state, DOUBLE, model=interp.ScriptedModel(["On."]))
        assert resumed.content == "On."


@pytest.mark.parametrize(
    "limits", [Limits(tool_seconds=1e10), Limits(run_seconds=1e308), Limits(tool_seconds=10**300)]
)
def test_a_limit_may_be_longer_than_threads_can_wait(limits: Limits) -> None:
    assert by_run(DOUBLE, REPLIES, limits=limits).content == by_run(DOUBLE, REPLIES).content


# --- going on


REPLIES = [asking(1, 2), asking(3), "Done."]


class Breaking:
    """A model that answers by the length of the conversation, and fails where it is told to."""

    def __init__(self, broken: int) -> None:
        self.broken = broken

    def complete(self, request: Request) -> Any:
        turn = sum(bool(message.tool_calls) for message in request.messages)
        if turn == self.broken:
            self.broken = -1
            raise interp.ModelError("oops")
        return REPLIES[turn]


def test_a_run_goes_on_from_any_state_it_was_ever_in() -> None:
    states: list[State] = []

    def watch(effect: Any, event: Any, step: Any) -> None:
        states.append(step.state)

    whole = begin(AGENT, "hi", DOUBLE, model=Breaking(-1), match="types", watch=watch)
    states.append(whole.state)
    expected = whole.finish()

    assert len(states) == 7
    for state in states:
        kept = pickle.loads(pickle.dumps(state))
        assert kept == state
        again = interp.Run(kept, DOUBLE, model=Breaking(-1), match="types")
        assert asyncio.run(again.afinish()) == expected
        assert again.state == whole.state


@either_driver
@pytest.mark.parametrize("broken", [0, 1, 2])
def test_a_model_that_fails_at_any_step_leaves_a_state_to_go_on_from(
    drive: Any, broken: int
) -> None:
    expected = by_run(DOUBLE, REPLIES)
    model = Breaking(broken)
    begun = begin(AGENT, "hi", DOUBLE, model=model, match="types")

    with pytest.raises(interp.ModelError) as caught:
        begun.finish() if drive is by_run else asyncio.run(begun.afinish())

    assert caught.value.state is begun.state
    assert begun.finish() == expected
    state = caught.value.state
    assert state is not None
    assert interp.resume_run(state, DOUBLE, model=model, match="types") == expected


def test_errors_before_a_run_has_begun_have_no_state() -> None:
    with pytest.raises(interp.ConfigurationError) as caught:
        interp.run(AGENT, "hi", DOUBLE, match="types")
    assert caught.value.state is None
    assert isinstance(caught.value, interp.AgentError)
