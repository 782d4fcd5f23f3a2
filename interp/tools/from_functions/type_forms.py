"""Converts type hints to JSON Schemas, with the functions that read their JSON values.

A `TypeForm` holds both, so that the schema and the values that the function receives agree.
`TypeForms` makes them. A hint without a JSON form is an error, never a schema for any value.
"""

from __future__ import annotations

import collections.abc as abc
from collections.abc import Callable, Iterable
from enum import Enum, Flag
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from attrs import evolve

from gram.plurals import counted

from ...errors import ToolError, ValidationError
from ...files import File
from ...json_text import Json
from ...machine.contracts import check, require_schema
from .annotated import annotated_keywords
from .forms import SCALARS, Definitions, TypeForm, choice_form, scalar_form, types_schema
from .object_forms import object_form
from .pydantic_types import Mode, is_pydantic_class, is_pydantic_extra, pydantic_form
from .records import NO_DEFAULT, Member, Record, read_record

_JSON_TYPES = (*SCALARS, list, dict)
_SCALAR_SCHEMAS = [scalar_form(kind).schema for kind in SCALARS]

# Careful authors use the abstract types for parameters that are only read.
_LISTS = (list, abc.Sequence, abc.MutableSequence, abc.Collection, abc.Iterable)
_SETS: dict[Any, Callable[[Any], Any]] = {
    set: set,
    abc.MutableSet: set,
    frozenset: frozenset,
    abc.Set: frozenset,
}
_DICTS = (dict, abc.Mapping, abc.MutableMapping)


