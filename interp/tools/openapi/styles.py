"""How values are written in requests: the usual styles that OpenAPI takes from RFC 6570.

What separates values is never part of one: it is escaped, or the value is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final
from unicodedata import normalize
from urllib.parse import quote, unquote_to_bytes

from attrs import field, frozen

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
        name, place: its name in the request, and where it is: path, query, header or body. The
            name of a body is its media type.
        explode, is_deep: how lists and objects are written.
        fields: how fields of a form are written, if not as a query is by default.
    """

    key: str
    name: str
    place: str
    explode: bool
    is_deep: bool = False
    fields: Mapping[str, ApiParameter] = field(factory=dict)


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
        plain_codes = _CODE.sub(lambda found: chr(int(found[1], 16)).encode(errors="ignore"), raw)
        decoded = unquote_to_bytes(plain_codes)
        if decoded == raw:
            return False
        raw = decoded
    return True  # nobody writes this but to hide something


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


_JSON: Final = "application/json"
_FORM: Final = "application/x-www-form-urlencoded"
_WRITTEN_AS: Final = {"application/*": _JSON, "*/*": _JSON, "text/*": "text/plain"}


def read_body(content: dict[str, Json], key: str) -> tuple[ApiParameter | str, Json]:
    """The body of a request in the first kind that a model can write, and its schema.

    In place of the body are the reasons in words where no kind can be sent.
    """
    kinds = {each.split(";")[0].strip().lower(): each for each in content}
    json_like = [each for each in kinds if each.endswith("+json")]
    texts = [each for each in kinds if each.startswith("text/") and not each.endswith("xml")]
    wanted = (_JSON, *json_like, "application/*", "*/*", _FORM, *texts)
    kind = next((each for each in wanted if each in kinds), None)
    if kind is None:
        return f"its body is {', '.join(content) or 'nothing'}, which is not sent", None
    media = content[kinds[kind]] or {}
    fields = {}
    for name, given in (media.get("encoding") or {}).items() if kind == _FORM else ():
        style = given.get("style", "form")
        if style not in STYLES["query"]:
            return f'"{name}" in its form has the style {style}, which is not sent', None
        explode = given.get("explode", True) is True
        fields[name] = ApiParameter(name, name, "query", explode, style == DEEP)
    made = ApiParameter(key, _WRITTEN_AS.get(kind, kind), "body", False, fields=fields)
    return made, media.get("schema", {})


def in_body(body: ApiParameter, value: Json) -> bytes:
    """A body as it is sent."""
    if body.name == _FORM:
        given = value if isinstance(value, dict) else {}
        usual = {name: ApiParameter(name, name, "query", explode=True) for name in given}
        fields = {**usual, **body.fields}
        pairs = (pair for name, one in given.items() for pair in in_query(fields[name], one))
        return "&".join(map("=".join, pairs)).encode()
    return (plain(value) if body.name.startswith("text/") else write_json(value)).encode()
