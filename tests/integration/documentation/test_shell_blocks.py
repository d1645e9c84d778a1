# SPDX-License-Identifier: Apache-2.0
"""Runs the shell commands of the pages. AGENTFORGE_PROGRAM (set by ctest) names the program."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from test_documentation import REQUEST, ROOT


class Shell(unittest.TestCase):
    """Runs the blocks of a page that are marked `sh`, unchanged and in order, in a repository with an ended task and with `agentforge` on PATH."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = pathlib.Path(folder.name).resolve()
        for name in ("bin", "backup"):
            (self.home / name).mkdir()
        (self.home / "bin" / "agentforge").symlink_to(os.environ["AGENTFORGE_PROGRAM"])
        self.environment = {"PATH": f"{self.home}/bin:{os.environ['PATH']}", "HOME": str(self.home), "AGENTFORGE_STATE_HOME": str(self.home / "state"), "BACKUP": str(self.home / "backup"),
                            "AGENTFORGE_LLM_BACKEND": "replay", "AGENTFORGE_LLM_TRANSCRIPT": str(ROOT / "examples" / "transcripts" / "slugify.yaml"),
                            **{name: os.environ[name] for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS") if name in os.environ},
                            **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "D"), ("EMAIL", "d@example.invalid"))}}

    def run_block(self, block, cwd):
        ran = subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=cwd, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=600)
        self.assertEqual(ran.returncode, 0, f"{block}\n---\n{ran.stdout}")
        self.assertNotIn("Sanitizer", ran.stdout)
        return ran.stdout

    def blocks(self, page):
        return re.findall(r"^```sh\n(.*?)^```", (ROOT / page).read_text(), re.S | re.M)

    def test_the_commands_of_the_first_task_do_what_the_page_says(self):
        # As with a newly installed git: no user name for commits, and git does not guess one.
        self.environment = {name: value for name, value in self.environment.items() if not name.startswith(("AGENTFORGE_LLM_", "GIT_"))}
        self.environment.update(GIT_CONFIG_COUNT="1", GIT_CONFIG_KEY_0="user.useConfigOnly", GIT_CONFIG_VALUE_0="true")
        share = self.home / ".local/share/agentforge/examples"      # A link in place of an installation, which tests/packaging tests.
        share.parent.mkdir(parents=True)
        share.symlink_to(ROOT / "examples")
        blocks = self.blocks("docs/first-task.md")
        self.assertEqual(len(blocks), 2)
        shown = self.run_block(blocks[0] + "pwd\n" + blocks[1], self.home)
        self.assertIn("Done: ", shown)
        self.assertIn("textkit/slug.py", shown)
        self.assertIn("8/8 deliver", shown)

    def test_the_commands_of_operations_do_what_the_page_says(self):
        repository = self.home / "textkit"
        shutil.copytree(ROOT / "examples" / "textkit", repository)
        self.run_block(f"git init -q -b main && git add -A && git commit -q -m Import && agentforge start --quiet --exit-after red '{REQUEST}'", repository)
        self.environment["TASK"] = json.loads(self.run_block("agentforge status --json", repository))["tasks"][0]["task_id"]
        blocks = self.blocks("docs/operations.md")
        self.assertGreaterEqual(len(blocks), 8)
        shown = [self.run_block(block, repository) for block in blocks]
        self.assertIn("ended with 0", "".join(shown))
        self.assertFalse((repository / ".agentforge").exists())
        self.assertEqual(subprocess.run(["git", "for-each-ref", "refs/agentforge"], cwd=repository, capture_output=True, check=True).stdout, b"")
        self.assertTrue((self.home / "backup/project/.agentforge/tasks" / self.environment["TASK"]).is_dir())

    def test_the_commands_of_replay_do_what_the_page_says(self):
        repository = self.home / "textkit"
        shutil.copytree(ROOT / "examples" / "textkit", repository)
        self.run_block(f"git init -q -b main && git add -A && git commit -q -m Import && agentforge start --quiet '{REQUEST}'", repository)
        self.environment["TASK"] = json.loads(self.run_block("agentforge status --json", repository))["tasks"][0]["task_id"]
        *replays, fork, compare = self.blocks("docs/replay.md")
        shown = "".join(self.run_block(block, repository) for block in [*replays, fork + compare])      # `compare` compares with the fork, so they run together.
        for words in ("As recorded: ", "Replayed ", ", without gates", "measured again, 0 changed", "Where the paths diverge"):
            self.assertIn(words, shown)

    def test_the_commands_of_audit_do_what_the_page_says(self):
        repository = self.home / "textkit"
        shutil.copytree(ROOT / "examples" / "textkit", repository)
        self.environment["EXAMPLES"] = str(ROOT / "examples")
        self.run_block(f"git init -q -b main && git add -A && git commit -q -m Import && agentforge start --quiet '{REQUEST}'", repository)
        self.environment["TASK"] = json.loads(self.run_block("agentforge status --json", repository))["tasks"][0]["task_id"]
        shown = "".join(self.run_block(block, repository) for block in self.blocks("docs/audit.md"))
        for words in ("As recorded: ", "Where the paths diverge", "Verified: task ", "Verified: commit ", "VERIFIED\n"):
            self.assertIn(words, shown)


if __name__ == "__main__":
    unittest.main()
