"""The first entry of a run: what `start` needs to begin it again, and what was known then.

.. code-block:: text

    [:Run {agent: "counter", file: "a.gram", format: 1, input: "go", limits: {…}, program: "…", …} |
      [:Conversation …], [:Attached | (:File …)], [:ApprovalPolicy …],
      [:Library | (add:Implementation {…})]]

The program is a text: that of its file where the agent can be read from that alone, else the
agent's own, with whatever it refers to. A file names nothing that is opened: ``file`` is shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import cache
from hashlib import sha256
from typing import Any, Final, NamedTuple

from gram import (
    Diagnostic,
    GramError,
    Pattern,
    Source,
    Subject,
    TaggedString,
    Value,
    dumps,
    origin,
    parse,
)
from lenses_ext.weak_cache import memo

from ...errors import ValidationError
from ...json_text import write_json
from ...machine import (
    ApprovalPolicy,
    Limits,
    State,
    allow_all,
    context_before,
    empty_context,
    start,
)
from ...programs import the_agent
from ...tools import Tool
from .conversation_pattern import (
    CONVERSATION,
    conversation_from_pattern,
    messages_to_patterns,
)
from .file_pattern import file_from_pattern, files_to_patterns
from .nodes import node, pattern_line
from .note_pattern import read_time, write_time
from .pattern_parts import Reader, without_empty, write_json_value, write_text
from .recorded_run import BUILT_IN, LIBRARY, ONCE, RecordedRun
from .run_parts import CHANGE_KEYS, Changes

RUN: Final = "Run"
FORMAT: Final = 1
"""The version of the form of the entries."""

_KEYS: Final = (
    *("format", "version", "run", "started", "file", "program", "agent", "input"),
    *CHANGE_KEYS,
)
_POLICY: Final = "ApprovalPolicy"
ATTACHED: Final = "Attached"
"""The label of the files that are attached to the input."""


class Head(NamedTuple):
    """The first entry of a run.

    Attributes:
        line: its line.
        program: the text of the program.
        filename: the name of the program's file, or None.
        library: what the tools are.
    """

    line: str
    program: str
    filename: str | None
    library: tuple[Pattern, ...]

    @classmethod
    def of(cls, line: str, run: RecordedRun) -> Head:
        """The first entry of a run that was read.

        Args:
            line: its line.
            run: the run.
        """
        return cls(line, run.program, run.filename, run.library)

    @property
    def hash(self) -> str:
        """The hash of the text of the program."""
        return sha256(self.program.encode(errors="surrogatepass")).hexdigest()

    @property
    def shared(self) -> tuple[str, ...]:
        """The parts of the line that all runs of the program have in common."""
        program = pattern_line(node(RUN, {"program": write_text(self.program)}))
        in_braces = program[program.index("{") + 1 : program.rindex("}")]
        return in_braces, pattern_line(node(LIBRARY, {}, self.library))


def head_of(state: State, tools: Iterable[Tool | Pattern], started: datetime | None = None) -> Head:
    """The first entry of a run.

    Args:
        state: a State of the run.
        tools: the implementations of its tools, or what a record has of them.
        started: when it began, if that is known.
    """
    run = state.beginning.run
    program, filename = _text_of(run.program)
    library = tuple(_tool_pattern(each, run.once) for each in tools)
    properties: dict[str, Any] = without_empty(
        {
            "format": FORMAT,
            "version": _version(),
            "run": write_text(run.run_id),
            "started": None if started is None else write_time(started),
            "program": write_text(program),
            "agent": write_text(run.program.value.identity),
        }
    )
    properties["input"] = write_json_value(run.given)
    if filename is not None:
        properties["file"] = write_text(filename)
    changes = Changes(run.limits, run.model, run.settings or None, run.check_results and None)
    properties |= changes.properties()
    before = context_before(state)
    elements: list[Pattern] = []
    written: set[str] = set()
    if before:
        elements.append(node(CONVERSATION, {}, messages_to_patterns(before, written)))
    if run.attachments:
        elements.append(node(ATTACHED, {}, files_to_patterns(run.attachments, written)))
    if run.policy != allow_all:
        elements.append(run.policy.to_pattern())
    elements.append(node(LIBRARY, {}, library))
    return Head(pattern_line(node(RUN, properties, elements)), program, filename, library)


@cache
def _version() -> str:
    from importlib.metadata import version  # imported late: it takes longer than the rest

    return version("gram-agents")


def _find_text(program: Pattern) -> tuple[str, str | None]:
    """A text that a program is read from, and the name of its file."""
    read = origin(program)
    if read is None:
        return dumps(program), None
    text, filename = read.source.text, read.source.filename
    try:
        found = the_agent(parse(text), program.value.identity, by="head_of")
    except GramError:
        found = None
    return (text if found == program else dumps(program)), filename


_text_of = memo(_find_text)


def _tool_pattern(tool: Tool | Pattern, once: frozenset[str]) -> Pattern:
    if isinstance(tool, Pattern):
        return tool
    properties: dict[str, Value] = {
        "description": write_text(tool.description),
        "schema": TaggedString("json", write_json(tool.schema)),
    }
    if tool.once or tool.name in once:
        properties[ONCE] = True
    if tool.is_built_in:
        properties[BUILT_IN] = True
    return Pattern(Subject(tool.name, {"Implementation"}, properties))


def run_from_head(head: Pattern, source: Source) -> RecordedRun:
    """A recorded run as its first entry says that it began.

    Raises:
        ValidationError: it is no first entry, or the program cannot be run; the fault has its
            place.
    """
    if RUN not in head.value.labels:
        message, hint = "this is not the record of a run", "`gram run --record FILE` writes one"
        raise ValidationError.of([Diagnostic.of("no-run", message, head, "labels", hint=hint)])
    if head.value.properties.get("format") != FORMAT:
        message, hint = f"the format is not {FORMAT}", "it was written by another version"
        raise ValidationError.of(
            [Diagnostic.of("other-format", message, head, "format", hint=hint)]
        )
    read = Reader(head, RUN, _KEYS)
    parts = {label: each for each in head.elements for label in each.value.labels}
    if len(parts) != len(head.elements) or not {LIBRARY} <= {*parts} <= _PARTS:
        others = f"{CONVERSATION}, {ATTACHED} and {_POLICY}"
        message = f"a {RUN} has a {LIBRARY}, and at most one each of {others}"
        read.refuse("no-run", message)
    program, filename = read.text("program"), read.text("file") if read.has("file") else None
    context, policy = parts.get(CONVERSATION), parts.get(_POLICY)
    changes = Changes.read(read)
    try:
        agent = the_agent(parse(program, filename), read.text("agent"), by="load_run")
    except GramError as error:
        read.refuse("no-program", f"what was run is not a valid program: {error}", "program", _HINT)
    known: dict[str, bytes] = {}
    before = conversation_from_pattern(context, known) if context else empty_context
    attached = parts[ATTACHED].elements if ATTACHED in parts else ()
    files = [file_from_pattern(each, known) for each in attached]
    allows = ApprovalPolicy.from_pattern(policy) if policy else allow_all
    given = read.json_value("input").value
    library = parts[LIBRARY].elements
    tools = (each.value for each in library)
    try:
        first = start(
            agent,
            [given, *files] if files else given,
            before,
            limits=changes.limits or Limits(),
            model=changes.model,
            settings=changes.settings,
            check_results=changes.check_results is not False,
            policy=allows,
            run_id=read.text("run", ""),
            once=(each.identity for each in tools if each.properties.get(ONCE) is True),
        ).state
    except GramError as error:
        read.refuse("no-run", f"the run cannot be begun: {error}", "input", _HINT)
    started = read_time(read, "started") if read.has("started") else None
    return RecordedRun(first, (), program, filename, library, started, source)


_PARTS: Final = {CONVERSATION, ATTACHED, _POLICY, LIBRARY}
_HINT: Final = "was it edited?"
