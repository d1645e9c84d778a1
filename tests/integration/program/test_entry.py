# SPDX-License-Identifier: Apache-2.0
"""The beginning of a task: with a specification, with tests, with another task's work, at a later stage; and refused beginnings."""

import hashlib
import re
import shlex

import yaml

import loop_model as model
from harness import REQUEST, SOURCE, TRANSCRIPT, ProgramTest, call, entry, load_transcript, main, short_transcript
from test_check import STORE

TESTS = '''"""Tests of textkit.slug."""

import unittest

from textkit import words
from textkit.slug import slugify


class SlugifyTest(unittest.TestCase):
    """Titles and their slugs."""

    # REQ-001
    def test_words_are_joined_by_hyphens_in_lower_case(self) -> None:
        self.assertEqual(slugify("Hello, World!"), "hello-world")

    def test_req_002_accents_are_dropped(self) -> None:
        self.assertEqual(slugify("Crème brûlée"), "creme-brulee")

    def test_a_title_without_letters_or_digits_has_the_empty_slug(self) -> None:
        """REQ-003"""
        self.assertEqual(slugify("?!"), "")

    # REQ-001 (guard)
    def test_words_still_keeps_case(self) -> None:
        self.assertEqual(words("Hello, World!"), ["Hello", "World"])
'''


def specification():
    """Returns the specification that SPEC hands in for the request."""
    return entry(load_transcript(), "spec", 1, "software_architect")["tool_calls"][0]["arguments"]


# The shipped stages with their properties, and the artifacts that may come from outside.
EIGHT_STAGES = """pipeline:
  name: mine
  description: Ours
  goal_type: mine
  accepts_external:
    specification: {contract: specification, skips_to: red}
    test_suite: {contract: test_suite, skips_to: green, requires: [specification]}
  stages:
    - {name: intake, entry_point: true, exit_point: false, iterable: false, skippable_if: "external_spec_provided", output_contract: intake_record}
    - {name: clarify, entry_point: false, exit_point: false, iterable: false, skippable_if: "no_ambiguities OR external_spec_provided", output_contract: clarification}
    - {name: analyze, entry_point: true, exit_point: true, iterable: false, skippable_if: never, output_contract: analysis}
    - {name: spec, entry_point: false, exit_point: true, iterable: true, max_iterations: 5, skippable_if: "external_spec_provided", output_contract: specification, reviewers: [security_architect]}
    - {name: red, entry_point: true, exit_point: true, iterable: false, skippable_if: "external_tests_provided", prerequisites: [specification], output_contract: test_suite}
    - {name: green, entry_point: false, exit_point: true, iterable: false, skippable_if: never, prerequisites: [specification, test_suite], output_contract: implementation}
    - {name: refactor, entry_point: false, exit_point: true, iterable: false, skippable_if: "trivial_change", prerequisites: [implementation], output_contract: implementation, reviewers: [security_architect]}
    - {name: deliver, entry_point: false, exit_point: true, iterable: false, skippable_if: never, prerequisites: [implementation], output_contract: delivery_report}
"""


def only(transcript, *stages):
    return dict(transcript, entries=[each for each in transcript["entries"] if each["stage"] in stages])


class EntryTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make_repository()

    def spec_file(self, content=None, name="spec.yaml"):
        file = self.folder / name
        file.write_text(content if isinstance(content, str) else yaml.safe_dump(content or specification(), allow_unicode=True, sort_keys=False), encoding="utf-8")
        return file

    def folder_of_tests(self, text=TESTS, name="test_slug.py"):
        folder = self.folder / "given" / "tests"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
        return folder

    def run_with(self, transcript, command, *arguments):
        file = self.folder / "transcript.yaml"
        file.write_text(yaml.safe_dump(transcript, allow_unicode=True, sort_keys=False), encoding="utf-8")
        self.transcript_arguments = ["--set", "llm.backend=replay", "--set", f"llm.transcript={file}"]
        return self.run_program(command, "--transcript", file, *arguments)

    def own_pipeline(self, text):
        file = self.repository / ".agentforge" / "pipelines" / "mine.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def stages(self, kind="stage_completed", task=None):
        return [record["stage"] for record in self.records(kind, task)]

    def skipped(self, task=None):
        return {record["stage"]: record["reason"] for record in self.records("stage_skipped", task)}


