"""Small functions for plain text."""

from textkit.words import most_common, shorten, word_count, words
from textkit.wrap import indent, wrap

__all__ = ["indent", "most_common", "shorten", "word_count", "words", "wrap"]
__version__ = "0.2.0"
