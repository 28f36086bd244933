"""`baserate decide`: choose a threshold, or of several classes the cheapest decision for each row."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import click

from baserate._errors import BaserateError
from baserate._formatting import count_of, format_count
from baserate.cli._decision_options import DecisionOptions
from baserate.cli._declarations import Output, command, omit, option
from baserate.cli._io import (
    PolicyFile,
    adjusted_headline,
    describe_adjustment,
    headline,
    print_messages,
    print_results,
    read_tallies,
    save_policy,
)
from baserate.cli._multiclass import MANY, Classes, costs, number_columns, read_classes
from baserate.cli._options import ClassScores, IndependentIntervals, Intervals, Reading
from baserate.cli._terminal import print_message
from baserate.cli._values import Prior, match_classes, read_prior
from baserate.text import (
    Footnotes,
    Page,
    Row,
    Section,
    Table,
    describe_files,
    estimate_cell,
    interval_footnotes,
    shorten_label,
)

if TYPE_CHECKING:
    from baserate._calibrator import Calibrator
    from baserate._costs import CostMatrix
    from baserate._results import Results
    from baserate._rows import MulticlassRows
    from baserate._tally import Tallies

Line = Mapping[str, Any]

_HINT = " See `baserate reliability`."
_INSTEAD = {
    "labels": "of two classes name the positive one with --positive",
    "costs": "of two classes give --fp and --fn",
    "shares": "of two classes give --prevalence",
}
"""Option of several classes -> what to give of two."""
_SHORT = 14
_PLACES = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassDecisionOptions(ClassScores):
    """Several classes: their posteriors, what decisions cost, and how the classes are shared out."""

    costs: Annotated[
        str | None,
        option(metavar="FILE", help="Of several classes: cost matrix of decisions, with true classes in rows."),
    ] = None
    shares: Annotated[
        Prior | None,
        option(
            type=read_prior,
            metavar="SHARES",
            default="those of the sample",
            help="Of several classes: their shares in deployment, such as cat=0.2,dog=0.8.",
        ),
    ] = None

    def __post_init__(self) -> None:
        for name, instead in _INSTEAD.items():
            if getattr(self, name) and not self.scores:
                raise click.UsageError(
                    f"--{name} is for several classes, with a probability for each in --scores; {instead}."
                )
        if self.scores and self.costs is None:
            raise click.UsageError(
                "several classes are decided by what that costs; give --costs FILE, a cross-table with truth in rows."
            )
        if isinstance(self.shares, float):
            raise click.UsageError("of several classes give each its share, such as --shares cat=0.2,dog=0.7,fish=0.1.")


def check_class_options(reading: Reading, decision_options: DecisionOptions, intervals: Intervals) -> None:
    """Refuse options that several classes have no use for."""
    given = [
        *(name for name in ("score", "positive", "negative") if getattr(reading, name)),
        *(
            each.name
            for each in fields(decision_options)
            if each.name != "abstain_cost" and _has_option(decision_options, each.name)
        ),
    ]
    if given:
        raise click.UsageError(
            f"--{given[0].replace('_', '-')} is for two classes; several are decided by --scores and --costs: leave it "
            "out."
        )
    if reading.group:
        raise click.UsageError("--group is for two classes here; keep the rows of one group, and decide those.")
    for name in ("interval", "seed"):
        if getattr(intervals, name) is not None:
            raise click.UsageError(f"--{name} is for two classes; here there is one kind of interval: leave it out.")


def _has_option(decision_options: DecisionOptions, name: str) -> bool:
    return getattr(decision_options, name) not in (None, ())


def decide_classes(
    reading: Reading,
    decision_options: DecisionOptions,
    class_options: ClassDecisionOptions,
    intervals: Intervals,
    output: Output,
) -> None:
    """Read, decide, and hand over what that gives."""
    from baserate import decide

    check_class_options(reading, decision_options, intervals)
    matrix = costs(class_options.costs)
    assert matrix is not None  # noqa: S101  (for the type checker)
    wanted = Classes(class_options.scores, class_options.labels, (), class_options.costs, None)
    rows: MulticlassRows = read_classes(reading, wanted, quiet=output.quiet)  # type: ignore[assignment]  # scores make rows
    results = decide.multiclass_summary(
        rows,
        _match_costs(matrix, rows),
        refer=decision_options.abstain_cost,
        shares=match_classes(class_options.shares, rows.labels, flag="--shares")
        if isinstance(class_options.shares, dict)
        else None,
        level=intervals.confidence,
    )
    results = _with_hint(results)
    line = headline(reading, results.data)
    print_messages(line, results.data, output, inferred=False)
    print_results(results, lambda: class_decision_page(results, reading, class_options, output.digits), output)


def _match_costs(costs: "CostMatrix", rows: "MulticlassRows") -> "CostMatrix":
    """The same costs with classes as the rows have them: a file holds text."""
    from baserate import CostMatrix
    from baserate.read import LabelText, resolve_label

    return CostMatrix(costs.cost, [resolve_label(LabelText(name), rows.labels) for name in costs.labels])


def _with_hint(results: "Results") -> "Results":
    """Say where to look where posteriors do not keep what they promise."""
    from baserate.decide import WRONG_POSTERIORS

    notes = [f"{note}{_HINT}" if note.endswith(WRONG_POSTERIORS) else note for note in results.data["notes"]]
    return replace(results, data={**results.data, "notes": notes})


def class_decision_page(results: "Results", reading: Reading, class_options: ClassDecisionOptions, digits: int) -> Page:
    """Lay the numbers out."""
    reasons = Footnotes()
    rows = results.rows()
    panels = [
        _sentence(results.data, class_options),
        _table(rows, results.data, reading, digits),
        _rules(rows, reasons, digits),
    ]
    return Page(
        headline(reading, results.data), tuple(panels), reasons.footnotes() + interval_footnotes(rows, results.data)
    )


def _sentence(data: Line, class_options: ClassDecisionOptions) -> str:
    """Say what is done with each row."""
    refer = data["refer"]
    left = "" if refer is None else f", or is referred for {refer:g} where that is cheaper"
    done = f"each row gets the class of least expected cost by {describe_files([str(class_options.costs)])}{left}."
    if "to" in data:
        each = [f"{shorten_label(name)} {100 * share:.4g}\N{NO-BREAK SPACE}%" for name, share in data["to"].items()]
        done = f"where the shares are {', '.join(each)}, {done}"
    return done[:1].upper() + done[1:]


def _table(rows: Sequence[Line], data: Line, reading: Reading, digits: int) -> Table | str:
    """Truth in rows, decisions in columns, and what is referred."""
    names = data["decisions"]
    if len(names) > MANY:
        return f"The table of {len(names)} classes is too large to show; --format csv holds it."
    cells = iter([row["value"] for row in rows if row["measure"] == "cell"])
    lines = [[next(cells) for _ in names] for _ in names]
    referred = [row["value"] for row in rows if row["measure"] == "referred"]
    for line, mass in zip(lines, referred if any(referred) else (), strict=False):
        line.append(mass)
    lines.append([sum(column) for column in zip(*lines, strict=True)])
    shown = tuple(
        Row(shorten_label(name), _masses(line, digits)) for name, line in zip([*names, "total"], lines, strict=True)
    )
    last = (*["referred"] * any(referred), "total")
    columns = (*(shorten_label(name, _SHORT) for name in names), *last)
    full = Table(
        f"{shorten_label(reading.truth)} ↓ decided →", columns, (Section("", shown, apart=True),), upright=True
    )
    return replace(full, narrow=number_columns(full, kept=len(last)))


def _masses(line: Sequence[float], digits: int) -> tuple[str, ...]:
    """Masses and their sum, without the trace that products leave."""
    return tuple(format_count(round(mass, _PLACES), digits) for mass in (*line, sum(line)))


def _rules(rows: Sequence[Line], reasons: Footnotes, digits: int) -> Table:
    """What both rules cost."""
    by: dict[str, dict[str, Line]] = {}
    for row in rows:
        if row["class"] is None:
            by.setdefault(row["rule"], {})[row["measure"]] = row
    heads = {"cost_expected": "expected cost", "cost_realised": "realised cost", "referred_share": "share referred"}
    columns = [name for name in heads if name in next(iter(by.values()))]
    lines = [
        Row(rule, tuple(estimate_cell(found[name], reasons, digits=digits, several=False) for name in columns))
        for rule, found in by.items()
    ]
    return Table("rule", tuple(heads[name] for name in columns), (Section("", tuple(lines)),))


_EXAMPLES = (
    (
        "a false negative costs 20 false positives, at a prevalence of 2 %",
        "baserate decide people.csv --truth sick --score risk --fp 1 --fn 20 --prevalence 2%",
    ),
    (
        "the highest sensitivity under a requirement",
        "baserate decide people.csv --truth sick --score risk --require 'specificity >= 0.9' --maximize sensitivity",
    ),
    ("at most 100 flagged rows", "baserate decide people.csv --truth sick --score risk --capacity 100"),
    (
        "refer uncertain cases to a person, at a cost",
        "baserate decide people.csv --truth sick --score risk --fp 1 --fn 5 --abstain-cost 0.3",
    ),
    (
        "three bands of risk",
        "baserate decide people.csv --truth sick --score risk --band-risks 5%,20% --band-names low,medium,high",
    ),
    (
        "choose on one sample, evaluate on another",
        "baserate decide train.csv --truth sick --score risk --rule youden --judge-on test.csv",
    ),
    (
        "choose on calibrated probabilities, and save the policy",
        "baserate decide people.csv --truth sick --score risk --map map.json --fp 1 --fn 20 -o policy.json",
    ),
    (
        "several classes, each row by least cost",
        "baserate decide pets.csv --truth is --scores p_ --costs costs.csv --abstain-cost 0.4",
    ),
)


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
    measures as they look and optimism-corrected, and the thresholds of other rules; -o writes the policy, to be applied
    to new rows. Of several classes, with --scores and --costs, each row gets the class of least expected cost, or is
    referred.
    """
    from baserate.cli._decision_page import page

    if class_options.scores:
        _check_several(policy_file)
        decide_classes(reading, decision_options, class_options, intervals, output)
        return
    _check(reading, decision_options, intervals)
    _check_policy_file(reading, policy_file, output)
    _ = decision_options.choose, decision_options.measure_list  # before reading, so that errors come at once
    request = _Request(reading, decision_options, intervals, policy_file.calibrator, output.quiet)
    sample = read_tallies(reading, quiet=output.quiet)
    results = _choose(request, sample)
    if decision_options.rule is None and not output.quiet:
        print_message(f"rule = {decision_options.rule_name}, inferred; name it with --rule.")
    line = _headline(reading, policy_file, results.data)
    print_messages(line, results.data, output, inferred=reading.positive is None)
    if policy_file.path is not None:
        from baserate.decide import choose_policy

        save_policy(
            choose_policy(_adjust(sample, decision_options), decision_options.choose, map=request.map),
            policy_file,
            output,
        )
    if policy_file.path != "-":
        print_results(results, lambda: page(results, reading, line, output.digits), output)


