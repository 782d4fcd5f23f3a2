"""Tools as they run: a name, a description, a schema and the Python that does the work.

What a program says of a tool is its specification (`lenses_ext.tool_spec`); this is the other
half, which `interp.binding` brings together with it when a program runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

from lenses_ext.json_values import NotJson

from .errors import ToolError, ValidationError
from .json_text import Json, read_json, write_json
from .schemas import require_schema


@frozen(init=False, repr=False)
class Tool:
    """A tool that can be called.

    Args:
        name: the name programs know it by.
        description: what it does, for the model.
        schema: the JSON Schema of its parameters.
        invoke: takes the arguments as one dict, checked and with defaults filled in, and returns
            a JSON value, or an awaitable of one.
        result_schema: the JSON Schema of its result, or None when it is not declared.
        place: the file and line of the function behind it, or None.

    Raises:
        ToolError: the name is empty, the schema is none, or ``invoke`` cannot be called.
    """

    name: str
    description: str
    _schema: str
    invoke: Callable[[dict[str, Json]], Any]
    _result_schema: str
    place: str | None

    def __init__(
        self,
        name: str,
        description: str,
        schema: Mapping[str, Json],
        invoke: Callable[[dict[str, Json]], Any],
        *,
        result_schema: Mapping[str, Json] | None = None,
        place: str | None = None,
    ) -> None:
        if not isinstance(name, str) or not name.strip():
            raise ToolError(f"a tool needs a name, found {name!r}")
        if not isinstance(description, str):
            raise ToolError(f'tool "{name}": the description is a str, found {description!r}')
        if not callable(invoke):
            raise ToolError(f'tool "{name}": {invoke!r} cannot be called')
        try:
            parameters = require_schema(schema)
            result = write_json(None if result_schema is None else dict(result_schema))
        except (ValidationError, NotJson) as error:
            raise ToolError(f'tool "{name}": {error}') from None
        self.__attrs_init__(name, description, parameters, invoke, result, place)

    @property
    def schema(self) -> dict[str, Json]:
        """The JSON Schema of the parameters, a fresh copy."""
        found: dict[str, Json] = read_json(self._schema)
        return found

    @property
    def result_schema(self) -> dict[str, Json] | None:
        """The JSON Schema of the result, a fresh copy, or None."""
        found: dict[str, Json] | None = read_json(self._result_schema)
        return found

    def renamed(self, name: str) -> Tool:
        """The same tool under another name."""
        return Tool(
            name,
            self.description,
            self.schema,
            self.invoke,
            result_schema=self.result_schema,
            place=self.place,
        )

    def __call__(self, *values: Json, **arguments: Json) -> Any:
        """What ``invoke`` returns for these arguments, as they are.

        Those without a name are the parameters in the order of the schema.
        """
        names = self.schema.get("properties", {})
        if len(values) > len(names):
            raise TypeError(f"{self.name} takes {len(names)} arguments, {len(values)} were given")
        return self.invoke({**dict(zip(names, values, strict=False)), **arguments})

    def __repr__(self) -> str:
        return f"Tool({self.name!r})"


def create_tool(
    name: str,
    description: str,
    schema: Mapping[str, Json],
    invoke: Callable[[dict[str, Json]], Any],
) -> Tool:
    """A tool of its parts; see `Tool`.

    Raises:
        ToolError: a part is not what it should be.

    >>> schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    >>> create_tool("double", "Doubles a number", schema, lambda args: 2 * args["n"])(n=2)
    4
    """
    return Tool(name, description, schema, invoke)
