"""How values are written in requests: the styles that OpenAPI takes from RFC 6570.

What separates values is never part of one: it is escaped, or the value is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final
from unicodedata import normalize
from urllib.parse import quote, unquote_to_bytes

from attrs import frozen

from ...errors import ToolError
from ...json_text import Json, write_json

STYLES: Final = {
    "path": ("simple",),
    "query": ("form", "deepObject"),
    "header": ("simple",),
    "cookie": ("form",),
}
"""The styles of each place that are sent; the first is the default."""

TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""What names of headers and cookies consist of (RFC 9110)."""

_RESERVED: Final = ":/?[]@!$'()*;"
"""Characters that ``allowReserved`` leaves as they are; those that separate parts are escaped."""

_MOST_DECODINGS: Final = 8
_SLASHES: Final = re.compile(r"[/\\\u2044\u2215\u2216\u29f5\u29f8]")
_ENDS: Final = re.compile(r"[;?#]")
"""What ends a part of a path, for some servers after they have decoded it."""

_CODE: Final = re.compile(rb"%u([0-9a-f]{4})", re.IGNORECASE)


@frozen
class ApiParameter:
    """A parameter of an operation, or a field of a form.

    Attributes:
        key: its name as the model knows it.
        name, place: its name in the request, and where it is: path, query, header or cookie.
        style, explode: how lists and objects are written; style ``json`` writes any value as JSON.
        allow_reserved: whether reserved characters in a query stay as they are.
    """

    key: str
    name: str
    place: str
    style: str
    explode: bool
    allow_reserved: bool = False


def plain(value: Json) -> str:
    """A value as text; what has parts is JSON."""
    return value if isinstance(value, str) else write_json(value)


def in_path(parameter: ApiParameter, value: Json) -> str:
    """A value as a part of a path.

    Raises:
        ToolError: it would be another path.
    """
    if parameter.style == "json":
        text = _escaped(plain(value))
    else:
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
    """A value as names and values of a query or a form, escaped.

    Raises:
        ToolError: a value has what its style puts between values.
    """
    name = _escaped(parameter.name)
    safe = _RESERVED if parameter.allow_reserved else ""
    if parameter.style == "deepObject" and isinstance(value, dict | list):
        members = dict(value.items() if isinstance(value, dict) else enumerate(value))
        _expect_none_in(parameter, "[]", [*map(str, members)])
        if any(isinstance(one, dict | list) for one in members.values()):
            raise ToolError(f'"{parameter.key}" is sent as single values: one of it has parts')
        names = {key: _escaped(f"{parameter.name}[{key}]") for key in members}
        return [(names[key], quote(plain(one), safe)) for key, one in members.items()]
    if parameter.style == "json" or not isinstance(value, dict | list):
        return [(name, quote(plain(value), safe))]
    if parameter.explode:
        if isinstance(value, list):
            return [(name, quote(plain(one), safe)) for one in value]
        return [(_escaped(key), quote(plain(one), safe)) for key, one in value.items()]
    return [(name, ",".join(quote(one, safe) for one in _parts(value)))]


def in_header(parameter: ApiParameter, value: Json) -> str:
    """A value as a header.

    Raises:
        ToolError: it is not printable ASCII, or a value has what separates values.
    """
    if parameter.style == "json" or not isinstance(value, dict | list):
        text = plain(value)
    else:
        separators = ",=" if parameter.explode and isinstance(value, dict) else ","
        _expect_none_in(parameter, separators, _parts(value))
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


def _expect_none_in(parameter: ApiParameter, separators: Iterable[str], parts: list[str]) -> None:
    """Refuse values that have what separates values and cannot be escaped there."""
    for each in separators:
        if any(each in one for one in parts):
            raise ToolError(
                f'"{parameter.key}" is sent with {each} between its values: '
                "one that has it too cannot be sent"
            )