class TypeForms:
    """Makes the forms of the types that are used in one schema.

    Args:
        mode: whether the schemas describe JSON that is read, such as parameters, or written.

    Attributes:
        definitions: the types that contain themselves; `Definitions.rooted` adds them to a
            schema made here.

    >>> TypeForms().of(dict[str, list[int] | None]).schema["additionalProperties"]
    {'anyOf': [{'type': 'array', 'items': {'type': 'integer'}}, {'type': 'null'}]}
    """

    def __init__(self, mode: Mode = "validation") -> None:
        self.definitions = Definitions()
        self._mode = mode

    def of(self, hint: Any) -> TypeForm:
        """The form of a type hint.

        Raises:
            ToolError: the hint has no JSON form; the message names it.
        """
        if hint is Any or hint is object:
            return TypeForm({})
        kind, args = get_origin(hint) or hint, get_args(hint)
        if kind is Annotated and args:
            return self._annotated(hint.__origin__, hint.__metadata__)
        if (kind is Union or kind is UnionType) and args:
            return self._union(args)
        if kind is Literal:
            return choice_form(_name(hint), args)
        if hint is None:
            return scalar_form(NoneType)
        if kind is tuple:
            return self._tuple(hint)
        if _among(kind, _LISTS):
            _require_count(hint, args, 1)
            return self._list(args, list, {})
        if _among(kind, _SETS):
            _require_count(hint, args, 1)
            return self._list(args, _SETS[kind], {"uniqueItems": True})
        if _among(kind, _DICTS):
            _require_count(hint, args, 2)
            return self._dict(args)
        if isinstance(hint, type) and not args:
            return self._class(hint)
        if isinstance(kind, type):
            return self._by_pydantic(hint)
        if hasattr(hint, "__supertype__"):  # a NewType
            return self.of(hint.__supertype__)
        if hasattr(hint, "__value__"):  # a `type X = …` alias, which may contain itself
            return self.definitions.form(hint, hint.__name__, lambda: self.of(hint.__value__))
        raise _no_form(hint)

    def object_of(self, members: Iterable[Member], kind: str) -> TypeForm:
        """The form of an object with these members, see `object_form`."""
        return object_form(members, kind, self.of, self.definitions)

    def _accepts(self, schema: dict[str, Json], value: Json) -> bool:
        try:
            check(self.definitions.rooted(schema), value)
        except ValidationError:
            return False
        return True

    def _annotated(self, hint: Any, extras: tuple[Any, ...]) -> TypeForm:
        if any(map(is_pydantic_extra, extras)):
            form, extras = self._pydantic_annotated(hint, extras)
        else:
            form = self.of(hint)
            if form.by_pydantic:
                form, extras = self._pydantic_annotated(hint, extras)
        schema = {**form.schema, **annotated_keywords(extras, form.schema)}
        try:
            require_schema(self.definitions.rooted(schema))
        except ValidationError as error:
            raise ToolError(str(error).partition("\n")[0]) from None
        return TypeForm(schema, form.read, form.by_pydantic)

    def _pydantic_annotated(
        self, hint: Any, extras: tuple[Any, ...]
    ) -> tuple[TypeForm, tuple[Any, ...]]:
        """The form that pydantic makes of a type and its extras, and the extras left for us."""
        ours = tuple(each for each in extras if isinstance(each, str | dict))
        theirs = tuple(each for each in extras if not isinstance(each, str | dict))
        return self._by_pydantic(Annotated[(hint, *theirs)] if theirs else hint), ours

    def _union(self, hints: tuple[Any, ...]) -> TypeForm:
        forms = [self.of(hint) for hint in hints]
        schemas = [form.schema for form in forms]

        def read(value: Json) -> Any:
            """Read the value as the first alternative that accepts it."""
            if type(value) not in _JSON_TYPES:
                return value
            refusal = None
            for form in forms:
                if self._accepts(form.schema, value):
                    try:
                        return form.read(value)
                    except ValidationError as error:
                        refusal = error
            if refusal is not None:
                raise refusal
            return value

        if {} in schemas:
            return TypeForm({}, read)
        if all(schema in _SCALAR_SCHEMAS for schema in schemas):
            return TypeForm(types_schema(schema["type"] for schema in schemas), read)
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
        if not hasattr(hint, "__args__") or (len(args) == 2 and args[1] is Ellipsis):
            return self._list(args[:1], tuple, {})
        forms = [self.of(arg) for arg in args]
        count = {"minItems": len(forms), "maxItems": len(forms)}
        prefix = {"prefixItems": [form.schema for form in forms]} if forms else {}
        schema: dict[str, Json] = {"type": "array", **prefix, **count}

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
        if cls in SCALARS:
            return scalar_form(cls)
        if cls is File:
            return self._file()
        if issubclass(cls, Enum) and not issubclass(cls, Flag):
            return choice_form(_name(cls), cls)
        record = None if is_pydantic_class(cls) else read_record(cls)
        if record is None:
            return self._by_pydantic(cls)
        return self.definitions.form(cls, cls.__name__, lambda: self._record(cls, record))

    def _file(self) -> TypeForm:
        """The form of a file in a result, where a text says what it is."""
        if self._mode != "serialization":
            raise ToolError("a File has no JSON form: a tool may return one, and takes none")
        return scalar_form(str)

    def _record(self, cls: type, record: Record) -> TypeForm:
        members = record.members
        if self._mode == "serialization" and not issubclass(cls, dict):
            members = tuple(evolve(m, required=True, default=NO_DEFAULT) for m in members)
        form = self.object_of(members, f"{cls.__name__} field")
        schema = {key: value for key, value in form.schema.items() if key == "type" or value}

        def read(value: Json) -> Any:
            if not isinstance(value, dict):
                return value
            try:
                return record.make(form.read(value))
            except ValidationError as error:
                raise ValidationError(f"{cls.__name__}: {error}") from None

        return TypeForm(schema, read)

    def _by_pydantic(self, hint: Any) -> TypeForm:
        """The form of a type that pydantic describes and reads."""
        form = pydantic_form(hint, self._mode)
        if form is None:
            raise _no_form(hint)
        schema = dict(form.schema)
        for name, definition in schema.pop("$defs", {}).items():
            self.definitions.add(name, definition)
        return TypeForm(schema, form.read, by_pydantic=True)


def _among(kind: Any, types: Iterable[Any]) -> bool:
    """Whether a hint is one of these types; the hint may be unhashable."""
    return any(kind is each for each in types)


def _require_count(hint: Any, args: tuple[Any, ...], count: int) -> None:
    """Refuse ``list[int, str]``, which Python allows."""
    if args and len(args) != count:
        raise ToolError(f"{hint} does not have {counted(count, 'type')} in its brackets")


def _name(hint: Any) -> str:
    if not isinstance(hint, type):
        return str(hint)
    module = "" if hint.__module__ == "builtins" else f"{hint.__module__}."
    return f"{module}{hint.__qualname__}"


def _no_form(hint: Any) -> ToolError:
    return ToolError(
        f"{_name(hint)} has no JSON form; use str, int, float, bool, list, dict, Literal, an Enum, "
        f"a record class, Any or a type that pydantic can write as JSON"
    )
