"""Type hints as JSON: the schema of a type, and how its JSON becomes the Python value.

Both sides of a type stand together in a `TypeForm`, so that what the schema lets in is what the
function gets. `TypeForms` makes them. A hint that has no JSON form is an error, never "anything".
"""

from __future__ import annotations

import collections.abc as abc
from collections.abc import Callable, Iterable, Mapping
from enum import Enum, Flag
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from attrs import frozen

from .annotated import annotated_keywords
from .arguments import check, require_schema
from .errors import ToolError, ValidationError
from .json_text import Json, write_json
from .json_values import to_json_value
from .records import NO_DEFAULT, Member, Record, read_record

_BASIC = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}
_TYPE_ORDER = ["string", "integer", "number", "boolean", "object", "array", "null"]

# The abstract ones are how a careful author says that a parameter is only read.
_LISTS = (list, abc.Sequence, abc.MutableSequence, abc.Collection, abc.Iterable)
_SETS: dict[Any, Callable[[Any], Any]] = {
    set: set,
    abc.MutableSet: set,
    frozenset: frozenset,
    abc.Set: frozenset,
}
_DICTS = (dict, abc.Mapping, abc.MutableMapping)


def unchanged(value: Json) -> Any:
    """Read a type whose JSON is its Python value."""
    return value


@frozen
class TypeForm:
    """A type as JSON.

    Attributes:
        schema: the JSON Schema of its values.
        read: the Python value of a JSON value that the schema accepts. Python values of the type
            come back as they are, so a tool can be called with these too.
    """

    schema: dict[str, Json]
    read: Callable[[Json], Any] = unchanged


