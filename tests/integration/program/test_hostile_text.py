# SPDX-License-Identifier: Apache-2.0
"""Every output shows text from a model, a file name, a test or the request as plain text, which controls nothing."""

import harness
from harness import ProgramTest, call, entry, insert, load_transcript

# Control sequences of terminals, and characters that reverse the text after them.
ACTING = "".join(map(chr, [*range(0x01, 0x09), 0x0B, 0x0C, *range(0x0D, 0x20), *range(0x7F, 0xA0), 0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x2070), 0xFEFF]))
IN_A_NAME = "\x1b[2J\u202e\u061c\u2066\x9b\x7f"


class TestHostileText(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make_repository()
        self.name = f"textkit/{IN_A_NAME}.md"
        (self.repository / self.name).write_text("A file\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "A name")

    def assert_shown(self, outcome):
        found = {f"U+{ord(character):04X}" for character in outcome.all if character in ACTING}
        self.assertEqual("".join(sorted(found)), "", outcome.arguments)

    def transcript(self):
        made = load_transcript()
        entry(made, "intake", 2)["tool_calls"][0]["arguments"]["suggested_approach"] = "One function" + ACTING
        entry(made, "intake", 1)["text"] = "I look" + ACTING
        insert(made, "intake", "requirements_analyst", 2, call("read_file", path=self.name), call("read_file", path="none" + ACTING), call("search_codebase", pattern="x" + ACTING))
        return made

    def test_command_output_escapes_control_characters(self):
        for output in ("text", "json", "stream-json"):
            self.assert_shown(self.start("--approve", "intake", "--output-format", output, request="Add a slugify function " + ACTING, transcript=self.transcript()))
        task = self.tasks()[0]
        commands = [("status",), ("status", task), ("escalations", "list"), ("inspect", task), ("inspect", task, "--gates"), ("logs", task), ("diff", task), ("diff", task, "--stat"),
                    ("cost", task), ("compare", *self.tasks()[:2])]
        for number in range(1, 7):
            commands += [("inspect", task, "--step", str(number))]
        for command in commands:
            for more in ((), ("--json",)):
                with self.subTest(command + more):
                    self.assert_shown(self.run_program(*command, *more))
        self.assert_shown(self.run_program("logs", task, "--output-format", "stream-json"))
        self.assert_shown(self.run_program("compare", *self.tasks()[:2], "--format", "html"))

    def test_audit_reports_escape_control_characters(self):
        self.git("branch", "-m", "ma\u202ein")
        self.start("--approve", "intake", request="Add a slugify function " + ACTING, transcript=self.transcript())
        for form in ("md", "html", "json"):
            with self.subTest(form):
                self.assert_shown(self.run_program("audit", self.task(), "--format", form))

    def test_doctor_escapes_control_characters(self):
        settings = self.repository / ".agentforge" / "config" / "settings.yaml"
        settings.parent.mkdir(parents=True)
        for text in ('"k\\e[2J\\u202e\\x9b": 1\n', 'llm: {backend: "b\\e[2J\\u202e"}\n'):
            settings.write_text(text)
            for more in ((), ("--json",)):
                with self.subTest(text, more=more):
                    self.assert_shown(self.run_program("doctor", *more))

    def test_plugin_problems_escape_control_characters(self):
        plugin = self.folder / "plugin"
        plugin.mkdir()
        (plugin / "plugin.json").write_text('{"id": "org.x.\\u001b[2J\\u202e", "version": "1\\u009b", "sdk": "\\u202e", "provides": [{"kind": "\\u001b", "name": "x"}]}')
        for more in ((), ("--json",)):
            with self.subTest(more):
                self.assert_shown(self.run_program("plugins", "check", plugin, *more))

    def test_files_meant_for_people_escape_control_characters(self):
        self.start("--approve", "intake", "--set", "log.level=debug", request="Add " + ACTING, transcript=self.transcript())
        seen = []
        for path in (self.repository / ".agentforge").rglob("*"):
            if path.is_file() and "blobs" not in path.parts and path.suffix in ("", ".yaml", ".jsonl", ".log", ".json", ".md") and b"\0" not in path.read_bytes():
                text = path.read_text(errors="replace")
                seen.append((path.name, sorted({f"U+{ord(character):04X}" for character in text if character in ACTING})))
        self.assertLessEqual({"agentforge.log", "intake_record.yaml"}, {name for name, _ in seen})
        self.assertEqual([each for each in seen if each[1]], [])


if __name__ == "__main__":
    harness.main()
