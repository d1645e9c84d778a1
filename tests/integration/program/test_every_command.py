# SPDX-License-Identifier: Apache-2.0
"""Runs each documented command. Also tests options that need their own setup (`--detach`, `--dry-run`, streaming, following, pausing), and settings."""

import copy
import json
import os
import shutil
import signal

import yaml

from harness import REQUEST, SOURCE, TRANSCRIPT, ProgramTest, load_transcript, main, wait_until
from model_server import KEY, ModelServer

DESIGN = "config/pipelines/design.yaml"


def leaves(command):
    return [command] if not command["commands"] else [leaf for each in command["commands"] for leaf in leaves(each)]


class TestEveryCommand(ProgramTest):
    """One repository with an ended task and a waiting one. Runs each command once without and once with --json."""

    def setUp(self):
        super().setUp()
        self.make_repository()
        self.assert_code(self.start("--exit-after", "intake"), 0)
        self.done = self.task()
        self.assert_code(self.start("--exit-after", "intake", "--approve", "intake", request="Another request"), 22)
        (self.repository / "requests.txt").write_text("Add a slugify function\n", encoding="utf-8")
        self.waiting = next(task for task in self.tasks() if task != self.done)
        self.environment["AGENTFORGE_LLM_BACKEND"] = "replay"
        self.environment["AGENTFORGE_LLM_TRANSCRIPT"] = str(TRANSCRIPT)

    def commands(self):
        """Returns the arguments and the expected exit code of each command. None: any code."""
        approval = self.run_program("escalations", "list", "--json").json["escalations"][0]["id"]
        return {
            "init": ((), 0),
            "start": (("--dry-run", REQUEST), 0),
            "design": (("--dry-run", REQUEST), 0),
            "implement": (("--dry-run", REQUEST), 0),
            "review": (("--dry-run", "textkit"), 0),
            "test": (("--dry-run",), 1),
            "document": (("--dry-run", "textkit"), 0),
            "gc": (("--dry-run",), 0),
            "run": (("--dry-run", "requests.txt"), 0),
            "audit verify": ((self.done,), 0),
            "check": ((), 0),
            "fix": (("V-000000000000",), 1),
            "status": ((), 0),
            "resume": ((self.done,), 0),
            "continue": ((self.done, "--extend-to", "nowhere"), 1),
            "remind": ((), 0),
            "attach": ((self.done,), 0),
            "pause": ((self.done,), 1),
            "abort": ((self.done,), 1),
            "approve": ((self.done,), 1),
            "reject": ((self.done,), 1),
            "feedback": ((self.done, "More"), 1),
            "resolve": (("ESC-none-1", "Yes"), 1),
            "escalations list": ((), 0),
            "escalations show": ((approval,), 0),
            "inspect": ((self.done,), 0),
            "logs": ((self.done,), 0),
            "cost": ((self.done,), 0),
            "history": ((self.done,), 0),
            "metrics": ((self.done,), 0),
            "stats": ((), 0),
            "diff": ((self.done,), None),
            "apply": ((self.done, "--check"), None),
            "undo": ((self.done, "--check"), None),
            "rebase": ((self.done, "--check"), None),
            "replay": ((self.done, "--verify"), 0),
            "fork": ((self.done, "--from-step", "1", "--no-resume"), 0),
            "compare": ((self.done, self.done), 0),
            "archive list": ((), None),
            "archive restore": ((self.done,), None),
            "agents list": ((), 0),
            "agents show": (("test_engineer",), 0),
            "agents validate": ((), 0),
            "contracts list": ((), 0),
            "contracts show": (("specification",), 0),
            "contracts template": (("specification",), 0),
            "contracts validate": ((), 0),
            "pipelines list": ((), 0),
            "pipelines show": (("implement",), 0),
            "pipelines validate": ((), 0),
            "config show": (("log",), 0),
            "config get": (("log.level",), 0),
            "config set": (("log.level", "debug"), 0),
            "config migrate": ((), 0),
            "plugins list": ((), 0),
            "plugins show": (("read_file",), 0),
            "plugins lock": ((), 0),
            "plugins verify": ((), 0),
            "plugins check": (("/nonexistent",), 1),
            "plugins new": (("tool", "count"), None),
            "servers list": ((), 0),
            "servers check": ((), 0),
            "setup": (("--show",), 0),
            "trust": (("--show",), 0),
            "doctor": ((), None),
            "completion": (("bash",), 0),
            "help": (("start",), 0),
            "dashboard": (("--port", "0", "--socket", "socket"), 2),      # A valid call runs until a signal ends it: test_dashboard.py.
            "repo add": ((), None),
            "repo list": ((), 0),
            "repo remove": (("none",), 1),
        }

    def test_each_answers_in_text_and_json(self):
        grammar = self.run_program("help", "--json").json
        rows = self.commands()
        for leaf in leaves(grammar):
            name = leaf["name"].removeprefix("agentforge ")
            with self.subTest(name):
                self.assertIn(name, rows, "say in this test how the command is run")
                words, code = rows[name]
                told = self.run_program(*name.split(), *words)
                self.assertTrue(told.out or told.err, told)
                self.assertNotIn("terminate called", told.err)
                as_json = self.run_program(*name.split(), *words, "--json")
                self.assertIsInstance(as_json.json, dict, as_json)
                if code is not None:
                    self.assertEqual((told.code, as_json.code), (code, code), told)


