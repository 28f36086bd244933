"""Passages of a page that are no tables: points to know, and lines to type."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import pairwise
from textwrap import indent, wrap
from tokenize import TokenError, generate_tokens
from typing import NamedTuple, Protocol

from baserate._plain_text import bold, escaped, printable

_END = " \\"
"""Where a command goes on in the next line."""


class Passage(Protocol):
    """What stands between tables and draws itself."""

    def lines(self, width: int) -> list[str]:
        """Draw it for a terminal of that width."""

    def markdown(self) -> str:
        """Draw it for GitHub."""


class Point(NamedTuple):
    """What it is about, a sentence below it, and perhaps what to do, in which `code` stands between backticks."""

    head: str
    sentence: str
    remedy: str = ""
    command: str = ""
    """What to do as it is typed, complete."""
    language: str = "sh"


@dataclass(frozen=True, slots=True)
class Points:
    """Points under a title."""

    title: str
    points: tuple[Point, ...]

    def lines(self, width: int) -> list[str]:
        """Draw them for a terminal of that width."""
        lines = [bold(self.title)]
        for point in self.points:
            lines += map(bold, _indented(point.head, 2, width))
            lines += _indented(point.sentence, 4, width)
            lines += _indented(f"→ {point.remedy}", 4, width) if point.remedy else []
            lines += _typed(point, width)
        return lines

    def markdown(self) -> str:
        """Draw them for GitHub."""
        return "\n".join([f"**{escaped(self.title)}**", "", *map(_item, self.points)]).rstrip("\n")


class Command(NamedTuple):
    """What is typed, word by word as a shell wants them, and what for."""

    why: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Commands:
    """What may be typed next; it can be copied as it stands, also where it is broken."""

    title: str
    language: str
    commands: tuple[Command, ...]

    def lines(self, width: int) -> list[str]:
        """Draw them for a terminal of that width."""
        lines = [bold(self.title)]
        for why, words in self.commands:
            lines += _indented(why, 2, width, sign="# ")
            lines += _broken([printable(word) for word in words], width)
        return lines

    def markdown(self) -> str:
        """Draw them for GitHub."""
        typed = "\n".join(f"# {why}\n{printable(' '.join(words))}" for why, words in self.commands)
        return f"**{escaped(self.title)}**\n\n{_fenced(typed, self.language)}"


def _item(point: Point) -> str:
    told = f"- **{escaped(printable(point.head))}** {escaped(printable(point.sentence))}"
    told += f" → {_with_code(printable(point.remedy))}" if point.remedy else ""
    if not point.command:
        return told
    typed = "\n".join(map(printable, point.command.split("\n")))
    # Within the item, so that the list goes on behind it.
    return f"{told}\n\n{indent(_fenced(typed, point.language), '  ')}\n"


def _typed(point: Point, width: int) -> list[str]:
    """A command below its point: of a shell, broken where it is too long; lines of Python as they are."""
    if not point.command:
        return []
    if point.language != "sh":
        return [part for line in point.command.split("\n") for part in _broken_python(printable(line), width)]
    try:
        words = [shlex.quote(word) for word in shlex.split(point.command)]
    except ValueError:  # somebody else wrote it
        words = [point.command]
    return _broken([printable(word) for word in words], width, margin=6)


def _broken_python(line: str, width: int, *, margin: int = 6) -> list[str]:
    """A statement on several lines, broken behind commas within brackets alone, as Python allows."""
    lines = [" " * margin]
    for part in _arguments(line):
        if len(lines[-1]) > margin + 4 and len(lines[-1]) + len(part) > width:
            lines[-1] = lines[-1].rstrip()
            lines.append(" " * (margin + 4) + part)
        else:
            lines[-1] += part
    return lines


def _arguments(line: str) -> list[str]:
    """A statement in parts, each up to a comma within brackets and the space behind it.

    >>> _arguments('f(a, g("b, c", d)) or (e)')
    ['f(a, ', 'g("b, c", ', 'd)) or (e)']
    """
    depth, ends = 0, []
    try:
        tokens = [*generate_tokens(StringIO(line).readline)]
    except (SyntaxError, TokenError):  # somebody else wrote it
        return [line]
    for token in tokens:
        depth += (token.string in {"(", "[", "{"}) - (token.string in {")", "]", "}"})
        if token.string == "," and depth:
            ends.append(token.end[1] + 1)
    return [line[start:end] for start, end in pairwise([0, *ends, len(line)])]


def _fenced(typed: str, language: str) -> str:
    """A block of code, within a fence longer than any in it."""
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", typed))])
    return f"{fence}{language}\n{typed}\n{fence}"


def _with_code(text: str) -> str:
    r"""Text that Markdown leaves alone, but for what stands between backticks, which is code.

    >>> print(_with_code("take *this*: `a_b | c`."))
    take \*this\*: `a_b | c`.
    """
    parts = text.split("`")
    if len(parts) % 2 == 0:  # one of them is no bracket
        return escaped(text)
    return "`".join(part if at % 2 else escaped(part) for at, part in enumerate(parts))


def _indented(text: str, margin: int, width: int, sign: str = "") -> list[str]:
    before = " " * margin + sign
    return wrap(printable(text), width, initial_indent=before, subsequent_indent=before, break_on_hyphens=False)


def _broken(words: Sequence[str], width: int, *, margin: int = 2) -> list[str]:
    """A command on several lines, broken before options alone, as a shell allows."""
    parts: list[str] = []
    for word in words:
        if parts and not word.startswith("-"):
            parts[-1] += f" {word}"
        else:
            parts.append(word)
    lines = [" " * margin + parts[0]]
    for part in parts[1:]:
        if len(lines[-1]) + 1 + len(part) + len(_END) <= width:
            lines[-1] += f" {part}"
        else:
            lines.append(" " * (margin + 2) + part)
    return [*(f"{line}{_END}" for line in lines[:-1]), lines[-1]]
