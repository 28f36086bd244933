"""`baserate curve`: ROC, precision–recall and other curves, and a page of them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated

import click

from baserate._formatting import format_exact, format_level
from baserate.cli._declarations import NameChoice, Output, argument, command, option
from baserate.cli._io import (
    FEW,
    adjust_prevalence,
    describe_adjustment,
    describe_omission,
    headline,
    read_tallies,
    report_results,
)
from baserate.cli._options import ConfidenceLevel, Points, Prevalence, Reading
from baserate.cli._smooth_roc import SmoothOptions, smooth_page
from baserate.text import (
    CellFormatter,
    Page,
    Table,
    TidyRow,
    describe_group,
    list_table,
    measure_label,
    shorten_label,
)

if TYPE_CHECKING:
    from baserate._results import Results
    from baserate._tally import Tallies

CURVES = ("roc", "pr", "det", "gain", "lift", "lorenz")
SAME_EVERYWHERE = ("roc", "det")
"""Curves that the prevalence does not change."""
LEVEL = 0.95
SMOOTH_POINTS, FEW_POINTS = 101, 21
"""Points of a smooth curve in files, and in tables."""
_FILE = "people.csv --truth sick --score risk"


@dataclass(frozen=True, slots=True, kw_only=True)
class BandOptions:
    """Confidence bands, of tables and of figures."""

    band: Annotated[bool, "Pointwise confidence band."] = False
    simultaneous: Annotated[bool, "Simultaneous confidence band, of roc and det only."] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveOptions(BandOptions):
    """Options of a table of a curve."""

    prevalence: Prevalence = None
    level: Annotated[ConfidenceLevel, option(default=f"{LEVEL}"), "Confidence level of the band."] = None
    points: Annotated[Points, option(default=f"all; in tables {FEW}"), "Greatest number of points of each curve."] = (
        None
    )
    drop_intermediate: Annotated[bool, "Without points that the line does not need."] = False

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
    # at a prevalence of 2%
    baserate curve pr {_FILE} --prevalence 2%
    # without points that the line does not need
    baserate curve roc {_FILE} --drop-intermediate
    # with a pointwise 95% band
    baserate curve roc {_FILE} --band
    # smooth, by maximum likelihood, with the AUC and a pointwise band
    baserate curve roc {_FILE} --smooth binormal-ml
    # with a simultaneous band
    baserate curve roc {_FILE} --simultaneous --level 0.9 -o roc.csv
    """,
)
def curve(
    what: Annotated[str, argument(type=NameChoice(CURVES), metavar="CURVE")],
    reading: Reading,
    curve_options: CurveOptions,
    smooth_options: SmoothOptions,
    output: Output,
) -> None:
    """Tabulate a curve: roc, pr, det, gain, lift or lorenz.

    CURVE is roc, pr (precision–recall), det, gain (also called CAP), lift or lorenz; `baserate list curves` says more.
    """
    smooth_options.check(what)
    _check_bands(curve_options, smooth=smooth_options.smooth is not None)
    if curve_options.simultaneous and what not in {"roc", "det"}:
        raise click.UsageError(f"--simultaneous is for roc and det; take --band for {what}.")
    if curve_options.prevalence is not None and what in SAME_EVERYWHERE:
        raise click.UsageError(f"{what} curves are the same at every prevalence; leave out --prevalence.")
    sample = read_tallies(reading, quiet=output.quiet)
    tallies = adjust_prevalence(sample, curve_options.prevalence)
    few = curve_options.points is None and output.is_page
    if smooth_options.smooth is not None:
        points = curve_options.points or (FEW_POINTS if few else SMOOTH_POINTS)
        smooth = smooth_options.compute(tallies, points=points, level=curve_options.level or LEVEL)
        report_results(smooth, smooth_page, reading, output)
        return
    results = _compute_curve(tallies, what, FEW if few else curve_options.points, curve_options)
    results = describe_adjustment(results, sample, curve_options.prevalence)
    longest = _count_points(tallies, what, curve_options)
    omissions = [describe_omission(longest)] * (few and longest > FEW)
    report_results(results, curve_page, reading, output, omissions)


