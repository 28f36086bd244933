"""Inequality of benefits, averages of two rates, and generalized error rates."""

from math import inf, isnan, log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from baserate import Counts, NotAProbabilityError, OptionError, fairness, infer, measure, tally
from baserate.measure import benefit_variation, generalized_entropy, generalized_fnr, generalized_fpr, theil_index
from tests.fairness.test_groups import tallies

cell = st.integers(0, 50)
counts = st.builds(Counts, tp=cell, fp=cell, fn=cell, tn=cell)
alphas = st.sampled_from([-1.0, 0.0, 0.3, 1.0, 2.0, 3.0])


def benefits(c: Counts[float]) -> Any:  # noqa: ANN401  (an array)
    return np.repeat([1.0, 2.0, 0.0], [int(c.tp + c.tn), int(c.fp), int(c.fn)])


def entropy(b: Any, alpha: float) -> float:  # noqa: ANN401  (an array)
    """Compute the index from all benefits, by its definition."""
    relative = b / b.mean()
    with np.errstate(divide="ignore", invalid="ignore"):
        if alpha == 0:
            return float(-np.mean(np.log(relative)))
        if alpha == 1:
            return float(np.mean(np.where(relative > 0, relative * np.log(relative), 0.0)))
        return float(np.mean(relative**alpha - 1) / (alpha * (alpha - 1)))


@settings(max_examples=200, deadline=None)
@given(counts, alphas)
def test_entropy_equals_its_definition(c: Counts[float], alpha: float) -> None:
    if c.benefits == 0:
        assert isnan(generalized_entropy(c, alpha=alpha))
        return
    assert generalized_entropy(c, alpha=alpha) == pytest.approx(entropy(benefits(c), alpha), abs=1e-12)


@given(counts)
def test_indices_are_limits_and_transforms_of_each_other(c: Counts[float]) -> None:
    if c.benefits == 0:
        return
    assert theil_index(c) == pytest.approx(generalized_entropy(c, alpha=1 + 1e-7), abs=1e-5)
    b = benefits(c)
    assert benefit_variation(c) == pytest.approx(b.std() / b.mean(), abs=1e-12)
    assert benefit_variation(c) ** 2 == pytest.approx(2 * generalized_entropy(c), abs=1e-12)


def test_entropy_of_many_tables() -> None:
    many = Counts(*np.array([[40, 3, 0], [10, 0, 0], [10, 0, 5], [40, 2, 0]], dtype=float))
    for alpha in (0.0, 0.5, 1.0, 2.0):
        values = generalized_entropy(many, alpha=alpha)
        assert values[:2] == pytest.approx([float(generalized_entropy(many[at], alpha=alpha)) for at in (0, 1)])
        assert values[1] == 0  # no errors
        assert isnan(values[2])


def test_no_errors_are_equal_and_missed_ones_infinitely_unequal_at_0() -> None:
    assert generalized_entropy(Counts(tp=3, fp=0, fn=0, tn=4), alpha=0) == 0
    assert generalized_entropy(Counts(tp=3, fp=0, fn=1, tn=4), alpha=0) == inf
    assert generalized_entropy(Counts(tp=3, fp=1, fn=0, tn=4), alpha=0) == pytest.approx(log(9 / 8) - log(2) / 8)


def test_a_wrong_exponent_is_refused() -> None:
    with pytest.raises(OptionError, match="alpha is inf"):
        generalized_entropy(Counts(tp=3, fp=0, fn=0, tn=4), alpha=inf)


