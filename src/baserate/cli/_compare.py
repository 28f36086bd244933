"""`baserate compare`: differences between models on the same rows, and a page of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click

from baserate._domains import MARGIN
from baserate._formatting import (
    count_of,
    format_exact,
    format_level,
    format_p,
    there_are,
    unadjusted_note,
)
from baserate.cli._declarations import NameChoice, OptionSpec, Output, command, given_flags, option
from baserate.cli._io import headline, name_as_typed, read_rows, report_results
from baserate.cli._options import (
    Column,
    Cost,
    Level,
    MeasureSettings,
    Prevalence,
    Reading,
    Seed,
    thresholds_option,
    two_class_measures,
)
from baserate.cli._values import Number, join_lists
from baserate.text import (
    Cell,
    CellFormatter,
    CellWriter,
    Page,
    TidyRow,
    describe_group,
    list_table,
    measure_label,
    shorten_label,
)

if TYPE_CHECKING:
    from baserate._results import Results
    from baserate._rows import Rows
    from baserate.measure import Measure


def compare_page(results: "Results", reading: Reading, digits: int) -> Page:
    """Return the page of comparisons: a line for each measure, a section for each pair of models and group."""
    rows, format_ = results.rows(), CellFormatter(digits)
    pairs = list(dict.fromkeys((row["model"], row["other"]) for row in rows))
    grouped = any(row["group"] for row in rows)

    def section(row: TidyRow) -> str:
        pair = [" − ".join(map(shorten_label, (row["model"], row["other"])))] if len(pairs) > 1 else []
        return ", ".join(pair + [describe_group(row["group"])] * grouped)

    def number(name: str, row: TidyRow) -> Cell:
        return format_.mark_undefined(row["why"]) if row[name] is None else format_.number(row[name])

    def difference(row: TidyRow) -> Cell:
        return format_.estimate({**row, "value": row["difference"]})

    heads = pairs[0] if len(pairs) == 1 else ("first", "second")
    names = list(map(shorten_label, heads)) if heads[0] != heads[1] else ["first", "second"]
    columns: dict[str, CellWriter] = {
        names[0]: partial(number, "value"),
        names[1]: partial(number, "other_value"),
        "difference": difference,
        "p": lambda row: format_p(row["p"], digits, is_bound=row["p_is_bound"]),
    }
    if len(rows) > 1:
        columns["Holm-adjusted p"] = lambda row: format_p(row["p_adjusted"], digits, is_bound=row["p_is_bound"])
    ordered = sorted(rows, key=lambda row: (pairs.index((row["model"], row["other"])), _place_of_group(rows, row)))
    table = list_table(ordered, columns, label=lambda row: measure_label(row["measure"], results.data), section=section)
    footnotes = (*format_.reasons.footnotes(), *_footnotes(rows, results.data))
    return Page(_describe_setting(reading, results), (table,), footnotes)


def _place_of_group(rows: Sequence[TidyRow], row: TidyRow) -> int:
    """Return the place of the first row with the same group."""
    return next(at for at, each in enumerate(rows) if each["group"] == row["group"])


def _describe_setting(reading: Reading, results: "Results") -> str:
    """Describe the rows, the prevalence, the costs, and the thresholds of all models."""
    from baserate.decide import describe_costs

    data = results.data
    costs = [] if data["costs"] is None else [f"costs: {describe_costs(data)}"]
    cuts = [f"{shorten_label(name)} ≥ {format_exact(at)}" for name, at in data["thresholds"].items() if at is not None]
    return " · ".join([headline(reading, data), *costs, *([f"thresholds: {', '.join(cuts)}"] if cuts else [])])


def _footnotes(rows: Sequence[TidyRow], data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the alternative hypothesis, and the methods of tests and intervals: by measure where they differ."""
    yield from dict.fromkeys(filter(None, (_describe_alternative(row, data) for row in rows)))
    by_method: dict[str, dict[str, None]] = {}
    for row in rows:
        by_method.setdefault(_describe_test(row), {})[measure_label(row["measure"], data)] = None
    every = {measure_label(row["measure"], data) for row in rows}
    for text, measures in by_method.items():
        if text:
            yield text if measures.keys() == every else f"{', '.join(measures)}: {text}"
    tested = [row for row in rows if row["p"] is not None]
    if len(rows) > 1 and tested:
        note = unadjusted_note(tested[0]["level"])
        yield f"Holm-adjusted p: over all {len(tested)} comparisons of this table. {note}"


