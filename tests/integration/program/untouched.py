# SPDX-License-Identifier: Apache-2.0
"""For inputs that are refused: the code, the message and the exit code are asserted, and that nothing was made, changed or lost."""

import hashlib
import os
import stat

from harness import ProgramTest


class Untouched(ProgramTest):
    def picture(self):
        """All that lies in the test's folder, with bytes, rights and links: checkout, refs, objects, index, home and state.
        But for the log, which tells the error, and for who had a task's lock last."""
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
        """`run` starts the program once. Returns its outcome."""
        before = self.picture()
        outcome = self.assert_error(run(), code, *words, exit_code=exit_code)
        self.assertEqual(self.picture(), before, outcome)
        return outcome
