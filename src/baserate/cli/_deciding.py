"""Options that say how to choose a cut-off, and the rule that they make."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from baserate._domains import DRAWS, FOLDS
from baserate._errors import OptionError
from baserate._formatting import count_of
from baserate.cli._options import Verb, bundled, complete_two_class, names, numbers, one_threshold, share, whole
from baserate.cli._prices import CELLS, PRICES, costs_of, prevalence, price
from baserate.cli._settings import BETA, NET_BENEFIT_AT

if TYPE_CHECKING:
    from baserate._costs import Costs
    from baserate.decide import Choose, Trial
    from baserate.measure import Measure, Settings

_RULES = (
    *("youden", "closest", "balanced", "break-even", "best", "cost", "require", "capacity", "bands", "abstain"),
    "fixed",
)
_FOR = {
    "require": ("require",),
    "capacity": ("capacity",),
    "abstain_cost": ("abstain",),
    "coverage": ("abstain",),
    "bands": ("bands",),
    "band_shares": ("bands",),
    "band_risks": ("bands",),
    "band_names": ("bands",),
    "threshold": ("fixed",),
    "maximize": ("best", "require"),
    "minimize": ("best", "require"),
}
"""Option -> rules that it is for; the first option that is given says which rule is meant, by the first of them."""
_EDGES = ("bands", "band_shares", "band_risks")
_NEEDS = {
    "best": (("maximize", "minimize"), "a measure: --maximize f1, or --minimize fpr"),
    "cost": (CELLS, "what errors cost: --fp 1 --fn 20"),
    "require": (("require",), "what must be kept: --require 'specificity >= 0.9'"),
    "capacity": (("capacity",), "how many can be flagged: --capacity 100, or --capacity 10%"),
    "bands": (_EDGES, "edges: --bands 0.1,0.3, --band-shares 10%,20% or --band-risks 0.05,0.2"),
    "abstain": (("abstain_cost", "coverage"), "the price of referring a case, --abstain-cost 0.1, or --coverage 80%"),
    "fixed": (("threshold",), "the cut-off: --threshold 0.5"),
}
"""Rule -> options of which it needs one, and what to say without any."""
_UNFOLDED = {"bands": "bands have no 2×2 table to be judged by", "fixed": "this one is as given"}
"""Rule -> why folds say nothing about it."""
_SINGLE = (("maximize", "minimize"), ("abstain_cost", "coverage"), *zip(_EDGES, (*_EDGES[1:], _EDGES[0]), strict=True))
"""Pairs that say two different things."""


@dataclass(frozen=True, slots=True)
class Deciding:
    """What to choose by, at what costs, and where."""

    rule: str | None
    fp: float | None
    fn: float | None
    tp: float | None
    tn: float | None
    prevalence: float | None
    require: tuple[str, ...]
    maximize: str | None
    minimize: str | None
    capacity: tuple[str, float] | None
    abstain_cost: float | None
    coverage: float | None
    bands: tuple[float, ...] | None
    band_shares: tuple[float, ...] | None
    band_risks: tuple[float, ...] | None
    band_names: tuple[str, ...] | None
    threshold: float | None
    measures: tuple[tuple[str, ...], ...]
    net_benefit_at: float | None
    beta: float | None
    draws: int | None
    folds: int | None
    judge_on: tuple[str, ...]

    def __post_init__(self) -> None:
        for told in (*self._idle(), *self._lacking(), *self._unclear()):
            raise click.UsageError(told)

    @property
    def taken(self) -> str:
        """The rule that was named, otherwise the one that its options mean."""
        meant = [rules[0] for name, rules in _FOR.items() if self._has(name)]
        return self.rule or next(iter(meant), "cost" if self.priced else "youden")

    @property
    def priced(self) -> bool:
        """Whether costs were given."""
        return any(map(self._has, CELLS))

    @property
    def costs(self) -> "Costs | None":
        """Costs, if any of them were given."""
        return costs_of(self)

    @property
    def settings(self) -> "Settings":
        """Numbers that measures depend on."""
        from baserate.measure import Settings

        return Settings(self.costs, self.net_benefit_at, self.beta)

    @property
    def trial(self) -> "Trial":
        """How the choice is checked."""
        from baserate.decide import Trial

        given = {"draws": self.draws, "folds": self.folds}
        return Trial(**{name: value for name, value in given.items() if value is not None})

    @property
    def choose(self) -> "Choose":
        """The rule with its options, which are checked as far as they can be without data."""
        from baserate.decide import RULES

        options = {name: value for name, value in self._options().items() if value is not None}
        return partial(RULES[self.taken], **options) if options else RULES[self.taken]

    @property
    def asked(self) -> "list[Measure] | None":
        """Measures of decisions, each once; None for the usual ones."""
        from baserate import Counts
        from baserate.measure import MEASURES, about, named

        typed = [name for each in self.measures for name in each]
        if "all" in typed:
            return [self.settings.apply(each) for each in MEASURES.values() if about(each).of is Counts]
        found = [*{about(named(name)).name: self._stated(named(name)) for name in typed}.values()]
        unfit = [about(each).name for each in found if about(each).of is not Counts]
        if unfit:
            raise OptionError(f"{unfit[0]} does not depend on the cut-off; `baserate measure` measures it.")
        return found or None

    def _options(self) -> dict[str, Any]:
        """Options of the rule as the library calls them."""
        from baserate.decide import requirements

        given: dict[str, dict[str, Any]] = {
            "best": {
                "measure": self._objective(self.minimize if self.maximize is None else self.maximize),
                "toward": "low" if self.maximize is None else "high",
            },
            "cost": {"costs": self.costs},
            "require": {
                "require": tuple(
                    replace(each, measure=self._stated(each.measure))
                    for text in self.require
                    for each in requirements(text, of_decisions=True)
                ),
                "maximize": self._objective(self.maximize),
                "minimize": self._objective(self.minimize),
            },
            "capacity": dict([self.capacity]) if self.capacity else {},
            "bands": {
                "thresholds": self.bands,
                "shares": self.band_shares,
                "risks": self.band_risks,
                "names": self.band_names,
            },
            "abstain": {"costs": self.costs, "refer": self.abstain_cost, "coverage": self.coverage},
            "fixed": {"threshold": self.threshold},
        }
        return given.get(self.taken, {})

    def _objective(self, name: str | None) -> "Measure | None":
        """Find what is to be made best; a cost is at the costs that were given."""
        if name is None:
            return None
        from baserate.decide import objective
        from baserate.measure import expected_cost

        cost = name.strip().lower() == "cost"
        return self._stated(expected_cost if cost else objective(name, "high")[0])

    def _stated(self, measure: "Measure") -> "Measure":
        """Bind the numbers that a measure depends on, and refuse one that lacks them."""
        from baserate.cli._settings import refuse_unstated

        found = self.settings.apply(measure)
        refuse_unstated([found])
        return found

    @property
    def _used(self) -> set[str]:
        """Numbers besides costs that measures which are named depend on."""
        from baserate.decide import requirements
        from baserate.measure import MEASURES, named, option_of

        typed = [name for each in self.measures for name in each]
        found = [*MEASURES.values()] if "all" in typed else [named(name) for name in typed]
        found += [named(name) for name in (self.maximize, self.minimize) if name and name.strip().lower() != "cost"]
        found += [each.measure for text in self.require for each in requirements(text)]
        return {{"at": "net_benefit_at"}.get(name, name) for each in found if (name := option_of(each))}

    def _has(self, name: str) -> bool:
        return getattr(self, name) not in (None, ())

    def _idle(self) -> Iterator[str]:
        """Options that the rule has no use for."""
        for name, rules in _FOR.items():
            if self._has(name) and self.taken not in rules:
                yield (
                    f"{_flag(name)} is for the rule {' or '.join(rules)}, and the rule is {self.taken}; leave it out, "
                    f"or take --rule {rules[0]}."
                )
        if self.taken == "bands" and self.priced:
            given = next(filter(self._has, CELLS))
            yield f"{_flag(given)} is for decisions to flag or pass, and bands are neither; leave it out."
        for name in ("net_benefit_at", "beta"):
            if self._has(name) and name not in self._used:
                yield f"{_flag(name)} is for measures that depend on it, and none is named here; leave it out."
        if self.folds is not None and self.taken in _UNFOLDED:
            yield f"--folds is for a cut-off that is chosen, and {_UNFOLDED[self.taken]}; leave it out."

    def _lacking(self) -> Iterator[str]:
        """What the rule cannot do without."""
        names, remedy = _NEEDS.get(self.taken, ((), ""))
        if names and not any(map(self._has, names)):
            yield f"the rule {self.taken} needs {remedy}."

    def _unclear(self) -> Iterator[str]:
        """What says two things, or cannot be."""
        for one, other in _SINGLE:
            if self._has(one) and self._has(other):
                yield f"{_flag(one)} and {_flag(other)} say two different things; give one of them."
        if (self.maximize or self.minimize or "").strip().lower() == "cost" and (self.maximize or not self.priced):
            yield "a cost is made least, at costs that you give; for example: --minimize cost --fp 1 --fn 20."
        if self.prevalence is not None and self.capacity and self.capacity[0] == "at_most":
            yield "at another prevalence rows are no longer counted; give a share instead, such as --capacity 10%."
        if self.folds is not None and self.capacity and self.capacity[0] == "at_most":
            yield "without a fold there are fewer rows to count; give a share instead, such as --capacity 10%."
        for name in ("bands", "band_risks"):
            edges = getattr(self, name) or ()
            if list(edges) != sorted(set(edges)):
                yield f"{_flag(name)} must ascend, each edge once."
        edges = next((getattr(self, name) for name in _EDGES if self._has(name)), ())
        if self.band_names and len(set(self.band_names)) != len(edges) + 1:
            yield (
                f"--band-names must be {len(edges) + 1} different ones, "
                f"lowest band first, for {count_of(len(edges), 'edge')}."
            )


def deciding(verb: Verb) -> Verb:
    """Add the options that say how to choose; the verb gets them as `deciding`."""
    return bundled(verb, Deciding, "deciding", _DECIDING)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _single(text: str) -> float:
    return one_threshold(text, f"several make bands: --bands {text}")


def _coverage(text: str) -> float:
    return share(
        text, f"{text!r} is no share of cases to be decided; give one between 0 and 1, both excluded, such as 80%."
    )


def _shares(text: str) -> tuple[float, ...]:
    """Read shares, separated by commas."""
    slip = f"{text!r} are no shares between 0 and 1, such as 0.1,0.2 or 10%,20%."
    return tuple(share(part, slip) for part in text.split(","))


def _few(text: str) -> tuple[float, ...]:
    """Read shares of everybody, which leave somebody for the lowest band."""
    found = _shares(text)
    if math.fsum(found) >= 1:
        raise click.BadParameter(f"the shares add up to {math.fsum(found):.6g}; leave some for the lowest band.")
    return found


def _called(text: str) -> tuple[str, ...]:
    """Read names of bands."""
    found = tuple(part.strip() for part in text.split(","))
    if not all(found):
        raise click.BadParameter(f"{text!r} has a band without a name; give each one.")
    return found


def _capacity(text: str) -> tuple[str, float]:
    """Read how many can be flagged: per cent and numbers below 1 are shares, others rows.

    >>> _capacity("10%"), _capacity("0.1"), _capacity("250")
    (('share', 0.1), ('share', 0.1), ('at_most', 250.0))
    """
    bare = text.strip().removesuffix("%")
    try:
        found = float(bare) / (100 if bare != text.strip() else 1)
    except ValueError:
        found = math.nan
    shared = bare != text.strip() or found < 1
    if not 0 < found < math.inf or (shared and found > 1):
        raise click.BadParameter(f"{text!r} is no capacity; give rows, such as 100, or a share, such as 10% or 0.1.")
    return ("share" if shared else "at_most", found)


def _complete_goal(context: click.Context, option: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of one measure of decisions."""
    from baserate import Counts
    from baserate.measure import MEASURES, about

    goals = [each for each in complete_two_class(context, option, incomplete) if "," not in each.value]
    known = [each for each in goals if about(MEASURES[each.value]).of is Counts]
    return [*known, *[CompletionItem("cost", help="What --fp and --fn say.")] * "cost".startswith(incomplete)]


