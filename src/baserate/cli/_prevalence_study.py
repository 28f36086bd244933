"""`baserate prevalence-study`: errors of prevalence estimators on samples of a labelled test set, and its page."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click

from baserate._domains import POINTS, REPEATS, ROWS
from baserate._formatting import count_of, format_count, format_level
from baserate.cli._declarations import Output, command, missing_option, omit, option
from baserate.cli._io import print_messages, print_results, read_tallies
from baserate.cli._measure import Classes, read_classes
from baserate.cli._options import ClassScores, FileNames, Level, Reading, Seed
from baserate.cli._prevalence import complete_estimator
from baserate.cli._terminal import progress_bar
from baserate.cli._values import read_names, whole_number
from baserate.text import Cell, CellFormatter, CellWriter, Explanation, Page, TidyRow, describe_files, list_table

if TYPE_CHECKING:
    from baserate._results import Results

_TEST = "test.csv --truth sick --score risk --validation old.csv"
_EXAMPLES = f"""
# compare the usual estimators at prevalences from 0 to 1
baserate prevalence-study {_TEST}
# some methods on samples of 200 rows
baserate prevalence-study {_TEST} --methods acc,kdey-hd,ms --size 200
# random rows of the test set, all numbers in a file
baserate prevalence-study {_TEST} --protocol npp -o study.csv
# several classes, a probability for each
baserate prevalence-study pets-test.csv --truth is --scores p_ --validation pets.csv --protocol upp
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyOptions(ClassScores):
    """Options of a quantification study: validation data, methods, and the samples."""

    validation: Annotated[FileNames, "Labelled validation data with the same columns; may be repeated."] = ()
    methods: Annotated[
        tuple[str, ...],
        option(
            type=read_names,
            metavar="METHODS",
            shell_complete=complete_estimator,
            default="binned,mlls,acc,pacc,dys,kdey-hd,ms; of several classes gmm,mlls,acc,pacc,kdey-cs",
        ),
        "Estimators, with commas; `baserate list estimators` lists them.",
    ] = ()
    protocol: Annotated[
        Literal["app", "upp", "npp"],
        option(help="Samples at prevalences on a grid (app), at random ones (upp), or random rows (npp)."),
    ] = "app"
    size: Annotated[int, option(type=whole_number(ROWS._replace(high=10**7))), "Rows of each sample."] = 500
    prevalences: Annotated[
        int, option(type=whole_number(POINTS)), "Number of equally spaced prevalences of app, from 0 to 1."
    ] = 21
    repeats: Annotated[
        int | None,
        option(type=whole_number(REPEATS), default="10 for app, 100 for upp and npp"),
        "Samples at each prevalence of app; of upp and npp samples.",
    ] = None
    level: Level = 0.95
    seed: Seed = 0

    def __post_init__(self) -> None:
        if self.protocol != "app" and self.prevalences != 21:
            raise click.UsageError(f"--prevalences is the grid of app; leave it out of {self.protocol}.")


@command("prevalence-study", examples=_EXAMPLES)
def prevalence_study(
    reading: Annotated[Reading, omit("predicted", "group")], study: StudyOptions, output: Output
) -> None:
    """Compare prevalence estimators on a labelled test set.

    Estimators are fitted to --validation, and estimate the prevalence of samples of FILE, whose labels they do not get.
    MAE, RAE and KLD are mean errors over samples; the coverage is that of the estimators' intervals.
    """
    from baserate import shift

    if not study.validation:
        raise missing_option("--validation")
    if len(reading.score) != (0 if study.scores else 1):
        raise click.UsageError(
            "a study has one model; give its score with --score, or one of each class with --scores."
        )
    validation, test = (_read_sample(each, study, quiet=output.quiet) for each in _readings(reading, study))
    settings = {name: getattr(study, name) for name in ("protocol", "size", "prevalences", "repeats", "level", "seed")}
    results = shift.quantification_study(
        validation, test, methods=study.methods or None, watch=partial(progress_bar, quiet=output.quiet), **settings
    )
    line = _headline(reading, study, results.data)
    print_messages(line, results.data, output, inferred=False)
    print_results(results, lambda: study_page(results, line, output.digits), output)


def _readings(reading: Reading, study: StudyOptions) -> tuple[Reading, Reading]:
    """Return the options of reading the validation data and the test set."""
    return replace(reading, file=study.validation), reading


def _read_sample(reading: Reading, study: StudyOptions, *, quiet: bool) -> Any:  # noqa: ANN401  (of two classes or several)
    if study.scores:
        return read_classes(reading, Classes(study.scores, study.labels, (), None, None), quiet=quiet)
    tallies = read_tallies(reading, quiet=quiet)
    return tallies.pooled(next(iter(tallies.models)))


def _headline(reading: Reading, study: StudyOptions, data: Mapping[str, Any]) -> str:
    counts = {"sample": data["samples"], "row": data["size"]}
    samples = " of ".join(count_of(many, noun, shown=format_count(many, 4)) for noun, many in counts.items())
    parts = [describe_files(reading.file), f"{data['protocol']}: {samples}"]
    return " · ".join([*parts, f"validation: {describe_files(study.validation)}"])


_HEADINGS = {"mae": "MAE", "rae": "RAE", "kld": "KLD", "bias": "bias", "coverage": "coverage", "width": "width"}
_MEANINGS = (
    "MAE: mean absolute error of the shares",
    "RAE: mean absolute error relative to the share, smoothed by half a row",
    "KLD: mean Kullback–Leibler divergence from the estimated shares, smoothed by half a row",
)


def study_page(results: "Results", line: str, digits: int) -> Page:
    """Return the page: a row for each method, over all samples."""
    format_ = CellFormatter(digits)
    rows = [row for row in results.rows() if row["prevalence"] is None]
    cells = {(row["method"], row["measure"]): row for row in rows}
    measures = list(dict.fromkeys(row["measure"] for row in rows))

    def writer(measure: str) -> Callable[[TidyRow], Cell]:
        def write(row: TidyRow) -> Cell:
            own = cells[row["method"], measure]
            return format_.number(own["value"]) if own["value"] is not None else format_.mark_undefined(own["why"])

        return write

    def error(row: TidyRow) -> Cell:
        return format_.estimate(row)

    columns: dict[str, CellWriter] = {_HEADINGS[name]: writer(name) for name in measures}
    columns[_HEADINGS["mae"]] = error
    lines = [row for row in rows if row["measure"] == "mae"]
    table = list_table(lines, columns, label=lambda row: row["method"], corner="method", aligned=True)
    level = format_level(results.data["level"])
    legend = (
        f"coverage, width: of the {level}% intervals of the estimators",
        *map(Explanation, _MEANINGS),
        Explanation(f"{level}% interval of the MAE: mean over samples, normal."),
    )
    return Page(line, (table,), (*format_.reasons.footnotes(), *legend))
