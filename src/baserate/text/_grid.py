"""Grids: plain tables of columns of labels and of numbers, such as rows of results or the first rows of a tally."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap

from baserate._formatting import bold, escape_markdown
from baserate.text._tables import align_decimals, align_left, align_right, display_width

_GAP = "  "


@dataclass(frozen=True, slots=True)
class Column:
    """Column of a grid: labels are aligned on the left, numbers by their decimal points."""

    name: str
    cells: tuple[str, ...]
    is_label: bool = False

    def texts(self) -> list[str]:
        """Return the heading and the cells, all of one width."""
        cells = list(self.cells) if self.is_label else align_decimals(self.cells)
        align = align_left if self.is_label else align_right
        width = max(map(display_width, [self.name, *cells]))
        return [align(text, width) for text in (self.name, *cells)]


@dataclass(frozen=True, slots=True)
class Grid:
    """Columns of one length, of which the first ones may be labels; `rest` is a sentence on the rows that it omits."""

    columns: tuple[Column, ...]
    rest: str = ""

    def lines(self, width: int) -> list[str]:
        """Return its lines for a terminal of that width; columns that do not fit follow below, after the labels."""
        lines: list[str] = []
        for part in _split_columns(self.columns, width):
            lines += [""] * bool(lines)
            head, *rows = (_GAP.join(cells).rstrip() for cells in zip(*part, strict=True))
            lines += [*[bold(head)] * bool(head), *rows]
        return [*lines, *wrap(self.rest, width, break_on_hyphens=False)]

    def markdown(self) -> str:
        """Return its Markdown."""
        head = [escape_markdown(column.name) for column in self.columns]
        rule = ["---" if column.is_label else "---:" for column in self.columns]
        rows = zip(*([escape_markdown(cell) for cell in column.cells] for column in self.columns), strict=True)
        lines = [f"| {' | '.join(cells)} |" for cells in (head, rule, *rows)]
        return "\n".join(lines) + (f"\n\n{escape_markdown(self.rest)}" if self.rest else "")


def label_column(name: str, cells: Iterable[str]) -> Column:
    """Return a column of labels."""
    return Column(name, tuple(cells), is_label=True)


def number_column(name: str, cells: Iterable[str]) -> Column:
    """Return a column of numbers."""
    return Column(name, tuple(cells))


def _split_columns(columns: Sequence[Column], width: int) -> Iterator[list[list[str]]]:
    """Yield as many columns as fit a line, until all are there; the labels at the left come first each time."""
    many = next((at for at, column in enumerate(columns) if not column.is_label), len(columns))
    labels = [column.texts() for column in columns[:many]]
    part: list[list[str]] = []
    for column in columns[many:]:
        texts = column.texts()
        if part and _line_width([*labels, *part, texts]) > width:
            yield labels + part
            part = []
        part.append(texts)
    if part or labels:
        yield labels + part


def _line_width(columns: Sequence[Sequence[str]]) -> int:
    return sum(display_width(column[0]) for column in columns) + len(_GAP) * (len(columns) - 1)
