# SPDX-License-Identifier: Apache-2.0
"""The demo's request with its model behind HTTP: both APIs, streamed, with server errors. The commit's tree is the same as with a transcript."""

import functools
import json
import os
import re
import signal

import yaml

from harness import REQUEST, SOURCE, ProgramTest, call, entry, insert, load_transcript, main, short_transcript, trace
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
    """One run, which all tests share. The third answer breaks off, the fifth request finds the server overloaded, the seventh gets an error event."""

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

    def test_each_server_failure_costs_one_retry(self):
        self.assertEqual(len(self.server.requests), len(load_transcript()["entries"]) + 3)

    def test_connections_are_kept(self):
        # A broken connection, and one that timed out during a long gate, is replaced by a new one.
        self.assertLess(self.server.connections, len(self.server.requests) / 2)

    def test_every_request_is_one_of_this_api_and_streamed(self):
        self.assertEqual({(api, body["stream"]) for api, _, body in self.server.requests}, {(self.backend, True)})

    def test_the_key_is_in_no_file_and_no_output(self):
        self.assertNotIn(KEY, self.outcome.all)
        for folder in (self.repository, self.state):
            found = [str(path) for path in folder.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
            self.assertEqual(found, [])

    def test_the_journal_has_the_servers_token_counts(self):
        text = json.dumps(self.journal(), default=str)
        for name, figure in (("input_tokens", INPUT_TOKENS + CACHED_TOKENS), ("output_tokens", OUTPUT_TOKENS)):
            self.assertIn(f'"{name}": {figure}', text)

    def test_the_prompt_prefix_of_a_role_is_byte_identical(self):
        prefixes = {}
        for _, _, body in self.server.requests:
            system = body["system"] if self.backend == "anthropic" else body["messages"][0]
            place = tuple(re.findall(r"(?:# Role|Stage): [A-Za-z ]+", json.dumps(system)))
            prefixes.setdefault(place, set()).add(json.dumps([body["tools"], system]))
        self.assertGreater(len(prefixes), 8)
        self.assertEqual([place for place, kinds in prefixes.items() if len(kinds) != 1], [])

    def test_no_request_has_more_than_8000_tokens_tools_included(self):
        # A count independent of the program: one token for six letters, three digits, two signs, or white space other than the space before a word.
        # The published tokenisers count fewer tokens in these requests.
        def tokens(value):
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            return len(re.findall(r"[A-Za-z]{1,6}|\d{1,3}|[^\w\s]{1,2}|_|[^\S ]+| {2,}", text))

        counts = []
        for _, _, body in self.server.requests:
            parts = [body["messages"][-1]["content"], body["system"][0]["text"] if self.backend == "anthropic" else body["messages"][0]["content"]]
            counts.append(tokens(body["tools"]) + sum(map(tokens, parts)))
        self.assertLessEqual(max(counts), 8000)
        self.assertGreater(min(counts), 1000)

    def test_the_request_after_an_edit_shows_the_gates_of_that_edit(self):
        shown = []
        for _, _, body in self.server.requests:
            content = body["messages"][-1]["content"]
            context = yaml.safe_load(content if isinstance(content, str) else "".join(part["text"] for part in content))
            last, status = context.get("last_result", {}), context["verification_status"]
            if context["task_frame"]["phase"] in ("green", "refactor") and last.get("action") in ("create_file", "edit_file", "delete_file") and last["result"] == "success":
                self.assertNotIn("stale", status, context)
                shown.append([gate in status and status[gate]["status"] for gate in ("tests", "conformance", "syntax")] if isinstance(status, dict) else status)
        self.assertIn(["passing", "passing", "passing"], shown)
        self.assertGreaterEqual(len(shown), 5)

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

    def test_doctor_reports_the_models_of_the_server(self):
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

    def test_a_missing_key_starts_no_task_and_pauses_one_until_it_is_back(self):
        server = self.serve()
        self.model(server, "anthropic")
        del self.environment["SCRIPTED_MODEL_KEY"]
        arguments = ["--set", "llm.backend=anthropic", "--set", "llm.model=scripted", "--set", f"llm.base_url={server.url}",
                     "--set", "llm.api_key_env=SCRIPTED_MODEL_KEY", "--approve", "intake"]
        outcome = self.run_program("start", *arguments, REQUEST)
        self.assertIn("AF-LLM-401", outcome.err, outcome)
        self.assertIn("SCRIPTED_MODEL_KEY", outcome.err, outcome)
        self.assertEqual((server.requests, self.tasks()), ([], []))
        self.environment["SCRIPTED_MODEL_KEY"] = KEY
        self.assert_code(self.run_program("start", *arguments, REQUEST), 22)
        seen = len(server.requests)
        del self.environment["SCRIPTED_MODEL_KEY"]
        self.assertIn("AF-LLM-401", self.run_program("approve", self.task()).err)
        self.assertEqual(len(server.requests), seen)
        self.environment["SCRIPTED_MODEL_KEY"] = KEY
        # The task keeps the address and the variable's name, so `resume` needs no flags.
        self.assert_code(self.run_program("resume", self.task()), 0)
        self.assertEqual(self.delivered_tree(), replayed_tree())

    def test_an_unreachable_server_pauses_the_task(self):
        server = ModelServer(load_transcript(), SOURCE / "config")
        arguments = self.model(server, "openai")
        server.close()
        outcome = self.run_program("start", *arguments, REQUEST)
        self.assertIn("AF-LLM-402", outcome.err, outcome)
        self.assertIn("tried 4 times", outcome.err, outcome)
        self.assertIn("resume", outcome.all, outcome)


class TestModelRecordedRun(HttpModel):
    """A recorded run over HTTP with errors of the server and of the model, and its replay in another repository without a server."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shared = shared = HttpModel()
        shared.setUp()
        transcript = short_transcript()
        good = call("read_file", path="textkit/slug.py")
        insert(transcript, "green", "software_developer", 1, [], good * 2, good, call("read_file"), good, good, good, call("launch_rocket"), call("read_file", path=7))
        entry(transcript, "green", 4)["tool_calls"][0]["arguments"] = '{"path": "textkit/slug'
        entry(transcript, "green", 5)["stop"] = "length"
        entry(transcript, "green", 7)["stop"] = "refused"
        entry(transcript, "green", 7)["text"] = "I would rather not."
        server = shared.serve(transcript, fail={3: "cut", 5: "overloaded"})
        recording = shared.folder / "recording.yaml"
        shared.make_repository()
        cls.recorded = shared.run_program("start", *shared.model(server, "anthropic"), "--record", recording, REQUEST)
        cls.first = trace(shared)
        server.close()
        shared.repository = None
        shared.make_repository("again")
        cls.replayed = shared.start("--set", "llm.replay.match=strict", transcript=recording)
        cls.second = trace(shared)

    @classmethod
    def tearDownClass(cls):
        cls.shared.doCleanups()
        super().tearDownClass()

    def setUp(self):
        super().setUp()
        self.assert_code(self.recorded, 0)
        self.assert_code(self.replayed, 0)

    def test_replays_to_the_same_tree(self):
        self.assertEqual(self.first["tree"], self.second["tree"])

    def test_replays_to_the_same_artifacts(self):
        self.assertGreater(len(self.first["artifacts"]), 8)
        self.assertEqual(self.first["artifacts"], self.second["artifacts"])

    def test_replays_to_the_same_journal_with_failed_attempts(self):
        failed = [record for record in self.first["journal"] if record["type"] == "attempt_failed"]
        self.assertEqual([record["code"] for record in failed], ["AF-LLM-409", "AF-LLM-407"])
        self.assertEqual(len(self.first["journal"]), len(self.second["journal"]))
        for one, other in zip(self.first["journal"], self.second["journal"]):
            self.assertEqual(one, other)

    def test_the_model_was_told_the_error_in_each_answer(self):
        refused = [record["result"]["error"] for record in self.second["journal"] if record["type"] == "step" and record["result"]["status"] == "failure"]
        self.assertEqual([error.split(":")[0] for error in refused],
                         ["AF-LLM-102", "AF-AGENT-021", "AF-LLM-105", "AF-AGENT-024", "AF-AGENT-025", "AF-TOOL-002", "AF-TOOL-004"])


class TestModelDraftsOfTests(HttpModel):
    """RED rewrites its faulty tests with the tools of its role."""

    def setUp(self):
        super().setUp()
        self.make_repository()
        self.transcript = short_transcript()
        self.draft = call("create_file", path="tests/test_slug.py", content="import unittest\n\n\nclass Draft(unittest.TestCase):\n    def test_nothing(self):\n        self.assertTrue(True)\n")
        self.suite = entry(self.transcript, "red", 2, "test_engineer")["tool_calls"]
        self.assertEqual(entry(self.transcript, "red", 1)["tool_calls"][0]["arguments"]["path"], "tests/test_slug.py")

    def run_red(self, *steps):
        insert(self.transcript, "red", "test_engineer", 1, *steps)
        self.server = self.serve(self.transcript)
        return self.run_program("start", *self.model(self.server, "anthropic"), "--exit-after", "red", REQUEST)

    def refusals(self):
        return [record["result"]["error"] for record in self.steps() if record["phase"] == "red" and record["result"]["status"] == "failure"]

    def test_a_draft_that_the_gate_refuses_is_rewritten_under_its_name(self):
        self.assert_code(self.run_red(self.draft, self.suite), 0)
        self.assertEqual([error.split(":")[0] for error in self.refusals()], ["AF-ORCH-025"])

    def test_an_extra_file_is_deleted(self):
        extra = call("create_file", path="tests/test_more.py", content=self.draft[0]["arguments"]["content"].replace("self.assertTrue(True)", "raise RuntimeError('draft')"))
        good = entry(self.transcript, "red", 1)["tool_calls"]
        self.assert_code(self.run_red(extra, good, self.suite, call("delete_file", path="tests/test_more.py")), 0)
        self.assertEqual([error.split(":")[0] for error in self.refusals()], ["AF-ORCH-025"])
        self.assertIn("not named in the test suite", self.refusals()[0])

    def test_a_stopped_stage_continues_with_a_usable_tree(self):
        self.assert_code(self.run_red(self.draft, *[self.suite] * 3), 22)
        self.assert_code(self.run_program("resume", self.task(), "--say", "Write the tests anew"), 0)
        self.assertEqual({error.split(":")[0] for error in self.refusals()}, {"AF-ORCH-025"})


class TestModelWordsWithoutACall(HttpModel):
    def test_the_next_request_asks_for_a_tool_call_and_not_the_text_protocol(self):
        self.make_repository()
        transcript = short_transcript()
        insert(transcript, "red", "test_engineer", 1, [])
        words = entry(transcript, "red", 1, "test_engineer")
        words["text"] = "I would begin with the tests."
        server = self.serve(transcript)
        self.assert_code(self.run_program("start", *self.model(server, "openai"), "--exit-after", "red", REQUEST), 0)
        contexts = [body["messages"][-1]["content"] for _, _, body in server.requests]
        after = next(context for context in contexts if words["text"] in context)
        self.assertIn("the answer calls no tool", after)
        self.assertIn("Call one of your tools: list_files, read_file, create_file", after)
        self.assertNotIn("ACTION", after)


class TestModelGuidance(HttpModel):
    """The text of `resume --say` answers the question of an agent that could not continue, and reaches the model's server."""

    SAID = "Name the tests after the words they are about"

    def setUp(self):
        super().setUp()
        self.make_repository()
        transcript = short_transcript()
        insert(transcript, "red", "test_engineer", 1, *[call("read_file", path="nowhere.py")] * 3)
        self.server = self.serve(transcript)
        self.failed = self.run_program("start", *self.model(self.server, "anthropic"), "--exit-after", "green", REQUEST)
        self.before = len(self.server.requests)

    def contexts(self):
        return [yaml.safe_load(body["messages"][-1]["content"] if isinstance(body["messages"][-1]["content"], str) else "".join(part["text"] for part in body["messages"][-1]["content"]))
                for _, _, body in self.server.requests[self.before:]]

    def said(self):
        rounds = [(context["task_frame"]["phase"], context["current_state"].get("this_round", {})) for context in self.contexts()]
        return [(phase, (this_round.get("resolution") or {}).get("answer")) for phase, this_round in rounds]

    def test_is_in_every_context_of_the_resumed_stage_and_in_no_other(self):
        self.assert_code(self.failed, 22)
        self.assert_code(self.run_program("resume", self.task(), "--say", self.SAID), 0)
        self.assertEqual(self.said(), [("red", self.SAID)] * 2 + [("green", None)] * 2)
        self.assertTrue(any(self.SAID in file.read_text() for file in (self.repository / ".agentforge" / "escalations").glob("*.resolution.yaml")), "the answer to the question")

    def test_is_complete_beside_long_errors_of_the_previous_attempt(self):
        said = ("Write the tests. " * 300)[:4000].strip()
        self.assert_code(self.run_program("resume", self.task(), "--say", said), 0)
        self.assertEqual(self.said()[:2], [("red", said)] * 2)

    def test_survives_a_kill_before_the_model_answers(self):
        process = None

        def kill():
            os.killpg(process.pid, signal.SIGKILL)
            return False

        self.server.before[self.before + 1] = kill
        process = self.spawn("resume", self.task(), "--say", self.SAID)
        process.communicate()
        self.assertEqual(process.returncode, -signal.SIGKILL)
        self.server.answered["red", "test_engineer"] -= 1       # The killed process did not get this answer, so the server repeats it.
        self.assert_code(self.run_program("resume", self.task()), 0)
        self.assertEqual(self.said(), [("red", self.SAID)] * 3 + [("green", None)] * 2)

    def test_empty_or_oversized_guidance_is_refused(self):
        journal = self.journal()
        self.assertEqual(self.run_program("resume", self.task(), "--say", "").code, 2)
        self.assertEqual(self.run_program("resume", self.task(), "--say", " \n").code, 2)
        self.assert_error(self.run_program("resume", self.task(), "--say", "x" * 4001), "AF-ORCH-048", "4000")
        self.assertEqual(self.journal(), journal)

    def test_is_refused_if_no_model_call_follows(self):
        self.assert_code(self.run_program("abort", self.task()), 0)
        journal = self.journal()
        self.assert_error(self.run_program("resume", self.task(), "--say", self.SAID), "AF-ORCH-049", "has ended")
        self.assertEqual(self.journal(), journal)


class TestModelsOfRoles(HttpModel):
    def test_a_role_with_its_own_server_and_settings_uses_only_those(self):
        self.make_repository()
        usual, own = self.serve(short_transcript()), self.serve(short_transcript())
        role = "agents.test_engineer.llm."
        arguments = [*self.model(usual, "anthropic"), "--set", f"{role}backend=openai", "--set", f"{role}base_url={own.url}/v1", "--set", f"{role}model=other",
                     "--set", f"{role}max_output_tokens=777", "--set", role + "settings={stream: false}"]
        recording = self.folder / "recording.yaml"
        self.assert_code(self.run_program("start", *arguments, "--record", recording, REQUEST), 0)
        self.assertEqual({(api, body["model"], body["max_tokens"], body["stream"]) for api, _, body in own.requests}, {("openai", "other", 777, False)})
        self.assertEqual({(api, body["model"], body["max_tokens"], body["stream"]) for api, _, body in usual.requests}, {("anthropic", "scripted", 4096, True)})
        self.assertEqual([name for _, headers, _ in own.requests for name, value in headers.items() if KEY in value], [], "the key of another service")
        entries = yaml.safe_load(recording.read_text(encoding="utf-8"))["entries"]
        self.assertEqual(len(entries), len(own.requests) + len(usual.requests))
        doctor = self.run_program("doctor", *arguments)
        self.assertIn("model of test_engineer", doctor.out, doctor)


if __name__ == "__main__":
    main()
