"""`baserate reliability` and `baserate calibrate`: assess calibration; fit a calibrator and assess it."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click

from baserate._domains import BINS, FOLDS, PREVALENCE, SAMPLES
from baserate.cli._declarations import (
    NameChoice,
    Output,
    check_place,
    command,
    given_values,
    omit,
    option,
    refuse_given,
)
from baserate.cli._io import (
    FEW,
    adjust_prevalence,
    describe_adjustment,
    describe_omission,
    print_notes,
    print_results,
    read_rows,
    read_tallies,
    report_results,
    write_calibrator,
)
from baserate.cli._measure import Classes, read_classes
from baserate.cli._options import (
    ClassScores,
    Column,
    FileOrStdout,
    OptionalLevel,
    Points,
    Prevalence,
    Reading,
    Seed,
    check_score_options,
)
from baserate.cli._terminal import print_message, progress_counter
from baserate.cli._values import read_share, whole_number

if TYPE_CHECKING:
    from baserate import infer
    from baserate._calibrator import Calibrator, MulticlassCalibrator
    from baserate._results import Results
    from baserate._rows import MulticlassRows, Rows
    from baserate._tally import Tallies
    from baserate.calibration import Choice

IN_BINS = ("binned", "likelihood-ratio")
CURVES = ("isotonic", "lowess", *IN_BINS)
_FILE = "people.csv --truth sick --score risk"
NullReferenceSimulations = Annotated[
    int | None,
    option(type=whole_number(SAMPLES._replace(low=0)), default="500"),
    "Simulations of the null reference; 0 for none.",
]


def _read_classes(reading: Reading, scores: ClassScores, *, quiet: bool) -> "MulticlassRows":
    """Read a score for each class."""
    rows = read_classes(reading, Classes(scores.scores, scores.labels, (), None, None), quiet=quiet)
    from baserate import MulticlassRows

    assert isinstance(rows, MulticlassRows)  # noqa: S101  (for the type checker)
    return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveBins(ClassScores):
    """Options that tables and figures of calibration curves share; None means not on the command line."""

    bins: Annotated[int | None, option(type=whole_number(BINS), default="10"), "Number of bins."] = None
    by: Annotated[
        Literal["width", "mass"] | None,
        option(default="mass; of a calibration error by its definition"),
        "Bins of equal width or mass.",
    ] = None
    level: OptionalLevel = None
    band: Annotated[
        Literal["consistency", "confidence"] | None,
        option(default="consistency"),
        "Band of a curve: consistency with perfect calibration, or confidence around the curve.",
    ] = None

    def check_curve(self, curve: str) -> None:
        """Refuse options that the kind of curve does not have."""
        if curve in IN_BINS and self.band:
            raise click.UsageError("--band is for --curve isotonic or --curve lowess; take one, or leave it out.")
        if curve not in IN_BINS and (self.bins or self.by):
            raise click.UsageError(f"--bins and --by are for bins, and {curve} curves have none; leave them out.")

    def to_curve_settings(self, **more: Any) -> "infer.CurveOptions":  # noqa: ANN401  (other settings)
        """Make the settings of a curve that the library takes."""
        from baserate import infer

        more = {name: value for name, value in more.items() if value is not None}
        return infer.CurveOptions(**given_values(self, ("bins", "by", "level", "band")), **more)


def _read_sample_prevalence(text: str) -> float | Literal["derived"]:
    """Read a prevalence, or the word derived."""
    if text.strip().lower() == "derived":
        return "derived"
    return read_share(text, f"{text!r} is not a prevalence; expected {PREVALENCE.words}, or derived.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilityOptions(CurveBins):
    """Options of calibration errors, tests and curves; None means not on the command line."""

    fitted: Annotated[
        bool, "Model fitted to these rows: the Hosmer–Lemeshow test has up to two degrees of freedom fewer."
    ] = False
    prevalence: Prevalence = None
    sample_prevalence: Annotated[
        float | Literal["derived"] | None,
        option(
            type=_read_sample_prevalence,
            metavar="derived|SHARE",
            default="with --prevalence, that of the sample",
            help="Prevalence at which the scores are calibrated, or derived (the best fit): calibration before and "
            "after an adjustment to that of the sample, or to --prevalence.",
        ),
    ] = None
    seed: Annotated[int | None, option(type=click.IntRange(0), metavar="NUMBER", default="0"), "Random seed."] = None
    n_simulations: NullReferenceSimulations = None
    smoother: Annotated[
        Literal["lowess", "isotonic"] | None,
        option(default="lowess"),
        "Calibration curve of ici, e50, e90 and emax.",
    ] = None
    quantile: Annotated[
        Literal["inverted_cdf", "linear"] | None,
        option(default="inverted_cdf"),
        "Definition of the quantiles e50 and e90: R's type 1, or type 7 as in rms.",
    ] = None
    calibrator: Annotated[
        str | None,
        option(type=click.Path(exists=True, dir_okay=False), metavar="FILE"),
        "Calibrator from `baserate calibrate`: calibration before and after it.",
    ] = None
    curve: Annotated[str | None, option(type=NameChoice(CURVES)), "Table of this calibration curve instead."] = None
    points: Annotated[Points, option(default=f"all; in tables {FEW}"), "Greatest number of points of each curve."] = (
        None
    )

    def __post_init__(self) -> None:
        if self.curve is None:
            refuse_given(self, ("points", "band"), "{} is for curves; add one, such as --curve isotonic.")
        else:
            of_numbers = ("fitted", "sample_prevalence", "n_simulations", "smoother", "quantile", "calibrator")
            refuse_given(self, of_numbers, "{} is for numbers and tests; leave it out, or leave out --curve.")
            if self.curve in IN_BINS:
                message = "{} is for simulated bands, of --curve isotonic or --curve lowess; leave it out."
                refuse_given(self, ["seed"], message)
            self.check_curve(self.curve)
        if self.labels and not self.scores:
            raise click.UsageError("--labels is for several classes; give a probability for each with --scores.")
        if self.scores:
            message = "{} is for two classes; leave it out: each of several has its own prevalence."
            refuse_given(self, ("prevalence", "sample_prevalence"), message)
        if self.calibrator and self.sample_prevalence is not None:
            raise click.UsageError(
                "--calibrator and --sample-prevalence both adjust the scores; leave out one of them."
            )


@command(
    "reliability",
    examples=f"""
    # calibration errors, null references and tests
    baserate reliability {_FILE}
    # at every site
    baserate reliability {_FILE} --group site
    # calibration before and after a calibrator
    baserate reliability new.csv --truth sick --score risk --calibrator calibrator.json
    # at a prevalence of 2%, before and after an adjustment of the scores to it
    baserate reliability {_FILE} --prevalence 2%
    # calibration after an adjustment to the prevalence of the sample
    baserate reliability {_FILE} --sample-prevalence derived
    # several classes, a probability for each
    baserate reliability pets.csv --truth is --scores p_
    # a calibration curve, to plot
    baserate reliability {_FILE} --curve isotonic -o curve.csv
    """,
)
def reliability(reading: Reading, reliability_options: ReliabilityOptions, output: Output) -> None:
    """Assess calibration: errors, null references, tests.

    Chance alone puts calibration errors above 0, so each stands beside its null reference: the error of a perfectly
    calibrated model of the same size.
    """
    if reading.predicted:
        raise click.UsageError(
            "labels are not probabilities; instead of --predicted give a column of probabilities with --score, or one "
            "for each class with --scores."
        )
    check_score_options(reading.score, reliability_options.scores, "probabilities")
    from baserate import Tallies
    from baserate.cli._calibration_page import calibration_page, curve_page

    before: Tallies | MulticlassRows
    data: Tallies | MulticlassRows
    if reliability_options.scores:
        before = data = _read_classes(reading, reliability_options, quiet=output.quiet)
    else:
        before = sample = read_tallies(reading, quiet=output.quiet)
        data = adjust_prevalence(sample, reliability_options.prevalence)
    if reliability_options.curve:
        results, omissions = _tabulate_curve(data, reliability_options, output)
        page = curve_page
    else:
        adjusted = _adjust_scores(before, data, reliability_options)
        results, omissions = _assess_scores(data, adjusted, reliability_options, quiet=output.quiet), []
        page = calibration_page
    if isinstance(before, Tallies):
        results = describe_adjustment(results, before, reliability_options.prevalence)
    report_results(results, page, reading, output, omissions)


def _adjust_scores(
    before: "Tallies | MulticlassRows", data: "Tallies | MulticlassRows", reliability_options: ReliabilityOptions
) -> "infer.CalibratedData | None":
    """Apply the calibrator, or adjust scores to the prevalence in deployment; None where there is nothing to do."""
    from baserate import Tallies, infer
    from baserate.cli._io import load_calibrator
    from baserate.shift import reprior_calibrator

    path, to = reliability_options.calibrator, reliability_options.prevalence
    origin = reliability_options.sample_prevalence
    if path is not None:
        calibrator = load_calibrator(path)
        how = f"calibrated by {PurePath(path).name} ({calibrator.method})"
        return infer.apply_calibrator(data, calibrator, how=how)
    if to is None or origin == "derived" or not isinstance(before, Tallies) or not isinstance(data, Tallies):
        return None
    pooled = [before.pooled(model) for model in before.models]
    if not all(each.probable for each in pooled):
        return None  # the assessment refuses them
    share = pooled[0].prevalence if origin is None else origin
    calibrator = reprior_calibrator(sample_prevalence=share, prevalence=to)
    models = {
        name: {group: tally.with_scores(calibrator(tally.score)) for group, tally in groups.items()}
        for name, groups in data.models.items()
    }
    how = f"adjusted from {100 * share:.4g}% to {100 * to:.4g}% prevalence"
    return infer.CalibratedData(replace(data, models=models), how)


def _assess_scores(
    data: "Tallies | MulticlassRows",
    after: "infer.CalibratedData | None",
    reliability_options: ReliabilityOptions,
    *,
    quiet: bool,
) -> "Results":
    from baserate import infer

    names = ("bins", "by", "fitted", "level", "seed", "n_simulations", "smoother", "quantile")
    options = infer.CalibrationOptions(**given_values(reliability_options, names))
    origin = reliability_options.sample_prevalence if after is None else None
    with progress_counter(quiet=quiet) as watch:
        return infer.calibration_summary(data, options=options, sample_prevalence=origin, after=after, watch=watch)


def _tabulate_curve(
    data: "Tallies | MulticlassRows", reliability_options: ReliabilityOptions, output: Output
) -> "tuple[Results, list[str]]":
    """Tabulate a calibration curve; also return a note on points that are left out."""
    from baserate import infer

    few = reliability_options.points is None and output.is_page
    settings = reliability_options.to_curve_settings(seed=reliability_options.seed)
    what = str(reliability_options.curve).replace("-", "_")
    points = FEW if few else reliability_options.points
    results = infer.calibration_curves(data, what, options=settings, points=points)
    longest = results.data["longest"]
    return results, [describe_omission(longest)] * (few and longest > FEW)


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodOptions(ClassScores):
    """Options of single calibration methods, named as the parameters of their functions."""

    smoothed: Annotated[bool, "Of logistic: Platt's targets, finite if the classes are separated."] = False
    scale: Annotated[
        Literal["log-odds", "score"] | None,
        option(default="log-odds of scores in [0, 1]"),
        "Of logistic: regressor.",
    ] = None
    shape: Annotated[Literal["abm", "ab", "am", "a"] | None, option(default="abm"), "Of beta: free parameters."] = None
    bins: Annotated[int | None, option(type=whole_number(BINS), default="10"), "Of histogram: number of bins."] = None
    by: Annotated[
        Literal["width", "mass"] | None,
        option(default="mass"),
        "Of histogram: bins of equal width or mass.",
    ] = None

    @property
    def options(self) -> dict[str, Any]:
        """Options of the method that are on the command line."""
        own = {each.name for each in fields(MethodOptions)} - {each.name for each in fields(ClassScores)}
        return {name: value for name in sorted(own) if (value := getattr(self, name)) not in (None, False)}

    def check_method(self, method: str) -> None:
        """Refuse options that a method does not have: those of each are the parameters of its function."""
        if not self.options:
            return
        from baserate.calibration import CALIBRATORS

        typed = method.lower().replace("_", "-")
        for name in self.options:
            entries = [each for each in CALIBRATORS if name in each.options]
            if not any(typed in (each.name, *each.aliases) for each in entries):
                methods = " or ".join(each.name for each in entries)
                raise click.UsageError(f"--{name} is for --with {methods}; leave it out.")


def _complete_method(_context: click.Context, _option: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a calibration method."""
    from baserate.calibration import BINARY_METHODS, MULTICLASS_METHODS

    names = dict.fromkeys(("choose", *BINARY_METHODS, *MULTICLASS_METHODS))
    return [name for name in names if name.startswith(incomplete)]


