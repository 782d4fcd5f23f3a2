"""A user's own providers: rows in a TOML file, one table each.

.. code-block:: toml

    [Groq]
    base_url = "https://api.groq.com/openai/v1"
    key = "GROQ_API_KEY"          # the variable that holds the key, never the key itself
    max_tokens = "max_tokens"

The file is the one that ``GRAM_PROVIDERS`` names, else ``gram/providers.toml`` in the user's
configuration directory.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, get_args

from .addresses import ADDRESS_RULE, is_address
from .dialects import Dialect
from .errors import ConfigurationError
from .providers import MaxTokens, Provider
from .user_folders import user_folder

VARIABLE: Final = "GRAM_PROVIDERS"

_COLUMNS = {"base_url": None, "key": None, "dialect": get_args(Dialect),
            "max_tokens": get_args(MaxTokens)}  # fmt: skip
_NAME_OF_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*", re.ASCII)


def user_providers() -> Mapping[str, Provider]:
    """The rows of the user's file; none when there is no file.

    Raises:
        ConfigurationError: the file cannot be read, is not TOML, or a row is wrong. A value that
            may be a key is not repeated.
    """
    try:
        path = providers_path()
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
    return {name: _row(path, name, table) for name, table in tables.items()}


def providers_path() -> Path:
    """Where the user's providers are looked for.

    Raises:
        FileNotFoundError: the user has no folder for such files.
    """
    if named := os.environ.get(VARIABLE):
        return Path(named)
    return user_folder("XDG_CONFIG_HOME", "~/.config") / "providers.toml"


def _row(path: Path, name: str, table: Any) -> Provider:
    where = f"{path}: [{name}]"
    if not isinstance(table, dict):
        raise ConfigurationError(f"{path}: {name} is no table: write [{name}] above its values")
    if "/" in name or not name.strip():
        raise ConfigurationError(f"{where} a provider's name has no slash and is not empty")
    for column, value in table.items():
        if column not in _COLUMNS:
            near = get_close_matches(column, _COLUMNS, n=1)
            hint = f"did you mean {near[0]}?" if near else f"it may have {', '.join(_COLUMNS)}"
            raise ConfigurationError(f"{where} has no column {column}; {hint}")
        words = _COLUMNS[column]
        if not isinstance(value, str) or (words and value not in words):
            expected = f"one of {', '.join(words)}" if words else "a string"
            raise ConfigurationError(f"{where} {column} is {expected}")
    if not is_address(table.get("base_url", "")):
        raise ConfigurationError(f"{where} needs a base_url that {ADDRESS_RULE}")
    if "key" in table and not _NAME_OF_VARIABLE.fullmatch(table["key"]):
        raise ConfigurationError(
            f"{where} key is the name of an environment variable, such as GROQ_API_KEY; "
            "keys themselves are never stored"
        )
    return Provider(name, **table)
