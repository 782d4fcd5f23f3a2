"""``gram chat``: talk to an agent; each line is a message."""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import click
from attrs import frozen

from gram import GramError, did_you_mean, resolved
from lenses_ext import (
    agent_name,
    agent_tool_specs,
    tool_spec_description,
    tool_spec_name,
    tool_spec_type_signature,
    view,
)

from ..messages import empty_context
from ..records import save_context
from .completing import complete_files
from .failures import shown
from .line_input import Lines, PipedLines, TypedLines
from .options import TalkOptions, talk_options
from .output import tell
from .process import interruptible
from .program_files import STDIN
from .talk import Talk


@click.command("chat")
@click.argument("file", shell_complete=complete_files)
@talk_options
def command(file: str, options: TalkOptions) -> None:
    """Talk to the agent in FILE: each line is a message, /help lists the commands.

    Ctrl-C stops a turn and keeps the conversation, Ctrl-D leaves. The answers go to standard
    output, everything else to standard error. Standard input may be a pipe; then an error ends
    the conversation.
    """
    if file == STDIN:
        raise click.UsageError(
            "the program cannot come from standard input: chat reads your messages there. "
            "Save the program to a file, or use gram run - MESSAGE…"
        )
    with interruptible(), Talk(file, options) as talk:
        if sys.stdin and sys.stdin.isatty():
            tell(f"Talking to {view(agent_name, talk.agent)}; /help lists the commands.")
            with TypedLines() as lines:
                converse(talk, options, lines)
        else:
            converse(talk, options, PipedLines())


def converse(talk: Talk, options: TalkOptions, lines: Lines) -> None:
    """Read and execute lines until they end, or until one of them is ``/quit``.

    Raises:
        GramError, OSError, KeyboardInterrupt: a turn failed or was stopped, and the lines come
            from a pipe.
    """
    while True:
        context = talk.context
        try:
            line = lines.next()
            if line is None:
                return
            if take(line.strip(), talk, options):
                return
        except KeyboardInterrupt:
            if not lines.is_typed:
                raise
            is_same = talk.context is context
            tell("(stopped; the conversation has not changed)" if is_same else "(stopped)")
        except BrokenPipeError:  # nobody reads the answers any more
            raise
        except (GramError, OSError) as failure:
            if not lines.is_typed:
                raise
            tell(shown(failure))


def take(line: str, talk: Talk, options: TalkOptions) -> bool:
    """Execute a line: a command, or a message to the agent. Returns True for ``/quit``."""
    if not line:
        return False
    if not line.startswith("/") or line.startswith("//"):
        talk.say(line.removeprefix("/") if line.startswith("//") else line)
        return False
    name, _, argument = line.partition(" ")
    chosen = COMMANDS.get(name)
    if chosen is None:
        hint = did_you_mean(name, COMMANDS) or f"the commands are {', '.join(COMMANDS)}."
        tell(
            f"unknown command {name}; {hint} Write // at the start of a message that begins with /"
        )
        return False
    if chosen.do is not None:
        chosen.do(talk, options, argument.strip())
    return chosen.do is None


# --- the commands


def _help(_talk: Talk, _options: TalkOptions, _argument: str) -> None:
    for name, each in COMMANDS.items():
        tell(f"{name:8} {each.help}")


def _tools(talk: Talk, _options: TalkOptions, _argument: str) -> None:
    specs = view(agent_tool_specs, talk.agent)
    for spec in specs:
        tell(f"{view(tool_spec_name, spec)} {view(tool_spec_type_signature, spec)}")
        tell(f"  {view(tool_spec_description, spec)}")
    if not specs:
        tell("the agent has no tools")


def _usage(talk: Talk, _options: TalkOptions, _argument: str) -> None:
    talk.tell_usage()


def _save(talk: Talk, options: TalkOptions, argument: str) -> None:
    path = argument or options.session
    if not path:
        tell("there is no session file; write /save FILE")
        return
    try:
        target = Path(path).expanduser()
    except RuntimeError as error:  # the user after ~ does not exist
        raise OSError(errno.ENOENT, str(error), path) from None
    if options.session and resolved(target) == resolved(Path(options.session)):
        talk.keep(talk.context)
    elif _may_write(target):
        save_context(target, talk.context)
    else:
        return
    tell(f"saved to {path}")


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


def _reset(talk: Talk, _options: TalkOptions, _argument: str) -> None:
    talk.context = empty_context
    tell("the conversation begins anew")


@frozen
class _Command:
    """A command of the chat: its help text and its function; None is for ``/quit``."""

    help: str
    do: Callable[[Talk, TalkOptions, str], None] | None = None


COMMANDS: Final[Mapping[str, _Command]] = {
    "/help": _Command("lists the commands", _help),
    "/tools": _Command("lists the agent's tools", _tools),
    "/usage": _Command("shows the tokens used", _usage),
    "/save": _Command("saves the conversation: /save [FILE]", _save),
    "/reset": _Command("begins the conversation anew", _reset),
    "/quit": _Command("leaves, as Ctrl-D does"),
}