def _describe_test(row: TidyRow) -> str:
    """Describe the test and the interval, without numbers of rows that differ between pairs."""
    if row["test"] is None:
        return ""
    test = row["test"].partition(":")[0] if row["test"].startswith("McNemar") else row["test"]
    level = f"{format_level(row['level'])} % interval"
    return f"p and {level}: {test}." if test == row["how"] else f"p: {test}. {level}: {row['how']}."


def _describe_alternative(row: TidyRow, data: Mapping[str, Any]) -> str:
    """Describe a one-sided alternative hypothesis."""
    side, margin = row["alternative"], row["margin"]
    if side == "two-sided":
        return ""
    # 0.0 − margin rather than −margin, so that a margin of 0 has no sign.
    bound = format_exact(margin if side == "less" else 0.0 - margin)
    where = "below" if side == "less" else "above"
    return f"Alternative hypothesis: the difference in {measure_label(row['measure'], data)} is {where} {bound}."


_EXAMPLES = """
# which score is cheaper at 5% prevalence, if a false negative costs 5 false positives
baserate compare people.csv --truth sick --score risk --score old --prevalence 5% --fp 1 --fn 5
# non-inferiority in AUC with a margin of 0.02
baserate compare people.csv --truth sick --score new --score old --measures auc --alternative better --margin 0.02
# decisions at a threshold, three measures
baserate compare people.csv --truth sick --score risk --score old --measures accuracy,f1,mcc --threshold 0.3
# two files, joined by a column
baserate compare new.csv old.csv --id patient --truth sick --score risk
# several rows of each patient
baserate compare people.csv --truth sick --score risk --score old --cluster patient
"""


_METHODS = ("delong", "resample", "mcnemar-exact", "mcnemar-mid-p", "mcnemar", "mcnemar-corrected")


def _thresholds() -> OptionSpec:
    """Declare the option of thresholds: for all scores, or one for each."""
    text = "Threshold for all scores, or one for each --score with commas: scores at or above it are flagged."
    default = "the cheapest with --fp and --fn, or 0.5 for probabilities"
    return thresholds_option(text, callback=join_lists, default=default)  # two scores may have the same


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """Options of a comparison: measures, prevalence, thresholds, hypothesis, test."""

    measures: Annotated[tuple[str, ...], two_class_measures("the usual ones")] = ()
    prevalence: Prevalence = None
    threshold: Annotated[tuple[float, ...], _thresholds()] = ()
    alternative: Annotated[
        Literal["two-sided", "greater", "less", "better"],
        "Alternative hypothesis: a difference; or that the first is greater, less, or better than the second.",
    ] = "two-sided"
    margin: Annotated[float, option(type=Number(MARGIN)), "Non-inferiority margin, with a one-sided alternative."] = 0.0
    method: Annotated[str | None, option(type=NameChoice(_METHODS), default="by measure"), "Test method."] = None
    level: Level = 0.95
    seed: Seed = 0
    id_: Annotated[Column, "Column with row IDs, to join several files."] = None
    cluster: Annotated[Column, "Column with clusters of dependent rows."] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonSettings(MeasureSettings):
    """Options for numbers that measures depend on; the costs of errors have no default."""

    fp: Annotated[Cost, "Cost of a false positive; a gain if negative."] = None
    fn: Annotated[Cost, "Cost of a false negative; a gain if negative."] = None

    def bind_others(self, names: Sequence[str]) -> "list[Measure] | None":
        """Bind the other numbers to the measures that are named; None for the usual measures."""
        others = given_flags(self, ("net_benefit_at", "beta"))
        if others and not names:
            raise click.UsageError(f"{others[0]} is for measures that are named; name them with --measures.")
        from baserate.measure import Settings, as_measure

        settings = Settings(at=self.net_benefit_at, beta=self.beta)
        measures = [settings.apply(as_measure(name)) for name in names]
        for idle in settings.idle(measures):
            raise click.UsageError(f"none of the measures depends on {IDLE_FLAGS[idle]}; leave it out.")
        return measures or None


