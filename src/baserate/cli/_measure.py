"""`baserate measure`: measures with confidence intervals, of two classes or several."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import click

from baserate._errors import unknown_name
from baserate.cli._declarations import Output, command, option
from baserate.cli._io import (
    adjust_prevalence,
    check_truth,
    describe_adjustment,
    name_as_typed,
    read_rows,
    read_tallies,
    report_results,
)
from baserate.cli._options import (
    ClassLabels,
    ClassShares,
    ColumnList,
    Intervals,
    Measures,
    MeasureSettings,
    PolicyOption,
    Reading,
    ScoreColumns,
    Thresholds,
)
from baserate.cli._terminal import progress_bar
from baserate.cli._values import match_classes, read_names

if TYPE_CHECKING:
    from baserate._confusion import Confusions
    from baserate._costs import CostMatrix
    from baserate._policy import Policy
    from baserate._results import Results
    from baserate._rows import LabelSets, MulticlassRows, Rows
    from baserate._tally import Tallies
    from baserate.infer import IntervalOptions
    from baserate.measure import Measure


@dataclass(frozen=True, slots=True)
class Classes:
    """Options of several classes."""

    scores: tuple[str, ...]
    labels: tuple[str, ...]
    average: tuple[tuple[str, ...], ...]
    costs: str | None
    cross_table: str | None
    truths: tuple[str, ...] = ()
    average_over: tuple[str, ...] = ()

    @property
    def is_requested(self) -> bool:
        """Whether any of them is given, so that no class is the positive one."""
        return bool(
            self.scores
            or self.labels
            or self.average
            or self.costs
            or self.cross_table
            or self.truths
            or self.average_over
        )


def may_have_many_classes(reading: Reading) -> bool:
    """Return whether the predicted labels may be of any number of classes."""
    return bool(reading.predicted and not (reading.score or reading.positive or reading.negative))


def read_classes(
    reading: Reading, classes: Classes, *, quiet: bool, alike: bool = False, ordered: bool = False
) -> "Tallies | Confusions | MulticlassRows":
    """Read several classes; two become tallies, unless options of several are given or they are to be `alike`.

    If the classes are `ordered`, they share one score.
    """
    from baserate import read

    if classes.cross_table:
        return _read_cross_table(reading, classes)
    if classes.truths:
        raise click.UsageError("--truths is for sets of labels; `baserate measure` takes them.")
    check_truth(reading)
    if reading.positive or reading.negative:
        raise click.UsageError("of many classes none is positive; leave out --positive and --negative.")
    if (reading.score and not ordered) or (classes.scores and reading.predicted):
        raise click.UsageError("of many classes give either --scores or --predicted, and no --score.")
    options: dict[str, Any] = {
        "missing": "drop" if reading.missing == "drop" else "refuse",
        "watch": partial(progress_bar, quiet=quiet),
        **{name: getattr(reading, name) for name in ("truth", "group", "weight", "count") if getattr(reading, name)},
    }
    labels = [read.LabelText(each) for each in classes.labels] or None
    if ordered:
        return read.class_rows(reading.file, score=reading.score[0], labels=labels, **options)
    if classes.scores:
        return read.class_rows(reading.file, score=score_columns(classes.scores), labels=labels, **options)
    if not reading.predicted:
        raise click.UsageError("many classes need --predicted, --scores or --cross-table.")
    if classes.is_requested or alike:
        return read.confusions(reading.file, predicted=reading.predicted, labels=labels, **options)
    return read.decisions(reading.file, predicted=reading.predicted, **options)


def _read_label_sets(
    reading: Reading, classes: Classes, measure_options: "MeasureOptions", *, quiet: bool
) -> "LabelSets":
    """Read sets of labels: a column of 0 and 1 for each label, and predictions or scores."""
    from baserate import read

    unused = [name for name in ("truth", "score", "group", "count", "positive", "negative") if getattr(reading, name)]
    if unused:
        raise click.UsageError(f"sets of labels have no --{unused[0]}; leave it out, or leave out --truths.")
    if classes.cross_table or classes.costs or measure_options.prevalence is not None:
        raise click.UsageError("sets of labels have neither --cross-table, --costs nor --prevalence; leave it out.")
    if not (classes.scores or reading.predicted):
        raise click.UsageError("sets of labels need --predicted or --scores; name their columns, such as --scores p_.")
    sets = read.label_columns(
        reading.file,
        truth=score_columns(classes.truths),
        predicted=score_columns(reading.predicted.split(",")) if reading.predicted else None,
        score=score_columns(classes.scores) if classes.scores else None,
        labels=[read.LabelText(each) for each in classes.labels] or None,
        weight=reading.weight,
        missing="drop" if reading.missing == "drop" else "refuse",
        watch=partial(progress_bar, quiet=quiet),
    )
    return _decide_labels(sets, measure_options.threshold)


def _decide_labels(sets: "LabelSets", thresholds: Sequence[float]) -> "LabelSets":
    """Decide at a threshold where there are scores alone, by default at 0.5 if they are probabilities."""
    if sets.predicted is not None and thresholds:
        raise click.UsageError("--predicted holds decisions already; leave out --threshold or --predicted.")
    if len(thresholds) > 1:
        raise click.UsageError("sets of labels are decided at one threshold; give one.")
    if sets.predicted is not None or sets.score is None:
        return sets
    probable = bool(sets.score.min() >= 0 and sets.score.max() <= 1)
    if not thresholds and not probable:
        return sets
    return replace(sets, predicted=sets.score >= (thresholds[0] if thresholds else 0.5))


def _read_cross_table(reading: Reading, classes: Classes) -> "Confusions":
    """Read a confusion matrix instead of rows."""
    from baserate import Confusions, ReadSummary, read
    from baserate.read import resolve_label

    columns = ("truth", "score", "predicted", "group", "weight", "count", "positive", "negative")
    if classes.scores or any(getattr(reading, name) for name in columns):
        raise click.UsageError("a cross-table has no columns of rows; leave out --truth, --predicted and their like.")
    if len(reading.file) > 1:
        raise click.UsageError("give one cross-table at a time.")
    table = read.cross_table(reading.file[0], truth="rows" if classes.cross_table == "rows" else "columns")
    if classes.labels:
        table = table.over(resolve_label(read.LabelText(each), table.labels) for each in classes.labels)
    intake = ReadSummary(int(table.total), positive=None, negative=None, classes=table.labels)
    return Confusions({(): table}, intake=intake)


def score_columns(scores: Sequence[str]) -> Any:  # noqa: ANN401  (what read.class_rows takes)
    """Return columns, or the column of each class: cat=p1,dog=p2. One name alone is a prefix of several."""
    from baserate import read

    if all("=" in each for each in scores):
        pairs = [each.rpartition("=") for each in scores]
        by_class = {read.LabelText(name): column for name, _, column in pairs}
        if len(by_class) < len(pairs):
            raise click.UsageError("a class is named twice in --scores; give each class one column.")
        return by_class
    if len(scores) == 1:
        return [scores[0] if scores[0].endswith("*") else f"{scores[0]}*"]
    return list(scores)


def read_averages(texts: Sequence[Sequence[str]], labels: Sequence[object]) -> list[str | Mapping[Any, float]] | None:
    """Read averages: names, or a weight for each class as in cat=1,dog=2; None without any, empty for `none`."""
    averages: list[str | Mapping[Any, float]] = []
    for parts in texts:
        weights = [_read_weight(part, labels) for part in parts if "=" in part]
        if weights and len(dict(weights)) < len(parts):
            raise click.UsageError(
                "weights are given once for each class, and apart from other averages: --average twice."
            )
        averages += [dict(weights)] if weights else [part for part in parts if part != "none"]
    return averages if texts else None


def _read_weight(text: str, labels: Sequence[object]) -> tuple[object, float]:
    from baserate.read import LabelText, resolve_label

    name, _, weight = text.rpartition("=")
    label = resolve_label(LabelText(name.strip()), labels)
    if label not in labels:
        raise unknown_name("class", name.strip(), [str(each) for each in labels])
    try:
        return label, float(weight)
    except ValueError as error:
        raise click.BadParameter(f"{weight!r} is not a weight.", param_hint="--average") from error


def parse_class_measures(names: Sequence[str]) -> list[str] | Literal["usual", "all"]:
    """Return measures of two classes or of many, by any of their names; none means the usual ones."""
    from baserate.measure import multiclass

    if "all" in names:
        return "all"
    for name in names:
        multiclass.find_measures(name)
    return list(dict.fromkeys(names)) or "usual"


def require_costs(names: Sequence[str], path: str | None) -> None:
    """Refuse the expected cost of several classes without a cost matrix."""
    from baserate.measure import describe, multiclass

    measures = [describe(each).name for name in names if name != "all" for each in multiclass.find_measures(name)]
    needy = [name for name in ("expected_cost", "classification_cost") if name in measures]
    if needy and path is None:
        raise click.UsageError(f"{needy[0]} needs a cost matrix; give it, with truth in rows: --costs costs.csv.")


def read_costs(path: str | None) -> "CostMatrix | None":
    """Read a cost matrix with truth in rows, if there is one."""
    if path is None:
        return None
    from baserate import read

    return read.cost_matrix(path, truth="rows")


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureOptions(PolicyOption):
    """Options of measures: thresholds or a policy, prevalence, measures."""

    threshold: Thresholds = ()
    prevalence: Annotated[
        ClassShares,
        option(default="that of the sample"),
        "Prevalence in deployment, such as 0.02 or 2%; of several classes a share for each: cat=0.2,dog=0.8.",
    ] = None
    measures: Measures = ()
    tests: Annotated[bool, "Tests of decisions: accuracy against the no-information rate, and symmetry of errors."] = (
        False
    )

    def __post_init__(self) -> None:
        self.refuse_both(self.threshold)
        if self.tests and (self.policy or self.prevalence is not None):
            raise click.UsageError("--tests counts the rows of the sample; leave out --policy and --prevalence.")

    def report(self, results: "Results", page: Any, reading: Reading, output: Output) -> None:  # noqa: ANN401
        """Report the results, with the tests if these are requested."""
        if self.tests:
            from baserate.cli._decision_tests import add_decision_tests, show_decision_tests

            results, page = add_decision_tests(results, reading), show_decision_tests(page)
        report_results(results, page, reading, output)


_EXAMPLES = """
# from a file of predictions to numbers
baserate measure people.csv --truth sick --score risk
# at two thresholds
baserate measure people.csv --truth sick --score risk --threshold 0.2,0.5
# at a prevalence of 2%
baserate measure people.csv --truth sick --score risk --prevalence 2%
# by group, a few measures, for a program
baserate measure people.csv --truth sick --score risk --group site --measures auc,f1 --json
# several rows of each patient
baserate measure scans.csv --truth sick --score risk --cluster patient
# from another program
zcat people.csv.gz | baserate measure - --truth sick --score risk
# accuracy against always predicting the most frequent class
baserate measure people.csv --truth sick --score risk --threshold 0.3 --tests
# many classes, from labels
baserate measure pets.csv --truth is --predicted called
# ordered classes, from one score
baserate measure stages.csv --truth stage --score risk --labels a,b,c
# many classes, from a score for each
baserate measure pets.csv --truth is --scores p_ --average macro
# several labels in each row, averaged over rows
baserate measure photos.csv --truths has_ --scores p_ --average samples
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassOptions(Classes):
    """Options for several classes."""

    scores: ScoreColumns = ()
    labels: ClassLabels = ()
    average: Annotated[
        tuple[tuple[str, ...], ...],
        option(type=read_names, metavar="NAMES", multiple=True),
        "Averages over classes: none, macro, weighted, micro, or weights such as cat=1,dog=2; of sets of labels also "
        "samples, over rows.",
    ] = ()
    average_over: Annotated[
        tuple[str, ...],
        option("--average-over", type=read_names, metavar="LABELS", default="all"),
        "Classes that averages include.",
    ] = ()
    truths: Annotated[
        ColumnList,
        option("--truths"),
        "Columns of 0 and 1 for each label, where rows have several: y_sea,y_sky, or y_ for all with this prefix.",
    ] = ()
    costs: Annotated[str | None, option(metavar="FILE"), "Cost matrix of decisions, with true classes in rows."] = None
    cross_table: Annotated[
        Literal["rows", "columns"] | None,
        "FILE is a confusion matrix, with true classes in its rows or columns.",
    ] = None


