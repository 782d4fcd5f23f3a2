"""A flow of Agent Spec as plain edges: what follows what, and where each input comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import permutations, product
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from pyagentspec.flows.flow import Flow

Port: TypeAlias = tuple[str, str]
"""An output: the id of a node, and its title."""

_MOST_WAYS: Final = 1000


class DiffersError(Exception):
    """A flow does something that no workflow does; its text says what."""


class FlowGraph:
    """The nodes of a flow and the edges between them.

    Attributes:
        nodes: the nodes by id.
        start: the id of the first one.
        control: the id of the next node, by node and branch.
        data: where each input comes from, by node and input.
    """

    def __init__(self, flow: Flow) -> None:
        self.nodes: dict[str, Any] = {node.id: node for node in flow.nodes}
        self.start = flow.start_node.id
        self.control: dict[tuple[str, str], str] = {}
        for edge in flow.control_flow_connections:
            source = edge.from_node
            branch = edge.from_branch or source.branches[0]
            if (source.id, branch) in self.control:
                raise DiffersError(f"two edges leave the branch {branch} of {source.name}")
            self.control[source.id, branch] = edge.to_node.id
        self.data: dict[str, dict[str, list[Port]]] = {
            each: {title: [] for title in self.inputs(each)} for each in self.nodes
        }
        for one, output, target, title in self._wires(flow):
            if output in self.outputs(one) and title in self.inputs(target):
                self.data[target][title].append((one, output))
        self._end(flow)

    def _wires(self, flow: Flow) -> Iterator[tuple[str, str, str, str]]:
        """The edges of data; where none are written, an input is the output of its name."""
        for wire in flow.data_flow_connections or ():
            source, target = wire.source_node.id, wire.destination_node.id
            yield source, wire.source_output, target, wire.destination_input
        if flow.data_flow_connections is None:
            for one, other in permutations(self.nodes, 2):
                if self.kind(one) != "EndNode":
                    yield from ((one, title, other, title) for title in self.outputs(one))

    def _end(self, flow: Flow) -> None:
        """Leave at the ends what the flow gives."""
        wanted = [each.title for each in flow.outputs or ()]
        for node in [each for each in self.nodes if self.kind(each) == "EndNode"]:
            if not {*wanted} <= {*self.data[node]}:
                raise DiffersError(f"it can end at {self.nodes[node].name} without its outputs")
            self.data[node] = {title: self.data[node][title] for title in wanted}

    def kind(self, node: str) -> str:
        """The type of a node."""
        return type(self.nodes[node]).__name__

    def inputs(self, node: str) -> list[str]:
        """The titles of the inputs of a node."""
        return [each.title for each in self.nodes[node].inputs or ()]

    def outputs(self, node: str) -> list[str]:
        """The titles of the outputs of a node."""
        return [each.title for each in self.nodes[node].outputs or ()]

    def ways(self) -> Iterator[tuple[Mapping[str, str], list[str]]]:
        """Each way through the flow: the branch that each choice takes, and the nodes in order.

        Raises:
            DiffersError: a way comes back to a node, ends before the end, or there are too many.
        """
        choices = {each: self._branches(each) for each in self._choosing()}
        for number, taken in enumerate(product(*choices.values())):
            if number == _MOST_WAYS:
                raise DiffersError(f"there are more than {_MOST_WAYS} ways through it")
            chosen = dict(zip(choices, taken, strict=True))
            yield chosen, self._way(chosen)

    def _choosing(self) -> list[str]:
        return [node for node in self.nodes if len(self.nodes[node].branches) > 1]

    def _branches(self, node: str) -> list[str]:
        """The branches that can be taken: where all texts are mapped, none takes the default."""
        branches = self.nodes[node].branches
        if self.kind(node) == "BranchingNode" and self.is_covered(node):
            return [each for each in branches if each != "default"]
        return [*branches]

    def is_covered(self, choice: str) -> bool:
        """Whether a choice maps each text on which it may decide."""
        return any(
            all(
                text in [*self.nodes[choice].mapping]
                for text in each.json_schema.get("enum", [None])
            )
            for ports in self.data[choice].values()
            for source, output in ports
            for each in self.nodes[source].outputs
            if each.title == output
        )

    def _way(self, chosen: Mapping[str, str]) -> list[str]:
        way = [self.start]
        while self.kind(way[-1]) != "EndNode":
            node = self.nodes[way[-1]]
            branch = chosen.get(way[-1], node.branches[0])
            after = self.control.get((way[-1], branch))
            if after is None:
                raise DiffersError(f"nothing follows the branch {branch} of {node.name}")
            if after in way:
                raise DiffersError(f"it goes back to {self.nodes[after].name}, without a bound")
            way.append(after)
        return way
