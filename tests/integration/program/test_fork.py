# SPDX-License-Identifier: Apache-2.0
"""`fork`, which continues from a step of another task, and `compare`, which shows two tasks side by side."""

import html.parser
import re
import shutil

from harness import REQUEST, SOURCE, ProgramTest, call, entry, insert, main, short_transcript
from model_server import KEY, ModelServer


class ForkTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make_repository()
        self.deliver(transcript=short_transcript())
        self.parent = self.task()

    def newest(self, known):
        return next(task for task in self.tasks() if task not in known)

    def last_step_of(self, stage):
        return max(step["step"] for step in self.steps(self.parent) if step["phase"] == stage)


class TestFork(ForkTest):
    """One finished task, forked where GREEN began. A run takes seconds, so the tests share it."""

    def test_a_fork_continues_from_its_step_and_outlives_its_parent(self):
        step = self.last_step_of("red")
        before = (self.task_folder(self.parent) / "actions.yaml").read_bytes()
        forked = self.assert_code(self.go_on("fork", self.parent, "--from-step", step, "--with-feedback", "Keep it short", "--json"), 0).json
        child = forked["task_id"]
        with self.subTest("it delivers its own commit, and the parent is as it was"):
            self.assertEqual(self.delivered_tree(child), self.delivered_tree(self.parent))
            self.assertEqual((self.task_folder(self.parent) / "actions.yaml").read_bytes(), before)
            self.assertIn(f"AgentForge-Task: {child}", self.git("log", "-1", "--format=%B", f"agentforge/{child}"))
        with self.subTest("history is shared: its own journal begins after the step, at the parent's hash"):
            own = self.journal(child)
            recorded = next(record for record in self.journal(self.parent) if record["type"] == "step" and record["step"] == step)
            self.assertEqual((own[0]["type"], own[0]["seq"], own[0]["from_step"]), ("forked", recorded["seq"] + 1, step))
            self.assertIn(recorded["hash"], (self.task_folder(child) / "actions.yaml").read_text().split("actions:")[0])
            self.assertEqual((self.task_folder(child) / "history" / f"{self.parent}.yaml").stat().st_ino, (self.task_folder(self.parent) / "actions.yaml").stat().st_ino)
            self.assertEqual([record["step"] for record in own if record["type"] == "step"][0], step + 1)
        with self.subTest("what was done and used before the step is not done again"):
            stages = [record["stage"] for record in own if record["type"] == "stage_started"]
            self.assertNotIn("spec", stages)
            self.assertNotIn("red", stages)
        with self.subTest("the feedback is heard"):
            self.assertEqual(next(record for record in own if record["type"] == "task_resumed")["guidance"], "Keep it short")
        with self.subTest("the parent's proof still holds"):
            self.assert_code(self.run_program("audit", "verify", self.parent), 0)
        with self.subTest("a fork of the fork from a step that both share is one of the parent"):
            shared = self.assert_code(self.run_program("fork", child, "--from-step", 2, "--no-resume", "--json"), 0).json["task_id"]
            self.assert_journal_verifies(shared)
            self.assertEqual(self.records("forked", shared)[-1]["parent"], self.parent)
            self.assert_code(self.run_program("replay", child, "--actions-only"), 0)
        with self.subTest("without the parent's folder and refs it is whole"):
            shutil.rmtree(self.task_folder(self.parent))
            for ref in self.git("for-each-ref", "--format=%(refname)", f"refs/agentforge/{self.parent}").split():
                self.git("update-ref", "-d", ref)
            self.assert_journal_verifies(child)
            self.assertIn("slugify", self.run_program("inspect", child, "--step", step, "--show", "context").out)
            steps = [record["step"] for record in self.journal(child) if record["type"] == "step"]
            for number in range(1, max(steps) + 1):
                self.assert_code(self.run_program("inspect", child, "--step", number), 0)
        with self.subTest("a fork of a fork"):
            grandchild = self.assert_code(self.run_program("fork", child, "--from-step", step + 1, "--no-resume", "--json"), 0).json["task_id"]
            shutil.rmtree(self.task_folder(child))
            self.assert_journal_verifies(grandchild)
            self.assert_code(self.go_on("resume", grandchild), 0)

    def test_other_settings_rerun_the_gates_and_keep_the_work(self):
        self.environment["PATH"] += ":/nonexistent"      # A gate's result depends on PATH.
        forked = self.assert_code(self.go_on("fork", self.parent, "--from-step", self.last_step_of("green"), "--json"), 0).json
        own = self.journal(forked["task_id"])
        self.assertEqual([record for record in own if record["type"] == "artifact_rejected"], [])
        self.assertEqual([record["phase"] for record in own if record["type"] == "step" and record["phase"] == "green"], [])
        self.assertIn("green", [record["gate"] for record in own if record["type"] == "gate"])

    def test_usage_of_the_parent_counts_once_among_all_tasks(self):
        before = self.run_program("stats", "--json").json
        child = self.assert_code(self.run_program("fork", self.parent, "--from-step", self.last_step_of("red"), "--no-resume", "--json"), 0).json["task_id"]
        after = self.run_program("stats", "--json").json
        self.assertEqual((after["tasks"], after["tokens"]), (before["tasks"] + 1, before["tokens"]))
        self.assertGreater(self.run_program("cost", child, "--json").json["total"]["input_tokens"], 0)

    def test_a_fork_with_an_unknown_backend_is_refused(self):
        before = self.tasks()
        self.assert_error(self.run_program("fork", self.parent, "--from-step", 2, "--backend", "nosuch", "--no-resume"), "AF-PLUG-010", "nosuch")
        self.assertEqual(self.tasks(), before)

    def test_a_change_of_the_shared_history_is_found(self):
        child = self.assert_code(self.run_program("fork", self.parent, "--from-step", 2, "--no-resume", "--json"), 0).json["task_id"]
        history = self.task_folder(child) / "history" / f"{self.parent}.yaml"
        bytes_before = history.read_bytes()
        history.unlink()
        history.write_bytes(bytes_before.replace(b'"type": "step"', b'"type": "stop"', 1))
        self.assert_error(self.run_program("inspect", child), "AF-JRNL-002", history.name)
        history.unlink()
        self.assert_error(self.run_program("inspect", child), "AF-JRNL-013", history.name)

    def test_trees_that_git_removed_are_made_again_by_a_replay(self):
        step = self.last_step_of("green")
        self.assert_code(self.run_program("gc", "--older-than", "0"), 0)
        self.git("gc", "--prune=now", "--quiet")
        self.assert_error(self.run_program("fork", self.parent, "--from-step", step, "--no-resume"), "AF-GIT-007", f"agentforge replay {self.parent[-8:]} --verify")
        self.assert_code(self.run_program("replay", self.parent, "--verify"), 0)
        self.assert_code(self.run_program("fork", self.parent, "--from-step", step, "--no-resume"), 0)

    def test_a_missing_step_is_refused(self):
        last = max(step["step"] for step in self.steps(self.parent))
        self.assert_error(self.run_program("fork", self.parent, "--from-step", last + 1), "AF-TASK-017", str(last))
        self.assert_error(self.run_program("fork", "nothing", "--from-step", 1), "AF-TASK-002")
        self.assertEqual(self.tasks(), [self.parent])


