# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C and other signals during a model call, pause and abort from another terminal, and that no child process survives."""

import json
import os
import pathlib
import shutil
import signal
import threading
import time

import yaml

from harness import REQUEST, SOURCE, TRANSCRIPT, ProgramTest, main, short_transcript, wait_until
from model_server import KEY, ModelServer


class TestControlBySignals(ProgramTest):
    """The signal arrives during the model's third request."""

    AT = 3

    def begin(self, act):
        """Starts a run whose model calls `act(process)` before it answers. It answers only if `act` returns something other than False."""
        self.environment["SCRIPTED_MODEL_KEY"] = KEY
        started = threading.Event()
        processes = []

        def before():
            started.wait()
            return act(processes[0])

        server = ModelServer(short_transcript(), SOURCE / "config", before={self.AT: before})
        self.addCleanup(server.close)
        self.make_repository()
        self.told = self.folder / "told"
        self.result = self.folder / "result"
        with self.told.open("w") as err, self.result.open("w") as out:
            processes.append(self.spawn("start", "--set", "llm.backend=openai", "--set", "llm.model=scripted", "--set", f"llm.base_url={server.url}/v1",
                                        "--set", "llm.api_key_env=SCRIPTED_MODEL_KEY", REQUEST, stdout=out, stderr=err))
        started.set()
        return processes[0]

    def send(self, process, kind, *, heard):
        os.kill(process.pid, kind)
        if heard:
            wait_until(lambda: "stopping at the end of this step" in self.told.read_text(), "the program's word about it")

    def never(self):
        """Blocks until the end of the test, so the model never answers."""
        over = threading.Event()
        self.addCleanup(over.set)
        over.wait()
        return False

    def assert_saved(self, process, steps):
        process.wait()
        out = self.result.read_text()
        self.assertEqual(process.returncode, 23, out + self.told.read_text())
        self.assertEqual(self.journal()[-1]["type"], "task_paused")
        self.assertEqual(len(self.steps()), steps)
        self.assertIn(f"agentforge resume {self.task()[-8:]}", out)

    def test_one_ctrl_c_finishes_the_step_and_says_how_to_resume(self):
        process = self.begin(lambda process: self.send(process, signal.SIGINT, heard=True))
        self.assert_saved(process, self.AT)

    def test_two_ctrl_c_stop_within_the_step(self):
        def twice(process):
            self.send(process, signal.SIGINT, heard=True)
            self.send(process, signal.SIGINT, heard=False)
            return self.never()

        self.assert_saved(self.begin(twice), self.AT - 1)

    def test_sigterm_stops_within_the_step(self):
        def once(process):
            self.send(process, signal.SIGTERM, heard=False)
            return self.never()

        self.assert_saved(self.begin(once), self.AT - 1)

    def test_a_closed_terminal_stops_within_the_step(self):
        def once(process):
            self.send(process, signal.SIGHUP, heard=False)
            return self.never()

        self.assert_saved(self.begin(once), self.AT - 1)


class TestControlFromElsewhere(ProgramTest):
    """Another terminal pauses or aborts a task while a model call hangs."""

    def setUp(self):
        super().setUp()
        self.make_repository()
        self.environment["SCRIPTED_MODEL_KEY"] = KEY
        over = threading.Event()
        self.server = ModelServer(short_transcript(), SOURCE / "config", before={number: lambda: over.wait() and False for number in range(1, 9)})
        self.addCleanup(self.server.close)
        self.addCleanup(over.set)
        self.model = ["--set", "llm.backend=openai", "--set", "llm.model=scripted", "--set", f"llm.base_url={self.server.url}/v1",
                      "--set", "llm.api_key_env=SCRIPTED_MODEL_KEY"]

    def asking(self, *arguments):
        """Starts a run and waits until its model call hangs."""
        before = len(self.server.requests)
        process = self.spawn(*arguments[:1], *self.model, *arguments[1:])
        wait_until(lambda: len(self.server.requests) > before or process.poll() is not None, "the model to be asked")
        return process

    def assert_paused(self, process, reason):
        out, err = process.communicate()
        self.assertEqual(process.returncode, 23, out + err)
        self.assertIn(f"agentforge resume {self.task()[-8:]}", out)
        self.assertEqual((self.journal()[-1]["type"], self.journal()[-1]["reason"]), ("task_paused", reason))
        self.assertFalse((self.task_folder() / "pause.request").exists())

    def test_pause_does_not_wait_for_the_model_and_resume_continues(self):
        process = self.asking("start", "--exit-after", "intake", REQUEST)
        asked = self.assert_code(self.run_program("pause", self.task(), "--reason", "the machine is needed"), 0)
        self.assertIn(f"agentforge resume {self.task()[-8:]}", asked.out)
        self.assert_paused(process, "the machine is needed")
        self.assertEqual(self.steps(), [])
        self.assert_code(self.run_program("resume", self.task(), "--set", "llm.backend=replay", "--set", f"llm.transcript={TRANSCRIPT}"), 0)

    def test_a_second_pause_stops_at_once(self):
        process = self.asking("start", "--exit-after", "intake", REQUEST)
        self.assert_code(self.run_program("pause", self.task(), "--after-step"), 0)
        self.assertIsNone(process.poll())
        self.assert_code(self.run_program("pause", self.task(), "--reason", "now"), 0)
        self.assert_paused(process, "now")

    def test_stops_within_200_ms(self):
        """Takes the best of three runs, because the test machine may be busy. The time of the journal's last write shows when the task was saved."""
        taken = []
        for ask in (lambda process: self.run_program("pause", self.task()), lambda process: os.kill(process.pid, signal.SIGTERM),
                    lambda process: self.run_program("pause", self.task())):
            process = self.asking("resume", self.task()) if taken else self.asking("start", "--exit-after", "intake", REQUEST)
            ask(process)
            asked = time.time()
            process.communicate()
            self.assertEqual(self.journal()[-1]["type"], "task_paused")
            taken.append((self.task_folder() / "actions.yaml").stat().st_mtime - asked)
        self.assertLess(min(taken), 0.2, taken)

    def test_abort_does_not_wait_for_the_model(self):
        process = self.asking("start", "--exit-after", "intake", REQUEST)
        self.assert_code(self.run_program("abort", "--reason", "The request was wrong", self.task()), 0)
        process.communicate()
        self.assertEqual((process.returncode, self.journal()[-1]["type"], self.journal()[-1]["reason"]), (23, "task_aborted", "The request was wrong"))


