"""Declares the options of commands: a class with an attribute for each, or one by one."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import UnionType
from typing import Any, Final, Literal, TypeVar, Union, dataclass_transform, get_args, get_origin

import click
from attrs import Attribute, field, fields, frozen, resolve_types

from ..completion.completing import complete_agent, complete_model

_Command = TypeVar("_Command", bound=Callable[..., Any])

_NUMBERS: Final = {int: click.IntRange(1), float: click.FloatRange(0, min_open=True)}


def option(
    help: str,  # as click calls it
    metavar: str | None = None,
    name: str = "",
    converter: Callable[[Any], Any] | None = None,
    **how: Any,
) -> Any:
    """An attribute of a class of options, see `options_of`.

    Its type says what the option takes: ``bool`` is a flag, ``tuple[str, ...]`` may be given
    several times, ``Literal`` is a choice, ``int`` a number from 1 on, ``float`` one above 0.

    Args:
        help: what the help says of it.
        metavar: what the help calls its value.
        name: its names, where they are not that of the attribute: ``--continue -c``.
        converter: makes the value of the attribute from that of the option.
        how: what else `click.option` takes.
    """

    def declare(attribute: Attribute[Any]) -> Callable[[_Command], _Command]:
        kind: Any = attribute.type
        given: dict[str, Any] = {"help": help, "metavar": metavar}
        given["multiple"] = get_origin(kind) is tuple
        if get_origin(kind) in (tuple, Union, UnionType):
            kind = get_args(kind)[0]
        if kind is bool:
            given["is_flag"] = True
        elif get_origin(kind) is Literal:
            given["type"] = click.Choice(get_args(kind))
        elif kind in _NUMBERS:
            given["type"] = _NUMBERS[kind]
        if metavar == "PROVIDER/NAME":
            given["shell_complete"] = complete_model
        names = name.split() or [f"--{attribute.name.replace('_', '-')}"]
        return click.option(*names, attribute.name, **given | how)

    return field(metadata={"declare": declare}, converter=converter)


def given_by(decorator: Callable[[Any], Any]) -> Any:
    """An attribute of a class of options, with an option that several commands have."""
    return field(metadata={"declare": lambda _: decorator})


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(option, given_by))
class Options:
    """The options of a command: an attribute for each, see `option`."""

    def __init_subclass__(cls) -> None:
        frozen(kw_only=True, slots=False)(cls)


def taken(kind: type[Any], given: dict[str, Any]) -> Any:
    """The options of a class, which are taken out of the arguments of a command."""
    return kind(**{each.name: given.pop(each.name) for each in fields(kind)})


def options_of(kind: type[Any]) -> Callable[[_Command], _Command]:
    """Decorate a command with the options of a class; it gets one argument, ``options``.

    The help shows first what the class itself declares, then what it inherits.

    >>> class Chosen(Options):
    ...     jobs: int = option("How many go on at once.", default=4)
    ...     only: tuple[str, ...] = option("Run only these.", "TAG")
    >>> @click.command()
    ... @options_of(Chosen)
    ... def command(options: Chosen) -> None:
    ...     print(options)
    >>> command(["--only", "a", "--only", "b"], standalone_mode=False)
    Chosen(jobs=4, only=('a', 'b'))
    """
    attributes = sorted(fields(resolve_types(kind)), key=lambda each: each.inherited)

    def decorate(command: _Command) -> Any:
        @wraps(command)
        def with_options(*arguments: Any, **given: Any) -> None:
            command(*arguments, options=taken(kind, given), **given)

        decorated: Any = with_options
        for attribute in reversed(attributes):
            decorated = attribute.metadata["declare"](attribute)(decorated)
        return decorated

    return decorate


json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")

agent_option = click.option(
    "--agent", metavar="NAME", shell_complete=complete_agent, help="Which agent of the program."
)

model_option: Any = option("Use this model instead of the program's.", "PROVIDER/NAME")

checks_option: Any = option("A Python file with the checks that cases name.", "FILE.py[:NAME]")
"""The files of checks; see `read_checks`."""

stdin_filename_option: Any = option("What messages call standard input.", "NAME")
