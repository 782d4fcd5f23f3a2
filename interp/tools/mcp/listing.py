"""The tools that a server lists and what they answer, checked before anything uses them.

What servers say is untrusted: invisible characters are shown, and long texts are cut.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final
from unicodedata import category, normalize

from gram import display
from gram.words import counted

from ...errors import ConfigurationError, ToolError, ValidationError
from ...files import File
from ...json_text import Json, write_json
from ...secrets import known_keys, without_keys
from ...shown import visible_text
from ..implementation import ToolResult

if TYPE_CHECKING:
    from mcp import Client, types
    from mcp.types import CallToolResult, ContentBlock

MOST_TOOLS: Final = 2_000
MOST_PAGES: Final = 500
LONGEST_NAME: Final = 128
LONGEST_DESCRIPTION: Final = 50_000
MOST_ANSWERED: Final = 1_000_000  # characters of a result
MOST_SAID: Final = 2_000  # characters of a message of a server that are shown
LONGEST_MESSAGE: Final = 16 * 1024 * 1024  # bytes of an answer over HTTP
TOO_LONG: Final = f"the answer has more than {LONGEST_MESSAGE:,} bytes"


async def listed_tools(client: Client, server: str) -> dict[str, types.Tool]:
    """All tools of a server, which may list none twice, by name."""
    from pydantic import ValidationError

    found: dict[str, types.Tool] = {}
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        try:
            page = await client.list_tools(cursor=cursor, cache_mode="bypass")
        except ValidationError as error:
            raise ConfigurationError(f"{server} lists a broken tool: {fault_in(error)}") from None
        for tool in map(_without_keys, page.tools):
            name = tool.name
            if name in found:
                raise ConfigurationError(f'{server} lists the tool "{visible(name)}" twice')
            _require_sane(tool, server)
            found[name] = tool
        if len(found) > MOST_TOOLS:
            raise ConfigurationError(f"{server} lists more than {MOST_TOOLS} tools")
        cursor = page.next_cursor
        if cursor is None:
            return found
    raise ConfigurationError(f"{server} lists its tools on more than {MOST_PAGES} pages")


def _without_keys(tool: types.Tool) -> types.Tool:
    """What a server lists comes in, too: programs are written of it, and models are told."""
    keys = known_keys()
    if keys is None:
        return tool
    listed = tool.model_dump_json(by_alias=True, exclude_unset=True)
    clean = keys.without_in_json(listed)
    return tool if clean == listed else type(tool).model_validate_json(clean)


def _require_sane(tool: types.Tool, server: str) -> None:
    name = tool.name
    is_seen = name == name.strip() and name == visible_text(name)
    if not name or len(name) > LONGEST_NAME or not is_seen or "/" in name:
        shown = said(visible_text(name[: 2 * LONGEST_NAME]), LONGEST_NAME)
        raise ConfigurationError(
            f'{server} lists a tool with the name "{shown}": names have 1 to '
            f"{LONGEST_NAME} characters that are visible, and no slash"
        )
    if len(tool.description or "") > LONGEST_DESCRIPTION:
        raise ConfigurationError(
            f'{server}: the description of the tool "{name}" has '
            f"{len(tool.description or '')} characters, over {LONGEST_DESCRIPTION}"
        )


def result_of(answer: CallToolResult) -> Json | ToolResult:
    """The structured content of an answer, or else its texts; and the files that are in it.

    An image, a sound or a file stands in the text as words with its type and size. A text that is
    too long is cut, and says so; structured content that is too long is a ToolError.
    """
    parts = [_part(each) for each in answer.content]
    text = "\n".join(words for words, _ in parts)
    if answer.is_error:
        raise ToolError(said(text) or "the server says no reason")
    files, result = tuple(file for _, file in parts if file), answer.structured_content
    if result is None:
        # without keys first, else half a key could be left
        result = text if len(text) <= MOST_ANSWERED else cut(without_keys(text), MOST_ANSWERED)
    elif (length := len(write_json(result))) > MOST_ANSWERED:
        raise ToolError(f"the result has {length} characters of JSON, over {MOST_ANSWERED}")
    return ToolResult(write_json(result), files) if files else result


def _part(part: ContentBlock) -> tuple[str, File | None]:
    """A part of an answer in words, and as a file if it is one that models take."""
    match part.type:
        case "text":
            return part.text, None
        case "resource_link":
            size = f", {counted(part.size, 'byte')}" if part.size is not None else ""
            kind = f", {visible(part.mime_type)}" if part.mime_type else ""
            return f"[link: {visible(part.uri)}{kind}{size}]", None
        case "image" | "audio":
            data, kind, name, what = part.data, part.mime_type, "", f"{part.type}: "
        case _:
            uri, kind = visible(part.resource.uri), part.resource.mime_type or ""
            if (text := getattr(part.resource, "text", None)) is not None:
                return f"[file: {uri}]\n{text}", None
            data, name = getattr(part.resource, "blob", ""), PurePosixPath(uri).name
            what = f"file: {uri}, "
    size = counted(len(data) * 3 // 4 - data[-2:].count("="), "byte")  # of base64
    words = f"[{what}{visible(kind or 'unknown type')}, {size}]"
    try:
        file = File(b64decode(data, validate=True), name or None, kind or None)
    except (ValueError, ValidationError):  # the words say what it is
        return words, None
    is_taken = file.kind != "document" or file.media_type == "application/pdf"
    return words, file if is_taken else None


def visible(text: str) -> str:
    """The text with its harmful characters, and half ones, as escapes.

    >>> visible("a\\x1b[2Jb\\r\\nc")
    'a\\\\x1b[2Jb\\nc'
    """
    plain = text.replace("\r\n", "\n").encode(errors="backslashreplace").decode()
    return display.visible(plain)


def said(text: str, most: int = MOST_SAID) -> str:
    """What a server says, as a message shows it: visible, cut, and without keys."""
    return cut(visible(without_keys(text)[: 2 * most]).strip(), most, len(text))


def fault_in(error: Any, *path: str) -> str:
    """What pydantic found wrong below a path: the part, and the reason."""
    first = error.errors(include_url=False)[0]
    return said(f"{'.'.join([*path, *map(str, first['loc'])]) or 'it'}: {first['msg']}")


def cut(text: str, most: int, length: int | None = None) -> str:
    """The beginning of a text, and how much of it is left out.

    >>> cut("abcdef", 4)
    'abcd [… 2 more characters]'
    """
    left_out = max(len(text), length or 0) - most
    return f"{text[:most]} [… {counted(left_out, 'more character')}]" if left_out > 0 else text


_LOOKS_LIKE: Final = str.maketrans(
    "авгеікмнорстухѕјԁԛԝһӏьёїґҽпүѵѡαβγεζηικλμνορστυχωϲϳցհյոսօզքլաթ"
    "ɑɡɩıſʟɴʀꜱᴀᴄᴇᴋᴍᴏᴘᴛᴜᴠᴡᴢɾƒǀΑΒΕΖΗΙΚΜΝΟΡΤΥΧᎠᎬᎻᎫᏦᏞᎷᏢᏚᎢᏙᎳᏃ",
    "abreikmhopctyxsjdqwhlbeirenyvwabyezniklmvopctuxwcjghjnuoqplwp"
    "agiislnrsacekmoptuvwzrflabezhikmnoptyxdehjklmpstvwz",
)
"""Letters of other alphabets, from Cyrillic to Cherokee, and the letters that they pass for."""

_ALIKE: Final = str.maketrans("01|i", "olll")
_BETWEEN: Final = ("Pc", "Pd", "Zs")  # dashes, underscores and blanks


def look_alikes(names: Iterable[str]) -> list[tuple[str, str]]:
    """The names that look like one before them, each with that one.

    Case, width, accents, dashes and blanks, and letters of other alphabets make no difference.

    >>> look_alikes(["pay", "Pay", "раy", "ｐａｙ", "buy"])
    [('Pay', 'pay'), ('раy', 'pay'), ('ｐａｙ', 'pay')]
    """
    first: dict[str, str] = {}
    found = []
    for name in names:
        other = first.setdefault(_looks(name), name)
        if other != name:
            found.append((name, other))
    return found


def _looks(name: str) -> str:
    plain = normalize("NFKD", normalize("NFKC", name).translate(_LOOKS_LIKE).casefold())
    kinds = ((char, category(char)) for char in plain)
    letters = "".join("_" if kind in _BETWEEN else char for char, kind in kinds if kind != "Mn")
    alike = letters.translate(_LOOKS_LIKE).translate(_ALIKE)
    return alike.replace("rn", "m").replace("vv", "w").replace("cl", "d")
