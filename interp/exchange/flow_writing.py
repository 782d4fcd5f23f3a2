"""Workflows as flows of Agent Spec, where a flow means the same.

The steps are put one after another, in an order in which each has what it takes. A step that is
left out on some way is jumped over by the edge of the choice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from gram import Pattern
from lenses_ext import (
    Workflow,
    is_agent,
    is_tool,
    view,
    workflow_description,
    workflow_of,
)
from lenses_ext.schemas import to_json_value
from lenses_ext.workflows import FlowArrow, FlowNode, Join

from .agents import NoCounterpartError
from .properties import OUTPUT, is_record, types_in, written_inputs

if TYPE_CHECKING:
    from pyagentspec.flows.flow import Flow

    from .agents import Writer

Value: TypeAlias = Union[str, Mapping[str, Any], None]
"""What an arrow carries: what a node gives, the input, or a record of such by name."""

DataEdge: TypeAlias = tuple[Any, str, Any, str]
"""A node, its output, the node that takes it, and its input."""

DEFAULT = "default"
_MOST_CHOICES = 10
"""Each choice doubles the ways that are followed."""


def written_flow(writer: Writer, workflow: Pattern, path: str) -> Flow:
    """The flow that a workflow is.

    Raises:
        NoCounterpartError: it does what no flow does.
    """
    return _FlowWriter(writer, workflow, path).flow()


class _FlowWriter:
    def __init__(self, writer: Writer, workflow: Pattern, path: str) -> None:
        from pyagentspec.flows.nodes import StartNode

        self._writer = writer
        self._pattern = workflow
        self._path = path
        self._flow: Workflow = workflow_of(workflow)
        self._split = {*self._taken_apart()}
        types = types_in(workflow)
        inputs = written_inputs(types, path, writer.tell)
        self._names: dict[str | None, list[str]] = {None: [*types.inputs["properties"]]}
        self._nodes: dict[str | None, Any] = {
            None: StartNode(id=f"{path}#start", name="start", inputs=inputs)
        }
        self._control: dict[tuple[str, str], tuple[Any, Any]] = {}
        self._branching: dict[str | None, Any] = {}

    def flow(self) -> Flow:
        for name in self._flow.order:
            self._nodes[name] = self._step(self._flow.nodes[name])
        end, data = self._end()
        data = [each for name in self._flow.order for each in self._led_to(name)] + data
        for source in self._nodes:
            if options := self._options(source):
                data.append(self._choose(source, options))
        if len(self._branching) > _MOST_CHOICES:
            raise self._differs(f"more than {_MOST_CHOICES} choices are made")
        self._follow(None, -1, {}, end)
        control = [(one, branch, after) for (_, branch), (one, after) in self._control.items()]
        nodes = [*self._nodes.values(), *self._branching.values(), end]
        name, description = self._pattern.value.identity, view(workflow_description, self._pattern)
        try:
            return _flow_of(self._path, name, nodes, control, data, description)
        except NotImplementedError as error:  # the package has no form for it
            raise self._differs(str(error)) from None

    def _differs(self, reason: str) -> NoCounterpartError:
        return NoCounterpartError(f"{self._path}: {reason}")

    # --- steps

    def _taken_apart(self) -> Iterator[str]:
        """The nodes whose answers are taken by their fields."""
        for node in self._flow.nodes.values():
            assert node.pattern is not None, "a program is checked before"
            if len(types_in(node.pattern).inputs["properties"]) > 1:
                yield from (each for each in self._values(node.input) if isinstance(each, str))
        yield from (
            each.source for each in self._flow.arrows
            if each.kind == "WHEN" and each.source and isinstance(each.equals, Mapping)
        )  # fmt: skip

    def _step(self, node: FlowNode) -> Any:
        from pyagentspec.flows.nodes import AgentNode, FlowNode as SubflowNode, ToolNode

        used, at = node.pattern, f"{self._path}.{node.name}"
        assert used is not None, "a program is checked before"
        self._names[node.name] = [*types_in(used).inputs["properties"]]
        split = node.name in self._split and is_record(types_in(used).result)
        given: dict[str, Any] = {"id": f"{at}#node", "name": node.name}
        made: Any
        if is_tool(used):
            made = ToolNode(tool=self._writer.tool(used, at, split=split), **given)
        elif is_agent(used):
            agent = self._writer.written(used, at, is_step=True, split=split)
            made = AgentNode(agent=agent, **given)
        else:
            subflow: Any = self._writer.written(used, at)
            made = SubflowNode(subflow=subflow, **given)
        return made if node.each is None else self._map(node, made)

    def _map(self, node: FlowNode, step: Any) -> Any:
        """A step for each item: a flow of this step alone, mapped over the list."""
        from pyagentspec.flows.nodes import EndNode, MapNode, ParallelMapNode, StartNode

        if len(step.inputs) != 1 or len(step.outputs) != 1:
            raise self._differs(f'"{node.name}" is used for each item, and takes or gives more')
        at = f"{self._path}.{node.name}"
        step = step.model_copy(update={"id": f"{at}#step"})
        start = StartNode(id=f"{at}#first", name="start", inputs=step.inputs)
        end = EndNode(id=f"{at}#last", name="end", outputs=step.outputs)
        data = [(start, each.title, step, each.title) for each in step.inputs]
        data += [(step, each.title, end, each.title) for each in step.outputs]
        control = [(start, "next", step), (step, "next", end)]
        subflow = _flow_of(f"{at}#flow", f"{node.name} for each", [start, step, end], control, data)
        at_once = node.each.at_once if node.each else None
        if at_once not in (None, 1):
            self._writer.tell(f"{at}.at_once", "how many at once has no counterpart")
        kind = MapNode if at_once == 1 else ParallelMapNode
        return kind(id=f"{at}#node", name=node.name, subflow=subflow)

    # --- data

    def _values(self, join: Join) -> list[Value]:
        """What may come together at a join, each alternative."""
        if join.is_record:
            record: dict[str, list[Value]] = {}
            for each in join.arrows:
                record.setdefault(self._flow.key_of(each), []).extend(self._carried(each))
            return [record]
        return [value for each in join.arrows for value in self._carried(each)]

    def _carried(self, arrow: FlowArrow) -> list[Value]:
        if arrow.is_choice and arrow.source is not None:
            return self._values(self._flow.nodes[arrow.source].input)
        return [arrow.source]

    def _led_to(self, name: str) -> Iterator[DataEdge]:
        """The edges of data to a step."""
        node, wanted = self._nodes[name], self._names[name]
        titles = dict(zip(wanted, (each.title for each in node.inputs), strict=False))
        for value in self._values(self._flow.nodes[name].input):
            if isinstance(value, Mapping):
                if len(wanted) == 1:
                    raise self._differs(f'"{name}" takes a record of several steps as one')
                for key in titles.keys() & value.keys():
                    for each in value[key]:
                        yield *self._whole(each), node, titles[key]
            elif len(wanted) == 1:
                yield *self._whole(value), node, titles[wanted[0]]
            else:
                source = self._nodes[value]
                given = {each.title for each in source.outputs}
                for title in titles.values():
                    if title in given:
                        yield source, title, node, title

    def _whole(self, value: Value) -> tuple[Any, str]:
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
        from pyagentspec.flows.nodes import EndNode

        found: dict[str, list[tuple[Any, str]]] = {}
        for value in self._values(self._flow.result):
            if isinstance(value, Mapping):
                for key, several in value.items():
                    found.setdefault(key, []).extend(map(self._whole, several))
            elif len(outputs := self._nodes[value].outputs) == 1:
                title = (types_in(self._pattern).result or {}).get("title", OUTPUT)
                found.setdefault(title, []).append(self._whole(value))
            else:
                for each in outputs:
                    found.setdefault(each.title, []).append((self._nodes[value], each.title))
        made = []
        for title, sources in found.items():
            (first, *others) = [
                each.json_schema for node, output in sources
                for each in node.outputs if each.title == output
            ]  # fmt: skip
            schema = first if all(_same(each, first) for each in others) else {}
            made.append(Property(json_schema={**schema, "title": title}))
        end = EndNode(id=f"{self._path}#end", name="end", outputs=made)
        return end, [(*each, end, title) for title, several in found.items() for each in several]

    # --- control

    def _options(self, source: str | None) -> list[str]:
        """The branches of the choice that is made on what a node gives."""
        found = [each for each in self._flow.arrows if each.source == source and each.is_choice]
        return [*dict.fromkeys(map(self._option, found))]

    def _option(self, arrow: FlowArrow) -> str:
        if arrow.kind == "OTHERWISE":
            return DEFAULT
        value: Any = to_json_value(arrow.equals) if arrow.equals is not None else None
        if isinstance(value, Mapping):
            if len(value) != 1:
                raise self._differs("a choice is made on several fields")
            (value,) = value.values()
        if not isinstance(value, str):
            raise self._differs("a choice is made on what is no text")
        return value

    def _choose(self, source: str | None, options: Sequence[str]) -> DataEdge:
        """Make the node of a choice; the edge of data to it."""
        from pyagentspec.flows.nodes import BranchingNode

        values = [each for each in options if each != DEFAULT]
        node = self._nodes[source]
        fields = {
            field for each in self._flow.arrows if each.source == source
            and isinstance(each.equals, Mapping) for field in each.equals
        }  # fmt: skip
        if len(fields) > 1:
            raise self._differs("a choice is made on several fields")
        output = next(iter(fields), None) or self._whole(source)[1]
        branching = BranchingNode(
            id=f"{node.id}#choice", name=f"{node.name} decides",
            mapping={each: f"is {each}" for each in values},
        )  # fmt: skip
        self._branching[source] = branching
        return node, output, branching, BranchingNode.DEFAULT_INPUT

    def _follow(
        self, name: str | None, place: int, chosen: dict[str | None, str], end: Any
    ) -> None:
        """The edges of control that leave a node, on a way on which some is chosen already."""
        if name not in self._branching:
            self._connect(self._nodes[name], "next", place, chosen, end)
            return
        choice = self._branching[name]
        self._edge(self._nodes[name], "next", choice)
        options = self._options(name)
        for option in options:
            branch = DEFAULT if option == DEFAULT else f"is {option}"
            self._connect(choice, branch, place, {**chosen, name: option}, end)
        if DEFAULT not in options:  # all answers are named: no run comes here
            self._edge(choice, DEFAULT, self._control[choice.id, f"is {options[-1]}"][1])

    def _connect(
        self, source: Any, branch: str, place: int, chosen: dict[str | None, str], end: Any
    ) -> None:
        for after in range(place + 1, len(self._flow.order)):
            name = self._flow.order[after]
            if self._runs(name, chosen):
                self._edge(source, branch, self._nodes[name])
                return self._follow(name, after, chosen, end)
        return self._edge(source, branch, end)

    def _edge(self, source: Any, branch: str, target: Any) -> None:
        _, old = self._control.setdefault((source.id, branch), (source, target))
        if old is not target:
            raise self._differs(f'what follows "{source.name}" depends on an earlier choice')

    def _runs(self, name: str | None, chosen: Mapping[str | None, str]) -> bool:
        """Whether a node runs where some is chosen."""
        return name is None or any(
            self._runs(each.source, chosen)
            and (not each.is_choice or chosen.get(each.source) == self._option(each))
            for each in self._flow.nodes[name].input.arrows
        )


def _same(one: Any, other: Any) -> bool:
    return {**one, "title": ""} == {**other, "title": ""}


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
