"""`baserate prevalence` and `baserate expect`: prevalence and performance of unlabelled data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click

from baserate._domains import BINS
from baserate.cli._declarations import Output, check_place, command, missing_option, option
from baserate.cli._deployment import (
    DeploymentOptions,
    Recalibration,
    deployment_headline,
    read_target,
)
from baserate.cli._io import print_messages, print_results, write_calibrator
from baserate.cli._options import FileName, Level, MeasureSettings, Thresholds, measures_option, thresholds_option
from baserate.cli._values import complete_two_class, whole_number

if TYPE_CHECKING:
    from baserate._results import Results
    from baserate._rows import MulticlassTarget, Target
    from baserate.shift import MulticlassPrevalence, Prevalence
    from baserate.text import Page

_LABEL_SHIFT = "label-shift"


def complete_estimator(_context: click.Context, _option: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of an estimator."""
    from baserate.shift import ALIASES, METHODS

    return [name for name in (*METHODS, *ALIASES) if name.startswith(incomplete)]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrevalenceOptions(Recalibration):
    """Options of an estimator, of the measures to adjust, and of the calibrator's file."""

    method: Annotated[
        str | None,
        option(metavar="METHOD", shell_complete=complete_estimator, default="binned; of several classes gmm"),
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
        "Number of bins of binned, of dys (there 8 by default) and of the test.",
    ] = None
    bandwidth: Annotated[
        float | None,
        option(type=float, default="0.1"),
        "Bandwidth of the kernel densities of kdey-hd, kdey-cs and kdey-ml.",
    ] = None
    divergence: Annotated[
        Literal["hellinger", "topsoe"] | None, option(default="hellinger"), "Divergence of histograms of dys."
    ] = None
    seed: Annotated[
        int | None,
        option(type=click.IntRange(0), metavar="NUMBER", default="0"),
        "Random seed of the points of kdey-hd, of several classes.",
    ] = None
    level: Level = 0.95
    measures: Annotated[
        tuple[str, ...],
        measures_option(help="Measures to adjust to the estimate, by any of their names, with commas, or all."),
    ] = ()
    calibrator: Annotated[FileName, "File for a calibrator at the estimated prevalence, for `baserate apply`."] = None

    def __post_init__(self) -> None:
        if self.sample_prevalence and not self.no_recalibration:
            raise click.UsageError(
                "--sample-prevalence is for probabilities without recalibration; add --no-recalibration."
            )
        if self.calibrator == "-":
            raise click.UsageError("--calibrator writes a file beside the numbers, which go to stdout; name one.")
        if self.calibrator:
            check_place(Path(self.calibrator), "--calibrator")

    def options(self, *, several: bool) -> dict[str, Any]:
        """Options of the estimator; those that it does not have are refused."""
        from baserate.shift import DEFAULT_METHOD, DEFAULT_MULTICLASS_METHOD, method_options, resolve_method

        name = resolve_method(self.method or (DEFAULT_MULTICLASS_METHOD if several else DEFAULT_METHOD))
        names = method_options(name, many=several)
        stated: dict[str, Any] = {
            "recalibrate": False if self.no_recalibration else None,
            "sample_prevalence": self.sample_prevalence,
            "alpha": self.alpha,
            "bins": self.bins,
            "bandwidth": self.bandwidth,
            "divergence": self.divergence,
            "seed": self.seed,
            "threshold": self._decision_threshold(name) if "threshold" in names else None,
        }
        # The test uses bins too, and measures use thresholds, where the estimator has no such option.
        idle = [each for each, value in stated.items() if value is not None and each not in names]
        idle = [each for each in idle if several or each != "bins"] + ["threshold"] * bool(several and self.threshold)
        if idle:
            flag = "no-recalibration" if idle[0] == "recalibrate" else idle[0]
            estimator = f"{name} of several classes" if several else name
            other = (
                "add --method mlls, or "
                if name == DEFAULT_METHOD and idle[0] in ("recalibrate", "sample_prevalence")
                else ""
            )
            raise click.UsageError(f"--{flag} has no use for {estimator}; {other}leave it out.")
        return {each: value for each, value in stated.items() if value is not None and each in names}

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
    # by kernel densities
    baserate prevalence new.csv {_VALIDATION} --method kdey-hd --bandwidth 0.05
    # by the median over all thresholds
    baserate prevalence new.csv {_VALIDATION} --method median-sweep
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
    from baserate import shift
    from baserate.cli._prevalence_page import prevalence_class_page, prevalence_page

    if not deployment.validation:
        raise missing_option("--validation")
    several = bool(deployment.scores)
    options = prevalence_options.options(several=several)
    measures = _parse_measures(deployment, prevalence_options.measures, settings)
    target: Any
    validation: Any
    target, validation = read_target(deployment, quiet=output.quiet)
    if prevalence_options.sample_prevalence:
        options["sample_prevalence"] = prevalence_options.read_sample_prevalence(validation)
    method, level = prevalence_options.method, prevalence_options.level
    estimate: Any = shift.estimate_prevalence(target, validation, method=method, level=level, **options)
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
        calibrator = _make_calibrator(estimate, target, deployment, results.data)
    print_messages(line, results.data, output, inferred=not several and deployment.positive is None)
    if calibrator is not None:
        files = " ".join("FILE" if file == "-" else file for file in deployment.file)
        write_calibrator(calibrator, str(prevalence_options.calibrator), quiet=output.quiet, files=files)
    page = prevalence_class_page if several else prevalence_page
    print_results(results, lambda: page(results, deployment.reading, line, output.digits), output)


