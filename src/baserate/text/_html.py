"""Pages as HTML for notebooks: tables and sentences without scripts, links and style sheets, all texts escaped.

Colors are those of the notebook, so that light and dark themes both fit. Styles are attributes, since viewers of
notebooks drop style sheets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from baserate._formatting import replace_unprintable
from baserate.text._blocks import SEVERITY_NAMES, Block, BulletList, CommandList, Statement
from baserate.text._grid import Grid
from baserate.text._tables import Cell, IntervalCell, Table

_CELL = "border-bottom: 1px solid #8886; padding: 0.2em 0.7em; white-space: nowrap; text-align"
_ASIDE = "margin: 0.3em 0; max-width: 60em; opacity: 0.75"
_TEXT = "margin: 0.3em 0; max-width: 60em"


def render_html(headline: str, panels: Sequence[Table | Block | str], footnotes: Sequence[str]) -> str:
    """Return a page as one element."""
    parts = [_element("p", escape_text(headline), "margin: 0.3em 0; font-weight: bold")] if headline else []
    parts += [text for panel in panels for text in _render_panel(panel)]
    parts += [_element("p", escape_text(note), _ASIDE) for note in footnotes]
    return _element("div", "\n".join(parts), "font-size: 0.92em; overflow-x: auto")


def escape_text(text: str) -> str:
    """Escape a text, so that no label is an element or an attribute.

    >>> escape_text("<script>x & 'y'</script>")
    '&lt;script&gt;x &amp; &#x27;y&#x27;&lt;/script&gt;'
    """
    return escape(replace_unprintable(text))


def _render_panel(panel: Table | Block | str) -> Iterator[str]:
    if isinstance(panel, str):
        yield _element("p", escape_text(panel), _TEXT)
    elif isinstance(panel, Table):
        yield _render_table(panel)
    elif isinstance(panel, Grid):
        yield _render_grid(panel)
        if panel.rest:
            yield _element("p", escape_text(panel.rest), _ASIDE)
    elif isinstance(panel, BulletList):
        yield from _render_bullets(panel)
    elif isinstance(panel, Statement):
        yield from _render_statement(panel)
    elif isinstance(panel, CommandList):
        yield _element("p", escape_text(panel.title), _TEXT)
        yield from (_render_code("\n".join([f"# {why}", " ".join(words)])) for why, words in panel.commands)


def _render_grid(grid: Grid) -> str:
    sides = ["left" if column.is_label else "right" for column in grid.columns]
    names = [column.name for column in grid.columns]
    head = _render_row("th", names, sides) if any(names) else ""
    rows = (_render_row("td", cells, sides) for cells in zip(*(c.cells for c in grid.columns), strict=True))
    return _wrap_table(head, rows)


def _render_table(table: Table) -> str:
    sides = ["left", *["right"] * len(table.columns)]
    rows: list[str] = []
    for section in table.sections:
        if section.title:
            title = (
                f'<th colspan="{len(sides)}" scope="colgroup" style="{_CELL}: left">{escape_text(section.title)}</th>'
            )
            rows.append(_element("tr", title, "background: transparent"))
        rows += (_render_row("td", [row.name.strip(), *map(cell_text, row.cells)], sides) for row in section.rows)
    return _wrap_table(_render_row("th", [table.corner, *table.columns], sides), rows)


def cell_text(cell: Cell) -> str:
    """Return a cell in one text: a number with its interval, or a range.

    >>> cell_text(IntervalCell("0.85", "0.84", "0.86")), cell_text(IntervalCell("", "0.84", "0.86")), cell_text("–¹")
    ('0.85 (0.84 to 0.86)', '0.84 to 0.86', '–¹')
    """
    if not isinstance(cell, IntervalCell):
        return cell
    interval = " to ".join(filter(None, (cell.low, cell.high)))
    return f"{cell.value} ({interval})" if cell.value and interval else cell.value or interval


def _render_statement(statement: Statement) -> Iterator[str]:
    """Yield a title, a banner, paragraphs and warnings."""
    yield _element("p", escape_text(statement.title), "margin: 0.6em 0 0.3em; font-weight: bold")
    banner = [statement.banner] if statement.banner else []
    texts = [
        *(f"{SEVERITY_NAMES[each.severity]}: {each.text}" for each in banner),
        *statement.paragraphs,
        *(f"{SEVERITY_NAMES[each.severity]}: {each.text}" for each in statement.warnings),
    ]
    yield from (_element("p", escape_text(text), _TEXT) for text in texts)


def _render_bullets(bullets: BulletList) -> Iterator[str]:
    yield _element("p", escape_text(bullets.title), "margin: 0.6em 0 0.3em; font-weight: bold")
    for point in bullets.points:
        severity = f"{SEVERITY_NAMES[point.severity]}: " if point.severity else ""
        lines = [f"<b>{escape_text(severity + point.head)}</b>", escape_text(point.sentence), escape_text(point.why)]
        lines += [f"→ {escape_text(point.remedy)}"] * bool(point.remedy)
        yield _element("p", "<br>".join(filter(None, lines)), _TEXT)
        if point.command:
            yield _render_code(point.command)
    if bullets.rest:
        yield _element("p", escape_text(bullets.rest), _ASIDE)


def _render_code(code: str) -> str:
    """Return a command or program, whose line breaks are kept."""
    lines = "\n".join(escape_text(line) for line in code.split("\n"))
    return _element("pre", lines, "margin: 0.2em 0 0.6em 1em; white-space: pre-wrap; background: transparent")


def _render_row(tag: str, cells: Iterable[str], sides: Iterable[str]) -> str:
    scope = ' scope="col"' if tag == "th" else ""
    content = (
        f'<{tag}{scope} style="{_CELL}: {side}">{escape_text(cell)}</{tag}>'
        for cell, side in zip(cells, sides, strict=True)
    )
    return f"<tr>{''.join(content)}</tr>"


def _wrap_table(head: str, rows: Iterable[str]) -> str:
    body = "\n".join(rows)
    style = "border-collapse: collapse; margin: 0.4em 0; font-variant-numeric: tabular-nums"
    return _element("table", f"<thead>{head}</thead>\n<tbody>\n{body}\n</tbody>", style)


def _element(tag: str, content: str, style: str) -> str:
    return f'<{tag} style="{style}">{content}</{tag}>'
