"""Programs as Open Agent Spec and back: what is not told of is kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyagentspec
import pytest
from hypothesis import given, settings, strategies as st
from pyagentspec import Agent, Component
from pyagentspec.flows.edges import ControlFlowEdge, DataFlowEdge
from pyagentspec.flows.flow import Flow
from pyagentspec.flows.nodes import ApiNode, BranchingNode, EndNode, LlmNode, StartNode, ToolNode
from pyagentspec.llms import OllamaConfig, OpenAiCompatibleConfig, OpenAiConfig, VllmConfig
from pyagentspec.property import Property
from pyagentspec.swarm import HandoffMode, Swarm
from pyagentspec.tools import RemoteTool, ServerTool

import lenses_ext
from gram import GramDecodeError, Pattern
from interp.exchange import Exchanged, NoCounterpartError, from_agent_spec, to_agent_spec
from interp.exchange.properties import TEXT, types_in
from lenses_ext import create_agent_pattern, is_tool, parse_program, resolve, view
from lenses_ext.names import definitions_of
from lenses_ext.strategies import agents, filled_texts, models, tool_specs
from lenses_ext.workflows import handoffs, workflow_of
from tests.interp.cli.process import gram
from tests.lenses_ext.strategies import model_settings, signature_texts

LLM = OpenAiConfig(name="llm", model_id="gpt-5.6-luna")


def text_of(component: Component) -> str:
    return pyagentspec.AgentSpecSerializer().to_yaml(component)


def titled(*names: str, **schema: Any) -> list[Property]:
    return [Property(json_schema={"type": "string", **schema, "title": name}) for name in names]


def back_and_forth(program: Pattern) -> tuple[Exchanged, Pattern]:
    """The spec of a program, which its own loader takes, and the program of that."""
    made = to_agent_spec(program)
    pyagentspec.AgentSpecDeserializer().from_yaml(made.text)
    again = from_agent_spec(made.text)
    if not made.losses:  # a flow has an order for what a workflow does at once
        assert all("takes nothing from it" in each.reason for each in again.losses)
    return made, resolve(parse_program(again.text))


def parts_of(agent: Pattern, path: str) -> dict[str, Any]:
    """What an agent says, by the path under which it would be told of."""
    said: dict[str, Any] = {
        f"{path}.description": view(lenses_ext.agent_description, agent),
        f"{path}.instruction": view(lenses_ext.agent_instruction, agent),
        f"{path}.model": str(view(lenses_ext.agent_model, agent)),
    }
    for key, value in (
        (view(lenses_ext.agent_settings, agent) or lenses_ext.Settings()).as_json().items()
    ):
        said[f"{path}.settings.{key}"] = value
    for tool in filter(is_tool, agent.elements):
        at = f"{path}.tools.{tool.value.identity}"
        said |= {f"{at}.description": tool.value.properties["description"]} | types_of(tool, at)
    return said


def types_of(pattern: Pattern, path: str) -> dict[str, Any]:
    types = types_in(pattern)
    names = types.inputs.get("properties", {})
    return {f"{path}.{name}": (name in types.inputs["required"], names[name]) for name in names} | {
        f"{path}.output": types.result
    }


@settings(max_examples=5)  # their loader checks each schema in Python
@given(
    st.builds(
        create_agent_pattern,
        st.sampled_from(["a", "é b", "`"]),
        st.none() | filled_texts(),
        models(),
        filled_texts(),
        st.lists(
            tool_specs(signatures=signature_texts()), max_size=3,
            unique_by=lambda each: each.value.identity,
        ),
        settings=st.none() | model_settings(),
    )
)  # fmt: skip
def test_what_is_not_told_of_is_kept(agent: Pattern) -> None:
    made, again = back_and_forth(agent)

    told = [each.path for each in made.losses]
    before, after = (parts_of(each, agent.value.identity) for each in (agent, again))
    for path, value in before.items():
        if not any(each.startswith(path) or path.startswith(f"{each}.") for each in told):
            assert after.get(path) == value, path


@settings(max_examples=5)  # their loader checks each schema in Python
@given(agents("whole"))
def test_agents_inside_agents_come_back(agent: Pattern) -> None:
    _, again = back_and_forth(agent)

    assert [each.value.identity for each in again.elements if not is_tool(each)] == [
        each.value.identity for each in agent.elements if not is_tool(each)
    ]


# --- workflows


@st.composite
def workflows(draw: st.DrawFn) -> str:
    """Workflows of tools, each of which takes what some before it give."""
    tools, arrows = [], []
    for number in range(draw(st.integers(1, 4))):
        name = f"t{number}"
        sources = draw(st.sets(st.sampled_from(["", *(f"t{each}" for each in range(number))])))
        named = len(sources) > 1
        titles = [f"x{each}" for each in sorted(sources)] if named else ["x"]
        chain = "".join(f"({title}::Text)==>" for title in titles)
        tools.append(f'[{name}:Tool {{description: "d"}} | {chain}(::Text)]')
        label = '[{{as: "x{0}"}}]' if named else ""
        arrows += [f"({each})-{label.format(each)}->({name})" for each in sorted(sources or {""})]
    return f"[w:Workflow | {', '.join(arrows)}]\n" + "\n".join(tools)


def arrows_of(workflow: Pattern) -> set[tuple[Any, ...]]:
    flow = workflow_of(workflow)
    return {(each.source, each.target, each.kind, each.key, each.equals) for each in flow.arrows}


@settings(max_examples=5)
@given(workflows())
def test_a_workflow_of_tools_comes_back_as_it_was(text: str) -> None:
    before = resolve(parse_program(text))
    made, after = back_and_forth(before)

    assert not made.losses
    ours, theirs = (
        {each if each[1] is not None else each[0] for each in arrows_of(one)}  # no names at the end
        for one in (before, after)
    )
    assert theirs == ours


CHOICE = """
[desk:Workflow | (request::Text)==>(::Text),
  ()-->(triage)-[:WHEN {is: "billing"}]->(billing)-->(), (triage)-[:WHEN {is: other}]->(help)-->()]
