"""``gram chat``: talk to an agent, one line a message."""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import click
from attrs import frozen

from gram import GramError
from gram.near import did_you_mean
from lenses_ext import (
    agent_name,
    agent_tool_specs,
    tool_spec_description,
    tool_spec_name,
    tool_spec_type_signature,
    view,
)

from ..conversation_files import save_context
from ..messages import empty_context
from .failures import shown
from .inputs import STDIN
from .line_input import Lines, PipedLines, TypedLines
from .options import TalkOptions, talk_options
from .talk import Talk
from .terminal import tell


@click.command("chat")
@click.argument("file")
@talk_options
def command(file: str, options: TalkOptions) -> None:
    """Talk to the agent in FILE: each line is a message, /help lists the commands.

    Ctrl-C gives a turn up and keeps the conversation, Ctrl-D leaves. The answers go to standard
    output, everything else to standard error. Standard input may be a pipe; there, what goes wrong
    ends the conversation.
    """
    if file == STDIN:
        raise click.UsageError(
            "the program cannot come from standard input: chat reads your messages there. "
            "Save the program to a file, or use gram run - MESSAGE…"
        )
    talk = Talk(file, options)
    try:
        if sys.stdin and sys.stdin.isatty():
            tell(f"Talking to {view(agent_name, talk.agent)}; /help lists the commands.")
            with TypedLines() as lines:
                converse(talk, options, lines)
        else:
            converse(talk, options, PipedLines())
    finally:
        if options.usage:
            talk.tell_usage()


def converse(talk: Talk, options: TalkOptions, lines: Lines) -> None:
    """Take one line after another until they end, or one of them leaves.

    Raises:
        GramError, OSError, KeyboardInterrupt: a turn failed or was given up, and nobody is there
            to be told: the lines come from a pipe.
    """
    while True:
        try:
            line = lines.next()
            if line is None:
                return
            if take(line.strip(), talk, options):
                return
        except KeyboardInterrupt:
            if not lines.is_typed:
                raise
            tell("(given up; the conversation is as it was)")
        except BrokenPipeError:  # nobody reads the answers any more
            raise
        except (GramError, OSError) as failure:
            if not lines.is_typed:
                raise
            tell(shown(failure))


def take(line: str, talk: Talk, options: TalkOptions) -> bool:
    """Do what a line says: a command, or a message to the agent. True when it leaves."""
    if not line:
        return False
    if not line.startswith("/") or line.startswith("//"):
        talk.say(line.removeprefix("/") if line.startswith("//") else line)
        return False
    name, _, argument = line.partition(" ")
    chosen = COMMANDS.get(name)
    if chosen is None:
        hint = did_you_mean(name, COMMANDS) or f"there are {', '.join(COMMANDS)}."
        tell(f"no command {name}; {hint} A message that begins with / is written with //")
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
        tell("there is no session: write /save FILE")
        return
    try:
        target = Path(path).expanduser()
    except RuntimeError as error:  # ~ of nobody
        raise OSError(errno.ENOENT, str(error), path) from None
    save_context(target, talk.context)
    tell(f"saved to {path}")


def _reset(talk: Talk, _options: TalkOptions, _argument: str) -> None:
    talk.context = empty_context
    tell("the conversation begins anew")


@frozen
class _Command:
    """A command: what it is for, and what it does; None leaves."""

    help: str
    do: Callable[[Talk, TalkOptions, str], None] | None = None


COMMANDS: Final[Mapping[str, _Command]] = {
    "/help": _Command("lists the commands", _help),
    "/tools": _Command("lists the agent's tools", _tools),
    "/usage": _Command("tells the tokens used", _usage),
    "/save": _Command("saves the conversation: /save [FILE]", _save),
    "/reset": _Command("begins the conversation anew", _reset),
    "/quit": _Command("leaves, as Ctrl-D does"),
}
