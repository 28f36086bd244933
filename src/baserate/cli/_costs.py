"""`baserate costs`: expected costs of classifiers, each with the confusion matrix of its own sample."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click

from baserate._errors import BaserateError, OptionError
from baserate._formatting import count_of, there_are
from baserate.cli._declarations import Output, command, given_flags, omit, option, refuse_given
from baserate.cli._io import print_messages, print_results, read_tallies
from baserate.cli._measure import Classes, read_classes, read_costs
from baserate.cli._options import (
    ClassShares,
    ClosedFormIntervals,
    OptionalReading,
    OutcomeCosts,
    Reading,
    threshold_per_score,
)
from baserate.cli._values import CELLS as PRICED, match_classes, read_numbers

if TYPE_CHECKING:
    from baserate._confusion import Confusion
    from baserate._costs import CostMatrix, Costs
    from baserate._counts import Counts
    from baserate._results import Results
    from baserate._tally import ReadSummary, Tallies

CELLS = ("tp", "fn", "fp", "tn")
"""Cells of a confusion matrix in the order in which they are typed: positives first."""
_HOW = "give TP,FN,FP,TN in this order, such as M1=150,40,60,250, or by name, M1=tp:150,fn:40,fp:60,tn:250."
_MIDDLE = 0.5
_MOST = 1e15
"""The greatest count: floats hold every whole number up to it exactly."""


@dataclass(frozen=True, slots=True)
class TableOption:
    """Confusion matrix with the name of its classifier."""

    name: str
    cells: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Sample:
    """Confusion matrix of a classifier on its own sample."""

    name: str
    table: "Counts[float] | Confusion"
    threshold: float | None = None
    intake: "ReadSummary | None" = None


def read_table(text: str) -> TableOption:
    """Read a table: M1=150,40,60,250 in the order TP,FN,FP,TN; or M1=tp:150,fn:40,fp:60,tn:250 in any.

    >>> read_table("M1=150,40,60,250") == read_table("M1=tn:250,tp:150,fn:40,fp:60")
    True
    """
    name, _, cells = (part.strip() for part in text.rpartition("="))
    if not name:
        raise click.BadParameter(f"{text!r} names no classifier; {_HOW}")
    parts = cells.split(",")
    if len(parts) != len(CELLS):
        raise click.BadParameter(f"{text!r} has {len(parts)} of the {len(CELLS)} cells; {_HOW}")
    pairs = [part.partition(":") for part in parts if ":" in part]
    if not pairs:
        return TableOption(name, tuple(_read_count(part, text) for part in parts))
    cells_by_name = {cell.strip().lower(): count for cell, _, count in pairs}
    if set(cells_by_name) != set(CELLS):
        raise click.BadParameter(f"{text!r} does not name each of the {len(CELLS)} cells once; {_HOW}")
    return TableOption(name, tuple(_read_count(cells_by_name[cell], text) for cell in CELLS))


def _read_count(cell: str, text: str) -> float:
    try:
        number = float(cell)
    except ValueError:
        number = math.nan
    if not 0 <= number <= _MOST:
        raise click.BadParameter(
            f"{cell.strip()!r} in {text!r} is not a count; counts are numbers from 0 to {_MOST:g}."
        )
    return number


def check_names(samples: Sequence[Sample]) -> None:
    """Refuse two classifiers of one name."""
    for name, times in Counter(sample.name for sample in samples).items():
        if times > 1:
            raise click.UsageError(f"{times} classifiers have the name {name!r}; give each a name of its own.")


def _split_by_file(reading: Reading) -> Iterator[tuple[Reading, str]]:
    """Split the options by file, each with a short name if that is unique."""
    if reading.file.count("-") > 1:
        raise click.UsageError("stdin can be read once; name a file for every other classifier.")
    # Two files of one stem, in different folders, keep their paths.
    short = ["stdin" if each == "-" else PurePath(each).stem or each for each in reading.file]
    apart = len(set(short)) == len(short)
    for file, name in zip(reading.file, short, strict=True):
        yield replace(reading, file=(file,)), name if apart else file


def _name_classifier(file: str, model: str, *, n_files: int, n_models: int) -> str:
    """Return the name of a classifier: that of its file, of its column where one file has several, or both."""
    if n_models == 1:
        return file
    return model if n_files == 1 else f"{file} {model}"


@contextmanager
def _name_file_in_errors(file_reading: Reading, reading: Reading) -> Iterator[None]:
    """Name the file, where there are several, in the message of an error."""
    try:
        yield
    except BaserateError as error:
        if len(reading.file) == 1 or str(error).startswith(file_reading.file[0]):
            raise
        raise type(error)(f"{file_reading.file[0]}: {error}") from error


def _threshold_of(read: "Tallies", model: str, reading: Reading, thresholds: Sequence[float]) -> float | None:
    """Threshold of a model; labels have none."""
    if model == read.intake.columns.get("predicted"):
        return None
    if thresholds:
        return thresholds[reading.score.index(model) if len(thresholds) > 1 else 0]
    if read.pooled(model).probable:
        return _MIDDLE
    score = read.pooled(model).score
    raise OptionError(
        f"{model} runs from {score[-1]:.6g} to {score[0]:.6g}, so its scores are not probabilities",
        remedy="give one with --threshold.",
    )


_EXAMPLES = """
# two confusion matrices (TP,FN,FP,TN), at a prevalence of 38%
baserate costs --table M1=150,40,60,250 --table M2=250,45,5,200 --fp 1 --fn 100 --tp -1 --prevalence 0.38
# two classifiers, each with its own file; costs per 1000 people
baserate costs old.csv new.csv --truth sick --predicted flagged --fp 1 --fn 20 --prevalence 2% --per 1000
# two models of the same people, each with its own threshold
baserate costs people.csv --truth sick --score risk --score old --threshold 0.2,0.5 --fp 1 --fn 20
# several classes: a cost matrix and confusion matrices
baserate costs a.csv b.csv --cross-table rows --costs costs.csv --prevalence cat=0.2,dog=0.8
# the iso-cost line through a point of ROC space
baserate costs --iso-cost 0.1,0.6 --fp 10 --fn 1 --prevalence 0.5
"""


def _read_point(text: str) -> tuple[float, float]:
    """Read a point of ROC space."""
    values = read_numbers(text)
    if len(values) != 2 or not all(0 <= each <= 1 for each in values):
        raise click.BadParameter(f"{text!r} is not a point; give FPR,TPR, both from 0 to 1, such as 0.1,0.6.")
    return values[0], values[1]


def _read_cases(text: str) -> float:
    """Read the number of cases that costs are of."""
    values = read_numbers(text)
    if len(values) != 1 or values[0] <= 0:
        raise click.BadParameter(f"{text!r} is not a number of cases; give one above 0, such as 1000.")
    return values[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class CostOptions(OutcomeCosts):
    """Options of costs: typed confusion matrices, costs, prevalence."""

    table: Annotated[
        tuple[TableOption, ...],
        option(
            type=read_table,
            multiple=True,
            metavar="NAME=CELLS",
            help="Classifier and its counts TP,FN,FP,TN in this order, or by name, M1=tp:150,fn:40,fp:60,tn:250; may "
            "be repeated.",
        ),
    ] = ()
    threshold: Annotated[tuple[float, ...], threshold_per_score()] = ()
    costs: Annotated[
        str | None, option(metavar="FILE"), "Of several classes: cost matrix of decisions, with true classes in rows."
    ] = None
    cross_table: Annotated[
        Literal["rows", "columns"] | None,
        "Each FILE is a confusion matrix, with true classes in its rows or columns.",
    ] = None
    prevalence: Annotated[
        ClassShares,
        option(default="that of the samples, if all have the same"),
        "Prevalence in deployment, such as 0.02 or 2%; of several classes a share for each, cat=0.2,dog=0.8.",
    ] = None
    per: Annotated[float, option(type=_read_cases, metavar="NUMBER"), "Number of cases that costs are of."] = 1.0
    iso_cost: Annotated[
        tuple[tuple[float, float], ...],
        option(type=_read_point, multiple=True, metavar="FPR,TPR"),
        "Iso-cost line through this point of ROC space.",
    ] = ()

    def __post_init__(self) -> None:
        priced = given_flags(self, PRICED)
        if not priced and self.costs is None:
            raise click.UsageError(
                "costs are missing; add them, such as --fp 1 --fn 20, or of several classes --costs FILE."
            )
        if priced and self.costs is not None:
            raise click.UsageError(f"--costs is for several classes and {priced[0]} for two; leave out one of them.")
        self._check_several()
        if self.costs is None and self.cross_table is not None:
            raise click.UsageError("--cross-table needs the costs of all classes; add --costs FILE.")
        if isinstance(self.prevalence, dict) and self.costs is None:
            raise click.UsageError("two classes have one prevalence; give that of the positives, such as 0.02 or 2%.")
        if self.iso_cost and not isinstance(self.prevalence, float):
            raise click.UsageError("iso-cost lines depend on the prevalence; add it, such as --prevalence 0.02.")

    def _check_several(self) -> None:
        """Refuse options of two classes beside costs of several."""
        if self.costs is not None:
            message = "{} is for two classes; leave out either {} or --costs."
            refuse_given(self, ("table", "threshold", "iso_cost"), message)
        if self.costs is not None and isinstance(self.prevalence, float):
            raise click.UsageError("several classes need a share each; give them as in --prevalence cat=0.2,dog=0.8.")


@command("costs", examples=_EXAMPLES)
def costs(
    reading: Annotated[OptionalReading, omit("group")],
    cost_options: CostOptions,
    intervals: ClosedFormIntervals,
    output: Output,
) -> None:
    """Compare the costs of classifiers at one prevalence.

    Each FILE is one classifier and its sample; --table is one whose counts are typed. The total is that of its own
    sample, and the mean cost per case that in deployment. Classifiers that were measured at different prevalences
    compare only at one: add --prevalence.
    """
    from baserate.cli._decision_page import costs_headline, costs_page

    _check_options(reading, cost_options)
    prices = read_costs(cost_options.costs) or cost_options.outcome_costs  # before reading, so that errors come at once
    assert prices is not None  # noqa: S101  (for the type checker)
    lines = list(_iso_costs(cost_options, prices))
    samples = list(read_samples(reading, cost_options, quiet=output.quiet))
    check_names(samples)
    results = _make_results(samples, lines, cost_options, prices, intervals.confidence)
    line, data = costs_headline(results, reading), results.data
    print_messages(line, data, output, inferred=reading.positive is None and data["positive"] is not None)
    print_results(results, lambda: costs_page(results, line, output.digits), output)


def _check_options(reading: Reading, cost_options: CostOptions) -> None:
    """Refuse options without the data that they are for."""
    columns = ("truth", "score", "predicted", "positive", "negative", "weight", "count")
    if not reading.file:
        message = "{} is for files; name one for each classifier, or leave out {}."
        refuse_given(reading, columns, message)
        refuse_given(cost_options, ("threshold", "cross_table"), message)
    if not (reading.file or cost_options.table or cost_options.iso_cost):
        raise click.UsageError(
            "there is no classifier; name files of predictions, or type confusion matrices TP,FN,FP,TN, such as "
            "--table M1=150,40,60,250."
        )
    thresholds, scores = len(cost_options.threshold), len(reading.score)
    if thresholds and not scores:
        raise click.UsageError("--threshold is for scores; name their column with --score, or leave out --threshold.")
    if thresholds > 1 and thresholds != scores:
        raise click.UsageError(
            f"{there_are(thresholds, 'threshold')} for {count_of(scores, 'score')}; give one for all, or one for each."
        )
    if cost_options.costs is not None and (reading.score or not (reading.predicted or cost_options.cross_table)):
        raise click.UsageError("of several classes give either --predicted or --cross-table, and no --score.")


def read_samples(reading: Reading, cost_options: CostOptions, *, quiet: bool) -> Iterator[Sample]:
    """Yield the typed confusion matrices, then those of each file."""
    from baserate import Counts

    for each in cost_options.table:
        tp, fn, fp, tn = each.cells
        yield Sample(each.name, Counts(tp=tp, fn=fn, fp=fp, tn=tn))
    read = _read_binary_samples if cost_options.costs is None else _read_multiclass_samples
    for file_reading, name in _split_by_file(reading):
        with _name_file_in_errors(file_reading, reading):
            samples = read(file_reading, cost_options, quiet=quiet)
        sizes = {"n_files": len(reading.file), "n_models": len(samples)}
        yield from (replace(sample, name=_name_classifier(name, sample.name, **sizes)) for sample in samples)


def _read_binary_samples(reading: Reading, cost_options: CostOptions, *, quiet: bool) -> list[Sample]:
    """Read a file of two classes: a sample of each model."""
    from baserate import Curve

    read = read_tallies(reading, quiet=quiet)
    thresholds = {model: _threshold_of(read, model, reading, cost_options.threshold) for model in read.models}
    return [
        Sample(model, Curve(read.pooled(model)).at(_MIDDLE if at is None else at), at, read.intake)
        for model, at in thresholds.items()
    ]


def _read_multiclass_samples(reading: Reading, cost_options: CostOptions, *, quiet: bool) -> list[Sample]:
    """Read a file of several classes: labels, or a confusion matrix."""
    from baserate import Confusions

    classes = Classes((), (), (), cost_options.costs, cost_options.cross_table)
    read = read_classes(reading, classes, quiet=quiet)
    assert isinstance(read, Confusions)  # noqa: S101  (for the type checker: with costs no class is positive)
    return [Sample("", read.pooled, intake=read.intake)]


def _make_results(
    samples: Sequence[Sample],
    lines: Sequence[dict[str, Any]],
    cost_options: CostOptions,
    prices: "Costs | CostMatrix",
    level: float | None,
) -> "Results":
    """Tabulate classifiers, then iso-cost lines."""
    from baserate import Costs, Results

    rows, notes = _tabulate_classifiers(samples, cost_options, prices, level) if samples else ([], [])
    rows += lines
    columns = dict.fromkeys(name for row in rows for name in row)
    data = {
        "prevalence": cost_options.prevalence,
        "per": cost_options.per,
        "level": level,
        "costs": asdict(prices)
        if isinstance(prices, Costs)
        else {"labels": list(prices.labels), "costs": prices.cost.tolist()},
        **_describe_reading(samples),
        "notes": [*_intake_notes(samples), *notes],
    }
    return Results({name: [row.get(name) for row in rows] for name in columns}, data)


def _describe_reading(samples: Sequence[Sample]) -> dict[str, Any]:
    """Return the header on files, and the share of each of several classes; None in an empty sample."""
    from baserate import Confusion

    intakes = {sample.name: sample.intake for sample in samples if sample.intake is not None}
    shares = {
        sample.name: {
            str(label): mass / sample.table.total if sample.table.total else None
            for label, mass in zip(sample.table.labels, sample.table.truth.tolist(), strict=True)
        }
        for sample in samples
        if isinstance(sample.table, Confusion)
    }
    return {
        "positive": next((intake.positive for intake in intakes.values() if not intake.classes), None),
        "samples": {
            name: {"read": intake.read, "refused": intake.dropped, "columns": dict(intake.columns)}
            for name, intake in intakes.items()
        },
        "shares": shares,
    }


def _tabulate_classifiers(
    samples: Sequence[Sample], cost_options: CostOptions, prices: "Costs | CostMatrix", level: float | None
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return a row for each classifier, with its confusion matrix and threshold; and notes."""
    from baserate.decide import cost_table

    tables = _align_tables(samples, prices)
    prevalence: Any = cost_options.prevalence
    if isinstance(prevalence, dict):
        prevalence = match_classes(prevalence, next(iter(tables.values())).labels, flag="--prevalence")
    table = cost_table(tables, prices, prevalence=prevalence, per=cost_options.per, level=level)
    rows = []
    for sample, row in zip(samples, table.rows(), strict=True):
        cells = {name: getattr(sample.table, name) for name in CELLS} if cost_options.costs is None else {}
        rows.append({**row, "threshold": sample.threshold, **cells})
    return rows, list(table.data["notes"])