IDLE_FLAGS = {"at": "--net-benefit-at", "beta": "--beta"}


@command("compare", examples=_EXAMPLES)
def compare(reading: Reading, compare_options: CompareOptions, settings: ComparisonSettings, output: Output) -> None:
    """Compare models: differences, intervals, p-values.

    Every pair is compared, the first minus the second, at the stated prevalence. The usual measures are expected cost
    and net benefit (with --fp and --fn), precision (PPV), NPV, sensitivity, specificity, AUC, average precision, and
    Brier score (of probabilities). Several comparisons also have Holm-adjusted p-values. Two files with --id hold one
    model each; without it, several files are one table.
    """
    from baserate import decide
    from baserate._costs import as_costs

    measures = settings.bind_others(compare_options.measures)
    if compare_options.threshold:
        _check_thresholds(reading, compare_options, measures)
    rows = _read_models(reading, compare_options, quiet=output.quiet)
    scores = [name for name in rows.score if name != reading.predicted]
    results = decide.compare(
        rows,
        measures=measures,
        prevalence=compare_options.prevalence,
        costs=as_costs(settings.costs_by_outcome or None),
        threshold=_thresholds_by_model(compare_options.threshold, scores),
        alternative=compare_options.alternative,
        margin=compare_options.margin,
        level=compare_options.level,
        method=compare_options.method,
        seed=compare_options.seed,
    )
    report_results(name_as_typed(results, compare_options.measures), compare_page, reading, output)


def _read_models(reading: Reading, compare_options: CompareOptions, *, quiet: bool) -> "Rows":
    """Read several models of one table, or join files with one model each."""
    if compare_options.id_ is None:
        several = any(name.endswith("*") for name in reading.score)  # a prefix may stand for many columns
        if len(reading.score) + bool(reading.predicted) == 1 and not several:
            raise click.UsageError("a comparison needs two models: repeat --score, or join two files with --id.")
        return read_rows(reading, quiet=quiet, cluster=compare_options.cluster)
    if len(reading.file) == 1:
        raise click.UsageError("--id joins several files, and this is one; name the other, or leave --id out.")
    from baserate import read

    columns = {"id": compare_options.id_, "cluster": compare_options.cluster}
    parts = {
        name: read_rows(replace(reading, file=(file,)), quiet=quiet, **columns)
        for name, file in _name_files(reading.file).items()
    }
    return read.join(parts, missing="drop" if reading.missing == "drop" else "refuse")


def _name_files(files: Sequence[str]) -> dict[str, str]:
    """Return files by their names without endings, or by their paths where those are the same."""
    short = [PurePath(file).stem for file in files]
    by_name = dict(zip(short if len(set(short)) == len(short) else files, files, strict=True))
    if len(by_name) < len(files):
        raise click.UsageError("a file is named twice; name each model's file once.")
    return by_name


def _check_thresholds(reading: Reading, compare_options: CompareOptions, measures: "Sequence[Measure] | None") -> None:
    """Refuse thresholds that no measure would use."""
    from baserate import Counts
    from baserate.measure import describe

    if measures and not any(describe(measure).of is Counts for measure in measures):
        names = ", ".join(describe(measure).name for measure in measures)
        raise click.UsageError(
            f"--threshold is for measures of decisions, not for {names}; leave it out, or name one with --measures, "
            "such as accuracy."
        )
    if compare_options.id_ and reading.predicted:
        raise click.UsageError(
            "--threshold would cut the labels of --predicted too, which are joined as scores of 0 and 1; leave out one "
            "of them."
        )


def _thresholds_by_model(thresholds: Sequence[float], models: Sequence[str]) -> float | Mapping[str, Any] | None:
    """Return one threshold for all models, or one for each."""
    if len(thresholds) <= 1:
        return thresholds[0] if thresholds else None
    if len(thresholds) != len(models):
        raise click.UsageError(
            f"{there_are(len(thresholds), 'threshold')} for {count_of(len(models), 'score')}; give one for all, or one "
            "for each."
        )
    return dict(zip(models, thresholds, strict=True))
