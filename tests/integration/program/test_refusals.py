# SPDX-License-Identifier: Apache-2.0
"""A model's claim does not count until the kernel has measured it: wrong, idle and hostile transcripts."""

import re
import json

import yaml

from harness import ProgramTest, call, entry, insert, main, remove, short_transcript


def patch(*lines):
    return "\n".join(["*** Begin Patch", "*** " + lines[0], *lines[1:], "*** End Patch", ""])


class TestRefusalByGates(ProgramTest):
    """Work that does not do what it claims ends without a commit."""

    def setUp(self):
        super().setUp()
        self.make_repository()

    def assert_ends_without_commit(self, outcome, gate, stage):
        self.assertEqual(outcome.code, 1, outcome)
        self.assert_nothing_delivered()
        failed = [record for record in self.records("gate") if record["gate"] == gate and not record["passed"]]
        self.assertTrue(failed, outcome)
        self.assertEqual(self.run_program("status", self.task(), "--json").json["current_stage"], stage)
        self.assert_journal_verifies()

    def test_a_wrong_implementation_does_not_pass_green(self):
        transcript = short_transcript()
        edit = entry(transcript, "green", 1)["tool_calls"][0]["arguments"]
        edit["replace"] = edit["replace"].replace("[a-z0-9]+", "[a-z]+x")
        self.assert_ends_without_commit(self.start(transcript=transcript), "green", "green")

    def test_a_refactoring_that_breaks_a_test_does_not_pass_refactor(self):
        transcript = short_transcript()
        insert(transcript, "refactor", "senior_developer", 1,
               call("edit_file", path="textkit/slug.py", search="text.casefold()", replace="text"))
        self.assert_ends_without_commit(self.start(transcript=transcript), "refactor", "refactor")

    def test_an_implementation_without_its_main_edit_does_not_pass_green(self):
        transcript = short_transcript()
        remove(transcript, "green", 1)
        self.assert_ends_without_commit(self.start(transcript=transcript), "green", "green")

    def test_tests_that_pass_before_the_implementation_do_not_pass_red(self):
        transcript = short_transcript()
        create = entry(transcript, "red", 1)["tool_calls"][0]["arguments"]
        create["content"] = create["content"].replace('self.assertEqual(slugify("?!"), "")', "self.assertTrue(True)")
        self.assert_ends_without_commit(self.start(transcript=transcript), "red", "red")

    def test_no_tests_do_not_pass_red(self):
        transcript = short_transcript()
        remove(transcript, "red", 1)
        outcome = self.start(transcript=transcript)
        self.assertEqual(outcome.code, 1, outcome)
        self.assert_nothing_delivered()

    def test_a_conftest_that_hides_failures_does_not_pass_green(self):
        transcript = short_transcript()
        insert(transcript, "green", "software_developer", 1, call("create_file", path="conftest.py", content="raise SystemExit(0)\n"))
        remove(transcript, "green", 2)
        self.assert_ends_without_commit(self.start(transcript=transcript), "green", "green")

    def test_a_specification_that_breaks_its_contract_is_sent_back(self):
        transcript = short_transcript()
        entry(transcript, "spec", 1, "software_architect")["tool_calls"][0]["arguments"]["requirements"][0]["id"] = "R1"
        outcome = self.start(transcript=transcript)
        self.assertEqual(outcome.code, 1, outcome)
        self.assertIn("requirements", self.steps()[-1]["result"]["summary"])
        self.assert_nothing_delivered()

    def test_facts_claimed_by_a_model_are_ignored(self):
        transcript = short_transcript()
        entry(transcript, "red", 2)["tool_calls"][0]["arguments"]["test_results"] = {"total": 99, "passed": 0, "failed": 99, "errors": 0, "skipped": 0}
        self.assert_code(self.start("--exit-after", "red", transcript=transcript), 0)
        artifact = yaml.safe_load((self.task_folder() / "artifacts" / "phases" / "red" / "test_suite.yaml").read_text(encoding="utf-8"))
        self.assertEqual((artifact["test_results"]["total"], artifact["test_results"]["failed"]), (5, 4))

    def test_blocking_review_findings_go_back_to_the_stage(self):
        transcript = short_transcript()
        entry(transcript, "spec", 1, "security_architect")["tool_calls"][0]["arguments"]["blocking_issues"] = [
            {"id": "SEC-9", "severity": "high", "description": "Titles are not bounded", "remediation": "Bound them"}]
        outcome = self.start(transcript=transcript)
        self.assertEqual(outcome.code, 1, outcome)
        self.assertIn("1 blocking", outcome.err)
        self.assertNotIn("red", {step["phase"] for step in self.steps()})
        self.assert_nothing_delivered()


