# SPDX-License-Identifier: Apache-2.0
"""Signals while a model is asked: once, twice, and of the other kinds."""

import os
import signal
import threading

from harness import REQUEST, SOURCE, ProgramTest, main, short_transcript, wait_until
from model_server import KEY, ModelServer


class TestSignals(ProgramTest):
    """The model's third request is where the user loses patience."""

    AT = 3

    def begin(self, act):
        """A run whose model calls `act(process)` before it answers, and answers at all only where that returns."""
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
        """No answer: the request stays open until the test is over."""
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
        self.assertIn(f"agentforge resume {self.task()}", out)

    def test_one_ctrl_c_lets_the_step_end_and_says_how_to_go_on(self):
        process = self.begin(lambda process: self.send(process, signal.SIGINT, heard=True))
        self.assert_saved(process, self.AT)

    def test_two_end_it_within_the_step(self):
        def twice(process):
            self.send(process, signal.SIGINT, heard=True)
            self.send(process, signal.SIGINT, heard=False)
            return self.never()

        self.assert_saved(self.begin(twice), self.AT - 1)

    def test_terminate_ends_it_within_the_step(self):
        def once(process):
            self.send(process, signal.SIGTERM, heard=False)
            return self.never()

        self.assert_saved(self.begin(once), self.AT - 1)

    def test_a_terminal_that_is_gone_ends_it_within_the_step(self):
        def once(process):
            self.send(process, signal.SIGHUP, heard=False)
            return self.never()

        self.assert_saved(self.begin(once), self.AT - 1)


if __name__ == "__main__":
    main()
