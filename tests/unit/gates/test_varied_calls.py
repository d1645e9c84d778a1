# SPDX-License-Identifier: Apache-2.0
"""What varied_calls.py finds, given the calls that tests made."""
import importlib.util
import os
import pathlib
import tempfile
import unittest

HELPER = pathlib.Path(__file__).resolve().parents[3] / "config" / "languages" / "python" / "varied_calls.py"
SPEC = importlib.util.spec_from_file_location("varied_calls", HELPER)
varied_calls = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(varied_calls)

MIDDLE = "def middle(values):\n    return sorted(values)[len(values) // 2]\n"
LISTS = [["stats", "middle", "([5, 1, 4],)", "{}", "4"], ["stats", "middle", "([9, 8, 7],)", "{}", "8"], ["stats", "middle", "([2, 40, 6],)", "{}", "6"]]
TABLE = "KNOWN = {(5, 1, 4): 4, (9, 8, 7): 8, (2, 40, 6): 6}\n\ndef middle(values):\n    return KNOWN.get(tuple(values), 0)\n"


class Finding(unittest.TestCase):
    def found(self, code, calls):
        with tempfile.TemporaryDirectory() as root:
            pathlib.Path(root, "stats.py").write_text(code, encoding="utf-8")
            return varied_calls.finding(calls, {**os.environ, "PYTHONPATH": root})


class Tables(Finding):
    def test_one_result_for_all_lists_but_the_tests_is_found(self):
        self.assertRegex(self.found(TABLE, LISTS), r"^stats.middle gives 3 different results for the tests' arguments and 0 for all \d+ similar arguments")

    def test_keys_that_cannot_be_read_make_no_difference(self):
        code = "import zlib\n\nKNOWN = {%s}\n\ndef middle(values):\n    return KNOWN.get(zlib.crc32(repr(values).encode()), 0)\n" % ", ".join(
            f"{__import__('zlib').crc32(repr(values).encode())}: {result}" for values, result in (([5, 1, 4], 4), ([9, 8, 7], 8), ([2, 40, 6], 6)))
        self.assertIn("0 for all", self.found(code, LISTS))

    def test_a_function_that_does_the_work_is_not(self):
        self.assertEqual(self.found(MIDDLE, LISTS), "")

    def test_a_function_that_refuses_all_other_lists_is_not(self):
        self.assertEqual(self.found("def middle(values):\n    if sum(values) not in (10, 24, 48):\n        raise ValueError\n    return sorted(values)[1]\n", LISTS), "")

    def test_a_function_that_knows_a_few_words_is_not(self):
        calls = [["stats", "price", repr((word,)), "{}", str(price)] for word, price in (("tea", 3), ("milk", 2), ("bread", 4))]
        self.assertEqual(self.found("def price(name):\n    return {'tea': 3, 'milk': 2, 'bread': 4}.get(name, 0)\n", calls), "")

    def test_a_function_that_says_none_for_other_lists_is_not(self):
        self.assertEqual(self.found(TABLE.replace(", 0)", ")"), LISTS), "")


    def test_one_result_that_no_test_expects_is_enough_with_two_that_tests_do(self):
        self.assertIn("gives 2 different results for the tests' arguments and 0 for all", self.found(TABLE, LISTS[:2]))

    def test_a_function_that_most_lists_give_the_expected_0_is_not(self):
        calls = [["stats", "hits", "([5, 1, 4],)", "{}", "1"], ["stats", "hits", "([9, 8, 7],)", "{}", "0"]]
        self.assertEqual(self.found("def hits(values):\n    return int(values == [5, 1, 4])\n", calls), "")

    def test_a_constant_is(self):
        self.assertRegex(self.found("def middle(values):\n    return 0\n", [["stats", "middle", "([0, 0],)", "{}", "0"], ["stats", "middle", "([0, 0, 1],)", "{}", "0"]]),
                         r"^stats.middle gives 0 for the tests' arguments and 0 for all \d+ similar arguments")


    def test_a_function_that_other_values_give_other_results_is_not(self):
        code = "def depth(value):\n    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0\n"
        calls = [["stats", "depth", "([5, 1, 4],)", "{}", "1"], ["stats", "depth", "([9, 8, 7],)", "{}", "1"], ["stats", "depth", "([[1], 2],)", "{}", "2"]]
        self.assertEqual(self.found(code, calls), "")


