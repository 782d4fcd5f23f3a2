"""Programs drawn: what there is to draw, and that any name stays in its label."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, strategies as st

from gram import Pattern, Subject, loads_one
from lenses_ext import ProgramError, agent_model, drawing_of, resolve, to_dot, to_mermaid, to_svg
from lenses_ext.drawings import Drawing
from lenses_ext.signatures import parse_program
from tests.gram.display.test_markup import HOSTILE
from tests.gram.strategies import patterns
from tests.paths import cases, tables

PROGRAM = tables("drawings.toml")["desk"]


def arrows(drawing: Drawing) -> set[tuple[str, str, str, str]]:
    """Each arrow, by the names of its ends; where a workflow begins and ends has its group's."""
    groups = {group.key: group.name for group in drawing.groups}
    names = {
        node.key: node.name or f"{groups[node.group or '']} {node.kind}" for node in drawing.nodes
    }
    return {(names[e.source], e.kind, names[e.target], e.label) for e in drawing.edges}


@pytest.mark.parametrize("case", cases("drawings.toml"), ids=lambda case: case["claim"])
def test_there_are_arrows_to_draw(case: dict[str, Any]) -> None:
    drawing = drawing_of(parse_program(case.get("program", PROGRAM)), case.get("agent"))
    found = {each for each in arrows(drawing) if each[1] in case["only"]}
    assert found == set(map(tuple, case["arrows"]))
    assert to_svg(drawing).startswith("<svg")


def test_a_definition_is_drawn_once_and_what_uses_it_again_beside_it() -> None:
    drawing = drawing_of(parse_program(PROGRAM))
    nodes = [(node.name, node.kind) for node in drawing.nodes if node.name]

    assert nodes.count(("search", "tool")) == 1
    assert nodes.count(("writer", "agent")) == 2, "the second workflow has a use of it"
    assert ("gone", "undefined") in nodes
    inside = {
        node.name for node in drawing_of(parse_program(PROGRAM), "newsroom").nodes if node.group
    }
    assert {"writer", "editor", "again"} <= inside
    assert "search" not in inside
    resolved = drawing_of(resolve(parse_program(HANDS), "triage"))
    assert arrows(resolved) == {("triage", "handoff", "billing", "hands over")}
    assert {node.kind for node in resolved.nodes} == {"agent"}


HANDS = "[triage:Agent | (triage)-[:HANDOFF]->(billing)] [billing:Agent]"


def test_an_agent_as_mermaid() -> None:
    text = '[a:Agent {model: "OpenAI/x"} | search, [t:Tool | (n::Text)==>(::String)]]'

    assert to_mermaid(drawing_of(loads_one(text))).splitlines() == [
        "flowchart LR",
        '  n0(["a<br>OpenAI/x"])',
        '  n1["search<br>not defined"]',
        '  n2["t<br>(n#58;#58;Text)==#62;(#58;#58;String)"]',
        "  n0 --> n1",
        "  n0 --> n2",
        "  classDef undefined stroke:#c0392b,stroke-dasharray:4 3",
        "  class n1 undefined",
    ]


@pytest.mark.parametrize("program", ["", "(a:Person)", "{k: 1}", "(a)-->(b)"])
def test_where_there_is_nothing_to_draw_it_is_said(program: str) -> None:
    with pytest.raises(ProgramError, match="nothing to draw"):
        drawing_of(parse_program(program))
    with pytest.raises(ProgramError, match="did you mean refine"):
        drawing_of(parse_program(PROGRAM), "refin")


# --- hostile names

hostile = st.text(min_size=1, max_size=30) | st.sampled_from(HOSTILE)


@st.composite
def programs(draw: st.DrawFn) -> Pattern:
    """A workflow with an agent, a tool and an arrow, of any names."""
    name = draw(hostile), draw(hostile), draw(hostile)
    tool = Pattern(Subject(name[2], {"Tool"}, {"description": draw(hostile)}))
    agent = Pattern(Subject(name[1], {"Agent"}, {"model": draw(hostile)}), [tool])
    ends = [Pattern(Subject(name[1])), Pattern(Subject(draw(hostile)))]
    arrow = Pattern(Subject("", {"WHEN"}, {"is": draw(hostile)}), ends)
    return Pattern(Subject(name[0], {"Workflow"}), [agent, arrow])


LABEL = r'"[^"\n]*"'


@given(programs())
def test_names_stay_in_their_labels_and_pictures_have_the_same_parts(program: Pattern) -> None:
    for line in to_mermaid(drawing_of(program)).splitlines():
        label = re.search(LABEL, line)
        bare = re.sub(LABEL, "L", line)

        assert re.fullmatch(
            r"flowchart LR| *(n\d+[\[(]+L[\])]+|subgraph g\d+\[L\]|end"
            r"|n\d+ (-->|==>|-\.->)(\|L\|)? n\d+|class(Def)? [\w,]+ .*)",
            bare,
        )
        assert label is None or not re.search(r"[<>&`\\]", label[0].replace("<br>", ""))

    tree = ElementTree.fromstring(to_svg(drawing_of(program)))
    tags = [each.tag.rpartition("}")[2] for each in tree.iter()]

    assert set(tags) <= {
        "svg", "title", "style", "defs", "marker", "path", "g", "rect", "text", "circle"
    }  # fmt: skip
    assert tags.count("circle") == 3
    assert tags.count("marker") == 1


needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="graphviz is not installed")


@needs_dot
@given(programs())
def test_graphviz_reads_what_is_written(program: Pattern) -> None:
    drawing = drawing_of(program)
    done = subprocess.run(
        ["dot", "-Tplain"], input=to_dot(drawing).encode(), capture_output=True, check=False
    )

    lines = done.stdout.decode().splitlines()
    assert done.returncode == 0, done.stderr
    assert len([line for line in lines if line.startswith("node ")]) == len(drawing.nodes)
    assert len([line for line in lines if line.startswith("edge ")]) == len(drawing.edges)


@given(patterns())
def test_anything_in_an_agent_can_be_drawn(tree: Pattern) -> None:
    drawing = drawing_of(Pattern(Subject("a", {"Agent"}), [tree] if tree.levels < 90 else []))
    assert to_mermaid(drawing).startswith("flowchart LR\n")
    ElementTree.fromstring(to_svg(drawing))


def test_a_hundred_tools_are_drawn_below_each_other() -> None:
    tools = "".join(f", [t{index}:Tool]" for index in range(100))
    drawing = drawing_of(parse_program(f"[a:Agent | b{tools}]"))
    places = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)"', to_svg(drawing))
    assert len(set(places)) == 102


def test_a_notebook_shows_the_drawing_and_the_style_of_programs() -> None:
    assert agent_model  # the language is loaded: it says how agents are shown
    agent = loads_one('[a:Agent {model: "OpenAI/x"} | [t:Tool | (n::Text)==>(::String)]]')
    form = agent._repr_mimebundle_()
    assert form["text/vnd.mermaid"] == to_mermaid(drawing_of(agent))
    assert "::" in form["text/html"]
    assert form["text/html"].count("<svg") == 1
