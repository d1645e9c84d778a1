# SPDX-License-Identifier: Apache-2.0
"""The dashboard's page in Debian's Chromium, by playwright-core: each view, each button, a live task, a lost connection, many steps and tasks, attacks.

`scripts/test --browser` installs playwright-core, axe-core and Prism by npm and runs this. page.mjs drives the browser; what has to happen outside of it is done here when it asks for it.
"""

import atexit
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import unittest

import yaml

SOURCE = pathlib.Path(os.environ.get("AGENTFORGE_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
sys.path[:0] = [str(SOURCE / "tests" / "integration" / "program"), str(SOURCE / "tests" / "browser")]

import journals  # noqa: E402
from harness import REQUEST, TRANSCRIPT, ProgramTest, call, entry, insert, load_transcript, main, short_transcript, wait_until  # noqa: E402
from model_server import KEY, ModelServer  # noqa: E402
from test_dependencies import DependencyTest  # noqa: E402
from test_sets import REQUEST as SET_REQUEST  # noqa: E402
from test_sets import SetTest  # noqa: E402

MODULES = pathlib.Path(os.environ.get("AGENTFORGE_BROWSER", SOURCE / "build" / "browser"))
KEPT = SOURCE / "tests" / "journals"
QUESTION = "Do digits stay in a slug?"


def doubtful_transcript():
    """Intake finds a blocking question and clarify is not sure of its answer."""
    transcript = load_transcript()
    entry(transcript, "intake", 2)["tool_calls"][0]["arguments"]["identified_ambiguities"] = [{"area": "characters", "question": QUESTION, "impact": "blocking"}]
    clarified = entry(transcript, "clarify", 2)["tool_calls"][0]["arguments"]
    clarified["questions"] = [{"question": QUESTION, "source": "agent_inference", "answer": "Perhaps", "confidence": 0.6, "evidence": []}]
    return transcript


figures = []        # Told when all is done: unittest writes each test's name and outcome into one line.
atexit.register(lambda: print(*figures, sep="", flush=True))


class PageTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make_repository()
        self.environment |= {"AGENTFORGE_LLM_BACKEND": "replay", "AGENTFORGE_LLM_TRANSCRIPT": str(TRANSCRIPT)}
        self.port = 0

    @property
    def agentforge(self):
        return self.repository / ".agentforge"

    def begin(self, *arguments):
        self.dashboard = subprocess.Popen(self.command("dashboard", "--json", "--port", self.port, *arguments), cwd=self.repository, env=self.environment, text=True, stdin=subprocess.DEVNULL,
                                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.addCleanup(self._end, self.dashboard)
        line = self.dashboard.stdout.readline()
        self.assertTrue(line, "the dashboard said nothing" if self.dashboard.poll() is None else self.dashboard.stderr.read())
        told = json.loads(line)
        self.port = told["port"]
        return told["address"]

    def end(self):
        self.dashboard.send_signal(signal.SIGINT)
        self.assertEqual(self.dashboard.wait(60), 0)

    def drive(self, scenario, does=None, dashboard=(), **world):
        """Runs one scenario of page.mjs. A line `@{"do": …}` asks for something; the answer is one line of JSON. `dashboard`: arguments of that command."""
        world |= {"address": self.begin(*dashboard), "modules": str(MODULES / "node_modules"), "profile": str(self.folder / f"profile-{scenario}"), "pictures": str(MODULES / "pictures")}
        process = subprocess.Popen(["node", str(SOURCE / "tests" / "browser" / "page.mjs"), scenario, json.dumps(world)], env=os.environ | {"NODE_PATH": world["modules"], "TZ": "UTC", "HOME": str(self.home)}, text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        self.addCleanup(self._end, process)
        said = []
        for line in process.stdout:
            if not line.startswith("@"):
                said.append(line)
                continue
            asked = json.loads(line[1:])
            process.stdin.write(json.dumps((does or {})[asked["do"]](asked)) + "\n")
            process.stdin.flush()
        code = process.wait(60)
        self._end(self.dashboard)
        self.assertEqual(code, 0, "".join(said))
        figures.extend(line for line in said if line.startswith("figure "))
        return "".join(said)

    # ----------------------------------------------------------------------------------------- tasks --

    def tasks_of_all_kinds(self):
        """One task that was delivered, one that waits for an approval, one with a question, one paused, one interrupted."""
        self.assert_code(self.start(), 0)
        self.delivered = self.tasks()[0]
        versions = self.task_folder(self.delivered) / "artifacts" / "phases" / "spec"
        (versions / "specification_v1.yaml").write_text((versions / "specification.yaml").read_text(encoding="utf-8") + "# an earlier version\n", encoding="utf-8")
        self.assert_code(self.start("--exit-after", "spec", "--approve", "spec", request="Add a truncate function that cuts a title"), 22)
        self.approving = next(task for task in self.tasks() if "truncate" in task)
        self.assert_code(self.start("--exit-after", "clarify", transcript=doubtful_transcript(), request="Migrate the titles to slugs"), 22)
        self.asking = next(task for task in self.tasks() if "migrate" in task)
        self.paused = journals.renamed(KEPT, "paused_at_a_limit", self.agentforge, 0xabcd, "Add rate limiting middleware").task_id
        self.interrupted = journals.renamed(KEPT, "killed_in_green", self.agentforge, 0xabce, "Add user preferences").task_id
        return {"delivered": self.delivered, "approving": self.approving, "asking": self.asking, "paused": self.paused, "interrupted": self.interrupted}

    def status_of(self, task):
        return self.run_program("status", task, "--json").json

    def held_model(self, request):
        """A model that answers from the transcript, and its request of this number only when `release` is a file. `asked` is one once it came."""
        release, asked = self.folder / "release", self.folder / "asked"

        def hold():
            asked.write_text("", encoding="utf-8")
            return wait_until(release.exists, "the release")

        self.addCleanup(lambda: release.write_text("", encoding="utf-8") if self.folder.exists() else None)
        server = ModelServer(short_transcript(), SOURCE / "config", before={request: hold})
        self.addCleanup(server.close)
        self.environment |= {"SCRIPTED_MODEL_KEY": KEY, "AGENTFORGE_LLM_BACKEND": "openai", "AGENTFORGE_LLM_MODEL": "scripted", "AGENTFORGE_LLM_BASE_URL": f"{server.url}/v1", "AGENTFORGE_LLM_API_KEY_ENV": "SCRIPTED_MODEL_KEY"}
        return release


class TestViews(unittest.TestCase):
    """What only looks: all with the same tasks."""

    @classmethod
    def setUpClass(cls):
        cls.place = PageTest()
        cls.addClassCleanup(cls.place.doCleanups)
        cls.place.setUp()
        cls.world = cls.place.tasks_of_all_kinds()

    def look(self, scenario):
        self.place.port = 0
        self.place.drive(scenario, **self.world)

    def test_each_view_shows_what_it_is_about(self):
        self.look("views")

    def test_axe_finds_nothing_in_any_view_in_light_and_dark(self):
        self.look("axe")

    def test_fits_a_telephone_and_a_large_screen(self):
        self.look("sizes")

    def test_no_word_is_broken_in_a_table_on_a_telephone(self):
        self.look("narrow_tables")

    def test_first_paint_and_size(self):
        self.look("paint")

    def test_script_in_any_field_stays_text(self):
        self.look("canary")


class TestPage(PageTest):
    def test_everything_can_be_done_with_the_keyboard_alone(self):
        world = self.tasks_of_all_kinds()
        self.drive("keyboard", **world)
        wait_until(lambda: self.status_of(self.approving)["status"] == "completed", "the approved task's end")
        self.wait_for_process_of(self.approving)

    def test_filters_timeline_changes_and_a_question_need_no_mouse(self):
        world = self.tasks_of_all_kinds()
        self.drive("keyboard_forms", **world)
        wait_until(lambda: self.status_of(self.asking)["status"] == "completed", "the answered task's end")
        self.wait_for_process_of(self.asking)

    def test_the_buttons_of_a_question_and_of_an_approval_do_what_they_say(self):
        world = self.tasks_of_all_kinds()
        self.drive("decisions", **world)
        wait_until(lambda: self.status_of(self.asking)["status"] == "completed", "the answered task's end")
        self.wait_for_process_of(self.asking)
        self.assertEqual(self.status_of(self.approving)["status"], "aborted")
        self.assertEqual([record["feedback"] for record in self.records("approval_decided", self.approving) if record["feedback"]], ["Name the separator"])
        for task in self.tasks():
            if task not in (self.paused, self.interrupted):
                self.wait_for_process_of(task)

    def test_a_task_is_started_watched_and_ended_there(self):
        release = self.held_model(3)
        self.drive("control", {"release": lambda _: release.write_text("", encoding="utf-8")})
        for task in self.tasks():
            wait_until(lambda task=task: self.status_of(task)["status"] == "aborted", "the task's end")
            self.wait_for_process_of(task)

    def test_a_task_that_asks_after_every_phase_is_paused_after_its_step(self):
        release = self.held_model(1)
        self.drive("supervised", {"asked": lambda _: wait_until((self.folder / "asked").exists, "the model's request") and None, "release": lambda _: release.write_text("", encoding="utf-8")})
        task = self.task()
        self.wait_for_process_of(task)
        self.assertEqual([record["supervised"] for record in self.records("task_created")], [True])
        self.assertEqual(self.status_of(task)["status"], "paused")
        self.assertEqual(len(self.steps()), 1)

    def test_a_suggested_answer_is_one_click(self):
        transcript, options = load_transcript(), ["Digits go", "Digits stay"]
        entry(transcript, "clarify", 1)["tool_calls"] = call("escalate_question", question=QUESTION, reason="The request does not say", options=options)
        self.assert_code(self.start("--exit-after", "clarify", transcript=transcript), 22)
        self.drive("suggested", question=QUESTION, options=options)
        self.wait_for_process_of(self.task())
        self.assertEqual(len(self.records("escalation_resolved")), 1)

    def test_what_has_changed_is_not_approved_and_what_is_refused_ends_its_task(self):
        self.assert_code(self.start("--exit-after", "spec", "--approve", "spec"), 22)
        self.drive("refuse", approving=self.task())
        self.wait_for_process_of(self.task())
        self.assertEqual([record["decision"] for record in self.records("approval_decided")], ["reject"])

    def test_an_action_is_refused_with_words_and_another_approved(self):
        ask = lambda: self.start("--interactive", "--exit-after", "intake", transcript=short_transcript())  # noqa: E731
        self.assert_code(ask(), 22)
        first = self.task()
        self.drive("actions", {"second": lambda _: self.assert_code(ask(), 22) and None})
        second = next(task for task in self.tasks() if task != first)
        for task in (first, second):
            self.wait_for_process_of(task)
        self.assertEqual([(record["decision"], record["feedback"]) for record in self.records("action_decided", first)][:1], [("rejected", "Look at the tests first")])
        decided = [record["decision"] for task in (first, second) for record in self.records("action_decided", task)]
        self.assertIn("approved", decided)

    def test_a_question_s_task_is_ended_at_its_card(self):
        self.assert_code(self.start("--exit-after", "clarify", transcript=doubtful_transcript()), 22)
        self.drive("abort_a_question")
        self.wait_for_process_of(self.task())
        self.assertEqual(self.status_of(self.task())["status"], "aborted")

    def test_who_looks_elsewhere_is_notified_once_that_a_task_waits(self):
        self.drive("notify", {"ask": lambda _: self.assert_code(self.start("--exit-after", "spec", "--approve", "spec"), 22) and None})

    def test_failing_tests_and_violations_are_shown_with_their_messages(self):
        header, records = journals.read(KEPT, "killed_in_green")
        writer = journals.Writer(self.agentforge, header)
        failing = lambda name, message: {"id": name, "status": "failed_assertion", "file": "tests/test_oauth.py", "message": message}  # noqa: E731
        violation = lambda file, line, message: {"check_id": "CONF-001", "contract": "clean_code", "severity": "minor", "file": file, "line": line, "message": message, "fix_hint": ""}  # noqa: E731
        report = {"gate": "green", "blocking_issues": ["test_oauth_token_expiry fails"], "violations": [violation("src/auth/oauth.py", 42, "refresh() has 61 lines"), violation("src/auth/google.py", 0, "Nobody imports this file")], "facts": {"all_tests_pass": False, "conformance_passing": True, "checks_total": 12, "checks_passing": 12},
                  "tests": [failing("test_oauth_token_expiry", "Expected token.expired to be True"), failing("test_oauth_provider_google", "KeyError: 'client_secret'")]}
        gate = {key: value for key, value in [record for record in records if record["type"] == "gate"][-1].items() if key not in ("report_blob", "checks", "checks_passed")}
        gate |= {"step": records[-1]["step"], "stage": "green", "gate": "green", "passed": False, "partial": False, "summary": "2 tests fail", "tests": 10, "tests_passed": 8, "report": report}
        writer.append([*records, gate])
        self.drive("failing", task=writer.task_id)

    def test_a_damaged_task_is_said_first_and_axe_finds_nothing_in_it(self):
        self.assert_code(self.start("--exit-after", "intake"), 0)
        for name in ("actions.yaml", "state.yaml"):
            (self.task_folder() / name).write_text("damaged", encoding="utf-8")
        self.drive("troubles", task=self.task())

    def test_a_reader_who_was_too_slow_or_missed_too_much_asks_for_all_again(self):
        writer = journals.with_steps(KEPT, self.agentforge, 1, 40)
        self.drive("asks_again", {"append": lambda asked: journals.more_steps(writer, asked["count"])}, task=writer.task_id)

    def test_changes_are_not_requested_without_words(self):
        self.assert_code(self.start("--exit-after", "spec", "--approve", "spec"), 22)
        self.drive("without_words", approving=self.task())
        self.assertEqual(self.records("approval_decided"), [])

    def test_the_tasks_and_pipelines_of_one_repository_are_chosen(self):
        second = self.make_repository("second")
        for place in ((), (second, "--name", "second")):
            self.assert_code(self.run_program("repo", "add", *place), 0)
        journals.renamed(KEPT, "paused_at_a_limit", self.agentforge, 1, "Add rate limiting middleware")
        journals.renamed(KEPT, "killed_in_green", second / ".agentforge", 2, "Add user preferences")
        template = yaml.safe_load((SOURCE / "config" / "pipelines" / "design.yaml").read_text(encoding="utf-8"))
        template["pipeline"]["name"] = "own"
        (second / ".agentforge" / "pipelines").mkdir()
        (second / ".agentforge" / "pipelines" / "own.yaml").write_text(yaml.safe_dump(template, sort_keys=False), encoding="utf-8")
        self.drive("repositories", here="Add rate limiting middleware", there="Add user preferences")

    def test_a_dashboard_that_only_shows_has_no_button_that_changes_anything(self):
        self.drive("read_only", dashboard=["--read-only"], **self.tasks_of_all_kinds())

    def test_a_task_is_extended_and_another_ends_with_what_it_shows(self):
        self.assert_code(self.start("--pipeline", "design", "--iterate"), 22)
        shown = self.task()
        self.assert_code(self.start("--pipeline", "design", "--iterate"), 22)
        ending = next(task for task in self.tasks() if task != shown)
        self.drive("extend", shown=shown, ending=ending)
        for task in (shown, ending):
            self.wait_for_process_of(task)
        self.assertEqual([record["decision"] for record in self.records("approval_decided", shown)], ["extend"])
        self.assertEqual([record["exit_stage"] for record in self.records("task_completed", shown)], ["red", "green"])
        self.assertEqual([record["exit_type"] for record in self.records("task_completed", ending)], ["user_exit"])

    def test_a_step_is_done_again_as_a_new_task(self):
        self.assert_code(self.start("--exit-after", "clarify"), 0)
        first = self.task()
        self.drive("fork", task=first)
        forks = [task for task in self.tasks() if task != first]
        self.assertEqual(len(forks), 2)
        for fork in forks:
            wait_until(lambda fork=fork: self.status_of(fork)["status"] == "completed", "the fork's end")
            self.wait_for_process_of(fork)

    def test_a_live_task_is_followed_without_a_reload(self):
        writer = journals.with_steps(KEPT, self.agentforge, 1, 40)
        self.drive("live", {"append": lambda asked: journals.more_steps(writer, asked["count"])}, task=writer.task_id)

    def test_a_repository_that_comes_and_goes_and_a_removed_task_are_shown_without_a_reload(self):
        writer = journals.with_steps(KEPT, self.agentforge, 1, 40)
        second = self.make_repository("second")
        journals.with_steps(KEPT, second / ".agentforge", 2, 50)
        repo = lambda *arguments: lambda _: self.assert_code(self.run_program("repo", *arguments), 0) and None  # noqa: E731
        self.drive("gone", {"add": repo("add", second), "forget": repo("remove", "second"), "remove": lambda _: shutil.rmtree(self.task_folder(writer.task_id))}, task=writer.task_id)

    def test_a_lost_connection_is_said_and_what_was_missed_is_caught_up(self):
        writer = journals.with_steps(KEPT, self.agentforge, 1, 40)

        def again(_):
            self.end()
            return self.begin()

        self.drive("lost", {"append": lambda asked: journals.more_steps(writer, asked["count"]), "stop": lambda _: self.end(), "again": again, "begin": lambda _: self.begin()}, task=writer.task_id)

    def test_ten_thousand_steps_and_two_hundred_tasks_stay_quick(self):
        writer = journals.with_steps(KEPT, self.agentforge, 1, 10_000)
        for number in range(2, 201):
            journals.renamed(KEPT, ["delivered_and_rebased", "waiting_for_approval", "paused_at_a_limit", "killed_in_green"][number % 4], self.agentforge, number)
        self.drive("many", {"append": lambda asked: journals.more_steps(writer, asked["count"])}, task=writer.task_id)


class TestPageOfSets(PageTest, SetTest):
    def test_a_set_is_shown_with_its_parts_until_it_is_delivered(self):
        self.start_set("--set", "delivery.set_test=[\"false\"]")
        parts = {part["repo"]: part["task"] for part in self.set_file()["parts"]}

        def note(_):
            (self.sets()[0] / "set.yaml").write_text(json.dumps(self.set_file() | {"reason": "a note in the set alone"}), encoding="utf-8")

        def resume(_):
            self.assert_code(self.resume_set("--set", "delivery.set_test=[\"true\"]"), 0)

        self.drive("sets", {"note": note, "resume": resume}, set=self.set_id(), request=SET_REQUEST, **parts)


class TestPageOfDependencies(PageTest):
    depending, other_task, started = DependencyTest.depending, DependencyTest.other_task, DependencyTest.started

    def test_a_task_that_waits_links_to_the_one_it_waits_for(self):
        other = self.other_task("--approve", "intake")
        waits, _ = self.started(self.depending(tasks=[{"task_id": other, "required_stage": "spec"}]))

        def met(_):
            file = self.folder / "other.yaml"
            file.write_text(yaml.safe_dump(short_transcript(), allow_unicode=True, sort_keys=False), encoding="utf-8")
            self.assert_code(self.run_program("approve", "--set", "llm.backend=replay", "--set", f"llm.transcript={file}", other), 0)
            self.assert_code(self.go_on("resume", waits), 0)

        self.drive("waiting", {"met": met}, other=other, waits=waits)


class TestPageUnderAttack(PageTest):
    def test_script_in_file_names_diffs_and_messages_of_a_repository_stays_text(self):
        name = "<img src=x onerror=canary=1>.py"
        (self.repository / name).write_text("<script>canary = 1</script>\n", encoding="utf-8")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "<script>canary=1</script>")
        transcript = load_transcript()
        entry(transcript, "intake", 1)["tool_calls"][0]["arguments"] = {"path": "<svg onload=canary=1>"}
        file = "tests/<img src=x onerror=canary=1>.md"
        insert(transcript, "red", "test_engineer", 3, call("create_file", path=file, content="<script>canary = 1</script>\n"))
        self.start("--exit-after", "red", transcript=transcript, request="<script>canary=1</script><img src=x onerror=canary=1> Add a slugify function")
        self.drive("canary_kept", task=self.task(), file=file)

    def test_no_other_site_reaches_it(self):
        self.assert_code(self.start("--exit-after", "intake"), 0)
        self.drive("sites", task=self.task())
        self.assertEqual(self.status_of(self.task())["status"], "completed")

    def test_the_token_is_worthless_in_history_and_sent_to_nobody(self):
        self.assert_code(self.start("--exit-after", "intake"), 0)
        self.drive("token", task=self.task())
        history = self.folder / "profile-token" / "Default" / "History"
        copied = shutil.copy(history, self.folder / "history.sqlite")
        with sqlite3.connect(copied) as database:
            kept = [url for (url,) in database.execute("SELECT url FROM urls")]
        self.assertTrue(kept)
        self.assertLessEqual(sum("token" in url for url in kept), 1)      # The address that was opened; it opens nothing any more, as page.mjs has seen.
        logs = self.agentforge / "logs"
        self.assertFalse([file for file in logs.rglob("*") if file.is_file() and "token=" in file.read_text(encoding="utf-8")])


class TestLibraries(unittest.TestCase):
    def test_prism_is_the_published_one(self):
        package = MODULES / "node_modules" / "prismjs"
        self.assertEqual(json.loads((package / "package.json").read_text())["version"], "1.30.0")
        kept = (SOURCE / "kernel" / "dashboard" / "page" / "prism.js").read_text(encoding="utf-8").split("\n")
        names = kept[2].removeprefix("// ").rstrip(".").split()
        published = [(package / "components" / f"prism-{name}.min.js").read_text(encoding="utf-8").strip() for name in names]
        code = "\n".join(line for line in kept if not line.startswith("//"))
        self.assertEqual(code.strip(), "\n".join(["self.Prism = { manual: true, disableWorkerMessageHandler: true };", *published, "export default Prism;"]))
        for line in (package / "LICENSE").read_text(encoding="utf-8").strip().splitlines():
            self.assertIn(("// " + line).rstrip(), kept)


if __name__ == "__main__":
    main()
