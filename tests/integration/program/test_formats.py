# SPDX-License-Identifier: Apache-2.0
"""Files of older and newer formats: the error names each file and the remedy, and the file does not change."""


from harness import REQUEST, TRANSCRIPT, ProgramTest, main, rewrite_journal


class TestFormats(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make_repository()

    def everything(self):
        return {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file() and ".git" not in path.parts and path.name not in ("lock", "agentforge.log")}

    def paused_task(self):
        self.assert_code(self.start("--approve", "intake", "--exit-after", "intake"), 22)
        return self.task()

    def changed(self, file, before, after):
        text = file.read_text()
        self.assertIn(before, text)
        file.write_text(text.replace(before, after, 1))
        return self.everything()

    def test_a_journal_of_a_newer_format_is_neither_called_damaged_nor_touched(self):
        task = self.paused_task()
        before = self.changed(self.task_folder() / "actions.yaml", "agentforge_journal: 1\n", "agentforge_journal: 2\n")
        for words in (["inspect", task], ["resume", task], ["approve", task], ["logs", task]):
            with self.subTest(words[0]):
                self.assert_error(self.run_program(*words), "AF-JRNL-008", "actions.yaml:1", "format 2", "or a newer one")
        self.assertEqual(self.everything(), before)

    @staticmethod
    def older(record):
        """Removes later additions to format 1: usage of answers, valid prices, the branch that a task began on."""
        return None if record["type"] == "costing" else {key: value for key, value in record.items() if key not in ("usage", "base_branch")}

    @staticmethod
    def newer(record):
        return {**record, "type": "task_weighed"} if record["type"] == "task_started" else record

    def test_a_journal_of_an_older_version_verifies_and_its_task_continues(self):
        task = self.paused_task()
        file = self.task_folder() / "actions.yaml"
        rewrite_journal(file, self.older)
        (self.task_folder() / "state.yaml").unlink()
        (self.state / "proofs" / task).unlink()     # It names a record of the journal before.
        before = file.read_bytes()
        self.assert_journal_verifies()
        self.assertIn("unknown", self.assert_code(self.run_program("cost", task), 0).out)
        self.assertEqual(file.read_bytes(), before)
        self.assert_code(self.go_on("approve", task), 0)
        self.assertTrue(file.read_bytes().startswith(before))
        self.assertEqual(self.run_program("status", task, "--json").json["status"], "completed")

    def test_a_record_of_a_newer_kind_is_named(self):
        task = self.paused_task()
        file = self.task_folder() / "actions.yaml"
        rewrite_journal(file, self.newer)
        before = self.everything()
        self.assert_error(self.run_program("resume", task), "AF-TASK-011", "task_weighed", "newer version")
        self.assertEqual(self.everything(), before)

    def test_a_task_file_of_a_newer_format_is_refused(self):
        task = self.paused_task()
        before = self.changed(self.task_folder() / "task.yaml", "format: 1\n", "format: 2\n")
        self.assert_error(self.run_program("resume", task), "AF-CONF-060", "task.yaml", "format 2")
        self.assertEqual(self.everything(), before)

    def test_a_state_of_another_format_is_rebuilt_from_the_journal(self):
        task = self.paused_task()
        self.changed(self.task_folder() / "state.yaml", '"format": 1', '"format": 2')
        self.assert_code(self.go_on("approve", task, "--quiet"), 0)
        self.assertIn('"format": 1', (self.task_folder() / "state.yaml").read_text())

    def test_a_transcript_of_a_newer_format_is_named_before_a_task_is_made(self):
        file = self.folder / "newer.yaml"
        file.write_text(TRANSCRIPT.read_text().replace("agentforge_transcript: 1", "agentforge_transcript: 2"))
        self.assert_error(self.run_program("start", "--transcript", file, REQUEST), "AF-LLM-204", "newer.yaml:", "version is not 1")
        self.assertEqual(self.tasks(), [])

    def test_a_trust_list_of_a_newer_format_trusts_nothing_and_is_kept(self):
        settings = self.repository / ".agentforge" / "config" / "settings.yaml"
        settings.parent.mkdir(parents=True)
        settings.write_text("llm:\n  base_url: http://localhost:1\n")
        self.assert_code(self.run_program("trust"), 0)
        before = self.changed(self.state / "trusted.yaml", "agentforge_trust: 1", "agentforge_trust: 2")
        for words in (["trust"], ["config", "show"]):
            self.assert_error(self.run_program(*words), "AF-PLUG-041", "agentforge_trust: 1")
        self.assertEqual(self.everything(), before)

    def test_old_keys_are_migrated_in_both_files_or_in_none(self):
        own = self.home / ".agentforge" / "config.yaml"
        own.parent.mkdir()
        own.write_text("budgets:\n  step_tokens: 9000   # more\n")
        own.chmod(0o600)
        settings = self.repository / ".agentforge" / "config" / "settings.yaml"
        settings.parent.mkdir(parents=True)
        settings.write_text("budgets:\n  stage_share_percent:\n    red: 40\n")
        before = self.everything()
        self.assert_error(self.run_program("config", "migrate"), "AF-CONF-044", "budget_share")
        self.assertEqual(self.everything(), before)
        settings.unlink()
        self.assert_code(self.run_program("config", "migrate"), 0)
        self.assertEqual(own.read_text(), "context:\n  max_tokens: 9000   # more\n")
        self.assertEqual(own.stat().st_mode & 0o777, 0o600)
        self.assertIn("Nothing to change", self.run_program("config", "migrate").out)


if __name__ == "__main__":
    main()
