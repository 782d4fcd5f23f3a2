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
from lenses_ext.language import tool_spec_of

from ..models import CHAT_FIELDS

if TYPE_CHECKING:
    from pyagentspec import Property

Tell: TypeAlias = Callable[[str, str], None]
"""Takes the path of what has no counterpart, and the reason."""

OUTPUT: Final = "output"
TEXT: Final = {"type": "string"}
KINDS: Final = {"Ollama": "OllamaConfig", "vLLM": "VllmConfig", "OpenAI": "OpenAiConfig"}
"""The LLM configurations that are of one provider."""
SETTINGS: Final = {
    field: setting for setting, field in {**CHAT_FIELDS, "maxTokens": "max_tokens"}.items()
}
"""The settings of a program, by the generation parameters that they are."""
REFUSALS: Final = (ValueError, TypeError, AttributeError, NotImplementedError, RecursionError)
"""What the package raises where it does not take something, or trips over it."""
_NOT_IN_TITLES: Final = re.compile(r"""[.,{} \n'"]""")
NOT_IN_PLACEHOLDERS: Final = re.compile(r"\W")


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
        return lenses_ext.json_schema_to_type_signature(self.inputs, return_schema=self.result)


def handed_on(names: list[str]) -> str:
    """The end of a prompt that says what an agent is called with, as its message does here."""
    if len(names) == 1:
        return f"\n\n{{{{{names[0]}}}}}"
    return "\n\n" + "\n".join(f"{name}: {{{{{name}}}}}" for name in names) if names else ""


# --- from Agent Spec


def types_of(component: Any, path: str, tell: Tell) -> Types:
    """The types of the inputs and outputs of a component; what we cannot say is told."""
    inputs = _object(component.inputs or (), f"{path}.inputs", tell)
    whole = _object(component.outputs or (), f"{path}.outputs", tell)
    fields = whole["properties"]
    if len(fields) != 1:
        return Types(inputs, whole | {"required": [*fields]} if fields else None)
    ((title, schema),) = fields.items()
    named = {} if title == OUTPUT else {"title": title}
    return Types(
        inputs, {**schema, **named, **{key: whole[key] for key in whole if key == "$defs"}}
    )


def _object(given: Iterable[Property], path: str, tell: Tell) -> dict[str, Any]:
    """The schema of an object with a field for each property."""
    made: dict[str, Any] = {"type": "object", "properties": {}, "required": []}
    definitions: dict[str, Any] = {}
    for each in given:
        at = f"{path}.{each.title}"
        schema = _readable(each, at, tell)
        own = schema.pop("$defs", {})
        if any(definitions.get(name, own[name]) != own[name] for name in own):
            tell(at, "its $defs say otherwise what a name is elsewhere")
            own, schema = {}, {}
        definitions |= own
        made["properties"][each.title] = schema
        if "default" not in schema:
            made["required"].append(each.title)
    return made | ({"$defs": definitions} if definitions else {})


def _readable(given: Property, path: str, tell: Tell) -> dict[str, Any]:
    """The schema of a property without its title; anything may come where it is not read."""
    schema = {key: value for key, value in given.json_schema.items() if key != "title"}
    whole = {"type": "object", "properties": {"x": schema}, "$defs": schema.get("$defs", {})}
    try:
        lenses_ext.json_schema_to_type_signature(whole)
    except lenses_ext.SignatureError as error:
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
    return Types(lenses_ext.view(lenses_ext.tool_spec_schema, spec), lenses_ext.result_schema(spec))


def written_inputs(
    types: Types, path: str, tell: Tell, refused: re.Pattern[str] = _NOT_IN_TITLES
) -> list[Property]:
    """The parameters as inputs, without the characters refused; what inputs cannot say is told."""
    root = types.inputs
    for key in sorted({*root} - {"type", "properties", "required", "$defs"}):
        tell(f"{path}.{key}", "what is said of all parameters together has no counterpart")
    made = []
    for name, schema in root["properties"].items():
        if name not in root["required"] and "default" not in schema:
            tell(f"{path}.{name}", "an input without a default has to be given: optional is lost")
        definitions = root.get("$defs", {})
        made.append(_property(name, schema, definitions, f"{path}.{name}", tell, refused))
    return made


def written_outputs(types: Types, path: str, tell: Tell, *, split: bool = True) -> list[Property]:
    """The result as outputs: one, or with ``split`` one for each field of a record."""
    result = types.result
    if result is None:
        return []
    fields = result.get("properties", {})
    is_record = not {*result} - {"type", "properties", "required"} and len(fields) > 1
    if split and is_record and {*fields} == {*result.get("required", ())}:
        return [_property(name, fields[name], {}, f"{path}.{name}", tell) for name in fields]
    named = {key: value for key, value in result.items() if key != "title"}
    return [_property(result.get("title", OUTPUT), named, {}, f"{path}.{OUTPUT}", tell)]


def _property(
    name: str, schema: Any, definitions: Mapping[str, Any], path: str, tell: Tell,
    refused: re.Pattern[str] = _NOT_IN_TITLES,
) -> Property:  # fmt: skip
    from pyagentspec import Property  # imported late, as everything of it: few need it

    title = refused.sub("_", name) or "_"
    if title != name:
        tell(path, f'its name is written "{title}", as that of an input or output can be')
    given = {} if schema is True else _with_titles_that_are_taken(schema, path, tell)
    if isinstance(given.get("title"), str):
        tell(f"{path}.title", "the title is the name there")
    used = {"$defs": {**definitions}} if definitions and "$ref" in str(given) else {}
    try:
        return Property(json_schema={**given, **used, "title": title})
    except REFUSALS as error:
        tell(path, f"its type is not taken, so anything may come: {words_of(error)}")
        return Property(json_schema={"title": title})


def _with_titles_that_are_taken(schema: Any, path: str, tell: Tell) -> Any:
    """A schema without the titles at any depth for which the package would refuse all of it."""
    if isinstance(schema, list):
        return [_with_titles_that_are_taken(each, path, tell) for each in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {}
    for key, value in schema.items():
        if key == "title" and isinstance(value, str) and _NOT_IN_TITLES.search(value):
            tell(f"{path}.title", f'a title has no blanks and no quotes: "{value}" is left out')
        else:
            kept[key] = _with_titles_that_are_taken(value, path, tell)
    return kept


def words_of(error: Exception) -> str:
    """What an error of the package says, without the addresses that it adds."""
    faults: list[Any] = getattr(error, "errors", list)()
    said = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}".strip(": ") for each in faults]
    return "; ".join(said) or f"{type(error).__name__}: {error}".partition("\n")[0]
