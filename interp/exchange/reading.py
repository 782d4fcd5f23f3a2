"""Components of Agent Spec as definitions of a program.

A flow has edges of control and of data; a workflow has arrows that are both. The workflow that the
data make is written as a flow again. Where this has other edges, the flow means something else: it
is not made, and it is said why.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable
from graphlib import CycleError, TopologicalSorter
from operator import attrgetter
from typing import Any, Final, TypeAlias

import attrs
from pyagentspec import Agent, Component
from pyagentspec.flows.flow import Flow
from pyagentspec.llms import LlmConfig
from pyagentspec.managerworkers import ManagerWorkers
from pyagentspec.swarm import HandoffMode, Swarm

import lenses_ext
from gram import GramError, Pattern, Subject
from lenses_ext.cycles import reached
from lenses_ext.signatures import signature_elements
from lenses_ext.workflows import EACH, HANDOFF, OTHERWISE, WHEN, grouped

from ..errors import ValidationError
from ..models import PROVIDERS, Provider
from ..programs import the_agent
from ..secrets import without_userinfo
from . import properties
from .properties import TEXT, NoCounterpartError, types_of
from .writing import DEFAULT, PLACEHOLDER, FlowWriter, Writer

_WIRE: Final = attrgetter(
    "source_node.id", "source_output", "destination_node.id", "destination_input"
)
Port: TypeAlias = tuple[str, str]
"""An output: the id of a node, and its title."""

_EVERYWHERE: Final = {"id", "name", "inputs", "outputs", "branches"} | {
    "min_agentspec_version", "max_agentspec_version", "default_generation_parameters",
}  # fmt: skip
_MODEL: Final = {"url", "model_id", "provider", "api_provider", "api_type", "api_key"}
_FLOW: Final = {
    "description", "start_node", "nodes", "control_flow_connections", "data_flow_connections",
}  # fmt: skip
_HINTS: Final = {
    "requires_confirmation": "who runs a program says what is asked before: --approve",
    "human_in_the_loop": "who is asked is said by who runs it",
    "toolboxes": "list the tools in the program, and bring them: --mcp, --openapi or --tools",
}
_STEPS: Final = {"AgentNode": "agent", "ToolNode": "tool", "FlowNode": "subflow"}
_MAPS: Final = {"MapNode": {"at_once": 1}, "ParallelMapNode": {}}
_NO_STEPS: Final = ("StartNode", "EndNode", "BranchingNode")
_END: Final = "the end"


class Reader:
    """Makes definitions of components, each once.

    Attributes:
        made: the definitions by their names, in the order in which they are complete.
    """

    def __init__(self, tell: properties.Tell) -> None:
        self.made: dict[str, Pattern] = {}
        self.tell = tell
        self._names: dict[str, str] = {}

    def read(self, component: Component, path: str) -> str:
        """Define what a component is, and what it uses; its name, or a `NoCounterpartError`."""
        kinds: dict[str, Callable[[Any, str], str]] = {
            "Agent": self._agent, "ManagerWorkers": self._manager, "Swarm": self._swarm,
            "Flow": self._flow,
        }  # fmt: skip
        kind = type(component).__name__
        if component.id not in self._names:
            if kind in kinds:
                return kinds[kind](component, path)
            if not hasattr(component, "requires_confirmation"):
                raise NoCounterpartError(f"{path}: {kind} has no counterpart")
            self._define(component, path, self._tool(component, path))
        return self._names[component.id]

    def _define(self, component: Component, path: str, pattern: Pattern) -> str:
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

    # --- agents and tools

    def _agent(self, agent: Agent, path: str) -> str:
        self.tell_rest(agent, path, {"description", "llm_config", "system_prompt", "tools"})
        model, settings = self._model(agent.llm_config, f"{path}.llm_config")
        types = types_of(agent, path, self.tell)
        prompt = self._instruction(agent.system_prompt, types, path)
        specs: dict[str, Pattern] = {}
        for each in agent.tools:
            at = f"{path}.tools.{each.name}"
            name = self.free(each.name or "tool", specs, at)
            specs[name] = _named(name, self._tool(each, at))
        made = lenses_ext.create_agent_pattern(
            agent.name or "Agent", agent.description or None, model, prompt, specs.values(),
            settings=settings or None,
        )  # fmt: skip
        result = TEXT if types.result is None else types.result
        if types.inputs["properties"] and not _is_usual(types):
            typed = signature_elements(attrs.evolve(types, result=result).signature)
        else:  # what is usual is not said
            typed = () if result == TEXT else (lenses_ext.json_schema_to_answer(result),)
        return self._define(agent, path, attrs.evolve(made, elements=(*typed, *made.elements)))

    def _instruction(self, prompt: str, types: properties.Types, path: str) -> str:
        """The prompt without what only hands its inputs on; what is not filled in is told."""
        kept = prompt.removesuffix(properties.handed_on([*types.inputs["properties"]]))
        for name in dict.fromkeys(PLACEHOLDER.findall(kept)):
            reason = f"{{{{{name}}}}} is not filled in: what it is called with is the message"
            self.tell(f"{path}.system_prompt", reason)
        if not kept.strip():
            self.tell(f"{path}.system_prompt", "is empty: an agent here is told to do something")
            return "Do what the user asks for."
        return kept

    def _manager(self, group: ManagerWorkers, path: str) -> str:
        """A manager with workers: an agent that has others among its elements."""
        self.tell_rest(group, path, {"group_manager", "workers"})
        name = self._led_by(group, group.group_manager, f"{path}.group_manager")
        for each in group.workers:
            self._add(name, Pattern(Subject(self.read(each, f"{path}.workers.{each.name}"))))
        return name

    def _swarm(self, swarm: Swarm, path: str) -> str:
        """Agents that hand over to each other, call each other, or both."""
        self.tell_rest(swarm, path, {"first_agent", "relationships", "handoff"})
        name = self._led_by(swarm, swarm.first_agent, f"{path}.first_agent")
        for index, pair in enumerate(swarm.relationships):
            ends = [self.read(each, f"{path}.relationships[{index}]") for each in pair]
            one, other = (Pattern(Subject(each)) for each in ends)
            if swarm.handoff != HandoffMode.ALWAYS:
                self._add(ends[0], other)
            if swarm.handoff != HandoffMode.NEVER:
                self._add(ends[0], Pattern(Subject("", {HANDOFF}), (one, other)))
        return name

    def _led_by(self, group: Component, leader: Component, path: str) -> str:
        """Define who leads a group, whose name the group has here; that name."""
        name = self._names[group.id] = self.read(leader, path)
        if group.name != leader.name:
            self.tell(
                f"{path.rpartition('.')[0]}.name", f'it has the name of who leads it, "{name}"'
            )
        return name

    def _add(self, name: str, element: Pattern) -> None:
        made = self.made[name]
        self.made[name] = attrs.evolve(made, elements=(*made.elements, element))

    def _tool(self, tool: Any, path: str) -> Pattern:
        self.tell_rest(tool, path, {"description"})
        kind = type(tool).__name__
        name, description = tool.name or kind, tool.description or ""
        if kind != "ServerTool":
            self.tell(path, f"{kind} is a tool as any: what runs it is brought with --tools")
        if not description.strip():
            description = f"Calls {name}."
            self.tell(f"{path}.description", f'is empty; the model is told "{description}"')
        signature = types_of(tool, path, self.tell).signature
        return lenses_ext.create_tool_specification(name, description, signature)

    # --- models

    def _model(self, config: LlmConfig, path: str) -> tuple[lenses_ext.Model, dict[str, Any]]:
        """The model of a configuration and its settings; an address is no part of a program."""
        self.tell_rest(config, path, _MODEL)
        provider = _provider_of(config)
        row = PROVIDERS.get(provider) or Provider(provider, "")
        if config.url and _address(config.url) != _address(row.base_url):
            variable = f"{row.variable('BASE_URL')}={without_userinfo(config.url)}"
            self.tell(f"{path}.url", f"an address is no part of a program: {variable}")
        if getattr(config, "api_key", None):
            told = f"a key is no part of a program: it is read from {row.key_variable}"
            self.tell(f"{path}.api_key", told)
        if config.api_type == "responses" and row.dialect != "responses":
            told = f"a program does not say it: {row.variable('DIALECT')}=responses"
            self.tell(f"{path}.api_type", told)
        given = config.default_generation_parameters
        settings: dict[str, Any] = {}
        for key, value in (given.model_dump() if given else {}).items():
            setting = properties.SETTINGS.get(key, "extraBody")
            one = value if key in properties.SETTINGS else {**settings.get(setting, {}), key: value}
            try:
                lenses_ext.Settings({setting: one})
                settings[setting] = one
            except GramError as error:
                self.tell(f"{path}.default_generation_parameters.{key}", str(error))
        return lenses_ext.Model.parse(f"{provider}/{config.model_id}"), settings

    # --- flows

    def _flow(self, flow: Flow, path: str) -> str:
        self.tell_rest(flow, path, _FLOW)
        try:
            reader = _FlowReader(self, flow, path)
            name = self._define(flow, path, reader.workflow())
            reader.compare(name)
        except (NoCounterpartError, ValidationError) as error:
            self.made.pop(self._names.pop(flow.id, ""), None)
            found = error.faults[0].message if isinstance(error, ValidationError) else str(error)
            reason = found.removeprefix(f"{path}: ")
            raise NoCounterpartError(f"{path}: not made, as {reason}") from None
        return name


def _named(name: str, pattern: Pattern) -> Pattern:
    return attrs.evolve(pattern, value=attrs.evolve(pattern.value, identity=name))


def _is_usual(types: properties.Types) -> bool:
    """Whether the inputs are those of whatever has no signature: one text, ``input``."""
    return dict(types.inputs["properties"]) == {"input": TEXT}


def _provider_of(config: LlmConfig) -> str:
    """The provider that is named, whose kind it is or whose address it has; else its own kind."""
    kind = type(config).__name__
    named = config.provider or config.api_provider or re.sub("(GenAi)?Config$", "", kind)
    if named == "OpenAiCompatible" and config.url:  # as many providers as there are servers
        server = _address(without_userinfo(config.url)).partition("://")[2].partition("/")[0]
        named = re.sub(r"\W", "_", server, flags=re.ASCII) or named
    for name, row in PROVIDERS.items():
        is_there = config.url is not None and _address(config.url) == _address(row.base_url)
        if properties.KINDS.get(name) == kind or name.lower() == named.lower() or is_there:
            return name
    return named.replace("/", "_")


def _address(url: str) -> str:
    """What is the same of two addresses of one server; without a scheme, http is meant."""
    url = url.rstrip("/").removesuffix("/v1")
    return url if "://" in url else f"http://{url}"


class _FlowReader:
    """Reads one flow. Nodes are meant by their ids, inputs and outputs by their titles."""

    def __init__(self, reader: Reader, flow: Flow, path: str) -> None:
        self._reader, self._flow, self._path = reader, flow, path
        self._nodes: dict[str, Any] = {node.id: node for node in flow.nodes}
        self._kinds = {each: type(node).__name__ for each, node in self._nodes.items()}
        self._start: str = flow.start_node.id
        self._before = grouped((each.to_node.id, each) for each in flow.control_flow_connections)
        self._names: dict[str, str] = {}  # of the ends of arrows, by node
        self._uses: dict[str, str] = {}  # of the definitions, by node
        self._arrows: list[tuple[str, str, Subject]] = []
        self._wires = [*map(_WIRE, flow.data_flow_connections or ())]
        if flow.data_flow_connections is None:  # then an input is an output of its title
            self._wires = [
                (source, each.title, node, each.title)
                for node in self._nodes
                for source in reached(self._nodes_before(node), self._nodes_before)
                for each in self._nodes[source].outputs or ()
            ]
        self._data = {node: self._brought(node) for node in self._nodes}

    def workflow(self) -> Pattern:
        """The workflow that the flow is, or a `NoCounterpartError`; what it uses comes first."""
        self._define_steps()
        for node in self._order():
            if self._kinds[node] not in ("StartNode", "BranchingNode"):
                self._lead_to(node)
        self._tell_order()
        description = self._flow.description
        record = {"description": description} if description else {}
        arrows = (
            Pattern(label, (self._end(source), self._end(target)))
            for source, target, label in self._arrows
        )
        return Pattern(Subject("", {"Workflow"}, record), (*self._signature(), *arrows))

    def _order(self) -> list[str]:
        """The nodes, each behind those that control comes from."""
        sorter = TopologicalSorter({node: self._nodes_before(node) for node in self._nodes})
        try:
            return [*sorter.static_order()]
        except CycleError as error:
            name = self._nodes[error.args[1][0]].name
            raise self._differs(f"it goes back to {name}, without a bound") from None

    def _nodes_before(self, node: str) -> list[str]:
        return [each.from_node.id for each in self._before.get(node, ())]

    def _brought(self, node: str) -> dict[str, list[Port]]:
        """The outputs that a node gets, by its inputs."""
        if node == self._start:
            return {}
        taken = self._flow.outputs if self._kinds[node] == "EndNode" else self._nodes[node].inputs
        return {
            each.title: [wire[:2] for wire in self._wires if wire[2:] == (node, each.title)]
            for each in taken or ()
        }

    def _differs(self, reason: str) -> NoCounterpartError:
        return NoCounterpartError(f"{self._path}: {reason}")

    def _signature(self) -> tuple[Pattern, ...]:
        """The signature; none where it takes and gives what a workflow without one does."""
        types = types_of(self._flow, self._path, _silent)
        agents = (self._data[each] for each, kind in self._kinds.items() if kind == "AgentNode")
        asks = not types.inputs["properties"] and not all(agents)
        is_short = asks or (_is_usual(types) and types.result in ({}, TEXT))
        return () if is_short else signature_elements(types.signature)

    # --- steps

    def _define_steps(self) -> None:
        """Define what the nodes use: all of it, whatever is missing."""
        missing: list[str] = []
        for node, component in self._nodes.items():
            at = f"{self._path}.{component.name}"
            if self._kinds[node] in _NO_STEPS:
                self._reader.tell_rest(component, at, {"mapping"})
                continue
            try:
                self._uses[node] = self._reader.read(self._used(component, at), at)
            except NoCounterpartError as error:
                missing.append(str(error))
        if missing:
            raise NoCounterpartError("; ".join(missing))
        for node, use in self._uses.items():
            name = self._nodes[node].name
            if name != use or name in self._names.values():
                taken = {properties.OUTPUT, *self._reader.made, *self._names.values()}
                name = self._reader.free(name or use, taken, f"{self._path}.{name}")
            self._names[node] = name

    def _used(self, node: Any, path: str) -> Any:
        """The component that a node uses."""
        kind = self._kinds[node.id]
        if kind in _STEPS:
            self._reader.tell_rest(node, path, {_STEPS[kind]})
            return getattr(node, _STEPS[kind])
        if kind in _MAPS:
            self._reader.tell_rest(node, path, {"subflow", "reducers"})
            if {each.value for each in (node.reducers or {}).values()} - {"append"}:
                raise NoCounterpartError(f"{path}.reducers: EACH gives the list of the answers")
            return _only_step(node.subflow)
        if kind == "LlmNode":
            self._reader.tell_rest(node, path, {"description", "llm_config", "prompt_template"})
            return Agent(
                id=node.id, name=node.name, description=node.description, inputs=node.inputs,
                outputs=node.outputs, llm_config=node.llm_config,
                system_prompt=node.prompt_template,
            )  # fmt: skip
        raise NoCounterpartError(f"{path}: {kind} has no counterpart")

    # --- arrows

    def _lead_to(self, node: str) -> None:
        """Make the arrows that lead to a node."""
        before = self._before.get(node, ())
        choices = [each for each in before if self._kinds[each.from_node.id] == "BranchingNode"]
        passed = {port for edge in choices for port in self._choose(edge)}
        plain = {
            title: [port for port in ports if port not in passed]
            for title, ports in self._data[node].items()
        }
        sources = {source for ports in plain.values() for source, _ in ports}
        is_same = all([each for _, each in ports] == [title] for title, ports in plain.items())
        if not sources and not choices:  # it waits for those before it
            if self._kinds[node] == "AgentNode" and self._nodes_before(node) != [self._start]:
                at = f"{self._path}.{self._nodes[node].name}"
                self._reader.tell(at, "its message is what the step before it gives")
            self._arrows += ((each, node, Subject()) for each in self._nodes_before(node))
        elif len(plain) > 1 and len(sources) == 1 and is_same:  # the fields of one answer
            self._arrows += ((each, node, Subject()) for each in sources)
        else:
            for title, ports in plain.items():
                label = Subject("", (), {"as": title} if len(plain) > 1 else {})
                if self._kinds[node] in _MAPS:
                    label = Subject("", {EACH}, _MAPS[self._kinds[node]])
                self._arrows += ((source, node, label) for source, _ in ports)

    def _choose(self, edge: Any) -> list[Port]:
        """Make the arrows of a branch; what comes by them, as the chooser was given it."""
        chooser, _ = self._decides_on(edge.from_node)
        labels = self._labels(edge)
        self._arrows += ((chooser, edge.to_node.id, each) for each in labels)
        if chooser == self._start:
            return [(chooser, each.title) for each in self._nodes[chooser].outputs]
        return [port for ports in self._data[chooser].values() for port in ports]

    def _decides_on(self, choice: Any) -> Port:
        ports = [port for several in self._data[choice.id].values() for port in several]
        if len(ports) != 1:
            raise self._differs(f'"{choice.name}" decides on {len(ports)} outputs')
        return ports[0]

    def _labels(self, edge: Any) -> list[Subject]:
        """The labels of the arrows that an edge of control is."""
        if self._kinds[edge.from_node.id] != "BranchingNode":
            return [Subject()]
        chooser, output = self._decides_on(edge.from_node)
        outputs = {each.title: each.json_schema for each in self._nodes[chooser].outputs}
        mapping = edge.from_node.mapping
        values = [value for value, taken in mapping.items() if taken == edge.from_branch]
        wanted = [{output: each} if len(outputs) > 1 else each for each in values]
        labels = [Subject("", {WHEN}, {"is": each}) for each in wanted]
        is_covered = {*outputs[output].get("enum", [None])} <= {*mapping}
        if edge.from_branch == DEFAULT and not is_covered:
            labels.append(Subject("", {OTHERWISE}))
        return labels

    def _end(self, node: str) -> Pattern:
        name, use = self._names.get(node, ""), self._uses.get(node, "")
        return Pattern(Subject(name, {use} if use != name else ()))

    # --- whether it means the same

    def compare(self, name: str) -> None:
        """Refuse the flow if that of the workflow, which was made of it, has other edges."""
        root = the_agent(tuple(self._reader.made.values()), name, by="from_agent_spec")
        order = [self._names[each] for each in self._order() if each in self._names]
        try:
            split = len(self._flow.outputs or ()) > 1
            flow = FlowWriter(Writer(root, _silent), root, self._path, order, split=split).flow()
        except properties.REFUSALS as error:
            raise self._differs(properties.words_of(error)) from None
        other = _FlowReader(self._reader, flow, self._path)
        other._names = {each: node.name for each, node in other._nodes.items()}
        ours, theirs = self._edges(), other._edges()
        taken = {(self._called(node), title) for node in self._data for title in self._titles(node)}
        different = (each for each in ours ^ theirs if each[2:] in taken)
        if found := min(((each[0], each[2]) for each in different), default=None):
            source, target = found
            raise self._differs(f"a workflow of its steps differs between {source} and {target}")

    def _edges(self) -> set[tuple[str, object, str, str]]:
        """What follows what, by what is answered, and who gets what of whom under a title."""
        control = {
            (self._called(each.from_node.id), label, self._called(each.to_node.id), "")
            for each in self._flow.control_flow_connections
            for label in self._labels(each)
        }
        return control | {
            (self._called(source), output, self._called(node), title)
            for node in self._data
            for title in self._titles(node)
            for source, output in self._data[node].get(title, ())
        }

    def _titles(self, node: str) -> list[str]:
        """What a node takes, "" for its turn; what a choice takes is in its labels."""
        return [""] if self._kinds[node] == "BranchingNode" else ["", *self._data[node]]

    def _called(self, node: str) -> str:
        """How a node is meant that may have another name in another flow."""
        if self._kinds[node] == "BranchingNode":
            return f"the choice after {self._called(self._decides_on(self._nodes[node])[0])}"
        known = {"StartNode": "the start", "EndNode": _END}
        return known.get(self._kinds[node]) or f'"{self._names[node]}"'

    def _tell_order(self) -> None:
        """Tell of steps that follow another and take nothing from it."""
        leads = grouped((source, target) for source, target, _ in self._arrows)
        for edge in self._flow.control_flow_connections:
            one, after = edge.from_node, edge.to_node
            led_to = reached([one.id], lambda each: leads.get(each, ()))
            if {one.id, after.id} <= self._uses.keys() and after.id not in led_to:
                reason = f'"{after.name}" takes nothing from it, and may run before it ends'
                self._reader.tell(f"{self._path}.{self._names[one.id]}", reason)


def _only_step(flow: Flow) -> Any:
    """What a flow uses that is one step between its ends; else the flow itself."""
    for step in flow.nodes:
        if len(flow.nodes) == 3 and (kind := type(step).__name__) in _STEPS:
            is_same = (flow.inputs, flow.outputs) == (step.inputs, step.outputs)
            return getattr(step, _STEPS[kind]) if is_same else flow
    return flow


def _silent(_path: str, _reason: str) -> None:
    """What is lost was told where the parts were read."""
