"""What there is to draw of a program, and how that is said in text: for Mermaid and for Graphviz.

A drawing has nodes, arrows between them, and groups around them.

A drawing is made of the patterns as they are, so faulty programs can be drawn too: what a
reference does not find is drawn as undefined.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from attrs import frozen

from gram import GramError, Pattern, Symbol, TreePath, Value, is_edge, is_reference, write_value
from gram.display import visible
from gram.errors import expect
from gram.words import did_you_mean

from ..errors import ProgramError
from ..labels import is_loop
from ..names import Definition, Program, ProgramLike, program_of
from ..signatures import signature_text
from ..workflows import FlowNode, edges_in, grouped, workflow_of

NodeKind: TypeAlias = Literal["agent", "tool", "undefined", "input", "result"]
EdgeKind: TypeAlias = Literal["has", "flow", "handoff", "again", "uses"]


@frozen
class Node:
    """An agent, a tool, an undefined name, or where the value of a workflow comes in or out.

    Attributes:
        key: its name in the drawing.
        kind: what it is.
        name: its name in the program.
        details: lines below the name: the model, the signature.
        group: the key of the group that it is in, or None.
        count: how often a run came to it; None if no run is shown.
        failed: how often that failed.
    """

    key: str
    kind: NodeKind
    name: str = ""
    details: tuple[str, ...] = ()
    group: str | None = None
    count: int | None = None
    failed: int = 0

    @property
    def lines(self) -> list[str]:
        """What is written in it: its name, its details, how often a run came to it."""
        return [self.name, *filter(None, (*self.details, _times(self.count, self.failed)))]


@frozen
class Edge:
    """An arrow between two nodes.

    Attributes:
        source, target: their keys.
        kind: an agent *has* a tool, a value *flows*, an agent hands over, a loop goes on *again*,
            a node *uses* what is defined elsewhere.
        label: what is written at it.
        count: how often a run took it; None if no run is shown.
    """

    source: str
    target: str
    kind: EdgeKind
    label: str = ""
    count: int | None = None

    @property
    def words(self) -> str:
        """What is written at it: its label, and how often a run took it."""
        return ", ".join(filter(None, (self.label, _times(self.count))))


@frozen
class Group:
    """A workflow, drawn around its nodes.

    Attributes:
        key: its name in the drawing.
        name: its name in the program.
        details: a line below the name.
        group: the key of the group that it is in, or None.
    """

    key: str
    name: str
    details: tuple[str, ...] = ()
    group: str | None = None

    @property
    def lines(self) -> list[str]:
        """What is written in it: its name and its details."""
        return [self.name, *self.details]


@frozen
class Drawing:
    """What there is to draw of a program.

    Attributes:
        nodes, edges, groups: its parts; a group stands before what is in it.
    """

    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    groups: tuple[Group, ...] = ()

    def __repr__(self) -> str:
        sizes = ((kind, len(getattr(self, kind))) for kind in ("nodes", "edges", "groups"))
        return f"<Drawing: {', '.join(f'{size} {kind}' for kind, size in sizes if size)}>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": repr(self), **{kind: draw(self) for kind, draw in FORMS.items()}}


FORMS: Final[dict[str, Callable[[Drawing], str]]] = {}
"""What notebooks show of a drawing, by the type of media.

