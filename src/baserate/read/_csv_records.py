"""The first record of CSV text: a quoted cell may continue it over several lines."""

from __future__ import annotations

import re


def first_record(text: str) -> tuple[int, list[str]]:
    r"""Count the blank lines before the first record, and list its lines with their ends.

    A record ends with the line that closes its last quote; where none does, with its first line.

    >>> first_record('\n"a\nb",c\n1,2\n')
    (1, ['"a\n', 'b",c\n'])
    """
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)
    blank = next((at for at, line in enumerate(lines) if line.strip()), len(lines))
    quotes = 0
    for end, line in enumerate(lines[blank:], start=blank + 1):
        quotes += line.count('"')
        if quotes % 2 == 0:
            return blank, lines[blank:end]
    return blank, lines[blank : blank + 1]


def without_quoted(record: str) -> str:
    """Leave out quoted cells, so that delimiters can be counted.

    >>> without_quoted('"a, b",c')
    ',c'
    """
    return re.sub(r'"(?:[^"]|"")*"', "", record)
