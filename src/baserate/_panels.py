"""Tables for people: what they hold, and how they are drawn in a terminal and in Markdown."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import NamedTuple
from unicodedata import combining, east_asian_width

from baserate._passages import Passage
from baserate._plain_text import bold, escaped, faint, printable

EVERYBODY = "everybody"
"""All groups together."""

_LONGEST = 40
_GAP = "  "
_MOST_IN_MARKDOWN = 8
_LEAST_ROOM = 20
"""Letters of a meaning beside its number; with less room it stands below."""


class Spread(NamedTuple):
    """A number and its bounds; where it has none, `low` alone says so. Without a number it is a range."""

    value: str
    low: str
    high: str = ""

    def interval(self, dash: str = "–") -> str:
        """Bounds in a few letters; a minus is kept apart from the dash."""
        loose = "−" in self.low + self.high and dash == "–"
        return f"{self.low}{' – ' if loose else dash}{self.high}" if self.high else self.low


Cell = str | Spread


@dataclass(frozen=True, slots=True)
class Row:
    """A name, a cell for each column, and perhaps a sentence on what it means."""

    name: str
    cells: tuple[Cell, ...]
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
    below: bool = False
    """Whether intervals stand below their numbers, not beside them."""


@dataclass(frozen=True, slots=True)
class Page:
    """A line on what was read, panels with sentences between them, and footnotes."""

    headline: str
    panels: tuple[Panel | Passage | str, ...]
    footnotes: tuple[str, ...] = ()

    def text(self, width: int) -> str:
        """Draw it for a terminal of that width."""
        parts = [_wrapped(self.headline, width)] if self.headline else []
        parts += [lines for panel in self.panels for lines in drawn(panel, width)]
        notes = [line for note in self.footnotes for line in wrap(note, width, break_on_hyphens=False)]
        parts += [notes] * bool(notes)
        return "\n\n".join("\n".join(lines) for lines in parts) + "\n"

    def markdown(self) -> str:
        """Draw it for GitHub."""
        parts = [escaped(self.headline)] if self.headline else []
        parts += [text for panel in self.panels for text in _tables(panel)]
        return "\n\n".join([*parts, *map(escaped, self.footnotes)]) + "\n"


def label(text: object, most: int = _LONGEST) -> str:
    r"""Name a column or a value, in one line of bounded length; names often differ at their ends, so both are kept.

    >>> label("a\nb"), label("a long name (A)", most=9)
    ('a�b', 'a lo… (A)')
    """
    shown = printable(str(text))
    half = (most - 1) // 2
    return shown if len(shown) <= most else f"{shown[: most - 1 - half]}…{shown[-half:]}"


def drawn(panel: Panel | Passage | str, width: int) -> Iterator[list[str]]:
    """Lines of the panel, or of several where one would be too wide: then each column becomes a row."""
    if isinstance(panel, str):
        yield wrap(panel, width, break_on_hyphens=False)
        return
    if not isinstance(panel, Panel):
        yield panel.lines(width)
        return
    if panel.narrow and not _fits(panel, width):
        yield from (_lines(part, width) for part in _split(panel.narrow, width))
        return
    if panel.upright:
        yield _lines(panel if _fits(panel, width) else _terse(panel), width)
        return
    for fit in (panel, replace(panel, below=True)):
        if _fits(fit, width):
            yield _lines(fit, width)
            return
    for each in turned(panel) if len(panel.columns) > 1 else [panel]:
        yield from (_lines(replace(part, below=not _fits(part, width)), width) for part in _split(each, width))


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
    whole = _wide(panel) <= width
    heads = [
        column.headed([head] if whole else _broken(head)) for head, column in zip(panel.columns, columns, strict=True)
    ]
    wide = [max(column.wide, *map(cells_wide, head)) for head, column in zip(heads, columns, strict=True)]
    lines = list(_heading(panel.corner, names, heads, wide))
    at = 0
    for place, section in enumerate(panel.sections):
        lines += [""] * bool(place)
        lines += [bold(section.title)] * bool(section.title)
        for row in section.rows:
            cells = [_right(column.first[at], places) for column, places in zip(columns, wide, strict=True)]
            lines += _with_meaning(_GAP.join([f"  {_left(row.name, names)}", *cells]), row.meaning, width)
            second = [_right(column.second[at], places) for column, places in zip(columns, wide, strict=True)]
            lines += [faint(_GAP.join([" " * (names + 2), *second]))] * any(map(str.strip, second))
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
        yield from [bold(corner)] if corner else []
        return
    height = max(map(len, heads))
    for at in range(height):
        stacked = [([""] * (height - len(head)) + head)[at] for head in heads]
        cells = [_right(head, places) for head, places in zip(stacked, wide, strict=True)]
        yield bold(_GAP.join([_left(corner if at == height - 1 else "", names + 2), *cells]))


def _broken(name: str) -> list[str]:
    """Name of a column on several lines, broken at spaces."""
    return wrap(name, 12, break_long_words=False, break_on_hyphens=False) or [""]


class _Column(NamedTuple):
    """Texts of a column, all ready: for each row what stands in its line, and what stands below."""

    first: list[str]
    second: list[str]
    margin: int | None = None
    """Letters before what stands at the left; None if it stands at the right."""

    @property
    def wide(self) -> int:
        return max(map(cells_wide, [*self.first, *self.second]), default=0)

    def headed(self, head: Sequence[str]) -> list[str]:
        """Lines of the name above it."""
        if self.margin is None:
            return list(head)
        shifted = [" " * self.margin + line for line in head]
        return [_left(line, max(self.wide, *map(cells_wide, shifted))) for line in shifted]


def _columns(panel: Panel) -> list[_Column]:
    """Cells of each column, points under points."""
    return [_column(panel, at) for at in range(len(panel.columns))]


def _column(panel: Panel, at: int) -> _Column:
    rows = [row for section in panel.sections for row in section.rows]
    cells, numbers = [row.cells[at] for row in rows], _aligned(panel, at)
    if not any(isinstance(cell, Spread) for cell in cells):
        return _Column(numbers, [""] * len(cells))
    if panel.below:
        return _Column(numbers, [cell.interval() if isinstance(cell, Spread) else "" for cell in cells])
    intervals, wide = _beside(cells), max(map(cells_wide, numbers))
    # Several columns stand further apart than a number and its interval; the name of a single one is that of intervals.
    alone = any(row.meaning for row in rows)
    margin, gap = 2 * (at > 0), _GAP if alone else " "
    texts = [f"{'':{margin}}{_right(n, wide)}{gap}{i}" for n, i in zip(numbers, intervals, strict=True)]
    return _Column(texts, [""] * len(cells), None if alone else margin)


def _beside(cells: Sequence[Cell]) -> list[str]:
    """Intervals of a column, points and dashes under each other."""
    bounds = [cell for cell in cells if isinstance(cell, Spread) and cell.high]
    lows, highs = (iter(pointed([getattr(each, name) for each in bounds])) for name in ("low", "high"))
    texts = [
        "" if isinstance(cell, str) else f"{next(lows)} – {next(highs)}" if cell.high else cell.low for cell in cells
    ]
    return [_left(text, max(map(cells_wide, texts))) for text in texts]


def _aligned(panel: Panel, at: int) -> list[str]:
    sections = [(section.apart, [_number(row.cells[at]) for row in section.rows]) for section in panel.sections]
    pooled = iter(pointed([cell for apart, cells in sections if not apart for cell in cells]))
    return [each for apart, cells in sections for each in (pointed(cells) if apart else (next(pooled) for _ in cells))]


def _number(cell: Cell) -> str:
    return cell.value if isinstance(cell, Spread) else cell


def pointed(cells: Sequence[str]) -> list[str]:
    """Pad numbers so that their points stand under each other, and signs behind them.

    >>> pointed(["0.5000", "12.35", "–¹"]), pointed(["1 200", "900*"])
    ([' 0.5000', '12.35  ', ' –¹    '], ['1 200 ', '  900*'])
    """
    halves = [re.split(r"(?=[.*⁰¹²³⁴⁵⁶⁷⁸⁹])", cell, maxsplit=1) for cell in cells]
    whole = max((cells_wide(half[0]) for half in halves), default=0)
    rest = max((cells_wide("".join(half[1:])) for half in halves), default=0)
    return [_right(half[0], whole) + _left("".join(half[1:]), rest) for half in halves]


def _with_meaning(start: str, meaning: str, width: int) -> list[str]:
    if not meaning:
        return [start.rstrip()]
    margin = cells_wide(start) + len(_GAP) + 1
    if width - margin < _LEAST_ROOM:
        return [start.rstrip(), *(f"    {line}" for line in wrap(meaning, width - 4, break_on_hyphens=False))]
    first, *more = wrap(meaning, width - margin, break_on_hyphens=False)
    return [f"{start}{_GAP} {first}", *(f"{'':{margin}}{line}" for line in more)]


def _fits(panel: Panel, width: int) -> bool:
    heads = tuple(max(_broken(head), key=cells_wide) for head in panel.columns)
    narrowest = len(panel.columns) == 1 and (panel.below or not _spread(panel))
    return narrowest or _wide(replace(panel, columns=heads)) <= width


def _spread(panel: Panel) -> bool:
    return any(isinstance(cell, Spread) for section in panel.sections for row in section.rows for cell in row.cells)


def _wide(panel: Panel) -> int:
    columns = zip(panel.columns, _columns(panel), strict=True)
    return (
        _names_wide(panel)
        + 2
        + sum(max(cells_wide(head) + (column.margin or 0), column.wide) + len(_GAP) for head, column in columns)
    )


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
    there = slice(places.start, places.stop)
    sections = (
        replace(section, rows=tuple(replace(row, cells=row.cells[there]) for row in section.rows))
        for section in panel.sections
    )
    return Panel(panel.corner, panel.columns[there], tuple(sections))


def _names_wide(panel: Panel) -> int:
    return max([cells_wide(panel.corner) - 2, *(cells_wide(row.name) for s in panel.sections for row in s.rows)])


def _left(text: str, places: int) -> str:
    return text + " " * (places - cells_wide(text))


def _right(text: str, places: int) -> str:
    return " " * (places - cells_wide(text)) + text


def _tables(panel: Panel | Passage | str) -> Iterator[str]:
    if isinstance(panel, str):
        yield escaped(panel)
    elif not isinstance(panel, Panel):
        yield panel.markdown()
    else:
        many = len(panel.columns) > _MOST_IN_MARKDOWN and not panel.upright
        yield from map(_markdown, turned(panel) if many else [panel])


def _markdown(panel: Panel) -> str:
    """One table for each section with a title of its own; the title stands above the names."""
    lines: list[list[str]] = []
    for place, section in enumerate(panel.sections):
        told = any(row.meaning for row in section.rows)
        if section.title or not place:
            columns = _heads(panel)
            lines += [[]] * bool(place)
            lines += [[section.title or panel.corner, *columns, *["meaning"] * told]]
            lines += [["---", *["---:"] * len(columns), *["---"] * told]]
        for row in section.rows:
            cells = _marked_down(row.cells, apart=len(columns) > len(row.cells))
            lines += [[row.name.strip(), *cells, *[row.meaning] * told]]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" if line else "" for line in lines)


def _heads(panel: Panel) -> list[str]:
    """Names of columns; the intervals of a single one have a column of their own."""
    if _spread(panel) and len(panel.columns) == 1:
        return ["value", *panel.columns]
    return [name or "value" for name in panel.columns]


def _marked_down(cells: Sequence[Cell], *, apart: bool) -> Iterator[str]:
    for cell in cells:
        interval = cell.interval(" – ") if isinstance(cell, Spread) else ""
        if apart:
            yield from (_number(cell), interval)
        else:
            yield f"{_number(cell)} ({interval})" if interval and _number(cell) else _number(cell) or interval


def _cell(text: str) -> str:
    return text if text in {"---", "---:"} else escaped(text)
