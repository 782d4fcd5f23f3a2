"""``gram run``: say something to an agent and print its answer."""

from __future__ import annotations

import click

from ..drivers import run
from ..effects import CallFailed, CallTool, Effect, Event, ToolReturned
from ..json_text import write_json
from ..library import ToolLibrary
from ..messages import empty_context
from ..programs import choose_agent
from ..providers import OFFLINE
from .inputs import read_document, read_libraries


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
def command(
    file: str,
    messages: tuple[str, ...],
    offline: bool,
    model: str | None,
    agent: str | None,
    tools: tuple[str, ...],
    match: str,
) -> None:
    """Run the agent in FILE; several MESSAGES are one conversation.

    The answers go to standard output, the tool calls to standard error. FILE may be - for
    standard input.
    """
    if offline and model:
        raise click.UsageError("--offline and --model exclude each other")
    if not all(message.strip() for message in messages):
        raise click.UsageError("a message is empty: say something to the agent")
    program = choose_agent(read_document(file).patterns, agent)
    library = read_libraries(tools) if tools else _built_in()
    context = empty_context
    for message in messages:
        response = run(
            program,
            message,
            library,
            context,
            model=str(OFFLINE) if offline else model,
            match=match,  # type: ignore[arg-type]  # click.Choice has checked it
            observe=_show_call,
        )
        context = response.context
        click.echo(response.content)


def _built_in() -> ToolLibrary:
    from ..hello_world import hello_world_tool_library

    return hello_world_tool_library


def _show_call(effect: Effect, event: Event) -> None:
    """A tool call on one line of standard error."""
    if not isinstance(effect, CallTool):
        return
    arguments = ", ".join(f"{name}: {write_json(value)}" for name, value in effect.args.items())
    outcome = ""
    if isinstance(event, ToolReturned):
        outcome = event.result
    elif isinstance(event, CallFailed):
        outcome = f"error: {event.error}"
    click.echo(f"{effect.name}({arguments}) -> {outcome}", err=True)
