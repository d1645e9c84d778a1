# SPDX-License-Identifier: Apache-2.0
"""`agentforge dashboard`, used by a browser and by an attacker: a real server on a free port, and one on a UNIX socket."""

import base64
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import stat
import struct
import subprocess

from harness import REQUEST, TRANSCRIPT, ProgramTest, main, wait_until
from test_sets import REQUEST as SET_REQUEST
from test_sets import SetTest

HOSTILE = "<script>alert('canary')</script><img src=x onerror=alert(1)> ${7*7} Add a slugify function that turns a title into a URL slug"


class Client:
    """A browser, which keeps the cookie."""

    def __init__(self, port, cookie=None):
        self.port, self.cookie = port, cookie
        self.host = f"127.0.0.1:{port}"

    def ask(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        given = {"Host": self.host}
        if self.cookie:
            given["Cookie"] = self.cookie
        if method != "GET":
            given |= {"Origin": f"http://{self.host}", "Content-Type": "application/json"}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        data = body
        if not isinstance(body, (bytes, type(None))):
            data = json.dumps(body).encode()
        connection.request(method, path, data, {name: value for name, value in given.items() if value is not None})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, dict(answer.getheaders()), text

    def json(self, path):
        status, _, text = self.ask("GET", path)
        assert status == 200, (status, text)
        return json.loads(text)


class DashboardTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make_repository()

    def begin(self, *arguments):
        """Starts a dashboard and exchanges its token."""
        self.spawn_dashboard(*arguments)
        if not self.told["port"]:
            return None
        self.address = self.told["address"]
        self.token = self.address.split("token=")[1]
        client = Client(self.told["port"])
        status, headers, _ = client.ask("GET", "/?token=" + self.token)
        self.assertEqual((status, headers["Location"]), (303, "/"))
        client.cookie = headers["Set-Cookie"].split(";")[0]
        return client

    def spawn_dashboard(self, *arguments):
        process = subprocess.Popen(self.command("dashboard", "--json", *arguments), cwd=self.repository, env=self.environment, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, start_new_session=True)
        self.addCleanup(self._end, process)
        line = process.stdout.readline()
        self.assertTrue(line, "the dashboard said nothing" if process.poll() is None else process.stderr.read())
        self.process, self.told = process, json.loads(line)

    def events_of(self, client, last=None):
        """Yields the events that the server sends to the client."""
        connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=60)
        connection.request("GET", "/api/events", headers={"Host": client.host, "Cookie": client.cookie} | ({"Last-Event-ID": last} if last else {}))
        answer = connection.getresponse()
        self.assertEqual(answer.getheader("Content-Type"), "text/event-stream")
        self.addCleanup(connection.close)
        fields, quiet = {}, 0
        while line := answer.readline().decode():
            line = line.rstrip("\n")
            quiet = quiet + 1 if line == ": still here" else quiet
            self.assertLess(quiet, 10, "nothing is told any more")
            if line.startswith(("id: ", "event: ", "data: ")):
                key, value = line.split(": ", 1)
                fields[key] = value
            elif not line and "event" in fields:
                yield fields
                fields = {}

    def next_change(self, stream, **wanted):
        """Returns the next update with these fields."""
        while True:
            event = next(stream)
            self.assertNotIn(event["event"], ("dropped", "reset"))
            data = json.loads(event["data"])
            self.assertRegex(data["at"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
            if {name: data.get(name) for name in wanted} == wanted:
                return data


class TestDashboard(DashboardTest):
    def test_a_task_is_started_shown_approved_and_delivered_on_the_page(self):
        client = self.begin("--port", "0")
        self.assertEqual(client.json("/api/tasks")["total"], 0)
        self.assert_code(self.start("--exit-after", "spec", "--approve", "spec"), 22)
        task = self.task()
        wait_until(lambda: client.json("/api/tasks")["total"] == 1, "the task on the page")
        wait_until(lambda: client.json(f"/api/tasks/{task}")["status"]["state"] == "awaiting_approval", "the approval")
        shown = client.json(f"/api/tasks/{task}")
        told = self.run_program("status", "--json").json["tasks"][0]
        self.assertEqual((shown["health"]["tests_total"], shown["health"]["tests_passing"], shown["status"]["waiting_id"], shown["current_action"]["action"]),
                         (told["tests"], told["tests_passed"], told["waiting_id"], told["last_action"]))
        item = client.json("/api/attention")["items"][0]
        place = f"/api/tasks/{task}/approve"
        status, _, text = client.ask("POST", place, {"id": item["id"], "hash": "0" * 64})
        self.assertEqual((status, json.loads(text)["code"]), (409, "AF-ESC-035"), text)
        status, _, text = client.ask("POST", place, {"id": item["id"], "hash": item["hash"]})
        self.assertEqual(status, 200, text)
        self.assertTrue(json.loads(text)["resumed"], text)
        wait_until(lambda: client.json(f"/api/tasks/{task}")["status"]["state"] == "completed", "the task's end")
        self.wait_for_process_of(task)
        self.assertEqual(client.json("/api/attention")["items"], [])
        status, _, text = client.ask("POST", place, {"id": item["id"], "hash": item["hash"]})
        self.assertEqual(status, 409, text)
        step = client.json(f"/api/tasks/{task}/steps/1")
        self.assertIn(REQUEST, step["context_sent"]["text"])
        self.assertIn(step["context_sent"]["text"].rstrip("\n"), self.run_program("inspect", task, "--step", "1", "--show", "context").out)
        self.assertEqual(client.json(f"/api/tasks/{task}/diff")["files"], [])
        artifact = client.json(f"/api/tasks/{task}/artifacts")["artifacts"][0]
        self.assertTrue(client.json(f"/api/tasks/{task}/artifacts/{artifact['phase']}/{artifact['name']}")["text"])

    def test_a_damaged_journal_affects_only_its_own_task(self):
        self.assert_code(self.start(), 0)
        journal = self.task_folder() / "actions.yaml"
        content = bytearray(journal.read_bytes())
        content[len(content) // 2] ^= 1
        journal.write_bytes(bytes(content))
        client = self.begin("--port", "0")
        place = f"/api/tasks/{self.task()}"
        self.assertEqual(client.json(place)["problem"]["code"], "AF-JRNL-002")
        listed = self.assert_code(self.run_program("status", "--json"), 0)
        self.assertEqual(listed.json["tasks"][0]["problem"]["code"], "AF-JRNL-002")
        self.assertEqual(listed.err.count("AF-JRNL-002"), 1, listed.err)
        stats = self.assert_code(self.run_program("stats", "--json"), 1).json
        told = client.json("/api/stats")
        for sums in (stats, told):
            self.assertEqual((sums["tasks"], sums["unreadable_tasks"], [problem["code"] for problem in sums["problems"]]), (0, 1, ["AF-JRNL-002"]))
        self.assertEqual((told["problems"], told["states"]), (stats["problems"], {"waiting": 0}))
        for part in ("/steps", "/steps/2", "/phases/green", "/cost", "/report"):
            status, _, text = client.ask("GET", place + part)
            self.assertEqual((status, json.loads(text)["code"]), (500, "AF-JRNL-002"), part)
        (self.task_folder() / "state.yaml").unlink()
        self.assertEqual(self.assert_code(self.run_program("stats", "--json"), 1).json["unreadable_tasks"], 1)

    def test_an_unreadable_task_is_unknown_in_status_and_the_api(self):
        self.assert_code(self.start("--exit-after", "intake"), 0)
        before = self.begin("--port", "0")
        folder = self.task_folder()
        for name in ("actions.yaml", "state.yaml"):
            (folder / name).write_text("damaged", encoding="utf-8")
        listed = self.assert_code(self.run_program("status", "--json"), 0)
        self.assertNotIn("Resume", listed.err)
        self.assertEqual([(task["state"], task["problem"]["code"]) for task in listed.json["tasks"]], [("unknown", "AF-JRNL-002")])
        place = f"/api/tasks/{self.task()}"
        wait_until(lambda: before.json(place)["status"]["state"] == "unknown", "the damage")
        told = before.json("/api/tasks")
        self.assertEqual(told["counts"], listed.json["counts"])
        self.assertEqual((told["tasks"][0]["problem"], [problem["code"] for problem in told["problems"]]), (listed.json["tasks"][0]["problem"], ["AF-JRNL-002"]))
        self.assertEqual((told["tasks"][0]["cost"]["estimated_cost_usd"], told["tasks"][0]["cost"]["cost_known"]), (None, False))
        self.assertEqual(before.json("/api/tasks?state=unknown")["total"], 1)
        self.assertEqual(self.run_program("status", "--state", "unknown", "--json").json["total"], 1)
        self.assertIn("Unknown: 1", self.run_program("status").out)
        self.assert_error(self.run_program("status", self.task()), "AF-JRNL-002")

    def test_status_and_the_api_name_stray_files_among_the_tasks(self):
        self.assert_code(self.start("--exit-after", "intake"), 0)
        client = self.begin("--port", "0")
        begun = self.task_folder()
        tasks = begun.parent
        (tasks / "notes.txt").write_text("x", encoding="utf-8")
        (tasks / "task-20260102-link-2f2e3d4c").symlink_to(begun)
        listed = self.assert_code(self.run_program("status", "--json"), 0)
        self.assertEqual((listed.json["total"], listed.err.count("AF-TASK-009")), (1, 2), listed.err)
        wait_until(lambda: [problem["code"] for problem in client.json("/api/tasks")["problems"]] == ["AF-TASK-009"] * 2, "both to be named")
        self.assertEqual(client.json("/api/tasks")["total"], 1)
        other = self.make_repository("other")
        self.assert_code(self.run_program("repo", "add", other, "--name", "other"), 0)
        wait_until(lambda: client.ask("GET", "/api/tasks?repo=other")[0] == 200, "the other repository")
        self.assertEqual(client.json("/api/tasks?repo=other")["problems"], [])

    def test_an_unreadable_task_is_not_waiting(self):
        self.assert_code(self.start("--approve", "intake"), 22)
        client = self.begin("--port", "0")
        self.assertEqual(self.run_program("status", "--json").json["counts"]["waiting"], 1)
        journal = self.task_folder() / "actions.yaml"
        journal.write_bytes(journal.read_bytes().replace(b"requirements_analyst", b"requirements_anaXyst", 1))
        self.assertEqual(self.run_program("status", "--json").json["counts"].get("waiting", 0), 0)
        wait_until(lambda: client.json("/api/tasks")["counts"].get("waiting", 0) == 0, "the damage")
        self.assertEqual(client.json("/api/attention")["items"], [])

    def test_status_and_the_api_give_the_same_figures(self):
        """Compares each field of a delivered task, a waiting one and a paused one, in JSON and in text."""
        self.assert_code(self.start(), 0)
        self.assert_code(self.start("--exit-after", "spec", "--approve", "spec"), 22)
        self.assert_code(self.start("--set", "limits.max_steps=3"), 22)
        client = self.begin("--port", "0")
        list_of_status = self.run_program("status", "--json").json
        self.assertEqual(list_of_status["counts"], client.json("/api/tasks")["counts"])
        stats = self.run_program("stats", "--json").json
        for told in (client.json("/api/stats"), client.json("/api/stats?repo=textkit")):
            self.assertEqual({name: told[name] for name in stats if not name.endswith("_per_week")}, {name: value for name, value in stats.items() if not name.endswith("_per_week")})
            self.assertEqual(told["states"], list_of_status["counts"])
        self.assertEqual((stats["delivered"], stats["rework"]["delivered_commits"]), (1, 1))
        self.assertEqual(list_of_status["counts"], {"waiting": 1, "awaiting_approval": 1, "completed": 1, "paused": 1})
        self.assertEqual(client.json("/api/tasks?state=paused")["counts"], list_of_status["counts"])     # The counts do not depend on the chosen state.
        self.assertEqual(client.json("/api/tasks?q=nothing+of+the+kind")["counts"], {"waiting": 0})
        listed = {entry["task_id"]: entry for entry in list_of_status["tasks"]}
        self.assertEqual(sorted(told["status"] for told in listed.values()), ["awaiting_approval", "completed", "paused"])
        api = {entry["task_id"]: entry for entry in client.json("/api/tasks")["tasks"]}
        for task, entry in listed.items():
            shown = client.json(f"/api/tasks/{task}")
            told = self.run_program("status", task, "--json").json
            if not shown["timing"]["completed_at"]:     # The time of a running task grows between the two requests.
                elapsed = [figures["timing"].pop("elapsed_seconds") for figures in (told["figures"], api[task])]
                self.assertLess(abs(elapsed[0] - elapsed[1]), 30)
            self.assertEqual(told["figures"], api[task])
            if shown["delivery"]["commit"]:
                self.assert_diff_is_described(shown, client)
            self.assertEqual((told["total_tokens"], told["steps"]), (shown["cost"]["tokens_used"], shown["steps"]["total"]))
            self.assert_same_where_open(entry, shown)
            self.assert_same_stages(task, self.run_program("status", task).out, shown, client)
            cost = client.json(f"/api/tasks/{task}/cost")
            self.assertIn(f"\n  cost {cost['in_words']}\n", self.run_program("status", task).out)
            self.assertTrue(cost["from_transcript"])
            self.assertIn(f"\n  cost    {cost['in_words']}\n", self.run_program("cost", task).out)
            metrics = self.run_program("metrics", task, "--json").json
            self.assertEqual((cost["tokens_used"], cost["estimated_cost_usd"], metrics["tokens"]), (shown["cost"]["tokens_used"], shown["cost"]["estimated_cost_usd"], shown["cost"]["tokens_used"]))

    def test_a_list_names_a_journal_that_does_not_verify(self):
        self.assert_code(self.start("--exit-after", "spec", "--approve", "spec"), 22)
        journal = self.task_folder() / "actions.yaml"
        journal.write_text(journal.read_text(encoding="utf-8").replace('"stage": "intake"', '"stage": "intakf"', 1), encoding="utf-8")
        told = self.assert_code(self.run_program("status"), 0)
        self.assertIn("AF-JRNL-002", told.err)
        self.assertIn("from state.yaml", told.err)
        self.assertIn(self.task()[-8:], told.out)

    def assert_diff_is_described(self, shown, client):
        diff, schemas = client.json(f"/api/tasks/{shown['task_id']}/diff"), client.json("/api/openapi.json")["components"]["schemas"]
        self.assertEqual(sorted(diff), sorted(schemas["Diff"]["properties"]))
        self.assertTrue(diff["files"])
        for file in diff["files"]:
            self.assertEqual(sorted(file), sorted(schemas["FileChange"]["properties"]))
        self.assertEqual(shown["files"]["changes"], diff["files"])

    def assert_described(self, value, schema, schemas, place):
        """Checks that each field of an answer is described, and that no required field is missing."""
        schema = schemas[schema["$ref"].rsplit("/", 1)[1]] if "$ref" in schema else schema
        self.assertIs(type(value), {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int}[schema["type"]], place)
        self.assertIn(value, schema.get("enum", [value]), place)
        if isinstance(value, list):
            for each in value:
                self.assert_described(each, schema["items"], schemas, place + "[]")
        if isinstance(value, dict):
            fields = schema.get("properties", dict.fromkeys(value, schema.get("additionalProperties")))
            self.assertLessEqual(set(schema.get("required", [])), set(value), place)
            self.assertLessEqual(set(value), set(fields), place)
            for key, each in value.items():
                self.assert_described(each, fields[key], schemas, place + "." + key)

    def test_the_answers_of_commands_are_described(self):
        client = self.begin("--port", "0")
        self.assert_code(self.start("--exit-after", "spec", "--approve", "spec"), 22)
        document = client.json("/api/openapi.json")

        def compare(path, operation, answer):
            schema = document["paths"][path][operation]["responses"]["200"]["content"]["application/json"]["schema"]
            self.assert_described(answer, schema, document["components"]["schemas"], path)

        for path in ("/api/plugins", "/api/pipelines", "/api/agents"):
            compare(path, "get", client.json(path))
        wait_until(lambda: client.ask("GET", f"/api/tasks/{self.task()}")[0] == 200, "the task, which is newer than the dashboard")
        status, _, text = client.ask("POST", f"/api/tasks/{self.task()}/abort", {"reason": "a mistake"})
        self.assertEqual(status, 200, text)
        compare("/api/tasks/{task_id}/abort", "post", json.loads(text))

    def assert_same_where_open(self, entry, shown):
        same = {"request": shown["request"], "status": shown["status"]["task_status"], "pipeline": shown["pipeline"]["template"], "current_stage": shown["status"]["phase"],
                "created_at": shown["timing"]["started_at"], "updated_at": shown["timing"]["last_activity"]}
        if not shown["timing"]["completed_at"]:
            action = shown["current_action"]
            stages = shown["pipeline"]["stages"]
            same |= {"running": shown["status"]["running"], "waiting_id": shown["status"]["waiting_id"] or "", "progress": shown["status"]["overall_progress"], "last_action": action["action"],
                     "last_action_at": action["started_at"], "tests": shown["health"]["tests_total"], "tests_passed": shown["health"]["tests_passing"],
                     "conformance": shown["health"]["conformance"], "stages": len(stages), "stages_done": sum(stage["status"] in ("completed", "skipped") for stage in stages)}
        self.assertEqual({name: entry.get(name) for name in same}, same)

    def assert_same_stages(self, task, text, shown, client):
        for stage in shown["pipeline"]["stages"]:
            line = re.search(rf"^  {stage['name']} +(\S+) +(\d+) steps +(\d+) tokens", text, re.M)
            self.assertTrue(line, text)
            self.assertEqual((line[1], int(line[2]), int(line[3])), (stage["status"], stage["steps"], stage["tokens"]))
            phase = client.json(f"/api/tasks/{task}/phases/{stage['name']}")
            told = self.run_program("status", task, "--phase", stage["name"], "--json").json
            self.assertEqual((told["status"], told["steps"], told["input_tokens"] + told["output_tokens"], told["duration_ms"], told["artifact"]),
                             (phase["status"], phase["steps"]["total"], phase["tokens"], phase["duration_ms"], phase["artifact"] or ""))

    def test_a_task_ends_with_the_shown_artifact(self):
        self.assert_code(self.start("--iterate-at", "spec"), 22)
        client = self.begin("--port", "0")
        task = self.task()
        wait_until(lambda: client.json("/api/attention")["items"], "the approval")
        item = client.json("/api/attention")["items"][0]
        answer = {"id": item["id"], "hash": item["hash"], "exit": True}
        self.assertEqual(client.ask("POST", f"/api/tasks/{task}/reject", answer)[0], 400)
        status, _, text = client.ask("POST", f"/api/tasks/{task}/approve", answer)
        self.assertEqual(status, 200, text)
        wait_until(lambda: client.json(f"/api/tasks/{task}")["status"]["state"] == "completed", "the task's end")
        self.wait_for_process_of(task)
        self.assertEqual(self.records("approval_decided")[0]["decision"], "exit")
        pipeline = client.json(f"/api/tasks/{task}")["pipeline"]
        self.assertEqual((pipeline["exit_stage"], pipeline["progress"]), ("spec", 1))

    def test_a_stage_that_is_not_an_exit_point_offers_no_exit(self):
        pipelines = self.repository / ".agentforge" / "pipelines"
        pipelines.mkdir(parents=True)
        change = {"replace": {"name": "intake", "exit_point": False}}
        (pipelines / "implement.yaml").write_text(json.dumps({"pipeline": {"name": "implement", "extends": "agentforge:implement", "changes": [change]}}), encoding="utf-8")
        self.assert_code(self.start("--approve", "intake"), 22)
        client = self.begin("--port", "0")
        item = client.json("/api/attention")["items"][0]
        self.assertEqual(item["available_actions"], ["approve", "revise", "reject", "abort"])
        status, _, text = client.ask("POST", f"/api/tasks/{self.task()}/approve", {"id": item["id"], "hash": item["hash"], "exit": True})
        self.assertEqual((status, json.loads(text)["code"]), (400, "AF-EXT-012"), text)

    def test_a_task_is_extended_on_the_page(self):
        """Extends the task after the shown artifact, and again after its end."""
        self.assert_code(self.start("--pipeline", "design", "--iterate"), 22)
        client = self.begin("--port", "0")
        task = self.task()
        place = f"/api/tasks/{task}"
        shown = client.json(place)
        self.assertEqual(shown["available_actions"], ["approve", "revise", "exit", "reject", "extend", "abort"])
        self.assertEqual(shown["continuation"], {"after": "spec", "stages": [], "next_pipeline": "implement"})
        item = client.json("/api/attention")["items"][0]
        refused, _, text = client.ask("POST", place + "/extend", {"stage": "red", "id": item["id"], "hash": "0123456789"})
        self.assertEqual((refused, json.loads(text)["code"]), (409, "AF-ESC-035"))
        status, _, text = client.ask("POST", place + "/extend", {"stage": "red", "id": item["id"], "hash": item["hash"]})
        self.assertEqual(status, 200, text)
        wait_until(lambda: client.json(place)["status"]["state"] == "completed", "the end at red")
        self.wait_for_process_of(task)
        self.assertEqual([(record["decision"], record["artifact_hash"]) for record in self.records("approval_decided")], [("extend", item["hash"])])
        shown = client.json(place)
        self.assertEqual((shown["available_actions"], shown["continuation"]["stages"]), (["extend"], ["green", "refactor", "deliver"]))
        refused, _, text = client.ask("POST", place + "/extend", {"stage": "gren"})
        self.assertEqual(json.loads(text)["code"], "AF-ORCH-053")
        status, _, text = client.ask("POST", place + "/extend", {})
        self.assertEqual((status, json.loads(text)), (202, {"task_id": task, "detached": True}))
        wait_until(lambda: client.json(place)["delivery"]["commit"], "the delivery")
        self.wait_for_process_of(task)
        shown = client.json(place)
        self.assertEqual((shown["available_actions"], shown["continuation"]), ([], None))
        self.assertEqual(client.ask("POST", place + "/extend", {})[0], 409)

    def test_a_task_started_from_the_dashboard_outlives_it(self):
        self.environment["AGENTFORGE_LLM_BACKEND"] = "replay"
        self.environment["AGENTFORGE_LLM_TRANSCRIPT"] = str(TRANSCRIPT)
        client = self.begin("--port", "0")
        status, headers, text = client.ask("POST", "/api/tasks", {"request": REQUEST, "exit_after": "intake"})
        self.assertEqual(status, 201, text)
        task = json.loads(text)["task_id"]
        self.assertEqual(headers["Location"], f"/api/tasks/{task}")
        self.process.send_signal(signal.SIGINT)
        self.assertEqual(self.process.wait(60), 0)
        wait_until(lambda: self.run_program("status", task, "--json").json["status"] == "completed", "the task's end")
        self.wait_for_process_of(task)

    def test_a_fork_is_shown_with_the_steps_that_it_shares(self):
        self.assert_code(self.start("--exit-after", "clarify"), 0)
        first = self.task()
        client = self.begin("--port", "0")
        fork = self.run_program("fork", first, "--from-step", 2, "--no-resume", "--json").json["task_id"]
        wait_until(lambda: client.json("/api/tasks")["total"] == 2, "the fork")
        listed = client.json("/api/tasks")
        self.assertEqual((listed["problems"], {task["task_id"] for task in listed["tasks"]}), ([], {first, fork}))
        shown = client.json(f"/api/tasks/{fork}")
        self.assertEqual((shown["steps"]["total"], shown["status"]["state"]), (2, "paused"))
        status, _, text = client.ask("POST", f"/api/tasks/{fork}/fork", {"step": 3})
        self.assertEqual((status, json.loads(text)["code"]), (404, "AF-TASK-017"), text)
        self.assertEqual(client.json(f"/api/tasks/{fork}/steps/1")["context_sent"]["sha256"], client.json(f"/api/tasks/{first}/steps/1")["context_sent"]["sha256"])

    def test_updates_contain_each_record_and_missed_ones(self):
        client = self.begin("--port", "0")

        stream = self.events_of(client)
        self.assertEqual(next(stream)["event"], "hello")
        self.assert_code(self.start("--exit-after", "intake"), 0)
        records = [json.loads(line) for line in self.run_program("logs", self.task(), "--output-format", "stream-json").out.splitlines()]
        seen = []
        while not seen or seen[-1][1]["type"] != "task_completed":
            event = next(stream)
            seen.append((event["id"], json.loads(event["data"])))
        told = [data["sequence"] for _, data in seen if data["type"] != "process"]
        self.assertEqual(told, [record["seq"] for record in records])
        again = self.events_of(client, seen[2][0])
        self.assertEqual(next(again)["event"], "hello")
        self.assertEqual(next(again)["id"], seen[3][0])
        self.assertEqual(next(self.events_of(client, "another-1"))["event"], "reset")
        times = {record["seq"]: record["timestamp"] for record in records}
        self.assertEqual([data["at"] for _, data in seen if data["type"] != "process"], list(times.values()))

    def test_added_and_removed_repositories_and_tasks_are_reported(self):
        other = self.make_repository("other")
        self.assert_code(self.start("--exit-after", "intake", cwd=other), 0)
        task = self.run_program("status", "--json", cwd=other).json["tasks"][0]["task_id"]
        client = self.begin("--port", "0")
        stream = self.events_of(client)
        self.assertEqual(next(stream)["event"], "hello")
        self.assert_code(self.run_program("repo", "add", other, "--name", "second"), 0)
        self.next_change(stream, type="repository", repo="second", task_id="", state="available")
        self.next_change(stream, type="task_completed", repo="second", task_id=task)
        self.assertEqual(client.json(f"/api/tasks/{task}")["repo"], "second")

        folder = other / ".agentforge" / "tasks" / task
        folder.rename(self.folder / "away")
        self.next_change(stream, type="removed", repo="second", task_id=task, state="completed")
        self.assertEqual(client.ask("GET", f"/api/tasks/{task}")[0], 404)
        (self.folder / "away").rename(folder)
        self.next_change(stream, type="task_completed", repo="second", task_id=task)
        shutil.rmtree(folder)
        self.next_change(stream, type="removed", repo="second", task_id=task)

        self.assert_code(self.run_program("repo", "remove", "second"), 0)
        self.next_change(stream, type="repository", repo="second", state="removed")
        self.assertEqual([each["name"] for each in client.json("/api/repositories")["repositories"]], ["textkit"])

    def test_changes_are_reported_without_file_events(self):
        """The folder of the tasks is created after the dashboard starts, so the dashboard must poll."""
        self.assertFalse((self.repository / ".agentforge" / "tasks").exists())
        client = self.begin("--port", "0")
        stream = self.events_of(client)
        self.assertEqual(next(stream)["event"], "hello")
        self.assert_code(self.start("--exit-after", "intake"), 0)
        self.next_change(stream, type="task_completed", task_id=self.task())
        folder = self.repository / ".agentforge" / "tasks"
        folder.rename(self.folder / "away")
        self.next_change(stream, type="removed", state="completed")
        (self.folder / "away").rename(folder)
        self.next_change(stream, type="task_completed", task_id=self.task())

    def test_a_second_dashboard_says_that_the_port_is_in_use(self):
        client = self.begin("--port", "0")
        self.assert_error(self.run_program("dashboard", "--port", client.port), "AF-DASH-030", "--port")

    def test_known_repositories_are_shown_from_anywhere(self):
        other = self.make_repository("other")
        self.assert_code(self.run_program("repo", "add"), 0)
        self.assert_code(self.run_program("repo", "add", other, "--name", "second"), 0)
        self.assert_error(self.run_program("repo", "add", other), "AF-CONF-072")
        self.assertEqual([each["name"] for each in self.run_program("repo", "list", "--json").json["repositories"]], ["textkit", "second"])
        client = self.begin("--port", "0")
        self.assertEqual([each["name"] for each in client.json("/api/repositories")["repositories"]], ["textkit", "second"])
        self.assert_code(self.run_program("repo", "remove", "second"), 0)
        self.assertEqual(len(self.run_program("repo", "list", "--json").json["repositories"]), 1)

    def test_a_collector_reads_the_metrics_with_the_token_of_a_file(self):
        token = self.folder / "metrics.token"
        token.write_text("0123456789abcdef\n", encoding="utf-8")
        token.chmod(0o644)
        self.assert_error(self.run_program("dashboard", "--port", "0", "--metrics-token", token), "AF-DASH-033", "others can read")
        token.chmod(0o600)
        collector = Client(self.begin("--port", "0", "--metrics-token", token).port)
        status, headers, text = collector.ask("GET", "/metrics", Authorization="Bearer 0123456789abcdef")
        self.assertEqual((status, headers["Content-Type"]), (200, "text/plain; version=0.0.4; charset=utf-8"))
        self.assertIn(b"# TYPE agentforge_tasks gauge", text)
        self.assertEqual(collector.ask("GET", "/metrics", Authorization="Bearer 0123456789abcdee")[0], 401)
        self.assertEqual(collector.ask("GET", "/api/tasks", Authorization="Bearer 0123456789abcdef")[0], 401)


class TestDashboardOfSets(DashboardTest, SetTest):
    """Sets (one request over several repositories), and tasks that wait for others."""

    def test_a_set_is_shown_with_its_parts_as_in_status(self):
        client = self.begin("--port", "0")
        self.assertEqual(client.json("/api/sets"), {"sets": [], "problems": []})
        self.start_set("--set", "delivery.set_test=[\"false\"]")
        # The dashboard notices the end of a process a moment later.
        wait_until(lambda: all(part["state"] == "paused" for part in client.json("/api/sets")["sets"][0]["parts"]), "the end of the processes")
        shown, = client.json("/api/sets")["sets"]
        self.assertEqual((shown["set_id"], shown["request"], shown["phase"], shown["available_actions"]), (self.set_id(), SET_REQUEST, "specified", ["resume", "abort"]))
        self.assertEqual([(part["repo"], part["state"], part["depends_on"]) for part in shown["parts"]], [("schema", "paused", []), ("consumer", "paused", ["schema"])])
        self.assertEqual(shown["test_result"], "schema: exit code 1")
        schema = shown["parts"][0]
        self.assertEqual(client.json(f"/api/tasks/{schema['task_id']}")["set"], self.set_id())
        here = self.assert_code(self.run_program("--repo", "schema", "status", "--json", cwd=self.folder), 0).json
        everywhere = self.assert_code(self.run_program("status", "--all", "--json", cwd=self.folder), 0).json
        self.assertEqual((here["sets"], everywhere["sets"]), ([shown], [shown]))
        self.assertIn(f"agentforge --repo schema resume {self.set_id()}", self.run_program("--repo", "schema", "status", schema["task_id"], cwd=self.folder).out)

    def test_progress_of_a_set_is_sent_to_listeners(self):
        self.start_set("--set", "delivery.set_test=[\"false\"]")
        client = self.begin("--port", "0")
        stream = self.events_of(client)
        self.assertEqual(next(stream)["event"], "hello")
        told = self.set_file()
        (self.sets()[0] / "set.yaml").write_text(json.dumps(told | {"reason": "a note"}), encoding="utf-8")    # The dashboard reports changes as soon as a client listens.
        self.next_change(stream, type="set", task_id=self.set_id(), state=told["phase"])
        self.assert_code(self.resume_set("--set", "delivery.set_test=[\"true\"]"), 0)
        phases = []
        while "done" not in phases:
            told = json.loads(next(stream)["data"])
            phases += [told["state"]] if (told["type"], told["task_id"]) == ("set", self.set_id()) else []
        self.assertEqual(client.json("/api/sets")["sets"][0]["available_actions"], [])

    def test_an_unreadable_set_is_a_problem(self):
        client = self.begin("--port", "0")
        self.start_set("--set", "delivery.set_test=[\"false\"]")
        (self.sets()[0] / "set.yaml").write_text("set_id: [", encoding="utf-8")
        told = client.json("/api/sets")
        self.assertEqual((told["sets"], len(told["problems"])), ([], 1))
        self.assertIn("set.yaml", told["problems"][0]["where"])


class TestDashboardUnderAttack(DashboardTest):
    def setUp(self):
        super().setUp()
        self.assert_code(self.start("--exit-after", "intake", request=HOSTILE), 0)
        self.client = self.begin("--port", "0")
        self.task_place = f"/api/tasks/{self.task()}"

    def refused(self, method, path, body=None, **headers):
        status, _, text = self.client.ask(method, path, body, **headers)
        return status, json.loads(text).get("code")

    def test_dns_rebinding_and_other_sites_are_refused(self):
        self.assertEqual(self.refused("GET", "/api/tasks", Host="evil.example"), (421, "AF-DASH-001"))
        self.assertEqual(self.refused("GET", "/", Host=f"evil.example:{self.client.port}"), (421, "AF-DASH-001"))
        self.assertEqual(self.refused("GET", "/api/tasks", Origin="http://evil.example"), (403, "AF-DASH-002"))
        self.assertEqual(self.refused("POST", self.task_place + "/abort", {}, Origin="http://evil.example"), (403, "AF-DASH-002"))
        self.assertEqual(self.refused("POST", self.task_place + "/abort", {}, Origin=None), (403, "AF-DASH-002"))
        self.assertEqual(self.refused("POST", self.task_place + "/abort", b"{}", Content_Type="text/plain"), (400, "AF-DASH-006"))
        self.assertEqual(self.refused("OPTIONS", "/api/tasks", Origin=f"http://127.0.0.1:{self.client.port}"), (405, "AF-DASH-008"))

    def test_listens_only_on_the_loopback_address(self):
        self.assertEqual(self.client.ask("GET", "/api/tasks")[0], 200)
        with socket.socket() as other, self.assertRaises(ConnectionRefusedError):
            other.connect(("127.0.0.2", self.client.port))

    def test_the_token_works_once_and_is_not_exposed(self):
        stranger = Client(self.client.port)
        for path in ("/", "/app.js", "/api/tasks", "/?token=" + self.token, "/?token=", "/?token=" + "0" * 64):
            status, headers, text = stranger.ask("GET", path)
            self.assertEqual(status, 401, path)
            self.assertNotIn("Set-Cookie", headers)
            self.assertNotIn(self.token.encode(), text)
        _, headers, page = self.client.ask("GET", "/")
        self.assertEqual(headers["Referrer-Policy"], "no-referrer")
        self.assertNotIn(self.token.encode(), page)
        self.assertNotIn(self.client.cookie.split("=")[1].encode(), page)
        logs = self.repository / ".agentforge" / "logs"
        for file in logs.rglob("*") if logs.exists() else []:
            self.assertNotIn(self.token, file.read_text())

    def test_untrusted_text_is_never_markup(self):
        status, headers, text = self.client.ask("GET", "/api/tasks")
        self.assertEqual((status, headers["Content-Type"], headers["X-Content-Type-Options"]), (200, "application/json", "nosniff"))
        self.assertEqual(json.loads(text)["tasks"][0]["request"], HOSTILE)
        _, headers, page = self.client.ask("GET", "/")
        self.assertNotIn(b"canary", page)
        policy = headers["Content-Security-Policy"]
        self.assertIn("default-src 'none'", policy)
        self.assertIn("require-trusted-types-for 'script'", policy)
        self.assertNotIn("unsafe", policy)

    def test_no_path_leads_to_a_file(self):
        for path in ("/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc%2fpasswd", "//etc/passwd", "/page/app.js", "/app.js/", "/app.js%00.html",
                     self.task_place + "/artifacts/..%2f..%2f/task.yaml", self.task_place + "/artifacts/intake/..%2f..%2f..%2ftask.yaml", "/api/tasks/..%2f..", "/api/tasks/%2e%2e/cost"):
            status, _, text = self.client.ask("GET", path)
            self.assertIn(status, (400, 404), path)
            self.assertNotIn(b"root:", text)

    def raw(self, head, wait=60):
        connection = socket.create_connection(("127.0.0.1", self.client.port), timeout=wait)
        self.addCleanup(connection.close)
        connection.sendall(head)
        return connection

    def head(self, method, path, *lines):
        return "\r\n".join([f"{method} {path} HTTP/1.1", f"Host: {self.client.host}", f"Cookie: {self.client.cookie}", *lines, "", ""]).encode()

    @staticmethod
    def read_all(connection):
        data = b""
        try:
            while part := connection.recv(65536):
                data += part
        except (ConnectionResetError, TimeoutError):
            pass
        return data

    def test_oversized_slow_or_torn_requests_do_not_affect_other_clients(self):
        status, _, text = self.client.ask("POST", self.task_place + "/abort", b'{"reason": "' + b"x" * 600_000 + b'"}')
        self.assertEqual((status, json.loads(text)["code"]), (413, "AF-DASH-041"))
        torn = self.raw(self.head("POST", self.task_place + "/abort", "Content-Length: 100", f"Origin: http://{self.client.host}", "Content-Type: application/json") + b"{")
        torn.shutdown(socket.SHUT_WR)
        self.assertIn(b"AF-DASH-040", self.read_all(torn))
        twice = self.raw(self.head("GET", "/api/tasks", f"Host: {self.client.host}", "Connection: close"))
        self.assertIn(b"AF-DASH-040", self.read_all(twice))
        unfinished = self.raw(self.head("POST", self.task_place + "/abort", "Content-Length: 100", f"Origin: http://{self.client.host}", "Content-Type: application/json") + b"{")
        slow = [self.raw(b"GET /api/tasks HTTP/1.1\r\nHost: ") for _ in range(20)]
        self.assertEqual(self.client.ask("GET", "/api/tasks")[0], 200)
        self.assertEqual(len(slow), 20)
        self.assertRegex(self.read_all(slow[0])[:12], rb"^(HTTP/1\.[01] 4.*)?$")       # Closed at its time limit.
        self.assertIn(b"AF-DASH-040", self.read_all(unfinished))
        self.assertRegex(self.read_all(self.raw(self.head("GET", "/" + "a" * 20_000, "Connection: close")))[:12], rb"^(HTTP/1\.[01] 4.*)?$")
        self.assertEqual(self.client.ask("GET", "/api/tasks")[0], 200)

    def test_a_body_without_a_length_or_incomplete_is_refused(self):
        place = self.task_place + "/abort"
        given = (f"Origin: http://{self.client.host}", "Content-Type: application/json")
        for lines, body, code in ((("Transfer-Encoding: chunked",), b"5\r\n{\"re", b" 411 "), (("Transfer-Encoding: chunked",), b"0\r\n\r\n", b" 411 "),
                                  (("Transfer-Encoding: xchunked",), b"{}", b" 411 "), (("Transfer-Encoding: gzip", "Content-Length: 2"), b"{}", b" 411 "),
                                  (("Content-Length: +2",), b"{}", b" 400 "), (("Content-Length: 0",), b"", b" 400 "), (("Content-Length: 2", "Content-Encoding: gzip"), b"{}", b" 400 ")):
            connection = self.raw(self.head("POST", place, *given, *lines) + body)
            connection.shutdown(socket.SHUT_WR)
            answer = self.read_all(connection)
            self.assertIn(code, answer.split(b"\r\n")[0], (lines, answer))
            self.assertEqual(answer.count(b"HTTP/1.1"), 1, (lines, answer))
        self.assertNotEqual(self.client.json(self.task_place)["status"]["state"], "aborted")

    def test_an_unreadable_head_is_answered_with_a_problem_document(self):
        """A missing or invalid length; a header, an address or a whole head that is too large; too many headers; no header at all."""
        place = self.task_place + "/abort"
        given = (f"Origin: http://{self.client.host}", "Content-Type: application/json")
        for method, path, lines, code in (("POST", place, (*given,), 411), ("POST", place, (*given, "Content-Length: two"), 400), ("POST", place, (*given, "Content-Length: -2"), 400),
                                          ("POST", place, (*given, "Content-Length:"), 400), ("POST", place, (*given, "Content-Length: 99999999999999999999"), 400),
                                          ("POST", place, (*given, "Content-Length: 2", "Content-Length: 3"), 400), ("GET", "/api/tasks", ("X-Large: " + "x" * 9000,), 431),
                                          ("GET", "/api/tasks", ("x" * 300 + ": 1",), 431), ("GET", "/" + "a" * 20_000, (), 431), ("GET", "/api/tasks", tuple(f"X-{n}: 1" for n in range(150)), 431),
                                          ("GET", "/api/tasks", tuple(f"X-{n}: " + "x" * 7000 for n in range(20)), 431), ("GET", "/api/tasks", ("no header",), 400)):
            with self.subTest((method, path[:40], lines[-1][:40] if lines else "")):
                answer = self.read_all(self.raw(self.head(method, path, *lines)))
                head, _, body = answer.partition(b"\r\n\r\n")
                self.assertEqual(int(head.split()[1]), code, answer[:300])
                self.assertIn(b"application/problem+json", head)
                self.assertIn(json.loads(body)["code"], ("AF-DASH-040", "AF-DASH-041"))
        self.assertEqual(self.client.ask("GET", "/api/tasks")[0], 200)
        self.assertNotEqual(self.client.json(self.task_place)["status"]["state"], "aborted")

    def test_a_head_of_100_lines_is_accepted_and_one_of_101_is_refused(self):
        for lines, code in ((97, 200), (98, 431)):     # Plus the request line, the host and the cookie.
            answer = self.read_all(self.raw(self.head("GET", "/api/tasks", "Connection: close", *(f"X-{n}: 1" for n in range(lines - 1)))))
            self.assertEqual(int(answer.split()[1]), code, lines)

    def test_a_connection_of_http_1_0_is_closed_after_the_answer_unless_the_client_keeps_it(self):
        def ask(*lines):
            return self.raw(self.head("GET", "/api/tasks", *lines).replace(b" HTTP/1.1\r\n", b" HTTP/1.0\r\n"))
        self.assertTrue(self.read_all(ask()).startswith(b"HTTP/1.1 200 "))
        kept, answer = ask("Connection: keep-alive"), b""
        while b"\r\n\r\n" not in answer:
            answer += kept.recv(1)
        self.assertIn(b"connection: keep-alive", answer.lower())

    def test_a_head_that_breaks_the_rules_of_http_is_answered_with_a_problem_document(self):
        """A bad request line; bad names and values of headers; a head that is cut off or never ends."""
        ends = f"\r\nHost: {self.client.host}\r\nCookie: {self.client.cookie}\r\n".encode()
        ok = b"GET /api/stats HTTP/1.1" + ends
        for sent, code in ((b"hello\r\n\r\n", 400), (b"\r\n\r\n", 400), (b"\x16\x03\x01\x02\r\n\r\n", 400), (b"GET /\r\n\r\n", 400), (b"GET  /api/stats HTTP/1.1" + ends + b"\r\n", 400),
                           (b"GET\t/api/stats\tHTTP/1.1" + ends + b"\r\n", 400), (b"G" * 40 + b" / HTTP/1.1" + ends + b"\r\n", 400), (b"G\x01T / HTTP/1.1" + ends + b"\r\n", 400),
                           (b"GET /api/\0 HTTP/1.1" + ends + b"\r\n", 400), (b"GET /api/\xff HTTP/1.1" + ends + b"\r\n", 400), (b"GET / HTTP/1.10" + ends + b"\r\n", 505), (b"GET / HTTP/1.11111111" + ends + b"\r\n", 505),
                           (ok + b"X : 1\r\n\r\n", 400), (ok + b"X y: 1\r\n\r\n", 400), (ok + b"X: \0\r\n\r\n", 400), (ok + b"X: a\rY: b\r\n\r\n", 400), (ok + b"X: 1\r\n more: 2\r\n\r\n", 400),
                           (b"GET /api/st", 400), (ok, 400), (ok + b"X: 1", 400)):
            with self.subTest(sent[:40]):
                connection = self.raw(sent)
                connection.shutdown(socket.SHUT_WR)
                self.assert_is_a_problem(self.read_all(connection), code)
        self.assert_is_a_problem(self.read_all(self.raw(b"GET /api/st")), 408)
        self.assertEqual(self.client.ask("GET", "/api/tasks")[0], 200)

    def assert_is_a_problem(self, answer, code):
        head, _, body = answer.partition(b"\r\n\r\n")
        self.assertEqual(int(head.split()[1]), code, answer[:300])
        self.assertIn(b"application/problem+json", head)
        self.assertEqual(json.loads(body)["code"], "AF-DASH-040")

    def test_pipelined_requests_are_answered_in_order(self):
        cookie = f"Cookie: {self.client.cookie}"
        one = self.head("GET", "/api/stats", cookie)
        answer = self.read_all(self.raw(one + one + self.head("GET", "/api/stats", cookie, "Connection: close")))
        self.assertEqual(answer.count(b"HTTP/1.1 200 OK"), 3, answer[:400])

    def test_root_does_not_see_the_tasks_of_another_user(self):
        folder = self.repository / ".agentforge"
        if os.geteuid() == 0:
            os.lchown(folder, 12345, 12345)
            self.addCleanup(os.lchown, folder, 0, 0)
        else:           # Only root can give a folder to another user; a link may lead to another user's folder.
            folder.rename(self.folder / "theirs")
            folder.symlink_to(self.folder / "theirs")
        client = self.begin("--port", "0")
        self.assertEqual([problem["code"] for problem in client.json("/api/repositories")["problems"]], ["AF-DASH-010"])
        self.assertEqual(client.json("/api/tasks")["tasks"], [])
        self.assertEqual(client.ask("GET", self.task_place)[0], 404)

    def test_excluded_repositories_are_not_read_or_run(self):
        folder = self.repository / ".agentforge"
        (folder / "escalations").mkdir(exist_ok=True)
        (folder / "escalations" / "strange.yaml").write_text("id: [\n")
        os.lchown(folder, 12345, 12345)
        self.addCleanup(os.lchown, folder, 0, 0)
        client = self.begin("--port", "0")
        attention = client.json("/api/attention")
        self.assertEqual(attention["items"], [])
        self.assertEqual([problem["code"] for problem in attention["problems"]], ["AF-DASH-010"])
        for place in ("/api/agents", "/api/pipelines", "/api/plugins"):
            status, _, body = client.ask("GET", place)
            self.assertEqual((status, json.loads(body)["code"]), (403, "AF-DASH-010"), place)

    def test_the_version_in_the_answer_is_that_of_the_server(self):
        for line in ("GET /api/stats FOO/1.1", "GET /api/stats HTTP/3.0", "GET http://evil.example/api/stats HTTP/1.1"):
            answer = self.read_all(self.raw(line.encode() + self.head("GET", "/", "Connection: close").split(b"HTTP/1.1", 1)[1]))
            self.assertRegex(answer[:12], rb"^HTTP/1\.1 [45]0", line)

    def test_a_client_that_does_not_read_does_not_affect_others(self):
        idle = []
        for _ in range(31):
            connection = socket.socket()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            connection.connect(("127.0.0.1", self.told["port"]))
            connection.settimeout(60)
            connection.sendall(self.head("GET", "/api/openapi.json") * 100)
            idle.append(connection)
        self.assertEqual(self.client.ask("GET", "/api/tasks")[0], 200)
        for connection in idle:
            wait_until(lambda given_up=connection: self.is_reset(given_up), "the dashboard to give up")
            connection.close()

    @staticmethod
    def is_reset(connection):
        """True if the dashboard has reset the connection. Reads nothing from it."""
        try:
            connection.sendall(b" ")
            return False
        except OSError:
            return True

    def upgrade(self, origin, place="/ws/updates"):
        key = base64.b64encode(os.urandom(16)).decode()
        lines = ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {key}"] + ([f"Origin: {origin}"] if origin else [])
        connection = self.raw(self.head("GET", place, *lines))
        answer = b""
        while b"\r\n\r\n" not in answer:
            part = connection.recv(1)
            if not part:
                break
            answer += part
        return connection, answer.split(b"\r\n")[0]

    @staticmethod
    def receive(connection, size):
        data = b""
        while len(data) < size:
            part = connection.recv(size - len(data))
            if not part:
                raise ConnectionError(f"the dashboard closed the connection after {data!r}")
            data += part
        return data

    def frame(self, connection):
        head = self.receive(connection, 2)
        length = head[1] & 127
        if length == 126:
            length = struct.unpack(">H", self.receive(connection, 2))[0]
        return head[0] & 15, self.receive(connection, length)

    def test_a_web_socket_accepts_only_the_page_and_well_formed_frames(self):
        for origin in ("http://evil.example", "null", None):
            self.assertIn(b" 403 ", self.upgrade(origin)[1] + b" ", origin)
        connection, answer = self.upgrade(f"http://{self.client.host}")
        self.assertIn(b" 101 ", answer)
        self.assertEqual(json.loads(self.frame(connection)[1])["type"], "hello")
        self.assert_code(self.start("--exit-after", "intake", request="Another request"), 0)
        told = json.loads(self.frame(connection)[1])
        self.assertEqual((told["repo"], told["sequence"], told["type"]), ("textkit", 1, "task_created"))
        connection.sendall(b"\x81\xff" + struct.pack(">Q", 1 << 40) + b"mask")
        while True:
            code, data = self.frame(connection)
            if code == 8:
                break
        self.assertEqual(struct.unpack(">H", data[:2])[0], 1009)
        unfinished = ((b"\x81", 1002), (b"\x81\x85abcd12", 1002))
        for sent, expected in (*unfinished, (b"\x81\xfe\x10\x01" + bytes(4 + 4097), 1009), (b"\x81\x05hello" + bytes(100), 1002), (b"\x89\x01a", 1002), (b"\x81\x81\0\0\0\0a", 1003), (b"\x83\x80\0\0\0\0", 1002), (b"\xc9\x80\0\0\0\0", 1002),
                               (b"\x89\xfe\x00\x7e" + bytes(4 + 126), 1002), (b"\x80\x80\0\0\0\0", 1002)):
            connection, _ = self.upgrade(f"http://{self.client.host}")
            self.frame(connection)
            connection.sendall(sent)
            code, data = self.frame(connection)
            self.assertEqual((code, struct.unpack(">H", data[:2])[0]), (8, expected), sent)
            self.assertEqual(connection.recv(1), b"", "it is closed in order, not reset")
        self.assertEqual(self.client.ask("GET", "/api/tasks")[0], 200)

    def test_a_reconnected_web_socket_receives_missed_events(self):
        origin = f"http://{self.client.host}"
        connection, _ = self.upgrade(origin)
        seen = json.loads(self.frame(connection)[1])["id"]
        connection.close()
        self.assert_code(self.start("--exit-after", "intake", request="Another request"), 0)
        wait_until(lambda: self.client.json("/api/tasks")["total"] == 2, "the second task")
        connection, _ = self.upgrade(origin, f"/ws/updates?last_event_id={seen}")
        first, second = (json.loads(self.frame(connection)[1]) for _ in range(2))
        self.assertEqual((first["type"], first["id"]), ("hello", seen))
        self.assertEqual((second["type"], second["sequence"]), ("task_created", 1))
        self.assertNotEqual(second["id"], seen)

    def test_a_web_socket_is_told_that_the_dashboard_ends(self):
        connection, _ = self.upgrade(f"http://{self.client.host}")
        self.frame(connection)
        self.process.send_signal(signal.SIGTERM)
        told = json.loads(self.frame(connection)[1])
        self.assertEqual((told["type"], told["reason"]), ("closed", "the dashboard ends"))
        self.assertEqual(self.frame(connection), (8, struct.pack(">H", 1001) + b"closed"))


class TestDashboardOnASocket(DashboardTest):
    def test_only_this_user_can_connect_and_no_token_is_needed(self):
        place = self.folder / "dashboard.sock"
        self.begin("--socket", place, "--read-only")
        self.assertEqual(stat.S_IMODE(os.stat(place).st_mode), 0o600)
        for method, head, expected in (("GET", "", b" 200 "), ("POST", "Content-Type: application/json\r\nContent-Length: 2\r\n", b" 403 ")):
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(60)
                connection.connect(str(place))
                connection.sendall(f"{method} /api/tasks HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{head}\r\n".encode() + (b"{}" if head else b""))
                answer = TestDashboardUnderAttack.read_all(connection)
            self.assertIn(expected, answer.split(b"\r\n")[0] + b" ")
        self.assert_error(self.run_program("dashboard", "--socket", place), "AF-DASH-030")
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(60), 0)
        self.assertFalse(place.exists())
        pathlib.Path(place).write_text("not a socket")
        self.assert_error(self.run_program("dashboard", "--socket", place), "AF-DASH-030")
        self.assertEqual(place.read_text(), "not a socket")


class Chromium:
    """Debian's Chromium without a window, controlled by its own protocol through two pipes. `scripts/test --browser` tests the whole page."""

    FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"]

    def __init__(self, test):
        to_there, self.from_here = os.pipe()
        to_here, from_there = os.pipe()
        self.process = subprocess.Popen(["bash", "-c", 'exec chromium "$@" 3<&%d 4>&%d' % (to_there, from_there), "chromium", *self.FLAGS, "--remote-debugging-pipe", f"--user-data-dir={test.folder}/chromium"],
                                        pass_fds=(to_there, from_there), env=test.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(to_there)
        os.close(from_there)
        self.answers = os.fdopen(to_here, "rb")
        test.addCleanup(self.end)
        self.said, self.number, self.session, self.buffer = [], 0, None, b""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for part in ("Page", "Runtime", "Log"):
            self.call(part + ".enable")

    def end(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.from_here)
        self.answers.close()

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters} | ({"sessionId": self.session} if self.session else {})
        os.write(self.from_here, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.buffer:
                part = self.answers.read1(1 << 16)
                assert part, "Chromium ended"
                self.buffer += part
            text, self.buffer = self.buffer.split(b"\0", 1)
            answer = json.loads(text)
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]
            if answer.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.said.append(answer["params"])

    def value(self, expression):
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)["result"].get("value")

    def wait_for(self, expression, what):
        wait_until(lambda: self.value(expression), what)


class TestDashboardInABrowser(DashboardTest):
    def test_the_page_shows_and_follows_a_task_without_console_messages(self):
        self.assert_code(self.start("--exit-after", "intake", request=HOSTILE), 0)
        self.spawn_dashboard("--port", "0")
        browser = Chromium(self)
        browser.call("Page.navigate", url=self.told["address"])
        browser.wait_for("document.title === 'Tasks · AgentForge' && document.getElementById('connection').textContent === 'live'", "the list of tasks")
        self.assertIn(HOSTILE, browser.value("document.querySelector('li.task a').textContent"))
        self.assertEqual(browser.value("location.search + document.cookie + document.querySelectorAll('main img, main script').length"), "0")
        self.assert_code(self.start("--exit-after", "intake", request="Another request"), 0)
        browser.wait_for("[...document.querySelectorAll('li.task')].filter((task) => task.textContent.includes('completed')).length === 2", "the second task on the page")
        browser.value("location.hash = '#/task/' + " + json.dumps(next(task for task in self.tasks() if "another" in task)) + " + '/step/1'")
        browser.wait_for("document.querySelector('main').textContent.includes('What the model saw')", "the step")
        self.assertEqual(browser.said, [])


if __name__ == "__main__":
    main()
