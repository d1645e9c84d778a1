# SPDX-License-Identifier: Apache-2.0
"""kill -9, SIGINT and a second process: `resume` continues from the journal and produces the same tree."""

import json
import os
import random
import signal

from harness import TRANSCRIPT, REQUEST, ProgramTest, main, short_transcript, wait_until

import yaml


class CrashTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make_repository()

    def write_transcript(self, transcript):
        path = self.folder / "transcript.yaml"
        path.write_text(yaml.safe_dump(transcript, allow_unicode=True, sort_keys=False), encoding="utf-8")
        return path

    def begin(self, transcript, *arguments):
        return self.spawn("start", "--transcript", transcript, *arguments, REQUEST)

    def journal_bytes(self):
        files = list(self.repository.glob(".agentforge/tasks/*/actions.yaml"))
        return files[0].read_bytes() if files else b""

    def records_written(self):
        return self.journal_bytes().count(b"\n- {")

    def kill_when(self, process, condition, what):
        """Kills the process once the condition holds. Returns False if it ended first."""
        wait_until(lambda: process.poll() is not None or condition(), what)
        if process.poll() is not None:
            return False
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        return True

    def assert_ended_well(self, tree=None):
        records = self.assert_journal_verifies()
        answers = [(r["phase"], r["visit"], r["run"], r["agent"]["role"], r["run_step"]) for r in records if r["type"] == "answer"]
        self.assertEqual(len(answers), len(set(answers)), "a model was asked twice for the same step")
        steps = [r["step"] for r in records if r["type"] == "step"]
        self.assertEqual(steps, list(range(1, len(steps) + 1)))
        self.assertEqual(len([r for r in records if r["type"] == "delivered"]), 1)
        self.assertEqual(len(self.branches()), 2)
        self.assertEqual(len(self.git("worktree", "list").splitlines()), 1)
        self.assertEqual(self.git("rev-parse", f"agentforge/{self.task()}^"), self.git("rev-parse", "main"))
        if tree:
            self.assertEqual(self.delivered_tree(), tree)
        return self.delivered_tree()


class TestCrashKilled(CrashTest):
    """A task killed at chosen and at random moments."""

    def test_a_task_killed_repeatedly_reaches_the_same_tree(self):
        transcript = TRANSCRIPT
        chance = random.Random(20261121)
        process = self.begin(transcript)
        kills = 0
        while True:
            target = len(self.journal_bytes()) + chance.randrange(1, 9000)
            if not self.kill_when(process, lambda: len(self.journal_bytes()) >= target, f"{target} bytes of journal"):
                break
            kills += 1
            process = self.spawn("resume", "--set", "llm.backend=replay", "--set", f"llm.transcript={transcript}", self.task() if self.tasks() else "")
        _, err = process.communicate()
        self.assertEqual(process.returncode, 0, err)
        self.assertGreaterEqual(kills, 10)
        tree = self.assert_ended_well()
        self.repository = None
        self.make_repository("reference")
        self.assert_code(self.start(), 0)
        self.assertEqual(self.delivered_tree(), tree)

    def test_a_task_killed_at_a_record_reaches_the_same_tree(self):
        transcript = self.write_transcript(short_transcript())
        self.assert_code(self.start(transcript=transcript), 0)
        tree, total = self.assert_ended_well(), len(self.journal())
        for number in range(12):
            wanted = 1 + number * (total - 2) // 11
            with self.subTest(record=wanted):
                for attempt in range(20):       # Near its end, a task may finish before the kill. Then try again.
                    self.repository = None
                    self.make_repository(f"copy-{number}-{attempt}")
                    process = self.begin(transcript)
                    killed = self.kill_when(process, lambda: self.records_written() >= wanted, f"record {wanted}")  # noqa: B023
                    process.communicate()
                    if killed:
                        break
                self.assertTrue(killed, "it was done before it could be killed, twenty times")
                finished = [r["step"] for r in self.journal() if r["type"] == "step"] if self.records_written() else []
                before = self.journal_bytes()
                resumed = self.run_program("resume", self.task())
                self.assert_code(resumed, 0)
                self.assertTrue(self.journal_bytes().startswith(before[:before.rfind(b"\n") + 1]), "records were rewritten")
                self.assert_ended_well(tree)
                self.assertEqual([s["step"] for s in self.steps()][:len(finished)], finished)