def _check_bands(curve_options: CurveOptions, *, smooth: bool) -> None:
    """Refuse a level without a band, and a band of the points beside that of a smooth curve."""
    if curve_options.level is not None and not (curve_options.has_band or smooth):
        raise click.UsageError("--level is the confidence level of a band; add --band or --simultaneous.")
    if smooth and curve_options.has_band:
        raise click.UsageError("--smooth has a pointwise band of its own; leave out --band and --simultaneous.")
    if curve_options.drop_intermediate and (smooth or curve_options.has_band):
        other = "a smooth curve" if smooth else "a band"
        raise click.UsageError(f"--drop-intermediate is for curves without {other}; leave one of them out.")


def _compute_curve(tallies: "Tallies", what: str, points: int | None, curve_options: CurveOptions) -> "Results":
    if not curve_options.has_band:
        from baserate.measure import curves

        return curves(tallies, what, points=points, drop_intermediate=curve_options.drop_intermediate)
    from baserate.infer import confidence_bands

    level = curve_options.level or LEVEL
    return confidence_bands(tallies, what, level=level, simultaneous=curve_options.simultaneous, points=points)


def _count_points(tallies: "Tallies", what: str, curve_options: CurveOptions) -> int:
    """Count the points of the longest curve."""
    if curve_options.drop_intermediate:
        rows = _compute_curve(tallies, what, None, curve_options).rows()
        return max(Counter((row["model"], str(row["group"])) for row in rows).values())
    # One point more than distinct scores: curves begin where nothing is flagged.
    return max(len(tally.score) + 1 for _, _, tally in tallies.walk())


def curve_page(results: "Results", reading: Reading, digits: int) -> Page:
    """Return the page of curves, with a panel for each."""
    format_ = CellFormatter(digits)
    curves: dict[tuple[str | None, str], list[TidyRow]] = {}
    for row in results.rows():
        curves.setdefault((row["model"], str(row["group"])), []).append(row)
    panels = [curve_table(rows, results, format_, corner=_title(rows[0], reading)) for rows in curves.values()]
    notes = (*format_.reasons.footnotes(), *_describe_bounds(results))
    return Page(headline(reading, results.data), tuple(panels), notes)


def curve_table(rows: Sequence[TidyRow], results: "Results", format_: CellFormatter, *, corner: str) -> Table:
    """Return the points of one curve, a line for each threshold."""
    causes = _causes_of_undefined(results)
    # Numbered by column, as in the legend of measures, whichever point is the first undefined one.
    for cause in (*causes.values(), *filter(None, results.columns.get("why", ()))):
        format_.reasons.mark(cause)

    def cell(name: str, row: TidyRow) -> str:
        if row[name] is None:
            return format_.mark_undefined(causes.get(name) or row["why"])
        return format_.number(row[name])

    names = [name for name in results.columns if name not in {"model", "group", "threshold", "why"}]
    columns = {measure_label(name): partial(cell, name) for name in names}
    return list_table(rows, columns, label=lambda row: format_exact(row["threshold"]), corner=corner, aligned=True)


def _describe_bounds(results: "Results") -> tuple[str, ...]:
    """Describe the columns low and high."""
    if "level" not in results.data:
        return ()
    x, y = map(measure_label, list(results.columns)[3:5])  # after model, group and threshold
    scope = "simultaneously" if results.data["simultaneous"] else "pointwise"
    level = format_level(results.data["level"])
    return (f"low, high: bounds of {y} at that {x}, {scope} with {level}% confidence ({results.data['how']})",)


def _title(row: TidyRow, reading: Reading) -> str:
    model = shorten_label(row["model"] or next(iter(reading.score), reading.predicted))
    return f"{describe_group(row['group'])}: {model} ≥" if reading.group else f"{model} ≥"


def _causes_of_undefined(results: "Results") -> dict[str, str]:
    """Return measures that are undefined at a point, with the cause of each."""
    from baserate.measure import MEASURES, describe

    columns = results.flat()
    holes = (name for name in MEASURES if name in columns and None in columns[name])
    return {name: " or ".join(describe(MEASURES[name]).causes) for name in holes}
