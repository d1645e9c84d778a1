# SPDX-License-Identifier: Apache-2.0
"""`start` finds the errors of gates, delivery and setup before a task exists. `--dry-run` and `doctor` report them, too."""

import shutil
import subprocess

import yaml

from harness import SOURCE, TRANSCRIPT, ProgramTest, main


class TestReady(ProgramTest):
    """Each case is a settings file, or another file, in one repository."""

    def refusal(self, settings, code, *words):
        file = self.repository / ".agentforge/config/settings.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(yaml.safe_dump(settings))
        self.environment["AGENTFORGE_TRUST_PROJECT"] = "1"
        for mode in ((), ("--dry-run",)):
            self.assert_error(self.run_program("start", "--transcript", TRANSCRIPT, *mode, "x"), code, *words)
        self.assertEqual(self.tasks(), [])
        file.unlink()

    def test_invalid_gate_settings_are_refused(self):
        self.make_repository()
        place = ".agentforge/config/settings.yaml:"
        for settings, code, words in (({"language": "cobol"}, "AF-GATE-002", ("cobol", "Known languages")),
                                      ({"language": "generic"}, "AF-GATE-060", ("gates.command",)),
                                      ({"scopes": {"no/where": "go"}}, "AF-GATE-080", ("no/where",)),
                                      ({"programs": {"python3": "bin/none"}}, "AF-GATE-142", (str(self.repository / "bin/none"),))):
            with self.subTest(settings):
                self.refusal({"gates": settings}, code, place, *words)

    def test_a_command_that_waits_for_trust_is_not_called_missing(self):
        self.make_repository()
        file = self.repository / ".agentforge/config/settings.yaml"
        file.parent.mkdir(parents=True)
        file.write_text(yaml.safe_dump({"gates": {"language": "generic", "command": ["make", "check"]}}))
        outcome = self.assert_error(self.run_program("start", "--transcript", TRANSCRIPT, "x"), "AF-PLUG-043", "gates.command", "agentforge trust", str(file))
        self.assertNotIn("no setting names", outcome.err)

    def test_an_invalid_language_file_is_refused(self):
        self.make_repository()
        file = self.repository / ".agentforge/languages/perl.yaml"
        file.parent.mkdir(parents=True)
        file.write_text("agentforge_language: 1\nname: perl\ndetct: []\n")
        self.assert_error(self.start(), "AF-GATE-010", f"{file}:3", "detect")
        self.assertEqual(self.tasks(), [])
        told = self.run_program("doctor", "--json").json
        self.assertEqual([check["verdict"] for check in told["checks"] if check["name"] == "gates"], ["FAILED"])

    def test_a_language_file_that_becomes_invalid_pauses_the_task_once(self):
        self.make_repository()
        self.assert_code(self.start("--approve", "intake", "--exit-after", "clarify"), 22)
        file = self.repository / ".agentforge/languages/perl.yaml"
        file.parent.mkdir(parents=True)
        file.write_text("agentforge_language: 1\nname: perl\ndetct: []\n")
        paused = self.go_on("approve", self.task())
        self.assert_error(paused, "AF-GATE-010", f"{file}:3", exit_code=paused.code)
        self.assertEqual(self.records("stage_failed"), [])
        file.unlink()
        self.assert_code(self.go_on("resume", self.task()), 0)

    def test_unfetched_dependencies_are_reported(self):
        self.make_repository()
        (self.repository / "requirements.txt").write_text("attrs==23.1.0\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "needs")
        self.assert_error(self.start(), "AF-GATE-100", "requirements.txt", "agentforge setup")
        self.assertEqual(self.tasks(), [])
        self.assertIn("requirements.txt is not fetched", self.run_program("doctor").out)
        through_spec = self.run_program("start", "--transcript", TRANSCRIPT, "--dry-run", "--exit-after", "spec", "x")
        self.assert_code(through_spec, 0)       # The stages up to spec run no gate.

    def test_an_impossible_signature_is_reported(self):
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
        self.assertEqual(missing["gates"]["verdict"], "FAILED")
        self.assertIn("golang-go", missing["go"]["detail"])


class TestReadySuiteBeforeTheTask(ProgramTest):
    """The project's own tests, before any task."""

    def suite(self, name, text):
        self.make_repository("one")
        (self.repository / name).write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "tests")

    def verdict(self):
        return {check["name"]: check for check in self.run_program("doctor", "--json").json["checks"]}["tests"]

    def test_doctor_and_init_report_passing_tests(self):
        self.suite("test_more.py", "def test_more():\n    assert True\n")
        self.assertEqual(self.verdict()["verdict"], "ok")
        self.assertRegex(self.verdict()["detail"], r"^\d+ tests, none failing$")
        self.assertRegex(self.assert_code(self.run_program("init"), 0).out, r"\n  tests     \d+ tests, none failing\n")
        self.assertEqual(self.git("worktree", "list").strip().count("\n"), 0)

    def test_the_users_virtual_environment_runs_the_tests(self):
        self.suite("test_more.py", "import only_there\n\ndef test_more():\n    assert only_there.NUMBER == 1\n")
        (self.repository / ".gitignore").write_text(".venv/\n.tox/\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "ignored")
        self.assertIn("1 failing", self.verdict()["detail"])
        for folder in (".venv", ".tox/py3"):
            with self.subTest(folder):
                place = self.repository / folder
                subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", "--system-site-packages", place], check=True)
                next(place.glob("lib/python*/site-packages")).joinpath("only_there.py").write_text("NUMBER = 1\n")
                self.assertRegex(self.verdict()["detail"], r"^\d+ tests, none failing$")
                self.assertIn(f"{folder}/bin/python", self.run_program("doctor", "--json").out)
                shutil.rmtree(self.repository / folder.split("/")[0])

    def test_packages_that_the_user_installed_are_found(self):
        self.make_repository("one")
        self.git("rm", "-q", "-r", ".")
        (self.repository / ".gitignore").write_text("node_modules/\n")
        (self.repository / "package.json").write_text('{"devDependencies": {"answer": "1"}}')
        (self.repository / "answer.test.mjs").write_text("import test from 'node:test';\nimport 'answer';\ntest('answer', () => {});\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "a package")
        self.assertIn("1 failing", self.verdict()["detail"])
        package = self.repository / "node_modules/answer"
        package.mkdir(parents=True)
        package.joinpath("index.js").write_text("module.exports = 42;\n")
        package.joinpath("package.json").write_text('{"name": "answer"}')
        self.assertRegex(self.verdict()["detail"], r"^1 tests?, none failing$")

    def test_a_committed_virtual_environment_is_not_used(self):
        self.suite("test_more.py", "def test_more():\n    assert True\n")
        (self.repository / ".venv/bin").mkdir(parents=True)
        (self.repository / ".venv/pyvenv.cfg").write_text("home = /usr/bin\n")
        (self.repository / ".venv/bin/python").write_text("#!/bin/sh\nexit 1\n")
        (self.repository / ".venv/bin/python").chmod(0o755)
        self.git("add", "-f", "-A")
        self.git("commit", "-q", "-m", "an environment")
        self.assertRegex(self.verdict()["detail"], r"^\d+ tests, none failing$")

    def test_a_missing_runner_is_named_even_without_tests(self):
        self.make_repository()
        self.git("rm", "-rq", ".")
        (self.repository / "package.json").write_text('{"name": "shop", "type": "module", "devDependencies": {"vitest": "^1.0.0"}}')
        (self.repository / "shop.js").write_text("export const price = 1;\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "a shop")
        self.assertEqual(self.verdict()["verdict"], "FAILED")
        self.assertIn("Vitest, which is not installed", self.verdict()["detail"])
        self.assert_error(self.run_program("init"), "AF-GATE-107", "Vitest")

    def test_tests_that_fail_before_the_task_do_not_stop_it(self):
        self.suite("test_more.py", "def test_more():\n    assert False\n")
        self.assertEqual(self.verdict()["verdict"], "warning")
        self.assertIn("1 failing: test_more.py::test_more", self.verdict()["detail"])
        self.assert_code(self.run_program("init"), 0)

    def test_an_unmeasurable_suite_stops_init_doctor_and_start(self):
        self.suite("conftest.py", "import os\n\nos._exit(3)\n")
        self.assertEqual(self.verdict()["verdict"], "FAILED")
        self.assertIn("AF-GATE-107", self.verdict()["detail"])
        self.assert_error(self.run_program("init"), "AF-GATE-107", "gates.command")
        paused = self.start()
        self.assert_error(paused, "AF-GATE-107", exit_code=paused.code)
        self.assertNotEqual(paused.code, 0)
        self.assertEqual(self.records("answer") + self.records("step"), [])


class TestReadySetUp(ProgramTest):
    def test_locked_packages_are_shown_fetched_once_and_then_available(self):
        self.make_repository()
        server = subprocess.Popen(["/usr/bin/python3", "-B", str(SOURCE / "tests/unit/gates/registries.py"), str(self.folder / "registries")],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.wait)
        self.addCleanup(server.stdin.close)
        self.addCleanup(server.stdout.close)
        self.environment["GOPROXY"] = f"http://127.0.0.1:{server.stdout.readline().strip()}/go"
        self.environment["GOSUMDB"] = "off"
        tool = self.repository / "tool"
        tool.mkdir()
        (tool / "go.mod").write_text("module tool\n\ngo 1.16\n\nrequire example.com/greeter v1.0.0\n")
        (tool / "go.sum").write_text((self.folder / "registries/go.sum").read_text())
        (tool / "main.go").write_text("package main\n\nfunc main() {}\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "a tool")
        dry = ("start", "--transcript", TRANSCRIPT, "--dry-run", "x")
        self.assert_error(self.run_program(*dry), "AF-GATE-100", "tool/go.sum", "agentforge setup")
        shown = self.assert_code(self.run_program("setup", "--show"), 0)
        for words in ("missing", "tool/go.sum", "go mod download"):
            self.assertIn(words, shown.out)
        fetched = self.assert_code(self.run_program("setup"), 0)
        self.assertIn("Nothing is missing", fetched.out)
        server.stdin.close()
        server.wait()
        again = self.assert_code(self.run_program("setup", "--json"), 0)
        self.assertEqual([(step["name"], step["ready"]) for step in again.json["steps"]], [("go", True)])
        self.assertIn("tool/go.sum is fetched", self.assert_code(self.run_program(*dry), 0).out)
        (tool / "go.sum").write_text((tool / "go.sum").read_text() + "example.com/other v1.0.0/go.mod h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n")
        self.git("commit", "-q", "-am", "one more")
        self.assert_error(self.run_program(*dry), "AF-GATE-100")


if __name__ == "__main__":
    main()
