"""Workflows: what begins when, with what, and what they give."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from gram import Pattern, parse
from interp import (
    ApprovalPolicy,
    ApprovalRule,
    AssistantRole,
    Limits,
    Message,
    ToolCall,
    Usage,
    machine,
)
from interp.errors import ProtocolError
from interp.machine import CallFailed, ModelReplied, Status, ToolReturned, response, start, step
from lenses_ext import resolve

Said = Callable[[str, str], Any]
"""What an agent or tool says to what it is given, by its name."""


def program(text: str, *agents: str) -> Pattern:
    """The first workflow of a text, with plain agents of some names."""
    written = (f'({name}:Agent {{instruction: "{name}", model: "A/b"}})' for name in agents)
    return resolve(parse("\n".join([text, *written])))


def answer(effect: machine.Effect, says: Said) -> Any:
    """The event that answers an effect."""
    if isinstance(effect, machine.CallModel):
        said = says(effect.request.instruction, effect.request.messages[-1].content)
        message = said if isinstance(said, Message) else Message(AssistantRole, str(said))
        return ModelReplied(effect.at, message, Usage(1, 1))
    assert isinstance(effect, machine.CallTool)
    said = says(effect.name, effect.arguments)
    if isinstance(said, Exception):
        return CallFailed(effect.at, str(said))
    return ToolReturned(effect.at, json.dumps(said))


def run_of(
    workflow: Pattern, given: Any, says: Said, **more: Any
) -> tuple[machine.State, list[Any]]:
    """The State in which a workflow ends, and the positions of all effects, in their order."""
    state, effects, _ = start(workflow, given, **more)
    waiting, seen = list(effects), [each.at for each in effects]
    while waiting:
        effect = waiting.pop(0)
        if not machine.waits_for(state, effect):
            continue
        state, effects, _ = step(state, answer(effect, says))
        assert machine.fold(state.beginning, state.events) == state
        assert pickle.loads(pickle.dumps(state)) == state
        assert set(effects) <= set(machine.pending(state))
        waiting += effects
        seen += [each.at for each in effects]
    return state, seen


def shown(name: str, given: str) -> str:
    """A word that says who said it, and of what."""
    return f"{name}({given})"


def test_a_sequence_hands_on_what_each_says() -> None:
    workflow = program("[w:Workflow | a, b, c, (a)-->(b)-->(c)]", "a", "b", "c")
    state, seen = run_of(workflow, "x", shown)
    assert seen == [("a", 0), ("b", 0), ("c", 0)]
    assert response(state).content == "c(b(a(x)))"
    assert [each.content for each in state.context] == ["x", "c(b(a(x)))"]
    assert state.usage == Usage(3, 3)


def test_branches_begin_at_once_and_join_as_a_record() -> None:
    workflow = program("[w:Workflow | a, b, c, (a)-->(c), (b)-[{as: 'two'}]->(c)]", *"abc")
    state, effects, _ = start(workflow, "x")
    assert [each.at for each in effects] == [("a", 0), ("b", 0)]
    state, effects, _ = step(state, answer(effects[1], shown))
    assert effects == ()
    state, _ = run_of(workflow, "x", shown)
    assert response(state).content == 'c({"a":"a(x)","two":"b(x)"})'


CHOICE = """
[w:Workflow | triage, billing, tech, last,
  (triage)-[:WHEN {is: "billing"}]->(billing)-->(last),
  (triage)-[:OTHERWISE]->(tech)-->(last)]
"""


@pytest.mark.parametrize(("chosen", "arm"), [("billing", "billing"), ("other", "tech")])
def test_a_choice_passes_on_what_was_given_and_its_other_arms_are_skipped(
    chosen: str, arm: str
) -> None:
    workflow = program(CHOICE, "triage", "billing", "tech", "last")
    state, seen = run_of(
        workflow, "x", lambda name, given: chosen if name == "triage" else shown(name, given)
    )
    assert seen == [("triage", 0), (arm, 0), ("last", 0)]
    assert response(state).content == f"last({arm}(x))"


def test_a_choice_may_look_at_a_field_of_a_declared_answer() -> None:
    workflow = resolve(
        parse(
            """
            [w:Workflow | triage, a, b,
              (triage)-[:WHEN {is: {urgent: true}}]->(a), (triage)-[:OTHERWISE]->(b)]
            [triage:Agent {instruction: "triage", model: "A/b"} |
              [:Answer:Object | (urgent::Boolean)]]
            (a:Agent {instruction: "a", model: "A/b"})
            (b:Agent {instruction: "b", model: "A/b"})
            """
        )
    )

    def says(urgent: bool) -> Said:
        said = json.dumps({"urgent": urgent})
        return lambda name, given: said if name == "triage" else shown(name, given)

    assert response(run_of(workflow, "x", says(True))[0]).content == "a(x)"
    assert response(run_of(workflow, "x", says(False))[0]).content == "b(x)"


@pytest.mark.parametrize(("given", "arm"), [("x", "a"), ("y", "b")])
def test_a_choice_may_be_made_on_the_input(given: str, arm: str) -> None:
    workflow = program(
        """[w:Workflow | a, b, ()-[:WHEN {is: "x"}]->(a)-->(), ()-[:OTHERWISE]->(b)-->()]""", *"ab"
    )
    state, seen = run_of(workflow, given, shown)
    assert seen == [(arm, 0)]
    assert response(state).content == f"{arm}({given})"


EACH = """
[w:Workflow | [list:Tool {description: "Lists"} | (n::String)==>(::Any)], worker, last,
  (list)-[:EACH {at_once: 2}]->(worker)-->(last)]
