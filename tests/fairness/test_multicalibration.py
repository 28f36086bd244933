"""Multicalibration: tests in overlapping groups, beside SciPy, statsmodels and plain simulations."""

from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import norm, poisson_binom
from statsmodels.stats.multitest import multipletests

import baserate
from baserate import FitError, NotAProbabilityError, OptionError, fairness, read

Columns = dict[str, Any]


def columns(n_rows: int = 1200, seed: int = 1, *, surplus: float = 0.0) -> Columns:
    """Make calibrated rows; with a surplus, except women of the south."""
    rng = np.random.default_rng(seed)
    sex, site, age = (rng.choice([*labels], n_rows) for labels in ("fm", "ns", "abc"))
    risk = rng.uniform(0.05, 0.7, n_rows).round(2)
    shifted = risk + surplus * ((sex == "f") & (site == "s"))
    return {"sick": rng.random(n_rows) < shifted, "risk": risk, "sex": sex, "site": site, "age": age}


def check(rows: Columns, group: tuple[str, ...] = ("sex", "site"), **options: Any) -> baserate.Results:  # noqa: ANN401
    result: baserate.Results = fairness.multicalibration(
        rows, truth="sick", score="risk", group=list(group), **({"n_simulations": 500} | options)
    )
    return result


def members(rows: Columns, row: dict[str, Any]) -> Any:  # noqa: ANN401  (an array)
    """Return which rows belong to a group and to a range of scores."""
    inside = np.ones(len(rows["sick"]), dtype=bool)
    for name, label in (row["group"] or {}).items():
        inside &= rows[name] == label
    lower, upper = -inf if row["lower"] is None else row["lower"], inf if row["upper"] is None else row["upper"]
    return inside & (rows["risk"] >= lower) & (rows["risk"] < upper)


@pytest.mark.parametrize("bins", [None, 3])
def test_numbers_of_each_group_are_those_of_its_rows(bins: int | None) -> None:
    rows = columns(400)
    results = check(rows, ("sex", "site", "age"), bins=bins, min_group=1)
    for row in results.rows():
        inside = members(rows, row)
        sick, risk = rows["sick"][inside], rows["risk"][inside]
        assert row["rows"] == inside.sum()
        assert row["value"] == pytest.approx(sick.mean() - risk.mean(), abs=1e-12)
        spread = np.sqrt((risk * (1 - risk)).sum())
        assert row["z"] == pytest.approx((sick.sum() - risk.sum()) / spread, abs=1e-9)


def test_groups_are_all_labels_and_their_intersections() -> None:
    rows = columns(2000)
    groups = [row["group"] for row in check(rows, ("sex", "site", "age"), depth=2).rows()]
    # Everybody, 2 + 2 + 3 labels, and 4 + 6 + 6 pairs.
    assert len(groups) == 1 + 7 + 16
    assert None in groups
    assert {"sex": "f", "age": "b"} in groups
    assert len(check(rows, ("sex", "site", "age"), depth=3).rows()) == 24 + 12
    assert len(check(rows, ("sex", "site", "age"), depth=1).rows()) == 8
    assert len(check(rows, ("sex",), depth=2, bins=4).rows()) == 3 * 5


def test_groups_with_the_same_rows_are_tested_once() -> None:
    rows = columns(500)
    rows["twin"] = np.where(rows["sex"] == "f", "x", "y")
    rows["all"] = np.full(500, "same")
    plain, more = check(rows, ("sex", "site")), check(rows, ("sex", "site", "twin", "all"))
    assert [row["value"] for row in plain.rows()] == [row["value"] for row in more.rows()]
    assert plain.data["tests"] == more.data["tests"] == 9


def exact_p(risk: Any, positives: int) -> float:  # noqa: ANN401  (an array)
    distribution = poisson_binom(risk)
    return float(min(1.0, 2 * min(distribution.cdf(positives), distribution.sf(positives - 1))))


@pytest.mark.parametrize("scale", [1.0, 0.05])
def test_p_values_are_those_of_poisson_binomial_distributions(scale: float) -> None:
    rows = columns(300)
    rows["risk"] = (rows["risk"] * scale).round(4)
    rows["sick"] = np.random.default_rng(3).random(300) < rows["risk"] * 1.5
    for row in check(rows, min_group=1).rows():
        inside = members(rows, row)
        expected = exact_p(rows["risk"][inside], int(rows["sick"][inside].sum()))
        assert row["p"] == pytest.approx(expected, rel=1e-6, abs=1e-10)
        assert row["how"] == "exact distribution of a sum of Bernoulli variables"


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40))
def test_exact_p_values_of_any_rows(rows: list[tuple[float, bool]]) -> None:
    risk, sick = np.array([each[0] for each in rows]), np.array([each[1] for each in rows])
    result = fairness.multicalibration(
        sick, risk, group=["a"] * len(rows), positive=True, min_group=1, n_simulations=20
    )
    (row,) = result.rows()
    expected = exact_p(np.array(risk), int(sick.sum()))
    assert row["p"] == pytest.approx(max(expected, 1e-12), rel=1e-5, abs=1e-9)
    assert row["low"] <= row["value"] <= row["high"]


