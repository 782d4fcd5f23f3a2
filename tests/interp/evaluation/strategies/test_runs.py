from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import Phase, find, given, settings, strategies as st

from gram import ArgumentError, loads_one
from interp import (
    AgentError,
    ApprovalPolicy,
    Limits,
    ToolBindingError,
    ToolLibrary,
    ValidationError,
    begin,
    load_run,
    tool,
)
from interp.evaluation.strategies import check_runs, libraries, models, runs
from interp.history import RecordedRun
from interp.machine import AgentFrame, Status, ToolReturned, fold
from tests.by_day import given_few

SHOP = loads_one(
    """
    [shop:Agent {description: "Sells", instruction: "Sell", model: "OpenAI/x"} |
      [pay:ToolSpecification {description: "Pays"} | (amount::Integer)==>(::Boolean)],
      [find:ToolSpecification {description: "Finds"} | (what::Text)==>(::String)]]
    """
)
TYPED = loads_one(
    """
    [judge:Agent {instruction: "Judge", model: "OpenAI/x"} |
      [:Answer:Object | (verdict::Text {enum: ["yes", "no"]})]]
    """
)
NESTED = loads_one(
    """
    [boss:Agent {description: "Leads", instruction: "Lead", model: "OpenAI/x"} |
      [helper:Agent {description: "Helps", instruction: "Help", model: "OpenAI/x"} |
        (what::Text)==>(::Text),
        [pay:ToolSpecification {description: "Pays"} | (amount::Integer)==>(::Boolean)]]]
    """
)
WORKFLOW = loads_one(
    """
    [flow:Workflow {description: "Flows"} | (text::Text)==>(::Any),
      [first:Agent {description: "A", instruction: "A", model: "OpenAI/x"}],
      [second:Agent {description: "B", instruction: "B", model: "OpenAI/x"}],
      [size:ToolSpecification {description: "Counts"} | (text::Text)==>(::Integer)],
      ()-->(first)-->(), ()-->(second)-->(), ()-->(size)-->()]
    """
)
ANY = settings(max_examples=2000, phases=[Phase.generate])
"""How one that will do is found, which need not be the smallest."""


def test_runs_show_all_that_can_happen() -> None:
    seen = set()

    def is_all(drawn: RecordedRun) -> bool:
        seen.add(drawn.state.status)
        seen.update("failed" if call.error else "went well" for call in drawn.tools_used)
        frames = [step.state.frame for step in drawn.steps]
        seen.update("several" for f in frames if isinstance(f, AgentFrame) and len(f.calls) > 1)
        returned = [event.at for event in drawn.events if isinstance(event, ToolReturned)]
        seen.update("later" for at in returned if at[0] == 1)  # a second round of calls
        return {Status.DONE, Status.LIMITED, "failed", "went well", "several", "later"} <= seen

    find(runs(SHOP, limits=Limits(iterations=2)), is_all, settings=ANY)


@pytest.mark.nightly
def test_runs_show_models_that_fail() -> None:
    """A few of a thousand do: a model that says nothing is asked again."""
    find(runs(SHOP), lambda run: run.state.status is Status.AWAITING_MODEL, settings=ANY)


DRAWN = [runs(SHOP, policy=ApprovalPolicy(otherwise="ask")), *map(runs, (TYPED, NESTED, WORKFLOW))]


@given(st.one_of(DRAWN))
def test_a_drawn_run_is_what_its_events_fold_to(drawn: RecordedRun) -> None:
    assert fold(drawn.first, drawn.events) == drawn.state
    assert fold(drawn.first, drawn.events[:1]) == (drawn.steps or [drawn])[0].state


@given_few(runs(SHOP, hostile=False, policy=ApprovalPolicy(otherwise="ask")))
def test_where_nobody_is_hostile_only_denials_are_errors(drawn: RecordedRun) -> None:
    assert all("denied" in call.error for call in drawn.tools_used if call.error)
    assert drawn.state.status in (Status.DONE, Status.LIMITED)


def test_what_happens_inside_is_drawn_too() -> None:
    def inner_call(drawn: RecordedRun) -> bool:
        return any(isinstance(event, ToolReturned) and len(event.at) == 4 for event in drawn.events)

    found = find(runs(NESTED, hostile=False), inner_call, settings=ANY)
    places = {len(event.at) for event in found.events}
    assert places >= {1, 3, 4}
    is_done = find(runs(WORKFLOW), lambda run: run.state.status is Status.DONE, settings=ANY)
    assert is_done.content


def never_pays_twice(drawn: RecordedRun) -> None:
    paid = [call for call in drawn.tools_used if call.tool_name == "pay" and not call.error]
    assert len(paid) <= 1


