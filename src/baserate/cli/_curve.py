"""`baserate curve`: read, tabulate."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from baserate._domains import POINTS
from baserate._formatting import UNDEFINED, footnote_mark, format_count, format_exact, format_level, format_number
from baserate.cli._ask import answer, explain, headline, tallies
from baserate.cli._options import Reading, Verb, Writing, bundled, command, level, reading, whole, writing
from baserate.text import EVERYBODY, Page, Row, Section, Table, align_decimals, shorten_label

if TYPE_CHECKING:
    from baserate._results import Results
    from baserate._tally import Tallies

CURVES = ("roc", "pr", "det", "gain", "lift", "lorenz")
FEW = 25
"""Points of a curve that a person wants to read."""
LEVEL = 0.95

_EXAMPLES = (
    ("to read", "baserate curve roc people.csv --truth sick --score risk"),
    ("every point, to plot", "baserate curve pr people.csv --truth sick --score risk -o pr.csv"),
    (
        "a hundred points for each group",
        "baserate curve gain people.csv --truth sick --score risk --group site --points 100 --json",
    ),
    ("with 95 % bounds", "baserate curve roc people.csv --truth sick --score risk --band"),
    (
        "with bounds that hold together for the whole curve",
        "baserate curve roc people.csv --truth sick --score risk --simultaneous --level 0.9 -o roc.csv",
    ),
)


@dataclass(frozen=True, slots=True)
class Doubt:
    """Whether to bound the curve, and how."""

    band: bool
    level: float | None
    simultaneous: bool

    def __post_init__(self) -> None:
        if self.level is not None and not self.asked:
            raise click.UsageError("--level is the confidence level of a band; add --band or --simultaneous.")

    @property
    def asked(self) -> bool:
        """Whether there is to be a band."""
        return self.band or self.simultaneous


def doubt(verb: Verb) -> Verb:
    """Add the options that ask for a band; the verb gets them as `doubt`."""
    return bundled(verb, Doubt, "doubt", _DOUBT)


_DOUBT = (
    click.option("--band", is_flag=True, help="Add low and high: bounds of y at a given x, each by itself."),
    click.option(
        "--simultaneous", is_flag=True, help="Add low and high that hold together everywhere; of roc and det only."
    ),
    click.option("--level", type=level, metavar="SHARE", help=f"Confidence level of the band; {LEVEL} if not named."),
)


@command("curve", examples=_EXAMPLES)
@click.argument("what", type=click.Choice(CURVES), metavar="CURVE")
@reading
@click.option(
    "--points",
    type=whole(POINTS),
    help=f"At most so many points of each curve; otherwise all, and {FEW} in tables to read.",
)
@doubt
@writing
def curve(what: str, reading: Reading, points: int | None, doubt: Doubt, writing: Writing) -> None:
    """Tabulate a curve at every threshold.

    CURVE is roc, pr (precision–recall), det, gain (also called CAP), lift or lorenz; `baserate list curves` says more.
    FILE is a CSV, TSV, Parquet, JSON-lines or Arrow file, a folder or a pattern of such files, or - for stdin.
    """
    if doubt.simultaneous and what not in {"roc", "det"}:
        raise click.UsageError(f"--simultaneous is for roc and det; take --band for {what}.")
    read = tallies(reading, quiet=writing.quiet)
    few = points is None and writing.form in {"table", "md"}
    found = _found(read, what, FEW if few else points, doubt)
    notes = [*found.data["notes"], *([_left_out(read)] if few and _longest(read) > FEW else [])]
    explain(reading, {**found.data, "notes": notes}, writing)
    answer(found, lambda: page(found, reading, writing.digits), writing)


def _found(read: "Tallies", what: str, points: int | None, doubt: Doubt) -> "Results":
    if not doubt.asked:
        from baserate.measure import curves

        return curves(read, what, points=points)
    from baserate.infer import bands

    return bands(read, what, level=doubt.level or LEVEL, simultaneous=doubt.simultaneous, points=points)


def page(found: "Results", asked: Reading, digits: int) -> Page:
    """Lay out one panel for each curve."""
    axes = [name for name in found.columns if name not in {"model", "group", "why"}]
    reasons = undefined(found)
    texts = dict.fromkeys([*reasons.values(), *filter(None, found.columns.get("why", ()))])
    marks = {text: footnote_mark(at) for at, text in enumerate(texts, start=1)}
    titles: dict[tuple[str, str], str] = {}
    curves: dict[tuple[str, str], list[Row]] = {}
    for row in found.rows():
        values = {name: row[name] for name in axes[1:]}
        shown = (
            UNDEFINED + marks[reasons.get(name) or row["why"]] if value is None else format_number(value, digits)
            for name, value in values.items()
        )
        which = (str(row["model"]), str(row["group"]))
        titles[which] = _title(row, asked)
        curves.setdefault(which, []).append(Row(format_exact(row["threshold"]), tuple(shown)))
    columns = tuple(name.replace("_", " ") for name in axes[1:])
    panels = [Table(titles[which], columns, (Section("", _aligned(lines)),)) for which, lines in curves.items()]
    notes = tuple(f"{sign} {text}" for text, sign in marks.items())
    return Page(headline(asked, found.data), tuple(panels), notes + _bounds(found))


def _bounds(found: "Results") -> tuple[str, ...]:
    """What low and high are."""
    if "level" not in found.data:
        return ()
    x, y = (name.replace("_", " ") for name in list(found.columns)[3:5])
    hold = "all together" if found.data["simultaneous"] else "each by itself"
    sure = format_level(found.data["level"])
    return (f"low, high: bounds of {y} at that {x}, {hold} with {sure} % confidence ({found.data['how']})",)


def _aligned(rows: list[Row]) -> tuple[Row, ...]:
    names = align_decimals([row.name for row in rows])
    return tuple(Row(name, row.cells) for name, row in zip(names, rows, strict=True))


def _title(row: dict[str, Any], asked: Reading) -> str:
    model = shorten_label(row["model"] or next(iter(asked.score), asked.predicted))
    if not asked.group:
        return f"{model} ≥"
    groups = (f"{shorten_label(name)} = {shorten_label(value)}" for name, value in (row["group"] or {}).items())
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
    most = format_count(_longest(read), 4)
    return f"at most {FEW} of up to {most} points of each curve are shown; --points N shows more, --format csv all."
