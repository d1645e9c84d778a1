# SPDX-License-Identifier: Apache-2.0
"""A third-party plugin: in one project and not in another, trusted, locked, and refused with a reason."""

import json
import os
import pathlib
import shutil
import stat

import yaml

from harness import REQUEST, TRANSCRIPT, ProgramTest, main
from terminal import Terminal

ID = "org.agentforge.test.good"
# A plugin of all four kinds, built for the unit tests.
BUILT = pathlib.Path(os.environ.get("AGENTFORGE_TEST_PLUGIN", ""))


class PluginTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make_repository()

    def settings(self, repository=None, **plugins):
        file = (repository or self.repository) / ".agentforge" / "config" / "settings.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(yaml.safe_dump({"plugins": plugins}), encoding="utf-8")
        return file

    def install(self, folder, **fields):
        """Installs the plugin below `folder`, with these fields changed in its manifest."""
        target = pathlib.Path(folder) / "good"
        shutil.copytree(BUILT, target)
        manifest = json.loads((target / "plugin.json").read_text(encoding="utf-8"))
        manifest.update(fields)
        (target / "plugin.json").write_text(json.dumps(manifest, indent=2), encoding="utf-8")
        return target

    def project_with_plugin(self, **fields):
        self.settings(paths=["tools"])
        return self.install(self.repository / "tools", **fields)

    def trusted_project(self, **fields):
        plugin = self.project_with_plugin(**fields)
        self.assert_code(self.run_program("trust"), 0)
        return plugin

    def locked_project(self):
        plugin = self.trusted_project()
        self.assert_code(self.run_program("plugins", "lock"), 0)
        return plugin

    def state_of_plugin(self, identifier=ID, **options):
        outcome = self.assert_code(self.run_program("plugins", "list", "--json", **options), 0)
        return {plugin["id"]: plugin for plugin in outcome.json["plugins"]}.get(identifier, {}).get("state")

    def use_the_stage(self, **config):
        """Writes a pipeline whose only stage is the plugin's."""
        folder = self.repository / ".agentforge" / "pipelines"
        folder.mkdir(parents=True, exist_ok=True)
        stage = {"name": "intake", "executor": "good_stage", "agent": "requirements_analyst", "contract": "intake_record", **({"config": config} if config else {})}
        pipeline = {"name": "greet", "description": "One stage", "goal_type": "design", "stages": [stage]}
        (folder / "greet.yaml").write_text(yaml.safe_dump({"pipeline": pipeline}), encoding="utf-8")

    def flip(self, file):
        content = bytearray(file.read_bytes())
        content[-1] ^= 1
        file.write_bytes(bytes(content))


