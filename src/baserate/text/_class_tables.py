"""Confusion matrices of several classes as tables, numbered where a terminal is narrow."""

from collections.abc import Sequence
from dataclasses import replace

from baserate._formatting import format_count
from baserate.text._tables import Row, Section, Table, shorten_label

_SHORT_LABEL = 14
"""Letters of a class above a column."""


def class_matrix(
    corner: str, classes: Sequence[object], lines: Sequence[Sequence[float]], *, digits: int, referred: bool = False
) -> Table:
    """Return a confusion matrix of several classes with totals.

    Parameters
    ----------
    corner
        Text above the names of classes.
    classes
        Labels of the classes.
    lines
        For each true class, the mass of each decision.
    digits
        Significant digits.
    referred
        Whether the last decision is to refer.
    """
    totals = [sum(column) for column in zip(*lines, strict=True)]
    rows = [
        # 14 digits: products and sums of shares leave rounding errors, which would show as decimals of a count.
        Row(shorten_label(name), tuple(format_count(float(f"{mass:.14g}"), digits) for mass in (*line, sum(line))))
        for name, line in zip([*classes, "total"], [*lines, totals], strict=True)
    ]
    headings = (*(shorten_label(name, _SHORT_LABEL) for name in classes), *["referred"] * referred, "total")
    return Table(corner, headings, (Section("", tuple(rows), apart=True),), upright=True)


def number_when_narrow(panel: Table, *, n_named: int = 1) -> Table:
    """Return a table that a narrow terminal shows with numbered columns, except the last ones, and without zeros."""
    count = len(panel.columns) - n_named
    width = len(str(count))
    sections = []
    for section in panel.sections:
        rows = [
            Row(
                f"{at:>{width}} {row.name}" if at <= count else row.name,
                tuple(_narrow_cell(str(cell), percent=bool(section.title)) for cell in row.cells),
            )
            for at, row in enumerate(section.rows, start=1)
        ]
        sections.append(replace(section, rows=tuple(rows)))
    numbers = tuple(map(str, range(1, count + 1)))
    narrow = replace(panel, columns=(*numbers, *panel.columns[count:]), sections=tuple(sections))
    return replace(panel, narrow=narrow)


def _narrow_cell(cell: str, *, percent: bool) -> str:
    """Return a dot for zero, and per cent without decimals."""
    if percent and "." in cell:
        return f"{float(cell):.0f}" if float(cell) >= 0.5 else "<1"
    return "·" if cell == "0" else cell
