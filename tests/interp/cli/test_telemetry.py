"""Commands send spans and metrics as the variables of OpenTelemetry say."""

from __future__ import annotations

import logging
import socket
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from gram import dumps
from interp import open_store
from interp.cli.telemetry import LogLines
from tests.interp.cli.process import gram, refused, written
from tests.interp.otlp_receiver import Receiver, receiving
from tests.interp.worker_processes import GREETER, ended, until, worker

pytest.importorskip("opentelemetry.exporter", reason="the exporters are an extra: .[test]")


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found


@pytest.fixture
def program(tmp_path: Path) -> str:
    return written(tmp_path / "greeter.gram", dumps(GREETER))


def test_a_run_sends_its_spans_and_metrics(receiver: Receiver, program: str) -> None:
    done = gram("run", program, "Hello, I am Bob", OTEL_EXPORTER_OTLP_ENDPOINT=receiver.url)
    assert done.returncode == 0, done.stderr
    ((service, run),) = [each for each in receiver.spans if each[1].name.startswith("invoke_agent")]
    assert (service, run.name) == ("gram", "invoke_agent greeter")
    inside = [*receiver.named("chat"), *receiver.named("execute_tool")]
    assert {each.parent_span_id for each in inside} == {run.span_id}
    assert {"gen_ai.client.operation.duration", "gram.tool.duration"} <= receiver.metrics.keys()


def test_nothing_is_sent_where_the_variables_say_so(receiver: Receiver, program: str) -> None:
    for said in ({"OTEL_SDK_DISABLED": "true"}, {"OTEL_TRACES_EXPORTER": "none"}):
        variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url, **said}
        assert gram("run", program, "Hello", **variables).returncode == 0
    assert receiver.spans == []


def test_a_receiver_that_is_away_is_told_of_once_and_changes_no_answer(program: str) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        variables = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{closed.getsockname()[1]}",
            "OTEL_EXPORTER_OTLP_TIMEOUT": "1",
        }
        done = gram("run", program, "Hello, I am Bob", **variables)

    assert (done.returncode, done.stdout) == (0, "Hello, Bob! Nice to meet you.\n")
    assert done.stderr.count("gram: telemetry: ") == 1, done.stderr


def test_an_exporter_that_is_not_installed_is_named(program: str) -> None:
    done = gram("run", program, "Hello", OTEL_TRACES_EXPORTER="zipkin")
    refused(done, 4, "no exporter zipkin is installed")


def test_one_trace_goes_from_submit_to_its_worker(
    receiver: Receiver, program: str, database: str
) -> None:
    variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url}
    submitted = gram("submit", program, "Hello, I am Bob", "--record", database, **variables)
    assert submitted.returncode == 0, submitted.stderr
    with worker(database, **variables) as working, open_store(database) as store:
        until(ended(store, submitted.stdout.strip()))
        assert working.stop() == 0

    (submit,), (run,) = receiver.named("submit"), receiver.named("invoke_agent")
    assert run.trace_id == submit.trace_id
    assert run.parent_span_id == submit.span_id
    assert "gram.runs.ended" in receiver.metrics


def test_a_worker_serves_metrics_as_prometheus_reads_them(program: str, database: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    later = ("--not-before", "2099-01-01T00:00")
    waits = gram("submit", program, "Hello", *later, "--record", database)
    run = gram("submit", program, "Hello, I am Bob", "--record", database).stdout.strip()
    assert waits.returncode == 0, waits.stderr

    with worker(database, "--metrics", str(port)), open_store(database) as store:
        until(ended(store, run))

        def page() -> str:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as found:
                text: str = found.read().decode()
            return text

        until(lambda: "gram_runs_ended_total{" in page())
        text = page()

    assert 'gram_runs{otel_scope_name="gram-agents"' in text
    for name in ("gram_queue_depth", "gram_queue_oldest_seconds", "gram_tool_duration_seconds"):
        assert f"# HELP {name}" in text, name
    assert 'status="queued"} 1.0' in text


def test_a_port_that_is_taken_is_told(database: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = gram("worker", "--record", database, "--metrics", str(taken.getsockname()[1]))
    assert (done.returncode, "--metrics" in done.stderr) == (2, True)


@pytest.mark.parametrize("as_json", [False, True])
def test_the_line_of_an_error_has_what_was_raised(
    monkeypatch: pytest.MonkeyPatch, as_json: bool
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "a-key-of-sixteen-or-more")
    try:
        raise ValueError("the key is a-key-of-sixteen-or-more")
    except ValueError as error:
        given = {"msg": "failed", "exc_info": (ValueError, error, error.__traceback__)}
    line = LogLines(as_json=as_json).format(logging.makeLogRecord(given))
    assert "ValueError: the key is [redacted]" in line
    assert len(line.splitlines()) == 1 or not as_json


def test_the_name_of_a_conversation_adds_no_line_and_no_field() -> None:
    given = {"msg": "done", "run": "a1", "conversation": "a b\nrun=b2 event=run_done"}
    line = LogLines().format(logging.makeLogRecord(given))
    assert line.endswith(r' run=a1 conversation="a b\nrun=b2 event=run_done" done')