class TestEntryFromSpec(EntryTest):
    def test_a_specification_skips_to_red_and_is_delivered(self):
        outcome = self.run_with(only(short_transcript(), "red", "green", "refactor", "deliver"), "implement", "--from-spec", self.spec_file(), "Implement the slugs")
        self.assert_code(outcome, 0)
        self.assertEqual(self.skipped(), {"intake": "spec_provided", "clarify": "spec_provided", "analyze": "begins at red", "spec": "spec_provided"})
        self.assertEqual(self.stages(), ["red", "green", "refactor", "deliver"])
        self.assertTrue(self.records("delivered"))

    def test_stages_that_an_external_specification_skips_are_skipped(self):
        self.own_pipeline(EIGHT_STAGES)
        self.assert_code(self.run_with(only(short_transcript(), "red"), "start", "--pipeline", "mine", "--from-spec", self.spec_file(), "--exit-after", "red", "Do it"), 0)
        self.assertEqual(self.skipped(), {"intake": "external_spec_provided", "clarify": "external_spec_provided", "analyze": "begins at red", "spec": "external_spec_provided"})
        self.assertEqual(self.stages(), ["red"])
        self.assert_error(self.run_program("diff", self.task(), "--artifact", "clarify"), "AF-CLI-164", "was skipped", "agentforge history")

    def test_an_imported_artifact_is_stored_hashed_and_journaled(self):
        file = self.spec_file()
        self.assert_code(self.run_with(only(short_transcript(), "red"), "implement", "--from-spec", file, "--exit-after", "red", "Implement the slugs"), 0)
        imported = self.records("external_artifact_imported")[0]
        self.assertEqual((imported["artifact_type"], imported["source"], imported["source_path"]), ("specification", "user_provided", str(file)))
        self.assertEqual((imported["validation"]["contract"], imported["validation"]["status"]), ("specification", "passed"))
        kept = yaml.safe_load((self.task_folder() / "external_inputs" / "specification.yaml").read_text(encoding="utf-8"))
        self.assertEqual([each["id"] for each in kept["requirements"]], ["REQ-001", "REQ-002", "REQ-003"])
        blobs = {blob["sha256"]: blob["text"] for blob in yaml.safe_load((self.task_folder() / "artifacts/blobs/blobs.yaml").read_text(encoding="utf-8"))["blobs"]}
        self.assertEqual(hashlib.sha256(blobs[imported["validation"]["hash"]].encode()).hexdigest(), imported["validation"]["hash"])
        state = yaml.safe_load((self.task_folder() / "state.yaml").read_text(encoding="utf-8"))
        self.assertEqual((state["entry_stage"], state["external_inputs"]["specification"]["validation_hash"]), ("red", imported["validation"]["hash"]))
        task = yaml.safe_load((self.task_folder() / "task.yaml").read_text(encoding="utf-8"))
        told = task["inputs"]["external"]["specification"]
        self.assertEqual(told["artifact_path"], str(file))
        self.assertEqual(told["validation"], {"contract": "specification", "status": "passed", "hash": imported["validation"]["hash"]})
        self.assert_journal_verifies()

    def test_missing_fields_are_named_with_their_lines_and_nothing_else(self):
        broken = specification()
        del broken["title"]
        del broken["requirements"][1]["acceptance_criteria"]
        file = self.spec_file(broken)
        line = next(number for number, text in enumerate(file.read_text(encoding="utf-8").splitlines(), 1) if "REQ-002" in text)
        outcome = self.assert_error(self.run_with(short_transcript(), "implement", "--from-spec", file, "Implement"), "AF-EXT-001", "title", "requirements[1].acceptance_criteria", f"spec.yaml:{line}:")
        self.assertEqual(len(re.findall(r"^  \S+spec\.yaml:\d+", outcome.err, re.M)), 2, outcome)
        self.assertEqual(self.tasks(), [])

    def test_a_dependency_that_is_not_a_task_is_refused(self):
        broken = {**specification(), "dependencies": {"tasks": [{"task_id": "the other one", "required_stage": "deliver"}]}}
        self.assert_error(self.run_with(short_transcript(), "implement", "--from-spec", self.spec_file(broken), "Implement"), "AF-EXT-001", "dependencies.tasks[0].task_id")
        self.assertEqual(self.tasks(), [])

    def test_a_missing_file_or_invalid_yaml_is_refused(self):
        self.assert_error(self.run_with(short_transcript(), "implement", "--from-spec", "nowhere.yaml", "Implement"), "AF-BASE-010", "nowhere.yaml")
        self.assert_error(self.run_with(short_transcript(), "implement", "--from-spec", self.spec_file("- a\n"), "Implement"), "AF-EXT-001", "not a map")
        self.assert_error(self.run_with(short_transcript(), "implement", "--from-spec", self.spec_file("a: [\n"), "Implement"), "AF-CONF-001", "spec.yaml:")
        self.assertEqual(self.tasks(), [])

    def test_a_pipeline_that_takes_no_specification_says_so(self):
        self.assert_error(self.run_with(short_transcript(), "design", "--from-spec", self.spec_file(), "Design"), "AF-EXT-002", "design", "specification")

    def test_a_duplicate_or_wrong_source_is_refused(self):
        file = self.repository / ".agentforge/pipelines/mine.yaml"
        file.parent.mkdir(parents=True)
        file.write_text("pipeline:\n  name: mine\n  description: x\n  goal_type: mine\n  accepts_external:\n    specification: {contract: specification, source: task_reference}\n"
                        "  stages:\n    - name: intake\n    - name: analyze\n    - name: spec\n    - name: red\n", encoding="utf-8")
        spec = self.spec_file()
        self.assert_error(self.run_with(short_transcript(), "implement", "--from-spec", spec, "--external", f"specification={spec}", "Implement"), "AF-EXT-005", "two artifacts of the contract `specification`")
        self.assert_error(self.run_with(short_transcript(), "start", "--pipeline", "mine", "--spec", spec, REQUEST), "AF-EXT-005", "`task_reference`", "--from-task TASK")
        for wrong in ("specification", "=spec.yaml", "specification="):
            self.assert_error(self.run_with(short_transcript(), "implement", "--external", wrong, "Implement"), "AF-EXT-011", "NAME=FILE")
        self.assertEqual(self.tasks(), [])

    def test_start_prefers_given_files_to_the_request(self):
        outcome = self.assert_code(self.run_program("start", "--transcript", TRANSCRIPT, "--dry-run", "--json", "--from-spec", self.spec_file(), "Design a cache"), 0).json
        self.assertEqual((outcome["pipeline"], outcome["goal"]), ("implement", "implement"))
        self.assertEqual([stage["name"] for stage in outcome["stages"] if not stage["skipped"]], ["red", "green", "refactor", "deliver"])

    def test_the_printed_form_filled_in_is_accepted(self):
        form = self.assert_code(self.run_program("contracts", "template", "specification"), 0).out
        self.assert_error(self.run_with(short_transcript(), "implement", "--from-spec", self.spec_file(form), "Implement"), "AF-EXT-001", "title", "description")
        filled = re.sub(r'""', '"filled in"', form)
        plan = self.run_program("implement", "--transcript", TRANSCRIPT, "--dry-run", "--from-spec", self.spec_file(filled), "Implement")
        self.assert_code(plan, 0)
        everything = re.sub(r"^#(?!#)", "", filled, flags=re.M)
        self.assertEqual(set(yaml.safe_load(everything)) >= {"title", "requirements", "interfaces", "files_to_create"}, True)

    def test_every_contract_prints_a_form(self):
        for contract in self.run_program("contracts", "list", "--json").json["contracts"]:
            with self.subTest(contract["name"]):
                form = self.assert_code(self.run_program("contracts", "template", contract["name"]), 0).out
                self.assertIsInstance(yaml.safe_load(re.sub(r"^#(?!#)", "", form, flags=re.M)), dict)


