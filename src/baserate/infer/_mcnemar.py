"""McNemar's tests of two decisions about the same rows, their intervals, and the joint table of both decisions.

Every test has an interval of the difference that is made from the same p-values, so that the two agree.
"""

from __future__ import annotations

from collections.abc import Callable
from math import copysign, nan, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Floats, ratio
from baserate._confusion import Confusion
from baserate._counts import Counts
from baserate._rows import MulticlassRows
from baserate.infer._binomial import share_cells, tail_probability
from baserate.infer._bootstrap import Seed, sample_in_blocks, sample_masses
from baserate.infer._comparison import SMALLEST_P, BootstrapDifference, Limits, Side, normal_p
from baserate.infer._model_bootstrap import MAX_WORK, MIN_SAMPLES, WITHIN_CLASSES, UniqueRows, choose_n_samples
from baserate.infer._variances import Units
from baserate.measure import Measure


class TestResult(NamedTuple):
    """A statistic and its p-value."""

    statistic: float
    p: float


def exact_test(first: int, second: int, side: Side) -> TestResult:
    r"""Run the sign test of the rows that only one model got right, :math:`X\sim Bin(b+c,½)` [@mcnemar1947].

    `first` rows were hit by the first model alone, `second` by the other alone. Two-sided, p is twice the smaller tail.

    >>> round(exact_test(2, 8, "two-sided").p, 10) == 2 * (1 + 10 + 45) / 2**10
    True
    """
    return TestResult(float(first), _test_p(_sign_test_tail, first, second, side))


def mid_p_test(first: int, second: int, side: Side) -> TestResult:
    """Run the exact test with half the probability of the observed table: closer to its level [@fagerland2013].

    >>> round(mid_p_test(2, 8, "two-sided").p, 12) == 2 * (1 + 10 + 45 / 2) / 2**10
    True
    """

    def half(most: int, rows: int) -> float:
        return (_sign_test_tail(most, rows) + (_sign_test_tail(most - 1, rows) if most else 0.0)) / 2

    return TestResult(float(first), _test_p(half, first, second, side))


def asymptotic_test(first: int, second: int, side: Side) -> TestResult:
    r"""Run the normal test :math:`z=(b-c)/\sqrt{b+c}`, whose square is McNemar's χ² [@mcnemar1947].

    >>> round(asymptotic_test(10, 30, "two-sided").statistic ** 2, 10)
    10.0
    """
    if first + second == 0:
        return TestResult(nan, 1.0)
    z = (first - second) / sqrt(first + second)
    return TestResult(z, normal_p(z, side))


def corrected_test(first: int, second: int, side: Side) -> TestResult:
    """Run the normal test with a continuity correction, :math:`(|b-c|-1)^2/(b+c)`, no less than 0 [@edwards1948].

    >>> round(corrected_test(10, 30, "two-sided").statistic ** 2, 10)
    9.025
    """
    if first + second == 0:
        return TestResult(nan, 1.0)
    difference = float(first - second)
    if side == "two-sided":
        corrected = copysign(max(abs(difference) - 1, 0.0), difference)
    else:
        corrected = difference - 1 if side == "greater" else difference + 1
    z = corrected / sqrt(first + second)
    return TestResult(z, normal_p(z, side))


class DiscordantCounts(NamedTuple):
    """Rows that only the first model hits, rows that only the second hits, and all rows of the proportion."""

    first: int
    second: int
    rows: int

    @property
    def mirror(self) -> DiscordantCounts:
        """Return the counts with the models in the other order."""
        return DiscordantCounts(self.second, self.first, self.rows)


Tail = Callable[[DiscordantCounts, Floats], Floats]
"""Function to p-values of at least the observed hits of the first model, for each θ in (0, 1)."""


class McNemar(NamedTuple):
    """One of McNemar's tests, and the tail probabilities from which it comes."""

    test: Callable[[int, int, Side], TestResult]
    tail: Tail
    name: str


def mcnemar_interval(test: McNemar, counts: DiscordantCounts, level: float) -> Limits:
    r"""Bound a difference of paired proportions so that 0 is excluded exactly where the two-sided test rejects.

    The difference is :math:`Δ=δ(2θ-1)`, where δ is the share of discordant rows and θ that of the first model's hits
    among them. The p-value of :math:`Δ\le x` is the mean of the test's p-values of :math:`θ\le(1+x/δ)/2` over the
    confidence distribution of δ, :math:`Beta(b+c+1,n-b-c)`, whose quantiles are Clopper and Pearson's upper limits
    [@xie2013] [@clopper1934]. At x = 0 it is that of the test for every δ, so interval and test agree. Where no row is
    discordant the mid-p interval is about ±3/n.

    >>> [round(bound, 3) for bound in mcnemar_interval(TESTS["mcnemar-mid-p"], DiscordantCounts(8, 2, 50), 0.95)]
    [-0.008, 0.25]
    >>> round(mid_p_test(8, 2, "two-sided").p, 3)
    0.065
    """
    low = _find_limit(test.tail, counts, tail_probability(level) / 2)
    # 0.0 less the limit, since −0.0 would print a sign.
    high = 0.0 - _find_limit(test.tail, counts.mirror, tail_probability(level) / 2)
    return low, high


