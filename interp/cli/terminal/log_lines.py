"""The log on standard error: for people who watch a run, and as lines that operators collect."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

import click

from .output import tell

_FIELDS: Final = ("event", "run", "conversation", "worker")
"""What a line says of a record beside its time, its level and its message, where it is known."""


def show_logs(
    level: int, formatter: logging.Formatter | None = None, others: Iterable[str] = ()
) -> None:
    """Show the log of the package on standard error; it contains no keys.

    Args:
        level: the level of what is shown, and of what is worse.
        formatter: how a record is shown; by default with the name of its logger.
        others: packages whose warnings and errors are shown, too.
    """
    handler = _Handler()
    handler.setFormatter(formatter or logging.Formatter("%(name)s: %(message)s"))
    for name, least in {"interp": level, **dict.fromkeys(others, logging.WARNING)}.items():
        logger = logging.getLogger(name)
        logger.addHandler(handler)
        logger.setLevel(least)
        logger.propagate = False


class _Handler(logging.Handler):
    """Shows what is logged as notes are shown: safe for a terminal."""

    def emit(self, record: logging.LogRecord) -> None:
        tell(self.format(record))


class LogLines(logging.Formatter):
    """Lines with the time in UTC, the level, the fields and the message.

    Args:
        as_json: whether each is an object of JSON.

    >>> record = logging.makeLogRecord({"msg": "done", "levelname": "INFO", "created": 0.0})
    >>> record.run = "a1"
    >>> LogLines().format(record)
    '1970-01-01T00:00:00.000Z INFO run=a1 done'
    >>> LogLines(as_json=True).format(record)
    '{"time": "1970-01-01T00:00:00.000Z", "level": "INFO", "run": "a1", "message": "done"}'
    """

    def __init__(self, *, as_json: bool = False) -> None:
        super().__init__()
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        """One record; further lines of its message are indented, so that none looks like one."""
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        shown = {"time": time.replace("+00:00", "Z"), "level": record.levelname}
        fields = {name: str(getattr(record, name)) for name in _FIELDS if hasattr(record, name)}
        message = record.getMessage()
        if self._as_json:
            return json.dumps({**shown, **fields, "message": message}, ensure_ascii=False)
        named = [f"{name}={value}" for name, value in fields.items()]
        return " ".join([*shown.values(), *named, "\n    ".join(message.splitlines())])


log_format_option = click.option(
    "--log-format",
    "log_lines",
    type=click.Choice(["text", "json"]),
    default="text",
    callback=lambda _, __, form: LogLines(as_json=form == "json"),
    help="How the lines of the log are written, on standard error; text.",
)
"""The option for the form of the log's lines, which it gives."""