[triage:Agent {instruction: "About what?", model: "OpenAI/m"} |
  [:Answer:String {enum: ["billing", "other"]}]]
(billing:Agent {instruction: "Help with bills.", model: "Ollama/m"})
(help:Agent {instruction: "Help.", model: "vLLM/m"})
"""
EACH = """
[review:Workflow | (list)-[:EACH {at_once: 1}]->(work)-->(sum)]
[list:Tool {description: "l"} | (input::Text)==>(::Array {elementType: "Text"})]
[work:Agent {instruction: "Work.", model: "A/m"} | [:Answer:Object | (a::Text), (b::Integer)]]
[sum:Tool {description: "s"} | (all::Array)==>(::Text)]
"""
NESTED = """
[all:Workflow | (files)-[:EACH {at_once: 1}]->(judge)-->(sum)]
[files:Tool {description: "f"} | (input::Text)==>(::Array {elementType: "Text"})]
[judge:Workflow | (file::Text)==>(::V), (read)-->(look), [V:Object | (a::Text), (b::Integer)]]
[read:Tool {description: "r"} | (file::Text)==>(::R), [R:Object | (x::Text), (y::Text)]]
[look:Tool {description: "l"} | (x::Text)==>(y::Text)==>(::V), [V:Object | (a::Text), (b::Integer)]]
[sum:Tool {description: "s"} | (all::Array)==>(::Text)]
"""
GROUP = """
[boss:Agent {instruction: "Lead.", model: "A/m"} |
  worker, [refunds:Skill {description: "d", text: "t"}], (boss)-[:HANDOFF]->(other)]
