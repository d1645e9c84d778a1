# SPDX-License-Identifier: Apache-2.0
"""Interactive tasks, in which a person decides on every action: by command, by file, at the terminal, and from two places at once."""

import re

import yaml

from harness import REQUEST, ProgramTest, main, short_transcript, wait_until
from terminal import Terminal


class InteractiveTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make_repository()

    def asked(self, *arguments):
        """Starts a task that waits for a decision on its first action."""
        outcome = self.start("--interactive", "--exit-after", "intake", *arguments, transcript=short_transcript())
        self.assert_code(outcome, 22)
        return outcome

    def open(self):
        listed = self.run_program("escalations", "list", "--json").json["escalations"]
        self.assertEqual(len(listed), 1, listed)
        self.assertEqual(listed[0]["kind"], "action")
        return listed[0]

    def answer_file(self, identity, text):
        (self.repository / ".agentforge" / "escalations" / f"{identity}.resolution.yaml").write_text(text, encoding="utf-8")


class TestInteractiveByCommandAndFile(InteractiveTest):
    def test_a_whole_stage_runs_action_by_action(self):
        outcome = self.asked()
        self.assertIn("An action waits for you", outcome.out)
        self.assertIn("  | tool: complete", outcome.out)
        first = self.open()
        self.assertIn(f"agentforge approve {first['id']}", outcome.out)
        self.assertEqual(self.steps(), [])
        outcome = self.go_on("approve", first["id"])
        self.assert_code(outcome, 0)
        self.assertEqual([r["decision"] for r in self.records("action_decided")], ["approved"])
        self.assertEqual(len(self.records("answer")), 1, "the model is asked once, whatever the person takes")
        self.assert_journal_verifies()

    def test_an_action_runs_as_changed_by_a_person(self):
        self.asked()
        identity = self.open()["id"]
        action = yaml.safe_load(self.run_program("escalations", "show", identity, "--action").out)
        self.assertEqual(sorted(action), ["arguments", "tool"])
        action["arguments"]["suggested_approach"] = "My own way"
        changed = self.folder / "changed.yaml"
        changed.write_text(yaml.safe_dump(action), encoding="utf-8")
        self.assert_code(self.go_on("approve", identity, "--edited", changed), 0)
        self.assertEqual([r["decision"] for r in self.records("action_decided")], ["edited"])
        self.assertTrue(self.steps()[0]["result"]["summary"].startswith("a person changed this action"), self.steps()[0])

    def test_a_rejected_action_does_not_run_and_a_second_answer_sees_the_first(self):
        self.asked()
        identity = self.open()["id"]
        self.answer_file(identity, "approved: false\nfeedback: name the edge cases\ndecided_by: ann\n")
        self.assert_error(self.run_program("approve", identity), "AF-ESC-004", "name the edge cases", "ann")
        terminal = Terminal(self, "approve", identity, "--edit", environment={"VISUAL": "echo an editor for"})
        self.assertNotIn("an editor for", "\n".join(terminal.ended(1)))
        self.assertIn("AF-ESC-004", terminal.text())
        # The transcript has no answer after a refusal. It is enough that the model was called again.
        self.go_on("resume", self.task())
        self.assertEqual(self.records("action_decided")[0]["decided_by"], "ann")
        self.assertIn("name the edge cases", self.steps()[0]["result"]["error"])

    def test_a_task_id_does_not_identify_an_action(self):
        self.asked()
        item = self.open()
        self.assert_error(self.run_program("approve", self.task()), "AF-ESC-036", item["id"], "--hash")
        self.assert_error(self.run_program("approve", self.task(), "--hash", "000000"), "AF-ESC-035")
        self.assert_error(self.run_program("approve", item["id"], "--edit"), "AF-ESC-038", "--edited")
        self.assert_error(self.run_program("feedback", item["id"], ""), "AF-CLI-001", "COMMENT is empty", exit_code=2)
        outcome = self.run_program("approve", self.task(), "--hash", item["artifact_hash"][:12], "--no-resume")
        self.assert_code(outcome, 0)
        self.assertIn("Continue with: agentforge resume", outcome.out)
        self.assertEqual(self.records("action_decided"), [], "only answered")
        self.assert_code(self.go_on("resume", self.task()), 0)

    def test_the_setting_works_like_the_flag_and_is_shown_in_the_plan(self):
        (self.home / ".agentforge").mkdir()
        (self.home / ".agentforge" / "config.yaml").write_text("pipeline: {interactive: true}\n", encoding="utf-8")
        outcome = self.start("--exit-after", "intake", "--dry-run", transcript=short_transcript())
        self.assertIn("every action of an agent needs your approval", outcome.out)
        self.assert_code(self.start("--exit-after", "intake", transcript=short_transcript()), 22)
        self.assertEqual(self.run_program("status", "--json").json["tasks"][0]["waiting_for"], "action")

    def test_a_detached_task_waits_without_a_process(self):
        outcome = self.start("--interactive", "--exit-after", "intake", "--detach", transcript=short_transcript())
        self.assert_code(outcome, 0)
        wait_until(lambda: self.records("action_asked"), "the question")
        # The first process may be about to end; `approve` then waits, and continues the task.
        self.assert_code(self.go_on("approve", self.open()["id"]), 0)
        self.assertEqual(self.run_program("status", "--json").json["tasks"][0]["status"], "completed")


