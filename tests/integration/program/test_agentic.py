# SPDX-License-Identifier: Apache-2.0
"""Agentic mode: a command works in the workspace with its own tools, confined to its role, through all eight stages, with and without faults."""

import functools
import json
import os
import pathlib
import signal

import yaml

from harness import REQUEST, SOURCE, ProgramTest, main, short_transcript, trace, wait_until

HERE = pathlib.Path(__file__).resolve().parent


@functools.lru_cache(maxsize=1)
def replayed_tree():
    test = ProgramTest()
    test.setUp()
    try:
        test.make_repository()
        test.assert_code(test.start(transcript=short_transcript()), 0)
        return test.delivered_tree()
    finally:
        test.doCleanups()


class AgenticTest(ProgramTest):
    maxDiff = None

    def setUp(self):
        super().setUp()
        self.make_repository()
        self.shared_folder = self.folder / "shared"
        self.shared_folder.mkdir()
        self.log = self.shared_folder / "calls.jsonl"
        self.transcript = self.shared_folder / "transcript.yaml"
        self.transcript.write_text(yaml.safe_dump(short_transcript(), allow_unicode=True), encoding="utf-8")

    def arguments(self, fault="", **settings):
        words = ["/usr/bin/python3", "-B", str(HERE / "agentic_command.py"), str(self.transcript), str(SOURCE / "config"), str(self.log), *([fault] if fault else [])]
        settings = {"readable": [str(SOURCE)], "writable": [str(self.shared_folder)], **settings}
        return ["--set", "llm.backend=cli", "--set", f"llm.command={json.dumps(words)}", "--set", "llm.mode=agentic", "--set", f"llm.settings={json.dumps(settings)}"]

    def work(self, fault="", *more, **settings):
        return self.run_program("start", *self.arguments(fault, **settings), *more, REQUEST)

    def calls(self):
        return [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()]


class TestAgentic(AgenticTest):
    def test_delivers_the_same_tree_as_the_replayed_run(self):
        outcome = self.work()
        self.assert_code(outcome, 0)
        self.assertEqual(self.delivered_tree(), replayed_tree())
        self.assert_journal_verifies()
        steps = {record["phase"]: record for record in self.records("step") if record.get("files")}
        self.assertEqual(steps["green"]["files"], ["textkit/slug.py"])
        self.assertIn("changed: textkit/slug.py", outcome.out + outcome.err)
        self.assertIn("changed: textkit/slug.py", self.run_program("inspect", self.task()).out)
        calls = self.calls()
        self.assertEqual(len(calls), 10)        # Eight stages and two reviews, one call each.
        green = next(call for call in calls if call["stage"] == "green")
        self.assertTrue(green["home"].endswith("/agentic/home"), green["home"])
        self.assertIn("/inputs/specification.yaml", green["prompt"])
        self.assertIn("!@tests (@tests: ", green["prompt"])
        self.assertNotIn("edit_file", green["prompt"].partition("available_actions:")[2])
        for role in ("security_architect", "requirements_analyst"):     # A reviewer, and a role without a writing tool.
            self.assertIn("Change nothing there", next(call for call in calls if call["role"] == role)["prompt"])

    def test_a_violation_by_a_call_is_reverted_recorded_and_reported(self):
        before = self.checkout()
        self.assert_code(self.work("not_a_mapping,tests,link,delete_and_bury,children"), 0)
        prompts = [call["prompt"] for call in self.calls() if call["stage"] == "green"]
        self.assertEqual(len(prompts), 5)
        for prompt, words in zip(prompts[1:], ("AF-LLM-311", "AF-ORCH-026", "not a regular file", "AF-ORCH-026")):
            self.assertIn(words, prompt)
        tests, everything = self.records("violation")
        self.assertTrue(tests["paths"] and all(path.startswith("tests/") for path in tests["paths"]), tests)
        self.assertLessEqual({".git", "textkit/.git"}, set(everything["paths"]))
        self.assertEqual(len([path for path in everything["paths"] if path.startswith("textkit/deep/")]), 1)
        self.assertEqual(self.delivered_tree(), replayed_tree())
        self.assertEqual(self.checkout(), before)
        self.assert_nothing_is_left()

    def test_acting_files_are_reverted(self):
        self.assert_code(self.work("act_later"), 0)
        violation, = self.records("violation")
        self.assertEqual(violation["paths"], ["textkit/.envrc", "textkit/.github/workflows/ci.yml", "textkit/CLAUDE.md"])
        told = self.assert_code(self.run_program("audit", self.task(), "--json"), 0).json["violations"]
        self.assertEqual([(row["record"], row["stage"], row["what"].rpartition(": ")[2]) for row in told], [(violation["seq"], "green", ", ".join(violation["paths"]))])
        self.assertEqual(self.delivered_tree(), replayed_tree())

    def test_a_call_that_fails_or_hangs_pauses_the_task_and_leaves_nothing(self):
        arguments = [*self.arguments("fail,hang"), "--set", "llm.timeout_seconds=4"]
        failed = self.run_program("start", *arguments, REQUEST)
        for words in ("AF-LLM-302", "out of luck", "resume"):
            self.assertIn(words, failed.all, failed)
        self.assertNotIn("attempt 2", failed.err, failed)
        self.assertEqual(list(self.state.rglob("half.py")), [])
        hung = self.run_program("resume", *arguments, self.task())
        self.assertIn("AF-LLM-303", hung.err, hung)
        self.assert_nothing_is_left()

    def assert_nothing_is_left(self):
        left = []
        for process in pathlib.Path("/proc").iterdir():
            try:
                if process.name.isdigit() and str(self.state) in os.readlink(process / "cwd"):
                    left.append(int(process.name))
            except OSError:
                continue
        for process in left:
            os.kill(process, signal.SIGKILL)
        self.assertEqual(left, [])

    def test_an_unusable_backend_is_reported_before_any_work(self):
        missing = ["--set", "llm.backend=cli", "--set", "llm.command=[/nowhere/agent]", "--set", "llm.mode=agentic"]
        other = ["--set", "llm.backend=anthropic", "--set", "llm.mode=agentic"]
        for code, arguments in (("AF-LLM-301", missing), ("AF-LLM-313", other)):
            outcome = self.run_program("start", *arguments, REQUEST)
            self.assertIn(code, outcome.err, outcome)
        self.assert_nothing_delivered()


