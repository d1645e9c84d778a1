# SPDX-License-Identifier: Apache-2.0
"""`replay` repeats a task from its journal: on its own base, on another one, and in a scratch worktree."""

import fcntl
import hashlib
import json
import re
import shutil

import yaml

from harness import ProgramTest, main, rewrite_journal, short_transcript


class ReplayTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make_repository()
        self.deliver(transcript=short_transcript())
        self.recorded = self.task()

    def refs(self):
        return self.git("for-each-ref", "--format=%(refname) %(objectname)")

    def replay(self):
        return next(task for task in self.tasks() if task != self.recorded)


class TestReplay(ReplayTest):
    """One recorded task. A run takes seconds, so the tests share it."""

    def test_on_the_same_base_everything_matches(self):
        with self.subTest("--verify finds all as recorded and leaves nothing behind"):
            before, journal = self.refs(), self.journal()
            told = self.assert_code(self.run_program("replay", self.recorded, "--verify", "--json"), 0).json
            self.assertEqual(told["differences"], [])
            self.assertTrue(told["as_recorded"])
            self.assertEqual(told["tree"], self.delivered_tree())
            self.assertEqual(told["compared"]["actions"], len(self.steps()))
            self.assertEqual((self.refs(), self.journal(), self.tasks()), (before, journal, [self.recorded]))
            self.assertEqual(len(self.git("worktree", "list").splitlines()), 1)
        with self.subTest("without a task it takes the newest"):
            told = self.assert_code(self.run_program("replay", "--verify"), 0)
            self.assertIn(f"agentforge: task {self.recorded[-8:]} (completed)", told.err)
            self.assertIn(f"As recorded: {self.recorded[-8:]}\n", told.out)
        with self.subTest("a replay is a task of its own that delivers the same tree"):
            told = self.assert_code(self.run_program("replay", self.recorded), 0)
            self.assertIn("Replayed " + self.recorded[-8:], told.out)
            self.assertEqual(self.delivered_tree(self.replay()), self.delivered_tree(self.recorded))
            self.assertEqual(self.records("task_created", self.replay())[0]["replay_of"], self.recorded)
            self.assert_journal_verifies(self.replay())


class TestReplayOntoAnotherBase(ReplayTest):
    def commit_on(self, branch, path, text):
        self.git("checkout", "-q", "-b", branch, "main")
        (self.repository / path).parent.mkdir(parents=True, exist_ok=True)
        (self.repository / path).write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "Meanwhile")
        self.git("checkout", "-q", "main")

    def test_unrelated_files_of_the_new_base_are_kept(self):
        self.commit_on("other", "other.py", "VALUE = 1\n")
        self.assert_code(self.run_program("replay", self.recorded, "--onto", "other"), 0)
        replay = self.replay()
        self.assertEqual(self.git("show", f"agentforge/{replay}:other.py"), "VALUE = 1\n")
        self.assertEqual(self.git("rev-parse", f"agentforge/{replay}~1"), self.git("rev-parse", "other"))
        self.assertIn("slugify", self.git("show", f"agentforge/{replay}:textkit/slug.py"))

    def test_a_conflicting_action_stops_it_and_continue_skips_the_action(self):
        test_file = next(change["path"] for step in self.steps() if step["phase"] == "red" for change in step.get("changes", []))
        self.commit_on("other", test_file, "mine = 1\n")
        stopped = self.run_program("replay", self.recorded, "--onto", "other")
        self.assertEqual(stopped.code, 1, stopped)
        self.assertIn("AF-RPLY-002", stopped.err)
        self.assertIn("recorded: success", stopped.out)
        self.assertIn("now:      failure", stopped.out)
        first = next(step["step"] for step in self.steps(self.recorded) if step["phase"] == "green")
        with self.subTest("what the stopped replay did not reach is not missing, and begins with the first such step"):
            self.assertIn(" steps; this is the first\n    now:      the replay stopped before it (", stopped.out)
            place = re.search(r"step (\d+) \((\w+), \w+\): not reached", stopped.out)
            self.assertTrue(place, stopped.out)
            self.assertLessEqual(int(place.group(1)), first)
            self.assertNotEqual(place.group(2), "deliver")
            self.assertNotIn("missing", stopped.out)
        replay = self.replay()
        self.assertIn(f"agentforge replay {replay[-8:]} --continue", stopped.err)
        self.assertEqual(self.git("show", f"other:{test_file}"), "mine = 1\n")
        done = len(self.steps(replay))
        gone_on = self.run_program("replay", replay, "--continue")
        self.assertGreater(len(self.steps(replay)), done)
        self.assertIn("Replayed " + self.recorded[-8:], gone_on.out)


