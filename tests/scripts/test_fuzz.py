# SPDX-License-Identifier: Apache-2.0
"""scripts/fuzz with a compiler and fuzzers that only pretend: what it runs and when it fails."""

import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Checkout:
    def __init__(self, folder):
        self.folder = folder
        (folder / "scripts").mkdir()
        shutil.copy(ROOT / "scripts/fuzz", folder / "scripts/fuzz")
        (folder / "bin").mkdir()
        self.program("bin/clang++", "exit 0")
        self.program("bin/cmake", "exit 0")
        for name in ("events", "protocol", "patch"):
            self.fuzzer(name, "exit 0")

    def program(self, name, body):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n" + body + "\n")
        path.chmod(0o755)

    def fuzzer(self, name, body):
        self.program(f"build/fuzz/tests/fuzz/fuzz_{name}", body)

    def run(self, *arguments):
        return subprocess.run([self.folder / "scripts/fuzz", *arguments], capture_output=True, text=True, check=False,
                              env={"PATH": f"{self.folder}/bin:/usr/bin:/bin"})


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path)


def test_runs_all_for_a_minute(checkout):
    checkout.fuzzer("patch", "echo stat::number_of_executed_units: 7 $1")
    done = checkout.run()
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "nothing found: events protocol patch, 60 s each")
    assert "stat::number_of_executed_units: 7 -max_total_time=60" in done.stdout


def test_runs_only_what_is_named(checkout):
    checkout.fuzzer("patch", "exit 1")
    done = checkout.run("5", "events")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "nothing found: events, 5 s each")


def test_says_which_promise_was_broken(checkout):
    checkout.fuzzer("patch", "echo 'not kept: a hunk has lines'; exit 77")
    done = checkout.run("5")
    assert done.returncode == 1
    assert "not kept: a hunk has lines" in done.stdout
    assert done.stdout.splitlines()[-1] == "broken: patch; logs and inputs are in build/fuzz"


def test_says_not_run_without_libfuzzer(checkout):
    checkout.program("bin/clang++", "exit 1")
    done = checkout.run()
    assert (done.returncode, done.stdout.startswith("not run: ")) == (0, True)


@pytest.mark.parametrize("argument", ["sse", "0", "-5", ""])
def test_refuses_an_unknown_argument(checkout, argument):
    assert checkout.run(argument).returncode == 2


def test_help_is_no_error(checkout):
    assert checkout.run("--help").returncode == 0
