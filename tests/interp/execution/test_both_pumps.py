"""Runs of any script: both pumps do the same, and a State is its events folded over its start."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Iterable
from typing import Any

import pytest
from attrs import define, field
from hypothesis import given, settings, strategies as st

from gram import loads_one
from interp import (
    AgentError,
    ApprovalNeeded,
    ApprovalPolicy,
    ApprovalRule,
    Ask,
    AssistantRole,
    CallTool,
    Limits,
    Request,
    Resumed,
    Run,
    State,
    Status,
    ToolContext,
    ToolLibrary,
    begin,
    fold,
    start,
    step,
    tool,
)
from interp.execution.scheduling import startable
from tests.interp.model_server import tool_calls

AGENT = loads_one(
    """
    [a:Agent {instruction: "Help.", model: "OpenAI/x"} |
      [add:Tool {description: "Adds"} | (n::Integer)==>(::Integer)],
      [fail:Tool {description: "Fails"} | (n::Integer)==>(::Integer)],
      [send:Tool {description: "Sends"} | (n::Integer)==>(::Any)]]
    """
)


@define
class Script:
    """A model that answers by how often it has been asked in the conversation."""

    replies: list[Any]
    asked: list[Request] = field(factory=list)

    def complete(self, request: Request) -> Any:
        self.asked.append(request)
        turn = sum(message.role == AssistantRole for message in request.messages)
        return self.replies[turn] if turn < len(self.replies) else "Done."


@define
class World:
    """Tools that remember what they did, and a person with an answer for each call."""

    answers: dict[Any, Any]
    done: list[Any] = field(factory=list)

    def library(self) -> ToolLibrary:
        @tool
        def add(n: int) -> int:
            """Adds"""
            self.done.append(("add", n))
            return n + 1

        @tool
        async def fail(n: int) -> int:
            """Fails"""
            await asyncio.sleep(0)
            self.done.append(("fail", n))
            raise ValueError(n)

        @tool
        def send(n: int) -> Any:
            """Sends"""
            self.done.append(("send", n))
            return {"sent": n}

        return ToolLibrary.of([add, fail, send])

    def approve(self, ask: Ask) -> Any:
        return self.answers.get(ask.at, True)


calls = st.tuples(
    st.sampled_from(["add", "fail", "send", "unknown"]),
    st.sampled_from([{"n": 1}, {"n": 2}, {"n": "wrong"}, {}]),
)
rounds = st.lists(calls, min_size=1, max_size=4).map(
    lambda made: tool_calls(*((f"c{i}", name, args) for i, (name, args) in enumerate(made)))
)
scripts = st.lists(rounds, max_size=3)
positions = st.tuples(st.integers(0, 3), st.integers(0, 3))
people = st.dictionaries(positions, st.sampled_from([True, False, None, "not now"]), max_size=8)
rules = st.builds(
    ApprovalRule,
    st.sampled_from(["allow", "ask", "deny"]),
    st.sampled_from(["add", "fail", "send", "*"]),
)
policies = st.builds(ApprovalPolicy, st.lists(rules, max_size=3), st.sampled_from(["allow", "ask"]))
limits = st.builds(
    Limits,
    iterations=st.integers(0, 4),
    tool_calls=st.integers(0, 8),
    calls_per_tool=st.integers(0, 6),
    on_limit=st.sampled_from(["raise", "answer"]),
)


def driven(run: Run, *, blocking: bool) -> tuple[str, bool]:
    """How a run ends: its answer or the kind of error, and whether that has the run's state."""
    try:
        response = run.finish() if blocking else asyncio.run(run.afinish())
    except AgentError as error:
        return type(error).__name__, error.state is run.state
    return response.content, True


@define
class Recording:
    """A watcher that keeps the events and the states they led to."""

    events: list[Any] = field(factory=list)
    states: list[State] = field(factory=list)

    def __call__(self, _: Any, event: Any, state: State) -> None:
        self.events.append(event)
        self.states.append(state)


@settings(max_examples=60)
@given(scripts, policies, people, limits)
def test_both_pumps_end_in_equal_states_which_are_their_events(
    script: list[Any], policy: ApprovalPolicy, answers: dict[Any, Any], allowed: Limits
) -> None:
    ends = []
    for blocking in (True, False):
        world, recording = World(answers), Recording()
        options: Any = {"model": Script(script), "match": "types", "watch": recording}
        first = begin(
            AGENT, "hi", world.library(), policy=policy, approve=world.approve, limits=allowed,
            **options,
        )  # fmt: skip
        begun = first.state
        how = driven(first, blocking=blocking)
        stopped = first.state

        world.answers = {}  # now everything that was left open is approved
        again = Run(
            pickle.loads(pickle.dumps(stopped)), world.library(), approve=world.approve,
            limits=Limits(), settings={"temperature": 0.5}, policy=ApprovalPolicy(), **options,
        )  # fmt: skip
        then = driven(again, blocking=blocking)

        events = recording.events
        assert fold(begun, events) == again.state
        assert [fold(begun, events[: i + 1]) for i in range(len(events))] == recording.states
        assert again.state.limits == Limits()
        ends.append((how, stopped, then, again.state, sorted(world.done)))

    assert ends[0] == ends[1]
    assert ends[0][0][1]
    assert ends[0][3].status is Status.DONE
    made = [("unknown" if each.error else "run") for each in ends[0][3].invocations]
    assert len(made) == sum(len(reply["tool_calls"]) for reply in script)