class _Request(NamedTuple):
    """What to choose by, how sure it shall be, and what scores go through first."""

    reading: Reading
    decision_options: DecisionOptions
    intervals: Intervals
    map: "Calibrator | None"
    quiet: bool


def _check(reading: Reading, decision_options: DecisionOptions, intervals: Intervals) -> None:
    """Refuse what cannot be decided so."""
    if not reading.score:
        raise click.MissingParameter(param_hint="'--score'", param_type="option", ctx=click.get_current_context())
    if [*reading.file, *decision_options.judge_on].count("-") > 1:
        raise click.UsageError("stdin can be read once; name a file to choose on, or one for --judge-on.")
    if intervals.no_interval and decision_options.draws:
        raise click.UsageError("--draws is for intervals; leave out either it or --no-interval.")


def _check_policy_file(reading: Reading, policy_file: PolicyFile, output: Output) -> None:
    """Refuse what makes no policy."""
    for flag, given in (("-o", policy_file.path), ("--map", policy_file.map)):
        if given is not None and len(reading.score) > 1:
            raise click.UsageError(f"{flag} is of one model; give one --score.")
    if policy_file.path == "-" and output.form != "table":
        raise click.UsageError("-o - writes the policy to stdout, where the numbers would go; name a file for it.")


def _check_several(policy_file: PolicyFile) -> None:
    """Several classes are decided from all their probabilities, by no cut."""
    for flag, given in (("-o", policy_file.path), ("--map", policy_file.map)):
        if given is not None:
            raise click.UsageError(
                f"{flag} is for policies of one score; what costs least among several classes is a function of their "
                "probabilities: decide.least_cost in Python."
            )


