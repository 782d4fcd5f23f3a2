"""The operations of an OpenAPI document as a tool library."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from gram.display import visible
from gram.errors import expect, expect_all
from gram.words import counted, did_you_mean

from ...errors import ConfigurationError, ToolError
from ...files import is_address
from ...json_text import Json
from ...models import is_address as is_server
from ..implementation import Tool
from ..library import ToolLibrary
from .document import ApiDocument, read_document
from .operations import Operation, keys_for, read_keys, read_operation

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
        hosts: the hosts that may be called, with or without their ports; by default those of
            the document's servers, or of ``server``. Of a document that has an address, its own
            host alone.
        keys: for each security scheme the name of the environment variable with its key.
        seconds: how long a call may take.
        max_bytes: the most bytes of a request, and of an answer that is read.
        tell: called with a sentence for each operation that cannot be a tool, and for what a
            tool does not take that the operation would.

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
    allowed = allowed and tuple(map(str.lower, allowed))
    expect(keys, (Mapping, type(None)), "keys", by=by)
    expect(seconds, (int, float), "seconds", by=by)
    expect(max_bytes, int, "max_bytes", by=by)
    expect(tell, Callable, "tell", by=by)
    api = read_document(document, _fetch)
    found_keys = read_keys(api, keys or {})
    tools: dict[str, Tool] = {}
    faults: list[ConfigurationError] = []
    names: list[str] = []
    notes: list[str] = []
    for found in api.operations():
        said = {found.id, found.name}
        names += said
        if wanted is not None and not said & {*wanted}:
            continue
        try:
            operation = read_operation(api, found)
            if operation.name in tools:
                raise api.fault(found.at, f'another operation is named "{operation.name}"')
            address = _server(api, operation, found.at, server, allowed)
            calling = (address, *keys_for(operation.security, found_keys), seconds, max_bytes)
            tools[operation.name] = _tool(api, operation, found.at, calling)
            notes += [visible(f"{api.place}: {found.at}: {each}") for each in operation.unsent]
        except ConfigurationError as error:
            if wanted is not None:
                raise
            faults.append(error)
    for name in wanted or ():
        if name not in names:
            hint = did_you_mean(name, names) or f"it has {', '.join(names[:20]) or 'none'}"
            raise ConfigurationError(f'{api.place}: there is no operation "{name}"; {hint}')
    if faults and not tools:
        more = f"\n  and {counted(len(faults) - 1, 'other operation')}" if len(faults) > 1 else ""
        raise ConfigurationError(f"{faults[0]}{more}")
    for each in notes:
        tell(each)
    for fault in faults:
        reason, line_break, hint = str(fault).partition("\n")
        tell(f"{reason}; left out{line_break}{hint}")
    return ToolLibrary(tools)


def _fetch(address: str, max_bytes: int) -> bytes:
    from .calls import fetch  # imported late: it loads the network library

    return fetch(address, max_bytes)


def _tool(api: ApiDocument, operation: Operation, at: str, calling: tuple[Any, ...]) -> Tool:
    """The tool of an operation, which is called as the other arguments of `Caller` say.

    Raises:
        ConfigurationError: a schema of it is not valid.
    """

    async def invoke(arguments: dict[str, Json]) -> Any:
        from .calls import Caller  # imported late: it loads the network library

        return await Caller(operation, *calling).call(arguments)

    place, changes = api.place, operation.method not in ("GET", "HEAD", "OPTIONS")
    try:
        return Tool(
            operation.name,
            operation.description,
            operation.schema,
            invoke,
            result_schema=operation.result,
            place=f"{place}: {at}",
            once=changes,
            hints={"sends": True} if changes else {},
            server=place.partition("?")[0] if is_address(place) else Path(place).name,
        )
    except ToolError as error:
        raise api.fault(at, str(error).splitlines()[0]) from None


def _server(
    api: ApiDocument,
    operation: Operation,
    at: str,
    server: str | None,
    hosts: tuple[str | None, ...] | None,
) -> str:
    """The first address of an operation that may be called.

    Without a word about hosts, a document that was fetched may name its own alone: who serves
    it could send keys and arguments to another one any day.

    Raises:
        ConfigurationError: there is none.
    """
    servers = operation.servers if server is None else (server,)
    parts = {address: each for address in servers if (each := _parts(address))}
    if hosts is None and server is None and (own := _parts(api.address or "")):
        hosts = (own.hostname,)
    for address, each in parts.items():
        if hosts is None or each.hostname in hosts or each.netloc.lower() in hosts:
            return address
    said = f'its server "{visible(" ".join(servers))}"'
    if not parts:
        hint = "give the whole address, server=https://…"
        raise api.fault(at, f"{said} is no address\n  hint: {hint}")
    hint = f"if you trust it, hosts={visible(next(iter(parts.values())).netloc)}"
    raise api.fault(at, f"the host of {said} is not among those allowed\n  hint: {hint}")


def _parts(address: str) -> SplitResult | None:
    """The parts of an address of http or https; None if it is none or has a password."""
    if not is_server(address):
        return None
    parts = urlsplit(address)
    has_more = parts.username is not None or parts.query or parts.fragment
    return None if has_more else parts