class TestAgenticRecordedRun(AgenticTest):
    def record(self, *faults):
        self.recording = self.folder / "recording.yaml"
        self.assert_code(self.work(",".join(faults), "--record", self.recording), 0)
        return trace(self)

    def replay(self, *more):
        self.repository = None
        self.make_repository("again")
        return self.run_program("start", "--set", "llm.backend=replay", "--set", f"llm.transcript={self.recording}", "--set", "llm.replay.match=strict", *more, REQUEST)

    def test_replays_to_the_same_journal_artifacts_and_tree_without_the_command(self):
        recorded = self.record("not_a_mapping", "tests", "link", "delete", "odd")
        self.log.unlink()
        self.assert_code(self.replay("--set", "llm.mode=agentic"), 0)
        replayed = trace(self)
        self.assertFalse(self.log.exists(), "the command was run")
        self.assertEqual(len(self.records("violation")), 2)
        self.assertIn("textkit/odd/latin'1 name.bin", self.git("ls-tree", "-r", "--name-only", replayed["tree"]))
        self.assertEqual(recorded["tree"], replayed["tree"])
        self.assertEqual(recorded["artifacts"], replayed["artifacts"])
        self.assertEqual(len(recorded["journal"]), len(replayed["journal"]))
        for one, other in zip(recorded["journal"], replayed["journal"]):
            self.assertEqual(one, other)

    def test_is_not_replayed_in_the_other_mode(self):
        self.record()
        refused = self.replay()
        self.assertIn("AF-LLM-2", refused.err, refused)
        self.assert_nothing_delivered()


class TestAgenticRoles(AgenticTest):
    def test_a_role_that_keeps_writing_elsewhere_is_stopped(self):
        outcome = self.work("tests*")
        self.assertNotEqual(outcome.code, 0)
        self.assertIn("AF-AGENT-011", outcome.err, outcome)
        self.assert_nothing_delivered()

    def test_a_kill_after_the_answer_does_not_repeat_the_work(self):
        process = self.spawn("start", *self.arguments(), REQUEST)

        def green_has_answered():
            journals = list(self.repository.glob(".agentforge/tasks/*/actions.yaml"))
            return any('"type": "answer"' in line and '"phase": "green"' in line for journal in journals for line in journal.read_text(errors="replace").splitlines())

        wait_until(green_has_answered, "the answer in GREEN", seconds=60)
        process.kill()
        process.communicate()
        self.assert_code(self.run_program("resume", *self.arguments("fail*"), self.task()), 0)
        self.assertEqual(self.delivered_tree(), replayed_tree())
        self.assertEqual(len([call for call in self.calls() if call["stage"] == "green"]), 1)

    def test_one_role_may_work_agentically(self):
        words = self.arguments()
        words[words.index("llm.mode=agentic")] = "agents.software_developer.llm.mode=agentic"
        # The other roles use a plain model, here a transcript.
        words[words.index("llm.backend=cli")] = "agents.software_developer.llm.backend=cli"
        words = [f"agents.software_developer.{word}" if word.startswith("llm.command=") else word for word in words]
        # Every backend gets llm.settings; these settings are only for the cli plugin.
        words = [word.replace("llm.settings=", 'plugins.settings={"cli": ') + ("}" if word.startswith("llm.settings=") else "") for word in words]
        outcome = self.run_program("start", "--set", "llm.backend=replay", "--set", f"llm.transcript={self.transcript}", *words, REQUEST)
        self.assert_code(outcome, 0)
        self.assertEqual({call["stage"] for call in self.calls()}, {"green"})
        self.assertEqual(self.delivered_tree(), replayed_tree())


if __name__ == "__main__":
    main()
