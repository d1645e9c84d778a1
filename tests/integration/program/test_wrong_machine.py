# SPDX-License-Identifier: Apache-2.0
"""Faults of the machine: missing parts, full disks, limits, unwritable folders, closed terminals. The error names the fault, and nothing is lost."""

import os
import signal
import subprocess

from harness import ERROR, PROGRAM, REQUEST, SOURCE, TRANSCRIPT, Outcome, ProgramTest, main
from terminal import Terminal
from untouched import Untouched


class TestInstallation(ProgramTest):
    """Missing parts of the installation, and closed pipes."""

    def setUp(self):
        super().setUp()
        self.make_repository()

    def installation(self, *parts):
        """Makes a copy of the installation with only these parts."""
        build = os.path.dirname(os.path.dirname(PROGRAM))
        home = self.folder / "installed"
        (home / "bin").mkdir(parents=True)
        if "config" in parts:
            (home / "config").symlink_to(SOURCE / "config")
        if "plugins" in parts:
            (home / "plugins").symlink_to(os.path.join(build, "plugins"))
        if "exec" in parts:
            (home / "bin" / "agentforge-exec").symlink_to(os.path.join(build, "libexec", "agentforge-exec"))
        return dict(self.environment, AGENTFORGE_HOME=str(home))

    def test_a_relocated_installation_works(self):
        self.assert_code(self.start("--exit-after", "intake", environment=self.installation("config", "plugins", "exec")), 0)

    def test_missing_plugins_are_named_before_a_task_exists(self):
        outcome = self.start("--exit-after", "intake", environment=self.installation("config", "exec"))
        self.assertEqual(outcome.code, 1, outcome)
        self.assertRegex(outcome.err, ERROR)
        self.assertIn("plugins", outcome.err)
        self.assertEqual(self.tasks(), [])

    def test_missing_configuration_is_named(self):
        outcome = self.start("--exit-after", "intake", environment=self.installation("plugins", "exec"))
        self.assertEqual(outcome.code, 1, outcome)
        self.assertRegex(outcome.err, ERROR)
        self.assertIn("config", outcome.err)

    def test_a_missing_plugin_folder_of_the_user_is_named(self):
        outcome = self.start("--exit-after", "intake", environment=dict(self.environment, AGENTFORGE_PLUGIN_PATH=str(self.folder / "no-plugins")))
        self.assertIn("no-plugins", outcome.err)

    def test_a_closed_pipe_is_harmless(self):
        self.start("--exit-after", "spec")
        done = subprocess.run(["/bin/bash", "-c", f'set -o pipefail; "{PROGRAM}" inspect {self.task()} --json | head -n 1'], cwd=self.repository,
                              env=self.environment, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "{\n", ""))

    def test_a_closed_standard_output_does_not_affect_the_task(self):
        done = subprocess.run(["/bin/sh", "-c", f'exec "{PROGRAM}" start --transcript "{TRANSCRIPT}" --exit-after intake "{REQUEST}" >&-'],
                              cwd=self.repository, env=self.environment, capture_output=True, text=True, check=False)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertEqual(self.run_program("status", self.task(), "--json").json["status"], "completed")

    def test_a_full_disk_for_the_output_is_an_error(self):
        done = subprocess.run(["/bin/sh", "-c", f'exec "{PROGRAM}" status > /dev/full'], cwd=self.repository, env=self.environment,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("AF-CLI-004", done.stderr)


def within_mounts(script):
    """Returns the command of a shell that may mount. Its mounts end with it."""
    return ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"]), "/bin/bash", "-euc", script]


class TestFullDisk(Untouched):
    """A separate small disk for `.agentforge`, which becomes full."""

    def setUp(self):
        super().setUp()
        self.make_repository()
        (self.repository / ".agentforge").mkdir()

    def run_on_a_small_disk(self, script):
        """Returns the output of `script`, split at lines of `==`."""
        script = f'mount -t tmpfs -o size=3m small .agentforge\nagentforge() {{ "{PROGRAM}" "$@" 2>&1 || echo "exit $?"; }}\n' + script
        done = subprocess.run(within_mounts(script), cwd=self.repository, env=self.environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout.split("==\n")

    def test_no_task_starts_on_it(self):
        out, left = self.run_on_a_small_disk(f"""
            head -c 4m /dev/zero > .agentforge/filler || true
            agentforge start --transcript "{TRANSCRIPT}" "{REQUEST}"
            echo ==
            ls -A .agentforge""")
        self.assertIn("AF-CLI-134", out)
        self.assertIn("exit 1", out)
        self.assertNotIn("tasks", left.split())

    def test_a_running_task_loses_nothing_and_resumes_when_there_is_space(self):
        begun, full, listed, verified, resumed = self.run_on_a_small_disk(f"""
            agentforge start --transcript "{TRANSCRIPT}" --approve intake --exit-after analyze "{REQUEST}"
            id=$(ls .agentforge/tasks)
            echo ==
            head -c 4m /dev/zero > .agentforge/filler || true
            agentforge approve "$id"
            echo ==
            agentforge status "$id" --json
            echo ==
            rm .agentforge/filler
            agentforge inspect "$id" --json > /dev/null && echo verified
            echo ==
            agentforge approve "$id" || true""")
        self.assertIn("exit 22", begun)
        self.assertRegex(full, r"AF-[A-Z]+-\d{3}: .*No space left on device")
        self.assertIn("exit 1", full)
        self.assertNotIn('"completed"', listed)
        self.assertEqual(verified, "verified\n")
        self.assertIn("ended    after stage analyze", resumed)
        self.assertNotIn("exit", resumed.replace("exit_", ""))


class TestMachineLimits(Untouched):
    """Limits that are too small, and folders that are missing or read-only."""

    def setUp(self):
        super().setUp()
        self.make_repository()

    def run_under(self, limit, *words, environment=None):
        done = subprocess.run(["/bin/bash", "-c", f'{limit} && exec "$@"', "bash", *map(str, self.command(*words))],
                              cwd=self.repository, env=environment or self.environment, capture_output=True, text=True, check=False)
        return Outcome(words, done.returncode, done.stdout, done.stderr)

    def start_under(self, limit, *arguments, **options):
        return self.run_under(limit, "start", "--transcript", TRANSCRIPT, *arguments, REQUEST, **options)

    def test_too_few_open_files(self):
        self.assert_refused(lambda: self.start_under("ulimit -n 40"), "AF-CLI-133", "ulimit -n 1024")
        self.assert_code(self.start("--approve", "intake", "--exit-after", "clarify"), 22)
        for command in ("resume", "approve"):
            self.assert_error(self.run_under("ulimit -n 40", command, self.task()), "AF-CLI-133")
        self.assert_code(self.go_on("resume", self.task()), 0)

    def test_a_low_soft_limit_on_open_files_is_raised(self):
        self.assert_code(self.start_under("ulimit -Sn 20", "--exit-after", "intake"), 0)

    def test_a_file_size_limit_is_an_error_and_not_a_signal(self):
        outcome = self.start_under("ulimit -f 4")
        self.assertEqual(outcome.code, 1, outcome)
        self.assertIn("File too large", outcome.err)
        self.assertEqual(self.tasks(), [])

    def test_a_strict_umask_is_accepted(self):
        self.assert_code(self.start_under("umask 077", "--exit-after", "intake"), 0)
        self.assertEqual((self.repository / ".agentforge").stat().st_mode & 0o077, 0)

    def test_a_missing_temporary_folder(self):
        outcome = self.assert_refused(lambda: self.start("--include-uncommitted", environment=dict(self.environment, TMPDIR="/nowhere")), "AF-BASE-015", "TMPDIR")
        self.assertNotIn("Aborted", outcome.err)

    def test_a_state_folder_that_cannot_be_made(self):
        (self.folder / "file").write_text("x")
        for folder, code in ((self.folder / "file" / "state", "AF-CLI-132"), ("state", "AF-CLI-131"), (self.repository / "state", "AF-CLI-138")):
            with self.subTest(str(folder)):
                self.assert_refused(lambda: self.start(environment=dict(self.environment, AGENTFORGE_STATE_HOME=str(folder))), code)

    def test_a_home_that_is_not_an_absolute_path(self):
        environment = {k: v for k, v in self.environment.items() if k not in ("AGENTFORGE_STATE_HOME", "XDG_STATE_HOME")}
        self.assert_refused(lambda: self.start(environment=dict(environment, HOME="here")), "AF-CLI-131", "HOME")

    def test_a_home_in_the_current_folder_is_refused_even_with_another_state_folder(self):
        self.assert_refused(lambda: self.start(environment=dict(self.environment, HOME=".")), "AF-CLI-131", "HOME")

    def test_an_unset_path_variable(self):
        environment = {k: v for k, v in self.environment.items() if k != "PATH"}
        self.assert_code(self.start("--exit-after", "intake", environment=environment), 0)

    def test_including_uncommitted_changes_without_git_is_refused(self):
        outcome = self.assert_refused(lambda: self.start("--include-uncommitted", "--exit-after", "intake", environment=dict(self.environment, PATH="/nowhere")), "AF-", "git")
        self.assertIn("not", outcome.err)


class TestTerminalThatDies(ProgramTest):
    def test_the_task_is_saved_and_can_be_resumed_elsewhere(self):
        self.make_repository()
        terminal = Terminal(self, "start", "--transcript", TRANSCRIPT, "--exit-after", "spec", "--no-iterate", REQUEST)
        terminal.wait_for("step 1")
        os.killpg(terminal.process.pid, signal.SIGHUP)       # Linux sends this signal when a terminal closes.
        terminal.process.wait()
        self.assertLess(terminal.process.returncode, 128)
        self.assertGreaterEqual(terminal.process.returncode, 0)
        self.assert_journal_verifies()
        if self.run_program("status", self.task(), "--json").json["status"] != "completed":
            self.assert_code(self.run_program("resume", self.task()), 0)
        self.assertEqual(self.run_program("status", self.task(), "--json").json["status"], "completed")


class TestOddFileNames(Untouched):
    """Unusual file names in the repository: not UTF-8, or with control and shell characters."""

    def test_the_gates_still_run(self):
        path = self.make_repository()
        odd = path / "odd"
        for name in (b"bytes\xff\xfe.py", b"new\nline", b"tab\there", b"quote\"'", b"$(touch pwned)", b"-rf", b"back\\slash", b"\x1b[31m", "\u202e.py".encode(), b"n" * 255):
            file = os.fsencode(odd) + b"/" + name
            os.makedirs(os.path.dirname(file), exist_ok=True)
            with open(file, "wb") as stream:
                stream.write(b"x = 1\n")
        with open(os.fsencode(path / "tests") + b"/test_\xff.py", "w", encoding="utf-8") as stream:
            stream.write("import unittest\n\n\nclass T(unittest.TestCase):\n    def test_x(self):\n        self.assertTrue(True)\n")
        (odd / "self").symlink_to(".")
        (odd / "loop").symlink_to("loop")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "Odd names")
        os.mkfifo(path / "pipe")
        self.assert_code(self.start("--exit-after", "green"), 0)
        self.assertFalse((path / "pwned").exists())

    def test_the_repository_path_is_escaped_on_a_terminal(self):
        self.make_repository("\x1b[31mred\x07")
        status = self.run_program("status")
        self.assert_code(status, 0)
        self.assertIn("\\x1b[31mred\\x07", status.out)


if __name__ == "__main__":
    main()
