# SPDX-License-Identifier: Apache-2.0
"""agentforge_add_plugin refuses at configure time what the host would refuse later."""

import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("arguments, manifest, message", [
    ("KIND stag SOURCES a.cpp", '{"library": "mine.so"}', "KIND is 'stag'"),
    ("SOURCES a.cpp", '{"library": "mine.so"}', "KIND is ''"),
    ("KIND tool", '{"library": "mine.so"}', "SOURCES names no file"),
    ("KIND tool SOURCES a.cpp", None, "plugin.json is missing"),
    ("KIND tool SOURCES a.cpp", '{"library": "other.so"}', "found 'other.so'"),
    ("KIND tool SOURCES a.cpp", "{", "must be \"mine.so\""),
    ("EXTRA KIND tool SOURCES a.cpp", '{"library": "mine.so"}', "unknown argument 'EXTRA'"),
], ids=["unknown_kind", "no_kind", "no_sources", "no_manifest", "other_library", "broken_manifest", "unknown_argument"])
def test_refuses(tmp_path, arguments, manifest, message):
    if manifest is not None:
        (tmp_path / "plugin.json").write_text(manifest)
    script = tmp_path / "project.cmake"
    script.write_text(f"cmake_minimum_required(VERSION 3.25)\ninclude({ROOT}/sdk/cmake/AgentForgePlugin.cmake)\nagentforge_add_plugin(mine {arguments})\n")
    result = subprocess.run(["cmake", "-P", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode != 0
    assert message in " ".join(result.stderr.split())


def run_project(folder, call):
    script = folder / "project.cmake"
    script.write_text("cmake_minimum_required(VERSION 3.25)\nmacro(enable_testing)\nendmacro()\nset(CMAKE_DISABLE_FIND_PACKAGE_GTest ON)\n"
                      f"include({ROOT}/sdk/cmake/AgentForgePlugin.cmake)\n{call}\n")
    return subprocess.run(["cmake", "-P", script], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("arguments, message", [
    ("", "SOURCES names no file"),
    ("EXTRA SOURCES a.cpp", "unknown argument 'EXTRA'"),
], ids=["no_sources", "unknown_argument"])
def test_a_test_is_refused(tmp_path, arguments, message):
    result = run_project(tmp_path, f"agentforge_add_plugin_test(mine {arguments})")
    assert result.returncode != 0
    assert message in " ".join(result.stderr.split())


def test_a_missing_googletest_is_said_and_the_plugin_built_all_the_same(tmp_path):
    result = run_project(tmp_path, "agentforge_add_plugin_test(mine SOURCES a.cpp)")
    assert result.returncode == 0
    assert "GoogleTest was not found, so mine is not built and the plugin is not tested (Debian: libgtest-dev)" in " ".join(result.stderr.split())


def test_tests_that_are_turned_off_are_left_out_without_a_word(tmp_path):
    result = run_project(tmp_path, "set(BUILD_TESTING OFF)\nagentforge_add_plugin_test(mine SOURCES a.cpp)")
    assert (result.returncode, result.stderr) == (0, "")
