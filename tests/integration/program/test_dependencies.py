# SPDX-License-Identifier: Apache-2.0
"""Dependencies of a specification: stages of other tasks, and artifacts of other repositories."""

import json

import yaml

from harness import REQUEST, ProgramTest, entry, main, short_transcript


class DependencyTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make_repository()

    def depending(self, **dependencies):
        """Returns the short transcript with a specification that has these dependencies."""
        transcript = short_transcript()
        entry(transcript, "spec", 1, "software_architect")["tool_calls"][0]["arguments"]["dependencies"] = dependencies
        return transcript

    def other_task(self, *arguments):
        """Runs a task that ends after its specification, or waits where `arguments` say. Returns its id."""
        before = set(self.tasks())
        self.assert_code(self.start(*(arguments or ("--exit-after", "spec")), transcript=short_transcript()), 0 if not arguments else 22)
        return (set(self.tasks()) - before).pop()

    def started(self, transcript, code=22, *arguments):
        before = set(self.tasks())
        outcome = self.assert_code(self.start(*arguments, transcript=transcript), code)
        return (set(self.tasks()) - before).pop(), outcome

    def reached(self, task):
        return [record["stage"] for record in self.records("stage_started", task)]


class TestTaskDependency(DependencyTest):
    def test_a_task_pauses_after_its_specification_until_the_other_has_reached_the_stage(self):
        other = self.other_task("--approve", "intake")
        waiting, outcome = self.started(self.depending(tasks=[{"task_id": other, "required_stage": "spec", "reason": "Its interfaces are used"}]))
        self.assertIn("AF-DEP-001", outcome.err, outcome)
        self.assertIn(f"waits for stage `spec` of task {other}", outcome.err)
        self.assertIn(f"agentforge resume {waiting[-8:]}", outcome.err)
        self.assertNotIn("red", self.reached(waiting))
        self.assertIn(f"waits for stage `spec` of task {other}", self.assert_code(self.run_program("status", waiting), 0).out)
        arguments = self.transcript_arguments

        self.assert_error(self.run_program("resume", *arguments, waiting), "AF-DEP-001", other, exit_code=22)
        file = self.folder / "other.yaml"
        file.write_text(yaml.safe_dump(short_transcript(), allow_unicode=True, sort_keys=False), encoding="utf-8")
        self.assert_code(self.run_program("approve", "--set", "llm.backend=replay", "--set", f"llm.transcript={file}", other), 0)
        self.assert_code(self.run_program("resume", *arguments, waiting), 0)
        met, = self.records("dependencies_met", waiting)
        self.assertEqual((met["stage"], met["tasks"][0]["task_id"], met["tasks"][0]["required_stage"]), ("red", other, "spec"))
        self.assertEqual(met["tasks"][0]["commit"], self.git("rev-parse", f"agentforge/{other}").strip())
        self.assertEqual(len([each for each in self.journal(waiting) if each["type"] == "delivered"]), 1)

    def test_the_next_run_of_its_file_checks_again(self):
        other = self.other_task("--approve", "intake")
        arguments = self.transcript_arguments
        transcript = self.folder / "depending.yaml"
        transcript.write_text(yaml.safe_dump(self.depending(tasks=[{"task_id": other, "required_stage": "spec"}]), allow_unicode=True, sort_keys=False), encoding="utf-8")
        requests = self.folder / "requests.txt"
        requests.write_text(json.dumps({"request": REQUEST, "transcript": str(transcript)}) + "\n", encoding="utf-8")
        self.assertIn("1 waits", self.assert_code(self.run_program("run", requests), 22).out)
        self.assert_code(self.run_program("approve", *arguments, other), 0)
        self.assert_code(self.run_program("run", requests), 0)
        waiting = next(task for task in self.tasks() if task != other)
        self.assertEqual(len(self.records("delivered", waiting)), 1)

    def test_waiting_costs_no_model_call(self):
        other = self.other_task("--approve", "intake")
        waiting, _ = self.started(self.depending(tasks=[{"task_id": other, "required_stage": "deliver"}]))
        before = len(self.records("answer", waiting))
        for _ in range(2):
            self.assert_code(self.go_on("resume", waiting), 22)
        self.assertEqual(len(self.records("answer", waiting)), before)

    def test_an_aborted_dependency_is_reported_as_never_available(self):
        other = self.other_task("--approve", "intake")
        waiting, _ = self.started(self.depending(tasks=[{"task_id": other, "required_stage": "spec"}]))
        self.assert_code(self.run_program("abort", other), 0)
        self.assert_error(self.go_on("resume", waiting), "AF-DEP-002", other, "aborted", exit_code=22)

    def test_a_task_that_ends_with_its_specification_does_not_wait(self):
        other = self.other_task("--approve", "intake")
        self.started(self.depending(tasks=[{"task_id": other, "required_stage": "spec"}]), 0, "--exit-after", "spec")

    def test_an_unknown_task_is_an_error_in_the_specification(self):
        outcome = self.start(transcript=self.depending(tasks=[{"task_id": "task-20260101-nothing-00000000", "required_stage": "spec"}]))
        self.assertNotEqual(outcome.code, 0)
        rejected = self.records("artifact_rejected")[0]
        self.assertIn("task-20260101-nothing-00000000", " ".join(rejected["errors"]))

    def test_tasks_that_wait_for_each_other_are_refused_with_both_ids(self):
        first = self.other_task("--approve", "intake")
        second, _ = self.started(self.depending(tasks=[{"task_id": first, "required_stage": "deliver"}]))
        file = self.folder / "circle.yaml"
        file.write_text(yaml.safe_dump(self.depending(tasks=[{"task_id": second, "required_stage": "deliver"}]), allow_unicode=True, sort_keys=False), encoding="utf-8")
        self.assertNotEqual(self.run_program("approve", "--set", "llm.backend=replay", "--set", f"llm.transcript={file}", first).code, 0)
        errors = " ".join(self.records("artifact_rejected", first)[0]["errors"])
        self.assertIn(f"task {first} waits for task {second}, and task {second} for task {first}", errors)

    def test_a_cycle_closed_after_both_specifications_were_accepted_fails_the_task(self):
        """Neither specification counts before a person approves it, so no earlier stage can report the cycle."""
        first = self.other_task("--approve", "intake", "--approve", "spec")
        second, _ = self.started(self.depending(tasks=[{"task_id": first, "required_stage": "deliver"}]), 22, "--approve", "spec")
        own = self.transcript_arguments
        file = self.folder / "circle.yaml"
        file.write_text(yaml.safe_dump(self.depending(tasks=[{"task_id": second, "required_stage": "deliver"}]), allow_unicode=True, sort_keys=False), encoding="utf-8")
        others = ["--set", "llm.backend=replay", "--set", f"llm.transcript={file}"]
        self.assert_code(self.run_program("approve", *others, first), 22)
        self.assertEqual(self.records("artifact_rejected", first), [])
        self.assert_error(self.run_program("approve", *own, second), "AF-DEP-001", first, exit_code=22)
        self.assert_error(self.run_program("approve", *others, first), "AF-DEP-003", f"task {first} waits for task {second}, and task {second} for task {first}")
        self.assertEqual(self.records("task_failed", first)[0]["code"], "AF-DEP-003")

    def test_waiting_for_a_waiting_task_is_not_a_cycle(self):
        first = self.other_task("--approve", "intake")
        second, _ = self.started(self.depending(tasks=[{"task_id": first, "required_stage": "deliver"}]))
        specification = entry(short_transcript(), "spec", 1, "software_architect")["tool_calls"][0]["arguments"]
        specification["dependencies"] = {"tasks": [{"task_id": second, "required_stage": "deliver"}]}
        file = self.folder / "spec.yaml"
        file.write_text(yaml.safe_dump(specification), encoding="utf-8")
        third = self.assert_code(self.start("--from-spec", file, transcript=short_transcript()), 22)
        self.assertIn("AF-DEP-001", third.err)      # The third waits for the second, which waits for the first: no cycle.

    def test_an_unknown_key_of_a_dependency_is_refused(self):
        outcome = self.start(transcript=self.depending(tasks=[{"task_id": "task-20260101-a-00000000", "required_stage": "spec", "requiredstage": "spec"}]))
        self.assertNotEqual(outcome.code, 0)
        self.assertEqual(self.records("dependencies_met"), [])


