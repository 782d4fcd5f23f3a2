"""``gram run``: say something to an agent and print its answer."""

from __future__ import annotations

import click

from ..inputs.declaring import json_option, options_of
from ..inputs.given_messages import attach_option, input_option, said_to
from ..inputs.options import TalkOptions
from ..process import interruptible
from ..talk import Talk
from ..terminal.output import expect_other_file


@click.command("run")
@click.argument("file")
@click.argument("messages", nargs=-1)
@json_option
@click.option(
    "--stream", is_flag=True, help="Print words as they come; with --json, a line for each event."
)
@click.option("--no-stdin", is_flag=True, help="Do not read standard input.")
@input_option
@attach_option
@options_of(TalkOptions)
def command(
    file: str,
    messages: tuple[str, ...],
    given: str | None,
    attached: tuple[str, ...],
    as_json: bool,
    stream: bool,
    no_stdin: bool,
    options: TalkOptions,
) -> None:
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
    said = said_to(file, messages, given, attached, reads_stdin=not no_stdin)

    talk = Talk(file, options, as_json=as_json, is_streaming=stream)
    with interruptible(), talk:
        for message in said:
            talk.say(message)
