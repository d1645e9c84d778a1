# SPDX-License-Identifier: Apache-2.0
"""A goal decides which stages run. A command or the words of the request select it."""

import yaml

from harness import REQUEST, TRANSCRIPT, ProgramTest, main, short_transcript


class TestGoals(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make_repository()

    def plan(self, *arguments, **options):
        outcome = self.assert_code(self.run_program(*arguments, "--transcript", TRANSCRIPT, "--dry-run", "--json", **options), 0).json
        return outcome["pipeline"], outcome["goal"], outcome["decided_by"]

    def test_the_first_word_that_names_a_goal_decides(self):
        for request, expected in (("Design a cache for slow disks", ("design", "design", "Design")), ("Please review the parser", ("review", "review", "review")),
                                  ("Add a design page", ("implement", "implement", "Add")), ("the latest prefix", ("implement", "implement", ""))):
            with self.subTest(request):
                self.assertEqual(self.plan("start", request), expected)

    def test_a_command_overrides_the_words(self):
        self.assertEqual(self.plan("design", "Add a cache"), ("design", "design", ""))
        self.assertEqual(self.plan("implement", "Design a cache"), ("implement", "implement", ""))
        self.assertEqual(self.plan("review", "Add a cache"), ("review", "review", ""))

    def test_a_named_pipeline_overrides_a_configured_one(self):
        self.assertEqual(self.plan("start", "--pipeline", "implement", "Design a cache"), ("implement", "implement", ""))
        self.assertEqual(self.plan("start", "--set", "pipeline.default=design", "Add a cache"), ("design", "design", ""))
        self.assertEqual(self.plan("implement", "--set", "pipeline.default=design", "Add a cache"), ("implement", "implement", ""))

    def test_the_goal_and_the_deciding_word_are_shown_before_the_run(self):
        outcome = self.assert_code(self.start("--exit-after", "intake"), 0)
        self.assertTrue(outcome.err.startswith('agentforge: goal implement, pipeline implement, because of the word "Add" in the request (--pipeline selects another)\n'), outcome)
        self.assertNotIn("goal implement", self.assert_code(self.start("--pipeline", "design", "--exit-after", "intake"), 0).err)

    def test_design_ends_with_a_specification(self):
        self.assert_code(self.run_program("design", "--transcript", TRANSCRIPT, REQUEST), 0)
        self.assertEqual([record["stage"] for record in self.records("stage_completed")], ["intake", "clarify", "analyze", "spec"])
        self.assert_nothing_delivered()

    def test_the_core_loop_of_the_eight_stages_is_unchanged(self):
        """Without an option each stage runs once, in order, and each step has one context, one answer and one action."""
        self.assert_code(self.start(transcript=short_transcript()), 0)
        stages = ["intake", "clarify", "analyze", "spec", "red", "green", "refactor", "deliver"]
        self.assertEqual([record["stage"] for record in self.records("stage_started")], stages)
        self.assertEqual([record["stage"] for record in self.records("stage_completed")], stages)
        beyond = {"stage_skipped", "external_artifact_imported", "approval_requested", "task_continued", "cycle_started"}
        self.assertEqual([record["type"] for record in self.journal() if record["type"] in beyond], [])
        asked = [record["type"] for record in self.journal() if record["type"] in ("answer", "step")]
        self.assertEqual(asked, ["answer", "step"] * len(self.steps()))
        self.assertTrue(self.records("delivered"))

    def test_review_of_a_folder_runs_only_the_analysis_and_writes_nothing(self):
        outcome = self.assert_code(self.run_program("review", "--transcript", TRANSCRIPT, "./textkit/"), 0)
        self.assertEqual([record["stage"] for record in self.records("stage_completed")], ["analyze"], outcome)
        self.assertEqual(self.run_program("status", self.task(), "--json").json["request"], "Review textkit/ of this repository")
        self.assert_nothing_delivered()

    def test_review_of_a_path_is_relative_to_the_current_folder(self):
        outcome = self.assert_code(self.run_program("review", "--transcript", TRANSCRIPT, "--dry-run", "--json", "slug_notes.md", cwd=self.made_folder()), 0)
        self.assertEqual(outcome.json["request"], "Review notes/slug_notes.md of this repository")

    def made_folder(self):
        folder = self.repository / "notes"
        folder.mkdir()
        (folder / "slug_notes.md").write_text("notes\n", encoding="utf-8")
        return folder

    def test_review_refuses_a_missing_or_outside_path(self):
        self.assert_error(self.run_program("review", "--transcript", TRANSCRIPT, "src/ath/"), "AF-CLI-140", "there is no file or folder", "src/ath/")
        self.assert_error(self.run_program("review", "--transcript", TRANSCRIPT, ".."), "AF-CLI-140", "outside the repository")
        self.assertEqual(self.tasks(), [])

    def test_implement_delivers(self):
        file = self.folder / "transcript.yaml"
        file.write_text(yaml.safe_dump(short_transcript(), allow_unicode=True, sort_keys=False), encoding="utf-8")
        self.assert_code(self.run_program("implement", "--transcript", file, REQUEST), 0)
        self.assertTrue(self.records("delivered"))


if __name__ == "__main__":
    main()
