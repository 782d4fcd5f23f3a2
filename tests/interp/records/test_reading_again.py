"""What was recorded reads again, whatever a key is that was replaced in it, and wherever it was."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from gram import Pattern, Source, dumps, loads_one
from interp import (
    ApprovalNeeded,
    ApprovalPolicy,
    ApprovalRule,
    Limits,
    RecordedRun,
    ScriptedModel,
    State,
    Status,
    Tool,
    ToolLibrary,
    WorkflowError,
    allow_all,
    event_to_pattern,
    fork_run,
    load_context,
    load_run,
    open_store,
    recorded,
    response,
    resume,
    resume_run,
    run,
    save_context,
    state_to_pattern,
    step,
    tool,
)
from interp.evaluation.strategies import runs
from interp.records import asks_the_same, named_as_asked
from interp.records.entry_writer import EntryWriter
from interp.records.run_reading import read_run
from interp.redaction import REDACTED, hide
from lenses_ext import WORDS, tool_spec_schema, view

AGENT = """
[picky_agent:Agent {instruction: "Use the token-of-mine.", model: "OpenAI/gpt-of-mine",
    settings: {extraBody: {secretfield: "secretvalue"}, stop: "secretstop"}} |
  [:Answer:Object | (customername::Text {pattern: "^[a-z]*$"})],
  [use_the_token:Tool {description: "Uses a token."} |
    (secrettoken::Text {maxLength: 9})==>(who::Text {default: "nobody-else", pattern: "^n|^x$"})
    ==>(::Text {minLength: 1})],
  [lookup_things:Tool {description: "Looks up."} | (things::Person)==>(::Any),
    [Person:Object | (firstname::Text), (lastname::Text {default: "nobody-at-all"})]],
  [helping_agent:Agent {description: "Helps", instruction: "Help", model: "OpenAI/x"} |
    (whatever::Text {maxLength: 9})==>(::Text {maxLength: 12})]]
"""
CHOICE = """
[newsroom_flow:Workflow {description: "Flows"} | (given_text::Any)==>(::Any),
  [classifier:Agent {description: "A", instruction: "A", model: "OpenAI/x"} |
    (given_text::Any)==>(::Text {enum: ["billing-of-mine", "refunding"]})],
  [bill_writer:Agent {description: "A", instruction: "A", model: "OpenAI/x"} |
    (given_text::Text {maxLength: 20})==>(::Text)],
  [short_title:ToolSpecification {description: "Cuts"} |
    (given_text::Text {maxLength: 16})==>(::Text {maxLength: 16})],
  ()-->(classifier),
  (classifier)-[:WHEN {is: "billing-of-mine"}]->(bill_writer),
  (classifier)-[:OTHERWISE]->(short_title),
  (bill_writer)-->(), (short_title)-->()]
"""
EACH = """
[mapping_flow:Workflow {description: "Maps"} | (given_text::Text)==>(::Text {maxLength: 30}),
  [split_words:ToolSpecification {description: "Splits"} |
    (given_text::Text)==>(::Array {elementType: "Any"})],
  [count_word:ToolSpecification {description: "Counts"} |
    (one_word::Text {maxLength: 9})==>(::Text)],
  [name_it:Agent {description: "Names", instruction: "Name", model: "OpenAI/x"} |
    (given_text::Text)==>(::Any)],
  [written_by:ToolSpecification {description: "Joins"} |
    (words::Any)==>(title_text::Text {maxLength: 12})==>(::Any)],
  ()-->(split_words), (split_words)-[:EACH]->(count_word), ()-->(name_it),
  (count_word)-[{as: "words"}]->(written_by), (name_it)-[{as: "title_text"}]->(written_by),
  (written_by)-->(shorten_it), (shorten_it)-->(),
  [shorten_it:Agent {description: "Cuts", instruction: "Cut", model: "OpenAI/x"} |
    (given_text::Any)==>(::Any)]]
"""
LOOP = """
[outer_agent:Agent {description: "Leads", instruction: "Lead", model: "OpenAI/x"} |
  [refine_loop:Loop {description: "Refines", max: 2, until: {critic_agent: "approved-by-me"}} |
    (draft_text::Text)==>(::Any),
    [writer_agent:Agent {description: "W", instruction: "W", model: "OpenAI/x"} |
      (draft_text::Any)==>(::Any)],
    [critic_agent:Agent {description: "C", instruction: "C", model: "OpenAI/x"} |
      (draft_text::Text {maxLength: 14})==>(::Text {enum: ["approved-by-me", "try-again"]})],
    (writer_agent)-->(critic_agent), (writer_agent)-->()]]
"""
TYPED = """
[typed_flow:Workflow {description: "Types"} | (given_text::Text)==>(::Any),
  [guess_it:Agent {description: "Guesses", instruction: "Guess", model: "OpenAI/x"} |
    (given_text::Text)==>(::Integer {minimum: 10000000})],
  [count_it:ToolSpecification {description: "Counts"} |
    (number::Integer)==>(::Integer {minimum: 10000000})],
  (guess_it)-->(count_it)]
