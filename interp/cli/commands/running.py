"""Commands on runs: ``run`` and ``chat`` begin them, ``resume`` goes on with one, ``replay`` and
``trace`` show one."""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, Literal

import click
from attrs import evolve

import lenses_ext
from gram import GramEncodeError, GramError
from gram.documents import resolved
from gram.words import counted, did_you_mean
from lenses_ext import Model, agent_name, view

from ...errors import ConfigurationError, ReplayError
from ...execution import Handler, LiveHandler
from ...history import RecordedRun
from ...history.records import save_context
from ...history.replaying import Timeline, follow, recorded, timeline
from ...history.stores import Address, StoredRun, open_run
from ...machine import (
    AssistantRole,
    CallModel,
    Status,
    UserRole,
    is_correction,
    parts_of,
    start_again,
)
from ...models import OFFLINE, known_providers
from ...programs import the_agent, tools_in
from ...running import Run
from ...shown import shortened
from ..failures import Refused, shown
from ..inputs.declaring import agent_option, command, json_option, option
from ..inputs.files import STDIN, read_program
from ..inputs.given_messages import attach_option, attached_file, input_option, said_to
from ..inputs.libraries import ToolOptions
from ..inputs.options import AnsweringOptions, TalkOptions
from ..inputs.record_option import default_record, named_runs
from ..process import interruptible, uninterrupted
from ..talk import TAKEN, Talk, how_to_resume, tell_doubts
from ..terminal import console
from ..terminal.answers import JsonAnswers, Terminal, answered_call
from ..terminal.console import expect_other_file, forbid, note, show, show_json, tell


class _RunOptions(TalkOptions):
    as_json: bool = json_option
    stream: bool = option("Print words as they come; with --json, a line for each event.")
    no_stdin: bool = option("Do not read standard input.")
    input: str | None = input_option
    attach: tuple[str, ...] = attach_option


@command("run")
def run_command(file: str, options: _RunOptions, messages: tuple[str, ...] = ()) -> None:
    """Run the agent in FILE; several MESSAGES are one conversation.

    The answers go to standard output, everything else to standard error. FILE may be - for standard
    input. A message may be - for standard input, or @FILE for the text of a file; @@ begins a
    message with @.

    A message may have files: gram run a.gram "What is this?" --attach chart.png

    What is said at a terminal is kept in your own store: -c goes on with the last conversation
    of this program. --no-record keeps nothing.

    What comes through a pipe is context: cat report.txt | gram run a.gram "summarise this"
    """
    expect_other_file(options.record)
    reads_stdin = not options.no_stdin
    said = said_to(file, messages, options.input, options.attach, reads_stdin=reads_stdin)

    talk = Talk(file, options, as_json=options.as_json, is_streaming=options.stream)
    with interruptible(), talk:
        for message in said:
            talk.say(message)


_MOST_SHOWN = 60  # characters of a message that is taken back
_LEAVING = {"exit", "quit"}


def take(line: str, talk: Talk) -> bool:
    """Execute a command, or say a message to the agent. Returns True to leave."""
    if not line or line in _LEAVING:
        return bool(line)
    if not line.startswith("/") or line.startswith("//"):
        talk.say(line.removeprefix("/") if line.startswith("//") else line)
        return False
    name, _, argument = line.partition(" ")
    if name in COMMANDS:
        COMMANDS[name](talk, argument.strip())
        return name == "/quit"
    hint = did_you_mean(name, COMMANDS) or f"the commands are {', '.join(COMMANDS)}."
    tell(f"unknown command {name}; {hint} Write // at the start of a message that begins with /")
    return False


def _help(_talk: Talk, _argument: str) -> None:
    """List the commands."""
    for name, told in COMMANDS.items():
        tell(f"{name:8} {told.__doc__}")


def _tools(talk: Talk, _argument: str) -> None:
    """List the agent's tools."""
    specs = tools_in(talk.agent)
    for spec in specs:
        signature = view(lenses_ext.tool_spec_type_signature, spec)
        tell(f"{view(lenses_ext.tool_spec_name, spec)} {signature}")
        tell(f"  {view(lenses_ext.tool_spec_description, spec)}")
    if not specs:
        tell("the agent has no tools")


def _calls(talk: Talk, _argument: str) -> None:
    """Show the tool calls of the last turn whole."""
    for call in talk.terminal.calls:
        tell(answered_call(call))
    if not talk.terminal.calls:
        tell("no tool was called in the last turn")


