"""The form of an object with named members: parameters of a function, fields of a record."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from lenses_ext.schemas import NotJson

from ...errors import ToolError, ValidationError
from ...json_text import Json, write_json
from ...machine.contracts import check
from .forms import Definitions, TypeForm
from .json_values import to_json_value
from .records import NO_DEFAULT, Member


def object_form(
    members: Iterable[Member],
    kind: str,
    form_of: Callable[[Any], TypeForm],
    definitions: Definitions,
) -> TypeForm:
    """The form of an object with these members; ``read`` returns a dict of Python values.

    Args:
        members: the members, in order.
        kind: the word for a member in error messages.
        form_of: makes the form of a type hint.
        definitions: the types that these forms refer to.

    Raises:
        ToolError: a member has no JSON form; the message names it.
    """
    forms: dict[str, TypeForm] = {}
    required = []
    for member in members:
        try:
            forms[member.name] = _member(member, form_of(member.hint), definitions)
        except ToolError as error:
            raise ToolError(f'{kind} "{member.name}": {error}') from None
        if member.required:
            required.append(member.name)
    properties = {name: form.schema for name, form in forms.items()}

    def read(value: Mapping[str, Json]) -> dict[str, Any]:
        if unknown := [name for name in value if name not in forms]:
            names, known = ", ".join(map(write_json, unknown)), ", ".join(sorted(forms))
            raise ValidationError(f"unknown {names}; known: {known}")
        return {name: read_member(name, below) for name, below in value.items()}

    def read_member(name: str, value: Json) -> Any:
        try:
            return forms[name].read(value)
        except ValidationError as error:
            raise ValidationError(f"{name}: {error}") from None

    return TypeForm({"type": "object", "properties": properties, "required": required}, read)


def _member(member: Member, form: TypeForm, definitions: Definitions) -> TypeForm:
    schema = dict(form.schema)
    if member.description and "description" not in schema:
        schema["description"] = member.description
    if member.default is NO_DEFAULT:
        return TypeForm(schema, form.read)
    written = _default(member.default, form, definitions.rooted(schema))
    exact = repr(written)  # differs for 1, 1.0 and True, at every depth

    def read(value: Json) -> Any:
        """Give the Python default for its JSON, which the hint might read as another value.

        ``Sequence[str] = ()`` would be a list, for example. Each call gets a copy, so that a
        function may change its default.
        """
        is_default = type(value) is type(written) and repr(value) == exact
        return copy.deepcopy(member.default) if is_default else form.read(value)

    return TypeForm({**schema, "default": written}, read)


def _default(default: Any, form: TypeForm, schema: dict[str, Json]) -> Json:
    """The default as JSON, which the schema of its member has to accept."""
    value = to_json_value(default)
    try:
        write_json(value)
    except NotJson:
        raise ToolError(f"its default {default!r} is not a JSON value") from None
    if value is None:
        return None  # if the type allows no null, it means "no value", see `validate_tool_args`
    try:
        check(schema, value)
        if form.by_pydantic:  # pydantic may check more than the schema says
            form.read(value)
    except ValidationError as error:
        raise ToolError(f"its default {default!r} does not fit its type: {error}") from None
    return value
