"""Reads type hints with pydantic: their JSON Schemas, and the Python values of JSON.

Pydantic describes and reads every type but these, which `_Hints` prepares for it: records get the
descriptions of their docstrings, attrs classes are records like others, and ``Annotated`` may hold
descriptions and JSON Schema keywords. A hint without a JSON form is an error, never a schema for
any value. Pydantic is imported when the first type is read.
"""

from __future__ import annotations

import collections.abc as abc
import copy
import json
import re
import typing
from collections import Counter
from collections.abc import Callable, Sequence
from enum import Enum, Flag
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Generic, Literal, TypeAlias, TypeVar, Union, get_args

from attrs import evolve, frozen
from typing_extensions import TypedDict

from gram import Pattern
from lenses_ext import SignatureError, json_schema_to_answer
from lenses_ext.schemas import NotJson

from ...errors import ConfigurationError, ToolError, ValidationError, said_by
from ...files import File
from ...json_text import Json, write_json
from ...machine.contracts import check, require_schema
from ..implementation import to_json_value
from .callables import NO_DEFAULT, Member, members_of

Mode: TypeAlias = Literal["validation", "serialization"]
"""Whether a schema describes JSON that is read, such as parameters, or JSON that is written."""

# Raised by pydantic for a type without a schema: most of its own errors are RuntimeErrors.
_NO_SCHEMA: Final = (ImportError, RuntimeError, NameError, TypeError, AttributeError, ValueError)
# Types that pydantic reads from a text or number whose format nobody could guess.
_WITHOUT_JSON: Final = (bytes, bytearray, memoryview, complex, type, Flag, abc.Iterator)
# The modules of what may have types in its brackets, beside classes of users.
_HINTS: Final = ("typing", "typing_extensions", "types")
_CONTAINERS: Final = ("builtins", "collections", "collections.abc")


@frozen
class JsonType:
    """A Python type as JSON: the schema of its values, and how they are read from JSON.

    What cannot be read is a ValidationError. Python values of the type stay as they are, so that a
    tool can be called with these, too.
    """

    schema: dict[str, Json]
    read: Callable[[Any], Any]


def json_type(hint: Any, mode: Mode = "validation") -> JsonType:
    """A type hint as JSON; one without a JSON form is a ToolError that names it.

    >>> json_type(dict[str, list[int] | None]).schema["additionalProperties"]
    {'anyOf': [{'type': 'array', 'items': {'type': 'integer'}}, {'type': 'null'}]}
    """
    hints = _Hints(mode)
    return hints.read(hints.prepared(hint), getattr(hint, "__name__", ""))


def parameters_type(members: Sequence[Member]) -> JsonType:
    """The parameters of a function as a JSON object, which is read as a dict of arguments.

    The JSON of a default is read as the default, which the hint might read as another value:
    ``Sequence[str] = ()`` as a list. Each call gets a copy, so that a function may change it.
    """
    hints = _Hints("validation")
    made = hints.read(hints.record("Parameters", members, "parameter"), "Parameters")
    schema: dict[str, Any] = {"type": "object", "properties": {}, "required": [], **made.schema}
    defaults = {each.name: each.default for each in members if each.default is not NO_DEFAULT}
    written = {name: repr(to_json_value(default)) for name, default in defaults.items()}

    def read(values: dict[str, Any]) -> Any:
        # The texts differ for 1, 1.0 and True, at every depth.
        kept = [name for name in written if name in values and repr(values[name]) == written[name]]
        given = {name: value for name, value in values.items() if name not in kept}
        return made.read(given) | {name: copy.deepcopy(defaults[name]) for name in kept}

    return JsonType(schema, read)


def _made(hint: Any, mode: Mode, name: str = "") -> JsonType:
    from pydantic import TypeAdapter, ValidationError as Refusal
    from pydantic_core import SchemaError

    try:
        adapter: TypeAdapter[Any] = TypeAdapter(hint)
        schema = plain_schema(adapter.json_schema(mode=mode), name)
    except (*_NO_SCHEMA, SchemaError) as error:
        said = str(error).partition("For further information")[0]
        raise ToolError(" ".join(said.split())) from None

    def read(value: Any) -> Any:
        try:
            text = write_json(value)
        except NotJson:
            text = None  # a Python value, from a call in Python
        try:
            return adapter.validate_python(value) if text is None else adapter.validate_json(text)
        except Refusal as refusal:
            raise ValidationError(_said(refusal)) from None

    try:
        require_schema(schema)
    except ValidationError as error:
        raise ToolError(str(error).partition("\n")[0]) from None
    return JsonType(schema, read)


