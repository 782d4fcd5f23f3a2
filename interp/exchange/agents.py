"""Agents, their tools and groups of agents as components of Agent Spec, and back."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable
from typing import TYPE_CHECKING, Any, Final, TypeVar

import attrs

import lenses_ext
from gram import Pattern, Subject
from lenses_ext import create_agent_pattern, create_tool_specification, is_agent, is_tool, view
from lenses_ext.cycles import reached
from lenses_ext.labels import is_skill
from lenses_ext.language import written_signature
from lenses_ext.names import definitions_of
from lenses_ext.signatures import signature_elements
from lenses_ext.workflows import HANDOFF, handoffs

from . import properties
from .flow_reading import read_flow
from .flow_writing import written_flow
from .model_configs import READ, read_model, written_model
from .properties import PLACEHOLDER, TEXT, NoCounterpartError, Tell, Types, types_in, types_of

if TYPE_CHECKING:
    from pyagentspec import Agent, Component
    from pyagentspec.agenticcomponent import AgenticComponent
    from pyagentspec.tools import ServerTool


_EVERYWHERE: Final = {"id", "name", "inputs", "outputs", "branches"} | {
    "min_agentspec_version", "max_agentspec_version", "default_generation_parameters",
}  # fmt: skip
_HINTS: Final = {
    "requires_confirmation": "who runs a program says what is asked before: --approve",
    "human_in_the_loop": "who is asked is said by who runs it",
    "toolboxes": "list the tools in the program, and bring them: --mcp, --openapi or --tools",
}
_PLACEHOLDER: Final = re.compile(r"{{\s*(\w+)\s*}}")


class Reader:
    """Makes definitions of components, each once.

    Attributes:
        made: the definitions by their names, in the order in which they are complete.
    """

    def __init__(self, tell: Tell) -> None:
        self.made: dict[str, Pattern] = {}
        self.tell = tell
        self._names: dict[str, str] = {}

    def read(self, component: Component, path: str) -> str:
        """Define what a component is, and what it uses; its name.

        Raises:
            NoCounterpartError: it is of a kind that programs do not have.
        """
        if component.id in self._names:
            return self._names[component.id]
        kinds: dict[str, Callable[[Any, str], str]] = {
            "Agent": self._agent,
            "ManagerWorkers": self._manager,
            "Swarm": self._swarm,
            "Flow": lambda flow, at: self.define(flow, at, read_flow(self, flow, at)),
        }
        kind = type(component).__name__
        if kind in kinds:
            return kinds[kind](component, path)
        if hasattr(component, "requires_confirmation"):
            return self.define(component, path, self._tool(component, path))
        raise NoCounterpartError(f"{path}: {kind} has no counterpart")

    def define(self, component: Component, path: str, pattern: Pattern) -> str:
        """Put a definition among the others, under a name of its own; that name."""
        name = self.free(component.name or type(component).__name__, self.made, path)
        self._names[component.id] = name
        self.made[name] = _named(name, pattern)
        return name

    def free(self, name: str, taken: Container[str], path: str) -> str:
        """A name, with a number behind it where it is taken."""
        number, free = 1, name
        while free in taken:
            number += 1
            free = f"{name}_{number}"
        if free != name:
            self.tell(path, f'another is named "{name}": this one is "{free}"')
        return free

    def tell_rest(self, component: Component, path: str, known: Iterable[str] = ()) -> None:
        """Tell of the fields that are set and are not among those that are read."""
        for name, field in type(component).model_fields.items():
            value = getattr(component, name, None)
            unset = field.get_default(call_default_factory=True)
            if name in _EVERYWHERE or name in known or value in (None, [], {}, unset):
                continue
            self.tell(f"{path}.{name}", _HINTS.get(name, "has no counterpart"))

    # --- agents

    def _agent(self, agent: Agent, path: str) -> str:
        config = agent.llm_config
        self.tell_rest(agent, path, {"description", "llm_config", "system_prompt", "tools"})
        self.tell_rest(config, f"{path}.llm_config", READ)
        model, settings = read_model(config, f"{path}.llm_config", self.tell)
        types = types_of(agent.inputs or (), agent.outputs or (), path, self.tell)
        prompt = self._instruction(agent.system_prompt, types, path)
        specs: dict[str, Pattern] = {}
        for each in agent.tools:
            at = f"{path}.tools.{each.name}"
            name = self.free(each.name or "tool", specs, at)
            specs[name] = _named(name, self._tool(each, at))
        made = create_agent_pattern(
            agent.name or "Agent", agent.description or None, model, prompt, specs.values(),
            settings=settings or None,
        )  # fmt: skip
        result = TEXT if types.result is None else types.result
        if types.inputs["properties"] and not properties.is_usual(types.inputs):
            typed = signature_elements(attrs.evolve(types, result=result).signature)
        else:  # what is usual is not said
            typed = () if result == TEXT else (lenses_ext.json_schema_to_answer(result),)
        return self.define(agent, path, attrs.evolve(made, elements=(*typed, *made.elements)))

    def _instruction(self, prompt: str, types: Types, path: str) -> str:
        """The prompt without what only hands its inputs on; what is not filled in is told."""
        kept = prompt.removesuffix(handed_on([*types.inputs["properties"]]))
        for name in dict.fromkeys(_PLACEHOLDER.findall(kept)):
            reason = f"{{{{{name}}}}} is not filled in: what it is called with is the message"
            self.tell(f"{path}.system_prompt", reason)
        if not kept.strip():
            self.tell(f"{path}.system_prompt", "is empty: an agent here is told to do something")
            return "Do what the user asks for."
        return kept

    def _manager(self, group: Any, path: str) -> str:
        """A manager with workers: an agent that has others among its elements."""
        self.tell_rest(group, path, {"group_manager", "workers"})
        manager = self._led_by(group, "manager", group.group_manager, f"{path}.group_manager")
        for each in group.workers:
            self._add(manager, Pattern(Subject(self.read(each, f"{path}.workers.{each.name}"))))
        return manager

    def _swarm(self, swarm: Any, path: str) -> str:
        """Agents that hand over to each other, or call each other, as the swarm says."""
        self.tell_rest(swarm, path, {"first_agent", "relationships", "handoff"})
        mode = getattr(swarm.handoff, "value", swarm.handoff)
        first = self._led_by(swarm, "first agent", swarm.first_agent, f"{path}.first_agent")
        for index, pair in enumerate(swarm.relationships):
            ends = [self.read(each, f"{path}.relationships[{index}]") for each in pair]
            atoms = [Pattern(Subject(end)) for end in ends]
            if mode in ("never", "optional"):
                self._add(ends[0], atoms[1])
            if mode in ("always", "optional"):
                self._add(ends[0], Pattern(Subject("", {HANDOFF}), atoms))
        return first

    def _led_by(self, group: Component, role: str, leader: Component, path: str) -> str:
        """Define who leads a group, whose name the group has here; that name."""
        name = self._names[group.id] = self.read(leader, path)
        if group.name != leader.name:
            self.tell(path.rpartition(".")[0] + ".name", f'it has the name of its {role}, "{name}"')
        return name

    def _add(self, name: str, element: Pattern) -> None:
        old = self.made[name]
        self.made[name] = attrs.evolve(old, elements=(*old.elements, element))

    # --- tools

    def _tool(self, tool: Any, path: str) -> Pattern:
        self.tell_rest(tool, path, {"description"})
        kind = type(tool).__name__
        name, description = tool.name or kind, tool.description or ""
        if kind != "ServerTool":
            self.tell(path, f"{kind} is a tool as any: what runs it is brought with --tools")
        if not description.strip():
            description = f"Calls {name}."
            self.tell(f"{path}.description", f'is empty; the model is told "{description}"')
        types = types_of(tool.inputs or (), tool.outputs or (), path, self.tell)
        return create_tool_specification(name, description, types.signature)


def _named(name: str, pattern: Pattern) -> Pattern:
    return attrs.evolve(pattern, value=attrs.evolve(pattern.value, identity=name))


def handed_on(names: list[str]) -> str:
    """The end of a prompt that says what an agent is called with, as its message does here."""
    if len(names) == 1:
        return f"\n\n{{{{{names[0]}}}}}"
    return "\n\n" + "\n".join(f"{name}: {{{{{name}}}}}" for name in names) if names else ""


C = TypeVar("C")


class Writer:
    """Makes components of what is resolved, each once, with its path as its id."""

    def __init__(self, root: Pattern, tell: Tell) -> None:
        self.tell = tell
        self._definitions = definitions_of(root)
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
        if lenses_ext.is_loop(pattern):
            raise NoCounterpartError(f"{path}: a loop has no counterpart: flows count no rounds")
        if lenses_ext.is_workflow(pattern):
            self.tell_rest(pattern, path)
            return self._once(pattern, "flow", lambda: written_flow(self, pattern, path))
        how = f"{is_step} {split}"
        return self._once(pattern, how, lambda: self._whole(pattern, path, is_step, split))

    def tool(self, tool: Pattern, path: str, *, split: bool = True) -> ServerTool:
        """The component that a tool is, which whoever runs it implements."""
        from pyagentspec.tools import ServerTool

        def made() -> ServerTool:
            self.tell_rest(tool, path)
            types = types_in(tool)
            return ServerTool(
                id=path, name=tool.value.identity,
                description=view(lenses_ext.tool_spec_description, tool),
                inputs=properties.written_inputs(types, path, self.tell),
                outputs=properties.written_outputs(types, path, self.tell, split=split),
            )  # fmt: skip

        return self._once(tool, f"tool in {path}", made)

    def tell_rest(self, pattern: Pattern, path: str, known: Iterable[str] = ()) -> None:
        """Tell of the properties that components have not, beside a description and the known."""
        for key in sorted({*pattern.value.properties} - {"description", *known}):
            self.tell(f"{path}.{key}", "has no counterpart")

    def _once(self, pattern: Pattern, how: str, make: Callable[[], C]) -> C:
        if (pattern, how) not in self._made:
            self._made[pattern, how] = make()
        made: C = self._made[pattern, how]
        return made

    def _agent(self, agent: Pattern, path: str, is_step: bool, split: bool) -> Agent:
        from pyagentspec import Agent
        from pyagentspec.property import StringProperty

        self.tell_rest(agent, path, {"instruction", "model", "settings"})
        types, tell = types_in(agent), self.tell
        called = is_step or written_signature(agent) is not None
        inputs = properties.written_inputs(types, path, self.tell, PLACEHOLDER) if called else []
        names = [each.title for each in inputs]
        prompt = view(lenses_ext.agent_instruction, agent)
        found = dict.fromkeys(_PLACEHOLDER.findall(prompt))
        for name in found.keys() - {*names}:
            self.tell(f"{path}.instruction", f"{{{{{name}}}}} is a placeholder there: an input")
            inputs.append(StringProperty(title=name))
        if not {*names} <= found.keys():
            prompt += handed_on(names)
        answer = view(lenses_ext.agent_answer, agent)
        if answer is not None and answer.value.identity:
            self.tell(f"{path}.{answer.value.identity}", "the name of an answer has no counterpart")
        for each in filter(is_skill, agent.elements):
            at = f"{path}.{each.value.identity}"
            self.tell(at, "a skill has no counterpart: the agent there cannot read it")
        gives = called or answer is not None
        tools = (each for each in agent.elements if is_tool(each))
        return Agent(
            id=path, name=agent.value.identity,
            description=view(lenses_ext.agent_description, agent),
            llm_config=written_model(agent, path, self.tell), system_prompt=prompt, inputs=inputs,
            outputs=properties.written_outputs(types, path, tell, split=split) if gives else [],
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
        for name in reached(made, lambda name: handoffs(known[name])):
            if name not in made:
                made[name] = self._manager(known[name], f"{path}.{name}", False, True)
        pairs = [(made[name], made[each]) for name in made for each in handoffs(known[name])]
        return Swarm(
            id=f"{path}.swarm", name=first.name, first_agent=first, relationships=pairs,
            handoff=HandoffMode.ALWAYS, inputs=first.inputs, outputs=first.outputs,
        )  # fmt: skip

    def _manager(self, agent: Pattern, path: str, is_step: bool, split: bool) -> AgenticComponent:
        from pyagentspec.managerworkers import ManagerWorkers

        own = self._agent(agent, path, is_step, split)
        workers = [each for each in agent.elements if lenses_ext.is_runnable(each)]
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
