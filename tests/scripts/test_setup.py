# SPDX-License-Identifier: Apache-2.0
"""scripts/setup with a package manager that only pretends: no root, no network, nothing installed."""

import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEBIAN = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\nVERSION_ID="12"\n'


class Machine:
    """A PATH whose dpkg-query, apt-get, id and sudo answer what the test says; apt-get's calls are written down."""

    def __init__(self, folder):
        self.folder = folder
        self.log = folder / "calls"
        self.log.touch()
        self.release = folder / "os-release"
        self.release.write_text(DEBIAN)
        self.program("dpkg-query", "echo installed")
        self.program("id", "echo 0")
        self.program("apt-get", f'echo "$@" >>{self.log}')

    def program(self, name, body):
        path = self.folder / name
        path.write_text("#!/bin/sh\n" + body + "\n")
        path.chmod(0o755)

    def missing(self, package):
        self.program("dpkg-query", f'case "$*" in *" {package}") exit 1 ;; esac; echo installed')

    def setup(self, *arguments):
        environment = dict(os.environ, PATH=f"{self.folder}:/usr/bin:/bin", AGENTFORGE_OS_RELEASE=str(self.release), CI="true")
        return subprocess.run([ROOT / "scripts/setup", *arguments], env=environment, cwd="/", stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)

    def installed(self):
        return [line for line in self.log.read_text().splitlines() if line.startswith("install") and "--simulate" not in line]


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def test_says_so_when_nothing_is_missing(machine):
    result = machine.setup()
    assert (result.returncode, result.stdout) == (0, "setup: everything is installed\n")


def test_is_silent_when_asked_and_nothing_is_missing(machine):
    assert machine.setup("--quiet").stdout == ""


def test_needs_no_package_manager_when_nothing_is_missing(machine):
    machine.setup()
    assert machine.log.read_text() == ""


def test_check_names_what_is_missing_and_installs_nothing(machine):
    machine.missing("ccache")
    result = machine.setup("--check")
    assert result.returncode == 1
    assert "missing: ccache" in result.stdout
    assert machine.installed() == []


def test_root_installs_what_is_missing_and_never_removes(machine):
    machine.missing("ccache")
    assert machine.setup().returncode == 0
    assert machine.installed() == ["install --yes --no-install-recommends --no-remove ccache"]


def test_user_gets_the_command_and_nothing_is_installed(machine):
    machine.missing("ccache")
    machine.program("id", "echo 1000")
    result = machine.setup()
    assert result.returncode == 1
    assert "apt-get install --no-install-recommends ccache" in result.stderr
    assert machine.installed() == []


def test_sudo_is_called_only_when_asked(machine):
    machine.missing("ccache")
    machine.program("id", "echo 1000")
    machine.program("sudo", 'exec "$@"')
    assert machine.setup("--sudo").returncode == 0
    assert len(machine.installed()) == 1


def test_stops_where_a_package_would_be_removed(machine):
    machine.missing("libboost1.81-dev")
    machine.program("apt-get", f'echo "$@" >>{machine.log}; echo "Remv libboost1.74-dev [1.74.0]"')
    result = machine.setup()
    assert result.returncode == 1
    assert "removes: libboost1.74-dev" in result.stdout
    assert "--allow-removals" in result.stderr
    assert machine.installed() == []


def test_removes_when_allowed(machine):
    machine.missing("libboost1.81-dev")
    machine.program("apt-get", f'echo "$@" >>{machine.log}; echo "Remv libboost1.74-dev [1.74.0]"')
    assert machine.setup("--allow-removals").returncode == 0
    assert machine.installed() == ["install --yes --no-install-recommends libboost1.81-dev"]


def test_other_system_is_told_what_is_needed(machine):
    machine.release.write_text('PRETTY_NAME="Fedora Linux 40"\nID=fedora\nVERSION_ID=40\n')
    result = machine.setup()
    assert result.returncode == 1
    assert "Fedora Linux 40" in result.stderr and "Boost 1.81" in result.stderr


def test_unknown_argument_is_refused(machine):
    result = machine.setup("--chek")
    assert result.returncode == 2
    assert "--chek" in result.stderr
