"""The parts of a request that files are sent as, in each dialect that takes them.

What a user attached and cannot be sent is an error before the request. What a tool returned and
cannot be sent is told in words, in its result: the run goes on.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any, Final

from ..errors import ConfigurationError, ValidationError
from ..files import File, is_address
from ..json_text import Json
from ..machine import Message
from .providers import Dialect


def parts_of_result(message: Message, dialect: Dialect, with_files: bool) -> tuple[str, list[Json]]:
    """What a tool said, with what is told of files that cannot be sent; and the parts of others."""
    said, parts = [message.content], list[Json]()
    for file in message.attachments:
        try:
            if not with_files:
                raise _not_sent(file, "the model or its server does not take it", "")
            parts.append(part_of(file, dialect))
        except ConfigurationError as error:
            said.append(f"[{str(error).splitlines()[0]}]")
    return "\n".join(said), parts


def part_of(file: File, dialect: Dialect) -> Json:
    """The part of a request that a file is sent as; a ConfigurationError if it cannot be sent."""
    match dialect, file.kind:
        case "functions", _:
            raise _not_sent(file, "the dialect functions takes no files", "write --dialect tools")
        case "tools", "picture":
            return {"type": "image_url", "image_url": {"url": _url(file)}}
        case "tools", _ if file.content is None:
            reason = "Chat Completions takes only pictures by their addresses"
            raise _not_sent(file, reason, "attach the file itself, or ask with --dialect responses")
        case "tools", "sound":
            sound = {"data": _url(file).partition(",")[2], "format": file.sound_format}
            return {"type": "input_audio", "input_audio": sound}
        case "tools", _:
            return {"type": "file", "file": {"filename": file.filename, "file_data": _url(file)}}
        case _, "picture":
            return {"type": "input_image", "image_url": _url(file)}
        case _, "sound":
            hint = "ask a model that hears with --dialect tools"
            raise _not_sent(file, "the Responses API takes no sound", hint)
    if file.content is None:
        return {"type": "input_file", "file_url": file.address}
    return {"type": "input_file", "filename": file.filename, "file_data": _url(file)}


def file_of_part(part: Mapping[str, Any]) -> File:
    """The file that a part of a request is, in either dialect; no path is ever opened.

    >>> file_of_part(part_of(File(b"Buy milk.", "note.txt"), "tools"))
    <File note.txt (text/plain, 9 bytes)>
    """
    match part:
        case (
            {"type": "image_url", "image_url": {"url": str(url)}}
            | {"type": "input_image", "image_url": str(url)}
            | {"type": "input_file", "file_url": str(url)}
        ):
            return _file_at(url)
        case {"type": "input_audio", "input_audio": {"data": str(data), "format": str(kind)}}:
            return _file_at(f"data:audio/{kind};base64,{data}")
        case {"type": "file", "file": {"file_data": str(url), **more}} | {
            "type": "input_file",
            "file_data": str(url),
            **more,
        }:
            return _file_at(url, more.get("filename"))
    raise ValidationError(
        f"a part of type {part.get('type')} is not taken: expected text, or a picture, a document "
        "or sound with its bytes or address"
    )


_DATA: Final = re.compile(
    r"data:([a-z]+/[a-z0-9.+*_-]+)(?:;[a-z-]+=[^;,]*)*;base64,", re.IGNORECASE
)


def _file_at(url: str, name: object = None) -> File:
    """The file at an address, or the one that an address holds."""
    name = name if isinstance(name, str) else None
    if is_address(url):
        return File(url, name)
    found = _DATA.match(url)
    if found is None:
        raise ValidationError("a file comes as data:TYPE;base64,…, or at an https:// address")
    try:
        content = b64decode(url[found.end() :], validate=True)
    except ValueError:
        raise ValidationError("the bytes of a file are not base64") from None
    return File(content, name, found[1])


def _not_sent(file: File, reason: str, hint: str) -> ConfigurationError:
    return ConfigurationError(f"{file} cannot be sent: {reason}\n  hint: {hint}")


def _url(file: File) -> str:
    """The address of a file, or one that holds its bytes."""
    if file.content is None:
        return file.address or ""
    return f"data:{file.media_type};base64,{b64encode(file.content).decode()}"
