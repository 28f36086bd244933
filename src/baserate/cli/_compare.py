"""`baserate compare`: differences between models on the same rows, and a page of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any

import click

from baserate._domains import MARGIN
from baserate._formatting import (
    UNDEFINED,
    count_of,
    footnote_mark,
    format_exact,
    format_level,
    format_number,
    format_p,
    there_are,
    unadjusted_note,
)
from baserate.cli._declarations import Output, command, option
from baserate.cli._io import headline, print_notes, print_results, read_rows
from baserate.cli._options import Level, MeasureSettings, Reading, Seed, bind_settings
from baserate.cli._values import Number, complete_two_class, names, read_thresholds
from baserate.text import EVERYBODY, Page, Row, Section, Table, TidyRow, shorten_label

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
_CHANCES = ("p", "p_adjusted")


def compare_page(results: "Results", reading: Reading, digits: int) -> Page:
    """Lay the comparisons out: a section for each measure and group."""
    lines = results.rows()
    columns = [name for name in _NUMBERS if name != "p_adjusted" or len(lines) > 1]
    reasons: list[str] = []
    sections = []
    grouped = any(line["group"] for line in lines)
    for title, group in groupby(lines, key=lambda line: _title(line, grouped=grouped)):
        rows = [_row(line, columns, digits, reasons) for line in group]
        sections.append(Section(title, tuple(rows)))
    panel = Table("", tuple(_NUMBERS[name] for name in columns), tuple(sections))
    notes = [f"{footnote_mark(at)} {why}" for at, why in enumerate(reasons, start=1)]
    return Page(headline(reading, results.data), (panel,), (*notes, *_footnotes(lines)))


def _title(line: TidyRow, *, grouped: bool) -> str:
    measure = line["measure"].replace("_", " ")
    if not grouped:
        return str(measure)
    named = ", ".join(
        f"{shorten_label(name)} = {shorten_label(value)}" for name, value in (line["group"] or {}).items()
    )
    return f"{measure}, {named or EVERYBODY}"


def _row(line: TidyRow, columns: Sequence[str], digits: int, reasons: list[str]) -> Row:
    def cell(name: str) -> str:
        if line[name] is not None and name in _CHANCES:
            return format_p(line[name], digits, is_bound=line["p_is_bound"])
        if line[name] is not None:
            return format_number(line[name], digits)
        why = line["why"] or "undefined"
        if why not in reasons:
            reasons.append(why)
        return UNDEFINED + footnote_mark(reasons.index(why) + 1)

    return Row(f"{_model(line, '')} − {_model(line, 'other_')}", tuple(map(cell, columns)))


def _model(line: TidyRow, which: str) -> str:
    name = shorten_label(line["other" if which else "model"])
    at = line[f"{which}threshold"]
    return name if at is None else f"{name} ≥ {format_exact(at)}"


def _footnotes(lines: Sequence[TidyRow]) -> Iterator[str]:
    """What p means, and how it and the interval were made; for each measure where they differ."""
    yield from dict.fromkeys(filter(None, map(_describe_alternative, lines)))
    descriptions = {
        measure: list(dict.fromkeys(_describe_test(each) for each in of)) for measure, of in _by_measure(lines).items()
    }
    alone = len({tuple(told) for told in descriptions.values()}) == 1
    if alone:
        yield from filter(None, next(iter(descriptions.values())))
    else:
        yield from (
            f"{measure.replace('_', ' ')}: {each}" for measure, told in descriptions.items() for each in told if each
        )
    tested = [line for line in lines if line["p"] is not None]
    if len(lines) > 1 and tested:
        note = unadjusted_note(tested[0]["level"])
        yield f"Holm-adjusted p: over all {len(tested)} comparisons of this table. {note}"


def _by_measure(lines: Sequence[TidyRow]) -> dict[str, list[TidyRow]]:
    groups: dict[str, list[TidyRow]] = {}
    for line in lines:
        groups.setdefault(line["measure"], []).append(line)
    return groups


def _describe_test(line: TidyRow) -> str:
    """Describe the test and the interval, without numbers of rows that differ between pairs."""
    if line["test"] is None:
        return ""
    test = line["test"].partition(":")[0] if line["test"].startswith("McNemar") else line["test"]
    level = f"{format_level(line['level'])} % interval"
    return f"p and {level}: {test}." if test == line["how"] else f"p: {test}. {level}: {line['how']}."


def _describe_alternative(line: TidyRow) -> str:
    side, margin = line["alternative"], line["margin"]
    if side == "two-sided":
        return ""
    bound = format_exact(margin if side == "less" else 0.0 - margin)
    where = "below" if side == "less" else "above"
    return f"A small p speaks for a difference of {line['measure'].replace('_', ' ')} {where} {bound}."


_EXAMPLES = (
    ("the difference in AUC of two scores", "baserate compare people.csv --truth sick --score risk --score old"),
    (
        "non-inferiority with a margin of 0.02",
        "baserate compare people.csv --truth sick --score new --score old --alternative better --margin 0.02",
    ),
    (
        "decisions at a threshold, three measures",
        "baserate compare people.csv --truth sick --score risk --score old --measure accuracy,f1,mcc --threshold 0.3",
    ),
    (
        "expected cost, if a false negative costs 20 false positives",
        "baserate compare people.csv --truth sick --score risk --score old --measure expected_cost --fp 1 --fn 20",
    ),
    ("two files, joined by a column", "baserate compare new.csv old.csv --id patient --truth sick --score risk"),
    (
        "several rows of each patient",
        "baserate compare people.csv --truth sick --score risk --score old --cluster patient",
    ),
)


_METHODS = ("delong", "resample", "mcnemar-exact", "mcnemar-mid-p", "mcnemar", "mcnemar-corrected")


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """Options of a comparison: measures, thresholds, hypothesis, test."""

    measure: Annotated[
        tuple[tuple[str, ...], ...],
        option(
            type=names,
            metavar="NAMES",
            shell_complete=complete_two_class,
            multiple=True,
            default="auc",
            help="Measures by any of their names, with commas.",
        ),
    ] = ()
    threshold: Annotated[
        tuple[tuple[float, ...], ...],
        option(
            type=read_thresholds,
            metavar="NUMBERS",
            multiple=True,
            default="0.5 for probabilities",
            help="Threshold for all scores, or one for each with commas: scores at or above it are flagged.",
        ),
    ] = ()
    alternative: Annotated[
        str,
        option(
            type=click.Choice(["two-sided", "greater", "less", "better"]),
            help="Alternative hypothesis: a difference; or that the first is greater, less, or better than the second.",
        ),
    ] = "two-sided"
    margin: Annotated[
        float, option(type=Number(MARGIN), help="Non-inferiority margin, with a one-sided alternative.")
    ] = 0.0
    method: Annotated[str | None, option(type=click.Choice(_METHODS), default="by measure", help="Test method.")] = None
    level: Level = 0.95
    seed: Seed = 0
    id_: Annotated[str | None, option(metavar="COLUMN", help="Column with row IDs, to join several files.")] = None
    cluster: Annotated[str | None, option(metavar="COLUMN", help="Column with clusters of dependent rows.")] = None


@command("compare", examples=_EXAMPLES)
def compare(reading: Reading, compare_options: CompareOptions, settings: MeasureSettings, output: Output) -> None:
    """Compare models: differences, intervals, p-values.

    Every pair is compared, the first minus the second. Several comparisons also have Holm-adjusted p-values. Two files
    with --id hold one model each; without it, several files are one table. Expected costs need --fp and --fn; net
    benefit needs --net-benefit-at.
    """
    from baserate.infer import Question, compare as compared, tabulate_comparisons
    from baserate.measure import collect_settings, note_settings, results_data

    measures = bind_settings(
        settings.to_settings(), [name for each in compare_options.measure for name in each] or ["auc"]
    )
    question = Question(
        compare_options.alternative,  # type: ignore[arg-type]  # click chose it
        compare_options.margin,
        compare_options.level,
        compare_options.method,
    )
    threshold_list = [each for several in compare_options.threshold for each in several]
    if threshold_list:
        _check_thresholds(reading, compare_options, measures)
    read = _read_models(reading, compare_options, quiet=output.quiet)
    cuts = _thresholds_by_model(threshold_list, [name for name in read.score if name != reading.predicted])
    comparisons = compared(read, measure=measures, threshold=cuts, question=question, seed=compare_options.seed)
    measure_settings = collect_settings(measures)
    head = results_data(read.tallies(), list(note_settings(measure_settings))) | {"seed": compare_options.seed}
    results = tabulate_comparisons(comparisons, head | ({"settings": measure_settings} if measure_settings else {}))
    print_notes(reading, results.data, output)
    print_results(results, lambda: compare_page(results, reading, output.digits), output)


def _read_models(reading: Reading, compare_options: CompareOptions, *, quiet: bool) -> "Rows":
    if compare_options.id_ is None:
        several = any(name.endswith("*") for name in reading.score)  # what a name begins with may name many
        if len(reading.score) + bool(reading.predicted) == 1 and not several:
            raise click.UsageError("it takes two models to compare: repeat --score, or join two files with --id.")
        return read_rows(reading, quiet=quiet, cluster=compare_options.cluster)
    if len(reading.file) == 1:
        raise click.UsageError("--id joins several files, and this is one; name the other, or leave --id out.")
    from baserate import read

    parts = {
        name: read_rows(
            replace(reading, file=(file,)), quiet=quiet, id=compare_options.id_, cluster=compare_options.cluster
        )
        for name, file in _name_files(reading.file).items()
    }
    return read.join(parts, missing="drop" if reading.missing == "drop" else "refuse")


def _name_files(files: Sequence[str]) -> dict[str, str]:
    """Files by their names without endings, or by their paths where those are the same."""
    short = [PurePath(file).stem for file in files]
    by_name = dict(zip(short if len(set(short)) == len(short) else files, files, strict=True))
    if len(by_name) < len(files):
        raise click.UsageError("a file is named twice; a model differs from itself by nothing.")
    return by_name


def _check_thresholds(reading: Reading, compare_options: CompareOptions, measures: Sequence["Measure"]) -> None:
    """Refuse thresholds that no measure would use."""
    from baserate import Counts
    from baserate.measure import describe

    if not any(describe(measure).of is Counts for measure in measures):
        named = ", ".join(describe(measure).name for measure in measures)
        raise click.UsageError(
            f"--threshold is for measures of decisions, not for {named}; leave it out, or name one with --measure, "
            "such as accuracy."
        )
    if compare_options.id_ and reading.predicted:
        raise click.UsageError(
            "--threshold would cut the labels of --predicted too, which are joined as scores of 0 and 1; leave out one "
            "of them."
        )


def _thresholds_by_model(given: Sequence[float], models: Sequence[str]) -> float | Mapping[str, Any] | None:
    if len(given) <= 1:
        return given[0] if given else None
    if len(given) != len(models):
        raise click.UsageError(
            f"{there_are(len(given), 'threshold')} for {count_of(len(models), 'score')}; "
            "give one for all, or one for each."
        )
    return dict(zip(models, given, strict=True))
