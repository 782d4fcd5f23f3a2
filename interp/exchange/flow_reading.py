"""Flows of Agent Spec as workflows, where they mean the same.

A flow has edges of control and of data; a workflow has arrows that are both. The workflow that the
data make is compared with the flow on each way through it: the same steps run, and each gets the
same. Where that is not so the flow is not made, and it is said why.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import permutations
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from attrs import frozen

from gram import Pattern, Subject
from gram.trees import WALK_SUBJECT
from lenses_ext import create_tool_specification
from lenses_ext.cycles import reached
from lenses_ext.signatures import signature_elements
from lenses_ext.workflows import EACH, OTHERWISE, WHEN

from .properties import OUTPUT, NoCounterpartError, is_usual, types_of

if TYPE_CHECKING:
    from pyagentspec.flows.flow import Flow

    from .agents import Reader

Port: TypeAlias = tuple[str, str]
"""An output: the id of a node, and its title."""

_MAPS = {"MapNode": {"at_once": 1}, "ParallelMapNode": {}}
_STEPS = {"AgentNode": "agent", "ToolNode": "tool", "FlowNode": "subflow"}
_READ = {
    "description", "start_node", "nodes", "control_flow_connections", "data_flow_connections",
}  # fmt: skip
_MOST_WAYS = 1000
_WIRE = attrgetter("source_node.id", "source_output", "destination_node.id", "destination_input")


def read_flow(reader: Reader, flow: Flow, path: str) -> Pattern:
    """The workflow that a flow is; what it uses is defined first.

    Raises:
        NoCounterpartError: it has a step that programs have not, or means something else.
    """
    reader.tell_rest(flow, path, _READ)
    return _FlowReader(reader, flow, path).workflow()


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
    """Reads one flow. Nodes are meant by their ids, inputs and outputs by their titles."""

    def __init__(self, reader: Reader, flow: Flow, path: str) -> None:
        self._reader, self._flow, self._path = reader, flow, path
        self._nodes: dict[str, Any] = {node.id: node for node in flow.nodes}
        self._kinds = {each: type(node).__name__ for each, node in self._nodes.items()}
        self._takes = {each: _schemas(node.inputs) for each, node in self._nodes.items()}
        self._gives = {each: _schemas(node.outputs) for each, node in self._nodes.items()}
        self._start: str = flow.start_node.id
        self._control: dict[tuple[str, str], str] = {}  # the next node, by node and branch
        self._names: dict[str, str] = {}  # of the ends of arrows, by node
        self._uses: dict[str, str] = {}  # of the definitions, by node
        self._picks: dict[str, Pattern] = {}
        self._arrows: list[_Arrow] = []
        for edge in flow.control_flow_connections:
            branch = edge.from_branch or edge.from_node.branches[0]
            if (edge.from_node.id, branch) in self._control:
                raise self._differs(f"two edges leave the branch {branch} of {edge.from_node.name}")
            self._control[edge.from_node.id, branch] = edge.to_node.id
        wanted = _schemas(flow.outputs)
        for node in [each for each, kind in self._kinds.items() if kind == "EndNode"]:
            if not wanted.keys() <= self._takes[node].keys():
                raise self._differs(f"it can end at {self._nodes[node].name} without its outputs")
            self._takes[node], self._gives[node] = wanted, {}
        self._data: dict[str, dict[str, list[Port]]] = {
            node: {title: [] for title in takes} for node, takes in self._takes.items()
        }
        wires = [*map(_WIRE, flow.data_flow_connections or ())]
        if flow.data_flow_connections is None:  # then an input is the output of its name
            pairs = permutations(self._nodes, 2)
            wires = [(one, each, other, each) for one, other in pairs for each in self._gives[one]]
        for source, output, node, title in wires:
            if output in self._gives[source] and title in self._takes[node]:
                self._data[node][title].append((source, output))

    def workflow(self) -> Pattern:
        self._define_steps()
        ways = [*self._ways()]  # a flow that goes back has none
        for node, kind in self._kinds.items():
            if kind not in ("StartNode", "BranchingNode"):
                self._lead_to(node)
        for way in ways:
            self._compare(way)
        self._tell_order()
        flow = self._flow
        record = {"description": flow.description} if flow.description else {}
        elements = (*self._signature(), *self._picks.values(), *self._paths())
        return Pattern(Subject(flow.name, {"Workflow"}, record), elements)

    def _signature(self) -> tuple[Pattern, ...]:
        """The signature; none where it takes and gives what a workflow without one does."""
        types = types_of(self._flow.inputs or (), self._flow.outputs or (), self._path, _silent)
        agents = (self._takes[each] for each, kind in self._kinds.items() if kind == "AgentNode")
        asks = not types.inputs["properties"] and not all(agents)
        is_named = types.result is not None and "title" in types.result
        is_short = asks or (is_usual(types.inputs) and not is_named)
        return () if is_short else signature_elements(types.signature)

    def _differs(self, reason: str) -> NoCounterpartError:
        return NoCounterpartError(f"{self._path}: not made, as {reason}")

    def _said(self, node: str) -> str:
        return f'"{self._nodes[node].name}"'

    # --- steps

    def _define_steps(self) -> None:
        """Define what the nodes use: all of it, whatever is missing."""
        missing: list[str] = []
        for node, kind in self._kinds.items():
            component = self._nodes[node]
            at = f"{self._path}.{component.name}"
            if kind in ("StartNode", "EndNode", "BranchingNode"):
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
            name = self._nodes[node].name
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
        """Make the arrows that lead to a node."""
        before = [key for key, after in self._control.items() if after == node]
        choices = [key for key in before if self._kinds[key[0]] == "BranchingNode"]
        passed = {port for key in choices for port in self._choose(*key, node)}
        plain = {
            title: [port for port in ports if port not in passed]
            for title, ports in self._data[node].items()
        }
        source = next((source for ports in plain.values() for source, _ in ports), "")
        if not plain and not choices:  # it waits for those before it
            if self._kinds[node] == "AgentNode" and [each for each, _ in before] != [self._start]:
                at = f"{self._path}.{self._nodes[node].name}"
                self._reader.tell(at, "its message is what the step before it gives")
            self._arrows += (_Arrow(each, node, Subject(), {}) for each, _ in before)
        elif len(plain) > 1 and all(ports == [(source, title)] for title, ports in plain.items()):
            carries = {title: port for title, (port,) in plain.items()}  # all fields of one answer
            self._arrows.append(_Arrow(source, node, Subject(), carries))
        else:
            for title, ports in plain.items():
                for port in ports:
                    label = Subject("", (), {"as": title} if len(plain) > 1 else {})
                    if self._kinds[node] in _MAPS:
                        label = self._each(node, port)
                    self._arrows.append(_Arrow(self._alone(port), node, label, {title: port}))

    def _choose(self, choice: str, branch: str, target: str) -> Iterator[Port]:
        """Make the arrows of a branch; what comes by them, as the chooser was given it."""
        (ports,) = self._data[choice].values()
        if len(ports) != 1:
            raise self._differs(f"{self._said(choice)} decides on {len(ports)} outputs")
        ((chooser, output),) = ports
        given, wanted = self._data[chooser], self._data[target]
        if chooser == self._start:
            given = {title: [(chooser, title)] for title in self._gives[chooser]}
        if len(given) != len(wanted) or (len(given) > 1 and given.keys() != wanted.keys()):
            raise self._differs(
                f"{self._said(target)} is chosen, and takes something else than what "
                f"{self._said(chooser)} was given"
            )
        if self._gives[chooser][output].get("type", "string") != "string":
            raise self._differs(f"{self._said(choice)} decides on texts that are no texts")
        is_field = len(self._gives[chooser]) > 1
        labels = [
            Subject("", {WHEN}, {"is": {output: value} if is_field else value})
            for value, taken in self._nodes[choice].mapping.items()
            if taken == branch
        ]
        if branch == "default" and not self._is_covered(choice):
            labels.append(Subject("", {OTHERWISE}))
        self._arrows += (_Arrow(chooser, target, each, None, (choice, branch)) for each in labels)
        return (port for ports in given.values() for port in ports)

    def _is_covered(self, choice: str) -> bool:
        """Whether a choice maps each text on which it may decide."""
        texts = (
            self._gives[source][output].get("enum", [None])
            for ports in self._data[choice].values()
            for source, output in ports
        )
        mapped = [*self._nodes[choice].mapping]
        return any(all(text in mapped for text in each) for each in texts)

    def _each(self, node: str, port: Port) -> Subject:
        """The label of an arrow to a map."""
        if len(self._data[node]) != 1 or len(self._gives[node]) != 1:
            raise self._differs(f"{self._said(node)} maps over more than one list, or gives more")
        if self._gives[port[0]][port[1]].get("type") != "array":
            raise self._differs(f"{self._said(node)} maps over what is no list")
        return Subject("", {EACH}, _MAPS[self._kinds[node]])

    def _alone(self, port: Port) -> str:
        """A node that gives an output alone: its own, or a tool that picks it out."""
        source, output = port
        if len(self._gives[source]) == 1:
            return source
        name = f"{output}_of_{self._names.get(source, 'input')}"
        if name not in self._picks:
            given = self._nodes[source].outputs
            picked = [each for each in given if each.title == output]
            signature = types_of(given, picked, self._path, _silent).signature
            said = f"Gives {output} of what it is given."
            self._picks[name] = create_tool_specification(name, said, signature)
            self._names[name] = self._uses[name] = name
            self._arrows.append(_Arrow(source, name, Subject(), {}))
            told = "a step that picks one of several outputs: bring this tool"
            self._reader.tell(f"{self._path}.{name}", told)
        return name

    def _paths(self) -> Iterator[Pattern]:
        """The arrows; those that follow each other are one path."""
        walks: list[list[Pattern]] = []
        last = None
        for arrow in self._arrows:
            edge = Pattern(arrow.label, (self._end(arrow.source), self._end(arrow.target)))
            if walks and last == arrow.source:
                walks[-1].append(edge)
            else:
                walks.append([edge])
            last = arrow.target
        return (Pattern(WALK_SUBJECT, each) if len(each) > 1 else each[0] for each in walks)

    def _end(self, node: str) -> Pattern:
        name, use = self._names.get(node, ""), self._uses.get(node, "")
        return Pattern(Subject(name, {use} if use != name else ()))

    # --- whether it means the same

    def _ways(self) -> Iterator[dict[str, str]]:
        """Each way through the flow: its nodes in order, with the branches that they are left by.

        Raises:
            NoCounterpartError: a way comes back to a node or ends early, or there are too many.
        """
        begun: list[tuple[dict[str, str], str]] = [({}, self._start)]
        found = 0
        while begun:
            way, node = begun.pop()
            if node in way:
                raise self._differs(f"it goes back to {self._nodes[node].name}, without a bound")
            if self._kinds[node] == "EndNode":
                found += 1
                yield {**way, node: ""}
            for branch in self._branches(node):
                if (after := self._control.get((node, branch))) is None:
                    name = self._nodes[node].name
                    raise self._differs(f"nothing follows the branch {branch} of {name}")
                begun.append(({**way, node: branch}, after))
            if found + len(begun) > _MOST_WAYS:
                raise self._differs(f"there are more than {_MOST_WAYS} ways through it")

    def _branches(self, node: str) -> list[str]:
        """The branches that can be taken: where all texts are mapped, none takes the default."""
        kind, branches = self._kinds[node], self._nodes[node].branches
        if kind == "EndNode":
            return []
        if kind == "BranchingNode" and self._is_covered(node):
            return [each for each in branches if each != "default"]
        return [*branches]

    def _compare(self, way: Mapping[str, str]) -> None:
        """Compare the arrows with a way through the flow: who runs, and what each gets."""
        given = self._followed(way)
        before: set[str] = set()
        for node in way:
            if self._kinds[node] not in ("StartNode", "BranchingNode"):
                if node not in given:
                    raise self._differs(f"{self._said(node)} would not run where it does")
                for title, ports in self._data[node].items():
                    live = [port for port in ports if port[0] in before]
                    if len(live) > 1 or given[node].get(title) != (live[0] if live else None):
                        raise self._differs(f"{self._said(node)} would get another {title}")
            before.add(node)
        if extra := given.keys() - way.keys() - self._picks.keys():
            raise self._differs(f"{self._said(min(extra))} would run where it does not")

    def _followed(self, way: Mapping[str, str]) -> dict[str, dict[str, Port]]:
        """What each node gets that runs, by the arrows that are taken on a way."""
        given = {self._start: {title: (self._start, title) for title in self._gives[self._start]}}
        for _ in self._arrows:  # as often as it takes until the last is followed
            for arrow in self._arrows:
                choice, branch = arrow.choice or ("", "")
                if arrow.source not in given or way.get(choice, branch) != branch:
                    continue
                passed = arrow.carries
                if passed is None:
                    passed, titles = given[arrow.source], self._data[arrow.target]
                    if len(titles) == 1:
                        passed = dict(zip(titles, passed.values(), strict=False))
                given.setdefault(arrow.target, {}).update(passed)
        return given

    def _tell_order(self) -> None:
        """Tell of steps that follow another and take nothing from it."""
        leads: dict[str, set[str]] = {}
        for arrow in self._arrows:
            leads.setdefault(arrow.source, set()).add(arrow.target)
        for (node, _), after in self._control.items():
            found = reached([node], lambda each: leads.get(each, set()))
            if {node, after} <= self._uses.keys() and after not in found:
                reason = f"{self._said(after)} takes nothing from it, and may run before it ends"
                self._reader.tell(f"{self._path}.{self._names[node]}", reason)


def _schemas(properties: Iterable[Any] | None) -> dict[str, Any]:
    return {each.title: each.json_schema for each in properties or ()}


def _only_step(flow: Flow) -> Any:
    """What a flow uses that is one step between its ends; else the flow itself."""
    steps = [each for each in flow.nodes if type(each).__name__ in _STEPS]
    wires = flow.data_flow_connections
    if len(flow.nodes) != 3 or len(steps) != 1 or (wires is not None and len(wires) != 2):
        return flow
    (step,) = steps
    ends = (flow.inputs, step.inputs), (flow.outputs, step.outputs)
    is_same = all(_schemas(one).keys() == _schemas(other).keys() for one, other in ends)
    return getattr(step, _STEPS[type(step).__name__]) if is_same else flow


def _silent(_path: str, _reason: str) -> None:
    """What is lost was told where the parts were read."""