class TestEntrySkipTo(EntryTest):
    def test_a_task_starts_at_an_entry_point_with_its_prerequisites(self):
        outcome = self.run_with(only(short_transcript(), "red"), "start", "--skip-to", "red", "--spec", self.spec_file(), "--exit-after", "red", REQUEST)
        self.assert_code(outcome, 0)
        self.assertEqual(self.stages(), ["red"])

    def test_a_stage_without_its_prerequisites_is_refused(self):
        self.assert_error(self.start("--pipeline", "implement", "--skip-to", "red"), "AF-EXT-006", "specification", "--from-spec")
        self.assert_error(self.start("--pipeline", "implement", "--skip-to", "green"), "AF-EXT-006", "not an entry point")
        self.assert_error(self.start("--pipeline", "implement", "--skip-to", "gren"), "AF-ORCH-041", "did you mean `green`", "its stages are intake, clarify, analyze, spec, red, green, refactor, deliver")
        self.assertEqual(self.tasks(), [])

    def test_a_task_in_which_no_stage_would_run_is_refused(self):
        self.assert_error(self.run_with(short_transcript(), "start", "--spec", self.spec_file(), "--skip-to", "intake", "--exit-after", "intake", REQUEST), "AF-CLI-204", "no stage would run")
        self.assertEqual(self.tasks(), [])

    def test_an_end_before_the_beginning_is_refused(self):
        self.assert_error(self.run_with(short_transcript(), "implement", "--from-spec", self.spec_file(), "--exit-after", "analyze", "Implement"), "AF-EXT-006", "analyze")

    def test_an_end_that_would_not_run_is_refused(self):
        """A task cannot begin or end with a skipped stage, or one whose artifact comes from outside, and nobody can be asked there."""
        own = yaml.safe_load((SOURCE / "config/pipelines/implement.yaml").read_text(encoding="utf-8"))
        next(stage for stage in own["pipeline"]["stages"] if stage["name"] == "clarify")["required"] = False
        own["pipeline"]["stages"][1]["entry_point"] = True
        own["pipeline"]["accepts_external"]["specification"].pop("skips_to")
        file = self.repository / ".agentforge/pipelines/implement.yaml"
        file.parent.mkdir(parents=True)
        file.write_text(yaml.safe_dump(own, sort_keys=False), encoding="utf-8")
        self.assert_error(self.start("--without", "clarify", "--through", "clarify"), "AF-EXT-006", "leaves out", "--without clarify")
        self.assert_error(self.start("--without", "clarify", "--skip-to", "clarify"), "AF-EXT-006", "begin at stage `clarify`")
        self.assert_error(self.run_with(short_transcript(), "implement", "--from-spec", self.spec_file(), "--exit-after", "spec", "Implement"), "AF-EXT-006", "does not run", "was given")
        for option, code in (("--iterate-at", "AF-CLI-160"), ("--approve", "AF-CLI-201")):
            self.assert_error(self.run_with(short_transcript(), "implement", "--from-spec", self.spec_file(), option, "spec", "Implement"), code, "skipped (spec_provided)")
            self.assert_error(self.start(option, "spec", "--exit-after", "analyze"), code, "the task ends at stage `analyze`")
        self.assert_error(self.run_with(short_transcript(), "implement", "--from-spec", self.spec_file(), "--iterate", "Implement"), "AF-CLI-161", "with the given artifacts")
        self.assertEqual(self.tasks(), [])

    def test_a_stage_that_is_not_required_may_be_left_out(self):
        own = yaml.safe_load((SOURCE / "config/pipelines/implement.yaml").read_text(encoding="utf-8"))
        next(stage for stage in own["pipeline"]["stages"] if stage["name"] == "clarify")["required"] = False
        file = self.repository / ".agentforge/pipelines/implement.yaml"
        file.parent.mkdir(parents=True)
        file.write_text(yaml.safe_dump(own, sort_keys=False), encoding="utf-8")
        self.assert_code(self.start("--without", "clarify", "--exit-after", "analyze"), 0)
        self.assertEqual(self.skipped(), {"clarify": "left out"})
        self.assert_error(self.start("--without", "spec"), "AF-EXT-010", "required: false")


class TestEntryFromTests(EntryTest):
    def implement(self, tests, *arguments, transcript=None):
        return self.run_with(transcript or only(short_transcript(), "green", "refactor", "deliver"), "implement", "--from-spec", self.spec_file(), "--from-tests", tests, *arguments, "Implement the slugs")

    def test_specification_and_tests_skip_to_green_and_deliver(self):
        self.assert_code(self.implement(self.folder_of_tests()), 0)
        self.assertEqual(self.stages(), ["green", "refactor", "deliver"])
        self.assertEqual(self.skipped()["red"], "tests_provided")
        self.assertTrue([gate for gate in self.records("gate") if gate["gate"] == "red" and gate["passed"]])
        self.assertEqual({step["phase"] for step in self.steps()}, {"green", "refactor", "deliver"})
        self.assertIn("tests/test_slug.py", self.git("show", "--stat", "--format=", self.records("delivered")[0]["commit"]))

    def test_a_stage_that_external_tests_skip_is_skipped(self):
        self.own_pipeline(EIGHT_STAGES)
        given = ("--from-spec", self.spec_file(), "--from-tests", self.folder_of_tests())
        self.assert_code(self.run_with(only(short_transcript(), "green"), "start", "--pipeline", "mine", *given, "--exit-after", "green", "Do it"), 0)
        self.assertEqual(self.skipped()["red"], "external_tests_provided")
        self.assertEqual(self.stages(), ["green"])

    def test_each_test_is_traced_to_its_requirement(self):
        self.assert_code(self.implement(self.folder_of_tests(), "--exit-after", "green"), 0)
        suite = yaml.safe_load((self.task_folder() / "artifacts/phases/red/test_suite.yaml").read_text(encoding="utf-8"))
        traced = {test["name"].rpartition("::")[2]: (test["requirement_ref"], test["kind"]) for test in suite["test_files"][0]["tests"]}
        self.assertEqual(traced, {"test_words_are_joined_by_hyphens_in_lower_case": ("REQ-001", "new"), "test_req_002_accents_are_dropped": ("REQ-002", "new"),
                                  "test_a_title_without_letters_or_digits_has_the_empty_slug": ("REQ-003", "new"), "test_words_still_keeps_case": ("REQ-001", "guard")})

    def test_imported_tests_are_locked(self):
        transcript = only(short_transcript(), "green", "refactor", "deliver")
        for each in transcript["entries"]:
            each["step"] += each["stage"] == "green"
        transcript["entries"].append({"stage": "green", "role": "software_developer", "step": 1, "tool_calls": call("create_file", path="tests/test_slug.py", content="", overwrite=True)})
        self.assert_code(self.implement(self.folder_of_tests(), "--exit-after", "green", transcript=transcript), 0)
        self.assertEqual(self.steps()[0]["result"]["status"], "failure")

    def test_a_person_is_asked_if_an_imported_test_contradicts_the_specification(self):
        wrong = TESTS.replace('slugify("Hello, World!"), "hello-world"', 'slugify("Hello, World!"), "hello_world"')
        transcript = only(short_transcript(), "green", "refactor", "deliver")
        claim = {"to": "red", "tests": ["tests/test_slug.py::SlugifyTest::test_words_are_joined_by_hyphens_in_lower_case"], "criterion": "'Hello, World!' becomes 'hello-world'",
                 "reason": "The test expects an underscore where the specification says a hyphen"}
        entry(transcript, "green", 2)["tool_calls"] = call("complete", summary="One test is wrong.", file_notes={}, hand_back=claim)
        outcome = self.assert_code(self.implement(self.folder_of_tests(wrong), transcript=transcript), 22)
        self.assertEqual(self.records("cycle_started"), [], outcome)
        self.assertIn("imported test_suite", self.records("stage_escalated")[0]["reason"])

    def test_tests_that_already_pass_end_the_task_without_a_model_call(self):
        text = TESTS.replace('slugify("?!"), ""', '"", ""')
        outcome = self.assert_error(self.implement(self.folder_of_tests(text)), "AF-EXT-008", "empty_slug")
        self.assertEqual(self.steps(), [], outcome)
        self.assertNotIn("agentforge resume", outcome.all)      # The given tests do not change, so resuming would fail again.
        self.assert_nothing_delivered()

    def test_tests_that_cannot_be_loaded_end_the_task(self):
        self.assert_error(self.implement(self.folder_of_tests(TESTS.replace("textkit.slug", "textkit.slog"))), "AF-EXT-008", "could not be loaded")

    def test_a_test_without_a_known_requirement_is_named(self):
        self.assert_error(self.implement(self.folder_of_tests(TESTS.replace("    # REQ-001\n    def", "    def"))), "AF-EXT-009", "test_words_are_joined_by_hyphens_in_lower_case")

    def test_a_test_of_a_requirement_that_the_specification_lacks_is_named(self):
        self.assert_error(self.implement(self.folder_of_tests(TESTS.replace("REQ-001", "REQ-099"))), "AF-EXT-009", "it names REQ-099")
        self.assert_nothing_delivered()

    def test_tests_without_a_specification_are_refused(self):
        self.assert_error(self.run_with(short_transcript(), "implement", "--from-tests", self.folder_of_tests(), "Implement"), "AF-EXT-003", "--from-spec")
        self.assertEqual(self.tasks(), [])

    def test_a_file_without_tests_is_refused(self):
        self.assert_error(self.implement(self.folder / "nowhere"), "AF-EXT-007", "nowhere")
        self.assert_error(self.implement("."), "AF-EXT-007", "whole repository")
        folder = self.folder_of_tests()
        (folder / "linked.py").symlink_to(folder / "test_slug.py")
        self.assert_error(self.implement(folder), "AF-EXT-007", "link")
        self.assertEqual(self.tasks(), [])

    def test_a_killed_task_resumes_where_it_was(self):
        self.assert_code(self.implement(self.folder_of_tests(), "--approve", "red"), 22)
        self.assert_code(self.go_on("approve", self.task()), 0)
        self.assertEqual(self.stages(), ["green", "refactor", "deliver"])


