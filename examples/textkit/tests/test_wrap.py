"""Tests of textkit.wrap."""

import unittest

from textkit import indent, wrap


class TestWrap(unittest.TestCase):
    """Lines of a paragraph."""

    def test_lines_are_filled(self) -> None:
        self.assertEqual(wrap("one two three", 7), ["one two", "three"])

    def test_long_words_are_not_broken(self) -> None:
        self.assertEqual(wrap("a incomprehensible b", 5), ["a", "incomprehensible", "b"])

    def test_an_empty_text_has_no_lines(self) -> None:
        self.assertEqual(wrap(" \n "), [])

    def test_a_width_below_one_is_refused(self) -> None:
        with self.assertRaises(ValueError):
            wrap("text", 0)


class TestIndent(unittest.TestCase):
    """Prefixes."""

    def test_blank_lines_stay_blank(self) -> None:
        self.assertEqual(indent("a\n\nb\n", "  "), "  a\n\n  b\n")