def margin_p(test: McNemar, counts: DiscordantCounts, bound: float, side: Side) -> float:
    """Return the one-sided p-value of a difference beyond a bound."""
    pair, at = (counts, bound) if side == "greater" else (counts.mirror, -bound)
    return max(_difference_p(test.tail, pair, _discordance_nodes(pair), at), SMALLEST_P)


def _find_limit(tail: Tail, counts: DiscordantCounts, alpha: float) -> float:
    """Find the smallest difference that is not rejected; bisection meets 0 first, so the sign agrees with the test."""
    shares, low, high = _discordance_nodes(counts), -1.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        rejected = _difference_p(tail, counts, shares, middle) <= alpha
        low, high = (middle, high) if rejected else (low, middle)
    # Where nothing above −1 is rejected, the limit is −1 itself, not the last midpoint.
    return low if low == -1 else (low + high) / 2


def _discordance_nodes(counts: DiscordantCounts) -> Floats:
    """Return equally probable shares of discordant rows."""
    from scipy.special import betaincinv

    discordant, nodes = counts.first + counts.second, (np.arange(_NODES) + 0.5) / _NODES
    if discordant == counts.rows:
        return np.ones(1)
    return np.asarray(betaincinv(discordant + 1, counts.rows - discordant, nodes))


def _difference_p(tail: Tail, counts: DiscordantCounts, shares: Floats, difference: float) -> float:
    """Return the p-value of a difference of at most that much."""
    theta = (1 + difference / shares) / 2
    # A difference outside of ±δ: rejected with certainty below, never above.
    p = np.where(theta >= 1, 1.0, 0.0)
    inside = (theta > 0) & (theta < 1)
    p[inside] = tail(counts, theta[inside])
    return float(p.mean())


def _exact_tail(counts: DiscordantCounts, theta: Floats) -> Floats:
    from scipy.special import betainc

    return np.asarray(betainc(counts.first, counts.second + 1, theta)) if counts.first else np.ones_like(theta)


def _mid_tail(counts: DiscordantCounts, theta: Floats) -> Floats:
    from scipy.special import betainc

    more = betainc(counts.first + 1, counts.second, theta) if counts.second else np.zeros_like(theta)
    return np.asarray((_exact_tail(counts, theta) + more) / 2)


def _normal_tail(counts: DiscordantCounts, theta: Floats, correction: float = 0.0) -> Floats:
    from scipy.special import ndtr

    rows = counts.first + counts.second
    if rows == 0:
        return np.ones_like(theta)
    return np.asarray(ndtr((rows * theta - counts.first + correction) / np.sqrt(rows * theta * (1 - theta))))


def _continuity_tail(counts: DiscordantCounts, theta: Floats) -> Floats:
    return _normal_tail(counts, theta, 0.5)


_NODES = 128
"""Shares of discordant rows over which p-values are averaged."""
TESTS: dict[str, McNemar] = {
    "mcnemar-exact": McNemar(exact_test, _exact_tail, "McNemar, exact"),
    "mcnemar-mid-p": McNemar(mid_p_test, _mid_tail, "McNemar, mid-p"),
    "mcnemar": McNemar(asymptotic_test, _normal_tail, "McNemar, asymptotic"),
    "mcnemar-corrected": McNemar(corrected_test, _continuity_tail, "McNemar, asymptotic, corrected for continuity"),
}


def _test_p(tail: Callable[[int, int], float], first: int, second: int, side: Side) -> float:
    rows = first + second
    if rows == 0:
        return 1.0  # without discordant rows there is no evidence
    if side == "two-sided":
        return max(min(2 * tail(min(first, second), rows), 1.0), SMALLEST_P)
    # At least this many hits of one model means at most that many of the other.
    return max(tail(second if side == "greater" else first, rows), SMALLEST_P)


def _sign_test_tail(most: int, rows: int) -> float:
    """Return the probability of at most that many heads of a fair coin."""
    from scipy.special import bdtr

    return float(bdtr(most, rows, 0.5))


N_TABLES = 9_999
"""Simulated tables of eight cells, which are cheap."""
_PRIOR_ROWS = 0.5
_CELLS = ("tn", "fn", "fp", "tp")
"""Cell of a row, by 2·flagged + positive."""


