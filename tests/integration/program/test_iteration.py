# SPDX-License-Identifier: Apache-2.0
"""Iteration: a person looks at an artifact and approves it, has it revised, goes back, ends with it or continues beyond it; and tasks that continue after their end."""

import copy
import os
import re
import shlex
import stat

import yaml

from harness import REQUEST, SOURCE, ProgramTest, entry, main, short_transcript, wait_until
from terminal import Terminal


def again(transcript, stage, visit=2, **changes):
    """Repeats the answers of a stage for another visit. `changes`: fields of the artifact that its author hands in."""
    for found in [e for e in transcript["entries"] if e["stage"] == stage and "visit" not in e]:
        other = dict(copy.deepcopy(found), visit=visit)
        if found["role"] == "software_architect" and other["tool_calls"][0]["name"] == "complete":
            other["tool_calls"][0]["arguments"].update(copy.deepcopy(changes))
        transcript["entries"].append(other)
    return transcript


def requirements(**criteria):
    """Returns the transcript's requirements, with other acceptance criteria for those in `criteria`."""
    found = copy.deepcopy(entry(short_transcript(), "spec", 1, "software_architect")["tool_calls"][0]["arguments"]["requirements"])
    for requirement in found:
        requirement["acceptance_criteria"] = criteria.get(requirement["id"].replace("-", "_"), requirement["acceptance_criteria"])
    return found


class IterationTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make_repository()

    def design(self, *arguments, transcript=None, command="design"):
        self.write_transcript(transcript or short_transcript())
        return self.run_program(command, "--transcript", self.transcript, *arguments, REQUEST)

    def write_transcript(self, transcript):
        self.transcript = self.folder / "transcript.yaml"
        self.transcript.write_text(yaml.safe_dump(transcript, allow_unicode=True, sort_keys=False), encoding="utf-8")
        self.transcript_arguments = ["--set", "llm.backend=replay", "--set", f"llm.transcript={self.transcript}"]

    def status(self):
        return self.assert_code(self.run_program("status", self.task(), "--json"), 0).json

    def spec(self):
        return self.status()["stages"]["spec"]

    def file(self, name):
        return self.task_folder() / name

    def pipeline(self, name, stages, more=""):
        """Writes a pipeline template of the project."""
        file = self.repository / f".agentforge/pipelines/{name}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"pipeline:\n  name: {name}\n  description: Ours\n  goal_type: design\n{more}  stages:\n{stages.lstrip(chr(10))}", encoding="utf-8")

    def spec_file(self):
        file = self.folder / "spec.yaml"
        file.write_text(yaml.safe_dump(entry(short_transcript(), "spec", 1, "software_architect")["tool_calls"][0]["arguments"], allow_unicode=True), encoding="utf-8")
        return file

    def commit(self, path, text, message):
        (self.repository / path).write_text(text, encoding="utf-8")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD").strip()

    def feedback_file(self, **feedback):
        file = self.folder / "feedback.yaml"
        file.write_text(yaml.safe_dump(feedback, sort_keys=False), encoding="utf-8")
        return file


