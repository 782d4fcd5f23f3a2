"""Definitions of a program as components of Agent Spec: agents, their tools, groups of agents."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from gram import Pattern
from lenses_ext import (
    agent_answer,
    agent_description,
    agent_instruction,
    is_agent,
    is_loop,
    is_runnable,
    is_tool,
    is_workflow,
    tool_spec_description,
    view,
)
from lenses_ext.labels import is_skill
from lenses_ext.language import written_signature
from lenses_ext.names import definitions_of
from lenses_ext.workflows import handoffs

from .agent_reading import NoCounterpartError, handed_on
from .model_configs import written_model
from .properties import PLACEHOLDER, Tell, types_in, written_inputs, written_outputs

if TYPE_CHECKING:
    from pyagentspec import Agent
    from pyagentspec.agenticcomponent import AgenticComponent
    from pyagentspec.tools import ServerTool

_SAID: Final = {
    "agent": {"description", "instruction", "model", "settings"},
    "tool": {"description"},
    "workflow": {"description"},
}
_PLACEHOLDER: Final = re.compile(r"{{\s*(\w+)\s*}}")


C = TypeVar("C")


class Writer:
    """Makes components of what is resolved, each once, with its path as its id."""

    def __init__(
        self,
        root: Pattern,
        tell: Tell,
        write_flow: Callable[[Writer, Pattern, str], AgenticComponent],
    ) -> None:
        self.tell = tell
        self._definitions = definitions_of(root)
        self._write_flow = write_flow
        self._made: dict[tuple[Pattern, str], Any] = {}

    def written(
        self, pattern: Pattern, path: str, *, is_step: bool = False, split: bool = True
    ) -> AgenticComponent:
        """The component that an agent or workflow is.

        Args:
            pattern: the agent or workflow.
            path: where it is.
            is_step: whether it is a step of a flow, which hands inputs to it.
            split: whether the fields of a record that it gives are outputs of their own.

        Raises:
            NoCounterpartError: it is a loop, or does what no flow does.
        """
        if is_loop(pattern):
            raise NoCounterpartError(f"{path}: a loop has no counterpart: flows count no rounds")
        if is_workflow(pattern):
            self.tell_rest(pattern, "workflow", path)
            return self._once(pattern, "flow", lambda: self._write_flow(self, pattern, path))
        how = f"{is_step} {split}"
        return self._once(pattern, how, lambda: self._whole(pattern, path, is_step, split))

    def tool(self, tool: Pattern, path: str, *, split: bool = True) -> ServerTool:
        """The component that a tool is, which whoever runs it implements."""
        from pyagentspec.tools import ServerTool

        def made() -> ServerTool:
            self.tell_rest(tool, "tool", path)
            types = types_in(tool)
            return ServerTool(
                id=path, name=tool.value.identity, description=view(tool_spec_description, tool),
                inputs=written_inputs(types, path, self.tell),
                outputs=written_outputs(types, path, self.tell, split=split),
            )  # fmt: skip

        return self._once(tool, f"tool in {path}", made)

    def tell_rest(self, pattern: Pattern, kind: str, path: str) -> None:
        """Tell of the properties that components have not."""
        for key in sorted({*pattern.value.properties} - _SAID[kind]):
            self.tell(f"{path}.{key}", "has no counterpart")

    def _once(self, pattern: Pattern, how: str, make: Callable[[], C]) -> C:
        if (pattern, how) not in self._made:
            self._made[pattern, how] = make()
        made: C = self._made[pattern, how]
        return made

    def _agent(self, agent: Pattern, path: str, is_step: bool, split: bool) -> Agent:
        from pyagentspec import Agent
        from pyagentspec.property import StringProperty

        self.tell_rest(agent, "agent", path)
        types = types_in(agent)
        called = is_step or written_signature(agent) is not None
        inputs = written_inputs(types, path, self.tell, PLACEHOLDER) if called else []
        names = [each.title for each in inputs]
        prompt = view(agent_instruction, agent)
        found = dict.fromkeys(_PLACEHOLDER.findall(prompt))
        for name in found.keys() - {*names}:
            self.tell(f"{path}.instruction", f"{{{{{name}}}}} is a placeholder there: an input")
            inputs.append(StringProperty(title=name))
        if not {*names} <= found.keys():
            prompt += handed_on(names)
        answer = view(agent_answer, agent)
        if answer is not None and answer.value.identity:
            self.tell(f"{path}.{answer.value.identity}", "the name of an answer has no counterpart")
        for each in filter(is_skill, agent.elements):
            at = f"{path}.{each.value.identity}"
            self.tell(at, "a skill has no counterpart: the agent there cannot read it")
        gives = called or answer is not None
        tools = (each for each in agent.elements if is_tool(each))
        return Agent(
            id=path, name=agent.value.identity, description=view(agent_description, agent),
            llm_config=written_model(agent, path, self.tell), system_prompt=prompt, inputs=inputs,
            outputs=written_outputs(types, path, self.tell, split=split) if gives else [],
            tools=[self.tool(each, f"{path}.tools.{each.value.identity}") for each in tools],
        )  # fmt: skip

    # --- groups

    def _whole(self, agent: Pattern, path: str, is_step: bool, split: bool) -> AgenticComponent:
        """An agent with the agents that it calls, and those that it hands over to."""
        from pyagentspec.swarm import HandoffMode, Swarm

        first = self._manager(agent, path, is_step, split)
        if not handoffs(agent):
            return first
        known = {**self._definitions, agent.value.identity: agent}
        made = {agent.value.identity: first}
        pairs = []
        for name in (queue := [*made]):  # grows by those whom each hands over to
            for each in handoffs(known[name]):
                if each not in made:
                    made[each] = self._manager(known[each], f"{path}.{each}", False, True)
                    queue.append(each)
                pairs.append((made[name], made[each]))
        return Swarm(
            id=f"{path}.swarm", name=first.name, first_agent=first, relationships=pairs,
            handoff=HandoffMode.ALWAYS, inputs=first.inputs, outputs=first.outputs,
        )  # fmt: skip

    def _manager(self, agent: Pattern, path: str, is_step: bool, split: bool) -> AgenticComponent:
        from pyagentspec.managerworkers import ManagerWorkers

        own = self._agent(agent, path, is_step, split)
        workers = [each for each in agent.elements if is_runnable(each)]
        for each in workers:
            if is_agent(each) and written_signature(each) is not None:
                at = f"{path}.{each.value.identity}"
                self.tell(at, "a worker is sent a message there, not its inputs")
        if not workers:
            return own
        made = [self.written(each, f"{path}.{each.value.identity}") for each in workers]
        return ManagerWorkers(
            id=f"{path}.group", name=own.name, group_manager=own, workers=made,
            inputs=own.inputs, outputs=own.outputs,
        )  # fmt: skip
