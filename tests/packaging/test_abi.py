# SPDX-License-Identifier: Apache-2.0
"""scripts/abi-dump: the description of the SDK is of these headers, and a change of a copy of them is found.

usage: test_abi.py <compiler>
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "abi-dump"
COMPILER = "g++"

CURRENT = int(re.search(r"AGENTFORGE_ABI_VERSION (\d+)\n", (ROOT / "sdk" / "include" / "agentforge" / "abi.hpp").read_text()).group(1))
VERSION = ("abi.hpp", f"#define AGENTFORGE_ABI_VERSION {CURRENT}\n", f"#define AGENTFORGE_ABI_VERSION {CURRENT + 1}\n")
MORE_MEMBERS = ("tool.hpp", "json::object data;                  ///<", "json::object data; std::string more;    ///<")
NEW_TYPE = ("tool.hpp", "struct ToolCallInfo {", "struct ToolNote {\n    std::string text;\n};\n\nstruct ToolCallInfo {")

# What is done to a copy of the headers: file, found text, what it becomes; and a word that the report must hold.
BREAKING = {
    "a virtual function is added": ([("tool.hpp", "virtual ToolSpec spec() const = 0;", "virtual ToolSpec spec() const = 0;\n    virtual int cost() { return 0; }")], "Tool::cost"),
    "a virtual function takes another argument": ([("host.hpp", "virtual void progress(std::string_view text) = 0;", "virtual void progress(const std::string& text) = 0;")], "CallContext"),
    "virtual functions change places": ([("stage.hpp", "[[nodiscard]] virtual StageInfo info() const = 0;", ""),
                                         ("stage.hpp", "virtual void finalize(", "[[nodiscard]] virtual StageInfo info() const = 0;\n    virtual void finalize(")], "Stage::info"),
    "a member is added": ([MORE_MEMBERS], "std::string more"),
    "members of one size change places": ([("llm_backend.hpp", "std::string stage;\n    std::string role;", "std::string role;\n    std::string stage;")], "offset changed"),
    "an enum is reordered": ([("stage.hpp", "pending = 1, running, completed", "pending = 1, completed, running")], "StageStatus"),
    "a value is added to an enum": ([("llm_backend.hpp", "refused, other };", "refused, other, paused };")], "StopReason::paused"),
    "an interface struct changes": ([("plugin.hpp", "const char* version;\n", "const char* author;\n    const char* version;\n")], "const char* author"),
    "the inside of a template changes": ([("result.hpp", "std::variant<T, Error> state_;", "std::variant<T, Error> state_; int more_ = 0;")], "Result<"),
}
HARMLESS = {
    "nothing": [],
    "a function that is not virtual": [("tool.hpp", "static ToolResult failed(Error error);", "static ToolResult failed(Error error);\n    bool refused() const { return error.has_value(); }")],
    "a default value": [("host.hpp", "std::size_t limit = 1000;", "std::size_t limit = 2000;")],
}


def changed_copy(folder, changes):
    """A folder of headers and dumps, with `changes` made to the headers."""
    include = folder / "include"
    shutil.copytree(ROOT / "sdk" / "include", include)
    (folder / "dumps").mkdir()
    for dump in (ROOT / "sdk" / "abi").glob("*.abi"):
        shutil.copy(dump, folder / "dumps")
    for name, found, becomes in changes:
        file = include / "agentforge" / name
        text = file.read_text(encoding="utf-8")
        assert found in text, f"{found!r} is not in {name}: this test changes nothing"
        file.write_text(text.replace(found, becomes, 1), encoding="utf-8")


def abi_dump(folder, *options):
    return subprocess.run([SCRIPT, "--include", folder / "include", "--dumps", folder / "dumps", "--compiler", COMPILER, *options],
                          capture_output=True, text=True, check=False, timeout=120)


def checked(changes):
    with tempfile.TemporaryDirectory() as name:
        changed_copy(pathlib.Path(name), changes)
        return abi_dump(pathlib.Path(name), "--check")


class Changes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cases = {**{name: changes for name, (changes, _) in BREAKING.items()}, **HARMLESS}
        with ThreadPoolExecutor(2) as pool:
            cls.answers = dict(zip(cases, pool.map(checked, cases.values())))

    def test_a_change_of_what_crosses_the_boundary_is_refused_and_named(self):
        for name, (_, word) in BREAKING.items():
            with self.subTest(name):
                answer = self.answers[name]
                self.assertEqual(1, answer.returncode, answer.stdout)
                self.assertIn(word, answer.stdout)
                self.assertIn(f"AGENTFORGE_ABI_VERSION is still {CURRENT}", answer.stderr)

    def test_a_change_that_does_not_reach_a_built_plugin_is_allowed(self):
        for name in HARMLESS:
            with self.subTest(name):
                self.assertEqual(0, self.answers[name].returncode, self.answers[name].stdout + self.answers[name].stderr)


class Writing(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def dump(self, version):
        return self.folder / "dumps" / f"agentforge-{version}.abi"

    def test_what_changed_is_not_written_under_the_same_version(self):
        changed_copy(self.folder, [MORE_MEMBERS])
        before = self.dump(CURRENT).read_text()
        self.assertEqual(1, abi_dump(self.folder).returncode)
        self.assertEqual(before, self.dump(CURRENT).read_text())

    def test_what_was_only_added_is_missed_and_then_written_under_the_same_version(self):
        changed_copy(self.folder, [NEW_TYPE])
        missed = abi_dump(self.folder, "--check")
        self.assertEqual(1, missed.returncode)
        self.assertIn("lacks what was added: run scripts/abi-dump", missed.stderr)
        self.assertEqual(0, abi_dump(self.folder).returncode)
        self.assertIn("ToolNote", self.dump(CURRENT).read_text())

    def test_a_raised_version_wants_its_own_description(self):
        changed_copy(self.folder, [VERSION, MORE_MEMBERS])
        missed = abi_dump(self.folder, "--check")
        self.assertEqual(1, missed.returncode)
        self.assertIn(f"there is no agentforge-{CURRENT + 1}.abi", missed.stderr)
        before = self.dump(CURRENT).read_text()
        self.assertEqual(0, abi_dump(self.folder).returncode)
        self.assertIn("more", self.dump(CURRENT + 1).read_text())
        self.assertEqual(before, self.dump(CURRENT).read_text())

    def test_the_description_names_no_place_of_this_machine(self):
        text = "".join(dump.read_text() for dump in (ROOT / "sdk" / "abi").glob("*.abi"))
        self.assertNotIn(str(ROOT), text)
        self.assertNotIn("/usr/", text)
        self.assertNotIn("/tmp/", text)


if __name__ == "__main__":
    COMPILER = sys.argv.pop(1)
    unittest.main()