class TestEntryFromTask(EntryTest):
    def test_the_accepted_specification_of_a_design_is_implemented(self):
        self.assert_code(self.run_program("design", "--transcript", TRANSCRIPT, REQUEST), 0)
        design = self.task()
        outcome = self.run_with(only(short_transcript(), "red", "green", "refactor", "deliver"), "implement", "--from-task", design, "Implement what was designed")
        self.assert_code(outcome, 0)
        task = next(name for name in self.tasks() if name != design)
        imported = self.records("external_artifact_imported", task)[0]
        self.assertEqual((imported["source"], imported["source_task"]), ("task_reference", design))
        self.assertEqual(self.stages(task=task), ["red", "green", "refactor", "deliver"])
        suffix = task.removeprefix("task-")
        self.assertEqual(yaml.safe_load((self.task_folder(task) / "external_inputs/specification.yaml").read_text(encoding="utf-8"))["spec_id"], "SPEC-" + suffix)

    def test_a_task_without_an_accepted_specification_is_refused(self):
        self.assert_code(self.start("--exit-after", "intake"), 0)
        self.assert_error(self.run_with(short_transcript(), "implement", "--from-task", self.task(), "Implement"), "AF-EXT-004", "intake", f"agentforge continue {self.task()[-8:]}")
        self.assert_error(self.run_with(short_transcript(), "implement", "--from-task", "task-20990101-nothing", "Implement"), "AF-TASK-002")
        self.assertEqual(len(self.tasks()), 1)

    def test_the_remedy_for_a_task_without_a_specification_works(self):
        """The remedy depends on the task's state: continue an ended task, approve a waiting one; an aborted one has no remedy."""
        self.assert_code(self.start("--pipeline", "design", "--iterate"), 22)
        task = self.task()
        implement = lambda: self.run_with(only(short_transcript(), "red"), "implement", "--from-task", task, "--exit-after", "red", "Implement")  # noqa: E731
        self.assert_error(implement(), "AF-EXT-004", f"agentforge approve {task[-8:]}")
        self.assert_code(self.run_program("approve", task), 0)
        self.assert_code(implement(), 0)

    def test_a_task_that_was_aborted_has_no_specification_to_wait_for(self):
        self.assert_code(self.start("--pipeline", "design", "--approve", "intake"), 22)
        self.assert_code(self.run_program("abort", self.task()), 0)
        refused = self.assert_error(self.run_with(short_transcript(), "implement", "--from-task", self.task(), "Implement"), "AF-EXT-004", "Name another task")
        self.assertNotIn("agentforge resume", refused.err)

    def commit(self, path, text, message):
        (self.repository / path).write_text(text, encoding="utf-8")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def test_a_specification_is_stale_if_a_named_file_changed(self):
        self.assert_code(self.run_program("design", "--transcript", TRANSCRIPT, REQUEST), 0)
        self.commit("CHANGELOG.md", "# Changes\n", "Begin the changelog anew")
        rest = only(short_transcript(), "red", "green", "refactor", "deliver")
        implement = ("implement", "--from-task", self.task(), "Implement what was designed")
        self.assert_code(self.run_with(rest, *implement, "--dry-run"), 0)
        package = (self.repository / "textkit/__init__.py").read_text(encoding="utf-8")
        self.commit("textkit/__init__.py", package + "\nVERSION = 2\n", "Name the version")
        outcome = self.run_with(rest, *implement)
        self.assert_error(outcome, "AF-ORCH-055", "textkit/__init__.py", "Name the version", "--accept-stale")
        self.assertNotIn("CHANGELOG.md", outcome.err)
        self.assertEqual(len(self.tasks()), 1)
        design = self.task()
        self.assert_code(self.run_with(rest, *implement, "--accept-stale", "It only names the version", "--exit-after", "red"), 0)
        task = next(name for name in self.tasks() if name != design)
        freshness = self.records("external_artifact_imported", task)[0]["freshness"]
        self.assertEqual((freshness["accepted"], [file["path"] for file in freshness["stale"]]), ("It only names the version", ["textkit/__init__.py"]))

    def test_a_specification_is_stale_if_included_changes_differ(self):
        self.assert_code(self.run_program("design", "--transcript", TRANSCRIPT, REQUEST), 0)
        file = self.repository / "textkit/__init__.py"
        package = file.read_text(encoding="utf-8")
        file.write_text(package + "\nVERSION = 2\n", encoding="utf-8")
        rest = only(short_transcript(), "red", "green", "refactor", "deliver")
        implement = ("implement", "--from-task", self.task(), "Implement what was designed", "--include-uncommitted")
        for more in (("--dry-run",), ()):
            self.assert_error(self.run_with(rest, *implement, *more), "AF-ORCH-055", "textkit/__init__.py", "not committed", "--accept-stale")
        self.assertEqual(len(self.tasks()), 1)
        self.assert_code(self.run_with(rest, *[word for word in implement if word != "--include-uncommitted"], "--dry-run"), 0)
        file.write_text(package, encoding="utf-8")
        (self.repository / "NOTES.md").write_text("not named\n", encoding="utf-8")
        self.assert_code(self.run_with(rest, *implement, "--dry-run"), 0)

    def test_a_specification_whose_commit_is_gone_is_usable_if_confirmed(self):
        """Without the commit, AgentForge cannot tell which files have changed since."""
        self.assert_code(self.run_program("design", "--transcript", TRANSCRIPT, REQUEST), 0)
        base = self.git("rev-parse", "HEAD").strip()
        self.git("commit", "--amend", "-q", "-m", "Rewritten")
        self.git("reflog", "expire", "--expire=now", "--all")
        self.git("gc", "-q", "--prune=now")
        implement = ("implement", "--from-task", self.task(), "--exit-after", "red", "Implement what was designed")
        self.assert_error(self.run_with(only(short_transcript(), "red"), *implement), "AF-ORCH-055", base[:8], "is gone", "--accept-stale")
        self.assertEqual(len(self.tasks()), 1)
        design = self.task()
        self.assert_code(self.run_with(only(short_transcript(), "red"), *implement, "--accept-stale", "Only the message was rewritten"), 0)
        task = next(name for name in self.tasks() if name != design)
        self.assertEqual(self.records("external_artifact_imported", task)[0]["freshness"]["accepted"], "Only the message was rewritten")
        self.assert_error(self.run_program("continue", design), "AF-ORCH-055", "is gone")
        self.assert_code(self.go_on("continue", design, "--extend-to", "red", "--accept-stale", "Only the message was rewritten"), 0)

    def test_a_plan_of_the_loop_is_implemented_as_a_specification(self):
        self.assert_code(self.start("--pipeline", "loop", "--exit-after", "plan", transcript=model.good()), 0)
        loop = self.task()
        self.assert_code(self.run_with(only(short_transcript(), "red", "green", "refactor", "deliver"), "implement", "--from-task", loop, "Implement the plan"), 0)
        task = next(name for name in self.tasks() if name != loop)
        self.assertTrue(self.records("delivered", task))
        kept = yaml.safe_load((self.task_folder(task) / "external_inputs/specification.yaml").read_text(encoding="utf-8"))
        self.assertNotIn("steps", kept)

    def template(self, name, stages, more):
        file = self.repository / f".agentforge/pipelines/{name}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        pipeline = {"name": name, "description": "Ours", "goal_type": name, **more, "stages": [{"name": stage} for stage in stages]}
        file.write_text(yaml.safe_dump({"pipeline": pipeline}, sort_keys=False), encoding="utf-8")

    def test_artifacts_that_a_template_provides_start_the_next_task(self):
        self.template("look", ["analyze"], {"continuation": {"prompt": "More", "next_pipeline": "mend", "provides": ["analysis"]}})
        self.template("mend", ["intake", "analyze", "spec"], {"accepts_external": {"findings": {"contract": "analysis", "skips_to": "spec"}}})
        self.assertIn("--pipeline mend --from-task", self.assert_code(self.start("--pipeline", "look"), 0).out)
        look = self.task()
        self.assert_code(self.run_with(only(short_transcript(), "spec"), "start", "--pipeline", "mend", "--from-task", look, "Go on"), 0)
        task = next(name for name in self.tasks() if name != look)
        self.assertEqual(([each["artifact_type"] for each in self.records("external_artifact_imported", task)], self.stages(task=task)), (["findings"], ["spec"]))

    def test_tests_that_a_task_provides_are_not_rewritten(self):
        """Each test keeps the requirement that its task gave it, whatever its file says."""
        transcript = only(short_transcript(), "analyze", "red")
        self.assertNotIn("REQ-", str(entry(transcript, "red", 1)["tool_calls"]))
        self.assert_code(self.run_with(transcript, "test", "--spec", self.spec_file()), 0)
        first = self.task()
        suite = lambda task: yaml.safe_load((self.task_folder(task) / "artifacts/phases/red/test_suite.yaml").read_text(encoding="utf-8"))  # noqa: E731
        rest = only(short_transcript(), "green", "refactor", "deliver")
        self.assert_code(self.run_with(rest, "implement", "--from-task", first, "Implement it"), 0)
        second = next(name for name in self.tasks() if name != first)
        self.assertEqual((self.stages(task=second), self.skipped(second)["red"]), (["green", "refactor", "deliver"], "tests_provided"))
        imported = {each["artifact_type"]: each for each in self.records("external_artifact_imported", second)}
        self.assertEqual((imported["test_suite"]["source"], imported["test_suite"]["source_task"]), ("task_reference", first))
        traced = lambda task: {requirement: sorted(tests) for requirement, tests in suite(task)["coverage_mapping"].items()}  # noqa: E731
        self.assertEqual(traced(second), traced(first))
        self.assertTrue(self.records("delivered", second))
        self.assert_code(self.run_program("replay", second), 0)

    def test_given_tests_replace_those_of_the_task(self):
        self.template("mytest", ["analyze", "red"], {"requires_external": {"specification": {"contract": "specification"}},
                                                     "continuation": {"prompt": "More", "next_pipeline": "implement", "provides": ["specification", "test_suite"]}})
        self.assert_code(self.run_with(only(short_transcript(), "analyze", "red"), "start", "--pipeline", "mytest", "--spec", self.spec_file(), "--exit-after", "analyze", REQUEST), 0)
        first = self.task()
        rest = only(short_transcript(), "green", "refactor", "deliver")
        self.assert_error(self.run_with(rest, "implement", "--from-task", first, "Implement it"), "AF-EXT-004", "no accepted `test_suite`")
        self.assert_code(self.run_with(rest, "implement", "--from-task", first, "--from-tests", self.folder_of_tests(), "Implement it"), 0)

    def test_a_replay_begins_where_the_task_began(self):
        self.assert_code(self.run_with(only(short_transcript(), "red", "green", "refactor", "deliver"), "implement", "--from-spec", self.spec_file(), "Implement the slugs"), 0)
        self.assert_code(self.run_program("replay", self.task()), 0)


