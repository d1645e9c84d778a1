# SPDX-License-Identifier: Apache-2.0
"""One request over several repositories creates branches in all of them or in none, whenever the program is killed."""

import copy
import os
import re
import shlex
import shutil
import signal
import subprocess
import textwrap

import yaml

from harness import SOURCE, ProgramTest, entry, load_transcript, main, rewrite_journal, short_transcript, wait_until

REQUEST = "Add a slugify function to the schema and use it in the consumer"


class SetTest(ProgramTest):
    """Two known repositories: a schema and its consumer."""

    NAMES = ("consumer", "schema")

    def setUp(self):
        super().setUp()
        self.places = {}
        for name in self.NAMES:
            self.places[name] = self.make_repository(name)
            self.assert_code(self.run_program("repo", "add", self.places[name], "--name", name), 0)
        transcript = short_transcript()
        transcript["entries"] = [each for each in transcript["entries"] if each["stage"] in ("red", "green", "refactor", "deliver")]
        self.transcript = self.folder / "transcript.yaml"
        self.transcript.write_text(yaml.safe_dump(transcript, allow_unicode=True, sort_keys=False), encoding="utf-8")
        self.replay = ["--set", "llm.backend=replay", "--set", f"llm.transcript={self.transcript}"]

    def specification(self, **changes):
        made = entry(load_transcript(), "spec", 1, "software_architect")["tool_calls"][0]["arguments"]
        every = [each["id"] for each in made["requirements"]]
        made["parts"] = [{"repo": "consumer", "depends_on": ["schema"], "requirements": every}, {"repo": "schema", "requirements": every}]
        made.update(changes)
        file = self.folder / "spec.yaml"
        file.write_text(yaml.safe_dump(made, allow_unicode=True, sort_keys=False), encoding="utf-8")
        return file

    def start_set(self, *arguments, repos="consumer,schema", **changes):
        return self.run_program("start", *self.replay, "--repos", repos, "--from-spec", self.specification(**changes), *arguments, REQUEST, cwd=self.folder)

    def sets(self):
        folder = self.home / ".agentforge" / "sets"
        return sorted(folder.iterdir()) if folder.exists() else []

    def set_file(self):
        only, = self.sets()
        return yaml.safe_load((only / "set.yaml").read_text(encoding="utf-8"))

    def set_id(self):
        return self.sets()[0].name

    def branches_of(self, name):
        return [branch for branch in self.git("for-each-ref", "--format=%(refname:short)", "refs/heads", cwd=self.places[name]).split() if branch != "main"]

    def resume_set(self, *arguments, **options):
        return self.run_program("resume", *arguments, self.set_id(), cwd=self.folder, **options)

    def assert_done(self):
        told = self.set_file()
        self.assertEqual(told["phase"], "done")
        for part in told["parts"]:
            self.assertEqual(self.branches_of(part["repo"]), [part["branch"]])
            self.assertEqual(self.git("rev-parse", part["branch"], cwd=self.places[part["repo"]]).strip(), part["commit"])
            self.repository = self.places[part["repo"]]
            self.assertEqual(len(self.records("delivered", part["task"])), 1)
            self.assertEqual(self.records("delivered", part["task"])[0]["commit"], part["commit"])
            self.assert_journal_verifies(part["task"])
            self.assert_code(self.run_program("audit", "verify", part["task"]), 0)
            self.assertIn(f"AgentForge-Set: {told['set_id']}", self.git("log", "-1", "--format=%B", part["commit"]))