def _said(refusal: Any) -> str:
    """The message of pydantic's error: one line for each fault, without links."""
    return "\n".join(
        ": ".join(filter(None, [".".join(map(str, error["loc"])), error["msg"]]))
        for error in refusal.errors(include_url=False, include_context=False, include_input=False)
    )


class _Hints:
    """Rewrites type hints to what pydantic reads as we mean them."""

    def __init__(self, mode: Mode) -> None:
        self._mode = mode
        self._records: dict[Any, Any] = {}  # what stands for a class
        self._open: list[Any] = []  # the aliases that are being read
        self._defaults: list[tuple[str, Any, Json]] = []

    def read(self, prepared: Any, name: str) -> JsonType:
        """A hint that was prepared, as JSON; each type in it has to accept its default."""
        made = _made(prepared, self._mode, name)
        for place, hint, written in self._defaults:
            accepted = _made(hint, self._mode)
            try:
                check(accepted.schema, written)
                accepted.read(written)
            except ValidationError as error:
                raise ToolError(f"{place} does not fit its type: {error}") from None
        return made

    def prepared(self, hint: Any) -> Any:
        """The hint for pydantic."""
        kind, args = typing.get_origin(hint) or hint, get_args(hint)
        if hint is Any or hint is object or hint is None:
            return hint
        if not isinstance(kind, type) and type(kind).__module__ not in _HINTS:
            raise _no_form(hint)
        if kind is abc.Callable or isinstance(kind, TypeVar) or _is_a(kind, _WITHOUT_JSON):
            raise _no_form(hint)
        if kind is Literal and args:
            return _choice(hint, args)
        if hasattr(hint, "__supertype__"):  # a NewType
            return self.prepared(hint.__supertype__)
        if hasattr(hint, "__value__"):  # a `type X = …`; one that contains itself is pydantic's
            if isinstance(hint.__value__, str) or hint in self._open:
                return hint
            self._open.append(hint)
            made = self.prepared(hint.__value__)
            self._open.pop()
            return made
        if kind in (abc.Collection, abc.Iterable):  # pydantic reads them not, or once
            kind = list
        if not args or kind.__module__ not in (*_HINTS, *_CONTAINERS):
            return self._class(hint if kind is not list else list)
        if kind is Annotated:
            return Annotated[(self.prepared(args[0]), *map(_extra, args[1:]))]
        if getattr(kind, "_name", None) == "ReadOnly":  # pydantic warns that nobody enforces it
            return self.prepared(args[0])
        if kind is Union or kind is UnionType:
            from pydantic import Strict

            kind = Union  # without Strict, 1.0 would be True in a union with int
            args = tuple(Annotated[bool, Strict()] if each is bool else each for each in args)
        is_map = _is_a(kind, (abc.Mapping,))
        if is_map and args[0] is not str and args[0] is not Any:
            raise ToolError(f"the keys of a JSON object are str, not {_name(args[0])}")
        count = 2 if is_map and kind is not Counter else 1  # that has types of its keys alone
        if _is_a(kind, (abc.Collection,)) and kind is not tuple and len(args) != count:
            raise ToolError(f"{hint} has {len(args)} types in its brackets, not {count}")
        if kind.__module__ != "builtins" and not _has_form(kind, len(args)):
            raise _no_form(hint)
        inside = tuple(each if each is ... else self.prepared(each) for each in args)
        return kind[inside[0] if len(inside) == 1 else inside]

    def record(
        self, name: str, members: Sequence[Member], kind: str, cls: type | None = None
    ) -> Any:
        """A TypedDict with the members of a record, of which `_Reader` makes one of its class.

        Messages call a member by its kind.
        """
        own = None if cls is None or issubclass(cls, dict) else cls  # a TypedDict is made already
        if self._mode == "serialization" and own is not None:
            members = [evolve(m, required=True, default=NO_DEFAULT) for m in members]
        make: Any = TypedDict  # of members that only this run knows
        fields: Any = make(name, {})
        fields.__pydantic_config__ = {"extra": "allow"}  # `_Reader` refuses it with better words
        made: Any = Annotated[fields, _Reader(sorted(m.name for m in members), own)]
        self._records[cls] = made
        fields.__annotations__ = {m.name: self._member(m, f'{kind} "{m.name}"') for m in members}
        fields.__required_keys__ = {member.name for member in members if member.required}
        return made

    def _member(self, member: Member, place: str) -> Any:
        try:
            hint = self.prepared(member.hint)
        except ToolError as error:
            raise ToolError(f"{place}: {error}") from None
        if member.default is NO_DEFAULT:
            return Annotated[hint, _Keywords({}, member.description)]
        place = f"{place}: its default {member.default!r}"
        written = to_json_value(member.default)
        try:
            write_json(written)
        except NotJson:
            raise ToolError(f"{place} is not a JSON value") from None
        if written is not None:  # for a type without null, None means "no value"
            self._defaults.append((place, hint, written))
        return Annotated[hint, _Keywords({"default": written}, member.description)]

    def _class(self, hint: Any) -> Any:
        if hint is File:
            if self._mode == "validation":
                raise ToolError("a File has no JSON form: a tool may return one, and takes none")
            return str
        if isinstance(hint, type) and hint in self._records:
            return self._records[hint]
        if _is_a(hint, (Enum,)):
            return _choice(hint, tuple(hint))
        by_pydantic = hasattr(hint, "__get_pydantic_core_schema__")
        members = members_of(hint) if isinstance(hint, type) and not by_pydantic else None
        if members is not None:
            return self.record(hint.__name__, members, f"{hint.__name__} field", hint)
        try:
            made = _made(hint, self._mode, getattr(hint, "__name__", ""))
        except ToolError as error:
            said = ToolError(f"pydantic has no schema for {_name(hint)}: {error}")
            raise (said if by_pydantic else _no_form(hint)) from None
        if not made.schema and not by_pydantic:
            raise _no_form(hint)  # pydantic checks the class alone, which JSON does not have
        return hint


