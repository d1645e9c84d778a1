# SPDX-License-Identifier: Apache-2.0
"""Folders without a usable repository: the error names the problem and a remedy, and nothing changes."""

import os
import shutil
import subprocess
import unittest

from harness import PROGRAM, REQUEST, TRANSCRIPT, main
from untouched import Untouched


class TestPlaceOfWork(Untouched):
    """Folders without a usable repository."""

    def test_outside_a_repository(self):
        for command in (("start", "x"), ("status",), ("init",), ("escalations", "list"), ("plugins", "list"), ("inspect", "x"), ("resume", "x"),
                        ("approve", "x"), ("resolve", "x", "y"), ("abort", "x")):
            with self.subTest(command):
                self.assert_refused(lambda: self.run_program(*command), "AF-GIT-001", "git init")

    def test_a_bare_repository(self):
        self.git("init", "-q", "--bare", "bare.git", cwd=self.folder)
        for command in (("start", "x"), ("status",), ("init",)):
            with self.subTest(command):
                self.assert_refused(lambda: self.run_program(*command, cwd=self.folder / "bare.git"), "AF-GIT-003", "Clone it")

    def test_a_repository_without_a_commit(self):
        self.git("init", "-q", "empty", cwd=self.folder)
        self.repository = self.folder / "empty"
        self.assert_refused(self.start, "AF-GIT-005", "git commit")

    def test_a_missing_folder(self):
        self.assert_error(self.run_program("-C", self.folder / "nowhere", "status"), "AF-CLI-192", "nowhere")

    def test_a_removed_current_folder(self):
        gone = self.folder / "gone"
        gone.mkdir()
        done = subprocess.run(["/bin/sh", "-c", f'cd "{gone}" && rmdir "{gone}" && exec "{PROGRAM}" status'], env=self.environment,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("AF-CLI-002", done.stderr)

    @unittest.skipIf(os.geteuid() == 0 and not shutil.which("setpriv"), "root needs setpriv to give up its rights")
    def test_a_read_only_repository(self):
        self.make_repository()
        nobody = 65534 if os.geteuid() == 0 else os.geteuid()
        for path in [self.repository, *self.repository.rglob("*")]:
            os.chown(path, nobody, -1)
            path.chmod(0o555 if path.is_dir() else path.stat().st_mode & 0o555 | 0o444)
        self.folder.chmod(0o755)
        drop = ["setpriv", "--reuid=65534", "--clear-groups", "--"] if os.geteuid() == 0 else []
        before = self.picture()
        done = subprocess.run([*drop, *self.command("start", "--transcript", TRANSCRIPT, REQUEST)], cwd=self.repository, env=self.environment,
                              capture_output=True, text=True, check=False)
        self.assertEqual(self.picture(), before)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("AF-CLI-132", done.stderr)

    def test_a_folder_whose_name_is_not_utf8(self):
        self.make_repository()
        latin = self.folder / os.fsdecode(b"caf\xe9")
        self.repository.rename(latin)
        self.repository = latin
        shutil.copy(TRANSCRIPT, latin / "t.yaml")
        self.assert_code(self.run_program("start", "--transcript", "t.yaml", "--exit-after", "intake", REQUEST), 0)
        elsewhere = self.run_program("-C", latin, "start", "--transcript", "t.yaml", REQUEST, cwd=self.folder)
        self.assert_error(elsewhere, "AF-LLM-004", "not UTF-8", "-C")

    def test_without_a_home_the_state_folder_is_enough(self):
        self.make_repository()
        environment = {k: v for k, v in self.environment.items() if k not in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
        self.assert_code(self.start("--exit-after", "intake", environment=environment), 0)

    def test_without_a_home_and_a_state_folder_the_error_says_what_to_set(self):
        self.make_repository()
        environment = {"PATH": self.environment["PATH"]}
        self.assert_refused(lambda: self.start(environment=environment), "AF-CLI-003", "AGENTFORGE_STATE_HOME")

    def test_an_unborn_branch_beside_others_with_commits(self):
        self.make_repository()
        self.git("checkout", "-q", "--orphan", "fresh")
        self.assert_refused(self.start, "AF-GIT-005", "`fresh`", "git switch")

    def test_a_detached_head_is_accepted_and_does_not_move(self):
        self.make_repository()
        self.git("checkout", "-q", "--detach")
        before = self.git("rev-parse", "HEAD")
        self.assert_code(self.start("--exit-after", "intake"), 0)
        self.assertEqual((self.git("rev-parse", "HEAD"), self.git("symbolic-ref", "-q", "HEAD", check=False).returncode), (before, 1))

    def test_a_head_that_leads_to_no_branch(self):
        self.make_repository()
        (self.repository / ".git" / "HEAD").write_text("ref: refs/heads/../../x\n")
        self.assert_refused(self.start, "AF-GIT-008", "../../x")

    def test_a_dangling_git_file(self):
        self.make_repository()
        shutil.rmtree(self.repository / ".git")
        (self.repository / ".git").write_text("gitdir: /nowhere/worktrees/gone\n")
        self.assert_refused(self.start, "AF-GIT-008", "/nowhere/worktrees/gone", "git worktree repair")

    def test_a_branch_that_blocks_the_delivery_is_reported_before_the_work(self):
        self.make_repository()
        self.git("branch", "agentforge")
        self.assert_refused(self.start, "AF-CLI-137", "`agentforge`", "git branch -m")
        self.assert_code(self.start("--exit-after", "intake"), 0)     # This task creates no branch.

    def test_a_lost_git_file_does_not_fall_back_to_the_outer_repository(self):
        self.make_repository()
        inner = self.repository / "vendor"
        inner.mkdir()
        (inner / ".git").write_text("gitdir: /nowhere\n")
        self.assert_refused(lambda: self.start(cwd=inner), "AF-GIT-008", "/nowhere")

    @unittest.skipIf(os.geteuid() != 0, "only root can give a repository to another user")
    def test_a_repository_of_another_user(self):
        self.make_repository()
        for path in [self.repository, *self.repository.rglob("*")]:
            os.chown(path, 65533, 65533, follow_symlinks=False)
        for command in (("start", REQUEST), ("status",), ("init",)):
            with self.subTest(command):
                self.assert_refused(lambda: self.run_program(*command), "AF-GIT-002", "safe.directory")

    def test_no_command_writes_to_a_symlinked_agentforge_folder(self):
        self.make_repository()
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        (self.repository / ".agentforge").symlink_to(elsewhere)
        for command in (("start", REQUEST), ("init",), ("status",), ("resume", "x"), ("doctor",)):
            with self.subTest(command):
                before = self.picture()
                outcome = self.run_program(*command)
                self.assertEqual(outcome.code, 1, outcome)
                self.assertIn("AF-CLI-130", outcome.all)
                self.assertEqual(self.picture(), before)

    def test_a_misspelt_definitions_folder_is_named(self):
        self.make_repository()
        (self.repository / ".agentforge" / "agent").mkdir(parents=True)
        self.assertIn("did you mean .agentforge/agents?", self.assert_code(self.start("--exit-after", "intake"), 0).err)

    def test_a_repository_from_git_variables_is_not_used_silently(self):
        self.make_repository()
        other = self.make_repository("other")
        outcome = self.assert_code(self.start("--exit-after", "intake", environment=dict(self.environment, GIT_DIR=str(other / ".git"))), 0)
        self.assertIn("GIT_DIR is set but ignored", outcome.err)
        self.assertFalse((other / ".agentforge").exists())


if __name__ == "__main__":
    main()
