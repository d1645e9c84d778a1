# SPDX-License-Identifier: Apache-2.0
"""Tests of refused inputs: check the error code, the message and the exit code, and that no file was created, changed or lost."""

import hashlib
import os
import stat

from harness import ProgramTest


class Untouched(ProgramTest):
    def picture(self):
        """Returns everything in the test's folder, with bytes, permissions and links: checkout, refs, objects, index, home and state.
        Leaves out the log, which has the error, and the last holder of a task's lock."""
        seen = {}
        for root, folders, files in os.walk(self.folder):
            if os.path.basename(root) == ".agentforge" and "logs" in folders:
                folders.remove("logs")
            if os.path.basename(os.path.dirname(root)) == "tasks" and "lock" in files:
                files.remove("lock")
            for name in folders + files:
                path = os.path.join(root, name)
                entry = os.lstat(path)
                kind = stat.S_IFMT(entry.st_mode)
                content = ""
                if kind == stat.S_IFLNK:
                    content = os.readlink(path)
                elif kind == stat.S_IFREG:
                    with open(path, "rb") as stream:
                        content = hashlib.sha256(stream.read()).hexdigest()
                seen[os.path.relpath(path, self.folder)] = (entry.st_mode, content)
        return seen

    def assert_refused(self, run, code, *words, exit_code=1):
        """Checks that `run`, which starts the program once, is refused and changes nothing. Returns the outcome."""
        before = self.picture()
        outcome = self.assert_error(run(), code, *words, exit_code=exit_code)
        self.assertEqual(self.picture(), before, outcome)
        return outcome
