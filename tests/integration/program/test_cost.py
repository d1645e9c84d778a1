# SPDX-License-Identifier: Apache-2.0
"""The cost of a task, and limits that pause it. The model is on a server, and its price in a table of the test."""

import threading
import time

import yaml

from harness import GENEROUS_SECONDS, REQUEST, SOURCE, ProgramTest, call, entry, insert, load_transcript, main, short_transcript
from model_server import CACHED_TOKENS, INPUT_TOKENS, KEY, OUTPUT_TOKENS, ModelServer

PRICES = """prices:
  as_of: "2026-11-01"
  models:
    scripted: {input: 10, cached_input: 1, output: 100}
"""
ONE_CALL = INPUT_TOKENS * 10 + CACHED_TOKENS * 1 + OUTPUT_TOKENS * 100


class TestCost(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make_repository()
        self.server = ModelServer(load_transcript(), SOURCE / "config")
        self.addCleanup(self.server.close)
        self.environment["SCRIPTED_MODEL_KEY"] = KEY

    def question(self, *arguments):
        return ["start", "--set", "llm.backend=anthropic", "--set", "llm.model=scripted", "--set", f"llm.base_url={self.server.url}",
                "--set", "llm.api_key_env=SCRIPTED_MODEL_KEY", "--exit-after", "intake", *arguments, REQUEST]

    def ask(self, *arguments):
        return self.run_program(*self.question(*arguments))

    def write(self, text, name="prices.yaml"):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def test_a_limit_pauses_the_task_and_a_higher_one_resumes_without_repeating_calls(self):
        paused = self.ask("--set", f"cost.prices={self.write(PRICES)}", "--set", "limits.max_steps=1")
        self.assert_error(paused, "AF-COST-012", "limits.max_steps", f"agentforge resume {self.task()[-8:]} --set limits.max_steps=", exit_code=22)
        self.assertIn("AF-COST-012", self.run_program("status", self.task()).out)
        self.assert_error(self.run_program("resume", self.task()), "AF-COST-012", exit_code=22)     # The task keeps its limit.
        done = self.assert_code(self.run_program("resume", self.task(), "--set", "limits.max_steps=50"), 0)
        calls = len(self.server.requests)
        self.assertEqual(calls, len(self.steps()))
        self.assertIn(f"({calls} calls, ", done.out)
        cost = self.run_program("cost", self.task(), "--json").json
        self.assertEqual((cost["total"]["calls"], cost["total"]["lost_calls"], cost["total"]["cost_known"]), (calls, 0, True))
        self.assertEqual(cost["total"]["cost_microusd"], calls * ONE_CALL)
        as_tokens = calls * (INPUT_TOKENS + CACHED_TOKENS // 10)
        self.assertEqual(cost["total"]["input_token_equivalents"], as_tokens)
        for group, name in (("by_stage", "intake"), ("by_agent", "requirements_analyst"), ("by_model", "scripted")):
            self.assertEqual([(one["name"], one["cost_microusd"]) for one in cost[group]], [(name, calls * ONE_CALL)])
        self.assertEqual([price["as_of"] for price in cost["prices"]][1], "2026-11-01")
        text = self.run_program("cost", self.task()).out
        for word in (f"${calls * ONE_CALL / 1e6:.4f}", "requirements_analyst", "your own of 2026-11-01", "max_steps 50", f"as much as {as_tokens} uncached tokens"):
            self.assertIn(word, text)

    def test_stats_sum_the_tasks(self):
        self.assert_code(self.ask("--set", f"cost.prices={self.write(PRICES)}"), 0)
        self.assert_code(self.start("--exit-after", "intake"), 0)      # With a transcript instead of a server.
        told = self.run_program("stats", "--json").json
        costs = [self.run_program("cost", task, "--json").json["total"] for task in self.tasks()]
        self.assertEqual(told["tasks"], 2)
        self.assertEqual(told["tokens"], sum(cost["input_tokens"] + cost["output_tokens"] for cost in costs))
        self.assertAlmostEqual(told["estimated_cost_usd"], sum(cost["cost_microusd"] for cost in costs) / 1e6)
        self.assertEqual([(one["name"], one["tasks"]) for one in told["by_model"]], [("replay", 1), ("scripted", 1)])
        self.assertEqual(self.run_program("stats", "--since", "2200-01-01", "--json").json["tasks"], 0)
        self.assert_error(self.run_program("stats", "--since", "soon"), "AF-CLI-147", exit_code=2)
        self.assert_code(self.run_program("repo", "add"), 0)
        self.assertEqual(self.run_program("stats", "--all", "--json").json["tasks"], 2)
        text = self.run_program("stats").out
        for word in ("2 tasks", "escalated", "verified", "rework", "scripted", "audit trail", "completed tasks"):
            self.assertIn(word, text)

    def test_stats_have_each_figure_of_the_specification(self):
        """Figures over all tasks, and by pipeline and model."""
        self.assert_code(self.ask("--set", f"cost.prices={self.write(PRICES)}"), 0)
        self.assert_code(self.start("--exit-after", "intake", "--approve", "intake"), 22)
        waiting = next(task for task in self.tasks() if self.records("approval_requested", task))
        self.assert_code(self.run_program("approve", waiting), 0)
        told = self.run_program("stats", "--json").json
        self.assertEqual((told["completed"], told["ended"], told["audit_trail_completeness"], told["repositories"], told["repositories_with_open_tasks"]), (2, 2, 1.0, 1, 0))
        self.assertEqual(told["completed_per_week"], 2.0)
        each = {"steps_per_delivered_task", "tokens_per_delivered_task", "escalation_rate", "verification_pass_rate", "rework", "waited_for_people_ms", "waited_for_people_ms_per_ended_task"}
        for sums in (told, *told["by_pipeline"], *told["by_model"]):
            self.assertEqual(each - set(sums), set())
        self.assertGreater(next(one for one in told["by_model"] if one["name"] == "replay")["waited_for_people_ms_per_ended_task"], 0)
        self.assertEqual(next(one for one in told["by_model"] if one["name"] == "scripted")["waited_for_people_ms_per_ended_task"], 0)

    def test_stats_name_unreadable_tasks(self):
        self.assert_code(self.ask("--set", f"cost.prices={self.write(PRICES)}"), 0)
        self.assert_code(self.run_program("repo", "add", "--name", "here"), 0)
        (self.repository / ".agentforge/tasks" / self.task() / "actions.yaml").write_text("")
        broken = self.assert_error(self.run_program("stats"), "AF-JRNL-002", exit_code=1)
        self.assertEqual(broken.err.count("AF-JRNL-002"), 1)
        self.repository.rename(self.folder / "elsewhere")
        gone = self.run_program("stats", "--all", cwd=self.folder)
        self.assert_error(gone, "AF-DASH-011", exit_code=1)

    def test_a_call_lost_in_a_kill_is_counted_at_its_maximum(self):
        answer, release, held = self.server.answer, threading.Event(), threading.Event()

        def hold_the_second(handler, body):
            if len(self.server.requests) == 1 and not held.is_set():
                held.set()
                release.wait(GENEROUS_SECONDS)
                return
            answer(handler, body)

        self.server.answer = hold_the_second
        self.addCleanup(release.set)
        process = self.spawn(*self.question("--set", f"cost.prices={self.write(PRICES)}"))
        self.assertTrue(held.wait(GENEROUS_SECONDS))
        process.kill()
        process.wait()
        release.set()
        for arguments, words in (((), ("Active: 0", "INTERRUPTED")), ((self.task(),), ("INTERRUPTED",))):
            told = self.run_program("status", *arguments).out
            for word in (*words, f"agentforge resume {self.task()[-8:]}"):
                self.assertIn(word, told)
        for command in ("cost", "history", "metrics"):
            self.assertIn("  interrupted\n", self.run_program(command, self.task()).out)
        self.assertTrue(self.run_program("cost", self.task(), "--json").json["call_may_be_missing"])
        self.assert_code(self.run_program("resume", self.task()), 0)
        cost = self.run_program("cost", self.task(), "--json").json
        self.assertEqual((cost["total"]["calls"], cost["total"]["lost_calls"], cost["call_may_be_missing"]), (len(self.server.requests), 1, False))
        lost = self.records("call_lost")[0]["usage"]
        self.assertEqual(lost["output_tokens"], 4096)
        self.assertEqual(cost["total"]["cost_microusd"], len(self.server.requests) * ONE_CALL + lost["cost_microusd"])

    def test_an_unknown_price_is_named_by_start_status_and_cost(self):
        done = self.assert_code(self.ask(), 0)
        for outcome in (done, self.run_program("status", self.task()), self.run_program("cost", self.task())):
            self.assertIn("unknown (no price for scripted)", outcome.out, outcome)

    def test_a_cost_limit_with_an_unknown_price_is_refused_before_a_task_exists(self):
        self.assert_error(self.ask("--set", "limits.max_cost_usd=1"), "AF-COST-014", "`scripted`", "cost.prices")
        self.assertEqual((self.tasks(), self.server.requests), ([], []))

    def test_invalid_prices_and_limits_are_named_with_their_position(self):
        bad = self.write(PRICES.replace("output: 100", "outptu: 100"))
        self.assert_error(self.ask("--set", f"cost.prices={bad}"), "AF-COST-001", f"{bad}:4:", "did you mean `output`?".capitalize())
        settings = self.repository / ".agentforge" / "config" / "settings.yaml"
        settings.parent.mkdir(parents=True)
        for text, code, place in (("limits:\n  max_wall_time: 2 hours\n", "AF-COST-002", "settings.yaml:2:"),
                                  ("limits:\n  stages:\n    gren: {max_steps: 3}\n", "AF-COST-003", "settings.yaml:3:"),
                                  ("limits:\n  max_cost_usd: much\n", "AF-CONF-021", "settings.yaml:2:")):
            settings.write_text(text, encoding="utf-8")
            self.assert_error(self.ask(), code, place)
        self.assertEqual((self.tasks(), self.server.requests), ([], []))


class TestStats(ProgramTest):
    """Figures of delivered tasks: two tasks were delivered, one of them is merged into main, and a third ended earlier."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shared = ProgramTest()
        cls.addClassCleanup(cls.shared.doCleanups)
        cls.shared.setUp()
        cls.shared.make_repository()
        cls.first = cls.ended(transcript=short_transcript())
        longer = short_transcript()
        insert(longer, "intake", entry(longer, "intake", 1)["role"], 1, call("read_file", path="README.md"))
        cls.second = cls.ended(transcript=longer)
        cls.early = cls.ended("--exit-after", "intake", transcript=short_transcript())
        cls.shared.git("merge", "-q", "--ff-only", f"agentforge/{cls.first}")
        cls.delivered_lines = sum(int(line.split()[0]) for line in cls.shared.git("diff", "--numstat", "HEAD^", "HEAD").splitlines())
        # Three days later a person changes one delivered line.
        day = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3 * 24 * 3600))
        cls.shared.environment.update(GIT_AUTHOR_DATE=day, GIT_COMMITTER_DATE=day)
        slug = cls.shared.repository / "textkit" / "slug.py"
        slug.write_text(slug.read_text(encoding="utf-8").replace("text.casefold()", "text.lower()"), encoding="utf-8")
        cls.shared.git("commit", "-q", "-a", "-m", "Lower the case plainly")

    @classmethod
    def ended(cls, *arguments, **options):
        before = set(cls.shared.tasks())
        cls.shared.assert_code(cls.shared.start(*arguments, **options), 0)
        return (set(cls.shared.tasks()) - before).pop()

    def setUp(self):
        super().setUp()
        self.repository, self.environment = self.shared.repository, self.shared.environment

    def stats(self, *arguments):
        return self.assert_code(self.run_program("stats", "--json", *arguments), 0).json

    def tokens_of(self, task):
        total = self.run_program("cost", task, "--json").json["total"]
        return total["input_tokens"] + total["output_tokens"]

    def test_delivered_tasks_are_counted_among_all(self):
        told = self.stats()
        self.assertEqual((told["tasks"], told["delivered"], told["completed"]), (3, 2, 3))
        self.assertRegex(self.run_program("stats").out, r"delivered +67 %  2 of 3; 3 have ended\n")

    def test_steps_and_tokens_are_those_of_delivered_tasks(self):
        """The median of two figures is the lower one. The shortest task does not count, because it was not delivered."""
        told = self.stats()
        self.assertLess(len(self.steps(self.early)), len(self.steps(self.first)))
        self.assertEqual(told["steps_per_delivered_task"], len(self.steps(self.first)))
        self.assertEqual(told["tokens_per_delivered_task"], min(self.tokens_of(self.first), self.tokens_of(self.second)))

    def test_a_delivered_line_that_a_person_changed_is_rework(self):
        self.assertEqual(self.stats()["rework"], {"days": 14, "delivered_commits": 2, "in_head": 1, "lines": self.delivered_lines, "lines_changed": 1, "rate": 1 / self.delivered_lines})
        self.assertIn(f"1 of {self.delivered_lines} delivered lines were changed within 14 days; HEAD contains 1 of 2 delivered commits", self.run_program("stats").out)

    def test_rework_counts_within_the_given_days(self):
        self.assertEqual([self.stats("--rework-days", days)["rework"]["lines_changed"] for days in ("2", "4")], [0, 1])

    def test_since_keeps_the_tasks_created_since_then(self):
        created = yaml.safe_load((self.task_folder(self.second) / "task.yaml").read_text(encoding="utf-8"))["created_at"]
        told = self.stats("--since", created)
        self.assertEqual((told["tasks"], told["delivered"], told["steps_per_delivered_task"], told["rework"]["in_head"]), (2, 1, len(self.steps(self.second)), 0))


class TestStatsOfTrouble(ProgramTest):
    """A task with failed gates, and one of another pipeline that asks a person."""

    def test_stats_report_the_rates_of_escalations_and_passed_gates(self):
        self.make_repository()
        self.assert_code(self.start("--exit-after", "green"), 0)      # The recorded transcript fails gates before it passes them.
        fixed = self.task()
        fails = short_transcript()
        insert(fails, "intake", entry(fails, "intake", 1)["role"], 1, *(call("read_file", path="no/such/file.py") for _ in range(3)))
        self.assert_code(self.start("--pipeline", "design", "--set", "orchestration.stage_retry_limit=0", transcript=fails), 22)
        asked = next(task for task in self.tasks() if task != fixed)
        self.assertEqual(len(self.records("escalation_raised", asked)), 1)
        passed = [record["passed"] for record in self.records("gate", fixed) if record["gate"] in ("red", "green", "refactor", "deliver")]
        self.assertIn(False, passed)
        rate = sum(passed) / len(passed)
        told = self.assert_code(self.run_program("stats", "--json"), 0).json
        self.assertEqual((told["escalated"], told["escalation_rate"]), (1, 0.5))
        self.assertEqual((told["gates"], told["gates_passed"], told["verification_pass_rate"]), (len(passed), sum(passed), rate))
        rates = {one["name"]: (one["tasks"], one["escalation_rate"], one["verification_pass_rate"]) for one in told["by_pipeline"]}
        self.assertEqual(rates, {"implement": (1, 0.0, rate), "design": (1, 1.0, None)})


if __name__ == "__main__":
    main()
