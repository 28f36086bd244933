"""`baserate curve`: read, tabulate."""

from typing import TYPE_CHECKING, Any

import click

from baserate.cli._ask import answer, explain, headline, tallies
from baserate.cli._numbers import UNDEFINED, amount, mark, number, plain
from baserate.cli._options import Reading, Writing, command, reading, writing
from baserate.cli._panels import EVERYBODY, Page, Panel, Row, Section, label, pointed

if TYPE_CHECKING:
    from baserate._results import Results
    from baserate._tallies import Tallies

CURVES = ("roc", "pr", "det", "gain", "lift", "lorenz")
FEW = 25
"""Points of a curve that a person wants to read."""

_EXAMPLES = (
    ("to read", "baserate curve roc people.csv --truth sick --score risk"),
    ("every point, to plot", "baserate curve pr people.csv --truth sick --score risk -o pr.csv"),
    (
        "a hundred points for each group",
        "baserate curve gain people.csv --truth sick --score risk --group site --points 100 --json",
    ),
)


@command("curve", examples=_EXAMPLES)
@click.argument("what", type=click.Choice(CURVES), metavar="CURVE")
@reading
@click.option(
    "--points",
    type=click.IntRange(min=2),
    help=f"At most so many points of each curve; otherwise all, and {FEW} in tables to read.",
)
@writing
def curve(what: str, reading: Reading, points: int | None, writing: Writing) -> None:
    """Tabulate a curve at every threshold.

    CURVE is roc, pr (precision–recall), det, gain (also called CAP), lift or lorenz; `baserate list curves` says more.
    FILE is a CSV, TSV, Parquet, JSON-lines or Arrow file, a folder or a pattern of such files, or - for stdin.
    """
    from baserate.measure import curves

    read = tallies(reading, quiet=writing.quiet)
    few = points is None and writing.form in {"table", "md"}
    found = curves(read, what, points=FEW if few else points)
    notes = [*found.data["notes"], *([_left_out(read)] if few and _longest(read) > FEW else [])]
    explain(reading, {**found.data, "notes": notes}, writing)
    answer(found, lambda: page(found, reading, writing.digits), writing)


def page(found: "Results", asked: Reading, digits: int) -> Page:
    """Lay out one panel for each curve."""
    axes = [name for name in found.columns if name not in {"model", "group"}]
    marks = {name: mark(at) for at, name in enumerate(undefined(found), start=1)}
    titles: dict[tuple[str, str], str] = {}
    curves: dict[tuple[str, str], list[Row]] = {}
    for row in found.rows():
        threshold, *values = (row[name] for name in axes)
        cells = zip(axes[1:], values, strict=True)
        shown = (UNDEFINED + marks[name] if value is None else number(value, digits) for name, value in cells)
        which = (str(row["model"]), str(row["group"]))
        titles[which] = _title(row, asked)
        curves.setdefault(which, []).append(Row(plain(threshold), tuple(shown)))
    columns = tuple(name.replace("_", " ") for name in axes[1:])
    panels = [Panel(titles[which], columns, (Section("", _aligned(lines)),)) for which, lines in curves.items()]
    notes = tuple(f"{marks[name]} {why}" for name, why in undefined(found).items())
    return Page(headline(asked, found.data), tuple(panels), notes)


def _aligned(rows: list[Row]) -> tuple[Row, ...]:
    names = pointed([row.name for row in rows])
    return tuple(Row(name, row.cells) for name, row in zip(names, rows, strict=True))


def _title(row: dict[str, Any], asked: Reading) -> str:
    model = label(row["model"] or next(iter(asked.score), asked.predicted))
    if not asked.group:
        return f"{model} ≥"
    groups = (f"{label(name)} = {label(value)}" for name, value in (row["group"] or {}).items())
    return f"{', '.join(groups) or EVERYBODY}: {model} ≥"


def undefined(found: "Results") -> dict[str, str]:
    """Measures that are somewhere undefined, and when they are."""
    from baserate.measure import MEASURES, about

    columns = found.flat()
    holes = (name for name in MEASURES if name in columns and None in columns[name])
    return {name: " or ".join(about(MEASURES[name]).causes) for name in holes}


def _longest(read: "Tallies") -> int:
    return max(len(tally.score) + 1 for _, _, tally in read.walk())


def _left_out(read: "Tallies") -> str:
    most = amount(_longest(read), 4)
    return f"at most {FEW} of up to {most} points of each curve are shown; --points N shows more, --format csv all."
