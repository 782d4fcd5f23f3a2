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
_WRITTEN_AS: Final = {"application/*": JSON, "*/*": JSON, "text/*": "text/plain"}


@frozen
class ApiBody:
    """The body of an operation.

    Attributes:
        key: the argument that is the body.
        media_type, schema: its kind, and its schema as the document has it.
        fields: how the fields of a form are written, where the document says it.
    """

    key: str
    media_type: str
    schema: Json
    fields: dict[str, ApiParameter]


def read_body(document: ApiDocument, request: dict[str, Json], key: str, at: str) -> ApiBody | None:
    """The body of a request, in the first kind that a model can write; None if there is none.

    Raises:
        ConfigurationError: a field has a style that is not sent, or the document has a fault there.
    """
    content = request.get("content") or {}
    kind, media_type = _kind(content)
    if not kind:
        return None
    media = content[kind] or {}
    schema: Json = media.get("schema", {})
    fields = {
        name: _field(document, name, given, at)
        for name, given in (media.get("encoding") or {}).items()
        if media_type == FORM and given.keys() & {"style", "explode", "allowReserved"}
    }
    return ApiBody(key, media_type, schema, fields)


def why_no_body(request: dict[str, Json]) -> str:
    """What is said of a body of which no kind is sent."""
    kinds = ", ".join(request.get("content") or {}) or "nothing"
    return f"its body is {kinds}, which is not sent"


def content_of(body: ApiBody, value: Json) -> bytes:
    """A body as it is sent.

    Raises:
        ToolError: a field cannot be written in its style.
    """
    if body.media_type == FORM:
        pairs = [pair for name, one in _items(value) for pair in _in_form(body, name, one)]
        return "&".join(f"{name}={one}" for name, one in pairs).encode()
    return (plain(value) if body.media_type.startswith("text/") else write_json(value)).encode()


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
    for kind in (JSON, *json_like, "application/*", "*/*", FORM, *texts):
        if kind in kinds:
            return kinds[kind], _WRITTEN_AS.get(kind, kind)
    return "", ""