class TypeForms:
    """Makes the forms of the types of one schema.

    Attributes:
        definitions: the schemas of the types that contain themselves, by name; they belong under
            ``$defs`` at the root.

    >>> TypeForms().of(dict[str, list[int] | None]).schema["additionalProperties"]
    {'anyOf': [{'type': 'array', 'items': {'type': 'integer'}}, {'type': 'null'}]}
    """

    def __init__(self) -> None:
        self.definitions: dict[str, Json] = {}
        self._open: list[Any] = []  # the types being made, outermost first
        self._references: dict[int, tuple[Any, str]] = {}  # recursive types by id, and their names
        self._readers: dict[str, Callable[[Json], Any]] = {}

    def of(self, hint: Any) -> TypeForm:
        """The form of a type hint.

        Raises:
            ToolError: it has no JSON form; the message names it.
        """
        if hint is Any or hint is object:
            return TypeForm({})
        kind = get_origin(hint) or hint
        if kind is Annotated:
            return self._annotated(hint.__origin__, hint.__metadata__)
        if kind is Union or kind is UnionType:
            return self._union(get_args(hint))
        if kind is Literal:
            return _choice(get_args(hint), hint)
        if hint is None:
            return TypeForm({"type": "null"})
        if kind is tuple:
            return self._tuple(hint)
        if _among(kind, _LISTS):
            return self._list(get_args(hint), list, {})
        if _among(kind, _SETS):
            return self._list(get_args(hint), _SETS[kind], {"uniqueItems": True})
        if _among(kind, _DICTS):
            return self._dict(get_args(hint))
        if isinstance(hint, type):
            return self._class(hint)
        if hasattr(hint, "__supertype__"):  # a NewType
            return self.of(hint.__supertype__)
        if hasattr(hint, "__value__"):  # a `type X = …` alias, which may contain itself
            return self._named(hint, hint.__name__, lambda: self.of(hint.__value__))
        raise _no_form(hint)

    def object_of(self, members: Iterable[Member], kind: str) -> TypeForm:
        """The form of an object with these members; it reads to a dict of their Python values.

        Args:
            members: what it may have, in order.
            kind: what a member is called in errors.

        Raises:
            ToolError: a member has no JSON form; the message names it.
        """
        forms: dict[str, TypeForm] = {}
        required = []
        for member in members:
            try:
                forms[member.name] = self._member(member)
            except ToolError as error:
                raise ToolError(f'{kind} "{member.name}": {error}') from None
            if member.required:
                required.append(member.name)
        properties = {name: form.schema for name, form in forms.items()}

        def read(value: Mapping[str, Json]) -> dict[str, Any]:
            if unknown := [name for name in value if name not in forms]:
                names, known = ", ".join(map(write_json, unknown)), ", ".join(sorted(forms))
                raise ValidationError(f"unknown {names}; known: {known}")
            return {name: forms[name].read(below) for name, below in value.items()}

        return TypeForm({"type": "object", "properties": properties, "required": required}, read)

    def _member(self, member: Member) -> TypeForm:
        form = self.of(member.hint)
        schema = dict(form.schema)
        if member.description and "description" not in schema:
            schema["description"] = member.description
        if member.default is not NO_DEFAULT:
            schema["default"] = self._default(member.default, schema)
        return TypeForm(schema, form.read)

    def _default(self, default: Any, schema: dict[str, Json]) -> Json:
        value = to_json_value(default)
        try:
            write_json(value)
        except (TypeError, ValueError):
            raise ToolError(f"its default {default!r} is not a JSON value") from None
        if value is None:
            return None  # of a type without null it means "no value", see `validate_tool_args`
        try:
            self._check(schema, value)
        except ValidationError as error:
            raise ToolError(f"its default {default!r} does not fit its type: {error}") from None
        return value

    def _check(self, schema: dict[str, Json], value: Json) -> None:
        check({**schema, "$defs": self.definitions} if self.definitions else schema, value)

    def _annotated(self, hint: Any, extras: tuple[Any, ...]) -> TypeForm:
        form = self.of(hint)
        schema = {**form.schema, **annotated_keywords(extras, form.schema)}
        try:
            # References are resolved at the root only, once the definitions are complete.
            require_schema({key: below for key, below in schema.items() if key != "$ref"})
        except ValidationError as error:
            raise ToolError(str(error)) from None
        return TypeForm(schema, form.read)

    def _union(self, hints: tuple[Any, ...]) -> TypeForm:
        forms = [self.of(hint) for hint in hints]
        schemas = [form.schema for form in forms]

        def read(value: Json) -> Any:
            """The value as the first alternative that takes it."""
            refusal = None
            for form in forms:
                try:
                    self._check(form.schema, value)
                    return form.read(value)
                except ValidationError as error:
                    refusal = error
                except ValueError:
                    return value  # no JSON at all, but a Python value already
            raise refusal or ValidationError("no alternative")

        if {} in schemas:
            return TypeForm({}, read)
        if all(schema.keys() == {"type"} for schema in schemas):
            names = {schema["type"] for schema in schemas}
            if all(isinstance(name, str) for name in names):
                return TypeForm(_type_schema(names), read)
        return TypeForm({"anyOf": schemas}, read)

    def _list(
        self, args: tuple[Any, ...], make: Callable[[Any], Any], keywords: dict[str, Json]
    ) -> TypeForm:
        item = self.of(args[0]) if args else TypeForm({})
        items = {"items": item.schema} if item.schema else {}

        def read(value: Json) -> Any:
            return make(map(item.read, value)) if isinstance(value, list) else value

        return TypeForm({"type": "array", **items, **keywords}, read)

    def _tuple(self, hint: Any) -> TypeForm:
        args = get_args(hint)
        if hint is tuple or (len(args) == 2 and args[1] is Ellipsis):
            return self._list(args[:1], tuple, {})
        forms = [self.of(arg) for arg in args]
        schema: dict[str, Json] = {"type": "array", "maxItems": len(forms)}
        if forms:
            schema |= {"prefixItems": [form.schema for form in forms], "minItems": len(forms)}

        def read(value: Json) -> Any:
            if not isinstance(value, list):
                return value
            return tuple(form.read(item) for form, item in zip(forms, value, strict=True))

        return TypeForm(schema, read)

    def _dict(self, args: tuple[Any, ...]) -> TypeForm:
        if args and args[0] is not str and args[0] is not Any:
            raise ToolError(f"the keys of a JSON object are str, not {_name(args[0])}")
        below = self.of(args[1]) if args else TypeForm({})
        more = {"additionalProperties": below.schema} if below.schema else {}

        def read(value: Json) -> Any:
            if not isinstance(value, dict):
                return value
            return {key: below.read(item) for key, item in value.items()}

        return TypeForm({"type": "object", **more}, read)

    def _class(self, cls: type) -> TypeForm:
        if cls in _BASIC:
            return TypeForm({"type": _BASIC[cls]}, _READ_NUMBER.get(cls, unchanged))
        if issubclass(cls, Enum) and not issubclass(cls, Flag):
            return _choice(tuple(cls), cls)
        if hasattr(cls, "model_json_schema") and hasattr(cls, "model_validate_json"):
            return self._model(cls)
        record = read_record(cls)
        if record is None:
            raise _no_form(cls)
        return self._named(cls, cls.__name__, lambda: self._record(cls, record))

    def _record(self, cls: type, record: Record) -> TypeForm:
        form = self.object_of(record.members, f"{cls.__name__} field")
        schema = {key: value for key, value in form.schema.items() if key == "type" or value}

        def read(value: Json) -> Any:
            if not isinstance(value, dict):
                return value
            try:
                return record.make(form.read(value))
            except ValidationError as error:
                raise ValidationError(f"{cls.__name__}: {error}") from None

        return TypeForm(schema, read)

    def _model(self, cls: Any) -> TypeForm:
        """A pydantic model says its schema itself, and reads JSON by its own rules."""
        try:
            schema = cls.model_json_schema()
        except (RuntimeError, NameError, TypeError) as error:
            raise ToolError(f"pydantic has no schema for {cls.__name__}: {error}") from None
        for name, definition in schema.pop("$defs", {}).items():
            if self.definitions.setdefault(name, definition) != definition:
                raise ToolError(f'two different types are named "{name}"; rename one')

        def read(value: Json) -> Any:
            return value if isinstance(value, cls) else cls.model_validate_json(write_json(value))

        return TypeForm(schema, read)

    def _named(self, hint: Any, name: str, make: Callable[[], TypeForm]) -> TypeForm:
        """A type that may contain itself: then it is defined once, and referred to by name."""
        if id(hint) not in self._references and any(hint is each for each in self._open):
            taken = {each for _, each in self._references.values()} | self.definitions.keys()
            numbered = (f"{name}{number}" for number in range(2, len(taken) + 3))
            free = next(each for each in (name, *numbered) if each not in taken)
            self._references[id(hint)] = (hint, free)
        if id(hint) in self._references:
            return self._reference(hint)
        self._open.append(hint)
        form = make()
        self._open.pop()
        if id(hint) not in self._references:
            return form
        _, defined = self._references[id(hint)]
        self.definitions[defined] = form.schema
        self._readers[defined] = form.read
        return self._reference(hint)

    def _reference(self, hint: Any) -> TypeForm:
        _, name = self._references[id(hint)]
        return TypeForm({"$ref": f"#/$defs/{name}"}, lambda value: self._readers[name](value))