@command("measure", examples=_EXAMPLES)
def measure(
    reading: Reading,
    classes: ClassOptions,
    measure_options: MeasureOptions,
    settings: MeasureSettings,
    intervals: Intervals,
    output: Output,
) -> None:
    """Measure predictions: rates, ranking, probabilities.

    The confusion matrix comes first, then measures at each threshold, of ranks and of probabilities; or those of
    several classes.
    """
    if not (classes.is_requested or may_have_many_classes(reading)) or measure_options.policy or intervals.cluster:
        _check_binary(reading, classes, measure_options, intervals)
        _measure_binary(reading, measure_options, settings, intervals, output)
        return
    from baserate import Tallies
    from baserate.cli._measure_page import multiclass_page

    parse_class_measures(measure_options.measures)
    if classes.truths:
        settings.refuse_for_classes()
        if measure_options.tests:
            raise click.UsageError("--tests is for rows of one class each; leave out --tests or --truths.")
        sets = _read_label_sets(reading, classes, measure_options, quiet=output.quiet)
        results = _summarize_classes(sets, measure_options.measures, classes, intervals.to_interval())
        report_results(results, multiclass_page, reading, output)
        return
    ordered = bool(reading.score and classes.labels and not (classes.scores or reading.predicted))
    if ordered:
        measure_options = _select_ordinal(reading, measure_options)
    alike = isinstance(measure_options.prevalence, dict)
    data = read_classes(reading, classes, quiet=output.quiet, alike=alike, ordered=ordered)
    if isinstance(data, Tallies):
        _measure_binary(reading, measure_options, settings, intervals, output, data)
        return
    settings.refuse_for_classes()
    if measure_options.threshold:
        raise click.UsageError("--threshold is for two classes; of several, the highest score decides.")
    _measure_classes(data, reading, measure_options, classes, intervals, output)


