"""`baserate curve`: ROC, precision–recall and other curves, and a page of them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import click

from baserate._domains import POINTS
from baserate._formatting import UNDEFINED, footnote_mark, format_count, format_exact, format_level, format_number
from baserate.cli._declarations import Output, argument, command, option
from baserate.cli._io import headline, print_notes, print_results, read_tallies
from baserate.cli._options import Reading
from baserate.cli._values import read_level, whole_number
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
    ("with a pointwise 95 % band", "baserate curve roc people.csv --truth sick --score risk --band"),
    (
        "with a simultaneous band",
        "baserate curve roc people.csv --truth sick --score risk --simultaneous --level 0.9 -o roc.csv",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BandOptions:
    """Whether to bound the curve, and how."""

    band: Annotated[bool, option(help="Pointwise confidence band: low and high of y at each x.")] = False
    simultaneous: Annotated[bool, option(help="Simultaneous confidence band; of roc and det only.")] = False
    level: Annotated[
        float | None, option(type=read_level, metavar="SHARE", default=f"{LEVEL}", help="Confidence level of the band.")
    ] = None

    def __post_init__(self) -> None:
        if self.level is not None and not self.has_band:
            raise click.UsageError("--level is the confidence level of a band; add --band or --simultaneous.")

    @property
    def has_band(self) -> bool:
        """Whether a band was requested."""
        return self.band or self.simultaneous


@command("curve", examples=_EXAMPLES)
def curve(
    what: Annotated[str, argument(type=click.Choice(CURVES), metavar="CURVE")],
    reading: Reading,
    band_options: BandOptions,
    output: Output,
    *,
    points: Annotated[
        int | None,
        option(
            type=whole_number(POINTS), default=f"all; in tables {FEW}", help="Greatest number of points of each curve."
        ),
    ] = None,
) -> None:
    """Tabulate a curve: roc, pr, det, gain, lift or lorenz.

    CURVE is roc, pr (precision–recall), det, gain (also called CAP), lift or lorenz; `baserate list curves` says more.
    """
    if band_options.simultaneous and what not in {"roc", "det"}:
        raise click.UsageError(f"--simultaneous is for roc and det; take --band for {what}.")
    read = read_tallies(reading, quiet=output.quiet)
    few = points is None and output.form in {"table", "md"}
    results = _compute_curve(read, what, FEW if few else points, band_options)
    notes = [*results.data["notes"], *([_describe_omission(read)] if few and _longest(read) > FEW else [])]
    print_notes(reading, {**results.data, "notes": notes}, output)
    print_results(results, lambda: curve_page(results, reading, output.digits), output)


def _compute_curve(read: "Tallies", what: str, points: int | None, band_options: BandOptions) -> "Results":
    if not band_options.has_band:
        from baserate.measure import curves

        return curves(read, what, points=points)
    from baserate.infer import confidence_bands

    return confidence_bands(
        read, what, level=band_options.level or LEVEL, simultaneous=band_options.simultaneous, points=points
    )


def curve_page(results: "Results", reading: Reading, digits: int) -> Page:
    """Lay out one panel for each curve."""
    axes = [name for name in results.columns if name not in {"model", "group", "why"}]
    reasons = causes_of_undefined(results)
    texts = dict.fromkeys([*reasons.values(), *filter(None, results.columns.get("why", ()))])
    marks = {text: footnote_mark(at) for at, text in enumerate(texts, start=1)}
    titles: dict[tuple[str, str], str] = {}
    curves: dict[tuple[str, str], list[Row]] = {}
    for row in results.rows():
        values = {name: row[name] for name in axes[1:]}
        shown = (
            UNDEFINED + marks[reasons.get(name) or row["why"]] if value is None else format_number(value, digits)
            for name, value in values.items()
        )
        which = (str(row["model"]), str(row["group"]))
        titles[which] = _title(row, reading)
        curves.setdefault(which, []).append(Row(format_exact(row["threshold"]), tuple(shown)))
    columns = tuple(name.replace("_", " ") for name in axes[1:])
    panels = [Table(titles[which], columns, (Section("", _align_rows(lines)),)) for which, lines in curves.items()]
    notes = tuple(f"{sign} {text}" for text, sign in marks.items())
    return Page(headline(reading, results.data), tuple(panels), notes + _bounds(results))


def _bounds(results: "Results") -> tuple[str, ...]:
    """What low and high are."""
    if "level" not in results.data:
        return ()
    x, y = (name.replace("_", " ") for name in list(results.columns)[3:5])
    hold = "all together" if results.data["simultaneous"] else "each by itself"
    sure = format_level(results.data["level"])
    return (f"low, high: bounds of {y} at that {x}, {hold} with {sure} % confidence ({results.data['how']})",)


def _align_rows(rows: list[Row]) -> tuple[Row, ...]:
    names = align_decimals([row.name for row in rows])
    return tuple(Row(name, row.cells) for name, row in zip(names, rows, strict=True))


def _title(row: dict[str, Any], reading: Reading) -> str:
    model = shorten_label(row["model"] or next(iter(reading.score), reading.predicted))
    if not reading.group:
        return f"{model} ≥"
    groups = (f"{shorten_label(name)} = {shorten_label(value)}" for name, value in (row["group"] or {}).items())
    return f"{', '.join(groups) or EVERYBODY}: {model} ≥"


def causes_of_undefined(results: "Results") -> dict[str, str]:
    """Measures that are somewhere undefined, and when they are."""
    from baserate.measure import MEASURES, describe

    columns = results.flat()
    holes = (name for name in MEASURES if name in columns and None in columns[name])
    return {name: " or ".join(describe(MEASURES[name]).causes) for name in holes}


def _longest(read: "Tallies") -> int:
    return max(len(tally.score) + 1 for _, _, tally in read.walk())


def _describe_omission(read: "Tallies") -> str:
    most = format_count(_longest(read), 4)
    return f"at most {FEW} of up to {most} points of each curve are shown; --points N shows more, --format csv all."
