"""Impact of withheld scores: generalized rates, losses and decisions of each group, before and after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from math import isnan, nan
from typing import Any, Unpack

import numpy as np

from baserate._arrays import Floats
from baserate._costs import Costs
from baserate._cut import Cut
from baserate._errors import OptionError
from baserate._formatting import format_number
from baserate._policy import Policy
from baserate._results import Estimate, Results
from baserate._tally import Group, Tally
from baserate.decide import Row, estimate_row, is_chosen_on, results_header
from baserate.fairness._calibrated_odds import (
    RATE_NAMES,
    ScoreSums,
    check_scores,
    mix_means,
    mixing_shares,
    score_features,
    sum_scores,
    withheld_shares,
)
from baserate.fairness._group_counts import Groups, Participants, as_tallies, rate_gaps, select_participants
from baserate.fairness._parities import Goal
from baserate.infer import (
    IntervalOptions,
    cox_test,
    make_generator,
    percentiles,
    pool_neighbors,
    sample_in_blocks,
    sample_masses,
)
from baserate.measure import expected_cost, flag_rate, fpr, sensitivity, tidy_columns
from baserate.read import IntervalPredictionOptions, accepts_predictions

MIXING_COLUMNS = ("set", "group", "measure", "rate", "value", "low", "high", "level", "how", "why")
SETS = ("scores", "mixed scores", "change")
_N_BOOTSTRAP = 1000
_HOW = "samples of a Bayesian bootstrap within each group"
_GENERALIZED = ("generalized_fnr", "generalized_fpr", "generalized_cost", "brier", "log_loss")
_SHARED = ("generalized_cost", "brier", "log_loss")
"""Means per row, which all groups together have, too."""
MIXING_NOTE = (
    "mixed scores are as calibrated as the scores; rates of decisions at the threshold may differ between groups, and "
    "calibration with both rates equal is impossible unless scores are perfect or base rates equal."
)


@accepts_predictions("groups")
def mixing_impact(
    groups: Groups,
    policy: Policy,
    *,
    model: str | None = None,
    interval: IntervalOptions | None = IntervalOptions(),  # noqa: B008  (it is immutable)
    **predictions: Unpack[IntervalPredictionOptions],
) -> Results:
    """Report what withheld scores change in each group: generalized rates, losses and decisions, with intervals.

    On the rows of the choice, every bootstrap sample chooses the shares anew. On other rows the shares are those of the
    policy.

    Parameters
    ----------
    groups
        Tallies that were read with groups, or a mapping from groups to curves.
    policy
        Policy of `calibrated_equalized_odds`.
    model
        Model to use, if the data have several.
    interval
        Level of the confidence intervals, and the seed of the bootstrap; None for no intervals.

    Returns
    -------
    Results
        One row for each group, measure and `set`: "scores", "mixed scores", or the "change" between them, the price.
        Group None is all rows. `withheld` is the share of withheld scores, and `calibration_p` the p-value of Cox's
        calibration test. A `gap` is the greatest difference of a rate between two groups. `data` contain the `price`:
        the change of the generalized cost of all rows.

    Examples
    --------
    >>> from baserate import curve, fairness, tally
    >>> f = curve(tally([1, 1, 1, 0, 0, 0, 0, 1], [0.75] * 4 + [0.25] * 4))
    >>> m = curve(tally([1, 1, 1, 0, 1, 0, 0, 0], [0.625] * 4 + [0.375] * 4))
    >>> policy = fairness.calibrated_equalized_odds({"f": f, "m": m}, "fnr", threshold=0.6)
    >>> results = fairness.mixing_impact({"f": f, "m": m}, policy)
    >>> rows = [row for row in results.rows() if row["measure"] == "brier" and row["set"] == "change"]
    >>> [(row["group"], round(row["value"], 4)) for row in rows]
    [(None, 0.0156), ({'group': 'f'}, 0.0312), ({'group': 'm'}, 0.0)]
    """
    mixing, costs = mixing_shares(policy), policy.settings["costs"]
    participants = select_participants(groups, Goal(costs=costs), model=model, otherwise="pass")
    check_scores(participants)
    unknown = [group for group in participants.curves if group not in mixing]
    if unknown:
        raise OptionError(f"the policy has no group {unknown[0]}", remedy="leave these rows out.")
    is_fitted = is_chosen_on(as_tallies(groups), policy, participants.model)
    mixture = _Mixture(participants, policy, is_fitted=is_fitted)
    rows = [*_mixture_rows(mixture, interval)]
    decisions = [*_decision_rows(mixture, interval)]
    price = next(row["value"] for row in rows if row["set"] == SETS[2] and row["measure"] == "generalized_cost")
    summary = {
        "same": [participants.model] * is_fitted,
        "equalize": policy.settings["equalize"],
        "threshold": policy.settings["threshold"],
        "costs": {name: getattr(costs, name) for name in ("tp", "fp", "fn", "tn")},
        "price": price,
        "notes": [*policy.notes, MIXING_NOTE, *_gap_notes(decisions, policy)],
    }
    data = results_header(participants.tallies, summary, {participants.model: policy}, interval)
    every = [*rows, *decisions]
    columns = {name: [row.get(name) for row in every] for name in MIXING_COLUMNS}
    return Results(columns, data | {"digest": participants.digest})


@dataclass(frozen=True, slots=True, eq=False)
class _Mixture:
    """Rows, and a policy that withholds scores."""

    participants: Participants
    policy: Policy
    is_fitted: bool
    """Whether the policy was chosen on these rows, so that bootstrap samples choose its shares, too."""

    @property
    def costs(self) -> Costs:
        costs: Costs = self.policy.settings["costs"]
        return costs

    @property
    def tallies(self) -> dict[Group, Tally]:
        return {group: curve.tally for group, curve in self.participants.curves.items()}

    @property
    def rate(self) -> str:
        """Name of the rate that is equal."""
        return RATE_NAMES[self.policy.settings["equalize"]]

    def shares(self, sums: ScoreSums) -> Floats:
        """Return the shares of withheld scores: those of the policy, or those that bootstrap samples imply."""
        if not self.is_fitted:
            mixing = mixing_shares(self.policy)
            return np.broadcast_to([mixing[group][0] for group in self.participants.curves], sums.base_rate.shape)
        return np.clip(np.nan_to_num(withheld_shares(sums, self.rate, self.costs), posinf=1.0), 0.0, 1.0)

    def numbers(self, sums: ScoreSums) -> dict[tuple[str, str | None], Floats]:
        """Return all numbers by measure and set, a column for each group, and for means of rows one for all rows."""
        share, now, constant = self.shares(sums), sums.means(self.costs), self._constant_means(sums)
        result: dict[tuple[str, str | None], Floats] = {("withheld", None): share, ("base_rate", None): sums.base_rate}
        weight = sums.positives + sums.negatives
        weight = weight / weight.sum(axis=-1, keepdims=True)
        for name in _GENERALIZED:
            mixed = mix_means(now[name], constant[name], share)
            parts = dict(zip(SETS, (now[name], mixed, _difference(mixed, now[name])), strict=True))
            for set_name, each in parts.items():
                whole = [(weight * each).sum(axis=-1, keepdims=True)] if name in _SHARED else []
                result[name, set_name] = np.concatenate([*whole, each], axis=-1)
        return result

    def _constant_means(self, sums: ScoreSums) -> dict[str, Floats]:
        """Return means where all scores are the base rates of the policy, which other rows may not have."""
        if self.is_fitted:
            return sums.constant_means(self.costs)
        mixing = mixing_shares(self.policy)
        base = np.array([mixing[group][1] for group in self.participants.curves])
        constant = ScoreSums(
            sums.positives,
            sums.negatives,
            sums.positives * (1 - base),
            sums.negatives * base,
            sums.positives * (1 - base) ** 2 + sums.negatives * base**2,
            -(sums.positives * np.log(base) + sums.negatives * np.log1p(-base)),
        )
        return constant.means(self.costs)


def _difference(after: Floats, before: Floats) -> Floats:
    """Subtract; the change of an infinite loss that stays infinite is NaN."""
    with np.errstate(invalid="ignore"):
        return np.asarray(after - before)


def _bootstrap_sums(tallies: Mapping[Group, Tally], seed: Any) -> ScoreSums:  # noqa: ANN401  (any seed)
    """Return sums of bootstrap samples: a row for each sample, a column for each group."""
    rng = make_generator(seed)
    samples = [_sample_sums(pool_neighbors(tally), rng) for tally in tallies.values()]
    return ScoreSums.of_features(np.stack(samples, axis=1))


def _sample_sums(tally: Tally, seed: np.random.Generator) -> Floats:
    """Return sums of the bootstrap samples of one group, a row for each."""
    occupied = tally.mass > 0
    mass, squares = tally.mass[occupied], tally.squares[occupied]
    features = score_features(tally.score)[occupied]

    def sample(rng: np.random.Generator, n_samples: int) -> Floats:
        masses = sample_masses(rng, n_samples, mass, squares)
        return np.stack([(masses * each).sum(axis=1) for each in features.T], axis=-1)

    return sample_in_blocks(sample, n_samples=_N_BOOTSTRAP, seed=seed, size=mass.size)


def _mixture_rows(mixture: _Mixture, interval: IntervalOptions | None) -> Iterator[Row]:
    """Yield the numbers of scores and of mixed scores, with percentile intervals."""
    values = mixture.numbers(sum_scores(mixture.tallies.values()))
    samples = {} if interval is None else mixture.numbers(_bootstrap_sums(mixture.tallies, interval.seed))
    groups = [*mixture.participants.curves]
    attributes = mixture.participants.attributes
    for (measure, set_name), value in values.items():
        several = groups if len(value) == len(groups) else [None, *groups]
        for at, group in enumerate(several):
            place = {"set": set_name, "group": None if group is None else dict(zip(attributes, group, strict=True))}
            is_known = measure == "withheld" and not mixture.is_fitted
            bounds = None if is_known or interval is None else samples[measure, set_name][:, at]
            level = None if interval is None else interval.level
            yield {**place, "measure": measure, **_estimate_columns(float(value[at]), bounds, level)}
    for group, tally in mixture.tallies.items():
        test = cox_test(tally)
        place = {"set": SETS[0], "group": dict(zip(attributes, group, strict=True))}
        yield {**place, "measure": "calibration_p", "value": test.p, "how": "Cox's test", "why": test.why}
    yield from _gap_rows(mixture, values)


def _estimate_columns(value: float, samples: Floats | None, level: float | None) -> Row:
    """Return a value with the percentile interval of its samples."""
    if isnan(value):
        return tidy_columns(Estimate(nan, why="the log loss is infinite: an outcome had probability 0"))
    if samples is None or level is None or np.isnan(samples).any():
        return tidy_columns(Estimate(value))
    low, high = percentiles(samples, level)
    # Rounding of sums may put a change of exactly 0 outside of its samples.
    return tidy_columns(Estimate(value, min(low, value), max(high, value), level, _HOW))


def _gap_rows(mixture: _Mixture, values: Mapping[tuple[str, str | None], Floats]) -> Iterator[Row]:
    """Yield the greatest difference of each generalized rate between two groups."""
    n_groups = len(mixture.participants.curves)
    for name in RATE_NAMES.values():
        for set_name in SETS[:2]:
            gap = float(np.ptp(values[name, set_name][-n_groups:]))
            yield {"set": set_name, "group": None, "measure": "gap", "rate": name, "value": gap}


def _decision_rows(mixture: _Mixture, interval: IntervalOptions | None) -> Iterator[Row]:
    """Yield rates and costs of the decisions at the threshold, by the scores and by mixed scores."""
    plain = Cut((float(mixture.policy.settings["threshold"]),))
    participants = mixture.participants
    for set_name in SETS[:2]:
        tables = {
            group: (plain if set_name == SETS[0] else mixture.policy.by_group[group]).counts(curve)
            for group, curve in participants.curves.items()
        }
        for group, counts in tables.items():
            place = {"set": set_name, "group": dict(zip(participants.attributes, group, strict=True))}
            for measure in (flag_rate, sensitivity, fpr, partial(expected_cost, costs=mixture.costs)):
                yield place | estimate_row(interval, measure, counts)
        for rate, gap in rate_gaps(tables, ["sensitivity", "fpr"]).items():
            yield {"set": set_name, "group": None, "measure": "gap", "rate": rate, "value": gap}


def _gap_notes(rows: list[Row], policy: Policy) -> Iterator[str]:
    """Warn if the mixture increases a difference between the decisions of groups."""
    gaps = {(row["rate"], row["set"]): row["value"] for row in rows if row["measure"] == "gap"}
    for rate in ("sensitivity", "fpr"):
        before, after = (gaps[rate, set_name] for set_name in SETS[:2])
        if after > before + 1e-9:
            yield (
                f"at the threshold {policy.settings['threshold']:g} the greatest difference of {rate} grows from "
                f"{format_number(before, 3)} to {format_number(after, 3)}: the method equalizes means of scores, not "
                "decisions; for those see the parity constraints."
            )
