"""Options that say which parity is wanted, by which way, and what mistakes cost."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from baserate._domains import FOLDS, REPEATS
from baserate.cli._options import Verb, bundled, complete_two_class, one_threshold, share, whole
from baserate.cli._prices import PRICES, costs_of, each_or_all, prevalences

if TYPE_CHECKING:
    from baserate._policy import Policy
    from baserate._tally import Group, Tallies
    from baserate.equalize import Goal

    Way = Callable[[Tallies, Goal], Policy]

_WAYS = {
    "deterministic": "--deterministic",
    "blind": "--blind",
    "crossing": "--crossing",
    "favour": "--favour",
    "reversal": "--reversal",
}
"""Ways to choose, of which one is taken."""
_FOR = {
    "favourable": "favour",
    "around": "favour",
    "objective": "favour",
    "folds": "held_out",
    "repeats": "held_out",
}
"""Option -> the one that it belongs to."""


@dataclass(frozen=True, slots=True)
class Equalizing:
    """What shall be equal, how strictly, at what costs, and how it is reached."""

    parity: tuple[str, ...]
    fp: float | None
    fn: float | None
    tp: float | None
    tn: float | None
    within: float | dict[str, float]
    prevalence: float | dict[str, float] | None
    deterministic: bool
    blind: bool
    crossing: bool
    favour: tuple[str, ...]
    favourable: str | None
    around: float | None
    objective: str | None
    reversal: bool
    otherwise: str
    frontier: bool
    held_out: bool
    folds: int | None
    repeats: int | None

    def __post_init__(self) -> None:
        for told in self._slips():
            raise click.UsageError(told)

    @property
    def goal(self) -> "Goal":
        """What is wanted, as far as it can be told without data."""
        from baserate import Costs
        from baserate.equalize import Goal

        names = [name for each in self.parity for name in each.split(",")]
        return Goal(names, within=self.within, costs=costs_of(self) or Costs())

    def shares(self, here: "Tallies") -> "float | dict[Group, float] | None":
        """Prevalences that were stated, by the groups that there are."""
        if not isinstance(self.prevalence, dict):
            return self.prevalence
        return {written(name, here): value for name, value in self.prevalence.items()}

    def way(self, here: "Tallies") -> "Way":
        """How to choose."""
        from baserate import equalize

        if self.favour:
            given: dict[str, Any] = {"favourable": self.favourable, "around": self.around, "objective": self.objective}
            favour = [written(each, here) for each in self.favour]
            return partial(equalize.reject_option, favour=favour, otherwise=self.otherwise, **given)
        others = {"deterministic": equalize.deterministic, "blind": equalize.blind, "crossing": equalize.crossing}
        for name, choose in others.items():
            if getattr(self, name):
                return partial(choose, otherwise=self.otherwise)
        return partial(equalize.optimum, otherwise=self.otherwise, reversal=self.reversal)

    def _slips(self) -> Iterator[str]:
        """What says two things, or nothing."""
        ways = [flag for name, flag in _WAYS.items() if getattr(self, name)]
        if len(ways) > 1:
            yield f"{ways[0]} and {ways[1]} are two ways to choose; give one of them."
        for name, owner in _FOR.items():
            if getattr(self, name) is not None and not getattr(self, owner):
                yield f"--{name} is for {_flag(owner)}; give that, too, or leave it out."
        if self.favour and self.favourable is None:
            yield "--favour needs the action that is a favour: --favourable pass, or --favourable flag."


def written(text: str, here: "Tallies") -> "Group":
    """Return the group that is written so; of several attributes, their labels with a stroke between them."""
    from baserate._policy import spellings

    known = {"/".join(labels): group for group in here.groups for labels in product(*map(spellings, group))}
    return known.get(text.strip(), tuple(text.strip().split("/")))


def equalizing(verb: Verb) -> Verb:
    """Add the options that say what shall be equal; the verb gets them as `equalizing`."""
    return bundled(verb, Equalizing, "equalizing", _EQUALIZING)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _tolerance(text: str) -> float:
    if text.strip() in {"inf", "∞"}:
        return math.inf
    told = f"{text!r} is no tolerance; give how far rates may lie apart, such as 0.02 or 2%, or inf."
    return share(text, told, ends=True)


def _within(text: str) -> float | dict[str, float]:
    return each_or_all(text, _tolerance)


def _around(text: str) -> float:
    return one_threshold(text, "a band lies around one.")


def _complete(_context: click.Context, _option: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from baserate.equalize import PARITIES

    known = (each for each in PARITIES.values() if each.reachable and each.name.startswith(incomplete))
    return [CompletionItem(each.name, help=each.promise) for each in known]


_EQUALIZING = (
    click.option(
        "--parity",
        multiple=True,
        required=True,
        metavar="NAME",
        shell_complete=_complete,
        help="What shall be equal: equalized-odds, equal-opportunity, predictive-equality, demographic-parity, "
        "fnr-parity or tnr-parity; may be repeated.",
    ),
    *PRICES,
    click.option(
        "--within",
        type=_within,
        metavar="NUMBER",
        default="0",
        show_default=True,
        help="How far the rates of two groups may lie apart, inf for no bound; or one for each rate, such as "
        "sensitivity=0.02,fpr=0.05.",
    ),
    click.option(
        "--prevalence",
        type=prevalences,
        metavar="SHARE",
        help="Choose for where so many are positive, such as 2%, or for each group, such as 'f=2%,m=3%'; of several "
        "columns, 'f/north=2%'.",
    ),
    click.option("--deterministic", is_flag=True, help="Take one threshold for each group, and no lots."),
    click.option("--blind", is_flag=True, help="Take one threshold for everybody, so that no group is asked for."),
    click.option("--crossing", is_flag=True, help="Take the point where the ROC curves of two groups cross."),
    click.option(
        "--favour",
        multiple=True,
        metavar="GROUP",
        help="Reject option: in a band of doubtful scores, decide in favour of this group; may be repeated.",
    ),
    click.option("--favourable", type=click.Choice(["pass", "flag"]), help="What is a favour, with --favour."),
    click.option("--around", type=_around, metavar="NUMBER", help="Middle of that band; otherwise what suits best."),
    click.option(
        "--objective",
        metavar="MEASURE",
        shell_complete=complete_two_class,
        help="Measure by which that band is chosen; otherwise the least cost.",
    ),
    click.option("--reversal", is_flag=True, help="Let scores below a threshold be flagged, where that is better."),
    click.option(
        "--otherwise",
        type=click.Choice(["refuse", "pass", "flag", "refer"]),
        default="refuse",
        show_default=True,
        help="What to do with groups that nothing can be made equal in, and with unknown ones.",
    ),
    click.option("--frontier", is_flag=True, help="Also tell what the parity costs at every tolerance."),
    click.option("--held-out", is_flag=True, help="Also tell how far the parity holds on rows that had no part in it."),
    click.option("--folds", type=whole(FOLDS), metavar="NUMBER", help="Parts for --held-out; otherwise 5."),
    click.option(
        "--repeats", type=whole(REPEATS), metavar="NUMBER", help="How often to deal them anew; otherwise once."
    ),
)
