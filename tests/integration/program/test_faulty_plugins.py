# SPDX-License-Identifier: Apache-2.0
"""Plugins that end the process, or cannot be loaded: unfinished work never looks done, and the error comes before any model call."""

import json
import os
import pathlib
import shutil
import subprocess

import yaml

from harness import REQUEST, TRANSCRIPT, ProgramTest, main, wait_until

FAULTY = pathlib.Path(os.environ.get("AGENTFORGE_FAULTY_PLUGINS", ""))
ID = "org.agentforge.test.faulty"


class FaultyPluginTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make_repository()
        self.plugins = self.folder / "plugins"
        self.environment["AGENTFORGE_PLUGIN_PATH"] = str(self.plugins)

    def install(self, fault):
        """A faulty plugin that the user installed."""
        self.plugins.mkdir()
        shutil.copytree(FAULTY / fault, self.plugins / fault)

    def pipeline(self, *stages):
        folder = self.repository / ".agentforge" / "pipelines"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "mine.yaml").write_text(yaml.safe_dump({"pipeline": {"name": "mine", "description": "Mine", "goal_type": "design", "stages": list(stages)}}), encoding="utf-8")

    def faulty_stage(self, **config):
        return {"name": "last", "executor": "faulty", "agent": "requirements_analyst", "contract": "intake_record", "config": config}

    def start_mine(self, **options):
        return self.start("--pipeline", "mine", **options)

    def run_raw(self, *arguments):
        """Runs the program, which a signal may end."""
        return subprocess.run(self.command(*arguments), cwd=self.repository, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


class TestPluginThatEndsTheProcess(FaultyPluginTest):
    def ends_by(self, how):
        self.install("ends_the_process")
        self.pipeline(self.faulty_stage(how=how))
        outcome = self.assert_error(self.start_mine(), "AF-PLUG-022", f"execute() of the stage `faulty` of plugin `{ID}`", "agentforge resume")
        self.assertNotIn("Done", outcome.out)

    def test_exit_of_a_plugin_is_an_error_that_names_it(self):
        self.ends_by("exit")

    def test_quick_exit_of_a_plugin_is_an_error_that_names_it(self):
        self.ends_by("quick_exit")

    def test_atexit_handler_of_a_plugin_does_not_change_the_exit_code(self):
        self.install("ends_the_process")
        self.pipeline(self.faulty_stage(how="atexit"))
        self.assert_error(self.start_mine(), "FAULTY-1", exit_code=1)

    def test_underscore_exit_of_a_plugin_is_an_error_that_names_it(self):
        self.ends_by("_exit")

    def test_capital_exit_of_a_plugin_is_an_error_that_names_it(self):
        self.ends_by("_Exit")

    def test_exit_system_call_of_a_plugin_is_an_error_that_names_it(self):
        self.ends_by("syscall")

    def test_execve_of_a_plugin_is_an_error_that_names_it(self):
        self.ends_by("execve")

    def test_execlp_of_a_plugin_is_an_error_that_names_it(self):
        self.ends_by("execlp")

    def test_child_forked_by_a_plugin_may_exec_another_program(self):
        self.install("ends_the_process")
        self.pipeline(self.faulty_stage(how="child"))
        self.assert_error(self.start_mine(), "FAULTY-7", exit_code=1)

    def test_json_output_names_the_plugin_too(self):
        self.install("ends_the_process")
        self.pipeline(self.faulty_stage(how="exit"))
        outcome = self.assert_code(self.run_program("start", "--pipeline", "mine", "--set", "llm.backend=replay", "--set", f"llm.transcript={TRANSCRIPT}", "--json", REQUEST), 1)
        self.assertEqual(outcome.json["error"]["code"], "AF-PLUG-022")

    def test_plugin_in_which_the_process_was_killed_is_named_by_the_next_commands(self):
        self.install("ends_the_process")
        self.pipeline(self.faulty_stage(how="kill"))
        where = f"execute() of the stage `faulty` of plugin `{ID}`"
        words = ["start", "--pipeline", "mine", "--transcript", TRANSCRIPT, REQUEST]
        self.assertEqual(self.run_raw(*words).returncode, -9)
        self.assertIn(where, self.run_program("status").out)
        again = self.run_raw("resume", self.task())
        self.assertEqual(again.returncode, -9)
        self.assertIn("AF-PLUG-023", again.stderr)
        self.assertIn(where, again.stderr)
        self.assertEqual(self.records("task_resumed")[0]["ended_in"], where)

    def test_exit_of_a_plugin_is_logged_in_a_detached_run(self):
        self.install("ends_the_process")
        self.pipeline(self.faulty_stage(how="exit"))
        self.assert_code(self.start_mine_detached(), 0)
        log = self.task_folder() / "detached.log"
        wait_until(lambda: log.exists() and "AF-PLUG-022" in log.read_text(), "the detached process to say how it ended", seconds=30)

    def start_mine_detached(self):
        return self.start("--pipeline", "mine", "--detach")

    def test_a_normal_run_leaves_nothing_behind(self):
        self.assert_code(self.start("--exit-after", "intake"), 0)
        self.assertFalse((self.task_folder() / "plugin_call").exists())


class TestPluginsInTheJournal(FaultyPluginTest):
    def in_use(self):
        record = self.records("plugins")[-1]
        if "in_use" in record:
            return record["in_use"]
        blobs = yaml.safe_load((self.task_folder() / "artifacts" / "blobs" / "blobs.yaml").read_text())["blobs"]
        return json.loads(next(blob["text"] for blob in blobs if blob["sha256"] == record["in_use_blob"]))

    def test_id_version_and_hash_of_each_plugin_in_use_are_recorded(self):
        self.assert_code(self.start("--exit-after", "intake"), 0)
        used = {plugin["id"]: plugin for plugin in self.in_use()}
        for identifier in ("agentforge.stage.prompt", "agentforge.tool.complete", "org.agentforge.llm.replay", "org.agentforge.escalation.file"):
            shown = self.assert_code(self.run_program("plugins", "show", identifier, "--json"), 0).json
            shown = shown["plugins"][0] if "plugins" in shown else shown
            self.assertEqual((used[identifier]["version"], used[identifier]["sha256"]), (shown["version"], shown["library_sha256"]))


class TestPluginThatCannotBeLoaded(FaultyPluginTest):
    """AgentForge reports the plugin before the first model call, whichever stage uses it."""

    def late_in_the_pipeline(self, fault):
        self.install(fault)
        early = {"name": "intake", "executor": "intake", "agent": "requirements_analyst", "contract": "intake_record"}
        self.pipeline(early, self.faulty_stage())

    def as_stage(self, fault):
        """Changes the manifest of a faulty tool to `stage`. The wrong kind is found only after loading."""
        self.late_in_the_pipeline(fault)
        manifest = self.plugins / fault / "plugin.json"
        manifest.write_text(manifest.read_text().replace('"tool"', '"stage"'), encoding="utf-8")

    def assert_nothing_began(self):
        self.assertEqual(self.tasks(), [])

    def test_stage_built_by_another_compiler_is_refused_before_the_task(self):
        self.as_stage("other_fingerprint")
        self.assert_error(self.start_mine(), "AF-PLUG-012", "Rebuild the plugin")
        self.assert_nothing_began()

    def test_stage_that_crashes_when_it_is_loaded_is_an_error_of_start(self):
        self.as_stage("crash_at_load")
        self.assert_error(self.start_mine(), "AF-PLUG-021", ID, "crashed", "plugins.disable")
        self.assert_nothing_began()

    def test_stage_that_exits_when_it_is_loaded_is_an_error_of_start(self):
        self.as_stage("exit_at_load")
        self.assert_error(self.start_mine(), "AF-PLUG-021", ID, "ended the whole process")
        self.assert_nothing_began()

    def test_list_and_doctor_name_plugins_that_cannot_be_loaded(self):
        self.as_stage("other_fingerprint")
        listing = self.assert_code(self.run_program("plugins", "list"), 0)
        self.assertRegex(listing.out, r"faulty .*cannot be loaded")
        self.assertIn("AF-PLUG-012", listing.err)
        doctor = self.assert_code(self.run_program("doctor", "--set", "pipeline.default=mine"), 1)
        self.assertRegex(doctor.out, r"FAILED +plugins")
        self.assertIn("AF-PLUG-012", doctor.out)

    def test_list_survives_a_plugin_that_crashes_when_loaded(self):
        self.as_stage("crash_at_load")
        self.assertIn("AF-PLUG-021", self.assert_code(self.run_program("plugins", "list"), 0).err)

    def test_resume_refuses_a_replaced_stage_plugin_before_reaching_it(self):
        self.install("ends_the_process")
        early = {"name": "intake", "executor": "intake", "agent": "requirements_analyst", "contract": "intake_record"}
        self.pipeline(early, self.faulty_stage(how="exit"))
        self.assert_code(self.start("--pipeline", "mine", "--approve", "intake"), 22)
        self.assert_code(self.go_on("approve", self.task(), "--no-resume"), 0)
        shutil.rmtree(self.plugins / "ends_the_process")
        shutil.copytree(FAULTY / "other_fingerprint", self.plugins / "other_fingerprint")
        manifest = self.plugins / "other_fingerprint" / "plugin.json"
        manifest.write_text(manifest.read_text().replace('"tool"', '"stage"'), encoding="utf-8")
        before = len(self.journal())
        self.assert_error(self.go_on("resume", self.task()), "AF-PLUG-012")
        self.assertEqual(len(self.journal()), before)

    def test_world_writable_folder_is_named_by_list_doctor_and_start(self):
        self.install("good")
        (self.plugins / "good").chmod(0o777)
        for outcome in (self.run_program("plugins", "list"), self.run_program("doctor"), self.start("--exit-after", "intake")):
            self.assertIn("AF-PLUG-038", outcome.all, outcome)
            self.assertIn(str(self.plugins / "good"), outcome.all, outcome)


class TestPluginTranscriptOverSettings(FaultyPluginTest):
    def test_transcript_overrides_a_server_in_the_users_settings(self):
        (self.home / ".agentforge").mkdir()
        (self.home / ".agentforge" / "config.yaml").write_text("llm: {backend: openai, model: m, settings: {stream: false}}\n", encoding="utf-8")
        self.assert_code(self.start("--exit-after", "intake"), 0)


if __name__ == "__main__":
    main()
