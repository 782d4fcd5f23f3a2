"""What is remembered of a program that has run does not keep it."""

from __future__ import annotations

import gc
import weakref

import pytest

from gram import parse
from interp import AssistantRole, Limits, Message, ScriptedModel, ToolCall, run
from lenses_ext import resolve

AGENT = 'Agent {instruction: "x", model: "A/b"}'
HERE = Limits(tool_seconds=None, run_seconds=None)


def call(name: str) -> Message:
    """A reply that calls something, whatever that takes."""
    return Message(AssistantRole, "", [ToolCall("1", name, '{"message": "hi"}')])


@pytest.mark.parametrize(
    ("text", "replies"),
    [
        (f"(a:{AGENT})", ["ok"]),
        (f"[a:{AGENT} | (b:{AGENT})]", [call("b"), "ok", "ok"]),
        (
            f"[a:{AGENT} | (a)-[:HANDOFF]->(b)] [b:{AGENT} | (b)-[:HANDOFF]->(a)]",
            [call("b"), call("a"), "ok"],
        ),
        (f"[w:Workflow | (a)-->(b)] (a:{AGENT}) (b:{AGENT})", ["ok", "ok"]),
    ],
)
def test_a_program_that_has_run_is_let_go(text: str, replies: list[Message | str]) -> None:
    name = "w" if "Workflow" in text else "a"
    program = resolve(parse(text), name)
    known = weakref.ref(program)
    run(program, "Hello", model=ScriptedModel(replies), limits=HERE)

    del program
    gc.collect()

    assert known() is None
