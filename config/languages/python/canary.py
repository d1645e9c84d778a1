# SPDX-License-Identifier: Apache-2.0
"""Tests that must fail. The gates do not trust a run that reports one of them as anything but a failed assertion:
something in the project has changed what the runner or its assertions do."""
import unittest


class Canary(unittest.TestCase):
    def test_equal(self):
        self.assertEqual(1, 2)

    def test_true(self):
        self.assertTrue(False)

    def test_raises(self):
        with self.assertRaises(KeyError):
            pass

    def test_statement(self):
        assert 1 == 2, "the canary"
