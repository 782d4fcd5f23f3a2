"""OpenAPI documents: read from a file, an address or a mapping, with their references."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urljoin

from attrs import frozen

from gram.display import visible
from gram.documents import decode
from gram.extras import install
from lenses_ext.schemas import MissingYamlError, NotJson, read_yaml, resolve_ref

from ...errors import ConfigurationError
from ...json_text import Json, read_json, write_json

METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_MOST_BYTES: Final = 50_000_000
_MOST_STEPS: Final = 20  # references that lead to references
_LONGEST_SHOWN: Final = 200  # characters of a document in a message


@frozen
class ApiDocument:
    """A document of OpenAPI 3.0, 3.1 or 3.2.

    Attributes:
        root: the whole document.
        place: where it was read from, for messages.
        address: its own address, which servers may be relative to, or None.
    """

    root: dict[str, Json]
    place: str
    address: str | None

    @property
    def is_3_0(self) -> bool:
        """Whether its schemas are in the dialect of OpenAPI 3.0."""
        return str(self.root["openapi"]).startswith("3.0")

    def followed(self, value: Json, path: str) -> dict[str, Json]:
        """An object of the document, behind its references.

        Raises:
            ConfigurationError: a reference leads nowhere or out of the document, or it is none.
        """
        for _ in range(_MOST_STEPS):
            if not isinstance(value, dict):
                raise self.fault(path, f"expected an object, found {type(value).__name__}")
            if "$ref" not in value:
                return value
            value = self.referred(value["$ref"], path)
        raise self.fault(path, "its references lead in a circle")

    def referred(self, reference: Json, path: str) -> Json:
        """What a reference names.

        Raises:
            ConfigurationError: it leads nowhere, or out of the document.
        """
        if not isinstance(reference, str) or not reference.startswith("#"):
            hint = "bundle its files into one, for example with redocly bundle"
            said = f'"$ref" to {reference!r} is not in this document'
            raise self.fault(path, f"{said}\n  hint: {hint}")
        found = resolve_ref(reference, self.root)
        if found is None:
            raise self.fault(path, f'"$ref" to {reference!r} leads nowhere')
        return found

    def fault(self, path: str, reason: str) -> ConfigurationError:
        """The error about a part of the document."""
        return ConfigurationError(visible(f"{self.place}: {path}: {reason}"))

    def servers(self, given: Json, path: str) -> list[str]:
        """The addresses in a list of servers; variables have their defaults.

        Raises:
            ConfigurationError: it is no such list.
        """
        if not isinstance(given, list):
            raise self.fault(path, f"expected a list, found {type(given).__name__}")
        found = []
        for index, each in enumerate(given):
            at = f"{path}[{index}]"
            server = self.followed(each, at)
            url = str(server.get("url", ""))
            for name, variable in self.followed(server.get("variables") or {}, at).items():
                url = url.replace(f"{{{name}}}", str(self.followed(variable, at).get("default")))
            found.append(urljoin(self.address, url) if self.address else url)
        return found

    def operations(self) -> Iterator[tuple[str, str, dict[str, Json], Json]]:
        """The path, method, path item and operation of all operations.

        Raises:
            ConfigurationError: the paths are no object.
        """
        for path, given in self.followed(self.root.get("paths") or {}, "$.paths").items():
            if path.startswith("/"):
                item = self.followed(given, f'$.paths["{path}"]')
                yield from (
                    (path, method, item, item[method]) for method in METHODS if method in item
                )


def read_document(
    document: Mapping[str, Json] | str | Path, fetch: Callable[[str, int], bytes]
) -> ApiDocument:
    """Read a document: a mapping, a file of JSON or YAML, or an address that begins with http.

    Args:
        document: the document.
        fetch: gets what is at an address, and refuses more than so many bytes.

    Raises:
        OSError: a file cannot be read.
        ConfigurationError: it cannot be fetched or read, or is no document of OpenAPI 3.
    """
    place, address, form = "the document", None, "JSON"
    try:
        if isinstance(document, Mapping):
            root = read_json(write_json(dict(document)))
        else:
            place = str(document)
            if is_address(place):
                address, data = place, fetch(place, _MOST_BYTES)
            else:
                data = _bytes_of(Path(document))
            text = decode(data, place)
            is_yaml = place.lower().endswith((".yaml", ".yml"))
            form = "JSON" if text.lstrip()[:1] == "{" and not is_yaml else "YAML"
            root = read_json(text) if form == "JSON" else read_json(write_json(read_yaml(text)))
    except MissingYamlError:
        hint = f"YAML needs the package pyyaml: {install('openapi')}"
        raise ConfigurationError(f"{place}: {hint}") from None
    except (NotJson, ValueError, TypeError, RecursionError) as error:
        raise ConfigurationError(f"{place}: not {form}: {visible(str(error))}") from None
    if not isinstance(root, dict):
        raise ConfigurationError(f"{place}: expected a document of OpenAPI, found {_kind(root)}")
    version = root.get("openapi")
    if not isinstance(version, str) or not version.startswith(("3.0", "3.1", "3.2")):
        raise ConfigurationError(f"{place}: {_why_not_read(root)}")
    return ApiDocument(root, place, address)


def _bytes_of(path: Path) -> bytes:
    with path.open("rb") as file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise ConfigurationError(f"{path}: more than {_MOST_BYTES:,} bytes")
    return data


_NOT_READ: Final = {
    "swagger": ("Swagger {}", "convert it, for example with swagger2openapi"),
    "asyncapi": ("AsyncAPI {}", "it describes messages, which are no calls"),
    "openapi": ("openapi: {!r}", 'write it as a text, such as "3.0.3"; 3.0, 3.1 and 3.2 are read'),
}


def _why_not_read(root: dict[str, Json]) -> str:
    """Why an object is no document of OpenAPI 3."""
    found = f"an object with {', '.join(map(str, [*root][:5])) or 'nothing'}"
    hint = "a document has the key openapi"
    if key := next((key for key in _NOT_READ if key in root), None):
        words, hint = _NOT_READ[key]
        found = words.format(root[key])
    return f"expected OpenAPI 3, found {visible(found[:_LONGEST_SHOWN])}\n  hint: {hint}"


def _kind(value: Json) -> str:
    return {list: "a list", str: "a text", type(None): "nothing"}.get(type(value), "a number")


def is_address(given: str) -> bool:
    """Whether a text is an address of http or https, and no file."""
    return given.lower().startswith(("http://", "https://"))
