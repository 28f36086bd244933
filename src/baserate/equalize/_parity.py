"""Parities by name: which measures must agree between groups, what that promises, and what it does not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from baserate._errors import OptionError, UnknownNameError

LINEAR = {
    "flag_rate": "flag_rate",
    "sensitivity": "sensitivity",
    "fnr": "sensitivity",
    "fpr": "fpr",
    "specificity": "fpr",
}
"""Measures that are the same when two policies are mixed, and the one of the three rates that each goes with."""
NEEDS = {"flag_rate": (), "sensitivity": ("positives",), "fpr": ("negatives",)}
"""Rate -> the class that a group must have, so that it has a rate."""


@dataclass(frozen=True, slots=True)
class Parity:
    """Measures that shall be the same in every group."""

    name: str
    measures: tuple[str, ...]
    promise: str
    """What is equal, in words."""
    silent: str
    """What may still differ."""

    @property
    def reachable(self) -> bool:
        """Whether a choice of thresholds can be made to keep it, here; otherwise it is for measuring."""
        return all(measure in LINEAR for measure in self.measures)

    @property
    def rates(self) -> tuple[str, ...]:
        """The rates that are equal when it holds."""
        return tuple(LINEAR[measure] for measure in self.measures)


PARITIES: dict[str, Parity] = {
    parity.name: parity
    for parity in (
        Parity(
            "demographic-parity",
            ("flag_rate",),
            "the same share of each group is flagged",
            "whether those who are flagged are positive: where base rates differ, even a perfect predictor breaks it",
        ),
        Parity(
            "equal-opportunity",
            ("sensitivity",),
            "of those who are positive, the same share of each group is flagged",
            "how many negatives are flagged in vain",
        ),
        Parity(
            "predictive-equality",
            ("fpr",),
            "of those who are negative, the same share of each group is flagged",
            "how many positives are missed",
        ),
        Parity(
            "equalized-odds",
            ("sensitivity", "fpr"),
            "of positives, and of negatives, the same share of each group is flagged",
            "what a flag means: where base rates differ, so does the precision",
        ),
        Parity(
            "fnr-parity",
            ("fnr",),
            "of those who are positive, the same share of each group is missed",
            "how many negatives are flagged in vain",
        ),
        Parity(
            "tnr-parity",
            ("specificity",),
            "of those who are negative, the same share of each group is passed",
            "how many positives are missed",
        ),
        Parity(
            "predictive-parity",
            ("precision",),
            "of those who are flagged, the same share of each group is positive",
            "how many of the positives are found, and how many negatives are flagged",
        ),
        Parity(
            "accuracy-parity",
            ("accuracy",),
            "the same share of each group is decided rightly",
            "the kind of the mistakes",
        ),
        Parity(
            "calibration",
            ("observed_expected",),
            "as many are positive as the probabilities of each group add up to",
            "what is decided, and whether single probabilities are right",
        ),
    )
}
"""Every parity that there is."""


def parity(name: str | Parity) -> Parity:
    """Return the parity of that name; underscores and capitals do not matter.

    >>> parity("Equalized_Odds").measures
    ('sensitivity', 'fpr')
    """
    if isinstance(name, Parity):
        return name
    plain = str(name).strip().lower().replace("_", "-").replace(" ", "-")
    if plain not in PARITIES:
        near = get_close_matches(plain, PARITIES, n=3, cutoff=0.4)
        hint = f"Did you mean {' or '.join(near)}? " if near else ""
        raise UnknownNameError(f"there is no parity {name!r}. {hint}Known are: {', '.join(PARITIES)}.")
    return PARITIES[plain]


def rates_of(parities: Iterable[Parity]) -> tuple[str, ...]:
    """Rates that parities ask for together, each once; one that no choice of thresholds can keep is refused."""
    several = list(parities)
    unfit = [each.name for each in several if not each.reachable]
    if unfit:
        fit = ", ".join(each.name for each in PARITIES.values() if each.reachable)
        raise OptionError(f"{unfit[0]} is for measuring, and nothing is chosen by it; choose by one of {fit}.")
    return tuple(dict.fromkeys(rate for each in several for rate in each.rates))
