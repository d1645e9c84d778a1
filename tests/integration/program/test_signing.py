# SPDX-License-Identifier: Apache-2.0
"""What the user's key signs: only a statement about a journal that this machine wrote, and about files that say what the journal says."""

import json
import re
import shutil

from harness import main, short_transcript
from test_audit import SignedAuditTest


class TestSigning(SignedAuditTest):
    def start_and_wait(self, *arguments):
        self.assert_code(self.start(*arguments, transcript=short_transcript()), 22)
        return self.task()

    def signature(self, task):
        return self.task_folder(task) / "proof/statement.json.sig"

    def replace(self, file, before, after):
        text = file.read_text()
        self.assertIn(before, text)
        file.write_text(text.replace(before, after))

    def test_files_that_differ_from_the_journal_are_not_signed(self):
        task = self.start_and_wait("--approve", "spec", "--approve", "deliver")
        self.assert_code(self.go_on("approve", task), 22)
        folder = self.task_folder(task)
        (answer,) = (folder.parent.parent / "escalations").glob("*spec-1.resolution.yaml")
        changes = {
            "iteration_history/spec/v1_approval.yaml": lambda file: self.replace(file, 'decided_by: "user"', 'decided_by: "CEO"'),
            f"../../escalations/APR-{task}-spec-1.board.yaml": lambda file: file.write_text("approved by the board\n"),
            "iteration_history/spec/v9_approval.yaml": lambda file: file.write_text((folder / "iteration_history/spec/v1_approval.yaml").read_text().replace("iteration: 1", "iteration: 9")),
            "iteration_history/spec/v01_approval.yaml": lambda file: file.write_text((folder / "iteration_history/spec/v1_approval.yaml").read_text()),
            "actions.yaml.torn-by-the-board": lambda file: file.write_text("approved by the board\n"),
            f"../../escalations/APR-{task}-red-1.early-1.yaml": lambda file: file.write_text("approved: true\n"),
            f"../../escalations/{answer.name}": lambda file: self.replace(file, 'decided_by: "user"', 'decided_by: "CEO"'),
            f"../../escalations/ESC-{task}-spec-9.yaml": lambda file: file.write_text("question: may we ship?\n"),
            f"../../escalations/APR-{task}-spec-1.yaml": lambda file: file.write_text(file.read_text() + "# approved by the board\n"),
            "artifacts/board_approval.yaml": lambda file: file.write_text("approved by the board\n"),
            "artifacts/snapshots/step_999.patch": lambda file: file.write_text("x\n"),
            "artifacts/inputs/original_request.yaml": lambda file: self.replace(file, "slugify", "pay"),
        }
        kept = {}
        for name, change in changes.items():
            file = folder / name
            kept[file] = file.read_bytes() if file.exists() else None
            change(file)
        outcome = self.assert_code(self.go_on("approve", task), 0)
        self.assertIn("AF-AUDT-011", outcome.err)
        self.assertFalse((folder / "proof/statement.json").exists())
        faults = " ".join(self.faults(self.verify(task)))
        for name in changes:
            with self.subTest(name):
                self.assertIn(name.rsplit("/", maxsplit=1)[-1].removesuffix(".resolution.yaml"), faults)
        for file, before in kept.items():
            file.write_bytes(before) if before is not None else file.unlink()
        self.assert_code(self.go_on("resume", task), 0)
        self.assert_verified(self.verify(task))
        self.assertTrue(self.signature(task).exists())

    def test_what_another_process_has_not_finished_writing_is_in_no_statement_and_in_no_archive(self):
        task = self.start_and_wait("--approve", "deliver")
        file = self.task_folder(task) / "artifacts/.agentforge-new-1-0"       # 1 is always alive, so nothing removes the file.
        file.write_text("half a file\n")
        self.assert_code(self.go_on("approve", task), 0)
        self.assertEqual(self.faults(self.verify(task)), [])
        self.assertIn("artifacts/.agentforge-new-1-0", self.verify(task).out)
        file.unlink()
        self.assert_verified(self.verify(task))
        self.assertNotIn(".agentforge-new-", self.git("ls-tree", "-r", "--name-only", f"refs/agentforge/archive/{task}"))

    def test_each_field_that_the_journal_gives_is_compared(self):
        task = self.start_and_wait("--approve", "spec", "--approve", "deliver")
        self.assert_code(self.go_on("approve", task), 22)
        folder = self.task_folder(task)
        artifact = folder / "artifacts/phases/spec/specification.yaml"
        changes = [
            (folder.parent.parent / "escalations" / f"APR-{task}-spec-1.yaml", "task_id: .*", 'task_id: "task-20260102-another"'),
            (folder.parent.parent / "escalations" / f"APR-{task}-spec-1.yaml", r"\Z", 'deadline: "2026-01-02T15:30:00.000Z"\nat_deadline: "abort"\n'),
            (folder / "iteration_history/spec/v1_approval.yaml", 'timestamp: "20', 'timestamp: "19'),
            (artifact, 'stage_name: "spec"', 'stage_name: "red"'),
            (artifact, 'artifact_type: ".*"', 'artifact_type: "anything"'),
            (artifact, '  version: ".*"', '  version: "9.9"'),
            (artifact, '  created_at: "20', '  created_at: "19'),
            (artifact, "  iteration: .*", "  iteration: 77"),
            (artifact, "  tokens_used: .*", "  tokens_used: 1"),
            (artifact, "  tokens_used: .*", r'\g<0>\n  approved_by: "the board"'),
        ]
        self.assertNotIn(".yaml", str([finding for finding in self.verify(task).json["findings"] if finding["answer"] != "holds"]))
        for file, before, after in changes:
            with self.subTest(after):
                whole = file.read_text()
                changed, count = re.subn(before, after, whole, count=1)
                self.assertEqual(count, 1)
                file.write_text(changed)
                found = [finding["told"] for finding in self.verify(task).json["findings"] if finding["answer"] != "holds"]
                self.assertIn(file.name, " ".join(found))
                file.write_text(whole)

    def test_changed_files_do_not_replace_the_archive(self):
        self.assert_code(self.start(transcript=short_transcript()), 0)
        task = self.task()
        archive = self.git("rev-parse", f"refs/agentforge/archive/{task}")
        folder = self.task_folder(task)
        (folder / "artifacts/board_approval.yaml").write_text("approved by the board\n")
        shutil.rmtree(folder / "proof")
        self.assertIn("AF-AUDT-011", self.assert_code(self.go_on("resume", task), 0).err)
        self.assertEqual(self.git("rev-parse", f"refs/agentforge/archive/{task}"), archive)
        self.assertFalse(self.signature(task).exists())

    def test_a_replay_of_decisions_that_this_machine_does_not_know_is_not_signed(self):
        task = self.start_and_wait("--approve", "spec")
        self.assert_code(self.go_on("approve", task), 0)

        def replayed():
            known = set(self.tasks())
            outcome = self.run_program("replay", task)
            (replay,) = set(self.tasks()) - known
            return outcome, replay
        outcome, replay = replayed()
        self.assert_code(outcome, 0)
        self.assertTrue(self.signature(replay).exists())
        shutil.rmtree(self.state / "proofs")
        outcome, replay = replayed()
        self.assertNotEqual(outcome.code, 0)
        self.assertIn("AF-AUDT-013", outcome.err)
        self.assertFalse(self.signature(replay).exists())
        self.assertEqual(self.git("branch", "--list", f"agentforge/{replay}"), "")

    def test_a_replay_without_decisions_of_people_is_signed(self):
        self.assert_code(self.start(transcript=short_transcript()), 0)
        task = self.task()
        shutil.rmtree(self.state / "proofs")
        replay = self.assert_code(self.run_program("replay", task, "--json"), 0).json["replay_id"]
        self.assert_verified(self.verify(replay))
        self.assertTrue(self.signature(replay).exists())

    def test_a_repository_that_was_moved_meanwhile(self):
        task = self.start_and_wait("--approve", "spec")
        moved = self.repository.with_name("moved")
        self.repository.rename(moved)
        self.repository = moved
        self.assert_code(self.go_on("approve", task), 0)
        self.assert_verified(self.verify(task))
        self.assertTrue(self.signature(task).exists())

    def test_a_rebase_that_could_not_be_signed_is_refused(self):
        self.git("config", "commit.gpgsign", "false")
        self.assert_code(self.start(transcript=short_transcript()), 0)
        task = self.task()
        shutil.rmtree(self.state / "proofs")
        self.git("commit", "-q", "--allow-empty", "-m", "Meanwhile")
        self.git("config", "--unset", "commit.gpgsign")
        self.assert_error(self.run_program("rebase", task), "AF-AUDT-013", "delivery.sign=never")
        self.assert_code(self.run_program("rebase", task, "--set", "delivery.sign=never"), 0)
        self.assert_verified(self.verify(task))

    def test_a_signed_delivery_that_lost_its_proof_is_delivered_again_without_a_signature(self):
        task = self.start_and_wait("--approve", "deliver")
        shutil.rmtree(self.state / "proofs")
        self.assertIn("AF-AUDT-013", self.assert_code(self.go_on("approve", task), 0).err)
        self.assertIn("rebase", " ".join(self.faults(self.verify(task))))
        self.assert_error(self.run_program("rebase", task), "AF-AUDT-011", "carries no statement")
        self.assert_code(self.run_program("rebase", task, "--set", "delivery.sign=never"), 0)
        self.assert_verified(self.verify(task))
        self.assertTrue((self.task_folder(task) / "proof/statement.json").exists())
        self.assertFalse(self.signature(task).exists())

    def test_removed_questions_are_restored_and_the_log_of_notifications_is_in_no_statement(self):
        task = self.start_and_wait("--approve", "spec", "--set", "escalation.handlers=[file]")
        self.assert_code(self.go_on("approve", task), 0)
        questions = self.task_folder(task).parent.parent / "escalations"
        shutil.rmtree(questions / ".told", ignore_errors=True)
        (questions / "inbox").mkdir()       # A handler's own folder.
        (questions / "inbox" / f"APR-{task}-spec-1.question.txt").write_text("Please look\n")
        self.assert_verified(self.verify(task))
        shutil.rmtree(questions)
        self.assertIn("is missing", " ".join(self.faults(self.verify(task))))
        self.assertIn("Restored", self.assert_code(self.run_program("archive", "restore", task), 0).out)
        self.assert_verified(self.verify(task))
        self.assert_error(self.run_program("archive", "restore", task), "AF-GIT-056")

    def test_deleted_decisions_are_named(self):
        task = self.start_and_wait("--approve", "spec")
        self.assert_code(self.go_on("approve", task), 0)
        self.assert_verified(self.verify(task))
        task_files = self.task_folder(task)
        shutil.rmtree(task_files / "iteration_history")
        shutil.rmtree(task_files / "proof")
        unchecked = [finding["told"] for finding in self.verify(task).json["findings"] if finding["answer"] == "unchecked"]
        self.assertIn("iteration_history/spec/v1_approval.yaml is missing; the journal says what it held", unchecked)

    def test_a_task_whose_id_begins_with_this_ones_keeps_its_own_questions(self):
        task = self.start_and_wait("--approve", "spec")
        other = f"APR-{task}-again-1f2e3d4c-spec-1"
        questions = self.task_folder(task).parent.parent / "escalations"
        (questions / f"{other}.yaml").write_text((questions / f"APR-{task}-spec-1.yaml").read_text())
        self.assert_code(self.go_on("approve", task), 0)
        self.assert_verified(self.verify(task))
        self.assertNotIn(other, (self.task_folder(task) / "proof/statement.json").read_text())

    def test_a_task_whose_last_record_was_removed_is_neither_signed_nor_archived(self):
        task = self.start_and_wait("--approve", "deliver")
        self.assert_code(self.run_program("abort", task), 0)
        archive = self.git("rev-parse", f"refs/agentforge/archive/{task}")
        folder = self.task_folder(task)
        journal = folder / "actions.yaml"
        *kept, aborted = journal.read_text().splitlines(keepends=True)
        self.assertIn("task_aborted", aborted)
        journal.write_text("".join(kept))
        (folder / "state.yaml").unlink()
        (folder.parent.parent / "escalations" / f"APR-{task}-deliver-1.resolution.yaml").write_text("approved: true\n")
        note = self.state / "proofs" / task
        self.assert_error(self.go_on("resume", task), "AF-TASK-019", str(note))
        note.write_text(note.read_text().replace(json.loads(aborted[2:])["hash"], json.loads(kept[-1][2:])["hash"]))
        outcome = self.go_on("resume", task)
        self.assertIn("AF-GIT-069", outcome.err)
        self.assertFalse(self.signature(task).exists())
        self.assertEqual(self.git("rev-parse", f"refs/agentforge/archive/{task}"), archive)

    def test_a_note_of_the_journal_that_cannot_be_read_loses_nothing(self):
        task = self.start_and_wait("--approve", "spec")
        note, away = self.state / "proofs" / task, self.state / "note"
        before = (self.task_folder(task) / "actions.yaml").read_bytes()
        note.rename(away)
        note.mkdir()
        self.assert_error(self.go_on("approve", task), "AF-TASK-018", str(note))
        self.assertEqual((self.task_folder(task) / "actions.yaml").read_bytes(), before)
        note.rmdir()
        away.rename(note)
        self.assert_code(self.go_on("resume", task), 0)
        self.assert_verified(self.verify(task))
        self.assertTrue(self.signature(task).exists())

    def test_a_hook_that_changes_line_ends_and_adds_a_trailer(self):
        hook = self.repository / ".git/hooks/commit-msg"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text("#!/bin/sh\necho 'AgentForge-Task: another' >> \"$1\"\nsed -i 's/$/\\r/' \"$1\"\n")
        hook.chmod(0o755)
        self.assert_code(self.start(transcript=short_transcript()), 0)
        task = self.task()
        self.assert_verified(self.verify(f"agentforge/{task}"))
        message = self.git("log", "-1", "--format=%B", f"agentforge/{task}")
        self.assertNotIn("\r", message)
        self.assertEqual(message.count("AgentForge-Task:"), 1)

    def test_a_request_with_marks_that_turn_text_around(self):
        self.assert_code(self.start(transcript=short_transcript(), request="Add \u202eslugify \\u202e"), 0)
        task = self.task()
        self.assert_verified(self.verify(task))
        said = self.script("--allowed-signers", self.signers, self.repository, f"agentforge/{task}")
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)


if __name__ == "__main__":
    main()
