"""Type hints as JSON: the schema of a type, and how its JSON becomes the Python value.

Both sides of a type stand together in a `TypeForm`, so that what the schema lets in is what the
function gets. `TypeForms` makes them. A hint that has no JSON form is an error, never "anything".
"""

from __future__ import annotations

import collections.abc as abc
import copy
from collections.abc import Callable, Iterable, Mapping
from enum import Enum, Flag
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from lenses_ext.json_values import NotJson

from ..errors import ToolError, ValidationError
from ..json_text import Json, write_json
from ..schemas import check, require_schema
from .annotated import annotated_keywords
from .definitions import Definitions
from .json_values import to_json_value
from .pydantic_models import is_model, model_schema, read_model
from .records import NO_DEFAULT, Member, Record, read_record
from .scalar_forms import SCALARS, TypeForm, choice_form, scalar_form, types_schema

_JSON_TYPES = (*SCALARS, list, dict)
_SCALAR_SCHEMAS = [scalar_form(kind).schema for kind in SCALARS]

# The abstract ones are how a careful author says that a parameter is only read.
_LISTS = (list, abc.Sequence, abc.MutableSequence, abc.Collection, abc.Iterable)
_SETS: dict[Any, Callable[[Any], Any]] = {
    set: set,
    abc.MutableSet: set,
    frozenset: frozenset,
    abc.Set: frozenset,
}
_DICTS = (dict, abc.Mapping, abc.MutableMapping)


class TypeForms:
    """Makes the forms of the types of one schema.

    Attributes:
        definitions: the types that contain themselves; `Definitions.rooted` puts them under a
            schema made here.

    >>> TypeForms().of(dict[str, list[int] | None]).schema["additionalProperties"]
    {'anyOf': [{'type': 'array', 'items': {'type': 'integer'}}, {'type': 'null'}]}
    """

    def __init__(self) -> None:
        self.definitions = Definitions()

    def of(self, hint: Any) -> TypeForm:
        """The form of a type hint.

        Raises:
            ToolError: it has no JSON form; the message names it.
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
        if isinstance(hint, type):
            return self._class(hint)
        if hasattr(hint, "__supertype__"):  # a NewType
            return self.of(hint.__supertype__)
        if hasattr(hint, "__value__"):  # a `type X = …` alias, which may contain itself
            return self.definitions.form(hint, hint.__name__, lambda: self.of(hint.__value__))
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
        if member.default is NO_DEFAULT:
            return TypeForm(schema, form.read)
        value = schema["default"] = self._default(member.default, schema)
        return TypeForm(schema, _or_default(form.read, value, member.default))

    def _default(self, default: Any, schema: dict[str, Json]) -> Json:
        value = to_json_value(default)
        try:
            write_json(value)
        except NotJson:
            raise ToolError(f"its default {default!r} is not a JSON value") from None
        if value is None:
            return None  # of a type without null it means "no value", see `validate_tool_args`
        try:
            check(self.definitions.rooted(schema), value)
        except ValidationError as error:
            raise ToolError(f"its default {default!r} does not fit its type: {error}") from None
        return value

    def _accepts(self, schema: dict[str, Json], value: Json) -> bool:
        try:
            check(self.definitions.rooted(schema), value)
        except ValidationError:
            return False
        return True

    def _annotated(self, hint: Any, extras: tuple[Any, ...]) -> TypeForm:
        form = self.of(hint)
        schema = {**form.schema, **annotated_keywords(extras, form.schema)}
        try:
            require_schema(self.definitions.rooted(schema))
        except ValidationError as error:
            raise ToolError(str(error).partition("\n")[0]) from None
        return TypeForm(schema, form.read)

    def _union(self, hints: tuple[Any, ...]) -> TypeForm:
        forms = [self.of(hint) for hint in hints]
        schemas = [form.schema for form in forms]

        def read(value: Json) -> Any:
            """The value as the first alternative that takes it."""
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
        if issubclass(cls, Enum) and not issubclass(cls, Flag):
            return choice_form(_name(cls), cls)
        if is_model(cls):
            return self._model(cls)
        record = read_record(cls)
        if record is None:
            raise _no_form(cls)
        return self.definitions.form(cls, cls.__name__, lambda: self._record(cls, record))

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
        schema = model_schema(cls)
        for name, definition in schema.pop("$defs", {}).items():
            self.definitions.add(name, definition)
        return TypeForm(schema, lambda value: read_model(cls, value))


def _or_default(read: Callable[[Json], Any], written: Json, default: Any) -> Callable[[Json], Any]:
    """Read the JSON of a default as the default itself, which its hint may not give.

    It gives a list for ``Sequence[str] = ()``, for example. Defaults are filled in before a
    function is called, and it should see none but its own; a copy, so that what one call does to
    it no other call sees.
    """
    exact = repr(written)  # tells 1, 1.0 and True apart, at every depth

    def read_or_default(value: Json) -> Any:
        is_default = type(value) is type(written) and repr(value) == exact
        return copy.deepcopy(default) if is_default else read(value)

    return read_or_default


def _among(kind: Any, types: Iterable[Any]) -> bool:
    """Whether a hint, which need not be hashable, is one of these types."""
    return any(kind is each for each in types)


def _require_count(hint: Any, args: tuple[Any, ...], count: int) -> None:
    """Refuse ``list[int, str]``, which Python lets pass."""
    if args and len(args) != count:
        raise ToolError(f"{hint} does not have {count} type{'s' * (count > 1)} in its brackets")


def _name(hint: Any) -> str:
    if not isinstance(hint, type):
        return str(hint)
    module = "" if hint.__module__ == "builtins" else f"{hint.__module__}."
    return f"{module}{hint.__qualname__}"


def _no_form(hint: Any) -> ToolError:
    return ToolError(
        f"{_name(hint)} has no JSON form; use str, int, float, bool, list, dict, Literal, an Enum, "
        f"a record class or Any"
    )
