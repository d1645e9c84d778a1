# SPDX-License-Identifier: Apache-2.0
"""Invalid files of a user, a project or a newer version: the error names the place, and nothing changes."""

import fcntl
import os
import pathlib

import yaml

from harness import SOURCE, ProgramTest, load_transcript, main
from untouched import Untouched


class TestSettingsFile(Untouched):
    """The error about a broken settings.yaml names the place."""

    def setUp(self):
        super().setUp()
        self.make_repository()
        self.file = self.repository / ".agentforge/config/settings.yaml"
        self.file.parent.mkdir(parents=True)

    def refuse(self, content, code, *words):
        self.file.write_bytes(content)
        self.assert_refused(lambda: self.start("--exit-after", "intake"), code, "settings.yaml:", *words)

    def test_an_unknown_key(self):
        self.refuse(b"llm:\n  bakend: cli\n", "AF-CONF-020", "settings.yaml:2:", "llm.backend")

    def test_a_duplicate_key(self):
        self.refuse(b"llm:\n  backend: cli\nllm:\n  model: x\n", "AF-CONF-002", "settings.yaml:3:1")

    def test_a_tab(self):
        self.refuse(b"llm:\n\tbackend: cli\n", "AF-CONF-001", "settings.yaml:2:", "tabs")

    def test_a_value_of_the_wrong_type(self):
        self.refuse(b"llm:\n  timeout_seconds: soon\n", "AF-CONF-0", "settings.yaml:2:")

    def test_a_list_in_place_of_a_map(self):
        self.refuse(b"- llm\n", "AF-CONF-0")

    def test_binary_data(self):
        self.file.write_bytes(b"llm: \xff\xfe\x00\n")
        self.assertEqual(self.start("--exit-after", "intake").code, 1)

    def test_a_byte_order_mark_is_accepted(self):
        self.file.write_bytes(b"\xef\xbb\xbfllm:\n  timeout_seconds: 10\n")
        self.assert_code(self.start("--exit-after", "intake"), 0)

    def test_carriage_returns_are_accepted(self):
        self.file.write_bytes(b"llm:\r\n  timeout_seconds: 10\r\n")
        self.assert_code(self.start("--exit-after", "intake"), 0)

    def test_doctor_names_it_too(self):
        self.file.write_bytes(b"llm:\n  bakend: cli\n")
        outcome = self.assert_code(self.run_program("doctor"), 1)
        self.assertIn("settings.yaml:2:", outcome.out)