class TestCommandInTheBackground(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make_repository()

    def hanging(self):
        """Returns a command as the model, which answers once a file exists."""
        answer, asked = self.folder / "answer", self.folder / "asked"
        model = self.folder / "model.sh"
        model.write_text(f"#!/bin/sh\n: >{asked}\nwhile [ ! -e {answer} ]; do sleep 0.05; done\n")
        model.chmod(0o755)
        return asked, ["--set", "llm.backend=cli", "--set", f"llm.command=[{model}]"]

    def test_detached_start_prints_the_task_id_and_the_task_completes(self):
        outcome = self.assert_code(self.start("--exit-after", "intake", "--detach", "--json"), 0)
        task = outcome.json["task_id"]
        self.assertEqual((outcome.json["detached"], outcome.err), (True, ""))
        followed = self.assert_code(self.run_program("logs", task, "--follow"), 0)
        self.assertIn("task_completed", followed.out)
        self.wait_for_process_of(task)
        log = (self.task_folder(task) / "detached.log").read_text()
        self.assertEqual(json.loads(log)["status"], "completed")

    def test_detached_start_reports_why_it_could_not_start(self):
        outcome = self.run_program("start", "--detach", "--transcript", self.folder / "nonexistent", REQUEST)
        self.assert_error(outcome, "AF-LLM-205")
        self.assertEqual(self.tasks(), [])

    def test_detached_request_may_come_from_standard_input(self):
        outcome = self.run_program("start", "--detach", "--json", "--transcript", TRANSCRIPT, "--exit-after", "intake", "-", text_input=REQUEST)
        task = self.assert_code(outcome, 0).json["task_id"]
        self.run_program("logs", task, "--follow")
        self.wait_for_process_of(task)
        self.assertEqual(self.run_program("status", task, "--json").json["request"], REQUEST)

    def test_pause_after_the_step_finishes_it_and_journals_the_reason(self):
        self.environment["SCRIPTED_MODEL_KEY"] = KEY
        paused = []

        def pause():
            paused.append(self.run_program("pause", self.task(), "--after-step", "--reason", "the machine is needed"))
            wait_until(lambda: (self.task_folder() / "pause.request").exists(), "the request to pause")
            return True

        server = ModelServer(load_transcript(), SOURCE / "config", before={2: pause})
        self.addCleanup(server.close)
        process = self.spawn("start", "--exit-after", "intake", "--set", "llm.backend=openai", "--set", "llm.model=scripted", "--set", f"llm.base_url={server.url}/v1",
                             "--set", "llm.api_key_env=SCRIPTED_MODEL_KEY", REQUEST)
        out, err = process.communicate(timeout=60)
        task = self.task()
        self.assert_code(paused[0], 0)
        self.assertEqual(len(self.steps()), 2)
        self.assertEqual(process.returncode, 23, out + err)
        self.assertEqual(self.records("task_paused", task)[-1]["reason"], "the machine is needed")
        self.assertEqual(self.run_program("status", task, "--json").json["status"], "paused")
        self.assert_code(self.run_program("resume", task, "--set", "llm.backend=replay", "--set", f"llm.transcript={TRANSCRIPT}"), 0)

    def attached(self, task):
        """Starts `attach`, and returns the process once it has printed that it is attached."""
        process = self.spawn("attach", task)
        self.assertIn(f"Attached to {task[-8:]}", process.stderr.readline())
        return process

    def test_attach_shows_a_task_until_it_ends(self):
        self.environment["SCRIPTED_MODEL_KEY"] = KEY
        attached = []
        server = ModelServer(load_transcript(), SOURCE / "config", before={2: lambda: attached.append(self.attached(self.task())) or True})
        self.addCleanup(server.close)
        self.assert_code(self.run_program("start", "--exit-after", "intake", "--set", "llm.backend=openai", "--set", "llm.model=scripted", "--set", f"llm.base_url={server.url}/v1",
                                          "--set", "llm.api_key_env=SCRIPTED_MODEL_KEY", REQUEST), 0)
        out, err = attached[0].communicate(timeout=60)
        self.assertEqual(attached[0].returncode, 0, err)
        self.assertIn("intake", err)
        self.assertIn("Done: ", out)

    def test_interrupted_attach_leaves_the_task_running(self):
        asked, model = self.hanging()
        process = self.spawn("start", "--exit-after", "intake", *model, REQUEST)
        wait_until(asked.exists, "the model to be asked")
        attached = self.attached(self.task())
        attached.send_signal(signal.SIGINT)
        out, err = attached.communicate(timeout=60)
        self.assertEqual((attached.returncode, process.poll()), (23, None), err)
        self.assertIn(f"Left: {self.task()[-8:]}", out)
        self.run_program("abort", self.task())
        process.communicate(timeout=60)

    def test_attach_to_a_task_whose_process_died_says_how_to_resume(self):
        asked, model = self.hanging()
        process = self.spawn("start", "--exit-after", "intake", *model, REQUEST)
        wait_until(asked.exists, "the model to be asked")
        process.kill()
        process.communicate()
        self.assert_error(self.run_program("attach", self.task()), "AF-CLI-146", "agentforge resume")

    def test_attach_to_a_task_without_a_record_is_refused(self):
        task = self.assert_code(self.start("--exit-after", "intake", "--json"), 0).json["task_id"]
        journal = self.task_folder(task) / "actions.yaml"
        header, mark, _ = journal.read_bytes().partition(b"actions:\n")
        journal.write_bytes(header + mark)
        self.assert_error(self.run_program("attach", task), "AF-TASK-014")

    def test_follow_and_watch_end_when_the_task_does(self):
        asked, model = self.hanging()
        process = self.spawn("start", "--exit-after", "intake", *model, REQUEST)
        wait_until(asked.exists, "the model to be asked")
        task = self.task()
        followers = [self.spawn("logs", task, "-f", "--output-format", "stream-json"), self.spawn("status", task, "--watch", "--json")]
        self.run_program("abort", task)
        process.communicate(timeout=60)
        logs, watched = (follower.communicate(timeout=60)[0].splitlines() for follower in followers)
        self.assertEqual(json.loads(logs[-1])["type"], "task_aborted")
        self.assertEqual(json.loads(watched[-1])["status"], "aborted")

    def test_watched_list_shows_started_and_killed_tasks(self):
        process = self.spawn("status", "--watch", "--json")
        shown = lambda: [task["task_id"][-8:] + " " + condition for task in json.loads(process.stdout.readline())["tasks"] for condition in [task["status"] + " running" * task["running"]]]  # noqa: E731
        self.assertEqual(shown(), [])
        asked, model = self.hanging()
        runs = self.spawn("start", "--exit-after", "intake", *model, REQUEST)
        wait_until(asked.exists, "the model to be asked")
        short = self.task()[-8:]
        while shown() != [short + " running running"]:
            pass
        os.killpg(runs.pid, signal.SIGKILL)     # The killed task writes no more records.
        while shown() != [short + " running"]:
            pass
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 23)

    def test_interrupted_watch_has_its_exit_code(self):
        process = self.spawn("status", "--watch")
        self.assertIn("AGENTFORGE STATUS", process.stdout.readline())
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 23)


