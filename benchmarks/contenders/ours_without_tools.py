"""This project, with an agent whose tools are declared and nowhere implemented in Python."""

from __future__ import annotations

from collections.abc import Mapping

from task import INSTRUCTION, MODEL, NAME, TOOL, TOOL_DESCRIPTION

from interp import run
from lenses_ext import create_agent_pattern, create_tool_specification


class Contender:
    """An agent that is only built."""

    cannot: Mapping[str, str] = {}

    def __init__(self, _: str) -> None:
        assert callable(run)  # whoever builds an agent wants to run it

    def in_process(self) -> None:
        signature = '(personName::Text {default: "world"})==>(::String)'
        tool = create_tool_specification(TOOL, TOOL_DESCRIPTION, signature)
        create_agent_pattern(NAME, "Greets people", f"OpenAI/{MODEL}", INSTRUCTION, [tool])
