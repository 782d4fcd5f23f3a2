"""A run as lines of gram: the first entry says how it began, and an entry follows for each event.

.. code-block:: text

    [:Run {agent: "counter", file: "a.gram", format: 1, input: "go", limits: {…}, program: "…", …} |
      [:Conversation …], [:Attached | (:File …)], [:ApprovalPolicy …],
      [:Library | (add:Implementation {…})]]

The first entry has what `start` needs to begin the run again, and what was known then. The program
is a text: that of its file where the agent can be read from that alone, else the agent's own, with
whatever it refers to. A file names nothing that is opened: ``file`` is shown.

A later turn of a file goes on from an earlier one, and has only what differs from that:

.. code-block:: text

    [:Run {after: "4f2a…", input: "and then?", run: "81cc…", started: "…", version: "…"}]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import cache
from typing import Any, Final, NamedTuple

from attrs import evolve
from pyrsistent import pvector

import gram
from gram import Diagnostic, GramError, Pattern, Source, Value, dumps, origin, parse
from lenses_ext.weak_cache import memo

from ... import machine
from ...errors import ReplayError, ValidationError
from ...execution import Folded
from ...json_text import write_json
from ...machine import ConversationContext, State, allow_all, context_before, empty_context
from ...programs import the_agent
from ...tools import Tool
from . import patterns, property_forms, recorded_run
from .patterns import CHANGES, CONVERSATION, contents, context_from_pattern
from .property_forms import TIME, Reader, node, pattern_line, write_text
from .recorded_run import LIBRARY, ONCE, Entry, RecordedRun, RecordedStep, Replayer, fingerprint

RUN: Final = "Run"
FORMAT: Final = 1
"""The version of the form of the entries."""

_KEYS: Final = (
    *("format", "version", "run", "started", "file", "program", "agent", "input"),
    *("after", "without"),
    *CHANGES.keys,
)
_POLICY: Final = "ApprovalPolicy"
ATTACHED: Final = "Attached"
"""The label of the files that are attached to the input."""


class Turn(NamedTuple):
    """What the next turn of a file goes on from."""

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
    is_over = state.status is machine.Status.DONE
    if is_over or state.tools_used or any(map(_has_begun, state.frame.all_parts())):
        return machine.interrupted_context(state)
    return context_before(state)


def _has_begun(part: machine.CallTool | machine.Ask | machine.Frame) -> bool:
    """Whether tools may have done something in what is under way."""
    if isinstance(part, machine.Ask):
        return part.may_have_run
    return not isinstance(part, machine.Frame) or bool(part.calls_made)


def head_of(
    state: State,
    tools: Iterable[Tool | Pattern],
    started: datetime | None = None,
    after: Turn | None = None,
    *,
    has_context: bool = True,
) -> str:
    """The first entry of a run.

    Args:
        after: the turn of the same file that it goes on from, or None.
        has_context: whether it has the messages before it; else they are kept elsewhere.
    """
    run, before = state.beginning.run, context_before(state)
    said = _said(state, tuple(tool_pattern(each, run.once) for each in tools))
    own: dict[str, Any] = {
        "version": _version(),
        "input": property_forms.write_json_value(run.given),
    }
    if run.run_id:
        own["run"] = write_text(run.run_id)
    if started is not None:
        own["started"] = TIME.write(started)
    if after is not None and before == after.context:
        old, has_context = _said(after.state, after.library), False
        own["after"] = write_text(after.state.run_id)
        if missing := sorted(old.keys() - said.keys()):
            own["without"] = pvector(missing)
        said = {key: each for key, each in said.items() if not _is_same(each, old.get(key))}
    elements = list[Pattern]()
    if before and has_context:
        elements.append(node(CONVERSATION, {}, patterns.messages_to_patterns(before, set())))
    if run.attachments:
        written = {file.sha256 for each in before for file in each.attachments}
        elements.append(node(ATTACHED, {}, patterns.files_to_patterns(run.attachments, written)))
    elements += [each for each in said.values() if isinstance(each, Pattern)]
    return pattern_line(node(RUN, {**own, **_properties(said)}, elements))


def _properties(said: Mapping[str, Any]) -> dict[str, Any]:
    return {key: each for key, each in said.items() if not isinstance(each, Pattern)}


def _is_same(one: Any, other: Any) -> bool:
    """Whether two properties or parts are written alike, as 1 and 1.0 are not."""
    return one == other and (
        isinstance(one, Pattern) or node(RUN, {"a": one}) == node(RUN, {"a": other})
    )


def _said(state: State, library: tuple[Pattern, ...]) -> dict[str, Any]:
    """What a first entry and that of the next turn may have in common.

    These are properties by their names and elements by their labels, both in their order.
    """
    run = state.beginning.run
    program, filename = program_text(run.program)
    begun_with = machine.Resumed(
        run.limits, run.model, None, run.settings or None, run.check_results and None
    )
    said: dict[str, Any] = CHANGES.write(begun_with) | {
        "format": FORMAT,
        "program": write_text(program),
        "agent": write_text(run.program.value.identity),
    }
    if filename is not None:
        said["file"] = write_text(filename)
    if run.policy != allow_all:
        said[_POLICY] = run.policy.to_pattern()
    return said | {LIBRARY: node(LIBRARY, {}, library)}


@cache
def _version() -> str:
    from importlib.metadata import version  # imported late: it takes longer than the rest

    return version("gram-agents")


@memo
def program_text(program: Pattern) -> tuple[str, str | None]:
    """A text that a program is read from, and the name of its file, or None."""
    read = origin(program)
    if read is None:
        return dumps(program), None
    text, filename = read.source.text, read.source.filename
    try:
        found = the_agent(parse(text), program.value.identity, by="head_of")
    except GramError:
        found = None
    return (text if found == program else dumps(program)), filename


def tool_pattern(tool: Tool | Pattern, once: frozenset[str]) -> Pattern:
    """A tool as a record has it."""
    if isinstance(tool, Pattern):
        return tool
    properties: dict[str, Value] = {
        "description": write_text(tool.description),
        "schema": gram.TaggedString("json", write_json(tool.schema)),
    }
    flags = {ONCE: tool.once or tool.name in once, recorded_run.BUILT_IN: tool.is_built_in}
    properties |= property_forms.without_empty(flags)
    return Pattern(gram.Subject(tool.name, {"Implementation"}, properties))


class _Turn(Replayer):
    """A turn that is read entry by entry; ``after`` is the one that it goes on from."""

    def __init__(self, run: RecordedRun, after: _Turn | None) -> None:
        super().__init__(run.first)
        self.run, self.after, self.entries = run, after, list[Entry]()
        self.known = contents(run.first)


def _begun(
    head: Pattern, source: Source, turns: Mapping[str, _Turn], before: ConversationContext
) -> _Turn:
    """The turn that a first entry begins; ``turns`` are those before it by their ids."""
    if RUN not in head.value.labels:
        message, hint = "this is not the record of a run", "`gram run --record FILE` writes one"
        raise ValidationError.of([Diagnostic.of("no-run", message, head, "labels", hint=hint)])
    read = Reader(head, RUN, _KEYS)
    after, parts = None, dict[str, Pattern]()
    if read.has("after"):
        after = turns.get(read.text("after"))
        if after is None:
            read.refuse("no-turn", "no turn before this one has this id", "after", _HINT)
        without, old = read.names("without"), _said(after.state, after.run.library)
        old = {key: each for key, each in old.items() if key not in without}
        parts = {key: each for key, each in old.items() if isinstance(each, Pattern)}
        read.properties, before = _properties(old) | read.properties, context_after(after.state)
    if (found := read.properties.get("format")) != FORMAT:
        which = "a later" if isinstance(found, int) and found > FORMAT else "another"
        hint = f"it was written by {which} version"
        read.refuse("other-format", f"the format is not {FORMAT}", "format", hint)
    own = {label: each for each in head.elements for label in each.value.labels}
    parts |= own
    if len(own) != len(head.elements) or not {LIBRARY} <= {*parts} <= _PARTS:
        others = f"{CONVERSATION}, {ATTACHED} and {_POLICY}"
        read.refuse("no-run", f"a {RUN} has a {LIBRARY}, and at most one each of {others}")
    program, filename = read.text("program"), read.text("file") if read.has("file") else None
    changes = CHANGES.read(read)
    try:
        if after and not {"program", "agent", "file"} & {*head.value.properties}:
            agent = after.state.beginning.run.program
        else:
            agent = the_agent(parse(program, filename), read.text("agent"), by="load_run")
    except GramError as error:
        read.refuse("no-program", f"what was run is not a valid program: {error}", "program", _HINT)
    known = {f.sha256: f.content for each in before for f in each.attachments if f.content}
    if CONVERSATION in parts:
        before = context_from_pattern(parts[CONVERSATION], known)
    attached = parts[ATTACHED].elements if ATTACHED in parts else ()
    files = [patterns.file_from_pattern(each, known) for each in attached]
    policy = machine.ApprovalPolicy.from_pattern(parts[_POLICY]) if _POLICY in parts else allow_all
    given, library = read.json_value("input").value, parts[LIBRARY].elements
    tools = (each.value for each in library)
    try:
        first = machine.start(
            agent,
            [given, *files] if files else given,
            before,
            policy=policy,
            run_id=read.text("run", ""),
            once=(each.identity for each in tools if each.properties.get(ONCE) is True),
            **changes,
        ).state
    except GramError as error:
        read.refuse("no-run", f"the run cannot be begun: {error}", "input", _HINT)
    started = TIME.read(read, "started") if read.has("started") else None
    place = origin(head)
    start_at = place.span.start if place else 0
    run = RecordedRun(first, (), program, filename, library, started, source, start_at)
    return _Turn(run, after)


_PARTS: Final = {CONVERSATION, ATTACHED, _POLICY, LIBRARY}
_HINT: Final = "was it edited?"


def event_line(folded: Folded | RecordedStep) -> str:
    """An event, see `RunLog.append`."""
    event, effect = folded.event, folded.effect
    request = fingerprint(effect.request) if isinstance(effect, machine.CallModel) else None
    has_files = isinstance(event, machine.ToolReturned) and event.files
    written = {*contents(folded.state, folded.state.events[:-1])} if has_files else set()
    return pattern_line(patterns.event_to_pattern(event, written, folded.seconds, request))


def event_lines(state: State) -> Iterator[str]:
    """The events of a State."""
    replayer = Replayer(state.beginning)
    for event in state.events:
        yield event_line(replayer.take(event))


def run_text(
    state: State,
    tools: Iterable[Tool | Pattern] = (),
    started: datetime | None = None,
    after: Turn | None = None,
) -> str:
    """A run as gram: what it was begun with, and what has happened since, an entry to a line."""
    lines = (head_of(state, tools, started, after), *event_lines(state))
    return "".join(f"{line}\n" for line in lines)


TAKEN_BACK: Final = "TakenBack"
"""The label of an entry that takes a turn out of the conversation of a file."""


class RecordedTurns(NamedTuple):
    """The turns of a recorded conversation, or one run.

    Attributes:
        runs: the turns, one after another.
        talk: the turns of the conversation, without those that were taken back.
        given: the messages that the file begins with, before any turn.
    """

    runs: tuple[RecordedRun, ...]
    talk: tuple[RecordedRun, ...]
    given: ConversationContext


def read_turns(
    text: str,
    name: str | None = None,
    before: ConversationContext = empty_context,
    *,
    may_be_empty: bool = False,
) -> RecordedTurns:
    """Read the turns of a recorded conversation, or one run.

    Args:
        text: the runs as gram, see `run_text`; a ``[:Conversation …]`` may come first.
        before: the messages before a turn that is kept without them.
        may_be_empty: whether such a conversation is enough, without a turn.
    """
    source, given, last = Source(text, name), empty_context, None
    turns, by_id = list[_Turn](), dict[str, _Turn]()
    for each in gram.read_in_pieces(source):
        labels = each.value.labels
        if CONVERSATION in labels and not turns:
            given = context_from_pattern(each, {})
        elif TAKEN_BACK in labels:
            read = Reader(each, TAKEN_BACK, ["run"])
            if (taken := by_id.get(read.text("run"))) is None:
                read.refuse("no-turn", "no turn before this entry has this id", "run")
            last = taken.after
        elif RUN in labels or not turns:
            last = turn = _begun(each, source, by_id, before)
            turns.append(turn)
            by_id[turn.state.run_id] = turn
        elif note := patterns.note_from_pattern(each):
            turn.entries.append(note)
        else:
            turn.entries.append(_step(turn, each))
    if not turns and not (given and may_be_empty):
        raise ValidationError(f"{name}: no run is recorded in it")
    for each_turn in turns:
        each_turn.run = evolve(each_turn.run, entries=tuple(each_turn.entries))
    talk = list[RecordedRun]()
    while last is not None:
        talk.append(last.run)
        last = last.after
    return RecordedTurns(tuple(each.run for each in turns), tuple(reversed(talk)), given)


def read_run(
    text: str, name: str | None = None, before: ConversationContext = empty_context
) -> RecordedRun:
    """Read a recorded run, the last one of a conversation; see `read_turns`."""
    return read_turns(text, name, before).runs[-1]


def taken_back_line(run: str) -> str:
    """The entry that takes a turn out of the conversation."""
    return pattern_line(node(TAKEN_BACK, {"run": write_text(run)}))


def _step(turn: _Turn, entry: Pattern) -> RecordedStep:
    event, seconds, request = patterns.event_from_pattern(entry, turn.known)
    place = origin(entry)
    try:
        return turn.take(event, seconds, request, place.span.start if place else None)
    except GramError as error:
        told = str(error).replace(repr(event), "it")  # the entry is shown below
        expected = recorded_run.awaited(turn.state)
        message = f"the run does not come to this: {told}; expected {expected}"
        raise ReplayError(Diagnostic.of("misfit", message, entry).with_hint()) from None