class TestGoalPipelines(EntryTest):
    """Each goal, with the command that starts it."""

    def test_test_runs_analyze_and_red_on_a_specification(self):
        self.assert_code(self.run_with(only(short_transcript(), "analyze", "red"), "test", "--spec", self.spec_file()), 0)
        self.assertEqual(self.stages(), ["analyze", "red"])
        self.assertEqual(self.run_program("status", self.task(), "--json").json["request"], "Write tests for the specification: Add slugify")
        self.assert_nothing_delivered()

    def test_test_without_a_specification_says_how_to_give_one(self):
        self.assert_error(self.run_with(short_transcript(), "test"), "AF-EXT-003", "--from-spec", "--from-task")
        self.assert_error(self.start(request="Test the parser"), "AF-EXT-003", "specification")
        self.assertEqual(self.tasks(), [])

    def test_document_analyzes_and_delivers_only_documents(self):
        transcript = only(load_transcript(), "analyze", "deliver")
        self.assert_code(self.run_with(transcript, "document", "textkit/"), 0)
        self.assertEqual(self.stages(), ["analyze", "deliver"])
        changed = self.git("show", "--name-only", "--format=%s", self.records("delivered")[0]["commit"]).split("\n")
        self.assertEqual(changed[0], "Document textkit/ of this repository")
        self.assertEqual(sorted(filter(None, changed[1:])), ["CHANGELOG.md", "docs/slugs.md"])

    def test_implement_runs_every_stage_and_fix_ends_at_green(self):
        plan = lambda *words: [stage["name"] for stage in self.run_program(*words, "--transcript", TRANSCRIPT, "--dry-run", "--json").json["stages"]]  # noqa: E731
        self.assertEqual(plan("implement", "Add a cache"), ["intake", "clarify", "analyze", "spec", "red", "green", "refactor", "deliver"])
        self.assertEqual(plan("design", "Add a cache"), ["intake", "clarify", "analyze", "spec"])
        self.assertEqual(plan("review", "Add a cache"), ["analyze"])
        self.assertEqual(self.run_program("pipelines", "show", "fix", "--json").json["exit"]["stage"], "green")

    def test_whole_words_determine_the_goal(self):
        for request, goal in (("Document the parser", "document"), ("Write documentation for the parser", "document"), ("the latest prefix of the documentary", "implement"),
                              ("Add tests beside the code", "test"), ("Add a test page", "implement")):
            with self.subTest(request):
                outcome = self.run_program("start", "--transcript", TRANSCRIPT, "--dry-run", request)
                self.assertIn(f"agentforge: goal {goal}, pipeline {goal}, ", outcome.err)

    def test_a_design_ends_with_its_summary_and_says_what_may_follow(self):
        outcome = self.assert_code(self.run_program("design", "--transcript", TRANSCRIPT, REQUEST), 0)
        for words in ("Specified: Add slugify", "REQ-003 (should)", "Do you want to continue with the implementation?", f"--pipeline implement --from-task {self.task()}"):
            self.assertIn(words, outcome.out)
        told = self.run_program("design", "--transcript", TRANSCRIPT, "--json", REQUEST).json
        self.assertEqual(told["continuation"]["next_pipeline"], "implement")


