"""`baserate shift`: read, carry to another prevalence, measure here and there."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import click

from baserate._domains import POINTS
from baserate.cli._ask import answer, explain, tallies
from baserate.cli._classes import Classes, classes, of_labels
from baserate.cli._intervals import Intervals, independent
from baserate.cli._options import (
    THRESHOLD,
    Reading,
    Verb,
    Writing,
    bundled,
    command,
    complete_measures,
    each_once,
    names,
    reading,
    whole,
    writing,
)
from baserate.cli._priors import GAMMAS, Prior, gamma, of_classes, prior
from baserate.cli._settings import Stated, stated

if TYPE_CHECKING:
    from baserate._confusion import Confusions
    from baserate._rows import MulticlassRows
    from baserate._tally import Tallies
    from baserate.measure import Measure

FEW = 25
"""Prevalences that a person wants to read."""

_EXAMPLES = (
    ("where one in fifty is sick", "baserate shift people.csv --truth sick --score risk --to 0.02"),
    (
        "by group, a few measures, for a program",
        "baserate shift people.csv --truth sick --score risk --to 2% --group site --measures npv,brier --json",
    ),
    ("only every tenth negative was kept", "baserate shift sample.csv --truth fraud --score p --under-sampled 10"),
    ("against the prevalence", "baserate shift people.csv --truth sick --score risk --threshold 0.2 --curve"),
    (
        "such a curve, to plot",
        "baserate shift people.csv --truth sick --score risk --curve --measures precision -o curve.csv",
    ),
    (
        "many classes, from labels",
        "baserate shift pets.csv --truth is --predicted called --to cat=0.2,dog=0.7,fish=0.1",
    ),
)


@dataclass(frozen=True, slots=True)
class Shifting:
    """Where to, and what to measure there."""

    to: Prior | None
    gamma: float | None
    under_sampled: float | None
    over_sampled: float | None
    curve: bool
    points: int | None
    threshold: tuple[tuple[float, ...], ...]
    measures: tuple[tuple[str, ...], ...]
    wanted: "list[Measure] | Literal['usual', 'all']"
    """The measures, with the numbers that they depend on."""

    def __post_init__(self) -> None:
        ways = {
            "--to": self.to,
            "--gamma": self.gamma,
            "--under-sampled and --over-sampled": self.over_sampled
            if self.under_sampled is None
            else self.under_sampled,
            "--curve": self.curve or None,
        }
        given = [name for name, value in ways.items() if value is not None]
        if not given:
            raise click.UsageError(
                "where to? Give a prevalence, such as --to 0.02, or --gamma, --under-sampled or --over-sampled; or all "
                "prevalences, with --curve."
            )
        if len(given) > 1:
            raise click.UsageError(f"{given[0]} and {given[1]} both say where to; give one of them.")
        if self.points is not None and not self.curve:
            raise click.UsageError("--points is for a curve; add --curve instead of a prevalence.")
        gamma(self.gamma, self.under_sampled, self.over_sampled)

    @property
    def times(self) -> float | None:
        """γ, if that is how it was asked for."""
        return gamma(self.gamma, self.under_sampled, self.over_sampled)

    @property
    def asked(self) -> list[str]:
        """Names of measures."""
        return [name for each in self.measures for name in each]

    def measured(self, stated: Stated) -> "list[Measure] | Literal['usual', 'all']":
        """Measures with the numbers that they depend on."""
        from baserate.cli._summary import chosen

        return stated.bind(chosen(self.asked))

    @property
    def at(self) -> list[float]:
        """Thresholds, each once."""
        return each_once(self.threshold)


def shifting(verb: Verb) -> Verb:
    """Add the options that say where to; the verb gets them as `shifting`."""
    return bundled(verb, Shifting, "shifting", _SHIFTING, wanted="usual")


_SHIFTING = (
    click.option(
        "--to",
        type=prior,
        metavar="SHARE",
        help="Prevalence there, such as 0.02 or 2%; of many classes a share for each: cat=0.2,dog=0.8.",
    ),
    *GAMMAS,
    click.option("--curve", is_flag=True, help="Tabulate measures of decisions against the prevalence instead."),
    click.option(
        "--points",
        type=whole(POINTS),
        help=f"So many prevalences of a curve, even in log-odds; otherwise 199, and {FEW} at most in tables to read.",
    ),
    THRESHOLD,
    click.option(
        "--measures",
        type=names,
        metavar="NAMES",
        shell_complete=complete_measures,
        multiple=True,
        help="Measures by any of their names, separated by commas, or all; otherwise the usual ones, and of a curve "
        "precision, npv and accuracy.",
    ),
)


@command("shift", examples=_EXAMPLES)
@reading
@classes
@shifting
@stated
@independent
@writing
def shift(
    reading: Reading, classes: Classes, shifting: Shifting, stated: Stated, intervals: Intervals, writing: Writing
) -> None:
    """Carry predictions to another prevalence: every measure here, and there, side by side.

    Classes are taken to look there as they do here, only to be more or less frequent. Decisions are those of the scores
    as given. What scores are worth as probabilities is told as they are, and corrected for the prevalence there, which
    `baserate reprior` does row by row. FILE is a CSV, TSV, Parquet, JSON-lines or Arrow file, a folder or a pattern of
    such files, or - for stdin.
    """
    from baserate import Tallies
    from baserate.cli._classes import known

    many = isinstance(shifting.to, dict)
    if many and (reading.score or reading.positive or reading.negative):
        raise click.UsageError("of two classes, --to is the share of the positive one alone, such as --to 0.02.")
    if not (many or classes.asked or of_labels(reading)):
        wanted = shifting.measured(stated)  # before reading, so that a slip is told at once
        _of_two(tallies(reading, quiet=writing.quiet), reading, replace(shifting, wanted=wanted), intervals, writing)
        return
    from baserate.cli._classes import read_classes, require_costs

    known(shifting.asked)
    found = read_classes(reading, classes, quiet=writing.quiet, alike=many)
    if isinstance(found, Tallies):
        _of_two(found, reading, replace(shifting, wanted=shifting.measured(stated)), intervals, writing)
    else:
        stated.refuse_for_classes()
        require_costs(shifting.asked, classes.costs)
        _of_many(found, reading, classes, shifting, intervals, writing)


def _of_two(read: "Tallies", reading: Reading, shifting: Shifting, intervals: Intervals, writing: Writing) -> None:
    if shifting.curve:
        _tabulated(read, reading, shifting, intervals, writing)
        return
    from baserate import shift as room
    from baserate.cli._shifted import page

    assert not isinstance(shifting.to, dict)  # noqa: S101  (for the type checker)
    found = room.summary(
        read,
        to=shifting.to,
        gamma=shifting.times,
        measures=shifting.wanted,
        threshold=shifting.at or None,
        interval=intervals.chosen,
    )
    explain(reading, found.data, writing)
    answer(found, lambda: page(found, reading, writing.digits), writing)


def _of_many(
    read: "Confusions | MulticlassRows",
    reading: Reading,
    classes: Classes,
    shifting: Shifting,
    intervals: Intervals,
    writing: Writing,
) -> None:
    from baserate import shift as room
    from baserate.cli._classes import averages, costs, known
    from baserate.cli._shifted import class_page

    _check_many(shifting, read.labels)
    assert isinstance(shifting.to, dict)  # noqa: S101  (for the type checker)
    found = room.class_summary(
        read,
        to=of_classes(shifting.to, read.labels),
        measures=known(shifting.asked),
        averages=averages(classes.average, read.labels),
        costs=costs(classes.costs),
        interval=intervals.chosen,
    )
    explain(reading, found.data, writing)
    answer(found, lambda: class_page(found, reading, writing.digits), writing)


def _check_many(shifting: Shifting, labels: Sequence[object]) -> None:
    """Say what is for two classes alone."""
    for name, given in (("--curve", shifting.curve), ("--threshold", shifting.threshold)):
        if given:
            raise click.UsageError(f"{name} is for two classes; here are {len(labels)}: leave it out.")
    if not isinstance(shifting.to, dict):
        shares = ",".join(f"{label}=…" for label in labels[:10]) + (",…" if len(labels) > 10 else "")
        raise click.UsageError(f"here are {len(labels)} classes; give each its share there: --to {shares}")


def _tabulated(read: "Tallies", reading: Reading, shifting: Shifting, intervals: Intervals, writing: Writing) -> None:
    from baserate.cli._against import page, prevalences, tabulated

    if intervals.interval:
        raise click.UsageError("--interval is for one prevalence; the bounds of a curve are what suits each measure.")
    few = shifting.points is None and writing.form in {"table", "md"}
    at = prevalences(shifting.points, few=few)
    named = shifting.asked if isinstance(shifting.wanted, str) else shifting.wanted
    found = tabulated(read, named, at, thresholds=shifting.at, interval=intervals.chosen)
    left_out = ["a few prevalences are shown; --points N shows so many, --format csv 199."] if few else []
    explain(reading, {**found.data, "notes": [*found.data["notes"], *left_out]}, writing)
    answer(found, lambda: page(found, reading, writing.digits), writing)
