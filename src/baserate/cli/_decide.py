"""`baserate decide`: choose a threshold, or of several classes the cheapest decision for each row."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import click

from baserate._errors import BaserateError
from baserate._formatting import count_of, format_count
from baserate.cli._decision_options import DecisionOptions
from baserate.cli._declarations import Output, command, missing_option, omit, option, refuse_given
from baserate.cli._io import (
    PolicyFile,
    adjust_prevalence,
    check_stdout,
    describe_adjustment,
    headline,
    print_messages,
    print_results,
    read_tallies,
    save_policy,
)
from baserate.cli._measure import Classes, read_classes, read_costs
from baserate.cli._options import ClassScores, IndependentIntervals, Intervals, Reading
from baserate.cli._terminal import print_message
from baserate.cli._values import Prior, match_classes, read_prior
from baserate.text import describe_files

if TYPE_CHECKING:
    from baserate._calibrator import Calibrator
    from baserate._results import Results
    from baserate._rows import MulticlassRows
    from baserate._tally import Tallies

_HINT = " See `baserate reliability`."
_TWO_CLASSES = {
    "labels": "name the positive one with --positive",
    "costs": "give --fp and --fn",
    "shares": "give --prevalence",
}
"""Option of several classes -> remedy where there are two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassDecisionOptions(ClassScores):
    """Options of several classes: posteriors, cost matrix, shares in deployment."""

    costs: Annotated[
        str | None, option(metavar="FILE"), "Of several classes: cost matrix of decisions, with true classes in rows."
    ] = None
    shares: Annotated[
        Prior | None,
        option(type=read_prior, metavar="SHARES", default="those of the sample"),
        "Of several classes: their shares in deployment, such as cat=0.2,dog=0.8.",
    ] = None

    def __post_init__(self) -> None:
        for name, remedy in ({} if self.scores else _TWO_CLASSES).items():
            refuse_given(
                self,
                [name],
                f"{{}} is for several classes, each with a probability in --scores; of two classes {remedy}.",
            )
        if self.scores and self.costs is None:
            raise click.UsageError(
                "decisions among several classes need costs; give --costs FILE, a cost matrix with truth in rows."
            )
        if isinstance(self.shares, float):
            raise click.UsageError("of several classes give each its share, such as --shares cat=0.2,dog=0.7,fish=0.1.")


def decide_classes(
    reading: Reading,
    decision_options: DecisionOptions,
    class_options: ClassDecisionOptions,
    intervals: Intervals,
    output: Output,
) -> None:
    """Decide among several classes by least expected cost."""
    from baserate import CostMatrix, decide
    from baserate.cli._decision_page import decide_classes_page
    from baserate.read import LabelText, resolve_label

    matrix, shares = read_costs(class_options.costs), class_options.shares
    assert matrix is not None  # noqa: S101  (for the type checker)
    classes = Classes(class_options.scores, class_options.labels, (), class_options.costs, None)
    rows: MulticlassRows = read_classes(reading, classes, quiet=output.quiet)  # type: ignore[assignment]  # scores make rows
    results = decide.multiclass_summary(
        rows,
        # A file holds text: the labels of the rows may be numbers.
        CostMatrix(matrix.cost, [resolve_label(LabelText(name), rows.labels) for name in matrix.labels]),
        refer=decision_options.abstain_cost,
        prevalence=match_classes(shares, rows.labels, flag="--shares") if isinstance(shares, dict) else None,
        level=intervals.confidence,
    )
    notes = [note + _HINT * note.endswith(decide.WRONG_POSTERIORS) for note in results.data["notes"]]
    results = replace(results, data={**results.data, "notes": notes})
    print_messages(headline(reading, results.data), results.data, output, inferred=False)
    costs_file = describe_files([str(class_options.costs)])
    print_results(results, lambda: decide_classes_page(results, reading, costs_file, output.digits), output)


_EXAMPLES = """
# a false negative costs 20 false positives, at a prevalence of 2%
baserate decide people.csv --truth sick --score risk --fp 1 --fn 20 --prevalence 2%
# the highest sensitivity under a requirement
baserate decide people.csv --truth sick --score risk --require 'specificity >= 0.9' --maximize sensitivity
# at most 100 flagged rows
baserate decide people.csv --truth sick --score risk --capacity 100
# refer uncertain cases to a person, at a cost
baserate decide people.csv --truth sick --score risk --fp 1 --fn 5 --abstain-cost 0.3
# three bands of risk
baserate decide people.csv --truth sick --score risk --band-risks 5%,20% --band-names low,medium,high
# a threshold of each site, with differences between sites
baserate decide people.csv --truth sick --score risk --rule youden --group site --group-thresholds
# choose on one sample, evaluate on another
baserate decide train.csv --truth sick --score risk --rule youden --judge-on test.csv
# choose on calibrated probabilities, and save the policy
baserate decide people.csv --truth sick --score risk --calibrator calibrator.json --fp 1 --fn 20 -o policy.json
# several classes, each row by least cost
baserate decide pets.csv --truth is --scores p_ --costs costs.csv --abstain-cost 0.4
"""


