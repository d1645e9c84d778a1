# SPDX-License-Identifier: Apache-2.0
"""A task that goes on from a step of another one, and two tasks side by side."""

import shutil

from harness import REQUEST, ProgramTest, call, entry, main, short_transcript


class ForkTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make_repository()
        self.assert_code(self.start(transcript=short_transcript()), 0)
        self.parent = self.task()

    def newest(self, known):
        return next(task for task in self.tasks() if task not in known)

    def last_step_of(self, stage):
        return max(step["step"] for step in self.steps(self.parent) if step["phase"] == stage)


class TestFork(ForkTest):
    """One finished task, forked where GREEN began (a run takes seconds, so the cases are steps of one)."""

    def test_a_fork_continues_from_its_step_and_outlives_its_parent(self):
        step = self.last_step_of("red")
        before = (self.task_folder(self.parent) / "actions.yaml").read_bytes()
        forked = self.assert_code(self.go_on("fork", self.parent, "--from-step", step, "--with-feedback", "Keep it short", "--json"), 0).json
        child = forked["task_id"]
        with self.subTest("it delivers its own commit, and the parent is as it was"):
            self.assertEqual(self.delivered_tree(child), self.delivered_tree(self.parent))
            self.assertEqual((self.task_folder(self.parent) / "actions.yaml").read_bytes(), before)
            self.assertIn(f"AgentForge-Task: {child}", self.git("log", "-1", "--format=%B", f"agentforge/{child}"))
        with self.subTest("history is shared: its own journal begins after the step, at the parent's hash"):
            own = self.journal(child)
            recorded = next(record for record in self.journal(self.parent) if record["type"] == "step" and record["step"] == step)
            self.assertEqual((own[0]["type"], own[0]["seq"], own[0]["from_step"]), ("forked", recorded["seq"] + 1, step))
            self.assertIn(recorded["hash"], (self.task_folder(child) / "actions.yaml").read_text().split("actions:")[0])
            self.assertEqual((self.task_folder(child) / "history" / f"{self.parent}.yaml").stat().st_ino, (self.task_folder(self.parent) / "actions.yaml").stat().st_ino)
            self.assertEqual([record["step"] for record in own if record["type"] == "step"][0], step + 1)
        with self.subTest("what was done and used before the step is not done again"):
            stages = [record["stage"] for record in own if record["type"] == "stage_started"]
            self.assertNotIn("spec", stages)
            self.assertNotIn("red", stages)
        with self.subTest("the feedback is heard"):
            self.assertEqual(next(record for record in own if record["type"] == "task_resumed")["guidance"], "Keep it short")
        with self.subTest("the parent's proof still holds"):
            self.assert_code(self.run_program("audit", "verify", self.parent), 0)
        with self.subTest("a fork of the fork from a step that both share is one of the parent"):
            shared = self.assert_code(self.run_program("fork", child, "--from-step", 2, "--no-resume", "--json"), 0).json["task_id"]
            self.assert_journal_verifies(shared)
            self.assertEqual(self.records("forked", shared)[-1]["parent"], self.parent)
            self.assert_code(self.run_program("replay", child, "--actions-only"), 0)
        with self.subTest("without the parent's folder and refs it is whole"):
            shutil.rmtree(self.task_folder(self.parent))
            for ref in self.git("for-each-ref", "--format=%(refname)", f"refs/agentforge/{self.parent}").split():
                self.git("update-ref", "-d", ref)
            self.assert_journal_verifies(child)
            self.assertIn("slugify", self.run_program("inspect", child, "--step", step, "--show", "context").out)
            steps = [record["step"] for record in self.journal(child) if record["type"] == "step"]
            for number in range(1, max(steps) + 1):
                self.assert_code(self.run_program("inspect", child, "--step", number), 0)
        with self.subTest("a fork of a fork"):
            grandchild = self.assert_code(self.run_program("fork", child, "--from-step", step + 1, "--no-resume", "--json"), 0).json["task_id"]
            shutil.rmtree(self.task_folder(child))
            self.assert_journal_verifies(grandchild)
            self.assert_code(self.go_on("resume", grandchild), 0)

    def test_other_settings_rerun_the_gates_and_keep_the_work(self):
        self.environment["PATH"] += ":/nonexistent"      # Part of what a gate's verdict depends on.
        forked = self.assert_code(self.go_on("fork", self.parent, "--from-step", self.last_step_of("green"), "--json"), 0).json
        own = self.journal(forked["task_id"])
        self.assertEqual([record for record in own if record["type"] == "artifact_rejected"], [])
        self.assertEqual([record["phase"] for record in own if record["type"] == "step" and record["phase"] == "green"], [])
        self.assertIn("green", [record["gate"] for record in own if record["type"] == "gate"])

    def test_usage_of_the_parent_counts_once_among_all_tasks(self):
        before = self.run_program("stats", "--json").json
        child = self.assert_code(self.run_program("fork", self.parent, "--from-step", self.last_step_of("red"), "--no-resume", "--json"), 0).json["task_id"]
        after = self.run_program("stats", "--json").json
        self.assertEqual((after["tasks"], after["tokens"]), (before["tasks"] + 1, before["tokens"]))
        self.assertGreater(self.run_program("cost", child, "--json").json["total"]["input_tokens"], 0)

    def test_a_fork_with_an_unknown_backend_is_refused(self):
        before = self.tasks()
        self.assert_error(self.run_program("fork", self.parent, "--from-step", 2, "--backend", "nosuch", "--no-resume"), "AF-PLUG-010", "nosuch")
        self.assertEqual(self.tasks(), before)

    def test_a_change_of_the_shared_history_is_found(self):
        child = self.assert_code(self.run_program("fork", self.parent, "--from-step", 2, "--no-resume", "--json"), 0).json["task_id"]
        history = self.task_folder(child) / "history" / f"{self.parent}.yaml"
        bytes_before = history.read_bytes()
        history.unlink()
        history.write_bytes(bytes_before.replace(b'"type": "step"', b'"type": "stop"', 1))
        self.assert_error(self.run_program("inspect", child), "AF-JRNL-002", history.name)
        history.unlink()
        self.assert_error(self.run_program("inspect", child), "AF-JRNL-013", history.name)

    def test_a_missing_step_is_refused(self):
        last = max(step["step"] for step in self.steps(self.parent))
        self.assert_error(self.run_program("fork", self.parent, "--from-step", last + 1), "AF-TASK-017", str(last))
        self.assert_error(self.run_program("fork", "nothing", "--from-step", 1), "AF-TASK-002")
        self.assertEqual(self.tasks(), [self.parent])


