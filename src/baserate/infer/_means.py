"""Intervals of measures of rows with several classes: in closed form where a row's influence is known.

Losses and hits are means over rows; averages over classes of areas and losses are sums of what each row moves in every
class. Everything else is resampled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from math import isinf, nan
from typing import Any

import numpy as np

from baserate._arrays import Floats, ratio
from baserate._class_rows import ClassRows
from baserate._errors import BadOption
from baserate._label_sets import LabelSets
from baserate.infer import _auc, _binomial, _influence, _moments
from baserate.infer._draws import Seed, in_blocks, percentiles
from baserate.infer._found import Found
from baserate.infer._hand_till import moved
from baserate.measure import Measure, about, auc
from baserate.measure._about import bare
from baserate.measure.multiclass import brier, exact_match, hand_till, log_loss, top_k_accuracy

DRAWS = 500

Noun = ClassRows | LabelSets


def interval(measure: Measure, noun: Noun, *, level: float, seed: Seed) -> Found:
    """Bounds of any measure of `ClassRows` or `LabelSets`."""
    value = float(measure(noun))
    if isinf(value):
        return Found(nan, nan, "influence function", "the value is infinite")
    plain = bare(measure)
    if plain in _HITS:
        return _share(_HITS[plain](measure, noun), noun, level)
    if plain in _LOSSES and isinstance(noun, ClassRows):
        return _mean(plain, noun, value, level)
    slopes = _moved_by_rows(measure, noun, value)
    if slopes is not None:
        areas = measure is hand_till or vars(measure)["parts"][0] is auc
        return _smooth(slopes, noun, value, level, areas=areas)
    return _resampled(measure, noun, value, level, seed)


def _share(hit: Floats, noun: Noun, level: float) -> Found:
    """Interval of a share of rows."""
    times, weight = _times(noun), _weight(noun)
    sums = [float(np.sum(times * weight**power * right)) for power in (1, 2) for right in (hit, 1 - hit)]
    if noun.weight is None:
        return Found(*_binomial.interval(_binomial.Share(sums[0], sums[1]), level))
    return Found(*_binomial.interval(_binomial.effective(*sums), level))


def _mean(measure: Measure, rows: ClassRows, value: float, level: float) -> Found:
    """Interval of a mean loss; its variance is that seen, or that to be expected of the probabilities if larger.

    That seen was estimated, and counts with a t quantile.
    """
    score = np.asarray(rows.score, dtype=np.float64)
    losses = _LOSSES[measure](score)
    own = losses[np.arange(len(rows)), rows.truth]
    with np.errstate(invalid="ignore"):
        expected = np.where(score > 0, score * (losses - value) ** 2, 0.0).sum(axis=1)
    times = _times(rows)
    squares = times * _weight(rows) ** 2 / rows.total**2
    if times.sum() < 2:
        return Found(nan, nan, "influence function", "there is a single row")
    part = _part(_weight(rows) * (own - value) / rows.total, times)
    seen = part.variance * _moments.widening(_influence.freedom([part]), level) ** 2
    variance = max(seen, float(np.sum(squares * expected)))
    how = "influence function"
    if measure is log_loss:
        return Found(*_moments.positive(value, variance, level), how)
    share = _binomial.as_share(value / 2, variance / 4, ratio(rows.total**2, float(squares.sum()) * rows.total**2))
    low, high = _binomial.usual(share.hits, share.misses, level)
    return Found(2 * low, 2 * high, how)


def _smooth(slopes: Floats, noun: Noun, value: float, level: float, *, areas: bool) -> Found:
    """Interval of a number in [0, 1], or above 0, of which it is known how much each row moves it."""
    assert isinstance(noun, ClassRows)  # noqa: S101  (for the type checker)
    times = _times(noun)
    parts = [_part(slopes[noun.truth == at], times[noun.truth == at]) for at in np.unique(noun.truth)]
    fewest = sorted(part.rows for part in parts)
    if fewest[0] < 2:
        return Found(nan, nan, "influence function", "a class has a single row")
    variance, freedom = sum(part.variance for part in parts), _influence.freedom(parts)
    how = "influence function"
    if areas:
        low, high, _ = _auc.usual(_auc.Area(value, variance, fewest[0], fewest[1], freedom), level)
        return Found(low, high, how)
    found = _moments.Moments(value, variance, freedom, sum(fewest))
    return Found(*_moments.bounded(found, level), how)


def _part(moved: Floats, times: Floats) -> _influence.Part:
    """What rows add to a variance, each as often as it stands for itself."""
    second, fourth = (float(np.sum(times * moved**power)) for power in (2, 4))
    return _influence.Part.of(second, fourth, float(times.sum()))


def _moved_by_rows(measure: Measure, noun: Noun, value: float) -> Floats | None:
    """How much each row moves a measure in [0, 1]; None where there is no closed form."""
    if not isinstance(noun, ClassRows):
        return None
    if measure is hand_till:
        return moved(noun)
    inner, how, options = vars(measure).get("parts", (None, None, None))
    if options or not _influence.known(inner) or about(inner).span != (0, 1) or how not in ("macro", "weighted"):
        return None
    tallies = noun.one_vs_rest()
    if any(not tally.positives or not tally.negatives for tally in tallies):
        return None
    shares = noun.support / noun.total if how == "weighted" else np.full(len(noun.labels), 1 / len(noun.labels))
    total = np.zeros(len(noun))
    for at, (tally, share) in enumerate(zip(tallies, shares, strict=True)):
        own, true, false = _influence.slopes(inner, tally)
        place = np.searchsorted(-tally.score, -np.asarray(noun.score[:, at], dtype=np.float64))
        total += share * np.where(noun.truth == at, true[place], false[place])
        if how == "weighted":  # a row also makes its class weigh more
            total += np.where(noun.truth == at, own - value, 0.0) / noun.total
    return total * _weight(noun)


def _resampled(measure: Measure, noun: Noun, value: float, level: float, seed: Seed) -> Found:
    """Middle of the values with random weights for rows, which are put in an order of their own first."""
    ordered = _ordered(noun)
    times, weight = _times(ordered), _weight(ordered)
    changes: dict[str, Any] = {"count": None} if isinstance(ordered, ClassRows) else {}

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
    names = ["truth", "score", "weight", "count" if isinstance(noun, ClassRows) else "decided"]
    there = {name: getattr(noun, name) for name in names if getattr(noun, name) is not None}
    keys = [column for each in there.values() for column in np.atleast_2d(each.T)]
    order = np.lexsort(keys[::-1])
    changes: dict[str, Any] = {name: each[order] for name, each in there.items()}
    if isinstance(noun, ClassRows):
        changes |= {"group": noun.group[:0], "groups": ((),), "attributes": ()}
    return replace(noun, **changes)


def _times(noun: Noun) -> Floats:
    """How often each row stands for itself."""
    count = noun.count if isinstance(noun, ClassRows) else None
    return np.ones(len(noun)) if count is None else np.asarray(count, dtype=np.float64)


def _weight(noun: Noun) -> Floats:
    return np.ones(len(noun)) if noun.weight is None else noun.weight


def _among_best(measure: Measure, rows: Noun) -> Floats:
    k = int(measure.keywords.get("k", 2)) if isinstance(measure, partial) else 2
    if not isinstance(rows, ClassRows):
        raise BadOption("top-k accuracy is of rows with one class each.")
    return np.asarray(rows.rank() < k, dtype=np.float64)


def _exact(_measure: Measure, sets: Noun) -> Floats:
    if not isinstance(sets, LabelSets):
        raise BadOption("exact match is of sets of labels.")
    wrong = sets.per_row()
    return np.asarray((wrong.fp + wrong.fn) == 0, dtype=np.float64)


def _squared(score: Floats) -> Floats:
    return np.asarray(np.square(score).sum(axis=1, keepdims=True) + 1 - 2 * score)


def _logarithmic(score: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log(score))


_HITS: Mapping[Measure, Callable[[Measure, Noun], Floats]] = {top_k_accuracy: _among_best, exact_match: _exact}
_LOSSES: Mapping[Measure, Callable[[Floats], Floats]] = {brier: _squared, log_loss: _logarithmic}