"""


def test_a_list_is_mapped_in_its_order_with_so_many_at_once() -> None:
    workflow = program(EACH, "worker", "last")
    state, (call,), _ = start(workflow, "x")
    state, effects, _ = step(state, ToolReturned(call.at, '["a","b","c"]'))
    assert [each.at for each in effects] == [("worker", 0, 0), ("worker", 1, 0)]

    state, (third,), _ = step(state, answer(effects[1], shown))
    assert third.at == ("worker", 2, 0)
    state, _, _ = step(state, answer(third, shown))
    state, (last,), _ = step(state, answer(effects[0], shown))

    assert last.request.messages[-1].content == '["worker(a)","worker(b)","worker(c)"]'


def test_an_empty_list_is_mapped_to_an_empty_list() -> None:
    state, seen = run_of(
        program(EACH, "worker", "last"), "x", lambda name, _: [] if name == "list" else "z"
    )
    assert seen == [("list",), ("last", 0)]
    assert state.status is Status.DONE


def test_what_is_no_list_cannot_be_mapped() -> None:
    state, _ = run_of(program(EACH, "worker", "last"), "x", lambda *_: 3)
    assert state.status is Status.FAILED
    assert state.stopped == 'step "worker" maps over a list, found 3'


LOOP = """
[refine:Loop {max: 3, until: {critic: "approved"}} |
  writer, critic, (writer)-->(critic), (writer)-->()]
