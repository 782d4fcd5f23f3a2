"""``gram chat``: talk to an agent, message by message."""

from __future__ import annotations

import sys

import click

from gram import GramError
from gram.plurals import counted
from lenses_ext import agent_name, view

from ...machine import AssistantRole, UserRole
from ...reprs import shortened
from ..completion.completing import complete_files
from ..failures import shown
from ..inputs.options import TalkOptions, options_of
from ..inputs.program_files import STDIN
from ..process import interruptible
from ..talk import Talk
from ..terminal.line_input import Lines, PipedLines
from ..terminal.output import note, tell
from .chat_commands import completions, take

_MOST_SHOWN = 100  # characters of the messages that a session goes on from


@click.command("chat")
@click.argument("file", shell_complete=complete_files)
@click.option("--reload", is_flag=True, help="Take a changed program at the next message.")
@options_of(TalkOptions)
def command(file: str, options: TalkOptions, reload: bool) -> None:
    """Talk to the agent in FILE: each line is a message, /help lists the commands.

    What is said at a terminal is kept in your own store: -c goes on with the last conversation
    of this program. --no-record keeps nothing.

    At a terminal, pasted lines are one message, and Alt-Enter begins another line. Ctrl-C stops a
    turn and keeps the conversation, Ctrl-D leaves. The answers go to standard output, everything
    else to standard error. Standard input may be a pipe; then an error ends the conversation.
    """
    if file == STDIN:
        raise click.UsageError(
            "the program cannot come from standard input: chat reads your messages there. "
            "Save the program to a file, or use gram run - MESSAGE…"
        )
    talk = Talk(file, options, is_chat=True, reloads=reload)
    with interruptible(), talk:
        for model in talk.models:  # so that an unknown provider or a missing key is told now
            talk.check_model(model)
        if sys.stdin and sys.stdin.isatty():
            note(f"Talking to {view(agent_name, talk.agent)}; /help lists the commands.")
            _tell_resumed(talk)
            from ..terminal.prompting import TypedLines  # imported late: it takes a moment

            converse(talk, TypedLines(completions))
        else:
            _tell_resumed(talk)
            converse(talk, PipedLines())


def _tell_resumed(talk: Talk) -> None:
    """Tell which conversation goes on, and what was said last."""
    if not talk.context:
        return
    note(f"Going on with {talk.name}, {counted(len(talk.context), 'message')} so far.")
    for role, who in ((UserRole, "you"), (AssistantRole, view(agent_name, talk.agent))):
        said = [each.content for each in talk.context if each.role == role and each.content]
        if said:
            note(f"  {who}: {shortened(' '.join(said[-1].split()), _MOST_SHOWN)}")


def converse(talk: Talk, lines: Lines) -> None:
    """Take messages and commands until they end, or until one of them leaves.

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
            if take(line.strip(), talk):
                return
        except KeyboardInterrupt:
            if not lines.is_typed:
                raise
            is_same = talk.context == context
            tell("(stopped; the conversation has not changed)" if is_same else "(stopped)")
        except BrokenPipeError:  # nobody reads the answers any more
            raise
        except (GramError, OSError) as failure:
            if not lines.is_typed:
                raise
            tell(shown(failure))
