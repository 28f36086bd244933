"""`baserate shift` and `baserate reprior`: measures, or probabilities row by row, at another prevalence."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import click

from baserate.cli._declarations import Output, Quiet, check_place, command, option, refuse_given
from baserate.cli._io import (
    FEW,
    ROWS_FILE,
    MissingScore,
    name_as_typed,
    parse_columns,
    read_tallies,
    report_results,
    write_calibrator,
    write_rows,
)
from baserate.cli._measure import Classes, ClassOptions, may_have_many_classes, refuse_single_share
from baserate.cli._options import (
    ClassShares,
    Column,
    ColumnList,
    FileOrStdout,
    IndependentIntervals,
    Intervals,
    MeasureSettings,
    NewName,
    Points,
    Reading,
    SamplingRatios,
    Thresholds,
    check_score_options,
    files_argument,
    measures_option,
)
from baserate.cli._terminal import print_message
from baserate.cli._values import match_classes

if TYPE_CHECKING:
    from baserate._calibrator import Calibrator, MulticlassCalibrator
    from baserate._confusion import Confusions
    from baserate._rows import MulticlassRows
    from baserate._tally import Tallies
    from baserate.measure import Measure

_FILE = "people.csv --truth sick --score risk"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShiftOptions(SamplingRatios):
    """Options of a prevalence shift: the prevalence, or a curve, and the measures."""

    prevalence: Annotated[
        ClassShares,
        "Prevalence in deployment, such as 0.02 or 2%; of several classes a share for each: cat=0.2,dog=0.8.",
    ] = None
    curve: Annotated[bool, "Table of measures of decisions against the prevalence instead."] = False
    points: Annotated[
        Points,
        option(default=f"199; in tables at most {FEW}"),
        "Number of prevalences of the curve, evenly spaced in log-odds.",
    ] = None
    threshold: Thresholds = ()
    measures: Annotated[
        tuple[str, ...],
        measures_option(default="the usual ones; of a curve precision, npv and accuracy"),
    ] = ()
    bound_measures: "list[Measure] | Literal['usual', 'all']" = "usual"
    """The measures, with the numbers that they depend on."""

    def __post_init__(self) -> None:
        sampling = self.over_sampled if self.under_sampled is None else self.under_sampled
        ways = {"--prevalence": self.prevalence, "--gamma": self.gamma, "--under-sampled and --over-sampled": sampling}
        flags = [name for name, value in {**ways, "--curve": self.curve or None}.items() if value is not None]
        if not flags:
            raise click.UsageError(
                "the prevalence in deployment is missing; give one, such as --prevalence 0.02, or --gamma, "
                "--under-sampled or --over-sampled, or all prevalences with --curve."
            )
        if len(flags) > 1:
            raise click.UsageError(f"{flags[0]} and {flags[1]} both state the prevalence; give one of them.")
        if self.points is not None and not self.curve:
            raise click.UsageError("--points is for a curve; add --curve instead of a prevalence.")
        _ = self.odds_ratio  # checks it

    def bind_measures(self, settings: MeasureSettings) -> "ShiftOptions":
        """Bind the numbers that measures depend on."""
        from baserate.cli._measure_page import parse_measures

        return replace(self, bound_measures=settings.bind(parse_measures(self.measures)))


@command(
    "shift",
    examples=f"""
    # at a prevalence of 2%
    baserate shift {_FILE} --prevalence 0.02
    # by group, a few measures, for a program
    baserate shift {_FILE} --prevalence 2% --group site --measures npv,brier --json
    # a sample with every tenth negative
    baserate shift sample.csv --truth fraud --score p --under-sampled 10
    # against the prevalence
    baserate shift {_FILE} --threshold 0.2 --curve
    # such a curve, to plot
    baserate shift {_FILE} --curve --measures precision -o curve.csv
    # several classes, from labels
    baserate shift pets.csv --truth is --predicted called --prevalence cat=0.2,dog=0.7,fish=0.1
    """,
)
def shift(
    reading: Reading,
    classes: ClassOptions,
    shift_options: ShiftOptions,
    settings: MeasureSettings,
    intervals: IndependentIntervals,
    output: Output,
) -> None:
    """Adjust measures to another prevalence.

    Each class is assumed to have the same scores in deployment as in the sample (label shift). Decisions use the
    original scores. Measures of probabilities are shown for the original scores, and for scores adjusted to the
    prevalence, which `baserate reprior` does row by row.
    """
    from baserate import Tallies
    from baserate.cli._measure import parse_class_measures

    several = isinstance(shift_options.prevalence, dict)
    if several and (reading.score or reading.positive or reading.negative):
        raise click.UsageError(
            "of two classes, --prevalence is the share of the positive one alone, such as --prevalence 0.02."
        )
    if not (several or classes.is_requested or may_have_many_classes(reading)):
        bound = shift_options.bind_measures(settings)  # before reading, so that errors come at once
        _shift_binary(read_tallies(reading, quiet=output.quiet), reading, bound, intervals, output)
        return
    from baserate.cli._measure import read_classes, require_costs

    parse_class_measures(shift_options.measures)
    data = read_classes(reading, classes, quiet=output.quiet, alike=several)
    if isinstance(data, Tallies):
        _shift_binary(data, reading, shift_options.bind_measures(settings), intervals, output)
    else:
        settings.refuse_for_classes()
        require_costs(shift_options.measures, classes.costs)
        _shift_multiclass(data, reading, classes, shift_options, intervals, output)


def _shift_binary(
    tallies: "Tallies", reading: Reading, shift_options: ShiftOptions, intervals: Intervals, output: Output
) -> None:
    if shift_options.curve:
        _print_curve(tallies, reading, shift_options, intervals, output)
        return
    from baserate import shift as library
    from baserate.cli._prevalence_page import shift_page

    assert not isinstance(shift_options.prevalence, dict)  # noqa: S101  (for the type checker)
    results = library.summary(
        tallies,
        prevalence=shift_options.prevalence,
        gamma=shift_options.odds_ratio,
        measures=shift_options.bound_measures,
        threshold=list(shift_options.threshold) or None,
        interval=intervals.to_interval(),
    )
    report_results(name_as_typed(results, shift_options.measures), shift_page, reading, output)


def _shift_multiclass(
    data: "Confusions | MulticlassRows",
    reading: Reading,
    classes: Classes,
    shift_options: ShiftOptions,
    intervals: Intervals,
    output: Output,
) -> None:
    from baserate import shift as library
    from baserate.cli._measure import parse_class_measures, read_averages, read_costs
    from baserate.cli._prevalence_page import shift_class_page

    _check_classes(shift_options, data.labels)
    assert isinstance(shift_options.prevalence, dict)  # noqa: S101  (for the type checker)
    results = library.class_summary(
        data,
        prevalence=match_classes(shift_options.prevalence, data.labels),
        measures=parse_class_measures(shift_options.measures),
        averages=read_averages(classes.average, data.labels),
        costs=read_costs(classes.costs),
        interval=intervals.to_interval(),
    )
    report_results(results, shift_class_page, reading, output)


def _check_classes(shift_options: ShiftOptions, labels: Sequence[object]) -> None:
    """Refuse options for two classes alone."""
    message = f"{{}} is for two classes, and the data have {len(labels)}; leave it out."
    refuse_given(shift_options, ("curve", "threshold"), message)
    if not isinstance(shift_options.prevalence, dict):
        refuse_single_share(labels)


def _print_curve(
    tallies: "Tallies", reading: Reading, shift_options: ShiftOptions, intervals: Intervals, output: Output
) -> None:
    from baserate.cli._prevalence_page import prevalence_curve_page
    from baserate.shift import default_prevalences, prevalence_curves, spaced_prevalences

    if intervals.interval:
        raise click.UsageError(
            "--interval is for one prevalence; leave it out: a curve has the method of each measure."
        )
    few = shift_options.points is None and output.is_page
    spaced = None if shift_options.points is None else spaced_prevalences(shift_options.points)
    results = prevalence_curves(
        tallies,
        shift_options.measures if isinstance(shift_options.bound_measures, str) else shift_options.bound_measures,
        thresholds=shift_options.threshold,
        prevalences=default_prevalences() if few else spaced,
        interval=intervals.to_interval(),
    )
    omissions = ["a few prevalences are shown; --points N shows N, --format csv 199."] * few
    report_results(results, prevalence_curve_page, reading, output, omissions)


@dataclass(frozen=True, slots=True, kw_only=True)
class RepriorOptions(SamplingRatios):
    """Probabilities to adjust, both prevalences, and output files."""

    file: Annotated[tuple[str, ...], files_argument("[FILE...]", required=False)] = ()
    score: Annotated[Column, "Column with probabilities of the positive class."] = None
    scores: Annotated[
        ColumnList, "Columns with a probability for each class: p_ for p_cat and p_dog, or cat=c1,dog=c2."
    ] = ()
    sample_prevalence: Annotated[
        ClassShares, "Prevalence at which the scores are calibrated, such as 0.5; of several classes cat=0.5,dog=0.5."
    ] = None
    prevalence: Annotated[ClassShares, "Prevalence in deployment, in the same form."] = None
    name: Annotated[
        NewName,
        option(default="that of the score and _corrected"),
        "Name of the new column; of several classes CLASS=NAME,….",
    ] = None
    missing: MissingScore = "refuse"
    path: Annotated[FileOrStdout, option("-o", "--output"), ROWS_FILE] = None
    calibrator: Annotated[FileOrStdout, "File for the calibrator itself, as JSON."] = None
    quiet: Quiet = False

    def __post_init__(self) -> None:
        check_score_options(self.score, self.scores, "probabilities")
        self._check_prior()
        self._check_places()

    def _check_prior(self) -> None:
        """Refuse prevalences and sampling ratios that contradict each other."""
        ratio = self.odds_ratio
        if ratio is not None and (self.sample_prevalence is not None or self.prevalence is not None or self.scores):
            raise click.UsageError(
                "--gamma, --under-sampled and --over-sampled are for two classes, instead of --sample-prevalence and "
                "--prevalence."
            )
        if ratio is None and (self.sample_prevalence is None or self.prevalence is None):
            raise click.UsageError(
                "a prevalence is missing; give both, such as --sample-prevalence 0.5 --prevalence 0.02, or how rows "
                "were sampled, such as --under-sampled 10."
            )
        if ratio is None and any(
            isinstance(each, dict) != bool(self.scores) for each in (self.sample_prevalence, self.prevalence)
        ):
            raise click.UsageError(
                "of several classes give each a share, such as cat=0.2,dog=0.8, in both --sample-prevalence and "
                "--prevalence, and columns with --scores; of two classes the prevalence alone, and --score."
            )

    def _check_places(self) -> None:
        """Refuse an output without input, input without output, and files that cannot be written."""
        if self.path is None and self.calibrator is None:
            raise click.UsageError(
                "nothing would be written; name a file for the rows with -o, or for the calibrator with --calibrator."
            )
        if bool(self.file) != (self.path is not None):
            missing = "name the FILE that the rows are in" if self.path else "name a file for the rows with -o"
            raise click.UsageError(f"{missing}, or write the calibrator alone, with --calibrator.")
        if self.path == self.calibrator == "-":
            raise click.UsageError("rows and calibrator cannot both go to stdout; name a file for one of them.")
        for path in (self.path, self.calibrator):
            if path not in (None, "-"):
                check_place(Path(str(path)))


@command(
    "reprior",
    examples="""
    # from a training prevalence of 50% to 2%
    baserate reprior people.csv --score risk --sample-prevalence 0.5 --prevalence 0.02 -o out.parquet
    # trained on every tenth negative
    baserate reprior people.csv --score risk --under-sampled 10 --name p -o out.csv
    # the calibrator itself, for `baserate apply` and `baserate export`
    baserate reprior --score risk --sample-prevalence 0.5 --prevalence 0.02 --calibrator calibrator.json
    # several classes, a probability for each
    baserate reprior pets.csv --scores p_ --sample-prevalence cat=0.5,dog=0.5 --prevalence cat=0.2,dog=0.8 -o out.csv
    """,
)
def reprior(options: RepriorOptions) -> None:
    """Adjust probabilities to another prevalence, row by row.

    Every row and column stays, and adjusted probabilities join them; nothing is fitted. Scores are probabilities that
    are calibrated at --sample-prevalence. The output is written whole or not at all.
    """
    calibrator = _make_calibrator(options)
    columns = parse_columns(calibrator, options.name) if options.name else _name_columns(calibrator)
    settings = {"score": None, "name": columns, "missing": options.missing}
    if options.path is not None:
        write_rows(calibrator, options.file, options.path, quiet=options.quiet, **settings)
    if not options.quiet:
        _print_example(calibrator)
    if options.calibrator is not None:
        write_calibrator(calibrator, options.calibrator, quiet=options.quiet)


def _make_calibrator(options: RepriorOptions) -> "Calibrator | MulticlassCalibrator":
    """Make the calibrator, with the names of its columns."""
    from baserate import MulticlassCalibrator
    from baserate.shift import prevalence_of_gamma, reprior_calibrator

    ratio = options.odds_ratio
    if ratio is not None:
        # γ multiplies odds, whatever the prevalence: 0.5 stands for any.
        calibrator = reprior_calibrator(
            sample_prevalence=0.5, prevalence=prevalence_of_gamma(ratio, sample_prevalence=0.5)
        )
    elif isinstance(options.sample_prevalence, dict) and isinstance(options.prevalence, dict):
        calibrator = reprior_calibrator(
            sample_prevalence=options.sample_prevalence,
            prevalence=match_classes(options.prevalence, list(options.sample_prevalence)),
        )
    else:
        assert options.sample_prevalence is not None  # noqa: S101  (for the type checker)
        assert options.prevalence is not None  # noqa: S101  (for the type checker)
        calibrator = reprior_calibrator(sample_prevalence=options.sample_prevalence, prevalence=options.prevalence)
    if isinstance(calibrator, MulticlassCalibrator):
        return replace(calibrator, columns=_class_columns(options.scores, calibrator.labels))
    return replace(calibrator, columns={"score": str(options.score)})


def _class_columns(scores: tuple[str, ...], labels: tuple[str, ...]) -> dict[str, str]:
    """Column of each class: named with it, or with a common prefix."""
    if all("=" in each for each in scores):
        by_class = {label.strip(): column.strip() for label, _, column in (each.rpartition("=") for each in scores)}
        if {*by_class} != {*labels} or len(scores) != len(labels):
            raise click.UsageError(
                f"--scores names {', '.join(by_class)}; name one column for each: {', '.join(labels)}."
            )
        return by_class
    if len(scores) > 1:
        each = ",".join(f"{label}=COLUMN" for label in labels)
        raise click.UsageError(f"the class of each column is missing; name it: --scores {each}")
    return {label: scores[0].removesuffix("*") + label for label in labels}


def _name_columns(calibrator: "Calibrator | MulticlassCalibrator") -> str | dict[str, str]:
    """Default names of the new columns."""
    from baserate import MulticlassCalibrator

    columns = {label: f"{column}_corrected" for label, column in calibrator.columns.items()}
    return columns if isinstance(calibrator, MulticlassCalibrator) else columns["score"]


def _print_example(calibrator: "Calibrator | MulticlassCalibrator") -> None:
    """Print one adjusted probability as an example."""
    from baserate import MulticlassCalibrator

    if isinstance(calibrator, MulticlassCalibrator):
        equal = [1 / len(calibrator.labels)] * len(calibrator.labels)
        adjusted = zip(calibrator.labels, calibrator([equal])[0].tolist(), strict=True)
        print_message(f"equal probabilities become {', '.join(f'{label} {each:.4g}' for label, each in adjusted)}.")
    else:
        print_message(f"0.5 becomes {float(calibrator([0.5])[0]):.4g}.")