class TestSet(SetTest):
    def test_each_repository_gets_a_branch_in_dependency_order(self):
        outcome = self.assert_code(self.start_set(), 0)
        self.assert_done()
        self.assertEqual([part["repo"] for part in self.set_file()["parts"]], ["schema", "consumer"])
        for name in self.places:
            self.assertIn(f"{name}  commit", outcome.out)

    def test_no_branch_is_created_before_every_part_passes_its_last_gate(self):
        hook = self.places["consumer"] / ".git/hooks/pre-commit"
        hook.write_text("#!/bin/sh\ngit diff --cached --name-only | grep -q slug.py || exit 0\nexit 127\n", encoding="utf-8")
        hook.chmod(0o755)
        outcome = self.assert_code(self.start_set(), 1)
        self.assertIn("No branch was created", outcome.out, outcome)
        self.assertEqual([self.branches_of(name) for name in self.places], [[], []])
        self.assertEqual(self.set_file()["phase"], "specified")
        hook.unlink()
        self.assert_code(self.resume_set(), 0)
        self.assert_done()

    def test_a_part_resumed_alone_waits_for_its_set(self):
        self.start_set("--set", "delivery.set_test=[\"false\"]")
        part = self.set_file()["parts"][0]
        self.assert_error(self.run_program("--repo", part["repo"], "resume", *self.replay, part["task"], cwd=self.folder), "AF-SET-001", f"agentforge --repo {part['repo']} resume {self.set_id()}", exit_code=22)
        self.assertEqual(self.branches_of(part["repo"]), [])
        self.assertIn("AF-SET-001", self.assert_code(self.run_program("--repo", part["repo"], "status", part["task"], cwd=self.folder), 0).out)

    def test_a_fork_of_a_part_is_not_a_part_and_delivers_by_itself(self):
        self.start_set("--set", "delivery.set_test=[\"false\"]")
        part = self.set_file()["parts"][0]
        self.repository = self.places[part["repo"]]
        last = self.steps(part["task"])[-1]["step"]
        fork = self.assert_code(self.run_program("fork", part["task"], "--from-step", str(last - 1), "--json"), 0).json["task_id"]
        self.assert_code(self.run_program("resume", *self.replay, fork), 0)
        self.assertEqual(self.branches_of(part["repo"]), [f"agentforge/{fork}"])
        self.assertEqual(self.set_file()["phase"], "specified")

    def test_an_existing_branch_prevents_all_branches(self):
        self.start_set("--set", "delivery.set_test=[\"false\"]")
        task = self.set_file()["parts"][1]["task"]
        self.git("branch", f"agentforge/{task}", "main", cwd=self.places["consumer"])
        self.assert_error(self.resume_set("--set", "delivery.set_test=[\"true\"]"), "AF-SET-006", f"agentforge/{task}")
        self.assertEqual(self.branches_of("schema"), [])
        self.git("branch", "-m", f"agentforge/{task}", "aside", cwd=self.places["consumer"])
        self.assert_code(self.resume_set("--set", "delivery.set_test=[\"true\"]"), 0)
        self.assertEqual(self.set_file()["phase"], "done")

    def test_an_aborted_set_has_no_branch_and_no_open_task(self):
        self.start_set("--set", "delivery.set_test=[\"false\"]")
        for place in (self.folder, self.places["schema"]):
            told = self.assert_code(self.run_program("status", *(["--all"] if place == self.folder else []), cwd=place), 0)
            self.assertIn(f"set {self.set_id()} is not finished, and has no branch: agentforge resume {self.set_id()}", told.err)
        outcome = self.assert_code(self.run_program("abort", self.set_id(), "--reason", "wrong request", cwd=self.folder), 0)
        self.assertIn("Undone", outcome.out)
        self.assertEqual([self.branches_of(name) for name in self.places], [[], []])
        for part in self.set_file()["parts"]:
            self.repository = self.places[part["repo"]]
            self.assertEqual(len(self.records("task_aborted", part["task"])), 1)
        self.assert_error(self.resume_set(), "AF-SET-009", "wrong request")


class TestSetSpecification(SetTest):
    """A task of the first repository writes the specification with its parts."""

    def start_with(self, *specifications):
        """Starts a task that hands in one specification after the other until one is accepted. Each is a list of parts, or None."""
        transcript = short_transcript()
        written = entry(transcript, "spec", 1, "software_architect")
        given = written["tool_calls"][0]["arguments"]
        transcript["entries"].remove(written)
        self.every = [each["id"] for each in given["requirements"]]
        review = entry(transcript, "spec", 1, "security_architect")
        for visit, parts in enumerate(specifications, 1):
            arguments = copy.deepcopy(dict(given, **({} if parts is None else {"parts": parts})))
            transcript["entries"].append({"stage": "spec", "role": "software_architect", "visit": visit, "step": 1,
                                          "tool_calls": [{"name": "complete", "arguments": arguments}]})
            if visit > 1:
                transcript["entries"].append(dict(copy.deepcopy(review), visit=visit))
        self.transcript.write_text(yaml.safe_dump(transcript, allow_unicode=True, sort_keys=False), encoding="utf-8")
        outcome = self.run_program("start", *self.replay, "--repos", "consumer,schema", REQUEST, cwd=self.folder)
        self.repository = self.places["consumer"]
        return outcome

    RIGHT = [{"repo": name, "requirements": ["REQ-001", "REQ-002", "REQ-003"]} for name in ("consumer", "schema")]

    def specification_records(self, kind):
        return self.records(kind, self.set_file()["specification_task"])

    def test_ends_once_the_specification_is_written(self):
        self.assert_code(self.start_with(self.RIGHT), 0)
        self.assert_done()
        self.repository = self.places["consumer"]
        self.assertEqual(self.specification_records("task_completed")[0]["exit_stage"], "spec")
        part = next(each for each in self.set_file()["parts"] if each["repo"] == "consumer")
        self.assertEqual(self.records("external_artifact_imported", part["task"])[0]["source"], "user_provided")

    def test_invalid_parts_go_back_to_their_stage_with_every_fault(self):
        wrong = [{"repo": "consumer", "requirements": ["REQ-001", "REQ-009"]}]
        self.assert_code(self.start_with(None, wrong, self.RIGHT), 0)
        self.assert_done()
        self.repository = self.places["consumer"]
        without, wrong = (" ".join(each["errors"]) for each in self.specification_records("artifact_rejected"))
        self.assertIn("parts: it has no `parts`", without)
        for fault in ("the part of `consumer` names requirement `REQ-009`, which does not exist", "requirement `REQ-002` belongs to no part", "`schema` has no part"):
            self.assertIn(f"parts: {fault}", wrong)

    def test_parts_that_stay_invalid_become_a_question(self):
        outcome = self.start_with(*[None] * 9)
        self.assert_code(outcome, 22)
        self.assertIn("waits for a person", outcome.out)
        self.assertEqual(self.set_file()["phase"], "specifying")
        self.assertEqual(len(self.specification_records("escalation_raised")), 1)

    def test_its_task_is_not_a_part_and_delivers_by_itself(self):
        self.assert_code(self.start_with(self.RIGHT), 0)
        self.repository = self.places["consumer"]
        task = self.set_file()["specification_task"]
        self.assert_code(self.run_program("continue", *self.replay, task), 0)
        self.assertIn(f"agentforge/{task}", self.branches_of("consumer"))


