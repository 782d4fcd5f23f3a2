"""Workflows as flows of Agent Spec, where a flow means the same.

The steps are put one after another, in an order in which each has what it takes. A step that is
left out on some way is jumped over by the edge of the choice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from gram import Pattern
from lenses_ext import is_agent, is_tool, view, workflow_description, workflow_of
from lenses_ext.schemas import to_json_value
from lenses_ext.workflows import FlowArrow, FlowNode, Join

from .properties import OUTPUT, NoCounterpartError, is_record, types_in, written_inputs

if TYPE_CHECKING:
    from pyagentspec.flows.flow import Flow

    from .agents import Writer

Value: TypeAlias = Union[str, Mapping[str, Any], None]
"""What an arrow carries: what a node gives, the input, or a record of such by name."""

Port: TypeAlias = tuple[Any, str]
"""A node, and an output of it."""

DataEdge: TypeAlias = tuple[Any, str, Any, str]
"""A node, its output, the node that takes it, and its input."""

DEFAULT = "default"
"""The branch that is taken where no other is."""


def written_flow(writer: Writer, workflow: Pattern, path: str) -> Flow:
    """The flow that a workflow is.

    Raises:
        NoCounterpartError: it does what no flow does.
    """
    return _FlowWriter(writer, workflow, path).flow()


class _FlowWriter:
    """Writes one workflow; its nodes are meant by their names, None is its input."""

    def __init__(self, writer: Writer, workflow: Pattern, path: str) -> None:
        from pyagentspec.flows import nodes  # imported late, as everything of it: few need it

        self._kinds: Any = nodes
        self._writer, self._pattern, self._path = writer, workflow, path
        self._flow = workflow_of(workflow)
        self._nodes: dict[str | None, Any] = {}
        self._choices: dict[str | None, Any] = {}

    def flow(self) -> Flow:
        flow, path = self._flow, self._path
        inputs = written_inputs(types_in(self._pattern), path, self._writer.tell)
        self._nodes[None] = self._kinds.StartNode(id=f"{path}#start", name="start", inputs=inputs)
        split = {*self._taken_apart()}
        for name in flow.order:
            self._nodes[name] = self._step(flow.nodes[name], name in split)
        end, led_to_end = self._end()
        data = [each for name in flow.order for each in self._led_to(flow.nodes[name])] + led_to_end
        for source in self._nodes:
            data += self._choose(source)
        nodes = [*self._nodes.values(), *self._choices.values(), end]
        name, description = self._pattern.value.identity, view(workflow_description, self._pattern)
        try:
            return _flow_of(path, name, nodes, self._control(end), data, description)
        except NotImplementedError as error:  # the package has no form for it
            raise self._differs(str(error)) from None

    def _differs(self, reason: str) -> NoCounterpartError:
        return NoCounterpartError(f"{self._path}: {reason}")

    # --- steps

    def _taken_apart(self) -> Iterator[str | None]:
        """The nodes whose answers are taken by their fields."""
        for node in self._flow.nodes.values():
            if len(_parameters(node)) > 1:
                yield from (each for each in self._values(node.input) if isinstance(each, str))
        yield from (each.source for each in self._flow.arrows if {*each.conditions} - {""})

    def _step(self, node: FlowNode, is_split: bool) -> Any:
        used, at = _used(node), f"{self._path}.{node.name}"
        split = is_split and is_record(types_in(used).result)
        given: dict[str, Any] = {"id": f"{at}#node", "name": node.name}
        if is_tool(used):
            tool = self._writer.tool(used, at, split=split)
            made = self._kinds.ToolNode(tool=tool, **given)
        elif is_agent(used):
            agent = self._writer.written(used, at, is_step=True, split=split)
            made = self._kinds.AgentNode(agent=agent, **given)
        else:
            made = self._kinds.FlowNode(subflow=self._writer.written(used, at), **given)
        return made if node.each is None else self._map(node, node.each.at_once, made)

    def _map(self, node: FlowNode, at_once: int | None, step: Any) -> Any:
        """A step for each item: a flow of this step alone, mapped over the list."""
        if len(step.inputs) != 1 or len(step.outputs) != 1:
            raise self._differs(f'"{node.name}" is used for each item, and takes or gives more')
        at = f"{self._path}.{node.name}"
        step = step.model_copy(update={"id": f"{at}#step"})
        start = self._kinds.StartNode(id=f"{at}#first", name="start", inputs=step.inputs)
        end = self._kinds.EndNode(id=f"{at}#last", name="end", outputs=step.outputs)
        (taken,), (gives,) = step.inputs, step.outputs
        data = [(start, taken.title, step, taken.title), (step, gives.title, end, gives.title)]
        control = [(start, "next", step), (step, "next", end)]
        subflow = _flow_of(f"{at}#flow", f"{node.name} for each", [start, step, end], control, data)
        if at_once not in (None, 1):
            self._writer.tell(f"{at}.at_once", "how many at once has no counterpart")
        kind = self._kinds.MapNode if at_once == 1 else self._kinds.ParallelMapNode
        return kind(id=f"{at}#node", name=node.name, subflow=subflow)

    # --- data

    def _values(self, join: Join) -> list[Value]:
        """What may come together at a join, each alternative."""
        if not join.is_record:
            return [value for each in join.arrows for value in self._carried(each)]
        record: dict[str, list[Value]] = {}
        for each in join.arrows:
            record.setdefault(self._flow.key_of(each), []).extend(self._carried(each))
        return [record]

    def _carried(self, arrow: FlowArrow) -> list[Value]:
        if arrow.is_choice and arrow.source is not None:
            return self._values(self._flow.nodes[arrow.source].input)
        return [arrow.source]

    def _led_to(self, node: FlowNode) -> Iterator[DataEdge]:
        """The edges of data to a step."""
        target, names = self._nodes[node.name], _parameters(node)
        titles = dict(zip(names, (each.title for each in target.inputs), strict=False))
        for value in self._values(node.input):
            if len(names) == 1:
                if isinstance(value, Mapping):
                    raise self._differs(f'"{node.name}" takes a record of several steps as one')
                parts = {names[0]: [self._whole(value)]}
            else:
                parts = self._parts(value)
            for name, title in titles.items():
                for port in parts.get(name, parts.get(title, ())):
                    yield *port, target, title

    def _parts(self, value: Value) -> dict[str, list[Port]]:
        """What comes, by the names of its parts."""
        if isinstance(value, Mapping):
            return {key: [*map(self._whole, several)] for key, several in value.items()}
        node = self._nodes[value]
        return {each.title: [(node, each.title)] for each in node.outputs}

    def _whole(self, value: Value) -> Port:
        """The one output that is all of what a node gives."""
        if isinstance(value, Mapping):
            raise self._differs("a record of records is taken as one")
        source = self._nodes[value]
        if len(source.outputs) != 1:
            raise self._differs(f'all fields of "{source.name}" are taken as one')
        return source, source.outputs[0].title

    def _end(self) -> tuple[Any, list[DataEdge]]:
        """The last node, and the edges of data to it."""
        from pyagentspec import Property

        found: dict[str, list[Port]] = {}
        for value in self._values(self._flow.result):
            parts = self._parts(value)
            if not isinstance(value, Mapping) and len(parts) == 1:
                title = (types_in(self._pattern).result or {}).get("title", OUTPUT)
                parts = {title: [self._whole(value)]}
            for key, ports in parts.items():
                found.setdefault(key, []).extend(ports)
        made = []
        for title, ports in found.items():
            (first, *others) = [
                {**each.json_schema, "title": title} for node, output in ports
                for each in node.outputs if each.title == output
            ]  # fmt: skip
            is_one = all(each == first for each in others)
            made.append(Property(json_schema=first if is_one else {"title": title}))
        end = self._kinds.EndNode(id=f"{self._path}#end", name="end", outputs=made)
        return end, [(*port, end, title) for title, ports in found.items() for port in ports]

    # --- control

    def _choose(self, source: str | None) -> Iterator[DataEdge]:
        """Make the node of the choice that is made on what a node gives; the edge of data to it."""
        arrows = [each for each in self._flow.arrows if each.source == source and each.is_choice]
        if not arrows:
            return
        (field, *others) = {name: None for each in arrows for name in each.conditions}
        if others:
            raise self._differs("a choice is made on several fields")
        node, branches = self._nodes[source], map(self._branch, arrows)
        choice = self._choices[source] = self._kinds.BranchingNode(
            id=f"{node.id}#choice", name=f"{node.name} decides",
            mapping={each.removeprefix("is "): each for each in branches if each != DEFAULT},
        )  # fmt: skip
        yield node, field or self._whole(source)[1], choice, choice.DEFAULT_INPUT

    def _branch(self, arrow: FlowArrow) -> str:
        if arrow.kind == "OTHERWISE":
            return DEFAULT
        (value,) = map(to_json_value, arrow.conditions.values())
        if not isinstance(value, str):
            raise self._differs("a choice is made on what is no text")
        return f"is {value}"

    def _control(self, end: Any) -> list[tuple[Any, str, Any]]:
        """The edges of control: on each way, a step is followed by the next one that runs."""
        edges: dict[tuple[str, str], tuple[Any, Any]] = {}
        ways = self._flow.ways
        for way in ways.live:
            steps = [None, *(each for each in self._flow.order if ways.runs(way, each))]
            for name, after in zip(steps, [*steps[1:], ""], strict=True):
                source, branch, target = self._nodes[name], "next", self._nodes.get(after, end)
                if choice := self._choices.get(name):
                    edges[source.id, branch] = source, choice
                    taken = (self._flow.arrows[index] for index in way)
                    source, branch = choice, next(
                        self._branch(each) for each in taken
                        if each.source == name and each.is_choice
                    )  # fmt: skip
                _, old = edges.setdefault((source.id, branch), (source, target))
                if old is not target:
                    raise self._differs(f'what follows "{source.name}" depends on a choice before')
        for choice in self._choices.values():  # where all answers are named, no run comes here
            _, last = edges[choice.id, [*choice.mapping.values()][-1]]
            edges.setdefault((choice.id, DEFAULT), (choice, last))
        return [(one, branch, after) for (_, branch), (one, after) in edges.items()]


def _used(node: FlowNode) -> Pattern:
    assert node.pattern is not None, "a program is checked before"
    return node.pattern


def _parameters(node: FlowNode) -> list[str]:
    return [*types_in(_used(node)).inputs["properties"]]


def _flow_of(
    path: str,
    name: str,
    nodes: Sequence[Any],
    control: Iterable[tuple[Any, str, Any]],
    data: Iterable[DataEdge],
    description: str | None = None,
) -> Flow:
    """A flow of nodes, the first of which is its start, and of the edges between them."""
    from pyagentspec.flows.edges import ControlFlowEdge, DataFlowEdge
    from pyagentspec.flows.flow import Flow

    wires = {
        f"{one.id}.{output}-{other.id}.{title}": DataFlowEdge(
            id=f"{one.id}.{output}-{other.id}.{title}",
            name=f"{one.name}.{output} {other.name}.{title}", source_node=one,
            source_output=output, destination_node=other, destination_input=title,
        )
        for one, output, other, title in data
    }  # fmt: skip
    edges = [
        ControlFlowEdge(
            id=f"{one.id}-{branch}", name=f"{one.name} {branch}", from_node=one, to_node=after,
            from_branch=None if branch == "next" else branch,
        )
        for one, branch, after in control
    ]  # fmt: skip
    return Flow(
        id=path, name=name, description=description, start_node=nodes[0], nodes=[*nodes],
        control_flow_connections=edges, data_flow_connections=[*wires.values()],
    )  # fmt: skip
