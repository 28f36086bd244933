"""Calibrated equalized odds: scores are withheld at random until a generalized error rate is equal between groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import isnan
from typing import Any, Unpack

import numpy as np

from baserate._arrays import Floats, ratio
from baserate._costs import Costs, CostsLike, as_costs
from baserate._cut import Cut, RandomizedCut, Treatment, random_edge, random_numbers
from baserate._domains import wrong_option
from baserate._errors import InfeasibleError, OptionError, ShapeError, keyword
from baserate._formatting import count_of, format_p_phrase
from baserate._policy import REFUSE, Policy
from baserate._tally import Group, Tally
from baserate.apply import actions, check_ids, id_texts
from baserate.fairness._group_counts import Groups, Participants, group_label, select_participants
from baserate.fairness._optimum import randomize_cuts
from baserate.fairness._parities import Goal
from baserate.infer import cox_test, holm
from baserate.measure import check_probabilities
from baserate.read import PredictionOptions, accepts_predictions

RATE_NAMES = {"weighted": "generalized_cost", "fnr": "generalized_fnr", "fpr": "generalized_fpr"}
"""Option -> name of the generalized rate that becomes equal."""
MIXING_RULE = "calibrated-equalized-odds"
_ALPHA = 0.05
"""Level of the calibration tests of groups, after Holm's adjustment, below which a note warns."""
_EQUAL = 1e-14
"""Relative difference of equal rates, by rounding."""
_ROUNDING = 1e-9
"""Excess of a share over 1 that counts as rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoreSums:
    """Sums over the rows of each group, along the last axis; leading axes are bootstrap samples."""

    positives: Floats
    negatives: Floats
    missed: Floats
    """Sum of 1 − score over positives."""
    alarmed: Floats
    """Sum of scores over negatives."""
    brier: Floats
    log_loss: Floats

    @staticmethod
    def of_features(sums: Floats) -> ScoreSums:
        """Split an array whose last axis holds the sums of `score_features`."""
        return ScoreSums(*np.moveaxis(sums, -1, 0))

    @property
    def base_rate(self) -> Floats:
        """Share of positives."""
        return ratio(self.positives, self.positives + self.negatives)

    def means(self, costs: Costs) -> dict[str, Floats]:
        """Return the generalized rates, their expected cost per row, the Brier score and the log loss."""
        fnr, fpr = ratio(self.missed, self.positives), ratio(self.alarmed, self.negatives)
        total = self.positives + self.negatives
        losses = {"brier": ratio(self.brier, total), "log_loss": ratio(self.log_loss, total)}
        return _with_cost(fnr, fpr, self.base_rate, costs) | losses

    def constant_means(self, costs: Costs) -> dict[str, Floats]:
        """Return the same means where every row of a group has its base rate as its score."""
        from scipy.special import entr

        base = self.base_rate
        losses = {"brier": base * (1 - base), "log_loss": np.asarray(entr(base) + entr(1 - base))}
        return _with_cost(1 - base, base, base, costs) | losses


def _with_cost(fnr: Floats, fpr: Floats, base: Floats, costs: Costs) -> dict[str, Floats]:
    """Return both generalized rates with the expected cost above that of correct decisions."""
    cost = (costs.fp - costs.tn) * (1 - base) * fpr + (costs.fn - costs.tp) * base * fnr
    return {"generalized_fnr": fnr, "generalized_fpr": fpr, "generalized_cost": cost}


def score_features(score: Floats) -> Floats:
    """Return what each row adds to `ScoreSums`: by class (positives first), score and sum."""
    one, none = np.ones(len(score)), np.zeros(len(score))
    with np.errstate(divide="ignore"):  # the log loss of an outcome that had probability 0 is infinite
        lost = -np.log(score), -np.log1p(-score)
    return np.array(
        [
            np.column_stack([one, none, 1 - score, none, (1 - score) ** 2, lost[0]]),
            np.column_stack([none, one, none, score, score**2, lost[1]]),
        ]
    )


def sum_scores(tallies: Iterable[Tally]) -> ScoreSums:
    """Sum the features of several groups."""
    return ScoreSums.of_features(np.array([_sum_features(tally) for tally in tallies]))


def _sum_features(tally: Tally) -> Floats:
    features = score_features(tally.score)
    mass = np.asarray(tally.mass, dtype=np.float64)[:, :, None]
    # 0 rows with an infinite loss lose nothing.
    sums: Floats = (np.where(mass > 0, features, 0.0) * mass).sum(axis=(0, 1))
    return sums


def withheld_shares(sums: ScoreSums, rate: str, costs: Costs) -> Floats:
    r"""Return the share of each group whose scores are withheld, so that a rate equals that of the worst group.

    With a share α of scores replaced by the base rate, a mean c becomes :math:`(1-α)c+αt`, where t is the mean of the
    constant score. So :math:`α=(c^*-c)/(t-c)` reaches the greatest rate :math:`c^*` [@pleiss2017]. A share above 1, or
    below 0, cannot be reached.
    """
    now, constant = (means[rate] for means in (sums.means(costs), sums.constant_means(costs)))
    worst = now.max(axis=-1, keepdims=True)
    lacking = worst - now
    # Equal rates of several groups may differ by rounding.
    return np.where(lacking > _EQUAL * worst, ratio(lacking, constant - now), 0.0)


def mix_means(now: Floats, constant: Floats, share: Floats) -> Floats:
    """Return a mean after a share of the scores was replaced by the base rate."""
    # An infinite log loss vanishes only where all scores are withheld.
    kept = np.where(share < 1, (1 - share) * np.where(share < 1, now, 0.0), 0.0)
    return np.asarray(kept + share * constant)


@accepts_predictions("groups")
def calibrated_equalized_odds(
    groups: Groups,
    equalize: str = "weighted",
    *,
    costs: CostsLike | None = None,
    threshold: float | None = None,
    model: str | None = None,
    otherwise: str = REFUSE,
    **predictions: Unpack[PredictionOptions],
) -> Policy:
    r"""Withhold scores at random until a generalized error rate is equal between groups: calibrated equalized odds.

    The generalized false negative rate is the mean of 1 − p over positives, the generalized false positive rate that of
    p over negatives. The group with the greatest rate keeps its scores. In each other group, a share of rows gets the
    base rate of the group in place of its score, which raises the rate to the greatest one [@pleiss2017]. Calibrated
    scores stay calibrated. Calibration and both equal rates at once are impossible, except with perfect scores or equal
    base rates [@kleinberg2017].

    Parameters
    ----------
    groups, model, otherwise
        As in `optimal_policy`; the scores must be calibrated probabilities.
    equalize
        "fnr" or "fpr" for a generalized rate, or "weighted" for the expected cost
        :math:`c_{FP}(1-π)\,\mathrm{gFPR}+c_{FN}\,π\,\mathrm{gFNR}` of each group.
    costs
        Costs of outcomes: ``fp=1, fn=20``, a mapping, or :class:`baserate.Costs`; by default both errors cost 1. They
        weight both rates, and set the default threshold.
    threshold
        Score from which on rows are flagged; the default is the risk from which on flagging costs less than not.

    Returns
    -------
    Policy
        A cut for each group, randomized between the score and the base rate where scores are withheld. `settings`
        contain the share and the base rate of each group (`mixing`). `mix_scores` returns the mixed scores, and
        `mixing_impact` the price. Notes warn of groups whose scores fail a calibration test.

    Raises
    ------
    InfeasibleError
        If a group would exceed the rate of another even with all scores withheld; then no share equalizes them.

    See Also
    --------
    optimal_policy : Parities of decisions, which need no calibrated scores.

    Examples
    --------
    >>> from baserate import curve, fairness, tally
    >>> f = curve(tally([1, 1, 1, 0, 0, 0, 0, 1], [0.75] * 4 + [0.25] * 4))
    >>> m = curve(tally([1, 1, 1, 0, 1, 0, 0, 0], [0.625] * 4 + [0.375] * 4))
    >>> policy = fairness.calibrated_equalized_odds({"f": f, "m": m}, "fnr", threshold=0.6)
    >>> [(each["group"], round(each["share"], 4)) for each in policy.settings["mixing"]]
    [(('f',), 0.5), (('m',), 0.0)]
    >>> policy
    Policy(calibrated-equalized-odds; 2 groups by group: f flag ≥ 0.6 (50%) or nobody (50%); m flag ≥ 0.6; needs group
    and id)
    """
    costs = as_costs(costs) or Costs()
    participants = select_participants(groups, Goal(costs=costs), model=model, otherwise=otherwise)
    _check_request(participants, equalize, costs)
    sums = sum_scores(curve.tally for curve in participants.curves.values())
    shares = withheld_shares(sums, RATE_NAMES[equalize], costs)
    _check_feasible(participants, sums, shares, equalize, costs)
    at = _decision_threshold(costs, threshold)
    pairs = list(zip(participants.curves, np.clip(shares, 0.0, 1.0).tolist(), sums.base_rate.tolist(), strict=True))
    policy = participants.policy(
        {group: _mixed_cut(at, share, base) for group, share, base in pairs}, rule=MIXING_RULE, settings={}
    )
    settings = {
        "equalize": equalize,
        "costs": costs,
        "threshold": at,
        "mixing": tuple({"group": group, "share": share, "base_rate": base} for group, share, base in pairs),
    }
    return replace(policy, settings=settings, notes=(*policy.notes, *_calibration_notes(participants)))


def _check_request(participants: Participants, equalize: str, costs: Costs) -> None:
    """Check the rate, the costs and the scores."""
    if equalize not in RATE_NAMES:
        raise wrong_option("equalize", equalize, f"one of {', '.join(RATE_NAMES)}")
    if equalize == "weighted" and not (costs.fp > costs.tn or costs.fn > costs.tp):
        raise OptionError("both errors cost nothing", remedy="give a false positive or a false negative a cost.")
    check_scores(participants)


def check_scores(participants: Participants) -> None:
    """Check that all scores are probabilities at the prevalence of the rows."""
    if participants.has_labels:
        raise OptionError(
            f"{participants.model} contains labels; expected calibrated probabilities.",
            remedy="Give the scores that the labels were decided by.",
        )
    for curve in participants.curves.values():
        check_probabilities(curve.tally)
        if curve.tally.reweighed:
            raise OptionError(
                "classes were reweighted to another prevalence, at which the scores are not calibrated",
                remedy="adjust the scores to that prevalence with shift.reprior.",
            )


def _decision_threshold(costs: Costs, threshold: float | None) -> float:
    """Return the stated threshold, or that of the costs."""
    at = costs.threshold_probability if threshold is None else float(threshold)
    if isnan(at):
        raise OptionError(
            "the costs imply no threshold, since one of the errors costs no more than a correct decision",
            remedy=f"state one: {keyword('threshold')}.",
        )
    if not 0 <= at <= 1:
        raise wrong_option("threshold", threshold, "a probability from 0 to 1")
    return at


def _check_feasible(participants: Participants, sums: ScoreSums, shares: Floats, equalize: str, costs: Costs) -> None:
    """Check that all shares lie between 0 and 1, or report the group that prevents it."""
    impossible = np.flatnonzero(~((shares >= 0) & (shares <= 1 + _ROUNDING)))
    if not len(impossible):
        return
    name = RATE_NAMES[equalize]
    now, constant = (means[name] for means in (sums.means(costs), sums.constant_means(costs)))
    labels = [group_label(participants.attributes, group) for group in participants.curves]
    worst, at = int(np.argmax(now)), int(impossible[0])
    raise InfeasibleError(
        f"{name} cannot be equalized: it is {now[worst]:.4g} in {labels[worst]}; in {labels[at]} it is {now[at]:.4g}, "
        f"and {constant[at]:.4g} with all scores withheld, which would take a share of {shares[at]:.4g}",
        remedy=f"equalize another of {', '.join(RATE_NAMES)}, or calibrate the scores of each group.",
    )


def _mixed_cut(threshold: float, share: float, base_rate: float) -> Treatment:
    """Return the cut of a group: at the threshold, or for withheld scores everybody or nobody, as the base rate is."""
    constant = Cut((-np.inf if base_rate >= threshold else np.inf,))
    return randomize_cuts([Cut((threshold,)), constant], np.array([1 - share, share]))


def _calibration_notes(participants: Participants) -> Iterator[str]:
    """Warn of groups whose scores are not calibrated, by Cox's test."""
    tests = {group: cox_test(curve.tally) for group, curve in participants.curves.items()}
    adjusted = holm([test.p for test in tests.values()])
    for group, p in zip(tests, adjusted, strict=True):
        if p < _ALPHA:
            yield (
                f"the scores of {group_label(participants.attributes, group)} are not calibrated (Cox's test, "
                f"{format_p_phrase(p, name='Holm-adjusted p')}), which the method requires: calibrate each group first."
            )


