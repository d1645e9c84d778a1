# SPDX-License-Identifier: Apache-2.0
"""`gc` removes the leftovers of ended tasks, and keeps everything that is still needed."""

import fcntl
import json
import os
import shutil
import subprocess
import threading

import yaml

from harness import ProgramTest, main


class TestGc(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make_repository()

    def refs(self, task):
        return self.git("for-each-ref", "--format=%(refname)", f"refs/agentforge/{task}").split()

    def refs_of_tests(self, task):
        """Returns the refs of the tree that `rebase` measures again: the change's tests without the change."""
        red = [record["tree"] for record in self.records("gate") if record["gate"] == "red" and record["passed"]][-1]
        return self.git("for-each-ref", "--format=%(refname)", "--points-at", red, f"refs/agentforge/{task}").split()

    def commit_more(self):
        (self.repository / "later.txt").write_text("later\n")
        self.git("add", "later.txt")
        self.git("commit", "-q", "-m", "later")

    def collect(self, *arguments):
        return self.assert_code(self.run_program("gc", "--older-than", "0", "--json", *arguments), 0).json

    def assert_kept(self, task, why, *arguments):
        before = self.refs(task)
        kept = [each["why"] for each in self.collect(*arguments)["kept"] if each["task_id"] == task]
        self.assertEqual(len(kept), 1)
        self.assertIn(why, kept[0])
        self.assertEqual(before, self.refs(task))

    def test_a_dry_run_lists_what_would_be_removed_and_removes_nothing(self):
        self.deliver()
        task = self.task()
        before = self.refs(task)
        planned = self.collect("--dry-run")
        removed = len(before) - len(self.refs_of_tests(task))
        self.assertEqual([("refs", task, removed)], [(item["kind"], item["task_id"], item["count"]) for item in planned["freed"]])
        self.assertGreater(planned["bytes"], 1000)
        self.assertEqual(before, self.refs(task))
        self.assertIn("Would free", self.assert_code(self.run_program("gc", "--older-than", "0", "--dry-run"), 0).out)

    def test_a_delivered_task_keeps_its_journal_and_commit_but_not_its_trees(self):
        self.deliver()
        task = self.task()
        kept = self.refs_of_tests(task)
        self.assertEqual(len(self.collect()["freed"]), 1)
        self.assertEqual(self.refs(task), kept)
        self.git("gc", "--quiet", "--prune=now")
        self.assert_journal_verifies(task)
        for command in ("status", "logs", "cost", "diff"):
            self.assert_code(self.run_program(command, task), 0)
        self.assert_code(self.run_program("inspect", task, "--step", "5"), 0)
        self.assertEqual(self.collect()["freed"], [])

    def test_a_delivered_task_can_be_rebased_after_a_full_collection_until_its_change_is_merged(self):
        self.deliver()
        task = self.task()
        self.collect()
        self.git("gc", "--quiet", "--prune=now")
        self.commit_more()
        self.assert_code(self.run_program("rebase", task), 0)
        self.assert_code(self.run_program("audit", "verify", task), 0)
        self.collect()
        self.git("gc", "--quiet", "--prune=now")
        self.assert_code(self.run_program("audit", "verify", task), 0)
        self.assertNotEqual(self.refs(task), [])
        self.git("merge", "-q", "--ff-only", f"agentforge/{task}")
        self.collect()
        self.assertEqual(self.refs(task), [])

    def test_an_ended_task_without_its_archive_is_archived_by_the_next_command(self):
        """The archive is missing after a kill between the last record and the archive. `status` only reads, so it makes none."""
        self.deliver()
        task = self.task()
        archive = f"refs/agentforge/archive/{task}"
        whole = self.git("rev-parse", archive)
        shorter = self.git("rev-parse", f"{archive}:task/artifacts").strip()
        for command, left in ((("gc",), None), (("gc",), shorter), (("doctor",), None), (("continue", task), None)):
            with self.subTest(command=command, left=left):
                if left:
                    self.git("update-ref", archive, left)
                else:
                    self.git("update-ref", "-d", archive)
                self.assert_code(self.run_program("gc", "--dry-run"), 0)
                self.assert_code(self.run_program("status"), 0)
                self.assertNotEqual(self.git("for-each-ref", "--format=%(objectname)", archive).strip(), whole.strip())
                self.run_program(*command)
                self.assertEqual(self.git("rev-parse", archive), whole)
                self.assert_code(self.run_program("audit", "verify", archive), 0)

    def test_a_command_that_refuses_an_ended_task_repairs_its_projections(self):
        """As after a power cut behind the last record."""
        self.assert_code(self.start("--exit-after", "spec"), 0)
        task, files = self.task(), [self.task_folder() / name for name in ("state.yaml", "working_memory.yaml")]
        whole = [file.read_bytes() for file in files]
        self.git("update-ref", "-d", f"refs/agentforge/archive/{task}")
        for torn in ((0,), (1,), (0, 1)):
            with self.subTest(torn=torn):
                for number in torn:
                    files[number].write_bytes(whole[number][:100])
                self.git("update-ref", "-d", f"refs/agentforge/archive/{task}")
                self.assert_error(self.run_program("continue", task, "--extend-to", "spec"), "AF-ORCH-053")
                self.assertEqual([file.read_bytes() for file in files], whole)
                self.assert_code(self.run_program("audit", "verify", task), 0)

    def test_a_recent_task_is_kept_completely(self):
        self.deliver()
        outcome = self.assert_code(self.run_program("gc"), 0)
        self.assertIn("too young", outcome.out)
        self.assertNotEqual(self.refs(self.task()), [])

    def test_a_waiting_task_continues_after_a_full_collection(self):
        self.assert_code(self.start("--approve", "red"), 22)
        self.assertEqual(self.collect("--blobs")["freed"], [])
        self.git("gc", "--quiet", "--prune=now")
        self.assert_code(self.go_on("approve", self.task()), 0)

    def test_a_paused_task_can_still_be_resumed(self):
        self.assert_code(self.start("--set", "limits.max_steps=12"), 22)
        before = self.refs(self.task())
        self.assertNotEqual(before, [])
        self.assertEqual(self.collect()["freed"], [])
        self.assertEqual(before, self.refs(self.task()))

    def test_a_change_on_no_branch_is_kept(self):
        self.assert_code(self.start("--exit-after", "green"), 0)
        self.assert_kept(self.task(), "on no branch")

    def test_a_change_whose_branch_was_deleted_is_kept(self):
        self.deliver()
        self.git("branch", "-D", f"agentforge/{self.task()}")
        self.assert_kept(self.task(), "is gone")

    def test_a_change_whose_branch_was_reset_is_kept(self):
        self.deliver()
        task = self.task()
        self.git("branch", "-f", f"agentforge/{task}", "main")
        self.assert_kept(task, "no longer holds its commit")
        self.git("reflog", "expire", "--expire=now", "--all")
        self.git("gc", "--quiet", "--prune=now")
        self.assertIn("textkit/slug.py", self.assert_code(self.run_program("diff", task), 0).out)

    def test_included_uncommitted_changes_survive_git_gc(self):
        (self.repository / "notes.txt").write_text("not committed\n")
        self.assert_code(self.start("--include-uncommitted", "--exit-after", "spec"), 0)
        task = self.task()
        self.assert_kept(task, "uncommitted changes")
        self.git("gc", "--quiet", "--prune=now")
        self.assert_code(self.run_program("audit", "verify", task), 0)
        self.assert_code(self.go_on("continue", task), 0)

    def test_the_parent_state_of_a_fork_is_kept(self):
        self.deliver()
        parent = self.task()
        self.assert_code(self.run_program("fork", parent, "--from-step", "12", "--no-resume"), 0)
        self.assert_kept(parent, "forked from it", "--blobs")

    def test_blobs_are_removed_only_on_request_and_restored_from_the_archive(self):
        self.deliver()
        task = self.task()
        blobs = self.task_folder() / "artifacts" / "blobs"
        self.collect()
        self.assertTrue(blobs.exists())
        self.assertEqual(["blobs"], [item["kind"] for item in self.collect("--blobs")["freed"]])
        self.assertFalse(blobs.exists())
        self.assert_journal_verifies(task)
        shown = self.assert_code(self.run_program("inspect", task, "--step", "5"), 0)
        self.assertIn("step 5", shown.out)
        self.assertIn("archive restore", shown.err)
        self.assert_error(self.run_program("inspect", task, "--step", "5", "--show", "context"), "AF-JRNL-011", "archive restore")
        shutil.rmtree(self.task_folder())
        self.assert_code(self.run_program("archive", "restore", task), 0)
        self.assert_code(self.run_program("inspect", task, "--step", "5"), 0)

    def test_archiving_again_keeps_freed_blobs_in_the_archive(self):
        self.deliver()
        task = self.task()
        self.collect("--blobs")
        self.go_on("resume", task)
        self.commit_more()
        self.go_on("rebase", task)      # `rebase` archives the task, even if it fails without the blobs.
        self.git("gc", "--quiet", "--prune=now")
        shutil.rmtree(self.task_folder())
        self.assert_code(self.run_program("archive", "restore", task), 0)
        for step in (1, 5):
            self.assert_code(self.run_program("inspect", task, "--step", step), 0)
        self.assert_journal_verifies(task)

    def test_a_fork_in_progress_keeps_its_parent(self):
        self.deliver()
        parent = self.task()
        child = f"task-20260101-fork-{'0' * 8}"
        folder = self.task_folder(parent).parent / child
        shutil.copytree(self.task_folder(parent) / "artifacts" / "inputs", folder / "artifacts" / "inputs")
        task = yaml.safe_load((self.task_folder(parent) / "task.yaml").read_text(encoding="utf-8"))
        task.update(task_id=child, forked_from={"task": parent, "step": 12})
        (folder / "task.yaml").write_text(json.dumps(task) + "\n")
        state = json.loads((self.task_folder(parent) / "state.yaml").read_text(encoding="utf-8"))
        del state["hash"]
        state.update(task_id=child, status="pending")
        (folder / "state.yaml").write_text(json.dumps(state) + "\n")
        self.assert_kept(parent, "forked from it", "--blobs")

    def test_a_fork_waits_for_a_gc_of_its_parent(self):
        self.deliver()
        parent = self.task()
        with open(self.task_folder(parent) / "lock", "r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            lock.truncate()
            lock.write(json.dumps({"pid": os.getpid(), "host": "here", "command": "gc", "since": "2026-01-01T00:00:00Z"}) + "\n")
            lock.flush()
            fork = self.spawn("fork", parent, "--from-step", "12", "--no-resume")
            with self.assertRaises(subprocess.TimeoutExpired):
                fork.wait(timeout=1)
            self.assertEqual(self.tasks(), [parent])
        self.assertEqual(fork.wait(timeout=60), 0)
        self.assertEqual(len(self.tasks()), 2)

    def test_the_worktree_of_a_removed_task_is_removed(self):
        self.assert_code(self.start("--approve", "red"), 22)
        task = self.task()
        self.assertEqual(self.collect()["freed"], [])
        shutil.rmtree(self.task_folder())
        freed = self.collect()["freed"]
        self.assertEqual([("worktree", task)], [(item["kind"], item["task_id"]) for item in freed])
        self.assertGreater(freed[0]["bytes"], 0)
        self.assertNotIn(task, self.git("worktree", "list"))

    def test_the_record_of_a_worktree_without_its_folder_is_removed(self):
        """A power cut undid the removal of git's record, and not that of the folder. `git worktree prune` leaves a locked record."""
        self.assert_code(self.start("--approve", "red"), 22)
        task, records, kept = self.task(), self.repository / ".git" / "worktrees", self.folder / "kept"
        (records / task / "locked").write_text("agentforge makes this worktree\n", encoding="utf-8")
        shutil.copytree(records, kept)
        folder, = self.state.glob("worktrees/*/task-*")
        shutil.rmtree(folder)
        self.assertEqual(self.collect()["freed"], [], "the task can continue")
        self.assert_code(self.run_program("abort", task), 0)
        self.collect()
        for change in ("nothing", "another state directory", "without gitdir"):
            with self.subTest(change):
                shutil.rmtree(records, ignore_errors=True)
                shutil.copytree(kept, records)
                for link in records.glob("*/gitdir"):
                    if change == "another state directory":
                        link.write_text(f"/nowhere/worktrees/{task}/verify/.git\n", encoding="utf-8")
                    elif change == "without gitdir":
                        link.unlink()
                freed = [(item["kind"], item["task_id"]) for item in self.collect()["freed"]]
                self.assertEqual(freed, [] if change == "another state directory" else [("worktree", task)])
                self.assertEqual(records.exists(), change == "another state directory")

    def test_the_worktree_of_a_replay_that_runs_is_kept(self):
        """Such a worktree has no task folder, but its process holds a lock on it."""
        self.assert_code(self.start("--approve", "red"), 22)
        folder, = self.folder.rglob("worktrees/*/task-*")
        shutil.rmtree(self.task_folder())
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        self.assertEqual(self.collect()["freed"], [])
        os.close(descriptor)
        self.assertEqual([item["kind"] for item in self.collect()["freed"]], ["worktree"])

    def test_the_worktree_of_a_task_in_another_checkout_is_kept(self):
        self.assert_code(self.start("--approve", "red"), 22)
        other = self.folder / "other"
        self.git("worktree", "add", "-q", str(other), "-b", "other")
        freed = self.assert_code(self.run_program("gc", "--older-than", "0", "--json", cwd=other), 0).json["freed"]
        self.assertEqual(freed, [])
        self.assert_code(self.go_on("approve", self.task()), 0)

    def test_zero_may_have_a_unit(self):
        self.deliver()
        freed = [self.assert_code(self.run_program("gc", "--older-than", zero, "--dry-run", "--json"), 0).json for zero in ("0", "0d", "0h")]
        self.assertEqual(freed[1:], freed[:1] * 2)

    def test_an_invalid_time_span_is_refused(self):
        self.assert_error(self.run_program("gc", "--older-than", "yesterday"), "AF-CLI-180", exit_code=2)

    def test_a_task_that_cannot_be_locked_is_reported_and_keeps_its_trees(self):
        self.deliver()
        before = self.refs(self.task())
        (self.task_folder() / "lock").unlink(missing_ok=True)
        (self.task_folder() / "lock").mkdir()
        told = self.assert_code(self.run_program("gc", "--older-than", "0"), 1)
        self.assertIn("AF-TASK-008", told.err)
        self.assertEqual(told.out, "Nothing was freed.\n")
        self.assertEqual(self.refs(self.task()), before)


class TestGitGc(ProgramTest):
    def test_git_gc_at_any_moment_breaks_nothing(self):
        self.make_repository()
        over = threading.Event()
        rounds = []

        def collect():
            while not over.is_set():
                subprocess.run(["git", "-C", str(self.repository), "-c", "gc.reflogExpire=now", "gc", "--quiet", "--prune=now"], env=self.environment, check=False, capture_output=True)
                rounds.append(1)

        collector = threading.Thread(target=collect)
        collector.start()
        try:
            outcome = self.start()
        finally:
            over.set()
            collector.join()
        self.assert_code(outcome, 0)
        self.assertGreater(len(rounds), 3)
        self.git("fsck", "--no-dangling")
        self.assert_code(self.run_program("audit", "verify", self.task()), 0)


if __name__ == "__main__":
    main()
