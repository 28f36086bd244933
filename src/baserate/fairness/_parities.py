"""Parity constraints: the registry of group fairness criteria, and the goal that combines them with costs.

`_ENTRIES` is the only table of parities. One entry adds a parity to disparities, optimization, command line and docs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isnan
from typing import Any

from baserate._arrays import FrozenMapping
from baserate._costs import Costs
from baserate._errors import OptionError, keyword, nearest, unknown_name
from baserate._tally import as_group
from baserate.fairness._objectives import find_objective
from baserate.measure import Measure, find_measure

# The optimizer works in ROC space, so it handles only rates that are linear in (FPR, TPR). Precision and accuracy of a
# mixture of two policies are not the mixture of theirs; parities of such measures can be measured but not enforced.
LINEAR = {rate: rate for rate in ("flag_rate", "sensitivity", "fpr")} | {"fnr": "sensitivity", "specificity": "fpr"}
"""Measure that is linear in ROC space -> the rate that agrees between groups exactly when the measure does."""
NEEDS = {"flag_rate": (), "sensitivity": ("positives",), "fpr": ("negatives",)}
"""Rate -> the classes that a group must have for the rate to be defined."""


@dataclass(frozen=True, slots=True)
class Parity:
    """A group fairness criterion: measures that must agree between all groups."""

    name: str
    """Canonical name, in lower case with hyphens, as files and outputs contain it."""
    measures: tuple[str, ...]
    """Names of the measures that must agree."""
    description: str
    """One-line description of what is equal."""
    limitation: str
    """What the parity does not guarantee."""
    aliases: tuple[str, ...] = ()
    """Other accepted names, such as those of fairlearn and AIF360, in lower case with hyphens."""
    page_id: str | None = None
    """Identifier of the parity on the HTML page of a report; None if the page does not offer it."""

    def __repr__(self) -> str:
        return f"Parity({self.name}: equal {', '.join(self.measures)})"

    @property
    def enforceable(self) -> bool:
        """Whether a choice of thresholds can enforce the parity; otherwise it can only be measured."""
        return all(measure in LINEAR for measure in self.measures)

    @property
    def rates(self) -> tuple[str, ...]:
        """Rates that are equal between groups when the parity holds."""
        return tuple(LINEAR[measure] for measure in self.measures)


# Aliases: constraints of fairlearn's ThresholdOptimizer and reductions, metrics of AIF360, and the usual synonyms.
# AIF360's average odds difference and disparate impact are absent on purpose: an average of differences may be 0
# although odds differ, and a ratio cannot be compared with `within`, which bounds differences.
_ENTRIES = (
    Parity(
        name="demographic-parity",
        aliases=(
            *("statistical-parity", "selection-rate-parity", "flag-rate-parity"),
            *("demographic-parity-difference", "statistical-parity-difference", "independence"),
        ),
        measures=("flag_rate",),
        description="the same share of each group is flagged",
        limitation="whether flagged people are positive: where base rates differ, a perfect predictor violates it",
        page_id="demographic-parity",
    ),
    Parity(
        name="equal-opportunity",
        aliases=(
            *("true-positive-rate-parity", "tpr-parity", "sensitivity-parity", "recall-parity"),
            *("equal-opportunity-difference", "equality-of-opportunity"),
        ),
        measures=("sensitivity",),
        description="the same share of the positives of each group is flagged",
        limitation="the false positive rate",
        page_id="equal-opportunity",
    ),
    Parity(
        name="predictive-equality",
        aliases=("false-positive-rate-parity", "fpr-parity", "false-positive-rate-difference"),
        measures=("fpr",),
        description="the same share of the negatives of each group is flagged",
        limitation="the false negative rate",
    ),
    Parity(
        name="equalized-odds",
        aliases=("eq-odds", "equalized-odds-difference", "separation"),
        measures=("sensitivity", "fpr"),
        description="the same share of the positives, and of the negatives, of each group is flagged",
        limitation="the precision, which differs where base rates do",
        page_id="equalized-odds",
    ),
    Parity(
        name="fnr-parity",
        aliases=("false-negative-rate-parity", "false-negative-rate-difference", "miss-rate-parity"),
        measures=("fnr",),
        description="the same share of the positives of each group is not flagged",
        limitation="the false positive rate",
    ),
    Parity(
        name="tnr-parity",
        aliases=("true-negative-rate-parity", "specificity-parity"),
        measures=("specificity",),
        description="the same share of the negatives of each group is not flagged",
        limitation="the false negative rate",
    ),
    Parity(
        name="predictive-parity",
        aliases=("ppv-parity", "precision-parity", "positive-predictive-value-parity", "outcome-test"),
        measures=("precision",),
        description="the same share of the flagged of each group is positive",
        limitation="sensitivity and false positive rate",
    ),
    Parity(
        name="accuracy-parity",
        aliases=("overall-accuracy-equality", "error-rate-parity", "error-rate-difference"),
        measures=("accuracy",),
        description="the same share of each group is decided correctly",
        limitation="the kind of the errors",
    ),
    Parity(
        name="calibration",
        aliases=("calibration-parity", "calibration-within-groups"),
        measures=("observed_expected",),
        description="the positives of each group are as many as its probabilities add up to",
        limitation="decisions, and single probabilities",
    ),
)
PARITIES: dict[str, Parity] = {entry.name: entry for entry in _ENTRIES}
"""All parities, by canonical name."""


def find_parity(name: str | Parity) -> Parity:
    """Find a parity by its name or by an alias.

    Hyphens, underscores, spaces and capitals do not matter. Names of fairlearn and AIF360 are accepted.

    Parameters
    ----------
    name
        Canonical name or alias; a `Parity` is returned unchanged.

    Returns
    -------
    Parity
        Entry of `PARITIES`.

    Raises
    ------
    UnknownNameError
        If no parity has that name. The message suggests similar names.

    Examples
    --------
    >>> find_parity("Equalized_Odds").measures
    ('sensitivity', 'fpr')
    >>> find_parity("TruePositiveRateParity").name, find_parity("statistical_parity").name
    ('equal-opportunity', 'demographic-parity')
    """
    if isinstance(name, Parity):
        return name
    plain = _normalize_name(name)
    names = {alias: each.name for each in PARITIES.values() for alias in (*each.aliases, each.name)}
    if plain not in names:
        raise unknown_name("parity", name, PARITIES, near=nearest(plain, PARITIES, most=3, cutoff=0.4))
    return PARITIES[names[plain]]


def _normalize_name(name: str) -> str:
    """Write a name in lower case with hyphens; fairlearn's class names are in camel case.

    >>> _normalize_name(" TruePositiveRate_parity")
    'true-positive-rate-parity'
    """
    hyphenated = re.sub(r"(?<=[a-z])(?=[A-Z])|[_ ]", "-", str(name).strip())
    return hyphenated.lower()


def rates_of(parities: Iterable[Parity]) -> tuple[str, ...]:
    """List the rates that several parities require, each once.

    Raises
    ------
    OptionError
        If no choice of thresholds can enforce one of the parities.
    """
    several = list(parities)
    unfit = [each.name for each in several if not each.enforceable]
    if unfit:
        fit = ", ".join(each.name for each in PARITIES.values() if each.enforceable)
        raise OptionError(f"{unfit[0]} can be measured, but not enforced", remedy=f"use one of {fit}.")
    return tuple(dict.fromkeys(rate for each in several for rate in each.rates))


SLACK = 1e-12
"""Excess over a tolerance that counts as rounding: equal rates are computed from sums in different orders."""

NO_COSTS_NOTE = "no costs were stated, so a false positive and a false negative cost 1 each: state yours."


@dataclass(frozen=True, slots=True)
class Goal:
    """What an optimization for several groups aims at: least expected cost, or the best value of a measure.

    Parameters
    ----------
    parity
        Name of a parity, or several names; aliases such as `demographic_parity` are accepted.
    within
        Tolerance: greatest allowed difference of a rate between two groups. 0 requires equality, inf removes the
        constraint. A mapping gives one tolerance for each measure.
    costs
        Costs of the four outcomes.
    prevalence
        Prevalence at deployment, for everybody or for each group; the default is that of the data.
    objective
        Measure of all rows together to maximize in place of the expected cost: accuracy, balanced_accuracy, youden, f1,
        jaccard, fowlkes_mallows, kappa or mcc. The costs are then only reported.

    Examples
    --------
    >>> Goal("equalized-odds", within=0.02).tolerances
    {'sensitivity': 0.02, 'fpr': 0.02}
    >>> Goal(["equal-opportunity", "demographic_parity"], within={"sensitivity": 0.0, "flag_rate": 0.1}).tolerances
    {'sensitivity': 0.0, 'flag_rate': 0.1}
    """

    parity: str | Parity | Sequence[str | Parity] = "equalized-odds"
    within: float | Mapping[str, float] = 0.0
    costs: Costs = Costs()  # noqa: RUF009  (it is immutable)
    prevalence: float | Mapping[Any, float] | None = None
    objective: str | Measure | None = None

    def __post_init__(self) -> None:
        parities = [self.parity] if isinstance(self.parity, str | Parity) else list(self.parity)
        if not parities:
            remedy = f'give one, such as "equalized-odds", with {keyword("within", float("inf"))} for no bound.'
            raise OptionError("there is no parity", remedy=remedy)
        object.__setattr__(self, "parity", tuple(find_parity(each) for each in parities))
        if not isinstance(self.costs, Costs):
            raise OptionError(
                f"costs are {type(self.costs).__name__}; expected baserate.Costs(fp=…, fn=…).",
                option="costs",
                value=self.costs,
            )
        if self.costs.fn < self.costs.tp or self.costs.fp < self.costs.tn:
            what = f"with {self.costs} an error costs less than a correct decision"
            raise OptionError(what, remedy="swap the classes, or correct the costs.")
        if isinstance(self.within, Mapping):
            object.__setattr__(self, "within", FrozenMapping(self.within))
        if isinstance(self.prevalence, Mapping):
            stated = {as_group(key): share for key, share in self.prevalence.items()}
            object.__setattr__(self, "prevalence", FrozenMapping(stated))
        if self.objective is not None:
            object.__setattr__(self, "objective", find_objective(self.objective))
        _ = self.tolerances  # raises for unknown rates and invalid numbers

    @property
    def parities(self) -> tuple[Parity, ...]:
        """Entries of the registry for the names in `find_parity`."""
        resolved: Any = self.parity
        return tuple(resolved)

    @property
    def rates(self) -> tuple[str, ...]:
        """Rates that must agree between groups: some of flag_rate, sensitivity and fpr."""
        return rates_of(self.parities)

    @property
    def tolerances(self) -> dict[str, float]:
        """Greatest allowed difference of each rate between two groups."""
        rates = self.rates
        if not isinstance(self.within, Mapping):
            return dict.fromkeys(rates, _tolerance(self.within))
        bounds = {LINEAR.get(name, name): _tolerance(bound) for name, bound in self.within.items()}
        unknown = [name for name in bounds if name not in rates]
        lacking = [rate for rate in rates if rate not in bounds]
        if unknown or lacking:
            what = f"within has {', '.join(self.within) or 'no rate'}"
            raise OptionError(what, remedy=f"give each of {', '.join(rates)}, or one number for all.")
        return {rate: bounds[rate] for rate in rates}

    @property
    def bounds(self) -> dict[str, float]:
        """Tolerances below 1; larger ones constrain nothing, since rates lie in [0, 1]."""
        return {rate: bound for rate, bound in self.tolerances.items() if bound < 1}

    @property
    def settings(self) -> dict[str, Any]:
        """Parities, tolerances, costs and objective in the form that policy files store."""
        within = self.tolerances
        common = next(iter(within.values())) if len({*within.values()}) == 1 else within
        settings = {"parity": [each.name for each in self.parities], "within": common, "costs": self.costs}
        return settings if self.objective is None else settings | {"objective": self.objective}

    @property
    def measure(self) -> Measure | None:
        """Measure to maximize; None if the goal is the least expected cost."""
        return None if self.objective is None else find_measure(str(self.objective))

    def __repr__(self) -> str:
        names = " and ".join(each.name for each in self.parities)
        costs = ", ".join(f"{cell}={value:g}" for cell, value in asdict(self.costs).items())
        aim = f"costs {costs}" if self.objective is None else f"objective {self.objective}"
        return f"Goal({names} within {self.settings['within']}; {aim})"


def _tolerance(value: object) -> float:
    """Check a tolerance and return it as a float."""
    if isinstance(value, bool) or not isinstance(value, int | float) or isnan(value) or value < 0:
        raise OptionError(f"within is {value!r}; expected a number from 0 to inf.", option="within", value=value)
    return float(value)