The front of the room fills it, since what draws needs this module.
"""


def shortened(line: str, most: int = 60) -> str:
    """A text as one line that is not too long."""
    line = " ".join(line.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _times(count: int | None, failed: int = 0) -> str:
    """How often a run came to a node, in words; "" where no run is shown or it never did."""
    if not count:
        return ""
    times = "once" if count == 1 else f"{count} times"
    return f"{times}, {failed} failed" if failed else times


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
    known = program_of(program, by="drawing_of")
    found = sorted(known.outermost, key=lambda each: (each.path not in known.workflows, each.path))
    if not found:
        raise ProgramError("nothing to draw: there is no agent, tool or workflow in it")
    if agent is not None:
        names = [each.name for each in found]
        if agent not in names:
            hint = did_you_mean(agent, names) or f"it has {', '.join(names)}"
            raise ProgramError(f'the program has no agent or workflow "{agent}"; {hint}')
        found = [found[names.index(agent)]]
    drawer = _Drawer(known)
    for each in found:
        drawer.draw(each, None)
    return Drawing(tuple(drawer.nodes), tuple(drawer.edges), tuple(drawer.groups))


_Ports: TypeAlias = tuple[str, str]
"""The nodes at which arrows to something, and from it, end."""


class _Drawer:
    def __init__(self, program: Program) -> None:
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []
        self.groups: list[Group] = []
        self._program = program
        self._drawn: dict[TreePath, _Ports] = {}
        self._undefined: dict[tuple[str, str | None], _Ports] = {}

    def draw(self, what: Definition, group: str | None) -> _Ports:
        """Draw a definition with what it has, once."""
        if (ports := self._drawn.get(what.path)) is not None:
            return ports
        if what.path in self._program.workflows:
            return self._workflow(what, group)
        if what.path in self._program.agents:
            return self._agent(what, group)
        signature = ""
        with suppress(GramError):  # a faulty tool is drawn without it
            signature = signature_text(what.pattern)
        drawn = self._node("tool", what.name, signature, group)
        return self._drawn.setdefault(what.path, drawn)

    def _node(
        self, kind: NodeKind, name: str, detail: str = "", group: str | None = None
    ) -> _Ports:
        key = f"n{len(self.nodes)}"
        self.nodes.append(Node(key, kind, name, (detail,) if detail else (), group))
        return key, key

    def _edge(self, source: _Ports, target: _Ports, kind: EdgeKind, label: str = "") -> None:
        self.edges.append(Edge(source[1], target[0], kind, label))

    def _agent(self, agent: Definition, group: str | None) -> _Ports:
        model = agent.pattern.value.properties.get("model")
        drawn = self._node("agent", agent.name, model if isinstance(model, str) else "", group)
        self._drawn[agent.path] = drawn
        for index, element in enumerate(agent.pattern.elements):
            path = (*agent.path, index)
            own = self._program.runnables.get(path) or self._program.tools.get(path)
            if own is not None:
                has = self.draw(own, group)
            elif is_reference(element):
                has = self._named(element.value.identity, agent, group)
            else:
                continue
            self._edge(drawn, has, "has")
        for arrow in (each for _, each in edges_in(agent.pattern) if is_edge(each)):
            source, target = (self._named(it.value.identity, agent, group) for it in arrow.elements)
            self._edge(source, target, *_said_at(arrow))
        return drawn

    def _named(self, name: str, around: Definition, group: str | None) -> _Ports:
        """Draw what a name means in an agent or workflow; what is defined around is in no group."""
        meant = self._program.nearest(name, around.path)
        if meant is not None:
            return self.draw(meant, group if meant.scope == around.path else None)
        if (name, group) not in self._undefined:
            self._undefined[name, group] = self._node("undefined", name, "not defined", group)
        return self._undefined[name, group]

    def _workflow(self, flow: Definition, around: str | None) -> _Ports:
        properties = flow.pattern.value.properties
        group = f"g{len(self.groups)}"
        told = ", ".join(f"{key}: {_value(value)}" for key, value in sorted(properties.items()))
        rounds = told if is_loop(flow.pattern) else ""
        self.groups.append(Group(group, flow.name, (rounds,) if rounds else (), around))
        begin = self._node("input", "", "", group)
        end = self._node("result", "", "", group)
        self._drawn[flow.path] = ports = begin[0], end[1]
        read = workflow_of(flow.pattern)
        steps = {name: self._step(node, flow, group) for name, node in read.nodes.items()}
        for arrow in read.arrows:
            source = steps[arrow.source] if arrow.source else begin
            target = steps[arrow.target] if arrow.target else end
            self._edge(source, target, *_said_at(arrow.pattern or Pattern()))
        for arrow in read.loop.feedback.arrows if read.loop else ():
            if arrow.source:
                self._edge(steps[arrow.source], begin, "again", "next round")
        return ports

    def _step(self, node: FlowNode, flow: Definition, group: str) -> _Ports:
        """Draw a node of a workflow; for what is drawn elsewhere, one that uses it."""
        meant = self._program.nearest(node.definition, flow.path)
        if meant is None:
            return self._node("undefined", node.name, "not defined", group)
        is_again = node.name != node.definition
        if not is_again and (meant.path not in self._drawn or meant.scope == flow.path):
            return self.draw(meant, group)
        kind: NodeKind = "tool" if meant.path in self._program.tools else "agent"
        detail = f"another use of {node.definition}" if is_again else ""
        used = self._node(kind, node.name, detail, group)
        self._edge(used, self._named(node.definition, flow, group), "uses")
        return used


def _said_at(arrow: Pattern) -> tuple[EdgeKind, str]:
    """What kind of edge an arrow is, and what is written at it."""
    labels, properties = arrow.value.labels, arrow.value.properties
    words = [_WORDS.get(label, label) for label in sorted(labels)]
    said = ((key.replace("_", " "), _value(value)) for key, value in sorted(properties.items()))
    told = [value if key == "is" else f"{key}: {value}" for key, value in said]
    kind: EdgeKind = "handoff" if "HANDOFF" in labels else "flow"
    return kind, " ".join([*words, ", ".join(told)]).strip()


def _value(value: Value) -> str:
    if isinstance(value, Symbol):
        return value.value
    return value if isinstance(value, str) else write_value(value, fences=False)


def beside(name: str) -> str:
    """The text of a file of this room."""
    return Path(__file__).with_name(name).read_text("utf-8").strip()


LOOKS: Final[dict[str, dict[str, dict[str, Any]]]] = json.loads(beside("looks.json"))
"""How the kinds of nodes and edges look in each form, and nodes by what a run did there."""


# --- as texts: whatever the names are, they stay in their labels


def _inside(
    drawing: Drawing,
    node: Callable[[Node], str],
    opening: Callable[[Group], str],
    closing: str,
    group: str | None = None,
    indent: str = "  ",
) -> Iterator[str]:
    """The lines of the nodes in a group, and of the groups in it."""
    yield from (f"{indent}{node(each)}" for each in drawing.nodes if each.group == group)
    for each in drawing.groups:
        if each.group == group:
            yield f"{indent}{opening(each)}"
            yield from _inside(drawing, node, opening, closing, each.key, f"{indent}  ")
            yield f"{indent}{closing}"


# --- Mermaid

_NOT_PLAIN: Final = re.compile(
    r"(?<![^\W_])[._/-]|[._/-](?![^\W_])|[^\w ()=,…._/-]"  # at the edge of a word, or elsewhere
)


def to_mermaid(drawing: Drawing) -> str:
    """The text of a Mermaid diagram.

    >>> from gram import loads_one
    >>> from lenses_ext import drawing_of
    >>> print(to_mermaid(drawing_of(loads_one('[a:Agent {model: "OpenAI/x"} | (t:Tool)]'))))
    flowchart LR
      n0(["a<br>OpenAI/x"])
      n1["t"]
      n0 --> n1
    """
    expect(drawing, Drawing, "drawing", by="to_mermaid")

    def node(each: Node) -> str:
        return f"{each.key}{_mermaid(*each.lines).join(LOOKS['nodes'][each.kind]['mermaid'])}"

    def opening(group: Group) -> str:
        return f"subgraph {group.key}[{_mermaid(*group.lines)}]"

    lines = ["flowchart LR", *_inside(drawing, node, opening, "end")]
    for edge in drawing.edges:
        label = f"|{_mermaid(edge.words)}|" if edge.words else ""
        arrow = LOOKS["edges"][edge.kind]["mermaid"]
        lines.append(f"  {edge.source} {arrow}{label} {edge.target}")
    styles = grouped((_class(each), each.key) for each in drawing.nodes)
    for style in (each for each in styles if each):
        lines.append(f"  classDef {style} {LOOKS['states'][style]['mermaid']}")
        lines.append(f"  class {','.join(styles[style])} {style}")
    return "\n".join(lines)


def _class(node: Node) -> str:
    """The class that a node is drawn in; "" for none."""
    if node.count is None or node.kind not in ("agent", "tool"):
        return "undefined" if node.kind == "undefined" else ""
    return "failed" if node.count and node.failed else "ran" if node.count else "idle"


def _mermaid(*lines: str) -> str:
    """A label; what means something to Mermaid is written as its code.

    Within a word, a point, a hyphen and an underscore mean nothing; elsewhere they are Markdown.
    """
    shown = (visible(shortened(line)) for line in lines if line)
    texts = (_NOT_PLAIN.sub(lambda match: f"#{ord(match[0])};", line) for line in shown)
    return f'"{"<br>".join(texts) or " "}"'


# --- Graphviz


def to_dot(drawing: Drawing) -> str:
    """The text of a Graphviz graph.

    >>> from gram import loads_one
    >>> from lenses_ext import drawing_of
    >>> print(to_dot(drawing_of(loads_one("(a:Agent)"))).splitlines()[3])
      n0 [label="a", shape=box, style="rounded,filled"];
    """
    expect(drawing, Drawing, "drawing", by="to_dot")

    def node(each: Node) -> str:
        shape, state = LOOKS["nodes"][each.kind]["dot"], _class(each)
        colour = LOOKS["states"][state]["dot"] if state else ""
        return f"{each.key} [label={_dot(*each.lines)}, {shape}{colour}];"

    def opening(group: Group) -> str:
        return f"subgraph cluster_{group.key} {{ label={_dot(*group.lines)};"

    lines = [
        "digraph {",
        "  rankdir=LR;",
        '  node [fontname="Helvetica", fillcolor="#f4f4f0"]; edge [fontname="Helvetica"];',
        *_inside(drawing, node, opening, "}"),
    ]
    for edge in drawing.edges:
        label = edge.words and f"label={_dot(edge.words)}"
        settings = ", ".join(filter(None, (label, LOOKS["edges"][edge.kind]["dot"])))
        lines.append(f"  {edge.source} -> {edge.target}{f' [{settings}]' if settings else ''};")
    return "\n".join([*lines, "}"])


def _dot(*lines: str) -> str:
    """A label, where ``\\\\`` and ``&`` begin something else."""
    texts = (visible(shortened(line)) for line in lines if line)
    escaped = (it.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;") for it in texts)
    return '"' + "\\n".join(escaped) + '"'
