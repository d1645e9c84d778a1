# SPDX-License-Identifier: Apache-2.0
"""The real `claude` and `codex` commands, in front of the scripted server: what they send, and the demo's request driven through each.

AGENTFORGE_AGENTS names the folder that npm installed them into (scripts/test --agents). Nothing here talks to anybody but the loopback
interface: keys are dummies, and each test has a home of its own.
"""

import json
import pathlib
import sys
import os

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration" / "program"))

from harness import REQUEST, SOURCE, ProgramTest, call, entry, load_transcript, main, short_transcript  # noqa: E402
from model_server import CACHED_TOKENS, INPUT_TOKENS, KEY, OUTPUT_TOKENS, ModelServer  # noqa: E402
from test_agentic import replayed_tree as short_tree  # noqa: E402
from test_http_models import replayed_tree  # noqa: E402

COMMANDS = pathlib.Path(os.environ.get("AGENTFORGE_AGENTS", "")) / "node_modules" / ".bin"


class AgentTest(ProgramTest):
    preset = None

    def serve(self, transcript=None, **options):
        server = ModelServer(transcript or load_transcript(), SOURCE / "config", **options)
        self.addCleanup(server.close)
        return server

    def model(self, server):
        """Flags and environment that put the command in front of the server, as a user of a gateway would set them."""
        words = [str(COMMANDS / self.preset)]
        if self.preset == "claude":
            self.environment.update(ANTHROPIC_BASE_URL=server.url, ANTHROPIC_API_KEY=KEY)
        else:
            self.environment["OPENAI_API_KEY"] = KEY
            provider = f'model_providers.scripted={{name="scripted", base_url="{server.url}/v1", env_key="OPENAI_API_KEY", wire_api="responses"}}'
            words += ["-c", 'model_provider="scripted"', "-c", provider]
        return ["--set", "llm.backend=cli", "--set", f"llm.preset={self.preset}", "--set", f"llm.command={json.dumps(words)}", "--set", "llm.model=scripted"]


class Commands:
    """For both: the tests below are taken over by a class for each command."""

    class PlainModel(AgentTest):
        @classmethod
        def setUpClass(cls):
            super().setUpClass()
            cls.shared = cls("test_delivers_the_same_tree_as_the_replayed_run")
            AgentTest.setUp(cls.shared)
            cls.shared.make_repository()
            cls.server = cls.shared.serve(fail={5: "overloaded"} if cls.preset == "claude" else {})
            cls.outcome = cls.shared.run_program("start", *cls.shared.model(cls.server), REQUEST, seconds=600)

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

        def test_one_request_a_step_and_one_more_for_an_overload(self):
            self.assertEqual(len(self.server.requests), len(load_transcript()["entries"]) + (1 if self.preset == "claude" else 0))

        def test_the_model_is_offered_no_tool_that_does_anything(self):
            offered = {tool.get("name") for _, _, body in self.server.requests for tool in body.get("tools", [])}
            # Codex always declares this one; it asks a person, and `exec` has none.
            self.assertLessEqual(offered, {"request_user_input"})

        def test_the_command_adds_little_to_the_prompt(self):
            steps = [step for step in self.steps()]
            for (_, _, body), step in zip(self.server.requests[:3], steps[:3]):
                self.assertIn("# Role: ", json.dumps(body))
                self.assertLess(len(json.dumps(body, ensure_ascii=False)), 40_000, step["run_step"])

        def test_the_journal_holds_the_commands_figures(self):
            text = json.dumps(self.journal(), default=str)
            for name, figure in (("input_tokens", INPUT_TOKENS + CACHED_TOKENS), ("output_tokens", OUTPUT_TOKENS)):
                self.assertIn(f'"{name}": {figure}', text)

        def test_the_key_is_in_no_file_and_no_output(self):
            self.assertNotIn(KEY, self.outcome.all)
            for folder in (self.repository, self.state):
                self.assertEqual([str(path) for path in folder.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()], [])

    class AtWork(AgentTest):
        def test_works_in_the_workspace_and_delivers_the_same_tree(self):
            self.make_repository()
            server = self.serve(short_transcript())
            outcome = self.run_program("start", *self.model(server), "--set", "llm.mode=agentic", REQUEST, seconds=600)
            self.assertEqual(outcome.code, 0, f"{outcome}\n{server.problems}")
            self.assertEqual(self.delivered_tree(), short_tree())
            self.assertEqual(len(self.steps()), 10)
            self.assertEqual(self.records("violation"), [])
            for folder in (self.repository, self.state, self.home):
                self.assertEqual([str(path) for path in folder.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()], [])
            self.assertEqual([str(path) for path in self.home.rglob("*")], [], "its home is not the user's")

        def test_writing_into_locked_tests_is_taken_back(self):
            self.make_repository()
            transcript = short_transcript()
            tests = entry(transcript, "red", 1)["tool_calls"][0]["arguments"]["path"]
            entry(transcript, "green", 1)["tool_calls"] += call("create_file", path=tests, content="")
            outcome = self.run_program("start", *self.model(self.serve(transcript)), "--set", "llm.mode=agentic", REQUEST, seconds=600)
            self.assertIn("AF-AGENT-011", outcome.err, outcome)
            self.assertEqual(self.records("violation")[0]["paths"], [tests])

    class Trouble(AgentTest):
        def setUp(self):
            super().setUp()
            self.make_repository()

        def test_doctor_tells_the_version(self):
            outcome = self.run_program("doctor", *self.model(self.serve()))
            self.assertRegex(outcome.out, r"\d+\.\d+\.\d+")

        def test_without_a_key_the_task_pauses_and_goes_on_with_one(self):
            server = self.serve()
            arguments = self.model(server)
            key = "ANTHROPIC_API_KEY" if self.preset == "claude" else "OPENAI_API_KEY"
            del self.environment[key]
            outcome = self.run_program("start", *arguments, REQUEST)
            self.assertIn("AF-LLM-304", outcome.err, outcome)
            self.assertRegex(outcome.err, "(?i)not logged in|environment variable")
            self.assertNotIn("attempt 2", outcome.err)
            self.assertIn("resume", outcome.all, outcome)
            self.environment[key] = KEY
            outcome = self.run_program("resume", *arguments, self.task(), seconds=600)
            self.assert_code(outcome, 0)
            self.assertEqual(self.delivered_tree(), replayed_tree())

        def test_what_the_server_refuses_is_said_in_its_words(self):
            transcript = load_transcript()
            transcript["entries"] = []
            outcome = self.run_program("start", *self.model(self.serve(transcript)), REQUEST)
            self.assertIn("AF-LLM-304", outcome.err, outcome)
            self.assertIn("the transcript has no answer for this", outcome.err, outcome)

        def test_a_server_that_is_not_there_pauses_the_task(self):
            server = ModelServer(load_transcript(), SOURCE / "config")
            arguments = self.model(server)
            server.close()
            outcome = self.run_program("start", *arguments, REQUEST, seconds=300)
            self.assertRegex(outcome.err, "AF-LLM-30[34]")
            self.assertIn("resume", outcome.all, outcome)


class TestClaude(Commands.PlainModel):
    preset = "claude"


class TestCodex(Commands.PlainModel):
    preset = "codex"


class TestClaudeAtWork(Commands.AtWork):
    preset = "claude"


class TestCodexAtWork(Commands.AtWork):
    preset = "codex"


class TestClaudeTrouble(Commands.Trouble):
    preset = "claude"


class TestCodexTrouble(Commands.Trouble):
    preset = "codex"


if __name__ == "__main__":
    main()
