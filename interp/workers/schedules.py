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
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from attrs import field, frozen
from pyrsistent import PMap, PVector

from gram import Document, GramError, Pattern, origin, parse as parse_gram
from gram.documents import decode, resolved
from gram.errors import expect
from gram.suggestions import did_you_mean
from lenses_ext import parse_program

from ..errors import ConfigurationError, ValidationError
from ..history.stores import RunStore
from ..machine import Given
from ..secrets import without_keys
from .database_errors import is_of_database
from .submission import KeptOptions, submit, to_submit

LOGGER: Final = logging.getLogger("interp.workers")

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
    program: Document
    input: Given
    options: KeptOptions = field(factory=lambda: KeptOptions())
    facts: Mapping[str, Any] = field(factory=dict)

    def run_at(self, timestamp: int) -> str:
        """The id of the run of a time."""
        return f"{self.name}-{datetime.fromtimestamp(timestamp, UTC):%Y%m%dT%H%M%SZ}"

    def times(self, after: float | None, until: float) -> Iterator[int]:
        """Its times in some period, but those that are too long ago to be made up for.

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
                said, extra = without_keys(str(error)), {"event": "schedule_failed", "run": run}
                LOGGER.warning("the run cannot be submitted: %s", said, extra=extra)


def read_schedules(path: str | Path) -> tuple[Schedule, ...]:
    """Read a file of schedules; the programs in it are found from its folder.

    Raises:
        OSError: it, or a program, cannot be read.
        GramDecodeError: it, or a program, is not gram.
        ValidationError: it has something else than schedules, or one of them is wrong.
        ConfigurationError: Procrastinate is not installed.
    """
    expect(path, (str, Path), "path", by="read_schedules")
    path = resolved(Path(path))  # refuses what is no path
    document = parse_gram(decode(path.read_bytes(), str(path)), str(path))
    patterns = document.patterns[1:] if document.header is not None else document.patterns
    schedules = tuple(_schedule(each, path.parent) for each in patterns)
    names = [each.name for each in schedules]
    for pattern in patterns:
        if names.count(pattern.value.identity) > 1:
            raise _fault(pattern, f'there are two schedules "{pattern.value.identity}"')
    return schedules


def _schedule(pattern: Pattern, folder: Path) -> Schedule:
    value = pattern.value
    if not value.identity or _LABEL not in value.labels:
        raise _fault(pattern, "a file of schedules has only [name:Schedule {…}]")
    for name, given in value.properties.items():
        if name not in _PROPERTIES:
            hint = did_you_mean(name, _PROPERTIES) or f"there are {', '.join(_PROPERTIES)}"
            raise _fault(pattern, f"a schedule has no property {name}; {hint}")
        if name in _TEXTS and not isinstance(given, str):
            raise _fault(pattern, f"{name} is a text, found {given!r}")
    for name in ("cron", "program", "input"):
        if name not in value.properties:
            raise _fault(pattern, f'schedule "{value.identity}" has no {name}')
    given = value.properties["input"]
    if not isinstance(given, str | PMap):
        raise _fault(pattern, f"input is a text, or a map of the arguments, found {given!r}")
    cron = str(value.properties["cron"])
    if not _is_cron(cron):
        example = '"0 7 * * 1-5" (minute, hour, day, month, day of the week)'
        raise _fault(pattern, f'cron "{cron}" is not like {example}')
    if not _comes(cron):
        raise _fault(pattern, f'cron "{cron}" never comes: no month that it names has such a day')
    program = folder / str(value.properties["program"])
    schedule = Schedule(
        value.identity,
        cron,
        parse_program(decode(program.read_bytes(), str(program)), str(program)),
        given if isinstance(given, str) else _plain(given),
        KeptOptions(**{key: value.properties.get(key) for key in ("agent", "model")}),  # type: ignore[typeddict-item]  # both are texts, as was checked
        {
            key: value.properties[key]
            for key in ("tenant", "conversation", "priority")
            if key in value.properties
        },
    )
    to_submit(schedule.program, schedule.input, schedule.options)  # now rather than at its time
    return schedule


def _is_cron(text: str) -> bool:
    try:
        from croniter import croniter
    except ImportError:
        raise ConfigurationError(
            "schedules need Procrastinate\n  hint: pip install 'gram-agents[workers]'"
        ) from None
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


def _fault(pattern: Pattern, message: str) -> ValidationError:
    place = origin(pattern)
    return ValidationError(f"{place}: {message}" if place else message)