def test_p_values_of_many_or_weighted_rows_are_normal() -> None:
    rng = np.random.default_rng(2)
    risk = rng.uniform(0.2, 0.8, 9000).round(3)
    rows = {"sick": rng.random(9000) < risk, "risk": risk, "sex": ["f"] * 9000}
    (row,) = check(rows, ("sex",)).rows()
    assert row["how"] == "score test"
    assert row["p"] == pytest.approx(2 * norm.sf(abs(row["z"])), rel=1e-9)
    weight = rng.choice([0.5, 2.0], 300)
    some = {name: np.asarray(each)[:300] for name, each in rows.items()} | {"w": weight}
    results = check(some, ("sex",), weight="w")
    (row,) = results.rows()
    surplus = (weight * (some["sick"] - some["risk"])).sum()
    assert row["z"] == pytest.approx(surplus / np.sqrt((weight**2 * some["risk"] * (1 - some["risk"])).sum()))
    assert row["p"] == pytest.approx(2 * norm.sf(abs(row["z"])), rel=1e-9)
    assert row["value"] == pytest.approx(surplus / weight.sum())
    assert any("weighted" in note for note in results.data["notes"])


@pytest.mark.parametrize(("adjust", "name"), [("holm", "holm"), ("bh", "fdr_bh"), ("by", "fdr_by")])
def test_adjustments_are_those_of_statsmodels(adjust: str, name: str) -> None:
    results = check(columns(surplus=0.1), ("sex", "site", "age"), adjust=adjust).rows()
    expected = multipletests([row["p"] for row in results], method=name)[1]
    assert [row["p_adjusted"] for row in results] == pytest.approx(list(expected), rel=1e-9)


def test_the_greatest_statistic_is_that_of_simulated_rows() -> None:
    """Step-down adjustment and critical value, beside simulations row by row."""
    rows = columns(300, seed=4)
    results = check(rows, n_simulations=4000, min_group=1).rows()
    inside = np.array([members(rows, row) for row in results], dtype=float)
    risk = rows["risk"]
    outcomes = np.random.default_rng(9).random((4000, 300)) < risk
    z = np.abs((outcomes - risk) @ inside.T) / np.sqrt(inside @ (risk * (1 - risk)))
    observed = np.abs([row["z"] for row in results])
    assert (np.diff(observed) <= 0).all()
    for at, row in enumerate(results):
        share = np.mean(z[:, at:].max(axis=1) >= observed[at] - 1e-9)
        assert row["p_adjusted"] == pytest.approx(max(share, results[at - 1]["p_adjusted"] if at else 0), abs=0.04)
    critical = np.quantile(z.max(axis=1), 0.95)
    for row in results[:3]:
        reaches_zero = row["low_simultaneous"] <= 0 <= row["high_simultaneous"]
        assert reaches_zero == (abs(row["z"]) <= critical)


def test_adjusted_p_values_are_between_the_single_one_and_holms() -> None:
    rows = columns(surplus=0.08)
    by_max, by_holm = (
        {str(row["group"]): row for row in check(rows, ("sex", "site", "age"), adjust=each, n_simulations=5000).rows()}
        for each in ("max", "holm")
    )
    for group, row in by_max.items():
        assert row["p"] <= row["p_adjusted"] <= by_holm[group]["p_adjusted"] + 0.05


def test_a_miscalibrated_intersection_is_found() -> None:
    results = check(columns(surplus=0.15), ("sex", "site", "age"))
    worst = results.rows()[0]
    assert worst["group"] == {"sex": "f", "site": "s"}
    assert worst["rank"] == 1
    assert worst["p_adjusted"] < 0.01
    assert 0 < worst["low_simultaneous"] < worst["low"] < worst["value"] < worst["high"] < worst["high_simultaneous"]
    largest = results.data["largest"]["risk"]
    assert largest["bound"] >= max(abs(row["value"]) for row in results.rows())
    assert abs(largest["value"]) == max(abs(row["value"]) for row in results.rows() if row["p"] is not None)


