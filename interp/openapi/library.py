"""The operations of an OpenAPI document as a tool library."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from gram import did_you_mean, expect, expect_all

from ..errors import ConfigurationError, ToolError
from ..json_text import Json
from ..tools import Tool, ToolLibrary
from .document import ApiDocument, read_document
from .keys import ApiKey, read_keys
from .operations import Operation, operation_id, operation_name, read_operation

_MOST_BYTES: Final = 1_000_000


def openapi_library(
    document: Mapping[str, Json] | str | Path,
    *,
    operations: Iterable[str] | None = None,
    server: str | None = None,
    hosts: Iterable[str] | None = None,
    keys: Mapping[str, str] | None = None,
    seconds: float = 30.0,
    max_bytes: int = _MOST_BYTES,
    tell: Callable[[str], object] = lambda _: None,
) -> ToolLibrary:
    """The operations of an OpenAPI document (3.0 to 3.2) as tools, which call its server.

    Args:
        document: a file of JSON or YAML, an address, or the document as a mapping.
        operations: the ``operationId`` of those that become tools; all by default.
        server: the address to call, in place of the document's servers.
        hosts: the hosts that may be called; by default those of the document's servers, or
            of ``server``.
        keys: for each security scheme the name of the environment variable with its key.
        seconds: how long a call may take.
        max_bytes: the most bytes of an answer that is read.
        tell: called with a sentence for each operation that cannot be a tool.

    Raises:
        ArgumentError: an argument is of the wrong type.
        OSError: a file cannot be read.
        ConfigurationError: it is no such document; an operation, a scheme or an environment
            variable does not exist; one of ``operations`` or all of them cannot be tools, since
            the document has a fault there or the host is not allowed.
    """
    by = "openapi_library"
    expect(document, (Mapping, str, Path), "document", by=by)
    wanted = None if operations is None else expect_all(operations, str, "operations", by=by)
    expect(server, (str, type(None)), "server", by=by)
    allowed = None if hosts is None else expect_all(hosts, str, "hosts", by=by)
    expect(keys, (Mapping, type(None)), "keys", by=by)
    expect(seconds, (int, float), "seconds", by=by)
    expect(max_bytes, int, "max_bytes", by=by)
    expect(tell, Callable, "tell", by=by)
    api = read_document(document)
    found_keys = read_keys(api, keys or {})
    tools: dict[str, Tool] = {}
    faults: list[ConfigurationError] = []
    names: list[str] = []
    for path, method, item, given in api.operations():
        said = {operation_id(path, method, given), operation_name(path, method, given)}
        names += said
        if wanted is not None and not said & {*wanted}:
            continue
        at = f'$.paths["{path}"].{method}'
        try:
            operation = read_operation(api, path, method, item, given)
            address = _address(api, operation, server, allowed, at)
            if operation.name in tools:
                raise api.fault(at, f'another operation is named "{operation.name}"')
            tools[operation.name] = _tool(
                api, at, operation, address, found_keys, seconds, max_bytes
            )
        except ConfigurationError as error:
            if wanted is not None:
                raise
            faults.append(error)
            tell(f"{error}; left out")
    for name in wanted or ():
        if name not in names:
            hint = did_you_mean(name, names) or f"it has {', '.join(names[:20]) or 'none'}"
            raise ConfigurationError(f'{api.place}: there is no operation "{name}"; {hint}')
    if faults and not tools:
        raise faults[0]
    return ToolLibrary(tools)


def _address(
    api: ApiDocument,
    operation: Operation,
    server: str | None,
    allowed: tuple[str, ...] | None,
    at: str,
) -> str:
    """The first address of an operation whose host is allowed.

    Raises:
        ConfigurationError: there is none.
    """
    servers = [server] if server is not None else operation.servers
    for address in servers:
        host = _host(address)
        if host and (allowed is None or host in allowed):
            return address
    shown = " ".join(servers)
    if any(map(_host, servers)):
        raise api.fault(at, f'the host of its server "{shown}" is not among those allowed')
    raise api.fault(at, f'its server "{shown}" is no address; give one in Python, as server=')


def _host(address: str) -> str | None:
    """The host of an address of http or https; None if it is none or has a password."""
    try:
        parts = urlsplit(address)
        is_plain = parts.scheme in ("http", "https") and parts.username is None
        return parts.hostname if is_plain and parts.port != 0 else None
    except ValueError:
        return None


def _tool(
    api: ApiDocument,
    at: str,
    operation: Operation,
    address: str,
    keys: Mapping[str, ApiKey],
    seconds: float,
    max_bytes: int,
) -> Tool:
    sent = [keys[name] for name in operation.security if name in keys]

    async def invoke(arguments: dict[str, Json]) -> Any:
        from .calls import call  # imported late: it loads the network library

        return await call(operation, address, arguments, sent, seconds, max_bytes)

    try:
        return Tool(
            operation.name,
            operation.description,
            operation.schema,
            invoke,
            place=f"{api.place}: {at}",
            once=operation.method not in ("GET", "HEAD", "OPTIONS"),
        )
    except ToolError as error:
        raise api.fault(at, str(error).splitlines()[0]) from None
