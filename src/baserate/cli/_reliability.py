"""`baserate reliability`: calibration errors, tests and curves."""

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Literal

import click

from baserate._domains import BINS, DRAWS, POINTS
from baserate._formatting import format_count
from baserate.cli._declarations import Output, command, option
from baserate.cli._io import print_notes, print_results, read_tallies
from baserate.cli._measure import Classes, read_classes
from baserate.cli._options import ClassScores, Reading
from baserate.cli._values import read_level, read_share, whole_number

if TYPE_CHECKING:
    from baserate import infer
    from baserate._results import Results
    from baserate._rows import MulticlassRows
    from baserate._tally import Tallies

CURVES = ("binned", "isotonic", "lowess", "likelihood-ratio")
IN_BINS = ("binned", "likelihood-ratio")
FEW = 25
"""Points of a curve that a person wants to read."""

_EXAMPLES = (
    ("calibration errors, null references and tests", "baserate reliability people.csv --truth sick --score risk"),
    ("at every site", "baserate reliability people.csv --truth sick --score risk --group site"),
    (
        "calibration before and after a calibrator",
        "baserate reliability new.csv --truth sick --score risk --map map.json",
    ),
    (
        "calibration after an adjustment of the prevalence",
        "baserate reliability people.csv --truth sick --score risk --prevalence derived",
    ),
    ("many classes, a probability for each", "baserate reliability pets.csv --truth is --scores p_"),
    (
        "a calibration curve, to plot",
        "baserate reliability people.csv --truth sick --score risk --curve isotonic -o curve.csv",
    ),
)