def _model(talk: Talk, argument: str) -> None:
    """Show the model, or ask another: /model PROVIDER/NAME."""
    if argument:
        try:
            model = Model.parse(argument)
            talk.check_model(model)
            talk.chosen = model
        except (ConfigurationError, GramEncodeError) as error:
            tell(f"{error}")
    tell(f"the model is {', '.join(map(str, talk.models)) or 'the script'}")


def _retry(talk: Talk, _argument: str) -> None:
    """Take the last message back and say it again."""
    message = talk.last_message
    if message is None:
        tell("nothing has been said yet")
        return
    talk.take_back()
    talk.say(message)


def _undo(talk: Talk, _argument: str) -> None:
    """Take the last message and its answer back."""
    message, context = talk.last_message, talk.context
    if message is None:
        tell("nothing has been said yet")
        return
    talk.take_back()
    how = "and what followed are taken back; what tools did is not undone"
    if talk.context == context:
        how = "is taken back; nothing of its turn was in the conversation"
    tell(f'"{_in_short(str(parts_of(message)[0]))}" {how}')


def _in_short(text: str) -> str:
    return shortened(" ".join(text.split()), _MOST_SHOWN)


def _edit(talk: Talk, _argument: str) -> None:
    """Edit the last message in your editor, and say it instead."""
    if not sys.stdin.isatty():
        tell("/edit needs a terminal")
        return
    message, files = parts_of(talk.last_message or "")
    try:
        edited = click.edit(str(message), require_save=True)
    except click.ClickException as error:  # there is no such editor, or it failed
        tell(f"{error.format_message()} The variable EDITOR names the editor.")
        return
    if edited is None or not edited.strip():
        tell("nothing was saved, so nothing is said")
        return
    talk.take_back()
    talk.say([edited.strip(), *files] if files else edited.strip())


def _attach(talk: Talk, argument: str) -> None:
    """Attach a file to the next message: /attach FILE|ADDRESS."""
    if argument:
        talk.attached = (*talk.attached, attached_file(argument))
    for file in talk.attached:
        tell(f"attached to the next message: {file}")
    if not talk.attached:
        tell("nothing is attached; write /attach FILE or an address")


def _save(talk: Talk, argument: str) -> None:
    """Save the conversation to a file: /save FILE."""
    if not argument:
        kept = f"it is kept as {talk.name}; " if talk.name else ""
        tell(f"{kept}write /save FILE for a file of its own")
        return
    try:
        target = Path(argument).expanduser()
    except RuntimeError as error:  # the user after ~ does not exist
        raise OSError(errno.ENOENT, str(error), argument) from None
    if _may_write(target):
        save_context(target, talk.context)
        tell(f"saved to {argument}")


def _may_write(target: Path) -> bool:
    """Whether a file may be written: it is new, or the user agrees to replace it."""
    if not resolved(target).exists():
        return True
    if not sys.stdin.isatty():
        tell(f"{target} exists already; not replaced")
        return False
    try:
        return click.confirm(f"{target} exists already. Replace it?", err=True)
    except click.Abort:  # Ctrl-C or Ctrl-D: it gives up the question, not the conversation
        tell("")
        return False


def _reset(talk: Talk, _argument: str) -> None:
    """Begin the conversation anew."""
    talk.begin_anew()
    tell("the conversation begins anew")


def _usage(talk: Talk, _argument: str) -> None:
    """Show the tokens used."""
    tell(talk.spending.text())


def _quit(_talk: Talk, _argument: str) -> None:
    """Leave, as Ctrl-D, exit and quit do."""


_ALL = (_help, _tools, _calls, _model, _retry, _undo, _edit, _attach, _usage, _save, _reset, _quit)
COMMANDS: Final = {f"/{each.__name__.strip('_')}": each for each in _ALL}
"""The commands of a chat, each a function whose first line says what it does."""


