"""Inputs and outputs of Agent Spec as the types of our signatures, and back.

One output is the result itself, under a title; several are the fields of a record. The title
``output`` is the one that is written where a result has none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from attrs import frozen

import lenses_ext
from gram import GramError, Pattern
from lenses_ext import SignatureError, json_schema_to_type_signature, view
from lenses_ext.language import tool_spec_of

if TYPE_CHECKING:
    from pyagentspec import Property

Tell: TypeAlias = Callable[[str, str], None]
"""Takes the path of what has no counterpart, and the reason."""

OUTPUT: Final = "output"
TEXT: Final = {"type": "string"}
PLACEHOLDER: Final = re.compile(r"\W")
"""A character that a name in a prompt, ``{{name}}``, may not have."""
_NOT_IN_TITLES: Final = re.compile(r"""[.,{} \n'"]""")


REFUSALS: Final = (ValueError, TypeError, AttributeError, NotImplementedError, RecursionError)
"""What the package raises where it does not take something, or trips over it."""


class NoCounterpartError(GramError):
    """Nothing can be made of a component, or of a part of a program; with its path."""


@frozen
class Types:
    """What a component takes and gives.

    Attributes:
        inputs: the schema of the object of its parameters.
        result: the schema of its result, or None where it gives none.
    """

    inputs: dict[str, Any]
    result: dict[str, Any] | None

    @property
    def signature(self) -> str:
        """The text of the signature."""
        return json_schema_to_type_signature(self.inputs, return_schema=self.result)


# --- from Agent Spec


def types_of(
    inputs: Iterable[Property], outputs: Iterable[Property], path: str, tell: Tell
) -> Types:
    """The types of the inputs and outputs of a component; what we cannot say is told."""
    root: dict[str, Any] = {"type": "object", "properties": {}, "required": []}
    definitions: dict[str, Any] = {}
    for each in inputs:
        schema = _readable(each, f"{path}.inputs.{each.title}", tell)
        own = schema.pop("$defs", {})
        if any(definitions.get(name, own[name]) != own[name] for name in own):
            tell(f"{path}.inputs.{each.title}", "its $defs say otherwise what a name is elsewhere")
            own, schema = {}, {}
        definitions |= own
        root["properties"][each.title] = schema
        if "default" not in schema:
            root["required"].append(each.title)
    if definitions:
        root["$defs"] = definitions
    fields = {each.title: _readable(each, f"{path}.outputs.{each.title}", tell) for each in outputs}
    if len(fields) == 1:
        ((title, schema),) = fields.items()
        return Types(root, schema if title == OUTPUT else {**schema, "title": title})
    whole = {"type": "object", "properties": fields, "required": [*fields]}
    return Types(root, whole if fields else None)


def _readable(given: Property, path: str, tell: Tell) -> dict[str, Any]:
    """The schema of a property without its title; anything may come where it is not read."""
    schema = {key: value for key, value in given.json_schema.items() if key != "title"}
    try:
        json_schema_to_type_signature({"type": "object", "properties": {"x": {**schema}}} | {
            key: schema[key] for key in ("$defs",) if key in schema
        })  # fmt: skip
    except SignatureError as error:
        tell(path, f"its type is not read, so anything may come: {error.faults[0].message}")
        return {}
    items = schema.get("items")
    if isinstance(items, dict) and items.get("title") == OUTPUT:  # of a step that is mapped
        schema["items"] = {key: value for key, value in items.items() if key != "title"}
    return schema


# --- to Agent Spec


def types_in(pattern: Pattern) -> Types:
    """What a tool, an agent or a workflow takes and gives."""
    spec = tool_spec_of(pattern)
    return Types(view(lenses_ext.tool_spec_schema, spec), lenses_ext.result_schema(spec))


def written_inputs(
    types: Types, path: str, tell: Tell, refused: re.Pattern[str] = _NOT_IN_TITLES
) -> list[Property]:
    """The parameters as inputs; what inputs cannot say is told.

    Args:
        types: what the component takes.
        path: where it is.
        tell: takes what is lost.
        refused: the characters that a name has not; a ``_`` takes their place.
    """
    root = types.inputs
    for key in sorted({*root} - {"type", "properties", "required", "$defs"}):
        tell(f"{path}.{key}", "what is said of all parameters together has no counterpart")
    made = []
    for name, schema in root["properties"].items():
        if name not in root["required"] and "default" not in schema:
            tell(f"{path}.{name}", "an input without a default has to be given: optional is lost")
        title = refused.sub("_", name) or "_"
        if title != name:
            tell(f"{path}.{name}", f'its name is written "{title}", as that of an input can be')
        made.append(_property(title, schema, root.get("$defs", {}), f"{path}.{name}", tell))
    return made


def written_outputs(types: Types, path: str, tell: Tell, *, split: bool = True) -> list[Property]:
    """The result as outputs: one, or with ``split`` one for each field of a record."""
    result = types.result
    if result is None:
        return []
    if split and is_record(result):
        fields = result["properties"].items()
        return [_property(name, each, {}, f"{path}.{name}", tell) for name, each in fields]
    named = {key: value for key, value in result.items() if key != "title"}
    return [_property(result.get("title", OUTPUT), named, {}, f"{path}.{OUTPUT}", tell)]


def is_usual(inputs: Mapping[str, Any]) -> bool:
    """Whether inputs are those of whatever has no signature: one text, ``input``."""
    return dict(inputs["properties"]) == {"input": TEXT}


def is_record(result: Mapping[str, Any] | None) -> bool:
    """Whether a result is an object whose fields can be several outputs, and nothing else."""
    if result is None or {*result} - {"type", "properties", "required"}:
        return False
    fields = result.get("properties", {})
    return len(fields) > 1 and {*fields} == {*result.get("required", ())}


def _property(
    name: str, schema: Any, definitions: Mapping[str, Any], path: str, tell: Tell
) -> Property:
    from pyagentspec import Property  # imported late, as everything of it: few need it

    title = _NOT_IN_TITLES.sub("_", name) or "_"
    cleaned = {} if schema is True else _cleaned(schema, path, tell)
    if isinstance(cleaned.get("title"), str):
        tell(f"{path}.title", "the title is the name there")
    if definitions and "$ref" in str(cleaned):
        cleaned["$defs"] = {**definitions}
    try:
        return Property(json_schema={**cleaned, "title": title})
    except REFUSALS as error:
        tell(path, f"its type is not taken, so anything may come: {words_of(error)}")
        return Property(json_schema={"title": title})


def _cleaned(schema: Any, path: str, tell: Tell) -> Any:
    """A schema as the package takes it: no titles with blanks, no bare true at any depth."""
    if isinstance(schema, list):
        return [_cleaned(each, path, tell) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {}
    for key, value in schema.items():
        if key == "title" and isinstance(value, str) and _NOT_IN_TITLES.search(value):
            tell(f"{path}.title", f'a title has no blanks and no quotes: "{value}" is left out')
        else:
            made[key] = {} if key == "items" and value is True else _cleaned(value, path, tell)
    return made


def words_of(error: Exception) -> str:
    """What an error of the package says, without the addresses that it adds."""
    faults: list[Any] = getattr(error, "errors", list)()
    said = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}".strip(": ") for each in faults]
    return "; ".join(said) or f"{type(error).__name__}: {error}".partition("\n")[0]
