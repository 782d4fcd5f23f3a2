"""What commands cost, counted instead of timed: readings of a text, checks, signatures read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from gram import Pattern, format_text
from gram.documents import formatting
from gram.documents.layout_builder import LayoutBuilder
from gram.reading import parser, phrases
from gram.reading.tree_builder import TreeBuilder
from interp.models.program_checks import check_program
from interp.models.providers import table
from lenses_ext import agent_model, each_agent, edit, find_places, new_errors, parse
from lenses_ext.places import finding
from lenses_ext.programs import rules, validation
from lenses_ext.signatures import parsing


def agents(count: int) -> str:
    return "".join(
        f'[agent{n}:Agent {{instruction: "Say hello.", model: "OpenAI/m{n}"}} |\n'
        f'  [say{n}:ToolSpecification {{description: "Says hello."}} |\n'
        f"    (name{n}::Text)==>(::String)]]\n"
        for n in range(count)
    )


@pytest.fixture(params=[0, 10**9], ids=["by phrases", "by tokens"])
def counts(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Counter[str]]:
    """How often each is done: reading trees or constructs, checks, signatures, provider files."""
    counted: Counter[str] = Counter()

    def count(module: Any, name: str, of: str | None = None) -> None:
        done = getattr(module, name)

        def counting(*args: Any, **options: Any) -> Any:
            counted[of or type(args[3]).__name__] += 1
            return done(*args, **options)

        monkeypatch.setattr(module, name, counting)

    monkeypatch.setattr(phrases, "LONG", request.param)
    count(parser, "_parse")
    count(validation, "check", "check")
    count(parsing, "_read", "signature")
    count(table, "user_providers", "providers file")
    return counted


def test_a_check_reads_the_text_once_and_its_constructs_never(counts: Counter[str]) -> None:
    faults = check_program(parse(agents(30)))

    assert faults == ()
    assert counts["TreeBuilder"] == 1
    assert counts["ConstructBuilder"] == 0
    assert counts["signature"] <= 30  # an equal one may have been read before
    assert counts["providers file"] <= 2


def test_a_fault_reads_the_constructs_of_its_pattern_alone(counts: Counter[str]) -> None:
    faults = check_program(parse(agents(30).replace('model: "OpenAI/m7"', 'model: "m7"')))

    assert [fault.code for fault in faults] == ["model-name"]
    assert counts["TreeBuilder"] == 1
    assert counts["ConstructBuilder"] == 1


def test_an_edit_is_judged_where_it_can_matter(counts: Counter[str]) -> None:
    before = parse(agents(30))
    patterns = list(before.patterns)
    patterns[7] = edit(parse(agents(8)), each_agent & agent_model, "A/b").patterns[7]
    counts.clear()

    after = before.replace(patterns)
    new = new_errors(before, after)

    assert new == ()
    assert counts["check"] == 1
    assert counts["signature"] <= 1
    assert counts["ConstructBuilder"] == 1  # of the agent that changed, its tools left out
    assert counts["TreeBuilder"] == 1  # what was written


def test_an_edit_of_all_agents_is_read_back_at_once(counts: Counter[str]) -> None:
    before = parse(agents(30))

    after = edit(before, each_agent & agent_model, "A/b")
    new = new_errors(before, after)

    assert new == ()
    assert after.text.count('"A/b"') == 30
    assert counts["check"] == 1
    assert counts["TreeBuilder"] == 2  # the old text, and what was written
    assert counts["ConstructBuilder"] == 30  # of each agent, its tools left out


def test_what_an_edit_cannot_make_wrong_is_not_judged(counts: Counter[str]) -> None:
    text = "".join(
        f'[own{n}:Agent {{instruction: "Hello.", model: "OpenAI/m"}} | '
        f'[own_tool{n}:Tool {{description: "Says hello."}} | (own_name{n}::Text)==>(::String)]]\n'
        for n in range(30)
    )  # no other test has these signatures
    before = parse(text)
    models = edit(before, each_agent & agent_model, "A/b")
    words = before.replace(parse(text.replace("Says hello.", "Greets.")).patterns)
    counts.clear()

    assert new_errors(before, models) == ()
    assert counts["signature"] == 0

    assert new_errors(before, words) == ()
    assert counts["signature"] == 30


def test_what_an_edit_copies_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    before = parse(agents(30))
    tools = {id(agent.elements[0]) for agent in before.patterns}
    built: list[object] = []
    bracket = TreeBuilder.bracket
    monkeypatch.setattr(
        TreeBuilder, "bracket", lambda self, parts: built.append(parts) or bracket(self, parts)
    )
    monkeypatch.setattr(parser, "_BUILDERS", {})

    after = edit(before, each_agent & agent_model, "A/b")

    assert len(built) == 30  # the agents, not their tools
    assert {id(agent.elements[0]) for agent in after.patterns_as_read} == tools
    assert new_errors(before, after) == ()


def test_schemas_are_only_made_of_signatures_that_may_have_a_pattern(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = 0
    schema = rules.type_signature_to_json_schema

    def counted(tool: Pattern) -> object:
        nonlocal made
        made += 1
        return schema(tool)

    monkeypatch.setattr(rules, "type_signature_to_json_schema", counted)
    text = agents(30).replace("name7::Text", 'name7::Text {pattern: "("}')

    faults = check_program(parse(text))

    assert [fault.code for fault in faults] == ["pattern"]
    assert made == 1


def test_an_error_elsewhere_that_an_edit_causes_is_still_found() -> None:
    text = '[greet:Tool {description: "Greets."} | (name::Text)==>(::String)]\n'
    text += '[a:Agent {instruction: "x", model: "A/b"} | greet]\n' + agents(3)
    before = parse(text)

    after = before.replace(before.patterns[1:])

    assert [fault.code for fault in new_errors(before, after)] == ["undefined-reference"]


def test_a_signature_that_many_tools_have_is_read_once(counts: Counter[str]) -> None:
    faults = check_program(parse(re.sub(r"name\d+", "greeted", agents(30))))

    assert faults == ()
    assert counts["signature"] <= 1


def test_the_places_of_a_path_need_no_lenses_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    monkeypatch.setattr(finding, "any_property", made.append)

    places = find_places(parse(agents(30)).patterns, "*.model")

    assert len(places) == 30
    assert made == []


def test_layout_reads_each_thing_once(counts: Counter[str]) -> None:
    format_text(agents(30))

    assert counts["TreeBuilder"] == 1
    assert counts["LayoutBuilder"] == 30  # one pattern at a time
    assert counts["ConstructBuilder"] == 0


def test_layout_holds_one_pattern_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[int] = []

    class Counted(LayoutBuilder):
        def start(self, parts: list[int]) -> None:
            super().start(parts)
            held.append(len(self.joints))

    monkeypatch.setattr(formatting, "LayoutBuilder", Counted)

    format_text(agents(30))

    assert len(held) == 30
    assert max(held) == min(held) < 40
