"""`baserate prevalence`: estimate the prevalence of unlabelled data."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from baserate._domains import BINS
from baserate.cli._declarations import Output, check_place, command, option
from baserate.cli._deployment import (
    DeploymentOptions,
    Recalibration,
    deployment_headline,
    read_binary_target,
    read_class_shares,
    read_multiclass_target,
)
from baserate.cli._io import print_messages, print_results
from baserate.cli._options import Level, MeasureSettings
from baserate.cli._terminal import print_message, write_output
from baserate.cli._values import complete_measures, flatten, names, read_share, read_thresholds, whole_number

if TYPE_CHECKING:
    from baserate._calibrator import Calibrator, MulticlassCalibrator
    from baserate.shift import MulticlassPrevalence, Prevalence

_VALIDATED = "--score risk --validation old.csv --truth sick"
_EXAMPLES = (
    ("the prevalence of people who were not tested", f"baserate prevalence new.csv {_VALIDATED}"),
    (
        "a partly labelled target",
        f"baserate prevalence new.csv {_VALIDATED} --target-truth sick",
    ),
    (
        "save a calibrator at the estimated prevalence, and apply it",
        f"baserate prevalence new.csv {_VALIDATED} --map there.json && baserate apply there.json new.csv -o out.csv",
    ),
    (
        "measures at a threshold of 0.3",
        f"baserate prevalence new.csv {_VALIDATED} --threshold 0.3 --measures precision,recall",
    ),
    ("from decisions alone, as labels would give them", f"baserate prevalence new.csv {_VALIDATED} --method acc"),
    (
        "many classes, a probability for each",
        "baserate prevalence new.csv --scores p_ --validation pets.csv --truth is",
    ),
)


def _complete_method(_context: click.Context, _option: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a method."""
    from baserate.shift import ALIASES, METHODS

    return [name for name in (*METHODS, *ALIASES) if name.startswith(incomplete)]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrevalenceOptions(Recalibration):
    """How to estimate, and what else is wanted."""

    method: Annotated[
        str | None,
        option(
            metavar="METHOD",
            shell_complete=_complete_method,
            default="binned; of several classes gmm",
            help="By histograms, of two classes, without calibration: binned, hdy. By moments, of several classes: gmm "
            "(also elsa). After calibration: mlls, by maximum likelihood (also em, emq, sld, saerens). By decisions: "
            "acc "
            "(cm, bbse-hard, gacc), cm-l, cm-map (cm-m), rlls-hard. By mean probabilities: pacc (scm, bbse, bbse-soft, "
            "gpacc, smm), scm-l, scm-map (scm-m), rlls (rlls-soft).",
        ),
    ] = None
    threshold: Annotated[
        tuple[tuple[float, ...], ...],
        option(
            type=read_thresholds,
            metavar="NUMBERS",
            multiple=True,
            default="0.5 for probabilities",
            help="Thresholds of measures and of methods by decisions, with commas: scores at or above one are flagged.",
        ),
    ] = ()
    alpha: Annotated[
        float | None,
        option(
            type=float,
            default="3; of rlls 0.01",
            help="Strength of the prior of cm-map and scm-map, or of the penalty of rlls and rlls-hard.",
        ),
    ] = None
    bins: Annotated[
        int | None,
        option(
            type=whole_number(BINS._replace(low=2)),
            default="10; fewer with little validation data",
            help="Number of bins of binned and of the test.",
        ),
    ] = None
    level: Level = 0.95
    measure: Annotated[
        tuple[tuple[str, ...], ...],
        option(
            "--measures",
            type=names,
            metavar="NAMES",
            shell_complete=complete_measures,
            multiple=True,
            default="the usual ones",
            help="Measures to adjust to the estimate, by any of their names, with commas, or all.",
        ),
    ] = ()
    map: Annotated[
        str | None,
        option(
            type=click.Path(),
            metavar="FILE",
            help="File for a calibrator at the estimated prevalence, for `baserate apply`.",
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.at and not self.no_recalibration:
            raise click.UsageError("--at is for probabilities taken as they are; add --no-recalibration.")
        if self.map == "-":
            raise click.UsageError("--map writes a file beside the numbers, which go to stdout; name one.")
        if self.map:
            check_place(Path(self.map), "--map")

    @property
    def thresholds(self) -> list[float]:
        """Thresholds of decisions, each once."""
        return flatten(self.threshold)

    @property
    def measures(self) -> list[str]:
        """Names of measures as they were given."""
        return [name for each in self.measure for name in each]

    def options(self, *, many: bool) -> dict[str, Any]:
        """Options of the method; those that it does not have are refused."""
        from baserate.shift import DEFAULT_METHOD, DEFAULT_MULTICLASS_METHOD, method_options, resolve_method

        name = resolve_method(self.method or (DEFAULT_MULTICLASS_METHOD if many else DEFAULT_METHOD))
        known = method_options(name, many=many)
        given: dict[str, Any] = {
            "recalibrate": False if self.no_recalibration else None,
            "at": self.at,
            "alpha": self.alpha,
            "bins": self.bins,
            "threshold": self._cut(name) if "threshold" in known else None,
        }
        # Bins are those of the test too, and thresholds those of measures, if the method has no use for them.
        idle = [each for each, value in given.items() if value is not None and each not in known]
        idle = [each for each in idle if many or each != "bins"] + ["threshold"] * bool(many and self.threshold)
        if idle:
            flag = "no-recalibration" if idle[0] == "recalibrate" else idle[0]
            whom = f"{name} of many classes" if many else name
            other = "add --method mlls, or " if name == DEFAULT_METHOD and idle[0] in ("recalibrate", "at") else ""
            raise click.UsageError(f"--{flag} has no use for {whom}; {other}leave it out.")
        return {each: value for each, value in given.items() if value is not None and each in known}

    def _cut(self, name: str) -> float | None:
        if len(self.thresholds) > 1:
            raise click.UsageError(f"{name} estimates by decisions at one threshold; give one.")
        return self.thresholds[0] if self.thresholds else None


@command("prevalence", examples=_EXAMPLES)
def prevalence(
    deployment: DeploymentOptions, prevalence_options: PrevalenceOptions, settings: MeasureSettings, output: Output
) -> None:
    """Estimate the prevalence of unlabelled data.

    It assumes label shift: the scores of each class are distributed as in --validation, and only the shares of the
    classes differ. That is tested as far as scores can tell. Measures of the validation data are adjusted to the
    estimate.
    """
    if not deployment.validation:
        raise click.MissingParameter(param_hint="'--validation'", param_type="option", ctx=click.get_current_context())
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
    from baserate.cli._prevalence_page import MeasureRequest, binary_results, prevalence_page

    options = prevalence_options.options(many=False)
    if prevalence_options.at:
        options["at"] = read_share(
            prevalence_options.at, f"{prevalence_options.at!r} is no prevalence; give a number between 0 and 1."
        )
    measures = settings.bind(parse_measures(prevalence_options.measures))
    wanted = MeasureRequest(measures, prevalence_options.thresholds or None, prevalence_options.bins)
    target, validation = read_binary_target(deployment, quiet=output.quiet)
    assert validation is not None  # noqa: S101  (for the type checker)
    estimate = shift.estimate_prevalence(
        target, validation, method=prevalence_options.method, level=prevalence_options.level, **options
    )
    results = binary_results(estimate, target, validation, wanted)
    map_ = _make_calibrator(estimate, deployment, results.data["positive"]) if prevalence_options.map else None
    line = deployment_headline(deployment, results.data)
    print_messages(line, results.data, output, inferred=deployment.positive is None)
    _write_calibrator(map_, prevalence_options, deployment, output)
    print_results(results, lambda: prevalence_page(results, deployment.reading, line, output.digits), output)


def _estimate_multiclass(deployment: DeploymentOptions, prevalence_options: PrevalenceOptions, output: Output) -> None:
    from baserate import shift
    from baserate.cli._measure import parse_class_measures
    from baserate.cli._prevalence_page import MeasureRequest, multiclass_results, prevalence_class_page

    options = prevalence_options.options(many=True)
    wanted = MeasureRequest(parse_class_measures(prevalence_options.measures))
    target, validation = read_multiclass_target(deployment, quiet=output.quiet)
    assert validation is not None  # noqa: S101  (for the type checker)
    if prevalence_options.at:
        options["at"] = read_class_shares(prevalence_options.at, validation)
    estimate = shift.estimate_prevalence(
        target, validation, method=prevalence_options.method, level=prevalence_options.level, **options
    )
    results = multiclass_results(estimate, target, validation, wanted)
    map_ = (
        _make_calibrator(estimate, deployment, dict(target.intake.columns)["score"]) if prevalence_options.map else None
    )
    line = deployment_headline(deployment, results.data)
    print_messages(line, results.data, output, inferred=False)
    _write_calibrator(map_, prevalence_options, deployment, output)
    print_results(results, lambda: prevalence_class_page(results, deployment.reading, line, output.digits), output)


def _make_calibrator(
    estimate: "Prevalence | MulticlassPrevalence",
    deployment: DeploymentOptions,
    named: Any,  # noqa: ANN401  (a label, or columns)
) -> "Calibrator | MulticlassCalibrator":
    """Make a calibrator at the estimated prevalence; `named` is the positive label, or the columns."""
    from baserate import FitError, shift

    shares = (
        estimate.value.tolist()
        if isinstance(estimate, shift.MulticlassPrevalence)
        else [estimate.value, 1 - estimate.value]
    )
    if min(shares) <= 0:
        raise FitError(
            "a class has an estimated share of 0, so that no probability would be any other", remedy="leave out --map."
        )
    if isinstance(estimate, shift.MulticlassPrevalence):
        several = shift.posterior_calibrator(estimate)
        return replace(several, columns=dict(zip(several.labels, named, strict=True)))
    columns = {"truth": str(deployment.truth), "score": str(deployment.score)}
    return replace(shift.posterior_calibrator(estimate), columns=columns, positive=str(named))


def _write_calibrator(
    map_: "Calibrator | MulticlassCalibrator | None",
    prevalence_options: PrevalenceOptions,
    deployment: DeploymentOptions,
    output: Output,
) -> None:
    if map_ is None:
        return
    write_output(map_.to_json(), prevalence_options.map)
    if not output.quiet:
        files = " ".join("FILE" if file == "-" else file for file in deployment.file)
        print_message(
            f"wrote {prevalence_options.map}: {map_!r}; apply it with: baserate apply {prevalence_options.map} "
            f"{files} -o OUT"
        )