def test_the_smallest_run_that_breaks_an_invariant_is_kept_and_reads_back(tmp_path: Path) -> None:
    """Calls of other tools, before and between, are left out."""

    def never_in_this_order(drawn: RecordedRun) -> bool:
        made = iter(each.tool_name for each in drawn.tools_used if not each.error)
        return not ("pay" in made and "find" in made)

    file = tmp_path / "smallest.run.gram"
    before = settings.get_current_profile_name()
    settings.register_profile("many", settings.get_profile(before), max_examples=1000)
    settings.load_profile("many")  # what is there is found, whatever Hypothesis draws first
    try:
        with pytest.raises(AssertionError, match="never_in_this_order does not hold") as raised:
            check_runs(SHOP, never_in_this_order, failing=file, hostile=False)
    finally:
        settings.load_profile(before)
    kept = load_run(file)

    assert str(file) in raised.value.__notes__[-1]
    first, second = kept.tools_used
    assert (first.tool_name, first.args, second.tool_name) == ("pay", {"amount": 0}, "find")
    assert not never_in_this_order(kept)


@pytest.mark.parametrize("seed", range(5))
def test_a_hostile_run_keeps_no_call_that_may_go(seed: int) -> None:
    """Nor do failed calls, other ends of the run or long texts stay."""

    def finds_first(drawn: RecordedRun) -> bool:
        return [each.tool_name for each in drawn.tools_used if not each.error][:1] == ["find"]

    how = settings(max_examples=500, database=None, phases=[Phase.generate, Phase.shrink])
    kept = find(runs(SHOP), finds_first, settings=how, random=Random(seed))

    assert [(each.tool_name, each.args) for each in kept.tools_used] == [("find", {"what": ""})]


def test_limits_may_be_a_mapping_and_what_else_is_given_is_of_its_type() -> None:
    check_runs(SHOP, never_pays_twice, limits={"tool_calls": 1})

    wrongs: tuple[tuple[dict[str, Any], str], ...] = (
        ({"limits": 3}, "runs: limits must be a Limits or a mapping, got int"),
        ({"policy": "ask"}, "runs: policy must be an ApprovalPolicy, got str"),
        ({"inputs": ["hi"]}, "runs: inputs must be a SearchStrategy or None, got list"),
    )
    for wrong, told in wrongs:
        with pytest.raises(ArgumentError, match=told):
            check_runs(SHOP, never_pays_twice, **wrong)


def test_an_invariant_that_holds_leaves_no_file(tmp_path: Path) -> None:
    file = tmp_path / "twice.run.gram"
    file.write_text('[:Run {of: "an earlier day"}]')
    check_runs(SHOP, never_pays_twice, limits=Limits(tool_calls=1), failing=file)
    assert not file.exists()


def test_no_other_file_is_removed_for_a_run_that_breaks_an_invariant(tmp_path: Path) -> None:
    program = tmp_path / "shop.gram"
    program.write_text("(mine)")

    with pytest.raises(FileExistsError, match="not the record of a run"):
        check_runs(SHOP, never_pays_twice, failing=program)
    with pytest.raises(FileNotFoundError, match="No such directory"):
        check_runs(SHOP, never_pays_twice, failing=tmp_path / "none" / "a.run.gram")

    assert program.read_text() == "(mine)"


def test_an_invariant_whose_code_would_not_run_is_refused() -> None:
    async def waits(drawn: RecordedRun) -> None:
        raise AssertionError

    def yields(drawn: RecordedRun) -> Iterator[bool]:
        yield False

    for invariant, kind in ((waits, "coroutine"), (yields, "generator")):
        with pytest.raises(ArgumentError, match=f"plain function, got a {kind} function"):
            check_runs(SHOP, invariant)


def test_tools_that_keep_something_are_made_anew_for_each_run() -> None:
    paid: list[int] = []

    def fresh() -> ToolLibrary:
        paid.clear()

        @tool(name="pay", description="Pays")
        def pay(amount: int) -> bool:
            paid.append(amount)
            return len(paid) < 2

        return ToolLibrary.of(pay)

    @given_few(runs(SHOP, fresh, hostile=False))
    def look(drawn: RecordedRun) -> None:
        results = [call.result for call in drawn.tools_used if call.tool_name == "pay"]
        assert results.count(True) == min(len(results), 1)  # in any order, where both are at once
        seen.add(len(results))

    seen: set[int] = set()
    look()
    assert max(seen) > 1


def test_what_does_not_fit_or_is_no_program_is_refused_before_anything_is_drawn() -> None:
    @tool(name="pay", description="Pays")
    def pay(total: int) -> bool:
        return True

    with pytest.raises(ToolBindingError, match="amount"):
        runs(SHOP, ToolLibrary.of(pay))
    with pytest.raises(ValidationError):
        runs(loads_one('[a:Agent {instruction: ""}]'))
    with pytest.raises(ValidationError, match="workflow"):
        find(models(WORKFLOW), lambda _: True)


@given_few(libraries(SHOP), models(SHOP))
def test_whatever_models_and_tools_do_only_our_errors_escape(
    library: ToolLibrary, model: object
) -> None:
    begun = begin(SHOP, "hello", library, model=model, limits=Limits(iterations=4))
    with suppress(AgentError):
        begun.finish()
    assert begun.state.tools_used or begun.state.frame.at == (0,)