@command("decide", examples=_EXAMPLES)
def decide(
    reading: Annotated[Reading, omit("predicted")],
    decision_options: DecisionOptions,
    class_options: ClassDecisionOptions,
    policy_file: PolicyFile,
    intervals: IndependentIntervals,
    output: Annotated[Output, omit("path")],
) -> None:
    """Choose a threshold: by costs, requirements or capacity.

    A score at or above the threshold is flagged. Shown are the threshold with its interval, the confusion matrix,
    apparent and optimism-corrected measures, and the thresholds of other rules; -o writes the policy, to be applied to
    new rows. Of several classes, with --scores and --costs, each row gets the class of least expected cost, or is
    referred.
    """
    from baserate.cli._decision_page import decide_page

    if class_options.scores:
        _check_class_options(reading, decision_options, policy_file, intervals)
        decide_classes(reading, decision_options, class_options, intervals, output)
        return
    _check_options(reading, decision_options, policy_file, intervals)
    check_stdout(policy_file.path, output)
    _ = decision_options.choose, decision_options.measure_list  # before reading, so that errors come at once
    request = _Request(reading, decision_options, intervals, policy_file.load_calibrator(), output.quiet)
    sample = read_tallies(reading, quiet=output.quiet)
    if decision_options.group_thresholds:
        _choose_in_groups(request, sample, output)
        return
    results = _choose(request, sample)
    if decision_options.rule is None and not output.quiet:
        print_message(f"rule = {decision_options.rule_name}, inferred; name it with --rule.")
    line = " · ".join([headline(reading, results.data), *_describe_steps(policy_file, results.data)])
    print_messages(line, results.data, output, inferred=reading.positive is None)
    if policy_file.path is not None:
        from baserate.decide import choose_policy

        # Chosen anew, since the policy has its thresholds on raw scores, and the page on calibrated ones.
        policy = choose_policy(
            adjust_prevalence(sample, decision_options.prevalence),
            decision_options.choose,
            calibrator=request.calibrator,
        )
        save_policy(policy, policy_file, output)
    if policy_file.path != "-":
        print_results(results, lambda: decide_page(results, reading, line, output.digits), output)


def _check_options(
    reading: Reading, decision_options: DecisionOptions, policy_file: PolicyFile, intervals: Intervals
) -> None:
    """Refuse no model, several models of one policy, and options that contradict each other."""
    if not reading.score:
        raise missing_option("--score")
    if [*reading.file, *decision_options.judge_on].count("-") > 1:
        raise click.UsageError("stdin can be read once; name a file to choose on, or one for --judge-on.")
    if intervals.no_interval and decision_options.n_bootstrap:
        raise click.UsageError("--n-bootstrap is for intervals; leave out either --n-bootstrap or --no-interval.")
    if decision_options.group_thresholds:
        _check_group_thresholds(reading, decision_options, policy_file)
    if decision_options.rule_name == "abstain" and not decision_options.has_costs:
        raise click.UsageError("the rule abstain needs costs of errors, too: --fp 1 --fn 20.")
    if policy_file.flags and len(reading.score) > 1:
        raise click.UsageError(f"{policy_file.flags[0]} is for one model; give one --score.")


def _check_group_thresholds(reading: Reading, decision_options: DecisionOptions, policy_file: PolicyFile) -> None:
    """Refuse thresholds of groups without groups, and with options of one threshold for all."""
    if not reading.group:
        raise click.UsageError("--group-thresholds needs groups; name a column with --group.")
    message = "{} is for one threshold of all groups; leave out {} or --group-thresholds."
    refuse_given(decision_options, ("judge_on", "folds"), message)
    if policy_file.path is not None:
        raise click.UsageError(
            "--output is for one threshold of all groups; `baserate equalize` makes policies of groups."
        )


def _check_class_options(
    reading: Reading, decision_options: DecisionOptions, policy_file: PolicyFile, intervals: Intervals
) -> None:
    """Refuse options of two classes where there are several."""
    if policy_file.flags:
        raise click.UsageError(
            f"{policy_file.flags[0]} is for policies of one score; the cheapest of several classes depends on all "
            "their probabilities: use decide.least_cost in Python."
        )
    message = "{} is for two classes; --scores and --costs decide several: leave out {}."
    refuse_given(reading, ("score", "positive", "negative"), message)
    refuse_given(
        decision_options, [each.name for each in fields(decision_options) if each.name != "abstain_cost"], message
    )
    refuse_given(reading, ["group"], "{} is for two classes; give a file with the rows of one group.")
    message = "{} is for two classes; several have one kind of interval: leave out {}."
    refuse_given(intervals, ("interval", "seed"), message)


class _Request(NamedTuple):
    """Options of a choice, and the calibrator that scores go through first."""

    reading: Reading
    decision_options: DecisionOptions
    intervals: Intervals
    calibrator: "Calibrator | None"
    quiet: bool


