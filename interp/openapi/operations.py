"""Operations as tools: their names, descriptions, and the schemas of their parameters."""

from __future__ import annotations

import re
from typing import Any, Final

from attrs import frozen

from gram import visible

from ..contracts import from_openapi_schema
from ..json_text import Json
from .document import ApiDocument

_LONGEST_NAME: Final = 64
_PLACES: Final = ("path", "query", "header")
_NOT_PARAMETERS: Final = {"accept", "content-type", "authorization"}
"""Headers that OpenAPI leaves to other parts of a document."""

JSON_BODY: Final = "application/json"
FORM_BODY: Final = "application/x-www-form-urlencoded"


@frozen
class ApiParameter:
    """A parameter of an operation.

    Attributes:
        key: its name as the model knows it.
        name, place: its name in the request, and where it is: path, query or header.
        style, explode: how lists and objects are written; style ``json`` writes any value as JSON.
    """

    key: str
    name: str
    place: str
    style: str
    explode: bool


@frozen
class Operation:
    """An operation, ready to be called.

    Attributes:
        name, description, schema: those of the tool.
        method, path: the request.
        parameters: the parameters that are not in the body.
        body: the key of the argument that is the body, or None; and its media type.
        servers: the addresses of its servers, or of the document's.
        security: the names of the schemes that it is called with.
    """

    name: str
    description: str
    schema: dict[str, Json]
    method: str
    path: str
    parameters: tuple[ApiParameter, ...]
    body: str | None
    media_type: str
    servers: tuple[str, ...]
    security: tuple[str, ...]


def operation_id(path: str, method: str, operation: Json) -> str:
    """What a document calls an operation: its ``operationId``, or its method and path."""
    given = operation.get("operationId") if isinstance(operation, dict) else None
    if isinstance(given, str) and given.strip():
        return given
    return "_".join([method, *re.findall(r"\w+", path)])


def operation_name(path: str, method: str, operation: Json) -> str:
    """The name of an operation as a tool: models take letters, digits, _ and - in it.

    >>> operation_name("/pets/{id}", "get", {})
    'get_pets_id'
    >>> operation_name("/pets", "get", {"operationId": "pets/list-all"})
    'pets_list-all'
    """
    said = operation_id(path, method, operation)
    return re.sub(r"[^\w-]", "_", said, flags=re.ASCII)[:_LONGEST_NAME]


def read_operation(
    document: ApiDocument, path: str, method: str, item: dict[str, Json], given: Json
) -> Operation:
    """Read one operation.

    Raises:
        ConfigurationError: the document has a fault there, or it takes something that a model
            cannot write.
    """
    at = f'$.paths["{path}"].{method}'
    try:
        return _read(document, path, method, item, document.followed(given, at), at)
    except (AttributeError, TypeError, ValueError, RecursionError) as error:
        # A part is of another type than OpenAPI gives it: any of them may be, at any depth.
        raise document.fault(at, f"it is not written as OpenAPI has it: {error}") from None


def _read(
    document: ApiDocument,
    path: str,
    method: str,
    item: dict[str, Json],
    operation: dict[str, Json],
    at: str,
) -> Operation:
    schemas = _Schemas(document, at)
    properties: dict[str, Json] = {}
    required: list[str] = []
    parameters = []
    for given in _parameters(document, item, operation, at):
        name, place = given.get("name"), given.get("in")
        if not isinstance(name, str) or not isinstance(place, str):
            raise document.fault(at, "a parameter has no name or no place (in)")
        if place == "header" and name.lower() in _NOT_PARAMETERS:
            continue
        if place not in _PLACES:
            if given.get("required"):
                raise document.fault(at, f'its parameter "{name}" is a {place}')
            continue
        key = name if name not in properties else f"{name}_{place}"
        properties[key] = schemas.of_parameter(given)
        if given.get("required") or place == "path":
            required.append(key)
        default = "form" if place == "query" else "simple"
        style = "json" if "content" in given else given.get("style", default)
        explode = given.get("explode", style == "form")
        parameters.append(ApiParameter(key, name, place, style, explode))
    media_type, body = "", None
    if "requestBody" in operation:
        request = document.followed(operation["requestBody"], f"{at}.requestBody")
        media_type, schema = _body_of(request)
        if media_type:
            body = "body" if "body" not in properties else "request_body"
            properties[body] = schemas.json_schema(schema)
            if request.get("description") and "description" not in properties[body]:
                properties[body]["description"] = request["description"]
            if request.get("required"):
                required.append(body)
        elif request.get("required"):
            kinds = ", ".join(request.get("content") or {}) or "nothing"
            raise document.fault(at, f"its body is {kinds}, which is not sent")
    root: dict[str, Json] = {"type": "object", "properties": properties, "required": required}
    if definitions := schemas.definitions:
        root["$defs"] = definitions
    in_path = {each.name for each in parameters if each.place == "path"}
    if missing := {*re.findall(r"{([^}]*)}", path)} - in_path:
        raise document.fault(at, f"no parameter is declared for {{{min(missing)}}} in its path")
    servers = operation.get("servers") or item.get("servers") or document.root.get("servers")
    return Operation(
        operation_name(path, method, operation),
        _description(path, method, item, operation),
        root,
        method.upper(),
        path,
        tuple(parameters),
        body,
        media_type,
        tuple(document.servers(servers or [{"url": "/"}], f"{at}.servers")),
        _security(document, operation),
    )


