"""Where MCP servers are: a command, an address, or an entry of an ``mcpServers`` file."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, TypeAlias, Union
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from attrs import field, frozen

from gram import ArgumentError
from gram.documents import decode
from gram.errors import expect
from gram.reading import quote
from gram.words import did_you_mean

from ...errors import ConfigurationError
from ...json_text import read_json
from ...secrets import Hidden, hide, without_keys
from .untrusted import cut, visible

ServerLike: TypeAlias = Union[str, Sequence[str], Path, Mapping[str, Any]]
"""A command, an address, an ``mcpServers`` file, or what such a file says."""

_VARIABLE: Final = re.compile(r"\$\{(?:env:)?([^}]*?)(?::-([^}]*))?\}")
_ASSIGNMENT: Final = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_SECRET: Final = re.compile(
    r"keys?(?![a-z])|tokens?(?![a-z])|secret|passw|credential|auth(?!or)|cookie", re.IGNORECASE
)
_NO_SECRET: Final = re.compile(r"accept|content-|user-agent|origin|referer|host", re.IGNORECASE)
"""How the names of headers begin that carry no key."""
_SECRET_OPTION: Final = re.compile(
    r"--?(?:[\w-]*[-_])?(?:key|token|secret|password|passwd|credentials?|auth)", re.IGNORECASE
)
_SECRET_OPTION_AND_VALUE: Final = re.compile(rf"{_SECRET_OPTION.pattern}=(.*)", re.I | re.DOTALL)
_LONGEST_NAME: Final = 200
_TYPES: Final[Mapping[str, tuple[type, str]]] = {
    "disabled": (bool, "true or false"),
    "enabled": (bool, "true or false"),
    "cwd": (str, "a string"),
    "type": (str, "a string"),
}
_LISTS: Final = ("mcpServers", "servers")


@frozen
class McpServer:
    """How to reach one MCP server.

    Attributes:
        name: what messages call it.
        command: the program and its arguments; empty for a server with an address.
        url: its address, or None for a server that is a command.
        environment: variables for the command, beside a few harmless ones such as ``PATH``.
        folder: where the command runs, or None for the current folder.
        headers: what every request to the address carries.
    """

    name: str
    command: tuple[str, ...] = field(default=(), repr=False)
    url: str | None = field(default=None, repr=False)
    environment: Mapping[str, str] = field(factory=dict, repr=False)
    folder: str | None = None
    headers: Mapping[str, str] = field(factory=dict, repr=False)
    _hidden: Hidden | None = field(default=None, repr=False, eq=False)

    def __str__(self) -> str:
        return f'the MCP server "{self.name}"'


def read_servers(
    given: ServerLike, name: str | None = None, *, env: Iterable[str] = ()
) -> tuple[McpServer, ...]:
    """The servers that a command, an address, a file or the content of a file names.

    Args:
        given: see `mcp_library`.
        name: of a file, the one server to use; of others, what messages call the server.
        env: the names of environment variables that a command gets.

    Raises:
        ArgumentError: an argument is of the wrong type.
        ConfigurationError: it is not in one of these forms, or a variable is not set.
        OSError: the file cannot be read.
    """
    expect(name, (str, type(None)), "name", by="mcp_library")
    if isinstance(env, str) or not isinstance(env, Iterable):
        raise ArgumentError(f"mcp_library: env must be names of variables, got {env!r}")
    handed_on = {each: f"${{{each}}}" for each in env}
    if isinstance(given, Path):
        return _of_list(_read(given), name, handed_on, str(given))
    if isinstance(given, Mapping):
        if any(key in given for key in _LISTS):
            return _of_list(given, name, handed_on, "the mapping")
        known_as = " ".join(str(each) for each in (given.get("command"), *_args(given)) if each)
        if isinstance(url := given.get("url"), str):
            known_as = without_secrets(url)
        return (_of_entry(name or known_as, given, handed_on),)
    if isinstance(given, str) and is_address(given):
        return (_of_entry(name or without_secrets(given), {"url": given}, handed_on),)
    words = _words(given)
    assigned: dict[str, str] = dict(handed_on)
    while words and (match := _ASSIGNMENT.fullmatch(words[0])):
        assigned[match[1]] = match[2]
        del words[0]
    if not words:
        raise ConfigurationError("an MCP server is a command or an address, and this is empty")
    entry = {"command": words[0], "args": words[1:]}
    return (_of_entry(name or shlex.join(words), entry, assigned),)


def is_address(given: str) -> bool:
    """Whether a text is the address of a server, and not a command."""
    return re.match(r"https?:", given, re.IGNORECASE) is not None


def without_secrets(url: str) -> str:
    """An address without its password and query, for messages."""
    try:
        parts = urlsplit(url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    except ValueError:
        return "an address that cannot be read"


def _words(given: object) -> list[str]:
    if isinstance(given, str):
        try:
            return shlex.split(given)
        except ValueError as error:
            raise ConfigurationError(f"the command {quote(given)}: {error}") from None
    if isinstance(given, Sequence) and all(isinstance(each, str) for each in given):
        return list(given)
    raise ArgumentError(
        f"mcp_library takes a command, an address, a Path or a mapping, got {type(given).__name__}"
    )


def _read(path: Path) -> Mapping[str, Any]:
    try:
        data = read_json(decode(path.read_bytes(), str(path)))
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{path}: not JSON: {error}") from None
    if not isinstance(data, dict) or not any(key in data for key in _LISTS):
        raise ConfigurationError(f'{path}: expected an object with "mcpServers"')
    return data


def _entries(data: Mapping[str, Any], where: str) -> Mapping[str, Mapping[str, Any]]:
    entries = next(data[key] for key in _LISTS if key in data)
    if not isinstance(entries, Mapping) or not all(
        isinstance(each, Mapping) for each in entries.values()
    ):
        raise ConfigurationError(f'{where}: "mcpServers" must have an object for each name')
    for name, entry in entries.items():
        for key, (kind, words) in _TYPES.items():
            if not isinstance(entry.get(key), kind | None):
                named = f'the server "{cut(visible(str(name)), _LONGEST_NAME)}"'
                raise ConfigurationError(f'{where}: {named}: "{key}" must be {words}')
    return entries


def _of_list(
    data: Mapping[str, Any], name: str | None, env: Mapping[str, str], where: str
) -> tuple[McpServer, ...]:
    entries = _entries(data, where)
    if name is not None and name not in entries:
        hint = did_you_mean(name, entries) or f"it has {', '.join(entries) or 'none'}"
        raise ConfigurationError(f'{where} has no server "{name}"; {hint}')
    on = [key for key, one in entries.items() if not one.get("disabled") and one.get("enabled", 1)]
    chosen = on if name is None else [name]
    if not chosen:
        raise ConfigurationError(f"{where} names no server that is enabled")
    return tuple(_of_entry(each, entries[each], env) for each in chosen)


def _of_entry(name: str, entry: Mapping[str, Any], env: Mapping[str, str]) -> McpServer:
    where = f'the MCP server "{cut(visible(name), _LONGEST_NAME)}"'
    if ("command" in entry) == ("url" in entry):
        raise ConfigurationError(f'{where} needs either "command" or "url"')
    if entry.get("type") == "sse" or entry.get("transport") == "sse":
        raise ConfigurationError(
            f"{where} uses the transport SSE, which MCP has replaced: use its streamable HTTP"
        )
    environment, headers = (
        {key: _expand(where, text) for key, text in texts.items()}
        for texts in ({**_texts(where, entry, "env"), **env}, _texts(where, entry, "headers"))
    )
    hidden = hide(*_secrets(where, entry, environment, headers))
    name = cut(visible(without_keys(name)), _LONGEST_NAME)
    if "url" in entry:
        url = _expand(where, str(entry["url"]))
        if not is_address(url) or not _has_host(url):
            raise ConfigurationError(
                f"{where}: an address is http://… or https://…, found {quote(without_secrets(url))}"
            )
        return McpServer(name, url=url, headers=headers, hidden=hidden)
    args = entry.get("args") or ()
    words = [entry["command"], *([None] if isinstance(args, str) else args)]
    if not all(isinstance(each, str) for each in words) or not words[0].strip():
        raise ConfigurationError(f'{where}: "command" must be a string and "args" strings')
    folder = entry.get("cwd")
    return McpServer(
        name,
        tuple(_expand(where, each) for each in words),
        environment=environment,
        folder=folder and _expand(where, folder),
        hidden=hidden,
    )


def _has_host(url: str) -> bool:
    try:
        return bool(urlsplit(url).hostname) and urlsplit(url).port != 0
    except ValueError:
        return False


def _texts(where: str, entry: Mapping[str, Any], key: str) -> dict[str, str]:
    found = entry.get(key) or {}
    if not isinstance(found, Mapping) or not all(
        isinstance(each, str) for pair in found.items() for each in pair
    ):
        raise ConfigurationError(f'{where}: "{key}" must be an object of strings')
    return dict(found)


def _expand(where: str, text: str) -> str:
    """The text with ``${NAME}`` and ``${NAME:-default}`` replaced by environment variables."""

    def value(match: re.Match[str]) -> str:
        found = os.environ.get(match[1]) or match[2]
        if found is None:
            raise ConfigurationError(f"{where} needs the environment variable {match[1]}")
        return found

    return _VARIABLE.sub(value, text)


def _secrets(
    where: str, entry: Mapping[str, Any], environment: Mapping[str, str], headers: Mapping[str, str]
) -> Iterator[str]:
    """What must not be shown: headers, and values whose names or options are those of keys."""
    yield from (text for key, text in environment.items() if _SECRET.search(key))
    for name, text in headers.items():
        if not _NO_SECRET.match(name):
            yield from (text, *text.split()[-1:])
    written = [text for text in (entry.get("url"), *_args(entry)) if isinstance(text, str)]
    for name in (match[1] for text in written for match in _VARIABLE.finditer(text)):
        if _SECRET.search(name):
            yield os.environ.get(name, "")
    words = [_expand(where, text) for text in written]
    yield from (value for option, value in pairwise(words) if _SECRET_OPTION.fullmatch(option))
    yield from (match[1] for match in map(_SECRET_OPTION_AND_VALUE.fullmatch, words) if match)
    if words and is_address(words[0]):
        with suppress(ValueError):  # what cannot be read as an address is refused later
            parts = urlsplit(words[0])
            yield parts.password or ""
            yield from (text for key, text in parse_qsl(parts.query) if _SECRET.search(key))


def _args(entry: Mapping[str, Any]) -> Sequence[Any]:
    args = entry.get("args")
    return args if isinstance(args, Sequence) and not isinstance(args, str) else ()
