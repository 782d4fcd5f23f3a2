"""What operators see of commands: the lines of the log, spans and metrics.

Where spans and metrics go, the ``OTEL_*`` variables of OpenTelemetry and ``--metrics`` say.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import entry_points
from typing import Any, Final

import click

from gram.extras import install

from ..errors import ConfigurationError
from ..execution import Telemetry
from ..secrets import without_keys
from .terminal.console import note, tell

_FIELDS: Final = ("event", "run", "conversation", "worker")
"""What a line says of a record beside its time, its level and its message, where it is known."""
_PLAIN: Final = re.compile(r'[^\s"=]+')  # other values are quoted: a conversation may have any name


def show_logs(
    level: int, formatter: logging.Formatter | None = None, others: Iterable[str] = ()
) -> None:
    """Show the log of the package on standard error; it contains no keys.

    Args:
        level: the level of what is shown, and of what is worse.
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
        if record.exc_info:  # what went wrong in a library
            message += "\n" + without_keys(self.formatException(record.exc_info))
        if self._as_json:
            return json.dumps({**shown, **fields, "message": message}, ensure_ascii=False)
        named = [
            f"{name}={value if _PLAIN.fullmatch(value) else json.dumps(value)}"
            for name, value in fields.items()
        ]
        return " ".join([*shown.values(), *named, "\n    ".join(message.splitlines())])


_HINT: Final = install("telemetry")
_PROTOCOLS: Final = {"http/protobuf": "otlp_proto_http", "grpc": "otlp_proto_grpc"}


@contextmanager
def telemetry(
    metrics: str | None = None, readers: Sequence[Any] = ()
) -> Iterator[Telemetry | None]:
    """What makes spans and metrics, if the environment names where they go; sent at the end.

    Args:
        metrics: where metrics are served as Prometheus reads them: a port, or ``host:port``.
        readers: what else reads the metrics.
    """
    traces, measures = _exporters("traces"), _exporters("metrics")
    if metrics is None and not (readers or traces or measures):
        yield None
        return
    try:
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise ConfigurationError(f"telemetry needs OpenTelemetry\n  hint: {_HINT}") from None

    logger = logging.getLogger("opentelemetry")
    logger.addHandler(_Told(logging.WARNING))
    logger.propagate = False
    resource = Resource.create()
    if str(resource.attributes[SERVICE_NAME]).startswith("unknown_service"):
        resource = resource.merge(Resource({SERVICE_NAME: "gram"}))
    tracer = TracerProvider(resource=resource)
    for each in traces:
        tracer.add_span_processor(BatchSpanProcessor(each))
    readers = [*readers, *(PeriodicExportingMetricReader(each) for each in measures)]
    if metrics is not None:
        readers.append(_served(metrics))
    meter = MeterProvider(readers, resource=resource)
    content = os.environ.get("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "")
    try:
        yield Telemetry(tracer, meter_provider=meter, content=content.lower() == "true")
    finally:
        tracer.shutdown()
        meter.shutdown()


def _exporters(signal: str) -> list[Any]:
    """What sends spans or metrics to where the environment says."""
    names = os.environ.get(f"OTEL_{signal.upper()}_EXPORTER", "")
    own = f"OTEL_EXPORTER_OTLP_{signal.upper()}_"
    if not names and (
        os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or os.environ.get(f"{own}ENDPOINT")
    ):
        names = "otlp"
    if os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true" or names == "none":
        return []
    found = []
    for name in filter(None, map(str.strip, names.split(","))):
        if name == "otlp":
            protocol = os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
            name = _PROTOCOLS.get(os.environ.get(f"{own}PROTOCOL", protocol), protocol)
        points = entry_points(group=f"opentelemetry_{signal}_exporter", name=name)
        if not points:
            raise ConfigurationError(
                f"OTEL_{signal.upper()}_EXPORTER: no exporter {name} is installed\n  hint: {_HINT}"
            )
        found.append(next(iter(points)).load()())
    return found


def _served(metrics: str) -> Any:
    """A reader of metrics that are served over HTTP."""
    host, _, port = metrics.rpartition(":")
    try:
        from opentelemetry.exporter.prometheus import PrometheusMetricReader
        from prometheus_client import start_http_server
    except ImportError:
        raise ConfigurationError(f"--metrics needs prometheus-client\n  hint: {_HINT}") from None
    if not port.isdecimal() or not 0 < int(port) < 2**16:
        raise click.UsageError(f"--metrics {metrics}: write a port, or HOST:PORT")
    try:
        start_http_server(int(port), host or "127.0.0.1")
    except OSError as error:
        raise OSError(error.errno, error.strerror, f"--metrics {metrics}") from None
    return PrometheusMetricReader()


class _Told(logging.Handler):
    """Says once that telemetry cannot be sent; commands go on without."""

    def emit(self, record: logging.LogRecord) -> None:
        self.setLevel(logging.CRITICAL + 1)
        note(f"gram: telemetry: {record.getMessage()}")