@frozen(eq=False)
class _Reader:
    """An extra of ``Annotated`` that makes a record of its members; a record stays what it is."""

    known: list[str]
    cls: type | None

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        made = core_schema.no_info_after_validator_function(self._made, handler(source))
        if self.cls is None:
            return made
        either = core_schema.union_schema([core_schema.is_instance_schema(self.cls), made])
        return core_schema.json_or_python_schema(made, either)

    def _made(self, values: dict[str, Any]) -> Any:
        from pydantic_core import PydanticCustomError

        if unknown := [name for name in values if name not in self.known]:
            known = ", ".join(self.known)
            said = f"unknown {', '.join(map(write_json, unknown))}; known: {known}"
            raise PydanticCustomError("unknown", "{said}", {"said": said})
        return values if self.cls is None else self.cls(**values)


@frozen(eq=False)
class _Keywords:
    """An extra of ``Annotated`` that adds keywords to a schema, and a description it has not."""

    keywords: dict[str, Json]
    description: str | None = None

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Json]:
        described = {"description": self.description} if self.description else {}
        return {**described, **handler(core), **self.keywords}


def _extra(extra: Any) -> Any:
    """An extra of ``Annotated``: a str is the description, a dict holds keywords."""
    if isinstance(extra, dict):
        return _Keywords(extra)
    said = extra if isinstance(extra, str) else getattr(extra, "documentation", None)
    return _Keywords({"description": said}) if isinstance(said, str) else extra


def _choice(hint: Any, options: tuple[Any, ...]) -> Any:
    """An Enum or a Literal, whose values have to be scalars; it is read from these."""
    for option in options:
        value = option.value if isinstance(option, Enum) else option
        if type(value) not in (str, int, float, bool, NoneType):
            raise ToolError(f"{_name(hint)} has the value {value!r}, which is not a JSON scalar")
    if not options:
        raise ToolError(f"{_name(hint)} has no members")
    members = [each for each in options if isinstance(each, Enum)]
    if isinstance(hint, type) or not members:
        return hint
    from pydantic import BeforeValidator

    def read(value: Any) -> Any:
        return next((each for each in members if each.value == value), value)

    return Annotated[hint, BeforeValidator(read)]


def _is_a(hint: Any, classes: tuple[type, ...]) -> bool:
    return isinstance(hint, type) and issubclass(hint, classes)


@cache
def _has_form(kind: Any, count: int) -> bool:
    """Whether pydantic reads a type with so many types in its brackets."""
    if kind in (Union, typing.Required, typing.NotRequired):
        return True
    try:
        _made(kind[(str,) * count if count > 1 else str], "validation")
    except ToolError:
        return False
    return True


def _name(hint: Any) -> str:
    if not isinstance(hint, type) or get_args(hint):
        return str(hint)
    module = "" if hint.__module__ == "builtins" else f"{hint.__module__}."
    return f"{module}{hint.__qualname__}"


def _no_form(hint: Any) -> ToolError:
    return ToolError(
        f"{_name(hint)} has no JSON form; use str, int, float, bool, list, dict, Literal, an Enum, "
        f"a record class, Any or a type that pydantic can write as JSON"
    )


V = TypeVar("V")


@frozen
class AnswerType(Generic[V]):
    """A Python type that an answer has to be of: its `Answer` declares it in a program."""

    name: str
    pattern: Pattern
    schema: dict[str, Json]
    _read: Callable[[Json], V]

    def read(self, value: Json) -> V:
        """The Python value of an answer; a ValidationError if the type refuses it."""
        try:
            check(self.schema, value)
            return self._read(value)
        except ValidationError as error:
            raise ValidationError(f"the answer is no {self.name}: {error.message}") from None
        except Exception as error:  # the user's code: a constructor or a validator
            raise ValidationError(f"the answer is no {self.name}: {said_by(error)}") from error


