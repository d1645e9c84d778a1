# SPDX-License-Identifier: Apache-2.0
"""What users get wrong, and what their machines do to them: named, with a way out, and before anything is made."""

import os
import shutil
import subprocess
import unittest

import yaml

from harness import ERROR, PROGRAM, REQUEST, SOURCE, TRANSCRIPT, ProgramTest, load_transcript, main

BIDI = "\u202e\u2066\u200f"
CONTROL = "\x1b[31m\x07\x9b\x7f"


class TestPlaceOfWork(ProgramTest):
    """Where there is nothing to work on."""

    def test_outside_a_repository(self):
        for command in (("start", "x"), ("status",), ("init",), ("escalations", "list"), ("plugins", "list"), ("inspect", "x"), ("resume", "x"),
                        ("approve", "x"), ("resolve", "x", "y"), ("abort", "x")):
            with self.subTest(command):
                self.assert_error(self.run_program(*command), "AF-GIT-001", "git init")
        self.assertEqual(list(self.folder.glob(".agentforge")), [])

    def test_a_bare_repository(self):
        self.git("init", "-q", "--bare", "bare.git", cwd=self.folder)
        self.assert_error(self.run_program("start", "x", cwd=self.folder / "bare.git"), "AF-GIT-003")

    def test_a_repository_without_a_commit(self):
        self.git("init", "-q", "empty", cwd=self.folder)
        self.repository = self.folder / "empty"
        self.assert_error(self.start(), "AF-GIT-005", "git commit")
        self.assertFalse((self.repository / ".agentforge").exists())

    def test_a_folder_that_is_not_there(self):
        outcome = self.run_program("-C", self.folder / "nowhere", "status")
        self.assertEqual(outcome.code, 1)
        self.assertIn("nowhere", outcome.err)

    def test_a_current_folder_that_was_removed(self):
        gone = self.folder / "gone"
        gone.mkdir()
        done = subprocess.run(["/bin/sh", "-c", f'cd "{gone}" && rmdir "{gone}" && exec "{PROGRAM}" status'], env=self.environment,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("AF-CLI-002", done.stderr)

    @unittest.skipIf(os.geteuid() == 0 and not shutil.which("setpriv"), "root needs setpriv to give up its rights")
    def test_a_repository_that_may_not_be_written(self):
        self.make_repository()
        for path in [self.folder, *self.folder.rglob("*")]:
            path.chmod(0o555 if path.is_dir() else path.stat().st_mode & 0o555 | 0o444)
        self.addCleanup(self.folder.chmod, 0o755)
        drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"] if os.geteuid() == 0 else []
        environment = dict(self.environment, GIT_CONFIG_COUNT="1", GIT_CONFIG_KEY_0="safe.directory", GIT_CONFIG_VALUE_0="*")
        done = subprocess.run([*drop, *self.command("start", "--transcript", TRANSCRIPT, REQUEST)], cwd=self.repository, env=environment,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, ERROR)

    def test_without_a_home_the_state_folder_is_enough(self):
        self.make_repository()
        environment = {k: v for k, v in self.environment.items() if k not in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
        self.assert_code(self.start("--exit-after", "intake", environment=environment), 0)

    def test_without_a_home_and_a_state_folder_it_says_what_to_set(self):
        self.make_repository()
        environment = {"PATH": self.environment["PATH"]}
        self.assert_error(self.start(environment=environment), "AF-CLI-003", "AGENTFORGE_STATE_HOME")
        self.assertFalse((self.repository / ".agentforge").exists())


class TestWords(ProgramTest):
    """Commands, flags, names and requests that are not right."""

    def setUp(self):
        super().setUp()
        self.make_repository()

    def test_an_unknown_command_names_the_nearest(self):
        self.assert_error(self.run_program("strat", "x"), "AF-CLI-001", "`strat`", "agentforge start", exit_code=2)

    def test_an_unknown_flag_names_the_nearest(self):
        self.assert_error(self.run_program("status", "--jsno"), "AF-CLI-001", "--jsno", "--json", exit_code=2)

    def test_a_missing_argument_is_named(self):
        self.assert_error(self.run_program("start"), "AF-CLI-001", "request", exit_code=2)

    def test_a_group_without_its_command_names_it(self):
        self.assert_error(self.run_program("plugins"), "AF-CLI-001", "agentforge plugins list", exit_code=2)

    def test_an_unknown_word_on_a_terminal_cannot_act_on_it(self):
        outcome = self.run_program("st" + CONTROL + BIDI)
        self.assertEqual(outcome.code, 2)
        self.assert_harmless(outcome.all)

    def test_an_error_as_json_is_on_standard_output(self):
        outcome = self.run_program("status", "nothing", "--json")
        self.assertEqual((outcome.code, outcome.err), (1, ""))
        self.assertEqual(outcome.json["error"]["code"], "AF-TASK-002")

    def test_skip_verify_is_refused(self):
        self.assert_error(self.run_program("start", "--skip-verify", REQUEST), "AF-CLI-010", "--exit-after", exit_code=2)
        self.assertEqual(self.tasks(), [])

    def test_an_empty_request_makes_nothing(self):
        for request in ("", "  \n\t"):
            self.assert_error(self.start(request=request), "AF-ORCH-040", "empty")
        self.assertFalse((self.repository / ".agentforge").exists())

    def test_a_request_of_300_kilobytes_is_refused_with_its_size(self):
        outcome = self.run_program("start", "--transcript", TRANSCRIPT, "-", text_input="a" * 300_000)
        self.assert_error(outcome, "AF-ORCH-040", "262144")
        self.assertLess(len(outcome.err), 2000)
        self.assertFalse((self.repository / ".agentforge").exists())

    def test_a_request_of_100_kilobytes_is_taken(self):
        self.assert_code(self.start("--exit-after", "intake", request="Add slugify. " * 8000), 0)
        outcome = self.run_program("status")
        self.assertLess(len(outcome.out), 2000)

    def test_a_request_that_is_no_utf8_is_refused(self):
        outcome = self.start(request=b"Add \xff\xfe".decode("utf-8", "surrogateescape"))
        self.assert_error(outcome, "AF-ORCH-040", "UTF-8")

    def test_control_and_bidi_characters_are_never_shown_raw(self):
        request = "Add " + CONTROL + BIDI + "\r slugify\nsecond line"
        outcomes = [self.assert_code(self.start("--approve", "intake", "--exit-after", "clarify", request=request), 22)]
        task = self.task()
        for arguments in (("status",), ("status", task), ("inspect", task), ("escalations", "list"), ("inspect", task, "--step", "1")):
            outcomes.append(self.assert_code(self.run_program(*arguments), 0))
        for outcome in outcomes:
            self.assert_harmless(outcome.all)
        self.assertEqual(self.run_program("status", task, "--json").json["request"], request)

    def assert_harmless(self, text):
        for character in set(CONTROL.replace("[31m", "") + BIDI + "\r"):
            self.assertNotIn(character, text)

    def test_an_unknown_stage_names_the_nearest_and_all(self):
        for flag in ("--exit-after", "--approve", "--through"):
            self.assert_error(self.start(flag, "spce"), "AF-ORCH-041", "`spce`", "`spec`", "refactor")
        self.assertFalse((self.repository / ".agentforge").exists())

    def test_an_unknown_pipeline_names_the_nearest(self):
        self.assert_error(self.start("--pipeline", "implemnt"), "AF-PIPE-002", "Did you mean implement?")

    def test_an_unknown_task_names_the_nearest(self):
        self.start("--exit-after", "intake")
        self.assert_error(self.run_program("status", self.task()[:-1] + "_"), "AF-TASK-002", self.task())

    def test_an_unknown_setting_names_the_nearest(self):
        self.assert_error(self.run_program("start", "--set", "llm.backnd=cli", "x"), "AF-CONF-020", "llm.backend")

    def test_a_setting_without_a_value_is_a_usage_error(self):
        self.assert_error(self.run_program("start", "--set", "llm.backend", "x"), "AF-CLI-001", "KEY=VALUE", exit_code=2)

    def test_an_unknown_backend_names_the_known_ones(self):
        outcome = self.run_program("start", "--backend", "replya", "x")
        self.assertEqual(outcome.code, 1, outcome)
        self.assertIn("replay", outcome.err)
        self.assertFalse((self.repository / ".agentforge").exists())

    def test_a_budget_that_the_prompt_alone_exceeds_is_refused_before_anything_is_made(self):
        outcome = self.start("--set", "context.budget.system_prompt=200")
        self.assert_error(outcome, "AF-AGENT-013", "context.budget.system_prompt")
        self.assertFalse((self.repository / ".agentforge").exists())

    def test_an_unknown_environment_variable_is_named(self):
        outcome = self.start("--exit-after", "intake", environment=dict(self.environment, AGENTFORGE_LLM_BAKCEND="cli"))
        self.assertIn("AGENTFORGE_LLM_BAKCEND", outcome.err)

    def test_no_model_says_how_to_choose_one_before_anything_is_made(self):
        self.assert_error(self.run_program("start", REQUEST), "AF-LLM-001", "llm.backend=cli", "Ollama", ".agentforge/config/settings.yaml")
        self.assertFalse((self.repository / ".agentforge").exists())


class TestSettingsFile(ProgramTest):
    """A broken settings.yaml is named with its place."""

    def setUp(self):
        super().setUp()
        self.make_repository()
        self.file = self.repository / ".agentforge/config/settings.yaml"
        self.file.parent.mkdir(parents=True)

    def refuse(self, content, code, *words):
        self.file.write_bytes(content)
        self.assert_error(self.start("--exit-after", "intake"), code, "settings.yaml:", *words)

    def test_an_unknown_key(self):
        self.refuse(b"llm:\n  bakend: cli\n", "AF-CONF-020", "settings.yaml:2:", "llm.backend")

    def test_a_key_that_stands_twice(self):
        self.refuse(b"llm:\n  backend: cli\nllm:\n  model: x\n", "AF-CONF-002", "settings.yaml:3:1")

    def test_a_tab(self):
        self.refuse(b"llm:\n\tbackend: cli\n", "AF-CONF-001", "settings.yaml:2:", "tabs")

    def test_a_value_of_the_wrong_type(self):
        self.refuse(b"llm:\n  timeout_seconds: soon\n", "AF-CONF-0", "settings.yaml:2:")

    def test_a_list_in_place_of_a_map(self):
        self.refuse(b"- llm\n", "AF-CONF-0")

    def test_bytes_that_are_no_text(self):
        self.file.write_bytes(b"llm: \xff\xfe\x00\n")
        self.assertEqual(self.start("--exit-after", "intake").code, 1)

    def test_a_byte_order_mark_is_taken(self):
        self.file.write_bytes(b"\xef\xbb\xbfllm:\n  timeout_seconds: 10\n")
        self.assert_code(self.start("--exit-after", "intake"), 0)

    def test_carriage_returns_are_taken(self):
        self.file.write_bytes(b"llm:\r\n  timeout_seconds: 10\r\n")
        self.assert_code(self.start("--exit-after", "intake"), 0)

    def test_doctor_names_it_too(self):
        self.file.write_bytes(b"llm:\n  bakend: cli\n")
        outcome = self.assert_code(self.run_program("doctor"), 1)
        self.assertIn("settings.yaml:2:", outcome.out)


class TestTranscript(ProgramTest):
    """A transcript that cannot answer is found before a task exists."""

    def setUp(self):
        super().setUp()
        self.make_repository()

    def test_a_missing_file_is_named_before_anything_is_made(self):
        self.assert_error(self.start(transcript=self.folder / "missing.yaml"), "AF-LLM-205", "missing.yaml")
        self.assertFalse((self.repository / ".agentforge").exists())

    def test_an_unknown_field_is_named_with_its_line_and_the_known_ones(self):
        transcript = load_transcript()
        transcript["entries"][0]["rolle"] = "x"
        self.assert_error(self.start(transcript=transcript), "AF-LLM-204", "'rolle'", "role", "transcript.yaml:")
        self.assertFalse((self.repository / ".agentforge").exists())

    def test_another_version_is_refused(self):
        transcript = load_transcript()
        transcript["agentforge_transcript"] = 2
        self.assert_error(self.start(transcript=transcript), "AF-LLM-204")

    def test_an_empty_file_is_refused(self):
        path = self.folder / "empty.yaml"
        path.write_text("")
        self.assert_error(self.start(transcript=path), "AF-LLM-20")

    def test_an_answer_that_is_missing_pauses_the_task_and_names_the_step(self):
        transcript = load_transcript()
        transcript["entries"] = [e for e in transcript["entries"] if e["stage"] != "analyze"]
        outcome = self.assert_error(self.start("--exit-after", "analyze", transcript=transcript), "AF-LLM-201", "'analyze'", "step 1")
        self.assertIn("resume", outcome.out)
        # With the whole transcript in the same place, the task goes on from there.
        (self.folder / "transcript.yaml").write_text(yaml.safe_dump(load_transcript(), allow_unicode=True), encoding="utf-8")
        self.assert_code(self.run_program("resume", self.task()), 0)
        self.assertEqual([s["step"] for s in self.steps()], [1, 2, 3, 4, 5, 6])


class TestInstallation(ProgramTest):
    """Parts of the program that are missing, and readers that went away."""

    def setUp(self):
        super().setUp()
        self.make_repository()

    def installation(self, *parts):
        """A copy of the installation with only these parts."""
        build = os.path.dirname(os.path.dirname(PROGRAM))
        home = self.folder / "installed"
        (home / "bin").mkdir(parents=True)
        if "config" in parts:
            (home / "config").symlink_to(SOURCE / "config")
        if "plugins" in parts:
            (home / "plugins").symlink_to(os.path.join(build, "plugins"))
        if "exec" in parts:
            (home / "bin" / "agentforge-exec").symlink_to(os.path.join(build, "libexec", "agentforge-exec"))
        return dict(self.environment, AGENTFORGE_HOME=str(home))

    def test_a_whole_installation_elsewhere_works(self):
        self.assert_code(self.start("--exit-after", "intake", environment=self.installation("config", "plugins", "exec")), 0)

    def test_missing_plugins_are_named_before_a_task_exists(self):
        outcome = self.start("--exit-after", "intake", environment=self.installation("config", "exec"))
        self.assertEqual(outcome.code, 1, outcome)
        self.assertRegex(outcome.err, ERROR)
        self.assertIn("plugins", outcome.err)
        self.assertEqual(self.tasks(), [])

    def test_missing_configuration_is_named(self):
        outcome = self.start("--exit-after", "intake", environment=self.installation("plugins", "exec"))
        self.assertEqual(outcome.code, 1, outcome)
        self.assertRegex(outcome.err, ERROR)
        self.assertIn("config", outcome.err)

    def test_a_plugin_folder_of_the_user_that_is_missing_is_named(self):
        outcome = self.start("--exit-after", "intake", environment=dict(self.environment, AGENTFORGE_PLUGIN_PATH=str(self.folder / "no-plugins")))
        self.assertIn("no-plugins", outcome.err)

    def test_a_reader_that_goes_away_does_no_harm(self):
        self.start("--exit-after", "spec")
        done = subprocess.run(["/bin/bash", "-c", f'set -o pipefail; "{PROGRAM}" inspect {self.task()} --json | head -n 1'], cwd=self.repository,
                              env=self.environment, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "{\n", ""))

    def test_a_closed_standard_output_does_no_harm_to_the_task(self):
        done = subprocess.run(["/bin/sh", "-c", f'exec "{PROGRAM}" start --transcript "{TRANSCRIPT}" --exit-after intake "{REQUEST}" >&-'],
                              cwd=self.repository, env=self.environment, capture_output=True, text=True, check=False)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertEqual(self.run_program("status", self.task(), "--json").json["status"], "completed")

    def test_a_full_disk_for_the_output_is_an_error(self):
        done = subprocess.run(["/bin/sh", "-c", f'exec "{PROGRAM}" status > /dev/full'], cwd=self.repository, env=self.environment,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("AF-CLI-004", done.stderr)


if __name__ == "__main__":
    main()