class TestSetPlanned(SetTest):
    """`--dry-run` checks each repository and changes nothing."""

    def test_each_repository_is_checked_and_shown(self):
        outcome = self.assert_code(self.start_set("--dry-run", "--set", "delivery.type=branch"), 0)
        for name in self.places:
            self.assertIn(f"{name}  pipeline implement, delivery branch", outcome.out)
        self.assertIn("Nothing was done", outcome.out)
        told = self.assert_code(self.run_program("start", *self.replay, "--repos", "consumer,schema", "--dry-run", "--json", REQUEST, cwd=self.folder), 0).json
        self.assertEqual((told["dry_run"], told["specification"], [part["repo"] for part in told["parts"]]), (True, None, ["consumer", "schema"]))
        self.assertEqual(self.sets(), [])
        for place in self.places.values():
            self.assertFalse((place / ".agentforge" / "tasks").exists())

    def test_a_dry_run_reports_the_errors_of_a_start(self):
        self.assert_error(self.start_set("--dry-run", "--set", "delivery.type=files"), "AF-SET-012", "repository `consumer`")
        self.assert_error(self.start_set("--dry-run", parts=[{"repo": "schema", "requirements": ["REQ-001", "REQ-002", "REQ-003"]}]), "AF-SET-003", "`consumer` has no part")


class TestSetPublished(SetTest):
    """Each repository has a remote."""

    def setUp(self):
        super().setUp()
        for name, place in self.places.items():
            bare = self.folder / f"{name}.git"
            self.git("init", "-q", "--bare", bare, cwd=place)
            self.git("remote", "add", "origin", bare, cwd=place)

    def pushed(self):
        return {name: self.git("for-each-ref", "--format=%(refname)", cwd=self.folder / f"{name}.git").split() for name in self.places}

    def prepared(self, *arguments):
        """Starts a set until all parts wait for their branches. Returns the `delivery_prepared` record of the last part."""
        self.assert_error(self.start_set("--set", "delivery.type=pr", "--set", "delivery.set_test=[\"false\"]", *arguments), "AF-SET-005")
        part = self.set_file()["parts"][1]
        self.repository = self.places[part["repo"]]
        return self.records("delivery_prepared", part["task"])[-1]

    def test_each_branch_is_pushed_to_the_remote_of_its_repository(self):
        self.assert_code(self.start_set("--set", "delivery.type=pr"), 0)
        self.assert_done()
        for part in self.set_file()["parts"]:
            self.assertEqual(self.git("rev-parse", part["branch"], cwd=self.folder / f"{part['repo']}.git").strip(), part["commit"])
            self.repository = self.places[part["repo"]]
            self.assertEqual(len(self.records("published", part["task"])), 1)

    def test_nothing_is_pushed_before_all_parts_are_ready(self):
        self.prepared()
        self.assertEqual(self.pushed(), {"consumer": [], "schema": []})

    def test_nothing_is_pushed_if_the_last_branch_name_is_taken(self):
        branch = self.prepared()["branch"]
        self.git("branch", branch, "main")
        self.assert_error(self.resume_set("--set", "delivery.set_test=[\"true\"]"), "AF-SET-006", branch)
        self.assertEqual(self.pushed(), {"consumer": [], "schema": []})
        self.git("branch", "-m", branch, "aside")
        self.assert_code(self.resume_set("--set", "delivery.set_test=[\"true\"]"), 0)
        self.assertEqual(self.pushed(), {part["repo"]: [f"refs/heads/{part['branch']}"] for part in self.set_file()["parts"]})

    def test_nothing_is_pushed_if_the_last_branch_cannot_be_created(self):
        """The error appears only after the first branch was created; AgentForge removes that branch again."""
        lock = self.repository_lock(self.prepared("--set", "delivery.branch=feature/{task}")["branch"])
        outcome = self.assert_error(self.resume_set("--set", "delivery.set_test=[\"true\"]"), "AF-SET-006", str(lock))
        self.assertIn("removed branch", outcome.err)
        self.assertEqual(self.pushed(), {"consumer": [], "schema": []})
        self.assertEqual([self.branches_of(name) for name in self.places], [[], []])

    def repository_lock(self, branch):
        """Creates the lock of another process on this branch."""
        lock = self.repository / ".git" / "refs" / "heads" / f"{branch}.lock"
        lock.parent.mkdir(parents=True, exist_ok=True)
        lock.write_text("0" * 40, encoding="utf-8")
        return lock


