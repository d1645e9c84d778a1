# SPDX-License-Identifier: Apache-2.0
"""The pipeline `loop` through the whole program: plan, execute, verify, review (docs/loop.md)."""

import json
import os
import re
import signal

import loop_model as model
import yaml
from harness import REQUEST, ProgramTest, main, wait_until


class LoopTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make_repository()

    def loop(self, transcript, *arguments):
        return self.start("--pipeline", "loop", *arguments, transcript=transcript)

    def completed(self):
        return [record["stage"] for record in self.records("stage_completed")]

    def plan_steps(self):
        return [(record["stage"], record["plan_step"]["number"], record["plan_step"]["attempt"]) for record in self.records("call_started") if "plan_step" in record]

    def cycles(self):
        return [(record["stage"], record["to"]) for record in self.records("cycle_started")]

    def shown_to(self, stage, visit=1, task=None):
        """Returns the context of the first step of a visit."""
        blobs = {blob["sha256"]: blob.get("text", "") for blob in yaml.safe_load((self.task_folder(task) / "artifacts" / "blobs" / "blobs.yaml").read_text())["blobs"]}
        record = next(record for record in self.steps(task) if record["phase"] == stage and record["visit"] == visit)
        return blobs[record["context_blob"]]


class FullWorkflowTests(LoopTest):
    def test_should_plan_execute_verify_review(self):
        outcome = self.assert_code(self.loop(model.good()), 0)
        self.assertEqual(self.completed(), ["plan", "tests", "execute", "verify", "review", "deliver"])
        self.assertIn("step 1 of 2: Write slugify", outcome.all)
        self.assertIn("step 2 of 2: Export it", outcome.all)
        delivered = self.git("show", "--stat", "--format=", self.records("delivered")[0]["commit"])
        self.assertIn("textkit/slug.py", delivered)
        self.assertIn("textkit/__init__.py", delivered)

    def criteria(self):
        artifact = yaml.safe_load((self.task_folder() / "artifacts" / "phases" / "verify" / "verification.yaml").read_text())
        return {each["criterion"]: (each["verified"], [test.split("::", 1)[1] for test in each["tests"]]) for each in artifact.get("content", artifact)["criteria"]}

    def test_each_criterion_is_verified_by_its_own_test_that_failed_before(self):
        transcript = model.good()
        suite = next(call["arguments"] for one in transcript["entries"] if one["stage"] == "tests" for call in one["tool_calls"] if call["name"] == "complete")
        joined, between, accents, empty, keeps = suite["test_files"][0]["tests"]
        between["acceptance_criterion"] = joined["acceptance_criterion"]
        del accents["acceptance_criterion"]
        keeps["acceptance_criterion"] = "No slug begins or ends with a hyphen"
        self.assert_code(self.loop(transcript), 0)
        self.assertEqual(self.criteria(), {joined["acceptance_criterion"]: (True, [joined["name"], between["name"]]), "No slug begins or ends with a hyphen": (False, [keeps["name"]]),
                                           "'Crème brûlée' becomes 'creme-brulee'": (True, [accents["name"]]), "'?!' becomes ''": (True, [empty["name"]])})

    def test_a_plan_that_depends_on_an_unknown_task_is_rejected(self):
        plan = model.plan(dependencies={"tasks": [{"task_id": "task-20260101-nothing-00000000", "required_stage": "deliver"}]})
        self.assertNotEqual(self.loop(model.transcript(plan)).code, 0)
        self.assertIn("task-20260101-nothing-00000000", " ".join(self.records("artifact_rejected")[0]["errors"]))

    def test_a_plan_with_a_step_without_an_estimate_is_refused(self):
        vague = [{key: value for key, value in step.items() if key != "estimate" or step["number"] != 2} for step in model.STEPS]
        second = [dict(each, step=2) for each in model.plan()]
        self.assert_code(self.loop(model.transcript(model.plan(steps=vague), second), "--exit-after", "plan"), 0)
        self.assertEqual([(step["result"]["status"], step["result"]["summary"]) for step in self.steps()],
                         [("failure", "the artifact does not satisfy contract `plan`: steps[1].estimate is missing"), ("success", "completed")])

    def test_should_handle_verification_failure(self):
        mended = [*model.writes_slugify(visit=2, replaces=model.WRONG)]
        outcome = self.assert_code(self.loop(model.transcript(model.plan(), model.tests(), model.writes_slugify(text=model.WRONG), model.exports(), mended, model.review(), model.deliver())), 0)
        self.assertEqual(self.cycles(), [("verify", "execute")])
        self.assertEqual(self.plan_steps(), [("execute", 1, 1), ("execute", 2, 1), ("execute", 2, 1)])
        self.assertIn("back from verify to execute: verification failed at the gate green", outcome.all)

    def test_should_handle_review_rejection(self):
        again = [model.plan(visit=2), model.tests(visit=2), model.writes_slugify(visit=2), model.exports(visit=2), model.review(visit=2)]
        rejects = model.review("replan", issues=[model.issue("Nothing is said of an empty title")])
        self.assert_code(self.loop(model.transcript(model.plan(), model.tests(), model.writes_slugify(), model.exports(), rejects, *again, model.deliver())), 0)
        self.assertEqual(self.cycles(), [("review", "plan")])
        self.assertIn("Nothing is said of an empty title", self.records("cycle_started")[0]["reason"])
        self.assertIn("Nothing is said of an empty title", self.shown_to("plan", visit=2))


