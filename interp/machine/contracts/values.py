"""Values held to the schemas that a program declares: arguments, results and answers.

Every violation is reported with its path, so that a model knows what to fix. Wrong arguments are
never repaired: the model gets an error, so that it can call again. An answer of the wrong type is
corrected once.

Providers accept only schemas of objects for answers. Any other schema is wrapped in an object with
one property, which only the provider sees. An answer that is declared to be a text is the text.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from attrs import evolve

from gram import ArgumentError, Pattern
from lenses_ext import answer_schema, tool_spec_schema, view
from lenses_ext.language import wire_name
from lenses_ext.schemas import NotJson, resolve_ref, schema_validator, validation_visits
from lenses_ext.weak_cache import memo

from ...errors import ValidationError
from ...json_text import Json, JsonText, read_json, write_json
from ..messages import Message, UserRole

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError as Violation, Validator

_MOST_VIOLATIONS = 5
_MOST_VISITS_TO_DESCRIBE = 5_000
_MOST_VISITS = 1_000_000
_MOST_REFERENCES = 100  # deeper ones lead in a circle


def check(schema: Mapping[str, Json] | str, value: Json) -> None:
    """Check a JSON value against a schema, or against its JSON text.

    Raises:
        ValidationError: the value violates the schema, or the schema is not valid.
    """
    text = schema if isinstance(schema, str) else write_json(schema)
    if not _is_valid(text, value):
        raise ValidationError(_violations(text, value))


def _is_valid(schema: str, value: Json) -> bool:
    root = _with_references(schema)
    visits = 0 if root is None else validation_visits(root, value, root, at_most=_MOST_VISITS)
    if visits > _MOST_VISITS:
        raise ValidationError(
            "checking it would take too long: its types refer to each other through too many "
            "alternatives"
        )
    return _validator_of(schema).is_valid(value)


@lru_cache(maxsize=512)
def _with_references(schema: str) -> Json:
    """The schema if it has references, else None. It must not be changed."""
    return read_json(schema) if '"$ref"' in schema or '"$dynamicRef"' in schema else None


def _resolved(schema: Json, root: Json) -> dict[str, Json]:
    """What a part of a schema refers to, or itself; nothing where it does not lead to an object."""
    for _ in range(_MOST_REFERENCES):
        if not isinstance(schema, dict):
            return {}
        if not isinstance(schema.get("$ref"), str):
            return schema
        schema = resolve_ref(schema["$ref"], root)
    return {}


def accepts(schema: Json, value: Json, root: Json) -> bool:
    """Whether a part of a schema accepts a value; its references are resolved in ``root``."""
    shared: dict[str, Any] = {key: root[key] for key in ("$defs", "definitions") if key in root}
    try:
        return _is_valid(write_json({**shared, **schema}), value)
    except ValidationError:  # it has a reference outside `$defs`, which cannot be resolved
        return value is not None


def require_schema(schema: Mapping[str, Json]) -> JsonText:
    """Check that an object is a JSON Schema; return its JSON text.

    Raises:
        ValidationError: the object is not JSON, or the metaschema refuses it.
    """
    if not isinstance(schema, Mapping):
        raise ValidationError(f"not a JSON Schema: expected an object, found {schema!r}")
    try:
        text = write_json(dict(schema))
    except NotJson as error:
        raise ValidationError(f"not a JSON Schema: {error}") from None
    _validator_of(text)
    return text


@lru_cache(maxsize=512)
def _validator_of(schema: str) -> Validator:
    try:
        validator = schema_validator(read_json(schema))
    except (ValueError, ArgumentError) as error:
        reason = str(error).partition("\n")[0]  # where in the metaschema helps nobody
        raise ValidationError(f"not a JSON Schema: {reason}") from None
    if '"pattern' in schema:  # searched in linear time wherever that can be
        with suppress(ValueError):
            return schema_validator(read_json(schema), linear=True)
    return validator


def _violations(text: str, value: Json) -> str:
    """Describe how a value violates a schema: one line for each of the first few violations.

    If finding them all would take too long, only the outermost are described.
    """
    # The validator looks for violations in each alternative, so alternatives inside alternatives
    # double the work with each level.
    schema, validator = read_json(text), _validator_of(text)
    most = _MOST_VISITS_TO_DESCRIBE
    if validation_visits(schema, value, schema, at_most=most) > most:
        given, below = value if isinstance(value, dict) else {}, _properties(schema)
        wrong = [
            _json_path([name])
            for name in given
            if isinstance(below.get(name), dict) and not accepts(below[name], given[name], schema)
        ]
        places = (wrong or ["$"])[:_MOST_VIOLATIONS]
        return "\n".join(f"{each}: fits none of the types that are allowed" for each in places)
    described = (_describe(violation, schema) for violation in validator.iter_errors(value))
    lines = list(dict.fromkeys(described))
    hidden = len(lines) - _MOST_VIOLATIONS
    return "\n".join(lines[:_MOST_VIOLATIONS] + ([f"and {hidden} more"] if hidden > 0 else []))


def _describe(violation: Violation, schema: Mapping[str, Json]) -> str:
    path = _json_path(violation.instance_path)
    match violation.kind.name:
        case "required":
            return f"{path}: missing required {write_json(violation.kind.as_dict()['property'])}"
        case "additionalProperties":
            unknown = ", ".join(map(write_json, violation.kind.as_dict()["unexpected"]))
            known = ", ".join(sorted(schema.get("properties", {}))) if path == "$" else ""
            return f"{path}: unknown {unknown}" + (f"; known: {known}" if known else "")
        case "falseSchema":
            return f"{path}: nothing may be given, found {write_json(violation.instance)}"
    return f"{path}: {violation.message}"


def _json_path(path: Iterable[str | int]) -> str:
    """A path into a JSON value, such as ``$.tags[1]``."""
    text = "$"
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if step.isidentifier() else f"[{write_json(step)}]"
    return text


# --- arguments


def read_arguments(tool_name: str, text: str) -> dict[str, Json]:
    """Read the arguments that a model wrote as JSON; an empty text means no arguments.

    Raises:
        ValidationError: the text is not one JSON object.
    """
    again = "Call the tool again with one JSON object."
    try:
        arguments = read_json(text) if text.strip() else {}
    except ValueError as error:
        message = getattr(error, "msg", str(error))
        at = getattr(error, "pos", None)
        where = "" if at is None else f" at char {at}, near …{text[max(at - 10, 0) : at + 10]}…"
        raise ValidationError(
            f'arguments of "{tool_name}" are not valid JSON: {message}{where}. {again}'
        ) from None
    if not isinstance(arguments, dict):
        found = _json_type(arguments)
        raise ValidationError(f'arguments of "{tool_name}" are not an object but {found}. {again}')
    return arguments


def validate_tool_args(schema: Mapping[str, Json], args: Mapping[str, Json]) -> dict[str, Json]:
    """Check arguments against a schema; return a deep copy of them with defaults filled in.

    A null for a parameter that has a default and does not allow null means the default. A default
    that its own schema refuses (a null that only means "no value") is not filled in.

    Args:
        schema: the JSON Schema of a tool's parameters.
        args: the arguments of one call.

    Raises:
        ArgumentError: the arguments are neither a mapping nor another JSON value.
        ValidationError: the arguments violate the schema (the message has one line with a path for
            each violation), or the schema is not valid.

    >>> schema = {"type": "object", "properties": {"n": {"type": "integer", "default": 1}}}
    >>> validate_tool_args(schema, {})
    {'n': 1}
    """
    if args is None or isinstance(args, bool | int | float | str | list):
        raise ValidationError(f"arguments are an object, found {_json_type(args)}")
    try:
        given = write_json(dict(args)).value
    except NotJson as error:
        raise ValidationError(f"arguments are JSON: {error}") from None
    return _parameters(require_schema(schema)).checked(given)


class Parameters:
    """The parameters of a tool, prepared to check the arguments of many calls.

    Attributes:
        schema: the JSON Schema; not to be changed.
    """

    def __init__(self, text: str) -> None:
        _validator_of(text)
        self._text = text
        self.schema = root = read_json(text)
        self._has_defaults = '"default"' in text
        self._defaults: dict[int, dict[str, Json]] = {}
        self._not_null = frozenset(
            key
            for key, below in _properties(root).items()
            if _has_default(below) and not accepts(below, None, root)
        )

    def checked(self, args: dict[str, Json]) -> dict[str, Json]:
        """Check arguments and fill in defaults; see `validate_tool_args`."""
        if self._not_null and None in args.values():
            args = {k: v for k, v in args.items() if v is not None or k not in self._not_null}
        check(self._text, args)
        return dict(self._filled(self.schema, args) if self._has_defaults else args)

    def _filled(self, schema: Json, value: Json) -> Json:
        """A value with the defaults of a part of the schema, wherever objects are in it.

        Nothing is filled into a default itself: with a recursive type that might never end.
        """
        schema = _resolved(schema, self.schema)
        if isinstance(value, list):
            return [self._filled(schema.get("items"), each) for each in value]
        if not isinstance(value, dict):
            return value
        below = _properties(schema)
        filled = {key: self._filled(below.get(key), each) for key, each in value.items()}
        missing = {k: v for k, v in self._defaults_of(schema).items() if k not in filled}
        return {**filled, **copy.deepcopy(missing)}

    def _defaults_of(self, schema: Json) -> dict[str, Json]:
        """The defaults of an object's properties that their own schemas accept, judged once."""
        if id(schema) not in self._defaults:  # a part of the schema, which is kept as it is
            self._defaults[id(schema)] = {
                key: below["default"]
                for key, below in _properties(schema).items()
                if _has_default(below) and accepts(below, below["default"], self.schema)
            }
        return self._defaults[id(schema)]


