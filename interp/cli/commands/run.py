"""``gram run``: say something to an agent and print its answer."""

from __future__ import annotations

import click
from attrs import frozen

from ..inputs.declaring import given_by, json_option, option, options_of
from ..inputs.given_messages import attach_option, input_option, said_to
from ..inputs.options import TalkOptions
from ..process import interruptible
from ..talk import Talk
from ..terminal.output import expect_other_file


@frozen(kw_only=True, slots=False)
class _Options(TalkOptions):
    as_json: bool = given_by(json_option)
    stream: bool = option("Print words as they come; with --json, a line for each event.")
    no_stdin: bool = option("Do not read standard input.")
    input: str | None = input_option
    attach: tuple[str, ...] = attach_option


@click.command("run")
@click.argument("file")
@click.argument("messages", nargs=-1)
@options_of(_Options)
def command(file: str, messages: tuple[str, ...], options: _Options) -> None:
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
