"""Programs as components of Agent Spec: tools, agents, agents inside agents, and workflows.

The steps of a workflow are put one after another, in an order in which each has what it takes. A
step that is left out on some way is jumped over by the edge of the choice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias

from pyagentspec import Agent, Component, Property, llms
from pyagentspec.agenticcomponent import AgenticComponent
from pyagentspec.flows import nodes
from pyagentspec.flows.edges import ControlFlowEdge, DataFlowEdge
from pyagentspec.flows.flow import Flow
from pyagentspec.managerworkers import ManagerWorkers
from pyagentspec.swarm import HandoffMode, Swarm
from pyagentspec.tools import ServerTool

import lenses_ext
from gram import Pattern, Subject
from lenses_ext import Settings, is_agent, is_tool, is_workflow, view, workflow_of
from lenses_ext.cycles import reached
from lenses_ext.labels import is_skill
from lenses_ext.language import tool_spec_of, written_signature
from lenses_ext.names import definitions_of
from lenses_ext.schemas import to_json_value
from lenses_ext.workflows import FlowArrow, FlowNode, Join, grouped, handoffs

from ..models import PROVIDERS
from . import properties
from .properties import NoCounterpartError, types_in, written_inputs, written_outputs

PLACEHOLDER: Final = re.compile(r"{{\s*(\w+)\s*}}")
DEFAULT: Final = "default"
"""The branch that is taken where no other is."""

Port: TypeAlias = tuple[Any, str]
"""A node, and an output of it."""


class Writer:
    """Makes components of what is resolved, each once, with its path as its id."""

    def __init__(self, root: Pattern, tell: properties.Tell) -> None:
        self.tell = tell
        self._definitions = definitions_of(root)
        self._made: dict[tuple[Pattern, bool], Any] = {}

    def written(
        self, pattern: Pattern, path: str, *, is_step: bool = False, is_worker: bool = False
    ) -> Any:
        """The component that an agent, tool or workflow is.

        Args:
            is_step: whether it is a step of a flow, which hands inputs to an agent, too.
            is_worker: whether another agent calls it: then it has no conversation to hand over.
        """
        key = pattern, is_step and is_agent(pattern)
        if key not in self._made:
            self._made[key] = self._component(pattern, path, is_step, is_worker)
        return self._made[key]

    def _component(self, pattern: Pattern, path: str, is_step: bool, is_worker: bool) -> Component:
        if lenses_ext.is_loop(pattern):
            raise NoCounterpartError(f"{path}: a loop has no counterpart: flows count no rounds")
        known = {"description", *(("instruction", "model", "settings") * is_agent(pattern))}
        for key in sorted({*pattern.value.properties} - known):
            self.tell(f"{path}.{key}", "has no counterpart")
        if is_tool(pattern):
            types = types_in(pattern)
            return ServerTool(
                id=path, name=pattern.value.identity,
                description=view(lenses_ext.tool_spec_description, pattern),
                inputs=written_inputs(types, path, self.tell),
                outputs=written_outputs(types, path, self.tell),
            )  # fmt: skip
        if is_workflow(pattern):
            return FlowWriter(self, pattern, path).flow()
        if not is_worker:
            return self._swarm(pattern, path, is_step)
        for name in handoffs(pattern):
            self.tell(f"{path}.{name}", "one that is called hands nothing over there")
        return self._group(pattern, path, is_step)

    def _swarm(self, agent: Pattern, path: str, is_step: bool) -> AgenticComponent:
        """An agent, and those that it hands over to, at any distance."""
        first = self._group(agent, path, is_step)
        known = {**self._definitions, agent.value.identity: agent}
        made = {agent.value.identity: first}
        for name in reached(made, lambda name: handoffs(known[name])):
            if name not in made:
                made[name] = self._group(known[name], f"{path}.{name}", False)
        pairs = [(made[name], made[each]) for name in made for each in handoffs(known[name])]
        if not pairs:
            return first
        return Swarm(
            id=f"{path}.swarm", name=first.name, first_agent=first, relationships=pairs,
            handoff=HandoffMode.ALWAYS, inputs=first.inputs, outputs=first.outputs,
        )  # fmt: skip

    def _group(self, agent: Pattern, path: str, is_step: bool) -> AgenticComponent:
        """An agent with the agents that it calls."""
        manager = self._agent(agent, path, is_step)
        workers = []
        for each in filter(lenses_ext.is_runnable, agent.elements):
            at = f"{path}.{each.value.identity}"
            if is_agent(each) and written_signature(each) is not None:
                self.tell(at, "a worker is sent a message there, not its inputs")
            workers.append(self.written(each, at, is_worker=True))
        if not workers:
            return manager
        return ManagerWorkers(
            id=f"{path}.group", name=manager.name, group_manager=manager, workers=workers,
            inputs=manager.inputs, outputs=manager.outputs,
        )  # fmt: skip

    def _agent(self, agent: Pattern, path: str, is_step: bool) -> Agent:
        types, tell = types_in(agent), self.tell
        called = is_step or written_signature(agent) is not None
        refused = properties.NOT_IN_PLACEHOLDERS
        inputs = written_inputs(types, path, tell, refused) if called else []
        names = [each.title for each in inputs]
        prompt = view(lenses_ext.agent_instruction, agent)
        placeholders = {*PLACEHOLDER.findall(prompt)}
        for name in sorted(placeholders - {*names}):
            reason = (
                f"{{{{{name}}}}} would be an input there, and the agent takes none of this name"
            )
            raise NoCounterpartError(f"{path}.instruction: {reason}")
        if not {*names} <= placeholders:
            prompt += properties.handed_on(names)
        answer = view(lenses_ext.agent_answer, agent)
        if answer is not None and answer.value.identity:
            tell(f"{path}.{answer.value.identity}", "the name of an answer has no counterpart")
        for each in filter(is_skill, agent.elements):
            tell(f"{path}.{each.value.identity}", "has no counterpart")
        gives = called or answer is not None
        tools = filter(is_tool, agent.elements)
        return Agent(
            id=path, name=agent.value.identity,
            description=view(lenses_ext.agent_description, agent),
            llm_config=self._model(agent, path), system_prompt=prompt, inputs=inputs,
            outputs=written_outputs(types, path, tell) if gives else [],
            tools=[self.written(each, f"{path}.tools.{each.value.identity}") for each in tools],
        )  # fmt: skip

    def _model(self, agent: Pattern, path: str) -> llms.LlmConfig:
        """The configuration of an agent's model, with its settings."""
        model, *others = view(lenses_ext.agent_models, agent)
        if others:
            reason = f"one model has no others behind it: {', '.join(map(str, others))}"
            self.tell(f"{path}.model", reason)
        settings = self._settings(agent, f"{path}.settings")
        given: dict[str, Any] = {
            "id": f"{path}.model", "name": str(model), "model_id": model.name,
            "default_generation_parameters": settings or None,
        }  # fmt: skip
        if model.provider == "OpenAI":
            return llms.OpenAiConfig(**given)
        if row := PROVIDERS.get(model.provider):
            given["url"] = row.base_url
        if kind := properties.KINDS.get(model.provider):
            made: llms.LlmConfig = getattr(llms, kind)(**given)
            return made
        return llms.LlmConfig(provider=model.provider, **given)

    def _settings(self, agent: Pattern, path: str) -> dict[str, Any]:
        found = (view(lenses_ext.agent_settings, agent) or Settings()).as_json()
        made: dict[str, Any] = found.pop("extraBody", {})
        for key in sorted(found.keys() - {*properties.SETTINGS.values()}):
            self.tell(f"{path}.{key}", "has no counterpart")
        return made | {
            field: found[key] for field, key in properties.SETTINGS.items() if key in found
        }


