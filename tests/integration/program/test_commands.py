# SPDX-License-Identifier: Apache-2.0
"""Every command and every flag does what its help says."""

import copy
import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import termios

import yaml

from harness import REQUEST, TRANSCRIPT, ProgramTest, call, entry, load_transcript, main, short_transcript, wait_until

COMMANDS = ("init", "start", "status", "resume", "abort", "approve", "reject", "feedback", "escalations", "resolve", "inspect", "plugins", "trust", "doctor")
QUESTION = "May a slug hold digits?"


def doubtful_transcript():
    """Returns a transcript in which intake finds a blocking question, and clarify is not sure of its answer."""
    transcript = load_transcript()
    entry(transcript, "intake", 2)["tool_calls"][0]["arguments"]["identified_ambiguities"] = [
        {"area": "characters", "question": QUESTION, "impact": "blocking"}]
    clarified = entry(transcript, "clarify", 2)["tool_calls"][0]["arguments"]
    clarified["questions"] = [{"question": QUESTION, "source": "agent_inference", "answer": "Perhaps", "confidence": 0.6, "evidence": []}]
    return transcript


def twice(transcript, stage):
    """Repeats a stage's answers for a second visit."""
    for found in [e for e in transcript["entries"] if e["stage"] == stage]:
        transcript["entries"].append(dict(copy.deepcopy(found), visit=2))
    return transcript


class TestHelp(ProgramTest):
    """Version, help and manual, inside and outside a repository."""

    def test_version(self):
        outcome = self.assert_code(self.run_program("--version"), 0)
        self.assertRegex(outcome.out, r"^agentforge \d+\.\d+\.\d+\n$")

    def test_help_lists_every_command_and_exit_code(self):
        outcome = self.assert_code(self.run_program("--help"), 0)
        for command in COMMANDS:
            self.assertRegex(outcome.out, rf"\n  {command}(, \w+)* +\S")
        for code in ("0 done", "1 failed", "2 usage", "20 ", "21 ", "22 ", "23 "):
            self.assertIn(code, outcome.out)

    def test_every_command_explains_itself_with_an_example(self):
        for command in [(c,) for c in COMMANDS] + [("escalations", "list"), *(("plugins", c) for c in ("list", "show", "lock", "verify"))]:
            with self.subTest(command):
                outcome = self.assert_code(self.run_program(*command, "--help"), 0)
                self.assertEqual(outcome.err, "")
                if command not in (("escalations",), ("plugins",)):
                    self.assertIn("Example", outcome.out)

    def test_without_a_command_help_is_shown_as_a_usage_error(self):
        outcome = self.assert_code(self.run_program(), 2)
        self.assertIn("Usage: agentforge", outcome.out)

    def test_no_line_of_help_is_wider_than_132_columns(self):
        for command in ((), *((c,) for c in COMMANDS)):
            for line in self.run_program(*command, "--help").out.splitlines():
                self.assertLessEqual(len(line), 132, line)


