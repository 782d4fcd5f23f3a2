"""``gram shrink``: the smallest run that fails as a recorded one does."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import click

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
from ..inputs.file_options import checks_option, json_option
from ..inputs.options import stand_ins_option
from ..inputs.reading import read_checks, read_libraries
from ..inputs.record_option import named_runs, run_argument
from ..process import interruptible
from ..terminal.output import detail, note, show, show_json, tell

_HELD = (
    "the recorded replies were held fixed, and with them the message, instructions and "
    "descriptions; --live asks the model, and shrinks these, too"
)


@click.command("shrink")
@run_argument
@click.option(
    "--while",
    "name",
    metavar="[not] CHECK",
    help="The check that says yes, or with not: no, of a run that still fails. Without it, the run "
    "has to raise the same kind of error.",
)
@checks_option
@click.option("--live", is_flag=True, help="Ask the model anew, instead of the recorded replies.")
@click.option("--model", metavar="PROVIDER/NAME", help="With --live, ask this model.")
@stand_ins_option
@click.option(
    "--repeats", type=click.IntRange(1), help="With --live, how often each is run; 5 by default."
)
@click.option(
    "--at-least", type=click.IntRange(1), help="How many of them have to fail; most by default."
)
@click.option(
    "--runs", type=click.IntRange(1), help="How many runs at most; 2000, with --live 200."
)
@click.option(
    "--out",
    metavar="DIR",
    default="shrunk",
    show_default=True,
    help="A new folder for what comes out.",
)
@json_option
def command(run: str, name: str | None, checks: tuple[str, ...], **given: Any) -> None:
    """Find the smallest program, message and results with which RUN still fails.

    gram shrink bad.run.gram --while wrong_price --checks checks.py writes a folder with a program,
    a case and a run file, which gram test takes. Nothing is asked or called without --live, but
    the tools of --tools are run for the calls that were recorded, except those marked once.
    """
    live, out, as_json = given["live"], Path(given["out"]), given["as_json"]
    if not live and (given["model"] or given["repeats"] or given["at_least"]):
        raise click.UsageError("--model, --repeats and --at-least need --live")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise click.UsageError(f"--out {out} has something in it: name a new folder")
    check, says, known = None, True, read_checks(checks)
    if name is not None:
        wanted = name.removeprefix("not ").strip()
        check, says = known.get(wanted), wanted == name
        if check is None:
            hint = did_you_mean(wanted, known) or f"the checks are {', '.join(known) or 'none'}"
            raise click.UsageError(f"--while {name}: there is no check {wanted}; {hint}")
    turns = named_runs(run)
    if len(turns) > 1:
        raise click.UsageError(f"{run} has {counted(len(turns), 'run')}: name one, as {run}#1")
    if not out.exists():  # that it cannot be made is told before anything is run
        out.mkdir(parents=True)
        out.rmdir()
    most = given["runs"] or (200 if live else MOST_RUNS)
    note(f"gram: at most {counted(most, 'run')}")
    smallest: list[Shrunk] = []
    noted = 0

    def progress(found: Shrunk) -> None:
        nonlocal noted
        smallest[:] = [found]
        is_due = live or found.runs >= noted + 25
        noted = found.runs if is_due else noted
        tell_it = note if is_due else detail
        tell_it(f"gram: after {counted(found.runs, 'run')}: {', '.join(_lines(found))}")
        if live:  # it has cost something, and may be killed
            write_folder(found, out, check and check.__name__, says=says)

    def keep(found: Shrunk) -> None:
        for each in write_folder(found, out, check and check.__name__, says=says):
            told = f"{CASES} has no place for {each} of the run; {RUN} has it"
            note(f"gram: {told}, and gram test may end otherwise")

    try:
        with interruptible(), redirect_stdout(sys.stderr):  # what tools and checks print
            found = shrink(
                turns[0],
                check,
                says=says,
                live=live,
                model=given["model"],
                tools=read_libraries(given["tools"]) if given["tools"] else None,
                repeats=given["repeats"],
                at_least=given["at_least"],
                runs=most,
                progress=progress,
            )
    except ReplayError as error:
        raise Refused(str(error)) from None
    except (KeyboardInterrupt, GramError):
        if smallest:
            keep(smallest[0])
            tell(f"gram: what it came to is in {out}; gram shrink {out / RUN} goes on with it")
        raise
    keep(found)
    if as_json:
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
