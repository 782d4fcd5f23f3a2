"""Whether private data, words of strangers and a way outward come together in one agent.

Who writes what an agent reads can tell it what to do. So an agent that reads private data, sees
untrusted text and can send something outward can be talked into sending that data. Tools say what
they do: ``{reads: "private"}``, ``{returns: "untrusted"}``, ``{sends: true}``. What one agent knows
flows on: to those that it calls, back to who called it, and along arrows. A step whose answer is
one of a few values, an enum or a boolean, passes nothing on; nor does one that takes only such.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final, Literal, TypeAlias

from gram import Diagnostic, TreePath
from gram.checks import Reading
from gram.words import counted

from ..labels import is_agent, is_answer, is_tool
from ..names import Definition, Program, reached
from ..workflows import FlowArrow, Workflow, workflow_of
from .flow_types import Types, field_of, fields_of, options_of, says_nothing
from .rules import called

_Fact: TypeAlias = tuple[Literal["private", "untrusted"], TreePath]
"""A kind of text, and the path of the tool that it is from."""
_Spot: TypeAlias = tuple[Literal["given", "known", "said"], TreePath]
"""What a definition is given, what it knows, and what it says to who uses it."""

_BY_SERVER: Final = ", as its server says"
_DANGEROUS: Final = {"reads": "private", "returns": "untrusted", "sends": True}
"""What a tool says that counts."""


def lethal_trifecta(reading: Reading) -> Iterator[Diagnostic]:
    """An agent that reads private data, sees untrusted text and can send outward, all at once."""
    program = reading.once(Program.of)
    says = {at: tool.pattern.value.properties for at, tool in program.tools.items()}
    dangers = _DANGEROUS.items()
    tools = [{at for at, it in says.items() if it.get(key) == value} for key, value in dangers]
    if not all(tools):
        return
    reach = {each.path: reached(program, each) for each in program.runnables.values()}
    told: dict[TreePath, set[TreePath]] = defaultdict(set)

    def names(paths: Iterable[TreePath]) -> str:
        found = ((program.tools[at].name, "source" in says[at]) for at in sorted(paths))
        return ", ".join(name + _BY_SERVER * is_of_server for name, is_of_server in found)

    for path in sorted(reach, key=lambda path: (len(reach[path]), path)):
        inside = reach[path]
        if not all(inside & some for some in tools):
            continue
        facts = _Flow(reading, inside).facts
        known = set[TreePath]().union(*(told[each] for each in inside))
        for at in (inside & tools[2]) - known:
            if len({kind for kind, _ in facts["given", at]}) == 2:
                told[path].add(at)
        if not told[path]:
            continue
        come = {fact for at in told[path] for fact in facts["given", at]}
        private = names(at for kind, at in come if kind == "private")
        untrusted = names(at for kind, at in come if kind == "untrusted")
        message = f"{called(program.runnables[path].pattern)} reads private data ({private}), sees "
        message += f"untrusted text ({untrusted}) and can send outward ({names(told[path])})"
        if silent := sum(_DANGEROUS.keys().isdisjoint(says[at]) for at in inside & says.keys()):
            say = "says" if silent == 1 else "say"
            message += f"; {counted(silent, 'tool')} {say} nothing of it"
        hint = "let another agent read the untrusted text, and answer with an enum or a boolean"
        yield Diagnostic.found(message, path, "identity", hint=hint)


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

    def _connect(self, here: Definition) -> None:
        path = here.path
        if is_tool(here.pattern):
            self._ways["given", path].add(("said", path))
            record = here.pattern.value.properties
            if record.get("reads") == "private":  # it may send what it reads
                self.facts["given", path].add(("private", path))
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
            return self._program.nearest(flow.nodes[name].definition, here.path)

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