def _select_ordinal(reading: Reading, measure_options: MeasureOptions) -> MeasureOptions:
    """Select the measure of ordered classes that share one score; refuse others."""
    from baserate.measure import describe, multiclass

    if len(reading.score) > 1:
        raise click.UsageError("ordered classes have one score; give one --score, or a score of each with --scores.")
    names = {describe(each).name for name in measure_options.measures for each in multiclass.find_measures(name)}
    if names - {"ordinal_auc"}:
        raise click.UsageError(
            "one --score of all --labels has one measure, ordinal_auc; leave out --measures, or give a score of each "
            "class with --scores."
        )
    return replace(measure_options, measures=measure_options.measures or ("ordinal_auc",))


def _check_binary(
    reading: Reading, classes: ClassOptions, measure_options: MeasureOptions, intervals: Intervals
) -> None:
    """Refuse options of several classes, and those that intervals or a policy cannot have."""
    if classes.is_requested and intervals.cluster:
        raise click.UsageError("--cluster is for two classes; intervals of many classes take rows as independent.")
    if classes.is_requested:  # and a policy, or this is not called
        raise click.UsageError("--policy is for two classes; leave it out: of several the highest score decides.")
    if intervals.cluster and measure_options.tests:
        raise click.UsageError("--tests takes rows as independent, --cluster does not; leave out one of them.")
    if intervals.cluster and measure_options.policy:
        raise click.UsageError(
            "intervals of a policy take rows as independent, --cluster does not; leave out --cluster or --policy."
        )
    if intervals.cluster and measure_options.prevalence is not None:
        raise click.UsageError(
            "intervals at another prevalence take rows as independent, --cluster does not; leave out --cluster or "
            "--prevalence."
        )
    if reading.predicted and measure_options.policy:
        raise click.UsageError("--predicted holds decisions already; leave out --predicted or --policy.")


