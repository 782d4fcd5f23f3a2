"""Why a run went wrong: ``shrink`` finds the smallest that fails so, ``runs fork`` tries another
from the middle of one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path

import click
from attrs import asdict

from gram import GramError, dumps
from gram.json import Json
from gram.words import counted, did_you_mean

from ...errors import ReplayError
from ...evaluation import causes
from ...evaluation.causes import Change, Shrunk
from ...history.stores import RunStore
from ...json_text import json_or_text
from ...machine import context_before
from ...models import Dialect
from ...programs import callable_in, the_agent
from ...workers import fork_run
from ..failures import Refused
from ..inputs import declaring
from ..inputs.declaring import Options, checks_option, command, json_option, option
from ..inputs.files import read_program
from ..inputs.libraries import read_checks, read_libraries, stand_ins_option
from ..inputs.options import base_url_option, dialect_option, named_texts
from ..inputs.record_option import named_runs, position, run_in_store
from ..process import interruptible
from ..terminal.console import detail, forbid, note, show_result, tell

_HELD = (
    "the recorded replies were held fixed, and with them the message, instructions and "
    "descriptions; --live asks the model, and shrinks these, too"
)


@command("shrink")
def shrink_command(
    run: str,
    condition: str | None = option(
        "The check that says yes, or with not: no, of a run that still fails. Without it, the run "
        "has to raise the same kind of error.",
        "[not] CHECK",
        name="--while",
    ),
    checks: tuple[str, ...] = checks_option,
    live: bool = option("Ask the model anew, instead of the recorded replies."),
    model: str | None = option("With --live, ask this model.", "PROVIDER/NAME"),
    tools: tuple[str, ...] = stand_ins_option,
    repeats: int | None = option("With --live, how often each is run; 5 by default."),
    at_least: int | None = option("How many of them have to fail; most by default."),
    runs: int | None = option("How many runs at most; 2000, with --live 200."),
    folder: str = option(
        "A new folder for what comes out; shrunk.", "DIR", name="--out", default="shrunk"
    ),
    as_json: bool = json_option,
) -> None:
    """Find the smallest program, message and results with which RUN still fails.

    gram shrink bad.run.gram --while wrong_price --checks checks.py writes a folder with a program,
    a case and a run file, which gram test takes. Nothing is asked or called without --live, but
    the tools of --tools are run for the calls that were recorded, except those marked once.
    """
    goes_live, out = model or repeats or at_least, Path(folder)
    forbid(goes_live and not live, "--model, --repeats and --at-least need --live")
    is_used = out.exists() and (not out.is_dir() or any(out.iterdir()))
    forbid(is_used, f"--out {out} has something in it: name a new folder")
    check, says, known = None, True, read_checks(checks)
    if condition is not None:
        wanted = condition.removeprefix("not ").strip()
        check, says = known.get(wanted), wanted == condition
        if check is None:
            hint = did_you_mean(wanted, known) or f"the checks are {', '.join(known) or 'none'}"
            raise click.UsageError(f"--while {condition}: there is no check {wanted}; {hint}")
    turns = named_runs(run)
    forbid(len(turns) > 1, f"{run} has {counted(len(turns), 'run')}: name one, as {run}#1")
    if not out.exists():  # that it cannot be made is told before anything is run
        out.mkdir(parents=True)
        out.rmdir()
    most = runs or (200 if live else causes.MOST_RUNS)
    note(f"gram: at most {counted(most, 'run')}")
    smallest: Shrunk | None = None
    noted = 0

    def write(found: Shrunk) -> list[str]:
        return causes.write_folder(found, out, check and check.__name__, says=says)

    def progress(found: Shrunk) -> None:
        nonlocal noted, smallest
        smallest = found
        is_due = live or found.runs >= noted + 25
        noted = found.runs if is_due else noted
        tell_it = note if is_due else detail
        tell_it(f"gram: after {counted(found.runs, 'run')}: {', '.join(_lines(found))}")
        if live:  # it has cost something, and may be killed
            write(found)

    def keep(found: Shrunk) -> None:
        for each in write(found):
            told = f"{causes.CASES} has no place for the {each} of the run; {causes.RUN} has it"
            note(f"gram: {told}, and gram test may end otherwise")

    try:
        with interruptible(), redirect_stdout(sys.stderr):  # what tools and checks print
            found = causes.shrink(
                turns[0],
                check,
                says=says,
                live=live,
                model=model,
                tools=read_libraries(tools) if tools else None,
                repeats=repeats,
                at_least=at_least,
                runs=most,
                progress=progress,
            )
    except ReplayError as error:
        raise Refused(str(error)) from None
    except (KeyboardInterrupt, GramError):
        if smallest:
            keep(smallest)
            came_to = f"gram shrink {out / causes.RUN} goes on with it"
            tell(f"gram: what it came to is in {out}; {came_to}")
        raise
    keep(found)
    counts = ("runs", "requests", "failed", "is_minimal", "replies_held")
    facts = {each: getattr(found, each) for each in counts}
    before = f"{causes.BEFORE}, " * bool(context_before(found.state))
    files = f"{out}: {causes.PROGRAM}, {before}{causes.CASES} and {causes.RUN}"
    value = {"folder": str(out), **facts, **_sizes(found)}
    show_result(as_json, value, [*_lines(found), *_told(found), files])


def _sizes(found: Shrunk) -> dict[str, tuple[int, int]]:
    before, after = found.before, found.state
    return {
        "events": (len(before.events), len(after.events)),
        "tools": (len(callable_in(before.agent)), len(callable_in(after.agent))),
        "characters": (len(dumps(before.agent)), len(dumps(after.agent))),
    }


def _lines(found: Shrunk) -> Iterator[str]:
    for each, (was, now) in _sizes(found).items():
        of = " of the program" * (each == "characters")
        yield f"{counted(was, each.removesuffix('s'))}{of} -> {now:,}"


def _told(found: Shrunk) -> Iterator[str]:
    """What the outcome shows, and what it does not."""
    asked = f", {counted(found.requests, 'request')} to a model" if found.requests else ""
    took = f"{counted(found.runs, 'run')}{asked}"
    if found.is_minimal and found.replies_held:
        yield f"{took}: without any one part more, it does not fail"
    elif found.is_minimal:
        failed, runs = found.failed
        yield f"{took}: no one part more could go; it failed in {failed} of {runs} runs"
    else:
        yield f"{took}, and they are spent: more may go"
    if found.replies_held:
        yield _HELD


class _ForkOptions(Options):
    program: str | None = option("The program of the new run.", "FILE")
    agent: str | None = declaring.agent_option
    at: str | None = option("The position of the change, as gram trace shows it.", "AT")
    values: tuple[str, ...] = option(
        "What is changed there: result or error of a call, allowed and reason of a person's "
        "answer, reply of a model. A value that is not JSON is a text.",
        "'NAME = VALUE'",
        name="--set",
    )
    repeats: int | None = option("Compare so many runs with the change with so many without.")
    model: str | None = declaring.model_option
    base_url: str | None = base_url_option
    dialect: Dialect | None = dialect_option
    tools: tuple[str, ...] = stand_ins_option
    checks: tuple[str, ...] = checks_option
    jobs: int = option("How many runs go on at once.", default=4)
    as_json: bool = json_option

    def __attrs_post_init__(self) -> None:
        forbid(not self.at and (self.values or self.repeats), "--set and --repeats need --at AT")
        if self.repeats and not (self.values or self.program or self.model):
            raise click.UsageError("--repeats needs what is otherwise: --set, --model or --program")
        forbid(self.repeats and not self.checks, "--repeats needs --checks: they say what is right")
        if not self.repeats and (self.model or self.tools or self.checks):
            raise click.UsageError("--model, --tools and --checks need --repeats")


@command("fork")
def fork(run: str, options: _ForkOptions) -> None:
    """Make a run that begins like RUN, and print its id; gram resume goes on with it.

    The new run has what is recorded of RUN up to --at, or up to the first request that its program
    makes differently.

    With --repeats, many runs go on from there, with the change and without, and are compared: a run
    is right if all functions of --checks say yes. No tool that was recorded is called: a call gets
    the recorded result of an equal one, or that of a tool of --tools. The runs are kept in the
    store; the same command goes on with them, and more repeats add to them.
    """
    other = None
    if options.program is not None:
        other = the_agent(read_program(options.program), options.agent, by="fork")
    with run_in_store(run) as (store, parent):
        try:
            if options.at is None:
                new = fork_run(store, parent, other)
            else:
                values = _values(options.values)
                change = Change(position(options.at), values, options.model, other)
                if options.repeats:
                    _compare(store, parent, change, options)
                    return
                new = causes.write_fork(store, parent, change)
        except ReplayError as error:
            raise Refused(str(error)) from None
    show_result(options.as_json, {"id": new, "parent": parent}, [new])


def _compare(store: RunStore, run: str, change: Change, options: _ForkOptions) -> None:
    over, repeats = 0, options.repeats or 1

    def progress(outcome: str) -> None:
        nonlocal over
        over += 1
        tell_it = note if over % 10 == 0 or over == 2 * repeats else detail
        tell_it(f"gram: {over} of {counted(2 * repeats, 'run')}: {outcome}")

    note(f"gram: {counted(2 * repeats, 'run')}, from {'.'.join(map(str, change.at))} on")
    with interruptible(), redirect_stdout(sys.stderr):  # what tools and checks print
        found = causes.what_if(
            store,
            run,
            change,
            read_checks(options.checks),
            repeats=repeats,
            base_url=options.base_url,
            dialect=options.dialect,
            tools=read_libraries(options.tools) if options.tools else None,
            jobs=options.jobs,
            progress=progress,
        )
    verdict = {"made_the_difference": found.made_the_difference, "p": found.p}
    value = verdict | {"difference": asdict(found.difference)} | asdict(found)
    show_result(options.as_json, value, found.lines())


def _values(texts: tuple[str, ...]) -> dict[str, Json]:
    values: dict[str, Json] = {}
    for name, text in named_texts("--set", texts):
        forbid(name in values, f"--set: {name} is set twice")
        value = json_or_text(text.strip())
        is_text = name in ("error", "reason", "reply") and not isinstance(value, str)
        values[name] = text.strip() if is_text else value
    return values
