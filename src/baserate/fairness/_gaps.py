"""Gaps: summary disparities of all groups, and their null distribution if the groups did not differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite, isnan, nan
from typing import Any, NamedTuple, Unpack

import numpy as np

from baserate._arrays import Floats, ratio
from baserate._counts import Counts
from baserate._domains import MIN_GROUP, check_memory
from baserate._results import Estimate, Results
from baserate._tally import Group, Tallies
from baserate.fairness._group_counts import (
    Decisions,
    GroupCounts,
    ModelCounts,
    Row,
    check_eligibility,
    check_min_group,
    count_groups,
    exclusion_notes,
)
from baserate.fairness._parities import PARITIES
from baserate.infer import (
    IntervalOptions,
    Proportion,
    check_n_samples,
    effective_proportion,
    has_fixed_prevalence,
    make_generator,
    normal_quantile,
)
from baserate.measure import Measure, describe
from baserate.read import AdjustedIntervalOptions, accepts_predictions

PERMUTATION_NULL = "permutations of groups among the rows that the rate is of"
WEIGHTED_NULL = "simulated weighted rows with common rates, as many as the effective size of each group"
NORMAL_NULL = "normal deviates about a common value, with the standard error of each group's interval"
NULL_QUANTILE = 0.95
"""Quantile of the null gaps that `floor_high` reports."""
_CELLS = ("tp", "fp", "fn", "tn")
_TIE_TOLERANCE = 1e-12
"""Difference of equal gaps: observed and simulated ones are differences of quotients, which round."""
_MAX_HYPERGEOMETRIC = 10**9
"""NumPy's multivariate hypergeometric sampler refuses this many rows or more."""


class NullGaps(NamedTuple):
    """Simulated gaps between groups that do not differ: the null reference of an observed gap."""

    gaps: Floats | None
    how: str | None
    why: str | None = None

    @property
    def mean(self) -> float | None:
        """Mean gap under the null hypothesis."""
        return None if self.gaps is None else float(self.gaps.mean())

    @property
    def upper(self) -> float | None:
        """95% quantile of the gap under the null hypothesis."""
        # "higher" returns a simulated gap: those of counts are discrete, and an average of two may be impossible.
        return None if self.gaps is None else float(np.quantile(self.gaps, NULL_QUANTILE, method="higher"))

    def p_value(self, gap: float) -> float | None:
        """Return the share of simulated gaps as great as the observed one, which counts among them [@davison1997]."""
        if self.gaps is None:
            return None
        # The observed arrangement is one of the permutations, so p is never 0.
        return float((1 + self._count_as_great(gap)) / (1 + len(self.gaps)))

    def is_bound(self, gap: float) -> bool | None:
        """Return whether no simulated gap is as great, so that the number of simulations bounds the p-value."""
        return None if self.gaps is None else self._count_as_great(gap) == 0

    def _count_as_great(self, gap: float) -> int:
        return 0 if self.gaps is None else int(np.count_nonzero(self.gaps >= gap - _TIE_TOLERANCE))


def simulate_null_gaps(
    measure: Measure,
    inputs: Sequence[Any],
    estimates: Sequence[Estimate],
    *,
    n_simulations: int,
    rng: np.random.Generator,
) -> NullGaps:
    """Simulate the greatest difference between groups of these sizes that do not differ.

    For a proportion of counted rows, groups are permuted among the trials: the hits of all groups follow a multivariate
    hypergeometric distribution. Weighted confusion matrices are simulated (see `_simulate_weighted`). Other measures
    get normal deviates with the standard error that each interval implies.
    """
    shares = _count_shares(measure, inputs)
    if shares is not None:
        # Sort groups: the sampler consumes random numbers in their order, and the order must not change a result.
        order = sorted((round(each.trials), round(each.hits)) for each in shares)
        trials, hits = np.array(order, dtype=np.int64).T
        _check_memory(n_simulations, len(trials), 2.0)
        hits_by_group = rng.multivariate_hypergeometric(trials, int(hits.sum()), size=n_simulations)
        return NullGaps(np.ptp(hits_by_group / trials, axis=1), PERMUTATION_NULL)
    if _has_weights(measure, inputs):
        return NullGaps(np.ptp(_simulate_weighted(measure, inputs, n_simulations, rng), axis=1), WEIGHTED_NULL)
    levels = [each.level or np.nan for each in estimates]
    errors = np.sort([(each.high - each.low) / 2 for each in estimates]) / normal_quantile(levels[0])
    if not np.isfinite(errors).all():
        return NullGaps(None, None, "the interval of a group is undefined, and so is the null distribution")
    _check_memory(n_simulations, len(errors), 2.0)
    return NullGaps(np.ptp(rng.standard_normal((n_simulations, len(errors))) * errors, axis=1), NORMAL_NULL)