class TestSetPage(SetTest):
    """The commands of docs/repositories.md for sets, word for word."""

    NAMES = ("schema", "analytics")
    PAGE = (SOURCE / "docs" / "repositories.md").read_text(encoding="utf-8")
    START = 'agentforge start --repos schema,analytics "Add the country to user events"'

    def parts(self):
        """Returns the parts in the example of the page."""
        return yaml.safe_load(textwrap.dedent(re.search(r"^   ```yaml\n(.*?)^   ```", self.PAGE, re.M | re.S).group(1)))["parts"]

    def typed(self, command, *arguments):
        self.assertIn(f"`{command}`", self.PAGE)
        return self.run_program(*(self.set_id() if word == "set-…" else word for word in shlex.split(command)[1:]), *arguments, cwd=self.folder)

    def started(self, *arguments):
        """A set whose parts do not pass the test together."""
        every = ["REQ-001", "REQ-002", "REQ-003"]
        file = self.specification(parts=[{"repo": "schema", "requirements": every}, {"repo": "analytics", "requirements": every, "depends_on": ["schema"]}])
        self.assert_error(self.typed(self.START, *self.replay, "--from-spec", file, "--set", "delivery.set_test=[\"false\"]"), "AF-SET-005")

    def test_the_documented_parts_are_accepted(self):
        told = self.assert_code(self.typed(self.START, *self.replay, "--from-spec", self.specification(parts=self.parts()), "--dry-run", "--json"), 0).json
        self.assertEqual((told["request"], [part["repo"] for part in told["parts"]]), ("Add the country to user events", ["schema", "analytics"]))

    def test_a_set_is_resumed_as_the_page_says(self):
        self.started()
        self.assert_code(self.typed("agentforge resume set-…", "--set", "delivery.set_test=[\"true\"]"), 0)
        self.assert_done()

    def test_a_set_is_ended_as_the_page_says(self):
        self.started()
        self.assert_code(self.typed("agentforge abort set-…"), 0)
        self.assertEqual((self.set_file()["phase"], [self.branches_of(name) for name in self.NAMES]), ("undone", [[], []]))


class TestSetTogether(SetTest):
    """A command from the settings sees the checkouts of all parts."""

    COMPARE = "import sys; a, b = (open(p + '/textkit/slug.py').read() for p in sys.argv[1:]); sys.exit(a != b or 'def slugify' not in a)"

    def test_the_parts_are_tested_together_before_a_branch_is_made(self):
        settings = self.places["consumer"] / ".agentforge" / "config"
        settings.mkdir(parents=True)
        (settings / "settings.yaml").write_text(yaml.safe_dump({"delivery": {"set_test": ["python3", "-c", self.COMPARE, "{schema}", "{consumer}"]}}), encoding="utf-8")
        self.assert_error(self.start_set(), "AF-PLUG-043", "repository `consumer`", "delivery.set_test")
        self.assertEqual(self.sets(), [])
        outcome = self.assert_code(self.start_set("--trust"), 0)
        self.assertIn("together: consumer: passed", outcome.out)
        self.assert_done()

    def test_a_pipeline_that_takes_no_specification_is_refused_before_anything_starts(self):
        outcome = self.run_program("start", "--repos", "schema,consumer", "--pipeline", "loop", "--dry-run", "Add slugs", cwd=self.folder)
        self.assert_error(outcome, "AF-SET-002", "accepts no external specification")

    def test_parts_that_fail_together_get_no_branch(self):
        outcome = self.start_set("--set", "delivery.set_test=[\"sh\", \"-c\", \"echo they differ; exit 3\"]")
        self.assert_error(outcome, "AF-SET-005", "exited with code 3", "they differ")
        self.assertEqual([self.branches_of(name) for name in self.places], [[], []])