"""
PROGRAMS = [loads_one(text) for text in (AGENT, CHOICE, EACH, LOOP, TYPED)]
POLICY = ApprovalPolicy(
    [ApprovalRule("deny", "use*", {"secrettoken": "a*"}), ApprovalRule("ask", "lookup*")]
)
INPUTS = st.sampled_from(["customer is called", "please-use-it", "token-of-mine"])


def recorded_lines(run: RecordedRun) -> str:
    """The lines that are written of a run, with the keys that are known now."""
    writer = EntryWriter()
    lines = [writer.head(run.first, run.library).line]
    lines += [writer.event(each.folded) for each in run.steps]
    return "".join(f"{line}\n" for line in lines)


def runs_of(program: Pattern) -> st.SearchStrategy[RecordedRun]:
    """Runs of a program, in which models and tools misbehave."""
    return runs(program, inputs=INPUTS, policy=POLICY, limits=Limits(iterations=3))


@st.composite
def runs_and_keys(draw: st.DrawFn) -> tuple[RecordedRun, str]:
    """A run, and a key that is a part of what its program, its user, models or tools say."""
    run = draw(st.sampled_from(PROGRAMS).flatmap(runs_of))
    entries = state_to_pattern(run.first), *(event_to_pattern(each.event) for each in run.steps)
    texts = sorted(set(re.findall(r"[\w .:,/^*$-]{8,}", dumps(entries))))
    text = draw(st.sampled_from(texts))
    start = draw(st.integers(0, len(text) - 8))
    end = draw(st.integers(start + 8, len(text)))
    return run, draw(st.sampled_from([text, text.strip(), text[start:end]]))


def replayed(run: RecordedRun, record: RecordedRun) -> State:
    """Where a run comes to that is answered with what is recorded of it."""
    state = run.first
    for then, now in zip(record.steps, run.steps, strict=True):
        event = then.event
        if then.effect is not None and now.effect is not None:
            assert asks_the_same(then.effect, now.effect)
            event = named_as_asked(event, now.effect)
        state, _ = step(state, event)
    return state


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(runs_and_keys())
def test_what_was_recorded_reads_again_whatever_is_a_key(drawn: tuple[RecordedRun, str]) -> None:
    run, key = drawn
    hidden = hide(key)

    written = recorded_lines(run)
    again = read_run(Source(written, "x.run.gram"))

    again.check()
    assert again.state.status is run.state.status
    assert len(again.state.tools_used) == len(run.state.tools_used)
    assert [each.error is None for each in again.state.tools_used] == [
        each.error is None for each in run.state.tools_used
    ]
    if all(then.event.at == now.event.at for then, now in zip(again.steps, run.steps, strict=True)):
        assert replayed(run, again).status is run.state.status  # no name of a node was a key
    if run.state.status is Status.DONE:
        assert response(again.state).is_typed is response(run.state).is_typed
        assert repr(response(again.state).value)
    if run.state.status in (Status.LIMITED, Status.AWAITING_MODEL, Status.AWAITING_TOOLS):
        resume(again.state)
    assert len(hidden.values) < 2


LETTERS = "supersecretword"
NAMED = f"""
[talker:Agent:{LETTERS} {{instruction: "Use it.", model: "A/{LETTERS}", {LETTERS}: 1,
    note: {{{LETTERS}: ["{LETTERS}"]}}, settings: {{extraBody: {{{LETTERS}: 1}}}}}} |
  [{LETTERS}:Tool {{description: "Adds."}} | ({LETTERS}::{LETTERS.title()})
      ==>(::Array {{elementType: "{LETTERS.title()}"}}),
    [{LETTERS.title()}:Object | ({LETTERS}::Any)]]]
