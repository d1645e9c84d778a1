# SPDX-License-Identifier: Apache-2.0
"""Each exit code of the table in docs/cli.md, from the program itself, with and without --json."""

import json

import yaml

from harness import REQUEST, ProgramTest, main, short_transcript


class TestExitCodes(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make_repository()

    def pipeline(self, *stages):
        """Writes the project's own pipeline `mine`. A stage inherits unset keys from `implement`."""
        folder = self.repository / ".agentforge" / "pipelines"
        folder.mkdir(parents=True)
        (folder / "mine.yaml").write_text(yaml.safe_dump({"pipeline": {"name": "mine", "description": "x", "goal_type": "implement", "stages": list(stages)}}))
        return "--pipeline", "mine"

    def test_0_is_success(self):
        outcome = self.assert_code(self.start("--exit-after", "intake", "--json"), 0)
        self.assertEqual((outcome.json["exit_code"], outcome.json["status"]), (0, "completed"))

    def test_1_is_a_failure_or_a_missing_requirement(self):
        self.assert_error(self.run_program("start", "--transcript", self.folder / "none.yaml", REQUEST), "AF-LLM-205", exit_code=1)
        self.assert_error(self.run_program("status", "nobody"), "AF-TASK-002", exit_code=1)

    def test_2_is_a_usage_error(self):
        self.assert_error(self.run_program("strat", REQUEST), "AF-CLI-001", "did you mean `agentforge start`?", exit_code=2)
        self.assertEqual(self.assert_code(self.run_program("status", "--jsn", "--json"), 2).json["error"]["code"], "AF-CLI-001")
        self.assert_error(self.run_program("audit", "1f2e3d4c", "--format", "markdown"), "AF-CLI-001", "`markdown` is not a value of --format", exit_code=2)

    def test_20_is_a_stage_timeout(self):
        model = self.folder / "model.sh"
        model.write_text("#!/bin/sh\nexec sleep 60\n")
        model.chmod(0o755)
        own = self.pipeline({"name": "intake", "timeout_seconds": 1, "max_retries": 0})
        outcome = self.run_program("start", *own, "--json", "--set", "llm.backend=cli", "--set", f"llm.command=[{model}]", REQUEST)
        self.assert_code(outcome, 20)
        self.assertEqual((outcome.json["exit_code"], outcome.json["error"]["code"]), (20, "AF-ORCH-002"))

    def test_21_is_the_cycle_limit(self):
        hook = self.repository / ".git/hooks/pre-commit"
        hook.write_text("#!/bin/sh\ngit diff --cached --name-only | grep -q slug.py || exit 0\necho 'slug.py:1: no licence line' >&2\nexit 1\n")
        hook.chmod(0o755)
        stages = [{"name": name} for name in ("intake", "clarify", "analyze", "spec", "red", "green", "refactor", "deliver")]
        stages[5]["max_cycles"] = 0
        outcome = self.assert_code(self.start(*self.pipeline(*stages), "--json", transcript=short_transcript()), 21)
        self.assertEqual((outcome.json["exit_code"], outcome.json["waiting_for"]), (21, "escalation"))
        self.assertIn("ESC-", outcome.json["waiting_id"])

    def test_22_is_a_person_needed_and_23_a_rejection_by_a_person(self):
        outcome = self.assert_code(self.start("--approve", "intake", "--exit-after", "intake", "--json"), 22)
        self.assertEqual((outcome.json["exit_code"], outcome.json["waiting_for"]), (22, "approval"))
        outcome = self.assert_code(self.run_program("reject", self.task(), "--json"), 23)
        self.assertEqual((outcome.json["exit_code"], outcome.json["status"]), (23, "aborted"))

    def test_22_is_also_a_reached_limit(self):
        outcome = self.assert_code(self.start("--set", "limits.max_steps=1", "--output-format", "stream-json"), 22)
        self.assertEqual(json.loads(outcome.out.splitlines()[-1])["exit_code"], 22)


if __name__ == "__main__":
    main()
