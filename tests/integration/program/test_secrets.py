# SPDX-License-Identifier: Apache-2.0
"""A task in a repository with secrets: afterwards only the repository has them, unchanged."""

import base64
import hashlib

from harness import REQUEST, ProgramTest, call, insert, main, short_transcript

TOKEN = "ghp" + "_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
SHOP_KEY = "Zx8Cv5Bn2Mq1We4Rt7Yu"
SETTINGS = f'"""Where the words come from."""\n\nTOKEN = "{TOKEN}"\nTIMEOUT = 5\n'


def placeholder(name, text):
    """Computes a rule's placeholder as docs/security.md describes it: its digits depend only on the text."""
    key = "agentforge: shapes of keys, 1"
    inner = hashlib.sha256(f"{key}\n{name}\n{text}".encode()).hexdigest()
    return f"[REDACTED:{name}:{hashlib.sha256(f'{key}{chr(10)}{inner}'.encode()).hexdigest()[:8]}]"


class TestSecrets(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make_repository()
        (self.repository / "textkit" / "settings.py").write_text(SETTINGS, encoding="utf-8")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "Add settings")
        self.environment["SHOP_KEY"] = SHOP_KEY

    def transcript(self):
        shown = placeholder("github-token", TOKEN)
        transcript = short_transcript()
        insert(transcript, "green", "software_developer", 1,
               call("read_file", path="textkit/settings.py"),
               call("edit_file", path="textkit/settings.py", search=f'TOKEN = "{shown}"\nTIMEOUT = 5', replace=f'TOKEN = "{shown}"\nTIMEOUT = 6'),
               call("create_file", path="textkit/stolen.py", content='KEY = "[REDACTED:SHOP_KEY:01234567]"\n'))
        return transcript

    def leaks(self, *folders):
        """Returns the files that contain a secret in some form."""
        needles = [form.encode() for secret in (TOKEN, SHOP_KEY) for form in (secret, secret.encode().hex(), base64.b64encode(secret.encode()).decode()[:-4])]
        return [str(path) for folder in folders for path in folder.rglob("*")
                if path.is_file() and any(needle in path.read_bytes() for needle in needles)]

    def test_a_run_exposes_no_secret_and_the_file_keeps_it(self):
        record = self.folder / "recorded.yaml"
        outcome = self.start("--set", f"llm.record={record}", "--set", "log.level=debug", transcript=self.transcript(), request=f"{REQUEST}, the key is {SHOP_KEY}")
        self.assert_code(outcome, 0)
        branch = f"agentforge/{self.task()}"
        self.assertEqual(self.git("show", f"{branch}:textkit/settings.py"), SETTINGS.replace("TIMEOUT = 5", "TIMEOUT = 6"))
        self.assertEqual(self.git("ls-tree", "--name-only", branch, "textkit/stolen.py"), "")
        self.assertIn("AF-SEC-003", str([step["result"] for step in self.steps() if step["action"]["type"] == "create_file"]))
        self.assertNotIn(SHOP_KEY, outcome.all + self.git("log", "--format=%B", branch))
        self.assertNotIn(TOKEN, outcome.all)
        self.assertEqual(self.leaks(self.repository / ".agentforge"), [])
        self.assertIn("[REDACTED:SHOP_KEY:", (self.task_folder() / "task.yaml").read_text(encoding="utf-8"))
        blobs = "".join(path.read_text(encoding="utf-8") for path in (self.task_folder() / "artifacts" / "blobs").iterdir())
        self.assertIn(placeholder("github-token", TOKEN), blobs)
        self.assertNotIn(SHOP_KEY, record.read_text(encoding="utf-8"))
        self.assert_journal_verifies()

    def test_network_none_refuses_a_model_before_a_call(self):
        outcome = self.run_program("start", "--backend", "openai", "--set", "llm.base_url=http://127.0.0.1:9/v1", "--set", "llm.model=m", "--set", "network=none", REQUEST)
        self.assert_error(outcome, "AF-LLM-003")
        self.assertEqual(self.tasks(), [])

    def test_doctor_shows_the_model_that_auto_would_choose(self):
        for name in ("claude", "codex"):
            program = self.folder / "bin" / name
            program.parent.mkdir(exist_ok=True)
            program.write_text(f"#!/bin/sh\necho {name} 9.9\n", encoding="utf-8")
            program.chmod(0o755)
        self.environment["PATH"] = f"{self.folder / 'bin'}:{self.environment['PATH']}"
        outcome = self.run_program("doctor", "--json", "--set", "llm.backend=auto")
        checks = {check["name"]: check for check in outcome.json["checks"]}
        self.assertEqual(checks["model"]["detail"], "auto: claude")
        self.assertIn("ANTHROPIC_API_KEY is not set", checks["model anthropic"]["detail"])
        self.assertEqual([checks[f"model {name}"]["verdict"] for name in ("openai", "claude", "codex")], ["-", "ok", "ok"])


if __name__ == "__main__":
    main()
