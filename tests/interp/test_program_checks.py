"""What is said of a program from its file alone: of its models, in the order of the text."""

from __future__ import annotations

from pathlib import Path

import pytest

from gram import Fault
from interp.program_checks import RETIRED, check_program
from lenses_ext import parse


def faults_of(model: str) -> tuple[Fault, ...]:
    """The faults of an agent that runs on a model."""
    return check_program(parse(f'[a:Agent {{instruction: "x", model: "{model}"}}]', "p.gram"))


@pytest.mark.parametrize(
    "model",
    ["OpenAI/gpt-5.6-luna", "openai/gpt-5.6-luna", "Ollama/gpt-4", "Offline/rehearsal", "vLLM/a/b"],
)
def test_a_model_that_can_be_asked_is_no_fault(model: str) -> None:
    assert faults_of(model) == ()


@pytest.mark.parametrize("name", RETIRED)
@pytest.mark.parametrize("provider", ["OpenAI", "openai"])
def test_a_retired_model_is_a_warning_with_its_day(provider: str, name: str) -> None:
    (fault,) = faults_of(f"{provider}/{name}")

    assert (fault.code, fault.severity) == ("retired-model", "warning")
    assert fault.message == f"{provider}/{name} retires on {RETIRED[name]}"


def test_an_unknown_provider_is_a_warning_with_the_nearest_at_its_place() -> None:
    (fault,) = faults_of("OpenIA/gpt-4")

    assert (fault.code, fault.severity) == ("unknown-provider", "warning")
    assert fault.message.startswith('unknown provider "OpenIA"; did you mean OpenAI? Known: OpenAI')
    assert str(fault).startswith("p.gram:1:")


def test_a_provider_that_the_user_has_named_is_known(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows = tmp_path / "p.toml"
    rows.write_text('[Cloud]\nbase_url = "http://x"\n')
    assert [fault.code for fault in faults_of("Cloud/m")] == ["unknown-provider"]
    monkeypatch.setenv("GRAM_PROVIDERS", str(rows))

    assert faults_of("cloud/m") == ()


def test_each_agent_of_a_program_is_looked_at_in_the_order_of_the_text() -> None:
    text = """
        [a:Agent {instruction: "x", model: "No/x"}]
        [b:Agent {instruction: "x", model: "OpenAI/gpt-4"}]
    """
    document = parse(text, "p.gram")

    assert [fault.code for fault in check_program(document)] == [
        "unknown-provider",
        "retired-model",
    ]


def test_a_model_that_cannot_be_read_is_told_once() -> None:
    assert len(faults_of("gpt-4")) == 1


FIELDS_OF_THEIR_OWN = """
[Cat:Object | (name::String)]
[Ship:Object | (name::Integer)]
[a:Agent {instruction: "x", model: "Offline/rehearsal"} |
  [:Answer:Object | (name::Boolean)],
  [t:Tool {description: "d"} | (name::Cat)==>(other::Ship)==>(street::Integer)==>(::Address),
    [Address:Object | (street::String {optional: true}), (name::Number)]]]
"""


def test_fields_of_types_may_have_the_same_name() -> None:
    assert check_program(parse(FIELDS_OF_THEIR_OWN)) == ()


def test_a_field_has_one_definition_in_its_type() -> None:
    (fault, *_) = check_program(parse("[Cat:Object | (name::String), (name::Integer)]"))

    assert fault.code == "duplicate-definition"


def test_a_parameter_with_another_type_in_another_tool_is_a_warning() -> None:
    tools = '[t:Tool {description: "d"} | (k::String)==>(::Any)]\n[u:Tool {description: "d"} | '
    (fault,) = check_program(parse(tools + "(k::Integer)==>(::Any)]"))

    assert (fault.code, fault.severity) == ("label-sets-differ", "warning")
