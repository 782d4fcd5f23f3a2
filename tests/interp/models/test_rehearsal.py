"""The offline stand-in: deterministic, and able to take a program from end to end."""

import json
from typing import Any

import pytest
from hypothesis import given

import lenses_ext as ext
from gram import Pattern, loads_one
from interp import ToolLibrary, create_tool, hello_world_tool_library, run
from interp.machine.contracts.values import check
from interp.machine.messages import empty_context
from interp.models.without_network import Filling
from lenses_ext import each_agent_tool, parse_program, tool_spec_description, tool_spec_name, view
from tests.lenses_ext import strategies as strategies

OFFLINE = "Offline/rehearsal"


def talk(agent: Pattern, *said: str) -> list[str]:
    """The answers of one conversation."""
    context, answers = empty_context, []
    for text in said:
        response = run(agent, text, hello_world_tool_library, context, model=OFFLINE)
        context = response.context
        answers.append(response.content)
    return answers


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("Hello, I'm Alice!", "Alice"), ("Hi there, my name is Mary Ann", "Mary Ann"),
        ("Greetings! Call me Zoë.", "Zoë"), ("hi, my name is al", "al"), ("Hello Bob", "Bob"),
        ("Please greet Émile", "Émile"), ("hello", "world"), ("Hello!", "world"),
        ("Hi there", "world"), ("Good morning!", "world"), ("Hey, how are you?", "world"),
        ("Hello, I'm fine, nice to meet you", "world"), ("Say hello to the team", "world"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("parameter", ['personName::Text {default: "world"}', "who::Text"])
def test_a_greeting_calls_the_tool_with_the_name_that_was_given(
    parameter: str, said: str, name: str
) -> None:
    agent = loads_one(
        f"""[greeter:Agent {{instruction: "Greet.", model: "{OFFLINE}"}} |
          [sayHello:Tool {{description: "Returns a friendly greeting message"}} |
            ({parameter})==>(::String)]]"""
    )
    greet = ToolLibrary.of(
        [create_tool("sayHello", "x", {}, lambda args: args.get(parameter.split(":")[0], "world"))]
    )

    used = run(agent, said, greet, match="name").tools_used

    assert [each.result for each in used] == [name]


def test_a_name_given_earlier_informs_a_later_call(hello_world: Pattern) -> None:
    said = ("My name is Bob", "oh, hello by the way")
    answers = talk(hello_world, *said)
    assert answers == talk(hello_world, *said)  # always the same
    assert answers[0].startswith("(rehearsal, no language model)")
    assert answers[1] == "Hello, Bob! Nice to meet you."


def test_what_another_agent_rehearsed_is_not_said_twice(hello_world: Pattern) -> None:
    (once,) = talk(hello_world, "what is the weather?")
    assert once.endswith("You said: what is the weather?")
    assert talk(hello_world, once) == [once]


def test_the_tool_that_fits_best_is_called_and_of_equals_the_first() -> None:
    names = ["cancelFlight", "bookFlight", "bookTrain", "bookFlights"]
    tools = ", ".join(f'[{name}:Tool {{description: "x"}} | (::Text)]' for name in names)
    agent = loads_one(f'[a:Agent {{instruction: "x", model: "{OFFLINE}"}} | {tools}]')
    library = ToolLibrary.of([create_tool(name, "x", {}, lambda _: "done") for name in names])

    for said, called in (("Book a flight", "bookFlight"), ("book", "bookFlight"), ("hm", None)):
        used = run(agent, said, library, match="name").tools_used
        assert [each.tool_name for each in used] == ([called] if called else [])


def test_arguments_of_every_kind_are_found_or_made_up() -> None:
    agent = loads_one(
        """
        [shop:Agent {instruction: "Sell.", model: "Offline/rehearsal"} |
          [orderFruit:Tool {description: "Orders fruit for delivery"} |
            (fruit::String {enum: ["apples", "pears"]})==>(count::Integer)==>(price::Number)
            ==>(gift::Boolean)==>(note::String)==>(tags::Array)==>(::String)],
          [cancel:Tool {description: "Cancels everything"} | ()==>(::String)]]
        """
    )
    seen: list[object] = []
    tools = [
        create_tool(
            view(tool_spec_name, spec),
            view(tool_spec_description, spec),
            view(ext.tool_spec_schema, spec),
            lambda args: seen.append(args) or "ok",
        )
        for spec in each_agent_tool.collect()(agent)
    ]

    run(agent, 'Order 3 pears at 2.5 each as a gift, note "ripe"', ToolLibrary.of(tools))

    assert seen == [
        {"fruit": "pears", "count": 3, "price": 2.5, "gift": True, "note": "ripe", "tags": []}
    ]


@given(strategies.strict_arguments())
def test_what_is_made_up_is_of_the_type(case: tuple[dict[str, Any], dict[str, Any]]) -> None:
    schema, _ = case
    check(schema, Filling(schema, ["Hello, 3 or 4?"]).value())


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "minimum": 3},
        {"type": "integer", "maximum": -3},
        {"type": "integer", "minimum": 4, "multipleOf": 3},
        {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        {"type": "string", "maxLength": 2},
        {"type": "string", "format": "date-time"},
        {"type": "string", "minLength": 9.0, "maxLength": 9.0},
        {"type": "array", "items": {"type": "null"}, "minItems": 2.0},
        {"const": [None]},
        {"anyOf": [{"type": "null"}, {"type": "boolean"}]},
        {"$ref": "#/$defs/A"},
    ],
)
def test_what_is_made_up_keeps_within_bounds(schema: dict[str, Any]) -> None:
    whole = {
        "type": "object",
        "properties": {"a": schema},
        "required": ["a"],
        "$defs": {"A": {"type": "object", "properties": {"b": {"$ref": "#/$defs/A"}}}},
    }

    check(whole, Filling(whole, ["100"]).value())


