# SPDX-License-Identifier: Apache-2.0
"""Repositories known by name: `--repo NAME` from anywhere, and `status --all` over all of them."""

import re
import unittest

import yaml

from harness import SOURCE, ProgramTest, short_transcript


class TwoRepositories(ProgramTest):
    """`first` has an ended task, `second` one that waits for approval."""

    def __init__(self):
        super().__init__()
        self.setUp()
        self.places = {name: self.make_repository(name) for name in ("first", "second")}
        for name, place in self.places.items():
            self.assert_code(self.run_program("repo", "add", place, "--name", f"{name}-service"), 0)
        self.ended = self.task_of("first", self.start(transcript=short_transcript(), cwd=self.places["first"]), 0)
        self.waiting = self.task_of("second", self.start("--approve", "intake", transcript=short_transcript(), cwd=self.places["second"]), 22)

    def task_of(self, name, outcome, code):
        self.assert_code(outcome, code)
        self.repository = self.places[name]
        return self.task()


class TestKnownRepositories(ProgramTest):
    """Runs commands outside both repositories. All tests share the repositories and do not change them."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.both = TwoRepositories()
        cls.addClassCleanup(cls.both.doCleanups)
        cls.places, cls.ended, cls.waiting = cls.both.places, cls.both.ended, cls.both.waiting

    def outside(self, *arguments):
        return self.both.run_program(*arguments, cwd=self.both.folder)

    def test_a_command_works_on_the_repository_of_that_name(self):
        self.assertIn(self.waiting[-8:], self.assert_code(self.outside("--repo", "second-service", "status"), 0).out)
        self.assert_code(self.outside("status", self.waiting, "--repo", "second-service"), 0)

    def test_figures_use_the_name_from_the_list(self):
        told = self.assert_code(self.outside("--repo", "second-service", "status", self.waiting, "--json"), 0).json
        self.assertEqual(told["figures"]["repo"], "second-service")

    def test_an_unknown_name_is_an_error_that_names_the_nearest(self):
        self.assert_error(self.outside("status", "--repo", "secnd-service"), "AF-CONF-073", "did you mean `second-service`?")

    def test_a_repository_whose_folder_is_gone_is_named(self):
        aside = self.places["first"].with_name("moved")
        self.places["first"].rename(aside)
        self.addCleanup(aside.rename, self.places["first"])
        outcome = self.outside("--repo", "first-service", "status")
        self.assert_error(outcome, "AF-CONF-075", "agentforge repo remove first-service")
        self.assertNotIn("git init", outcome.all)

    def test_a_name_and_a_folder_together_are_refused(self):
        self.assert_error(self.outside("-C", self.places["first"], "--repo", "second-service", "status"), "AF-CLI-001", exit_code=2)

    def test_status_of_all_lists_the_open_tasks_of_each(self):
        outcome = self.assert_code(self.outside("status", "--all"), 0)
        self.assertIn("AGENTFORGE STATUS  second-service", outcome.out)
        self.assertIn(f"agentforge --repo second-service approve {self.waiting[-8:]}\n", outcome.out)     # The suggested command works in this folder.
        self.assertIn(self.waiting[-8:], outcome.out)
        self.assertNotIn(self.ended[-8:], outcome.out)
        self.assertIn("1 repository has no open task; --ended lists ended tasks, too", outcome.out)

    def test_status_of_all_lists_ended_tasks_on_request(self):
        outcome = self.assert_code(self.outside("status", "--all", "--ended"), 0)
        self.assertIn(self.ended[-8:], outcome.out)
        self.assertIn(self.waiting[-8:], outcome.out)

    def test_status_of_all_as_json_has_a_part_for_each_repository(self):
        told = self.assert_code(self.outside("status", "--all", "--json"), 0).json["repositories"]
        self.assertEqual([(each["name"], each["path"], each["total"]) for each in told],
                         [("first-service", str(self.places["first"]), 0), ("second-service", str(self.places["second"]), 1)])
        self.assertEqual([task["task_id"] for task in told[1]["tasks"]], [self.waiting])

    def test_status_of_all_shows_the_others_if_a_repository_is_missing(self):
        aside = self.places["first"].with_name("moved")
        self.places["first"].rename(aside)
        self.addCleanup(aside.rename, self.places["first"])
        outcome = self.outside("status", "--all")
        self.assert_error(outcome, "AF-DASH-011", "first-service")
        self.assertIn(self.waiting[-8:], outcome.out)

    def test_status_of_all_without_repositories_says_how_to_add_one(self):
        empty = self.folder / "empty"
        empty.mkdir()
        self.assert_error(self.run_program("status", "--all", cwd=empty), "AF-CLI-203", "There is no git repository here, and your list of repositories is empty", "agentforge repo add FOLDER")

    def test_ended_alone_lists_the_ended_tasks_of_this_repository(self):
        here = self.places["second"]
        listed = self.assert_code(self.both.run_program("status", "--ended", "--json", cwd=here), 0).json["tasks"]
        self.assertEqual({task["status"] for task in listed} - {"completed", "failed", "aborted"}, set())
        self.assertNotIn(self.waiting, [task["task_id"] for task in listed])
        ended = self.assert_code(self.both.run_program("status", "--ended", "--json", cwd=self.places["first"]), 0).json["tasks"]
        self.assertEqual([task["task_id"] for task in ended], [self.ended])

    def test_ended_says_that_no_task_has_ended(self):
        self.assertIn("No task has ended, and 1 is open: agentforge status", self.assert_code(self.both.run_program("status", "--ended", cwd=self.places["second"]), 0).out)

    def test_a_limit_says_how_many_tasks_are_omitted(self):
        self.make_repository()
        for _ in range(2):
            self.assert_code(self.start("--approve", "intake", transcript=short_transcript()), 22)
        outcome = self.assert_code(self.run_program("status", "--limit", "1"), 0)
        self.assertIn("… and 1 more: agentforge status --limit 0", outcome.out)
        self.assertEqual(sum(task[-8:] in outcome.out for task in self.tasks()), 1)


class TestRepositoriesPage(ProgramTest):
    """The commands of docs/repositories.md, word for word. test_sets.py has those of sets, test_dependencies.py those of dependencies."""

    PAGE = (SOURCE / "docs" / "repositories.md").read_text(encoding="utf-8")

    def setUp(self):
        super().setUp()
        self.backend = self.make_repository("backend")

    def typed(self, command, cwd=None, **names):
        """Runs a command of the page, with `names` for its placeholders."""
        self.assertIn(f"`{command}`", self.PAGE)
        words = [names.get(word, word) for word in command.split()[1:]]
        return self.assert_code(self.run_program(*words, cwd=cwd or self.folder), 0)

    def known(self):
        return [each["name"] for each in self.run_program("repo", "list", "--json").json["repositories"]]

    def test_a_repository_is_added_listed_and_removed(self):
        self.typed("agentforge repo add", cwd=self.backend)
        self.typed("agentforge repo add PATH --name NAME", PATH=self.make_repository("other"), NAME="other-service")
        self.assertIn("other-service", self.typed("agentforge repo list").out)
        self.assertEqual(self.known(), ["backend", "other-service"])
        self.typed("agentforge repo remove NAME", NAME="other-service")
        self.assertEqual(self.known(), ["backend"])
        self.assertTrue((self.folder / "other" / ".git").is_dir())

    def test_a_command_runs_on_a_known_repository_and_status_shows_all(self):
        self.assert_code(self.run_program("repo", "add", self.backend, "--name", "backend-service"), 0)
        self.assert_code(self.start("--approve", "intake", transcript=short_transcript()), 22)
        self.assertIn(self.task()[-8:], self.typed("agentforge --repo backend-service COMMAND", COMMAND="status").out)
        self.assertIn(self.task()[-8:], self.typed("agentforge status --all").out)

    def test_a_task_can_be_started_in_a_known_repository_from_outside(self):
        self.assert_code(self.run_program("repo", "add", self.backend, "--name", "backend-service"), 0)
        self.assert_code(self.start("--repo", "backend-service", "--exit-after", "intake", transcript=short_transcript(), cwd=self.folder), 0)
        self.assertEqual(self.records("task_completed")[0]["exit_stage"], "intake")
        self.assertFalse((self.folder / ".agentforge").exists())

    def test_the_documented_list_is_what_the_program_reads_and_writes(self):
        shown = re.search(r"^```\n(repositories:\n.*?)^```", self.PAGE, re.M | re.S).group(1).replace("/src/backend", str(self.backend))
        file = self.home / ".agentforge" / "repos.yaml"
        file.parent.mkdir(parents=True)
        file.write_text(shown, encoding="utf-8")
        self.assertEqual(self.known(), ["backend-service"])
        file.unlink()
        self.assert_code(self.run_program("repo", "add", self.backend, "--name", "backend-service", "--default-branch", "main", "--contracts-path", "contracts"), 0)
        self.assertEqual(yaml.safe_load(file.read_text(encoding="utf-8"))["repositories"], yaml.safe_load(shown)["repositories"])

    def test_uncommitted_changes_are_included_as_documented(self):
        (self.backend / "README.md").write_text("Mine, not committed\n", encoding="utf-8")
        self.assertIn("`agentforge start --include-uncommitted`", self.PAGE)
        self.assert_code(self.start("--include-uncommitted", "--exit-after", "intake", transcript=short_transcript()), 0)
        self.assertEqual(self.git("show", f"{self.records('task_created')[0]['base_commit']}:README.md"), "Mine, not committed\n")


if __name__ == "__main__":
    unittest.main()