class TestRefusalOfActions(ProgramTest):
    """The kernel refuses and records forbidden actions, which have no effect. The task continues."""

    ATTEMPTS = {
        "a locked test": call("edit_file", path="tests/test_slug.py", search="creme-brulee", replace="x"),
        "a new test": call("create_file", path="tests/test_more.py", content="pass\n"),
        "a test's deletion": call("delete_file", path="tests/test_slug.py"),
        "a test moved away": call("move_file", path="tests/test_slug.py", to="textkit/gone.py"),
        "a conftest beside the tests": call("create_file", path="tests/conftest.py", content="pass\n"),
        "a git hook": call("create_file", path=".git/hooks/pre-commit", content="#!/bin/sh\n"),
        "a git hook in other letters": call("create_file", path=".GIT/hooks/pre-commit", content="#!/bin/sh\n"),
        "a place outside": call("create_file", path="../outside.py", content="pass\n"),
        "a place outside, later": call("create_file", path="textkit/../../outside.py", content="pass\n"),
        "an absolute path": call("create_file", path="/tmp/agentforge-outside.py", content="pass\n"),
        "the task's own files": call("create_file", path=".agentforge/agents/software_developer.yaml", content="x: 1\n"),
        "a link that leads outside": call("create_file", path="textkit/link/outside.py", content="pass\n"),
        "a linked file": call("edit_file", path="textkit/linked.py", search="secret", replace="known"),
        "a patch that takes a locked test along": call("apply_patch", patch=patch(
            "Add File: textkit/extra.py", "+EXTRA = 1", "*** Update File: tests/test_slug.py", "-import unittest", "+import os")),
        "a patch that moves a test away": call("apply_patch", patch=patch("Update File: tests/test_slug.py", "*** Move to: textkit/gone.py", "-import unittest", "+import os")),
        "a patch that leads outside": call("apply_patch", patch=patch("Add File: textkit/extra.py", "+EXTRA = 1", "*** Add File: ../outside.py", "+pass")),
        "a patch with a hunk that fits nowhere": call("apply_patch", patch=patch("Delete File: textkit/words.py", "*** Update File: textkit/slug.py", "-nowhere", "+there")),
        "a patch that is none": call("apply_patch", patch="--- a/textkit/slug.py\n+++ b/textkit/slug.py\n"),
        "a whole file that was never read": call("edit_file", path="textkit/words.py", content="pass\n"),
        "reading outside": call("read_file", path="../secret.txt"),
        "reading through a link": call("read_file", path="textkit/linked.py"),
        "a tool of another role": call("escalate", question="?"),
        "a tool with unknown parameters": call("read_file", path="README.md", encoding="latin-1"),
        "handing in early": call("complete", summary="done", file_notes={}),
    }

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shared = shared = ProgramTest()
        shared.setUp()
        shared.make_repository()
        outside = shared.folder / "elsewhere"
        outside.mkdir()
        (outside / "secret.py").write_text("secret = 1\n")
        (shared.folder / "secret.txt").write_text("secret\n")
        (shared.repository / "textkit" / "link").symlink_to(outside)
        (shared.repository / "textkit" / "linked.py").symlink_to(outside / "secret.py")
        shared.git("add", "-A")
        shared.git("commit", "-q", "-m", "Links")
        transcript = short_transcript()
        # The implementation is a patch in plain text, from a model that knows no tools.
        green = entry(transcript, "green", 1)
        edit = green.pop("tool_calls")[0]["arguments"]
        green["text"] = "This makes the tests pass:\n\n" + patch(
            "Update File: textkit/slug.py", "@@", *("-" + line for line in edit["search"].splitlines()), *("+" + line for line in edit["replace"].splitlines()))
        insert(transcript, "green", "software_developer", 1, *cls.ATTEMPTS.values())
        cls.outcome = shared.start(transcript=transcript)

    @classmethod
    def tearDownClass(cls):
        cls.shared.doCleanups()
        super().tearDownClass()

    def setUp(self):
        super().setUp()
        self.repository, self.environment = self.shared.repository, self.shared.environment
        self.green = [step for step in self.steps() if step["phase"] == "green"]

    def test_each_is_recorded_as_a_failed_step(self):
        for what, step in zip(self.ATTEMPTS, self.green):
            with self.subTest(what):
                self.assertEqual(step["result"]["status"], "failure", step)
                self.assertNotIn("changes", step)

    def test_each_says_why(self):
        for what, step in zip(self.ATTEMPTS, self.green):
            with self.subTest(what):
                self.assertGreater(len(step["result"]["summary"]), 20, step)

    def test_the_task_is_delivered_anyway(self):
        self.assert_code(self.outcome, 0)

    def test_the_commit_contains_none_of_them(self):
        files = self.git("diff", "--name-only", "main", f"agentforge/{self.task()}").split()
        self.assertEqual(files, ["CHANGELOG.md", "tests/test_slug.py", "textkit/slug.py"])

    def test_nothing_was_written_outside(self):
        shared = self.shared
        self.assertEqual((shared.folder / "elsewhere" / "secret.py").read_text(), "secret = 1\n")
        self.assertEqual([path.name for path in (shared.folder / "elsewhere").iterdir()], ["secret.py"])
        self.assertEqual([str(path) for path in shared.folder.rglob("outside.py")], [])
        self.assertFalse((self.repository / ".git" / "hooks" / "pre-commit").exists())

    def test_nothing_outside_was_read(self):
        for step in self.green:
            self.assertNotIn("secret = 1", self.run_program("inspect", self.task(), "--step", step["step"], "--show", "result").out)

    def test_each_refusal_is_shown_to_the_user(self):
        self.assertGreaterEqual(len(re.findall("(?:FAIL|deny) step", self.outcome.err)), len(self.ATTEMPTS))