class TestCrashInterrupted(CrashTest):
    """A stop request, and two processes for one task."""

    def stopped_at(self, wanted, *arguments):
        """Returns a stopped process (SIGSTOP) that holds the task's lock."""
        process = self.begin(self.write_transcript(short_transcript()), *arguments)
        wait_until(lambda: process.poll() is not None or self.records_written() >= wanted, f"record {wanted}")
        os.kill(process.pid, signal.SIGSTOP)
        self.assertIsNone(process.poll())
        return process

    def test_a_second_process_is_refused_and_names_the_holder(self):
        process = self.stopped_at(10)
        outcome = self.run_program("resume", self.task())
        self.assert_error(outcome, "AF-TASK-003", str(process.pid))

    def test_status_works_while_another_process_holds_the_task(self):
        process = self.stopped_at(10)
        outcome = self.assert_code(self.run_program("status", self.task()), 0)
        self.assertIn(f"running now: process {process.pid}", outcome.out)

    def test_inspect_works_while_another_process_holds_the_task(self):
        self.stopped_at(10)
        self.assertGreaterEqual(len(self.assert_journal_verifies()), 10)

    def test_one_interrupt_pauses_and_resume_continues(self):
        process = self.stopped_at(25)
        os.kill(process.pid, signal.SIGINT)
        os.kill(process.pid, signal.SIGCONT)
        out, err = process.communicate()
        self.assertEqual(process.returncode, 23, out + err)
        self.assertIn("agentforge resume " + self.task()[-8:], out)
        self.assertEqual(self.journal()[-1]["type"], "task_paused")
        self.assert_code(self.run_program("resume", self.task()), 0)
        self.assert_ended_well()

    def test_terminate_pauses_like_interrupt(self):
        process = self.stopped_at(5)
        os.kill(process.pid, signal.SIGTERM)
        os.kill(process.pid, signal.SIGCONT)
        process.communicate()
        self.assertEqual(process.returncode, 23)

    def test_a_running_task_is_aborted_by_another_process(self):
        process = self.stopped_at(10)
        outcome = self.assert_code(self.run_program("abort", self.task(), "--reason", "wrong request"), 0)
        self.assertIn("Asked the running process", outcome.out)
        os.kill(process.pid, signal.SIGCONT)
        process.communicate()
        self.assertEqual(process.returncode, 23)
        self.assertEqual(self.run_program("status", self.task(), "--json").json["status"], "aborted")
        self.assert_nothing_delivered()

    def test_an_aborted_task_is_not_resumed(self):
        self.stopped_at(10).kill()
        self.assert_code(self.run_program("abort", self.task()), 0)
        outcome = self.run_program("resume", self.task())
        self.assertEqual(outcome.code, 23, outcome)
        self.assert_nothing_delivered()


