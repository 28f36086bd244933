"""Goal: the parity that is wanted, how strictly, and what mistakes cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isnan
from typing import Any

from baserate._costs import Costs
from baserate._errors import OptionError
from baserate._immutable import FrozenMapping
from baserate._tally import as_group
from baserate.equalize._parity import LINEAR, Parity, parity, rates_of

SLACK = 1e-12
"""So far may rates be beyond a bound, since sums differ by rounding alone."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What a choice for several groups shall reach: the least cost that keeps a parity.

    `parity` is a name, or several. `within` is how far the rates of two groups may lie apart: 0 for parity to the last
    digit, inf for none, or one number for each measure. Where the groups will be used at other prevalences,
    `prevalence` is that of everybody, or maps groups to theirs; otherwise it is that of the data.

    >>> Goal("equalized-odds", within=0.02).tolerances
    {'sensitivity': 0.02, 'fpr': 0.02}
    >>> Goal(["equal-opportunity", "demographic-parity"], within={"sensitivity": 0.0, "flag_rate": 0.1}).tolerances
    {'sensitivity': 0.0, 'flag_rate': 0.1}
    """

    parity: str | Parity | Sequence[str | Parity] = "equalized-odds"
    within: float | Mapping[str, float] = 0.0
    costs: Costs = Costs()  # noqa: RUF009  (it is immutable)
    prevalence: float | Mapping[Any, float] | None = None

    def __post_init__(self) -> None:
        given = [self.parity] if isinstance(self.parity, str | Parity) else list(self.parity)
        if not given:
            raise OptionError('no parity is named; give one, such as "equalized-odds", with within=inf for no bound.')
        object.__setattr__(self, "parity", tuple(parity(each) for each in given))
        if not isinstance(self.costs, Costs):
            raise OptionError(
                f"{type(self.costs).__name__} are no costs of two classes; give baserate.Costs(fp=…, fn=…)."
            )
        if self.costs.fn < self.costs.tp or self.costs.fp < self.costs.tn:
            raise OptionError(
                f"with {self.costs} a mistake costs less than being right; call the other class positive, or mend it."
            )
        if isinstance(self.within, Mapping):
            object.__setattr__(self, "within", FrozenMapping(self.within))
        if isinstance(self.prevalence, Mapping):
            stated = {as_group(key): share for key, share in self.prevalence.items()}
            object.__setattr__(self, "prevalence", FrozenMapping(stated))
        _ = self.tolerances  # refuses what cannot be

    @property
    def parities(self) -> tuple[Parity, ...]:
        """The parities themselves."""
        found: Any = self.parity
        return tuple(found)

    @property
    def rates(self) -> tuple[str, ...]:
        """Rates that shall agree: some of flag_rate, sensitivity and fpr."""
        return rates_of(self.parities)

    @property
    def tolerances(self) -> dict[str, float]:
        """How far each rate may differ between groups."""
        rates = self.rates
        if not isinstance(self.within, Mapping):
            return dict.fromkeys(rates, _tolerance(self.within))
        named = {LINEAR.get(name, name): _tolerance(bound) for name, bound in self.within.items()}
        strange = [name for name in named if name not in rates]
        lacking = [rate for rate in rates if rate not in named]
        if strange or lacking:
            raise OptionError(
                f"within is given for {', '.join(self.within) or 'nothing'}; give it for each of {', '.join(rates)}, "
                "or one number for all."
            )
        return {rate: named[rate] for rate in rates}

    @property
    def bounds(self) -> dict[str, float]:
        """Tolerances that bound something: no two rates are more than 1 apart."""
        return {rate: bound for rate, bound in self.tolerances.items() if bound < 1}

    @property
    def told(self) -> dict[str, Any]:
        """What a policy remembers of it, as a file can hold it."""
        within = self.tolerances
        alike = len({*within.values()}) == 1
        return {
            "parity": [each.name for each in self.parities],
            "within": next(iter(within.values())) if alike else within,
            "costs": self.costs,
        }

    def __repr__(self) -> str:
        names = " and ".join(each.name for each in self.parities)
        costs = ", ".join(f"{cell}={value:g}" for cell, value in asdict(self.costs).items())
        return f"Goal({names} within {self.told['within']}; costs {costs})"


def _tolerance(given: object) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or isnan(given) or given < 0:
        raise OptionError(
            f"within is {given!r}; it is how far rates may lie apart, so give a number from 0 up, or inf."
        )
    return float(given)
