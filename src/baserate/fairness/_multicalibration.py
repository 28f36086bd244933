r"""Multicalibration: calibration in many overlapping groups, with control of the error over all of them.

Groups are all values of some attributes and their intersections, perhaps within ranges of the score. Each is a union of
disjoint cells. If the model is calibrated, the number of positives of a cell is a sum of Bernoulli variables with known
probabilities, independent of other cells; so the joint distribution of all groups is known, too, with their overlap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import combinations
from math import inf, isnan
from typing import Any, NamedTuple, Unpack, cast

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Floats, ratio
from baserate._domains import (
    BINS,
    LEVEL,
    MIN_GROUP,
    Domain,
    ShareLike,
    check_domain,
    check_memory,
    parse_share,
    wrong_option,
)
from baserate._errors import FitError, OptionError, keyword
from baserate._formatting import count_of
from baserate._numeric.logistic import log_odds
from baserate._results import Results
from baserate._tally import Group, Tallies, Tally
from baserate.fairness._group_counts import Row, check_min_group, require_groups
from baserate.infer import (
    Seed,
    check_n_samples,
    holm,
    make_generator,
    normal_quantile,
    sample_in_blocks,
)
from baserate.measure import check_probabilities, check_tallies, results_data
from baserate.read import PredictionOptions, accepts_predictions, sort_labels

ADJUSTMENTS = ("max", "holm", "by", "bh")
"""Names of the adjustments of p-values."""
MULTICALIBRATION_COLUMNS = (
    *("rank", "model", "group", "lower", "upper", "rows", "observed", "expected", "value"),
    *("low", "high", "low_simultaneous", "high_simultaneous", "level"),
    *("z", "p", "p_adjusted", "p_is_bound", "how", "why"),
)
_DEPTH = Domain(1, 100, "a whole number from 1 to 100", "2", whole=True)
N_SIMULATIONS = 10_000
_FREQUENCIES = 1024
"""Points of the discrete Fourier transform of a number of positives; others have no probability beyond rounding."""
_MAX_EXACT_VARIANCE = 1000.0
"""Variance of a number of positives up to which its distribution is exact: 16 standard deviations on either side."""
_LEAST_EXACT_P = 1e-12
"""Smallest p-value of the Fourier transform that is not rounding."""
_POOL, _COARSE_POOL = 128, 64
"""Pooled scores of a cell that approximate its distribution, and its intervals."""
_SHIFTS = np.linspace(-20.0, 20.0, 801)
"""Shifts of the log-odds between which intervals are interpolated."""
_EXACT, _SCORE = "exact distribution of a sum of Bernoulli variables", "score test"


class Cell(NamedTuple):
    """Rows of one group in one range of scores; cells do not overlap."""

    group: Group
    bin: int
    tally: Tally


@dataclass(frozen=True, slots=True)
class Subgroup:
    """A group that is tested: labels of some attributes, and a range of scores or all scores."""

    labels: tuple[tuple[int, object], ...]
    """Place of an attribute, with its label."""
    bin: int | None

    def includes(self, cell: Cell) -> bool:
        """Return whether a cell belongs to the group."""
        in_range = self.bin is None or cell.bin == self.bin
        return in_range and all(cell.group[place] == label for place, label in self.labels)


def list_subgroups(groups: Sequence[Group], *, depth: int, n_bins: int) -> list[Subgroup]:
    """List all combinations of labels of up to `depth` attributes that occur, from everybody on, with their bins.

    >>> [each.labels for each in list_subgroups([("f", 1), ("m", 2)], depth=1, n_bins=1)]
    [(), ((0, 'f'),), ((0, 'm'),), ((1, 1),), ((1, 2),)]
    """
    n_attributes = len(groups[0])
    subgroups = []
    for size in range(depth + 1):
        for places in combinations(range(n_attributes), size):
            kinds = {tuple(group[place] for place in places) for group in groups}
            for labels in cast("list[Group]", sort_labels(kinds)):
                pairs: tuple[tuple[int, object], ...] = tuple(zip(places, labels, strict=True))
                subgroups += [Subgroup(pairs, each) for each in [None, *(range(n_bins) if n_bins > 1 else ())]]
    return subgroups


def _bin_edges(tally: Tally, n_bins: int) -> Floats:
    """Return scores that divide the rows into bins of about equal mass, ascending, without the ends."""
    score, mass = tally.score[::-1], tally.mass.sum(axis=0, dtype=np.float64)[::-1]
    levels = mass.sum() * np.arange(1, n_bins) / n_bins
    places = np.searchsorted(np.cumsum(mass), levels) + 1
    return np.unique(score[places[places < len(score)]])


def _split_cells(groups: Mapping[Group, Tally], edges: Floats) -> list[Cell]:
    """Split the tally of each group at the edges; a score at an edge belongs to the range above."""
    cells = []
    for group, tally in groups.items():
        bins = np.searchsorted(edges, tally.score, side="right")
        cells += [Cell(group, int(at), _select_scores(tally, bins == at)) for at in np.unique(bins)]
    return cells


def _select_scores(tally: Tally, places: Bools) -> Tally:
    """Return the tally of some scores."""
    rows = tally.rows[:, places]
    if not tally.weighted:
        return Tally(tally.score[places], rows, rows, rows)
    return Tally(tally.score[places], tally.mass[:, places], tally.squares[:, places], rows)


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """Sums of all cells, and what their distribution under calibration needs; one entry for each cell."""

    mass: Floats
    rows: Floats
    observed: Floats
    expected: Floats
    variance: Floats
    weighted: bool
    log_transform: Any
    """Logarithm of the characteristic function at each frequency; a row for each cell."""
    shifted_mean: Floats
    """Expected positives after each shift of the log-odds; a row for each cell."""
    shifted_variance: Floats

    @staticmethod
    def of(cells: Sequence[Cell]) -> _Cells:
        """Compute the sums of cells."""
        shifted = [_shift_sums(*_pooled_parts(cell.tally, _COARSE_POOL)) for cell in cells]
        sums = np.array([_cell_sums(cell.tally) for cell in cells]).T
        mass, rows, observed, expected, variance = sums
        weighted = any(cell.tally.weighted for cell in cells)
        parts = [] if weighted else [_pooled_parts(cell.tally, _POOL) for cell in cells]
        transform = np.array([_log_transform(score, mass) for score, mass, _ in parts])
        means, variances = (np.array([pair[at] for pair in shifted]) for at in (0, 1))
        return _Cells(mass, rows, observed, expected, variance, weighted, transform, means, variances)


def _cell_sums(tally: Tally) -> tuple[float, ...]:
    """Return mass, rows, positives, expected positives and their variance."""
    p = tally.score
    squares, mass = (np.asarray(each, dtype=np.float64).sum(axis=0) for each in (tally.squares, tally.mass))
    variance = float((squares * p * (1 - p)).sum())
    return float(mass.sum()), float(tally.rows.sum()), tally.positives, float((mass * p).sum()), variance


def _pooled_parts(tally: Tally, n_buckets: int) -> tuple[Floats, Floats, Floats]:
    """Return scores, masses and squared weights, pooled into a few buckets with their mean score."""
    mass, squares = (np.asarray(each, dtype=np.float64).sum(axis=0) for each in (tally.mass, tally.squares))
    if len(tally.score) <= n_buckets:
        return tally.score, mass, squares
    starts = np.unique(np.searchsorted(np.cumsum(mass), mass.sum() * np.arange(n_buckets) / n_buckets))
    total = np.add.reduceat(mass, starts)
    score = np.where(total > 0, ratio(np.add.reduceat(mass * tally.score, starts), total), tally.score[starts])
    return np.clip(score, 0.0, 1.0), total, np.add.reduceat(squares, starts)


def _log_transform(score: Floats, mass: Floats) -> Any:  # noqa: ANN401  (complex numbers)
    """Return the logarithm of the characteristic function of the number of positives, at non-negative frequencies."""
    turn = 2 * np.pi * np.arange(_FREQUENCIES // 2 + 1) / _FREQUENCIES
    p = score[:, None]
    # Size and angle of 1 − p + p·exp(iω), in real arithmetic, which is faster. A size of 0 (p = 0.5 at the highest
    # frequency) has no logarithm; the least float has nearly its effect.
    size = np.maximum(1 - 2 * p * (1 - p) * (1 - np.cos(turn)), np.finfo(np.float64).tiny)
    angle = np.arctan2(p * np.sin(turn), 1 - p + p * np.cos(turn))
    return mass @ np.log(size) / 2 + 1j * (mass @ angle)


def _shift_sums(score: Floats, mass: Floats, squares: Floats) -> tuple[Floats, Floats]:
    """Return the expected positives and their variance after each shift of the log-odds."""
    from scipy.special import expit

    p = expit(log_odds(score)[:, None] + _SHIFTS)
    return mass @ p, squares @ (p * (1 - p))


def _distributions(cells: _Cells, members: Floats, expected: Floats) -> tuple[Floats, Floats]:
    """Return the lowest number and the probabilities of numbers from it on, a row for each union of cells."""
    base = np.floor(expected) - _FREQUENCIES // 2
    frequency = 2j * np.pi * np.arange(_FREQUENCIES // 2 + 1) / _FREQUENCIES
    transform = np.exp(members @ cells.log_transform - base[:, None] * frequency)
    masses = np.maximum(np.fft.irfft(np.conj(transform), n=_FREQUENCIES, axis=1), 0.0)
    return base, masses / masses.sum(axis=1, keepdims=True)


@dataclass(frozen=True, slots=True, eq=False)
class _Tests:
    """Tests of all subgroups that are large enough."""

    members: Floats
    """Whether a cell (column) belongs to a subgroup (row), as 0 or 1."""
    mass: Floats
    observed: Floats
    expected: Floats
    variance: Floats

    @staticmethod
    def of(cells: _Cells, members: Floats) -> _Tests:
        """Sum cells to subgroups."""
        sums = (members @ each for each in (cells.mass, cells.observed, cells.expected, cells.variance))
        return _Tests(members, *sums)

    def select(self, places: Any) -> _Tests:  # noqa: ANN401  (any index of an array)
        """Select some subgroups."""
        return _Tests(*(getattr(self, each.name)[places] for each in fields(self)))

    @property
    def z(self) -> Floats:
        """Score statistic: observed less expected positives, over their standard deviation."""
        surplus = self.observed - self.expected
        surplus = np.where(np.abs(surplus) <= 1e-9 * np.maximum(self.expected, 1.0), 0.0, surplus)
        return np.nan_to_num(ratio(surplus, np.sqrt(self.variance)), posinf=inf, neginf=-inf)

    def p_values(self, cells: _Cells) -> tuple[Floats, Bools]:
        """Return two-sided p-values, and whether each is exact: twice the smaller tail; otherwise normal."""
        from scipy.special import ndtr

        p = np.maximum(2 * ndtr(-np.abs(self.z)), np.finfo(np.float64).tiny)
        exact = np.flatnonzero((self.variance <= _MAX_EXACT_VARIANCE) & (not cells.weighted))
        if len(exact):
            base, masses = _distributions(cells, self.members[exact], self.expected[exact])
            place = np.clip(np.round(self.observed[exact]) - base, 0, _FREQUENCIES - 1).astype(np.intp)
            below = np.arange(_FREQUENCIES) <= place[:, None]
            own = masses[np.arange(len(exact)), place]
            lower = (masses * below).sum(axis=1)
            upper = (masses * ~below).sum(axis=1) + own
            p[exact] = np.clip(2 * np.minimum(lower, upper), _LEAST_EXACT_P, 1.0)
        return p, np.isin(np.arange(len(p)), exact)

    def intervals(self, cells: _Cells, critical: float) -> tuple[Floats, Floats]:
        """Return intervals of the mean difference, by inverting the score test for shifts of the log-odds."""
        means, variances = self.members @ cells.shifted_mean, self.members @ cells.shifted_variance
        lows, highs = np.empty(len(self.mass)), np.empty(len(self.mass))
        for at, (mean, variance) in enumerate(zip(means, variances, strict=True)):
            distance = ratio(mean - self.observed[at], np.sqrt(variance))
            # The distance grows with the shift; equal neighbors, by rounding at the ends, must not confuse the search.
            rising = np.maximum.accumulate(np.nan_to_num(distance, nan=-inf, posinf=1e300, neginf=-1e300))
            ends = np.interp([-critical, critical], rising, mean)
            lows[at], highs[at] = (ends - self.expected[at]) / self.mass[at]
        value = (self.observed - self.expected) / self.mass
        # Pooled scores and interpolation may move a bound past the value by rounding.
        return np.minimum(lows, value), np.maximum(highs, value)


def _simulate(cells: _Cells, tests: _Tests, *, n_simulations: int, seed: Seed) -> Floats:
    """Simulate the absolute statistics of all subgroups of a calibrated model, a row for each simulation."""
    n_cells, n_tests = tests.members.shape[1], len(tests.mass)
    check_memory(f"{n_simulations} simulations of {n_tests} groups", 3.0 * n_simulations * n_tests, "Reduce them")
    scale = np.sqrt(cells.variance)
    exact = np.flatnonzero((cells.variance <= _MAX_EXACT_VARIANCE) & (not cells.weighted))
    normal = np.setdiff1d(np.arange(n_cells), exact)
    if len(exact):
        base, masses = _distributions(cells, np.eye(n_cells)[exact], cells.expected[exact])
        below = np.cumsum(masses, axis=1)
    members = tests.members.T / np.where(tests.variance > 0, np.sqrt(tests.variance), inf)

    def sample(rng: np.random.Generator, n_samples: int) -> Floats:
        surplus = np.empty((n_samples, n_cells))
        surplus[:, normal] = rng.standard_normal((n_samples, len(normal))) * scale[normal]
        for row, at in enumerate(exact):
            number = np.searchsorted(below[row], rng.random(n_samples) * below[row, -1], side="right")
            surplus[:, at] = np.minimum(number, _FREQUENCIES - 1) + base[row] - cells.expected[at]
        return np.abs(surplus @ members)

    return sample_in_blocks(sample, n_samples=n_simulations, seed=seed, size=n_cells + n_tests)


def _max_adjusted(z: Floats, simulated: Floats) -> Floats:
    """Adjust p-values by the greatest of simulated statistics, step by step from the greatest on.

    The hypothesis with the k-th greatest statistic is compared with the greatest simulated one of it and all later
    hypotheses [@westfall1993].
    """
    order = np.argsort(-np.abs(z), kind="stable")
    greatest = np.maximum.accumulate(simulated[:, order[::-1]], axis=1)[:, ::-1]
    # Equal numbers of positives must count as equal; their statistics round differently.
    reached = (greatest >= np.abs(z[order]) - 1e-9).sum(axis=0)
    adjusted = np.empty(len(z))
    adjusted[order] = np.maximum.accumulate((1 + reached) / (1 + len(simulated)))
    return adjusted


def _false_discovery_adjusted(p: Floats, *, dependent: bool) -> Floats:
    """Adjust p-values for the false discovery rate, of independent tests or of any [@benjamini1995] [@benjamini2001].

    >>> _false_discovery_adjusted(np.array([0.01, 0.02, 0.5]), dependent=False).round(3).tolist()
    [0.03, 0.03, 0.5]
    """
    order, n_tests = np.argsort(p), len(p)
    factor = float(np.sum(1 / np.arange(1, n_tests + 1))) if dependent else 1.0
    stepped = p[order] * n_tests * factor / np.arange(1, n_tests + 1)
    adjusted = np.empty(n_tests)
    adjusted[order] = np.minimum(np.minimum.accumulate(stepped[::-1])[::-1], 1.0)
    return adjusted


@accepts_predictions("tallies")
def multicalibration(  # noqa: PLR0913  (which groups, and how they are tested)
    tallies: Tallies,
    *,
    depth: int = 2,
    bins: int | None = None,
    adjust: str = "max",
    min_group: int = MIN_GROUP,
    level: ShareLike = 0.95,
    n_simulations: int = N_SIMULATIONS,
    seed: Seed = 0,
    **predictions: Unpack[PredictionOptions],
) -> Results:
    r"""Test calibration in many overlapping groups, with control of the error over all of them: multicalibration.

    Groups are everybody, all labels of each attribute, and all intersections of up to `depth` attributes; with `bins`
    also each of them within ranges of the score. A model is multicalibrated if the mean outcome of each equals its mean
    score [@hebertjohnson2018]. The statistic of a group is :math:`z=\sum w(y-p)/\sqrt{\sum w^2p(1-p)}`.

    The default adjustment compares the statistics with the greatest of all groups in simulations of a calibrated model.
    It controls the family-wise error rate and allows for the overlap, so it is sharper than Holm's.

    Parameters
    ----------
    tallies
        Tallies of probabilities that were read with groups.
    depth
        Greatest number of attributes that an intersection combines.
    bins
        Number of score ranges with about equal numbers of rows; None for all scores only.
    adjust
        Adjustment of p-values: "max" or "holm" for the family-wise error rate; "by" (Benjamini–Yekutieli) for the false
        discovery rate, or "bh" (Benjamini–Hochberg), which assumes that the tests are not negatively dependent.
    min_group
        Number of rows below which a group is listed but not tested.
    level
        Confidence level of the intervals, pointwise (`low`, `high`) and simultaneous over all tested groups.
    n_simulations
        Number of simulations of a calibrated model.
    seed
        Random seed.

    Returns
    -------
    Results
        One row for each model and group, the strongest evidence first: mean outcome (`observed`), mean score
        (`expected`), and their difference (`value`) with both intervals, which invert the score test. `p` is that of
        the group alone: exact for counted rows unless the variance exceeds 1000. `lower` and `upper` are the ends of a
        range of scores. `data["largest"]` has the largest difference of each model among the tested groups, and the
        `bound` which no difference exceeds, by the simultaneous intervals.

    Examples
    --------
    >>> import numpy as np
    >>> from baserate import fairness
    >>> rng = np.random.default_rng(1)
    >>> sex, site = rng.choice(["f", "m"], 2000), rng.choice(["north", "south"], 2000)
    >>> risk = rng.uniform(0.1, 0.6, 2000)
    >>> sick = rng.random(2000) < risk + 0.2 * ((sex == "f") & (site == "south"))
    >>> results = fairness.multicalibration(sick, risk, group={"sex": sex, "site": site})
    >>> row = results.rows()[0]
    >>> row["group"], round(row["value"], 3), round(row["low_simultaneous"], 2), row["p_adjusted"] < 0.001
    ({'sex': 'f', 'site': 'south'}, 0.198, 0.14, True)
    """
    check_tallies(tallies)
    require_groups(tallies)
    level = parse_share(level)
    _check_options(tallies, depth, bins, adjust)
    check_domain("level", level, LEVEL)
    check_n_samples(n_simulations)
    request = _Request(min(depth, len(tallies.attributes)), bins or 1, adjust, check_min_group(min_group), level)
    several, weighted = len(tallies.models) > 1, tallies.pooled(next(iter(tallies.models))).weighted
    rows, largest = list[Row](), dict[str, Row]()
    for model in tallies.models:
        tested = _test_model(tallies, model, request, n_simulations=n_simulations, seed=seed)
        rows += [row | {"model": model if several else None} for row in tested]
        largest[model] = _largest_difference(tested)
    data = results_data(tallies, [*_test_notes(rows, request, weighted=weighted)]) | {
        "depth": request.depth,
        "bins": bins,
        "adjust": adjust,
        "min_group": request.min_group,
        "level": level,
        "simulations": n_simulations,
        "tests": sum(row["p"] is not None for row in rows),
        "largest": largest,
    }
    return Results({name: [row.get(name) for row in rows] for name in MULTICALIBRATION_COLUMNS}, data)


class _Request(NamedTuple):
    """Groups and tests that were requested."""

    depth: int
    n_bins: int
    adjust: str
    min_group: int
    level: float


def _check_options(tallies: Tallies, depth: int, bins: int | None, adjust: str) -> None:
    """Check the options, and that all scores are probabilities of rows at their own prevalence."""
    check_domain("depth", depth, _DEPTH)
    if bins is not None:
        check_domain("bins", bins, BINS)
    if adjust not in ADJUSTMENTS:
        raise wrong_option("adjust", adjust, f"one of {', '.join(ADJUSTMENTS)}")
    for groups in tallies.models.values():
        for tally in groups.values():
            check_probabilities(tally)
            if tally.reweighed:
                what = "classes were reweighted, so outcomes do not vary as the probabilities imply"
                raise OptionError(what, remedy="test the rows at their own prevalence.")


def _test_model(tallies: Tallies, model: str, request: _Request, *, n_simulations: int, seed: Seed) -> list[Row]:
    """Test all subgroups of one model, and return their rows, the strongest evidence first."""
    groups = {group: tally for group, tally in tallies.models[model].items() if tally.total}
    edges = _bin_edges(tallies.pooled(model), request.n_bins) if request.n_bins > 1 else np.array([])
    parts = _split_cells(groups, edges)
    subgroups, members = _distinct_subgroups(
        list_subgroups([*groups], depth=request.depth, n_bins=len(edges) + 1), parts
    )
    cells = _Cells.of(parts)
    tests, n_rows = _Tests.of(cells, members), members @ cells.rows
    tested = np.flatnonzero(n_rows >= request.min_group)
    if not len(tested):
        what = f"no group has {count_of(request.min_group, 'row')} or more"
        raise FitError(what, remedy=f"allow smaller groups: {keyword('min_group')}.")
    simulated = _simulate(cells, tests.select(tested), n_simulations=n_simulations, seed=make_generator(seed))
    numbers = _test_columns(cells, tests, tested, simulated, request)
    rows = [
        _describe_subgroup(tallies, each, edges)
        | {"rows": int(n_rows[at]), "level": request.level}
        | {name: column[at] for name, column in numbers.items()}
        for at, each in enumerate(subgroups)
    ]
    ordered = sorted(rows, key=lambda row: (isnan(row["p"]), -abs(row["z"])))
    ranked = [row | {"rank": at} for at, row in enumerate(ordered[: len(tested)], start=1)]
    why = f"not tested: fewer than the minimum of {request.min_group} rows"
    return [*ranked, *(row | {"p": None, "p_adjusted": None, "why": why} for row in ordered[len(tested) :])]


def _distinct_subgroups(subgroups: list[Subgroup], cells: Sequence[Cell]) -> tuple[list[Subgroup], Floats]:
    """Keep one of several subgroups with the same rows, the first, and drop empty ones; return their members, too."""
    members = np.array([[each.includes(cell) for cell in cells] for each in subgroups], dtype=np.float64)
    _, first = np.unique(members, axis=0, return_index=True)
    places = [int(at) for at in np.sort(first) if members[at].any()]
    return [subgroups[at] for at in places], members[places]


def _test_columns(
    cells: _Cells, tests: _Tests, tested: npt.NDArray[np.intp], simulated: Floats, request: _Request
) -> dict[str, list[Any]]:
    """Return the numbers of all subgroups by column; only tested ones have p-values and simultaneous intervals."""
    p, exact = tests.p_values(cells)
    # `higher` returns a simulated value, so that the level holds for the discrete numbers, too.
    critical = float(np.quantile(simulated.max(axis=1), request.level, method="higher"))
    low, high = tests.intervals(cells, normal_quantile(request.level))
    wide = tests.select(tested).intervals(cells, critical)
    z, own = tests.z, p[tested]
    adjusted = _adjust(request.adjust, z[tested], own, simulated)
    least = 1 / (1 + len(simulated)) if request.adjust == "max" else 0.0
    is_bound = (own <= _LEAST_EXACT_P) | (adjusted <= least)
    missing = np.full(len(p), np.nan)
    columns: dict[str, Any] = {
        "observed": tests.observed / tests.mass,
        "expected": tests.expected / tests.mass,
        "value": (tests.observed - tests.expected) / tests.mass,
        "low": low,
        "high": high,
        "z": z,
    }
    for name, values in {
        "low_simultaneous": wide[0],
        "high_simultaneous": wide[1],
        "p": own,
        "p_adjusted": adjusted,
    }.items():
        columns[name] = missing.copy()
        columns[name][tested] = values
    bounds: list[bool | None] = [None] * len(p)
    for at, each in zip(tested.tolist(), is_bound.tolist(), strict=True):
        bounds[at] = each
    lists = {name: values.tolist() for name, values in columns.items()}
    return lists | {"p_is_bound": bounds, "how": [_EXACT if each else _SCORE for each in exact]}


def _adjust(adjust: str, z: Floats, p: Floats, simulated: Floats) -> Floats:
    """Adjust p-values; none falls below the p-value of its group alone."""
    if adjust == "max":
        return np.maximum(_max_adjusted(z, simulated), p)
    if adjust == "holm":
        return np.array(holm(p.tolist()))
    return _false_discovery_adjusted(p, dependent=adjust == "by")


def _describe_subgroup(tallies: Tallies, subgroup: Subgroup, edges: Floats) -> Row:
    """Return the attributes of a subgroup, and the ends of its range of scores."""
    labels = {tallies.attributes[place]: label for place, label in subgroup.labels}
    ends = [None, *edges.tolist(), None]
    lower, upper = (None, None) if subgroup.bin is None else ends[subgroup.bin : subgroup.bin + 2]
    return {"group": labels or None, "lower": lower, "upper": upper}


def _largest_difference(rows: Sequence[Row]) -> Row:
    """Return the tested group with the greatest difference, and the bound of all differences."""
    tested = [row for row in rows if row["p"] is not None]
    largest = max(tested, key=lambda row: abs(row["value"]))
    bound = max(max(-row["low_simultaneous"], row["high_simultaneous"]) for row in tested)
    names = ("group", "lower", "upper", "rows", "value", "low_simultaneous", "high_simultaneous")
    return {name: largest[name] for name in names} | {"bound": bound}


def _test_notes(rows: Sequence[Row], request: _Request, *, weighted: bool) -> Iterator[str]:
    """Yield notes on small groups, weights and the meaning of the adjustment."""
    n_small = sum(row["p"] is None for row in rows)
    if n_small:
        yield f"{count_of(n_small, 'group')} with fewer than {request.min_group} rows listed, but not tested."
    if weighted:
        yield "rows are weighted, so statistics are compared with the normal distribution."
    if request.adjust == "bh":
        yield (
            "Benjamini-Hochberg assumes that tests are not negatively dependent; by holds for any dependence, and max "
            "controls the family-wise error rate."
        )
