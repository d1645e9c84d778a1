"""Tests of textkit.cli."""

import contextlib
import io
import unittest

from textkit.cli import main


def run(arguments: list[str], text: str) -> tuple[int, str, str]:
    """Return the exit code, the output and the error output of one command."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments, io.StringIO(text))
    return code, out.getvalue(), err.getvalue()


class TestCli(unittest.TestCase):
    """The commands."""

    def test_count(self) -> None:
        self.assertEqual(run(["count"], "one two three"), (0, "3\n", ""))

    def test_common(self) -> None:
        self.assertEqual(run(["common", "--count", "1"], "a b a"), (0, "2\ta\n", ""))

    def test_wrap(self) -> None:
        self.assertEqual(run(["wrap", "--width", "3"], "one two"), (0, "one\ntwo\n", ""))

    def test_a_wrong_width_is_reported(self) -> None:
        code, _, err = run(["wrap", "--width", "0"], "text")
        self.assertEqual((code, err), (2, "textkit: width must be at least 1\n"))
