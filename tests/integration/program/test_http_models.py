# SPDX-License-Identifier: Apache-2.0
"""The demo's request with its model behind HTTP: both APIs, streamed, with a server that stumbles; the same commit tree as replayed."""

import functools
import json
import re

from harness import REQUEST, SOURCE, ProgramTest, load_transcript, main
from model_server import CACHED_TOKENS, INPUT_TOKENS, KEY, OUTPUT_TOKENS, ModelServer


@functools.lru_cache(maxsize=1)
def replayed_tree():
    test = ProgramTest()
    test.setUp()
    try:
        test.make_repository()
        outcome = test.start()
        test.assert_code(outcome, 0)
        return test.delivered_tree()
    finally:
        test.doCleanups()


class HttpModel(ProgramTest):
    def serve(self, transcript=None, **options):
        server = ModelServer(transcript or load_transcript(), SOURCE / "config", **options)
        self.addCleanup(server.close)
        return server

    def model(self, server, backend, key=KEY):
        self.environment["SCRIPTED_MODEL_KEY"] = key
        base = server.url + ("/v1" if backend == "openai" else "")
        return ["--set", f"llm.backend={backend}", "--set", "llm.model=scripted", "--set", f"llm.base_url={base}", "--set", "llm.api_key_env=SCRIPTED_MODEL_KEY"]


class Delivery(HttpModel):
    """One run, looked at from all sides. The third answer breaks off, the fifth attempt finds the server overloaded, the seventh an error event."""

    backend = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shared = HttpModel()
        cls.shared.setUp()
        cls.shared.make_repository()
        cls.server = cls.shared.serve(fail={3: "cut", 5: "overloaded", 7: "error_event"})
        cls.outcome = cls.shared.run_program("start", *cls.shared.model(cls.server, cls.backend), REQUEST)

    @classmethod
    def tearDownClass(cls):
        cls.shared.doCleanups()
        super().tearDownClass()

    def setUp(self):
        super().setUp()
        self.repository, self.environment, self.state = self.shared.repository, self.shared.environment, self.shared.state
        if self.outcome.code != 0:
            self.fail(f"{self.outcome}\n{self.server.problems}")

    def test_delivers_the_same_tree_as_the_replayed_run(self):
        self.assertEqual(self.delivered_tree(), replayed_tree())

    def test_a_server_that_stumbles_costs_a_retry_each(self):
        self.assertEqual(len(self.server.requests), len(load_transcript()["entries"]) + 3)

    def test_every_request_is_one_of_this_api_and_streamed(self):
        self.assertEqual({(api, body["stream"]) for api, _, body in self.server.requests}, {(self.backend, True)})

    def test_the_key_is_in_no_file_and_no_output(self):
        self.assertNotIn(KEY, self.outcome.all)
        for folder in (self.repository, self.state):
            found = [str(path) for path in folder.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
            self.assertEqual(found, [])

    def test_the_journal_holds_the_servers_figures(self):
        text = json.dumps(self.journal(), default=str)
        for name, figure in (("input_tokens", INPUT_TOKENS + CACHED_TOKENS), ("output_tokens", OUTPUT_TOKENS)):
            self.assertIn(f'"{name}": {figure}', text)

    def test_the_prefix_of_a_role_stays_the_same_bytes(self):
        prefixes = {}
        for _, _, body in self.server.requests:
            system = body["system"] if self.backend == "anthropic" else body["messages"][0]
            place = tuple(re.findall(r"(?:# Role|Stage): [A-Za-z ]+", json.dumps(system)))
            prefixes.setdefault(place, set()).add(json.dumps([body["tools"], system]))
        self.assertGreater(len(prefixes), 8)
        self.assertEqual([place for place, kinds in prefixes.items() if len(kinds) != 1], [])

    def test_no_request_has_more_than_8000_tokens_tools_included(self):
        # Counted without the program: pieces of four letters or three digits, each sign, each stretch of white space. Tokenisers count less.
        def tokens(value):
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            return len(re.findall(r"[A-Za-z]{1,4}|\d{1,3}|[^\w\s]|_|\s+", text))

        counts = []
        for _, _, body in self.server.requests:
            parts = [body["messages"][-1]["content"], body["system"][0]["text"] if self.backend == "anthropic" else body["messages"][0]["content"]]
            counts.append(tokens(body["tools"]) + sum(map(tokens, parts)))
        self.assertLessEqual(max(counts), 8000)
        self.assertGreater(min(counts), 1000)

    def test_a_tool_must_be_called(self):
        choice = {"type": "any", "disable_parallel_tool_use": True} if self.backend == "anthropic" else "required"
        self.assertEqual([body for _, _, body in self.server.requests if body["tool_choice"] != choice], [])


class TestAnthropic(Delivery):
    backend = "anthropic"


class TestOpenAi(Delivery):
    backend = "openai"


class TestHttpTrouble(HttpModel):
    def setUp(self):
        super().setUp()
        self.make_repository()

    def test_doctor_says_what_the_server_has(self):
        server = self.serve()
        for backend in ("anthropic", "openai"):
            outcome = self.run_program("doctor", *self.model(server, backend))
            self.assertIn("answers, 1 model; it lists 'scripted'", outcome.out, outcome)

    def test_answers_that_are_not_streamed_deliver_the_same_tree(self):
        server = self.serve()
        outcome = self.run_program("start", *self.model(server, "openai"), "--set", "llm.settings={stream: false}", REQUEST)
        self.assert_code(outcome, 0)
        self.assertEqual({body["stream"] for _, _, body in server.requests}, {False})
        self.assertEqual(self.delivered_tree(), replayed_tree())

    def test_a_missing_key_pauses_the_task_and_the_key_lets_it_go_on(self):
        server = self.serve()
        self.model(server, "anthropic")
        del self.environment["SCRIPTED_MODEL_KEY"]
        arguments = ["--set", "llm.backend=anthropic", "--set", "llm.model=scripted", "--set", f"llm.base_url={server.url}",
                     "--set", "llm.api_key_env=SCRIPTED_MODEL_KEY"]
        outcome = self.run_program("start", *arguments, REQUEST)
        self.assertIn("AF-LLM-401", outcome.err, outcome)
        self.assertIn("SCRIPTED_MODEL_KEY", outcome.err, outcome)
        self.assertEqual(server.requests, [])
        self.environment["SCRIPTED_MODEL_KEY"] = KEY
        # The address and the name of the variable are the task's: `resume` needs no flags.
        self.assert_code(self.run_program("resume", self.task()), 0)
        self.assertEqual(self.delivered_tree(), replayed_tree())

    def test_a_server_that_is_not_there_pauses_the_task(self):
        server = ModelServer(load_transcript(), SOURCE / "config")
        arguments = self.model(server, "openai")
        server.close()
        outcome = self.run_program("start", *arguments, REQUEST)
        self.assertIn("AF-LLM-402", outcome.err, outcome)
        self.assertIn("tried 4 times", outcome.err, outcome)
        self.assertIn("resume", outcome.all, outcome)


if __name__ == "__main__":
    main()
