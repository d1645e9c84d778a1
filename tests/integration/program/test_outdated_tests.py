# SPDX-License-Identifier: Apache-2.0
"""A request that contradicts an existing test: a person approves the test's new lines once, in advance or when AgentForge shows them."""

import yaml

from harness import ProgramTest, call, main, short_transcript

REQUEST = "Round a half up in place of down"
CODE = '"""Money of a shop."""\n\n\ndef rounded(cents: int) -> int:\n    """Return whole euros; a half goes down."""\n    return (cents + 49) // 100\n'
TESTS = "\n".join([
    '"""Tests of money."""',
    "",
    "import unittest",
    "",
    "from money import rounded",
    "",
    "",
    "class TestRounded(unittest.TestCase):",
    "    def test_half(self) -> None:",
    "        self.assertEqual(rounded(150), 1)",
    "",
    "    def test_whole(self) -> None:",
    "        self.assertEqual(rounded(300), 3)",
    "",
])
NEW_TESTS = TESTS.replace("rounded(150), 1", "rounded(150), 2")
TEST = "tests/test_money.py::TestRounded::test_half"


class OutdatedTestsTest(ProgramTest):
    def setUp(self):
        super().setUp()
        path = self.make_repository()
        (path / "money.py").write_text(CODE, encoding="utf-8")
        (path / "tests" / "test_money.py").write_text(TESTS, encoding="utf-8")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "Add money")
        self.transcript = self.folder / "transcript.yaml"
        self.transcript.write_text(yaml.safe_dump(self.answers(), allow_unicode=True, sort_keys=False), encoding="utf-8")
        self.model = ["--set", "llm.backend=replay", "--set", f"llm.transcript={self.transcript}"]

    @staticmethod
    def answers():
        """Returns the demo's answers, with changes for this request."""
        transcript = short_transcript()
        kept = [each for each in transcript["entries"] if each["stage"] not in ("red", "green", "spec") or each["role"] == "security_architect"]
        spec = call("complete", title="Half up", description="A half euro goes up.",
                    requirements=[{"id": "REQ-001", "description": "A half goes up", "acceptance_criteria": ["150 cents are 2 euros"], "verification_method": "test"}],
                    components=[{"name": "money", "type": "module"}], files_to_modify=["money.py"],
                    outdated_tests=[{"test": TEST, "requirement_ref": "REQ-001", "reason": "It asserts 1 for 150"}])
        suite = call("complete", test_files=[{"path": "tests/test_money.py", "tests": [{"name": "TestRounded::test_half", "requirement_ref": "REQ-001"}]}])
        said = [("spec", "software_architect", spec),
                ("red", "test_engineer", call("delete_file", path="tests/test_money.py")),
                ("red", "test_engineer", call("create_file", path="tests/test_money.py", content=NEW_TESTS)),
                ("red", "test_engineer", suite),
                ("green", "software_developer", call("edit_file", path="money.py", search="goes down.\"\"\"\n    return (cents + 49)", replace="goes up.\"\"\"\n    return (cents + 50)")),
                ("green", "software_developer", call("complete", summary="A half goes up."))]
        steps = {}
        for stage, role, tool_calls in said:
            steps[stage] = steps.get(stage, 0) + 1
            kept.append({"stage": stage, "role": role, "step": steps[stage], "tool_calls": tool_calls})
        return {**transcript, "entries": kept}

    def start(self, *arguments):
        return self.run_program("start", *self.model, *arguments, REQUEST)

    def message(self):
        return self.git("log", "-1", "--format=%B", f"agentforge/{self.task()}")


class TestOutdatedTests(OutdatedTestsTest):
    def test_changed_lines_are_shown_approved_once_and_named_in_the_commit(self):
        waiting = self.assert_code(self.start(), 22)
        lines = "`self.assertEqual(rounded(150), 1)` is now `self.assertEqual(rounded(150), 2)`; the specification calls it outdated: REQ-001, It asserts 1 for 150; sha256 "
        self.assertIn("you approve: " + TEST + " existed before the task and is changed (line 10): " + lines, waiting.err)
        self.assertIn("you approve: " + TEST, self.assert_code(self.run_program("status", self.task()), 0).out)
        self.assert_code(self.run_program("approve", self.task()), 0)
        self.assertEqual(len(self.records("approval_requested")), 1)
        self.assertIn("- " + TEST + " existed before the task and is changed", self.message())
        self.assertEqual(self.git("show", f"agentforge/{self.task()}:tests/test_money.py"), NEW_TESTS)

    def test_a_rejected_change_to_a_test_is_not_delivered(self):
        self.assert_code(self.start(), 22)
        refused = self.run_program("reject", self.task())
        self.assertNotEqual(refused.code, 0)
        self.assertEqual(self.records("delivered"), [])
        self.assertEqual(self.branches(), ["refs/heads/main"])

    def test_a_test_named_beforehand_is_changed_without_asking(self):
        self.assert_code(self.start("--set", f"gates.outdated_tests=[{TEST}]"), 0)
        self.assertEqual(self.records("approval_requested"), [])
        self.assertIn("- " + TEST + " existed before the task and is changed", self.message())


FOLLOWING = [f"tests/test_money.py::TestRounded::{name}" for name in ("test_half", "test_whole")]
WITH_UNIT = TESTS.replace("rounded(150)", "rounded(150, 100)").replace("rounded(300)", "rounded(300, 100)") + "\n".join([
    "",
    "    def test_unit(self) -> None:",
    "        self.assertEqual(rounded(150, 50), 3)",
    "",
])


class TestTestsThatFollowASignature(OutdatedTestsTest):
    """A required parameter more: the old calls fail at once, and the new ones pass before the function does anything with it."""

    @staticmethod
    def answers():
        transcript = OutdatedTestsTest.answers()
        for each in transcript["entries"]:
            for tool in each.get("tool_calls", []):
                given = tool["arguments"]
                if "outdated_tests" in given:
                    given.update(title="Other units", description="The unit is a parameter.", interfaces=[
                        {"name": "rounded", "type": "api", "file": "money.py", "signature": "def rounded(cents: int, unit: int) -> int"}],
                        requirements=[{"id": "REQ-001", "description": "The caller gives the unit", "acceptance_criteria": ["150 cents are 3 coins of 50"], "verification_method": "test"}],
                        outdated_tests=[{"test": test, "requirement_ref": "REQ-001", "reason": "It calls rounded without a unit"} for test in FOLLOWING])
                elif given.get("content") == NEW_TESTS:
                    given["content"] = WITH_UNIT
                elif "test_files" in given:
                    given["test_files"][0]["tests"][0]["name"] = "TestRounded::test_unit"
                elif given.get("path") == "money.py":
                    given.update(search="    return (cents + 49) // 100", replace="    return (cents + (unit - 1) // 2) // unit")
        return transcript

    def test_they_pass_before_and_after_the_change(self):
        self.assert_code(self.start(), 22)
        self.assert_code(self.run_program("approve", self.task()), 0)
        for test in FOLLOWING:
            self.assertIn("- " + test + " existed before the task and is changed", self.message())
        self.assertEqual(self.git("show", f"agentforge/{self.task()}:tests/test_money.py"), WITH_UNIT)


if __name__ == "__main__":
    main()