class TestDefinitionFiles(Untouched):
    """One fault of each kind of file, reported by the whole program. tests/unit/program/wrong_files_test.cpp has all faults of all kinds."""

    def setUp(self):
        super().setUp()
        self.make_repository()
        self.own = self.repository / ".agentforge"

    def refuse(self, name, content, code, *words):
        path = self.own / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        self.assert_refused(self.start, code, *words)

    def test_an_agent_with_a_duplicate_key(self):
        self.refuse("agents/mine.yaml", "agent: 1\nagent: 2\n", "AF-CONF-002", "agents/mine.yaml:2:1")

    def test_an_agent_with_an_unknown_tool(self):
        text = (SOURCE / "config" / "agents" / "software_developer.yaml").read_text(encoding="utf-8")
        self.assertIn("search_codebase,", text)
        self.refuse("agents/software_developer.yaml", text.replace("search_codebase,", "search_codebsae,", 1), "AF-", "search_codebsae")

    def test_an_agent_that_extends_an_unknown_agent(self):
        self.refuse("agents/mine.yaml", 'extends: "agentforge:nobody"\n', "AF-AGENT-004", "nobody", "agents/mine.yaml:1:")

    def test_a_contract_with_an_unknown_key(self):
        self.refuse("contracts/mine.yaml", "contrat: mine\n", "AF-CONT-003", "`contrat`", "contracts/mine.yaml:1:")

    def test_a_pipeline_with_a_stage_that_no_plugin_provides(self):
        self.refuse("pipelines/implement.yaml", 'pipeline:\n  name: implement\n  extends: nothing\n', "AF-PIPE-", "pipelines/implement.yaml:")

    def test_an_orchestration_of_an_unknown_stage(self):
        self.refuse("orchestration/pipeline.yaml", "pipeline:\n  stages:\n    grene: {primary: software_developer}\n", "AF-PIPE-007", "grene", "green")

    def test_an_orchestration_of_an_unknown_agent(self):
        self.refuse("orchestration/pipeline.yaml", "pipeline:\n  stages:\n    green: {primary: software_develper}\n", "AF-", "software_develper")

    def test_a_language_with_an_unknown_key(self):
        self.refuse("languages/mine.yaml", "agentforge_language: 1\nnmae: mine\n", "AF-GATE-010", "nmae", "languages/mine.yaml:2:")

    def test_a_conformance_file_with_an_unknown_key(self):
        self.refuse("conformance/mine.yaml", "agentforge_conformance: 1\ncategry: x\n", "AF-GATE-020", "categry", "conformance/mine.yaml:2:")

    def test_a_language_of_a_newer_format(self):
        self.refuse("languages/mine.yaml", "agentforge_language: 2\nname: mine\n", "AF-GATE-010", "languages/mine.yaml:1:")

    def test_an_invalid_plugin_manifest_is_named_and_its_plugin_skipped(self):
        plugin = self.folder / "plugins" / "mine"
        plugin.mkdir(parents=True)
        (plugin / "plugin.json").write_text('{"id": "a", "id": "b"}')
        outcome = self.assert_code(self.run_program("plugins", "list", environment=dict(self.environment, AGENTFORGE_PLUGIN_PATH=str(self.folder / "plugins"))), 0)
        self.assertIn("AF-PLUG-002", outcome.err)
        self.assertIn("plugin.json:1:", outcome.err)

    def test_a_file_with_an_unexpected_extension(self):
        self.refuse("agents/mine.json", "{}", "AF-CONF-080", "agents/mine.json")


