"""Reject option classification: within a band of uncertain scores, decisions favor some groups."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite
from typing import Any, Literal, NamedTuple, NoReturn, Unpack

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats
from baserate._counts import Counts, combine_counts
from baserate._curve import Curve
from baserate._cut import FLAG, PASS, Cut, Treatment
from baserate._errors import InfeasibleError, OptionError, UnknownLabelError, keyword
from baserate._policy import REFUSE, Policy, label_text, spellings
from baserate._tally import Group
from baserate.decide import RELATIVE_TOLERANCE, can_be_infinite, note_skipped, resolve_objective
from baserate.fairness._group_counts import Groups, Participants, group_label, select_participants
from baserate.fairness._parities import SLACK, Goal
from baserate.fairness._threshold_search import (
    CommonCounts,
    count_at_thresholds,
    excess_over_bounds,
    pool_curves,
    rate_spreads,
)
from baserate.measure import Measure, describe, expected_cost
from baserate.read import PredictionOptions, accepts_predictions

MAX_THRESHOLDS = 3000
"""Distinct scores up to which all pairs of thresholds are tried."""
_CELLS = 2**18
"""Bands that are evaluated together; larger blocks would leave the cache."""

Places = npt.NDArray[np.intp]


class Band(NamedTuple):
    """Half-open interval of scores, [low, high)."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"[{self.low:g}, {self.high:g})"