TREE = {"anyOf": [{"$ref": "#/$defs/Tree"}, {"type": "null"}]}
INLINE = {
    "type": "object",
    "properties": {"left": {"$ref": "#/$defs/Tree"}, "right": {"$ref": "#/$defs/Tree"}},
    "required": ["left", "right"],
}
LIST = {"type": "array", "items": {"$ref": "#/$defs/List"}, "minItems": 50}
BOTH = {**INLINE, "properties": {"left": TREE, "right": TREE}}


@pytest.mark.parametrize(
    "tree", [BOTH, {"anyOf": [INLINE, {"type": "null"}]}, {"anyOf": [INLINE, {"type": "integer"}]}]
)
def test_a_type_that_holds_its_kind_ends_where_it_may(tree: dict[str, Any]) -> None:
    schema = {"$ref": "#/$defs/Tree", "$defs": {"Tree": tree}}
    value = Filling(schema, [""]).value()
    check(schema, value)


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/Tree", "$defs": {"Tree": INLINE}},
        {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]},
        {"type": "string", "minLength": 10**9},
        {"type": "array", "items": {"type": "string"}, "minItems": 10**9},
        {"$ref": "#/$defs/List", "$defs": {"List": LIST}},
    ],
)
def test_what_would_be_too_large_is_given_up(schema: dict[str, Any]) -> None:
    assert len(str(Filling(schema, [""]).value())) < 200_000


@pytest.mark.parametrize(
    ("said", "schema", "value"),
    [
        ("9007199254740993", {"type": "integer"}, 9007199254740993),
        ("9007199254740993", {"type": "number"}, 9007199254740993),
        ("2.9 and 3", {"type": "integer"}, 2),
        ("9" * 400, {"type": "integer"}, 0),
        ("0" * 5000 + " or 7", {"type": "integer"}, 7),
        ("9" * 5000 + " or 7", {"type": "integer"}, 7),
        ("", {"type": "number", "minimum": 1e308, "multipleOf": 1e-300}, 1e308),
        ("", {"type": "integer", "minimum": 10**400, "multipleOf": 0.5}, 0),
    ],
)
def test_numbers_keep_their_digits_and_stay_within_floats(
    said: str, schema: dict[str, Any], value: float
) -> None:
    whole = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    assert Filling(whole, [said]).value() == {"a": value}


def test_every_arm_of_a_choice_is_seen_in_some_round() -> None:
    asker = loads_one(
        f"""[asker:Agent {{instruction: "Ask.", model: "{OFFLINE}"}} |
          [:Answer:String {{enum: ["left", "right", "on"]}}]]"""
    )
    assert talk(asker, "a", "b", "c", "d") == ["left", "right", "on", "left"]
    assert talk(asker, "a", "turn left") == ["left", "left"]


@pytest.mark.parametrize(
    ("answer", "until"),
    [
        ('[:Answer:String {enum: ["again", "drop", "fine"]}]', '"fine"'),
        (
            '[:Answer:Object | (verdict::String {enum: ["again", "fine"]}), (remarks::Text)]',
            '{verdict: "fine"}',
        ),
    ],
)
def test_a_loop_ends_though_its_writer_says_the_verdict_back(answer: str, until: str) -> None:
    program = parse_program(
        f"""
        [polish:Loop {{max: 5, until: {{judge: {until}}}}} |
          smith, judge, (smith)-->(judge), (smith)-->()]
        [smith:Agent {{instruction: "Write.", model: "{OFFLINE}"}}]
        [judge:Agent {{instruction: "Judge.", model: "{OFFLINE}"}} | {answer}]
        """
    )

    assert not run(program, "A verse").unfinished


def test_the_worker_of_each_is_seen_at_work() -> None:
    program = parse_program(
        f"""
        [w:Workflow | (planner)-[:EACH]->(poet)]
        [planner:Agent {{instruction: "Name parts.", model: "{OFFLINE}"}} | (t::Text)==>(::Array)]
        [poet:Agent {{instruction: "Write.", model: "{OFFLINE}"}}]
        """
    )

    assert len(json.loads(run(program, "A poem").content)) == 1
