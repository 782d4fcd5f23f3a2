"""Every rule for valid programs: what it says, of which part of the text."""

from __future__ import annotations

from typing import TypeAlias

import attrs
import pytest
from hypothesis import given, strategies as st

from gram import Pattern, Subject, check, dumps, loads_one, parse, replace_at, walk
from gram.diagnostics import PartPath as FaultPath, only_errors
from lenses_ext import (
    new_errors,
    validate_agent_pattern,
    validate_program,
    validate_tool_spec_pattern,
)
from lenses_ext.names import program_scopes
from lenses_ext.rules import PROGRAM_CHECKS
from tests.lenses_ext.strategies import agent_forests, programs

Expected: TypeAlias = tuple[str, str, str, str, FaultPath, str | None]

AGENT = '[a:Agent {instruction: "x", model: "p/m"} | '
"""Stands for the ``A `` that some texts begin with."""

# text: code, severity, message, the text at fault, path, hint
# fmt: off
# ruff: noqa: E501  # a row is read on one line
RULES: list[tuple[str, list[Expected]]] = [
    ('[:Agent {instruction: "x", model: "a/b"}]',
     [('missing-name', 'error', 'an agent needs a name',
       '[:Agent {instruction: "x", model: "a/b"}]', (0,),
       'write it before the label: [name:Agent …]')]),
    ('(a:Agent)',
     [('missing-instruction', 'error', '"a" has no instruction', 'a:Agent', (0, 'instruction'),
       'add instruction: "…"'),
      ('missing-model', 'error', '"a" has no model', 'a:Agent', (0, 'model'), 'add model: "…"')]),
    ('(a:Agent {instructions: "x", model: "a/b"})',
     [('missing-instruction', 'error', '"a" has no instruction',
       'a:Agent {instructions: "x", model: "a/b"}', (0, 'instruction'),
       'did you mean instruction instead of instructions?')]),
    ('(a:Agent {instruction: "x", model: "a/b", modle: 1, temperature: 0.2, team: "own"})',
     [('agent-property', 'warning', 'an agent has no property modle; did you mean model?', '1',
       (0, 'modle'), None),
      ('agent-property', 'warning',
       'temperature is a setting of the model, and counts only in settings', '0.2',
       (0, 'temperature'), 'write settings: {temperature: …}')]),
    ('(a:Agent {instruction: 3, model: 4, description: true})',
     [('instruction-type', 'error', 'the instruction of "a" is a text, found a whole number', '3',
       (0, 'instruction'), None),
      ('model-type', 'error', 'the model of "a" is a text, found a whole number', '4', (0, 'model'),
       None),
      ('description-type', 'error', 'the description of "a" is a text, found true or false', 'true',
       (0, 'description'), None)]),
    ('(a:Agent {instruction: " ", model: "", description: ""})',
     [('empty-instruction', 'error', 'the instruction of "a" is empty', '" "', (0, 'instruction'),
       None), ('empty-model', 'error', 'the model of "a" is empty', '""', (0, 'model'), None),
      ('empty-description', 'error', 'the description of "a" is empty', '""', (0, 'description'),
       None)]),
    ('(a:Agent {instruction: "x", model: "gpt"})',
     [('model-name', 'error', "'gpt' names no provider: write provider/name, such as OpenAI/gpt",
       '"gpt"', (0, 'model'), None)]),
    ('(a:Agent {instruction: "x", model: ["p/m", 5kg]})',
     [('model-name', 'error', 'expected a text, found a number with a unit 5kg', '["p/m", 5kg]',
       (0, 'model'), None)]),
    ('(a:Agent {instruction: "x", model: "/gpt"})',
     [('model-name', 'error', 'a model is written provider/name, both non-empty', '"/gpt"',
       (0, 'model'), None)]),
    ('[a:Agent {instruction: "x", model: "p/m", settings: {temperature: "hot", temprature: 1}}]',
     [('setting-value', 'error', 'temperature is a number from 0 to 2, found "hot"', '"hot"',
       (0, 'settings', 'temperature'), None),
      ('unknown-setting', 'error', 'there is no setting "temprature"', '1',
       (0, 'settings', 'temprature'), 'did you mean temperature?')]),
    ('A [t:Tool {description: "T"} | (::String)], [t:Tool {description: "T"} | (::Text)]]',
     [('duplicate-tool', 'error', 'two tools are named "t", the first at 1:46', 't',
       (0, 1, 'identity'), 'keep one')]),
    ('A [a.b:Tool {description: "T"} | (::String)], [a_b:Tool {description: "T"} | (::Text)]]',
     [('tool-name', 'warning', 'tool name "a.b" is not accepted by model APIs; it is sent as "a_b"',
       'a.b', (0, 0, 'identity'), None),
      ('tool-name-collision', 'error', 'tools "a.b" and "a_b" are both sent as "a_b"', 'a_b',
       (0, 1, 'identity'), None)]),
    (
        'A (n:Note)]',
        [
            ('unexpected-element', 'error', 'an element of an agent is a ToolSpecification, an Agent, a Workflow or an Answer, this has the label Note', '(n:Note)', (0, 0), None),
        ],
    ),
    (
        'A (:Agnt)]',
        [
            ('unexpected-element', 'error', 'an element of an agent is a ToolSpecification, an Agent, a Workflow or an Answer, this has the label Agnt', '(:Agnt)', (0, 0), 'did you mean Agent instead of Agnt?'),
        ],
    ),
    (
        'A (n {k: 1})]',
        [
            ('unexpected-element', 'error', 'an element of an agent is a ToolSpecification, an Agent, a Workflow or an Answer, this has no label', '(n {k: 1})', (0, 0), None),
        ],
    ),
    ('A tol] [tool:Tool {description: "T"} | (::Text)]',
     [('undefined-reference', 'error',
       '"tol" is not defined: no tool or agent of this name is visible here', 'tol', (0, 0),
       'did you mean tool?')]),
    ('A tool]',
     [('undefined-reference', 'error',
       '"tool" is not defined: no tool or agent of this name is visible here', 'tool', (0, 0),
       'if the file defines it, resolve the agent with the whole file first')]),
    ('A b] [b:Agent {instruction: "x", model: "p/m"} | a]',
     [('reference-cycle', 'error', 'agent "a" contains itself: a -> b -> a', 'a', (1, 0), None)]),
    ('A [t:Tool {description: "d"} | (a::String {pattern: "["})==>(::String)]]',
     [('pattern', 'warning',
       'pattern of "a" is not a regular expression: "["; no call can be checked', '"["',
       (0, 0, 0, 0, 'pattern'), None)]),
    ('A (t:Tool)]',
     [('missing-signature', 'error', '"t" has no type signature', '(t:Tool)', (0, 0),
       'write it behind a bar: | (name::Text)==>(::String)'),
      ('missing-description', 'error', '"t" has no description', 't:Tool', (0, 0, 'description'),
       'add description: "…"')]),
    ('A [t:Tool {description: "d"} | (x::Text)==>(::Text), (y::Text)==>(::Text)]]',
     [('second-signature', 'error', 'a tool has one type signature, and this is another',
       '(y::Text)==>(::Text)', (0, 0, 1), 'keep one')]),
    ('A (t:Tool {description: "d", typeSignature: "(name: Text) --> IO Text"})]',
     [('missing-signature', 'error', '"t" has no type signature',
       '(t:Tool {description: "d", typeSignature: "(name: Text) --> IO Text"})', (0, 0),
       'write it behind a bar: | (name::Text)==>(::Text)')]),
    (
        'A [t:Tool {description: "d", typeSignature: "x"} | (::String)], [u:Tool {description: "d", typeSignature: "x"} | (a::Text)==>(::Text)]]',
        [
            ('signature-property', 'warning', 'typeSignature of "t" is not read: its signature is behind the bar', '"x"', (0, 0, 'typeSignature'), 'leave it out'),
            ('signature-property', 'warning', 'typeSignature of "u" is not read: its signature is behind the bar', '"x"', (0, 1, 'typeSignature'), 'leave it out'),
        ],
    ),
    ('[a:Agent {instruction: "x", model: "p/m", typeSignature: "(a: Text) --> Int"}]',
     [('signature-property', 'warning', '"a" has no property typeSignature', '"(a: Text) --> Int"',
       (0, 'typeSignature'), 'write it behind a bar: | (a::Text)==>(::Int)')]),
    ('A [:Tool {description: ""} | (::String)]]',
     [('missing-name', 'error', 'a tool needs a name', '[:Tool {description: ""} | (::String)]',
       (0, 0), 'write it before the label: [name:Tool …]'),
      ('empty-description', 'error', 'the description of a tool is empty', '""',
       (0, 0, 'description'), None)]),
    ('A [t:Tool {descripton: "x"} | (::String)]]',
     [('missing-description', 'error', '"t" has no description', 't:Tool {descripton: "x"}',
       (0, 0, 'description'), 'did you mean description instead of descripton?')]),
    (
        'A [t:Tool {description: 1} | (::Txt)]]',
        [
            ('description-type', 'error', 'the description of "t" is a text, found a whole number', '1', (0, 0, 'description'), None),
            ('unknown-type', 'error', 'unknown type "Txt" of the return type; did you mean "Text"? Known: String, Integer, Number, Boolean, Object, Array, Null, Any, AnyOf, OneOf, AllOf, or a type defined as [Txt:Object | …]', 'Txt', (0, 0, 0, 'labels'), None),
        ],
    ),
    ('A [`tell me`:Tool {description: "T"} | (::String)]]',
     [('tool-name', 'warning',
       'tool name "tell me" is not accepted by model APIs; it is sent as "tell_me"', '`tell me`',
       (0, 0, 'identity'), None)]),
    ('[:Tool {description: "T"} | (::String)]',
     [('missing-name', 'error', 'a tool needs a name', '[:Tool {description: "T"} | (::String)]',
       (0,), 'write it before the label: [name:Tool …]')]),
    ('[t:Tool | (::String)] [t:Tool | (::Text)]',
     [('missing-description', 'error', '"t" has no description', 't:Tool', (0, 'description'),
       'add description: "…"'),
      ('duplicate-definition', 'error', '"t" is defined at 1:2 and again here', 't',
       (1, 'identity'), 'keep one'),
      ('missing-description', 'error', '"t" has no description', 't:Tool', (1, 'description'),
       'add description: "…"')]),
    ('A t] [t:Tool {description: ""} | (::String)]',
     [('empty-description', 'error', 'the description of "t" is empty', '""', (1, 'description'),
       None)]),
]  # fmt: skip
# fmt: on


