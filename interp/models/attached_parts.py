"""The parts of a request that files are sent as, in each dialect that takes them.

What a user attached and cannot be sent is an error before the request. What a tool returned and
cannot be sent is told in words, in its result: the run goes on.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from typing import Final, TypeAlias

from ..errors import ConfigurationError
from ..files import File
from ..json_text import Json
from ..machine import Message

PartOf: TypeAlias = Callable[[File], Json]
"""Makes the part of a request that a file is sent as; a ConfigurationError if it cannot be sent."""


def parts_of_result(message: Message, part_of: PartOf) -> tuple[str, list[Json]]:
    """What a tool said, with what is told of files that cannot be sent; and the parts of others."""
    said, parts = [message.content], list[Json]()
    for file in message.attachments:
        try:
            parts.append(part_of(file))
        except ConfigurationError as error:
            said.append(f"[{str(error).partition(HINT)[0]}]")
    return "\n".join(said), parts


def chat_part(file: File) -> Json:
    """The part of a file in Chat Completions.

    Raises:
        ConfigurationError: it cannot be sent so.
    """
    if file.kind == "picture":
        return {"type": "image_url", "image_url": {"url": _url(file)}}
    if file.content is None:
        reason = "Chat Completions takes only pictures by their addresses"
        raise _not_sent(file, reason, "attach the file itself, or ask with --dialect responses")
    if file.kind == "sound":
        sound = {"data": _base64(file.content), "format": file.sound_format}
        return {"type": "input_audio", "input_audio": sound}
    return {"type": "file", "file": {"filename": file.filename, "file_data": _url(file)}}


def responses_part(file: File) -> Json:
    """The part of a file in the Responses API.

    Raises:
        ConfigurationError: it cannot be sent so.
    """
    if file.kind == "picture":
        return {"type": "input_image", "image_url": _url(file)}
    if file.kind == "sound":
        reason = "the Responses API takes no sound"
        raise _not_sent(file, reason, "ask a model that hears with --dialect tools")
    if file.content is None:
        return {"type": "input_file", "file_url": file.address}
    return {"type": "input_file", "filename": file.filename, "file_data": _url(file)}


def no_part_in_functions(file: File) -> Json:
    """A file in the older dialect of Chat Completions.

    Raises:
        ConfigurationError: always.
    """
    raise _not_sent(file, "the dialect functions takes no files", "write --dialect tools")


def no_part(file: File) -> Json:
    """A file of a tool, for a model that refuses these.

    Raises:
        ConfigurationError: always.
    """
    raise _not_sent(file, "the model or its server does not take it", "choose another with --model")


HINT: Final = "\n  hint: "


def _not_sent(file: File, reason: str, hint: str) -> ConfigurationError:
    """What is told of a file that cannot be sent."""
    return ConfigurationError(f"{file} cannot be sent: {reason}{HINT}{hint}")


def _url(file: File) -> str:
    """The address of a file, or one that holds its bytes."""
    if file.content is None:
        return file.address or ""
    return f"data:{file.media_type};base64,{_base64(file.content)}"


def _base64(content: bytes) -> str:
    return b64encode(content).decode()
