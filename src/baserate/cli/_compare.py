"""`baserate compare`: differences between models on the same rows, and a page of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click

from baserate._domains import MARGIN
from baserate._formatting import (
    count_of,
    there_are,
)
from baserate.cli._declarations import NameChoice, OptionSpec, Output, command, option
from baserate.cli._io import headline, name_as_typed, read_rows, report_results
from baserate.cli._options import (
    FLAGS,
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
from baserate.text import Page

if TYPE_CHECKING:
    from baserate._results import Results
    from baserate._rows import Rows
    from baserate.measure import Measure


def compare_page(results: "Results", reading: Reading, digits: int) -> Page:
    """Return the page of comparisons, headed by the files and the rows."""
    from baserate.text import comparison_page  # only now: it loads decisions and NumPy, which help must not

    return comparison_page(results, headline(reading, results.data), digits)


_EXAMPLES = """
# which score is cheaper at 5% prevalence, if a false negative costs 5 false positives
baserate compare people.csv --truth sick --score risk --score old --prevalence 5% --fp 1 --fn 5
# non-inferiority in AUC with a margin of 0.02
baserate compare people.csv --truth sick --score new --score old --measures auc --alternative better --margin 0.02
# decisions at a threshold, three measures
baserate compare people.csv --truth sick --score risk --score old --measures accuracy,f1,mcc --threshold 0.3
# whole ROC curves instead of areas
baserate compare people.csv --truth sick --score risk --score old --measures auc --method venkatraman
# two files, joined by a column
baserate compare new.csv old.csv --id patient --truth sick --score risk
# several rows of each patient
baserate compare people.csv --truth sick --score risk --score old --cluster patient
"""


_METHODS = ("delong", "resample", "venkatraman", "mcnemar-exact", "mcnemar-mid-p", "mcnemar", "mcnemar-corrected")


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
        others = self.number_flags
        if others and not names:
            raise click.UsageError(f"{others[0]} is for measures that are named; name them with --measures.")
        from baserate.measure import as_measure

        settings = self.numbers
        measures = [settings.apply(as_measure(name)) for name in names]
        for idle in settings.idle(measures):
            raise click.UsageError(f"none of the measures depends on {FLAGS[idle]}; leave it out.")
        return measures or None


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
    rows = read_models(reading, compare_options.id_, compare_options.cluster, quiet=output.quiet)
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


def read_models(reading: Reading, id_: str | None, cluster: str | None, *, quiet: bool) -> "Rows":
    """Read several models of one table, or join files with one model each."""
    if id_ is None:
        several = any(name.endswith("*") for name in reading.score)  # a prefix may stand for many columns
        if len(reading.score) + bool(reading.predicted) == 1 and not several:
            raise click.UsageError("a comparison needs two models: repeat --score, or join two files with --id.")
        return read_rows(reading, quiet=quiet, cluster=cluster)
    if len(reading.file) == 1:
        raise click.UsageError("--id joins several files, and this is one; name the other, or leave --id out.")
    from baserate import read

    columns = {"id": id_, "cluster": cluster}
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
