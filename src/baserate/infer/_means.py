"""Intervals of measures of rows with several classes: in closed form where the influence of a row is known.

Losses and hits are means over rows; averages over classes of areas and losses are sums of what each row adds in every
class. Everything else is resampled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from math import isinf, nan, sqrt
from typing import Any

import numpy as np

from baserate._arrays import Floats
from baserate._errors import OptionError
from baserate._rows import LabelSets, MulticlassRows
from baserate._tally import Tally
from baserate.infer import _binomial, _class_averages, _influence, _moments
from baserate.infer._draws import Seed, in_blocks, percentiles
from baserate.infer._found import Found
from baserate.infer._tails import heavy_tail
from baserate.measure import Measure, bare, brier as brier_of_two
from baserate.measure.multiclass import brier, exact_match, log_loss, top_k_accuracy

DRAWS = 500
FEW = 25
"""Degrees of freedom of an observed variance below which a few rows make most of it."""

Noun = MulticlassRows | LabelSets


def interval(measure: Measure, noun: Noun, *, level: float, seed: Seed) -> Found:
    """Bounds of any measure of `MulticlassRows` or `LabelSets`."""
    value = float(measure(noun))
    if isinf(value):
        return Found(nan, nan, "influence function", "the value is infinite")
    plain = bare(measure)
    if plain in _HITS:
        return _share(_HITS[plain](measure, noun), noun, level)
    if isinstance(noun, MulticlassRows):
        if plain in LOSSES:
            return _mean(plain, noun, value, level)
        if vars(measure).get("parts", ())[:2] == (brier_of_two, "macro"):  # the Brier score over the number of classes
            low, high, how, why = _mean(brier, noun, value * len(noun.labels), level)
            return Found(low / len(noun.labels), high / len(noun.labels), how, why)
        found = _class_averages.influence(measure, noun, value)
        if found is not None:
            return _class_averages.interval(found, noun, value, level)
    return _resampled(measure, noun, value, level, seed)


def _share(hit: Floats, noun: Noun, level: float) -> Found:
    """Interval of a share of rows."""
    times, weight = _times(noun), _weight(noun)
    sums = [float(np.sum(times * weight**power * right)) for power in (1, 2) for right in (hit, 1 - hit)]
    if noun.weight is None:
        return Found(*_binomial.interval(_binomial.Share(sums[0], sums[1]), level))
    return Found(*_binomial.interval(_binomial.effective(*sums), level))


def _mean(measure: Measure, rows: MulticlassRows, value: float, level: float) -> Found:
    """Interval of a mean loss with its observed variance, t quantiles, and degrees of freedom by fourth moments.

    Where a few rows make most of that variance, great losses may be missing. There the variance that the probabilities
    imply is used if it is larger, unless losses are clearly smaller than the probabilities imply.
    """
    times, weight = _times(rows), _weight(rows)
    how = "influence function, t quantiles"
    if times.sum() < 2:
        return Found(nan, nan, how, "there is a single row")
    score = np.asarray(rows.score, dtype=np.float64)
    losses = LOSSES[measure](score)
    slopes = weight * (losses[np.arange(len(rows)), rows.truth] - value) / rows.total
    second, fourth = (float(np.sum(times * slopes**power)) for power in (2, 4))
    part = _influence.Part.of(second, fourth, float(times.sum()))
    freedom = _influence.freedom([part])
    variance = part.variance * _moments.widening(freedom, level) ** 2
    if not variance > 0 or freedom < FEW:
        variance = max(variance, _implied(score, losses, times * weight, weight, value, always=not variance > 0))
    if measure is log_loss:
        heavy = heavy_tail(_own_probabilities(score, rows))
        return Found(nan, nan, how, heavy) if heavy else Found(*_moments.positive(value, variance, level), how)
    share = _binomial.as_share(value / 2, variance / 4, float(np.sum(times)))
    low, high = _binomial.wilson(share.hits, share.misses, level)
    return Found(2 * low, 2 * high, how)


def _own_probabilities(score: Floats, rows: MulticlassRows) -> Tally:
    """Tally of the probability that each row gave to its own class, as of so many positives."""
    own = score[np.arange(len(rows)), rows.truth]
    return Tally.of_rows(np.ones(len(rows), dtype=np.bool_), own, count=rows.count)


def _implied(score: Floats, losses: Floats, mass: Floats, weight: Floats, value: float, *, always: bool) -> float:
    """Variance of a mean loss if the probabilities are right; 0 where the losses are two standard errors below that."""
    with np.errstate(invalid="ignore"):
        chances = np.where(score > 0, score * losses, 0.0).sum(axis=1)
        around, spread = (
            np.where(score > 0, score * (losses - middle) ** 2, 0.0).sum(axis=1) for middle in (value, chances[:, None])
        )
    total = float(mass.sum())
    mean, error = float(np.sum(mass * chances)) / total, sqrt(float(np.sum(mass * weight * spread))) / total
    if not always and value < mean - 2 * error:
        return 0.0
    return float(np.sum(mass * weight * around)) / total**2


def _resampled(measure: Measure, noun: Noun, value: float, level: float, seed: Seed) -> Found:
    """Middle of the values with random weights for rows, which are put in an order of their own first."""
    ordered = _ordered(noun)
    times, weight = _times(ordered), _weight(ordered)
    changes: dict[str, Any] = {"count": None} if isinstance(ordered, MulticlassRows) else {}

    def some(rng: np.random.Generator, draws: int) -> Floats:
        found = np.empty(draws)
        for at in range(draws):
            found[at] = measure(replace(ordered, weight=rng.standard_gamma(times) * weight, **changes))
        return found

    draws = in_blocks(some, draws=DRAWS, seed=seed, size=ordered.truth.size * len(ordered.labels))
    defined = draws[~np.isnan(draws)]
    if not len(defined):
        return Found(nan, nan, "Bayesian bootstrap", "no draw is defined")
    low, high = percentiles(defined, level)
    return Found(min(low, value), max(high, value), f"Bayesian bootstrap, {DRAWS} draws")


def _ordered(noun: Noun) -> Noun:
    """Rows in an order that depends on what they hold alone."""
    names = ["truth", "score", "weight", "count" if isinstance(noun, MulticlassRows) else "decided"]
    there = {name: getattr(noun, name) for name in names if getattr(noun, name) is not None}
    keys = [column for each in there.values() for column in np.atleast_2d(each.T)]
    order = np.lexsort(keys[::-1])
    changes: dict[str, Any] = {name: each[order] for name, each in there.items()}
    if isinstance(noun, MulticlassRows):
        changes |= {"group": noun.group[:0], "groups": ((),), "attributes": ()}
    return replace(noun, **changes)


def _times(noun: Noun) -> Floats:
    """How often each row stands for itself."""
    count = noun.count if isinstance(noun, MulticlassRows) else None
    return np.ones(len(noun)) if count is None else np.asarray(count, dtype=np.float64)


def _weight(noun: Noun) -> Floats:
    return np.ones(len(noun)) if noun.weight is None else noun.weight


def _among_best(measure: Measure, rows: Noun) -> Floats:
    k = int(measure.keywords.get("k", 2)) if isinstance(measure, partial) else 2
    if not isinstance(rows, MulticlassRows):
        raise OptionError("top-k accuracy is of rows with one class each.")
    return np.asarray(rows.rank() < k, dtype=np.float64)


def _exact(_measure: Measure, sets: Noun) -> Floats:
    if not isinstance(sets, LabelSets):
        raise OptionError("exact match is of sets of labels.")
    wrong = sets.per_row()
    return np.asarray((wrong.fp + wrong.fn) == 0, dtype=np.float64)


def own_losses(measure: Measure, rows: MulticlassRows) -> Floats:
    """Loss of each row: what it adds to a Brier score or log loss."""
    losses = LOSSES[measure](np.asarray(rows.score, dtype=np.float64))
    return np.asarray(losses[np.arange(len(rows)), rows.truth])


def _squared(score: Floats) -> Floats:
    return np.asarray(np.square(score).sum(axis=1, keepdims=True) + 1 - 2 * score)


def _logarithmic(score: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log(score))


_HITS: Mapping[Measure, Callable[[Measure, Noun], Floats]] = {top_k_accuracy: _among_best, exact_match: _exact}
LOSSES: Mapping[Measure, Callable[[Floats], Floats]] = {brier: _squared, log_loss: _logarithmic}
"""Means of a loss, and the loss for each class that may be the true one."""