class TestSpecificationTemplates(EntryTest):
    """Templates, copied unchanged from the specification."""

    def setUp(self):
        super().setUp()
        folder = self.repository / ".agentforge" / "pipelines"
        folder.mkdir(parents=True)
        for file in (SOURCE / "tests/unit/config/templates").glob("*.yaml"):
            (folder / file.name).write_bytes(file.read_bytes())

    def test_the_projects_pipelines_are_valid_and_listed_as_its_own(self):
        self.assert_code(self.run_program("pipelines", "validate"), 0)
        told = self.run_program("pipelines", "list", "--json").json["pipelines"]
        self.assertEqual(sorted(each["name"] for each in told if each["of_project"]), ["design", "implement", "test"])

    def test_design_hands_its_specification_to_implement(self):
        design = self.assert_code(self.run_program("design", "--transcript", TRANSCRIPT, REQUEST), 0)
        self.assertIn("Would you like to continue to implementation?", design.out)
        first = self.task()
        self.assert_code(self.run_with(only(short_transcript(), "red", "green", "refactor", "deliver"), "implement", "--from-task", first, "Implement what was designed"), 0)
        self.assertTrue(self.records("delivered", next(name for name in self.tasks() if name != first)))

    def test_implement_runs_whole(self):
        self.assert_code(self.run_with(short_transcript(), "implement", REQUEST), 0)
        self.assertTrue(self.records("delivered"))

    def test_test_takes_its_specification_from_outside(self):
        self.assert_error(self.run_with(short_transcript(), "test", "Write tests"), "AF-EXT-003")
        self.assert_code(self.run_with(only(short_transcript(), "analyze", "red"), "test", "--spec", self.spec_file()), 0)
        self.assertEqual(self.stages(), ["analyze", "red"])