@dataclass(frozen=True, slots=True, kw_only=True)
class FitOptions(MethodOptions):
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
    prevalence: Prevalence = None
    cluster: Annotated[Column, "Column with clusters, which stay in one fold."] = None
    folds: Annotated[int, option(type=whole_number(FOLDS)), "Number of cross-validation folds."] = 5
    seed: Seed = 0
    level: OptionalLevel = None
    n_simulations: NullReferenceSimulations = None
    path: Annotated[FileOrStdout, option("-o", "--output"), "File for the calibrator, as JSON."] = None

    def __post_init__(self) -> None:
        self.check_method(self.with_)
        if self.labels and not self.scores:
            raise click.UsageError("--labels is for several classes; give a score for each with --scores.")
        if self.scores:
            refuse_given(self, ("cluster", "prevalence"), "{} is for two classes; leave it out.")
        if self.cluster and self.prevalence is not None:
            raise click.UsageError(
                "folds at another prevalence take rows as independent, --cluster does not; leave out --cluster or "
                "--prevalence."
            )
        self._check_prevalence()
        if self.path not in (None, "-"):
            check_place(Path(str(self.path)))

    def _check_prevalence(self) -> None:
        """Refuse a prevalence that the method cannot follow."""
        if self.prevalence is None:
            return
        from baserate._jobs import WITHOUT_INTERCEPT  # which loads NumPy

        if self.with_ in WITHOUT_INTERCEPT:
            raise click.UsageError(
                f"--prevalence has no use for {self.with_}, which has no intercept; use logistic, beta or offset."
            )


