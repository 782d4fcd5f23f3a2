"""Reads a user's own providers from a TOML file with one table for each.

.. code-block:: toml

    [Groq]
    base_url = "https://api.groq.com/openai/v1"
    key = "GROQ_API_KEY"          # the variable that holds the key, never the key itself
    max_tokens = "max_tokens"

The path of the file is in ``GRAM_PROVIDERS``; by default it is ``gram/providers.toml`` in the
user's configuration directory.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, get_args

from gram.suggestions import did_you_mean
from lenses_ext.language import SETTINGS

from ...errors import ConfigurationError
from .provider import (
    ADDRESS_RULE,
    AnswerFormat,
    AnswerMode,
    Dialect,
    MaxTokens,
    Provider,
    is_address,
)

VARIABLE: Final = "GRAM_PROVIDERS"
"""The environment variable that names the file."""

_COLUMNS = {
    "base_url": None,
    "key": None,
    "dialect": get_args(Dialect),
    "max_tokens": get_args(MaxTokens),
    "answers": get_args(AnswerMode),
    "answers_as": get_args(AnswerFormat),
    "max_reply_bytes": None,
    "context_window": None,
    "not_taken": None,
}
_NAME_OF_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*", re.ASCII)


def user_providers() -> Mapping[str, Provider]:
    """The rows of the user's file, by name; empty if there is no file.

    Raises:
        ConfigurationError: The file cannot be read, is not TOML, or a row is wrong. The message
            never repeats a value that may be a key.
    """
    try:
        path = providers_path()
        path.stat()  # where there is no file, this costs less than failing to open it
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        if os.environ.get(VARIABLE):
            raise ConfigurationError(f"{error.filename} ({VARIABLE}) does not exist") from None
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} cannot be read: {error}") from None
    import tomllib

    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{path} is not TOML: {error}") from None
    return {name: provider_of(str(path), name, table) for name, table in tables.items()}


def providers_path() -> Path:
    """The path of the user's file of providers.

    Raises:
        FileNotFoundError: The user has no home directory.
    """
    if named := os.environ.get(VARIABLE):
        return Path(named)
    return user_folder("XDG_CONFIG_HOME", "~/.config") / "providers.toml"


def user_folder(variable: str, default: str) -> Path:
    """The user's folder for files of gram, by the XDG Base Directory Specification.

    Args:
        variable: The environment variable with the path of the parent folder.
        default: The parent folder if the variable is not set, starting with ``~``.

    Raises:
        FileNotFoundError: The user has no home directory, as in some containers.
    """
    parent = os.environ.get(variable)
    parent = parent or os.path.expanduser(default)  # noqa: PTH111  # quicker than that of `Path`
    if parent == default:
        raise FileNotFoundError(errno.ENOENT, "Could not determine home directory.", default)
    return Path(parent, "gram")


def provider_of(path: str, name: str, table: Any) -> Provider:
    """The row that a table describes.

    Args:
        path: where it is, for messages.
        name: the name of the provider.
        table: its columns.

    Raises:
        ConfigurationError: The row is wrong.
    """
    where = f"{path}: [{name}]"
    if not isinstance(table, dict):
        raise ConfigurationError(f"{path}: {name} is not a table: write [{name}] above its values")
    if "/" in name or not name.strip():
        raise ConfigurationError(
            f"{where} the name of a provider must not be empty or contain a slash"
        )
    for column, value in table.items():
        if column not in _COLUMNS:
            hint = did_you_mean(column, _COLUMNS) or f"it may have {', '.join(_COLUMNS)}"
            raise ConfigurationError(f"{where} has no column {column}; {hint}")
        words = _COLUMNS[column]
        if column in ("max_reply_bytes", "context_window"):
            if type(value) is not int or value < 1:
                raise ConfigurationError(f"{where} {column} must be a whole number from 1")
        elif column == "not_taken":
            if not isinstance(value, list) or not {*value} <= {*SETTINGS}:
                raise ConfigurationError(
                    f"{where} {column} must be a list of settings, such as {', '.join(SETTINGS)}"
                )
        elif not isinstance(value, str) or (words and value not in words):
            expected = f"one of {', '.join(words)}" if words else "a string"
            raise ConfigurationError(f"{where} {column} must be {expected}")
    if not is_address(table.get("base_url", "")):
        raise ConfigurationError(f"{where} needs a base_url, which {ADDRESS_RULE}")
    if "key" in table and not _NAME_OF_VARIABLE.fullmatch(table["key"]):
        raise ConfigurationError(
            f"{where} key must be the name of an environment variable, such as GROQ_API_KEY; "
            "keys themselves are never stored"
        )
    return Provider(name, **table)
