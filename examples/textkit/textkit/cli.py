"""The command line: reads standard input, writes standard output."""

import argparse
import sys
from collections.abc import Sequence
from typing import Optional, TextIO

from textkit.words import most_common, word_count
from textkit.wrap import wrap


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="textkit", description="Small functions for plain text.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("count", help="print the number of words")
    common = commands.add_parser("common", help="print the most frequent words")
    common.add_argument("--count", type=int, default=10, help="how many words (default: 10)")
    wrapped = commands.add_parser("wrap", help="print the text in lines of a given width")
    wrapped.add_argument("--width", type=int, default=80, help="characters a line (default: 80)")
    return parser


def main(arguments: Optional[Sequence[str]] = None, source: Optional[TextIO] = None) -> int:
    """Run one command on a text and return the exit code."""
    options = build_parser().parse_args(arguments)
    text = (source or sys.stdin).read()
    try:
        if options.command == "count":
            print(word_count(text))
        elif options.command == "common":
            for word, count in most_common(text, options.count):
                print(f"{count}\t{word}")
        else:
            for line in wrap(text, options.width):
                print(line)
    except ValueError as error:
        print(f"textkit: {error}", file=sys.stderr)
        return 2
    return 0