class TestInit(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make_repository()

    def test_settings_are_tracked_by_git_and_tasks_are_ignored(self):
        self.assert_code(self.run_program("init"), 0)
        self.assert_code(self.start("--exit-after", "intake"), 0)
        status = self.git("status", "--porcelain", "--untracked-files=all").split("\n")
        self.assertEqual([line for line in status if line], ["?? .agentforge/.gitignore", "?? .agentforge/config/settings.yaml"])

    def test_created_settings_are_valid_and_useful(self):
        (self.repository / ".gitignore").write_text(".env\n")
        (self.repository / ".env").write_text("TOKEN=hush-hush-hush\n")
        self.run_program("init")
        text = (self.repository / ".agentforge/config/settings.yaml").read_text()
        self.assertEqual(yaml.safe_load(text), {"secrets": {"files": [".env"]}})
        self.assertIn("python, ", text)
        self.assertNotIn("Test User", text, "who commits is each one's own")

    def test_reports_what_it_detected(self):
        self.git("remote", "add", "origin", "https://me:hush@github.com/acme/textkit.git")
        out = self.run_program("init").out
        for found in ("language  python", "branch    main; remote origin (github.com/acme/textkit)", "as Test User <test@example.invalid>"):
            self.assertIn(found, out)
        self.assertNotIn("hush", out)

    def test_reports_each_folder_of_a_monorepo_and_the_next_steps(self):
        (self.repository / "web").mkdir()
        (self.repository / "web/package.json").write_text('{"name": "web", "dependencies": {"left": "1.0.0"}}')
        (self.repository / "web/package-lock.json").write_text('{"packages": {"node_modules/left": {}}}')
        (self.repository / "web/index.js").write_text("exports.one = 1;\n")
        out = self.run_program("init").out
        self.assertRegex(out, r"\.: python, \d+ source files, 3 test files\n +web: javascript, 1 source file, no tests yet\n +web/package-lock.json: run `agentforge setup` next to fetch its dependencies")
        text = (self.repository / ".agentforge/config/settings.yaml").read_text()
        settled = next(line for line in text.splitlines() if line.startswith("# gates: "))
        self.assertEqual(yaml.safe_load(settled[2:].split("     ")[0]), {"gates": {"language": "python", "scopes": {"web": "javascript"}}})

    def test_says_how_a_makefile_could_run_the_tests(self):
        self.git("rm", "-q", "-r", ".")
        (self.repository / "Makefile").write_text("all:\n\ttrue\ncheck: all\n\ttrue\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "only make")
        self.assertIn("gates: {language: generic, command: [make, check]}", self.run_program("init").out)

    def test_an_ignore_file_that_hides_the_settings_is_named(self):
        (self.repository / ".gitignore").write_text(".agentforge/\n")
        self.assertIn("ignores .agentforge", self.run_program("init").err)

    def test_says_how_to_choose_a_model(self):
        outcome = self.run_program("init")
        for model in ("Claude Code", "OpenAI-compatible", "Ollama"):
            self.assertIn(model, outcome.out)

    def test_a_second_time_changes_nothing(self):
        self.run_program("init")
        settings = self.repository / ".agentforge/config/settings.yaml"
        settings.write_text("llm:\n  backend: cli\n")
        outcome = self.assert_code(self.run_program("init"), 0)
        self.assertIn("Already set up", outcome.out)
        self.assertEqual(settings.read_text(), "llm:\n  backend: cli\n")

    def test_as_json(self):
        outcome = self.assert_code(self.run_program("init", "--json"), 0)
        self.assertEqual(outcome.json["project"], str(self.repository))

    def test_from_a_subfolder_sets_up_the_repository(self):
        self.run_program("init", cwd=self.repository / "tests")
        self.assertTrue((self.repository / ".agentforge/config/settings.yaml").exists())
        self.assertFalse((self.repository / "tests" / ".agentforge").exists())


class TestStart(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make_repository()

    def test_exit_after_a_stage_ends_with_its_artifact(self):
        outcome = self.assert_code(self.start("--exit-after", "spec"), 0)
        self.assertIn("ended    after stage spec", outcome.out)
        self.assertTrue((self.task_folder() / "artifacts/phases/spec/specification.yaml").exists())
        self.assert_nothing_delivered()

    def test_through_is_the_same_as_exit_after(self):
        self.assert_code(self.start("--through", "analyze"), 0)
        self.assertEqual(self.run_program("status", self.task(), "--json").json["exit_stage"], "analyze")

    def test_exit_after_and_through_exclude_each_other(self):
        self.assert_error(self.start("--through", "analyze", "--exit-after", "spec"), "AF-CLI-001", exit_code=2)

    def test_json_is_the_only_output(self):
        outcome = self.assert_code(self.start("--exit-after", "intake", "--json"), 0)
        self.assertEqual(outcome.err, "")
        result = outcome.json
        self.assertEqual((result["success"], result["status"], result["exit_code"], result["error"]), (True, "completed", 0, None))
        self.assertEqual(result["stages_completed"], ["intake"])
        self.assertEqual(result["deliverable"]["extracted_intent"]["action"], "create")

    def test_quiet_shows_the_result_and_no_progress(self):
        outcome = self.assert_code(self.start("--exit-after", "intake", "--quiet"), 0)
        self.assertEqual(outcome.err, "")
        self.assertIn("Done: ", outcome.out)

    def test_settings_may_stand_before_the_request(self):
        outcome = self.run_program("start", "--exit-after", "intake", "--set", "llm.backend=replay", "--set", f"llm.transcript={TRANSCRIPT}", REQUEST)
        self.assert_code(outcome, 0)

    def test_settings_may_stand_after_the_request(self):
        outcome = self.run_program("start", REQUEST, f"--set=llm.transcript={TRANSCRIPT}", "--backend", "replay", "--exit-after=intake")
        self.assert_code(outcome, 0)

    def test_settings_file_of_the_project_chooses_the_model(self):
        self.run_program("init")
        settings = {"llm": {"backend": "replay", "transcript": str(TRANSCRIPT)}}
        (self.repository / ".agentforge/config/settings.yaml").write_text(yaml.safe_dump(settings))
        self.assert_code(self.run_program("start", "--exit-after", "intake", REQUEST), 0)

    def test_settings_file_of_the_user_chooses_the_model(self):
        (self.home / ".agentforge").mkdir()
        (self.home / ".agentforge/config.yaml").write_text(yaml.safe_dump({"llm": {"backend": "replay", "transcript": str(TRANSCRIPT)}}))
        self.assert_code(self.run_program("start", "--exit-after", "intake", REQUEST), 0)

    def test_request_may_come_from_standard_input(self):
        outcome = self.run_program("start", "--transcript", TRANSCRIPT, "--exit-after", "intake", "-", text_input=REQUEST + "\n")
        self.assert_code(outcome, 0)
        self.assertEqual(self.run_program("status", self.task(), "--json").json["request"], REQUEST)

    def test_a_relative_transcript_is_found_from_the_current_folder_also_on_resume(self):
        (self.repository / "docs" / "words.yaml").write_text(TRANSCRIPT.read_text(encoding="utf-8"), encoding="utf-8")
        outcome = self.run_program("start", "--transcript", "words.yaml", "--approve", "intake", "--exit-after", "clarify", REQUEST,
                                   cwd=self.repository / "docs")
        self.assert_code(outcome, 22)
        self.assert_code(self.run_program("approve", self.task()), 0)

    def test_design_pipeline_ends_with_a_specification(self):
        outcome = self.assert_code(self.start("--pipeline", "design"), 0)
        self.assertNotIn("red", outcome.err)
        self.assert_nothing_delivered()

    def test_a_recording_is_a_transcript_of_the_same_run(self):
        recording = self.folder / "recording.yaml"
        self.assert_code(self.start("--record", recording, transcript=short_transcript()), 0)
        first = self.delivered_tree()
        self.repository = None
        self.make_repository("again")
        outcome = self.start("--set", "llm.replay.match=strict", transcript=recording)
        self.assert_code(outcome, 0)
        self.assertEqual(self.delivered_tree(), first)

    def test_a_recording_does_not_answer_another_request(self):
        recording = self.folder / "recording.yaml"
        self.assert_code(self.start("--record", recording, "--exit-after", "intake"), 0)
        hashes = {e["frame_hash"] for e in yaml.safe_load(recording.read_text(encoding="utf-8"))["entries"]}
        outcome = self.start("--exit-after", "intake", transcript=recording, request="Something else")
        self.assert_error(outcome, "AF-LLM-202", hashes.pop(), "record again")
        self.assertEqual(len(set(re.findall(r"\b[0-9a-f]{64}\b", outcome.err))), 2, outcome)
        self.assertNotIn("attempt 2", outcome.err)

    def test_a_stage_timeout_exits_with_20(self):
        pipelines = self.repository / ".agentforge" / "pipelines"
        pipelines.mkdir(parents=True)
        (pipelines / "quick.yaml").write_text(yaml.safe_dump({"pipeline": {
            "name": "quick", "description": "One second", "goal_type": "analyze",
            "stages": [{"name": "intake", "agent": "requirements_analyst", "contract": "intake_record", "timeout_seconds": 1, "exit_point": True}]}}))
        outcome = self.run_program("start", "--pipeline", "quick", "--set", "llm.backend=cli", "--set", 'llm.command=[sleep, "60"]', "x")
        self.assert_error(outcome, "AF-ORCH-002", "timeout_seconds", exit_code=20)

    def test_uncommitted_changes_are_named(self):
        (self.repository / "mine.txt").write_text("mine\n")
        self.assertIn("mine.txt", self.start("--exit-after", "intake").err)

    def test_included_uncommitted_changes_become_a_commit_below_the_tasks(self):
        (self.repository / "mine.txt").write_text("mine\n")
        (self.repository / "README.md").write_text("changed\n")
        self.git("add", "README.md")
        before = self.git("status", "--porcelain"), self.git("rev-parse", "HEAD").strip()
        outcome = self.start("--include-uncommitted")
        self.assertEqual(outcome.code, 0, outcome)
        self.assertIn("are part of this task", outcome.err)
        branch = self.git("branch", "--list", "agentforge/*", "--format=%(refname:short)").strip()
        self.assertEqual(self.git("log", "-1", "--format=%P", f"{branch}~1").strip(), before[1])
        self.assertEqual(self.git("show", "--format=", "--name-only", f"{branch}~1").split(), ["README.md", "mine.txt"])
        self.assertNotIn("mine.txt", self.git("show", "--format=", "--name-only", branch).split())
        self.assertEqual(self.git("status", "--porcelain"), before[0])

    def test_an_unresolved_merge_is_not_included(self):
        blob = self.git("hash-object", "-w", "README.md").strip()
        listing = "".join(f"100644 {blob} {stage}\tREADME.md\n" for stage in (1, 2, 3))
        subprocess.run(["git", "-C", str(self.repository), "update-index", "--index-info"], input=f"0 {'0' * 40}\tREADME.md\n{listing}", text=True, check=True)
        self.assert_error(self.start("--include-uncommitted", "--exit-after", "intake"), "AF-GIT-026", "unmerged")


class TestReadOnlyCommands(ProgramTest):
    """status, inspect, plugins, doctor."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shared = shared = ProgramTest()
        shared.setUp()
        shared.make_repository()
        shared.start("--exit-after", "spec")
        shared.start("--exit-after", "intake", "--approve", "intake", request="Another request")

    @classmethod
    def tearDownClass(cls):
        cls.shared.doCleanups()
        super().tearDownClass()

    def setUp(self):
        super().setUp()
        self.repository, self.environment = self.shared.repository, self.shared.environment
        self.done = next(task for task in self.tasks() if "slugify" in task)
        self.waiting = next(task for task in self.tasks() if "another" in task)

    def test_status_lists_the_newest_first_and_counts(self):
        outcome = self.assert_code(self.run_program("status"), 0)
        self.assertLess(outcome.out.index(self.waiting[-8:]), outcome.out.index(self.done[-8:]))
        self.assertIn("Completed: 1    Waiting for you: 1", outcome.out)

    def test_status_as_json(self):
        outcome = self.assert_code(self.run_program("status", "--json"), 0)
        self.assertEqual(outcome.json["total"], 2)
        self.assertEqual([t["waiting_for"] for t in outcome.json["tasks"]], ["approval", ""])

    def test_status_of_one_state(self):
        outcome = self.assert_code(self.run_program("status", "--state", "completed", "--json"), 0)
        self.assertEqual([t["task_id"] for t in outcome.json["tasks"]], [self.done])

    def test_status_filters_by_the_states_that_it_shows(self):
        for entry in self.run_program("status", "--json").json["tasks"]:
            listed = self.assert_code(self.run_program("status", "--state", entry["state"]), 0).out
            self.assertRegex(listed, rf"(?m)^. {entry['state']} .*{entry['task_id'][-8:]}$")
            self.assertIn(f"{entry['task_id'][-8:]}  {entry['state']}\n", self.run_program("status", entry["task_id"]).out)

    def test_status_of_an_unknown_state_names_the_known_ones(self):
        outcome = self.run_program("status", "--state", "compleetd")
        self.assert_error(outcome, "AF-CLI-001", "did you mean `completed`?", exit_code=2)

    def test_status_of_a_state_without_tasks_says_so_and_counts_the_others(self):
        outcome = self.assert_code(self.run_program("status", "--state", "failed"), 0)
        self.assertIn("Completed: 1    Waiting for you: 1", outcome.out)
        self.assertIn("No task is failed, and 2 are in another state", outcome.out)

    def test_status_in_a_pipe_shows_the_next_command(self):
        for arguments in ((), (self.waiting,)):
            self.assertIn(f"agentforge approve {self.waiting[-8:]}", self.assert_code(self.run_program("status", *arguments), 0).out)

    def test_status_all(self):
        self.assert_code(self.run_program("status", "--all"), 0)

    def test_a_task_is_known_by_the_end_of_its_id(self):
        outcome = self.assert_code(self.run_program("status", self.done[-8:]), 0)
        self.assertTrue(outcome.out.startswith(self.done[-8:] + "  completed\n"), outcome.out)

    def test_views_name_a_task_by_its_short_id(self):
        for command in ("status", "inspect", "history", "metrics", "audit"):
            with self.subTest(command):
                first = self.assert_code(self.run_program(command, self.done), 0).out.splitlines()[0]
                if command != "audit":
                    self.assertTrue(first.startswith(self.done[-8:]), first)
        shown = self.assert_code(self.run_program("escalations", "list"), 0).out
        self.assertIn(f"  task {self.waiting[-8:]}, stage ", shown)
        self.assertIn(f"agentforge approve {self.waiting[-8:]}\n", shown)
        self.assertIn(f"A: {self.done[-8:]}  completed", self.assert_code(self.run_program("compare", self.done, self.waiting), 0).out)

    def test_an_ambiguous_id_is_refused_and_names_the_matches(self):
        outcome = self.run_program("status", "task-")
        self.assertEqual(outcome.code, 1, outcome)
        self.assertIn(self.done, outcome.err)
        self.assertIn(self.waiting, outcome.err)

    def test_status_of_one_task_shows_its_stages(self):
        outcome = self.assert_code(self.run_program("status", self.waiting), 0)
        self.assertIn("waits for approval", outcome.out)
        self.assertIn("intake", outcome.out)

    def test_status_shows_one_step_with_its_context(self):
        shown = self.assert_code(self.run_program("status", self.done, "--step", "1"), 0).out
        context = self.run_program("inspect", self.done, "--step", "1", "--show", "context").out
        self.assertIn(context.strip().splitlines()[0], shown)
        self.assertEqual(self.run_program("status", self.done, "--step", "1", "--json").json["step"], 1)

    def test_inspect_shows_every_record(self):
        outcome = self.assert_code(self.run_program("inspect", self.done), 0)
        self.assertIn(f"{len(self.journal(self.done))} records, the hash chain verifies", outcome.out)

    def test_inspect_shows_a_step_as_json(self):
        outcome = self.assert_code(self.run_program("inspect", self.done, "--step", "2", "--json"), 0)
        self.assertEqual(outcome.json["action"]["type"], "complete")
        self.assertIn("system", outcome.json)

    def test_inspect_shows_one_part(self):
        for part in ("system", "context", "answer", "result"):
            with self.subTest(part):
                outcome = self.assert_code(self.run_program("inspect", self.done, "--step", "1", "--show", part), 0)
                self.assertEqual(outcome.out.count("\n--- "), 1)

    def test_inspect_of_an_unknown_step_lists_the_valid_ones(self):
        self.assert_error(self.run_program("inspect", self.done, "--step", "99"), "AF-CLI-012", "1 to 8")

    def test_inspect_of_a_step_zero_is_a_usage_error(self):
        self.assert_error(self.run_program("inspect", self.done, "--step", "0"), "AF-CLI-001", exit_code=2)

    def test_inspect_show_needs_a_step(self):
        self.assert_error(self.run_program("inspect", self.done, "--show", "diff"), "AF-CLI-001", "--step", exit_code=2)

    def test_plugins_list_shows_the_eight_stages_and_the_tools(self):
        outcome = self.assert_code(self.run_program("plugins", "list"), 0)
        for name in ("intake", "clarify", "analyze", "spec", "red", "green", "refactor", "deliver", "edit_file", "complete", "replay", "file"):
            self.assertRegex(outcome.out, rf"\n  {name} +(\d|data)")

    def test_plugins_list_as_json(self):
        outcome = self.assert_code(self.run_program("plugins", "list", "--json"), 0)
        self.assertEqual(outcome.json["problems"], [])
        self.assertGreaterEqual(len(outcome.json["plugins"]), 25)

    def test_doctor_checks_the_requirements(self):
        outcome = self.assert_code(self.run_program("doctor"), 0)
        for what in ("installation", "repository", "sandbox", "git", "configuration", "plugins", "model"):
            self.assertRegex(outcome.out, rf"(?m)^(ok|warning) +{what} ")

    def test_doctor_as_json(self):
        outcome = self.assert_code(self.run_program("doctor", "--json", "--set", "llm.backend=replay", "--set", f"llm.transcript={TRANSCRIPT}"), 0)
        self.assertTrue(outcome.json["healthy"])
        self.assertIn("recorded answers", next(c["detail"] for c in outcome.json["checks"] if c["name"] == "model"))

    def test_doctor_outside_a_repository_fails(self):
        self.assert_code(self.run_program("doctor", cwd=self.folder), 1)

    def test_escalations_list_shows_the_approval(self):
        outcome = self.assert_code(self.run_program("escalations", "list"), 0)
        self.assertIn(f"APR-{self.waiting}-intake-1  since ", outcome.out)
        self.assertIn(f"agentforge approve {self.waiting[-8:]}\n", outcome.out)

    def test_escalations_list_as_json(self):
        items = self.run_program("escalations", "list", "--json").json["escalations"]
        self.assertEqual([(item["kind"], item["stage"]) for item in items], [("approval", "intake")])


class TestApprovals(ProgramTest):
    """approve, reject, feedback."""

    def setUp(self):
        super().setUp()
        self.make_repository()

    def test_supervised_waits_after_each_stage(self):
        outcome = self.assert_code(self.start("--supervised", "--exit-after", "analyze"), 22)
        self.assertIn("agentforge approve " + self.task()[-8:], outcome.out)
        outcome = self.assert_code(self.run_program("approve", self.task()), 22)
        self.assertIn("stage clarify", outcome.out)
        self.assert_code(self.run_program("approve", self.task()), 0)

    def template(self, **changes):
        """A project's own pipeline: the first three stages of `implement`."""
        folder = self.repository / ".agentforge/pipelines"
        folder.mkdir(parents=True)
        stages = [{"name": name} for name in ("intake", "clarify", "analyze")]
        (folder / "short.yaml").write_text(yaml.safe_dump({"pipeline": {"name": "short", "description": "Short", "goal_type": "feature", "stages": stages, **changes}}))

    def test_a_supervised_template_waits_after_each_stage_but_the_last(self):
        self.template(supervised=True)
        self.assert_code(self.start("--pipeline", "short"), 22)
        self.assertEqual(self.run_program("status", self.task(), "--json").json["current_stage"], "intake")
        self.assert_code(self.run_program("approve", self.task()), 22)
        self.assert_code(self.run_program("approve", self.task()), 0)

    def test_a_dry_run_lists_the_approvals_that_will_be_needed(self):
        self.template(supervised=True)
        for arguments in (("--pipeline", "short"), ("--supervised", "--exit-after", "analyze")):
            with self.subTest(arguments):
                stages = self.assert_code(self.start("--dry-run", "--json", *arguments), 0).json["stages"]
                self.assertEqual([(stage["name"], stage["approval"]) for stage in stages], [("intake", True), ("clarify", True), ("analyze", False)])

    def test_a_dry_run_lists_the_approval_of_a_named_last_stage(self):
        stages = self.assert_code(self.start("--dry-run", "--json", "--approve", "clarify", "--exit-after", "clarify"), 0).json["stages"]
        self.assertEqual([stage["approval"] for stage in stages], [False, True])

    def test_approve_with_one_stage_waits_only_there(self):
        self.assert_code(self.start("--approve", "clarify", "--exit-after", "analyze"), 22)
        self.assertEqual(self.run_program("status", self.task(), "--json").json["current_stage"], "clarify")
        self.assert_code(self.run_program("approve", self.task(), "--json"), 0)

    def test_approve_may_name_several_stages(self):
        self.assert_code(self.start("--approve", "intake", "--approve", "clarify", "--exit-after", "analyze"), 22)
        self.assert_code(self.run_program("approve", self.task()), 22)
        self.assert_code(self.run_program("approve", self.task()), 0)

    def test_reject_ends_the_task(self):
        self.start("--approve", "intake", "--exit-after", "clarify")
        outcome = self.run_program("reject", self.task())
        self.assertIn(outcome.code, (1, 23), outcome)
        self.assertIn(self.run_program("status", self.task(), "--json").json["status"], ("aborted", "failed"))
        self.assertNotIn("clarify", {step["phase"] for step in self.steps()})

    def test_feedback_runs_the_stage_again_and_keeps_the_refused_version(self):
        transcript = twice(load_transcript(), "spec")
        for found in transcript["entries"]:
            if found["stage"] == "spec" and found["role"] == "software_architect" and found.get("visit") == 2:
                found["tool_calls"][0]["arguments"]["title"] = "Add slugify, revised"
        self.assert_code(self.start("--approve", "spec", "--exit-after", "spec", transcript=transcript), 22)
        outcome = self.assert_code(self.run_program("feedback", self.task(), "Say that it is revised"), 22)
        self.assertIn("agentforge approve", outcome.out)
        folder = self.task_folder() / "artifacts/phases/spec"
        self.assertIn("Add slugify", (folder / "specification_v1.yaml").read_text())
        self.assertNotIn("revised", (folder / "specification_v1.yaml").read_text())
        self.assertIn("revised", (folder / "specification.yaml").read_text())
        said = yaml.safe_load((self.task_folder() / "iteration_history/spec/v1_feedback.yaml").read_text())
        self.assertEqual(said["feedback"]["overall_comments"], "Say that it is revised")
        step = next(s for s in self.steps() if s["phase"] == "spec" and s["visit"] == 2)
        context = self.run_program("inspect", self.task(), "--step", step["step"], "--show", "context").out
        self.assertIn("Say that it is revised", context)
        self.assert_code(self.run_program("approve", self.task()), 0)
        self.assertTrue((folder / "specification_final.yaml").exists())

    def test_empty_feedback_is_refused(self):
        self.start("--approve", "intake", "--exit-after", "clarify")
        for arguments in (("feedback", self.task(), "  "), ("reject", self.task(), "--feedback", "")):
            self.assert_error(self.run_program(*arguments), "AF-CLI-001", "is empty", exit_code=2)
        self.assertEqual(self.run_program("status", self.task(), "--json").json["status"], "awaiting_approval")

    def test_a_finished_task_has_nothing_to_approve(self):
        self.start("--exit-after", "intake")
        for arguments in (("approve",), ("reject",)):
            self.assert_error(self.run_program(*arguments, self.task()), "AF-ORCH-043")
        self.assert_error(self.run_program("feedback", self.task(), "x"), "AF-ORCH-043")

    def test_resume_without_a_decision_keeps_waiting_and_says_that_recording_ended(self):
        recording = self.folder / "recording.yaml"
        self.start("--approve", "intake", "--exit-after", "clarify", "--record", recording)
        outcome = self.assert_code(self.run_program("resume", self.task()), 22)
        self.assertIn(f"--set llm.record={recording}", outcome.err)
        self.assertNotIn("llm.record", self.run_program("resume", self.task(), "--set", f"llm.record={recording}").err)

    def test_an_unwritable_recording_is_reported_before_a_model_call(self):
        for more in ((), ("--dry-run",)):
            self.assert_error(self.start("--record", self.folder / "nowhere" / "recording.yaml", *more), "AF-LLM-110", "nowhere")
        self.assertEqual(self.tasks(), [])

    def test_an_idle_task_is_aborted(self):
        self.start("--approve", "intake", "--exit-after", "clarify")
        approval = self.run_program("escalations", "list", "--json").json["escalations"][0]["id"]
        waiting = [self.run_program("completion", "bash", "--candidates", kind).out.split() for kind in ("waiting", "escalations")]
        self.assertEqual(waiting, [[approval], []], "an approval is not a question")
        outcome = self.assert_code(self.run_program("abort", self.task(), "--reason", "not wanted", "--json"), 0)
        self.assertEqual((outcome.json["aborted"], outcome.json["reason"]), (True, "not wanted"))
        self.assertEqual(self.journal()[-1]["reason"], "not wanted")
        self.assertEqual(len(self.git("worktree", "list").splitlines()), 1)
        self.assertEqual(self.run_program("escalations", "list", "--json").json["escalations"], [])
        self.assertEqual(self.run_program("completion", "bash", "--candidates", "waiting").out, "")
        self.assertIn("the task has ended", self.run_program("escalations", "show", approval).out)


class TestCommandAdvice(ProgramTest):
    """The commands that the program suggests fit the task, and work when copied."""

    def setUp(self):
        super().setUp()
        self.make_repository()

    def short(self):
        return self.task()[-8:]

    def test_a_given_approval_is_not_requested_again_and_resume_uses_it(self):
        self.assert_code(self.start("--approve", "spec"), 22)
        self.assert_code(self.run_program("approve", self.short(), "--no-resume"), 0)
        listed = self.assert_code(self.run_program("list"), 0).out
        self.assertIn("Waiting for you: 0    Paused: 1", listed)
        self.assertIn(f"agentforge resume {self.short()}\n", listed)
        self.assertNotIn("agentforge approve", listed)
        self.assertIn("continues with your answer", self.run_program("status", self.short()).out)
        self.assert_error(self.run_program("apply", self.short()), "AF-CLI-050", f"has your answer and has not continued yet: agentforge resume {self.short()}")
        self.assert_code(self.run_program("resume"), 0)

    def test_every_view_shows_that_a_task_is_answered(self):
        self.assert_code(self.start("--approve", "spec"), 22)
        self.assertEqual(self.run_program("list", "--state", "awaiting_approval", "--json").json["total"], 1)
        self.assert_code(self.run_program("approve", self.short(), "--no-resume"), 0)
        self.assertEqual([self.run_program("list", "--state", state, "--json").json["total"] for state in ("awaiting_approval", "paused")], [0, 1])
        self.assertIn("v1 has your answer", self.run_program("status", self.short()).out)
        figures = self.run_program("status", self.short(), "--json").json["figures"]
        self.assertEqual((figures["health"]["escalations_pending"], figures["current_stage"]["awaiting"], figures["status"]["state"]), (0, None, "paused"))
        rest = f"has your answer and has not continued yet: agentforge resume {self.short()}"
        for command, code in (("approve", "AF-ESC-004"), ("attach", "AF-CLI-146"), ("rebase", "AF-GIT-050")):
            self.assert_error(self.run_program(command, self.short()), code, rest)
        self.assert_error(self.run_program("resolve", self.short(), "Yes"), "AF-ESC-091", rest)

    def test_views_of_a_task_name_an_unusable_answer(self):
        self.assert_code(self.start("--approve", "spec"), 22)
        asked = self.records("approval_requested")[0]["approval_id"]
        (self.repository / ".agentforge" / "escalations" / f"{asked}.resolution.yaml").write_text("approved: perhaps\n", encoding="utf-8")
        for shown in (self.run_program("list").out, self.run_program("status", self.short()).out):
            self.assertRegex(shown, "answer cannot be used: AF-ESC-[0-9]+")
            self.assertIn(f"agentforge approve {self.short()}", shown)
        figures = self.run_program("status", self.short(), "--json").json["figures"]
        self.assertIn("`approved` must be true or false", figures["status"]["answer_problem"])
        self.assertEqual(figures["status"]["state"], "awaiting_approval")

    def test_a_task_at_a_limit_shows_the_command_that_raises_it(self):
        self.assert_code(self.start("--set", "limits.max_steps=3"), 22)
        for shown in (self.run_program("list").out, self.run_program("status", self.short()).out):
            command = re.search(rf"agentforge resume {self.short()} --set limits.max_steps=\d+$", shown, re.MULTILINE)
            self.assertTrue(command, shown)
            self.assertNotRegex(shown, rf"(?m)agentforge resume {self.short()}$")
        self.run_program(*command.group().split()[1:])
        self.assertGreater(len(self.steps()), 3)

    def test_suggested_commands_name_the_repository_as_on_the_command_line(self):
        self.assert_code(self.start("--approve", "spec"), 22)
        elsewhere = self.folder / "else where"
        elsewhere.mkdir()
        place = os.path.relpath(self.repository, elsewhere)
        shown = self.assert_code(self.run_program("-C", place, "list", cwd=elsewhere), 0).out
        command = f"agentforge -C {place} approve {self.short()}"
        self.assertIn(command + "\n", shown)
        self.assert_error(self.run_program("-C", place, "apply", self.short(), cwd=elsewhere), "AF-CLI-050", command)

    def test_a_decision_defaults_to_the_only_task_that_waits(self):
        self.assert_error(self.run_program("approve"), "AF-CLI-190")
        self.assert_code(self.start("--approve", "spec"), 22)
        waits = f"agentforge: task {self.short()} (awaiting_approval)"
        self.assert_error(self.run_program("feedback"), "AF-CLI-162", exit_code=2)
        self.assert_error(self.run_program("feedback", "nothing"), "AF-CLI-162", exit_code=2)
        self.assertIn(waits, self.assert_code(self.run_program("feedback", "Name the empty title", "--no-resume"), 0).err)
        self.assertIn("No task is awaiting_approval", self.run_program("status", "--state", "awaiting_approval").out)
        self.assert_error(self.run_program("approve"), "AF-CLI-190", "no task waits for an approval")

    def test_reject_names_the_task_that_it_took(self):
        self.assert_code(self.start("--approve", "intake", transcript=short_transcript()), 22)
        rejected = self.run_program("reject", "--quiet")
        self.assertIn(f"agentforge: task {self.short()} (awaiting_approval)", rejected.err)
        self.assertEqual(self.records("approval_decided")[0]["decision"], "reject")

    def test_a_decision_without_a_task_lists_all_that_wait(self):
        for _ in range(2):
            self.assert_code(self.start("--approve", "intake", transcript=short_transcript()), 22)
        for command in ("approve", "reject"):
            self.assert_error(self.run_program(command), "AF-CLI-191", *[task[-8:] for task in self.tasks()])

    def test_fork_attach_and_continue_default_to_the_newest_suitable_task(self):
        self.assert_code(self.start("--exit-after", "intake"), 0)
        first = self.task()
        self.assert_error(self.run_program("attach"), "AF-CLI-190", "no task is running")
        forked = self.assert_code(self.run_program("fork", "--from-step", "1", "--no-resume"), 0)
        self.assertIn(f"  from {first[-8:]} after step 1\n", forked.out)
        self.assert_code(self.run_program("abort", next(task for task in self.tasks() if task != first)), 0)
        self.assertIn(f"agentforge: task {first[-8:]} (completed)", self.run_program("continue", "--extend-to", "nowhere").err)

    def test_a_task_in_the_archive_is_named_with_the_command_that_restores_it(self):
        self.assert_code(self.start(transcript=short_transcript()), 0)
        task = self.task()
        shutil.rmtree(self.task_folder())
        for arguments in (("status", task), ("inspect", task), ("diff", task[-8:]), ("replay", task), ("fork", task, "--from-step", "1"), ("apply", task), ("logs", task), ("rebase", task), ("compare", task, task),
                          ("start", "--compare-to", task, "--transcript", TRANSCRIPT, REQUEST)):
            with self.subTest(arguments):
                self.assert_error(self.run_program(*arguments), "AF-TASK-002", "is only in the archive", f"agentforge archive restore {task[-8:]}")

    def test_the_first_artifact_says_that_reject_ends_the_task(self):
        self.assert_code(self.start("--approve", "spec"), 22)
        self.assertRegex(self.run_program("status", self.short()).out, rf"agentforge reject {self.short()} +# ends the task\n")

    def test_resuming_an_ended_task_says_so_first(self):
        self.assert_code(self.start(), 0)
        again = self.assert_code(self.run_program("resume", self.short()), 0)
        self.assertIn(f"agentforge: nothing to resume: task {self.short()} is completed.", again.err)

    def test_resume_takes_the_only_waiting_task_if_none_can_continue(self):
        self.assert_code(self.start("--approve", "spec"), 22)
        again = self.assert_code(self.run_program("resume"), 22)
        self.assertIn(f"agentforge approve {self.short()}", again.out)
        answer = self.repository / ".agentforge" / "escalations" / f"APR-{self.task()}-spec-1.resolution.yaml"
        answer.write_text("approved: true\nfeedback: x\n")
        self.assert_error(self.run_program("resume"), "AF-ESC-005", "contradicts")

    def test_an_unknown_id_lists_the_newest_tasks_and_their_states(self):
        self.assert_error(self.run_program("resume"), "AF-CLI-190", "no task was started here", "agentforge start")
        self.assert_code(self.start(), 0)
        self.assert_error(self.run_program("pause"), "AF-CLI-190", f"{self.short()} (completed): {REQUEST}")


class TestEscalations(ProgramTest):
    """A blocking question that only a person can answer."""

    def setUp(self):
        super().setUp()
        self.make_repository()

    def ask(self, *arguments):
        outcome = self.assert_code(self.start("--exit-after", "clarify", *arguments, transcript=doubtful_transcript()), 22)
        self.question = self.run_program("escalations", "list", "--json").json["escalations"][0]
        return outcome

    def clarification(self):
        return yaml.safe_load((self.task_folder() / "artifacts/phases/clarify/clarification.yaml").read_text())

    def test_the_question_and_the_way_to_answer_are_shown(self):
        outcome = self.ask()
        self.assertIn(QUESTION, outcome.err)
        self.assertIn(f"agentforge resolve {self.task()[-8:]}", outcome.out)

    def test_the_list_shows_the_question(self):
        self.ask()
        self.assertIn(QUESTION, self.run_program("escalations", "list").out)

    def test_an_answer_goes_into_the_artifact_and_the_task_continues(self):
        self.ask()
        self.assert_code(self.run_program("resolve", self.question["id"], "Yes, digits stay"), 0)
        answered = self.clarification()["questions"][0]
        self.assertEqual((answered["source"], answered["answer"], answered["confidence"]), ("human_escalation", "Yes, digits stay", 1))
        told = self.assert_code(self.run_program("audit", self.task(), "--json"), 0).json["approvals"]
        self.assertEqual([(row["by"], row["said"]) for row in told], [("user", "Yes, digits stay")])

    def test_no_resume_only_answers(self):
        self.ask()
        outcome = self.assert_code(self.run_program("resolve", self.question["id"], "Yes", "--no-resume", "--json"), 0)
        self.assertTrue(outcome.json["answered"])
        self.assertEqual(self.run_program("escalations", "list", "--json").json["escalations"], [])
        self.assert_code(self.run_program("resume", self.task()), 0)

    def test_abort_ends_the_task(self):
        self.ask()
        self.assertEqual(self.run_program("resolve", self.question["id"], "--abort").code, 23)
        self.assertEqual(self.run_program("status", self.task(), "--json").json["status"], "aborted")

    def test_the_first_answer_wins(self):
        self.ask()
        self.run_program("resolve", self.question["id"], "Yes", "--no-resume")
        self.assert_error(self.run_program("resolve", self.question["id"], "No"), "AF-ESC-004", "has your answer and has not continued yet")

    def test_abort_without_resume_says_how_to_end_the_task(self):
        self.ask()
        outcome = self.assert_code(self.run_program("resolve", self.question["id"], "--abort", "--no-resume"), 0)
        self.assertIn(f"The task ends with: agentforge resume {self.task()[-8:]}", outcome.out)
        self.assertEqual(self.run_program("resume", self.task()).code, 23)

    def test_an_answer_and_abort_exclude_each_other(self):
        self.ask()
        self.assert_error(self.run_program("resolve", self.question["id"], "Yes", "--abort"), "AF-CLI-001", "--abort", exit_code=2)
        self.assertEqual(len(self.run_program("escalations", "list", "--json").json["escalations"]), 1)

    def test_no_answer_is_a_usage_error(self):
        self.ask()
        self.assert_error(self.run_program("resolve", self.question["id"]), "AF-CLI-011", exit_code=2)

    def test_an_unknown_id_is_named_with_the_nearest(self):
        self.ask()
        self.assert_error(self.run_program("resolve", self.question["id"][:-1] + "7", "Yes"), "AF-ESC-001", self.question["id"])

    def test_a_file_beside_the_question_is_an_answer(self):
        self.ask()
        self.answer_by_file()
        self.assert_code(self.run_program("resume", self.task()), 0)
        self.assertEqual(self.clarification()["questions"][0]["answer"], "Yes, from a file")

    def answer_by_file(self):
        folder = self.repository / ".agentforge" / "escalations"
        asked = next(p for p in folder.glob("ESC-*.yaml") if not p.name.endswith(".resolution.yaml"))
        answer = {"resolved_by": "an editor", "context": {"answer": "Yes, from a file"}}
        partial = folder.parent / "answer.tmp"
        partial.write_text(yaml.safe_dump(answer))
        partial.rename(folder / (asked.stem + ".resolution.yaml"))

    def test_wait_continues_when_the_file_appears(self):
        transcript = self.folder / "doubtful.yaml"
        transcript.write_text(yaml.safe_dump(doubtful_transcript(), allow_unicode=True), encoding="utf-8")
        process = self.spawn("start", "--transcript", transcript, "--exit-after", "clarify", "--wait", REQUEST)
        folder = self.repository / ".agentforge" / "escalations"
        wait_until(lambda: process.poll() is not None or list(folder.glob("ESC-*.yaml")), "the question")
        self.answer_by_file()
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, out + err)
        self.assertEqual(self.clarification()["questions"][0]["resolved_by"], "an editor")
        self.assertNotIn("already answered", err)


if __name__ == "__main__":
    main()