class TestForkWithAnotherModel(ProgramTest):
    PRICES = "prices:\n  as_of: \"2026-11-01\"\n  models:\n    first: {input: 10, cached_input: 1, output: 100}\n    second: {input: 20, cached_input: 2, output: 200}\n"

    def test_the_fork_asks_the_named_model_and_its_records_and_report_name_it(self):
        self.make_repository()
        self.environment["SCRIPTED_MODEL_KEY"] = KEY
        prices = self.folder / "prices.yaml"
        prices.write_text(self.PRICES)
        first = self.serve()
        self.assert_code(self.run_program("start", *self.model(first, "first"), "--set", f"cost.prices={prices}", REQUEST), 0)
        parent = self.task()
        asked = len(first.requests)
        step = max(step["step"] for step in self.steps(parent) if step["phase"] == "red")
        second = self.serve()
        fork = self.assert_code(self.run_program("fork", parent, "--from-step", step, "--model", "second", "--set", f"llm.base_url={second.url}", "--json"), 0).json["task_id"]
        own = self.steps(fork)
        with self.subTest("every question after the step goes to the second model, and to no other"):
            self.assertEqual({body["model"] for _, _, body in second.requests}, {"second"})
            self.assertEqual((len(second.requests), len(first.requests)), (len(own), asked))
        with self.subTest("each step of the fork names the model that answered it"):
            self.assertEqual([one["llm_call"]["model"] for one in own], ["second"] * len(own))
        with self.subTest("the report has steps and cost of both models"):
            rows = self.assert_code(self.run_program("audit", fork, "--json"), 0).json["models"]
            calls = {model: sum(row["calls"] for row in rows if row["model"] == model) for model in ("first", "second")}
            self.assertEqual(calls, {"first": step, "second": len(own)})
            self.assertEqual({row["stage"] for row in rows if row["model"] == "second"}, {"green", "refactor", "deliver"})
        with self.subTest("its cost is that of the second model's price from the step on"):
            by_model = {one["name"]: one["cost_microusd"] for one in self.run_program("cost", fork, "--json").json["by_model"]}
            self.assertEqual(by_model["second"] * step, by_model["first"] * 2 * len(own))
        with self.subTest("the parent still names only the first"):
            self.assertEqual({one["llm_call"]["model"] for one in self.steps(parent)}, {"first"})

    def serve(self):
        server = ModelServer(short_transcript(), SOURCE / "config")
        self.addCleanup(server.close)
        return server

    @staticmethod
    def model(server, name):
        return ["--set", "llm.backend=anthropic", "--set", f"llm.model={name}", "--set", f"llm.base_url={server.url}", "--set", "llm.api_key_env=SCRIPTED_MODEL_KEY"]


