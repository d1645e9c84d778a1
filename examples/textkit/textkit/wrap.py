"""Laying text out in lines."""


def wrap(text: str, width: int = 80) -> list[str]:
    """Return the lines of a paragraph, each at most `width` characters.

    A word that is longer than `width` gets a line of its own and is not broken.
    """
    if width < 1:
        raise ValueError("width must be at least 1")
    lines: list[str] = []
    line = ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    if line:
        lines.append(line)
    return lines


def indent(text: str, prefix: str) -> str:
    """Return a text with `prefix` before each line that is not blank."""
    lines = text.splitlines(keepends=True)
    return "".join(prefix + line if line.strip() else line for line in lines)
