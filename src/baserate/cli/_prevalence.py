"""`baserate prevalence` and `baserate expect`: prevalence and performance of unlabelled data."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click

from baserate._domains import BINS
from baserate._formatting import count_of
from baserate.cli._declarations import NameChoice, Output, check_place, command, missing_option, option
from baserate.cli._deployment import (
    DeploymentOptions,
    Recalibration,
    deployment_headline,
    read_binary_target,
    read_class_shares,
    read_multiclass_target,
)
from baserate.cli._io import print_messages, print_results, write_calibrator
from baserate.cli._options import FileName, Level, MeasureSettings, Thresholds, measures_option, thresholds_option
from baserate.cli._values import complete_two_class, read_prevalence, whole_number

if TYPE_CHECKING:
    from baserate._calibrator import Calibrator, MulticlassCalibrator
    from baserate._results import Results
    from baserate._rows import MulticlassTarget, Target
    from baserate._tally import Tallies
    from baserate.shift import MulticlassPrevalence, Prevalence
    from baserate.text import Page

_LABEL_SHIFT = "label-shift"


def _complete_estimator(_context: click.Context, _option: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of an estimator."""
    from baserate.shift import ALIASES, METHODS

    return [name for name in (*METHODS, *ALIASES) if name.startswith(incomplete)]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrevalenceOptions(Recalibration):
    """Options of an estimator, of the measures to adjust, and of the calibrator's file."""

    method: Annotated[
        str | None,
        option(metavar="METHOD", shell_complete=_complete_estimator, default="binned; of several classes gmm"),
        "Estimator, such as binned, mlls, acc or pacc; `baserate list estimators` lists them.",
    ] = None
    threshold: Annotated[
        tuple[float, ...],
        thresholds_option("Thresholds of measures and of estimators by decisions, with commas."),
    ] = ()
    alpha: Annotated[
        float | None,
        option(type=float, default="3; of rlls 0.01"),
        "Strength of the prior of cm-map and scm-map, or of the penalty of rlls and rlls-hard.",
    ] = None
    bins: Annotated[
        int | None,
        option(type=whole_number(BINS._replace(low=2)), default="10; fewer with little validation data"),
        "Number of bins of binned and of the test.",
    ] = None
    level: Level = 0.95
    measures: Annotated[
        tuple[str, ...],
        measures_option(help="Measures to adjust to the estimate, by any of their names, with commas, or all."),
    ] = ()
    calibrator: Annotated[FileName, "File for a calibrator at the estimated prevalence, for `baserate apply`."] = None

    def __post_init__(self) -> None:
        if self.at and not self.no_recalibration:
            raise click.UsageError("--at is for probabilities without recalibration; add --no-recalibration.")
        if self.calibrator == "-":
            raise click.UsageError("--calibrator writes a file beside the numbers, which go to stdout; name one.")
        if self.calibrator:
            check_place(Path(self.calibrator), "--calibrator")

    def options(self, *, many: bool) -> dict[str, Any]:
        """Options of the estimator; those that it does not have are refused."""
        from baserate.shift import DEFAULT_METHOD, DEFAULT_MULTICLASS_METHOD, method_options, resolve_method

        name = resolve_method(self.method or (DEFAULT_MULTICLASS_METHOD if many else DEFAULT_METHOD))
        known = method_options(name, many=many)
        given: dict[str, Any] = {
            "recalibrate": False if self.no_recalibration else None,
            "at": self.at,
            "alpha": self.alpha,
            "bins": self.bins,
            "threshold": self._decision_threshold(name) if "threshold" in known else None,
        }
        # The test uses bins too, and measures use thresholds, where the estimator has no such option.
        idle = [each for each, value in given.items() if value is not None and each not in known]
        idle = [each for each in idle if many or each != "bins"] + ["threshold"] * bool(many and self.threshold)
        if idle:
            flag = "no-recalibration" if idle[0] == "recalibrate" else idle[0]
            estimator = f"{name} of several classes" if many else name
            other = "add --method mlls, or " if name == DEFAULT_METHOD and idle[0] in ("recalibrate", "at") else ""
            raise click.UsageError(f"--{flag} has no use for {estimator}; {other}leave it out.")
        return {each: value for each, value in given.items() if value is not None and each in known}

    def _decision_threshold(self, name: str) -> float | None:
        if len(self.threshold) > 1:
            raise click.UsageError(f"{name} estimates by decisions at one threshold; give one.")
        return self.threshold[0] if self.threshold else None


