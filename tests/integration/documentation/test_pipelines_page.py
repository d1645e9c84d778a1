# SPDX-License-Identifier: Apache-2.0
"""docs/pipelines.md has a row for each goal, command and rule of the specification and each line of its command reference, and each test that a row names exists."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "pipelines.md").read_text(encoding="utf-8")
GOALS = ("design", "implement", "test", "review", "fix", "document")
COMMANDS = ("design REQUEST", "implement REQUEST", "test --spec FILE", "review PATH", "fix V-…", "start --pipeline", "start --through", "start --exit-after", "start --skip-to --spec", "implement --from-spec", "implement --from-task",
            "implement --from-spec --from-tests", "design --iterate", "design --iterate-at", "design --no-iterate", "continue", "continue --extend-to", "continue --revise", "feedback", "pipelines list", "pipelines show", "pipelines validate")
RULES = (2, 3, 4, 5, 6, 8, 11, 12)
REFERENCE = ("design", "implement", "test", "review", "fix", "start", "start --pipeline", "start --through", "start --exit-after", "start --iterate", "start --iterate-at", "start --no-iterate", "implement --from-spec", "implement --from-task",
             "implement --from-tests --from-spec", "status --all", "status --watch", "status TASK", "status TASK --phase", "status TASK --step", "resume", "abort", "continue", "continue --extend-to", "continue --revise", "feedback", "approve",
             "reject", "escalations list", "resolve", "inspect", "audit", "replay", "fork", "cost", "dashboard", "dashboard --port", "pipelines list", "pipelines show", "pipelines validate", "config show", "repo add")
ROWS = [f"goal {goal}" for goal in GOALS] + [f"command {command}" for command in COMMANDS] + [f"rule {rule}" for rule in RULES] + [f"reference {command}" for command in REFERENCE]


def rows():
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if re.match(r"\| (goal|command|rule|reference) [^|]", line)]


class PipelinesPage(unittest.TestCase):
    def test_each_row_of_the_specification_appears_once(self):
        self.assertEqual([row[0] for row in rows()], ROWS)

    def test_each_row_names_a_test_that_exists(self):
        unit = {f"{suite}.{name}" for file in (ROOT / "tests" / "unit").rglob("*.cpp") for suite, name in re.findall(r"^TEST(?:_F|_P)?\((\w+), (\w+)\)", file.read_text(encoding="utf-8"), re.M)}
        program = {f"{file.name}::{name}" for file in (ROOT / "tests" / "integration").rglob("test_*.py") for name in re.findall(r"^    def (test_\w+)", file.read_text(encoding="utf-8"), re.M)}
        self.assertEqual([row[0] for row in rows() if not re.findall(r"`([^`]+)`", row[2])], [])
        self.assertEqual([(row[0], test) for row in rows() for test in re.findall(r"`([^`]+)`", row[2]) if test not in unit | program], [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
