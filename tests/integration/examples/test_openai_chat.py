# SPDX-License-Identifier: Apache-2.0
"""examples/models/openai_chat.py against a server of our own on the loopback interface."""
import http.server
import json
import pathlib
import socket
import subprocess
import sys
import threading
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[3] / "examples" / "models" / "openai_chat.py"


def completion(text, reason="stop"):
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": reason}]}).encode()


class Server:
    """Gives one prepared answer and keeps what it was asked."""

    def __init__(self, status=200, body=completion("pong"), headers=None):
        outer = self
        self.requests = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                outer.requests.append((self.path, dict(self.headers), self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(status)
                for name, value in (headers or {}).items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def __enter__(self):
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def run(url, prompt="ping", arguments=(), **environment):
    environment = {"PATH": "/usr/bin:/bin", "OPENAI_BASE_URL": url, "OPENAI_MODEL": "tiny", **environment}
    return subprocess.run([sys.executable, "-B", str(SCRIPT), *arguments], input=prompt.encode(), capture_output=True, check=False, timeout=60,
                          env={name: value for name, value in environment.items() if value is not None})


class OpenAiChat(unittest.TestCase):
    def test_the_answer_is_printed(self):
        with Server(body=completion("grün ✓")) as server:
            self.assertEqual(run(server.url).stdout.decode(), "grün ✓\n")

    def test_the_prompt_and_the_model_are_posted(self):
        with Server() as server:
            run(server.url, "two\nlines")
            path, _, body = server.requests[0]
            self.assertEqual((path, json.loads(body)), ("/v1/chat/completions", {"model": "tiny", "messages": [{"role": "user", "content": "two\nlines"}], "stream": False}))

    def test_the_key_is_a_bearer_token(self):
        with Server() as server:
            run(server.url, OPENAI_API_KEY="k1")
            self.assertEqual(server.requests[0][1]["Authorization"], "Bearer k1")

    def test_without_a_key_nothing_is_sent_for_it(self):
        with Server() as server:
            run(server.url)
            self.assertNotIn("Authorization", server.requests[0][1])

    def test_options_go_before_the_environment(self):
        with Server() as server:
            run("http://127.0.0.1:1/v1", arguments=["--base-url", server.url + "/", "--model", "other"])
            self.assertEqual(json.loads(server.requests[0][2])["model"], "other")

    def test_a_refusal_is_told_in_the_servers_words(self):
        with Server(401, b'{"error": {"message": "bad key"}}') as server:
            ran = run(server.url)
            self.assertEqual((ran.returncode, ran.stdout), (1, b""))
            self.assertRegex(ran.stderr.decode(), r"401 .*bad key")

    def test_a_redirect_is_not_followed(self):
        with Server() as other, Server(307, b"", {"Location": other.url + "/chat/completions"}) as server:
            self.assertEqual((run(server.url, OPENAI_API_KEY="k1").returncode, other.requests), (1, []))

    def test_an_answer_that_is_no_completion_is_an_error(self):
        for body in (b"<html>", b"[]", b'{"choices": []}', completion(None), completion(" ")):
            with self.subTest(body=body), Server(body=body) as server:
                self.assertEqual(run(server.url).returncode, 1)

    def test_an_answer_that_was_cut_off_is_said(self):
        with Server(body=completion("half", "length")) as server:
            self.assertIn(b"cut the answer off", run(server.url).stderr)

    def test_a_server_that_is_not_there_is_an_error_of_its_own(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            ran = run(f"http://127.0.0.1:{unused.getsockname()[1]}/v1")
        self.assertEqual(ran.returncode, 3)
        self.assertIn(b"no connection to", ran.stderr)

    def test_a_missing_model_is_a_usage_error(self):
        ran = run("http://127.0.0.1:1/v1", OPENAI_MODEL=None)
        self.assertEqual(ran.returncode, 2)
        self.assertIn(b"OPENAI_MODEL", ran.stderr)

    def test_an_empty_prompt_is_a_usage_error(self):
        self.assertEqual(run("http://127.0.0.1:1/v1", " \n").returncode, 2)

    def test_a_base_url_of_another_scheme_is_refused(self):
        self.assertEqual(run("file:///etc/passwd").returncode, 2)

    def test_an_unknown_option_is_a_usage_error(self):
        self.assertEqual(run("http://127.0.0.1:1/v1", arguments=["--modle", "x"]).returncode, 2)


if __name__ == "__main__":
    unittest.main()
