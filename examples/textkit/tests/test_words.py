"""Tests of textkit.words."""

import unittest

from textkit import most_common, shorten, word_count, words


class TestWords(unittest.TestCase):
    """What counts as a word."""

    def test_punctuation_separates(self) -> None:
        self.assertEqual(words("One, two; three."), ["One", "two", "three"])

    def test_apostrophes_and_hyphens_inside_belong_to_the_word(self) -> None:
        self.assertEqual(words("don't re-use 'quotes'"), ["don't", "re-use", "quotes"])

    def test_letters_of_all_alphabets_count(self) -> None:
        self.assertEqual(words("Größe слово"), ["Größe", "слово"])

    def test_count_of_an_empty_text_is_zero(self) -> None:
        self.assertEqual(word_count("  \n"), 0)


class TestMostCommon(unittest.TestCase):
    """Frequencies."""

    def test_case_is_ignored(self) -> None:
        self.assertEqual(most_common("The the a"), [("the", 2), ("a", 1)])

    def test_equal_counts_are_in_alphabetical_order(self) -> None:
        self.assertEqual(most_common("b a c", 2), [("a", 1), ("b", 1)])

    def test_a_negative_count_is_refused(self) -> None:
        with self.assertRaises(ValueError):
            most_common("a", -1)


class TestShorten(unittest.TestCase):
    """Cutting between words."""

    def test_a_short_text_stays(self) -> None:
        self.assertEqual(shorten("short  text", 20), "short text")

    def test_a_long_text_is_cut_between_words(self) -> None:
        self.assertEqual(shorten("A title that is too long", 12), "A title…")

    def test_a_single_long_word_is_cut(self) -> None:
        self.assertEqual(shorten("unbelievable", 5), "unbe…")

    def test_the_result_is_never_longer_than_the_width(self) -> None:
        for width in range(1, 30):
            self.assertLessEqual(len(shorten("one two three four five six", width)), width)

    def test_a_width_below_one_is_refused(self) -> None:
        with self.assertRaises(ValueError):
            shorten("text", 0)