def _choose(request: _Request, sample: "Tallies") -> "Results":
    from baserate import Curve, decide as library

    decision_options, (calibrated, calibration_notes) = request.decision_options, _calibrate_scores(sample, request.map)
    read = _adjust(calibrated, decision_options)
    settings: dict[str, Any] = {
        "measures": decision_options.measure_list,
        "costs": decision_options.outcome_costs,
        "interval": request.intervals.to_interval(),
    }
    results = library.summary(read, decision_options.choose, draws=decision_options.trial, **settings)
    data = {
        **results.data,
        "costs": None if decision_options.outcome_costs is None else asdict(decision_options.outcome_costs),
    }
    data |= {"notes": [*data["notes"], *calibration_notes]} | (
        {} if request.map is None else {"map": request.map.method}
    )
    results = describe_adjustment(replace(results, data=data), sample, decision_options.prevalence)
    if not decision_options.judge_on:
        return results
    policies = {model: decision_options.choose(Curve(read.pooled(model))) for model in read.models}
    test_data, _ = _calibrate_scores(_read_test_data(request, data), request.map)
    test_results = library.evaluate_policy(_adjust(test_data, decision_options), policies, **settings)
    return _append_test_results(results, test_results, decision_options.judge_on)


def _calibrate_scores(read: "Tallies", map_: "Calibrator | None") -> "tuple[Tallies, tuple[str, ...]]":
    """Apply the calibrator to the scores, if there is one; also return notes about that."""
    if map_ is None:
        return read, ()
    from baserate import Tallies, infer

    after = infer.apply_calibrator(read, map_)
    assert isinstance(after.data, Tallies)  # noqa: S101  (for the type checker)
    return after.data, after.notes


