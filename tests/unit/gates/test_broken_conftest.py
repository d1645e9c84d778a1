# SPDX-License-Identifier: Apache-2.0
"""Python's test runner names the conftest.py that does not load, where pytest itself only ends with 4."""
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

RUNNER = pathlib.Path(__file__).resolve().parents[3] / "config" / "languages" / "python" / "run_tests.py"

SCRIPT = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("runner", sys.argv[1])
runner = importlib.util.module_from_spec(spec)
spec.loader.exec_module(runner)
import pytest
broken = runner.note_broken_conftest()
code = int(pytest.main(["-q", "-p", "no:cacheprovider", sys.argv[2]]))
print("ended with", code, [(path, runner.describe(error)) for path, error in broken])
"""


@unittest.skipUnless(importlib.util.find_spec("pytest"), "needs pytest")
class BrokenConftestTest(unittest.TestCase):
    def run_with(self, conftest):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "conftest.py").write_text(conftest, encoding="utf-8")
            pathlib.Path(folder, "test_a.py").write_text("def test_a():\n    pass\n", encoding="utf-8")
            return subprocess.run([sys.executable, "-B", "-c", SCRIPT, str(RUNNER), folder], capture_output=True, text=True, check=True).stdout

    def test_names_the_conftest_and_its_error(self):
        output = self.run_with("from json import gone\n")
        self.assertIn("ended with 4", output)
        self.assertIn("conftest.py", output)
        self.assertIn("ImportError: cannot import name 'gone'", output)

    def test_notes_nothing_if_all_load(self):
        self.assertIn("ended with 0 []", self.run_with("import json\n"))


if __name__ == "__main__":
    unittest.main()