class TestIteration(IterationTest):
    def test_does_not_wait_without_a_terminal_or_a_flag(self):
        outcome = self.assert_code(self.design(), 0)
        self.assertEqual(self.records("approval_requested"), [])
        self.assertIn(f"agentforge continue {self.task()[-8:]} --revise", outcome.out)
        self.assertEqual(outcome.out.count("Do you want to continue with the implementation?"), 1)

    def test_iterate_shows_the_artifact_and_approve_ends_at_the_default_exit(self):
        outcome = self.assert_code(self.design("--iterate"), 22)
        for words in ("version 1 of artifacts/phases/spec/specification.yaml", "Review the specification.", "rejecting it goes back to stage analyze", "agentforge approve", "agentforge feedback", "agentforge reject"):
            self.assertIn(words, outcome.out)
        self.assertEqual(self.spec()["artifact_state"], "pending_review")
        self.assertEqual(self.spec()["iteration"]["awaiting"], "user_decision")
        self.assert_code(self.run_program("approve", self.task()), 0)
        self.assertEqual([r["exit_type"] for r in self.records("task_completed")], ["default_exit"])
        self.assertEqual(self.spec()["artifact_state"], "final")
        approval = yaml.safe_load(self.file("iteration_history/spec/v1_approval.yaml").read_text())["approval"]
        self.assertEqual((approval["decision"], approval["iteration"]), ("approve", 1))
        self.assertEqual(approval["artifact_hash"], self.spec()["artifact_hash"])
        self.assert_code(self.run_program("audit", "verify", self.task()), 0)

    def test_iterate_at_asks_there_and_refuses_a_stage_that_does_not_iterate(self):
        self.assert_error(self.design("--iterate-at", "analyze"), "AF-CLI-160", "does not iterate", "these do: spec", "--approve analyze")
        self.assert_error(self.design("--iterate-at", "spec", "--exit-after", "analyze"), "AF-CLI-160", "ends at stage `analyze`, before it")
        self.assert_error(self.design("--iterate", "--exit-after", "analyze"), "AF-CLI-161", "before the task ends at `analyze`")
        self.assertEqual(self.tasks(), [])
        self.assert_code(self.design("--iterate-at", "spec", command="implement"), 22)
        self.assertEqual(self.status()["current_stage"], "spec")

    def test_a_dry_run_says_where_a_person_will_see_the_artifact(self):
        stages = self.assert_code(self.design("--iterate", "--dry-run", "--json"), 0).json["stages"]
        self.assertEqual([(stage["name"], stage["iterates"]) for stage in stages], [("intake", False), ("clarify", False), ("analyze", False), ("spec", True)])

    def test_the_setting_shows_every_iterable_stage_and_no_iterate_none(self):
        self.assert_code(self.design("--set", "pipeline.iterate=always", "--no-iterate"), 0)
        self.assertEqual(self.records("approval_requested"), [])

    def test_the_setting_always_equals_iterate(self):
        self.assert_code(self.design("--set", "pipeline.iterate=always"), 22)

    def test_an_iterable_stage_is_shown_on_request(self):
        """A stage has two properties: `iterable` allows iteration, `iterate` makes it the default on a terminal."""
        self.pipeline("mine", '''
    - {name: intake, entry_point: true, exit_point: false, iterable: false, skippable_if: external_spec_provided, output_contract: intake_record}
    - {name: clarify, entry_point: false, exit_point: false, iterable: false, skippable_if: "no_ambiguities OR external_spec_provided", output_contract: clarification}
    - {name: analyze, entry_point: true, exit_point: true, iterable: false, skippable_if: never, output_contract: analysis}
    - {name: spec, entry_point: false, exit_point: true, iterable: true, max_iterations: 5, skippable_if: external_spec_provided, output_contract: specification, reviewers: [security_architect]}
''')
        for words in (("--iterate",), ("--iterate-at", "spec"), ("--set", "pipeline.iterate=always")):
            with self.subTest(words):
                stages = self.assert_code(self.design("--pipeline", "mine", *words, "--dry-run", "--json", command="start"), 0).json["stages"]
                self.assertEqual([stage["name"] for stage in stages if stage["iterates"]], ["spec"])
        self.assertIn("iterates on request", self.run_program("pipelines", "show", "mine").out)
        outcome = self.assert_code(self.design("--pipeline", "mine", "--iterate", command="start"), 22)
        self.assertIn("revised 0 of 5 times", outcome.out)

    def test_feedback_creates_a_new_version_and_the_agent_knows_its_number(self):
        transcript = again(short_transcript(), "spec", title="Add slugify, revised")
        self.assert_code(self.design("--iterate", transcript=transcript), 22)
        outcome = self.assert_code(self.run_program("feedback", self.task(), "Say that it is revised"), 22)
        self.assertIn("version 2 of artifacts/phases/spec/specification.yaml, revised 1 of 5 times", outcome.out)
        step = next(s for s in self.steps() if s["phase"] == "spec" and s["visit"] == 2)
        context = self.run_program("inspect", self.task(), "--step", step["step"], "--show", "context").out
        for words in ("iteration_context", "iteration: 2", "max_iterations: 5", "overall: ", "Say that it is revised", "specification_v1.yaml", "hand in version 2"):
            self.assertIn(words, context)
        self.assert_code(self.run_program("approve", self.task()), 0)
        folder = self.file("artifacts/phases/spec")
        self.assertNotIn("revised", (folder / "specification_v1.yaml").read_text())
        self.assertIn("revised", (folder / "specification_v2.yaml").read_text())
        self.assertEqual((folder / "specification_final.yaml").read_text(), (folder / "specification_v2.yaml").read_text())
        self.assertEqual([(v["version"], v["decision"]) for v in self.spec()["iteration"]["history"]], [(1, "revise"), (2, "approve")])

    def test_feedback_reaches_the_agent_within_its_budget(self):
        """The limit of a context also holds for iterations: with the longest feedback, no step has more than 8,000 tokens."""
        self.assert_code(self.design("--iterate", transcript=again(short_transcript(), "spec", title="Add slugify, revised")), 22)
        words = " ".join(f"Say what happens to the letter {number}." for number in range(95))
        self.assert_code(self.go_on("feedback", self.task(), "--file", self.feedback_file(must_address=[words[:3900]], overall_comments="x" * 8000)), 22)
        told = [step for step in self.steps() if step["phase"] == "spec" and step["visit"] == 2]
        self.assertTrue(told)
        context = self.run_program("inspect", self.task(), "--step", told[0]["step"], "--show", "context").out
        self.assertIn("iteration_context", context)
        self.assertIn("Say what happens to the letter 90.", context)
        for step in told:
            self.assertLessEqual(step["section_tokens"]["total"], 8000)

    def test_a_clarifying_question_is_not_an_iteration(self):
        """Clarification asks a question, iteration shows an artifact. The task does one after the other, and counts them separately."""
        transcript = short_transcript()
        question = "Do digits stay in a slug?"
        entry(transcript, "intake", 1)["tool_calls"][0]["arguments"]["identified_ambiguities"] = [{"area": "characters", "question": question, "impact": "blocking"}]
        clarified = entry(transcript, "clarify", 1)["tool_calls"][0]["arguments"]
        clarified["questions"] = [{"question": question, "source": "agent_inference", "answer": "Perhaps", "confidence": 0.6, "evidence": []}]
        self.assert_code(self.design("--iterate", transcript=again(transcript, "clarify")), 22)
        asked = self.records("escalation_raised")[0]["escalation_id"]
        self.assertEqual(self.records("approval_requested"), [])
        self.assert_code(self.go_on("resolve", asked, "Yes, digits stay"), 22)
        self.assertEqual([r["stage"] for r in self.records("approval_requested")], ["spec"])
        self.assertEqual(self.status()["stages"]["clarify"]["iterations"] if "iterations" in self.status()["stages"]["clarify"] else 0, 0)
        self.assert_code(self.run_program("approve", self.task()), 0)

    def test_diff_shows_the_difference_between_two_versions(self):
        self.design("--iterate", transcript=again(short_transcript(), "spec", title="Add slugify, revised"))
        self.assert_error(self.run_program("diff", self.task(), "--artifact", "spec"), "AF-CLI-164", "has one version", "agentforge feedback", "No stage has several versions")
        self.run_program("feedback", self.task(), "Say that it is revised")
        patch = self.assert_code(self.run_program("diff", self.task(), "--artifact", "spec"), 0).out
        changed = [line for line in patch.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
        self.assertEqual(len(changed), 2, patch)
        self.assertIn("revised", changed[1])
        self.assertEqual(self.run_program("diff", self.task(), "--artifact", "spec", "--from", "1", "--to", "2").out, patch)
        self.assert_error(self.run_program("diff", self.task(), "--artifact", "spec", "--from", "7"), "AF-CLI-164", "no version 7", "1, 2")
        self.assert_error(self.run_program("diff", self.task(), "--artifact", "sepc"), "AF-CLI-164", "has no stage", "Stages with several versions: spec (2)")
        self.assert_error(self.run_program("diff", self.task(), "--artifact", "analyze"), "AF-CLI-164", "has one version", "Stages with several versions: spec (2)")

    def test_exit_ends_the_task_with_this_version(self):
        self.assert_code(self.design("--iterate", command="implement"), 22)
        self.assert_code(self.run_program("approve", self.task(), "--exit"), 0)
        self.assertEqual([(r["exit_stage"], r["exit_type"]) for r in self.records("task_completed")], [("spec", "user_exit")])
        self.assertTrue(self.file("artifacts/phases/spec/specification_final.yaml").exists())
        self.assertEqual(self.spec()["artifact_state"], "final")
        self.assert_nothing_delivered()

    def test_reject_goes_back_one_stage_and_names_discarded_artifacts(self):
        transcript = again(again(short_transcript(), "analyze"), "spec")
        self.assert_code(self.design("--iterate", transcript=transcript), 22)
        outcome = self.assert_code(self.run_program("reject", self.task(), "--reason", "The analysis missed the command line"), 22)
        self.assertIn("back from spec to analyze", outcome.err)
        self.assertEqual([(r["decision"], r["approved"]) for r in self.records("approval_decided")], [("reject", False)])
        self.assertEqual([r["to"] for r in self.records("cycle_started")], ["analyze"])
        way = self.assert_code(self.run_program("history", self.task(), "--json"), 0).json["way"]
        self.assertEqual([(point["stage"], point["detail"]) for point in way if point["what"] == "rejected"], [("spec", "The analysis missed the command line")])
        step = next(s for s in self.steps() if s["phase"] == "analyze" and s["visit"] == 2)
        self.assertIn("missed the command line", self.run_program("inspect", self.task(), "--step", step["step"], "--show", "context").out)
        self.assertEqual(self.spec()["iteration"]["current"], 2)
        self.assert_code(self.run_program("approve", self.task()), 0)

    def test_reject_of_a_supervised_task_ends_it(self):
        self.assert_code(self.design("--iterate", "--supervised", "--approve", "spec", "--exit-after", "spec"), 22)
        self.assert_code(self.run_program("reject", self.task()), 23)
        self.assertEqual(self.status()["status"], "aborted")

    def test_the_reason_of_a_rejection_is_shown_with_it(self):
        self.assert_code(self.design("--iterate", "--supervised", "--approve", "spec", "--exit-after", "spec"), 22)
        self.assert_code(self.run_program("reject", self.task(), "--reason", "It is about titles in print"), 23)
        self.assertIn("was rejected: It is about titles in print", self.status()["error"])
        self.assertIn("was rejected: It is about titles in print", self.assert_code(self.run_program("status", self.task()), 0).out)
        way = self.assert_code(self.run_program("history", self.task(), "--json"), 0).json["way"]
        self.assertEqual([point["detail"] for point in way if point["what"] == "rejected"], ["It is about titles in print"])

    def test_an_answer_in_a_file_may_say_any_decision(self):
        self.assert_code(self.design("--iterate", command="implement"), 22)
        waiting = self.run_program("escalations", "list", "--json").json["escalations"][0]["id"]
        answer = self.repository / f".agentforge/escalations/{waiting}.resolution.yaml"
        answer.write_text("decision: leave\n", encoding="utf-8")
        self.assert_error(self.run_program("resume", self.task()), "AF-ESC-005", "it is approve, revise, reject, exit or extend")
        answer.write_text("approved: false\ndecision: exit\n", encoding="utf-8")
        self.assert_error(self.run_program("resume", self.task()), "AF-ESC-005", "contradicts")
        answer.write_text("decision: exit\n", encoding="utf-8")
        self.assert_code(self.run_program("resume", self.task()), 0)
        self.assertEqual([r["exit_type"] for r in self.records("task_completed")], ["user_exit"])

    def early(self, identity, text):
        folder = self.repository / ".agentforge/escalations"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{identity}.resolution.yaml").write_text(text, encoding="utf-8")
        return folder / f"{identity}.early-1.yaml"

    def test_an_answer_older_than_its_version_is_ignored(self):
        self.assert_code(self.design("--iterate", transcript=again(short_transcript(), "spec", title="Add slugify, revised")), 22)
        first = self.status()["approval"]["id"]
        aside = self.early(first[:-1] + "2", "approved: true\n")
        outcome = self.assert_code(self.run_program("feedback", self.task(), "Say that it is revised"), 22)
        self.assertIn("AF-ESC-068", outcome.err)
        self.assertEqual(aside.read_text(encoding="utf-8"), "approved: true\n")
        self.assertEqual([v["decision"] for v in self.spec()["iteration"]["history"]], ["revise", ""])
        self.assertEqual([e["id"] for e in self.run_program("escalations", "list", "--json").json["escalations"]], [first[:-1] + "2"])
        self.assert_code(self.run_program("approve", self.task()), 0)

    def test_a_file_that_both_approves_and_requests_changes_is_refused(self):
        self.assert_code(self.design("--iterate"), 22)
        answer = self.repository / f".agentforge/escalations/{self.status()['approval']['id']}.resolution.yaml"
        answer.write_text("approved: true\nfeedback: change the title\n", encoding="utf-8")
        self.assert_error(self.run_program("resume", self.task()), "AF-ESC-005", "`feedback` contradicts the decision to approve", ":2:")
        self.assertEqual(self.records("approval_decided"), [])

    def test_a_replay_makes_the_same_decisions(self):
        self.design("--iterate", transcript=again(short_transcript(), "spec", title="Add slugify, revised"))
        self.run_program("feedback", self.task(), "Say that it is revised")
        self.run_program("approve", self.task())
        self.assert_code(self.run_program("replay", self.task(), "--verify"), 0)


class TestIterationFeedbackFile(IterationTest):
    MUST = {"location": "requirements.REQ-003", "issue": "Missing a measurable criterion", "suggestion": "Name three titles", "priority": "must_address"}

    def test_addressed_issues_are_measured(self):
        changed = requirements(REQ_003=["'?!' becomes ''", "'…' becomes ''"])
        self.assert_code(self.design("--iterate", transcript=again(short_transcript(), "spec", requirements=changed)), 22)
        file = self.feedback_file(feedback={"stage": "spec", "iteration": 2, "previous_version": "artifacts/specification_v1.yaml", "decision": "revise", "overall_comments": "On the right track", "specific_issues": [self.MUST],
                                            "should_consider": ["Say what happens with emoji"]})
        outcome = self.assert_code(self.run_program("feedback", self.task(), "--file", file), 22)
        self.assertNotIn("NOT addressed", outcome.out)
        self.assertEqual([a["result"] for a in self.records("artifact_accepted")[-1]["answers"]], ["changed"])
        step = next(s for s in self.steps() if s["phase"] == "spec" and s["visit"] == 2)
        context = self.run_program("inspect", self.task(), "--step", step["step"], "--show", "context").out
        for words in ("must_address", "requirements.REQ-003: Missing a measurable criterion (Name three titles)", "should_consider", "Say what happens with emoji", "On the right track"):
            self.assertIn(words, context)
        kept = yaml.safe_load(self.file("iteration_history/spec/v1_feedback.yaml").read_text())["feedback"]
        self.assertEqual(kept["specific_issues"][0], self.MUST)
        self.assertEqual(kept["previous_version"], "artifacts/phases/spec/specification_v1.yaml")

    def test_an_unaddressed_issue_is_requested_once_more_and_then_reported(self):
        transcript = again(again(short_transcript(), "spec", title="Add slugify, better"), "spec", visit=3, title="Add slugify, better")
        self.assert_code(self.design("--iterate", transcript=transcript), 22)
        outcome = self.assert_code(self.run_program("feedback", self.task(), "--file", self.feedback_file(specific_issues=[self.MUST])), 22)
        self.assertEqual(len(self.records("artifact_rejected")), 1)
        self.assertIn("but it is unchanged: requirements.REQ-003: Missing a measurable criterion", self.records("artifact_rejected")[0]["errors"][0])
        self.assertIn("NOT addressed, unchanged: requirements.REQ-003: Missing a measurable criterion", outcome.out)
        for command in (("status", self.task()), ("escalations", "show", self.status()["approval"]["id"])):
            self.assertIn("NOT addressed, unchanged: requirements.REQ-003", self.assert_code(self.run_program(*command), 0).out)

    def test_an_issue_without_a_position_is_left_to_the_person(self):
        self.assert_code(self.design("--iterate", transcript=again(short_transcript(), "spec", title="Add slugify, better")), 22)
        outcome = self.assert_code(self.run_program("feedback", self.task(), "--file", self.feedback_file(must_address=["Rate limiting is not addressed"])), 22)
        self.assertIn("check it yourself, because it names no place in the artifact: Rate limiting is not addressed", outcome.out)

    def test_a_position_that_neither_version_has_is_named(self):
        self.assert_code(self.design("--iterate", transcript=again(short_transcript(), "spec", title="Add slugify, better")), 22)
        outcome = self.assert_code(self.run_program("feedback", self.task(), "--file", self.feedback_file(specific_issues=[dict(self.MUST, location="requirements.REQ-099")])), 22)
        told = "check it yourself, because neither version has `requirements.REQ-099`: Missing a measurable criterion"
        self.assertIn(told, outcome.out)
        self.assertIn(told, self.assert_code(self.run_program("status", self.task()), 0).out)

    def test_an_invalid_file_is_refused_with_its_line_and_decides_nothing(self):
        self.assert_code(self.design("--iterate"), 22)
        for content, words in (("specific_issues:\n  - {location: a, isue: b}\n", (":2:", "did you mean `issue`?")), ("specific_issues:\n  - {issue: b, priority: high}\n", ("`priority`", "should_consider")),
                               ("stage: red\noverall_comments: x\n", ("`stage`", "`spec`")), ("iteration: 4\noverall_comments: x\n", ("version 1 waits",)), ("iteration: 2\noverall_comments: x\n", ("version 1 waits",)),
                               ("iteration: 3\nprevious_version: artifacts/specification_v1.yaml\noverall_comments: x\n", ("version 1 waits",)), ("decision: approve\n", ("`decision`", "asks for changes")),
                               ("must_address: [a]\nprevious_version: artifacts/phases/spec/specification_v9.yaml\n", (":2:", "`previous_version`", "version 1 waits")), ("must_address: [a]\nprevious_version: 7\n", ("`previous_version`",)),
                               ("overall_comments: ''\n", ("is empty",)), ("- a\n", ("is not a map",)), ("must_address:\n  - {location: requirements..REQ-003, issue: b}\n", (":2:", "`location`", "names no place")),
                               ("must_address:\n  - {location: \"REQ\\0\", issue: b}\n", ("`location`",))):
            with self.subTest(content):
                file = self.folder / "wrong.yaml"
                file.write_text(content, encoding="utf-8")
                self.assert_error(self.run_program("feedback", self.task(), "--file", file), "AF-ESC-064", *words)
        long = self.feedback_file(must_address=["x" * 4100])
        self.assert_error(self.run_program("feedback", self.task(), "--file", long), "AF-ESC-065", "at most 4000")
        self.assert_error(self.run_program("feedback", self.task()), "AF-CLI-162", "--file FILE", exit_code=2)
        self.assert_error(self.run_program("feedback", self.task(), "--file", long, "--fil"), "AF-CLI-001", "has no option `--fil`", "did you mean `--file`", exit_code=2)
        self.assert_error(self.run_program("feedback", self.task(), "--file", long, "Shorten it"), "AF-CLI-001", "--file", "COMMENT", "cannot be used together", exit_code=2)
        self.assertEqual(self.status()["waiting_for"], "approval")


class TestIterationLifeCycle(IterationTest):
    def test_a_final_artifact_is_read_only_and_a_change_on_disk_is_found(self):
        self.design("--iterate")
        self.run_program("approve", self.task())
        final = self.file("artifacts/phases/spec/specification_final.yaml")
        self.assertEqual(stat.S_IMODE(final.stat().st_mode) & 0o222, 0)
        self.assertEqual(self.status()["changed_artifacts"], [])
        final.chmod(0o644)
        final.write_text(final.read_text().replace("Add slugify", "Add something else"), encoding="utf-8")
        self.assertEqual(self.status()["changed_artifacts"], ["artifacts/phases/spec/specification_final.yaml"])
        self.assertIn("CHANGED on disk since it was accepted: artifacts/phases/spec/specification_final.yaml", self.run_program("status", self.task()).out)
        self.assert_error(self.run_program("continue", self.task()), "AF-ORCH-051", "specification_final.yaml")
        # The error advises to remove the file.
        final.unlink()
        self.assert_code(self.go_on("continue", self.task(), "--extend-to", "red"), 0)

    def test_a_changed_external_artifact_is_refused(self):
        self.assert_code(self.design("--from-spec", self.spec_file(), "--exit-after", "red", command="implement"), 0)
        name = "external_inputs/specification.yaml"
        file = self.file(name)
        self.assertEqual(self.status()["changed_artifacts"], [])
        file.chmod(0o644)
        file.write_text(file.read_text(encoding="utf-8").replace("Add slugify", "Add something else"), encoding="utf-8")
        self.assertEqual(self.status()["changed_artifacts"], [name])
        self.assert_error(self.go_on("continue", self.task()), "AF-ORCH-051", name, "remove these files")
        self.assertEqual(self.records("task_continued"), [])
        file.unlink()
        self.assert_code(self.go_on("continue", self.task(), "--extend-to", "green"), 0)
        self.assertIn("Add slugify", file.read_text(encoding="utf-8"))

    def test_a_removed_artifact_is_restored(self):
        self.design()
        file = self.file("artifacts/phases/spec/specification.yaml")
        before = yaml.safe_load(file.read_text())
        file.write_text("title: something else\n", encoding="utf-8")
        self.assert_error(self.run_program("continue", self.task()), "AF-ORCH-051", "specification.yaml", "remove these files")
        self.assert_error(self.run_program("continue", self.task(), "--revise"), "AF-ORCH-051")
        file.unlink()
        self.assert_code(self.go_on("continue", self.task(), "--extend-to", "red"), 0)
        self.assertEqual(yaml.safe_load(file.read_text())["requirements"], before["requirements"])

    def test_a_removed_version_is_restored(self):
        self.assert_code(self.design("--iterate", transcript=again(short_transcript(), "spec", title="Add slugify, revised")), 22)
        self.assert_code(self.run_program("feedback", self.task(), "Say that it is revised"), 22)
        self.assert_code(self.run_program("approve", self.task()), 0)
        file = self.file("artifacts/phases/spec/specification_v1.yaml")
        before = yaml.safe_load(file.read_text(encoding="utf-8"))
        file.write_text("title: something else\n", encoding="utf-8")
        self.assert_error(self.run_program("continue", self.task()), "AF-ORCH-051", "specification_v1.yaml", "remove these files")
        file.unlink()
        self.assert_code(self.go_on("continue", self.task(), "--extend-to", "red"), 0)
        after = yaml.safe_load(file.read_text(encoding="utf-8"))
        self.assertEqual((after["title"], after["requirements"]), (before["title"], before["requirements"]))
        self.assertEqual(after["_artifact_meta"]["created_at"], self.spec()["iteration"]["history"][0]["presented_at"])

    def test_a_comment_in_a_shown_artifact_is_a_change(self):
        self.design("--iterate")
        file = self.file("artifacts/phases/spec/specification.yaml")
        before = file.read_text(encoding="utf-8")
        file.write_text(before + "# Fine with me\n", encoding="utf-8")
        self.assertEqual(self.status()["changed_artifacts"], ["artifacts/phases/spec/specification.yaml"])
        self.assert_error(self.run_program("approve", self.task()), "AF-ESC-047", "specification.yaml")
        file.write_text(before, encoding="utf-8")
        self.assert_code(self.run_program("approve", self.task()), 0)
        self.assert_code(self.run_program("audit", "verify", self.task()), 0)

    def artifact_states(self, *names):
        stages = self.status()["stages"]
        return [stages[name].get("artifact_state") for name in names]

    def test_an_artifact_becomes_approved_when_the_next_stage_builds_on_it(self):
        self.assert_code(self.design("--iterate"), 22)
        self.assertEqual(self.artifact_states("intake", "analyze", "spec"), ["approved", "approved", "pending_review"])

    def test_an_artifact_is_a_draft_until_it_satisfies_its_contract(self):
        transcript = short_transcript()
        entry(transcript, "spec", 1, "software_architect")["tool_calls"] = []
        self.assertNotEqual(self.design(transcript=transcript).code, 0)
        self.assertEqual(self.artifact_states("analyze", "spec"), ["approved", "draft"])

    def test_an_artifact_becomes_final_when_its_task_ends(self):
        """The file becomes final together with the task, because a person may still reject an approved artifact."""
        self.pipeline("mine", "    - {name: analyze, iterate: true}\n    - {name: spec, iterate: true}\n")
        transcript = again(again(short_transcript(), "analyze", analysis={"summary": "Another analysis"}), "spec")
        self.assert_code(self.design("--pipeline", "mine", "--iterate", transcript=transcript, command="start"), 22)
        self.assert_code(self.run_program("approve", self.task()), 22)
        final = self.file("artifacts/phases/analyze/analysis_final.yaml")
        self.assertFalse(final.exists())
        self.assert_code(self.run_program("reject", self.task()), 22)
        self.assert_code(self.run_program("approve", self.task()), 22)
        self.assert_code(self.run_program("approve", self.task()), 0)
        self.assertEqual(self.artifact_states("analyze", "spec"), ["final", "final"])
        self.assertIn("Another analysis", final.read_text(encoding="utf-8"))
        self.assertTrue(self.file("artifacts/phases/spec/specification_final.yaml").exists())

    def test_an_artifact_revised_after_the_end_is_final_once_the_task_ends_again(self):
        final = "artifacts/phases/spec/specification_final.yaml"
        self.assert_code(self.design("--iterate", transcript=again(short_transcript(), "spec", title="Add slugify, revised")), 22)
        self.assert_code(self.run_program("approve", self.task()), 0)
        self.assert_code(self.go_on("continue", self.task(), "--revise"), 22)
        self.assertEqual((self.artifact_states("spec"), self.file(final).exists()), (["pending_review"], False))
        self.assert_code(self.go_on("feedback", self.task(), "Say that it is revised"), 22)
        self.assert_code(self.go_on("approve", self.task()), 0)
        self.assertIn("revised", self.file(final).read_text(encoding="utf-8"))

    def test_a_redone_final_artifact_is_no_longer_final(self):
        self.pipeline("mine", "    - {name: analyze}\n    - {name: spec, iterate: true}\n    - {name: red}\n")
        transcript = again(again(short_transcript(), "red"), "spec", title="Add slugify, revised")
        self.assert_code(self.design("--pipeline", "mine", "--iterate", "--exit-after", "spec", transcript=transcript, command="start"), 22)
        self.assert_code(self.run_program("approve", self.task()), 0)
        final = self.file("artifacts/phases/spec/specification_final.yaml")
        self.assert_code(self.go_on("continue", self.task()), 0)
        self.assertTrue(final.exists())
        self.assert_code(self.go_on("continue", self.task(), "--revise"), 22)
        self.assert_code(self.go_on("reject", self.task()), 22)
        self.assertEqual((self.artifact_states("spec"), final.exists()), (["pending_review"], False))
        self.assert_code(self.go_on("approve", self.task(), "--exit"), 0)
        self.assert_code(self.run_program("audit", "verify", self.task()), 0)

    def test_status_names_discarded_artifacts(self):
        self.assert_code(self.design("--iterate", "--approve", "analyze", transcript=again(again(short_transcript(), "analyze"), "spec")), 22)
        self.assert_code(self.run_program("approve", self.task()), 22)
        self.assert_code(self.run_program("reject", self.task()), 22)
        self.assertEqual((self.status()["current_stage"], self.spec()["superseded_by"]), ("analyze", "analyze"))
        self.assertIn("no longer counts, nor do its approvals and gates: stage analyze, which it is based on, runs again", self.run_program("status", self.task()).out)
        self.assert_code(self.run_program("approve", self.task()), 22)
        self.assertNotIn("no longer counts", self.run_program("status", self.task()).out)


class TestIterationReplacedFiles(IterationTest):
    """While the task waits, a link or something else that is not a regular file replaces one of its files."""

    def replace(self, file, how):
        outside = self.folder / "outside.yaml"
        outside.write_bytes(file.read_bytes() if file.exists() else b"approved: true\n")
        file.unlink(missing_ok=True)
        if how == "symbolic link":
            file.symlink_to(outside)
        elif how == "hard link":
            file.hardlink_to(outside)
        else:
            os.mkfifo(file)
        return outside

    def refused_everywhere(self, name, *transcript):
        """Checks that every command refuses the file, and that the task does not change."""
        before = (self.task_folder() / "actions.yaml").read_bytes()
        for command in (("approve", self.task()), ("approve", self.task(), "--exit"), ("feedback", self.task(), "Change it"), ("resume", self.task()), ("continue", self.task(), "--extend-to", "red")):
            self.assert_error(self.go_on(*command), "AF-ORCH-077", name)
        self.assertEqual((self.task_folder() / "actions.yaml").read_bytes(), before)
        self.assertIn(name, self.status()["changed_artifacts"])

    def test_a_pending_artifact_must_not_be_a_link(self):
        self.assert_code(self.design("--iterate"), 22)
        for name in ("artifacts/phases/spec/specification.yaml", "artifacts/phases/analyze/analysis.yaml"):
            for how in ("symbolic link", "hard link", "pipe"):
                with self.subTest((name, how)):
                    file = self.file(name)
                    kept = file.read_bytes()
                    outside = self.replace(file, how)
                    self.refused_everywhere(name)
                    self.assertTrue(outside.exists())
                    file.unlink()
                    file.write_bytes(kept)
        self.assert_code(self.run_program("approve", self.task()), 0)

    def test_the_artifacts_folder_must_not_be_a_link(self):
        self.assert_code(self.design("--iterate"), 22)
        folder = self.file("artifacts/phases/analyze")
        folder.rename(self.folder / "elsewhere")
        folder.symlink_to(self.folder / "elsewhere")
        self.refused_everywhere("artifacts/phases/analyze/analysis.yaml")
        # As the error advises, removes the link. `resume` writes the file again.
        folder.unlink()
        self.assert_code(self.go_on("resume", self.task()), 22)
        self.assertTrue(self.file("artifacts/phases/analyze/analysis.yaml").is_file())

    def test_decisions_and_shown_versions_must_not_be_links(self):
        self.design("--iterate", transcript=again(short_transcript(), "spec", title="Add slugify, revised"))
        self.assert_code(self.go_on("feedback", self.task(), "Say that it is revised"), 22)
        for name in ("iteration_history/spec/v1_feedback.yaml", "artifacts/phases/spec/specification_v1.yaml"):
            with self.subTest(name):
                file = self.file(name)
                kept = file.read_bytes()
                self.replace(file, "symbolic link")
                self.refused_everywhere(name)
                file.unlink()
                file.write_bytes(kept)

    def test_external_artifacts_must_not_be_links(self):
        self.assert_code(self.design("--from-spec", self.spec_file(), "--approve", "red", command="implement"), 22)
        name = "external_inputs/specification.yaml"
        self.replace(self.file(name), "hard link")
        self.assert_error(self.run_program("approve", self.task()), "AF-ORCH-077", name)
        self.assert_error(self.go_on("resume", self.task()), "AF-ORCH-077", name)
        self.assertEqual(self.status()["changed_artifacts"], [name])
        self.file(name).unlink()
        self.assert_code(self.go_on("resume", self.task()), 22)
        self.assertEqual(self.status()["changed_artifacts"], [])

    def test_an_answer_must_not_be_a_link(self):
        self.assert_code(self.design("--iterate"), 22)
        approval = self.status()["waiting_id"] if "waiting_id" in self.status() else self.records("approval_requested")[0]["approval_id"]
        answer = self.repository / ".agentforge/escalations" / f"{approval}.resolution.yaml"
        for how in ("symbolic link", "hard link", "pipe"):
            with self.subTest(how):
                self.replace(answer, how)
                self.assert_error(self.go_on("resume", self.task()), "AF-ESC-005")
                self.assertEqual(self.records("approval_decided"), [])
                answer.unlink()
        self.assert_code(self.run_program("approve", self.task()), 0)


class TestContinue(IterationTest):
    def test_a_design_continues_to_the_implementation(self):
        self.assert_code(self.design(), 0)
        self.assert_code(self.go_on("continue", self.task()), 0)
        self.assertTrue(self.records("delivered"))
        continued = self.records("task_continued")[0]
        self.assertEqual((continued["extension"]["next_pipeline"], continued["extension"]["exit_stage"], continued["revise"]), ("implement", "deliver", False))
        self.assertEqual([r["stage"] for r in self.records("stage_started")].count("spec"), 1)
        self.assert_code(self.run_program("audit", "verify", self.task()), 0)
        self.assert_error(self.run_program("continue", self.task()), "AF-ORCH-050", "has delivered its change")

    def test_the_commands_suggested_for_an_ended_task_work(self):
        self.design()
        for command in ("approve", "reject"):
            self.assert_error(self.run_program(command, self.task()), "AF-ORCH-043", f"agentforge continue {self.task()[-8:]} --revise")
        self.assert_error(self.run_program("resume", self.task(), "--say", "x"), "AF-ORCH-049", f"agentforge continue {self.task()[-8:]}")
        self.assert_code(self.go_on("continue", self.task(), "--revise"), 22)
        approval = self.records("approval_requested")[-1]["approval_id"]
        self.assert_error(self.run_program("resolve", approval, "yes"), "AF-ESC-090", f"agentforge approve {approval}")
        self.assert_code(self.run_program("approve", approval), 0)

    def test_a_design_is_extended_through_to_delivery(self):
        self.design()
        self.assert_code(self.go_on("continue", self.task(), "--extend-to", "deliver"), 0)
        self.assertEqual(self.records("task_completed")[-1]["exit_stage"], "deliver")
        self.assertTrue(self.records("delivered"))

    def test_extend_to_ends_at_that_stage(self):
        self.design()
        self.assert_error(self.run_program("continue", self.task(), "--extend-to", "delivr"), "AF-ORCH-053", "did you mean `deliver`?")
        self.assert_error(self.run_program("continue", self.task(), "--extend-to", "intake"), "AF-ORCH-053", "red, green, refactor, deliver")
        self.assertEqual(self.status()["status"], "completed")
        self.assert_code(self.go_on("continue", self.task(), "--extend-to", "red"), 0)
        self.assertEqual(self.records("task_completed")[-1]["exit_stage"], "red")
        self.assertEqual(self.status()["stages"]["spec"]["artifact_state"], "final")

    def test_a_continued_task_can_run_detached(self):
        self.design()
        outcome = self.assert_code(self.go_on("continue", self.task(), "--extend-to", "red", "--detach", "--json"), 0)
        self.assertEqual((outcome.json["task_id"], outcome.json["detached"]), (self.task(), True))
        wait_until(lambda: self.records("task_completed")[-1]["exit_stage"] == "red", "the end of the task")
        self.wait_for_process_of(self.task())

    def test_extending_approves_only_the_shown_artifact(self):
        self.assert_code(self.design("--iterate"), 22)
        self.assert_error(self.go_on("continue", self.task(), "--extend-to", "red", "--hash", "0123456789"), "AF-ESC-035")
        digest = self.records("approval_requested")[0]["artifact_hash"]
        told = self.assert_code(self.go_on("continue", self.task(), "--extend-to", "red", "--hash", digest[:12], "--no-resume", "--json"), 0).json
        self.assertTrue(told["answered"])
        self.assertEqual(self.records("approval_decided"), [])
        self.assert_code(self.go_on("resume", self.task()), 0)
        self.assertEqual(self.records("task_completed")[-1]["exit_stage"], "red")
        self.assert_error(self.go_on("continue", self.task(), "--extend-to", "green", "--no-resume"), "AF-CLI-202", "nothing to approve")

    def test_tests_for_a_specification_continue_to_their_implementation(self):
        """The added stages also have the artifacts from outside."""
        ended = self.assert_code(self.design("--spec", self.spec_file(), command="test"), 0)
        self.assertIn(f"agentforge continue {self.task()[-8:]}", ended.out)
        self.assert_code(self.go_on("continue", self.task()), 0)
        self.assertTrue(self.records("delivered"))

    def test_pending_tests_can_be_extended_and_revised(self):
        self.assert_code(self.design("--spec", self.spec_file(), "--approve", "red", command="test"), 22)
        self.assert_code(self.go_on("continue", self.task(), "--extend-to", "green"), 0)
        self.assert_code(self.go_on("continue", self.task(), "--revise"), 22)
        self.assert_code(self.go_on("approve", self.task()), 0)

    def test_stages_without_their_prerequisites_are_refused_with_their_position(self):
        self.pipeline("mine", "    - {name: analyze}\n", "  continuation: {prompt: More, next_pipeline: rest}\n")
        self.pipeline("rest", "    - {name: analyze}\n    - {name: red}\n", "  requires_external: {specification: {contract: specification}}\n")
        self.assert_code(self.design("--pipeline", "mine", command="start"), 0)
        self.assert_error(self.go_on("continue", self.task()), "AF-PIPE-020", "stage red", "pipelines/rest.yaml:8:")

    def test_a_continued_task_describes_itself(self):
        self.design()
        state = lambda: yaml.safe_load(self.file("state.yaml").read_text(encoding="utf-8"))  # noqa: E731
        self.assertEqual(state()["continuation"], {"can_extend": True, "available_pipelines": ["implement"], "provides_artifacts": ["specification"]})
        self.assert_code(self.go_on("continue", self.task(), "--extend-to", "red"), 0)
        self.assertNotIn("continuation", state())
        self.assertEqual(state()["continuations"], 1)

    def test_artifacts_are_checked_again_against_the_contracts_in_force(self):
        self.design()
        contract = self.repository / ".agentforge/contracts/specification.yaml"
        contract.parent.mkdir(parents=True, exist_ok=True)
        shipped = (SOURCE / "config/contracts/specification.yaml").read_text(encoding="utf-8")
        contract.write_text(re.sub(r"(?m)^  title: \{", "  title: {max_length: 4, ", re.sub(r"(?m)^(  title: .*), max_length: \d+", r"\1", shipped)), encoding="utf-8")
        self.assert_error(self.go_on("continue", self.task()), "AF-ORCH-054", "`spec`", "title", "contracts/specification.yaml")
        self.assertEqual(self.records("task_continued"), [])

    def test_a_task_that_ended_early_continues_with_its_own_stages(self):
        self.assert_code(self.design("--exit-after", "analyze", command="implement"), 0)
        self.assert_code(self.go_on("continue", self.task(), "--extend-to", "spec"), 0)
        self.assertEqual([r["stage"] for r in self.records("stage_completed")], ["intake", "clarify", "analyze", "spec"])

    def test_extending_approves_a_pending_artifact(self):
        self.assert_code(self.design("--iterate"), 22)
        self.assert_code(self.go_on("continue", self.task(), "--extend-to", "red"), 0)
        self.assertEqual([r["decision"] for r in self.records("approval_decided")], ["extend"])
        self.assertEqual(self.records("task_completed")[-1]["exit_stage"], "red")

    def test_revise_shows_the_last_artifact_again(self):
        self.design(transcript=again(short_transcript(), "spec", title="Add slugify, revised"))
        outcome = self.assert_code(self.go_on("continue", self.task(), "--revise"), 22)
        self.assertIn("version 1 of artifacts/phases/spec/specification.yaml", outcome.out)
        self.assert_code(self.go_on("feedback", self.task(), "Say that it is revised"), 22)
        self.assert_code(self.go_on("approve", self.task()), 0)
        self.assertIn("revised", self.file("artifacts/phases/spec/specification_final.yaml").read_text())
        self.assertEqual([(v["version"], v["decision"]) for v in self.spec()["iteration"]["history"]], [(1, "revise"), (2, "approve")])
        self.assert_code(self.run_program("audit", "verify", self.task()), 0)

    def test_a_task_that_has_not_ended_is_resumed_or_refused(self):
        self.design("--iterate")
        self.assert_error(self.run_program("continue", self.task(), "--revise"), "AF-CLI-163", "waiting for your decision", "agentforge feedback")
        self.assert_code(self.run_program("continue", self.task()), 22)
        self.assertEqual(self.records("task_continued"), [])
        self.run_program("abort", self.task())
        self.assert_error(self.run_program("continue", self.task()), "AF-ORCH-050", "it is aborted")
        self.assertNotIn("agentforge resume", self.assert_error(self.run_program("continue", self.task(), "--revise"), "AF-ORCH-050", "start a new task").err)

    def test_nothing_follows_a_review(self):
        self.design(command="review")
        self.assert_error(self.run_program("continue", self.task()), "AF-ORCH-052", "nothing follows stage `analyze`")

    def test_stale_artifacts_are_refused_with_the_commits(self):
        self.design()
        before = (self.repository / "textkit/__init__.py").read_text(encoding="utf-8")
        commit = self.commit("textkit/__init__.py", before + "# More of them are to come.\n", "Rename the package's tools")
        self.commit("README.md", "Other words\n", "Change what no artifact names")
        refused = self.assert_error(self.run_program("continue", self.task()), "AF-ORCH-055", "textkit/__init__.py (in", commit[:8] + " Rename the package's tools", "--accept-stale")
        self.assertNotIn("README.md", refused.err)
        self.assertEqual(self.records("task_continued"), [])
        self.assert_error(self.run_program("continue", self.task(), "--revise"), "AF-ORCH-055")
        self.assert_error(self.run_program("continue", self.task(), "--accept-stale", "x" * 2001), "AF-ORCH-056", "longer than 2000 bytes")
        self.assert_code(self.go_on("continue", self.task(), "--extend-to", "red", "--accept-stale", "Only words were changed"), 0)
        freshness = self.records("task_continued")[0]["freshness"]
        self.assertEqual((freshness["accepted"], freshness["stale"][0]["path"]), ("Only words were changed", "textkit/__init__.py"))
        self.assertIn("Only words were changed", self.run_program("audit", self.task()).out)

    def test_a_reason_for_stale_artifacts_is_recorded_even_if_none_is_stale(self):
        self.design()
        self.assert_code(self.go_on("continue", self.task(), "--extend-to", "red", "--accept-stale", "Only words were changed"), 0)
        freshness = self.records("task_continued")[0]["freshness"]
        self.assertEqual((freshness["accepted"], freshness["stale"]), ("Only words were changed", []))

    def test_files_that_no_artifact_names_may_change_before_continuing(self):
        self.design()
        head = self.commit("README.md", "Other words\n", "Change what no artifact names")
        self.assert_code(self.go_on("continue", self.task()), 0)
        self.assertEqual(self.records("task_continued")[0]["base_commit"], head)
        self.assertEqual(self.git("rev-parse", f"agentforge/{self.task()}^").strip(), head)

    def test_a_killed_continuation_resumes(self):
        self.design()
        process = self.spawn("continue", *self.transcript_arguments, self.task(), "--extend-to", "red")
        process.stderr.readline()
        process.kill()
        process.wait()
        self.assert_code(self.go_on("continue", self.task()), 0)
        self.assertEqual(len(self.records("task_continued")), 1)
        self.assertEqual(self.records("task_completed")[-1]["exit_stage"], "red")


class TestIterationPage(IterationTest):
    """The commands of docs/iteration.md, word for word."""

    PAGE = (SOURCE / "docs" / "iteration.md").read_text(encoding="utf-8")

    def new_design(self, code, *arguments, transcript=None, command="design"):
        before = set(self.tasks())
        self.assert_code(self.design(*arguments, transcript=transcript, command=command), code)
        return (set(self.tasks()) - before).pop()

    def type(self, command, task, code):
        words = shlex.split(command.replace("TASK", task).replace("STAGE", "red").replace("REASON", "Unimportant"))[1:]
        return self.assert_code(self.go_on(*words), code)

    def test_each_decision_is_made_by_its_command(self):
        rows = re.findall(r"^\| (\w+): [^|]+ \| `(agentforge [^`]+)`", self.PAGE, re.M)
        decided = {"approve": ("approve", 0), "revise": ("revise", 22), "reject": ("reject", 22), "exit": ("exit", 0), "continue": ("extend", 0)}
        self.assertEqual([name for name, _ in rows], list(decided))
        revised = again(again(short_transcript(), "spec", title="Add slugify, revised"), "analyze")
        for name, command in rows:
            with self.subTest(command):
                decision, code = decided[name]
                task = self.new_design(22, "--iterate", transcript=revised, command="implement" if name == "exit" else "design")
                self.type(command, task, code)
                self.assertEqual([record["decision"] for record in self.records("approval_decided", task)], [decision])

    def test_each_command_after_the_end_has_its_effect(self):
        _, _, table = self.PAGE.partition("| command | effect |\n|---|---|\n")
        options = re.findall(r"^\| `([^`]+)` \|", table.partition("\n\n")[0], re.M)
        self.assertEqual(options, ["agentforge continue TASK", "--extend-to STAGE", "--detach", "--revise", "--accept-stale REASON"])
        delivers = lambda task: self.records("task_completed", task)[-1]["exit_stage"] == "deliver" and self.records("delivered", task)  # noqa: E731
        effects = {"agentforge continue TASK": (0, delivers), "--extend-to STAGE": (0, lambda task: self.records("task_completed", task)[-1]["exit_stage"] == "red"), "--detach": (0, lambda _: True),
                   "--revise": (22, lambda task: self.records("approval_requested", task)), "--accept-stale REASON": (0, lambda task: self.records("task_continued", task)[0]["freshness"]["accepted"] == "Unimportant")}
        for option in options:
            with self.subTest(option):
                code, has_effect = effects[option]
                task = self.new_design(0)
                if option == "--accept-stale REASON":
                    self.commit("textkit/__init__.py", (self.repository / "textkit/__init__.py").read_text(encoding="utf-8") + "# More of them are to come.\n", "Say more")
                self.type(option if option.startswith("agentforge") else f"{options[0]} {option}", task, code)
                if option == "--detach":
                    wait_until(lambda: self.records("delivered", task), "the end of the task")
                    self.wait_for_process_of(task)
                self.assertTrue(has_effect(task))

    def test_the_documented_command_compares_versions(self):
        command = re.search(r"`(agentforge diff [^`]+)`", self.PAGE).group(1)
        task = self.new_design(22, "--iterate", transcript=again(short_transcript(), "spec", title="Add slugify, revised"))
        self.assert_code(self.go_on("feedback", task, "Say that it is revised"), 22)
        self.assertIn("revised", self.assert_code(self.run_program(*shlex.split(command.replace("TASK", task).replace("STAGE", "spec"))[1:]), 0).out)


class TestIterationAtTheTerminal(IterationTest):
    def terminal(self, *arguments, command="design", transcript=None):
        self.write_transcript(transcript or short_transcript())
        return Terminal(self, command, "--transcript", self.transcript, *arguments, REQUEST, lines=240)

    def test_asks_at_the_terminal_about_the_last_artifact(self):
        terminal = self.terminal(transcript=again(short_transcript(), "spec", title="Add slugify, revised"))
        terminal.wait_for("Approve? [y/n/x/c")
        self.assertIn("version 1 of", terminal.text())
        terminal.press(b"Say that it is revised\n")
        terminal.wait_for("version 2 of")
        terminal.wait_for("Approve? [y/n/x/c", count=2)
        terminal.press(b"y\n")
        self.assertIn("Done: ", "\n".join(terminal.ended(0)))
        self.assertEqual([r["decision"] for r in self.records("approval_decided")], ["revise", "approve"])

    def test_no_iterate_asks_nothing(self):
        self.assertIn("Done: ", "\n".join(self.terminal("--no-iterate").ended(0)))

    def test_the_setting_never_equals_no_iterate(self):
        self.assertIn("Done: ", "\n".join(self.terminal("--set", "pipeline.iterate=never").ended(0)))
        self.assertEqual(self.records("approval_requested"), [])

    def test_an_explicit_exit_does_not_wait(self):
        """An explicit exit is a decision, so AgentForge does not ask at the exit, even after `resume`."""
        self.assertIn("Done: ", "\n".join(self.terminal("--exit-after", "spec", command="implement").ended(0)))
        self.assertEqual(self.records("approval_requested"), [])

    def test_an_explicit_exit_is_shown_on_request(self):
        terminal = self.terminal("--exit-after", "spec", "--iterate", command="implement")
        terminal.wait_for("Approve? [y/n/x/c")
        terminal.press(b"y\n")
        terminal.ended(0)
        self.assertEqual(self.records("task_completed")[-1]["exit_stage"], "spec")

    def test_an_implementation_does_not_wait(self):
        self.assertIn("Done: ", "\n".join(self.terminal(command="implement").ended(0)))

    def test_continuing_past_the_end_is_an_answer(self):
        terminal = self.terminal()
        terminal.wait_for("Approve? [y/n/x/c")
        terminal.press(b"c deliverr\n")
        terminal.wait_for("AF-ORCH-053")
        terminal.wait_for("Approve? [y/n/x/c", count=2)
        terminal.press(b"c red\n")
        terminal.ended(0)
        self.assertEqual(self.records("task_completed")[-1]["exit_stage"], "red")

    def test_ending_here_is_an_answer(self):
        terminal = self.terminal("--iterate", command="implement")
        terminal.wait_for("Approve? [y/n/x/c")
        terminal.press(b"x\n")
        terminal.ended(0)
        self.assertEqual(self.records("task_completed")[-1]["exit_type"], "user_exit")

    def test_later_leaves_the_decision_to_the_commands(self):
        terminal = self.terminal()
        terminal.wait_for("Approve? [y/n/x/c")
        terminal.press(b"\n")
        self.assertIn("agentforge approve", "\n".join(terminal.ended(22)))
        self.assert_code(self.run_program("approve", self.task()), 0)


if __name__ == "__main__":
    main()
