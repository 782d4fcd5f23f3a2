"""Pictures, documents and sound that a user attaches to a message."""

from __future__ import annotations

import mimetypes
import os
import re
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, Final, Literal, TypeAlias, Union
from urllib.parse import urlsplit

from attrs import frozen

from gram.documents import resolved
from gram.errors import expect
from gram.json import Json

from .errors import ValidationError
from .secrets import without_userinfo

MOST_BYTES: Final = 20_000_000
"""How many bytes a file may have; providers take about as many."""

Kind: TypeAlias = Literal["picture", "sound", "document"]
"""What a file is to a model."""

_OTHER_ADDRESS: Final = re.compile(r"data:|[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_MEDIA_TYPE: Final = re.compile(r"[a-z]+/[a-z0-9*][a-z0-9.+_-]*")


@cache
def _types() -> dict[str, Any]:
    import tomllib  # imported late: few messages have files

    return tomllib.loads(Path(__file__).with_name("media_types.toml").read_text("utf-8"))


@frozen(init=False, repr=False)
class File:
    """A picture, a document or sound that is attached to a message: read when it is made.

    An address is passed on to the model's server as it is, and never opened here.

    Args:
        source: the path of a file, its bytes, or an address (``https://…`` or ``http://…``).
        name: its name for the model; that of the path unless given.
        media_type: what it is, such as ``image/png``; told from the bytes and the name unless
            given. An address that does not tell is taken for that of a picture.

    Attributes:
        content: the bytes; None for an address.
        address: the address, or None.

    Raises:
        OSError: the file cannot be read.
        ValidationError: it is empty, has more than 20 MB, or is of a type that no model takes.

    >>> note = File(b"Buy milk.", "note.txt")
    >>> note.media_type, note.kind
    ('text/plain', 'document')
    """

    content: bytes | None
    address: str | None
    name: str | None
    media_type: str

    def __init__(
        self,
        source: Union[str, os.PathLike[str], bytes],
        name: str | None = None,
        media_type: str | None = None,
    ) -> None:
        expect(source, (str, os.PathLike, bytes), "source", by="File")
        expect(name, (str, type(None)), "name", by="File")
        expect(media_type, (str, type(None)), "media_type", by="File")
        content = address = None
        if isinstance(source, bytes):
            content = source
        elif isinstance(source, str) and is_address(source):
            address = source
        elif isinstance(source, str) and _OTHER_ADDRESS.match(source):
            scheme = source.partition(":")[0]
            raise ValidationError(
                f"this {scheme}: address cannot be attached: File takes bytes, a path, or an "
                "address that begins with https:// or http:// and names a host"
            )
        else:
            path = Path(source)
            resolved(path)  # refuses what is no path
            name = path.name if name is None else name
            with path.open("rb") as file:
                content = file.read(MOST_BYTES + 1)
        shown = name or (address and shown_address(address)) or "the file"
        if content is not None and not content:
            raise ValidationError(f"{shown} is empty: there is nothing to attach")
        if content and len(content) > MOST_BYTES:
            most = MOST_BYTES // 1_000_000
            raise ValidationError(f"{shown} has more than {most} MB: no request can carry it")
        path_name = address and PurePosixPath(urlsplit(address).path).name
        found = media_type or _type_of(content, name or path_name)
        found = found.partition(";")[0].strip().lower()
        found = _types()["same"].get(found, found)
        if not _kind_of(found):
            raise ValidationError(
                f"{shown} is {found or 'of an unknown type'}: models take pictures (PNG, JPEG, "
                "GIF, WebP), PDF, text and office documents, and sound (WAV, MP3)\n"
                "  hint: File(…, media_type=…) says what it is"
            )
        self.__attrs_init__(content, address, name, found)

    @property
    def kind(self) -> Kind:
        """What it is to a model."""
        kind = _kind_of(self.media_type)
        assert kind, "it was checked when it was made"
        return kind

    @property
    def sound_format(self) -> str:
        """The name of the type of sound in requests; "" for what is no sound."""
        sounds: dict[str, str] = _types()["sounds"]
        return sounds.get(self.media_type.removeprefix("audio/"), "")

    @cached_property
    def sha256(self) -> str:
        """The hash of the bytes, by which they are kept once; "" for an address."""
        return "" if self.content is None else sha256(self.content).hexdigest()

    @property
    def filename(self) -> str:
        """A name in any case: servers want one."""
        return self.name or f"file{mimetypes.guess_extension(self.media_type) or ''}"

    def to_json(self) -> dict[str, Json]:
        """What it is as a JSON object, without its bytes."""
        return {
            "name": self.name,
            "media_type": self.media_type,
            "address": self.address,
            "bytes": None if self.content is None else len(self.content),
            "sha256": self.sha256 or None,
        }

    def __str__(self) -> str:
        """What it is for people, in a few words.

        >>> str(File(b"Buy milk.", "note.txt"))
        'note.txt (text/plain, 9 bytes)'
        """
        if self.content is None:
            return f"{shown_address(self.address or '')} ({self.media_type})"
        return f"{self.filename} ({self.media_type}, {len(self.content):,} bytes)"

    def __repr__(self) -> str:
        return f"<File {self}>"


def is_address(text: str) -> bool:
    """Whether a text is an address that requests can be sent to.

    >>> is_address("http://localhost:8000/v1"), is_address("localhost:8000")
    (True, False)
    """
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:  # unclosed brackets, or a port that is not a number
        return False
    if " " in text or not text.isprintable():  # `urlsplit` drops some of these characters
        return False
    return parts.scheme in ("http", "https") and host != "" and host.isascii() and port != 0


def shown_address(address: str) -> str:
    """An address without what may be secret in it: user, password and query."""
    return re.split("[?#]", without_userinfo(address), maxsplit=1)[0]


def _kind_of(media_type: str) -> Kind | None:
    """What files of a type are to a model; None if no model takes them."""
    if not _MEDIA_TYPE.fullmatch(media_type):
        return None
    family, _, exact = media_type.partition("/")
    if family == "image" and exact in _types()["pictures"]:
        return "picture"
    if family == "audio" and exact in _types()["sounds"]:
        return "sound"
    is_document = family in ("text", "application") and media_type != "application/octet-stream"
    return "document" if is_document else None


def _type_of(content: bytes | None, name: str | None) -> str:
    """The type of a file, as its bytes or its name tell; "" if neither does."""
    suffix = PurePosixPath(name or "").suffix.lower()
    by_name: str = _types()["suffixes"].get(suffix) or mimetypes.guess_type(f"x{suffix}")[0] or ""
    if content is None:
        return by_name or "image/*"
    for beginning, media_type in _types()["beginnings"].items():
        if re.match(beginning.encode(), content):
            return str(media_type)
    if not _is_text(content) or by_name.startswith(("text/", "application/")):
        return by_name
    return "text/plain"


def _is_text(content: bytes) -> bool:
    try:
        return "\0" not in content.decode()
    except UnicodeDecodeError:
        return False