class TestSetHindered(SetTest):
    """The error names an obstacle that appeared meanwhile, and the set can still be ended."""

    def branching(self):
        """Makes the state after a kill between the two branches: the first exists."""
        self.start_set("--set", "delivery.set_test=[\"false\"]")
        told = self.set_file()
        for part in told["parts"]:
            self.repository = self.places[part["repo"]]
            prepared = self.records("delivery_prepared", part["task"])[-1]
            part["branch"], part["commit"] = prepared["branch"], prepared["commit"]
        told["phase"] = "branching"
        self.set_path().write_text(yaml.safe_dump(told, sort_keys=False), encoding="utf-8")
        first = told["parts"][0]
        self.git("branch", first["branch"], first["commit"], cwd=self.places[first["repo"]])
        return told["parts"]

    def set_path(self):
        return self.folder / "home" / ".agentforge" / "sets" / self.set_id() / "set.yaml"

    def locked(self, says):
        """Creates a lock with the content `says` on the second branch, whose name the user has chosen."""
        self.start_set("--set", "delivery.set_test=[\"false\"]", "--set", "delivery.type=branch", "--set", "delivery.branch=feature/{task}")
        part = self.set_file()["parts"][1]
        self.repository = self.places[part["repo"]]
        prepared = self.records("delivery_prepared", part["task"])[-1]
        lock = self.repository / ".git" / "refs" / "heads" / f"{prepared['branch']}.lock"
        lock.parent.mkdir(parents=True)
        lock.write_text(says or f"{prepared['commit']}\n", encoding="utf-8")
        return lock

    def test_a_lock_that_a_killed_process_left_on_its_own_branch_is_removed(self):
        lock = self.locked(None)
        self.assert_code(self.resume_set("--set", "delivery.set_test=[\"true\"]"), 0)
        self.assertFalse(lock.exists())
        self.assert_done()

    def test_a_foreign_lock_is_kept_and_named_with_a_remedy(self):
        lock = self.locked("0" * 40)
        self.assert_error(self.resume_set("--set", "delivery.set_test=[\"true\"]"), "AF-SET-006", "seconds old", f"If none works in this repository, remove it: rm {lock}")
        self.assertEqual([self.branches_of(name) for name in self.places], [[], []])
        lock.unlink()
        self.assert_code(self.resume_set("--set", "delivery.set_test=[\"true\"]"), 0)

    def test_a_checked_out_branch_is_kept_and_named(self):
        first, last = self.branching()
        self.git("checkout", "-q", first["branch"], cwd=self.places[first["repo"]])
        self.git("branch", last["branch"], "main", cwd=self.places[last["repo"]])
        self.assert_error(self.resume_set(), "AF-SET-006", f"branch {first['branch']} of {first['repo']} stays", "branch -D")
        self.assertEqual(self.set_file()["phase"], "branching")
        told = self.assert_code(self.run_program("abort", self.set_id(), "--json", cwd=self.folder), 0).json
        self.assertEqual([part["branch"] for part in told["parts"]], ["", ""])
        self.assertIn(f"branch {first['branch']} of {first['repo']} stays", told["kept"][0])

    def test_no_branch_is_made_for_a_commit_that_is_not_the_measured_change(self):
        self.start_set("--set", "delivery.set_test=[\"false\"]")
        part = self.set_file()["parts"][1]
        self.repository = self.places[part["repo"]]
        commit = self.records("delivery_prepared", part["task"])[-1]["commit"]
        other = self.git("commit-tree", f"{commit}^{{tree}}", "-m", part["task"]).strip()      # A commit with the same tree and no parent.
        rewrite_journal(self.task_folder(part["task"]) / "actions.yaml", lambda record: {**record, "commit": other} if record["type"] == "delivery_prepared" else record)
        self.assert_error(self.resume_set("--set", "delivery.set_test=[\"true\"]"), "AF-SET-018", part["repo"])
        self.assertEqual([self.branches_of(name) for name in self.places], [[], []])

    def test_no_branch_is_created_for_an_aborted_task(self):
        first, last = self.branching()
        for part in (first, last):
            self.assert_code(self.run_program("--repo", part["repo"], "abort", part["task"], cwd=self.folder), 0)
        self.assert_error(self.resume_set(), "AF-SET-004", "aborted", f"agentforge abort {self.set_id()}")
        self.assertEqual([self.branches_of(name) for name in self.places], [[], []])
        self.assert_code(self.run_program("abort", self.set_id(), cwd=self.folder), 0)
        self.assertEqual(self.set_file()["phase"], "undone")

    def test_nothing_is_undone_while_a_repository_is_away(self):
        self.start_set("--set", "delivery.set_test=[\"false\"]")
        self.places["consumer"].rename(self.folder / "away")
        self.assert_error(self.run_program("abort", self.set_id(), cwd=self.folder), "AF-SET-015", "consumer")
        (self.folder / "away").rename(self.places["consumer"])
        self.assert_code(self.run_program("abort", self.set_id(), cwd=self.folder), 0)

    def test_a_repository_that_was_moved_is_found_by_its_name(self):
        self.start_set("--set", "delivery.set_test=[\"false\"]")
        moved = self.folder / "moved"
        self.places["consumer"].rename(moved)
        self.places["consumer"] = moved
        self.assert_code(self.run_program("repo", "remove", "consumer", cwd=self.folder), 0)
        self.assert_code(self.run_program("repo", "add", moved, "--name", "consumer", cwd=self.folder), 0)
        outcome = self.resume_set("--set", "delivery.set_test=[\"true\"]")
        self.assertIn(f"repository consumer is at {moved} now", outcome.err)
        self.assert_code(outcome, 0)
        self.assert_done()

    def test_a_misspelt_placeholder_is_refused(self):
        self.assert_error(self.start_set("--set", "delivery.set_test=[\"test\", \"-n\", \"{shcema}\"]"), "AF-SET-016", "{shcema}", "{schema}")
        self.assertEqual([self.branches_of(name) for name in self.places], [[], []])


