# SPDX-License-Identifier: Apache-2.0
"""scripts/keep-task on a repository with refs as AgentForge leaves them: what the bundle has."""

import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org",
               "GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.org"}


class Checkout:
    def __init__(self, folder):
        self.folder, self.repository = folder, folder / "repository"
        for name in ("scripts", "tests/kept_tasks", "repository"):
            (folder / name).mkdir(parents=True)
        shutil.copy(ROOT / "scripts/keep-task", folder / "scripts/keep-task")
        self.git("init", "-q", "-b", "main")
        self.git("commit", "-q", "--allow-empty", "-m", "Import")

    def git(self, *arguments):
        return subprocess.run(["git", *arguments], cwd=self.repository, env=ENVIRONMENT, capture_output=True, text=True, check=True).stdout.strip()

    def end_task(self, task):
        for name in (f"refs/heads/agentforge/{task}", f"refs/agentforge/{task}/step-1", f"refs/agentforge/archive/{task}"):
            self.git("update-ref", name, "HEAD" if "heads" in name else "HEAD^{tree}")

    def keep(self, *arguments):
        return subprocess.run([self.folder / "scripts/keep-task", *arguments], env=ENVIRONMENT, capture_output=True, text=True, check=False)

    def kept(self, name):
        return {line.split()[1] for line in self.git("bundle", "list-heads", str(self.folder / f"tests/kept_tasks/{name}.bundle")).splitlines()}


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path)


def test_keeps_the_branches_the_archive_and_the_recorded_trees_of_the_task_alone(checkout):
    checkout.end_task("task-1")
    checkout.end_task("task-10")
    done = checkout.keep("one", checkout.repository, "task-1")
    assert done.returncode == 0, done.stderr
    assert checkout.kept("one") == {"HEAD", "refs/heads/main", "refs/heads/agentforge/task-1", "refs/agentforge/task-1/step-1", "refs/agentforge/archive/task-1"}


def test_takes_the_only_task(checkout):
    checkout.end_task("task-1")
    assert checkout.keep("one", checkout.repository).returncode == 0
    checkout.end_task("task-2")
    done = checkout.keep("two", checkout.repository)
    assert (done.returncode, "task-2" in done.stderr) == (2, True)


def test_refuses_a_task_that_has_not_ended(checkout):
    done = checkout.keep("one", checkout.repository, "task-1")
    assert (done.returncode, "no archive of task-1" in done.stderr) == (1, True)
    assert not (checkout.folder / "tests/kept_tasks/one.bundle").exists()
