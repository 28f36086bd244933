"""McNemar's tests against binomial sums in fractions, SciPy, and published tables."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chi2, norm

from baserate import Rows
from baserate.infer import Question, compare
from baserate.infer._comparing._mcnemar import TESTS, asymptotic, corrected, exact, mid_p
from baserate.infer._comparing._question import holm, of_draws

count = st.integers(0, 60)


def at_most(most: int, rows: int) -> Fraction:
    return Fraction(sum(comb(rows, hits) for hits in range(most + 1)), 2**rows)


@given(count, count)
def test_exact_and_mid_p_are_binomial_sums(first: int, second: int) -> None:
    rows, few = first + second, min(first, second)
    if rows == 0:
        assert exact(0, 0, "two-sided").p == mid_p(0, 0, "two-sided").p == 1
        return
    whole = min(2 * at_most(few, rows), Fraction(1))
    half = at_most(few, rows) - Fraction(comb(rows, few), 2 * 2**rows)
    assert exact(first, second, "two-sided").p == pytest.approx(float(whole), rel=1e-12)
    assert mid_p(first, second, "two-sided").p == pytest.approx(float(2 * half), rel=1e-12)
    assert exact(first, second, "two-sided").p == pytest.approx(binomtest(first, rows).pvalue, rel=1e-9)
    for side in ("greater", "less"):
        expected = binomtest(first, rows, alternative=side).pvalue
        assert exact(first, second, side).p == pytest.approx(expected, rel=1e-9)


@given(count, count)
def test_equal_numbers_are_no_evidence_and_order_is_only_a_sign(first: int, second: int) -> None:
    for test, _ in TESTS.values():
        assert test(first, first, "two-sided").p == pytest.approx(1)
        assert test(first, second, "two-sided").p == test(second, first, "two-sided").p
        if first > second:
            assert test(first, second, "greater").p < test(first, second, "less").p


def test_agresti_table_of_approval() -> None:
    # Agresti, Categorical Data Analysis (2nd ed.), section 10.1: 150 and 86 of 1600 changed their mind, z² = 17.36.
    assert asymptotic(150, 86, "two-sided").statistic ** 2 == pytest.approx(64**2 / 236)
    assert round(asymptotic(150, 86, "two-sided").statistic ** 2, 2) == 17.36
    assert asymptotic(150, 86, "two-sided").p == pytest.approx(chi2.sf(64**2 / 236, 1))
    assert corrected(150, 86, "two-sided").p == pytest.approx(chi2.sf(63**2 / 236, 1))
    # One-sided with continuity: P(X ≥ 150) by the normal curve at 149.5.
    assert corrected(150, 86, "greater").p == pytest.approx(norm.sf((149.5 - 118) / np.sqrt(236 / 4)))


def test_many_rows_do_not_underflow_to_zero() -> None:
    for test, _ in TESTS.values():
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
def test_rows_that_only_one_model_hits(name: str, first: int, second: int) -> None:
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
    for method, (test, _) in TESTS.items():
        (found,) = compare(rows, measure=name, question=Question(method=method))
        assert f"{first} rows against {second}" in found.test
        assert found.p == test(first, second, "two-sided").p
    assert compare(rows, measure=name)[0].test.startswith("McNemar, mid-p")


def test_labels_that_agree_by_chance_are_not_surely_the_same() -> None:
    truth = np.array([1, 0, 1, 0, 1], dtype=bool)
    says = truth * 1.0
    (found,) = compare(Rows(truth, {"a": says, "b": says.copy()}), measure="accuracy")
    assert (found.difference.value, found.p) == (0, 1)
    assert found.difference.low < 0 < found.difference.high


@given(st.lists(st.floats(0, 1) | st.just(float("nan")), max_size=8))
def test_holm_never_lowers_and_keeps_order(p: list[float]) -> None:
    found = holm(p)
    known = [(one, other) for one, other in zip(p, found, strict=True) if one == one]  # noqa: PLR0124  (not NaN)
    assert all(one <= other <= 1 for one, other in known)
    assert sorted(known) == sorted(known, key=lambda each: (each[1], each[0]))
    assert all(other <= len(known) * one or other == one for one, other in known[:1]) or len(known) > 1


def test_holm_by_hand() -> None:
    # Five p-values: 0.001·5, 0.01·4, 0.02·3, 0.03·2 raised to 0.06, 0.5.
    assert holm([0.02, 0.5, 0.001, 0.03, 0.01]) == pytest.approx([0.06, 0.5, 0.005, 0.06, 0.04])


def test_p_of_draws() -> None:
    draws = np.array([-1.0, 0.0, 1.0, 2.0])
    assert of_draws(draws, "greater", 0.0) == 3 / 5
    assert of_draws(draws, "less", 0.0) == 4 / 5
    assert of_draws(draws, "two-sided", 0.0) == 1
    assert of_draws(np.ones(99), "two-sided", 0.0) == 2 / 100