@command("chat")
def chat_command(
    file: str,
    options: TalkOptions,
    reload: bool = option("Take a changed program at the next message."),
) -> None:
    """Talk to the agent in FILE: each line is a message, /help lists the commands.

    What is said at a terminal is kept in your own store: -c goes on with the last conversation
    of this program. --no-record keeps nothing.

    At a terminal, pasted lines are one message, and Alt-Enter begins another line. Ctrl-C stops a
    turn and keeps the conversation, Ctrl-D leaves. The answers go to standard output, everything
    else to standard error. Standard input may be a pipe; then an error ends the conversation.
    """
    why = "the program cannot come from standard input: chat reads your messages there. "
    forbid(file == STDIN, f"{why}Save the program to a file, or use gram run - MESSAGE…")
    talk = Talk(file, options, is_chat=True, reloads=reload)
    with interruptible(), talk:
        for model in talk.models:  # so that an unknown provider or a missing key is told now
            talk.check_model(model)
        is_typed = bool(sys.stdin) and sys.stdin.isatty()
        if is_typed:
            note(f"Talking to {view(agent_name, talk.agent)}; /help lists the commands.")
        _tell_resumed(talk)
        next_line = console.next_line
        if is_typed:
            from ..terminal.prompting import typed_lines  # imported late: it takes a moment

            providers = (*known_providers(), OFFLINE.provider)
            next_line = typed_lines([*COMMANDS, *(f"/model {name}/" for name in providers)])
        converse(talk, next_line, is_typed=is_typed)


def _tell_resumed(talk: Talk) -> None:
    """Tell which conversation goes on, and what was said last."""
    if not talk.context:
        return
    note(f"Going on with {talk.name}, {counted(len(talk.context), 'message')} so far.")
    for role, who in ((UserRole, "you"), (AssistantRole, view(agent_name, talk.agent))):
        said = [
            each.content
            for each in talk.context
            if each.role == role and each.content and not is_correction(each)
        ]
        if said:
            note(f"  {who}: {_in_short(said[-1])}")


def converse(talk: Talk, next_line: Callable[[], str | None], *, is_typed: bool) -> None:
    """Take messages and commands until they end; from a pipe, a turn that fails ends them too."""
    while True:
        context = talk.context
        try:
            line = next_line()
            if line is None or take(line.strip(), talk):
                return
        except KeyboardInterrupt:
            if not is_typed:
                raise
            is_same = talk.context == context
            tell("(stopped; the conversation has not changed)" if is_same else "(stopped)")
        except BrokenPipeError:  # nobody reads the answers any more
            raise
        except (GramError, OSError) as failure:
            if not is_typed:
                raise
            tell(shown(failure))


@command("resume")
def resume_command(run: str, options: AnsweringOptions, as_json: bool = json_option) -> None:
    """Go on with a recorded run where it is recorded, and print its answer.

    RUN is a run file, a run of a store such as runs.db#4f2a, or an id alone in the store that
    GRAM_RECORD names, or in your own. Of a file with several turns the last one is meant.

    Nothing that is recorded is asked or run again. What the options do not change stays as it was.
    Calls that wait for approval are answered by --approve: all, none, or ask at the terminal.
    A --script goes on behind the replies that are recorded.
    """
    log, kept = open_run(run, default_record())
    kept.check()
    shows = not options.no_reasoning
    kind = JsonAnswers if as_json else Terminal
    terminal = kind(is_debugging=options.debug, is_kept=True, shows_reasoning=shows)
    options.show_logs()
    with interruptible(), options.spending() as spending:
        going_on: Run | RecordedRun = kept  # it is done, and shown again
        if kept.state.status is not Status.DONE:
            changes, library = options.of_resumed_run, options.library_for(kept)
            if script := options.scripted:
                asked = (step.effect for step in kept.steps if isinstance(step.effect, CallModel))
                script.pass_over(effect.request.agent for effect in asked)
            if options.asks_before_servers:
                changes["policy"] = options.policy(library)
            changes |= {"approve": terminal.ask, "record": log, "observe": spending.count}
            with options.hinting():
                going_on = Run(kept.state, library, **changes)
        try:
            answer = terminal.show_answer(going_on)
        except BaseException as failure:  # how to resume is told, then it is raised again
            with uninterrupted():
                terminal.end_line()
                if isinstance(failure, GramError | OSError):
                    terminal.show_failure(going_on.state, failure)
                is_open = going_on.state.status is not Status.DONE
                if is_open and not isinstance(failure, TAKEN):
                    tell(how_to_resume(str(Address.of(run)), going_on.state, options))
            raise
        tell_doubts(answer, going_on.state.agent)
    if isinstance(log, StoredRun):
        from ...workers import tell_workers  # imported late: most runs are in no queue

        tell_workers(log.store, log.id)


