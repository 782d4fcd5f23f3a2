"""Converts files that are attached to messages to patterns and back.

.. code-block:: text

    (:File {bytes: base64`iVBORw0…`, name: "chart.png", type: "image/png"})
    (:File {name: "chart.png", sha256: "9f3c…", type: "image/png"})
    (:File {address: "https://example.com/chart.png", type: "image/png"})

The bytes are written once in a conversation, and in a run. Where the same come again, their hash
stands for them. Reading opens nothing: an address stays an address.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from typing import Any, Final

from gram import Pattern, TaggedString

from ...errors import ValidationError
from ...files import File, is_address
from ...machine import Event, State, ToolReturned
from .nodes import node
from .pattern_parts import Reader, write_text

FILE: Final = "File"
BASE64: Final = "base64"
_KEYS: Final = ("address", "bytes", "name", "sha256", "type")


def files_to_patterns(files: Iterable[File], written: set[str]) -> Iterator[Pattern]:
    """Convert files to patterns.

    Args:
        files: the files.
        written: the hashes of those whose bytes are written before; new ones are added.
    """
    for file in files:
        properties: dict[str, Any] = {"type": file.media_type}
        if file.name is not None:
            properties["name"] = write_text(file.name)
        if file.content is None:
            properties["address"] = file.address
        elif file.sha256 in written:
            properties["sha256"] = file.sha256
        else:
            properties["bytes"] = TaggedString(BASE64, b64encode(file.content).decode())
            written.add(file.sha256)
        yield node(FILE, properties)


def file_from_pattern(pattern: Pattern, known: dict[str, bytes]) -> File:
    """Read a file.

    Args:
        pattern: its pattern.
        known: the bytes that were read before, by their hashes; new ones are added.

    Raises:
        ValidationError: the pattern is no file, or its bytes are nowhere before it.
    """
    read = Reader(pattern, FILE, _KEYS)
    read.without_elements()
    if sum(map(read.has, ("address", "bytes", "sha256"))) != 1:
        read.refuse("ill-formed", f"a {FILE} has either bytes, their sha256 or an address")
    source: str | bytes
    if read.has("address"):
        source = read.text("address")
        if not is_address(source):
            read.refuse("ill-typed", "an address begins with http:// or https://", "address")
    elif read.has("sha256"):
        if (digest := read.text("sha256")) not in known:
            read.refuse("no-bytes", "no file before this one has these bytes", "sha256")
        source = known[digest]
    else:
        source = _bytes(read)
    try:
        name = read.text("name") if read.has("name") else None
        file = File(source, name, read.text("type"))
    except ValidationError as error:
        read.refuse("no-file", str(error).partition("\n")[0])
    if file.content is not None:
        known[file.sha256] = file.content
    return file


def contents(state: State, events: Iterable[Event] = ()) -> dict[str, bytes]:
    """The bytes of the files that a run was begun with, or that came since, by their hashes.

    Args:
        state: a State of the run.
        events: what has happened since.
    """
    given = (file for each in state.beginning.context for file in each.attachments)
    returned = (file for each in events if isinstance(each, ToolReturned) for file in each.files)
    files = (*given, *returned)
    return {each.sha256: each.content for each in files if each.content is not None}


def _bytes(read: Reader) -> bytes:
    value = read.properties["bytes"]
    if isinstance(value, TaggedString) and value.tag == BASE64:
        try:
            return b64decode(value.content, validate=True)
        except ValueError:
            pass
    read.refuse("ill-typed", f"bytes of {FILE} must be {BASE64}`…`", "bytes")
