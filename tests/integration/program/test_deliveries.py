# SPDX-License-Identifier: Apache-2.0
"""Delivery of a verified change: hooks, signatures, branches, patches, a moving base, and the archive."""

import os
import subprocess
import time

import yaml

from harness import SOURCE, ProgramTest, call, insert, main, short_transcript

HOOK = """#!/bin/sh
git diff --cached --name-only | grep -q textkit/slug.py || exit 9
echo x > "{checkout}/evil" 2>/dev/null
grep -q "^Formatted" README.md || {{ echo "Formatted by a hook." >> README.md; git add README.md; }}
"""
SIGNER = """#!/bin/sh
cat > /dev/null
printf '[GNUPG:] SIG_CREATED x\\n' >&2
printf -- '-----BEGIN PGP SIGNATURE-----\\n\\nabc\\n-----END PGP SIGNATURE-----\\n'
"""


class DeliveriesTest(ProgramTest):
    def script(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path

    def of_the_user(self, key, value):
        """Sets a key in the user's git configuration, not the repository's."""
        self.environment["GIT_CONFIG_GLOBAL"] = str(self.home / ".gitconfig")
        self.git("config", "--global", key, value)


class TestDeliveryBranchWithHooks(DeliveriesTest):
    """One task, delivered with a hook and a signature, then rebased, applied and archived. A run takes seconds, so these are steps of one test."""

    def test_a_task_becomes_a_signed_branch_through_hooks(self):
        self.make_repository()
        self.script(self.repository / ".git/hooks/pre-commit", HOOK.format(checkout=self.repository))
        self.git("config", "commit.gpgsign", "true")
        self.of_the_user("gpg.program", self.script(self.folder / "signer", SIGNER))
        outcome = self.assert_code(self.start("--deliver", "branch", "--set", "delivery.branch=feature/{slug}", transcript=short_transcript()), 0)
        branch = "feature/add-slugify"

        with self.subTest("the branch has the formatted tree, signed, with its trailers"):
            self.assertIn("Formatted by a hook.", self.git("show", f"{branch}:README.md"))
            self.assertIn("gpgsig", self.git("cat-file", "commit", branch))
            trailers = self.git("log", "-1", "--format=%(trailers:only)", branch)
            for key in ("AgentForge-Task: " + self.task(), "AgentForge-Journal: ", "Co-authored-by: AgentForge <agentforge@localhost>"):
                self.assertIn(key, trailers)
            self.assertEqual(self.delivered(branch)["commit_hooks"], "pre-commit passed and changed 1 file")
            self.assertIn("hooks    pre-commit passed", outcome.out)
        with self.subTest("the hook reached nothing of the checkout"):
            self.assertFalse((self.repository / "evil").exists())
            self.assertEqual(self.git("status", "--porcelain"), "")
        with self.subTest("diff shows the change"):
            patch = self.run_program("diff", self.task()).out
            self.assertIn("+def slugify(text: str) -> str:", patch)
            self.assertIn("+Formatted by a hook.", patch)
            self.assertIn("A  textkit/slug.py", self.run_program("diff", self.task(), "--stat").out)

        changelog = self.repository / "CHANGELOG.md"
        changelog.write_text(changelog.read_text().replace("## Unreleased\n", "## Unreleased\n\n- Something else.\n", 1))
        (self.repository / "other.py").write_text("VALUE = 1\n")
        self.git("add", "-A")
        self.git("-c", "commit.gpgsign=false", "commit", "-q", "--no-verify", "-m", "Meanwhile")
        with self.subTest("rebase --check reports and changes nothing"):
            looked = self.assert_code(self.run_program("rebase", self.task(), "--check"), 0)
            self.assertIn("main has 1 new commit since the task began; both sides changed CHANGELOG.md, and those changes merge cleanly", looked.out)
            self.assertEqual(self.git("log", "-1", "--format=%P", branch), self.git("rev-parse", "main~1"))
        with self.subTest("a branch that cannot be moved is refused at once, also by --check"):
            tip, linked = self.git("rev-parse", branch).strip(), str(self.folder / "linked")
            self.git("worktree", "add", "-q", linked, branch)
            for flags in (("--check",), ()):
                self.assert_error(self.run_program("rebase", self.task(), *flags), "AF-GIT-040", f"is checked out in {linked}")
            with self.subTest("a command in another worktree than the task's names the right one"):
                self.assert_error(self.run_program("undo", cwd=linked), "AF-CLI-190", f"agentforge -C {self.repository}")
                self.assert_error(self.run_program("undo", self.task()[-8:], cwd=linked), "AF-TASK-002", f"agentforge -C {self.repository}")
                self.assertIn(f"agentforge -C {self.repository} status", self.run_program("status", cwd=linked).out)
            self.git("worktree", "remove", "--force", linked)
            self.git("branch", "-q", "-f", branch, "main")
            self.assert_error(self.run_program("rebase", self.task(), "--check"), "AF-GIT-040", f"git branch -f {branch} {tip}")
            self.git("branch", "-q", "-D", branch)
            self.assert_error(self.run_program("rebase", self.task(), "--check"), "AF-GIT-040", f"git branch {branch} {tip}")
            self.git("branch", "-q", branch, tip)
        with self.subTest("rebase measures again and moves the branch"):
            self.assert_code(self.run_program("rebase", self.task(), "--quiet"), 0)
            self.assertEqual(self.git("log", "-1", "--format=%P", branch), self.git("rev-parse", "main"))
            self.assertIn("gpgsig", self.git("cat-file", "commit", branch))
            entries = self.git("show", f"{branch}:CHANGELOG.md")
            self.assertIn("- Something else.", entries)
            self.assertIn("slugify", entries)
            self.assertTrue(self.records("rebased")[0]["gate_passed"])
            self.assert_journal_verifies()
            self.assertEqual(len(self.git("worktree", "list").splitlines()), 1)
        with self.subTest("rebased once, there is nothing more to do"):
            self.assertIn("main has not moved since the last rebase\nThere is nothing to rebase", self.run_program("rebase", self.task()).out)
        with self.subTest("apply puts it on top of the user's own changes, once"):
            (self.repository / "textkit" / "words.py").write_text((self.repository / "textkit" / "words.py").read_text() + "# mine\n")
            self.assert_code(self.run_program("apply", self.task()), 0)
            self.assertTrue((self.repository / "textkit" / "slug.py").exists())
            self.assertTrue((self.repository / "textkit" / "words.py").read_text().endswith("# mine\n"))
            self.assertIn("; nothing was changed", self.run_program("apply", self.task()).out)
        with self.subTest("undo --index of a change that is not staged says to leave out --index"):
            self.assert_error(self.run_program("undo", "--index"), "AF-GIT-053", "is not staged", f"leave out --index: agentforge undo {self.task()[-8:]}")
        with self.subTest("a task is named by the beginning of its short id, and said; too little of it is refused"):
            short = self.task()[-8:]
            self.assertIn(f"agentforge: task {self.task()}\n", self.assert_code(self.run_program("apply", short[:4], "--check"), 0).err)
            self.assert_error(self.run_program("undo", short[-3:]), "AF-TASK-002", "at least 4 characters")
            offered = self.run_program("completion", "bash", "--candidates", "tasks", f"--begun={short[:2]}").out
            self.assertEqual(offered.split(), [self.task(), short])
        with self.subTest("undo takes it out again, once, and keeps the user's own changes"):
            undone = self.assert_code(self.run_program("undo"), 0)
            self.assertIn(f"agentforge: task {self.task()[-8:]} (completed)", undone.err)
            self.assertIn(f"Removed from your checkout: {self.task()[-8:]}\n", undone.out)
            self.assertFalse((self.repository / "textkit" / "slug.py").exists())
            self.assertTrue((self.repository / "textkit" / "words.py").read_text().endswith("# mine\n"))
            self.assertIn("does not have the change", self.run_program("undo", self.task()).out)
            self.assertEqual(self.run_program("undo", self.task(), "--json").json["absent_already"], True)
        with self.subTest("a change of the user's that is in the way is kept"):
            self.git("checkout", "-q", ".")
            self.git("clean", "-fdq")
            (self.repository / "textkit" / "slug.py").write_text("mine\n")
            self.assert_error(self.run_program("apply", self.task()), "AF-GIT-053", "textkit/slug.py")
            self.assertEqual((self.repository / "textkit" / "slug.py").read_text(), "mine\n")
        with self.subTest("git clean loses no journal"):
            before, task = self.journal(), self.task()
            self.git("clean", "-fdxq")
            self.assertEqual(self.run_program("status", "--json").json["tasks"], [])
            self.assertIn(task, self.run_program("archive", "list").out)
            self.assert_code(self.run_program("archive", "restore", "--all"), 0)
            self.assertEqual(self.journal(), before)
            self.assert_journal_verifies()

    def delivered(self, _):
        return self.records("delivered")[0]


class TestApplyInterrupted(DeliveriesTest):
    """A full disk and a killed process, in a checkout with the user's own changes."""

    def setUp(self):
        super().setUp()
        self.make_repository()
        self.assert_code(self.start(transcript=short_transcript()), 0)
        changelog = self.repository / "CHANGELOG.md"
        changelog.write_text(changelog.read_text() + "mine " * 40_000 + "\n")
        self.before = self.files()

    def files(self):
        return {str(path.relative_to(self.repository)): path.read_bytes() for path in sorted(self.repository.rglob("*"))
                if path.is_file() and path.relative_to(self.repository).parts[0] not in (".git", ".agentforge")}

    def test_a_full_disk_changes_nothing(self):
        limited = ["prlimit", "--fsize=100000", *self.command("apply", self.task())]
        done = subprocess.run(limited, cwd=self.repository, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        self.assertNotEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.files(), self.before)
        self.assert_code(self.run_program("apply", self.task()), 0)
        self.assertTrue((self.repository / "textkit" / "slug.py").exists())

    def test_the_next_apply_finishes_a_killed_one(self):
        expected = None
        for delay in range(0, 60, 3):
            process = self.spawn("apply", self.task())
            time.sleep(delay / 1000)        # Kills it at any point, or after its end.
            process.kill()
            process.wait()
            process.communicate()
            self.assert_code(self.run_program("status"), 0)
            self.assert_code(self.run_program("apply", self.task()), 0)
            after = self.files()
            self.assertIn("textkit/slug.py", after)
            self.assertIn(b"mine mine", after["CHANGELOG.md"])
            expected = expected or after
            self.assertEqual(after, expected)
            process = self.spawn("undo", self.task())
            time.sleep(delay / 1000)
            process.kill()
            process.wait()
            process.communicate()
            self.assert_code(self.run_program("undo", self.task()), 0)
            self.assertEqual(self.files(), self.before)
            for path, content in self.before.items():
                (self.repository / path).write_bytes(content)

    def kill_at_each_step(self, *command):
        """Kills the command at one step after another, until it ends by itself. Yields the step's number after each kill."""
        shim = self.folder / "kill_at.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", shim, SOURCE / "tests" / "integration" / "program" / "kill_at.c", "-ldl"], check=True)
        for step in range(1, 60, 2):
            killed = subprocess.run(self.command(*command), cwd=self.repository, stdin=subprocess.DEVNULL, capture_output=True, check=False,
                                    env=dict(self.environment, LD_PRELOAD=str(shim), AGENTFORGE_TEST_KILL_AT=str(step)))
            yield step
            if killed.returncode == 0:
                self.assertGreater(step, 3)
                return
        self.fail("it never ended")

    def test_apply_after_a_killed_undo_brings_the_change_back(self):
        self.assert_code(self.run_program("apply", self.task()), 0)
        expected, notices = self.files(), []
        for step in self.kill_at_each_step("undo", self.task()):
            notices.append(self.run_program("status").err)
            applied = self.assert_code(self.run_program("apply", self.task(), "--json"), 0)
            self.assertEqual(self.files(), expected, (step, applied))
        unfinished = [notice for notice in notices if "partly" in notice]
        self.assertTrue(unfinished)
        for notice in unfinished:
            self.assertIn(f"was only partly removed from the checkout: its process ended; `agentforge undo {self.task()[-8:]}` finishes it", notice)

    def test_a_killed_apply_is_finished_after_git_restore(self):
        """The next `apply` writes the restored files again, and stages all files."""
        self.git("commit", "-q", "-a", "-m", "mine")
        self.assert_code(self.run_program("apply", self.task(), "--index"), 0)
        expected, staged = self.files(), self.git("diff", "--cached")
        self.assert_code(self.run_program("undo", self.task(), "--index"), 0)
        for step in self.kill_at_each_step("apply", self.task(), "--index"):
            self.git("restore", ".")
            self.assert_code(self.run_program("apply", self.task(), "--index"), 0)
            self.assertEqual(self.files(), expected, step)
            self.assertEqual(self.git("diff", "--cached"), staged, step)
            self.assert_code(self.run_program("undo", self.task(), "--index"), 0)

    def test_a_missing_file_of_the_change_is_named(self):
        path = "textkit/slug.py"
        blob = self.git("rev-parse", f"agentforge/{self.task()}:{path}").strip()
        loose = self.repository / ".git" / "objects" / blob[:2] / blob[2:]
        loose.unlink()
        self.assert_error(self.run_program("apply", self.task()), "AF-GIT-099", path, blob)