class PipelineIntegrationTests(LoopTest):
    def test_should_complete_full_pipeline(self):
        self.assert_code(self.loop(model.good()), 0)
        gates = {record["gate"]: record["passed"] for record in self.records("gate") if record["stage"] in ("tests", "verify", "deliver")}
        self.assertTrue(gates["red"] and gates["green"] and gates["refactor"] and gates["deliver"], gates)

    def test_should_handle_mixed_outcomes(self):
        """A step fails and is retried, verification fails once, the review sends the code back once."""
        first = [model.fails(run=1), model.writes_slugify(run=2, text=model.WRONG), model.exports(run=3)]
        second = model.writes_slugify(visit=2, replaces=model.WRONG)
        third = [model.hands_in("Nothing more to do.", visit=3)]
        revises = model.review("revise", issues=[model.issue("Its comment says little", "medium")])
        self.assert_code(self.loop(model.transcript(model.plan(), model.tests(), *first, second, revises, third, model.review(visit=2), model.deliver())), 0)
        self.assertEqual(self.cycles(), [("verify", "execute"), ("review", "execute")])
        self.assertEqual(self.plan_steps()[:3], [("execute", 1, 1), ("execute", 1, 2), ("execute", 2, 1)])

    def test_gates_run_again_on_an_unchanged_tree_after_a_hand_back(self):
        revises = model.review("revise", issues=[model.issue("Its comment says little", "medium")])
        again = [model.hands_in("Its comment says enough.", visit=2)]
        self.assert_code(self.loop(model.transcript(model.plan(), model.tests(), model.writes_slugify(), model.exports(), revises, again, model.review(visit=2)), "--exit-after", "review"), 0)
        measured = [(record["gate"], record["tree"]) for record in self.records("gate") if record["stage"] == "verify"]
        self.assertEqual([gate for gate, _ in measured], ["green", "refactor"] * 2)
        self.assertEqual(len({tree for _, tree in measured}), 1)

    def test_should_resume_after_crash(self):
        """After a kill in the middle of the second step, the first step does not run again."""
        file = self.folder / "transcript.yaml"
        file.write_text(yaml.safe_dump(model.good(), allow_unicode=True, sort_keys=False), encoding="utf-8")
        process = self.spawn("start", "--transcript", file, "--pipeline", "loop", "Add a slugify function that turns a title into a URL slug")

        def works_at_step_2():
            tasks = self.tasks()
            journal = self.task_folder(tasks[0]) / "actions.yaml" if tasks else None
            return journal is not None and journal.exists() and re.search(r'"plan_step":\s*\{[^}]*"number":\s*2', journal.read_text(encoding="utf-8")) is not None

        wait_until(works_at_step_2, "the second step")
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        self.transcript_arguments = ["--set", "llm.backend=replay", "--set", f"llm.transcript={file}"]
        self.assert_code(self.go_on("resume", self.task()), 0)
        self.assertEqual([number for _, number, _ in self.plan_steps()], [1, 2])
        self.assertEqual(self.completed(), ["plan", "tests", "execute", "verify", "review", "deliver"])
        self.assert_journal_verifies()