_VALIDATION = "--score risk --validation old.csv --truth sick"


@command(
    "prevalence",
    examples=f"""
    # the prevalence among people who were not tested
    baserate prevalence new.csv {_VALIDATION}
    # a partly labelled target
    baserate prevalence new.csv {_VALIDATION} --target-truth sick
    # save a calibrator at the estimated prevalence, and apply it
    baserate prevalence new.csv {_VALIDATION} --calibrator calibrator.json && baserate apply calibrator.json new.csv \
-o out.csv
    # measures at a threshold of 0.3
    baserate prevalence new.csv {_VALIDATION} --threshold 0.3 --measures precision,recall
    # from decisions alone
    baserate prevalence new.csv {_VALIDATION} --method acc
    # several classes, a probability for each
    baserate prevalence new.csv --scores p_ --validation pets.csv --truth is
    """,
)
def prevalence(
    deployment: DeploymentOptions, prevalence_options: PrevalenceOptions, settings: MeasureSettings, output: Output
) -> None:
    """Estimate the prevalence of unlabelled data.

    It assumes label shift: the scores of each class are distributed as in --validation, and only the shares of the
    classes differ. Scores can reject that in part, so it is tested. Measures of the validation data are adjusted to
    the estimate.
    """
    if not deployment.validation:
        raise missing_option("--validation")
    if deployment.scores:
        from baserate.cli._measure import require_costs

        settings.refuse_for_classes()
        require_costs(prevalence_options.measures, None)
        _estimate_multiclass(deployment, prevalence_options, output)
    else:
        _estimate_binary(deployment, prevalence_options, settings, output)


def _estimate_binary(
    deployment: DeploymentOptions, prevalence_options: PrevalenceOptions, settings: MeasureSettings, output: Output
) -> None:
    from baserate import shift
    from baserate.cli._measure_page import parse_measures
    from baserate.cli._prevalence_page import prevalence_page

    options = prevalence_options.options(many=False)
    if prevalence_options.at:
        options["at"] = read_prevalence(prevalence_options.at)
    measures = settings.bind(parse_measures(prevalence_options.measures))
    target, validation = read_binary_target(deployment, quiet=output.quiet)
    assert validation is not None  # noqa: S101  (for the type checker)
    method, level = prevalence_options.method, prevalence_options.level
    estimate = shift.estimate_prevalence(target, validation, method=method, level=level, **options)
    results = shift.prevalence_summary(
        estimate,
        target,
        validation,
        measures=measures,
        threshold=list(prevalence_options.threshold) or None,
        bins=prevalence_options.bins,
    )
    line = deployment_headline(deployment, results.data)
    calibrator = None
    if prevalence_options.calibrator:
        columns = {"truth": str(deployment.truth), "score": str(deployment.score)}
        calibrator = replace(_posterior(estimate), columns=columns, positive=str(results.data["positive"]))
    print_messages(line, results.data, output, inferred=deployment.positive is None)
    _save(calibrator, prevalence_options, deployment, output)
    print_results(results, lambda: prevalence_page(results, deployment.reading, line, output.digits), output)


def _estimate_multiclass(deployment: DeploymentOptions, prevalence_options: PrevalenceOptions, output: Output) -> None:
    from baserate import shift
    from baserate.cli._measure import parse_class_measures
    from baserate.cli._prevalence_page import prevalence_class_page

    options = prevalence_options.options(many=True)
    measures = parse_class_measures(prevalence_options.measures)
    target, validation = read_multiclass_target(deployment, quiet=output.quiet)
    assert validation is not None  # noqa: S101  (for the type checker)
    if prevalence_options.at:
        options["at"] = read_class_shares(prevalence_options.at, validation)
    method, level = prevalence_options.method, prevalence_options.level
    estimate = shift.estimate_prevalence(target, validation, method=method, level=level, **options)
    results = shift.prevalence_summary(estimate, target, validation, measures=measures)
    line = deployment_headline(deployment, results.data)
    calibrator = None
    if prevalence_options.calibrator:
        posterior = _posterior(estimate)
        calibrator = replace(
            posterior, columns=dict(zip(posterior.labels, target.intake.columns["score"], strict=True))
        )
    print_messages(line, results.data, output, inferred=False)
    _save(calibrator, prevalence_options, deployment, output)
    print_results(results, lambda: prevalence_class_page(results, deployment.reading, line, output.digits), output)


