"""``gram run``: say something to an agent and print its answer."""

from __future__ import annotations

import click

from ..completion.completing import complete_files
from ..inputs.file_options import json_option
from ..inputs.given_messages import attach_option, said_to
from ..inputs.options import TalkOptions, options_of
from ..inputs.store_option import conversation_option, expect_store, store_option
from ..process import interruptible
from ..terminal.output_files import TURN, expect_a_file, expect_other_file


@click.command("run")
@click.argument("file", shell_complete=complete_files)
@click.argument("messages", nargs=-1, shell_complete=complete_files)
@json_option
@click.option(
    "--stream", is_flag=True, help="Print words as they come; with --json, a line for each event."
)
@click.option(
    "--no-stdin", is_flag=True, help="Do not take a pipe or file on standard input as context."
)
@click.option(
    "--record",
    metavar="FILE",
    shell_complete=complete_files,
    help="Write the run to this new file as it happens, best named *.run.gram; gram resume, "
    "replay and trace read it.",
)
@store_option(is_needed=False)
@conversation_option
@click.option(
    "--input",
    "given",
    metavar="JSON|@FILE|-",
    shell_complete=complete_files,
    help="Call the agent with these arguments, a JSON object, instead of with messages.",
)
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
    record: str | None,
    store: str | None,
    conversation: str | None,
    options: TalkOptions,
) -> None:
    """Run the agent in FILE; several MESSAGES are one conversation.

    The answers go to standard output, everything else to standard error. FILE may be - for standard
    input. A message may be - for standard input, or @FILE for the text of a file; @@ begins a
    message with @.

    A message may have files: gram run a.gram "What is this?" --attach chart.png

    What comes through a pipe is context: cat report.txt | gram run a.gram "summarise this"
    """
    expect_a_file(record, "--record")
    if options.session:
        expect_other_file(record, f"{options.session}{TURN}")
    said = said_to(file, messages, given, attached, reads_stdin=not no_stdin)
    if record is not None and len(said) > 1:
        raise click.UsageError("--record writes one run: give it one message")
    if record is not None and store is not None:
        raise click.UsageError("a run is kept in one place: give --record or --store")
    expect_store(store, conversation, options)
    from ..talk import Talk  # imported late: completion needs the options alone

    talk = Talk(
        file,
        options,
        as_json=as_json,
        is_streaming=stream,
        record=record,
        store=store,
        conversation=conversation,
    )
    with interruptible(), talk:
        for message in said:
            talk.say(message)