"""


def test_a_key_of_letters_alone_is_in_no_label_and_no_name(tmp_path: Path) -> None:
    hidden, agent, path = hide(LETTERS, LETTERS.title()), loads_one(NAMED), tmp_path / "run.gram"
    given = json.dumps({LETTERS: {LETTERS: {LETTERS: 1}}})
    call = {"id": LETTERS, "function": {"name": LETTERS, "arguments": given}}
    replies = [{"role": "assistant", "tool_calls": [call]}, f"It is {LETTERS}."]

    schema = view(tool_spec_schema, agent.elements[0])
    library = ToolLibrary.of(
        Tool(LETTERS, "Adds.", schema, lambda given: [{LETTERS: each} for each in given])
    )
    done = run(agent, LETTERS, library, model=ScriptedModel(replies), record=path)

    assert hidden.values
    assert len(done.tools_used) == 1
    assert done.tools_used[0].error is None
    assert LETTERS not in path.read_text("utf-8").lower()
    load_run(path).check()
    again = run(agent, LETTERS, library, world=recorded(path))
    assert again.content == f"It is {REDACTED}."
    assert resume_run(path, match="name").content == again.content


OUR_WORDS = [
    *("Conversation", "WorkflowFrame", "Invocations", "ToolInvocation", "ModelReplied"),
    *("ToolReturned", "ApprovalPolicy", "awaiting_tools", "awaiting_model", "awaiting_steps"),
    *("arguments", "iterations", "input_tokens", "tool_seconds", "unlimited", "otherwise"),
    *("mayHaveRun", "verdicts", "withoutResultChecks"),
]


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(PROGRAMS).flatmap(runs_of))
def test_keys_that_are_words_of_programs_and_of_records_change_nothing(drawn: RecordedRun) -> None:
    """All of them at once: who says such a word loses it, and here nobody does."""
    hidden = hide(*WORDS, *OUR_WORDS)

    again = read_run(Source(recorded_lines(drawn), "x.run.gram"))

    again.check()
    assert (again.first, again.events) == (drawn.first, drawn.events)
    assert len(hidden.values) > 40


@pytest.mark.parametrize("key", ["12345678", "1234567890"])
def test_a_number_that_is_a_key_is_replaced_and_the_file_reads_again(
    key: str, tmp_path: Path
) -> None:
    agent = loads_one(
        f"""[a:Agent {{instruction: "x", model: "A/b", settings: {{seed: {key}, topP: 1}}}} |
          [add:Tool {{description: "Adds."}} | (x::Integer {{default: {key}, maximum: {key}}})
            ==>(::Integer {{maximum: {key}}})]]"""
    )
    hidden, path = hide(key), tmp_path / "run.gram"
    calls = [
        {"id": str(n), "function": {"name": "add", "arguments": given}}
        for n, given in enumerate(["{}", f'{{"x": {key}}}', f'{{"x": {key}1}}', '{"x": 1}'])
    ]
    replies = [{"role": "assistant", "tool_calls": calls}, "done"]

    @tool
    def add(x: int) -> int:
        """Adds."""
        return x

    options: Any = {"match": "name", "limits": Limits(tokens=int(key))}
    run(agent, "go", ToolLibrary.of(add), model=ScriptedModel(replies), record=path, **options)

    assert hidden.values
    kept = load_run(path)
    kept.check()
    assert [each.error is None for each in kept.tools_used] == [True, True, False, True]
    assert f"seed: {key}" not in path.read_text("utf-8")
    assert kept.first.limits.tokens == int(key)


PICKY = loads_one(
    """
    [picky:Agent {instruction: "x", model: "A/b"} |
      [:Answer:Object | (token::Text {pattern: "^s", maxLength: 20})],
      [use:Tool {description: "Uses."} |
        (token::Text {maxLength: 16, pattern: "^s"})==>(::Text {pattern: "^s"})]]
    """
)
ASKS = ApprovalPolicy([ApprovalRule("ask", "use", {"token": "s*"})])


@tool
def use(token: str) -> str:
    """Uses."""
    return token


@pytest.mark.parametrize("key", [LETTERS, 'sk-"zQm2\\/=9 x'])
def test_what_was_kept_of_a_run_with_a_key_can_be_forked_asked_about_and_resumed(
    key: str, tmp_path: Path
) -> None:
    hidden, library = hide(key), ToolLibrary.of(use)
    call = {"id": "1", "function": {"name": "use", "arguments": json.dumps({"token": key})}}
    answer = json.dumps({"token": key})
    replies = [{"role": "assistant", "tool_calls": [call]}, answer]
    options: Any = {"match": "name"}

    with open_store(str(tmp_path / "runs.db")) as store:
        run(PICKY, key, library, model=ScriptedModel(replies), store=store, **options)
        (row,) = store.rows()
        store.recorded(fork_run(store, row.id)).check()
    for name, more in (("a", {"policy": allow_all}), ("b", {"approve": lambda _: True})):
        path = tmp_path / f"{name}.run.gram"
        first = {"model": ScriptedModel(replies), "policy": ASKS, "record": path}
        with pytest.raises(ApprovalNeeded) as caught:
            run(PICKY, key, library, **options, **first)
        assert key not in str(caught.value)
        resume_run(path, library, model=ScriptedModel([answer]), **options, **more)
        load_run(path).check()
    save_context(tmp_path / "s.gram", load_run(path).state.context)
    assert hidden.values
    assert load_context(tmp_path / "s.gram") == load_run(path).state.context


CUTTING = """
[cutting:Workflow | (given::Text)==>(::Any),
  [use:Tool {description: "Uses."} | (token::Text)==>(::Any)],
  [more:Tool {description: "Uses."} | (a::Text)==>(b::Text)==>(::Any)],
  (use)-->(more)]
"""


def test_no_part_of_a_key_is_left_where_a_value_was_cut_to_be_quoted(tmp_path: Path) -> None:
    hidden, path = hide(LETTERS), tmp_path / "run.gram"
    library = ToolLibrary.of([use, Tool("more", "Uses.", {"type": "object"}, lambda given: given)])

    with pytest.raises(WorkflowError):
        run(loads_one(CUTTING), f"{'x' * 66}{LETTERS}", library, match="name", record=path)

    assert hidden.values
    assert LETTERS[:8] not in path.read_text("utf-8")
    load_run(path).check()
