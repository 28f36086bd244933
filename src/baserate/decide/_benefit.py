"""Decision curves: what a model is worth to those who would act at each probability, beside flagging all or none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Floats, ratio
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._domains import SHARE
from baserate._errors import NotBinaryError, NotNumericError, OptionError, ShapeError
from baserate._numeric.threads import meanwhile
from baserate._results import Results
from baserate._tally import Tallies, Tally
from baserate.infer import FIXED_METHOD, LINEAR_FIXED_METHOD, LINEAR_METHOD, EstimateRequest, bound_linear_cells
from baserate.measure import (
    check_probabilities,
    check_tallies,
    flag_rate,
    header,
    joined,
    named_group,
    net_benefit,
    net_reduction,
    odds,
    standardized_net_benefit,
)
from baserate.shift import checked_prevalence, reweigh, threshold as score_threshold

STRATEGIES = ("model", "all", "none")
_NEAR = 1e-12
"""A difference that is only rounding."""
Origin = float | Literal["sample"] | None
"""Prevalence at which scores are calibrated: a number, that of the sample; None keeps the scores as they are."""


def benefit(
    tallies: Tallies,
    *,
    thresholds: npt.ArrayLike | None = None,
    prevalence: float | None = None,
    scores_from: Origin = "sample",
    level: float | None = 0.95,
) -> Results:
    r"""Tabulate net benefit against the probability from which on one would act: the decision curve [@vickers2006].

    At each threshold there are three strategies: to flag whom the `model` gives at least that probability, to flag
    `all`, and to flag `none`, which is worth 0. Without `thresholds` there are 99, from 0.01 to 0.99; any from 0 to
    below 1 may be given, and are taken in ascending order. The scores must be probabilities.

    State the deployment `prevalence` where it is not that of the rows. Then masses are changed to it (`shift.reweigh`),
    and so are the scores (`shift.reprior`), since a probability that is right in the sample is wrong at another
    prevalence. `scores_from` is the prevalence at which the scores are calibrated: that of the "sample", or a number,
    such as the prevalence of the training data. None keeps the scores: they are right at the deployment prevalence
    already, as in many case-control studies, or they are to be judged unadjusted. `data["scores"]` says what was done.

    `tp_rate`, `fp_rate` and `flag_rate` are shares of everybody. `low` and `high` bound the net benefit with confidence
    `level`, each threshold for itself, and `net_reduction_low` and `_high` the interventions spared; None leaves them
    out. `standardized` and `net_reduction` are as in
    `baserate.measure`. `data["useful"]` says between which of the thresholds the model beats both other strategies.

    >>> from baserate import read
    >>> t = read.tallies({"sick": [1, 0, 1, 0, 0], "risk": [0.9, 0.6, 0.4, 0.2, 0.1]}, truth="sick", score="risk")
    >>> found = benefit(t, thresholds=[0.1, 0.3, 0.5])
    >>> [(row["strategy"], row["threshold"], round(row["net_benefit"], 3)) for row in found.rows()][1:6]
    [('model', 0.3, 0.314), ('model', 0.5, 0.0), ('all', 0.1, 0.333), ('all', 0.3, 0.143), ('all', 0.5, -0.2)]
    >>> found.data["useful"]
    [{'model': None, 'group': None, 'ranges': [[0.3, 0.3]]}]
    >>> benefit(t, thresholds=[0.1], prevalence=0.1).data["scores"]
    {'adjusted': True, 'from': 0.4, 'to': 0.1}
    """
    check_tallies(tallies)
    at = checked_thresholds(thresholds)
    if level is not None:
        EstimateRequest(level)
    if prevalence is not None:
        checked_prevalence("prevalence", prevalence)
    moved = tallies if prevalence is None else reweigh(tallies, to=prevalence)
    adjustments = _adjustments(tallies, scores_from, prevalence)
    size = 3 * sum(len(tally.score) for *_, tally in moved.walk())
    with meanwhile(lambda: header(moved, []), size=size) as told:
        columns = _tabulate(moved, at, adjustments, level)
    data = told() | {"level": level, "useful": list(_useful(moved, columns, at))}
    return Results(columns, data | _describe_scores(tallies, adjustments, prevalence))


class Adjustment(NamedTuple):
    """Prevalence at which scores are calibrated, and the one that they are adjusted to."""

    from_: float
    to: float


def _adjustments(tallies: Tallies, given: Origin, prevalence: float | None) -> dict[str, Adjustment]:
    """How the scores of each model are adjusted; empty where they are kept."""
    if given is None or (given == "sample" and prevalence is None):
        return {}
    if given != "sample":
        if isinstance(given, str):
            raise OptionError(f"scores_from is {given!r}; expected 'sample', a prevalence or None. Give one of them.")
        checked_prevalence("scores_from", given)
    found = {}
    for model in tallies.models:
        own = tallies.pooled(model).prevalence
        if not 0 < own < 1:
            raise NotBinaryError(
                "there is one class alone, so there is no prevalence to adjust scores to; give both classes."
            )
        found[model] = Adjustment(
            own if given == "sample" else float(given), own if prevalence is None else float(prevalence)
        )
    return found


def _tabulate(
    tallies: Tallies, at: Floats, adjustments: Mapping[str, Adjustment], level: float | None
) -> dict[str, Any]:
    """Rows of every model and group, one below the other."""
    parts: list[dict[str, Any]] = []
    for model, group, tally in tallies.walk():
        check_probabilities(tally)
        cuts = adjusted_cuts(at, adjustments[model]) if model in adjustments else at
        name = model if len(tallies.models) > 1 else None
        found = _columns(tally, at, cuts, level)
        size = len(found["threshold"])
        parts.append({"model": [name] * size, "group": [named_group(tallies, group)] * size, **found})
    return {name: joined([part[name] for part in parts]) for name in parts[0]}


def adjusted_cuts(at: Floats, adjustment: Adjustment) -> Floats:
    """Scores whose adjusted values reach each probability.

    A score whose adjusted value equals the probability is flagged, whichever way the two were rounded.
    """
    if adjustment.from_ == adjustment.to:
        return at
    return score_threshold(at, from_=adjustment.from_, to=adjustment.to) * (1 - _NEAR)


def _describe_scores(
    tallies: Tallies, adjustments: Mapping[str, Adjustment], prevalence: float | None
) -> dict[str, Any]:
    """Say whether scores were adjusted, from where to where: data of the results, and their notes."""
    if not adjustments:
        return {"scores": {"adjusted": False, "from": None, "to": prevalence}}
    known = prevalence is not None
    first, *others = adjustments.values()
    if all(other == first for other in others):
        where = f"to a prevalence of {first.to:.6g}, {'the scores ' if known else ''}from {first.from_:.6g}"
        found: dict[str, Any] = {"from": first.from_, "to": first.to}
    else:
        where = "to the stated prevalence, the scores from that of each model" if known else "for each model"
        found = {
            name: {model: each[at] for model, each in adjustments.items()} for at, name in enumerate(("from", "to"))
        }
    what, sure = ("masses and scores", "; the prevalence is taken as known") if known else ("scores", "")
    note = f"{what} were adjusted {where}{sure}."
    return {"scores": {"adjusted": True, **found}, "notes": [*tallies.intake.notes, note]}


def net_benefits(curve: Curve, thresholds: npt.ArrayLike | None = None) -> dict[str, Floats]:
    """Compute only the numbers of a decision curve: columns of equal length, `threshold` first; `all` flags everybody.

    >>> from baserate import curve, tally
    >>> found = net_benefits(curve(tally([1, 0, 1, 0, 0], [0.9, 0.6, 0.4, 0.2, 0.1])), [0.1, 0.3, 0.5])
    >>> found["net_benefit"].round(3).tolist(), found["all"].round(3).tolist()
    ([0.333, 0.314, 0.0], [0.333, 0.143, -0.2])
    """
    check_probabilities(curve.tally)
    at = checked_thresholds(thresholds)
    weight = odds(at)
    everybody = ratio(curve.positives - weight * curve.negatives, curve.total)
    return {"threshold": at, **_numbers(curve.at(at), at), "all": everybody}


def checked_thresholds(given: npt.ArrayLike | None) -> Floats:
    """Probabilities from which on somebody would act: ascending, each once; without any, from 0.01 to 0.99."""
    if given is None:
        return np.arange(1, 100) / 100
    try:
        at = np.atleast_1d(np.asarray(given, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise NotNumericError(
            f"thresholds are {given!r}; give one number or several, for example [0.1, 0.2]."
        ) from error
    if at.ndim > 1 or not len(at):
        raise ShapeError(f"thresholds has shape {at.shape}; give one or several in a row.")
    wrong = ~((at == 0) | ((at >= SHARE.low) & (at <= SHARE.high)))
    if wrong.any():
        raise OptionError(
            f"{wrong.sum()} of {wrong.size} thresholds, the first {at[wrong][0]:g}, are neither 0 nor "
            f"{SHARE.words}; who would act only if certain never acts: leave them out."
        )
    return np.unique(at)


def _columns(tally: Tally, at: Floats, cuts: Floats, level: float | None) -> dict[str, Any]:
    """Rows of the three strategies, one below the other; the model flags scores from each of the cuts on."""
    curve = Curve(tally)
    tables: list[Counts[Any]] = [curve.at(cuts), curve.at(-np.inf), curve.at(np.inf)]
    parts = [_strategy(name, table, at, level) for name, table in zip(STRATEGIES, tables, strict=True)]
    found = {name: np.concatenate([np.broadcast_to(part[name], at.shape) for part in parts]) for name in parts[0]}
    return found | {"why": np.tile(_reasons(tally, at), len(parts))}


def _strategy(name: str, counts: Counts[Any], at: Floats, level: float | None) -> dict[str, Any]:
    """Columns of one strategy: numbers where all rows have the same table, arrays where each has its own."""
    numbers = _numbers(counts, at)
    # Whom a rule flags that looks at no score is certain; so is its worth, if the prevalence is.
    blind = (np.not_equal(name, "model") | (at == 0)) & counts.reweighed
    idle, lavish = blind | (name == "none"), blind | (name == "all")
    net = _bounds(
        numbers["net_benefit"], idle, level, lambda sure: bound_linear_cells(counts, ("tp", "fp"), odds(at), sure)
    )
    spared = _bounds(
        numbers["net_reduction"],
        lavish,
        level,
        lambda sure: bound_linear_cells(counts, ("tn", "fn"), _inverse(at), sure),
    )
    made = LINEAR_FIXED_METHOD if counts.reweighed else LINEAR_METHOD
    return {
        "threshold": at,
        "strategy": np.array(name, dtype=np.object_),
        "net_benefit": numbers.pop("net_benefit"),
        **net,
        **numbers,
        **{f"net_reduction_{end}": column for end, column in spared.items()},
        "level": np.array(level, dtype=np.object_),
        "how": np.where(idle, FIXED_METHOD, made).astype(np.object_) if level else np.array(None, dtype=np.object_),
    }


def _numbers(counts: Counts[Any], at: Floats) -> dict[str, Any]:
    total = counts.total
    spared: Floats = net_reduction(counts, at=np.where(at > 0, at, 0.5))
    return {
        "net_benefit": net_benefit(counts, at=at),
        "standardized": standardized_net_benefit(counts, at=at),
        "net_reduction": np.where(at > 0, spared, np.nan),
        "tp_rate": ratio(counts.tp, total),
        "fp_rate": ratio(counts.fp, total),
        "flag_rate": flag_rate(counts),
    }


def _bounds(
    value: Floats, certain: Bools, level: float | None, made: Callable[[float], tuple[Any, Any]]
) -> dict[str, Floats]:
    """Low and high; none without a level."""
    if level is None:
        return {"low": np.full(len(value), np.nan), "high": np.full(len(value), np.nan)}
    known = certain | np.isnan(value)
    if known.all():
        return {"low": value, "high": value}
    low, high = made(level)
    return {
        "low": np.where(known, value, np.minimum(low, value)),
        "high": np.where(known, value, np.maximum(np.minimum(high, 1.0), value)),
    }


def _inverse(at: Floats) -> Floats:
    """How many interventions a missed positive outweighs; nothing is spared at a threshold of 0."""
    return np.where(at > 0, 1 / odds(np.where(at > 0, at, 0.5)), 0.0)


def _reasons(tally: Tally, at: Floats) -> npt.NDArray[np.object_]:
    """Why a number of a row is undefined."""
    if not tally.total:
        return np.full(len(at), "there are no rows", dtype=np.object_)
    missing = [] if tally.positives else ["there are no positives, so nothing can be standardised"]
    at_zero = "; ".join([*missing, "at a threshold of 0 nothing can be spared"])
    reasons = np.full(len(at), missing[0] if missing else None, dtype=np.object_)
    reasons[at == 0] = at_zero
    return reasons


def _useful(tallies: Tallies, columns: dict[str, Any], at: Floats) -> Iterator[dict[str, Any]]:
    """Between which thresholds each model beats both other strategies."""
    worth = np.asarray(columns["net_benefit"]).reshape(-1, len(STRATEGIES), len(at))
    several = len(tallies.models) > 1
    for (model, group, _), (own, everybody, nobody) in zip(tallies.walk(), worth, strict=True):
        better = own > np.maximum(everybody, nobody) + _NEAR
        name = model if several else None
        yield {"model": name, "group": named_group(tallies, group), "ranges": _runs(better, at)}


def _runs(better: Bools, at: Floats) -> list[list[float]]:
    """First and last threshold of each run."""
    steps = np.diff(np.concatenate([[0], better.astype(np.int8), [0]]))
    first, last = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1) - 1
    return [[float(at[start]), float(at[end])] for start, end in zip(first, last, strict=True)]
