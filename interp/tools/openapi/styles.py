"""How values are written in requests: the usual styles that OpenAPI takes from RFC 6570.

What separates values is never part of one: it is escaped, or the value is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final
from unicodedata import normalize
from urllib.parse import quote, unquote_to_bytes

from attrs import frozen

from ...errors import ToolError
from ...json_text import Json, write_json

DEEP: Final = "deepObject"
"""The style in which each value has the names that lead to it: ``filter[from]=1``."""

STYLES: Final = {"path": ("simple",), "query": ("form", DEEP), "header": ("simple",)}
"""The styles of each place that are sent; the first is the default."""

TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""What names of headers and cookies consist of (RFC 9110)."""

_MOST_DECODINGS: Final = 8
_SLASHES: Final = re.compile(r"[/\\\u2044\u2215\u2216\u29f5\u29f8]")
_ENDS: Final = re.compile(r"[;?#]")
"""What ends a part of a path, for some servers after they have decoded it."""

_CODE: Final = re.compile(rb"%u([0-9a-f]{4})", re.IGNORECASE)


@frozen
class ApiParameter:
    """A parameter of an operation.

    Attributes:
        key: its name as the model knows it.
        name, place: its name in the request, and where it is: path, query or header.
        explode, is_deep: how lists and objects are written.
    """

    key: str
    name: str
    place: str
    explode: bool
    is_deep: bool = False


def plain(value: Json) -> str:
    """A value as text; what has parts is JSON."""
    return value if isinstance(value, str) else write_json(value)


def in_path(parameter: ApiParameter, value: Json) -> str:
    """A value as a part of a path.

    Raises:
        ToolError: it would be another path.
    """
    text = _joined(value, parameter.explode, _escaped)
    if not text:
        raise ToolError(f'"{parameter.key}" is part of a path and cannot be empty')
    parts = _parts(value) if isinstance(value, dict | list) else [plain(value)]
    if any(map(has_dots, (text, *parts))):
        said = f'"{parameter.key}" is part of a path, and has a . or .. that leads elsewhere'
        raise ToolError(said)
    return text


def has_dots(path: str) -> bool:
    """Whether a part of a path is ``.`` or ``..`` to a server that decodes it, however often.

    Blanks are left out, as some servers leave them out.

    >>> has_dots("a/%252e%252E/b"), has_dots("..%5Cb"), has_dots("a..b/.c")
    (True, True, False)
    """
    raw = path.encode(errors="replace")
    for _ in range(_MOST_DECODINGS):
        try:
            text = normalize("NFKC", raw.decode())
        except UnicodeDecodeError:
            return True  # it may be a dot in more bytes than it needs, which old servers take
        parts = (_ENDS.split(each)[0] for each in _SLASHES.split(text.replace("\u3002", ".")))
        seen = (
            "".join(char for char in part if char > " " and char.isprintable()) for part in parts
        )
        if any(part in (".", "..") for part in seen):
            return True
        decoded = unquote_to_bytes(_CODE.sub(_of_code, raw))
        if decoded == raw:
            return False
        raw = decoded
    return True  # nobody writes this but to hide something


def _of_code(found: re.Match[bytes]) -> bytes:
    return chr(int(found[1], 16)).encode(errors="ignore")


def in_query(parameter: ApiParameter, value: Json) -> list[tuple[str, str]]:
    """A value as names and values of a query, escaped."""
    if parameter.is_deep:
        return [*_deep_pairs(parameter.name, value)]
    name = _escaped(parameter.name)
    if not isinstance(value, dict | list):
        return [(name, _escaped(plain(value)))]
    if not parameter.explode:
        return [(name, ",".join(map(_escaped, _parts(value))))]
    if isinstance(value, list):
        return [(name, _escaped(plain(one))) for one in value]
    return [(_escaped(key), _escaped(plain(one))) for key, one in value.items()]


def _deep_pairs(name: str, value: Json) -> Iterator[tuple[str, str]]:
    if not isinstance(value, dict | list):
        yield _escaped(name), _escaped(plain(value))
        return
    for key, one in value.items() if isinstance(value, dict) else enumerate(value):
        yield from _deep_pairs(f"{name}[{key}]", one)