class _ReplayOptions(ToolOptions):
    program: str | None = option("Run this program on what was recorded.", "FILE")
    agent: str | None = agent_option
    live: tuple[Literal["model", "tools"], ...] = option(
        "What is real where the recording does not fit: the model, or the tools."
    )
    as_json: bool = json_option

    def __attrs_post_init__(self) -> None:
        why = "--live, --tools, --mcp, --openapi and --agent need --program FILE"
        forbid(self.program is None and (self.live or self.named_tools or self.agent), why)
        why = "--tools, --mcp and --openapi need --live tools"
        forbid(self.named_tools and "tools" not in self.live, why)


@command("replay")
def replay_command(run: str, options: _ReplayOptions) -> None:
    """Show a recorded run, as it was shown: no model, key or tool is needed.

    RUN is a run file, all of whose turns are shown; a run of a store such as runs.db#4f2a; an id
    alone in the store that GRAM_RECORD names, or in your own; or - for standard input.

    With --program, a changed program gets the recorded answers up to the first request that
    differs. The difference is shown, unless --live says who answers from there on. Exits with 1 if
    something differs, or if the recording ends before the run does.
    """
    program = options.program
    forbid(run == program == STDIN, "standard input cannot be both the run and the program")
    terminal = JsonAnswers() if options.as_json else Terminal()
    changed = program and the_agent(read_program(program), options.agent, by="replay")
    for kept in named_runs(run):
        if not changed:
            _replay(kept, terminal)
            continue
        state = start_again(kept.first, changed).state
        real: dict[str, Handler] = {}
        if options.live:
            library = options.library_for(kept) if "tools" in options.live else None
            with options.hinting():
                handler = LiveHandler.of(state, library, approve=terminal.ask)
            real = dict.fromkeys(options.live, handler)
        _replay(Run(state, handler=recorded(kept, **real)), terminal)


def _replay(run: Run | RecordedRun, terminal: Terminal) -> None:
    """Show a run; the answer is no if it differs from what was recorded."""
    try:
        with interruptible():
            terminal.show_answer(run)
    except (GramError, OSError) as error:
        failure = Refused(str(error)) if isinstance(error, ReplayError) else error
        terminal.end_line()
        terminal.show_failure(run.state, failure, named=type(error).__name__)
        raise failure from None


@command("trace")
def trace_command(
    run: str,
    is_followed: bool = option("Show it while it happens.", name="--follow -f"),
    as_json: bool = json_option,
    out: str | None = option("Write it, or its last turn, as one page.", "OUT", name="--html"),
) -> None:
    """Show a recorded run: who was asked, what was called, how long it took.

    RUN is a run file, all of whose turns are shown; a run of a store such as runs.db#4f2a; an id
    alone in the store that GRAM_RECORD names, or in your own; or - for standard input.

    A run that is still going on is shown as far as it is; with --follow each step is shown as it
    ends (with --json on a line of its own), and at the end what the run came to and waits for.

    A line has the position, the seconds after the run began, the seconds it took, and what it was.
    What happens inside an agent or a workflow is shown below it; with --follow it comes first.
    """
    from ...views import lines, run_page  # imported late, as what follows: a talk needs none

    if out is not None:
        console.expect_a_name(out, "--html")
        expect_other_file(out)
        forbid(is_followed or as_json, "--html is for itself, without --follow and --json")
        *before, last = named_runs(run)
        console.write_result(out, run_page(last), private=True)
        if out != "-":
            which = f"turn {len(before) + 1}, the last one," if before else "the run"
            note(f"gram: the page of {which} is in {out}")
    elif is_followed:
        forbid(run == STDIN, "--follow needs the name of a run, and - is standard input")
        show_followed(follow(run, record=default_record()), as_json=as_json)
    else:
        found = [timeline(each) for each in named_runs(run)]
        values = [each.to_json() for each in found] if as_json else []
        value = values[0] if len(values) == 1 else values
        console.show_result(as_json, value, (line for each in found for line in lines(each)))


def show_followed(timelines: Iterable[Timeline], *, as_json: bool) -> None:
    """Show a run, which comes again whenever it has gone on: each step as it ends, then the sum."""
    from ...views import RunLines, summary

    shown = 0
    for found in timelines:
        ended = [each for each in found.in_order if not each.is_open]
        view = RunLines(found)
        for entry in ended[shown:]:
            if as_json:
                show_json(evolve(entry, children=()).to_json(), indent=None)
            else:
                for line in view.own(entry, by_whom=entry.level > 0):
                    show(line)
        shown = len(ended)
    if as_json:
        show_json({**found.to_json(), "entries": []}, indent=None)
        return
    for entry in found.waits_for:
        for line in view.own(entry, by_whom=entry.level > 0):
            show(line)
    show(summary(found))
