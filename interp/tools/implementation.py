"""The Python side of a tool: its name, description and schema, and the function that does the work.

A program writes a tool as a specification (`lenses_ext.tool_spec_name` and the like read it).
`bind_tool` finds the implementation of a specification in a library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import NoneType
from typing import Any

from attrs import NOTHING, Attribute, field, frozen

from gram import ArgumentError, Pattern
from gram.errors import expect
from gram.words import counted
from lenses_ext.schemas import NotJson

from ..errors import ToolError, ValidationError
from ..json_text import Json, JsonText, write_json
from ..machine.contracts import require_schema


def _require_name(tool: Tool, _: Any, name: str) -> None:
    expect(name, str, "name", by="Tool")
    if not name.strip():
        raise ToolError(f"a tool needs a name, found {name!r}")
    if "/" in name:
        raise ToolError(f"the name of a tool has no slash, found {name!r}: write _ or . instead")


def _is_of(*kinds: type) -> Callable[[Tool, Attribute[Any], object], None]:
    return lambda tool, part, value: expect(value, kinds, part.name, by=f'Tool "{tool.name}"')


def _is_function(tool: Tool, _: Any, invoke: Any) -> None:
    if not callable(invoke):
        raise ArgumentError(f'Tool "{tool.name}": invoke must be a function, got {invoke!r}')


def _schema_text(schema: Mapping[str, Json] | None) -> JsonText:
    if isinstance(schema, JsonText):  # that of another tool
        return schema
    expect(schema, (Mapping, NoneType), "a schema", by="Tool")
    try:
        return write_json(schema and dict(schema))
    except NotJson as error:
        raise ToolError(f"the schema of a tool: {error}") from None


def _is_schema(tool: Tool, part: Attribute[Any], text: JsonText) -> None:
    try:
        if part.default is NOTHING or text.value is not None:
            require_schema(text.value)
    except ValidationError as error:
        raise ToolError(f'tool "{tool.name}": {error}') from None


@frozen(repr=False)
class Tool:
    """A tool: its name, description and schemas, and the function that does the work.

    Two tools are equal if these are equal.

    Args:
        name: the name that programs use.
        description: the text that tells the model what it does.
        schema: the JSON Schema of its parameters.
        invoke: takes the arguments as one dict, checked and with defaults filled in, and returns
            a JSON value or an awaitable of a JSON value.
        result_schema: the JSON Schema of its result, or None if it is not declared.
        place: the file and line of the function, or None.
        function: the Python function that ``invoke`` calls; ``invoke`` itself by default.
        once: a call of it is never repeated by itself: when a recorded run is resumed and the call
            had begun, the run asks before it is run again. A program may say so, too.
        alone: no other call of the run is under way beside a call of it.
        agent: the agent or workflow that it is, see `tool_of_agent`; None for a function.
        may_report: whether a call may report how far it is, see `ToolContext`.
        hints: what its server says that it ``returns`` and ``sends``, for programs to be written.
        server: the server or document that lists it, by its name: it may say other things tomorrow.

    Raises:
        ArgumentError: an argument is of the wrong type.
        ToolError: the name is empty or has a slash, or a schema is not valid.
    """

    name: str = field(validator=_require_name)
    description: str = field(validator=_is_of(str))
    _schema: JsonText = field(converter=_schema_text, validator=_is_schema)
    invoke: Callable[[dict[str, Json]], Any] = field(eq=False, validator=_is_function)
    _result_schema: JsonText = field(
        default=None, converter=_schema_text, validator=_is_schema, kw_only=True
    )
    place: str | None = field(default=None, validator=_is_of(str, NoneType), kw_only=True)
    function: Callable[..., Any] = field(kw_only=True)
    once: bool = field(default=False, validator=_is_of(bool), kw_only=True)
    alone: bool = field(default=False, validator=_is_of(bool), kw_only=True)
    agent: Pattern | None = field(default=None, kw_only=True)
    may_report: bool = field(default=False, validator=_is_of(bool), kw_only=True)
    hints: Mapping[str, str | bool] = field(factory=dict, eq=False, kw_only=True)
    server: str | None = field(default=None, kw_only=True)

    @function.default
    def _invoke_itself(self) -> Callable[..., Any]:
        return self.invoke

    @property
    def schema(self) -> dict[str, Json]:
        """The JSON Schema of the parameters, a fresh copy."""
        found: dict[str, Json] = self._schema.value
        return found

    @property
    def result_schema(self) -> dict[str, Json] | None:
        """The JSON Schema of the result, a fresh copy, or None."""
        found: dict[str, Json] | None = self._result_schema.value
        return found

    @property
    def is_built_in(self) -> bool:
        """Whether it is a tool of `hello_world_tool_library`."""
        return getattr(self.function, "__module__", None) == f"{__package__}.hello_world"

    @property
    def why_undescribed(self) -> str | None:
        """What to say of a tool without a description, which no program can declare; else None."""
        if self.description.strip():
            return None
        if self.place is None or self.server is not None:
            return f'tool "{self.name}" has no description; the model needs one to know its use'
        return (
            f'{self.place}: tool "{self.name}" has no docstring; write what it does in one, '
            "below its def: the model reads it"
        )

    def __call__(self, *values: Any, **arguments: Any) -> Any:
        """Call ``invoke`` with these arguments and return its result.

        Positional arguments are matched to the parameters in the order of the schema. An async
        tool, as those of MCP servers and of OpenAPI documents are, returns an awaitable: write
        ``await tool(…)``, or `invoke_tool(tool, {…})` to wait for the result.

        Raises:
            ArgumentError: there are too many, one is given twice, or one is missing.
        """
        schema = self.schema
        names = list(schema.get("properties", {}))
        if len(values) > len(names):
            raise ArgumentError(
                f"{self.name} takes {counted(len(names), 'argument')}, {len(values)} given"
            )
        for name in names[: len(values)]:
            if name in arguments:
                raise ArgumentError(f"{self.name} got {name} twice, by position and by name")
        given = {**dict(zip(names, values, strict=False)), **arguments}
        if missing := [name for name in schema.get("required", ()) if name not in given]:
            raise ArgumentError(f"{self.name} needs {', '.join(missing)}")
        return self.invoke(given)

    def __repr__(self) -> str:
        return f"Tool({self.name!r})"

    def __copy__(self) -> Tool:
        return self

    def __deepcopy__(self, memo: object) -> Tool:
        return self


def create_tool(
    name: str,
    description: str,
    schema: Mapping[str, Json],
    invoke: Callable[[dict[str, Json]], Any],
) -> Tool:
    """Make a tool from its parts; see `Tool`.

    Raises:
        ArgumentError: an argument is of the wrong type.
        ToolError: the name or the description is empty, the name has a slash, or the schema is
            not valid.

    >>> schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    >>> create_tool("double", "Doubles a number", schema, lambda args: 2 * args["n"])(n=2)
    4
    """
    made = Tool(name, description, schema, invoke)
    if not description.strip():
        raise ToolError(f'tool "{name}" needs a description: it tells the model what it does')
    return made
