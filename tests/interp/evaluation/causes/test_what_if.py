from __future__ import annotations

import random
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import gram
from interp import ApprovalPolicy, Tool, ToolLibrary, begin
from interp.errors import ModelError, ReplayError, ValidationError
from interp.evaluation import causes
from interp.evaluation.causes import Change, Sample, WhatIf, write_fork
from interp.history.stores import RunStore, open_store
from interp.machine import AgentResponse, AssistantRole, Message, Request, ToolCall

PROGRAM = """
[news:Workflow |
  [scout:Agent {model: "Offline/rehearsal", instruction: "Find facts."} |
    [search:ToolSpecification {description: "Searches"} | (query::String)==>(::String)],
    [pay:ToolSpecification {description: "Pays", once: true} | (query::String)==>(::String)]],
  [writer:Agent {model: "Offline/rehearsal", instruction: "Write."}],
  (scout)-->(writer)]
"""
AT = ("scout", 0, 0)

what_if = partial(causes.what_if, jobs=1)  # one after another, a seed gives the same each time


class Model:
    """A simulated model: right more often where the facts are good."""

    def __init__(self, seed: int, good: float = 0.9, bad: float = 0.1, again: bool = False) -> None:
        self.rng, self.good, self.bad, self.again = random.Random(seed), good, bad, again

    def complete(self, request: Request) -> Message | str:
        if request.agent == "scout":
            results = [each.content for each in request.messages if each.call_id is not None]
            if not results:
                return Message(AssistantRole, "", [ToolCall("1", "search", '{"query": "moon"}')])
            if self.again and len(results) == 1:
                return Message(AssistantRole, "", [ToolCall("2", "pay", '{"query": "x"}')])
            return results[0]
        share = self.good if "rock" in request.messages[-1].content else self.bad
        return "right" if self.rng.random() < share else "wrong"


def is_right(response: AgentResponse) -> bool:
    return response.content == "right"


CHECKS = {"is_right": is_right}


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with open_store(tmp_path / "runs.db") as opened:
        yield opened


def library(called: list[str]) -> ToolLibrary:
    schema = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}

    def made(name: str, said: str) -> Tool:
        def invoke(_: object) -> str:
            called.append(name)
            return said

        return Tool(name, said, schema, invoke, once=name == "pay")

    return ToolLibrary.of(made("search", "The moon is cheese."), made("pay", "Paid."))


def recorded(store: RunStore, model: Any = None, **options: Any) -> str:
    model = model or Model(0)
    given: Any = {"match": "name", "record": store, "model": model, **options}
    begin(gram.parse(PROGRAM), "Tell me.", library([]), **given).finish()
    return next(iter(store.rows(limit=1))).id


SET = Change(AT, {"result": "The moon is rock."})


def test_planted_faults_are_found_and_none_where_there_is_none(store: RunStore) -> None:
    run = recorded(store)

    def found(facts: str, number: int, **rates: float) -> WhatIf:
        change = Change(AT, {"result": f"{facts} {number}"})
        return what_if(store, run, change, CHECKS, model=Model(number, **rates), repeats=7)

    for number in range(2):
        planted = found("rock", number)
        assert planted.made_the_difference  # 0.9 each
        assert planted.difference.low > 0.3
        assert not found("cheese", number, bad=0.5).made_the_difference  # at most 0.05 each

    first, second, *_ = planted.lines()
    assert first == (
        f"this result of `search` made the difference: {planted.unchanged.right} of 7 right "
        f"with it, {planted.changed.right} of 7 without"
    )
    assert "Fisher's exact test: p = " in second


def test_recorded_tools_are_not_called_and_other_calls_end_a_continuation(store: RunStore) -> None:
    called: list[str] = []
    run = recorded(store)
    model = Model(1, again=True)
    found = what_if(store, run, SET, CHECKS, model=model, repeats=3, tools=library(called))
    assert called == [], "search was recorded, and pay may run only once"
    assert (found.unchanged.ended, found.changed.ended) == (3, 3)
    assert not found.made_the_difference
    assert "3 of 3 with the change ended at a call without a result" in "\n".join(found.lines())


def test_a_call_with_other_arguments_gets_a_stand_in(store: RunStore) -> None:
    called: list[str] = []
    run = recorded(store)

    class Searching(Model):
        def complete(self, request: Request) -> Message | str:
            if request.agent == "writer" and len(request.messages) == 1:
                return super().complete(request)
            arguments = f'{{"query": "mars {self.rng.random()}"}}'
            searched = sum(each.call_id is not None for each in request.messages)
            if searched < 2:
                return Message(AssistantRole, "", [ToolCall("3", "search", arguments)])
            return "nothing"

    found = what_if(store, run, SET, CHECKS, model=Searching(1), repeats=2, tools=library(called))
    assert called == ["search"] * 4
    assert found.changed.ended == 0


ASKED = ApprovalPolicy(otherwise="ask")
DENIED = {"allowed": False, "reason": "rock instead"}
OTHER = gram.parse(PROGRAM.replace('"Write."', '"rock."')).patterns[0]


