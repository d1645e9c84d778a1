# SPDX-License-Identifier: Apache-2.0
"""`run` starts many requests: each is a separate task, none runs twice, and a failed one does not stop the others."""

import json
import os
import signal

import yaml

from harness import SOURCE, TRANSCRIPT, ProgramTest, main, short_transcript, wait_until
from model_server import KEY, ModelServer


class TestRun(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make_repository()
        self.file = self.folder / "requests.txt"
        self.options = {"exit_after": "intake", "transcript": str(TRANSCRIPT)}

    def write(self, *requests, **options):
        self.file.write_text("# what is to be done\n\n" + "".join(json.dumps({"request": request, **self.options, **options}) + "\n" for request in requests), encoding="utf-8")

    def run_file(self, *arguments, file=None, **options):
        return self.run_program("run", file or self.file, *arguments, **options)

    def test_each_request_is_a_task_and_the_table_shows_its_result(self):
        self.write("Add a slugify function", "Add a second function", "Add a third function")
        outcome = self.assert_code(self.run_file("--jobs", "2"), 0)
        self.assertEqual(len(self.tasks()), 3)
        for task in self.tasks():
            self.assertIn(task, outcome.out)
            self.assert_code(self.run_program("inspect", task), 0)
        self.assertIn("3 requests: 3 completed", outcome.out)
        self.assertIn("[3/3]", outcome.err)

    def test_running_the_same_file_again_repeats_nothing(self):
        self.write("Add a slugify function", "Add a second function")
        self.assert_code(self.run_file(), 0)
        before = {task: len(self.journal(task)) for task in self.tasks()}
        again = self.assert_code(self.run_file("--json"), 0).json
        self.assertEqual(before, {task: len(self.journal(task)) for task in self.tasks()})
        self.assertEqual([True, True], [task["done_before"] for task in again["tasks"]])

    def test_added_lines_run_and_a_duplicate_line_is_a_separate_task(self):
        self.write("Add a slugify function")
        self.assert_code(self.run_file(), 0)
        self.write("Add a slugify function", "Add a slugify function", "Add a third function")
        planned = self.assert_code(self.run_file("--dry-run", "--json"), 0).json
        self.assertEqual(["leave", "start", "start"], [task["plan"] for task in planned["tasks"]])
        self.assertEqual(len(self.tasks()), 1)
        self.assert_code(self.run_file(), 0)
        self.assertEqual(len(self.tasks()), 3)

    def test_a_line_with_a_number_sign_is_a_request_and_one_with_a_space_after_it_a_comment(self):
        self.file.write_text("#42: fix the login\n# later: the rest\n##\n#\n", encoding="utf-8")
        planned = self.assert_code(self.run_file("--dry-run", "--json", "--set", "llm.backend=replay", "--set", f"llm.transcript={TRANSCRIPT}"), 0).json
        self.assertEqual(["#42: fix the login"], [task["request"] for task in planned["tasks"]])

    def test_another_name_is_another_run(self):
        self.write("Add a slugify function")
        self.assert_code(self.run_file("--name", "monday"), 0)
        self.assert_code(self.run_file("--name", "tuesday"), 0)
        self.assertEqual(len(self.tasks()), 2)
        self.assert_error(self.run_file("--name", "../monday"), "AF-CLI-174")

    def test_a_question_exits_with_22_and_the_next_run_continues_once_answered(self):
        self.write("Add a slugify function", approve=["intake"])
        asked = self.assert_code(self.run_file(), 22)
        self.assertIn("1 asks", asked.out)
        self.assertIn("escalations list", asked.out)
        self.assert_code(self.run_program("approve", self.task(), "--no-resume"), 0)
        self.assertIn("1 completed", self.assert_code(self.run_file(), 0).out)

    def test_a_request_that_cannot_start_does_not_affect_the_others(self):
        self.file.write_text(json.dumps({"request": "Add a slugify function", **self.options, "pipeline": "none-such"}) + "\n" + json.dumps({"request": "Add another", **self.options}) + "\n", encoding="utf-8")
        outcome = self.assert_code(self.run_file("--jobs", "1"), 1)
        self.assertIn("1 completed, 1 not started", outcome.out)
        self.assertIn("AF-PIPE-", outcome.out)
        for text in (outcome.out, outcome.err):
            self.assertIn("requests.txt:1: AF-PIPE-", text)
        self.assertEqual(len(self.tasks()), 1)

    def test_a_dry_run_reports_the_errors_of_a_start_and_writes_nothing(self):
        self.write("Add a slugify function")
        with self.file.open("a", encoding="utf-8") as file:
            for options in ({"pipeline": "none-such"}, {}):
                file.write(json.dumps({"request": "Add another", **self.options, **options}) + "\n")
        before = self.checkout()
        planned = self.assert_code(self.run_file("--dry-run", "--json"), 1).json["tasks"]
        told = self.assert_code(self.run_file("--dry-run"), 1).out
        self.assertFalse((self.repository / ".agentforge").exists())
        self.assertEqual((self.checkout(), self.branches()), (before, ["refs/heads/main"]))
        self.assertEqual(len(self.git("worktree", "list").splitlines()), 1)
        refusal = self.run_program("start", "Add another", "--pipeline", "none-such", "--transcript", TRANSCRIPT, "--json").json["error"]
        self.assertEqual(["start", "refused", "start"], [task["plan"] for task in planned])
        self.assertEqual([None, refusal, None], [task.get("error") for task in planned])
        self.assertIn(f'refused {self.file}:4  "Add another"\n        {refusal["code"]}: {refusal["message"]}', told)
        self.assertIn("Nothing was done. 1 of 3 requests cannot start.", told)

    def test_a_dry_run_shows_an_error_that_requests_share_once(self):
        self.write("Add a slugify function")
        with self.file.open("a", encoding="utf-8") as file:
            for words in ("Add another", "Add a third"):
                file.write(json.dumps({"request": words, **self.options, "pipeline": "none-such"}) + "\n")
        told = self.assert_code(self.run_file("--dry-run"), 1).out
        self.assertEqual((told.count("AF-PIPE-002:"), told.count("AF-PIPE-002, as above")), (1, 1), told)

    def test_a_dry_run_does_not_check_finished_requests(self):
        self.write("Add a slugify function")
        self.assert_code(self.run_file(), 0)
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"request": "Add another", "transcript": "no-such-file.yaml"}) + "\n")
        planned = self.assert_code(self.run_file("--dry-run", "--json"), 1).json["tasks"]
        self.assertEqual([("leave", False), ("refused", True)], [(task["plan"], "error" in task) for task in planned])
        self.assertEqual(len(self.tasks()), 1)

    def test_a_byte_order_mark_is_not_part_of_the_first_request(self):
        self.write("Add a slugify function")
        lines = "\n".join(self.file.read_text(encoding="utf-8").splitlines()[2:])
        self.file.write_text("\ufeff" + lines, encoding="utf-8")
        planned = self.assert_code(self.run_file("--dry-run", "--json"), 0).json
        self.assertEqual(["Add a slugify function"], [task["request"] for task in planned["tasks"]])

    def test_yaml_and_standard_input_are_equivalent(self):
        listed = self.folder / "requests.yaml"
        listed.write_text(f"- request: Add a slugify function\n  exit_after: intake\n  set: {{llm.backend: replay, llm.transcript: {TRANSCRIPT}}}\n", encoding="utf-8")
        self.assert_code(self.run_file(file=listed), 0)
        line = json.dumps({"request": "Add a slugify function", **self.options}) + "\n"
        self.assert_code(self.run_file(file="-", text_input=line), 0)
        self.assert_code(self.run_file(file="-", text_input=line), 0)
        self.assertEqual(len(self.tasks()), 2)

    def test_plain_lines_use_the_settings_of_the_command(self):
        self.file.write_text("Add a slugify function\n", encoding="utf-8")
        outcome = self.run_program("run", self.file, "--set", "llm.backend=replay", "--set", f"llm.transcript={TRANSCRIPT}")
        self.assertIn("1 delivered", self.assert_code(outcome, 0).out)

    def test_unknown_keys_are_refused_with_their_line_before_the_run(self):
        for text, words in (('Add a cache\n{"request": "x", "pipelin": "design"}\n', ("requests.txt:2", "pipelin", "`pipeline`")),
                            ('{"request": "x", "supervised": "yes"}\n', ("requests.txt:1", "supervised", "true or false")),
                            ('{"pipeline": "design"}\n', ("requests.txt:1", "`request`")),
                            ('\n{"request": \n', ("requests.txt:2",)),
                            ('{"request": "x", "approve": "spec"}\n', ("requests.txt:1", "approve"))):
            self.file.write_text(text, encoding="utf-8")
            self.assert_error(self.run_file(), "AF-CLI-170", *words)
        self.file.write_text("# nothing\n\n", encoding="utf-8")
        self.assert_error(self.run_file(), "AF-CLI-171")
        listed = self.folder / "requests.yaml"
        listed.write_text("- request: Add a cache\n- request: Add a login\n  modle: large\n", encoding="utf-8")
        self.assert_error(self.run_file(file=listed), "AF-CLI-170", "requests.yaml:3", "`model`")
        self.assertEqual(self.tasks(), [])

    def test_a_second_argument_is_named_and_nothing_begins(self):
        self.write("Add a slugify function")
        outcome = self.assert_error(self.run_file("nope"), "AF-CLI-001", "does not take `nope`; it takes one FILE", exit_code=2)
        self.assertNotIn("quotes", outcome.err)
        self.assertEqual(self.tasks(), [])


