# SPDX-License-Identifier: Apache-2.0
"""What gates, delivery and setup would refuse later is refused by `start` before there is a task, and said by `--dry-run` and `doctor`, too."""

import yaml

from harness import TRANSCRIPT, ProgramTest, main


class TestReady(ProgramTest):
    """One repository; each case is a settings file, or another file of the project."""

    def refusal(self, settings, code, *words):
        file = self.repository / ".agentforge/config/settings.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(yaml.safe_dump(settings))
        self.environment["AGENTFORGE_TRUST_PROJECT"] = "1"
        for mode in ((), ("--dry-run",)):
            self.assert_error(self.run_program("start", "--transcript", TRANSCRIPT, *mode, "x"), code, *words)
        self.assertEqual(self.tasks(), [])
        file.unlink()

    def test_settings_that_gates_refuse(self):
        self.make_repository()
        place = ".agentforge/config/settings.yaml:"
        for settings, code, words in (({"language": "cobol"}, "AF-GATE-002", ("cobol", "Known languages")),
                                      ({"language": "generic"}, "AF-GATE-060", ("gates.command",)),
                                      ({"scopes": {"no/where": "go"}}, "AF-GATE-080", ("no/where",)),
                                      ({"programs": {"python3": "bin/none"}}, "AF-GATE-142", (str(self.repository / "bin/none"),))):
            with self.subTest(settings):
                self.refusal({"gates": settings}, code, place, *words)

    def test_a_language_file_that_is_wrong(self):
        self.make_repository()
        file = self.repository / ".agentforge/languages/perl.yaml"
        file.parent.mkdir(parents=True)
        file.write_text("agentforge_language: 1\nname: perl\ndetct: []\n")
        self.assert_error(self.start(), "AF-GATE-010", f"{file}:3", "detect")
        self.assertEqual(self.tasks(), [])
        told = self.run_program("doctor", "--json").json
        self.assertEqual([check["verdict"] for check in told["checks"] if check["name"] == "gates"], ["FAILED"])

    def test_dependencies_that_nobody_has_fetched(self):
        self.make_repository()
        (self.repository / "requirements.txt").write_text("attrs==23.1.0\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "needs")
        self.assert_error(self.start(), "AF-GATE-100", "requirements.txt", "agentforge setup")
        self.assertEqual(self.tasks(), [])
        self.assertIn("requirements.txt is not fetched", self.run_program("doctor").out)
        through_spec = self.run_program("start", "--transcript", TRANSCRIPT, "--dry-run", "--exit-after", "spec", "x")
        self.assert_code(through_spec, 0)       # Nothing is measured until then.

    def test_a_signature_that_nobody_can_make(self):
        self.make_repository()
        self.git("config", "gpg.format", "ssh")
        self.refusal({"delivery": {"sign": "always"}}, "AF-CLI-100", "user.signingkey")
        self.git("config", "user.signingkey", "/no/such/key.pub")
        self.refusal({"delivery": {"sign": "always"}}, "AF-CLI-100", "/no/such/key.pub")

    def test_doctor_looks_for_the_projects_own_tools(self):
        self.make_repository("one")
        (self.repository / "tool").mkdir()
        (self.repository / "tool/go.mod").write_text("module tool\n\ngo 1.16\n")
        (self.repository / "tool/main.go").write_text("package main\n\nfunc main() {}\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "a tool")
        checks = {check["name"]: check for check in self.run_program("doctor", "--json").json["checks"]}
        self.assertIn("gates of tool: go", checks["gates"]["detail"])
        self.assertIn("go version", checks["go"]["detail"])
        self.assertIn("Python", checks["python3"]["detail"])
        self.assertNotIn("cargo", checks)
        self.environment["PATH"] = str(self.folder)
        missing = {check["name"]: check for check in self.run_program("doctor", "--json").json["checks"]}
        self.assertEqual(missing["go"]["verdict"], "warning")
        self.assertIn("golang-go", missing["go"]["detail"])


if __name__ == "__main__":
    main()
