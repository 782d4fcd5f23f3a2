"""The operations of OpenAPI documents that options name."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final

import click

from gram.plurals import counted
from gram.suggestions import did_you_mean

from ...tools import ToolLibrary
from ...tools.openapi import openapi_library
from ..terminal.output import note

SETTINGS: Final = ("server", "hosts", "operations")
"""The settings that may be written before a document; every other name is a security scheme."""

_SETTING: Final = re.compile(r"([\w.-]+)=(\S*)\s+(?=\S)")
_MOST_TOLD: Final = 5


@cache
def operations_of(given: str) -> ToolLibrary:
    """The operations of a document, given as ``[NAME=VALUE…] FILE|URL``.

    ``server=URL`` is where calls go, ``hosts=A,B`` where they may go, ``operations=A,B`` which
    become tools; any other NAME is a security scheme, whose key is in the variable VALUE.

    Raises:
        OSError: the file cannot be read.
        ConfigurationError: the document cannot be used, or not so.
        click.UsageError: a setting before the document is not one of these.
    """
    settings: dict[str, Any] = {}
    keys: dict[str, str] = {}
    document = given
    while match := _SETTING.match(document):
        name, value = match.groups()
        if name in settings or name in keys:
            raise click.UsageError(f"--openapi {given}: {name}= is given twice")
        if name == "server":
            settings[name] = value
        elif name in SETTINGS:
            settings[name] = [each for each in value.split(",") if each]
        elif re.fullmatch(r"\w+", value):
            keys[name] = value
        else:
            hint = did_you_mean(name, SETTINGS)
            hint = hint or f"beside keys there are {', '.join(SETTINGS)}"
            said = f"{name}={value} names no environment variable with a key"
            raise click.UsageError(f"--openapi {given}: {said}; {hint}")
        document = document[match.end() :]
    told: list[str] = []
    library = openapi_library(document, keys=keys, tell=told.append, **settings)
    for each in told[:_MOST_TOLD]:
        note(each)
    if len(told) > _MOST_TOLD:
        more = f"{counted(len(told) - _MOST_TOLD, 'more note')} on operations of {document}"
        note(f"{more}; operations=NAME tells those on one")
    return library
