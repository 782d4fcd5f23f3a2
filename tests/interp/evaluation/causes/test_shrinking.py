from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import gram
from gram import Pattern, loads_one
from interp import LimitError, Tool, ToolLibrary, begin, run, tool
from interp.errors import ConfigurationError, ModelError, ReplayError
from interp.evaluation import read_cases
from interp.evaluation.causes import Shrunk, shrink, write_folder
from interp.evaluation.causes.shrinking import minimal
from interp.history.records import RecordedRun, run_text
from interp.history.stores import load_run
from interp.machine import (
    AssistantRole,
    CallFailed,
    Message,
    ModelReplied,
    Request,
    ToolCall,
    ToolReturned,
)
from interp.models import ScriptedModel

from .planted import is_wrong, recorded, tools


def kept(file: Path, program: Any, replies: Any, library: Any = None, **more: Any) -> RecordedRun:
    """A run with replies, or with a model, that is recorded in a file."""
    model = replies if hasattr(replies, "complete") else ScriptedModel(replies)
    options: Any = {"model": model, "match": "name", "record": file, **more}
    begin(program, "please find it", library, **options).finish()
    return load_run(file)


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> RecordedRun:
    """A run with a planted fault."""
    return recorded(str(tmp_path_factory.mktemp("planted") / "bad.run.gram"))


@pytest.fixture(scope="module")
def shrunk(planted: RecordedRun) -> Shrunk:
    """What is left of it."""
    return shrink(planted, is_wrong)


def test_a_planted_fault_is_all_that_is_left(planted: RecordedRun, shrunk: Shrunk) -> None:
    found = shrunk
    assert len(planted.events) == 25
    assert found.is_minimal
    assert found.runs < 150
    program = found.state.agent
    assert [each.value.identity for each in program.elements] == ["t17"]
    (result,) = (each for each in found.state.events if isinstance(each, ToolReturned))
    assert result.result == '{"items":[{"price":-1}]}'
    assert [type(each).__name__ for each in found.state.events] == [
        *("ModelReplied", "ToolReturned", "ModelReplied")
    ]
    assert program.value.properties["instruction"] == "Help.", "what replies answer is held"


def test_without_any_one_entry_it_does_not_fail(shrunk: Shrunk, tmp_path: Path) -> None:
    lines = run_text(shrunk.state, shrunk.library).splitlines(keepends=True)
    for index in range(1, len(lines)):
        file = tmp_path / f"{index}.run.gram"
        file.write_text("".join(lines[:index] + lines[index + 1 :]))
        with pytest.raises(gram.GramError):
            shrink(file, is_wrong)


def test_what_is_left_can_be_shrunk_again_and_stays(shrunk: Shrunk, tmp_path: Path) -> None:
    write_folder(shrunk, tmp_path / "out", "is_wrong")
    again = shrink(tmp_path / "out/recordings/cases.jsonl/shrunk.run.gram", is_wrong)
    assert again.state.events == shrunk.state.events
    assert again.state.agent == shrunk.state.agent


def test_runs_are_bounded_and_real_tools_take_the_place_of_results(planted: RecordedRun) -> None:
    found = shrink(planted, is_wrong, runs=5)
    assert (found.runs, found.is_minimal) == (5, False)
    found = shrink(planted, is_wrong, tools=tools())
    (result,) = (each for each in found.state.events if isinstance(each, ToolReturned))
    assert '"note":"as of today"' in result.result, "results are what the tool says"


def test_a_run_that_does_not_fail_or_not_each_time_is_refused(planted: RecordedRun) -> None:
    with pytest.raises(ReplayError, match="does not fail when it is run again"):
        shrink(planted, is_wrong, says=False)
    said = iter([True, False])
    with pytest.raises(ReplayError, match="has to say the same of the same run"):
        shrink(planted, lambda _: next(said))


def test_a_run_that_reaches_a_limit_is_shrunk_by_its_error(tmp_path: Path) -> None:
    @tool
    def look(query: str) -> str:
        "Looks."
        return query

    program = gram.parse(
        '[a:Agent {model: "Offline/rehearsal", instruction: "i"} |'
        ' [look:ToolSpecification {description: "Looks."} | (query::String)==>(::String)],'
        ' [other:ToolSpecification {description: "Looks."} | (query::String)==>(::String)]]'
    )
    calls = [Message(AssistantRole, "", [ToolCall("", "look", '{"query":"x"}')])] * 3
    other = look.__class__("other", "Looks.", look.schema, lambda _: "")
    file, library = tmp_path / "limit.run.gram", ToolLibrary.of(look, other)
    with pytest.raises(LimitError):
        kept(file, program, calls, library, limits={"iterations": 2})
    found = shrink(load_run(file))
    assert found.is_minimal
    assert found.state.stopped
    assert len(found.state.events) < 5
    assert not found.state.agent.elements
    assert "limits" in write_folder(found, tmp_path / "out")


