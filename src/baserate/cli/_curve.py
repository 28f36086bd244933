"""`baserate curve`: ROC, precision–recall and other curves, and a page of them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import click

from baserate._domains import POINTS
from baserate._formatting import UNDEFINED, footnote_mark, format_exact, format_level, format_number
from baserate.cli._declarations import NameChoice, Output, argument, command, option
from baserate.cli._io import FEW, describe_omission, headline, print_notes, print_results, read_tallies
from baserate.cli._options import Reading
from baserate.cli._values import read_level, whole_number
from baserate.text import EVERYBODY, Page, Row, Section, Table, align_decimals, shorten_label

if TYPE_CHECKING:
    from baserate._results import Results
    from baserate._tally import Tallies

CURVES = ("roc", "pr", "det", "gain", "lift", "lorenz")
LEVEL = 0.95
_FILE = "people.csv --truth sick --score risk"


@dataclass(frozen=True, slots=True, kw_only=True)
class BandOptions:
    """Confidence bands, of tables and of figures."""

    band: Annotated[bool, option(help="Pointwise confidence band.")] = False
    simultaneous: Annotated[bool, option(help="Simultaneous confidence band, of roc and det only.")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveOptions(BandOptions):
    """Options of a table of a curve."""

    level: Annotated[
        float | None, option(type=read_level, metavar="SHARE", default=f"{LEVEL}", help="Confidence level of the band.")
    ] = None
    points: Annotated[
        int | None,
        option(
            type=whole_number(POINTS), default=f"all; in tables {FEW}", help="Greatest number of points of each curve."
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.level is not None and not self.has_band:
            raise click.UsageError("--level is the confidence level of a band; add --band or --simultaneous.")

    @property
    def has_band(self) -> bool:
        """Whether a band was requested."""
        return self.band or self.simultaneous


@command(
    "curve",
    examples=f"""
    # to read
    baserate curve roc {_FILE}
    # every point, to plot
    baserate curve pr {_FILE} -o pr.csv
    # a hundred points for each group
    baserate curve gain {_FILE} --group site --points 100 --json
    # with a pointwise 95 % band
    baserate curve roc {_FILE} --band
    # with a simultaneous band
    baserate curve roc {_FILE} --simultaneous --level 0.9 -o roc.csv
    """,
)
def curve(
    what: Annotated[str, argument(type=NameChoice(CURVES), metavar="CURVE")],
    reading: Reading,
    curve_options: CurveOptions,
    output: Output,
) -> None:
    """Tabulate a curve: roc, pr, det, gain, lift or lorenz.

    CURVE is roc, pr (precision–recall), det, gain (also called CAP), lift or lorenz; `baserate list curves` says more.
    """
    if curve_options.simultaneous and what not in {"roc", "det"}:
        raise click.UsageError(f"--simultaneous is for roc and det; take --band for {what}.")
    tallies = read_tallies(reading, quiet=output.quiet)
    few = curve_options.points is None and output.is_page
    results = _compute_curve(tallies, what, FEW if few else curve_options.points, curve_options)
    longest = max(len(tally.score) + 1 for _, _, tally in tallies.walk())
    notes = [*results.data["notes"], *([describe_omission(longest)] if few and longest > FEW else [])]
    print_notes(reading, {**results.data, "notes": notes}, output)
    print_results(results, lambda: curve_page(results, reading, output.digits), output)


def _compute_curve(tallies: "Tallies", what: str, points: int | None, curve_options: CurveOptions) -> "Results":
    if not curve_options.has_band:
        from baserate.measure import curves

        return curves(tallies, what, points=points)
    from baserate.infer import confidence_bands

    level = curve_options.level or LEVEL
    return confidence_bands(tallies, what, level=level, simultaneous=curve_options.simultaneous, points=points)


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
    """Describe the columns low and high."""
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
    """Measures that are undefined at a point, and the cause of each."""
    from baserate.measure import MEASURES, describe

    columns = results.flat()
    holes = (name for name in MEASURES if name in columns and None in columns[name])
    return {name: " or ".join(describe(MEASURES[name]).causes) for name in holes}
