"""Reading what is recorded of a run: each entry is folded as it is read."""

from __future__ import annotations

from attrs import evolve

from gram import Diagnostic, GramError, Pattern, Source, origin, read_in_pieces

from ...errors import ReplayError, ValidationError
from .event_pattern import written_event
from .file_pattern import contents
from .first_entry import run_from_head
from .note_pattern import label_of_note, note_from_pattern
from .recorded_run import Entry, RecordedRun, awaited
from .replayer import RecordedStep, Replayer


def read_run(text: str, name: str | None = None) -> RecordedRun:
    """Read a recorded run.

    Args:
        text: the run as gram, see `run_text`.
        name: how messages name it, such as its file.

    Raises:
        GramDecodeError: the text is not gram.
        ValidationError: it is not the record of a run; the fault has its place.
        ReplayError: an event does not fit the run.
    """
    source = Source(text, name)
    patterns = read_in_pieces(source)
    head = next(patterns, None)
    if head is None:
        raise ValidationError(f"{name}: nothing of a run had begun")
    run = run_from_head(head, source)
    replayer, entries, known = Replayer(run.first), list[Entry](), contents(run.first)
    for pattern in patterns:
        if label := label_of_note(pattern):
            entries.append(note_from_pattern(pattern, label))
        else:
            entries.append(_step(replayer, pattern, known))
    return evolve(run, entries=tuple(entries))


def _step(replayer: Replayer, entry: Pattern, known: dict[str, bytes]) -> RecordedStep:
    written, place = written_event(entry, known), origin(entry)
    try:
        return replayer.take(*written, start=place.span.start if place else None)
    except GramError as error:
        told = str(error).replace(repr(written.event), "it")  # the entry is shown below
        message = f"the run does not come to this: {told}; expected {awaited(replayer.state)}"
        raise ReplayError(Diagnostic.of("misfit", message, entry).with_hint()) from None