def _parameters(
    document: ApiDocument, item: dict[str, Json], operation: dict[str, Json], at: str
) -> list[dict[str, Json]]:
    """The parameters of a path and of its operation, which replace those of the same name."""
    found: dict[tuple[Any, Any], dict[str, Json]] = {}
    for given in (item.get("parameters") or [], operation.get("parameters") or []):
        for index, each in enumerate(given):
            parameter = document.followed(each, f"{at}.parameters[{index}]")
            found[parameter.get("name"), parameter.get("in")] = parameter
    return list(found.values())


def _description(path: str, method: str, item: dict[str, Json], operation: dict[str, Json]) -> str:
    texts = [str(operation.get(key) or "").strip() for key in ("summary", "description")]
    said = list(dict.fromkeys(text for text in texts if text))
    text = "\n\n".join(said) or str(item.get("summary") or f"{method.upper()} {path}")
    return visible(text)


def _body_of(request: dict[str, Json]) -> tuple[str, Json]:
    """The media type of a body that is sent, and its schema; the first that a model can write."""
    content = request.get("content") or {}
    kinds = {each.split(";")[0].strip().lower(): each for each in content}
    json_like = [each for each in kinds if each.endswith("+json")]
    for kind in (JSON_BODY, *json_like, FORM_BODY, "text/plain"):
        if kind in kinds:
            return kind, (content[kinds[kind]] or {}).get("schema", {})
    if "*/*" in kinds:
        return JSON_BODY, (content[kinds["*/*"]] or {}).get("schema", {})
    return "", None


def _security(document: ApiDocument, operation: dict[str, Json]) -> tuple[str, ...]:
    """The schemes that an operation names, in any of its alternatives."""
    wanted = operation.get("security", document.root.get("security")) or []
    return tuple(dict.fromkeys(name for each in wanted for name in each))


class _Schemas:
    """The schemas of one operation, as JSON Schema: what they refer to is in ``definitions``."""

    def __init__(self, document: ApiDocument, at: str) -> None:
        self._document = document
        self._at = at
        self._names: dict[str, str] = {}
        self.definitions: dict[str, Json] = {}

    def of_parameter(self, parameter: dict[str, Json]) -> dict[str, Json]:
        """The schema of a parameter, with its description."""
        schema = parameter.get("schema")
        if schema is None:
            content: dict[str, Json] = parameter.get("content") or {}
            first: Json = next(iter(content.values()), None)
            schema = first.get("schema", {}) if isinstance(first, dict) else {}
        made = self.json_schema(schema)
        if parameter.get("description") and "$ref" not in made:
            made.setdefault("description", parameter["description"])
        return made

    def json_schema(self, schema: Json) -> dict[str, Json]:
        """A schema of the document as JSON Schema."""
        if schema is True or schema is None:
            return {}
        made = from_openapi_schema(schema) if self._document.is_3_0 else schema
        found: dict[str, Json] = self._with_local_references(made)
        return found

    def _with_local_references(self, schema: Json) -> Json:
        if isinstance(schema, list):
            return [self._with_local_references(each) for each in schema]
        if not isinstance(schema, dict):
            return schema
        read_only = _read_only(schema)
        made: dict[str, Json] = {}
        for key, value in schema.items():
            if key == "$ref" and isinstance(value, str):
                made[key] = f"#/$defs/{self._name_of(value)}"
            elif key in ("enum", "const", "default", "examples", "example"):
                made[key] = value
            elif key == "properties" and isinstance(value, dict):
                made[key] = {
                    name: self._with_local_references(below)
                    for name, below in value.items()
                    if name not in read_only
                }
            elif key == "required" and isinstance(value, list):
                made[key] = [name for name in value if name not in read_only]
            elif key not in _FOR_DOCUMENTS:
                made[key] = self._with_local_references(value)
        return made

    def _name_of(self, reference: str) -> str:
        """The name of what a reference leads to, among the definitions."""
        if reference not in self._names:
            target = self._document.referred(reference, self._at)
            name = re.sub(r"\W", "_", reference.rpartition("/")[2]) or "root"
            while name in self.definitions:
                name += "_"
            self._names[reference] = name
            self.definitions[name] = {}  # it may refer to itself
            self.definitions[name] = self.json_schema(target)
        return self._names[reference]


_FOR_DOCUMENTS: Final = {"xml", "externalDocs", "discriminator"}


def _read_only(schema: dict[str, Json]) -> set[str]:
    """The properties that only answers have."""
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return set()
    return {
        name
        for name, each in properties.items()
        if isinstance(each, dict) and each.get("readOnly") is True
    }
