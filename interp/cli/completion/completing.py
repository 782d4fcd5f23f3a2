"""What the shell completes beside files: the paths in them, and the values of options."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING

import click
from attrs import fields

from gram import GramError
from lenses_ext import FocusError, Project, agent_model, find_agents, view
from lenses_ext.language import SETTINGS
from lenses_ext.names import ProgramLike
from lenses_ext.places import completions

from ..inputs.files import STDIN, find_files, is_input, read_program

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def complete_agent(context: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem]:
    """The names of the agents in the program."""
    names = [agent.value.identity for each in _programs(context) for agent in find_agents(each)]
    return _begun_with(begun, names)


def complete_model(context: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem]:
    """The providers, and behind a provider the models that the program names."""
    models, providers = models_of(_programs(context))
    shown = [] if "/" in begun else _begun_with(begun, providers, is_open=True)
    return [*_begun_with(begun, models), *shown]


def models_of(programs: Iterable[ProgramLike]) -> tuple[list[str], list[str]]:
    """The models that programs name, and one that needs no network; the providers, with a ``/``."""
    from ...models import OFFLINE, known_providers

    models = [str(OFFLINE)]
    for agent in chain.from_iterable(map(find_agents, programs)):
        with suppress(FocusError):  # gram check reports it
            models.append(str(view(agent_model, agent)))
    return models, [f"{name}/" for name in known_providers()]


def complete_setting(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """The names of the settings, each with the ``=`` before its value."""
    return _begun_with(begun, (f"{name}=" for name in SETTINGS), is_open=True)


def complete_limit(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """The names of the limits, each with the ``=`` before its value."""
    from ...machine import Limits

    return _begun_with(begun, (f"{each.name}=" for each in fields(Limits)), is_open=True)


def complete_path(
    context: click.Context, parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Files, and after a file the paths in it that begin with the typed text."""
    typed: tuple[str, ...] = context.params.get("arguments") or ()
    if typed and typed[-1].endswith(".model") and not is_input(typed[-1]):
        return complete_model(context, parameter, begun)
    programs = _read(typed[0]) if typed and is_input(typed[0]) else ()
    found = [path for program in programs for path in completions(program, begun)]
    return _begun_with("", found)


def _programs(context: click.Context) -> Iterator[Project]:
    """The programs that are typed already."""
    given = context.params
    named = [given.get("files"), given.get("arguments"), [given.get("file")], context.args]
    for argument in chain.from_iterable(each or () for each in named):  # args: before an option
        if argument and is_input(argument):
            yield from _read(argument)


def _read(file: str) -> Iterator[Project]:
    """The first program that an argument names, if it can be read."""
    if file != STDIN:
        with suppress(GramError, OSError):
            yield read_program(find_files(file)[0])


def _begun_with(begun: str, words: Iterable[str], *, is_open: bool = False) -> list[CompletionItem]:
    """Items for the words that begin with a text; after open ones, no space follows."""
    from click.shell_completion import CompletionItem  # imported late: only completion needs it

    found = (word for word in dict.fromkeys(words) if word.lower().startswith(begun.lower()))
    return [CompletionItem(word, is_open=is_open) for word in found]
