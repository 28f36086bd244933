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
from baserate.cli._declarations import NameChoice, Output, command, option
from baserate.cli._io import headline, read_rows, report_results
from baserate.cli._options import (
    Column,
    Level,
    MeasureSettings,
    Reading,
    Seed,
    bind_settings,
    threshold_per_score,
    two_class_measures,
)
from baserate.cli._values import Number
from baserate.text import CellFormatter, Page, TidyRow, describe_group, list_table, measure_label, shorten_label

if TYPE_CHECKING:
    from baserate._results import Results
    from baserate._rows import Rows
    from baserate.measure import Measure

_NUMBERS = {
    "value": "first",
    "other_value": "second",
    "difference": "difference",
    "low": "low",
    "high": "high",
    "p": "p",
    "p_adjusted": "Holm-adjusted p",
}


def compare_page(results: "Results", reading: Reading, digits: int) -> Page:
    """Return the page of comparisons: a section for each measure and group."""
    rows, format_ = results.rows(), CellFormatter(digits)
    grouped = any(row["group"] for row in rows)

    def cell(name: str, row: TidyRow) -> str:
        if row[name] is None:
            return format_.mark_undefined(row["why"])
        if name in {"p", "p_adjusted"}:
            return format_p(row[name], digits, is_bound=row["p_is_bound"])
        return format_.number(row[name])

    def section(row: TidyRow) -> str:
        return measure_label(row["measure"]) + (f", {describe_group(row['group'])}" if grouped else "")

    columns = {head: partial(cell, name) for name, head in _NUMBERS.items() if name != "p_adjusted" or len(rows) > 1}
    table = list_table(rows, columns, label=_pair_label, section=section)
    return Page(headline(reading, results.data), (table,), (*format_.reasons.footnotes(), *_footnotes(rows)))


def _pair_label(row: TidyRow) -> str:
    """Return the names of both models, with their thresholds if they have some."""
    models = ((row["model"], row["threshold"]), (row["other"], row["other_threshold"]))
    return " − ".join(
        shorten_label(name) + ("" if threshold is None else f" ≥ {format_exact(threshold)}")
        for name, threshold in models
    )


def _footnotes(rows: Sequence[TidyRow]) -> Iterator[str]:
    """Yield the alternative hypothesis, and the methods of tests and intervals: by measure where they differ."""
    yield from dict.fromkeys(filter(None, map(_describe_alternative, rows)))
    methods: dict[str, dict[str, None]] = {}
    for row in rows:
        methods.setdefault(measure_label(row["measure"]), {})[_describe_test(row)] = None
    same = len({tuple(each) for each in methods.values()}) == 1
    texts = ((measure, text) for measure, each in methods.items() for text in each if text)
    yield from dict.fromkeys(text if same else f"{measure}: {text}" for measure, text in texts)
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


def _describe_alternative(row: TidyRow) -> str:
    """Describe a one-sided alternative hypothesis."""
    side, margin = row["alternative"], row["margin"]
    if side == "two-sided":
        return ""
    # 0.0 − margin rather than −margin, so that a margin of 0 has no sign.
    bound = format_exact(margin if side == "less" else 0.0 - margin)
    where = "below" if side == "less" else "above"
    return f"Alternative hypothesis: the difference in {measure_label(row['measure'])} is {where} {bound}."


_EXAMPLES = """
# the difference in AUC of two scores
baserate compare people.csv --truth sick --score risk --score old
# non-inferiority with a margin of 0.02
baserate compare people.csv --truth sick --score new --score old --alternative better --margin 0.02
# decisions at a threshold, three measures
baserate compare people.csv --truth sick --score risk --score old --measure accuracy,f1,mcc --threshold 0.3
# expected cost, if a false negative costs 20 false positives
baserate compare people.csv --truth sick --score risk --score old --measure expected_cost --fp 1 --fn 20
# two files, joined by a column
baserate compare new.csv old.csv --id patient --truth sick --score risk
# several rows of each patient
baserate compare people.csv --truth sick --score risk --score old --cluster patient
"""


_METHODS = ("delong", "resample", "mcnemar-exact", "mcnemar-mid-p", "mcnemar", "mcnemar-corrected")


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """Options of a comparison: measures, thresholds, hypothesis, test."""

    measure: Annotated[tuple[str, ...], two_class_measures("auc")] = ()
    threshold: Annotated[tuple[float, ...], threshold_per_score()] = ()
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


@command("compare", examples=_EXAMPLES)
def compare(reading: Reading, compare_options: CompareOptions, settings: MeasureSettings, output: Output) -> None:
    """Compare models: differences, intervals, p-values.

    Every pair is compared, the first minus the second. Several comparisons also have Holm-adjusted p-values. Two files
    with --id hold one model each; without it, several files are one table. Expected costs need --fp and --fn; net
    benefit needs --net-benefit-at.
    """
    from baserate import infer
    from baserate.measure import collect_settings, note_settings, results_data

    measures = bind_settings(settings.to_settings(), compare_options.measure or ["auc"])
    question = infer.Question(
        compare_options.alternative,
        compare_options.margin,
        compare_options.level,
        compare_options.method,
    )
    if compare_options.threshold:
        _check_thresholds(reading, compare_options, measures)
    rows = _read_models(reading, compare_options, quiet=output.quiet)
    by_model = _thresholds_by_model(
        compare_options.threshold, [name for name in rows.score if name != reading.predicted]
    )
    comparisons = infer.compare(
        rows, measure=measures, threshold=by_model, question=question, seed=compare_options.seed
    )
    stated = collect_settings(measures)
    data = results_data(rows.tallies(), list(note_settings(stated))) | {"seed": compare_options.seed}
    results = infer.tabulate_comparisons(comparisons, data | ({"settings": stated} if stated else {}))
    report_results(results, compare_page, reading, output)


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


def _check_thresholds(reading: Reading, compare_options: CompareOptions, measures: Sequence["Measure"]) -> None:
    """Refuse thresholds that no measure would use."""
    from baserate import Counts
    from baserate.measure import describe

    if not any(describe(measure).of is Counts for measure in measures):
        names = ", ".join(describe(measure).name for measure in measures)
        raise click.UsageError(
            f"--threshold is for measures of decisions, not for {names}; leave it out, or name one with --measure, "
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
