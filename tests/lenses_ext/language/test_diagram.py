"""An agent drawn as Mermaid."""

from __future__ import annotations

from hypothesis import given

from gram import Pattern, loads_one
from lenses_ext import agent_model
from lenses_ext.language.diagram import agent_diagram
from tests.gram.strategies import patterns

AGENT = """[a:Agent {model: "OpenAI/x"} |
  search,
  [t:Tool {description: "d"} | (n::Text)==>(::String)],
  [inner:Agent | u],
  (note)-->(other)]"""


def test_an_agent_has_its_model_its_tools_and_the_agents_in_it() -> None:
    assert agent_diagram(loads_one(AGENT)).splitlines() == [
        "flowchart LR",
        '  n0(["a<br>OpenAI/x"])',
        '  n1["search"]',
        "  n0 --> n1",
        '  n2["t<br>(n#58;#58;Text)==#62;(#58;#58;String)"]',
        "  n0 --> n2",
        '  n3(["inner"])',
        '  n4["u"]',
        "  n3 --> n4",
        "  n0 --> n3",
    ]


def test_what_a_name_says_stays_in_its_label() -> None:
    text = agent_diagram(loads_one('(`a"] --> evil`:Agent)'))

    assert text == 'flowchart LR\n  n0(["a#34;#93; --#62; evil"])'


@given(patterns())
def test_anything_can_be_drawn(tree: Pattern) -> None:
    assert agent_diagram(tree).startswith("flowchart LR\n")


def test_a_notebook_shows_the_diagram_and_the_style_of_programs() -> None:
    assert agent_model  # the language is loaded: it says how agents are shown
    form = loads_one(AGENT)._repr_mimebundle_()

    assert form["text/vnd.mermaid"] == agent_diagram(loads_one(AGENT))
    assert "::" in form["text/html"]