@command(
    "calibrate",
    examples=f"""
    # fit beta calibration, assess it by cross-fitting, and save it
    baserate calibrate {_FILE} --with beta -o calibrator.json
    # let the data choose the method
    baserate calibrate {_FILE} -o calibrator.json
    # probabilities at a prevalence of 2%
    baserate calibrate {_FILE} --with logistic --prevalence 2% -o calibrator.json
    # correct the mean of the probabilities alone
    baserate calibrate {_FILE} --with offset -o calibrator.json
    # apply the calibrator
    baserate apply calibrator.json new.parquet -o calibrated.parquet
    """,
)
def calibrate(reading: Reading, fit_options: FitOptions, output: Annotated[Output, omit("path")]) -> None:
    """Fit a calibrator: scores to probabilities.

    Calibration before and after is assessed as by `baserate reliability`; after is cross-fitted, so that the calibrator
    of each row was fitted to other rows. The calibrator in the file is fitted to all rows.
    """
    if reading.predicted:
        raise click.UsageError("labels cannot be calibrated; instead of --predicted give scores with --score.")
    if len(reading.score) != (0 if fit_options.scores else 1):
        raise click.UsageError(
            "a calibrator has one score; give one with --score, or one for each class with --scores."
        )
    if fit_options.path == "-" and output.form != "table":
        raise click.UsageError(
            "-o - writes the calibrator to stdout, where the numbers would go; name a file for the calibrator."
        )
    data, adjust = _read_data(reading, fit_options, quiet=output.quiet)
    calibrator, choice = _fit_calibrator(data, fit_options, quiet=output.quiet)
    results = adjust(_assess_calibrator(data, calibrator, choice, fit_options, quiet=output.quiet))
    print_notes(reading, results.data, output)
    if fit_options.path is not None:
        write_calibrator(calibrator, fit_options.path, quiet=output.quiet)
    elif not output.quiet:
        print_message("no calibrator was written; -o calibrator.json writes it.")
    if fit_options.path != "-":
        from baserate.cli._calibration_page import calibrator_page

        print_results(results, lambda: calibrator_page(results, reading, output.digits), output)


