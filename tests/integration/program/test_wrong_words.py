# SPDX-License-Identifier: Apache-2.0
"""Wrong commands, flags, names, requests and keys: the error names the word and a remedy, and nothing changes."""

import os
import subprocess

from harness import PROGRAM, REQUEST, TRANSCRIPT, Outcome, main
from untouched import Untouched

BIDI = "\u202e\u2066\u200f\u061c\u2028\u206a\ufeff"
CONTROL = "\x1b[31m\x07\x9b\x7f"


class TestErrorMessages(Untouched):
    """Wrong commands, flags, names and requests."""

    def setUp(self):
        super().setUp()
        self.make_repository()

    def test_an_unknown_command_names_the_nearest(self):
        self.assert_error(self.run_program("strat", "x"), "AF-CLI-001", "`strat`", "agentforge start", exit_code=2)

    def test_help_of_an_unknown_command_is_a_usage_error(self):
        for words, told in ((("strat", "--help"), "`strat`"), (("plugins", "lits", "--help"), "`agentforge plugins lits`"), (("-C", ".", "strat", "-h"), "`strat`"), (("strat", "--version"), "`strat`")):
            with self.subTest(words):
                outcome = self.assert_error(self.run_program(*words), "AF-CLI-001", "there is no command " + told, "did you mean", exit_code=2)
                self.assertEqual(outcome.out, "")

    def test_help_of_a_command_with_extra_text_is_shown(self):
        for words in (("start", "strat", "--help"), ("plugins", "--help"), ("--set", "llm.backend=cli", "start", "--help")):
            self.assertIn("Usage: agentforge " + [word for word in words if word in ("start", "plugins")][0], self.assert_code(self.run_program(*words), 0).out)

    def test_names_used_by_other_tools_suggest_our_command(self):
        for word, command in (("tasks", "status"), ("exec", "start"), ("show", "status TASK"), ("watch", "logs TASK --follow"), ("unapply", "undo TASK"), ("prune", "gc")):
            for words in ((word,), (word, "--help"), (word, "x", "y"), ("help", word)):
                with self.subTest(words):
                    self.assert_error(self.run_program(*words), "AF-CLI-001", f"`agentforge {command}`", exit_code=2)

    def test_the_error_for_an_unquoted_request_quotes_its_words_in_order(self):
        outcome = self.assert_error(self.run_program("start", "fix", "the", "bug"), "AF-CLI-001", "`the bug`", 'agentforge start "fix the bug"', exit_code=2)
        self.assertNotIn("bug the", outcome.err)

    def test_an_unknown_flag_names_the_nearest(self):
        self.assert_error(self.run_program("status", "--jsno"), "AF-CLI-001", "--jsno", "--json", exit_code=2)

    def test_a_number_out_of_range_names_the_range(self):
        for value, told in (("1e3", "--rework-days takes a whole number, not `1e3`"), ("0", "must be between 1 and 3650"), ("many", "--rework-days cannot be many; it must be between 1 and 3650")):
            with self.subTest(value):
                self.assert_error(self.run_program("stats", "--rework-days", value), "AF-CLI-001", told, exit_code=2)

    def test_a_missing_argument_is_named(self):
        self.assert_error(self.run_program("start"), "AF-CLI-001", "needs REQUEST", exit_code=2)

    def test_a_group_without_its_command_names_it(self):
        self.assert_error(self.run_program("plugins"), "AF-CLI-001", "agentforge plugins list", exit_code=2)

    def test_an_unknown_word_is_escaped_on_a_terminal(self):
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

    def test_an_empty_request_creates_nothing(self):
        for request in ("", "  \n\t"):
            self.assert_refused(lambda: self.start(request=request), "AF-ORCH-040", "empty")
            self.assert_refused(lambda: self.run_program("start", "--dry-run", request), "AF-ORCH-040", "empty")

    def test_a_request_of_300_kilobytes_is_refused_with_its_size(self):
        outcome = self.assert_refused(lambda: self.run_program("start", "--transcript", TRANSCRIPT, "-", text_input="a" * 300_000), "AF-ORCH-040", "300000 bytes", "262144")
        self.assertLess(len(outcome.err), 2000)

    def start_from(self, stdin):
        """Runs `start -` with this text as its standard input."""
        done = subprocess.run(self.command("start", "--transcript", TRANSCRIPT, "-"), cwd=self.repository, env=self.environment, stdin=stdin,
                              capture_output=True, text=True, check=False)
        return Outcome(("start", "-"), done.returncode, done.stdout, done.stderr)

    def test_a_request_of_100_megabytes_is_refused_and_not_read_to_its_end(self):
        path = self.folder / "huge"
        with open(path, "wb") as stream:
            stream.truncate(100 << 20)
        with open(path, "rb") as stream:
            outcome = self.start_from(stream)
            self.assertLessEqual(os.lseek(stream.fileno(), 0, os.SEEK_CUR), 262145)
        self.assert_error(outcome, "AF-ORCH-040", f"{100 << 20} bytes", "262144")
        self.assertEqual(self.tasks(), [])

    def test_an_endless_request_is_refused(self):
        reading, writing = os.pipe()
        self.addCleanup(os.close, reading)
        with subprocess.Popen(["/usr/bin/yes"], stdout=writing) as endless:
            os.close(writing)
            outcome = self.start_from(reading)
            endless.kill()
        self.assert_error(outcome, "AF-ORCH-040", "more than", "262144")

    def test_a_request_with_a_zero_byte_is_refused(self):
        self.assert_refused(lambda: self.run_program("start", "--transcript", TRANSCRIPT, "-", text_input="Add\0 it"), "AF-ORCH-040", "zero byte")

    def test_a_folder_as_standard_input_is_refused(self):
        descriptor = os.open(self.folder, os.O_RDONLY)
        self.addCleanup(os.close, descriptor)
        self.assert_refused(lambda: self.start_from(descriptor), "AF-CLI-136", "Is a directory")

    def test_a_closed_standard_input_is_refused(self):
        def run():
            done = subprocess.run(["/bin/sh", "-c", f'exec "{PROGRAM}" start --transcript "{TRANSCRIPT}" - <&-'], cwd=self.repository, env=self.environment,
                                  capture_output=True, text=True, check=False)
            return Outcome(("start", "-"), done.returncode, done.stdout, done.stderr)
        self.assert_refused(run, "AF-CLI-136", "cannot read the request")

    def test_a_path_as_request_is_refused_with_the_way_to_use_its_content(self):
        self.assert_refused(lambda: self.start(request="README.md"), "AF-CLI-135", "`README.md`", "agentforge start - < README.md")
        self.assert_refused(lambda: self.start(request="/nowhere/request.txt"), "AF-CLI-135", "/nowhere/request.txt")

    def test_a_request_of_100_kilobytes_is_accepted(self):
        self.assert_code(self.start("--exit-after", "intake", request="Add slugify. " * 8000), 0)
        outcome = self.run_program("status")
        self.assertLess(len(outcome.out), 2000)

    def test_a_request_that_is_not_utf8_is_refused(self):
        outcome = self.start(request=b"Add \xff\xfe".decode("utf-8", "surrogateescape"))
        self.assert_error(outcome, "AF-ORCH-040", "UTF-8")
        self.assertEqual(self.tasks(), [])

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
            self.assert_refused(lambda: self.start(flag, "spce"), "AF-ORCH-041", "`spce`", "`spec`", "refactor")

    def test_an_unknown_pipeline_names_the_nearest(self):
        self.assert_refused(lambda: self.start("--pipeline", "implemnt"), "AF-PIPE-002", "Did you mean implement?")
        self.assert_refused(lambda: self.start("--pipeline", "zzzzzzzz"), "AF-PIPE-002", "The pipelines are ", "implement")

    def test_an_unknown_task_names_the_nearest(self):
        self.start("--exit-after", "intake")
        self.assert_error(self.run_program("status", self.task()[:-1] + "_"), "AF-TASK-002", self.task())

    def test_an_unknown_setting_names_the_nearest(self):
        self.assert_refused(lambda: self.run_program("start", "--set", "llm.backnd=cli", "x"), "AF-CONF-020", "llm.backend")

    def test_a_section_instead_of_a_setting_is_reported_as_one(self):
        self.assert_refused(lambda: self.run_program("start", "--set", "llm=cli", "x"), "AF-CONF-020", "It is a section")

    def test_unknown_names_in_settings_are_refused(self):
        for key, value, code, word in (("agents.software_develper.llm.model", "x", "AF-CONF-081", "`software_developer`"), ("plugins.enable", "[org.agentforge.nothing]", "AF-PLUG-036", "org.agentforge.nothing"),
                                       ("limits.stages.grene.max_steps", "3", "AF-COST-003", "`green`"), ("escalation.handlers", "[consol]", "AF-PLUG-010", "console")):
            with self.subTest(key):
                self.assert_refused(lambda: self.start("--set", f"{key}={value}"), code, word)

    def test_a_setting_without_a_value_is_a_usage_error(self):
        self.assert_error(self.run_program("start", "--set", "llm.backend", "x"), "AF-CLI-001", "KEY=VALUE", exit_code=2)

    def test_an_unknown_backend_names_the_known_ones(self):
        outcome = self.run_program("start", "--backend", "replya", "x")
        self.assertEqual(outcome.code, 1, outcome)
        self.assertIn("replay", outcome.err)
        self.assertFalse((self.repository / ".agentforge").exists())

    def test_a_budget_smaller_than_the_prompt_is_refused_before_anything_is_created(self):
        outcome = self.start("--set", "context.budget.system_prompt=200")
        self.assert_error(outcome, "AF-AGENT-013", "context.budget.system_prompt")
        self.assertFalse((self.repository / ".agentforge").exists())

    def test_an_unknown_environment_variable_is_named(self):
        outcome = self.start("--exit-after", "intake", environment=dict(self.environment, AGENTFORGE_LLM_BAKCEND="cli"))
        self.assertIn("AGENTFORGE_LLM_BAKCEND", outcome.err)

    def test_no_model_says_how_to_choose_one_before_anything_is_made(self):
        self.assert_refused(lambda: self.run_program("start", REQUEST), "AF-LLM-001", "anthropic: ANTHROPIC_API_KEY is not set", "ollama: ", "llm.backend=cli", ".agentforge/config/settings.yaml")

    def test_a_missing_model_key_is_reported_before_anything_is_created(self):
        for backend, variable in (("anthropic", "ANTHROPIC_API_KEY"), ("openai", "OPENAI_API_KEY")):
            for value in (None, ""):
                with self.subTest(f"{backend} {value!r}"):
                    environment = dict(self.environment) if value is None else dict(self.environment, **{variable: value})
                    self.assert_refused(lambda: self.run_program("start", "--backend", backend, "--model", "m", REQUEST, environment=environment), "AF-LLM-401", variable)

    def test_a_model_without_a_name_is_reported_before_anything_is_created(self):
        self.assert_refused(lambda: self.run_program("start", "--backend", "anthropic", REQUEST, environment=dict(self.environment, ANTHROPIC_API_KEY="k")), "AF-CLI-139", "--model NAME")

    def test_a_key_with_a_line_end_is_refused_and_not_shown(self):
        environment = dict(self.environment, ANTHROPIC_API_KEY="sk-secret-one\nHost: evil")
        outcome = self.assert_error(self.run_program("start", "--backend", "anthropic", "--model", "m", REQUEST, environment=environment), "AF-PLUG-016", "line end")
        self.assertNotIn("sk-secret-one", outcome.all)
        self.assertFalse((self.repository / ".agentforge").exists())

    def test_a_locale_without_utf8_loses_no_character(self):
        request = "Füge „ß“ hinzu 🙂"
        environment = dict(self.environment, LC_ALL="C")
        self.assert_code(self.start("--exit-after", "intake", request=request, environment=environment), 0)
        self.assertEqual(self.run_program("status", self.task(), "--json", environment=environment).json["request"], request)


if __name__ == "__main__":
    main()
