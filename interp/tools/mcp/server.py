"""Where MCP servers are: a command, an address, or an entry of an ``mcpServers`` file."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, TypeAlias, Union
from urllib.parse import parse_qsl, urlsplit

from attrs import field, frozen
from typing_extensions import TypedDict

from gram.documents import decode
from gram.errors import expect, expect_all
from gram.reading import quote
from gram.words import did_you_mean

from ...errors import ConfigurationError
from ...files import is_address, shown_address
from ...json_text import read_json
from ...secrets import Hidden, hide, without_keys
from .listing import cut, fault_in, visible

ServerLike: TypeAlias = Union[str, Sequence[str], Path, Mapping[str, Any]]
"""A command, an address, an ``mcpServers`` file, or what such a file says."""

_VARIABLE: Final = re.compile(r"\$\{(?:env:)?([^}]*?)(?::-([^}]*))?\}")
_ASSIGNMENT: Final = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_SECRET: Final = re.compile(
    r"keys?(?![a-z])|tokens?(?![a-z])|secret|passw|credential|auth(?!or)|cookie", re.IGNORECASE
)
# How the names of headers begin that carry no key.
_NO_SECRET: Final = re.compile(r"accept|content-|user-agent|origin|referer|host", re.IGNORECASE)
_LONGEST_NAME: Final = 200
_LISTS: Final = ("mcpServers", "servers")


class _Entry(TypedDict, total=False):
    """A server as a file has it; pydantic holds files to this."""

    command: str
    args: list[str]
    env: dict[str, str]
    cwd: str
    url: str
    headers: dict[str, str]
    type: str
    disabled: bool
    enabled: bool


@frozen
class McpServer:
    """How to reach one MCP server: at its address, or by a command."""

    name: str  # for messages
    command: tuple[str, ...] = field(default=(), repr=False)
    url: str | None = field(default=None, repr=False)
    environment: Mapping[str, str] = field(factory=dict, repr=False)  # beside ``PATH`` and the like
    folder: str | None = None  # where the command runs
    headers: Mapping[str, str] = field(factory=dict, repr=False)
    _hidden: Hidden | None = field(default=None, repr=False, eq=False)

    def __str__(self) -> str:
        return f'the MCP server "{self.name}"'


def read_servers(
    given: ServerLike, name: str | None = None, *, env: Iterable[str] = ()
) -> tuple[McpServer, ...]:
    """The servers that a command, an address, a file or the content of a file names.

    The arguments and errors are those of `mcp_library`; unless it is one of a file, the name is
    what messages call the server.
    """
    expect(name, (str, type(None)), "name", by="mcp_library")
    names = expect_all(env, str, "env", by="mcp_library")
    handed_on = {each: f"${{{each}}}" for each in names}
    if isinstance(given, Path):
        try:
            listed = read_json(decode(given.read_bytes(), str(given)))
        except (ValueError, RecursionError) as error:
            raise ConfigurationError(f"{given}: not JSON: {error}") from None
        return _of_list(listed, name, handed_on, str(given))
    if isinstance(given, Mapping):
        return _of_list(given, name, handed_on, "the mapping")
    if isinstance(given, str) and given.lower().startswith(("http://", "https://")):
        return (_of_entry(name or shown_address(given), {"url": given}, handed_on),)
    expect(given, (str, Sequence, Path, Mapping), "server", by="mcp_library")
    try:
        words = shlex.split(given) if isinstance(given, str) else [*given]
    except ValueError as error:
        raise ConfigurationError(f"the command {quote(str(given))}: {error}") from None
    expect_all(words, str, "server", by="mcp_library")
    while words and (match := _ASSIGNMENT.fullmatch(words[0])):
        handed_on[match[1]] = match[2]
        del words[0]
    if not words:
        raise ConfigurationError("an MCP server is a command or an address, and this is empty")
    entry = _Entry(command=words[0], args=words[1:])
    return (_of_entry(name or shlex.join(words), entry, handed_on),)


def _of_list(
    data: Any, name: str | None, env: Mapping[str, str], where: str
) -> tuple[McpServer, ...]:
    from pydantic import TypeAdapter, ValidationError

    lists = data if isinstance(data, Mapping) else {}
    listed = next((lists[key] for key in _LISTS if key in lists), None)
    if listed is None:
        raise ConfigurationError(f'{where}: expected an object with "mcpServers"')
    try:
        entries = TypeAdapter(dict[str, _Entry]).validate_python(listed)
    except ValidationError as error:
        raise ConfigurationError(f"{where}: {fault_in(error, 'mcpServers')}") from None
    if name is not None and name not in entries:
        hint = did_you_mean(name, entries) or f"it has {', '.join(entries) or 'none'}"
        raise ConfigurationError(f'{where} has no server "{name}"; {hint}')
    on = [key for key, one in entries.items() if one.get("enabled", not one.get("disabled"))]
    chosen = on if name is None else [name]
    if not chosen:
        raise ConfigurationError(f"{where} names no server that is enabled")
    return tuple(_of_entry(each, entries[each], env) for each in chosen)


def _of_entry(name: str, entry: _Entry, env: Mapping[str, str]) -> McpServer:
    where = f'the MCP server "{cut(visible(name), _LONGEST_NAME)}"'
    if ("command" in entry) == ("url" in entry):
        raise ConfigurationError(f'{where} needs either "command" or "url"')
    if entry.get("type") == "sse":
        raise ConfigurationError(
            f"{where} uses the transport SSE, which MCP has replaced: use its streamable HTTP"
        )
    environment, headers = (
        {key: _expand(where, text) for key, text in texts.items()}
        for texts in ({**entry.get("env", {}), **env}, entry.get("headers", {}))
    )
    written = [entry["url"]] if "url" in entry else [entry["command"], *entry.get("args", [])]
    words = [_expand(where, each) for each in written]
    hidden = hide(*_secrets(written, words, environment, headers))
    name = cut(visible(without_keys(name)), _LONGEST_NAME)
    if "url" in entry:
        (url,) = words
        if not is_address(url):
            raise ConfigurationError(
                f"{where}: an address is http://… or https://…, found {quote(shown_address(url))}"
            )
        return McpServer(name, url=url, headers=headers, hidden=hidden)
    if not words[0].strip():
        raise ConfigurationError(f'{where}: "command" is empty')
    folder = _expand(where, entry["cwd"]) if entry.get("cwd") else None
    return McpServer(name, tuple(words), None, environment, folder, hidden=hidden)


def _expand(where: str, text: str) -> str:
    """The text with ``${NAME}`` and ``${NAME:-default}`` replaced by environment variables."""

    def value(match: re.Match[str]) -> str:
        found = os.environ.get(match[1]) or match[2]
        if found is None:
            raise ConfigurationError(f"{where} needs the environment variable {match[1]}")
        return found

    return _VARIABLE.sub(value, text)


def _secrets(
    written: list[str], words: list[str], environment: Mapping[str, str], headers: Mapping[str, str]
) -> Iterator[str]:
    """What must not be shown: headers, and values whose names or options are those of keys."""
    named = [*environment.items()]
    for name in (match[1] for text in written for match in _VARIABLE.finditer(text)):
        named.append((name, os.environ.get(name, "")))
    for word, following in pairwise([*words, ""]):
        option, _, value = word.partition("=")
        if option.startswith("-"):
            named.append((re.split("[-_]", option)[-1], value or following))
    for name, text in headers.items():
        if not _NO_SECRET.match(name):
            yield from (text, *text.split()[-1:])
    if is_address(words[0]):
        parts = urlsplit(words[0])
        yield parts.password or ""
        named += parse_qsl(parts.query)
    yield from (value for name, value in named if _SECRET.search(name))