class TestOverlays(EntryTest):
    def overlay(self, *changes):
        file = self.repository / ".agentforge/pipelines/implement.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(yaml.safe_dump({"pipeline": {"name": "implement", "extends": "agentforge:implement", "changes": list(changes)}}, sort_keys=False), encoding="utf-8")

    def test_a_project_removes_a_shipped_stage(self):
        self.overlay({"remove": "refactor"})
        transcript = short_transcript()
        self.assert_code(self.run_with(only(transcript, "intake", "clarify", "analyze", "spec", "red", "green", "deliver"), "implement", REQUEST), 0)
        self.assertNotIn("refactor", [record["stage"] for record in self.records("stage_started")])

    def test_a_template_that_would_fail_at_run_time_is_refused_with_its_line(self):
        """A removed stage whose artifact another stage needs; a stage whose plugin needs an artifact that no stage makes."""
        self.overlay({"remove": "clarify"}, {"remove": "spec"})
        refused = self.assert_code(self.run_program("pipelines", "validate"), 1)
        self.assertRegex(refused.all, r"AF-PIPE-020: stage red builds on a specification.*\.agentforge/pipelines/implement\.yaml:6:")
        self.assert_error(self.start("--pipeline", "implement"), "AF-PIPE-020")
        self.overlay({"remove": "analyze"})
        refused = self.assert_code(self.run_program("pipelines", "validate"), 1)
        self.assertRegex(refused.all, r"AF-PIPE-020: stage spec builds on an analysis.*\.agentforge/pipelines/implement\.yaml:5:")
        (self.repository / ".agentforge/pipelines/implement.yaml").unlink()
        build = {"name": "build", "executor": "green", "agent": "software_developer", "contract": "implementation"}
        mine = {"pipeline": {"name": "mine", "description": "Ours", "goal_type": "implement", "stages": [{"name": "analyze"}, build]}}
        file = self.repository / ".agentforge/pipelines/mine.yaml"
        file.write_text(yaml.safe_dump(mine, sort_keys=False), encoding="utf-8")
        line = next(number for number, text in enumerate(file.read_text().splitlines(), 1) if "build" in text)
        for outcome in (self.run_program("pipelines", "validate"), self.run_program("pipelines", "validate", file), self.start("--pipeline", "mine", "--dry-run"), self.start("--pipeline", "mine")):
            self.assertEqual(outcome.code, 1, outcome)
            self.assertIn("AF-PIPE-020: stage build, run by `green`, builds on a specification", outcome.all)
            self.assertIn(f"mine.yaml:{line}:", outcome.all)
        self.assertEqual(self.tasks(), [])

    def test_the_stage_of_the_pages_example_runs_where_it_is_inserted(self):
        """Runs the example of docs/pipelines.md with `after: spec`, and with its alternative `before: red`."""
        example = re.search(r"^```\n# \.agentforge/pipelines/implement\.yaml\n(.*?)^```", (SOURCE / "docs" / "pipelines.md").read_text(encoding="utf-8"), re.M | re.S).group(1)
        self.assertRegex(example, r"after: spec +# or before: red\n")
        file = self.repository / ".agentforge/pipelines/implement.yaml"
        file.parent.mkdir(parents=True)
        threats = {"analysis": {"summary": "A long title costs time."}, "components": [{"name": "slug", "type": "module"}], "affected_files": ["textkit/slug.py"], "dependencies": [], "risks": []}
        answers = only(short_transcript(), "intake", "analyze", "spec")
        answers["entries"].append({"stage": "threats", "role": "security_architect", "step": 1, "tool_calls": call("complete", **threats)})
        for text in (example, re.sub(r"after: spec.*", "before: red", example)):
            with self.subTest(text):
                file.write_text(text, encoding="utf-8")
                self.assertRegex(self.assert_code(self.run_program("pipelines", "show", "implement", "--origin"), 0).out,
                                 r"\nspec +shipped .*\nthreats +project +\S+\.agentforge/pipelines/implement\.yaml:\d+:\d+ \(inserted\)\nred +shipped ")
                before = set(self.tasks())
                self.assert_code(self.run_with(answers, "implement", "--exit-after", "threats", REQUEST), 0)
                task = (set(self.tasks()) - before).pop()
                self.assertEqual(self.stages(task=task), ["intake", "analyze", "spec", "threats"])
                self.assertIn("A long title costs time.", (self.task_folder(task) / "artifacts/phases/threats/threats.yaml").read_text(encoding="utf-8"))

    def test_origin_says_where_each_stage_was_written(self):
        self.overlay({"replace": {"name": "refactor", "max_steps": 9}})
        outcome = self.assert_code(self.run_program("pipelines", "show", "implement", "--origin"), 0)
        self.assertRegex(outcome.out, r"intake +shipped +\S+config/pipelines/implement\.yaml:\d+:\d+\n")
        self.assertRegex(outcome.out, r"refactor +project +\S+\.agentforge/pipelines/implement\.yaml:\d+:\d+ \(replaced\)\n +the rest +\S+config/pipelines/implement\.yaml:")
        told = self.run_program("pipelines", "show", "implement", "--origin", "--json").json["stages"]
        self.assertEqual([each["change"] for each in told if each["of_project"]], ["replaced"])

    def test_a_replaced_stage_keeps_unchanged_fields(self):
        before = self.run_program("pipelines", "show", "implement", "--json").json
        self.overlay({"replace": {"name": "refactor", "max_steps": 9}}, {"replace": {"name": "spec", "purpose": "To agree on it"}}, {"replace": {"name": "spec", "max_cycles": 2}})
        after = self.run_program("pipelines", "show", "implement", "--json").json
        stages = [{stage["name"]: stage for stage in told["stages"] if stage["name"] in ("refactor", "spec")} for told in (before, after)]
        for name, more in (("refactor", {"max_steps": 9}), ("spec", {"purpose": "To agree on it", "max_cycles": 2})):
            self.assertEqual(stages[1][name], {**stages[0][name], **more})
        self.assertTrue(stages[1]["spec"]["iterate"])
        self.assert_code(self.start("--iterate", "--dry-run"), 0)

    def test_a_stage_replaced_from_another_pipeline_keeps_its_fields(self):
        file = self.repository / ".agentforge/pipelines/design.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("pipeline:\n  name: design\n  extends: agentforge:design\n  changes:\n    - replace: {name: spec, max_steps: 9}\n", encoding="utf-8")
        self.assertRegex(self.assert_code(self.run_program("pipelines", "show", "design", "--origin"), 0).out, r"the rest +\S+config/pipelines/design\.yaml:")

    def test_a_broken_change_is_refused_with_its_line(self):
        self.overlay({"remove": "refector"})
        self.assert_error(self.run_program("pipelines", "list"), "AF-PIPE-017", "refactor", "implement.yaml:")