class TestTrialCommand(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make_repository()

    def test_dry_run_creates_nothing_and_names_the_stages(self):
        outcome = self.assert_code(self.start("--dry-run", "--exit-after", "clarify", "--approve", "intake"), 0)
        self.assertRegex(outcome.out, r"(?s)intake .*then asks for approval\n.*clarify ")
        self.assertNotIn("analyze", outcome.out)
        self.assertFalse((self.repository / ".agentforge").exists())
        self.assert_nothing_delivered()

    def test_dry_run_finds_the_errors_of_a_start(self):
        self.assert_error(self.start("--dry-run", "--exit-after", "specc"), "AF-ORCH-041", "spec")

    def test_stream_has_one_object_per_line_and_ends_with_the_result(self):
        outcome = self.assert_code(self.start("--exit-after", "intake", "--output-format", "stream-json"), 0)
        lines = [json.loads(line) for line in outcome.out.splitlines()]
        types = [line["type"] for line in lines]
        self.assertEqual((types[0], types[1], types[-2], types[-1]), ("stream_started", "task_started", "task_finished", "result"))
        self.assertEqual(lines[0]["version"], 1)
        self.assertEqual((lines[-1]["success"], lines[-1]["task_id"]), (True, self.task()))
        self.assertEqual(outcome.err, "")

    def test_one_phase_is_shown_with_its_artifact(self):
        self.start("--exit-after", "intake")
        outcome = self.assert_code(self.run_program("status", self.task(), "--phase", "intake"), 0)
        self.assertIn("step 1 list_files", outcome.out)
        self.assertIn("extracted_intent:", outcome.out)
        self.assert_error(self.run_program("status", self.task(), "--phase", "intak"), "AF-CLI-075", "`intake`")


class TestHelpPages(ProgramTest):
    """The help pages that messages refer to."""

    def test_help_shows_a_page_by_the_name_used_in_messages(self):
        self.assertEqual(self.assert_code(self.run_program("help", "docs/gates.md"), 0).out, (SOURCE / "docs/gates.md").read_text())

    def test_help_of_an_unknown_page_names_the_nearest(self):
        self.assert_error(self.run_program("help", "docs/gate.md"), "AF-CLI-001", "did you mean `agentforge help docs/gates.md`?", exit_code=2)
        self.assert_error(self.run_program("help", "docs/../README.md"), "AF-CLI-001", "there is no page", exit_code=2)


class TestDefinitions(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make_repository()

    def test_a_projects_own_pipeline_is_listed_and_marked(self):
        folder = self.repository / ".agentforge" / "pipelines"
        folder.mkdir(parents=True)
        own = yaml.safe_load((SOURCE / DESIGN).read_text())
        own["pipeline"]["name"] = "sketch"
        (folder / "sketch.yaml").write_text(yaml.safe_dump(own))
        self.assertRegex(self.run_program("pipelines", "list").out, r"(?m)^sketch .*\[project\]$")

    def test_a_pipeline_outside_the_repository_is_validated_as_if_installed(self):
        file = self.folder / "sketch.yaml"
        own = yaml.safe_load((SOURCE / DESIGN).read_text())
        own["pipeline"]["name"] = "sketch"
        own["pipeline"]["stages"][0]["agent"] = "requirement_analyst"
        file.write_text(yaml.safe_dump(own))
        outcome = self.run_program("pipelines", "validate", file)
        self.assertEqual(outcome.code, 1)
        self.assertIn("AF-AGENT-002", outcome.out)
        self.assertIn("Did you mean requirements_analyst?", outcome.out)

    def test_a_setting_that_the_plugin_of_a_stage_does_not_have_is_refused(self):
        file = self.folder / "sketch.yaml"
        own = yaml.safe_load((SOURCE / DESIGN).read_text())
        own["pipeline"]["name"] = "sketch"
        own["pipeline"]["stages"][0]["config"] = {"max_steps": 100000}
        file.write_text(yaml.safe_dump(own))
        outcome = self.run_program("pipelines", "validate", file)
        self.assertEqual(outcome.code, 1)
        self.assertRegex(outcome.out, r"AF-PLUG-050: .*max_steps")
        self.assertIn("sketch.yaml:", outcome.out)

    def test_no_stage_of_a_pipeline_takes_an_unknown_setting(self):
        for design in sorted((SOURCE / "config/pipelines").glob("*.yaml")):
            own = yaml.safe_load(design.read_text())
            for at, stage in enumerate(own["pipeline"].get("stages", [])):
                with self.subTest(design.name, stage=stage["name"]):
                    changed = copy.deepcopy(own)
                    changed["pipeline"]["name"] = "sketch"
                    changed["pipeline"]["stages"][at].setdefault("config", {})["unknown_setting"] = 1
                    file = self.folder / "sketch.yaml"
                    file.write_text(yaml.safe_dump(changed))
                    outcome = self.run_program("pipelines", "validate", file)
                    self.assertEqual(outcome.code, 1, outcome)
                    self.assertIn("unknown_setting", outcome.out)

    def test_an_agent_that_narrows_the_tools_of_a_shipped_one_keeps_its_path_rules(self):
        file = self.repository / ".agentforge/agents/software_developer.yaml"
        file.parent.mkdir(parents=True)
        file.write_text("extends: agentforge:software_developer\ncapabilities: {tools: {allowed: [read_file, edit_file, create_file, run_tests, search_codebase, complete]}}\n")
        self.assert_code(self.run_program("agents", "validate"), 0)
        shown = self.assert_code(self.run_program("agents", "show", "software_developer", "--json"), 0).json
        self.assertEqual(shown["path_constraints"], {tool: "!@tests" for tool in ("edit_file", "apply_patch", "create_file", "move_file", "delete_file")})

    def test_a_broken_contract_is_named_with_line_and_column(self):
        file = self.folder / "mine.yaml"
        file.write_text("contract: mine\nversion: '1.0'\ndescription: x\nschema:\n  a: {tipe: string}\n")
        outcome = self.run_program("contracts", "validate", file, "--json")
        self.assertEqual((outcome.code, outcome.json["valid"]), (1, False))
        self.assertIn("mine.yaml:5:", outcome.json["files"][0]["problems"][0]["where"])

    def test_path_rules_that_a_task_could_not_use_are_named_before_it_starts(self):
        file = self.repository / ".agentforge/agents/software_developer.yaml"
        file.parent.mkdir(parents=True)
        file.write_text("extends: agentforge:software_developer\ncapabilities:\n  tools:\n    path_constraints:\n"
                        "      create_file: '**,![abc'\n      edit_file: '**,!!secret/**'\n")
        transcript = ("--transcript", SOURCE / "examples/transcripts/slugify.yaml")
        for command in (("agents", "validate"), ("agents", "validate", file), ("start", "Add a cache", "--dry-run", *transcript), ("doctor",)):
            with self.subTest(command[0]):
                outcome = self.run_program(*command)
                self.assertNotEqual(outcome.code, 0)
                text = outcome.out + outcome.err
                for part in ("AF-TOOL-020", "software_developer.yaml:5:", "software_developer.yaml:6:", "'[' is not closed", "second '!'"):
                    self.assertIn(part, text)

    def test_an_agent_with_an_unknown_tool_is_named(self):
        file = self.folder / "test_engineer.yaml"
        agent = yaml.safe_load((SOURCE / "config/agents/test_engineer.yaml").read_text())
        agent["capabilities"]["tools"]["allowed"].append("raed_file")
        file.write_text(yaml.safe_dump(agent))
        outcome = self.run_program("agents", "validate", file)
        self.assertEqual(outcome.code, 1)
        self.assertIn("raed_file", outcome.out)


class TestConfig(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make_repository()
        self.run_program("init")
        self.settings = self.repository / ".agentforge/config/settings.yaml"

    def test_each_layer_is_named_with_its_place(self):
        self.settings.write_text("# mine\nlog:\n  level: debug\n")
        origin = {s["key"]: (s["layer"], s["where"]) for s in self.run_program("--set", "llm.model=m", "config", "show", "--json", environment={**self.environment, "AGENTFORGE_PIPELINE_DEFAULT": "design"}).json["settings"]}
        self.assertEqual(origin["log.level"], ("project", f"{self.settings}:3:10"))
        self.assertEqual(origin["llm.model"], ("flag", "flag llm.model"))
        self.assertEqual(origin["pipeline.default"][0], "environment")
        self.assertEqual(origin["context.max_tokens"][0], "built-in")

    def test_set_keeps_comments_and_order(self):
        self.settings.write_text("# mine\nlog:\n  level: debug  # for now\n")
        self.assert_code(self.run_program("config", "set", "log.level", "info"), 0)
        self.assert_code(self.run_program("config", "set", "llm.model", "m"), 0)
        self.assertEqual(self.settings.read_text(), "# mine\nlog:\n  level: info  # for now\nllm:\n  model: m\n")

    def test_set_refuses_a_wrong_value_and_leaves_the_file(self):
        before = self.settings.read_text()
        self.assert_error(self.run_program("config", "set", "log.level", "loud"), "AF-CONF-021", "debug")
        self.assert_error(self.run_program("config", "set", "log.levle", "info"), "AF-CONF-020", "log.level")
        self.assertEqual(self.settings.read_text(), before)

    def test_set_refuses_what_a_start_would_refuse(self):
        before = self.settings.read_text()
        for key, value, code in (("limits.max_wall_time", "soon", "AF-COST-002"), ("delivery.author", "me", "AF-GIT-045"), ("limits.max_cost_usd", "-1", "AF-CONF-021")):
            with self.subTest(key):
                self.assert_error(self.run_program("config", "set", key, value), code, key)
        self.assertEqual(self.settings.read_text(), before)

    def test_get_of_an_unset_key_is_an_error_in_json_too(self):
        self.assert_error(self.run_program("config", "get", "llm.model"), "AF-CONF-041", "llm.model")
        outcome = self.assert_code(self.run_program("config", "get", "llm.model", "--json"), 1)
        self.assertEqual(outcome.json["error"]["code"], "AF-CONF-041")

    def test_a_limit_without_a_default_can_be_set_and_read(self):
        self.assert_code(self.run_program("config", "set", "orchestration.cycle_limit", "5"), 0)
        self.assertEqual(self.assert_code(self.run_program("config", "get", "orchestration.cycle_limit"), 0).out, "5\n")

    def test_get_of_a_limit_without_a_default_explains_the_effect(self):
        outcome = self.assert_error(self.run_program("config", "get", "orchestration.cycle_limit"), "AF-CONF-041", "orchestration.cycle_limit is not set", "by default as in the pipeline (3)")
        self.assertEqual(outcome.out, "")

    def test_set_accepts_an_empty_text_to_clear_a_default(self):
        self.assert_code(self.run_program("config", "set", "delivery.co_author", ""), 0)
        self.assertEqual(self.run_program("config", "get", "delivery.co_author").out, "\n")
        before = self.settings.read_text()
        self.assert_error(self.run_program("config", "set", "llm.backend", ""), "AF-CLI-070", "llm.backend is empty", "--unset", exit_code=2)
        self.assertEqual(self.settings.read_text(), before)

    def test_set_keeps_the_permissions_of_the_file(self):
        for mode, level in ((0o600, "info"), (0o666, "debug")):      # No umask gives a new file the second mode.
            self.settings.chmod(mode)
            self.assert_code(self.run_program("config", "set", "log.level", level), 0)
            self.assertEqual(self.settings.stat().st_mode & 0o777, mode)

    def test_lists_and_maps_can_be_set_read_and_unset(self):
        self.settings.write_text("secrets:\n  files: [.env]   # ours\ngates:\n  # by folder\n  scopes:\n    web: node\n")
        self.assert_code(self.run_program("config", "set", "secrets.files", "[.env, key.pem]"), 0)
        self.assert_code(self.run_program("config", "set", "gates.scopes.services/api", "go"), 0)
        self.assertEqual(self.settings.read_text(), 'secrets:\n  files: [".env", "key.pem"]   # ours\ngates:\n  # by folder\n  scopes:\n    web: node\n    services/api: go\n')
        self.assertEqual(self.run_program("config", "get", "secrets.files").out, ".env\nkey.pem\n")
        self.assert_code(self.run_program("config", "set", "gates.scopes.web", "--unset"), 0)
        self.assertEqual(yaml.safe_load(self.settings.read_text())["gates"], {"scopes": {"services/api": "go"}})

    def test_one_value_of_a_free_map_can_be_set_read_and_unset(self):
        self.settings.write_text("llm:\n  settings:\n    temperature: 1  # warm\n")
        self.assert_code(self.run_program("config", "set", "llm.settings.top_p", "0.5"), 0)
        self.assertEqual(self.settings.read_text(), "llm:\n  settings:\n    temperature: 1  # warm\n    top_p: 0.5\n")
        self.assertEqual(self.run_program("--trust", "config", "get", "llm.settings.top_p").out, "0.5\n")
        self.assert_code(self.run_program("config", "set", "llm.settings.top_p", "--unset"), 0)
        self.assertEqual(self.settings.read_text(), "llm:\n  settings:\n    temperature: 1  # warm\n")

    def test_concurrent_sets_lose_nothing(self):
        for first in (False, True):
            with self.subTest(first=first):
                if first:
                    shutil.rmtree(self.settings.parent.parent)
                processes = [self.spawn("config", "set", key, value) for key, value in (("llm.model", "m"), ("log.level", "debug"), ("pipeline.default", "design"), ("delivery.base", "main"))]
                for process in processes:
                    process.communicate(timeout=60)
                self.assertEqual([process.returncode for process in processes], [0, 0, 0, 0])
                held = yaml.safe_load(self.settings.read_text())
                self.assertEqual((held["llm"], held["log"], held["pipeline"], held["delivery"]), ({"model": "m"}, {"level": "debug"}, {"default": "design"}, {"base": "main"}))

    def test_set_for_the_user_works_outside_a_repository(self):
        self.assert_code(self.run_program("config", "set", "llm.model", "m", "--user", cwd=self.home), 0)
        self.assertEqual(yaml.safe_load((self.home / ".agentforge/config.yaml").read_text()), {"llm": {"model": "m"}})

    def test_set_reports_a_value_that_is_overridden(self):
        outcome = self.run_program("config", "set", "log.level", "info", environment={**self.environment, "AGENTFORGE_LOG_LEVEL": "debug"})
        self.assertIn("environment overrides it", outcome.err)
        self.assertIn("agentforge trust", self.run_program("config", "set", "llm.base_url", "http://localhost:1").err)

    def test_a_linked_settings_file_stays_a_link(self):
        target = self.folder / "dotfiles.yaml"
        target.write_text("log:\n  level: debug\n")
        (self.home / ".agentforge").mkdir()
        (self.home / ".agentforge/config.yaml").symlink_to(target)
        self.run_program("config", "set", "log.level", "info", "--user")
        self.assertTrue(os.path.islink(self.home / ".agentforge/config.yaml"))
        self.assertEqual(target.read_text(), "log:\n  level: info\n")

    def test_a_file_of_an_older_format_is_named_and_migrated(self):
        self.settings.write_text("# ours\nbudgets:\n  task_tokens: 5000\n  task_cost_microdollars: 2500000\nlog:\n  level: debug  # for now\n")
        self.assert_error(self.run_program("config", "show"), "AF-CONF-044", "settings.yaml:3:3", "limits.max_tokens", "agentforge config migrate")
        self.assert_code(self.run_program("config", "migrate"), 0)
        self.assertEqual(self.settings.read_text(), "# ours\nlog:\n  level: debug  # for now\nlimits:\n  max_tokens: 5000\n  max_cost_usd: 2.5\n")
        self.assertEqual(self.run_program("config", "get", "limits.max_cost_usd").out, "2.5\n")

    def test_an_unknown_variable_is_named_with_the_nearest(self):
        outcome = self.run_program("config", "get", "log.level", environment={**self.environment, "AGENTFORGE_LOG_LEVLE": "debug"})
        self.assertEqual(outcome.out, "info\n")
        self.assertIn("AGENTFORGE_LOG_LEVLE has no effect (unknown name); did you mean AGENTFORGE_LOG_LEVEL?", outcome.err)

    def test_a_token_in_a_map_is_hidden_only_in_the_list(self):
        self.settings.write_text("llm:\n  settings:\n    headers:\n      x-token: abc123\n")
        words = ("--trust", "config")
        self.assertIn("llm.settings.headers.x-token = (hidden)", self.run_program(*words, "show", "llm").out)
        self.assertEqual(self.run_program(*words, "get", "llm.settings.headers.x-token").out, "abc123\n")


if __name__ == "__main__":
    main()