class Page(html.parser.HTMLParser):
    """Collects everything that a page would load or run."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.attributes, self.styles = set(), set(), ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.add(tag)
        self.attributes.update(name for name, _ in attrs)

    def handle_data(self, data):
        if self.lasttag == "style":
            self.styles += data


class TestCompare(ForkTest):
    def other(self, transcript):
        known = self.tasks()
        self.assert_code(self.start(transcript=transcript), 0)
        return self.newest(known)

    def first_different(self, task):
        """Returns the first differences by kind: the stage, the steps, and both sides."""
        told = self.assert_code(self.run_program("compare", self.parent, task, "--format", "json"), 0).json
        return {parting["of"]: (parting["stage"], parting["steps"], parting["sides"]) for parting in told["partings"]}

    def test_the_first_different_context_is_named_where_answers_and_actions_are_the_same(self):
        step = self.last_step_of("red")
        fork = self.assert_code(self.go_on("fork", self.parent, "--from-step", step, "--with-feedback", "Keep it short", "--json"), 0).json["task_id"]
        found = self.first_different(fork)
        self.assertEqual(list(found), ["context"])
        self.assertEqual(found["context"], ("green", [step + 1, step + 1], ["  state:", "  this_round:"]))
        self.assertIn(f"first different context: stage green, step {step + 1} of A, step {step + 1} of B", self.run_program("compare", self.parent, fork).out)

    def test_the_first_different_answer_is_named_where_contexts_and_actions_are_the_same(self):
        transcript = short_transcript()
        entry(transcript, "green", 1)["text"] = "I replace the whole function."
        step = self.last_step_of("red") + 1
        self.assertEqual(self.first_different(self.other(transcript)), {"answer": ("green", [step, step], ["", "I replace the whole function."])})

    def test_the_first_different_action_is_named_with_its_tool_and_arguments(self):
        transcript = short_transcript()
        insert(transcript, "green", "software_developer", 1, call("read_file", path="textkit/slug.py"))
        step = self.last_step_of("red") + 1
        stage, steps, sides = self.first_different(self.other(transcript))["action"]
        self.assertEqual((stage, steps, sides[1]), ("green", [step, step], 'read_file {"path": "textkit/slug.py"}'))
        self.assertTrue(sides[0].startswith('edit_file {"path": "textkit/slug.py"'), sides)

    def test_the_page_is_one_file_that_loads_nothing(self):
        transcript = short_transcript()
        entry(transcript, "green", 1)["text"] = '<img src="https://example.invalid/x.png"><a href="//example.invalid">@import url(https://example.invalid/x.css)</a>'
        text = self.assert_code(self.run_program("compare", self.parent, self.other(transcript), "--format", "html"), 0).out
        page = Page(text)
        self.assertIn("&lt;img src=", text)
        self.assertLessEqual(page.elements, {"html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "table", "tr", "th", "td"})
        self.assertLessEqual(page.attributes, {"lang", "charset", "http-equiv", "content"})
        self.assertFalse(re.search(r"url\(|@import", page.styles), page.styles)

    def test_the_first_different_answer_is_named_in_each_format(self):
        other = short_transcript()
        entry(other, "green", 2)["tool_calls"] = call("complete", summary="Another summary.", file_notes={"textkit/slug.py": "<script>alert(1)</script>"})
        outcome = self.assert_code(self.start("--compare-to", self.parent, transcript=other), 0)
        task = self.newest([self.parent])
        with self.subTest("start --compare-to"):
            self.assertIn("first different answer: stage green", outcome.out)
            self.assertIn("Another summary.", outcome.out)
            self.assertIn("The trees are the same.", outcome.out)
        with self.subTest("as JSON"):
            told = self.assert_code(self.run_program("compare", self.parent, task, "--format", "json"), 0).json
            self.assertEqual([parting["of"] for parting in told["partings"]][:2], ["answer", "action"])
            self.assertEqual(told["partings"][0]["stage"], "green")
            self.assertTrue(told["same_tree"])
            self.assertIn(("green", "summary"), [(field["stage"], field["field"]) for field in told["artifacts"]])
            self.assertEqual([figures["task_id"] for figures in told["tasks"]], [self.parent, task])
        with self.subTest("as one page that runs nothing"):
            page = self.assert_code(self.run_program("compare", self.parent, task, "--format", "html"), 0).out
            self.assertTrue(page.startswith("<!DOCTYPE html>"))
            self.assertIn("&lt;script&gt;alert(1)", page)
            self.assertNotIn("<script", page)
            self.assertNotIn("http://", page)
        with self.subTest("a task with itself"):
            self.assertIn("The paths are the same.", self.assert_code(self.run_program("compare", task, task), 0).out)
        with self.subTest("an unknown task is refused before anything is started"):
            self.assert_error(self.run_program("compare", task, "nothing"), "AF-TASK-002")
            known = self.tasks()
            self.assert_error(self.start("--compare-to", "nothing", transcript=other, request=REQUEST), "AF-TASK-002")
            self.assertEqual(self.tasks(), known)


if __name__ == "__main__":
    main()
