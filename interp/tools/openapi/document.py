"""OpenAPI documents, their references and schemas, and what is called of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final
from urllib.parse import urljoin

from attrs import field, frozen

from gram.display import visible
from gram.documents import decode
from gram.extras import install
from lenses_ext.schemas import MissingYamlError, NotJson, read_yaml, resolve_ref

from ...errors import ConfigurationError, ValidationError
from ...files import is_address
from ...json_text import Json, read_json, write_json
from ...machine.contracts import from_openapi_schema
from ...secrets import Hidden

METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_MOST_BYTES: Final = 50_000_000
_MOST_STEPS: Final = 20  # references that lead to references
LONGEST_NAME: Final = 64  # characters of the name of a tool or a parameter
_LONGEST_SHOWN: Final = 200  # characters of a document in a message


@frozen
class ApiDocument:
    """A document of OpenAPI 3.0, 3.1 or 3.2, and where it is; servers may be relative to it."""

    root: dict[str, Json]
    place: str
    address: str | None
    # How its operations are called, see `openapi_library`.
    server: str | None = None
    hosts: Collection[str] | None = None
    keys: Mapping[str, ApiKey] = field(factory=dict)
    seconds: float = 30.0
    max_bytes: int = 1_000_000

    def followed(self, value: Json, path: str) -> dict[str, Json]:
        """An object of the document, behind its references; anything else is a fault."""
        found = self.behind(value, path)
        if not isinstance(found, dict):
            raise self.fault(path, f"expected an object, found {type(found).__name__}")
        return found

    def behind(self, value: Json, path: str) -> Json:
        """What a part of the document is, behind its references."""
        for _ in range(_MOST_STEPS):
            if not isinstance(value, dict) or "$ref" not in value:
                return value
            value = self.referred(value["$ref"], path)
        raise self.fault(path, "its references lead in a circle")

    def referred(self, reference: Json, path: str) -> Json:
        """What a reference names; one that leads nowhere, or out of the document, is a fault."""
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

    def operations(self) -> Iterator[Found]:
        """All operations, as the document has them."""
        for path, given in self.followed(self.root.get("paths") or {}, "$.paths").items():
            if path.startswith("/"):
                item = self.followed(given, f'$.paths["{path}"]')
                yield from (Found(self, path, method, item) for method in METHODS if method in item)


@frozen
class Found:
    """An operation as it stands in a document: the method of an item, which is at a path."""

    api: ApiDocument
    path: str
    method: str
    item: dict[str, Json]

    @property
    def at(self) -> str:
        """Where it is, for messages."""
        return f'$.paths["{self.path}"].{self.method}'

    def fault(self, reason: str) -> ConfigurationError:
        """The error about it."""
        return self.api.fault(self.at, reason)

    def followed(self, value: Json, below: str = "") -> dict[str, Json]:
        """An object of it, behind its references; anything else is a fault."""
        return self.api.followed(value, self.at + below)

    @property
    def operation(self) -> dict[str, Json]:
        """What the document says of it."""
        return self.followed(self.item[self.method])

    def servers(self) -> list[str]:
        """The addresses that it says, or the document; variables have their defaults."""
        places = self.operation, self.item, self.api.root
        given: Json = next((s for each in places if (s := each.get("servers"))), [{"url": "/"}])
        if not (isinstance(given, list) and all(isinstance(each, dict) for each in given)):
            raise self.fault("its servers are not a list of objects")
        found = []
        for server in given:
            url = str(server.get("url", ""))
            for name, variable in (server.get("variables") or {}).items():
                url = url.replace(f"{{{name}}}", str(variable.get("default")))
            found.append(urljoin(self.api.address, url) if self.api.address else url)
        return found

    @property
    def id(self) -> str:
        """What the document calls it: its ``operationId``, or its method and path."""
        operation = self.item[self.method]
        given = operation.get("operationId") if isinstance(operation, dict) else None
        if isinstance(given, str) and given.strip():
            return given
        return "_".join([self.method, *re.findall(r"\w+", self.path)])

    @property
    def name(self) -> str:
        """Its name as a tool: models take letters, digits, _ and - in it.

        >>> api = ApiDocument({}, "pets.json", None)
        >>> Found(api, "/pets/{id}", "get", {"get": {}}).name
        'get_pets_id'
        >>> Found(api, "/pets", "get", {"get": {"operationId": "pets/list-all"}}).name
        'pets_list-all'
        """
        name = re.sub(r"[^\w-]", "_", self.id, flags=re.ASCII)
        if len(name) <= LONGEST_NAME:
            return name
        return f"{name[: LONGEST_NAME - 9]}_{sha256(name.encode()).hexdigest()[:8]}"


def read_document(
    document: Mapping[str, Json] | str | Path, fetch: Callable[[str, int], bytes]
) -> ApiDocument:
    """Read a document: a mapping, a file of JSON or YAML, or what is fetched from an address.

    A document that is not OpenAPI 3 is a ConfigurationError, a file that cannot be read an OSError.
    """
    place, address, form = "the document", None, "JSON"
    try:
        if isinstance(document, Mapping):
            root = read_json(write_json(dict(document)))
        else:
            place = str(document)
            address = place if is_address(place) else None
            data = fetch(place, _MOST_BYTES) if address else Path(document).read_bytes()
            text = decode(data, place)
            is_yaml = place.lower().endswith((".yaml", ".yml"))
            form = "JSON" if text.lstrip()[:1] == "{" and not is_yaml else "YAML"
            root = read_json(text) if form == "JSON" else read_json(write_json(read_yaml(text)))
    except MissingYamlError:
        hint = f"YAML needs the package pyyaml: {install('openapi')}"
        raise ConfigurationError(f"{place}: {hint}") from None
    except (NotJson, ValueError, TypeError, RecursionError) as error:
        raise ConfigurationError(f"{place}: not {form}: {visible(str(error))}") from None
    version = root.get("openapi") if isinstance(root, dict) else None
    if not isinstance(version, str) or not version.startswith(("3.0", "3.1", "3.2")):
        expected = 'expected a document with "openapi": "3.0.3", or up to 3.2'
        found = visible(write_json(root)[:_LONGEST_SHOWN])
        is_swagger = isinstance(root, dict) and "swagger" in root
        hint = "\n  hint: Swagger 2 is converted by swagger2openapi" if is_swagger else ""
        raise ConfigurationError(f"{place}: {expected}, found {found}{hint}")
    return ApiDocument(root, place, address)


_ONLY_IN_DOCUMENTS: Final = {"xml", "externalDocs", "discriminator"}
_OF_VALUES: Final = {"enum", "const", "default", "examples", "example"}


class Schemas:
    """The schemas of one operation, as JSON Schema."""

    def __init__(self, operation: Found) -> None:
        self._operation = operation
        self._names: dict[str, str] = {}  # by what refers to them

    def definitions(self) -> dict[str, Json]:
        """What the schemas refer to, and what that refers to, by name."""
        made: dict[str, Json] = {}
        api = self._operation.api
        while missing := {ref: name for ref, name in self._names.items() if name not in made}:
            for reference, name in missing.items():
                made[name] = self.json_schema(api.referred(reference, self._operation.at))
        return made

    def json_schema(self, schema: Json) -> dict[str, Json]:
        """A schema of the document as JSON Schema, without what only answers have."""
        if schema is True or schema is None:
            return {}
        try:
            is_3_0 = str(self._operation.api.root["openapi"]).startswith("3.0")
            made = from_openapi_schema(schema) if is_3_0 else schema
        except ValidationError as error:
            raise self._operation.fault(f"a schema: {error}") from None
        found: dict[str, Json] = self._of_a_call(made)
        return found

    def _of_a_call(self, schema: Json) -> Json:
        if isinstance(schema, list):
            return [self._of_a_call(each) for each in schema]
        if not isinstance(schema, dict):
            return schema
        own = schema.get("properties")
        fields = own if isinstance(own, dict) else {}
        made: dict[str, Json] = {}
        for key, value in schema.items():
            if key == "$ref" and isinstance(value, str):
                made[key] = f"#/$defs/{self._name_of(value)}"
            elif key == "required" and isinstance(value, list):
                made[key] = [name for name in value if not _is_read_only(fields.get(name))]
            elif key == "properties" and isinstance(value, dict):
                sent = {name: one for name, one in fields.items() if not _is_read_only(one)}
                made[key] = {name: self._of_a_call(one) for name, one in sent.items()}
            elif key not in _ONLY_IN_DOCUMENTS:
                made[key] = value if key in _OF_VALUES else self._of_a_call(value)
        return made

    def _name_of(self, reference: str) -> str:
        """The name of what a reference leads to, among the definitions."""
        if reference not in self._names:
            name = re.sub(r"\W", "_", reference.rpartition("/")[2], flags=re.ASCII) or "root"
            while name in self._names.values():
                name += "_"
            self._names[reference] = name
        return self._names[reference]


def _is_read_only(schema: Json) -> bool:
    return isinstance(schema, dict) and schema.get("readOnly") is True


# --- what is called

FORM: Final = "application/x-www-form-urlencoded"


@frozen
class ApiParameter:
    """A parameter of an operation, or its body."""

    key: str  # its name as the model knows it
    name: str  # its name in the request; that of a body is its media type
    place: str  # path, query, header or body
    explode: bool = True  # a query has the items of a list one by one
    is_deep: bool = False  # values in a query have the names that lead to them: ``filter[from]=1``
    fields: Mapping[str, ApiParameter] = field(factory=dict)  # of a form, how they are written


@frozen
class ApiKey:
    """A key as requests carry it, in a query or a header."""

    place: str
    name: str
    value: str = field(repr=False)
    _hidden: Hidden = field(repr=False, eq=False)


@frozen
class Operation:
    """An operation, ready to be called: at a server that is allowed, with its keys."""

    method: str
    path: str
    parameters: Sequence[ApiParameter]  # and the body among them
    server: str
    keys: Sequence[ApiKey]
    missing: Sequence[str]  # the schemes that a key is missing for
    seconds: float
    max_bytes: int