def in_header(parameter: ApiParameter, value: Json) -> str:
    """A value as a header.

    Raises:
        ToolError: it is not printable ASCII, or a value has what separates values.
    """
    if isinstance(value, dict | list):
        separators = ",=" if parameter.explode and isinstance(value, dict) else ","
        if any(each in one for each in separators for one in _parts(value)):
            raise ToolError(
                f'"{parameter.key}" is sent with {" and ".join(separators)} between its values: '
                "one that has it too cannot be sent"
            )
    text = _joined(value, parameter.explode, str)
    if not text.isprintable() or not text.isascii() or text != text.strip():
        raise ToolError(f'"{parameter.key}" is a header: write printable ASCII')
    return text


def _escaped(text: str) -> str:
    return quote(text, safe="")


def _parts(value: Json) -> list[str]:
    """The items of a list, or the keys and values of an object, one after the other."""
    if isinstance(value, dict):
        return [part for key, one in value.items() for part in (key, plain(one))]
    return [plain(one) for one in value]


def _joined(value: Json, explode: bool, written: Callable[[str], str]) -> str:
    """A value as one text; an object that explodes has ``=`` between key and value."""
    if isinstance(value, dict) and explode:
        return ",".join(f"{written(key)}={written(plain(one))}" for key, one in value.items())
    if isinstance(value, dict | list):
        return ",".join(map(written, _parts(value)))
    return written(plain(value))


JSON: Final = "application/json"
FORM: Final = "application/x-www-form-urlencoded"
_WRITTEN_AS: Final = {"application/*": JSON, "*/*": JSON, "text/*": "text/plain"}


@frozen
class ApiBody:
    """The body of an operation.

    Attributes:
        key: the argument that is the body.
        media_type, schema: its kind, and its schema as the document has it.
        deep: the fields of a form whose style is `DEEP`.
    """

    key: str
    media_type: str
    schema: Json
    deep: frozenset[str] = frozenset()


def read_body(request: dict[str, Json], key: str) -> ApiBody | None:
    """The body of a request, in the first kind that a model can write; None if there is none."""
    content = request.get("content") or {}
    kind, media_type = _kind(content)
    if not kind:
        return None
    media = content[kind] or {}
    styles = _styles_of_fields(media) if media_type == FORM else {}
    if not {*styles.values()} <= {*STYLES["query"]}:
        return None
    deep = frozenset(name for name, style in styles.items() if style == DEEP)
    return ApiBody(key, media_type, media.get("schema", {}), deep)


def _styles_of_fields(form: dict[str, Json]) -> dict[str, str]:
    return {
        name: given.get("style", "form") if given.get("explode", True) else "joined"
        for name, given in (form.get("encoding") or {}).items()
    }


def why_no_body(request: dict[str, Json]) -> str:
    """What is said of a body of which no kind is sent."""
    content = request.get("content") or {}
    if _kind(content)[0]:
        return "a field of its form has a style that is not sent"
    return f"its body is {', '.join(content) or 'nothing'}, which is not sent"


def content_of(body: ApiBody, value: Json) -> bytes:
    """A body as it is sent; in a form, a list is a field for each of its values."""
    if body.media_type == FORM:
        pairs: list[tuple[str, str]] = []
        for name, one in value.items() if isinstance(value, dict) else ():
            if name in body.deep:
                pairs += _deep_pairs(name, one)
            else:
                several = one if isinstance(one, list) else [one]
                pairs += [(_escaped(name), _escaped(plain(each))) for each in several]
        return "&".join(map("=".join, pairs)).encode()
    return (plain(value) if body.media_type.startswith("text/") else write_json(value)).encode()


def _kind(content: dict[str, Json]) -> tuple[str, str]:
    """The key of the kind that is sent, and its media type; empty if none can be."""
    kinds = {each.split(";")[0].strip().lower(): each for each in content}
    json_like = [each for each in kinds if each.endswith("+json")]
    texts = [each for each in kinds if each.startswith("text/") and not each.endswith("xml")]
    for kind in (JSON, *json_like, "application/*", "*/*", FORM, *texts):
        if kind in kinds:
            return kinds[kind], _WRITTEN_AS.get(kind, kind)
    return "", ""