class JointTable(NamedTuple):
    """Rows by label, by the decision of the first model, and by that of the second: eight cells."""

    mass: Floats
    squares: Floats
    rows: Floats
    by_cluster: Floats | None = None
    """Mass with a row for each cluster."""
    prevalence: float | None = None
    """Known share of positives; None if it is the sample's."""

    def values(self, measure: Measure) -> tuple[float, float]:
        """Return the value of both models."""
        first, second = (float(measure(self.counts(which))) for which in (0, 1))
        return first, second

    def counts(self, which: int) -> Counts[float]:
        """Return the 2×2 table of one model."""
        return _model_counts(self.mass, which)

    def discordant(self, measure: Measure) -> DiscordantCounts:
        """Count rows that only one of the models hits, and all rows of the proportion."""
        share = share_cells(measure)
        hits = [[_cell_name(at, which) in share[0] for at in range(8)] for which in (0, 1)]
        within = [_cell_name(at, 0) in share[0] + share[1] for at in range(8)]
        first, second = (
            sum(int(self.rows[at]) for at in range(8) if within[at] and mine[at] and not other[at])
            for mine, other in (hits, hits[::-1])
        )
        return DiscordantCounts(first, second, sum(int(self.rows[at]) for at in range(8) if within[at]))

    @property
    def mirror(self) -> JointTable:
        """Return the table with the models in the other order."""
        # Bit 0 is the label; bits 1 and 2, the decisions of both models, change places.
        other = [at & 1 | at >> 1 & 2 | at << 1 & 4 for at in range(8)]
        by_cluster = None if self.by_cluster is None else self.by_cluster[:, other]
        return JointTable(self.mass[other], self.squares[other], self.rows[other], by_cluster, self.prevalence)

    @property
    def is_agreement(self) -> bool:
        """Return whether both models decide every row in the same way."""
        return not any(self.rows[at] for at in range(8) if _cell_name(at, 0) != _cell_name(at, 1))


def count_joint_table(cells: UniqueRows, first: Bools, second: Bools) -> JointTable:
    """Count rows by label and both decisions."""
    # Bit 0 is the label, bit 1 the first decision, bit 2 the second.
    place = cells.truth + 2 * first.astype(np.intp) + 4 * second
    mass, squares, rows = (
        np.bincount(place, each, minlength=8).astype(np.float64) for each in (cells.mass, cells.squares, cells.times)
    )
    if cells.cluster is None:
        return JointTable(mass, squares, rows, prevalence=cells.prevalence)
    each = np.bincount(cells.cluster * 8 + place, cells.mass, minlength=8 * cells.clusters)
    return JointTable(mass, squares, rows, each.reshape(-1, 8).astype(np.float64), cells.prevalence)