def _adjust(read: "Tallies", decision_options: DecisionOptions) -> "Tallies":
    """Reweight rows to the prevalence in deployment, if one is stated."""
    if decision_options.prevalence is None:
        return read
    from baserate import shift

    return shift.reweigh(read, to=decision_options.prevalence)


def _read_test_data(request: _Request, data: Mapping[str, Any]) -> "Tallies":
    """Read the test data, with the same positive class as the data of the choice."""
    positive, negative = (None if data[name] is None else str(data[name]) for name in ("positive", "negative"))
    others = replace(request.reading, file=request.decision_options.judge_on, positive=positive, negative=negative)
    try:
        return read_tallies(others, quiet=request.quiet)
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
    known = {*SAME_DATA_NOTES, *results.data["notes"]}
    notes = [note for note in results.data["notes"] if note not in SAME_DATA_NOTES]
    if test_results.data["same"]:
        notes.append(f"{name} holds the very rows that the cut-off was chosen on, so it is no test of it.")
    elif results.data["same"]:
        notes.append(f"{name} was not looked at for the choice; the rows that it was made on flatter it.")
    notes += [f"{name}: {note}" for note in test_results.data["notes"] if note not in known]
    header = {key: test_results.data[key] for key in ("rows", "read", "refused", "prevalence", "digest", "same")}
    data = {**results.data, "notes": notes, "held_out": {"name": name, **header}}
    return Results({key: [row[key] for row in rows] for key in (*results.columns, "set")}, data)


def _headline(reading: Reading, policy_file: PolicyFile, data: Mapping[str, Any]) -> str:
    """One line on what was read, and on the prevalence it is adjusted to."""
    parts = [adjusted_headline(reading, data), *[f"mapped by {policy_file.name} ({data.get('map')})"] * ("map" in data)]
    if "held_out" in data:
        held = data["held_out"]
        parts.append(f"judged on {held['name']}, {count_of(held['rows'], 'row', shown=format_count(held['rows'], 4))}")
    return " · ".join(parts)
