"""Tables for people: what they hold, and how they are drawn in a terminal and in Markdown."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from unicodedata import combining, east_asian_width

import click

from baserate.cli._say import printable

EVERYBODY = "everybody"
"""All groups together."""

_LONGEST = 40
_GAP = "  "
_SPECIAL = re.compile(r"([\\`*_|<>\[\]])")
_MOST_IN_MARKDOWN = 8


@dataclass(frozen=True, slots=True)
class Row:
    """A name, a cell for each column, and perhaps a sentence on what it means."""

    name: str
    cells: tuple[str, ...]
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """Rows of one kind; counts are aligned `apart` from rates."""

    title: str
    rows: tuple[Row, ...]
    apart: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """Sections under the same columns; `corner` stands above the names."""

    corner: str
    columns: tuple[str, ...]
    sections: tuple[Section, ...]
    upright: bool = False
    """Whether it must never be turned: a table of truth and decisions has truth in rows."""
    narrow: "Panel | None" = None
    """The same with shorter names, for where there is not enough room."""


@dataclass(frozen=True, slots=True)
class Page:
    """A line on what was read, panels, and footnotes."""

    headline: str
    panels: tuple[Panel, ...]
    footnotes: tuple[str, ...] = ()

    def text(self, width: int) -> str:
        """Draw it for a terminal of that width."""
        parts = [_wrapped(self.headline, width)] if self.headline else []
        parts += [lines for panel in self.panels for lines in drawn(panel, width)]
        parts += [[line for note in self.footnotes for line in wrap(note, width)]] if self.footnotes else []
        return "\n\n".join("\n".join(lines) for lines in parts) + "\n"

    def markdown(self) -> str:
        """Draw it for GitHub."""
        parts = [escaped(self.headline)] if self.headline else []
        for panel in self.panels:
            many = len(panel.columns) > _MOST_IN_MARKDOWN and not panel.upright
            parts += map(_markdown, turned(panel) if many else [panel])
        return "\n\n".join([*parts, *map(escaped, self.footnotes)]) + "\n"


def label(text: object, most: int = _LONGEST) -> str:
    r"""Name a column or a value, in one line of bounded length; names often differ at their ends, so both are kept.

    >>> label("a\nb"), label("a long name (A)", most=9)
    ('a�b', 'a lo… (A)')
    """
    shown = printable(str(text))
    half = (most - 1) // 2
    return shown if len(shown) <= most else f"{shown[: most - 1 - half]}…{shown[-half:]}"


def escaped(text: str) -> str:
    r"""Text that Markdown leaves alone.

    >>> print(escaped("a|b_c"))
    a\|b\_c
    """
    return _SPECIAL.sub(r"\\\1", text)


def drawn(panel: Panel, width: int) -> Iterator[list[str]]:
    """Lines of the panel, or of several where one would be too wide: then each column becomes a row."""
    if panel.narrow and not _fits(panel, width):
        yield from (_lines(part, width) for part in _split(panel.narrow, width))
        return
    if panel.upright or _fits(panel, width):
        yield _lines(panel if _fits(panel, width) else _terse(panel), width)
        return
    for each in turned(panel) if len(panel.columns) > 1 else [panel]:
        yield from (_lines(part, width) for part in _split(each, width))


def _terse(panel: Panel) -> Panel:
    """Drop what stands in parentheses behind the names of rows."""
    sections = (
        replace(section, rows=tuple(replace(row, name=row.name.partition(" (")[0]) for row in section.rows))
        for section in panel.sections
    )
    return replace(panel, sections=tuple(sections))


def turned(panel: Panel) -> list[Panel]:
    """One row for each column, and one panel for each section."""

    def rows(section: Section) -> Iterator[Row]:
        for at, name in enumerate(panel.columns):
            yield Row(name, tuple(row.cells[at] for row in section.rows))

    return [
        Panel(
            section.title or panel.corner, tuple(row.name for row in section.rows), (Section("", tuple(rows(section))),)
        )
        for section in panel.sections
    ]


def cells_wide(text: str) -> int:
    r"""How many places a text takes in a terminal.

    >>> cells_wide("abc"), cells_wide("日本"), cells_wide("e\u0301")
    (3, 4, 1)
    """
    return sum(0 if combining(letter) else 1 + (east_asian_width(letter) in "WF") for letter in text)


def _wrapped(headline: str, width: int) -> list[str]:
    """Break a line at its dots alone."""
    parts = (part.replace(" ", "\xa0") for part in headline.split(" · "))
    return [line.replace("\xa0", " ") for line in wrap(" · ".join(parts), width, break_on_hyphens=False)]


def _lines(panel: Panel, width: int) -> list[str]:
    panel = _titled(panel)
    names, columns = _names_wide(panel), _columns(panel)
    heads = [[head] for head in panel.columns] if _wide(panel) <= width else [_broken(head) for head in panel.columns]
    wide = [max(map(cells_wide, [*head, *column])) for head, column in zip(heads, columns, strict=True)]
    lines = list(_heading(panel.corner, names, heads, wide))
    at = 0
    for place, section in enumerate(panel.sections):
        lines += [""] * bool(place)
        lines += [_bold(section.title)] * bool(section.title)
        for row in section.rows:
            cells = [_right(column[at], places) for column, places in zip(columns, wide, strict=True)]
            lines += _with_meaning(_GAP.join([f"  {_left(row.name, names)}", *cells]), row.meaning, width)
            at += 1
    return lines


def _titled(panel: Panel) -> Panel:
    """Put the title of the first section into an empty corner."""
    first, *more = panel.sections
    if panel.corner or not any(panel.columns):
        return panel
    return replace(panel, corner=first.title, sections=(replace(first, title=""), *more))


def _heading(corner: str, names: int, heads: Sequence[list[str]], wide: Sequence[int]) -> Iterator[str]:
    """Lines above the rows; names of columns stand on as many lines as the longest of them needs."""
    if not any(map(any, heads)):
        yield from [_bold(corner)] if corner else []
        return
    height = max(map(len, heads))
    for at in range(height):
        stacked = [([""] * (height - len(head)) + head)[at] for head in heads]
        cells = [_right(head, places) for head, places in zip(stacked, wide, strict=True)]
        yield _bold(_GAP.join([_left(corner if at == height - 1 else "", names + 2), *cells]))


def _broken(name: str) -> list[str]:
    """Name of a column on several lines, broken at spaces."""
    return wrap(name, 12, break_long_words=False, break_on_hyphens=False) or [""]


def _columns(panel: Panel) -> list[list[str]]:
    """Cells of each column, points under points."""
    return [_aligned(panel, at) for at in range(len(panel.columns))]


def _aligned(panel: Panel, at: int) -> list[str]:
    sections = [(section.apart, [row.cells[at] for row in section.rows]) for section in panel.sections]
    pooled = iter(pointed([cell for apart, cells in sections if not apart for cell in cells]))
    return [each for apart, cells in sections for each in (pointed(cells) if apart else (next(pooled) for _ in cells))]


def pointed(cells: Sequence[str]) -> list[str]:
    """Pad numbers so that their points stand under each other.

    >>> pointed(["0.5000", "12.35", "–¹"])
    [' 0.5000', '12.35  ', ' –¹    ']
    """
    halves = [re.split(r"(?=[.⁰¹²³⁴⁵⁶⁷⁸⁹])", cell, maxsplit=1) for cell in cells]
    whole = max((cells_wide(half[0]) for half in halves), default=0)
    rest = max((cells_wide("".join(half[1:])) for half in halves), default=0)
    return [_right(half[0], whole) + _left("".join(half[1:]), rest) for half in halves]


def _with_meaning(start: str, meaning: str, width: int) -> list[str]:
    if not meaning:
        return [start.rstrip()]
    margin = cells_wide(start) + len(_GAP) + 1
    first, *more = wrap(meaning, max(width - margin, 20), break_on_hyphens=False)
    return [f"{start}{_GAP} {first}", *(f"{'':{margin}}{line}" for line in more)]


def _fits(panel: Panel, width: int) -> bool:
    heads = tuple(max(_broken(head), key=cells_wide) for head in panel.columns)
    return len(panel.columns) == 1 or _wide(replace(panel, columns=heads)) <= width


def _wide(panel: Panel) -> int:
    columns = zip(panel.columns, _columns(panel), strict=True)
    return _names_wide(panel) + 2 + sum(max(map(cells_wide, [head, *column])) + len(_GAP) for head, column in columns)


def _split(panel: Panel, width: int) -> list[Panel]:
    """Panels with as many columns each as there is room for."""
    parts: list[range] = []
    for at in range(len(panel.columns)):
        wider = range(parts[-1].start, at + 1) if parts else range(0)
        if wider and _fits(_only(panel, wider), width):
            parts[-1] = wider
        else:
            parts.append(range(at, at + 1))
    return [_only(panel, places) for places in parts]


def _only(panel: Panel, places: range) -> Panel:
    """The panel with these columns alone."""

    def cut(values: tuple[str, ...]) -> tuple[str, ...]:
        return values[places.start : places.stop]

    sections = (
        replace(section, rows=tuple(replace(row, cells=cut(row.cells)) for row in section.rows))
        for section in panel.sections
    )
    return Panel(panel.corner, cut(panel.columns), tuple(sections))


def _names_wide(panel: Panel) -> int:
    return max([cells_wide(panel.corner) - 2, *(cells_wide(row.name) for s in panel.sections for row in s.rows)])


def _left(text: str, places: int) -> str:
    return text + " " * (places - cells_wide(text))


def _right(text: str, places: int) -> str:
    return " " * (places - cells_wide(text)) + text


def _bold(text: str) -> str:
    return click.style(text.rstrip(), bold=True)


def _markdown(panel: Panel) -> str:
    """One table for each section with a title of its own; the title stands above the names."""
    lines: list[list[str]] = []
    for place, section in enumerate(panel.sections):
        told = any(row.meaning for row in section.rows)
        if section.title or not place:
            columns = [name or "value" for name in panel.columns]
            lines += [[]] * bool(place)
            lines += [[section.title or panel.corner, *columns, *["meaning"] * told]]
            lines += [["---", *["---:"] * len(columns), *["---"] * told]]
        lines += [[row.name.strip(), *row.cells, *[row.meaning] * told] for row in section.rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" if line else "" for line in lines)


def _cell(text: str) -> str:
    return text if text in {"---", "---:"} else escaped(text)
