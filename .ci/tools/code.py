"""Prints Swift code as "file:line:code", without comments and with empty strings, for checks that search for words.

usage: code.py FILE...
"""

import re
import sys

# The end of plain code: a comment, or a string with its number signs.
OPENING = re.compile(r'//|/\*|(#*)("""|")')
COMMENT_EDGE = re.compile(r"/\*|\*/")


def end_of_comment(text, start):
    """Returns the index after a block comment, which may contain others."""
    depth, at = 1, start + 2
    while depth:
        edge = COMMENT_EDGE.search(text, at)
        if not edge:
            return len(text)
        depth += 1 if edge.group() == "/*" else -1
        at = edge.end()
    return at


def end_of_string(text, at, signs, quotes):
    """Returns the index after a string that is open at `at`, including its interpolations and their content."""
    escape = "\\" + signs
    while at < len(text):
        if text.startswith(quotes + signs, at):
            return at + len(quotes + signs)
        if text.startswith(escape + "(", at):
            at = end_of_interpolation(text, at + len(escape) + 1)
        elif text.startswith(escape, at):
            at += len(escape) + 1
        else:
            at += 1
    return at


def end_of_interpolation(text, at):
    """Returns the index after the parenthesis that closes an interpolation open at `at`."""
    depth = 1
    while at < len(text) and depth:
        opening = OPENING.match(text, at)
        if opening and opening.group(2):
            at = end_of_string(text, opening.end(), opening.group(1), opening.group(2))
            continue
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return at


def bare_code(text):
    """Returns the text with comments and the content of strings replaced by their line ends."""
    pieces, at = [], 0
    while opening := OPENING.search(text, at):
        pieces.append(text[at : opening.start()])
        if opening.group() == "//":
            end = text.find("\n", opening.end())
            end = len(text) if end < 0 else end
        elif opening.group() == "/*":
            end = end_of_comment(text, opening.start())
        else:
            end = end_of_string(text, opening.end(), opening.group(1), opening.group(2))
            pieces.append('""')
        pieces.append("\n" * text.count("\n", opening.start(), end))
        at = end
    pieces.append(text[at:])
    return "".join(pieces)


def numbered(text):
    """Yields the number of each line with code, and its code."""
    for number, line in enumerate(bare_code(text).split("\n"), start=1):
        if line.strip():
            yield number, line


if __name__ == "__main__":
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8") as file:
            for number, line in numbered(file.read()):
                print(f"{name}:{number}:{line}")