@pytest.mark.parametrize(("text", "expected"), RULES, ids=[row[0] for row in RULES])
def test_each_fault_is_reported_with_its_place(text: str, expected: list[Expected]) -> None:
    if text.startswith("A "):
        text = AGENT + text.removeprefix("A ")

    faults = validate_program(parse(text, "team.gram").patterns)

    found = []
    for each in faults:
        assert each.span is not None
        assert each.filename == "team.gram"
        at_fault = text[each.span.start : each.span.end]
        found.append((each.code, each.severity, each.message, at_fault, each.path, each.hint))
    assert found == expected


def test_a_pattern_without_the_label_is_neither_an_agent_nor_a_tool() -> None:
    agent = loads_one('(a:Agnt {instruction: "x", model: "p/m"})')
    tool = loads_one('[t {description: "T"} | (::Text)]')

    assert [(str(each), each.hint) for each in validate_agent_pattern(agent)] == [
        (
            "1:4: error[missing-label] an agent has the label Agent, this has the label Agnt",
            "did you mean Agent instead of Agnt?",
        )
    ]
    assert list(map(str, validate_tool_spec_pattern(tool))) == [
        "1:2: error[missing-label] a tool has the label ToolSpecification or Tool, this has no label"
    ]


def test_a_fault_of_a_shared_tool_is_reported_once_whether_read_or_made() -> None:
    agent = Pattern(Subject("a", {"Agent"}, {"instruction": "x", "model": "p/m"}), [
        Pattern(Subject("t")),
    ])  # fmt: skip
    tool = Pattern(Subject("t", {"Tool"}, {"description": ""}), [Pattern(Subject("", {"Text"}))])

    faults = validate_program(
        (
            agent,
            Pattern(Subject("b", agent.value.labels, agent.value.properties), agent.elements),
            tool,
        )
    )

    assert [(each.code, each.path) for each in faults] == [
        ("empty-description", (2, "description"))
    ]


