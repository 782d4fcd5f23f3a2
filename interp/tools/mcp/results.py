"""What a tool of an MCP server answers, as the result of a tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gram import counted

from ...errors import ToolError
from ...json_text import Json, write_json
from ...secrets import without_keys
from .untrusted import cut, said, visible

if TYPE_CHECKING:
    from mcp.types import CallToolResult, ContentBlock

MOST_ANSWERED: Final = 1_000_000
"""How many characters a result may have."""


def result_of(answer: CallToolResult) -> Json:
    """The structured content of an answer, or else its texts.

    Images, sounds and files become a reference with their type and size. A text that is too long
    is cut, and says so.

    Raises:
        ToolError: the tool failed, or its structured content is too long.
    """
    if answer.is_error:
        raise ToolError(said(_text(answer.content)) or "the server says no reason")
    if answer.structured_content is not None:
        length = len(write_json(answer.structured_content))
        if length > MOST_ANSWERED:
            raise ToolError(f"the result has {length} characters of JSON, over {MOST_ANSWERED}")
        return answer.structured_content
    text = _text(answer.content)
    if len(text) <= MOST_ANSWERED:
        return text
    return cut(without_keys(text), MOST_ANSWERED)  # else half a key could be left


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
