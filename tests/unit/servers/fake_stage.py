# SPDX-License-Identifier: Apache-2.0
"""A stage that is a process and does what its one argument says: `fake_stage.py FAULT`. Standard library only."""

import json
import signal
import sys

FAULT = sys.argv[1]
DONE = {"artifact": {"answer": 42}}
RESULTS = {
    "nothing": {},
    "a-list": [],
    "unknown-field": {"artifact": {}, "extra": 1},
    "fails": {"failed": "no luck today"},
    "escalates": {"escalation": {"reason": "r", "question": "q?", "options": ["a", "b"]}},
    "escalates-badly": {"escalation": {"reason": "r"}},
    "cycles": {"cycle_to": "spec", "cycle_reason": "it is wrong"},
    "measures": {**DONE, "metrics": {"lines": 3}},
}


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def ask(method, **params):
    send({"id": "mine", "method": method, "params": params})
    return json.loads(sys.stdin.readline())


def run():
    if FAULT == "hangs":
        signal.pause()
    if FAULT == "dies":
        sys.exit("out of luck")
    if FAULT == "asks-the-unknown":
        return {"artifact": ask("host/format_disk")["error"]}
    if FAULT == "asks-wrongly":
        return {"artifact": ask("host/run_agent", objective="x", objektive="y")["error"]}
    if FAULT == "asks":
        return {"artifact": ask("host/ask_model", prompt="How many?")["result"]}
    if FAULT == "logs":
        send({"method": "host/log", "params": {"level": "warning", "message": "look out"}})
        return DONE
    return RESULTS.get(FAULT, DONE)


for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "initialize":
        send({"id": message["id"], "result": {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "stage"}}})
    elif method == "stage/info":
        if FAULT == "no-info":
            send({"id": message["id"], "error": {"code": -32601, "message": "method not found"}})
        else:
            send({"id": message["id"], "result": {"output_fields": 7} if FAULT == "odd-info" else {"description": "A stage", "output_fields": ["answer"]}})
    elif method == "stage/run":
        if FAULT == "raises":
            send({"id": message["id"], "error": {"code": -32000, "message": "it broke"}})
        else:
            send({"id": message["id"], "result": run()})
