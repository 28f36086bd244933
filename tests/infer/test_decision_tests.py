"""Tests of decisions: accuracy against the no-information rate, and symmetry of errors."""

from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

import baserate
from baserate import Confusion, Counts, OptionError, infer, shift
from baserate.infer._mcnemar import TESTS

cells = st.integers(0, 40)
matrices = st.integers(2, 4).flatmap(
    lambda size: st.lists(st.lists(cells, min_size=size, max_size=size), min_size=size, max_size=size)
)


def table_of(matrix: list[list[int]]) -> Confusion:
    return Confusion.of_matrix(matrix, truth="rows")


@given(matrices)
def test_the_exact_method_is_a_binomial_tail(matrix: list[list[int]]) -> None:
    table = table_of(matrix)
    test = infer.no_information_test(table, method="exact")
    total = int(table.total)
    if not total:
        assert test.why == "there are no rows"
        return
    hits, rate = int(table.correct.sum()), max(table.truth) / total
    wanted = float(stats.binom.sf(hits - 1, total, rate))
    assert test.statistic == hits
    assert test.p == pytest.approx(wanted, rel=1e-9, abs=1e-300)


@given(cells, cells, cells, cells)
def test_the_paired_method_is_a_sign_test_of_the_flagged_rows(tp: int, fp: int, fn: int, tn: int) -> None:
    counts = Counts(tp=tp, fp=fp, fn=fn, tn=tn)
    if fp + tn <= tp + fn:  # then always flagging is the alternative, and the rows in question are the others
        tp, fp = tn, fn
    test = infer.no_information_test(counts)
    if not counts.total:
        assert np.isnan(test.p)
        return
    n = tp + fp
    wanted = sum(comb(n, k) for k in range(tp + 1, n + 1)) / 2**n + comb(n, tp) / 2 ** (n + 1) if n else 1.0
    assert test.statistic == tp
    assert test.p == pytest.approx(wanted, rel=1e-9)


@given(matrices)
def test_the_order_of_classes_does_not_matter(matrix: list[list[int]]) -> None:
    table = table_of(matrix)
    order = np.arange(len(matrix))[::-1]
    other = Confusion(table.mass[np.ix_(order, order)], tuple(range(len(matrix))))
    assert infer.symmetry_test(table).p == pytest.approx(infer.symmetry_test(other).p, nan_ok=True)
    assert infer.no_information_test(table, method="exact").p == pytest.approx(
        infer.no_information_test(other, method="exact").p, nan_ok=True
    )
    if (table.truth == table.truth.max()).sum() == 1:
        assert infer.no_information_test(table).p == pytest.approx(infer.no_information_test(other).p)


@given(matrices)
def test_symmetric_errors_are_no_evidence(matrix: list[list[int]]) -> None:
    symmetric = np.asarray(matrix) + np.asarray(matrix).T
    test = infer.symmetry_test(Confusion.of_matrix(symmetric, truth="rows"), method="mcnemar")
    assert not symmetric.any() or test.p == pytest.approx(1)


def test_decisions_that_are_constant_are_no_evidence() -> None:
    counts = Counts(tp=0, fp=0, fn=10, tn=90)
    assert infer.no_information_test(counts).p == 1
    assert infer.no_information_test(counts, method="exact").p > 0.5
    assert infer.symmetry_test(Counts(tp=10, fp=0, fn=0, tn=90)).p == 1


def test_the_exact_method_rejects_too_often_where_many_rows_are_flagged() -> None:
    """Of 2000 samples without information; the standard error is half a percentage point."""
    rng = np.random.default_rng(1)
    tables = rng.multinomial(200, [0.325, 0.325, 0.075, 0.275], size=2000).tolist()
    shares = {
        method: np.mean([infer.no_information_test(Counts(*table), method=method).p < 0.05 for table in tables])
        for method in ("paired", "exact")
    }
    assert 0.035 < shares["paired"] < 0.07
    assert shares["exact"] > 0.13


def test_predictions_in_other_forms() -> None:
    rng = np.random.default_rng(2)
    truth = (rng.random(200) < 0.3).astype(int)
    flagged = (truth + rng.normal(size=200) > 0.7).astype(int)
    counts = Counts(*(int(np.sum((truth == t) & (flagged == f))) for t, f in ((1, 1), (0, 1), (1, 0), (0, 0))))
    for function in (infer.no_information_test, infer.symmetry_test):
        wanted = function(counts).p
        assert function(truth, flagged).p == wanted
        assert function(baserate.confusion(truth, flagged)).p == wanted
    assert infer.no_information_test(truth, flagged).how.endswith("against always predicting 0")


@pytest.mark.parametrize("name", TESTS)
def test_each_of_the_tests_of_mcnemar(name: Any) -> None:  # noqa: ANN401  (a literal type, from a mapping)
    counts = Counts(tp=40, fp=12, fn=25, tn=80)
    test = infer.symmetry_test(counts, method=name)
    assert 0.01 < test.p < 0.08
    assert test.how == TESTS[name].name


def test_bad_input() -> None:
    counts = Counts(tp=40, fp=12, fn=25, tn=80)
    with pytest.raises(OptionError, match="method is 'wald'; expected 'paired' or 'exact'"):
        infer.no_information_test(counts, method="wald")  # type: ignore[call-overload]
    with pytest.raises(OptionError, match="method is 'wald'; expected one of 'mcnemar-exact'"):
        infer.symmetry_test(counts, method="wald")  # type: ignore[call-overload]
    three = table_of([[3, 1, 0], [0, 3, 1], [2, 0, 3]])
    with pytest.raises(OptionError, match="there are 3 classes; expected 'mcnemar'"):
        infer.symmetry_test(three, method="mcnemar-exact")
    weighted = baserate.confusion([1, 0, 1, 0], [1, 1, 1, 0], weight=[0.5, 1, 2, 1])
    for data in (weighted, shift.reweigh(counts, prevalence=0.1)):
        for function in (infer.no_information_test, infer.symmetry_test):
            with pytest.raises(OptionError, match="rows are weighted"):
                function(data)
    with pytest.raises(baserate.UsageError, match="a DecisionTest is neither true nor false"):
        bool(infer.symmetry_test(counts))
