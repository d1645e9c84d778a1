"""Lets `python3 -m textkit` run the command line."""

import sys

from textkit.cli import main

if __name__ == "__main__":
    sys.exit(main())