class TestRefusalWithoutConfinement(ProgramTest):
    """A system with neither namespaces nor a complete Landlock: AgentForge reports the gap before it runs a program, and refuses to run one unless the user accepts the gap by name."""

    WITHOUT_NAMESPACES = ["unshare", "-Ur", "sh", "-c", "for kind in user mnt net; do echo 0 > /proc/sys/user/max_${kind}_namespaces || exit 1; done; exec \"$@\"", "sh"]

    def setUp(self):
        super().setUp()
        self.make_repository()
        self.confines = True

    def command(self, *arguments):
        return [*([] if self.confines else self.WITHOUT_NAMESPACES), *super().command(*arguments)]

    def accept(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.yaml").write_text("sandbox:\n  accept: [metadata]\n")

    def test_it_is_reported_before_a_task_exists_and_a_project_cannot_accept_it(self):
        self.confines = False
        before = self.checkout()
        for extra in ((), ("--trust",)):
            outcome = self.start(*extra, transcript=short_transcript())
            self.assertEqual(outcome.code, 1, outcome)
            for words in ("AF-EXEC-004", "`metadata`", "sandbox.accept"):
                self.assertIn(words, outcome.err)
            self.assertEqual(self.tasks(), [])
            self.assertEqual(self.checkout(), before)
            self.accept(self.repository / ".agentforge")
            before = self.checkout()
        outcome = self.run_program("doctor")
        self.assertEqual(outcome.code, 1)
        self.assertRegex(outcome.out, "FAILED +sandbox +AF-EXEC-004")

    def test_accepted_gaps_are_in_doctor_and_each_report(self):
        self.confines = False
        self.accept(self.home / ".agentforge")
        self.assert_code(self.start(transcript=short_transcript()), 0)
        reports = [json.dumps(record) for record in self.records("gate") if "confinement" in json.dumps(record)]    # The other gates ran no program.
        self.assertGreater(len(reports), 3)
        for report in reports:
            self.assertIn('"open_gaps": ["metadata"]', report)
        self.assertIn("metadata", self.run_program("doctor").out)

    def test_a_task_started_on_another_machine_runs_nothing(self):
        self.assert_code(self.start("--approve", "spec", transcript=short_transcript()), 22)
        before = self.records("gate")
        self.confines = False
        outcome = self.run_program("approve", self.task())
        self.assertIn("AF-EXEC-004", outcome.err, outcome)
        self.assertEqual(self.records("gate"), before)


if __name__ == "__main__":
    main()
