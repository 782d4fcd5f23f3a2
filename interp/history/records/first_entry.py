"""The first entry of a run: what `start` needs to begin it again, and what was known then.

.. code-block:: text

    [:Run {agent: "counter", file: "a.gram", format: 1, input: "go", limits: {…}, program: "…", …} |
      [:Conversation …], [:Attached | (:File …)], [:ApprovalPolicy …],
      [:Library | (add:Implementation {…})]]

The program is a text: that of its file where the agent can be read from that alone, else the
agent's own, with whatever it refers to. A file names nothing that is opened: ``file`` is shown.

A later turn of a file goes on from an earlier one, and has only what differs from that:

.. code-block:: text

    [:Run {after: "4f2a…", input: "and then?", run: "81cc…", started: "…", version: "…"}]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cache
from hashlib import sha256
from typing import Any, Final, NamedTuple

from pyrsistent import pvector

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
    ConversationContext,
    Limits,
    State,
    Status,
    allow_all,
    context_before,
    empty_context,
    interrupted_context,
    start,
)
from ...programs import the_agent
from ...tools import Tool
from .conversation_pattern import (
    CONVERSATION,
    messages_to_patterns,
    written_context,
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
    *("after", "without"),
    *CHANGE_KEYS,
)
_POLICY: Final = "ApprovalPolicy"
ATTACHED: Final = "Attached"
"""The label of the files that are attached to the input."""


class Turn(NamedTuple):
    """A turn of a file, as the next one goes on from it.

    Attributes:
        state: its last State.
        library: what its tools were.
    """

    state: State
    library: tuple[Pattern, ...]

    @property
    def context(self) -> ConversationContext:
        """The conversation at its end."""
        return context_after(self.state)


def context_after(state: State) -> ConversationContext:
    """The conversation that the next message goes on from.

    A turn that has no answer leaves what its tools did, so that it is not done again.
    """
    is_nothing_done = not state.invocations and len(state.asks) == len(state.calls)
    if state.status is not Status.DONE and is_nothing_done:
        return context_before(state)
    return interrupted_context(state)


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


def head_of(
    state: State,
    tools: Iterable[Tool | Pattern],
    started: datetime | None = None,
    after: Turn | None = None,
) -> Head:
    """The first entry of a run.

    Args:
        state: a State of the run.
        tools: the implementations of its tools, or what a record has of them.
        started: when it began, if that is known.
        after: the turn of the same file that it goes on from, or None.
    """
    run = state.beginning.run
    program, filename = _text_of(run.program)
    library = tuple(tool_pattern(each, run.once) for each in tools)
    before = context_before(state)
    properties, parts = _said(state, library)
    properties |= without_empty(
        {
            "version": _version(),
            "run": write_text(run.run_id),
            "started": None if started is None else write_time(started),
        }
    )
    properties["input"] = write_json_value(run.given)
    if after is not None and before == after.context:
        old, old_parts = _said(after.state, after.library)
        missing = sorted({*old, *old_parts} - {*properties, *parts})
        properties = {k: each for k, each in properties.items() if not _is_same(each, old.get(k))}
        parts = {k: each for k, each in parts.items() if each != old_parts.get(k)}
        properties["after"] = write_text(after.state.run_id)
        properties |= {"without": pvector(missing)} if missing else {}
        before = empty_context
    elements = list[Pattern]()
    if before:
        elements.append(node(CONVERSATION, {}, messages_to_patterns(before)))
    if run.attachments:
        written = {file.sha256 for each in context_before(state) for file in each.attachments}
        elements.append(node(ATTACHED, {}, files_to_patterns(run.attachments, written)))
    elements += [parts[label] for label in (_POLICY, LIBRARY) if label in parts]
    return Head(pattern_line(node(RUN, properties, elements)), program, filename, library)


def _is_same(value: Value, other: Value | None) -> bool:
    """Whether two values are written alike; 1 and 1.0 are not."""
    return other is not None and pattern_line(node(RUN, {"value": value})) == pattern_line(
        node(RUN, {"value": other})
    )


def _said(
    state: State, library: tuple[Pattern, ...]
) -> tuple[dict[str, Value], dict[str, Pattern]]:
    """The properties and parts of a first entry that the next turn may have in common with it."""
    run = state.beginning.run
    program, filename = _text_of(run.program)
    properties: dict[str, Any] = without_empty(
        {
            "format": FORMAT,
            "program": write_text(program),
            "agent": write_text(run.program.value.identity),
        }
    )
    if filename is not None:
        properties["file"] = write_text(filename)
    changes = Changes(run.limits, run.model, run.settings or None, run.check_results and None)
    parts = {LIBRARY: node(LIBRARY, {}, library)}
    if run.policy != allow_all:
        parts[_POLICY] = run.policy.to_pattern()
    return properties | changes.properties(), parts


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


def tool_pattern(tool: Tool | Pattern, once: frozenset[str]) -> Pattern:
    """What a record has of a tool."""
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


def run_from_head(head: Pattern, source: Source, turns: Mapping[str, Turn] = {}) -> RecordedRun:
    """A recorded run as its first entry says that it began.

    Args:
        head: the entry.
        source: the text that it is in.
        turns: the turns before it by their ids.

    Raises:
        ValidationError: it is no first entry, or the program cannot be run; the fault has its
            place.
    """
    if RUN not in head.value.labels:
        message, hint = "this is not the record of a run", "`gram run --record FILE` writes one"
        raise ValidationError.of([Diagnostic.of("no-run", message, head, "labels", hint=hint)])
    read = Reader(head, RUN, _KEYS)
    after, old, parts = None, dict[str, Value](), dict[str, Pattern]()
    if read.has("after"):
        after = turns.get(read.text("after"))
        if after is None:
            read.refuse("no-turn", "no turn before this one has this id", "after", _HINT)
        old, parts = _said(after.state, after.library)
        for name in read.names("without"):
            old.pop(name, None)
            parts.pop(name, None)
        read.properties = old | read.properties
    if read.properties.get("format") != FORMAT:
        found = read.properties.get("format")
        which = "a later" if isinstance(found, int) and found > FORMAT else "another"
        message, hint = f"the format is not {FORMAT}", f"it was written by {which} version"
        raise ValidationError.of(
            [Diagnostic.of("other-format", message, head, "format", hint=hint)]
        )
    own = {label: each for each in head.elements for label in each.value.labels}
    parts |= own
    if len(own) != len(head.elements) or not {LIBRARY} <= {*parts} <= _PARTS:
        others = f"{CONVERSATION}, {ATTACHED} and {_POLICY}"
        message = f"a {RUN} has a {LIBRARY}, and at most one each of {others}"
        read.refuse("no-run", message)
    program, filename = read.text("program"), read.text("file") if read.has("file") else None
    context, policy = parts.get(CONVERSATION), parts.get(_POLICY)
    changes = Changes.read(read)
    try:
        is_same = after and not {"program", "agent", "file"} & {*head.value.properties}
        agent = (
            after.state.beginning.run.program
            if after and is_same
            else the_agent(parse(program, filename), read.text("agent"), by="load_run")
        )
    except GramError as error:
        read.refuse("no-program", f"what was run is not a valid program: {error}", "program", _HINT)
    known: dict[str, bytes] = {}
    before = after.context if after else empty_context
    known |= {f.sha256: f.content for each in before for f in each.attachments if f.content}
    before = written_context(context, known) if context else before
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
    place = origin(head)
    start_at = place.span.start if place else 0
    return RecordedRun(first, (), program, filename, library, started, source, start_at)


_PARTS: Final = {CONVERSATION, ATTACHED, _POLICY, LIBRARY}
_HINT: Final = "was it edited?"
