"""Reprs: a prompt shows no key, and what is read of objects stays as it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import fields, has

from gram import Pattern, dumps, loads_one
from interp import (
    ApprovalPolicy,
    ApprovalRule,
    Arm,
    Case,
    ExpectedCall,
    LiveWorld,
    ScriptedModel,
    ToolLibrary,
    ValidationError,
    ab,
    begin,
    judge,
    load_run,
    open_store,
    response,
    timeline,
    tool,
)
from interp.evaluation.testing import CaseResult
from interp.redaction import REDACTED, hide
from tests.interp.evaluation.experiments.worlds import arm, right, wrong
from tests.interp.execution.test_recording import AGENT, CALLS

KEY = "sk-<7hfk'zQm2\\Xv"
BARE = loads_one('[bare:Agent {instruction: "Talk.", model: "A/b"}]')
TALKER = loads_one(dumps(AGENT).replace("(:Integer)", "(:Any)"))


def parts_of(value: Any, seen: set[int]) -> Iterator[Any]:
    """A value and all that can be read of it, but for programs, which are shown as written."""
    if id(value) in seen or isinstance(value, str | Pattern):
        return
    seen.add(id(value))
    if has(type(value)):
        yield value
        for each in fields(type(value)):
            yield from parts_of(getattr(value, each.name, None), seen)
        for name in ("steps", "state", "response", "asks", "endings", "folded"):
            yield from parts_of(getattr(value, name, None), seen)
    elif isinstance(value, Mapping):
        yield from (part for each in value.values() for part in parts_of(each, seen))
    elif isinstance(value, Iterable):
        yield from (part for each in value for part in parts_of(each, seen))


def all_that_is_given(folder: Path) -> Iterator[Any]:
    """What is given back by runs, by cases and by comparisons in which everybody says a key."""

    @tool
    def add(x: int) -> object:
        """Adds one."""
        if x == 1:
            raise ValueError(f"{'x' * 95}{KEY}")
        return {KEY: [KEY]}

    policy = ApprovalPolicy([ApprovalRule("ask", "none", {"x": KEY})], "allow")
    options: Any = {"record": folder / "run.gram", "policy": policy}
    model = ScriptedModel([CALLS, f"{'x' * 75}{KEY}"])
    run = begin(TALKER, KEY, ToolLibrary.of(add), model=model, **options)
    seen = list(run.stream())
    kept, answer = load_run(folder / "run.gram"), response(run.state)
    yield from (seen, run.state, answer, kept, timeline(kept))
    case = Case(name=KEY, input=KEY, has_expected=True, expected=f"not {KEY}")
    yield CaseResult(case, answer, judge(case, answer), None, 0.1, kept)
    found = ab([case], {"A": arm(right), KEY: arm(wrong)}, seed=1, progress=False)
    yield from (found, found.plan, found.trials, found.comparisons, found.estimates)


def test_no_repr_of_what_is_given_back_has_a_key(tmp_path: Path) -> None:
    hidden = hide(KEY)
    parts = [part for each in all_that_is_given(tmp_path) for part in parts_of(each, set())]
    texts = [repr(each) for each in parts]

    assert hidden.values == {KEY}
    assert len({type(each) for each in parts}) > 25
    assert not [text for text in texts for part in (KEY, repr(KEY)[1:-1], KEY[:8]) if part in text]
    assert [text for text in texts if REDACTED in text]


def test_reprs_are_short_and_say_what_was_given(tmp_path: Path) -> None:
    long = "x" * 1000
    case = Case(name="greets", input=long, calls=(ExpectedCall("add", {"x": 1}),), checks=("kind",))
    run = begin(BARE, "go", model=ScriptedModel(["hi"]), store=tmp_path / "runs.db")
    run.finish()
    with open_store(tmp_path / "runs.db") as store:
        (row,) = store.rows()
    world = LiveWorld.of(run.state, None, {"model": ScriptedModel([])})
    changed = Arm(AGENT, model="A/b", settings={"note": long})

    assert repr(Case(name="two", input="1 + 1?", has_expected=True, expected=2, calls=())) == (
        "<Case two: '1 + 1?'; expects 2; calls nothing>"
    )
    assert repr(case).endswith("x…; calls add(x: 1); checks kind>")
    assert repr(row) == f"<RunRow {row.id}: done, bare, {row.created:%Y-%m-%d %H:%M:%S} UTC>"
    assert repr(world) == "<LiveWorld of <ScriptedModel, 0 requests, 0 replies left>: no tools>"
    assert repr(Arm(model="A/b", agent="one")) == "Arm(model='A/b', agent='one')"
    assert max(len(repr(each)) for each in (case, row, world, changed)) < 400


def test_what_is_read_of_an_answer_has_its_key() -> None:
    hidden = hide(KEY)
    run = begin(BARE, KEY, model=ScriptedModel([KEY]))

    answer = run.finish()

    assert hidden.values
    assert (answer.content, str(answer.content)) == (KEY, KEY)
    assert REDACTED in repr(answer)


def test_an_error_is_shown_without_keys_and_tells_them_to_who_asks() -> None:
    hidden, error = hide(KEY), ValidationError(f"no {KEY}")

    assert hidden.values
    assert (str(error), error.message) == (f"no {REDACTED}", f"no {KEY}")
    assert KEY[:8] not in repr(error)


def test_what_a_model_is_told_of_its_mistakes_is_what_it_wrote() -> None:
    """What a State holds does not depend on which keys are known where it is folded."""
    hidden = hide(KEY)
    call = {"id": "1", "function": {"name": "add", "arguments": f'{{"x": "{KEY[:4]}12345678"}}'}}
    model = ScriptedModel([{"role": "assistant", "tool_calls": [call]}, "done"])

    @tool
    def add(x: int) -> int:
        """Adds one."""
        return x

    also = hide("12345678")
    answer = begin(AGENT, "go", ToolLibrary.of(add), model=model).finish()

    assert hidden.values
    assert also.values
    assert "12345678" in str(answer.tools_used[0].error)