class TestReplayActionsOnly(ReplayTest):
    def test_the_changes_alone_give_the_recorded_tree(self):
        known = self.tasks()
        told = self.assert_code(self.run_program("replay", self.recorded, "--actions-only", "--json"), 0).json
        self.assertEqual(told["tree"], self.delivered_tree())
        self.assertGreater(told["done"], 2)
        self.assertEqual(told["differences"], [])
        self.assertEqual(self.tasks(), known)
        self.assertEqual(self.git("rev-parse", f"refs/agentforge/{self.recorded}/replayed").strip(), told["tree"])
        self.assertEqual(len(self.git("worktree", "list").splitlines()), 1)

    def test_a_conflicting_action_stops_it_or_is_skipped(self):
        self.git("checkout", "-q", "-b", "other", "main")
        (self.repository / "CHANGELOG.md").write_bytes(b"\0binary")
        self.git("commit", "-q", "-am", "Meanwhile")
        self.git("checkout", "-q", "main")
        told = self.assert_code(self.run_program("replay", self.recorded, "--actions-only", "--onto", "other"), 1)
        self.assertIn("does not fit", told.out)
        self.assertIn("--continue", told.out)
        told = self.assert_code(self.run_program("replay", self.recorded, "--actions-only", "--onto", "other", "--continue", "--json"), 1).json
        self.assertEqual(len(told["differences"]), 1)
        self.assertIn("CHANGELOG.md", told["differences"][0]["recorded"])
        self.assertIn("slugify", self.git("show", f"{told['tree']}:textkit/slug.py"))
        self.assertEqual(self.git("show", f"{told['tree']}:CHANGELOG.md"), "\0binary")


class TestReplayRejudge(ReplayTest):
    RULE = """agentforge_conformance: 1
category: "style"
checks:
  - id: "no-unicodedata"
    severity: "critical"
    enforcement: "every_edit"
    applies_to: ["textkit/**"]
    pattern: "unicodedata"
    message: "unicodedata is not allowed."
"""

    def test_verdicts_use_the_current_rules(self):
        journal = (self.task_folder() / "actions.yaml").read_bytes()
        told = self.assert_code(self.run_program("replay", "--all", "--rejudge", "--json"), 0).json
        self.assertFalse(told["changed"])
        self.assertTrue({"red", "green", "deliver"} <= {one["gate"] for one in told["tasks"][0]["verdicts"]})
        rules = self.repository / ".agentforge" / "conformance"
        rules.mkdir()
        (rules / "own.yaml").write_text(self.RULE)
        changed = self.assert_code(self.run_program("replay", self.recorded, "--rejudge"), 1)
        self.assertIn("gate green", changed.out)
        self.assertIn("its settings or rules have changed since", changed.out)
        self.assertIn("recorded: passed", changed.out)
        self.assertIn("now:      failed", changed.out)
        self.assertIn("unicodedata", changed.out)
        with self.subTest("--verify stops where the gate refuses what it accepted"):
            told = self.assert_code(self.run_program("replay", self.recorded, "--verify", "--json"), 1).json
            self.assertIn("verdict", {one["kind"] for one in told["differences"]})
            self.assertTrue(any("have changed since" in one["where"] for one in told["differences"]))
        self.assertEqual((self.task_folder() / "actions.yaml").read_bytes(), journal)
        self.assertEqual(len(self.git("worktree", "list").splitlines()), 1)


