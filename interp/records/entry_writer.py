"""Writes the entries of a run as lines of gram."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from gram import Pattern, Subject, TaggedString, Value, dumps, origin

from ..json_text import write_json
from ..machine import State, pending
from ..tools import Tool
from .event_pattern import event_node
from .fingerprints import Fingerprints
from .nodes import Node, pattern_line
from .pattern_parts import Written, without_empty, write_text
from .recorded_run import BUILT_IN, FORMAT, ONCE, RUN, RecordedRun, hash_of
from .run_notes import Note, note_node, now, write_time
from .seals import VERIFY, Folded, seal_of_entry, seal_of_rest
from .state_pattern import state_to_pattern


class Head(NamedTuple):
    """The first entry of a run.

    Attributes:
        line: its line.
        hash: the hash of the text of the program.
        filename: the name of the program's file, or None.
        entry: the node that the line was made of.
    """

    line: str
    hash: str
    filename: str | None
    entry: Node

    @classmethod
    def of(cls, line: str, run: RecordedRun) -> Head:
        """The first entry of a run that was read.

        Args:
            line: its line.
            run: the run.
        """
        elements = state_to_pattern(run.first), Node("Library", {}, run.library)
        entry = Node(RUN, {"program": write_text(run.program)}, elements)
        return cls(line, hash_of(run.program), run.filename, entry)

    @property
    def shared(self) -> tuple[str, ...]:
        """The parts of the line that all runs of the program have in common."""
        first, library = self.entry.elements
        assert isinstance(first, Pattern)
        assert isinstance(library, Node)
        program = Node(RUN, {"program": self.entry.properties["program"]}).line()
        in_braces = program[program.index("{") + 1 : program.rindex("}")]
        return in_braces, pattern_line(first.elements[0]), library.line()


class EntryWriter:
    """Writes the entries of one run.

    Args:
        seal: the seal of the last event that was written, or of the first entry.

    Attributes:
        seal: the same since.
    """

    def __init__(self, seal: str = "") -> None:
        self.seal = seal
        self._fingerprints = Fingerprints()

    def head(
        self,
        state: State,
        tools: Iterable[Tool | Pattern],
        session: str | None = None,
        *,
        of: RecordedRun | None = None,
    ) -> Head:
        """The first entry: the State that the run begins with, its program and its tools.

        Args:
            state: the State.
            tools: the implementations of its tools, or what a record has of them.
            session: the name of the session's file beside it, if the run is a turn of a session.
            of: another run of the same program, if the program was read from its record.
        """
        from importlib.metadata import version  # imported late: it takes longer than the rest

        if of is not None:
            program, filename = of.program, of.filename
        else:
            read = origin(state.agent)
            program = read.source.text if read else dumps(state.agent)
            filename = (read.filename or "") if read else None
        properties: dict[str, Written] = without_empty(
            {
                "format": FORMAT,
                "version": version("gram-agents"),
                "file": None if filename is None else write_text(filename),
                "program": write_text(program),
                "sha256": hash_of(program),
                "started": write_time(now()),
                "session": None if session is None else write_text(session),
            }
        )
        library = Node("Library", {}, tuple(map(_tool_pattern, tools)))
        entry = Node(RUN, properties, (state_to_pattern(state), library))
        rest = seal_of_rest(state, pending(state), self._fingerprints)
        self.seal = seal_of_entry(entry.line()) + rest
        entry = entry._replace(properties={**entry.properties, VERIFY: self.seal})
        return Head(entry.line(), hash_of(program), filename, entry)

    def event(self, folded: Folded, seconds: float | None = None) -> str:
        """An event, see `RunLog.append`."""
        entry = event_node(folded.event, seconds)

        def seal(line: str) -> str:
            rest = seal_of_rest(folded.state, folded.new, self._fingerprints)
            self.seal = seal_of_entry(line, self.seal) + rest
            return self.seal

        return entry.line_with(VERIFY, seal)

    def note(self, note: Note) -> str:
        """A note."""
        return note_node(note).line()


def _tool_pattern(tool: Tool | Pattern) -> Pattern:
    if isinstance(tool, Pattern):
        return tool
    properties: dict[str, Value] = {
        "description": write_text(tool.description),
        "schema": TaggedString("json", write_json(tool.schema)),
    }
    if tool.once:
        properties[ONCE] = True
    if tool.is_built_in:
        properties[BUILT_IN] = True
    return Pattern(Subject(tool.name, {"Implementation"}, properties))