def _measure_binary(
    reading: Reading,
    measure_options: MeasureOptions,
    settings: MeasureSettings,
    intervals: Intervals,
    output: Output,
    data: "Tallies | None" = None,
) -> None:
    """Measure two classes: in rows with clusters, or in tallies at the prevalence in deployment."""
    from baserate.cli._io import fill_from_policy
    from baserate.cli._measure_page import measure_page, parse_measures

    prevalence, policy = measure_options.prevalence, measure_options.decision_policy
    if isinstance(prevalence, dict):
        raise click.UsageError("two classes have one prevalence; give that of the positives, such as 0.02 or 2%.")
    measures = settings.bind(parse_measures(measure_options.measures))  # before reading, so that errors come at once
    reading = reading if policy is None else fill_from_policy(reading, policy)
    interval, thresholds = intervals.to_interval(), measure_options.threshold
    if intervals.cluster:
        rows = read_rows(reading, quiet=output.quiet, cluster=intervals.cluster)
        results = _summarize(rows, measures, thresholds, interval)
    else:
        sample = data or read_tallies(reading, quiet=output.quiet)
        adjusted = adjust_prevalence(sample, prevalence)
        results = (
            _summarize(adjusted, measures, thresholds, interval)
            if policy is None
            else summarize_policy(adjusted, policy, measures, interval)
        )
        results = describe_adjustment(results, sample, prevalence)
    measure_options.report(name_as_typed(results, measure_options.measures), measure_page, reading, output)


