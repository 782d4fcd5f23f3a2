"""What runs cost, counted instead of timed: it grows with what is done, and no faster."""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
import tracemalloc
import weakref
from collections.abc import Callable

import pytest

import interp
from gram import Pattern, parse
from interp.machine import ModelReplied, ToolReturned, start, step
from lenses_ext import (
    create_agent_pattern,
    create_tool_specification,
    resolve,
    tool_spec_name,
    tool_spec_schema,
    view,
)
from tests.calls import calls_of

SIGNATURE = '(personName::Text {default: "world"})==>(::String)'
CALL = interp.Message(
    interp.AssistantRole, "", [interp.ToolCall("call_1", "hello0", '{"personName": "Alice"}')]
)
HERE = interp.Limits(iterations=100, tool_seconds=None, run_seconds=None)
"""Limits without time, under which all is done in the thread that is counted."""


def agent_with(tools: int) -> tuple[Pattern, interp.ToolLibrary]:
    """An agent with so many tools, and their implementations."""
    specs = [create_tool_specification(f"hello{n}", "Greets", SIGNATURE) for n in range(tools)]
    agent = create_agent_pattern("greeter", "Greets people", "OpenAI/x", "Greet them.", specs)
    return agent, interp.ToolLibrary.of(map(implemented, specs))


def implemented(spec: Pattern) -> interp.Tool:
    """A tool that does what a specification says."""
    return interp.Tool(
        view(tool_spec_name, spec),
        "Greets",
        view(tool_spec_schema, spec),
        lambda arguments: f"Hello, {arguments['personName']}!",
        result_schema={"type": "string"},
    )


def conversation(length: int) -> interp.ConversationContext:
    """A conversation of so many messages."""
    roles = (interp.UserRole, interp.AssistantRole)
    return interp.ConversationContext(
        interp.Message(roles[n % 2], f"Message {n}") for n in range(length)
    )


def a_run(*, rounds: int = 1, tools: int = 1, earlier: int = 0) -> Callable[[], object]:
    """A run that has been made once before, as a function."""
    (agent, library), context = agent_with(tools), conversation(earlier)

    def act() -> object:
        model = interp.ScriptedModel([*[CALL] * rounds, "Hello."])
        return asyncio.run(interp.arun(agent, "Hello", library, context, model=model, limits=HERE))

    act()
    return act


def sequence(length: int) -> Callable[[], object]:
    """A run of so many agents one after another, that has been made once before."""
    names = [f"a{n}" for n in range(length)]
    agents = "".join(f'({name}:Agent {{instruction: "x", model: "A/b"}})' for name in names)
    program = resolve(parse(f"[w:Workflow | {'-->'.join(f'({name})' for name in names)}] {agents}"))

    def act() -> object:
        model = interp.ScriptedModel(["ok"] * length)
        return asyncio.run(interp.arun(program, "hi", model=model, limits=HERE))

    act()
    return act


@pytest.mark.parametrize("form", [lambda n: a_run(rounds=n), sequence], ids=["rounds", "steps"])
def test_a_run_grows_with_its_rounds_and_steps_and_no_faster(
    form: Callable[[int], Callable[[], object]],
) -> None:
    few, many = (calls_of(form(count)) for count in (20, 80))
    assert many < 6 * few


def test_earlier_messages_and_other_tools_cost_a_run_little() -> None:
    alone = calls_of(a_run())
    assert calls_of(a_run(earlier=1_000)) < 2 * alone
    assert calls_of(a_run(tools=50)) < 2 * alone


def test_a_run_copies_no_conversation() -> None:
    def peak(earlier: int) -> int:
        act = a_run(earlier=earlier)
        tracemalloc.start()
        act()
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert peak(10_000) < peak(0) + 40_000  # a list of them alone would have 80,000 bytes


def test_a_map_takes_memory_for_what_is_in_flight_and_for_results() -> None:
    program = resolve(
        parse(
            """[w:Workflow | [list:Tool {description: "Lists"} | (n::String)==>(::Any)],
              (list)-[:EACH {at_once: 4}]->(worker)]
            (worker:Agent {instruction: "x", model: "A/b"})"""
        )
    )

    def peak(items: int) -> int:
        state, _, _ = start(program, "x")
        state, effects, _ = step(state, ToolReturned(("list",), json.dumps(["item"] * items)))
        waiting = list(effects)
        tracemalloc.start()
        while waiting:
            said = interp.Message(interp.AssistantRole, "said " * 100)
            state, effects, _ = step(state, ModelReplied(waiting.pop(0).at, said))
            waiting += effects
            assert len(waiting) <= 4
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert (peak(500) - peak(100)) / 400 < 5_000  # the text of a result has 500


def test_a_run_loads_nothing_that_it_does_not_need() -> None:
    code = """
import sys
from gram import loads_one
from interp import ScriptedModel, run
run(loads_one('[a:Agent {instruction: "x", model: "A/b"}]'), "Hello", model=ScriptedModel(["x"]))
print(*sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)

    unneeded = {"openai", "httpx", "httpx2", "aiohttp", "interp.cli", "interp.views"}
    assert not {*done.stdout.split()} & unneeded


def test_what_a_run_has_made_goes_with_its_response() -> None:
    agent, library = agent_with(1)
    response = interp.run(agent, "Hello", library, model=interp.ScriptedModel([CALL, "Hello."]))
    left = weakref.ref(response), weakref.ref(response.context)
    del response
    gc.collect()
    assert [each() for each in left] == [None, None]