_parameters = lru_cache(maxsize=512)(Parameters)


@memo
def parameters_of(tool: Pattern) -> Parameters:
    """The parameters of a tool specification."""
    return Parameters(write_json(view(tool_spec_schema, tool)))


@memo
def own_parameters_of(tool: Pattern) -> Parameters:
    """The same, where nothing but these may be given unless the specification allows it.

    A model may add what nobody asked for; what a person writes and nothing takes is a slip.
    """
    return Parameters(write_json({"additionalProperties": False, **view(tool_spec_schema, tool)}))


def _has_default(schema: Json) -> bool:
    return isinstance(schema, dict) and "default" in schema


def _properties(schema: Json) -> Mapping[str, Json]:
    found = schema.get("properties") if isinstance(schema, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _json_type(value: Json) -> str:
    names = {type(None): "null", bool: "a boolean", str: "a string", list: "an array"}
    return names.get(type(value), "a number")


# --- answers

WRAPPED = "answer"
"""The property that an answer is asked for in which is no object."""
_DEFINITIONS = ("$defs", "definitions")


def response_format(answer: Pattern) -> dict[str, Json]:
    """The ``response_format`` of a request that asks for an answer of a declared type."""
    schema = wrapped(answer_schema(answer))
    named = {"name": wire_name(answer.value.identity or "answer"), "schema": schema}
    return {"type": "json_schema", "json_schema": named}


def unwrapped(answer: Pattern, message: Message) -> Message:
    """The message with its answer unwrapped; any other message is returned unchanged."""
    schema = answer_schema(answer)
    if message.tool_calls or schema.get("type") == "object":
        return message
    try:
        said = read_json(message.content)
    except ValueError:
        return message
    if not isinstance(said, dict) or said.keys() != {WRAPPED}:
        return message
    inside = said[WRAPPED]
    if is_text_schema(schema) and not isinstance(inside, str):
        return message  # some JSON, which is the text that was asked for
    return evolve(message, content=write_json(inside))


def wrapped(schema: dict[str, Json]) -> dict[str, Json]:
    """The schema of an object that has the answer, where the answer is no object."""
    if schema.get("type") == "object":
        return schema
    definitions: dict[str, Json] = {k: v for k, v in schema.items() if k in _DEFINITIONS}
    inside = {key: value for key, value in schema.items() if key not in definitions}
    return {
        "type": "object",
        "properties": {WRAPPED: inside},
        "required": [WRAPPED],
        "additionalProperties": False,
        **definitions,
    }


def read_answer(schema: Mapping[str, Json], reply: str) -> tuple[str, str | None]:
    """Read a reply as an answer of the declared type.

    An answer that is declared to be a text is the text itself: a reply that is a JSON string is
    decoded, and blanks around a choice are left out.

    Returns:
        The answer, and why it is not of the declared type, a line for each violation, or None.

    >>> read_answer({"type": "integer"}, "18")
    ('18', None)
    >>> read_answer({"type": "string"}, '"18"')
    ('18', None)
    >>> read_answer({"type": "integer"}, '"18"')
    ('"18"', '$: "18" is not of type "integer"')
    """
    if not is_text_schema(schema):
        try:
            return reply, _problem(schema, read_json(reply))
        except ValueError as error:
            return reply, f"it is not JSON: {error}"
    said = text_said(reply)
    problem = _problem(schema, said)
    if problem and not _problem(schema, said.strip()):
        return said.strip(), None
    return said, problem


def _problem(schema: Mapping[str, Json], value: Json) -> str | None:
    try:
        check(schema, value)
    except ValidationError as error:
        return error.message
    except UnicodeEncodeError:
        return "it has half of a character, which is no text"
    return None


_CANNOT_BE_USED: Final = "Your answer cannot be used:\n"


def correction(schema: Mapping[str, Json], problem: str) -> Message:
    """The message that tells the model, once, why its answer cannot be used."""
    form = "the text alone" if is_text_schema(schema) else "one JSON value and nothing around it"
    asked = f"Answer again with {form}, valid under this JSON Schema:\n{write_json(schema)}"
    return Message(UserRole, f"{_CANNOT_BE_USED}{problem}\n{asked}")


def is_correction(message: Message) -> bool:
    """Whether a message of the user is a `correction`, which nobody has typed."""
    return message.role == UserRole and message.content.startswith(_CANNOT_BE_USED)


def is_text_schema(schema: Json) -> bool:
    """Whether only texts are valid under a schema, such as a choice between some.

    >>> is_text_schema({"type": "string", "enum": ["long", "short"]})
    True
    >>> is_text_schema({"type": ["string", "null"]})
    False
    """
    own = schema if isinstance(schema, dict) and "type" in schema else _resolved(schema, schema)
    return own.get("type") == "string"


def text_said(reply: str) -> str:
    """The text that a reply is: a JSON string is decoded, any other reply is the text itself.

    >>> text_said('"long"'), text_said("long"), text_said("123")
    ('long', 'long', '123')
    """
    if not reply.lstrip().startswith('"'):
        return reply
    try:
        value = read_json(reply)
    except ValueError:
        return reply
    return value if isinstance(value, str) else reply
