"""Blocks of a page that are not tables: lists of bullets, and lists of commands."""

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from itertools import pairwise
from textwrap import indent, wrap
from tokenize import TokenError, generate_tokens
from typing import NamedTuple, Protocol

from baserate._formatting import amber, bold, escape_markdown, red, replace_unprintable

_END = " \\"
"""End of a line of a command that continues."""


class Block(Protocol):
    """Block of a page that renders itself."""

    def lines(self, width: int) -> list[str]:
        """Return its lines for a terminal of that width."""

    def markdown(self) -> str:
        """Return its Markdown."""


SIGNS = {"serious": "!!", "caution": "!", "note": "·", "": ""}
"""Severity -> its sign; without color, too."""
_COLORS: dict[str, Callable[[str], str]] = {"serious": red, "caution": amber}
SEVERITY_NAMES = {"serious": "Serious", "caution": "Caution", "note": "Note", "": ""}


class Bullet(NamedTuple):
    """Heading, sentence, and perhaps a remedy, in which `code` stands between backticks, and a command."""

    head: str
    sentence: str
    remedy: str = ""
    command: str = ""
    """Complete command, or statements of Python."""
    language: str = "sh"
    severity: str = ""
    """Key of `SIGNS`."""
    why: str = ""
    """Explanation behind the sentence."""


@dataclass(frozen=True, slots=True)
class BulletList:
    """Bullets under a title, and perhaps a sentence below them."""

    title: str
    points: tuple[Bullet, ...]
    rest: str = ""

    def lines(self, width: int) -> list[str]:
        """Return its lines for a terminal of that width."""
        lines = [bold(self.title)]
        for point in self.points:
            lines += _mark_lines(point.severity, point.head, width, style=bold)
            lines += _indent(" ".join(filter(None, (point.sentence, point.why))), 4, width)
            lines += _indent(f"→ {point.remedy}", 4, width) if point.remedy else []
            lines += _command_lines(point, width)
        return lines + (_indent(self.rest, 2, width) if self.rest else [])

    def markdown(self) -> str:
        """Return its Markdown."""
        lines = [f"**{escape_markdown(self.title)}**", "", *map(_item, self.points)]
        return "\n".join([*lines, *["", escape_markdown(self.rest)] * bool(self.rest)]).rstrip("\n")

    def without_explanations(self) -> "BulletList":
        """Return the list without the explanations behind its sentences."""
        return replace(self, points=tuple(point._replace(why="") for point in self.points))


class WarningText(NamedTuple):
    """A warning: its severity, a key of `SIGNS`, and its text."""

    severity: str
    text: str


@dataclass(frozen=True, slots=True)
class Statement:
    """Paragraphs under a title, with warnings above and below them."""

    title: str
    paragraphs: tuple[str, ...]
    warnings: tuple[WarningText, ...] = ()
    banner: WarningText | None = None

    def lines(self, width: int) -> list[str]:
        """Return its lines for a terminal of that width."""
        lines = [bold(self.title)]
        lines += _mark_lines(*self.banner, width) if self.banner else []
        lines += [line for text in self.paragraphs for line in _indent(text, 2, width)]
        return lines + [line for warning in self.warnings for line in _mark_lines(*warning, width)]

    def markdown(self) -> str:
        """Return its Markdown."""
        parts = [f"**{escape_markdown(self.title)}**", *map(_markdown_warning, [self.banner] if self.banner else [])]
        # Markdown joins the two spaces between numbers in a line.
        parts += [escape_markdown(replace_unprintable(text)).replace("  ", " · ") for text in self.paragraphs]
        parts += ["\n".join(f"- {_markdown_warning(each)}" for each in self.warnings)] if self.warnings else []
        return "\n\n".join(parts)


def _markdown_warning(warning: WarningText) -> str:
    """Return the Markdown of a warning."""
    return f"**{SEVERITY_NAMES[warning.severity]}:** {escape_markdown(replace_unprintable(warning.text))}"


def _mark_lines(severity: str, text: str, width: int, style: Callable[[str], str] = str) -> list[str]:
    """Wrap a text behind the sign of its severity, which a terminal shows in color."""
    sign = SIGNS[severity]
    margin = len(sign) + 3 if sign else 2
    first, *more = _indent(text, margin, width)
    start = f"  {_COLORS.get(severity, str)(sign)} " if sign else "  "
    return [start + style(first[margin:]), *map(style, more)]


