# SPDX-License-Identifier: Apache-2.0
"""A pseudo-terminal in which a program runs: its screen, and the keys that a person presses."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import threading

import pyte

from harness import wait_until


class Terminal:
    def __init__(self, test, *arguments, columns=100, lines=40, environment=None):
        self.test = test
        self.ours, theirs = pty.openpty()
        self.screen = pyte.HistoryScreen(columns, lines, history=2000, ratio=1.0)
        self.stream = pyte.ByteStream(self.screen)
        self.lock = threading.Lock()
        self._tell_size(columns, lines)
        environment = {**test.environment, "TERM": "xterm-256color", "LANG": "C.UTF-8", **(environment or {})}
        self.process = subprocess.Popen(test.command(*arguments), cwd=test.repository, env=environment, stdin=theirs, stdout=theirs, stderr=theirs,
                                        start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(theirs)
        self.raw = b""
        self.closing = False
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        test.addCleanup(self._end)

    def _read(self):
        while not self.closing:
            if not select.select([self.ours], [], [], 0.05)[0]:
                continue
            try:
                data = os.read(self.ours, 65536)
            except OSError:     # Linux returns this error once the last writer has closed its end.
                return
            if not data:
                return
            with self.lock:
                self.raw += data
                self.stream.feed(data)

    def _end(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.close()

    def close(self):
        """Closes the window: the programs in it get SIGHUP, and can neither read nor write."""
        if self.ours is None:
            return
        self.closing = True
        self.reader.join()
        os.close(self.ours)
        self.ours = None

    def _tell_size(self, columns, lines):
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def resize(self, columns, lines=40):
        with self.lock:
            self.screen.resize(lines, columns)
        self._tell_size(columns, lines)

    def press(self, keys):
        os.write(self.ours, keys)

    def lines(self):
        """Returns the lines of the screen, without the empty ones at its end."""
        with self.lock:
            shown = [line.rstrip() for line in self.screen.display]
        while shown and not shown[-1]:
            shown.pop()
        return shown

    def text(self):
        return "\n".join(self.lines())

    def wait_for(self, words, count=1):
        wait_until(lambda: self.text().count(words) >= count or self.process.poll() is not None and not self.reader.is_alive(), f"`{words}` on the screen")
        self.test.assertGreaterEqual(self.text().count(words), count, f"`{words}`\n{self.text()}")

    def ended(self, code):
        """Waits for the program. Returns the lines of its screen."""
        self.process.wait()
        self.reader.join()
        self.test.assertEqual(self.process.returncode, code, self.text())
        return self.lines()

    def colour_of(self, words):
        """Returns the colour of the first character of `words` on the screen."""
        with self.lock:
            for number, line in enumerate(self.screen.display):
                if words in line:
                    return self.screen.buffer[number][line.index(words)].fg
        self.test.fail(f"{words} is not on the screen:\n{self.text()}")
        return None
