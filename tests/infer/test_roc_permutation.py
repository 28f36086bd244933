"""Venkatraman's permutation tests: statistics by brute force, invariances, level and power."""

from math import isnan
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings, strategies as st

from baserate import OptionError, Rows, infer, tally
from baserate.infer import Question, _roc_permutation
from baserate.infer._roc_permutation import RocSample, paired_curve_test, unpaired_curve_test

QUESTION = Question(method="venkatraman")


@pytest.fixture(autouse=True)
def few_permutations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_roc_permutation, "MAX_PERMUTATIONS", 199)
    monkeypatch.setattr(_roc_permutation, "MIN_PERMUTATIONS", 199)


def normal_rows(rng: np.random.Generator, n: int, shift: float = 1.0, spread: float = 1.0) -> Rows:
    """Two models on the same rows; shift and spread are those of the positives of the second."""
    truth = np.arange(n) % 5 < 2
    common = 0.7 * rng.normal(size=n)
    first = common + 0.7 * rng.normal(size=n) + truth
    second = (common + 0.7 * rng.normal(size=n)) * np.where(truth, spread, 1.0) + shift * truth
    return Rows(truth, {"a": first, "b": second})


def errors_by_rank(truth: npt.NDArray[Any], score: npt.NDArray[Any]) -> list[int]:
    """Errors of a model that flags all but its k lowest rows, for k = 1, 2, …, by their definition."""
    ranks = np.argsort(np.argsort(score)) + 1
    return [int(np.sum(truth & (ranks <= k)) + np.sum(~truth & (ranks > k))) for k in range(1, len(score) + 1)]


