"""Steps that nobody watches are taken in one thread, with the same limits of time."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

import pytest

from gram import Pattern, loads_one
from interp import (
    AssistantRole,
    LimitError,
    Limits,
    Message,
    ScriptedModel,
    Tool,
    ToolCall,
    ToolLibrary,
    begin,
    resume_run,
    run,
    tool,
)
from interp.machine import Status, ask_all

AGENT = loads_one(
    """[counter:Agent {instruction: "Count.", model: "OpenAI/x"} |
      [work:ToolSpecification {description: "Works"} | (n::Integer)==>(::Integer)]]"""
)


def asking(*numbers: int) -> Message:
    """A reply that calls the tool with each of some numbers."""
    calls = [ToolCall(f"call_{n}", "work", f'{{"n": {n}}}') for n in numbers]
    return Message(AssistantRole, "", calls)


def doing(function: Callable[[int], int]) -> ToolLibrary:
    """A library whose tool does something with its number."""

    @tool(name="work", description="Works")
    def work(n: int) -> int:
        return function(n)

    return ToolLibrary.of([work])


class Slow:
    """A model that answers when it is allowed to."""

    def __init__(self) -> None:
        self.may_answer = threading.Event()

    def complete(self, _: object) -> str:
        self.may_answer.wait(60)
        return "Hello."


def ran(agent: Pattern, library: ToolLibrary, *replies: Any, **options: Any) -> Any:
    """The response of a run with these replies."""
    return run(agent, "hi", library, model=ScriptedModel(replies), match="types", **options)


def test_all_steps_are_taken_in_one_thread() -> None:
    seen: list[int] = []

    def work(n: int) -> int:
        seen.append(threading.get_ident())
        return n

    class Model(ScriptedModel):
        def complete(self, request: Any) -> Any:
            seen.append(threading.get_ident())
            return super().complete(request)

    run(AGENT, "hi", doing(work), model=Model([asking(1, 2), "Done."]), match="types")

    assert len(seen) == 4
    assert len(set(seen)) == 1
    assert threading.get_ident() not in seen


class Tools(list[Tool]):
    """Tools that do something when a run that begins looks at them."""

    def __init__(self, look: Callable[[], object]) -> None:
        super().__init__([*doing(abs).values()])
        self._look = look

    def __iter__(self) -> Iterator[Tool]:
        self._look()
        return super().__iter__()


def test_a_run_begins_in_the_thread_that_takes_its_steps() -> None:
    seen: list[int] = []

    class Model(ScriptedModel):
        def complete(self, request: Any) -> Any:
            seen.append(threading.get_ident())
            return super().complete(request)

    tools = Tools(lambda: seen.append(threading.get_ident()))
    run(AGENT, "hi", tools, model=Model(["Done."]), match="types")

    assert len(seen) >= 2
    assert len(set(seen)) == 1
    assert threading.get_ident() not in seen


def test_a_run_that_is_interrupted_while_it_begins_asks_no_model() -> None:
    released = threading.Event()
    main = threading.main_thread().ident or 0

    def interrupt() -> None:
        signal.pthread_kill(main, signal.SIGINT)
        released.wait(60)

    model = ScriptedModel(["Done."])
    with pytest.raises(KeyboardInterrupt):
        run(AGENT, "hi", Tools(interrupt), model=model, match="types")
    released.set()
    time.sleep(0.05)

    assert model.requests == []


def test_a_watched_run_takes_its_steps_in_the_thread_of_its_caller() -> None:
    told: list[int] = []

    ran(
        AGENT, doing(abs), asking(1), "Done.", observe=lambda *_: told.append(threading.get_ident())
    )

    assert set(told) == {threading.get_ident()}


def test_a_tool_that_takes_too_long_is_left_behind_and_the_others_go_on() -> None:
    released = threading.Event()
    calls: list[int] = []

    def work(n: int) -> int:
        calls.append(n)
        if n == 2:
            released.wait(60)
        return n

    limits = Limits(tool_seconds=0.5)
    response = ran(AGENT, doing(work), asking(1, 2, 3), "Done.", limits=limits)
    released.set()

    told = [each.error or each.result for each in response.tools_used]
    assert told == [1, 'tool "work" did not answer within 0.5 s', 3]
    assert calls == [1, 2, 3]


def test_what_a_tool_left_behind_returns_changes_nothing() -> None:
    released, ended = threading.Event(), threading.Event()

    def work(n: int) -> int:
        released.wait(60)
        ended.set()
        return n

    model = ScriptedModel([asking(1), "Done."])
    begun = begin(
        AGENT, "hi", doing(work), model=model, match="types", limits=Limits(tool_seconds=0.05)
    )
    response = begun.finish()
    state = begun.state
    released.set()
    assert ended.wait(60)
    time.sleep(0.05)

    assert response.tools_used[0].error
    assert begun.state is state
    assert len(model.requests) == 2


def test_a_model_that_takes_too_long_ends_the_run_where_it_stood() -> None:
    model = Slow()
    with pytest.raises(LimitError, match="run_seconds") as caught:
        run(AGENT, "hi", doing(abs), model=model, match="types", limits=Limits(run_seconds=0.1))
    model.may_answer.set()

    state = caught.value.state
    assert state is not None
    assert state.status is Status.LIMITED
    resumed = resume_run(state, doing(abs), model=model, match="types", limits=Limits())
    assert resumed.content == "Hello."


def test_questions_are_asked_in_the_thread_of_the_caller_between_the_steps() -> None:
    asked: list[int] = []

    def approve(_: object) -> bool:
        asked.append(threading.get_ident())
        return True

    response = ran(
        AGENT, doing(abs), asking(1, 2), asking(3), "Done.", policy=ask_all, approve=approve
    )

    assert [each.result for each in response.tools_used] == [1, 2, 3]
    assert asked == [threading.get_ident()] * 3


def test_each_effect_has_a_context_of_its_own() -> None:
    seen: ContextVar[int] = ContextVar("seen", default=0)
    found: list[int] = []

    def work(n: int) -> int:
        found.append(seen.get())
        seen.set(n)
        return n

    token = seen.set(7)
    try:
        ran(AGENT, doing(work), asking(1, 2), "Done.")
    finally:
        seen.reset(token)

    assert found == [7, 7]