class TestApplyOfOtherKinds(DeliveriesTest):
    """A hook replaces a file by a folder, a folder by a file, and a link by a file."""

    CHANGE = ("git diff --cached --name-only | grep -q textkit/slug.py || exit 0\n"
              "rm docs/file && mkdir docs/file && echo in > docs/file/in\n"
              "rm -r docs/folder && echo file > docs/folder\n"
              "rm docs/link && echo file > docs/link\n"
              "git add -A docs\n")

    def test_apply_and_undo_change_the_kind_of_a_file(self):
        self.make_repository()
        docs = self.repository / "docs"
        (docs / "file").write_text("file\n")
        (docs / "folder").mkdir()
        (docs / "folder" / "in").write_text("in\n")
        (docs / "link").symlink_to("usage.md")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "Add a file, a folder and a link")
        self.script(self.repository / ".git/hooks/pre-commit", "#!/bin/sh\n" + self.CHANGE)
        self.assert_code(self.start(transcript=short_transcript()), 0)
        self.assert_code(self.run_program("apply", self.task()), 0)
        self.git("add", "-A")
        self.assertEqual(self.git("write-tree").strip(), self.git("rev-parse", f"agentforge/{self.task()}^{{tree}}").strip())
        self.git("reset", "-q")
        self.assert_code(self.run_program("undo", self.task()), 0)
        self.assertEqual(self.git("status", "--porcelain"), "")