@pytest.mark.parametrize(
    ("change", "model", "repeats", "said"),
    [
        (Change(("scout", 1), {"reply": "rock"}), Model(2), 7, "this reply at scout.1 made the"),
        (Change(AT, DENIED), Model(6), 7, "this answer about `search` made the difference"),
        (
            *(Change(("scout", 1), model="Offline/rehearsal"), Model(1, bad=1.0), 6),
            "the model Offline/rehearsal made the difference: 0 of 6 right with it, 6 of 6 without",
        ),
        (Change(AT, program=OTHER), Model(1), 3, "not shown that the other program makes a diff"),
    ],
)
def test_replies_answers_of_people_models_and_programs_can_be_others(
    store: RunStore, change: Change, model: Model, repeats: int, said: str
) -> None:
    run = recorded(store, policy=ASKED, approve=lambda _: True)
    found = what_if(store, run, change, CHECKS, model=model, repeats=repeats)
    assert found.lines()[0].startswith(said)
    assert found.made_the_difference == (repeats > 3)
    assert ("cannot show any difference" in found.lines()[-1]) == (repeats == 3)
    kept = store.recorded(found.changed.runs[0]).state
    assert (str(kept.model) == "Offline/rehearsal") == (change.model is not None)


def test_continuations_are_kept_and_those_that_were_broken_off_go_on(store: RunStore) -> None:
    run = recorded(store)

    class Failing(Model):
        left = 6

        def complete(self, request: Request) -> Message | str:
            self.left -= 1
            if self.left < 0:
                raise RuntimeError("down")
            return super().complete(request)

    with pytest.raises(ModelError, match="down"):
        what_if(store, run, SET, CHECKS, model=Failing(1), repeats=4)
    before = {each.id for each in store.rows()}
    assert len(before) > 2

    class Counting(Model):
        asked = 0

        def complete(self, request: Request) -> Message | str:
            self.asked += 1
            return super().complete(request)

    model = Counting(2)
    found = what_if(store, run, SET, CHECKS, model=model, repeats=4)
    assert model.asked < 16
    assert before <= {run, *found.unchanged.runs, *found.changed.runs}
    again = Counting(3)
    assert what_if(store, run, SET, CHECKS, model=again, repeats=4) == found
    assert again.asked == 0


def test_a_continuation_that_fails_for_good_is_wrong_and_no_obstacle(store: RunStore) -> None:
    program = PROGRAM.replace('"Write."}', '"Write."} | [:Answer:Integer]')

    class Counting(Model):
        def complete(self, request: Request) -> Message | str:
            if request.agent == "scout":
                return super().complete(request)
            return "many" if any("rock" in each.content for each in request.messages) else "3"

    model = Counting(1)
    options: Any = {"match": "name", "record": store, "model": model}
    begin(gram.parse(program), "Tell me.", library([]), **options).finish()
    run = next(iter(store.rows(limit=1))).id
    checks = {"is_3": lambda response: response.content == "3"}
    for _ in range(2):  # also where they have ended before
        found = what_if(store, run, SET, checks, model=model, repeats=3)
        assert (found.unchanged.right, found.changed.right, found.changed.ended) == (3, 0, 0)


def test_checks_that_do_not_answer_are_told(store: RunStore) -> None:
    checks = {"is_right": lambda response: response.missing}
    found = what_if(store, recorded(store), SET, checks, model=Model(1), repeats=3)
    told = "3 of 3 with the change count as wrong, since a check did not answer: check is_right"
    assert told in "\n".join(found.lines())


def test_what_cannot_be_changed_is_told(store: RunStore) -> None:
    run = recorded(store)
    for at, name, value, error, message in (
        (("scout", 9), "result", 1, ReplayError, "no result was recorded at scout.9"),
        (AT, "reply", "x", ReplayError, "no reply was recorded at scout.0.0; "),
        (AT, "allowed", True, ReplayError, "at scout.0.0; the run has none"),
        (AT, "reslt", 1, ValidationError, "did you mean"),
        (AT, "result", "The moon is cheese.", ReplayError, "has this result already"),
        (AT, "result", 13, ReplayError, 'result of "search" is not what it declares'),
        (("scout", 1), "reply", 3, ValidationError, "reply must be a text, found 3"),
    ):
        with pytest.raises(error, match=message):
            what_if(store, run, Change(at, {name: value}), CHECKS)
    with pytest.raises(ValidationError, match="cannot be set together"):
        Change(AT, {"result": 3, "error": "x"})


def test_one_fork_begins_with_the_change(store: RunStore) -> None:
    run = recorded(store)
    new = write_fork(store, run, SET)
    assert store.row(new).facts.parent == run
    assert [each.result for each in store.recorded(new).tools_used] == ["The moon is rock."]


def test_those_that_ended_count_against_a_difference() -> None:
    runs = tuple(map(str, range(20)))
    whole = WhatIf("it", True, Sample(2, 0, runs), Sample(17, 0, runs))
    some = WhatIf("it", True, Sample(2, 6, runs), Sample(12, 8, runs))
    assert whole.made_the_difference
    assert not some.made_the_difference
    same = WhatIf("it", True, Sample(0, 0, runs, False), Sample(20, 0, runs, False))
    assert "same, word for word" in same.lines()[-1]
    assert some.difference.low < 0 < some.difference.high