class TestRunWithoutFirstRecord(ProgramTest):
    """A kill hit a task's process after it made the folder and before the journal's first record."""

    def setUp(self):
        super().setUp()
        self.make_repository()
        self.file = self.folder / "requests.txt"
        self.file.write_text(json.dumps({"request": "Add a slugify function", "exit_after": "intake", "transcript": str(TRANSCRIPT)}) + "\n", encoding="utf-8")
        self.assert_code(self.run_program("run", self.file), 0)
        self.killed, folder = self.task(), self.task_folder()
        (folder / "actions.yaml").unlink()
        (folder / "state.yaml").write_text(json.dumps({"task_id": self.killed, "request": "Add a slugify function", "status": "pending"}), encoding="utf-8")

    def test_status_says_that_it_never_began_and_how_to_remove_it(self):
        listed = self.assert_code(self.run_program("status"), 0)
        self.assertIn("It never began", listed.out)
        self.assertIn(f"agentforge abort {self.killed[-8:]}", listed.out)

    def test_audit_verify_says_that_it_never_began(self):
        self.assert_error(self.run_program("audit", "verify", self.killed), "AF-TASK-016", "start the request again")

    def test_audit_verify_of_such_a_fork_says_to_fork_again(self):
        file = self.task_folder() / "task.yaml"
        file.write_text(file.read_text(encoding="utf-8") + "forked_from: {task: task-20260101-x-00000000, step: 1}\n", encoding="utf-8")
        self.assert_error(self.run_program("audit", "verify", self.killed), "AF-TASK-016", "repeat `agentforge fork`")

    def test_the_next_run_removes_it_and_starts_the_request_again(self):
        again = self.assert_code(self.run_program("run", self.file), 0)
        self.assertIn("1 completed", again.out)
        self.assertNotEqual(self.task(), self.killed)

    def test_gc_removes_folders_that_a_killed_process_left_half_done(self):
        ended = self.spawn("--version")
        ended.communicate()
        tasks = self.task_folder().parent
        left = [tasks / f".new-{ended.pid}-abcdef", tasks / f".removed-{ended.pid}-{self.killed}"]
        for folder in left:
            (folder / "artifacts").mkdir(parents=True)
        self.run_program("gc")
        self.assertEqual([], [folder for folder in left if folder.exists()])


