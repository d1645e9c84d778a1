# SPDX-License-Identifier: Apache-2.0
"""docs/loop.md has a row for each requirement of Task 012, and each test that a row names exists."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "loop.md").read_text(encoding="utf-8")
IDS = [f"FR-{number:03}" for number in range(1, 86)] + [f"NFR-{number:03}" for number in range(1, 20)] + [f"AC-{number:03}" for number in range(1, 72)]


def rows():
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if re.match(r"\| N?(FR|AC)-\d", line)]


class LoopPage(unittest.TestCase):
    def test_each_requirement_has_one_row(self):
        self.assertEqual([row[0] for row in rows()], IDS)

    def test_each_row_names_a_test_or_says_what_shows_it(self):
        self.assertEqual([row[0] for row in rows() if not row[2] and not row[3]], [])

    def test_each_test_that_a_row_names_exists(self):
        unit = {f"{suite}.{name}" for file in (ROOT / "tests" / "unit").rglob("*.cpp") for suite, name in re.findall(r"^TEST(?:_F|_P)?\((\w+), (\w+)\)", file.read_text(encoding="utf-8"), re.M)}
        program = {f"{file.name}::{name}" for file in (ROOT / "tests" / "integration").rglob("test_*.py") for name in re.findall(r"^    def (test_\w+)", file.read_text(encoding="utf-8"), re.M)}
        missing = [(row[0], test) for row in rows() for test in re.findall(r"`([^`]+)`", row[2]) if test not in unit | program]
        self.assertEqual(missing, [])

    def test_the_tests_that_task_012_names_exist(self):
        text = "\n".join(file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("*loop*") if file.suffix in (".cpp", ".py")).lower()
        named = ("Should_Execute_Stages_In_Order Should_Handle_Stage_Failure Should_Track_Current_Stage Should_Generate_Events Should_Call_OnEnter Should_Call_Execute Should_Call_OnExit Should_Handle_Lifecycle_Error "
                 "Should_Be_Atomic Should_Create_Checkpoint Should_Revert_On_Failure Should_Cycle_On_Verify_Fail Should_Cycle_On_Review_Reject Should_Enforce_Limit Should_Escalate_At_Limit Should_Provide_Full_To_Planner "
                 "Should_Provide_Focused_To_Executor Should_Respect_Token_Budget Should_Complete_Full_Pipeline Should_Resume_After_Crash Should_Handle_Mixed_Outcomes Should_Persist_Stage_Changes Should_Recover_State "
                 "Should_Escalate_Correctly Should_Pause_On_Unrecoverable Should_Plan_Execute_Verify_Review Should_Handle_Verification_Failure Should_Handle_Review_Rejection").split()
        self.assertEqual([name for name in named if name.lower() not in text], [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