class StateIntegrationTests(LoopTest):
    def test_should_persist_stage_changes(self):
        self.assert_code(self.loop(model.good(), "--exit-after", "plan"), 0)
        self.assertEqual([record["stage"] for record in self.records("stage_started")], ["plan"])
        self.assertEqual(self.run_program("status", self.task(), "--json").json["stages"]["plan"]["status"], "completed")

    def test_should_recover_state(self):
        """state.yaml is a projection: without it, `status` shows the same from the journal."""
        self.assert_code(self.loop(model.good()), 0)
        before = self.run_program("status", self.task(), "--json").json
        (self.task_folder() / "state.yaml").unlink()
        self.assertEqual(self.run_program("status", self.task(), "--json").json, before)


class ErrorIntegrationTests(LoopTest):
    def test_should_escalate_correctly(self):
        """First the step is retried, then the stage, then AgentForge asks a person. Finished steps stay finished."""
        tries = [model.fails(visit=visit, run=run) for visit, runs in ((1, (2, 3)), (2, (1, 2)), (3, (1, 2))) for run in runs]
        outcome = self.loop(model.transcript(model.plan(), model.tests(), model.writes_slugify(), *tries), "--set", "orchestration.step_retry_limit=1")
        self.assert_code(outcome, 22)
        failed = self.records("stage_failed")
        self.assertEqual([record["error"]["code"] for record in failed], ["AF-STAGE-050"] * 3)
        self.assertIn("step 2 (Export it) could not be done in 2 tries", failed[0]["error"]["message"])
        self.assertEqual(self.plan_steps(), [("execute", 1, 1)] + [("execute", 2, 1), ("execute", 2, 2)] * 3)

    def test_should_pause_on_unrecoverable(self):
        """At the cycle limit AgentForge asks a person. The answer allows the same number of cycles again."""
        wrong = [model.hands_in("I think it is right.", visit=visit) for visit in (2,)]
        outcome = self.loop(model.transcript(model.plan(), model.tests(), model.writes_slugify(text=model.WRONG), model.exports(), wrong), "--cycle-limit", "1")
        self.assert_code(outcome, 21)
        self.assertEqual(self.cycles(), [("verify", "execute")])
        self.assertIn("was sent back 1 time(s), its limit", self.records("escalation_raised") and self.run_program("status", self.task()).out)
        answered = model.transcript(model.plan(), model.tests(), model.writes_slugify(text=model.WRONG), model.exports(), wrong, model.writes_slugify(visit=3, replaces=model.WRONG), model.review(), model.deliver())
        (self.folder / "transcript.yaml").write_text(yaml.safe_dump(answered, allow_unicode=True, sort_keys=False), encoding="utf-8")
        self.assert_code(self.go_on("resume", self.task(), "--say", "Join the words by hyphens"), 0)
        self.assertEqual(self.cycles(), [("verify", "execute"), ("verify", "execute")])
        self.assertIn("Join the words by hyphens", self.shown_to("execute", visit=3))


