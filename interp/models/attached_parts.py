"""The parts of a request that files are sent as, in each dialect that takes them."""

from __future__ import annotations

from base64 import b64encode

from ..errors import ConfigurationError
from ..files import File
from ..json_text import Json
from ..machine import Message


def chat_parts(message: Message) -> list[Json]:
    """The content of a user's message with files, in Chat Completions.

    Raises:
        ConfigurationError: a file cannot be sent so.
    """
    return [{"type": "text", "text": message.content}, *map(_chat_part, message.attachments)]


def _chat_part(file: File) -> Json:
    if file.kind == "picture":
        return {"type": "image_url", "image_url": {"url": _url(file)}}
    if file.content is None:
        reason = "Chat Completions takes only pictures by their addresses"
        raise not_sent(file, reason, "attach the file itself, or ask with --dialect responses")
    if file.kind == "sound":
        sound = {"data": _base64(file.content), "format": file.sound_format}
        return {"type": "input_audio", "input_audio": sound}
    return {"type": "file", "file": {"filename": file.filename, "file_data": _url(file)}}


def responses_parts(message: Message) -> list[Json]:
    """The content of a user's message with files, in the Responses API.

    Raises:
        ConfigurationError: a file cannot be sent so.
    """
    said = {"type": "input_text", "text": message.content}
    return [said, *map(_responses_part, message.attachments)]


def _responses_part(file: File) -> Json:
    if file.kind == "picture":
        return {"type": "input_image", "image_url": _url(file)}
    if file.kind == "sound":
        reason = "the Responses API takes no sound"
        raise not_sent(file, reason, "ask a model that hears with --dialect tools")
    if file.content is None:
        return {"type": "input_file", "file_url": file.address}
    return {"type": "input_file", "filename": file.filename, "file_data": _url(file)}


def not_sent(file: File, reason: str, hint: str) -> ConfigurationError:
    """What is told of a file that a dialect has no form for."""
    return ConfigurationError(f"{file} cannot be sent: {reason}\n  hint: {hint}")


def _url(file: File) -> str:
    """The address of a file, or one that holds its bytes."""
    if file.content is None:
        return file.address or ""
    return f"data:{file.media_type};base64,{_base64(file.content)}"


def _base64(content: bytes) -> str:
    return b64encode(content).decode()