@given(st.integers(0, 10**6), st.integers(4, 30))
def test_the_paired_statistic_is_that_of_the_definition(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.5
    first, second = rng.normal(size=n), rng.normal(size=n)
    wanted = np.abs(np.subtract(errors_by_rank(truth, first), errors_by_rank(truth, second))).sum()
    assert paired_curve_test(truth, first, second, seed).distance == wanted


def test_exchanged_ranks_are_those_of_a_sort() -> None:
    # By brute force: every exchange of four rows, and every order of equal ranks.
    truth = np.array([True, False, True, False])
    first, second = np.array([0.0, 1, 2, 3]), np.array([1.0, 0, 3, 2])
    possible = set()
    for mask in range(16):
        exchanged = np.array([bool(mask >> row & 1) for row in range(4)])
        for ties in np.random.default_rng(0).random((40, 2, 4)) * 0.5:
            one = np.where(exchanged, second, first) + ties[0]
            other = np.where(exchanged, first, second) + ties[1]
            difference = np.cumsum(truth[np.argsort(one)]) - np.cumsum(truth[np.argsort(other)].astype(int))
            possible.add(2.0 * np.abs(difference).sum())
    rng = np.random.default_rng(1)
    keep = rng.random((2000, 4)) < 0.5
    ranks = first.astype(np.int64), second.astype(np.int64)
    exchanged = np.where(keep, *ranks), np.where(keep, *ranks[::-1])
    merged = [_roc_permutation.sort_labels(truth, each, rng) for each in exchanged]
    assert set(_roc_permutation.distance_of_errors(*merged).tolist()) == possible


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_only_ranks_matter_and_not_the_order_of_rows_or_models(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = normal_rows(rng, 40)
    (one,) = infer.compare(rows, question=QUESTION)
    order = rng.permutation(40)
    moved = {"a": np.exp(rows.score["a"])[order], "b": rows.score["b"][order] ** 3}
    (other,) = infer.compare(Rows(rows.truth[order], moved), models=[("b", "a")], question=QUESTION)
    assert other.statistic == one.statistic
    assert abs(other.p - one.p) < 0.2  # rows are sorted by content, so other permutations may come up
    (again,) = infer.compare(Rows(rows.truth[order], {k: v[order] for k, v in rows.score.items()}), question=QUESTION)
    assert again == one


def test_counts_repeat_rows() -> None:
    rng = np.random.default_rng(3)
    rows, count = normal_rows(rng, 20), rng.integers(1, 4, 20)
    repeated = Rows(np.repeat(rows.truth, count), {k: np.repeat(v, count) for k, v in rows.score.items()})
    (one,) = infer.compare(Rows(rows.truth, rows.score, count=count), question=QUESTION)
    (other,) = infer.compare(repeated, question=QUESTION)
    assert (one.statistic, one.p) == (other.statistic, other.p)
    first, second = ((rows.truth, rows.score[name]) for name in ("a", "b"))
    counted = infer.compare_unpaired(tally(*first, count=count), tally(*second), question=QUESTION)
    plain = infer.compare_unpaired(
        tally(*(np.repeat(each, count) for each in first)), tally(*second), question=QUESTION
    )
    assert counted.statistic == plain.statistic


def test_a_model_equals_itself() -> None:
    rows = normal_rows(np.random.default_rng(4), 30)
    (same,) = infer.compare(Rows(rows.truth, {"a": rows.score["a"], "b": rows.score["a"]}), question=QUESTION)
    assert (same.statistic, same.p) == (0, 1)
    one = tally(rows.truth, rows.score["a"])
    result = infer.compare_unpaired(one, one, question=QUESTION)
    assert (result.statistic, result.p) == (0, 1)


def test_the_unpaired_statistic_is_an_area() -> None:
    # Perfect against reversed ranks, half of each class: errors ½ − p and p up to p = ½, then the mirror image.
    n = 400
    truth = np.arange(n) >= n // 2
    result = unpaired_curve_test(
        RocSample(truth, np.arange(n, dtype=float)), RocSample(truth, -np.arange(n, dtype=float)), 0
    )
    assert result.distance == pytest.approx(0.5, abs=0.01)
    assert result.p == result.smallest == 1 / 200


def test_curves_that_cross_differ_although_their_areas_do_not() -> None:
    rows = normal_rows(np.random.default_rng(5), 600, shift=2.235, spread=3.0)
    (curves,) = infer.compare(rows, question=QUESTION)
    (areas,) = infer.compare(rows)
    assert areas.p > 0.05
    assert curves.p < 0.02
    assert curves.difference == areas.difference
    samples = [tally(rows.truth, rows.score[name]) for name in ("a", "b")]
    assert infer.compare_unpaired(*samples, question=QUESTION).p < 0.05


def test_both_tests_keep_their_level() -> None:
    rng = np.random.default_rng(6)
    paired, unpaired = [], []
    for _ in range(200):
        rows = normal_rows(rng, 60)
        paired.append(infer.compare(rows, question=QUESTION)[0].p)
        other = normal_rows(rng, 100)
        first, second = (rows.truth, rows.score["a"]), (other.truth, other.score["a"])
        unpaired.append(infer.compare_unpaired(first, second, question=QUESTION).p)
    # 3.7 to 5.4% in 500 to 1000 samples.
    assert 0.01 <= np.mean(np.array(paired) <= 0.05) <= 0.09
    assert 0.01 <= np.mean(np.array(unpaired) <= 0.05) <= 0.09


def test_ties_are_broken_at_random_with_the_seed() -> None:
    rows = normal_rows(np.random.default_rng(7), 60)
    tied = Rows(rows.truth, {name: np.round(score) for name, score in rows.score.items()})
    results = [infer.compare(tied, question=QUESTION, seed=seed)[0] for seed in (0, 0, 1, 2)]
    assert results[0] == results[1]
    assert len({each.statistic for each in results}) > 1
    assert results[0].test.endswith("ties broken at random")


def test_what_the_test_cannot_do_is_refused() -> None:
    rows = normal_rows(np.random.default_rng(8), 30)
    weighted = Rows(rows.truth, rows.score, weight=np.linspace(1, 2, 30))
    clustered = Rows(rows.truth, rows.score, cluster=np.arange(30) // 2)
    with pytest.raises(OptionError, match="Venkatraman's test counts rows, and these have weights"):
        infer.compare(weighted, question=QUESTION)
    with pytest.raises(OptionError, match="requires independent rows, and these are clustered"):
        infer.compare(clustered, question=QUESTION)
    with pytest.raises(OptionError, match="compares whole ROC curves, not ks"):
        infer.compare(rows, measure="ks", question=QUESTION)
    with pytest.raises(OptionError, match="two-sided"):
        infer.compare(rows, question=Question(method="venkatraman", alternative="less"))
    one = tally(rows.truth, rows.score["a"], weight=np.linspace(1, 2, 30))
    with pytest.raises(OptionError, match="these have weights"):
        infer.compare_unpaired(one, one, question=QUESTION)


def test_one_class_has_no_curve() -> None:
    rows = normal_rows(np.random.default_rng(9), 30)
    (result,) = infer.compare(Rows(np.ones(30, bool), rows.score), question=QUESTION)
    assert isnan(result.p)
    assert result.why == "there are no negatives"


def test_a_stated_prevalence_changes_nothing() -> None:
    rows = normal_rows(np.random.default_rng(10), 50)
    plain, stated = (infer.compare(rows, question=QUESTION, prevalence=share)[0] for share in (None, 0.1))
    assert (plain.statistic, plain.p) == (stated.statistic, stated.p)