def _check_memory(n_simulations: int, n_groups: int, numbers: float) -> None:
    """Check that simulations with some numbers for each group fit into memory."""
    check_memory(
        f"{n_simulations} simulations of {n_groups} groups",
        numbers * n_simulations * n_groups,
        "Reduce the number of permutations",
    )


def measure_rng(seed: np.random.Generator, name: str) -> np.random.Generator:
    """Return a generator of its own for each measure, so that results do not depend on which others are measured."""
    root = seed.bit_generator.seed_seq
    assert isinstance(root, np.random.SeedSequence)  # noqa: S101  (for the type checker)
    # Key by name, not by position: spawned generators would depend on which other measures are listed.
    key = (*root.spawn_key, *name.encode())
    return np.random.default_rng(np.random.SeedSequence(root.entropy, spawn_key=key))


def combine_null_gaps(several: Sequence[NullGaps]) -> NullGaps:
    """Combine null gaps of several measures into those of the greatest gap; simulations are independent."""
    unknown = [each for each in several if each.gaps is None]
    if unknown:
        return unknown[0]
    gaps = np.max([each.gaps for each in several if each.gaps is not None], axis=0)
    return NullGaps(gaps, "; ".join(dict.fromkeys(each.how for each in several if each.how)))


def _has_weights(measure: Measure, tables: Sequence[Any]) -> bool:
    """Return whether a bounded measure is of weighted confusion matrices at their own prevalences."""
    info = describe(measure)
    bounded = info.of is Counts and isfinite(info.span[1] - info.span[0])
    return bounded and any(table.moments for table in tables) and not any(map(has_fixed_prevalence, tables))


def _simulate_weighted(
    measure: Measure, tables: Sequence[Counts[float]], n_simulations: int, rng: np.random.Generator
) -> Floats:
    r"""Simulate deviations of each group's value from its value at common rates.

    Cell masses are gamma variables. Their means are those of the group at common rates; their variances are sums of
    squared weights, :math:`\sum_g w^2` times the share of a cell in that sum over all groups. So each group has its own
    effective size [@kish1965], and the variance of a row is pooled over groups, since that of one group is too
    uncertain. Permuting rows with their weights is valid only if weights vary equally in all groups: with more variable
    weights in a small group it rejected 9 to 18 of 100 true null hypotheses at the 5% level.
    """
    mass, squares = _cell_tables(tables)
    _check_memory(n_simulations, len(mass), 8.0)
    # Cells that the measure does not use stay 0.
    mean, simulated, effective = np.zeros_like(mass), np.zeros((n_simulations, *mass.shape)), 0.0
    for cells in _exchangeable_cells(measure):
        mean[:, cells], simulated[:, :, cells] = _simulate_masses(mass[:, cells], squares[:, cells], n_simulations, rng)
        effective += float(np.nansum(ratio(mass[:, cells].sum(axis=1) ** 2, squares[:, cells].sum(axis=1))))
    expected, values = (np.asarray(measure(Counts(*np.moveaxis(each, -1, 0)))) for each in (mean, simulated))
    # The variance of a row is itself estimated, from the effective number of rows: widen as Student's t does.
    degrees = max(effective - len(mass), 1.0)
    widening = np.sqrt(degrees / rng.chisquare(degrees, (n_simulations, 1)))
    # A simulated group may be empty; its value is NaN and counts as no deviation.
    return np.asarray(np.nan_to_num(values - expected) * widening)


def _cell_tables(tables: Sequence[Counts[float]]) -> tuple[Floats, Floats]:
    """Tabulate cell masses and squared weights of each group, sorted, so that the order of groups does not matter."""
    pairs = [(table, table.squares) for table in tables]
    table = np.array(sorted([float(getattr(each, cell)) for each in pair for cell in _CELLS] for pair in pairs))
    return table[:, : len(_CELLS)], table[:, len(_CELLS) :]