class TestPluginTrust(PluginTest):
    """AgentForge runs nothing that a project's own files name before the user trusts it."""

    def test_untrusted_plugin_is_listed_and_not_used(self):
        self.project_with_plugin()
        outcome = self.assert_code(self.run_program("plugins", "list"), 0)
        self.assertRegex(outcome.out, r"good_tool .*\[project, not trusted\]")
        self.assertIn("AF-PLUG-040", outcome.err)
        self.assertIn("agentforge trust", outcome.err)

    def test_untrusted_project_uses_built_in_plugins(self):
        self.project_with_plugin()
        outcome = self.assert_code(self.start("--exit-after", "intake"), 0)
        self.assertEqual(outcome.err.count("AF-PLUG-040"), 1)
        self.assertIn("plugin tools/good", outcome.err)

    def test_task_that_needs_an_untrusted_plugin_does_not_start(self):
        self.project_with_plugin()
        self.use_the_stage()
        self.assert_error(self.start("--pipeline", "greet"), "AF-PLUG-030", "good_stage", "not trusted", "agentforge trust --show")
        self.assertEqual(self.tasks(), [])

    def test_a_value_looser_than_the_users_is_named_with_its_position_and_ignored(self):
        (self.home / ".agentforge").mkdir()
        (self.home / ".agentforge" / "config.yaml").write_text("limits: {max_tokens: 1000}\n")
        folder = self.repository / ".agentforge" / "config"
        folder.mkdir(parents=True)
        (folder / "settings.yaml").write_text("limits:\n  max_tokens: 5000\nservers:\n  allow_network: true\n")
        self.assertEqual(self.run_program("config", "get", "limits.max_tokens").out, "1000\n")
        outcome = self.run_program("plugins", "list")
        self.assertRegex(outcome.err, r"AF-PLUG-040.*setting limits\.max_tokens \(.*settings\.yaml:2:.*1000 applies\)")
        for command in (["doctor"], ["config", "show"], ["trust", "--show"]):
            self.assertRegex(self.run_program(*command).err, r"AF-CONF-047.*servers\.allow_network", command)
        self.assertIn("limits.max_tokens = 5000", self.run_program("trust", "--show").out)
        self.assert_code(self.run_program("trust"), 0)
        self.assertEqual(self.run_program("config", "get", "limits.max_tokens").out, "5000\n")
        self.assertEqual(self.run_program("config", "get", "servers.allow_network").out, "false\n")

    def test_show_changes_nothing(self):
        plugin = self.project_with_plugin()
        outcome = self.assert_code(self.run_program("trust", "--show"), 0)
        for word in ("not trusted", "plugins.paths", "settings.yaml:", ID, "1.2.3", str(plugin), "good.so"):
            self.assertIn(word, outcome.out)
        self.assertRegex(outcome.out, r"[0-9a-f]{64}  good\.so")
        self.assertEqual(self.state_of_plugin(), "not trusted")

    def test_trusted_plugin_is_used(self):
        self.trusted_project()
        self.assertEqual(self.state_of_plugin(), "ready")

    def test_trust_is_stored_outside_the_repository_and_private_to_the_user(self):
        self.trusted_project()
        file = self.state_file()
        self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600)
        self.assertNotIn("trusted.yaml", "".join(str(path) for path in self.repository.rglob("*")))

    def state_file(self):
        return pathlib.Path(self.environment["AGENTFORGE_STATE_HOME"]) / "trusted.yaml"

    def test_revoked_trust_is_gone(self):
        self.trusted_project()
        self.assertIn("No longer trusted", self.assert_code(self.run_program("trust", "--revoke"), 0).out)
        self.assertEqual(self.state_of_plugin(), "not trusted")
        self.assertIn("Was not trusted", self.assert_code(self.run_program("trust", "--revoke"), 0).out)

    def test_changed_plugin_needs_trust_again_and_is_named(self):
        plugin = self.trusted_project()
        self.flip(plugin / "good.so")
        outcome = self.run_program("plugins", "list")
        self.assertIn("changed since you trusted it (plugin tools/good)", outcome.err)
        self.assertEqual(self.state_of_plugin(), "not trusted")

    def test_changed_setting_needs_trust_again(self):
        self.trusted_project()
        self.settings(paths=["tools", "more"])
        self.assertIn("setting plugins.paths", self.run_program("plugins", "list").err)

    def test_new_server_file_needs_trust_and_is_shown(self):
        self.trusted_project()
        (self.repository / ".mcp.json").write_text('{"mcpServers": {"files": {"command": "npx", "args": ["server"]}}}', encoding="utf-8")
        self.assertIn("file .mcp.json", self.run_program("plugins", "list").err)
        self.assertRegex(self.run_program("trust", "--show").out, r'files: \{"command":"npx"')

    def test_trust_for_one_run_by_flag(self):
        self.project_with_plugin()
        outcome = self.assert_code(self.run_program("--trust", "plugins", "list", "--json"), 0)
        self.assertEqual({plugin["id"]: plugin["state"] for plugin in outcome.json["plugins"]}[ID], "ready")
        self.assertEqual(self.state_of_plugin(), "not trusted")

    def test_trust_for_one_environment(self):
        self.project_with_plugin()
        self.assertEqual(self.state_of_plugin(environment=dict(self.environment, AGENTFORGE_TRUST_PROJECT="1")), "ready")
        self.assertEqual(self.state_of_plugin(environment=dict(self.environment, AGENTFORGE_TRUST_PROJECT="0")), "not trusted")

    def test_invalid_trust_variable_is_an_error(self):
        outcome = self.run_program("plugins", "list", environment=dict(self.environment, AGENTFORGE_TRUST_PROJECT="yes"))
        self.assert_error(outcome, "AF-CLI-014", "yes")

    def test_users_own_plugins_need_no_trust(self):
        folder = self.folder / "mine"
        self.install(folder)
        self.assertEqual(self.state_of_plugin(environment=dict(self.environment, AGENTFORGE_PLUGIN_PATH=str(folder))), "ready")
        (self.home / ".agentforge").mkdir()
        (self.home / ".agentforge" / "config.yaml").write_text(yaml.safe_dump({"plugins": {"paths": ["plugins"]}}), encoding="utf-8")
        self.install(self.home / ".agentforge" / "plugins")
        self.assertEqual(self.state_of_plugin(), "ready")

    def test_command_of_an_untrusted_project_is_not_run(self):
        file = self.repository / ".agentforge" / "config" / "settings.yaml"
        file.parent.mkdir(parents=True)
        trace = self.folder / "ran"
        file.write_text(yaml.safe_dump({"llm": {"backend": "cli", "command": ["touch", str(trace)]}}), encoding="utf-8")
        self.assert_error(self.run_program("start", REQUEST), "AF-PLUG-043", "llm.command", "settings.yaml:", "agentforge trust")
        self.run_program("doctor")
        self.assertFalse(trace.exists())
        self.assertEqual(self.tasks(), [])

    def test_ignored_untrusted_settings_do_not_send_data_elsewhere(self):
        file = self.repository / ".agentforge" / "config" / "settings.yaml"
        file.parent.mkdir(parents=True)
        self.environment["OPENAI_API_KEY"] = "sk-not-to-be-sent"
        self.environment["AGENTFORGE_WEBHOOK_URL"] = "https://127.0.0.1:1/"
        for settings, arguments, key in (
                ({"llm": {"backend": "openai", "base_url": "http://127.0.0.1:1/v1", "model": "x"}}, [], "llm.base_url"),
                ({"escalation": {"handlers": ["webhook"]}, "plugins": {"settings": {"webhook": {"content": "reference"}}}}, [], "plugins.settings.webhook.content"),
                ({"delivery": {"remote": "fork"}}, ["--deliver", "pr"], "delivery.remote")):
            file.write_text(yaml.safe_dump(settings), encoding="utf-8")
            start = self.run_program("start", REQUEST) if "llm" in settings else self.start(*arguments)
            self.assert_error(start, "AF-PLUG-043", key, "settings.yaml:", "agentforge trust")
        self.assertEqual(self.tasks(), [])

    def test_users_value_applies_if_the_project_is_not_trusted(self):
        file = self.repository / ".agentforge" / "config" / "settings.yaml"
        file.parent.mkdir(parents=True)
        file.write_text(yaml.safe_dump({"log": {"file": str(self.folder / "theirs.log")}}), encoding="utf-8")
        (self.home / ".agentforge").mkdir()
        (self.home / ".agentforge" / "config.yaml").write_text(yaml.safe_dump({"log": {"file": str(self.folder / "mine.log")}}), encoding="utf-8")
        self.assert_code(self.start("--exit-after", "intake"), 0)
        self.assertTrue((self.folder / "mine.log").exists())
        self.assertFalse((self.folder / "theirs.log").exists())

    def test_broken_list_of_trusted_projects_is_named_and_kept(self):
        self.trusted_project()
        self.state_file().write_text("agentforge_trust: 1\nprojects: [7]\n", encoding="utf-8")
        self.assert_error(self.run_program("plugins", "list"), "AF-PLUG-041", "trusted.yaml:2:12")
        self.assert_error(self.run_program("trust"), "AF-PLUG-041")
        self.assertEqual(self.state_file().read_text(encoding="utf-8"), "agentforge_trust: 1\nprojects: [7]\n")

    def test_trust_list_inside_the_project_is_refused(self):
        self.project_with_plugin()
        inside = dict(self.environment, AGENTFORGE_STATE_HOME=str(self.repository / "state"))
        self.assert_error(self.run_program("trust", environment=inside), "AF-PLUG-042", "inside the project")

    def test_init_in_a_foreign_repository_trusts_nothing(self):
        self.project_with_plugin()
        self.assertIn("AF-PLUG-040", self.assert_code(self.run_program("init"), 0).err)
        self.assertEqual(self.state_of_plugin(), "not trusted")

    def test_name_in_the_repository_cannot_control_the_terminal(self):
        self.settings(paths=["tools"])
        self.install(self.repository / "tools" / "\x1b[2J")
        for command in (("plugins", "list"), ("trust", "--show"), ("plugins", "verify"), ("plugins", "show", ID), ("doctor",)):
            self.assertNotIn("\x1b", self.run_program(*command).all, command)

    def test_trust_as_json(self):
        self.project_with_plugin()
        answer = self.assert_code(self.run_program("trust", "--json"), 0).json
        self.assertEqual(answer["verdict"], "trusted")
        self.assertEqual([(plugin["id"], plugin["version"], sorted(plugin["files"])) for plugin in answer["plugins"]], [(ID, "1.2.3", ["good.so", "plugin.json"])])
        self.assertEqual([setting["key"] for setting in answer["settings"]], ["plugins.paths"])
        self.assertRegex(answer["fingerprint"], "^[0-9a-f]{64}$")
        self.assertEqual((answer["changed"], answer["files"], answer["servers"]), ([], {}, []))