class TestTaskOfAnotherRepository(DependencyTest):
    def setUp(self):
        super().setUp()
        self.own = self.repository
        self.data = self.make_repository("data")
        for repository, name in ((self.own, "textkit"), (self.data, "data-layer")):
            self.assert_code(self.run_program("repo", "add", repository, "--name", name), 0)
        self.repository = self.data
        self.other = self.other_task("--approve", "intake")
        self.repository = self.own

    def answers(self, transcript):
        file = self.folder / "other.yaml"
        file.write_text(yaml.safe_dump(transcript, allow_unicode=True, sort_keys=False), encoding="utf-8")
        return ["--set", "llm.backend=replay", "--set", f"llm.transcript={file}"]

    def waiting_for_the_other(self):
        return self.started(self.depending(tasks=[{"task_id": self.other, "required_stage": "spec", "repo": "data-layer"}]))

    def test_waits_for_its_stage_and_records_its_commit(self):
        waiting, outcome = self.waiting_for_the_other()
        self.assertIn(f"AF-DEP-001: waits for stage `spec` of task {self.other} of data-layer", outcome.err)
        self.assertNotIn("red", self.reached(waiting))
        own = self.transcript_arguments
        self.assert_code(self.run_program("--repo", "data-layer", "approve", *self.answers(short_transcript()), self.other, cwd=self.folder), 0)
        self.assert_code(self.run_program("resume", *own, waiting), 0)
        met, = self.records("dependencies_met", waiting)
        commit = self.git("rev-parse", f"agentforge/{self.other}", cwd=self.data).strip()
        self.assertEqual([(task["task_id"], task["repo"], task["required_stage"], task["commit"]) for task in met["tasks"]], [(self.other, "data-layer", "spec", commit)])
        self.assertEqual(len(self.records("delivered", waiting)), 1)

    def test_tasks_of_two_repositories_that_wait_for_each_other_are_refused(self):
        waiting, _ = self.waiting_for_the_other()
        circle = self.answers(self.depending(tasks=[{"task_id": waiting, "required_stage": "deliver", "repo": "textkit"}]))
        self.assertNotEqual(self.run_program("--repo", "data-layer", "approve", *circle, self.other, cwd=self.folder).code, 0)
        self.repository = self.data
        errors = " ".join(self.records("artifact_rejected", self.other)[0]["errors"])
        self.assertIn(f"task {self.other} waits for task {waiting}, and task {waiting} for task {self.other}", errors)


