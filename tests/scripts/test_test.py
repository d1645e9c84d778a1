# SPDX-License-Identifier: Apache-2.0
"""scripts/test with a cmake and a ctest that only pretend: what it counts and when it fails."""

import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

CTEST = """
for argument in "$@"; do [ "$previous" = --output-junit ] && report=$argument; previous=$argument; done
echo "$@" >>"{log}"
mkdir -p "$(dirname "$report")"
printf '<testsuite name="x"\\n\\ttests="%s"\\n\\tfailures="%s"\\n\\tdisabled="0"\\n\\tskipped="%s"\\n>\\n</testsuite>\\n' {tests} {failures} {skipped} >"$report"
exit {code}
"""


class Checkout:
    """A copy of the script in a folder of its own, with a PATH of pretenders."""

    def __init__(self, folder):
        self.folder = folder
        self.log = folder / "calls"
        (folder / "scripts").mkdir()
        shutil.copy(ROOT / "scripts/test", folder / "scripts/test")
        (folder / "bin").mkdir()
        self.program("scripts/setup", "exit 0")
        self.program("bin/cmake", "mkdir -p build/dev build/asan build/tsan")
        self.ctest(5)

    def program(self, name, body):
        path = self.folder / name
        path.write_text("#!/bin/sh\n" + body + "\n")
        path.chmod(0o755)

    def ctest(self, tests, failures=0, skipped=0, code=0):
        self.program("bin/ctest", CTEST.format(log=self.log, tests=tests, failures=failures, skipped=skipped, code=code))

    def run(self, *arguments):
        environment = dict(os.environ, PATH=f"{self.folder}/bin:/usr/bin:/bin", CI="true")
        result = subprocess.run([self.folder / "scripts/test", *arguments], env=environment, cwd="/", stdin=subprocess.DEVNULL,
                                capture_output=True, text=True, check=False)
        return result.returncode, (result.stdout.splitlines() or [result.stderr])[-1]


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path)


def test_sums_over_all_builds(checkout):
    assert checkout.run("--asan", "--tsan") == (0, "10 passed, 0 failed")


def test_without_options_it_is_the_dev_build(checkout):
    assert checkout.run() == (0, "5 passed, 0 failed")
    assert "--preset dev" in checkout.log.read_text()


def test_fast_is_one_build_without_slow_tests(checkout):
    assert checkout.run("--fast") == (0, "5 passed, 0 failed")
    assert "--preset dev" in checkout.log.read_text() and "-LE ^(slow|packaging)$" in checkout.log.read_text()


def test_slow_tests_run_where_they_are_asked_for(checkout):
    checkout.run()
    assert "--preset dev" in checkout.log.read_text() and "-LE ^slow$" in checkout.log.read_text().splitlines()[0]
    checkout.log.unlink()
    assert checkout.run("--slow") == (0, "5 passed, 0 failed")
    assert "-L ^slow$" in checkout.log.read_text()


def test_sanitizers_leave_out_slow_tests_and_most_of_the_whole_program(checkout):
    checkout.run("--asan")
    assert "--preset asan" in checkout.log.read_text() and "-LE ^(slow|program)$" in checkout.log.read_text()


def test_filter_is_passed_on(checkout):
    checkout.run("--fast", "--filter", "Plugin.*")
    assert "-R Plugin.*" in checkout.log.read_text()


def test_failed_test_is_counted(checkout):
    checkout.ctest(5, failures=2, code=8)
    assert checkout.run("--asan") == (1, "3 passed, 2 failed")


def test_skipped_test_is_not_passed(checkout):
    checkout.ctest(5, skipped=1)
    assert checkout.run("--fast") == (0, "4 passed, 0 failed")


def test_no_test_at_all_is_a_failure(checkout):
    checkout.ctest(0, code=8)
    assert checkout.run("--fast") == (1, "0 passed, 1 failed")


def test_failure_outside_the_tests_is_a_failure(checkout):
    checkout.ctest(5, code=8)
    assert checkout.run("--fast") == (1, "5 passed, 1 failed")


def test_failed_build_is_a_failure(checkout):
    checkout.program("bin/cmake", "exit 1")
    assert checkout.run("--fast") == (1, "0 passed, 1 failed")


def test_old_report_of_a_build_that_fails_now_is_not_counted(checkout):
    checkout.run("--fast")
    checkout.program("bin/cmake", "exit 1")
    assert checkout.run("--fast") == (1, "0 passed, 1 failed")


def test_failed_setup_is_a_failure(checkout):
    checkout.program("scripts/setup", "exit 1")
    assert checkout.run("--fast") == (1, "0 passed, 1 failed")


def test_unknown_argument_is_refused(checkout):
    assert checkout.run("--fats")[0] == 2


def test_filter_without_a_value_is_refused(checkout):
    assert checkout.run("--filter")[0] == 2


def test_published_servers_that_cannot_be_installed_count_as_nothing(checkout):
    checkout.program("bin/npm", "exit 1")
    assert checkout.run("--servers") == (1, "0 passed, 0 failed")


def test_published_servers_are_not_run_without_being_asked_for(checkout):
    checkout.program("bin/npm", f"touch {checkout.folder}/asked")
    checkout.run()
    assert not (checkout.folder / "asked").exists()


def test_agents_commands_that_cannot_be_installed_count_as_nothing(checkout):
    checkout.program("bin/npm", "exit 1")
    assert checkout.run("--agents") == (1, "0 passed, 0 failed")


def test_agents_commands_are_installed_into_a_folder_of_the_build(checkout):
    checkout.program("bin/npm", f'echo "$@" >{checkout.folder}/asked; exit 1')
    checkout.run("--agents")
    asked = (checkout.folder / "asked").read_text()
    assert f"--prefix {checkout.folder}/build/agents " in asked and "@anthropic-ai/claude-code @openai/codex" in asked


def test_runners_that_cannot_be_installed_count_as_nothing(checkout):
    checkout.program("bin/npm", f'echo "$@" >{checkout.folder}/asked; exit 1')
    assert checkout.run("--runners") == (1, "0 passed, 0 failed")
    asked = (checkout.folder / "asked").read_text()
    assert f"--prefix {checkout.folder}/build/runners " in asked and "vitest@3 jest@30" in asked