class LoopContextTests(LoopTest):
    def test_should_provide_full_to_planner(self):
        """The planner sees the request, everything that people said since, in order, and the finished work."""
        fails = [model.said("plan", model.PLANNER, step, model.call("read_file", path="no/such/file.py")) for step in (2, 3, 4)]
        reads = [model.said("plan", model.PLANNER, 1, model.call("read_file", path="README.md"))]
        plans = model.transcript(reads, fails, model.plan(visit=2), model.plan(visit=3))
        limits = ("--set", "limits.max_steps=1", "--set", "orchestration.stage_retry_limit=0")
        self.assert_code(self.loop(plans, "--approve", "plan", "--exit-after", "plan", *limits), 22)
        self.assert_code(self.go_on("resume", self.task(), "--say", "Keep it small", "--set", "limits.max_steps=50"), 22)
        self.assert_code(self.go_on("resume", self.task(), "--say", "Read no file that is not there"), 22)
        self.assert_code(self.go_on("feedback", self.task(), "Name the empty title"), 22)
        state = yaml.safe_load(self.shown_to("plan", visit=3))["current_state"]["state"]
        said = [(each["kind"], each["answer"]["answer"] if "answer" in each else each["text"]) for each in state["conversation"]]
        self.assertEqual(said, [("request", REQUEST), ("guidance", "Keep it small"), ("answer", "Read no file that is not there"), ("feedback", "Name the empty title")])
        self.assertIn("no/such/file.py", state["conversation"][2]["about"])
        self.assertEqual([(stage["stage"], stage["visits"]) for stage in state["task_history"]["stages"]], [("plan", 3)])

    def test_the_planner_is_told_why_the_work_was_sent_back(self):
        rejects = model.review("replan", issues=[model.issue("Nothing is said of an empty title")])
        again = [model.plan(visit=2)]
        self.assertNotEqual(self.loop(model.transcript(model.plan(), model.tests(), model.writes_slugify(), model.exports(), rejects, *again)).code, 0)
        history = yaml.safe_load(self.shown_to("plan", visit=2))["current_state"]["state"]["task_history"]
        self.assertEqual([(cycle["from"], cycle["to"]) for cycle in history["sent_back"]], [("review", "plan")])
        self.assertIn("Nothing is said of an empty title", history["sent_back"][0]["reason"])
        self.assertEqual({stage["stage"] for stage in history["stages"]}, {"plan", "tests", "execute", "verify", "review"})

    def test_should_provide_focused_to_executor(self):
        self.assert_code(self.loop(model.good(), "--exit-after", "verify"), 0)
        shown = self.shown_to("execute")
        self.assertIn("Write slugify", shown)
        self.assertNotIn("task_history", shown)

    def test_should_provide_minimal_to_verifier_if_configured(self):
        """The verifier writes the tests. With `minimal` it sees the request, but not the artifact of the stage before, which `focused` shows."""
        shown = {}
        for strategy in ("focused", "minimal"):
            before = set(self.tasks())
            self.assert_code(self.loop(model.good(), "--set", f"orchestration.stages.verifier.context_strategy={strategy}", "--exit-after", "tests"), 0)
            shown[strategy] = self.shown_to("tests", task=(set(self.tasks()) - before).pop())
        for words in ("input_artifact", "acceptance_criteria"):
            self.assertIn(words, shown["focused"])
            self.assertNotIn(words, shown["minimal"])
        self.assertIn("Add a slugify function", shown["minimal"])

    def test_should_provide_history_and_change_to_reviewer(self):
        self.assert_code(self.loop(model.good()), 0)
        shown = self.shown_to("review")
        self.assertIn("task_history", shown)
        self.assertIn("def slugify", shown)