class TestRunInterrupted(ProgramTest):
    """The interruption comes during the model's third request, which is in the first task."""

    AT = 3

    def begin(self, act, *others):
        self.environment["SCRIPTED_MODEL_KEY"] = KEY
        self.make_repository()
        self.file = self.folder / "requests.txt"
        lines = ["Add a slugify function", *(json.dumps({"request": request, "transcript": str(TRANSCRIPT)}) for request in others)]
        self.file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.process = None
        server = ModelServer(short_transcript(), SOURCE / "config", before={self.AT: lambda: act()})
        self.addCleanup(server.close)
        self.model = ["--set", "llm.backend=openai", "--set", "llm.model=scripted", "--set", f"llm.base_url={server.url}/v1", "--set", "llm.api_key_env=SCRIPTED_MODEL_KEY"]
        self.process = self.spawn("run", self.file, "--jobs", "1", *self.model)
        out, err = self.process.communicate()
        return self.process.returncode, out, err

    @staticmethod
    def has_ended(process):
        try:
            with open(f"/proc/{process}/stat", encoding="utf-8") as stat:
                return stat.read().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            return True

    def process_of_the_task(self):
        return json.loads((self.task_folder() / "lock").read_text(encoding="utf-8"))["pid"]

    def go_on_to_the_end(self, count):
        short = self.folder / "short.yaml"
        short.write_text(yaml.safe_dump(short_transcript(), allow_unicode=True, sort_keys=False), encoding="utf-8")
        again = self.run_program("run", self.file, "--set", "llm.backend=replay", "--set", f"llm.transcript={short}", "--json")
        self.assert_code(again, 0)
        self.assertEqual(["delivered"] * count, [task["outcome"] for task in again.json["tasks"]])
        self.assertEqual(len(self.tasks()), count)

    def test_a_killed_task_does_not_affect_the_others(self):
        def kill():
            os.kill(self.process_of_the_task(), signal.SIGKILL)
            return False

        code, out, err = self.begin(kill, "Add another")
        self.assertEqual(code, 1, out + err)
        self.assertIn("1 delivered, 1 interrupted", out)
        self.assertIn("signal 9", out)
        self.go_on_to_the_end(2)

    def test_ctrl_c_saves_running_tasks_and_the_next_run_continues(self):
        def interrupt():
            wait_until(lambda: self.process is not None, "the process")
            os.kill(self.process.pid, signal.SIGINT)
            wait_until(lambda: (self.task_folder() / "actions.yaml").exists(), "the journal")
            return True

        code, out, err = self.begin(interrupt, "Add another")
        self.assertEqual(code, 23, out + err)
        self.assertIn("1 not started, 1 paused", out)
        self.assertEqual(self.journal()[-1]["type"], "task_paused")
        self.go_on_to_the_end(2)

    def test_the_command_itself_may_be_killed(self):
        def kill():
            wait_until(lambda: self.process is not None, "the process")
            tasks.append(self.process_of_the_task())
            os.kill(self.process.pid, signal.SIGKILL)
            wait_until(lambda: self.has_ended(tasks[0]), "the end of the task's process")
            return False

        tasks = []

        code, _, _ = self.begin(kill)
        self.assertEqual(code, -signal.SIGKILL)
        wait_until(lambda: self.has_ended(tasks[0]), "the end of the task's process")
        self.assertEqual(self.journal()[-1]["type"], "task_paused")
        self.go_on_to_the_end(1)


if __name__ == "__main__":
    main()
