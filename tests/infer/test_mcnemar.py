"""McNemar's tests against binomial sums in fractions, SciPy, and published tables."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import beta, binomtest, chi2, multinomial, norm

from baserate import Rows
from baserate.infer import Question, compare
from baserate.infer._comparison import Side, bootstrap_p, holm
from baserate.infer._mcnemar import (
    TESTS,
    DiscordantCounts,
    asymptotic_test,
    corrected_test,
    exact_test,
    margin_p,
    mcnemar_interval,
    mid_p_test,
)
from tests.tiers import take_in_tiers

count = st.integers(0, 60)


def binomial_tail(most: int, rows: int) -> Fraction:
    return Fraction(sum(comb(rows, hits) for hits in range(most + 1)), 2**rows)


@given(count, count)
def test_exact_and_mid_p_are_binomial_sums(first: int, second: int) -> None:
    rows, few = first + second, min(first, second)
    if rows == 0:
        assert exact_test(0, 0, "two-sided").p == mid_p_test(0, 0, "two-sided").p == 1
        return
    whole = min(2 * binomial_tail(few, rows), Fraction(1))
    half = binomial_tail(few, rows) - Fraction(comb(rows, few), 2 * 2**rows)
    assert exact_test(first, second, "two-sided").p == pytest.approx(float(whole), rel=1e-12)
    assert mid_p_test(first, second, "two-sided").p == pytest.approx(float(2 * half), rel=1e-12)
    assert exact_test(first, second, "two-sided").p == pytest.approx(binomtest(first, rows).pvalue, rel=1e-9)
    for side in ("greater", "less"):
        expected = binomtest(first, rows, alternative=side).pvalue
        assert exact_test(first, second, side).p == pytest.approx(expected, rel=1e-9)


@given(count, count)
def test_mcnemar_tests_are_symmetric(first: int, second: int) -> None:
    for test in (each.test for each in TESTS.values()):
        assert test(first, first, "two-sided").p == pytest.approx(1)
        assert test(first, second, "two-sided").p == test(second, first, "two-sided").p
        if first > second:
            assert test(first, second, "greater").p < test(first, second, "less").p


def test_agresti_table_of_approval() -> None:
    # Agresti, Categorical Data Analysis (2nd ed.), section 10.1: 150 and 86 of 1600 changed their mind, z² = 17.36.
    assert asymptotic_test(150, 86, "two-sided").statistic ** 2 == pytest.approx(64**2 / 236)
    assert round(asymptotic_test(150, 86, "two-sided").statistic ** 2, 2) == 17.36
    assert asymptotic_test(150, 86, "two-sided").p == pytest.approx(chi2.sf(64**2 / 236, 1))
    assert corrected_test(150, 86, "two-sided").p == pytest.approx(chi2.sf(63**2 / 236, 1))
    # One-sided with continuity: P(X ≥ 150) by the normal curve at 149.5.
    assert corrected_test(150, 86, "greater").p == pytest.approx(norm.sf((149.5 - 118) / np.sqrt(236 / 4)))


def test_many_rows_do_not_underflow_to_zero() -> None:
    for test in (each.test for each in TESTS.values()):
        assert 0 < test(100_000, 0, "two-sided").p < 1e-100


@pytest.mark.parametrize(
    ("name", "first", "second"),
    # truth, a, b of eight kinds; see the counts beside them.
    [
        ("accuracy", 3 + 5, 2 + 7),
        ("sensitivity", 3, 2),
        ("specificity", 5, 7),
        ("fnr", 2, 3),
        ("flag_rate", 3 + 7, 2 + 5),
    ],
)
def test_mcnemar_p_values_of_comparisons(name: str, first: int, second: int) -> None:
    kinds = {
        (1, 1, 1): 4,
        (1, 1, 0): 3,
        (1, 0, 1): 2,
        (1, 0, 0): 1,
        (0, 0, 1): 5,
        (0, 1, 0): 7,
        (0, 0, 0): 9,
        (0, 1, 1): 6,
    }
    table = np.repeat(list(kinds), list(kinds.values()), axis=0)
    rows = Rows(table[:, 0] == 1, {"a": table[:, 1] * 1.0, "b": table[:, 2] * 1.0})
    for method, test in TESTS.items():
        (result,) = compare(rows, measure=name, question=Question(method=method))
        assert f"{first} rows against {second}" in result.test
        assert result.p == test.test(first, second, "two-sided").p
    assert compare(rows, measure=name)[0].test.startswith("McNemar, mid-p")


def test_identical_labels_still_have_an_interval() -> None:
    truth = np.array([1, 0, 1, 0, 1], dtype=bool)
    says = truth * 1.0
    (result,) = compare(Rows(truth, {"a": says, "b": says.copy()}), measure="accuracy")
    assert (result.difference.value, result.p) == (0, 1)
    assert result.difference.low < 0 < result.difference.high


@given(st.lists(st.floats(0, 1) | st.just(float("nan")), max_size=8))
def test_holm_never_lowers_and_keeps_order(p: list[float]) -> None:
    result = holm(p)
    known = [(one, other) for one, other in zip(p, result, strict=True) if one == one]  # noqa: PLR0124  (not NaN)
    assert all(one <= other <= 1 for one, other in known)
    assert sorted(known) == sorted(known, key=lambda each: (each[1], each[0]))
    assert all(other <= len(known) * one or other == one for one, other in known[:1]) or len(known) > 1


def test_holm_by_hand() -> None:
    # Five p-values: 0.001·5, 0.01·4, 0.02·3, 0.03·2 raised to 0.06, 0.5.
    assert holm([0.02, 0.5, 0.001, 0.03, 0.01]) == pytest.approx([0.06, 0.5, 0.005, 0.06, 0.04])


def test_p_of_bootstrap_samples() -> None:
    draws = np.array([-1.0, 0.0, 1.0, 2.0])
    assert bootstrap_p(draws, "greater", 0.0) == 3 / 5
    assert bootstrap_p(draws, "less", 0.0) == 4 / 5
    assert bootstrap_p(draws, "two-sided", 0.0) == 1
    assert bootstrap_p(np.ones(99), "two-sided", 0.0) == 2 / 100


@pytest.mark.slow
@pytest.mark.parametrize("method", take_in_tiers(TESTS))
def test_intervals_exclude_zero_exactly_where_the_test_rejects(method: str) -> None:
    test = TESTS[method]
    for first in range(13):
        for second in range(13):
            for concordant in (0, 30):
                observed = DiscordantCounts(first, second, first + second + concordant or 1)
                low, high = mcnemar_interval(test, observed, 0.95)
                rejected = test.test(first, second, "two-sided").p < 0.05
                assert (not low <= 0 <= high) is rejected, (first, second, concordant)
                assert low <= (first - second) / observed.rows <= high


@pytest.mark.slow
def test_mcnemar_intervals_cover() -> None:
    rows = 25
    cells = [(first, second) for first in range(rows + 1) for second in range(rows + 1 - first)]
    bounds = np.array([mcnemar_interval(TESTS["mcnemar-mid-p"], DiscordantCounts(*each, rows), 0.95) for each in cells])
    counts = np.column_stack([np.array(cells), rows - np.sum(cells, axis=1)])
    for discordant, share in ((0.04, 0.5), (0.1, 0.9), (0.1, 1.0), (0.3, 0.5), (0.3, 0.7), (0.6, 0.95)):
        first, second = discordant * share, discordant * (1 - share)
        chance = multinomial.pmf(counts, rows, [first, second, 1 - discordant])
        covered = (bounds[:, 0] <= first - second) & (first - second <= bounds[:, 1])
        assert chance @ covered >= 0.94, (discordant, share)


def test_mid_p_interval_without_discordant_rows_is_about_three_over_n() -> None:
    low, high = mcnemar_interval(TESTS["mcnemar-mid-p"], DiscordantCounts(0, 0, 100), 0.95)
    # Half of the confidence lies on either side: the bound of Clopper and Pearson at 95% for one side.
    assert (-low, high) == pytest.approx((beta.ppf(0.95, 1, 100),) * 2, abs=1e-3)


def test_margin_p_value_matches_the_interval() -> None:
    observed, test = DiscordantCounts(9, 6, 80), TESTS["mcnemar-mid-p"]
    questions: list[tuple[Side, float]] = [("greater", -0.06), ("less", 0.1)]
    for side, bound in questions:
        p = margin_p(test, observed, bound, side)
        low, high = mcnemar_interval(test, observed, 1 - 2 * p)
        assert (low if side == "greater" else high) == pytest.approx(bound, abs=1e-6)
    assert margin_p(test, observed, 0.0, "greater") == pytest.approx(mid_p_test(9, 6, "greater").p)


def test_proportions_at_a_margin_use_the_same_interval() -> None:
    truth = np.ones(80, dtype=bool)
    new, old = np.arange(80) >= 6, (np.arange(80) < 71)
    rows = Rows(truth, {"new": new * 1.0, "old": old * 1.0})
    (result,) = compare(rows, measure="sensitivity", question=Question("better", margin=0.06))
    assert result.p == margin_p(TESTS["mcnemar-mid-p"], DiscordantCounts(9, 6, 80), -0.06, "greater")
    assert "McNemar, mid-p: 9 rows against 6, at the margin" in result.test