class TestSetRefused(SetTest):
    """AgentForge refuses an impossible set before a task exists."""

    def test_a_repository_without_a_part(self):
        self.assert_error(self.start_set(parts=[{"repo": "schema", "requirements": ["REQ-001", "REQ-002", "REQ-003"]}]), "AF-SET-003", "consumer")
        self.assertFalse((self.places["schema"] / ".agentforge" / "tasks").exists())
        self.assertEqual(self.sets(), [])

    def test_a_missing_specification(self):
        self.assert_error(self.run_program("start", *self.replay, "--repos", "consumer,schema", "--from-spec", "none.yaml", REQUEST, cwd=self.folder), "AF-BASE-010", "none.yaml")
        self.assertEqual(self.sets(), [])

    def sets(self):
        return [path.name for path in (self.folder / "home" / ".agentforge" / "sets").glob("*")]

    def test_a_specification_with_parts_for_one_repository_alone(self):
        outcome = self.run_program("start", *self.replay, "--from-spec", self.specification(), REQUEST, cwd=self.places["schema"])
        self.assert_error(outcome, "AF-EXT-013", "`parts` of consumer,schema", "agentforge start --repos consumer,schema --from-spec")
        self.assertFalse((self.places["schema"] / ".agentforge" / "tasks").exists())

    def test_parts_that_depend_on_each_other_are_refused(self):
        every = ["REQ-001", "REQ-002", "REQ-003"]
        self.assert_error(self.start_set(parts=[{"repo": "schema", "depends_on": ["consumer"], "requirements": every}, {"repo": "consumer", "depends_on": ["schema"], "requirements": every}]), "AF-SET-003", "in a cycle")

    def test_one_repository(self):
        self.assert_error(self.start_set(repos="schema"), "AF-SET-002", "two")

    def test_an_unknown_repository_names_the_nearest(self):
        self.assert_error(self.start_set(repos="schema,consumr"), "AF-CONF-073", "consumer")

    def test_an_empty_name(self):
        for repos in ("schema,,consumer", "schema,consumer,", ",schema,consumer"):
            with self.subTest(repos):
                self.assert_error(self.start_set(repos=repos), "AF-SET-002", "empty name", "NAME,NAME")

    def test_an_option_for_one_task(self):
        self.assert_error(self.start_set("--supervised"), "AF-SET-002", "leave out --supervised")

    def test_an_option_for_one_task_is_named_as_typed(self):
        for flag in ("--through", "--exit-after"):
            with self.subTest(flag):
                self.assert_error(self.start_set(flag, "spec"), "AF-SET-002", f"leave out {flag},")

    def refused_unpaid(self, code, *words, settings=()):
        """Checks that the start is refused. There is no specification, so a task of the first repository would write one at a cost."""
        self.assert_error(self.run_program("start", *self.replay, *settings, "--repos", "consumer,schema", REQUEST, cwd=self.folder), code, *words)
        self.assertEqual(self.sets(), [])
        for place in self.places.values():
            self.assertFalse((place / ".agentforge" / "tasks").exists())

    def test_a_delivery_without_a_branch(self):
        self.refused_unpaid("AF-SET-012", "repository `consumer`", "delivery.type", settings=("--set", "delivery.type=files"))

    def test_a_pull_request_where_one_repository_has_no_remote(self):
        self.git("remote", "add", "origin", self.folder / "elsewhere", cwd=self.places["consumer"])
        self.refused_unpaid("AF-CLI-053", "repository `schema`", "git remote add origin", settings=("--set", "delivery.type=pr"))

    def test_a_test_of_all_parts_whose_program_is_missing(self):
        self.refused_unpaid("AF-SET-017", "repository `consumer`", "no-such-program", "delivery.set_test", settings=("--set", 'delivery.set_test=["no-such-program", "{schema}"]'))

    def test_a_pipeline_that_delivers_nothing(self):
        self.refused_unpaid("AF-SET-002", "`design` delivers nothing", settings=("--pipeline", "design"))

    def test_an_ambiguous_id_or_a_bare_prefix(self):
        ids = ["set-20260101-add-a-11111111", "set-20260101-add-b-21111111"]
        folder = self.folder / "home" / ".agentforge" / "sets"
        (folder / ids[0]).mkdir(parents=True)
        for command in ("resume", "abort"):
            self.assert_error(self.run_program(command, "set-", cwd=self.folder), "AF-SET-007", ids[0])
        (folder / ids[1]).mkdir()
        for command in ("resume", "abort"):
            for given in ("set-", "set-2026", "set-1111111"):
                self.assert_error(self.run_program(command, given, cwd=self.folder), "AF-SET-007", *ids, "Give more of the id")

    def test_an_unknown_set(self):
        self.assert_error(self.run_program("resume", "set-20260101-none-00000000", cwd=self.folder), "AF-SET-007")