class TestPluginTrustOnATerminal(PluginTest):
    """AgentForge asks once, on a terminal, and stores the answer outside the repository."""

    def setUp(self):
        super().setUp()
        self.project_with_plugin()

    def ended_with(self, key, code=0):
        terminal = Terminal(self, "start", "--transcript", TRANSCRIPT, "--exit-after", "intake", REQUEST, columns=160)
        terminal.wait_for("Enter  not now")
        self.assertIn("plugins.paths", terminal.text())
        terminal.press(key)
        return "\n".join(terminal.ended(code))

    def asked(self):
        terminal = Terminal(self, "start", "--transcript", TRANSCRIPT, "--exit-after", "intake", REQUEST, columns=160)
        return "Enter  not now" in "\n".join(terminal.ended(0))

    def kept(self, name):
        file = pathlib.Path(self.environment["AGENTFORGE_STATE_HOME"]) / name
        return file.exists() and str(self.repository) in file.read_text()

    def test_yes_is_trust(self):
        self.assertNotIn("AF-PLUG-040", self.ended_with(b"y\n"))
        self.assertEqual((self.kept("trusted.yaml"), self.state_of_plugin()), (True, "ready"))
        self.assertFalse(self.asked())

    def test_once_is_only_for_this_run(self):
        self.assertNotIn("AF-PLUG-040", self.ended_with(b"o\n"))
        self.assertEqual(self.state_of_plugin(), "not trusted")

    def test_no_is_kept_until_something_changes(self):
        self.assertIn("AF-PLUG-040", self.ended_with(b"n\n"))
        self.assertEqual((self.kept("declined.yaml"), self.kept("trusted.yaml")), (True, False))
        self.assertFalse(self.asked())
        self.settings(paths=["tools", "more"])
        self.assertIn("AF-PLUG-040", self.ended_with(b"\n"))

    def test_a_task_with_its_own_model_does_not_ask_again(self):
        self.assert_code(self.start("--approve", "intake", "--exit-after", "clarify"), 22)
        terminal = Terminal(self, "approve", self.task(), columns=160)
        terminal.wait_for("Enter  not now")
        terminal.press(b"\n")
        terminal.ended(0)
        self.assertEqual((terminal.raw.count(b"Enter  not now"), terminal.raw.count(b"AF-PLUG-040")), (1, 1))

    def test_interrupted_question_makes_no_task(self):
        self.assertIn("AF-CLI-122", self.ended_with(b"\x03", 23))
        self.assertEqual(self.tasks(), [])