def _align_tables(samples: Sequence[Sample], prices: "Costs | CostMatrix") -> dict[str, Any]:
    """Return confusion matrices by name; those of several classes over all that occur in any of them."""
    from baserate import CostMatrix

    tables: dict[str, Any] = {sample.name: sample.table for sample in samples}
    if not isinstance(prices, CostMatrix):
        return tables
    for table in tables.values():
        prices.total(table)  # which refuses classes without a cost
    occurring = [label for label in prices.labels if any(label in table.labels for table in tables.values())]
    return {name: table.over(occurring) for name, table in tables.items()}


def _iso_costs(cost_options: CostOptions, prices: "Costs | CostMatrix") -> Iterator[dict[str, Any]]:
    """Yield a row for each iso-cost line."""
    from baserate import Costs
    from baserate.decide import iso_cost

    names = ("measure", "model", "group", "class", "threshold", "low", "high", "level", "how", "why")
    for fpr, tpr in cost_options.iso_cost:
        assert isinstance(prices, Costs)  # noqa: S101  (for the type checker)
        assert isinstance(cost_options.prevalence, float)  # noqa: S101  (for the type checker)
        line = iso_cost(prices, cost_options.prevalence, through=(fpr, tpr))
        number = {"measure": "iso_cost", "prevalence": cost_options.prevalence, "value": cost_options.per * line.cost}
        place = {"fpr": fpr, "tpr": tpr, "slope": line.slope, "intercept": line.intercept}
        yield {**dict.fromkeys(names), **number, **place}


def _intake_notes(samples: Sequence[Sample]) -> Iterator[str]:
    """Notes on what was read and which rows were dropped, once for each file."""
    from baserate._tally import describe_reasons

    read = {id(sample.intake): sample.intake for sample in samples}
    for one, intake in read.items():
        if intake is not None:
            names = ", ".join(sample.name for sample in samples if id(sample.intake) == one)
            yield from (f"{names}: {note}" for note in intake.notes)
            if intake.dropped:
                rows, reasons = count_of(intake.read, "row"), describe_reasons(intake.reasons)
                yield f"{names}: {intake.dropped} of {rows} dropped ({reasons})."
