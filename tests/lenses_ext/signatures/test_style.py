"""Programs are written in the signature style inside tools, and in plain gram elsewhere."""

from hypothesis import given

import gram
from gram import Pattern, Subject, loads, loads_one
from lenses_ext import signature_text, write_program
from lenses_ext.signatures import signature_elements
from lenses_ext.signatures.writer import agent_style
from tests.gram.strategies import forests

AGENT = """\
[a:Agent {instruction: "Greet."} | \
[say:ToolSpecification {description: "Says it"} | \
(name::Text {default: "world"})==>(n::Int)==>(::String), \
[::Parameters {additionalProperties: false}], \
[Colour::String {enum: ["red"]}], \
[URL::Object | (a::Text), (b::Colour)], \
[Many::Array | [::AnyOf | (::Text), (::Null)]]], \
[now:Tool | ()==>(::String)], \
[one:Tool | (::String)], \
other]
[User:Object:Type | (name:String)]
(x)-->(y)"""


def test_a_program_is_written_in_its_own_style() -> None:
    assert write_program(loads(AGENT)) == AGENT
    tool = "[t:Tool | (a::Text)==>(::String), [U::Object | (a::Text), (b::Text)], [X | (a), (b)]]"
    assert write_program(loads_one(tool)) == tool.replace("(a), (b)", "a, b")


def test_the_signature_text_reads_back_as_the_elements() -> None:
    tool = loads(AGENT)[0].elements[0]

    text = signature_text(tool)

    assert text.splitlines()[:2] == [
        '(name::Text {default: "world"})==>(n::Int)==>(::String)',
        "[::Parameters {additionalProperties: false}]",
    ]
    assert loads(text) == tool.elements
    assert signature_elements(text) == tool.elements


@given(forests())
def test_any_program_reads_back(trees: tuple[Pattern, ...]) -> None:
    agent = Pattern(Subject("a", {"Agent"}), [Pattern(Subject("t", {"Tool"}), trees), *trees])

    text = gram.dumps(agent, style=agent_style)

    assert loads(signature_text(agent.elements[0])) == trees
    assert loads_one(text) == agent
    assert write_program(loads_one(text)) == text