class TestSetShown(SetTest):
    def test_status_shows_a_set_with_its_parts_and_possible_commands(self):
        self.start_set("--set", "delivery.set_test=[\"false\"]")
        told = self.set_file()
        shown = self.assert_code(self.run_program("status", self.set_id(), cwd=self.folder), 0).out
        for words in (f"{self.set_id()}  specified", REQUEST, *(f"{part['task']}" for part in told["parts"]), f"agentforge resume {self.set_id()}", f"agentforge abort {self.set_id()}"):
            self.assertIn(words, shown)
        as_json = self.assert_code(self.run_program("status", self.set_id(), "--json", cwd=self.folder), 0).json
        self.assertEqual([(part["repo"], part["task_id"]) for part in as_json["parts"]], [(part["repo"], part["task"]) for part in told["parts"]])
        self.assert_error(self.run_program("status", self.set_id(), "--watch", cwd=self.folder), "AF-CLI-076", "--watch", exit_code=2)
        self.assert_error(self.run_program("status", "set-nothing", cwd=self.folder), "AF-SET-007")


class TestSetKilledAtWork(SetTest):
    """A kill while the task of a part works: before any part waits for its branch, or while one waits."""

    def killed_in(self, name, stage):
        """Starts a set, and kills it once the task of this repository has begun the stage."""
        self.repository = self.places[name]
        process = self.spawn("start", *self.replay, "--repos", "consumer,schema", "--from-spec", self.specification(), REQUEST)

        def works():
            tasks = self.tasks()
            journal = self.task_folder(tasks[0]) / "actions.yaml" if tasks else None
            return process.poll() is not None or journal is not None and journal.exists() and f'"phase":"{stage}"' in journal.read_text(encoding="utf-8").replace(" ", "")

        wait_until(works, f"stage {stage} of {name}")
        os.killpg(process.pid, signal.SIGKILL)
        self.assertEqual(process.wait(), -signal.SIGKILL, process.communicate())
        told = self.set_file()
        self.assertEqual(told["phase"], "specified")
        self.assertEqual(self.records("delivery_prepared"), [])
        self.assertEqual([self.branches_of(each) for each in self.places], [[], []])
        return told

    def assert_resumes(self, told):
        """Checks that the set resumes with the same tasks: a part that had begun does not begin again."""
        self.assert_code(self.resume_set(), 0)
        self.assert_done()
        for before, after in zip(told["parts"], self.set_file()["parts"]):
            self.assertIn(before.get("task") or after["task"], after["task"])
            self.repository = self.places[after["repo"]]
            self.assertEqual(self.tasks(), [after["task"]])

    def test_a_set_killed_in_the_first_part_finishes_after_resume(self):
        self.assert_resumes(self.killed_in("schema", "green"))

    def test_a_set_killed_in_the_last_part_finishes_after_resume(self):
        told = self.killed_in("consumer", "green")
        self.repository = self.places["schema"]
        prepared = self.records("delivery_prepared", told["parts"][0]["task"])
        self.assertEqual(len(prepared), 1)
        self.assert_resumes(told)
        self.assertEqual(self.set_file()["parts"][0]["commit"], prepared[0]["commit"])


