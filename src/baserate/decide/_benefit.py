"""Decision curves: what a model is worth to those who would act at each probability, beside flagging all or none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Floats, ratio
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._errors import BadOption, BadShape, NotNumeric
from baserate._numeric.threads import meanwhile
from baserate._results import Results
from baserate._tallies import Tallies
from baserate._tally import Tally
from baserate.infer import _known, _net
from baserate.infer._estimate import Asked
from baserate.measure import flag_rate, net_benefit, net_reduction, standardized_net_benefit
from baserate.measure._benefit import odds
from baserate.measure._proper import check_probabilities
from baserate.measure._summary import check_tallies, header, named_group, tabulated
from baserate.shift._gamma import checked_prevalence
from baserate.shift._reweigh import reweigh

STRATEGIES = ("model", "all", "none")
_NEAR = 1e-12
"""A difference that is only rounding."""


def benefit(
    tallies: Tallies,
    *,
    thresholds: npt.ArrayLike | None = None,
    prevalence: float | None = None,
    level: float | None = 0.95,
) -> Results:
    r"""Tabulate net benefit against the probability from which on one would act: the decision curve [@vickers2006].

    At each threshold there are three strategies: to flag whom the `model` gives at least that probability, to flag
    `all`, and to flag `none`, which is worth 0. Without `thresholds` there are 99, from 0.01 to 0.99; any from 0 to
    below 1 may be given, and are taken in ascending order. The scores must be probabilities. A sample of so many cases
    and so many controls does not know the prevalence: state it, and masses are changed to it (`shift.reweigh`).

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
    """
    check_tallies(tallies)
    at = checked_thresholds(thresholds)
    if level is not None:
        Asked(level).checked()
    if prevalence is not None:
        checked_prevalence("prevalence", prevalence)
    moved = tallies if prevalence is None else reweigh(tallies, to=prevalence)
    size = 3 * sum(len(tally.score) for *_, tally in moved.walk())
    with meanwhile(lambda: header(moved, []), size=size) as told:
        columns = tabulated(moved, lambda tally: _columns(tally, at, level))
    return Results(columns, told() | {"level": level, "useful": list(_useful(moved, columns, at))})


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
        raise NotNumeric(f"thresholds are {given!r}; give one number or several, for example [0.1, 0.2].") from error
    if at.ndim > 1 or not len(at):
        raise BadShape(f"thresholds has shape {at.shape}; give one or several in a row.")
    wrong = ~((at >= 0) & (at < 1))
    if wrong.any():
        raise BadOption(
            f"{wrong.sum()} of {wrong.size} thresholds, the first {at[wrong][0]:g}, do not lie from 0 to below 1; who "
            "would act only if certain never acts: leave them out."
        )
    return np.unique(at)


def _columns(tally: Tally, at: Floats, level: float | None) -> dict[str, Any]:
    """Rows of the three strategies, one below the other."""
    check_probabilities(tally)
    size = len(at)
    strategy = np.repeat(np.array(STRATEGIES, dtype=np.object_), size)
    cuts = np.concatenate([at, np.full(size, -np.inf), np.full(size, np.inf)])
    counts, thrice = Curve(tally).at(cuts), np.tile(at, len(STRATEGIES))
    numbers = _numbers(counts, thrice)
    all_, none = (strategy == name for name in STRATEGIES[1:])
    # Whom a rule flags that looks at no score is certain; so is its worth, if the prevalence is.
    blind = (all_ | none | (thrice == 0)) & tally.reweighed
    net = _bounds(counts, numbers["net_benefit"], ("tp", "fp"), odds(thrice), none | blind, level)
    spared = _bounds(counts, numbers["net_reduction"], ("tn", "fn"), _inverse(thrice), all_ | blind, level)
    found = {"threshold": thrice, "strategy": strategy, "net_benefit": numbers.pop("net_benefit"), **net, **numbers}
    found |= {f"net_reduction_{name}": column for name, column in spared.items()}
    return found | _made(none | blind, tally, level) | {"why": _reasons(tally, thrice)}


def _numbers(counts: Counts[Floats], at: Floats) -> dict[str, Floats]:
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
    counts: Counts[Floats], value: Floats, cells: tuple[str, str], weight: Floats, certain: Bools, level: float | None
) -> dict[str, Floats]:
    """Low and high; none without a level."""
    if level is None:
        nothing = np.full(len(value), np.nan)
        return {"low": nothing, "high": nothing}
    low, high = _net.bounds(counts, cells, weight, level)
    known = certain | np.isnan(value)
    return {
        "low": np.where(known, value, np.minimum(low, value)),
        "high": np.where(known, value, np.maximum(np.minimum(high, 1.0), value)),
    }


def _made(certain: Bools, tally: Tally, level: float | None) -> dict[str, Any]:
    """Level, and what made the bounds of the net benefit."""
    if level is None:
        return {"level": [None] * len(certain), "how": [None] * len(certain)}
    how = np.where(certain, _known.KNOWN, _net.KNOWN if tally.reweighed else _net.HOW).astype(np.object_)
    return {"level": [level] * len(certain), "how": how}


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
