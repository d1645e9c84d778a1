# SPDX-License-Identifier: Apache-2.0
"""Notifications by webhook, to a server on the loopback interface that keeps the requests, in place of Slack's."""

import hashlib
import hmac
import http.server
import json
import re
import threading

import yaml

import harness

KEY = "signing-key-0f3c9a51d7"
PATH = "/services/T000/B000/pAtHtHaTiSaSeCrEt"
QUESTION = "Keep <!channel> digits?"
DEFAULT = ["--set", "escalation.on_deadline=default", "--set", "escalation.default_answer=keep them"]


class FakeSlack:
    """Accepts requests and answers with the HTTP status `status`."""

    def __init__(self):
        self.status = 200
        self.got = []
        slack = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                slack.got.append((self.path, dict(self.headers), body))
                self.send_response(slack.status)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"ok")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}{PATH}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def keys(self):
        return [headers["Idempotency-Key"] for _, headers, _ in self.got]


class HookTest(harness.ProgramTest):
    def setUp(self):
        super().setUp()
        self.make_repository()
        self.slack = FakeSlack()
        self.addCleanup(self.slack.close)
        self.environment["AGENTFORGE_WEBHOOK_URL"] = self.slack.url
        self.environment["AGENTFORGE_WEBHOOK_SECRET"] = KEY
        self.settings = ["--set", "escalation.handlers=[file, webhook]", "--set", "plugins.settings={webhook: {timeout_seconds: 1}}"]

    def ask(self, *arguments):
        """Starts a task whose second stage asks a person."""
        transcript = harness.load_transcript()
        harness.entry(transcript, "intake", 2)["tool_calls"][0]["arguments"]["identified_ambiguities"] = [
            {"area": "characters", "question": QUESTION, "impact": "blocking"}]
        harness.entry(transcript, "clarify", 2)["tool_calls"][0]["arguments"]["questions"] = [
            {"question": QUESTION, "source": "agent_inference", "answer": "Perhaps", "confidence": 0.6, "evidence": []}]
        return self.assert_code(self.start("--exit-after", "clarify", *self.settings, *arguments, transcript=transcript), 22)

    def record(self):
        return next((self.repository / ".agentforge" / "escalations").glob("ESC-*-1.yaml"))

    def long_ago(self, **fields):
        """Changes the question's time to 2020, and these fields."""
        told = yaml.safe_load(self.record().read_text(encoding="utf-8"))
        told.update(created_at="2020-01-01T00:00:00.000Z", **fields)
        self.record().write_text(yaml.safe_dump(told, allow_unicode=True), encoding="utf-8")

    def remind(self, *arguments):
        return self.run_program("remind", *self.settings, *arguments)


class TestWebhook(HookTest):
    def test_a_question_is_sent_signed_and_once(self):
        self.ask()
        self.assertEqual(len(self.slack.got), 1)
        path, headers, body = self.slack.got[0]
        self.assertEqual(path, PATH)
        signed = f"v1:{headers['X-AgentForge-Timestamp']}:".encode() + body
        self.assertEqual(headers["X-AgentForge-Signature"], "v1=" + hmac.new(KEY.encode(), signed, hashlib.sha256).hexdigest())
        message = json.loads(body)
        self.assertEqual(message["text"], "AgentForge, stage clarify has a question: Keep &lt;!channel&gt; digits?")
        identifier = self.record().stem
        self.assertIn(f"agentforge resolve {identifier}", body.decode())
        self.assertEqual(self.slack.keys(), [f"{identifier}/0"])
        outcome = self.assert_code(self.remind(), 0)
        self.assertEqual(outcome.out, "Nothing is due.\n")
        self.assertEqual(len(self.slack.got), 1)

    def test_a_failed_notification_is_sent_by_a_later_command(self):
        self.slack.status = 503
        outcome = self.ask()
        self.assertIn("AF-ESC-053", outcome.err)
        self.assertIn("`agentforge remind`", outcome.err)
        self.assertGreater(len(self.slack.got), 1)
        self.slack.status = 200
        before = len(self.slack.got)
        self.assertEqual(self.assert_code(self.remind(), 0).out, "Nothing is due.\n", "cron does not hammer")
        outcome = self.assert_code(self.remind(self.task(), "--json"), 0)
        self.assertEqual([(item["notified_by"], item["reminder"]) for item in outcome.json["processed"]], [(["webhook"], 0)])
        self.assertEqual(len(self.slack.got), before + 1)
        self.assertEqual(set(self.slack.keys()), {f"{self.record().stem}/0"})

    def test_resume_sends_due_notifications(self):
        self.slack.status = 503
        self.ask()
        self.slack.status = 200
        before = len(self.slack.got)
        self.assert_code(self.go_on("resume", *self.settings, self.task()), 22)
        self.assertEqual(len(self.slack.got), before + 1)

    def test_neither_address_nor_key_is_exposed(self):
        self.slack.status = 404
        outcome = self.ask()
        self.assertIn("AF-ESC-054", outcome.err)
        written = outcome.all
        for file in (self.repository / ".agentforge").rglob("*"):
            if file.is_file():
                written += file.read_text(encoding="utf-8", errors="replace")
        self.assertNotIn(PATH.rpartition("/")[2], written)
        self.assertNotIn(KEY, written)

    def test_a_webhook_without_an_address_is_refused_before_a_task_exists(self):
        del self.environment["AGENTFORGE_WEBHOOK_URL"]
        outcome = self.start(*self.settings)
        self.assert_error(outcome, "AF-ESC-060", "AGENTFORGE_WEBHOOK_URL")
        self.assertEqual(self.tasks(), [])
        self.assertIn("AF-ESC-060", self.run_program("doctor", *self.settings).out)
        self.environment["AGENTFORGE_WEBHOOK_URL"] = "ftp://x"
        self.assert_error(self.start(*self.settings), "AF-ESC-051", "must begin with")
        self.assertEqual(self.tasks(), [])

    def test_network_local_refuses_a_public_address_before_a_task_exists(self):
        self.environment["AGENTFORGE_WEBHOOK_URL"] = "https://hooks.slack.example/services/x"
        outcome = self.start(*self.settings, "--set", "network=local")
        self.assert_error(outcome, "AF-ESC-055", "hooks.slack.example")
        self.assertNotIn("services/x", outcome.all)
        self.assertEqual(self.tasks(), [])

    def test_network_local_allows_this_machine(self):
        self.ask("--set", "network=local")
        self.assertEqual(len(self.slack.got), 1)

    def test_the_old_setting_name_is_an_error_and_migrate_changes_it(self):
        folder = self.repository / ".agentforge" / "config"
        folder.mkdir(parents=True)
        file = folder / "settings.yaml"
        file.write_text("escalation:\n  handler: console\n", encoding="utf-8")
        self.assert_error(self.start(), "AF-CONF-044", "escalation.handlers")
        self.assert_code(self.run_program("config", "migrate"), 0)
        self.assertEqual(yaml.safe_load(file.read_text(encoding="utf-8")), {"escalation": {"handlers": ["console"]}})