def mixing_shares(policy: Policy) -> dict[Group, tuple[float, float]]:
    """Return the share of withheld scores and the base rate of each group of a policy."""
    if policy.rule != MIXING_RULE:
        raise OptionError(
            "the policy withholds no scores", remedy="choose one with fairness.calibrated_equalized_odds."
        )
    mixing: Iterable[Mapping[str, Any]] = policy.settings["mixing"]
    return {tuple(each["group"]): (float(each["share"]), float(each["base_rate"])) for each in mixing}


def mix_scores(
    policy: Policy,
    score: Any,  # noqa: ANN401  (a column of any kind)
    *,
    group: Any,  # noqa: ANN401  (a column of any kind, or several)
    id: Any,  # noqa: A002, ANN401  (a column of any kind)
) -> Floats:
    """Replace the scores that a policy withholds by the base rates of their groups.

    A hash of the row's ID selects them, as in the decisions of the policy: a row is flagged exactly if its mixed score
    reaches the threshold.

    Parameters
    ----------
    policy
        Policy of `calibrated_equalized_odds`.
    score
        Scores of new rows: an array, a list or a column of a frame.
    group
        A column of labels; for several attributes as in `baserate.apply.actions`.
    id
        A column of whole numbers or text.

    Returns
    -------
    ndarray
        Mixed scores, in the order of the rows.

    Raises
    ------
    DataError
        If a score or an ID is missing, or a group was not among those of the policy.

    Examples
    --------
    >>> from baserate import curve, fairness, tally
    >>> f = curve(tally([1, 1, 1, 0, 0, 0, 0, 1], [0.75] * 4 + [0.25] * 4))
    >>> m = curve(tally([1, 1, 1, 0, 1, 0, 0, 0], [0.625] * 4 + [0.375] * 4))
    >>> policy = fairness.calibrated_equalized_odds({"f": f, "m": m}, "fnr", threshold=0.6)
    >>> fairness.mix_scores(policy, [0.75, 0.75, 0.75, 0.625], group=["f", "f", "f", "m"], id=[1, 2, 3, 4]).tolist()
    [0.5, 0.5, 0.75, 0.625]
    """
    shares = mixing_shares(policy)
    places = _group_places(policy, shares, score, group)
    ids = check_ids("id", id)
    if len(ids) != len(places):
        remedy = "give one for each."
        raise ShapeError(f"there are {len(ids)} ids for {count_of(len(places), 'score')}", remedy=remedy)
    texts = id_texts(ids, np.arange(len(places)))
    edges = np.array([_first_withheld(policy.by_group[each], share) for each, (share, _) in shares.items()])
    base = np.array([rate for _, rate in shares.values()])
    withheld = random_numbers(policy.key, texts) >= edges[places]
    return np.where(withheld, base[places], np.asarray(score, dtype=np.float64))


def _group_places(policy: Policy, groups: Mapping[Group, Any], score: Any, group: Any) -> Any:  # noqa: ANN401  (columns)
    """Return the place of each row's group."""
    # A policy whose actions are numbers of groups: the rows are checked and matched as in any decision.
    by_group = {each: Cut((), (str(at),)) for at, each in enumerate(groups)}
    found = actions(Policy(by_group=by_group, otherwise=REFUSE, attributes=policy.attributes), score, group=group)
    return np.array(found.names, dtype=np.intp)[found.codes]


def _first_withheld(treatment: Treatment, share: float) -> int:
    """Return the first random number for which a score is withheld."""
    return treatment.edges[0] if isinstance(treatment, RandomizedCut) else random_edge(float(share < 0.5))