class TestReplayOfAChangedRecording(ReplayTest):
    """A recording with false contents and a valid chain. Only a replay shows the difference."""

    def blob(self, identity):
        blobs = yaml.safe_load((self.task_folder(self.recorded) / "artifacts/blobs/blobs.yaml").read_text())["blobs"]
        return json.loads(next(blob["text"] for blob in blobs if blob["sha256"] == identity))

    def keep(self, value):
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        identity = hashlib.sha256(text.encode()).hexdigest()
        with open(self.task_folder(self.recorded) / "artifacts/blobs/blobs.yaml", "a", encoding="utf-8") as blobs:
            blobs.write("- " + json.dumps({"sha256": identity, "bytes": len(text.encode()), "text": text}, ensure_ascii=False) + "\n")
        return identity

    def change_the_first_edit(self, whole=None, **fields):
        """Changes the step that wrote the tests: `whole` replaces its stored contents, `fields` change its record. Returns the old record."""
        first = next(step for step in self.steps(self.recorded) if step.get("changes"))
        self.step = first["step"]

        def change(record):
            if record["type"] == "step" and record["step"] == self.step:
                if whole:
                    record["record_blob"] = self.keep({**self.blob(record["record_blob"]), **whole})
                record.update(fields)
            return record

        rewrite_journal(self.task_folder(self.recorded) / "actions.yaml", change)
        return first

    def differences(self):
        self.assert_journal_verifies(self.recorded)
        told = self.assert_code(self.run_program("replay", self.recorded, "--verify", "--json"), 1).json
        self.assertFalse(told["as_recorded"])
        return [(one["kind"], one["where"].partition(",")[0], one["recorded"], one["now"]) for one in told["differences"]]

    def test_a_changed_observation_is_reported(self):
        self.change_the_first_edit(whole={"output": "The file tests/test_other.py was created.\n"})
        self.assertEqual(self.differences(), [("observation", f"step {self.step} (red", "The file tests/test_other.py was created.", "The file tests/test_slug.py was created.")])

    def test_a_changed_tree_is_reported(self):
        base = self.git("rev-parse", "main^{tree}").strip()
        recorded = self.change_the_first_edit(whole={"tree": base}, tree=base)
        self.assertEqual(self.differences()[0], ("tree", f"step {self.step} (red", base, recorded["tree"]))

    def test_a_tree_that_only_the_journal_names_otherwise_is_reported(self):
        base = self.git("rev-parse", "main^{tree}").strip()
        recorded = self.change_the_first_edit(tree=base)
        self.assertEqual(self.differences()[0], ("tree", f"step {self.step} (red", base, recorded["tree"]))

    def test_a_result_that_only_the_journal_gives_otherwise_is_reported(self):
        self.change_the_first_edit(result={"status": "failure", "summary": "refused"})
        self.assertEqual(self.differences(), [("observation", f"step {self.step} (red", "failure", "success")])

    def test_a_changed_file_that_only_the_journal_gives_otherwise_is_reported(self):
        recorded = next(step for step in self.steps(self.recorded) if step.get("changes"))
        (change,) = recorded["changes"]
        self.change_the_first_edit(changes=[{**change, "after_sha256": "0" * 64}])
        self.assertEqual(self.differences(), [("observation", f"step {self.step} (red", f"{change['path']}, before no such file, after a file with SHA-256 000000000000",
                                               f"{change['path']}, before no such file, after a file with SHA-256 {change['after_sha256'][:12]}")])

    def test_a_changed_artifact_is_reported(self):
        identities = {}

        def change(record):
            if record["type"] == "artifact_accepted" and record["stage"] == "spec":
                identities[record["artifact_hash"]] = self.keep({**self.blob(record["artifact_hash"]), "title": "Another title"})
            if record.get("artifact_hash") in identities:
                record["artifact_hash"] = identities[record["artifact_hash"]]
            return record

        rewrite_journal(self.task_folder(self.recorded) / "actions.yaml", change)
        self.assertEqual(self.differences(), [("artifact", "artifact of stage spec", '  "title": "Another title",', '  "title": "Add slugify",')])

    def test_audit_verify_finds_each_by_what_names_the_last_record(self):
        self.change_the_first_edit(whole={"output": "The file tests/test_other.py was created.\n"})
        found = self.assert_code(self.run_program("audit", "verify", self.recorded, "--json"), 1).json["findings"]
        self.assertEqual({finding["part"] for finding in found if finding["answer"] == "fails"}, {"projections", "commit", "end", "statement"})