class TestCrashDamagedJournal(CrashTest):
    """AgentForge refuses a changed journal, and recovers one that a crash cut off."""

    def setUp(self):
        super().setUp()
        self.assert_code(self.start("--exit-after", "spec"), 0)
        self.file = self.task_folder() / "actions.yaml"

    def unfinished(self):
        """Returns the journal's lines as a crash in the last of them would leave them: `state.yaml` and this machine's note know no later one."""
        (self.task_folder() / "state.yaml").unlink()
        lines = self.file.read_bytes().splitlines(keepends=True)[:-3]
        hashes = [json.loads(line[2:])["hash"] for line in lines[-2:]]
        (self.state / "proofs" / self.task()).write_text("\n".join([*hashes, str(self.task_folder()), ""]))
        return lines

    def test_a_changed_byte_in_the_middle_is_refused_with_its_record(self):
        lines = self.file.read_bytes().splitlines(keepends=True)
        place = next(i for i, line in enumerate(lines) if b'"seq": 12,' in line)
        lines[place] = lines[place].replace(b"2026", b"2027", 1) if b"2026" in lines[place] else lines[place].replace(b"20", b"21", 1)
        self.file.write_bytes(b"".join(lines))
        for command in ("inspect", "resume"):
            with self.subTest(command):
                self.assert_error(self.run_program(command, self.task()), "AF-JRNL-", "12")

    def test_a_missing_record_is_refused(self):
        lines = self.file.read_bytes().splitlines(keepends=True)
        place = next(i for i, line in enumerate(lines) if b'"seq": 12,' in line)
        self.file.write_bytes(b"".join(lines[:place] + lines[place + 1:]))
        self.assert_error(self.run_program("inspect", self.task()), "AF-JRNL-")

    def test_a_changed_header_is_refused(self):
        text = self.file.read_bytes()
        self.file.write_bytes(text.replace(self.task().encode(), b"task-20200101-other-00000000", 1))
        self.assert_error(self.run_program("inspect", self.task()), "AF-JRNL-")

    def test_a_torn_tail_is_recovered_and_recorded_and_the_task_continues(self):
        lines = self.unfinished()
        self.file.write_bytes(b"".join(lines[:-1]) + lines[-1][: len(lines[-1]) // 2])
        outcome = self.run_program("resume", self.task())
        self.assert_code(outcome, 0)
        self.assertEqual(len(self.records("recovered")), 1)
        self.assert_journal_verifies()

    def test_a_torn_tail_is_shown_and_left_alone_by_inspect(self):
        lines = self.unfinished()
        torn = b"".join(lines[:-1]) + lines[-1][: len(lines[-1]) // 2]
        self.file.write_bytes(torn)
        outcome = self.assert_code(self.run_program("inspect", self.task()), 0)
        self.assertIn("torn last line", outcome.out)
        self.assertEqual(self.file.read_bytes(), torn)

    def test_a_missing_end_is_refused_and_nothing_is_written(self):
        state = self.task_folder() / "state.yaml"
        cut = b"".join(self.file.read_bytes().splitlines(keepends=True)[:-3])
        self.file.write_bytes(cut)
        before = state.read_bytes()
        for command in ("resume", "inspect", "logs", "abort"):
            with self.subTest(command):
                self.assert_error(self.run_program(command, self.task()), "AF-TASK-019", "remove `state.yaml`")
        self.assertIn("AF-TASK-019", self.run_program("status").err)
        self.assertEqual(self.run_program("gc").err.count("AF-TASK-019"), 1)
        self.assertEqual(state.read_bytes(), before)
        state.unlink()
        note = self.state / "proofs" / self.task()
        for command in ("resume", "abort"):
            with self.subTest(f"{command} without state.yaml"):
                self.assert_error(self.run_program(command, self.task()), "AF-TASK-019", f"remove {note}")
        self.assertEqual(self.file.read_bytes(), cut)
        note.unlink()
        self.assert_code(self.run_program("abort", self.task()), 0)

    def test_a_lost_projection_is_rebuilt(self):
        (self.task_folder() / "state.yaml").unlink()
        outcome = self.assert_code(self.run_program("status", self.task(), "--json"), 0)
        self.assertEqual(outcome.json["status"], "completed")

    def test_resume_does_not_trust_a_changed_projection(self):
        state = self.task_folder() / "state.yaml"
        state.write_text(state.read_text(encoding="utf-8").replace('"completed"', '"running"'), encoding="utf-8")
        self.assert_code(self.run_program("resume", self.task()), 0)
        self.assertEqual(self.run_program("inspect", self.task(), "--json").json["records"][-1]["type"], "task_completed")

    def test_a_missing_blob_is_named(self):
        for path in (self.task_folder() / "artifacts" / "blobs").rglob("*"):
            if path.is_file():
                path.unlink()
        self.assert_error(self.run_program("inspect", self.task(), "--step", "1"), "AF-JRNL-011")


if __name__ == "__main__":
    main()