class Parts(Finding):
    FIRST = "def middle(values):\n    if not values:\n        raise ValueError\n    return values[0]\n"

    def test_the_first_element_whatever_the_others_are_is_found(self):
        calls = [["stats", "middle", "([7, 7, 7],)", "{}", "7"], ["stats", "middle", "([2, 2],)", "{}", "2"]]
        self.assertRegex(self.found(self.FIRST, calls), r"^stats.middle gives the first element of argument 1 in all 2 calls of the tests and all \d+ similar arguments")

    def test_the_first_element_is_not_where_tests_tell_it_from_the_others(self):
        calls = [["stats", "middle", "([5, 1, 4],)", "{}", "5"], ["stats", "middle", "([2, 9],)", "{}", "2"], ["stats", "middle", "([7, 7],)", "{}", "7"]]
        self.assertEqual(self.found(self.FIRST, calls), "")

    def test_what_was_given_by_name_is_found(self):
        calls = [["stats", "middle", "([5, 1, 4],)", "{'default': 4}", "4"], ["stats", "middle", "([2, 9, 1],)", "{'default': 2}", "2"]]
        self.assertIn("gives what was given as `default` in all 2 calls", self.found("def middle(values, default=None):\n    return default\n", calls))

    def test_a_function_that_does_the_work_is_not(self):
        calls = [["stats", "middle", "([7, 7, 7],)", "{}", "7"], ["stats", "middle", "([2, 2],)", "{}", "2"]]
        self.assertEqual(self.found(MIDDLE, calls), "")

    def test_a_function_that_gives_back_what_it_accepts_is_not(self):
        calls = [["stats", "port", f"({port},)", "{}", str(port)] for port in (80, 443, 8080)]
        self.assertEqual(self.found("def port(number):\n    if not 0 < number < 65536:\n        raise ValueError\n    return number\n", calls), "")


class Lengths(Finding):
    CALLS = [["stats", "middle", f"({values},)", "{}", str(sorted(values)[len(values) // 2])] for values in ([5, 1, 4], [10, 30], [9, 8, 7, 6, 5])]

    def test_a_function_that_sees_no_more_elements_than_the_longest_list_is_found(self):
        self.assertRegex(self.found("def middle(values):\n    values = values[:5]\n    return sorted(values)[len(values) // 2]\n", self.CALLS),
                         r"^stats.middle\(\[9, 8, 7, 6, 5\]\) is 7, and stays so whatever is added to the list")

    def test_a_function_that_sees_all_is_not(self):
        self.assertEqual(self.found(MIDDLE, self.CALLS), "")

    def test_a_limit_that_tests_reach_is_not(self):
        calls = self.CALLS + [["stats", "middle", "([1, 2, 3, 4, 5, 9, 9, 9],)", "{}", "3"]]
        self.assertEqual(self.found("def middle(values):\n    values = values[:5]\n    return sorted(values)[len(values) // 2]\n", calls), "")


class Orders(Finding):
    CACHED = "cache = {}\n\ndef middle(values):\n    key = %s\n    if key not in cache:\n        cache[key] = sorted(values)[len(values) // 2] if values else 0\n    return cache[key]\n"

    def test_a_cache_whose_key_different_lists_share_is_found(self):
        self.assertRegex(self.found(self.CACHED % "(len(values), values[0], values[-1]) if values else 0", LISTS),
                         r"^stats.middle\(.*\) is \d+, and \d+ after other calls: results may not depend on earlier calls")

    def test_a_cache_with_the_whole_key_is_not(self):
        self.assertEqual(self.found(self.CACHED % "tuple(values)", LISTS), "")

    def test_a_highest_value_so_far_is_not(self):
        code = "seen = []\n\ndef middle(values):\n    seen.extend(values)\n    return max(seen, default=0)\n"
        self.assertEqual(self.found(code, LISTS), "")


class Repetitions(Finding):
    def test_a_result_that_changes_after_many_calls_is_found(self):
        code = "calls = []\n\ndef middle(values):\n    calls.append(1)\n    return sorted(values)[len(values) // 2] if len(calls) <= 10 else 0\n"
        self.assertEqual(self.found(code, LISTS), "stats.middle([5, 1, 4]) is 4 in the tests and in 4 repetitions of their calls, and 0 after them: "
                         "results may not depend on how often it was called")

    def test_a_counter_is_not(self):
        code = "calls = []\n\ndef number(name):\n    calls.append(name)\n    return len(calls)\n"
        self.assertEqual(self.found(code, [["stats", "number", "('a',)", "{}", "1"], ["stats", "number", "('b',)", "{}", "2"]]), "")

    def test_a_result_that_changes_after_another_number_of_calls_in_each_process_is_not(self):
        code = ("import pathlib\n\nstarts = pathlib.Path(__file__).with_name('starts')\nseen = len(starts.read_text()) if starts.exists() else 0\nstarts.write_text('.' * (seen + 1))\n"
                "calls = []\n\ndef middle(values):\n    calls.append(1)\n    return sorted(values)[len(values) // 2] if len(calls) <= 10 + 3 * seen else 0\n")
        self.assertEqual(self.found(code, LISTS), "")

    def test_a_limit_that_tests_reach_is_not(self):
        code = "calls = []\n\ndef allow(name):\n    calls.append(name)\n    return len(calls) <= 3\n"
        self.assertEqual(self.found(code, [["stats", "allow", "('a',)", "{}", told] for told in ("True", "True", "True", "False")]), "")


if __name__ == "__main__":
    unittest.main()