def test_a_later_turn_is_a_case_after_a_conversation(tmp_path: Path) -> None:
    program = gram.parse('[a:Agent {model: "Offline/rehearsal", instruction: "i"}]')
    before = run(program, "Hello there").context
    run(program, "and then?", context=before, record=tmp_path / "late.run.gram")

    write_folder(shrink(tmp_path / "late.run.gram", lambda _: True), tmp_path / "out")

    (case,) = read_cases(tmp_path / "out/cases.jsonl")
    assert case.after == before
    assert case.input == "and then?"


TWO_TOOLS = """
[desk:Agent {model: "Offline/rehearsal", instruction: "Be kind.\\nAlways say BAD words."} |
  [find:ToolSpecification {description: "Finds things"} | (query::String)==>(::String)],
  [other:ToolSpecification {description: "Does something else"} | (query::String)==>(::String)]]
"""


def live_run(tmp_path: Path, model: Any) -> Any:
    @tool
    def find(query: str) -> str:
        "Finds things"
        return f"{query} is good and bad and good"

    other = find.__class__("other", "Does something else", find.schema, lambda _: "")
    library = ToolLibrary.of(find, other)
    return kept(tmp_path / "live.run.gram", gram.parse(TWO_TOOLS), model, library)


class Model:
    """It calls ``find``, and then says a bad word where the instruction and the result have one."""

    def __init__(self, share: float = 1.0) -> None:
        self.rng, self.share = random.Random(7), share

    def complete(self, request: Request) -> Message | str:
        results = [each for each in request.messages if each.call_id is not None]
        has_tool = any(each.value.identity == "find" for each in request.tools)
        if has_tool and not results:
            return Message(AssistantRole, "", [ToolCall("1", "find", '{"query":"it"}')])
        is_bad = "BAD" in request.instruction and any("bad" in each.content for each in results)
        return "bad" if is_bad and self.rng.random() < self.share else "good"


def says_bad(response: Any) -> bool:
    return bool(response.content == "bad")


def instruction(program: Pattern) -> str:
    return str(program.value.properties["instruction"]).strip()


def test_live_instructions_and_messages_shrink_too(tmp_path: Path) -> None:
    found = shrink(live_run(tmp_path, Model()), says_bad, model=Model().complete)
    assert instruction(found.state.agent) == "BAD"
    assert [each.value.identity for each in found.state.agent.elements] == ["find"]
    (result,) = (each for each in found.state.events if isinstance(each, ToolReturned))
    assert result.result.strip('" ') == "bad"
    assert found.requests > found.runs


def test_live_an_answer_of_another_type_is_no_failure_and_no_model_ends_it(tmp_path: Path) -> None:
    text = '[a:Agent {model: "Offline/rehearsal", instruction: "Say BAD."} | [:Answer:Integer]]'
    file = kept(tmp_path / "typed.run.gram", gram.parse(text), ["3"])

    def says_3(response: Any) -> bool:
        return bool(response.content == "3")

    def model(request: Request) -> str:
        return "3" if "BAD" in request.instruction else "many"

    assert instruction(shrink(file, says_3, model=model, repeats=1).state.agent) == "BAD."

    def refusing(error: Exception) -> Any:
        def model(request: Request) -> str:
            if request.instruction != "Say BAD.":
                raise error
            return "3"

        return model

    refused = ModelError("too little", status=400)
    assert shrink(file, says_3, model=refusing(refused), repeats=1).is_minimal
    with pytest.raises(ConfigurationError, match="no key"):
        shrink(file, says_3, model=refusing(ConfigurationError("no key")), repeats=1)


def test_a_failure_that_comes_and_goes_is_judged_by_repeats(tmp_path: Path) -> None:
    run = live_run(tmp_path, Model())
    found: Shrunk = shrink(run, says_bad, model=Model(0.7), repeats=9, at_least=3)
    assert instruction(found.state.agent) == "BAD"
    assert found.failed[0] == 3
    with pytest.raises(ReplayError, match="0 of 7 runs"):
        shrink(run, says_bad, model=Model(0.0), repeats=9, at_least=3)


def spec(name: str) -> str:
    return f'[{name}:ToolSpecification {{description: "d"}} | (query::Text)==>(::Any)]'


AGENT = 'Agent {model: "Offline/rehearsal", instruction: "i"}'
FLOW = f"""
[flow:Workflow |
  [plan:{AGENT} | [:Answer | (::Array {{elementType: "String"}})]],
  [work:{AGENT} | {spec("find")}, {spec("look")}],
  [join:{AGENT}], (plan)-[:EACH]->(work)-->(join)]
"""


