# SPDX-License-Identifier: Apache-2.0
"""Runs today's gates and rules on tasks that older versions ended (tests/kept_tasks)."""

import shutil

import yaml
from harness import SOURCE, ProgramTest, main

KEPT = SOURCE / "tests" / "kept_tasks"
TASKS = yaml.safe_load((KEPT / "kept_tasks.yaml").read_text(encoding="utf-8"))
FIELDS = {"shows", "made_by", "needs", "settings", "changed"}
BUILT = ("c", "cpp", "go", "java", "rust")
SECONDS = 600


class KeptTasks(ProgramTest):
    def setUp(self):
        super().setUp()
        for name in ("AGENTFORGE_GATES_MUTANTS", "AGENTFORGE_GATES_BASELINE_RUNS"):
            del self.environment[name]

    def bring_back(self, name):
        """Clones the task's repository and restores the task from its archive."""
        self.repository = self.folder / name
        self.git("clone", "-q", KEPT / f"{name}.bundle", self.repository, cwd=self.folder)
        self.git("fetch", "-q", "origin", "refs/agentforge/*:refs/agentforge/*", "refs/heads/agentforge/*:refs/heads/agentforge/*")
        self.assert_code(self.run_program("archive", "restore", "--all"), 0)
        return self.task()

    def judge_again(self, name):
        kept = TASKS[name]
        missing = [program for program in kept["needs"] if shutil.which(program, path=self.environment["PATH"]) is None]
        if missing:
            self.skipTest(f"{', '.join(missing)} is not installed")
        task = self.bring_back(name)
        self.assert_code(self.run_program("audit", "verify", task), 0)
        judged = [record["seq"] for record in self.assert_journal_verifies(task)
                  if record["type"] == "rebased" or record["type"] == "gate" and not record["partial"] and record["gate"] not in ("baseline", "hooks")]
        settings = [word for key, value in kept.get("settings", {}).items() for word in ("--set", f"{key}={value}")]
        outcome = self.run_program("replay", *settings, task, "--rejudge", "--json", seconds=SECONDS)
        self.assertIn(outcome.code, (0, 1), outcome)
        told = outcome.json
        self.assertEqual(told["problems"], [])
        verdicts = told["tasks"][0]["verdicts"]
        self.assertTrue(judged)
        self.assertEqual([one["seq"] for one in verdicts], judged)
        changed = {one["seq"]: f"gate {one['gate']}: recorded: {one['recorded']}; now: {one['now']}" for one in verdicts if one["changed"]}
        expected = kept.get("changed", {})
        self.assertEqual(sorted(changed), sorted(expected), f"the verdicts that changed: {changed}")
        self.assert_code(outcome, 1 if expected else 0)


class TestKeptTasks(KeptTasks):
    """One test for each task; the loop below adds them."""

    def test_every_kept_task_is_described(self):
        self.assertEqual(sorted(TASKS), sorted(file.stem for file in KEPT.glob("*.bundle")))
        self.assertEqual({name: set(kept) - FIELDS for name, kept in TASKS.items() if set(kept) - FIELDS}, {})
        self.assertGreaterEqual(len(TASKS), 10)


class TestKeptTasksThatBuild(KeptTasks):
    """The same for languages with slow builds. A separate class, so ctest can run the two in parallel."""


for each in TASKS:
    setattr(TestKeptTasksThatBuild if each in BUILT else TestKeptTasks, f"test_{each}", lambda test, name=each: test.judge_again(name))


if __name__ == "__main__":
    main()
