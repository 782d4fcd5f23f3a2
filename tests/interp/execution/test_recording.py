"""Runs in files: nothing recorded is asked or run again, whatever ended the run."""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC
from multiprocessing import get_context
from pathlib import Path
from threading import Event as Flag
from typing import Any

import pytest
from hypothesis import given, strategies as st

import interp
from gram import GramDecodeError, dumps, loads_one
from interp import ApprovalNeeded, Limits, ScriptedModel, ValidationError, load_run, resume_run, run
from interp.execution.recorder import Begun, Failed, Folded, Note, Recorder, Retried, Stopped
from interp.history.records.patterns import note_from_pattern, note_line
from interp.machine import Ask, CallBegun, Effect, Event, Status, Step, fold, start
from tests.interp.counting import AGENT, counting
from tests.interp.model_server import Answer, ModelServer, tool_calls
from tests.interp.strategies import message_texts

ASKED = tool_calls(*((str(n), "add", {"x": n}) for n in range(2)), content="")
CALLS = {"choices": [{"message": ASKED}]}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "run.gram"


def test_a_run_file_holds_the_run_as_it_was(file: Path) -> None:
    states = []
    how: Any = {"model": ScriptedModel([CALLS, "done"]), "record": file, "at_once": 1}

    def watch(_: object, __: object, step: Step) -> None:
        states.append(step.state)

    response = run(AGENT, "go", counting([]), watch=watch, **how)

    kept = load_run(file)

    assert [each.state for each in kept.steps] == states
    assert kept.state == fold(kept.first, kept.events)
    assert [each.effect.at for each in kept.steps if each.effect] == [(0,), (0, 0), (0, 1), (1,)]
    assert all(each.seconds is not None for each in kept.steps)
    assert [each.value.identity for each in kept.library] == ["add"]
    assert loads_one(kept.program) == AGENT
    assert response.content == "done"
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.read_text().count("\n") == 1 + len(kept.entries)

    file.chmod(0o640)
    before = file.read_bytes()
    resume_run(file, counting([]))
    assert file.read_bytes() == before, "it is written at its end alone, and keeps its mode"
    assert file.stat().st_mode & 0o777 == 0o640


def test_a_run_that_waits_for_approval_is_answered_on_another_day(file: Path) -> None:
    done: list[int] = []
    model = ScriptedModel([CALLS])
    with pytest.raises(ApprovalNeeded):
        run(AGENT, "go", counting(done), model=model, policy=interp.ask_all, record=file)
    assert done == []

    model = ScriptedModel(["done"])
    response = resume_run(file, counting(done), model=model, approve=lambda ask: "no")

    assert [each.error for each in response.tools_used if each.error] != []
    assert (done, len(model.requests)) == ([], 1)
    assert resume_run(file, counting(done)) == response


@pytest.mark.parametrize("left", [1, 5, 40])
def test_the_rest_of_a_line_that_a_killed_process_left_is_cut_off(file: Path, left: int) -> None:
    run(AGENT, "go", counting([]), model=ScriptedModel([CALLS, "done"]), record=file)
    whole = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(whole[:-1]) + whole[-1][:left])
    assert len(load_run(file).entries) == len(whole) - 2
    response = resume_run(file, counting([]), model=ScriptedModel(["again"]))
    assert response.content == "again"
    assert load_run(file).state.status is Status.DONE


def work_until_killed(file: Path, once: bool) -> None:
    @interp.tool(once=once)
    def add(x: int) -> int:
        """Adds one."""
        if x == 1 or once:
            os.kill(os.getpid(), signal.SIGKILL)
        return x + 1

    run(AGENT, "go", [add], model=ScriptedModel([CALLS]), record=file, at_once=1)


