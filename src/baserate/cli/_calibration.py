"""`baserate reliability`: calibration errors, tests and curves."""

import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click

from baserate._domains import BINS, DRAWS, FOLDS, POINTS
from baserate._formatting import format_count, format_number
from baserate.cli._declarations import Output, check_place, command, omit, option
from baserate.cli._io import print_notes, print_results, read_rows, read_tallies
from baserate.cli._multiclass import Classes, read_classes
from baserate.cli._options import ClassScores, OptionalLevel, Reading, Seed
from baserate.cli._terminal import print_message, write_output
from baserate.cli._values import read_level, read_share, whole_number
from baserate.text import Cell, IntervalCell, Page, Row, Section, Table, format_bounds

if TYPE_CHECKING:
    from baserate import infer
    from baserate._calibrator import Calibrator, MulticlassCalibrator
    from baserate._results import Results
    from baserate._rows import MulticlassRows, Rows
    from baserate._tally import Tallies
    from baserate.calibrate import Choice

CURVES = ("binned", "isotonic", "lowess", "likelihood-ratio")
IN_BINS = ("binned", "likelihood-ratio")
FEW = 25
"""Points of a curve that a person wants to read."""

_RELIABILITY_EXAMPLES = (
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


@command("reliability", examples=_RELIABILITY_EXAMPLES)
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
    from baserate.cli._io import load_calibrator

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


_WORDS = {
    "offset": "Added to all log-odds.",
    "derivation_prevalence": "Prevalence that the scores were right for.",
    "slope": "1 leaves log-odds as they are; below 1 they were too extreme.",
    "temperature": "1/slope.",
    "intercept": "Log-odds where those given are 0.",
    "a": "Slope of ln p.",
    "b": "Slope of −ln(1 − p).",
    "c": "Added to log-odds.",
    "m": "Where the map crosses ½.",
}


def calibration_page(results: "Results", reading: Reading, digits: int) -> Page:
    """Lay out the calibrator, the choice of its method, and calibration before and after."""
    from baserate.cli import _calibration_page

    made = _calibration_page.page(results, reading, digits)
    fitted = [*_choice(results.data.get("choice"), digits), *_map(results.data["map"], digits)]
    return Page(made.headline, (*fitted, *made.panels), made.footnotes)


def _choice(choice: Any, digits: int) -> Iterator[Table]:  # noqa: ANN401  (what Results hold)
    """Methods by what they lose."""
    if choice is None:
        return
    rows = []
    for row in sorted(choice["methods"], key=lambda row: (row["log_loss"] is None, row["log_loss"])):
        if row["log_loss"] is None:
            rows.append(Row(row["method"], ("", ""), row["why"]))
            continue
        why = "" if row["why"] is None else f"{row['why'][:1].upper()}{row['why'][1:]}"
        remark = "Chosen." if row["chosen"] else why or ("" if row["matters"] else "Chance may explain it.")
        rows.append(Row(row["method"], (format_number(row["log_loss"], digits), _above(row, digits)), remark))
    columns = ("log-loss", "above the lowest (95 %)")
    yield Table("method, on rows left out", columns, (Section("", tuple(rows)),))
    verdict = re.sub(r"(?<!e)-(?=\d)", "−", choice["verdict"])
    yield Table("", ("",), (Section("choice", (Row("verdict", ("",), f"{verdict[:1].upper()}{verdict[1:]}"),)),))


def _above(row: Any, digits: int) -> Cell:  # noqa: ANN401  (a row of the choice)
    if row["difference"] is None:
        return ""
    if row["low"] is None:
        return format_number(row["difference"], digits)
    return IntervalCell(format_number(row["difference"], 2), *format_bounds(row["low"], row["high"], 2, 2))


def _map(fitted: Any, digits: int) -> Iterator[Table]:  # noqa: ANN401  (what Results hold)
    """Lay out the parameters of the calibrator, with their intervals."""
    if not fitted["parameters"]:
        return
    rows = []
    for each in fitted["parameters"]:
        value = format_number(each["value"], digits)
        bounded = each["low"] is not None and each["high"] is not None
        cell = IntervalCell(value, *format_bounds(each["low"], each["high"], digits, digits)) if bounded else value
        rows.append(Row(each["name"].replace("_", " "), (cell,), _WORDS.get(each["name"], "")))
    yield Table(f"map: {fitted['method']}", ("value (95 %)",), (Section("", tuple(rows)),))


_CALIBRATE_EXAMPLES = (
    (
        "fit beta calibration, assess it by cross-fitting, and save it",
        "baserate calibrate people.csv --truth sick --score risk --with beta -o map.json",
    ),
    ("let the data choose the method", "baserate calibrate people.csv --truth sick --score risk -o map.json"),
    (
        "adjust the prevalence alone",
        "baserate calibrate people.csv --truth sick --score risk --with offset -o map.json",
    ),
    ("apply the calibrator", "baserate apply map.json new.parquet -o calibrated.parquet"),
)
_OPTIONS_OF = {"smoothed": "logistic", "scale": "logistic", "shape": "beta", "bins": "histogram", "by": "histogram"}


def _complete_method(_context: click.Context, _option: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a method."""
    from baserate.calibrate import BINARY_METHODS, MULTICLASS_METHODS

    known = dict.fromkeys(("choose", *BINARY_METHODS, *MULTICLASS_METHODS))
    return [name for name in known if name.startswith(incomplete)]


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationOptions(ClassScores):
    """Options of a calibrator: its method, its cross-validation, its file."""

    with_: Annotated[
        str,
        option(
            metavar="METHOD",
            shell_complete=_complete_method,
            help="Calibration method, such as offset, which adjusts the prevalence alone; `baserate list calibrators` "
            "lists them. choose takes the one of least cross-validated log-loss. Of several classes, also "
            "one-vs-rest-….",
        ),
    ] = "choose"
    smoothed: Annotated[bool, option(help="Of logistic: Platt's targets, finite if the classes are separated.")] = False
    scale: Annotated[
        str | None,
        option(
            type=click.Choice(["log-odds", "score"]),
            default="log-odds of scores in [0, 1]",
            help="Of logistic: regressor.",
        ),
    ] = None
    shape: Annotated[
        str | None,
        option(type=click.Choice(["abm", "ab", "am", "a"]), default="abm", help="Of beta: free parameters."),
    ] = None
    bins: Annotated[int | None, option(type=whole_number(BINS), default="10", help="Of histogram: number of bins.")] = (
        None
    )
    by: Annotated[
        str | None,
        option(type=click.Choice(["width", "mass"]), default="mass", help="Of histogram: bins of equal width or mass."),
    ] = None
    cluster: Annotated[str | None, option(metavar="COLUMN", help="Column with clusters, which stay in one fold.")] = (
        None
    )
    folds: Annotated[int, option(type=whole_number(FOLDS), help="Number of cross-validation folds.")] = 5
    seed: Seed = 0
    level: OptionalLevel = None
    draws: Annotated[
        int | None,
        option(
            type=whole_number(DRAWS._replace(low=0)),
            default="500",
            help="Simulations of the null reference; 0 for none.",
        ),
    ] = None
    path: Annotated[
        str | None,
        option(
            "-o", "--output", type=click.Path(allow_dash=True), metavar="MAP", help="File for the calibrator, as JSON."
        ),
    ] = None

    def __post_init__(self) -> None:
        for name, method in _OPTIONS_OF.items():
            if name in self.options and self.with_ != method:
                raise click.UsageError(f"--{name} is for --with {method}; leave it out.")
        if self.labels and not self.scores:
            raise click.UsageError("--labels is for many classes; give a score for each with --scores.")
        if self.scores and self.cluster:
            raise click.UsageError("--cluster is for two classes; leave it out.")
        if self.path not in (None, "-"):
            check_place(Path(str(self.path)))

    @property
    def options(self) -> dict[str, Any]:
        """Options of the method that were given."""
        return {name: value for name in _OPTIONS_OF if (value := getattr(self, name)) not in (None, False)}


@command("calibrate", examples=_CALIBRATE_EXAMPLES)
def calibrate(reading: Reading, fit_options: CalibrationOptions, output: Annotated[Output, omit("path")]) -> None:
    """Fit a calibrator: scores to probabilities.

    Calibration before and after is assessed as `baserate reliability` does; after is cross-fitted, so that every row is
    mapped by what was fitted to other rows. The calibrator that is written is fitted to all of them.
    """
    if reading.predicted:
        raise click.UsageError("labels cannot be calibrated; instead of --predicted give scores with --score.")
    if len(reading.score) != (0 if fit_options.scores else 1):
        raise click.UsageError("a map is of one score: give one with --score, or one for each class with --scores.")
    if fit_options.path == "-" and output.form != "table":
        raise click.UsageError("-o - writes the map to stdout, where the numbers would go; name a file for the map.")
    data = _read_data(reading, fit_options, quiet=output.quiet)
    calibrator, choice = _fit(data, fit_options, quiet=output.quiet)
    results = _assess_calibrator(data, calibrator, choice, fit_options, quiet=output.quiet)
    print_notes(reading, results.data, output)
    _write_calibrator(calibrator, fit_options, output)
    if fit_options.path != "-":
        print_results(results, lambda: calibration_page(results, reading, output.digits), output)


def _read_data(reading: Reading, fit_options: CalibrationOptions, *, quiet: bool) -> "Tallies | Rows | MulticlassRows":
    if fit_options.cluster:
        return read_rows(reading, quiet=quiet, cluster=fit_options.cluster)
    if not fit_options.scores:
        return read_tallies(reading, quiet=quiet)
    class_rows = read_classes(reading, Classes(fit_options.scores, fit_options.labels, (), None, None), quiet=quiet)
    from baserate import MulticlassRows

    assert isinstance(class_rows, MulticlassRows)  # noqa: S101  (for the type checker)
    return class_rows


def _fit(
    data: "Tallies | Rows | MulticlassRows", fit_options: CalibrationOptions, *, quiet: bool
) -> "tuple[Calibrator | MulticlassCalibrator, Choice | None]":
    from baserate import calibrate as library

    if fit_options.with_ != "choose":
        return library.fit(data, fit_options.with_, **fit_options.options), None
    from baserate.cli._terminal import progress_counter

    with progress_counter(quiet=quiet) as watch:
        choice = library.choose(data, folds=fit_options.folds, seed=fit_options.seed, watch=watch)
    return choice.calibrator, choice


def _assess_calibrator(
    data: "Tallies | Rows | MulticlassRows",
    calibrator: "Calibrator | MulticlassCalibrator",
    choice: "Choice | None",
    fit_options: CalibrationOptions,
    *,
    quiet: bool,
) -> "Results":
    """Numbers before and after, with what they are of."""
    from baserate import FitError, NotAProbabilityError, Results, Rows, infer
    from baserate.cli._terminal import progress_counter

    with progress_counter(quiet=quiet) as watch:
        after, lacking = _cross_fit(data, calibrator, fit_options, watch)
    options: dict[str, Any] = {"level": fit_options.level, "seed": fit_options.seed, "draws": fit_options.draws}
    settings = infer.CalibrationOptions(**{name: value for name, value in options.items() if value is not None})
    before = data.tallies() if isinstance(data, Rows) else data
    try:
        with progress_counter(quiet=quiet) as watch:
            results = infer.calibration_summary(before, asked=settings, after=after, watch=watch)
    except NotAProbabilityError as error:
        if after is not None:
            raise
        raise FitError(f"the scores are no probabilities, and {lacking[0]}") from error
    map_ = {
        "method": calibrator.method,
        "parameters": [asdict(each) for each in calibrator.parameters],
        "folds": fit_options.folds,
    }
    # That certainties have no log-odds is said of the rows already.
    notes = [*lacking, *(note for note in calibrator.notes if "finite log-odds" not in note)]
    more = {"map": map_, "notes": [*results.data["notes"], *notes]}
    if choice:
        more |= {"choice": {"verdict": choice.verdict, "methods": choice.results.rows()}}
    return Results(results.columns, {**results.data, **more})


def _cross_fit(
    data: "Tallies | Rows | MulticlassRows",
    calibrator: "Calibrator | MulticlassCalibrator",
    fit_options: CalibrationOptions,
    watch: Callable[[int, int], None],
) -> "tuple[infer.CalibratedData | None, list[str]]":
    """Apply to each row a calibrator that was fitted without it; or say why that fails."""
    from baserate import FitError, calibrate as library, infer

    options = fit_options.options if fit_options.with_ != "choose" else {}
    try:
        after = library.cross_fit(
            data, fit_options.with_, folds=fit_options.folds, seed=fit_options.seed, watch=watch, **options
        )
    except FitError as error:
        return None, [f"the map cannot be judged on rows that it has not seen: {error}"]
    what = calibrator.method if fit_options.with_ != "choose" else "whatever was chosen without each fold"
    return infer.CalibratedData(after, f"cross-fitted: {what}, each row by a map that was fitted without it"), []


def _write_calibrator(
    calibrator: "Calibrator | MulticlassCalibrator", fit_options: CalibrationOptions, output: Output
) -> None:
    if fit_options.path is None:
        if not output.quiet:
            print_message("no map was written; -o map.json writes it.")
        return
    write_output(calibrator.to_json(), fit_options.path)
    if fit_options.path != "-" and not output.quiet:
        print_message(
            f"wrote {fit_options.path}: {calibrator!r}; apply it with: baserate apply {fit_options.path} FILE -o OUT"
        )
