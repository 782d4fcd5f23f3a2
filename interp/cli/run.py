"""``gram run``: say something to an agent and print its answer."""

from __future__ import annotations

import click

from .options import TalkOptions, talk_options
from .process import interruptible
from .talk import Talk


@click.command("run")
@click.argument("file")
@click.argument("messages", nargs=-1, required=True)
@talk_options
def command(file: str, messages: tuple[str, ...], options: TalkOptions) -> None:
    """Run the agent in FILE; several MESSAGES are one conversation.

    The answers go to standard output, everything else to standard error. FILE may be - for
    standard input.
    """
    if not all(message.strip() for message in messages):
        raise click.UsageError("a message is empty: say something to the agent")
    with interruptible(), Talk(file, options) as talk:
        for message in messages:
            talk.say(message)
