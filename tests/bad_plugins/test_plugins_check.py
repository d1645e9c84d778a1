# SPDX-License-Identifier: Apache-2.0
"""`agentforge plugins check` on faulty plugins, one fault each: what it says, where, what it found and expected, what to do.

usage: test_plugins_check.py FOLDER_OF_PLUGINS OTHER_BUILD.so [test…]
AGENTFORGE_PROGRAM names the program.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.environ["AGENTFORGE_PROGRAM"]
PLUGINS = pathlib.Path()
OTHER_BUILD = pathlib.Path()
ID = "org.agentforge.test.faulty"
TOOL = f"The tool `faulty` of plugin `{ID}`"
THE_PLUGIN = f"The plugin `{ID}`"

# fault: (status, step, code, words of the message, found, words of what to do). `found` None: the message alone says it.
FAULTS = {
    "no_symbol": ("error", "symbols", "AF-PLUG-013", f"The library of plugin `{ID}` does not export `agentforge_plugin`", "no symbol `agentforge_plugin`", "Put AGENTFORGE_PLUGIN(…) into one of its sources"),
    "symbol_is_data": ("error", "symbols", "AF-PLUG-013", f"The symbol `agentforge_plugin` of plugin `{ID}` is data, but it must be a function", "data", "Put AGENTFORGE_PLUGIN(…)"),
    "exports_host": ("error", "symbols", "AF-CHECK-004", "exports 1 symbol(s) of the host: `agentforge::kernel::read_manifest()`", "`agentforge::kernel::read_manifest()`", "agentforge_add_plugin"),
    "exports_more": ("warning", "symbols", "AF-CHECK-005", "symbol(s) besides its entry: `mine::answer(agentforge::Tool const&)`", "`mine::answer(agentforge::Tool const&)`", "-fvisibility=hidden"),
    "unresolved": ("error", "undefined", "AF-PLUG-011", "it needs the symbol `defined_nowhere(int)`, which neither it nor its libraries define", "`defined_nowhere(int)`", "Link the plugin with -Wl,-z,defs"),
    "missing_library": ("error", "undefined", "AF-PLUG-011", "it needs the library `libagentforge-test-gone.so`, which is not installed", "no libagentforge-test-gone.so", "Install that library"),
    "older_abi": ("error", "descriptor", "AF-PLUG-012", f"{THE_PLUGIN} was built for SDK ABI 0, but this host has SDK ABI 1", None, "Rebuild the plugin with the AgentForge SDK of this host."),
    "newer_abi": ("error", "descriptor", "AF-PLUG-012", f"{THE_PLUGIN} was built for SDK ABI 2, but this host has SDK ABI 1", None, "Install a newer AgentForge"),
    "other_fingerprint": ("error", "descriptor", "AF-PLUG-012", "was built for AGENTFORGE_1_libstdcxx99_cxx11abi1_gxxabi1017_boost1_81_dbg0_sanNone, but this host is AGENTFORGE_1_", None, "Rebuild the plugin with the compiler"),
    "wrong_size": ("error", "descriptor", "AF-PLUG-012", f"The descriptor of plugin `{ID}` has 72 bytes, but that of SDK ABI 1 has 64", None, "Rebuild the plugin"),
    "null_descriptor": ("error", "descriptor", "AF-PLUG-014", f"The entry `agentforge_plugin` of plugin `{ID}` returned null, but it must return a descriptor", None, "Define the entry with AGENTFORGE_PLUGIN(…)."),
    "null_id": ("error", "descriptor", "AF-PLUG-014", f"differ in the id: the library says nothing, the manifest `{ID}`", None, "Make AGENTFORGE_PLUGIN(…) and plugin.json agree"),
    "null_factories": ("error", "descriptor", "AF-PLUG-014", "the library says there are no factories (null), the manifest that there are 1", None, "Make AGENTFORGE_PLUGIN(…)"),
    "no_factories": ("error", "descriptor", "AF-PLUG-014", "differ in the number of things provided: the library says 0, the manifest 1", None, "Make AGENTFORGE_PLUGIN(…)"),
    "huge_factory_count": ("error", "descriptor", "AF-PLUG-014", "differ in the number of things provided: the library says 4294967295, the manifest 1", None, "Make AGENTFORGE_PLUGIN(…)"),
    "wrong_factory_size": ("error", "descriptor", "AF-PLUG-014", f"Factory 0 of plugin `{ID}` has 32 bytes, but it must have 40", None, "agentforge::provides_tool"),
    "null_name": ("error", "descriptor", "AF-PLUG-014", f"Factory 0 of plugin `{ID}` has no name (null), but it must have one", None, "agentforge::provides_tool"),
    "null_create": ("error", "descriptor", "AF-PLUG-014", f"Factory 0 of plugin `{ID}` has no create function (null), but it must have one", None, "agentforge::provides_tool"),
    "unknown_kind": ("error", "descriptor", "AF-PLUG-014", "the library says it provides `faulty` of the unknown kind 99, the manifest does not", None, "Make AGENTFORGE_PLUGIN(…)"),
    "other_interface_version": ("error", "descriptor", "AF-PLUG-015", f"The tool `faulty` of plugin `{ID}` has version 99 of its interface, but this host takes version 1", None, "Install a newer AgentForge"),
    "crash_at_load": ("error", "load", "AF-CHECK-010", f"{THE_PLUGIN} crashed while it was loaded (in a static constructor): SIGSEGV", "SIGSEGV", "Run this call in a debugger"),
    "hang_at_load": ("error", "load", "AF-CHECK-011", f"{THE_PLUGIN} hung while it was loaded (in a static constructor): it did not return within 400 ms and was killed", "no return within 400 ms", "--timeout raises the limit"),
    "exit_at_load": ("error", "load", "AF-CHECK-012", f"{THE_PLUGIN} ended the whole process while it was loaded (in a static constructor): exit code 0", "exit code 0", "Return an error instead"),
    "slow_load": ("warning", "load", "AF-CHECK-006", f"{THE_PLUGIN} takes ", " ms", "Do nothing in static constructors"),
    "failing_init": ("error", "create", "AF-PLUG-016", f"{THE_PLUGIN} could not make its tool `faulty` with no settings: the moon is not full", "null", "`default` or `examples`"),
    "silent_init": ("error", "create", "AF-PLUG-016", f"{THE_PLUGIN} could not make its tool `faulty` with no settings: it gave no reason", "null", "Write a message into `error`"),
    "throw_in_create": ("error", "create", "AF-CHECK-013", f"{TOOL} threw in create() with the input \"no settings\": no exception may leave", "an exception", "Catch it in the plugin"),
    "message_overflow": ("error", "create", "AF-CHECK-016", f"{TOOL} wrote beyond the 1024 bytes that it was given for its message in create()", "more", "Write at most `error_size` bytes"),
    "hang_in_create": ("error", "create", "AF-CHECK-011", f"{TOOL} hung in create() with the input \"no settings\": it did not return within 400 ms and was killed", "no return within 400 ms", "cancelled() and deadline()"),
    "throw_in_spec": ("error", "describe", "AF-CHECK-013", f"{TOOL} threw in spec(): no words for it", "an exception", "Catch it in the plugin"),
    "other_name": ("error", "describe", "AF-PLUG-017", f"{THE_PLUGIN} provides the tool `faulty`, but its spec() says `somebody_else`", "somebody_else", "Use the same name in both places."),
    "wrong_schema": ("error", "describe", "AF-CHECK-008", "are not a schema that the host can apply: properties.text.type must name a JSON type, found \"strnig\"", "strnig", "Correct ToolSpec::parameters"),
    "unknown_path_parameter": ("error", "describe", "AF-CHECK-008", "`path_parameters` names `file`, which is not a property", "file", "Correct ToolSpec::parameters"),
    "no_description": ("warning", "describe", "AF-CHECK-016", f"{TOOL} has no description in spec()", "nothing", "the model chooses by it"),
    "throw_in_call": ("error", "calls", "AF-CHECK-013", f"{TOOL} threw in call() with the input \"valid\": no exception may leave", "an exception", "Catch it in the plugin and return a failed result"),
    "throw_int": ("error", "calls", "AF-CHECK-013", f"{TOOL} threw in call() with the input \"valid\": something that is not a std::exception", "an exception", "Catch it in the plugin"),
    "crash_in_call": ("error", "calls", "AF-CHECK-010", f"{TOOL} crashed in call() with the input \"required only\": SIGSEGV", "SIGSEGV", "in the host it would end the program"),
    "abort_in_call": ("error", "calls", "AF-CHECK-010", f"{TOOL} crashed in call() with the input \"required only\": SIGABRT", "SIGABRT", "Run this call in a debugger"),
    "hang_in_call": ("error", "calls", "AF-CHECK-011", f"{TOOL} hung in call() with the input \"required only\": it did not return within 400 ms and was killed", "no return within 400 ms", "use the host's services to wait"),
    "exit_in_call": ("error", "calls", "AF-CHECK-012", f"{TOOL} ended the whole process in call() with the input \"required only\": exit code 3", "exit code 3", "exit() in a plugin ends the host"),
    "huge_output": ("warning", "calls", "AF-CHECK-016", f"{TOOL} gave an output of 9437184 bytes in call()", "9437184 bytes", "Cut it"),
    "invalid_utf8_output": ("warning", "calls", "AF-CHECK-016", f"{TOOL} gave an output that is not valid UTF-8 in call()", "\ufffd", "Return UTF-8"),
    "fails_without_error": ("warning", "calls", "AF-CHECK-016", f"{TOOL} failed without an error in call()", "no error", "Say why"),
    "own_memory": ("error", "calls", "AF-CHECK-016", f"{TOOL} returned a JSON value with its own memory resource in call()", "a monotonic or static resource", "<agentforge/json.hpp>"),
    "undeclared_effect": ("error", "calls", "AF-TOOL-005", "Tool 'faulty' tried to create a file and does not declare that it writes.", None, "Add the effect to the tool's spec"),
    "context_from_thread": ("error", "calls", "AF-CHECK-015", f"{TOOL} broke the rules of its context: progress was called from a thread that does not run the plugin's call", "progress was called from a thread", "only on the thread of the call"),
    "no_verdict": ("error", "calls", "AF-CHECK-016", f"The stage `faulty` of plugin `{ID}` returned without a verdict in execute()", "pending", "Return StageResult::completed"),
    "throw_in_destroy": ("error", "destroy", "AF-CHECK-013", f"{TOOL} threw in destroy() with the input \"after all calls\": no exception may leave", "an exception", "Catch it in the plugin"),
    "throw_in_destructor": ("error", "destroy", "AF-CHECK-010", f"{TOOL} crashed in destroy() with the input \"after all calls\": SIGABRT", "SIGABRT", "Run this call in a debugger"),
    "crash_in_destroy": ("error", "destroy", "AF-CHECK-010", f"{TOOL} crashed in destroy() with the input \"after all calls\": SIGBUS", "SIGBUS", "Run this call in a debugger"),
    "stdout_in_call": ("error", "output", "AF-CHECK-014", f"{TOOL} wrote 22 bytes to standard output in call() with the input \"required only\"", "hello from the plugin", "standard output is the program's answer"),
    "stderr_in_call": ("warning", "output", "AF-CHECK-021", f"{THE_PLUGIN} wrote to standard error: hello from the plugin", "hello from the plugin", "Use the context's log()"),
}


def run(*words, timeout="0.4"):
    return subprocess.run([PROGRAM, "plugins", "check", "--timeout", timeout, *map(str, words)], capture_output=True, text=True, timeout=120)


def check(file, **options):
    done = run(file, "--json", **options)
    return done.returncode, json.loads(done.stdout)


def faults(report):
    return [one for one in report["findings"] if one["status"] in ("error", "warning")]


class PluginsCheckFaultyPlugins(unittest.TestCase):
    """One test a row of FAULTS, made below: what is told first about the plugin is its fault."""

    maxDiff = None

    def judge(self, fault):
        status, step, code, message, found, remedy = FAULTS[fault]
        # A child that starts slowly on a busy machine must not look hung: the limit counts only where a hang is the fault.
        returncode, report = check(PLUGINS / fault / (fault + ".so"), timeout="0.4" if "hang" in fault else "10")
        told = [one for one in faults(report) if one["code"] == code]
        self.assertTrue(told, json.dumps(faults(report), indent=1))
        one = told[0]
        self.assertEqual((one["status"], one["step"]), (status, step))
        self.assertIn(message, one["message"])
        if found is not None:
            self.assertIn(found, one["found"])
            self.assertTrue(one["expected"])
        self.assertIn(remedy, one["remedy"])
        if code != "AF-TOOL-005":
            self.assertEqual(one["where"], str(PLUGINS / fault / (fault + ".so")))
        self.assertEqual(returncode, 1 if status == "error" else 0)
        self.assertEqual(report["passed"], status != "error")


    def test_a_slow_load_is_told_with_its_time(self):
        """The plugin waits for 250 ms; a busy machine adds to them."""
        _, report = check(PLUGINS / "slow_load" / "slow_load.so", timeout="10")
        [slow] = [one for one in faults(report) if one["code"] == "AF-CHECK-006"]
        milliseconds = int(slow["found"].removesuffix(" ms"))
        self.assertGreaterEqual(milliseconds, 250)
        self.assertIn(f" takes {milliseconds} ms to load", slow["message"])


for name in FAULTS:
    setattr(PluginsCheckFaultyPlugins, "test_" + name, lambda self, name=name: self.judge(name))


class PluginsCheckFaultyFiles(unittest.TestCase):
    """Faults of the files around a plugin without one."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name) / "good"
        shutil.copytree(PLUGINS / "good", self.folder)
        self.library = self.folder / "good.so"
        self.manifest = self.folder / "plugin.json"

    def change(self, **fields):
        manifest = json.loads(self.manifest.read_text())
        manifest.update(fields)
        self.manifest.write_text(json.dumps(manifest))

    def first(self, file=None):
        returncode, report = check(file or self.library, timeout="10")
        told = faults(report)
        self.assertEqual((returncode, report["passed"]), (1, False), report)
        return told[0]

    def assertTold(self, one, step, code, message, where, remedy):
        self.assertEqual((one["step"], one["code"]), (step, code))
        self.assertIn(message, one["message"])
        self.assertIn(str(where), one["where"])
        self.assertIn(remedy, one["remedy"])

    def test_missing_file(self):
        one = self.first(self.folder / "none.so")
        self.assertTold(one, "file", "AF-CHECK-002", f"There is no file {self.folder}/none.so", self.folder / "none.so", "Name a plugin's library")
        self.assertEqual((one["found"], one["expected"]), ("nothing", "a .so, a plugin.json or their folder"))

    def test_truncated_file(self):
        os.truncate(self.library, 9000)
        one = self.first()
        self.assertTold(one, "elf", "AF-PLUG-011", "it is truncated at 9000 bytes", self.library, "Build or install the plugin again.")
        self.assertEqual((one["found"], one["expected"]), ("it is truncated at 9000 bytes", "a complete shared library (ELF) for this machine"))

    def test_file_cut_anywhere_is_told_and_never_crashes(self):
        whole = self.library.read_bytes()
        for size in [0, 1, 20, 63, 64, 100, 4096, len(whole) // 2, len(whole) - 64, len(whole) - 1]:
            with self.subTest(size):
                self.library.write_bytes(whole[:size])
                self.assertIn(self.first()["code"], ("AF-PLUG-011",))

    def test_damaged_file_is_told_and_never_crashes_the_host(self):
        # Not every damage is an error (a byte of a debug section says nothing); what counts is a verdict, whatever was hit.
        whole = self.library.read_bytes()
        for at in range(0, len(whole), len(whole) // 60):
            with self.subTest(at):
                self.library.write_bytes(whole[:at] + bytes(b ^ 0xFF for b in whole[at:at + 8]) + whole[at + 8:])
                returncode, report = check(self.library, timeout="2")
                self.assertEqual(returncode, 0 if report["passed"] else 1)

    def test_file_that_is_not_elf(self):
        self.library.write_text("#!/bin/sh\necho I am not a library, and I am longer than an ELF header is\n")
        one = self.first()
        self.assertTold(one, "elf", "AF-PLUG-011", "it is not a shared library (no ELF header)", self.library, "Build or install the plugin again.")

    def test_program_in_place_of_a_library(self):
        shutil.copy("/proc/self/exe", self.library)
        self.assertIn(self.first()["step"], ("elf", "symbols"))

    def test_missing_manifest(self):
        self.manifest.unlink()
        one = self.first()
        self.assertTold(one, "manifest", "AF-PLUG-001", f"there is no plugin.json in {self.folder}", self.manifest, "Put a plugin.json beside the library")
        self.assertEqual((one["found"], one["expected"]), ("nothing", "plugin.json beside the library"))

    def test_manifest_that_is_not_json(self):
        self.manifest.write_text("{\n  \"id\": ,\n}")
        self.assertTold(self.first(), "manifest", "AF-PLUG-002", "The plugin manifest is not JSON", f"{self.manifest}:2", "Correct the file.")

    def test_manifest_that_lies_about_the_id(self):
        self.change(id="org.example.another")
        self.assertTold(self.first(), "descriptor", "AF-PLUG-014", f"differ in the id: the library says `{ID}`, the manifest `org.example.another`", self.library, "plugin.json agree")

    def test_manifest_that_lies_about_the_version(self):
        self.change(version="2.0.0")
        self.assertTold(self.first(), "descriptor", "AF-PLUG-014", "differ in the version: the library says `1.0.0`, the manifest `2.0.0`", self.library, "plugin.json agree")

    def test_manifest_that_lies_about_the_licence(self):
        self.change(licence="MIT")
        self.assertTold(self.first(), "descriptor", "AF-PLUG-014", "differ in the licence: the library says `Apache-2.0`, the manifest `MIT`", self.library, "plugin.json agree")

    def test_manifest_that_lies_about_the_name(self):
        self.change(provides=[{"kind": "tool", "name": "another"}])
        self.assertTold(self.first(), "descriptor", "AF-PLUG-014", "differ in what is provided: the library says it provides tool `faulty`, the manifest does not", self.library, "plugin.json agree")

    def test_manifest_that_lies_about_the_kind(self):
        self.change(provides=[{"kind": "stage", "name": "faulty"}])
        self.assertTold(self.first(), "descriptor", "AF-PLUG-014", "differ in what is provided: the library says it provides tool `faulty`, the manifest does not", self.library, "plugin.json agree")

    def test_manifest_for_another_library(self):
        shutil.copy(self.library, self.folder / "other.so")
        one = self.first(self.folder / "other.so")
        self.assertTold(one, "manifest", "AF-CHECK-003", "The plugin.json beside other.so names another library, good.so", self.manifest, "Correct `library` in plugin.json")
        self.assertEqual((one["found"], one["expected"]), ("good.so", "other.so"))

    def test_library_that_the_manifest_names_is_missing(self):
        self.library.unlink()
        self.assertTold(self.first(self.folder), "elf", "AF-PLUG-011", "good.so does not exist", self.library, "Put the library that plugin.json names next to it")

    def test_settings_schema_that_is_none(self):
        self.change(config_schema={"type": "object", "properties": {"a": {"type": "strnig"}}})
        one = self.first()
        self.assertEqual((one["step"], one["code"]), ("config_schema", "AF-PLUG-051"))
        self.assertIn("config_schema.properties.a.type must name a JSON type, found \"strnig\"", one["message"])

    def test_settings_that_the_plugin_does_not_take_are_refused_by_it(self):
        self.change(config_schema={"type": "object", "properties": {"a": {"type": "string"}}})
        self.assertEqual(check(self.library, timeout="10")[0], 0)

    def test_other_build_is_told_before_it_is_loaded(self):
        shutil.copy(OTHER_BUILD, self.library)
        one = self.first()
        self.assertTold(one, "fingerprint", "AF-PLUG-012", f"The plugin `{ID}` was built for AGENTFORGE_0_other, but this host is AGENTFORGE_1_", self.library, "Rebuild the plugin")
        self.assertEqual(one["found"], "AGENTFORGE_0_other")
        self.assertEqual(one["expected"], check(PLUGINS / "good")[1]["host"])


class PluginsCheckCommand(unittest.TestCase):
    def test_good_plugin_passes_every_step(self):
        returncode, report = check(PLUGINS / "good", timeout="10")
        self.assertEqual(faults(report), [])
        self.assertEqual((returncode, report["passed"], report["errors"], report["warnings"]), (0, True, 0, 0))
        steps = [one["step"] for one in report["findings"] if one["status"] == "pass"]
        self.assertEqual(steps, ["file", "elf", "manifest", "symbols", "undefined", "fingerprint", "load", "descriptor", "config_schema", "create", "describe", "calls", "destroy", "output"])

    def test_library_manifest_and_folder_name_the_same_plugin(self):
        reports = [check(PLUGINS / "good" / part, timeout="10")[1] for part in ("", "plugin.json", "good.so")]
        self.assertEqual({(one["file"], one["manifest"], one["id"]) for one in reports}, {(str(PLUGINS / "good/good.so"), str(PLUGINS / "good/plugin.json"), ID)})

    def test_document_has_its_fields(self):
        report = check(PLUGINS / "good", timeout="10")[1]
        self.assertEqual(set(report), {"format", "file", "manifest", "id", "version", "host", "sdk", "passed", "errors", "warnings", "load_us", "calls", "network_closed", "findings"})
        self.assertEqual(report["format"], 1)

    def test_text_tells_fault_place_found_expected_and_what_to_do(self):
        done = run(PLUGINS / "symbol_is_data" / "symbol_is_data.so")
        self.assertEqual(done.returncode, 1)
        for words in ("error    symbols        AF-PLUG-013: ", "where:    " + str(PLUGINS / "symbol_is_data/symbol_is_data.so"), "found:    data", "expected: a function", "to do:    Put", "failed: 1 error, 0 warnings"):
            self.assertIn(words, done.stdout)

    def test_one_fault_does_not_hide_another(self):
        # It crashes for two inputs; both are told, and the other calls were made.
        report = check(PLUGINS / "crash_in_call" / "crash_in_call.so", timeout="10")[1]
        self.assertEqual([(one["input"], one.get("other_inputs")) for one in faults(report)], [("required only", ["empty"])])
        self.assertGreater(report["calls"], 15)

    def test_plugin_that_crashes_everywhere_ends_the_check(self):
        done = run(PLUGINS / "crash_at_load", timeout="10")
        self.assertEqual(done.returncode, 1)

    def test_shipped_plugins_pass(self):
        shipped = sorted(path.parent for path in (PLUGINS.parent.parent / "plugins").glob("*/*/plugin.json"))
        self.assertGreater(len(shipped), 20)
        for plugin in shipped:
            with self.subTest(plugin.name):
                returncode, report = check(plugin, timeout="10")
                self.assertEqual([one for one in faults(report) if one["status"] == "error"], [])
                self.assertEqual(returncode, 0)

    def test_wrong_timeout_is_a_usage_error(self):
        self.assertEqual(run(PLUGINS / "good", timeout="0").returncode, 2)

    def test_missing_file_name_is_a_usage_error(self):
        self.assertEqual(run().returncode, 2)

    def test_child_command_is_not_offered(self):
        self.assertNotIn("check-child", subprocess.run([PROGRAM, "plugins", "--help"], capture_output=True, text=True, check=True).stdout)

    def test_child_command_alone_does_nothing(self):
        done = subprocess.run([PROGRAM, "plugins", "check-child"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        self.assertEqual((done.returncode, done.stdout), (2, ""))


if __name__ == "__main__":
    PLUGINS = pathlib.Path(sys.argv[1])
    OTHER_BUILD = pathlib.Path(sys.argv[2])
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
