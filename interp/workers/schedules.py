"""Schedules: runs that are submitted again and again, at times that a file of gram says.

.. code-block:: text

    [morning:Schedule {
      cron: "0 7 * * 1-5",
      program: "report.gram",
      input: "Write the report of yesterday."
    }]

Times are UTC, by the clock of the database. The run of each time has an id made of the schedule's
name and that time, so it is submitted once, however many workers have the file.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from attrs import field, frozen
from pyrsistent import PMap, PVector

from gram import Diagnostic, Document, GramError, Pattern, parse as parse_gram
from gram.documents import decode, resolved
from gram.errors import expect
from gram.extras import install
from gram.words import did_you_mean
from lenses_ext import Project, load_project

from ..errors import ConfigurationError, ValidationError
from ..history.stores import RunStore
from ..machine import Given
from ..secrets import without_keys
from .database_errors import is_of_database, log_event
from .submission import KeptOptions, submit, to_submit

_LABEL: Final = "Schedule"
_TEXTS: Final = ("cron", "program", "agent", "model", "tenant", "conversation")
_PROPERTIES: Final = (*_TEXTS, "input", "priority")
_FIELDS: Final = 5
_CHANCE: Final = re.compile(r"(?i)[hr](?![a-z])")
_MADE_UP_FOR: Final = 600.0  # seconds since a time that was missed


@frozen
class Schedule:
    """Runs that are submitted at times.

    Attributes:
        name: names it; it begins the ids of its runs.
        cron: the times, as in a crontab: minute, hour, day of the month, month, day of the week.
        program: the program.
        input: what the user says, or the arguments by name.
        options: how to run it.
        facts: ``tenant``, ``conversation`` and ``priority`` of its runs.
    """

    name: str
    cron: str
    program: Project
    input: Given
    options: KeptOptions = field(factory=lambda: KeptOptions())
    facts: Mapping[str, Any] = field(factory=dict)

    def run_at(self, timestamp: int) -> str:
        """The id of the run of a time."""
        return f"{self.name}-{datetime.fromtimestamp(timestamp, UTC):%Y%m%dT%H%M%SZ}"

    def times(self, after: float | None, until: float) -> Iterator[int]:
        """Its times in some period, without those too long ago to be made up for.

        Args:
            after: when the period begins, in seconds since 1970; None for the last time alone.
            until: when it ends.
        """
        from croniter import croniter  # an extra

        oldest = until - _MADE_UP_FOR
        if after is None:
            after = croniter(self.cron, int(until) + 1).get_prev(float) - 1
        following = croniter(self.cron, max(after, oldest))
        while (timestamp := int(following.get_next(float))) <= until:
            yield timestamp


def submit_due(
    schedules: Iterable[Schedule], store: RunStore, after: float | None, until: float
) -> None:
    """Submit the runs of some schedules for their times in a period, see `Schedule.times`.

    What cannot be submitted is logged.

    Raises:
        StoreError: the store cannot be written.
    """
    for each in schedules:
        for timestamp in each.times(after, until):
            run = each.run_at(timestamp)
            try:
                submit(
                    each.program, each.input, store=store, run_id=run, **each.options, **each.facts
                )
            except GramError as error:
                if is_of_database(error):
                    raise
                told = f"the run cannot be submitted: {without_keys(str(error))}"
                log_event("schedule_failed", told, logging.WARNING, run=run)


def read_schedules(path: str | Path) -> tuple[Schedule, ...]:
    """Read a file of schedules; the programs in it are found from its folder.

    Raises:
        OSError: it cannot be read.
        GramDecodeError: it is not gram.
        ValidationError: it has something else than schedules, or one of them is wrong.
        ConfigurationError: Procrastinate is not installed.
    """
    expect(path, (str, Path), "path", by="read_schedules")
    path = resolved(Path(path))  # refuses what is no path
    _expect_croniter()
    document = parse_gram(decode(path.read_bytes(), str(path)), str(path))
    patterns = document.patterns[1:] if document.header is not None else document.patterns
    others = (each for each in patterns if _LABEL not in each.value.labels)
    faults = [_fault(each, "a file of schedules has only [name:Schedule {…}]") for each in others]
    faults += schedule_faults(document)
    if faults:
        raise ValidationError.of(faults)
    return tuple(_schedule(each, path.parent) for each in patterns)


def schedule_faults(document: Document) -> tuple[Diagnostic, ...]:
    """What is wrong with the schedules of a document: their times, their programs, their inputs."""
    patterns = [each for each in document.patterns if _LABEL in each.value.labels]
    folder = Path(document.filename or "").parent
    return tuple(fault for each in patterns for fault in _faults_of(each, patterns, folder))


def _faults_of(pattern: Pattern, others: Sequence[Pattern], folder: Path) -> Iterator[Diagnostic]:
    value = pattern.value
    name, given = value.identity, value.properties
    if not name:
        yield _fault(pattern, "a schedule needs a name: [name:Schedule {…}]")
    elif [each.value.identity for each in others].count(name) > 1:
        yield _fault(pattern, f'there are two schedules "{name}"')
    missing = [each for each in ("cron", "program", "input") if each not in given]
    if missing:
        yield _fault(pattern, f'schedule "{name}" has no {", ".join(missing)}')
    wrong = list(_wrong_properties(pattern))
    yield from wrong
    if wrong or missing:
        return
    cron = str(given["cron"])
    if not _is_cron(cron):
        example = '"0 7 * * 1-5" (minute, hour, day, month, day of the week)'
        yield _fault(pattern, f'cron "{cron}" is not like {example}', "cron")
    elif not _comes(cron):
        told = f'cron "{cron}" never comes: no month that it names has such a day'
        yield _fault(pattern, told, "cron")
    try:
        schedule = _schedule(pattern, folder)
        to_submit(schedule.program, schedule.input, schedule.options)
    except OSError as error:
        yield _fault(pattern, f"{error.filename}: {error.strerror}", "program")
    except GramError as error:
        yield _fault(pattern, f"this cannot be submitted: {error}", "program")


def _wrong_properties(pattern: Pattern) -> Iterator[Diagnostic]:
    for name, given in pattern.value.properties.items():
        if name not in _PROPERTIES:
            hint = did_you_mean(name, _PROPERTIES) or f"there are {', '.join(_PROPERTIES)}"
            yield _fault(pattern, f"a schedule has no property {name}; {hint}", name)
        elif name in _TEXTS and not isinstance(given, str):
            yield _fault(pattern, f"{name} is a text, found {given!r}", name)
        elif name == "input" and not isinstance(given, str | PMap):
            told = f"input is a text, or a map of the arguments, found {given!r}"
            yield _fault(pattern, told, name)


def _schedule(pattern: Pattern, folder: Path) -> Schedule:
    given = pattern.value.properties
    program, said = folder / str(given["program"]), given["input"]
    return Schedule(
        pattern.value.identity,
        str(given["cron"]),
        load_project(program),
        said if isinstance(said, str) else _plain(said),
        KeptOptions(**{key: given.get(key) for key in ("agent", "model")}),  # type: ignore[typeddict-item]  # both are texts, as was checked
        {key: given[key] for key in ("tenant", "conversation", "priority") if key in given},
    )


def _expect_croniter() -> None:
    try:
        import croniter  # noqa: F401  # an extra
    except ImportError:
        raise ConfigurationError(
            f"schedules need Procrastinate\n  hint: {install('workers')}"
        ) from None


def _is_cron(text: str) -> bool:
    from croniter import croniter

    fields = text.split()
    has_chance = any(_CHANCE.match(each) for each in fields)  # each worker would draw another time
    return bool(croniter.is_valid(text)) and len(fields) == _FIELDS and not has_chance


def _comes(cron: str) -> bool:
    from croniter import CroniterBadDateError, croniter

    try:
        croniter(cron, 0).get_next(float)
    except CroniterBadDateError:
        return False
    return True


def _plain(value: Any) -> Any:
    """A value of gram as JSON has it."""
    if isinstance(value, PMap):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, PVector) else value


def _fault(pattern: Pattern, message: str, key: str | None = None) -> Diagnostic:
    return Diagnostic.of("schedule", message, pattern, key or "identity")
