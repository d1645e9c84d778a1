# SPDX-License-Identifier: Apache-2.0
"""What outside_tests.py says of calls that tests make without the change and not with it."""
import importlib.util
import pathlib
import unittest

HELPER = pathlib.Path(__file__).resolve().parents[3] / "config" / "languages" / "python" / "outside_tests.py"
SPEC = importlib.util.spec_from_file_location("outside_tests", HELPER)
outside_tests = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(outside_tests)


def call(arguments, result="raises NotImplementedError", function="middle"):
    return ["stats", function, arguments, "{}", result]


class OnlyBefore(unittest.TestCase):
    def found(self, now, *recordings):
        recorded = list(recordings)
        return outside_tests.only_before("/now", now, "/before", lambda: recorded.pop(0) if len(recorded) > 1 else recorded[0])

    def test_a_call_that_is_not_made_with_the_change_is_found(self):
        self.assertIn("the tests call stats.middle([5, 1, 4]); with it, they do not", self.found([call("([0],)", "0")], [call("([5, 1, 4],)")]))

    def test_the_first_of_many_calls_is_not(self):
        self.assertEqual(self.found([call("([5, 1, 4],)", "4"), call("([9, 8],)", "8.5")], [call("([5, 1, 4],)")]), "")

    def test_a_call_that_chance_decides_is_not(self):
        self.assertEqual(self.found([call("([3],)", "3")], [call("([1],)")], [call("([2],)")]), "")

    def test_a_call_whose_result_is_no_literal_now_is_not(self):
        self.assertEqual(self.found([call("('a',)", None), call("('',)", "raises ValueError")], [call("('a',)"), call("('',)")]), "")

    def test_a_path_below_the_tree_is_the_same_path(self):
        self.assertEqual(self.found([call("('/now/data',)", "3")], [call("('/before/data',)")]), "")

    def test_what_comes_after_a_call_that_gives_another_result_now_is_not(self):
        self.assertEqual(self.found([call("('x',)", "'new'", "parse"), call("('new',)", "1")], [call("('x',)", "'old'", "parse"), call("('old',)")]), "")

    def test_a_constant_that_has_no_value_yet_is_not(self):
        self.assertEqual(self.found([call("(10,)", "1")], [call("(None,)")]), "")

    def test_a_function_that_nothing_calls_with_the_change_is_not(self):
        self.assertEqual(self.found([call("(1,)", "1")], [call("(2,)", function="other")]), "")


if __name__ == "__main__":
    unittest.main()