class TestTaskFiles(Untouched):
    """A task's files in a newer format, or while another process holds the task: no command reads or changes them."""

    def setUp(self):
        super().setUp()
        self.make_repository()
        self.assert_code(self.start("--approve", "intake"), 22)
        self.id = self.task()

    def replace(self, name, old, new):
        path = self.task_folder() / name
        text = path.read_text(encoding="utf-8")
        self.assertIn(old, text)
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    def test_a_journal_of_a_newer_format(self):
        self.replace("actions.yaml", "agentforge_journal: 1", "agentforge_journal: 2")
        for command in (("resume", self.id), ("inspect", self.id), ("approve", self.id), ("abort", self.id)):
            with self.subTest(command[0]):
                self.assert_refused(lambda: self.run_program(*command), "AF-JRNL-008", "actions.yaml")

    def test_a_task_of_a_newer_format(self):
        self.replace("task.yaml", "format: 1", "format: 2")
        self.assert_refused(lambda: self.run_program("resume", self.id), "AF-CONF-060", "task.yaml:1:")

    def test_without_its_settings_a_task_does_not_continue(self):
        (self.task_folder() / "task.yaml").unlink()
        self.assert_refused(lambda: self.run_program("resume", self.id), "AF-TASK-004", "has no `task.yaml`", "abort")

    def test_without_its_settings_a_task_can_be_aborted(self):
        (self.task_folder() / "task.yaml").unlink()
        self.assert_code(self.run_program("abort", self.id), 0)
        self.assertEqual(self.run_program("status", self.id, "--json").json["status"], "aborted")

    def test_a_task_whose_base_commit_is_gone_can_be_aborted(self):
        commit = self.git("rev-parse", "HEAD").strip()
        self.git("commit", "--amend", "-q", "-m", "rewritten")
        self.git("reflog", "expire", "--expire=now", "--all")
        for reference in self.git("for-each-ref", "--format=%(refname)", "refs/agentforge").split():
            self.git("update-ref", "-d", reference)
        self.git("worktree", "prune")
        (self.repository / ".git/objects" / commit[:2] / commit[2:]).unlink(missing_ok=True)
        outcome = self.assert_code(self.run_program("abort", self.id), 0)
        self.assertIn("Aborted", outcome.out)

    def test_a_journal_without_records_gets_the_same_verdict_everywhere(self):
        journal = self.task_folder() / "actions.yaml"
        os.truncate(journal, journal.read_bytes().index(b"actions:\n") + len(b"actions:\n"))
        for command in ("status", "inspect", "logs", "resume"):
            with self.subTest(command):
                outcome = self.assert_code(self.run_program(command, self.id), 1)
                self.assertIn("AF-TASK-014", outcome.err)
        listed = self.run_program("status")
        self.assertIn("AF-TASK-014", listed.err)
        self.assertNotIn("agentforge resume", listed.out)

    def test_a_question_whose_file_was_lost_still_waits_and_is_rewritten(self):
        (asked,) = self.run_program("escalations", "list", "--json").json["escalations"]
        record = self.repository / ".agentforge/escalations" / (asked["id"] + ".yaml")
        before = record.read_bytes()
        record.unlink()
        listed = self.run_program("escalations", "list")
        self.assertIn("AF-ESC-001", listed.err)
        self.assertIn("agentforge resume " + self.id[-8:], listed.err)
        self.assertIn(asked["id"], listed.out)
        self.assert_error(self.run_program("approve", self.id), "AF-ESC-001", "agentforge resume " + self.id[-8:])
        self.assert_code(self.go_on("resume", self.id), 22)
        self.assertEqual(record.read_bytes(), before)
        shown = self.run_program("escalations", "show", asked["id"], "--json").json
        artifact = yaml.safe_load(pathlib.Path(shown["artifact_file"]).read_text(encoding="utf-8"))
        self.assertEqual(shown["artifact"], {key: value for key, value in artifact.items() if key not in ("_artifact_meta", "_metadata")})

    def test_a_damaged_journal_changes_the_exit_code(self):
        journal = self.task_folder() / "actions.yaml"
        os.truncate(journal, journal.read_bytes().index(b"actions:\n") + 40)      # In the first record.
        shown = self.run_program("status", self.id)
        self.assert_code(shown, 1)
        self.assertIn(self.id[-8:], shown.out)
        self.assertIn("AF-TASK-014", shown.err)

    def test_another_running_agentforge_is_named(self):
        descriptor = os.open(self.task_folder() / "lock", os.O_RDWR)
        self.addCleanup(os.close, descriptor)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        outcome = self.assert_refused(lambda: self.run_program("resume", self.id), "AF-TASK-003", "agentforge logs TASK --follow", "agentforge pause TASK")
        self.assertNotIn("abort", outcome.err)


class TestTranscript(ProgramTest):
    """AgentForge finds a transcript without usable answers before a task exists."""

    def setUp(self):
        super().setUp()
        self.make_repository()

    def test_a_missing_file_is_named_before_anything_is_made(self):
        self.assert_error(self.start(transcript=self.folder / "missing.yaml"), "AF-LLM-205", "missing.yaml")
        self.assertFalse((self.repository / ".agentforge").exists())

    def test_a_path_that_is_not_a_regular_file_is_refused_without_waiting(self):
        os.mkfifo(self.folder / "pipe")
        for path in ("/dev/zero", self.folder, self.folder / "pipe"):
            with self.subTest(str(path)):
                self.assert_error(self.run_program("start", "--transcript", path, "Do it"), "AF-LLM-205", "not a regular file")
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

    def test_a_missing_answer_pauses_the_task_and_names_the_step(self):
        transcript = load_transcript()
        transcript["entries"] = [e for e in transcript["entries"] if e["stage"] != "analyze"]
        outcome = self.assert_error(self.start("--exit-after", "analyze", transcript=transcript), "AF-LLM-201", "'analyze'", "step 1")
        self.assertIn("agentforge resume TASK --set llm.backend=auto", outcome.err)
        # With the complete transcript in the same place, the task continues.
        (self.folder / "transcript.yaml").write_text(yaml.safe_dump(load_transcript(), allow_unicode=True), encoding="utf-8")
        self.assert_code(self.run_program("resume", self.task()), 0)
        self.assertEqual([s["step"] for s in self.steps()], [1, 2, 3, 4, 5, 6])


if __name__ == "__main__":
    main()