class Command(NamedTuple):
    """Words of a command, quoted for a shell, and its purpose."""

    why: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CommandList:
    """Commands under a title, which can be copied also where their lines are broken."""

    title: str
    language: str
    commands: tuple[Command, ...]

    def lines(self, width: int) -> list[str]:
        """Return its lines for a terminal of that width."""
        lines = [bold(self.title)]
        for why, words in self.commands:
            lines += _indent(why, 2, width, sign="# ")
            lines += _break_words([replace_unprintable(word) for word in words], width)
        return lines

    def markdown(self) -> str:
        """Return its Markdown."""
        code = "\n".join(f"# {why}\n{replace_unprintable(' '.join(words))}" for why, words in self.commands)
        return f"**{escape_markdown(self.title)}**\n\n{_fence(code, self.language)}"


def _item(point: Bullet) -> str:
    """Return the Markdown of a bullet."""
    severity = f"{SEVERITY_NAMES[point.severity]}: " if point.severity else ""
    texts = (severity + point.head, " ".join(filter(None, (point.sentence, point.why))))
    head, sentence = (escape_markdown(replace_unprintable(text)) for text in texts)
    item = f"- **{head}** {sentence}"
    item += f" → {_mark_code(replace_unprintable(point.remedy))}" if point.remedy else ""
    if not point.command:
        return item
    code = "\n".join(map(replace_unprintable, point.command.split("\n")))
    # Indented, so that Markdown keeps the code within the item and continues the list behind it.
    return f"{item}\n\n{indent(_fence(code, point.language), '  ')}\n"


def _command_lines(point: Bullet, width: int) -> list[str]:
    """Return the lines of a command: long lines are broken where a shell or Python allows it."""
    if not point.command:
        return []
    if point.language != "sh":
        return [part for line in point.command.split("\n") for part in _break_python(replace_unprintable(line), width)]
    try:
        words = [shlex.quote(word) for word in shlex.split(point.command)]
    except ValueError:  # a report file may contain any text
        words = [point.command]
    return _break_words([replace_unprintable(word) for word in words], width, margin=6)


def _break_python(line: str, width: int, *, margin: int = 6) -> list[str]:
    """Break a statement behind commas within brackets, where Python allows it."""
    lines = [" " * margin]
    for part in _arguments(line):
        if len(lines[-1]) > margin + 4 and len(lines[-1]) + len(part) > width:
            lines[-1] = lines[-1].rstrip()
            lines.append(" " * (margin + 4) + part)
        else:
            lines[-1] += part
    return lines


def _arguments(line: str) -> list[str]:
    """Split a statement behind each comma within brackets and the space after it.

    >>> _arguments('f(a, g("b, c", d)) or (e)')
    ['f(a, ', 'g("b, c", ', 'd)) or (e)']
    """
    # By tokens, not by characters: commas and brackets in strings do not count.
    depth, ends = 0, []
    try:
        tokens = [*generate_tokens(StringIO(line).readline)]
    except (SyntaxError, TokenError):  # a report file may contain any text
        return [line]
    for token in tokens:
        depth += (token.string in {"(", "[", "{"}) - (token.string in {")", "]", "}"})
        if token.string == "," and depth:
            ends.append(token.end[1] + 1)
    return [line[start:end] for start, end in pairwise([0, *ends, len(line)])]


def _fence(code: str, language: str) -> str:
    """Return a block of code within a fence longer than any in it."""
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", code))])
    return f"{fence}{language}\n{code}\n{fence}"


def _mark_code(text: str) -> str:
    r"""Escape text for Markdown, except code between backticks.

    >>> print(_mark_code("take *this*: `a_b | c`."))
    take \*this\*: `a_b | c`.
    """
    parts = text.split("`")
    if len(parts) % 2 == 0:  # an unpaired backtick is text
        return escape_markdown(text)
    return "`".join(part if at % 2 else escape_markdown(part) for at, part in enumerate(parts))


def _indent(text: str, margin: int, width: int, sign: str = "") -> list[str]:
    """Wrap a text with a margin, and perhaps a sign at each line."""
    before = " " * margin + sign
    return wrap(
        replace_unprintable(text), width, initial_indent=before, subsequent_indent=before, break_on_hyphens=False
    )


def _break_words(words: Sequence[str], width: int, *, margin: int = 2) -> list[str]:
    """Break a command before options, with a backslash at the end of each line."""
    parts: list[str] = []
    for word in words:
        if parts and not word.startswith("-"):
            parts[-1] += f" {word}"
        else:
            parts.append(word)
    lines = [" " * margin + parts[0]]
    # Before options only: an option and its value stay on one line, which a reader can check.
    for part in parts[1:]:
        if len(lines[-1]) + 1 + len(part) + len(_END) <= width:
            lines[-1] += f" {part}"
        else:
            lines.append(" " * (margin + 2) + part)
    return [*(f"{line}{_END}" for line in lines[:-1]), lines[-1]]
