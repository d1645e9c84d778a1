# SPDX-License-Identifier: Apache-2.0
"""The demo's request, from `start` to the commit."""

import os
import re
import subprocess
import sys

import yaml

from harness import REQUEST, ProgramTest, main
from terminal import Terminal


class TestDelivery(ProgramTest):
    """One run of examples/transcripts/slugify.yaml, which all tests share, because a run takes seconds."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shared = ProgramTest()
        cls.shared.setUp()
        shared = cls.shared
        shared.make_repository()
        # The user's own changes: a staged one, an unstaged one, a new file.
        (shared.repository / "README.md").write_text("mine, staged\n")
        shared.git("add", "README.md")
        (shared.repository / "textkit" / "words.py").write_text("mine, not staged\n")
        (shared.repository / "notes.txt").write_text("mine, new\n")
        shared.git("status")
        cls.before = shared.checkout()
        cls.outcome = shared.start()
        cls.after = shared.checkout()

    @classmethod
    def tearDownClass(cls):
        cls.shared.doCleanups()
        super().tearDownClass()

    def setUp(self):
        super().setUp()
        self.repository, self.environment = self.shared.repository, self.shared.environment
        if self.outcome.code != 0:
            self.fail(str(self.outcome))
        self.branch = "agentforge/" + self.task()

    def test_exits_with_zero(self):
        self.assert_code(self.outcome, 0)

    def test_result_is_on_standard_output_and_progress_on_standard_error(self):
        self.assertIn("Done: ", self.outcome.out)
        self.assertNotIn("ok   step", self.outcome.out)
        self.assertIn("8/8 deliver", self.outcome.err)

    def test_the_summary_shows_what_was_done_and_the_next_command(self):
        short = self.task()[-8:]
        lines = re.sub(r"\d+(\.\d)? m?s\b|\d+ m \d\d s", "0 s", self.outcome.out).splitlines()
        self.assertEqual(lines[0], "Done: " + REQUEST)
        self.assertRegex(lines[1], r"^  changed  5 files, \+\d+ -\d+$")
        self.assertRegex("\n".join(lines[2:7]), r"           tests/test_slug.py   \+\d+ -0\n")
        self.assertEqual(lines[7], "  tests    26 pass, 5 new")
        self.assertRegex(lines[8], r"^  cost     nothing, the answers came from a transcript  \(\d+ calls, \d+ tokens, 0 s\)$")
        self.assertRegex(lines[9], rf"^  commit   [0-9a-f]{{12}} on branch {self.branch}$")
        commands = [line.split("  ")[1] for line in lines if line.startswith("  agentforge ")]
        self.assertEqual(commands, [f"agentforge {name} {short}" for name in ("diff", "apply", "inspect")])
        self.assertEqual([line for line in lines if "recorded transcript" in line], [lines[-1]])

    def test_progress_shows_actions_before_gates_and_hides_expected_failures(self):
        progress = self.outcome.err
        self.assertRegex(progress, r"ok   step 12 +run_tests .*\n.*ok   gate tests +expected: 4 new tests fail\n")
        self.assertRegex(progress, r"FAIL step 18 +complete .*\n    FAIL gate green +tests/test_slug.py::")
        self.assertRegex(progress, r"deny step 10 +create_file +Path 'textkit/slugs.py' is not allowed for test_engineer")
        self.assertEqual(progress.count("    skip types: none configured\n"), 1)
        self.assertEqual(progress.count("    skip "), 1, "a gate that has run is not called skipped")
        self.assertNotRegex(progress, r"\b0 files\b")
        self.assertIn("task " + self.task()[-8:] + "  (pipeline implement)", progress)

    def test_views_do_not_say_that_a_skipped_gate_passed(self):
        shown = self.run_program("status", self.task()).out
        self.assertIn("  gate types        skipped, none configured\n", shown)
        self.assertNotRegex(shown, r"\b0 files\b")
        shown = self.run_program("inspect", self.task()).out
        self.assertIn("gate types skipped: none configured", shown)
        self.assertNotIn("gate types passed", shown)

    def test_read_only_commands_default_to_the_newest_task(self):
        for command in ("diff", "inspect", "cost", "logs", "history", "metrics"):
            shown = self.assert_code(self.run_program(command), 0)
            self.assertIn(f"agentforge: task {self.task()[-8:]} (completed): {REQUEST}", shown.err)
            self.assertEqual(shown.out, self.run_program(command, self.task()).out)

    def test_a_changing_command_defaults_to_the_only_possible_task(self):
        shown = self.assert_code(self.run_program("apply", "--check"), 0)
        self.assertIn(f"agentforge: task {self.task()[-8:]} (completed)", shown.err)
        self.assert_error(self.run_program("pause"), "AF-CLI-190", "no task is running")
        self.assert_error(self.run_program("resume"), "AF-CLI-190", "no task can be resumed")

    def test_list_and_ps_are_status(self):
        for alias in ("list", "ps"):
            self.assertIn(self.task()[-8:], self.assert_code(self.run_program(alias), 0).out)
        self.assertIn("  status, list, ps  ", self.run_program("--help").out)

    def test_diff_has_colours_only_on_a_terminal(self):
        shown = Terminal(self, "diff", lines=200, environment={"AGENTFORGE_PAGER": "cat"})
        shown.ended(0)
        self.assertEqual(shown.colour_of("+++ b/textkit/slug.py"), "default")
        self.assertEqual(shown.colour_of("@@ "), "cyan")
        self.assertEqual(shown.colour_of("+def slugify"), "green")
        plain = Terminal(self, "diff", environment={"NO_COLOR": "1", "AGENTFORGE_PAGER": "cat"})
        plain.ended(0)
        self.assertNotIn(b"\x1b", plain.raw)
        self.assertNotIn("\x1b", self.run_program("diff").out)

    def test_output_to_a_pipe_has_no_escape_sequences(self):
        self.assertNotIn("\x1b", self.outcome.all)
        self.assertNotIn("\r", self.outcome.all)

    def test_commit_has_tests_and_implementation_and_nothing_else(self):
        files = self.git("diff", "--name-status", "main", self.branch).split("\n")
        self.assertEqual([line for line in files if line], ["M\tCHANGELOG.md", "A\tdocs/slugs.md", "A\ttests/test_slug.py",
                                                            "M\ttextkit/__init__.py", "A\ttextkit/slug.py"])

    def test_log_of_the_branch_shows_the_patch(self):
        log = self.git("log", "-p", f"main..{self.branch}")
        self.assertIn("+def slugify(text: str) -> str:", log)
        self.assertIn("+class TestSlugify(unittest.TestCase):", log)
        self.assertIn("-__all__ = ", log)

    def test_commit_is_one_commit_on_top_of_main(self):
        self.assertEqual(self.git("rev-parse", self.branch + "^"), self.git("rev-parse", "main"))

    def test_commit_is_the_users(self):
        self.assertEqual(self.git("log", "-1", "--format=%an <%ae>", self.branch).strip(), "Test User <test@example.invalid>")

    def test_trailer_names_the_task(self):
        self.assertEqual(self.trailer("AgentForge-Task"), self.task())

    def test_trailer_names_a_record_of_the_journal(self):
        records = [f"{record['seq']}:{record['hash']}" for record in self.journal()]
        self.assertIn(self.trailer("AgentForge-Journal"), records)

    def trailer(self, name):
        return self.git("log", "-1", f"--format=%(trailers:key={name},valueonly)", self.branch).strip()

    def test_branch_can_be_checked_out_and_its_tests_pass(self):
        clone = self.folder / "clone"
        self.git("clone", "-q", "-b", self.branch, self.repository, clone)
        done = subprocess.run([sys.executable, "-B", "-m", "unittest", "discover", "-q"], cwd=clone, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Ran 26 tests", done.stderr)

    def test_object_store_is_sound(self):
        done = self.git("fsck", "--strict", "--full", check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_contexts_use_the_available_room(self):
        steps = self.steps()
        self.assertEqual(len(steps), 27)
        for step in steps:
            sections = step["section_tokens"]
            if sections["truncated"]:
                self.assertGreater(sections["total"], 8000 - 256, step)

    def contexts(self):
        """Returns each step with its context."""
        blobs = {blob["sha256"]: blob.get("text") for blob in yaml.safe_load((self.task_folder() / "artifacts" / "blobs" / "blobs.yaml").read_text())["blobs"]}
        return [(step, blobs[step["context_blob"]]) for step in self.steps()]

    def test_success_criteria_are_those_of_the_specification(self):
        criteria = ["REQ-001: 'Hello, World!' becomes 'hello-world'", "REQ-001: No slug begins or ends with a hyphen", "REQ-002: 'Crème brûlée' becomes 'creme-brulee'",
                    "REQ-003: '?!' becomes ''", "slugify is exported by the package"]
        shown = {step["phase"]: yaml.safe_load(context)["task_frame"]["success_criteria"] for step, context in self.contexts()}
        for phase in ("red", "green", "refactor", "deliver"):
            self.assertEqual(shown[phase][:5], criteria, phase)
            self.assertGreater(len(shown[phase]), 5)
        self.assertNotIn(criteria[0], shown["analyze"])

    def test_stable_context_parts_come_first(self):
        before = {}
        same = everything = 0
        for step, context in self.contexts():
            run = (step["phase"], step["agent"]["role"], step["visit"], step["run"])
            if run in before:
                same += len(os.path.commonprefix([before[run], context]))
                everything += len(context)
            before[run] = context
        self.assertGreater(same / everything, 0.75)

    def test_users_checkout_is_unchanged(self):
        for what, value in self.before.items():
            with self.subTest(what):
                self.assertEqual(value, self.after[what])

    def test_users_changes_are_named_as_not_included(self):
        self.assertIn("uncommitted changes are not part of this task", self.outcome.err)
        for path in ("README.md", "textkit/words.py", "notes.txt"):
            self.assertIn(path, self.outcome.err)

    def test_no_worktree_is_left(self):
        self.assertEqual(len(self.git("worktree", "list").splitlines()), 1)
        self.assertFalse((self.repository / ".git" / "worktrees").exists() and any((self.repository / ".git" / "worktrees").iterdir()))
        files = sorted(path for path in self.shared.state.rglob("*") if path.is_file())
        (journal,) = (self.shared.state / "proofs").iterdir()     # The last record that this machine wrote.
        self.assertEqual(files, [journal, self.shared.state / "redaction.key"])
        self.assertIn(self.journal()[-1]["hash"], journal.read_text())

    def test_every_yaml_file_is_valid_yaml(self):
        files = sorted((self.repository / ".agentforge").rglob("*.yaml"))
        self.assertGreaterEqual(len(files), 12)
        for path in files:
            with self.subTest(path.name):
                self.assertIsNotNone(yaml.safe_load(path.read_text(encoding="utf-8")))

    def test_inspect_agrees_with_the_journal_file(self):
        self.assertEqual(self.assert_journal_verifies(), self.journal())

    def test_status_agrees_with_the_state_file(self):
        state = yaml.safe_load((self.task_folder() / "state.yaml").read_text(encoding="utf-8"))
        shown = self.run_program("status", self.task(), "--json").json
        self.assertEqual((shown["status"], shown.pop("changed_artifacts")), ("completed", []))       # `status` computes this; state.yaml does not have it.
        self.assertEqual(shown.pop("figures")["steps"]["total"], state["steps"])                     # Computed as for the dashboard; not in state.yaml.
        for key, value in shown.items():
            with self.subTest(key):
                self.assertEqual(state[key], value)

    def test_every_stage_left_its_artifact(self):
        stages = {path.parent.name for path in (self.task_folder() / "artifacts" / "phases").rglob("*.yaml")}
        self.assertEqual(stages, {"intake", "clarify", "analyze", "spec", "red", "green", "refactor", "deliver"})

    def test_a_forbidden_write_was_refused_and_recorded(self):
        refused = [step for step in self.steps() if "is not allowed for" in step["result"]["summary"]]
        self.assertEqual([step["agent"]["role"] for step in refused], ["test_engineer", "software_developer"])

    def test_gate_found_the_unfinished_implementation(self):
        green = [gate["passed"] for gate in self.records("gate") if gate["gate"] == "green"]
        self.assertEqual(green, [False, True])

    def test_tests_failed_before_there_was_an_implementation(self):
        red = [gate for gate in self.records("gate") if gate["gate"] == "red"]
        self.assertEqual([gate["passed"] for gate in red], [True])
        self.assertIn("4 new tests fail", red[0]["summary"])

    def test_each_record_is_chained_to_the_one_before(self):
        records = self.journal()
        self.assertEqual([record["seq"] for record in records], list(range(1, len(records) + 1)))
        for before, after in zip(records, records[1:]):
            self.assertEqual(after["prev"], before["hash"])

    def test_every_step_can_be_shown_in_full(self):
        last = self.steps()[-1]["step"]
        for step in (1, 10, last):
            with self.subTest(step):
                shown = self.assert_code(self.run_program("inspect", self.task(), "--step", step), 0)
                for part in ("--- system prompt", "--- context", "--- answer", "--- result"):
                    self.assertIn(part, shown.out)

    def test_gate_time_is_shown_with_and_without_mutants(self):
        told = self.run_program("inspect", self.task(), "--gates", "--json").json
        commands = [command for gate in told["gates"] for command in gate["commands"]]
        self.assertTrue({"mutants", "change-taken-back"} <= {command.get("purpose") for command in commands})
        time = told["time"]
        self.assertEqual(time["total_ms"], sum(command["duration_ms"] for command in commands))
        self.assertTrue(0 < time["mutants_ms"] < time["total_ms"])
        self.assertTrue(0 < time["floor_ms"] < time["total_ms"])
        self.assertEqual(self.run_program("cost", self.task(), "--json").json["gate_time"], time)
        self.assertIn(" s for mutants; one clean build and one run of the suite: ", self.run_program("inspect", self.task(), "--gates").out)

    def test_green_refactor_and_delivery_run_the_suite_once_for_each_tree(self):
        runs = [command["tree"] for gate in self.records("gate") if gate["gate"] in ("green", "refactor", "deliver") and gate["passed"]
                for command in gate.get("commands", []) if command["command"] == "tests" and "purpose" not in command]
        self.assertEqual(len(runs), len(set(runs)), runs)

    def test_a_steps_diff_is_a_patch(self):
        step = next(step for step in self.steps() if step["action"]["type"] == "create_file" and step["result"]["status"] == "success")
        shown = self.run_program("inspect", self.task(), "--step", step["step"], "--show", "diff")
        self.assertIn("+class TestSlugify", shown.out)

    def test_a_steps_context_holds_the_request(self):
        self.assertIn(REQUEST, self.run_program("inspect", self.task(), "--step", "1", "--show", "context").out)

    def test_status_shows_eight_completed_stages_and_the_commit(self):
        shown = self.run_program("status", self.task()).out
        self.assertEqual(shown.count(" completed "), 8, shown)
        self.assertIn(self.git("rev-parse", self.branch).strip(), shown)

    def test_resume_does_not_rerun_a_completed_task(self):
        records = len(self.journal())
        outcome = self.run_program("resume", self.task())
        self.assert_code(outcome, 0)
        self.assertEqual(len(self.journal()), records)

    def test_a_completed_task_cannot_be_aborted(self):
        self.assert_error(self.run_program("abort", self.task()), "AF-ORCH-042", "has already ended")


class TestDeliveryPlaces(ProgramTest):
    """The folder in which the program starts makes no difference."""

    def test_runs_from_a_subfolder_and_from_elsewhere_give_the_same_tree(self):
        self.make_repository()
        first = self.assert_code(self.start("--json", cwd=self.repository / "textkit"), 0)
        second = self.assert_code(self.start("--json", "-C", self.repository / "tests", cwd=self.folder), 0)
        trees = {self.git("rev-parse", outcome.json["deliverable"]["branch"] + "^{tree}") for outcome in (first, second)}
        self.assertEqual(len(trees), 1)
        self.assertEqual(len(self.tasks()), 2)
        self.assertEqual(len(self.branches()), 3)

    def test_a_checkout_whose_path_has_spaces_and_unicode_works(self):
        self.make_repository("mein täxt & 'kit'")
        self.assert_code(self.start("--exit-after", "intake"), 0)

    def test_a_linked_worktree_of_the_user_works(self):
        self.make_repository()
        linked = self.folder / "linked"
        self.git("worktree", "add", "-q", "-b", "feature", linked)
        self.assert_code(self.start("--exit-after", "red", cwd=linked), 0)
        self.assertEqual(len(self.git("worktree", "list").splitlines()), 2)

    def test_a_detached_head_works(self):
        self.make_repository()
        self.git("checkout", "-q", "--detach")
        self.assert_code(self.start("--exit-after", "intake"), 0)

    def test_home_is_not_written_to(self):
        self.make_repository()
        self.assert_code(self.start("--exit-after", "red"), 0)
        self.assertEqual([str(path) for path in self.home.rglob("*")], [])


if __name__ == "__main__":
    main()
