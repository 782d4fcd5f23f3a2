"""What is said of a program is the same wherever it is said: by check, load, start and binding."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from gram import only_errors
from interp import ToolLibrary, ValidationError, create_tool, load
from interp.machine import start
from interp.models.program_checks import check_program
from interp.tools import bind_tool
from lenses_ext import (
    agent_diagnostics,
    agent_tool_specs,
    find_agents,
    parse_program,
    tool_spec_schema,
    validate_agent_pattern,
    view,
)

_TYPES = ("Text", "Text", "Integer", "Boolean", "Any", "User", "Item", "Array {elementType: User}")
_SLIPS = ("", "", "", "", " {optional: true}", ' {default: "a"}', " {optinal: true}")


class Program:
    """Writes a program whose names collide, with a slip here and there."""

    def __init__(self, random: Random) -> None:
        self.random = random
        count = random.randint(1, 6)
        items = (self.agent, self.tool, self.tool, self.shape)
        self.text = "\n".join(random.choice(items)() for _ in range(count))

    def signature(self) -> str:
        choice = self.random.choice
        names = self.random.sample("pqrs", self.random.randint(0, 3))
        nodes = [f"({name}::{_with(choice(_TYPES), choice(_SLIPS))})" for name in names]
        broken = self.random.random() < 0.05
        return "==>".join([*nodes, "(end::Text)" if broken else "(::Any)"])

    def shape(self) -> str:
        label = self.random.choice(["Object", "Object", "Type:Object"])
        name, field = self.random.choice(["User", "Item"]), self.random.choice(_TYPES)
        return f"[{name}:{label} | (f::{field})]"

    def tool(self) -> str:
        name = self.random.choice("stuv")
        shapes = [self.shape() for _ in range(self.random.choice([0, 0, 0, 1]))]
        description = self.random.choice(['description: "d"'] * 15 + ["k: 1"])
        return f"[{name}:Tool {{{description}}} | {', '.join([self.signature(), *shapes])}]"

    def agent(self) -> str:
        elements = (self.tool, self.tool, self.shape, *(lambda n=n: n for n in "stuvwab"))
        chosen = [self.random.choice(elements)() for _ in range(self.random.randint(0, 3))]
        model = self.random.choice(['model: "Offline/rehearsal"'] * 15 + ["model: 1"])
        body = f" | {', '.join(chosen)}" if chosen else ""
        return f'[{self.random.choice("abc")}:Agent {{instruction: "I.", {model}}}{body}]'


def _with(type: str, record: str) -> str:
    return type if "{" in type else type + record


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.randoms(use_true_random=True))
def test_all_judge_a_program_alike(tmp_path: Path, random: Random) -> None:
    path = tmp_path / "p.gram"
    path.write_text(Program(random).text)
    document = parse_program(path.read_text(), str(path))
    checked = {(each.message, each.span) for each in check_program(document)}

    for name in {agent.value.identity for agent in find_agents(document)}:
        wrong = only_errors(agent_diagnostics(document, name))
        if wrong:
            assert {(each.message, each.span) for each in wrong} <= checked
            for refuse in (
                lambda n=name: load(path, n),
                lambda n=name: start(document, "Hi.", agent=n),
            ):
                with pytest.raises(ValidationError) as error:
                    refuse()
                assert {each.message for each in error.value.faults} <= {m for m, _ in checked}
            continue
        agent = load(path, name)
        assert only_errors(validate_agent_pattern(agent)) == ()
        assert start(agent, "Hi.") == start(document, "Hi.", agent=name)
        for spec in view(agent_tool_specs, agent):
            schema, description = view(tool_spec_schema, spec), spec.value.properties["description"]
            tool = create_tool(spec.value.identity, description, schema, lambda _: None)
            assert bind_tool(spec, ToolLibrary.of(tool)) == tool
