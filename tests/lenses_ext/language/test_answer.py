"""The answer that an agent declares: its schema, its faults, how it is written."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given

import lenses_ext as ext
from gram import Pattern, loads_one
from lenses_ext import agent_answer, agent_answer_schema, put, view, write_program
from lenses_ext.schemas import canonical
from tests.lenses_ext.strategies import json_schemas

PERSON = "[person::Answer::Object | (name::String), (age::Integer {optional: true})]"


def agent(elements: str) -> Pattern:
    """An agent with the text of its elements."""
    return loads_one(f'[a:Agent {{instruction: "x", model: "A/b"}} | {elements}]')


@pytest.mark.parametrize(
    ("answer", "schema"),
    [
        ("(::Answer::Integer)", {"type": "integer"}),
        ("(:Answer:Text:Null)", {"type": ["string", "null"]}),
        ("(::Answer::Any)", {}),
        ('(::Answer::Array {elementType: "String", description: "Names"})',
         {"type": "array", "description": "Names", "items": {"type": "string"}}),
        (PERSON,
         {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
          "required": ["name"]}),
        ("[::Answer::Type::Object | (next::Answer {optional: true})]",
         {"$ref": "#/$defs/Answer",
          "$defs": {"Answer": {"type": "object",
                               "properties": {"next": {"$ref": "#/$defs/Answer"}}}}}),
    ],
)  # fmt: skip
def test_the_type_of_an_answer_is_a_schema(answer: str, schema: dict[str, Any]) -> None:
    assert ext.validate_agent_pattern(agent(answer)) == ()
    assert view(agent_answer_schema, agent(answer)) == schema
    assert write_program(agent(answer.replace("::", ":"))) == write_program(agent(answer))


PERSON_SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


@pytest.mark.parametrize(
    ("answer", "schema"),
    [
        ("(:Answer:Person)", PERSON_SCHEMA),
        ('(:Answer:Array {elementType: "Person"})', {"type": "array", "items": PERSON_SCHEMA}),
        ("[:Answer | (:Person)]", PERSON_SCHEMA),
        (
            '[:Answer | (:Array {elementType: "Other"}), [Other:Object | (name:Text)]]',
            {"type": "array", "items": PERSON_SCHEMA},
        ),
        ("(:Answer:Text)", {"type": "string"}),
    ],
)
def test_an_answer_may_name_a_type_that_the_document_shares(
    answer: str, schema: dict[str, Any]
) -> None:
    text = f'[a:Agent {{instruction: "x", model: "A/b"}} | {answer}]\n[Person:Object | (name:Text)]'
    patterns = ext.parse_program(text).patterns

    resolved = ext.resolve(patterns)

    assert ext.validate_program(patterns) == ()
    assert ext.validate_agent_pattern(resolved) == ()
    assert view(agent_answer_schema, resolved) == schema
    assert ext.resolve(resolved) == resolved


def test_the_lens_onto_the_answer_leaves_the_tools_where_they_are() -> None:
    program = agent(f"(t:Tool), {PERSON}, (u:Tool)")
    answer = loads_one("(::Answer::Integer)")

    changed = put(agent_answer, answer, program)

    assert view(agent_answer, changed) == answer
    assert put(agent_answer, view(agent_answer, program), program) == program
    emptied = put(agent_answer, None, changed)
    assert view(agent_answer, emptied) is view(agent_answer_schema, emptied) is None
    assert view(ext.agent_tool_specs, put(agent_answer, None, changed)) == view(
        ext.agent_tool_specs, program
    )


def test_fields_of_an_answer_that_is_no_record_have_a_hint_of_their_own() -> None:
    text = '[a:Agent {instruction: "x", model: "A/b"} | [:Answer | (name:Text), (age:Int)]]'

    (fault,) = ext.validate_program(ext.parse_program(text).patterns)

    assert (fault.code, fault.hint) == (
        "no-return",
        "fields are those of a record: [:Answer:Object | …]",
    )


@pytest.mark.parametrize(
    ("elements", "code", "place"),
    [
        ("(:Answer)", "no-type", "p.gram:2:1"),
        ("(:Answer:Txet)", "unknown-type", "p.gram:2:3"),
        ("[:Answer:Object | (name:Txet)]", "unknown-type", "p.gram:2:25"),
        ('(:Answer:Integer {minimum: "0"})', None, "p.gram:2:28"),
        ("(:Answer:Integer), (:Answer:Text)", "duplicate-answer", "p.gram:2:20"),
        ("[:Answer | (x:Text)-->(:Text)]", "answer-parameters", "p.gram:2:1"),
        ("[:Answer | (:Txet)]", "unknown-type", "p.gram:2:14"),
        ("(:Anwser:Integer)", "unexpected-element", "p.gram:2:1"),
    ],
)
def test_a_wrong_answer_is_a_fault_with_its_place(
    elements: str, code: str | None, place: str
) -> None:
    text = f'[a:Agent {{instruction: "x", model: "A/b"}} |\n{elements}]'

    (fault,) = ext.validate_program(ext.parse_program(text, "p.gram").patterns)

    assert code in (fault.code, None)
    assert str(fault).startswith(place)
    if code != "unexpected-element":
        with pytest.raises(ext.FocusError):
            view(agent_answer_schema, loads_one(text))


@given(json_schemas())
def test_a_schema_comes_back_from_its_answer(schema: Any) -> None:
    assume(isinstance(schema, dict) and "default" not in schema)
    try:
        answer = ext.json_schema_to_answer(schema)
    except ext.SignatureError:
        assume(False)  # it is no schema

    assert canonical(ext.answer_schema(loads_one(write_program(answer)))) == canonical(schema)


@pytest.mark.parametrize(
    ("schema", "answer"),
    [
        ({"type": "integer", "default": 3}, "(:Answer:Integer)"),
        ({"type": "object", "properties": {"a": {"type": "null"}}, "title": "T"},
         '[:Answer:Object {title: "T"} | (a:Null {optional: true})]'),
        ({"type": "array", "items": {"$ref": "#/$defs/N"}, "$defs": {"N": {"type": "integer"}}},
         '[:Answer | (:Array {elementType: "N"}), (N:Integer:Type)]'),
    ],
)  # fmt: skip
def test_a_schema_is_written_as_an_answer(schema: dict[str, Any], answer: str) -> None:
    assert write_program(ext.json_schema_to_answer(schema)) == answer


def test_an_agent_is_made_with_its_answer_and_its_settings_and_nothing_else() -> None:
    answer = ext.json_schema_to_answer({"type": "integer"})
    made = ext.create_agent_pattern(
        "a", None, "A/b", "x", answer=answer, settings={"temperature": 0.2, "stop": ["."]}
    )

    assert view(agent_answer_schema, made) == {"type": "integer"}
    settings = view(ext.agent_settings, made)
    assert settings is not None
    assert settings.as_json() == {"stop": ["."], "temperature": 0.2}
    assert ext.validate_agent_pattern(made) == ()
    for wrong, message in (
        ({"answer": loads_one("(a:Tool)")}, "expected a pattern labelled Answer"),
        ({"settings": {"temprature": 1}}, "did you mean temperature?"),
        ({"settings": {"temperature": "x"}}, "temperature is a number"),
    ):
        with pytest.raises(ext.FocusError, match=message):
            ext.create_agent_pattern("a", None, "A/b", "x", **wrong)