def _simulate_masses(
    mass: Floats, squares: Floats, n_simulations: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return mean masses of some cells at common rates, and simulated masses."""
    whole, all_squares = mass.sum(axis=1, keepdims=True), squares.sum(axis=1, keepdims=True)
    # Pool in units of each group's mean weight: a group whose weights have another scale must not dominate the shares.
    usual = np.where(whole > 0, ratio(all_squares, whole), 1.0)
    mean = whole * _pooled_shares(mass / usual)
    variance = all_squares * _pooled_shares(squares / usual**2)
    scale = np.where(variance > 0, ratio(variance, mean), 1.0)
    return mean, rng.standard_gamma(mean / scale, (n_simulations, *mass.shape)) * scale


def _pooled_shares(parts: Floats) -> Floats:
    """Compute the share of each cell over all groups; equal shares if all are empty."""
    sums = parts.sum(axis=0)
    return sums / sums.sum() if sums.sum() > 0 else np.full(len(sums), 1 / len(sums))


def _exchangeable_cells(measure: Measure) -> list[list[int]]:
    """List cells among which rows are exchangeable: hits and misses of a proportion, otherwise cells of a class."""
    names = describe(measure).share
    if names is None:
        # Groups may differ in prevalence, so rows are exchangeable within their class alone.
        return [[_CELLS.index("tp"), _CELLS.index("fn")], [_CELLS.index("fp"), _CELLS.index("tn")]]
    return [[_CELLS.index(name) for each in names for name in each]]


def _count_shares(measure: Measure, tables: Sequence[Any]) -> list[Proportion[float]] | None:
    """Return hits and misses of counted rows; None for weights, fractional rows and other measures."""
    info = describe(measure)
    if info.of is not Counts or info.share is None:
        return None
    if any(table.moments or has_fixed_prevalence(table) for table in tables):
        return None
    shares = [effective_proportion(measure, table) for table in tables]
    parts = any(not float(cell).is_integer() for each in shares for cell in each)
    return None if parts or sum(each.trials for each in shares) >= _MAX_HYPERGEOMETRIC else shares


GAP_COLUMNS = (
    *("measure", "parity", "kind", "model", "group", "other", "value", "floor", "floor_high"),
    *("p", "p_is_bound", "how", "why"),
)
N_PERMUTATIONS = 10_000
FOUR_FIFTHS = (
    "the four-fifths rule (a ratio of at least 0.8) is a rule of thumb of US federal guidelines on employee selection, "
    "for the rate of the favorable outcome only; decide whether a flag is favorable, and whether the rule applies."
)
_FEW_GROUPS = "fewer than two groups have a value"
_TOO_SMALL = "fewer than two groups meet the minimum size of {}"
ALL_GROUPS = "max_difference_all"
"""Kind of the descriptive gap of all groups, also of those below the minimum size."""
_DESCRIPTIVE = "all groups, also those below the minimum size; not tested"


@dataclass(frozen=True, slots=True, eq=False)
class GroupSpread:
    """Values of one measure in all groups, and their null reference."""

    measure: Measure
    values: Mapping[Group, float]
    null: NullGaps
    undefined: Mapping[Group, str]
    """Groups that meet the minimum size but have no finite value, with the reason."""
    small: Mapping[Group, float]
    """Values of the groups below the minimum size."""
    min_group: int

    @property
    def reason_undefined(self) -> str:
        """Why the gap is undefined."""
        return _TOO_SMALL.format(self.min_group) if self.small else _FEW_GROUPS

    @property
    def with_small_groups(self) -> GroupSpread:
        """The same spread with the groups below the minimum size."""
        return replace(self, values={**self.values, **self.small}, small={})

    @property
    def is_comparable(self) -> bool:
        """Whether at least two groups have a value."""
        return len(self.values) > 1

    @property
    def ends(self) -> tuple[Group, Group]:
        """Groups with the greatest and the least value, the first of equals."""
        return max(self.values, key=self.values.__getitem__), min(self.values, key=self.values.__getitem__)

    @property
    def difference(self) -> float:
        """Greatest value less the least."""
        high, low = self.ends
        return self.values[high] - self.values[low]

    @property
    def ratio(self) -> float:
        """Least value divided by the greatest; NaN if all are 0."""
        high, low = self.ends
        return ratio(self.values[low], self.values[high])

    @property
    def mean_absolute(self) -> float:
        """Mean absolute difference over pairs of groups."""
        # Sorted, so that the sum rounds equally in any order of groups.
        numbers: Floats = np.sort(list(self.values.values()))
        differences = np.abs(np.subtract.outer(numbers, numbers))
        return float(differences.sum() / (len(numbers) * (len(numbers) - 1)))

    @property
    def worst(self) -> Group | None:
        """Group with the worst value; None if neither end of the measure is worse."""
        best = describe(self.measure).best
        return None if best is None else self.ends[best == "high"]


@accepts_predictions("tallies", adjusts=True)
def group_gaps(  # noqa: PLR0913  (all but the first are seldom given)
    tallies: Tallies,
    *,
    policy: Decisions = None,
    measures: Iterable[str | Measure] | None = None,
    by: str | Sequence[str] | None = None,
    interval: IntervalOptions = IntervalOptions(),  # noqa: B008  (it is immutable)
    n_permutations: int = N_PERMUTATIONS,
    min_group: int = MIN_GROUP,
    **predictions: Unpack[AdjustedIntervalOptions],
) -> Results:
    """Summarize the disparity between all groups by several definitions, with a null reference and a p-value.

    A maximum over groups is above 0 even if groups do not differ, and grows with their number. A confidence interval
    would hide that, so there is none. Instead, `floor` is the mean of the greatest difference under the null
    hypothesis, and `floor_high` its 95% quantile.

    Parameters
    ----------
    tallies, policy, measures, by
        As in `group_table`.
    interval
        Confidence level and random seed.
    n_permutations
        Number of permutations or simulations of the null distribution.
    min_group
        Least number of rows on which a value must rest to take part. A small group raises the null reference and may
        hide a difference between large groups, so smaller groups are excluded, and a note lists them.

    Returns
    -------
    Results
        One row for each model, measure or parity, and `kind`: "max_difference" (greatest less least), "ratio" (least by
        greatest), "max" and "min" (the values themselves), "worst_group" (value of the worst group) and "mean_absolute"
        (mean over pairs). Where groups are excluded, "max_difference_all" describes all groups, without a test. `group`
        and `other` have the greatest and the least value; `p_is_bound` marks a p-value that no simulation reaches. A
        parity of several measures has the greatest difference, the least ratio and the mean of the means, and
        "mean_difference" and "mean_ratio": the means over measures of their max difference and of their ratio.

    Examples
    --------
    >>> from baserate import fairness, read
    >>> people = {"sick": [1] * 150, "says": [1] * 56 + [0] * 14 + [1] * 48 + [0] * 32, "sex": ["m"] * 70 + ["f"] * 80}
    >>> t = read.tallies(people, truth="sick", predicted="says", group="sex", positive=1)
    >>> row = fairness.group_gaps(t, measures=["sensitivity"]).rows()[0]
    >>> row["parity"], row["kind"], round(row["value"], 3), round(row["floor"], 2), row["p"] < 0.02
    ('equal-opportunity', 'max_difference', 0.2, 0.06, True)
    """
    check_n_samples(n_permutations)
    counts = count_groups(tallies, policy, measures, by)
    size = check_min_group(min_group)
    spreads = spread_groups(counts, interval, n_permutations, size)
    notes = [*exclusion_notes(counts, size), *gap_notes(counts, spreads)]
    results = counts.results(GAP_COLUMNS, gap_rows(counts, spreads), notes, interval)
    return Results(results.columns, {**results.data, "draws": n_permutations, "min_group": size})


def spread_groups(
    counts: GroupCounts, interval: IntervalOptions, n_simulations: int, min_group: int
) -> dict[str, list[GroupSpread]]:
    """Compute the values of all groups, by model and measure."""
    return {model.model: list(_spread_model(model, interval, n_simulations, min_group)) for model in counts.models}


def gap_rows(counts: GroupCounts, spreads: Mapping[str, list[GroupSpread]]) -> Iterator[Row]:
    """Yield one row for each model, measure or parity, and kind of gap."""
    for model, each in spreads.items():
        spread_of = {describe(one.measure).name: one for one in each}
        single = {parity.measures[0]: name for name, parity in PARITIES.items() if len(parity.measures) == 1}
        sets: list[tuple[tuple[str, ...], str | None]] = [((name,), single.get(name)) for name in spread_of]
        sets += [(parity.measures, name) for name, parity in PARITIES.items() if len(parity.measures) > 1]
        for names, parity in sets:
            if all(name in spread_of for name in names):
                place = {"model": model, "measure": ", ".join(names), "parity": parity}
                yield from (place | row for row in _gap_kinds(counts, [spread_of[name] for name in names]))


def gap_notes(counts: GroupCounts, spreads: Mapping[str, list[GroupSpread]]) -> list[str]:
    """List groups without a value, and the limits of the four-fifths rule."""
    every = [one for each in spreads.values() for one in each]
    notes = [
        f"{describe(one.measure).name} of {counts.label(group)} is left out of gaps: {why}."
        for one in every
        for group, why in one.undefined.items()
    ]
    return [*notes, *note_four_fifths(describe(one.measure).name for one in every)]


def note_four_fifths(measures: Iterable[str]) -> list[str]:
    """Return the note on the four-fifths rule if shares of decisions are among the measures."""
    return [FOUR_FIFTHS] * any(name in {"flag_rate", "pass_rate"} for name in measures)


def _spread_model(
    model: ModelCounts, interval: IntervalOptions, n_simulations: int, min_group: int
) -> Iterator[GroupSpread]:
    """Yield the spread of each measure of one model."""
    inputs = {of: model.measure_inputs(of) for of in {describe(measure).of for measure in model.measures}}
    seed = make_generator(interval.seed).spawn(1)[0]
    for measure in model.measures:
        info = describe(measure)
        every = {group: inputs[info.of][group] for group in model.groups}
        estimates = {group: interval.of(measure, table) for group, table in every.items()}
        enough = check_eligibility(model, measure, min_group).groups
        undefined = [group for group in enough if not isfinite(estimates[group].value)]
        lacking = {group: estimates[group].why or "it is infinite" for group in undefined}
        defined = [group for group in enough if group not in lacking]
        small = {g: each.value for g, each in estimates.items() if g not in enough and isfinite(each.value)}
        null = NullGaps(None, None, _FEW_GROUPS)
        if len(defined) > 1:
            tables, known = ([each[group] for group in defined] for each in (every, estimates))
            rng = measure_rng(seed, info.name)
            null = simulate_null_gaps(measure, tables, known, n_simulations=n_simulations, rng=rng)
        values = {group: estimates[group].value for group in defined}
        yield GroupSpread(measure, values, null, lacking, small, min_group)


def _gap_kinds(counts: GroupCounts, several: Sequence[GroupSpread]) -> Iterator[Row]:
    """Yield the rows of one measure, or of a parity of several measures."""
    yield from _descriptive_gap(counts, several)
    if not all(one.is_comparable for one in several):
        why = next(one.reason_undefined for one in several if not one.is_comparable)
        yield from ({"kind": kind, "value": nan, "why": why} for kind in ("max_difference", "mean_absolute"))
        return
    # The null reference is that of the greatest gap of all measures, since the widest one is selected after the fact.
    widest = max(several, key=lambda one: one.difference)
    null = combine_null_gaps([one.null for one in several])
    yield {
        **_extreme_groups(counts, "max_difference", widest),
        "value": widest.difference,
        "floor": null.mean,
        "floor_high": null.upper,
        "p": null.p_value(widest.difference),
        "p_is_bound": null.is_bound(widest.difference),
        "how": null.how,
        "why": null.why,
    }
    is_positive = all(describe(one.measure).span[0] >= 0 for one in several)
    if is_positive:
        yield from _least_ratio(counts, several)
    if len(several) > 1:
        # fairlearn's agg="mean": it takes one greatest difference of each rate, and not of all pairs.
        yield {"kind": "mean_difference", "value": float(np.mean([one.difference for one in several]))}
        ratios = [one.ratio for one in several]
        if is_positive and not any(map(isnan, ratios)):
            yield {"kind": "mean_ratio", "value": float(np.mean(ratios))}
    else:
        for kind, end in zip(("max", "min"), several[0].ends, strict=True):
            yield {"kind": kind, "group": counts.attributes_of(end), "value": several[0].values[end]}
    if len(several) == 1 and several[0].worst is not None:
        worst = several[0].worst
        yield {"kind": "worst_group", "group": counts.attributes_of(worst), "value": several[0].values[worst]}
    yield {"kind": "mean_absolute", "value": float(np.mean([one.mean_absolute for one in several]))}


def _descriptive_gap(counts: GroupCounts, several: Sequence[GroupSpread]) -> Iterator[Row]:
    """Yield the gap of all groups, without a test, if some are below the minimum size."""
    every = [one.with_small_groups for one in several]
    if any(one.small for one in several) and all(one.is_comparable for one in every):
        widest = max(every, key=lambda one: one.difference)
        yield {**_extreme_groups(counts, ALL_GROUPS, widest), "value": widest.difference, "how": _DESCRIPTIVE}


def _least_ratio(counts: GroupCounts, several: Sequence[GroupSpread]) -> Iterator[Row]:
    """Yield the least ratio over the measures."""
    defined = [one for one in several if not np.isnan(one.ratio)]
    if not defined:
        yield {"kind": "ratio", "value": nan, "why": "it is 0 in every group"}
        return
    least = min(defined, key=lambda one: one.ratio)
    yield {**_extreme_groups(counts, "ratio", least), "value": least.ratio}


def _extreme_groups(counts: GroupCounts, kind: str, of: GroupSpread) -> Row:
    """Name the groups with the greatest and the least value."""
    high, low = of.ends
    return {"kind": kind, "group": counts.attributes_of(high), "other": counts.attributes_of(low)}
