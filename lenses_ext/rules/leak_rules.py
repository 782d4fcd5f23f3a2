"""Whether private data, words of strangers and a way outward come together in one agent.

Who writes what an agent reads can tell it what to do. So an agent that reads private data, sees
untrusted text and can send something outward can be talked into sending that data. Tools say what
they do: ``{reads: "private"}``, ``{returns: "untrusted"}``, ``{sends: true}``. What one agent knows
flows on: to those that it calls, back to who called it, and along arrows. A step whose answer is
one of a few values, an enum or a boolean, passes nothing on; nor does one that takes only such.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Literal, TypeAlias

from gram import Diagnostic, TreePath
from gram.checks import Reading
from gram.plurals import counted

from ..labels import is_agent, is_answer, is_tool
from ..names import Definition, Program, reached
from ..workflows import FlowArrow, Workflow, workflow_of
from .flow_types import Types, field_of, fields_of, options_of, says_nothing
from .rules import called

_Fact: TypeAlias = tuple[Literal["private", "untrusted"], TreePath]
"""A kind of text, and the path of the tool that it is from."""
_Spot: TypeAlias = tuple[Literal["given", "known", "said"], TreePath]
"""What a definition is given, what it knows, and what it says to who uses it."""

_KEYS = ("reads", "returns", "sends")


def lethal_trifecta(reading: Reading) -> Iterator[Diagnostic]:
    """An agent that reads private data, sees untrusted text and can send outward, all at once."""
    program = reading.once(Program.of)
    wanted = {"reads": "private", "returns": "untrusted", "sends": True}
    tools = {
        key: {
            at for at, it in program.tools.items() if it.pattern.value.properties.get(key) == word
        }
        for key, word in wanted.items()
    }
    if not all(tools.values()):
        return
    reach = {each.path: reached(program, each) for each in program.runnables.values()}
    told: dict[TreePath, set[TreePath]] = defaultdict(set)
    for path in sorted(reach, key=lambda path: (len(reach[path]), path)):
        inside = reach[path]
        if not all(inside & some for some in tools.values()) or not reading.judges(path):
            continue
        flow = _Flow(reading, inside)
        known = set[TreePath]().union(*(told[each] for each in inside))
        senders = [each for each in sorted(inside & tools["sends"]) if flow.meet_at(each)]
        told[path] = {*senders} - known
        if told[path]:
            facts = {fact for each in told[path] for fact in flow.facts["given", each]}
            yield _found(program, program.runnables[path], facts, told[path], inside)


def _found(
    program: Program,
    holder: Definition,
    facts: set[_Fact],
    senders: set[TreePath],
    inside: frozenset[TreePath],
) -> Diagnostic:
    def names(paths: set[TreePath]) -> str:
        tools = [program.tools[each] for each in sorted(paths)]
        return ", ".join(
            f"{it.name}, as its server says" if "source" in it.pattern.value.properties else it.name
            for it in tools
        )

    private, untrusted = (
        names({at for kind, at in facts if kind == wanted}) for wanted in ("private", "untrusted")
    )
    message = (
        f"{called(holder.pattern)} reads private data ({private}), sees untrusted text "
        f"({untrusted}) and can send outward ({names(senders)})"
    )
    records = (program.tools[at].pattern.value.properties for at in inside & program.tools.keys())
    if silent := sum(record.keys().isdisjoint(_KEYS) for record in records):
        message += f"; {counted(silent, 'tool')} {'says' if silent == 1 else 'say'} nothing of it"
    hint = "let another agent read the untrusted text, and answer with an enum or a boolean"
    return Diagnostic.found(message, holder.path, "identity", hint=hint)


class _Flow:
    """What flows where among an agent or workflow and all that it reaches.

    Attributes:
        facts: what of which kind comes to each spot.
    """

    def __init__(self, reading: Reading, inside: frozenset[TreePath]) -> None:
        self._program = reading.once(Program.of)
        self._types = reading.once(Types)
        self._ways: dict[_Spot, set[_Spot]] = defaultdict(set)
        self.facts: dict[_Spot, set[_Fact]] = defaultdict(set)
        for path in inside & self._program.named.keys():
            self._connect(self._program.named[path])
        pending = [spot for spot, facts in self.facts.items() if facts]
        while pending:
            spot = pending.pop()
            for other in self._ways[spot]:
                if not self.facts[spot] <= self.facts[other]:
                    self.facts[other] |= self.facts[spot]
                    pending.append(other)

    def meet_at(self, sender: TreePath) -> bool:
        """Whether both kinds of text come to a tool."""
        return len({kind for kind, _ in self.facts["given", sender]}) == 2

    def _connect(self, here: Definition) -> None:
        path = here.path
        if is_tool(here.pattern):
            self._ways["given", path].add(("said", path))
            record = here.pattern.value.properties
            if record.get("reads") == "private":
                self.facts["said", path].add(("private", path))
            if record.get("returns") == "untrusted":
                self.facts["said", path].add(("untrusted", path))
        elif is_agent(here.pattern):
            self._ways["given", path].add(("known", path))
            self._ways["known", path].add(("said", path))
            handed = {meant.path: meant for _, meant in self._program.handed_over(here)}
            for _, meant in self._program.inside(here):
                if meant.path not in handed and not is_answer(meant.pattern):
                    self._lead(("known", path), meant)
                    if self._says_much(meant):
                        self._ways["said", meant.path].add(("known", path))
            for other in handed:  # with the whole conversation
                self._ways["known", path].add(("given", other))
                self._ways["said", other].add(("said", path))
        else:
            flow = workflow_of(here.pattern)
            for arrow in flow.arrows:
                self._follow(here, flow, arrow, ("said", path))
            for arrow in flow.loop.feedback.arrows if flow.loop else ():
                self._follow(here, flow, arrow, ("given", path))

    def _follow(self, here: Definition, flow: Workflow, arrow: FlowArrow, result: _Spot) -> None:
        """Lead what an arrow carries to its node, or to the result."""

        def used(name: str) -> Definition | None:
            return next(iter(self._program.meant(flow.nodes[name].definition, here.path)), None)

        start: _Spot = ("given", here.path)
        if arrow.source is not None:
            source = used(arrow.source)
            if source is None or not (arrow.is_choice or self._says_much(source)):
                return
            start = ("given" if arrow.is_choice else "said", source.path)
        if arrow.target is None:
            self._ways[start].add(result)
        elif (target := used(arrow.target)) is not None:
            self._lead(start, target)

    def _lead(self, start: _Spot, taker: Definition) -> None:
        """Lead what is at a spot to what takes it, but for one that takes only a few values."""
        schema = self._types.parameters(taker)
        fields = (field_of(schema, name) for name in fields_of(schema))
        if says_nothing(schema) or any(options_of(each or {}) is None for each in fields):
            self._ways[start].add(("given", taker.path))

    def _says_much(self, giver: Definition) -> bool:
        """Whether an answer is more than one of a few values."""
        return options_of(self._types.gives(giver)) is None
