r"""γ: how many times as frequent negatives are there, beside positives, as they are here.

Every change of prevalence is one number: masses of negatives times γ, odds of a posterior over γ.
"""

from collections.abc import Sequence
from numbers import Real
from typing import TypeGuard

from baserate._domains import FACTOR, PREVALENCE, check_domain
from baserate._errors import OptionError

Pair = Sequence[float]
"""Positives and negatives."""
_OF_A_SAMPLE = PREVALENCE._replace(low=5e-324, high=1 - 2**-53)
"""Weights may bring a sample nearer to 0 or 1 than anybody would state."""


def gamma(*, at: float, to: float) -> float:
    r"""γ of two prevalences, :math:`\frac{(1-to)/to}{(1-at)/at}`.

    >>> gamma(at=0.5, to=0.1)
    9.0
    """
    check_domain("at", at, _OF_A_SAMPLE)
    checked_prevalence("to", to)
    return ((1 - to) * at) / (to * (1 - at))


def gamma_of_sampling(*, under: float = 1.0, over: float = 1.0) -> float:
    r"""γ of how rows were sampled, β/α: negatives under-sampled by β = N₀/N ≥ 1, positives over-sampled by α = P₀/P.

    P₀ ≤ P and N₀ are the original numbers; `under` is β and `over` is α. In Dal Pozzolo's papers β is the share of
    negatives that were kept: one over the β here [@dalpozzolo2015].

    >>> gamma_of_sampling(under=10)  # every tenth negative was kept
    10.0
    >>> gamma_of_sampling(under=10, over=0.25)  # and every positive was taken four times
    40.0
    """
    if not (_is_number(under) and 1 <= under < float("inf")):
        raise OptionError(
            f"under is {under!r}; it is how many negatives there were for each that was kept, 1 or more (if it is the "
            "share that was kept, give one over it)."
        )
    if not (_is_number(over) and 0 < over <= 1):
        raise OptionError(
            f"over is {over!r}; it is how many positives there were for each in the sample, above 0 and no more than 1 "
            "(if each was taken several times, give one over that)."
        )
    return float(under / over)


def gamma_of_counts(*, sample: Pair, original: Pair) -> float:
    r"""γ of numbers of positives and negatives, in this order, :math:`\frac{N_0/P_0}{N/P}`.

    >>> gamma_of_counts(sample=(100, 100), original=(100, 9900))
    99.0
    """
    for name, pair in (("sample", sample), ("original", original)):
        if len(pair) != 2 or not all(_is_number(each) and 0 < each < float("inf") for each in pair):
            raise OptionError(f"{name} is {pair!r}; give how many positives and how many negatives, both above 0.")
    return float((original[1] * sample[0]) / (original[0] * sample[1]))


def prevalence_of_gamma(gamma: float, *, at: float) -> float:
    r"""The prevalence that γ leads to from another, :math:`\frac{P}{P+γN}`.

    >>> prevalence_of_gamma(9, at=0.5)
    0.1
    """
    checked_gamma(gamma)
    check_domain("at", at, _OF_A_SAMPLE)
    return float(at / (at + gamma * (1 - at)))


def checked_prevalence(name: str, given: object) -> None:
    """Refuse what is no prevalence of two classes."""
    check_domain(name, given, PREVALENCE)


def checked_gamma(given: object) -> None:
    """Refuse what is no γ."""
    check_domain("gamma", given, FACTOR)


def _is_number(given: object) -> TypeGuard[float]:
    return isinstance(given, Real) and not isinstance(given, bool)
