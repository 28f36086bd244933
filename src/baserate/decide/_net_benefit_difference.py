"""Differences in net benefit between models on the same rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats
from baserate._domains import ShareLike, parse_share
from baserate._errors import EmptyDataError, OptionError, unknown_name
from baserate._results import Results
from baserate._rows import Rows
from baserate._tally import Tally
from baserate.decide._decision_bands import BAND_METHOD, local_level, paired_covariance
from baserate.decide._decision_curve import Harm, as_harms, as_threshold_probabilities, describe_harms
from baserate.infer import CellSample, EstimateRequest, LinearCell, Seed, combine_cell_bounds, make_generator
from baserate.measure import check_probabilities, concatenate, results_data, threshold_odds
from baserate.read import PredictionOptions, accepts_predictions

_Positions = npt.NDArray[np.intp]

_DIFFERENCE_METHOD = "Wilson or Clopper–Pearson of rows that one model flags, in quadrature with their correlations"
_DISCORDANT_CELLS = list(product((True, False), (True, False)))
"""True class (positive or not), and which model flags the row (the first or the second)."""


@accepts_predictions("rows")
def net_benefit_difference(  # noqa: PLR0913  (options by name)
    rows: Rows,
    *,
    models: Sequence[str] | None = None,
    thresholds: npt.ArrayLike | None = None,
    harm: Harm = None,
    level: ShareLike = 0.95,
    simultaneous: bool = False,
    seed: Seed = 0,
    **predictions: Unpack[PredictionOptions],
) -> Results:
    r"""Tabulate differences in net benefit between pairs of models on the same rows, with paired intervals.

    Only rows that exactly one of the two models flags matter. With :math:`w=p_t/(1-p_t)` the `difference` is
    :math:`[(b_1-c_1)-w(b_0-c_0)]/n`: b are rows that only the first model flags, c those that only the second flags,
    and 1 and 0 are the true classes. The intervals combine bounds of the four shares with their correlations
    [@zou2008]. In 135 simulated settings of 50 to 1000 rows they cover at least 94.9% at a nominal 95%, and more
    where few rows differ.

    Parameters
    ----------
    rows
        Rows with the scores of two or more models, as probabilities; not in clusters.
    models
        Names of the models to compare, each with those after it; all by default.
    thresholds
        Threshold probabilities as in `net_benefit_curve`.
    harm
        Harm of applying each test, as in `net_benefit_curve`; the difference is less by the difference in harm.
    level
        Confidence level of the intervals.
    simultaneous
        False for intervals of each threshold by itself. True for bands that contain the differences of all pairs at all
        thresholds together (sup-t bands [@montielolea2019]); each group has bands of its own.
    seed
        Seed or NumPy generator of simultaneous bands.

    Returns
    -------
    Results
        One row per pair of models, group and threshold, all rows first. `tp_rate` and `fp_rate` are differences of
        shares of all.

    Examples
    --------
    >>> from baserate import read
    >>> table = {"sick": [1, 0, 1, 0], "new": [0.9, 0.3, 0.7, 0.1], "old": [0.9, 0.6, 0.4, 0.1]}
    >>> rows = read.rows(table, truth="sick", score=["new", "old"])
    >>> [round(row["difference"], 3) for row in net_benefit_difference(rows, thresholds=[0.2, 0.5]).rows()]
    [0.0, 0.5]
    """
    level = parse_share(level)
    _check_rows(rows)
    at = as_threshold_probabilities(thresholds)
    EstimateRequest(level)
    names = _select_models(rows, models)
    harms = as_harms(harm, names)
    rng = make_generator(seed) if simultaneous else None
    parts = []
    for group, group_rows in _split_groups(rows):
        sample = _PairedSample.of(group_rows, names, at)
        local = level if rng is None else _local_level(sample, level, rng)
        parts += [
            {"model": [names[first]] * len(at), "against": [names[second]] * len(at), "group": [group] * len(at)}
            | _difference_columns(sample, (first, second), harms[names[first]] - harms[names[second]], local)
            for first, second in combinations(range(len(names)), 2)
        ]
    method = f"{_DIFFERENCE_METHOD}, {BAND_METHOD}" if simultaneous else _DIFFERENCE_METHOD
    columns = {name: concatenate([part[name] for part in parts]) for name in parts[0]}
    size = len(columns["threshold"])
    columns |= {"level": [level] * size, "how": [method] * size, "why": [None] * size}
    data = results_data(rows.tallies(), []) | {"level": level, "simultaneous": simultaneous}
    return Results(columns, data | describe_harms(harms, data["notes"]))


def _check_rows(rows: object) -> None:
    if not isinstance(rows, Rows):
        raise OptionError(f"{type(rows).__name__} is not Rows", remedy="read them first, with baserate.read.rows(…).")
    if rows.cluster is not None:
        raise OptionError(
            "rows are in clusters, and have no paired interval", remedy="use infer.compare, at one threshold."
        )
    if not len(rows):
        raise EmptyDataError("there are no rows", remedy="give some to compare models on.")


def _select_models(rows: Rows, models: Sequence[str] | None) -> list[str]:
    """Return the names of two or more models, each once."""
    names = list(dict.fromkeys(rows.score if models is None else models))
    unknown = [name for name in names if name not in rows.score]
    if unknown:
        raise unknown_name("model", unknown[0], rows.score)
    if len(names) < 2:
        raise OptionError(
            f"models are {', '.join(names) or 'none'}; expected at least two names.", remedy="Give scores by name."
        )
    return names


def _split_groups(rows: Rows) -> Iterator[tuple[dict[str, object] | None, Rows]]:
    """Yield all rows, then each group."""
    yield None, rows
    if rows.attributes:
        for number, group in enumerate(rows.groups):
            yield dict(zip(rows.attributes, group, strict=True)), rows.only(rows.group == number)


class _PairedSample(NamedTuple):
    """Rows of several models, by the thresholds at which each model flags them."""

    truth: Any
    at: Floats
    flagged: list[Any]
    """Of each model, the number of thresholds at or below each score: all those at which it flags the row."""
    mass: Floats
    squares: Floats

    @staticmethod
    def of(rows: Rows, names: Sequence[str], at: Floats) -> _PairedSample:
        """Count thresholds below the scores of the named models; raise unless these are probabilities."""
        for name in names:
            check_probabilities(Tally.of_rows(rows.truth, rows.score[name]))
        flagged = [np.searchsorted(at, rows.score[name], side="right") for name in names]
        return _PairedSample(rows.truth, at, flagged, *_row_weights(rows))


def _local_level(sample: _PairedSample, level: float, rng: np.random.Generator) -> float:
    """Return the level of each interval of a band that holds for all pairs of models at all thresholds."""
    odds, many = threshold_odds(sample.at), len(sample.flagged)
    first, second = np.transpose(list(combinations(range(many), 2)))

    def subtract(vectors: Floats) -> Floats:
        each = vectors.reshape(len(vectors), many, len(odds))
        return (each[:, first] - each[:, second]).reshape(len(vectors), -1)

    covariance = paired_covariance(sample.truth, sample.flagged, odds, (sample.mass, sample.squares))
    return local_level(covariance, level, rng, contrast=subtract)


def _difference_columns(sample: _PairedSample, pair: tuple[int, int], harm: float, level: float) -> dict[str, Any]:
    first, second = (sample.flagged[place] for place in pair)
    at, weight = sample.at, threshold_odds(sample.at)
    cells = []
    for positive, by_first in _DISCORDANT_CELLS:
        more, less = (first, second) if by_first else (second, first)
        discordant = (sample.truth == positive) & (more > less)
        weights = [sample.mass[discordant], sample.squares[discordant]]
        summed, squared = _sum_between(more[discordant], less[discordant], weights, len(at))
        factor = (1.0 if by_first else -1.0) * (np.ones(len(at)) if positive else -weight)
        cells.append(LinearCell(summed, squared, factor))
    total = float(sample.mass.sum())
    low, high = combine_cell_bounds([CellSample(total, float(sample.squares.sum()), cells)], level)
    only_first, only_second, false_first, false_second = (cell.mass / total for cell in cells)
    value = only_first - only_second - weight * (false_first - false_second)
    columns = {"threshold": at, "difference": value - harm}
    columns |= {"low": np.minimum(low, value) - harm, "high": np.maximum(high, value) - harm}
    return columns | {"tp_rate": only_first - only_second, "fp_rate": false_first - false_second}


def _row_weights(rows: Rows) -> tuple[Floats, Floats]:
    """Return the mass and the sum of squared weights of each row, which stands for `count` rows."""
    count = np.ones(len(rows)) if rows.count is None else rows.count.astype(np.float64)
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    return count * weight, count * weight * weight


def _sum_between(more: _Positions, less: _Positions, sums: Sequence[Floats], size: int) -> list[Floats]:
    """Sum over the rows that one model flags at `more` thresholds and the other at `less`, for each threshold."""

    def running(weights: Floats | None) -> Any:  # noqa: ANN401  (whole numbers without weights)
        starts, ends = (np.bincount(place, weights=weights, minlength=size + 1) for place in (less, more))
        return np.cumsum(starts - ends)[:size]

    # Cumulative sums of weights may not return to 0 exactly; the integer count of rows does.
    nonempty = running(None) > 0
    return [np.where(nonempty, running(each), 0.0) for each in sums]