class TestExternalDependency(DependencyTest):
    def setUp(self):
        super().setUp()
        self.data = self.make_repository("data")
        (self.data / "contracts").mkdir()
        for version, text in (("v1.1.0", "one"), ("v1.2.0", "two"), ("v1.10.0", "three"), ("v2.0.0-rc.1", "four")):
            (self.data / "contracts" / "user_events.yaml").write_text(text, encoding="utf-8")
            self.git("add", "-A", cwd=self.data)
            self.git("commit", "-q", "-m", version, cwd=self.data)
            self.git("tag", version, cwd=self.data)
        self.assert_code(self.run_program("repo", "add", self.data, "--name", "data-layer"), 0)

    def test_the_newest_matching_version_is_used_and_recorded(self):
        transcript = self.depending(external=[{"repo": "data-layer", "artifact": "user_events", "version": ">=1.2.0"}])
        task, _ = self.started(transcript, 0)
        met, = self.records("dependencies_met", task)
        commit = self.git("rev-parse", "v1.10.0", cwd=self.data).strip()
        self.assertEqual(met["external"], [{"repo": "data-layer", "artifact": "user_events", "version": ">=1.2.0", "tag": "v1.10.0", "commit": commit, "path": "contracts/user_events.yaml"}])

    def test_all_agents_but_the_specification_author_see_the_dependency(self):
        task, _ = self.started(self.depending(external=[{"repo": "data-layer", "artifact": "user_events", "version": ">=1.2.0"}]), 0)
        shown = {step["phase"]: self.run_program("inspect", task, "--step", step["step"], "--show", "context").out for step in self.steps(task)}
        for stage in ("red", "green"):
            for words in ("resolved_dependencies", "v1.10.0", self.git("rev-parse", "v1.10.0", cwd=self.data).strip(), "contracts/user_events.yaml"):
                self.assertIn(words, shown[stage])
        self.assertNotIn("resolved_dependencies", shown["spec"])

    def test_without_a_version_the_current_state_of_the_repository_is_used(self):
        task, _ = self.started(self.depending(external=[{"repo": "data-layer", "artifact": "contracts/user_events.yaml"}]), 0)
        found = self.records("dependencies_met", task)[0]["external"][0]
        self.assertEqual((found["path"], found["tag"]), ("contracts/user_events.yaml", "v1.10.0"))

    def test_a_repository_offers_what_was_declared_when_it_was_added(self):
        self.git("checkout", "-q", "-b", "next", cwd=self.data)
        (self.data / "offers").mkdir()
        (self.data / "offers" / "user_events.yaml").write_text("next", encoding="utf-8")
        self.git("add", "-A", cwd=self.data)
        self.git("commit", "-q", "-m", "next", cwd=self.data)
        self.git("checkout", "-q", "main", cwd=self.data)
        self.assert_code(self.run_program("repo", "remove", "data-layer"), 0)
        add = ["repo", "add", self.data, "--name", "data-layer"]
        self.assert_error(self.run_program(*add, "--default-branch", "nxt"), "AF-CONF-074", "no branch `nxt`", "--default-branch")
        self.assert_error(self.run_program(*add, "--contracts-path", "../offers"), "AF-CONF-074", "../offers", "--contracts-path")
        self.assert_error(self.run_program(*add, "--contracts-path", "offrs"), "AF-CONF-074", "has no folder `offrs`", "--contracts-path")
        told = self.assert_code(self.run_program(*add, "--default-branch", "next", "--contracts-path", "offers/", "--json"), 0).json
        self.assertEqual((told["default_branch"], told["contracts_path"]), ("next", "offers/"))
        self.assertEqual(self.assert_code(self.run_program("repo", "list", "--json"), 0).json["repositories"], [told])
        task, _ = self.started(self.depending(external=[{"repo": "data-layer", "artifact": "user_events"}]), 0)
        found = self.records("dependencies_met", task)[0]["external"][0]
        self.assertEqual((found["path"], found["commit"]), ("offers/user_events.yaml", self.git("rev-parse", "next", cwd=self.data).strip()))

    def test_a_missing_version_pauses_the_task_until_it_exists(self):
        task, outcome = self.started(self.depending(external=[{"repo": "data-layer", "artifact": "user_events", "version": ">=3"}]))
        self.assertIn("AF-DEP-004", outcome.err, outcome)
        self.assertIn("none of its tags fits: v2.0.0-rc.1, v1.10.0, v1.2.0, v1.1.0", outcome.err)
        self.git("tag", "v3.0.0", cwd=self.data)
        self.assert_code(self.go_on("resume", task), 0)
        self.assertEqual(self.records("dependencies_met", task)[0]["external"][0]["tag"], "v3.0.0")

    def test_a_resolved_version_does_not_change(self):
        task, _ = self.started(self.depending(external=[{"repo": "data-layer", "artifact": "user_events", "version": "^1"}]), 22, "--approve", "red")
        self.git("tag", "v1.11.0", cwd=self.data)
        self.assert_code(self.go_on("approve", task), 0)
        self.assertEqual([each["external"][0]["tag"] for each in self.records("dependencies_met", task)], ["v1.10.0"])

    def test_an_invalid_version_range_is_refused_in_a_given_specification(self):
        specification = entry(short_transcript(), "spec", 1, "software_architect")["tool_calls"][0]["arguments"]
        specification["dependencies"] = {"external": [{"repo": "data-layer", "artifact": "user_events", "version": "the newest"}]}
        file = self.folder / "spec.yaml"
        file.write_text(yaml.safe_dump(specification), encoding="utf-8")
        outcome = self.start("--from-spec", file, transcript=short_transcript())
        self.assert_error(outcome, "AF-EXT-001", "dependencies.external[0].version is \"the newest\"", "spec.yaml:")
        self.assertEqual(self.tasks(), [])

    def test_tags_of_both_kinds_are_named_if_none_matches(self):
        self.git("tag", "user_events-1.0.0", cwd=self.data)
        _, outcome = self.started(self.depending(external=[{"repo": "data-layer", "artifact": "user_events", "version": ">=1.2"}]))
        self.assertIn("none of its tags fits: user_events-1.0.0; tags that do not name it do not count: v2.0.0-rc.1, v1.10.0, v1.2.0, v1.1.0", outcome.err)

    def test_an_unknown_repository_is_an_error_in_the_specification(self):
        outcome = self.start(transcript=self.depending(external=[{"repo": "data-lair", "artifact": "user_events"}]))
        self.assertNotEqual(outcome.code, 0)
        self.assertIn("data-lair", " ".join(self.records("artifact_rejected")[0]["errors"]))


if __name__ == "__main__":
    main()