class TestWebhookDeadlines(HookTest):
    def test_reminders_have_their_own_keys_and_stop_eventually(self):
        self.ask()
        self.long_ago()
        few = ["--set", "escalation.reminders=1"]
        outcome = self.assert_code(self.remind(*few), 0)
        self.assertIn("notified by file, webhook (reminder 1)", outcome.out)
        self.assertEqual(self.slack.keys(), [f"{self.record().stem}/{number}" for number in (0, 1)])
        self.assertIn("Reminder 1: ", json.loads(self.slack.got[1][2])["text"])
        self.assertEqual(self.assert_code(self.remind(*few), 0).out, "Nothing is due.\n")

    def test_the_deadline_is_in_the_record_the_journal_and_the_notification(self):
        self.ask("--set", "escalation.deadline_seconds=3600", *DEFAULT)
        record = yaml.safe_load(self.record().read_text(encoding="utf-8"))
        self.assertRegex(record["deadline"], re.compile(r"^20\d\d-\d\d-\d\dT.*Z$"))
        self.assertEqual((record["at_deadline"], record["default_answer"]), ("default", "keep them"))
        self.assertEqual(self.records("escalation_raised")[0]["deadline"], record["deadline"])
        self.assertIn(f"Until {record['deadline']}; then the answer is: keep them.", json.loads(self.slack.got[0][2])["blocks"][-1]["text"]["text"])

    def test_a_deadline_that_aborts_ends_the_task_at_the_next_command(self):
        self.ask()
        self.long_ago(deadline="2020-01-02T00:00:00.000Z", at_deadline="abort")
        outcome = self.remind("--resume")
        self.assertIn("no answer by 2020-01-02T00:00:00.000Z; the task will end", outcome.out)
        self.assert_code(outcome, 23)
        self.assertEqual(self.records("escalation_resolved")[0]["resolved_by"], "deadline")
        self.assert_journal_verifies()

    def test_a_deadline_with_a_default_answers_and_resume_uses_it(self):
        self.ask()
        self.long_ago(deadline="2020-01-02T00:00:00.000Z", at_deadline="default", default_answer="keep them")
        self.assert_code(self.go_on("resume", *self.settings, self.task()), 0)
        answer = yaml.safe_load(next(self.record().parent.glob("*.resolution.yaml")).read_text(encoding="utf-8"))
        self.assertEqual((answer["answer"], answer["resolved_by"]), ("keep them", "deadline"))
        self.assertEqual(self.records("escalation_resolved")[0]["resolved_by"], "deadline")

    def test_remind_resumes_a_task_as_it_was_started(self):
        self.ask()
        self.long_ago(deadline="2020-01-02T00:00:00.000Z", at_deadline="default", default_answer="keep them")
        outcome = self.assert_code(self.remind("--resume"), 0)      # `resume` uses the transcript that the task started with.
        self.assertIn("Done: ", outcome.out)

    def test_a_deadline_that_pauses_leaves_the_question_open(self):
        self.ask()
        self.long_ago(deadline="2020-01-02T00:00:00.000Z", at_deadline="pause")
        outcome = self.assert_code(self.remind("--json"), 0)
        self.assertEqual([(item["overdue"], item["settled"]) for item in outcome.json["processed"]], [(True, "")])
        self.assert_code(self.go_on("resolve", *self.settings, self.record().stem, "--abort"), 23)


if __name__ == "__main__":
    harness.main()
