"""AUC of ordered classes: definition, order, one score for all classes, and its interval."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import baserate
from baserate import OptionError, infer, measure, read
from baserate.measure import multiclass
from tests.strategies import Array, few

LABELS = ("low", "mid", "high")
values = st.lists(st.tuples(st.integers(0, 2), few), min_size=1, max_size=25)


def split(pairs: list[tuple[int, float]]) -> tuple[list[str], Array]:
    return [LABELS[code] for code, _ in pairs], np.array([score for _, score in pairs])


def simulate(rows: int, seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    code = rng.choice(3, rows, p=[0.5, 0.3, 0.2])
    return np.array(LABELS)[code], code + 1.2 * rng.normal(size=rows)


@given(values)
def test_pairs_are_counted(pairs: list[tuple[int, float]]) -> None:
    truth, score = split(pairs)
    table = multiclass.pairwise_ordinal_auc(truth, score, labels=LABELS)
    areas = []
    for i, j in combinations(range(3), 2):
        low, high = (score[[each == LABELS[at] for each in truth]] for at in (i, j))
        if not len(low) or not len(high):
            assert np.isnan(table[i, j])
            continue
        wins = np.sum(high[:, None] > low) + np.sum(high[:, None] == low) / 2
        assert table[i, j] == wins / (len(low) * len(high))
        assert table[j, i] == pytest.approx(1 - table[i, j], abs=1e-15)
        areas.append(table[i, j])
    value = multiclass.ordinal_auc(truth, score, labels=LABELS)
    assert value == pytest.approx(np.mean(areas)) if areas else np.isnan(value)


@given(values)
def test_another_order_of_labels_is_another_direction(pairs: list[tuple[int, float]]) -> None:
    truth, score = split(pairs)
    rising, falling = (multiclass.ordinal_auc(truth, score, labels=each) for each in (LABELS, LABELS[::-1]))
    assert rising == pytest.approx(1 - falling, nan_ok=True)
    assert multiclass.ordinal_auc(truth, -score, labels=LABELS) == pytest.approx(falling, nan_ok=True)


def test_two_classes_have_the_auc_of_the_second() -> None:
    truth, score = simulate(80, 1)
    two = truth != "mid"
    labels = ("low", "high")
    expected = measure.auc(truth[two] == "high", score[two])
    assert multiclass.ordinal_auc(truth[two], score[two], labels=labels) == pytest.approx(expected, rel=1e-14)
    rows = baserate.class_scores(truth[two], score[two], labels=labels)
    both = infer.estimate("auc", truth[two] == "high", score[two]), infer.estimate(multiclass.ordinal_auc, rows)
    assert (both[0].low, both[0].high) == pytest.approx((both[1].low, both[1].high), rel=1e-9)


def test_a_score_of_each_class_is_ranked_by_the_expected_class() -> None:
    truth, score = simulate(60, 2)
    shares = np.random.default_rng(0).dirichlet([1, 1, 1], 60)
    expected = multiclass.ordinal_auc(truth, shares @ [0.0, 1, 2], labels=LABELS)
    assert multiclass.ordinal_auc(truth, shares, labels=LABELS) == pytest.approx(expected, rel=1e-12)
    same = np.column_stack([score + 100] * 3)
    assert multiclass.ordinal_auc(truth, same, labels=LABELS) == multiclass.ordinal_auc(truth, score, labels=LABELS)


def test_counts_repeat_rows_and_weights_have_no_unit() -> None:
    truth, score = simulate(50, 3)
    times = np.random.default_rng(1).integers(1, 4, 50)
    counted = baserate.class_scores(truth, score, labels=LABELS, count=times)
    repeated = baserate.class_scores(np.repeat(truth, times), np.repeat(score, times), labels=LABELS)
    first, second = (infer.estimate(multiclass.ordinal_auc, each) for each in (counted, repeated))
    assert (first.value, first.low, first.high) == pytest.approx((second.value, second.low, second.high), rel=1e-9)
    weights = [baserate.class_scores(truth, score, labels=LABELS, weight=times * unit) for unit in (1.0, 50.0)]
    first, second = (infer.estimate(multiclass.ordinal_auc, each) for each in weights)
    assert (first.value, first.low, first.high) == pytest.approx((second.value, second.low, second.high), rel=1e-9)


def test_classes_without_rows_have_no_pairs() -> None:
    truth, score = simulate(50, 3)
    more = multiclass.ordinal_auc(truth, score, labels=["none", *LABELS])
    assert more == multiclass.ordinal_auc(truth, score, labels=LABELS)
    assert np.isnan(multiclass.ordinal_auc(["low"] * 3, [1.0, 2, 3], labels=LABELS))


def test_the_interval_covers() -> None:
    large = multiclass.ordinal_auc(*simulate(200_000, 99), labels=LABELS)
    rows = [baserate.class_scores(*simulate(90, seed), labels=LABELS) for seed in range(400)]
    estimates = [infer.estimate(multiclass.ordinal_auc, each) for each in rows]
    covered = np.mean([each.low <= large <= each.high for each in estimates])
    assert 0.925 <= covered <= 0.975


def test_perfect_order_has_a_lower_bound() -> None:
    rows = baserate.class_scores(["low"] * 9 + ["mid"] * 9 + ["high"] * 9, np.arange(27.0), labels=LABELS)
    estimate = infer.estimate(multiclass.ordinal_auc, rows)
    assert estimate.value == estimate.high == 1
    assert 0.5 < estimate.low < 0.9


def test_summaries_have_pairs_and_no_decisions() -> None:
    truth, score = simulate(60, 4)
    rows = baserate.class_scores(truth, score, labels=LABELS)
    results = infer.multiclass_summary(rows, measures=["ordinal_auc"])
    assert [(row["measure"], row["class"], row["against"]) for row in results.rows()] == [
        ("pairwise_ordinal_auc", "mid", "low"),
        ("pairwise_ordinal_auc", "high", "low"),
        ("pairwise_ordinal_auc", "high", "mid"),
        ("ordinal_auc", None, None),
    ]
    assert results.data["notes"] == []
    assert results.rows()[-1]["low"] < results.rows()[-1]["value"]


def test_one_column_is_the_score_of_all_labels() -> None:
    truth, score = simulate(60, 5)
    table = {"stage": truth, "p_low": score}
    rows = read.class_rows(table, truth="stage", score="p_low", labels=LABELS)
    assert (rows.score == rows.score[:, :1]).all()
    assert multiclass.ordinal_auc(rows) == multiclass.ordinal_auc(truth, score, labels=LABELS)
    with pytest.raises(OptionError, match="or labels= in order if all share it"):
        read.class_rows(table, truth="stage", score="p_low")
    with pytest.raises(baserate.DataError):
        read.class_rows(table, truth="stage", score="p_low", labels=["low", "mid"])


def test_models_are_compared_by_it() -> None:
    truth, score = simulate(150, 6)
    noise = score + 3 * np.random.default_rng(1).normal(size=150)
    first, second = (baserate.class_scores(truth, each, labels=LABELS) for each in (score, noise))
    comparison = infer.compare_classes(first, second, measure="ordinal_auc")
    assert comparison.difference.value == pytest.approx(
        multiclass.ordinal_auc(first) - multiclass.ordinal_auc(second), rel=1e-12
    )
    assert comparison.difference.low < comparison.difference.value < comparison.difference.high
