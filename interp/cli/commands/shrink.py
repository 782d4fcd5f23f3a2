"""``gram shrink``: the smallest run that fails as a recorded one does."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path

import click
from attrs import frozen

from gram import GramError, dumps
from gram.words import counted, did_you_mean

from ...errors import ReplayError
from ...evaluation.causes import (
    BEFORE,
    CASES,
    MOST_RUNS,
    PROGRAM,
    RUN,
    Shrunk,
    shrink,
    write_folder,
)
from ...machine import context_before
from ...programs import callable_in
from ..failures import Refused
from ..inputs.declaring import checks_option, given_by, json_option, option, options_of
from ..inputs.libraries import read_checks, read_libraries, stand_ins_option
from ..inputs.record_option import named_runs, run_argument
from ..process import interruptible
from ..terminal.output import detail, note, show, show_json, tell

_HELD = (
    "the recorded replies were held fixed, and with them the message, instructions and "
    "descriptions; --live asks the model, and shrinks these, too"
)


@frozen(kw_only=True, slots=False)
class Options:
    """The options of ``gram shrink``."""

    check: str | None = option(
        "The check that says yes, or with not: no, of a run that still fails. Without it, the run "
        "has to raise the same kind of error.",
        "[not] CHECK",
        name="--while",
    )
    checks: tuple[str, ...] = checks_option
    live: bool = option("Ask the model anew, instead of the recorded replies.")
    model: str | None = option("With --live, ask this model.", "PROVIDER/NAME")
    tools: tuple[str, ...] = stand_ins_option
    repeats: int | None = option("With --live, how often each is run; 5 by default.")
    at_least: int | None = option("How many of them have to fail; most by default.")
    runs: int | None = option("How many runs at most; 2000, with --live 200.")
    out: Path = option(
        "A new folder for what comes out; shrunk.", "DIR", converter=Path, default="shrunk"
    )
    as_json: bool = given_by(json_option)

    def __attrs_post_init__(self) -> None:
        if not self.live and (self.model or self.repeats or self.at_least):
            raise click.UsageError("--model, --repeats and --at-least need --live")
        if self.out.exists() and (not self.out.is_dir() or any(self.out.iterdir())):
            raise click.UsageError(f"--out {self.out} has something in it: name a new folder")


@click.command("shrink")
@run_argument
@options_of(Options)
def command(run: str, options: Options) -> None:
    """Find the smallest program, message and results with which RUN still fails.

    gram shrink bad.run.gram --while wrong_price --checks checks.py writes a folder with a program,
    a case and a run file, which gram test takes. Nothing is asked or called without --live, but
    the tools of --tools are run for the calls that were recorded, except those marked once.
    """
    live, out = options.live, options.out
    check, says, known = None, True, read_checks(options.checks)
    if options.check is not None:
        wanted = options.check.removeprefix("not ").strip()
        check, says = known.get(wanted), wanted == options.check
        if check is None:
            hint = did_you_mean(wanted, known) or f"the checks are {', '.join(known) or 'none'}"
            raise click.UsageError(f"--while {options.check}: there is no check {wanted}; {hint}")
    turns = named_runs(run)
    if len(turns) > 1:
        raise click.UsageError(f"{run} has {counted(len(turns), 'run')}: name one, as {run}#1")
    if not out.exists():  # that it cannot be made is told before anything is run
        out.mkdir(parents=True)
        out.rmdir()
    most = options.runs or (200 if live else MOST_RUNS)
    note(f"gram: at most {counted(most, 'run')}")
    smallest: Shrunk | None = None
    noted = 0

    def write(found: Shrunk) -> list[str]:
        return write_folder(found, out, check and check.__name__, says=says)

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
            told = f"{CASES} has no place for {each} of the run; {RUN} has it"
            note(f"gram: {told}, and gram test may end otherwise")

    try:
        with interruptible(), redirect_stdout(sys.stderr):  # what tools and checks print
            found = shrink(
                turns[0],
                check,
                says=says,
                live=live,
                model=options.model,
                tools=read_libraries(options.tools) if options.tools else None,
                repeats=options.repeats,
                at_least=options.at_least,
                runs=most,
                progress=progress,
            )
    except ReplayError as error:
        raise Refused(str(error)) from None
    except (KeyboardInterrupt, GramError):
        if smallest:
            keep(smallest)
            tell(f"gram: what it came to is in {out}; gram shrink {out / RUN} goes on with it")
        raise
    keep(found)
    if options.as_json:
        counts = ("runs", "requests", "failed", "is_minimal", "replies_held")
        sizes = {what: list(of) for what, of in _sizes(found).items()}
        show_json({"folder": str(out), **{each: getattr(found, each) for each in counts}, **sizes})
        return
    for line in (*_lines(found), *_told(found)):
        show(line)
    before = f"{BEFORE}, " * bool(context_before(found.state))
    show(f"{out}: {PROGRAM}, {before}{CASES} and {RUN}")


def _sizes(found: Shrunk) -> dict[str, tuple[int, int]]:
    """How large the run was, and is."""
    before, after = found.before, found.state
    return {
        "events": (len(before.events), len(after.events)),
        "tools": (len(callable_in(before.agent)), len(callable_in(after.agent))),
        "characters": (len(dumps(before.agent)), len(dumps(after.agent))),
    }


def _lines(found: Shrunk) -> list[str]:
    what = {"characters": "characters of the program"}
    sizes = _sizes(found).items()
    return [f"{was:,} {what.get(each, each)} -> {now:,}" for each, (was, now) in sizes]


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