def simulate_differences(
    measure: Measure, table: JointTable, seed: Seed, *, swapped: bool = False
) -> BootstrapDifference:
    """Simulate differences of a measure of 2×2 tables.

    Masses of the eight cells are sampled after adding half a row to each (Jeffreys' prior), so that empty cells are not
    taken for impossible. For clustered rows, each cluster gets a random weight, and each cell half of a usual cluster's
    contribution. At a known prevalence, the cells of each class are scaled to its share. Where `swapped`, the second
    model is sampled as if it were the first, so that the order does not matter.
    """
    if swapped:
        reverse = simulate_differences(measure, table.mirror, seed)
        return reverse._replace(samples=-reverse.samples)
    sample_cells = _sample_cells if table.prevalence is None else _sample_cells_within_classes

    def sample(rng: np.random.Generator, n_samples: int) -> Floats:
        masses = sample_cells(table, rng, n_samples)
        with np.errstate(invalid="ignore"):  # samples may be infinite
            return np.asarray(measure(_model_counts(masses, 0)) - measure(_model_counts(masses, 1)))

    within = "" if table.prevalence is None else WITHIN_CLASSES
    if table.by_cluster is None:
        how = f"Dirichlet samples of the joint table{within}"
        return BootstrapDifference(sample_in_blocks(sample, n_samples=N_TABLES, seed=seed, size=8), how)
    size = len(table.by_cluster)
    n_samples = max(min(MAX_WORK // size, N_TABLES), MIN_SAMPLES)
    return BootstrapDifference(
        sample_in_blocks(sample, n_samples=n_samples, seed=seed, size=size),
        f"resampled clusters{within}",
        # At a known prevalence the prior is small, and does not compensate for samples that vary too little.
        Units(size, 0.0 if within else 8 * _PRIOR_ROWS),
    )


def _sample_cells(table: JointTable, rng: np.random.Generator, n_samples: int) -> Floats:
    """Sample masses of cells with a prior."""
    if table.by_cluster is None:
        return sample_masses(rng, n_samples, table.mass, table.squares, prior=_PRIOR_ROWS)
    usual = float((table.by_cluster**2).sum() / table.by_cluster.sum())
    # Not by BLAS, whose sums depend on the number of threads.
    masses = np.einsum("ij,jk->ik", rng.standard_exponential((n_samples, len(table.by_cluster))), table.by_cluster)
    masses += rng.standard_gamma(_PRIOR_ROWS, (n_samples, 8)) * usual
    return np.asarray(masses)


def _sample_cells_within_classes(table: JointTable, rng: np.random.Generator, n_samples: int) -> Floats:
    """Sample masses of cells with a prior, and scale those of each class to its known share."""
    assert table.prevalence is not None  # noqa: S101  (for the type checker)
    if table.by_cluster is not None:
        masses = rng.standard_exponential((n_samples, len(table.by_cluster)))
        # Not by BLAS, whose sums depend on the number of threads.
        masses = np.einsum("ij,jk->ik", masses, table.by_cluster)
        masses += rng.standard_gamma(_PRIOR_ROWS, (n_samples, 8)) * _usual_contributions(table.by_cluster)
    else:
        masses = np.empty((n_samples, 8))
        for at in (0, 1):
            mass, squares = table.mass[at::2], table.squares[at::2]
            masses[:, at::2] = sample_masses(rng, n_samples, mass, squares, prior=_PRIOR_ROWS)
    for at, share in enumerate((1 - table.prevalence, table.prevalence)):
        masses[:, at::2] *= share / masses[:, at::2].sum(axis=1, keepdims=True)
    return masses


def _usual_contributions(by_cluster: Floats) -> Floats:
    """Return the contribution of a usual cluster to each cell; to an empty one, the least in its class."""
    usual = ratio((by_cluster**2).sum(axis=0), by_cluster.sum(axis=0))
    least = np.tile([np.nanmin(usual[0::2]), np.nanmin(usual[1::2])], 4)
    return np.where(np.isnan(usual), least, usual)


def _cell_name(at: int, which: int) -> str:
    """Return the cell of one model, tp, fp, fn or tn, that one of the eight cells belongs to."""
    truth, flagged = at & 1, at >> (1 + which) & 1
    return _CELLS[truth + 2 * flagged]


def _model_counts(cells: Floats, which: int) -> Counts[Any]:
    """Return the table of one model from eight cells, or tables from many such."""

    def sum_cells(name: str) -> Any:  # noqa: ANN401  (a number, or an array of them)
        cells_of_name = [at for at in range(8) if _cell_name(at, which) == name]
        return cells[..., cells_of_name[0]] + cells[..., cells_of_name[1]]

    return Counts(tp=sum_cells("tp"), fp=sum_cells("fp"), fn=sum_cells("fn"), tn=sum_cells("tn"))


def simulate_class_differences(measure: Measure, a: MulticlassRows, b: MulticlassRows, seed: Seed) -> Floats:
    """Sample differences with a random mass for each combination of the label and both decisions.

    A few prior rows are spread over all combinations in which a model is correct or both agree, so that unobserved ones
    are not taken for impossible; with two classes that is half a row in each of the eight cells.
    """
    width = len(a.labels)
    truth, first, second = (each.astype(np.intp) for each in (a.truth, a.decision(), b.decision()))
    observed = (truth * width + first) * width + second
    ways, which = np.unique(np.concatenate([_prior_cells(width), observed]), return_inverse=True)
    weight = np.ones(len(a)) if a.weight is None else a.weight
    times = np.ones(len(a)) if a.count is None else a.count
    mass, squares = (
        np.bincount(which[-len(a) :], times * weight**power, minlength=len(ways)).astype(np.float64) for power in (1, 2)
    )
    true = ways // width**2
    tables = [true * width + ways // width % width, true * width + ways % width]

    def sample(rng: np.random.Generator, n_samples: int) -> Floats:
        masses = sample_masses(rng, n_samples, mass, squares, prior=8 * _PRIOR_ROWS / len(ways))
        one, other = (measure(Confusion(_sum_tables(masses, at, width), a.labels)) for at in tables)
        return np.asarray(one - other)

    size = max(len(ways), width**2)
    return sample_in_blocks(sample, n_samples=choose_n_samples(size), seed=seed, size=size)


def _prior_cells(width: int) -> npt.NDArray[np.intp]:
    """Return the codes of label and both decisions where a model is correct or both agree."""
    truth, other = (each.ravel() for each in np.indices((width, width)))
    decisions = ((truth, other), (other, truth), (other, other))
    return np.unique(np.concatenate([(truth * width + first) * width + second for first, second in decisions]))


def _sum_tables(masses: Floats, at: npt.NDArray[np.intp], width: int) -> Floats:
    """Sum masses to tables of label and one decision."""
    tables = np.zeros((len(masses), width * width))
    for column, cell in enumerate(at.tolist()):
        tables[:, cell] += masses[:, column]
    return tables.reshape(-1, width, width)