def answer_of(answer_type: Any) -> Pattern:
    """The ``Answer`` that declares a Python type in a program.

    Args:
        answer_type: a pydantic model, dataclass, attrs class, TypedDict, enum, list, union,
            primitive: what a parameter of a `tool` may be.

    Raises:
        ConfigurationError: it has no JSON form.

    >>> from lenses_ext import write_program
    >>> write_program(answer_of(list[int]))
    '(:Answer:Array {elementType: "Integer"})'
    """
    return answer_type_of(answer_type, by="answer_of").pattern


def answer_type_of(answer_type: type[V] | Any, *, by: str) -> AnswerType[V]:
    """A Python type as what an answer has to be, see `answer_of`; errors name who asks."""
    name = answer_type.__name__ if isinstance(answer_type, type) else str(answer_type)
    try:
        made = json_type(answer_type)
        pattern = json_schema_to_answer(made.schema, name if name.isidentifier() else "result")
    except (ToolError, SignatureError) as error:
        raise ConfigurationError(f"{by}: an answer cannot be of this type: {error}") from None
    return AnswerType(name, pattern, made.schema, made.read)


# The order in which signatures list the types of a union.
_ORDER: Final = ["string", "integer", "number", "boolean", "null"]
_SAYS_NOTHING: Final[dict[str, tuple[Json, ...]]] = {
    "items": ({},),
    "additionalProperties": (True, {}),
    "properties": ({},),
}
# What pydantic leaves of constraints that do not apply to a type.
_NO_KEYWORDS = ("ge", "gt", "le", "lt", "multiple_of", "min_length", "max_length")


def plain_schema(schema: dict[str, Any], name: str) -> dict[str, Json]:
    """The schema of a named type with its definitions in place, but those that contain themselves.

    Titles that pydantic makes of names are left out, and so are keywords that say nothing. A
    constraint that does not apply to its type is a ToolError.

    >>> plain_schema({"anyOf": [{"type": "null"}, {"type": "string"}], "title": "X"}, "X")
    {'type': ['string', 'null']}
    """
    definitions = schema.get("$defs", {})
    uses: dict[str, set[str]] = {}
    for key, each in definitions.items():
        found = re.findall(r'"#/\$defs/([^"]+)"', json.dumps(each, default=str))
        uses[key] = {*found} & definitions.keys()
    for _ in definitions:  # until it has what is used by what is used, too
        uses = {key: used.union(*(uses[each] for each in used)) for key, used in uses.items()}
    inline = {key: each for key, each in definitions.items() if key not in uses[key]}
    plain = _plain({key: each for key, each in schema.items() if key != "$defs"}, name, inline)
    kept = {key: _plain(definitions[key], key, inline) for key in definitions.keys() - inline}
    return {**plain, "$defs": dict(sorted(kept.items()))} if kept else plain


def _plain(schema: Any, name: str, inline: dict[str, Any]) -> Any:
    if not isinstance(schema, dict):
        return schema
    used = schema.get("$ref", "").removeprefix("#/$defs/")
    if used in inline:
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        return {**_plain(inline[used], used, inline), **_plain(beside, name, inline)}
    found: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("properties", "patternProperties", "$defs"):
            value = {called: _plain(below, called, inline) for called, below in value.items()}
        elif key in ("anyOf", "oneOf", "allOf", "prefixItems"):
            value = [_plain(below, name, inline) for below in value]
        elif key in ("items", "additionalProperties"):
            value = _plain(value, name, inline)
        # The definitions that a discriminator refers to are in place now.
        if key == "discriminator" or (key == "title" and _bare(value) == _bare(name)):
            continue
        if value not in _SAYS_NOTHING.get(key, ()):
            found[key] = value
    _require_constraints(found)
    options = found.get("anyOf", ())
    if options and all(each.keys() == {"type"} and each["type"] in _ORDER for each in options):
        types = sorted({each["type"] for each in found.pop("anyOf")}, key=_ORDER.index)
        found["type"] = types[0] if len(types) == 1 else types
    return {"type": found["type"], **found} if "type" in found else found


def _require_constraints(schema: dict[str, Any]) -> None:
    kind = schema.get("type")
    lengths = ("minLength", "maxLength") if kind in _ORDER[1:] else ()
    for key in (*_NO_KEYWORDS, *lengths):
        if key in schema:
            raise ToolError(f"{key}={schema[key]!r} does not constrain a type like {kind}")


def _bare(title: str) -> str:
    return "".join(filter(str.isalnum, title.rpartition("__")[2])).lower()
