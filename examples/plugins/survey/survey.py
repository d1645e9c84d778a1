# SPDX-License-Identifier: Apache-2.0
"""A plugin of AgentForge that is a process: one tool and one stage, with the standard library alone.

AgentForge writes one JSON-RPC message a line to standard input and reads one a line from standard output; whatever else
should be seen goes to standard error. The protocol is described in docs/servers.md.
"""

import collections
import json
import pathlib
import sys

# ------------------------------------------------------------------------------------ the protocol --


class HostError(Exception):
    """What AgentForge refused, in its own words."""


class Peer:
    """Both directions of JSON-RPC on standard input and output."""

    def __init__(self):
        self.last_id = 0

    def send(self, message):
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()

    def receive(self):
        line = sys.stdin.readline()
        return json.loads(line) if line else None

    def ask(self, method, **params):
        """Asks the host for a service and waits for its answer; only while a stage runs."""
        self.last_id += 1
        self.send({"id": self.last_id, "method": method, "params": params})
        while True:
            message = self.receive()
            if message is None:
                sys.exit("the host is gone")
            if message.get("id") == self.last_id and "method" not in message:
                if "error" in message:
                    raise HostError(message["error"]["message"])
                return message["result"]
            self.answer(message)  # A ping, for instance.

    def answer(self, message):
        """Does what the host asks for."""
        method = message.get("method")
        if "id" not in message or method is None:
            return
        if method not in METHODS:
            self.send({"id": message["id"], "error": {"code": -32601, "message": f"no method {method}"}})
            return
        try:
            self.send({"id": message["id"], "result": METHODS[method](self, message.get("params", {}))})
        except HostError as error:
            self.send({"id": message["id"], "error": {"code": -32000, "message": str(error)}})


def initialize(_peer, _params):
    return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "survey", "version": "1.0.0"}}


# ---------------------------------------------------------------------------------------- the tool --


def tools_list(_peer, _params):
    return {
        "tools": [
            {
                "name": "count_words",
                "description": "Counts the words of a text file and names the most frequent ones.",
                "inputSchema": {
                    "type": "object",
                    "properties": {
                        "path": {"type": "string", "format": "path", "description": "The file, relative to the workspace"},
                        "most": {"type": "integer", "minimum": 1, "maximum": 20, "default": 3},
                    },
                    "required": ["path"],
                },
                "annotations": {"readOnlyHint": True},
            }
        ]
    }


def tools_call(_peer, params):
    arguments = params["arguments"]
    try:
        # The working folder is the workspace; the sandbox lets the process read no more than the role may.
        words = pathlib.Path(arguments["path"]).read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError) as error:
        return {"content": [{"type": "text", "text": str(error)}], "isError": True}
    most = collections.Counter(words).most_common(arguments.get("most", 3))
    text = f"{len(words)} words; most frequent: " + ", ".join(f"{word} ({count})" for word, count in most)
    return {"content": [{"type": "text", "text": text}], "structuredContent": {"words": len(words)}}


# --------------------------------------------------------------------------------------- the stage --


def stage_info(_peer, _params):
    return {"description": "Surveys the repository and lets the role describe it.", "output_fields": ["summary", "files"]}


def stage_run(peer, params):
    listing = peer.ask("host/list_files", glob="**/*.py")
    files = sorted(entry["path"] for entry in listing["entries"])
    peer.ask("host/log", level="info", message=f"{len(files)} Python files")
    outcome = peer.ask(
        "host/run_agent",
        objective="Describe this repository in one sentence.",
        instructions="Count the words of README.md with count_words, then hand in the survey.",
        state={"request": params["input"]["request"], "files": files},
    )
    if outcome.get("escalation"):
        return {"escalation": outcome["escalation"]}
    return {"artifact": {**outcome["artifact"], "files": len(files)}}


METHODS = {
    "initialize": initialize,
    "ping": lambda _peer, _params: {},
    "tools/list": tools_list,
    "tools/call": tools_call,
    "stage/info": stage_info,
    "stage/run": stage_run,
}


def main():
    peer = Peer()
    while (message := peer.receive()) is not None:
        peer.answer(message)


if __name__ == "__main__":
    main()
