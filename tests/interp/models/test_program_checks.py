"""What is said of a program from its file alone: of its models, in the order of the text."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given

from gram import Diagnostic, Pattern
from interp.models.program_checks import RETIRED, check_program, lint_program
from interp.models.providers import Provider, added
from lenses_ext import parse_program, write_program
from tests.by_day import FEWER
from tests.lenses_ext.strategies import agent_forests


def faults_of(model: str) -> tuple[Diagnostic, ...]:
    """The faults of an agent that runs on a model."""
    return check_program(
        parse_program(f'[a:Agent {{instruction: "x", model: "{model}"}}]', "p.gram")
    )


@pytest.mark.parametrize(
    "model",
    ["OpenAI/gpt-5.6-luna", "openai/gpt-5.6-luna", "Ollama/gpt-4", "Offline/rehearsal", "vLLM/a/b"],
)
def test_a_model_that_can_be_asked_has_no_fault(model: str) -> None:
    assert faults_of(model) == ()


@pytest.mark.parametrize("name", RETIRED)
@pytest.mark.parametrize("provider", ["OpenAI", "openai"])
def test_a_retired_model_is_a_warning_with_its_day(provider: str, name: str) -> None:
    (fault,) = faults_of(f"{provider}/{name}")
    assert (fault.code, fault.severity) == ("retired-model", "warning")
    assert fault.message == f"{provider}/{name} retires on {RETIRED[name]}"


def test_an_unknown_provider_is_a_warning_with_the_nearest_or_the_way_to_give_its_address() -> None:
    (fault,), (far,) = faults_of("OpenIA/gpt-4"), faults_of("my-Server/x")

    assert (fault.code, fault.severity) == ("unknown-provider", "warning")
    assert fault.message.startswith('unknown provider "OpenIA"; did you mean OpenAI? Known: OpenAI')
    assert "address" not in fault.message
    assert str(fault).startswith("p.gram:1:")
    assert far.message.endswith("For another server, set MY_SERVER_BASE_URL to its address")
    with added([Provider("Cloud", "http://x")]):
        assert faults_of("cloud/m") == ()


def test_a_model_that_cannot_be_read_is_reported_once() -> None:
    assert len(faults_of("gpt-4")) == 1


def placed(text: str) -> tuple[Diagnostic, ...]:
    """The faults of a text, each of which is placed in the pattern that its path leads to."""
    document = parse_program(text, "p.gram")
    faults = check_program(document)
    for fault in faults:
        assert fault.filename == "p.gram"
        assert fault.span is not None
        around = document.spans([step for step in fault.path if isinstance(step, int)]).pattern
        assert around.start <= fault.span.start <= fault.span.end <= around.end, fault
    return faults


@FEWER
@given(agent_forests())
def test_every_fault_of_a_text_is_placed_in_the_pattern_it_is_about(
    patterns: tuple[Pattern, ...],
) -> None:
    placed(write_program(patterns))


WRONG_SIGNATURES = [
    "(p::Text)", "()", "(p::Text {optinal: true})==>(::String)", "(p)", "(p::Txet)==>(::String)",
    "(p::Text)==>(p::Text)==>(::String)", "(a::Text)==>(b::Text)==>(a::Integer)==>(::String)",
    "(p::Text)<==(::String)", "(p::Text)==(::String)", '(p::Integer {minimum: "a"})==>(::String)',
    '(p::Integer {default: "a"})==>(::String)', '(p::Array {elementType: "Nope"})==>(::String)',
    '(p::Object {fields: [{name: "n", type: "Nope"}]})==>(::String)',
    "(p::P)==>(::String), [P:Object | (q::P)]",
    "(p::P)==>(::String), [P:Array | (::Text), (::Text)]",
    "(p::P)==>(::String), [P:Object | (n::Text), (n::Text)]",
    "(p::Text)==>(::String), (q::Text)==>(::String)",
    "(p::Text)==>(::String), [:Object | (n::Text)]", '(p::Text {pattern: "["})==>(::String)', "x",
    "(p::Text), t",
]  # fmt: skip


@pytest.mark.parametrize("signature", WRONG_SIGNATURES)
def test_every_fault_of_a_signature_is_placed_once_in_each_way_to_write_a_tool(
    signature: str,
) -> None:
    head = 'Agent {instruction: "x", model: "Offline/rehearsal"}'
    tool = f'[t:Tool {{description: "d"}} | {signature}]'
    texts = [f"[a:{head} | {tool}]", f"// one\n{tool}", f"[a:{head} | t]\n[g | {tool}]"]

    found = [[(fault.code, fault.message) for fault in placed(text)] for text in texts]

    assert found[0]
    assert len(set(found[0])) == len(found[0])
    codes = [[code for code, _ in each] for each in found]
    assert codes == codes[:1] * 3


@pytest.mark.parametrize(
    ("today", "said"),
    [
        (date(2026, 10, 15), None),
        (date(2026, 10, 16), "OpenAI/gpt-4o retires in 90 days, on 2027-01-14"),
        (date(2027, 1, 13), "OpenAI/gpt-4o retires in 1 day, on 2027-01-14"),
        (date(2027, 1, 15), None),
    ],
)
def test_lint_says_which_models_retire_within_90_days(today: date, said: str | None) -> None:
    document = parse_program('[a:Agent {instruction: "x", model: "OpenAI/gpt-4o"}]')
    found = lint_program(document, today=today)
    assert [each.message for each in found] == ([said] if said else [])