@pytest.mark.quick(10)
def test_family_wise_error_rate_of_calibrated_models() -> None:
    n_samples, rejected, outside = 200, 0, 0
    for seed in range(n_samples):
        rows = check(columns(400, seed=seed + 1000), ("sex", "site", "age"), n_simulations=300, min_group=10).rows()
        rejected += rows[0]["p_adjusted"] <= 0.05
        outside += any(not row["low_simultaneous"] <= 1e-6 <= row["high_simultaneous"] + 2e-6 for row in rows)
    # 10 are expected; more than 20 have a probability of 0.001.
    assert rejected <= 20
    assert outside <= 20


def test_intervals_invert_the_score_test() -> None:
    rows = columns(200)
    odds = np.log(rows["risk"] / (1 - rows["risk"]))
    (row, *_) = (each for each in check(rows, min_group=1).rows() if each["group"] is None)
    for end, sign in (("low", 1), ("high", -1)):
        expected = rows["risk"].mean() + row[end]

        def mean(shift: float) -> float:
            return float((1 / (1 + np.exp(-(odds + shift)))).mean())

        low, high = -20.0, 20.0
        for _ in range(100):
            middle = (low + high) / 2
            low, high = (middle, high) if mean(middle) < expected else (low, middle)
        risk = 1 / (1 + np.exp(-(odds + low)))
        z = (rows["sick"].sum() - risk.sum()) / np.sqrt((risk * (1 - risk)).sum())
        assert z == pytest.approx(sign * 1.959964, abs=1e-3)


def test_certain_scores() -> None:
    rows = {"sick": [1, 1, 0, 0], "risk": [1.0, 1.0, 0.0, 0.0], "sex": ["f", "m", "f", "m"]}
    right = check(rows, ("sex",), min_group=1).rows()
    assert all(row["z"] == 0 and row["p"] == 1 and row["p_adjusted"] == 1 for row in right)
    wrong = check(rows | {"sick": [0, 1, 0, 0]}, ("sex",), min_group=1).rows()
    assert wrong[0]["z"] == -inf
    assert wrong[0]["p"] <= 1e-12
    assert wrong[0]["p_is_bound"]


def test_small_groups_are_listed_but_not_tested() -> None:
    rows = columns(300)
    rows["sex"][:280] = "f"
    results = check(rows, min_group=50)
    tested = [row for row in results.rows() if row["p"] is not None]
    small = [row for row in results.rows() if row["p"] is None]
    assert small
    assert all(
        row["rows"] < 50 and row["rank"] is None and "fewer than the minimum of 50" in row["why"] for row in small
    )
    assert all(row["rows"] >= 50 and row["why"] is None for row in tested)
    assert any("not tested" in note for note in results.data["notes"])
    assert all(row["low_simultaneous"] is None and row["low"] < row["high"] for row in small)


def test_order_of_rows_and_columns_does_not_matter() -> None:
    rows = columns(600)
    order = np.random.default_rng(1).permutation(600)
    one = check(rows, ("sex", "site")).rows()
    other = check({name: each[order] for name, each in rows.items()}, ("site", "sex")).rows()
    by_group = {frozenset((row["group"] or {}).items()): row for row in other}
    for row in one:
        same = by_group[frozenset((row["group"] or {}).items())]
        assert row["value"] == pytest.approx(same["value"], abs=1e-12)
        assert row["p"] == pytest.approx(same["p"], rel=1e-9)


def test_several_models_are_tested_apart() -> None:
    rows = columns(500)
    rows["old"] = (rows["risk"] / 2).round(3)
    both = fairness.multicalibration(
        rows, truth="sick", score=["risk", "old"], group=["sex", "site"], n_simulations=500
    )
    assert {row["model"] for row in both.rows()} == {"risk", "old"}
    alone = check(rows).rows()
    own = [row for row in both.rows() if row["model"] == "risk"]
    assert [row["p_adjusted"] for row in own] == [row["p_adjusted"] for row in alone]
    assert both.data["largest"]["old"]["value"] > 0.1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"depth": 0}, "depth is 0; expected a whole number from 1 to 100"),
        ({"bins": 0}, "bins is 0"),
        ({"adjust": "sidak"}, "adjust is 'sidak'; expected one of max, holm, by, bh"),
        ({"level": 1.5}, "level is 1.5"),
        ({"min_group": 0}, "min_group is 0"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        check(columns(100), **options)


def test_data_that_cannot_be_tested_are_refused() -> None:
    rows = columns(100)
    with pytest.raises(OptionError, match="read without groups"):
        fairness.multicalibration(rows, truth="sick", score="risk")
    with pytest.raises(NotAProbabilityError):
        check(rows | {"risk": rows["risk"] * 3})
    with pytest.raises(FitError, match="no group has 500 rows or more"):
        check(rows, min_group=500)
    tallies = read.tallies(rows, truth="sick", score="risk", group="sex")
    with pytest.raises(OptionError, match="classes were reweighted"):
        fairness.multicalibration(baserate.shift.reweigh(tallies, prevalence=0.1))
