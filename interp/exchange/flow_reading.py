"""Flows of Agent Spec as workflows, where they mean the same.

A flow has edges of control and of data; a workflow has arrows that are both. The workflow that the
data make is compared with the flow on each way through it: the same steps run, and each gets the
same. Where that is not so the flow is not made, and it is said why.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from attrs import frozen

from gram import Pattern, Subject
from gram.trees import WALK_SUBJECT
from lenses_ext import create_tool_specification
from lenses_ext.signatures import signature_elements
from lenses_ext.workflows import EACH, OTHERWISE, WHEN

from .agents import NoCounterpartError, Reader, is_usual
from .flow_graph import DiffersError, FlowGraph, Port
from .properties import OUTPUT, Types, types_of

if TYPE_CHECKING:
    from pyagentspec.flows.flow import Flow

_MAPS = {"MapNode": 1, "ParallelMapNode": None}
_STEPS = {"AgentNode": "agent", "ToolNode": "tool", "FlowNode": "subflow"}
_READ = {"description", "start_node", "nodes"} | {
    "control_flow_connections", "data_flow_connections",
}  # fmt: skip
_NO_STEPS = {"StartNode", "EndNode", "BranchingNode"}


def read_flow(reader: Reader, flow: Flow, path: str) -> Pattern:
    """The workflow that a flow is; what it uses is defined first.

    Raises:
        NoCounterpartError: it has a step that programs have not, or means something else.
    """
    reader.tell_rest(flow, path, _READ)
    try:
        return _FlowReader(reader, flow, path).workflow()
    except DiffersError as error:
        raise NoCounterpartError(f"{path}: not made, as {error}") from None


@frozen
class _Arrow:
    """An arrow: from a node to a node, with what it is labelled.

    ``carries`` says what an input gets by it; None: what the choosing step itself was given.
    ``choice`` is the node that chooses and the branch that takes the arrow.
    """

    source: str
    target: str
    label: Subject
    carries: Mapping[str, Port] | None
    choice: tuple[str, str] | None = None


class _FlowReader:
    def __init__(self, reader: Reader, flow: Flow, path: str) -> None:
        self._reader = reader
        self._flow = flow
        self._path = path
        self._graph = FlowGraph(flow)
        self._names: dict[str, str] = {}  # of the ends of arrows, by node
        self._uses: dict[str, str] = {}  # of the definitions, by node
        self._picks: dict[str, Pattern] = {}
        self._arrows: list[_Arrow] = []

    def workflow(self) -> Pattern:
        self._define_steps()
        ways = [*self._graph.ways()]  # a flow that goes back has none
        for node in self._graph.nodes:
            if self._graph.kind(node) not in ("StartNode", "BranchingNode"):
                self._lead_to(node)
        self._compare(ways)
        flow, types = self._flow, self._types()
        record = {"description": flow.description} if flow.description else {}
        signature = () if self._is_usual(types) else signature_elements(types.signature)
        elements = (*signature, *self._picks.values(), *self._paths())
        return Pattern(Subject(flow.name, {"Workflow"}, record), elements)

    def _types(self) -> Types:
        return types_of(self._flow.inputs or (), self._flow.outputs or (), self._path, _silent)

    def _is_usual(self, types: Types) -> bool:
        """Whether it takes and gives what a workflow without a signature does."""
        agents = (each for each in self._graph.nodes if self._graph.kind(each) == "AgentNode")
        asks = not types.inputs["properties"] and not all(map(self._graph.inputs, agents))
        named = types.result is not None and "title" in types.result
        return asks or (is_usual(types.inputs) and not named)

    # --- steps

    def _define_steps(self) -> None:
        """Define what the nodes use: all of it, whatever is missing."""
        missing: list[str] = []
        for node, component in self._graph.nodes.items():
            kind, at = self._graph.kind(node), f"{self._path}.{component.name}"
            if kind in _NO_STEPS:
                self._reader.tell_rest(component, at, {"mapping"})
                continue
            try:
                self._uses[node] = self._reader.read(self._used(component, kind, at), at)
            except NoCounterpartError as error:
                missing.append(str(error))
        if missing:
            raise NoCounterpartError("; ".join(missing))
        taken = {OUTPUT, *self._reader.made}
        for node, use in self._uses.items():
            name = self._graph.nodes[node].name
            if name != use or name in self._names.values():
                at = f"{self._path}.{name}"
                name = self._reader.free(name or use, {*taken, *self._names.values()}, at)
            self._names[node] = name

    def _used(self, node: Any, kind: str, path: str) -> Any:
        """The component that a node uses."""
        if kind in _STEPS:
            self._reader.tell_rest(node, path, {_STEPS[kind]})
            return getattr(node, _STEPS[kind])
        if kind in _MAPS:
            self._reader.tell_rest(node, path, {"subflow", "reducers"})
            if {each.value for each in (node.reducers or {}).values()} - {"append"}:
                raise NoCounterpartError(f"{path}.reducers: EACH gives the list of the answers")
            return _only_step(node.subflow)
        if kind == "LlmNode":
            from pyagentspec import Agent

            self._reader.tell_rest(node, path, {"description", "llm_config", "prompt_template"})
            return Agent(
                id=node.id, name=node.name, description=node.description, inputs=node.inputs,
                outputs=node.outputs, llm_config=node.llm_config,
                system_prompt=node.prompt_template,
            )  # fmt: skip
        raise NoCounterpartError(f"{path}: {kind} has no counterpart")

    # --- arrows

    def _lead_to(self, node: str) -> None:
        """The arrows that lead to a node."""
        graph = self._graph
        sources = graph.data[node]
        choices = [
            (*each, self._chooser(each[0]))
            for each, after in graph.control.items()
            if after == node and graph.kind(each[0]) == "BranchingNode"
        ]
        for choice, branch, (chooser, _output) in choices:
            given = graph.inputs(chooser)
            if len(given) != len(sources) or (len(given) > 1 and {*given} != {*sources}):
                raise DiffersError(
                    f"{self._said(node)} is chosen, and takes something else than what "
                    f"{self._said(chooser)} was given"
                )
            self._arrows += self._choosing(choice, branch, chooser, node)
        passed = {port for _, _, (each, _) in choices for port in self._given(each)}
        plain = {
            title: [port for port in ports if port not in passed]
            for title, ports in sources.items()
        }
        several = {port for ports in plain.values() for port in ports}
        from_one = {source for source, _ in several}
        if not sources and not choices:  # it waits for those before it
            before = [each for (each, _), after in graph.control.items() if after == node]
            if graph.kind(node) == "AgentNode" and before != [graph.start]:
                at = f"{self._path}.{graph.nodes[node].name}"
                self._reader.tell(at, "its message is what the step before it gives")
            self._arrows += (_Arrow(each, node, Subject(), {}) for each in before)
        elif (
            len(sources) > 1
            and len(from_one) == 1
            and all(ports == [(*from_one, title)] for title, ports in plain.items())
        ):  # all fields of what one step gives
            carries = {title: port for title, (port,) in plain.items()}
            self._arrows.append(_Arrow(from_one.pop(), node, Subject(), carries))
        else:
            for title, ports in plain.items():
                for source, output in ports:
                    label = Subject("", (), {"as": title} if len(sources) > 1 else {})
                    if graph.kind(node) in _MAPS:
                        label = self._each(node, source, output)
                    start = self._with_one_output(source, output)
                    self._arrows.append(_Arrow(start, node, label, {title: (source, output)}))

    def _chooser(self, choice: str) -> Port:
        """The output on which a choice is made."""
        (ports,) = self._graph.data[choice].values()
        if len(ports) != 1:
            raise DiffersError(f"{self._said(choice)} decides on {len(ports)} outputs")
        return ports[0]

    def _given(self, chooser: str) -> set[Port]:
        if chooser == self._graph.start:
            return {(chooser, title) for title in self._graph.outputs(chooser)}
        return {port for ports in self._graph.data[chooser].values() for port in ports}

    def _choosing(self, choice: str, branch: str, chooser: str, target: str) -> list[_Arrow]:
        """The arrows of one branch of a choice."""
        node, (_, output) = self._graph.nodes[choice], self._chooser(choice)
        (schema,) = (
            each.json_schema for each in self._graph.nodes[chooser].outputs if each.title == output
        )
        if schema.get("type", "string") != "string":
            raise DiffersError(f"{self._said(choice)} decides on texts that are no texts")
        fields = len(self._graph.outputs(chooser)) > 1
        labels = [
            Subject("", {WHEN}, {"is": {output: value} if fields else value})
            for value, taken in node.mapping.items()
            if taken == branch
        ]
        if branch == "default" and not self._graph.is_covered(choice):
            labels.append(Subject("", {OTHERWISE}))
        return [_Arrow(chooser, target, each, None, (choice, branch)) for each in labels]

    def _each(self, node: str, source: str, output: str) -> Subject:
        """The label of an arrow to a map."""
        titles = {each.title: each.json_schema for each in self._graph.nodes[source].outputs}
        if len(self._graph.data[node]) != 1 or len(self._graph.outputs(node)) != 1:
            raise DiffersError(f"{self._said(node)} maps over more than one list, or gives more")
        if titles[output].get("type") != "array":
            raise DiffersError(f"{self._said(node)} maps over what is no list")
        at_once = _MAPS[self._graph.kind(node)]
        return Subject("", {EACH}, {"at_once": at_once} if at_once else {})

    def _with_one_output(self, source: str, output: str) -> str:
        """A node that gives an output alone: itself, or a tool that picks it out."""
        outputs = self._graph.outputs(source)
        if len(outputs) == 1:
            return source
        name = f"{output}_of_{self._names.get(source, 'input')}"
        if name not in self._picks:
            given = self._graph.nodes[source].outputs
            types = types_of(
                given, [each for each in given if each.title == output], self._path, _silent
            )
            said = f"Gives {output} of what it is given."
            self._picks[name] = create_tool_specification(name, said, types.signature)
            self._names[name] = self._uses[name] = name
            self._arrows.append(_Arrow(source, name, Subject(), {}))
            self._reader.tell(
                f"{self._path}.{name}", "a step that picks one of several outputs: bring this tool"
            )
        return name

    def _said(self, node: str) -> str:
        return f'"{self._graph.nodes[node].name}"'

    def _paths(self) -> Iterator[Pattern]:
        """The arrows; those that follow each other are one path."""
        walks: list[list[_Arrow]] = []
        for arrow in self._arrows:
            if walks and walks[-1][-1].target == arrow.source:
                walks[-1].append(arrow)
            else:
                walks.append([arrow])
        for walk in walks:
            edges = [
                Pattern(each.label, (self._end(each.source), self._end(each.target)))
                for each in walk
            ]
            yield Pattern(WALK_SUBJECT, edges) if len(edges) > 1 else edges[0]

    def _end(self, node: str) -> Pattern:
        name, use = self._names.get(node, ""), self._uses.get(node, "")
        return Pattern(Subject(name, {use} if use != name else ()))

    # --- whether it means the same

    def _compare(self, ways: Iterable[tuple[Mapping[str, str], list[str]]]) -> None:
        """Compare the arrows with the flow on each way through it."""
        for chosen, way in ways:
            given = self._followed(chosen)
            for node in way:
                ports = self._graph.data[node]
                if self._graph.kind(node) in ("StartNode", "BranchingNode"):
                    continue
                if node not in given:
                    raise DiffersError(f"{self._said(node)} would not run where it does")
                for title, sources in ports.items():
                    live = [port for port in sources if port[0] in way[: way.index(node)]]
                    if len(live) > 1 or given[node].get(title) != (live[0] if live else None):
                        raise DiffersError(f"{self._said(node)} would get another {title}")
            if extra := {*given} - {*way, *self._picks}:
                raise DiffersError(f"{self._said(min(extra))} would run where it does not")
        self._tell_order()

    def _followed(self, chosen: Mapping[str, str]) -> dict[str, dict[str, Port]]:
        """What each node gets that runs, by the arrows."""
        start = self._graph.start
        given: dict[str, dict[str, Port]] = {
            start: {title: (start, title) for title in self._graph.outputs(start)}
        }
        for _ in self._arrows:  # as often as it takes until the last is followed
            for arrow in self._arrows:
                live = arrow.choice is None or chosen[arrow.choice[0]] == arrow.choice[1]
                if live and arrow.source in given:
                    passed = arrow.carries
                    if passed is None:
                        passed, titles = given[arrow.source], self._graph.data[arrow.target]
                        if len(titles) == 1:
                            passed = dict(zip(titles, passed.values(), strict=False))
                    given.setdefault(arrow.target, {}).update(passed)
        return given

    def _tell_order(self) -> None:
        """Tell of steps that follow another and take nothing from it."""
        leads: dict[str, set[str]] = {}
        for arrow in self._arrows:
            leads.setdefault(arrow.source, set()).add(arrow.target)
        for (node, _), after in self._graph.control.items():
            found = [node]
            for each in found:
                found += leads.get(each, set()) - {*found}
            if {node, after} <= self._uses.keys() and after not in found:
                reason = f"{self._said(after)} takes nothing from it, and may run before it ends"
                self._reader.tell(f"{self._path}.{self._names[node]}", reason)


def _only_step(flow: Flow) -> Any:
    """What a flow uses that is one step and nothing else; else the flow itself."""
    steps = [each for each in flow.nodes if type(each).__name__ in _STEPS]
    if len(flow.nodes) != 3 or len(steps) != 1:
        return flow
    (step,) = steps
    ends = ({each.title for each in part} for part in (flow.inputs or (), flow.outputs or ()))
    own = ({each.title for each in part} for part in (step.inputs or (), step.outputs or ()))
    passes = flow.data_flow_connections is None or len(flow.data_flow_connections) == 2
    is_same = [*ends] == [*own] and passes
    return getattr(step, _STEPS[type(step).__name__]) if is_same else flow


def _silent(_path: str, _reason: str) -> None:
    """What is lost was told where the parts were read."""
