"""``gram run``: say something to an agent and print its answer."""

from __future__ import annotations

import click

from ..drivers import begin
from ..effects import CallFailed, CallTool, Effect, Event, ToolReturned
from ..library import ToolLibrary
from ..messages import empty_context
from ..programs import choose_agent
from ..providers import OFFLINE
from .inputs import read_document, read_libraries
from .terminal import POLICIES, ask_person, call_text, shown_answer


@click.command("run")
@click.argument("file")
@click.argument("messages", nargs=-1, required=True)
@click.option("--offline", is_flag=True, help="Rehearse without a model, key or network.")
@click.option("--model", metavar="PROVIDER/NAME", help="Ask this model, not the program's.")
@click.option("--agent", metavar="NAME", help="Which agent of the program.")
@click.option(
    "--tools",
    multiple=True,
    metavar="FILE.py[:NAME]",
    help="Python with the tools; without it, a small built-in library.",
)
@click.option(
    "--match",
    type=click.Choice(["full", "types", "name"]),
    default="full",
    help="How closely tools have to match what the program says.",
)
@click.option(
    "--approve",
    type=click.Choice(list(POLICIES)),
    default="all",
    help="Which tool calls may run: ask about each at the terminal, all (the default) or none.",
)
def command(
    file: str,
    messages: tuple[str, ...],
    offline: bool,
    model: str | None,
    agent: str | None,
    tools: tuple[str, ...],
    match: str,
    approve: str,
) -> None:
    """Run the agent in FILE; several MESSAGES are one conversation.

    The answers go to standard output, the tool calls to standard error. On a terminal, what the
    model says is shown as it says it. FILE may be - for standard input.
    """
    if offline and model:
        raise click.UsageError("--offline and --model exclude each other")
    if not all(message.strip() for message in messages):
        raise click.UsageError("a message is empty: say something to the agent")
    program = choose_agent(read_document(file).patterns, agent)
    library = read_libraries(tools) if tools else _built_in()
    context = empty_context
    for message in messages:
        begun = begin(
            program,
            message,
            library,
            context,
            model=str(OFFLINE) if offline else model,
            match=match,  # type: ignore[arg-type]  # click.Choice has checked it
            policy=POLICIES[approve],
            approve=ask_person,
            observe=_show_call,
        )
        context = shown_answer(begun).context


def _built_in() -> ToolLibrary:
    from ..hello_world import hello_world_tool_library

    return hello_world_tool_library


def _show_call(effect: Effect, event: Event) -> None:
    """A tool call on one line of standard error."""
    if not isinstance(effect, CallTool):
        return
    outcome = ""
    if isinstance(event, ToolReturned):
        outcome = event.result
    elif isinstance(event, CallFailed):
        outcome = f"error: {event.error}"
    click.echo(f"{call_text(effect)} -> {outcome}", err=True)