def test_rounds_and_calls_inside_a_workflow_shrink(tmp_path: Path) -> None:
    def call(*names: str) -> Message:
        calls = [ToolCall(name, name, '{"query": "it"}') for name in names]
        return Message(AssistantRole, "I see.", calls)

    schema = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}

    def fail(_: object) -> None:
        raise ValueError("no customer 4711")

    library = ToolLibrary.of(
        Tool("find", "d", schema, lambda _: [1]), Tool("look", "d", schema, fail)
    )
    script = {
        "plan": ['["a", "b"]'],
        "work": [call("find", "look"), "one", "two"],
        "join": ["Well."],
    }
    file = kept(tmp_path / "flow.run.gram", gram.parse(FLOW), script, library, at_once=1)

    def failed(response: Any) -> bool:
        return any("4711" in (each.error or "") for each in response.tools_used)

    found = shrink(file, failed)
    assert found.is_minimal
    events = found.state.events
    (error,) = (each.error.strip() for each in events if isinstance(each, CallFailed))
    assert error == "4711"
    calls = [each for each in events if isinstance(each, ModelReplied) and each.message.tool_calls]
    assert len(calls) == 1
    assert not any(isinstance(each, ToolReturned) for each in events)
    assert "find" not in str(found.state.agent)
    (plan,) = (each.message.content for each in events if each.at == ("plan", 0))
    assert json.loads(plan) == [""], "an item goes with its round"
    assert "join" not in str(found.state.agent), "a node goes with its arrow"


# --- any value


TREES = st.recursive(
    st.one_of(st.integers(0, 3), st.booleans(), st.text("ab \n", max_size=8)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.sampled_from("xyz"), inner, max_size=3)
    ),
    max_leaves=12,
)


def smaller_by_one(value: Any) -> Iterator[Any]:
    """Each value that has one item less, anywhere in it."""
    if isinstance(value, list):
        for index, each in enumerate(value):
            yield value[:index] + value[index + 1 :]
            for inner in smaller_by_one(each):
                yield [*value[:index], inner, *value[index + 1 :]]
    elif isinstance(value, dict):
        for key, each in value.items():
            yield {name: other for name, other in value.items() if name != key}
            for inner in smaller_by_one(each):
                yield value | {key: inner}


def leaves(value: Any) -> list[Any]:
    if isinstance(value, list):
        return [leaf for each in value for leaf in leaves(each)]
    if isinstance(value, dict):
        return [leaf for each in value.values() for leaf in leaves(each)]
    return [value]


@given(TREES, st.sampled_from([0, 1, 2, 3]), st.integers(1, 3))
def test_nothing_that_is_left_can_go(tree: Any, number: int, times: int) -> None:
    def holds(value: Any) -> bool:
        return sum(leaf is not True and leaf == number for leaf in leaves(value)) >= times

    if not holds(tree):
        return
    found = minimal(tree, holds)
    assert holds(found)
    assert not any(holds(each) for each in smaller_by_one(found))


def test_texts_lose_lines_and_words() -> None:
    text = "one two\nthree bad four\nfive"
    assert minimal(text, lambda value: "bad" in value).strip() == "bad"


def test_what_is_held_stays() -> None:
    pattern = loads_one('(a {instruction: "be kind", other: "be kind"})')
    found = minimal(pattern, lambda _: True, held={"instruction"})
    assert found == loads_one('(a {instruction: "be kind"})')


def test_an_arrow_goes_with_the_nodes_that_it_names() -> None:
    flow = loads_one("[w | (a), (b), (c), (d), (b)-->(c)-->(d)]")

    def is_valid(flow: Pattern) -> bool:
        """Every node but ``a`` has an arrow, and every arrow has its nodes."""
        edges = [edge for each in flow.elements for edge in each.elements]
        ends = {end.value.identity for edge in edges for end in edge.elements}
        return ends | {"a"} == {each.value.identity for each in flow.elements if not each.elements}

    assert is_valid(flow)
    (left,) = minimal(flow, is_valid).elements
    assert left.value.identity == "a"


@pytest.mark.parametrize("count", [1, 5, 16])
def test_an_item_goes_with_that_of_an_array_of_the_same_length(count: int) -> None:
    pair = {"items": [*range(count)], "rounds": [*range(count)]}

    def is_aligned(each: dict[str, list[int]]) -> bool:
        return each.get("items") == each.get("rounds") and count // 2 in each.get("items", ())

    assert minimal(pair, is_aligned) == {"items": [count // 2], "rounds": [count // 2]}