def _read_data(
    reading: Reading, fit_options: FitOptions, *, quiet: bool
) -> "tuple[Tallies | Rows | MulticlassRows, Callable[[Results], Results]]":
    """Read the data at the prevalence in deployment; also return the function that describes it in results."""
    if fit_options.cluster:
        return read_rows(reading, quiet=quiet, cluster=fit_options.cluster), lambda results: results
    if fit_options.scores:
        return _read_classes(reading, fit_options, quiet=quiet), lambda results: results
    sample, prevalence = read_tallies(reading, quiet=quiet), fit_options.prevalence
    return adjust_prevalence(sample, prevalence), partial(describe_adjustment, before=sample, to=prevalence)


def _fit_calibrator(
    data: "Tallies | Rows | MulticlassRows", fit_options: FitOptions, *, quiet: bool
) -> "tuple[Calibrator | MulticlassCalibrator, Choice | None]":
    from baserate import calibration as library

    if fit_options.with_ != "choose":
        return library.fit(data, fit_options.with_, **fit_options.options), None
    with progress_counter(quiet=quiet) as watch:
        choice = library.choose(data, folds=fit_options.folds, seed=fit_options.seed, watch=watch)
    return choice.calibrator, choice


def _assess_calibrator(
    data: "Tallies | Rows | MulticlassRows",
    calibrator: "Calibrator | MulticlassCalibrator",
    choice: "Choice | None",
    fit_options: FitOptions,
    *,
    quiet: bool,
) -> "Results":
    """Assess calibration before and after, and describe the calibrator."""
    from baserate import FitError, NotAProbabilityError, Results, Rows, infer

    with progress_counter(quiet=quiet) as watch:
        after, failure = _cross_fit(data, calibrator, fit_options, watch)
    settings = infer.CalibrationOptions(**given_values(fit_options, ("level", "seed", "n_simulations")))
    before = data.tallies() if isinstance(data, Rows) else data
    try:
        with progress_counter(quiet=quiet) as watch:
            results = infer.calibration_summary(before, options=settings, after=after, watch=watch)
    except NotAProbabilityError as error:
        if after is not None:
            raise
        raise FitError(f"the scores are not probabilities, and {failure[0]}") from error
    parameters = [asdict(each) for each in calibrator.parameters]
    # The note on scores without finite log-odds is among those of the data.
    notes = [*failure, *(note for note in calibrator.notes if "finite log-odds" not in note)]
    more = {
        "map": {"method": calibrator.method, "parameters": parameters, "folds": fit_options.folds},
        "notes": [*results.data["notes"], *notes],
    }
    if choice:
        more |= {"choice": {"verdict": choice.verdict, "methods": choice.results.rows()}}
    return Results(results.columns, {**results.data, **more})


def _cross_fit(
    data: "Tallies | Rows | MulticlassRows",
    calibrator: "Calibrator | MulticlassCalibrator",
    fit_options: FitOptions,
    watch: Callable[[int, int], None],
) -> "tuple[infer.CalibratedData | None, list[str]]":
    """Calibrate each row by a calibrator that was fitted without it; or return the reason why that fails."""
    from baserate import FitError, calibration as library, infer

    chosen = fit_options.with_ == "choose"
    options = {} if chosen else fit_options.options
    try:
        after = library.cross_fit(
            data, fit_options.with_, folds=fit_options.folds, seed=fit_options.seed, watch=watch, **options
        )
    except FitError as error:
        return None, [f"the calibrator cannot be assessed on other rows: {error}"]
    method = "the method chosen without each fold" if chosen else calibrator.method
    return infer.CalibratedData(after, f"cross-fitted: {method}, each row by a calibrator fitted without it"), []
