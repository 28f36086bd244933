"""`baserate compare`: read models on the same rows, compare."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import click

from baserate._domains import MARGIN
from baserate._formatting import count_of, there_are
from baserate.cli._ask import answer, explain, rows
from baserate.cli._options import (
    Number,
    Reading,
    Verb,
    Writing,
    bundled,
    command,
    complete_two_class,
    level,
    names,
    reading,
    thresholds,
    writing,
)
from baserate.cli._settings import Stated, bind_settings, stated

if TYPE_CHECKING:
    from baserate._rows import Rows
    from baserate.measure import Measure

_EXAMPLES = (
    ("which of two scores ranks better?", "baserate compare people.csv --truth sick --score risk --score old"),
    (
        "is the new one no more than 0.02 worse?",
        "baserate compare people.csv --truth sick --score new --score old --alternative better --margin 0.02",
    ),
    (
        "decisions at a threshold, three measures",
        "baserate compare people.csv --truth sick --score risk --score old --measure accuracy,f1,mcc --threshold 0.3",
    ),
    (
        "what decisions cost, if a missed positive is as bad as twenty false alarms",
        "baserate compare people.csv --truth sick --score risk --score old --measure expected_cost --fp 1 --fn 20",
    ),
    ("two files, joined by a column", "baserate compare new.csv old.csv --id patient --truth sick --score risk"),
    (
        "several rows of each patient",
        "baserate compare people.csv --truth sick --score risk --score old --cluster patient",
    ),
)


@dataclass(frozen=True, slots=True)
class Comparing:
    """What to compare by, and what is asked."""

    measure: tuple[tuple[str, ...], ...]
    threshold: tuple[tuple[float, ...], ...]
    alternative: str
    margin: float
    method: str | None
    level: float
    seed: int
    id_: str | None
    cluster: str | None


def _comparing(verb: Verb) -> Verb:
    return bundled(verb, Comparing, "comparing", _COMPARING)


_METHODS = ("delong", "resample", "mcnemar-exact", "mcnemar-mid-p", "mcnemar", "mcnemar-corrected")
_COMPARING = (
    click.option(
        "--measure",
        type=names,
        metavar="NAMES",
        shell_complete=complete_two_class,
        multiple=True,
        help="Measures by any of their names, separated by commas; otherwise auc.",
    ),
    click.option(
        "--threshold",
        type=thresholds,
        metavar="NUMBERS",
        multiple=True,
        help="Flag scores at or above it: one for all scores, or one for each with commas. Otherwise 0.5 if scores are "
        "probabilities.",
    ),
    click.option(
        "--alternative",
        type=click.Choice(["two-sided", "greater", "less", "better"]),
        default="two-sided",
        show_default=True,
        help="What p is evidence for: a difference; or that the first is greater, less, or better than the second.",
    ),
    click.option(
        "--margin",
        type=Number(MARGIN),
        default=0.0,
        show_default=True,
        help="How much worse the first may be, with a one-sided alternative: non-inferiority.",
    ),
    click.option("--method", type=click.Choice(_METHODS), help="How to test; otherwise what fits the measure."),
    click.option(
        "--level", type=level, metavar="SHARE", default="0.95", show_default=True, help="Confidence of the interval."
    ),
    click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The same gives the same."),
    click.option("--id", "id_", metavar="COLUMN", help="Column that names rows, to join several files by."),
    click.option("--cluster", metavar="COLUMN", help="Column of what rows belong to, if they are not independent."),
)


@command("compare", examples=_EXAMPLES)
@reading
@_comparing
@stated
@writing
def compare(reading: Reading, comparing: Comparing, stated: Stated, writing: Writing) -> None:
    """Compare models on the same rows: the difference of a measure, its interval, and a p-value.

    Every pair is compared, the first less the second. Several comparisons have Holm-adjusted p-values, too. Two files
    with --id hold one model each; without it, several files are one table. Expected costs need what errors cost,
    --fp and --fn; net benefit needs --net-benefit-at.
    """
    from baserate.cli._differences import page
    from baserate.infer import Question, compare as compared, tidy
    from baserate.measure import header, settings_notes, settings_of

    measures = bind_settings(stated.settings, [name for each in comparing.measure for name in each] or ["auc"])
    question = Question(
        comparing.alternative,  # type: ignore[arg-type]  # click chose it
        comparing.margin,
        comparing.level,
        comparing.method,
    )
    given = [each for several in comparing.threshold for each in several]
    if given:
        _check_use(reading, comparing, measures)
    read = _read(reading, comparing, quiet=writing.quiet)
    cuts = _cuts(given, [name for name in read.score if name != reading.predicted])
    found = compared(read, measure=measures, threshold=cuts, question=question, seed=comparing.seed)
    settings = settings_of(measures)
    head = header(read.tallies(), list(settings_notes(settings))) | {"seed": comparing.seed}
    results = tidy(found, head | ({"settings": settings} if settings else {}))
    explain(reading, results.data, writing)
    answer(results, lambda: page(results, reading, writing.digits), writing)


def _read(asked: Reading, comparing: Comparing, *, quiet: bool) -> "Rows":
    if comparing.id_ is None:
        several = any(name.endswith("*") for name in asked.score)  # what a name begins with may name many
        if len(asked.score) + bool(asked.predicted) == 1 and not several:
            raise click.UsageError("it takes two models to compare: repeat --score, or join two files with --id.")
        return rows(asked, quiet=quiet, cluster=comparing.cluster)
    if len(asked.file) == 1:
        raise click.UsageError("--id joins several files, and this is one; name the other, or leave --id out.")
    from baserate import read

    parts = {
        name: rows(replace(asked, file=(file,)), quiet=quiet, id=comparing.id_, cluster=comparing.cluster)
        for name, file in _named(asked.file).items()
    }
    return read.joined(parts, missing="drop" if asked.missing == "drop" else "refuse")


def _named(files: Sequence[str]) -> dict[str, str]:
    """Files by their names without endings, or by their paths where those are the same."""
    short = [PurePath(file).stem for file in files]
    found = dict(zip(short if len(set(short)) == len(short) else files, files, strict=True))
    if len(found) < len(files):
        raise click.UsageError("a file is named twice; a model differs from itself by nothing.")
    return found


def _check_use(asked: Reading, comparing: Comparing, measures: Sequence["Measure"]) -> None:
    """Refuse thresholds that would not be used, or not as they are meant."""
    from baserate import Counts
    from baserate.measure import about

    if not any(about(measure).of is Counts for measure in measures):
        named = ", ".join(about(measure).name for measure in measures)
        raise click.UsageError(
            f"--threshold is for measures of decisions, not for {named}; leave it out, or name one with --measure, "
            "such as accuracy."
        )
    if comparing.id_ and asked.predicted:
        raise click.UsageError(
            "--threshold would cut the labels of --predicted too, which are joined as scores of 0 and 1; leave out one "
            "of them."
        )


def _cuts(given: Sequence[float], models: Sequence[str]) -> float | Mapping[str, Any] | None:
    if len(given) <= 1:
        return given[0] if given else None
    if len(given) != len(models):
        raise click.UsageError(
            f"{there_are(len(given), 'threshold')} for {count_of(len(models), 'score')}; "
            "give one for all, or one for each."
        )
    return dict(zip(models, given, strict=True))