@settings(max_examples=60)
@given(st.lists(st.booleans(), max_size=6), st.lists(st.booleans(), max_size=3))
def test_everything_but_questions_may_begin_and_questions_one_at_a_time(
    waiting: list[bool], under_way: list[bool]
) -> None:
    def effects(kinds: Iterable[bool], turn: int) -> list[Any]:
        return [
            (Ask if asks else CallTool)((turn, index), "add", "{}")
            for index, asks in enumerate(kinds)
        ]

    found = startable(effects(waiting, 0), effects(under_way, 1))

    asks = [each for each in found if isinstance(each, Ask)]
    assert [each for each in found if each not in asks] == [
        each for each in effects(waiting, 0) if not isinstance(each, Ask)
    ]
    assert len(asks) == (any(waiting) and not any(under_way))
    assert found == sorted(found, key=lambda each: (isinstance(each, Ask), each.at))


@pytest.mark.parametrize("blocking", [True, False])
def test_what_needs_no_approval_and_what_is_approved_runs_before_a_run_stops(
    blocking: bool,
) -> None:
    asked = []

    def approve(ask: Ask) -> bool | None:
        asked.append(ask.at)
        return None if ask.at == (0, 0) else True

    world = World({})
    reply = tool_calls(
        *((f"c{i}", name, {"n": i}) for i, name in enumerate(("send", "add", "send")))
    )
    run = begin(
        AGENT, "hi", world.library(), model=Script([reply]), match="types", approve=approve,
        policy=ApprovalPolicy([ApprovalRule("allow", "add")], "ask"),
    )  # fmt: skip

    with pytest.raises(ApprovalNeeded, match=r"approval of send\(n: 0\)$"):
        run.finish() if blocking else asyncio.run(run.afinish())

    assert asked == [(0, 0), (0, 2)]
    assert sorted(world.done) == [("add", 1), ("send", 2)]
    assert [ask.at for ask in run.state.asks] == [(0, 0)]


def test_what_the_caller_changes_on_resuming_is_an_event() -> None:
    state, _ = start(AGENT, "hi")
    events: list[Any] = []

    again = Run(
        state, World({}).library(), model="OpenAI/y", limits=Limits(iterations=3),
        policy=ApprovalPolicy(otherwise="deny"), settings={"seed": 1}, check_results=False,
        base_url="http://localhost:1", match="types",
        watch=lambda effect, event, _: events.append((effect, event)),
    )  # fmt: skip

    ((effect, event),) = events
    assert effect is None
    assert isinstance(event, Resumed)
    assert step(state, event)[0] == again.state
    assert str(again.state.model) == "OpenAI/y"
    assert again.state.model_settings.get("seed") == 1
    (ask,) = step(state, event)[1]
    assert str(ask.request.model) == "OpenAI/y"  # type: ignore[union-attr]  # the model is asked


def test_a_run_that_goes_on_as_it_was_has_no_event_of_that() -> None:
    events: list[Any] = []
    run = begin(AGENT, "hi", World({}).library(), model=Script([]), match="types")

    Run(run.state, World({}).library(), model=Script([]), match="types", watch=events.append)

    assert events == []


# --- the key of a call


@pytest.mark.parametrize("blocking", [True, False])
def test_a_call_that_runs_again_has_the_same_key_and_no_other_call_has_it(blocking: bool) -> None:
    keys: list[tuple[int, str]] = []

    @tool
    def send(n: int, context: ToolContext) -> Any:
        """Sends"""
        keys.append((n, context.key))
        if len(keys) == 2:
            raise KeyboardInterrupt
        return n

    library = ToolLibrary.of([send, *map(World({}).library().get, ("add", "fail"))])  # type: ignore[list-item]  # both are there
    reply = tool_calls(*((f"c{n}", "send", {"n": n}) for n in range(3)))

    def go_on(run: Run) -> None:
        run.finish() if blocking else asyncio.run(run.afinish())

    runs = [begin(AGENT, "hi", library, model=Script([reply]), match="types") for _ in range(2)]
    with pytest.raises(KeyboardInterrupt):
        go_on(runs[0])
    kept = pickle.loads(pickle.dumps(runs[0].state))
    go_on(Run(kept, library, model=Script([reply]), match="types"))
    go_on(runs[1])

    first = {key for n, key in keys if n == 1}
    assert len({key for _, key in keys}) == 6
    assert len(first) == 2  # one for each of the two runs
