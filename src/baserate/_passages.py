"""Passages of a page that are no tables: points to know, and lines to type."""

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
    """What it is about, and sentences below it."""

    head: str
    body: tuple[str, ...]


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
            lines += (line for each in point.body for line in _indented(each, 4, width))
        return lines

    def markdown(self) -> str:
        """Draw them for GitHub."""
        each = (f"- **{escaped(printable(head))}** {escaped(printable(' '.join(body)))}" for head, body in self.points)
        return "\n".join([f"**{escaped(self.title)}**", "", *each])


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
        lines = (f"# {why}\n{printable(' '.join(words))}" for why, words in self.commands)
        return "\n".join([f"**{escaped(self.title)}**", "", f"```{self.language}", *lines, "```"])


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