@pytest.fixture(scope="module")
def killed_runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Records of runs whose process was killed in a tool: one that may run again, one once."""
    files = [tmp_path_factory.mktemp("killed") / name for name in ("plain.gram", "once.gram")]
    for file, once in zip(files, (False, True), strict=True):
        forked = get_context("fork").Process(target=work_until_killed, args=(file, once))
        with warnings.catch_warnings(action="ignore"):  # Python 3.12 warns of threads
            forked.start()
        forked.join()
        assert forked.exitcode == -signal.SIGKILL
    return files


def test_a_killed_process_leaves_what_had_happened(file: Path, killed_runs: list[Path]) -> None:
    shutil.copy(killed_runs[0], file)
    assert [each.event.at for each in load_run(file).steps] == [(0,), (0, 0)]
    again: list[int] = []
    assert resume_run(file, counting(again), model=ScriptedModel(["done"])).content == "done"
    assert again == [1]


# --- what cannot be recorded


@pytest.mark.parametrize("mine", ["(mine)", "[:Runner {", "[:Run {}]\n", "\n", " "])
def test_no_file_of_somebody_else_is_recorded_in(file: Path, mine: str) -> None:
    file.write_text(mine)
    model = ScriptedModel(["hi"])
    with pytest.raises(OSError, match="exists already"):
        run(AGENT, "go", counting([]), model=model, record=file)
    assert (file.read_text(), model.requests) == (mine, [])


def test_no_link_is_followed_to_record_a_run(file: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.touch()
    file.symlink_to(target)
    with pytest.raises(OSError, match="exists already"):
        run(AGENT, "go", counting([]), model=ScriptedModel(["hi"]), record=file)
    assert target.read_text() == ""


def test_a_file_that_another_process_has_just_made_is_not_taken(file: Path) -> None:
    file.touch()
    with file.open("r+") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(OSError, match="another process records a run in it"):
            run(AGENT, "go", counting([]), model=ScriptedModel(["hi"]), record=file)
    assert file.exists()


def test_a_run_that_cannot_begin_leaves_no_file(file: Path) -> None:
    with pytest.raises(interp.AgentError):
        run(AGENT, "go", model=ScriptedModel([]), record=file)
    assert not file.exists()


def test_two_runs_are_never_recorded_in_one_file(file: Path) -> None:
    errors: list[BaseException] = []

    def resume_meanwhile(effect: Effect, event: Event) -> None:
        if not errors:
            try:
                resume_run(file, counting([]), model=ScriptedModel(["mine"]))
            except OSError as error:
                errors.append(error)

    model = ScriptedModel([CALLS, "done"])
    run(AGENT, "go", counting([]), model=model, record=file, observe=resume_meanwhile)

    assert "another process records a run in it" in str(errors[0])
    assert load_run(file).state.context[-1].content == "done"


@contextmanager
def files_limited() -> Iterator[Callable[[int], None]]:
    """Sets how large a file may become, as a disk that is full does.

    Until the test's body ends: pytest itself may write to a file.
    """
    resource = pytest.importorskip("resource", reason="limits of file sizes are Unix's")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_tool_is_not_run_when_that_cannot_be_recorded(file: Path) -> None:
    done: list[int] = []

    def fill_the_disk(effect: Effect, event: Event) -> None:
        limit_files(file.stat().st_size)

    model = ScriptedModel([CALLS, "done"])
    error = pytest.raises(interp.AgentError, match="the run is no longer recorded")
    with files_limited() as limit_files, error:
        run(AGENT, "go", counting(done), model=model, record=file, observe=fill_the_disk)

    assert done == []
    assert len(load_run(file).steps) == 1


def test_a_file_that_cannot_be_begun_is_not_left_behind(file: Path) -> None:
    with files_limited() as limit_files:
        limit_files(20)
        with pytest.raises(OSError, match="too large"):
            run(AGENT, "go", counting([]), model=ScriptedModel(["hi"]), record=file)

    assert not file.exists()


# --- what is no run file


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("", ValidationError, "nothing of a run had begun"),
        ("// nothing\n", ValidationError, "no run is recorded in it"),
        ("(a)\n", ValidationError, "not the record of a run"),
        ("[:Run\n", GramDecodeError, "run.gram:2:1"),
        ("(:Run {format: 3})\n", ValidationError, "the format is not 1"),
        ("(:Run {format: 1})\n", ValidationError, "a Run has a Library"),
    ],
)
def test_what_is_no_run_file_is_refused(
    file: Path, text: str, error: type[Exception], message: str
) -> None:
    file.write_text(text)
    with pytest.raises(error, match=message):
        load_run(file)


# --- what happened between the events


def test_whatever_begins_is_noted_before_it_begins(file: Path) -> None:
    seen: list[list[str]] = []

    @interp.tool
    def add(x: int) -> int:
        """Adds one."""
        seen.append([type(each).__name__ for each in load_run(file).entries])
        return x + 1

    model = ScriptedModel([CALLS, "done"])
    run(AGENT, "go", interp.ToolLibrary.of(add), model=model, record=file, at_once=1)

    assert seen[0] == ["Begun", "RecordedStep", "Begun"]
    kept = load_run(file)
    begun = [each for each in kept.notes if isinstance(each, Begun)]
    assert [each.at for each in begun] == [(0,), (0, 0), (0, 1), (1,)]
    assert kept.started is not None
    assert kept.started <= begun[0].time <= begun[-1].time


def test_what_failed_and_what_stopped_the_run_are_noted(file: Path) -> None:
    model = ScriptedModel([interp.ModelError("the provider is down")])
    with pytest.raises(interp.ModelError):
        run(AGENT, "go", counting([]), model=model, record=file)

    _, failed, stopped = load_run(file).notes

    assert isinstance(failed, Failed)
    assert (failed.at, failed.error) == ((0,), "the provider is down")
    assert isinstance(stopped, Stopped)
    assert stopped.error == "the provider is down"


def test_requests_that_were_sent_again_are_noted(
    file: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy = Answer({"error": {"message": "busy"}}, 503, headers={"retry-after": "0"})
    program = loads_one(dumps(AGENT).replace("A/b", "OpenAI/gpt-5"))
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    for words in (False, True):
        model_server.will_say(busy, "done")
        path = file.with_name(f"{words}.gram")
        begun = interp.begin(program, "go", counting([]), base_url=model_server.url, record=path)
        list(begun.stream(words=words))

        (retried,) = (each for each in load_run(path).notes if isinstance(each, Retried))
        assert (retried.at, retried.wait) == ((0,), 0)
        assert "busy" in retried.error


# --- tools that must not run twice


@pytest.fixture
def killed(file: Path, killed_runs: list[Path]) -> Path:
    """The record of a run whose process was killed while it ran a tool that runs once."""
    shutil.copy(killed_runs[1], file)
    assert {each.at for each in load_run(file).unanswered} == {(0, 0)}
    return file


@pytest.mark.parametrize("once", [True, False])  # or a tool that is no longer marked
def test_a_call_that_had_begun_is_asked_about_where_it_must_not_run_twice(
    killed: Path, once: bool
) -> None:
    done: list[int] = []
    with pytest.raises(ApprovalNeeded):
        resume_run(killed, counting(done, once=once), model=ScriptedModel([]))
    assert [(ask.at, ask.may_have_run) for ask in load_run(killed).state.asks] == [((0, 0), True)]
    assert done == [1]

    asked: list[Ask] = []

    def allow(ask: Ask) -> bool:
        asked.append(ask)
        return True

    response = resume_run(
        killed, counting(done, once=True), model=ScriptedModel(["done"]), approve=allow
    )

    assert [(each.at, each.may_have_run) for each in asked] == [((0, 0), True)]
    assert (response.content, done) == ("done", [1, 0])


def test_the_model_is_told_of_a_call_that_may_have_run_and_is_not_run_again(killed: Path) -> None:
    done: list[int] = []
    response = resume_run(
        killed, counting(done, once=True), model=ScriptedModel(["done"]), approve=lambda _: "it did"
    )
    assert done == [1]
    assert "it may have run; not run again: it did" in str(response.tools_used[0].error)
    assert run(AGENT, "go", handler=interp.recorded(killed)) == response


def test_a_call_that_was_under_way_when_the_time_was_up_is_asked_about(file: Path) -> None:
    done, may_end = list[int](), Flag()

    @interp.tool(once=True)
    def add(x: int) -> int:
        """Adds one."""
        done.append(x)
        may_end.wait(10)
        return x + 1

    tools, short = interp.ToolLibrary.of(add), Limits(run_seconds=0.5)
    with pytest.raises(interp.LimitError):
        run(AGENT, "go", tools, model=ScriptedModel([CALLS]), record=file, limits=short, at_once=1)
    may_end.set()
    assert (done, [each.at for each in load_run(file).unanswered]) == ([0], [(0, 0)])

    with pytest.raises(ApprovalNeeded):
        resume_run(file, counting(done, once=True), model=ScriptedModel([]), limits=Limits())

    assert [(ask.at, ask.may_have_run) for ask in load_run(file).state.asks] == [((0, 0), True)]
    assert done == [0, 1]


@pytest.mark.parametrize("kept", ["state", "log"])
def test_what_was_marked_when_the_run_began_is_so_wherever_it_goes_on(kept: str) -> None:
    none, events = Limits(iterations=0), list[Event]()
    with pytest.raises(interp.LimitError) as stopped:
        run(AGENT, "go", counting([], once=True), model=ScriptedModel([CALLS]), limits=none)

    resume_run(
        getattr(stopped.value, kept),
        counting([]),
        model=ScriptedModel(["done"]),
        limits=Limits(),
        watch=lambda effect, event, step: events.append(event),
    )

    assert CallBegun((0, 0)) in events


STATE = start(loads_one('[a:Agent {instruction: "Help.", model: "OpenAI/x"}]'), "hi").state


class SlowLog:
    """A log that takes a while, and keeps what is written."""

    blocks = True
    has_begun = True
    once: frozenset[str] = frozenset()
    name = "slow"

    def __init__(self) -> None:
        self.written: list[Any] = []

    def append(self, folded: Any) -> None:
        time.sleep(0.05)
        self.written.append(folded.event)


@pytest.mark.parametrize("turns", [0, 1])
def test_what_an_interrupt_leaves_behind_is_written_before_what_comes_later(turns: int) -> None:
    log, kept = SlowLog(), list[str]()
    first, second = CallBegun((0, 0)), CallBegun((0, 1))

    async def interrupted() -> None:
        recorder = Recorder(log)  # type: ignore[arg-type]  # it does what is asked of it here
        left = recorder.append(Folded(first, None, STATE), lambda: kept.append("first"))
        left.send(None)
        for _ in range(turns):  # of the loop, so that its thread has begun
            await asyncio.sleep(0)
        with pytest.raises(KeyboardInterrupt):
            left.throw(KeyboardInterrupt)
        await recorder.append(Folded(second, None, STATE), lambda: kept.append("second"))

    asyncio.run(interrupted())

    assert (log.written, kept) == ([first, second], ["first", "second"])


AT = st.lists(st.integers(0, 20), max_size=3).map(tuple)
SECONDS = st.floats(0, 1e6).map(lambda seconds: round(seconds, 6))
TIMES = st.datetimes(timezones=st.just(UTC)).map(
    lambda time: time.replace(microsecond=time.microsecond // 1000 * 1000)
)
ANY_NOTE = st.one_of(
    st.builds(Begun, AT, TIMES),
    st.builds(Retried, AT, message_texts(), SECONDS),
    st.builds(Failed, AT, message_texts(), SECONDS),
    st.builds(Stopped, message_texts(), TIMES),
)


@given(ANY_NOTE)
def test_every_note_comes_back_equal_from_its_line(note: Note) -> None:
    line = note_line(note)
    assert "\n" not in line
    assert note_from_pattern(loads_one(line)) == note


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('(:Begun {at: [0], time: "yesterday"})', "must be a time, found yesterday"),
        ("(:Begun {at: [0]})", "Begun has no time"),
        ('(:Retried {at: [0], error: "x", wait: "long"})', "wait of Retried must be a number"),
        ("(:Failed {at: 0})", "array of whole numbers"),
        ('[:Stopped {error: "x", time: "2026-01-01"} | (:User)]', "must not have elements"),
    ],
)
def test_what_is_no_note_is_refused_with_its_place(text: str, message: str) -> None:
    with pytest.raises(ValidationError, match=message) as caught:
        note_from_pattern(loads_one("\n" + text))
    assert caught.value.faults[0].lineno == 2