@settings(max_examples=50, deadline=None)
@given(st.lists(counts, min_size=2, max_size=4), st.sampled_from([0.3, 1.0, 2.0, 3.0]))
def test_parts_add_up(tables: list[Counts[float]], alpha: float) -> None:
    kept = [c for c in tables if c.total > 0]
    if len(kept) < 2 or sum(c.benefits for c in kept) == 0:
        return
    cells = {str(at): (int(c.tp), int(c.fp), int(c.fn), int(c.tn)) for at, c in enumerate(kept)}
    rows = fairness.decompose_entropy(tallies(cells), alpha=alpha, n_permutations=100).rows()
    parts = {row["part"]: row for row in rows}
    everything = np.concatenate([benefits(c) for c in kept])
    means = np.concatenate([np.full(int(c.total), benefits(c).mean()) for c in kept])
    assert parts["between"]["value"] == pytest.approx(entropy(means, alpha), abs=1e-10)
    assert parts["total"]["value"] == pytest.approx(entropy(everything, alpha), abs=1e-10)
    within = sum(
        c.total / len(everything) * (benefits(c).mean() / everything.mean()) ** alpha * entropy(benefits(c), alpha)
        for c in kept
        if c.benefits
    )
    assert parts["within"]["value"] == pytest.approx(within, abs=1e-10)


def test_equal_groups_have_the_null_reference_of_equal_groups() -> None:
    rng, p = np.random.default_rng(0), []
    for _ in range(200):
        drawn = {name: rng.multinomial(60, [0.3, 0.2, 0.1, 0.4]).tolist() for name in "abc"}
        cells = {name: (tp, fp, fn, tn) for name, (tp, fp, fn, tn) in drawn.items()}
        (row,) = [
            row
            for row in fairness.decompose_entropy(tallies(cells), n_permutations=100).rows()
            if row["part"] == "between"
        ]
        p.append(row["p"])
    assert 0.01 <= np.mean(np.array(p) <= 0.05) <= 0.09
    assert np.mean(p) == pytest.approx(0.5, abs=0.07)


def test_generalized_rates_are_mean_scores_of_a_class() -> None:
    rng = np.random.default_rng(2)
    sick, risk, weight = rng.random(400) < 0.4, rng.random(400).round(2), rng.choice([1.0, 3.0], 400)
    t = tally(sick, risk, weight=weight)
    assert generalized_fpr(t) == pytest.approx(np.average(risk[~sick], weights=weight[~sick]))
    assert generalized_fnr(t) == pytest.approx(1 - np.average(risk[sick], weights=weight[sick]))
    with pytest.raises(NotAProbabilityError):
        generalized_fpr(tally([0, 1], [0.2, 1.3]))


@pytest.mark.parametrize("name", ["generalized_fpr", "generalized_fnr"])
def test_intervals_of_generalized_rates_cover(name: str) -> None:
    rng, hits = np.random.default_rng(3), 0
    for _ in range(400):
        sick = rng.random(60) < 0.5
        risk = np.where(sick, rng.beta(4, 2, 60), rng.beta(1, 6, 60))
        one = infer.estimate(name, tally(sick, risk))
        hits += one.low <= {"generalized_fpr": 1 / 7, "generalized_fnr": 1 / 3}[name] <= one.high
    assert 0.925 <= hits / 400 <= 0.985


def test_averages_of_rates() -> None:
    c = Counts(tp=30, fp=20, fn=10, tn=40)
    assert measure.average_odds(c) == pytest.approx((30 / 40 + 20 / 60) / 2)
    assert measure.average_predictive_value(c) == pytest.approx((30 / 50 + 10 / 50) / 2)
    one = infer.estimate("average_odds", c)
    youden = infer.estimate("youden", Counts(tp=30, fp=40, fn=10, tn=20))  # with the negatives the other way round
    assert one.high - one.low == pytest.approx((youden.high - youden.low) / 2, abs=1e-9)


@pytest.mark.parametrize("alpha", ["1", None, [2], float("nan")])
def test_alpha_of_a_decomposition_is_a_number(alpha: Any) -> None:  # noqa: ANN401
    with pytest.raises(OptionError, match=r"alpha is .+; expected a number"):
        fairness.decompose_entropy(tallies({"f": (3, 1, 1, 3), "m": (2, 2, 2, 2)}), alpha=alpha)
