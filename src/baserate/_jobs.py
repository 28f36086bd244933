"""Common jobs in one call each: fit a calibrator, choose a threshold, equalize groups.

`evaluate`, `compare` and `estimate_prevalence` belong to these; they are functions of `report`, `decide` and `shift`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Unpack, overload

import numpy.typing as npt

from baserate import calibration, decide, fairness, shift
from baserate._calibrator import Calibrator, MulticlassCalibrator
from baserate._costs import Costs, CostsLike, as_costs
from baserate._curve import Curve
from baserate._domains import ShareLike, parse_share, parse_shares, unused_option
from baserate._errors import OptionError
from baserate._policy import REFUSE, Policy
from baserate._rows import MulticlassRows, Rows
from baserate._tally import Tallies, Tally
from baserate.read import (
    FittedClassifier,
    OwnData,
    PredictionOptions,
    Scores,
    TableSource,
    accepts_predictions,
)


class CalibrateOptions(PredictionOptions, total=False):
    """Keywords of `calibrate` for type checkers: predictions, and options of methods."""

    method: str
    prevalence: ShareLike | None
    probabilities: bool
    smoothed: bool
    scale: Literal["log-odds", "score"]
    shape: Literal["abm", "ab", "am", "a"]
    strict: bool
    bins: int | Sequence[float]
    by: Literal["width", "mass"]


WITHOUT_INTERCEPT = ("identity", "temperature")
"""Calibrators without a parameter that depends on the prevalence."""


@overload
def calibrate(
    truth: npt.ArrayLike, score: Scores, method: str = ..., /, **options: Unpack[CalibrateOptions]
) -> Calibrator: ...
@overload
def calibrate(
    table: TableSource | OwnData, method: str = ..., /, **options: Unpack[CalibrateOptions]
) -> Calibrator: ...
@overload
def calibrate(
    estimator: FittedClassifier,
    X: Any,  # noqa: ANN401, N803
    y: npt.ArrayLike,
    method: str = ...,
    /,
    **options: Unpack[CalibrateOptions],
) -> Calibrator: ...
@overload
def calibrate(
    rows: MulticlassRows, method: str = ..., /, **options: Unpack[CalibrateOptions]
) -> MulticlassCalibrator: ...
@overload
def calibrate(**options: Unpack[CalibrateOptions]) -> Calibrator: ...
@accepts_predictions("fit")
def calibrate(
    data: Tally | Tallies | Rows | MulticlassRows,
    /,
    method: str = "logistic",
    *,
    prevalence: ShareLike | None = None,
    **options: Any,
) -> Calibrator | MulticlassCalibrator:
    """Fit a calibrator: a function from scores to probabilities, at the sample prevalence or at another one.

    Fit it on rows that the classifier was not trained on. A matrix of scores of several classes gives a calibrator of
    all classes.

    Parameters
    ----------
    data
        Data that were read: a tally, tallies by group, or rows.
    method
        Name of a calibrator, such as "logistic" (also called "platt" or "sigmoid"), "isotonic" or "beta"; "choose"
        selects one by cross-validation. `baserate list calibrators` lists all.
    prevalence
        Deployment prevalence, such as 0.02 or "2%": the rows are reweighted to it before the fit. By default
        probabilities are those at the prevalence of the sample.
    **options
        Options of the method, such as ``bins=15`` of "histogram".

    Returns
    -------
    Calibrator or MulticlassCalibrator
        Call it with scores to get probabilities; `save` writes it to a file.

    Raises
    ------
    OptionError
        If the method cannot adjust to a prevalence.
    FitError
        If the data do not determine the calibrator.

    See Also
    --------
    baserate.calibration.cross_fit : Calibrate each row by a calibrator that was fitted to other rows.

    Examples
    --------
    >>> import baserate
    >>> y, p = [0, 1, 0, 1, 1, 0], [0.2, 0.3, 0.4, 0.6, 0.9, 0.7]
    >>> calibrator = baserate.calibrate(y, p, "platt")
    >>> calibrator([0.2, 0.9]).round(3).tolist()
    [0.254, 0.819]
    >>> baserate.calibrate(y, p, "isotonic", prevalence="20%")([0.9]).tolist()
    [1.0]
    """
    prevalence = parse_share(prevalence)
    if prevalence is not None:
        data = _reweigh(data, prevalence, method)
    return calibration.fit(data, method, **options)


def _reweigh(data: Any, prevalence: float, method: str) -> Tally | Tallies:  # noqa: ANN401  (data of a fit)
    """Return data at another prevalence, for a method whose probabilities follow it."""
    if isinstance(data, MulticlassRows):
        why = "there are several classes. Fit at the shares of the sample, and adjust probabilities by shift.reprior"
        raise unused_option("prevalence", prevalence, why)
    if method in WITHOUT_INTERCEPT:
        why = f"{method} has no intercept that could follow the prevalence. Use logistic, beta, isotonic or offset"
        raise unused_option("prevalence", prevalence, why)
    tallies = data.tallies() if isinstance(data, Rows) else data
    reweighed: Tally | Tallies = shift.reweigh(tallies, prevalence=prevalence)
    return reweighed


Rule = str | Callable[..., Policy] | None


class ThresholdOptions(decide.RuleOptions, total=False):
    """Keywords of `choose_threshold` for type checkers."""

    rule: Rule
    prevalence: ShareLike | None
    costs: CostsLike | None
    model: str | None
    calibrator: Calibrator | None


@overload
def choose_threshold(
    truth: npt.ArrayLike, score: Scores, rule: Rule = ..., /, **options: Unpack[ThresholdOptions]
) -> Policy: ...
@overload
def choose_threshold(
    table: TableSource | OwnData, rule: Rule = ..., /, **options: Unpack[ThresholdOptions]
) -> Policy: ...
@overload
def choose_threshold(
    estimator: FittedClassifier,
    X: Any,  # noqa: ANN401, N803
    y: npt.ArrayLike,
    rule: Rule = ...,
    /,
    **options: Unpack[ThresholdOptions],
) -> Policy: ...
@overload
def choose_threshold(**options: Unpack[ThresholdOptions]) -> Policy: ...
@accepts_predictions("tallies")
def choose_threshold(
    tallies: Tallies,
    rule: str | Callable[..., Policy] | None = None,
    *,
    prevalence: ShareLike | None = None,
    costs: CostsLike | None = None,
    model: str | None = None,
    calibrator: Calibrator | None = None,
    **options: Unpack[decide.RuleOptions],
) -> Policy:
    """Choose the threshold from which cases are flagged: by the costs of both errors, or by another rule.

    Parameters
    ----------
    tallies
        Tallies of the predictions.
    rule
        Name of a rule, such as "youden", "closest", "best" (with ``measure="f1"``), "require" (with
        ``require="sensitivity >= 0.9"``) or "capacity" (with ``share=0.1``); `baserate list rules` lists all. By
        default the rule that its options imply, such as ``require=``; otherwise the one of least expected cost, which
        needs the costs of both errors.
    prevalence
        Deployment prevalence, such as 0.02 or "2%"; by default that of the sample.
    costs
        Costs of outcomes: ``fp=1, fn=20``, a mapping, or :class:`baserate.Costs`.
    model
        Name of the model, where there are scores of several.
    calibrator
        Calibrator that is applied to the scores before the choice. The policy is still one of raw scores.
    **options
        Options of the rule, such as ``measure="f1"``, ``require=…``, ``maximize=…``, ``share=0.1``.

    Returns
    -------
    Policy
        The decision: `policy.threshold` is the threshold; `save` writes it, and :func:`baserate.apply.actions` applies
        it to new rows.

    Raises
    ------
    OptionError
        If neither costs nor a rule are given.
    InfeasibleError
        If no threshold satisfies the requirements.

    See Also
    --------
    baserate.decide.summary : All rules side by side, with intervals and cross-validation.

    Examples
    --------
    >>> import baserate
    >>> y, p = [1, 0, 1, 0, 0, 1], [0.9, 0.6, 0.4, 0.1, 0.2, 0.8]
    >>> baserate.choose_threshold(y, p, fp=1, fn=20, prevalence="10%").threshold
    0.4
    >>> baserate.choose_threshold(y, p, "youden").threshold
    0.8
    >>> baserate.choose_threshold(y, p, "require", require="sensitivity >= 0.9").threshold
    0.4
    """
    prevalence, costs = parse_share(prevalence), as_costs(costs)
    choose = decide.bind_rule(rule, costs, options)
    if costs is not None and "costs" not in choose.keywords:
        name = rule if isinstance(rule, str) else choose.func.__name__
        raise unused_option("costs", costs, f"the rule {name} does not depend on them")
    if prevalence is not None:
        tallies = shift.reweigh(tallies, prevalence=prevalence)
    return decide.choose_policy(tallies, choose, model=model, calibrator=calibrator)


Parities = str | Sequence[str]


class EqualizeOptions(PredictionOptions, total=False):
    """Keywords of `equalize` for type checkers."""

    parity: Parities
    within: float | Mapping[str, float]
    prevalence: ShareLike | Mapping[Any, ShareLike] | None
    costs: CostsLike | None
    objective: str | None
    deterministic: bool
    blind: bool
    model: str | None
    otherwise: str


@overload
def equalize(
    truth: npt.ArrayLike, score: Scores, parity: Parities, /, **options: Unpack[EqualizeOptions]
) -> Policy: ...
@overload
def equalize(
    table: TableSource | OwnData | Mapping[Any, Curve], parity: Parities, /, **options: Unpack[EqualizeOptions]
) -> Policy: ...
@overload
def equalize(
    estimator: FittedClassifier,
    X: Any,  # noqa: ANN401, N803
    y: npt.ArrayLike,
    parity: Parities,
    /,
    **options: Unpack[EqualizeOptions],
) -> Policy: ...
@overload
def equalize(truth: npt.ArrayLike, score: Scores, /, **options: Unpack[EqualizeOptions]) -> Policy: ...
@overload
def equalize(table: TableSource | OwnData, /, **options: Unpack[EqualizeOptions]) -> Policy: ...
@overload
def equalize(**options: Unpack[EqualizeOptions]) -> Policy: ...
@accepts_predictions("groups")
def equalize(  # noqa: PLR0913  (a goal, and how it is reached)
    groups: Tallies | Mapping[Any, Curve],
    parity: str | Sequence[str],
    *,
    within: float | Mapping[str, float] = 0.0,
    prevalence: ShareLike | Mapping[Any, ShareLike] | None = None,
    costs: CostsLike | None = None,
    objective: str | None = None,
    deterministic: bool = False,
    blind: bool = False,
    model: str | None = None,
    otherwise: str = REFUSE,
    **predictions: Unpack[PredictionOptions],
) -> Policy:
    """Choose thresholds of groups: the cheapest policy whose rates agree between groups.

    Which rates should agree is a question of values. Parities cannot all hold at once where prevalences differ.

    Parameters
    ----------
    groups
        Tallies with groups; labels and scores need ``group=``.
    parity
        Rates that must agree: "equalized-odds", "equal-opportunity", "demographic-parity" and others, also several;
        `baserate list parities` lists all.
    within
        Greatest difference of a rate between two groups: 0 for equal rates, or a tolerance such as 0.02.
    prevalence
        Deployment prevalence, such as 0.02 or "2%", of everybody, or a mapping from groups to theirs.
    costs
        Costs of outcomes: ``fp=1, fn=20``, a mapping, or :class:`baserate.Costs`. Without them both errors cost 1, and
        a note of the policy says so.
    objective
        Measure to maximize in place of the least cost, such as "f1", "balanced_accuracy" or "mcc".
    deterministic
        Whether every group has one threshold, without random decisions.
    blind
        Whether all groups have one threshold, so that decisions need no group.
    model
        Name of the model, where there are scores of several.
    otherwise
        Action for unknown groups, and for groups without a class that the parity needs; by default an error.

    Returns
    -------
    Policy
        The decision by group; :func:`baserate.apply.actions` applies it to new rows.

    Raises
    ------
    OptionError
        If there are no groups, or options contradict each other.
    InfeasibleError
        If no thresholds satisfy the parity.

    See Also
    --------
    baserate.fairness.impact : Rates and costs of the groups, before and after.
    baserate.fairness.cross_validate : Disparities on rows that were left out of the choice.

    Examples
    --------
    >>> import baserate
    >>> y, p = [1, 1, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2, 0.8, 0.6, 0.5, 0.3, 0.2, 0.1]
    >>> policy = baserate.equalize(y, p, "equal-opportunity", group=list("ffffffmmmmmm"), fp=1, fn=1)
    >>> policy.action(0.7, ["f"]), policy.action(0.7, ["m"])
    ('pass', 'flag')
    """
    prevalence, costs = parse_shares(prevalence), as_costs(costs)
    if deterministic and blind:
        raise OptionError(
            "deterministic and blind are both given; expected one of them.",
            remedy="Leave out deterministic: a single threshold makes no random decisions.",
            option="deterministic",
        )
    goal = fairness.Goal(parity, within=within, costs=costs or Costs(), prevalence=prevalence, objective=objective)
    choose: Callable[..., Policy] = fairness.optimal_policy
    if deterministic or blind:
        choose = fairness.deterministic_thresholds if deterministic else fairness.common_threshold
    policy = choose(groups, goal, model=model, otherwise=otherwise)
    if costs is not None or objective is not None:
        return policy
    return replace(policy, notes=(*policy.notes, fairness.NO_COSTS_NOTE))
