"""A real OTLP receiver on loopback: what is sent to it is read by protobuf."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from attrs import define, field


@define
class Receiver:
    """What was received.

    Attributes:
        url: where it is sent to.
        spans: the spans, each with its service's name.
        metrics: the metrics by their names, the latest of each.
    """

    url: str = ""
    spans: list[tuple[str, Any]] = field(factory=list)
    metrics: dict[str, Any] = field(factory=dict)

    def named(self, beginning: str) -> list[Any]:
        """The spans whose names begin so."""
        return [span for _, span in self.spans if span.name.startswith(beginning)]

    def take(self, path: str, body: bytes) -> None:
        """Read a request."""
        from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2
        from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

        if path == "/v1/traces":
            sent = trace_service_pb2.ExportTraceServiceRequest.FromString(body)
            for resource in sent.resource_spans:
                names = {each.key: each.value.string_value for each in resource.resource.attributes}
                for scope in resource.scope_spans:
                    self.spans += [(names["service.name"], span) for span in scope.spans]
        else:
            measured = metrics_service_pb2.ExportMetricsServiceRequest.FromString(body)
            for resource in measured.resource_metrics:
                for scope in resource.scope_metrics:
                    self.metrics |= {each.name: each for each in scope.metrics}


@contextmanager
def receiving() -> Iterator[Receiver]:
    """A receiver on loopback."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # as http.server calls it
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                import gzip

                body = gzip.decompress(body)
            receiver.take(self.path, body)
            self.send_response(200)
            self.send_header("content-type", "application/x-protobuf")
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        receiver.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield receiver
        finally:
            server.shutdown()
            thread.join()