def _summarize(
    read: "Tallies | Rows",
    measures: "list[Measure] | Literal['usual', 'all']",
    thresholds: Sequence[float],
    interval: "IntervalOptions | None",
) -> "Results":
    from baserate import Rows, measure as library

    at = list(thresholds) or None
    if interval is None:
        return library.summary(read.tallies() if isinstance(read, Rows) else read, measures=measures, threshold=at)
    from baserate import infer  # which point estimates do not need

    return infer.summary(read, measures=measures, threshold=at, interval=interval)


def summarize_policy(
    tallies: "Tallies",
    policy: "Policy",
    measures: "list[Measure] | Literal['usual', 'all']",
    interval: "IntervalOptions | None",
) -> "Results":
    """Measure the decisions of a policy, then the scores over all thresholds and as probabilities."""
    from baserate import Counts, Results, Tally, decide
    from baserate.measure import COLUMNS, describe, select_measures

    if not {*policy.actions} <= {"flag", "pass"}:
        raise click.UsageError(
            f"the policy has the actions {', '.join(policy.actions)}, and measures are of two, pass and flag; evaluate "
            "it with `baserate report --policy`."
        )
    selected = select_measures(measures)
    of_decisions = [each for each in selected if describe(each).of is Counts]
    decided = decide.evaluate_policy(tallies, policy, measures=of_decisions, interval=interval)
    at = None if policy.needs_group or policy.needs_id else policy.cut.thresholds[0]
    rows = [{**row, "threshold": at} for row in decided.rows() if row["measure"] != "threshold"]
    data = dict(decided.data)
    probable = all(tallies.pooled(model).probable for model in tallies.models)
    # Measures that are named are computed or refused; the usual ones are left out where scores are no probabilities.
    unfit = Tally if isinstance(measures, str) and not probable else None
    of_scores = [each for each in selected if describe(each).of not in (Counts, unfit)]
    if of_scores:
        scored = _summarize(tallies, of_scores, (), interval)
        rows += scored.rows()
        data["notes"] = list(dict.fromkeys([*data["notes"], *scored.data["notes"]]))
    return Results({name: [row.get(name) for row in rows] for name in COLUMNS}, data)


def _measure_classes(
    data: "Confusions | MulticlassRows",
    reading: Reading,
    measure_options: MeasureOptions,
    classes: ClassOptions,
    intervals: Intervals,
    output: Output,
) -> None:
    """Measure several classes, at their shares in deployment if these are stated."""
    from baserate import Confusions, shift
    from baserate.cli._measure_page import multiclass_page

    shares = measure_options.prevalence
    if shares is not None:
        if not isinstance(data, Confusions):
            raise click.UsageError(
                "--prevalence is for decisions, and --scores has measures of scores, too; `baserate shift` adjusts the "
                "decisions: leave out --prevalence, or use `baserate shift`."
            )
        if not isinstance(shares, dict):
            refuse_single_share(data.labels)
        data = shift.reweigh(data, prevalence=match_classes(shares, data.labels))
    results = _summarize_classes(data, measure_options.measures, classes, intervals.to_interval())
    if isinstance(shares, dict):
        header = {**results.data, "deployment": {"prevalences": shares}}
        results = replace(results, data=header)
    measure_options.report(results, multiclass_page, reading, output)


def refuse_single_share(labels: Sequence[object]) -> NoReturn:
    """Refuse one prevalence of several classes."""
    shares = ",".join(f"{label}=…" for label in labels[:10]) + (",…" if len(labels) > 10 else "")
    raise click.UsageError(
        f"the data have {len(labels)} classes; give each a share in deployment: --prevalence {shares}"
    )


def _match_labels(names: Sequence[str], labels: Sequence[object]) -> list[object] | None:
    """Return the labels that are named; None without any."""
    from baserate.read import LabelText, resolve_label

    return [resolve_label(LabelText(each), labels) for each in names] or None


def _summarize_classes(
    read: "Confusions | MulticlassRows | LabelSets",
    names: Sequence[str],
    classes: Classes,
    interval: "IntervalOptions | None",
) -> "Results":
    from baserate.measure import multiclass

    require_costs(names, classes.costs)
    averages = read_averages(classes.average, read.labels)
    if classes.average_over and averages == []:
        raise click.UsageError("--average none has no average over classes; leave out --average or --average-over.")
    options: dict[str, Any] = {
        "measures": parse_class_measures(names),
        "averages": averages,
        "average_labels": _match_labels(classes.average_over, read.labels),
        "costs": read_costs(classes.costs),
    }
    if interval is None:
        return multiclass.summary(read, **options)
    from baserate import infer  # which point estimates do not need

    return infer.multiclass_summary(read, **options, interval=interval)