class TestReplayOfARebasedTask(ReplayTest):
    def setUp(self):
        super().setUp()
        (self.repository / "notes.md").write_text("Meanwhile.\n")
        self.git("add", "notes.md")
        self.git("commit", "-q", "-m", "Meanwhile")
        self.assert_code(self.go_on("rebase", self.recorded), 0)

    def test_everything_before_the_rebase_matches(self):
        self.assertTrue(self.assert_code(self.run_program("replay", self.recorded, "--verify", "--json"), 0).json["as_recorded"])

    def test_the_rebased_tree_is_judged_again(self):
        (judged,) = self.assert_code(self.run_program("replay", self.recorded, "--rejudge", "--json"), 0).json["tasks"]
        (rebase,) = [one for one in judged["verdicts"] if one["stage"] == "rebase"]
        self.assertEqual((rebase["gate"], rebase["tree"]), ("deliver", self.git("rev-parse", f"agentforge/{self.recorded}^{{tree}}").strip()))


class TestReplayOfADeliveryWithHooks(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make_repository()
        self.hook = self.repository / ".git/hooks/pre-commit"
        self.hook.parent.mkdir(exist_ok=True)
        self.hook.write_text("#!/bin/sh\nexit 0\n")
        self.hook.chmod(0o755)
        self.deliver(transcript=short_transcript())

    def test_the_other_gates_are_judged_again(self):
        (judged,) = self.assert_code(self.run_program("replay", self.task(), "--rejudge", "--json"), 0).json["tasks"]
        self.assertIn("deliver", [one["gate"] for one in judged["verdicts"]])

    def test_missing_hooks_and_another_type_of_delivery_are_no_difference(self):
        self.hook.unlink()
        told = self.assert_code(self.run_program("replay", self.task(), "--verify", "--json", "--set", "delivery.type=branch"), 0).json
        self.assertEqual(told["differences"], [])


class TestReplayOfPeople(ProgramTest):
    def test_an_approval_applies_only_to_the_approved_artifact(self):
        self.make_repository()
        self.assert_code(self.start("--approve", "spec", "--exit-after", "spec", transcript=short_transcript()), 22)
        recorded = self.task()
        self.assert_code(self.go_on("approve", recorded), 0)
        self.assert_code(self.run_program("replay", recorded), 0)
        replay = next(task for task in self.tasks() if task != recorded)
        decided = self.records("approval_decided", replay)[0]
        self.assertTrue(decided["approved"])
        self.assertEqual(decided["decided_by"], f"user, repeated from task {recorded}")


class TestReplayRefusals(ReplayTest):
    def test_a_task_that_cannot_be_replayed_is_refused(self):
        with self.subTest("unknown task"):
            self.assert_error(self.run_program("replay", "nothing", "--verify"), "AF-TASK-002")
        with self.subTest("unknown branch"):
            self.assert_error(self.run_program("replay", self.recorded, "--onto", "nothing"), "AF-RPLY-004", "nothing")
        with self.subTest("no replay to go on with"):
            self.assert_error(self.run_program("replay", self.recorded, "--continue"), "AF-RPLY-008")
        with self.subTest("a command line with a task and --all"):
            self.assert_error(self.run_program("replay", self.recorded, "--all", "--rejudge"), "AF-CLI-001", exit_code=2)
            self.assert_error(self.run_program("replay", self.recorded, "--continue", "--onto", "main"), "AF-CLI-001", exit_code=2)
        with self.subTest("a task that is being run"):
            with open(self.task_folder() / "lock") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                self.assert_error(self.run_program("replay", self.recorded, "--verify"), "AF-RPLY-001", "agentforge pause")
        with self.subTest("a blob that is gone"):
            blobs = self.task_folder() / "artifacts" / "blobs"
            shutil.copytree(blobs, self.folder / "blobs")
            (blobs / "blobs.yaml").unlink()
            self.assert_error(self.run_program("replay", self.recorded, "--verify"), "AF-RPLY-006")
            shutil.copy(self.folder / "blobs" / "blobs.yaml", blobs / "blobs.yaml")
        self.assertEqual(self.tasks(), [self.recorded])


if __name__ == "__main__":
    main()
