# SPDX-License-Identifier: Apache-2.0
"""A model's server on the loopback interface: Anthropic's Messages API, OpenAI's chat completions and its Responses, with and without streaming.

It answers from a transcript as the replay backend does. An entry with `stop: length` or `stop: refused`, or with a text as a call's
arguments, makes a bad answer. The server finds the stage and the role in the system prompt, and counts its answers to that role in that
stage to find the step. If a request offers none of AgentForge's tools, the answer's action is text.
"""

import base64
import collections
import http.server
import json
import re
import threading

import yaml

KEY = "sk-scripted-5f1d0c7e"
PIECE = 37
INPUT_TOKENS, CACHED_TOKENS, OUTPUT_TOKENS = 40, 2000, 30


EDITS = '''
import json, os, pathlib
def do(calls, artifact):
    for call in calls:
        arguments = call["arguments"]
        path = pathlib.Path(arguments["path"])
        if call["name"] == "create_file":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(arguments["content"], encoding="utf-8")
        elif call["name"] == "delete_file":
            path.unlink()
        else:
            text = path.read_text(encoding="utf-8")
            path.write_text(text.replace(arguments["search"], arguments["replace"]), encoding="utf-8")
    if artifact is not None:
        pathlib.Path(os.environ["AGENTFORGE_ARTIFACT"]).write_text(json.dumps(artifact), encoding="utf-8")
'''


def role_names(config):
    """Returns a map from a role's display name, which prompts use, to the role."""
    names = {}
    for file in sorted((config / "agents").glob("*.yaml")):
        agent = (yaml.safe_load(file.read_text(encoding="utf-8")) or {}).get("agent", {})
        if "display_name" in agent:
            names[agent["display_name"]] = agent.get("role", file.stem)
    return names


