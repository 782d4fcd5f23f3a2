"""Bodies of requests: which kinds are sent, and what is in them."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from attrs import frozen

from ...json_text import Json, write_json
from .document import ApiDocument
from .styles import STYLES, ApiParameter, in_query, plain

JSON: Final = "application/json"
FORM: Final = "application/x-www-form-urlencoded"
MULTIPART: Final = "multipart/form-data"
_WRITTEN_AS: Final = {"application/*": JSON, "*/*": JSON, "text/*": "text/plain"}


@frozen
class ApiBody:
    """The body of an operation.

    Attributes:
        key: the argument that is the body.
        media_type, schema: its kind, and its schema as the document has it.
        fields: how the fields of a form are written, where the document says it.
        unsent: the optional parts that are not sent, in words.
    """

    key: str
    media_type: str
    schema: Json
    fields: dict[str, ApiParameter]
    unsent: tuple[str, ...]


def read_body(document: ApiDocument, request: dict[str, Json], key: str, at: str) -> ApiBody | None:
    """The body of a request, in the first kind that a model can write; None if there is none.

    Raises:
        ConfigurationError: a required part of it is a file, a field has a style that is not sent,
            or the document has a fault there.
    """
    content = request.get("content") or {}
    kind, media_type = _kind(content)
    if not kind:
        return None
    media = content[kind] or {}
    schema: Json = media.get("schema", {})
    unsent: list[str] = []
    if media_type == MULTIPART:
        schema, unsent = _without_files(document, schema, at)
    fields = {
        name: _field(document, name, given, at)
        for name, given in (media.get("encoding") or {}).items()
        if media_type == FORM and given.keys() & {"style", "explode", "allowReserved"}
    }
    return ApiBody(key, media_type, schema, fields, tuple(unsent))


def why_no_body(request: dict[str, Json]) -> str:
    """What is said of a body of which no kind is sent."""
    kinds = ", ".join(request.get("content") or {}) or "nothing"
    return f"its body is {kinds}, which is not sent"


def content_of(body: ApiBody, value: Json) -> bytes:
    """A body of any kind but `MULTIPART`, as it is sent.

    Raises:
        ToolError: a field cannot be written in its style.
    """
    if body.media_type == FORM:
        pairs = [pair for name, one in _items(value) for pair in _in_form(body, name, one)]
        return "&".join(f"{name}={one}" for name, one in pairs).encode()
    return (plain(value) if body.media_type.startswith("text/") else write_json(value)).encode()


def parts_of(value: Json) -> list[tuple[str, tuple[None, bytes, str | None]]]:
    """The parts of a `MULTIPART` body, as `httpx2` takes them; a list is a part for each item."""
    found: list[tuple[str, tuple[None, bytes, str | None]]] = []
    for name, given in _items(value):
        for one in given if isinstance(given, list) else [given]:
            kind = JSON if isinstance(one, dict | list) else None
            found.append((name, (None, plain(one).encode(), kind)))
    return found


def _items(value: Json) -> list[tuple[str, Json]]:
    return [*value.items()] if isinstance(value, dict) else []


def _in_form(body: ApiBody, name: str, value: Json) -> list[tuple[str, str]]:
    if name in body.fields:
        return in_query(body.fields[name], value)
    values = value if isinstance(value, list) else [value]
    return [(quote(name, safe=""), quote(plain(one), safe="")) for one in values]


def _field(document: ApiDocument, name: str, given: dict[str, Json], at: str) -> ApiParameter:
    style = given.get("style", "form")
    if style not in STYLES["query"]:
        raise document.fault(at, f'the field "{name}" of its body has a style that is not sent')
    explode = given.get("explode", style == "form") is True
    return ApiParameter(name, name, "query", style, explode, given.get("allowReserved") is True)


def _kind(content: dict[str, Json]) -> tuple[str, str]:
    """The key of the kind that is sent, and its media type; empty if none can be."""
    kinds = {each.split(";")[0].strip().lower(): each for each in content}
    json_like = [each for each in kinds if each.endswith("+json")]
    texts = [each for each in kinds if each.startswith("text/") and not each.endswith("xml")]
    for kind in (JSON, *json_like, "application/*", "*/*", FORM, MULTIPART, *texts):
        if kind in kinds:
            return kinds[kind], _WRITTEN_AS.get(kind, kind)
    return "", ""


def _without_files(document: ApiDocument, schema: Json, at: str) -> tuple[Json, list[str]]:
    """The schema of a form without its optional files, and what is said of these.

    Raises:
        ConfigurationError: a file is required.
    """
    whole = document.followed(schema, at)
    properties = whole.get("properties") or {}
    files = [name for name, each in properties.items() if _is_file(document, each, at)]
    for name in files:
        if name in (whole.get("required") or ()):
            raise document.fault(at, f'its body has the file "{name}", which is not sent')
    if not files:
        return schema, []
    kept = {name: each for name, each in properties.items() if name not in files}
    said = [f'the file "{name}" of its body is not sent' for name in files]
    return {**whole, "properties": kept}, said


def _is_file(document: ApiDocument, schema: Json, at: str) -> bool:
    if not isinstance(schema, dict):
        return False
    schema = document.followed(schema, at)
    if "items" in schema:
        return _is_file(document, schema["items"], at)
    is_media = "contentMediaType" in schema and "contentEncoding" not in schema
    return schema.get("format") == "binary" or is_media
