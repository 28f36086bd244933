"""pROC's aSAH data: covariances of areas and its tests of their differences, as its own tests expect them."""

from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from baserate import Rows, Tally
from baserate.infer import Question, compare, compare_unpaired
from baserate.infer._auc_intervals import auc_influence
from baserate.infer._model_bootstrap import unique_rows

Columns = Callable[[str], dict[str, list[str]]]

MARKERS = ("wfns", "ndka", "s100b")
PAIRS = [("wfns", "s100b"), ("wfns", "ndka"), ("ndka", "s100b")]

near = partial(pytest.approx, rel=0, abs=1e-10)


@pytest.fixture(scope="module")
def rows(columns: Columns) -> Rows:
    read = columns("aSAH.csv")
    truth = np.array(read["outcome"]) == "Poor"
    return Rows(truth, {name: np.array(read[name], dtype=float) for name in MARKERS})


@pytest.fixture(scope="module")
def facts(load_published: Callable[[str], Any]) -> dict[str, Any]:
    entries = load_published("pROC_aSAH_reference.json")
    assert isinstance(entries, dict)
    return entries


def test_variances_and_covariances(rows: Rows, facts: dict[str, Any]) -> None:
    result = auc_influence(unique_rows(rows, MARKERS), MARKERS)
    for at, name in enumerate(MARKERS):
        assert result.covariance(at, at) == near(facts["delong_var"][name])
    for pair, expected in facts["delong_cov"].items():
        first, second = (MARKERS.index(name) for name in pair.split(","))
        assert result.covariance(first, second) == result.covariance(second, first) == near(expected)
    for a, b in combinations(range(3), 2):
        spread = result.covariance(a, a) + result.covariance(b, b) - 2 * result.covariance(a, b)
        assert result.variance_of_difference(a, b) == near(spread)


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_paired_comparisons(rows: Rows, facts: dict[str, Any], pair: tuple[str, str]) -> None:
    (result,) = compare(rows, models=[pair])
    expected = facts["delong_test_paired"]["-".join(pair)]
    assert result.statistic == near(expected["Z"])
    assert result.p == result.p_adjusted == near(expected["p"])
    assert [result.difference.low, result.difference.high] == near(expected["ci"])
    # The other way round all signs change, and nothing else.
    (turned,) = compare(rows, models=[pair[::-1]])
    assert turned.statistic == -result.statistic
    assert turned.p == result.p
    assert (turned.difference.low, turned.difference.high) == (-result.difference.high, -result.difference.low)


def test_one_sided_comparisons(rows: Rows, facts: dict[str, Any]) -> None:
    expected = facts["delong_test_paired_one_sided"]["wfns>s100b"]
    ways = {"greater": "p_greater", "less": "p_less", "better": "p_greater"}
    for alternative, key in ways.items():
        question = Question(alternative=alternative)  # type: ignore[arg-type]
        (result,) = compare(rows, models=[("wfns", "s100b")], question=question)
        assert result.p == near(expected[key])


def test_a_marker_does_not_differ_from_itself(rows: Rows, facts: dict[str, Any]) -> None:
    twice = Rows(rows.truth, {"a": rows.score["ndka"], "b": rows.score["ndka"]})
    (result,) = compare(twice)
    assert (result.statistic, result.p) == (0, 1)
    assert facts["delong_test_paired"]["identical"] == {"Z": 0, "p": 1}


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_unpaired_comparisons(rows: Rows, facts: dict[str, Any], pair: tuple[str, str]) -> None:
    first, second = (Tally.of_rows(rows.truth, rows.score[name]) for name in pair)
    expected = facts["delong_test_unpaired"]["-".join(pair)]
    result = compare_unpaired(first, second)
    assert result.statistic == near(expected["D"])
    assert result.p == near(expected["p"])
    if "p_greater" in expected:
        result = compare_unpaired(first, second, question=Question(alternative="greater"))
        assert result.p == near(expected["p_greater"])


def test_holm_over_the_three_pairs(rows: Rows, facts: dict[str, Any]) -> None:
    result = {each.models: each for each in compare(rows)}
    p = {tuple(name.split("-")): each["p"] for name, each in facts["delong_test_paired"].items() if "-" in name}
    assert len(result) == 3
    # .005·3, .027·2, .164·1: already in order.
    assert result["wfns", "ndka"].p_adjusted == near(3 * p["wfns", "ndka"])
    assert result["wfns", "s100b"].p_adjusted == near(2 * p["wfns", "s100b"])
    assert result["ndka", "s100b"].p_adjusted == near(p["ndka", "s100b"])