def _posterior(estimate: "Prevalence | MulticlassPrevalence") -> Any:  # noqa: ANN401  (a calibrator of either kind)
    """Make a calibrator at the estimated prevalence."""
    from baserate import FitError, shift

    several = isinstance(estimate, shift.MulticlassPrevalence)
    shares: Any = estimate.value if several else (estimate.value, 1 - estimate.value)
    if min(shares) <= 0:
        raise FitError(
            "a class has an estimated share of 0, so that its probability would always be 0",
            remedy="leave out --calibrator.",
        )
    return shift.posterior_calibrator(estimate)


def _save(
    calibrator: "Calibrator | MulticlassCalibrator | None",
    prevalence_options: PrevalenceOptions,
    deployment: DeploymentOptions,
    output: Output,
) -> None:
    if calibrator is not None:
        files = " ".join("FILE" if file == "-" else file for file in deployment.file)
        write_calibrator(calibrator, str(prevalence_options.calibrator), quiet=output.quiet, files=files)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectOptions(Recalibration):
    """The shift assumption, and the measures to estimate."""

    assume: Annotated[
        str,
        option(
            type=NameChoice([_LABEL_SHIFT, "covariate-shift"]),
            help="Shift assumption: only the prevalence has changed, or only the scores while each has the same risk "
            "as before. Unlabelled data cannot distinguish them.",
        ),
    ]
    threshold: Thresholds = ()
    measures: Annotated[tuple[str, ...], measures_option(shell_complete=complete_two_class)] = ()
    level: Level = 0.95

    def __post_init__(self) -> None:
        if self.at and not (self.no_recalibration and self.assume == _LABEL_SHIFT):
            raise click.UsageError(
                "--at is for probabilities that are adjusted to another prevalence; add --assume label-shift and "
                "--no-recalibration."
            )

    def check(self, deployment: DeploymentOptions) -> None:
        """Refuse options that contradict those of the data."""
        if deployment.scores and self.threshold:
            raise click.UsageError(
                "--threshold is for two classes; leave it out: of several the highest score decides."
            )
        if not deployment.validation and self.assume == _LABEL_SHIFT:
            raise click.UsageError("under label shift the prevalence is estimated first; give labelled --validation.")
        if not deployment.validation and self.no_recalibration:
            raise click.UsageError("--no-recalibration is for --validation; without it nothing is recalibrated.")

    @property
    def assumption(self) -> Literal["label shift", "covariate shift"]:
        """The assumption, as the library names it."""
        return "label shift" if self.assume == _LABEL_SHIFT else "covariate shift"


@command(
    "expect",
    examples=f"""
    # label shift: only the prevalence has changed
    baserate expect new.csv --assume label-shift {_VALIDATION}
    # covariate shift: other patients, the same risk at the same score
    baserate expect new.csv --assume covariate-shift {_VALIDATION}
    # several classes, a probability for each
    baserate expect new.csv --scores p_ --assume label-shift --validation old.csv --truth is
    # calibrated probabilities, without validation data
    baserate expect new.csv --score risk --assume covariate-shift --threshold 0.2,0.5 --measures npv,auc
    """,
)
def expect(
    deployment: DeploymentOptions, expect_options: ExpectOptions, settings: MeasureSettings, output: Output
) -> None:
    """Estimate measures of unlabelled data.

    Under label shift, the validation data are measured at the estimated prevalence. Under covariate shift, a row with
    probability 0.3 counts as 0.3 of a positive; probabilities are recalibrated on --validation, and without it taken as
    calibrated. --assume states which of both holds.
    """
    expect_options.check(deployment)
    if deployment.scores:
        from baserate.cli._measure import require_costs

        settings.refuse_for_classes()
        require_costs(expect_options.measures, None)
        _expect_multiclass(deployment, expect_options, output)
    else:
        _expect_binary(deployment, expect_options, settings, output)