[worker:Agent {instruction: "Work.", model: "A/m"} | [:Answer:Object | (a::Text), (b::Integer)]]
[other:Agent {instruction: "Other.", model: "A/m"} | (other)-[:HANDOFF]->(boss)]
"""


@pytest.mark.parametrize(("text", "agent"), [(CHOICE, "desk"), (EACH, "review"), (NESTED, "all")])
def test_choices_and_maps_come_back(text: str, agent: str) -> None:
    before = resolve(parse_program(text), agent)
    made, after = back_and_forth(before)

    assert not made.losses
    assert ("component_type: MapNode" in made.text) == (agent != "desk")
    assert {each[:4] for each in arrows_of(after)} == {each[:4] for each in arrows_of(before)}


def test_those_who_are_called_and_handed_over_to_come_back_and_the_rest_is_told() -> None:
    made = to_agent_spec(parse_program(GROUP), "boss")

    again = from_agent_spec(made.text)

    assert [*map(str, made.losses)] == ["boss.refunds: has no counterpart"]
    assert again.losses == ()
    boss = resolve(parse_program(again.text), "boss")
    assert handoffs(boss) == ("other",)
    assert handoffs(definitions_of(boss)["other"]) == ("boss",)
    assert "worker" in [each.value.identity for each in boss.elements]
    assert to_agent_spec(parse_program(again.text), "boss").text == made.text


def test_one_that_is_called_hands_nothing_over() -> None:
    program = """[a:Agent {instruction: "A", model: "A/m"} |
        [b:Agent {instruction: "B", model: "A/m", description: "d"} | (b)-[:HANDOFF]->(a)]]"""

    (loss,) = to_agent_spec(parse_program(program)).losses

    assert str(loss) == "a.b.a: one that is called hands nothing over there"


@pytest.mark.parametrize(
    ("mode", "calls", "hands_over"),
    [("never", True, False), ("optional", True, True), ("always", False, True)],
)
def test_a_swarm_calls_hands_over_or_does_both(mode: str, calls: bool, hands_over: bool) -> None:
    one, two = (Agent(name=each, llm_config=LLM, system_prompt=each) for each in "ab")
    swarm = Swarm(name="s", first_agent=one, relationships=[(one, two)], handoff=HandoffMode(mode))

    made = from_agent_spec(text_of(swarm))

    assert [*map(str, made.losses)] == ['s.name: it has the name of who leads it, "a"']
    first = next(each for each in parse_program(made.text).patterns if each.value.identity == "a")
    assert ("b" in [each.value.identity for each in first.elements]) == calls
    assert bool(handoffs(first)) == hands_over


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[w:Loop {max: 2, until: 'x'} | a]", "w: a loop has no counterpart"),
        ("[w:Workflow | ()-[:WHEN {is: 1}]->(a), ()-[:OTHERWISE]->(a)]", "a choice is made on wh"),
        ("[w:Workflow | ()-->(b)-->(a), (b)-->(t)]", 'the fields of "b" are taken as one, and'),
    ],
)
def test_what_no_flow_does_is_refused(text: str, said: str) -> None:
    program = f"""{text} (a:Agent {{instruction: "a", model: "A/m"}})
        [b:Tool {{description: "d"}} | (x::Text)==>(::P)] [P:Object | (k::Text), (l::Text)]
        [t:Tool {{description: "d"}} | (k::Text)==>(l::Text)==>(::Text)]"""

    with pytest.raises(NoCounterpartError, match=said):
        to_agent_spec(parse_program(program), "w")


def test_a_placeholder_that_is_no_input_is_refused_with_its_place() -> None:
    program = parse_program('(a:Agent {instruction: "Speak {{language}}.", model: "A/m"})')

    with pytest.raises(NoCounterpartError, match=r"a\.instruction: {{language}} would be an input"):
        to_agent_spec(program)


def test_names_and_titles_of_tools_are_kept_where_they_can_be() -> None:
    made = to_agent_spec(
        parse_program(
            """[a:Agent {instruction: "x", model: "A/m"} | [t:Tool {description: "d"} |
            (`a-b`::Array {elementType: "E"})==>(::R),
            [E:Object {title: "An item"} | (k::Text)], [R:Object | (`c.d`::Text), (e::Text)]]]"""
        )
    )

    assert [*map(str, made.losses)] == [
        'a.tools.t.a-b.title: a title has no blanks and no quotes: "An item" is left out',
        'a.tools.t.c.d: its name is written "c_d", as that of an input or output can be',
    ]
    (tool,) = resolve(parse_program(from_agent_spec(made.text).text)).elements
    assert [*types_in(tool).inputs["properties"]] == ["a-b"]
    assert types_in(tool).inputs["properties"]["a-b"]["items"]["properties"] == {"k": TEXT}


# --- from files of others


def edge(source: Any, target: Any, branch: str | None = None) -> ControlFlowEdge:
    return ControlFlowEdge(name="c", from_node=source, to_node=target, from_branch=branch)


def wire(source: Any, output: str, target: Any, title: str) -> DataFlowEdge:
    return DataFlowEdge(
        name="d", source_node=source, source_output=output, destination_node=target,
        destination_input=title,
    )  # fmt: skip


def flow_of(*edges: ControlFlowEdge, data: Sequence[DataFlowEdge] = ()) -> Flow:
    """A flow of the nodes that its edges lead from and to."""
    ends = (each for edge in edges for each in (edge.from_node, edge.to_node))
    nodes = [*{each.name: each for each in ends}.values()]
    return Flow(
        name="f", start_node=edges[0].from_node, nodes=nodes, control_flow_connections=[*edges],
        data_flow_connections=[*data] or None,
    )  # fmt: skip


def told(component: Component) -> list[str]:
    return [str(each) for each in from_agent_spec(text_of(component)).losses]


def test_each_thing_without_a_counterpart_is_told_with_its_path() -> None:
    secret = "sk-very-secret-1234567890"
    url = "http://me:pw@host:1/v1"
    llm = VllmConfig(name="v", description="v", model_id="m", url=url, api_key=secret)
    remote = RemoteTool(name="a", description="d", url="http://x/{{city}}", http_method="GET")
    tools = [remote, ServerTool(name="a", requires_confirmation=True)]
    agent = Agent(
        name="a [b] `", llm_config=llm, system_prompt="On {{topic}}.", tools=tools,
        human_in_the_loop=False, metadata={"by": "me"},
    )  # fmt: skip

    made = from_agent_spec(text_of(agent))

    paths = [each.path.removeprefix("a [b] `.") for each in made.losses]
    assert paths == [
        "metadata", "human_in_the_loop", "llm_config.description", "llm_config.url",
        "llm_config.api_key", "system_prompt", "tools.a.url", "tools.a.http_method", "tools.a",
        "tools.a", "tools.a.requires_confirmation", "tools.a.description",
    ]  # fmt: skip
    assert "VLLM_BASE_URL=http://host:1/v1" in str(made.losses[3])
    assert secret not in str(made) + text_of(agent)
    assert "pw@" not in str(made)
    assert resolve(parse_program(made.text)).value.identity == "a [b] `"


def test_servers_that_speak_as_openai_does_are_providers_of_their_own() -> None:
    servers = ("https://llm.acme.com:8443/v1", "http://inside/v1")
    configs = [OpenAiCompatibleConfig(name="l", model_id="m", url=each) for each in servers]
    made = [
        from_agent_spec(text_of(Agent(name="a", llm_config=each, system_prompt="Hi")))
        for each in configs
    ]

    models = [view(lenses_ext.agent_model, resolve(parse_program(each.text))) for each in made]
    assert [*map(str, models)] == ["llm_acme_com_8443/m", "inside/m"]
    assert str(made[1].losses[0]).endswith("INSIDE_BASE_URL=http://inside/v1")


@pytest.mark.parametrize(
    "llm",
    [
        OllamaConfig(name="l", model_id="m", url="localhost:11434"),
        OpenAiConfig(name="l", model_id="m", api_type="responses"),
    ],
)
def test_what_is_usual_of_a_provider_is_not_told(llm: Any) -> None:
    assert told(Agent(name="a", llm_config=llm, system_prompt="Hi")) == []


def test_an_address_that_is_that_of_the_provider_but_for_https_is_told() -> None:
    llm = OllamaConfig(name="l", model_id="m", url="https://localhost:11434")
    (said,) = told(Agent(name="a", llm_config=llm, system_prompt="Hi"))
    assert said.endswith("OLLAMA_BASE_URL=https://localhost:11434")


def llm_step(name: str, prompt: str, output: str, **schema: Any) -> LlmNode:
    outputs = titled(output, **schema)
    return LlmNode(name=name, llm_config=LLM, prompt_template=prompt, outputs=outputs)


def choosing(takes: str) -> Flow:
    """A flow that chooses by a label, and goes on with some output of the input or the chooser."""
    start, end = StartNode(name="s", inputs=titled("q")), EndNode(name="e", outputs=titled("a"))
    chooser = llm_step("kind", "{{q}}", "k", enum=["x", "y"])
    branching = BranchingNode(name="b", mapping={"x": "X"})
    left, right = llm_step("left", "{{q}}", "a"), llm_step("right", "{{q}}", "a")
    source, output = (start, "q") if takes == "q" else (chooser, "k")
    return flow_of(
        edge(start, chooser), edge(chooser, branching), edge(branching, left, "X"),
        edge(branching, right, "default"), edge(left, end), edge(right, end),
        data=[
            wire(start, "q", chooser, "q"), wire(chooser, "k", branching, "branching_mapping_key"),
            wire(source, output, left, "q"), wire(start, "q", right, "q"),
            wire(left, "a", end, "a"), wire(right, "a", end, "a"),
        ],
    )  # fmt: skip


def test_a_flow_is_a_workflow_where_it_means_the_same() -> None:
    made = from_agent_spec(text_of(choosing("q")))

    flow = workflow_of(resolve(parse_program(made.text), "f"))
    assert {each.target for each in flow.arrows if each.is_choice} == {"left", "right"}
    assert flow.inputs == ("q",)


def test_a_flow_that_means_something_else_is_not_made_and_its_parts_are() -> None:
    made = from_agent_spec(text_of(choosing("k")))

    assert str(made.losses[-1]).startswith("f: not made, as a record is carried, which is not what")
    assert {each.value.identity for each in parse_program(made.text).patterns} == {
        "kind", "left", "right",
    }  # fmt: skip


def test_a_flow_that_goes_back_is_told_by_that() -> None:
    start, end = StartNode(name="s", inputs=titled("q")), EndNode(name="e")
    step = llm_step("l", "{{q}}", "k")
    branching = BranchingNode(name="b", mapping={"x": "X"})
    flow = flow_of(
        edge(start, step), edge(step, branching), edge(branching, end, "X"),
        edge(branching, step, "default"),
        data=[wire(start, "q", step, "q"), wire(step, "k", branching, "branching_mapping_key")],
    )  # fmt: skip

    assert told(flow)[-1] == "f: not made, as it goes back to l, without a bound"


def test_a_flow_whose_steps_take_some_of_the_inputs_is_not_made() -> None:
    start = StartNode(name="s", inputs=titled("x", "y"))
    tool = ServerTool(name="up", description="d", inputs=titled("x"), outputs=titled("r"))
    step, end = ToolNode(name="up", tool=tool), EndNode(name="e", outputs=titled("r"))
    (said,) = told(flow_of(edge(start, step), edge(step, end)))

    assert said.startswith('f: not made, as the input of "f" is not what "up" (0) takes')


def test_a_flow_whose_workflow_would_have_other_edges_is_not_made() -> None:
    tool = ServerTool(name="up", inputs=titled("x", default="d"), outputs=titled("r"))
    start, step = StartNode(name="s", inputs=titled("q")), ToolNode(name="up", tool=tool)
    end = EndNode(name="e", outputs=titled("r"))
    flow = flow_of(edge(start, step), edge(step, end), data=[wire(step, "r", end, "r")])

    said = 'f: not made, as a workflow of its steps differs between the start and "up"'
    assert told(flow)[-1] == said


def test_a_step_that_programs_have_not_is_told() -> None:
    start, end = StartNode(name="s"), EndNode(name="e")
    api = ApiNode(name="api", url="http://x", http_method="GET")
    with pytest.raises(NoCounterpartError, match=r"f\.api: ApiNode has no counterpart"):
        from_agent_spec(text_of(flow_of(edge(start, api), edge(api, end))))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [", "not Agent Spec: line 2"),
        ("{}", 'it has no "component_type"'),
        ("component_type: Agent\nagentspec_version: 26.1.0", "its loader refuses it"),
        ("component_type: Nothing\nagentspec_version: 26.1.0", "its loader refuses it"),
        ("component_type: !!python/object:os.system {}", "could not determine a constructor"),
    ],
)
def test_what_is_no_agent_spec_is_refused_with_the_name_of_the_file(text: str, said: str) -> None:
    with pytest.raises(GramDecodeError, match=r"^odd\.yaml") as error:
        from_agent_spec(text, "odd.yaml")
    assert said in str(error.value)


# --- the command


def test_convert_goes_to_agent_spec_and_back(tmp_path: Path) -> None:
    program = tmp_path / "a.gram"
    program.write_text('(a:Agent {instruction: "Be kind.", model: "A/m", mood: 1})')
    written = gram("convert", str(program), "--to", "agentspec")
    there = tmp_path / "a.yaml"
    there.write_text(written.stdout)

    back = gram("convert", str(there))

    assert written.stderr == f"{program}: a.mood: has no counterpart\n"
    assert back.stdout == '(a:Agent {instruction: "Be kind.", model: "A/m"})\n'
    assert gram("convert", "-", "--to", "gram", stdin=written.stdout).stdout == back.stdout


def test_convert_fails_where_nothing_can_be_made(tmp_path: Path) -> None:
    config = pyagentspec.A2AConnectionConfig(name="c")
    other = pyagentspec.A2AAgent(name="far", agent_url="http://x", connection_config=config)
    far = tmp_path / "far.yaml"
    far.write_text(text_of(other))

    done = gram("convert", str(far))

    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith(f"{far}: far: A2AAgent has no counterpart")