@dataclass(frozen=True, slots=True, eq=False)
class Bands:
    """Candidate bands and counts: `lax` groups are flagged from the lower end, `strict` ones from the upper end."""

    low: Floats
    high: Floats
    lax: CommonCounts
    strict: CommonCounts
    bounds: Mapping[str, float]
    """Greatest allowed difference of each rate."""
    around: bool
    """Whether bands are symmetric: each lower end belongs to one upper end, not to every greater one."""
    exact: bool
    """Whether all observed thresholds are candidates."""

    def best(self, worth: Callable[[Counts[Floats]], Any]) -> Band | None:
        """Return the band of greatest worth within the bounds; ties go to the narrowest, then to the strictest.

        Infinite worth never wins.
        """
        finite = (self._finite_worth(*places, worth) for places in self._blocks())
        candidates = [_best_column(each) for each in finite if each.size]
        if not candidates:
            return None
        _, low, high = map(float, _best_column(np.concatenate(candidates, axis=1))[:, 0])
        return Band(low, high)

    def infinitely_good(self, worth: Callable[[Counts[Floats]], Any]) -> int:
        """Count the bands within the bounds whose worth is infinite; `best` skips them."""
        worths = (self._feasible_worth(*places, worth)[0] for places in self._blocks())
        return sum(int(np.count_nonzero(each == np.inf)) for each in worths)

    def nearest(self) -> tuple[Band, dict[str, float]]:
        """Return the band with the least excess over the bounds, and the rate differences that exceed their bounds."""
        sides = [self.lax, self.strict]
        at = int(np.argmin(excess_over_bounds(sides, self.bounds)))
        gaps = {rate: float(each[at]) for rate, each in rate_spreads(sides, self.bounds).items()}
        beyond = {rate: each for rate, each in gaps.items() if each > self.bounds[rate] + SLACK}
        return Band(float(self.low[at]), float(self.high[at])), beyond

    def _blocks(self) -> Iterator[tuple[Places, Places]]:
        """Yield indices of lower and upper ends, to be combined by broadcasting."""
        size = len(self.low)
        if self.around:
            yield np.arange(size), np.arange(size)
            return
        rows = max(_CELLS // size, 1)
        for start in range(0, size, rows):
            stop = min(start + rows, size)
            # Thresholds are in descending order, so the index of an upper end never exceeds that of the lower end.
            yield np.arange(start, stop)[:, None], np.arange(stop)[None]

    def _finite_worth(self, low: Places, high: Places, worth: Callable[[Counts[Floats]], Any]) -> Floats:
        """Return worth, lower end and upper end of the bands within the bounds whose worth is finite."""
        values, below, above = self._feasible_worth(low, high, worth)
        finite = np.isfinite(values)
        return np.array([values[finite], self.low[below[finite]], self.high[above[finite]]])

    def _feasible_worth(
        self, low: Places, high: Places, worth: Callable[[Counts[Floats]], Any]
    ) -> tuple[Floats, Places, Places]:
        """Return the worth of the bands within the bounds, and the indices of their ends."""
        beyond = excess_over_bounds([self.lax.at(low), self.strict.at(high)], self.bounds)
        fit = np.nonzero((beyond <= SLACK) & (high <= low))
        below, above = (np.broadcast_to(each, beyond.shape)[fit] for each in (low, high))
        values: Floats = worth(Counts(*(self.lax.cells[:, below] + self.strict.cells[:, above])))
        return values, below, above


def list_bands(
    lax: Collection[Curve], strict: Collection[Curve], bounds: Mapping[str, float], *, around: float | None
) -> Bands:
    """List all bands between observed thresholds, or all that are symmetric around one threshold."""
    pooled = pool_curves([*lax, *strict])
    exact = around is not None or len(pooled.tally.score) <= MAX_THRESHOLDS
    if around is not None:
        margin = _margins(pooled.tally.score, around)
        low, high = around - margin, around + margin
    else:
        low = high = pooled.threshold if exact else _thin_thresholds(pooled)
    counts = count_at_thresholds(lax, low, bounds), count_at_thresholds(strict, high, bounds)
    return Bands(low, high, *counts, bounds, around=around is not None, exact=exact)


def _margins(score: Floats, around: float) -> Floats:
    """Return half-widths of symmetric bands, one for each set of scores that a band can contain.

    The lower end is inclusive and the upper end is not: a score below the center belongs to the band from its distance
    on, and a score above only beyond it.
    """
    distance = np.unique(np.append(np.abs(score - around), 0.0))
    # Halved first: the sum of two distances may overflow.
    between = distance[1:] / 2 + distance[:-1] / 2
    return np.unique(np.concatenate([distance, between, [np.inf]]))


def _thin_thresholds(pooled: Curve) -> Floats:
    """Return as many thresholds as can be tried in pairs, evenly spaced by flag rate."""
    flagged = pooled.flagged_mass.sum(axis=0)
    places = np.searchsorted(flagged, np.linspace(0.0, flagged[-1], MAX_THRESHOLDS))
    thresholds: Floats = pooled.threshold[np.unique(places)]
    return thresholds


def _best_column(bands: Floats) -> Floats:
    """Return the best column of bands (worth, low, high); ties go to the narrowest, then to the strictest."""
    worth = bands[0]
    size = np.abs(worth[np.isfinite(worth)]).max(initial=0.0)
    near = bands[:, worth >= worth.max() - RELATIVE_TOLERANCE * size]
    with np.errstate(invalid="ignore", over="ignore"):  # inf − inf: an empty band at +inf, of width 0
        width = np.where(near[1] < near[2], near[2] - near[1], 0.0)
        narrow = near[:, width <= width.min() * (1 + RELATIVE_TOLERANCE)]
    at = int(np.argmax(narrow[1]))
    return narrow[:, at : at + 1]


RULE = "reject-option"


@accepts_predictions("groups")
def reject_option(  # noqa: PLR0913  (what is favored, and how a band is chosen)
    groups: Groups,
    goal: Goal,
    *,
    favor: Any,  # noqa: ANN401  (a label of whatever kind, a group, or several)
    favorable: Literal["pass", "flag"],
    around: float | None = None,
    objective: str | Measure | None = None,
    model: str | None = None,
    otherwise: str = REFUSE,
    **predictions: Unpack[PredictionOptions],
) -> Policy:
    """Choose a band of scores within which some groups get the favorable action and all others the unfavorable one.

    Outside of this critical band the score alone decides [@kamiran2012].

    Parameters
    ----------
    groups, goal, model, otherwise
        As in `optimal_policy`.
    favor
        Group to favor, or a list of groups: a tuple of labels, or a plain label if there is one attribute.
    favorable
        The favorable action, "pass" or "flag".
    around
        Center of the band; by default the band may be anywhere.
    objective
        Any measure of decisions to optimize; the default is the objective of the goal, or the expected cost.

    Returns
    -------
    Policy
        One cut for each group, at the lower or upper end of the band. Ties go to the narrowest band, then to the
        strictest. With more than 3000 distinct scores, 3000 thresholds are tried, and a note says so.

    Raises
    ------
    InfeasibleError
        If no band satisfies the parity, or the objective is undefined at every band that does.

    Examples
    --------
    >>> from baserate import curve, fairness, tally
    >>> f = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    >>> m = curve(tally([1, 0, 1, 0, 0, 1], [0.9, 0.8, 0.6, 0.5, 0.3, 0.1]))
    >>> goal = fairness.Goal("equal-opportunity", within=0.1)
    >>> policy = fairness.reject_option({"f": f, "m": m}, goal, favor="m", favorable="flag")
    >>> policy.settings["band"], policy.by_group["f",].threshold, policy.by_group["m",].threshold
    ((0.6, 0.8), 0.8, 0.6)
    """
    objective = goal.objective if objective is None else objective
    participants = select_participants(groups, goal, model=model, otherwise=otherwise)
    favored = _find_groups(participants, favor)
    _check_options(favorable, around)
    measure, toward = resolve_objective(partial(expected_cost, costs=goal.costs) if objective is None else objective)
    lax = {group for group in participants.curves if (group in favored) == (favorable == FLAG)}
    candidates = _participant_bands(participants, lax, around)
    sign = 1 if toward == "high" else -1

    def worth(counts: Counts[Floats]) -> Any:  # noqa: ANN401  (an array)
        return sign * measure(counts)

    band = candidates.best(worth)
    if band is None:
        or_infinite = " or infinite" * can_be_infinite(measure, toward)
        _raise_infeasible(candidates, goal, f"{describe(measure).name} is undefined{or_infinite}", around)
    ends = {group: band.low if group in lax else band.high for group in participants.curves}
    by_group: dict[Group, Treatment] = {group: Cut((end,)) for group, end in ends.items()}
    settings = {
        "cost": _policy_cost(participants, by_group),
        **_band_settings(band, around),
        "favour": favored,
        "favourable": favorable,
        **({} if objective is None else {"objective": describe(measure).name}),
        **({} if candidates.exact else {"exact": False}),
    }
    policy = participants.policy(by_group, rule=RULE, settings=settings)
    skipped = candidates.infinitely_good(worth) if can_be_infinite(measure, toward) else 0
    notes = [*_band_notes(candidates, band), *note_skipped(measure, skipped, of="band")]
    return replace(policy, notes=(*policy.notes, *notes))


def _check_options(favorable: str, around: float | None) -> None:
    """Check the favorable action and the center of the band."""
    if favorable not in {PASS, FLAG}:
        what = f"favorable is {favorable!r}; expected 'pass' or 'flag', the action that is better to get."
        raise OptionError(what, option="favorable", value=favorable)
    if around is not None and not isfinite(around):
        raise OptionError(f"around is {around}; expected a finite threshold.", option="around", value=around)


def _find_groups(participants: Participants, favor: Any) -> list[Group]:  # noqa: ANN401  (as above)
    """Find the groups to favor, in the order of the participants."""
    # A tuple is one group with several attributes, unless it is a tuple of tuples.
    nested = isinstance(favor, tuple) and all(isinstance(each, tuple) for each in favor)
    labels = favor if nested or isinstance(favor, list | set | frozenset) else [favor]
    favored = {group for each in labels for group in _match_group(participants, each)}
    if not favored or len(favored) == len(participants.curves):
        what = f"{len(favored)} of {len(participants.curves)} groups are favored"
        raise OptionError(what, remedy="name at least one group, but not all.")
    return [group for group in participants.curves if group in favored]


def _match_group(participants: Participants, label: Any) -> list[Group]:  # noqa: ANN401  (a group, or a label)
    """Match a group by the text of its labels."""
    texts = [label_text(label) for label in (label if isinstance(label, tuple | list) else [label])]
    matches = [
        group
        for group in participants.curves
        if len(texts) == len(group) and all(text in spellings(label) for text, label in zip(texts, group, strict=True))
    ]
    if not matches:
        known_groups = "; ".join(group_label(participants.attributes, group) for group in participants.curves)
        raise UnknownLabelError(f"favor is {label!r}; expected one of: {known_groups}.", option="favor", value=label)
    return matches


def _participant_bands(participants: Participants, lax: set[Group], around: float | None) -> Bands:
    """List the bands of participants, of which some are lax."""
    low = [curve for group, curve in participants.curves.items() if group in lax]
    high = [curve for group, curve in participants.curves.items() if group not in lax]
    return list_bands(low, high, participants.goal.bounds, around=around)


def _policy_cost(participants: Participants, by_group: dict[Group, Treatment]) -> float:
    """Compute the expected cost per participant."""
    counts = combine_counts([by_group[group].counts(curve) for group, curve in participants.curves.items()])
    return expected_cost(counts, costs=participants.goal.costs)


def _band_settings(band: Band, around: float | None) -> dict[str, Any]:
    """Return the band in the form that policy files store; a band without an upper end has no center."""
    settings: dict[str, Any] = {"band": tuple(band)}
    if around is None and not isfinite(band.high):
        return settings
    # Halve before adding: ends near the largest float would overflow.
    middle = band.low / 2 + band.high / 2 if around is None else float(around)
    return settings | {"around": middle, "margin": band.high / 2 - band.low / 2}


def _raise_infeasible(candidates: Bands, goal: Goal, lacking: str, around: float | None) -> NoReturn:
    """Report the band nearest to the parity; only bands around a fixed threshold can all miss it."""
    parities = " and ".join(each.name for each in goal.parities)
    band, beyond = candidates.nearest()
    if not beyond:
        raise InfeasibleError(
            f"{lacking} at every band that keeps {parities} within {goal.settings['within']}",
            remedy="allow a greater difference, or choose another objective.",
        )
    gaps = " and ".join(f"{rate} differs by {apart:g}" for rate, apart in beyond.items())
    raise InfeasibleError(
        f"no band around {around:g} keeps {parities} within {goal.settings['within']}; nearest is {band}, where {gaps}",
        remedy=f"allow that difference, or leave {keyword('around')} out.",
    )


def _band_notes(candidates: Bands, band: Band) -> list[str]:
    """Warn of an empty band, and of thresholds that were not tried."""
    notes = []
    if band.low == band.high:
        notes.append("the band is empty: one threshold serves all groups, so the policy does not need the group.")
    if not candidates.exact:
        notes.append(
            f"{len(candidates.low) - 1} thresholds, evenly spaced by flag rate, were tried of over {MAX_THRESHOLDS} "
            "distinct scores: another band may be slightly better. Pool scores with Tally.rounded."
        )
    return notes
