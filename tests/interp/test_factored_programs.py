"""Tools that are moved into an agent of their own do what they did before."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gram import Pattern, only_errors
from interp import ToolLibrary, run, tool
from interp.machine import CallTool, Event, Request
from lenses_ext import factor_agent, inline_agent, parse_program, resolve, validate_program

(HELPER,) = parse_program("""\
[helper:Agent {instruction: "Help.", model: "Offline/rehearsal"} |
  [read:Tool {description: "Reads"} | (path::Text)==>(::Text)],
  [count:Tool {description: "Counts"} | (text::Text)==>(::Integer)],
  [say:Tool {description: "Says"} | (text::Text)==>(::Text)]]
""").patterns
FACTORED = factor_agent(HELPER, ["read", "count"], "files", "Knows the files.", "Do as told.")

WITH_REFERENCES = parse_program("""\
[helper:Agent {instruction: "Help.", model: "Offline/rehearsal"} |
  read,
  [say:Tool {description: "Says"} | (text::Line)==>(::Line)],
  [count:Tool {description: "Counts"} | (text::Line)==>(::Integer)],
  (Line:String)]
[read:Tool {description: "Reads"} | (path::Path)==>(::Path)]
(Path:String)
""")
"""The same with a tool that is only referred to, types that tools share, and tools apart."""

CASES = [
    ("How long is a.txt?", [("read", {"path": "a.txt"}), ("count", {"text": "aaa"})], "3 words"),
    ("Read b.txt", [("read", {"path": "b.txt"})], "bb"),
    ("Say hi", [("say", {"text": "hi"})], "said"),
    ("Nothing", [], "ok"),
]
"""What is asked, which tools are called for it, and what is answered: as it was recorded."""


@tool
def read(path: str) -> str:
    """Reads"""
    return path[0] * 3


@tool
def count(text: str) -> int:
    """Counts"""
    return len(text)


@tool
def say(text: str) -> str:
    """Says"""
    return text


class Recorded:
    """A model that makes the recorded calls with whatever tools it is offered.

    A call that it is offered only through another agent is asked of that one.
    """

    def __init__(self, calls: list[tuple[str, dict[str, Any]]], answer: str) -> None:
        self.calls = list(calls)
        self.answer = answer

    def complete(self, request: Request) -> Any:
        """The next call, or the answer."""
        offered = {each.value.identity for each in request.tools}
        if not self.calls:
            return self.answer
        name, arguments = self.calls[0]
        if name in offered:
            self.calls.pop(0)
            return _call(name, arguments)
        if "files" in offered:
            return _call("files", {"input": "go on"})
        return "done"


def _call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"tool_calls": [{"function": {"name": name, "arguments": json.dumps(arguments)}}]}


def calls_of(agent: Pattern, case: Any) -> tuple[list[tuple[str, Any]], str]:
    """The tools that ran, with their arguments, and the answer."""
    asked, calls, answer = case
    made: list[tuple[str, Any]] = []

    def observe(effect: object, _: Event) -> None:
        if isinstance(effect, CallTool):
            made.append((effect.name, effect.args))

    library = ToolLibrary.of([read, count, say])
    response = run(agent, asked, library, model=Recorded(calls, answer), observe=observe)
    return made, response.content


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_a_factored_program_does_the_same(case: Any) -> None:
    assert calls_of(FACTORED, case) == calls_of(HELPER, case)
    assert calls_of(HELPER, case)[0] == [(name, given) for name, given in case[1]]


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_a_program_with_references_and_shared_types_does_the_same(case: Any) -> None:
    written, *others = WITH_REFERENCES.patterns
    factored = factor_agent(written, ["read", "count"], "files", "Knows the files.", "Do as told.")
    inlined = inline_agent(factored, "files")
    before, between, after = (
        resolve([agent, *others], "helper") for agent in (written, factored, inlined)
    )

    assert only_errors(validate_program([factored, *others])) == ()
    assert {each.value.identity: each for each in after.elements} == {
        each.value.identity: each for each in before.elements
    }
    assert calls_of(before, case) == calls_of(HELPER, case)
    assert calls_of(between, case) == calls_of(after, case) == calls_of(before, case)


def test_what_was_factored_is_inlined_back() -> None:
    assert inline_agent(FACTORED, "files") == HELPER
