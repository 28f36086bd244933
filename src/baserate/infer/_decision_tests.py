"""Tests of decisions: accuracy against the no-information rate, and symmetry of the errors (McNemar, Bowker).

A high accuracy may need no information: where nine rows in ten are negative, always deciding for the negative class has
an accuracy of 90%, the no-information rate.
"""

from __future__ import annotations

from typing import Any, Literal, Unpack

import numpy as np

from baserate._confusion import Confusion
from baserate._counts import Counts
from baserate._domains import wrong_option
from baserate._errors import OptionError
from baserate._formatting import count_of
from baserate.infer._calibration_tests import SMALLEST_P, CalibrationTest, chi_squared_p
from baserate.infer._mcnemar import TESTS, mid_p_test
from baserate.read import PredictionOptions, accepts_predictions

NoInformationMethod = Literal["paired", "exact"]


class DecisionTest(CalibrationTest):
    """A test of decisions: a statistic, and the probability of one at least as extreme if the hypothesis holds."""

    __slots__ = ()


@accepts_predictions("confusion", others=(Counts,))
def no_information_test(
    confusion: Confusion | Counts[float],
    *,
    method: NoInformationMethod = "paired",
    **predictions: Unpack[PredictionOptions],
) -> DecisionTest:
    r"""Test whether decisions are more often correct than always predicting the most frequent class.

    The paired method compares the decisions with that constant one on the same rows, by the one-sided mid-p sign test
    of the rows that only one of both gets right. Of two classes these are the flagged rows if negatives are more
    frequent: the accuracy exceeds the no-information rate exactly where the precision exceeds ½.

    The exact method compares the correct rows with a binomial distribution, :math:`P(X\ge k),\;X\sim Bin(n,NIR)`
    [@kuhn2008]. It takes the rate of the sample as known. So it rejects too seldom where few rows get another class
    than the most frequent one, and too often where many do: with 200 rows, 40% positives and 65% of all rows flagged,
    it rejects 15% of true hypotheses at 5%, and the paired method 6%.

    Parameters
    ----------
    confusion
        True and predicted labels of any number of classes, or their confusion matrix.
    method
        "paired", or "exact" for the numbers of caret and PyCM.

    Returns
    -------
    DecisionTest
        The rows that only the decisions get right, or of the exact method all correct rows; the one-sided p-value.

    Raises
    ------
    OptionError
        Rows are weighted, so that there is no count of them.

    Examples
    --------
    >>> from baserate import Counts, infer
    >>> table = Counts(tp=231, fp=32, fn=27, tn=54)
    >>> round(infer.no_information_test(table, method="exact").p, 8)
    0.0003097
    >>> test = infer.no_information_test(table)
    >>> test.statistic, round(test.p, 4)
    (54.0, 0.0013)
    """
    table = _as_counted(confusion)
    if method not in ("paired", "exact"):
        raise wrong_option("method", method, "'paired' or 'exact'")
    total, truth = float(table.total), table.truth
    if not total:
        return DecisionTest("no_information", np.nan, np.nan, _HOW[method], why="there are no rows")
    most = int(truth.argmax())
    correct = table.correct
    hits = float(correct.sum())
    if method == "exact":
        return DecisionTest(
            "no_information", hits, _binomial_tail(hits, total, float(truth[most]) / total), _HOW[method]
        )
    gained, lost = hits - float(correct[most]), float(truth[most]) - float(correct[most])
    result = mid_p_test(round(gained), round(lost), "greater")
    return DecisionTest("no_information", gained, result.p, f"{_HOW[method]} {table.labels[most]!r}")


SymmetryMethod = Literal["mcnemar-exact", "mcnemar-mid-p", "mcnemar", "mcnemar-corrected"]


