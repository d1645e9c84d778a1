# SPDX-License-Identifier: Apache-2.0
"""docs/loop.md has a row for each requirement of the pipeline `loop`, and each test that a row names exists."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "loop.md").read_text(encoding="utf-8")
IDS = [f"FR-{number:03}" for number in range(1, 86)] + [f"NFR-{number:03}" for number in range(1, 20)] + [f"AC-{number:03}" for number in range(1, 72)]


def rows():
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if re.match(r"\| N?(FR|AC)-\d", line)]


def texts(folder, pattern):
    return [(file, file.read_text(encoding="utf-8")) for file in sorted((ROOT / "tests" / folder).rglob(pattern))]


def unit_tests():
    """Returns the unit tests, each as SUITE.NAME."""
    return {f"{suite}.{name}" for _, text in texts("unit", "*.cpp") for suite, name in re.findall(r"^TEST(?:_F|_P)?\((\w+), (\w+)\)", text, re.M)}


def program_tests():
    """Returns the program tests, each as (file, class, name)."""
    found = set()
    for file, text in texts("integration", "test_*.py"):
        suite = ""
        for kind, name in re.findall(r"^(class |    def )(\w+)", text, re.M):
            if kind == "class ":
                suite = name
            elif name.startswith("test_"):
                found.add((file.name, suite, name))
    return found


class LoopPage(unittest.TestCase):
    def test_each_requirement_has_one_row(self):
        self.assertEqual([row[0] for row in rows()], IDS)

    def test_each_row_names_a_test_or_other_evidence(self):
        self.assertEqual([row[0] for row in rows() if not row[2] and not row[3]], [])

    def test_each_test_that_a_row_names_exists(self):
        unit, program = unit_tests(), {f"{file}::{name}" for file, _, name in program_tests()}
        missing = [(row[0], test) for row in rows() for test in re.findall(r"`([^`]+)`", row[2]) if test not in unit | program]
        self.assertEqual(missing, [])

    def test_the_tests_whose_names_are_prescribed_exist(self):
        """Looks for unit tests by their exact names, and for program tests by those names in Python's style."""
        exist = unit_tests() | {f"{suite}.{name}" for _, suite, name in program_tests()}
        unit = {"OrchestratorTests": "Should_Execute_Stages_In_Order Should_Handle_Stage_Failure Should_Track_Current_Stage Should_Generate_Events",
                "StageLifecycleTests": "Should_Call_OnEnter Should_Call_Execute Should_Call_OnExit Should_Handle_Lifecycle_Error",
                "TransitionTests": "Should_Be_Atomic Should_Create_Checkpoint Should_Revert_On_Failure",
                "CycleTests": "Should_Cycle_On_Verify_Fail Should_Cycle_On_Review_Reject Should_Enforce_Limit Should_Escalate_At_Limit",
                "ContextTests": "Should_Provide_Full_To_Planner Should_Provide_Focused_To_Executor Should_Respect_Token_Budget"}
        whole = {"PipelineIntegrationTests": "Should_Complete_Full_Pipeline Should_Resume_After_Crash Should_Handle_Mixed_Outcomes",
                 "StateIntegrationTests": "Should_Persist_Stage_Changes Should_Recover_State",
                 "ErrorIntegrationTests": "Should_Escalate_Correctly Should_Pause_On_Unrecoverable",
                 "FullWorkflowTests": "Should_Plan_Execute_Verify_Review Should_Handle_Verification_Failure Should_Handle_Review_Rejection"}
        named = [f"{suite}.{name}" for suite, names in unit.items() for name in names.split()]
        named += [f"{suite}.test_{name.lower()}" for suite, names in whole.items() for name in names.split()]
        self.assertEqual([name for name in named if name not in exist], [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