_DECIDING = (
    click.option(
        "--rule",
        type=click.Choice(_RULES),
        help="How to choose; otherwise what the options mean: costs mean cost, --require require, --maximize best, and "
        "so on; without any of them, youden.",
    ),
    *PRICES,
    click.option(
        "--prevalence",
        type=prevalence,
        metavar="SHARE",
        help="Choose for where so many are positive, such as 0.02 or 2%; otherwise for these rows.",
    ),
    click.option(
        "--require",
        multiple=True,
        metavar="TEXT",
        help="What must be kept, such as 'specificity >= 0.9, precision >= 30%'; may be repeated.",
    ),
    click.option(
        "--maximize",
        metavar="MEASURE",
        shell_complete=_complete_goal,
        help="Measure of decisions to make greatest; with --require, otherwise youden.",
    ),
    click.option(
        "--minimize",
        metavar="MEASURE",
        shell_complete=_complete_goal,
        help="Measure to make least; cost is what --fp and --fn say.",
    ),
    click.option(
        "--capacity",
        type=_capacity,
        metavar="NUMBER",
        help="Flag at most so many rows; a number below 1, or with %, is a share: 0.1 and 10% are the top tenth.",
    ),
    click.option(
        "--abstain-cost",
        type=price,
        metavar="COST",
        help="What it costs to refer a case to somebody else; what costs least is chosen.",
    ),
    click.option(
        "--coverage", type=_coverage, metavar="SHARE", help="Decide at least so many, such as 80%, and refer the rest."
    ),
    click.option("--bands", type=numbers, metavar="NUMBERS", help="Edges of bands as scores, such as 0.1,0.3."),
    click.option(
        "--band-shares",
        type=_few,
        metavar="SHARES",
        help="Bands by how many they may hold, highest first: 10%,20% are the top tenth, the next fifth, and the rest.",
    ),
    click.option(
        "--band-risks",
        type=_shares,
        metavar="SHARES",
        help="Bands by risk: 0.05,0.2 begin where so many are positive.",
    ),
    click.option("--band-names", type=_called, metavar="NAMES", help="What bands are called, lowest first."),
    click.option("--threshold", type=_single, metavar="NUMBER", help="A cut-off that is fixed already, to be judged."),
    click.option(
        "--measures",
        type=names,
        metavar="NAMES",
        shell_complete=complete_two_class,
        multiple=True,
        help="Measures of decisions by any of their names, separated by commas, or all; otherwise the usual ones.",
    ),
    NET_BENEFIT_AT,
    BETA,
    click.option(
        "--draws",
        type=whole(DRAWS._replace(low=0)),
        metavar="NUMBER",
        help="Samples that tell how sure the cut-off is; 0 leaves that out. Otherwise 1000.",
    ),
    click.option(
        "--folds",
        type=whole(FOLDS),
        metavar="NUMBER",
        help="Also choose without each of so many parts of the rows, and judge it by what was chosen without it.",
    ),
    click.option(
        "--judge-on",
        multiple=True,
        type=click.Path(allow_dash=True),
        metavar="FILE",
        help="Other rows, with the same columns, to judge the choice by.",
    ),
)