class TestEntryPage(EntryTest):
    """The commands of docs/pipelines.md, word for word."""

    def commands(self):
        page = (SOURCE / "docs" / "pipelines.md").read_text(encoding="utf-8")
        return [line for block in re.findall(r"^```\n(.*?)^```", page, re.M | re.S) for line in block.splitlines() if line.startswith("agentforge ")]

    def plan_of(self, words):
        """Returns the pipeline and stages of a command that starts a task, by its `--dry-run`."""
        told = self.assert_code(self.run_program(*words, "--transcript", TRANSCRIPT, "--dry-run", "--json"), 0).json
        return told["pipeline"], [stage["name"] for stage in told["stages"] if not stage["skipped"]]

    def violation(self):
        """Commits a violation. Returns its id."""
        (self.repository / "textkit" / "store.py").write_text(STORE, encoding="utf-8")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "Add a store")
        return next(each["id"] for each in self.assert_code(self.run_program("check", "--json"), 1).json["violations"] if each["check"] == "sql-injection")

    def test_each_goal_runs_the_stages_of_its_row(self):
        rows = re.findall(r"^\| (\w+) \| `(agentforge [^`]+)` \| ([^|]+) \|", (SOURCE / "docs" / "pipelines.md").read_text(encoding="utf-8"), re.M)
        self.assertEqual([goal for goal, _, _ in rows], ["design", "implement", "test", "review", "fix", "document"])
        (self.repository / "src" / "auth").mkdir(parents=True)
        (self.repository / "src" / "auth" / "__init__.py").write_text("", encoding="utf-8")
        (self.repository / "spec.yaml").write_text(yaml.safe_dump(specification()), encoding="utf-8")
        violation = self.violation()
        for goal, command, stages in rows:
            with self.subTest(command):
                stages = "intake, clarify, analyze, spec, red, green, refactor, deliver" if stages == "all eight" else stages
                self.assertEqual(self.plan_of(shlex.split(re.sub(r"V-[0-9a-f]{12}", violation, command))[1:]), (goal, stages.split(", ")))
        self.assertEqual(self.tasks(), [])

    def test_an_unknown_violation_is_named(self):
        self.assert_error(self.run_program("fix", "V-04b31cde217a", "--transcript", TRANSCRIPT), "AF-GATE-171", "V-04b31cde217a")
        self.assertEqual(self.tasks(), [])

    # The pipelines of the commands that start a task, in the order of the page.
    PLANS = [("design", "intake clarify analyze spec"), ("implement", "intake clarify analyze spec"), ("implement", "intake clarify analyze"),
             ("implement", "red green refactor deliver"), ("implement", "red green refactor deliver"), ("implement", "green refactor deliver"), ("test", "analyze red"), ("test", "analyze red"),
             ("implement", "red green refactor deliver"), ("mine", "spec"), ("mine", "intake analyze spec")]

    def test_each_command_works_as_documented(self):
        tests = self.repository / "tests" / "oauth"
        tests.mkdir(parents=True)
        (tests / "test_slug.py").write_text(TESTS, encoding="utf-8")
        self.assert_code(self.run_program("design", "--transcript", TRANSCRIPT, REQUEST), 0)
        task = self.task()
        file = self.repository / ".agentforge/pipelines/mine.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("pipeline:\n  name: mine\n  description: x\n  goal_type: mine\n  accepts_external: {threats: {contract: analysis, skips_to: spec}}\n"
                        "  stages:\n    - name: intake\n    - {name: clarify, required: false}\n    - name: analyze\n    - name: spec\n", encoding="utf-8")
        (self.repository / "custom-pipeline.yaml").write_text(file.read_text(encoding="utf-8").replace("name: mine", "name: custom-pipeline", 1), encoding="utf-8")
        (self.repository / "spec.yaml").write_text(yaml.safe_dump(specification()), encoding="utf-8")
        (self.repository / "threats.yaml").write_text("analysis: {summary: x}\ncomponents: [{name: a, type: module}]\n", encoding="utf-8")
        plans = []
        for command in self.commands():
            with self.subTest(command):
                words = shlex.split(command.partition(" > ")[0].replace("TASK", task))[1:]
                if words[0] in ("pipelines", "contracts"):
                    self.assert_code(self.run_program(*words), 0)
                    continue
                pipeline, stages = self.plan_of(words)
                plans.append((pipeline, " ".join(stages)))
        self.assertEqual(plans, self.PLANS)


class TestExitPoints(EntryTest):
    def test_through_and_exit_after_end_with_a_verified_artifact_at_exit_points(self):
        file = self.repository / ".agentforge/pipelines/implement.yaml"
        file.parent.mkdir(parents=True)
        file.write_text("pipeline:\n  name: implement\n  extends: agentforge:implement\n  changes:\n    - replace: {name: clarify, exit_point: false}\n", encoding="utf-8")
        self.assert_error(self.start("--exit-after", "clarify"), "AF-EXT-012", "intake, analyze")
        self.assertEqual(self.tasks(), [])
        self.assert_code(self.start("--through", "analyze"), 0)

    def exitless(self, stage, **more):
        file = self.repository / ".agentforge/pipelines/implement.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(yaml.safe_dump({"pipeline": {"name": "implement", "extends": "agentforge:implement", "changes": [{"replace": {"name": stage, "exit_point": False, **more}}]}}), encoding="utf-8")

    def test_no_answer_ends_a_task_at_a_stage_that_is_not_an_exit_point(self):
        self.exitless("spec", iterate=True)
        self.assert_code(self.start("--iterate"), 22)
        self.assert_error(self.run_program("approve", self.task(), "--exit"), "AF-EXT-012", "`spec` is not an exit point")
        waiting = self.run_program("status", self.task(), "--json").json["approval"]["id"]
        (self.repository / f".agentforge/escalations/{waiting}.resolution.yaml").write_text("decision: exit\n", encoding="utf-8")
        self.assert_error(self.run_program("resume", self.task()), "AF-ESC-067", "`spec` is not an exit point")
        self.assertEqual(self.records("task_completed"), [])

    def test_no_continuation_ends_a_task_at_a_stage_that_is_not_an_exit_point(self):
        self.exitless("red")
        self.assert_code(self.run_program("design", "--transcript", TRANSCRIPT, REQUEST), 0)
        self.assert_error(self.run_program("continue", self.task(), "--extend-to", "red"), "AF-EXT-012", "`red` is not an exit point")

    def test_through_continues_past_a_default_exit(self):
        file = self.repository / ".agentforge/pipelines/mine.yaml"
        file.parent.mkdir(parents=True)
        file.write_text("pipeline:\n  name: mine\n  description: x\n  goal_type: mine\n  stages:\n    - {name: intake, default_exit: true}\n    - name: clarify\n    - name: analyze\n", encoding="utf-8")
        self.assert_code(self.start("--pipeline", "mine"), 0)
        self.assertEqual(self.stages(), ["intake"])
        self.assert_code(self.start("--pipeline", "mine", "--through", "analyze"), 0)
        newest = max(self.tasks(), key=lambda task: (self.task_folder(task) / "task.yaml").stat().st_mtime_ns)
        self.assertEqual(self.stages(task=newest), ["intake", "clarify", "analyze"])


if __name__ == "__main__":
    main()
