"""Figures of how well scores tell the classes apart."""

from dataclasses import dataclass
from functools import partial

import click

from baserate._domains import BINS
from baserate.cli._marking import Marking, marking, marking_together, marks_alone
from baserate.cli._options import (
    Reading,
    Verb,
    alone,
    bundled,
    command,
    complete_two_class,
    names,
    or_none,
    reading,
    whole,
)
from baserate.cli._picture import Picture, picture, pictured
from baserate.cli._prices import PRICES, costs_of, prevalence
from baserate.cli._settings import Stated, bind_settings, stated


@dataclass(frozen=True, slots=True)
class Roc:
    """What is drawn beside a ROC curve."""

    no_hull: bool
    prevalence: float | None
    fp: float | None
    fn: float | None
    tp: float | None
    tn: float | None


def _beside(verb: Verb) -> Verb:
    return bundled(verb, Roc, "roc", _ROC)


_ROC = (
    click.option("--no-hull", is_flag=True, help="Leave out the convex hull, which mixtures of thresholds reach."),
    *PRICES,
    click.option(
        "--prevalence", type=prevalence, metavar="SHARE", help="Where costs arise, such as 0.02 or 2%; of ROC alone."
    ),
)
_CARRIED = click.option(
    "--prevalence",
    type=prevalence,
    metavar="SHARE",
    help="Carry everything to this share of positives, such as 0.02 or 2%.",
)


@command(
    "roc",
    summary="Draw the ROC curve.",
    examples=(
        ("a ROC curve", "baserate draw roc people.csv --truth sick --score risk -o roc.svg"),
        (
            "what is cheapest where a miss costs 20 false alarms and 2 % are sick",
            "baserate draw roc people.csv --truth sick --score risk --fp 1 --fn 20 --prevalence 2% -o roc.svg",
        ),
        (
            "a band for the whole curve, and a cut-off",
            "baserate draw roc people.csv --truth sick --score risk --simultaneous --threshold 0.5 -o roc.png",
        ),
    ),
)
@reading
@_beside
@marking_together
@picture
def roc(reading: Reading, roc: Roc, marking: Marking, picture: Picture) -> None:
    """Draw the share of positives who are flagged against that of negatives, at all thresholds.

    The area (AUC) is told with its interval. With costs, a line of equal cost touches the best point of all. Predicted
    labels are a point.
    """
    from baserate import draw

    reading, options = marking.read(reading)
    make = partial(draw.roc, hull=not roc.no_hull, costs=costs_of(roc), prevalence=roc.prevalence, **options)
    pictured(reading, picture, make)


@command(
    "pr",
    summary="Draw the precision–recall curve.",
    examples=(
        ("precision against recall", "baserate draw pr people.csv --truth sick --score risk -o pr.svg"),
        (
            "where 2 % are sick",
            "baserate draw pr people.csv --truth sick --score risk --prevalence 0.02 --threshold 0.5 -o pr.svg",
        ),
    ),
)
@reading
@click.option("--no-iso-f1", is_flag=True, help="Leave out the lines of equal F1.")
@_CARRIED
@marking
@picture
def pr(reading: Reading, no_iso_f1: bool, prevalence: float | None, marking: Marking, picture: Picture) -> None:  # noqa: FBT001  (click's)
    """Draw precision against recall, in the steps that average precision adds up.

    Behind it are lines of equal F1, and the prevalence, which chance would give.
    """
    from baserate import draw

    reading, options = marking.read(reading)
    make = partial(draw.pr, iso_f1=not no_iso_f1, prevalence=prevalence, **options)
    pictured(reading, picture, make, to=prevalence)


@command(
    "scores",
    summary="Draw the score distributions of both classes.",
    examples=(
        (
            "the scores of both classes, and a cut-off",
            "baserate draw scores people.csv --truth sick --score risk --threshold 0.5 -o scores.svg",
        ),
    ),
)
@alone
@click.option("--bins", type=whole(BINS), help="About how many bins; otherwise 10 to 40.")
@marks_alone
@picture
def scores(reading: Reading, bins: int | None, marking: Marking, picture: Picture) -> None:
    """Draw how the scores of positives and of negatives are spread."""
    from baserate import draw

    reading, options = marking.points(reading)
    pictured(reading, picture, partial(draw.scores, bins=bins, **options))


@command(
    "thresholds",
    summary="Draw measures against the threshold.",
    examples=(
        (
            "what is won and lost by moving the threshold",
            "baserate draw thresholds people.csv --truth sick --score risk -o thresholds.svg",
        ),
        (
            "two measures, where 2 % are sick",
            "baserate draw thresholds people.csv --truth sick --score risk --measures ppv,npv --prevalence 2% -o t.svg",
        ),
    ),
)
@alone
@click.option(
    "--measures",
    type=names,
    callback=or_none,
    metavar="NAMES",
    shell_complete=complete_two_class,
    help="Measures of decisions, with commas; otherwise sensitivity, specificity, precision, f1 and flag-rate.",
)
@_CARRIED
@stated
@marking
@picture
def thresholds(
    reading: Reading,
    measures: tuple[str, ...],
    prevalence: float | None,
    stated: Stated,
    marking: Marking,
    picture: Picture,
) -> None:
    """Draw measures of decisions against the threshold from which on a score is flagged."""
    from baserate import draw

    bound = bind_settings(stated.settings, measures)
    reading, options = marking.read(reading)
    carried = {"prevalence": prevalence, **options}
    pictured(reading, picture, lambda read: draw.thresholds(read, *bound, **carried), to=prevalence)


@command(
    "gain",
    summary="Draw the cumulative gain curve.",
    examples=(("who is found first", "baserate draw gain people.csv --truth sick --score risk -o gain.svg"),),
)
@reading
@marking
@picture
def gain(reading: Reading, marking: Marking, picture: Picture) -> None:
    """Draw the share of positives that is found against the share of everybody who is flagged."""
    from baserate import draw

    reading, options = marking.read(reading)
    pictured(reading, picture, partial(draw.gain, **options))


@command(
    "lift",
    summary="Draw the lift curve.",
    examples=(
        ("better than chance, so many times", "baserate draw lift people.csv --truth sick --score risk -o lift.svg"),
    ),
)
@reading
@marking
@picture
def lift(reading: Reading, marking: Marking, picture: Picture) -> None:
    """Draw how many times as many positives are found as by chance."""
    from baserate import draw

    reading, options = marking.read(reading)
    pictured(reading, picture, partial(draw.lift, **options))


RANKS: tuple[click.Command, ...] = (roc, pr, scores, thresholds, gain, lift)