def _choose(request: _Request, sample: "Tallies") -> "Results":
    """Choose a threshold; tabulate its measures, those of other rules, and those on test data if there are some."""
    from baserate import Curve, decide as library

    options, (calibrated, calibration_notes) = request.decision_options, _calibrate_scores(sample, request.calibrator)
    adjusted, costs = adjust_prevalence(calibrated, options.prevalence), options.outcome_costs
    settings: dict[str, Any] = {
        "measures": options.measure_list,
        "costs": costs,
        "interval": request.intervals.to_interval(),
    }
    results = library.summary(adjusted, options.choose, **options.resampling, **settings)
    data = {**results.data, "costs": None if costs is None else asdict(costs)}
    data["notes"] = [*data["notes"], *calibration_notes]
    if request.calibrator is not None:
        data["map"] = request.calibrator.method
    results = describe_adjustment(replace(results, data=data), sample, options.prevalence)
    if not options.judge_on:
        return results
    policies = {model: options.choose(Curve(adjusted.pooled(model))) for model in adjusted.models}
    # The notes of the calibrator are those of the first sample, so they are dropped.
    test_data, _ = _calibrate_scores(_read_test_data(request, data), request.calibrator)
    test_results = library.evaluate_policy(adjust_prevalence(test_data, options.prevalence), policies, **settings)
    return _append_test_results(results, test_results, options.judge_on)


def _choose_in_groups(request: _Request, sample: "Tallies", output: Output) -> None:
    """Choose a threshold in each group, and print a table of them and of their differences."""
    from baserate import decide as library
    from baserate.cli._group_thresholds_page import group_thresholds_page

    options, (calibrated, calibration_notes) = request.decision_options, _calibrate_scores(sample, request.calibrator)
    costs = options.outcome_costs
    results = library.group_thresholds(
        adjust_prevalence(calibrated, options.prevalence),
        options.choose_as_stated,
        measures=options.measure_list,
        costs=costs,
        midpoints=options.midpoints,
        interval=request.intervals.to_interval(),
        **options.resampling,
    )
    data = {**results.data, "costs": None if costs is None else asdict(costs)}
    data["notes"] = [*data["notes"], *calibration_notes]
    results = describe_adjustment(replace(results, data=data), sample, options.prevalence)
    line = headline(request.reading, results.data)
    print_messages(line, results.data, output, inferred=request.reading.positive is None)
    print_results(results, lambda: group_thresholds_page(results, request.reading, line, output.digits), output)


def _calibrate_scores(tallies: "Tallies", calibrator: "Calibrator | None") -> "tuple[Tallies, tuple[str, ...]]":
    """Apply the calibrator to the scores, if there is one; also return notes about that."""
    if calibrator is None:
        return tallies, ()
    from baserate import Tallies, infer

    after = infer.apply_calibrator(tallies, calibrator)
    assert isinstance(after.data, Tallies)  # noqa: S101  (for the type checker)
    return after.data, after.notes


def _read_test_data(request: _Request, data: Mapping[str, Any]) -> "Tallies":
    """Read the test data, with the same positive class as the data of the choice."""
    positive, negative = (None if data[name] is None else str(data[name]) for name in ("positive", "negative"))
    reading = replace(request.reading, file=request.decision_options.judge_on, positive=positive, negative=negative)
    try:
        return read_tallies(reading, quiet=request.quiet)
    except BaserateError as error:
        raise type(error)(f"--judge-on: {error}") from error


def _append_test_results(results: "Results", test_results: "Results", files: Sequence[str]) -> "Results":
    """Append the numbers of the test data to those of the data that the threshold was chosen on."""
    from baserate._results import Results
    from baserate.cli._decision_page import CHOICE, HELD_OUT
    from baserate.decide import SAME_DATA_NOTES

    rows = [row | {"set": CHOICE} for row in results.rows()]
    rows += [row | {"set": HELD_OUT} for row in test_results.rows() if row["measure"] != "threshold"]
    name = describe_files(files)
    noted = {*SAME_DATA_NOTES, *results.data["notes"]}
    notes = [note for note in results.data["notes"] if note not in SAME_DATA_NOTES]
    if test_results.data["same"]:
        notes.append(f"{name} contains the rows that the threshold was chosen on, so it is not test data.")
    elif results.data["same"]:
        notes.append(f"{name} had no part in the choice; measures on the rows of the choice are optimistic.")
    notes += [f"{name}: {note}" for note in test_results.data["notes"] if note not in noted]
    header = {key: test_results.data[key] for key in ("rows", "read", "refused", "prevalence", "digest", "same")}
    data = {**results.data, "notes": notes, "held_out": {"name": name, **header}}
    return Results({key: [row[key] for row in rows] for key in (*results.columns, "set")}, data)


def _describe_steps(policy_file: PolicyFile, data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the calibrator and the test data for the headline, if there are any."""
    if "map" in data:
        yield f"calibrated by {policy_file.name} ({data['map']})"
    if "held_out" in data:
        rows = data["held_out"]["rows"]
        yield f"evaluated on {data['held_out']['name']}, {count_of(rows, 'row', shown=format_count(rows, 4))}"