@accepts_predictions("confusion", others=(Counts,))
def symmetry_test(
    confusion: Confusion | Counts[float],
    *,
    method: SymmetryMethod | None = None,
    **predictions: Unpack[PredictionOptions],
) -> DecisionTest:
    r"""Test whether errors are symmetric: as many rows of class i get class j as of class j get class i.

    For two classes that is McNemar's test of false positives against false negatives: whether as many rows are flagged
    as are positive [@mcnemar1947]. Of several classes it is Bowker's, with the statistic
    :math:`\sum_{i<j}\frac{(n_{ij}-n_{ji})^2}{n_{ij}+n_{ji}}` and a degree of freedom for each pair of classes that are
    ever confused [@bowker1948]. It says nothing about how many errors there are.

    Parameters
    ----------
    confusion
        True and predicted labels of any number of classes, or their confusion matrix.
    method
        One of McNemar's tests of two classes; by default the mid-p one. "mcnemar-corrected" is that of caret and R. Of
        several classes only "mcnemar", the plain χ² test.

    Returns
    -------
    DecisionTest
        The statistic and its two-sided p-value.

    Raises
    ------
    OptionError
        Rows are weighted, or the method is for two classes.

    Examples
    --------
    >>> from baserate import Counts, infer
    >>> test = infer.symmetry_test(Counts(tp=231, fp=32, fn=27, tn=54), method="mcnemar-corrected")
    >>> round(test.statistic**2, 4), round(test.p, 4)
    (0.2712, 0.6025)
    """
    table = _as_counted(confusion)
    if method is not None and method not in TESTS:
        raise wrong_option("method", method, f"one of {', '.join(map(repr, TESTS))}")
    if not table.total:
        return DecisionTest("symmetry", np.nan, np.nan, "McNemar", why="there are no rows")
    if len(table.labels) == 2:
        way = TESTS[method or "mcnemar-mid-p"]
        first, second = (round(float(table.mass[cell])) for cell in ((0, 1), (1, 0)))
        result = way.test(first, second, "two-sided")
        return DecisionTest("symmetry", result.statistic, result.p, way.name)
    if method not in (None, "mcnemar"):
        raise OptionError(
            f"method is {method!r}, and there are {len(table.labels)} classes; expected 'mcnemar'.",
            remedy="Leave it out.",
            option="method",
            value=method,
        )
    return _bowker_test(table)


def decision_tests(confusion: Confusion | Counts[float]) -> tuple[DecisionTest, ...]:
    """Return all tests of a table: of no information, paired and exact, and of symmetry.

    >>> [test.name for test in decision_tests(Counts(tp=231, fp=32, fn=27, tn=54))]
    ['no_information', 'no_information_exact', 'symmetry']
    """
    exact = no_information_test(confusion, method="exact")
    renamed = DecisionTest(
        "no_information_exact", exact.statistic, exact.p, exact.how, why=exact.why, p_is_bound=exact.p_is_bound
    )
    return no_information_test(confusion), renamed, symmetry_test(confusion)


_HOW = {
    "paired": "mid-p sign test, one-sided, against always predicting",
    "exact": "exact binomial, one-sided, with the no-information rate of the sample taken as known",
}


def _as_counted(table: Confusion | Counts[Any]) -> Confusion:
    """Return a confusion matrix of whole rows, the positive class first."""
    if table.moments is not None or table.reweighed:
        raise OptionError(
            "rows are weighted, so a test that counts them is undefined.",
            remedy="Give unweighted rows at the prevalence of the sample, or counts of rows as count=.",
        )
    if isinstance(table, Confusion):
        return table
    return Confusion(np.array([[table.tp, table.fn], [table.fp, table.tn]], dtype=np.float64), ("positive", "negative"))


def _binomial_tail(hits: float, total: float, share: float) -> float:
    """Return the probability of at least as many hits."""
    from scipy.special import bdtrc

    return max(float(bdtrc(hits - 1, round(total), share)), SMALLEST_P) if hits else 1.0


def _bowker_test(table: Confusion) -> DecisionTest:
    """Test symmetry of several classes by χ²."""
    upper = np.triu_indices(len(table.labels), 1)
    one, other = table.mass[upper], table.mass.T[upper]
    confused = one + other > 0
    freedom = int(confused.sum())
    how = f"Bowker's χ² with {count_of(freedom, 'degree', 'degrees')} of freedom"
    if not freedom:
        return DecisionTest("symmetry", np.nan, 1.0, "Bowker's χ², without errors")
    statistic = float(np.sum((one - other)[confused] ** 2 / (one + other)[confused]))
    return DecisionTest("symmetry", statistic, chi_squared_p(statistic, freedom), how, freedom)
