"""Python's side of misuse: wrong arguments and tools that misbehave get our errors."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from gram import GramError, Pattern, loads
from interp import (
    ConversationContext,
    Message,
    ScriptedModel,
    ToolCall,
    UserRole,
    ValidationError,
    create_tool,
    invoke_tool,
    run,
    validate_tool_args,
)
from interp.errors import ToolError
from lenses_ext import resolve_references, validate_program


@pytest.mark.parametrize(
    "options",
    [
        {"user_input": None},
        {"library": []},
        {"context": []},
        {"limits": 3},
        {"policy": "ask"},
        {"settings": 5},
        {"observe": 5},
        {"match": "nam"},
    ],
)
def test_an_argument_of_another_type_is_refused_before_the_model_is_asked(
    hello_world: Pattern, options: dict[str, Any]
) -> None:
    model = ScriptedModel(["hi"])

    with pytest.raises(GramError):
        run(hello_world, **{"user_input": "hi", "model": model, **options})

    assert model.requests == []


class Mute(Exception):  # noqa: N818  # a tool's own exception
    """An exception that cannot say what went wrong."""

    def __str__(self) -> str:
        raise ValueError


class Trap(dict[str, Any]):
    """A dict that cannot be looked at."""

    def items(self) -> Any:
        raise RuntimeError


def raising(error: BaseException) -> Any:
    """A tool's function that raises."""

    def invoke(_: Any) -> Any:
        raise error

    return invoke


@pytest.mark.parametrize(
    "invoke",
    [
        raising(Mute()),
        raising(asyncio.CancelledError()),
        raising(GeneratorExit()),
        raising(BaseException("b")),
        raising(SystemExit(3)),
        lambda _: Trap(a=1),
        lambda _: {1: 2},
    ],
)
def test_whatever_a_tool_does_is_a_tool_error(invoke: Any) -> None:
    with pytest.raises(ToolError, match='tool "t"'):
        invoke_tool(create_tool("t", "", {"type": "object"}, invoke), {})


def test_ctrl_c_in_a_tool_goes_on() -> None:
    with pytest.raises(KeyboardInterrupt):
        invoke_tool(create_tool("t", "", {}, raising(KeyboardInterrupt())), {})


@pytest.mark.parametrize(
    "args", [{1: 2}, {"a": object()}, {"a": float("nan")}, {"a": "\ud800"}, "ab"]
)
def test_arguments_that_are_no_json_are_refused(args: Any) -> None:
    with pytest.raises(ValidationError):
        validate_tool_args({"type": "object"}, args)


def test_a_default_beside_a_reference_is_filled_in() -> None:
    schema = {
        "type": "object",
        "properties": {
            "u": {"$ref": "#/$defs/U", "default": {"n": "x"}},
            "v": {"$ref": "#/properties/u", "default": {"n": "y"}},
        },
        "$defs": {"U": {"type": "object", "required": ["n"]}},
    }

    assert validate_tool_args(schema, {}) == {"u": {"n": "x"}, "v": {"n": "y"}}
    with pytest.raises(ValidationError):
        validate_tool_args(schema, {"u": {}})


def test_messages_consist_of_what_their_types_say() -> None:
    for make in (
        lambda: Message(UserRole, "", (5,)),  # type: ignore[arg-type]
        lambda: Message(None, "x"),  # type: ignore[arg-type]
        lambda: ToolCall("1", "t", {}),  # type: ignore[arg-type]
        lambda: ConversationContext([5]),  # type: ignore[list-item]
    ):
        with pytest.raises(TypeError):
            make()


def test_agents_that_hold_each_other_twice_are_refused_quickly() -> None:
    pairs = (
        f'[{side}{i}:Agent {{instruction: "x", model: "A/b"}} | a{i + 1}, b{i + 1}]'
        for i in range(25)
        for side in "ab"
    )
    patterns = loads("\n".join(pairs) + "\n(a25:Agent) (b25:Agent)")
    begun = time.monotonic()

    _, faults = resolve_references(patterns[0], patterns)
    codes = {fault.code for fault in validate_program(patterns)}

    assert [fault.code for fault in faults] == ["too-many-agents"]
    assert "too-many-agents" in codes
    assert time.monotonic() - begun < 60