class FlowWriter:
    """Writes one workflow; its nodes are meant by their names, None is its input.

    Args:
        writer: makes what the nodes use.
        order: the names of the nodes, as they are put one after another; else as they wait.
        split: whether the fields of a record that it gives are outputs of their own.
    """

    def __init__(
        self,
        writer: Writer,
        workflow: Pattern,
        path: str,
        order: Sequence[str] = (),
        *,
        split: bool = True,
    ) -> None:
        self._writer, self._pattern, self._path, self._split = writer, workflow, path, split
        self._flow = workflow_of(workflow)
        self._order = order or self._flow.order
        self._nodes: dict[str | None, Any] = {}
        self._choices: dict[str | None, Any] = {}
        self._joined: set[str | None] = set()

    def flow(self) -> Flow:
        """The flow that the workflow is; a `NoCounterpartError` where it does what no flow does."""
        path, steps, types = self._path, self._flow.nodes, types_in(self._pattern)
        inputs = written_inputs(types, path, self._writer.tell)
        outputs = written_outputs(types, path, self._writer.tell, split=self._split)
        self._nodes[None] = nodes.StartNode(id=f"{path}#start", name="start", inputs=inputs)
        titles = [each.title for each in outputs] or [properties.OUTPUT] * (not self._split)
        whole = {*self._taken_whole(len(titles))}
        for name in self._order:
            self._nodes[name] = self._step(steps[name], name in whole)
        end, data = self._end(outputs, titles)
        for name in self._order:
            data += self._led_to(steps[name])
        for source in self._nodes:
            data += self._choose(source)
        return Flow(
            id=path, name=self._pattern.value.identity, start_node=self._nodes[None],
            description=view(lenses_ext.workflow_description, self._pattern),
            nodes=[*self._nodes.values(), *self._choices.values(), end],
            control_flow_connections=self._control(end),
            data_flow_connections=[*{each.id: each for each in data}.values()],
        )  # fmt: skip

    def _differs(self, reason: str) -> NoCounterpartError:
        return NoCounterpartError(f"{self._path}: {reason}")

    # --- steps

    def _taken_whole(self, given: int) -> Iterator[str | None]:
        """The nodes whose records are taken as one."""
        joins = [(each.input, len(_parameters(each))) for each in self._flow.nodes.values()]
        for join, number in (*joins, (self._flow.result, given)):
            if join.is_record or number == 1:
                yield from self._sources(join.arrows)
        yield from (each.source for each in self._flow.arrows if "" in each.conditions)

    def _step(self, node: FlowNode, is_whole: bool) -> Any:
        used, at = _used(node), f"{self._path}.{node.name}"
        given: dict[str, Any] = {"id": f"{at}#node", "name": node.name}
        if node.each is not None:
            return self._map(used, at, node.each.at_once, given)
        component = self._writer.written(used, at, is_step=True)
        if is_whole and len(component.outputs) > 1 and is_workflow(used):
            component = FlowWriter(self._writer, used, f"{at}.whole", split=False).flow()
            self._joined.add(node.name)
        elif is_whole and len(component.outputs) > 1:
            outputs = written_outputs(types_in(used), at, self._writer.tell, split=False)
            component = component.model_copy(update={"id": f"{at}#whole", "outputs": outputs})
            self._joined.add(node.name)
        if is_tool(used):
            return nodes.ToolNode(tool=component, **given)
        if is_agent(used):
            return nodes.AgentNode(agent=component, **given)
        return nodes.FlowNode(subflow=component, **given)

    def _map(self, used: Pattern, at: str, at_once: int | None, given: dict[str, Any]) -> Any:
        """A step for each item: a flow of this step alone, mapped over the list."""
        subject = Subject(f"{given['name']} for each", {"Workflow"})
        whole = Pattern(subject, (*tool_spec_of(used).elements, used))
        subflow: Any = FlowWriter(self._writer, whole, f"{at}.each", split=False).flow()
        if len(subflow.inputs) != 1 or len(subflow.outputs) != 1:
            raise self._differs(f'"{given["name"]}" is used for each item, and takes or gives more')
        if at_once not in (None, 1):
            self._writer.tell(f"{at}.at_once", "how many at once has no counterpart")
        kind = nodes.MapNode if at_once == 1 else nodes.ParallelMapNode
        return kind(subflow=subflow, **given)

    # --- data

    def _sources(self, arrows: Iterable[FlowArrow]) -> list[str | None]:
        """The nodes whose answers come by arrows; a choice hands on what was given to it."""
        found: list[str | None] = []
        for each in arrows:
            if not each.is_choice or each.source is None:
                found.append(each.source)
                continue
            join = self._flow.nodes[each.source].input
            if join.is_record:
                raise self._differs(f'"{each.source}" hands on what several steps gave')
            found += self._sources(join.arrows)
        return found

    def _brought(self, join: Join, names: Sequence[str]) -> dict[str, list[Port]]:
        """What comes by the arrows of a join, by the names of what it becomes."""
        if join.is_record:
            record = self._flow.by_key(join)
            return {key: self._whole(self._sources(record[key])) for key in record}
        sources = self._sources(join.arrows)
        if len(names) == 1:
            return {names[0]: self._whole(sources)}
        if len(names) > 1 and (twice := self._joined.intersection(sources)):
            raise self._differs(f'the fields of "{twice.pop()}" are taken as one, and alone')
        steps = [self._nodes[each] for each in sources]
        return grouped((each.title, (step, each.title)) for step in steps for each in step.outputs)

    def _whole(self, sources: Iterable[str | None]) -> list[Port]:
        """The outputs that are each all of what a node gives; none where it gives nothing."""
        ports = []
        for step in map(self._nodes.__getitem__, sources):
            if len(step.outputs) > 1:
                raise self._differs(f'all fields of "{step.name}" are taken as one')
            ports += [(step, each.title) for each in step.outputs]
        return ports

    def _led_to(self, node: FlowNode) -> Iterator[DataFlowEdge]:
        """The edges of data to a step."""
        target, names = self._nodes[node.name], _parameters(node)
        if len(names) == 1 and node.input.is_record:
            raise self._differs(f'"{node.name}" takes a record of several steps as one')
        found = self._brought(node.input, names)
        for name, property_ in zip(names, target.inputs, strict=False):
            for port in found.get(name, found.get(property_.title, ())):
                yield _wire(*port, target, property_.title)

    def _end(
        self, outputs: Sequence[Property], titles: Sequence[str]
    ) -> tuple[Any, list[DataFlowEdge]]:
        """The last node, and the edges of data to it."""
        known = {each.title: each for each in outputs}
        found = self._brought(self._flow.result, titles)
        taken = []
        for key, ports in found.items():
            schemas = [
                each.json_schema for step, output in ports
                for each in step.outputs if each.title == output
            ]  # fmt: skip
            schema = schemas[0] if len(schemas) == 1 else {}
            taken.append(known.get(key) or Property(json_schema={**schema, "title": key}))
        end = nodes.EndNode(id=f"{self._path}#end", name="end", outputs=taken)
        return end, [_wire(*port, end, title) for title in found for port in found[title]]

    # --- control

    def _choose(self, source: str | None) -> Iterator[DataFlowEdge]:
        """Make the node of the choice that is made on what a node gives; the edge of data to it."""
        arrows = [each for each in self._flow.arrows if each.source == source and each.is_choice]
        if not arrows:
            return
        (field, *others) = {name: None for each in arrows for name in each.conditions}
        if others:
            raise self._differs("a choice is made on several fields")
        node, branches = self._nodes[source], map(self._branch, arrows)
        choice = self._choices[source] = nodes.BranchingNode(
            id=f"{node.id}#choice", name=f"{node.name} decides",
            mapping={each.removeprefix("is "): each for each in branches if each != DEFAULT},
        )  # fmt: skip
        for title in [field] if field else [title for _, title in self._whole([source])]:
            yield _wire(node, title, choice, choice.DEFAULT_INPUT)

    def _branch(self, arrow: FlowArrow) -> str:
        if arrow.kind == "OTHERWISE":
            return DEFAULT
        (value,) = map(to_json_value, arrow.conditions.values())
        if not isinstance(value, str):
            raise self._differs("a choice is made on what is no text")
        return f"is {value}"

    def _control(self, end: Any) -> list[ControlFlowEdge]:
        """The edges of control: on each way, a step is followed by the next one that runs."""
        edges: dict[tuple[str, str], ControlFlowEdge] = {}
        ways = self._flow.ways
        for way in ways.live:
            taken = {
                each.source: self._branch(each)
                for each in map(self._flow.arrows.__getitem__, way)
                if each.is_choice
            }
            steps = [None, *(each for each in self._order if ways.runs(way, each))]
            for name, after in zip(steps, [*steps[1:], ""], strict=True):
                source, branch, target = self._nodes[name], "next", self._nodes.get(after, end)
                if choice := self._choices.get(name):
                    edges[source.id, branch] = _edge(source, branch, choice)
                    source, branch = choice, taken[name]
                edge = edges.setdefault((source.id, branch), _edge(source, branch, target))
                if edge.to_node is not target:
                    raise self._differs(f'what follows "{source.name}" depends on a choice before')
        for choice in self._choices.values():  # where all answers are named, no run comes here
            last = edges[choice.id, [*choice.mapping.values()][-1]].to_node
            edges.setdefault((choice.id, DEFAULT), _edge(choice, DEFAULT, last))
        return [*edges.values()]


def _used(node: FlowNode) -> Pattern:
    assert node.pattern is not None, "a program is checked before"
    return node.pattern


def _parameters(node: FlowNode) -> list[str]:
    return [*types_in(_used(node)).inputs["properties"]]


def _wire(source: Any, output: str, target: Any, title: str) -> DataFlowEdge:
    key = f"{source.id}.{output}-{target.id}.{title}"
    return DataFlowEdge(
        id=key, name=key, source_node=source, source_output=output, destination_node=target,
        destination_input=title,
    )  # fmt: skip


def _edge(source: Any, branch: str, target: Any) -> ControlFlowEdge:
    key, from_branch = f"{source.id}-{branch}", None if branch == "next" else branch
    return ControlFlowEdge(
        id=key, name=key, from_node=source, to_node=target, from_branch=from_branch
    )
