"""Tables and pages, and their rendering in a terminal and in Markdown."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import NamedTuple, Self
from unicodedata import combining, east_asian_width

from baserate._formatting import bold, escape_markdown, faint, replace_unprintable, strip_styles
from baserate.text._blocks import Block, BulletList

EVERYBODY = "everybody"
"""All groups together."""

_LONGEST = 40
_GAP = "  "
_MOST_IN_MARKDOWN = 8
_NARROWEST = 20
"""Letters of the narrowest column of meanings; on narrower terminals they stand below their numbers."""


SHELL_HINT = "Methods and definitions: add --explain."
PYTHON_HINT = "Methods and definitions: text(explain=True)."
"""Last line of a page whose explanations are not shown: in a shell, and in Python."""


class Explanation(str):
    """Definition of a number, or method of intervals: text that a terminal shows on request.

    `brief` stands in its place where it is not shown.

    >>> note = Explanation("95% intervals: Wilson.", brief="Intervals: 95% confidence.")
    >>> Page("", (), (note,)).text(80).strip()
    'Intervals: 95% confidence. Methods and definitions: add --explain.'
    >>> Page("", (), (note,)).text(80, explain=True).strip()
    '95% intervals: Wilson.'
    """

    __slots__ = ("brief",)
    brief: str

    def __new__(cls, text: str, brief: str = "") -> Self:
        """Make an explanation of a text."""
        explanation = super().__new__(cls, text)
        explanation.brief = brief
        return explanation


class IntervalCell(NamedTuple):
    """A number and its bounds; without bounds, `low` is a text. Without a number the cell is a range."""

    value: str
    low: str
    high: str = ""

    def interval(self, dash: str = "–") -> str:
        """Return both bounds; spaces separate the dash from a minus."""
        loose = "−" in self.low + self.high and dash == "–"
        return f"{self.low}{' – ' if loose else dash}{self.high}" if self.high else self.low


Cell = str | IntervalCell


@dataclass(frozen=True, slots=True)
class Row:
    """A name, a cell for each column, and perhaps a sentence on its meaning."""

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
class Table:
    """Sections under the same columns; `corner` stands above the names."""

    corner: str
    columns: tuple[str, ...]
    sections: tuple[Section, ...]
    upright: bool = False
    """Whether it is never transposed: a confusion matrix has truth in rows."""
    narrow: "Table | None" = None
    """Version with shorter names, for narrow terminals."""
    below: bool = False
    """Whether intervals stand below their numbers, not beside them."""


@dataclass(frozen=True, slots=True)
class Page:
    """A headline on the data, panels with sentences between them, and footnotes.

    Meanings of rows and footnotes that are an `Explanation` are shown in a terminal on request only, and always in
    Markdown and HTML, whose readers cannot ask for them.
    """

    headline: str
    panels: tuple[Table | Block | str, ...]
    footnotes: tuple[str, ...] = ()

    def text(self, width: int, *, explain: bool = False, hint: str = SHELL_HINT) -> str:
        """Return the page for a terminal of that width.

        Parameters
        ----------
        width
            Columns of the terminal.
        explain
            Whether to show definitions and methods.
        hint
            Last line where they are not shown.
        """
        page = self if explain else self._without_explanations(hint)
        parts = [_wrap_headline(page.headline, width)] if page.headline else []
        parts += [lines for panel in page.panels for lines in render_lines(panel, width)]
        notes = [line for note in page.footnotes for line in wrap(note, width, break_on_hyphens=False)]
        parts += [notes] * bool(notes)
        return "\n\n".join("\n".join(lines) for lines in parts) + "\n"

    def plain_text(self, width: int, *, explain: bool = False) -> str:
        """Return the page without marks of bold, faint and colored text, and without control characters."""
        text = strip_styles(self.text(width, explain=explain, hint=PYTHON_HINT))
        return "\n".join(map(replace_unprintable, text.split("\n")))

    def _without_explanations(self, hint: str) -> "Page":
        """Return the page with a hint in place of its explanations; the page itself if it has none."""
        panels = tuple(map(_drop_explanations, self.panels))
        notes = tuple(each for each in self.footnotes if not isinstance(each, Explanation))
        if panels == self.panels and notes == self.footnotes:
            return self
        brief = dict.fromkeys(each.brief for each in self.footnotes if isinstance(each, Explanation) and each.brief)
        return replace(self, panels=panels, footnotes=(*notes, " ".join([*brief, hint])))

    def html(self) -> str:
        """Return the page as HTML for notebooks."""
        from baserate.text._html import render_html  # imported here: it renders blocks that import this module

        return render_html(self.headline, self.panels, self.footnotes)

    def markdown(self) -> str:
        """Return the page as Markdown for GitHub."""
        parts = [escape_markdown(self.headline)] if self.headline else []
        parts += [text for panel in self.panels for text in _markdown_blocks(panel)]
        return "\n\n".join([*parts, *map(escape_markdown, self.footnotes)]) + "\n"


def shorten_label(text: object, most: int = _LONGEST) -> str:
    r"""Shorten a name to one line of bounded length; names often differ at their ends, so both ends stay.

    >>> shorten_label("a\nb"), shorten_label("a long name (A)", most=9)
    ('a�b', 'a lo… (A)')
    """
    shown = replace_unprintable(str(text))
    half = (most - 1) // 2
    return shown if len(shown) <= most else f"{shown[: most - 1 - half]}…{shown[-half:]}"


def render_lines(panel: Table | Block | str, width: int) -> Iterator[list[str]]:
    """Yield the lines of a panel, transposed and split where it is too wide."""
    if isinstance(panel, str):
        yield wrap(panel, width, break_on_hyphens=False)
        return
    if not isinstance(panel, Table):
        yield panel.lines(width)
        return
    if panel.upright:
        shorter = panel.narrow or panel
        versions = (panel, shorter, _drop_parentheses(panel), _drop_parentheses(shorter))
        fit = next((each for each in versions if _fits(each, width)), None)
        # A matrix of many classes fits no terminal, and is split as any other table is.
        yield from [_table_lines(fit, width)] if fit else (_table_lines(part, width) for part in _split(shorter, width))
        return
    if panel.narrow and not _fits(panel, width):
        for part in _split(panel.narrow, width):
            yield _table_lines(replace(part, below=not _fits(part, width)), width)
        return
    # First unchanged, then with intervals below their numbers, and only then transposed: readers compare down a column.
    for fit in (panel, replace(panel, below=True)):
        if _fits(fit, width):
            yield _table_lines(fit, width)
            return
    for each in transpose(panel) if len(panel.columns) > 1 else [panel]:
        yield from (_table_lines(replace(part, below=not _fits(part, width)), width) for part in _split(each, width))


def _drop_explanations(panel: Table | Block | str) -> Table | Block | str:
    """Return a panel without explanations."""
    if isinstance(panel, BulletList):
        return panel.without_explanations()
    return _drop_meanings(panel) if isinstance(panel, Table) else panel


def _drop_meanings(panel: Table) -> Table:
    """Return a table without meanings that are explanations."""

    def without_meaning(row: Row) -> Row:
        return replace(row, meaning="") if isinstance(row.meaning, Explanation) else row

    sections = tuple(replace(each, rows=tuple(map(without_meaning, each.rows))) for each in panel.sections)
    narrow = None if panel.narrow is None else _drop_meanings(panel.narrow)
    return replace(panel, sections=sections, narrow=narrow)


def split_when_narrow(panel: Table) -> Table:
    """Return a table that a narrow terminal splits by columns: transposed, curves and models are hard to read."""
    sections = (replace(each, rows=tuple(replace(row, meaning="") for row in each.rows)) for each in panel.sections)
    return replace(panel, narrow=replace(panel, sections=tuple(sections)))


def _drop_parentheses(panel: Table) -> Table:
    """Return a table without the parentheses behind the names of rows."""
    sections = (
        replace(section, rows=tuple(replace(row, name=row.name.partition(" (")[0]) for row in section.rows))
        for section in panel.sections
    )
    return replace(panel, sections=tuple(sections))


def transpose(panel: Table) -> list[Table]:
    """Return a table for each section, with a row for each column."""

    def rows(section: Section) -> Iterator[Row]:
        for at, name in enumerate(panel.columns):
            yield Row(name, tuple(row.cells[at] for row in section.rows))

    return [
        Table(
            section.title or panel.corner, tuple(row.name for row in section.rows), (Section("", tuple(rows(section))),)
        )
        for section in panel.sections
    ]


def display_width(text: str) -> int:
    r"""Return the number of columns that a text takes in a terminal.

    >>> display_width("abc"), display_width("日本"), display_width("e\u0301")
    (3, 4, 1)
    """
    # Terminals draw East Asian wide letters in two columns, and combining marks in none.
    return sum(0 if combining(letter) else 1 + (east_asian_width(letter) in "WF") for letter in text)


def _wrap_headline(headline: str, width: int) -> list[str]:
    """Break a headline only at its dots."""
    # `wrap` keeps no-break spaces together.
    parts = (part.replace(" ", "\xa0") for part in headline.split(" · "))
    return [line.replace("\xa0", " ") for line in wrap(" · ".join(parts), width, break_on_hyphens=False)]


def _table_lines(panel: Table, width: int) -> list[str]:
    """Return the lines of a table for a terminal."""
    panel = _move_title_to_corner(panel)
    names, columns = _names_width(panel), _columns(panel)
    whole = _table_width(panel) <= width
    heads = [
        column.heading([head] if whole else _break_name(head))
        for head, column in zip(panel.columns, columns, strict=True)
    ]
    wide = [max(column.wide, *map(display_width, head)) for head, column in zip(heads, columns, strict=True)]
    lines = list(_heading(panel.corner, names, heads, wide))
    at = 0
    for place, section in enumerate(panel.sections):
        lines += [""] * bool(place)
        lines += [bold(section.title)] * bool(section.title)
        for row in section.rows:
            cells = [align_right(column.first[at], places) for column, places in zip(columns, wide, strict=True)]
            lines += _append_meaning(_GAP.join([f"  {align_left(row.name, names)}", *cells]), row.meaning, width)
            second = [align_right(column.second[at], places) for column, places in zip(columns, wide, strict=True)]
            lines += [faint(_GAP.join([" " * (names + 2), *second]))] * any(map(str.strip, second))
            at += 1
    return lines


def _move_title_to_corner(panel: Table) -> Table:
    """Return a table with the title of the first section in an empty corner."""
    first, *more = panel.sections
    if panel.corner or not any(panel.columns):
        return panel
    return replace(panel, corner=first.title, sections=(replace(first, title=""), *more))


def _heading(corner: str, names: int, heads: Sequence[list[str]], wide: Sequence[int]) -> Iterator[str]:
    """Yield the lines of headings, as many as the longest one needs."""
    if not any(map(any, heads)):
        yield from [bold(corner)] if corner else []
        return
    height = max(map(len, heads))
    for at in range(height):
        stacked = [([""] * (height - len(head)) + head)[at] for head in heads]
        cells = [align_right(head, places) for head, places in zip(stacked, wide, strict=True)]
        yield bold(_GAP.join([align_left(corner if at == height - 1 else "", names + 2), *cells]))


def _break_name(name: str) -> list[str]:
    """Break the name of a column at spaces."""
    return wrap(name, 12, break_long_words=False, break_on_hyphens=False) or [""]


class _Column(NamedTuple):
    """Texts of a column: for each row the text in its line, and the text below."""

    first: list[str]
    second: list[str]
    margin: int | None = None
    """Spaces before left-aligned texts; None for right-aligned ones."""

    @property
    def wide(self) -> int:
        return max(map(display_width, [*self.first, *self.second]), default=0)

    def heading(self, head: Sequence[str]) -> list[str]:
        """Return the aligned lines of a heading."""
        if self.margin is None:
            return list(head)
        shifted = [" " * self.margin + line for line in head]
        places = max(self.wide, *map(display_width, shifted))
        return [align_left(line, places) for line in shifted]


def _columns(panel: Table) -> list[_Column]:
    """Return the columns of a table, with aligned decimal points."""
    return [_column(panel, at) for at in range(len(panel.columns))]


def _column(panel: Table, at: int) -> _Column:
    """Return one column, with intervals beside or below its numbers."""
    rows = [row for section in panel.sections for row in section.rows]
    cells, numbers = [row.cells[at] for row in rows], _align_apart(panel, at, _align_cell_numbers)
    if not any(isinstance(cell, IntervalCell) for cell in cells):
        return _Column(numbers, [""] * len(cells))
    if panel.below:
        return _Column(numbers, [cell.interval() if isinstance(cell, IntervalCell) else "" for cell in cells])
    intervals, wide = _interval_texts(_align_apart(panel, at, _align_bounds)), max(map(display_width, numbers))
    # Columns have a wider gap than a number and its interval. The heading of a single column is that of the intervals.
    alone = len(panel.columns) == 1 or any(row.meaning for row in rows)
    margin, gap = 2 * (at > 0), _GAP if alone else " "
    texts = [f"{'':{margin}}{align_right(n, wide)}{gap}{i}" for n, i in zip(numbers, intervals, strict=True)]
    return _Column(texts, [""] * len(cells), None if alone else margin)


def _interval_texts(texts: Sequence[str]) -> list[str]:
    """Return texts of intervals, all of one width."""
    places = max(map(display_width, texts), default=0)
    return [align_left(text, places) for text in texts]


def _align_bounds(cells: Sequence[Cell]) -> list[str]:
    """Return intervals with aligned decimal points and dashes."""
    # Only cells with two bounds are aligned; `cell.low` alone is a text, such as a dash with a footnote mark.
    bounds = [cell for cell in cells if isinstance(cell, IntervalCell) and cell.high]
    lows, highs = (iter(align_decimals([getattr(each, name) for each in bounds])) for name in ("low", "high"))
    return [
        "" if isinstance(cell, str) else f"{next(lows)} – {next(highs)}" if cell.high else cell.low for cell in cells
    ]


def _align_apart(panel: Table, at: int, align: Callable[[Sequence[Cell]], list[str]]) -> list[str]:
    """Align the cells of a column; sections set apart are aligned by themselves."""
    sections = [(section.apart, [row.cells[at] for row in section.rows]) for section in panel.sections]
    pooled = iter(align([cell for apart, cells in sections if not apart for cell in cells]))
    return [each for apart, cells in sections for each in (align(cells) if apart else (next(pooled) for _ in cells))]


def _align_cell_numbers(cells: Sequence[Cell]) -> list[str]:
    """Return the numbers of cells, without intervals, with aligned decimal points."""
    return align_decimals([_cell_number(cell) for cell in cells])


def _cell_number(cell: Cell) -> str:
    """Return the number of a cell without its interval."""
    return cell.value if isinstance(cell, IntervalCell) else cell


def align_decimals(cells: Sequence[str]) -> list[str]:
    """Pad numbers so that their decimal points are aligned, and marks stand behind them.

    >>> align_decimals(["0.5000", "12.35", "–¹"]), align_decimals(["1,200", "900*"]), align_decimals(["57.8%", "100%"])
    ([' 0.5000', '12.35  ', ' –¹    '], ['1,200 ', '  900*'], [' 57.8%', '100%  '])
    """
    # Footnote marks and percent signs count as decimals, so that they stand behind the aligned digits.
    halves = [re.split(r"(?=[.%*⁰¹²³⁴⁵⁶⁷⁸⁹])", cell, maxsplit=1) for cell in cells]
    whole = max((display_width(half[0]) for half in halves), default=0)
    rest = max((display_width("".join(half[1:])) for half in halves), default=0)
    return [align_right(half[0], whole) + align_left("".join(half[1:]), rest) for half in halves]


def _append_meaning(start: str, meaning: str, width: int) -> list[str]:
    """Return a line with its meaning beside it, or below it on a narrow terminal."""
    if not meaning:
        return [start.rstrip()]
    margin = display_width(start) + len(_GAP) + 1
    if width - margin < _NARROWEST:
        return [start.rstrip(), *(f"    {line}" for line in wrap(meaning, width - 4, break_on_hyphens=False))]
    first, *more = wrap(meaning, width - margin, break_on_hyphens=False)
    return [f"{start}{_GAP} {first}", *(f"{'':{margin}}{line}" for line in more)]


def _fits(panel: Table, width: int) -> bool:
    """Return whether a table fits, perhaps with broken headings."""
    heads = tuple(max(_break_name(head), key=display_width) for head in panel.columns)
    narrowest = len(panel.columns) == 1 and (panel.below or not _has_intervals(panel))
    return narrowest or _table_width(replace(panel, columns=heads)) <= width


def _has_intervals(panel: Table) -> bool:
    """Return whether some cell has an interval."""
    return any(
        isinstance(cell, IntervalCell) for section in panel.sections for row in section.rows for cell in row.cells
    )


def _table_width(panel: Table) -> int:
    """Return the width of a table with unbroken headings."""
    columns = zip(panel.columns, _columns(panel), strict=True)
    return (
        _names_width(panel)
        + 2
        + sum(max(display_width(head) + (column.margin or 0), column.wide) + len(_GAP) for head, column in columns)
    )


def _split(panel: Table, width: int) -> list[Table]:
    """Return tables with as many columns each as fit."""
    parts: list[range] = []
    for at in range(len(panel.columns)):
        wider = range(parts[-1].start, at + 1) if parts else range(0)
        if wider and _fits(_select_columns(panel, wider), width):
            parts[-1] = wider
        else:
            parts.append(range(at, at + 1))
    return [_select_columns(panel, places) for places in parts]


def _select_columns(panel: Table, places: range) -> Table:
    """Return a table with some of its columns."""
    part = slice(places.start, places.stop)
    sections = (
        replace(section, rows=tuple(replace(row, cells=row.cells[part]) for row in section.rows))
        for section in panel.sections
    )
    return Table(panel.corner, panel.columns[part], tuple(sections))


def _names_width(panel: Table) -> int:
    """Return the width of the names of rows."""
    return max([display_width(panel.corner) - 2, *(display_width(row.name) for s in panel.sections for row in s.rows)])


def align_left(text: str, places: int) -> str:
    """Pad a text on the right."""
    return text + " " * (places - display_width(text))


def align_right(text: str, places: int) -> str:
    """Pad a text on the left."""
    return " " * (places - display_width(text)) + text


def _markdown_blocks(panel: Table | Block | str) -> Iterator[str]:
    """Yield a panel as Markdown."""
    if isinstance(panel, str):
        yield escape_markdown(panel)
    elif not isinstance(panel, Table):
        yield panel.markdown()
    else:
        many = len(panel.columns) > _MOST_IN_MARKDOWN and not panel.upright
        yield from map(_markdown_table, transpose(panel) if many else [panel])


def _markdown_table(panel: Table) -> str:
    """Return a Markdown table for each section with a title, which stands above the names."""
    lines: list[list[str]] = []
    for place, section in enumerate(panel.sections):
        explained = any(row.meaning for row in section.rows)
        if section.title or not place:
            columns = _markdown_heads(panel)
            lines += [[]] * bool(place)
            lines += [[section.title or panel.corner, *columns, *["meaning"] * explained]]
            lines += [["---", *["---:"] * len(columns), *["---"] * explained]]
        for row in section.rows:
            cells = _markdown_cells(row.cells, apart=len(columns) > len(row.cells))
            lines += [[row.name.strip(), *cells, *[row.meaning] * explained]]
    return "\n".join(f"| {' | '.join(map(_escape_cell, line))} |" if line else "" for line in lines)


def _markdown_heads(panel: Table) -> list[str]:
    """Return the headings; the intervals of a single column get their own."""
    if _has_intervals(panel) and len(panel.columns) == 1:
        return ["value", *panel.columns]
    return [name or "value" for name in panel.columns]


def _markdown_cells(cells: Sequence[Cell], *, apart: bool) -> Iterator[str]:
    """Yield the cells of a row as Markdown."""
    for cell in cells:
        interval = cell.interval(" – ") if isinstance(cell, IntervalCell) else ""
        if apart:
            yield from (_cell_number(cell), interval)
        else:
            yield (
                f"{_cell_number(cell)} ({interval})"
                if interval and _cell_number(cell)
                else _cell_number(cell) or interval
            )


def _escape_cell(text: str) -> str:
    """Escape a cell, except the rule below the heading."""
    return text if text in {"---", "---:"} else escape_markdown(text)
