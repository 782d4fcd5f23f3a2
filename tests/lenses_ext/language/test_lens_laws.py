"""Every exported optic keeps the laws of its kind, over good and malformed patterns."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st
from lenses import lens as raw
from pyrsistent import pvector

import lenses_ext as ext
from gram import Pattern, Subject, dumps, loads, parse
from gram.diagnostics import only_errors
from lenses_ext import FocusError, Getter, Lens, Model, ReadOnlyError, Settable, Traversal
from lenses_ext.errors import ManyPartsError
from lenses_ext.language.tool_spec import parameter, parameter_names, tool_parameters
from lenses_ext.laws import check_getter, check_lens, check_prism, check_traversal
from lenses_ext.optics import collect, over, put, view
from lenses_ext.optics.parts import any_property
from tests.gram.strategies import symbols, texts, values
from tests.lenses_ext.strategies import (
    agent_forests,
    agents,
    filled_texts,
    like_agents,
    like_tools,
    model_settings,
    models,
    programs,
    signature_texts,
    tool_specs,
)

NAMES = texts().filter(bool)
BARE = like_agents(tools=False)
SET = st.builds(put, st.just(ext.agent_settings), model_settings(), agents(depth=0))
FOLDERS = st.lists(NAMES, unique=True, max_size=3).map(pvector)
NAMING_SKILLS = st.builds(put, st.just(ext.agent_skills), FOLDERS, agents(depth=0))
SOME_TOOLS = st.lists(tool_specs() | symbols().map(lambda name: Pattern(Subject(name))), max_size=3)
SOME_ANSWERS = st.sampled_from(
    loads("[:Answer:Object | (name::String)] [n:Answer:Integer] [:Answer:Nope]")
)
ANSWERED = st.builds(
    lambda agent, answers, place: Pattern(
        agent.value, (*agent.elements[:place], *answers, *agent.elements[place:])
    ),
    BARE,
    st.lists(SOME_ANSWERS, max_size=2),
    st.integers(0, 3),
)
"""Agents with none, one or two answers, anywhere among their elements."""

ANSWERED_LAST = ANSWERED.filter(
    lambda agent: not any("Answer" in each.value.labels for each in agent.elements[:-1])
)
SOME_SIGNATURES = [
    "",
    "(a::Text)==>(::String)",
    "()==>(::Mine), [Mine:Object | (n::Text)]",
    "(a::Shared)==>(b::Text)==>(::Shared)",
    "(a)==>(::Text)",
]
SIGNED_FIRST = st.builds(
    lambda label, signature, elements: Pattern(
        Subject("a", {label}),
        (*loads(f"[a | {signature}]")[0].elements, *elements) if signature else tuple(elements),
    ),
    st.sampled_from(["Agent", "Workflow", "Loop", "Other"]),
    st.sampled_from(SOME_SIGNATURES),
    st.lists(
        st.sampled_from(
            loads("(b) [t:Tool | (x::Shared)==>(::Text)] [Shared:Object] (a)-->(b) (n:Note)")
        ),
        max_size=4,
        unique=True,
    ),
)
"""Agents and workflows whose signature comes first, where they have one."""

SIGNED = SIGNED_FIRST.flatmap(
    lambda agent: st.permutations(agent.elements).map(lambda some: Pattern(agent.value, some))
)
SIGNATURE = st.sampled_from(
    ["(x::Int)==>(::Text)", "()==>(::Shared)", "(x::Own)==>(::Own)\n[Own::Object | (x::Text)]"]
)
LIKE_WORKFLOWS = st.builds(
    lambda name, label, record: Pattern(Subject(name, {label}, record)),
    st.sampled_from(["", "w"]),
    st.sampled_from(["Workflow", "Loop", "Note"]),
    st.fixed_dictionaries(
        {},
        optional={
            "max": st.sampled_from([1, 3, 0, True, "3"]),
            "until": values(),
            "description": texts() | st.just(1),
        },
    ),
)
NODES = st.sampled_from(loads("(b) [t:Tool | ()==>(::Text)] (c:Agent) [l:Loop | b, c]"))
SOME_NODES = st.lists(NODES, max_size=3).map(tuple)
ARROWS = st.sampled_from(
    loads('(a)-->(b) (a)-->(b)-->() (b)<-[:WHEN {is: "x"}]-(a) (a)-->(again::b)')
)
SOME_ARROWS = st.lists(ARROWS, max_size=3).map(tuple)
ONLY_NODES = SOME_NODES.map(lambda some: Pattern(Subject("w", {"Workflow"}), some))
ONLY_ARROWS = SOME_ARROWS.map(lambda some: Pattern(Subject("w", {"Workflow"}), some))
FLAT = st.lists(
    agents(depth=0) | NODES.filter(lambda each: not collect(ext.each_agent, (each,))), max_size=3
).map(tuple)
"""Documents whose agents have no agents inside."""

SOME_MODELS = st.lists(models(), min_size=1, max_size=3, unique=True).map(tuple)
WITH_MODELS = st.builds(
    lambda agent, some: put(ext.agent_models, some, agent), agents(), SOME_MODELS
)

LENSES: list[tuple[Lens[Any, Any], st.SearchStrategy[Any], st.SearchStrategy[Any], bool]] = [
    (ext.agent_name, BARE, NAMES, True),
    (ext.agent_description, BARE, texts() | st.none(), True),
    (ext.agent_instruction, BARE, texts(), True),
    (ext.agent_model, BARE, models(), True),
    (ext.agent_model, WITH_MODELS, st.builds(Model, st.just("Z"), st.sampled_from("zy")), True),
    (ext.agent_models, WITH_MODELS, SOME_MODELS, True),
    (ext.agent_models, BARE, SOME_MODELS, True),
    (ext.agent_settings, BARE | SET, st.none() | model_settings(), True),
    (ext.agent_skills, NAMING_SKILLS | BARE, st.none() | FOLDERS, True),
    (ext.agent_tool_specs, agents(depth=0), SOME_TOOLS.map(tuple), True),
    (ext.agent_tool_specs, like_agents(), SOME_TOOLS.map(tuple), False),
    (ext.agent_answer, ANSWERED, SOME_ANSWERS, True),
    (ext.agent_answer, ANSWERED_LAST, st.none() | SOME_ANSWERS, True),
    (ext.agent_answer, ANSWERED, st.none() | SOME_ANSWERS, False),
    (ext.agent_type_signature, SIGNED_FIRST, st.none() | SIGNATURE, True),
    (ext.agent_type_signature, SIGNED, SIGNATURE, True),
    (ext.agent_type_signature, SIGNED, st.none() | SIGNATURE, False),
    (ext.workflow_name, LIKE_WORKFLOWS, NAMES, True),
    (ext.workflow_description, LIKE_WORKFLOWS, texts() | st.none(), True),
    (ext.workflow_nodes, SIGNED, SOME_NODES, False),
    (ext.workflow_nodes, ONLY_NODES, SOME_NODES, True),
    (ext.workflow_arrows, SIGNED, SOME_ARROWS, False),
    (ext.workflow_arrows, ONLY_ARROWS, SOME_ARROWS, True),
    (ext.loop_max, LIKE_WORKFLOWS, st.none() | st.integers(1, 9), True),
    (ext.loop_until, LIKE_WORKFLOWS, st.none() | values(), True),
    (ext.tool_spec_name, like_tools(), NAMES, True),
    (ext.tool_spec_description, like_tools(), texts(), True),
    (ext.tool_spec_once, like_tools(), st.none() | st.booleans(), True),
    (ext.tool_spec_reads, like_tools(), st.sampled_from([None, "private", "public"]), True),
    (ext.tool_spec_returns, like_tools(), st.sampled_from([None, "untrusted", "trusted"]), True),
    (ext.tool_spec_sends, like_tools(), st.none() | st.booleans(), True),
    (ext.tool_spec_type_signature, like_tools(), signature_texts(), True),
]
"""The exported lenses, and whether they keep put-put there."""

GETTERS: list[tuple[Getter[Any, Any], st.SearchStrategy[Any]]] = [
    (ext.agent_answer_schema, ANSWERED),
    (ext.tool_spec_schema, like_tools()),
]
PRISMS = [
    (ext.as_agent, BARE | NODES, agents(depth=0)),
    (ext.as_tool, like_tools() | NODES, tool_specs()),
    (ext.as_workflow, LIKE_WORKFLOWS | NODES, st.just(Pattern(Subject("w", {"Loop"})))),
]
TRAVERSALS: list[tuple[Traversal[Any, Any], st.SearchStrategy[Any], st.SearchStrategy[Any]]] = [
    (ext.each_agent, FLAT, agents(depth=0)),
    (ext.each_agent_tool, like_agents(), tool_specs()),
    (ext.each_instruction, agent_forests() | programs(), texts()),
    (ext.each_agent & ext.agent_model, programs(), models()),
    (ext.each_agent_tool & ext.tool_spec_description, like_agents(), texts()),
    (ext.as_agent & ext.agent_name, BARE, NAMES),
]


X_NODES = ["(x::Integer {default: 1})", "(x)", '(::Text {paramName: "x"})']
WITH_X = [
    *(f"{node}==>(::String)" for node in X_NODES),
    "(a::Text)==>(x::Integer)==>(b::Text)==>(::String)",
    "(x::Integer)==>(x::String)",
    "(x::Integer)==>(x::Text)==>(x::Integer)==>(::String)",
    "(x::Integer)==>(b::Text)<==(x::String)",
    '(x::Integer {paramName: "y"})==>(::String)',
    "(::Text)==>(::Text)==>(x::String)",
    "[:`Gram.Walk` | [a | b], x]",
    "(x)",
]
HAS_X = st.sampled_from(WITH_X).map(lambda text: loads(f"[t:Tool | {text}]")[0]) | like_tools()
NESTED = st.sampled_from(
    loads("(a) (a {s: 1}) (a {s: {}}) (a {s: {t: 1}}) (a {s: {t: {u: 1, v: 2}}}) (a {s: {t: {}}})")
)
MADE: list[tuple[Lens[Any, Any], st.SearchStrategy[Any], st.SearchStrategy[Any], bool]] = [
    (any_property("s"), NESTED | BARE, st.none() | values(), True),
    (any_property("s", "t"), NESTED, values(), True),
    (any_property("s", "t"), NESTED, st.none() | values(), False),
    (any_property("s", "t", "u"), NESTED, st.none() | values(), False),
    (parameter("x"), HAS_X, st.sampled_from([loads(node)[0] for node in X_NODES]), True),
]
"""Lenses that a function makes, and whether they keep put-put."""


def names_of(rows: list[Any]) -> list[str]:
    return [repr(row[0]) for row in rows]


def test_every_exported_optic_is_in_these_tables() -> None:
    exported = [
        optic for name in dir(ext) if isinstance(optic := getattr(ext, name), (Getter, Settable))
    ]
    listed = [row[0] for table in (LENSES, GETTERS, PRISMS, TRAVERSALS) for row in table]

    assert len(exported) >= 17
    assert [each for each in exported if not any(each is one for one in listed)] == []


@pytest.mark.parametrize(
    ("lens", "states", "values", "put_put"), LENSES + MADE, ids=names_of(LENSES + MADE)
)
def test_a_lens_keeps_the_laws(lens: Any, states: Any, values: Any, put_put: bool) -> None:
    check_lens(lens, states, values, put_put=put_put)


@pytest.mark.parametrize(("getter", "states"), GETTERS, ids=names_of(GETTERS))
def test_a_getter_keeps_the_laws(getter: Any, states: Any) -> None:
    check_getter(getter, states)


@pytest.mark.parametrize(("prism", "states", "values"), PRISMS, ids=names_of(PRISMS))
def test_a_prism_keeps_the_laws(prism: Any, states: Any, values: Any) -> None:
    check_prism(prism, states, values)


@pytest.mark.parametrize(("traversal", "states", "values"), TRAVERSALS, ids=names_of(TRAVERSALS))
def test_a_traversal_keeps_the_laws(traversal: Any, states: Any, values: Any) -> None:
    check_traversal(traversal, states, values)


@pytest.mark.parametrize("node", ["(y::Integer)", "(::Integer)", '(x::Integer {paramName: "y"})'])
def test_a_parameter_is_not_renamed_by_the_lens_that_finds_it_by_name(node: str) -> None:
    tool = loads("[t:Tool | (x::Integer)==>(::String)]")[0]

    with pytest.raises(FocusError, match='expected a node named "x", found'):
        put(parameter("x"), loads(node)[0], tool)
    tool = loads("[t:Tool | (a::Text)==>(x::Integer)==>(x::String)]")[0]  # a return type is none
    changed = put(parameter("x"), loads("(x::Boolean)")[0], tool)
    assert dumps(changed.elements[0]) == "(a:Text)-->(x:Boolean)-->(x:String)"


@pytest.mark.parametrize(
    ("signature", "names", "count"),
    [
        ("()==>(::String)", (), 0),
        ("(::String)", (), 0),
        ('(::Text {paramName: "a"})==>(::Integer {paramName: "b"})==>(::String)', ("a", "b"), 2),
        ("(::Text)==>(::Text)==>(a::Text)==>(::String)", ("arg1", "arg2", "a"), 3),
        ("(::Text)==>(::String)", ("input",), 1),
    ],
)
def test_every_parameter_is_shown_once_whatever_names_it(
    signature: str, names: tuple[str, ...], count: int
) -> None:
    tool = loads(f"[t:Tool | {signature}]")[0]

    assert parameter_names(tool) == names
    assert len(view(tool_parameters, tool)) == count


# --- what is done to every agent


def test_every_agent_is_found_and_changed_at_any_depth() -> None:
    new = Pattern(Subject("n"))
    document = parse("[a:Agent | [b:Agent | [c:Agent]], d] [g | (e:Agent)]")

    found = [agent.value.identity for agent in collect(ext.each_agent, document.patterns)]
    renamed = over(ext.each_agent & ext.agent_name, str.upper, document.patterns)
    grown = over(ext.each_agent, lambda a: Pattern(a.value, (new, *a.elements)), document.patterns)

    assert found == ["a", "b", "c", "e"]
    assert document.replace(renamed).text == "[A:Agent | [B:Agent | [C:Agent]], d] [g | (E:Agent)]"
    assert dumps(grown) == "[a:Agent | n, [b:Agent | n, [c:Agent | n]], d]\n[g | [e:Agent | n]]"
    assert renamed[0].elements[1] is document.patterns[0].elements[1], "the rest is shared"


# --- composing with `lenses`, both ways


def test_our_optics_compose_with_those_of_lenses_in_both_directions() -> None:
    agent = parse('(a:Agent {instruction: "be kind", model: "OpenAI/x"})').patterns[0]
    provider = ext.agent_model & raw.GetAttr("provider")
    inside = raw["agent"] & ext.agent_instruction

    assert provider.get()(agent) == "OpenAI"
    assert view(ext.agent_model, provider.set("Offline")(agent)) == Model("Offline", "x")
    assert inside.modify(str.upper)({"agent": agent})["agent"] == put(
        ext.agent_instruction, "BE KIND", agent
    )


def test_compositions_keep_the_laws_in_both_directions() -> None:
    words = filled_texts()
    check_lens(raw.value & raw.identity, BARE, texts())
    check_traversal(raw.Each() & ext.agent_name, st.lists(BARE, max_size=2), symbols())
    check_traversal(ext.each_agent_tool & raw.value.identity, agents(depth=0), symbols())
    check_lens(
        raw["a"] & ext.agent_model & raw.GetAttr("name"),
        agents(depth=0).map(lambda a: {"a": a}),
        words,
    )
    assert type(ext.agent_model & raw.GetAttr("name")) is Lens
    assert type(ext.each_agent & ext.agent_model) is Traversal
    assert type(ext.each_agent_tool & ext.tool_spec_schema) not in (Lens, Traversal)


# --- errors


def test_an_error_names_lens_path_and_pattern_and_the_place_in_the_document() -> None:
    document = parse("(a:Agent)\n[b:Agent {instruction: 3} |\n  (t:Tool)]", "team.gram")

    with pytest.raises(FocusError) as missing:
        view(ext.agent_instruction, document.patterns[0])
    with pytest.raises(FocusError) as ill_typed:
        put(ext.agent_instruction, "x", document.patterns[1])
    with pytest.raises(FocusError) as below:
        collect(ext.each_agent_tool & ext.tool_spec_description, document.patterns[1])

    assert [str(each.value) for each in (missing, ill_typed, below)] == [
        "team.gram:1:1: agent_instruction: no such property at value.properties.instruction"
        " of [a:Agent]",
        "team.gram:2:1: agent_instruction: expected str, found int 3"
        " at value.properties.instruction of [b:Agent]",
        "team.gram:3:3: tool_spec_description: no such property at value.properties.description"
        " of [t:Tool]",
    ]


def test_an_error_shows_what_was_found_as_it_is_written() -> None:
    for value, found in (
        ("[1, x]", "a list [1, x]"),
        ("{k: 1}", "a map {k: 1}"),
        ("1..2", "a range 1..2"),
    ):
        with pytest.raises(FocusError) as error:
            view(ext.agent_instruction, parse(f"(a:Agent {{instruction: {value}}})").patterns[0])

        assert error.value.in_words.endswith(
            f'the instruction of "a": expected a text, found {found}'
        )


def test_a_getter_is_not_set_and_a_traversal_not_viewed_as_one() -> None:
    tool: Any = Pattern(Subject("t", {"Tool"}))

    with pytest.raises(ReadOnlyError, match="tool_spec_schema is computed and cannot be set"):
        put(ext.tool_spec_schema, {}, tool)  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(ManyPartsError, match="each_agent_tool looks at any number of parts"):
        view(ext.each_agent_tool, tool)  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(FocusError, match=r"as_agent: expected the label Agent at value.labels of"):
        put(ext.each_agent, tool, parse("(a:Agent)").patterns)
    with pytest.raises(FocusError, match='create_agent_pattern: two tools are named "t"'):
        ext.create_agent_pattern("a", None, "OpenAI/x", "Do.", [tool, tool])


def test_a_type_that_a_signature_does_not_define_is_a_name() -> None:
    document = parse(
        "[a:Agent | [t:Tool | (u::User)==>(::String)]] [User:Object | (name::Text)] [Id:String]"
    )
    signatures = ext.each_agent & ext.each_agent_tool & ext.tool_spec_type_signature

    (agent, *_) = changed = put(signatures, "(id::Id)==>(::User)", document.patterns)

    assert collect(signatures, document.patterns) == ("(u::User)==>(::String)",)
    assert collect(signatures, changed) == ("(id::Id)==>(::User)",)
    with pytest.raises(FocusError, match='unknown type "Id"'):
        collect(ext.each_agent_tool & ext.tool_spec_schema, agent)


@pytest.mark.parametrize(
    "lens",
    [ext.tool_spec_description, ext.tool_spec_type_signature, ext.tool_spec_schema],
    ids=repr,
)
def test_a_bare_name_is_shown_and_has_no_parts(lens: Getter[Pattern, Any]) -> None:
    (agent, _) = loads("[a:Agent | t] (t:Tool {description: 'T'})")

    (name,) = view(ext.agent_tool_specs, agent)

    assert dumps(name) == "(t)"
    with pytest.raises(FocusError, match='"t" is the bare name of what is defined elsewhere'):
        view(lens, name)


def test_a_signature_is_put_in_any_form_and_shown_in_one() -> None:
    tool = parse("[t:Tool | (::String)]").patterns[0]

    changed = put(ext.tool_spec_type_signature, "(name: Text) --> IO Text", tool)

    assert view(ext.tool_spec_type_signature, changed) == "(name::Text)==>(::Text)"
    for signature in ("(::Tool)", "(x::Tool)==>(::Tool)"):  # a type may be called so
        again = put(ext.tool_spec_type_signature, signature, changed)
        assert view(ext.tool_spec_type_signature, again) == signature


NEW = st.sampled_from(["fresh", "look.up"])
EDITS = {
    "name": (ext.agent_name, NEW),
    "description": (ext.agent_description, st.none() | filled_texts()),
    "instruction": (ext.agent_instruction, filled_texts()),
    "model": (ext.agent_model, models()),
    "tools": (ext.agent_tool_specs, st.tuples(tool_specs(NEW))),
    "descriptions of tools": (ext.each_agent_tool & ext.tool_spec_description, filled_texts()),
    "signatures of tools": (ext.each_agent_tool & ext.tool_spec_type_signature, signature_texts()),
}


@given(agents(), st.sampled_from(sorted(EDITS)), st.data())
def test_a_valid_agent_stays_valid_under_every_edit(
    agent: Pattern, what: str, data: st.DataObject
) -> None:
    lens, values = EDITS[what]
    try:
        edited = put(lens, data.draw(values), agent)
    except FocusError:
        return  # refused: the lens says why
    assert only_errors(ext.validate_agent_pattern(edited)) == ()
