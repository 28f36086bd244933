"""Passages of a page that are no tables: points to know, and lines to type."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
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
        return lines

    def markdown(self) -> str:
        """Draw them for GitHub."""
        return "\n".join([f"**{escaped(self.title)}**", "", *map(_item, self.points)])


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
        fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", typed))])
        return f"**{escaped(self.title)}**\n\n{fence}{self.language}\n{typed}\n{fence}"


def _item(point: Point) -> str:
    told = f"- **{escaped(printable(point.head))}** {escaped(printable(point.sentence))}"
    return f"{told} → {_with_code(printable(point.remedy))}" if point.remedy else told


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


def _broken(words: Sequence[str], width: int) -> list[str]:
    """A command on several lines, broken before options alone, as a shell allows."""
    parts: list[str] = []
    for word in words:
        if parts and not word.startswith("-"):
            parts[-1] += f" {word}"
        else:
            parts.append(word)
    lines = [f"  {parts[0]}"]
    for part in parts[1:]:
        if len(lines[-1]) + 1 + len(part) + len(_END) <= width:
            lines[-1] += f" {part}"
        else:
            lines.append(f"    {part}")
    return [*(f"{line}{_END}" for line in lines[:-1]), lines[-1]]
