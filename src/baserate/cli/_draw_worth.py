"""Figures of what scores are worth: as probabilities, at costs, at other prevalences, to groups."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import click

from baserate._domains import BINS
from baserate.cli import _benefit, _cost_curve
from baserate.cli._benefit import Acting
from baserate.cli._cost_curve import Costing
from baserate.cli._draw_population import population
from baserate.cli._groups import Looking, completed, glancing
from baserate.cli._intervals import Intervals, closed
from baserate.cli._options import (
    LEVEL,
    Reading,
    Verb,
    bundled,
    command,
    complete_two_class,
    grouped,
    names,
    one_threshold,
    reading,
    scored,
    whole,
)
from baserate.cli._picture import Picture, picture, pictured
from baserate.cli._prices import prevalence as share_of_positives
from baserate.cli._settings import Stated, bind_settings, stated

if TYPE_CHECKING:
    from baserate import infer

CURVES = ("binned", "isotonic", "lowess")
_FILE = "people.csv --truth sick --score risk"


@dataclass(frozen=True, slots=True)
class Binning:
    """How probabilities are put into bins, and how sure bounds are."""

    bins: int | None
    by: Literal["width", "mass"] | None
    level: float

    def drawn(self, **more: Any) -> "infer.Drawn":  # noqa: ANN401  (other settings)
        """What the library is to be asked for."""
        from baserate import infer

        given = {"bins": self.bins, "by": self.by, "level": self.level, **more}
        return infer.Drawn(**{name: value for name, value in given.items() if value is not None})


def _binning(verb: Verb) -> Verb:
    return bundled(verb, Binning, "binning", _BINNING)


_BINNING = (
    click.option("--bins", type=whole(BINS), help="How many bins; 10 if not named."),
    click.option("--by", type=click.Choice(["width", "mass"]), help="Bins of equal width, or with equally many rows."),
    LEVEL,
)


@command(
    "reliability",
    summary="Draw a reliability diagram (calibration curve).",
    examples=(
        ("do 20 % happen of what has a chance of 20 %?", f"baserate draw reliability {_FILE} -o reliability.svg"),
        ("in bins", f"baserate draw reliability {_FILE} --curve binned -o reliability.svg"),
    ),
)
@scored
@click.option(
    "--curve", type=click.Choice(CURVES), help="A curve, or in bins; otherwise isotonic, and binned if bins are told."
)
@click.option(
    "--band",
    type=click.Choice(["consistency", "confidence"]),
    help="Bounds of a curve: of what would be seen if all were right, or around what was seen; otherwise consistency.",
)
@_binning
@picture
def reliability(reading: Reading, curve: Any, band: str | None, binning: Binning, picture: Picture) -> None:  # noqa: ANN401
    """Draw the share that is positive against the predicted probability, with counts below.

    A single score has intervals in bins, or a band around a curve; of several, or of groups, there are lines alone.
    """
    from baserate import draw

    curve = curve or ("binned" if binning.bins or binning.by else "isotonic")
    if curve == "binned" and band:
        raise click.UsageError("--band is for --curve isotonic or --curve lowess; leave it out, or take one of them.")
    if curve != "binned" and (binning.bins or binning.by):
        raise click.UsageError(f"--bins and --by are for bins, which {curve} does without; leave them out.")
    pictured(reading, picture, partial(draw.reliability, what=curve, drawn=binning.drawn(band=band)))


@command(
    "likelihood-ratio",
    summary="Draw the likelihood ratios of the probabilities.",
    examples=(
        (
            "are probabilities right, whatever the prevalence?",
            f"baserate draw likelihood-ratio {_FILE} -o ratios.svg",
        ),
    ),
)
@scored
@_binning
@picture
def likelihood_ratio(reading: Reading, binning: Binning, picture: Picture) -> None:
    """Draw how many times as frequent a probability is among positives as among negatives.

    No prevalence changes these ratios; beside them stand those that the probabilities imply.
    """
    from baserate import draw

    pictured(reading, picture, partial(draw.likelihood_ratio, drawn=binning.drawn()))


@command(
    "decision-curve",
    summary="Draw decision curves (net benefit).",
    examples=(
        ("for whom is it worth using?", f"baserate draw decision-curve {_FILE} -o benefit.svg"),
        ("where 2 % are sick", f"baserate draw decision-curve {_FILE} --prevalence 2% --to 0.2 -o benefit.svg"),
    ),
)
@reading
@_benefit.alone
@closed
@picture
def decision_curve(reading: Reading, acting: Acting, intervals: Intervals, picture: Picture) -> None:
    """Draw net benefit against the probability from which on one would act, beside flagging all and flagging none.

    Thick lines at the bottom tell where a model is worth more than both. Scores must be probabilities; at another
    prevalence they are adjusted to it.
    """
    from baserate import draw

    pictured(reading, picture, partial(draw.decision_curve, **acting.options, level=intervals.sure))


@command(
    "cost-curve",
    summary="Draw cost curves.",
    examples=(
        (
            "where a miss costs 20 false alarms, and 2 % are sick",
            f"baserate draw cost-curve {_FILE} --fp 1 --fn 20 --prevalence 0.02 -o costs.svg",
        ),
        ("what probabilities cost as they are", f"baserate draw cost-curve {_FILE} --kind brier -o brier.svg"),
    ),
)
@reading
@_cost_curve.drawn
@closed
@picture
def cost_curve(reading: Reading, costing: Costing, intervals: Intervals, picture: Picture) -> None:
    """Draw what the best threshold costs, whatever errors cost and however frequent positives are."""
    from baserate import draw

    asked: Any = {"costs": costing.costs, "prevalence": costing.prevalence, "kind": costing.kind}
    pictured(reading, picture, partial(draw.cost_curve, level=intervals.sure, **asked))


@dataclass(frozen=True, slots=True)
class Carried:
    """What decides, what is measured, and where it is marked."""

    threshold: float | None
    measures: tuple[str, ...] | None
    at: float | None
    linear: bool
    level: float


def _carried(verb: Verb) -> Verb:
    return bundled(verb, Carried, "carried", _CARRIED)


def _cutoff(text: str) -> float:
    return one_threshold(text, "draw a figure for each.")


_CARRIED = (
    click.option(
        "--threshold",
        type=_cutoff,
        metavar="NUMBER",
        help="Flag scores at or above it; otherwise 0.5 if scores are probabilities.",
    ),
    click.option(
        "--measures",
        type=names,
        metavar="NAMES",
        shell_complete=complete_two_class,
        help="Measures of decisions, separated by commas; otherwise precision and NPV.",
    ),
    click.option(
        "--at",
        type=share_of_positives,
        metavar="SHARE",
        help="Share of positives where it will be used, such as 0.02 or 2%, to be marked.",
    ),
    click.option("--linear", is_flag=True, help="Prevalences evenly spaced, rather than by their logarithms."),
    LEVEL,
)


@command(
    "prevalence",
    summary="Draw PPV and NPV against the prevalence.",
    examples=(
        (
            "what does a positive result mean where 2 % are sick?",
            f"baserate draw prevalence {_FILE} --threshold 0.3 --at 2% -o prevalence.svg",
        ),
    ),
)
@reading
@_carried
@stated
@picture
def prevalence(reading: Reading, carried: Carried, stated: Stated, picture: Picture) -> None:
    """Draw precision and NPV, or other measures of decisions, against the prevalence."""
    from baserate import draw

    measures = bind_settings(stated.settings, carried.measures or ())
    asked: Any = {"measures": measures} if measures else {}
    asked |= {"threshold": carried.threshold, "at": carried.at, "log": not carried.linear, "level": carried.level}
    pictured(reading, picture, partial(draw.prevalence, **asked))


@command(
    "groups",
    summary="Draw measures by group, with intervals.",
    examples=(
        ("how is each site treated?", f"baserate draw groups {_FILE} --group site -o groups.svg"),
        ("by a policy that was saved", "baserate draw groups new.csv --policy policy.json -o groups.svg"),
    ),
)
@grouped
@glancing
@stated
@picture
def groups(reading: Reading, looking: Looking, stated: Stated, picture: Picture) -> None:
    """Draw measures of everybody and of each group, with intervals, side by side.

    Hollow dots rest on few rows. It says how groups differ, not whether that is right.
    """
    from baserate import draw

    policy, measures = looking.loaded, looking.chosen(stated)  # before reading, so that a slip is told at once
    asked = completed(reading, policy)
    made = partial(draw.groups, threshold=looking.threshold, policy=policy, measures=measures, level=looking.level)
    pictured(asked, picture, made)


WORTH: tuple[click.Command, ...] = (
    *(reliability, likelihood_ratio, decision_curve, cost_curve),
    *(prevalence, groups, population),
)