class TestDeliveryRefused(DeliveriesTest):
    def test_a_hook_failure_goes_back_to_the_developer_with_its_output(self):
        self.make_repository()
        self.script(self.repository / ".git/hooks/pre-commit", "#!/bin/sh\ngit diff --cached --name-only | grep -q slug.py || exit 0\necho 'slug.py:1: no licence line' >&2\nexit 1\n")
        outcome = self.start(transcript=short_transcript())     # The transcript has no answer for the second visit.
        self.assertIn("AF-LLM-201", outcome.err)
        back = self.records("cycle_requested")
        self.assertEqual([(record["stage"], record["to"]) for record in back], [("deliver", "green")])
        self.assertIn("slug.py:1: no licence line", back[0]["reason"])
        self.assert_nothing_delivered()


class TestDeliveryPatch(DeliveriesTest):
    def test_the_type_files_writes_a_patch_that_git_applies_and_leaves_git_unchanged(self):
        self.make_repository()
        outcome = self.assert_code(self.start("--deliver", "files", transcript=short_transcript()), 0)
        self.assertEqual(self.branches(), ["refs/heads/main"])
        patch = self.task_folder() / "artifacts/delivery/change.patch"
        self.assertIn("artifacts/delivery/change.patch", outcome.out)
        self.git("apply", "--check", patch)
        report = yaml.safe_load((self.task_folder() / "artifacts/phases/deliver/delivery_report.yaml").read_text())
        self.assertEqual((report["deliverable_type"], report.get("commit_sha")), ("files", None))
        self.assert_error(self.run_program("rebase", self.task()), "AF-GIT-050", "agentforge apply")
        lock = self.repository / ".git" / "index.lock"
        lock.touch()
        self.assert_error(self.run_program("apply", self.task(), "--index"), "AF-GIT-053", "index.lock")
        lock.unlink()
        self.assert_code(self.run_program("apply", self.task(), "--index"), 0)
        self.assertIn("A  textkit/slug.py", self.git("status", "--porcelain"))
        self.git("reset", "-q")
        self.assertIn("; it is staged now", self.assert_code(self.run_program("apply", self.task(), "--index"), 0).out)
        self.assertIn("A  textkit/slug.py", self.git("status", "--porcelain"))
        self.assertIn("; nothing was changed", self.assert_code(self.run_program("apply", self.task(), "--index"), 0).out)


