# SPDX-License-Identifier: Apache-2.0
"""A collector of OpenTelemetry on the loopback interface: takes OTLP/HTTP in JSON, and decodes it by the protocol's published definitions
(tests/telemetry/protocol): a field that they do not have, or of another type, is a problem."""

import base64
import functools
import gzip
import http.server
import importlib
import json
import pathlib
import subprocess
import sys
import tempfile
import threading

PROTOCOL = pathlib.Path(__file__).resolve().parents[2] / "telemetry" / "protocol"
SERVICES = {"traces": ("trace", "ExportTraceServiceRequest"), "metrics": ("metrics", "ExportMetricsServiceRequest"), "logs": ("logs", "ExportLogsServiceRequest")}


@functools.lru_cache(maxsize=1)
def definitions():
    """The protocol's messages as Python classes, made by protoc."""
    folder = tempfile.TemporaryDirectory(prefix="agentforge-otlp-")
    files = [str(path.relative_to(PROTOCOL)) for path in sorted(PROTOCOL.rglob("*.proto"))]
    subprocess.run(["protoc", f"--proto_path={PROTOCOL}", f"--python_out={folder.name}", *files], check=True)
    sys.path.insert(0, folder.name)
    messages = {signal: getattr(importlib.import_module(f"opentelemetry.proto.collector.{service}.v1.{service}_service_pb2"), message)
                for signal, (service, message) in SERVICES.items()}
    sys.path.remove(folder.name)
    return messages, folder


def with_bytes(value):
    """OTLP's JSON has ids in hexadecimal, where protobuf's own JSON has base64."""
    if isinstance(value, dict):
        return {key: base64.b64encode(bytes.fromhex(item)).decode() if key in ("traceId", "spanId", "parentSpanId") else with_bytes(item) for key, item in value.items()}
    return [with_bytes(item) for item in value] if isinstance(value, list) else value


def decode(signal, body):
    """The request as protobuf's message; raises where the definitions do not allow it."""
    from google.protobuf import json_format
    messages, _ = definitions()
    return json_format.ParseDict(with_bytes(json.loads(body)), messages[signal]())


class Collector:
    """`answer` maps a signal to the status that it is answered with. `hangs`: requests are read and never answered."""

    def __init__(self, answer=None, hangs=False):
        self.answer = answer or {}
        self.requests = []          # (signal, headers, message)
        self.problems = []
        self.released = threading.Event()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                signal = self.path.rsplit("/", 1)[-1]
                try:
                    outer.requests.append((signal, dict(self.headers), decode(signal, body)))
                except Exception as problem:  # noqa: BLE001  whatever is wrong with a request is the test's business
                    outer.problems.append(f"{self.path}: {problem!r}: {body[:300]!r}")
                if hangs:
                    outer.released.wait()
                    return
                status = outer.answer.get(signal, 200)
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.released.set()
        self.server.shutdown()
        self.server.server_close()

    def messages(self, signal):
        return [message for kind, _, message in self.requests if kind == signal]

    def spans(self):
        return [span for message in self.messages("traces") for resource in message.resource_spans for scope in resource.scope_spans for span in scope.spans]

    def metrics(self):
        """Those of the last export: they are sums."""
        last = self.messages("metrics")[-1]
        return {metric.name: metric for resource in last.resource_metrics for scope in resource.scope_metrics for metric in scope.metrics}

    def lines(self):
        return [line for message in self.messages("logs") for resource in message.resource_logs for scope in resource.scope_logs for line in scope.log_records]


def values(attributes):
    return {attribute.key: getattr(attribute.value, attribute.value.WhichOneof("value")) for attribute in attributes}