"""


@pytest.mark.parametrize(("approved", "result"), [(2, "draft 2"), (9, "draft 3")])
def test_a_loop_goes_on_with_what_was_said_last_until_it_is_enough(
    approved: int, result: str
) -> None:
    heard: list[tuple[str, str]] = []

    def says(name: str, given: str) -> str:
        heard.append((name, given))
        count = sum(each == name for each, _ in heard)
        if name == "writer":
            return f"draft {count}"
        return "approved" if count == approved else f"no {count}"

    state, seen = run_of(program(LOOP, "writer", "critic"), "x", says)

    rounds = min(approved, 3)
    assert seen == [(n, name, 0) for n in range(rounds) for name in ("writer", "critic")]
    assert heard[:4] == [
        ("writer", "x"),
        ("critic", "draft 1"),
        ("writer", "no 1"),
        ("critic", "draft 2"),
    ]
    assert response(state).content == result
    assert response(state).unfinished == (approved == 9)


@pytest.mark.parametrize("rounds", [1, 2])
def test_a_loop_inside_that_was_out_of_rounds_marks_what_is_around_it(rounds: int) -> None:
    text = """
    [outer:Loop {max: 2, until: {judge: "good"}} | refine, judge,
      (refine)-->(judge), (refine)-->()]
    [refine:Loop {max: 1, until: {critic: "approved"}} |
      writer, critic, (writer)-->(critic), (writer)-->()]
    """
    judged: list[str] = []

    def says(name: str, given: str) -> str:
        if name == "judge":
            judged.append(given)
            return "good" if len(judged) == rounds else "bad"
        return "approved" if name == "critic" and len(judged) == 1 else name

    state, _ = run_of(program(text, "writer", "critic", "judge"), "x", says)

    # only the second time the inner loop came to its end
    assert response(state).unfinished == (rounds == 1)


def test_a_response_has_the_calls_of_all_steps_in_the_order_of_the_workflow() -> None:
    text = """
    [w:Workflow | list, look, write, (list)-[:EACH]->(look)-->(write)]
    [list:Tool {description: "Lists"} | (x::String)==>(::Any)]
    [look:Agent {instruction: "look", model: "A/b"} | helper,
      [read:Tool {description: "Reads"} | (path::String)==>(::String)]]
    [helper:Agent {description: "Helps", instruction: "helper", model: "A/b"} |
      [inner:Tool {description: "Is inside"} | (x::String)==>(::String)]]
    (write:Agent {instruction: "write", model: "A/b"})
    """
    state, (listed,), _ = start(resolve(parse(text)), "x")
    state, waiting, _ = step(state, ToolReturned(listed.at, '["a", "b"]'))
    waiting = tuple(reversed(waiting))  # the second item ends first

    while waiting:
        effect, *left = waiting
        if isinstance(effect, machine.CallModel) and effect.request.instruction == "look":
            path = effect.request.messages[0].content
            calls = (
                ToolCall("1", "read", json.dumps({"path": path})),
                ToolCall("2", "helper", '{"input": "x"}'),
            )
            is_first = len(effect.request.messages) == 1
            said = Message(AssistantRole, "", calls) if is_first else Message(AssistantRole, "seen")
            event: Any = ModelReplied(effect.at, said, Usage(1, 1))
        else:
            event = answer(effect, shown)
        state, new, _ = step(state, event)
        assert machine.fold(state.beginning, state.events) == state
        waiting = (*left, *new)

    used = [(each.tool_name, each.args) for each in response(state).tools_used]
    assert used == [
        ("list", {"x": "x"}),
        ("read", {"path": "a"}),
        ("helper", {"input": "x"}),
        ("read", {"path": "b"}),
        ("helper", {"input": "x"}),
    ]


def test_agents_of_a_loop_keep_their_conversations() -> None:
    state, (asked,), _ = start(program(LOOP, "writer", "critic"), "x")
    state, (asked,), _ = step(state, answer(asked, shown))
    state, (asked,), _ = step(state, answer(asked, shown))
    said = [each.content for each in asked.request.messages]
    assert said == ["x", "writer(x)", "critic(writer(x))"]


def test_a_record_gives_the_parameters_of_a_tool() -> None:
    workflow = program(
        """[w:Workflow | a, b,
          [add:Tool {description: "Adds"} | (a::Integer)==>(b::Integer)==>(::Integer)],
          (a)-->(add), (b)-->(add)]
        [a:Agent {instruction: "a", model: "A/b"} | (:Answer:Integer)]
        [b:Agent {instruction: "b", model: "A/b"} | (:Answer:Integer)]"""
    )

    state, seen = run_of(workflow, "x", lambda name, _: {"a": 1, "b": 2, "add": 3}[name])

    assert seen[-1] == ("add",)
    assert (response(state).value, response(state).is_typed) == (3, True)


FAILING = """
[w:Workflow | [t:Tool {description: "Does"} | (x::String)==>(::String)], a, b, (t)-->(b), (a)-->(b)]
"""


def test_a_tool_that_fails_fails_the_workflow_and_nothing_new_begins() -> None:
    workflow = program(FAILING, "a", "b")
    state, (call, asked), _ = start(workflow, "x")

    failed, effects, _ = step(state, CallFailed(call.at, "broke"))

    assert (failed.status, effects, machine.pending(failed)) == (Status.FAILED, (), ())
    assert failed.stopped == 'step "t" failed: broke'
    assert machine.waits_for(state, asked)
    assert not machine.waits_for(failed, asked)
    with pytest.raises(ProtocolError):
        step(failed, answer(asked, shown))


def test_the_failure_of_one_item_says_which() -> None:
    workflow = program(
        """[w:Workflow | (xs::Array)==>(::Any), ()-[:EACH]->(t)]
        [t:Tool {description: "Does"} | (x::Integer)==>(::String)]"""
    )
    state, (_, second, _), _ = start(workflow, {"xs": [1, 2, 3]})

    assert (
        step(state, CallFailed(second.at, "no"))[0].stopped == 'step "t" (item 2 of 3) failed: no'
    )
    refused, _, _ = start(workflow, {"xs": [1, "b"]})
    assert (refused.stopped or "").startswith('step "t" (item 2 of 2) failed: arguments of "t"')


def test_a_workflow_that_failed_keeps_the_calls_of_its_steps() -> None:
    """Of those that had ended, those under way, and the one that failed, deep inside too."""
    workflow = program(
        """[w:Workflow | list, inner, (list)-->(inner), (list)-[:EACH]->(look)-->()]
        [inner:Workflow | (xs::Array)==>(::Any), store]
        [list:Tool {description: "Lists"} | (x::String)==>(::Array)]
        [store:Tool {description: "Stores"} | (xs::Array)==>(::String)]
        [look:Agent {instruction: "look", model: "A/b"} |
          [read:Tool {description: "Reads"} | (path::String)==>(::String)]]"""
    )
    state, (listed,), _ = start(workflow, "x")
    state, (to_store, first, second), _ = step(state, ToolReturned(listed.at, '["a", "b"]'))
    reads = Message(AssistantRole, "", (ToolCall("1", "read", '{"path": "p"}'),))
    state, (read,), _ = step(state, ModelReplied(first.at, reads))
    state, _, _ = step(state, ToolReturned(read.at, '"text"'))
    state, _, _ = step(state, ModelReplied(second.at, reads))  # this call is not answered

    state, _, _ = step(state, CallFailed(to_store.at, "full"))

    assert state.stopped == 'step "inner" failed: step "store" failed: full'
    used = [(each.tool_name, each.at, each.error) for each in state.tools_used]
    assert used == [
        ("list", ("list",), None),
        ("store", ("inner", "store"), "full"),
        ("read", ("look", 0, 0, 0), None),
    ]
    assert machine.fold(state.beginning, state.events) == state


def test_a_tool_is_asked_about_as_one_of_the_workflow() -> None:
    policy = ApprovalPolicy([ApprovalRule("ask", "w/t")])
    state, (_, ask), _ = start(program(FAILING, "a", "b"), "x", policy=policy)
    (ask,) = (each for each in machine.pending(state) if isinstance(each, machine.Ask))

    assert state.asks == (ask,) == (machine.Ask(("t",), "t", '{"x":"x"}'),)
    assert step(state, machine.Decided(ask.at, True))[1] == (
        machine.CallTool(ask.at, "t", ask.arguments),
    )
    denied, _, _ = step(state, machine.Decided(ask.at, False, "no"))
    assert denied.stopped == 'step "t" failed: denied, not run: no'
    _, effects, _ = step(state, machine.Resumed(policy=ApprovalPolicy()))
    assert machine.CallTool(ask.at, "t", ask.arguments) in effects


def test_a_workflow_is_a_tool_of_an_agent_and_its_failure_is_told() -> None:
    agent = program(
        """[boss:Agent {instruction: "boss", model: "A/b"} |
          [w:Workflow {description: "Works"} | (q::String)==>(::String), a,
            [t:Tool {description: "Does"} | (x::String)==>(::String)], (a)-->(t)]]""",
        "a",
    )
    state, _, _ = start(agent, "go")
    calls = (ToolCall("c", "w", '{"q": "x"}'),)
    state, (asked,), _ = step(state, ModelReplied((0,), Message(AssistantRole, "", calls)))
    assert asked.at == (0, 0, "a", 0)
    state, (call,), _ = step(state, answer(asked, shown))
    assert call == machine.CallTool((0, 0, "t"), "t", '{"x":"a(x)"}')

    good, _, _ = step(state, ToolReturned(call.at, '"done"'))
    bad, _, _ = step(state, CallFailed(call.at, "broke"))

    assert good.context[-1].content == "done"
    assert bad.context[-1].content == 'error: step "t" failed: broke'

    limits = Limits(tool_calls=1, on_limit="answer")
    state, _, _ = start(agent, "go", limits=limits)
    state, (asked,), _ = step(state, ModelReplied((0,), Message(AssistantRole, "", calls)))
    state, (last,), _ = step(state, answer(asked, shown))
    assert last.request.messages[-1].content == (
        "error: not run: the run has reached 1 tool call (limit: tool_calls)"
    )


def test_a_node_may_be_used_again_under_another_name() -> None:
    workflow = program("[w:Workflow | a, b, (a)-->(b)-->(again::a)]", "a", "b")
    assert response(run_of(workflow, "x", shown)[0]).content == "a(b(a(x)))"


def test_a_shared_limit_stops_the_run_which_goes_on_where_it_was() -> None:
    workflow = program("[w:Workflow | a, b, c, (a)-->(c), (b)-->(c)]", "a", "b", "c")
    state, (first, second), _ = start(workflow, "x", limits=Limits(tokens=2))
    state, effects, _ = step(state, answer(first, shown))
    assert effects == ()

    state, effects, _ = step(state, answer(second, shown))

    assert (state.status, effects, machine.pending(state)) == (Status.LIMITED, (), ())
    assert state.stopped == "4 of 2 tokens (limit: tokens)"
    assert step(state, machine.Resumed())[0].status is Status.LIMITED
    state, (third,), _ = step(state, machine.Resumed(Limits()))
    assert third.at == ("c", 0)