class TestDeliveryPullRequest(DeliveriesTest):
    def test_a_request_without_a_remote_is_refused_before_a_task_exists(self):
        self.make_repository()
        self.assert_error(self.start("--deliver", "pr"), "AF-CLI-053", "origin")
        self.assertEqual(self.tasks(), [])

    def test_an_unknown_type_is_refused(self):
        self.make_repository()
        self.assert_error(self.start("--deliver", "zip"), "AF-CLI-001", "commit, branch, files", exit_code=2)

    def test_a_push_that_fails_pauses_and_resume_opens_the_request(self):
        self.make_repository()
        bare = self.folder / "remote.git"
        self.git("remote", "add", "origin", "https://github.example.org/acme/textkit.git")
        self.git("config", f"url.{bare}.insteadOf", "https://github.example.org/acme/textkit.git")
        self.script(self.folder / "bin/gh", "#!/bin/sh\necho https://github.example.org/acme/textkit/pull/7\n")
        self.environment["PATH"] = f"{self.folder / 'bin'}:{self.environment['PATH']}"
        paused = self.start("--deliver", "pr", transcript=short_transcript())
        self.assert_error(paused, "AF-GIT-044", "could not be pushed")
        subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True, env={**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"})
        done = self.assert_code(self.go_on("resume", self.task()), 0)
        self.assertIn("https://github.example.org/acme/textkit/pull/7", done.out)
        self.assertEqual(self.git("rev-parse", f"agentforge/{self.task()}", cwd=bare), self.git("rev-parse", f"agentforge/{self.task()}"))


class TestDeliverySignedUncommittedWithSubmodule(DeliveriesTest):
    """One task that begins on uncommitted changes in a repository with a submodule, and is signed with a real SSH key. Its base moves meanwhile."""

    def add_submodule(self):
        library = self.folder / "library"
        library.mkdir()
        (library / "lib.py").write_text("VALUE = 1\n")
        for command in (("init", "-q", "-b", "main"), ("add", "-A"), ("-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "-m", "library")):
            self.git(*command, cwd=library)
        self.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library, "parts/library")
        self.git("commit", "-q", "-m", "Use the library")
        return self.git("rev-parse", "HEAD:parts/library").strip()

    def test_a_task_on_uncommitted_changes_with_a_submodule_is_delivered_signed(self):
        self.make_repository()
        gitlink = self.add_submodule()
        key = self.folder / "key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", str(key)], check=True)
        (self.folder / "signers").write_text(f"test@example.invalid {(self.folder / 'key.pub').read_text()}")
        for name, value in (("commit.gpgsign", "true"), ("gpg.format", "ssh"), ("user.signingkey", f"{key}.pub"), ("gpg.ssh.allowedSignersFile", self.folder / "signers")):
            self.git("config", name, value)
        (self.repository / "textkit" / "mine.py").write_text("MINE = 1\n")
        transcript = short_transcript()
        insert(transcript, "green", "software_developer", 1, call("create_file", path="parts/library/evil.py", content="EVIL = 1\n"))
        before = self.checkout()
        outcome = self.assert_code(self.start("--include-uncommitted", transcript=transcript), 0)
        branch = f"agentforge/{self.task()}"

        with self.subTest("a write into the submodule was refused, and the commit that is named is the same"):
            refused = [step for step in self.steps() if "AF-TOOL-060" in str(step)]
            self.assertEqual(len(refused), 1)
            self.assertEqual(self.git("rev-parse", f"{branch}:parts/library").strip(), gitlink)
            self.assertFalse((self.repository / "parts/library/evil.py").exists())
        with self.subTest("uncommitted changes are a commit below the task's own"):
            self.assertEqual(self.git("show", "--format=", "--name-only", f"{branch}~1").split(), ["textkit/mine.py"])
            self.assertNotIn("textkit/mine.py", self.git("show", "--format=", "--name-only", branch).split())
            self.assertEqual(self.git("rev-parse", f"{branch}~2"), self.git("rev-parse", "main"))
            self.assertEqual(self.checkout(), before)
        with self.subTest("git itself finds the signature good"):
            self.assertIn('Good "git" signature for test@example.invalid', self.git("verify-commit", branch, check=False).stderr)
            self.assertEqual(outcome.code, 0)
        (self.repository / "textkit" / "other.py").write_text("OTHER = 1\n")
        self.git("add", "textkit/other.py")
        self.git("commit", "-q", "-m", "Meanwhile")
        with self.subTest("the drift report counts the user's commits, not the one of the uncommitted changes"):
            looked = self.assert_code(self.run_program("rebase", self.task(), "--check"), 0)
            self.assertIn("main has 1 new commit since the task began", looked.out)
        with self.subTest("the change alone can be applied where the user's own are still there"):
            self.assert_code(self.run_program("apply", self.task()), 0)
            self.assertTrue((self.repository / "textkit" / "slug.py").exists())
            self.assertEqual((self.repository / "textkit" / "mine.py").read_text(), "MINE = 1\n")


