"""What a tool of an MCP server answers, as the result of a tool."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from gram.plurals import counted

from ...errors import ToolError, ValidationError
from ...files import File
from ...json_text import Json, write_json
from ...secrets import without_keys
from ..invocation import ToolResult
from .untrusted import cut, said, visible

if TYPE_CHECKING:
    from mcp.types import CallToolResult, ContentBlock

MOST_ANSWERED: Final = 1_000_000
"""How many characters a result may have."""

_PDF: Final = "application/pdf"


def result_of(answer: CallToolResult) -> Json | ToolResult:
    """The structured content of an answer, or else its texts; and the files that are in it.

    An image, a sound or a file stands in the text as words with its type and size. A text that is
    too long is cut, and says so.

    Raises:
        ToolError: the tool failed, or its structured content is too long.
    """
    if answer.is_error:
        raise ToolError(said(_text(answer.content)) or "the server says no reason")
    value, files = _value(answer), tuple(_files(answer.content))
    return ToolResult(write_json(value), files) if files else value


def _value(answer: CallToolResult) -> Json:
    if answer.structured_content is not None:
        length = len(write_json(answer.structured_content))
        if length > MOST_ANSWERED:
            raise ToolError(f"the result has {length} characters of JSON, over {MOST_ANSWERED}")
        return answer.structured_content
    text = _text(answer.content)
    if len(text) <= MOST_ANSWERED:
        return text
    return cut(without_keys(text), MOST_ANSWERED)  # else half a key could be left


def _files(content: list[ContentBlock]) -> Iterator[File]:
    """The pictures, sounds and PDF files among some parts that models take."""
    for part in content:
        match part.type:
            case "image" | "audio":
                data, name, kind = part.data, "", part.mime_type
            case "resource" if (blob := getattr(part.resource, "blob", None)) is not None:
                name = PurePosixPath(visible(str(part.resource.uri))).name
                data, kind = blob, part.resource.mime_type or ""
            case _:
                continue
        try:
            file = File(b64decode(data, validate=True), name or None, kind or None)
        except (ValueError, ValidationError):  # the words say what it is
            continue
        if file.kind != "document" or file.media_type == _PDF:
            yield file


def _text(content: list[ContentBlock]) -> str:
    return "\n".join(_part(each) for each in content)


def _part(part: ContentBlock) -> str:
    match part.type:
        case "text":
            return part.text
        case "image" | "audio":
            return f"[{part.type}: {visible(part.mime_type)}, {counted(_size(part.data), 'byte')}]"
        case "resource_link":
            size = f", {counted(part.size, 'byte')}" if part.size is not None else ""
            kind = f", {visible(part.mime_type)}" if part.mime_type else ""
            return f"[link: {visible(part.uri)}{kind}{size}]"
    resource = part.resource
    if (text := getattr(resource, "text", None)) is not None:
        return f"[file: {visible(resource.uri)}]\n{text}"
    kind = visible(resource.mime_type or "unknown type")
    size = counted(_size(getattr(resource, "blob", "")), "byte")
    return f"[file: {visible(resource.uri)}, {kind}, {size}]"


def _size(data: str) -> int:
    """The number of bytes that a text in base64 stands for."""
    return len(data) * 3 // 4 - data[-2:].count("=")
