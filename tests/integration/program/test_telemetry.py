# SPDX-License-Identifier: Apache-2.0
"""The data that an OpenTelemetry collector gets from a task, and the cost of a bad collector."""

import collections
import math
import time

import loop_model as model
from collector import Collector, values
from harness import ProgramTest, call, entry, insert, main, short_transcript
from test_commands import doubtful_transcript
from test_iteration import again

CANARY = "canary-7c1f2e9b4d"


class WithCollector(ProgramTest):
    def collect(self, **options):
        collector = Collector(**options)
        self.addCleanup(collector.close)
        self.environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = collector.url
        return collector

    def deliver(self):
        self.make_repository()
        transcript = short_transcript()
        entry(transcript, "green", 2)["tool_calls"][0]["arguments"]["summary"] = f"The token is {CANARY}."
        # GREEN may not write this path. The debug log has a line about the refusal.
        insert(transcript, "green", entry(transcript, "green", 1)["role"], 1, call("create_file", path=f"tests/{CANARY}.txt", content="x"))
        return self.assert_code(self.start("--set", "log.level=debug", transcript=transcript), 0)


class TestTelemetry(WithCollector):
    """One delivered task, which all tests share."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shared = WithCollector()
        cls.shared.setUp()
        cls.collector = cls.shared.collect()
        cls.shared.environment["OTEL_RESOURCE_ATTRIBUTES"] = "team=red"
        cls.shared.environment["DEPLOY_TOKEN"] = CANARY
        cls.outcome = cls.shared.deliver()

    @classmethod
    def tearDownClass(cls):
        cls.shared.doCleanups()
        super().tearDownClass()

    def spans(self, beginning):
        return [span for span in self.collector.spans() if span.name.startswith(beginning)]

    def test_every_request_decodes_by_the_protocols_definitions(self):
        self.assertEqual(self.collector.problems, [])
        self.assertEqual({signal for signal, _, _ in self.collector.requests}, {"traces", "metrics", "logs"})

    def test_all_spans_are_one_trace(self):
        spans = self.collector.spans()
        self.assertEqual(len({span.trace_id for span in spans}), 1)
        self.assertEqual([len(span.trace_id) for span in spans], [16] * len(spans))
        ids = collections.Counter(span.span_id for span in spans)
        self.assertEqual(set(ids.values()), {1})
        self.assertEqual([span.name for span in spans if span.parent_span_id and span.parent_span_id not in ids], [])
        self.assertEqual([span.name for span in spans if not span.parent_span_id], ["task"])

    def test_each_stage_and_step_of_the_journal_has_its_span(self):
        stages = [record["stage"] for record in self.shared.records("stage_started")]
        self.assertEqual(sorted(span.name for span in self.spans("stage ")), sorted(f"stage {stage}" for stage in stages))
        self.assertEqual(len(self.spans("step ")), len(self.shared.steps()))
        self.assertEqual(len(self.spans("chat")), len(self.shared.records("answer")))
        self.assertEqual(len(self.spans("gate ")), len(self.shared.records("gate")))

    def test_spans_have_the_attributes_that_the_conventions_require(self):
        for span in self.spans("chat"):
            found = values(span.attributes)
            self.assertEqual((found["gen_ai.operation.name"], found["gen_ai.provider.name"], span.kind), ("chat", "replay", span.SPAN_KIND_CLIENT))
        for span in self.spans("execute_tool "):
            found = values(span.attributes)
            self.assertEqual((found["gen_ai.operation.name"], f"execute_tool {found['gen_ai.tool.name']}"), ("execute_tool", span.name))

    def test_the_task_span_has_its_outcome(self):
        (task,) = self.spans("task")
        found = values(task.attributes)
        self.assertEqual(found["agentforge.task.outcome"], "completed")
        self.assertEqual(found["agentforge.commit"], self.shared.git("rev-parse", f"agentforge/{self.shared.task()}").strip())
        self.assertEqual(task.status.code, task.status.STATUS_CODE_UNSET)

    def test_each_stage_has_metrics(self):
        metrics = self.collector.metrics()
        stages = {values(point.attributes)["agentforge.stage"] for point in metrics["agentforge.stage.duration"].histogram.data_points}
        self.assertEqual(stages, {record["stage"] for record in self.shared.records("stage_started")})
        tokens = sum(point.sum for point in metrics["gen_ai.client.token.usage"].histogram.data_points)
        cost = self.shared.run_program("cost", self.shared.task(), "--json").json
        self.assertEqual(tokens, cost["total"]["input_tokens"] + cost["total"]["output_tokens"])
        (tasks,) = metrics["agentforge.tasks"].sum.data_points
        self.assertEqual((tasks.as_double, values(tasks.attributes)["agentforge.task.outcome"]), (1.0, "completed"))

    def test_metrics_have_the_attributes_that_the_conventions_require(self):
        metrics = self.collector.metrics()
        for point in metrics["gen_ai.client.token.usage"].histogram.data_points:
            found = values(point.attributes)
            self.assertIn(found["gen_ai.token.type"], ("input", "output"))
            self.assertEqual((found["gen_ai.operation.name"], found["gen_ai.provider.name"]), ("chat", "replay"))
        for point in metrics["gen_ai.client.operation.duration"].histogram.data_points:
            found = values(point.attributes)
            self.assertEqual((found["gen_ai.operation.name"], found["gen_ai.provider.name"]), ("chat", "replay"))

    def test_the_version_of_the_conventions_and_the_programs_own_are_named(self):
        version = self.shared.run_program("--version").out.split()[-1]
        for signal, parts, scopes in (("traces", "resource_spans", "scope_spans"), ("metrics", "resource_metrics", "scope_metrics"), ("logs", "resource_logs", "scope_logs")):
            resource = getattr(self.collector.messages(signal)[0], parts)[0]
            scope = getattr(resource, scopes)[0]
            self.assertEqual((resource.schema_url, scope.schema_url), ("https://opentelemetry.io/schemas/1.37.0",) * 2)
            self.assertEqual((scope.scope.name, scope.scope.version), ("agentforge", version))

    def test_log_lines_have_the_trace_of_their_task(self):
        (trace,) = {span.trace_id for span in self.collector.spans()}
        of_task = [line for line in self.collector.lines() if line.trace_id]
        self.assertEqual({line.trace_id for line in of_task}, {trace})
        file = (self.shared.repository / ".agentforge" / "logs" / "agentforge.log").read_text(encoding="utf-8")
        self.assertEqual(len(self.collector.lines()), len(file.splitlines()))

    def test_the_process_is_described(self):
        resource = values(self.collector.messages("traces")[0].resource_spans[0].resource.attributes)
        self.assertEqual((resource["service.name"], resource["team"]), ("agentforge", "red"))
        self.assertIn("service.instance.id", resource)

    def test_no_secret_and_no_model_text_leaves_the_machine(self):
        everything = str([message for _, _, message in self.collector.requests])
        self.assertNotIn(CANARY, everything)
        self.assertIn("[REDACTED:", str(self.collector.lines()), "what could have had the secret was exported")
        self.assertNotIn("unicodedata", "".join(str(span) for span in self.collector.spans()))

    def test_successful_delivery_prints_no_message(self):
        self.assertNotIn("telemetry", self.outcome.err)


class TestTelemetryOfFailedTasks(WithCollector):
    """The telemetry of a task with questions, retries and failures."""

    def points(self, collector, name):
        """Returns stage, cause and sum of each point of a metric."""
        return [((values(point.attributes).get("agentforge.stage"), values(point.attributes).get("agentforge.escalation.cause")), point.as_double) for point in collector.metrics()[name].sum.data_points]

    def test_a_question_to_a_person_is_counted(self):
        collector = self.collect()
        self.make_repository()
        self.assert_code(self.start("--exit-after", "clarify", transcript=doubtful_transcript()), 22)
        (((stage, cause), count),) = self.points(collector, "agentforge.escalations")
        self.assertEqual((stage, bool(cause), count), ("clarify", True, 1.0))

    def test_a_retry_of_a_stage_is_counted(self):
        """Execution fails in the first step of the plan, and is retried."""
        collector = self.collect()
        self.make_repository()
        transcript = model.transcript(model.plan(), model.tests(), model.fails(), model.writes_slugify(visit=2), model.exports(visit=2))
        self.assert_code(self.start("--pipeline", "loop", "--exit-after", "verify", "--set", "orchestration.step_retry_limit=0", transcript=transcript), 0)
        self.assertEqual([record["stage"] for record in self.records("stage_failed")], ["execute"])
        self.assertEqual(self.points(collector, "agentforge.stage.retries"), [(("execute", None), 1.0)])

    def test_each_failed_span_says_why(self):
        """An action fails. Then the kernel rejects a specification that depends on a task that does not exist."""
        collector = self.collect()
        self.make_repository()
        transcript = again(short_transcript(), "spec")
        entry(transcript, "spec", 1, "software_architect")["tool_calls"][0]["arguments"]["dependencies"] = {"tasks": [{"task_id": "task-20260101-nothing-00000000", "required_stage": "spec"}]}
        insert(transcript, "analyze", "software_architect", 1, call("read_file", path="no/such/file.py"))
        self.assert_code(self.start("--exit-after", "spec", transcript=transcript), 0)
        failed = [(span.name, values(span.attributes).get("error.type")) for span in collector.spans() if span.status.code == span.status.STATUS_CODE_ERROR]
        self.assertEqual(failed, [("execute_tool read_file", "tool_failed"), ("stage spec", "artifact_rejected")])


class TestTelemetryCollectorTrouble(WithCollector):
    def test_nothing_is_sent_without_a_configured_collector(self):
        collector = self.collect()
        del self.environment["OTEL_EXPORTER_OTLP_ENDPOINT"]
        self.deliver()
        self.assertEqual(collector.requests + collector.problems, [])

    def test_only_a_task_with_a_collector_loads_the_exporter(self):
        self.collect()
        self.make_repository()
        loaded = []
        for endpoint in (self.environment["OTEL_EXPORTER_OTLP_ENDPOINT"], None):
            self.environment |= {"LD_DEBUG": "libs", "LD_DEBUG_OUTPUT": str(self.folder / f"libraries-{len(loaded)}")}
            if endpoint is None:
                del self.environment["OTEL_EXPORTER_OTLP_ENDPOINT"]
            self.assert_code(self.start("--exit-after", "intake"), 0)
            text = "".join(file.read_text(errors="replace") for file in self.folder.glob(f"libraries-{len(loaded)}.*"))
            self.assertIn("calling init", text)
            loaded.append("libagentforge-net" in text)
        self.assertEqual(loaded, [True, False])

    def test_a_collector_that_hangs_costs_the_task_nothing(self):
        self.collect(hangs=True)
        outcome = self.deliver()
        self.assertRegex(outcome.err, r"telemetry: \d+ of \d+ spans, .* were not delivered")

    def test_a_collector_that_refuses_is_named(self):
        self.collect(answer={"traces": 403})
        outcome = self.deliver()
        self.assertRegex(outcome.err, r"telemetry: (\d+) of \1 spans were not delivered: the collector answers 403")

    def test_a_busy_collector_is_retried_at_no_cost_to_the_task(self):
        collector = self.collect(answer={"traces": 429})
        began = time.monotonic()
        outcome = self.deliver()
        self.assertIn("the collector answers 429", outcome.err)
        # The first pause is a second, and each next one is twice as long. The last attempt comes at the end.
        self.assertLessEqual(len(collector.messages("traces")), 3 + math.log2(1 + time.monotonic() - began))

    def test_a_missing_collector_costs_the_task_nothing(self):
        collector = self.collect()
        collector.close()
        outcome = self.deliver()
        self.assertRegex(outcome.err, r"telemetry: .* were not delivered: ")

    def test_requests_are_compressed_if_configured(self):
        collector = self.collect()
        self.environment["OTEL_EXPORTER_OTLP_COMPRESSION"] = "gzip"
        self.deliver()
        self.assertEqual(collector.problems, [])
        self.assertEqual({headers.get("content-encoding") for _, headers, _ in ((s, {k.lower(): v for k, v in h.items()}, m) for s, h, m in collector.requests)}, {"gzip"})

    def test_another_protocol_is_refused_and_the_task_continues(self):
        collector = self.collect()
        self.environment["OTEL_EXPORTER_OTLP_PROTOCOL"] = "grpc"
        outcome = self.deliver()
        self.assertIn("AF-OTEL-001", outcome.err)
        self.assertEqual(collector.requests, [])

    def test_network_none_sends_nothing(self):
        collector = self.collect()
        self.make_repository()
        outcome = self.assert_code(self.start("--set", "network=none", transcript=short_transcript()), 0)
        self.assertIn("AF-OTEL-002", outcome.err)
        self.assertEqual(collector.requests, [])

    def test_a_repository_cannot_name_a_collector(self):
        collector = self.collect()
        del self.environment["OTEL_EXPORTER_OTLP_ENDPOINT"]
        self.make_repository()
        (self.repository / ".env").write_text(f"OTEL_EXPORTER_OTLP_ENDPOINT={collector.url}\n", encoding="utf-8")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "Name a collector")
        self.assert_code(self.start(transcript=short_transcript()), 0)
        self.assertEqual(collector.requests, [])


if __name__ == "__main__":
    main()
