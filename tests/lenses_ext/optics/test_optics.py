"""Optics as objects: composed, shown, and given the arguments in their order."""

from __future__ import annotations

import copy
import inspect
from pydoc import plaintext, render_doc  # type: ignore[attr-defined]  # typeshed has not this one
from typing import Any

import pytest
from lenses import lens as raw

import lenses_ext as ext
from gram import ArgumentError, Pattern, loads_one
from lenses_ext import FocusError, agent_model, agent_name, each_agent, preview, put, view
from lenses_ext.errors import ManyPartsError, PartError
from lenses_ext.optics import lens_of

AGENT = loads_one('[a:Agent {instruction: "I", model: "A/b"} | (t:Tool)]')
EXPORTED = sorted(
    name for name in dir(ext) if isinstance(getattr(ext, name), ext.Getter | ext.Settable)
)


def first_letter(pattern: Pattern) -> str:
    if not pattern.value.identity:
        raise PartError("no first letter")
    return pattern.value.identity[0]


def with_first_letter(pattern: Pattern, letter: str) -> Pattern:
    if len(letter) != 1:
        raise PartError(f"expected one letter, found {len(letter)}", "give the rest to agent_name")
    return put(agent_name, letter + view(agent_name, pattern)[1:], pattern)


agent_initial = lens_of("agent_initial", first_letter, with_first_letter, "value.identity[0]")


# --- what they say of themselves


@pytest.mark.parametrize("name", EXPORTED)
def test_an_exported_optic_says_what_it_looks_at(name: str) -> None:
    optic = getattr(ext, name)
    shown = render_doc(optic, renderer=plaintext)
    assert name in shown or optic is ext.each_instruction  # a composition, named by its parts
    assert inspect.getdoc(optic) != inspect.getdoc(type(optic))
    assert "put(lens, value, pattern)" in shown
    assert copy.copy(optic) is copy.deepcopy(optic) is optic


# --- the order of arguments


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: view(AGENT, agent_model),
         "view: the lens comes first: view(agent_model, pattern)"),
        (lambda: put(AGENT, agent_model, "A/b"),
         "put: the lens comes first: put(agent_model, value, pattern)"),
        (lambda: put("A/b", agent_model, AGENT),
         "put: the lens comes first: put(agent_model, value, pattern)"),
        (lambda: put(agent_model, AGENT, "A/b"),
         "put: the pattern comes last: put(agent_model, value, pattern)"),
        (lambda: ext.over(str.upper, agent_name, AGENT),
         "over: the lens comes first: over(agent_name, function, pattern)"),
        (lambda: ext.collect(AGENT, ext.each_agent_tool),
         "collect: the lens comes first: collect(each_agent_tool, pattern)"),
        (lambda: view(AGENT, AGENT), "view: expected a lens first, got Pattern"),
        (lambda: ext.over(agent_name, "A", AGENT), "over: function must be a function, got str"),
        (lambda: agent_name.modify("A"), "modify: func must be a function, got str"),
        (lambda: each_agent.set_many(5), "set_many: new_values must be an iterable, got int"),
        (lambda: agent_name & 5, "agent_name & …: expected a lens or a function, got int"),
        (lambda: agent_name & AGENT, "agent_name & …: expected a lens or a function, got Pattern"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_told_what_was_meant(call: Any, message: str) -> None:
    with pytest.raises(ArgumentError) as refused:
        call()
    assert str(refused.value) == message


# --- attributes, items, documents

TEXT = '[a:Agent {instruction: "I", model: "A/b"} | [t:Tool {n: 0x1}] // t\n]'


def test_an_attribute_or_item_of_a_lens_is_a_lens() -> None:
    for optic, part, other in (
        (agent_model.provider, "A", "C"),  # type: ignore[attr-defined]  # as `lenses` has it
        (agent_model & raw.name, "b", "c"),
        (ext.agent_tool_specs[0].value.identity, "t", "u"),  # type: ignore[index]  # the same
        (ext.agent_tool_specs & raw[-1].value.identity, "t", "u"),
    ):
        assert isinstance(optic, ext.Lens)
        assert view(optic, AGENT) == AGENT & optic.get() == part
        changed = put(optic, other, AGENT)
        assert view(optic, changed) == other
        assert put(optic, part, changed) == AGENT


@pytest.mark.parametrize(
    ("optic", "message"),
    [
        (agent_model & raw.naem, "naem: no such attribute in Model"),
        (ext.agent_tool_specs & raw[1], r"\[1\]: no such item"),
    ],
)
def test_an_attribute_or_item_that_is_not_there_is_refused(optic: Any, message: str) -> None:
    for use in (lambda: view(optic, AGENT), lambda: put(optic, 1, AGENT)):
        with pytest.raises(FocusError, match=message):
            use()


def test_an_attribute_that_takes_no_such_value_says_why() -> None:
    for value, why in (("A/B", "a provider has no slash"), (1, "provider must be a str")):
        with pytest.raises(FocusError, match=why):
            put(agent_model & raw.provider, value, AGENT)


def test_a_preview_is_the_part_or_none() -> None:
    bare = loads_one("[a:Agent]")

    assert preview(agent_model, AGENT) == view(agent_model, AGENT)
    assert preview(agent_model, bare) is None
    assert preview(ext.as_tool, AGENT) is None
    assert preview(ext.as_agent & agent_model, AGENT) == view(agent_model, AGENT)
    assert preview(ext.agent_tool_specs & raw[0] & ext.tool_spec_name, bare) is None
    with pytest.raises(FocusError, match="expected str"):
        preview(agent_model, loads_one("[a:Agent {model: 1}]"))
    with pytest.raises(ManyPartsError):
        preview(each_agent, (AGENT, AGENT))


def test_a_document_is_taken_for_its_patterns_and_given_back_edited() -> None:
    document = ext.parse_program(TEXT)

    renamed = put(each_agent & agent_name, "b", document)

    assert renamed.text == TEXT.replace("[a:", "[b:")
    assert ext.over(each_agent & agent_name, str.upper, document).text == TEXT.replace("[a:", "[A:")
    assert ext.collect(each_agent & agent_name, renamed) == ("b",)
    assert preview(each_agent & agent_name, renamed) == "b"
    assert repr(agent_model) == "<Lens agent_model: value.properties.model>"
    assert repr(each_agent & agent_model) == "<Traversal each_agent & agent_model>"


# --- errors


def test_the_functions_of_a_lens_say_what_is_wrong_and_the_lens_says_where() -> None:
    with pytest.raises(FocusError) as refused:
        put(agent_initial, "ab", AGENT)

    assert str(refused.value) == (
        "1:1: agent_initial: expected one letter, found 2 at value.identity[0] of [a:Agent];"
        " give the rest to agent_name"
    )
    with pytest.raises(FocusError, match="tool_spec_name: no name"):  # of the inner lens
        ext.collect(ext.each_agent_tool & ext.tool_spec_name, loads_one("[a:Agent | (:Tool)]"))
    with pytest.raises(ZeroDivisionError):  # of the function that is applied
        ext.over(agent_name, lambda _: str(1 / 0), AGENT)
