"""Declares what commands take: by parameters, and by attributes of classes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import wraps
from inspect import Parameter, signature
from types import UnionType
from typing import Any, Final, Literal, Union, dataclass_transform, get_args, get_origin

import click
from attrs import field, fields, frozen, resolve_types

from ..completion.completing import complete_agent, complete_model, complete_path


class _Age(click.ParamType[datetime]):
    """A time: how long ago, or a date."""

    name = "AGE|DATE"

    def convert(self, value: Any, _: click.Parameter | None, __: click.Context | None) -> datetime:
        """A time from ``30d``, ``12h``, ``2026-11-22`` or ``2026-11-22T15:00``."""
        if isinstance(value, datetime):
            return value
        try:
            if age := re.fullmatch(r"(\d+)([smhd])", value):
                seconds = int(age[1]) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[age[2]]
                return datetime.now(UTC) - timedelta(seconds=seconds)
            return datetime.fromisoformat(value).astimezone(UTC)
        except (ValueError, OverflowError):
            self.fail(f"{value} is neither an age, such as 30d or 12h, nor a date")


_TYPES: Final[Mapping[Any, Any]] = {
    int: click.IntRange(1), float: click.FloatRange(0, min_open=True), datetime: _Age(),
}  # fmt: skip


def option(
    help: str,  # as click calls it
    metavar: str | None = None,
    name: str = "",
    converter: Callable[[Any], Any] | None = None,
    **how: Any,
) -> Any:
    """A parameter of a command, or an attribute of a class of options, see `command`.

    Its type says what the option takes: ``bool`` is a flag, ``tuple[str, ...]`` may be given
    several times, ``Literal`` is a choice, ``int`` a number from 1 on, ``float`` one above 0,
    ``datetime`` an age or a date.

    Args:
        help: what the help says of it.
        metavar: what the help calls its value.
        name: its names, where they are not that of the attribute: ``--continue -c``.
        converter: makes the value of the attribute from that of the option.
        how: what else `click.option` takes.
    """

    def declare(attribute: str, kind: Any) -> Callable[[Any], Any]:
        given: dict[str, Any] = {"help": help, "metavar": metavar}
        given["multiple"] = get_origin(kind) in (tuple, Mapping)
        if get_origin(kind) in (tuple, Union, UnionType):
            kind = get_args(kind)[0]
        if kind is bool:
            given["is_flag"] = True
        elif get_origin(kind) is Literal:
            given["type"] = click.Choice(get_args(kind))
        elif kind in _TYPES:
            given["type"] = _TYPES[kind]
        if metavar == "PROVIDER/NAME":
            given["shell_complete"] = complete_model
        names = name.split() or [f"--{attribute.replace('_', '-')}"]
        return click.option(*names, attribute, **given | how)

    return field(metadata={"declare": declare}, converter=converter)


def argument(metavar: str | None = None, **how: Any) -> Any:
    """A parameter of a command that is an argument, and that its type and name do not say all of.

    Args:
        metavar: what the help calls it, where that is not its name.
        how: what else `click.argument` takes.
    """

    def declare(attribute: str, kind: Any) -> Callable[[Any], Any]:
        nargs = -1 if get_origin(kind) is tuple else 1
        given: dict[str, Any] = {"metavar": metavar, "nargs": nargs, "required": True}
        if get_origin(kind) is Literal:
            given["type"] = click.Choice(get_args(kind))
        return click.argument(attribute, **given | how)

    return field(metadata={"declare": declare})


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(option,))
class Options:
    """The options of a command: an attribute for each, see `option`."""

    def __init_subclass__(cls) -> None:
        frozen(kw_only=True, slots=False)(cls)


def taken(kind: type[Any], given: dict[str, Any]) -> Any:
    """The options of a class, which are taken out of the arguments of a command."""
    return kind(**{each.name: given.pop(each.name) for each in fields(kind)})


def command(name: str, group: Any = click) -> Callable[[Callable[..., None]], Any]:
    """Make a command of a function, whose parameters say what it takes.

    A parameter whose default is an `option` is one; the others are arguments, which may be left out
    where they have a default. ``options`` are all those of its class. The help shows the
    parameters first, then what the class itself declares, then what it inherits.

    >>> class Chosen(Options):
    ...     jobs: int = option("How many go on at once.", default=4)
    >>> @command("show")
    ... def show(file: str, options: Chosen, only: tuple[str, ...] = option("These.")) -> None:
    ...     print(file, options, only)
    >>> show(["a.gram", "--only", "a", "--only", "b"], standalone_mode=False)
    a.gram Chosen(jobs=4) ('a', 'b')
    """

    def declare(function: Callable[..., None]) -> Any:
        found = {**signature(function, eval_str=True).parameters}
        kind: Any = found.pop("options").annotation if "options" in found else None
        attributes = fields(resolve_types(kind)) if kind else ()
        declared = [(it.name, it.annotation, _field_of(it.default)) for it in found.values()]
        declared += [(it.name, it.type, it) for it in attributes if not it.inherited]
        declared += [(it.name, it.type, it) for it in attributes if it.inherited]

        @wraps(function)
        def called(**given: Any) -> None:
            if kind:
                given["options"] = taken(kind, given)
            function(**given)

        decorated: Any = called
        for attribute, type_, one in reversed(declared):
            decorated = one.metadata["declare"](attribute, type_)(decorated)
        return group.command(name)(decorated)

    return declare


def _field_of(default: Any) -> Any:
    """What declares a parameter, by its default."""
    if default is Parameter.empty:
        return argument()
    return default if hasattr(default, "metadata") else argument(required=False)


json_option: Any = option("Print the result as JSON.", name="--json")

agent_option: Any = option("Which agent of the program.", "NAME", shell_complete=complete_agent)

model_option: Any = option("Use this model instead of the program's.", "PROVIDER/NAME")

checks_option: Any = option("A Python file with the checks that cases name.", "FILE.py[:NAME]")
"""The files of checks; see `read_checks`."""

stdin_filename_option: Any = option("What messages call standard input.", "NAME")


def path_argument(words: str) -> Any:
    """The arguments of a command that takes files and a path, which come first or last."""
    return argument(f"FILE... {words}", shell_complete=complete_path)
