"""What to know of a parity and of the policy that keeps it, in sentences; whether it is right is for people to say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isnan

from baserate._formatting import count_of, join_words
from baserate.equalize._parity import Parity
from baserate.measure import MEASURES, about

ROUNDING = 1e-9
"""Differences of shares below this are nothing but rounding."""
_MOST = 5
"""Groups that a sentence names; the rows tell of all."""
SAME = (
    "the parity was made on these very rows, and does not hold exactly on others; see how far it is off there, with "
    "equalize.held_out."
)

Shares = Mapping[str, float]
"""Group, in words -> a share of it."""


def promises(parities: Iterable[Parity]) -> list[str]:
    """Say what parities promise, and what they are silent about.

    >>> from baserate.equalize import parity
    >>> promises([parity("equal-opportunity")])[0].partition(". ")[2]
    'It is silent about how many negatives are flagged in vain.'
    """
    return [f"{each.name} means: {each.promise}. It is silent about {each.silent}." for each in parities]


def legal(attributes: Sequence[str]) -> str:
    """Say what law may think of a policy that asks for groups.

    >>> legal(["race"]).partition(":")[0]
    'The policy asks for race when it decides'
    """
    return (
        f"The policy asks for {join_words(attributes)} when it decides: thresholds by group may count as disparate "
        "treatment in the US, or as direct discrimination in the EU. This is not legal advice."
    )


def unreachable(base: Shares, tolerance: float) -> list[str]:
    """Warn that a perfect predictor would break demographic parity, where base rates differ by more than it allows.

    >>> unreachable({"sex = f": 0.1, "sex = m": 0.3}, 0.2), len(unreachable({"sex = f": 0.1, "sex = m": 0.3}, 0.1))
    ([], 1)
    """
    low, high = min(base, key=base.__getitem__), max(base, key=base.__getitem__)
    if base[high] - base[low] <= tolerance + ROUNDING:
        return []
    told = (
        f"the base rates differ ({_percent(base[low])} in {low}, {_percent(base[high])} in {high}), so that a perfect "
        "predictor, which flags those who are positive and nobody else, would break demographic parity: it is out of "
        "reach."
    )
    return [told]


def in_vain(flagged: Shares) -> list[str]:
    """Warn of groups without positives, by the share of each that is flagged.

    >>> in_vain({"sex = f": 0.0})
    []
    """
    return [
        f"{name} has no positives, so that to flag there is as good as to flag at random: all of its flags, "
        f"{_percent(share)} of the group, are in vain."
        for name, share in flagged.items()
        if share > 0
    ]


def trivial(flagged: Shares) -> list[str]:
    """Say it where nobody is flagged, or everybody.

    >>> trivial({"sex = f": 0.0, "sex = m": 0.0})
    ['nobody is flagged, in any group: the scores are not used.']
    """
    for share, told in ((0.0, "nobody"), (1.0, "everybody")):
        if all(abs(each - share) < ROUNDING for each in flagged.values()):
            return [f"{told} is flagged, in any group: the scores are not used."]
    return []


def by_lot(shares: Shares) -> list[str]:
    """Say who is decided by lot.

    >>> by_lot({"sex = f": 0.25, "sex = m": 0.0})
    ['a lot decides for 25 % of sex = f: of people with the same score, some are flagged and some are not.']
    """
    there = [f"{_percent(share)} of {name}" for name, share in _greatest_first(shares).items() if share > 0]
    if not there:
        return []
    return [f"a lot decides for {_few(there)}: of people with the same score, some are flagged and some are not."]


def levelled_down(rate: str, before: Shares, after: Shares) -> list[str]:
    """Say it where a rate gets better in no group, and worse in some; a rate without a better end is left alone.

    >>> levelled_down("fpr", {"sex = f": 0.2, "sex = m": 0.3}, {"sex = f": 0.3, "sex = m": 0.3})
    ['levelling down: fpr gets better in no group, and worse in sex = f (0.2 to 0.3).']
    """
    best = about(MEASURES[rate]).best
    known = [name for name in before if not (isnan(before[name]) or isnan(after[name]))]
    gained = {name: (after[name] - before[name]) * (1 if best == "high" else -1) for name in known}
    worse = [name for name in known if gained[name] < -ROUNDING]
    if best is None or not worse or any(each > ROUNDING for each in gained.values()):
        return []
    told = _few([f"{name} ({before[name]:.4g} to {after[name]:.4g})" for name in worse])
    return [f"levelling down: {rate} gets better in no group, and worse in {told}."]


def given_up(forgone: Shares) -> list[str]:
    """Say which groups could be more sensitive at their false positive rates, and by how much.

    >>> given_up({"sex = f": 0.05, "sex = m": 0.0})[0].partition(";")[0]
    'at the same false positive rate, sensitivity could be greater in sex = f by 0.05'
    """
    there = [f"{name} by {lost:.4g}" for name, lost in _greatest_first(forgone).items() if lost > ROUNDING]
    told = f"at the same false positive rate, sensitivity could be greater in {_few(there)}" if there else ""
    return [f"{told}; the policy throws that away to keep the groups together."] * bool(there)


def _greatest_first(shares: Shares) -> Shares:
    return dict(sorted(shares.items(), key=lambda item: (-item[1], item[0])))


def _few(parts: Sequence[str]) -> str:
    """Name the first of many groups, and say how many more there are."""
    more = len(parts) - _MOST + 1
    return join_words(parts if len(parts) <= _MOST else [*parts[: _MOST - 1], count_of(more, "more group")])


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"
