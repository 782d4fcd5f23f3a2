"""``gram runs``: the runs of a store, listed, shown and steered."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, get_args

import click
from attrs import evolve

from gram import GramError, Json

from ..errors import StoreError
from ..json_text import read_json
from ..redaction import redact
from ..stores import ENDED, RunStatus, RunStore, StoredRun, open_store
from .completing import complete_agent, complete_files
from .failures import Refused
from .file_options import agent_option, json_option
from .options import RunningOptions, options_of
from .output import note, show, show_json, tell
from .process import interruptible
from .store_option import store_option

if TYPE_CHECKING:
    from ..machine import Ask, At
    from ..steering import Decision
    from ..stores import RunRow

_FIRST = datetime(1970, 1, 1, tzinfo=UTC)  # no run is older
_LONGEST = 100 * 366 * 86400  # seconds
_MOST = 50  # runs that a list shows unless told otherwise


@click.group("runs")
def command() -> None:
    """List, show and steer the runs of a store.

    gram run FILE TEXT --store runs.db keeps a run there. --store names the store, or GRAM_STORE in
    the environment. A RUN is an id, or its beginning where no other run begins so.
    """


_run_argument = click.argument("run", metavar="RUN")


@contextmanager
def _opened(address: str) -> Iterator[RunStore]:
    with open_store(address, must_exist=True) as store:
        yield store


def _named(store: RunStore, run: str) -> str:
    """The id that begins with a text.

    Raises:
        Refused: none does, or several do.
    """
    try:
        return store.row(run).id
    except StoreError:
        found = [row.id for row in store.rows(beginning=run, limit=3)]
        if not found:
            raise
    if len(found) > 1:
        raise Refused(f"several runs of {store.name} begin with {run}: {', '.join(found)}")
    return found[0]


class _Age(click.ParamType[datetime]):
    """A time: how long ago, or a date."""

    name = "AGE|DATE"

    def convert(self, value: Any, _: click.Parameter | None, __: click.Context | None) -> datetime:
        """A time from ``30d``, ``12h``, ``2026-11-22`` or ``2026-11-22T15:00``."""
        if isinstance(value, datetime):
            return value
        if age := re.fullmatch(r"(\d{1,6})([smhd])", value):
            seconds = int(age[1]) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[age[2]]
            return max(_FIRST, datetime.now(UTC) - timedelta(seconds=min(seconds, _LONGEST)))
        try:
            found = datetime.fromisoformat(value).astimezone(UTC)
        except (ValueError, OverflowError):
            self.fail(f"{value} is neither an age, such as 30d or 12h, nor a date")
        return max(_FIRST, found)


@command.command("list")
@store_option()
@click.option(
    "--status", multiple=True, type=click.Choice(get_args(RunStatus)), help="Only runs like this."
)
@click.option("--agent", metavar="NAME", shell_complete=complete_agent, help="Only of this agent.")
@click.option("--tenant", metavar="NAME", help="Only for this tenant.")
@click.option("--conversation", metavar="NAME", help="Only turns of this conversation.")
@click.option("--since", type=_Age(), help="Only runs made since then.")
@click.option("--before", type=_Age(), help="Only runs made before then.")
@click.option(
    "--limit",
    type=click.IntRange(1),
    help=f"How many at most; {_MOST} by default, all with --json.",
)
@json_option
def list_runs(store: str, as_json: bool, limit: int | None, **filters: Any) -> None:
    """List runs, the newest first: id, status, agent, time it was made, tokens it used."""
    with _opened(store) as opened:
        rows = opened.rows(limit=limit or (None if as_json else _MOST + 1), **filters)
        found = _with_reasons(opened, list(rows))
        if as_json:
            show_json([_row_json(row) for row in found])
            return
        shown = found if limit else found[:_MOST]
        for line in _table(shown):
            show(redact(line))
        if len(found) > len(shown):
            note(f"gram: there are more than {_MOST} runs; --limit shows more, filters fewer")


def _with_reasons(store: RunStore, rows: list[RunRow]) -> list[RunRow]:
    """Runs that also say why they are queued."""
    queued = [row.id for row in rows if row.status == "queued"]
    if not queued:
        return rows
    from ..workers import why_queued  # imported late: most stores have no workers

    reasons = why_queued(store, queued)
    return [evolve(row, reason=reasons[row.id]) if row.id in reasons else row for row in rows]


def _table(rows: list[RunRow]) -> Iterator[str]:
    width = max((len(row.facts.agent) for row in rows), default=0)
    for row in rows:
        made = row.created.astimezone().strftime("%Y-%m-%d %H:%M:%S")
        used = "" if row.usage.total_tokens is None else f"  {row.usage.total_tokens} tokens"
        why = f"  {row.reason.splitlines()[0]}" if row.reason else ""
        yield f"{row.id}  {row.status:9}  {row.facts.agent:{width}}  {made}{used}{why}"


def _row_json(row: RunRow) -> dict[str, Json]:
    facts = row.facts
    return {
        "id": row.id,
        "status": row.status,
        "agent": facts.agent,
        "model": facts.model,
        "file": facts.filename,
        "program": facts.program,
        "parent": facts.parent,
        "tenant": facts.tenant,
        "conversation": facts.conversation,
        "priority": facts.priority,
        "created": row.created.isoformat(),
        "changed": row.changed.isoformat(),
        "usage": {
            "input_tokens": row.usage.input_tokens,
            "output_tokens": row.usage.output_tokens,
        },
        "reason": row.reason,
        "entries": row.entries,
    }


@command.command("show")
@_run_argument
@store_option()
@json_option
@click.option(
    "--html",
    "out",
    metavar="OUT",
    shell_complete=complete_files,
    help="Write the run as one page for a browser.",
)
def show_run(run: str, store: str, as_json: bool, out: str | None) -> None:
    """Show a run as gram trace does: who was asked, what was called, how long it took."""
    from ..replaying import timeline
    from .trace import lines, write_page

    if out is not None and as_json:
        raise click.UsageError("--html is for itself, without --json")
    with _opened(store) as opened:
        run = _named(opened, run)
        found, (row,) = opened.recorded(run), _with_reasons(opened, [opened.row(run)])
    if out is not None:
        write_page(found, out)
        return
    if as_json:
        show_json({**_row_json(row), **timeline(found).to_json()})
        return
    show(redact(next(_table([row]))))
    for line in lines(timeline(found)):
        show(line)


@command.command("resume")
@_run_argument
@store_option()
@click.option("--json", "as_json", is_flag=True, help="Print the answer as a JSON object.")
@options_of(RunningOptions)
def resume_run(run: str, store: str, as_json: bool, options: RunningOptions) -> None:
    """Go on with a run, and print its answer, as gram resume does with a run file.

    Nothing that is recorded is asked or run again. What the options do not change stays as it was.
    """
    from ..machine import Status
    from .resume import resumed, terminal_of
    from .unfinished_turn import how_to_resume

    terminal = terminal_of(options, as_json=as_json)
    with interruptible(), _opened(store) as opened:
        log, kept = StoredRun.of(opened, _named(opened, run))
        going_on = resumed(log, kept, options, terminal)
        try:
            terminal.show_answer(going_on, lambda _: None)
        except BaseException as failure:  # how to resume is told, then it is raised again
            terminal.end_line()
            if isinstance(failure, GramError | OSError):
                terminal.show_failure(going_on.state, failure)
            if going_on.state.status is not Status.DONE:
                tell(how_to_resume("", going_on.state, store=opened.name))
            raise


@command.command("cancel")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@store_option()
def cancel(runs: tuple[str, ...], store: str) -> None:
    """End runs for good: nothing more of them is recorded, whoever goes on with them."""
    from ..steering import cancel_run

    with _opened(store) as opened:
        for run in [_named(opened, each) for each in runs]:
            cancel_run(opened, run)
            note(f"gram: run {run} is cancelled")


@command.command("decide")
@_run_argument
@store_option()
@click.option("--allow", multiple=True, metavar="AT", help="Run the call at this position.")
@click.option("--deny", multiple=True, metavar="AT[=WHY]", help="Do not run it, and say why.")
@click.option(
    "--result", multiple=True, metavar="AT=JSON", help="Take this as its result, without a run."
)
@click.option("--all", "all_of_them", type=click.Choice(["allow", "deny"]), help="Each call.")
@json_option
def decide(
    run: str,
    store: str,
    allow: tuple[str, ...],
    deny: tuple[str, ...],
    result: tuple[str, ...],
    all_of_them: str | None,
    as_json: bool,
) -> None:
    """Answer the calls that a run waits for approval of; without an answer, list them.

    A call may wait because it had begun when the run was stopped, and its tool is to run only once:
    --allow runs it again, --result says what it gave, gram runs cancel gives the run up. After the
    answers, gram runs resume goes on with the run.
    """
    from ..steering import decide_run

    with _opened(store) as opened:
        run = _named(opened, run)
        given = _decisions(allow, deny, result)
        if given and all_of_them:
            raise click.UsageError("--all answers each call: leave out --allow, --deny, --result")
        if given or all_of_them:
            waiting = decide_run(opened, run, given or all_of_them == "allow")
        else:
            waiting = opened.recorded(run).state.asks
    if as_json:
        show_json([_ask_json(ask) for ask in waiting])
        return
    for ask in waiting:
        may_have_run = "  (may have run already)" if ask.may_have_run else ""
        call = f"{ask.name} {ask.arguments}"
        show(redact(f"{'.'.join(map(str, ask.at))}  {call}{may_have_run}"))
    if not waiting:
        note(f"gram: run {run} waits for no approval")


def _ask_json(ask: Ask) -> dict[str, Json]:
    return {
        "at": list(ask.at),
        "tool": ask.name,
        "arguments": ask.args,
        "may_have_run": ask.may_have_run,
    }


def _decisions(
    allow: tuple[str, ...], deny: tuple[str, ...], result: tuple[str, ...]
) -> Mapping[At, Decision]:
    from ..steering import Result

    found: dict[At, Decision] = {_position(at): True for at in allow}
    for each in deny:
        at, _, why = each.partition("=")
        found[_position(at)] = why or False
    for each in result:
        at, equals, text = each.partition("=")
        if not equals:
            raise click.UsageError(f"--result {each}: write AT=JSON")
        try:
            found[_position(at)] = Result(read_json(text))
        except ValueError as error:
            raise click.UsageError(f"--result {at}: this is not JSON: {error}") from None
    return found


def _position(text: str) -> At:
    """A position as traces show it, such as ``0.1`` or ``writer.0.0``."""
    return tuple(int(part) if part.isdecimal() else part for part in text.split("."))


@command.command("fork")
@_run_argument
@store_option()
@click.option(
    "--program", metavar="FILE", shell_complete=complete_files, help="The program of the new run."
)
@agent_option
def fork(run: str, store: str, program: str | None, agent: str | None) -> None:
    """Make a run that begins like RUN, and print its id; gram runs resume goes on with it.

    The new run has what is recorded of RUN up to the first request that its program makes
    differently.
    """
    from ..steering import fork_run
    from .inputs import read_document

    document = None if program is None else read_document(program)
    with _opened(store) as opened:
        show(fork_run(opened, _named(opened, run), document, agent=agent))


@command.command("export")
@_run_argument
@click.argument("file", shell_complete=complete_files)
@store_option()
def export(run: str, file: str, store: str) -> None:
    """Write RUN to the new run FILE, for gram resume, replay and trace."""
    from ..steering import export_run

    with _opened(store) as opened:
        export_run(opened, _named(opened, run), file)


@command.command("import")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, shell_complete=complete_files)
@store_option()
def import_files(files: tuple[str, ...], store: str) -> None:
    """Take the runs of run files into the store, and print their ids."""
    from ..steering import import_run

    with open_store(store) as opened:
        for file in files:
            show(import_run(opened, file))


@command.command("prune")
@store_option()
@click.option(
    "--before",
    type=_Age(),
    required=True,
    help="Only runs that last changed before then, such as 30d or 2026-11-22.",
)
@click.option(
    "--status",
    multiple=True,
    type=click.Choice([each for each in get_args(RunStatus) if each != "running"]),
    default=ENDED,
    show_default=True,
    help="Only runs like this.",
)
@click.option("--tenant", metavar="NAME", help="Only for this tenant.")
def prune(store: str, before: datetime, status: tuple[RunStatus, ...], tenant: str | None) -> None:
    """Remove runs that have ended, for good; nothing that somebody goes on with is removed."""
    with _opened(store) as opened:
        removed = opened.prune(before, status=status, tenant=tenant)
    note(f"gram: {removed} run{'' if removed == 1 else 's'} removed")
