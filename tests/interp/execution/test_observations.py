"""What is seen of the agents and workflows inside a run: when they begin and how they end."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import strategies as st

import interp
from gram import Pattern, parse
from interp.execution import AgentFinished, AgentStarted
from interp.history import from_pattern, to_pattern
from tests.by_day import given_few
from tests.interp.execution.test_runs_of_workflows import BOSS, call
from tests.interp.machine.test_any_order import Replies, library_of, read, workflows

STEPS = parse(
    """
    [w:Workflow | (look)-->(again::writer), (look)-->(check)]
    [look:Tool {description: "Looks"} | (x::String)==>(::String)]
    [check:Tool {description: "Checks"} | (x::String)==>(::String)]
    (writer:Agent {instruction: "writer", model: "A/2"})
    """
)


def tools(**does: Callable[[str], str]) -> interp.ToolLibrary:
    """A library of tools that take one text."""

    def made(name: str, function: Callable[[str], str]) -> interp.Tool:
        parameter = "to" if name == "send" else "x"
        schema = {"type": "object", "properties": {parameter: {"type": "string"}}}
        return interp.Tool(name, name, schema, lambda args: function(args[parameter]))

    return interp.ToolLibrary.of(made(name, function) for name, function in does.items())


def seen_in(run: interp.Run, *, later: bool) -> list[interp.Observation]:
    """All that there is to see of a run, by one of the two pumps."""

    async def read_all() -> list[interp.Observation]:
        return [each async for each in run.astream()]

    return asyncio.run(read_all()) if later else list(run.stream())


def passages(seen: list[interp.Observation]) -> list[tuple[bool, tuple[int | str, ...], str]]:
    """What began (true) and ended, with its place and name, in order."""
    kinds = (AgentStarted, AgentFinished)
    found = [each for each in seen if isinstance(each, kinds)]
    return [(isinstance(each, AgentStarted), each.at, each.name) for each in found]


@pytest.mark.parametrize("later", [False, True])
def test_an_agent_that_is_called_begins_and_ends(later: bool) -> None:
    replies = [call("helper", '{"input": "go"}'), call("send", '{"to": "a"}'), "Sent.", "Done."]
    run = interp.begin(
        BOSS, "hi", tools(send=str.upper), model=interp.ScriptedModel(replies), match="name"
    )

    seen = seen_in(run, later=later)

    assert passages(seen) == [(True, (0, 0), "helper"), (False, (0, 0), "helper")]
    (ended,) = [each for each in seen if isinstance(each, AgentFinished)]
    assert (ended.result, ended.error) == ("Sent.", None)
    made = [each.invocation for each in seen if isinstance(each, interp.ToolFinished)]
    assert [(each.agent_name, each.at) for each in made] == [
        ("helper", (0, 0, 0, 0)),
        ("boss", (0, 0)),
    ]


def test_steps_that_are_tools_have_their_answers_shown() -> None:
    library = tools(look=str.upper, check=str.lower)
    run = interp.begin(STEPS, "Ab", library, model=interp.ScriptedModel(["written"]), match="name")

    seen = list(run.stream())

    made = [each.invocation for each in seen if isinstance(each, interp.ToolFinished)]
    assert {(each.agent_name, each.at, each.result) for each in made} == {
        ("w", ("look",), "AB"),
        ("w", ("check",), "ab"),
    }
    assert passages(seen) == [(True, ("again",), "writer"), (False, ("again",), "writer")]


@pytest.mark.parametrize("later", [False, True])
def test_what_is_let_go_when_a_step_fails_has_ended(later: bool) -> None:
    def broken(_: str) -> str:
        raise ValueError("broke")

    program = parse(
        """
        [w:Workflow | [inner:Workflow | check, writer]]
        [check:Tool {description: "Checks"} | (x::String)==>(::String)]
        (writer:Agent {instruction: "writer", model: "A/2"})
        """
    )
    seen: list[interp.Observation] = []
    model = Waits()
    run = interp.begin(program, "x", tools(check=broken), model=model, match="name")

    async def read_on() -> None:
        async for each in run.astream():
            seen.append(each)
            if isinstance(each, AgentFinished):
                model.may_end.set()

    with pytest.raises(interp.WorkflowError, match="broke"):  # noqa: PT012  # one of the two pumps
        if later:
            asyncio.run(read_on())
        else:
            seen.extend(run.stream())

    told = [type(each) for each in seen if isinstance(each, interp.ToolFinished | AgentFinished)]
    assert told == [interp.ToolFinished, AgentFinished, AgentFinished]
    ended = [each for each in seen if isinstance(each, AgentFinished)]
    assert [(each.at, (each.error or "")[:11]) for each in ended] == [
        (("inner", "writer"), "not waited "),
        (("inner",), 'step "check'),
    ]


class Waits:
    """A model that takes longer than any tool: until it is told that it may end."""

    def __init__(self) -> None:
        self.may_end = asyncio.Event()

    def complete(self, request: object) -> str:
        """Say something."""
        return "written"

    async def acomplete(self, request: object) -> str:
        """Say something, too late."""
        await self.may_end.wait()
        return "written"


def test_a_run_that_goes_on_shows_first_what_is_under_way() -> None:
    replies = [call("helper", '{"input": "go"}'), call("send", '{"to": "a"}')]
    library, limits = tools(send=str.upper), interp.Limits(tool_calls=1)
    run = interp.begin(
        BOSS, "hi", library, model=interp.ScriptedModel(replies), match="name", limits=limits
    )
    with pytest.raises(interp.LimitError):
        run.finish()

    rest = interp.ScriptedModel(["Sent.", "Done."])
    seen = list(
        interp.Run(run.state, library, model=rest, match="name", limits=interp.Limits()).stream()
    )

    assert passages(seen) == [(True, (0, 0), "helper"), (False, (0, 0), "helper")]


@given_few(workflows().map(read), st.randoms(use_true_random=False), st.booleans())
def test_what_begins_ends_once_inside_what_is_around_it(
    program: Pattern, random: Random, later: bool
) -> None:
    options: Any = {"model": Replies(random), "match": "name"}

    seen = passages(
        seen_in(interp.begin(program, "x", library_of(program), **options), later=later)
    )

    open_now: list[tuple[int | str, ...]] = []
    for is_begun, at, _ in seen:
        if is_begun:
            assert at not in open_now
            open_now.append(at)
        else:
            open_now.remove(at)
            assert not [each for each in open_now if each[: len(at)] == at]
    assert not open_now
    assert len({at for is_begun, at, _ in seen if is_begun}) == len(seen) / 2


def test_who_made_a_call_is_kept_in_pickles_and_patterns() -> None:
    replies = [call("send", '{"to": "a"}'), "Sent."]
    options: Any = {"model": interp.ScriptedModel(replies), "match": "name", "agent": "helper"}
    (made,) = interp.begin(BOSS, "hi", tools(send=str.upper), **options).finish().tools_used
    copies = pickle.loads(pickle.dumps(made)), from_pattern(to_pattern(made))
    assert (made.agent_name, made.at) == ("helper", (0, 0))
    assert {(each.agent_name, each.at) for each in copies} == {("helper", (0, 0))}
    assert copies == (made, made)