class ModelServer:
    """`fail` maps the number of a request (from 1) to a failure instead of its answer: `overloaded`, `cut` or `error_event`. `before` maps
    the number to a function that the server calls before it answers. If the function returns False, the server does not answer."""

    def __init__(self, transcript, config, fail=None, before=None):
        self.entries = transcript["entries"]
        self.roles = role_names(config)
        self.fail = dict(fail or {})
        self.before = dict(before or {})
        self.requests = []          # (api, headers, body)
        self.problems = []
        self.connections = 0
        self.answered = collections.Counter()
        self.lock = threading.Lock()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                outer.connections += 1

            def handle(self):
                try:
                    super().handle()
                except ConnectionError:     # The client is gone.
                    pass

            def do_GET(self):
                self.send_json(200, {"data": [{"id": "scripted"}]})

            def do_HEAD(self):
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.answer(self, body)

            def send_json(self, status, value, headers=()):
                data = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                for name, content in headers:
                    self.send_header(name, content)
                self.end_headers()
                self.wfile.write(data)

            def send_events(self, events, cut=False):
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                for event in events[:len(events) // 2] if cut else events:
                    data = event.encode()
                    self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                    self.wfile.flush()
                if not cut:
                    self.wfile.write(b"0\r\n\r\n")
                self.close_connection = cut

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def answer(self, handler, body):
        with self.lock:
            path = handler.path.partition("?")[0]
            api = {"messages": "anthropic", "responses": "responses"}.get(path.rpartition("/")[2], "openai")
            self.requests.append((api, dict(handler.headers), body))
            trouble = self.fail.get(len(self.requests))
            works = next((tool["name"] for tool in body.get("tools", []) if tool.get("name") in ("Bash", "exec_command")), None)
            if works:
                entry = self.turn(api, body, works)
            else:
                entry = None if trouble == "overloaded" else self.entry(system_prompt(api, body), count=trouble is None)
            if entry is not None and not works and not any(tool.get("name", tool.get("function", {}).get("name")) == "complete" for tool in body.get("tools", [])):
                entry = {**entry, "text": "\n".join([entry.get("text", "")] + [action(call) for call in entry.get("tool_calls", [])]), "tool_calls": []}
        if self.before.get(len(self.requests), lambda: None)() is False:
            handler.close_connection = True
            return
        if trouble == "overloaded":
            error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
            handler.send_json(529, error, [("retry-after-ms", "10")])
            return
        if entry is None:
            handler.send_json(400, {"error": {"type": "invalid_request_error", "message": "the transcript has no answer for this"}})
            return
        make = {"anthropic": anthropic, "openai": openai, "responses": responses}[api]
        whole, events = make(entry, body.get("model", "scripted"))
        if trouble == "error_event":
            events = events[:2] + ['event: error\ndata: {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}\n\n']
        if body.get("stream"):
            handler.send_events(events, cut=trouble == "cut")
        else:
            handler.send_json(200, whole)

    def place(self, text):
        stage, role = re.search(r"^Stage: (\S+)$", text, re.M), re.search(r"^# Role: (.+)$", text, re.M)
        if not stage or not role:
            self.problems.append(f"no stage or role in: {text[:300]}")
            return None, None
        return stage.group(1), self.roles.get(role.group(1))

    def turn(self, api, body, shell):
        """Answers one turn of an agentic command: first all edits of its stage and role through its shell, then (claude) the artifact through its Write, then text."""
        texts = [part for message in body.get("messages", body.get("input", [])) for part in message.get("content", []) if isinstance(part, dict)]
        prompt = next((part["text"] for part in texts if "# Role: " in part.get("text", "")), "")
        stage, role = self.place(prompt)
        mine = sorted((entry for entry in self.entries if entry["stage"] == stage and entry.get("role") == role), key=lambda entry: entry["step"])
        calls = [call for entry in mine for call in entry.get("tool_calls", [])]
        artifact = next((call["arguments"] for call in reversed(calls) if call["name"] == "complete"), None)
        done = sum(part.get("type") == "tool_result" for part in texts) + sum(item.get("type") == "function_call_output" for item in body.get("input", []))
        if done == 0:
            edits = [call for call in calls if call["name"] in ("create_file", "edit_file", "delete_file")]
            code = base64.b64encode((EDITS + f"do({edits!r}, {artifact if api == 'responses' else None!r})\n").encode()).decode()
            command = f"/usr/bin/python3 -B -c \"import base64; exec(base64.b64decode('{code}'))\""
            return {"turn": "0", "tool_calls": [{"name": shell, "arguments": {"command" if shell == "Bash" else "cmd": command}}]}
        if done == 1 and api == "anthropic":
            file = re.search(r"(/\S+/artifact\.yaml)", prompt).group(1)
            return {"turn": "1", "tool_calls": [{"name": "Write", "arguments": {"file_path": file, "content": json.dumps(artifact)}}]}
        return {"turn": "2", "text": f"{role} is done with {stage}"}

    def entry(self, system, count):
        stage, role = self.place(system)
        step = self.answered[stage, role] + 1
        for candidate in self.entries:
            if candidate["stage"] == stage and candidate.get("role") == role and candidate["step"] == step:
                if count:
                    self.answered[stage, role] += 1
                return candidate
        self.problems.append(f"no answer for {stage}, {role}, step {step}")
        return None


def system_prompt(api, body):
    """Returns the text before the context. A command may add its own text there, or send all of it in another place."""
    if api == "anthropic":
        system = body.get("system", [])
        return system if isinstance(system, str) else "\n".join(part["text"] for part in system)
    if api == "openai":
        return body["messages"][0]["content"]
    messages = [body.get("instructions", "")]
    for message in body["input"]:
        if message.get("role") in ("developer", "system"):
            messages += [part.get("text", "") for part in message["content"]]
    return "\n".join(messages)


def action(call):
    """Returns a tool call in the text protocol (docs/agents.md)."""
    lines = [f"ACTION {call['name']}"]
    arguments = {"artifact": call["arguments"]} if call["name"] == "complete" else call["arguments"]
    for name, value in arguments.items():
        if not isinstance(value, str):
            text = json.dumps(value, ensure_ascii=False)
        elif value and "\n" not in value and name not in ("content", "search", "replace", "patch"):
            lines.append(f"{name}: {value}")
            continue
        else:
            text = value
        mark = name
        if name == "content":
            if text.endswith("\n"):
                text = text[:-1]
            else:
                mark = "content-"
        lines += [f"<<<{mark}", text, f">>>{mark.rstrip('-')}"]
    return "\n".join([*lines, "END"])


def pieces(text):
    return [text[at:at + PIECE] for at in range(0, len(text), PIECE)] or [""]


def as_text(arguments):
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def anthropic(entry, model):
    content, events = [], []

    def event(kind, **data):
        events.append(f"event: {kind}\ndata: {json.dumps({'type': kind, **data}, ensure_ascii=False)}\n\n")

    usage = {"input_tokens": INPUT_TOKENS, "cache_read_input_tokens": CACHED_TOKENS, "cache_creation_input_tokens": 0, "output_tokens": 1}
    turn = entry.get("turn", "")        # A conversation of several turns tells them apart by their ids.
    event("message_start", message={"id": f"msg_1{turn}", "type": "message", "role": "assistant", "model": model, "content": [], "usage": usage})
    event("ping")
    if entry.get("text"):
        index = len(content)
        content.append({"type": "text", "text": entry["text"]})
        event("content_block_start", index=index, content_block={"type": "text", "text": ""})
        for piece in pieces(entry["text"]):
            event("content_block_delta", index=index, delta={"type": "text_delta", "text": piece})
        event("content_block_stop", index=index)
    for number, call in enumerate(entry.get("tool_calls", [])):
        index = len(content)
        content.append({"type": "tool_use", "id": f"toolu_{turn}{number}", "name": call["name"], "input": call["arguments"]})
        event("content_block_start", index=index, content_block={**content[-1], "input": {}})
        for piece in pieces(as_text(call["arguments"])):
            event("content_block_delta", index=index, delta={"type": "input_json_delta", "partial_json": piece})
        event("content_block_stop", index=index)
    reason = {"length": "max_tokens", "refused": "refusal"}.get(entry.get("stop"), "tool_use" if entry.get("tool_calls") else "end_turn")
    event("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage={"output_tokens": OUTPUT_TOKENS})
    event("message_stop")
    whole = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": content, "stop_reason": reason,
             "usage": {**usage, "output_tokens": OUTPUT_TOKENS}}
    return whole, events


def openai(entry, model):
    events = []

    def chunk(delta, reason=None):
        data = {"id": "c1", "object": "chat.completion.chunk", "model": model, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
        events.append(f"data: {json.dumps(data, ensure_ascii=False)}\n\n")

    calls = []
    chunk({"role": "assistant", "content": ""})
    for piece in pieces(entry["text"]) if entry.get("text") else []:
        chunk({"content": piece})
    for number, call in enumerate(entry.get("tool_calls", [])):
        arguments = as_text(call["arguments"])
        calls.append({"id": f"call_{number}", "type": "function", "function": {"name": call["name"], "arguments": arguments}})
        chunk({"tool_calls": [{"index": number, **calls[-1], "function": {"name": call["name"], "arguments": ""}}]})
        for piece in pieces(arguments):
            chunk({"tool_calls": [{"index": number, "function": {"arguments": piece}}]})
    reason = {"length": "length", "refused": "content_filter"}.get(entry.get("stop"), "tool_calls" if calls else "stop")
    chunk({}, reason)
    usage = {"prompt_tokens": INPUT_TOKENS + CACHED_TOKENS, "completion_tokens": OUTPUT_TOKENS, "prompt_tokens_details": {"cached_tokens": CACHED_TOKENS}}
    events.append(f"data: {json.dumps({'id': 'c1', 'choices': [], 'usage': usage})}\n\n")
    events.append("data: [DONE]\n\n")
    message = {"role": "assistant", "content": entry.get("text"), **({"tool_calls": calls} if calls else {})}
    return {"id": "c1", "model": model, "choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": usage}, events


def responses(entry, model):
    """Answers in the Responses API, which `codex` uses. Text only, because a plain model's action is text."""
    events = []

    def event(kind, **data):
        events.append(f"event: {kind}\ndata: {json.dumps({'type': kind, **data}, ensure_ascii=False)}\n\n")

    usage = {"input_tokens": INPUT_TOKENS + CACHED_TOKENS, "input_tokens_details": {"cached_tokens": CACHED_TOKENS}, "output_tokens": OUTPUT_TOKENS,
             "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": INPUT_TOKENS + CACHED_TOKENS + OUTPUT_TOKENS}
    whole = {"id": "resp_1", "object": "response", "model": model, "status": "completed", "output": [], "usage": usage}
    event("response.created", response={"id": "resp_1"})
    for number, item in enumerate(output_items(entry)):
        event("response.output_item.added", output_index=number, item={**item, **({"content": []} if item["type"] == "message" else {})})
        for piece in pieces(item["content"][0]["text"]) if item["type"] == "message" else []:
            event("response.output_text.delta", item_id=item["id"], output_index=number, content_index=0, delta=piece)
        event("response.output_item.done", output_index=number, item=item)
        whole["output"].append(item)
    event("response.completed", response=whole)
    return whole, events


def output_items(entry):
    for number, call in enumerate(entry.get("tool_calls", [])):
        yield {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": call["name"], "arguments": json.dumps(call["arguments"], ensure_ascii=False)}
    if entry.get("text"):
        yield {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": entry["text"], "annotations": []}]}