class TestDeliveryOfFilesThatActLater(DeliveriesTest):
    """Files that tools obey later: the specification names them, and a person approves their contents once."""

    WORKFLOW = ".github/workflows/tests.yml"

    def test_a_task_about_an_acting_file_waits_once_and_delivers_it(self):
        self.make_repository()
        transcript = short_transcript()
        specification = next(each for each in transcript["entries"] if each["stage"] == "spec" and any(one["name"] == "complete" and "requirements" in one["arguments"] for one in each["tool_calls"]))
        specification["tool_calls"][-1]["arguments"].setdefault("files_to_create", []).append(self.WORKFLOW)
        insert(transcript, "green", "software_developer", 1, call("create_file", path=".envrc", content="touch planted\n"),
               call("create_file", path=self.WORKFLOW, content="on: push\n"))
        outcome = self.assert_code(self.start(transcript=transcript), 22)
        self.assertIn("agentforge approve " + self.task()[-8:], outcome.out)
        status = self.run_program("status", self.task(), "--json").json
        self.assertEqual(status["current_stage"], "green")
        artifact = (self.repository / ".agentforge/tasks" / self.task() / "artifacts/phases/green/implementation.yaml").read_text()
        self.assertIn(f"{self.WORKFLOW} takes effect later, outside the sandbox; its sha256 is", artifact)
        self.assertIn("+on: push", self.run_program("diff", self.task()).out)
        outcome = self.assert_code(self.run_program("approve", self.task()), 0)
        branch = "agentforge/" + self.task()
        self.assertEqual(self.git("show", f"{branch}:{self.WORKFLOW}"), "on: push\n")
        self.assertIn(f"- {self.WORKFLOW} takes effect later", self.git("log", "-1", "--format=%B", branch))
        self.assertNotIn(".envrc", self.git("ls-tree", "-r", "--name-only", branch))
        self.assertIn("AF-TOOL-016", str(self.journal()))


