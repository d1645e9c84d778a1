# SPDX-License-Identifier: Apache-2.0
"""`agentforge check`, which calls no model, and `agentforge fix`, which fixes one violation."""

import json
import re
import shutil

import yaml

from harness import SOURCE, ProgramTest, call, main

STORE = '''"""Counts of words in a database."""


def total(cursor, word):
    """Return how often a word was counted."""
    cursor.execute(f"SELECT count FROM words WHERE word = '{word}'")
    return cursor.fetchone()[0]
'''
FIXED = '''"""Counts of words in a database."""


def total(cursor, word):
    """Return how often a word was counted."""
    cursor.execute("SELECT count FROM words WHERE word = ?", (word,))
    return cursor.fetchone()[0]
'''
TEST = '''import sqlite3
import unittest

from textkit.store import total


class TotalTest(unittest.TestCase):
    def test_total_is_what_was_counted(self):
        database = sqlite3.connect(":memory:")
        database.execute("CREATE TABLE words (word TEXT, count INTEGER)")
        database.execute("INSERT INTO words VALUES ('a', 3)")
        self.assertEqual(total(database.cursor(), "a"), 3)
        database.close()
'''
OWN_FOLDERS = ("kernel", "plugins", "sdk")
ID = re.compile(r"^V-[0-9a-f]{12}$")


class CheckTest(ProgramTest):
    def make_project(self):
        """Makes a repository of textkit with one committed violation that blocks."""
        self.make_repository()
        self.write("textkit/store.py", STORE)
        self.write("tests/test_store.py", TEST)
        self.commit("Add a store")

    def write(self, name, text):
        file = self.repository / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def commit(self, message):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def check(self, *arguments, code):
        """Returns the output of `check --json`."""
        return self.assert_code(self.run_program("check", "--json", *arguments), code).json

    @staticmethod
    def new(told, check=None):
        return [each for each in told["violations"] if each["new"] and check in (None, each["check"])]

    def violation(self):
        return self.new(self.check(code=1), "sql-injection")[0]