@given(programs())
def test_a_valid_program_has_no_errors(program: tuple[Pattern, ...]) -> None:
    assert only_errors(validate_program(program)) == ()


@given(agent_forests())
def test_any_patterns_can_be_validated(patterns: tuple[Pattern, ...]) -> None:
    for fault in validate_program(patterns):
        here = patterns
        for step in fault.path[:-1]:
            assert isinstance(step, int)
            here = here[step].elements


@given(programs() | agent_forests(), st.data())
def test_judging_an_edit_where_it_can_matter_misses_no_error(
    patterns: tuple[Pattern, ...], data: st.DataObject
) -> None:
    before = parse(dumps(patterns * data.draw(st.sampled_from([1, 1, 2]))))
    if not before.patterns:
        return
    path, chosen = data.draw(st.sampled_from(list(walk(before.patterns))))
    key = data.draw(st.sampled_from(["description", "instruction", "model", "settings"]))
    properties = chosen.value.properties.set(key, data.draw(st.sampled_from(["", "A/b", "x", 1])))
    subject = attrs.evolve(chosen.value, properties=properties)
    after = before.replace(replace_at(before.patterns, path, [attrs.evolve(chosen, value=subject)]))

    found = new_errors(before, after)

    assert new_errors(before, parse(after.text)) == found  # which shares no pattern with it


def test_an_error_elsewhere_that_an_edit_causes_is_found() -> None:
    before = parse(
        '[greet:Tool {description: "Greets."} | (name::Text)==>(::String)]\n'
        '[a:Agent {instruction: "x", model: "A/b"} | greet]\n'
        '[b:Agent {instruction: "x", model: "A/b"}]\n'
    )

    after = before.replace(before.patterns[1:])

    assert [fault.code for fault in new_errors(before, after)] == ["undefined-reference"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[x:Agnet {instruction: "i", model: "p/m"}]', ["Agent instead of Agnet"]),
        ('[t:Tol {description: "d"} | (a::Text)==>(::String)]', ["Tool instead of Tol"]),
        (
            '[U:Objct | (a::Text)] [t:Tool {description: "d"} | (u::U)==>(::String)]',
            ["Object instead of Objct"],
        ),
        ('[x:Agnet {name: "just data"}] (a:Tol)-->(b)', []),
        ('[x:Person {model: "Ford"}]', []),
    ],
)
def test_a_label_that_is_nearly_one_of_the_language_is_reported(text: str, told: list[str]) -> None:
    found = check(parse(text), checks=PROGRAM_CHECKS, scopes=program_scopes)
    hints = [each.hint for each in found if each.code == "misspelt-label"]

    assert hints == [f"did you mean {each}?" for each in told]