class LoopCommandTests(LoopTest):
    def test_history_shows_cycles_with_their_reasons(self):
        mended = model.writes_slugify(visit=2, replaces=model.WRONG)
        self.assert_code(self.loop(model.transcript(model.plan(), model.tests(), model.writes_slugify(text=model.WRONG), model.exports(), mended, model.review(), model.deliver())), 0)
        told = self.assert_code(self.run_program("history", self.task(), "--cycles", "--json"), 0).json
        self.assertEqual([(cycle["from"], cycle["to"]) for cycle in told["cycles"]], [("verify", "execute")])
        self.assertIn("from verify back to execute", self.run_program("history", self.task(), "--cycles").out)

    def test_history_shows_each_stage_in_its_order(self):
        mended = model.writes_slugify(visit=2, replaces=model.WRONG)
        self.assert_code(self.loop(model.transcript(model.plan(), model.tests(), model.writes_slugify(text=model.WRONG), model.exports(), mended, model.review(), model.deliver())), 0)
        way = [(point["stage"], point["what"]) for point in self.assert_code(self.run_program("history", self.task(), "--json"), 0).json["way"]]
        moves = [point for point in way if point[1] in ("entered", "completed", "sent back")]
        through = lambda *stages: [(stage, what) for stage in stages for what in ("entered", "completed")]  # noqa: E731
        self.assertEqual(moves, [*through("plan", "tests", "execute"), ("verify", "entered"), ("execute", "sent back"), *through("execute", "verify", "review", "deliver")])
        lines = re.findall(r"^  \S+Z  (\w+) +(entered|completed|sent back)\b", self.assert_code(self.run_program("history", self.task()), 0).out, re.M)
        self.assertEqual(lines, moves)

    def test_metrics_are_per_stage(self):
        first = [model.fails(run=1), model.writes_slugify(run=2), model.exports(run=3)]
        self.assert_code(self.loop(model.transcript(model.plan(), model.tests(), *first, model.review(), model.deliver()), "--set", "limits.max_tokens=1000000"), 0)
        stages = {stage["stage"]: stage for stage in self.assert_code(self.run_program("metrics", self.task(), "--json"), 0).json["stages"]}
        self.assertEqual([stages[name].get("token_budget") for name in ("plan", "tests", "execute", "verify", "review", "deliver")], [400000, 150000, 300000, None, 100000, 50000])
        self.assertEqual(stages["execute"]["plan_step"]["of"], 2)
        self.assertEqual(stages["execute"]["retries"], 1)
        self.assertEqual(self.assert_code(self.run_program("metrics", self.task()), 0).out.count("of the plan"), 1)

    def test_metrics_have_the_time_and_the_tokens_of_each_stage(self):
        self.assert_code(self.loop(model.good()), 0)
        told = self.assert_code(self.run_program("metrics", self.task(), "--json"), 0).json
        cost = self.assert_code(self.run_program("cost", self.task(), "--json"), 0).json
        tokens = {stage["name"]: stage["input_tokens"] + stage["output_tokens"] for stage in cost["by_stage"]}
        self.assertEqual({stage["stage"]: stage["tokens"] for stage in told["stages"] if stage["tokens"] > 0}, tokens)
        self.assertEqual(set(tokens), {"plan", "tests", "execute", "review", "deliver"})
        self.assertEqual(told["tokens"], sum(tokens.values()))
        steps = self.steps()
        self.assertEqual([(stage["stage"], stage["steps"]) for stage in told["stages"]], [(name, sum(step["phase"] == name for step in steps)) for name in self.completed()])
        for stage in told["stages"]:
            with self.subTest(stage["stage"]):
                self.assertGreater(stage["duration_ms"], 0)
                self.assertGreaterEqual(told["wall_ms"], stage["wall_ms"])

    def test_metrics_have_the_cycles_of_each_stage(self):
        mended = model.writes_slugify(visit=2, replaces=model.WRONG)
        self.assert_code(self.loop(model.transcript(model.plan(), model.tests(), model.writes_slugify(text=model.WRONG), model.exports(), mended, model.review(), model.deliver())), 0)
        told = self.assert_code(self.run_program("metrics", self.task(), "--json"), 0).json
        self.assertEqual(told["cycles"], 1)
        self.assertEqual({stage["stage"]: stage["cycles"] for stage in told["stages"] if stage["cycles"]}, {"execute": 1})
        self.assertEqual({stage["stage"]: stage["sent_back"] for stage in told["stages"] if stage["sent_back"]}, {"verify": 1})
        self.assertEqual({stage["stage"]: stage["visits"] for stage in told["stages"]}, {"plan": 1, "tests": 1, "execute": 2, "verify": 2, "review": 1, "deliver": 1})

    def test_review_force_reviews_what_was_delivered_again(self):
        self.assert_code(self.loop(model.good()), 0)
        done = self.task()
        analysis = model.call("complete", analysis={"summary": "A small function."}, components=[{"name": "slug", "type": "module"}], affected_files=["textkit/slug.py"], dependencies=[], risks=[])
        (self.folder / "transcript.yaml").write_text(yaml.safe_dump(model.transcript([model.said("analyze", "software_architect", 1, analysis)]), allow_unicode=True), encoding="utf-8")
        self.assert_error(self.go_on("review", done), "AF-CLI-206", "--force")
        self.assert_code(self.go_on("review", done, "--force"), 0)
        again = next(task for task in self.tasks() if task != done)
        self.assertEqual(self.records("task_created", again)[0]["base_commit"], self.records("delivered", done)[0]["commit"])

    def test_review_force_of_an_undelivered_task_is_refused(self):
        self.assert_code(self.loop(model.good(), "--exit-after", "plan"), 0)
        self.assert_error(self.go_on("review", self.task(), "--force"), "AF-CLI-177")

    def test_status_shows_the_current_step_of_the_plan(self):
        tries = [model.fails(visit=visit, run=run) for visit, runs in ((1, (2,)), (2, (1,)), (3, (1,))) for run in runs]
        self.assert_code(self.loop(model.transcript(model.plan(), model.tests(), model.writes_slugify(), *tries), "--set", "orchestration.step_retry_limit=0"), 22)
        self.assertIn("step 2 of 2: Export it", self.run_program("status", self.task()).out)

    def test_the_stream_reports_each_step_of_the_plan(self):
        outcome = self.assert_code(self.loop(model.good(), "--output-format", "stream-json"), 0)
        steps = [line for line in map(json.loads, outcome.out.splitlines()) if line["type"] == "plan_step"]
        self.assertEqual([(step["number"], step["of"], step["title"]) for step in steps], [(1, 2, "Write slugify"), (2, 2, "Export it")])

    def test_timeouts_of_parts_are_flags(self):
        told = self.assert_code(self.loop(model.good(), "--dry-run", "--json", "--planner-timeout", "120", "--executor-timeout", "900", "--verifier-timeout", "180", "--reviewer-timeout", "60"), 0).json
        self.assertEqual({stage["name"]: stage["timeout_ms"] for stage in told["stages"]},
                         {"plan": 120000, "tests": 180000, "execute": 900000, "verify": 180000, "review": 60000, "deliver": 60000})

    def test_concurrent_steps_are_refused(self):
        self.assert_error(self.loop(model.good(), "--set", "orchestration.stages.executor.parallel_steps=true"), "AF-PIPE-031")

    def test_a_stage_timeout_must_be_a_number_of_seconds(self):
        self.assert_error(self.loop(model.good(), "--planner-timeout", "soon"), "AF-CONF-021")

    def test_without_auto_retry_a_person_is_asked_about_failed_verification(self):
        outcome = self.loop(model.transcript(model.plan(), model.tests(), model.writes_slugify(text=model.WRONG), model.exports()), "--set", "orchestration.stages.verifier.auto_retry_on_failure=false")
        self.assert_code(outcome, 22)
        self.assertEqual(self.cycles(), [])

    def test_a_person_approves_the_review_if_required(self):
        self.assert_code(self.loop(model.good(), "--set", "orchestration.stages.reviewer.require_human_approval=true"), 22)
        self.assertEqual(self.records("approval_requested")[0]["stage"], "review")