class TestCheck(CheckTest):
    def test_a_blocking_violation_exits_with_1_and_has_a_record_and_an_id(self):
        self.make_project()
        before = self.checkout()
        outcome = self.assert_code(self.run_program("check"), 1)
        self.assertIn("textkit/store.py:6: The SQL statement is built from values. (sql-injection, major) V-", outcome.out)
        self.assertEqual(self.checkout(), before)
        violation = self.violation()
        self.assertRegex(violation["id"], ID)
        record = yaml.safe_load((self.repository / ".agentforge" / "violations" / f"{violation['id']}.yaml").read_text())
        self.assertEqual((record["check"], record["file"], record["line"]), ("sql-injection", "textkit/store.py", 6))
        self.assertFalse(self.tasks())

    def test_minor_violations_exit_with_0_and_with_strict_with_1(self):
        self.make_repository()
        self.write("textkit/loud.py", '"""Loud."""\nprint("a")\n')
        told = self.check(code=0)
        self.assertEqual([each["check"] for each in self.new(told) if each["file"] == "textkit/loud.py"], ["no-print-statements"])
        self.check("--strict", "textkit/loud.py", code=1)
        self.check("--strict", "textkit/words.py", code=0)

    def test_an_id_survives_moved_lines_and_a_fixed_violation_loses_its_record(self):
        self.make_project()
        first = self.violation()
        self.write("textkit/store.py", STORE.replace("\n\n\n", "\n\nimport os  # noqa\n\n\n"))
        moved = self.violation()
        self.assertEqual(moved["id"], first["id"])
        self.assertNotEqual(moved["line"], first["line"])
        self.write("textkit/store.py", FIXED)
        self.check(code=0)
        self.assertFalse((self.repository / ".agentforge" / "violations" / f"{first['id']}.yaml").exists())

    def test_only_violations_missing_from_the_baseline_fail(self):
        self.make_project()
        outcome = self.assert_code(self.run_program("check", "--update-baseline"), 0)
        self.assertIn("conformance_baseline.yaml", outcome.out)
        baseline = (self.repository / ".agentforge" / "conformance_baseline.yaml").read_text()
        self.assertNotIn("SELECT", baseline)
        self.assertIn(".agentforge/conformance_baseline.yaml", self.git("status", "--short", "--untracked-files=all"), "it is to be committed")
        self.assertEqual(self.new(self.check(code=0)), [])
        # Another checkout has only the baseline.
        for record in (self.repository / ".agentforge" / "violations").iterdir():
            record.unlink()
        self.write("textkit/store.py", "\n\n" + STORE)
        self.assertEqual(self.new(self.check(code=0)), [])
        self.write("textkit/store.py", STORE + "\n\n" + STORE.split("\n\n\n", 1)[1].replace("total", "again").replace("word =", "other ="))
        self.assertEqual([each["line"] for each in self.new(self.check(code=1), "sql-injection")], [12])

    def test_a_duplicate_at_the_end_of_the_file_is_the_new_one(self):
        self.make_project()
        loop = 'for word in ("a", "b"):\n    print(word)\n'
        self.write("textkit/loud.py", '"""Loud."""\n' + loop)
        self.assert_code(self.run_program("check", "--update-baseline"), 0)
        self.write("textkit/loud.py", '"""Loud."""\n' + loop + loop)
        told = self.check("textkit/loud.py", code=0)
        self.assertEqual([each["line"] for each in self.new(told, "no-print-statements")], [5])

    def test_a_broken_baseline_is_rewritten_as_its_error_says(self):
        self.make_project()
        self.assert_code(self.run_program("check", "--update-baseline"), 0)
        baseline = self.repository / ".agentforge" / "conformance_baseline.yaml"
        baseline.write_text(baseline.read_text(encoding="utf-8") + "bogus: 1\n", encoding="utf-8")
        self.assert_error(self.run_program("check"), "AF-GATE-170", "agentforge check --update-baseline")
        self.assert_code(self.run_program("check", "--update-baseline"), 0)
        self.assertEqual(self.new(self.check(code=0)), [])

    def test_a_baseline_is_rewritten_for_some_paths_and_kept_for_the_rest(self):
        self.make_project()
        self.write("textkit/more.py", STORE)
        self.assert_code(self.run_program("check", "--update-baseline"), 0)
        self.write("textkit/more.py", FIXED)
        self.assert_code(self.run_program("check", "--update-baseline", "textkit/more.py"), 0)
        files = {each["file"] for each in yaml.safe_load((self.repository / ".agentforge" / "conformance_baseline.yaml").read_text())["violations"]}
        self.assertIn("textkit/store.py", files)
        self.assertNotIn("textkit/more.py", files)

    def test_a_baseline_forgets_a_removed_file(self):
        self.make_project()
        self.write("textkit/more.py", STORE)
        self.assert_code(self.run_program("check", "--update-baseline"), 0)
        (self.repository / "textkit/more.py").unlink()
        self.assert_code(self.run_program("check", "--update-baseline", "textkit/more.py"), 0)
        files = {each["file"] for each in yaml.safe_load((self.repository / ".agentforge" / "conformance_baseline.yaml").read_text())["violations"]}
        self.assertEqual(files, {"textkit/store.py"})
        self.assert_error(self.run_program("check", "--update-baseline", "textkit/more.py"), "AF-CLI-142", "no file or folder")

    def test_changed_checks_only_files_changed_by_branch_and_checkout(self):
        self.make_project()
        self.assertEqual(self.check("--changed", code=0)["violations"], [])
        self.git("switch", "-q", "-c", "work")
        self.write("textkit/more.py", STORE)
        self.commit("Add more")
        self.write("textkit/store.py", STORE + "\n\nCOUNT = 1\n")
        told = self.check("--changed", code=1)
        self.assertEqual([each["file"] for each in self.new(told, "sql-injection")], ["textkit/more.py"])
        self.assertIn("textkit/store.py", [each["file"] for each in told["violations"]])
        self.assertTrue(told["compared_with"].startswith("main, "))
        self.assertEqual(self.new(self.check("--since", "HEAD", code=0)), [])
        self.assert_error(self.run_program("check", "--since", "nowhere"), "AF-GIT-068", "nowhere")

    def test_changed_treats_a_renamed_file_as_the_same(self):
        self.make_project()
        self.git("switch", "-q", "-c", "work")
        self.git("mv", "textkit/store.py", "textkit/shop.py")
        self.commit("Rename the store")
        self.assertEqual(self.new(self.check("--changed", code=0)), [])

    def test_no_code_of_the_repository_runs(self):
        self.make_project()
        trap = f"open({str(self.folder / 'ran')!r}, 'w')\n"
        self.write("conftest.py", trap)
        self.write("setup.py", trap)
        self.write("textkit/__init__.py", trap)
        self.check(code=1)
        self.assertFalse((self.folder / "ran").exists())

    def test_format_json_equals_json(self):
        self.make_project()
        told = self.check(code=1)
        self.assertEqual(self.assert_code(self.run_program("check", "--format", "json"), 1).json, told)
        self.assertTrue(self.new(told))

    def test_sarif_meets_version_2_1_0(self):
        self.make_project()
        log = json.loads(self.assert_code(self.run_program("check", "--format", "sarif"), 1).out)
        self.assertEqual(log["version"], "2.1.0")
        (run,) = log["runs"]
        driver = run["tool"]["driver"]
        self.assertEqual(driver["name"], "AgentForge")
        rules = [rule["id"] for rule in driver["rules"]]
        self.assertEqual(len(rules), len(set(rules)))
        self.assertTrue(run["results"])
        for result in run["results"]:
            self.assertTrue(result["message"]["text"])
            self.assertIn(result["level"], ("note", "warning", "error"))
            self.assertIn(result["baselineState"], ("new", "unchanged", "updated", "absent"))
            self.assertEqual(rules[result["ruleIndex"]], result["ruleId"])
            place = result["locations"][0]["physicalLocation"]
            self.assertTrue((self.repository / place["artifactLocation"]["uri"]).is_file())
            self.assertGreaterEqual(place["region"]["startLine"], 1)
            self.assertRegex(result["partialFingerprints"]["agentforgeViolation/v1"], ID)

    def test_a_source_that_cannot_be_measured_is_named_without_failing(self):
        self.make_repository()
        self.write("textkit/broken.py", "def broken(:\n")
        (self.repository / "textkit" / "packed.py").write_bytes(b"VALUE = 1\n\0")
        (self.repository / "logo.png").write_bytes(b"\x89PNG\0")
        broken, packed = self.check(code=0)["not_measured"]
        self.assertEqual((broken["file"], packed["file"]), ("textkit/broken.py", "textkit/packed.py"))
        self.assertRegex(broken["reason"], "^line 1: SyntaxError: ")
        for words in ((), ("--update-baseline",)):
            told = self.assert_code(self.run_program("check", *words), 0).out
            self.assertIn(f"not measured: textkit/broken.py ({broken['reason']})\nnot measured: textkit/packed.py (binary: it has a zero byte)\n", told)
        (run,) = json.loads(self.assert_code(self.run_program("check", "--format", "sarif"), 0).out)["runs"]
        (invocation,) = run["invocations"]
        told = [note["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for note in invocation["toolExecutionNotifications"]]
        self.assertEqual(told, ["textkit/broken.py", "textkit/packed.py"])
        self.assertEqual(self.check("textkit/words.py", code=0)["not_measured"], [])
        self.write("tools.rb", "puts 1\n")
        self.assertEqual([each["file"] for each in self.check("tools.rb", code=0)["not_measured"]], ["tools.rb"])

    def test_a_missing_path_is_refused(self):
        self.make_project()
        self.assert_error(self.run_program("check", "textkit/stroe.py"), "AF-CLI-142", "stroe.py")
        self.assert_error(self.run_program("check", "/etc"), "AF-CLI-142")

    def test_a_file_in_another_encoding_is_searched_too(self):
        self.make_project()
        (self.repository / "textkit" / "store.py").write_bytes(b"# -*- coding: latin-1 -*-\n# caf\xe9\n" + STORE.encode())
        self.assertEqual(self.new(self.check(code=1), "sql-injection")[0]["line"], 8)

    def test_two_formats_at_once_are_refused(self):
        self.make_project()
        refused = self.assert_code(self.run_program("check", "--json", "--format", "sarif"), 2)
        self.assertEqual(refused.json["error"]["code"], "AF-CLI-076")

    def test_a_path_that_git_ignores_is_refused(self):
        self.make_project()
        (self.repository / ".gitignore").write_text("generated/\n")
        (self.repository / "generated").mkdir()
        (self.repository / "generated" / "one.py").write_text("import os\n")
        for path in ("generated", "generated/one.py"):
            self.assert_error(self.run_program("check", path), "AF-GATE-172", path)
        self.assert_error(self.run_program("check", "textkit", "generated"), "AF-GATE-172", "generated")
        self.assertEqual(self.new(self.assert_code(self.run_program("check", "--json", "store.py", cwd=self.repository / "textkit"), 1).json)[0]["file"], "textkit/store.py")

    def test_an_invalid_baseline_is_refused_with_its_position(self):
        self.make_project()
        self.write(".agentforge/conformance_baseline.yaml", "agentforge_baseline: 1\nviolations:\n  - {id: V-1, check: a, file: b}\n")
        self.assert_error(self.run_program("check"), "AF-GATE-170", "conformance_baseline.yaml:3")


ANALYSIS = {"analysis": {"summary": "One query is put together from a value."}, "affected_files": ["textkit/store.py"], "dependencies": [], "risks": [],
            "components": [{"name": "store", "type": "module", "path": "textkit/store.py"}]}
HAND_IN = call("complete", summary="The value is a parameter of the query.", file_notes={"textkit/store.py": "the query"})


def edit(path, search, replace):
    return call("edit_file", path=path, search=search, replace=replace)



class TestCheckOfOwnCode(CheckTest):
    """AgentForge's own sources, checked by AgentForge."""

    def setUp(self):
        super().setUp()
        self.make_repository()
        for folder in OWN_FOLDERS:
            shutil.copytree(SOURCE / folder, self.repository / folder)
        self.commit("Take the sources in")

    def test_nothing_blocks_and_each_violation_names_an_existing_line(self):
        told = self.run_program("check", *OWN_FOLDERS, "--json").json
        self.assertEqual([each for each in told["violations"] if each["severity"] in ("blocking", "critical")], [])
        self.assertTrue(told["violations"])
        lines = {}
        for each in told["violations"]:
            count = lines.setdefault(each["file"], len((self.repository / each["file"]).read_text(encoding="utf-8").splitlines()))
            self.assertTrue(1 <= each["line"] <= count, each)

    def test_known_violations_stay_known_when_their_lines_move(self):
        self.assert_code(self.run_program("check", *OWN_FOLDERS, "--update-baseline"), 0)
        self.assert_code(self.run_program("check", *OWN_FOLDERS), 0)
        for file in sorted((self.repository / "kernel" / "task").glob("*.cpp")):
            file.write_text("// A line above all others.\n" + file.read_text(encoding="utf-8"), encoding="utf-8")
        self.assert_code(self.run_program("check", *OWN_FOLDERS), 0)


class TestFix(CheckTest):
    def fix(self, *steps, arguments=()):
        """Runs `fix` for the violation. `steps`: the actions of the developer."""
        self.make_project()
        violation = self.violation()
        entries = [{"stage": "analyze", "role": "software_architect", "step": 1, "tool_calls": call("complete", **ANALYSIS)}]
        entries += [{"stage": "green", "role": "software_developer", "step": number, "tool_calls": calls} for number, calls in enumerate(steps, 1)]
        file = self.folder / "transcript.yaml"
        file.write_text(yaml.safe_dump(json.loads(json.dumps({"agentforge_transcript": 1, "entries": entries})), sort_keys=False))
        return violation, self.run_program("fix", violation["id"], "--transcript", file, *arguments)

    def gates(self):
        return [record for record in self.records("gate") if record["gate"] == "fix"]

    QUERY = STORE.splitlines()[5].strip()
    MENDED = FIXED.splitlines()[5].strip()

    def test_ends_when_the_violation_is_gone_and_the_change_can_be_applied(self):
        violation, outcome = self.fix(edit("textkit/store.py", self.QUERY, self.MENDED), HAND_IN)
        self.assert_code(outcome, 0)
        self.assertEqual([record["stage"] for record in self.records("stage_completed")], ["analyze", "green"])
        self.assertEqual([gate["passed"] for gate in self.gates()], [True])
        self.assert_journal_verifies()
        artifact = yaml.safe_load((self.task_folder() / "artifacts" / "phases" / "green" / "violation_fix.yaml").read_text())
        self.assertIn("violation_gone: true", yaml.safe_dump(artifact))
        (self.folder / "patch").write_text(self.assert_code(self.run_program("diff", self.task()), 0).out)
        self.git("apply", self.folder / "patch")
        self.assertEqual((self.repository / "textkit" / "store.py").read_text(), FIXED)
        self.assertEqual([each for each in self.check(code=0)["violations"] if each["id"] == violation["id"]], [])
        self.assert_error(self.run_program("fix", violation["id"], "--dry-run"), "AF-GATE-171", violation["id"])

    def test_does_not_end_before_the_violation_is_fixed(self):
        _, outcome = self.fix(
            HAND_IN,                                                                                # Changes nothing.
            edit("textkit/store.py", "    " + self.QUERY, "    query = 1\n    " + self.QUERY), HAND_IN,            # Moves the violation.
            edit("textkit/store.py", "    query = 1\n    " + self.QUERY, "    print(word)\n    " + self.MENDED), HAND_IN,     # Replaces it by another, minor violation.
            edit("textkit/store.py", "    print(word)\n", ""), HAND_IN)
        self.assert_code(outcome, 0)
        self.assertEqual([gate["passed"] for gate in self.gates()], [False, False, False, True])
        told = [gate["summary"] for gate in self.gates()]
        self.assertIn("still there", told[0])
        self.assertIn("still there", told[1])
        self.assertIn("no-print-statements", told[2])

    def test_a_fix_that_breaks_a_test_is_refused(self):
        _, outcome = self.fix(edit("textkit/store.py", self.QUERY, self.MENDED.replace("count FROM", "word FROM")), HAND_IN,
                              edit("textkit/store.py", "word FROM", "count FROM"), HAND_IN)
        self.assert_code(outcome, 0)
        self.assertEqual([gate["passed"] for gate in self.gates()], [False, True])
        self.assertIn("test_total_is_what_was_counted", self.gates()[0]["summary"])

    def test_an_unfixable_violation_is_reported_before_a_task_exists(self):
        self.make_project()
        violation = self.violation()
        arguments = ("--set", "llm.backend=replay", "--set", f"llm.transcript={self.folder / 'none.yaml'}")
        (self.folder / "none.yaml").write_text("agentforge_transcript: 1\nentries: []\n")
        self.assert_error(self.run_program("fix", "V-000000000000", *arguments), "AF-GATE-171")
        self.write("textkit/new.py", STORE)
        self.write("tests/test_new.py", '"""A test."""\nTOKEN = "AKIA' + "A" * 16 + '"\n')
        told = self.new(self.check(code=1))
        uncommitted = next(each for each in told if each["file"] == "textkit/new.py" and each["check"] == "sql-injection")
        self.assert_error(self.run_program("fix", uncommitted["id"], *arguments), "AF-CLI-143", "--include-uncommitted")
        self.assert_code(self.run_program("fix", uncommitted["id"], "--include-uncommitted", "--dry-run", *arguments), 0)
        in_test = next(each for each in told if each["file"] == "tests/test_new.py" and each["check"] == "no-secrets-in-code")
        self.assert_error(self.run_program("fix", in_test["id"], "--include-uncommitted", *arguments), "AF-CLI-144")
        outcome = self.assert_code(self.run_program("fix", violation["id"], "--dry-run", *arguments), 0)
        self.assertIn(violation["id"], outcome.out)
        self.assertIn(f"({violation['check']}, {violation['severity']})", outcome.out)      # In the form that `check` prints.
        self.assert_error(self.run_program("start", "--pipeline", "fix", "Fix the store", *arguments), "AF-CLI-205", "agentforge fix VIOLATION")
        self.assertFalse(self.tasks())


if __name__ == "__main__":
    main()