class TestControlOfChildren(ProgramTest):
    """A child process that has left its parent, its session and its terminal, and ignores SIGTERM."""

    def setUp(self):
        super().setUp()
        self.make_repository()
        self.seconds = f"86{os.getpid():08d}"       # A unique time, by which the test finds the process in /proc.

    def sleeping(self):
        found = []
        for place in pathlib.Path("/proc").iterdir():
            try:
                if place.name.isdigit() and (place / "cmdline").read_bytes().split(b"\0")[:2] == [b"sleep", self.seconds.encode()]:
                    found.append(int(place.name))
            except OSError:     # The process has ended meanwhile.
                continue
        return found

    def test_a_model_command_ends_with_the_program(self):
        model = self.folder / "model.sh"
        model.write_text(f"#!/bin/sh\ntrap '' TERM INT HUP\nsetsid sleep {self.seconds} &\nsleep {self.seconds}\n")
        model.chmod(0o755)
        for end in (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(end.name):
                self.assert_gone_after(end, "--set", "llm.backend=cli", "--set", f"llm.command=[{model}]", count=2)

    def test_a_gate_command_ends_with_the_program(self):
        (self.repository / "tests" / "test_slow.py").write_text(
            "import signal, subprocess\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
            f"subprocess.Popen(['sleep', '{self.seconds}'], start_new_session=True)\nsubprocess.run(['sleep', '{self.seconds}'])\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "Add a slow test")
        transcript = self.folder / "transcript.yaml"
        transcript.write_text(yaml.safe_dump(short_transcript()), encoding="utf-8")
        for end in (signal.SIGKILL, signal.SIGTERM):
            with self.subTest(end.name):
                self.assert_gone_after(end, "--transcript", transcript, count=2)

    def assert_gone_after(self, end, *model, count):
        process = self.spawn("start", *model, REQUEST)
        wait_until(lambda: len(self.sleeping()) >= count or process.poll() is not None, "the child to begin")
        self.assertEqual(len(self.sleeping()), count, "not begun")
        os.kill(process.pid, end)
        process.communicate()
        if end == signal.SIGKILL:       # A killed program cannot wait for its children.
            wait_until(lambda: not self.sleeping(), "the children to end")
        self.assertEqual(self.sleeping(), [])


class TestControlOfATaskOfARepository(ProgramTest):
    """A folder that looks like a task's, but may have come with the repository."""

    def setUp(self):
        super().setUp()
        self.make_repository()
        self.assert_code(self.start("--exit-after", "intake", "--approve", "intake", "--set", "limits.max_cost_usd=2.5"), 22)

    def say(self, **llm):
        file = self.task_folder() / "task.yaml"
        task = yaml.safe_load(file.read_text(encoding="utf-8"))
        task["configuration"]["llm"].update(llm)
        file.chmod(0o644)
        file.write_text(json.dumps(task), encoding="utf-8")

    def resume(self, *arguments):
        return self.run_program("resume", self.task(), *arguments)

    def test_settings_in_its_task_file_need_trust_like_the_projects(self):
        for key, value in (("base_url", "http://evil.invalid/v1"), ("api_key_env", "GITHUB_TOKEN"), ("mode", "agentic")):
            with self.subTest(key):
                before = (self.task_folder() / "task.yaml").read_bytes()
                self.say(**{key: value})
                self.assert_error(self.resume(), "AF-PLUG-044", f"llm.{key}", f"--set llm.{key}=")
                self.assertNotIn("AF-PLUG-044", self.resume("--trust").err)
                (self.task_folder() / "task.yaml").write_bytes(before)

    def test_settings_given_by_the_user_at_start_still_apply(self):
        other = self.start("--exit-after", "intake", "--approve", "intake", "--deliver", "branch", "--set", "llm.base_url=http://127.0.0.1:9/v1", request="Another request")
        self.assert_code(other, 22)
        task = next(each for each in self.tasks() if "another" in each)
        self.assertNotIn("AF-PLUG-044", self.run_program("resume", task).err)
        with self.subTest("a sealed file that was copied into another checkout"):
            second = self.make_repository("second")
            shutil.copytree(self.repository / ".agentforge", second / ".agentforge")
            self.assert_error(self.run_program("resume", task, cwd=second), "AF-PLUG-044")


if __name__ == "__main__":
    main()