class TestCompare(ForkTest):
    def test_the_first_different_answer_is_named_in_each_format(self):
        other = short_transcript()
        entry(other, "green", 2)["tool_calls"] = call("complete", summary="Another summary.", file_notes={"textkit/slug.py": "<script>alert(1)</script>"})
        outcome = self.assert_code(self.start("--compare-to", self.parent, transcript=other), 0)
        task = self.newest([self.parent])
        with self.subTest("start --compare-to"):
            self.assertIn("first different answer: stage green", outcome.out)
            self.assertIn("Another summary.", outcome.out)
            self.assertIn("The trees are the same.", outcome.out)
        with self.subTest("as JSON"):
            told = self.assert_code(self.run_program("compare", self.parent, task, "--format", "json"), 0).json
            self.assertEqual([parting["of"] for parting in told["partings"]][:2], ["answer", "action"])
            self.assertEqual(told["partings"][0]["stage"], "green")
            self.assertTrue(told["same_tree"])
            self.assertIn(("green", "summary"), [(field["stage"], field["field"]) for field in told["artifacts"]])
            self.assertEqual([figures["task_id"] for figures in told["tasks"]], [self.parent, task])
        with self.subTest("as one page that runs nothing"):
            page = self.assert_code(self.run_program("compare", self.parent, task, "--format", "html"), 0).out
            self.assertTrue(page.startswith("<!DOCTYPE html>"))
            self.assertIn("&lt;script&gt;alert(1)", page)
            self.assertNotIn("<script", page)
            self.assertNotIn("http://", page)
        with self.subTest("a task with itself"):
            self.assertIn("The paths are the same.", self.assert_code(self.run_program("compare", task, task), 0).out)
        with self.subTest("an unknown task is refused before anything is started"):
            self.assert_error(self.run_program("compare", task, "nothing"), "AF-TASK-002")
            known = self.tasks()
            self.assert_error(self.start("--compare-to", "nothing", transcript=other, request=REQUEST), "AF-TASK-002")
            self.assertEqual(self.tasks(), known)


if __name__ == "__main__":
    main()
