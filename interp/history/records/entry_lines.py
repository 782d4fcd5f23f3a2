"""The entries of a run as lines of gram, and how they are read: each is folded as it comes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final, NamedTuple

from attrs import evolve

from gram import Diagnostic, GramError, Pattern, Source, origin, read_in_pieces

from ...errors import ReplayError, ValidationError
from ...execution import Folded, Note
from ...machine import CallModel, ConversationContext, State, ToolReturned, empty_context
from ...tools import Tool
from .conversation_pattern import CONVERSATION, contents, written_context
from .event_pattern import (
    event_written,
    label_of_note,
    note_from_pattern,
    note_to_pattern,
    written_event,
)
from .first_entry import RUN, Turn, head_of, run_from_head
from .pattern_parts import Reader, node, pattern_line, write_text
from .recorded_run import Entry, RecordedRun, RecordedStep, Replayer, awaited, fingerprint


def event_line(folded: Folded, seconds: float | None = None) -> str:
    """An event, see `RunLog.append`."""
    event, effect = folded.event, folded.effect
    request = fingerprint(effect.request) if isinstance(effect, CallModel) else None
    has_files = isinstance(event, ToolReturned) and event.files
    written = {*contents(folded.state, folded.state.events[:-1])} if has_files else set()
    return pattern_line(event_written(event, written, seconds, request))


def note_line(note: Note) -> str:
    """A note."""
    return pattern_line(note_to_pattern(note))


def event_lines(state: State) -> Iterator[str]:
    """The events of a State."""
    replayer = Replayer(state.beginning)
    for event in state.events:
        yield event_line(replayer.take(event).folded)


def run_text(
    state: State,
    tools: Iterable[Tool | Pattern] = (),
    started: datetime | None = None,
    after: Turn | None = None,
) -> str:
    """A run as gram: what it was begun with, and what has happened since, an entry to a line.

    Args:
        state: a State of the run.
        tools: the implementations of its tools, or what a record has of them.
        started: when it began, if that is known.
        after: the turn of the same file that it goes on from, or None.
    """
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
        name: how messages name it, such as its file.
        before: the messages before a turn that is kept without them.
        may_be_empty: whether such a conversation is enough, without a turn.

    Raises:
        GramDecodeError: the text is not gram.
        ValidationError: it is not the record of a run; the fault has its place.
        ReplayError: an event does not fit the run.
    """
    source = Source(text, name)
    runs, turns, befores, last = dict[str, RecordedRun](), dict[str, Turn](), dict[str, str](), ""
    given = empty_context
    for head, entries in _in_turns(read_in_pieces(source)):
        if CONVERSATION in head.value.labels and not runs:
            given = written_context(head, {})
            continue
        if TAKEN_BACK in head.value.labels:
            read = Reader(head, TAKEN_BACK, ["run"])
            if (taken := read.text("run")) not in befores:
                read.refuse("no-turn", "no turn before this entry has this id", "run")
            last = befores[taken]
            continue
        begun = run_from_head(head, source, turns, before)
        after, last = head.value.properties.get("after"), begun.first.run_id
        befores[last] = after if isinstance(after, str) else ""
        runs[last] = run = evolve(begun, entries=tuple(_entries(begun, entries)))
        turns[last] = Turn(run.state, run.library)
    if not runs and not (given and may_be_empty):
        raise ValidationError(f"{name}: no run is recorded in it")
    talk = list[RecordedRun]()
    while last:
        talk.insert(0, runs[last])
        last = befores[last]
    return RecordedTurns(tuple(runs.values()), tuple(talk), given)


def _in_turns(patterns: Iterator[Pattern]) -> Iterator[tuple[Pattern, list[Pattern]]]:
    """The first entry of each turn, and the others of it."""
    head, entries = next(patterns, None), list[Pattern]()
    for each in patterns:
        if head is not None and {RUN, TAKEN_BACK} & each.value.labels:
            yield head, entries
            head, entries = each, []
        else:
            entries.append(each)
    if head is not None:
        yield head, entries


def _entries(run: RecordedRun, patterns: list[Pattern]) -> Iterator[Entry]:
    """The entries after the first, folded."""
    replayer, known = Replayer(run.first), contents(run.first)
    for each in patterns:
        if label := label_of_note(each):
            yield note_from_pattern(each, label)
        else:
            yield _step(replayer, each, known)


def read_run(
    text: str, name: str | None = None, before: ConversationContext = empty_context
) -> RecordedRun:
    """Read a recorded run, the last one of a conversation; see `read_turns`."""
    return read_turns(text, name, before).runs[-1]


def taken_back(run: str) -> Pattern:
    """The entry that takes a turn out of the conversation."""
    return node(TAKEN_BACK, {"run": write_text(run)})


def _step(replayer: Replayer, entry: Pattern, known: dict[str, bytes]) -> RecordedStep:
    written, place = written_event(entry, known), origin(entry)
    try:
        return replayer.take(*written, start=place.span.start if place else None)
    except GramError as error:
        told = str(error).replace(repr(written.event), "it")  # the entry is shown below
        message = f"the run does not come to this: {told}; expected {awaited(replayer.state)}"
        raise ReplayError(Diagnostic.of("misfit", message, entry).with_hint()) from None
