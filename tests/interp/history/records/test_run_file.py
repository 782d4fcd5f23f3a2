"""Run files: whatever stops their writer, they can be read and gone on with."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from itertools import pairwise, product
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

import interp.history.records
from gram import loads_one
from interp import (
    AgentError,
    ApprovalNeeded,
    ApprovalPolicy,
    ApprovalRule,
    AssistantRole,
    Message,
    ModelError,
    ScriptedModel,
    ToolCall,
    ToolLibrary,
    ValidationError,
    ask_all,
    begin,
    load_run,
    resume_run,
    run,
    tool,
)
from interp.execution import Begun, Folded
from interp.history.records import RunFile, load_turns, run_text
from interp.history.stores import load_runs, open_conversation
from interp.machine import CallBegun, Event, ModelReplied, Request, State, ToolReturned, start, step
from tests.interp.counting import AGENT, CALLS, counting
from tests.interp.history.interrupts import interrupted_at
from tests.interp.model_server import tool_calls

TWO_CALLS = [ToolCall(f"c{n}", "add", '{"x": 1}') for n in range(2)]
EVENTS: tuple[Event, ...] = (
    ModelReplied((0,), Message(AssistantRole, "", TWO_CALLS)),
    CallBegun((0, 0)),
    ToolReturned((0, 1), "2"),
    ToolReturned((0, 0), "2"),
    ModelReplied((1,), Message(AssistantRole, "done")),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.gram"


class Driven:
    """A run that is driven as the loop does it: written, then folded, taken up again and again."""

    def __init__(self, log: RunFile, *, folds_anyway: bool = True) -> None:
        self.log = log
        self.state = start(AGENT, "go", run_id="r").state
        self._folds_anyway = folds_anyway

    def go_on(self, until: int = len(EVENTS)) -> None:
        """Go on to the end, or to where it has some events."""
        if not self.log.has_begun:
            self.log.begin(self.state, ())
        with self.log.held(lambda: self.state) as missed:
            for event in missed:
                self.state = step(self.state, event).state
            for event in EVENTS[:until]:
                if event not in self.state.events:
                    self.log.note(Begun(event.at))
                    self._fold(event)

    def _fold(self, event: Event) -> None:
        state = step(self.state, event).state
        is_written = False
        try:
            self.log.append(Folded(event, None, state, 0.1))
            is_written = True
        finally:
            if is_written or self._folds_anyway:
                self.state = state


def is_whole(state: State, path: Path) -> bool:
    """Whether a run and its file are where the run ends, with each event once."""
    found = load_run(path)
    has_each = sorted(map(EVENTS.index, state.events)) == [*range(len(EVENTS))]
    return has_each and found.state == state and len(found.steps) == len(EVENTS)


def test_a_run_that_has_had_events_is_written_whole(path: Path) -> None:
    run = Driven(RunFile(path))
    run.go_on(3)
    other = RunFile(path.with_name("other.gram"))
    other.begin(run.state, ())
    assert load_run(other.path).state == run.state
    assert load_run(path).steps[0].seconds == 0.1
    assert other.path.stat().st_mode & 0o777 == 0o600
    assert other.path.read_text().splitlines()[1:] == run_text(run.state).splitlines()[1:]


# --- interrupts


def of_the_records(code: CodeType) -> bool:
    return code.co_filename.startswith(str(Path(interp.history.records.__file__).parent))


WAYS = list(product((True, False), repeat=2))


@pytest.mark.parametrize("every", [53, pytest.param(1, marks=pytest.mark.nightly)])
@pytest.mark.parametrize(("folds_anyway", "is_read_again"), WAYS)
def test_an_interrupt_at_any_line_loses_nothing(
    path: Path, folds_anyway: bool, is_read_again: bool, every: int
) -> None:
    """Each thirteenth line in one of the ways; by night each in all of them."""
    Driven(RunFile(path)).go_on()  # whatever is imported or remembered, is so now
    first, was_interrupted = 1 + WAYS.index((folds_anyway, is_read_again)) * (every // 4), True
    for count in range(first, 1000, every):
        if not was_interrupted:
            break
        path.unlink()
        run = Driven(RunFile(path), folds_anyway=folds_anyway)
        with interrupted_at(count, of_the_records) as came:
            with suppress(KeyboardInterrupt):
                run.go_on()
            was_interrupted = came()
        if is_read_again:
            run = _read_again(path)
        run.go_on()

        assert is_whole(run.state, path), count
    assert count > 100


def _read_again(path: Path) -> Driven:
    """The run as another process takes it up."""
    try:
        log, kept = RunFile.of(path)
    except (FileNotFoundError, ValidationError):  # nothing had begun
        return Driven(RunFile(path))
    run = Driven(log)
    run.state = kept.state
    return run


def test_answers_that_were_folded_in_another_order_are_brought_together(path: Path) -> None:
    run = Driven(RunFile(path))
    run.go_on(2)
    before = run.state
    with run.log.held(lambda: run.state):
        run._fold(EVENTS[2])
    run.state = step(before, EVENTS[3]).state  # and the one that is written was not folded
    run.go_on()
    assert is_whole(run.state, path)
    assert tuple(run.state.events) != load_run(path).events


def test_what_another_process_did_otherwise_is_not_gone_on_with(path: Path) -> None:
    run, other = Driven(RunFile(path)), Driven(RunFile(path))
    run.go_on(1)
    other.log, kept = RunFile.of(path)
    other.state = kept.state
    with other.log.held(lambda: other.state):
        other._fold(ToolReturned((0, 1), "7"))
    run.state = step(run.state, EVENTS[2]).state
    with pytest.raises(OSError, match="another process has gone on with it; nothing recorded"):
        run.go_on()
    assert load_run(path).state == other.state


def test_another_run_in_its_place_is_refused(path: Path) -> None:
    run = Driven(RunFile(path))
    run.go_on(1)
    path.unlink()
    RunFile(path).begin(run.state.beginning.with_run_id("other"), ())
    with pytest.raises(OSError, match="another run is recorded in it"):
        run.go_on()


# --- what a killed process leaves


@pytest.mark.parametrize("left", ["", "[", "[:Ru", '[:Run {agent: "counter", pro'])
def test_a_file_in_which_nothing_had_begun_is_a_new_one(path: Path, left: str) -> None:
    path.write_text(left)
    with pytest.raises(ValidationError, match="nothing of a run had begun"):
        load_run(path)
    run = Driven(RunFile(path))
    run.go_on()
    assert is_whole(run.state, path)


def test_a_cut_off_entry_is_written_again(path: Path) -> None:
    run = Driven(RunFile(path))
    run.go_on(3)
    path.write_bytes(path.read_bytes()[:-9])
    run.go_on()
    assert is_whole(run.state, path)


def test_what_could_not_be_written_is_written_later_in_its_order(path: Path) -> None:
    resource = pytest.importorskip("resource", reason="limits of file sizes are Unix's")
    run = Driven(RunFile(path))
    run.go_on(1)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with run.log.held(lambda: run.state):
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 5, hard))
        try:
            with pytest.raises(OSError, match="too large"):
                run._fold(EVENTS[1])
            assert path.read_bytes().endswith(b"\n")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        run._fold(EVENTS[2])

    assert load_run(path).events == EVENTS[:3]
    run.go_on()
    assert is_whole(run.state, path)


def test_what_an_event_loop_has_left_behind_keeps_nobody_from_the_file(path: Path) -> None:
    class Silent(ScriptedModel):
        async def acomplete(self, request: Request) -> object:
            await asyncio.Event().wait()
            return super().complete(request)

    agent = loads_one('[a:Agent {instruction: "x", model: "A/b"}]')
    loop = asyncio.new_event_loop()
    begun = begin(agent, "go", model=Silent([]), record=path)
    task = loop.create_task(begun.afinish())
    loop.run_until_complete(asyncio.sleep(0.1))  # as after two Ctrl-C

    assert resume_run(path, model=ScriptedModel(["done"])).content == "done"

    task.cancel()
    with suppress(asyncio.CancelledError, AgentError):
        loop.run_until_complete(task)
    loop.close()
    assert load_run(path).content == "done"


# --- the turns of one conversation, one after another

LIBRARY = counting([])


def say(path: Path, text: str, *replies: Any, **options: Any) -> str:
    kept: Any = {"record": path, "conversation": True, **options}
    return run(AGENT, text, LIBRARY, model=ScriptedModel(replies), **kept).content


def test_each_turn_goes_on_from_the_one_before(path: Path) -> None:
    say(path, "one", CALLS, "a")
    say(path, "two", "b")
    say(path, "three", "c", policy=ask_all)
    first, second, third = load_runs(path)
    assert [each.content for each in third.state.context][-5:] == ["a", "two", "b", "three", "c"]
    assert second.first.context[:-1] == first.state.context
    assert third.first.run.policy == ask_all
    assert load_run(f"{path}#2") == load_run(f"{path}#{second.first.run_id}") == second
    for each in (first, second, third):
        each.check()


def test_what_a_turn_has_no_more_is_not_taken_over(path: Path) -> None:
    say(path, "one", "1", policy=ask_all, settings={"temperature": 1})
    say(path, "two", "2", settings={"temperature": 1.0})
    say(path, "three", "3")
    first, second, third = load_runs(path)
    assert (first.first.run.policy, second.first.run.policy) == (ask_all, third.first.run.policy)
    assert repr(second.first.run.settings["temperature"]) == "1.0"
    assert not third.first.run.settings


def test_a_turn_costs_what_it_says(path: Path) -> None:
    sizes = []
    for number in range(16):
        say(path, f"question {number:03}", f"answer {number:03}")
        sizes.append(path.stat().st_size)
    steps = [after - before for before, after in pairwise(sizes)][1:]
    assert max(steps) < 1.05 * min(steps)
    assert max(steps) < sizes[0]


def test_a_turn_whose_tools_ran_is_taken_up(path: Path) -> None:
    with pytest.raises(ModelError):
        say(path, "one", CALLS, ModelError("down"))
    say(path, "two", "2")
    roles = [each.role.name for each in load_run(path).state.context]
    assert roles == ["user", "assistant", "add", "user", "assistant"]


def test_a_turn_that_did_nothing_leaves_nothing(path: Path) -> None:
    say(path, "one", "1")
    with pytest.raises(ModelError):
        say(path, "two", ModelError("down"))
    say(path, "three", "3")
    assert [each.content for each in load_run(path).state.context] == ["one", "1", "three", "3"]
    assert len(load_runs(path)) == 3


def test_the_last_turn_can_be_resumed_and_an_earlier_one_not(path: Path) -> None:
    with pytest.raises(ModelError):
        say(path, "one", ModelError("down"))
    assert resume_run(path, LIBRARY, model=ScriptedModel(["1"])).content == "1"
    with pytest.raises(ModelError):
        say(path, "two", ModelError("down"))
    say(path, "three", "3")
    with pytest.raises(ValidationError, match="gone on since this turn: 2"):
        resume_run(f"{path}#2", LIBRARY)
    with pytest.raises(ValidationError, match=r"no turn 4\n  hint: the file has 3 turns"):
        load_run(f"{path}#4")


def test_a_file_with_a_run_is_taken_by_no_other(path: Path) -> None:
    say(path, "one", "1")
    with pytest.raises(FileExistsError, match="exists already"):
        say(path, "two", "2", conversation=None)


def test_a_turn_that_was_taken_back_stays_in_the_file(path: Path) -> None:
    say(path, "one", "1")
    say(path, "two", "2")
    talk = open_conversation(path, True, None)
    talk.cut(talk.context[:2])
    assert [each.content for each in talk.context] == ["one", "1"]
    say(path, "three", "3")
    assert [each.content for each in load_run(path).state.context] == ["one", "1", "three", "3"]
    assert len(load_runs(path)) == 3
    assert len(load_turns(path).talk) == 2


def test_a_conversation_that_another_process_went_on_with_is_refused(path: Path) -> None:
    say(path, "one", "1")
    talk = open_conversation(path, True, None)
    say(path, "two", "2")
    for _ in range(2):
        with pytest.raises(OSError, match="another process has gone on"):
            talk.log()


def said_after(path: Path) -> list[str]:
    return [each.content for each in open_conversation(path, True, None).context]


def test_a_call_that_may_have_run_stays_though_its_repetition_was_asked_about(path: Path) -> None:
    @tool(once=True)
    def add(x: int) -> int:
        """Adds one."""
        raise KeyboardInterrupt

    model = ScriptedModel([CALLS])
    with pytest.raises(KeyboardInterrupt):
        run(AGENT, "one", ToolLibrary.of(add), model=model, record=path)
    with pytest.raises(ApprovalNeeded):
        resume_run(path, ToolLibrary.of(add), model=model)
    assert "may have run" in said_after(path)[-1]


@pytest.mark.parametrize("allowed", ["1", "none"])
def test_what_an_agent_inside_did_stays_though_it_waits_for_a_person(
    path: Path, allowed: str
) -> None:
    program = """
    [outer:Agent {instruction: "Ask.", model: "A/b"} |
      [inner:Agent {instruction: "Count.", model: "A/b"} |
        [add:Tool {description: "Adds one."} | (x::Integer)==>(::Integer)]]]
    """
    policy = ApprovalPolicy(
        [ApprovalRule("allow", "add", {"x": allowed}), ApprovalRule("ask", "add")]
    )
    model = ScriptedModel(
        [tool_calls(("1", "inner", {"input": "x"})), CALLS, tool_calls(("2", "add", {"x": 2}))]
    )
    with pytest.raises(ApprovalNeeded):
        run(loads_one(program), "one", counting([]), model=model, policy=policy, record=path)
    assert bool(said_after(path)) == (allowed == "1")


def test_what_a_killed_process_left_is_cut_off_by_the_next_turn(path: Path) -> None:
    say(path, "one", "1")
    with path.open("a") as file:
        file.write("[:Run {after: ")
    say(path, "two", "2")
    assert [each.content for each in load_run(path).state.context] == ["one", "1", "two", "2"]