def _choice(options: tuple[Any, ...], hint: Any) -> TypeForm:
    """The form of an Enum or a Literal: one of these values."""
    values = [option.value if isinstance(option, Enum) else option for option in options]
    for value in values:
        if type(value) not in _BASIC:
            raise ToolError(f"{_name(hint)} has the value {value!r}, which is no JSON scalar")
    if not values:
        raise ToolError(f"{_name(hint)} has no members")

    def read(value: Json) -> Any:
        for each, option in zip(values, options, strict=True):
            if each == value and isinstance(each, bool) == isinstance(value, bool):
                return option
        return value

    names = {_BASIC[type(value)] for value in values}
    return TypeForm({**_type_schema(names), "enum": values}, read)


def _type_schema(names: Iterable[str]) -> dict[str, Json]:
    ordered = sorted(names, key=_TYPE_ORDER.index)
    return {"type": ordered[0] if len(ordered) == 1 else ordered}


def _read_integer(value: Json) -> Any:
    """An int of a number written 3.0, which JSON Schema calls an integer."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _read_float(value: Json) -> Any:
    return float(value) if type(value) is int else value


_READ_NUMBER: dict[type, Callable[[Json], Any]] = {int: _read_integer, float: _read_float}


def _among(kind: Any, types: Iterable[Any]) -> bool:
    """Whether a hint, which need not be hashable, is one of these types."""
    return any(kind is each for each in types)


def _name(hint: Any) -> str:
    if not isinstance(hint, type):
        return str(hint)
    module = "" if hint.__module__ == "builtins" else f"{hint.__module__}."
    return f"{module}{hint.__qualname__}"


def _no_form(hint: Any) -> ToolError:
    return ToolError(f"{_name(hint)} has no JSON form; annotate it with a type that has one")
