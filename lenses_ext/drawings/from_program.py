"""What there is to draw of a program: its agents, tools and workflows, and the arrows between them.

It is made of the patterns as they are, so faulty programs can be drawn too: what a reference does
not find is drawn as undefined.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple, TypeAlias

from gram import (
    GramError,
    Pattern,
    Symbol,
    Value,
    did_you_mean,
    expect,
    is_edge,
    is_reference,
    write_value,
)

from ..errors import ProgramError
from ..labels import DEFINITIONS, is_agent, is_loop, is_tool, is_workflow
from ..programs import ProgramLike, program_patterns
from ..signatures import signature_text
from ..workflows import FlowNode, arrows_in, workflow_of
from .drawing import Drawing, Edge, EdgeKind, Group, Node, NodeKind

_WORDS: Final = {"WHEN": "when", "OTHERWISE": "otherwise", "EACH": "each", "HANDOFF": "hands over"}


def drawing_of(program: ProgramLike, agent: str | None = None) -> Drawing:
    """What there is to draw of a program, which need not be valid.

    Args:
        program: a document, the patterns of one, or a pattern.
        agent: draw the agent or workflow of this name and what it reaches, instead of all.

    Raises:
        ArgumentError: the program is none.
        ProgramError: it has nothing that can be drawn, or none of this name.

    >>> from gram import loads
    >>> drawing = drawing_of(loads('[a:Agent {model: "OpenAI/x"} | t] (t:Tool)'))
    >>> [node.name for node in drawing.nodes], len(drawing.edges)
    (['a', 't'], 1)
    """
    expect(agent, (str, type(None)), "agent", by="drawing_of")
    scope: _Scope = ChainMap()
    found = [_Definition(each, scope) for each in _definitions(program_patterns(program))]
    for each in found:
        scope.setdefault(each.name, each)
    if not found:
        raise ProgramError("nothing to draw: there is no agent, tool or workflow in it")
    if agent is not None:
        found = [_named(agent, scope)]
    drawer = _Drawer()
    for each in sorted(found, key=lambda each: not each.is_workflow):
        drawer.draw(each, None)
    return Drawing(tuple(drawer.nodes), tuple(drawer.edges), tuple(drawer.groups))


def _named(name: str, scope: _Scope) -> _Definition:
    if name not in scope:
        hint = did_you_mean(name, scope) or f"it has {', '.join(scope)}"
        raise ProgramError(f'the program has no agent or workflow "{name}"; {hint}')
    return scope[name]


class _Definition(NamedTuple):
    """An agent, a tool or a workflow, and the names that are seen where it stands."""

    pattern: Pattern
    scope: _Scope

    @property
    def name(self) -> str:
        return self.pattern.value.identity

    @property
    def is_workflow(self) -> bool:
        return is_workflow(self.pattern)


_Scope: TypeAlias = "ChainMap[str, _Definition]"


class _Ports(NamedTuple):
    """The nodes that arrows to and from something end at."""

    entry: str
    exit: str


def _is_definition(pattern: Pattern) -> bool:
    return is_agent(pattern) or is_tool(pattern) or is_workflow(pattern)


def _definitions(patterns: Iterable[Pattern]) -> Iterator[Pattern]:
    """The definitions among patterns, and those in groups and below annotations."""
    for each in patterns:
        if _is_definition(each):
            yield each
        elif not each.value.labels and not is_edge(each):
            yield from _definitions(each.elements)


def _arrows(pattern: Pattern) -> list[Pattern]:
    """The arrows that are written among the elements of an agent or workflow."""
    return [arrow.pattern for arrow in arrows_in(pattern) if arrow.pattern is not None]


class _Drawer:
    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []
        self.groups: list[Group] = []
        self._drawn: dict[int, _Ports] = {}
        self._undefined: dict[tuple[str, str | None], _Ports] = {}

    def draw(self, what: _Definition, group: str | None) -> _Ports:
        """Draw a definition with what it has, once."""
        if (ports := self._drawn.get(id(what.pattern))) is not None:
            return ports
        if what.is_workflow:
            return self._workflow(what, group)
        if is_agent(what.pattern):
            return self._agent(what, group)
        ports = self._node("tool", what.name, _signature(what.pattern), group)
        self._drawn[id(what.pattern)] = ports
        return ports

    def _node(
        self, kind: NodeKind, name: str, detail: str = "", group: str | None = None
    ) -> _Ports:
        key = f"n{len(self.nodes)}"
        self.nodes.append(Node(key, kind, name, (detail,) if detail else (), group))
        return _Ports(key, key)

    def _edge(self, source: str, target: str, kind: EdgeKind, label: str = "") -> None:
        self.edges.append(Edge(source, target, kind, label))

    def _agent(self, agent: _Definition, group: str | None) -> _Ports:
        model = agent.pattern.value.properties.get("model")
        drawn = self._node("agent", agent.name, model if isinstance(model, str) else "", group)
        self._drawn[id(agent.pattern)] = drawn
        scope = _inside(agent)
        for element in agent.pattern.elements:
            if _is_definition(element):
                has = self.draw(_Definition(element, scope), group)
            elif is_reference(element):
                has = self._named(element.value.identity, scope, group)
            else:
                continue
            self._edge(drawn.exit, has.entry, "has")
        for arrow in _arrows(agent.pattern):
            source, target = (
                self._named(each.value.identity, scope, group) for each in arrow.elements
            )
            self._edge(source.exit, target.entry, *_said_at(arrow))
        return drawn

    def _named(self, name: str, scope: _Scope, group: str | None) -> _Ports:
        """What a name means in a scope; what is defined at the top is in no group."""
        meant = scope.get(name)
        if meant is not None:
            return self.draw(meant, group if name in scope.maps[0] else None)
        if (name, group) not in self._undefined:
            self._undefined[name, group] = self._node("undefined", name, "not defined", group)
        return self._undefined[name, group]

    def _workflow(self, flow: _Definition, around: str | None) -> _Ports:
        properties = flow.pattern.value.properties
        group = f"g{len(self.groups)}"
        told = ", ".join(f"{key}: {_value(value)}" for key, value in _listed(properties))
        rounds = told if is_loop(flow.pattern) else ""
        self.groups.append(Group(group, flow.name, (rounds,) if rounds else (), around))
        begin, end = (self._node(kind, "", "", group) for kind in _ENDS)
        self._drawn[id(flow.pattern)] = ports = _Ports(begin.entry, end.exit)
        read, scope = workflow_of(flow.pattern), _inside(flow)
        steps = {name: self._step(node, scope, group) for name, node in read.nodes.items()}
        for arrow in read.arrows:
            source = steps[arrow.source].exit if arrow.source else ports.entry
            target = steps[arrow.target].entry if arrow.target else ports.exit
            self._edge(source, target, *(_said_at(arrow.pattern) if arrow.pattern else _PLAIN))
        for arrow in read.loop.feedback.arrows if read.loop else ():
            if arrow.source:
                self._edge(steps[arrow.source].exit, ports.entry, "again", "next round")
        return ports

    def _step(self, node: FlowNode, scope: _Scope, group: str) -> _Ports:
        """Draw a node of a workflow; for what is drawn elsewhere, one that uses it."""
        meant = scope.get(node.definition)
        if meant is None:
            return self._node("undefined", node.name, "not defined", group)
        is_again = node.name != node.definition
        known = self._drawn.get(id(meant.pattern))
        if not is_again and (known is None or meant.pattern is node.pattern):
            return self.draw(meant, group)
        kind: NodeKind = "tool" if is_tool(meant.pattern) else "agent"
        detail = f"another use of {node.definition}" if is_again else ""
        used = self._node(kind, node.name, detail, group)
        self._edge(used.exit, self._named(node.definition, scope, group).entry, "uses")
        return used


_PLAIN: Final[tuple[EdgeKind, str]] = ("flow", "")
_ENDS: Final[tuple[NodeKind, NodeKind]] = ("input", "result")


def _inside(what: _Definition) -> _Scope:
    """The names that are seen inside a definition: its own first."""
    scope: _Scope = what.scope.new_child({what.name: what})
    for element in what.pattern.elements:
        named = element.elements if DEFINITIONS in element.value.labels else (element,)
        for each in filter(_is_definition, named):
            scope[each.value.identity] = _Definition(each, scope)
    return scope


def _said_at(arrow: Pattern) -> tuple[EdgeKind, str]:
    """What kind of edge an arrow is, and what is written at it."""
    labels, properties = arrow.value.labels, arrow.value.properties
    words = [_WORDS.get(label, label) for label in sorted(labels)]
    told = [
        _value(value) if key == "is" else f"{key.replace('_', ' ')}: {_value(value)}"
        for key, value in _listed(properties)
    ]
    kind: EdgeKind = "handoff" if "HANDOFF" in labels else "flow"
    return kind, " ".join([*words, ", ".join(told)]).strip()


def _listed(properties: Mapping[str, Value]) -> list[tuple[str, Value]]:
    return sorted(properties.items())


def _value(value: Value) -> str:
    if isinstance(value, Symbol):
        return value.value
    return value if isinstance(value, str) else write_value(value, fences=False)


def _signature(tool: Pattern) -> str:
    try:
        return signature_text(tool)
    except GramError:  # a faulty tool is drawn without it
        return ""