def _parse_measures(deployment: DeploymentOptions, names: Sequence[str], settings: MeasureSettings) -> Any:  # noqa: ANN401
    """Return measures of two classes, with the numbers that they depend on, or of several."""
    from baserate.cli._measure import parse_class_measures, require_costs
    from baserate.cli._measure_page import parse_measures

    if not deployment.scores:
        return settings.bind(parse_measures(names))
    settings.refuse_for_classes()
    require_costs(names, None)
    return parse_class_measures(names)


def _make_calibrator(
    estimate: "Prevalence | MulticlassPrevalence",
    target: "Target | MulticlassTarget",
    deployment: DeploymentOptions,
    data: Mapping[str, Any],
) -> Any:  # noqa: ANN401  (a calibrator of either kind)
    """Make a calibrator at the estimated prevalence."""
    from baserate import FitError, shift

    several = isinstance(estimate, shift.MulticlassPrevalence)
    shares: Any = estimate.value if several else (estimate.value, 1 - estimate.value)
    if min(shares) <= 0:
        raise FitError(
            "a class has an estimated share of 0, so that its probability would always be 0",
            remedy="leave out --calibrator.",
        )
    calibrator: Any = shift.posterior_calibrator(estimate)
    if several:
        columns = dict(zip(calibrator.labels, target.intake.columns["score"], strict=True))
        return replace(calibrator, columns=columns)
    columns = {"truth": str(deployment.truth), "score": str(deployment.score)}
    return replace(calibrator, columns=columns, positive=str(data["positive"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectOptions(Recalibration):
    """The shift assumption, and the measures to estimate."""

    assume: Annotated[
        Literal["label-shift", "covariate-shift"],
        option(
            help="Shift assumption: only the prevalence has changed, or only the scores while each has the same risk "
            "as before. Unlabelled data cannot distinguish them.",
        ),
    ]
    threshold: Thresholds = ()
    measures: Annotated[tuple[str, ...], measures_option(shell_complete=complete_two_class)] = ()
    level: Level = 0.95

    def __post_init__(self) -> None:
        if self.sample_prevalence and not (self.no_recalibration and self.assume == _LABEL_SHIFT):
            raise click.UsageError(
                "--sample-prevalence is for probabilities that are adjusted to another prevalence; add "
                "--assume label-shift and --no-recalibration."
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
    from baserate import shift
    from baserate.cli._measure_page import multiclass_page

    expect_options.check(deployment)
    several = bool(deployment.scores)
    measures = _parse_measures(deployment, expect_options.measures, settings)
    target: Any
    validation: Any
    target, validation = read_target(deployment, quiet=output.quiet)
    options: dict[str, Any] = {"recalibrate": False} if expect_options.no_recalibration else {}
    if expect_options.sample_prevalence:
        options["sample_prevalence"] = expect_options.read_sample_prevalence(validation)
    results = shift.performance_summary(
        target,
        validation,
        assume=expect_options.assumption,
        measures=measures,
        threshold=list(expect_options.threshold) or None,
        level=expect_options.level,
        **options,
    )
    line = f"expected under {results.data['assume']} · {deployment_headline(deployment, results.data)}"
    inferred = not several and validation is not None and deployment.positive is None
    print_messages(line, results.data, output, inferred=inferred)

    def page() -> "Page":
        if several:
            return multiclass_page(results, deployment.reading, output.digits, line)
        return _expect_page(results, deployment, line, output.digits)

    print_results(results, page, output)


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