def _expect_binary(
    deployment: DeploymentOptions, expect_options: ExpectOptions, settings: MeasureSettings, output: Output
) -> None:
    from baserate import shift
    from baserate.cli._measure_page import parse_measures
    from baserate.measure import results_data

    measures = settings.bind(parse_measures(expect_options.measures))
    options: dict[str, Any] = {"recalibrate": False} if expect_options.no_recalibration else {}
    options |= {} if expect_options.at is None else {"at": read_prevalence(expect_options.at)}
    target, validation = read_binary_target(deployment, quiet=output.quiet)
    expected = shift.estimate_performance(
        target,
        validation,
        assume=expect_options.assumption,
        measures=measures,
        threshold=list(expect_options.threshold) or None,
        level=expect_options.level,
        **options,
    )
    observed = {} if validation is None else results_data(validation, [])
    notes = [*expected.data["notes"], *observed.pop("notes", []), *_note_labels(target, expect_options)]
    header = {
        **_describe_labels(target, validation),
        "notes": shift.name_scores(notes, target.intake.columns["score"][0]),
    }
    results = _with_header(expected, header, target, observed, expect_options)
    line = f"expected under {results.data['assume']} · {deployment_headline(deployment, results.data)}"
    print_messages(line, results.data, output, inferred=validation is not None and deployment.positive is None)
    print_results(results, lambda: _expect_page(results, deployment, line, output.digits), output)


def _expect_multiclass(deployment: DeploymentOptions, expect_options: ExpectOptions, output: Output) -> None:
    from baserate import shift
    from baserate.cli._measure import parse_class_measures
    from baserate.cli._measure_page import multiclass_page
    from baserate.measure.multiclass import results_data

    measures = parse_class_measures(expect_options.measures)
    target, validation = read_multiclass_target(deployment, quiet=output.quiet)
    options: dict[str, Any] = {"measures": measures, "level": expect_options.level}
    options |= {"recalibrate": False} if expect_options.no_recalibration else {}
    if expect_options.at and validation is not None:
        options["at"] = read_class_shares(expect_options.at, validation)
    expected = shift.estimate_performance(target, validation, assume=expect_options.assumption, **options)
    observed = {} if validation is None else results_data(validation, validation.confusion(), [])
    notes = list(dict.fromkeys([*expected.data["notes"], *observed.pop("notes", [])]))
    results = _with_header(expected, {"notes": notes}, target, observed, expect_options)
    line = f"expected under {results.data['assume']} · {deployment_headline(deployment, results.data)}"
    print_messages(line, results.data, output, inferred=False)
    print_results(results, lambda: multiclass_page(results, deployment.reading, output.digits, line), output)


def _with_header(
    expected: "Results",
    header: dict[str, Any],
    target: "Target | MulticlassTarget",
    observed: dict[str, Any],
    expect_options: ExpectOptions,
) -> "Results":
    """Add descriptions of the target and of the validation data."""
    from baserate import Results
    from baserate.shift import describe_target

    data = {
        **describe_target(target),
        **{name: value for name, value in header.items() if name != "notes"},
        **expected.data,
        "validation": observed or None,
        "interval": {"level": expect_options.level, "method": None, "seed": None, "clusters": None},
        "notes": header["notes"],
    }
    return Results(expected.columns, data)


def _describe_labels(target: "Target", validation: "Tallies | None") -> dict[str, Any]:
    """Labels of both classes; None where the data have none."""
    intake = target.intake if validation is None else validation.intake
    known = validation is not None or bool(target.intake.labelled)
    return {name: getattr(intake, name) if known else None for name in ("positive", "negative")}


def _note_labels(target: "Target", expect_options: ExpectOptions) -> list[str]:
    """Note that labels of the target are not used under covariate shift."""
    if not target.intake.labelled or expect_options.assume == _LABEL_SHIFT:
        return []
    return [
        count_of(
            target.intake.labelled,
            "row of the target has a label and was left out.",
            "rows of the target have labels and were left out.",
        )
    ]


def _expect_page(results: "Results", deployment: DeploymentOptions, line: str, digits: int) -> "Page":
    """Return the expected prevalence, followed by the page of measures."""
    from baserate._formatting import format_number
    from baserate.cli._measure_page import measure_page
    from baserate.text import Footnotes, Row, Section, Table, estimate_cell, interval_heading

    data = results.data
    expected = {"value": data["prevalence"], "level": None} | (data["estimate"] or {})
    cell = estimate_cell(expected, Footnotes(), digits=digits, several=False)
    rows = [Row("expected", (cell,), "Share of positives in the target.")]
    if data["validation"]:
        observed = format_number(data["validation"]["prevalence"], digits)
        rows.append(Row("in validation", (observed,), "Observed share of positives."))
    heading = interval_heading(data) if data["estimate"] else ""
    measured = measure_page(results, deployment.reading, digits, line)
    return replace(measured, panels=(Table("", (heading,), (Section("prevalence", tuple(rows)),)), *measured.panels))