class TestInteractiveAtTheTerminal(InteractiveTest):
    def terminal(self, *arguments, **options):
        file = self.folder / "transcript.yaml"
        file.write_text(yaml.safe_dump(short_transcript(), allow_unicode=True, sort_keys=False), encoding="utf-8")
        self.transcript_arguments = ["--set", "llm.backend=replay", "--set", f"llm.transcript={file}"]
        return Terminal(self, "start", "--transcript", file, "--interactive", "--exit-after", "intake", *arguments, REQUEST, lines=80, **options)

    def test_asks_at_the_terminal_and_continues(self):
        terminal = self.terminal()
        terminal.wait_for("Do it? [y/n/e")
        self.assertIn("  | tool: \"complete\"", terminal.text())
        terminal.press(b"y\n")
        terminal.wait_for("Done: ")
        shown = "\n".join(terminal.ended(0))
        self.assertIn("answered by ", shown)
        self.assertIn("Done: ", shown)

    def test_an_editor_changes_the_action(self):
        editor = self.folder / "editor"
        editor.write_text("#!/bin/sh\nexec sed -i 's/^\\( *suggested_approach:\\).*/\\1 \"Mine\"/' \"$1\"\n", encoding="utf-8")
        editor.chmod(0o755)
        terminal = self.terminal(environment={"EDITOR": str(editor), "VISUAL": ""})
        terminal.wait_for("Do it? [y/n/e")
        terminal.press(b"e\n")
        terminal.wait_for("Done: ")
        terminal.ended(0)
        self.assertEqual([r["decision"] for r in self.records("action_decided")], ["edited"])

    def test_ctrl_c_belongs_to_the_editor_of_approve(self):
        self.asked()
        editor = self.folder / "editor"
        editor.write_text("#!/bin/sh\ntrap 'echo heard' INT\necho up\nuntil [ \"$key\" = q ]; do read key; done\n"
                          "sed -i 's/^\\( *suggested_approach:\\).*/\\1 \"Mine\"/' \"$1\"\n", encoding="utf-8")
        editor.chmod(0o755)
        temporary = self.folder / "temporary"
        temporary.mkdir()
        terminal = Terminal(self, "approve", *self.transcript_arguments, self.open()["id"], "--edit", environment={"VISUAL": str(editor), "TMPDIR": str(temporary)})
        terminal.wait_for("up")
        for _ in range(2):
            terminal.press(b"\x03")
        terminal.wait_for("heard")
        terminal.press(b"q\n")
        self.assertIn("Done: ", "\n".join(terminal.ended(0)))
        self.assertEqual([r["decision"] for r in self.records("action_decided")], ["edited"])
        self.assertEqual(list(temporary.iterdir()), [])

    def test_an_answer_from_another_terminal_ends_the_prompt(self):
        terminal = self.terminal()
        terminal.wait_for("Do it? [y/n/e")
        outcome = self.go_on("approve", self.open()["id"])
        self.assert_code(outcome, 0)
        self.assertIn("Answered ACT-", outcome.out)
        shown = "\n".join(terminal.ended(0))
        self.assertIn("answered by user", shown)

    def test_later_is_an_answer(self):
        terminal = self.terminal()
        terminal.wait_for("Do it? [y/n/e")
        terminal.press(b"\n")
        shown = "\n".join(terminal.ended(22))
        self.assertTrue(re.search(r"agentforge approve ACT-", shown), shown)
        self.assert_code(self.go_on("approve", self.open()["id"]), 0)


if __name__ == "__main__":
    main()
