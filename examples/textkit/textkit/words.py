"""Finding, counting and keeping words."""

import re
from collections import Counter

_WORD = re.compile(r"[^\W_](?:[^\W_]|['’-](?=[^\W_]))*")
_ELLIPSIS = "…"


def words(text: str) -> list[str]:
    """Return the words of a text, in order."""
    return _WORD.findall(text)


def word_count(text: str) -> int:
    """Return how many words a text has."""
    return len(words(text))


def most_common(text: str, count: int = 10) -> list[tuple[str, int]]:
    """Return the most frequent words with their counts, ignoring case.

    Words that are equally frequent come in the order of the alphabet.
    """
    if count < 0:
        raise ValueError("count must not be negative")
    frequencies = Counter(word.casefold() for word in words(text))
    ordered = sorted(frequencies.items(), key=lambda item: (-item[1], item[0]))
    return ordered[:count]


def shorten(text: str, width: int) -> str:
    """Return a text of at most `width` characters, cut between words where possible.

    White space is collapsed. A text that was cut ends in an ellipsis.
    """
    if width < 1:
        raise ValueError("width must be at least 1")
    collapsed = " ".join(text.split())
    if len(collapsed) <= width:
        return collapsed
    room = width - len(_ELLIPSIS)
    cut = collapsed[:room]
    if collapsed[room] != " " and " " in cut:
        cut = cut.rsplit(" ", 1)[0]
    return cut.rstrip() + _ELLIPSIS