class TestPluginChoice(PluginTest):
    """The plugins that a project uses, and their settings."""

    def test_a_plugin_can_be_enabled_per_project(self):
        self.trusted_project()
        other = self.make_repository("other")
        self.assertEqual(self.state_of_plugin(), "ready")
        self.assertIsNone(self.state_of_plugin(cwd=other))

    def test_users_plugin_is_chosen_by_project(self):
        self.install(self.home / ".agentforge" / "plugins")
        (self.home / ".agentforge" / "config.yaml").write_text(yaml.safe_dump({"plugins": {"paths": ["plugins"], "enable": []}}), encoding="utf-8")
        self.settings(enable=[ID])
        self.assert_code(self.run_program("trust"), 0)
        other = self.make_repository("other")
        self.assertEqual(self.state_of_plugin(), "ready")
        self.assertEqual(self.state_of_plugin(cwd=other), "disabled")

    def test_disabled_plugin_is_listed_as_such(self):
        self.project_with_plugin()
        self.settings(paths=["tools"], disable=[ID])
        self.run_program("trust")
        self.assertRegex(self.run_program("plugins", "list").out, r"good_tool .*\[project, disabled\]")

    def test_unknown_id_is_named_with_its_place_and_the_nearest(self):
        self.settings(disable=["agentforge.tool.read_fil"])
        outcome = self.assert_error(self.start("--exit-after", "intake"), "AF-PLUG-036", "settings.yaml:", "`agentforge.tool.read_file`")
        self.assertEqual(self.tasks(), [], outcome)

    def test_relative_plugin_path_on_the_command_line_is_refused(self):
        self.install(self.repository / "tools")
        outcome = self.run_program("plugins", "list", "--set", "plugins.paths=[tools]")
        self.assertIn("AF-PLUG-008", outcome.err)
        self.assertNotIn("good_tool", outcome.out)

    def test_wrong_setting_is_named_with_file_line_and_column(self):
        self.trusted_project(config_schema={"type": "object", "additionalProperties": False, "properties": {"depth": {"type": "integer"}}})
        file = self.repository / ".agentforge" / "config" / "settings.yaml"
        file.write_text("plugins:\n  paths: [tools]\n  settings:\n    good_stage:\n      depht: 3\n", encoding="utf-8")
        self.run_program("trust")
        self.assert_error(self.start("--exit-after", "intake"), "AF-PLUG-050", "settings.yaml:5:14", "depht is not a setting", "did you mean depth?")

    def test_wrong_setting_of_a_shipped_backend_is_named_with_its_place(self):
        file = self.repository / ".agentforge" / "config" / "settings.yaml"
        file.parent.mkdir(parents=True)
        file.write_text("llm:\n  backend: cli\n  preset: claude\n  settings:\n    outptu: json\n", encoding="utf-8")
        self.run_program("trust")
        self.assert_error(self.run_program("start", REQUEST), "AF-PLUG-050", "settings.yaml:5:", "did you mean output?")

    def test_wrong_setting_of_a_stage_is_named_by_its_pipeline(self):
        self.trusted_project(config_schema={"type": "object", "properties": {"depth": {"type": "integer"}}})
        self.use_the_stage(depth="deep")
        self.assert_error(self.start("--pipeline", "greet"), "AF-PLUG-050", "greet.yaml:", "it must be an integer")

    def test_show_describes_a_plugin_completely(self):
        plugin = self.trusted_project(config_schema={"type": "object", "properties": {"depth": {"type": "integer"}}})
        self.settings(paths=["tools"], settings={"good_stage": {"depth": 7}})
        self.run_program("trust")
        answer = self.assert_code(self.run_program("plugins", "show", "good_tool", "--json"), 0).json["plugins"]
        self.assertEqual(len(answer), 1)
        shown = answer[0]
        self.assertEqual((shown["id"], shown["source"], shown["state"], shown["trust"], shown["lock"]), (ID, "project", "ready", "trusted", "there is no lock"))
        self.assertEqual(shown["manifest"], str(plugin.resolve() / "plugin.json"))
        self.assertRegex(shown["library_sha256"], "^[0-9a-f]{64}$")
        self.assertEqual(shown["settings"], [{"name": "depth", "schema": {"type": "integer"}, "value": 7}])
        self.assertIn({"kind": "tool", "name": "good_tool", "interface_versions_of_this_host": "1"}, shown["provides"])

    def test_show_of_an_unknown_name_suggests_the_nearest(self):
        self.assert_error(self.run_program("plugins", "show", "read_fil"), "AF-PLUG-036", "`read_file`")


