"""Components of Agent Spec as definitions of a program: agents, their tools, groups of agents."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import attrs

from gram import GramError, Pattern, Subject
from lenses_ext import (
    create_agent_pattern,
    create_tool_specification,
    json_schema_to_answer,
)
from lenses_ext.signatures import signature_elements
from lenses_ext.workflows import HANDOFF

from .model_configs import READ, read_model
from .properties import TEXT, Tell, Types, types_of

if TYPE_CHECKING:
    from pyagentspec import Agent, Component

_EVERYWHERE: Final = {"id", "name", "inputs", "outputs", "branches"} | {
    "min_agentspec_version", "max_agentspec_version", "default_generation_parameters",
}  # fmt: skip
_HINTS: Final = {
    "requires_confirmation": "who runs a program says what is asked before: --approve",
    "human_in_the_loop": "who is asked is said by who runs it",
    "toolboxes": "list the tools in the program, and bring them: --mcp, --openapi or --tools",
}
_PLACEHOLDER: Final = re.compile(r"{{\s*(\w+)\s*}}")


class NoCounterpartError(GramError):
    """Nothing can be made of a component, or of a part of a program; with its path."""


class Reader:
    """Makes definitions of components, each once.

    Attributes:
        made: the definitions by their names, in the order in which they are complete.
    """

    def __init__(self, tell: Tell, read_flow: Callable[[Reader, Any, str], Pattern]) -> None:
        self.made: dict[str, Pattern] = {}
        self.tell = tell
        self._read_flow = read_flow
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
            "Flow": lambda flow, at: self.define(flow, at, self._read_flow(self, flow, at)),
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
        self.made[name] = attrs.evolve(pattern, value=attrs.evolve(pattern.value, identity=name))
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
            spec = self._tool(each, at)
            specs[name] = attrs.evolve(spec, value=attrs.evolve(spec.value, identity=name))
        made = create_agent_pattern(
            agent.name or "Agent", agent.description or None, model, prompt, specs.values(),
            settings=settings or None,
        )  # fmt: skip
        elements = (*_function_elements(types), *made.elements)
        return self.define(agent, path, attrs.evolve(made, elements=elements))

    def _instruction(self, prompt: str, types: Types, path: str) -> str:
        """The prompt without what only hands its inputs on; what is not filled in is told."""
        names = [*types.inputs["properties"]]
        kept = prompt.removesuffix(handed_on(names))
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
        manager = self.read(group.group_manager, f"{path}.group_manager")
        if group.name != group.group_manager.name:
            self.tell(f"{path}.name", f'it has the name of its manager, "{manager}"')
        names = [self.read(each, f"{path}.workers.{each.name}") for each in group.workers]
        self._add(manager, [Pattern(Subject(name)) for name in names])
        return self._known(group, manager)

    def _swarm(self, swarm: Any, path: str) -> str:
        """Agents that hand over to each other, or call each other, as the swarm says."""
        self.tell_rest(swarm, path, {"first_agent", "relationships", "handoff"})
        mode = getattr(swarm.handoff, "value", swarm.handoff)
        first = self.read(swarm.first_agent, f"{path}.first_agent")
        if swarm.name != swarm.first_agent.name:
            self.tell(f"{path}.name", f'it has the name of its first agent, "{first}"')
        for index, pair in enumerate(swarm.relationships):
            ends = [self.read(each, f"{path}.relationships[{index}]") for each in pair]
            if mode in ("never", "optional"):
                self._add(ends[0], [Pattern(Subject(ends[1]))])
            if mode in ("always", "optional"):
                atoms = [Pattern(Subject(end)) for end in ends]
                self._add(ends[0], [Pattern(Subject("", {HANDOFF}), atoms)])
        return self._known(swarm, first)

    def _add(self, name: str, elements: Iterable[Pattern]) -> None:
        old = self.made[name]
        self.made[name] = attrs.evolve(old, elements=(*old.elements, *elements))

    def _known(self, component: Component, name: str) -> str:
        self._names[component.id] = name
        return name

    # --- tools

    def _tool(self, tool: Any, path: str) -> Pattern:
        self.tell_rest(tool, path, {"description"})
        kind = type(tool).__name__
        if kind != "ServerTool":
            self.tell(path, f"{kind} is a tool as any: what runs it is brought with --tools")
        description = tool.description
        if not (description or "").strip():
            description = f"Calls {tool.name or kind}."
            self.tell(f"{path}.description", f'is empty; the model is told "{description}"')
        types = types_of(tool.inputs or (), tool.outputs or (), path, self.tell)
        return create_tool_specification(tool.name or kind, description or "", types.signature)


def handed_on(names: list[str]) -> str:
    """The end of a prompt that says what an agent is called with, as its message does here."""
    if len(names) == 1:
        return f"\n\n{{{{{names[0]}}}}}"
    return "\n\n" + "\n".join(f"{name}: {{{{{name}}}}}" for name in names) if names else ""


def _function_elements(types: Types) -> tuple[Pattern, ...]:
    """The signature of an agent, or the type of its answer, or nothing where both are usual."""
    result = TEXT if types.result is None else types.result
    if not types.inputs["properties"]:
        return () if result == TEXT else (json_schema_to_answer(result),)
    if is_usual(types.inputs):
        return () if result == TEXT else (json_schema_to_answer(result),)
    return signature_elements(attrs.evolve(types, result=result).signature)


def is_usual(inputs: Mapping[str, Any]) -> bool:
    """Whether inputs are those of whatever has no signature: one text, ``input``."""
    return dict(inputs["properties"]) == {"input": TEXT}
