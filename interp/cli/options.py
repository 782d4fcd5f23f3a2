"""The options that commands share, written once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, get_args

import click
from attrs import fields, frozen

from gram.near import did_you_mean
from lenses_ext import Match, SettingError, Settings

from ..addresses import ADDRESS_RULE, is_address
from ..errors import ValidationError
from ..json_text import read_json
from ..limits import Limits
from ..providers import OFFLINE


@frozen
class TalkOptions:
    """How to talk to an agent, as it was asked for on the command line.

    Attributes:
        model: the model to ask instead of the program's, or None.
        base_url: where to ask for it, or None.
        settings: settings instead of those of the program.
        limits: how much a run may do.
        agent: which agent of the program, or None for the only one.
        tools: the Python files with the tools.
        match: how closely tools have to match.
        session: the file that keeps the conversation, or None.
        usage: whether to tell the tokens used.
        approve: which tool calls may run: ``ask``, ``all`` or ``none``.
        debug: whether to show what is said to models and tools.
    """

    model: str | None
    base_url: str | None
    settings: Mapping[str, Any]
    limits: Limits
    agent: str | None
    tools: tuple[str, ...]
    match: Match
    session: str | None
    approve: str
    usage: bool
    debug: bool


agent_option = click.option("--agent", metavar="NAME", help="Which agent of the program.")
"""The agent of a program, where it has several."""

match_option = click.option(
    "--match",
    type=click.Choice(get_args(Match)),
    default="full",
    help="How closely tools have to match what the program says.",
)
"""How closely tools have to match; see `interp.bind_tool`."""

_OPTIONS = (
    click.option("--offline", is_flag=True, help="Rehearse without a model, key or network."),
    click.option("--model", metavar="PROVIDER/NAME", help="Ask this model, not the program's."),
    click.option("--base-url", metavar="URL", help="Ask for the model at this address."),
    click.option(
        "--set",
        "changes",
        multiple=True,
        metavar="NAME=VALUE",
        help="A setting of the model, such as temperature=0.2; null leaves the program's out.",
    ),
    click.option(
        "--limit",
        "limits",
        multiple=True,
        metavar="NAME=NUMBER",
        help="A limit of the run, such as iterations=3 or run_seconds=60.",
    ),
    agent_option,
    click.option(
        "--tools",
        multiple=True,
        metavar="FILE.py[:NAME]",
        help="Python with the tools; without it, a small built-in library.",
    ),
    match_option,
    click.option(
        "--session",
        metavar="FILE",
        help="Go on with the conversation in this file, and keep it there.",
    ),
    click.option(
        "--approve",
        type=click.Choice(["ask", "all", "none"]),
        default="all",
        help="Which tool calls may run: ask about each at the terminal, all (the default) or none.",
    ),
    click.option("--usage", is_flag=True, help="Tell the tokens used, on standard error."),
    click.option(
        "--debug", is_flag=True, help="Show requests and replies on standard error, without keys."
    ),
)


def talk_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command these options; it gets them as one `TalkOptions`, ``options``."""

    @wraps(command)
    def with_options(
        *arguments: Any,
        offline: bool,
        model: str | None,
        base_url: str | None,
        changes: tuple[str, ...],
        limits: tuple[str, ...],
        agent: str | None,
        tools: tuple[str, ...],
        match: Match,
        session: str | None,
        approve: str,
        usage: bool,
        debug: bool,
        **others: Any,
    ) -> None:
        if offline and (model or base_url):
            raise click.UsageError("--offline and --model or --base-url exclude each other")
        if base_url is not None and not is_address(base_url):
            raise click.UsageError(f"--base-url {ADDRESS_RULE}")
        if session == "-":
            raise click.UsageError("--session is a file, which is read and written")
        options = TalkOptions(
            model=str(OFFLINE) if offline else model,
            base_url=base_url,
            settings=read_settings(changes),
            limits=read_limits(limits),
            agent=agent,
            tools=tools,
            match=match,
            session=session,
            approve=approve,
            usage=usage,
            debug=debug,
        )
        command(*arguments, options=options, **others)

    decorated: Callable[..., None] = with_options
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated


def read_settings(changes: tuple[str, ...]) -> dict[str, Any]:
    """The settings that ``NAME=VALUE`` texts say; a value that is not JSON is a string.

    Raises:
        click.UsageError: one of them is no setting, or has a value that it cannot have.

    >>> read_settings(("temperature=0.2", "stop=END", "seed=null"))
    {'temperature': 0.2, 'stop': 'END', 'seed': None}
    """
    settings = _named_values("--set", changes)
    try:
        Settings().with_changes(settings)
    except SettingError as error:
        raise click.UsageError(f"--set: {error}") from None
    return settings


def read_limits(limits: tuple[str, ...]) -> Limits:
    """The limits that ``NAME=NUMBER`` texts say.

    Raises:
        click.UsageError: one of them is no limit, or not what it may be.

    >>> read_limits(("iterations=3",)).iterations
    3
    """
    values = _named_values("--limit", limits)
    names = [field.name for field in fields(Limits)]
    for name in values:
        if name not in names:
            hint = did_you_mean(name, names) or f"the limits are {', '.join(names)}"
            raise click.UsageError(f'--limit: there is no limit "{name}"; {hint}')
    try:
        return Limits(**values)
    except ValidationError as error:
        raise click.UsageError(f"--limit: {error}") from None


def _named_values(option: str, texts: tuple[str, ...]) -> dict[str, Any]:
    """The values of ``NAME=VALUE`` texts; one that is not JSON is a string."""
    values: dict[str, Any] = {}
    for each in texts:
        name, equals, text = each.partition("=")
        if not equals:
            raise click.UsageError(f"{option} {each}: write NAME=VALUE")
        try:
            values[name] = read_json(text)
        except ValueError:
            values[name] = text
    return values
