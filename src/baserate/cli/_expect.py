"""`baserate expect`: measures of unlabelled data under a shift assumption."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click

from baserate._formatting import count_of
from baserate.cli._declarations import Output, command, option
from baserate.cli._deployment import (
    DeploymentOptions,
    Recalibration,
    deployment_headline,
    describe_target,
    name_scores_in_notes,
    read_binary_target,
    read_class_shares,
    read_multiclass_target,
)
from baserate.cli._io import print_messages, print_results
from baserate.cli._options import Level, MeasureSettings, Thresholds
from baserate.cli._values import complete_two_class, flatten, names, read_share

if TYPE_CHECKING:
    from baserate._results import Results
    from baserate._rows import Target
    from baserate._tally import Tallies
    from baserate.text import Page

_EXAMPLES = (
    (
        "label shift: the prevalence alone has changed",
        "baserate expect new.csv --score risk --assume label-shift --validation old.csv --truth sick",
    ),
    (
        "covariate shift: other patients, the same risk at the same score",
        "baserate expect new.csv --score risk --assume covariate-shift --validation old.csv --truth sick",
    ),
    (
        "many classes, a probability for each",
        "baserate expect new.csv --scores p_ --assume label-shift --validation old.csv --truth is",
    ),
    (
        "calibrated probabilities, without validation data",
        "baserate expect new.csv --score risk --assume covariate-shift --threshold 0.2,0.5 --measures precision,auc",
    ),
)
_LABEL_SHIFT = "label-shift"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectOptions(Recalibration):
    """What is assumed, and what is wanted."""

    assume: Annotated[
        str,
        option(
            type=click.Choice([_LABEL_SHIFT, "covariate-shift"]),
            help="Shift assumption: the prevalence alone has changed, or the scores alone while each has "
            "the same risk as "
            "before. The target cannot tell which.",
        ),
    ]
    threshold: Thresholds = ()
    measure: Annotated[
        tuple[tuple[str, ...], ...],
        option(
            "--measures",
            type=names,
            metavar="NAMES",
            shell_complete=complete_two_class,
            multiple=True,
            default="the usual ones",
            help="Measures by any of their names, with commas, or all.",
        ),
    ] = ()
    level: Level = 0.95

    def __post_init__(self) -> None:
        if self.at and not (self.no_recalibration and self.assume == _LABEL_SHIFT):
            raise click.UsageError(
                "--at is for probabilities taken as they are and carried to another prevalence; it needs "
                "--assume label-shift and --no-recalibration."
            )

    def check(self, deployment: DeploymentOptions) -> None:
        """Refuse what cannot be read so."""
        if deployment.scores and self.threshold:
            raise click.UsageError("--threshold is for two classes; of many the highest score decides: leave it out.")
        if not deployment.validation and self.assume == _LABEL_SHIFT:
            raise click.UsageError(
                "under label shift the prevalence is estimated first; give rows with a truth with --validation."
            )
        if not deployment.validation and self.no_recalibration:
            raise click.UsageError("--no-recalibration is for --validation; without it nothing is recalibrated.")

    @property
    def assumption(self) -> Literal["label shift", "covariate shift"]:
        """The same in words."""
        return "label shift" if self.assume == _LABEL_SHIFT else "covariate shift"

    @property
    def options(self) -> dict[str, Any]:
        """Options of the posteriors."""
        given = {} if self.at is None else {"at": read_share(self.at, f"{self.at!r} is no prevalence between 0 and 1.")}
        return {**given, "recalibrate": False} if self.no_recalibration else given


@command("expect", examples=_EXAMPLES)
def expect(
    deployment: DeploymentOptions, expect_options: ExpectOptions, settings: MeasureSettings, output: Output
) -> None:
    """Estimate measures of unlabelled data.

    Under label shift, the validation data are measured at the prevalence that is estimated. Under covariate shift, a
    row with probability 0.3 counts as 0.3 of a positive; probabilities are recalibrated on --validation, and without it
    taken as calibrated. You state with --assume which of both holds.
    """
    expect_options.check(deployment)
    if deployment.scores:
        from baserate.cli._measure import require_costs

        settings.refuse_for_classes()
        require_costs([name for each in expect_options.measure for name in each], None)
        _expect_multiclass(deployment, expect_options, output)
    else:
        _expect_binary(deployment, expect_options, settings, output)


def _expect_binary(
    deployment: DeploymentOptions, expect_options: ExpectOptions, settings: MeasureSettings, output: Output
) -> None:
    from baserate.cli._measure_page import parse_measures

    options = expect_options.options
    wanted = settings.bind(parse_measures([name for each in expect_options.measure for name in each]))
    target, validation = read_binary_target(deployment, quiet=output.quiet)
    from baserate import shift

    expected = shift.estimate_performance(
        target,
        validation,
        assume=expect_options.assumption,
        measures=wanted,
        threshold=flatten(expect_options.threshold) or None,
        level=expect_options.level,
        **options,
    )
    results = _make_results(expected, target, validation, expect_options)
    line = _headline(deployment, results.data)
    inferred = validation is not None and deployment.positive is None
    print_messages(line, results.data, output, inferred=inferred)
    print_results(results, lambda: _page(results, deployment, line, output.digits), output)


def _expect_multiclass(deployment: DeploymentOptions, expect_options: ExpectOptions, output: Output) -> None:
    from baserate import Results, shift
    from baserate.cli._measure import parse_class_measures
    from baserate.cli._measure_page import multiclass_page
    from baserate.measure.multiclass import results_data as seen

    wanted = parse_class_measures([name for each in expect_options.measure for name in each])
    target, validation = read_multiclass_target(deployment, quiet=output.quiet)
    options: dict[str, Any] = {"measures": wanted, "level": expect_options.level}
    if expect_options.no_recalibration:
        options["recalibrate"] = False
    if expect_options.at and validation is not None:
        options["at"] = read_class_shares(expect_options.at, validation)
    expected = shift.estimate_performance(target, validation, assume=expect_options.assumption, **options)
    own = {} if validation is None else seen(validation, validation.confusion(), [])
    data = {
        **describe_target(target.intake, len(target)),
        **expected.data,
        "validation": own or None,
        "interval": {"level": expect_options.level, "method": None, "seed": None, "clusters": None},
        "notes": list(dict.fromkeys([*expected.data["notes"], *own.pop("notes", [])])),
    }
    results = Results(expected.columns, data)
    line = _headline(deployment, results.data)
    print_messages(line, results.data, output, inferred=False)
    print_results(results, lambda: multiclass_page(results, deployment.reading, output.digits, line), output)


def _page(results: "Results", deployment: DeploymentOptions, line: str, digits: int) -> "Page":
    """Lay out the prevalence, then measures as they always are."""
    from baserate._formatting import format_number
    from baserate.cli._measure_page import measure_page
    from baserate.text import Footnotes, Row, Section, Table, estimate_cell, interval_heading

    data = results.data
    share = {"value": data["prevalence"], "level": None} | (data["estimate"] or {})
    cell = estimate_cell(share, Footnotes(), digits=digits, several=False)
    rows = [Row("expected", (cell,), "Share of positives in the target.")]
    if data["validation"]:
        seen = format_number(data["validation"]["prevalence"], digits)
        rows.append(Row("in validation", (seen,), "Share that was seen there."))
    head = interval_heading(data) if data["estimate"] else ""
    laid_out = measure_page(results, deployment.reading, digits, line)
    return replace(laid_out, panels=(Table("", (head,), (Section("prevalence", tuple(rows)),)), *laid_out.panels))


def _headline(deployment: DeploymentOptions, data: Any) -> str:  # noqa: ANN401  (what Results hold)
    return f"expected under {data['assume']} · {deployment_headline(deployment, data)}"


def _make_results(
    results: "Results", target: "Target", validation: "Tallies | None", expect_options: ExpectOptions
) -> "Results":
    """The numbers, with what both sets of rows are."""
    from baserate import Results
    from baserate.measure import results_data as seen

    intake = target.intake if validation is None else validation.intake
    unknown = validation is None and not target.intake.labelled
    own = {} if validation is None else seen(validation, [])
    notes = [*results.data["notes"], *own.pop("notes", [])]
    if target.intake.labelled and expect_options.assume != _LABEL_SHIFT:
        labelled = count_of(
            target.intake.labelled,
            "row of the target has a truth; it was left out.",
            "rows of the target have a truth; they were left out.",
        )
        notes.append(labelled)
    data = {
        **describe_target(target.intake, len(target)),
        **{name: None if unknown else getattr(intake, name) for name in ("positive", "negative")},
        **results.data,
        "validation": own or None,
        "interval": {"level": expect_options.level, "method": None, "seed": None, "clusters": None},
        "notes": name_scores_in_notes(notes, str(target.intake.columns["score"][0])),
    }
    return Results(results.columns, data)