class TestDeliveryInARepositoryThatNamesPrograms(DeliveriesTest):
    """No command runs a program outside the sandbox because `.git/config`, `.gitattributes`, a hook or a submodule names it."""

    def setUp(self):
        super().setUp()
        self.make_repository()
        self.library = self.folder / "library"
        self.library.mkdir()
        (self.library / "lib.py").write_text("VALUE = 1\n")
        for command in (("init", "-q"), ("add", "-A"), ("-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "-m", "library")):
            self.git(*command, cwd=self.library)
        self.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", self.library, "parts/library")
        self.git("commit", "-q", "-m", "Use the library")
        self.ran = self.folder / "ran"
        self.program = self.script(self.folder / "planted", f"#!/bin/sh\necho \"$0 $@\" >> {self.ran}\ncat\n")

    def plant(self, *where):
        """Sets the program for every git key that runs a program, in the configuration of these repositories."""
        for place in where:
            for key in ("core.fsmonitor", "filter.planted.clean", "filter.planted.smudge", "diff.planted.textconv", "diff.planted.command", "diff.external", "merge.planted.driver",
                        "core.pager", "core.editor", "core.sshCommand", "credential.helper", "gpg.program", "gpg.ssh.program", "gpg.x509.program", "core.askPass", "core.gitProxy",
                        "core.alternateRefsCommand", "uploadpack.packObjectsHook", "trailer.planted.command", "sequence.editor", "diff.tool", "interactive.diffFilter"):
                self.git("config", key, self.program, cwd=place)
            for key in ("alias.status", "alias.planted", "submodule.parts/library.update", "filter.planted.process"):
                self.git("config", key, "!" + str(self.program), cwd=place)
            included = self.folder / "included"
            included.write_text(f"[core]\n\tfsmonitor = {self.program}\n[filter \"planted\"]\n\trequired = true\n")
            self.git("config", "include.path", included, cwd=place)
            self.git("config", "core.hooksPath", self.repository / ".git/hooks", cwd=place)
            attributes = self.git("rev-parse", "--path-format=absolute", "--git-path", "info/attributes", cwd=place).strip()
            with open(attributes, "w", encoding="utf-8") as file:
                file.write("*.py filter=planted diff=planted merge=planted\n*.md diff=planted merge=planted\n")
        for name in ("post-checkout", "post-index-change", "reference-transaction", "pre-applypatch", "post-commit", "sendemail-validate", "fsmonitor-watchman"):
            self.script(self.repository / ".git/hooks" / name, self.program.read_text())

    def assert_runs(self, *command):
        self.git(*command, check=False)
        self.assertTrue(self.ran.exists(), command)
        self.ran.unlink()

    def test_none_of_them_runs_by_any_command(self):
        self.assert_code(self.start(transcript=short_transcript()), 0)
        self.plant(self.repository, self.repository / "parts/library")
        self.assert_runs("diff", "HEAD~1")
        (self.repository / "README.md").write_text("changed\n")
        (self.repository / "parts/library/lib.py").write_text("VALUE = 2\n")
        task = self.task()
        for command in (["init"], ["doctor"], ["doctor", task], ["status"], ["status", task], ["inspect", task], ["diff", task], ["diff", task, "--stat"], ["rebase", task, "--check"],
                        ["apply", task, "--check"], ["trust", "--show"], ["archive", "list"], ["logs", task], ["cost", task], ["rebase", task], ["archive", task], ["abort", task]):
            with self.subTest(" ".join(command)):
                self.run_program(*command)
                self.assertFalse(self.ran.exists(), self.ran.exists() and self.ran.read_text())
        with self.subTest("start --include-uncommitted, by the submodule's programs neither"):
            self.assert_runs("status")
            self.assert_runs("add", "--dry-run", "parts/library")
            self.start("--include-uncommitted", "--exit-after", "intake", request="Another request")
            self.assertFalse(self.ran.exists(), self.ran.exists() and self.ran.read_text())
        self.assertEqual(len(self.tasks()), 2)

    def test_doctor_reads_versions_without_running_files_of_the_repository(self):
        self.script(self.folder / "bin/git", '#!/bin/sh\n[ -x ./toolchain ] && ./toolchain\nexec /usr/bin/git "$@"\n')      # Rustup and yarn also run a program that the repository names.
        self.environment["PATH"] = f"{self.folder / 'bin'}:{self.environment['PATH']}"
        self.script(self.repository / "toolchain", self.program.read_text())
        self.assertIn("git version", self.run_program("doctor").out)
        self.assertFalse(self.ran.exists())
        self.git("--version")
        self.assertTrue(self.ran.exists(), "in the repository it runs")

    def test_a_file_with_a_git_filter_is_refused_by_name(self):
        self.assert_code(self.start(transcript=short_transcript()), 0)
        self.plant(self.repository)
        (self.repository / "textkit" / "mine.py").write_text("MINE = 1\n")
        self.assert_error(self.start("--include-uncommitted", "--exit-after", "intake", request="Another request"), "AF-GIT-065", "textkit/mine.py", "planted")
        self.assert_error(self.run_program("apply", self.task()), "AF-GIT-065", "slug.py")
        self.assertFalse(self.ran.exists())
        self.assertFalse((self.repository / "textkit" / "slug.py").exists())
        with self.subTest("the same filter of the user's own runs"):
            self.of_the_user("filter.planted.clean", "sed s/MINE/THEIRS/")
            self.assert_code(self.start("--include-uncommitted", "--exit-after", "intake", request="Another request"), 0)
            task = next(each for each in self.tasks() if "another" in each)
            base = yaml.safe_load((self.task_folder(task) / "task.yaml").read_text())
            self.assertIn("THEIRS = 1", self.git("show", f"{base['base_commit']}:textkit/mine.py"))
            self.assertFalse(self.ran.exists())


class TestDeliveryMergeRequest(DeliveriesTest):
    def test_a_commit_signed_by_gpg_becomes_a_merge_request_by_glab(self):
        self.make_repository()
        keys = self.home / ".gnupg"
        keys.mkdir(mode=0o700)
        self.addCleanup(subprocess.run, ["gpgconf", "--homedir", str(keys), "--kill", "all"], check=False)
        made = subprocess.run(["gpg", "--homedir", str(keys), "--batch", "--passphrase", "", "--quick-generate-key", "Test User <test@example.invalid>", "ed25519", "sign", "never"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(made.returncode, 0, made.stderr)
        bare = self.folder / "remote.git"
        subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True, env={**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"})
        self.git("remote", "add", "origin", "git@gitlab.example.org:acme/textkit.git")
        self.git("config", f"url.{bare}.insteadOf", "git@gitlab.example.org:acme/textkit.git")
        self.script(self.folder / "bin/glab", f"""#!/bin/sh
for word; do printf '%s\\n' "$word"; done > {self.folder}/asked
echo 'Creating merge request' >&2
echo https://gitlab.example.org/acme/textkit/-/merge_requests/3
""")
        self.environment["PATH"] = f"{self.folder / 'bin'}:{self.environment['PATH']}"
        done = self.assert_code(self.start("--deliver", "pr", "--set", "delivery.sign=always", transcript=short_transcript()), 0)
        branch = f"agentforge/{self.task()}"
        self.assertIn("https://gitlab.example.org/acme/textkit/-/merge_requests/3", done.out)
        self.assertEqual(self.git("rev-parse", branch, cwd=bare), self.git("rev-parse", branch))
        self.assertIn("Good signature from", self.git("verify-commit", branch, check=False).stderr)
        asked = (self.folder / "asked").read_text().splitlines()
        self.assertEqual(asked[:2], ["mr", "create"])
        for flag, value in (("--source-branch", branch), ("--target-branch", "main")):
            self.assertEqual(asked[asked.index(flag) + 1], value)


if __name__ == "__main__":
    main()