class LoopTrustTests(LoopTest):
    def test_a_review_cannot_deliver_work_that_the_gates_refuse(self):
        """The executor claims to be done. The kernel measures the opposite, so no review begins."""
        lies = [model.hands_in("All done.", visit=1, run=1), *model.exports()]
        self.assertNotEqual(self.loop(model.transcript(model.plan(), model.tests(), lies, model.review(), model.deliver()), "--cycle-limit", "0").code, 0)
        self.assertEqual(self.records("delivered"), [])
        self.assertNotIn("review", self.completed())

    def test_a_commit_hook_failure_goes_back_to_execution(self):
        hook = self.repository / ".git/hooks/pre-commit"
        hook.write_text("#!/bin/sh\ngit diff --cached --name-only | grep -q slug.py || exit 0\ngit show :textkit/slug.py | grep -q Licence && exit 0\necho 'slug.py:1: no licence line' >&2\nexit 1\n")
        hook.chmod(0o755)
        licensed = [model.said("execute", model.DEVELOPER, 1, model.call("edit_file", path="textkit/slug.py", search='"""Slugs for URLs."""', replace='"""Slugs for URLs. Licence: none."""'), visit=2),
                    model.hands_in("It names its licence.", visit=2, step=2)]
        self.assert_code(self.loop(model.transcript(model.plan(), model.tests(), model.writes_slugify(), model.exports(), model.review(), model.deliver(), licensed, model.review(visit=2), model.deliver(visit=2))), 0)
        self.assertEqual(self.cycles(), [("deliver", "verify"), ("verify", "execute")])
        self.assertIn("slug.py:1: no licence line", self.records("cycle_started")[1]["reason"])

    def test_a_wrong_test_goes_back_from_execution_to_the_tests(self):
        """The kernel sees that only this test fails. The test is corrected on the tree without the code, and then the kernel restores the code."""
        first = [model.plan(), model.wrong_tests(), model.writes_slugify(), [*model.exports()[:1], model.hands_back(step=2)]]
        again = [model.corrects_tests(), [model.hands_in("It is written already.", visit=2, run=1), model.hands_in("It is exported already.", visit=2, run=2)]]
        outcome = self.assert_code(self.loop(model.transcript(*first, *again, model.review(), model.deliver())), 0)
        self.assertEqual(self.cycles(), [("execute", "tests")], outcome)
        evidence = self.records("cycle_requested")[0]["hand_back"]
        self.assertEqual((evidence["to"], evidence["requirement"], [measured["status"] for measured in evidence["measured"]]), ("tests", "REQ-001", ["failed_assertion"]))
        self.assertEqual([record["put_back"] for record in self.records("snapshot") if "put_back" in record], [True])
        self.assertIn("EXECUTE handed tests/test_slug.py", self.git("log", "-1", "--format=%B", self.records("delivered")[0]["commit"]))

    def test_a_test_not_shown_to_be_wrong_is_kept(self):
        """The executor blames a correct test for its own mistake. The results of the tests disprove it."""
        first = [model.plan(), model.tests(), model.writes_slugify(text=model.WRONG), [*model.exports()[:1], model.hands_back(step=2), model.hands_in("It is exported.", run=2, step=3)]]
        mended = model.writes_slugify(visit=2, replaces=model.WRONG)
        self.assert_code(self.loop(model.transcript(*first, mended, model.review(), model.deliver())), 0)
        self.assertEqual(self.cycles(), [("verify", "execute")])
        self.assertIn("AF-ORCH-033", [record["result"].get("error_code", record["result"].get("error", "")) for record in self.steps() if record["result"]["status"] == "failure"][0])

    def test_a_wrong_test_handed_back_repeatedly_becomes_a_question(self):
        """The cycle limit of the earlier stage also applies to hand-backs."""
        first = [model.plan(), model.wrong_tests(), model.writes_slugify(), [*model.exports()[:1], model.hands_back(step=2)]]
        outcome = self.loop(model.transcript(*first), "--cycle-limit", "0")
        self.assert_code(outcome, 21)
        self.assertEqual(self.cycles(), [])

    def test_tests_are_locked_during_execution(self):
        attack = [model.said("execute", model.DEVELOPER, 1, model.call("create_file", path="tests/test_slug.py", content="", overwrite=True)), *model.writes_slugify(step=2)]
        self.assert_code(self.loop(model.transcript(model.plan(), model.tests(), attack, model.exports(), model.review(), model.deliver())), 0)
        refused = [record for record in self.steps() if record["phase"] == "execute"][0]
        self.assertEqual(refused["result"]["status"], "failure")

    def test_a_plan_whose_tests_already_pass_stops(self):
        passing = [model.said("tests", "test_engineer", 1, model.call("create_file", path="tests/test_slug.py", content="import unittest\n\n\nclass TestNothing(unittest.TestCase):\n    def test_one(self) -> None:\n        self.assertEqual(1, 1)\n")),
                   model.said("tests", "test_engineer", 2, model.call("complete", test_files=[{"path": "tests/test_slug.py", "tests": [{"name": "test_one", "requirement_ref": "REQ-001"}]}]))]
        self.assertNotEqual(self.loop(model.transcript(model.plan(), passing)).code, 0)
        self.assertEqual(self.completed(), ["plan"])

    def test_a_review_that_approves_a_severe_issue_is_refused(self):
        wrong = [model.said("review", "code_reviewer", 1, model.call("complete", decision="approve", summary="Fine.", issues=[model.issue("It leaks the password", "critical")])),
                 model.said("review", "code_reviewer", 2, model.call("complete", decision="approve", summary="Fine.", issues=[]))]
        self.assert_code(self.loop(model.transcript(model.plan(), model.tests(), model.writes_slugify(), model.exports(), wrong, model.deliver())), 0)
        first = [record for record in self.steps() if record["phase"] == "review"][0]
        self.assertIn("give the issue a lower severity", first["result"]["summary"])

    def test_a_plan_must_number_its_steps_and_cover_its_requirements(self):
        gap = [{**model.STEPS[0], "requirements": ["REQ-001"]}, {**model.STEPS[1], "number": 3}]
        refused = model.said("plan", "software_architect", 1, model.plan(steps=gap)[0]["tool_calls"])
        accepted = model.said("plan", "software_architect", 2, model.plan()[0]["tool_calls"])
        self.assert_code(self.loop(model.transcript([refused, accepted]), "--exit-after", "plan"), 0)
        first = self.steps()[0]["result"]["summary"]
        self.assertIn("it must be 2", first)
        self.assertIn("REQ-002", first)


if __name__ == "__main__":
    main()