class KilledSet(SetTest):
    """A set whose parts wait for their branches, because its test failed. A `resume` with a passing test is killed at one of its steps that reach the disk."""

    def setUp(self):
        super().setUp()
        self.shim = self.folder / "kill_at.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.shim, SOURCE / "tests" / "integration" / "program" / "kill_at.c", "-ldl"], check=True)
        self.start_set("--set", "delivery.set_test=[\"false\"]")
        self.assertEqual(self.set_file()["phase"], "specified")
        self.saved = self.folder.with_name(self.folder.name + "-saved")
        shutil.copytree(self.folder, self.saved, symlinks=True)
        self.addCleanup(shutil.rmtree, self.saved, ignore_errors=True)

    def restore(self):
        for name in ("home", "state", *self.places):
            shutil.rmtree(self.folder / name)
            shutil.copytree(self.saved / name, self.folder / name, symlinks=True)

    def killed_at(self, step, command=("resume", "--set", "delivery.set_test=[\"true\"]")):
        """Returns True if the command was killed at this step, False if it ended before."""
        done = subprocess.run(self.command(*command, self.set_id()), cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                              env=dict(self.environment, LD_PRELOAD=str(self.shim), AGENTFORGE_TEST_KILL_AT=str(step)))
        self.assertIn(done.returncode, (0, -9), done.stderr)
        return done.returncode != 0


class TestSetKilledBeforeBranches(KilledSet):
    """A kill before the first branch, while the command prepares and runs the set's test, at every tenth step."""

    def test_killed_before_any_branch_and_resumed_both_branches_are_there(self):
        step = 1
        while True:
            self.assertTrue(self.killed_at(step), f"step {step}: no branch was ever begun")
            if self.set_file()["phase"] != "specified":
                break
            self.assertEqual([self.branches_of(name) for name in self.places], [[], []], f"step {step}")
            self.assert_code(self.resume_set("--set", "delivery.set_test=[\"true\"]"), 0)
            self.assert_done()
            self.restore()
            step += 10
        self.assertGreater(step, 11)


class TestSetAbortKilled(KilledSet):
    def test_an_abort_killed_at_any_step_is_finished_by_the_next_abort_or_resume(self):
        step, seen = 1, set()
        while self.killed_at(step, ("abort",)):
            phase = self.set_file()["phase"]
            seen.add(phase)
            if phase == "undoing":
                self.assert_code(self.run_program("resume" if step % 2 else "abort", self.set_id(), cwd=self.folder), 0)
            elif phase == "specified":
                self.assert_code(self.run_program("abort", self.set_id(), cwd=self.folder), 0)
            self.assertEqual(self.set_file()["phase"], "undone", f"step {step}")
            for part in self.set_file()["parts"]:
                self.repository = self.places[part["repo"]]
                self.assertEqual((len(self.records("task_aborted", part["task"])), self.branches_of(part["repo"])), (1, []), f"step {step}")
            self.restore()
            step += 3
        self.assertLessEqual({"specified", "undoing"}, seen)


class TestSetKilled(KilledSet):
    """A kill at every step, from before the first branch until the set is done: afterwards both branches exist, or neither."""

    def test_killed_at_any_step_and_resumed_both_branches_are_there(self):
        step, seen = 0, set()
        while True:
            step += 1
            if not self.killed_at(step):
                break
            told = self.set_file()
            made = {part["repo"] for part in told["parts"] if self.branches_of(part["repo"])}
            seen.add((told["phase"], len(made)))
            if made:        # The set's file explains each branch.
                self.assertIn(told["phase"], ("branching", "delivering", "done"), f"step {step}")
                self.assertTrue(all(self.branches_of(part["repo"]) in ([], [part["branch"]]) for part in told["parts"]), f"step {step}")
            if told["phase"] == "specified":        # TestSetKilledBeforeBranches resumes these.
                self.assertEqual(made, set(), f"step {step}")
            else:
                self.assert_code(self.resume_set("--set", "delivery.set_test=[\"true\"]"), 0)
                self.assert_done()
            self.restore()
        self.assert_done()
        self.assertLessEqual({("specified", 0), ("branching", 0), ("branching", 1), ("branching", 2), ("delivering", 2)}, seen)

    def test_a_set_killed_between_the_branches_and_then_blocked_leaves_none(self):
        step = 0
        while True:
            step += 1
            self.assertTrue(self.killed_at(step), "one branch alone was never seen")
            told = self.set_file()
            if told["phase"] == "branching" and [bool(self.branches_of(part["repo"])) for part in told["parts"]] == [True, False]:
                break
            self.restore()
        last = told["parts"][1]
        self.git("branch", last["branch"], "main", cwd=self.places[last["repo"]])
        self.assert_error(self.resume_set(), "AF-SET-006", last["branch"])
        self.assertEqual(self.branches_of(told["parts"][0]["repo"]), [])
        self.git("branch", "-D", last["branch"], cwd=self.places[last["repo"]])
        self.assert_code(self.run_program("abort", self.set_id(), cwd=self.folder), 0)
        self.assertEqual([self.branches_of(name) for name in self.places], [[], []])


if __name__ == "__main__":
    main()
