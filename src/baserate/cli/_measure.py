"""`baserate measure`: measures with confidence intervals, of two classes or several."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click

from baserate._errors import UnknownNameError
from baserate.cli._declarations import Output, command, option
from baserate.cli._io import check_truth, print_notes, print_results, read_rows, read_tallies
from baserate.cli._options import ClassLabels, Intervals, Measures, MeasureSettings, Reading, ScoreColumns, Thresholds
from baserate.cli._terminal import progress_bar
from baserate.cli._values import names

if TYPE_CHECKING:
    from baserate._confusion import Confusions
    from baserate._costs import CostMatrix
    from baserate._results import Results
    from baserate._rows import MulticlassRows, Rows
    from baserate._tally import Tallies
    from baserate.infer import IntervalOptions
    from baserate.measure import Measure


@dataclass(frozen=True, slots=True)
class Classes:
    """What is asked of many classes."""

    scores: tuple[str, ...]
    labels: tuple[str, ...]
    average: tuple[tuple[str, ...], ...]
    costs: str | None
    cross_table: str | None

    @property
    def is_requested(self) -> bool:
        """Whether anything of it was asked for, so that no class is the positive one."""
        return bool(self.scores or self.labels or self.average or self.costs or self.cross_table)


def may_have_many_classes(reading: Reading) -> bool:
    """Whether there may be any number of classes."""
    return bool(reading.predicted and not (reading.score or reading.positive or reading.negative))


def read_classes(
    asked: Reading, wanted: Classes, *, quiet: bool, alike: bool = False
) -> "Tallies | Confusions | MulticlassRows":
    """Read what was asked for: two classes become tallies unless they are to be treated alike."""
    from baserate import read

    if wanted.cross_table:
        return _read_cross_table(asked, wanted)
    check_truth(asked)
    if asked.positive or asked.negative:
        raise click.UsageError("of many classes none is positive; leave out --positive and --negative.")
    if asked.score or (wanted.scores and asked.predicted):
        raise click.UsageError("of many classes give --scores or --predicted, one of them, and no --score.")
    reading: dict[str, Any] = {
        "missing": "drop" if asked.missing == "drop" else "refuse",
        "watch": partial(progress_bar, quiet=quiet),
        **{name: getattr(asked, name) for name in ("truth", "group", "weight", "count") if getattr(asked, name)},
    }
    labels = [read.LabelText(each) for each in wanted.labels] or None
    if wanted.scores:
        return read.class_rows(asked.file, score=score_columns(wanted.scores), labels=labels, **reading)
    if not asked.predicted:
        raise click.UsageError("many classes need --predicted, --scores or --cross-table.")
    if wanted.is_requested or alike:
        return read.confusions(asked.file, predicted=asked.predicted, labels=labels, **reading)
    return read.decisions(asked.file, predicted=asked.predicted, **reading)


def _read_cross_table(asked: Reading, wanted: Classes) -> "Confusions":
    from baserate import Confusions, ReadSummary, read
    from baserate.read import resolve_label

    given = [asked.truth, asked.score, asked.predicted, asked.group, asked.weight, asked.count, wanted.scores]
    if any(given) or asked.positive or asked.negative:
        raise click.UsageError("a cross-table has no columns of rows; leave out --truth, --predicted and their like.")
    if len(asked.file) > 1:
        raise click.UsageError("give one cross-table at a time.")
    table = read.cross_table(asked.file[0], truth="rows" if wanted.cross_table == "rows" else "columns")
    if wanted.labels:
        table = table.over(resolve_label(read.LabelText(each), table.labels) for each in wanted.labels)
    intake = ReadSummary(int(table.total), positive=None, negative=None, classes=table.labels)
    return Confusions({(): table}, intake=intake)


def score_columns(scores: Sequence[str]) -> Any:  # noqa: ANN401  (what read.class_rows takes)
    """Columns, or the column of each class: cat=p1,dog=p2. One name alone is the beginning of several."""
    from baserate import read

    if all("=" in each for each in scores):
        pairs = [each.rpartition("=") for each in scores]
        mapped = {read.LabelText(name): column for name, _, column in pairs}
        if len(mapped) < len(pairs):
            raise click.UsageError("a class is named twice in --scores; give each class one column.")
        return mapped
    if len(scores) == 1:
        return [scores[0] if scores[0].endswith("*") else f"{scores[0]}*"]
    return list(scores)


def read_averages(given: Sequence[Sequence[str]], labels: Sequence[object]) -> list[str | Mapping[Any, float]] | None:
    """Read averages: names, or a weight for each class as in cat=1,dog=2. None if there are none, empty if `none`."""
    found: list[str | Mapping[Any, float]] = []
    for each in given:
        weights = [_weight(part, labels) for part in each if "=" in part]
        if weights and len(dict(weights)) < len(each):
            raise click.UsageError(
                "weights are given once for each class, and apart from other averages: --average twice."
            )
        found += [dict(weights)] if weights else [part for part in each if part != "none"]
    return found if given else None


def _weight(text: str, labels: Sequence[object]) -> tuple[object, float]:
    from baserate.read import LabelText, resolve_label

    name, _, weight = text.rpartition("=")
    meant = resolve_label(LabelText(name.strip()), labels)
    if meant not in labels:
        raise UnknownNameError(f"there is no class {name!r} to weigh; the classes are: {', '.join(map(str, labels))}.")
    try:
        return meant, float(weight)
    except ValueError as error:
        raise click.BadParameter(f"{weight!r} is not a weight.", param_hint="--average") from error


def parse_class_measures(names: Sequence[str]) -> list[str] | Literal["usual", "all"]:
    """Measures of two classes or of many, by any of their names; none means the usual ones."""
    from baserate.measure import multiclass

    if "all" in names:
        return "all"
    for name in names:
        multiclass.find_measures(name)
    return list(dict.fromkeys(names)) or "usual"


def require_costs(names: Sequence[str], path: str | None) -> None:
    """Refuse the expected cost of several classes without what decisions cost."""
    from baserate.measure import describe, multiclass

    asked = [describe(each).name for name in names if name != "all" for each in multiclass.find_measures(name)]
    if "expected_cost" in asked and path is None:
        raise click.UsageError("expected_cost needs what decisions cost; give it: --costs costs.csv, truth in rows.")


def read_costs(path: str | None) -> "CostMatrix | None":
    """Read what each decision costs for each true class, truth in rows."""
    if path is None:
        return None
    from baserate import read

    return read.cost_matrix(path, truth="rows")


_EXAMPLES = (
    ("from a file of predictions to numbers", "baserate measure people.csv --truth sick --score risk"),
    ("at two thresholds", "baserate measure people.csv --truth sick --score risk --threshold 0.2,0.5"),
    (
        "by group, a few measures, for a program",
        "baserate measure people.csv --truth sick --score risk --group site --measures auc,f1 --json",
    ),
    ("several rows of each patient", "baserate measure scans.csv --truth sick --score risk --cluster patient"),
    ("from another program", "zcat people.csv.gz | baserate measure - --truth sick --score risk"),
    ("many classes, from labels", "baserate measure pets.csv --truth is --predicted called"),
    ("many classes, from a score for each", "baserate measure pets.csv --truth is --scores p_ --average macro"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassOptions(Classes):
    """Options for several classes."""

    scores: ScoreColumns = ()
    labels: ClassLabels = ()
    average: Annotated[
        tuple[tuple[str, ...], ...],
        option(
            type=names,
            metavar="NAMES",
            multiple=True,
            help="Averages over classes: none, macro, weighted, micro, or weights such as cat=1,dog=2.",
        ),
    ] = ()
    costs: Annotated[
        str | None, option(metavar="FILE", help="Cost matrix of decisions, with true classes in rows.")
    ] = None
    cross_table: Annotated[
        str | None,
        option(
            type=click.Choice(["rows", "columns"]),
            help="FILE is a confusion matrix, with true classes in its rows or columns.",
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureChoice:
    """Options that say what to measure, and where to cut."""

    threshold: Thresholds = ()
    measures: Measures = ()


@command("measure", examples=_EXAMPLES)
def measure(
    reading: Reading,
    classes: ClassOptions,
    choice: MeasureChoice,
    settings: MeasureSettings,
    intervals: Intervals,
    output: Output,
) -> None:
    """Measure predictions: rates, ranking, probabilities.

    The confusion matrix comes first, then measures at each threshold, of ranks and of probabilities; or those of
    several classes.
    """
    from baserate import Tallies
    from baserate.cli._measure_page import parse_measures

    measure_names = [name for each in choice.measures for name in each]
    at = [each for several in choice.threshold for each in several]
    interval = intervals.to_interval()
    if intervals.cluster and classes.is_requested:
        raise click.UsageError("--cluster is for two classes; intervals of many classes take rows as independent.")
    if intervals.cluster or not (classes.is_requested or may_have_many_classes(reading)):
        wanted = settings.bind(parse_measures(measure_names))  # before reading, so that errors come at once
        quiet = output.quiet
        read = (
            read_rows(reading, quiet=quiet, cluster=intervals.cluster)
            if intervals.cluster
            else read_tallies(reading, quiet=quiet)
        )
        _print_binary(_summary(read, wanted, at, interval), reading, output)
        return
    parse_class_measures(measure_names)
    read_data = read_classes(reading, classes, quiet=output.quiet)
    if isinstance(read_data, Tallies):
        _print_binary(_summary(read_data, settings.bind(parse_measures(measure_names)), at, interval), reading, output)
        return
    settings.refuse_for_classes()
    require_costs(measure_names, classes.costs)
    if at:
        raise click.UsageError("a threshold is for two classes; of several, the one with the highest score is taken.")
    _print_multiclass(
        _class_summary(read_data, parse_class_measures(measure_names), classes, interval), reading, output
    )


def _summary(
    read: "Tallies | Rows",
    measures: "list[Measure] | Literal['usual', 'all']",
    threshold: Sequence[float],
    interval: "IntervalOptions | None",
) -> "Results":
    from baserate import Rows

    at = list(dict.fromkeys(threshold)) or None
    if interval is None:
        from baserate.measure import summary

        return summary(read.tallies() if isinstance(read, Rows) else read, measures=measures, threshold=at)
    from baserate import infer

    return infer.summary(read, measures=measures, threshold=at, interval=interval)


def _print_binary(results: "Results", reading: Reading, output: Output) -> None:
    from baserate.cli._measure_page import measure_page

    print_notes(reading, results.data, output)
    print_results(results, lambda: measure_page(results, reading, output.digits), output)


def _class_summary(
    read: "Confusions | MulticlassRows",
    measures: list[str] | Literal["usual", "all"],
    classes: Classes,
    interval: "IntervalOptions | None",
) -> "Results":

    of: dict[str, Any] = {
        "measures": measures,
        "averages": read_averages(classes.average, read.labels),
        "costs": read_costs(classes.costs),
    }
    if interval is None:
        from baserate.measure import multiclass

        return multiclass.summary(read, **of)
    from baserate import infer

    return infer.multiclass_summary(read, **of, interval=interval)


def _print_multiclass(results: "Results", reading: Reading, output: Output) -> None:
    from baserate.cli._io import headline
    from baserate.cli._measure_page import multiclass_page

    print_notes(reading, results.data, output)
    print_results(
        results, lambda: multiclass_page(results, reading, headline(reading, results.data), output.digits), output
    )