class TestPluginLock(PluginTest):
    """AgentForge does not load plugins that differ from plugins.lock."""

    def lock_file(self):
        return self.repository / ".agentforge" / "config" / "plugins.lock"

    def test_lock_names_version_and_every_file(self):
        self.locked_project()
        lock = yaml.safe_load(self.lock_file().read_text(encoding="utf-8"))
        self.assertEqual(lock["agentforge_lock"], 1)
        self.assertEqual([(plugin["id"], plugin["version"], sorted(plugin["files"])) for plugin in lock["plugins"]], [(ID, "1.2.3", ["good.so", "plugin.json"])])

    def test_locking_a_trusted_project_does_not_ask_again(self):
        self.locked_project()
        self.assertEqual(self.state_of_plugin(), "ready")

    def test_locked_plugin_runs(self):
        self.locked_project()
        self.use_the_stage()
        outcome = self.start("--pipeline", "greet", "--exit-after", "intake")
        self.assertNotIn("AF-PLUG", outcome.all)
        self.assertNotEqual(self.tasks(), [], outcome)

    def test_one_changed_bit_of_the_library_is_refused_with_both_hashes(self):
        plugin = self.locked_project()
        expected = yaml.safe_load(self.lock_file().read_text(encoding="utf-8"))["plugins"][0]["files"]["good.so"]
        self.flip(plugin / "good.so")
        self.assertEqual(self.state_of_plugin(), "differs from the lock")
        self.assert_error(self.run_program("plugins", "verify"), "AF-PLUG-031", expected, str(plugin.resolve() / "good.so"), "agentforge plugins lock")
        self.use_the_stage()
        outcome = self.start("--pipeline", "greet")
        self.assertIn("AF-PLUG-031", outcome.all)
        self.assertNotEqual(outcome.code, 0, outcome)

    def test_other_plugins_work_beside_one_that_is_refused(self):
        plugin = self.locked_project()
        self.flip(plugin / "good.so")
        self.assert_code(self.start("--exit-after", "intake"), 0)

    def test_one_changed_bit_of_the_lock_ends_the_trust(self):
        self.locked_project()
        text = self.lock_file().read_text(encoding="utf-8")
        self.lock_file().write_text(text.replace("1.2.3", "1.2.4"), encoding="utf-8")
        self.assertIn("file .agentforge/config/plugins.lock", self.run_program("plugins", "list").err)

    def test_broken_lock_is_named_and_built_in_plugins_still_work(self):
        self.locked_project()
        self.lock_file().write_text("agentforge_lock: 1\nplugins: 3\n", encoding="utf-8")
        self.run_program("trust")
        outcome = self.assert_code(self.start("--exit-after", "intake"), 0)
        self.assertIn("AF-PLUG-034", outcome.err)
        self.assertIn("plugins.lock:2:10", outcome.err)
        self.assert_error(self.run_program("plugins", "verify"), "AF-PLUG-034", "plugins.lock:2:10")

    def test_plugin_missing_from_the_lock_is_refused_even_if_it_is_the_users(self):
        self.locked_project()
        folder = self.folder / "mine"
        target = self.install(folder, id="org.agentforge.test.mine")
        environment = dict(self.environment, AGENTFORGE_PLUGIN_PATH=str(folder))
        self.assertEqual(self.state_of_plugin("org.agentforge.test.mine", environment=environment), "not in the lock")
        self.assert_error(self.run_program("plugins", "verify", environment=environment), "AF-PLUG-032", str(target.resolve()))

    def test_verify_succeeds_if_everything_matches_the_lock(self):
        self.locked_project()
        answer = self.assert_code(self.run_program("plugins", "verify", "--json"), 0).json
        self.assertEqual(answer["verified"], True)
        self.assertEqual([(plugin["id"], plugin["matches"]) for plugin in answer["plugins"]], [(ID, True)])

    def test_verify_names_a_missing_locked_plugin(self):
        plugin = self.locked_project()
        shutil.rmtree(plugin)
        self.assert_error(self.run_program("plugins", "verify"), "AF-PLUG-033", ID, "plugins.lock:")
        answer = self.run_program("plugins", "verify", "--json")
        self.assertEqual((answer.code, answer.json["verified"], answer.json["plugins"][0]["manifest"]), (1, False, None))

    def test_verify_without_a_lock_fails_if_plugins_are_used(self):
        self.assert_code(self.run_program("plugins", "verify"), 0)
        self.trusted_project()
        self.assert_error(self.run_program("plugins", "verify"), "AF-PLUG-035", ID)

    def test_lock_of_an_untrusted_project_is_refused(self):
        self.project_with_plugin()
        self.assert_error(self.run_program("plugins", "lock"), "AF-PLUG-040")
        self.assertFalse(self.lock_file().exists())

    def test_lock_follows_an_update_of_the_plugin(self):
        plugin = self.locked_project()
        (plugin / "words.txt").write_text("a", encoding="utf-8")
        self.assertEqual(self.state_of_plugin(), "differs from the lock")
        answer = self.assert_code(self.run_program("plugins", "lock", "--json"), 0).json
        self.assertEqual(sorted(answer["plugins"][0]["files"]), ["good.so", "plugin.json", "words.txt"])
        self.assertEqual(answer["trusted"], True)
        self.assertEqual(self.state_of_plugin(), "ready")

    def test_without_plugins_there_is_nothing_to_lock(self):
        self.assertIn("Nothing to lock", self.assert_code(self.run_program("plugins", "lock"), 0).out)
        self.assertFalse(self.lock_file().exists())


if __name__ == "__main__":
    main()
