"""Operations as tools: their names, descriptions, the schemas of their parameters, their keys."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from attrs import field, frozen

from gram.display import visible
from gram.errors import expect
from gram.words import did_you_mean

from ...errors import ConfigurationError
from ...json_text import Json
from ...secrets import Hidden, hide
from .document import LONGEST_NAME, ApiDocument, Found, Schemas, result_type
from .styles import DEEP, STYLES, TOKEN, ApiParameter, read_body

_NOT_PARAMETERS: Final = {"accept", "content-type", "authorization"}
"""Headers that OpenAPI leaves to other parts of a document."""

_OF_THE_CONNECTION: Final = {"connection", "content-length", "cookie", "host", "transfer-encoding"}


@frozen
class Operation:
    """An operation, ready to be called.

    Attributes:
        name, description, schema: those of the tool.
        method, path: the request.
        result: the schema of what it gives, or None if the document does not say it.
        parameters: the parameters, and the body among them.
        servers: the addresses of its servers, or of the document's.
        security: the names of the schemes that it is called with; one of these sets is enough.
        unsent: what the model cannot give it, in words.
    """

    name: str
    description: str
    schema: dict[str, Json]
    result: dict[str, Json] | None
    method: str
    path: str
    parameters: tuple[ApiParameter, ...]
    servers: tuple[str, ...]
    security: tuple[tuple[str, ...], ...]
    unsent: tuple[str, ...]


def read_operation(document: ApiDocument, found: Found) -> Operation:
    """Read one operation.

    Raises:
        ConfigurationError: the document has a fault there, or it takes something that a model
            cannot write.
    """
    try:
        return _read(document, found, document.followed(found.item[found.method], found.at))
    except (AttributeError, TypeError, ValueError, RecursionError) as error:
        # A part is of another type than OpenAPI gives it: any of them may be, at any depth.
        raise document.fault(found.at, f"it is not written as OpenAPI has it: {error}") from None


def _read(document: ApiDocument, found: Found, operation: dict[str, Json]) -> Operation:
    path, item, at = found.path, found.item, found.at
    schemas = Schemas(document, at)
    properties: dict[str, Json] = {}
    required: list[str] = []
    unsent: list[str] = []
    parameters: list[ApiParameter] = []

    def take(parameter: ApiParameter | str, schema: Json, given: dict[str, Json]) -> None:
        """Take a parameter or a body, or why it is not sent."""
        is_needed = given.get("required") or given.get("in") == "path"
        if isinstance(parameter, str):
            if is_needed:
                raise document.fault(at, parameter)
            unsent.append(parameter)
            return
        parameters.append(parameter)
        properties[parameter.key] = made = schemas.json_schema(schema)
        if given.get("description"):
            made.setdefault("description", given["description"])
        if is_needed:
            required.append(parameter.key)

    for given in _parameters(document, item, operation, at):
        fault = _why_not_sent(given)
        if fault or given["in"] != "header" or given["name"].lower() not in _NOT_PARAMETERS:
            take(fault or _parameter(given, properties), given.get("schema"), given)
    if "requestBody" in operation:
        request = document.followed(operation["requestBody"], f"{at}.requestBody")
        key = _free("body", "request_body", properties)
        take(*read_body(request.get("content") or {}, key), request)
    root: dict[str, Json] = {"type": "object", "properties": properties, "required": required}
    if definitions := schemas.definitions():
        root["$defs"] = definitions
    in_path = {each.name for each in parameters if each.place == "path"}
    if missing := {*re.findall(r"{([^}]*)}", path)} - in_path:
        raise document.fault(at, f"no parameter is declared for {{{min(missing)}}} in its path")
    servers = operation.get("servers") or item.get("servers") or document.root.get("servers")
    method = found.method.upper()
    texts = [str(operation.get(key) or "").strip() for key in ("summary", "description")]
    said = "\n\n".join(dict.fromkeys(filter(None, texts)))
    return Operation(
        found.name,
        visible(said or str(item.get("summary") or f"{method} {path}")),
        root,
        result_type(document, operation, at),
        method,
        path,
        tuple(parameters),
        tuple(document.servers(servers or [{"url": "/"}], f"{at}.servers")),
        tuple(map(tuple, operation.get("security", document.root.get("security")) or [])),
        tuple(unsent),
    )


def _why_not_sent(given: dict[str, Json]) -> str | None:
    """Why a parameter cannot be sent, or None."""
    name, place = given.get("name"), given.get("in")
    if not isinstance(name, str) or not isinstance(place, str):
        return "a parameter has no name or no place (in)"
    if place not in STYLES:
        return f'its parameter "{name}" is in {place}, which is not sent'
    if place == "header" and not TOKEN.fullmatch(name):
        return f'its parameter "{name}" is no name of a header'
    if place == "header" and name.lower() in _OF_THE_CONNECTION:
        return f'its parameter "{name}" is a header that belongs to the connection'
    style = "content" if "content" in given else given.get("style", STYLES[place][0])
    if style not in STYLES[place]:
        return f'its parameter "{name}" has the style {style} in its {place}, which is not sent'
    return None


def _parameter(given: dict[str, Json], others: Collection[str]) -> ApiParameter:
    name, place = given["name"], given["in"]
    key = re.sub(r"[^\w.-]", "_", name, flags=re.ASCII)[:LONGEST_NAME] or "_"
    explode = given.get("explode", place == "query") is True
    free = _free(key, f"{key}_{place}"[-LONGEST_NAME:], others)
    return ApiParameter(free, name, place, explode, given.get("style") == DEEP)


def _free(name: str, other: str, taken: Collection[str]) -> str:
    """A name, or the other one if it is taken, with as many ``_`` as make it free."""
    if name in taken:
        name = other
    while name in taken:
        name += "_"
    return name


def _parameters(
    document: ApiDocument, item: dict[str, Json], operation: dict[str, Json], at: str
) -> list[dict[str, Json]]:
    """The parameters of a path and of its operation, which replace those of the same name."""
    found: dict[tuple[Any, Any], dict[str, Json]] = {}
    for given in (item.get("parameters") or [], operation.get("parameters") or []):
        for index, each in enumerate(given):
            parameter = document.followed(each, f"{at}.parameters[{index}]")
            found[parameter.get("name"), parameter.get("in")] = parameter
    return list(found.values())


@frozen
class ApiKey:
    """A key as requests carry it.

    Attributes:
        place, name: where it is sent: query or header, and its name there.
        value: the text.
    """

    place: str
    name: str
    value: str = field(repr=False)
    _hidden: Hidden = field(repr=False, eq=False)


def read_keys(api: ApiDocument, keys: Mapping[str, str]) -> dict[str, ApiKey]:
    """The keys of schemes, which are named with their environment variables.

    Raises:
        ArgumentError: a name is no string.
        ConfigurationError: a scheme or a variable does not exist, or cannot be used.
    """
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


def keys_for(
    security: Sequence[Sequence[str]], keys: Mapping[str, ApiKey]
) -> tuple[tuple[ApiKey, ...], tuple[str, ...]]:
    """The keys that an operation is called with, and the schemes that a key is missing for.

    Args:
        security: sets of schemes, of which one is enough.
        keys: the keys that were given.
    """
    if not security:
        return (), ()
    chosen = min(security, key=lambda each: (len({*each} - keys.keys()), -len(each)))
    sent = tuple(keys[name] for name in chosen if name in keys)
    return sent, tuple(name for name in chosen if name not in keys)


def _key(scheme: dict[str, Json], value: str) -> ApiKey | None:
    kind, how = scheme.get("type"), str(scheme.get("scheme", "")).lower()
    if kind == "apiKey":
        place, name = str(scheme.get("in")), scheme.get("name")
        if place not in ("query", "header") or not isinstance(name, str):
            return None
        if place == "header" and not TOKEN.fullmatch(name):
            return None
        return ApiKey(place, name, value, hide(value, quote(value, safe="")))
    if kind == "http" and how == "basic":
        encoded = base64.b64encode(value.encode()).decode()
        hidden = hide(value, encoded, value.partition(":")[2])
        return ApiKey("header", "Authorization", f"Basic {encoded}", hidden)
    if kind in ("oauth2", "openIdConnect") or (kind == "http" and how == "bearer"):
        return ApiKey("header", "Authorization", f"Bearer {value}", hide(value))
    return None
