# SPDX-License-Identifier: Apache-2.0
"""The log of a project, as an operator reads it. tests/unit/program/log_test.cpp has the individual cases."""

import json
import re

from harness import ProgramTest, call, insert, main, short_transcript

SECRET = "Zx8Cv5Bn2Mq1We4Rt7Yu"
COMMON = ["time", "level", "component", "event", "task_id", "stage", "step", "trace_id", "span_id", "pid"]


class TestLog(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make_repository()
        self.file = self.repository / ".agentforge" / "logs" / "agentforge.log"

    def lines(self):
        return [json.loads(line) for line in self.file.read_text().splitlines()]

    def test_a_paused_and_resumed_task_is_one_trace_with_a_span_per_stage(self):
        self.assert_code(self.start("--approve", "intake", "--exit-after", "clarify"), 22)
        self.assert_code(self.go_on("approve", self.task()), 0)
        lines = self.lines()
        for line in lines:
            self.assertEqual(list(line)[:10], COMMON)
        of_task = [line for line in lines if line["task_id"]]
        self.assertEqual({(line["task_id"], line["trace_id"]) for line in of_task}, {(self.task(), of_task[0]["trace_id"])})
        self.assertEqual(len({line["pid"] for line in lines}), 2)
        spans = {line["stage"]: line["span_id"] for line in of_task if line["event"] == "stage_completed"}
        self.assertEqual(len({of_task[0]["span_id"], *spans.values()}), 3)
        moves = [(line["from_stage"], line["to_stage"]) for line in lines if line["event"] == "stage_transition"]
        self.assertEqual(moves, [(None, "intake"), ("intake", "clarify"), ("clarify", None)])
        self.assertEqual([line["command"] for line in lines if line["event"] == "run_started"], ["start", "approve"])

    def test_an_error_is_logged_without_secrets_and_a_pause_with_its_reason(self):
        self.environment["SHOP_KEY"] = SECRET
        self.assert_code(self.start("--set", "limits.max_steps=1"), 22)
        paused = [line for line in self.lines() if line["event"] == "task_paused"]
        self.assertEqual([line["reason"].split(":")[0] for line in paused], ["AF-COST-012"])
        self.assert_error(self.run_program("resume", f"x{SECRET}"), "AF-TASK-002")
        last = self.lines()[-1]
        self.assertEqual((last["event"], last["level"], last["code"]), ("error", "error", "AF-TASK-002"))
        self.assertNotIn(SECRET, self.file.read_text())

    def test_cuts_to_fit_the_context_budget_are_logged(self):
        """Task 003, scenario 8: each step records which parts were cut, and the log has a line when that changes."""
        (self.repository / "README.md").write_text("".join(f"Line {number} of more than a context has room for.\n" for number in range(600)), encoding="utf-8")
        self.git("commit", "-q", "-a", "-m", "Say much")
        transcript = short_transcript()
        insert(transcript, "intake", "requirements_analyst", 1, call("read_file", path="README.md"))
        self.assert_code(self.start("--set", "context.max_tokens=4400", "--exit-after", "intake", transcript=transcript), 0)
        tokens = [step["section_tokens"] for step in self.steps()]
        self.assertIn("last_result", tokens[-1]["truncated"])
        changed = [each for before, each in zip([{"truncated": []}, *tokens], tokens) if each["truncated"] != before["truncated"]]
        lines = [line for line in self.lines() if line.get("message", "").startswith("parts of the context were cut")]
        self.assertEqual([(line["level"], line["stage"], line["fields"]["section_tokens"]) for line in lines], [("info", "intake", each) for each in changed])

    def test_text_format_is_readable_and_obeys_the_level_setting(self):
        self.assert_code(self.start("--exit-after", "intake", "--set", "log.format=text", "--set", "log.level=error", "--set", "log.levels.model=debug"), 0)
        for line in self.file.read_text().splitlines():
            self.assertRegex(line, r"^\d{4}-\d\d-\d\dT[\d:.]+Z debug   model model_answered task_id=task-")

    def test_a_command_that_fails_in_a_repository_without_tasks_leaves_nothing(self):
        self.assert_error(self.run_program("resume", "nobody"), "AF-TASK-002")
        self.assertFalse((self.repository / ".agentforge").exists())

    def test_each_setting_of_the_log_is_checked(self):
        for setting in ("log.level=loud", "log.levels.modle=debug", "log.format=xml", "log.kept_files=-1", "log.max_file_bytes=1"):
            with self.subTest(setting):
                outcome = self.start("--set", setting)
                self.assertEqual(outcome.code, 1)
                self.assertTrue(re.search(r"AF-CONF-02[01]: .*log\.", outcome.err), outcome)
        self.assertEqual(self.tasks(), [])


if __name__ == "__main__":
    main()
