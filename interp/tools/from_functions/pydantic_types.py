"""Reads and writes types with pydantic: its models, dates, UUIDs, decimals, paths, ….

Pydantic is imported only when a tool has such a type, because importing it and making its first
adapter takes 50 to 80 ms. The first tool with only plain types, records and enums takes 5 to 8 ms.
"""

from __future__ import annotations

import collections.abc as abc
from collections.abc import Iterator
from contextlib import suppress
from enum import Flag
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from lenses_ext.schemas import NotJson

from ...errors import ToolError, ValidationError
from ...json_text import Json, write_json
from .forms import TypeForm

if TYPE_CHECKING:
    from pydantic import ValidationError as Refusal

Mode: TypeAlias = Literal["validation", "serialization"]
"""Whether a schema describes JSON that is read or JSON that is written."""

_WITHOUT_JSON: Final = (bytes, bytearray, memoryview, complex, type, Flag, abc.Iterator)
"""Types that pydantic reads from a text or number whose format nobody could guess."""

_HOOKS = ("__get_pydantic_core_schema__", "__get_pydantic_json_schema__")
_OPTIONS = ("discriminator", "strip_whitespace", "to_lower", "to_upper")  # of Field and the like

_NO_SCHEMA = (ImportError, RuntimeError, NameError, TypeError, AttributeError)
"""Raised by pydantic for a type without a schema: its own errors are RuntimeErrors."""

_NAMED_BELOW = ("properties", "patternProperties", "$defs")
_LISTED_BELOW = ("anyOf", "oneOf", "allOf", "prefixItems")
_BELOW = ("items", "additionalProperties")


def is_pydantic_class(cls: type) -> bool:
    """Whether a class is a pydantic model or dataclass, or has pydantic's hooks for reading it."""
    return hasattr(cls, "__pydantic_serializer__") or hasattr(cls, "__get_pydantic_core_schema__")


def is_pydantic_extra(extra: Any) -> bool:
    """Whether an extra of ``Annotated`` changes how pydantic reads a type, such as a validator."""
    return any(hasattr(extra, hook) for hook in _HOOKS) or any(
        getattr(extra, option, None) for option in _OPTIONS
    )


def pydantic_form(hint: Any, mode: Mode = "validation") -> TypeForm | None:
    """The form of a type that pydantic reads, or None if pydantic has no JSON form for it.

    Titles that pydantic generates from names are left out: nobody writes them in a program,
    and the schema of a signature in a program has to equal this one.

    Args:
        hint: the type.
        mode: whether the schema describes JSON that is read or written. The definitions that it
            needs are under ``$defs``.

    Raises:
        ToolError: the type is a pydantic class, or generic, and pydantic has no schema for it.

    >>> import uuid
    >>> pydantic_form(uuid.UUID).schema
    {'type': 'string', 'format': 'uuid'}
    """
    cls = hint if isinstance(hint, type) else getattr(hint, "__origin__", None)
    if isinstance(cls, type) and issubclass(cls, _WITHOUT_JSON):
        return None
    from pydantic import TypeAdapter, ValidationError as Refusal

    name = getattr(cls, "__name__", str(hint))
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(hint)
        schema = adapter.json_schema(mode=mode)
    except _NO_SCHEMA as error:
        if not isinstance(cls, type) or is_pydantic_class(cls):
            reason = str(error).partition("\n")[0]
            raise ToolError(f"pydantic has no schema for {name}: {reason}") from None
        return None

    def read(value: Any) -> Any:
        if isinstance(hint, type) and isinstance(value, hint):
            return value
        try:
            return _validated(adapter, value)
        except Refusal as refusal:
            raise ValidationError(_said(refusal)) from None

    plain = _without_made_up_titles(schema, name)
    if not plain and not (isinstance(cls, type) and is_pydantic_class(cls)):
        return None  # pydantic checks the class alone, which JSON does not have
    return TypeForm(plain, read, by_pydantic=True)


def pydantic_json(value: Any) -> Any:
    """Convert a value to JSON with pydantic; return it unchanged if pydantic cannot.

    >>> import datetime
    >>> pydantic_json(datetime.date(2026, 11, 22))
    '2026-11-22'
    """
    if isinstance(value, _WITHOUT_JSON):
        return value
    from pydantic import TypeAdapter
    from pydantic_core import PydanticSerializationError, to_jsonable_python

    with suppress(PydanticSerializationError):
        return to_jsonable_python(value, by_alias=True)
    # Some types are known to pydantic only by their hint.
    with suppress(PydanticSerializationError, *_NO_SCHEMA):
        return TypeAdapter(type(value)).dump_python(value, mode="json", by_alias=True)
    return value


def _validated(adapter: Any, value: Any) -> Any:
    try:
        text = write_json(value)
    except NotJson:  # a Python value, from a call in Python
        return adapter.validate_python(value)
    return adapter.validate_json(text)


def _said(refusal: Refusal) -> str:
    """The message of pydantic's error: one line for each fault, without links."""
    return "\n".join(
        ": ".join(filter(None, [".".join(map(str, error["loc"])), error["msg"]]))
        for error in refusal.errors(include_url=False, include_context=False, include_input=False)
    )


def _without_made_up_titles(schema: dict[str, Json], name: str) -> dict[str, Json]:
    for called, below in _schemas(schema, name):
        if _bare(below.get("title")) == _bare(called):
            del below["title"]
    return {"type": schema["type"], **schema} if "type" in schema else schema


def _schemas(schema: Json, name: str) -> Iterator[tuple[str, dict[str, Json]]]:
    """Yield a schema and all schemas inside it, each with the name of its type or member."""
    if not isinstance(schema, dict):
        return
    yield name, schema
    for key in _NAMED_BELOW:
        for below_name, below in schema.get(key, {}).items():
            yield from _schemas(below, below_name)
    for key in _LISTED_BELOW:
        for below in schema.get(key, []):
            yield from _schemas(below, name)
    for key in _BELOW:
        yield from _schemas(schema.get(key), name)


def _bare(title: Json) -> str | None:
    return "".join(filter(str.isalnum, title)).lower() if isinstance(title, str) else None
