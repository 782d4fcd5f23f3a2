"""Lists of tools in the JSON of others: OpenAI, Anthropic and MCP, read and written.

`TOOL_FORMS` has a row for each form. What a form has no place for is told, never left out silently.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from attrs import frozen

import lenses_ext
from gram import GramError, Pattern
from gram.words import did_you_mean
from lenses_ext import tool_spec_name, view
from lenses_ext.language import wire_name
from lenses_ext.schemas import check_json, same_json

from ...errors import ValidationError
from ...json_text import Json, write_json
from ...shown import shortened
from .schema_forms import strict_schema


@frozen
class ToolForm:
    """How tools are written in one form.

    Attributes:
        schema, result: the keys of the schemas of parameters and result.
        results: the results whose types it says.
        inside: the key of the object that holds all these, or None.
        is_typed: whether a tool says that it is a function.
        has_strict: whether it has strict schemas.
        names: whether it takes every name; others take those of `wire_name`.
    """

    schema: str
    result: str = ""
    results: Literal["none", "objects", "all"] = "none"
    inside: str | None = None
    is_typed: bool = False
    has_strict: bool = False
    names: bool = False


# fmt: off
TOOL_FORMS: Final[Mapping[str, ToolForm]] = {
    "openai": ToolForm("parameters", inside="function", is_typed=True, has_strict=True),
    "openai-functions": ToolForm("parameters", has_strict=True),
    "openai-responses": ToolForm("parameters", is_typed=True, has_strict=True),
    "anthropic": ToolForm("input_schema"),
    "mcp": ToolForm("inputSchema", "outputSchema", "objects", names=True),
    "spec": ToolForm("schema", results="all", names=True),
}
# fmt: on
"""The forms that are read and written: OpenAI's three (tools of Chat Completions, the older
functions, and Responses), Anthropic's, MCP's, and the form of the specification."""


def tool_to_json(tool: Pattern, form: str, *, strict: bool = False) -> dict[str, Json]:
    """A tool in one of the `TOOL_FORMS`, a fresh copy.

    Args:
        strict: whether the provider enforces the schema; see
            `interp.machine.contracts.schema_forms`.

    Raises:
        ToolError: the schema has no strict form.
    """
    if form == "spec":
        return lenses_ext.tool_spec_to_json(tool)
    row, name = TOOL_FORMS[form], view(tool_spec_name, tool)
    made: dict[str, Json] = {
        "name": name if row.names else wire_name(name),
        "description": view(lenses_ext.tool_spec_description, tool),
        row.schema: view(lenses_ext.tool_spec_schema, tool),
    }
    result = lenses_ext.result_schema(tool)
    if row.results == "objects" and result is not None and result.get("type") == "object":
        made[row.result] = result
    if strict:
        made[row.schema] = strict_schema(made[row.schema], made["name"])
    if strict or form == "openai-responses":  # which makes schemas strict unless it is told
        made["strict"] = strict
    made = {row.inside: made} if row.inside else made
    return {"type": "function", **made} if row.is_typed else made


Tell = Callable[[str], object]
"""Takes a sentence about what was left out."""


def tools_from_json(data: Json, *, tell: Tell = lambda _: None) -> tuple[Pattern, ...]:
    """Read the tools in a list of tools, each in the form it is written in (see `TOOL_FORMS`).

    Args:
        data: the list, one tool, or an object that has the list under ``tools`` or ``functions``,
            such as the body of a request or the result of MCP's ``tools/list``.
        tell: called with a sentence for each thing that a specification has no place for.

    Raises:
        NotJson: it is not JSON.
        ValidationError: it is no list of tools, or a tool cannot be read; the path says which.

    >>> (tool,) = tools_from_json({"name": "now", "description": "Says the time.",
    ...                            "input_schema": {"type": "object", "properties": {}}})
    >>> tool.value.identity
    'now'
    """
    check_json(data)
    left = _LeftOut(list)
    found: dict[str, Pattern] = {}
    for path, tool in _each_tool(data, "$", left):
        spec = _read(path, tool, left)
        name = view(tool_spec_name, spec)
        if name in found:
            raise ValidationError(f'{path}: there is another tool "{name}" in the list')
        found[name] = spec
    _tell_of(left, tell)
    return tuple(found.values())


def tools_to_json(
    tools: Sequence[Pattern], form: str, *, strict: bool = False, tell: Tell = lambda _: None
) -> Json:
    """Write tool specifications as a list of tools.

    Args:
        form: a name in `TOOL_FORMS`.
        strict: write schemas that OpenAI can enforce.
        tell: called with a sentence for each thing that the form has no place for.

    Raises:
        ValidationError: there is no such form, or it has no strict schemas.
        ToolError: a schema has no strict form.
    """
    if form not in TOOL_FORMS:
        hint = did_you_mean(form, TOOL_FORMS) or f"there are {', '.join(TOOL_FORMS)}"
        raise ValidationError(f'there is no form "{form}" of tools; {hint}')
    if strict and not TOOL_FORMS[form].has_strict:
        having = ", ".join(name for name, each in TOOL_FORMS.items() if each.has_strict)
        raise ValidationError(f"{form} has no strict form; {having} have one")
    left = _LeftOut(list)
    for each in tools:
        _compare(each, form, left)
    written = [tool_to_json(each, form, strict=strict) for each in tools]
    _tell_of(left, tell)
    return written


_LeftOut: TypeAlias = defaultdict[str, list[str]]
"""What has no counterpart in the other form, and in which tools."""


def _tell_of(left: _LeftOut, tell: Tell) -> None:
    for reason, tools in left.items():
        tell(f"{reason}: {', '.join(dict.fromkeys(tools))}")


def _compare(tool: Pattern, form: str, left: _LeftOut) -> None:
    """Note what a form does not say of a tool."""
    name, result, row = view(tool_spec_name, tool), lenses_ext.result_schema(tool), TOOL_FORMS[form]
    if not row.names and wire_name(name) != name:
        left[f"{form} does not take every name; changed"].append(name)
    if result is None or row.results == "all":
        return
    if row.results == "none":
        left[f"{form} has no types of results; left out"].append(name)
    elif result.get("type") != "object":
        left[f"{form} has types only of results that are objects; left out"].append(name)


# --- reading


def _each_tool(data: Json, path: str, left: _LeftOut) -> Iterator[tuple[str, dict[str, Json]]]:
    """The tools in a list, a tool or what is around a list, with their paths."""
    if isinstance(data, list):
        for index, each in enumerate(data):
            yield from _each_tool(each, f"{path}[{index}]", left)
        return
    if not isinstance(data, dict):
        raise ValidationError(f"{path}: expected a tool or a list of tools, found {_shown(data)}")
    if _is_tool(data):
        yield path, data
    elif data.keys() & {*_AROUND}:
        for key in (each for each in _AROUND if data.get(each) is not None):
            inside = _expected(data[key], (list, dict), f"{path}.{key}", "a list of tools")
            yield from _each_tool(inside, f"{path}.{key}", left)
    else:
        _leave_out(data, path, left)


_AROUND: Final = ("tools", "functions", "result")


def _is_tool(data: dict[str, Json]) -> bool:
    """Whether it is a tool to be called, and not one that a provider has."""
    if data.get("type") in (None, "function"):
        return "name" in data or "function" in data
    return "function" in data or ("name" in data and bool(data.keys() & _SCHEMAS))


_SCHEMAS: Final = {form.schema for form in TOOL_FORMS.values()}


def _leave_out(data: dict[str, Json], path: str, left: _LeftOut) -> None:
    """Leave out what a provider does by itself, such as a search; all else is a fault."""
    kind = data.get("type")
    if kind == "custom":
        left['"custom" takes a text in place of arguments; left out'].append(path)
    elif isinstance(kind, str) and kind not in ("function", "object"):
        left[f'"{kind}" is done by the provider itself; left out'].append(path)
    else:
        keys = ", ".join(data) or "no keys"
        raise ValidationError(f"{path}: a tool has a name; this has {keys}")


def _read(path: str, data: dict[str, Json], left: _LeftOut) -> Pattern:
    """The specification of one tool; in its own form its signature counts, not its schema."""
    form = _form_of(data)
    row, inner = TOOL_FORMS[form], data
    if row.inside is not None:
        path = f"{path}.{row.inside}"
        inner = _expected(data[row.inside], dict, path, "an object")
    name = inner.get("name")
    if not isinstance(name, str) or not name.strip():
        raise ValidationError(f"{path}.name: expected the name of a tool, found {_shown(name)}")
    kinds = (dict, type(None))
    schema = _expected(inner.get(row.schema), kinds, f"{path}.{row.schema}", "a schema")
    result = _expected(inner.get(row.result), kinds, f"{path}.{row.result}", "a schema")
    read = {"name", "description", "typeSignature", row.inside, row.schema, row.result}
    for key, value in {**data, **inner}.items():
        is_kind = key == "type" and value in ("function", "custom")
        if key not in read and not is_kind and value is not None and value is not False:
            left[f'a specification has no place for "{key}"; left out'].append(name)
    said = inner.get("description")
    description = _expected(said, (str, type(None)), f"{path}.description", "text")
    if form != "spec" and not (description and description.strip()):
        left["no description, so the name is used for it"].append(name)
        description = name
    try:
        if form == "spec":
            spec = lenses_ext.tool_spec_from_json(data)
        else:
            given = {"type": "object", "properties": {}} if schema is None else schema
            signature = lenses_ext.json_schema_to_type_signature(given, return_schema=result)
            spec = lenses_ext.create_tool_specification(name, description, signature)
    except GramError as error:
        raise ValidationError(f'{path}: tool "{name}": {error}') from None
    if form == "spec" and schema and not same_json(schema, view(lenses_ext.tool_spec_schema, spec)):
        left['"schema" says other types than "typeSignature", which counts'].append(name)
    return spec


def _form_of(data: dict[str, Json]) -> str:
    """The form that a tool is written in, by the keys that only it has."""
    if "typeSignature" in data:
        return "spec"
    if "function" in data:
        return "openai"
    for form in ("mcp", "anthropic"):
        if TOOL_FORMS[form].schema in data:
            return form
    return "openai-responses" if data.get("type") == "function" else "openai-functions"


def _expected(value: Json, kinds: Any, path: str, what: str) -> Json:
    if not isinstance(value, kinds):
        raise ValidationError(f"{path}: expected {what}, found {_shown(value)}")
    return value


def _shown(value: Json) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return shortened(write_json(value), 40)