def _read_prevalence(text: str) -> float | Literal["derived"]:
    """Read a prevalence, or the word derived."""
    if text.strip().lower() == "derived":
        return "derived"
    return read_share(text, f"{text!r} is no prevalence; give a number between 0 and 1, or derived.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilityOptions(ClassScores):
    """Options of calibration errors, tests and curves; None means not on the command line."""

    bins: Annotated[int | None, option(type=whole_number(BINS), default="10", help="Number of bins.")] = None
    by: Annotated[
        Literal["width", "mass"] | None,
        option(type=click.Choice(["width", "mass"]), default="by measure", help="Bins of equal width or mass."),
    ] = None
    fitted: Annotated[
        bool,
        option(help="Model fitted to these rows: the Hosmer–Lemeshow test has up to two degrees of freedom fewer."),
    ] = False
    prevalence: Annotated[
        float | Literal["derived"] | None,
        option(
            type=_read_prevalence,
            metavar="derived|NUMBER",
            help="Prevalence at which the scores are calibrated, or derived (the best fit): calibration "
            "before and after "
            "an adjustment to that of the sample.",
        ),
    ] = None
    level: Annotated[
        float | None,
        option(
            type=read_level,
            metavar="SHARE",
            default="0.95",
            help="Confidence level, and quantile of the null reference, such as 0.9 or 90%.",
        ),
    ] = None
    seed: Annotated[int | None, option(type=click.IntRange(0), metavar="NUMBER", default="0", help="Random seed.")] = (
        None
    )
    draws: Annotated[
        int | None,
        option(
            type=whole_number(DRAWS._replace(low=0)),
            default="500",
            help="Simulations of the null reference; 0 for none.",
        ),
    ] = None
    smoother: Annotated[
        Literal["lowess", "isotonic"] | None,
        option(
            type=click.Choice(["lowess", "isotonic"]),
            default="lowess",
            help="Calibration curve of ici, e50, e90 and emax.",
        ),
    ] = None
    map: Annotated[
        str | None,
        option(
            type=click.Path(exists=True, dir_okay=False),
            metavar="MAP",
            help="Calibrator from `baserate calibrate`: calibration before and after it.",
        ),
    ] = None
    curve: Annotated[str | None, option(type=click.Choice(CURVES), help="Table of this calibration curve instead.")] = (
        None
    )
    points: Annotated[
        int | None,
        option(
            type=whole_number(POINTS), default=f"all; in tables {FEW}", help="Greatest number of points of each curve."
        ),
    ] = None
    band: Annotated[
        Literal["consistency", "confidence"] | None,
        option(
            type=click.Choice(["consistency", "confidence"]),
            default="consistency",
            help="Band of a curve: consistency with perfect calibration, or confidence around the curve.",
        ),
    ] = None

    def __post_init__(self) -> None:
        for name, of in self._idle().items():
            given = getattr(self, name)
            if given is not None and given is not False:  # 0 is a choice
                raise click.UsageError(f"--{name} {of}")
        if self.labels and not self.scores:
            raise click.UsageError("--labels is for many classes; give a probability for each with --scores.")
        if self.scores and self.prevalence is not None:
            raise click.UsageError("--prevalence is for two classes; of many there is one for each: leave it out.")
        if self.map and self.prevalence is not None:
            raise click.UsageError("--map and --prevalence both say what comes after; leave out one of them.")

    def _idle(self) -> dict[str, str]:
        """Options without use, and what to do about it."""
        if self.curve is None:
            return dict.fromkeys(("points", "band"), "is for curves; add one, such as --curve isotonic.")
        idle = dict.fromkeys(
            ("fitted", "prevalence", "draws", "smoother", "map"), "is for numbers and tests; leave out it or --curve."
        )
        if self.curve in IN_BINS:
            needs_no = "is for bands that are drawn, of --curve isotonic or --curve lowess; leave it out."
            return idle | dict.fromkeys(("band", "seed"), needs_no)
        return idle | dict.fromkeys(("bins", "by"), f"is for bins, which {self.curve} does without; leave it out.")

    @property
    def classes(self) -> Classes:
        """The options of several classes."""
        return Classes(self.scores, self.labels, (), None, None)


@command("reliability", examples=_EXAMPLES)
def reliability(reading: Reading, reliability_options: ReliabilityOptions, output: Output) -> None:
    """Assess calibration: errors, null references, tests.

    Chance alone puts calibration errors above 0, so each stands beside its null reference: the error of a perfectly
    calibrated model of the same size.
    """
    if reading.predicted:
        raise click.UsageError(
            "labels are no probabilities; instead of --predicted give a column of probabilities with --score, or one "
            "for each class with --scores."
        )
    if bool(reading.score) == bool(reliability_options.scores):
        few = "are two ways to read; leave out one" if reading.score else "say where probabilities stand; give one"
        raise click.UsageError(f"--score (of two classes) and --scores (of many, one for each) {few} of them.")
    read = _read(reading, reliability_options, quiet=output.quiet)
    if reliability_options.curve:
        _print_curve(read, reading, reliability_options, output)
        return
    from baserate.cli._calibration_page import page

    results = _assess(read, reliability_options, quiet=output.quiet)
    print_notes(reading, results.data, output)
    print_results(results, lambda: page(results, reading, output.digits), output)


def _read(reading: Reading, reliability_options: ReliabilityOptions, *, quiet: bool) -> "Tallies | MulticlassRows":
    if not reliability_options.scores:
        return read_tallies(reading, quiet=quiet)
    rows = read_classes(reading, reliability_options.classes, quiet=quiet)
    from baserate import MulticlassRows

    assert isinstance(rows, MulticlassRows)  # noqa: S101  (for the type checker)
    return rows


def _assess(read: "Tallies | MulticlassRows", reliability_options: ReliabilityOptions, *, quiet: bool) -> "Results":
    from baserate import infer
    from baserate.cli._terminal import progress_counter

    given = {
        name: getattr(reliability_options, name)
        for name in ("bins", "by", "fitted", "level", "seed", "draws", "smoother")
    }
    asked = infer.CalibrationOptions(**{name: value for name, value in given.items() if value is not None})
    after = _calibrate_scores(read, reliability_options.map) if reliability_options.map else None
    with progress_counter(quiet=quiet) as watch:
        return infer.calibration_summary(
            read, asked=asked, prevalence=reliability_options.prevalence, after=after, watch=watch
        )


def _calibrate_scores(read: "Tallies | MulticlassRows", path: str) -> "infer.CalibratedData":
    from baserate import infer
    from baserate.cli._files import load_calibrator

    calibrator = load_calibrator(path)
    return infer.apply_calibrator(read, calibrator, how=f"mapped by {PurePath(path).name} ({calibrator.method})")


def _print_curve(
    read: "Tallies | MulticlassRows", reading: Reading, reliability_options: ReliabilityOptions, output: Output
) -> None:
    from baserate import infer
    from baserate.cli._calibration_page import curve_page

    few = reliability_options.points is None and output.form in {"table", "md"}
    given = {name: getattr(reliability_options, name) for name in ("bins", "by", "band", "level", "seed")}
    drawn = infer.CurveOptions(**{name: value for name, value in given.items() if value is not None})
    what = str(reliability_options.curve).replace("-", "_")
    results = infer.calibration_curves(read, what, drawn=drawn, points=FEW if few else reliability_options.points)
    left_out = [_describe_omission(results)] if few and results.data["longest"] > FEW else []
    print_notes(reading, {**results.data, "notes": [*results.data["notes"], *left_out]}, output)
    print_results(results, lambda: curve_page(results, reading, output.digits), output)


def _describe_omission(results: "Results") -> str:
    most = format_count(results.data["longest"], 4)
    return f"at most {FEW} of up to {most} points of each curve are shown; --points N shows more, --format csv all."
