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
        self.assertRegex(self.found(TABLE, LISTS), r"^stats.middle gives 3 different results for the tests' arguments and 0 for all \d+ others")

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
