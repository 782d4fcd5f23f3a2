"""The operations of an OpenAPI document as a tool library."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import SplitResult, quote, urlsplit

from attrs import evolve

from gram.display import visible
from gram.errors import expect, expect_all
from gram.words import counted, did_you_mean

from ...errors import ConfigurationError, ToolError
from ...files import is_address
from ...json_text import Json
from ...secrets import hide
from ..implementation import Tool
from ..library import ToolLibrary
from . import document as documents
from .document import FORM, ApiDocument, ApiKey, ApiParameter, Found

_MOST_BYTES: Final = 1_000_000
_DEEP: Final = "deepObject"
# How the parameters of each place are written, by default first; others are not sent.
_STYLES: Final = {"path": ("simple",), "query": ("form", _DEEP), "header": ("simple",)}
# Headers that OpenAPI leaves to other parts of a document.
_NOT_PARAMETERS: Final = {"accept", "content-type", "authorization"}
_OF_THE_CONNECTION: Final = {"connection", "content-length", "cookie", "host", "transfer-encoding"}
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # a name of a header (RFC 9110)
_JSON: Final = "application/json"


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
    expect(keys, (Mapping, type(None)), "keys", by=by)
    expect(seconds, (int, float), "seconds", by=by)
    expect(max_bytes, int, "max_bytes", by=by)
    expect(tell, Callable, "tell", by=by)
    api = documents.read_document(document, _fetch)
    api = evolve(api, server=server, hosts=allowed, seconds=seconds, max_bytes=max_bytes)
    api = evolve(api, keys=_read_keys(api, keys or {}))
    tools: dict[str, Tool] = {}
    faults: list[ConfigurationError] = []
    names: list[str] = []
    told: list[str] = []
    for found in api.operations():
        said = {found.id, found.name}
        names += said
        if wanted is not None and not said & {*wanted}:
            continue
        notes: list[str] = []
        try:
            if found.name in tools:
                raise found.fault(f'another operation is named "{found.name}"')
            tools[found.name] = _read(found, notes.append)
            told += notes  # of what is left out, one note says why
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
    for fault in faults:
        reason, line_break, hint = str(fault).partition("\n")
        told.append(f"{reason}; left out{line_break}{hint}")
    for each in told:
        tell(each)
    return ToolLibrary(tools)


def _fetch(address: str, max_bytes: int) -> bytes:
    from .calls import fetch  # imported late: it loads the network library

    return fetch(address, max_bytes)


def _read(found: Found, tell: Callable[[str], object]) -> Tool:
    """The tool of an operation; what the model cannot give it is told."""
    try:
        return _tool(found, tell)
    except ToolError as error:
        raise found.fault(str(error).splitlines()[0]) from None
    except (AttributeError, TypeError, ValueError, RecursionError) as error:
        # A part is of another type than OpenAPI gives it: any of them may be, at any depth.
        raise found.fault(f"it is not written as OpenAPI has it: {error}") from None


def _tool(found: Found, tell: Callable[[str], object]) -> Tool:
    api, operation, method, path = found.api, found.operation, found.method.upper(), found.path
    parameters, schema = _inputs(found, tell)
    keys = _keys_for(operation.get("security", api.root.get("security")) or [[]], api.keys)
    ready = documents.Operation(
        method, path, parameters, _server(found), *keys, api.seconds, api.max_bytes
    )

    async def invoke(arguments: dict[str, Json]) -> Any:
        from .calls import call  # imported late: it loads the network library

        return await call(ready, arguments)

    texts = [str(operation.get(key) or "").strip() for key in ("summary", "description")]
    said = "\n\n".join(dict.fromkeys(filter(None, texts)))
    changes = method not in ("GET", "HEAD", "OPTIONS")
    return Tool(
        found.name,
        visible(said or str(found.item.get("summary") or f"{method} {path}")),
        schema,
        invoke,
        result_schema=_result(found),
        place=f"{api.place}: {found.at}",
        once=changes,
        hints={"sends": True} if changes else {},
        server=api.place.partition("?")[0] if is_address(api.place) else Path(api.place).name,
    )


def _inputs(
    found: Found, tell: Callable[[str], object]
) -> tuple[list[ApiParameter], dict[str, Json]]:
    """What an operation takes, and the schema of that."""
    schemas = documents.Schemas(found)
    properties: dict[str, Json] = {}
    required: list[str] = []
    parameters: list[ApiParameter] = []
    for given in _parameters(found):
        is_needed = given.get("required") or given.get("in") == "path"
        if reason := _why_not_sent(found, given):
            if is_needed:
                raise found.fault(reason)
            tell(str(found.fault(reason)))
            continue
        parameter, schema = _parameter(given, properties)
        parameters.append(parameter)
        properties[parameter.key] = made = schemas.json_schema(schema)
        if given.get("description"):
            made.setdefault("description", given["description"])
        if is_needed:
            required.append(parameter.key)
    root: dict[str, Json] = {"type": "object", "properties": properties, "required": required}
    if definitions := schemas.definitions():
        root["$defs"] = definitions
    in_path = {each.name for each in parameters if each.place == "path"}
    if missing := {*re.findall(r"{([^}]*)}", found.path)} - in_path:
        raise found.fault(f"no parameter is declared for {{{min(missing)}}} in its path")
    return parameters, root


def _parameters(found: Found) -> list[dict[str, Json]]:
    """The parameters of a path and of its operation, which replace those of the same name.

    The body is the last of them, in the place ``body``.
    """
    operation, by_name = found.operation, dict[tuple[Any, Any], dict[str, Json]]()
    for given in (found.item.get("parameters") or [], operation.get("parameters") or []):
        for index, each in enumerate(given):
            parameter = found.followed(each, f".parameters[{index}]")
            name, place = parameter.get("name"), parameter.get("in")
            if place != "header" or str(name).lower() not in _NOT_PARAMETERS:
                by_name[name, place] = parameter
    if "requestBody" in operation:
        body = found.followed(operation["requestBody"], ".requestBody")
        by_name["body", "body"] = {**body, "name": "body", "in": "body"}
    return list(by_name.values())


def _why_not_sent(found: Found, given: dict[str, Json]) -> str | None:
    name, place = given.get("name"), given.get("in")
    if place == "body":
        content = given.get("content") or {}
        kinds = ", ".join(content) or "nothing"
        return None if _kind(content) else f"its body is {kinds}, which is not sent"
    if not isinstance(name, str) or not isinstance(place, str):
        return "a parameter has no name or no place (in)"
    if place not in _STYLES:
        return f'its parameter "{name}" is in {place}, which is not sent'
    if place == "header" and not _TOKEN.fullmatch(name):
        return f'its parameter "{name}" is no name of a header'
    if place == "header" and name.lower() in _OF_THE_CONNECTION:
        return f'its parameter "{name}" is a header that belongs to the connection'
    style = "content" if "content" in given else given.get("style", _STYLES[place][0])
    if style not in _STYLES[place]:
        return f'its parameter "{name}" has the style {style} in its {place}, which is not sent'
    has_fields = place == "query" and (given.get("explode", True) or style == _DEEP)
    schema = None if has_fields else found.api.behind(given.get("schema"), found.at)
    if isinstance(schema, dict) and schema.get("type") == "object":
        return f'its parameter "{name}" is an object in its {place}, which is not sent'
    return None


def _kind(content: dict[str, Json]) -> str | None:
    """The media type of a body that is sent, as the document has it; None if there is none."""
    kinds = {each.split(";")[0].strip().lower(): each for each in content}
    json_like = [each for each in kinds if each.endswith("+json")]
    texts = [each for each in kinds if each.startswith("text/") and not each.endswith("xml")]
    fields = _encoding(content[kinds[FORM]]).values() if FORM in kinds else ()
    if any(each.get("style", "form") not in _STYLES["query"] for each in fields):
        del kinds[FORM]
    wanted = (_JSON, *json_like, "application/*", "*/*", FORM, *texts)
    return next((kinds[each] for each in wanted if each in kinds), None)


def _encoding(media: dict[str, Json] | None) -> dict[str, Json]:
    return (media or {}).get("encoding") or {}


def _parameter(given: dict[str, Json], taken: Collection[str]) -> tuple[ApiParameter, Json]:
    """A parameter or a body that can be sent, and its schema."""
    name, place, schema = given["name"], given["in"], given.get("schema")
    key = re.sub(r"[^\w.-]", "_", name, flags=re.ASCII)[: documents.LONGEST_NAME] or "_"
    if key in taken:
        key = "request_body" if place == "body" else f"{key}_{place}"[-documents.LONGEST_NAME :]
    while key in taken:
        key += "_"
    if place != "body":
        return _written(key, name, place, given), schema
    kind = _kind(given["content"]) or _JSON
    media = given["content"][kind] or {}
    name = kind.split(";")[0].strip().lower()
    name = {"application/*": _JSON, "*/*": _JSON, "text/*": "text/plain"}.get(name, name)
    fields = {each: _written(each, each, "query", how) for each, how in _encoding(media).items()}
    return ApiParameter(key, name, place, fields=fields), media.get("schema")


def _written(key: str, name: str, place: str, how: dict[str, Json]) -> ApiParameter:
    explode = how.get("explode", True) is True
    return ApiParameter(key, name, place, explode, how.get("style") == _DEEP)


def _result(found: Found) -> dict[str, Json] | None:
    """The outermost type of what an operation gives, where the document says one.

    Answers have more fields than documents say.
    """
    types: set[str | None] = set()
    responses = found.followed(found.operation.get("responses") or {}, ".responses")
    for status, given in responses.items():
        if str(status).startswith("2"):
            content = found.followed(given, f".responses.{status}").get("content")
            for media_type, media in (content or {"": {}}).items():
                schema = found.followed(media.get("schema") or {})
                is_one = "json" in media_type and not schema.get("nullable")
                types.add(str(schema.get("type")) if is_one else None)
    (kind, *others) = types or {None}
    return {"type": kind} if not others and kind in _TYPES else None


_TYPES: Final = ("string", "integer", "number", "boolean", "object", "array")


def _read_keys(api: ApiDocument, keys: Mapping[str, str]) -> dict[str, ApiKey]:
    """The keys of schemes, which are named with their environment variables."""
    components = api.followed(api.root.get("components") or {}, "$.components")
    at = "$.components.securitySchemes"
    declared = api.followed(components.get("securitySchemes") or {}, at)
    found = {}
    for name, variable in keys.items():
        expect(name, str, "a scheme", by="openapi_library")
        expect(variable, str, f'keys["{name}"]', by="openapi_library")
        if name not in declared:
            hint = did_you_mean(name, declared) or f"it has {', '.join(declared) or 'none'}"
            raise ConfigurationError(f'{api.place}: no security scheme "{name}"; {hint}')
        value = os.environ.get(variable, "").strip()
        if not value:
            raise ConfigurationError(f"the environment variable {variable} is not set")
        if not value.isascii() or not value.isprintable():
            raise ConfigurationError(f"the environment variable {variable} is not printable ASCII")
        made = _key(api.followed(declared[name], f"{at}.{name}"), value)
        if made is None:
            raise api.fault(f"{at}.{name}", "keys of this kind are not sent")
        found[name] = made
    return found


def _keys_for(
    security: Iterable[Collection[str]], keys: Mapping[str, ApiKey]
) -> tuple[list[ApiKey], list[str]]:
    """The keys that an operation is called with, and the schemes that a key is missing for.

    Of the sets of schemes one is enough: a key is not sent where another one does.
    """
    chosen = min(security, key=lambda each: (len({*each} - keys.keys()), -len(each)))
    missing = [name for name in chosen if name not in keys]
    return [keys[name] for name in chosen if name in keys], missing


def _key(scheme: dict[str, Json], value: str) -> ApiKey | None:
    kind = scheme.get("type")
    if kind == "apiKey":
        place, name = scheme.get("in"), str(scheme.get("name"))
        if place != "query" and not (place == "header" and _TOKEN.fullmatch(name)):
            return None
        return ApiKey(place, name, value, hide(value, quote(value, safe="")))
    how = str(scheme.get("scheme")).lower() if kind == "http" else kind
    if how == "basic":
        encoded = base64.b64encode(value.encode()).decode()
        hidden = hide(value, encoded, value.partition(":")[2])
        return ApiKey("header", "Authorization", f"Basic {encoded}", hidden)
    if how in ("bearer", "oauth2", "openIdConnect"):
        return ApiKey("header", "Authorization", f"Bearer {value}", hide(value))
    return None


def _server(found: Found) -> str:
    """The first address of an operation that may be called; a fault says that no address may be.

    Without a word about hosts, a document that was fetched may name its own alone: who serves
    it could send keys and arguments to another one any day.
    """
    api = found.api
    servers = found.servers() if api.server is None else [api.server]
    parts = {address: each for address in servers if (each := _parts(address))}
    hosts = None if api.hosts is None else {*map(str.lower, api.hosts)}
    if hosts is None and api.server is None and (fetched := _parts(api.address or "")):
        hosts = {str(fetched.hostname)}
    for address, each in parts.items():
        if hosts is None or {each.hostname, each.netloc.lower()} & hosts:
            return address
    said = f'its server "{visible(" ".join(servers))}"'
    if not parts:
        hint = "give the whole address, server=https://…"
        raise found.fault(f"{said} is not a whole address\n  hint: {hint}")
    hint = f"if you trust it, hosts={visible(next(iter(parts.values())).netloc)}"
    raise found.fault(f"the host of {said} is not among those allowed\n  hint: {hint}")


def _parts(address: str) -> SplitResult | None:
    """The parts of an address of http or https; None if it is none or has a password."""
    if not is_address(address):
        return None
    parts = urlsplit(address)
    has_more = parts.username is not None or parts.query or parts.fragment
    return None if has_more else parts
